"""The gradebook's records: entries, columns, changes by people, and the rule for lateness.

Exports, pages and tables use only ``GradebookEntry`` records; what students read is made from a
``PublicEntry``. A penalty for lateness is a share of the points that the code earned. Points that
a person gave or took are not reduced.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields, replace
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import name_list
from grader.classroom.public_report import PublicReport, withheld
from grader.core.errors import UsageError
from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, Record, Report, left_out
from grader.core.text import moment, moment_in


@dataclass(frozen=True, slots=True)
class GradebookEntry:
    """One entry of the gradebook.

    ``report`` is None if the submission could not be read (``problem`` says why; ``fault`` marks a
    grader fault), or if a student on the roster handed nothing in (``missing``), or something that
    may be another submission or is in no download (``elsewhere``). ``handed_in`` is the time in
    UTC, if known; ``lateness`` is the delay by the class's rule; ``came_as`` is the name of its
    folder or file in the download, ``handed_in_as`` the one under which its students handed in,
    which is another after an exchange; ``history`` has what each attempt earned.
    ``attempt`` says how many gradings there were up to this report; of ``attempts``, number
    ``counts`` counts (0: none). ``wrong_file`` says what is wrong with the files of the newest
    attempt, if an earlier one counts because it is better.
    """

    name: str
    students: tuple[StudentIdentity, ...]
    report: Report | None = None
    problem: str | None = None
    fault: bool = False
    missing: bool = False
    elsewhere: bool = False
    late: bool = False
    attempt: int = 1
    adjustments: tuple[Adjustment, ...] = ()
    comments: tuple[Comment, ...] = ()
    handed_in: str | None = None
    lateness: Lateness | None = None
    came_as: str = ""
    handed_in_as: str = ""
    history: tuple[float, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    counts: int = 0
    mended: tuple[MendedChecks, ...] = ()
    wrong_file: str = ""

    @property
    def label(self) -> str:
        return students_label(self.students, self.name)

    @property
    def is_test(self) -> bool:
        """Whether it is of no student, but of a system's test account."""
        roles = {one.details.get("role") for one in self.students}
        return roles == {"test"}

    @property
    def ids(self) -> str:
        """Its students' ids, for a table."""
        known = (item for student in self.students for item in student.ids.items())
        return "; ".join(f"{kind}={value}" for kind, value in known)

    @property
    def sections(self) -> tuple[str, ...]:
        """The sections of its students, as the roster has them."""
        return tuple(dict.fromkeys(one for who in self.students for one in who.sections))

    def students_in(self, section: str) -> tuple[StudentIdentity, ...]:
        return tuple(one for one in self.students if section in one.sections)

    @property
    def adjusted_by(self) -> float:
        return round(sum(one.points for one in self.adjustments), 4)

    @property
    def earned(self) -> float:
        """The points that the code earned, before penalty and adjustments."""
        return self.report.score if self.report else 0.0

    @property
    def penalty(self) -> float:
        """The points that lateness takes off what was earned."""
        return self._lost(self.earned)

    @property
    def score(self) -> float:
        """The points that count: without bonus, and never below zero."""
        return max(0.0, round(self.earned - self.penalty + self.adjusted_by, 4))

    def _lost(self, earned: float) -> float:
        return round(earned * self.lateness.percent / 100, 4) if self.lateness else 0.0

    @property
    def personal_part(self) -> PersonalPart:
        return PersonalPart(self.label, self.adjustments, self.comments, self.lateness, self.mended)

    @property
    def lessons(self) -> tuple[LessonResult, ...]:
        return self.report.lessons if self.report else ()

    @property
    def grader_faults(self) -> tuple[CheckResult, ...]:
        return self.report.grader_faults if self.report else ()

    def lesson(self, lesson_id: str) -> LessonResult | None:
        return next((one for one in self.lessons if one.id == lesson_id), None)

    def lesson_score(self, lesson_id: str) -> float:
        result = self.lesson(lesson_id)
        changed = sum(one.points for one in self.adjustments if one.lesson == lesson_id)
        earned = result.score if result else 0.0
        return max(0.0, round(earned - self._lost(earned) + changed, 4))

    def public(self, tr: Catalogue | None = None) -> PublicEntry:
        """Return the entry as its students may see it; ``tr`` translates what is said instead."""
        parts = {one.name: getattr(self, one.name) for one in fields(self)}
        return PublicEntry(**parts | {"report": self.report and withheld(self.report, tr)})


