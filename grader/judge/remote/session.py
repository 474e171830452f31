"""The judge's handle on a student: PyTorch on this side, a worker on the other.

``student.sigmoid(x)`` sends ``x`` across and returns a tensor that is differentiable here
(``proxies``). So ``torch.autograd.grad(create_graph=True)``, ``gradcheck`` and ``gradgradcheck``
run in the judge, to any order.

To behave as a local call would, the worker needs the grad mode, which inputs require grad, their
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
from grader.course.analysis.source import Source
from grader.judge.remote.proxies import GraphHandle, LastCall, RemoteCallable, Response, Traffic
from grader.judge.remote.replies import missing_name, part
from grader.judge.remote.rpc import RpcClient
from grader.worker.wire.compat import keeps_graph
from grader.worker.wire.frames import BrokenFrame, Frame
from grader.worker.wire.placeholders import TensorRef
from grader.worker.wire.values import Decoder, Encoder, encode_tensors, fill


class Student(Protocol):
    """What a check sees of a student, remote or local, beside the names of the file."""

    source: Source

    def observe(self, scenario: str, *args: Any, **kwargs: Any) -> Any:
        """Run a scenario beside the student's module, on copies; return what it measured."""

    def writing_allowed(self) -> contextlib.AbstractContextManager[None]:
        """Return a block in which the student's code may write into what it is handed."""

    def __getattr__(self, name: str) -> Any: ...


class NotStarted(Exception):
    """A constant that is still ``...``."""


class StudentSession(RpcClient):
    """One lesson's conversation with a worker: what is called and read of the student's module."""

    def begin_check(self) -> Traffic:
        """Return the record of what crosses the border from now on, until the next check begins."""
        self._traffic = Traffic()
        return self._traffic

    @contextlib.contextmanager
    def writing_allowed(self) -> Iterator[None]:
        """Let the student's code write into its inputs: copies that nothing else uses."""
        traffic = self._traffic
        allowed, traffic.writing_allowed = traffic.writing_allowed, True
        try:
            yield
        finally:
            traffic.writing_allowed = allowed

    def resolve(self, path: str) -> Any:
        """Return the value of a name, or a ``RemoteCallable``; raise MissingName or NotStarted."""
        self.load()
        missing = self._traffic.missing
        if path in missing:
            raise missing[path].with_traceback(None)
        reply = self.ask("describe", path=path)

        def parse() -> Any:
            kind = part(reply.body, "kind", str)
            if kind == "missing":
                return missing_name({**reply.body, "path": path}, "path")
            if kind == "callable":
                return RemoteCallable(self, path)
            return self._decoded(reply)

        value = self.checked(parse)
        if isinstance(value, MissingName):
            missing[path] = value
            raise value
        if value is Ellipsis:
            raise NotStarted(path)
        return value

    def observe(self, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        self.load()
        self._traffic.last_call = None
        self._traffic.missing.clear()
        encoder = Encoder(strided=True)
        data = [encoder.encode(args), encoder.encode(kwargs)]
        reply = self.ask("observe", path=scenario, args=data, blob=encoder.blob)
        return self.checked(lambda: self._decoded(reply))

    @staticmethod
    def _decoded(reply: Frame) -> Any:
        decoder = Decoder(reply.blob, strided=False)
        structure = decoder.decode(part(reply.body, "value", object))
        decoder.finish()
        return fill(structure, decoder.tensors)

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call a student's function; its result is differentiable with respect to the arguments."""
        self.load()
        last_call = LastCall(path, args, kwargs, torch.is_grad_enabled())
        self._traffic.last_call = last_call
        self._traffic.missing.clear()
        encoder = Encoder(strided=True)
        data = [encoder.encode(args), encoder.encode(kwargs)]
        frame = self.ask(
            "call", path=path, args=data, grad=torch.is_grad_enabled(), blob=encoder.blob
        )
        inputs = tuple(encoder.tensors)

        def parse() -> Response:
            decoder = Decoder(frame.blob, strided=False)
            structure = decoder.decode(part(frame.body, "value", object))
            return self._response(frame, decoder, structure, inputs)

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
        """Return the vector-Jacobian product of an earlier call, in the judge's grad mode. The
        structure has None where there is no gradient.
        """
        self.load()
        line = self._line
        assert line is not None
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
                raise BrokenFrame("as many gradients as there are inputs were asked for")
            for slot, tensor in zip(slots, inputs, strict=True):
                if slot is None:
                    continue
                if not isinstance(slot, TensorRef):
                    raise BrokenFrame("a gradient that is no tensor")
                gradient = decoder.tensors[slot.index]
                if gradient.shape != tensor.shape or gradient.dtype != tensor.dtype:
                    raise BrokenFrame("a gradient whose shape or dtype is not its input's")
            return self._response(frame, decoder, slots, tuple(vectors))

        response: Response = self.checked(parse)
        return response

    def _remember_product(self, handle: GraphHandle, vectors: list[Tensor]) -> None:
        """Note that the last call was differentiated, and with what, or that its derivative was."""
        last_call = self._traffic.last_call
        if last_call is not None and last_call.handle is handle and len(vectors) == 1:
            last_call.incoming = vectors[0]
        elif last_call is not None:
            last_call.deeper = True

    def _response(
        self, frame: Frame, decoder: Decoder, structure: Any, inputs: tuple[Tensor, ...]
    ) -> Response:
        """Return the decoded answer; write back what the student's code wrote into ``inputs``."""
        number = part(frame.body, "handle", int, type(None))
        handle = None
        if number is not None and self._line is not None:
            handle = GraphHandle(self._line, number)
        tensors, wanted = list(decoder.tensors), list(decoder.wanted)
        self._write_back(frame, decoder, inputs)
        return Response(structure, tensors, wanted, handle, self)

    def _write_back(self, frame: Frame, decoder: Decoder, inputs: tuple[Tensor, ...]) -> None:
        """Write what the student's code wrote into its inputs into the judge's, as it would be
        locally.

        The check may compute the truth from them afterwards, so it is noted and can't pass.
        """
        for pair in part(frame.body, "mutated", list):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) is not int:
                raise BrokenFrame("a changed input that is not one")
            slot = decoder.decode(pair[1])
            if not isinstance(slot, TensorRef) or not 0 <= pair[0] < len(inputs):
                raise BrokenFrame("a changed input that is not one")
            tensor, target = decoder.tensors[slot.index], inputs[pair[0]]
            if tensor.shape != target.shape or tensor.dtype != target.dtype:
                raise BrokenFrame("an input came back in another shape")
            write_into(target, tensor)
            self._traffic.wrote |= not self._traffic.writing_allowed
        decoder.finish()


def write_into(target: Tensor, tensor: Tensor) -> None:
    """Copy a tensor into one of its shape; where that is expanded, into one copy, since the others
    share its memory.

    Raise BrokenFrame if torch forbids writing, which the student's code could not do either.
    """
    with torch.no_grad():
        for dim, step in enumerate(target.stride()):
            if step == 0 and target.shape[dim] > 1:
                target, tensor = target.narrow(dim, 0, 1), tensor.narrow(dim, 0, 1)
        try:
            target.copy_(tensor)
        except RuntimeError:
            raise BrokenFrame("an input came back changed that can't be written to") from None
