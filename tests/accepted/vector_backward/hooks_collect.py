"""Hooks that take the gradients as they come by; what backward adds to x.grad is taken away again."""

from torch import Tensor


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
