"""second_derivative, the checks that are not handed out."""

import ast

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    assert_not_used,
    assert_tensor,
    assert_that,
    check,
    import_helpers,
)

helpers = import_helpers(__file__)
WRONG, WRONG_ORDER, WRONG_HESSIAN, WRONG_PENALTY = (
    helpers.WRONG,
    helpers.WRONG_ORDER,
    helpers.WRONG_HESSIAN,
    helpers.WRONG_PENALTY,
)
CURVE, WEIGHTED, SURFACE, LONG_SURFACE, ROUGH = (
    helpers.CURVE,
    helpers.WEIGHTED,
    helpers.SURFACE,
    helpers.LONG_SURFACE,
    helpers.ROUGH,
)
Formula, drawn, derivative, penalty = (
    helpers.Formula,
    helpers.drawn,
    helpers.derivative,
    helpers.penalty,
)
both_signs, spread, critic = helpers.both_signs, helpers.spread, helpers.critic
drawn_behind, assert_roughly = helpers.drawn_behind, helpers.assert_roughly

EXACT = {"rtol": 1e-9, "atol": 0.0}
NOT_EXACT = (
    "the result is wrong for this f, for which differences of values lose too many digits;"
    " differentiate with autograd"
)
CHANGED_GRAD = (
    "x.grad was {held} before the call and is {after} after it (x.requires_grad = {requires_grad})"
)
CHANGED_INSIDE = (
    "{parameter}.grad was {held} before the call and is {after} after it; {parameter} is a tensor"
    " inside f"
)
SWITCHED_OFF = "x.requires_grad was True before the call and is False after it"
CHANGED_VALUES = "the call changed the values of x"
CUT_OUT = "x was the result of an operation before the call, and the call cut it from its graph"
CHANGED_START = (
    "{parameter}.grad was {held} before the call and is {after} after it; x was computed from"
    " {parameter}"
)
OUTDATED = "the result is wrong after {changed} changed in place since another call"
NO_GRAPH = "the penalty does not require grad: the parameters of f can't learn from it"
BANNED = "{used} is not allowed in this lesson; build the derivative from torch.autograd.grad"

JUDGES = ("torch.func", "torch.autograd.functional", "torch._functorch", "functorch")
JUDGES_INSIDE = ("torch.autograd.functional", "torch._functorch.eager_transforms")


def within(name, places):
    """Whether a dotted name is one of ``places`` or lies in one."""
    return any(f"{name}.".startswith(f"{place}.") for place in places)


def assert_own_work(student, name, f, tilted, truth, x, *more):
    """Neither the text of ``name`` nor the call stack under it shows one of the judge's own tools,
    and the result for ``tilted`` is right: f and a term with a huge gradient, or value, in which
    differences lose all digits.

    A name that is imported from there and then given to something of the student's is not a sign;
    the call stack still is.
    """
    used = student.source.names_used(name)
    nodes = list(ast.walk(student.source.tree))
    own = {
        *student.source.definitions,
        *(
            node.id
            for node in nodes
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        ),
    }
    shadowed = [student.source.imports[local] for local in own if local in student.source.imports]
    banned = [found for found in used if within(found, JUDGES) and not within(found, shadowed)]
    assert_not_used(student, [name], sorted(banned, key=len, reverse=True), BANNED)
    around = student.observe("modules_around", name, f.program, x, *more)
    met = (
        [module for module in around if module in JUDGES_INSIDE]
        if isinstance(around, list)
        else [str(around)]
    )
    assert_that(
        not met,
        "{modules} called f; build the derivative from torch.autograd.grad",
        facts={"modules": ", ".join(met)},
    )
    inputs = {"f": tilted, **tilted.parameters, "x": x, **dict(zip("n", more, strict=False))}
    got, want = getattr(student, name)(tilted.program, x, *more), truth(f, x, *more)
    assert_roughly(got, want, NOT_EXACT, inputs=inputs)


