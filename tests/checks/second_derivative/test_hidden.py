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
CURVES, SURFACES, LONG_SURFACES, CRITICS, STABILISED = (
    helpers.CURVES,
    helpers.SURFACES,
    helpers.LONG_SURFACES,
    helpers.CRITICS,
    helpers.STABILISED,
)
Formula, drawn, derivative, penalty = (
    helpers.Formula,
    helpers.drawn,
    helpers.derivative,
    helpers.penalty,
)
drawn_behind, steep = helpers.drawn_behind, helpers.steep

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

WEIGHTED = ["w * x ** 3 + ({a} * x).sin()", "(w * x).exp() + {a} * x ** 3"]

JUDGES = ("torch.func", "torch.autograd.functional", "torch._functorch", "functorch")
JUDGES_INSIDE = ("torch.autograd.functional", "torch._functorch.eager_transforms")


def curvature(f, x):
    """The Hessian at x."""
    return torch.autograd.functional.hessian(f.program, x.detach())


def critic(draw, texts=CRITICS, columns=(), dtype=torch.float64):
    """A function of rows of three numbers with two parameters, and the parameters by name."""
    w = draw.tensor(3, 2, dtype=dtype, requires_grad=True)
    v = draw.tensor(2, *columns, dtype=dtype, requires_grad=True)
    return drawn(draw, texts, W=w, v=v), {"W": w, "v": v}


def within(name, places):
    """Whether a dotted name is one of ``places`` or lies in one."""
    return any(f"{name}.".startswith(f"{place}.") for place in places)


