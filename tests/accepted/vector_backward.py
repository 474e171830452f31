"""vector_backward: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% all_rows_at_once
# All one-hot vectors in one pass; a product that can be differentiated once more.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad(outputs=[y], inputs=[x], grad_outputs=[v], create_graph=True)[0]


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    shape = (*y.shape, *x.shape)
    if not y.requires_grad:
        return torch.zeros(shape, dtype=x.dtype)
    units = torch.eye(y.numel(), dtype=y.dtype).reshape(y.numel(), *y.shape)
    (rows,) = torch.autograd.grad(y, x, units, is_grads_batched=True, allow_unused=True)
    return torch.zeros(shape, dtype=x.dtype) if rows is None else rows.reshape(shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = torch.mul(x, a)
    z = torch.dot(y, b)
    (dz_dy,) = torch.autograd.grad(z, y, retain_graph=True)
    (dz_dx,) = torch.autograd.grad(z, x)
    return z, dz_dx, dz_dy


def complex_derivative(g, z: Tensor) -> Tensor:
    return torch.func.jvp(g, (z.detach(),), (torch.ones_like(z.detach()),))[1]


# %% backward_and_put_back
# backward with x.grad swapped out for a while; y.retain_grad().
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    before, x.grad = x.grad, None
    y.backward(v, retain_graph=True)
    gradient, x.grad = x.grad, before
    return gradient


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for k in range(y.numel()):
        x.grad = None
        if y.requires_grad:
            y.flatten()[k].backward(retain_graph=True)
        rows.append(torch.zeros_like(x) if x.grad is None else x.grad.clone())
    return torch.stack(rows).view(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    x.grad = None
    y = x * a
    y.retain_grad()
    z = y @ b
    z.backward()
    return z, x.grad, y.grad


def complex_derivative(g, z: Tensor) -> Tensor:
    z.grad = None
    g(z).real.sum().backward()
    return torch.complex(z.grad.real, -z.grad.imag)


# %% classes_and_hooks
# A class for the product, a leaf of its own for the Jacobian, hooks for the last.
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


# %% columns_by_double_backward
# v^T J is linear in v, so its derivative with respect to v gives J column by column; positional
# arguments.
def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    if not y.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    v = torch.zeros_like(y, requires_grad=True)
    (product,) = torch.autograd.grad(y, x, v, create_graph=True, allow_unused=True)
    if product is None or not product.requires_grad:
        return torch.zeros(y.shape + x.shape, dtype=x.dtype)
    columns = [
        torch.autograd.grad(element, v, retain_graph=True)[0] for element in product.flatten()
    ]
    return (
        torch.stack(columns, dim=-1).reshape(y.shape + x.shape)
        if columns
        else torch.zeros(y.shape + x.shape, dtype=x.dtype)
    )


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad([y], [x], [v], True)[0]


# %% element_by_element
# One gradient for each element, weighed and added up; f is run again for each row.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    total = torch.zeros_like(x)
    for weight, element in zip(v.flatten(), y.flatten(), strict=True):
        total = total + weight * torch.autograd.grad(element, x, retain_graph=True)[0]
    return total


def jacobian(f, x: Tensor) -> Tensor:
    shape = f(x).shape
    rows = []
    for k in range(shape.numel()):
        try:
            (row,) = torch.autograd.grad(f(x).reshape(-1)[k], x)
        except RuntimeError:
            row = torch.zeros_like(x)
        rows.append(row)
    return torch.cat([row.reshape(-1) for row in rows]).reshape(shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = torch.stack([x * factor for factor in a]) if len(a) else x * a
    z = sum((left * right for left, right in zip(y, b, strict=True)), x * 0)
    dz_dx, dz_dy = torch.autograd.grad(z, (x, y), allow_unused=True)
    return z, dz_dx, torch.zeros_like(y) if dz_dy is None else dz_dy


# %% hooks_collect
# Hooks that take the gradients as they come by; what backward adds to x.grad is taken away again.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    found = []
    handle = x.register_hook(found.append)
    before = None if x.grad is None else x.grad.clone()
    y.backward(v, retain_graph=True)
    handle.remove()
    x.grad = before
    return found[0].clone()


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    found = {}
    y = x * a
    y.register_hook(lambda grad: found.update(y=grad))
    handle = x.register_hook(lambda grad: found.update(x=grad.clone()))
    z = y @ b
    z.backward()
    handle.remove()
    return z, found["x"], found["y"]


# %% leaves_of_its_own
# Fresh leaves, so that the caller's .grad is nobody's concern; y made a leaf too, and the chain
# rule in two steps.
def jacobian(f, x: Tensor) -> Tensor:
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    matrix = torch.zeros(y.numel(), x.numel(), dtype=x.dtype)
    for k in range(y.numel()):
        leaf.grad = None
        if y.requires_grad:
            y.reshape(-1)[k].backward(retain_graph=True)
        if leaf.grad is not None:
            matrix[k] = leaf.grad.reshape(-1)
    return matrix.reshape(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    leaf = x.detach().clone().requires_grad_(True)
    y = leaf * a
    w = y.detach().requires_grad_(True)
    z = w @ b
    z.backward()
    y.backward(w.grad)
    return z, leaf.grad, w.grad


# %% named_tuple
# A named tuple is a tuple; the product with v goes through an einsum; jacobian by this file's own
# vjp.
from typing import NamedTuple


class Dot(NamedTuple):
    value: Tensor
    at_x: Tensor
    at_y: Tensor


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    scalar = torch.einsum("i,i->", y.reshape(-1), v.reshape(-1))
    return torch.autograd.grad(scalar, x, retain_graph=True)[0]


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x) + 0 * x.sum()
    units = torch.eye(y.numel(), dtype=y.dtype)
    return torch.stack([vjp(y, x, unit.reshape(y.shape)) for unit in units]).reshape(
        y.shape + x.shape
    )


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y.dot(b)
    return Dot(z, vjp(z, x, torch.ones_like(z)), vjp(z, y, torch.ones_like(z)))


# %% one_scalar
# v^T J as the gradient of one scalar, y * v summed up; the Jacobian by the function that torch
# has for it.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return torch.autograd.grad((y * v).sum(), x, retain_graph=True)[0]


def jacobian(f, x: Tensor) -> Tensor:
    return torch.autograd.functional.jacobian(f, x)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = a * x
    z = (y * b).sum()
    return z.detach(), *torch.autograd.grad(z, [x, y])


# %% through_lists
# Numbers out to Python lists and back into tensors of the right dtype.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    rows = [
        torch.autograd.grad(element, x, retain_graph=True)[0].reshape(-1)
        for element in y.reshape(-1)
    ]
    if not rows:
        return torch.zeros_like(x)
    return (v.reshape(-1) @ torch.stack(rows)).reshape(x.shape)


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = []
    for element in y.flatten():
        row = None
        if element.requires_grad:
            (row,) = torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)
        rows.append([0.0] * x.numel() if row is None else row.flatten().tolist())
    return torch.tensor(rows, dtype=x.dtype).reshape(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    z = y @ b
    dz_dy = torch.tensor(b.tolist(), dtype=b.dtype)
    dz_dx = torch.tensor(
        sum(p * q for p, q in zip(a.tolist(), b.tolist(), strict=True)), dtype=x.dtype
    )
    return (z, dz_dx, dz_dy)


# %% worked_out_by_hand
# The gradients of the dot product as formulas; the Jacobian from torch.autograd.functional.vjp.
def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    return (x * a) @ b, a @ b, b


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x).detach()
    result = torch.zeros(y.shape + x.shape, dtype=x.dtype)
    rows = result.view(y.numel(), *x.shape)
    for k in range(y.numel()):
        unit = torch.zeros(y.numel(), dtype=y.dtype)
        unit[k] = 1
        rows[k] = torch.autograd.functional.vjp(f, x, unit.view(y.shape))[1]
    return result


# %% gradient_set_aside
# A context manager puts x.grad aside; backward is given inputs; the chain rule through vjp.
import contextlib


@contextlib.contextmanager
def without_grad(x):
    held, x.grad = x.grad, None
    try:
        yield
    finally:
        x.grad = held


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    with without_grad(x):
        y.backward(v, retain_graph=True, inputs=[x])
        return x.grad


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    y = x * a
    cut = y.detach().requires_grad_()
    z = cut @ b
    (dz_dy,) = torch.autograd.grad(z, cut)
    return z, vjp(y, x, dz_dy), dz_dy


# %% rows_by_index
# Each element of y by its index in all dimensions; broadcast_dot under no_grad.
from itertools import product


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    result = torch.zeros(y.shape + x.shape, dtype=y.dtype)
    if y.requires_grad:
        for index in product(*map(range, y.shape)):
            v = torch.zeros_like(y)
            v[index] = 1
            result[index] = torch.autograd.grad(y, x, v, retain_graph=True, materialize_grads=True)[
                0
            ]
    return result


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    with torch.no_grad():
        return x * a @ b, (a * b).sum(), b.clone()


# %% rows_in_numpy
# An object with @ of its own; rows in a NumPy array; a hook for dz/dy.
import numpy as np


class Linearized:
    def __init__(self, y, x):
        self.y, self.x = y, x

    def __rmatmul__(self, v):
        if not self.y.requires_grad:
            return torch.zeros_like(self.x)
        (product,) = torch.autograd.grad(self.y, self.x, v, retain_graph=True, allow_unused=True)
        return torch.zeros_like(self.x) if product is None else product


def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    return Linearized(y, x).__rmatmul__(v)


def jacobian(f, x: Tensor) -> Tensor:
    y = f(x)
    rows = np.empty((y.numel(), x.numel()), dtype=x.detach().numpy().dtype)
    for k in range(y.numel()):
        v = torch.zeros(y.numel(), dtype=y.dtype)
        v[k] = 1
        rows[k] = vjp(y, x, v.reshape(y.shape)).detach().reshape(-1).numpy()
    return torch.from_numpy(rows).reshape(y.shape + x.shape)


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    arrived = []
    y = x * a
    y.register_hook(arrived.append)
    z = torch.matmul(y, b)
    (dz_dx,) = torch.autograd.grad(z, [x])
    return z, dz_dx, arrived[0]


# %% weighted_sum_and_expand
# v^T J from a weighted sum; a pass that ends at y, and the rest by hand.
def vjp(y, x, v):
    (gradient,) = torch.autograd.grad((y * v).sum(), x, retain_graph=True)
    return gradient


def broadcast_dot(x, a, b):
    y = x.expand(a.shape) * a
    y.retain_grad()
    z = torch.dot(y, b)
    z.backward(inputs=[y])
    return z, (y.grad * a).sum(), y.grad


# %% product_of_vectors_first
# z from dz/dx, and views of the arguments as results.
def vjp(y, x, v):
    return torch.autograd.grad(y, x, grad_outputs=v, retain_graph=True)[0].view_as(x)


def broadcast_dot(x, a, b):
    slope = torch.dot(a, b)
    return slope * x, slope, b.view_as(a)


# %% difference_of_grads
# The gradient is what a backward pass added to x.grad.
def vjp(y: Tensor, x: Tensor, v: Tensor) -> Tensor:
    before = x.grad
    if before is not None:
        before = before.clone()
    y.backward(v, retain_graph=True)
    gradient = x.grad.clone() if before is None else x.grad - before
    x.grad = before
    return gradient


def broadcast_dot(x: Tensor, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    before = 0 if x.grad is None else x.grad.clone()
    y = x * a
    y.retain_grad()
    z = y @ b
    z.backward()
    return z, x.grad - before, y.grad
