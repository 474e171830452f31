"""in_place's checks. Those below the line "hidden" are not handed out."""

import re
from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    InCheck,
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_raises,
    assert_tensor,
    assert_that,
    check,
    check_of,
    formula,
    under_test,
)

SINGLE = (
    "x.exp() x.tanh() x.relu() x.sin() x.log() x**2 x.abs() x.prod() x*3 x+1 x.clone() x.sum()"
).split()
"""Operations that need their result, their input, both, and neither."""
SEVERAL = (
    "(x * 2).exp()|x.exp() * 2|x.exp() + x.sin()|x.sin().exp()|x.exp().sin()|x.detach() * x"
    "|x.exp().t()|x.relu() * 1|x.t() * x.t()|(x * x).sum()|x.sum().tanh()|x.cube()|x.exp().cube()"
).split("|")
SHAPES = (
    "(x * {a}).FIRST().SECOND()|(x + {a}).FIRST() * x.SECOND()|x.FIRST() * {a} + x.SECOND()"
    "|(x.FIRST() + {a}).SECOND()|x.FIRST().t() * x.SECOND().t()|x.FIRST().SECOND() + {a}"
).split("|")
FIRST_AND_SECOND = "exp tanh sin cos log sqrt relu abs sigmoid square reciprocal cube".split()
FEW = "x.exp() x.sin() x*3".split()
PLAIN = "x.add_(1)", "x += 1", "x[0] = 5"
UNSEEN = (
    "x.mul_(1)",
    "x.copy_(x.clone())",
    "x.add_(1); x.sub_(1)",
    "x[1:].zero_()",
    "x.detach().mul_(2)",
)
"""Writes that a comparison of numbers, or of one tensor's memory, does not see."""
READS = "y = x + 1; y.add_(1)", "(x * x).sum().backward()"
ENOUGH = 6
"""How many new tensors of x's size repaired needs."""


def after_a_write(op: Any, x: Tensor, which: str) -> bool:
    """Return whether backward through op raises after a write to its input, or to its result."""
    given = x.detach().clone().requires_grad_()
    y = op(given)
    if not y.requires_grad:
        return False
    (given if which == "input" else y).detach().zero_()
    try:
        torch.autograd.grad(y.sum(), given)
    except RuntimeError:
        return True
    return False


def positive(draw: RandomInputs, *shape: int, **options: Any) -> Tensor:
    return draw.tensor(*shape, low=0.5, high=2.0, **options)


class Saves(InCheck):
    """What saves_input, or saves_result, is asked: parts of checks."""

    def __init__(self, which: str) -> None:
        self.which, self.name = which, f"saves_{which}"

    def check(self, points: float, title: str, part: Any, needs: Any = ()) -> Any:
        """Return a check that is made of one part."""
        declare = check(points=points, about=self.name, needs=needs)
        return check_of([part], title.format(name=self.name), declare)

    def answers(self, ops: Sequence[Any], x: Tensor) -> None:
        """Require the right answers, in some order."""
        for op in self.draw.sample(ops, len(ops)):
            self.draw.given(op=op, x=x.detach())
            want = after_a_write(op, x, self.which)
            with self.student.writing_allowed():  # x_stays asks for that
                got = getattr(self.student, self.name)(op, x)
            facts = {"name": self.name, "want": want}
            assert_equal(got, want, "{name}(op, x) should be {want}", facts=facts)

    def single(self) -> None:
        """Single operations."""
        self.answers([*map(formula, SINGLE)], positive(self.draw, 3))

    def two_factors(self) -> None:
        """Operations with another tensor, which requires grad or does not."""
        w, leaf = positive(self.draw, 3), positive(self.draw, 3, requires_grad=True)
        texts = "x * w", "x / w", "x + w", "x @ w"
        ops = [formula(text, w=one) for text in texts for one in (w, leaf)]
        self.answers(ops, positive(self.draw, 3))

    def several(self) -> None:
        """Functions of several operations, and then drawn ones, which no table has."""
        self.answers([*map(formula, SEVERAL)], positive(self.draw, 2, 3))
        self.answers([self.composed() for _ in range(6)], positive(self.draw, 2, 3))

    def composed(self) -> Any:
        """Return a function of two operations, with a drawn number."""
        first, second = self.draw.sample(FIRST_AND_SECOND, 2)
        shape = self.draw.choice(SHAPES)
        return self.draw.formula(shape.replace("FIRST", first).replace("SECOND", second))

    def no_graph(self) -> None:
        """A function whose result has no graph."""
        self.answers([formula("x.detach().exp()")], positive(self.draw, 3))

    def any_tensor(self) -> None:
        """A number, a transposed matrix, and a leaf in float32 with both signs."""
        draw = self.draw
        x = torch.cat([positive(draw, 2), -positive(draw, 2)]).float().requires_grad_()
        for one in (positive(draw).float(), positive(draw, 2, 3).t(), x):
            self.answers([*map(formula, FEW)], one)

    def x_stays(self) -> None:
        """An x that requires grad, and one that does not, are afterwards as they were before, and
        so is .grad of a tensor that op uses.
        """
        draw = self.draw
        for x in (draw.tensor(3, requires_grad=True), draw.tensor(3)):
            draw.given(x=x.detach(), **{"x.requires_grad": x.requires_grad})
            for op in map(formula, FEW):
                seen = self.student.observe("answered", self.name, op, x, draw.tensor(3))
                for key in ("requires_grad", "grad_fn", "values", "grad"):
                    what = "the values of x" if key == "values" else f"x.{key}"
                    facts = {"what": what, "name": self.name}
                    message = "{what} should be the same after {name}(op, x)"
                    assert_equal(seen["after"][key], seen["before"][key], message, facts=facts)
        w = draw.tensor(3, requires_grad=True)
        op = draw.given(op=formula("x + w", w=w))
        seen = self.student.observe("answered", self.name, op, draw.tensor(3), None, [w])
        message = "{name}(op, x) changed .grad of w, which op uses"
        ones = torch.ones_like(w).detach()
        assert_equal(seen["grads"][0], ones, message, facts={"name": self.name})


