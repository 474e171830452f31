"""custom_functions' checks. Those below the line "hidden" are not handed out."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    differentiated,
    fail,
    type_name,
    under_test,
)

NEAR = {torch.float64: {"rtol": 1e-5, "atol": 3e-5}, torch.float32: {"rtol": 1e-4, "atol": 1e-6}}
"""The tolerance of checks that ask for something else than digits."""


def drawn(
    draw: RandomInputs, *shape: int, dtype: torch.dtype = torch.float64, positive: bool = False
) -> tuple[Tensor, ...]:
    """x, y and v of one shape. From three elements on, each of the three has numbers of both signs,
    and some smaller and some larger than 1; with ``positive``, x is positive.
    """
    place = torch.arange(math.prod(shape)).reshape(shape)
    bits = (place % 2, place // 2 % 2, (place + place // 2) % 2)
    x, y, v = (
        spread(draw.tensor(*shape), (bit + draw.integer(0, 1)) % 2, (place + 1) // 2 % 2).to(dtype)
        for bit in bits
    )
    x = x.abs() if positive else x
    v = torch.where(v.abs() < 1, v.sign() * 0.2, v.sign() * 2.0)  # a bound is met in every draw
    return x.requires_grad_(), y.requires_grad_(), v


def spread(numbers: Tensor, negative: Tensor, large: Tensor) -> Tensor:
    """Give numbers of at most 2 these signs, and sizes near 0.3 or near 1.9."""
    sizes = torch.where(large == 1, 1.8, 0.2) + numbers.abs() / 10
    return (sizes * (1 - 2.0 * negative)).round(decimals=2)


Add = under_test("Add.apply", torch.add, inputs="x y", draws=drawn, near=NEAR)
Mul = under_test("Mul.apply", torch.mul, inputs="x y", draws=drawn, near=NEAR)
Pow = under_test(
    "Pow.apply",
    torch.pow,
    inputs="x q",
    draws=partial(drawn, positive=True),
    near=NEAR,
    over={"x": (0.1, 3), "q": (-2, 3)},
    plots=True,
)
BroadcastMul = under_test("BroadcastMul.apply", torch.mul, inputs="x y", draws=drawn, near=NEAR)


def basic(suite: under_test, result: str) -> tuple[Callable[..., None], ...]:
    """Return a check of a class's value, and one of its gradients."""
    name, forward, backward = suite.name, f"{suite.name}.forward", f"{suite.name}.backward"
    value = suite.check(0.25, f"{name} returns {result}", suite.right_value, at=forward)
    parts = (suite.right_gradients, suite.own_backward)
    title = f"{backward} returns both gradients"
    return value, suite.check(0.5, title, *parts, at=backward, needs=value)


def assert_gradients(
    result: Tensor,
    inputs: dict[str, Tensor],
    wants: Sequence[float],
    message: str = "the gradient with respect to {which} is wrong",
) -> None:
    """Require the gradients of a result's sum, at these leaves."""
    found = differentiated(result, [*inputs.values()], torch.ones_like(result))
    for (which, leaf), got, want in zip(inputs.items(), found, wants, strict=True):
        right = torch.full_like(leaf, want).detach()
        assert_gradient(got, right, message, inputs=inputs, facts={"which": which})


def shopping(**prices: float) -> dict[str, Tensor]:
    """Leaves of one number each."""
    return {name: torch.tensor([price], requires_grad=True) for name, price in prices.items()}


FRUIT = {"apple": 100.0, "tangerine": 150.0, "num_apple": 2.0, "num_tangerine": 3.0, "ctax": 1.1}


# ------------------------------------------------------------------------------------ Add, Mul, Pow


test_add_returns_the_sum, test_add_has_both_gradients = basic(Add, "x + y")


@check(points=0.25, about="Add", at="Add.backward", needs=test_add_has_both_gradients)
def test_add_in_the_shopping_graph(student: Student) -> None:
    """Add gives the right gradients in the shopping graph"""
    leaves = shopping(**FRUIT)
    apple, tangerine, num_apple, num_tangerine, ctax = leaves.values()
    price = Add.value(apple * num_apple, tangerine * num_tangerine)
    assert_gradients(price * ctax, leaves, (2.2, 3.3, 110.0, 165.0, 650.0))


test_mul_returns_the_product, test_mul_has_both_gradients = basic(Mul, "x * y")


@check(points=0.25, about="Mul", at="Mul.backward", needs=test_mul_has_both_gradients)
def test_mul_in_the_apple_graph(student: Student) -> None:
    """Mul gives the right gradients in the apple graph"""
    leaves = shopping(apple=100.0, num=2.0, ctax=1.1)
    apple, num, ctax = leaves.values()
    assert_gradients(Mul.value(Mul.value(apple, num), ctax), leaves, (2.2, 110.0, 200.0))


