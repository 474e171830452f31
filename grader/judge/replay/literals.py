"""Write tensors and operations as Python text, for a script."""

from __future__ import annotations

import inspect
import re

import torch
from torch import Tensor

from grader.judge.replay.recording import LONGEST
from grader.worker.wire.program import CUSTOM, OPERATORS, Blend, Cube

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
CALLS = {
    "cat": "torch.cat(({all},))",
    "stack": "torch.stack({all})",
    "softplus": "torch.nn.functional.softplus({0})",
    "where_positive": "torch.where({0} > 0, {1}, {2})",
}
CUSTOM_CLASSES = {"cube": Cube, "blend": Blend}


class NoLiteral(Exception):
    """A value that can't be written as Python; the text says which."""


def literal(tensor: Tensor, held: Tensor | None = None) -> str:
    """Return ``torch.tensor(…)`` with the dtype, strides and ``requires_grad`` of ``tensor``.

    ``held`` are its values at the time of the step; by default, its values now. Raise NoLiteral if
    it is too long.
    """
    held = tensor.detach() if held is None else held
    if tensor.numel() > LONGEST:
        raise NoLiteral(f"a tensor of {tensor.numel():,} elements is too long to be written out")
    dtype, shape, strides = str(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride())
    after = ".requires_grad_()" if tensor.requires_grad else ""
    if not tensor.numel() and tensor.dim() != 1:
        return f"torch.tensor([], dtype={dtype}).reshape({shape}){after}"
    if tensor.is_contiguous() or not tensor.numel():
        wants = ", requires_grad=True" if tensor.requires_grad else ""
        return f"torch.tensor({all_digits(held)}, dtype={dtype}{wants})"
    reach = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    storage = torch.zeros(reach, dtype=held.dtype)
    if 0 in strides:  # expanded: elements that share memory are written once
        storage[_places(tensor)] = held.flatten()
    else:
        storage.as_strided(shape, strides).copy_(held)
    return (
        f"torch.tensor({all_digits(storage)}, dtype={dtype}).as_strided({shape}, {strides}){after}"
    )


def _places(tensor: Tensor) -> Tensor:
    grids = torch.meshgrid(*(torch.arange(size) for size in tensor.shape), indexing="ij")
    places = torch.zeros(tensor.shape, dtype=torch.int64)
    for grid, stride in zip(grids, tensor.stride(), strict=True):
        places += grid * stride
    return places.flatten()


def all_digits(held: Tensor) -> str:
    """Return the numbers in a tensor, with all their digits."""
    text = repr(held.tolist())
    return text.replace("nan", 'float("nan")').replace("inf", 'float("inf")')


def operation(name: str, given: list[str]) -> str:
    """Return an operation of a program as Python code; ``given`` are its arguments as text."""
    if name == "getitem":
        return f"{given[0]}[{given[1]}]"
    if name == "neg":
        return f"-{given[0]}"
    if name in OPERATORS:
        left = f"({given[0]})" if given[0].startswith("-") else given[0]
        return f"{left} {SYMBOLS[name]} {given[1]}"
    if name in CUSTOM:
        return f"{CUSTOM_CLASSES[name].__name__}.apply({', '.join(given)})"
    if name in CALLS:
        return CALLS[name].format(*given, all=", ".join(given))
    return f"{given[0]}.{name}({', '.join(given[1:])})"


def definition(name: str) -> str:
    """Return the class behind an operation in ``CUSTOM`` as text, without annotations."""
    text = inspect.getsource(CUSTOM_CLASSES[name])
    return re.sub(r"(: | -> )(Any|Tensor)\b", "", text)
