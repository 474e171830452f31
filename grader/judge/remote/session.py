"""The judge's interface to a student: PyTorch in the judge, a worker on the other side.

``student.sigmoid(x)`` sends ``x`` across and returns a tensor that is differentiable here
(``proxies``). So ``torch.autograd.grad(create_graph=True)``, ``gradcheck`` and ``gradgradcheck``
run in the judge, to any order.

Nothing in an answer is trusted. Every answer is read in a block of ``reading``, which gives up a
worker whose answer is malformed.
"""

from __future__ import annotations

import contextlib
import functools
import secrets
import struct
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import torch
from torch import Tensor

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
from grader.course.endless_loops import names_in_endless_loop
from grader.course.source import Source
from grader.judge.remote.channel import Deadline, Starvation, crashed
from grader.judge.remote.plans import OffPlan, Plan, PlannedCheck, Question, question_of
from grader.judge.remote.proxies import (
    Copies,
    GraphHandle,
    LastCall,
    RemoteCallable,
    RemoteObject,
    RemoteStudent,
    Response,
    Traffic,
    as_references,
    objects_in,
)
from grader.judge.remote.scenarios import scenario_with_definitions, watched_words
from grader.judge.remote.workers import WorkerProcess, WorkerSource, lines_where_it_is
from grader.worker.wire.compat import keeps_graph
from grader.worker.wire.frames import BrokenFrame, Frame, as_json, pack_text
from grader.worker.wire.values import (
    PLAIN,
    Decoder,
    Encoder,
    Opaque,
    StudentRef,
    TensorRef,
    decode,
    encode_tensors,
    fill,
)

LESSON_TOO_LONG = "the lesson took more than {seconds} s"
NO_ANSWER = "no answer within {seconds} s"
STILL_RUNNING = "still running after {seconds} s, on this line"
ENDLESS = f"{STILL_RUNNING}: nothing in this loop ends it"
ENDLESS_WHILE = f"{STILL_RUNNING}: nothing in this loop changes {{names}}, so it never ends"
PATIENCE_SECONDS = 1.0
"""How long a call may take, once a function did not end, until the judge looks whether that
function hangs again.
"""
MOST_PENDING = 2_500
"""How many steps on objects cross in one frame at most."""
MOST_HANDLES = 1 << 20
"""How many handles a check has numbers for."""
SECONDS_OF_UNASKED = 0.05
"""How long to wait for an answer that nobody asked for; then a new worker costs less."""
NOT_PLANNED = ("load", "describe")
"""Requests that depend on what was asked in earlier checks."""
MAX_LINE = 1 << 20
"""A file has at most as many lines as bytes."""


class Student(Protocol):
    """What a check sees of a student, remote or local, beside the names in the file."""

    source: Source

    def observe(self, scenario: str, *args: Any, **kwargs: Any) -> Any:
        """Run a scenario beside the student's module, on copies; return what it measured."""

    def writing_allowed(self) -> contextlib.AbstractContextManager[Copies]:
        """Allow the student's code, during a block, to write into its arguments, and return what it
        got: copies of the check's tensors.
        """

    def put(self, tensor: Tensor) -> Any:
        """Return a copy of a tensor in the worker, as a remote object."""

    def __getattr__(self, name: str) -> Any: ...


class NotStarted(Exception):
    """A function, class or constant that is still as in the stub (a constant: ``...``)."""


