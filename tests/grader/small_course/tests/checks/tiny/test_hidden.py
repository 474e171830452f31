"""tiny, hidden."""

import torch

from grader.authoring import assert_equal, assert_gradient, assert_that, check


@check(points=2, about="double", needs="test_double")
def test_gradient_of_double(student, draw):
    """the gradient of double is twice the incoming one"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    (got,) = torch.autograd.grad(student.double(x), x, v)
    assert_gradient(got, 2 * v, inputs={"x": x, "v": v})


@check(points=1, about="triple", needs="test_triple")
def test_gradient_of_triple(student, reference, draw):
    """the gradient of triple, seen from inside"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    assert_gradient(
        student.observe("gradient", x, v),
        reference.observe("gradient", x, v),
        inputs={"x": x, "v": v},
    )


@check(points=1, about="LIMIT")
def test_limit(student, reference):
    """LIMIT is what it should be"""
    assert_equal(student.LIMIT, reference.LIMIT)


@check(points=1, about="LIMIT")
def test_limit_is_a_float(student):
    """LIMIT is a float"""
    assert_that(isinstance(student.LIMIT, float), "LIMIT is not a float", actual=student.LIMIT)
