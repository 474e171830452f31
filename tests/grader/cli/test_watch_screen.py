"""``grade watch`` on a terminal: what is on the screen, what keys do, and the terminal
afterwards.
"""

from __future__ import annotations

import io
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pexpect
import pyte
import pytest
from rich.console import Console
from rich.text import Text

import grader
from grader.cli.watch_screen import Screen
from grader.cli.workspace import Learner, make_workspace
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


@pytest.fixture
def open_terminal(tmp_path: Path, small_course: Course) -> Iterator[Callable[..., Terminal]]:
    """Return ``open_terminal(text, lang)``, which watches a workspace with that text as tiny.py."""
    opened: list[Terminal] = []

    def start(text: str, lang: str = "en") -> Terminal:
        make_workspace(small_course, tmp_path / "work", "en")
        (tmp_path / "work" / "tiny" / "tiny.py").write_text(text)
        opened.append(Terminal(tmp_path / "work", small_course, lang))
        return opened[-1]

    yield start
    for terminal in opened:
        terminal.child.close(force=True)


def test_a_session_from_wrong_to_right(
    open_terminal: Callable[..., Terminal], tmp_path: Path
) -> None:
    """The session has a verdict, a hint, the code, the report, a save with its change, and help;
    ``q`` ends it, restores the cursor, and progress is kept.
    """
    terminal = open_terminal(WRONG)
    screen = terminal.until(" quit")
    screen = screen if "5 / 10" in screen else terminal.until(" quit")
    assert "5 / 10" in screen.splitlines()[0]
    assert "Looks like: x is squared." in screen
    terminal.child.send("h")
    assert terminal.until(" quit").startswith("double  hint 1 of 3")
    terminal.child.send("g")
    assert "There is nothing to draw" in terminal.until(" quit")
    terminal.child.send("c")
    lines = terminal.until(" quit").splitlines()
    assert "tiny/tiny.py" in lines[0]
    assert "✘   1  def double(x): return x * x" in lines[1]
    assert "    2  def triple(x): return 3 * x" in lines[2]
    terminal.child.send("o")
    assert "report.html" in terminal.until(" quit")
    assert "x is squared" in (tmp_path / "work" / "report.html").read_text("utf-8")
    terminal.child.send(".")
    assert "Looks like: x is squared." in terminal.until(" quit")
    terminal.child.send("?")
    assert "nothing moves on by itself" in terminal.until(" quit")
    (tmp_path / "work" / "tiny" / "tiny.py").write_text(RIGHT)
    screen = terminal.until(" quit")
    assert "10 / 10" in screen.splitlines()[0]
    assert "more right · +5 points" in screen
    assert "Every lesson complete" in screen
    terminal.child.send("q")
    assert terminal.ended() == (0, True)
    progress = read_progress(tmp_path / "work").of("tiny")
    assert (progress.complete, progress.hints) == (True, {"double": 1})


def test_a_dot_and_a_comma_go_from_failure_to_failure(tmp_path: Path, small_course: Course) -> None:
    console = Console(force_terminal=True, width=COLUMNS, height=12, file=io.StringIO())
    screen = Screen(console, Learner.at(small_course, tmp_path, "en"))
    text = "\n".join(f"  ✘ check {n}" if n % 7 == 3 else f"line {n}" for n in range(40))
    screen.show(lambda console: console.print(text), [])

    def top() -> str:
        picture = pyte.Screen(COLUMNS, 12)
        pyte.Stream(picture).feed(console.file.getvalue().replace("\n", "\r\n"))  # type: ignore[attr-defined]
        return picture.display[0].strip()

    tops = [top()]
    for forward in (True, True, False, False):
        screen.jump(forward=forward)
        tops.append(top())
    assert tops == ["line 0", "✘ check 3", "✘ check 10", "✘ check 3", "✘ check 3"]


