"""``grade verify --watch`` verifies again at a save, only what the change touches; ``--changed``
takes the lessons that differ from the last commit.
"""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from in_process import exit_code
from rich.console import Console

from grader.cli import verify_watch
from grader.cli.author import changed_lessons
from grader.cli.verify_watch import KnownVerdicts, VerifyWatch
from grader.core.errors import ExitCode, UsageError
from grader.course.course import Course, load_course
from grader.verify.case_result import Case, CaseResult
from grader.verify.verify import VerifyResult


@pytest.fixture
def root(small_course: Course, tmp_path: Path) -> Path:
    return Path(shutil.copytree(small_course.root, tmp_path / "course"))


@pytest.mark.parametrize(
    ("file", "kept"),
    [
        ("exercises/tiny/README.md", True),
        ("exercises/tiny/hints.toml", True),
        ("tests/mistakes/tiny.py", True),
        ("tests/checks/tiny/test_hidden.py", False),
        ("tests/checks/tiny/diagnosis.toml", False),
        ("solutions/tiny.py", False),
    ],
)
def test_a_verdict_is_kept_unless_what_decides_it_changed(
    file: str, kept: bool, root: Path
) -> None:
    case = Case(load_course(root).lesson("tiny"), "mistake", "a", "x = 1\n")
    known = KnownVerdicts()
    known.add(case, 1, CaseResult(checks=3))
    path = root / file
    path.write_text(path.read_text("utf-8") + "\n# more\n", "utf-8")
    again = Case(load_course(root).lesson("tiny"), "mistake", "a", "x = 1\n")
    assert known.results(again) == ({1: CaseResult(checks=3)} if kept else {})
    assert known.results(Case(again.lesson, "mistake", "a", "x = 2\n")) == {}


def test_a_lesson_that_can_not_be_graded_is_tried_again(root: Path) -> None:
    case = Case(load_course(root).lesson("tiny"), "solution", "", "")
    known = KnownVerdicts()
    known.add(case, 1, CaseResult(broken="no"))
    assert known.results(case) == {}


SOURCES = ["a.py", "a.toml"]


@pytest.fixture
def watching(root: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Return ``watching(*answers)``: each verification gets the next answer, a save follows each,
    and the last one ends the loop. It returns the printed lines.
    """

    def run(*answers: VerifyResult | Exception) -> list[str]:
        saves, left = Event(), list(answers)

        def verify(*_: Any, hosts: Any, **__: Any) -> VerifyResult:
            answer = left.pop(0)
            assert not hosts.finishing.is_set()
            saves.set()
            if not left:
                watch._ended.set()
            if isinstance(answer, Exception):
                raise answer
            return answer

        def batches(
            folders: list[Path], wanted: Callable[[Path], bool], ended: Event
        ) -> Iterator[Any]:
            assert all(folder.is_dir() for folder in folders)
            assert [one for one in ("a.py", "a.toml", "a.pyc") if wanted(Path(one))] == SOURCES
            while not ended.wait(0.01):
                if saves.is_set():
                    saves.clear()
                    yield {Path("a.py")}

        monkeypatch.setattr(verify_watch, "verify", verify)
        monkeypatch.setattr(verify_watch, "save_batches", batches)
        said = io.StringIO()
        watch = VerifyWatch(root, ("tiny",), Console(file=said))
        watch.run()
        return said.getvalue().splitlines()

    return run


END = "Waiting for a save; Ctrl-C ends"


def test_each_save_is_answered_and_an_error_does_not_end_it(
    watching: Callable[..., list[str]],
) -> None:
    wrong = VerifyResult(("[wrong]",), (), 5)
    unfinished = VerifyResult(("not said",), (), 5, left=2)
    assert watching(wrong, unfinished, UsageError("a slip"), VerifyResult((), (), 6)) == [
        "[wrong]",
        f"5 gradings: 1 problem. {END}",
        "a slip",
        f"6 gradings: no problems. {END}",
    ]


def git(root: Path, *words: str) -> None:
    who = ("-c", "user.name=Ada Moor", "-c", "user.email=ada@example.org")
    subprocess.run(["git", *who, *words], cwd=root, check=True, capture_output=True)


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("README.md", ()),
        ("exercises/tiny/hints.toml", ("tiny",)),
        ("tests/checks/tiny/new.py", ("tiny",)),
        ("tests/accepted/tiny.py", ("tiny",)),
        ("tests/accepted/tiny_2.py", ()),
        ("exercises/course.toml", ("tiny",)),
    ],
)
@pytest.mark.parametrize("below", ["", "part"], ids=["repository", "folder of one"])
def test_lessons_that_differ_from_the_last_commit_are_found(
    file: str, changed: tuple[str, ...], below: str, small_course: Course, tmp_path: Path
) -> None:
    root = Path(shutil.copytree(small_course.root, tmp_path / "work" / below / "course"))
    git(tmp_path / "work", "init", "-q")
    git(tmp_path / "work", "add", "-A")
    git(tmp_path / "work", "commit", "-qm", "first")
    course = load_course(root)
    assert changed_lessons(course, course.lessons) == ()
    with (root / file).open("a", encoding="utf-8") as opened:
        opened.write("\n# more\n")
    assert changed_lessons(course, course.lessons) == changed


def test_without_git_the_lessons_are_to_be_named(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(root.parent))
    assert exit_code("verify", "--changed", "--course", root) == ExitCode.USAGE
    assert "--changed asks git, which says: fatal: not a git" in capsys.readouterr().err