test_pow_returns_the_power, test_pow_has_both_gradients = basic(Pow, "x ** q")


@check(points=0.25, about="Pow", at="Pow.backward", needs=test_pow_has_both_gradients)
def test_pow_under_a_logarithm(student: Student, draw: RandomInputs) -> None:
    """log(5 ** 3) has the gradients 0.6 and 1.6094"""
    inputs = {name: torch.tensor(n, requires_grad=True) for name, n in (("x", 5.0), ("q", 3.0))}
    draw.given(**inputs)
    y = Pow.value(*inputs.values())
    assert_tensor(y.detach(), torch.tensor(125.0), "the value of Pow.apply is wrong")
    z = y.log()
    message = "the logarithm of the power is wrong"
    assert_tensor(z.detach(), torch.tensor(4.8283), message, rtol=1e-4)
    message = (
        "the gradient of log(x ** q) with respect to {which} is wrong; grad_output is 1 / 125 ="
        " 0.008"
    )
    assert_gradients(z, inputs, (0.6, 1.6094379), message)


# -------------------------------------------------------------------------------------- as_callable


@check(points=0.5, about="as_callable")
def test_the_callable_gives_what_apply_gives(student: Student, draw: RandomInputs) -> None:
    """the callable returns what apply returns"""
    _ = student.as_callable  # a file without it is told so, and what it defines instead
    (x, y, v), (a, b) = drawn(draw, 3), draw.coefficients(2, low=2.0, high=5.0)
    draw.given(x=x, y=y)
    seen = student.observe("called", x, y, v, a, b)
    facts = {
        "a": a, "type": type_name(seen["returned"]), "contexts": seen.get("contexts", [])
    }  # fmt: skip
    if not seen["callable"]:
        wrong = "as_callable returned {type}, which can't be called"
        fail(wrong, actual=seen["returned"], facts=facts)
    message = (
        "the callable should return what apply returns for (x, y); the Function of this check"
        " computes {a} * x + y"
    )
    assert_tensor(seen["value"], (x * a + y).detach(), message, facts=facts)
    early = "as_callable ran forward before the callable was called"
    assert_that(seen["early"] == 0, early, facts=facts)


# ------------------------------------------------------------------------------------- BroadcastMul


@check(points=0.5, about="BroadcastMul", at="BroadcastMul.backward", bonus=True)
def test_broadcast_mul_of_a_matrix_and_a_row(student: Student, draw: RandomInputs) -> None:
    """BroadcastMul works for a matrix and a row"""
    rows, columns = draw.integer(2, 3), draw.integer(4, 5)
    x, y = draw.tensor(rows, columns, requires_grad=True), draw.tensor(columns, requires_grad=True)
    v = draw.tensor(rows, columns)
    BroadcastMul.gradient(x, y, v)
    BroadcastMul.own_backward(x, y, v)


# hidden


ADD, MUL, POW = (
    test_add_has_both_gradients, test_mul_has_both_gradients, test_pow_has_both_gradients
)  # fmt: skip
"""What most checks of a class need: a value and gradients that are right at a few numbers."""
SHAPES = {
    "dtypes": (torch.float64, torch.float32),
    "more": ((3, 3), (2, 2, 2)),  # of square matrices there is another product
    "exact": lambda t: t * math.pi / 3,
    "rtol": 1e-8,
    "atol": 1e-8,
}
"""How the checks of every shape ask for all digits of float64."""


def general(suite: under_test, needs: Callable[..., None]) -> tuple[Callable[..., None], ...]:
    """Return the checks that ask the same of each class: of shapes, and of several calls."""
    shapes = f"{suite.name} works for every shape, in float32 and float64"
    strided = f"{suite.name} works for transposed and empty tensors"
    several = f"calls of {suite.name} do not affect each other"
    return tuple(
        suite.check(0.25, title, *parts, needs=needs)
        for title, *parts in (
            (shapes, partial(suite.every_shape, **SHAPES)),
            (strided, partial(suite.strided, expanded=False), suite.empty),
            (several, suite.calls_apart, suite.nested, suite.one_for_all, suite.constants),
        )
    )


def saving(suite: under_test, needs: Callable[..., None]) -> tuple[Callable[..., None], ...]:
    """Return the checks of what belongs to others, and of what backward needs."""
    left = f"{suite.name} leaves its inputs and grad_output unchanged"
    saved = f"{suite.name} saves its tensors with save_for_backward"
    parts = (suite.saves, suite.backward_again, suite.notices_changes)
    return (
        suite.check(0.25, left, suite.leaves_tensors, needs=needs),
        suite.check(0.25, saved, *parts, needs=needs),
    )