def test_what_a_save_changed_is_seen_however_long_the_report(
    tmp_path: Path, small_course: Course
) -> None:
    """The report is cut to the terminal's height; the last line is not."""
    console = Console(force_terminal=True, width=COLUMNS, height=12, file=io.StringIO())
    screen = Screen(console, Learner.at(small_course, tmp_path, "en"))
    screen.show(
        lambda console: console.print("\n".join(f"line {number}" for number in range(40))),
        [],
        last=Text("2 more right"),
    )
    picture = pyte.Screen(COLUMNS, 12)
    pyte.Stream(picture).feed(console.file.getvalue().replace("\n", "\r\n"))  # type: ignore[attr-defined]
    lines = [line.rstrip() for line in picture.display]
    assert lines[0] == "line 0"
    assert lines[lines.index("2 more right") - 1] == "… 33 more lines: space shows them"


def test_space_and_b_scroll_through_all_of_a_long_report(
    tmp_path: Path, small_course: Course
) -> None:
    """No line is skipped; beyond either end nothing changes."""
    console = Console(force_terminal=True, width=COLUMNS, height=12, file=io.StringIO())
    screen = Screen(console, Learner.at(small_course, tmp_path, "en"))
    screen.show(lambda console: console.print("\n".join(f"line {n}" for n in range(40))), [])

    def shown() -> list[str]:
        picture = pyte.Screen(COLUMNS, 12)
        pyte.Stream(picture).feed(console.file.getvalue().replace("\n", "\r\n"))  # type: ignore[attr-defined]
        return [line.rstrip() for line in picture.display if line.strip()]

    first, seen = shown(), shown()[:-1]
    for _ in range(10):
        screen.scroll(1)
        seen += [line for line in shown()[:-1] if line.startswith("line") and line not in seen]
    assert seen == [f"line {n}" for n in range(40)]
    assert shown()[-1] == "the end; b goes back"
    for _ in range(10):
        screen.scroll(-1)
    assert shown() == first


def test_the_first_line_is_in_sight_where_keys_and_notes_take_two_lines(
    tmp_path: Path, small_course: Course
) -> None:
    """This happens on a narrow terminal, in Korean, whose letters are two cells wide."""
    console = Console(force_terminal=True, width=40, height=12, file=io.StringIO())
    screen = Screen(console, Learner.at(small_course, tmp_path, "ko"))
    screen.keys = True
    screen.show(
        lambda console: console.print("\n".join(f"line {number}" for number in range(40))),
        ["note " * 12],
    )
    picture = pyte.Screen(40, 12)
    pyte.Stream(picture).feed(console.file.getvalue().replace("\n", "\r\n"))  # type: ignore[attr-defined]
    assert picture.display[0].rstrip() == "line 0"


def test_leaving_the_screen_clears_the_status_line(tmp_path: Path, small_course: Course) -> None:
    """The shell's prompt appears on an empty line, even if a run was in progress."""
    console = Console(force_terminal=True, width=COLUMNS, height=12, file=io.StringIO())
    screen = Screen(console, Learner.at(small_course, tmp_path, "en"))
    with screen.cursor_hidden():
        screen.show_status("grading tiny …")
    picture = pyte.Screen(COLUMNS, 12)
    pyte.Stream(picture).feed(console.file.getvalue())  # type: ignore[attr-defined]
    assert not "".join(picture.display).strip()
    assert picture.cursor.x == 0


def test_korean(open_terminal: Callable[..., Terminal]) -> None:
    """The verdict's words and the keys are Korean; end of input ends the session."""
    terminal = open_terminal(WRONG, "ko")
    screen = terminal.until("끝내기")
    screen = screen if "5 / 10" in screen else terminal.until("끝내기")
    assert "오답" in screen.replace(" ", "")
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
    end: Callable[[pexpect.spawn], None], code: int, open_terminal: Callable[..., Terminal]
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
    tmp_path: Path, small_course: Course
) -> None:
    shutil.copytree(small_course.root, tmp_path / "course")
    command = [
        sys.executable,
        "-m",
        "grader",
        "watch",
        "--course",
        str(tmp_path / "course"),
        "--in",
        str(tmp_path / "course" / "tests" / "checks" / "tiny"),
    ]
    done = subprocess.run(
        command, env=environment("en"), capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 2
    assert "grade init my-work" in done.stderr