class StudentSession:
    """One lesson's session with a worker that has the student's module.

    A worker is started when first needed and ended when lost. Requests have deadlines. While a
    check is recorded, ``replay.Recorder`` wraps the methods that the check uses.
    """

    def __init__(
        self,
        workers: WorkerSource,
        *,
        source: Source,
        scenarios: str,
        limits: Limits,
        unloadable: StudentCodeError | None = None,
        optional_after: int | None = None,
        hurried: bool = False,
    ) -> None:
        """``optional_after`` is the last line of a notebook whose exception costs anything. A
        ``hurried`` session never extends a deadline and does not ask a hanging worker for its
        stack.
        """
        self.source = source
        self.limits = limits
        self.guarantees: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self.replaced: list[str] = []
        self.starvation = Starvation()
        self.returned_line: int | None = None
        """The line at which the traced function returned last, as the worker says."""
        self._workers = workers
        self._worker: WorkerProcess | None = None
        self._scenarios = scenarios
        self._unloadable: StudentCodeError | WorkerLost | None = unloadable
        self._optional_after = optional_after
        self._hurried = hurried
        self._lesson_deadline = time.monotonic() + limits.lesson_seconds
        self._off_the_clock = limits.call_seconds
        self._oom_kills = oom_kills()
        self._printed = self._printed_before = ""
        self._warned = ""
        """What the worker is to do about warnings, which Python shows once: ``keep`` those that it
        has shown so far in mind, or ``restore`` that state.
        """
        self._check_id = ""
        self._hung: dict[int, str] = {}
        """The functions that did not end, by their first line, with the id of the check."""
        self._traced: tuple[str, list[int]] | None = None
        self._forget_objects = False
        self._objects = 0
        """The number of remote objects in this check."""
        self.plans: Mapping[str, Plan] = {}
        """The plans to follow, by the id of a check."""
        self.recorded: dict[str, list[Question]] | None = None
        """What the checks asked, by id, if that is to be recorded."""
        self._recorded: list[Question] | None = None
        self._planned: PlannedCheck | None = None
        self._ahead: deque[int] = deque()
        """The numbers of the questions that were sent ahead and that the check has not asked."""
        self._awaited: deque[int] = deque()
        """The numbers of the answers that have not been received, in order."""
        self._answers: dict[int, Frame] = {}
        """The answers that have been received but not asked for."""
        self._numbers = random_numbers()
        self._begin(0)

    # The worker and the module

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
        if self._worker is not None:
            return
        began = time.monotonic()
        worker = self._workers.start()
        # starting a worker takes the grader's time, not the student's
        self._lesson_deadline += time.monotonic() - began
        self.guarantees = (worker.guarantees, worker.missing)
        self.limits = worker.limits or self.limits
        self.starvation.watch(worker.pid)
        self._worker = worker
        self._load_module()

    def reload(self, source: Source) -> None:
        """Let the same worker execute another text as the module, within the remaining time.
        Changes that the last text made outside of its module stay, so never judge two students'
        code in this way. Raise the errors of ``load``.
        """
        self.source, self._unloadable = source, None
        self._optional_after = None
        self._hung.clear()
        if self._worker is None:
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
            with self.reading():
                self.replaced = [str(name)[:80] for name in part(reply.body, "value", list)[:20]]
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

    @property
    def worker(self) -> WorkerProcess:
        """The worker that ``load`` started."""
        assert self._worker is not None
        return self._worker

    def _ready(self) -> WorkerProcess:
        """Send the pending steps and return a worker with the module."""
        self.load()
        self.flush()
        self._traffic.missing.clear()
        return self.worker

    def close(self) -> None:
        worker, self._worker = self._worker, None
        self._forget_answers()
        if worker is not None:
            self._workers.end(worker, died=False)

    def take_output(self) -> str:
        """Return what was printed since the last call."""
        if self._worker is not None:
            self._worker.channel.settle()
            self._printed += self._worker.channel.output.take()
        text, self._printed = self._printed, ""
        return text

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

    # A check's requests

    def student(self) -> RemoteStudent:
        """Return the student, as a check sees it."""
        return RemoteStudent(self)

    def begin_check(self, check_id: str = "") -> Traffic:
        """Forget the last check's objects; return the record of this check's traffic."""
        self._begin(self._number + 1)
        self._check_id = check_id
        plan = self.plans.get(check_id)
        self._planned = None if plan is None else PlannedCheck(plan)
        if self.recorded is not None:
            self._recorded = self.recorded[check_id] = []
        return self._traffic

    def _begin(self, number: int, *, attempt: int = 0) -> None:
        """Begin a check. Its handles have numbers of their own, the same for all submissions."""
        self._traffic = Traffic()
        self._number = number
        self._handle = (2 * number + attempt) * MOST_HANDLES
        self._off_plan = False
        self._forget_objects = self._forget_objects or self._objects > 0
        self._objects = 0
        self._pending: list[list[Any]] = []
        self._encoder = Encoder(strided=True)
        self._sent: list[Tensor] = []

    def _new_handle(self) -> int:
        self._handle += 1
        return self._handle

    @contextlib.contextmanager
    def writing_allowed(self) -> Iterator[Copies]:
        """Let a check pass although the student's code wrote into its copies during a block."""
        traffic = self._traffic
        allowed, traffic.writing_allowed = traffic.writing_allowed, True
        try:
            yield traffic.copies
        finally:
            traffic.writing_allowed = allowed

    def resolve(self, path: str) -> Any:
        """Return the value of a name, or a ``RemoteCallable``; raise MissingName or NotStarted."""
        self.load()
        self.flush()
        missing = self._traffic.missing
        if path in missing:
            raise missing[path].with_traceback(None)
        reply = self.ask("describe", path=path)
        with self.reading():
            kind = part(reply.body, "kind", str)
            if kind == "missing":
                value: Any = missing_name(reply.body, path)
            elif kind in ("callable", "class"):
                value = RemoteCallable(self, path, is_class=kind == "class")
            else:
                value = decoded(reply)
        if isinstance(value, MissingName):
            missing[path] = value
            raise value
        if value is Ellipsis:
            raise NotStarted(path)
        return value

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a student's function; its result is differentiable with respect to the arguments.

        If one of them is a remote object, the call is a step and its result is a remote object too.
        """
        if objects_in((args, kwargs)):
            return self.construct(path, args, kwargs)
        self._ready()
        last_call = LastCall(path, args, kwargs, torch.is_grad_enabled())
        self._traffic.last_call = last_call
        question, number, inputs = self._call_question(path, args, kwargs)
        frame = self._ask(question)
        with self.reading():
            response = self._response_with_value(frame, number, inputs)
        last_call.handle = response.handle
        last_call.single = isinstance(response.structure, TensorRef)
        return fill(response.structure, response.attach(inputs))

    def _call_question(
        self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Question, int, tuple[Tensor, ...]]:
        """Return the question, the number that its handle gets, and the tensors that cross."""
        encoder, number = Encoder(strided=True), self._new_handle()
        question = question_of(
            "call",
            path=path,
            args=[encoder.encode(args), encoder.encode(kwargs)],
            grad=torch.is_grad_enabled(),
            keep=number,
            blob=encoder.blob,
        )
        return question, number, tuple(encoder.tensors)

    @contextlib.contextmanager
    def ask_ahead(
        self, path: str, calls: Sequence[tuple[Any, ...]], v: Tensor | None = None
    ) -> Iterator[None]:
        """Send calls, and with ``v`` the products of their Jacobians with it, before a block asks
        for their answers one by one. If it asks for something else, that is sent when it comes.
        """
        self._ready()
        first, plan = self._handle, []
        for args in calls:
            question, number, inputs = self._call_question(path, args, {})
            plan.append(question)
            if v is not None:
                needs = [one.requires_grad for one in inputs]
                plan.append(self._product_question(number, [v], needs, create_graph=False)[0])
        self._handle, self._planned = first, PlannedCheck(plan, binding=False)
        try:
            yield
        finally:
            self._drop_ahead()

    def observe(self, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a scenario in the worker; send its source when it is first used."""
        worker = self._ready()
        self._traffic.last_call = None
        encoder = Encoder(strided=True)
        data = [encoder.encode(as_references(given, worker)) for given in (args, kwargs)]
        reply = self.ask("observe", blob=encoder.blob, path=scenario, args=data)
        with self.reading():
            return decoded(reply)

    def product(
        self,
        handle: GraphHandle,
        inputs: tuple[Tensor, ...],
        incoming: tuple[Tensor | None, ...],
        *,
        needs: tuple[bool, ...],
    ) -> Response:
        """Return the vector-Jacobian product of an earlier call, in the judge's grad mode. In the
        returned structure, None means that there is no gradient.
        """
        worker = self._ready()
        vectors = [v for v in incoming if v is not None]
        self._remember_product(handle, vectors)
        question, number = self._product_question(
            handle.number_on(worker), incoming, needs, create_graph=torch.is_grad_enabled()
        )
        frame = self._ask(question)
        with self.reading():
            decoder = Decoder(frame.blob, strided=False)
            grads = part(frame.body, "grads", list)
            slots = [None if data is None else decoder.decode(data) for data in grads]
            if len(slots) != len(inputs):
                raise BrokenFrame("the number of gradients is not the number of inputs")
            for slot, tensor in zip(slots, inputs, strict=True):
                if slot is None:
                    continue
                if not isinstance(slot, TensorRef):
                    raise BrokenFrame("a gradient that is not a tensor")
                gradient = decoder.tensors[slot.index]
                if gradient.shape != tensor.shape or gradient.dtype != tensor.dtype:
                    raise BrokenFrame("a gradient whose shape or dtype is not its input's")
            return self._response(frame, number, decoder, slots, tuple(vectors))

    def _product_question(
        self,
        handle: int,
        incoming: Sequence[Tensor | None],
        needs: Sequence[bool],
        *,
        create_graph: bool,
    ) -> tuple[Question, int]:
        metas, blob = encode_tensors([v for v in incoming if v is not None], strided=True)
        remaining, number = iter(metas), self._new_handle()
        question = question_of(
            "vjp",
            handle=handle,
            grads=[None if v is None else next(remaining) for v in incoming],
            needs=list(needs),
            create_graph=create_graph,
            retain_graph=keeps_graph(),
            keep=number,
            blob=blob,
        )
        return question, number

    def _remember_product(self, handle: GraphHandle, vectors: list[Tensor]) -> None:
        """Record in the last call that it, or its derivative, was differentiated."""
        last_call = self._traffic.last_call
        if last_call is not None and last_call.handle is handle and len(vectors) == 1:
            last_call.incoming = vectors[0]
        elif last_call is not None:
            last_call.deeper = True

    # Steps on objects

    def construct(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RemoteObject:
        """Make an object of a student's class, or call a function with objects, as a step."""
        self._traffic.missing.clear()
        return self.step("call", "", (StudentRef(path), *args), kwargs)

    def put(self, tensor: Tensor) -> RemoteObject:
        """Return a copy of a tensor in the worker, as a remote object."""
        return self.step("put", "", (tensor,))

    def step(
        self, kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> RemoteObject:
        """Add a step to the pending ones and return its result, which does not exist yet.

        The worker's ``Objects`` describes steps. A tensor is sent with its present value.
        """
        self.load()
        worker = self.worker

        def encoded(value: Any) -> Any:
            if type(value) in PLAIN:
                return value
            if type(value) is RemoteObject:
                return {"object": value.number_on(worker)}
            return self._encoder.encode(as_references(value, worker))

        self._objects += 1
        data = [encoded(arg) for arg in args]
        options = encoded(kwargs) if kwargs else None
        self._pending.append([kind, self._objects, name, data, options, torch.is_grad_enabled()])
        if len(self._pending) >= MOST_PENDING:
            self.flush()
        return RemoteObject(self, worker, self._objects)

    def flush(self) -> None:
        """Send the pending steps; raise what the student's code raised."""
        if self._pending:
            self.read([])

    def read(self, objects: list[RemoteObject]) -> list[Any]:
        """Send the pending steps and return the values of objects. A value that can't cross stays
        an object, whose type is then known. A tensor is differentiable with respect to the tensors
        in all steps of the check.
        """
        self.load()
        worker = self.worker
        self._traffic.last_call = None
        numbers = [one.number_on(worker) for one in objects]
        steps, encoder = self._pending, self._encoder
        self._pending, self._encoder = [], Encoder(strided=True)
        sent = len(self._sent)
        self._sent += encoder.tensors
        number = self._new_handle()
        frame = self.ask(
            "run", steps=steps, read=numbers, sent=sent, keep=number, blob=encoder.blob
        )
        inputs = tuple(self._sent)
        with self.reading():
            response = self._response_with_value(frame, number, inputs)
            if type(response.structure) is not list or len(response.structure) != len(objects):
                raise BrokenFrame("the number of values is not the number of objects read")
        return list(fill(response.structure, response.attach(inputs)))

    # Requests, within the limits

    def ask(self, do: str, *, blob: bytes = b"", **fields: Any) -> Frame:
        """Send one request and return its answer, within the limits.

        Raise StudentCodeError or MissingName, as the worker reports it, or WorkerLost.
        """
        return self._ask(question_of(do, blob=blob, **fields))

    @property
    def asked(self) -> int:
        """How many questions the check has asked so far."""
        return self._traffic.asked

    def _ask(self, question: Question) -> Frame:
        self._traffic.asked += 1
        reply = self._answer(question)
        if "missing" in reply.body:
            with self.reading():
                missing = missing_name(reply.body, part(reply.body, "missing", str))
            raise missing
        if "raised" in reply.body:
            self._traffic.raised = True
            with self.reading():
                raised = student_error(part(reply.body, "raised", dict))
            raise raised
        return reply

    def _answer(self, question: Question) -> Frame:
        """Return the answer to a question; while the check follows its plan, ask ahead."""
        if question.do in NOT_PLANNED:
            return self._receive(self._transmit(question))
        if self._recorded is not None:
            self._recorded.append(question)
        if self._planned is not None:
            if not self._planned.begun:
                self._printed = self._printed_before = self.take_output()
                self._warned = "keep"
            if self._planned.ask(question):
                self._ahead += [self._transmit(one) for one in self._planned.due()]
                return self._receive(self._ahead.popleft())
            if self._ahead and self._planned.binding:
                self._off_plan = True
                raise OffPlan
            self._drop_ahead()
        return self._receive(self._transmit(question))

    def _transmit(self, question: Question) -> int:
        """Send a question; return the number that its answer must have."""
        worker = self.worker
        number = next(self._numbers)
        freed = worker.take_freed()
        try:
            extra: dict[str, Any] = {"id": number, "free": freed, "forget": self._forget_objects}
            if self._traced is not None:
                extra["trace"] = self._traced
            if self._warned:
                extra["warned"], self._warned = self._warned, ""
            if question.scenario and question.scenario not in worker.scenarios:
                extra["source"] = scenario_with_definitions(self._scenarios, question.scenario)
            data = pack_text(joined(as_json(extra).encode("ascii"), question.text), question.blob)
        except BrokenFrame:
            worker.freed.extend(freed)
            raise
        self._forget_objects = False
        with self._limited() as deadline:
            worker.channel.send(data, deadline)
        if question.scenario:
            worker.scenarios.add(question.scenario)
        self._awaited.append(number)
        return number

    def _receive(self, number: int) -> Frame:
        """Return the answer with this number, and keep those that come before it."""
        while number not in self._answers:
            with self._limited() as deadline:
                reply = self.worker.channel.receive(deadline)
                if not isinstance(reply.body, dict) or reply.body.get("id") != self._awaited[0]:
                    raise crashed("the worker answered another question than it was asked")
            self._answers[self._awaited.popleft()] = reply
        reply = self._answers.pop(number)
        if type(returned := reply.body.get("returned")) is int:
            self.returned_line = returned
        return reply

    @contextlib.contextmanager
    def _limited(self) -> Iterator[Deadline]:
        """Give a block, which exchanges something with the worker, the deadline of one call."""
        rest_of_lesson = self._lesson_deadline - time.monotonic()
        seconds = min(self.limits.call_seconds, rest_of_lesson)
        first = min(seconds, PATIENCE_SECONDS) if self._hung else seconds
        try:
            yield Deadline(first, functools.partial(self._extension, iter([seconds - first])))
        except WorkerLost as lost:
            raise self._lost(lost) from None
        except MemoryError:  # half of an answer may have been read
            self._lost(crashed("an answer that the judge has no memory for"))
            raise

    def _drop_ahead(self) -> None:
        """Read what was sent ahead, and go on without a plan."""
        while self._ahead:
            self._receive(self._ahead.popleft())
        self._planned = None

    def ended_off_plan(self) -> bool:
        """Return whether the check ended before it asked everything that was sent ahead."""
        return self._off_plan or bool(self._ahead)

    def begin_again(self) -> Traffic:
        """Begin the check again, and go on without plans. What was sent ahead is not read."""
        while self._awaited and self._worker is not None:
            try:
                self._worker.channel.receive(Deadline(SECONDS_OF_UNASKED))
            except WorkerLost:
                self.close()
            else:
                self._awaited.popleft()
        self._forget_answers()
        self._forget_objects = True
        self._warned = "restore"
        self.plans = {}
        self.take_output()
        self._printed = self._printed_before
        self._begin(self._number, attempt=1)
        return self._traffic

    def _forget_answers(self) -> None:
        self._awaited.clear()
        self._ahead.clear()
        self._answers.clear()
        self._planned = None

    def _extension(self, rest: Iterator[float]) -> float:
        """Return by how many seconds to extend a deadline that has been reached: how long the host
        was busy, else once the ``rest`` of a call's time, unless a function hangs again.
        """
        if self._hurried:
            return 0.0
        seconds, began = self.starvation.seconds_since(), time.monotonic()
        where = self._where(self.worker) if seconds or self._hung else []
        looked = time.monotonic() - began  # the grader's time, not the student's
        if seconds and not self._endless(where):
            self._lesson_deadline += seconds + looked
            return seconds + looked
        if not seconds and self._hung and not self._hung_before(where):
            return next(rest, -looked) + looked
        return 0.0

    def _lost(self, lost: WorkerLost) -> WorkerLost | EngineFault:
        """End the lost worker; return an error that says how it ended or how long the judge waited.

        If the host ran out of memory or was too busy, the error is a HostFault.
        """
        worker, self._worker = self.worker, None
        self._forget_answers()
        where: list[int] = []
        if lost.outcome == "timeout" and not self._hurried:
            where = self._where(worker)
        gone = isinstance(lost, WorkerGone)
        how = self._workers.end(worker, died=gone)
        self._printed += worker.channel.output.take()
        if lost.outcome == "timeout":
            return self._late(where)
        if how is None or not gone:  # how a worker that sent malformed data ends depends on timing
            return lost
        if how.facts.get("signal") == "SIGXCPU":
            template = "more than {seconds} s of processor time"
            return WorkerLost("timeout", template, seconds=self.limits.cpu_seconds)
        if how.facts.get("signal") == "SIGKILL" and oom_kills() > self._oom_kills:
            return HostOutOfMemory(OUT_OF_MEMORY)
        return WorkerLost("crashed", f"{lost.template}: {how.template}", **lost.facts, **how.facts)

    def _late(self, where: list[int]) -> WorkerLost | EngineFault:
        """Return the error for a worker that did not answer in time, and remember which functions
        did not end: ``where`` has the lines that were running.
        """
        line = where[0] if where else None
        before = self._hung_before(where)
        for function in filter(None, map(self.source.function_at, where)):
            self._hung.setdefault(function, self._check_id)
        endless = self._endless(where)
        if self.starvation.extreme and not before and not endless:
            return self.starvation.fault(line)
        facts = {}
        if endless:
            line, names = endless
            template, seconds = ENDLESS_WHILE if names else ENDLESS, self.limits.call_seconds
            facts = {"names": ", ".join(names)} if names else {}
        elif time.monotonic() >= self._lesson_deadline:
            template, seconds = LESSON_TOO_LONG, self.limits.lesson_seconds
        else:
            template, seconds = STILL_RUNNING if where else NO_ANSWER, self.limits.call_seconds
        late = WorkerLost("timeout", template, seconds=f"{seconds:g}", **facts)
        late.line, late.waits_for = line, before
        return late

    def _endless(self, where: list[int]) -> tuple[int, tuple[str, ...]] | None:
        """Return the loop at the innermost of these lines that surely never ends, if any."""
        return names_in_endless_loop(self.source, where[0]) if where else None

    def _hung_before(self, where: list[int]) -> str | None:
        """Return the id of the check in which a function around these lines did not end."""
        functions = (self.source.function_at(line) for line in where)
        return next((self._hung[one] for one in functions if one in self._hung), None)

    def _where(self, worker: WorkerProcess) -> list[int]:
        """Return the lines of the student's file that an unresponsive worker is running, the
        innermost first.
        """
        self._printed += worker.channel.output.take()
        lines, printed = lines_where_it_is(worker, self.source.filename)
        self._printed += printed
        return [line for line in lines if self.source.line(line)]

    # Answers

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Read an answer in a block. If the block raises BrokenFrame, the worker is lost.
        MemoryError is left to the caller; any other exception is a grader fault.
        """
        try:
            yield
        except BrokenFrame as error:  # the text may be the worker's: not a template
            lost = crashed(str(error))
            raise (lost if self._worker is None else self._lost(lost)) from None
        except MemoryError:
            raise
        except Exception as error:
            reason = f"an answer could not be read: {type(error).__name__}: {error}"
            raise EngineFault(reason) from error

    def _response_with_value(
        self, frame: Frame, number: int, inputs: tuple[Tensor, ...]
    ) -> Response:
        decoder = Decoder(frame.blob, strided=False, handle=self._object)
        structure = decoder.decode(part(frame.body, "value", object))
        return self._response(frame, number, decoder, structure, inputs)

    def _object(self, described: Opaque, number: int) -> RemoteObject:
        """Return the stand-in for an object in an answer."""
        self._objects += 1
        return RemoteObject(self, self.worker, number, described)

    def _response(
        self,
        frame: Frame,
        number: int,
        decoder: Decoder,
        structure: Any,
        inputs: tuple[Tensor, ...],
    ) -> Response:
        """Return the decoded answer; note what the student's code wrote into its copies."""
        handle = GraphHandle(self.worker, number) if part(frame.body, "kept", bool) else None
        tensors, requires_grad = list(decoder.tensors), list(decoder.requires_grad)
        self._note_writes(frame, decoder, inputs)
        return Response(structure, tensors, requires_grad, handle, self)

    def _note_writes(self, frame: Frame, decoder: Decoder, inputs: tuple[Tensor, ...]) -> None:
        """Note writes into the copies of inputs: unless they are allowed, the check can't pass."""
        for pair in part(frame.body, "mutated", list):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) is not int:
                raise BrokenFrame("a malformed entry for a changed input")
            slot = decoder.decode(pair[1])
            if not isinstance(slot, TensorRef) or not 0 <= pair[0] < len(inputs):
                raise BrokenFrame("a changed input that is not a tensor of this call")
            left, tensor = decoder.tensors[slot.index], inputs[pair[0]]
            if left.shape != tensor.shape or left.dtype != tensor.dtype:
                raise BrokenFrame("an input came back in another shape")
            self._traffic.copies.note(tensor, left)
            self._traffic.wrote |= not self._traffic.writing_allowed
        decoder.finish()


def random_numbers() -> Iterator[int]:
    """Yield numbers that nobody can guess, so that no answer can come before its question."""
    while True:
        yield from struct.unpack("=256Q", secrets.token_bytes(2048))


def joined(one: bytes, other: bytes) -> bytes:
    """Return the JSON of an object that has the entries of two."""
    return b"%b,%b" % (one[:-1], other[1:])


def part(body: Any, key: str, *kinds: type) -> Any:
    """Return a part of an answer; raise BrokenFrame if it is missing or has the wrong type."""
    if not isinstance(body, dict) or key not in body:
        raise BrokenFrame(f"an answer without {key!r}")
    if not isinstance(body[key], kinds):
        raise BrokenFrame(f"an answer whose {key!r} is a {type(body[key]).__name__}")
    return body[key]


def missing_name(body: Any, name: str) -> MissingName:
    """Return a MissingName from a worker's answer, which has the names that exist."""
    present = part(body, "names", list)[:100]
    if not all(isinstance(one, str) for one in present):
        raise BrokenFrame("an answer with names that are not strings")
    return MissingName(name[:80], tuple(one[:80] for one in present))


def student_error(data: dict[str, Any]) -> StudentCodeError:
    """Return a StudentCodeError from a worker's ``raised``."""
    line = data.get("line")
    ancestors = data.get("ancestors", [])
    if not isinstance(ancestors, list) or not all(isinstance(name, str) for name in ancestors):
        raise BrokenFrame("an exception whose class names are not strings")
    return StudentCodeError(
        part(data, "type", str)[:200],
        part(data, "message", str)[:4000],
        line=line if type(line) is int and 0 < line < MAX_LINE else None,
        ancestors=tuple(name[:200] for name in ancestors[:20]),
        raised_here=data.get("raised_here") is True,
    )


def decoded(reply: Frame) -> Any:
    """Return the value in a reply, with its tensors."""
    return decode(part(reply.body, "value", object), reply.blob, strided=False)
