"""A class for the product, a leaf of its own for the Jacobian, hooks for the last."""

import torch


class Product:
    def __init__(self, y, x):
        self.y, self.x = y, x

    def __call__(self, v):
        return torch.autograd.grad(self.y, self.x, v, retain_graph=True)[0]


def vjp(y, x, v, *, product=Product):
    return product(y, x)(v)


def jacobian(f, x):
    with torch.enable_grad():
        w = x.detach().clone().requires_grad_()
        y = f(w)
    rows = []
    old = w.grad
    for i in range(y.numel()):
        w.grad = None
        if y.requires_grad:
            y.flatten()[i].backward(retain_graph=True, inputs=[w])
        rows.append(torch.zeros_like(w) if w.grad is None else w.grad.clone())
    return torch.stack(rows).view(y.shape + x.shape)


def broadcast_dot(x, a, b):
    got = {}
    y = x * a
    h = y.register_hook(lambda g: got.update(y=g.clone()))
    h2 = x.register_hook(lambda g: got.update(x=g.clone()))
    z = (y * b).sum()
    z.backward()
    h.remove()
    h2.remove()
    return z, got["x"], got["y"]
