"""Tensors and operations as Python text: what a script is made of."""

from __future__ import annotations

import inspect

import torch
from torch import Tensor

from grader.judge.replay.recording import LONGEST
from grader.worker.wire.program import CUSTOM, OPERATORS, Blend, Cube

SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
CUSTOM_CLASSES = {"cube": Cube, "blend": Blend}


class NoLiteral(Exception):
    """Something that has no literal; the text says what."""


def literal(tensor: Tensor, held: Tensor | None = None) -> str:
    """Return ``torch.tensor(…)`` with dtype, strides, ``requires_grad``; raises Inexpressible."""
    held = tensor.detach() if held is None else held
    if tensor.numel() > LONGEST:
        raise NoLiteral(f"a tensor of {tensor.numel():,} elements is too long to be written out")
    wants = ", requires_grad=True" if tensor.requires_grad else ""
    dtype = str(tensor.dtype)
    if tensor.is_contiguous() or not tensor.numel():
        shaped = (
            f".reshape({tuple(tensor.shape)})" if not tensor.numel() and tensor.dim() != 1 else ""
        )
        if not shaped:
            return f"torch.tensor({numbers(held)}, dtype={dtype}{wants})"
        return f"torch.tensor([], dtype={dtype}){shaped}" + (".requires_grad_()" if wants else "")
    reach = 1 + sum(
        (size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True)
    )
    storage = torch.zeros(reach, dtype=held.dtype)
    if 0 in tensor.stride():  # expanded: what lies in one place is written once
        storage[_places(tensor)] = held.flatten()
    else:
        storage.as_strided(tensor.shape, tensor.stride()).copy_(held)
    after = ".requires_grad_()" if wants else ""
    return (
        f"torch.tensor({numbers(storage)}, dtype={dtype}).as_strided({tuple(tensor.shape)},"
        f" {tuple(tensor.stride())}){after}"
    )


def _places(tensor: Tensor) -> Tensor:
    """Where in the storage each element lies."""
    grids = torch.meshgrid(*(torch.arange(size) for size in tensor.shape), indexing="ij")
    places = torch.zeros(tensor.shape, dtype=torch.int64)
    for grid, stride in zip(grids, tensor.stride(), strict=True):
        places += grid * stride
    return places.flatten()


def numbers(held: Tensor) -> str:
    """The numbers in a tensor; of two neighbours none is taken for the other."""
    text = repr(held.tolist())
    return text.replace("nan", 'float("nan")').replace("inf", 'float("inf")')


def operation(name: str, given: list[str]) -> str:
    """An operation of a program as one writes it, ``given`` its arguments as text."""
    if name == "getitem":
        return f"{given[0]}[{given[1]}]"
    if name == "neg":
        return f"-{given[0]}"
    if name in OPERATORS:
        left = f"({given[0]})" if given[0].startswith("-") else given[0]
        return f"{left} {SYMBOLS[name]} {given[1]}"
    if name in CUSTOM:
        return f"{CUSTOM_CLASSES[name].__name__}.apply({', '.join(given)})"
    if name in ("cat", "stack"):
        if name == "cat":
            return f"torch.{name}(({', '.join(given)},))"
        return f"torch.stack({', '.join(given)})"
    if name == "softplus":
        return f"torch.nn.functional.softplus({given[0]})"
    if name == "where_positive":
        return f"torch.where({given[0]} > 0, {given[1]}, {given[2]})"
    return f"{given[0]}.{name}({', '.join(given[1:])})"


def definition(name: str) -> str:
    """The text of the class behind an operation of ``CUSTOM``, without annotations."""
    text = inspect.getsource(CUSTOM_CLASSES[name])
    return (
        text.replace(": Any", "")
        .replace(" -> Any", "")
        .replace(" -> Tensor", "")
        .replace(": Tensor", "")
    )
