"""vector_backward, the checks that students may read.

Functions and numbers are drawn for every run, except those of the lesson's own examples.
"""

import torch

from grader.authoring import assert_gradient, assert_tensor, check, import_helpers

helpers = import_helpers(__file__)
WRONG_PRODUCT, WRONG_JACOBIAN = helpers.WRONG_PRODUCT, helpers.WRONG_JACOBIAN
WRONG_Z, WRONG_DX, WRONG_DY = helpers.WRONG_Z, helpers.WRONG_DX, helpers.WRONG_DY
Formula, drawn_map, assert_dot = helpers.Formula, helpers.drawn_map, helpers.assert_dot
both_signs, like, ROUGH = helpers.both_signs, helpers.like, helpers.ROUGH

PRINTED = {"rtol": 0.0, "atol": 2e-4}
"""For numbers that are known to four decimals, and were computed from such."""


# ---------------------------------------------------------------------------------------------- vjp


@check(points=0.5, about="vjp")
def test_the_product_with_a_drawn_vector(student, draw):
    """vjp returns v^T J"""
    _ = student.vjp  # a file without it is told so, and what it defines instead
    for rows, columns in ((3, 3), (2, 4)):
        f, w = drawn_map(draw, rows, columns)
        x, v = draw.tensor(columns, requires_grad=True), both_signs(draw, rows)
        (want,) = torch.autograd.grad(f.program(x), x, v)
        seen = student.observe("product", f.program, x, v)
        facts = {**seen, "held": None, "want": want}
        assert_gradient(
            like(seen["result"], want),
            want,
            WRONG_PRODUCT,
            **ROUGH,
            inputs={"f": f, "W": w, "x": x, "v": v},
            facts=facts,
        )


@check(points=0.25, about="vjp", needs=test_the_product_with_a_drawn_vector)
def test_the_numbers_of_s(student):
    """vjp is right for a v of ones"""
    x = torch.tensor([1.4903, -1.4862, -1.5608, 0.9541], requires_grad=True)
    u = torch.tensor([1.2498, 1.2571, 1.2734, -0.0856])
    ones = torch.ones(4)
    for text, want in (
        ("(x + u) ** 2", torch.tensor([5.4802, -0.4582, -0.5747, 1.7369])),
        ("x + u", ones),
        ("x * u", u),
    ):
        f = Formula(text, u=u)
        seen = student.observe("product", f.program, x, ones)
        assert_gradient(
            like(seen["result"], want),
            want,
            WRONG_PRODUCT,
            **PRINTED,
            inputs={"f": f, "u": u, "x": x, "v": ones},
            facts=seen,
        )


@check(points=0.25, about="vjp", needs=test_the_product_with_a_drawn_vector)
def test_the_numbers_of_s_shopping(student):
    """vjp gives 2.2, 3.3, 110, 165 and 650 for the shopping graph"""
    goods = {
        "apple": 100.0,
        "num_apple": 2.0,
        "tangerine": 150.0,
        "num_tangerine": 3.0,
        "ctax": 1.1,
    }
    v = torch.ones(1)
    for name, want in (
        ("apple", 2.2),
        ("tangerine", 3.3),
        ("num_apple", 110.0),
        ("num_tangerine", 165.0),
        ("ctax", 650.0),
    ):
        others = {other: torch.tensor([value]) for other, value in goods.items() if other != name}
        names = {other: "x" if other == name else other for other in goods}
        f = Formula(
            "({apple} * {num_apple} + {tangerine} * {num_tangerine}) * {ctax}".format(**names),
            **others,
        )
        x = torch.tensor([goods[name]], requires_grad=True)
        seen = student.observe("product", f.program, x, v)
        right = torch.tensor([want])
        assert_gradient(
            like(seen["result"], right),
            right,
            WRONG_PRODUCT,
            inputs={"f": f, **others, "x": x, "v": v},
            facts=seen,
        )


# ----------------------------------------------------------------------------------------- jacobian


@check(points=0.5, about="jacobian")
def test_the_jacobian_of_a_drawn_map(student, draw):
    """jacobian returns one row for each element of f(x)"""
    for rows, columns in ((2, 3), (3, 3)):
        f, w = drawn_map(draw, rows, columns)
        x = draw.tensor(columns, requires_grad=True)
        want = torch.autograd.functional.jacobian(f.program, x.detach())
        with helpers.drawn_freed(student, "jacobian", x, f.program):
            assert_tensor(
                like(student.jacobian(f.program, x), want),
                want,
                WRONG_JACOBIAN,
                **ROUGH,
                inputs={"f": f, "W": w, "x": x},
            )


@check(points=0.5, about="jacobian", needs=test_the_jacobian_of_a_drawn_map)
def test_the_jacobian_of_a_matrix(student, draw):
    """the Jacobian of W @ x is W"""
    w = draw.tensor(draw.integer(2, 5), draw.integer(2, 5))
    f, x = Formula("W @ x", W=w), draw.tensor(w.shape[1], requires_grad=True)
    got, inputs = student.jacobian(f.program, x), {"f": f, "W": w, "x": x}
    assert_tensor(like(got, w), w, WRONG_JACOBIAN, **ROUGH, inputs=inputs)


# ------------------------------------------------------------------------------------ broadcast_dot


@check(points=0.5, about="broadcast_dot")
def test_the_value_and_two_gradients(student, draw):
    """broadcast_dot returns z, dz/dx and dz/dy"""
    for size in (3, draw.integer(4, 6)):
        x, a, b = draw.tensor(requires_grad=True), draw.tensor(size), both_signs(draw, size)
        with helpers.drawn_freed(student, "broadcast_dot", x, a, b):
            assert_dot(student.broadcast_dot(x, a.clone(), b.clone()), x, a, b)


@check(points=0.25, about="broadcast_dot", needs=test_the_value_and_two_gradients)
def test_the_numbers_of_c13(student):
    """x = 5 gives z = 370, dz/dx = 74, dz/dy = (4, 7, 9)"""
    x = torch.tensor(5.0, requires_grad=True)
    a, b = torch.tensor([2.0, 3.0, 5.0]), torch.tensor([4.0, 7.0, 9.0])
    got = student.broadcast_dot(x, a, b)
    assert_dot(got, x, a, b)
    for mine, number, message in zip(
        got, (370.0, 74.0, [4.0, 7.0, 9.0]), (WRONG_Z, WRONG_DX, WRONG_DY), strict=True
    ):
        right = torch.tensor(number)
        got = like(mine, right, shape=True)
        assert_tensor(got, right, message, **ROUGH, inputs={"x": x, "a": a, "b": b})
