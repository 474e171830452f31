"""What only the worker can observe in finite_difference."""

import torch
from torch.autograd.function import Function

KEPT = 24


def answer(student, name, f, x, *step):
    """What happens while a function works: the points at which it calls f, what f returns, how
    often a derivative of f is asked for.
    """
    seen = {"points": [], "values": [], "derivatives": 0}

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

    def watched(t):
        if not isinstance(t, torch.Tensor):
            raise TypeError(f"f takes a Tensor, not a {type(t).__name__}")
        value = f(Through.apply(t))
        if len(seen["points"]) < KEPT:
            seen["points"].append(whole(t))
            seen["values"].append(whole(value))
        return value

    getattr(student, name)(watched, x, *step)
    return seen


def whole(value):
    """A copy that later writes leave alone, of the whole batch where there is one."""
    while torch._C._functorch.is_functorch_wrapped_tensor(value):
        value = torch._C._functorch.get_unwrapped(value)
    return value.detach().clone()
