"""A mistake without a rule is named by the known wrong answer that fails in the same way."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from graded import Grade, by_name

from grader.core.report import CheckResult, Outcome
from grader.course.course import Course, Lesson, load_course
from grader.course.source import Source
from grader.judge.examples import Behavior, Examples
from grader.judge.exception_verdicts import CheckVerdict

TEXTS = """
[halves]
about = ["double"]
title = "x is halved"
explanation = "For {x} you returned {actual}."

[shifts]
about = ["double"]
title = "x is shifted"
explanation = "x + 1."

[open_fact]
about = ["double"]
title = "x"
explanation = "{nowhere} is 3."

[adds]
about = ["double"]
title = ""
explanation = ""

[but_for_ones]
about = ["double"]
title = "a number besides 1 is halved"
explanation = "Only 1 is doubled."

[quarters]
about = ["double"]
title = "x is divided by 4"
explanation = "x / 4."

[at_one]
about = ["double"]
title = "1 becomes 5"
explanation = "1 becomes 5."
"""
RULES = """
from grader.authoring import rule


@rule
def adds(failure, student):
    return None


@rule
def at_one(failure, student):
    return {} if failure.check == "test_ones" and failure.actual.tolist() == [5, 5] else None
"""
ONES = """

@check(points=0.5, about="double")
def test_ones(student):
    \"\"\"ones become twos\"\"\"
    x = torch.ones(2)
    assert_gradient(student.double(x), 2 * x)
"""
MISTAKES = """# %% halves
# Half of x.
def double(x):
    return x / 2

# %% halves
# It never ends.
def double(x):
    while True:
        pass

# %% shifts
# x plus one.
def double(x):
    return x + 1

# %% open_fact
# x plus three.
def double(x):
    return x + 3

# %% adds
# x plus two, which its rule does not recognize.
def double(x):
    return x + 2

# %% but_for_ones
# Half of x, unless it is ones.
def double(x):
    return 2 * x if (x == 1).all() else x / 2

# %% quarters
# A quarter of x.
def double(x):
    return x / 4

# %% at_one
# Five.
def double(x):
    return 5 * x if (x == 1).all() else 2 * x

# %% off_by_one
# A name of no mistake.
def double(x):
    return x - 1
"""
NEAR_MISSES = """# %% shifts
# The one is of another kind.
def double(x):
    return 1.0 + x
