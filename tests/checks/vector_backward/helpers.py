"""vector_backward, what its visible and hidden checks share."""

import torch

from grader.checks import assert_tensor, fail, type_name
from grader.wire.program import program

WRONG_PRODUCT = "not the product of v with the Jacobian of y"
WRONG_JACOBIAN = "not the Jacobian of f"
WRONG_Z = "z is not (x * a) @ b"
WRONG_DX = "dz/dx is wrong"
WRONG_DY = "dz/dy is wrong"

MAPS = [
    "(W @ x).sin() * {a} + (W @ x) ** 2 * {b}",
    "(W @ x).exp() * {a} + (W @ x ** 3) * {b}",
    "(W @ x ** 2) ** 2 * {a} + (W @ x) * {b}",
    "(W @ x).tanh() * {a} + (W @ x.exp()) * {b}",
]


class Formula:
    """A function of x as text, for messages, and as the program that it says; ``shown`` where torch writes it otherwise."""

    def __init__(self, text, shown=None, **parameters):
        self.text = shown or text
        names = ", ".join(["x", *parameters])
        self.program = program(eval(f"lambda {names}: {text}"), parameters=list(parameters.values()))

    def __str__(self):
        return self.text


def drawn_map(draw, rows, columns):
    """A function from vectors of ``columns`` elements to vectors of ``rows``, and its matrix."""
    a, b = draw.coefficients(2)
    w = draw.tensor(rows, columns, low=-1.0, high=1.0)
    return Formula(draw.choice(MAPS).format(a=a, b=b), W=w), w


def assert_dot(got, x, a, b, **facts):
    """The tuple that broadcast_dot returns must hold the value and the two gradients of (x * a) @ b."""
    leaf = x.detach().requires_grad_()
    y = leaf * a
    z = y @ b
    want = (z.detach(), *torch.autograd.grad(z, (leaf, y)))
    held = {"x.grad before": facts["held"]} if "held" in facts else {}
    details = {"inputs": {"x": x, "a": a, "b": b, **held}, "facts": {**facts, "got": got, "want": want, "type": type_name(got)}}
    if not isinstance(got, tuple):
        fail("{type} came back where a tuple of three Tensors is promised", expected=want, actual=got, **details)
    if len(got) != 3:
        details["facts"]["count"] = len(got)
        fail("the tuple should hold three Tensors and holds {count}", expected=want, actual=got, **details)
    for name, mine, right, message in zip(("z", "dz/dx", "dz/dy"), got, want, (WRONG_Z, WRONG_DX, WRONG_DY), strict=True):
        details["facts"] |= {"name": name, "type": type_name(mine)}
        if not isinstance(mine, torch.Tensor):
            fail("{name} is of type {type}, a Tensor is promised", expected=right, actual=mine, **details)
        if mine.shape != right.shape:
            details["facts"] |= {"shape": str(tuple(mine.shape)), "expected_shape": str(tuple(right.shape))}
            fail("{name} has the shape {shape}, expected {expected_shape}", expected=right, actual=mine, **details)
        assert_tensor(mine, right, message, **details)
