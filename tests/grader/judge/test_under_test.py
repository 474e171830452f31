"""Each part of a function under test passes for a right answer and fails for its own mistake."""

from __future__ import annotations

import doctest
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import polib
import pytest
import torch

from grader.core.errors import CheckFailure, CourseError
from grader.core.files import LOCALE
from grader.judge import random_inputs
from grader.judge.checks import assert_that, call_check, check, name_checks, namespace_of
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.running_check import running
from grader.judge.under_test import hands_on, tested, under_test, wrapper_function
from grader.judge.under_test.texts import HANDED_ON, ONE_INPUT, SEVERAL_INPUTS

Remote = Callable[..., RemoteStudent]

RIGHT = """
import torch

class Twist(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y = x * x
        ctx.save_for_backward(x)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 2 * x

def twist(x):
    return Twist.apply(x)
"""
S = under_test("Twist.apply", lambda x: x * x, near={"rtol": 1e-6, "atol": 1e-9}, scaled=True)
H = hands_on("twist", to="Twist")
PARTS: dict[str, Callable[[], object]] = {
    "right value": S.right_value,
    "right gradients": S.right_gradients,
    "no built in": lambda: S.no_built_in(["exp"]),
    "no operator": lambda: S.no_built_in(["exp"]),
    "every shape": S.every_shape,
    "empty": S.empty,
    "strided": S.strided,
    "extremes": lambda: S.extremes((-1e4, 1e4, 1e-4), near={torch.float64: {"rtol": 1e-9}}),
    "calls apart": S.calls_apart,
    "nested": S.nested,
    "after a change": S.after_a_change,
    "one tensor twice": S.one_tensor_twice,
    "own backward": S.own_backward,
    "linear": S.linear,
    "backward again": S.backward_again,
    "saves": S.saves,
    "notices changes": S.notices_changes,
    "leaves tensors": S.leaves_tensors,
    "leaves inputs": lambda: S.leaves_tensors(held=False),
    "leaves what is held": S.leaves_tensors,
    "leaves state": S.leaves_state,
    "gradcheck": lambda: S.gradcheck(torch.tensor([0.4, -1.3]).double().requires_grad_()),
    "gradgradcheck": lambda: S.gradgradcheck(torch.tensor([0.4, -1.3]).double().requires_grad_()),
    "second derivative": S.second_derivative,
    "returns": H.returns,
    "leads back": H.leads_back,
    "function leaves state": lambda: H.leaves_state(torch.tensor([0.5, -1.5])),
    "function keeps nothing": H.keeps_nothing,
    "function after a change": lambda: H.after_a_change(lambda x: x * x),
}
CACHED = "return SEEN.setdefault(id(x), Twist.apply(x))"
BACKWARD, CALL, VALUE = "return grad_output * 2 * x", "return Twist.apply(x)", "y = x * x"
WRONG = {
    "right value": (VALUE, "y = x * x + 1", "value"),
    "right gradients": (BACKWARD, "return grad_output * x", "gradient"),
    "no built in": (VALUE, "y = torch.ops.aten.exp_(x * 0) * x * x", "built in"),
    "no operator": (VALUE, "y = getattr(torch, 'e' + 'xp')(x * 0) * x * x", "operator"),
    "every shape": (BACKWARD, "return grad_output * (2 - (x.dim() == 0)) * x", "shape"),
    "empty": (BACKWARD, "return grad_output * 2 * x if x.numel() else None", "empty"),
    "strided": (BACKWARD, "return grad_output.reshape(-1).view(x.shape) * x * 3", "transposed"),
    "extremes": (BACKWARD, "return grad_output * 2 * x.clamp(-10, 10)", "extremes"),
    "calls apart": (VALUE, "y = x * x; Twist.x = x", "first"),
    "nested": (BACKWARD, "return grad_output * (2 * x + (x > 2.0))", "nested"),
    "after a change": (VALUE, "y = SEEN.setdefault(x.data_ptr(), x * x)", "after a change"),
    "one tensor twice": (BACKWARD, "return grad_output * 2 * Twist.first", "twice gradient"),
    "linear": (BACKWARD, "return grad_output.clamp(-1.5, 1.5) * 2 * x", "linear"),
    "backward again": (BACKWARD, "x.data.mul_(2); return grad_output * x", "again"),
    "saves": ("ctx.save_for_backward(x)", "ctx.x = x", "attributes"),
    "notices changes": ("ctx.save_for_backward(x)", "ctx.save_for_backward(x.data)", "written"),
    "leaves tensors": (BACKWARD, "return grad_output.mul_(2) * x", "v changed"),
    "leaves inputs": (VALUE, "y = x * x; x.data.mul_(2)", "input changed"),
    "leaves what is held": (BACKWARD, "x.grad = None; return grad_output * 2 * x", ".grad"),
    "leaves state": (VALUE, "y = x * x; x.requires_grad_()", "flag"),
    "gradcheck": (BACKWARD, "return grad_output * x", "gradcheck"),
    "second derivative": (
        BACKWARD, "return (grad_output * 2 * x).detach()", "second derivative cut",
    ),
    "returns": (CALL, "return x * x", "value"),
    "leads back": (CALL, "return Twist.apply(x.detach())", "cut"),
    "function leaves state": (CALL, "x.grad = None; return Twist.apply(x)", "grad"),
    "function keeps nothing": (CALL, CACHED, "second call"),
    "function after a change": (CALL, CACHED, "after a change"),
}  # fmt: skip
"""What turns the right answer into a wrong one, and what its part then says."""
MORE = {
    "calls apart": ("(x,) = ctx.saved_tensors", "x = Twist.x"),
    "one tensor twice": (VALUE, "y = x * x; Twist.first = getattr(Twist, 'first', x.clone())"),
}
"""A second change that a mistake needs."""


