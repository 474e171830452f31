"""What only the worker can observe in broadcasting, besides the engine's scenarios."""

from contextlib import nullcontext

import torch
from torch.autograd.function import Function
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.worker.scenarios import (
    at,
    class_at,
    copied,
    lend_in,
    names_of_nodes,
    seen_on_the_way,
    tensors_in,
    times,
    with_methods,
)


def summed(gradient, shape):
    """A sum_to that other definitions may use."""
    if not isinstance(shape, (tuple, list)):
        raise TypeError
    lacking = gradient.dim() - len(shape)
    for dim in range(gradient.dim()):
        if dim < lacking or shape[dim - lacking] == 1:
            gradient = gradient.sum(dim, keepdim=True)
    return gradient.reshape(shape)


def lend(student):
    """From now on, the student's definitions use ``summed`` as sum_to where it can be called so."""

    def without(own):
        def either(*args, **kwargs):
            try:
                return summed(*args, **kwargs)
            except Exception:  # called in a way that only its author knows
                return own(*args, **kwargs)

        return either

    lend_in(student, "sum_to", without)


class Names(TorchFunctionMode):
    """While this is on, ``names`` are those of torch's functions that are called, also by other
    functions of torch's, where torch has this profiler.
    """

    def __init__(self):
        super().__init__()
        self.names = set()

    def __enter__(self):
        legacy = getattr(torch.autograd, "profiler_legacy", None)
        self.profile = legacy.profile() if legacy else nullcontext()
        self.profile.__enter__()
        return super().__enter__()

    def __exit__(self, *error):
        super().__exit__(*error)
        self.profile.__exit__(*error)
        events = getattr(self.profile, "function_events", None) or ()
        self.names.update(event.name.rpartition("::")[2] for event in events)

    def __torch_function__(self, function, types, args=(), kwargs=None):
        self.names.add(getattr(function, "__name__", ""))
        return function(*args, **(kwargs or {}))


def helpers(student, path, args, v=None):
    """What a call, or for a v the backward of its result, leaves to torch: whether it calls
    sum_to_size, what torch runs, with the nodes of autograd that are not its own, and the results.
    """
    function, given, called = at(student, path), tensors_in([*args, v]), Names()
    found, own = [], set()
    with seen_on_the_way(given[0].detach().flatten()[:2], {}) as seen:
        for one in given:
            seen.keep(one)
        try:
            if v is None:
                with called:
                    found = tensors_in([function(*args)])
            else:
                own = names_of_nodes(function(*args).grad_fn)
                watching = watched(class_at(student, path), called)
                found = tensors_in(with_methods(*watching, function, args, v)[1])
        except NotImplementedError:
            raise
        except Exception:  # has a check of its own
            pass
        for one in found:
            seen.result(one)
    return {"sums": "sum_to_size" in called.names, "found": copied(found), **seen.told(own)}


def watched(cls, mode):
    """A class, and its backward while a mode is on."""
    method = "backward" if cls.vjp is Function.vjp else "vjp"
    own = getattr(cls, method)

    def backward(ctx, *grads):
        with mode:
            return own(ctx, *grads)

    return cls, {method: staticmethod(backward)}


WORK = {"mm", "mv", "bmm", "dot", "mul", "addmm", "addmv", "addr", "baddbmm", "sum"}
"""Operators that compute a gradient."""


class Sizes(TorchDispatchMode):
    """While this is on, ``sizes`` are how many elements the results of such operators have."""

    def __init__(self):
        super().__init__()
        self.sizes = set()

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # else torch imports its compiler

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        found = function(*args, **(kwargs or {}))
        if function.name().partition("::")[2].partition(".")[0] in WORK:
            self.sizes.update(one.numel() for one in tensors_in([found]))
        return found


def work(student, path, inputs, v):
    """The shapes of what backward returns for inputs of which some require grad, how many elements
    the results of its operators have, and the gradients.
    """
    cls, shapes, seen = class_at(student, path), [], Sizes()
    leaves = [one for one in inputs if one.requires_grad]
    result = at(student, path)(*inputs)
    with seen:
        found = torch.autograd.grad(result, leaves, v, allow_unused=True)
    with_methods(cls, times(cls, 1.0, shapes), lambda *_: at(student, path)(*inputs), leaves, v)
    return {"shapes": shapes, "sizes": sorted(seen.sizes), "found": copied(found)}
