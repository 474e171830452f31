"""Text: a student's made harmless (control characters, surrogates, length), described values and
counts on one line, times as ISO 8601, with an offset from UTC or in a class's time zone.
"""

from __future__ import annotations

import re
import shlex
import unicodedata
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

MAX_CHARACTERS = 4000
KEPT = frozenset("\n\t")


def clean(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return the text without control characters; if it is cut at ``limit``, that is visible."""
    cut = f"… [{len(text) - limit:,} more characters]" if len(text) > limit else ""
    return "".join(_shown(c) for c in text[:limit]) + cut


def _shown(character: str) -> str:
    if character in KEPT or character.isprintable():
        return character
    if unicodedata.category(character) == "Cs":
        return "\N{REPLACEMENT CHARACTER}"
    code = ord(character)
    if code < 0x100:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


WARNING = re.compile(
    r"^\S[^\n]*?:\d+: (?P<said>\w*Warning: [^\n]*)(?:\n|\Z)(?:  [^\n]*(?:\n|\Z))?", re.MULTILINE
)
"""What Python writes for a warning: its place and text, then the line of code if it is known."""
FIRST_SENTENCE = re.compile(r".+?[.!?](?=\s|\Z)|.+")


def without_warnings(output: str) -> tuple[str, list[str]]:
    """Return what a program printed, and the first sentence of each of its warnings."""
    said = dict.fromkeys(match["said"] for match in WARNING.finditer(output))
    sentences = (FIRST_SENTENCE.match(one) for one in said)
    return WARNING.sub("", output), [one[0] for one in sentences if one]


SHORTEST = 4
LONGEST = 12
EXACT = 17
"""With so many significant digits, no two different float64 numbers look alike."""


def text(
    value: Any, digits: int = SHORTEST, exact: Mapping[float, str] = MappingProxyType({})
) -> str:
    """Return a described value as text; ``exact`` has the numbers that need more digits."""
    if isinstance(value, float):
        return exact.get(value) or number_text(value, digits)
    if isinstance(value, str):
        return value if value in ("nan", "inf", "-inf") else repr(value)
    if isinstance(value, list):
        return "[" + ", ".join(text(item, digits, exact) for item in value) + "]"
    if isinstance(value, dict):
        return _tagged(value, digits, exact)
    return str(value)


def input_text(value: Any) -> str:
    """Return an input as text. Its numbers look different if they are, such as 1 and the next one,
    at which a function may do something else.
    """
    alike: dict[str, set[float]] = {}
    for number in _floats(value):
        alike.setdefault(number_text(number, SHORTEST), set()).add(number)
    exact: dict[float, str] = {}
    for numbers in alike.values():
        for digits in range(SHORTEST, EXACT + 1):
            texts = {number: number_text(number, digits) for number in numbers}
            if len(set(texts.values())) == len(numbers):
                break
        exact |= texts
    return text(value, exact=exact)


def _floats(value: Any) -> Iterator[float]:
    if isinstance(value, float):
        yield value
    elif isinstance(value, list | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _floats(one)


def counted(count: float, noun: str) -> str:
    """Return a count with its noun, which takes an s unless the count is 1."""
    number = f"{count:g}" if isinstance(count, float) else str(count)
    return f"{number} {noun}" if count == 1 else f"{number} {noun}s"


def command(*words: object) -> str:
    """Return a command of grade, quoted for a shell, to paste."""
    return shlex.join(["grade", *map(str, words)])


def _tagged(value: dict[str, Any], digits: int, exact: Mapping[float, str]) -> str:
    cut = f", … {value['cut']:,} more" if "cut" in value else ""
    if "tensor" in value:
        body = text(value["tensor"], digits, exact)
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
            items = [text(item, digits, exact) for item in value[kind]]
            comma = "," if kind == "tuple" and len(items) == 1 else ""
            return left + ", ".join(items) + comma + cut + right
    if "dict" in value:
        pairs = [
            f"{text(key, digits, exact)}: {text(one, digits, exact)}" for key, one in value["dict"]
        ]
        return "{" + ", ".join(pairs) + cut + "}"
    return str(value.get("other", value))


def number_text(value: float, digits: int) -> str:
    """Return a float with at most ``digits`` significant digits, with a point if it is whole."""
    short = f"{value:.{digits}g}"
    is_whole = not any(c in short for c in ".en")
    return f"{short}.0" if is_whole and len(short.lstrip("-")) < digits else short


def values_text(expected: Any, actual: Any) -> tuple[str, str]:
    """Return both values as text, with enough digits to show a difference, if there is one."""
    for digits in range(SHORTEST, LONGEST + 1, 2):
        left, right = text(expected, digits), text(actual, digits)
        if left != right or expected == actual:
            break
    return left, right


def moment(text: str) -> datetime:
    """Return an ISO 8601 time; raise ValueError if it is malformed or has no offset."""
    found = datetime.fromisoformat(text.strip())
    if found.tzinfo is None:
        raise ValueError("it has no offset from UTC")
    return found


TIME_EXAMPLE = "Write it like 2026-12-01T23:59+09:00"


def moment_in(text: str, zone: ZoneInfo | None) -> datetime:
    """Return an ISO 8601 time; one without an offset is in the class's time zone.

    Raise ValueError for anything else. Its text continues the sentence that begins with the time,
    and has the remedy.
    """
    text = text.strip()
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"is not a time. {TIME_EXAMPLE}") from None
    if found.tzinfo is not None:
        return found
    if _is_date(text):
        raise ValueError(f"has no time of day. {TIME_EXAMPLE}")
    return in_zone(found, zone)


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def in_zone(wall: datetime, zone: ZoneInfo | None) -> datetime:
    """Return a time of the clocks in a zone; raise ValueError, as ``moment_in`` does, if there is
    no zone, or if its clocks skip or repeat that time.
    """
    if zone is None:
        raise ValueError(
            "has no offset from UTC. Name the time zone of the class, such as --zone"
            f" Europe/Berlin. Or add the offset: {wall.isoformat(timespec='minutes')}+09:00"
        )
    first, second = (wall.replace(tzinfo=zone, fold=fold) for fold in (0, 1))
    if first.utcoffset() == second.utcoffset():
        return first
    if first.astimezone(UTC).astimezone(zone).replace(tzinfo=None) != wall.replace(fold=0):
        raise ValueError(
            f"does not exist in {zone}, because its clocks skip that hour. Write a time with its"
            " offset from UTC"
        )
    raise ValueError(
        f"is twice in {zone}, because its clocks are set back then. Add the offset from UTC:"
        f" {first.isoformat(timespec='minutes')} or {second.isoformat(timespec='minutes')}"
    )


def as_utc(text: str) -> str:
    """Return a time in UTC, to the second; raise ValueError as ``moment`` does."""
    return moment(text).astimezone(UTC).isoformat(timespec="seconds")


def now() -> str:
    """Return the current time, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
