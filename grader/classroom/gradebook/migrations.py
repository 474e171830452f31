"""The gradebook's tables, as steps from one format to the next.

``PRAGMA user_version`` is the number of steps that a file has been through. A released step is
never edited.
"""

from __future__ import annotations

import sqlite3

from grader.core.errors import UsageError

APPLICATION = 0x67726164
"""``PRAGMA application_id``, which identifies a gradebook's file: "grad" in ASCII."""

STEPS = (
    """
    CREATE TABLE class (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        secret BLOB NOT NULL,                -- every submission's seed is made from it
        title TEXT NOT NULL DEFAULT '',
        course_id TEXT NOT NULL DEFAULT '',
        course_version TEXT NOT NULL DEFAULT '',
        course_hash TEXT NOT NULL DEFAULT '',
        lang TEXT NOT NULL DEFAULT 'en',
        lessons TEXT NOT NULL DEFAULT '[]',  -- JSON: [[id, title, points], ...], in order
        place TEXT NOT NULL DEFAULT '', layout TEXT NOT NULL DEFAULT '',
        pages TEXT NOT NULL DEFAULT ''       -- how all report pages were written: 'withheld' or
                                             -- 'revealed'; '' while that changes
    );
    CREATE TABLE runs (id INTEGER PRIMARY KEY, plan TEXT NOT NULL, began TEXT NOT NULL, ended TEXT);
    CREATE TABLE submissions (
        name TEXT PRIMARY KEY,
        students TEXT NOT NULL,              -- JSON: [[name, {system: id}], ...]
        late INTEGER NOT NULL DEFAULT 0,
        missing INTEGER NOT NULL DEFAULT 0,  -- on the roster only: 1 handed nothing in,
                                             -- 2 may be one of the others
        problem TEXT,                        -- why it could not be graded
        fault INTEGER NOT NULL DEFAULT 0,    -- whether that was the grader's own fault
        current INTEGER REFERENCES attempts (id)
    );
    CREATE TABLE attempts (
        id INTEGER PRIMARY KEY,
        submission TEXT NOT NULL REFERENCES submissions (name),
        run INTEGER NOT NULL REFERENCES runs (id),
        replaced INTEGER REFERENCES attempts (id),
        digest TEXT NOT NULL, course_hash TEXT NOT NULL, grader_version TEXT NOT NULL,
        seed INTEGER NOT NULL, sandbox TEXT NOT NULL, lang TEXT NOT NULL, lessons TEXT NOT NULL,
        faults INTEGER NOT NULL, score REAL NOT NULL, made_at TEXT NOT NULL, seconds REAL NOT NULL,
        report TEXT NOT NULL                 -- JSON, as report.schema.json has it
    );
    CREATE INDEX attempts_of_a_submission ON attempts (submission);
    CREATE INDEX attempts_of_a_run ON attempts (run);
    CREATE TABLE results (
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        check_id TEXT NOT NULL, lesson TEXT NOT NULL, outcome TEXT NOT NULL,
        points REAL NOT NULL, max_points REAL NOT NULL, diagnosis TEXT, diagnosis_title TEXT,
        seed INTEGER NOT NULL, seconds REAL NOT NULL,
        PRIMARY KEY (attempt, check_id)
    ) WITHOUT ROWID;
    CREATE TABLE checks (
        course_hash TEXT NOT NULL, lang TEXT NOT NULL, id TEXT NOT NULL, lesson TEXT NOT NULL,
        position INTEGER NOT NULL, title TEXT NOT NULL,
        max_points REAL NOT NULL, bonus INTEGER NOT NULL, hidden INTEGER NOT NULL,
        PRIMARY KEY (course_hash, lang, id)
    ) WITHOUT ROWID;
    CREATE TABLE files (
        digest TEXT NOT NULL, lesson TEXT NOT NULL, path TEXT NOT NULL, text TEXT NOT NULL,
        problem TEXT,
        PRIMARY KEY (digest, lesson)
    ) WITHOUT ROWID;
    CREATE TABLE roster (line INTEGER PRIMARY KEY, name TEXT NOT NULL, ids TEXT NOT NULL);
    CREATE TABLE passed_over (entry TEXT NOT NULL, reason TEXT NOT NULL);
    CREATE TABLE adjustments (
        id INTEGER PRIMARY KEY, submission TEXT NOT NULL, lesson TEXT, points REAL NOT NULL,
        reason TEXT NOT NULL, author TEXT NOT NULL, made_at TEXT NOT NULL
    );
    CREATE TRIGGER adjustments_stay BEFORE DELETE ON adjustments BEGIN
        SELECT RAISE(ABORT, 'an adjustment is never deleted');
    END;
    CREATE TRIGGER adjustments_stand BEFORE UPDATE ON adjustments BEGIN
        SELECT RAISE(ABORT, 'an adjustment is never changed');
    END;
    """,
    """
    -- '' is not known: such an attempt is graded again
    ALTER TABLE attempts ADD COLUMN engine_hash TEXT NOT NULL DEFAULT '';
    ALTER TABLE attempts ADD COLUMN torch_version TEXT NOT NULL DEFAULT '';
    """,
    """
    ALTER TABLE class ADD COLUMN late_rule TEXT NOT NULL DEFAULT '';     -- JSON, as LateRule has it
    ALTER TABLE submissions ADD COLUMN handed_in TEXT;                   -- ISO 8601 in UTC
    ALTER TABLE submissions ADD COLUMN came_as TEXT NOT NULL DEFAULT ''; -- its name in the download
    ALTER TABLE submissions ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;
    ALTER TABLE roster ADD COLUMN details TEXT NOT NULL DEFAULT '{}';
    CREATE TABLE comments (
        id INTEGER PRIMARY KEY, submission TEXT NOT NULL, lesson TEXT, line INTEGER,
        code TEXT NOT NULL DEFAULT '',       -- that line as it was
        text TEXT NOT NULL, author TEXT NOT NULL, made_at TEXT NOT NULL,
        withdrawn INTEGER NOT NULL DEFAULT 0
    );
    CREATE INDEX comments_on_a_submission ON comments (submission);
    CREATE INDEX adjustments_of_a_submission ON adjustments (submission);
    CREATE TABLE trail (                     -- who was forgotten or renamed, never deleted
        id INTEGER PRIMARY KEY, deed TEXT NOT NULL, submission TEXT NOT NULL, detail TEXT NOT NULL,
        author TEXT NOT NULL, made_at TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0
    );
    DROP TRIGGER adjustments_stand;          -- a submission can be renamed; the rest stands
    CREATE TRIGGER adjustments_stand
    BEFORE UPDATE OF id, lesson, points, reason, author, made_at ON adjustments BEGIN
        SELECT RAISE(ABORT, 'an adjustment is never changed');
    END;
    """,
    """
    -- a run's seed is made from the secret and the run's id; earlier formats made one from each
    -- submission's files, and those attempts stay valid
    ALTER TABLE class ADD COLUMN first_run INTEGER NOT NULL DEFAULT 0; -- with this secret
    """,
)


def migrate(db: sqlite3.Connection, path: str, steps: tuple[str, ...] = STEPS) -> None:
    """Bring a file up to date, step by step; raise UsageError for a newer or foreign file."""
    (version,) = db.execute("PRAGMA user_version").fetchone()
    (application,) = db.execute("PRAGMA application_id").fetchone()
    (tables,) = db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if tables and application != APPLICATION:
        raise UsageError(
            f"{path} is a database, but not a gradebook. Name another folder with --out"
        )
    if version > len(steps):
        raise UsageError(
            f"{path} was written by a newer gradlings (format {version}; this one reads"
            f" {len(steps)}). Upgrade: pip install -U gradlings"
        )
    for number, step in enumerate(steps[version:], version + 1):
        db.executescript(
            f"BEGIN IMMEDIATE; {step}; PRAGMA application_id = {APPLICATION}; PRAGMA user_version ="
            f" {number}; COMMIT;"
        )