def run(student: Any, part: Callable[[], object], seed: int = 3) -> None:
    call_check(lambda student, draw: part(), student=student, reference=student, seed=seed)


@pytest.mark.parametrize("name", PARTS)
def test_a_right_answer_passes_every_part(name: str, remote: Remote) -> None:
    run(remote(RIGHT), PARTS[name])


@pytest.mark.parametrize("name", WRONG)
def test_a_mistake_fails_its_part(name: str, remote: Remote) -> None:
    old, new, says = WRONG[name]
    source = "SEEN = {}\n" + RIGHT.replace(old, new)
    if name in MORE:
        source = source.replace(*MORE[name])
    with pytest.raises(CheckFailure) as caught:
        run(remote(source), PARTS[name])
    texts = (
        HANDED_ON if PARTS[name] in (H.returns, H.leads_back) or "function" in name else ONE_INPUT
    )
    assert caught.value.message == texts[says or ""]
    assert caught.value.inputs


METHODS = """
import torch

class Own:
    def exp(self):
        return 2.0

def twist(x):
    return x * x * Own().exp() / {factor}
"""


@pytest.mark.parametrize(("factor", "message"), [("2", None), ("2 * (0 * x).exp()", "built in")])
def test_a_plain_function_may_have_a_method_of_a_banned_name(
    factor: str, message: str | None, remote: Remote
) -> None:
    """A method is torch's if its operator is seen to run."""
    plain = under_test("twist", lambda x: x * x)
    check = lambda: plain.no_built_in(["exp"])  # noqa: E731
    student = remote(METHODS.format(factor=factor))
    if message is None:
        run(student, check)
        return
    with pytest.raises(CheckFailure) as caught:
        run(student, check)
    assert caught.value.message == ONE_INPUT[message]


def test_gradients_must_come_from_the_class(remote: Remote) -> None:
    """A class that is not a Function, and a result that another one made."""
    other = RIGHT.replace("class Twist(", "class Other(") + (
        "\nclass Twist(torch.autograd.Function):\n    apply = Other.apply\n"
    )
    with pytest.raises(CheckFailure) as caught:
        run(remote(other), S.own_backward)
    assert caught.value.message == ONE_INPUT["no node"]


