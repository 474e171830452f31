"""What only the worker can observe in second_derivative."""

import torch
from torch.overrides import TorchFunctionMode

from grader.worker.scenarios import callers


def afterwards(student, name, f, start, held, parameters, factor, *more):
    """What comes back for an x that is start or, with a factor, was computed from it. What x is
    then, and what .grad of start and of f's parameters hold, where ``held`` and ones were before.
    """
    start.grad = held
    for parameter in parameters.values():
        parameter.grad = torch.ones_like(parameter)
    x = start if factor is None else start * factor
    node = x.grad_fn
    result = getattr(student, name)(f, x, *more)
    return {
        "result": result,
        "x": x.detach(),
        "requires_grad": x.requires_grad,
        "in_its_graph": x.grad_fn is node,
        "grad": start.grad,
        "inside": {at: parameter.grad for at, parameter in parameters.items()},
    }


def tools_around(student, name, f, x, *more):
    """Which of torch's tools that differentiate a function were on the stack while f was called."""
    tools = {
        "torch.autograd.functional": "torch.autograd.functional",
        "torch._functorch.eager_transforms": "torch.func",
    }
    met = set()

    def watched(at):
        met.update(callers())
        return f(at)

    getattr(student, name)(watched, x, *more)
    return ", ".join(shown for module, shown in tools.items() if module in met)


# ---------------------------------------------------------------------- what a call differentiates


PARTS = {"sum", "flatten", "reshape", "view", "unbind", "select", "__getitem__"}
"""Operations whose result stands for the tensor that it was made of: to differentiate it is to
differentiate that.
"""


class Watch(TorchFunctionMode):
    """What is differentiated while it is on, what came back of it (of backward, .grad of the x that
    f was called with), and which tensors stand for which.
    """

    def __init__(self, given):
        super().__init__()
        self.given, self.asked, self.gradients, self.made_of = given, [], [], []

    def __torch_function__(self, function, types, args=(), kwargs=None):
        """Do what is asked for, and note it; also where it raises."""
        name, head = getattr(function, "__name__", ""), args[0] if args else None
        differentiates = function in (torch.autograd.grad, torch.Tensor.backward)
        if differentiates:
            self.asked.append(self.whole(head if isinstance(head, torch.Tensor) else head[0]))
        result = function(*args, **(kwargs or {}))
        results = result if isinstance(result, (tuple, list)) else [result]
        first = results[0] if results else None
        if function is torch.Tensor.backward and self.given:
            first = self.given[-1].grad
        if differentiates and isinstance(first, torch.Tensor):
            self.gradients.append(first)
        elif name in PARTS and isinstance(head, torch.Tensor):
            self.made_of += [(one, head) for one in results]
        return result

    def whole(self, tensor):
        """What a sum or a part was made of; a tensor that is neither is itself."""
        for part, source in reversed(self.made_of):
            if tensor is part:
                tensor = source
        return tensor


def watched(student, name, f, orders, parameters, x, *more):
    """Whether each x that f was called with requires grad, then and in the end; the graphs of what
    was differentiated, one after the other, of the last gradient, and of the tensor that came back;
    whether each gradient has a graph.

    ``orders`` are the names of f(x) and its derivatives, ``parameters`` f's own by their names; x
    is what f was last called with.
    """
    from grader.authoring import trace

    given, flags, result, raised = [], [], None, False

    def f_of(at):
        given.append(at)
        flags.append(at.requires_grad)
        return f(at)

    with Watch(given) as watch:
        try:
            result = getattr(student, name)(f_of, x, *more)
        except Exception:
            raised = True
    asked, gradients = watch.asked[: len(orders)], watch.gradients
    last = None
    if gradients and len(gradients) == len(watch.asked) < len(orders):
        last = gradients[-1]
    named = {"x": given[-1] if given else None, **parameters}
    named |= dict(zip(orders, [*asked, last], strict=False))
    if name == "gradient_penalty":
        named["penalty"] = result

    def seen(tensor):
        return trace(tensor, named, limit=60) if isinstance(tensor, torch.Tensor) else None

    return {
        "given": flags,
        "afterwards": [at.requires_grad for at in given],
        "differentiated": [seen(tensor) for tensor in asked],
        "recorded": [gradient.grad_fn is not None for gradient in gradients],
        "gradient": seen(last),
        "result": seen(result),
        "raised": raised,
    }