def assert_left_alone(student, draw, name, f, x, *more):
    """Require that a call changes neither x's values nor any .grad: x's, which holds a gradient or
    None, and those of the tensors inside f.
    """
    filled = draw.tensor(*x.shape)
    for start, held in [
        (x.clone().requires_grad_(), filled),
        (x.clone().requires_grad_(), None),
        (x, None),
    ]:
        seen = student.observe("afterwards", name, f.program, start, held, f.parameters, *more)
        inputs = {"f": f, "x": start}
        facts = {"held": held, "after": seen["grad"], "requires_grad": start.requires_grad}
        assert_equal(seen["grad"], held, CHANGED_GRAD, inputs=inputs, facts=facts)
        for parameter, after in seen["inside"].items():
            held_inside = torch.ones_like(f.parameters[parameter])
            facts = {"parameter": parameter, "held": held_inside, "after": after}
            assert_equal(after, held_inside, CHANGED_INSIDE, inputs=inputs, facts=facts)
        assert_tensor(seen["x"], start.detach(), CHANGED_VALUES, inputs=inputs)
        assert_that(seen["requires_grad"] or not start.requires_grad, SWITCHED_OFF, inputs=inputs)


def assert_right_again(student, name, f, truth, x, other, *more):
    """Require the right answers after ``x`` has become ``other`` in place since a call, and after
    the tensors inside f have doubled.
    """
    results = student.observe("again", name, f.program, x, other, f.parameters, *more)
    doubled = Formula(f.text, **{at: (2 * t).detach() for at, t in f.parameters.items()})
    for changed, now, got in zip(("x", "f"), (f, doubled), results, strict=True):
        inputs = {"f": f, **now.parameters, "x": other, **dict(zip("n", more, strict=False))}
        facts, want = {"changed": changed}, truth(now, other, *more).detach()
        assert_roughly(got, want, OUTDATED, inputs=inputs, facts=facts)


def assert_right_at_a_result(student, name, f, start, want, message, *more):
    """Require the right answer at an x that is computed from ``start``, and that x stays so."""
    seen = student.observe("at_a_result", name, f.program, start, *more)
    inputs = {"f": f, **f.parameters, "x": start.detach() * 2, **dict(zip("n", more, strict=False))}
    assert_roughly(seen["result"], want, message, inputs=inputs)
    assert_that(seen["in_its_graph"], CUT_OUT, inputs=inputs)
    held = torch.ones_like(start)
    facts = {"parameter": "start", "held": held, "after": seen["grad"]}
    assert_equal(seen["grad"], held, CHANGED_START, inputs={"f": f, "start": start}, facts=facts)


# -------------------------------------------------------------------------------- second_derivative


def second(f, x):
    """The second derivative at x."""
    return derivative(f, x, 2)


@check(points=0.2, about="second_derivative", needs="test_second_derivative_of_a_drawn_function")
def test_second_derivative_is_your_own(student, draw):
    """second_derivative uses no torch.func and no differences"""
    f, x = drawn(draw, CURVE), both_signs(draw, 3)
    assert_own_work(student, "second_derivative", f, Formula(f"{f} + 1e15 * x"), second, x)


@check(points=0.2, about="second_derivative", needs=test_second_derivative_is_your_own)
def test_second_derivative_is_exact(student, draw):
    """second_derivative is exact at every scale of x, and at 0"""
    f = Formula("(x ** 3).log()")
    x = torch.tensor([0.001, 1.0, 1000.0], dtype=torch.float64) * draw.number(1.1, 1.9)
    got = student.second_derivative(f.program, x.requires_grad_())
    assert_tensor(got, -3 / x.detach() ** 2, WRONG, **EXACT, inputs={"f": f, "x": x})
    a, b = draw.coefficients(2)
    f, x = Formula(f"{a} * x ** 3 + {b} * x ** 2"), both_signs(draw, 3).detach()
    x[draw.integer(0, 2)] = 0.0
    for point in (x, torch.full_like(x, abs(a)), torch.zeros_like(x)):
        want = 6 * a * point + 2 * b
        got = student.second_derivative(f.program, point.requires_grad_())
        assert_tensor(got, want.detach(), WRONG, inputs={"f": f, "x": point})
    f, x = Formula("1e-8 * x ** 3"), draw.tensor(1, low=0.5, high=1.5, requires_grad=True)
    inputs = {"f": f, "x": x}
    got = student.second_derivative(f.program, x)
    assert_tensor(got, 6e-8 * x.detach(), WRONG, **EXACT, inputs=inputs)


@check(points=0.2, about="second_derivative", needs=test_second_derivative_is_your_own)
def test_second_derivative_at_a_plain_tensor(student, draw):
    """second_derivative takes an x that does not require grad"""
    f, x = drawn(draw, CURVE), draw.tensor(2, 3)
    with drawn_behind(student, "second_derivative", f, x):
        got = student.second_derivative(f.program, x)
        assert_roughly(got, second(f, x), WRONG, inputs={"f": f, "x": x})


