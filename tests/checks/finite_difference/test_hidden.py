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
asked, assert_values, SMALL = helpers.asked, helpers.assert_values, helpers.SMALL

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


def distinct(draw):
    """Three numbers between 0.5 and 1.5, no two alike."""
    return torch.tensor(draw.sample(range(50, 151), 3), dtype=torch.float64) / 100


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
    their own dtype, and float64 its digits.
    """
    want = getattr(reference, name)(f.program, x, 0.25)
    got, details = asked(student, name, f, x, 0.25)
    assert_tensor(got, want, message, rtol=1e-10, atol=1e-10, **details)
    single = x.to(torch.float32)
    got, details = asked(student, name, f, single, 0.25)
    # Values up to about 30, rounded to 24 bits and divided by the step: 1e-5; a tenfold margin for
    # other orders of operations.
    assert_tensor(got, want.to(torch.float32), message, rtol=1e-4, atol=2e-4, **details)


def steps_in_x(details):
    """Whether the steps are made in x itself: a check of its own asks that they are not."""
    return details["facts"]["during"] or details["facts"]["writes"]


def compare_steps(student, name, f, want, message, x, *h, **named):
    """What comes back must be the slope over this step; digits are another check's matter."""
    got, details = asked(student, name, f, x, *h, **named)
    assert_values(got, want, message, details, rtol=1e-4, atol=1e-4)


def assert_uses_h(student, reference, draw, name, message):
    """h is the step, given by position or by name, for small and large x, and in float32."""
    for at in (draw.number(0.5, 1.5), 0.0, -draw.number(20.0, 30.0)):
        x, h = torch.tensor(at, dtype=torch.float64), draw.number(0.2, 0.9)
        a, b = draw.coefficients(2)
        f = Formula(f"{a} * x ** 3 + {b} * x ** 4")
        want = getattr(reference, name)(f.program, x, h)
        compare_steps(student, name, f, want, message, x, h)
        compare_steps(student, name, f, want, message, x, h=h)
    assert_small_step(student, reference, draw, name, message)


def assert_small_step(student, reference, draw, name, message, *shape):
    """A small h is the step in float32 too."""
    x = draw.tensor(*shape, dtype=torch.float32, low=0.0, high=0.002, digits=None, avoid=0.0)
    f, h = Formula("(x * 400.0).exp()" + ".sum()" * bool(shape)), 0.002
    want = getattr(reference, name)(f.program, x.double(), h)
    got, details = asked(student, name, f, x, h)
    assert_values(got, want, message, details, rtol=0.02, atol=0.0)


def assert_a_tensor_for_each_point(student, draw, name, message, *shape):
    """f may return what it is given, or a view of it, so two values of f may not share a tensor."""
    x = distinct(draw)[: shape[0]] if shape else draw.tensor(**SMALL)
    for text in ("x[0]", "x[-1].squeeze()") if shape else ("x", "x.squeeze()"):
        f = Formula(text)
        want = gradient(f, x)
        got, details = asked(student, name, f, x)
        if steps_in_x(details):
            return
        assert_values(got, want, message, details, rtol=1e-3, atol=1e-3)


def assert_0d_points(student, reference, draw, name, message):
    """f gets a 0-d tensor for each point: this f takes no other."""
    f, x = Formula("x.unsqueeze(0).expand(2).sum()"), draw.tensor(**SMALL)
    want = getattr(reference, name)(f.program, x)
    got, details = asked(student, name, f, x)
    assert_values(got, want, message, details, rtol=1e-3, atol=1e-3)


# ------------------------------------------------------------------------------- forward_difference


@check(points=0.25, about="forward_difference", needs=FORWARD)
def test_forward_difference_uses_its_h(student, reference, draw):
    """forward_difference uses h, given by position or by name"""
    assert_uses_h(student, reference, draw, "forward_difference", NOT_THE_FORWARD)


@check(points=0.25, about="forward_difference", needs=FORWARD)
def test_forward_difference_takes_any_f(student, reference, draw):
    """forward_difference works for any f of a 0-d tensor"""
    assert_a_tensor_for_each_point(student, draw, "forward_difference", NOT_THE_FORWARD)
    assert_0d_points(student, reference, draw, "forward_difference", NOT_THE_FORWARD)


