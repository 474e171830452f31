"""Parse a worker's answers. Nothing is trusted: anything malformed raises BrokenFrame."""

from __future__ import annotations

from typing import Any

from grader.core.errors import MissingName, StudentCodeError
from grader.worker.wire.frames import BrokenFrame, Frame

MAX_LINE = 1 << 20
"""A file has at most as many lines as bytes."""


def several_replies(frame: Frame, most: int) -> list[Frame]:
    """Return the replies in an answer to at most ``most`` requests; no byte may be left over."""
    replies, position = [], 0
    for pair in part(frame.body, "several", list):
        if not isinstance(pair, list) or len(pair) != 2:
            raise BrokenFrame("a reply that is not a pair")
        body, length = pair
        if not isinstance(body, dict) or type(length) is not int or length < 0:
            raise BrokenFrame("a reply without a valid body and length")
        replies.append(Frame(body, frame.blob[position : position + length]))
        position += length
    if len(replies) > most or position != len(frame.blob):
        raise BrokenFrame("too many replies, or replies that don't fill the blob")
    return replies


def part(body: Any, key: str, *kinds: type) -> Any:
    """Return a part of an answer; raise BrokenFrame if it is missing or has the wrong type."""
    if not isinstance(body, dict) or key not in body:
        raise BrokenFrame(f"an answer without {key!r}")
    if not isinstance(body[key], kinds):
        raise BrokenFrame(f"an answer whose {key!r} is a {type(body[key]).__name__}")
    return body[key]


def missing_name(body: Any, key: str) -> MissingName:
    """Return a MissingName from a worker's answer, which has the name under ``key``."""
    present = part(body, "names", list)[:100]
    if not all(isinstance(name, str) for name in present):
        raise BrokenFrame("an answer with names that are not strings")
    return MissingName(part(body, key, str)[:80], tuple(name[:80] for name in present))


def student_error(data: dict[str, Any]) -> StudentCodeError:
    """Return a StudentCodeError from a worker's ``raised``."""
    line = data.get("line")
    ancestors = data.get("ancestors", [])
    if not isinstance(ancestors, list) or not all(isinstance(name, str) for name in ancestors):
        raise BrokenFrame("an exception whose class names are not strings")
    return StudentCodeError(
        part(data, "type", str)[:200],
        part(data, "message", str)[:4000],
        line=line if type(line) is int and 0 < line < MAX_LINE else None,
        ancestors=tuple(name[:200] for name in ancestors[:20]),
        raised_here=data.get("raised_here") is True,
    )
