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
asked, assert_values, SMALL = helpers.asked, helpers.assert_values, helpers.SMALL

CURVES = ["x.log() + {a} * x", "-{a} * x ** 3", "{a} / x"]
"""Up, down, and steeply down. Near 0 these bend so much that the default step shows in the slope:
the points of another formula give another slope in the third digit, and numbers in float32 do not.
"""
UPHILL = ["{a} * x[0] * x[1] + {b} * x[1] * x[2]", "{a} * x.prod() + {b} * x[0] * x[2] * x[1]"]
DOWNHILL = ["-{a} * x[0] * x[1] - {b} * x[0] * x[2]", "-{a} * x.prod()"]
"""Linear in each element, so that a step to one side gives the gradient too."""


def slope(f, start, end):
    """The slope of f from start to end: the mean of its derivative in between (fundamental theorem
    of calculus), at the middles of many parts.
    """
    parts = 400
    middles = start + (end - start) * (torch.arange(parts, dtype=start.dtype) + 0.5) / parts
    return gradient(f, middles).mean()


def compare_slopes(student, draw, name, span, message):
    """The slope of each curve must be right with the default step; ``span`` gives both ends."""
    for text in CURVES:
        f, x = drawn(draw, [text]), draw.tensor(low=0.003, high=0.006, digits=4, avoid=0.0)
        want = slope(f, *span(x, helpers.DEFAULT_STEPS[name]))
        got, details = asked(student, name, f, x)
        assert_values(got, want, message, details, rtol=3e-4, atol=0.0)


# ------------------------------------------------------------------------------- forward_difference


@check(points=0.5, about="forward_difference")
def test_forward_difference_of_a_drawn_function(student, draw):
    """forward_difference is the slope from x to x + h"""
    compare_slopes(student, draw, "forward_difference", lambda x, h: (x, x + h), NOT_THE_FORWARD)


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
    compare_slopes(
        student, draw, "central_difference", lambda x, h: (x - h, x + h), NOT_THE_CENTRAL
    )


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
    for at in (draw.number(1.0, 3.0), -draw.number(1.0, 3.0)):
        a, c = draw.coefficients(2)
        f, x = Formula(f"{a} * x ** 2 + {c}"), torch.tensor(at, dtype=torch.float64)
        want, h = gradient(f, x), draw.number(1.0, 3.0)
        got, details = asked(student, "central_difference", f, x, h)
        assert_values(got, want, NOT_THE_CENTRAL, details, rtol=1e-4)


# ------------------------------------------------------------------------------- numerical_gradient


@check(points=0.5, about="numerical_gradient")
def test_gradient_of_a_drawn_function(student, draw):
    """numerical_gradient agrees with torch's own gradient"""
    for texts in (UPHILL, DOWNHILL):
        f = drawn(draw, texts)
        x = torch.tensor(draw.sample(range(50, 90, 5), 3), dtype=torch.float64) / 100_000
        want = gradient(f, x)
        got, details = asked(student, "numerical_gradient", f, x)
        assert_values(got, want, NOT_THE_GRADIENT, details, rtol=2e-3, atol=0.0)


@check(points=0.25, about="numerical_gradient", needs=test_gradient_of_a_drawn_function)
def test_a_single_number_has_a_gradient(student):
    """a 0-d x has a 0-d gradient: 0.6 for log(x³) at 5"""
    f, x = Formula("(x ** 3).log()"), torch.tensor(5.0, dtype=torch.float64)
    got, details = asked(student, "numerical_gradient", f, x, 0.01)
    assert_values(
        got, torch.tensor(0.6, dtype=torch.float64), NOT_THE_GRADIENT, details, rtol=5e-3, atol=0.0
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
        x = draw.tensor(*shape, **SMALL)
        x.view(-1)[-1] = x.view(-1)[0]  # two elements are equal, and only one of them moves
        f = helpers.weighted(draw, *shape)
        got, details = asked(student, "numerical_gradient", f, x)
        assert_values(got, f.tensors["w"], NOT_THE_GRADIENT, details, rtol=0.01, atol=0.01)