# ------------------------------------------------------------------------ saves_input, saves_result

INPUT, RESULT = Saves("input"), Saves("result")
SINGLE_TITLE = "{name} is right for single operations"
test_which_operations_save_their_input = INPUT.check(0.75, SINGLE_TITLE, INPUT.single)
test_which_operations_save_their_result = RESULT.check(0.75, SINGLE_TITLE, RESULT.single)
INPUT_RIGHT = test_which_operations_save_their_input
RESULT_RIGHT = test_which_operations_save_their_result
test_the_other_factor_decides = INPUT.check(
    0.5, "x is saved if the other factor requires grad", INPUT.two_factors, needs=INPUT_RIGHT
)


# ------------------------------------------------------------------------------------------ watched


def drawn_three(draw: RandomInputs) -> dict[str, Tensor]:
    """Return a leaf, a plain tensor and a transposed one, none with a 0 in it."""
    return {
        "a": positive(draw, 3, requires_grad=True),
        "b": positive(draw, 4),
        "c": positive(draw, 2, 3).t(),
    }


def told(names: str, lines: Sequence[tuple[int, str]]) -> str:
    """Return lines as they stand in a block, with the names of their tensors."""
    return "; ".join(re.sub(r"\bx\b", names[place], line) for place, line in lines) or "pass"


def assert_block(
    student: Student,
    draw: RandomInputs,
    lines: Sequence[tuple[int, str]],
    *,
    writes: bool,
    before: tuple[int, str] | None = None,
) -> None:
    """Require that RuntimeError comes out of a block that writes, and nothing of another."""
    tensors = drawn_three(draw)
    shown: dict[str, Any] = {key: one.detach() for key, one in tensors.items()}
    if before:
        shown["after the call, before the block"] = told("abc", [before])
    draw.given(**shown, **{"in the block": told("abc", lines)})
    run = partial(student.observe, "block", [*tensors.values()], [*map(list, lines)], before)
    if writes:
        message = "a tensor was written to in the block, and no RuntimeError came out of it"
        assert_raises("RuntimeError", run, message=message)
    else:
        refused = run()
        assert_that(refused is None, "the block does not run: {said}", facts={"said": refused})


@check(points=0.75, about="watched")
def test_a_write_in_the_block_raises(student: Student, draw: RandomInputs) -> None:
    """a write to any of the tensors raises at the end"""
    assert_block(student, draw, [], writes=False)
    for place in draw.sample(range(3), 3):
        assert_block(student, draw, [(place, draw.choice(PLAIN))], writes=True)
    assert_block(student, draw, [(0, "x.add_(1)"), (2, "x[0] = 5")], writes=True)


WATCHED = test_a_write_in_the_block_raises


@check(points=0.25, about="watched", needs=WATCHED)
def test_reading_does_not_raise(student: Student, draw: RandomInputs) -> None:
    """computing with the tensors does not raise"""
    for place in draw.sample(range(3), 3):
        for line in READS:
            assert_block(student, draw, [(place, line)], writes=False)


# ----------------------------------------------------------------------------------------- repaired


def repaired(x: Tensor) -> Tensor:
    y = x.sin() + 2
    return ((y.log() * 3).tanh() + 1) * (y - 1)