@check(points=0.2, about="second_derivative", needs=test_second_derivative_at_a_plain_tensor)
def test_second_derivative_keeps_grad(student, draw):
    """second_derivative changes neither x nor any .grad"""
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    assert_left_alone(student, draw, "second_derivative", f, draw.tensor(3))


@check(points=0.1, about="second_derivative", needs=test_second_derivative_at_a_plain_tensor)
def test_second_derivative_once_more(student, draw):
    """second_derivative is right again after x or f has changed"""
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    x = both_signs(draw, 3).detach()
    assert_right_again(student, "second_derivative", f, second, x, -x)


@check(points=0.1, about="second_derivative", needs=test_second_derivative_is_your_own)
def test_second_derivative_at_a_result(student, draw):
    """second_derivative takes an x that is not a leaf"""
    f, start = drawn(draw, CURVE), draw.tensor(3, low=-1.0, high=1.0, requires_grad=True)
    want = second(f, start * 2)
    assert_right_at_a_result(student, "second_derivative", f, start, want, WRONG)


@check(points=0.3, about="second_derivative", needs=test_second_derivative_is_your_own)
def test_second_derivative_shapes_and_dtypes(student, draw):
    """second_derivative takes float32, empty and transposed x"""
    f = drawn(draw, CURVE)
    for x in (
        draw.tensor(3, dtype=torch.float32, requires_grad=True),
        draw.noncontiguous(3, 2, requires_grad=True),
        draw.tensor(requires_grad=True),
        draw.tensor(0, 3, requires_grad=True),
        draw.tensor(*draw.shapes(most=600)[-1], requires_grad=True),
    ):
        got, want = student.second_derivative(f.program, x), second(f, x.double()).to(x)
        assert_tensor(got, want, WRONG, **ROUGH, inputs={"f": f, "x": x})


@check(points=0.2, about="second_derivative", needs="test_second_derivative_of_a_line_is_zero")
def test_second_derivative_of_a_line_with_a_slope_to_learn(student, draw):
    """f(x) = w * x gives zeros, even if w requires grad"""
    w, x = draw.tensor(requires_grad=True), draw.tensor(3, requires_grad=True)
    f = Formula("w * x + 1.5", w=w)
    with drawn_behind(student, "second_derivative", f, x):
        got, inputs = student.second_derivative(f.program, x), {"f": f, "w": w, "x": x}
        assert_tensor(got, torch.zeros_like(x), WRONG, **ROUGH, inputs=inputs)


# ----------------------------------------------------------------------------------- nth_derivative


@check(points=0.2, about="nth_derivative", needs="test_first_three_derivatives")
def test_nth_derivative_is_your_own(student, draw):
    """nth_derivative uses no torch.func and no differences"""
    f, x = drawn(draw, CURVE), both_signs(draw, 3)
    assert_own_work(student, "nth_derivative", f, Formula(f"{f} + 1e15 * x"), derivative, x, 2)


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_high_derivatives(student, draw):
    """nth_derivative is exact for n = 4, 5 and 6"""
    a, b = draw.coefficients(2, low=0.6)
    both, x = Formula(f"({a} * x).sin() + ({b} * x).exp()"), draw.tensor(3, requires_grad=True)
    small = Formula("1e-8 * x.exp()")
    for f, n in ((both, 4), (both, 5), (both, 6), (Formula("x.exp()"), 4), (small, 4)):
        x = x[:1].detach().requires_grad_() if f is small else x
        exact = EXACT if f is small else {"rtol": 1e-9, "atol": 1e-9}
        with drawn_behind(student, "nth_derivative", f, x, n):
            got, want = student.nth_derivative(f.program, x, n), derivative(f, x, n)
            assert_tensor(got, want, WRONG_ORDER, **exact, inputs={"f": f, "x": x, "n": n})


