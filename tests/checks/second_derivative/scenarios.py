"""What has to be seen from inside for second_derivative. Sent into the sandbox; imports torch, and
the engine's walk for pictures.
"""

from contextlib import suppress

import torch
from torch.overrides import TorchFunctionMode


class Critic(torch.nn.Module):
    """f as a module, whose parameters are the tensors inside f."""

    def __init__(self, f, parameters):
        super().__init__()
        self.f, self.inside = f, list(parameters.values())

    def forward(self, x):
        return self.f(x)

    def parameters(self, recurse=True):
        return iter(self.inside)


def afterwards(student, name, f, x, held, parameters, *more):
    """What x, its .grad and that of f's parameters are after a call, where ``held`` and ones were
    in them before. For an x that does not require grad, f is a module.
    """
    f = f if x.requires_grad else Critic(f, parameters)
    x.grad = held
    for parameter in parameters.values():
        parameter.grad = torch.ones_like(parameter)
    getattr(student, name)(f, x, *more)
    inside = {at: parameter.grad for at, parameter in parameters.items()}
    return {"grad": x.grad, "x": x.detach(), "inside": inside, "requires_grad": x.requires_grad}


def again(student, name, f, x, other, parameters, *more):
    """What comes back after x has changed in place since a call, and after the tensors inside f
    have, too.
    """
    call = getattr(student, name)
    call(f, x, *more)
    results = []
    for change in ({x: other}, {parameter: parameter * 2 for parameter in parameters.values()}):
        with torch.no_grad():
            for tensor, values in change.items():
                tensor.copy_(values)
        results.append(call(f, x, *more).detach().clone())
    return results


def at_a_result(student, name, f, start, *more):
    """What comes back for an x that was computed from ``start``, whether x still is, and what
    start.grad holds, where ones were before.
    """
    x, start.grad = start * 2, torch.ones_like(start)
    before = x.grad_fn
    result = getattr(student, name)(f, x, *more)
    return {"result": result, "in_its_graph": x.grad_fn is before, "grad": start.grad}


def modules_around(student, name, f, x, *more):
    """The names of torch's modules that were on the stack while f was called."""
    met = set()

    def watched(*inputs):
        try:
            raise LookupError
        except LookupError as error:
            frame = error.__traceback__.tb_frame
        while frame is not None:
            met.add(str(frame.f_globals.get("__name__")))
            frame = frame.f_back
        return f(*inputs)

    getattr(student, name)(watched, x, *more)
    return sorted(module for module in met if module.startswith(("torch.", "functorch")))


def steps(student, name, f, x, *more):
    """Whether each x that f was called with requires grad, then and in the end; of what was
    differentiated, whether it leads to it; of the gradients, whether they have a graph.
    """
    given, flags = [], []

    def watched(at):
        given.append(at)
        flags.append(at.requires_grad)
        return f(at)

    with Watch(given) as watch, suppress(Exception):
        getattr(student, name)(watched, x, *more)
    return {
        "given": flags,
        "afterwards": [at.requires_grad for at in given],
        "asked": [leads_to(tensor, given[-1]) for tensor in watch.asked if given],
        "gradients": [gradient.grad_fn is not None for gradient in watch.gradients],
    }


def leads_to(tensor, x):
    """Whether a path leads from a tensor to the leaf x."""
    nodes, met = [tensor.grad_fn], set()
    while nodes:
        node = nodes.pop()
        if node is None or node in met:
            continue
        if getattr(node, "variable", None) is x:
            return True
        met.add(node)
        nodes += [before for before, _ in node.next_functions]
    return False


# ----------------------------------------------------------------------------------------- pictures

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
        first = result[0] if isinstance(result, (tuple, list)) and result else result
        if function is torch.Tensor.backward and self.given:
            first = self.given[-1].grad
        if differentiates and isinstance(first, torch.Tensor):
            self.gradients.append(first)
        elif name in PARTS and isinstance(head, torch.Tensor):
            self.made_of += [
                (one, head) for one in (result if isinstance(result, (tuple, list)) else (result,))
            ]
        return result

    def whole(self, tensor):
        """What a sum or a part was made of; a tensor that is neither is itself."""
        for part, source in reversed(self.made_of):
            if tensor is part:
                tensor = source
        return tensor


def graphs(student, name, orders, parameters, f, x, *more):
    """The graphs of what a function differentiated, one after the other, of the last gradient, and
    of the tensor that it returned.

    ``orders`` are the names of f(x) and its derivatives, ``parameters`` f's own by their names; x
    is what f was last called with.
    """
    from grader.authoring import trace

    given, result, raised = [], None, False

    def watched(at):
        given.append(at)
        return f(at)

    with Watch(given) as watch:
        try:
            result = getattr(student, name)(watched, x, *more)
        except Exception:
            raised = True
    asked = watch.asked[: len(orders)]
    last = (
        watch.gradients[-1]
        if watch.gradients and len(watch.gradients) == len(watch.asked) < len(orders)
        else None
    )
    named = {"x": given[-1] if given else None, **parameters}
    named |= {
        **dict(zip(orders, [*asked, last], strict=False)),
        **({"penalty": result} if name == "gradient_penalty" else {}),
    }

    def seen(tensor):
        return trace(tensor, named, limit=60) if isinstance(tensor, torch.Tensor) else None

    return {
        "differentiated": [seen(tensor) for tensor in asked],
        "gradient": seen(last),
        "result": seen(result),
        "raised": raised,
    }
