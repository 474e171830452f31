"""Describe values for a report: plain JSON data, cut if long, NaN and infinities as strings.

==========================  ======================================================================
a number, str, bool, None    itself; a non-finite float is ``"nan"``, ``"inf"``, ``"-inf"``
a tensor                     ``{"tensor": nested numbers, "dtype": "float64", "shape": [2, 3]}``;
                            if it has more than ``MAX_ELEMENTS``, a flat list of that many, with
                            ``"cut"`` and ``"before"``: how many follow and precede them; an input
                            may have ``"requires_grad": False``
a list, tuple, set, dict     ``{"list": […]}``, ``{"tuple": […]}``, ``{"set": […]}``,
                            ``{"dict": [[key, value], …]}``; beyond ``MAX_ITEMS`` items, or
                            ``MAX_VALUES`` values in all, ``"cut"`` counts those left out
anything else                ``{"other": text}``; a complex tensor too
==========================  ======================================================================

``core.text`` turns it into text.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator
from typing import Any

import torch
from torch import Tensor

from grader.judge.program_text import text_of
from grader.worker.wire.program import Program
from grader.worker.wire.values import Opaque, StudentRef

MAX_ELEMENTS = 24
MAX_ITEMS = 40
MAX_TEXT = 2000
MAX_FORMULA = 200
MAX_DEPTH = 6
MAX_VALUES = 200
"""How many values a list and the lists inside it may show together."""
MAX_TEXTS = 4000
"""How many characters all texts in a value may show together."""
MAX_BITS = 10_000
"""Python refuses to write an integer of more than 4,300 digits, which has about 14,000 bits."""


class _Room:
    """How much of one value may still be shown."""

    def __init__(self) -> None:
        self.values = MAX_VALUES
        self.characters = MAX_TEXTS

    def text(self, value: str) -> str:
        """Return as much of a text as may be shown; say how much was cut."""
        shown = value[: min(MAX_TEXT, self.characters)]
        self.characters -= len(shown)
        cut = len(value) - len(shown)
        return shown if cut <= 0 else shown + f"… [{cut:,} more characters]"


def describe(value: Any) -> Any:
    """Return a value as plain JSON data (the table above)."""
    return _describe(value, 0, _Room())


def _describe(value: Any, depth: int, room: _Room) -> Any:
    room.values -= 1
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):
        if abs(value) < 1 << 53:
            return value
        bits = value.bit_length()
        return room.text(str(value) if bits <= MAX_BITS else f"an integer of {bits:,} bits")
    if isinstance(value, float):
        return json_number(value)
    if isinstance(value, str):
        return room.text(value)
    if isinstance(value, Tensor):
        room.values -= min(value.numel(), MAX_ELEMENTS)
        return _tensor(value)
    if depth > MAX_DEPTH:
        return {"other": "…"}
    if isinstance(value, dict):
        described = [
            [_describe(key, depth + 1, room), _describe(item, depth + 1, room)]
            for key, item in _shown(value.items(), room)
        ]
        return {"dict": described, **_cut(value, described)}
    for kind in (list, tuple, set):
        if isinstance(value, kind):
            items = sorted(value, key=repr) if kind is set else value
            described = [_describe(item, depth + 1, room) for item in _shown(items, room)]
            return {kind.__name__: described, **_cut(value, described)}
    return {"other": room.text(_text(value))}


def _shown(items: Iterable[Any], room: _Room) -> Iterator[Any]:
    """Yield the first items, as long as there is room."""
    return itertools.takewhile(lambda _: room.values > 0, itertools.islice(items, MAX_ITEMS))


def describe_pair(expected: Any, actual: Any) -> tuple[Any, Any]:
    """Describe both values; of two long tensors, the same part, from where they first differ."""
    if not isinstance(expected, Tensor) or not isinstance(actual, Tensor):
        return describe(expected), describe(actual)
    start = 0
    if expected.shape == actual.shape and expected.numel() > MAX_ELEMENTS:
        same = torch.isclose(
            actual.detach().flatten(), expected.detach().flatten().to(actual.dtype), equal_nan=True
        )
        differing = (~same).nonzero()
        if len(differing) and (first := int(differing[0])) >= MAX_ELEMENTS:
            start = min(first - 2, expected.numel() - MAX_ELEMENTS)
    return _tensor(expected, start), _tensor(actual, start)


def _cut(value: Any, shown: list[Any]) -> dict[str, int]:
    return {"cut": len(value) - len(shown)} if len(value) > len(shown) else {}


def _text(value: Any) -> str:
    if isinstance(value, Opaque):
        return value.type_name + (f" ({value.text})" if value.text else "")
    if isinstance(value, StudentRef):
        return value.path
    if isinstance(value, Program):
        text = text_of(value)
        return text if len(text) <= MAX_FORMULA else "f"
    if value is Ellipsis:
        return "..."
    return str(value)


def json_number(value: float) -> float | str:
    """Return a float as JSON: itself, or its name."""
    return float(value) if math.isfinite(value) else str(float(value))


def dtype_name(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _tensor(tensor: Tensor, start: int = 0) -> dict[str, object]:
    plain = tensor.detach()
    if plain.dtype.is_complex:
        shown = plain if plain.numel() <= MAX_ELEMENTS else plain.flatten()[:MAX_ELEMENTS]
        return {"other": _complex_text(shown.tolist())[:MAX_TEXT]}
    data: dict[str, object] = {"dtype": dtype_name(tensor), "shape": list(tensor.shape)}
    if plain.dtype in (torch.float16, torch.bfloat16):
        plain = plain.float()
    if plain.numel() > MAX_ELEMENTS:
        part = _numbers(plain.flatten()[start : start + MAX_ELEMENTS].tolist())
        before = {"before": start} if start else {}
        return {"tensor": part, **data, **before, "cut": plain.numel() - MAX_ELEMENTS - start}
    # a tensor of shape (60000, 0) has no numbers, but that many brackets
    brackets = math.prod(size for size in plain.shape if size)
    short = plain.numel() or brackets <= MAX_ELEMENTS
    return {"tensor": _numbers(plain.tolist()) if short else [], **data}


def _complex_text(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_complex_text, value))}]"
    return f"{value:.4g}"


def _numbers(value: Any) -> Any:
    if isinstance(value, list):
        return [_numbers(item) for item in value]
    return json_number(value) if isinstance(value, float) else value
