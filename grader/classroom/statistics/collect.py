"""Turn a stream of gradebook entries into a ``Classroom``: counts, scores, and item analysis.

Each entry is read once. For what several people have in common, only a count and a few names are
kept. Only the table's rows grow with the class; give ``collect_statistics`` a ``RowsOnDisk`` to
keep them out of memory.
"""

from __future__ import annotations

import enum
import itertools
import json
import math
import statistics
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import IO

from grader.classroom.exports.common import load_error
from grader.classroom.gradebook.entry import (
    Adjustment,
    CheckColumn,
    GradebookEntry,
    LessonColumn,
    not_graded,
    total_points,
)
from grader.classroom.gradebook.store import known_ids
from grader.classroom.imports.names import name_list
from grader.classroom.passed_over import passed_over_files
from grader.classroom.statistics.item_analysis import (
    AGAINST,
    TOO_FEW_TO_BLAME,
    AnswerPatterns,
    Moments,
    RightLooking,
    point_biserial,
    share,
)
from grader.core.report import (
    CheckResult,
    LessonResult,
    LessonStatus,
    Outcome,
    Record,
    Report,
    add_up,
)
from grader.render.page import waiting_points

BEGAN = (LessonStatus.PASSED, LessonStatus.FAILED)
FEWEST_TOGETHER = 3
"""If only two people made the same two mistakes, it may be chance."""
LIMITS = {Outcome.TIMEOUT: "out of time", Outcome.CRASHED: "crashed"}


def collect_statistics(
    entries: Iterable[GradebookEntry], columns: Sequence[LessonColumn], rows: Rows | None = None
) -> Classroom:
    """Count a class. Lessons and checks are in the columns' order; others come after them.

    Entries are read once and not kept; ``rows`` stores their table rows (default: in memory).
    """
    collector = _Collector(columns, [] if rows is None else rows)
    for entry in entries:
        collector.add(entry)
    return collector.finish()


@dataclass(frozen=True, slots=True)
class Bin:
    """A column of a histogram, from ``low`` to below ``high`` (the last includes it), with its
    count.
    """

    low: float
    high: float
    count: int


NAMED = 8
"""How many names are shown beside a mistake."""


class State(enum.StrEnum):
    """A state by which the table of submissions can be filtered."""

    FAULT = "fault"
    PROBLEM = "problem"
    MISSING = "missing"
    INVALID = "invalid"
    FOREIGN = "foreign"
    LIMIT = "limit"
    FLAG = "flag"
    BEHIND = "behind"
    """Far behind the class, which only ``Classroom.states`` knows."""
    ADJUSTED = "adjusted"
    LATE = "late"
    FULL = "full"


UNGRADED = frozenset((State.PROBLEM, State.INVALID, State.FOREIGN))
"""An answer could not be graded."""


@dataclass(frozen=True, slots=True)
class StudentSummary:
    """A submission's owner: the unique name, the label, whether there is a report to open, and ids
    by which people know them.
    """

    name: str
    label: str
    has_report: bool
    ids: str = ""


@dataclass(slots=True)
class People:
    """The number of people of whom something is true, and the first ``NAMED`` of them."""

    count: int = 0
    first: list[StudentSummary] = field(default_factory=list)
    last: StudentSummary | None = None

    def add(self, person: StudentSummary) -> None:
        """Count a person, but not twice in a row."""
        if person is not self.last:
            self.count += 1
            self.last = person
            self.first += [person] * (self.count <= NAMED)