@dataclass(frozen=True, slots=True)
class PublicEntry(GradebookEntry):
    """An entry as its students may see it."""

    report: PublicReport | None = None


@dataclass(frozen=True, slots=True)
class Adjustment:
    """A person's change of a lesson's score, or of the total (None); ``made_at`` is in UTC."""

    points: float
    reason: str
    author: str
    made_at: str
    lesson: str | None = None
    number: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """A version of a submission's files that was handed in.

    ``handed_in`` is the time in UTC, if a download or roster says it; ``found`` is the time of its
    download: that of the newest file in it. ``score`` is what it earned; None if it has no valid
    verdict.
    """

    number: int
    id: int
    handed_in: str | None
    found: str
    came_as: str = ""
    late: bool = False
    score: float | None = None
    problem: str | None = None


POLICIES = ("last", "best", "first")


def counting(
    attempts: Sequence[Attempt], policy: str, percent_of: Callable[[Attempt], float]
) -> Attempt | None:
    """Return the attempt that counts by one of POLICIES; ``percent_of`` says what lateness costs.

    The last attempt counts even if it can't be read; the best and the first are among those with a
    verdict, if there are any.
    """
    if not attempts:
        return None
    if policy == "last":
        return attempts[-1]
    graded = [one for one in attempts if one.score is not None] or attempts
    if policy == "first":
        return graded[0]
    return max(graded, key=lambda one: (one.score or 0.0) * (1 - percent_of(one) / 100))


@dataclass(frozen=True, slots=True)
class Comment:
    """A remark on a submission, on a lesson, or on a line of its file, which was then ``code``."""

    number: int
    text: str
    author: str
    made_at: str
    lesson: str | None = None
    line: int | None = None
    code: str = ""


@dataclass(frozen=True, slots=True)
class PersonalPart(Record):
    """What a student's page shows beside the report: whose it is, and what people added."""

    called: str = ""
    adjustments: tuple[Adjustment, ...] = ()
    comments: tuple[Comment, ...] = ()
    lateness: Lateness | None = None
    mended: tuple[MendedChecks, ...] = ()


@dataclass(frozen=True, slots=True)
class MendedChecks(Record):
    """Checks, by title, that were wrong and were graded again, and what that did to a mark."""

    made_at: str
    checks: tuple[str, ...]
    old: float | None
    new: float | None


@dataclass(frozen=True, slots=True)
class LessonColumn:
    """A lesson's columns: its points, and a column for each check."""

    id: str
    title: str
    max_score: float
    max_bonus: float
    checks: tuple[CheckColumn, ...]


@dataclass(frozen=True, slots=True)
class CheckColumn:
    """A check's column: what it is worth, and whether it is a bonus or hidden."""

    id: str
    title: str
    max_points: float
    bonus: bool
    hidden: bool


def total_points(entry: GradebookEntry) -> float | None:
    """Return the points that count; None without a report, or after a grader fault."""
    if entry.grader_faults or any(not_graded(entry)):
        return None
    return entry.score if entry.report or entry.adjustments else None


def not_graded(entry: GradebookEntry) -> Iterator[LessonResult]:
    """Return lessons whose file does not have the lesson's name, unless a person gave points."""
    return left_out(entry.lessons, {adjustment.lesson for adjustment in entry.adjustments})


def students_label(students: Sequence[StudentIdentity], name: str) -> str:
    """Return the names of a submission's students; its own name if no student is known."""
    return name_list(student.name for student in students) or name


def time_on_roster(students: Sequence[StudentIdentity]) -> str | None:
    """Return when a submission of these students was handed in, if the roster says so."""
    times = [one.details["handed_in"] for one in students if "handed_in" in one.details]
    return max(times, default=None)


def students_as_json(students: Sequence[StudentIdentity]) -> str:
    """Return ``[[name, ids, details, number of the person or null], ...]``, each with the number
    before, if there is one.
    """
    rows = [astuple(one)[: 4 if one.first is None else 5] for one in students]
    return json.dumps(rows, sort_keys=True)


def students_from_json(text: str) -> tuple[StudentIdentity, ...]:
    return tuple(StudentIdentity(*one) for one in json.loads(text))


DAY = 86_400.0
UNITS = {"m": 60.0, "h": 3_600.0, "d": DAY}
DURATION = re.compile(r"(\d+(?:\.\d+)?)(m|h|d)")
PERCENT = re.compile(r"(\d+(?:\.\d+)?)\s*%(?:/day)?")
EXAMPLE = "10%/day,grace=15m,cap=50%,until=7d"


