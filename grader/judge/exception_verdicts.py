"""Turn an exception that ended a check into a verdict: an outcome, a message, and what is known.

Also limit the judge's own memory. A worker's messages are capped, but what a check computes from
them may be far larger, such as an outer product. Beyond the limit an allocation fails in the judge.
That ends the check, and a new judge takes over after the submission.
"""

from __future__ import annotations

import ast
import shutil
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from torch.autograd.gradcheck import GradcheckError

from grader.core.errors import (
    CheckFailure,
    EngineFault,
    Facts,
    HostFault,
    MissingName,
    StudentCodeError,
    WorkerLost,
)
from grader.core.limits import MIB, Limits
from grader.core.report import Outcome
from grader.course.source import Source
from grader.judge.figures import FigureMaker
from grader.judge.remote.session import NotStarted
from grader.worker.sandbox import address_space_bytes, set_limit
from grader.worker.wire.compat import CANNOT_ALLOCATE

WROTE = "your code wrote into a tensor that it was given: work on a copy, or out of place"


class DependencyFailed(Exception):
    """A check is skipped because one that it needs did not pass."""


@dataclass(frozen=True, slots=True)
class CheckVerdict:
    """The outcome of a check and why: a template, its facts, and what the student's code raised."""

    outcome: Outcome
    message: str = ""
    facts: Facts = field(default_factory=dict)
    expected: Any = None
    actual: Any = None
    inputs: Facts = field(default_factory=dict)
    error: StudentCodeError | None = None
    line: int | None = None
    at: str | None = None
    note: str | None = None
    figures: tuple[FigureMaker, ...] = ()
    checker: tuple[Any, ...] | None = None
    needs: str | None = None