# ---------------------------------------------------------------------------------------------- Add


test_add_of_every_shape, test_add_of_strided_and_empty_tensors, test_add_called_several_times = (
    general(Add, ADD)
)
test_add_leaves_others_alone = Add.check(
    0.25,
    "Add changes no input and keeps no tensor on ctx",
    Add.leaves_tensors,
    partial(Add.saves, any_tensor=False),
    Add.linear,
    needs=ADD,
)


@check(points=0.25, about="Add", at="Add.backward", needs=ADD)
def test_add_under_a_square(student: Student, draw: RandomInputs) -> None:
    """(x + y) ** 2 has the gradient 2 * (x + y)"""
    x = torch.tensor([1.4903, -1.4862, -1.5608, 0.9541], requires_grad=True)
    y = torch.tensor([1.2498, 1.2571, 1.2734, -0.0856])
    draw.given(x=x, y=y)
    want = torch.tensor([5.4802, -0.4582, -0.5747, 1.7369])
    (got,) = differentiated(Add.value(x, y) ** 2, [x], torch.ones(4))
    assert_gradient(got, want, "the gradient of (x + y) ** 2 with respect to x is wrong", atol=3e-4)
    inputs = {"x": x, "y": y.clone().requires_grad_()}
    message = "the gradient of (x + y).sum() with respect to {which} is wrong"
    assert_gradients(Add.value(*inputs.values()).sum(), inputs, (1.0, 1.0), message)


# ---------------------------------------------------------------------------------------------- Mul


test_mul_of_every_shape, test_mul_of_strided_and_empty_tensors, test_mul_called_several_times = (
    general(Mul, MUL)
)
test_mul_leaves_others_alone, test_mul_saves_for_backward = saving(Mul, MUL)


@check(points=0.25, about="Mul", at="Mul.backward", needs=MUL)
def test_mul_with_zero_and_large_factors(student: Student, draw: RandomInputs) -> None:
    """Mul works for zeros and is linear in grad_output"""
    for dtype in (torch.float64, torch.float32):
        x = torch.tensor([0.0, 0.0, -1e4, 1e4, draw.number()], dtype=dtype, requires_grad=True)
        y = torch.tensor([0.0, draw.number(), 1e4, 0.0, 1e-4], dtype=dtype, requires_grad=True)
        Mul.gradient(x, y, draw.tensor(5, dtype=dtype))
    Mul.linear()


@check(points=0.25, about="Mul", at="Mul.backward", needs=MUL)
def test_mul_in_the_shopping_graph(student: Student, draw: RandomInputs) -> None:
    """Mul gives the right gradients in the shopping graph"""
    x = torch.tensor([1.4903, -1.4862, -1.5608, 0.9541], requires_grad=True)
    y = torch.tensor([1.2498, 1.2571, 1.2734, -0.0856], requires_grad=True)
    message = (
        "if grad_output is all ones, the gradient with respect to {which} should be the other"
        " factor"
    )
    Mul.gradient(x, y, torch.ones(4), says=message)
    leaves = shopping(**FRUIT)
    apple, tangerine, num_apple, num_tangerine, ctax = leaves.values()
    price = Mul.value(apple, num_apple) + Mul.value(tangerine, num_tangerine)
    assert_gradients(Mul.value(price, ctax), leaves, (2.2, 3.3, 110.0, 165.0, 650.0))


@check(points=0.25, about="Mul", at="Mul.backward", needs=MUL)
def test_mul_of_one_and_two(student: Student) -> None:
    """1 times 2 is 2, and the gradients are 2 and 1"""
    inputs = {name: torch.tensor(n, requires_grad=True) for name, n in (("x", 1.0), ("y", 2.0))}
    assert_gradients(Mul.value(*inputs.values()), inputs, (2.0, 1.0))


# ---------------------------------------------------------------------------------------------- Pow


test_pow_of_every_shape, test_pow_of_strided_and_empty_tensors, test_pow_called_several_times = (
    general(Pow, POW)
)
test_pow_leaves_others_alone, test_pow_saves_for_backward = saving(Pow, POW)


