"""``grade watch`` on a terminal: what is on the screen, what keys do, and the terminal
afterwards.
"""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pexpect
import pyte
import pytest
from in_process import Run
from rich.console import Console
from rich.text import Text

import grader
from grader.cli import watch_screen
from grader.cli.watch_screen import KEYS, Screen, WatchSession, lines_that_failed
from grader.cli.workspace import Learner, make_workspace
from grader.core.errors import ExitCode
from grader.core.i18n import engine_catalogue
from grader.core.report import CheckResult, Outcome
from grader.course.course import Course
from grader.course.progress import read_progress

if sys.platform == "win32":
    pytest.skip("needs Unix: its terminals", allow_module_level=True)
else:
    import termios

ROOT = Path(grader.__file__).parent.parent
COLUMNS, LINES = 80, 24
WRONG = "def double(x): return x * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
RIGHT = WRONG.replace("x * x", "2 * x")


def environment(lang: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    return {
        **kept,
        "PYTHONPATH": str(ROOT),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
        "GRADE_LANG": lang,
        "BROWSER": "true",  # none is opened
    }


class Terminal:
    """A terminal in which ``grade watch`` runs."""

    def __init__(self, folder: Path, course: Course, lang: str = "en") -> None:
        command = ["-m", "grader", "watch", "--course", str(course.root)]
        size = (LINES, COLUMNS)
        self.child = pexpect.spawn(
            sys.executable,
            command,
            cwd=str(folder),
            env=environment(lang),
            dimensions=size,
            encoding="utf-8",
            timeout=120,
        )
        self.before = self.modes()
        self.seen = pyte.Screen(COLUMNS, LINES)
        self.stream = pyte.Stream(self.seen)

    def until(self, text: str) -> str:
        """Wait until the text is written; return the screen, with what follows it at once."""
        self.child.expect_exact(text)
        self.stream.feed(self.child.before + self.child.after)
        return "\n".join(self.seen.display)

    def verdict(self, last: str = " quit") -> str:
        """Return the screen with the first verdict; another screen may come before it."""
        screen = self.until(last)
        return screen if "5 / 10" in screen else self.until(last)

    def press(self, key: str) -> str:
        self.child.send(key)
        return self.until(" quit")

    def ended(self) -> tuple[int, bool]:
        """Wait for the end; return the exit code, and whether modes and cursor of the terminal are
        restored.
        """
        self.child.expect(pexpect.EOF)
        self.stream.feed(self.child.before)
        restored = self.modes() == self.before and not self.seen.cursor.hidden
        self.child.close()
        return self.child.exitstatus, restored

    def modes(self) -> int:
        """Return the local modes of the terminal: echo, lines, signals."""
        return int(termios.tcgetattr(self.child.child_fd)[3])


Open = Callable[..., Terminal]


@pytest.fixture
def open_terminal(tmp_path: Path, small_course: Course) -> Iterator[Open]:
    """Return ``open_terminal(text, lang)``, which watches a workspace with that text as tiny.py."""
    opened: list[Terminal] = []

    def start(text: str, lang: str = "en") -> Terminal:
        make_workspace(small_course, tmp_path / "work", lang)
        (tmp_path / "work" / "tiny" / "tiny.py").write_text(text)
        opened.append(Terminal(tmp_path / "work", small_course, lang))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.child.close(force=True)


def test_a_session_from_wrong_to_right(open_terminal: Open, tmp_path: Path) -> None:
    """The session has a verdict, a hint, the code, the report, a save with its change, and help;
    ``q`` ends it, restores the cursor, and progress is kept.
    """
    terminal = open_terminal(WRONG)
    screen = terminal.verdict()
    assert "5 / 10" in screen.splitlines()[0]
    assert "Looks like: x is squared." in screen
    assert terminal.press("h").startswith("double  hint 1 of 3")
    assert "There is nothing to draw" in terminal.press("g")
    lines = terminal.press("c").splitlines()
    assert "tiny/tiny.py" in lines[0]
    assert "✘   1  def double(x): return x * x" in lines[1]
    assert "    2  def triple(x): return 3 * x" in lines[2]
    assert "report.html" in terminal.press("o")
    assert "x is squared" in (tmp_path / "work" / "report.html").read_text("utf-8")
    assert "Looks like: x is squared." in terminal.press(".")
    assert "nothing moves on by itself" in terminal.press("?")
    (tmp_path / "work" / "tiny" / "tiny.py").write_text(RIGHT)
    screen = terminal.until(" quit")
    assert "10 / 10" in screen.splitlines()[0]
    assert "more right · +5 points" in screen
    assert "Every lesson complete" in screen
    terminal.child.send("q")
    assert terminal.ended() == (0, True)
    progress = read_progress(tmp_path / "work").of("tiny")
    assert (progress.complete, progress.hints) == (True, {"double": 1})


class Picture:
    """A screen on a low terminal, which shows the lines ``line 0`` to ``line 39``."""

    def __init__(self, lang: str = "en", width: int = COLUMNS) -> None:
        self.out = io.StringIO()
        console = Console(force_terminal=True, width=width, height=12, file=self.out)
        self.screen = Screen(console, engine_catalogue(lang))

    def show(self, *notes: str, last: Text | None = None, mark: str = "") -> None:
        """Show the lines; every seventh from line 3 on begins with ``mark``."""
        marks = [mark if number % 7 == 3 else "" for number in range(40)]
        text = "\n".join(f"{mark}line {number}" for number, mark in enumerate(marks))
        self.screen.show(lambda console: console.print(text), [*notes], last=last)

    def seen(self) -> pyte.Screen:
        """Return the terminal after everything that was written so far."""
        seen = pyte.Screen(self.screen.console.width, 12)
        pyte.Stream(seen).feed(self.out.getvalue().replace("\n", "\r\n"))
        return seen

    def lines(self) -> list[str]:
        return [line.rstrip() for line in self.seen().display if line.strip()]


def test_only_lines_that_are_still_the_same_are_marked() -> None:
    """The file may have been saved since the run."""
    failed = CheckResult("tiny.double", "", "double", Outcome.FAILED, 0.0, 1.0)
    checks = [
        replace(failed, source_line=2, source_text="y = x * x"),
        replace(failed, source_line=3, source_text="return y"),
        replace(failed, source_line=9, source_text="return 0"),
        replace(failed, outcome=Outcome.PASSED, source_line=1, source_text="def double(x):"),
    ]
    lines = ["def double(x):", "    y = x * x", "    return 2 * x"]
    assert lines_that_failed(checks, lines) == {2}


def test_a_dot_and_a_comma_go_from_failure_to_failure() -> None:
    picture = Picture()
    picture.show(mark="✘ ")
    tops = [picture.lines()[0]]
    for forward in (True, True, False, False):
        picture.screen.jump(forward=forward)
        tops.append(picture.lines()[0])
    assert tops == ["line 0", "✘ line 3", "✘ line 10", "✘ line 3", "✘ line 3"]


def test_what_a_save_changed_is_seen_however_long_the_report() -> None:
    """The report is cut to the terminal's height; the last line is not."""
    picture = Picture()
    picture.show(last=Text("2 more right"))
    lines = picture.lines()
    assert lines[0] == "line 0"
    assert lines[lines.index("2 more right") - 1] == "… 33 more lines: space shows them"


def test_space_and_b_scroll_through_all_of_a_long_report() -> None:
    """No line is skipped; beyond either end nothing changes."""
    picture = Picture()
    picture.show()
    first = picture.lines()
    seen = first[:-1]
    for _ in range(10):
        picture.screen.scroll(1)
        shown = picture.lines()[:-1]
        seen += [line for line in shown if line.startswith("line") and line not in seen]
    assert seen == [f"line {n}" for n in range(40)]
    assert picture.lines()[-1] == "the end; b goes back"
    for _ in range(10):
        picture.screen.scroll(-1)
    assert picture.lines() == first


def test_the_first_line_is_in_sight_where_keys_and_notes_take_two_lines() -> None:
    """This happens on a narrow terminal, in Korean, whose letters are two cells wide."""
    picture = Picture("ko", width=40)
    picture.screen.keys = True
    picture.show("note " * 12)
    assert picture.seen().display[0].rstrip() == "line 0"


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_the_help_stays_beside_its_keys(lang: str) -> None:
    console = Console(width=80, file=io.StringIO())
    session: Any = SimpleNamespace(tr=engine_catalogue(lang))
    WatchSession.explain(session, console)
    lines = console.file.getvalue().splitlines()  # type: ignore[attr-defined]
    assert len(lines) > len(KEYS) + 1
    assert {line[:2] + line[3:5] for line in lines} == {" " * 4}


def test_leaving_the_screen_clears_the_status_line() -> None:
    """The shell's prompt appears on an empty line, even if a run was in progress."""
    picture = Picture()
    with picture.screen.cursor_hidden():
        picture.screen.show_status("grading tiny …")
    assert picture.lines() == []
    assert picture.seen().cursor.x == 0


def test_korean(open_terminal: Open) -> None:
    """The verdict's words and the keys are Korean; end of input ends the session."""
    terminal = open_terminal(WRONG, "ko")
    assert "오답" in terminal.verdict("끝내기").replace(" ", "")
    terminal.child.sendeof()
    assert terminal.ended() == (0, True)


@pytest.mark.parametrize(
    ("end", "code"),
    [
        (lambda child: child.sendintr(), 130),
        (lambda child: child.kill(signal.SIGTERM), 128 + signal.SIGTERM),
        pytest.param(
            lambda child: child.kill(signal.SIGHUP), 128 + signal.SIGHUP, marks=pytest.mark.proof
        ),
    ],
    ids=["Ctrl-C", "SIGTERM", "SIGHUP"],
)
def test_however_it_ends_the_terminal_is_as_it_was(
    end: Callable[[pexpect.spawn], None], code: int, open_terminal: Open
) -> None:
    terminal = open_terminal(WRONG)
    terminal.until(" quit")
    assert not terminal.modes() & termios.ECHO
    assert terminal.seen.cursor.hidden
    end(terminal.child)
    assert terminal.ended() == (code, True)


def test_without_a_terminal_there_are_verdicts_and_no_keys(
    tmp_path: Path, small_course: Course
) -> None:
    make_workspace(small_course, tmp_path / "work", "en")
    (tmp_path / "work" / "tiny" / "tiny.py").write_text(WRONG)
    command = [sys.executable, "-m", "grader", "watch", "--course", str(small_course.root)]
    with subprocess.Popen(
        command,
        cwd=tmp_path / "work",
        env=environment("en"),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    ) as child:
        assert child.stdout is not None
        said = ""
        for line in child.stdout:
            said += line
            if "seed" in line:
                break
        child.terminate()
        said += child.stdout.read()
    assert child.returncode == 128 + signal.SIGTERM
    assert "tiny  5 / 10" in said
    assert "\x1b" not in said
    assert "quit" not in said


def test_a_folder_without_lessons_ends_with_2_and_a_remedy(
    grade: Callable[..., Run], tmp_path: Path, small_course: Course
) -> None:
    run = grade(tmp_path / "empty", "watch", course=small_course.root)
    assert run.code == ExitCode.USAGE
    assert "grade init my-work" in run.err


def test_inputs_stay_the_same_from_save_to_save(
    small_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So the judge knows what the checks ask; ``r`` forgets the seed and so draws new inputs."""
    seeds: list[int] = []
    monkeypatch.setattr(
        watch_screen,
        "grade_submission",
        lambda host, course, lessons, files, settings, name: seeds.append(settings.seed),
    )
    learner = Learner.at(small_course, tmp_path, "en")
    session = WatchSession(learner, cast(Any, None), keeps=False, sandbox="off", plain=True)
    for lesson in ("tiny", "tiny"):
        session.grade(lesson, None)
    session.seeds.pop("tiny")
    session.grade("tiny", None)
    first, second, third = seeds
    assert first == second != third
