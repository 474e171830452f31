"""Mistakes whose rule is a few keys of ``diagnosis.toml``, and rules about any Function."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import torch

from grader.core.errors import CourseError, StudentCodeError
from grader.core.report import Outcome
from grader.course.lesson_texts import read_mistakes
from grader.course.source import Source
from grader.judge.diagnosis import Failure, Mistake, rule
from grader.judge.function_rules import function_rule
from grader.judge.rule_keys import Again, lesson_mistakes

NOTHING: Any = None


def mistakes(folder: Path, keys: str, **rules: Any) -> list[Mistake]:
    """Return the mistakes of tables ``[id]`` with keys, each completed by title and text."""
    path = folder / "diagnosis.toml"
    texts = re.sub(r"(?m)^\[\w+\]$", r'\g<0>\ntitle = "t"\nexplanation = "e"', keys)
    path.write_text(texts, "utf-8")
    return lesson_mistakes(read_mistakes(path), rules, ["f"])


def failure(message: str = "", said: str = "", **more: Any) -> Failure:
    kind, _, text = said.partition(": ")
    error = StudentCodeError(kind, text, line=more.pop("line", None)) if said else None
    known = {"check": "test_c", "about": "f", "reference": NOTHING, "draw": NOTHING, **more}
    return Failure(Outcome.FAILED, message, error=error, **known)


X, V = torch.tensor([1.0, 2.0]), torch.tensor([3.0, -4.0])
KEYS = {
    "raised": 'raised = ["KeyError", "apple"]\nunless = ["pear"]',
    "says": 'says = ["is wrong", "{x}"]',
    "facts": 'facts = ["used"]',
    "one check": 'facts = ["used"]\nin_check = "test_c"',
    "rule": 'rule = ["nothing_saved"]',
    "value": 'value = ["2 * x", "x - 1"]',
    "gradient": 'gradient = ["v", "v * x"]',
}
CASES: list[tuple[str, Failure, dict[str, Any] | None]] = [
    ("raised", failure(said="KeyError: apple"), {"said": "apple"}),
    ("raised", failure(said="KeyError: apple, pear"), None),
    ("raised", failure(said="KeyError: plum"), None),
    ("says", failure("{x} is wrong"), {}),
    ("says", failure("{x} is right"), None),
    ("facts", failure(facts={"used": "exp"}), {}),
    ("facts", failure(facts={}), None),
    ("one check", failure(facts={"used": "exp"}), {}),
    ("one check", failure(facts={"used": "exp"}, check="test_d"), None),
    ("rule", failure(said="AttributeError: 'FBackward' object has no attribute 'y'"), {
        "said": "'FBackward' object has no attribute 'y'", "line": None,
    }),
    ("rule", failure(said="AttributeError: nothing"), None),
    ("value", failure(), {"formula": "2 * x"}),
    ("value", failure(said="KeyError: apple"), None),
    ("gradient", failure(), {"formula": "v * x", "more": 1}),
    ("value", failure(at="F.forward"), {"formula": "2 * x"}),
    ("value", failure(at="F.backward"), {"formula": "2 * x"}),
    ("gradient", failure(at="F.backward"), {"formula": "v * x"}),
    ("gradient", failure(at="F.forward"), None),
]  # fmt: skip


def again(right: str = "3 * x", elsewhere: Any = ()) -> Any:
    def asked_again(failure: Failure, student: Any) -> Again:
        return Again(
            names={"x": X, "v": V},
            right={"value": right, "gradient": right},
            ask={"value": lambda at: 2 * at["x"], "gradient": lambda at: at["v"] * at["x"]},
            elsewhere=elsewhere,
            facts={"more": 1},
        )

    return asked_again


@pytest.mark.parametrize(("key", "failed", "found"), CASES)
def test_keys_recognize_a_mistake(
    key: str, failed: Failure, found: dict[str, Any] | None, tmp_path: Path
) -> None:
    (one,) = mistakes(tmp_path, f"[one]\n{KEYS[key]}\n", asked_again=again())
    assert one.rule is not None
    facts = one.rule(failed, NOTHING)
    assert (facts is None) is (found is None)
    if facts is not None and found is not None:
        assert found.items() <= facts.items()


def test_a_formula_recognizes_no_right_answer_and_must_hold_elsewhere(tmp_path: Path) -> None:
    other = {"x": X, "v": V}
    wrong = {"x": X, "v": torch.tensor([0.0, 0.0, 0.0])}
    for right, elsewhere, recognized in (
        ("3 * x", [other], True),
        ("v * x", [], False),
        ("v.sum()", [other], True),  # of another shape
        ("3 * x", [other, {**wrong, "x": torch.tensor([1.0, 1.0])}], False),
    ):
        text = f"[one]\n{KEYS['gradient']}\n"
        (one,) = mistakes(tmp_path, text, asked_again=again(right, elsewhere))
        assert one.rule is not None
        try:
            facts = one.rule(failure(), NOTHING)
        except RuntimeError:  # v and x of different shapes
            facts = None
        assert (facts is not None) is recognized


def test_rules_and_keys_are_tried_in_the_order_of_the_texts(tmp_path: Path) -> None:
    rules = {"b": rule(lambda failure, student: None), "d": rule(lambda failure, student: {})}
    text = '[a]\nsays = ["x"]\n\n[b]\n\n[c]\nfacts = ["y"]\n\n[d]\n\n[e]\n'
    assert [one.id for one in mistakes(tmp_path, text, **rules)] == ["a", "b", "c", "d", "e"]
    message = "diagnosis.toml has b where this file has the rule d. Write them in one order"
    with pytest.raises(CourseError, match=message):
        mistakes(tmp_path, text, **dict(reversed(rules.items())))


BROKEN = {
    'rule = ["nothing"]': "there is no rule nothing; choose from: not_a_function, ",
    'value = ["x"]': r"\[one\]: a formula needs a function asked_again in diagnosis.py",
    "valu = []": r"diagnosis\.toml:1: \[one\]: there is no key valu\. Keys: title, exp",
}


@pytest.mark.parametrize("key", BROKEN)
def test_a_wrong_key_is_named(key: str, tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=BROKEN[key]):
        mistakes(tmp_path, f"[one]\n{key}\n")


class Written:
    """A student of whom only the text is known."""

    def __init__(self, text: str) -> None:
        self.source = Source(text, "f.py")


FUNCTION = """
class F(Function):
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x)
        return y
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        s = ctx.saved_tensors
        return grad_output * y * s
