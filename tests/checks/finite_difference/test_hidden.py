"""finite_difference, the checks that are not handed out."""

import torch

from grader.authoring import assert_not_used, assert_tensor, check, fail, import_helpers

helpers = import_helpers(__file__)
NOT_THE_FORWARD, NOT_THE_CENTRAL, NOT_THE_GRADIENT = (
    helpers.NOT_THE_FORWARD,
    helpers.NOT_THE_CENTRAL,
    helpers.NOT_THE_GRADIENT,
)
Formula, drawn, gradient = helpers.Formula, helpers.drawn, helpers.gradient
asked, assert_values = helpers.asked, helpers.assert_values

FORWARD, CENTRAL = (
    "test_forward_difference_of_a_drawn_function",
    "test_central_difference_of_a_drawn_function",
)
GRADIENT = "test_gradient_of_a_drawn_function"

NOT_THE_STEP = "not the slopes over a step of h to either side"

CURVES = [
    "{a} * x ** 3 + ({b} * x).exp()",
    "({a} * x).exp() + {b} * x ** 4",
    "({a} * x).exp() * {c} + {b} * x ** 3 + x ** 2",
]
SURFACES = [
    "x[0] ** 2 * x[1] * {a} + (x * {c}).exp().sum() + x[1] ** 3 * {b}",
    "(x ** 4).sum() * {a} + (x[0] * x[1]) ** 2 * {b} + (x[0] * {c}).exp()",
]
"""Sums of growing terms: with positive coefficients no derivative vanishes for positive x."""

READY_MADE = [
    f"torch.autograd.gradcheck.{name}"
    for name in ("get_numerical_jacobian", "_get_numerical_jacobian", "_compute_numerical_gradient")
]
"""Differences from torch's own hands, which nobody sees at work: they ask for values of f alone."""


def assert_untouched(student, name, f, x, *h):
    """x must hold the same numbers whenever f is asked, and afterwards, and nothing may have been
    written into it meanwhile.
    """
    before = x.detach().clone()
    _, details = asked(student, name, f, x, *h)
    facts, details["figures"] = details["facts"], ()
    if facts["during"]:
        facts["held"] = facts["during"][0]
        fail(
            "x was changed for a moment: while f ran, it held {held}",
            expected=before,
            actual=facts["held"],
            **details,
        )
    if not torch.equal(facts["after"], before):
        facts["held"] = facts["after"]
        fail(
            "x was changed: afterwards it holds {held}",
            expected=before,
            actual=facts["held"],
            **details,
        )
    if facts["writes"]:
        facts["held"] = before
        fail(
            "x was written to and put back: torch counts {writes} writes",
            expected=0,
            actual=facts["writes"],
            **details,
        )


def assert_dtype_kept(student, reference, name, f, x, message):
    """A float64 x and the same numbers in float32, with a step that float32 can resolve, each give
    their own dtype.
    """
    want = getattr(reference, name)(f.program, x, 0.25)
    got, details = asked(student, name, f, x, 0.25)
    assert_tensor(got, want, message, **details)
    single = x.to(torch.float32)
    got, details = asked(student, name, f, single, 0.25)
    # Values up to about 30, rounded to 24 bits and divided by the step: 1e-5; a tenfold margin for
    # other orders of operations.
    assert_tensor(got, want.to(torch.float32), message, rtol=1e-4, atol=2e-4, **details)


def steps_in_x(details):
    """Whether the steps are made in x itself: a check of its own asks that they are not."""
    return details["facts"]["during"] or details["facts"]["writes"]


def assert_small_steps(student, reference, draw, name, message):
    """h is the step in float32 too, and where x + h rounds to x: there the slope is 0. And f may
    return what it is given, so two values of f may not share a tensor.
    """
    x = draw.tensor(dtype=torch.float32, low=0.3, high=0.7, digits=None)
    f, h = Formula("(x * 400.0).sin()"), 0.002
    got, details = asked(student, name, f, x, h)
    want = getattr(reference, name)(f.program, x, h)
    assert_values(got, want, message, details, rtol=0.05, atol=1.0)
    f, x = Formula("x ** 3 + 2.0 * x"), torch.tensor(5.0, dtype=torch.float64)
    got, details = asked(student, name, f, x, 1e-20)
    assert_values(got, torch.zeros((), dtype=torch.float64), message, details)
    if steps_in_x(details):
        return
    f, x = Formula("x"), draw.tensor()
    got, details = asked(student, name, f, x, 0.25)
    assert_values(got, torch.ones((), dtype=torch.float64), message, details)


# ------------------------------------------------------------------------------- forward_difference


