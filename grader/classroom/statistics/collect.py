"""Turn a stream of gradebook entries into a ``Classroom``.

Each entry is read once. For what several people have in common, only a count and a few names are
kept. Only the table's rows grow with the class; give ``collect_statistics`` a ``RowsOnDisk`` to
keep them out of memory.
"""

from __future__ import annotations

import itertools
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence

from grader.classroom.exports.records import load_error, total_points
from grader.classroom.gradebook.records import CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.statistics.item_analysis import histogram, ranked_pairs
from grader.classroom.statistics.records import (
    JUDGED,
    Changed,
    CheckFacts,
    ClassNote,
    Classroom,
    LessonFacts,
    MistakeCount,
    Row,
    Rows,
    State,
    StudentSummary,
    Together,
    UnnamedGroup,
)  # fmt: skip
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report

BEGAN = (LessonStatus.PASSED, LessonStatus.FAILED)
FEWEST_TOGETHER = 3
"""If only two people made the same two mistakes, it may be chance."""
LIMITS = {Outcome.TIMEOUT: "out of time", Outcome.CRASHED: "crashed"}


def collect_statistics(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], rows: Rows | None = None
) -> Classroom:
    """Count a class. Lessons and checks are in the columns' order; others come after them."""
    collector = _Collector(columns, [] if rows is None else rows)
    for entry in entries:
        collector.add(entry)
    return collector.finish()


