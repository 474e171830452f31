"""Times as ISO 8601 text, always with an offset from UTC."""

from __future__ import annotations

from datetime import UTC, datetime


def moment(text: str) -> datetime:
    """Return an ISO 8601 time; raise ValueError if it is malformed or has no offset."""
    found = datetime.fromisoformat(text.strip())
    if found.tzinfo is None:
        raise ValueError("it has no offset from UTC")
    return found


def as_utc(text: str) -> str:
    """Return a time in UTC, to the second; raise ValueError as ``moment`` does."""
    return moment(text).astimezone(UTC).isoformat(timespec="seconds")


def now() -> str:
    """Return the current time, ISO 8601 in UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")
