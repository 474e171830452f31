"""Send requests to a worker within the limits, and check its answers.

A worker is started when first needed and ended when lost. An answer may be anything, so every
answer is parsed in ``checked``, which gives up a worker whose answer is malformed.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from grader.core.errors import (
    EngineFault,
    HostOutOfMemory,
    MissingName,
    StudentCodeError,
    WorkerGone,
    WorkerLost,
)
from grader.core.limits import Limits
from grader.core.processes import OUT_OF_MEMORY, oom_kills
from grader.course.source import Source
from grader.judge.remote.channel import crashed
from grader.judge.remote.connection import Connection
from grader.judge.remote.deadline import Deadline, Starvation
from grader.judge.remote.proxies import Traffic
from grader.judge.remote.replies import missing_name, part, several_replies, student_error
from grader.judge.remote.stack import line_where_it_is
from grader.judge.remote.worker_sources import WorkerProcess, WorkerSource
from grader.judge.scenario_source import watched_words
from grader.worker.wire.batching import Request
from grader.worker.wire.frames import BrokenFrame, Frame, pack

LESSON_TOO_LONG = "the lesson took more than {seconds} s"
NO_ANSWER = "no answer within {seconds} s"
STILL_RUNNING = "still running after {seconds} s, on this line"


class RpcClient:
    """One lesson's requests to a worker with the student's module in it."""

    def __init__(
        self,
        workers: WorkerSource,
        *,
        source: Source,
        scenarios: str,
        limits: Limits,
        unloadable: StudentCodeError | None = None,
        optional_after: int | None = None,
    ) -> None:
        """``optional_after`` is the last line of a notebook whose exception costs anything."""
        self.source = source
        self._optional_after = optional_after
        self.guarantees: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self.replaced: list[str] = []
        self._traffic = Traffic()
        self._workers = workers
        self._scenarios = scenarios
        self.limits = limits
        self.starvation = Starvation()
        self._lesson_deadline = time.monotonic() + limits.lesson_seconds
        self._off_the_clock = limits.call_seconds
        self._oom_kills = oom_kills()
        self._line: Connection | None = None
        self._unloadable: StudentCodeError | WorkerLost | None = unloadable
        self._printed = ""
        self._prefetched: dict[bytes, deque[Frame]] = {}
        self._forget_objects = False
        self._traced: tuple[str, list[int]] | None = None
        self.returned_line: int | None = None
        """The line at which the traced function returned last, as the worker says."""

    @property
    def loadable(self) -> bool:
        return self._unloadable is None

    def load(self) -> None:
        """Make sure that there is a worker with the module loaded. If that fails, raise
        StudentCodeError or WorkerLost, the same error each time.
        """
        if self._unloadable is not None:
            # raising the same exception again and again would let its traceback grow
            raise self._unloadable.with_traceback(None)
        if self._line is not None:
            return
        began = time.monotonic()
        worker = self._workers.start()
        # starting a worker takes the grader's time, not the student's
        self._lesson_deadline += time.monotonic() - began
        self.guarantees = (worker.guarantees, worker.missing)
        self.limits = worker.limits or self.limits
        self.starvation.watch(worker.pid)
        self._line = Connection(worker)
        self._load_module()

    def reload(self, source: Source) -> None:
        """Let the same worker execute another text as the module, within the remaining time.
        Changes that the last text made outside of its module stay, so never judge two students'
        code in this way. Raise the errors of ``load``.
        """
        self.source, self._unloadable, self._prefetched = source, None, {}
        self._optional_after = None
        if self._line is None:
            self.load()
        else:
            self._load_module()

    def _load_module(self) -> None:
        source = self.source
        try:
            reply = self.ask(
                "load",
                source=source.text,
                filename=source.filename,
                name=source.module,
                words=watched_words(self._scenarios),
                optional_after=self._optional_after,
            )
            self.replaced = self.checked(
                lambda: [str(name)[:80] for name in part(reply.body, "value", list)[:20]]
            )
        except (StudentCodeError, WorkerLost) as error:
            self._unloadable = error
            raise
        except MissingName as error:  # not a valid answer: this request did not ask for a name
            self._unloadable = StudentCodeError(
                "AttributeError", f"module {source.module!r} has no attribute {error.name!r}"
            )
            raise self._unloadable from None

    def make_unloadable(self, error: StudentCodeError) -> None:
        """End the worker and raise this error for every check that asks for the module."""
        self.close()
        self._unloadable = error

    def ask(self, do: str, *, blob: bytes = b"", **fields: Any) -> Frame:
        """Send one request and return its answer, within the limits.

        Raise StudentCodeError or MissingName, as the worker reports it, or WorkerLost.
        """
        known = self._prefetched
        answers = known.get(pack({"do": do, **fields}, blob)) if known else None
        reply = answers.popleft() if answers else self._send(do, blob, fields)
        if "missing" in reply.body:
            raise self.checked(lambda: missing_name(reply.body, "missing"))
        if "raised" in reply.body:
            self._traffic.raised = True
            raise self.checked(lambda: student_error(part(reply.body, "raised", dict)))
        return reply

    def _send(self, do: str, blob: bytes, fields: dict[str, Any], *, patience: int = 1) -> Frame:
        """Send a request and return the reply. ``patience`` multiplies the time it may take."""
        line = self._line
        assert line is not None
        number = secrets.randbits(62)  # so that no answer can come before its question
        rest_of_lesson = self._lesson_deadline - time.monotonic()
        deadline = Deadline(
            min(patience * self.limits.call_seconds, rest_of_lesson), self._extension
        )
        freed = line.take_freed()
        try:
            head = {"id": number, "do": do, "free": freed, "forget": self._forget_objects}
            head |= {} if self._traced is None else {"trace": self._traced}
            data = pack({**head, **fields}, blob)
        except BrokenFrame:
            line.freed.extend(freed)
            raise
        self._forget_objects = False
        try:
            line.worker.channel.send(data, deadline)
            reply = line.worker.channel.receive(deadline)
            if not isinstance(reply.body, dict) or reply.body.get("id") != number:
                raise crashed("the worker answered another question than it was asked")
        except WorkerLost as lost:
            raise self._lost(lost) from None
        except MemoryError:  # half of an answer may have been read
            self._lost(crashed("an answer that the judge has no memory for"))
            raise
        if type(returned := reply.body.get("returned")) is int:
            self.returned_line = returned
        return reply

    @contextlib.contextmanager
    def tracing(self, name: str, lines: Iterable[int]) -> Iterator[None]:
        """Trace a function of the student's file, which has returns in these lines, during a block;
        ``returned_line`` is the result.
        """
        self._traced, self.returned_line = (name, sorted(lines)), None
        try:
            yield
        finally:
            self._traced = None

    def _extension(self) -> float:
        """Return by how many seconds to extend a deadline that has been reached."""
        seconds = self.starvation.seconds_since()
        self._lesson_deadline += seconds
        return seconds

    @contextlib.contextmanager
    def prefetching(
        self, requests: Sequence[Request], *, patience: int | None = None
    ) -> Iterator[None]:
        """Prefetch the answers to these requests, in one frame, for a block.

        A request of the block that equals a prefetched one byte for byte uses its answer. Any other
        is sent as usual, so a wrong guess costs only time. Each answer is used once: prefetch a
        request twice if it is made twice. Together they may take ``patience`` times as long as one
        call, by default the number of requests.
        """
        self.load()
        if not requests:
            yield
            return
        line = self._line
        assert line is not None
        several = [[request.fields, len(request.blob)] for request in requests]
        blob = b"".join(request.blob for request in requests)
        wait = patience or len(requests)
        frame = self._send("several", blob, {"several": several}, patience=wait)
        replies = self.checked(lambda: several_replies(frame, len(requests)))
        for request, reply in zip(requests, replies, strict=False):
            fields = request.fields
            if (handle := fields.get("handle")) is not None:
                fields = {**fields, "handle": replies[handle["of"]].body.get("handle")}
            self._prefetched.setdefault(pack(fields, request.blob), deque()).append(reply)
        try:
            yield
        finally:
            unused = [
                reply.body.get("handle")
                for replies in self._prefetched.values()
                for reply in replies
            ]
            self._prefetched = {}
            line.freed.extend(handle for handle in unused if type(handle) is int)

    def _lost(self, lost: WorkerLost) -> WorkerLost | EngineFault:
        """End the lost worker; return an error that says how it ended or how long the judge waited.

        If the host ran out of memory or was too busy, the error is a HostFault.
        """
        line, self._line = self._line, None
        assert line is not None
        self._prefetched = {}  # the handles in these answers belong to that worker
        where = self._where(line.worker) if lost.outcome == "timeout" else None
        gone = isinstance(lost, WorkerGone)
        how = self._workers.end(line.worker, died=gone)
        self._printed += line.worker.channel.output.take()
        if lost.outcome == "timeout":
            if self.starvation.extreme:
                return self.starvation.fault(where)
            if time.monotonic() >= self._lesson_deadline:
                template, seconds = LESSON_TOO_LONG, self.limits.lesson_seconds
            else:
                template, seconds = STILL_RUNNING if where else NO_ANSWER, self.limits.call_seconds
            late = WorkerLost("timeout", template, seconds=f"{seconds:g}")
            late.line = where
            return late
        if how is None or not gone:  # how a worker that sent malformed data ends depends on timing
            return lost
        if how.facts.get("signal") == "SIGXCPU":
            return WorkerLost(
                "timeout",
                "more than {seconds} s of processor time",
                seconds=self.limits.cpu_seconds,
            )
        if how.facts.get("signal") == "SIGKILL" and oom_kills() > self._oom_kills:
            return HostOutOfMemory(OUT_OF_MEMORY)
        return WorkerLost("crashed", f"{lost.template}: {how.template}", **lost.facts, **how.facts)

    def _where(self, worker: WorkerProcess) -> int | None:
        """Return the line of the student's file that an unresponsive worker is running, or None."""
        self._printed += worker.channel.output.take()
        line, printed = line_where_it_is(worker, self.source.filename)
        self._printed += printed
        return line if self.source.line(line) else None

    def checked(self, parse: Callable[[], Any]) -> Any:
        """Return what ``parse`` makes of an answer. If it raises BrokenFrame, the worker is lost.
        MemoryError is left to the caller; any other exception is a grader fault.
        """
        try:
            return parse()
        except BrokenFrame as error:  # the text may be the worker's: not a template
            lost = crashed(str(error))
            raise (lost if self._line is None else self._lost(lost)) from None
        except MemoryError:
            raise
        except Exception as error:
            raise EngineFault(
                f"an answer could not be read: {type(error).__name__}: {error}"
            ) from error

    @contextlib.contextmanager
    def off_the_clock(self) -> Iterator[None]:
        """Stop the lesson's clock during a block whose requests are not judged.

        All such blocks of a lesson stop it for at most ``call_seconds`` together, because the fork
        server does not wait for a judge forever.
        """
        began = time.monotonic()
        try:
            yield
        finally:
            spent = min(time.monotonic() - began, self._off_the_clock)
            self._off_the_clock -= spent
            self._lesson_deadline += spent

    def take_output(self) -> str:
        """Return what was printed since the last call."""
        if self._line is not None:
            self._line.worker.channel.settle()
            self._printed += self._line.worker.channel.output.take()
        text, self._printed = self._printed, ""
        return text

    def close(self) -> None:
        if self._line is not None:
            line, self._line = self._line, None
            self._workers.end(line.worker, died=False)
