"""The engine knows nothing about this course: it grades a different one as well, and its code names
no lesson.
"""

from __future__ import annotations

import ast
import json
import re
from pathlib import Path

import jsonschema
import pytest

import grader
from grader.cli.author import verify_course
from grader.core.errors import ExitCode
from grader.course.course import Course, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_submission

PACKAGE = Path(grader.__file__).parent
TORCHS_WORDS = {"retain_graph"}
"""Lesson ids that are also words of torch's own."""


@pytest.fixture(scope="module")
def savings_course() -> Course:
    """Return a course about household sums: other words, another lesson, no derivatives."""
    return load_course(Path(__file__).parents[1] / "savings_course")


def test_a_course_about_something_else_is_verified(
    savings_course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.verify.verify.missing_internals", list)  # a process
    assert (
        verify_course(savings_course, (), seeds=1, workers=1, table=False, write_stubs=False)
        is ExitCode.OK
    )
    assert capsys.readouterr().out.splitlines() == ["1 lesson, 8 gradings, 1 seed: no problems"]


def test_a_submission_to_it_is_graded_and_its_mistake_is_named(
    savings_course: Course, host: ForkServerClient
) -> None:
    lesson = savings_course.lesson("compound_interest")
    wrong = "def grown(amount, rate, years):\n    return amount + amount * rate * years\n"
    files = {lesson.id: LessonFile(lesson.id, lesson.filename, wrong)}
    report = grade_submission(
        host,
        savings_course,
        [lesson],
        files,
        Settings(4, limits=savings_course.limits),
        name="mona",
    )
    jsonschema.validate(
        json.loads(json.dumps(report.as_json())),
        json.loads((PACKAGE / "core" / "report.schema.json").read_text("utf-8")),
    )
    assert (report.course.id, report.course.version) == ("household-sums", "3.1")
    named = [check.diagnosis for check in report.lessons[0].checks if check.diagnosis]
    assert named == ["simple_interest"]


def words_of(path: Path) -> set[str]:
    """Return the texts and names in a module's code, without docstrings, which use lessons as
    examples.
    """
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    }
    return {text for text in texts if isinstance(text, str)} | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
    }


def test_no_lesson_of_ours_is_in_the_engines_code() -> None:
    """No text or name contains an id of several words; words of torch's own do not count."""
    ids = [lesson.id for lesson in load_course(find_course()).lessons]
    assert "custom_sigmoid" in ids
    telling = re.compile(
        r"\b(" + "|".join(id for id in ids if "_" in id and id not in TORCHS_WORDS) + r")\b"
    )
    found: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        if "_course" not in path.parts:
            mine = sorted(word for word in words_of(path) if telling.search(word))
            found |= {path.relative_to(PACKAGE).as_posix(): mine} if mine else {}
    assert found == {}


@pytest.mark.parametrize("folder", ["templates"])
def test_no_lesson_of_ours_is_in_a_template(folder: str) -> None:
    ids = [lesson.id for lesson in load_course(find_course()).lessons if "_" in lesson.id]
    texts = {
        path.name: path.read_text("utf-8")
        for path in (PACKAGE.parent / folder).iterdir()
        if path.suffix == ".html"
    }
    assert texts
    assert [name for name, text in texts.items() for id in ids if id in text] == []
