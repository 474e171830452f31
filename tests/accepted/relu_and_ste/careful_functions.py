"""The functions look at their argument and flatten it; the methods are not static."""

import torch


class MyReLU(torch.autograd.Function):
    def forward(self, x):
        self.save_for_backward(x)
        y = x.clone()
        y[y < 0] = 0
        return y

    def backward(self, grad):
        x = self.saved_tensors[0]
        grad_input = torch.zeros_like(grad)
        grad_input[x > 0] = grad[x > 0]
        return grad_input


def checked(x):
    if not isinstance(x, torch.Tensor):
        raise TypeError(f"a tensor is needed, not a {type(x).__name__}")
    return x if x.is_floating_point() else x.float()


def relu(x):
    x = checked(x)
    return MyReLU.apply(x.reshape(-1)).reshape(x.shape)


def binarize(x):
    x = checked(x)
    (y,) = (STE.apply(x.contiguous()),)  # noqa: F821
    return y.to(x.dtype)
