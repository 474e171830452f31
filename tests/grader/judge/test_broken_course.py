"""A course whose files can't be used is refused with file, line and exception, in one sentence."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from graded import Grade

from grader.core.errors import CourseError, ExitCode
from grader.core.report import Outcome
from grader.course.course import Course, load_course
from grader.verify.case_result import fault_of

pytestmark = pytest.mark.fork

CHECKS, SOLUTION = "tests/checks/tiny", "solutions/tiny.py"
VISIBLE, HIDDEN = f"{CHECKS}/test_visible.py", f"{CHECKS}/test_hidden.py"
Broken = Callable[[str, str], tuple[Course, int]]


@pytest.fixture
def broken(small_course: Course, tmp_path: Path) -> Broken:
    """Return ``broken(file, text)``, which gives a copy of the course with a text appended to a
    file, and the line where it begins.
    """

    def make(file: str, text: str) -> tuple[Course, int]:
        shutil.copytree(small_course.root, tmp_path / "course")
        path = tmp_path / "course" / file
        before = path.read_text("utf-8")
        path.write_text(f"{before}\n{text}", "utf-8")
        return load_course(tmp_path / "course"), before.count("\n") + 2

    return make


def refusal_of(course: Course, grade_text: Grade) -> str:
    with pytest.raises(CourseError) as refused:
        grade_text(course.lesson("tiny"), "def double(x): return 2 * x\n", sandbox="off")
    assert refused.value.exit_code is ExitCode.USAGE
    return str(refused.value)


@pytest.mark.parametrize(
    ("file", "text", "raised"),
    [
        (HIDDEN, "def test_x(:\n", "SyntaxError: invalid syntax"),
        (VISIBLE, "import no_such\n", "ModuleNotFoundError: No module named 'no_such'"),
        (
            VISIBLE,
            "from grader.authoring import chekc\n",
            "ImportError: cannot import name 'chekc' from 'grader.authoring'",
        ),
        (HIDDEN, "{}['a']\n", "KeyError: 'a'"),
        (
            HIDDEN,
            "@check(points=1)\ndef test_x(student):\n    pass\n",
            "TypeError: check() missing 1 required keyword-only argument: 'about'",
        ),
        (f"{CHECKS}/diagnosis.py", "def\n", "SyntaxError: invalid syntax"),
        (SOLUTION, "1 / 0\n", "ZeroDivisionError: division by zero"),
        (f"{CHECKS}/scenarios.py", "1 / 0\n", "ZeroDivisionError: division"),
    ],
)
def test_a_file_that_raises_is_named_with_line_and_exception(
    file: str, text: str, raised: str, broken: Broken, grade_text: Grade
) -> None:
    course, line = broken(file, text)
    said = refusal_of(course, grade_text)
    assert said.startswith(f"{course.root / file}:{line}: {raised}")
    assert said.endswith("This file is part of the course, so tiny can't be graded")
    assert "\n" not in said


def test_a_file_that_is_missing_is_named(broken: Broken, grade_text: Grade) -> None:
    course, _ = broken(SOLUTION, "")
    (course.root / SOLUTION).unlink()
    said = refusal_of(course, grade_text)
    assert said.startswith(f"{course.root / SOLUTION}: FileNotFoundError: ")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def test_x(student):\n    pass\n", "test_x has no @check decorator. Add one"),
        (
            "def test_x(student):\n    pass\ntest_x = check(points=1, about='a', needs='test_limt')"
            "(test_x)\n",
            "test_x needs test_limt, which is not a check of this lesson. Did you mean test_limit?",
        ),
        (
            "def test_x(student):\n    pass\ntest_x = check(points=1, about='a', needs='test_x')"
            "(test_x)\n",
            "checks need each other in a circle: test_x → test_x",
        ),
    ],
)
def test_a_check_that_can_not_be_put_in_order_is_named_with_its_line(
    text: str, said: str, broken: Broken, grade_text: Grade
) -> None:
    course, line = broken(HIDDEN, text)
    assert refusal_of(course, grade_text) == f"{course.root / HIDDEN}:{line}: {said}"


@pytest.mark.parametrize(
    ("file", "text", "said"),
    [
        ("diagnosis.toml", "a = [", "Invalid value"),
        ("diagnosis.toml", "a = 1 2\n", "Expected newline or end of document after a statement"),
        ("diagnosis.toml", "[x]\n", "[x]: Object missing required field `title`"),
        ("contract.toml", "[x.y]\nsays = 1\n", "[x.y]: Expected `array`, got `int` - at `$.says`"),
        (
            "diagnosis.py",
            "more = rule(lambda failure, student: None)\n",
            "the rule more has no texts. Add a table [more] to diagnosis.toml, or rename the rule",
        ),
    ],
)
def test_a_slip_in_what_describes_the_checks_is_named_with_its_line(
    file: str, text: str, said: str, broken: Broken, grade_text: Grade
) -> None:
    course, line = broken(f"{CHECKS}/diagnosis.py", "")
    path = course.root / CHECKS / file
    before = path.read_text("utf-8") if path.exists() else ""
    path.write_text(before + text, "utf-8")
    line = before.count("\n") + 1
    assert refusal_of(course, grade_text) == f"{path}:{line}: {said}"


def test_a_wrong_use_in_a_check_is_our_fault_and_not_the_students(
    broken: Broken, grade_text: Grade
) -> None:
    """Here only the student's code is asked through the border, so the reference passes."""
    course, line = broken(
        HIDDEN,
        "from grader.authoring import under_test\n"
        "def test_x(student):\n"
        "    under_test('double', lambda x: student.double(x)).value(torch.ones(2))\n"
        "test_x = check(points=1, about='double')(test_x)\n",
    )
    report = grade_text(course.lesson("tiny"), "def double(x): return 2 * x\n", sandbox="off")
    found = next(one for one in report.checks if one.id == "tiny.x")
    assert found.outcome is Outcome.GRADER_ERROR
    said = "the truth of double asks the student; compute it from torch alone"
    assert fault_of(found, course.lesson("tiny")) == f"{course.root / HIDDEN}:{line + 2}: {said}"


def test_a_fork_server_grades_after_a_refusal(broken: Broken, grade_text: Grade) -> None:
    """Once the file is mended, the same server grades the lesson."""
    course, line = broken(HIDDEN, "def\n")
    refusal_of(course, grade_text)
    path = course.root / HIDDEN
    path.write_text("\n".join(path.read_text("utf-8").splitlines()[: line - 1]), "utf-8")
    lesson = course.lesson("tiny")
    solution = re.sub(r"# .*", "", lesson.solution.read_text("utf-8"))
    assert grade_text(lesson, solution, sandbox="off").score == 10
