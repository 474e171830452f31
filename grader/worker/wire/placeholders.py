"""What stands in a value for something else: an object that cannot cross, a name, a tensor."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that the wire can't carry, known by its type's name."""

    type_name: str
    text: str = ""


class StudentRef:
    """A name in the student's module, as an argument: ``Sigmoid``, ``Sigmoid.apply``."""

    def __init__(self, path: str) -> None:
        self.path = path


@dataclass(frozen=True, slots=True)
class TensorRef:
    """The place of tensor number ``index`` in a decoded structure, before ``fill``."""

    index: int
