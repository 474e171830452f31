"""custom_functions, the checks that students may read."""

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
    own_graph,
    type_name,
)

helpers = import_helpers(__file__)
TRUTH, second = helpers.TRUTH, helpers.second
applied, assert_gradients, drawn = helpers.applied, helpers.assert_gradients, helpers.drawn


def assert_own_backward(
    student: Student, draw: RandomInputs, name: str, x: Tensor, y: Tensor, v: Tensor
) -> None:
    """The graph behind the result must hold a node of the class, and the gradients must be those
    that its backward returns.
    """
    details = {"inputs": {"x": x, second(name): y, "v": v}, "facts": {"function": name}}
    message = (
        "the graph has no node of {function}: it is not a Function, or apply does not compute the"
        " result"
    )
    inputs = {"x": x, second(name): y}
    assert_that(
        student.observe("kept", name, x, y)["found"],
        message,
        **details,
        figures=[lambda: own_graph(student, name, "apply", inputs)],
    )
    (a,) = draw.coefficients(1, low=2.0, high=5.0)
    wants = torch.autograd.grad(TRUTH[name](x, y), (x, y), v)
    seen = student.observe("handed_back", name, x, y, v, a)
    for which, got, want in zip(("x", second(name)), seen["gradients"], wants, strict=True):
        details["facts"] |= {"which": which, "a": a}
        message = (
            "this check multiplies what {function}.backward returns by {a}; the gradient with"
            " respect to {which} did not change accordingly"
        )
        helpers.assert_near(got, want * a, message, atol=2e-4, **details)


# ---------------------------------------------------------------------------------------------- Add


@check(points=0.25, about="Add", at="Add.forward")
def test_add_returns_the_sum(student: Student, draw: RandomInputs) -> None:
    """Add returns x + y"""
    x, y, _ = drawn(draw, "Add", 3, requires_grad=False)
    applied(student, "Add", x, y)


@check(points=0.5, about="Add", at="Add.backward", needs=test_add_returns_the_sum)
def test_add_has_both_gradients(student: Student, draw: RandomInputs) -> None:
    """Add.backward returns both gradients"""
    x, y, v = drawn(draw, "Add", 3)
    assert_gradients(student, "Add", x, y, v)
    assert_own_backward(student, draw, "Add", x, y, v)


@check(points=0.25, about="Add", at="Add.backward", needs=test_add_has_both_gradients)
def test_add_in_the_shopping_graph(student: Student) -> None:
    """Add gives the right gradients in the shopping graph"""
    names = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
    leaves = [torch.tensor([value], requires_grad=True) for value in (100.0, 150.0, 2.0, 3.0, 1.1)]
    apple, tangerine, num_apple, num_tangerine, ctax = leaves
    price = applied(student, "Add", apple * num_apple, tangerine * num_tangerine)
    found = helpers.differentiated(student, price * ctax, leaves, torch.ones(1))
    for which, got, want in zip(names, found, (2.2, 3.3, 110.0, 165.0, 650.0), strict=True):
        assert_shopping(got, want, which, dict(zip(names, leaves, strict=True)))


def assert_shopping(got: Tensor | None, want: float, which: str, inputs: dict[str, Tensor]) -> None:
    """One gradient of the shopping graph."""
    assert_gradient(
        got,
        torch.tensor([want]),
        "the gradient with respect to {which} is wrong",
        inputs=inputs,
        facts={"which": which},
    )


# ---------------------------------------------------------------------------------------------- Mul


@check(points=0.25, about="Mul", at="Mul.forward")
def test_mul_returns_the_product(student: Student, draw: RandomInputs) -> None:
    """Mul returns x * y"""
    x, y, _ = drawn(draw, "Mul", 3, requires_grad=False)
    applied(student, "Mul", x, y)


@check(points=0.5, about="Mul", at="Mul.backward", needs=test_mul_returns_the_product)
def test_mul_has_both_gradients(student: Student, draw: RandomInputs) -> None:
    """Mul.backward returns both gradients"""
    x, y, v = drawn(draw, "Mul", 3)
    assert_gradients(student, "Mul", x, y, v)
    assert_own_backward(student, draw, "Mul", x, y, v)


