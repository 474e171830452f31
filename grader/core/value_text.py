"""Write described values and counts as one line of text."""

from __future__ import annotations

from typing import Any

SHORTEST = 4
LONGEST = 12


def text(value: Any, digits: int = SHORTEST) -> str:
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, float):
        return number_text(value, digits)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, str):
        return value if value in ("nan", "inf", "-inf") else repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(text(item, digits) for item in value) + "]"
    if isinstance(value, dict):
        return _tagged(value, digits)
    return str(value)


def counted(count: int, noun: str) -> str:
    """Return a count with its noun, which takes an s unless the count is 1."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _tagged(value: dict[str, Any], digits: int) -> str:
    cut = f", … {value['cut']:,} more" if "cut" in value else ""
    if "tensor" in value:
        body = text(value["tensor"], digits)
        if value.get("before"):
            body = f"[{value['before']:,} before, … " + body[1:]
        if value.get("cut"):
            body = body[:-1] + cut + "]"
        if 0 in value["shape"]:
            body = f"[] (shape {tuple(value['shape'])})"
        body = body if value["dtype"] == "float64" else f"{body} {value['dtype']}"
        return f"{body} requires_grad=False" if "requires_grad" in value else body
    for kind, left, right in (("list", "[", "]"), ("tuple", "(", ")"), ("set", "{", "}")):
        if kind in value:
            items = [text(item, digits) for item in value[kind]]
            comma = "," if kind == "tuple" and len(items) == 1 else ""
            return left + ", ".join(items) + comma + cut + right
    if "dict" in value:
        return (
            "{"
            + ", ".join(f"{text(k, digits)}: {text(v, digits)}" for k, v in value["dict"])
            + cut
            + "}"
        )
    return str(value.get("other", value))


def number_text(value: float, digits: int) -> str:
    """Return a float with at most ``digits`` significant
    digits, and with a point if it is whole.
    """
    short = f"{value:.{digits}g}"
    return (
        short
        if any(c in short for c in ".en")
        else f"{short}.0"
        if len(short.lstrip("-")) < digits
        else short
    )


def values_text(expected: Any, actual: Any) -> tuple[str, str]:
    """Return both values as text, with enough digits to show a difference, if there is one."""
    for digits in range(SHORTEST, LONGEST + 1, 2):
        left, right = text(expected, digits), text(actual, digits)
        if left != right or expected == actual:
            break
    return left, right