@dataclass(frozen=True, slots=True)
class Row(Record):
    """A line of the table of submissions.

    ``points`` are those of each lesson, in the columns' order, None where it was not handed in;
    ``history`` has what each version earned; ``mistakes`` and ``wrong`` are the numbers of mistakes
    made and of checks not passed.
    """

    person: StudentSummary
    score: float | None
    """None if a part was not graded, as in grades.csv."""
    bonus: float
    penalty: float
    adjusted_by: float
    history: tuple[float, ...]
    section: str
    points: tuple[float | None, ...]
    states: tuple[State, ...]
    mistakes: tuple[int, ...]
    wrong: tuple[int, ...]

    @property
    def standing(self) -> float | None:
        """The points by which people are far behind or not: without a penalty for lateness, and
        None if a file could not be graded.
        """
        if self.score is None or not UNGRADED.isdisjoint(self.states):
            return None
        return self.score + self.penalty


class RowsOnDisk:
    """Rows in a file, one line of JSON each, so that memory does not grow with the class.

    All are appended first. Then one reader at a time reads them, from the first.
    """

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._count = 0

    def append(self, row: Row) -> None:
        self._file.write(json.dumps(row.as_json()).encode() + b"\n")
        self._count += 1

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Row]:
        self._file.seek(0)
        return (Row.from_json(json.loads(line)) for line in self._file)


Rows = list[Row] | RowsOnDisk


@dataclass(frozen=True, slots=True)
class ClassNote:
    """A note on a submission: whose, where, what; ``more`` is for the course's author."""

    person: StudentSummary
    where: str
    text: str
    more: str = ""


@dataclass(slots=True)
class Loss:
    """The points that a class lost by one thing; ``waiting`` are those of checks that wait for it
    and come back with it.
    """

    points: float = 0.0
    waiting: float = 0.0

    def add(self, check: CheckResult, waiting: float) -> None:
        self.points = add_up([self.points, check.max_points, -check.points, waiting])
        self.waiting = add_up([self.waiting, waiting])


@dataclass(slots=True)
class CheckFacts:
    """One check over the class: outcomes, and moments of the scores on everything else.

    ``wrong`` are the people who failed it without a known mistake; ``example`` is the message that
    one of them got. ``right_looking`` is known at the end.
    """

    number: int
    lesson: str
    column: CheckColumn
    function: str = ""
    outcomes: Counter[Outcome] = field(default_factory=Counter)
    right: Moments = field(default_factory=Moments)
    not_right: Moments = field(default_factory=Moments)
    wrong: People = field(default_factory=People)
    example: str = ""
    loss: Loss = field(default_factory=Loss)
    unnamed_loss: Loss = field(default_factory=Loss)
    """The part of the loss without a known mistake."""
    right_looking: RightLooking = field(default_factory=RightLooking)

    def add(self, person: StudentSummary, result: CheckResult, rest: float) -> None:
        """Count a result; ``rest`` is the person's score without this check's points."""
        self.outcomes[result.outcome] += 1
        self.function = result.function
        if result.outcome is Outcome.PASSED:
            self.right.add(rest)
        elif result.outcome.group == "wrong":
            self.not_right.add(rest)
            if not result.diagnosis and not result.bonus:
                self.wrong.add(person)
                self.example = self.example or result.message or ""

    @property
    def discrimination(self) -> float | None:
        """How well it tells strong from weak submissions (``point_biserial``)."""
        return point_biserial(self.right, self.not_right)

    @property
    def passed(self) -> int:
        return self.outcomes[Outcome.PASSED]

    @property
    def began(self) -> int:
        return self.judged + self.outcomes[Outcome.SKIPPED]

    @property
    def judged(self) -> int:
        return sum(n for one, n in self.outcomes.items() if one.group in ("right", "wrong"))

    @property
    def passed_share(self) -> float | None:
        return share(self.passed, self.began)

    @property
    def difficulty(self) -> float | None:
        """The share of those for whom it was run who got it wrong: 0 nobody, 1 everybody."""
        return share(self.judged - self.passed, self.judged)

    @property
    def doubt(self) -> str | None:
        """The reason why the check itself may be wrong, if there is one; not for a bonus, which a
        right answer may miss.
        """
        if self.column.bonus:
            return None
        if self.judged >= TOO_FEW_TO_BLAME and not self.passed:
            return f"none of {self.judged} students passed"
        if (alike := self.right_looking).against:
            return f"{alike.failed} of {alike.count} answers that look right otherwise fail it"
        found = self.discrimination
        if found is not None and found * math.sqrt(self.judged - 1) < AGAINST:
            return f"students with better scores get it wrong (discrimination {found:.2f})"
        return None