MEMORY_HIT = "the limit of {limit} MB of memory was hit: {raised}"
FILE_HIT = "the limit of {limit} MB for one file was hit: {raised}"
OPEN_FILES_HIT = "the limit of {limit} open files was hit: {raised}"
LIMITS_HIT: tuple[tuple[str, str, str, Callable[[Limits], int]], ...] = (
    ("MemoryError", "", MEMORY_HIT, lambda limits: limits.memory_bytes // MIB),
    ("RuntimeError", CANNOT_ALLOCATE, MEMORY_HIT, lambda limits: limits.memory_bytes // MIB),
    ("OSError", "[Errno 12]", MEMORY_HIT, lambda limits: limits.memory_bytes // MIB),
    ("OSError", "[Errno 27]", FILE_HIT, lambda limits: limits.file_bytes // MIB),
    ("OSError", "[Errno 24]", OPEN_FILES_HIT, lambda limits: limits.open_files),
)
"""Signs of a kernel limit (ENOMEM, EFBIG, EMFILE): an exception's class and a part of its message;
our message; the limit.
"""


NO_SPACE = "[Errno 28]"
FULL_DISK = (
    "the disk with the folder for temporary files ({folder}) has less than {limit} MB left, so the"
    " student's code could not write. Free some space and grade again"
)


def passed(*, wrote: bool) -> CheckVerdict:
    """Judge a check that raised nothing; with inputs that were written to, that proves nothing."""
    return CheckVerdict(Outcome.FAILED, WROTE) if wrote else CheckVerdict(Outcome.PASSED)


def verdict_of(error: BaseException, source: Source, limits: Limits) -> CheckVerdict | None:
    """Return the verdict that an exception stands for; None for an unexpected exception."""
    match error:
        case CheckFailure():
            return CheckVerdict(
                Outcome.FAILED,
                error.message,
                error.facts,
                error.expected,
                error.actual,
                error.inputs,
                line=error.line,
                at=error.at,
                checker=error.checker,
                figures=error.figures,
            )
        case NotStarted():
            return CheckVerdict(Outcome.NOT_STARTED)
        case StudentCodeError():
            return raised(error, source, limits)
        case MissingName():
            return missing_name(error, source)
        case WorkerLost():
            return CheckVerdict(
                Outcome(error.outcome), error.template, error.facts, line=error.line
            )
        case GradcheckError():
            return CheckVerdict(
                Outcome.FAILED, "gradcheck disagrees: {text}", {"text": str(error)[:600]}
            )
        case HostFault():
            return CheckVerdict(Outcome.GRADER_ERROR, error.template, error.facts, line=error.line)
        case EngineFault():
            return CheckVerdict(
                Outcome.GRADER_ERROR,
                "{reason}",
                {"reason": str(error)},
                note="".join(traceback.format_exception(error)),
            )
    return None


MISSPELT = "{file} defines {near}, not {name}: spell the name as in the stub"


def missing_name(error: MissingName, source: Source) -> CheckVerdict:
    """Judge a missing name; a name that is almost the same is probably the misspelt one."""
    facts = {
        "file": source.filename,
        "name": error.name,
        "present": ", ".join(error.present) or "no public name",
    }
    if error.name in source.definitions:
        line = source.definitions[error.name].lineno
        template = (
            "{file} ends before line {line}, where {name} is: remove exit(), or what else ends it"
        )
        return CheckVerdict(Outcome.FAILED, template, facts | {"line": line}, line=line)
    if (inside := source.place_inside(error.name)) is not None:
        line, around = inside
        template = (
            "{name} is indented, so it is inside of {around}: move it to the left edge of the file"
        )
        return CheckVerdict(Outcome.FAILED, template, facts | {"around": around}, line=line)
    kind = ast.ClassDef if error.name[:1].isupper() else ast.FunctionDef
    for node in source.tree.body:
        if isinstance(node, kind) and node.name.lower() == error.name.lower():
            facts["near"] = node.name
            return CheckVerdict(Outcome.FAILED, MISSPELT, facts, line=node.lineno)
    # A stub may have both sigmoid and Sigmoid: a file with one of them has not misspelt the other.
    others = [name for name in error.present if name.lower() != error.name.lower()]
    near = get_close_matches(error.name, others, n=1, cutoff=0.83)
    if near:
        found = source.definitions.get(near[0])
        place = found.lineno if found else None
        return CheckVerdict(Outcome.FAILED, MISSPELT, facts | {"near": near[0]}, line=place)
    return CheckVerdict(
        Outcome.FAILED, "{file} does not define {name}; it defines {present}", facts
    )


def raised(error: StudentCodeError, source: Source, limits: Limits) -> CheckVerdict:
    """Judge what the student's code raised: the stub's NotImplementedError, or anything else."""
    if error.type_name == "NotImplementedError" and error.raised_here:
        if error.line is None or source.is_bare_raise(error.line):
            return CheckVerdict(Outcome.NOT_STARTED, line=error.line)
        template = "the stub's raise NotImplementedError is still there, and is reached"
        return CheckVerdict(Outcome.ERROR, template, error=error, line=error.line)
    if error.is_a("OSError") and NO_SPACE in error.message and (reason := full_disk(limits)):
        return CheckVerdict(Outcome.GRADER_ERROR, "{reason}", {"reason": reason})
    template = "{raised}"
    facts: Facts = {"raised": str(error)}
    for kind, sign, message, limit in LIMITS_HIT:
        if error.is_a(kind) and sign in error.message:
            template, facts = message, {"raised": str(error)[:200], "limit": limit(limits)}
            break
    return CheckVerdict(
        Outcome.ERROR, template, facts, error=error, line=error.line, figures=error.figures
    )


def full_disk(limits: Limits) -> str | None:
    """Return a message if the host has less free space than the student's code may use."""
    folder = tempfile.gettempdir()
    if shutil.disk_usage(folder).free >= limits.scratch_bytes:
        return None
    return FULL_DISK.format(folder=folder, limit=limits.scratch_bytes // MIB)


if sys.platform != "win32":
    import resource

JUDGE_BYTES = 1024 * MIB
"""Address space beyond what a judge has when it is forked."""


class JudgeMemory:
    """The limit of this process. Without /proc there is none."""

    def __init__(self) -> None:
        self._baseline = 0
        self.limited = False

    def limit(self) -> None:
        """Limit this process permanently. If the host allows less, ``limited`` stays False."""
        self._baseline = address_space_bytes()
        if self._baseline:
            wanted = self._baseline + JUDGE_BYTES
            self.limited = set_limit(resource.RLIMIT_AS, wanted) == wanted

    @property
    def crowded(self) -> bool:
        """Whether more than half of the limit is in use. Read it between submissions."""
        return self.limited and address_space_bytes() - self._baseline > JUDGE_BYTES // 2


OF_THIS_PROCESS = JudgeMemory()


def is_shortage(error: BaseException) -> bool:
    """Return whether an exception says that memory ran out in this process."""
    in_torch = isinstance(error, RuntimeError) and CANNOT_ALLOCATE in str(error)
    return in_torch or isinstance(error, MemoryError)


def free_frames(error: BaseException) -> None:
    """Release the values in the frames that an exception passed through."""
    seen: set[int] = set()
    todo: list[BaseException | None] = [error]
    while todo:
        one = todo.pop()
        if one is not None and id(one) not in seen:
            seen.add(id(one))
            traceback.clear_frames(one.__traceback__)
            todo += [one.__cause__, one.__context__]
