"""The judge's stand-ins for a worker's functions and tensors.

A ``RemoteCallable`` stands for a function of the student's. It returns ordinary tensors whose node
(``_Remote``) asks the worker for a vector-Jacobian product in backward. That product is again a
tensor with such a node, so derivatives of every order work.

Use objects in the worker from a check.

``a = student.Value(2.0)`` is a ``RemoteObject``. ``a * b``, ``a.grad`` and ``a.backward()`` are
steps for the worker: each returns a ``RemoteObject`` at once, and all pending steps cross the
border in one frame when a value is read with ``fetch``. An exception of the student's code is
raised then.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import torch
from torch import Tensor
from torch.overrides import resolve_name

from grader.core.errors import MissingName
from grader.course.source import Source
from grader.judge.remote.workers import Connection
from grader.worker.wire.batching import Request
from grader.worker.wire.values import ObjectRef, Opaque, StudentRef


class SessionProtocol(Protocol):
    """What these stand-ins need from a session;
    ``session.StudentSession`` documents each method.
    """

    source: Source

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def construct(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any: ...

    def put(self, tensor: Tensor) -> Any: ...

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

    def writing_allowed(self) -> contextlib.AbstractContextManager[Copies]: ...

    def prefetching(
        self, requests: Sequence[Request], *, patience: int | None = None
    ) -> contextlib.AbstractContextManager[None]: ...


@dataclass(slots=True)
class LastCall:
    """The last call of a student's function.

    ``grad`` says whether grad mode was on, ``handle`` is the graph, and ``single`` says whether the
    result is one tensor. ``incoming`` is the vector of the last vector-Jacobian product, if one was
    computed; ``deeper`` says that this product was differentiated too.
    """

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    grad: bool
    handle: object = None
    single: bool = True
    incoming: Tensor | None = None
    deeper: bool = False


class Copies:
    """The copies of a check's tensors that the student's code got, as it left them.

    The judge's own tensors never change, so a truth that is computed from them stays true.
    """

    def __init__(self) -> None:
        self._written: list[tuple[Tensor, Tensor]] = []

    def note(self, tensor: Tensor, left: Tensor) -> None:
        """Remember what a student's copy of a tensor holds after the student's code wrote there."""
        tensor = tensor.detach()  # so that no graph is kept
        self._written = [pair for pair in self._written if not is_same_memory(pair[0], tensor)]
        self._written.append((tensor, left))

    def of(self, tensor: Tensor) -> Tensor:
        """Return the student's copy of a tensor that was passed to a function, or to backward as an
        incoming gradient; the tensor itself, if nothing was written there.
        """
        found = [left for one, left in self._written if is_same_memory(one, tensor)]
        return found[0] if found else tensor.detach()


def is_same_memory(one: Tensor, other: Tensor) -> bool:
    """Return whether two tensors are views of the same elements, in the same order."""
    return (one.data_ptr(), one.shape, one.stride(), one.dtype) == (
        other.data_ptr(),
        other.shape,
        other.stride(),
        other.dtype,
    )


@dataclass(slots=True)
class Traffic:
    """What crossed the border during one check."""

    last_call: LastCall | None = None
    wrote: bool = False
    """Whether the student's code wrote into its arguments, outside of ``writing_allowed``."""
    writing_allowed: bool = False
    copies: Copies = field(default_factory=Copies)
    raised: bool = False
    """Whether a request ended with an exception of the student's code."""
    missing: dict[str, MissingName] = field(default_factory=dict)
    """Names that the module did not have at the last request. Calls may define more."""


class GraphHandle:
    """A call's graph, which the worker keeps as long as a node uses it."""

    def __init__(self, line: Connection, number: int) -> None:
        self._line = line
        self._number = number

    def number_on(self, line: Connection) -> int:
        """Return the handle's number; raise WorkerLost if the worker that kept it was replaced."""
        self._line.require_same(line)
        return self._number

    def __del__(self) -> None:
        self._line.freed.append(self._number)