@dataclass(slots=True)
class MistakeCount:
    """How often a mistake was made; ``evidence`` is an example from ``check``.

    ``seen_in`` counts the people by the numbers of the checks in which they made it.
    """

    number: int
    id: str
    lesson: str
    title: str
    check: str
    evidence: str
    people: People = field(default_factory=People)
    loss: Loss = field(default_factory=Loss)
    seen_in: Counter[frozenset[int]] = field(default_factory=Counter)

    def rests_on(self, checks: Collection[int]) -> bool:
        """Return whether most people made it in none but these checks."""
        only = sum(count for seen, count in self.seen_in.items() if seen.issubset(checks))
        return 2 * only > self.people.count


@dataclass(slots=True)
class UnnamedGroup:
    """Unnamed wrong answers that fail alike: who gave them, and what one of them did. ``signature``
    is what ``grade name`` calls the group.
    """

    signature: str
    lesson: str
    function: str
    example: CheckResult
    people: People = field(default_factory=People)
    code: str = ""

    @property
    def first(self) -> StudentSummary:
        return self.people.first[0]


@dataclass(frozen=True, slots=True)
class Together:
    """Two mistakes, and the number of people who made ``both``."""

    one: MistakeCount
    other: MistakeCount
    both: int

    @property
    def share(self) -> float:
        """The share of these people among all who made either: the Jaccard index (Jaccard 1912)."""
        return self.both / (self.one.people.count + self.other.people.count - self.both)

    @property
    def rank(self) -> tuple[float, int, int, int]:
        return -self.share, -self.both, self.one.number, self.other.number


@dataclass(slots=True)
class LessonFacts:
    """One lesson's statistics: statuses, scores, times, checks, and mistakes by frequency."""

    id: str
    title: str
    max_score: float
    statuses: Counter[LessonStatus] = field(default_factory=Counter)
    scores: array[float] = field(default_factory=lambda: array("d"))
    seconds: array[float] = field(default_factory=lambda: array("d"))
    by_id: dict[str, CheckFacts] = field(default_factory=dict)
    mistakes: list[MistakeCount] = field(default_factory=list)
    patterns: AnswerPatterns = field(default_factory=AnswerPatterns)

    @property
    def checks(self) -> tuple[CheckFacts, ...]:
        return tuple(self.by_id.values())

    @property
    def bins(self) -> tuple[Bin, ...]:
        return histogram(self.scores, self.max_score)

    @property
    def began(self) -> int:
        return sum(self.statuses[one] for one in BEGAN)

    @property
    def complete_share(self) -> float | None:
        return share(self.statuses[LessonStatus.PASSED], self.began)


