"""The result of a grading: outcomes, results of checks and lessons, the report.

Frozen records inside, JSON only at the borders (``Record.as_json``, ``from_json``), where it is
checked. The keys are those of ``report.schema.json``, which lies beside this module.
"""

from __future__ import annotations

import enum
import threading
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

import msgspec

T = TypeVar("T")

_described: set[object] = set()
_describing = threading.Lock()


class Record:
    """Base of frozen dataclasses that processes exchange as JSON, typed by their annotations."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the record; raise ValueError, which names the field, if ``data`` is not one."""
        return read(cls, data)


def read(cls: type[T], data: object) -> T:
    """Return JSON data as this dataclass; raise ValueError if it does not fit."""
    describe(cls)
    try:
        return msgspec.convert(data, cls)
    except msgspec.ValidationError as error:
        raise ValueError(f"{cls.__name__}: {error}") from None


def describe(cls: object) -> None:
    """Have msgspec describe a type, and the types inside it, before it reads data as one.

    It stores the description on the class when the class is first used, and another thread that
    reads a half-made description crashes the process. So only one thread at a time may make one.
    """
    if cls not in _described:
        with _describing:
            msgspec.json.Decoder(cls)
            _described.add(cls)


SCHEMA_VERSION = 1


class Shown(enum.StrEnum):
    """A value that people see as a ``mark``, a ``word`` and a ``color``.

    ``group``, the class in style sheets, joins values that look alike.
    """

    group: str
    mark: str
    word: str
    color: str

    def __new__(
        cls, value: str, group: str = "", mark: str = "", word: str = "", color: str = ""
    ) -> Self:
        self = str.__new__(cls, value)
        self._value_ = value
        self.group, self.mark, self.word, self.color = group, mark, word, color
        return self


class Outcome(Shown):
    """The outcome of one check."""

    PASSED = "passed", "right", "✔", "right", "green"
    FAILED = "failed", "wrong", "✘", "wrong", "red"
    ERROR = "error", "wrong", "✘", "raised", "red"
    """The student's code raised."""
    TIMEOUT = "timeout", "wrong", "◷", "out of time", "red"
    CRASHED = "crashed", "wrong", "✘", "crashed", "red"
    """The worker died, or sent a malformed answer."""
    SKIPPED = "skipped", "waiting", "·", "waiting", "yellow"
    """A check that it depends on did not pass."""
    NOT_STARTED = "not_started", "untouched", "○", "not started", "dim"
    GRADER_ERROR = "grader_error", "fault", "!", "the grader's own fault", "magenta"
    """A grader fault."""

    @property
    def quiet(self) -> bool:
        """Whether it needs no explanation."""
        return self.group in ("right", "waiting", "untouched")


class LessonStatus(Shown):
    """The status of one lesson."""

    PASSED = "passed", "right", "✔", "complete"
    FAILED = "failed", "waiting", "◐", "in progress"
    NOT_STARTED = "not_started", "untouched", "○", "not started"
    MISSING = "missing", "untouched", "–", "missing"
    """The submission has no such file."""
    INVALID = "invalid", "wrong", "✘", "could not be loaded"
    """The file could not be loaded: not Python, or it raised while it was imported."""


@dataclass(frozen=True, slots=True)
class WrongExpression(Record):
    """The expression of a file that has to change. Lines and columns count from 1; ``end_column``
    is the first after it. In a notebook, lines count in ``cell``. ``source_text`` is the whole
    first line.

    ``other_lines`` have to change with it. With ``missing``, this statement is right and something
    is missing next to it.
    """

    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    source_text: str
    cell: int | None = None
    missing: bool = False
    other_lines: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class CheckResult(Record):
    """One check's outcome; ``expected``, ``actual``, ``inputs`` as ``describe`` makes them."""

    id: str
    title: str
    function: str
    outcome: Outcome
    points: int | float
    max_points: int | float
    bonus: bool = False
    hidden: bool = False
    message: str | None = None
    diagnosis: str | None = None
    diagnosis_title: str | None = None
    evidence: str | None = None
    hint: str | None = None
    expected: Any = None
    actual: Any = None
    inputs: dict[str, Any] = field(default_factory=dict)
    source_line: int | None = None
    source_text: str | None = None
    output: str = ""
    seed: int = 0
    seconds: float = 0.0
    note: str | None = None
    """For the grader's author: the traceback of a grader fault, or of a rule that raised. A fault
    of the host has none.
    """
    figures: list[dict[str, Any]] = field(default_factory=list)
    """Figures of the failure as plain data, made by ``figures``."""
    cell: int | None = None
    """The notebook's cell in which ``source_line`` is a line."""
    source_column: int | None = None
    """Where in ``source_text`` a syntax error is, from 1."""
    call: str | None = None
    """The call that failed, as Python to paste."""
    diagnosed_by: str | None = None
    """Where the mistake's name comes from: ``rule``, ``engine`` or ``example``. It is ``repair`` if
    there is only a ``wrong_expression``, None if there is neither.
    """
    wrong_expression: WrongExpression | None = None
    """What to change, with its ``other_lines``, so that every check of ``function`` passes."""
    signature: str | None = None
    """In a batch, for a failure without a name: equal for answers that fail alike."""
    needs: str | None = None
    """The id of the check for which a ``skipped`` one waits, which may itself wait for another."""
    open_message: str | None = None
    """Of a hidden check: what may be said where its inputs are not shown."""
    open_evidence: str | None = None
    """Of a hidden check: ``evidence``, if it shows no value."""
    asked: str | None = None
    """Of a failed check: the sentences of the stub or the README that it holds."""

    @property
    def own_fault(self) -> bool:
        """Whether the grader itself failed, rather than its host, whose message has a remedy."""
        return self.outcome is Outcome.GRADER_ERROR and self.note is not None