class _Collector:
    """Adds entries to a classroom."""

    def __init__(self, columns: Sequence[LessonColumn], rows: Rows) -> None:
        self.room = Classroom(rows)
        self.check_numbers = itertools.count()
        self.mistakes: dict[tuple[str, str], MistakeCount] = {}
        self.groups: dict[tuple[str, str], UnnamedGroup] = {}
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.lessons: dict[str, LessonFacts] = {}
        for column in columns:
            lesson = self.lesson(column.id, column.title, column.max_score)
            for check in column.checks:
                self.check(lesson, check)

    def lesson(self, lesson_id: str, title: str, max_score: float) -> LessonFacts:
        if lesson_id not in self.lessons:
            self.lessons[lesson_id] = LessonFacts(lesson_id, title, max_score)
            self.room.lessons.append(self.lessons[lesson_id])
        return self.lessons[lesson_id]

    def check(self, lesson: LessonFacts, column: CheckColumn) -> CheckFacts:
        if column.id not in lesson.by_id:
            number = next(self.check_numbers)
            lesson.by_id[column.id] = CheckFacts(number, lesson.id, column)
        return lesson.by_id[column.id]

    def add(self, entry: GradebookEntry) -> None:
        room, report = self.room, entry.report
        person = StudentSummary(entry.name, entry.label, report is not None)
        states = {State.LATE} if entry.late else set()
        if entry.missing:
            room.missing.append(person)
            states.add(State.MISSING)
        elif entry.fault:
            reason = entry.problem or "it could not be judged"
            room.faults.append(ClassNote(person, "the submission", reason))
            states.add(State.FAULT)
        elif report is None:
            reason = entry.problem or "it could not be read"
            room.problems.append(ClassNote(person, "the submission", reason))
            states.add(State.PROBLEM)
        if entry.adjustments:
            room.adjustments += [Changed(person, adjustment) for adjustment in entry.adjustments]
            states.add(State.ADJUSTED)
        mistakes: set[int] = set()
        wrong: list[int] = []
        counts = total_points(entry) is not None
        if report is not None:
            self.add_report(person, report, states, mistakes, wrong)
            if counts:
                room.scores.append(entry.score)
                for section in entry.sections:
                    room.sections.setdefault(section, array("d")).append(entry.score)
            if report.max_score and entry.score >= report.max_score:
                states.add(State.FULL)
        if len(entry.history) > 1:
            room.again[0].add(entry.history[0])
            room.again[1].add(entry.history[-1])
        shares, points = self.lesson_scores(entry)
        room.rows.append(
            Row(
                person=person,
                score=entry.score if counts else None,
                max_score=report.max_score if report else 0.0,
                bonus=report.bonus if report else 0.0,
                penalty=entry.penalty,
                adjusted_by=entry.adjusted_by,
                history=entry.history if len(entry.history) > 1 else (),
                section=", ".join(entry.sections),
                lessons=shares,
                points=points,
                states=tuple(state for state in State if state in states),
                mistakes=tuple(sorted(mistakes)),
                wrong=tuple(wrong),
            )
        )

    def add_report(
        self,
        person: StudentSummary,
        report: Report,
        states: set[State],
        mistakes: set[int],
        wrong: list[int],
    ) -> None:
        """Count a report; add its states, mistakes and wrong checks to the last three arguments."""
        room = self.room
        room.courses[f"{report.course.id} {report.course.version} ({report.course.hash})"] = None
        room.max_score = max(room.max_score, report.max_score)
        room.unconfined += bool(report.sandbox.missing)
        if report.flags:
            room.flags += [ClassNote(person, "", flag) for flag in report.flags]
            states.add(State.FLAG)
        for result in report.lessons:
            lesson = self.lesson(result.id, result.title, result.max_score)
            lesson.statuses[result.status] += 1
            if result.status is LessonStatus.INVALID:
                room.problems.append(ClassNote(person, result.title, load_error(result)))
                states.add(State.INVALID)
            if result.status in BEGAN:
                lesson.scores.append(result.score)
                lesson.seconds.append(result.seconds)
            self.add_faults(person, result, states)
            if result.status in BEGAN:
                self.add_checks(person, report, result, states, mistakes, wrong)
        self.pairs.update(itertools.combinations(sorted(mistakes), 2))

    def add_faults(self, person: StudentSummary, lesson: LessonResult, states: set[State]) -> None:
        for check in lesson.checks:
            if check.outcome is Outcome.GRADER_ERROR:
                where = f"{lesson.title}: {check.title}"
                note = ClassNote(person, where, check.message or "", check.note or "")
                self.room.faults.append(note)
                states.add(State.FAULT)

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
            rest = report.score if check.bonus else report.score - check.points
            column = CheckColumn(check.id, check.title, check.max_points, check.bonus, check.hidden)
            facts = self.check(self.lessons[lesson.id], column)
            facts.add(person, check, rest)
            if check.outcome in JUDGED and check.outcome is not Outcome.PASSED:
                wrong.append(facts.number)
            if check.outcome in LIMITS:
                limits.setdefault(check.message or LIMITS[check.outcome], []).append(check.title)
            if check.signature:
                self.in_group(person, lesson.id, check, check.signature)
            if check.diagnosis:
                mistakes.add(self.made(person, lesson.id, check, check.diagnosis))
        for message, titles in limits.items():
            more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
            note = ClassNote(person, f"{lesson.title}: {titles[0]}{more}", message)
            self.room.limits.append(note)
            states.add(State.LIMIT)

    def in_group(
        self, person: StudentSummary, lesson_id: str, check: CheckResult, signature: str
    ) -> None:
        """Count an unnamed wrong answer in the group of those that fail alike."""
        key = (lesson_id, signature)
        if key not in self.groups:
            self.groups[key] = UnnamedGroup(signature, lesson_id, check.function, check)
        self.groups[key].people.add(person)

    def made(
        self, person: StudentSummary, lesson_id: str, check: CheckResult, diagnosis: str
    ) -> int:
        """Count a mistake, once for each person; return its number."""
        key = (lesson_id, diagnosis)
        if key not in self.mistakes:
            title = check.diagnosis_title or diagnosis
            self.mistakes[key] = MistakeCount(
                len(self.mistakes), diagnosis, lesson_id, title, check.title, check.evidence or ""
            )
        self.mistakes[key].people.add(person)
        return self.mistakes[key].number

    def lesson_scores(
        self, entry: GradebookEntry
    ) -> tuple[tuple[float | None, ...], tuple[float | None, ...]]:
        """Return each lesson's share and points with adjustments; None if not handed in."""
        results = entry.report.lessons if entry.report else ()
        there = {one.id for one in results if one.status is not LessonStatus.MISSING}
        there |= {one.lesson for one in entry.adjustments if one.lesson is not None}
        points = [entry.lesson_score(one) if one in there else None for one in self.lessons]
        most = [lesson.max_score for lesson in self.lessons.values()]
        shares = [
            None if p is None else min(1.0, p / m) if m else 0.0
            for p, m in zip(points, most, strict=True)
        ]
        return tuple(shares), tuple(points)

    def finish(self) -> Classroom:
        room, mistakes = self.room, list(self.mistakes.values())
        room.mistakes = sorted(mistakes, key=lambda one: (-one.people.count, one.number))
        room.groups = sorted(
            self.groups.values(), key=lambda one: (-one.people.count, one.signature)
        )
        for mistake in room.mistakes:
            self.lessons[mistake.lesson].mistakes.append(mistake)
        counts = [mistake.people.count for mistake in mistakes]
        room.together = [
            Together(mistakes[one], mistakes[other], both, part)
            for one, other, both, part in ranked_pairs(self.pairs.items(), counts, FEWEST_TOGETHER)
        ]
        room.max_score = sum(lesson.max_score for lesson in room.lessons) or room.max_score
        room.sections = dict(sorted(room.sections.items()))
        room.bins = histogram(room.scores, room.max_score)
        return room
