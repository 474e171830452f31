"""The screen of ``grade watch``: verdicts, what a save changed, and what the keys show."""

from __future__ import annotations

import contextlib
import os
import secrets
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.control import Control
from rich.padding import Padding
from rich.segment import ControlType, Segment, SegmentLines
from rich.text import Text

from grader.cli.learner import show_hint, show_lessons, show_next
from grader.cli.workspace import Learner, keep, record
from grader.core.errors import GraderError, UsageError
from grader.core.i18n import Catalogue
from grader.core.messages import Settings
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.core.text import clean
from grader.course.submission import LessonFile, read_submission
from grader.render.code import folded
from grader.render.editors import run_lines
from grader.render.page import render_page
from grader.render.terminal import make_console, show_figures, show_report
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

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
REPORT = "report.html"
GUTTER = " " * 7
"""What stands before a line of code: a mark, its number, a gap."""


class WatchSession:
    """One run of ``grade watch``: the functions that the loop calls, and what is on the screen."""

    def __init__(
        self, learner: Learner, host: ForkServerClient, *, keeps: bool, sandbox: str, plain: bool
    ) -> None:
        self.learner, self.host, self.keeps, self.sandbox = learner, host, keeps, sandbox
        self.plain, self.tr = plain, learner.tr
        self.screen = Screen(make_console(), learner.tr)
        self.notes: list[str] = []
        self.current = ""
        self.interrupted = False
        self.report: Report | None = None
        self.reports: dict[str, Report] = {}
        self.seeds: dict[str, int] = {}
        """Each lesson's seed: from save to save the inputs stay the same, so that a change of the
        verdict comes from a change of the file.
        """

    def begin(self, *, has_keys: bool) -> None:
        """Show that grading begins."""
        self.screen.keys = has_keys
        self.learner = replace(self.learner, has_keys=has_keys)
        starting = Text(self.tr("Starting …"), "dim")
        self.screen.show(lambda console: console.print(starting), self.notes)

    def read(self, lesson: str) -> LessonFile | None:
        return read_submission(self.learner.folder, [lesson]).get(lesson)

    def grade(self, lesson: str, file: LessonFile | None) -> Report:
        if self.interrupted:
            self.interrupted = False
            self.host.close()
        course, lang = self.learner.course, self.tr.lang
        seed = self.seeds.setdefault(lesson, secrets.randbits(32))
        # with the seed of the last save, the judge knows what each check will ask
        settings = Settings(
            seed, self.sandbox, course.limits, lang=lang, prestart=True, planned=True
        )
        name = self.learner.folder.resolve().name
        files = {lesson: file} if file else {}
        return grade_submission(
            self.host, course, [course.lesson(lesson)], files, settings, name=name
        )

    def end(self) -> None:
        self.interrupted = True
        self.host.interrupt()

    def slow(self, lesson: str, seconds: int) -> None:
        self.current = lesson
        if self.plain:
            return
        template = "grading {lesson} … {seconds} s" if seconds else "grading {lesson} …"
        self.screen.show_status(self.tr(template, lesson=lesson, seconds=seconds))

    def shown(self, report: Report, before: LessonResult | None) -> None:
        (result,) = report.lessons
        self.current, self.report = result.id, report
        if self.plain:
            self.reports.pop(result.id, None)  # the last one is the latest
            self.reports[result.id] = report
            for line in run_lines([*self.reports.values()], self.learner.folder, self.tr):
                print(line, flush=True)
            if self.keeps:
                record(self.learner, report, make_console(stderr=True))
            return

        def body(console: Console) -> None:
            commands = not self.screen.keys
            show_report(console, report, html=None, tr=self.tr, commands=commands)
            if self.keeps:
                record(self.learner, report, console)

        last = change_text(before, result, self.tr) if before else None
        self.screen.show(body, self.notes, last=last)
        self.screen.keep()

    def pressed(self, key: str) -> None:
        shows: dict[str, Callable[[Console], None]] = {
            "h": lambda console: show_hint(self.learner, console, self.current),
            "n": lambda console: show_next(self.learner, console),
            "l": lambda console: show_lessons(self.learner, console),
            "c": self.show_code,
            "g": self.show_figures,
            "o": self.open_report,
            "?": self.explain,
        }
        if key.lower() in (*FORWARD_KEYS, *BACK_KEYS):
            self.screen.scroll(1 if key.lower() in FORWARD_KEYS else -1)
        elif key in (NEXT_FAILURE, PREVIOUS_FAILURE):
            if not self.screen.back():
                self.screen.jump(forward=key == NEXT_FAILURE)
        elif show := shows.get(key.lower()):
            self.screen.show(show, [])
            if key.lower() == "c":
                self.screen.reveal_failure()

    def show_code(self, console: Console) -> None:
        """Print the lesson's file with line numbers; lines of failures are marked."""
        file = self.read(self.current)
        if file is None or file.problem:
            console.print(Text(self.tr("There is no file to show"), "dim"))
            return
        checks = self.report.lessons[0].checks if self.report else ()
        lines = file.text.split("\n")
        failed = lines_that_failed(checks, lines)
        console.print(Text(file.path, "bold"))
        for number, line in enumerate(lines, 1):
            mark, style = (Outcome.FAILED.mark, "bold red") if number in failed else (" ", "")
            first, *others = folded(clean(line.expandtabs(4)), console.width - len(GUTTER))
            console.print(Text(f"{mark}{number:4}  {first}", style))
            for piece in others:
                console.print(Text(GUTTER + piece, style))

    def show_figures(self, console: Console) -> None:
        show_figures(console, self.report.lessons if self.report else (), self.tr)

    def open_report(self, console: Console) -> None:
        """Write the last run's page and open it; print its path."""
        if self.report is None:
            console.print(Text(self.tr("Nothing has been graded yet"), "dim"))
            return
        path = self.learner.folder / REPORT
        try:
            path.write_text(self.page(self.report), "utf-8", newline="\n")
        except OSError as error:
            message = "{file} can't be written: {reason}. Nothing of yours was lost"
            raise UsageError(self.tr(message, file=path, reason=error.strerror)) from None
        webbrowser.open(path.resolve().as_uri())
        console.print(Text(os.path.relpath(path)))

    def page(self, report: Report) -> str:
        """Render the last run's page with what the learner's own page holds: code and READMEs."""
        learner, tr = self.learner, self.tr
        file = self.read(self.current)
        files = {self.current: file} if file else {}
        place = Path() if self.keeps else learner.folder
        own = keep(learner.course, report, files, place, tr.lang)
        return render_page(report, tr, extras=own)

    def explain(self, console: Console) -> None:
        for key, (_, what) in KEYS.items():
            console.print(Text.assemble((f"  {key}  ", "bold"), self.tr(what)))
        scrolling = self.tr(
            "space and b scroll; a dot goes back to the result and to the next failure, a comma to"
            " the previous one"
        )
        console.print(Padding(Text(scrolling, "dim"), (0, 0, 0, 5), expand=False))


