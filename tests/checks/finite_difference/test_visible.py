"""finite_difference, the checks that students may read.

Every answer is got by the scenario ``answer``, which also notes where f was asked. Truth is torch's
own derivative: at a point, or its mean over a step, which is the slope of that step.
"""

import torch
from torch import Tensor

from grader.authoring import check, fail, import_helpers

helpers = import_helpers(__file__)
NOT_THE_FORWARD, NOT_THE_CENTRAL, NOT_THE_GRADIENT = (
    helpers.NOT_THE_FORWARD,
    helpers.NOT_THE_CENTRAL,
    helpers.NOT_THE_GRADIENT,
)
Formula, drawn, gradient = helpers.Formula, helpers.drawn, helpers.gradient
asked, assert_values = helpers.asked, helpers.assert_values

CURVES = [
    "{a} * x ** 3 + ({b} * x).exp()",
    "({a} * x).exp() * x + {b} * x ** 4",
    "{a} * x ** 4 + {b} * x ** 2 - {c} * x",
    "({a} * x).exp() - {b} * x.log()",
]
SURFACES = [
    "x[0] ** 2 * x[1] * {a} + (x[2] * x[0]).sin() + x[1] ** 3 * {b}",
    "(x.sum() * {a}).sin() + (x ** 3).sum() * {b} + x[0] * x[1] ** 2",
    "x.prod() * {a} + (x * {b}).exp().sum() + x[0] ** 2 * x[2]",
]


def slope(f, start, end):
    """The slope of f from start to end: the mean of its derivative in between (fundamental theorem
    of calculus).

    The mean is Gauss and Legendre's, of three points: exact for polynomials up to the fifth degree.
    """
    middle, reach = (start + end) / 2, (end - start) / 2 * 0.6**0.5
    return (
        5 * gradient(f, middle - reach) + 8 * gradient(f, middle) + 5 * gradient(f, middle + reach)
    ) / 18


# ------------------------------------------------------------------------------- forward_difference


@check(points=0.5, about="forward_difference")
def test_forward_difference_of_a_drawn_function(student, draw):
    """forward_difference is the slope from x to x + h"""
    for _ in range(2):
        f, x = drawn(draw, CURVES), draw.tensor(low=0.5, high=1.5)
        got, details = asked(student, "forward_difference", f, x)
        assert_values(got, slope(f, x, x + details["inputs"]["h"]), NOT_THE_FORWARD, details)


@check(points=0.25, about="forward_difference", needs=test_forward_difference_of_a_drawn_function)
def test_the_numbers_of_c1(student):
    """f is called at 5 and 5.001: log(x³) is 4.8283 and 4.8289"""
    for text, values in (("x ** 3", (125.0, 125.0750)), ("(x ** 3).log()", (4.8283, 4.8289))):
        f, x = Formula(text), torch.tensor(5.0, dtype=torch.float64)
        _, details = asked(student, "forward_difference", f, x, 0.001)
        said = [
            round(value, 4)
            for t in details["facts"]["values"]
            if isinstance(t, Tensor)
            for value in t.flatten().tolist()
        ]
        for at, value in zip((5.0, 5.001), values, strict=True):
            if value not in said:
                details["facts"] |= {"at": at, "value": value, "said": said}
                fail(
                    "f({at}) is {value}, but your calls of f returned {said}",
                    expected=list(values),
                    actual=said,
                    **details,
                )


@check(points=0.25, about="forward_difference", needs=test_forward_difference_of_a_drawn_function)
def test_the_numbers_of_c2(student):
    """log(x³) from 5 to 5.001 rises with slope 0.5999"""
    f, x = Formula("(x ** 3).log()"), torch.tensor(5.0, dtype=torch.float64)
    got, details = asked(student, "forward_difference", f, x, 0.001)
    assert_values(got, torch.tensor(0.5999400079985, dtype=torch.float64), NOT_THE_FORWARD, details)


# ------------------------------------------------------------------------------- central_difference


@check(points=0.5, about="central_difference")
def test_central_difference_of_a_drawn_function(student, draw):
    """central_difference is the slope from x - h to x + h"""
    for _ in range(2):
        f, x = drawn(draw, CURVES), draw.tensor(low=0.5, high=1.5)
        got, details = asked(student, "central_difference", f, x)
        h = details["inputs"]["h"]
        assert_values(got, slope(f, x - h, x + h), NOT_THE_CENTRAL, details)


@check(points=0.25, about="central_difference", needs=test_central_difference_of_a_drawn_function)
def test_from_both_sides_of_c2(student):
    """log(x³) at 5 has slope 0.6, to within 1e-8 with h = 0.001"""
    f, x = Formula("(x ** 3).log()"), torch.tensor(5.0, dtype=torch.float64)
    got, details = asked(student, "central_difference", f, x, 0.001)
    assert_values(
        got,
        torch.tensor(0.600000008, dtype=torch.float64),
        NOT_THE_CENTRAL,
        details,
        rtol=0.0,
        atol=2e-9,
    )


@check(points=0.25, about="central_difference", needs=test_central_difference_of_a_drawn_function)
def test_a_parabola_is_exact(student, draw):
    """central_difference is exact for a parabola, for any h"""
    a, b, c = draw.coefficients(3)
    f, x = Formula(f"{a} * x ** 2 - {b} * x + {c}"), draw.tensor()
    h = draw.number(1.0, 3.0)
    got, details = asked(student, "central_difference", f, x, h)
    assert_values(got, gradient(f, x), NOT_THE_CENTRAL, details)


# ------------------------------------------------------------------------------- numerical_gradient


@check(points=0.75, about="numerical_gradient")
def test_gradient_of_a_drawn_function(student, draw):
    """numerical_gradient agrees with torch's own gradient"""
    for _ in range(2):
        f, x = drawn(draw, SURFACES), draw.tensor(3, low=0.5, high=1.5)
        got, details = asked(student, "numerical_gradient", f, x)
        # What rounding leaves of a value of about 10, divided by h, stays below 1e-8; a one-sided
        # step errs by h times the curvature.
        assert_values(got, gradient(f, x), NOT_THE_GRADIENT, details, rtol=1e-7, atol=1e-7)


@check(points=0.25, about="numerical_gradient", needs=test_gradient_of_a_drawn_function)
def test_a_single_number_has_a_gradient(student):
    """a 0-d x has a 0-d gradient: 0.6 for log(x³) at 5"""
    f, x = Formula("(x ** 3).log()"), torch.tensor(5.0, dtype=torch.float64)
    got, details = asked(student, "numerical_gradient", f, x)
    assert_values(
        got, torch.tensor(0.6, dtype=torch.float64), NOT_THE_GRADIENT, details, rtol=1e-6, atol=0.0
    )


@check(points=0.5, about="numerical_gradient", needs=test_gradient_of_a_drawn_function)
def test_every_shape_has_a_gradient(student, draw):
    """a 2-d or 3-d x has a gradient of the same shape"""
    side = draw.integer(2, 3)
    for shape in (
        (1,),
        (side, side),
        draw.shape(dims=2),
        draw.shape(dims=3, most=3),
        (1, 2, 1, draw.integer(2, 12)),
    ):
        a, b = draw.coefficients(2)
        x = draw.tensor(*shape)
        f = Formula(
            f"(x ** 3).sum() * {a} + (x.sum() * {b}).sin()"
            if len(shape) < 2
            else f"((x * {a}).exp() * x[0]).sum() + x[0].sum() * {b}"
        )
        got, details = asked(student, "numerical_gradient", f, x)
        assert_values(got, gradient(f, x), NOT_THE_GRADIENT, details, rtol=1e-6, atol=1e-6)
