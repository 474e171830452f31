"""Values as a report holds them: plain JSON data, cut where long, NaN and infinities as strings.

==========================  ======================================================================
a number, str, bool, None    itself; a non-finite float is ``"nan"``, ``"inf"``, ``"-inf"``
a tensor                     ``{"tensor": nested numbers, "dtype": "float64", "shape": [2, 3]}``;
                            over ``MAX_ELEMENTS`` elements some of them flat, with ``"cut"`` and
                            ``"before"``: how many come after, and before
a list, tuple, set, dict     ``{"list": […]}``, ``{"tuple": […]}``, ``{"set": […]}``,
                            ``{"dict": [[key, value], …]}``
anything else                ``{"other": text}``
==========================  ======================================================================

``core.format`` makes text of it.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor

from grader.worker.wire.placeholders import Opaque, StudentRef
from grader.worker.wire.program import Program

MAX_ELEMENTS = 24
MAX_ITEMS = 40
MAX_TEXT = 2000


def describe(value: Any, depth: int = 0) -> Any:
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        return value if abs(value) < 1 << 53 else str(value)[:MAX_TEXT]
    if isinstance(value, float):
        return number(value)
    if isinstance(value, complex):
        return {"other": str(value)}
    if isinstance(value, str):
        cut = len(value) - MAX_TEXT
        return value if cut <= 0 else value[:MAX_TEXT] + f"… [{cut:,} more characters]"
    if isinstance(value, Tensor):
        return _tensor(value)
    if depth > 6:
        return {"other": "…"}
    if isinstance(value, dict):
        pairs = list(value.items())[:MAX_ITEMS]
        described = [[describe(item, depth + 1) for item in pair] for pair in pairs]
        return {"dict": described, **_cut(value)}
    for kind in (list, tuple, set):
        if isinstance(value, kind):
            items = sorted(value, key=repr) if kind is set else value
            described = [describe(item, depth + 1) for item in list(items)[:MAX_ITEMS]]
            return {kind.__name__: described, **_cut(value)}
    return {"other": _text(value)}


def describe_pair(expected: Any, actual: Any) -> tuple[Any, Any]:
    """Describe both values; of two long tensors the same part, where they first differ."""
    start = 0
    if (
        isinstance(expected, Tensor)
        and isinstance(actual, Tensor)
        and expected.shape == actual.shape
        and expected.numel() > MAX_ELEMENTS
    ):
        same = torch.isclose(
            actual.detach().flatten(), expected.detach().flatten().to(actual.dtype), equal_nan=True
        )
        differing = (~same).nonzero()
        if len(differing) and (first := int(differing[0])) >= MAX_ELEMENTS:
            start = max(0, min(first - 2, expected.numel() - MAX_ELEMENTS))
    return tuple(
        _tensor(value, start) if isinstance(value, Tensor) else describe(value)
        for value in (expected, actual)
    )  # type: ignore[return-value]


def _cut(value: Any) -> dict[str, int]:
    return {"cut": len(value) - MAX_ITEMS} if len(value) > MAX_ITEMS else {}


def _text(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.type_name + (f" ({value.text})" if value.text else "")
    if isinstance(value, StudentRef):
        return value.path
    if isinstance(value, Program):
        return "f"
    if value is Ellipsis:
        return "..."
    return str(value)[:MAX_TEXT]


def number(value: float) -> float | str:
    """Return a float as JSON has it: itself, or its name."""
    if math.isfinite(value):
        return float(value)
    return "nan" if math.isnan(value) else "inf" if value > 0 else "-inf"


def _tensor(tensor: Tensor, start: int = 0) -> dict[str, Any]:
    plain = tensor.detach()
    if plain.dtype.is_complex:
        return {"other": str(plain.flatten()[:MAX_ELEMENTS].tolist())[:MAX_TEXT]}
    data: dict[str, Any] = {
        "dtype": str(tensor.dtype).removeprefix("torch."),
        "shape": list(tensor.shape),
    }
    if plain.dtype in (torch.float16, torch.bfloat16):
        plain = plain.float()
    if plain.numel() > MAX_ELEMENTS:
        part = _numbers(plain.flatten()[start : start + MAX_ELEMENTS].tolist())
        before = {"before": start} if start else {}
        return {"tensor": part, **data, **before, "cut": plain.numel() - MAX_ELEMENTS - start}
    # a tensor of shape (60000, 0) has no number, but as many brackets
    brackets = math.prod(size for size in plain.shape if size)
    short = plain.numel() or brackets <= MAX_ELEMENTS
    return {"tensor": _numbers(plain.tolist()) if short else [], **data}


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return number(value) if isinstance(value, float) else value