@check(points=0.25, about="Mul", at="Mul.backward", needs=test_mul_has_both_gradients)
def test_mul_in_the_apple_graph(student: Student) -> None:
    """Mul gives the right gradients in the apple graph"""
    names = ("apple", "num", "ctax")
    leaves = [torch.tensor([value], requires_grad=True) for value in (100.0, 2.0, 1.1)]
    apple, num, ctax = leaves
    price = applied(student, "Mul", apple, num)
    result = applied(student, "Mul", price, ctax)
    found = helpers.differentiated(student, result, leaves, torch.ones(1))
    for which, got, want in zip(names, found, (2.2, 110.0, 200.0), strict=True):
        assert_shopping(got, want, which, dict(zip(names, leaves, strict=True)))


# ---------------------------------------------------------------------------------------------- Pow


@check(points=0.25, about="Pow", at="Pow.forward")
def test_pow_returns_the_power(student: Student, draw: RandomInputs) -> None:
    """Pow returns x ** q"""
    x, q, _ = drawn(draw, "Pow", 3, requires_grad=False)
    applied(student, "Pow", x, q)


@check(points=0.5, about="Pow", at="Pow.backward", needs=test_pow_returns_the_power)
def test_pow_has_both_gradients(student: Student, draw: RandomInputs) -> None:
    """Pow.backward returns both gradients"""
    x, q, v = drawn(draw, "Pow", 3)
    assert_gradients(student, "Pow", x, q, v)
    assert_own_backward(student, draw, "Pow", x, q, v)


@check(points=0.25, about="Pow", at="Pow.backward", needs=test_pow_has_both_gradients)
def test_pow_under_a_logarithm(student: Student) -> None:
    """log(5 ** 3) has the gradients 0.6 and 1.6094"""
    x, q = torch.tensor(5.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    y = applied(student, "Pow", x, q)
    assert_tensor(
        y.detach(),
        torch.tensor(125.0),
        "the value of {function}.apply is wrong",
        inputs={"x": x, "q": q},
        facts={"function": "Pow"},
    )
    z = y.log()
    assert_tensor(
        z.detach(),
        torch.tensor(4.8283),
        "the logarithm of the power is wrong",
        inputs={"x": x, "q": q},
        rtol=1e-4,
    )
    for which, got, want in zip(
        ("x", "q"),
        helpers.differentiated(student, z, (x, q), torch.ones(())),
        (0.6, 1.6094379),
        strict=True,
    ):
        message = (
            "the gradient of log(x ** q) with respect to {which} is wrong; grad_output is 1 / 125 ="
            " 0.008"
        )
        assert_gradient(
            got,
            torch.tensor(want),
            message,
            inputs={"x": x, "q": q},
            facts={"function": "Pow", "which": which},
        )


# -------------------------------------------------------------------------------------- as_callable


@check(points=0.5, about="as_callable")
def test_the_callable_gives_what_apply_gives(student: Student, draw: RandomInputs) -> None:
    """the callable returns what apply returns"""
    _ = student.as_callable  # a file without it is told so, and what it defines instead
    (x, y, v), (a, b) = drawn(draw, "Mul", 3), draw.coefficients(2, low=2.0, high=5.0)
    seen = student.observe("called", x, y, v, a, b)
    details = {
        "inputs": {"x": x, "y": y},
        "facts": {
            "a": a,
            "type": type_name(seen["returned"]),
            "contexts": seen.get("contexts", []),
        },
    }
    if not seen["callable"]:
        fail(
            "as_callable returned {type}, which can't be called", actual=seen["returned"], **details
        )
    message = (
        "the callable should return what apply returns for (x, y); the Function of this check"
        " computes {a} * x + y"
    )
    assert_tensor(seen["value"], (x * a + y).detach(), message, **details)
    assert_that(
        seen["early"] == 0, "as_callable ran forward before the callable was called", **details
    )


# ------------------------------------------------------------------------------------- BroadcastMul


@check(points=0.5, about="BroadcastMul", at="BroadcastMul.backward", bonus=True)
def test_broadcast_mul_of_a_matrix_and_a_row(student: Student, draw: RandomInputs) -> None:
    """BroadcastMul works for a matrix and a row"""
    rows, columns = draw.integer(2, 3), draw.integer(4, 5)
    x, y = draw.tensor(rows, columns, requires_grad=True), draw.tensor(columns, requires_grad=True)
    v = draw.tensor(rows, columns)
    assert_gradients(student, "BroadcastMul", x, y, v)
    assert_own_backward(student, draw, "BroadcastMul", x, y, v)
