"""gradcheck, the checks that students may read.

A function that is to be checked is made here as two programs, its value and what its backward
returns for an incoming gradient v, right or wrong; they become a torch.autograd.Function where the
student's code runs. So what gradcheck must say of it is known.
"""

import torch
from torch.autograd import gradcheck

from grader.authoring import (
    ask_all,
    assert_gradient,
    assert_tensor,
    assert_that,
    chart_figure,
    check,
    curve,
    import_helpers,
    panel,
    phrase,
    plot_figure,
    program,
)

helpers = import_helpers(__file__)
compare_verdict, compare_names = helpers.compare_verdict, helpers.compare_names
jacobian, assert_jacobian, EPS = helpers.jacobian, helpers.assert_jacobian, helpers.EPS


def drawn_form(draw):
    """An elementwise function and its derivative, each as a Python function and as text."""
    a, b = draw.coefficients(2)
    return draw.choice(
        [
            (
                lambda x: x**3 * a + x * b,
                lambda x: x**2 * (3 * a) + b,
                f"x**3 * {a} + x * {b}",
                f"(x**2 * {3 * a:.2f} + {b})",
            ),
            (
                lambda x: (x * a).exp() * b,
                lambda x: (x * a).exp() * (a * b),
                f"(x * {a}).exp() * {b}",
                f"(x * {a}).exp() * {a * b:.4f}",
            ),
            (
                lambda x: x.tanh() * a + x * b,
                lambda x: (1 - x.tanh() ** 2) * a + b,
                f"x.tanh() * {a} + x * {b}",
                f"((1 - x.tanh()**2) * {a} + {b})",
            ),
        ]
    )


def right(draw):
    """A Function with the right backward, and its texts."""
    value, slope, text, derivative = drawn_form(draw)
    return [program(value), program(lambda x, v: v * slope(x), inputs=2)], {
        "f": text,
        "f.backward(v)": f"v * {derivative}",
    }


def scaled(draw):
    """A Function whose backward is off by a factor."""
    value, slope, text, derivative = drawn_form(draw)
    c = draw.choice([-1.0, 0.5, 2.0])
    return [program(value), program(lambda x, v: v * slope(x) * c, inputs=2)], {
        "f": text,
        "f.backward(v)": f"v * {derivative} * {c}",
    }


def without_v(draw):
    """A Function whose backward leaves the incoming gradient out."""
    value, slope, text, derivative = drawn_form(draw)
    return [program(value), program(lambda x, v: slope(x) + 0.0, inputs=2)], {
        "f": text,
        "f.backward(v)": derivative,
    }


def wrong_below_zero(draw):
    """A Function whose backward is right for positive x only."""
    value, slope, text, derivative = drawn_form(draw)
    product = program(lambda x, v: x.where_positive(v * slope(x), v * slope(x) * 3), inputs=2)
    shown = f"torch.where(x > 0, v * {derivative}, v * {derivative} * 3)"
    return [program(value), product], {"f": text, "f.backward(v)": shown}


def exchanged(draw):
    """A Function whose backward gives the halves of x each other's gradient; their sum is right."""
    value, slope, text, derivative = drawn_form(draw)

    def product(x, v):
        first, second = (v * slope(x)).chunk(2)
        return second.cat(first)

    return [program(value), program(product, inputs=2)], {
        "f": text,
        "f.backward(v)": f"(v * {derivative}).roll(len(x) // 2)",
    }


def incoming_exchanged(draw):
    """A Function whose backward exchanges the halves of v, which shows in no sum of its outputs."""
    value, slope, text, derivative = drawn_form(draw)

    def product(x, v):
        first, second = v.chunk(2)
        return second.cat(first) * slope(x)

    return [program(value), program(product, inputs=2)], {
        "f": text,
        "f.backward(v)": f"v.roll(len(x) // 2) * {derivative}",
    }


WRONG = [scaled, without_v, wrong_below_zero, exchanged, incoming_exchanged]


class Pair(torch.autograd.Function):
    """A function of x from two programs: its value, and what its backward returns."""

    @staticmethod
    def forward(ctx, x, value, product):
        ctx.save_for_backward(x)
        ctx.product = product
        return value(x)

    @staticmethod
    def backward(ctx, v):
        return ctx.product(*ctx.saved_tensors, v), None, None


def drawn_at(x, make, draw):
    """What ``make`` draws, and again where gradcheck's fast mode would not see at x that it is
    wrong.

    That mode compares one number for all of the Jacobian, so a large element hides a small one, and
    errors may cancel.
    """
    while True:
        parts, shown = make(draw)
        given = (x.detach().clone().requires_grad_(), *parts)
        if make is right or not gradcheck(
            Pair.apply, given, rtol=0.01, fast_mode=True, raise_exception=False
        ):
            return parts, shown


