"""What has to be seen from inside for chain_rule. Runs beside the student's module."""

import contextlib
import warnings

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from grader.worker.scenarios import Watch


def traced(student, name, *args):
    """What a function returned; meanwhile, the nodes in which operators ran, the functions of
    torch.autograd called, how many backward passes its engine ran, and whether anything ran in
    forward mode.

    The engine's passes are counted because nodes are seen in this thread alone, and a function may
    have been bound to a name before, as ``from torch.autograd import grad`` does.
    """
    nodes, calls, passes, duals = set(), [], [], []

    class Trace(TorchDispatchMode):
        @classmethod
        def _should_skip_dynamo(cls):
            # else torch imports its compiler when this class is made, which takes seconds
            return False

        def __torch_dispatch__(self, function, types, args=(), kwargs=None):
            node = torch._C._current_autograd_node()
            if node is not None:
                nodes.add(node.name().rpartition("::")[2])
            if torch.autograd.forward_ad._current_level >= 0:
                duals.append(function)
            return function(*args, **(kwargs or {}))

    autograd = torch.autograd
    with (
        counted(autograd, "backward", calls),
        counted(autograd, "grad", calls),
        counted(autograd, "_engine_run_backward", passes),
        counted(autograd.forward_ad, "make_dual", duals),
        Trace(),
    ):
        result = getattr(student, name)(*args)
    return {
        "result": result,
        "nodes": sorted(nodes),
        "calls": calls,
        "passes": len(passes),
        "forward": bool(duals),
    }


def retained(student, *args):
    """How often shopping called retain_grad before its first backward and later; whether it read a
    .grad that is not kept.
    """
    order = []
    with (
        counted(torch.autograd, "backward", order),
        counted(torch.Tensor, "retain_grad", order),
        contextlib.suppress(Exception),
        warnings.catch_warnings(record=True) as caught,
    ):
        warnings.filterwarnings("always", append=True)
        student.shopping(*args)
    before = order.index("backward") if "backward" in order else len(order)
    return {
        "before": before,
        "after": order[before:].count("retain_grad"),
        "read": any("not a leaf Tensor" in str(warning.message) for warning in caught),
    }


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


# ----------------------------------------------------------------------------------------- pictures


def graphs(student, name, args, numbers):
    """The graphs of what a function differentiated, just before it did, in which each tensor of one
    number has its name among ``numbers``; whether the function raised, or a gradient is None.
    """
    from grader.authoring import trace

    met, found, result = {}, [], None

    def name_of(number):
        near = [name for name, one in numbers.items() if abs(number - one) <= 1e-5 * abs(one)]
        return near[0] if near else None

    def ahead(root):
        if len(found) < 9:
            named = [(name_of(one.item()), one) for one in met.values()]
            known = {f"{name}@{k}": one for k, (name, one) in enumerate(named) if name}
            data = trace(root, known, limit=60)
            for node in data["nodes"]:
                labels = [label.partition("@")[0] for label in node["name"].split(", ")]
                node["name"] = ", ".join(dict.fromkeys(labels))
            found.append(data)

    def after(args, result):
        for one in (*args, result):
            if isinstance(one, torch.Tensor) and one.numel() == 1 and len(met) < 1000:
                met[id(one)] = one

    with Watch(ahead, after):
        try:
            result = getattr(student, name)(*args)
        except Exception:
            return {"graphs": found, "none": True}
    gradients = result.values() if isinstance(result, dict) else result
    is_list = isinstance(result, (dict, list, tuple))
    return {"graphs": found, "none": is_list and any(one is None for one in gradients)}