@dataclass(slots=True)
class Response:
    """A decoded answer: the structure with slots, its tensors, which of them require grad
    (``requires_grad``), and the handle for products.
    """

    structure: Any
    tensors: list[Tensor]
    requires_grad: list[bool]
    handle: GraphHandle | None
    session: SessionProtocol

    def attach(self, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        """Return the tensors; the differentiable ones get a node that leads to ``inputs``."""
        if self.handle is None or not self.tensors:
            return tuple(self.tensors)
        return cast("tuple[Tensor, ...]", _Remote.apply(self, *inputs))  # type: ignore[no-untyped-call]


class _Remote(torch.autograd.Function):
    """The node of a remote call, and of the products of one."""

    @staticmethod
    def forward(ctx: Any, response: Response, *inputs: Tensor) -> tuple[Tensor, ...]:
        ctx.set_materialize_grads(False)
        # Keep the handle, not the response: its tensors become this node's outputs, and a node that
        # referred to them would never be freed.
        ctx.handle, ctx.session, ctx.inputs = response.handle, response.session, inputs
        ctx.mark_non_differentiable(
            *(
                t
                for t, requires in zip(response.tensors, response.requires_grad, strict=True)
                if not requires
            )
        )
        return tuple(response.tensors)

    @staticmethod
    def backward(ctx: Any, *incoming: Tensor | None) -> tuple[Tensor | None, ...]:
        product = ctx.session.product(
            ctx.handle, ctx.inputs, incoming, needs=ctx.needs_input_grad[1:]
        )
        vectors = tuple(v for v in incoming if v is not None)
        gradients: Iterator[Tensor] = iter(product.attach((*ctx.inputs, *vectors)))
        return (None, *(None if slot is None else next(gradients) for slot in product.structure))


class _Names:
    """The student's names as attributes, each looked up in the worker when it is first used."""

    def __init__(self, session: SessionProtocol, prefix: str = "") -> None:
        self._session = session
        self._prefix = prefix
        self._known: dict[str, RemoteCallable] = {}

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._known:
            return self._known[name]
        value = self._session.resolve(self._prefix + name)
        if isinstance(value, RemoteCallable):
            self._known[name] = value
        return value


class RemoteCallable(_Names, StudentRef):
    """A function or class of the student, or an attribute of one (``Sigmoid.apply``)."""

    def __init__(self, session: SessionProtocol, path: str, *, is_class: bool = False) -> None:
        StudentRef.__init__(self, path)
        _Names.__init__(self, session, f"{path}.")
        self.is_class = is_class

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call a function, or make an object of a class without waiting for it."""
        session = self._session
        return (session.construct if self.is_class else session.call)(self.path, args, kwargs)

    def prefetching(
        self, requests: Sequence[Request], *, patience: int | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Prefetch the answers to requests for a block; see ``RpcClient.prefetching``."""
        return self._session.prefetching(requests, patience=patience)

    @property
    def __name__(self) -> str:
        return self.path


class RemoteStudent(_Names):
    """A student as a check sees it."""

    def __init__(self, session: SessionProtocol) -> None:
        super().__init__(session)
        self.source = session.source

    def observe(self, scenario: str, *args: Any, **kwargs: Any) -> Any:
        """Run a scenario beside the student's module and return what it measured."""
        return self._session.observe(scenario, args, kwargs)

    def put(self, tensor: Tensor) -> Any:
        """Return a copy of a tensor in the worker, as a remote object."""
        return self._session.put(tensor)

    def writing_allowed(self) -> contextlib.AbstractContextManager[Copies]:
        """Allow the student's code, during a block, to write into its arguments. They are copies,
        which the block gets: ``with student.writing_allowed() as copies: … copies.of(x)``.
        """
        return self._session.writing_allowed()


OPERATORS = ("add", "sub", "mul", "truediv", "pow", "matmul")
UNARY = ("neg", "pos", "abs")
UNKNOWN = Opaque("object")


class Steps(Protocol):
    """What a remote object needs from a session."""

    def step(
        self, kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> RemoteObject:
        """Add a step to the pending ones; return its result, which does not exist yet."""

    def read(self, objects: list[RemoteObject]) -> list[Any]:
        """Send the pending steps and return the values of objects. A value that can't cross stays
        an object, whose type is then known.
        """


class RemoteObject(Opaque):
    """An object in the worker: one of the student's, or a step's result that has not been read.

    ``type_name`` is "object" until the value has been fetched. Before that, the object can't be
    compared or used as a condition.
    """

    _steps: Steps
    _line: Connection
    _number: int
    _fetched: bool

    def __init__(
        self, steps: Steps, line: Connection, number: int, described: Opaque | None = None
    ) -> None:
        known = UNKNOWN if described is None else described
        self.__dict__.update(
            type_name=known.type_name,
            text=known.text,
            _steps=steps,
            _line=line,
            _number=number,
            _fetched=described is not None,
        )

    def number_on(self, line: Connection) -> int:
        """Return the object's number; raise WorkerLost if the worker that kept it was replaced."""
        self._line.require_same(line)
        return self._number

    def __getattr__(self, name: str) -> RemoteObject:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._steps.step("get", name, (self,))

    def __setattr__(self, name: str, value: object) -> None:
        self._steps.step("set", name, (self, value))

    def __call__(self, *args: Any, **kwargs: Any) -> RemoteObject:
        return self._steps.step("call", "", (self, *args), kwargs)

    def call_beside(self, function: Any, args: tuple[Any, ...]) -> RemoteObject:
        """Call a program in the worker that has this object (``Program.__call__``)."""
        return self._steps.step("call", "", (function, *args))

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> RemoteObject:
        """Call a function of torch on objects, as a step in the worker."""
        steps = next(iter(objects_in((args, kwargs))))._steps
        return steps.step("torch", resolve_name(func), args, kwargs)

    def __getitem__(self, key: Any) -> RemoteObject:
        return self._steps.step("op", "getitem", (self, key))

    def __eq__(self, other: object) -> bool:
        self._require_known("compared")
        return self is other

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        self._require_known("used as a condition")
        return True

    def _require_known(self, use: str) -> None:
        if not self._fetched:
            raise TypeError(f"fetch a remote object before it is {use}")


def _operator(name: str, *, reflected: bool = False) -> Any:
    def method(self: RemoteObject, other: object) -> RemoteObject:
        args = (other, self) if reflected else (self, other)
        return self._steps.step("op", name, args)

    return method


for _name in OPERATORS:
    setattr(RemoteObject, f"__{_name}__", _operator(_name))
    setattr(RemoteObject, f"__r{_name}__", _operator(_name, reflected=True))
for _name in UNARY:
    setattr(
        RemoteObject, f"__{_name}__", lambda self, name=_name: self._steps.step("op", name, (self,))
    )


def fetch(*values: Any) -> Any:
    """Return the values of remote objects: plain data, tensors, or placeholders for objects.

    Lists, tuples and dictionaries are returned with their objects fetched, and other values as they
    are, so that a check reads the same with the reference. All objects that belong to one student
    cross in one frame. One argument gives one value, several a tuple.
    """
    remote = list(objects_in(values))
    found = dict(zip(map(id, remote), remote[0]._steps.read(remote), strict=True)) if remote else {}
    fetched = replaced(values, lambda one: found[id(one)])
    return fetched[0] if len(values) == 1 else fetched


def replaced(value: Any, by: Callable[[RemoteObject], Any]) -> Any:
    """Return arguments with each remote object replaced by what ``by`` returns for it."""
    if isinstance(value, RemoteObject):
        return by(value)
    if type(value) in (list, tuple):
        return type(value)(replaced(item, by) for item in value)
    if type(value) is dict:
        return {key: replaced(item, by) for key, item in value.items()}
    return value


def is_same(one: Any, other: Any) -> Any:
    """Return whether two objects are identical: a bool, or a remote object to be fetched."""
    steps = next((value._steps for value in objects_in([one, other])), None)
    return one is other if steps is None else steps.step("op", "is_", (one, other))


def as_references(value: Any, line: Connection) -> Any:
    """Return arguments with each remote object replaced by its number.

    Raise WorkerLost if the worker that kept one was replaced.
    """
    return replaced(value, lambda one: ObjectRef(one.number_on(line)))


def has_objects(value: Any) -> bool:
    """Return whether arguments contain a remote object."""
    return any(True for _ in objects_in(value))


def objects_in(value: Any) -> Iterator[RemoteObject]:
    """Yield the remote objects in arguments or results."""
    if type(value) is RemoteObject:
        yield value
    elif type(value) in (list, tuple):
        for item in value:
            yield from objects_in(item)
    elif type(value) is dict:
        yield from objects_in(list(value.values()))