def mixed(draw, size):
    """A vector of positive elements and a negative one, which is neither the first nor the last."""
    x = draw.tensor(size, low=0.3)
    x[draw.integer(1, size - 2)] *= -1
    return x


# --------------------------------------------------------------------------------- passes_gradcheck


@check(points=0.5, about="passes_gradcheck")
def test_right_gradients_pass_and_wrong_ones_do_not(student, draw):
    """right gradients pass, wrong ones do not"""
    _ = student.passes_gradcheck  # a file without it is told so, and what it defines instead
    x = mixed(draw, 4)
    for make in (right, *draw.sample([right, *WRONG], 6)):
        parts, shown = drawn_at(x, make, draw)
        compare_verdict(
            student,
            make is right,
            parts,
            x.detach().clone().requires_grad_(),
            shown={**shown, "x": x},
        )


@check(points=0.5, about="passes_gradcheck", needs=test_right_gradients_pass_and_wrong_ones_do_not)
def test_every_input_counts(student, draw):
    """the gradient of every input is checked"""
    a, b = draw.coefficients(2)
    value = program(lambda x, y: x**2 * y * a + y * b, inputs=2)
    shown = {"f": f"x**2 * y * {a} + y * {b}"}
    for c, d in draw.sample([(1.0, 1.0), (2.0, 1.0), (1.0, 0.5)], 3):
        x, y = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
        product = program(
            lambda x, y, v, c=c, d=d: (v * x * y * (2 * a * c), v * (x**2 * a + b) * d), inputs=3
        )
        backward = f"(v * x * y * {2 * a * c:.2f}, v * (x**2 * {a} + {b}) * {d})"
        of_this = {**shown, "f.backward(v)": backward, "x": x, "y": y}
        compare_verdict(student, (c, d) == (1.0, 1.0), [value, product], x, y, shown=of_this)
    x, y = draw.tensor(3, requires_grad=True), draw.tensor(3)
    unused = program(lambda x, y: (x * a).sin(), inputs=2)
    shown = {"f": f"(x * {a}).sin()", "x": x, "y": y}
    got = student.observe("verdict", unused, x, y)["result"]
    message = "returned {got}, but an unused input is fine: the gradient of y is 0"
    details = {"expected": True, "actual": got, "inputs": shown, "facts": {"got": got}}
    assert_that(got is True, message, **details)


# ------------------------------------------------------------------------------- numerical_jacobian


@check(points=0.5, about="numerical_jacobian")
def test_row_by_output_column_by_input(student, draw):
    """the Jacobian has a row per output, a column per input"""
    _ = student.numerical_jacobian  # a file without it is told so, and what it defines instead
    x, (a, b) = draw.tensor(2, low=0.5), draw.coefficients(2)
    f = program(lambda x: (x**2 * a).cat((x.prod() * b).unsqueeze(0)))
    shown = {"f": f"torch.cat([x**2 * {a}, (x.prod() * {b}).unsqueeze(0)])", "x": x}
    want, figures = jacobian(f, x), [lambda: errors_against_eps(student, f, x)]
    assert_jacobian(student.observe("measured", f, x, EPS), want, shown, figures=figures)


def errors_against_eps(student, f, x):
    """A figure: the largest error of an element against the step, on scales of powers of ten."""
    steps = [10.0 ** (-k / 2) for k in range(2, 25)]
    exact = jacobian(f, x)
    found = ask_all(student.numerical_jacobian, [(f, x.clone(), eps) for eps in steps])
    mine = [
        float((one.detach() - exact).abs().max())
        if isinstance(one, torch.Tensor) and one.shape == exact.shape
        else None
        for one in found
    ]
    moved = torch.eye(x.numel(), dtype=x.dtype).reshape(-1, *x.shape)
    right = [
        max(
            float(((f(x + one * h) - f(x - one * h)).flatten() / (2 * h) - slopes).abs().max())
            for one, slopes in zip(moved, exact.T, strict=True)
        )
        for h in steps
    ]
    return chart_figure(
        phrase("the largest error of an element against eps"),
        panel("", curve("truth", steps, right), curve("yours", steps, mine, form="dots"),
              x="eps", log=True),
    )  # fmt: skip


