"""Use objects in the worker from a check.

``a = student.Value(2.0)`` is a ``RemoteObject``. ``a * b``, ``a.grad`` and ``a.backward()`` are
steps for the worker: each returns a ``RemoteObject`` at once, and all pending steps cross the
border in one frame when a value is read with ``fetch``. An exception of the student's code is
raised then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from torch.overrides import resolve_name

from grader.judge.remote.connection import Connection
from grader.worker.wire.values import ObjectRef, Opaque

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
