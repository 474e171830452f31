"""custom_functions, the checks that are not handed out."""

import math

import torch

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradcheck,
    assert_gradient,
    assert_raises,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
)

helpers = import_helpers(__file__)
TRUTH, second = helpers.TRUTH, helpers.second
applied, assert_gradients, drawn = helpers.applied, helpers.assert_gradients, helpers.drawn
assert_near, differentiated = helpers.assert_near, helpers.differentiated

ADD, MUL, POW = (
    "test_add_has_both_gradients",
    "test_mul_has_both_gradients",
    "test_pow_has_both_gradients",
)
CALLABLE = "test_the_callable_gives_what_apply_gives"
"""What most checks here need: a value and gradients that are right at a few plain numbers."""


# --------------------------------------------------------------------- what every Function is asked


def every_shape(student: Student, draw: RandomInputs, name: str) -> None:
    """0-d, vectors, matrices and more, in both dtypes; of square matrices there is another
    product.
    """
    for dtype in (torch.float64, torch.float32):
        for shape in ((3, 3), (2, 2, 2), *draw.shapes()):
            x, y, v = drawn(draw, name, *shape, dtype=dtype)
            if dtype is torch.float32:
                assert_gradients(student, name, x, y, v)
                continue
            x, y = ((t.detach() * math.pi / 3).requires_grad_() for t in (x, y))  # all digits
            assert_gradients(student, name, x, y, v, rtol=1e-8, atol=1e-8)


def strides_and_empties(student: Student, draw: RandomInputs, name: str) -> None:
    """Transposed inputs, incoming gradients that are transposed or expanded, tensors without an
    element.
    """
    low = 1.0 if name == "Pow" else -2.0
    x, y = (
        draw.noncontiguous(3, 4, low=low, requires_grad=True),
        draw.noncontiguous(3, 4, requires_grad=True),
    )
    for v in (
        draw.tensor(4, 3).t(),
        draw.tensor(4).expand(3, 4),
        torch.ones((), dtype=torch.float64).expand(3, 4),
    ):
        assert_gradients(student, name, x, y, v)
    for shape in ((0,), (2, 0, 3)):
        assert_gradients(student, name, *drawn(draw, name, *shape))


def linear(student: Student, draw: RandomInputs, name: str) -> None:
    """Multiples of one incoming gradient."""
    x, y, v = drawn(draw, name, 3)
    for factor in (2.0, -1.0, 100.0, 0.0):
        wants = torch.autograd.grad(TRUTH[name](x, y), (x, y), v)
        found = differentiated(student, applied(student, name, x, y), (x, y), v * factor)
        for which, got, want in zip(("x", second(name)), found, wants, strict=True):
            message = (
                "for {factor} * v the gradient with respect to {which} should be {factor} times"
                " that for v"
            )
            facts = {"function": name, "factor": factor, "which": which}
            assert_near(
                got, want * factor, message, inputs={"x": x, second(name): y, "v": v}, facts=facts
            )
    a, b = draw.integer(1, 9), draw.integer(1, 9)
    balanced = torch.tensor([a, -b, b - a], dtype=v.dtype)
    message = "the gradient with respect to {which} is wrong for a grad_output v that adds up to 0"
    assert_gradients(student, name, x, y, balanced, message)


def others_stay(student: Student, draw: RandomInputs, name: str) -> None:
    """Inputs and incoming gradient keep their values, what shares the incoming gradient too, and
    .grad is added to.
    """
    (x, y, v), held = drawn(draw, name, 3), (draw.tensor(3), draw.tensor(3))
    wants = torch.autograd.grad(TRUTH[name](x, y), (x, y), v)
    seen = student.observe("beside", name, x, y, v, held)
    label = second(name)
    inputs = {"x": x, label: y, "v": v}
    for which, after, before in (("x", seen["x"], x), (label, seen["y"], y)):
        assert_equal(
            after,
            before.detach(),
            "{function} changed the values of {which}",
            inputs=inputs,
            facts={"function": name, "which": which},
        )
    facts = {"function": name}
    assert_equal(
        seen["v"],
        v,
        "{function}.backward changed the values of its grad_output v",
        inputs=inputs,
        facts=facts,
    )
    message = (
        "w is added to the result, so its gradient is v; {function}.backward changed the gradient"
        " of w"
    )
    assert_near(seen["grads"][2], v, message, inputs=inputs, facts=facts)
    for which, before, got, want in zip(("x", label), held, seen["grads"][:2], wants, strict=True):
        message = (
            "{which}.grad was {before} before backward; afterwards it should be that plus the"
            " gradient"
        )
        assert_near(
            got,
            before + want,
            message,
            inputs=inputs,
            facts={**facts, "which": which, "before": before},
        )