@dataclass(frozen=True, slots=True)
class LessonResult(Record):
    """One lesson's outcome. ``message`` says why a lesson is ``invalid`` or ``missing``."""

    id: str
    title: str
    status: LessonStatus
    score: int | float
    max_score: int | float
    bonus: int | float = 0.0
    max_bonus: int | float = 0.0
    file: str | None = None
    message: str | None = None
    seconds: float = 0.0
    checks: tuple[CheckResult, ...] = ()
    held_checks: int = 0
    """How many checks a students' bundle holds back; a lesson with any is never ``passed``."""
    held_points: int | float = 0.0
    """The points of those checks; they are part of ``max_score``."""
    notes: tuple[str, ...] = ()
    """Sentences: which other files were not graded, what was left out of a notebook."""
    passed_over: tuple[str, ...] = ()
    """Paths of other files that may be this lesson, and were not graded."""
    beside: tuple[str, ...] = ()
    """Paths of files that may be any lesson, listed once in a report, and were not graded."""
    defines_instead: tuple[str, ...] | None = None
    """Of a file that defines none of the lesson's functions: the public names that it defines."""

    @property
    def failures(self) -> list[CheckResult]:
        """The checks that need an explanation."""
        return [check for check in self.checks if not check.outcome.quiet]

    @property
    def is_left_out(self) -> bool:
        """Whether there is a file that was not graded because of its name."""
        return self.status is LessonStatus.MISSING and self.file is not None

    @property
    def unjudged(self) -> str | None:
        """Why the grader could not judge the lesson at all; None if it did."""
        faults = [check for check in self.checks if check.id == f"{self.id}.grader"]
        return faults[0].message if faults else None


def left_out(
    lessons: Iterable[LessonResult], given: Collection[str | None]
) -> Iterator[LessonResult]:
    """Yield lessons that are left out, so that there is no mark, and for which nobody has ``given``
    points.
    """
    return (one for one in lessons if one.is_left_out and one.id not in given)


@dataclass(frozen=True, slots=True)
class CourseIdentity:
    """Which course graded: id, version and a hash over all of its files."""

    id: str
    version: str
    hash: str


@dataclass(frozen=True, slots=True)
class SandboxReport:
    """Under which guarantees the student's code ran. ``lowered`` has the limits that the host sets
    lower than the course, by their names in ``course.toml``.
    """

    mode: str
    guarantees: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    lowered: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report(Record):
    """The outcome of one submission."""

    schema_version: int = field(default=SCHEMA_VERSION, kw_only=True)
    submission: str
    score: int | float
    max_score: int | float
    bonus: int | float
    seed: int
    course: CourseIdentity
    grader_version: str
    sandbox: SandboxReport
    engine_hash: str = ""
    """A hash of the code that graded (``core.files.engine_hash``); empty in older reports."""
    torch_version: str = ""
    lang: str = "en"
    flags: tuple[str, ...] = ()
    lessons: tuple[LessonResult, ...] = ()
    seconds: float = 0.0

    @property
    def full_marks(self) -> bool:
        return self.score >= self.max_score

    @property
    def held_checks(self) -> int:
        return sum(lesson.held_checks for lesson in self.lessons)

    @property
    def held_points(self) -> float:
        return add_up(lesson.held_points for lesson in self.lessons)

    @property
    def right_so_far(self) -> bool:
        """Whether every point was earned, except those of checks that are held back."""
        return self.score + self.held_points >= self.max_score

    @property
    def grader_faults(self) -> tuple[CheckResult, ...]:
        return tuple(
            c for lesson in self.lessons for c in lesson.checks if c.outcome is Outcome.GRADER_ERROR
        )

    @property
    def own_fault(self) -> bool:
        """Whether any check failed by a fault of the grader itself."""
        return any(check.own_fault for check in self.grader_faults)


def add_up(points: Iterable[float]) -> float:
    """Return a sum of points, rounded to remove binary fraction errors."""
    return round(sum(points), 4)
