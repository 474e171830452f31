"""What grade watch shows: a screen that is drawn anew at each event."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from rich.console import Console
from rich.control import Control
from rich.segment import ControlType, Segment, SegmentLines
from rich.text import Text

from grader.cli.commands.workspace import Learner
from grader.core.errors import GraderError

KEYS = {
    "h": ("hint", "a hint for what is wrong, one step further each time"),
    "n": ("next", "the lesson to take next; nothing moves on by itself"),
    "l": ("list", "all lessons, and how far you are"),
    "r": ("run again", "grade again, with new inputs"),
    "?": ("help", "these keys"),
    "q": ("quit", "end; what you have is kept"),
}
"""What each key does, in a word and in a line."""


class Screen:
    """The terminal: one picture at a time, cut to its height; plain texts without a terminal."""

    def __init__(self, console: Console, learner: Learner) -> None:
        self.console, self.tr = console, learner.tr
        self.keys = False

    @contextlib.contextmanager
    def cursor_hidden(self) -> Iterator[None]:
        """Within it no cursor blinks; afterwards there is one, on a line of its own."""
        self.console.show_cursor(False)
        try:
            yield
        finally:
            self.console.show_cursor(True)
            if self.console.is_terminal:  # what tell() left there
                self.console.control(
                    Control((ControlType.CARRIAGE_RETURN,), (ControlType.ERASE_IN_LINE, 2))
                )

    def show(
        self, body: Callable[[Console], None], notes: list[str], last: Text | None = None
    ) -> None:
        """Show what ``body`` prints, cut to fit; then notes, a last line and the keys."""
        lines = self.lines(body)
        below = (
            [Text(note) for note in notes]
            + ([last] if last is not None else [])
            + [self.keys_shown()]
        )
        # Two lines less: a blank one, and the cursor's.
        room = self.console.height - sum(len(self.console.render_lines(text)) for text in below) - 2
        if self.console.is_terminal:
            if len(lines) > room:
                more = Text(self.tr("… and {count} more lines", count=len(lines) - room + 1), "dim")
                lines = [*lines[: room - 1], self.console.render_lines(more)[0]]
            clear = Control((ControlType.HOME,), (ControlType.CLEAR,))
            self.console.control(clear)
        self.console.print(SegmentLines(lines, new_lines=True), end="")
        if last is not None:
            self.console.print(last)
        for note in notes:
            self.console.print(Text(note, "yellow"))
        self.footer()

    def lines(self, body: Callable[[Console], None]) -> list[list[Segment]]:
        """What ``body`` prints, as lines; an error of ours is a line too."""
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
        """The keys with what they do; on a narrow terminal that is more than one line."""
        shown = Text("   ").join(
            Text.assemble((key, "bold"), f" {self.tr(word)}") for key, (word, _) in KEYS.items()
        )
        shown.stylize("dim")
        return shown

    def tell(self, text: str) -> None:
        if self.console.is_terminal:
            self.console.print(Text(text, "cyan"), end="\r")