def saved(student: Student, draw: RandomInputs, name: str) -> None:
    """Tensors are kept through save_for_backward: seen on the node, and by what is freed."""
    x, y, v = drawn(draw, name, 3)
    label = second(name)
    details = {"inputs": {"x": x, label: y}, "facts": {"function": name}}
    seen = student.observe("kept", name, x, y)
    names = ", ".join(f"ctx.{attribute}" for attribute in seen["attributes"])
    if names:
        details["facts"] |= {"names": names, "saved": seen["saved"]}
        fail(
            "backward needs tensors that are stored in {names}, not with save_for_backward",
            **details,
        )
    if name == "Add":
        return
    assert_that(seen["saved"] >= 1, "no tensor was saved with save_for_backward", **details)
    wants = torch.autograd.grad(TRUTH[name](x, y), (x, y), v)
    z = applied(student, name, x, y)
    for keep in (True, False):
        found = differentiated(student, z, (x, y), v.clone(), retain_graph=keep)
        for which, got, want in zip(("x", label), found, wants, strict=True):
            message = (
                "backward ran twice, first with retain_graph=True; one of the gradients with"
                " respect to {which} is wrong"
            )
            assert_near(
                got,
                want,
                message,
                inputs={"x": x, label: y, "v": v},
                facts={"function": name, "which": which},
            )
    message = (
        "backward still worked after the graph was freed, so it used tensors that are not in"
        " ctx.saved_tensors"
    )
    assert_raises(
        "RuntimeError",
        lambda: differentiated(student, z, (x, y), v.clone())[0],
        message=message,
        **details,
    )
    seen = student.observe("written", name, x, y, v, 1.5)
    for changed, gradients in zip(("x", label), seen, strict=True):
        for which, got, want in zip(("x", label), gradients or (), wants, strict=False):
            message = (
                "{changed} was changed in place after the call; backward should raise, or use the"
                " old {changed}, but the gradient with respect to {which} is wrong"
            )
            facts = {"function": name, "which": which, "changed": changed}
            assert_near(got, want, message, inputs={"x": x, label: y, "v": v}, facts=facts)


