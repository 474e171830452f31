"""``grade read``: a lesson's README on the terminal."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from grader.cli.learner import plain_readme, show_readme
from grader.cli.workspace import Learner
from grader.core.errors import UsageError
from grader.course.course import Course, find_course, load_course

FOLDED = """# One

![A picture](picture.svg)

1. What is 2 + 2?
2. What is 3 + 3?

<details><summary>Answers</summary>

1. Four.

2. Six.

</details>

## After
"""


def shown(course: Course, place: Path, name: str | None, *, answers: bool = False) -> str:
    console = Console(file=io.StringIO(), width=200)
    show_readme(Learner.at(course, place, "en"), console, name, answers=answers)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_answers_are_left_out_until_asked_for() -> None:
    folded, whole = plain_readme(FOLDED, answers=False), plain_readme(FOLDED, answers=True)
    assert "<" not in folded + whole
    assert "picture" not in folded + whole
    for text in (folded, whole):
        assert "2. What is 3 + 3?" in text
        assert "## After" in text
    assert "Answers" not in folded
    assert "Six." not in folded
    assert "**Answers**\n\n1. Four.\n\n2. Six.\n" in whole


def test_every_readme_of_the_course_is_readable(tmp_path: Path) -> None:
    """Lines fit 80 columns, and there is no HTML and no answer."""
    course = load_course(find_course())
    for lesson in course.lessons:
        text = shown(course, tmp_path, lesson.id)
        assert lesson.title in text
        assert "<details>" not in text
        assert "<summary>" not in text
        assert max(map(len, text.splitlines())) <= 80
        if "<details>" in (lesson.folder / "README.md").read_text("utf-8"):
            assert f"grade read {lesson.id} --answers" in text
            assert len(shown(course, tmp_path, lesson.id, answers=True)) > len(text)


def test_without_a_name_the_next_lesson_is_read(tmp_path: Path) -> None:
    course = load_course(find_course())
    assert course.lessons[0].title in shown(course, tmp_path, None)


def test_a_readme_that_is_not_here_is_an_error_that_says_where_to_go(
    tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.learner.readme_path", lambda *_: None)
    with pytest.raises(UsageError, match="There is no README of tiny here"):
        shown(small_course, tmp_path, "tiny")