def test_a_function_of_two_inputs_says_which_gradient_is_wrong(remote: Remote) -> None:
    source = """
import torch

class Scaled(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        x, y = ctx.saved_tensors
        return grad_output * y, grad_output * x WRONG
"""
    both = under_test("Scaled.apply", torch.mul, inputs="x y")
    parts = (
        both.right_gradients, both.every_shape, both.strided, both.empty, both.calls_apart,
        both.nested, both.one_for_all, both.one_tensor_twice, both.constants, both.linear,
        both.own_backward, both.backward_again, both.saves, both.notices_changes,
        both.leaves_tensors,
    )  # fmt: skip
    right = remote(source.replace("WRONG", ""))
    for part in parts:
        run(right, part)
    with pytest.raises(CheckFailure) as caught:
        run(remote(source.replace("WRONG", "* 2")), both.right_gradients)
    assert caught.value.facts["which"] == "y"
    assert list(caught.value.inputs) == ["x", "y", "v"]


X = torch.tensor([0.5, -1.5])
MISUSES: dict[str, tuple[Callable[[], object], str]] = {
    "a shape as a tuple": (
        lambda: RandomInputs(1).tensor((3, 4)),  # type: ignore[arg-type]
        r"sizes are given one by one: tensor\(3, 4\), not tensor\(\(3, 4\)\)",
    ),
    "a check without parts": (
        lambda: S.check(1, "nothing"),
        "the check 'nothing' can't fail: give it parts, such as S.every_shape",
    ),
    "a part that was called": (
        lambda: S.check(1, "nothing", None),  # type: ignore[arg-type]
        "the check 'nothing' can't fail",
    ),
    "inputs as a list": (
        lambda: under_test("f", torch.mul, inputs=["x", "y"]),  # type: ignore[arg-type]
        "inputs is a text of names: 'x y'",
    ),
    "an unknown message": (
        lambda: under_test("f", torch.exp, messages={"valeu": "wrong"}),
        "no check of f says 'valeu'; choose from: .*'value'",
    ),
    "an unknown message of a function": (
        lambda: hands_on("f", to="F", messages={"valeu": "wrong"}),
        "no check of f says 'valeu'",
    ),
    "outside of a check": (S.right_value, "this works only inside a check"),
}


@pytest.mark.parametrize("name", MISUSES)
def test_a_wrong_use_gets_a_sentence_with_file_and_line(name: str) -> None:
    use, sentence = MISUSES[name]
    with pytest.raises(CourseError, match=rf"/\w+\.py:\d+: {sentence}") as caught:
        use()
    if name != "outside of a check":
        assert Path(__file__).name in str(caught.value)


INSIDE: dict[str, tuple[Callable[[Any], object], str]] = {
    "a gradient without a leaf": (
        lambda student: S.gradient(X, X),
        "no input of Twist.apply requires grad, so it has no gradient",
    ),
    "v of another shape": (
        lambda student: S.gradient(X.clone().requires_grad_(), torch.ones(3)),
        r"v has shape \(3,\), and the result of Twist.apply has \(2,\)",
    ),
    "too many inputs": (lambda student: S.value(X, X), "Twist.apply takes x; 2 were given"),
    "a truth that asks the student": (
        lambda student: under_test("Twist.apply", lambda x: student.twist(x)).value(X),
        "the truth of Twist.apply asks the student; compute it from torch alone",
    ),
    "a truth that is a number": (
        lambda student: under_test("Twist.apply", float).value(X[:1]),  # type: ignore[arg-type]
        "the truth of Twist.apply returned float; it must return a tensor",
    ),
    "a truth without a gradient": (
        lambda student: under_test("Twist.apply", lambda x: x.detach() ** 2).gradient(
            X.clone().requires_grad_(), X
        ),
        "the truth of Twist.apply has no gradient",
    ),
    "a truth that is under test": (
        lambda student: under_test("Twist.apply", lambda x: S.value(x)).value(X),
        "this works only inside a check, and not while the truth is computed",
    ),
}


