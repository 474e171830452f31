"""What has to be seen from inside for vector_backward. Sent into the sandbox; imports torch only."""

import torch


def product(student, f, x, v, held=None):
    """What vjp returned for y = f(x); what x.grad, x, y and v are then, y as it was, and what one more differentiation gives."""
    y = f(x)
    earlier = kept(y)
    x.grad = held
    result = kept(student.vjp(y, x, v))
    seen = {"result": result, "grad": kept(x.grad), "x": kept(x), "y": kept(y), "v": kept(v), "earlier": earlier}
    return {**seen, "further": further(y, x)}


def derivatives(student, f, x, held):
    """What jacobian returned."""
    x.grad = held
    return kept(student.jacobian(f, x))


def dots(student, x, a, b, held, times):
    """What x.grad held before broadcast_dot and what that returned, call for call."""
    x.grad = held
    return [{"held": kept(x.grad), "got": kept(student.broadcast_dot(x, a, b))} for _ in range(times)]


def further(y, x):
    """What one more differentiation gives: the gradient, or the text of the error."""
    try:
        (grad,) = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    except RuntimeError as error:
        return str(error)
    return grad


def kept(value):
    """A copy that later writes leave alone."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, tuple):
        return tuple(kept(item) for item in value)
    if isinstance(value, list):
        return [kept(item) for item in value]
    return value
