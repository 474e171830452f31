import torch
from torch.autograd import Function


class FixedPow(Function):
    @staticmethod
    def forward(ctx, base, exponent):
        result = torch.pow(base, exponent)
        ctx.save_for_backward(base, exponent, result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        base, exponent, result = ctx.saved_tensors
        return exponent * result / base * grad_output, torch.log1p(base) * result * grad_output
