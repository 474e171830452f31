"""No decorators, self for ctx, and a further argument with a default."""

from torch.autograd import Function


class Mul(Function):
    def forward(self, x, y, scale=1.0):
        self.scale = scale
        self.save_for_backward(x.detach(), y.detach())
        return scale * x * y

    def backward(self, *grads):
        saved = self.saved_tensors
        return grads[0] * saved[1] * self.scale, grads[0] * saved[0] * self.scale, None


class BroadcastMul(Function):
    @staticmethod
    def forward(ctx, x, y):
        ctx.save_for_backward(x, y)
        return x * y

    @staticmethod
    def backward(ctx, grad_output):
        def back_to(gradient, shape):
            while gradient.dim() > len(shape):
                gradient = gradient.sum(0)
            for dim, size in enumerate(shape):
                if size == 1:
                    gradient = gradient.sum(dim, keepdim=True)
            return gradient

        x, y = ctx.saved_tensors
        return back_to(grad_output * y, x.shape), back_to(grad_output * x, y.shape)
