"""Right answers provide expressions and statements for repairs, under the student's names."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from textwrap import dedent, indent

import pytest

from grader.course.course import HeldBack, Lesson
from grader.course.source import Source
from grader.judge.repair.donors import donors_of, edits_in
from grader.judge.repair.edits import LIKELY, UNLIKELY, Edit


def donated(wrong: str, *right: str, name: str = "f") -> dict[str, Edit]:
    """Return every text that donors make of a wrong one, without layout, and the edit."""
    source, *donors = (Source(dedent(text), "l.py") for text in (wrong, *right))
    edits = [edit for edit in edits_in(source, name, donors=donors) if edit.donated]
    return {ast.unparse(ast.parse(edit.applied(source.text))): edit for edit in edits}


def only(wrong: str, right: str, wanted: str) -> tuple[Edit, str]:
    """Return the edit that makes ``wanted``, and the text that it says is wrong."""
    edit = donated(wrong, right)[ast.unparse(ast.parse(dedent(wanted)))]
    return edit, dedent(wrong)[slice(*edit.main.shown)]


def test_an_expression_has_the_students_names() -> None:
    wrong = """
        def f(ctx, g):
            (out,) = ctx.saved_tensors
            return g * out.exp()
    """
    right = """
        def f(ctx, grad_output):
            (y,) = ctx.saved_tensors
            return grad_output * (y * (1 - y))
    """
    wanted = wrong.replace("out.exp()", "(out * (1 - out))")
    edit, place = only(wrong, right, wanted)
    assert place == "out.exp()"
    assert edit.rank == LIKELY + 1


def test_operands_in_another_order_are_no_difference() -> None:
    wrong = "def f(x, y):\n    return (1 - y) * x.sin()\n"
    right = "def f(x, y):\n    return x.cos() * (1 - y)\n"
    assert set(donated(wrong, right)) == {"def f(x, y):\n    return (1 - y) * x.cos()"}


def test_a_missing_statement_is_shown_beside_its_neighbour() -> None:
    wrong = """
        def f(x):
            y = x.exp()
            y.backward()
            return x.grad
    """
    right = wrong.replace("y = x.exp()", "y = x.exp()\n            x.grad = None")
    edit, place = only(wrong, right, right)
    assert (place, edit.main.beside is not None) == ("y = x.exp()", True)


def test_a_variable_becomes_a_donors_operation_on_it() -> None:
    wrong = "def f(x):\n    n = g(x)\n    return [h(i) for i in x if n > 1]\n"
    right = "def f(x):\n    n = g(x)\n    for i in x:\n        h(n + i)\n"
    _, place = only(wrong, right, wrong.replace("h(i)", "h(n + i)"))
    assert place == "i"


def test_names_for_intermediate_results_make_no_difference() -> None:
    wrong = "def f(x):\n    inside = (x > 0) & (x < 1)\n    return 2 * inside\n"
    right = "def f(x):\n    return 2 * ((x.abs() >= 3) & (x < 1))\n"
    edit, place = only(wrong, right, wrong.replace("x > 0", "x.abs() >= 3"))
    assert (place, edit.rank) == ("x > 0", LIKELY + 1)


def test_a_missing_decorator_is_added() -> None:
    wrong = "def f(x):\n    return x\n"
    right = "@torch.no_grad()\ndef f(x):\n    return x\n"
    assert ast.unparse(ast.parse(f"import torch\n{right}")) in donated(
        f"import torch\n{wrong}", f"import torch\n{right}"
    )


def test_two_places_change_together_after_one() -> None:
    wrong = """
        def f(ctx, x):
            ctx.save_for_backward(x.abs())
            print(x)
            return x.exp()
    """
    right = wrong.replace("x.abs()", "x.sign()").replace("x.exp()", "x.log()")
    edit, place = only(wrong, right, right)
    assert (place, len(edit.changes)) == ("exp", 2) or place == "x.exp"
    assert edit.rank > UNLIKELY
    assert all(one.rank < edit.rank for one in donated(wrong, right).values() if one != edit)


def test_two_places_change_together_only_if_no_variable_gets_another_meaning() -> None:
    wrong = "def f(x):\n    y = abs(x)\n    print(y)\n    a = x.exp()\n    return a * a.log()\n"
    same = wrong.replace("exp", "sin").replace("log", "tanh")
    other = same.replace("a = ", "y = ").replace("a * a.", "y * y.")
    for right, together in (same, True), (other, False):
        edits = donated(wrong, right).values()
        assert any(len(edit.changes) > 1 for edit in edits) is together


def test_the_nearest_donor_comes_first() -> None:
    wrong = "def f(x):\n    a = x + 1\n    return a.exp()\n"
    far = "def f(x):\n    b = x.log()\n    return b.sin() - 3 + b.cos()\n"
    near = "def f(x):\n    a = x + 1\n    return a.sin()\n"
    first = min(donated(wrong, far, near).values(), key=lambda edit: edit.rank)
    assert first.main.new.endswith("sin")


USELESS = {
    "an intermediate result": "y = x + 2\nreturn y",
    "what is put into a list": "rows = []\nrows.append(x)\nreturn rows",
    "what is put into a set": "s = set()\ns.add(x)\nreturn s",
    "what is put into a view": "out = g(x)\nflat = out.view(-1)\nflat[0] = 1\nreturn out",
    "what is put into a tensor that only has the size of an argument": (
        "out = torch.zeros(x.numel())\nfor i in range(3):\n    out[i] = x[i]\nreturn out"
    ),
    "what is put into the rows of a list": (
        "rows = [[0]]\nrows[0][0] = x\nrows[0].append(x)\nreturn rows"
    ),
    "what decides only about that": (
        "rows = []\nfor one in x:\n    if one not in rows:\n        rows.append(one)\nreturn rows"
    ),
    "a function inside": "def g(y):\n    return [y, *g(y + 1)]\nreturn g(x)",
    "a function inside that fills a list": (
        "rows = []\ndef g(y):\n    if y:\n        rows.append(y)\n        g(y - 1)\n"
        "g(x)\nreturn rows"
    ),
}


@pytest.mark.parametrize("body", USELESS.values(), ids=USELESS)
def test_a_donor_that_makes_the_students_code_useless_is_not_tried(body: str) -> None:
    """The type that an annotation names is no use either."""
    for head in ("def f(x):", "def f(x) -> set:"):
        wrong = f"{head}\n{indent(body, '    ')}\n"
        made = donated(wrong, "def f(x):\n    return x.tolist()\n")
        assert not [one for one in made if one.endswith(".tolist()")]


def test_a_donor_with_a_name_that_the_students_file_does_not_have_is_not_tried() -> None:
    right = "import math\ndef f(x):\n    return math.exp(x)\n"
    assert not donated("def f(x):\n    return x\n", right)


def test_a_donor_replaces_at_most_half_of_a_function() -> None:
    long = "x.exp() + x.sin() * (x.cos() - 1) / (2 * x.tan() + x.sinh()) + x.log()"
    wrong = f"def f(x):\n    y = abs(x)\n    return {long}\n"
    assert not donated(wrong, "def f(x):\n    y = abs(x)\n    return x.sqrt()\n")


def test_backward_from_a_variable_is_an_effect_of_it() -> None:
    wrong = "def f(x):\n    z = x ** 3\n    z.backward()\n    return x.grad * z\n"
    right = wrong.replace("x.grad * z", "x.grad")
    assert ast.unparse(ast.parse(right)) in donated(wrong, right)


def test_the_variable_that_is_assigned_to_is_not_replaced() -> None:
    wrong = "def f(a, b):\n    a, b = int(a), int(b)\n    c = a * b\n    return c\n"
    right = "def f(a, b):\n    c = int(a), int(b)\n    c = a * b\n    return c\n"
    places = {wrong[slice(*edit.main.shown)] for edit in donated(wrong, right).values()}
    assert "a, b" not in places


def test_a_donor_that_bypasses_the_students_helper_is_not_tried() -> None:
    helper = "def g(x):\n    return x + 1\n\n\n"
    wrong = f"{helper}def f(x):\n    return g(x) - g(x + 1)\n"
    assert not donated(wrong, f"{helper}def f(x):\n    return x.exp() - g(x + 1)\n")


def test_what_the_student_computes_elsewhere_comes_late() -> None:
    wrong = "def f(x):\n    y = abs(f(x + 1))\n    y = y + 1\n    return y\n"
    right = "def f(x):\n    y = abs(f(x + 1))\n    y = y + 1\n    return y - abs(f(x + 1))\n"
    assert all(edit.rank > UNLIKELY for edit in donated(wrong, right).values())


def test_donors_are_the_solution_and_the_accepted_answers(tmp_path: Path) -> None:
    lesson = Lesson(tmp_path, "l", "L", "", ("f",))
    for path, text in {
        lesson.accepted_file: "# %% other\n# Another.\ndef f(x):\n    return x * 2\n",
        lesson.solution: "def f(x):\n    # solution\n    return 2 * x\n    # end solution\n",
    }.items():
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
    texts = [donor.text for donor in donors_of(lesson)]
    assert texts == ["def f(x):\n    return 2 * x\n", "def f(x):\n    return x * 2\n"]
    assert donors_of(replace(lesson, held=HeldBack(0, 0.0))) == ()


def test_one_step_more_is_less_plausible_than_another_expression() -> None:
    wrong = "def f(x):\n    return x.exp()\n"
    (more,) = donated(wrong, "def f(x):\n    return x.exp() + 0 * x.sum()\n").values()
    assert more.rank > LIKELY + 9


def test_an_answer_for_one_case_does_not_replace_a_constant() -> None:
    wrong = "def f(x):\n    y = None\n    return y\n"
    assert not donated(
        wrong, "def f(x):\n    y = x.grad.detach().clone() if x.is_leaf else None\n    return y\n"
    )


def test_a_saved_variable_is_replaced_only_by_a_variable() -> None:
    wrong = """
        def f(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y
    """
    for saved, tried in (("x", True), ("x > 0", False)):
        found = donated(wrong, wrong.replace("backward(y)", f"backward({saved})"))
        assert any(f"save_for_backward({saved})" in text for text in found) is tried
