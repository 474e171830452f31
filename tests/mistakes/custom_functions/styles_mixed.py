"""forward has no ctx, and nothing else sets it up."""

from torch.autograd import Function


class Add(Function):
    @staticmethod
    def forward(x, y):
        return x + y

    @staticmethod
    def backward(ctx, grad_output):
        return grad_output, grad_output
