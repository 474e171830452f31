"""The gradebook: one SQLite file, written by one process at a time; any process can read it.

It holds a term: assignments, people, each assignment's submissions, all their attempts, and every
grading of these. A ``Gradebook`` is open at one assignment. Nothing is cached, and nothing that
people did is deleted: a forgotten, renamed or regraded submission keeps its history.
``batch_lock`` lets only one command write at a time.
"""

from __future__ import annotations

import contextlib
import difflib
import hashlib
import hmac
import json
import math
import re
import secrets
import shlex
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, astuple, dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from operator import attrgetter
from pathlib import Path, PurePosixPath
from typing import Any
from zoneinfo import ZoneInfo

from grader.classroom.gradebook.entry import (
    Adjustment,
    Attempt,
    CheckColumn,
    Comment,
    GradebookEntry,
    Lateness,
    LateRule,
    LessonColumn,
    MendedChecks,
    PersonalPart,
    counting,
    students_as_json,
    students_from_json,
    students_label,
    time_on_roster,
)
from grader.classroom.gradebook.migrations import migrate
from grader.classroom.gradebook.roster_columns import participant_number
from grader.classroom.imports.entries import StudentIdentity, Submission
from grader.classroom.imports.names import forms_of, unique_names
from grader.classroom.passed_over import wrong_files
from grader.core import sqlite
from grader.core.errors import UsageError
from grader.core.files import engine_hash
from grader.core.report import Report, add_up
from grader.core.sqlite import connect, transaction
from grader.core.text import command, moment, now
from grader.course.notebook import SUFFIX
from grader.course.submission import LessonFile, writable

DATABASE = "grades.sqlite"
OURS = frozenset(
    "grades.sqlite grades.lock grades.csv results.json class.html similar.html reports feedback"
    " gradescope term.csv term.toml".split()
)
"""Names in a gradebook's folder that no assignment can have."""
IN_MACHINE_ZONE, IN_ZONE = 1, 2
"""How the times in a run's zip were read: in the zone of the machine, or of the class."""
LONG_AGO = datetime(1, 1, 1, tzinfo=UTC)
MOMENT = timedelta(microseconds=1)
ZIP_SECONDS = 2.0
"""How exact the times in a zip are."""

ENTRY = """
SELECT s.id, s.name, s.students, s.missing, coalesce(t.problem, s.doubt) AS problem, t.fault,
    p.late, t.came_as, p.came_as AS handed_in_as, t.id AS attempt, g.report,
    (SELECT count(*) FROM gradings e JOIN attempts o ON o.id = e.attempt
        WHERE o.submission = s.id AND e.id <= t.grading) AS gradings
FROM submissions s LEFT JOIN attempts t ON t.id = s.attempt LEFT JOIN gradings g ON g.id = t.grading
    LEFT JOIN attempts p ON p.id = coalesce(t.in_place_of, t.id)
WHERE s.assignment = ? AND s.forgotten = ? AND s.missing < 3
"""


@dataclass(frozen=True, slots=True)
class GradingKey:
    """What a verdict depends on: an attempt that has a grading with the same key need not be graded
    again.

    The seed is not part of it, so a later run does not grade again what an earlier one graded.
    """

    digest: str
    course_hash: str
    grader_version: str
    engine_hash: str
    torch_version: str
    sandbox: str
    lang: str
    lessons: str


@dataclass(frozen=True, slots=True)
class SeenAttempt:
    """An attempt that the gradebook knows, and the submission to which it belongs now."""

    id: int
    owner: str
    students: tuple[StudentIdentity, ...]


refusal = partial(sqlite.refusal, kind="gradebook", other="another folder with --out")
"""The message for a gradebook or a file beside it that can't be written or read."""


def place_of(out: Path) -> tuple[Path, str | None]:
    """Return the folder with the database, and the assignment that ``out`` names, if it does.

    ``out`` is a gradebook's folder, or the folder of one of its assignments.
    """
    name = out.resolve().name
    parent = out.parent if out.name == name else out.resolve().parent
    inside = parent / DATABASE
    if not (out / DATABASE).exists() and inside.exists():
        with contextlib.closing(connect(inside)) as db, contextlib.suppress(sqlite3.Error):
            names = {one for (one,) in db.execute("SELECT name FROM assignments")}
            if names - {""}:  # a folder in that of a term is one of its assignments, or a new one
                return parent, name
    return out, None


