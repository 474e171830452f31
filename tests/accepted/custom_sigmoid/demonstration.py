"""The built-in is named in docstrings, comments, a test of the student's own and a demonstration."""

import torch


class Sigmoid(torch.autograd.Function):
    """What torch.sigmoid does, without torch.sigmoid."""

    @staticmethod
    def forward(ctx, x):
        """Like x.sigmoid()."""
        y = torch.e ** x.neg()  # torch.sigmoid(x) would be shorter
        y = (1 + y) ** -1
        ctx.save_for_backward(y)
        return y

    @staticmethod
    def backward(ctx, grad_output):
        """Not torch.ops.aten.sigmoid_backward."""
        (y,) = ctx.saved_tensors
        return torch.mul(grad_output, y) * torch.sub(1, y)


def sigmoid(x):
    """Like torch.sigmoid and F.sigmoid."""
    return Sigmoid.apply(x)


def test_against_torch():
    x = torch.randn(8, dtype=torch.float64, requires_grad=True)
    assert torch.allclose(sigmoid(x), torch.sigmoid(x))
    assert torch.autograd.gradcheck(sigmoid, (x,), eps=1e-6, atol=1e-5)


if __name__ == "__main__":
    print(torch.sigmoid(torch.zeros(1)))
    test_against_torch()
