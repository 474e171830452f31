"""Draw the screen of ``grade watch`` again at each event, and scroll it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType, Segment, SegmentLines
from rich.text import Text

from grader.cli.commands.workspace import Learner
from grader.core.errors import GraderError
from grader.core.report import Outcome

KEYS = {
    "h": ("hint", "a hint for what is wrong, one step further each time"),
    "g": ("graph", "graphs and plots of what is wrong, drawn in full"),
    "n": ("next", "the lesson to take next; nothing moves on by itself"),
    "l": ("list", "all lessons, and how far you are"),
    "c": ("code", "your file, with the lines that failed"),
    "r": ("run again", "grade again, with new inputs"),
    "o": ("report", "write report.html and open it in a browser"),
    "?": ("help", "these keys"),
    "q": ("quit", "end; what you have is kept"),
}
"""What each key does, in a word and in a line."""


MORE = "… {count} more lines: space shows them"
MORE_AND_BACK = "… {count} more lines: space shows them, b goes back"
BACK = "the end; b goes back"
FORWARD_KEYS, BACK_KEYS = (" ", "j"), ("b", "k")
NEXT_FAILURE, PREVIOUS_FAILURE = ".", ","
FAILURE_MARKS = tuple({one.mark for one in Outcome if not one.quiet})


class Screen:
    """The terminal, one screen at a time; without a terminal, plain text."""

    def __init__(self, console: Console, learner: Learner) -> None:
        self.console, self.tr = console, learner.tr
        self.keys = False
        self._lines: list[list[Segment]] = []
        self._notes: list[str] = []
        self._last: Text | None = None
        self._top = 0
        self._kept: tuple[list[list[Segment]], list[str], Text | None] | None = None

    @contextlib.contextmanager
    def cursor_hidden(self) -> Iterator[None]:
        """Hide the cursor during the block; afterwards show it on a line of its own."""
        self.console.show_cursor(False)
        try:
            yield
        finally:
            self.console.show_cursor(True)
            if self.console.is_terminal:  # what show_status() left on the line
                self.console.control(
                    Control((ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2))
                )

    def show(
        self, body: Callable[[Console], None], notes: list[str], last: Text | None = None
    ) -> None:
        """Show as much of what ``body`` prints as fits; then notes, a last line and the keys."""
        self._lines, self._notes, self._last, self._top = self.lines(body), notes, last, 0
        self.draw()

    def keep(self) -> None:
        """Keep the current screen for ``back``."""
        self._kept = self._lines, self._notes, self._last

    def back(self) -> bool:
        """Show the kept screen if another one is shown; return whether it was."""
        if self._kept is None or self._kept[0] is self._lines:
            return False
        (self._lines, self._notes, self._last), self._top = self._kept, 0
        self.draw()
        return True

    def scroll(self, screenfuls: int) -> None:
        """Show the next part of the screen's text, or with -1 the previous one."""
        part = self.room() - 1  # without the line that says how much is left
        if 0 <= self._top + screenfuls * part < len(self._lines):
            self._top += screenfuls * part
            self.draw()

    def jump(self, *, forward: bool) -> None:
        """Scroll the next failure, or the previous one, to the top."""
        failures = self.failures()
        ahead = [at for at in failures if (at > self._top if forward else at < self._top)]
        if ahead:
            self._top = ahead[0] if forward else ahead[-1]
            self.draw()

    def reveal_failure(self) -> None:
        """Scroll to the first failure, with some lines above it, unless it is on the screen."""
        first, room = next(iter(self.failures()), 0), self.room() - 1
        if first >= room:
            self._top = first - room // 2
            self.draw()

    def failures(self) -> list[int]:
        """Return the numbers of the lines that begin with a failure's mark."""
        return [
            number
            for number, line in enumerate(self._lines)
            if "".join(part.text for part in line).lstrip().startswith(FAILURE_MARKS)
        ]

    def room(self) -> int:
        """Return how many lines there are above notes, last line and keys."""
        below = [
            *map(Text, self._notes),
            *([self._last] if self._last is not None else []),
            self.keys_shown(),
        ]
        # Two lines less: a blank one, and the line of the cursor.
        taken = sum(len(self.console.render_lines(text)) for text in below) + 2
        return max(self.console.height - taken, 2)

    def draw(self) -> None:
        lines = self._lines
        if self.console.is_terminal:
            room = self.room()
            if len(lines) > room:
                shown = lines[self._top : self._top + room - 1]
                left = len(lines) - self._top - len(shown)
                template = (MORE_AND_BACK if self._top else MORE) if left else BACK
                more = Text(self.tr(template, count=left), "dim")
                lines = [*shown, self.console.render_lines(more)[0]]
            self.console.control(Control((ControlType.HOME,), (ControlType.CLEAR,)))
        self.console.print(SegmentLines(lines, new_lines=True), end="")
        if self._last is not None:
            self.console.print(self._last)
        for note in self._notes:
            self.console.print(Text(note, "yellow"))
        self.footer()

    def lines(self, body: Callable[[Console], None]) -> list[list[Segment]]:
        """Return what ``body`` prints as lines; an expected error becomes a line too."""
        with self.console.capture() as captured:
            try:
                body(self.console)
            except GraderError as error:
                self.console.print(Text(str(error), "red"))
        text = (
            Text.from_ansi(captured.get().rstrip("\n"))
            if self.console.is_terminal
            else Text(captured.get().rstrip("\n"))
        )
        return self.console.render_lines(text, pad=False)

    def footer(self) -> None:
        if self.keys:
            self.console.print("", self.keys_shown(), sep="\n")
        elif not self.console.is_terminal:
            self.console.print()

    def keys_shown(self) -> Text:
        """Return the keys with their actions; on a narrow
        terminal this takes more than one line.
        """
        shown = Text("  ").join(
            Text.assemble((key, "bold"), f" {self.tr(word)}") for key, (word, _) in KEYS.items()
        )
        shown.stylize("dim")
        return shown

    def show_status(self, text: str) -> None:
        if self.console.is_terminal:
            self.console.print(Text(text, "cyan"), end="\r")
