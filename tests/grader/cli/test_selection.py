"""Words after ``grade``: a lesson's name, or a path to a file, folder or zip; what each means, and
which are refused.
"""

from __future__ import annotations

import os
import re
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from in_process import exit_code

from grader.cli.selection import Selection, select
from grader.cli.workspace import keep, make_workspace
from grader.core.errors import ExitCode, UsageError
from grader.core.messages import Settings
from grader.course.course import Course
from grader.course.progress import PROGRESS_FILE
from grader.render.terminal import make_console
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission


@pytest.fixture
def work(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a workspace as the current folder, with bob's folder, his zip, and other files beside
    it.
    """
    make_workspace(small_course, tmp_path / "work", "en")
    (tmp_path / "bob").mkdir()
    (tmp_path / "bob" / "tiny.py").write_text("bobs = 1\n")
    (tmp_path / "bob" / "notes.txt").write_text("mine\n")
    (tmp_path / "bob" / "Tiny (1).py").write_text("again = 1\n")
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "tiny (1).ipynb").write_text("{}")
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "bob.zip", "w") as archive:
        archive.writestr("deep/tiny.py", "zipped = 1\n")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def chosen(course: Course, *words: str, place: Path | None = None) -> Selection:
    return select(course, words, place or Path())


@pytest.mark.parametrize(
    "word", ["tiny", "tiny.py", "tiny.ipynb", "tiny/", "./tiny", "tiny/tiny.py", "."]
)
def test_every_way_to_write_the_own_lesson_is_that_lesson(
    word: str, work: Path, small_course: Course
) -> None:
    """Another command finds the same file without an option, and it is the folder's submission."""
    found = chosen(small_course, word)
    assert [lesson.id for lesson in found.lessons] == ["tiny"]
    assert (found.files["tiny"].path, found.name, found.places) == ("tiny/tiny.py", "work", {})


@pytest.mark.parametrize(
    ("word", "path", "text"),
    [
        ("../bob", "../bob/tiny.py", "bobs"),
        ("../bob/", "../bob/tiny.py", "bobs"),
        ("../bob/tiny.py", "../bob/tiny.py", "bobs"),
        ("../bob.zip", "../bob.zip/deep/tiny.py", "zipped"),
    ],
)
def test_a_path_is_what_lies_there_and_not_the_own_lesson_of_that_name(
    word: str, path: str, text: str, work: Path, small_course: Course
) -> None:
    found = chosen(small_course, word)
    assert (found.files["tiny"].path, found.files["tiny"].text) == (path, f"{text} = 1\n")
    assert (found.name, found.places) == (Path(word).name, {"tiny": Path(word)})


def test_lessons_of_several_places_are_each_found_again(work: Path, small_course: Course) -> None:
    """One is at home; two are in other folders, of which the
    first has another lesson of that name.
    """
    lesson = small_course.lesson("tiny")
    course = replace(
        small_course,
        lessons=tuple(replace(lesson, id=name) for name in ("tiny", "small", "little")),
    )
    for path in ("small.py", "../bob/little.py", "../copies/little.py"):
        (work / path).write_text("1\n", "utf-8")
    found = chosen(course, "small", "../bob/tiny.py", "../copies/little.py")
    assert [found.files[name].path for name in ("small", "tiny", "little")] == [
        "small.py",
        "../bob/tiny.py",
        "../copies/little.py",
    ]
    assert found.places == {"tiny": Path("../bob/tiny.py"), "little": Path("../copies/little.py")}


def test_a_path_is_looked_for_in_the_place_that_is_named(work: Path, small_course: Course) -> None:
    found = chosen(small_course, "tiny.py", place=work.parent / "bob")
    assert (found.files["tiny"].text, found.places) == ("bobs = 1\n", {"tiny": work.parent / "bob"})


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["../nobody/tiny.py"], "../nobody/tiny.py does not exist. Name a file, folder or zip"),
        (["../bob/notes.txt"], "A lesson file has the name of its lesson, such as tiny.py or"),
        (
            ["../bob/Tiny (1).py"],
            "Tiny (1).py is not called tiny.py, so it was not graded. Rename it:\nmv",
        ),
        (["../copies"], "tiny (1).ipynb is not called tiny.ipynb, so it was not graded"),
        (["../empty"], "empty has no lesson file (.py or .ipynb), such as tiny.py"),
        (
            ["../bob", "../bob.zip"],
            "tiny is in ../bob/tiny.py and in ../bob.zip/deep/tiny.py. Grade one at a time; a whole"
            " class: grade batch",
        ),
        (["tinny"], "There is no lesson 'tinny'. Did you mean tiny?"),
        (["x" * 5000], "There is no lesson 'xxxx"),
    ],
    ids=lambda value: value[0][:20] if isinstance(value, list) else "",
)
def test_what_is_no_submission_is_told_with_why_and_what_to_do(
    words: list[str], answer: str, work: Path, small_course: Course
) -> None:
    with pytest.raises(UsageError) as raised:
        chosen(small_course, *words)
    assert answer in str(raised.value)


