"""What has to be seen from inside for chain_rule. Runs beside the student's module; imports torch only."""

import contextlib

import torch
from torch.utils._python_dispatch import TorchDispatchMode


def traced(student, name, *args):
    """What a function returned; meanwhile, the nodes in which operators ran, the functions of torch.autograd called, dual tensors made."""
    nodes, calls, duals = set(), [], []

    class Trace(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls):
            return False  # else torch imports its compiler when this class is made, which takes seconds

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            node = torch._C._current_autograd_node()
            if node is not None:
                nodes.add(node.name().rpartition("::")[2])
            return function(*args, **(kwargs or {}))

    autograd = torch.autograd
    with (
        counted(autograd, "backward", calls),
        counted(autograd, "grad", calls),
        counted(autograd.forward_ad, "make_dual", duals),
        Trace(),
    ):
        result = getattr(student, name)(*args)
    return {"result": result, "nodes": sorted(nodes), "calls": calls, "duals": len(duals)}


def retained(student, *args):
    """How often shopping called retain_grad before its first backward began, and how often later; and what it raised."""
    order, raised = [], None
    with counted(torch.autograd, "backward", order), counted(torch.Tensor, "retain_grad", order):
        try:
            student.shopping(*args)
        except Exception as error:
            raised = type(error).__name__
    before = order.index("backward") if "backward" in order else len(order)
    return {"before": before, "after": order[before:].count("retain_grad"), "raised": raised}


@contextlib.contextmanager
def counted(owner, name, calls):
    """While this lasts, each call of the owner's function adds its name to calls."""
    own, function = name in vars(owner), getattr(owner, name)

    def counting(*args, **kwargs):
        calls.append(name)
        return function(*args, **kwargs)

    setattr(owner, name, counting)
    try:
        yield
    finally:
        if own:
            setattr(owner, name, function)
        else:
            delattr(owner, name)


def in_turn(student, name, first, second):
    """What a function returns for the first arguments, for the second, and for the first once more."""
    function = getattr(student, name)
    return [function(*first), function(*second), function(*first)]