"""
TOLD: dict[str, tuple[str, int, str | None]] = {
    "an empty tuple": ("IndexError: tuple index out of range", 8, "nothing_saved"),
    "nothing to unpack": ("ValueError: not enough values (expected 1, got 0)", 8, "nothing_saved"),
    "a shape": ("IndexError: tuple index out of range", 10, None),
    "too many": ("ValueError: too many values to unpack (expected 1)", 8, "other_number_saved"),
    "a name of forward": ("NameError: name 'y' is not defined", 10, "variable_of_forward"),
    "a name of nobody": ("NameError: name 'z' is not defined", 10, None),
    "a tuple": ("TypeError: can't multiply by tuple", 10, "tuple_not_unpacked"),
    "the other style": (
        "TypeError: F.forward() takes 2 positional arguments but 1 was given", 0, None,
    ),
    "one argument too few": (
        "TypeError: F.backward() takes 1 positional argument but 2 were given", 0, None,
    ),
}  # fmt: skip
NAMED = (
    "styles_mixed", "nothing_saved", "other_number_saved", "variable_of_forward",
    "tuple_not_unpacked",
)  # fmt: skip


@pytest.mark.parametrize("case", TOLD)
def test_what_python_says_about_a_function_has_a_name(case: str) -> None:
    said, line, name = TOLD[case]
    student: Any = Written(FUNCTION)
    failed = failure(said=said, line=line or None, about="F")
    assert [one for one in NAMED if function_rule(one)(failed, student) is not None] == (
        [name] if name else []
    )


def test_a_method_with_the_parameters_of_the_other_style() -> None:
    student: Any = Written(FUNCTION.replace("backward(ctx, grad_output)", "backward(grad_output)"))
    failed = failure(
        said="TypeError: F.backward() takes 1 positional argument but 2 were given", about="F"
    )
    found = function_rule("styles_mixed")(failed, student)
    assert found == {"said": "F.backward() takes 1 positional argument but 2 were given"}
