"""The judge's interface to a student: PyTorch in the judge, a worker on the other side.

``student.sigmoid(x)`` sends ``x`` across and returns a tensor that is differentiable here
(``proxies``). So ``torch.autograd.grad(create_graph=True)``, ``gradcheck`` and ``gradgradcheck``
run in the judge, to any order.

To behave like a local call, the worker needs the grad mode, which inputs require grad, their
strides, the incoming gradients, and whether the graph is kept (``retain_graph``). It answers with
values, which outputs require grad, and which inputs it wrote to. A gradient of None stays None.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, Protocol

import torch
from torch import Tensor

from grader.core.errors import MissingName
from grader.course.source import Source
from grader.judge.remote.connection import Connection
from grader.judge.remote.object_session import ObjectSession
from grader.judge.remote.objects import as_references, has_objects
from grader.judge.remote.proxies import (
    Copies,
    GraphHandle,
    LastCall,
    RemoteCallable,
    RemoteStudent,
    Response,
    Traffic,
)
from grader.judge.remote.replies import missing_name, part
from grader.judge.scenario_source import scenario_with_definitions
from grader.worker.wire.compat import keeps_graph
from grader.worker.wire.frames import BrokenFrame
from grader.worker.wire.values import Decoder, Encoder, TensorRef, encode_tensors, fill


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


class StudentSession(ObjectSession):
    """One lesson's session with a worker: calls and reads of the student's module."""

    def student(self) -> RemoteStudent:
        """Return the student, as a check sees it."""
        return RemoteStudent(self)

    def begin_check(self) -> Traffic:
        """Forget the last check's objects. Return the record of what crosses the border until the
        next check begins.
        """
        self._traffic = Traffic()
        self._forget_objects = self._forget_objects or self._objects > 0
        self._new_objects()
        return self._traffic

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

        def parse() -> Any:
            kind = part(reply.body, "kind", str)
            if kind == "missing":
                return missing_name({**reply.body, "path": path}, "path")
            if kind in ("callable", "class"):
                return RemoteCallable(self, path, is_class=kind == "class")
            return self._decoded(reply)

        value = self.checked(parse)
        if isinstance(value, MissingName):
            missing[path] = value
            raise value
        if value is Ellipsis:
            raise NotStarted(path)
        return value

    def observe(self, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a scenario in the worker; send its source when it is first used."""
        line = self._ready()
        self._traffic.last_call = None
        encoder = Encoder(strided=True)
        data = [encoder.encode(as_references(part, line)) for part in (args, kwargs)]
        fields: dict[str, Any] = {"path": scenario, "args": data}
        if scenario not in line.scenarios:
            fields["source"] = scenario_with_definitions(self._scenarios, scenario)
        reply = self.ask("observe", blob=encoder.blob, **fields)
        line.scenarios.add(scenario)
        return self.checked(lambda: self._decoded(reply))

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a student's function; its result is differentiable with respect to the arguments.

        If one of them is a remote object, the call is a step and its result is a remote object too.
        """
        if has_objects(args) or has_objects(kwargs):
            return self.construct(path, args, kwargs)
        self._ready()
        last_call = LastCall(path, args, kwargs, torch.is_grad_enabled())
        self._traffic.last_call = last_call
        encoder = Encoder(strided=True)
        data = [encoder.encode(args), encoder.encode(kwargs)]
        frame = self.ask(
            "call", path=path, args=data, grad=torch.is_grad_enabled(), blob=encoder.blob
        )
        inputs = tuple(encoder.tensors)

        def parse() -> Response:
            return self._response_with_value(frame, inputs)

        response: Response = self.checked(parse)
        last_call.handle = response.handle
        last_call.single = isinstance(response.structure, TensorRef)
        return fill(response.structure, response.attach(inputs))

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
        line = self._ready()
        vectors = [v for v in incoming if v is not None]
        self._remember_product(handle, vectors)
        metas, blob = encode_tensors(vectors, strided=True)
        remaining = iter(metas)
        frame = self.ask(
            "vjp",
            handle=handle.number_on(line),
            grads=[None if v is None else next(remaining) for v in incoming],
            needs=list(needs),
            create_graph=torch.is_grad_enabled(),
            retain_graph=keeps_graph(),
            blob=blob,
        )

        def parse() -> Response:
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
            return self._response(frame, decoder, slots, tuple(vectors))

        response: Response = self.checked(parse)
        return response

    def _ready(self) -> Connection:
        """Send the pending steps and return the connection to a worker with the module."""
        self.load()
        self.flush()
        self._traffic.missing.clear()
        assert self._line is not None
        return self._line

    def _remember_product(self, handle: GraphHandle, vectors: list[Tensor]) -> None:
        """Record in the last call that it was differentiated, and with which vector, or that its
        derivative was.
        """
        last_call = self._traffic.last_call
        if last_call is not None and last_call.handle is handle and len(vectors) == 1:
            last_call.incoming = vectors[0]
        elif last_call is not None:
            last_call.deeper = True
