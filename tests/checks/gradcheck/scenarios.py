"""What only the worker can observe in gradcheck.

A function that is checked comes as a program, or as a list: its value, what its backward returns
for the inputs and the incoming gradient, and "once" if that cannot be differentiated.
"""

import torch
from torch.autograd.function import Function, once_differentiable

from grader.worker.scenarios import copied


class Unusual(Exception):
    """An exception that no library raises."""


ERRORS = {kind.__name__: kind for kind in (ValueError, IndexError, AttributeError, Unusual)}


def watched(parts, seen):
    """The function of these parts; ``seen`` gets how it is called."""
    seen |= {"calls": 0, "dtypes": [], "shapes": [], "derivatives": 0}
    inner = parts
    if isinstance(parts, list):
        value, product, *marks = parts
        inner = function_of(value, product, seen, once="once" in marks)

    def fn(*given):
        seen["calls"] += 1
        # of the last call: the first may be a trial
        seen["dtypes"] = [str(t.dtype).removeprefix("torch.") for t in given]
        seen["shapes"] = [list(t.shape) for t in given]
        return inner(*given)

    return fn


def function_of(value, product, seen, once):
    """Function.apply: forward is ``value``, backward is ``product`` of the inputs and the incoming
    gradient; with ``once``, it is marked as one that cannot be differentiated.
    """

    class Pair(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*inputs):
            return value(*inputs)

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, grad):
            seen["derivatives"] += 1
            return product(*ctx.saved_tensors, grad)

        @staticmethod
        def jvp(ctx, tangent, *more):
            seen["derivatives"] += 1
            return tangent.clone()

    if once:
        Pair.backward = staticmethod(once_differentiable(Pair.backward))
    return Pair.apply


def verdict(student, parts, *inputs):
    """What passes_gradcheck says, and how it called the function."""
    seen = {}
    return {"result": student.passes_gradcheck(watched(parts, seen), *inputs), **seen}


def handed(student, parts, *inputs):
    """What passes_gradcheck says, and whether the inputs that torch.autograd.gradcheck got from it
    require grad, call by call.
    """
    names, wants = torch.autograd.gradcheck.__globals__, []
    inner = names.get("_check_inputs")

    def look(given, *rest):
        wants.append([t.requires_grad for t in given])
        return inner(given, *rest)

    if inner is not None:
        names["_check_inputs"] = look
    try:
        result = student.passes_gradcheck(watched(parts, {}), *inputs)
    finally:
        if inner is not None:
            names["_check_inputs"] = inner
    return {"result": result, "wants": wants}


def raising(student, value, kind, text, calls, in_backward, x):
    """What passes_gradcheck says of a function that raises after so many calls, or in backward."""
    seen = {}

    def stop(*given):
        raise ERRORS[kind](text)

    inner = watched([value, stop] if in_backward else value, seen)

    def fn(*given):
        return stop() if not in_backward and seen["calls"] >= calls else inner(*given)

    return {"result": student.passes_gradcheck(fn, x), **seen}


def writing(student, parts, amount, held, *inputs):
    """What passes_gradcheck leaves of inputs whose .grad is ``held``, for a function that first
    adds an amount to what it is given.
    """
    for x, grad in zip(inputs, held, strict=True):
        x.grad = grad
    before, seen = [state(x) for x in inputs], {}
    inner = watched(parts, seen)

    def fn(*given):
        if amount and not seen["calls"]:
            with torch.no_grad():
                for t in given:
                    t.add_(amount)
        return inner(*given)

    student.passes_gradcheck(fn, *inputs)
    return {"before": before, "after": [state(x) for x in inputs]}


def measured(student, parts, x, *eps):
    """What numerical_jacobian returns, how it called the function, and what it left of x."""
    seen, before = {}, [state(x)]
    result = student.numerical_jacobian(watched(parts, seen), x, *eps)
    if isinstance(result, torch.Tensor):
        result = copied(result)
    return {"result": result, **seen, "before": before, "after": [state(x)]}


def found(student, functions, x, exchanged):
    """What find_broken returns, how it called the functions, and what it left of x; if exchanged,
    with another function for the student's passes_gradcheck.
    """
    seen, before = {name: {} for name in functions}, [state(x)]
    given = {name: watched(parts, seen[name]) for name, parts in functions.items()}
    own = vars(student).get("passes_gradcheck")
    if exchanged:
        student.passes_gradcheck = settled
    try:
        result = student.find_broken(given, x)
    finally:
        if exchanged and own is not None:
            student.passes_gradcheck = own
    return {"result": result, "seen": seen, "before": before, "after": [state(x)]}


def settled(fn, *inputs, **options):
    """Whether torch finds no fault with fn."""
    try:
        return torch.autograd.gradcheck(
            fn, [x.detach().clone().double().requires_grad_() for x in inputs]
        )
    except Exception:
        return False


def state(x):
    """What can be seen of a tensor."""
    return {"values": copied(x), "requires_grad": x.requires_grad, "grad": copied(x.grad)}
