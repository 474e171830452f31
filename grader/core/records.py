"""Convert records to JSON data and back, and check them when they are read."""

from __future__ import annotations

from typing import Any, Self, TypeVar

import msgspec

T = TypeVar("T")


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
    try:
        return msgspec.convert(data, cls)
    except msgspec.ValidationError as error:
        raise ValueError(f"{cls.__name__}: {error}") from None
