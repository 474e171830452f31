"""Records as JSON data and back: what processes send each other is checked when it is read.

The annotations of a record's fields say what its data must be: ``str``, ``int``, ``float``,
``bool``, ``None``, ``Any``, a string enum, a record, a union, or a tuple, list or dict of these.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from typing import Any, Self, TypeVar, cast, get_args, get_origin, get_type_hints

T = TypeVar("T")
Reader = Callable[[Any], Any]
UNCHANGED = frozenset({str, int, float, bool, type(None)})
"""Most values are of these types, which JSON has too."""


class Record:
    """Base of frozen, slotted dataclasses that cross from one process to another as JSON."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        """Return the fields as JSON data. Dictionaries in them are not copied."""
        data: dict[str, Any] = plain(self)
        return data

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the record; raise ValueError, which names the field, if ``data`` is not one."""
        return read(cls, data)


def plain(value: Any) -> Any:
    """Return JSON data for a field's value."""
    if type(value) in UNCHANGED:
        return value
    if type(value) is tuple:
        return [plain(item) for item in value]
    if is_dataclass(value):
        return {name: plain(getattr(value, name)) for name in _slots(value)}
    return value


def _slots(record: Any) -> tuple[str, ...]:
    """Return the names of a record's fields, faster than ``dataclasses.fields``."""
    names: tuple[str, ...] = record.__slots__
    return names


def read(cls: type[T], data: object) -> T:
    """Return what JSON data is as this dataclass; raise ValueError if it is something else."""
    kind: Any = cls
    record: T = _reader(kind)(data)
    return record


@functools.cache
def _reader(kind: Any) -> Reader:
    """Return the function that checks and converts the data of one type."""
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return lambda data: data
    if is_dataclass(kind):
        return _record_reader(kind)
    if origin is types.UnionType:
        return _union_reader([_reader(one) for one in arguments])
    if origin is tuple and arguments[1:] == (...,):
        item = _reader(arguments[0])
        return lambda data: tuple(item(one) for one in _items(data))
    if origin is tuple:
        return _fixed_tuple_reader([_reader(one) for one in arguments])
    if origin is list:
        item = _reader(arguments[0])
        return lambda data: [item(one) for one in _items(data)]
    if origin is dict:
        value = _reader(arguments[1])
        return lambda data: {key: value(one) for key, one in _of(dict, data).items()}
    if issubclass(kind, enum.StrEnum):
        return cast(Reader, kind)
    return functools.partial(_of, kind)


def _record_reader(cls: Any) -> Reader:
    hints = get_type_hints(cls)
    known: dict[str, Field[Any]] = {field.name: field for field in fields(cls)}
    readers = {name: _reader(hints[name]) for name in known}
    unchanged = {name: _unchanged(hints[name]) for name in known}
    required = {
        name
        for name, field in known.items()
        if field.default is MISSING and field.default_factory is MISSING
    }

    def read_record(data: Any) -> Any:
        values = {}
        for name, value in _of(dict, data, f"the fields of a {cls.__name__}").items():
            if name not in readers:
                raise ValueError(f"{cls.__name__} has no field {name!r}")
            try:
                values[name] = value if type(value) in unchanged[name] else readers[name](value)
            except ValueError as error:
                raise ValueError(f"{cls.__name__}.{name}: {error}") from None
        if lacking := required - values.keys():
            raise ValueError(f"{cls.__name__} lacks {', '.join(sorted(lacking))}")
        return cls(**values)

    return read_record


def _union_reader(readers: list[Reader]) -> Reader:
    def read_union(data: Any) -> Any:
        reasons = []
        for reader in readers:
            try:
                return reader(data)
            except ValueError as error:
                reasons.append(str(error))
        raise ValueError("; ".join(reasons))

    return read_union


def _fixed_tuple_reader(readers: list[Reader]) -> Reader:
    def read_tuple(data: Any) -> Any:
        if len(_items(data)) != len(readers):
            raise ValueError(f"{data!r:.80} is not a list of {len(readers)}")
        return tuple(reader(item) for reader, item in zip(readers, data, strict=True))

    return read_tuple


def _unchanged(kind: Any) -> frozenset[object]:
    """Return the types whose values are right for ``kind`` as they are, which saves a look."""
    if get_origin(kind) is types.UnionType:
        return frozenset(found for one in get_args(kind) for found in _unchanged(one))
    return UNCHANGED if kind is Any else UNCHANGED.intersection([kind])


def _items(data: Any) -> Any:
    """Return a list; a tuple is one that has not been written as JSON yet."""
    return data if type(data) is tuple else _of(list, data)


def _of(kind: type, data: Any, called: str = "") -> Any:
    """Return data of one of JSON's types. An integer is a float too, and stays what it is."""
    if type(data) is kind or (kind is float and type(data) is int):
        return data
    raise ValueError(f"{data!r:.80} is not {called or kind.__name__}")
