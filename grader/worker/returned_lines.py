"""Find the line of the return by which a student's function ended. Tracing is slow, so this is used
only when a failed check is run once more.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Collection, Iterator
from types import FrameType
from typing import Any

Tracer = Callable[[FrameType, str, Any], Any]


class ReturnedLine:
    """The line of the return that ended the last outermost call of a function; None if there was
    no such call, or it ended otherwise. ``lines`` has the lines of the function's returns.
    """

    def __init__(self, filename: str, name: str, lines: Collection[int]) -> None:
        self.filename = filename
        self.name = name
        self.lines = lines
        self.line: int | None = None
        self._depth = 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the calls of a block, in this thread."""
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)

    def _called(self, frame: FrameType, event: str, value: Any) -> Tracer | None:
        code = frame.f_code
        if code.co_filename != self.filename or code.co_qualname != self.name:
            return None
        self._depth += 1
        last: int | None = None

        def inside(frame: FrameType, event: str, value: Any) -> Tracer:
            nonlocal last
            if event == "exception":
                last = None
            elif frame.f_lineno in self.lines:
                last = frame.f_lineno
            elif event == "return" and value is None:  # it ended without a return
                last = None
            if event == "return":  # also the end by an exception
                self._depth -= 1
                if self._depth == 0:
                    self.line = last
            return inside

        return inside