@check(points=0.5, about="forward_difference", needs=FORWARD)
def test_forward_difference_uses_its_h(student, reference, draw):
    """forward_difference uses h, given by position or by name"""
    for at in (draw.number(0.5, 1.5), 0.0, -draw.number(20.0, 30.0)):
        x, h = torch.tensor(at, dtype=torch.float64), draw.number(0.2, 0.9)
        a, b = draw.coefficients(2)
        f = Formula(f"{a} * x ** 3 + {b} * x ** 4")
        want = reference.forward_difference(f.program, x, h)
        got, details = asked(student, "forward_difference", f, x, h)
        assert_values(got, want, NOT_THE_FORWARD, details)
        got, details = asked(student, "forward_difference", f, x, h=h)
        assert_values(got, want, NOT_THE_FORWARD, details)
    assert_small_steps(student, reference, draw, "forward_difference", NOT_THE_FORWARD)
    # This f takes a 0-d tensor only.
    f, x, h = Formula("x.unsqueeze(0).expand(2).sum()"), draw.tensor(), draw.number(0.2, 0.9)
    got, details = asked(student, "forward_difference", f, x, h)
    assert_values(got, reference.forward_difference(f.program, x, h), NOT_THE_FORWARD, details)


@check(points=0.5, about="forward_difference", needs=FORWARD)
def test_forward_difference_keeps_the_dtype(student, reference, draw):
    """forward_difference keeps x's dtype"""
    assert_dtype_kept(
        student,
        reference,
        "forward_difference",
        drawn(draw, CURVES),
        draw.tensor(low=0.5, high=1.5),
        NOT_THE_FORWARD,
    )


@check(points=0.5, about="forward_difference", needs=FORWARD)
def test_forward_difference_leaves_x_alone(student, draw):
    """forward_difference never writes to x"""
    h = draw.number(0.2, 0.9)
    assert_untouched(
        student, "forward_difference", drawn(draw, CURVES), draw.tensor(low=0.5, high=1.5), h
    )
    assert_untouched(
        student, "forward_difference", drawn(draw, CURVES), draw.tensor(low=0.5, high=1.5)
    )
    for same_memory in ("x", "x.squeeze()"):
        student.forward_difference(Formula(same_memory).program, draw.tensor(), h)


# ------------------------------------------------------------------------------- central_difference


@check(points=0.5, about="central_difference", needs=CENTRAL)
def test_central_difference_uses_its_h(student, reference, draw):
    """central_difference uses its h; the default is 0.001"""
    for at in (draw.number(0.5, 1.5), 0.0, -draw.number(20.0, 30.0)):
        x, h = torch.tensor(at, dtype=torch.float64), draw.number(0.2, 0.9)
        a, b = draw.coefficients(2)
        f = Formula(f"{a} * x ** 3 + {b} * x ** 4")
        want = reference.central_difference(f.program, x, h)
        got, details = asked(student, "central_difference", f, x, h)
        assert_values(got, want, NOT_THE_CENTRAL, details)
        got, details = asked(student, "central_difference", f, x, h=h)
        assert_values(got, want, NOT_THE_CENTRAL, details)
    # A wave so steep that a step of 0.001 is seen in the slope.
    f, x = Formula("(x * 400.0).sin()"), draw.tensor(low=0.0002, high=0.001, digits=None, avoid=0.0)
    got, details = asked(student, "central_difference", f, x)
    assert_values(got, reference.central_difference(f.program, x), NOT_THE_CENTRAL, details)
    assert_small_steps(student, reference, draw, "central_difference", NOT_THE_CENTRAL)
    # This f takes a 0-d tensor only.
    f, x, h = Formula("x.unsqueeze(0).expand(2).sum()"), draw.tensor(), draw.number(0.2, 0.9)
    got, details = asked(student, "central_difference", f, x, h)
    assert_values(got, reference.central_difference(f.program, x, h), NOT_THE_CENTRAL, details)


@check(points=0.5, about="central_difference", needs=CENTRAL)
def test_central_difference_keeps_the_dtype(student, reference, draw):
    """central_difference keeps x's dtype"""
    assert_dtype_kept(
        student,
        reference,
        "central_difference",
        drawn(draw, CURVES),
        draw.tensor(low=0.5, high=1.5),
        NOT_THE_CENTRAL,
    )


@check(points=0.5, about="central_difference", needs=CENTRAL)
def test_central_difference_leaves_x_alone(student, draw):
    """central_difference never writes to x"""
    h = draw.number(0.2, 0.9)
    assert_untouched(
        student, "central_difference", drawn(draw, CURVES), draw.tensor(low=0.5, high=1.5), h
    )
    assert_untouched(
        student, "central_difference", drawn(draw, CURVES), draw.tensor(low=0.5, high=1.5)
    )
    for same_memory in ("x", "x.squeeze()"):
        student.central_difference(Formula(same_memory).program, draw.tensor(), h)


# ------------------------------------------------------------------------------- numerical_gradient


