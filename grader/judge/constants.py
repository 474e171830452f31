"""Restore the tensors in a lesson's modules. If a rule wrote into one, that is undone before the
next submission, so that no verdict depends on earlier submissions.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

HELPERS = "_helpers"
"""The suffix of the module names that ``checks.import_helpers`` gives to lessons' helpers."""


@dataclass(frozen=True, slots=True)
class Kept:
    """A tensor of a module and its value when the module was loaded."""

    tensor: Tensor
    value: Tensor
    grad: Tensor | None
    requires_grad: bool

    def put_back(self) -> None:
        """Restore the value, ``requires_grad`` and ``.grad``."""
        with torch.no_grad():
            self.tensor.copy_(self.value)
        self.tensor.requires_grad_(self.requires_grad)
        self.tensor.grad = None if self.grad is None else self.grad.clone()


class Constants:
    """The leaf tensors in the namespaces of modules, including those in lists and dictionaries
    there.
    """

    def __init__(self, namespaces: Iterable[dict[str, Any]]) -> None:
        found = {id(t): t for space in namespaces for t in tensors_in(space) if t.is_leaf}
        self._kept = [
            Kept(
                tensor,
                tensor.detach().clone(),
                None if tensor.grad is None else tensor.grad.clone(),
                tensor.requires_grad,
            )
            for tensor in found.values()
        ]

    def __len__(self) -> int:
        return len(self._kept)

    def put_back(self) -> None:
        """Restore the value and the gradient that each tensor had at first."""
        for kept in self._kept:
            kept.put_back()


def namespaces_of(functions: Iterable[Callable[..., Any]]) -> Iterator[dict[str, Any]]:
    """Yield the global namespace of each function, and those of the lesson's helper modules that
    it contains.
    """
    for function in functions:
        space = getattr(function, "__globals__", {})
        yield space
        for value in space.values():
            if isinstance(value, types.ModuleType) and value.__name__.endswith(HELPERS):
                yield vars(value)


def tensors_in(value: object) -> Iterable[Tensor]:
    """Yield the tensors in a container, at any depth."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name != "__builtins__":
                yield from tensors_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from tensors_in(inner)