@check(points=0.3, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_derivatives_beyond_a_constant_one(student, draw):
    """nth_derivative of a polynomial is constant, then zeros"""
    (a,), w = draw.coefficients(1), draw.tensor(requires_grad=True)
    product, cube, line = (f"{a} * x * x * x", f"{a} * x ** 3", f"{a} * x - 1")
    for f, n, constant in [
        (Formula(product), 4, 0.0),
        (Formula(cube), 4, 0.0),
        (Formula(cube), 5, 0.0),
        (Formula(line), 3, 0.0),
        (Formula("w * x * x", w=w), 3, 0.0),
        (Formula("x"), 2, 0.0),
        (Formula(product), 3, 6 * a),
        (Formula(line), 1, a),
        (Formula("x"), 1, 1.0),
        (Formula(f"{a} * x ** 4"), 4, 24 * a),  # at 0, where the lower derivatives are 0
    ]:
        x = draw.tensor(2, 2, requires_grad=True)
        x = torch.zeros_like(x, requires_grad=True) if n == 4 and constant else x
        want = torch.full_like(x, constant, requires_grad=False)
        with drawn_behind(student, "nth_derivative", f, x, n):
            got = student.nth_derivative(f.program, x, n)
            inputs = {"f": f, **f.parameters, "x": x, "n": n}
            assert_tensor(got, want, WRONG_ORDER, **ROUGH, inputs=inputs)


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_nth_derivative_at_a_plain_tensor(student, draw):
    """nth_derivative takes an x that does not require grad"""
    f, x = drawn(draw, CURVE), draw.tensor(2, 3)
    for n in (1, 3):
        with drawn_behind(student, "nth_derivative", f, x, n):
            got = student.nth_derivative(f.program, x, n)
            assert_roughly(got, derivative(f, x, n), WRONG_ORDER, inputs={"f": f, "x": x, "n": n})


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_at_a_plain_tensor)
def test_nth_derivative_keeps_grad(student, draw):
    """nth_derivative changes neither x nor any .grad"""
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    for n in (1, draw.integer(2, 3)):
        assert_left_alone(student, draw, "nth_derivative", f, draw.tensor(3), n)


@check(points=0.1, about="nth_derivative", needs=test_nth_derivative_at_a_plain_tensor)
def test_nth_derivative_once_more(student, draw):
    """nth_derivative is right again after x or f has changed"""
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    x = both_signs(draw, 3).detach()
    assert_right_again(student, "nth_derivative", f, derivative, x, -x, 2)