class Content(NamedTuple):
    """What a screen shows above its keys: lines that scroll, and what stays below them."""

    lines: list[list[Segment]]
    below: list[Text]


class Screen:
    """The terminal, one screen at a time; without a terminal, plain text."""

    def __init__(self, console: Console, tr: Catalogue) -> None:
        self.console, self.tr = console, tr
        self.keys = False
        self._shown = self._kept = Content([], [])
        self._top = 0

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
        """Show as much of what ``body`` prints as fits; then a last line, notes and the keys."""
        below = [last] if last is not None else []
        below += [Text(note, "yellow") for note in notes]
        self._shown, self._top = Content(self.lines(body), below), 0
        self.draw()

    def keep(self) -> None:
        """Keep the current screen for ``back``."""
        self._kept = self._shown

    def back(self) -> bool:
        """Show the kept screen if another one is shown; return whether it was."""
        if self._kept is self._shown or not self._kept.lines:
            return False
        self._shown, self._top = self._kept, 0
        self.draw()
        return True

    def scroll(self, screenfuls: int) -> None:
        """Show the next part of the screen's text, or with -1 the previous one."""
        part = self.room() - 1  # without the line that says how much is left
        if 0 <= self._top + screenfuls * part < len(self._shown.lines):
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
            for number, line in enumerate(self._shown.lines)
            if "".join(part.text for part in line).lstrip().startswith(FAILURE_MARKS)
        ]

    def room(self) -> int:
        """Return how many lines there are above last line, notes and keys."""
        below = [*self._shown.below, self.keys_shown()]
        # Two lines less: a blank one, and the line of the cursor.
        taken = sum(len(self.console.render_lines(text)) for text in below) + 2
        return max(self.console.height - taken, 2)

    def draw(self) -> None:
        lines = self._shown.lines
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
        for text in self._shown.below:
            self.console.print(text)
        if self.keys:
            self.console.print("", self.keys_shown(), sep="\n")
        elif not self.console.is_terminal:
            self.console.print()

    def lines(self, body: Callable[[Console], None]) -> list[list[Segment]]:
        """Return what ``body`` prints as lines; an expected error becomes a line too."""
        with self.console.capture() as captured:
            try:
                body(self.console)
            except GraderError as error:
                self.console.print(Text(str(error), "red"))
        printed = captured.get().rstrip("\n")
        text = Text.from_ansi(printed) if self.console.is_terminal else Text(printed)
        return self.console.render_lines(text, pad=False)

    def keys_shown(self) -> Text:
        """Return the keys with their actions; a narrow terminal needs several lines for them."""
        shown = Text("  ").join(
            Text.assemble((key, "bold"), f" {self.tr(word)}") for key, (word, _) in KEYS.items()
        )
        shown.stylize("dim")
        return shown

    def show_status(self, text: str) -> None:
        if self.console.is_terminal:
            self.console.print(Text(text, "cyan"), end="\r")


