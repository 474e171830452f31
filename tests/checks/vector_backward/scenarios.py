"""What has to be seen from inside for vector_backward. Sent into the sandbox; imports torch,
warnings, and the walk for pictures.
"""

import warnings

import torch
from torch.overrides import TorchFunctionMode


def product(student, f, x, v, held=None):
    """What vjp returned for y = f(x); what x.grad, x, y and v are then, y as it was, and what one
    more differentiation gives.
    """
    y = f(x)
    earlier = kept(y)
    x.grad = held
    added = []
    x.register_post_accumulate_grad_hook(lambda t: added.append(1))
    result = kept(student.vjp(y, x, v))
    seen = {
        "result": result,
        "added": len(added),
        "grad": kept(x.grad),
        "x": kept(x),
        "still requires grad": x.requires_grad,
        "y": kept(y),
        "v": kept(v),
        "earlier": earlier,
    }
    return {**seen, "further": further(y, x)}


def derivatives(student, f, x, held):
    """What jacobian returned, and what x is afterwards."""
    x.grad = held
    got = kept(student.jacobian(f, x))
    return {"got": got, "x": kept(x), "still requires grad": x.requires_grad}


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
    return {
        "read": any("not a leaf Tensor" in str(warning.message) for warning in caught),
        "late": bool(late),
    }


def dots(student, x, a, b, held, times):
    """What broadcast_dot returned, and what its arguments were afterwards, call for call; x.grad is
    ``held`` before each.
    """
    seen = []
    for _ in range(times):
        x.grad = held
        seen.append(
            {
                "got": kept(student.broadcast_dot(x, a, b)),
                "arguments": {"x": kept(x), "a": kept(a), "b": kept(b)},
                "still requires grad": x.requires_grad,
            }
        )
    return seen


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


# ----------------------------------------------------------------------------------------- pictures


class Watch(TorchFunctionMode):
    """The first tensor that is differentiated while it is on, and how its graph was then; y is the
    one of certain numbers.
    """

    def __init__(self, x, numbers, y=None, end=""):
        super().__init__()
        self.x, self.numbers, self.y, self.end, self.root, self.before = (
            x,
            numbers,
            y,
            end,
            None,
            None,
        )

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Do what is asked for, and note it."""
        head = args[0] if args else None
        if function in (torch.autograd.grad, torch.Tensor.backward) and self.root is None:
            self.root = head if isinstance(head, torch.Tensor) else head[0]
            self.before = self.graph()
        result = function(*args, **(kwargs or {}))
        if (
            self.y is None
            and isinstance(result, torch.Tensor)
            and result.requires_grad
            and torch.equal(result.detach(), self.numbers)
        ):
            self.y = result
        return result

    def graph(self):
        """The graph behind that tensor, as it is now."""
        from grader.authoring import trace

        return trace(
            self.root, {"x": self.x, "y": self.y, **({self.end: self.root} if self.end else {})}
        )


def freed(student, name, x, *more):
    """The graph of the first tensor that a function differentiated, before and afterwards; whether
    the function met a freed graph.

    For vjp and jacobian that graph is f's, f being the first of ``more``.
    """
    if name == "broadcast_dot":
        (a, _), arguments = more, (x, *more)
        watch = Watch(x, x.detach() * a, end="z")
    else:
        f, *rest = more
        y = f(x)
        arguments = (y, x, *rest) if name == "vjp" else (f, x)
        watch = Watch(x, y.detach(), y if name == "vjp" else None)
    again = False
    with watch:
        try:
            getattr(student, name)(*arguments)
        except Exception as error:
            again = "second time" in str(error)
    if watch.root is None:
        return None
    return {"before": watch.before, "after": watch.graph(), "again": again}
