"""One backward for all; the classes say only what their derivatives are."""

from torch.autograd import Function


class Elementwise(Function):
    @classmethod
    def apply(cls, *args):
        return super().apply(*args)

    @staticmethod
    def backward(ctx, grad_output):
        return tuple(grad_output * slope for slope in ctx.slopes(*ctx.saved_tensors))


class Add(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.slopes = lambda a, b: (a * 0 + 1, b * 0 + 1)
        return a + b


class Mul(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.slopes = lambda a, b: (b, a)
        return a * b


class Pow(Elementwise):
    @staticmethod
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        ctx.slopes = lambda a, b: (b * a ** (b - 1), a**b * a.log())
        return a**b