def assert_own_work(student, name, f, x, *more):
    """Neither the text of ``name`` nor the call stack under it shows one of the judge's own tools.

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


def assert_right_again(student, name, f, truth, x, other, *more, **tolerances):
    """Require the right answers after ``x`` has become ``other`` in place since a call, and after
    the tensors inside f have doubled.
    """
    results = student.observe("again", name, f.program, x, other, f.parameters, *more)
    doubled = Formula(f.text, **{at: (2 * t).detach() for at, t in f.parameters.items()})
    for changed, now, got in zip(("x", "f"), (f, doubled), results, strict=True):
        inputs = {"f": f, **now.parameters, "x": other, **dict(zip("n", more, strict=False))}
        facts, want = {"changed": changed}, truth(now, other).detach()
        assert_tensor(got, want, OUTDATED, inputs=inputs, facts=facts, **tolerances)


def assert_right_at_a_result(student, name, f, start, want, message, *more, **tolerances):
    """Require the right answer at an x that is computed from ``start``, and that x stays so."""
    seen = student.observe("at_a_result", name, f.program, start, *more)
    inputs = {"f": f, **f.parameters, "x": start.detach() * 2, **dict(zip("n", more, strict=False))}
    assert_tensor(seen["result"], want, message, inputs=inputs, **tolerances)
    assert_that(seen["in_its_graph"], CUT_OUT, inputs=inputs)
    held = torch.ones_like(start)
    facts = {"parameter": "start", "held": held, "after": seen["grad"]}
    assert_equal(seen["grad"], held, CHANGED_START, inputs={"f": f, "start": start}, facts=facts)


# -------------------------------------------------------------------------------- second_derivative


@check(points=0.2, about="second_derivative", needs="test_second_derivative_of_a_drawn_function")
def test_second_derivative_is_your_own(student, draw):
    """second_derivative uses no torch.func or autograd.functional"""
    assert_own_work(
        student, "second_derivative", drawn(draw, CURVES), draw.tensor(3, requires_grad=True)
    )


@check(points=0.2, about="second_derivative", needs=test_second_derivative_is_your_own)
def test_second_derivative_is_exact(student, draw):
    """second_derivative is exact at every scale of x, and at 0"""
    f = Formula("(x ** 3).log() + 1e8 * x")
    x = torch.tensor([0.001, 1.0, 1000.0], dtype=torch.float64) * draw.number(1.0, 2.0)
    want = -3 / x**2
    got = student.second_derivative(f.program, x.requires_grad_())
    assert_tensor(got, want, NOT_EXACT, rtol=1e-9, atol=0.0, inputs={"f": f, "x": x})
    a, b = draw.coefficients(2)
    f, x = Formula(f"{a} * x ** 3 + {b} * x ** 2"), draw.tensor(3)
    x[draw.integer(0, 2)] = 0.0
    for point in (x, torch.full_like(x, abs(a)), torch.zeros_like(x)):
        want = 6 * a * point + 2 * b
        got = student.second_derivative(f.program, point.requires_grad_())
        assert_tensor(got, want.detach(), WRONG, inputs={"f": f, "x": point})
    f, x = Formula("1e-8 * x ** 3"), draw.tensor(1, low=0.5, high=1.5, requires_grad=True)
    inputs = {"f": f, "x": x}
    got = student.second_derivative(f.program, x)
    assert_tensor(got, 6e-8 * x.detach(), WRONG, rtol=1e-9, atol=0.0, inputs=inputs)


@check(points=0.2, about="second_derivative", needs=test_second_derivative_is_exact)
def test_second_derivative_at_a_plain_tensor(student, draw):
    """second_derivative takes an x that does not require grad"""
    alone = Formula(draw.choice(["x.exp()", "x.tanh()", "x.sigmoid()"]))
    for f, shape in ((drawn(draw, CURVES), (2, 3)), (alone, draw.shapes(most=600)[-1])):
        x = draw.tensor(*shape)
        with drawn_behind(student, "second_derivative", f, x):
            assert_tensor(
                student.second_derivative(f.program, x),
                derivative(f, x, 2),
                WRONG,
                inputs={"f": f, "x": x},
            )
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    x, other = draw.tensor(3), draw.tensor(3)
    assert_right_again(student, "second_derivative", f, lambda f, x: derivative(f, x, 2), x, other)


@check(points=0.2, about="second_derivative", needs=test_second_derivative_at_a_plain_tensor)
def test_second_derivative_keeps_grad(student, draw):
    """second_derivative changes neither x nor any .grad"""
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    assert_left_alone(student, draw, "second_derivative", f, draw.tensor(3))


@check(points=0.1, about="second_derivative", needs=test_second_derivative_is_exact)
def test_second_derivative_at_a_result(student, draw):
    """second_derivative takes an x that is not a leaf"""
    f, start = drawn(draw, CURVES), draw.tensor(3, low=-1.0, high=1.0, requires_grad=True)
    want = derivative(f, start * 2, 2)
    assert_right_at_a_result(student, "second_derivative", f, start, want, WRONG)


@check(points=0.4, about="second_derivative", needs=test_second_derivative_is_exact)
def test_second_derivative_shapes_and_dtypes(student, draw):
    """second_derivative takes float32, empty and transposed x"""
    f = drawn(draw, CURVES)
    for x, tolerances in (
        (draw.tensor(3, dtype=torch.float32, requires_grad=True), {"rtol": 1e-3, "atol": 1e-4}),
        (draw.noncontiguous(3, 2, requires_grad=True), {}),
        (draw.tensor(requires_grad=True), {}),
        (draw.tensor(0, 3, requires_grad=True), {}),
    ):
        got, want = student.second_derivative(f.program, x), derivative(f, x.double(), 2).to(x)
        assert_tensor(got, want, WRONG, **tolerances, inputs={"f": f, "x": x})


@check(points=0.2, about="second_derivative", needs="test_second_derivative_of_a_line_is_zero")
def test_second_derivative_of_a_line_with_a_slope_to_learn(student, draw):
    """f(x) = w * x gives zeros, even if w requires grad"""
    w, x = draw.tensor(requires_grad=True), draw.tensor(3, requires_grad=True)
    f = Formula("w * x + 1.5", w=w)
    with drawn_behind(student, "second_derivative", f, x):
        assert_tensor(
            student.second_derivative(f.program, x),
            torch.zeros_like(x),
            WRONG,
            inputs={"f": f, "w": w, "x": x},
        )


# ----------------------------------------------------------------------------------- nth_derivative


@check(points=0.2, about="nth_derivative", needs="test_first_three_derivatives")
def test_nth_derivative_is_your_own(student, draw):
    """nth_derivative uses no torch.func or autograd.functional"""
    assert_own_work(
        student, "nth_derivative", drawn(draw, CURVES), draw.tensor(3, requires_grad=True), 2
    )


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_high_derivatives(student, draw):
    """nth_derivative is right for n = 4, 5 and 6"""
    a, b = draw.coefficients(2, low=0.6)
    both, x = Formula(f"({a} * x).sin() + ({b} * x).exp()"), draw.tensor(3, requires_grad=True)
    small = Formula("1e-8 * x.exp()")
    for f, n in ((both, 4), (both, 5), (both, 6), (Formula("x.exp()"), 4), (small, 4)):
        x = x[:1].detach().requires_grad_() if f is small else x
        exact = {"rtol": 1e-9, "atol": 0.0} if f is small else {}
        with drawn_behind(student, "nth_derivative", f, x, n):
            got, want = student.nth_derivative(f.program, x, n), derivative(f, x, n)
            assert_tensor(got, want, WRONG_ORDER, **exact, inputs={"f": f, "x": x, "n": n})


@check(points=0.4, about="nth_derivative", needs=test_nth_derivative_is_your_own)
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
            assert_tensor(got, want, WRONG_ORDER, inputs={"f": f, **f.parameters, "x": x, "n": n})


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_nth_derivative_at_a_plain_tensor(student, draw):
    """nth_derivative takes an x that does not require grad"""
    f, x = drawn(draw, CURVES), draw.noncontiguous(2, 3)
    for n in (0, 1, 3):
        with drawn_behind(student, "nth_derivative", f, x, n):
            got = student.nth_derivative(f.program, x, n)
            assert_tensor(got, derivative(f, x, n), WRONG_ORDER, inputs={"f": f, "x": x, "n": n})
    f = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True))
    x, other = draw.tensor(3), draw.tensor(3)
    assert_right_again(student, "nth_derivative", f, lambda f, x: derivative(f, x, 2), x, other, 2)


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_at_a_plain_tensor)
def test_nth_derivative_keeps_grad(student, draw):
    """nth_derivative changes neither x nor any .grad"""
    f, n = drawn(draw, WEIGHTED, w=draw.tensor(requires_grad=True)), draw.integer(1, 3)
    assert_left_alone(student, draw, "nth_derivative", f, draw.tensor(3), n)


@check(points=0.1, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_nth_derivative_at_a_result(student, draw):
    """nth_derivative takes an x that is not a leaf"""
    f, n = drawn(draw, CURVES), draw.integer(1, 3)
    start = draw.tensor(3, low=-1.0, high=1.0, requires_grad=True)
    want = derivative(f, start * 2, n)
    assert_right_at_a_result(student, "nth_derivative", f, start, want, WRONG_ORDER, n)


@check(points=0.2, about="nth_derivative", needs=test_nth_derivative_is_your_own)
def test_nth_derivative_shapes_and_dtypes(student, draw):
    """nth_derivative takes float32, 0-d and empty x"""
    f = drawn(draw, CURVES)
    for x in (
        draw.tensor(dtype=torch.float32, requires_grad=True),
        draw.tensor(2, 0, dtype=torch.float32, requires_grad=True),
    ):
        got = student.nth_derivative(f.program, x, 2)
        want = derivative(f, x.double(), 2).float()
        assert_tensor(got, want, WRONG_ORDER, rtol=1e-3, atol=1e-4, inputs={"f": f, "x": x, "n": 2})
    assert_left_alone(student, draw, "nth_derivative", f, draw.tensor(0), 2)
    x, n = draw.tensor(*draw.shapes(most=600)[-1], requires_grad=True), draw.integer(1, 3)
    got = student.nth_derivative(f.program, x, n)
    assert_tensor(got, derivative(f, x, n), WRONG_ORDER, inputs={"f": f, "x": x, "n": n})


# ------------------------------------------------------------------------------------------ hessian


@check(points=0.2, about="hessian", needs="test_hessian_of_a_drawn_function")
def test_hessian_is_your_own(student, draw):
    """hessian uses no torch.func or autograd.functional"""
    assert_own_work(student, "hessian", drawn(draw, SURFACES), draw.tensor(3, requires_grad=True))


@check(points=0.2, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_is_exact(student, draw):
    """hessian is exact for large and small terms of f"""
    f, x = (
        Formula("(x[0] * x[1]).sin() + x[1] ** 3 + 1e8 * x.sum()"),
        draw.tensor(2, requires_grad=True),
    )
    assert_tensor(
        student.hessian(f.program, x),
        curvature(f, x),
        NOT_EXACT,
        rtol=1e-9,
        atol=1e-9,
        inputs={"f": f, "x": x},
    )
    (a,), x = draw.coefficients(1), torch.zeros(2, dtype=torch.float64, requires_grad=True)
    f = Formula(f"{a} * x[0] * x[1]")
    want = torch.tensor([[0.0, a], [a, 0.0]], dtype=torch.float64)
    assert_tensor(student.hessian(f.program, x), want, WRONG_HESSIAN, inputs={"f": f, "x": x})
    f, x = Formula("1e-8 * (x ** 3).sum()"), draw.tensor(1, low=0.5, high=1.5, requires_grad=True)
    room = {"rtol": 1e-9, "atol": 0.0}
    inputs = {"f": f, "x": x}
    assert_tensor(
        student.hessian(f.program, x), curvature(f, x), WRONG_HESSIAN, **room, inputs=inputs
    )


@check(points=0.2, about="hessian", needs=test_hessian_is_your_own)
def test_hessian_of_a_linear_function(student, draw):
    """The Hessian of a linear f is zeros of shape (n, n)"""
    (a,), x = draw.coefficients(1), draw.tensor(draw.integer(2, 4), requires_grad=True)
    f, n = Formula(f"({a} * x).sum() + 1"), len(x)
    with drawn_behind(student, "hessian", f, x):
        assert_tensor(
            student.hessian(f.program, x),
            torch.zeros(n, n, dtype=x.dtype),
            WRONG_HESSIAN,
            inputs={"f": f, "x": x},
        )


@check(points=0.2, about="hessian", needs=test_hessian_of_a_linear_function)
def test_hessian_of_a_linear_function_with_weights_to_learn(student, draw):
    """f(x) = x @ w has a Hessian of zeros, even if w requires grad"""
    w, x = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    f = Formula("x @ w", w=w)
    with drawn_behind(student, "hessian", f, x):
        assert_tensor(
            student.hessian(f.program, x),
            torch.zeros(3, 3, dtype=x.dtype),
            WRONG_HESSIAN,
            inputs={"f": f, "w": w, "x": x},
        )


@check(points=0.2, about="hessian", needs=test_hessian_is_exact)
def test_hessian_at_a_plain_tensor(student, draw):
    """hessian takes an x that does not require grad"""
    for texts, x in (
        (SURFACES, draw.noncontiguous(3, 2)[:, 0]),
        (LONG_SURFACES, draw.tensor(draw.integer(5, 24), low=-1.0, high=1.0)),
    ):
        f = drawn(draw, texts)
        with drawn_behind(student, "hessian", f, x):
            assert_tensor(
                student.hessian(f.program, x),
                curvature(f, x),
                WRONG_HESSIAN,
                inputs={"f": f, "x": x},
            )
    f = Formula("w * (x ** 3).sum() + x[0] * x[1]", w=draw.tensor(requires_grad=True))
    assert_right_again(student, "hessian", f, curvature, draw.tensor(3), draw.tensor(3))


@check(points=0.2, about="hessian", needs=test_hessian_at_a_plain_tensor)
def test_hessian_keeps_grad(student, draw):
    """hessian changes neither x nor any .grad"""
    f = Formula("w * (x ** 3).sum() + x[0] * x[1]", w=draw.tensor(requires_grad=True))
    assert_left_alone(student, draw, "hessian", f, draw.tensor(3))


@check(points=0.1, about="hessian", needs=test_hessian_is_exact)
def test_hessian_at_a_result(student, draw):
    """hessian takes an x that is not a leaf"""
    f, start = drawn(draw, SURFACES), draw.tensor(3, low=-1.0, high=1.0, requires_grad=True)
    want = curvature(f, start * 2)
    assert_right_at_a_result(student, "hessian", f, start, want, WRONG_HESSIAN)


@check(points=0.2, about="hessian", needs=test_hessian_is_exact)
def test_hessian_in_single_precision(student, draw):
    """hessian takes float32, and an x of one element"""
    for texts, n in ((SURFACES, 3), (["(x ** 3).sum() * {a}"], 1)):
        f, x = drawn(draw, texts), draw.tensor(n, dtype=torch.float32, requires_grad=True)
        want = curvature(f, x.double()).float()
        assert_tensor(
            student.hessian(f.program, x),
            want,
            WRONG_HESSIAN,
            rtol=1e-3,
            atol=1e-4,
            inputs={"f": f, "x": x},
        )


# --------------------------------------------------------------------------------- gradient_penalty


@check(points=0.2, about="gradient_penalty", needs="test_penalty_of_a_drawn_critic")
def test_penalty_is_your_own(student, draw):
    """gradient_penalty uses no torch.func or autograd.functional"""
    f, _ = critic(draw)
    assert_own_work(student, "gradient_penalty", f, draw.tensor(3, 3, requires_grad=True))


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_your_own)
def test_penalty_is_exact(student, draw):
    """A large constant added to f does not change the penalty"""
    # room for 1e-6 under the root, in each of two squares at most
    for numbers, room in (([0.06, 0.08], 5e-5), ([0.018, 0.024], 1e-4)):
        w = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
        f, x = Formula("x @ w", w=w), draw.tensor(draw.integer(2, 5), 2, requires_grad=True)
        got, want = student.gradient_penalty(f.program, x), penalty(f, x)
        details = {"rtol": 0.0, "atol": room, "inputs": {"f": f, "w": w, "x": x}}
        assert_tensor(got, want, WRONG_PENALTY, **details)
    f, parameters = critic(draw, ["(x @ W).tanh() @ v + 1e12"])
    x = steep(f, lambda: draw.tensor(3, 3, requires_grad=True))
    got = student.gradient_penalty(f.program, x)
    assert_tensor(
        got, penalty(f, x), NOT_EXACT, **STABILISED, inputs={"f": f, **parameters, "x": x}
    )


@check(points=0.6, about="gradient_penalty", needs=test_penalty_is_exact)
def test_penalty_trains_the_parameters(student, draw):
    """The penalty has the right gradients at the tensors in f"""
    f, parameters = critic(draw)
    rows = draw.integer(12, 24)
    x = steep(f, lambda: draw.tensor(rows, 3, requires_grad=True))
    inputs = {"f": f, **parameters, "x": x}
    with drawn_behind(student, "gradient_penalty", f, x):
        got = student.gradient_penalty(f.program, x)
        want = penalty(f, x)
        assert_tensor(got, want, WRONG_PENALTY, **STABILISED, inputs=inputs)
        assert_that(got.requires_grad, NO_GRAPH, actual=got, inputs=inputs)
        found = torch.autograd.grad(got, list(parameters.values()), allow_unused=True)
        wanted = torch.autograd.grad(want, list(parameters.values()))
        for name, here, there in zip(parameters, found, wanted, strict=True):
            message = "the penalty's gradient with respect to {parameter} is wrong"
            assert_gradient(
                here, there, message, **STABILISED, inputs=inputs, facts={"parameter": name}
            )


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_exact)
def test_penalty_of_a_column(student, draw):
    """f may return shape (batch, 1)"""
    three = critic(draw, ["(x @ W).tanh() @ v", "(x @ W).sin() @ v"], columns=(1,))
    one = Formula(f"(x * {draw.coefficients(1)[0]}).exp()")
    for (f, parameters), features in ((three, 3), ((one, {}), 1)):
        x = steep(f, lambda features=features: draw.tensor(4, features, requires_grad=True))
        got = student.gradient_penalty(f.program, x)
        assert_tensor(
            got, penalty(f, x), WRONG_PENALTY, **STABILISED, inputs={"f": f, **parameters, "x": x}
        )


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_exact)
def test_penalty_of_one_row(student, draw):
    """A batch of one row works, for either shape of f(x)"""
    for columns in ((), (1,)):
        texts = ["(x @ W).tanh() @ v", "(x @ W).sin() @ v"] if columns else CRITICS[1:2]
        f, parameters = critic(draw, texts, columns=columns)
        x = steep(f, lambda: draw.tensor(1, 3, requires_grad=True))
        got = student.gradient_penalty(f.program, x)
        assert_tensor(
            got, penalty(f, x), WRONG_PENALTY, **STABILISED, inputs={"f": f, **parameters, "x": x}
        )


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_exact)
def test_penalty_at_a_plain_tensor(student, draw):
    """gradient_penalty takes an x that does not require grad"""
    f, parameters = critic(draw)
    x = steep(f, lambda: draw.tensor(4, 3)).detach().t().contiguous().t()
    inputs = {"f": f, **parameters, "x": x}
    with drawn_behind(student, "gradient_penalty", f, x):
        got = student.gradient_penalty(f.program, x)
        assert_tensor(got, penalty(f, x), WRONG_PENALTY, **STABILISED, inputs=inputs)
        assert_that(got.requires_grad, NO_GRAPH, actual=got, inputs=inputs)
    f = Formula("(w * x ** 2).sum(1)", w=draw.tensor(3, low=0.5, high=1.5, requires_grad=True))
    x, other = draw.tensor(2, 3, low=0.5, high=1.5), draw.tensor(2, 3, low=0.5, high=1.5)
    assert_right_again(student, "gradient_penalty", f, penalty, x, other, **STABILISED)


@check(points=0.2, about="gradient_penalty", needs=test_penalty_at_a_plain_tensor)
def test_penalty_keeps_grad(student, draw):
    """gradient_penalty changes neither x nor any .grad"""
    f, _ = critic(draw)
    assert_left_alone(student, draw, "gradient_penalty", f, draw.tensor(3, 3))


@check(points=0.1, about="gradient_penalty", needs=test_penalty_is_exact)
def test_penalty_at_a_result(student, draw):
    """gradient_penalty takes an x that is not a leaf"""
    f, _ = critic(draw)
    x = steep(f, lambda: draw.tensor(4, 3, requires_grad=True))
    start, want = (x.detach() / 2).requires_grad_(), penalty(f, x)
    assert_right_at_a_result(
        student, "gradient_penalty", f, start, want, WRONG_PENALTY, **STABILISED
    )


@check(points=0.2, about="gradient_penalty", needs=test_penalty_is_exact)
def test_penalty_in_single_precision(student, draw):
    """gradient_penalty takes float32"""
    f, parameters = critic(draw, dtype=torch.float32)
    x = steep(f, lambda: draw.tensor(4, 3, dtype=torch.float32, requires_grad=True))
    got = student.gradient_penalty(f.program, x)
    assert_tensor(
        got,
        penalty(f, x),
        WRONG_PENALTY,
        rtol=1e-3,
        atol=1e-4,
        inputs={"f": f, **parameters, "x": x},
    )