@check(points=0.1, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_nth_derivative_at_a_result(student, draw):
    """nth_derivative takes an x that is not a leaf"""
    f = drawn(draw, CURVE)
    start = draw.tensor(3, low=-1.0, high=1.0, requires_grad=True)
    for n in (1, 2):
        want = derivative(f, start * 2, n)
        assert_right_at_a_result(student, "nth_derivative", f, start, want, WRONG_ORDER, n)


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_nth_derivative_shapes_and_dtypes(student, draw):
    """nth_derivative takes float32, 0-d, empty and strided x"""
    f = drawn(draw, CURVE)
    for x, n in (
        (draw.tensor(dtype=torch.float32, requires_grad=True), 2),
        (draw.tensor(2, 0, dtype=torch.float32, requires_grad=True), 2),
        (draw.noncontiguous(2, 3, requires_grad=True), 2),
        (draw.tensor(*draw.shapes(most=600)[-1], requires_grad=True), draw.integer(1, 3)),
    ):
        got, want = student.nth_derivative(f.program, x, n), derivative(f, x.double(), n).to(x)
        assert_tensor(got, want, WRONG_ORDER, **ROUGH, inputs={"f": f, "x": x, "n": n})


# ------------------------------------------------------------------------------------------ hessian


def curvature(f, x):
    """The Hessian at x."""
    return torch.autograd.functional.hessian(f.program, x.detach())


@check(points=0.2, about="hessian", needs="test_hessian_of_a_drawn_function")
def test_hessian_is_your_own(student, draw):
    """hessian uses no torch.func and no differences"""
    f, x = drawn(draw, SURFACE), both_signs(draw, 3)
    assert_own_work(student, "hessian", f, Formula(f"{f} + 1e15 * x.sum()"), curvature, x)


@check(points=0.2, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_is_exact(student, draw):
    """hessian is exact, also at 0 and for small values"""
    f, x = drawn(draw, SURFACE), both_signs(draw, 3)
    tolerances = {"rtol": 1e-9, "atol": 1e-9}
    got, inputs = student.hessian(f.program, x), {"f": f, "x": x}
    assert_tensor(got, curvature(f, x), WRONG_HESSIAN, **tolerances, inputs=inputs)
    (a,), x = draw.coefficients(1), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    f = Formula(f"{a} * x[0] * x[1]")
    want = torch.tensor([[0.0, a], [a, 0.0]], dtype=torch.float64)
    assert_tensor(student.hessian(f.program, x), want, WRONG_HESSIAN, inputs={"f": f, "x": x})
    f, x = Formula("1e-8 * (x ** 3).sum()"), draw.tensor(1, low=0.5, high=1.5, requires_grad=True)
    got, inputs = student.hessian(f.program, x), {"f": f, "x": x}
    assert_tensor(got, curvature(f, x), WRONG_HESSIAN, **EXACT, inputs=inputs)


@check(points=0.2, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_of_a_linear_function(student, draw):
    """The Hessian of a linear f is zeros of shape (n, n)"""
    (a,), x = draw.coefficients(1), draw.tensor(draw.integer(2, 4), requires_grad=True)
    f, n = Formula(f"({a} * x).sum() + 1"), len(x)
    with drawn_behind(student, "hessian", f, x):
        got, want = student.hessian(f.program, x), torch.zeros(n, n, dtype=x.dtype)
        assert_tensor(got, want, WRONG_HESSIAN, inputs={"f": f, "x": x})


@check(points=0.2, about="hessian", needs=test_hessian_of_a_linear_function)
def test_hessian_of_a_linear_function_with_weights_to_learn(student, draw):
    """f(x) = x @ w has a Hessian of zeros, even if w requires grad"""
    w, x = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    f = Formula("x @ w", w=w)
    with drawn_behind(student, "hessian", f, x):
        got, want = student.hessian(f.program, x), torch.zeros(3, 3, dtype=x.dtype)
        assert_tensor(got, want, WRONG_HESSIAN, inputs={"f": f, "w": w, "x": x})


@check(points=0.1, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_at_a_plain_tensor(student, draw):
    """hessian takes an x that does not require grad"""
    f, x = drawn(draw, SURFACE), draw.tensor(3)
    with drawn_behind(student, "hessian", f, x):
        got, want = student.hessian(f.program, x), curvature(f, x)
        assert_roughly(got, want, WRONG_HESSIAN, inputs={"f": f, "x": x})


CUBES = "w * (x ** 3).sum() + x[0] * x[1]"


@check(points=0.2, about="hessian", needs=test_hessian_at_a_plain_tensor)
def test_hessian_keeps_grad(student, draw):
    """hessian changes neither x nor any .grad"""
    f = Formula(CUBES, w=draw.tensor(requires_grad=True))
    assert_left_alone(student, draw, "hessian", f, draw.tensor(3))


@check(points=0.1, about="hessian", needs=test_hessian_at_a_plain_tensor)
def test_hessian_once_more(student, draw):
    """hessian is right again after x or f has changed"""
    f, x = Formula(CUBES, w=draw.tensor(requires_grad=True)), draw.tensor(3)
    assert_right_again(student, "hessian", f, curvature, x, -x)


@check(points=0.1, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_at_a_result(student, draw):
    """hessian takes an x that is not a leaf"""
    f, start = drawn(draw, SURFACE), draw.tensor(3, low=-1.0, high=1.0, requires_grad=True)
    want = curvature(f, start * 2)
    assert_right_at_a_result(student, "hessian", f, start, want, WRONG_HESSIAN)


@check(points=0.2, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_in_single_precision(student, draw):
    """hessian takes float32, strided x, and x of any length"""
    single = {"dtype": torch.float32, "requires_grad": True}
    for text, x in (
        (SURFACE, draw.tensor(3, **single)),
        ("(x ** 3).sum() * {a}", draw.tensor(1, **single)),
        (SURFACE, draw.noncontiguous(3, 2)[:, 0].detach().requires_grad_()),
        (LONG_SURFACE, draw.tensor(draw.integer(16, 24), low=-1.0, high=1.0, requires_grad=True)),
    ):
        f = drawn(draw, text)
        want = curvature(f, x.double()).to(x.dtype)
        got, inputs = student.hessian(f.program, x), {"f": f, "x": x}
        assert_tensor(got, want, WRONG_HESSIAN, **ROUGH, inputs=inputs)


# --------------------------------------------------------------------------------- gradient_penalty


@check(points=0.2, about="gradient_penalty", needs="test_penalty_of_a_drawn_critic")
def test_penalty_is_your_own(student, draw):
    """gradient_penalty uses no torch.func and no differences"""
    f, parameters = critic(draw)
    high = Formula(f"{f} + 1e15", **parameters)
    assert_own_work(student, "gradient_penalty", f, high, penalty, spread(draw, f, 4))


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_is_exact(student, draw):
    """gradient_penalty adds at most 1e-6 under the square root"""
    # room for 1e-6 in each of two squares
    for numbers, room in (([0.06, 0.08], 5e-5), ([0.018, 0.024], 1e-4)):
        w = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
        f, x = Formula("x @ w", w=w), draw.tensor(draw.integer(2, 5), 2, requires_grad=True)
        got, want = student.gradient_penalty(f.program, x), penalty(f, x)
        details = {"rtol": 0.0, "atol": room, "inputs": {"f": f, "w": w, "x": x}}
        assert_tensor(got, want, WRONG_PENALTY, **details)


@check(points=0.5, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_trains_the_parameters(student, draw):
    """The penalty has the right gradients at the tensors in f"""
    f, parameters = critic(draw)
    leaf = spread(draw, f, draw.integer(12, 24))
    for x in (leaf, leaf.detach()):
        inputs = {"f": f, **parameters, "x": x}
        with drawn_behind(student, "gradient_penalty", f, x):
            got = student.gradient_penalty(f.program, x)
            want = penalty(f, x)
            assert_roughly(got, want, WRONG_PENALTY, inputs=inputs)
            assert_that(got.requires_grad, NO_GRAPH, actual=got, inputs=inputs)
            found = torch.autograd.grad(got, list(parameters.values()), allow_unused=True)
            wanted = torch.autograd.grad(want, list(parameters.values()))
            for name, here, there in zip(parameters, found, wanted, strict=True):
                message = "the penalty's gradient with respect to {parameter} is wrong"
                # a small number under the root is the matter of another check
                near = {"rtol": 1e-2, "atol": 1e-2, "inputs": inputs, "facts": {"parameter": name}}
                assert_gradient(here, there, message, **near)


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_of_a_column(student, draw):
    """f may return shape (batch, 1)"""
    three = critic(draw, column=True)
    one = Formula(f"(x * {draw.coefficients(1, low=0.8)[0]}).exp()")
    for (f, parameters), features in ((three, 3), ((one, {}), 1)):
        x = spread(draw, f, 4, features)
        got, inputs = student.gradient_penalty(f.program, x), {"f": f, **parameters, "x": x}
        assert_roughly(got, penalty(f, x), WRONG_PENALTY, inputs=inputs)


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_of_one_row(student, draw):
    """A batch of one row works, for either shape of f(x)"""
    for column in (False, True):
        f, parameters = critic(draw, column=column)
        x = spread(draw, f, 1)
        got, inputs = student.gradient_penalty(f.program, x), {"f": f, **parameters, "x": x}
        assert_roughly(got, penalty(f, x), WRONG_PENALTY, inputs=inputs)


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_at_a_plain_tensor(student, draw):
    """gradient_penalty takes an x that does not require grad"""
    f, parameters = critic(draw)
    x = spread(draw, f, 4).detach().t().contiguous().t()
    with drawn_behind(student, "gradient_penalty", f, x):
        got, inputs = student.gradient_penalty(f.program, x), {"f": f, **parameters, "x": x}
        assert_roughly(got, penalty(f, x), WRONG_PENALTY, inputs=inputs)


@check(points=0.2, about="gradient_penalty", needs=test_penalty_at_a_plain_tensor)
def test_penalty_keeps_grad(student, draw):
    """gradient_penalty changes neither x nor any .grad"""
    f, _ = critic(draw)
    assert_left_alone(student, draw, "gradient_penalty", f, draw.tensor(3, 3))


@check(points=0.1, about="gradient_penalty", needs=test_penalty_at_a_plain_tensor)
def test_penalty_once_more(student, draw):
    """gradient_penalty is right again after x or f has changed"""
    f = Formula("(w * x ** 2).sum(1)", w=draw.tensor(3, low=0.5, high=1.5, requires_grad=True))
    x = draw.tensor(2, 3, low=0.5, high=1.5)
    assert_right_again(student, "gradient_penalty", f, penalty, x, x + 0.5)


@check(points=0.1, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_at_a_result(student, draw):
    """gradient_penalty takes an x that is not a leaf"""
    f, _ = critic(draw)
    x = spread(draw, f, 4)
    start, want = (x.detach() / 2).requires_grad_(), penalty(f, x)
    assert_right_at_a_result(student, "gradient_penalty", f, start, want, WRONG_PENALTY)


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_in_single_precision(student, draw):
    """gradient_penalty takes float32"""
    f, parameters = critic(draw, dtype=torch.float32)
    x = spread(draw, f, 4, dtype=torch.float32)
    got, inputs = student.gradient_penalty(f.program, x), {"f": f, **parameters, "x": x}
    assert_tensor(got, penalty(f, x), WRONG_PENALTY, **ROUGH, inputs=inputs)