@check(points=0.25, about="Pow", needs=POW)
def test_pow_with_unusual_exponents(student: Student, draw: RandomInputs) -> None:
    """Pow works for zero, small and negative exponents"""
    bases = draw.sample([1e-4, 1e4, 1.0, 0.5, 2.0, 30.0, 1.01], 7)
    exponents = draw.sample([0.0, -1.0, 1.0, -2.5, 0.5, 3.0, 2.0], 7)
    # Each exponent meets two bases, because base 1 hides what exponent 0 does to the gradients.
    for shift in (0, 1):
        for dtype in (torch.float64, torch.float32):
            x = torch.tensor([*bases, 2.0, 30.0], dtype=dtype, requires_grad=True)
            q = torch.tensor(exponents, dtype=dtype).roll(shift)
            q = torch.cat([q, torch.tensor([1e-5, -1e-5], dtype=dtype)]).requires_grad_()
            Pow.gradient(x, q, draw.tensor(9, dtype=dtype))


test_pow_is_linear = Pow.check(
    0.25, "Pow.backward is linear in grad_output", Pow.linear, at="Pow.backward", needs=POW
)


@check(points=0.25, about="Pow", at="Pow.backward", needs=POW)
def test_gradcheck_agrees_with_pow(student: Student, draw: RandomInputs) -> None:
    """gradcheck accepts Pow"""
    x = draw.tensor(4, low=1.0, high=2.0, digits=None, requires_grad=True)
    q = draw.tensor(4, digits=None, requires_grad=True)
    Pow.gradcheck(x, q, atol=3e-3, check_undefined_grad=False)


# -------------------------------------------------------------------------------------- as_callable

CALLABLE = test_the_callable_gives_what_apply_gives


@check(points=0.25, about="as_callable", needs=CALLABLE)
def test_the_callable_leads_back_to_the_function(student: Student, draw: RandomInputs) -> None:
    """the callable builds the same graph as apply"""
    for shape in ((3,), draw.shapes()[-1]):
        x, y, v = draw.given(**dict(zip("xyv", drawn(draw, *shape), strict=True)))
        a, b = draw.coefficients(2, low=2.0, high=5.0)
        seen = student.observe("called", x, y, v, a, b)
        message = (
            "the gradient is not what the Function's backward returns (in this check it returns"
            " {b} * grad_output and {c} * grad_output)"
        )
        facts = {"a": a, "contexts": seen["contexts"], "b": b, "c": round(a + b, 2)}
        for got, factor in zip(seen["gradients"] or (None, None), (b, a + b), strict=True):
            assert_gradient(got, v * factor, message, facts={**facts, "factor": factor})
        message = "the graph has no node of the Function that as_callable was given"
        assert_that(seen["found"], message, facts=facts)


@check(points=0.5, about="as_callable", needs=CALLABLE)
def test_any_number_of_arguments(student: Student, draw: RandomInputs) -> None:
    """the callable passes on any number of arguments"""
    (x, y, v), (a, b) = drawn(draw, 3), draw.coefficients(2, low=2.0, high=5.0)
    draw.given(x=x)
    seen = student.observe("counted", x, y, v, a, b)
    facts = {"got": next(iter(seen["types"]), "nothing"), "number": b}
    message = (
        "the number {number} should reach forward as it is; forward got an object of type {got}"
    )
    assert_equal(facts["got"], "float", message, facts=facts)
    draw.given(x=x, y=y, v=v)
    with torch.no_grad():
        wants = {
            "one tensor": (seen["one"], x * a, [v * b]),
            "three tensors": (
                seen["three"],
                x * a - y * b + x * y,
                [v * b + v * (a - b) * y, v * a + v * (a - b) * x],
            ),
            "a tensor and a number": (seen["scaled"], x * b + a, [v * b * b]),
        }
    wrong = "for a Function of {kind} the value is not what apply returns"
    for kind, ((result, gradients), value, rights) in wants.items():
        facts = {"a": a, "b": b, "kind": kind}
        assert_tensor(result, value, wrong, facts=facts)
        message = "for a Function of {kind} the gradient is not what its backward returns"
        for got, want in zip(gradients or [None] * len(rights), rights, strict=True):
            assert_gradient(got, want, message, facts=facts)


@check(points=0.25, about="as_callable", needs=CALLABLE)
def test_callables_do_not_mix(student: Student, draw: RandomInputs) -> None:
    """two callables do not affect each other"""
    (x, y, _), (a, b) = drawn(draw, 3), draw.coefficients(2, low=2.0, high=5.0)
    draw.given(x=x, y=y)
    seen = student.observe("apart", x, y, a, b)
    with torch.no_grad():
        wants = (x * a + y, y * b - x, y * a + x)
    orders = ("the first callable", "the second callable", "the first callable, called again")
    message = "of two callables, {which} does not return what its Function's apply returns"
    for which, got, want in zip(orders, seen, wants, strict=True):
        assert_tensor(got, want, message, facts={"a": a, "b": b, "which": which})