def several_calls(student: Student, draw: RandomInputs, name: str) -> None:
    """Calls that interleave or nest, one tensor as both inputs, a constant as one of them."""
    label = second(name)
    (x, y, v), (s, t, u) = drawn(draw, name, 3), drawn(draw, name, 3)
    first, then = applied(student, name, x, y), applied(student, name, s, t)
    inputs = {"x": x, label: y, "v": v}
    for result, leaves, weight, message in (
        (
            first,
            (x, y),
            v,
            (
                "after a second call with other numbers, the gradient of the first call with"
                " respect to {which} is wrong"
            ),
        ),
        (
            then,
            (s, t),
            u,
            "of two calls, the gradient of the second with respect to {which} is wrong",
        ),
    ):
        wants = torch.autograd.grad(TRUTH[name](*leaves), leaves, weight)
        found = differentiated(student, result, leaves, weight.clone())
        for which, got, want in zip(("x", label), found, wants, strict=True):
            assert_near(got, want, message, inputs=inputs, facts={"function": name, "which": which})
    nested = applied(student, name, applied(student, name, x, y), y)
    wants = torch.autograd.grad(TRUTH[name](TRUTH[name](x, y), y), (x, y), v)
    found = differentiated(student, nested, (x, y), v.clone())
    for which, got, want in zip(("x", label), found, wants, strict=True):
        message = (
            "applied to its own result, {function} gives a wrong gradient with respect to {which}"
        )
        assert_near(got, want, message, inputs=inputs, facts={"function": name, "which": which})
    both = draw.tensor(3, low=1.0, requires_grad=True)
    (want,) = torch.autograd.grad(TRUTH[name](both, both), both, v)
    (got,) = differentiated(student, applied(student, name, both, both), (both,), v.clone())
    assert_near(
        got,
        want,
        "with the same tensor x as both inputs, the gradient is wrong",
        inputs={"x": both, "v": v},
        facts={"function": name},
    )
    seen = student.observe("changed", name, x, y, v, 1.5)
    now = [(t * 1.5).detach().requires_grad_() for t in (x, y)]
    wants = torch.autograd.grad(TRUTH[name](*now), now, v)
    inputs = {"x": now[0], label: now[1], "v": v}
    facts = {"function": name, "other": label}
    message = (
        "x and {other} were changed in place between two calls, and the value of the second is"
        " wrong"
    )
    want = TRUTH[name](*now).detach()
    assert_near(seen["value"], want, message, inputs=inputs, facts=facts)
    for which, got, want in zip(
        ("x", label), seen["gradients"] or (None, None), wants, strict=True
    ):
        message = (
            "x and {other} were changed in place between two calls, and the second gradient with"
            " respect to {which} is wrong"
        )
        assert_near(got, want, message, inputs=inputs, facts={**facts, "which": which})
    message = (
        "if the other input does not require grad, the gradient with respect to {which} is wrong"
    )
    for pair in ((x, y.detach()), (x.detach(), y)):
        assert_gradients(student, name, *pair, v, message)


# ---------------------------------------------------------------------------------------------- Add


@check(points=0.25, about="Add", needs=ADD)
def test_add_of_every_shape(student: Student, draw: RandomInputs) -> None:
    """Add works for every shape, in float32 and float64"""
    every_shape(student, draw, "Add")


@check(points=0.25, about="Add", needs=ADD)
def test_add_of_strided_and_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """Add works for transposed and empty tensors"""
    strides_and_empties(student, draw, "Add")


@check(points=0.25, about="Add", needs=ADD)
def test_add_leaves_others_alone(student: Student, draw: RandomInputs) -> None:
    """Add changes no input and keeps no tensor on ctx"""
    others_stay(student, draw, "Add")
    saved(student, draw, "Add")
    linear(student, draw, "Add")


@check(points=0.25, about="Add", at="Add.backward", needs=ADD)
def test_add_under_a_square(student: Student) -> None:
    """(x + y) ** 2 has the gradient 2 * (x + y)"""
    x = torch.tensor([1.4903, -1.4862, -1.5608, 0.9541], requires_grad=True)
    y = torch.tensor([1.2498, 1.2571, 1.2734, -0.0856])
    want = torch.tensor([5.4802, -0.4582, -0.5747, 1.7369])
    (got,) = differentiated(student, applied(student, "Add", x, y) ** 2, (x,), torch.ones(4))
    message = "the gradient of (x + y) ** 2 with respect to x is wrong"
    assert_gradient(
        got, want, message, inputs={"x": x, "y": y}, facts={"function": "Add"}, atol=3e-4
    )
    w = y.clone().requires_grad_()
    for which, got in zip(
        ("x", "y"),
        differentiated(student, applied(student, "Add", x, w).sum(), (x, w), torch.ones(())),
        strict=True,
    ):
        message = "the gradient of (x + y).sum() with respect to {which} is wrong"
        assert_gradient(
            got,
            torch.ones(4),
            message,
            inputs={"x": x, "y": w},
            facts={"function": "Add", "which": which},
        )


@check(points=0.25, about="Add", needs=ADD)
def test_add_called_several_times(student: Student, draw: RandomInputs) -> None:
    """calls of Add do not affect each other"""
    several_calls(student, draw, "Add")


# ---------------------------------------------------------------------------------------------- Mul


@check(points=0.25, about="Mul", needs=MUL)
def test_mul_of_every_shape(student: Student, draw: RandomInputs) -> None:
    """Mul works for every shape, in float32 and float64"""
    every_shape(student, draw, "Mul")