@pytest.mark.parametrize("name", INSIDE)
def test_a_wrong_use_in_a_check_gets_a_sentence_with_file_and_line(
    name: str, remote: Remote
) -> None:
    use, sentence = INSIDE[name]
    student = remote(RIGHT)
    with pytest.raises(CourseError, match=rf"{Path(__file__).name}:\d+: {sentence}"):
        run(student, lambda: use(student))


def test_a_failure_shows_what_was_given_last_unless_it_says_itself() -> None:
    def part(draw: RandomInputs, **details: Any) -> None:
        draw.given(x=1)
        assert draw.given(x=2, v=3) == (2, 3)
        assert draw.given(y=4) == 4
        assert_that(False, "wrong", **details)

    for details, shown in (({}, {"y": 4}), ({"inputs": {"z": 5}}, {"z": 5})):
        draw = RandomInputs(1)
        with pytest.raises(CheckFailure) as caught, running(None, draw):
            part(draw, **details)
        assert caught.value.inputs == shown


def test_a_check_made_of_parts_runs_them_and_is_needed_by_reference() -> None:
    ran: list[int] = []
    first = S.check(0.5, "first", lambda: ran.append(1), lambda: ran.append(2))

    @check(points=1, about="Twist", needs=first)
    def test_second() -> None:
        """second"""

    name_checks({"test_first": first, "test_second": test_second}.items())
    assert test_second.check.needs == ("test_first",)  # type: ignore[attr-defined]
    assert namespace_of(first) is globals()
    spec = first.check  # type: ignore[attr-defined]
    assert (first.__doc__, spec.points, spec.about) == ("first", 0.5, "Twist")
    with running(None, RandomInputs(1)):
        first(None, None)
    assert ran == [1, 2]


def test_each_text_has_korean_words() -> None:
    known = {one.msgid for one in polib.pofile(str(LOCALE / "ko.po")) if one.msgstr}
    assert {*ONE_INPUT.values(), *SEVERAL_INPUTS.values(), *HANDED_ON.values()} <= known


@pytest.mark.parametrize(
    "module", [random_inputs, tested, wrapper_function], ids=lambda m: m.__name__
)
def test_examples_in_docstrings_hold(module: ModuleType) -> None:
    found = doctest.testmod(module, extraglobs={"torch": torch})
    assert found.attempted
    assert not found.failed


TOTALS = """
import torch

class Total(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, dim):
        ctx.save_for_backward(x)
        ctx.dim = dim
        return (x * x).sum(dim)

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output.unsqueeze(ctx.dim) * 2 * x WRONG, None
"""


def test_further_arguments_follow_the_inputs(remote: Remote) -> None:
    def drawn(draw: RandomInputs, *shape: int, dtype: torch.dtype) -> list[torch.Tensor]:
        rows, columns = shape or (3, 4)
        x = draw.tensor(rows, columns, requires_grad=True, dtype=dtype)
        return [x, draw.tensor(rows, dtype=dtype)]

    total = under_test(
        "Total.apply", lambda x: (x * x).sum(1), rest={"dim": 1}, draws=drawn, few=drawn
    )
    parts = (
        total.right_gradients, total.calls_apart, total.own_backward, total.one_tensor_twice,
        total.linear, total.backward_again, total.saves, total.notices_changes,
        total.leaves_tensors, total.leaves_state, total.second_derivative, total.after_a_change,
        partial(total.no_built_in, ["exp"]),
    )  # fmt: skip
    right = remote(TOTALS.replace("WRONG", ""))
    for part in parts:
        run(right, part)
    wrong = remote(TOTALS.replace("WRONG", "* 2"))
    for part in (total.right_gradients, total.own_backward):
        with pytest.raises(CheckFailure) as caught:
            run(wrong, part)
        assert caught.value.inputs["dim"] == 1
