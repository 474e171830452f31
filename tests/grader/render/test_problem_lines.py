"""Lines for editors, read back by the same expression that VS Code gets."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.cli.workspace import make_workspace, tasks, write_tasks
from grader.core.i18n import engine_catalogue
from grader.core.messages import Settings
from grader.core.report import LessonStatus, Outcome, Report
from grader.course.course import Course
from grader.course.submission import LessonFile
from grader.render.editors import BEGIN, END, problem_lines
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

WRONG = "def double(x):\n    return x * x\n\n\ndef triple(x):\n    return 3 * x\n\n\nLIMIT = 20.0\n"


def matched(line: str) -> tuple[str, int, int, str]:
    """Return what VS Code's problem matcher finds in a line."""
    pattern = tasks()["tasks"][0]["problemMatcher"]["pattern"]
    found = re.search(pattern["regexp"], line)
    assert found, line
    path, row, column = found[pattern["file"]], found[pattern["line"]], found[pattern["column"]]
    return path, int(row), int(column), found[pattern["message"]]


@pytest.fixture
def graded(host: ForkServerClient, small_course: Course) -> Callable[..., Report]:
    """Return ``graded(source)``, the report on a file with that text."""

    def grade(source: str, path: str = "tiny.py") -> Report:
        settings = Settings(3, limits=small_course.limits)
        lessons, files = small_course.lessons, {"tiny": LessonFile("tiny", path, source)}
        return grade_submission(host, small_course, lessons, files, settings, name="work")

    return grade


def test_each_failure_is_a_line_at_its_code(graded: Callable[..., Report], tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "tiny.py").write_text(WRONG, "utf-8")
    report = graded(WRONG, "work/tiny.py")
    lines = [*problem_lines(report, tmp_path, engine_catalogue("en"))]
    failed = [one for one in report.lessons[0].checks if one.outcome is Outcome.FAILED]
    assert failed
    assert len(lines) >= len(failed)
    path, row, column, text = matched(lines[0])
    assert Path(path) == tmp_path / "work" / "tiny.py"
    assert (row, column) == (2, 5)
    assert text.startswith("double returns twice x: ")


def test_a_syntax_error_is_one_line_with_its_column(graded: Callable[..., Report]) -> None:
    report = graded("def double(x:\n    return 1\n")
    assert report.lessons[0].status is LessonStatus.INVALID
    (line,) = problem_lines(report, Path(), engine_catalogue("en"))
    path, row, column, text = matched(line)
    assert (path, row) == ("tiny.py", 1)
    assert column > 1
    assert "(" in text


def test_what_a_student_wrote_makes_no_further_line(graded: Callable[..., Report]) -> None:
    report = graded("def double(x):\n    raise ValueError('a\\nfake.py:1:1: error: b\\x1b[31m')\n")
    for line in problem_lines(report, Path(), engine_catalogue("en")):
        assert "\n" not in line
        assert "\x1b" not in line
        assert matched(line)[0] == "tiny.py"


@pytest.fixture
def watching(tmp_path: Path, small_course: Course) -> Iterator[subprocess.Popen[str]]:
    """Run ``grade watch --plain`` in a folder made by ``grade init --vscode``."""
    folder = tmp_path / "work"
    make_workspace(small_course, folder, "en", vscode=True)
    assert (folder / ".vscode" / "tasks.json").is_file()
    arguments = tasks()["tasks"][0]["args"]
    with subprocess.Popen(
        [sys.executable, *arguments, "--course", str(small_course.root), "--lang", "en"],
        cwd=folder,
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
        text=True,
    ) as process:
        yield process
        process.terminate()


def run_of(process: subprocess.Popen[str], lesson: str) -> list[str]:
    """Return the problems of the next run on a lesson."""
    assert process.stdout is not None
    found: list[str] = []
    for line in process.stdout:
        if line.startswith(f"{BEGIN} {lesson}"):
            found = []
        elif line.startswith(f"{END} {lesson}"):
            return found
        else:
            found.append(line.rstrip())
    raise AssertionError("it ended")


def test_the_task_tells_of_each_save(watching: subprocess.Popen[str], tmp_path: Path) -> None:
    run_of(watching, "tiny")
    file = tmp_path / "work" / "tiny" / "tiny.py"
    time.sleep(0.5)
    file.write_text(WRONG, "utf-8")
    places = {matched(line)[:2] for line in run_of(watching, "tiny")}
    assert ("tiny.py", 2) in {(Path(path).name, row) for path, row in places}


def test_tasks_are_written_once_and_are_json(tmp_path: Path) -> None:
    write_tasks(tmp_path)
    labels = [task["label"] for task in tasks()["tasks"]]
    assert labels == ["grade", "open report", "write report"]
