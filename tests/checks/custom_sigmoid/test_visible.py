"""custom_sigmoid, the checks that students may read."""

import torch

from grader.checks import assert_gradient, assert_tensor, check


@check(points=2, about="Sigmoid", at="Sigmoid.forward")
def test_forward_is_the_logistic_function(student, draw):
    """forward returns 1 / (1 + exp(-x))"""
    x = draw.tensor(4)
    assert_tensor(student.sigmoid(x), torch.sigmoid(x), "sigmoid(x) is wrong", inputs={"x": x})


@check(points=2, about="Sigmoid", at="Sigmoid.backward", needs=test_forward_is_the_logistic_function)
def test_gradient_uses_the_incoming_gradient(student, draw):
    """backward multiplies by the incoming gradient"""
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    (got,) = torch.autograd.grad(student.sigmoid(x), x, v, allow_unused=True)
    (want,) = torch.autograd.grad(torch.sigmoid(x), x, v)
    assert_gradient(got, want, "the gradient is wrong", inputs={"x": x, "v": v})
