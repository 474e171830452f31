"""Placeholders in a value: for an object that can't cross, a name in the student's file, a
tensor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor

PLAIN = frozenset((type(None), bool, int, float, str))
"""Values that stand for themselves."""


@dataclass(frozen=True)
class Opaque:
    """An object that the wire can't carry, known by its type's name."""

    type_name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """The number of an object that the worker keeps (``worker/objects.py``)."""

    number: int


class StudentRef:
    """A name in the student's module, as an argument: ``Sigmoid``, ``Sigmoid.apply``."""

    def __init__(self, path: str) -> None:
        self.path = path


@dataclass(frozen=True, slots=True)
class TensorRef:
    """The position of tensor number ``index`` in a decoded structure, before ``fill``."""

    index: int


def fill(structure: Any, tensors: list[Tensor] | tuple[Tensor, ...]) -> Any:
    """Return the structure with each ``TensorRef`` replaced by its tensor."""
    if not tensors or type(structure) in PLAIN:
        return structure  # if no tensor crossed, there is no slot
    if isinstance(structure, TensorRef):
        return tensors[structure.index]
    if isinstance(structure, list):
        return [fill(item, tensors) for item in structure]
    if isinstance(structure, tuple):
        return tuple(fill(item, tensors) for item in structure)
    if isinstance(structure, dict):
        return {key: fill(item, tensors) for key, item in structure.items()}
    return structure