@check(points=0.25, about="Mul", needs=MUL)
def test_mul_of_strided_and_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """Mul works for transposed and empty tensors"""
    strides_and_empties(student, draw, "Mul")


@check(points=0.25, about="Mul", at="Mul.backward", needs=MUL)
def test_mul_with_zero_and_large_factors(student: Student, draw: RandomInputs) -> None:
    """Mul works for zeros and is linear in grad_output"""
    for dtype in (torch.float64, torch.float32):
        x = torch.tensor([0.0, 0.0, -1e4, 1e4, draw.number()], dtype=dtype, requires_grad=True)
        y = torch.tensor([0.0, draw.number(), 1e4, 0.0, 1e-4], dtype=dtype, requires_grad=True)
        assert_gradients(student, "Mul", x, y, draw.tensor(5, dtype=dtype))
    linear(student, draw, "Mul")


@check(points=0.25, about="Mul", needs=MUL)
def test_mul_leaves_others_alone(student: Student, draw: RandomInputs) -> None:
    """Mul leaves its inputs and grad_output unchanged"""
    others_stay(student, draw, "Mul")


@check(points=0.25, about="Mul", needs=MUL)
def test_mul_saves_for_backward(student: Student, draw: RandomInputs) -> None:
    """Mul saves its tensors with save_for_backward"""
    saved(student, draw, "Mul")


@check(points=0.25, about="Mul", needs=MUL)
def test_mul_called_several_times(student: Student, draw: RandomInputs) -> None:
    """calls of Mul do not affect each other"""
    several_calls(student, draw, "Mul")


@check(points=0.25, about="Mul", at="Mul.backward", needs=MUL)
def test_mul_in_the_shopping_graph(student: Student) -> None:
    """Mul gives the right gradients in the shopping graph"""
    x = torch.tensor([1.4903, -1.4862, -1.5608, 0.9541], requires_grad=True)
    y = torch.tensor([1.2498, 1.2571, 1.2734, -0.0856], requires_grad=True)
    found = differentiated(student, applied(student, "Mul", x, y), (x, y), torch.ones(4))
    for which, got, want in zip(("x", "y"), found, (y, x), strict=True):
        message = (
            "if grad_output is all ones, the gradient with respect to {which} should be the other"
            " factor"
        )
        assert_gradient(
            got,
            want.detach(),
            message,
            inputs={"x": x, "y": y},
            facts={"function": "Mul", "which": which},
        )
    names = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
    leaves = [torch.tensor([value], requires_grad=True) for value in (100.0, 150.0, 2.0, 3.0, 1.1)]
    apple, tangerine, num_apple, num_tangerine, ctax = leaves
    apple_price, tangerine_price = (
        applied(student, "Mul", apple, num_apple),
        applied(student, "Mul", tangerine, num_tangerine),
    )
    price = apple_price + tangerine_price
    result = applied(student, "Mul", price, ctax)
    found = differentiated(student, result, leaves, torch.ones(1))
    wants = (2.2, 3.3, 110.0, 165.0, 650.0)
    for which, got, want in zip(names, found, wants, strict=True):
        inputs = dict(zip(names, leaves, strict=True))
        message = "the gradient with respect to {which} is wrong"
        assert_gradient(
            got,
            torch.tensor([want]),
            message,
            inputs=inputs,
            facts={"function": "Mul", "which": which},
        )


@check(points=0.25, about="Mul", at="Mul.backward", needs=MUL)
def test_mul_of_one_and_two(student: Student) -> None:
    """1 times 2 is 2, and the gradients are 2 and 1"""
    a, b = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    c = applied(student, "Mul", a, b)
    for which, got, want in zip(
        ("x", "y"), differentiated(student, c, (a, b), torch.ones(())), (2.0, 1.0), strict=True
    ):
        message = "the gradient with respect to {which} is wrong"
        assert_gradient(
            got,
            torch.tensor(want),
            message,
            inputs={"x": a, "y": b},
            facts={"function": "Mul", "which": which},
        )