@dataclass(slots=True)
class Classroom:
    """A class. ``scores`` has only those of submissions that were judged completely."""

    rows: Rows
    courses: dict[str, None] = field(default_factory=dict)
    max_score: float = 0.0
    scores: array[float] = field(default_factory=lambda: array("d"))
    bins: tuple[Bin, ...] = ()
    lessons: list[LessonFacts] = field(default_factory=list)
    mistakes: list[MistakeCount] = field(default_factory=list)
    together: list[Together] = field(default_factory=list)
    groups: list[UnnamedGroup] = field(default_factory=list)
    faults: list[ClassNote] = field(default_factory=list)
    problems: list[ClassNote] = field(default_factory=list)
    foreign: list[ClassNote] = field(default_factory=list)
    """Files that define none of their lesson's functions."""
    missing: list[StudentSummary] = field(default_factory=list)
    limits: list[ClassNote] = field(default_factory=list)
    flags: list[ClassNote] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    """Files of submissions that were not graded, each with the reason."""
    adjustments: list[tuple[StudentSummary, Adjustment]] = field(default_factory=list)
    sections: dict[str, array[float]] = field(default_factory=dict)
    """The scores by section, as in ``scores``."""
    again: tuple[Moments, Moments] = field(default_factory=lambda: (Moments(), Moments()))
    """The points of the first and the last version, of those who handed in more than one."""
    unconfined: int = 0
    """How many were judged without at least one of the sandbox's guarantees."""

    behind_below: float = 0.0
    """Who has fewer points is far behind: half the median, as ``Row.standing``."""

    def states(self, row: Row) -> tuple[State, ...]:
        """Return the states of a row, in order."""
        behind = row.standing is not None and row.standing < self.behind_below
        found = {*row.states, *([State.BEHIND] if behind else [])}
        return tuple(state for state in State if state in found)


@dataclass(slots=True)
class _Seen:
    """What was seen of one submission while its report was counted, for its row."""

    person: StudentSummary
    states: set[State] = field(default_factory=set)
    mistakes: set[int] = field(default_factory=set)
    wrong: list[int] = field(default_factory=list)