@check(points=0.5, about="forward_difference", needs=FORWARD)
def test_forward_difference_keeps_the_dtype(student, reference, draw):
    """forward_difference keeps x's dtype and precision"""
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


@check(points=0.25, about="central_difference", needs=CENTRAL)
def test_central_difference_uses_its_h(student, reference, draw):
    """central_difference uses h, given by position or by name"""
    assert_uses_h(student, reference, draw, "central_difference", NOT_THE_CENTRAL)


@check(points=0.25, about="central_difference", needs=CENTRAL)
def test_central_difference_takes_any_f(student, reference, draw):
    """central_difference works for any f of a 0-d tensor"""
    assert_a_tensor_for_each_point(student, draw, "central_difference", NOT_THE_CENTRAL)
    assert_0d_points(student, reference, draw, "central_difference", NOT_THE_CENTRAL)


@check(points=0.5, about="central_difference", needs=CENTRAL)
def test_central_difference_keeps_the_dtype(student, reference, draw):
    """central_difference keeps x's dtype and precision"""
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
    name = "numerical_gradient"
    f, x, h = drawn(draw, SURFACES), distinct(draw), draw.number(0.2, 0.5)
    want = reference.numerical_gradient(f.program, x, h)
    compare_steps(student, name, f, want, NOT_THE_STEP, x, h)
    x = torch.tensor([0.0, draw.number(2.0, 3.0), -draw.number(5.0, 8.0)], dtype=torch.float64)
    f = Formula("(x ** 3).sum() + x[0] * x[1] * x[2]")
    want = reference.numerical_gradient(f.program, x, h)
    compare_steps(student, name, f, want, NOT_THE_STEP, x, h=h)
    # Curves so steep that a step of 0.00001 is seen in the slope.
    f, x = (
        Formula("(x * 40000.0).exp().sum()"),
        draw.tensor(2, low=0.000002, high=0.00001, digits=None, avoid=0.0),
    )
    want = reference.numerical_gradient(f.program, x)
    compare_steps(student, name, f, want, NOT_THE_STEP, x)
    assert_small_step(student, reference, draw, name, NOT_THE_STEP, 2)


@check(points=0.25, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_takes_any_f(student, draw):
    """numerical_gradient works for an f that returns its argument"""
    assert_a_tensor_for_each_point(student, draw, "numerical_gradient", NOT_THE_GRADIENT, 3)


@check(points=0.25, about="numerical_gradient", needs=GRADIENT)
def test_an_empty_tensor_has_an_empty_gradient(student, draw):
    """an empty x has an empty gradient of the same shape"""
    for shape in ((0,), (draw.integer(1, 3), 0, draw.integer(1, 3))):
        x, f = torch.empty(shape, dtype=torch.float64), Formula("(x ** 2).sum()")
        got, details = asked(student, "numerical_gradient", f, x)
        assert_values(got, torch.empty(shape, dtype=torch.float64), NOT_THE_GRADIENT, details)


@check(points=0.5, about="numerical_gradient", needs=GRADIENT)
def test_strides_do_not_matter(student, draw):
    """a sliced and an expanded x work"""
    wide, row = draw.tensor(4, 6, **SMALL), draw.tensor(4, **SMALL)
    for x in (wide[:, ::2], wide[1], row.expand(3, 4)):
        f = helpers.weighted(draw, *x.shape)
        want = f.tensors["w"]
        got, details = asked(student, "numerical_gradient", f, x)
        if isinstance(got, torch.Tensor) and got.numel() == want.numel():
            got = got.reshape(want.shape)  # the shape is another check's matter
        assert_values(got, want, NOT_THE_GRADIENT, details, rtol=0.01, atol=0.01)
        if steps_in_x(details):
            return


@check(points=0.5, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_keeps_the_dtype(student, reference, draw):
    """numerical_gradient keeps x's dtype and precision"""
    f, x = drawn(draw, ["{a} * x[0] * x[1] + {b} * x[1] * x[2] + {c} * x[2]"]), distinct(draw)
    assert_dtype_kept(student, reference, "numerical_gradient", f, x, NOT_THE_STEP)
    # A step that was rounded to float32 misses this h by some 1e-8 of it.
    f, h = Formula(f"(x * {draw.coefficients(1)[0]}).sum()"), 0.3
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
