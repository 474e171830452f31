"""The judge's interface to a student: PyTorch in the judge, a worker on the other side.

``student.sigmoid(x)`` sends ``x`` across and returns a tensor that is differentiable here
(``proxies``). So ``torch.autograd.grad(create_graph=True)``, ``gradcheck`` and ``gradgradcheck``
run in the judge, to any order.

Nothing in an answer is trusted. Every answer is read in a block of ``reading``, which gives up a
worker whose answer is malformed.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import re
import secrets
import struct
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeVar, cast

import msgspec
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
from grader.course.endless_loops import names_in_endless_loop, running_loop
from grader.course.source import Source
from grader.course.syntax_errors import line_of_error
from grader.judge.remote.channel import Clock, crashed
from grader.judge.remote.plans import OffPlan, Plan, PlannedCheck, Question
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
from grader.judge.remote.workers import (
    WorkerProcess,
    WorkerSource,
    lines_where_it_is,
    without_stack,
)
from grader.worker.wire import messages
from grader.worker.wire.compat import keeps_graph
from grader.worker.wire.frames import BrokenFrame, Bytes, Frame, encode, framed
from grader.worker.wire.values import (
    MAY_REQUIRE_GRAD,
    Builder,
    Encoder,
    ObjectRef,
    Opaque,
    StudentRef,
    TensorAt,
    Value,
    flat_tensors,
)

LESSON_TOO_LONG = "the lesson took more than {seconds} s"
NO_ANSWER = "no answer within {seconds} s"
STILL_RUNNING = "still running after {seconds} s, on this line"
IN_LOOP = "still running after {seconds} s, in this loop"
ENDLESS = f"{IN_LOOP}: nothing in it ends it"
ENDLESS_WHILE = f"{IN_LOOP}: nothing in it changes {{names}}, so it never ends"
PATIENCE_SECONDS = 1.0
"""How long a call may take, once a function did not end, until the judge looks whether that
function hangs again, and how long until the next look.
"""
MOST_UNANSWERED = 2
"""How often the judge asks in vain during one call where the worker is: each time costs a second.
"""
MOST_PENDING = 2_500
"""How many steps on objects cross in one frame at most."""
MOST_HANDLES = 1 << 20
"""How many handles a check has numbers for."""
SECONDS_OF_UNASKED = 0.05
"""How long to wait for an answer that nobody asked for; then a new worker costs less."""
NOT_PLANNED = (messages.Load, messages.Describe)
"""Requests that depend on what was asked in earlier checks."""
Reply = TypeVar("Reply", bound=messages.Answer)
T = TypeVar("T")


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
        self.clock = Clock(
            limits.call_seconds, limits.lesson_seconds, put_off=None if hurried else self._put_off
        )
        self.limits = limits
        self.guarantees: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        self.replaced: list[str] = []
        self.returned_line: int | None = None
        """The line at which the traced function returned last, as the worker says."""
        self._workers = workers
        self._worker: WorkerProcess | None = None
        self._scenarios = scenarios
        self._unloadable: StudentCodeError | WorkerLost | None = unloadable
        self._optional_after = optional_after
        self._hurried = hurried
        self._off_the_clock = limits.call_seconds
        self._oom_kills = oom_kills()
        self._printed = self._printed_before = ""
        self._asked_where = False
        self._warned = ""
        """What the worker is to do about warnings, which Python shows once: ``keep`` those that it
        has shown so far in mind, or ``restore`` that state.
        """
        self._check_id = ""
        self._hung: dict[frozenset[int], str] = {}
        """What was running when a call did not end, by first lines, with the id of the check: the
        function whose loop it was, or else all functions.
        """
        self._loading = False
        self._unanswered = 0
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
        self._answers: dict[int, Frame] = {}
        """The answers that have been received but not asked for."""
        self._numbers = random_numbers()
        self._begin(0)

    # The worker and the module

    @property
    def limits(self) -> Limits:
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits
        self.clock.call_seconds = limits.call_seconds

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
        self.clock.extend(time.monotonic() - began)
        self.guarantees = (worker.guarantees, worker.missing)
        self.limits = worker.limits or self.limits
        self.clock.watch(worker.pid)
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
        load = messages.Load(
            source.text,
            source.filename,
            source.module,
            list(watched_words(self._scenarios)),
            self._optional_after,
        )
        self._loading = True  # it has its whole time, whatever hung before
        try:
            self.replaced = self.ask(load, messages.Loaded)[0].replaced
        except (StudentCodeError, WorkerLost) as error:
            if isinstance(error, StudentCodeError):
                error.line = line_of_error(source, error.type_name, error.line)
            self._unloadable = error
            raise
        except MissingName as error:  # not a valid answer: this request did not ask for a name
            self._unloadable = StudentCodeError(
                "AttributeError", f"module {source.module!r} has no attribute {error.name!r}"
            )
            raise self._unloadable from None
        finally:
            self._loading = False

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
        self.traffic.missing.clear()
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
        asked, self._asked_where = self._asked_where, False
        return without_stack(text) if asked else text

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
            self.clock.extend(spent)

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
        return self.traffic

    def _begin(self, number: int, *, attempt: int = 0) -> None:
        """Begin a check. Its handles have numbers of their own, the same for all submissions."""
        self.traffic = Traffic()
        """What crossed the border in this check."""
        self._number = number
        self._handle = (2 * number + attempt) * MOST_HANDLES
        self._off_plan = False
        self._forget_objects = self._forget_objects or self._objects > 0
        self._objects = 0
        self._pending: list[messages.Step] = []
        self._encoder = Encoder(strided=True)
        self._sent: list[Tensor] = []

    def _new_handle(self) -> int:
        self._handle += 1
        return self._handle

    @contextlib.contextmanager
    def writing_allowed(self) -> Iterator[Copies]:
        """Let a check pass although the student's code wrote into its copies during a block."""
        traffic = self.traffic
        allowed, traffic.writing_allowed = traffic.writing_allowed, True
        try:
            yield traffic.copies
        finally:
            traffic.writing_allowed = allowed

    def resolve(self, path: str) -> Any:
        """Return the value of a name, or a ``RemoteCallable``; raise MissingName or NotStarted."""
        self.load()
        self.flush()
        missing = self.traffic.missing
        if path in missing:
            raise missing[path].with_traceback(None)
        try:
            answer, tensors = self.ask(
                messages.Describe(path), messages.Function, messages.Returned
            )
        except MissingName as error:
            missing[path] = MissingName(path[:80], error.present)
            raise missing[path] from None
        if isinstance(answer, messages.Function):
            return RemoteCallable(self, path, is_class=answer.is_class)
        assert isinstance(answer, messages.Returned)
        value = self._built(answer, tensors)
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
        self.traffic.last_call = last_call
        question, number, inputs = self._call_question(path, args, kwargs)
        answer, tensors = self._ask(question, messages.Returned)
        response = self._response(answer, tensors, number, inputs)
        last_call.handle = response.handle
        last_call.single = isinstance(answer.value, TensorAt)
        return self._built(answer, response.attach(inputs), objects=True)

    def _call_question(
        self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Question, int, tuple[Tensor, ...]]:
        """Return the question, the number that its handle gets, and the tensors that cross."""
        encoder, number = Encoder(strided=True), self._new_handle()
        call = messages.Call(
            path,
            *self._arguments(encoder, args, kwargs),
            encoder.headers,
            torch.is_grad_enabled(),
            number,
        )
        return self._question(call, encoder.parts), number, tuple(encoder.tensors)

    def _arguments(
        self, encoder: Encoder, args: Iterable[Any], kwargs: dict[str, Any]
    ) -> tuple[list[Value], dict[str, Value]]:
        return encoder.several(args), {name: encoder.encode(one) for name, one in kwargs.items()}

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
        self.traffic.last_call = None
        encoder = Encoder(strided=True)
        args, kwargs = (as_references(one, worker) for one in (args, kwargs))
        given = self._arguments(encoder, args, kwargs)
        request = messages.Observe(scenario, *given, encoder.headers)
        return self._built(*self.ask(request, messages.Returned, parts=encoder.parts))

    def product(
        self,
        handle: GraphHandle,
        inputs: tuple[Tensor, ...],
        incoming: tuple[Tensor | None, ...],
        *,
        needs: tuple[bool, ...],
    ) -> tuple[Response, list[bool]]:
        """Return the vector-Jacobian product of an earlier call, in the judge's grad mode, and for
        which inputs there is a gradient.
        """
        worker = self._ready()
        vectors = tuple(v for v in incoming if v is not None)
        self._remember_product(handle, vectors)
        question, number = self._product_question(
            handle.number_on(worker), incoming, needs, create_graph=torch.is_grad_enabled()
        )
        answer, tensors = self._ask(question, messages.Gradients)
        response = self._response(answer, tensors, number, vectors)
        there = [one is not None for one in answer.gradients]
        with self.reading():
            if len(there) != len(inputs):
                raise BrokenFrame("the number of gradients is not the number of inputs")
            found = itertools.compress(inputs, there)
            for gradient, tensor in zip(response.tensors, found, strict=True):
                if gradient.shape != tensor.shape or gradient.dtype != tensor.dtype:
                    raise BrokenFrame("a gradient whose shape or dtype is not its input's")
        return response, there

    def _product_question(
        self,
        handle: int,
        incoming: Sequence[Tensor | None],
        needs: Sequence[bool],
        *,
        create_graph: bool,
    ) -> tuple[Question, int]:
        encoder, number = Encoder(strided=True), self._new_handle()
        slots = [None if v is None else encoder.add(v) for v in incoming]
        product = messages.Product(
            handle,
            [None if slot is None else encoder.headers[slot.index] for slot in slots],
            list(needs),
            create_graph,
            keeps_graph(),
            number,
        )
        return self._question(product, encoder.parts), number

    def _remember_product(self, handle: GraphHandle, vectors: Sequence[Tensor]) -> None:
        """Record in the last call that it, or its derivative, was differentiated."""
        last_call = self.traffic.last_call
        if last_call is not None and last_call.handle is handle and len(vectors) == 1:
            last_call.incoming = vectors[0]
        elif last_call is not None:
            last_call.deeper = True

    # Steps on objects

    def construct(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RemoteObject:
        """Make an object of a student's class, or call a function with objects, as a step."""
        self.traffic.missing.clear()
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

        def node(value: Any) -> Value:
            if type(value) is RemoteObject:  # most are, and walking through them takes longer
                return ObjectRef(value.number_on(worker))
            return self._encoder.encode(as_references(value, worker))

        self._objects += 1
        nodes = [node(arg) for arg in args]
        options = {key: node(value) for key, value in kwargs.items()} if kwargs else {}
        grad = torch.is_grad_enabled()
        self._pending.append(messages.Step(kind, self._objects, name, nodes, options, grad))
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
        self.traffic.last_call = None
        numbers = [one.number_on(worker) for one in objects]
        steps, encoder = self._pending, self._encoder
        self._pending, self._encoder = [], Encoder(strided=True)
        sent = len(self._sent)
        self._sent += encoder.tensors
        number = self._new_handle()
        run = messages.Run(steps, numbers, sent, encoder.headers, number)
        answer, tensors = self.ask(run, messages.Returned, parts=encoder.parts)
        inputs = tuple(self._sent)
        response = self._response(answer, tensors, number, inputs)
        values = self._built(answer, response.attach(inputs), objects=True)
        with self.reading():
            if type(values) is not list or len(values) != len(objects):
                raise BrokenFrame("the number of values is not the number of objects read")
        return values

    # Requests, within the limits

    def ask(
        self, request: messages.Request, *kinds: type[Reply], parts: Sequence[Bytes] = ()
    ) -> tuple[Reply, list[Tensor]]:
        """Send one request and return its answer, of one of these kinds, and the answer's tensors.

        Raise StudentCodeError or MissingName, as the worker reports it, or WorkerLost.
        """
        return self._ask(self._question(request, parts), *kinds)

    def _question(self, request: messages.Request, parts: Sequence[Bytes]) -> Question:
        self.traffic.sent.update(map(zlib.crc32, parts))
        return Question.of(request, parts)

    def _ask(self, question: Question, *kinds: type[Reply]) -> tuple[Reply, list[Tensor]]:
        self.traffic.asked += 1
        frame = self._answer(question)
        with self.reading():
            answer = frame.read(messages.ANSWER)
            tensors = flat_tensors(answer.headers, frame.blob)
            if type(answer) not in (*kinds, messages.Missing, messages.Raised):
                raise BrokenFrame(f"an answer of another kind: {type(answer).__name__}")
        if answer.returned is not None:
            self.returned_line = answer.returned
        if isinstance(answer, messages.Missing):
            raise MissingName(answer.name, tuple(answer.names))
        if isinstance(answer, messages.Raised):
            self.traffic.raised = True
            raise student_error(answer)
        return cast("Reply", answer), tensors

    def _answer(self, question: Question) -> Frame:
        """Return the answer to a question; while the check follows its plan, ask ahead."""
        if question.kind in NOT_PLANNED:
            return self._receive(*self._transmit([question]))
        if self._recorded is not None:
            self._recorded.append(question)
        if self._planned is not None:
            if not self._planned.begun:
                self._printed = self._printed_before = self.take_output()
                self._warned = "keep"
            if self._planned.ask(question):
                self._ahead += self._transmit(self._planned.due())
                return self._receive(self._ahead.popleft())
            if self._ahead and self._planned.binding:
                self._off_plan = True
                raise OffPlan
            self._drop_ahead()
        return self._receive(*self._transmit([question]))

    def _transmit(self, questions: Iterable[Question]) -> list[int]:
        """Send questions; return the numbers that their answers must have."""
        frames = {next(self._numbers): question for question in questions}
        data = b"".join([self._framed(*one) for one in frames.items()])
        if data:
            self._within_limits(self.worker.channel.send, frames, data)
        return list(frames)

    def _framed(self, number: int, question: Question) -> bytes:
        """Return a question's frame, with what the worker has to know besides."""
        worker, scenario, source = self.worker, question.scenario, None
        if scenario and scenario not in worker.scenarios:
            source = scenario_with_definitions(self._scenarios, scenario)
        freed = worker.take_freed()
        asked = messages.Asked(
            cast("messages.Request", msgspec.Raw(question.message)),
            freed,
            self._forget_objects,
            self._warned,
            self._traced,
            source,
        )
        try:
            data = framed(encode(asked), (question.blob,), number=number)
        except BrokenFrame:
            worker.freed.extend(freed)
            raise
        self._forget_objects, self._warned = False, ""
        if scenario:
            worker.scenarios.add(scenario)
        return data

    def _receive(self, number: int) -> Frame:
        """Return the answer with this number, and keep those that come before it."""
        while number not in self._answers:
            frame = self._within_limits(self.worker.channel.receive)
            self._answers[frame.number] = frame
        return self._answers.pop(number)

    def _within_limits(self, exchange: Callable[..., T], *data: Any) -> T:
        """Send or receive something; if that fails, the worker is lost."""
        self._unanswered = 0
        hurried = self._hung and not self._loading
        self.clock.patience = PATIENCE_SECONDS if hurried else math.inf
        try:
            return exchange(*data, self.clock)
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
        clock = Clock(SECONDS_OF_UNASKED)
        while self._worker is not None and self._worker.channel.awaited:
            try:
                self._worker.channel.receive(clock)
            except WorkerLost:
                self.close()
        self._forget_answers()
        self._forget_objects = True
        self._warned = "restore"
        self.plans = {}
        self.take_output()
        self._printed = self._printed_before
        self._begin(self._number, attempt=1)
        return self.traffic

    def _forget_answers(self) -> None:
        self._ahead.clear()
        self._answers.clear()
        self._planned = None

    def _put_off(self, starved: float) -> tuple[float, float]:
        """Return by how many seconds to put off a call's limit and the lesson's, one of which has
        passed: how long the host was busy, else the rest of a call's time, unless a function hangs
        again. It comes in portions, because a loop may be between two of its functions.
        """
        began = time.monotonic()
        look = (starved or self._hung) and self._unanswered < MOST_UNANSWERED
        where = self._where(self.worker) if look else []
        self._unanswered += bool(look) and not where
        looked = time.monotonic() - began  # the grader's time, not the student's
        if starved and not self._endless(where):
            return starved + looked, starved + looked
        if not starved and self._hung and not self._hung_before(where):
            rest = self.clock.take_rest(PATIENCE_SECONDS if where else math.inf)
            return (rest + looked, looked) if rest else (0.0, 0.0)
        return 0.0, 0.0

    def _lost(self, lost: WorkerLost) -> WorkerLost | EngineFault:
        """End the lost worker; return an error that says how it ended or how long the judge waited.

        If the host ran out of memory or was too busy, the error is a HostFault.
        """
        worker, self._worker = self.worker, None
        if self._ahead and lost.outcome != "timeout":  # perhaps by what the check never asks
            self._off_plan = True
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
        before = self._hung_before(where)
        loop = running_loop(self.source, where)
        hung = self._functions([loop] if loop else where)
        if hung:
            self._hung.setdefault(hung, self._check_id)
        endless = self._endless(where)
        busy = None if before or endless else self.clock.fault(where[0] if where else None)
        if busy is not None:
            return busy
        line = loop or (where[0] if where else None)
        facts = {}
        if endless:
            line, names = endless
            template, seconds = ENDLESS_WHILE if names else ENDLESS, self.limits.call_seconds
            facts = {"names": ", ".join(names)} if names else {}
        elif self.clock.lesson_is_over:
            template, seconds = LESSON_TOO_LONG, self.limits.lesson_seconds
        else:
            template = IN_LOOP if loop else STILL_RUNNING if where else NO_ANSWER
            seconds = self.limits.call_seconds
        late = WorkerLost("timeout", template, seconds=f"{seconds:g}", **facts)
        late.line, late.waits_for = line, before
        return late

    def _endless(self, where: list[int]) -> tuple[int, tuple[str, ...]] | None:
        """Return the innermost loop around these lines that surely never ends, if any."""
        found = (names_in_endless_loop(self.source, line) for line in where)
        return next(filter(None, found), None)

    def _hung_before(self, where: list[int]) -> str | None:
        """Return the id of the check in which a call did not end, if the same is running again. A
        decorator or a helper, which others use too, is not enough.
        """
        if self._loading:
            return None
        running = self._functions(where)
        return next((check for hung, check in self._hung.items() if hung <= running), None)

    def _functions(self, where: list[int]) -> frozenset[int]:
        """Return the first lines of the functions around these lines."""
        return frozenset(filter(None, map(self.source.function_at, where)))

    def _where(self, worker: WorkerProcess) -> list[int]:
        """Return the lines of the student's file that an unresponsive worker is running, the
        innermost first.
        """
        self._printed += worker.channel.output.take()
        self._asked_where = True
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

    def _built(
        self, answer: messages.Returned, tensors: Sequence[Tensor], *, objects: bool = False
    ) -> Any:
        """Return the value in an answer, with these tensors, perhaps with stand-ins for objects."""
        with self.reading():
            return Builder(tensors, handle=self._object if objects else None).build(answer.value)

    def _object(self, described: Opaque, number: int) -> RemoteObject:
        """Return the stand-in for an object in an answer."""
        self._objects += 1
        return RemoteObject(self, self.worker, number, described)

    def _response(
        self,
        answer: messages.Returned | messages.Gradients,
        tensors: list[Tensor],
        number: int,
        inputs: tuple[Tensor, ...],
    ) -> Response:
        """Return an answer's tensors; note what the student's code wrote into its copies."""
        count = len(tensors) - len(answer.written)
        with self.reading():
            for one, left in zip(answer.written, tensors[count:], strict=True):
                self._note_write(one.position, left, inputs)
        requires_grad = [
            one.requires_grad and one.dtype in MAY_REQUIRE_GRAD for one in answer.headers[:count]
        ]
        handle = GraphHandle(self.worker, number) if answer.kept else None
        return Response(tensors[:count], requires_grad, handle, self)

    def _note_write(self, position: int, left: Tensor, inputs: tuple[Tensor, ...]) -> None:
        """Note a write into the copy of an input: unless it is allowed, the check can't pass."""
        if position >= len(inputs):
            raise BrokenFrame("a changed input that is not a tensor of this call")
        tensor = inputs[position]
        if left.shape != tensor.shape or left.dtype != tensor.dtype:
            raise BrokenFrame("an input came back in another shape")
        self.traffic.copies.note(tensor, left)
        self.traffic.wrote |= not self.traffic.writing_allowed


def random_numbers() -> Iterator[int]:
    """Yield numbers that nobody can guess, so that no answer can come before its question."""
    while True:
        yield from struct.unpack("=256Q", secrets.token_bytes(2048))


WHERE_INSTALLED = re.compile(r" \((?:/|[A-Z]:\\)[^()]*\)$")
"""The path on the grading machine with which the message of an ImportError ends."""


def student_error(raised: messages.Raised) -> StudentCodeError:
    message = raised.message
    if "ImportError" in (raised.type_name, *raised.ancestors):
        message = WHERE_INSTALLED.sub("", message)
    return StudentCodeError(
        raised.type_name,
        message,
        line=raised.line,
        ancestors=tuple(raised.ancestors),
        raised_here=raised.raised_here,
    )
