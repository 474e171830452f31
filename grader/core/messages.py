"""The messages between the engine's processes, one record type each.

::

    supervisor   ── Envelope, LessonSpec, Task ──▶  fork server, lesson server, judge
    judge        ── JudgeResult, Refused, Fault ─▶  supervisor
    judge        ── BrokerRequest ───────────────▶  fork server   ── WorkerEnd ──▶  judge
    fork server  ── WorkerOptions ───────────────▶  worker        ── WorkerHello ─▶ judge
    grade replay ── DebugRequest ────────────────▶  debugger
    grade graph  ── TraceRequest ────────────────▶  a process that calls the user's function
                 ◀─ Traced, TraceProblem ────────

A judge's requests to a worker, and the answers, have types of their own: ``worker.wire.messages``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from grader.core.i18n import ENGLISH
from grader.core.limits import Limits
from grader.core.report import CheckResult, Record, WrongExpression, read


@dataclass(frozen=True, slots=True)
class WorkerOptions(Record):
    """How workers are confined.

    ``without`` leaves out layers of the sandbox. With ``prestart``, the next submission's worker is
    started as soon as this submission is done.
    """

    limits: Limits = field(default_factory=Limits)
    sandbox: str = "auto"
    without: tuple[str, ...] = ()
    prestart: bool = False


@dataclass(frozen=True, slots=True)
class Settings(Record):
    """How to grade: seed, sandbox mode, limits, language.

    ``seeds`` are the seeds of single checks, by id; the others are derived from ``seed``.
    ``without`` and ``prestart``: as in ``WorkerOptions``. ``recorded`` is the id of the check to
    write as a script. ``naming_off`` switches off ways to name a mistake; benchmarks use it. With
    ``repair``, a batch searches for the wrong expression behind unexplained failures. With
    ``signed``, failures without a name get a signature, by which they are grouped. ``planned``:
    many submissions are graded from this seed, so it is worth asking the solution first.
    """

    seed: int
    sandbox: str = "auto"
    limits: Limits = field(default_factory=Limits)
    without: tuple[str, ...] = ()
    lang: str = ENGLISH
    seeds: dict[str, int] = field(default_factory=dict)
    recorded: str | None = None
    prestart: bool = False
    repair: bool = False
    signed: bool = False
    naming_off: tuple[str, ...] = ()
    planned: bool = False

    @property
    def of_workers(self) -> WorkerOptions:
        """What the fork server may know of them: no seed and no check."""
        return WorkerOptions(self.limits, self.sandbox, self.without, self.prestart)


@dataclass(frozen=True, slots=True)
class WorkerHello(Record):
    """A worker's first message: the sandbox's mode, which guarantees hold, the limits in force."""

    mode: str
    guarantees: tuple[str, ...]
    missing: tuple[str, ...]
    limits: Limits


@dataclass(frozen=True, slots=True)
class LessonSpec(Record):
    """The lesson to judge by: the course's folder, the lesson's id, the language of its texts.

    Who judges reads the lesson's files from there.
    """

    course: str
    lesson: str
    lang: str


@dataclass(frozen=True, slots=True)
class FileProblem(Record):
    """Why a file can't be judged, and on which line."""

    message: str
    line: int | None


