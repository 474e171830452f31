"""0 * x is added to f, so that there is always a path to x."""

import torch


def D(f):
    """the derivative of an elementwise function, as a function"""

    def df(x):
        y = f(x) + 0 * x
        return torch.autograd.grad(y.sum(), x, create_graph=True)[0]

    return df


def second_derivative(f, x):
    z = x.clone().detach().requires_grad_(True)
    return D(D(f))(z)


def nth_derivative(f, x, n):
    if n < 0:
        raise ValueError("음수 차수는 없습니다")
    z = x.clone().detach().requires_grad_(True)
    g = f
    for _ in range(n):
        g = D(g)
    return g(z)


def hessian(f, x):
    z = x.clone().detach().requires_grad_(True)
    g = D(f)(z) if False else torch.autograd.grad(f(z) + 0 * (z * z).sum(), z, create_graph=True)[0]
    rows = [torch.autograd.grad(g[i], z, retain_graph=True)[0] for i in range(z.shape[0])]
    return torch.stack(rows, dim=0)


def gradient_penalty(f, x):
    z = x.clone().detach().requires_grad_(True)
    out = f(z).reshape(-1)
    g = torch.autograd.grad(out, z, grad_outputs=torch.ones_like(out), create_graph=True, retain_graph=True)[0]
    norms = g.pow(2).sum(1).sqrt()
    return (norms - 1).pow(2).mean()