S = under_test("repaired", repaired)
test_gradient_of_repaired = S.check(
    0.75, "repaired has broken's values, and gradients", S.right_gradients
)


@check(points=0.5, about="repaired", needs=test_gradient_of_repaired)
def test_two_more_tensors(student: Student, draw: RandomInputs) -> None:
    """repaired makes two tensors more than broken"""
    x = draw.given(x=draw.tensor(40, requires_grad=True))
    seen = student.observe("made", "repaired", x)
    want = repaired(x).detach()
    assert_tensor(seen["value"], want, "repaired(x) should be what broken(x) returns")
    assert_that(seen["seen"], "repaired makes its result where no operator of torch is seen")
    message = "repaired makes {made} new tensors of x's size; {enough} are enough"
    assert_that(seen["made"] <= ENOUGH, message, facts={"made": seen["made"], "enough": ENOUGH})


# ------------------------------------------------------------------------------------------- AddOne


def added(student: Student, draw: RandomInputs, x: Tensor) -> dict[str, Any]:
    """Return what is seen of AddOne.apply(h) with h = 2 x, and the v of its gradients."""
    _ = student.AddOne
    v = draw.tensor(*x.shape, dtype=x.dtype)
    draw.given(h=2 * x.detach(), v=v)
    return {**student.observe("applied", x, v), "v": v}


def assert_added(seen: dict[str, Any], x: Tensor) -> None:
    """Require h + 1 in the result and in h."""
    want = 2 * x.detach() + 1
    assert_tensor(seen["value"], want, "AddOne.apply(h) should be h + 1")
    assert_tensor(seen["h"], want, "h itself should hold h + 1 after AddOne.apply(h)")


@check(points=0.5, about="AddOne", at="AddOne.forward")
def test_one_is_added_in_place(student: Student, draw: RandomInputs) -> None:
    """AddOne adds 1 to its input in place"""
    x = draw.tensor(3, requires_grad=True)
    assert_added(added(student, draw, x), x)


ADDED = test_one_is_added_in_place


@check(points=0.5, about="AddOne", at="AddOne.backward", needs=ADDED)
def test_gradient_of_add_one(student: Student, draw: RandomInputs) -> None:
    """the gradient of AddOne is grad_output"""
    x = draw.tensor(3, requires_grad=True)
    seen = added(student, draw, x)
    got = seen["gradient"]
    # h = 2 x doubles what backward returns
    assert_gradient(got if got is None else got / 2, seen["v"], "the gradient at h is wrong")


# hidden


SEVERAL_TITLE = "{name} is right for several operations"
CUT_TITLE = "{name} is False if there is no graph"
ANY_TITLE = "{name} works for any tensor x"
STAYS_TITLE = "{name} changes neither x nor .grad"
test_input_of_several_operations = INPUT.check(0.5, SEVERAL_TITLE, INPUT.several, INPUT_RIGHT)
test_result_of_several_operations = RESULT.check(0.5, SEVERAL_TITLE, RESULT.several, RESULT_RIGHT)
test_input_without_a_graph = INPUT.check(0.25, CUT_TITLE, INPUT.no_graph, INPUT_RIGHT)
test_result_without_a_graph = RESULT.check(0.25, CUT_TITLE, RESULT.no_graph, RESULT_RIGHT)
test_input_of_any_tensor = INPUT.check(0.25, ANY_TITLE, INPUT.any_tensor, INPUT_RIGHT)
test_result_of_any_tensor = RESULT.check(0.25, ANY_TITLE, RESULT.any_tensor, RESULT_RIGHT)
test_saves_input_leaves_x = INPUT.check(0.25, STAYS_TITLE, INPUT.x_stays, INPUT_RIGHT)
test_saves_result_leaves_x = RESULT.check(0.25, STAYS_TITLE, RESULT.x_stays, RESULT_RIGHT)


@check(points=0.5, about="watched", needs=WATCHED)
def test_every_write_counts(student: Student, draw: RandomInputs) -> None:
    """a write of the same numbers or through a view counts"""
    for line in draw.sample(UNSEEN, len(UNSEEN)):
        assert_block(student, draw, [(draw.integer(0, 2), line)], writes=True)


@check(points=0.25, about="watched", needs=WATCHED)
def test_only_the_block_counts(student: Student, draw: RandomInputs) -> None:
    """a write before the block does not count"""
    first, second = draw.sample(range(3), 2)
    assert_block(student, draw, [], writes=False, before=(first, "x.add_(1)"))
    assert_block(student, draw, [(second, "x.add_(1)")], writes=True, before=(first, "x.add_(1)"))


