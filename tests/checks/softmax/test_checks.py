"""softmax's checks. Those below the line "hidden" are not handed out."""

from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_that,
    check,
    differentiated,
    phrase,
    same,
    under_test,
)

LENDS = "LogSumExp"
"""Others use one without mistakes: a mistake in the student's has checks of its own."""
F32, F64, INF = torch.float32, torch.float64, torch.inf
NEAR = {F64: {"rtol": 1e-5, "atol": 1e-5}, F32: {"rtol": 1e-4, "atol": 1e-5}}
"""The tolerance of checks that ask for something else than digits."""
LARGE = {F64: {"rtol": 1e-5, "atol": 1e-5}, F32: {"rtol": 1e-4, "atol": 1e-2}}
"""The same for large x: float32 has three digits after the point of 10,000."""
DIGITS = {F64: {"rtol": 1e-8, "atol": 1e-12}, F32: {"rtol": 1e-5, "atol": 1e-5}}
BUILT_INS = (
    "logsumexp logcumsumexp logaddexp softmax softmin crossentropy nllloss ctcloss attention"
).split()
"""What names of built-ins contain that do the work, without underscores and capitals."""
FORWARD_MODE = {*"_make_dual _unpack_dual _fw_primal _has_same_storage_numel".split()}
"""Operators by which autograd's forward mode begins."""
FAR = torch.tensor(
    [
        [9998.0, -9998.0, 0.0, 3.0],
        [-9998.0, -9997.0, -9996.5, -9998.5],
        [800.0, 799.0, -800.0, 798.5],
        [-800.0, -801.0, -799.5, -805.0],
        [95.0, 94.0, 90.0, -95.0],
    ],
    dtype=F64,
)
"""Rows whose exp overflows or vanishes in one dtype or in both, each far from the others."""
CLASSES = torch.tensor([2, 0, 3, 2, 1])