@check(points=0.75, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_uses_its_h(student, reference, draw):
    """numerical_gradient steps h to both sides; default 0.00001"""
    f, x, h = drawn(draw, SURFACES), draw.tensor(3, low=0.5, high=1.5), draw.number(0.2, 0.5)
    want = reference.numerical_gradient(f.program, x, h)
    got, details = asked(student, "numerical_gradient", f, x, h)
    assert_values(got, want, NOT_THE_STEP, details)
    x = torch.tensor([0.0, draw.number(2.0, 3.0), -draw.number(5.0, 8.0)], dtype=torch.float64)
    f = Formula("(x ** 3).sum() + x[0] * x[1] * x[2]")
    want = reference.numerical_gradient(f.program, x, h)
    got, details = asked(student, "numerical_gradient", f, x, h=h)
    assert_values(got, want, NOT_THE_STEP, details)
    # Waves so steep that a step of 0.00001 is seen in the slope.
    f, x = (
        Formula("(x * 40000.0).sin().sum()"),
        draw.tensor(2, low=0.000002, high=0.00001, digits=None, avoid=0.0),
    )
    got, details = asked(student, "numerical_gradient", f, x)
    assert_values(got, reference.numerical_gradient(f.program, x), NOT_THE_STEP, details)
    assert_small_steps(student, reference, draw, "numerical_gradient", NOT_THE_STEP)


@check(points=0.25, about="numerical_gradient", needs=GRADIENT)
def test_an_empty_tensor_has_an_empty_gradient(student, draw):
    """an empty x has an empty gradient of the same shape"""
    for shape in ((0,), (draw.integer(1, 3), 0, draw.integer(1, 3))):
        x, f = torch.empty(shape, dtype=torch.float64), Formula("(x ** 2).sum()")
        got, details = asked(student, "numerical_gradient", f, x)
        assert_values(got, torch.empty(shape, dtype=torch.float64), NOT_THE_GRADIENT, details)


@check(points=0.5, about="numerical_gradient", needs=[GRADIENT, "test_every_shape_has_a_gradient"])
def test_strides_do_not_matter(student, draw):
    """a transposed, a sliced and an expanded x work"""
    a, b = draw.coefficients(2)
    wide = draw.tensor(4, 6)
    for x in (draw.noncontiguous(3, 4), wide[:, ::2], wide[1], draw.tensor(4).expand(3, 4)):
        f = Formula(f"((x * {a}).exp() * x[0]).sum() + x[1].sum() * {b}")
        got, details = asked(student, "numerical_gradient", f, x)
        assert_values(got, gradient(f, x), NOT_THE_GRADIENT, details, rtol=1e-6, atol=1e-6)
        if steps_in_x(details):
            return


@check(points=0.5, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_keeps_the_dtype(student, reference, draw):
    """numerical_gradient keeps x's dtype"""
    f, x = drawn(draw, SURFACES), draw.tensor(3, low=0.5, high=1.5)
    assert_dtype_kept(student, reference, "numerical_gradient", f, x, NOT_THE_STEP)
    # A step in float32 misses float64's h by some 1e-8 of it.
    f, h = Formula(f"(x * {draw.coefficients(1)[0]}).sum()"), draw.number(0.2, 0.5)
    want = reference.numerical_gradient(f.program, x, h)
    got, details = asked(student, "numerical_gradient", f, x, h)
    assert_values(got, want, NOT_THE_STEP, details, rtol=1e-10, atol=1e-10)


@check(points=0.75, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_leaves_x_alone(student, draw):
    """numerical_gradient never writes to x, not even for a moment"""
    h = draw.number(0.2, 0.5)
    assert_untouched(
        student, "numerical_gradient", drawn(draw, SURFACES), draw.tensor(3, low=0.5, high=1.5), h
    )
    assert_untouched(
        student, "numerical_gradient", drawn(draw, SURFACES), draw.tensor(3, low=0.5, high=1.5)
    )
    assert_untouched(
        student, "numerical_gradient", Formula("(x ** 3).sum() + x[0].sum()"), draw.tensor(2, 3)
    )
    student.numerical_gradient(Formula("x[1]").program, draw.tensor(3), h)


@check(points=0.75, about="numerical_gradient", needs=GRADIENT)
def test_no_autograd_does_the_work(student, draw):
    """numerical_gradient uses no autograd"""
    f, x = drawn(draw, SURFACES), draw.tensor(3, low=0.5, high=1.5)
    _, details = asked(student, "numerical_gradient", f, x)
    details["figures"] = ()
    if details["facts"]["derivatives"]:
        fail(
            "numerical_gradient asked autograd for derivatives of f: {derivatives} times",
            expected=0,
            actual=details["facts"]["derivatives"],
            **details,
        )
    seen = student.observe("read_back", f.program, x)
    if seen["read"]:
        details["facts"] |= seen
        fail(
            "numerical_gradient ran a backward pass, which read {read} saved tensors",
            expected=0,
            actual=seen["read"],
            **details,
        )
    assert_not_used(
        student,
        ["numerical_gradient"],
        READY_MADE,
        "numerical_gradient must not use autograd; line {line} uses {used}",
    )