# ---------------------------------------------------------------------------------------------- Pow


@check(points=0.25, about="Pow", needs=POW)
def test_pow_of_every_shape(student: Student, draw: RandomInputs) -> None:
    """Pow works for every shape, in float32 and float64"""
    every_shape(student, draw, "Pow")


@check(points=0.25, about="Pow", needs=POW)
def test_pow_of_strided_and_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """Pow works for transposed and empty tensors"""
    strides_and_empties(student, draw, "Pow")


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
            assert_gradients(student, "Pow", x, q, draw.tensor(9, dtype=dtype))
    for dtype in (torch.float64, torch.float32):
        x = torch.full((6,), 1e-4, dtype=dtype, requires_grad=True)  # 1 / x makes q visible
        q = torch.tensor([1e-6, -1e-6, 1e-8, -1e-8, 1e-11, -1e-11], dtype=dtype, requires_grad=True)
        v = torch.full_like(q, draw.choice([-2.0, 2.0])).detach()
        message = "the gradient with respect to {which} is wrong for a q close to 0"
        assert_gradients(student, "Pow", x, q, v, message)


@check(points=0.25, about="Pow", at="Pow.backward", needs=POW)
def test_pow_is_linear(student: Student, draw: RandomInputs) -> None:
    """Pow.backward is linear in grad_output"""
    linear(student, draw, "Pow")


@check(points=0.25, about="Pow", needs=POW)
def test_pow_leaves_others_alone(student: Student, draw: RandomInputs) -> None:
    """Pow leaves its inputs and grad_output unchanged"""
    others_stay(student, draw, "Pow")


@check(points=0.25, about="Pow", needs=POW)
def test_pow_saves_for_backward(student: Student, draw: RandomInputs) -> None:
    """Pow saves its tensors with save_for_backward"""
    saved(student, draw, "Pow")


@check(points=0.25, about="Pow", needs=POW)
def test_pow_called_several_times(student: Student, draw: RandomInputs) -> None:
    """calls of Pow do not affect each other"""
    several_calls(student, draw, "Pow")


@check(points=0.25, about="Pow", at="Pow.backward", needs=POW)
def test_gradcheck_agrees_with_pow(student: Student, draw: RandomInputs) -> None:
    """gradcheck accepts Pow"""
    x, q = (
        draw.tensor(4, low=0.5, high=2.0, digits=None, requires_grad=True),
        draw.tensor(4, digits=None, requires_grad=True),
    )
    applied(student, "Pow", x, q)
    message = (
        "gradcheck compared your gradients with finite differences of your forward; they differ"
    )
    with student.writing_allowed():
        assert_gradcheck(
            lambda x, q: student.Pow.apply(x.clone(), q.clone()),
            [x, q],
            message,
            names=["x", "q"],
            eps=1e-3,
            atol=1e-3,
            check_undefined_grad=False,
        )


# -------------------------------------------------------------------------------------- as_callable


@check(points=0.25, about="as_callable", needs=CALLABLE)
def test_the_callable_leads_back_to_the_function(student: Student, draw: RandomInputs) -> None:
    """the callable builds the same graph as apply"""
    for shape in ((3,), draw.shapes()[-1]):
        (x, y, v), (a, b) = drawn(draw, "Mul", *shape), draw.coefficients(2, low=2.0, high=5.0)
        seen = student.observe("called", x, y, v, a, b)
        details = {
            "inputs": {"x": x, "y": y, "v": v},
            "facts": {"a": a, "contexts": seen["contexts"]},
        }
        message = (
            "the gradient is not what the Function's backward returns (in this check it returns"
            " {b} * grad_output and {c} * grad_output)"
        )
        for got, want, factor in zip(
            seen["gradients"] or (None, None), (v * b, v * (a + b)), (b, a + b), strict=True
        ):
            details["facts"] |= {"b": b, "c": round(a + b, 2), "factor": factor}
            assert_gradient(got, want, message, **details)
        assert_that(
            seen["found"],
            "the graph has no node of the Function that as_callable was given",
            **details,
        )
    x, y = draw.tensor(2, 3), draw.tensor(2, 3)
    seen = student.observe("linked", x, y)
    inputs = {"x": x.t(), "y": y.t()}
    assert_equal(
        seen["same"],
        [True, True],
        "transposed tensors x and y should reach forward themselves, not as copies",
        inputs=inputs,
    )
    assert_that(
        seen["straight"],
        "the graph has a further node before or after the node of the Function",
        inputs=inputs,
    )
    assert_that(
        not seen["records"],
        "under torch.no_grad() the result should not require grad: apply records no graph there",
        inputs=inputs,
    )


