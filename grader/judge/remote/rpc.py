"""Questions to a worker, and its answers: within limits, and not believed before validation.

A worker starts when first needed and is ended when lost. Answers are parsed in ``checked``, which
ends a worker that gives none.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from grader.core.errors import EngineFault, MissingName, StudentCodeError, WorkerGone, WorkerLost
from grader.core.limits import Limits
from grader.course.analysis.source import Source
from grader.judge.remote.proxies import Connection
from grader.judge.remote.worker_sources import WorkerSource
from grader.worker.wire.batching import Request
from grader.worker.wire.frames import BrokenFrame, Frame, pack

MAX_LINE = 1 << 20
"""A file has at most as many lines as bytes."""


class RpcClient:
    """One lesson's questions to a worker with the student's module in it."""

    def __init__(
        self,
        workers: WorkerSource,
        *,
        source: Source,
        scenarios: str,
        limits: Limits,
        unloadable: StudentCodeError | None = None,
    ) -> None:
        self.source = source
        self.guarantees: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self.replaced: list[str] = []
        self._workers = workers
        self._scenarios = scenarios
        self.limits = limits
        self._lesson_deadline = time.monotonic() + limits.lesson_seconds
        self._line: Connection | None = None
        self._unloadable: StudentCodeError | WorkerLost | None = unloadable
        self._printed = ""
        self._foreseen: dict[bytes, deque[Frame]] = {}

    @property
    def loadable(self) -> bool:
        """Whether the file could be loaded, as far as is known."""
        return self._unloadable is None

    def load(self) -> None:
        """Load the module in a worker; raises StudentError or WorkerLost, always the same."""
        if self._unloadable is not None:
            raise self._unloadable.with_traceback(
                None
            )  # one exception raised again and again would grow a traceback each time
        if self._line is not None:
            return
        began = time.monotonic()
        worker = self._workers.start()
        self._lesson_deadline += (
            time.monotonic() - began
        )  # starting a worker takes our time, not the student's
        self.guarantees = (worker.guarantees, worker.missing)
        self._line = Connection(worker)
        try:
            source = self.source
            reply = self.ask(
                "load",
                source=source.text,
                filename=source.filename,
                name=source.module,
                scenarios=self._scenarios,
            )
            self.replaced = self.checked(
                lambda: [str(name)[:80] for name in part(reply.body, "value", list)[:20]]
            )
        except (StudentCodeError, WorkerLost) as error:
            self._unloadable = error
            raise
        except MissingName as error:  # no answer to this question: nobody asked for a name
            self._unloadable = StudentCodeError(
                "AttributeError", f"module {source.module!r} has no attribute {error.name!r}"
            )
            raise self._unloadable from None

    def refuse(self, error: StudentCodeError) -> StudentCodeError:
        """End the worker; return the error, which every later check gets too."""
        self.close()
        self._unloadable = error
        return error

    def ask(self, do: str, *, blob: bytes = b"", **fields: Any) -> Frame:
        """One question, one answer, within the limits; raises StudentError or WorkerLost."""
        if self._foreseen and (answers := self._foreseen.get(pack({"do": do, **fields}, blob))):
            return self.told(answers.popleft())
        return self.told(self._ask(do, blob, fields))

    def told(self, reply: Frame) -> Frame:
        """The reply; what the worker raised or missed is raised here."""
        if "missing" in reply.body:
            raise self.checked(lambda: missing_name(reply.body, "missing"))
        if "raised" in reply.body:
            raise self.checked(lambda: student_error(part(reply.body, "raised", dict)))
        return reply

    def _ask(self, do: str, blob: bytes, fields: dict[str, Any], *, patience: int = 1) -> Frame:
        """``patience``: for how many questions this one stands, which may take as long as those."""
        line = self._line
        assert line is not None
        number = secrets.randbits(62)  # so that nobody can answer before being asked
        deadline = min(
            time.monotonic() + patience * self.limits.call_seconds, self._lesson_deadline
        )
        freed = line.take_freed()
        try:
            data = pack({"id": number, "do": do, "free": freed, **fields}, blob)
        except BrokenFrame:
            line.freed.extend(freed)
            raise
        try:
            line.worker.channel.send(data, deadline)
            reply = line.worker.channel.receive(deadline)
            if not isinstance(reply.body, dict) or reply.body.get("id") != number:
                raise WorkerLost(
                    "crashed",
                    "{reason}",
                    reason="the worker answered another question than it was asked",
                )
        except WorkerLost as lost:
            raise self._lost(lost) from None
        return reply

    @contextlib.contextmanager
    def foreseeing(self, questions: Sequence[Request]) -> Iterator[None]:
        """Ask these questions in one frame before the block, so that they are answered already.

        A question in the block that equals one of them, byte for byte, gets its answer, each once.
        Others are asked as usual, so a wrong guess costs only time.
        """
        self.load()
        if not questions:
            yield
            return
        fields = [question.fields for question in questions]
        lengths = [len(question.blob) for question in questions]
        blob = b"".join(question.blob for question in questions)
        several = [list(pair) for pair in zip(fields, lengths, strict=True)]
        line = self._line
        assert line is not None
        frame = self._ask("several", blob, {"several": several}, patience=len(questions))
        replies = self.checked(lambda: several_replies(frame, len(questions)))
        for question, reply in zip(questions, replies, strict=False):
            handle = question.fields.get("handle")
            known = (
                question.fields
                if handle is None
                else {**question.fields, "handle": replies[handle["of"]].body.get("handle")}
            )
            self._foreseen.setdefault(pack(known, question.blob), deque()).append(reply)
        try:
            yield
        finally:
            unused = [
                reply.body.get("handle") for answers in self._foreseen.values() for reply in answers
            ]
            self._foreseen = {}
            line.freed.extend(handle for handle in unused if type(handle) is int)

    def _lost(self, lost: WorkerLost) -> WorkerLost:
        """End the lost worker; the error, worded with how it died or how long it was waited for."""
        line, self._line = self._line, None
        assert line is not None
        self._foreseen = {}  # the handles in these answers are that worker's
        gone = isinstance(lost, WorkerGone)
        how = self._workers.end(line.worker, died=gone)
        self._printed += line.worker.channel.output.take()
        if lost.outcome == "timeout":
            if time.monotonic() >= self._lesson_deadline:
                return WorkerLost(
                    "timeout",
                    "the lesson took more than {seconds} s",
                    seconds=f"{self.limits.lesson_seconds:g}",
                )
            return WorkerLost(
                "timeout", "no answer within {seconds} s", seconds=f"{self.limits.call_seconds:g}"
            )
        if (
            how is None or not gone
        ):  # what became of one that had answered nonsense is a matter of moments, so not told
            return lost
        if how.facts.get("signal") == "SIGXCPU":
            return WorkerLost(
                "timeout",
                "more than {seconds} s of processor time",
                seconds=self.limits.cpu_seconds,
            )
        return WorkerLost("crashed", f"{lost.template}: {how.template}", **lost.facts, **how.facts)

    def checked(self, parse: Callable[[], Any]) -> Any:
        """Return ``parse()``. BrokenFrame loses the worker; any other exception is our fault."""
        try:
            return parse()
        except BrokenFrame as error:  # its text may be the worker's: a fact, not a template
            lost = WorkerLost("crashed", "{reason}", reason=str(error))
            raise (lost if self._line is None else self._lost(lost)) from None
        except Exception as error:
            raise EngineFault(
                f"an answer could not be read: {type(error).__name__}: {error}"
            ) from error

    def take_output(self) -> str:
        """What was printed since the last call."""
        if self._line is not None:
            self._line.worker.channel.settle()
            self._printed += self._line.worker.channel.output.take()
        text, self._printed = self._printed, ""
        return text

    def close(self) -> None:
        if self._line is not None:
            line, self._line = self._line, None
            self._workers.end(line.worker, died=False)


def several_replies(frame: Frame, most: int) -> list[Frame]:
    """Return the replies to several questions; raises BrokenFrame if too many or left over."""
    replies, position = [], 0
    for pair in part(frame.body, "several", list):
        if not isinstance(pair, list) or len(pair) != 2:
            raise BrokenFrame("replies of which one is none")
        body, length = pair
        if not isinstance(body, dict) or type(length) is not int or length < 0:
            raise BrokenFrame("replies of which one is none")
        replies.append(Frame(body, frame.blob[position : position + length]))
        position += length
    if len(replies) > most or position != len(frame.blob):
        raise BrokenFrame("replies to other questions than were asked")
    return replies


def part(body: Any, key: str, *kinds: type) -> Any:
    """Return a part of an answer; raise BrokenFrame if it is not there or of another type."""
    if not isinstance(body, dict) or key not in body:
        raise BrokenFrame(f"an answer without {key!r}")
    if not isinstance(body[key], kinds):
        raise BrokenFrame(f"an answer whose {key!r} is a {type(body[key]).__name__}")
    return body[key]


def missing_name(body: Any, key: str) -> MissingName:
    """Return a MissingName from a worker's answer, which has the name under ``key``."""
    present = part(body, "names", list)[:100]
    if not all(isinstance(name, str) for name in present):
        raise BrokenFrame("an answer with names that are no text")
    return MissingName(part(body, key, str)[:80], tuple(name[:80] for name in present))


def student_error(data: dict[str, Any]) -> StudentCodeError:
    """Return a StudentCodeError from a worker's ``raised``."""
    line = data.get("line")
    ancestors = data.get("ancestors", [])
    if not isinstance(ancestors, list) or not all(isinstance(name, str) for name in ancestors):
        raise BrokenFrame("an exception whose classes are no names")
    return StudentCodeError(
        part(data, "type", str)[:200],
        part(data, "message", str)[:4000],
        line=line if type(line) is int and 0 < line < MAX_LINE else None,
        ancestors=tuple(name[:200] for name in ancestors[:20]),
        raised_here=data.get("raised_here") is True,
    )