@dataclass(frozen=True, slots=True)
class Task(Record):
    """Everything about one submission that judging needs, beside the lesson.

    ``cells`` are a notebook's cells: number and first line. ``problem`` was found before judging.
    ``unlocated`` has, by function, the ids of failed checks for which no wrong expression is known.
    If it is set, the checks have been judged already, and the judge only searches for repairs. A
    repair may not break any check in ``passed``. The result repeats the ``nonce``, which no worker
    can know.
    """

    source: str
    filename: str
    settings: Settings
    cells: tuple[tuple[int, int], ...] = ()
    problem: FileProblem | None = None
    unlocated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    passed: tuple[str, ...] = ()
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class Repair(Record):
    """The result of the search in one function.

    ``wrong`` is the expression to change, None if there is no repair or no single place. ``new`` is
    what to write instead: it becomes the last hint and is not part of a report. ``tried`` counts
    candidates.
    """

    function: str
    wrong: WrongExpression | None
    new: str | None
    tried: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Envelope(Record):
    """What the fork server itself reads of a job.

    ``lesson`` is the key under which it has a lesson server. If the lesson is ``new`` to it, the
    spec follows. ``finished`` are the keys of lessons whose servers shall end.
    """

    options: WorkerOptions
    lesson: str
    new: bool
    finished: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JudgeResult(Record):
    """The outcomes of a submission's checks.

    ``invalid`` says why the file could not be loaded. ``guarantees`` and ``missing`` are the
    sandbox's. ``flags`` are for a person to look at. ``untranslated`` are texts that the lesson's
    catalogue lacks. ``script`` has the recorded check's lines, or says why there are none.
    ``catalogue`` names the lesson's mistakes and what each is about. ``unnamed`` says, by function,
    why failures have no name by example. ``repairs`` are there if they were requested. ``nonce`` is
    the task's. ``defines_instead`` is a ``LessonResult``'s.
    """

    checks: tuple[CheckResult, ...]
    invalid: FileProblem | None = None
    guarantees: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    limits: Limits | None = None
    flags: tuple[str, ...] = ()
    untranslated: tuple[str, ...] = ()
    script: tuple[str, ...] | str | None = None
    catalogue: dict[str, tuple[str, ...]] = field(default_factory=dict)
    unnamed: dict[str, str] = field(default_factory=dict)
    repairs: tuple[Repair, ...] = ()
    nonce: str = ""
    defines_instead: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Refused(Record):
    """Sent instead of a result: this host lacks a required guarantee (``SandboxRefused``)."""

    template: str
    facts: dict[str, str]


@dataclass(frozen=True, slots=True)
class BrokenCourse(Record):
    """Sent instead of a result: a file of the course can't be used (``CourseError``)."""

    template: str
    facts: dict[str, str]


@dataclass(frozen=True, slots=True)
class Fault(Record):
    """Sent instead of a result: the traceback of a grader fault."""

    text: str


Answer = JudgeResult | Refused | BrokenCourse | Fault
ANSWERS: dict[str, type[Answer]] = {
    "judged": JudgeResult,
    "refused": Refused,
    "broken": BrokenCourse,
    "fault": Fault,
}


def answer_as_json(answer: Answer) -> dict[str, object]:
    """Return an answer as JSON data under the name of its kind."""
    name = next(name for name, kind in ANSWERS.items() if isinstance(answer, kind))
    return {name: answer.as_json()}


def answer_from_json(data: object) -> Answer:
    """Return the answer; raise ValueError if ``data`` is not one."""
    if not isinstance(data, dict) or len(data) != 1 or next(iter(data)) not in ANSWERS:
        raise ValueError(f"{data!r:.80} is not a judge's answer")
    ((name, fields),) = data.items()
    return read(ANSWERS[name], fields)


@dataclass(frozen=True, slots=True)
class BrokerRequest(Record):
    """A judge's request to the fork server: ``start`` a worker, ``end`` one, or expect no more
    requests (``done``). ``died`` says that the worker ended by itself; the fork server answers with
    a WorkerEnd. ``lazy_imports`` says that the worker needs what torch imports late.
    """

    do: str
    pid: int = 0
    died: bool = False
    lazy_imports: bool = False


@dataclass(frozen=True, slots=True)
class WorkerEnd(Record):
    """How a worker ended: ``os.waitpid``'s status, and the limit that it exceeded, if any."""

    status: int | None
    overuse: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class DebugRequest(Record):
    """What the child process of ``grade replay --pdb`` has to do: run ``check`` on the submission
    in ``file``, and ``stop`` at the function's first line or only where it raises.
    """

    file: str
    check: str
    stop: bool
    spec: LessonSpec
    task: Task


@dataclass(frozen=True, slots=True)
class TraceRequest(Record):
    """What the child process of ``grade graph`` has to do: call a function of ``file`` with these
    inputs (none: an example) and trace the graph behind the result, after ``backward`` if that is
    set.
    """

    file: str
    function: str
    inputs: tuple[Any, ...] = ()
    backward: bool = False


@dataclass(frozen=True, slots=True)
class Traced(Record):
    """The graph, as ``wire.trace`` gives it, and how the function was called."""

    picture: dict[str, Any]
    called: str


@dataclass(frozen=True, slots=True)
class TraceProblem(Record):
    """Sent instead of a graph: why there is none, as a template and its facts."""

    template: str
    facts: dict[str, str]


def read_traced(data: object) -> Traced | TraceProblem:
    """Return the child's answer; raise ValueError if ``data`` is not one."""
    kind: type[Traced | TraceProblem] = Traced
    if isinstance(data, dict) and "template" in data:
        kind = TraceProblem
    return read(kind, data)
