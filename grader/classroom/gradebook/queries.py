"""Queries of a gradebook: entries, columns, changes of a
run, common mistakes. Nothing is cached.
"""

from __future__ import annotations

import difflib
import itertools
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import replace

from grader.classroom.gradebook.lateness import Lateness, LateRule
from grader.classroom.gradebook.records import (
    Adjustment,
    CheckColumn,
    Comment,
    CommonMistake,
    GradebookEntry,
    LessonColumn,
    PersonalPart,
    ScoreChange,
    students_from_json,
    students_label,
)
from grader.classroom.imports.names import forms_of
from grader.classroom.imports.records import StudentIdentity
from grader.core.errors import UsageError
from grader.core.report import Report, add_up


class GradebookReader:
    """An open gradebook, for reading."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db

    def entries(self) -> Iterator[GradebookEntry]:
        for row in self.db.execute(f"{ENTRY} ORDER BY s.name"):
            yield self._entry(row)

    def entry(self, name: str) -> GradebookEntry:
        """Return one entry; raise UsageError that names the nearest if there is none."""
        row = self.db.execute(f"{ENTRY} AND s.name = ?", [name]).fetchone()
        if row is None and self.is_forgotten(name):
            raise UsageError(f"{name} is forgotten. To undo this: grade forget OUT {name!r} --undo")
        if row is None:
            names = [
                one
                for (one,) in self.db.execute(
                    "SELECT name FROM submissions WHERE forgotten = 0 ORDER BY name"
                )
            ]
            near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
            guess = f" Did you mean {near[0]}?" if near else " grades.csv lists all names"
            raise UsageError(f"The gradebook has no submission {name!r}.{guess}")
        return self._entry(row)

    def is_forgotten(self, name: str) -> bool:
        query = "SELECT 1 FROM submissions WHERE name = ? AND forgotten = 1"
        return self.db.execute(query, [name]).fetchone() is not None

    def entry_of(self, called: str) -> GradebookEntry:
        """Return the entry with that name, or of the student with that name.

        Raise UsageError if several submissions fit, or none.
        """
        students = dict(
            self.db.execute(
                "SELECT name, students FROM submissions WHERE forgotten = 0 ORDER BY name"
            ).fetchall()
        )
        if called in students:
            return self.entry(called)
        wanted = forms_of(called)
        theirs = [
            name
            for name, those in students.items()
            if any(wanted & forms_of(one) for one, *_ in json.loads(those))
        ]
        if len(theirs) > 1:
            raise UsageError(
                f"{called!r} fits several submissions: {', '.join(theirs)}. Name one of them"
            )
        return self.entry(theirs[0] if theirs else called)

    def _entry(
        self, row: tuple[str, str, int, int, str | None, int, str | None, int, str | None, str]
    ) -> GradebookEntry:
        name, students, late, missing, problem, fault, report, attempt, handed_in, came_as = row
        people = students_from_json(students)
        lateness = self.lateness(people, handed_in)
        return GradebookEntry(
            name=name,
            students=people,
            report=replace(Report.from_json(json.loads(report)), submission=name)
            if report
            else None,
            problem=problem,
            fault=bool(fault),
            missing=missing == 1,
            late=bool(late) or lateness is not None,
            attempt=max(attempt, 1),
            adjustments=self.adjustments(name),
            comments=self.comments(name),
            handed_in=handed_in,
            lateness=lateness,
            came_as=came_as,
            history=self.history(name),
        )

    def history(self, name: str) -> tuple[float, ...]:
        """Return what each version of a submission earned, in order; of a regraded version, the
        newest result.
        """
        rows = self.db.execute(
            "SELECT digest, score FROM attempts WHERE submission = ? AND faults = 0 ORDER BY id",
            [name],
        ).fetchall()
        runs = itertools.groupby(rows, key=lambda row: row[0])
        return tuple([score for _, score in run][-1] for _, run in runs)

    def late_rule(self) -> LateRule | None:
        (text,) = self.db.execute("SELECT late_rule FROM class").fetchone() or ("",)
        return LateRule.from_json(json.loads(text)) if text else None

    def lateness(
        self, students: tuple[StudentIdentity, ...], handed_in: str | None
    ) -> Lateness | None:
        """Return how late a submission is by the class's rule, and its students' extensions."""
        rule = self.late_rule() if handed_in else None
        if rule is None:
            return None
        return rule.lateness(
            handed_in, [one.details["due"] for one in students if "due" in one.details]
        )

    def comments(self, name: str) -> tuple[Comment, ...]:
        """Return a submission's comments: the general ones, then by lesson and line."""
        rows = self.db.execute(
            "SELECT id, text, author, made_at, lesson, line, code FROM comments WHERE submission ="
            " ? AND withdrawn = 0 ORDER BY lesson, line, id",
            [name],
        )
        return tuple(Comment(*row) for row in rows)

    def graded_text(self, name: str, lesson: str) -> str | None:
        """Return the text of a lesson's file as it was graded; None if there was none."""
        row = self.db.execute(
            "SELECT f.text FROM submissions s JOIN attempts a ON a.id = s.current JOIN files f ON"
            " f.digest = a.digest WHERE s.name = ? AND f.lesson = ? AND f.problem IS NULL",
            [name, lesson],
        ).fetchone()
        return row[0] if row else None

    def personal_part(
        self, name: str, students: tuple[StudentIdentity, ...], handed_in: str | None
    ) -> PersonalPart:
        """Return what a submission's page shows beside its report."""
        return PersonalPart(
            students_label(students, name),
            self.adjustments(name),
            self.comments(name),
            self.lateness(students, handed_in),
        )

    def adjustments(self, name: str) -> tuple[Adjustment, ...]:
        rows = self.db.execute(
            "SELECT points, reason, author, made_at, lesson FROM adjustments WHERE submission = ?"
            " ORDER BY id",
            [name],
        )
        return tuple(Adjustment(*row) for row in rows)

    def lessons(self) -> tuple[tuple[str, str, float], ...]:
        row = self.db.execute("SELECT lessons FROM class").fetchone()
        return tuple((lesson, title, points) for lesson, title, points in json.loads(row[0]))

    def columns(self) -> tuple[LessonColumn, ...]:
        """Return the columns; a lesson that nobody handed in has no checks yet."""
        found: dict[str, list[CheckColumn]] = {}
        rows = self.db.execute(
            "SELECT k.lesson, k.id, k.title, k.max_points, k.bonus, k.hidden FROM checks k, class c"
            " WHERE k.course_hash = c.course_hash AND k.lang = c.lang ORDER BY k.lesson,"
            " k.position, k.id"
        )
        for lesson, check, title, most, bonus, hidden in rows:
            found.setdefault(lesson, []).append(
                CheckColumn(check, title, most, bool(bonus), bool(hidden))
            )
        columns = []
        for lesson, title, points in self.lessons():
            checks = tuple(found.get(lesson, ()))
            plain = (
                add_up(check.max_points for check in checks if not check.bonus)
                if checks
                else points
            )
            columns.append(
                LessonColumn(
                    lesson,
                    title,
                    plain,
                    add_up(check.max_points for check in checks if check.bonus),
                    checks,
                )
            )
        return tuple(columns)

    def changes(self, run: int) -> Iterator[ScoreChange]:
        rows = self.db.execute(
            "SELECT s.name, s.current, a.score FROM submissions s JOIN attempts a ON a.id ="
            " s.current WHERE a.run = ? AND s.forgotten = 0 ORDER BY s.name",
            [run],
        )
        for name, current, new in rows:
            before = self._before(current, run)
            if before is not None:
                old, checks = before[1], tuple(self._changed_checks(before[0], current))
                if checks or old != new:
                    yield ScoreChange(name, old, new, checks)

    def _before(self, attempt: int, run: int) -> tuple[int, float] | None:
        row = self.db.execute(
            "SELECT b.id, b.run, b.score FROM attempts a JOIN attempts b ON b.id = a.replaced WHERE"
            " a.id = ?",
            [attempt],
        )
        found = row.fetchone()
        if found is None:
            return None
        return self._before(found[0], run) if found[1] == run else (found[0], found[2])

    def _changed_checks(self, old: int, new: int) -> Iterator[tuple[str, str | None, str | None]]:
        before, after = (
            dict(
                self.db.execute(
                    "SELECT check_id, outcome FROM results WHERE attempt = ? ORDER BY check_id",
                    [attempt],
                ).fetchall()
            )
            for attempt in (old, new)
        )
        for check in (*before, *(check for check in after if check not in before)):
            if before.get(check) != after.get(check):
                yield check, before.get(check), after.get(check)

    def commonest_mistakes(self, most: int) -> list[CommonMistake]:
        rows = self.db.execute(
            "SELECT r.lesson, r.diagnosis, min(r.diagnosis_title), count(DISTINCT s.name) AS n FROM"
            " submissions s JOIN results r ON r.attempt = s.current WHERE r.diagnosis IS NOT NULL"
            " AND s.forgotten = 0 GROUP BY r.lesson, r.diagnosis ORDER BY n DESC, r.lesson,"
            " r.diagnosis LIMIT ?",
            [most],
        )
        return [CommonMistake(*row) for row in rows]

    def passed_over(self) -> list[tuple[str, str]]:
        """Return the items of the download that were not graded, each with the reason."""
        return self.db.execute("SELECT entry, reason FROM passed_over ORDER BY rowid").fetchall()

    def handed_in(self) -> set[str]:
        return {lesson for (lesson,) in self.db.execute("SELECT DISTINCT lesson FROM files")}

    def texts(self, lesson: str) -> Iterator[tuple[str, str, str]]:
        """Yield (submission, path, text) of each graded file of a lesson, by submission name."""
        yield from self.db.execute(
            "SELECT s.name, f.path, f.text FROM submissions s JOIN attempts a ON a.id = s.current"
            " JOIN files f ON f.digest = a.digest AND f.lesson = ? WHERE f.problem IS NULL"
            " AND s.forgotten = 0 ORDER BY s.name",
            [lesson],
        )


ENTRY = """
SELECT s.name, s.students, s.late, s.missing, s.problem, s.fault, a.report,
    (SELECT count(*) FROM attempts e WHERE e.submission = s.name AND e.id <= s.current),
    s.handed_in, s.came_as
FROM submissions s LEFT JOIN attempts a ON a.id = s.current
WHERE s.forgotten = 0
"""