def rows(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x of shape (3, 4), and a v for its rows: of both signs, small and large."""
    v = torch.tensor([2.0, -0.25, -1.9], dtype=dtype)[draw.sample(range(3), 3)]
    return draw.tensor(3, 4, dtype=dtype, requires_grad=True), v


def logits(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x of shape (5, 4), and a v of one number, which is negative and not near -1."""
    v = torch.tensor(-draw.number(low=1.5, high=3.0), dtype=dtype)
    return draw.tensor(5, 4, dtype=dtype, requires_grad=True), v


def column(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x of shape (4, 1), and a v for its rows."""
    return draw.tensor(4, 1, dtype=dtype, requires_grad=True), draw.tensor(4, dtype=dtype)


def column_of_logits(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x of shape (4, 1), and a v of one number."""
    return column(draw, dtype)[0], logits(draw, dtype)[1]


def far(draw: RandomInputs, dtype: torch.dtype) -> Tensor:
    """The rows of FAR, moved a little, in a drawn order."""
    x = FAR + draw.tensor(5, 4, low=-0.9, high=0.9)
    return x[draw.sample(range(5), 5)][:, draw.sample(range(4), 4)].to(dtype)


def some_infinite(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x of shape (3, 4) with -inf in every column, and a number in every row."""
    x, v = rows(draw, dtype)
    places = torch.tensor([[1, 0, 0, 1], [0, 1, 1, 1], [0, 0, 0, 0]]).bool()
    return x.detach().masked_fill(places, -INF).requires_grad_(), v


def row_infinite(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x of shape (3, 4), one row of which is -inf, and a v."""
    x, v = rows(draw, dtype)
    return x.detach().index_fill(0, torch.tensor(draw.integer(0, 2)), -INF).requires_grad_(), v


def log_sum_exp(x: Tensor, dim: int) -> Tensor:
    """torch.logsumexp, with a gradient of 0 where all entries are -inf."""
    none = (x == -INF).all(dim, keepdim=True)
    y = torch.logsumexp(x.masked_fill(none, 0.0), dim)
    return y.masked_fill(none.squeeze(dim), -INF)


def class_of(name: str, truth: Any, draws: Any, says: Any = None, **rest: Any) -> Any:
    """A class under test, with further arguments after x."""
    wrong = f"{name}.apply({', '.join(['x', *rest])}) is wrong"
    return under_test(
        f"{name}.apply",
        truth,
        rest=rest,
        few=draws,
        draws=lambda draw, *shape, dtype: draws(draw, dtype),
        near=NEAR,
        messages={"value": wrong, **(says or {})},
    )


def lse(dim: int, draws: Any = rows, **says: Any) -> Any:
    return class_of("LogSumExp", partial(log_sum_exp, dim=dim), draws, dim=dim, **says)


def entropy(target: Tensor, ignore_index: int = -100, draws: Any = logits) -> Any:
    truth = partial(functional.cross_entropy, target=target, ignore_index=ignore_index)
    return class_of("CrossEntropy", truth, draws, target=target, ignore_index=ignore_index)


def smoothed(target: Tensor, smoothing: float) -> Any:
    truth = partial(functional.cross_entropy, target=target, label_smoothing=smoothing)
    return class_of("SmoothedCrossEntropy", truth, logits, target=target, smoothing=smoothing)


def classes(draw: RandomInputs) -> Tensor:
    """A class for each of five rows, three of four classes among them in every draw."""
    return CLASSES[draw.sample(range(5), 5)]


def derived(suite: Any) -> None:
    """The gradient comes from a formula: torch runs nothing else in backward."""
    x, v = suite.few()
    want = suite.truth(x)
    (slope,) = torch.autograd.grad(want, x, v)
    all_seen = suite.student.observe("operators", suite.asked, x, v)
    exact = same(all_seen["value"], want.detach(), rtol=1e-9, atol=1e-9)
    # if not exact, y may be x and a little more
    seen = all_seen["backward"]
    source = "small steps of x" if seen["steps"] and exact else None
    source = "complex numbers" if seen["imaginary"] else source
    for name in seen["nodes"]:
        source = phrase("autograd's {name}", name=name)
    if FORWARD_MODE.intersection(seen["operators"]):
        source = "autograd's forward mode"
    message = "{function}.backward takes the derivative from {source}, not from a formula"
    assert_that(not source, message, facts={"source": source, "function": suite.name})
    for way in ("forward", "backward"):
        message = "{function}.{way} uses numbers that were computed where no check can see it"
        hidden = suite.hides(all_seen[way])
        assert_that(not hidden, message, facts={"function": suite.name, "way": way})
    suite.assert_near(all_seen["gradient"], slope, "gradient", inputs=[x], v=v)


def right_gradients(suite: Any, narrow: Any) -> None:
    """The gradients, by a formula of the class; ``narrow`` has one column, and each step of it is
    one of all x.
    """
    suite.right_gradients()
    suite.own_backward()
    derived(suite)
    derived(narrow)


def digits(suite: Any) -> None:
    """The digits of each dtype; ten numbers that are rounded do not have them by chance."""
    for _ in range(10):
        suite.value(suite.few()[0].detach(), **DIGITS[F64])
    for dtype in (F64, F32):
        near = DIGITS[dtype]
        wrong = "the gradient is inexact"
        suite.gradient(*suite.few(dtype), says=wrong, value_near=near, **near)


def far_gradients(suite: Any, x: Tensor, v: Tensor) -> None:
    """The gradient for large x."""
    wrong = "the gradient is wrong for large x"
    suite.gradient(x.requires_grad_(), v, says=wrong, value_near=LARGE[x.dtype], **LARGE[x.dtype])


def twice(checked: Any, *suites: Any) -> None:
    """Second derivatives of suites that draw different x; gradgradcheck of one, for two rows."""
    for suite in suites:
        suite.second_derivative()
    checked.gradgradcheck(checked.draw.tensor(2, 3, digits=None, requires_grad=True))


def proportional(suite: Any) -> None:
    """The gradient for multiples of v, which is one number."""
    x, v = suite.few()
    for factor in (1.0, 2.0, -1.0, 100.0, 0.0):
        suite.gradient(x, v * factor, says="linear", facts={"factor": factor}, also={"v": v})


def two_calls(one: Any, two: Any) -> None:
    """Two calls with other arguments, whose gradients are asked for when both have returned."""
    (x, _), (z, _) = one.few(), two.few()
    calls = {"first": one.call(x), "second": two.call(z)}
    for which, call in calls.items():
        v = one.draw.tensor(*call.want.shape)
        call.gradient(v, says=which, also={"x": x, "z": z}, plot=False)
    one.after_a_change()
    one.one_tensor_twice()


# ---------------------------------------------------------------------------------------- LogSumExp


ROWS = lse(1)
test_value = ROWS.check(
    0.5, "LogSumExp gives log(sum(exp(x))) of each row", ROWS.right_value,
    partial(ROWS.no_built_in, BUILT_INS), at="LogSumExp.forward",
)  # fmt: skip
test_gradient = GRADIENT = ROWS.check(
    0.5, "LogSumExp.backward gives grad_output times the softmax",
    partial(right_gradients, ROWS, lse(1, column)), at="LogSumExp.backward", needs=test_value,
)  # fmt: skip


@check(points=0.75, about="LogSumExp", at="LogSumExp.forward", needs=test_value)
def test_large_inputs(student: Student, draw: RandomInputs) -> None:
    """LogSumExp is right from x = -10,000 to 10,000"""
    for dtype in (F64, F32):
        wrong = "LogSumExp.apply(x, dim) is wrong for large x"
        ROWS.value(far(draw, dtype), says=wrong, **NEAR[dtype])
        x = torch.tensor([[-INF, -9999.0, -9998.0], [-INF, -INF, -10000.0]], dtype=dtype)
        ROWS.value(x[:, draw.sample(range(3), 3)], says=wrong, **NEAR[dtype])


@check(points=0.25, about="LogSumExp", at="LogSumExp.forward", needs=test_value)
def test_row_of_infinities(student: Student, draw: RandomInputs) -> None:
    """LogSumExp of a row of -inf is -inf"""
    x = row_infinite(draw)[0].detach()
    ROWS.value(x, says="LogSumExp.apply(x, dim) is wrong if a row is -inf everywhere")


# ------------------------------------------------------------------------------------- CrossEntropy


@check(points=0.5, about="CrossEntropy", at="CrossEntropy.forward")
def test_loss(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy gives the mean of -log(softmax)[class]"""
    suite = entropy(classes(draw))
    suite.right_value()
    suite.no_built_in(BUILT_INS)


@check(points=0.5, about="CrossEntropy", at="CrossEntropy.backward", needs=test_loss)
def test_loss_gradient(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy.backward gives the gradient of the mean"""
    narrow = entropy(torch.zeros(4, dtype=torch.int64), draws=column_of_logits)
    right_gradients(entropy(classes(draw)), narrow)


LOSS = test_loss_gradient


def ignoring(draw: RandomInputs, ignore_index: int) -> Tensor:
    """Classes other than ignore_index for three of five rows, and ignore_index for the others."""
    others = [one for one in range(4) if one != ignore_index]
    return torch.tensor(draw.sample([*others[:3], ignore_index, ignore_index], 5))


@check(points=0.25, about="CrossEntropy", at="CrossEntropy.forward", needs=test_loss)
def test_ignored_rows(student: Student, draw: RandomInputs) -> None:
    """the mean is over the rows that are not ignored"""
    x, _ = logits(draw)
    wrong = "CrossEntropy.apply is wrong if rows are ignored"
    entropy(ignoring(draw, -100)).value(x.detach(), says=wrong)


@check(points=0.5, about="CrossEntropy", at="CrossEntropy.forward", needs=test_loss)
def test_large_logits(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy is right from x = -10,000 to 10,000"""
    wrong = "CrossEntropy.apply is wrong for large x"
    for dtype in (F64, F32):
        x = far(draw, dtype)
        for target in (x.argmin(1), x.argmax(1)):
            entropy(target).value(x, says=wrong, **LARGE[dtype])


# ----------------------------------------------------------------------------- SmoothedCrossEntropy


SMOOTHED = smoothed(CLASSES, 0.3)


@check(points=0.5, about="SmoothedCrossEntropy", bonus=True, at="SmoothedCrossEntropy.forward")
def test_smoothed_loss(student: Student, draw: RandomInputs) -> None:
    """SmoothedCrossEntropy spreads the probability"""
    for smoothing in (0.2, draw.number(low=0.3, high=0.6)):
        smoothed(classes(draw), smoothing).right_value()
    SMOOTHED.no_built_in(BUILT_INS)


# hidden


@check(points=0.25, about="LogSumExp", at="LogSumExp.backward", needs=[GRADIENT, test_large_inputs])
def test_gradient_of_large_inputs(student: Student, draw: RandomInputs) -> None:
    """LogSumExp's gradient is right from -10,000 to 10,000"""
    for dtype in (F64, F32):
        far_gradients(ROWS, far(draw, dtype), draw.tensor(5, dtype=dtype))


@check(points=0.25, about="LogSumExp", needs=GRADIENT)
def test_some_infinities(student: Student, draw: RandomInputs) -> None:
    """LogSumExp works with -inf among the entries"""
    ROWS.gradient(*some_infinite(draw), says="the gradient is wrong if some entries are -inf")


@check(
    points=0.25,
    about="LogSumExp",
    at="LogSumExp.backward",
    needs=[GRADIENT, test_row_of_infinities],
)
def test_gradient_of_a_row_of_infinities(student: Student, draw: RandomInputs) -> None:
    """the gradient of a row of -inf is 0"""
    wrong = "the gradient is wrong if a row is -inf everywhere"
    ROWS.gradient(*row_infinite(draw), says=wrong)


@check(points=0.5, about="LogSumExp", needs=GRADIENT)
def test_every_dimension(student: Student, draw: RandomInputs) -> None:
    """LogSumExp works along every dimension"""
    shape = draw.sample([2, 3, 4], 3)
    for dim in draw.sample(range(-3, 3), 6):
        x = draw.tensor(*shape, requires_grad=True)
        v = draw.tensor(*(size for k, size in enumerate(shape) if k != dim % 3))
        lse(dim).gradient(x, v)


@check(points=0.25, about="LogSumExp", needs=GRADIENT)
def test_every_shape(student: Student, draw: RandomInputs) -> None:
    """LogSumExp works for every shape"""
    for shape, dim in (
        ((4,), 0), ((1,), -1), ((3, 1), 1), ((0, 3), 1), ((2, 0, 3), 2), ((2, 1, 3, 2, 2), 4)
    ):  # fmt: skip
        x = draw.tensor(*shape, requires_grad=True)
        lse(dim).gradient(x, draw.tensor(*shape[:-1]), says="shape")
    x = draw.noncontiguous(3, 4, requires_grad=True)
    ROWS.gradient(x, draw.tensor(1).expand(3), says="the gradient is wrong for a transposed x")
    ROWS.gradient(x, None, says="sum", after=torch.sum)


BLOCKS = lse(2, lambda draw, dtype: (draw.tensor(2, 3, 4, requires_grad=True), None))
test_digits = ROWS.check(
    0.25, "LogSumExp is right to 8 digits (float32: 5)", partial(digits, ROWS), needs=GRADIENT
)
test_linear = ROWS.check(
    0.25, "LogSumExp's gradient is proportional to grad_output",
    ROWS.linear, at="LogSumExp.backward", needs=GRADIENT,
)  # fmt: skip
test_second_derivative = ROWS.check(
    0.5, "LogSumExp can be differentiated twice",
    partial(twice, ROWS, ROWS, lse(1, some_infinite)),
    at="LogSumExp.backward", needs=GRADIENT,
)  # fmt: skip
WRONG = "the second derivative is wrong if a row is -inf everywhere"
INFINITE = lse(1, row_infinite, says={"second derivative": WRONG})
test_second_derivative_of_infinities = INFINITE.check(
    0.25, "second derivatives of a row of -inf are 0", INFINITE.second_derivative,
    at="LogSumExp.backward", needs=[test_second_derivative, test_gradient_of_a_row_of_infinities],
)  # fmt: skip
test_saved = ROWS.check(
    0.25, "LogSumExp saves its tensors with save_for_backward", ROWS.saves, ROWS.backward_again,
    at="LogSumExp.forward", needs=GRADIENT,
)  # fmt: skip
test_calls_apart = ROWS.check(
    0.25, "calls of LogSumExp do not affect each other",
    partial(two_calls, ROWS, BLOCKS), needs=GRADIENT,
)  # fmt: skip
test_others_stay = ROWS.check(
    0.25, "LogSumExp leaves its arguments as they were",
    ROWS.leaves_tensors, ROWS.leaves_state, needs=GRADIENT,
)  # fmt: skip


# ------------------------------------------------------------------------------------- CrossEntropy


@check(
    points=0.25, about="CrossEntropy", at="CrossEntropy.backward", needs=[LOSS, test_large_logits]
)
def test_gradient_of_large_logits(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy's gradient is right from -10,000 to 10,000"""
    for dtype in (F64, F32):
        x = far(draw, dtype)
        for target in (x.argmin(1), x.argmax(1)):
            far_gradients(entropy(target), x, logits(draw, dtype)[1])


@check(
    points=0.25, about="CrossEntropy", at="CrossEntropy.backward", needs=[LOSS, test_ignored_rows]
)
def test_gradient_of_ignored_rows(student: Student, draw: RandomInputs) -> None:
    """the gradient of an ignored row is 0"""
    wrong = "the gradient is wrong if rows are ignored"
    entropy(ignoring(draw, -100)).gradient(*logits(draw), says=wrong)


@check(points=0.25, about="CrossEntropy", needs=[LOSS, test_ignored_rows])
def test_any_ignore_index(student: Student, draw: RandomInputs) -> None:
    """any ignore_index works, and -inf in ignored rows"""
    for ignore_index in (-1, 255, 0, 3):
        wrong = "CrossEntropy.apply is wrong for this ignore_index"
        suite, (x, v) = entropy(ignoring(draw, ignore_index), ignore_index), logits(draw)
        suite.value(x.detach(), says=wrong)
        suite.gradient(x, v, says="the gradient is wrong for this ignore_index")
    of_one_class = entropy(torch.tensor([0, -100, 0, -100]))
    of_one_class.gradient(*column_of_logits(draw), says="shape")
    for ignore_index in (-100, 3):
        target, (x, v) = ignoring(draw, ignore_index), logits(draw)
        masked = (target == ignore_index)[:, None] & (torch.arange(4) != draw.integer(1, 2))
        x = x.detach().masked_fill(masked, -INF)
        suite = entropy(target, ignore_index)
        suite.value(x, says="CrossEntropy.apply is wrong if ignored rows contain -inf")
        wrong = "the gradient is wrong if ignored rows contain -inf"
        suite.gradient(x.clone().requires_grad_(), v, says=wrong)


def masked_logits(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """A leaf x with -inf in two rows, at no class of CLASSES."""
    x, v = logits(draw, dtype)
    x = x.detach()
    x[0, [0, 3]] = x[3, 1] = -INF
    return x.requires_grad_(), v


@check(points=0.25, about="CrossEntropy", needs=LOSS)
def test_infinite_logits(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy works with -inf at other classes"""
    x, v = masked_logits(draw)
    suite = entropy(CLASSES)
    suite.value(x.detach(), says="CrossEntropy.apply is wrong if some logits are -inf")
    suite.gradient(x, v, says="the gradient is wrong if some entries are -inf")


@check(points=0.25, about="CrossEntropy", needs=LOSS)
def test_other_tensors(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy is right for any N and C, to 8 digits"""
    digits(entropy(CLASSES))
    for rows, columns in ((1, 1), (1, 3), (4, 2), (40, 3)):
        x, (_, v) = draw.tensor(rows, columns, requires_grad=True), logits(draw)
        target = draw.integers(rows, low=0, high=columns - 1)
        entropy(target).gradient(x, v, says="shape")
    x = draw.noncontiguous(5, 4, requires_grad=True)
    target = torch.stack([CLASSES, CLASSES], 1)[:, 0]
    entropy(target).gradient(x, v, says="the gradient is wrong for a transposed x")


ROWS_OF_CLASSES = entropy(CLASSES)
TWO_ROWS = entropy(torch.tensor([2, 0]))
test_loss_linear = ROWS_OF_CLASSES.check(
    0.25, "CrossEntropy's gradient is proportional to grad_output",
    partial(proportional, ROWS_OF_CLASSES), at="CrossEntropy.backward", needs=LOSS,
)  # fmt: skip
test_loss_second_derivative = ROWS_OF_CLASSES.check(
    0.5, "CrossEntropy can be differentiated twice",
    partial(twice, TWO_ROWS, ROWS_OF_CLASSES),
    at="CrossEntropy.backward", needs=LOSS,
)  # fmt: skip
test_loss_saved = ROWS_OF_CLASSES.check(
    0.25, "CrossEntropy saves its tensors with save_for_backward", ROWS_OF_CLASSES.saves,
    ROWS_OF_CLASSES.backward_again,
    at="CrossEntropy.forward", needs=LOSS,
)  # fmt: skip
test_loss_calls_apart = ROWS_OF_CLASSES.check(
    0.25, "calls of CrossEntropy do not affect each other",
    partial(two_calls, ROWS_OF_CLASSES, entropy(CLASSES.flip(0).roll(1))), needs=LOSS,
)  # fmt: skip


@check(points=0.25, about="CrossEntropy", needs=LOSS)
def test_loss_leaves_arguments(student: Student, draw: RandomInputs) -> None:
    """CrossEntropy leaves its arguments as they were"""
    ROWS_OF_CLASSES.leaves_tensors()
    ROWS_OF_CLASSES.leaves_state()
    target, (x, v) = torch.tensor([2, 3, 0, 3, 1]), logits(draw)
    draw.given(x=x, target=target.clone())
    with student.writing_allowed() as copies:
        loss = student.CrossEntropy.apply(x, target, 3)
        differentiated(loss, [x], v)
    want = torch.tensor([2, 3, 0, 3, 1])
    assert_equal(copies.of(target), want, "CrossEntropy changed target")


# ----------------------------------------------------------------------------- SmoothedCrossEntropy


@check(
    points=0.25,
    about="SmoothedCrossEntropy",
    at="SmoothedCrossEntropy.backward",
    bonus=True,
    needs=test_smoothed_loss,
)
def test_smoothed_gradient(student: Student, draw: RandomInputs) -> None:
    """SmoothedCrossEntropy's gradient is right"""
    suite = smoothed(classes(draw), draw.number(low=0.3, high=0.6))
    right_gradients(suite, suite)
    x = far(draw, F64)
    far_gradients(smoothed(x.argmin(1), 0.2), x, logits(draw)[1])
    digits(SMOOTHED)


test_smoothed_second_derivative = SMOOTHED.check(
    0.25, "SmoothedCrossEntropy can be differentiated twice",
    partial(twice, smoothed(torch.tensor([2, 0]), 0.3), SMOOTHED), SMOOTHED.saves,
    SMOOTHED.leaves_tensors,
    at="SmoothedCrossEntropy.backward", needs=test_smoothed_gradient, bonus=True,
)  # fmt: skip
