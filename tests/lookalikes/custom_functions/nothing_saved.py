"""Counts the dimensions of the result in a shape that has fewer."""

from torch.autograd import Function


class BroadcastMul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, g):
        x, y = ctx.saved_tensors
        gx, gy = g * y, g * x
        for i in range(g.dim()):
            if x.shape[i] == 1:
                gx = gx.sum(i, keepdim=True)
            if y.shape[i] == 1:
                gy = gy.sum(i, keepdim=True)
        return gx, gy
