"""Convert records to JSON data and back, and check them when they are read."""

from __future__ import annotations

import threading
from typing import Any, Self, TypeVar

import msgspec

T = TypeVar("T")

_described: set[object] = set()
_describing = threading.Lock()


class Record:
    """Base of frozen dataclasses that processes exchange as JSON, typed by their annotations."""

    __slots__ = ()

    def as_json(self) -> dict[str, Any]:
        data: dict[str, Any] = msgspec.to_builtins(self)
        return data

    @classmethod
    def from_json(cls, data: object) -> Self:
        """Return the record; raise ValueError, which names the field, if ``data`` is not one."""
        return read(cls, data)


def read(cls: type[T], data: object) -> T:
    """Return JSON data as this dataclass; raise ValueError if it does not fit."""
    describe(cls)
    try:
        return msgspec.convert(data, cls)
    except msgspec.ValidationError as error:
        raise ValueError(f"{cls.__name__}: {error}") from None


def describe(cls: object) -> None:
    """Have msgspec describe a type, and the types inside it, before it reads data as one.

    It stores the description on the class when the class is first used, and another thread that
    reads a half-made description crashes the process. So only one thread at a time may make one.
    """
    if cls not in _described:
        with _describing:
            msgspec.json.Decoder(cls)
            _described.add(cls)