@check(points=0.5, about="as_callable", needs=CALLABLE)
def test_any_number_of_arguments(student: Student, draw: RandomInputs) -> None:
    """the callable passes on any number of arguments"""
    (x, y, v), (a, b) = drawn(draw, "Mul", 3), draw.coefficients(2, low=2.0, high=5.0)
    seen = student.observe("counted", x, y, v, a, b)
    facts = {"got": next(iter(seen["types"]), "nothing"), "number": b}
    assert_equal(
        facts["got"],
        "float",
        "the number {number} should reach forward as it is; forward got an object of type {got}",
        inputs={"x": x},
        facts=facts,
    )
    assert_equal(
        seen["early"],
        0,
        "as_callable ran forward of a Function of one argument before the callable was called",
        inputs={"x": x},
    )
    with torch.no_grad():
        wants = {
            "one": (x * a, [v * b]),
            "three": (x * a - y * b + x * y, [v * b + v * (a - b) * y, v * a + v * (a - b) * x]),
            "scaled": (x * b + a, [v * b * b]),
        }
        both = (x * a, y * b)
    labels = {
        "one": "one tensor",
        "three": "three tensors",
        "scaled": "a tensor and a number",
        "both": "two results",
    }
    for key, (value, gradients) in wants.items():
        details = {
            "inputs": {"x": x, "y": y, "v": v},
            "facts": {"a": a, "b": b, "kind": labels[key]},
        }
        assert_tensor(
            seen[key][0],
            value,
            "for a Function of {kind} the value is not what apply returns",
            **details,
        )
        for got, want in zip(seen[key][1] or [None] * len(gradients), gradients, strict=True):
            assert_gradient(
                got,
                want,
                "for a Function of {kind} the gradient is not what its backward returns",
                **details,
            )
    details = {"inputs": {"x": x, "y": y, "v": v}, "facts": {"kind": labels["both"]}}
    results, gradients = seen["both"]
    if not isinstance(results, tuple) or len(results) != 2:
        fail(
            "for a Function with two results the callable should return a tuple of two tensors",
            expected=both,
            actual=results,
            **details,
        )
    for got, want in zip(results, both, strict=True):
        assert_tensor(
            got, want, "for a Function of {kind} the value is not what apply returns", **details
        )
    for got, want in zip(gradients or (None, None), (v * b, v * a), strict=True):
        assert_gradient(
            got,
            want,
            "for a Function of {kind} the gradient is not what its backward returns",
            **details,
        )

    single = seen["single"]
    message = "for a Function that returns a tuple of one tensor the callable should return it too"
    if not isinstance(single, tuple) or len(single) != 1:
        fail(message, expected=both[:1], actual=single, inputs={"x": x})
    assert_tensor(single[0], both[0], message, inputs={"x": x})

    others = student.observe("kinds", x, a, b)
    assert_equal(
        others["same"],
        [True] * 3,
        "a text, None and a list after x should reach forward as the same objects",
        inputs={"x": x},
    )
    assert_tensor(
        others["value"],
        (x * a).detach(),
        "for a Function of a tensor and other objects the value is not what apply returns",
        inputs={"x": x},
    )


@check(points=0.25, about="as_callable", needs=CALLABLE)
def test_callables_do_not_mix(student: Student, draw: RandomInputs) -> None:
    """two callables do not affect each other"""
    (x, y, _), (a, b) = drawn(draw, "Mul", 3), draw.coefficients(2, low=2.0, high=5.0)
    seen = student.observe("apart", x, y, a, b)
    with torch.no_grad():
        wants = (x * a + y, y * b - x, y * a + x)
    orders = ("the first callable", "the second callable", "the first callable, called again")
    for which, got, want in zip(orders, seen, wants, strict=True):
        message = "of two callables, {which} does not return what its Function's apply returns"
        assert_tensor(
            got, want, message, inputs={"x": x, "y": y}, facts={"a": a, "b": b, "which": which}
        )


