"""Make stubs by removing regions from solutions, and put fragments in place of what they define."""

from __future__ import annotations

import ast
from types import SimpleNamespace
from typing import Any

import pytest

from grader.core.errors import CourseError
from grader.core.i18n import Catalogue
from grader.course.course import Course
from grader.course.stubs import compose, stub_in, stub_of, without_markers

SOLUTION = '''"""A lesson."""

import torch

# solution
HELPER = 1


def helper(x):
    return x
# end solution


def double(x):
    """Twice x."""
    # solution
    # why: sums are exact
    return x + x
    # end solution


class Twice:
    """Doubles."""

    @staticmethod
    def forward(ctx, x):
        # solution
        # stub: # keep what backward needs
        # stub:
        # stub: raise NotImplementedError
        return 2 * x
        # end solution


# solution
# stub: LIMIT: float = ...
LIMIT: float = 20.0
# end solution
'''
STUB = '''"""A lesson."""

import torch


def double(x):
    """Twice x."""
    raise NotImplementedError


class Twice:
    """Doubles."""

    @staticmethod
    def forward(ctx, x):
        # keep what backward needs

        raise NotImplementedError


LIMIT: float = ...
'''


NESTED = '''"""A lesson."""


def watch(x):
    """Watch x."""

    # solution
    def hook(grad):
        return grad

    x.register_hook(hook)
    # end solution


# solution
LIMIT = 20.0
# end solution
def watch_all(xs):
    # solution
    return [watch(x) for x in xs]
    # end solution


# solution


def helper(x):
    return x


# end solution
'''


NESTED_STUB = '''"""A lesson."""


def watch(x):
    """Watch x."""
    raise NotImplementedError


def watch_all(xs):
    raise NotImplementedError
'''


@pytest.mark.parametrize(
    ("solution", "stub"),
    [(SOLUTION, STUB), (NESTED, NESTED_STUB), ("x = 1\n", "x = 1\n"), ("x = 1", "x = 1\n")],
    ids=["regions", "blank lines of a formatter", "no regions", "no newline at the end"],
)
def test_a_region_is_replaced_by_what_it_says(solution: str, stub: str) -> None:
    """An indented region becomes NotImplementedError or its stub lines, one at the top level its
    stub lines or nothing. Formatters put blank lines before a nested function and around helpers.
    """
    assert stub_of(solution, name="lesson.py") == stub


def test_the_stub_on_disk_is_generated_by_the_same_rule(small_course: Course) -> None:
    lesson = small_course.lesson("tiny")
    solution = lesson.solution.read_text("utf-8")
    assert lesson.stub.read_text("utf-8") == stub_of(solution, name="tiny.py")


def test_a_stub_is_translated_sentence_by_sentence() -> None:
    """Docstrings and comments are translated and wrapped; code, and what has no translation, stays
    as it is. Backticks may differ.
    """
    stub = '''"""tiny: small. Run `grade tiny` to check your work, `grade hint tiny` for a hint."""

# Twice the number. Stays.
LIMIT = 20  # Twice the number.


def double(x):
    """Return `x` twice.

    Twice the number.

        double(2)  # Twice the number.
    """
'''
    said = {"Twice the number.": "수의 두 배. " * 8 + "끝.", "Return x twice.": "두 배를 반환."}
    run = "Run `grade {lesson}` to check your work, `grade hint {lesson}` for a hint."
    tr = Catalogue("ko", said | {run: "`grade {lesson}`로 채점."})
    assert (
        stub_in(tr, stub, "tiny")
        == '''"""tiny: small. `grade tiny`로 채점."""

# 수의 두 배. 수의 두 배. 수의 두 배. 수의 두 배. 수의 두 배. 수의 두 배. 수의
# 두 배. 수의 두 배. 끝. Stays.
LIMIT = 20  # Twice the number.


def double(x):
    """두 배를 반환.

    수의 두 배. 수의 두 배. 수의 두 배. 수의 두 배. 수의 두 배. 수의 두 배.
    수의 두 배. 수의 두 배. 끝.

        double(2)  # Twice the number.
    """
'''
    )
    assert tr.missing == {
        "tiny: small.",
        "Stays.",
        "What holds in every lesson is in ../README.md.",
    }


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("def f():\n    # solution\n    # solution\n", ":3: a region begins inside another"),
        ("x = 1\n# end solution\n", ":2: a region ends that never began"),
        ("# solution\n# end solution\n# end solution\n", ":3: a region ends that never began"),
        ("x = 1\n# solution\n", ": the last region has no '# end solution'"),
    ],
)
def test_markers_that_do_not_pair_up_are_an_error_with_its_place(text: str, message: str) -> None:
    with pytest.raises(CourseError) as caught:
        stub_of(text, name="lesson.py")
    assert str(caught.value) == f"lesson.py{message}"


def test_a_solution_that_is_no_python_is_an_error_with_its_place() -> None:
    with pytest.raises(CourseError, match=r"^lesson\.py:2: invalid syntax"):
        stub_of("x = 1\ny = = 2\n", name="lesson.py")


def test_without_markers_a_solution_is_what_people_read() -> None:
    """Markers and stub lines are removed, other comments stay."""
    shown = without_markers(SOLUTION)
    assert "# solution" not in shown
    assert "# end solution" not in shown
    assert "# stub:" not in shown
    assert "    # why: sums are exact\n    return x + x\n" in shown
    assert ast.dump(ast.parse(shown)) == ast.dump(ast.parse(SOLUTION))


# ---------------------------------------------------------------------------------------- composing

WHOLE = '''"""A lesson."""

from __future__ import annotations

import math


def double(x):
    """Twice x."""
    return x + x


@decorated
class Twice:
    factor = 2


# how much is too much
LIMIT: float = 20.0
'''


