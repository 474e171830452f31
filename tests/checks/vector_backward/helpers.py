"""vector_backward, what its visible and hidden checks share."""

from functools import partial

import torch

from grader.authoring import (
    assert_tensor,
    drawing,
    fail,
    fetch,
    graphs_figure,
    program,
    short_repr,
    trace,
    type_name,
)

WRONG_PRODUCT = "the result is not v^T J"
WRONG_JACOBIAN = "the result is not the Jacobian of f at x"
WRONG_Z = "z is not (x * a) @ b"
WRONG_DX = "dz/dx is wrong"
WRONG_DY = "dz/dy is wrong"

MAP = "(W @ x).sin() * {a} + (W @ x ** 2) * {b}"

ROUGH = {"rtol": 1e-3, "atol": 1e-3}
"""Room for computations in float32. Precision has checks of its own, on which no other waits."""
EXACT = {"rtol": 1e-9, "atol": 1e-9}


class Formula:
    """A function of x as text, for messages, and as the program that it says; ``shown`` where torch
    writes it otherwise.
    """

    def __init__(self, text, shown=None, **parameters):
        self.text = shown or text
        self.parameters = parameters
        names = ", ".join(["x", *parameters])
        self.program = program(
            eval(f"lambda {names}: {text}"), parameters=list(parameters.values())
        )

    def __str__(self):
        return self.text


def drawn_map(draw, rows, columns):
    """A function from vectors of ``columns`` elements to vectors of ``rows``, and its matrix."""
    a, b = draw.coefficients(2)
    w = draw.tensor(rows, columns, low=-1.0, high=1.0)
    return Formula(MAP.format(a=a, b=b), W=w), w


def both_signs(draw, count):
    """``count`` numbers, positive and negative in turn."""
    numbers = draw.tensor(count, low=0.3)
    numbers[1::2] *= -1
    return numbers


def like(actual, expected, *, shape=False):
    """What came back in the floating dtype of ``expected``, and where only ``shape`` differs, in
    its shape, for checks that are about neither.
    """
    actual = fetch(actual)
    if not isinstance(actual, torch.Tensor) or not actual.is_floating_point():
        return actual
    fits = shape and actual.numel() == expected.numel()
    return (actual.reshape(expected.shape) if fits else actual).to(expected.dtype)


def assert_dot(got, x, a, b, *, exact=False, **facts):
    """The tuple that broadcast_dot returns must hold the value and the two gradients of (x * a) @
    b; ``exact``: with all their digits, in x's dtype, each in the right shape.
    """
    leaf = x.detach().requires_grad_()
    y = leaf * a
    z = y @ b
    want = (z.detach(), *torch.autograd.grad(z, (leaf, y)))
    held = {"x.grad before": facts["held"]} if "held" in facts else {}
    details = {
        "inputs": {"x": x, "a": a, "b": b, **held},
        "facts": {**facts, "got": got, "want": want, "type": type_name(got)},
    }
    if not isinstance(got, tuple if exact else (tuple, list)):
        fail(
            "broadcast_dot returned {type}, expected a tuple of three tensors",
            expected=want,
            actual=got,
            **details,
        )
    if len(got) != 3:
        details["facts"]["count"] = len(got)
        fail(
            "the tuple holds {count} values, expected three tensors",
            expected=want,
            actual=got,
            **details,
        )
    for name, mine, right, message in zip(
        ("z", "dz/dx", "dz/dy"), got, want, (WRONG_Z, WRONG_DX, WRONG_DY), strict=True
    ):
        details["facts"] |= {"name": name, "type": type_name(mine)}
        mine = mine if exact else like(mine, right, shape=True)
        details["figures"] = [partial(dot_figure, x, a, b, at=name.removeprefix("dz/d"))]
        if not isinstance(mine, torch.Tensor):
            fail(
                "{name} is of type {type}, expected a tensor",
                expected=right,
                actual=mine,
                **details,
            )
        if mine.shape != right.shape:
            details["facts"] |= {
                "shape": str(tuple(mine.shape)),
                "expected_shape": str(tuple(right.shape)),
            }
            fail(
                "{name} has the shape {shape}, expected {expected_shape}",
                expected=right,
                actual=mine,
                **details,
            )
        tolerances = EXACT if exact and x.dtype is torch.float64 else ROUGH
        assert_tensor(mine, right, message, **tolerances, **details)


# ----------------------------------------------------------------------------------------- pictures


def dot_figure(x, a, b, at):
    """The graph of z = y @ b with y = x * a, what comes back to x and y, and one of the three
    marked.
    """
    x = x.detach().clone().requires_grad_()
    y = x * a
    z = y @ b
    gradients = torch.autograd.grad(z, (y, x), retain_graph=True)
    notes = {
        name: f"∂z/∂{name} = {short_repr(grad)}" for name, grad in zip("yx", gradients, strict=True)
    }
    return graphs_figure(None, trace(z, {"x": x, "y": y, "z": z}), notes=({}, notes), at=at)


def without_x(f, x):
    """The graph of an f(x) that x is not in."""
    y = f.program(x)
    return graphs_figure(None, trace(y, {"x": x, **f.parameters, "f(x)": y}), at="f(x)")


def drawn_freed(student, name, x, *more):
    """A block that asks ``name``: one that ends because a graph was freed shows that graph, beside
    it as it was before.
    """
    return drawing(partial(freed, student, name, x, *more, met=True))


def freed(student, name, x, *more, met=False):
    """The graph that ``name`` differentiated as it leaves it, beside it as it was; ``met``: only
    where it met a freed graph itself.
    """
    seen = student.observe("freed", name, x, *more)
    if seen is None or (met and not seen["again"]):
        return None
    return graphs_figure(seen["after"], seen["before"])
