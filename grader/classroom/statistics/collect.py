"""From a stream of gradebook entries to a ``Classroom``: each entry is looked at once, and only
what the class needs is kept.

Of what most people do (make a mistake, get a check wrong) that is a number and a few names. A row
for each there is too: give ``collect_statistics`` ``rows.RowsOnDisk`` where they should not be held
in memory.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

from grader.classroom.gradebook.records import CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.statistics.item_analysis import both_of_either, histogram
from grader.classroom.statistics.records import (
    JUDGED,
    Changed,
    ClassNote,
    Classroom,
    Row,
    Rows,
    State,
    StudentSummary,
    Together,
)  # fmt: skip
from grader.classroom.statistics.tallies import CheckTally, LessonTally, MistakeTally
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report

BEGAN = (LessonStatus.PASSED, LessonStatus.FAILED)
FEWEST_TOGETHER = 3
"""Two people who made the same two mistakes may be chance."""
LIMITS = {Outcome.TIMEOUT: "out of time", Outcome.CRASHED: "crashed"}


def collect_statistics(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], rows: Rows | None = None
) -> Classroom:
    """The class that these entries are; lessons and checks in the columns' order, what the columns
    don't have after them.

    ``rows`` is where the rows are put, a list if none is given.
    """
    tally = _ClassTally(columns, [] if rows is None else rows)
    for entry in entries:
        tally.add(entry)
    return tally.classroom()


class _ClassTally:
    """What has been seen so far."""

    def __init__(self, columns: Sequence[LessonColumn], rows: Rows) -> None:
        self.check_numbers = itertools.count()
        self.lessons: dict[str, LessonTally] = {}
        for column in columns:
            lesson = self.lesson(column.id, column.title, column.max_score)
            for check in column.checks:
                lesson.checks[check.id] = CheckTally(next(self.check_numbers), check)
        self.mistakes: dict[tuple[str, str], MistakeTally] = {}
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.courses: dict[str, None] = {}
        self.rows = rows
        self.scores = array("d")
        self.max_score = 0.0
        self.faults: list[ClassNote] = []
        self.problems: list[ClassNote] = []
        self.missing: list[StudentSummary] = []
        self.limits: list[ClassNote] = []
        self.flags: list[ClassNote] = []
        self.adjustments: list[Changed] = []
        self.unconfined = 0

    def lesson(self, lesson_id: str, title: str, max_score: float) -> LessonTally:
        if lesson_id not in self.lessons:
            self.lessons[lesson_id] = LessonTally(title, max_score)
        return self.lessons[lesson_id]

    def add(self, entry: GradebookEntry) -> None:
        person = StudentSummary(entry.name, entry.label, entry.report is not None)
        states = {State.LATE} if entry.late else set()
        if entry.missing:
            self.missing.append(person)
            states.add(State.MISSING)
        elif entry.fault:
            self.faults.append(
                ClassNote(person, "the submission", entry.problem or "it could not be judged")
            )
            states.add(State.FAULT)
        elif entry.report is None:
            self.problems.append(
                ClassNote(person, "the submission", entry.problem or "it could not be read")
            )
            states.add(State.PROBLEM)
        if entry.adjustments:
            self.adjustments += [Changed(person, adjustment) for adjustment in entry.adjustments]
            states.add(State.ADJUSTED)
        mistakes: set[int] = set()
        wrong: list[int] = []
        if entry.report is not None:
            mistakes, wrong = self.add_report(person, entry.report, states)
            if State.FAULT not in states:
                self.scores.append(entry.score)
            if entry.report.max_score and entry.score >= entry.report.max_score:
                states.add(State.FULL)
        shares, points = self.lesson_scores(entry)
        self.rows.append(
            Row(
                person=person,
                score=entry.score,
                max_score=entry.report.max_score if entry.report else 0.0,
                bonus=entry.report.bonus if entry.report else 0.0,
                adjusted_by=entry.adjusted_by,
                lessons=shares,
                points=points,
                states=tuple(state for state in State if state in states),
                mistakes=tuple(sorted(mistakes)),
                wrong=tuple(wrong),
            )
        )

    def add_report(
        self, person: StudentSummary, report: Report, states: set[State]
    ) -> tuple[set[int], list[int]]:
        """Count a report; return the numbers of its mistakes and of its checks that failed."""
        self.courses[f"{report.course.id} {report.course.version} ({report.course.hash})"] = None
        self.max_score = max(self.max_score, report.max_score)
        self.unconfined += bool(report.sandbox.missing)
        if report.flags:
            self.flags += [ClassNote(person, "", flag) for flag in report.flags]
            states.add(State.FLAG)
        mistakes: set[int] = set()
        wrong: list[int] = []
        for result in report.lessons:
            tally = self.lesson(result.id, result.title, result.max_score)
            tally.statuses[result.status] += 1
            if result.status is LessonStatus.INVALID:
                self.problems.append(
                    ClassNote(person, result.title, result.message or "it could not be loaded")
                )
                states.add(State.INVALID)
            if result.status in BEGAN:
                tally.scores.append(result.score)
                tally.seconds.append(result.seconds)
            self.add_checks(person, report, result, states, mistakes, wrong)
        self.pairs.update(itertools.combinations(sorted(mistakes), 2))
        return mistakes, wrong

    def add_checks(
        self,
        person: StudentSummary,
        report: Report,
        lesson: LessonResult,
        states: set[State],
        mistakes: set[int],
        wrong: list[int],
    ) -> None:
        limits: dict[str, list[str]] = {}
        for check in lesson.checks:
            if check.outcome is Outcome.GRADER_ERROR:
                self.faults.append(
                    ClassNote(
                        person,
                        f"{lesson.title}: {check.title}",
                        check.message or "",
                        check.note or "",
                    )
                )
                states.add(State.FAULT)
            if lesson.status not in BEGAN:
                continue
            rest = report.score if check.bonus else report.score - check.points
            tally = self.check(lesson.id, check)
            tally.add(person, check, rest)
            if check.outcome in JUDGED and check.outcome is not Outcome.PASSED:
                wrong.append(tally.number)
            if check.outcome in LIMITS:
                limits.setdefault(check.message or LIMITS[check.outcome], []).append(check.title)
            if check.diagnosis:
                mistakes.add(self.made(person, lesson.id, check, check.diagnosis))
        for message, titles in limits.items():
            more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
            self.limits.append(ClassNote(person, f"{lesson.title}: {titles[0]}{more}", message))
            states.add(State.LIMIT)

    def check(self, lesson_id: str, check: CheckResult) -> CheckTally:
        checks = self.lessons[lesson_id].checks
        if check.id not in checks:
            column = CheckColumn(check.id, check.title, check.max_points, check.bonus, check.hidden)
            checks[check.id] = CheckTally(next(self.check_numbers), column)
        return checks[check.id]

    def made(
        self, person: StudentSummary, lesson_id: str, check: CheckResult, diagnosis: str
    ) -> int:
        """Count a mistake, once for each person; its number."""
        key = (lesson_id, diagnosis)
        if key not in self.mistakes:
            title = check.diagnosis_title or diagnosis
            self.mistakes[key] = MistakeTally(
                len(self.mistakes), diagnosis, lesson_id, title, check.title, check.evidence or ""
            )
        tally = self.mistakes[key]
        tally.people.add(person)
        return tally.number

    def lesson_scores(
        self, entry: GradebookEntry
    ) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Return each lesson's share and points with adjustments; None if not handed in."""
        there = (
            {
                result.id
                for result in entry.report.lessons
                if result.status is not LessonStatus.MISSING
            }
            if entry.report
            else set()
        )
        there |= {one.lesson for one in entry.adjustments if one.lesson is not None}
        points = [
            entry.lesson_score(lesson_id) if lesson_id in there else None
            for lesson_id in self.lessons
        ]
        most = [lesson.max_score for lesson in self.lessons.values()]
        shares = [
            None if p is None else min(1.0, p / m) if m else 0.0
            for p, m in zip(points, most, strict=True)
        ]
        return tuple(shares), tuple(points)

    def classroom(self) -> Classroom:
        mistakes = [tally.facts() for tally in self.mistakes.values()]
        counts = [mistake.people.count for mistake in mistakes]
        ranked = sorted(mistakes, key=lambda mistake: (-mistake.people.count, mistake.number))
        pairs = both_of_either(self.pairs.items(), counts, FEWEST_TOGETHER)
        max_score = sum(lesson.max_score for lesson in self.lessons.values()) or self.max_score
        return Classroom(
            courses=tuple(self.courses),
            max_score=max_score,
            rows=self.rows,
            scores=tuple(self.scores),
            bins=histogram(self.scores, max_score),
            lessons=tuple(
                lesson.facts(lesson_id, ranked) for lesson_id, lesson in self.lessons.items()
            ),
            mistakes=tuple(ranked),
            together=tuple(
                Together(mistakes[one], mistakes[other], both, part)
                for one, other, both, part in pairs
            ),
            faults=tuple(self.faults),
            problems=tuple(self.problems),
            missing=tuple(self.missing),
            limits=tuple(self.limits),
            flags=tuple(self.flags),
            adjustments=tuple(self.adjustments),
            unconfined=self.unconfined,
        )
