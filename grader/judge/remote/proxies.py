"""The judge's stand-ins for a worker's functions, tensors and objects.

A ``RemoteCallable`` stands for a function of the student's. It returns ordinary tensors whose node
(``_Remote``) asks the worker for a vector-Jacobian product in backward. That product is again a
tensor with such a node, so derivatives of every order work.

``a = student.Value(2.0)`` is a ``RemoteObject``. ``a * b``, ``a.grad`` and ``a.backward()`` are
steps for the worker: each returns a ``RemoteObject`` at once, and all pending steps cross the
border in one frame when a value is read with ``fetch``. An exception of the student's code is
raised then.

``session.StudentSession`` sends the requests of all of them.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, cast

import torch
from torch import Tensor
from torch.overrides import resolve_name

from grader.core.errors import MissingName
from grader.judge.remote.workers import WorkerProcess
from grader.worker.wire.program import Program, define_operators, run_apart, run_chain, run_within
from grader.worker.wire.values import ObjectRef, Opaque, StudentRef, leaves, walk

if TYPE_CHECKING:
    from grader.judge.remote.session import StudentSession


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
    left, right = ((t.data_ptr(), t.shape, t.stride(), t.dtype) for t in (one, other))
    return left == right


@dataclass(slots=True)
class Traffic:
    """What crossed the border during one check."""

    last_call: LastCall | None = None
    wrote: bool = False
    """Whether the student's code wrote into its arguments, outside of ``writing_allowed``."""
    writing_allowed: bool = False
    copies: Copies = field(default_factory=Copies)
    asked: int = 0
    """How many questions the check asked."""
    sent: set[int] = field(default_factory=set)
    """Checksums of the tensors in them."""
    raised: bool = False
    """Whether a request ended with an exception of the student's code."""
    missing: dict[str, MissingName] = field(default_factory=dict)
    """Names that the module did not have at the last request. Calls may define more."""


class GraphHandle:
    """A call's graph, which the worker keeps as long as a node uses it."""

    def __init__(self, worker: WorkerProcess, number: int) -> None:
        self._worker = worker
        self._number = number

    def number_on(self, worker: WorkerProcess) -> int:
        """Return the handle's number; raise WorkerLost if the worker that kept it was replaced."""
        self._worker.require_same(worker)
        return self._number

    def __del__(self) -> None:
        self._worker.freed.append(self._number)


@dataclass(slots=True)
class Response:
    """An answer's tensors, which require grad, and a handle for products."""

    tensors: list[Tensor]
    requires_grad: list[bool]
    handle: GraphHandle | None
    session: StudentSession

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
        flags = zip(response.tensors, response.requires_grad, strict=True)
        ctx.mark_non_differentiable(*(tensor for tensor, requires in flags if not requires))
        return tuple(response.tensors)

    @staticmethod
    def backward(ctx: Any, *incoming: Tensor | None) -> tuple[Tensor | None, ...]:
        product, there = ctx.session.product(
            ctx.handle, ctx.inputs, incoming, needs=ctx.needs_input_grad[1:]
        )
        vectors = tuple(v for v in incoming if v is not None)
        gradients: Iterator[Tensor] = iter(product.attach((*ctx.inputs, *vectors)))
        return (None, *(next(gradients) if one else None for one in there))