@check(points=0.25, about="numerical_jacobian", needs=test_row_by_output_column_by_input)
def test_matrices_are_flattened(student, draw):
    """the elements of a matrix are counted row by row"""
    product = program(lambda x: (x * x[0]).sin())
    for x in (draw.tensor(2, 3), draw.noncontiguous(2, 3), draw.tensor(3).expand(2, 3)):
        want = jacobian(product, x)
        seen = student.observe("measured", product, x, EPS)
        assert_jacobian(seen, want, {"f": "(x * x[0]).sin()", "x": x})
        if seen["writes"]:
            return  # the steps are made in x itself, which another check is about


# -------------------------------------------------------------------------------------- find_broken


@check(points=0.5, about="find_broken")
def test_the_broken_ones_are_found(student, draw):
    """exactly the broken functions are found"""
    _ = student.find_broken  # a file without it is told so, and what it defines instead
    x = mixed(draw, 4)
    makers = draw.sample([right, right, right, *WRONG], 8)
    names = draw.sample(["f", "g", "h", "p", "q", "r", "s", "t"], 8)
    functions, broken, shown = {}, set(), {}
    for name, make in zip(names, makers, strict=True):
        functions[name], texts = drawn_at(x, make, draw)
        broken |= set() if make is right else {name}
        shown |= {name: texts["f"], f"{name}.backward(v)": texts["f.backward(v)"]}
    compare_names(student, broken, functions, x, shown)


# ----------------------------------------------------------------------------------------- FixedPow


def compare_power(student, x, q, v):
    """FixedPow's value and both gradients must be those of x ** q."""
    inputs = {"x": x, "q": q, "v": v}
    y = student.FixedPow.apply(x, q)
    figures = [lambda: plotted_power(student, x, q, "x", v)]
    message = "FixedPow.apply(x, q) is not x ** q"
    roughly = {"rtol": 1e-4, "atol": 1e-6}  # digits are another check's matter
    assert_tensor(y, (x**q).detach(), message, inputs=inputs, figures=figures, **roughly)
    assert_that(
        y.requires_grad,
        "FixedPow.apply(x, q) does not require grad, although x and q do",
        inputs=inputs,
    )
    want = torch.autograd.grad(x**q, (x, q), v)
    got = torch.autograd.grad(y, (x, q), v.clone(), allow_unused=True)
    facts = {"gradients": got}
    details = {"inputs": inputs, "facts": facts, **roughly}
    message = "the gradient with respect to x is wrong"
    assert_gradient(got[0], want[0], message, figures=figures, **details)
    message = "the gradient with respect to q is wrong"
    figures = [lambda: plotted_power(student, x, q, "q", v)]
    assert_gradient(got[1], want[1], message, figures=figures, **details)


def plotted_power(student, x, q, which, v):
    """A figure: FixedPow and its gradient over those of x ** q."""
    vary, over = (0, (0.1, 3)) if which == "x" else (1, (-2, 3))
    details = {"over": over, "vary": vary, "name": which, "incoming": v}
    return plot_figure(student.FixedPow.apply, torch.pow, (x, q), **details)


@check(points=0.5, about="FixedPow", at="FixedPow.backward")
def test_both_gradients_of_the_power(student, draw):
    """both gradients of x ** q are right for any grad_output"""
    x = [draw.number(0.3, 0.8), draw.number(1.3, 3.0), draw.number(1.3, 3.0)]
    q = [draw.number(0.2, 0.8), draw.number(-2.0, -0.5), draw.number(1.3, 2.0)]
    x, q = (torch.tensor(ns, dtype=torch.float64, requires_grad=True) for ns in (x, q))
    compare_power(student, x, q, draw.tensor(3))


@check(points=0.5, about="FixedPow", at="FixedPow.backward", needs=test_both_gradients_of_the_power)
def test_the_numbers_of_c20_and_c21(student):
    """at x = 5 and q = 3 the gradients are 75 and 201.1797"""
    x, q = (torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in (5.0, 3.0))
    inputs = {"x": x, "q": q}
    y = student.FixedPow.apply(x, q)
    assert_tensor(y, torch.tensor(125.0, dtype=torch.float64), "5 ** 3 is 125", inputs=inputs)
    assert_that(
        y.requires_grad,
        "FixedPow.apply(x, q) does not require grad, although x and q do",
        inputs=inputs,
    )
    got = torch.autograd.grad(y, (x, q), allow_unused=True)
    for gradient, want, message in (
        (got[0], 75.0, "the gradient with respect to x is wrong"),
        (got[1], 201.1797, "the gradient with respect to q is wrong"),
    ):
        assert_gradient(
            gradient,
            torch.tensor(want, dtype=torch.float64),
            message,
            rtol=1e-6,
            inputs=inputs,
            facts={"gradients": got},
        )
