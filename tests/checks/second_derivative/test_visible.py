"""second_derivative, the checks that students may read.

The truth is torch.autograd.functional's; the functions are drawn again for every run.
"""

import torch

from grader.authoring import assert_raises, assert_tensor, check, import_helpers

helpers = import_helpers(__file__)
WRONG, WRONG_ORDER, WRONG_HESSIAN, WRONG_PENALTY = (
    helpers.WRONG,
    helpers.WRONG_ORDER,
    helpers.WRONG_HESSIAN,
    helpers.WRONG_PENALTY,
)
CURVE, SURFACE = helpers.CURVE, helpers.SURFACE
Formula, drawn, derivative, penalty = (
    helpers.Formula,
    helpers.drawn,
    helpers.derivative,
    helpers.penalty,
)
both_signs, spread, critic = helpers.both_signs, helpers.spread, helpers.critic
drawn_behind, assert_roughly = helpers.drawn_behind, helpers.assert_roughly


# -------------------------------------------------------------------------------- second_derivative


@check(points=0.5, about="second_derivative")
def test_second_derivative_of_a_drawn_function(student, draw):
    """second_derivative is right for a random function"""
    f, x = drawn(draw, CURVE), both_signs(draw, 4)
    with drawn_behind(student, "second_derivative", f, x):
        assert_roughly(
            student.second_derivative(f.program, x),
            derivative(f, x, 2),
            WRONG,
            inputs={"f": f, "x": x},
        )


@check(points=0.2, about="second_derivative", needs=test_second_derivative_of_a_drawn_function)
def test_log_of_a_cube_at_five(student):
    """log(x ** 3) has the second derivative -0.12 at x = 5"""
    f, x = Formula("(x ** 3).log()"), torch.tensor(5.0, requires_grad=True)
    with drawn_behind(student, "second_derivative", f, x):
        assert_roughly(
            student.second_derivative(f.program, x),
            torch.tensor(-0.12),
            WRONG,
            inputs={"f": f, "x": x},
        )


@check(points=0.4, about="second_derivative", needs=test_second_derivative_of_a_drawn_function)
def test_second_derivative_of_a_line_is_zero(student, draw):
    """a linear f gives zeros with the shape and dtype of x"""
    a, b = draw.coefficients(2)
    for f in (Formula(f"{a} * x + {b}"), Formula("x")):
        x = draw.tensor(3, requires_grad=True)
        with drawn_behind(student, "second_derivative", f, x):
            assert_tensor(
                student.second_derivative(f.program, x),
                torch.zeros_like(x),
                WRONG,
                **helpers.ROUGH,
                inputs={"f": f, "x": x},
            )


# ----------------------------------------------------------------------------------- nth_derivative


@check(points=0.5, about="nth_derivative")
def test_first_three_derivatives(student, draw):
    """nth_derivative is right for n = 1, 2 and 3"""
    f, x = drawn(draw, CURVE), both_signs(draw, 3)
    for n in (1, 2, 3):
        with drawn_behind(student, "nth_derivative", f, x, n):
            got = student.nth_derivative(f.program, x, n)
            assert_roughly(got, derivative(f, x, n), WRONG_ORDER, inputs={"f": f, "x": x, "n": n})


@check(points=0.2, about="nth_derivative")
def test_derivative_of_order_zero(student, draw):
    """nth_derivative returns f(x) for n = 0"""
    f = drawn(draw, CURVE)
    for x in (both_signs(draw, 3), draw.tensor(2, 3)):
        assert_roughly(
            student.nth_derivative(f.program, x, 0),
            derivative(f, x, 0),
            "the result for n = 0 is not f(x)",
            inputs={"f": f, "x": x, "n": 0},
        )


@check(points=0.2, about="nth_derivative")
def test_negative_order(student, draw):
    """n < 0 raises ValueError, and n = 1 does not"""
    f, x = drawn(draw, CURVE), draw.tensor(3, requires_grad=True)
    student.nth_derivative(f.program, x, 1)
    for at, n in ((x, -1), (x, -draw.integer(2, 4)), (draw.tensor(0, requires_grad=True), -1)):
        assert_raises(
            "ValueError",
            student.nth_derivative,
            f.program,
            at,
            n,
            message="ValueError should be raised for n = {n}",
            inputs={"f": f, "x": at, "n": n},
        )


# ------------------------------------------------------------------------------------------ hessian


@check(points=0.5, about="hessian")
def test_hessian_of_a_drawn_function(student, draw):
    """hessian is right for a function with mixed terms"""
    f, x = drawn(draw, SURFACE), both_signs(draw, 3)
    want = torch.autograd.functional.hessian(f.program, x.detach())
    with drawn_behind(student, "hessian", f, x):
        assert_roughly(student.hessian(f.program, x), want, WRONG_HESSIAN, inputs={"f": f, "x": x})


@check(points=0.2, about="hessian", needs=test_hessian_of_a_drawn_function)
def test_hessian_of_a_quadratic_form(student, draw):
    """x @ A @ x has the Hessian A + A.T, also at x = 0"""
    n = draw.integer(4, 5)
    a = draw.tensor(n, n)
    f = Formula("x @ A @ x", A=a)
    one_zero = draw.tensor(n)
    one_zero[0] = 0.0
    for x in (draw.tensor(n), one_zero, torch.zeros(n, dtype=torch.float64)):
        x.requires_grad_()
        with drawn_behind(student, "hessian", f, x):
            inputs = {"f": f, "A": a, "x": x}
            assert_roughly(student.hessian(f.program, x), a + a.t(), WRONG_HESSIAN, inputs=inputs)


# --------------------------------------------------------------------------------- gradient_penalty


@check(points=0.5, about="gradient_penalty")
def test_penalty_of_a_drawn_critic(student, draw):
    """gradient_penalty is right for a random function"""
    f, parameters = critic(draw)
    for rows in (4, 7):  # one number can be right by chance
        x = spread(draw, f, rows)
        with drawn_behind(student, "gradient_penalty", f, x):
            assert_roughly(
                student.gradient_penalty(f.program, x),
                penalty(f, x),
                WRONG_PENALTY,
                inputs={"f": f, **parameters, "x": x},
            )


@check(points=0.2, about="gradient_penalty", needs=test_penalty_of_a_drawn_critic)
def test_penalty_of_a_linear_critic(student, draw):
    """f = x @ w with w = (3, 4) has the penalty (5 - 1) ** 2"""
    x, want = draw.tensor(draw.integer(2, 4), 2, requires_grad=True), torch.tensor(16.0).double()
    for requires_grad in (True, False):
        w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=requires_grad)
        f = Formula("x @ w", w=w)
        with drawn_behind(student, "gradient_penalty", f, x):
            assert_roughly(
                student.gradient_penalty(f.program, x),
                want,
                WRONG_PENALTY,
                inputs={"f": f, "w": w, "x": x},
            )
