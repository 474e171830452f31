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
    """
    -- A gradebook is a term: assignments, people, and all attempts, each with its gradings.
    CREATE TABLE term (
        one INTEGER PRIMARY KEY CHECK (one = 1),
        secret BLOB NOT NULL,                -- every run's seed is made from it
        first_run INTEGER NOT NULL DEFAULT 0, -- with this secret
        zone TEXT NOT NULL DEFAULT ''        -- of times without an offset, as IANA names it
    );
    INSERT INTO term SELECT 1, secret, first_run, '' FROM class;
    CREATE TABLE assignments (
        id INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,           -- '' if a gradebook's only one has no name
        title TEXT NOT NULL DEFAULT '', course_id TEXT NOT NULL DEFAULT '',
        course_version TEXT NOT NULL DEFAULT '', course_hash TEXT NOT NULL DEFAULT '',
        lang TEXT NOT NULL DEFAULT 'en',
        lessons TEXT NOT NULL DEFAULT '[]',  -- JSON: [[id, title, points], ...], in order
        place TEXT NOT NULL DEFAULT '', layout TEXT NOT NULL DEFAULT '',
        pages TEXT NOT NULL DEFAULT '',      -- how all report pages were written, '' while that
                                             -- changes
        late_rule TEXT NOT NULL DEFAULT '',  -- JSON, as LateRule has it
        policy TEXT NOT NULL DEFAULT 'last', -- the attempt that counts: last, best, first
        near_names INTEGER NOT NULL DEFAULT 0 -- whether files with almost a lesson's name count
    );
    INSERT INTO assignments (id, name, title, course_id, course_version, course_hash, lang, lessons,
        place, layout, pages, late_rule)
    SELECT 1, '', title, course_id, course_version, course_hash, lang, lessons, place, layout,
        pages, late_rule FROM class;
    CREATE TABLE people (
        id INTEGER PRIMARY KEY, name TEXT NOT NULL,
        ids TEXT NOT NULL DEFAULT '{}',      -- JSON: {system: id}, those that hold for the term
        details TEXT NOT NULL DEFAULT '{}',  -- JSON: section, group, role
        same_as INTEGER REFERENCES people (id) -- who that turned out to be
    );
    CREATE TABLE listed (                    -- the roster that an assignment was graded with
        assignment INTEGER NOT NULL REFERENCES assignments (id), line INTEGER NOT NULL,
        person INTEGER NOT NULL REFERENCES people (id),
        ids TEXT NOT NULL DEFAULT '{}',      -- JSON: those that hold for this assignment
        details TEXT NOT NULL DEFAULT '{}',  -- JSON: due, handed_in
        PRIMARY KEY (assignment, line)
    ) WITHOUT ROWID;
    INSERT INTO people SELECT line, name, ids, details, NULL FROM roster;
    INSERT INTO listed SELECT 1, line, line, ids, details FROM roster;
    DROP TABLE roster;
    ALTER TABLE runs ADD COLUMN assignment INTEGER NOT NULL DEFAULT 1;
    ALTER TABLE runs ADD COLUMN newest REAL; -- the newest time of a file in its download
    ALTER TABLE runs ADD COLUMN zipped INTEGER NOT NULL DEFAULT 0; -- whether that was a zip
    ALTER TABLE runs ADD COLUMN ranked TEXT NOT NULL DEFAULT ''; -- when that was downloaded, in
                                             -- order: 'began', or just before another run's
    UPDATE runs SET ranked = began;

    CREATE TABLE new_submissions (
        id INTEGER PRIMARY KEY,
        assignment INTEGER NOT NULL REFERENCES assignments (id), name TEXT NOT NULL,
        students TEXT NOT NULL,              -- JSON: [[name, {system: id}, details, person], ...]
        missing INTEGER NOT NULL DEFAULT 0,  -- on the roster only: 1 handed nothing in, 2 may be
                                             -- one of the others; 3 not even on the roster
        doubt TEXT,                          -- with 2: whose submission it may be
        forgotten INTEGER NOT NULL DEFAULT 0,
        attempt INTEGER REFERENCES attempts (id), -- that counts
        UNIQUE (assignment, name)
    );
    INSERT INTO new_submissions (assignment, name, students, missing, doubt, forgotten)
    SELECT 1, name, students, missing, CASE WHEN missing > 0 THEN problem END, forgotten
    FROM submissions ORDER BY name;
    INSERT INTO new_submissions (assignment, name, students, missing)
    SELECT DISTINCT 1, submission, '[]', 3 FROM
        (SELECT submission FROM adjustments UNION SELECT submission FROM comments)
    WHERE submission NOT IN (SELECT name FROM submissions);
    CREATE TABLE new_attempts (
        id INTEGER PRIMARY KEY,
        submission INTEGER NOT NULL REFERENCES submissions (id), -- whose it is
        came_under INTEGER NOT NULL REFERENCES submissions (id), -- whose it was in the download
        run INTEGER REFERENCES runs (id),    -- that found it first
        digest TEXT NOT NULL,                -- '' if nothing could be read
        came_as TEXT NOT NULL DEFAULT '',    -- its name in the download
        late INTEGER NOT NULL DEFAULT 0,
        handed_in TEXT,                      -- ISO 8601 in UTC, as the download says
        on_roster TEXT,                      -- the same, as the roster says
        problem TEXT,                        -- why it could not be graded
        fault INTEGER NOT NULL DEFAULT 0,    -- whether that was the grader's own fault
        grading INTEGER REFERENCES gradings (id), -- that is valid
        gifts TEXT NOT NULL DEFAULT '[]',    -- JSON: paths of files that were given to it
        void INTEGER NOT NULL DEFAULT 0,     -- whether it was taken back
        as_of TEXT,                          -- the time that counts, if a person exchanged it
        as_run INTEGER REFERENCES runs (id)  -- the run in whose place it is, likewise
    );
    INSERT INTO new_attempts
        (submission, came_under, run, digest, came_as, late, handed_in, grading)
    SELECT n.id, n.id, iif(c.id, (SELECT max(run) FROM attempts WHERE submission = s.name),
            min(a.run)), a.digest, iif(c.id, s.came_as, ''), iif(c.id, s.late, 0),
        iif(c.id, s.handed_in, NULL),
        coalesce(c.id, max(CASE WHEN a.faults = 0 THEN a.id END), max(a.id))
    FROM attempts a JOIN submissions s ON s.name = a.submission
        JOIN new_submissions n ON n.name = s.name
        LEFT JOIN attempts c ON c.id = s.current AND c.digest = a.digest
    GROUP BY a.submission, a.digest ORDER BY c.id IS NOT NULL, min(a.id);
    INSERT INTO new_attempts
        (submission, came_under, run, digest, came_as, late, handed_in, problem, fault)
    SELECT n.id, n.id, (SELECT max(id) FROM runs), '', s.came_as, s.late, s.handed_in, s.problem,
        s.fault
    FROM submissions s JOIN new_submissions n ON n.name = s.name
    WHERE s.missing = 0 AND s.current IS NULL AND s.problem IS NOT NULL;
    UPDATE new_submissions SET attempt =
        (SELECT max(id) FROM new_attempts WHERE submission = new_submissions.id);
    CREATE TABLE gradings (
        id INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL REFERENCES attempts (id),
        run INTEGER NOT NULL REFERENCES runs (id), digest TEXT NOT NULL,
        course_hash TEXT NOT NULL, grader_version TEXT NOT NULL, engine_hash TEXT NOT NULL,
        torch_version TEXT NOT NULL, seed INTEGER NOT NULL, sandbox TEXT NOT NULL,
        lang TEXT NOT NULL, lessons TEXT NOT NULL, faults INTEGER NOT NULL,
        complete INTEGER NOT NULL,           -- whether no file was left out because of its name
        score REAL NOT NULL, made_at TEXT NOT NULL, seconds REAL NOT NULL,
        report TEXT NOT NULL                 -- JSON, as report.schema.json has it
    );
    INSERT INTO gradings SELECT a.id, t.id, a.run, a.digest, a.course_hash, a.grader_version,
        a.engine_hash, a.torch_version, a.seed, a.sandbox, a.lang, a.lessons, a.faults, 1, a.score,
        a.made_at, a.seconds, a.report
    FROM attempts a JOIN new_submissions n ON n.name = a.submission
        JOIN new_attempts t ON t.submission = n.id AND t.digest = a.digest;
    CREATE TABLE new_results (
        grading INTEGER NOT NULL REFERENCES gradings (id),
        check_id TEXT NOT NULL, lesson TEXT NOT NULL, outcome TEXT NOT NULL,
        points REAL NOT NULL, max_points REAL NOT NULL, diagnosis TEXT, diagnosis_title TEXT,
        seed INTEGER NOT NULL, seconds REAL NOT NULL,
        PRIMARY KEY (grading, check_id)
    ) WITHOUT ROWID;
    INSERT INTO new_results SELECT * FROM results;
    CREATE TABLE new_passed_over (
        assignment INTEGER NOT NULL REFERENCES assignments (id), entry TEXT NOT NULL,
        reason TEXT NOT NULL
    );
    INSERT INTO new_passed_over SELECT 1, entry, reason FROM passed_over ORDER BY rowid;
    CREATE TABLE new_adjustments (
        id INTEGER PRIMARY KEY, submission INTEGER NOT NULL REFERENCES submissions (id),
        lesson TEXT, points REAL NOT NULL, reason TEXT NOT NULL, author TEXT NOT NULL,
        made_at TEXT NOT NULL, undone_by TEXT, undone_at TEXT
    );
    INSERT INTO new_adjustments
    SELECT a.id, n.id, a.lesson, a.points, a.reason, a.author, a.made_at, NULL, NULL
    FROM adjustments a JOIN new_submissions n ON n.name = a.submission;
    CREATE TABLE new_comments (
        id INTEGER PRIMARY KEY, submission INTEGER NOT NULL REFERENCES submissions (id),
        lesson TEXT, line INTEGER, code TEXT NOT NULL DEFAULT '', -- that line as it was
        text TEXT NOT NULL, author TEXT NOT NULL, made_at TEXT NOT NULL,
        withdrawn INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO new_comments SELECT c.id, n.id, c.lesson, c.line, c.code, c.text, c.author,
        c.made_at, c.withdrawn
    FROM comments c JOIN new_submissions n ON n.name = c.submission;
    CREATE TABLE aliases (                   -- other names under which a submission may come again
        assignment INTEGER NOT NULL REFERENCES assignments (id), name TEXT NOT NULL,
        submission INTEGER NOT NULL REFERENCES submissions (id),
        PRIMARY KEY (assignment, name)
    ) WITHOUT ROWID;
    INSERT OR REPLACE INTO aliases
    WITH RECURSIVE moved (old, name, at) AS (
        SELECT json_extract(detail, '$.old'), submission, id FROM trail
            WHERE deed = 'rename' AND NOT undone
        UNION ALL
        SELECT m.old, t.submission, t.id FROM moved m JOIN trail t ON t.deed = 'rename'
            AND NOT t.undone AND json_extract(t.detail, '$.old') = m.name AND t.id > m.at
    ) SELECT 1, m.old, n.id FROM moved m JOIN new_submissions n ON n.name = m.name;
    CREATE TABLE gifts (                     -- files that were given to a submission by hand
        assignment INTEGER NOT NULL REFERENCES assignments (id),
        entry TEXT NOT NULL,                 -- its path in the download
        lesson TEXT NOT NULL, submission INTEGER NOT NULL REFERENCES submissions (id),
        PRIMARY KEY (assignment, entry)
    ) WITHOUT ROWID;
    CREATE TABLE new_trail (                 -- what people did to whole submissions, never deleted
        id INTEGER PRIMARY KEY, assignment INTEGER NOT NULL REFERENCES assignments (id),
        deed TEXT NOT NULL, name TEXT NOT NULL,
        detail TEXT NOT NULL,                -- JSON: what it takes to undo it; '{}' before format 5
        author TEXT NOT NULL, made_at TEXT NOT NULL, undone INTEGER NOT NULL DEFAULT 0
    );
    INSERT INTO new_trail SELECT id, 1, deed, submission,
        CASE deed WHEN 'rename' THEN json_object('old', json_extract(detail, '$.old'))
            ELSE '{}' END, author, made_at, undone FROM trail;
    CREATE TABLE marks (                     -- each mark that a submission has had, with the reason
        id INTEGER PRIMARY KEY, submission INTEGER NOT NULL REFERENCES submissions (id),
        made_at TEXT NOT NULL, attempt INTEGER, grading INTEGER,
        earned REAL, penalty REAL NOT NULL, adjusted REAL NOT NULL, mark REAL,
        cause TEXT NOT NULL
    );
    CREATE INDEX marks_of_a_submission ON marks (submission);
    CREATE TABLE exports (                   -- when marks were given to another system
        id INTEGER PRIMARY KEY, assignment INTEGER NOT NULL REFERENCES assignments (id),
        made_at TEXT NOT NULL, format TEXT NOT NULL,
        mark INTEGER NOT NULL                -- the number of the newest mark then
    );

    DROP TABLE results;
    DROP TABLE adjustments;
    DROP TABLE comments;
    DROP TABLE trail;
    DROP TABLE passed_over;
    DROP TABLE attempts;
    DROP TABLE submissions;
    DROP TABLE class;
    ALTER TABLE new_submissions RENAME TO submissions;
    ALTER TABLE new_attempts RENAME TO attempts;
    ALTER TABLE new_results RENAME TO results;
    ALTER TABLE new_passed_over RENAME TO passed_over;
    ALTER TABLE new_adjustments RENAME TO adjustments;
    ALTER TABLE new_comments RENAME TO comments;
    ALTER TABLE new_trail RENAME TO trail;
    CREATE INDEX attempts_of_a_submission ON attempts (submission);
    CREATE INDEX attempts_that_came_under_a_submission ON attempts (came_under);
    CREATE INDEX gradings_of_an_attempt ON gradings (attempt);
    CREATE INDEX gradings_of_a_run ON gradings (run);
    CREATE INDEX adjustments_of_a_submission ON adjustments (submission);
    CREATE INDEX comments_on_a_submission ON comments (submission);
    CREATE TRIGGER adjustments_stay BEFORE DELETE ON adjustments BEGIN
        SELECT RAISE(ABORT, 'an adjustment is never deleted');
    END;
    CREATE TRIGGER adjustments_stand
    BEFORE UPDATE OF id, lesson, points, reason, author, made_at ON adjustments BEGIN
        SELECT RAISE(ABORT, 'an adjustment is never changed');
    END;
    """,
    """
    ALTER TABLE attempts ADD COLUMN in_place_of INTEGER -- the attempt whose place it took, by time
        REFERENCES attempts (id) ON DELETE SET NULL;
    CREATE INDEX attempts_in_place_of_another ON attempts (in_place_of);
    ALTER TABLE marks ADD COLUMN told INTEGER NOT NULL DEFAULT 1; -- whether it was announced
    ALTER TABLE marks ADD COLUMN extension TEXT; -- as the roster had it; NULL is not known
    """,
    "ALTER TABLE assignments ADD COLUMN forgotten INTEGER NOT NULL DEFAULT 0;",
    """
    ALTER TABLE assignments ADD COLUMN course TEXT NOT NULL DEFAULT ''; -- its folder, if one was
                                             -- named
    -- 'zipped' is 1 if the times in a zip were read in the machine's zone, 2 if in the class's; 0
    -- if the download was no zip, or an earlier version did not say: then its time stays
    """,
    """
    CREATE TABLE times_told (                -- what rosters said, with the attempt that came then
        id INTEGER PRIMARY KEY,
        attempt INTEGER NOT NULL REFERENCES attempts (id) ON DELETE CASCADE, told TEXT NOT NULL
    );
    CREATE INDEX times_told_of_an_attempt ON times_told (attempt);
    INSERT INTO times_told (attempt, told)
        SELECT id, on_roster FROM attempts WHERE on_roster IS NOT NULL ORDER BY id;
    """,
    """
    ALTER TABLE submissions ADD COLUMN team TEXT; -- if it is a team's: the number of the group, ''
                                             -- if it has none
    CREATE TABLE places (                    -- on which lines a person was, until the next place
        id INTEGER PRIMARY KEY,
        assignment INTEGER NOT NULL REFERENCES assignments (id),
        person INTEGER NOT NULL REFERENCES people (id),
        lines TEXT NOT NULL,                 -- JSON: the numbers of the submissions
        mark INTEGER NOT NULL,               -- the number of the newest mark before
        cause TEXT NOT NULL,                 -- why another mark is theirs; '' if none is
        made_at TEXT NOT NULL, told INTEGER NOT NULL
    );
    CREATE INDEX places_of_a_person ON places (assignment, person);
    ALTER TABLE exports ADD COLUMN place INTEGER NOT NULL DEFAULT 0; -- the newest one then
    """,
    """
    ALTER TABLE attempts ADD COLUMN handed TEXT NOT NULL DEFAULT ''; -- the digest of its files,
                                             -- whichever names are accepted; '' is not known
    ALTER TABLE gradings ADD COLUMN near_names INTEGER; -- whether such names were accepted; NULL
                                             -- is not known
    """,
    """
    ALTER TABLE times_told ADD COLUMN run INTEGER REFERENCES runs (id); -- in which that was said;
                                             -- NULL is not known
    """,
)


def migrate(db: sqlite3.Connection, path: str, steps: tuple[str, ...] = STEPS) -> None:
    """Bring a file up to date in one transaction; raise UsageError for a newer or foreign file."""
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
    if version < len(steps):
        db.executescript(
            f"BEGIN IMMEDIATE; {'; '.join(steps[version:])}; PRAGMA application_id = {APPLICATION};"
            f" PRAGMA user_version = {len(steps)}; COMMIT;"
        )