"""


Checks = Callable[..., dict[str, CheckResult]]


@pytest.fixture(scope="module")
def lesson(small_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Lesson:
    root = tmp_path_factory.mktemp("course") / "course"
    shutil.copytree(small_course.root, root)
    (root / "tests/checks/tiny/diagnosis.toml").write_text(TEXTS, "utf-8")
    (root / "tests/checks/tiny/diagnosis.py").write_text(RULES, "utf-8")
    (root / "tests/mistakes/tiny.py").write_text(MISTAKES, "utf-8")
    (root / "tests/near_misses/tiny.py").write_text(NEAR_MISSES, "utf-8")
    with (root / "tests/checks/tiny/test_hidden.py").open("a", encoding="utf-8") as file:
        file.write(ONES)
    return load_course(root).lesson("tiny")


@pytest.fixture(scope="module")
def checks_of(lesson: Lesson, grade_text: Grade) -> Checks:
    """Return ``checks_of(double, **settings)``, which grades a file with that ``double``."""

    def grade(double: str, **settings: Any) -> dict[str, CheckResult]:
        text = f"def double(x):\n    {double}\ndef triple(x):\n    return 3 * x\nLIMIT = 20.0\n"
        return by_name(grade_text(lesson, text, sandbox="off", **settings))

    return grade


@pytest.mark.parametrize(
    ("double", "name"),
    [
        ("y = x * 0.5; return y", "halves"),
        ("return x * 0.51", None),  # other values
        ("return x.exp()", None),
        ("return x.tolist()", None),  # another message
        ("return 1 + x", None),  # a near miss does the same
        ("return x + 3", None),  # the explanation would have a gap
        ("return 2 + x", None),  # a mistake with a rule has its name from that alone
        ("raise ValueError(x)", None),
    ],
)
def test_the_answer_that_fails_alike_gives_its_name(
    double: str, name: str | None, checks_of: Checks
) -> None:
    check = checks_of(double, naming_off=("engine",))["double"]
    assert check.outcome in (Outcome.FAILED, Outcome.ERROR)
    assert (check.diagnosis, check.diagnosed_by) == (name, name and "example")


def test_a_rival_that_fails_what_the_student_passes_takes_no_name_away(checks_of: Checks) -> None:
    """``halves`` fails alike where this fails, and another check besides."""
    named = checks_of("return 2 * x if float(x[0]) == 1 else 0.5 * x", naming_off=("engine",))
    assert named["ones"].outcome is Outcome.PASSED
    assert (named["double"].diagnosis, named["double"].diagnosed_by) == ("but_for_ones", "example")


def test_a_rule_that_names_one_failure_leaves_the_others_to_examples(checks_of: Checks) -> None:
    body = "return {} * x if float(x[0]) == 1 else {} * x"
    named = checks_of(body.format(5, 0.25), naming_off=("engine",))
    names = {name: (named[name].diagnosis, named[name].diagnosed_by) for name in ("ones", "double")}
    assert names == {"ones": ("at_one", "rule"), "double": ("quarters", "example")}
    named = checks_of(body.format(5, 0.51), naming_off=("engine",))
    assert named["double"].diagnosis is None


def test_the_explanation_shows_the_students_values(checks_of: Checks) -> None:
    named = checks_of("return x / 2")
    check = named["double"]
    assert check.diagnosis_title == "x is halved"
    assert check.evidence and check.evidence.startswith("For [") and "{" not in check.evidence
    assert named["gradient_of_double"].outcome is Outcome.SKIPPED
    assert named["gradient_of_double"].diagnosis is None


def test_it_must_fail_alike_from_a_second_seed(checks_of: Checks) -> None:
    """Here only the first call halves."""
    body = "double.calls = getattr(double, 'calls', 0) + 1; return x / 2 if double.calls < 2 else x"
    check = checks_of(body, naming_off=("engine",))["double"]
    assert check.outcome is Outcome.FAILED
    assert check.diagnosis is None


def test_without_examples_the_engine_names_the_mistake(checks_of: Checks) -> None:
    check = checks_of("return x / 2", naming_off=("example",))["double"]
    assert (check.diagnosis, check.diagnosed_by) == ("common_constant_factor", "engine")


def behavior(actual: float, **facts: Any) -> Behavior:
    expected = torch.tensor([1.0, 2.0]).double()
    return Behavior.of(
        CheckVerdict(Outcome.FAILED, "wrong", facts, expected=expected, actual=expected + actual)
    )


def test_small_errors_are_compared_as_errors() -> None:
    """With steps of 1e-5 and 2e-5, the results agree to four digits, but the errors do not."""
    assert behavior(1e-6).agrees(behavior(1.001e-6))
    assert not behavior(1e-6).agrees(behavior(2e-6))
    assert not behavior(1e-6).agrees(behavior(-1e-6))


def test_lines_do_not_count_and_words_do() -> None:
    assert behavior(1.0, line=3).agrees(behavior(1.0, line=4))
    assert behavior(1.0, what="is 0.3333").agrees(behavior(1.0, what="is 0.33330001"))
    assert not behavior(1.0, what="is 0.3333").agrees(behavior(1.0, what="is 0.4"))
    assert not behavior(1.0, what="one").agrees(behavior(1.0, what="two"))


@pytest.mark.parametrize(
    ("text", "compared"), [("import torch\n", []), ("def double(x): return x\n", ["double"])]
)
def test_a_function_that_is_missing_is_compared_with_no_answer(
    text: str, compared: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """No known answer lacks a definition, so no worker is started for it."""
    asked: list[str] = []
    monkeypatch.setattr(Examples, "nameable", lambda *_: frozenset({"halves"}))
    monkeypatch.setattr(Examples, "_diagnosis", lambda self, run, name, *_: asked.append(name))
    check = CheckResult("tiny.one", "one", "double", Outcome.FAILED, 0.0, 1.0)
    run = SimpleNamespace(
        failed=lambda: [("double", [check])],
        failures={check.id: None},
        results={check.id: check},
        session=SimpleNamespace(source=Source(text, "tiny.py")),
    )
    Examples.name(Examples.__new__(Examples), run, None)  # type: ignore[arg-type]
    assert asked == compared