@check(points=0.25, about="as_callable", needs=CALLABLE)
def test_the_wrapped_product_of_one_and_two(student: Student) -> None:
    """a wrapped product of 1 and 2 has the gradients 2 and 1"""
    x, y = torch.tensor(1.0, requires_grad=True), torch.tensor(2.0, requires_grad=True)
    seen = student.observe("product", x, y)
    details = {"inputs": {"x": x, "y": y}, "facts": {"contexts": [seen["node"]]}}
    assert_tensor(seen["value"], torch.tensor(2.0), "the wrapped product is wrong", **details)
    for which, got, want in zip(
        ("x", "y"), seen["gradients"] or (None, None), (2.0, 1.0), strict=True
    ):
        details["facts"]["which"] = which
        assert_gradient(
            got, torch.tensor(want), "the gradient with respect to {which} is wrong", **details
        )
    assert_equal(
        seen["node"],
        "MyCustomFunctionBackward",
        "the graph has no node of the Function that as_callable was given",
        **details,
    )


# ------------------------------------------------------------------------------------- BroadcastMul

BROADCAST = "test_broadcast_mul_of_a_matrix_and_a_row"


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
            x, y = (
                draw.tensor(*left, dtype=dtype, requires_grad=True),
                draw.tensor(*right, dtype=dtype, requires_grad=True),
            )
            v = draw.tensor(*torch.broadcast_shapes(left, right), dtype=dtype)
            assert_gradients(student, "BroadcastMul", x, y, v)
    x, y = draw.noncontiguous(3, 4, requires_grad=True), draw.tensor(4, requires_grad=True)
    assert_gradients(student, "BroadcastMul", x, y, draw.tensor(4, 3).t())
    x = draw.tensor(4, 3, 2).transpose(0, 1).requires_grad_()
    y = draw.tensor(2, requires_grad=True)
    assert_gradients(student, "BroadcastMul", x, y, draw.tensor(4, 3, 2).transpose(0, 1))


@check(points=0.5, about="BroadcastMul", at="BroadcastMul.backward", bonus=True, needs=BROADCAST)
def test_broadcast_mul_sums_by_itself(student: Student, draw: RandomInputs) -> None:
    """BroadcastMul.backward itself sums the gradients"""
    for left, right in (
        ((3, 4), (4,)), ((2, 1), (1, 3)), ((2, 3), ()),
        ((1, 3, 4), (3, 4)), ((3,), (1, 3)), ((), (1, 1)),
    ):  # fmt: skip
        x, y = draw.tensor(*left, requires_grad=True), draw.tensor(*right, requires_grad=True)
        v = draw.tensor(*torch.broadcast_shapes(left, right))
        seen = student.observe("handed_back", "BroadcastMul", x, y, v, 1.0)
        wants = torch.autograd.grad(x * y, (x, y), v)
        inputs = {"x": x, "y": y, "v": v}
        for which, got, want in zip(("x", "y"), seen["gradients"], wants, strict=True):
            message = "the gradient with respect to {which} is wrong for grad_output v"
            assert_gradient(
                got,
                want,
                message,
                inputs=inputs,
                facts={"function": "BroadcastMul", "which": which},
            )
        for which, got, want in zip(("x", "y"), seen["shapes"], (left, right), strict=True):
            message = (
                "backward returned a gradient of shape {shape} for {which}, which has shape"
                " {expected_shape}; the engine summed it"
            )
            facts = {"which": which, "shape": str(got), "expected_shape": str(want)}
            assert_equal(got, want, message, inputs=inputs, facts=facts)
    saved(student, draw, "BroadcastMul")
    linear(student, draw, "BroadcastMul")
    others_stay(student, draw, "BroadcastMul")
