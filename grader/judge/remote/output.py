"""What a worker prints, as far as the judge keeps it."""

from __future__ import annotations


class Output:
    """What a student's code printed: the first part is kept, the rest is counted."""

    def __init__(self, cap_bytes: int) -> None:
        self.cap_bytes = cap_bytes
        self._kept = bytearray()
        self._cut = 0

    def add(self, chunk: bytes) -> None:
        room = max(0, self.cap_bytes - len(self._kept))
        self._kept += chunk[:room]
        self._cut += max(0, len(chunk) - room)

    def take(self) -> str:
        """Return the output since the last call, with a note of how much was cut."""
        text = self._kept.decode("utf-8", "replace")
        if self._cut:
            text += f"\n[{self._cut:,} more bytes were cut]"
        self._kept.clear()
        self._cut = 0
        return text