@dataclass(frozen=True, slots=True)
class LateRule(Record):
    """When work is due and what lateness costs.

    ``due`` is ISO 8601 with an offset. A delay of more than ``grace`` seconds costs
    ``percent`` for each started day since ``due``, at most ``cap`` per cent in all. A delay of more
    than ``until`` seconds costs everything (None: no such limit).
    """

    due: str
    percent: float = 0.0
    grace: float = 0.0
    cap: float = 100.0
    until: float | None = None

    def lateness(self, handed_in: str | None, extensions: Iterable[str] = ()) -> Lateness | None:
        """Return how late a time is; None if it is on time or unknown.

        Of the students' ``extensions``, the latest holds for all of them.
        """
        if handed_in is None:
            return None
        due = max([moment(self.due), *(extended(one, self.due) for one in extensions)])
        late = (moment(handed_in) - due).total_seconds()
        if late <= 0:
            return None
        return Lateness(due.isoformat(), late, self.percent_off(late))

    def percent_off(self, late: float) -> float:
        """Return the percentage that is deducted for a delay in seconds."""
        if late <= self.grace:
            return 0.0
        if self.until is not None and late > self.until:
            return 100.0
        return min(self.cap, 100.0, self.percent * math.ceil(late / DAY))


@dataclass(frozen=True, slots=True)
class Lateness(Record):
    """A submission came ``seconds`` after ``due`` and loses ``percent`` of what it earned.

    ``due`` is ISO 8601 with the offset in which people read it.
    """

    due: str
    seconds: float
    percent: float

    @property
    def due_text(self) -> str:
        """When it was due, as in ``2026-12-01 23:59 UTC+09:00``."""
        return clock_text(moment(self.due))

    @property
    def handed_in_text(self) -> str:
        """When it was handed in, in the same form."""
        return clock_text(moment(self.due) + timedelta(seconds=self.seconds))

    @property
    def duration(self) -> str:
        """How late: the two largest nonzero units, down to minutes, as in ``2 d 3 h``."""
        days, rest = divmod(int(self.seconds), int(DAY))
        hours, rest = divmod(rest, 3_600)
        parts = [(days, "d"), (hours, "h"), (rest // 60, "min")]
        shown = [f"{number} {unit}" for number, unit in parts if number][:2]
        return " ".join(shown) or "under a minute"

    def __str__(self) -> str:
        return f"{self.duration} late, {self.percent:g} % off"


def clock_text(at: datetime) -> str:
    """Return a time with its offset, as in ``2026-12-01 23:59 UTC+09:00``."""
    return f"{at:%Y-%m-%d %H:%M} UTC{at.isoformat()[-6:]}"


def read_extension(text: str) -> str:
    """Return an extension, a time or a delay such as ``+2d``; raise ValueError for neither."""
    text = text.strip()
    extended(text, "2000-01-01T00:00Z")
    return text


def extended(text: str, due: str) -> datetime:
    """Return an extension as a time; a delay such as ``+2d`` is added to the class's due date."""
    shift = DURATION.fullmatch(text.removeprefix("+"))
    return moment(due) + timedelta(seconds=seconds_of(shift)) if shift else moment(text)


def seconds_of(found: re.Match[str]) -> float:
    return float(found[1]) * UNITS[found[2]]


def read_rule(due: str, rule: str | None, zone: ZoneInfo | None = None) -> LateRule:
    """Return a rule from ``--due`` and ``--late``; raise UsageError that shows how to write it.

    A time without an offset from UTC is in ``zone``.
    """
    try:
        made = LateRule(moment_in(due, zone).isoformat())
    except ValueError as error:
        raise UsageError(f"--due: {due!r} {error}") from None
    for part in (rule or "").split(","):
        key, _, value = part.strip().rpartition("=")
        percent, time = PERCENT.fullmatch(value), DURATION.fullmatch(value)
        if not part.strip():
            continue
        if key == "" and percent:
            made = replace(made, percent=float(percent[1]))
        elif key == "cap" and percent:
            made = replace(made, cap=float(percent[1]))
        elif key == "grace" and time:
            made = replace(made, grace=seconds_of(time))
        elif key == "until" and time:
            made = replace(made, until=seconds_of(time))
        else:
            raise UsageError(f"--late: {part.strip()!r} is not understood. Write it like {EXAMPLE}")
    return made
