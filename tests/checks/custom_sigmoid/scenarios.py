"""What has to be seen from inside for custom_sigmoid. Sent into the sandbox; imports torch only."""

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def node_of(student, x):
    """The node behind sigmoid(x): its type's name, whether it is a Function's, how many tensors it saved, and how many it stashed."""
    y = student.sigmoid(x)
    node = y.grad_fn
    stashed = [value for value in vars(node).values() if isinstance(value, torch.Tensor)] if hasattr(node, "__dict__") else []
    saved = getattr(node, "saved_tensors", ())
    return {"node": type(node).__name__, "leads_to_x": edges_to(node, x), "saved": len(saved), "stashed": len(stashed)}


def edges_to(node, x):
    """How many of the node's edges end in the leaf x."""
    return sum(getattr(parent, "variable", None) is x for parent, _ in getattr(node, "next_functions", ()))


def operators(student, x):
    """The names of the operators that run during forward and backward."""
    seen = []

    class Trace(TorchDispatchMode):
        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            seen.append(function.overloadpacket.__name__)
            return function(*args, **(kwargs or {}))

    with Trace():
        y = student.sigmoid(x)
        y.backward(torch.ones_like(y))
    return sorted(set(seen))
