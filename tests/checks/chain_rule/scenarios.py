"""What has to be seen from inside for chain_rule. Runs beside the student's module; imports torch,
and the engine's walk for pictures.
"""

import contextlib
import copy
import warnings

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode


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
    """How often shopping called retain_grad before its first backward and later; if it read a .grad
    that is not kept; what it raised.
    """
    order, raised = [], None
    listening = warnings.catch_warnings(record=True)
    with (
        counted(torch.autograd, "backward", order),
        counted(torch.Tensor, "retain_grad", order),
        listening as caught,
    ):
        warnings.filterwarnings("always", append=True)
        try:
            student.shopping(*args)
        except Exception as error:
            raised = type(error).__name__
    before = order.index("backward") if "backward" in order else len(order)
    read = any("not a leaf Tensor" in str(warning.message) for warning in caught)
    return {
        "before": before,
        "after": order[before:].count("retain_grad"),
        "read": read,
        "raised": raised,
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


def in_turn(student, name, *calls):
    """What a function returns for each tuple of arguments, and for the first once more."""
    function = getattr(student, name)
    return [copy.copy(function(*args)) for args in (*calls, calls[0])]


def doubled(student, name, *args):
    """What a function returns while each backward pass begins with twice its gradient; None if it
    raised.
    """
    run = torch.autograd._engine_run_backward

    def twice(roots, gradients, *rest, **options):
        begin = tuple(one if one is None else 2 * one for one in gradients)
        return run(roots, begin, *rest, **options)

    torch.autograd._engine_run_backward = twice
    try:
        return getattr(student, name)(*args)
    except Exception:
        return None
    finally:
        torch.autograd._engine_run_backward = run


def kept(student, name, *inputs):
    """Of copies of the inputs that require grad, and of copies that do not, whether they do once a
    function was called with them, and their shapes.
    """
    found = []
    for wanted in (True, False):
        copies = [one.detach().clone().requires_grad_(wanted) for one in inputs]
        getattr(student, name)(*copies)
        found.append([[one.requires_grad, list(one.shape)] for one in copies])
    return found


# ----------------------------------------------------------------------------------------- pictures


MOST_NUMBERS, MOST_GRAPHS = 1000, 9


class Watch(TorchFunctionMode):
    """Every single number that torch meets while it is on, and the graph behind each tensor that is
    differentiated, just before it is.
    """

    def __init__(self, numbers):
        super().__init__()
        self.numbers, self.met, self.graphs = numbers, {}, []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Do what is asked for, and note it."""
        head = args[0] if args else None
        if (
            function in (torch.autograd.grad, torch.Tensor.backward)
            and len(self.graphs) < MOST_GRAPHS
        ):
            self.graphs.append(self.graph(head if isinstance(head, torch.Tensor) else head[0]))
        result = function(*args, **(kwargs or {}))
        if len(self.met) < MOST_NUMBERS:
            self.met |= {
                id(one): one
                for one in (*args, result)
                if isinstance(one, torch.Tensor) and one.numel() == 1
            }
        return result

    def graph(self, root):
        """The graph behind a tensor, in which each number has the name that it goes by."""
        from grader.authoring import trace

        known = {
            f"{name}@{key}": one
            for key, one in self.met.items()
            if (name := self.name_of(one.item()))
        }
        data = trace(root, known, limit=60)
        for node in data["nodes"]:
            node["name"] = ", ".join(
                dict.fromkeys(label.partition("@")[0] for label in node["name"].split(", "))
            )
        return data

    def name_of(self, number):
        """What a number is called; None for one that is none of them."""
        return next(
            (
                name
                for name, known in self.numbers.items()
                if abs(number - known) <= 1e-5 * abs(known)
            ),
            None,
        )


def graphs(student, name, args, numbers):
    """The graphs of what a function differentiated, its tensors named by their numbers; whether it
    raised, or has a gradient of None.
    """
    result, raised = None, False
    with Watch(numbers) as watch:
        try:
            result = getattr(student, name)(*args)
        except Exception:
            raised = True
    gradients = (
        list(result.values())
        if isinstance(result, dict)
        else list(result)
        if isinstance(result, (list, tuple))
        else []
    )
    return {"graphs": watch.graphs, "none": raised or any(one is None for one in gradients)}