def composed(fragment: str, solution: str = WHOLE) -> str:
    return compose(solution, fragment, name="fragment.py")


def executed(fragment: str, solution: str = WHOLE) -> Any:
    """Return what a module has in which the fragment takes the place of the solution's."""
    names: dict[str, Any] = {"decorated": lambda c: c, "counted": lambda f: "counted"}
    exec(compile(composed(fragment, solution), "lesson.py", "exec"), names)
    return SimpleNamespace(**names)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            'def double(x):\n    """Twice x."""\n    return x + x\n',
            "def double(x):\n    return x * x\n",
        ),
        ("@decorated\nclass Twice:\n    factor = 2\n", "class Twice:\n    factor = 3\n"),
        ("LIMIT: float = 20.0\n", "LIMIT = 19.0\n"),
    ],
    ids=["function", "class", "constant"],
)
def test_a_definition_takes_the_place_of_the_one_of_its_name(old: str, new: str) -> None:
    """Its decorators are replaced too; not a character of the rest changes."""
    assert composed(new) == WHOLE.replace(old, new)


def test_what_the_solution_does_not_have_goes_before_its_first_definition() -> None:
    """Imports and helpers of the fragment come after the solution's imports and before all uses."""
    fragment = (
        "import cmath\n\nSHIFT = 5\n\n\n"
        "def double(x):\n    return helper(x)\n\n\n"
        "def helper(x):\n    return cmath.phase(x) + SHIFT\n"
    )
    text = composed(fragment)
    parts = "import math|import cmath|SHIFT = 5|def helper|def double|class Twice".split("|")
    order = [text.index(part) for part in parts]
    assert order == sorted(order)
    assert executed(fragment).double(1.0) == 5.0


def test_several_definitions_each_find_their_place() -> None:
    """A name may be defined in two steps, and decorators come along."""
    both = "def double(x): return x\ndouble = [double]\n"
    found = executed(f"LIMIT = 1.0\n@counted\nclass Twice: factor = 4\n{both}")
    assert (found.LIMIT, found.Twice, found.double[0](7)) == (1.0, "counted", 7)


@pytest.mark.parametrize(
    ("solution", "fragment", "values"),
    [
        ("A = 1\nB = 2\n", "A = B = 9\n", (9, 9)),
        ("A = B = 1\n", "A = 8\nB = 9\n", (8, 9)),
        ("A = 1\nB = 2\n", "A, B = 8, 9\n", (8, 9)),
    ],
    ids=["several names at once", "names that the solution assigns together", "a tuple"],
)
def test_assignments_replace_each_of_their_names(
    solution: str, fragment: str, values: tuple[int, int]
) -> None:
    found = executed(fragment, f"{solution}C = 3\n")
    assert (*values, 3) == (found.A, found.B, found.C)


@pytest.mark.parametrize(
    ("solution", "fragment", "whole"),
    [
        (WHOLE, "# the same\n", WHOLE),
        (WHOLE, '"""Wrong: a docstring."""\n', WHOLE),
        ("import math\n", "A = 1\n", "import math\nA = 1\n"),
        (
            "import math\n\nA = 1\n",
            "from __future__ import annotations\n\nA = 2\n",
            "from __future__ import annotations\nimport math\n\nA = 2\n",
        ),
    ],
    ids=["nothing", "a docstring", "no definitions to replace", "an import from the future"],
)
def test_a_fragment_without_or_beside_definitions(solution: str, fragment: str, whole: str) -> None:
    assert composed(fragment, solution) == whole


CLASS = '''import math


class Value:
    """A number."""

    unit = "m"

    def __init__(self, data):
        self.data = data

    # it has no side
    def area(self):
        """Squared."""
        return self.data**2

    @property
    def side(self):
        return self.data


def area(value):
    return value.area()
'''
AREA = '''    def area(self):
        """Squared."""
        return self.data**2
'''


def test_a_class_that_begins_with_an_ellipsis_replaces_only_its_own_methods() -> None:
    """Not a character of the rest of the class changes, nor of a function of the same name."""
    method = "    def area(self):\n        return math.pi * self.data**2\n"
    assert composed("class Value:\n    ...\n\n" + method, CLASS) == CLASS.replace(AREA, method)


def test_the_methods_of_such_a_class_bring_their_own_decorators() -> None:
    fragment = "class Value:\n    ...\n\n    def side(self):\n        return -1\n"
    value = executed(fragment, CLASS).Value(3)
    assert (value.side(), value.area(), value.unit) == (-1, 9, "m")


def test_what_such_a_class_adds_goes_before_its_first_definition() -> None:
    """An attribute of the class exists when the solution's methods are defined."""
    fragment = (
        "class Value:\n    ...\n\n    scale = 2\n\n"
        "    def twice(self):\n        return self.scale * self.data\n"
    )
    value = executed(fragment, CLASS).Value(3)
    assert (value.twice(), value.area(), type(value).__doc__) == (6, 9, "A number.")
    text = composed(fragment, CLASS)
    order = [text.index(part) for part in ('"""A number."""', "scale = 2", "def twice", "unit = ")]
    assert order == sorted(order)


def test_a_class_without_an_ellipsis_is_replaced_whole() -> None:
    found = executed("class Value:\n    def area(self):\n        return 1\n", CLASS)
    assert not hasattr(found.Value, "side")


def test_a_class_with_an_ellipsis_that_the_solution_does_not_have_is_a_class() -> None:
    found = executed("class Other:\n    ...\n", CLASS)
    assert found.Value is not found.Other


def test_a_syntax_error_names_the_fragment_and_the_line() -> None:
    with pytest.raises(CourseError, match=r"^fragment\.py:3: expected ':'$"):
        composed("A = 1\n\ndef double(x)\n    return x\n")