@check(points=0.25, about="as_callable", needs=CALLABLE)
def test_the_wrapped_product_of_one_and_two(student: Student, draw: RandomInputs) -> None:
    """a wrapped product of 1 and 2 has the gradients 2 and 1"""
    x, y = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    draw.given(x=x, y=y)
    seen = student.observe("product", x, y)
    facts = {"contexts": [seen["node"]]}
    message = "the wrapped product is wrong"
    assert_tensor(seen["value"], torch.tensor(2.0), message, facts=facts)
    message = "the gradient with respect to {which} is wrong"
    for which, got, want in zip("xy", seen["gradients"] or (None, None), (2.0, 1.0), strict=True):
        assert_gradient(got, torch.tensor(want), message, facts={**facts, "which": which})
    message = "the graph has no node of the Function that as_callable was given"
    assert_equal(seen["node"], "MyCustomFunctionBackward", message, facts=facts)


# ------------------------------------------------------------------------------------- BroadcastMul

BROADCAST = test_broadcast_mul_of_a_matrix_and_a_row


@check(points=0.5, about="BroadcastMul", at="BroadcastMul.backward", bonus=True, needs=BROADCAST)
def test_broadcast_mul_of_all_shapes(student: Student, draw: RandomInputs) -> None:
    """BroadcastMul works for all shapes that broadcast"""
    rows, columns = draw.integer(20, 40), draw.integer(30, 60)
    for left, right in (
        ((rows, columns), (columns,)), ((2, 1, rows, 1), (3, 1, 2)),
        ((3,), (2, 3)), ((3, 1), (1, 4)), ((2, 1, 3), (4, 1)), ((), (2, 3)), ((2, 3), ()),
        ((), ()), ((1,), (1, 1)), ((2, 3), (2, 3)), ((0, 3), (3,)),
        ((3, 3), (3,)), ((3,), (3, 3)), ((2, 2, 2), (2, 2)), ((3, 3), (3, 3)),
    ):  # fmt: skip
        for dtype in (torch.float64, torch.float32):
            x = draw.tensor(*left, dtype=dtype, requires_grad=True)
            y = draw.tensor(*right, dtype=dtype, requires_grad=True)
            v = draw.tensor(*torch.broadcast_shapes(left, right), dtype=dtype)
            BroadcastMul.gradient(x, y, v)
    x, y = draw.noncontiguous(3, 4, requires_grad=True), draw.tensor(4, requires_grad=True)
    BroadcastMul.gradient(x, y, draw.tensor(4, 3).t())
    x = draw.tensor(4, 3, 2).transpose(0, 1).requires_grad_()
    y = draw.tensor(2, requires_grad=True)
    BroadcastMul.gradient(x, y, draw.tensor(4, 3, 2).transpose(0, 1))


@check(points=0.5, about="BroadcastMul", at="BroadcastMul.backward", bonus=True, needs=BROADCAST)
def test_broadcast_mul_sums_by_itself(student: Student, draw: RandomInputs) -> None:
    """BroadcastMul.backward itself sums the gradients"""
    for left, right in (
        ((3, 4), (4,)), ((2, 1), (1, 3)), ((2, 3), ()),
        ((1, 3, 4), (3, 4)), ((3,), (1, 3)), ((), (1, 1)),
    ):  # fmt: skip
        x, y = draw.tensor(*left, requires_grad=True), draw.tensor(*right, requires_grad=True)
        v = draw.tensor(*torch.broadcast_shapes(left, right))
        draw.given(x=x, y=y, v=v)
        wants = torch.autograd.grad(x * y, (x, y), v)
        seen = student.observe("handed_back", BroadcastMul.path, [x, y], v, 1.0)
        message = "the gradient with respect to {which} is wrong for grad_output v"
        for which, got, want in zip("xy", seen["gradients"] or (None, None), wants, strict=True):
            facts = {"function": "BroadcastMul", "which": which}
            assert_gradient(got, want, message, facts=facts)
        message = (
            "backward returned a gradient of shape {shape} for {which}, which has shape"
            " {expected_shape}; the engine summed it"
        )
        for which, got, want in zip("xy", seen["shapes"][:2], (left, right), strict=True):
            facts = {"which": which, "shape": str(got), "expected_shape": str(want)}
            assert_equal(got, want, message, facts=facts)
    for part in (
        BroadcastMul.saves, BroadcastMul.backward_again, BroadcastMul.notices_changes,
        BroadcastMul.linear, BroadcastMul.leaves_tensors,
    ):  # fmt: skip
        part()