class _Names:
    """The student's names as attributes, each looked up in the worker when it is first used."""

    def __init__(self, session: StudentSession, prefix: str = "") -> None:
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

    def __init__(self, session: StudentSession, path: str, *, is_class: bool = False) -> None:
        StudentRef.__init__(self, path)
        _Names.__init__(self, session, f"{path}.")
        self.is_class = is_class

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call a function, or make an object of a class without waiting for it."""
        session = self._session
        return (session.construct if self.is_class else session.call)(self.path, args, kwargs)

    def ask_ahead(
        self, calls: Sequence[tuple[Any, ...]], v: Tensor | None = None
    ) -> contextlib.AbstractContextManager[None]:
        """Send calls ahead for a block; see ``StudentSession.ask_ahead``."""
        return self._session.ask_ahead(self.path, calls, v)

    @property
    def __name__(self) -> str:
        return self.path


class RemoteStudent(_Names):
    """A student as a check sees it."""

    def __init__(self, session: StudentSession) -> None:
        super().__init__(session)
        self.source = session.source

    @property
    def asked(self) -> int:
        """How many questions this check has asked so far."""
        return self._session.traffic.asked

    @property
    def sent(self) -> set[int]:
        """Checksums of the tensors that this check has sent so far."""
        return self._session.traffic.sent

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


UNKNOWN = Opaque("object")


class RemoteObject(Opaque):
    """An object in the worker: one of the student's, or a step's result that has not been read.

    ``type_name`` is "object" until the value has been fetched. Before that, the object can't be
    compared or used as a condition.
    """

    _session: StudentSession
    _worker: WorkerProcess
    _number: int
    _fetched: bool

    def __init__(
        self,
        session: StudentSession,
        worker: WorkerProcess,
        number: int,
        described: Opaque = UNKNOWN,
    ) -> None:
        self.__dict__.update(
            type_name=described.type_name,
            text=described.text,
            _session=session,
            _worker=worker,
            _number=number,
            _fetched=described is not UNKNOWN,
        )

    def number_on(self, worker: WorkerProcess) -> int:
        """Return the object's number; raise WorkerLost if the worker that kept it was replaced."""
        self._worker.require_same(worker)
        return self._number

    def __getattr__(self, name: str) -> RemoteObject:
        if name.startswith("__"):
            raise AttributeError(name)
        return self._session.step("get", name, (self,))

    def __setattr__(self, name: str, value: object) -> None:
        self._session.step("set", name, (self, value))

    def __call__(self, *args: Any, **kwargs: Any) -> RemoteObject:
        return self._session.step("call", "", (self, *args), kwargs)

    def call_beside(self, function: Any, args: tuple[Any, ...]) -> RemoteObject:
        """Call a program in the worker that has this object (``Program.__call__``)."""
        return self._session.step("call", "", (function, *args))

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> RemoteObject:
        """Call a function of torch on objects, as a step in the worker."""
        session = objects_in((args, kwargs))[0]._session
        return session.step("torch", resolve_name(func), args, kwargs)

    def __getitem__(self, key: Any) -> RemoteObject:
        return self._session.step("op", "getitem", (self, key))

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


define_operators(
    RemoteObject, lambda self, name, *operands: self._session.step("op", name, operands)
)
for _name in ("neg", "pos", "abs"):
    setattr(
        RemoteObject,
        f"__{_name}__",
        lambda self, name=_name: self._session.step("op", name, (self,)),
    )


def fetch(*values: Any) -> Any:
    """Return the values of remote objects: plain data, tensors, or placeholders for objects.

    Lists, tuples and dictionaries are returned with their objects fetched, and other values as they
    are, so that a check reads the same with the reference. All objects that belong to one student
    cross in one frame. One argument gives one value, several a tuple.
    """
    remote = objects_in(values)
    if remote:
        read = remote[0]._session.read(remote)
        found = dict(zip(map(id, remote), read, strict=True))
        values = walk(values, lambda one: found.get(id(one), one))
    return values[0] if len(values) == 1 else values


def is_same(one: Any, other: Any) -> Any:
    """Return whether two objects are identical: a bool, or a remote object to be fetched."""
    remote = objects_in([one, other])
    return remote[0]._session.step("op", "is_", (one, other)) if remote else one is other


def chain(formulas: Sequence[str], times: int, /, **names: Any) -> Any:
    """Return a list of objects: the first of ``names``, and what the formulas give in turn,
    ``times`` times over, while each result gets the name of that first one. With remote objects it
    is a remote list, from one step: ``chain(["x * c", "x + c"], 5000, x=x, c=c)[-1]``.
    """
    remote = objects_in(names)
    if not remote:
        return run_chain(formulas, times, **names)
    return remote[0]._session.step("chain", "", (list(formulas), times), names)


def within(manager: Any, function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function, such as a program, returns for these arguments inside of a context
    manager, in a thread of its own, where modes that it leaves on end. A tuple of a function and
    its arguments makes the manager there. With objects of the student's, it is one step in the
    worker.
    """
    remote = objects_in([manager, function, args])
    if not remote:
        return run_apart(run_within, manager, function, *args)
    return remote[0]._session.step("within", "", (manager, function, *args))


def as_references(value: Any, worker: WorkerProcess) -> Any:
    """Replace remote objects by their numbers, as parameters of programs too; raise WorkerLost if
    their worker is gone.
    """

    def reference(one: Any) -> Any:
        if isinstance(one, RemoteObject):
            return ObjectRef(one.number_on(worker))
        if isinstance(one, Program):
            return replace(one, parameters=as_references(one.parameters, worker))
        return one

    return walk(value, reference)


def objects_in(value: Any) -> list[RemoteObject]:
    """Return the remote objects in arguments or results, as parameters of programs too."""
    found = []
    for one in leaves(value):
        if isinstance(one, Program):
            found += objects_in(one.parameters)
        elif isinstance(one, RemoteObject):
            found.append(one)
    return found
