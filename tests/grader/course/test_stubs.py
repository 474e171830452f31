"""Make stubs by removing regions from solutions, and put fragments in place of what they define."""

from __future__ import annotations

import ast

import pytest

from grader.core.errors import CourseError
from grader.course.course import Course
from grader.course.stubs import compose, stub_of, without_markers

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


def test_a_region_is_replaced_by_what_it_says() -> None:
    """An indented region becomes NotImplementedError or its stub lines, one at the top level its
    stub lines or nothing.
    """
    assert stub_of(SOLUTION, name="lesson.py") == STUB


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


def test_no_blank_lines_of_the_solution_are_left_in_the_stub() -> None:
    """Formatters put them before a nested function, and around helpers."""
    assert (
        stub_of(NESTED, name="lesson.py")
        == '''"""A lesson."""


def watch(x):
    """Watch x."""
    raise NotImplementedError


def watch_all(xs):
    raise NotImplementedError
'''
    )


def test_a_solution_without_regions_is_its_own_stub() -> None:
    assert stub_of("x = 1\n", name="lesson.py") == "x = 1\n"


def test_a_stub_ends_with_one_newline_also_where_the_solution_has_none() -> None:
    assert stub_of("x = 1", name="lesson.py") == "x = 1\n"


def test_the_stub_on_disk_is_generated_by_the_same_rule(small_course: Course) -> None:
    lesson = small_course.lesson("tiny")
    assert lesson.stub.read_text("utf-8") == stub_of(
        lesson.solution.read_text("utf-8"), name="tiny.py"
    )


UNBALANCED = {
    "a region inside another": (
        "def f():\n    # solution\n    # solution\n",
        "lesson.py:3: a region begins inside another",
    ),
    "an end without a beginning": (
        "x = 1\n# end solution\n",
        "lesson.py:2: a region ends that never began",
    ),
    "two ends": (
        "# solution\n# end solution\n# end solution\n",
        "lesson.py:3: a region ends that never began",
    ),
    "a region without an end": (
        "x = 1\n# solution\n",
        "lesson.py: the last region has no '# end solution'",
    ),
}


@pytest.mark.parametrize("name", UNBALANCED)
def test_markers_that_do_not_pair_up_are_an_error_with_its_place(name: str) -> None:
    text, message = UNBALANCED[name]
    with pytest.raises(CourseError) as caught:
        stub_of(text, name="lesson.py")
    assert str(caught.value) == message


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


def executed(text: str) -> dict[str, object]:
    """Return the names of a module with that text."""
    names: dict[str, object] = {"decorated": lambda c: c, "counted": lambda f: "counted"}
    exec(compile(text, "lesson.py", "exec"), names)
    return names


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
    assert compose(WHOLE, new, name="fragment.py") == WHOLE.replace(old, new)


def test_a_fragments_decorators_come_along() -> None:
    text = compose(WHOLE, "@counted\ndef double(x):\n    return 3\n", name="fragment.py")
    assert executed(text)["double"] == "counted"


def test_what_the_solution_does_not_have_goes_before_its_first_definition() -> None:
    """Imports and helpers of the fragment come after the solution's imports and before all uses."""
    fragment = (
        "import cmath\n\n"
        "SHIFT = 5\n\n\n"
        "def double(x):\n"
        "    return helper(x)\n\n\n"
        "def helper(x):\n"
        "    return cmath.phase(x) + SHIFT\n"
    )
    text = compose(WHOLE, fragment, name="fragment.py")
    order = [
        text.index(part)
        for part in (
            "import math",
            "import cmath",
            "SHIFT = 5",
            "def helper",
            "def double",
            "class Twice",
        )
    ]
    assert order == sorted(order)
    assert executed(text)["double"](1.0) == 5.0  # type: ignore[operator]


def test_several_definitions_each_find_their_place() -> None:
    names = executed(
        compose(
            WHOLE,
            "LIMIT = 1.0\nclass Twice: factor = 4\ndef double(x): return x\n",
            name="fragment.py",
        )
    )
    assert (names["LIMIT"], names["double"](7), names["Twice"].factor) == (1.0, 7, 4)  # type: ignore[operator, attr-defined]


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
    names = executed(compose(f"{solution}C = 3\n", fragment, name="fragment.py"))
    assert (names["A"], names["B"], names["C"]) == (*values, 3)


def test_a_fragment_may_define_a_name_in_two_steps() -> None:
    names = executed(
        compose(WHOLE, "def double(x): return x\ndouble = [double]\n", name="fragment.py")
    )
    assert isinstance(names["double"], list)


def test_a_fragment_may_import_from_the_future() -> None:
    executed(
        compose(
            "import math\n\nA = 1\n",
            "from __future__ import annotations\n\nA = 2\n",
            name="fragment.py",
        )
    )


def test_a_fragments_docstring_stays_out() -> None:
    text = compose(
        WHOLE,
        '"""Wrong: it squares."""\n\n\ndef double(x):\n    return x * x\n',
        name="fragment.py",
    )
    assert "it squares" not in text
    assert ast.get_docstring(ast.parse(text)) == "A lesson."


def test_an_empty_fragment_changes_nothing() -> None:
    assert compose(WHOLE, "# the same\n", name="fragment.py") == WHOLE


def test_a_solution_without_definitions_gets_the_fragment_at_its_end() -> None:
    assert compose("import math\n", "A = 1\n", name="fragment.py") == "import math\nA = 1\n"


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
    assert compose(
        CLASS, "class Value:\n    ...\n\n" + method, name="fragment.py"
    ) == CLASS.replace(AREA, method)


def test_the_methods_of_such_a_class_bring_their_own_decorators() -> None:
    text = compose(
        CLASS,
        "class Value:\n    ...\n\n    def side(self):\n        return -1\n",
        name="fragment.py",
    )
    value = executed(text)["Value"](3)  # type: ignore[operator]
    assert (value.side(), value.area(), value.unit) == (-1, 9, "m")


def test_what_such_a_class_adds_goes_before_its_first_definition() -> None:
    """An attribute of the class exists when the solution's methods are defined."""
    fragment = (
        "class Value:\n"
        "    ...\n\n"
        "    scale = 2\n\n"
        "    def twice(self):\n"
        "        return self.scale * self.data\n"
    )
    text = compose(CLASS, fragment, name="fragment.py")
    value = executed(text)["Value"](3)  # type: ignore[operator]
    assert (value.twice(), value.area(), type(value).__doc__) == (6, 9, "A number.")
    assert (
        text.index('"""A number."""')
        < text.index("scale = 2")
        < text.index("def twice")
        < text.index("unit = ")
    )


def test_a_class_without_an_ellipsis_is_replaced_whole() -> None:
    names = executed(
        compose(CLASS, "class Value:\n    def area(self):\n        return 1\n", name="fragment.py")
    )
    assert not hasattr(names["Value"], "side")


def test_a_class_with_an_ellipsis_that_the_solution_does_not_have_is_a_class() -> None:
    names = executed(compose(CLASS, "class Other:\n    ...\n", name="fragment.py"))
    assert {"Value", "Other"} <= names.keys()


def test_a_syntax_error_names_the_fragment_and_the_line() -> None:
    with pytest.raises(CourseError, match=r"^tests/mistakes/lesson/wrong\.py:3: expected ':'$"):
        compose(
            WHOLE, "A = 1\n\ndef double(x)\n    return x\n", name="tests/mistakes/lesson/wrong.py"
        )
