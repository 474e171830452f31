"""Loops over elements and rows, each differentiated by itself."""

import torch


def slope(y, x):
    if not y.requires_grad:
        return torch.zeros_like(x)
    g = torch.autograd.grad(y, x, create_graph=True, allow_unused=True)[0]
    return torch.zeros_like(x) if g is None else g


def nth_of_a_number(f, number, n):
    number = number.detach().clone().requires_grad_()
    y = f(number)
    for _ in range(n):
        y = slope(y, number)
    return y


def second_derivative(f, x):
    result = torch.empty_like(x, requires_grad=False)
    for index in torch.cartesian_prod(*[torch.arange(n) for n in x.shape]).reshape(-1, x.dim()) if x.dim() and x.numel() else []:
        where = tuple(index.tolist())
        result[where] = nth_of_a_number(f, x[where], 2).detach()
    return nth_of_a_number(f, x, 2) if x.dim() == 0 else result


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("the order of a derivative is not negative")
    if x.numel() == 0:
        return x.detach().clone()
    return torch.stack([nth_of_a_number(f, number, n) for number in x.reshape(-1)]).reshape(x.shape)


def hessian(f, x):
    x = x.detach().clone().requires_grad_()
    gradient = slope(f(x), x)
    return torch.stack([torch.stack([slope(gradient[i], x)[j] for j in range(len(x))]) for i in range(len(x))])


def gradient_penalty(f, x):
    total = 0.0
    for row in x.detach().split(1):
        row = row.clone().requires_grad_()
        gradient = torch.autograd.grad(f(row).squeeze(), row, create_graph=True)[0]
        total = total + (gradient.pow(2).sum().sqrt() - 1) ** 2
    return total / x.shape[0]
