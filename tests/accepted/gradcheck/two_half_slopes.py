"""The mean of the slope above and the slope below, which is the central difference."""

import torch


def numerical_jacobian(fn, x, eps=1e-6):
    def slopes(h):
        return torch.cat(
            [(fn(point + h * e.reshape(x.shape)) - base).reshape(-1, 1) / h for e in basis] or [base.new_zeros(base.numel(), 0)], 1
        )

    with torch.no_grad():
        point = x.double()
        base = fn(point)
        basis = torch.eye(x.numel()).double()
        return (slopes(eps) + slopes(-eps)) / 2
