"""The three checks for Otter: test cases, called with the names that the submission defines."""

import torch
from otter.test_files import test_case

OK_FORMAT = False

name = "sigmoid"
points = None


def inputs():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(5, dtype=torch.float64, generator=generator)
    return x.requires_grad_(), torch.randn(5, dtype=torch.float64, generator=generator)


@test_case(points=1)
def test_value(sigmoid):
    x, _ = inputs()
    torch.testing.assert_close(sigmoid(x), torch.sigmoid(x))


@test_case(points=1)
def test_incoming_gradient(sigmoid):
    x, v = inputs()
    torch.testing.assert_close(
        torch.autograd.grad(sigmoid(x), x, v), torch.autograd.grad(torch.sigmoid(x), x, v)
    )


@test_case(points=1)
def test_gradcheck(sigmoid):
    x, _ = inputs()
    assert torch.autograd.gradcheck(sigmoid, x)
