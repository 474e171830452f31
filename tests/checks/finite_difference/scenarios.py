"""What has to be seen from inside for finite_difference. Sent into the sandbox; imports torch
only.
"""

import torch
from torch.autograd.function import Function

KEPT = 24


def answer(student, name, f, x, *args, **named):
    """What happens while a function works: the points at which it asks f, what f says, how x and
    its version move, derivatives.
    """
    before, version = x.detach().clone(), x._version
    seen = {"points": [], "values": [], "during": [], "derivatives": 0}

    class Through(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(t):
            return t.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def backward(ctx, grad):
            seen["derivatives"] += 1
            return grad

        @staticmethod
        def jvp(ctx, tangent):
            seen["derivatives"] += 1
            return tangent.clone()

    def keep(key, value):
        if len(seen[key]) < KEPT:
            seen[key].append(value)

    def watched(t):
        if not torch.equal(x, before):
            keep("during", kept(x))
        if not isinstance(t, torch.Tensor):
            raise TypeError(f"f takes a Tensor, not a {type(t).__name__}")
        keep("points", kept(t))
        value = f(Through.apply(t))
        keep("values", kept(value))
        return value

    getattr(student, name)(watched, x, *args, **named)
    return {**seen, "after": kept(x), "writes": x._version - version}


def read_back(student, f, x):
    """The gradient, and how many tensors that were saved for a backward pass were read
    meanwhile.
    """
    read = []

    def unpack(t):
        read.append(1)
        return t

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        result = student.numerical_gradient(f, x)
    return {"result": kept(result), "read": len(read)}


def kept(value):
    """A copy that later writes leave alone, of the whole batch where there is one."""
    if not isinstance(value, torch.Tensor):
        return value
    while torch._C._functorch.is_functorch_wrapped_tensor(value):
        value = torch._C._functorch.get_unwrapped(value)
    return value.detach().clone()