class Gradebook:
    """An open gradebook. As a context manager, it closes itself and reports SQLite's errors.

    ``assignment`` is the number of the assignment to which all else refers, ``folder`` the place of
    its pages and tables. ``has_older_roster`` says that this run was given a roster that is older
    than another one: it changes no time that was told with the same download.
    """

    def __init__(self, path: Path, db: sqlite3.Connection, assignment: int = 0) -> None:
        self.path = path
        self.db = db
        self.assignment = assignment
        self.has_older_roster = False

    @classmethod
    def open(
        cls, out: Path, *, create: bool = False, assignment: str | None = None, any_of: bool = False
    ) -> Gradebook:
        """Open a gradebook at an assignment, which ``out`` may name; by default at its only one.

        With ``create``, make what is missing. With ``any_of``, a gradebook with several assignments
        is opened at the newest. Raise UsageError if there is no usable one.
        """
        root, named = place_of(out)
        path = root / DATABASE
        try:
            if create:
                root.mkdir(parents=True, exist_ok=True)
            elif not path.exists():
                raise UsageError(
                    f"{root} has no gradebook: {DATABASE} is missing."
                    f" Make one: grade batch DIR --out {shlex.quote(str(root))}"
                )
            db = connect(path)
            try:
                migrate(db, str(path))
                db.execute("PRAGMA foreign_keys = ON")
                book = cls(path, db)
                if named and assignment and named != assignment:
                    raise UsageError(
                        f"--out {out} is the folder of {named!r}, and --assignment is"
                        f" {assignment!r}. Name {root} with --out"
                    )
                book.assignment = book._chosen(named or assignment, create=create, any_of=any_of)
            except BaseException:
                db.close()
                raise
        except (sqlite3.Error, OSError) as error:
            raise refusal(path, error) from None
        return book

    def _chosen(self, name: str | None, *, create: bool, any_of: bool) -> int:
        known = self.assignments()
        if name is None and "" in known and not any_of:
            return known[""]  # the gradebook's own folder is that of an assignment without a name
        if name is None and len(known) > 1 and not any_of:
            folders = ", ".join(str(self.path.parent / one) for one in known if one)
            raise UsageError(
                f"{self.path.parent} has several assignments. Name the folder of one: {folders}"
            )
        if name is None and known:
            return [*known.values()][-1]
        if (name or "") in known:
            return known[name or ""]
        if name in self.assignments(forgotten=True):
            undo = command("forget", self.path.parent, name, "--undo")
            raise UsageError(f"The assignment {name!r} is forgotten. To undo this: {undo}")
        if not create:
            raise UsageError(
                f"{self.path.parent} has no assignment {name!r}. Its assignments:"
                f" {', '.join(filter(None, known))}"
            )
        if name and (name.casefold() in OURS or (self.path.parent / name).is_file()):
            raise UsageError(
                f"--assignment {name!r} is the name of a file of the gradebook. Choose another"
            )
        if name and unique_names([(name, "")]) != [name]:
            raise UsageError(
                f"--assignment {name!r} can't be the name of a folder. Choose another, such as"
                f" {unique_names([(name, '')])[0]!r}"
            )
        alike = [one for one in known if plain(one) == plain(name or "")]
        if alike:
            raise UsageError(
                f"There is an assignment {alike[0]!r}. Write --assignment {alike[0]!r}, or choose"
                " a name that differs in more than spelling"
            )
        return self.insert("assignments", {"name": name or ""})

    def __enter__(self) -> Gradebook:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        self.db.close()
        if isinstance(error, sqlite3.Error):
            raise refusal(self.path, error) from None

    @property
    def folder(self) -> Path:
        """The folder of the assignment's pages and tables."""
        return self.path.parent / self.about("name")

    def assignments(self, *, forgotten: bool = False) -> dict[str, int]:
        """Return the term's assignments, or the forgotten ones, in order: their numbers by name."""
        query = "SELECT name, id FROM assignments WHERE forgotten = ? ORDER BY id"
        return dict(self.db.execute(query, [forgotten]))

    def at(self, assignment: int) -> Gradebook:
        """Return the same gradebook, open at another assignment."""
        return Gradebook(self.path, self.db, assignment)

    def value(self, query: str, *values: object) -> Any:
        """Return the first value of the first row; None if there is no row."""
        row = self.db.execute(query, values).fetchone()
        return row[0] if row else None

    def row(self, query: str, *values: object) -> dict[str, Any] | None:
        """Return the first row by column; None if there is none."""
        return next(self.rows(query, *values), None)

    def rows(self, query: str, *values: object) -> Iterator[dict[str, Any]]:
        cursor = self.db.cursor()
        cursor.row_factory = sqlite3.Row
        return (dict(row) for row in cursor.execute(query, values))

    def insert(self, table: str, row: Mapping[str, object], on_conflict: str = "") -> int:
        """Insert a row, its values by column; return its number."""
        values = f"({', '.join(row)}) VALUES ({', '.join('?' * len(row))})"
        done = self.db.execute(f"INSERT INTO {table} {values} {on_conflict}", [*row.values()])
        return done.lastrowid or 0

    def change(self, table: str, number: int, row: Mapping[str, object]) -> None:
        """Give the row with this number other values, by column."""
        changed = ", ".join(f"{column} = ?" for column in row)
        self.db.execute(f"UPDATE {table} SET {changed} WHERE id = ?", [*row.values(), number])

    def number_of(self, name: str) -> int | None:
        """Return the number of a submission of this assignment."""
        query = "SELECT id FROM submissions WHERE assignment = ? AND name = ?"
        found: int | None = self.value(query, self.assignment, name)
        return found

    # ------------------------------------------------------------------ entries and columns

    def entries(self, *, forgotten: bool = False) -> Iterator[GradebookEntry]:
        for row in self.rows(f"{ENTRY} ORDER BY s.name", self.assignment, forgotten):
            yield self._entry(row)

    def entry(self, name: str) -> GradebookEntry:
        """Return one entry; raise UsageError that names the nearest if there is none."""
        row = self.row(f"{ENTRY} AND s.name = ?", self.assignment, False, name)
        if row is None and self.is_forgotten(name):
            undo = command("forget", self.folder, name, "--undo")
            raise UsageError(f"{name} is forgotten. To undo this: {undo}")
        if row is None:
            near = difflib.get_close_matches(name, sorted(self.all_names()), n=1, cutoff=0.5)
            guess = f" Did you mean {near[0]}?" if near else " grades.csv lists all names"
            raise UsageError(f"The gradebook has no submission {name!r}.{guess}")
        return self._entry(row)

    def is_forgotten(self, name: str) -> bool:
        query = "SELECT forgotten FROM submissions WHERE assignment = ? AND name = ?"
        return bool(self.value(query, self.assignment, name))

    def entry_of(self, called: str) -> GradebookEntry:
        """Return the entry of a submission, or of a student by name or id; raise UsageError unless
        one fits.
        """
        query = (
            "SELECT name, students FROM submissions WHERE assignment = ? AND forgotten = ? AND"
            " missing < 3 ORDER BY name"
        )

        def students(*, forgotten: bool) -> dict[str, tuple[StudentIdentity, ...]]:
            rows = self.db.execute(query, [self.assignment, forgotten]).fetchall()
            return {name: students_from_json(those) for name, those in rows}

        lines = students(forgotten=False)
        if called in lines:
            ids = [one.ids for one in lines[called] if one.ids]
            others = [
                name
                for name, those in lines.items()
                if any(is_called(one, called) and one.ids not in (*ids, {}) for one in those)
            ]
            if others and ids:
                raise UsageError(
                    f"{called!r} is the name of a submission, and of who handed in"
                    f" {', '.join(others)}. Name the student by an id: {min(ids[0].values())}"
                )
            return self.entry(called)
        found = only_line(lines, called) or only_line(students(forgotten=True), called)
        return self.entry(found or called)

    def call_of(self, entry: GradebookEntry) -> str:
        """Return what ``entry_of`` finds an entry by: its name, or an id of its student."""
        try:
            return self.entry_of(entry.name).name
        except UsageError:
            return min(entry.students[0].ids.values())

    def _entry(self, row: dict[str, Any]) -> GradebookEntry:
        people = students_from_json(row["students"])
        attempts = self.attempts(row["id"])
        chosen = next((one for one in attempts if one.id == row["attempt"]), None)
        handed_in = chosen.handed_in if chosen else None
        lateness = self.lateness(people, handed_in)
        by_rule = handed_in is not None and bool(self.about("late_rule"))
        report = row["report"] and Report.from_json(json.loads(row["report"]))
        return GradebookEntry(
            name=row["name"],
            students=people,
            report=replace(report, submission=row["name"]) if report else None,
            problem=row["problem"],
            fault=bool(row["fault"]),
            missing=row["missing"] == 1,
            elsewhere=row["missing"] == 2,
            late=lateness is not None if by_rule else bool(row["late"]),
            attempt=max(row["gradings"], 1),
            adjustments=self.adjustments(row["name"]),
            comments=self.comments(row["name"]),
            handed_in=handed_in,
            lateness=lateness,
            came_as=row["came_as"] or "",
            handed_in_as=row["handed_in_as"] or "",
            history=tuple(one.score for one in attempts if one.score is not None),
            attempts=attempts,
            counts=chosen.number if chosen else 0,
            mended=self.mended(row["id"]),
            wrong_file=self._wrong_file(attempts, chosen),
        )

    def _wrong_file(self, attempts: tuple[Attempt, ...], chosen: Attempt | None) -> str:
        if chosen is None or chosen is attempts[-1] or self.about("policy") != "best":
            return ""
        newest = attempts[-1]
        if newest.problem:
            reason = newest.problem
        else:
            query = (
                "SELECT g.report FROM attempts t JOIN gradings g ON g.id = t.grading WHERE t.id = ?"
            )
            text = self.value(query, newest.id)
            reason = "; ".join(wrong_files(Report.from_json(json.loads(text)))) if text else ""
        return reason and f"attempt {newest.number}, which does not count: {reason}"

    def attempts(self, submission: int) -> tuple[Attempt, ...]:
        """Return a submission's attempts in the order of their times, numbered from 1.

        A time is when it was handed in, or, if nobody says, that of its download: but before
        what was handed in after the newest file of that download. Of two in one download
        the names there decide, or their contents: which was graded first is luck.
        """
        rows = self.db.execute(
            "SELECT t.id, coalesce(t.as_of, p.handed_in, p.on_roster), coalesce(r.ranked, ''),"
            " r.newest, r.id, t.came_as, p.late,"
            " CASE WHEN g.faults = 0 AND g.complete THEN g.score END, t.problem, t.digest FROM"
            " attempts t JOIN attempts p ON p.id = coalesce(t.in_place_of, t.id) LEFT JOIN"
            " runs r ON r.id = coalesce(t.as_run, p.run) LEFT JOIN gradings g ON g.id = t.grading"
            " WHERE t.submission = ? AND t.void = 0 ORDER BY t.id",
            [submission],
        ).fetchall()
        told = [moment(handed_in) for _, handed_in, *_ in rows if handed_in]

        def time(row: tuple[Any, ...]) -> datetime:
            _, handed_in, ranked, newest, *_ = row
            if handed_in or not ranked:
                return moment(handed_in) if handed_in else LONG_AGO
            later = (one for one in told if newest is not None and one.timestamp() > newest)
            return min([moment(ranked), *(one - MOMENT for one in later)])

        if len(rows) > 1:
            rows.sort(key=lambda row: (time(row), row[4] or 0, row[5], row[-1]))
        return tuple(
            Attempt(
                number,
                id,
                handed_in,
                ranked if newest is None else datetime.fromtimestamp(newest, UTC).isoformat(),
                came_as,
                bool(late),
                score,
                problem,
            )
            for number, (id, handed_in, ranked, newest, _, came_as, late, score, problem, _) in (
                enumerate(rows, 1)
            )
        )

    def handed_in_again(self, attempt: Attempt) -> str | None:
        """Return the last time at which the same files came again in another download."""
        query = (
            "SELECT max(o.told) FROM times_told o JOIN runs r ON r.id = o.run JOIN times_told f ON"
            " f.attempt = o.attempt JOIN runs q ON q.id = f.run WHERE o.attempt = ? AND f.told = ?"
            " AND o.told > f.told AND r.newest != q.newest"
        )
        found: str | None = self.value(query, attempt.id, attempt.handed_in)
        return found

    def lateness(
        self, students: tuple[StudentIdentity, ...], handed_in: str | None
    ) -> Lateness | None:
        """Return how late a submission is by the class's rule, and its students' extensions."""
        rule = self.about("late_rule")
        if not rule:
            return None
        extensions = [one.details["due"] for one in students if "due" in one.details]
        late = LateRule.from_json(json.loads(rule)).lateness(handed_in, extensions)
        zone = self.zone()
        if late is None or not zone:
            return late
        return replace(late, due=moment(late.due).astimezone(ZoneInfo(zone)).isoformat())

    def mended(self, submission: int | None) -> tuple[MendedChecks, ...]:
        """Return the checks that were graded again and changed the mark of the same files."""
        found = []
        rows = self.rows(
            "SELECT n.made_at, n.grading AS new_grading, o.grading AS old_grading, n.mark AS new,"
            " o.mark AS old FROM marks n JOIN marks o ON o.id = (SELECT max(id) FROM marks WHERE"
            " submission = n.submission AND id < n.id) WHERE n.submission = ? AND n.attempt ="
            " o.attempt AND n.grading > o.grading AND n.mark IS NOT o.mark ORDER BY n.id",
            submission,
        )
        for row in list(rows):
            titles = self.db.execute(
                "SELECT k.title FROM results n JOIN results o ON o.check_id = n.check_id AND"
                " o.grading = ? AND o.points != n.points AND 'skipped' NOT IN (o.outcome,"
                " n.outcome) JOIN assignments a ON a.id = ? JOIN"
                " checks k ON k.id = n.check_id AND k.course_hash = a.course_hash AND k.lang ="
                " a.lang WHERE n.grading = ? ORDER BY k.position",
                [row["old_grading"], self.assignment, row["new_grading"]],
            )
            checks = tuple(title for (title,) in titles)
            if checks:
                found.append(MendedChecks(row["made_at"], checks, row["old"], row["new"]))
        return tuple(found)

    def history(self, name: str) -> list[tuple[str, float | None, str]]:
        """Return each mark that a submission has had: since when, the mark, and why."""
        return self.db.execute(
            "SELECT made_at, mark, cause FROM marks WHERE submission = ? ORDER BY id",
            [self.number_of(name)],
        ).fetchall()

    def comments(self, name: str) -> tuple[Comment, ...]:
        """Return a submission's comments: the general ones, then by lesson and line."""
        rows = self.db.execute(
            "SELECT id, text, author, made_at, lesson, line, code FROM comments WHERE submission ="
            " ? AND withdrawn = 0 ORDER BY lesson, line, id",
            [self.number_of(name)],
        )
        return tuple(Comment(*row) for row in rows)

    def graded_text(self, name: str, lesson: str) -> str | None:
        """Return the text of a lesson's file as it was graded; None if there was none."""
        text: str | None = self.value(
            "SELECT f.text FROM submissions s JOIN attempts t ON t.id = s.attempt JOIN files f ON"
            " f.digest = t.digest WHERE s.assignment = ? AND s.name = ? AND f.lesson = ? AND"
            " f.problem IS NULL",
            self.assignment,
            name,
            lesson,
        )
        return text

    def personal_part(
        self, name: str, students: tuple[StudentIdentity, ...], handed_in: str | None
    ) -> PersonalPart:
        """Return what a submission's page shows beside its report."""
        return PersonalPart(
            students_label(students, name),
            self.adjustments(name),
            self.comments(name),
            self.lateness(students, handed_in),
            self.mended(self.number_of(name)),
        )

    def adjustments(self, name: str, *, undone: bool = False) -> tuple[Adjustment, ...]:
        """Return the adjustments that count, or those that were undone."""
        rows = self.db.execute(
            "SELECT points, reason, author, made_at, lesson, id FROM adjustments WHERE submission ="
            f" ? AND undone_at IS {'NOT ' * undone}NULL ORDER BY id",
            [self.number_of(name)],
        )
        return tuple(Adjustment(*row) for row in rows)

    def lessons(self) -> tuple[tuple[str, str, float], ...]:
        lessons = json.loads(self.about("lessons"))
        return tuple((lesson, title, points) for lesson, title, points in lessons)

    def columns(self) -> tuple[LessonColumn, ...]:
        """Return the columns; a lesson that nobody handed in has no checks yet."""
        found: dict[str, list[CheckColumn]] = {}
        rows = self.db.execute(
            "SELECT k.lesson, k.id, k.title, k.max_points, k.bonus, k.hidden FROM checks k,"
            " assignments a WHERE a.id = ? AND k.course_hash = a.course_hash AND k.lang = a.lang"
            " ORDER BY k.lesson, k.position, k.id",
            [self.assignment],
        )
        for lesson, check, title, most, bonus, hidden in rows:
            found.setdefault(lesson, []).append(
                CheckColumn(check, title, most, bool(bonus), bool(hidden))
            )
        columns = []
        for lesson, title, points in self.lessons():
            checks = tuple(found.get(lesson, ()))
            plain = add_up(check.max_points for check in checks if not check.bonus)
            bonus = add_up(check.max_points for check in checks if check.bonus)
            most = plain if checks else points
            columns.append(LessonColumn(lesson, title, most, bonus, checks))
        return tuple(columns)

    def passed_over(self) -> list[tuple[str, str]]:
        """Return the items of the download that were not graded, each with the reason."""
        query = "SELECT entry, reason FROM passed_over WHERE assignment = ? ORDER BY rowid"
        return self.db.execute(query, [self.assignment]).fetchall()

    def handed_in(self) -> set[str]:
        """Return the lessons of which somebody handed in a file."""
        query = (
            "SELECT DISTINCT f.lesson FROM files f JOIN attempts t ON t.digest = f.digest JOIN"
            " submissions s ON s.id = t.submission WHERE s.assignment = ? AND f.path != ''"
        )
        return {lesson for (lesson,) in self.db.execute(query, [self.assignment])}

    def came_as(self) -> set[str]:
        """Return the names that submissions had in downloads."""
        query = (
            "SELECT DISTINCT t.came_as FROM attempts t JOIN submissions s ON s.id = t.submission"
            " WHERE s.assignment = ?"
        )
        return {name for (name,) in self.db.execute(query, [self.assignment])}

    def texts(self, lesson: str) -> Iterator[tuple[str, str, str]]:
        """Yield (submission, path, text) of each graded file of a lesson, by submission name."""
        yield from self.db.execute(
            "SELECT s.name, f.path, f.text FROM submissions s JOIN attempts t ON t.id = s.attempt"
            " JOIN files f ON f.digest = t.digest AND f.lesson = ? WHERE f.problem IS NULL AND"
            " s.assignment = ? AND s.forgotten = 0 ORDER BY s.name",
            [lesson, self.assignment],
        )

    # ------------------------------------------------------------------------------- the class

    def seed_of(self, run: int) -> int:
        """Return a run's seed: 32 bits of HMAC-SHA256(the term's secret, run's number)."""
        secret = self.value("SELECT secret FROM term")
        return int.from_bytes(hmac.digest(secret, f"run {run}".encode(), "sha256")[:4], "big")

    def set_secret(self, seed: int | None) -> None:
        """Derive the term's secret from a seed; without one, draw it if there is none yet.

        A new secret belongs to the runs from now on: earlier ones are neither continued nor reused.
        """
        with transaction(self.db):
            if seed is None:
                drawn = secrets.token_bytes(32)
                self.insert("term", {"one": 1, "secret": drawn}, "ON CONFLICT DO NOTHING")
                return
            secret = hashlib.sha256(f"gradlings batch {seed}".encode()).digest()
            new = (
                "ON CONFLICT DO UPDATE SET secret = excluded.secret, first_run ="
                " (SELECT coalesce(max(id), 0) + 1 FROM runs) WHERE secret != excluded.secret"
            )
            self.insert("term", {"one": 1, "secret": secret}, new)

    def zone(self) -> str:
        """Return the name of the class's time zone, as IANA names it; '' if it is not known."""
        return str(self.value("SELECT zone FROM term") or "")

    def set_zone(self, zone: str) -> None:
        """Set the class's time zone; the times in earlier zips are in it from now on."""
        before = self.zone()
        with transaction(self.db):
            self.db.execute("UPDATE term SET zone = ?", [zone])
            query = "SELECT id, newest, zipped FROM runs WHERE zipped AND newest IS NOT NULL"
            for run, newest, zipped in self.db.execute(query).fetchall():
                read_in = ZoneInfo(before) if zipped == IN_ZONE else None
                read = datetime.fromtimestamp(newest, read_in)
                meant = read.replace(tzinfo=ZoneInfo(zone)).timestamp()
                self.change("runs", run, {"newest": meant, "zipped": IN_ZONE})

    def set_class(self, values: Mapping[str, object]) -> None:
        """Store facts about the assignment: columns of the table ``assignments``, by name."""
        with transaction(self.db):
            self.change("assignments", self.assignment, values)

    def about(self, column: str) -> str:
        return str(self.value(f"SELECT {column} FROM assignments WHERE id = ?", self.assignment))

    def set_passed_over(self, passed: Iterable[tuple[str, str]]) -> None:
        with transaction(self.db):
            self.db.execute("DELETE FROM passed_over WHERE assignment = ?", [self.assignment])
            self.db.executemany(
                "INSERT INTO passed_over VALUES (?, ?, ?)",
                [(self.assignment, writable(entry), writable(reason)) for entry, reason in passed],
            )

    def all_names(self) -> set[str]:
        """Return the names of all lines, those without a submission included."""
        query = (
            "SELECT name FROM submissions WHERE assignment = ? AND forgotten = 0 AND missing < 3"
        )
        return {name for (name,) in self.db.execute(query, [self.assignment])}

    def names(self) -> set[str]:
        query = (
            "SELECT name FROM submissions WHERE assignment = ? AND missing = 0 AND forgotten = 0"
        )
        return {name for (name,) in self.db.execute(query, [self.assignment])}

    def is_merged(self, name: str) -> bool:
        """Return whether a line was made a part of another one."""
        query = "SELECT 1 FROM aliases WHERE assignment = ? AND name = ? AND submission != ?"
        line = self.number_of(name)
        return line is not None and bool(self.value(query, self.assignment, name, line))

    # ---------------------------------------------------------------------- runs and gradings

    def begin(self, plan: str, newest: float | None = None, *, zipped: bool = False) -> int:
        """Start a run and return its number, which is on disk before anything is graded, because
        the seed comes from it. Continue an interrupted run with the same plan and secret.

        ``newest`` is the newest time of a file in the download, in seconds since 1970; ``zipped``
        says that it was read in the class's zone, because a zip does not say in which it is. A
        download whose newest file is older than an earlier one's counts as downloaded before it.
        """
        with transaction(self.db):
            last = self.value("SELECT max(id) FROM runs WHERE assignment = ?", self.assignment)
            query = (
                "SELECT 1 FROM runs, term WHERE id = ? AND plan = ? AND ended IS NULL AND id >="
                " first_run AND newest IS ?"
            )
            if self.value(query, last, plan, newest):
                return int(last)
            later = self.value(
                "SELECT min(ranked) FROM runs WHERE assignment = ? AND newest > ?",
                self.assignment,
                newest,
            )
            ranked = moment(later) - MOMENT if later else datetime.now(UTC)
            row = {"plan": plan, "began": now(), "ranked": ranked.isoformat(), "newest": newest}
            read = IN_ZONE if self.zone() else IN_MACHINE_ZONE
            row |= {"assignment": self.assignment, "zipped": read if zipped else 0}
            return self.insert("runs", row)

    def end(self, run: int) -> None:
        """End a run. If it found nothing new, its number is free for the next one."""
        with transaction(self.db):
            self.db.execute("UPDATE runs SET ended = ? WHERE id = ?", [now(), run])
            self.db.execute(
                "DELETE FROM runs WHERE id = ? AND id NOT IN (SELECT run FROM gradings) AND NOT"
                " EXISTS (SELECT 1 FROM attempts WHERE run = runs.id) AND NOT EXISTS (SELECT 1 FROM"
                " times_told WHERE run = runs.id)",
                [run],
            )

    def comes_before(self, run: int) -> bool:
        """Return whether a run's download counts as older than that of an earlier run."""
        query = "SELECT ranked FROM runs WHERE assignment = ? AND id < ?"
        earlier = self.db.execute(query, [self.assignment, run]).fetchall()
        ranked = moment(self.value("SELECT ranked FROM runs WHERE id = ?", run))
        return any(moment(other) > ranked for (other,) in earlier)

    def is_older(self, run: int, other: int) -> bool:
        """Return whether a run's download is older than another's, by the newest file in each."""
        query = "SELECT a.newest < b.newest FROM runs a, runs b WHERE a.id = ? AND b.id = ?"
        return bool(self.value(query, run, other))

    def later_by(self, number_of: Callable[[str], int], run: int) -> set[int]:
        """Return the runs that found later attempts of the same people, and no earlier ones, than a
        run: by the numbers that a system gave to uploads, because a folder may have lost its times.
        """
        query = (
            "SELECT o.run, o.came_as, t.came_as FROM attempts t JOIN attempts o ON o.came_under ="
            " t.came_under AND o.run != t.run WHERE t.run = ?"
        )
        is_later: dict[int, set[bool]] = {}
        for other, theirs, ours in self.db.execute(query, [run]).fetchall():
            numbers = number_of(theirs), number_of(ours)
            if all(numbers) and numbers[0] != numbers[1]:
                is_later.setdefault(other, set()).add(numbers[0] > numbers[1])
        return {other for other, signs in is_later.items() if signs == {True}}

    def rank_before(self, run: int, later: Iterable[int]) -> list[str]:
        """Count a run's download as older than those of other runs; return the submissions of which
        another attempt counts by that.

        An attempt whose own time nobody knows has that of its download.
        """
        ranked = "SELECT ranked FROM runs WHERE id = ?"
        first = min((moment(self.value(ranked, one)) for one in later), default=None)
        if first is None or moment(self.value(ranked, run)) < first:
            return []
        with transaction(self.db):
            self.change("runs", run, {"ranked": (first - MOMENT).isoformat()})
            query = (
                "SELECT DISTINCT s.id, s.name FROM attempts t JOIN submissions s ON s.id ="
                " t.submission WHERE t.run = ? ORDER BY s.name"
            )
            lines = self.db.execute(query, [run]).fetchall()
            return [name for submission, name in lines if self.settle(submission)]

    def hand_in_again(self, seen: SeenAttempt, run: int) -> None:
        """Count an attempt as handed in after the others of its submission, in a run's download."""
        with transaction(self.db):
            self.change("attempts", seen.id, {"run": run})

    def seen(
        self, one: Submission, key: GradingKey, files: Mapping[str, LessonFile]
    ) -> SeenAttempt | None:
        """Return the attempt that these files are; None if they are new.

        The files of one submission are the same attempt each time they come, whichever names are
        accepted, unless the download says that they were handed in at another time. If other
        lessons were graded before, those that both have are compared.
        """
        texts = {lesson: file.text for lesson, file in files.items()}
        unread = any(file.ignored for file in files.values())
        rows = self.rows(
            "SELECT t.id, t.digest, t.handed, t.handed_in, g.lessons, o.name, o.students FROM"
            " attempts t JOIN submissions s ON s.id = t.came_under JOIN submissions o ON o.id ="
            " t.submission LEFT JOIN gradings g ON g.id = t.grading"
            " WHERE s.assignment = ? AND s.name = ? AND t.digest != '' AND t.void = 0 ORDER BY"
            " t.id DESC",
            self.assignment,
            one.name,
        )
        for row in rows:
            if one.handed_in and row["handed_in"] and one.handed_in != row["handed_in"]:
                continue
            same = row["digest"] == key.digest and not (unread and row["handed"])
            same = same or row["handed"] == one.handed
            other_lessons = row["lessons"] is not None and row["lessons"] != key.lessons
            if same or (other_lessons and self._same_files(row["digest"], texts)):
                return SeenAttempt(row["id"], row["name"], students_from_json(row["students"]))
        return None

    def _same_files(self, digest: str, files: Mapping[str, str]) -> bool:
        query = "SELECT lesson, text FROM files WHERE digest = ?"
        before: dict[str, str] = dict(self.db.execute(query, [digest]))
        both = before.keys() & files.keys()
        return bool(both) and all(before[lesson] == files[lesson] for lesson in both)

    def replaced_by(self, seen: SeenAttempt) -> int | None:
        """Return the run that found a newer attempt than this one of the same submission."""
        found: int | None = self.value(
            "SELECT min(n.run) FROM attempts t JOIN attempts n ON n.submission = t.submission AND"
            " n.run > t.run WHERE t.id = ? AND n.handed_in IS t.handed_in",
            seen.id,
        )
        return found

    def counts(self, attempt: int) -> bool:
        """Return whether this attempt is its submission's that counts."""
        return bool(self.value("SELECT 1 FROM submissions WHERE attempt = ?", attempt))

    def find(self, name: str, key: GradingKey, *, run: int | None = None) -> int | None:
        """Return the newest grading with this key, the present secret and no grader fault, of what
        came as this submission's. Only gradings of ``run`` count if it is given.
        """
        fields = " AND ".join(f"g.{field} = ?" for field in GradingKey.__slots__)
        return self._grading(
            name, f"{fields} AND g.run >= (SELECT first_run FROM term)", astuple(key), run
        )

    def regraded(self, name: str, digest: str, run: int) -> int | None:
        """Return a run's grading of files with this digest."""
        return self._grading(name, "g.digest = ?", (digest,), run)

    def _grading(
        self, name: str, condition: str, values: tuple[object, ...], run: int | None
    ) -> int | None:
        found: int | None = self.value(
            "SELECT max(g.id) FROM gradings g JOIN attempts t ON t.id = g.attempt JOIN"
            " submissions s ON s.id = t.came_under WHERE s.assignment = ? AND s.name = ? AND"
            f" g.faults = 0 AND (? IS NULL OR g.run = ?) AND {condition}",
            self.assignment,
            name,
            run,
            run,
            *values,
        )
        return found

    def graded_files(self, name: str) -> dict[str, str]:
        """Return the texts of an attempt that counts, by lesson."""
        rows = self.db.execute(
            "SELECT f.lesson, f.text FROM submissions s JOIN attempts t ON t.id = s.attempt JOIN"
            " files f ON f.digest = t.digest WHERE s.assignment = ? AND s.name = ? AND f.problem IS"
            " NULL",
            [self.assignment, name],
        )
        return dict(rows)

    def digest_of(self, name: str) -> str | None:
        """Return the digest of the attempt that counts, if it was graded."""
        found: str | None = self.value(
            "SELECT t.digest FROM submissions s JOIN attempts t ON t.id = s.attempt WHERE"
            " s.assignment = ? AND s.name = ? AND t.grading IS NOT NULL",
            self.assignment,
            name,
        )
        return found

    def use(
        self, one: Submission, run: int, grading: int, digest: str, seen: SeenAttempt | None
    ) -> bool:
        """Let a grading be valid for an attempt; return whether anything changed by that."""
        with transaction(self.db):
            state = (
                "SELECT t.*, s.students, s.attempt FROM attempts t JOIN submissions s ON s.id ="
                " t.submission WHERE t.id = ?"
            )
            before = self.row(state, seen.id) if seen else None
            attempt = self._attempt(one, run, digest, seen)
            new = {"grading": grading, "digest": digest, "problem": None, "fault": 0}
            self.change("attempts", attempt, new)
            self.settle_attempt(attempt)
            return not seen or before != self.row(state, attempt)

    def keep(
        self,
        one: Submission,
        run: int,
        key: GradingKey,
        report: Report,
        files: Iterable[LessonFile],
        seen: SeenAttempt | None = None,
    ) -> int:
        """Store a report with its results and files; return the attempt's number."""
        with transaction(self.db):
            self.db.executemany(
                "INSERT OR IGNORE INTO files VALUES (?, ?, ?, ?, ?)",
                [
                    (key.digest, f.lesson, f.path, f.text, f.problem and writable(f.problem))
                    for f in files
                ],
            )
            attempt = self._attempt(one, run, key.digest, seen)
            grading = self.insert(
                "gradings",
                {
                    "attempt": attempt,
                    "run": run,
                    **asdict(key),
                    "seed": report.seed,
                    "faults": len(report.grader_faults),
                    "complete": int(not any(one.is_left_out for one in report.lessons)),
                    "near_names": int(self.about("near_names")),
                    "score": report.score,
                    "made_at": now(),
                    "seconds": report.seconds,
                    "report": json.dumps(report.as_json(), allow_nan=False),
                },
            )
            new = {"digest": key.digest, "grading": grading, "problem": None, "fault": 0}
            self.change("attempts", attempt, new)
            self._keep_results(grading, key, report)
            self.settle_attempt(attempt)
        return attempt

    def keep_problem(
        self,
        one: Submission,
        run: int,
        problem: str,
        *,
        fault: bool,
        digest: str = "",
        seen: SeenAttempt | None = None,
    ) -> None:
        """Store why an attempt has no verdict."""
        with transaction(self.db):
            if not digest:
                query = (
                    "SELECT t.id FROM attempts t JOIN submissions s ON s.id = t.came_under WHERE"
                    " s.assignment = ? AND s.name = ? AND t.digest = '' AND t.problem = ?"
                )
                known = self.value(query, self.assignment, one.name, writable(problem))
                seen = SeenAttempt(known, one.name, one.students) if known else None
            attempt = self._attempt(one, run, digest, seen)
            new = {"problem": writable(problem), "fault": int(fault), "grading": None}
            self.change("attempts", attempt, new)
            self.settle_attempt(attempt)

    def _attempt(self, one: Submission, run: int, digest: str, seen: SeenAttempt | None) -> int:
        """Return the number of an attempt, which is made if it is not there. Its line has what the
        roster says now.
        """
        submission = self._line(one)
        if seen:
            self._tell(one, run, seen.id)
            self.settle(submission)  # what came as theirs may be another one's
            return seen.id
        ours = "came_under = ? AND digest = '' AND fault = 1"  # a fault in reading is no attempt
        if self.value(f"SELECT 1 FROM attempts WHERE {ours}", submission):
            self.change("submissions", submission, {"attempt": None})
            self.db.execute(f"DELETE FROM attempts WHERE {ours}", [submission])
        row = {
            "submission": submission,
            "came_under": submission,
            "run": run,
            "digest": digest,
            "handed": one.handed,
            "gifts": json.dumps(one.gifts),
            "late": int(one.late),
        }
        attempt = self.insert("attempts", row)
        before = next(self._other_readings({**row, "id": attempt}), None)
        if before:
            late = int(one.late or before["late"])
            inherited = {name: before[name] for name in ("handed_in", "on_roster")}
            self.change("attempts", attempt, {"late": late, **inherited})
        self._tell(one, run, attempt)
        return attempt

    def _tell(self, one: Submission, run: int, attempt: int) -> None:
        """Store what a download says of an attempt, and what the roster says with it."""
        new = {
            **({"came_as": one.came_as} if one.came_as else {}),
            **({"handed": one.handed} if one.handed else {}),
            **({"handed_in": one.handed_in, "late": int(one.late)} if one.handed_in else {}),
        }
        if new:
            self.change("attempts", attempt, new)
        told = time_on_roster(one.students)
        query = "SELECT told FROM times_told WHERE attempt = ? ORDER BY id DESC LIMIT 1"
        known = (
            "SELECT 1 FROM times_told o JOIN runs r ON r.id = o.run JOIN runs n ON n.id = ? WHERE"
            " o.attempt = ? AND r.newest IS n.newest"
        )
        if self.has_older_roster and self.value(known, run, attempt):
            return
        if told and told != self.value(query, attempt):
            self.insert("times_told", {"attempt": attempt, "told": told, "run": run})
            self._set_times(self.value("SELECT came_under FROM attempts WHERE id = ?", attempt))

    def _set_times(self, came_under: int) -> None:
        """Decide to which attempts each time belongs that a roster told.

        A roster has the time of a person's newest attempt, but it may be older or newer than the
        download with which it was given. So a time belongs to the first download of those with
        which it was told, unless all files in it are older; then to the first one with a file that
        is not. None is later than all files of every download if there is another one. An attempt
        that has a time takes none that was told with another attempt before: an older download
        came again, and the roster was not of its time.

        The same files may get several times. With one download, the last of them is right. With
        several, they were handed in again, and the first time counts, unless others came between
        and the last attempt is to count.
        """
        query = (
            "SELECT t.*, r.newest FROM attempts t LEFT JOIN runs r ON r.id = t.run WHERE"
            " t.came_under = ? AND t.void = 0 ORDER BY r.ranked, t.id"
        )
        attempts = list(self.rows(query, came_under))
        first_run = {row["id"]: [row, *self._other_readings(row)][-1]["run"] for row in attempts}
        newest = {row["run"]: row["newest"] or math.inf for row in attempts}
        query = (
            "SELECT o.attempt, o.told, r.newest FROM times_told o JOIN attempts t ON t.id ="
            " o.attempt LEFT JOIN runs r ON r.id = o.run WHERE t.came_under = ? AND t.void = 0"
            " ORDER BY o.id"
        )
        told_with: dict[str, set[int]] = {}
        told_rows: list[tuple[int, str, float | None]] = []
        for told_row in self.db.execute(query, [came_under]).fetchall():
            attempt, told, _ = told_row
            run, runs = first_run[attempt], told_with.get(told, set())
            if not runs or run in runs or run not in set().union(*told_with.values()):
                told_with[told] = told_with.pop(told, set()) | {run}
                told_rows.append(told_row)
        fitting: dict[str, int] = {}
        unfit: dict[int, str] = {}
        for told, runs in told_with.items():
            began = moment(told).timestamp() - ZIP_SECONDS
            among = [run for run in newest if run in runs]
            fits = [run for run in (*among, *newest) if newest[run] >= began]
            if fits:
                fitting[told] = fits[0]
            else:  # of a submission that was in no download, unless nothing else is known
                unfit.setdefault(among[-1], told)
        times: dict[int, dict[float | None, str]] = {}
        for _, told, download in told_rows:
            if told in fitting:
                times.setdefault(fitting[told], {})[download] = told
        if self.about("policy") == "last":
            first = {run: first_time(run, times[run], newest) for run in times}
        else:
            first = {run: min(told.values()) for run, told in times.items()}
        belongs = unfit | first
        for row in attempts:
            time = belongs.get(first_run[row["id"]])
            if time or row["on_roster"] in told_with:
                self.change("attempts", row["id"], {"on_roster": time})

    def _other_readings(self, attempt: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield the attempts, newest first, that an attempt was before a person gave these files to
        it, or when other names were accepted.
        """
        query = (
            "SELECT t.*, r.newest FROM attempts t LEFT JOIN runs r ON r.id = t.run WHERE"
            " t.came_under = ? AND t.void = 0 AND t.id < ? ORDER BY t.id DESC LIMIT 1"
        )
        while row := self.row(query, attempt["came_under"], attempt["id"]):
            given = {*json.loads(attempt["gifts"])} - {*json.loads(row["gifts"])}
            if not given and row["handed"] and attempt["handed"]:
                return  # two attempts that are known as such
            same = self._same_but_for(self._lessons_given(given), attempt["digest"], row["digest"])
            if row["digest"] == attempt["digest"] or not same:
                return
            yield row
            attempt = row

    def _lessons_given(self, entries: set[str]) -> set[str]:
        query = "SELECT entry, lesson FROM gifts WHERE assignment = ?"
        rows = self.db.execute(query, [self.assignment])
        return {lesson for entry, lesson in rows if entry in entries}

    def _same_but_for(self, lessons: set[str], digest: str, other: str) -> bool:
        """Return whether two attempts have the same files. What is not compared are files of these
        lessons, and files under another name that only one of the two accepted.
        """
        query = "SELECT lesson, path, text FROM files WHERE digest = ?"
        files, others = (
            {lesson: (path, text) for lesson, path, text in self.db.execute(query, [of])}
            for of in (digest, other)
        )

        def is_same(lesson: str) -> bool:
            path, text = files.get(lesson, ("", ""))
            other_path, other_text = others.get(lesson, ("", ""))
            own_name = PurePosixPath(path).name in (f"{lesson}.py", f"{lesson}{SUFFIX}")
            unread = path == other_path and not own_name and not (text and other_text)
            return unread or text == other_text

        return all(
            is_same(lesson) for lesson in files.keys() | others.keys() if lesson not in lessons
        )

    def untimed(self, run: int) -> int:
        """Return how many attempts of a run have no time, and are not known to be late, if there is
        a rule for late ones.
        """
        if not self.about("late_rule"):
            return 0
        query = (
            "SELECT count(*) FROM attempts WHERE run = ? AND void = 0 AND late = 0 AND problem IS"
            " NULL AND coalesce(as_of, handed_in, on_roster) IS NULL"
        )
        return int(self.value(query, run))

    def handed_in_since(self, names: Collection[str]) -> list[GradebookEntry]:
        """Return who of these, by the roster, handed in after every download was made."""
        query = "SELECT max(newest) FROM runs WHERE assignment = ?"
        newest = self.value(query, self.assignment)
        since = []
        for entry in self.entries() if newest is not None else ():
            told, known = time_on_roster(entry.students), entry.handed_in
            if entry.name not in names or not told or not known or told <= known:
                continue
            if moment(told).timestamp() - ZIP_SECONDS > newest:
                since.append(entry)
        return since

    def _line(self, one: Submission) -> int:
        """Return the number of a submission, which is made if it is not there."""
        row = {
            "assignment": self.assignment,
            "name": one.name,
            "students": students_as_json(one.students),
            "missing": 0,
            "doubt": None,
        }
        again = "ON CONFLICT DO UPDATE SET students = excluded.students, missing = 0, doubt = NULL"
        self.insert("submissions", row, again)
        number = self.number_of(one.name)
        assert number is not None
        return number

    def settle_attempt(self, attempt: int) -> None:
        """Choose the attempt that counts for a changed attempt's submission, and for that which
        has taken its place in time.
        """
        query = "SELECT DISTINCT submission FROM attempts WHERE id = ? OR in_place_of = ?"
        rows = self.db.execute(query, [attempt, attempt]).fetchall()
        for (submission,) in rows:
            self.settle(submission)

    def settle(self, submission: int) -> bool:
        """Choose a submission's attempt that counts; return whether another one counts now.

        Who has none has handed in nothing.
        """
        attempts = self.attempts(submission)
        query = "SELECT students, attempt, missing FROM submissions WHERE id = ?"
        row = self.row(query, submission)
        assert row is not None
        people = students_from_json(row["students"])

        def percent(attempt: Attempt) -> float:
            late = self.lateness(people, attempt.handed_in)
            return late.percent if late else 0.0

        chosen = counting(attempts, self.about("policy"), percent)
        new: dict[str, object] = {"attempt": None}
        if row["missing"] < 3:  # 3: nobody sees it
            new = {"attempt": chosen and chosen.id, "missing": 0, "doubt": None}
            if chosen is None:
                new = {"attempt": None, "missing": max(row["missing"], 1)}
        self.change("submissions", submission, new)
        return bool(new["attempt"] != row["attempt"])

    def set_policy(self, policy: str) -> None:
        """Store which attempt is to count, on which the time of files that came again depends."""
        with transaction(self.db):
            if policy != self.about("policy"):
                self.change("assignments", self.assignment, {"policy": policy})
                query = "SELECT id FROM submissions WHERE assignment = ?"
                for (submission,) in self.db.execute(query, [self.assignment]).fetchall():
                    self._set_times(submission)

    def settle_all(self) -> None:
        """Choose the attempts that count again, by another policy or late rule. If other names of
        files are accepted now, judge each by its newest grading of then, if there is one.
        """
        with transaction(self.db):
            query = (
                "SELECT t.id, n.id, n.digest FROM attempts t JOIN submissions s ON s.id ="
                " t.submission JOIN gradings g ON g.id = t.grading JOIN gradings n ON n.attempt ="
                " t.id AND n.near_names != g.near_names AND n.digest != g.digest AND n.lessons ="
                " g.lessons AND n.faults = 0 JOIN assignments a ON a.id = s.assignment AND"
                " a.near_names = n.near_names WHERE a.id = ? ORDER BY n.id"
            )
            for attempt, grading, digest in self.db.execute(query, [self.assignment]).fetchall():
                self.change("attempts", attempt, {"grading": grading, "digest": digest})
            query = "SELECT id FROM submissions WHERE assignment = ? AND attempt IS NOT NULL"
            for (submission,) in self.db.execute(query, [self.assignment]).fetchall():
                self.settle(submission)

    def _keep_results(self, grading: int, key: GradingKey, report: Report) -> None:
        checks = [
            (lesson.id, place, check)
            for lesson in report.lessons
            for place, check in enumerate(lesson.checks)
        ]
        rest = attrgetter("points", "max_points", "diagnosis", "diagnosis_title", "seed", "seconds")
        self.db.executemany(
            "INSERT INTO results VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [(grading, c.id, lesson, c.outcome.value, *rest(c)) for lesson, _, c in checks],
        )
        current = (key.course_hash, key.engine_hash) == (self.about("course_hash"), engine_hash())
        self.db.executemany(  # this engine's result for a check replaces that of another engine
            f"INSERT OR {'REPLACE' if current else 'IGNORE'} INTO checks SELECT course_hash, lang,"
            f" ?, ?, ?, ?, ?, ?, ? FROM assignments WHERE id = {self.assignment}",
            [
                (c.id, lesson, at, c.title, c.max_points, c.bonus, c.hidden)
                for lesson, at, c in checks
                if c.id != f"{lesson}.grader"
            ],
        )

    # ------------------------------------------------------------------- adjustments and comments

    def adjust(self, name: str, adjustment: Adjustment) -> None:
        with transaction(self.db):
            row = {"submission": self.number_of(name), **asdict(adjustment)}
            del row["number"]
            self.insert("adjustments", row)

    def undo_adjustment(self, name: str, author: str) -> Adjustment:
        """Undo the newest adjustment of a submission; it stays in the file. Raise UsageError if
        there is none.
        """
        made = self.adjustments(name)
        if not made:
            raise UsageError(f"{name} has no adjustment to undo")
        with transaction(self.db):
            undone = {"undone_by": author, "undone_at": now()}
            self.change("adjustments", made[-1].number, undone)
        return made[-1]

    def comment(self, name: str, comment: Comment) -> bool:
        """Store a comment, under a new number, unless it is there; return whether it was stored."""
        fields = {
            "submission": self.number_of(name),
            "lesson": comment.lesson,
            "line": comment.line,
            "text": comment.text,
        }
        with transaction(self.db):
            there = " AND ".join(f"{field} IS ?" for field in fields)
            query = f"SELECT 1 FROM comments WHERE withdrawn = 0 AND {there}"
            if self.value(query, *fields.values()):
                return False
            fields |= {"code": comment.code, "author": comment.author, "made_at": comment.made_at}
            self.insert("comments", fields)
        return True

    def withdraw(self, name: str, number: int) -> None:
        """Withdraw a comment; it stays in the file. Raise UsageError for an unknown number."""
        with transaction(self.db):
            done = self.db.execute(
                "UPDATE comments SET withdrawn = 1 WHERE id = ? AND submission = ? AND"
                " withdrawn = 0",
                [number, self.number_of(name)],
            )
            if not done.rowcount:
                raise UsageError(
                    f"{name} has no comment {number}. To list the comments:"
                    f" {command('comment', self.folder, self.call_of(self.entry(name)))}"
                )


def first_time(run: int, times: Mapping[float | None, str], newest: Mapping[int, float]) -> str:
    """Return when the files of a run were first handed in: the first of their ``times``, but of
    those that were told after other files came in between.

    ``times`` are by the newest file of the download with which each was told; ``newest`` has the
    newest file of each run.
    """
    others = [other for other in newest.values() if other < newest[run]]
    since = max(others, default=-math.inf)
    again = [told for download, told in times.items() if download is None or download > since]
    return min(again or times.values())


def only_line(lines: Mapping[str, tuple[StudentIdentity, ...]], called: str) -> str | None:
    """Return the line, by name, of a student by name or id; None if there is none. Raise UsageError
    if there are several.
    """
    theirs: list[str] = []
    for alike in WAYS_TO_CALL:
        theirs = theirs or [
            name for name, those in lines.items() if any(alike(one, called) for one in those)
        ]
    if len(theirs) > 1:
        ids = [", ".join(known_ids(lines[name])) for name in theirs]
        which = theirs
        if len({*ids}) == len(ids):
            which = [f"{name} ({known})" for name, known in zip(theirs, ids, strict=True)]
        raise UsageError(
            f"{called!r} fits several submissions: {', '.join(which)}. Name one of them"
        )
    return theirs[0] if theirs else None


def known_ids(students: Iterable[StudentIdentity]) -> list[str]:
    """Return an id of each student by which people know them: an address, if there is one."""
    return [one.ids.get("email") or min(one.ids.values()) for one in students if one.ids]


def plain(name: str) -> str:
    """Return a name without what is easily mistyped: case, blanks and hyphens."""
    return re.sub(r"[\s_-]+", "", name.casefold())


def is_called(student: StudentIdentity, called: str) -> bool:
    """Return whether somebody may mean this student: by a spelling of the name, or by an id. In
    Moodle, ``Participant 104517`` is one.
    """
    wanted = (participant_number(called) or called).strip().casefold()
    ids = {value.strip().casefold() for value in student.ids.values()}
    return wanted in ids or bool(forms_of(called) & forms_of(student.name))


def has_a_name(student: StudentIdentity, called: str) -> bool:
    """Return whether a part of a student's name is this word."""
    return called.strip().casefold() in student.name.casefold().replace(",", " ").split()


def was_called(student: StudentIdentity, called: str) -> bool:
    """Return whether this was a student's name on an earlier roster."""
    return any(forms_of(called) & forms_of(name) for name in student.former_names)


WAYS_TO_CALL = (is_called, was_called, has_a_name)
"""How somebody is named, in order: each only if nobody is named so in an earlier way."""
LOCK = "grades.lock"


@contextlib.contextmanager
def batch_lock(out: Path) -> Iterator[None]:
    """Lock a gradebook, whose folder is created if necessary; raise UsageError if it is locked."""
    root, _ = place_of(out)
    path = root / LOCK
    try:
        root.mkdir(parents=True, exist_ok=True)
        db = sqlite3.connect(path, timeout=0, isolation_level=None)
    except (sqlite3.Error, OSError) as error:
        raise refusal(path, error) from None
    with contextlib.closing(db):
        try:
            db.execute("BEGIN EXCLUSIVE")
        except sqlite3.OperationalError as error:
            if "locked" in str(error):
                raise UsageError(
                    f"Another grade command is using {out}. Wait until it is done, or name another"
                    " folder with --out"
                ) from None
            raise refusal(path, error) from None
        yield