class _Collector:
    """Adds entries to a classroom."""

    def __init__(self, columns: Sequence[LessonColumn], rows: Rows) -> None:
        self.room = Classroom(rows)
        self.check_numbers = itertools.count()
        self.mistakes: dict[tuple[str, str], MistakeCount] = {}
        self.groups: dict[tuple[str, str], UnnamedGroup] = {}
        self.standings = array("d")
        self.foreign: list[tuple[StudentSummary, LessonResult]] = []
        self.lesson_of: dict[str, str] = {}  # the title of a function's lesson
        self.pairs: Counter[tuple[int, int]] = Counter()
        self.lessons: dict[str, LessonFacts] = {}
        for column in columns:
            lesson = self.lesson(column.id, column.title, column.max_score)
            for check in column.checks:
                self.check(lesson, check)

    def lesson(self, lesson_id: str, title: str, max_score: float) -> LessonFacts:
        if lesson_id not in self.lessons:
            self.lessons[lesson_id] = LessonFacts(lesson_id, title, max_score)
        return self.lessons[lesson_id]

    def check(self, lesson: LessonFacts, column: CheckColumn) -> CheckFacts:
        if column.id not in lesson.by_id:
            number = next(self.check_numbers)
            lesson.by_id[column.id] = CheckFacts(number, lesson.id, column)
        return lesson.by_id[column.id]

    def add(self, entry: GradebookEntry) -> None:
        room, report = self.room, entry.report
        ids = ", ".join(known_ids(entry.students))
        person = StudentSummary(entry.name, entry.label, report is not None, ids)
        seen = _Seen(person)
        states = seen.states
        if entry.late:
            states.add(State.LATE)
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
        if entry.wrong_file:
            room.passed_over.append((entry.name, entry.wrong_file))
        if entry.adjustments:
            room.adjustments += [(person, adjustment) for adjustment in entry.adjustments]
            states.add(State.ADJUSTED)
        counts = total_points(entry) is not None
        for lesson in not_graded(entry):
            room.problems.append(ClassNote(person, "", lesson.message or ""))
            states.add(State.PROBLEM)
        if report is not None:
            self.add_report(seen, report)
            if counts:
                room.scores.append(entry.score)
                for section in entry.sections:
                    room.sections.setdefault(section, array("d")).append(entry.score)
            if report.max_score and entry.score >= report.max_score:
                states.add(State.FULL)
        if len(entry.history) > 1:
            room.again[0].add(entry.history[0])
            room.again[1].add(entry.history[-1])
        row = Row(
            person=person,
            score=entry.score if counts else None,
            bonus=report.bonus if report else 0.0,
            penalty=entry.penalty,
            adjusted_by=entry.adjusted_by,
            history=entry.history if len(entry.history) > 1 else (),
            section=", ".join(entry.sections),
            points=self.lesson_points(entry),
            states=tuple(state for state in State if state in states),
            mistakes=tuple(sorted(seen.mistakes)),
            wrong=tuple(seen.wrong),
        )
        room.rows.append(row)
        if row.standing is not None:
            self.standings.append(row.standing)

    def add_report(self, seen: _Seen, report: Report) -> None:
        room, person, states = self.room, seen.person, seen.states
        room.courses[f"{report.course.id} {report.course.version} ({report.course.hash})"] = None
        room.max_score = max(room.max_score, report.max_score)
        room.unconfined += bool(report.sandbox.missing)
        room.passed_over += passed_over_files(report, all_of_them=True)
        # Files that were not graded for their names are flagged, too; the problems have them.
        ignored = [one for one in report.lessons if one.status is LessonStatus.MISSING and one.file]
        known = tuple(f"{one.id}: " for one in ignored)
        if flags := [flag for flag in report.flags if not flag.startswith(known)]:
            room.flags += [ClassNote(person, "", flag) for flag in flags]
            states.add(State.FLAG)
        for result in report.lessons:
            lesson = self.lesson(result.id, result.title, result.max_score)
            foreign = result.defines_instead is not None
            lesson.statuses[LessonStatus.NOT_STARTED if foreign else result.status] += 1
            if foreign:
                self.foreign.append((person, result))
                states.add(State.FOREIGN)
            if result.status is LessonStatus.INVALID:
                reason, file = load_error(result), result.file or result.title
                where = "" if reason.startswith(file) else file
                room.problems.append(ClassNote(person, where, reason))
                states.add(State.INVALID)
            for check in result.checks:
                self.lesson_of[check.function.split(".")[0]] = result.title
                if check.outcome is Outcome.GRADER_ERROR:
                    where = f"{result.title}: {check.title}"
                    note = ClassNote(person, where, check.message or "", check.note or "")
                    room.faults.append(note)
                    states.add(State.FAULT)
            if result.status in BEGAN and not foreign:
                lesson.scores.append(result.score)
                lesson.seconds.append(result.seconds)
                self.add_checks(seen, report, result)
        self.pairs.update(itertools.combinations(sorted(seen.mistakes), 2))

    def add_checks(self, seen: _Seen, report: Report, result: LessonResult) -> None:
        lesson, waiting = self.lessons[result.id], waiting_points(result)
        limits: dict[str, list[str]] = {}
        made: dict[str, tuple[MistakeCount, set[int]]] = {}
        judged = []
        for check in result.checks:
            rest = report.score if check.bonus else report.score - check.points
            column = CheckColumn(check.id, check.title, check.max_points, check.bonus, check.hidden)
            facts = self.check(lesson, column)
            facts.add(seen.person, check, rest)
            if check.outcome.group == "wrong":
                seen.wrong.append(facts.number)
            if check.outcome in LIMITS:
                limits.setdefault(check.message or LIMITS[check.outcome], []).append(check.title)
            if check.bonus:  # who misses it makes no mistake
                continue
            if check.needs in lesson.by_id:
                lesson.patterns.waits(facts.number, lesson.by_id[check.needs].number)
            if check.outcome.group in ("right", "wrong"):
                right = check.outcome is Outcome.PASSED
                judged.append((facts.number, check.function, right))
            if check.outcome.group == "wrong":
                facts.loss.add(check, waiting.get(check.id, 0.0))
                if not check.diagnosis:
                    facts.unnamed_loss.add(check, waiting.get(check.id, 0.0))
            if check.signature:
                self.in_group(seen.person, lesson.id, check, check.signature)
            if check.diagnosis:
                mistake = self.made(seen.person, lesson.id, check, check.diagnosis)
                mistake.loss.add(check, waiting.get(check.id, 0.0))
                made.setdefault(mistake.id, (mistake, set()))[1].add(facts.number)
        lesson.patterns.add(judged)
        for mistake, checks in made.values():
            seen.mistakes.add(mistake.number)
            mistake.seen_in[frozenset(checks)] += 1
        self.note_limits(seen, result.title, limits)

    def note_limits(self, seen: _Seen, lesson: str, limits: dict[str, list[str]]) -> None:
        for message, titles in limits.items():
            more = f" and {len(titles) - 1} more" if len(titles) > 1 else ""
            note = ClassNote(seen.person, f"{lesson}: {titles[0]}{more}", message)
            self.room.limits.append(note)
            seen.states.add(State.LIMIT)

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
    ) -> MistakeCount:
        """Count a mistake, once for each person."""
        key = (lesson_id, diagnosis)
        if key not in self.mistakes:
            title = check.diagnosis_title or diagnosis
            self.mistakes[key] = MistakeCount(
                len(self.mistakes), diagnosis, lesson_id, title, check.title, check.evidence or ""
            )
        self.mistakes[key].people.add(person)
        return self.mistakes[key]

    def lesson_points(self, entry: GradebookEntry) -> tuple[float | None, ...]:
        """Return each lesson's points with adjustments; None if not handed in."""
        there = {one.id for one in entry.lessons if one.status is not LessonStatus.MISSING}
        there |= {one.lesson for one in entry.adjustments if one.lesson is not None}
        return tuple(entry.lesson_score(one) if one in there else None for one in self.lessons)

    def foreign_note(self, person: StudentSummary, result: LessonResult) -> ClassNote:
        names = result.defines_instead or ()
        lessons = dict.fromkeys(self.lesson_of[name] for name in names if name in self.lesson_of)
        instead = [f"“{title}”" for title in lessons]
        text = f"defines none of the functions of “{result.title}”, but "
        text += (
            f"those of {name_list(instead)}" if instead else name_list(names, NAMED) or "nothing"
        )
        return ClassNote(person, result.file or result.title, text)

    def finish(self) -> Classroom:
        room, mistakes = self.room, list(self.mistakes.values())
        room.lessons = list(self.lessons.values())
        room.foreign = [self.foreign_note(*one) for one in self.foreign]
        for lesson in room.lessons:
            for check in lesson.checks:
                if not check.column.bonus:
                    seen = lesson.patterns.right_looking(check.number, check.function)
                    check.right_looking = seen
        room.mistakes = sorted(mistakes, key=lambda one: (-one.people.count, one.number))
        room.groups = sorted(
            self.groups.values(), key=lambda one: (-one.people.count, one.signature)
        )
        for mistake in room.mistakes:
            self.lessons[mistake.lesson].mistakes.append(mistake)
        together = [
            Together(mistakes[one], mistakes[other], both)
            for (one, other), both in self.pairs.items()
            if both >= FEWEST_TOGETHER
        ]
        room.together = sorted(together, key=lambda pair: pair.rank)
        room.max_score = sum(lesson.max_score for lesson in room.lessons) or room.max_score
        room.behind_below = statistics.median(self.standings) / 2 if self.standings else 0.0
        room.sections = dict(sorted(room.sections.items()))
        room.bins = histogram(room.scores, room.max_score)
        return room


BINS = 10
"""How many columns a histogram has."""


def histogram(scores: Iterable[float], most: float) -> tuple[Bin, ...]:
    """Count scores in equal columns from 0 to ``most``; outliers in the end columns."""
    counts = [0] * BINS
    for score in scores:
        place = int(BINS * score / most) if most > 0 else 0
        counts[max(0, min(BINS - 1, place))] += 1
    return tuple(
        Bin(most * n / BINS, most * (n + 1) / BINS, count) for n, count in enumerate(counts)
    )
