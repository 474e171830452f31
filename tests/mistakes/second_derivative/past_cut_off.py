import torch


def second_derivative(f, x):
    x = x.detach().clone().requires_grad_()
    (first,) = torch.autograd.grad(f(x).sum(), x)
    first = torch.tensor(first.tolist(), dtype=x.dtype, requires_grad=True)
    return torch.autograd.grad(first.sum(), x)[0]
