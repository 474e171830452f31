"""What has to be seen from inside for vector_backward. Runs beside the student's module."""

import warnings

import torch
from torch.overrides import TorchFunctionMode

from grader.worker.scenarios import Watch, copied


def product(student, f, x, v, held=None):
    """What vjp returned for y = f(x); what x.grad, x, y and v are then, y as it was, and what one
    more differentiation gives: the gradient, or the text of the error.
    """
    y = f(x)
    earlier = copied(y)
    x.grad = held
    added = []
    x.register_post_accumulate_grad_hook(lambda t: added.append(1))
    result = copied(student.vjp(y, x, v))
    seen = {"result": result, "added": len(added), "grad": copied(x.grad), "earlier": earlier}
    seen |= {"x": copied(x), "y": copied(y), "v": copied(v), "x.requires_grad": x.requires_grad}
    try:
        (further,) = torch.autograd.grad(y, x, torch.ones_like(y), retain_graph=True)
    except RuntimeError as error:
        further = str(error)
    return {**seen, "further": further}


def derivatives(student, f, x, held, name="jacobian"):
    """What jacobian, or another function, returned, and what x is afterwards."""
    x.grad = held
    got = copied(getattr(student, name)(f, x))
    return {"got": got, "x": copied(x), "x.requires_grad": x.requires_grad}


def dots(student, x, a, b, held, times):
    """What broadcast_dot returned, and what its arguments were afterwards, call for call; x.grad is
    ``held`` before each.
    """
    seen = []
    for _ in range(times):
        x.grad = held
        got = copied(student.broadcast_dot(x, a, b))
        after = {"x": copied(x), "a": copied(a), "b": copied(b), "x.requires_grad": x.requires_grad}
        seen.append({"got": got, **after})
    return seen


def arrivals(student, f, x):
    """How many gradients arrived at what jacobian gave to f, and how many of them were added to a
    .grad.
    """
    arrived, added = [], []

    def watched(given):
        if given.requires_grad:
            given.register_hook(lambda grad: arrived.append(1))
        if given.requires_grad and given.is_leaf:
            given.register_post_accumulate_grad_hook(lambda t: added.append(1))
        return f(given)

    student.jacobian(watched, x)
    return {"arrived": len(arrived), "added": len(added)}


def sought(student, x, a, b):
    """Whether broadcast_dot read the .grad of a tensor that keeps none, and whether it called
    retain_grad after a pass.
    """
    passes, late = [], []
    x.register_hook(lambda grad: passes.append(1))

    class Listen(TorchFunctionMode):
        def __torch_function__(self, function, types, args=(), kwargs=None):
            if function is torch.Tensor.retain_grad and passes:
                late.append(1)
            return function(*args, **(kwargs or {}))

    with warnings.catch_warnings(record=True) as caught, Listen():
        warnings.filterwarnings("always", append=True)
        student.broadcast_dot(x, a, b)
    read = any("not a leaf Tensor" in str(warning.message) for warning in caught)
    return {"read": read, "late": bool(late)}


def freed(student, name, x, *more):
    """The graph of the first tensor that a function differentiated, before and afterwards; whether
    the function met a freed graph.

    For vjp and jacobian that graph is f's, f being the first of ``more``.
    """
    from grader.authoring import trace

    known, roots, before = {"x": x}, [], []
    if name == "broadcast_dot":
        numbers, arguments = x.detach() * more[0], (x, *more)
    else:
        f, *rest = more
        y = f(x)
        numbers, arguments = y.detach(), (y, x, *rest) if name == "vjp" else (f, x)
        known |= {"y": y} if name == "vjp" else {}

    def graph():
        ends = {"z": roots[0]} if name == "broadcast_dot" else {}
        return trace(roots[0], {**known, **ends})

    def ahead(root):
        if not roots:
            roots.append(root)
            before.append(graph())

    def after(args, result):
        in_graph = isinstance(result, torch.Tensor) and result.requires_grad
        if in_graph and torch.equal(result.detach(), numbers):
            known.setdefault("y", result)

    again = False
    with Watch(ahead, after):
        try:
            getattr(student, name)(*arguments)
        except Exception as error:
            again = "second time" in str(error)
    return {"before": before[0], "after": graph(), "again": again} if roots else None
