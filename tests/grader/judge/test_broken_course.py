"""A course whose files can't be used is refused with file, line and exception, in one sentence."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from grader.core.errors import CourseError, ExitCode
from grader.core.messages import Settings
from grader.course.course import Course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson

pytestmark = pytest.mark.fork

CHECKS, SOLUTION = "tests/checks/tiny", "solutions/tiny.py"
HELPERS = "from grader.authoring import import_helpers\nimport_helpers(__file__)\n"
RULES = f"{CHECKS}/diagnosis.py"
BROKEN = {
    "a syntax error": (f"{CHECKS}/test_hidden.py", "def test_x(:\n", "SyntaxError: invalid syntax"),
    "a bad import": (
        f"{CHECKS}/test_visible.py",
        "import no_such_thing\n",
        "ModuleNotFoundError: No module named 'no_such_thing'",
    ),
    "a name that is not there": (
        f"{CHECKS}/test_visible.py",
        "from grader.authoring import chekc\n",
        "ImportError: cannot import name 'chekc' from 'grader.authoring'",
    ),
    "a module that raises": (f"{CHECKS}/test_hidden.py", "{}['a']\n", "KeyError: 'a'"),
    "a check with wrong arguments": (
        f"{CHECKS}/test_hidden.py",
        "@check(points=1)\ndef test_x(student):\n    pass\n",
        "TypeError: check() missing 1 required keyword-only argument: 'about'",
    ),
    "a rule that can't be read": (RULES, "def\n", "SyntaxError: invalid syntax"),
    "a solution that raises": (SOLUTION, "1 / 0\n", "ZeroDivisionError: division by zero"),
    "a scenario that raises": (f"{CHECKS}/scenarios.py", "1 / 0\n", "ZeroDivisionError: division"),
}


def course_with(course: Course, folder: Path, file: str, text: str) -> tuple[Course, int]:
    """Return a copy of the course with a text appended to a file, and the line where it begins."""
    shutil.copytree(course.root, folder)
    path = folder / file
    before = path.read_text("utf-8")
    path.write_text(f"{before}\n{text}", "utf-8")
    return load_course(folder), before.count("\n") + 2


def refusal_of(host: ForkServerClient, course: Course) -> str:
    lesson = course.lesson("tiny")
    file = LessonFile("tiny", "tiny.py", "def double(x): return 2 * x\n")
    with pytest.raises(CourseError) as refused:
        grade_lesson(host, lesson, file, Settings(7, "off", course.limits))
    assert refused.value.exit_code is ExitCode.USAGE
    return str(refused.value)


@pytest.mark.parametrize("name", BROKEN)
def test_a_file_that_raises_is_named_with_line_and_exception(
    name: str, tmp_path: Path, host: ForkServerClient, small_course: Course
) -> None:
    file, text, raised = BROKEN[name]
    course, line = course_with(small_course, tmp_path / "course", file, text)
    said = refusal_of(host, course)
    assert said.startswith(f"{tmp_path / 'course' / file}:{line}: {raised}")
    assert said.endswith("This file is part of the course, so tiny can't be graded")
    assert "\n" not in said


def test_a_helper_that_raises_is_named_instead_of_who_imports_it(
    tmp_path: Path, host: ForkServerClient, small_course: Course
) -> None:
    course, _ = course_with(small_course, tmp_path / "course", f"{CHECKS}/test_hidden.py", HELPERS)
    helper = course.lesson("tiny").checks / "helpers.py"
    helper.write_text("\n\nassert False, 'no'\n", "utf-8")
    assert refusal_of(host, course).startswith(f"{helper}:3: AssertionError: no. ")


@pytest.mark.parametrize("file", [SOLUTION, f"{CHECKS}/scenarios.py"])
def test_a_file_that_is_missing_is_named(
    file: str, tmp_path: Path, host: ForkServerClient, small_course: Course
) -> None:
    course, _ = course_with(small_course, tmp_path / "course", file, "")
    (course.root / file).unlink()
    assert refusal_of(host, course).startswith(f"{course.root / file}: FileNotFoundError: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def test_x(student):\n    pass\n", "test_x has no @check decorator"),
        (
            "@check(points=1, about='double', needs='test_z')\ndef test_x(student):\n    pass\n",
            "needs test_z, which is not a check of this lesson",
        ),
    ],
)
def test_a_check_that_can_not_be_put_in_order_is_the_courses_error(
    text: str, said: str, tmp_path: Path, host: ForkServerClient, small_course: Course
) -> None:
    course, _ = course_with(small_course, tmp_path / "course", f"{CHECKS}/test_hidden.py", text)
    assert said in refusal_of(host, course)


def test_a_fork_server_grades_after_a_refusal(
    tmp_path: Path, host: ForkServerClient, small_course: Course
) -> None:
    """Once the file is mended, the same server grades the lesson."""
    file = f"{CHECKS}/test_hidden.py"
    course, line = course_with(small_course, tmp_path / "course", file, "def\n")
    refusal_of(host, course)
    path = tmp_path / "course" / file
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[: line - 1]), "utf-8")
    solution = re.sub(r"# .*", "", course.lesson("tiny").solution.read_text("utf-8"))
    graded = grade_lesson(
        host,
        course.lesson("tiny"),
        LessonFile("tiny", "tiny.py", solution),
        Settings(7, "off", course.limits),
    )
    assert graded.result.score == 10
