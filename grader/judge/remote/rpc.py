"""Questions to a worker, and its answers: within the limits, and never believed before they are
read.

A worker is started when first needed and ended when lost. What it answers may be anything, so
whoever reads an answer does it in ``checked``, which loses the worker that gave none.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from grader.core.errors import MissingName, StudentCodeError, WorkerGone, WorkerLost
from grader.core.limits import Limits
from grader.course.source import Source
from grader.judge.remote.proxies import Connection
from grader.judge.remote.worker_sources import WorkerSource
from grader.worker.wire.batching import Request
from grader.worker.wire.frames import BrokenFrame, Frame, pack

UNUSABLE = (
    BrokenFrame,
    LookupError,
    TypeError,
    ValueError,
    AttributeError,
    RuntimeError,
    OverflowError,
    MemoryError,
)
"""What reading an answer raises that is none."""
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
        """Have a worker with the module in it; raises StudentError or WorkerLost, the same each
        time, where that can't be.
        """
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
        self._line = Connection(worker, [])
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
                lambda: [str(name)[:80] for name in reply.body["value"]][:20]
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
        """End the worker, have every check that asks for the module get this error, and return
        it.
        """
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
            raise self.checked(lambda: missing_name(reply.body["missing"], reply.body["names"]))
        if "raised" in reply.body:
            raise self.checked(lambda: student_error(reply.body["raised"]))
        return reply

    def _ask(self, do: str, blob: bytes, fields: dict[str, Any], *, patience: int = 1) -> Frame:
        """``patience``: for how many questions this one stands, which may take as long as those."""
        line = self._line
        assert line is not None
        number, line.next_id = line.next_id, line.next_id + 1
        freed, line.freed[:] = line.freed[:], []
        deadline = min(
            time.monotonic() + patience * self.limits.call_seconds, self._lesson_deadline
        )
        try:
            line.worker.channel.send(
                pack({"id": number, "do": do, "free": freed, **fields}, blob), deadline
            )
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
        """A block in which these questions are answered already: they cross in one frame, in this
        order, before it begins.

        A question that comes up in the block and was foreseen, byte for byte, has its answer; any
        other is asked as ever, so foresight can be wrong, and costs only time. An answer is used
        once: the same question twice was foreseen twice.
        """
        self.load()
        if not questions:
            yield
            return
        fields = [question.fields for question in questions]
        lengths = [len(question.blob) for question in questions]
        blob = b"".join(question.blob for question in questions)
        several = [list(pair) for pair in zip(fields, lengths, strict=True)]
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
            if self._line is not None:
                self._line.freed += [handle for handle in unused if type(handle) is int]

    def _lost(self, lost: WorkerLost) -> WorkerLost:
        """End the lost worker; the error, worded with how it died or how long it was waited for."""
        line, self._line = self._line, None
        assert line is not None
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
        """What ``parse`` makes of an answer; an answer that is none loses the worker."""
        try:
            return parse()
        except UNUSABLE as error:
            reason = (
                str(error)
                if isinstance(error, BrokenFrame)
                else f"an answer that is none ({type(error).__name__})"
            )
            lost = WorkerLost(
                "crashed", "{reason}", reason=reason
            )  # its text may be the worker's, so it is a fact and no template
            raise (lost if self._line is None else self._lost(lost)) from None

    def take_output(self) -> str:
        """What was printed since the last call."""
        if self._line is not None:
            self._line.worker.channel.settle()
            self._printed += self._line.worker.channel.output.take()
        text, self._printed = self._printed, ""
        return text

    def close(self) -> None:
        """End the worker."""
        if self._line is not None:
            line, self._line = self._line, None
            self._workers.end(line.worker, died=False)


def several_replies(frame: Frame, most: int) -> list[Frame]:
    """The replies in an answer to several questions: not more than there were questions, and with
    no byte left over.
    """
    replies, position = [], 0
    for body, length in frame.body["several"]:
        if not isinstance(body, dict) or type(length) is not int or length < 0:
            raise BrokenFrame("replies of which one is none")
        replies.append(Frame(body, frame.blob[position : position + length]))
        position += length
    if len(replies) > most or position != len(frame.blob):
        raise BrokenFrame("replies to other questions than were asked")
    return replies


def missing_name(name: str, present: list[str]) -> MissingName:
    """A MissingName from a worker's answer."""
    return MissingName(str(name)[:80], tuple(str(other)[:80] for other in present[:100]))


def student_error(data: dict[str, Any]) -> StudentCodeError:
    """A StudentError from a worker's ``raised``."""
    line = data.get("line")
    return StudentCodeError(
        str(data["type"])[:200],
        str(data["message"])[:4000],
        line=line if type(line) is int and 0 < line < MAX_LINE else None,
        ancestors=tuple(str(name)[:200] for name in data.get("ancestors", ())[:20]),
        raised_here=data.get("raised_here") is True,
    )