def change_text(before: LessonResult, after: LessonResult, tr: Catalogue) -> Text:
    """Return a line with what changed since the last run."""
    was = {check.id: check for check in before.checks}
    pairs = [(was[check.id], check) for check in after.checks if check.id in was]
    right = {check.id for check in before.checks if check.outcome is Outcome.PASSED}
    now = {check.id for check in after.checks if check.outcome is Outcome.PASSED}
    others = [(old, new) for old, new in pairs if not {old.id} & (right | now)]
    newly = [old.outcome for old, new in others if is_begun(new) and not is_begun(old)]
    begun, checked = newly.count(Outcome.NOT_STARTED), newly.count(Outcome.SKIPPED)
    wrong = [(old, new) for old, new in others if is_begun(old) and is_begun(new)]
    otherwise = sum(shown(old) != shown(new) for old, new in wrong)
    file, parts = file_change(before, after), []
    if file:
        parts.append(Text(tr(file), "yellow"))
    if gained := len(now - right):
        parts.append(Text(tr("{count} more right", count=gained), "green"))
    if lost := len(right - now):
        parts.append(Text(tr("{count} no longer right", count=lost), "red"))
    if begun and not file:
        parts.append(Text(tr("{count} begun, not right yet", count=begun), "yellow"))
    if checked and not file:
        parts.append(Text(tr("{count} more checked, not right yet", count=checked), "yellow"))
    if otherwise and not file:
        parts.append(Text(tr("{count} wrong in another way", count=otherwise), "yellow"))
    if not parts:
        return Text(tr("nothing changed since the last run"), "dim")
    if points := round(after.score - before.score, 4):
        text = "{points} point" if abs(points) == 1 else "{points} points"
        parts.append(Text(tr(text, points=f"{points:+g}"), "bold"))
    return Text(" · ").join(parts)


def is_begun(check: CheckResult) -> bool:
    return check.outcome not in (Outcome.NOT_STARTED, Outcome.SKIPPED)


def lines_that_failed(checks: Sequence[CheckResult], lines: Sequence[str]) -> set[int]:
    """Return the numbers of the lines at which checks failed, if these still have the same text: a
    file may have been saved since.
    """
    return {
        check.source_line
        for check in checks
        if check.source_line and check.source_text and not check.outcome.quiet
        if "".join(lines[check.source_line - 1 : check.source_line]).strip()
        == check.source_text.split("\n")[0].strip()
    }


def shown(check: CheckResult) -> tuple[object, ...]:
    """Return what distinguishes one failure from another, without values that are drawn again."""
    return check.outcome, check.diagnosis, check.source_text


def file_change(before: LessonResult, after: LessonResult) -> str | None:
    """Return what happened to the file itself: it disappeared, came back, broke or was mended."""
    was, now = before.status, after.status
    if was is now:
        other = before.message != after.message and now is LessonStatus.INVALID
        return "another problem keeps the file from being loaded" if other else None
    if now is LessonStatus.MISSING:
        return "the file is gone"
    if now is LessonStatus.INVALID:
        return "the file can no longer be loaded"
    if was is LessonStatus.MISSING:
        return "the file is back"
    return "the file can be loaded again" if was is LessonStatus.INVALID else None
