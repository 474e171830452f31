"""A worker's functions and tensors as the judge has them.

A ``RemoteCallable`` stands for a student's function. The tensors it returns have a node
(``_Remote``) that asks the worker for a vector-Jacobian product, whose tensors have such a node
again: so derivatives of every order work.
"""

from __future__ import annotations

import contextlib
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import torch
from torch import Tensor

from grader.core.errors import WorkerLost
from grader.course.analysis.source import Source
from grader.judge.remote.worker_sources import WorkerProcess
from grader.worker.wire.batching import Request
from grader.worker.wire.placeholders import StudentRef


class SessionProtocol(Protocol):
    """What these stand-ins ask of a session."""

    source: Source

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def resolve(self, path: str) -> Any: ...

    def observe(self, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def product(
        self,
        handle: GraphHandle,
        inputs: tuple[Tensor, ...],
        incoming: tuple[Tensor | None, ...],
        *,
        needs: tuple[bool, ...],
    ) -> Response: ...

    def writing_allowed(self) -> contextlib.AbstractContextManager[None]: ...

    def foreseeing(
        self, questions: Sequence[Request]
    ) -> contextlib.AbstractContextManager[None]: ...


@dataclass(slots=True)
class LastCall:
    """A function's last call; ``incoming``: the gradient asked about, ``deeper``: one of that."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    grad: bool
    handle: object = None
    single: bool = True
    incoming: Tensor | None = None
    deeper: bool = False


class GraphHandle:
    """The judge's reference to a call that the worker keeps; freed with its last node."""

    def __init__(self, line: Connection, number: int) -> None:
        self._line = line
        self._number = number

    def number_on(self, line: Connection) -> int:
        """The handle's number; raises WorkerLost where the worker that kept it was replaced."""
        if line is not self._line:
            raise WorkerLost("crashed", "the worker that held this graph is gone")
        return self._number

    def __del__(self) -> None:
        self._line.freed.append(self._number)


@dataclass(slots=True)
class Connection:
    """One living worker with the module loaded."""

    worker: WorkerProcess
    freed: deque[int] = field(default_factory=deque)
    """The handles that nothing here holds any more; ``__del__`` adds to it at any moment."""

    def take_freed(self) -> list[int]:
        """Return the freed handles, each once, also while others are added."""
        taken = []
        with contextlib.suppress(IndexError):
            while True:
                taken.append(self.freed.popleft())
        return taken


@dataclass(slots=True)
class Response:
    """A decoded answer: the structure with slots, its tensors, the handle for products."""

    structure: Any
    tensors: list[Tensor]
    wanted: list[bool]
    handle: GraphHandle | None
    session: SessionProtocol

    def attach(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the tensors, attached to ``inputs`` by a node if differentiable."""
        if self.handle is None or not self.tensors:
            return tuple(self.tensors)
        return cast("tuple[Tensor, ...]", _Remote.apply(self, *inputs))  # type: ignore[no-untyped-call]


class _Remote(torch.autograd.Function):
    """The node of a remote call, and of the products of one."""

    @staticmethod
    def forward(ctx: Any, reply: Response, *inputs: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        # The handle, and not the reply: its tensors become this node's outputs, and a node that
        # held them would never die.
        ctx.handle, ctx.session, ctx.inputs = reply.handle, reply.session, inputs
        ctx.mark_non_differentiable(
            *(t for t, wants in zip(reply.tensors, reply.wanted, strict=True) if not wants)
        )
        return tuple(reply.tensors)

    @staticmethod
    def backward(ctx: Any, *incoming: Tensor | None) -> tuple[Tensor | None, ...]:
        product = ctx.session.product(
            ctx.handle, ctx.inputs, incoming, needs=ctx.needs_input_grad[1:]
        )
        vectors = tuple(v for v in incoming if v is not None)
        found: Iterator[Tensor] = iter(product.attach((*ctx.inputs, *vectors)))
        return (None, *(None if slot is None else next(found) for slot in product.structure))


class RemoteCallable(StudentRef):
    """A function or class of the student's, or something that hangs on one (``Sigmoid.apply``)."""

    def __init__(self, session: SessionProtocol, path: str) -> None:
        super().__init__(path)
        self._session = session
        self._known: dict[str, RemoteCallable] = {}

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._session.call(self.path, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._known:
            return self._known[name]
        found = self._session.resolve(f"{self.path}.{name}")
        if isinstance(found, RemoteCallable):
            self._known[name] = found
        return found

    def foreseeing(self, questions: Sequence[Request]) -> contextlib.AbstractContextManager[None]:
        return self._session.foreseeing(questions)

    @property
    def __name__(self) -> str:
        return self.path


class RemoteStudent:
    """A student as a check sees it."""

    def __init__(self, session: SessionProtocol) -> None:
        self._session = session
        self._known: dict[str, RemoteCallable] = {}
        self.source = session.source

    def observe(self, scenario: str, *args: Any, **kwargs: Any) -> Any:
        return self._session.observe(scenario, args, kwargs)

    def writing_allowed(self) -> contextlib.AbstractContextManager[None]:
        return self._session.writing_allowed()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._known:
            return self._known[name]
        found = self._session.resolve(name)
        if isinstance(found, RemoteCallable):
            self._known[name] = found
        return found