@check(points=0.25, about="watched", needs=WATCHED)
def test_exceptions_pass(student: Student, draw: RandomInputs) -> None:
    """the block's own exception reaches the caller"""
    tensors = [*drawn_three(draw).values()]
    for lines in ([], [[1, "x.add_(1)"]]):
        shown = told("abc", [*map(tuple, lines), (0, "raise KeyError('not today')")])
        draw.given(**{"in the block": shown})
        seen = student.observe("troubled", tensors, lines, "not today")
        assert_that(seen["kind"] is not None, "the block's KeyError did not come out of it")
        message = "{kind} came out of a block that raised a KeyError"
        assert_that(seen.get("itself"), message, facts=seen)


@check(points=0.25, about="watched", needs=WATCHED)
def test_blocks_apart(student: Student, draw: RandomInputs) -> None:
    """a block in a block watches its own tensors"""
    a, b = draw.given(a=draw.tensor(3), b=draw.tensor(3))
    for which, name in ((0, "a"), (1, "b"), (None, "nothing")):
        seen = student.observe("nested", a, b, which)
        inner, outer = seen["inner"]["runtime"], seen["outer"]["runtime"]
        facts = {"name": name, "inner": inner, "outer": outer}
        message = "in a block that watches b, inside a block that watches a, {name} was written to"
        assert_equal([outer, inner], [name == "a", name == "b"], message, facts=facts)


test_repaired_for_any_tensor = S.check(
    0.25,
    "repaired works for any tensor",
    partial(S.every_shape, dtypes=[torch.float64]),
    S.strided,
    S.empty,
    S.leaves_state,
    S.leaves_tensors,
    needs=test_gradient_of_repaired,
)


@check(points=0.5, about="AddOne", at="AddOne.forward", needs=ADDED)
def test_autograd_knows_of_the_write(student: Student, draw: RandomInputs) -> None:
    """AddOne.apply(h) is h, which is then AddOne's result"""
    x = draw.tensor(3, requires_grad=True)
    seen = added(student, draw, x)
    assert_that(seen["itself"], "AddOne.apply(h) is not h itself", facts=seen)
    message = "after AddOne.apply(h), h.grad_fn is not AddOne's node"
    assert_that(seen["node"], message, facts=seen)


@check(points=0.25, about="AddOne", needs=ADDED)
def test_add_one_to_any_tensor(student: Student, draw: RandomInputs) -> None:
    """AddOne works for any tensor"""
    for x in (
        draw.tensor(dtype=torch.float32, requires_grad=True),
        draw.tensor(2, 3).t(),
        torch.empty(0, 2, dtype=torch.float64),
        draw.tensor(2, 1, 3, requires_grad=True),
    ):
        seen = added(student, draw, x)
        assert_added(seen, x)
        if x.requires_grad:
            assert_gradient(
                seen["gradient"], 2 * seen["v"], "the gradient at x, with h = 2 x, is wrong"
            )


# ----------------------------------------------------------------------------------- add_one_to_row


def added_to_row(student: Student, draw: RandomInputs, x: Tensor, k: int) -> None:
    """Require 1 more in a row, and AddOne's backward for it alone."""
    _ = student.add_one_to_row
    v = draw.tensor(*x.shape, dtype=x.dtype)
    b = draw.number(low=2.0, high=5.0)
    draw.given(h=2 * x.detach(), k=k, v=v)
    want, gradient = 2 * x.detach(), 2 * v
    want[k] += 1
    gradient[k] *= b
    seen = student.observe("row", x, k, v, b)
    assert_tensor(seen["h"], want, "h should have 1 more in the row k, and nowhere else")
    assert_that(seen["itself"], "add_one_to_row(h, k) is not h itself", facts=seen)
    message = "the gradient at x, with h = 2 x, is wrong if AddOne.backward multiplies by {b}"
    assert_gradient(seen["gradient"], gradient, message, facts={"b": b})


@check(points=0.5, about="add_one_to_row", bonus=True)
def test_add_one_to_row(student: Student, draw: RandomInputs) -> None:
    """add_one_to_row writes through a view of x"""
    added_to_row(student, draw, draw.tensor(3, 2, requires_grad=True), draw.integer(0, 2))


@check(points=0.5, about="add_one_to_row", needs=test_add_one_to_row, bonus=True)
def test_rows_of_any_tensor(student: Student, draw: RandomInputs) -> None:
    """add_one_to_row works for any tensor"""
    for x, k in (
        (draw.tensor(4, dtype=torch.float32), 3),
        (draw.tensor(2, 3).t(), 2),
        (draw.tensor(2, 1, 3), -1),
    ):
        added_to_row(student, draw, x.requires_grad_(), k)