@pytest.mark.parametrize(
    ("names", "advice"),
    [
        (
            ["mine.py"],
            "tiny has no tiny.py. If your answer is in tiny/mine.py, rename this file:\nmv",
        ),
        (["mine.ipynb", "test_mine.py"], "tiny/mine.ipynb tiny/tiny.ipynb"),
        (["a.py", "b.py"], "tiny has no tiny.py. It has a.py, b.py: if your answer is in one of"),
    ],
)
def test_a_file_of_another_name_in_a_lessons_folder_is_named(
    names: list[str], advice: str, work: Path, small_course: Course
) -> None:
    """As long as the lesson's own file is not there; it can be reset beside the others."""
    for name in names:
        (work / "tiny" / name).write_text("x = 1\n")
    assert not chosen(small_course).files["tiny"].ignored
    (work / "tiny" / "tiny.py").unlink()
    assert advice in str(chosen(small_course, "tiny").files["tiny"].problem)
    with pytest.raises(UsageError, match=re.escape(advice)):
        chosen(small_course)
    assert exit_code("reset", "tiny", "--course", small_course.root) == ExitCode.OK
    assert not chosen(small_course).files["tiny"].ignored


def test_a_typed_file_of_another_name_in_a_lessons_folder_is_renamed(
    work: Path, small_course: Course
) -> None:
    (work / "tiny" / "mine.py").write_text("x = 1\n")
    with pytest.raises(UsageError, match=r"mv tiny/mine\.py tiny/tiny\.py"):
        chosen(small_course, "tiny/mine.py")


def test_a_lesson_elsewhere_in_the_work_folder_is_said_to_be_there(
    work: Path, small_course: Course
) -> None:
    (work / "other").mkdir()
    with pytest.raises(UsageError) as raised:
        chosen(small_course, "tiny", place=work / "other")
    assert str(raised.value) == (
        "tiny is not in this folder. tiny/tiny.py is in work. Go there: cd .."
    )


@pytest.mark.parametrize(("word", "kept"), [("tiny/tiny.py", True), ("../bob/tiny.py", False)])
def test_only_what_lies_in_the_own_folder_is_kept_in_its_progress(
    word: str, kept: bool, work: Path, host: ForkServerClient, small_course: Course
) -> None:
    (work / "tiny" / "tiny.py").write_text("def double(x):\n    return x * x\n")
    before = (work / PROGRESS_FILE).read_text()
    found = chosen(small_course, word)
    settings = Settings(1, "auto", small_course.limits)
    report = grade_submission(
        host, small_course, found.lessons, found.files, settings, name=found.name
    )
    keep(small_course, report, found.files, Path(), "en", console=make_console())
    assert ((work / PROGRESS_FILE).read_text() != before) is kept


@pytest.mark.parametrize("words", [(), ("tiny",)])
def test_a_large_folder_is_not_searched_to_its_end(
    words: tuple[str, ...], tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Lessons near its top are found; without any, the answer says how much was looked at."""
    for number in range(40):
        (tmp_path / f"{number:02}" / "deep").mkdir(parents=True)
        for name in ("a", "b", "c"):
            (tmp_path / f"{number:02}" / "deep" / name).touch()
    scanned: list[object] = []
    scandir = os.scandir

    def counted(path: object) -> object:
        scanned.append(path)
        return scandir(path)  # type: ignore[call-overload]

    monkeypatch.setattr("os.scandir", counted)
    for module in ("grader.course.submission", "grader.cli.selection"):
        monkeypatch.setattr(f"{module}.MAX_MEMBERS", 50)
    with pytest.raises(UsageError, match=r"among the first 50 files; .*grade init my-work"):
        select(small_course, words, tmp_path)
    assert len(scanned) < 200  # of which 81 folders would be 243 in three searches
    (tmp_path / "07" / "tiny.py").touch()
    assert select(small_course, words, tmp_path).files["tiny"].path == "07/tiny.py"
