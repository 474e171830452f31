"""What has to be seen from inside for gradcheck. Sent into the sandbox; imports torch only."""

import torch
from torch.autograd.function import Function


class Unusual(Exception):
    """An exception that no library raises."""


ERRORS = {
    kind.__name__: kind
    for kind in (ValueError, IndexError, ZeroDivisionError, AttributeError, AssertionError, Unusual)
}


def made(parts, seen):
    """A function of tensors, watched: a program, or a list [value, product] of two, which become a
    Function.
    """
    seen |= {"calls": 0, "dtypes": [], "shapes": [], "wants": [], "derivatives": 0}
    inner = function_of(*parts, seen) if isinstance(parts, list) else parts

    def watched(*given):
        seen["calls"] += 1
        seen["dtypes"] = [
            str(t.dtype).removeprefix("torch.") for t in given
        ]  # of the last call: the first may be a trial
        seen["shapes"] = [list(t.shape) for t in given]
        if seen["calls"] == 1:
            seen["wants"] = [t.requires_grad for t in given]
        return inner(*given)

    return watched


def function_of(value, product, seen):
    """Function.apply: forward is ``value``, backward is ``product`` of the inputs and the incoming
    gradient.
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

    return Pair.apply


def verdict(student, parts, *inputs):
    """What passes_gradcheck says, and what the function was called with meanwhile."""
    seen = {}
    result = student.passes_gradcheck(made(parts, seen), *inputs)
    return {"result": result, **seen}


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
        result = student.passes_gradcheck(made(parts, {}), *inputs)
    finally:
        if inner is not None:
            names["_check_inputs"] = inner
    return {"result": result, "wants": wants}


def raising(student, value, kind, text, calls, product, *inputs):
    """The same for a function that raises once it was called so often; with ``product``, for one
    whose backward raises.
    """
    seen = {}

    def stop(*given):
        raise ERRORS[kind](text)

    if product:
        fn = made([value, stop], seen)
    else:
        inner = made(value, seen)

        def fn(*given):
            return stop() if seen["calls"] >= calls else inner(*given)

    result = student.passes_gradcheck(fn, *inputs)
    return {"result": result, **seen}


def beside(student, parts, amount, held, *inputs):
    """What the inputs are afterwards; with an amount, which the function adds in place to what it
    is given first.
    """
    for x, grad in zip(inputs, held, strict=True):
        x.grad = grad
    before = [state(x) for x in inputs]
    seen = {}
    inner = made(parts, seen)

    def fn(*given):
        if amount and not seen["calls"]:
            with torch.no_grad():
                for t in given:
                    t.add_(amount)
        return inner(*given)

    result = student.passes_gradcheck(fn, *inputs)
    return {"result": result, "before": before, "after": [state(x) for x in inputs]}


def measured(student, parts, x, *args, **named):
    """What numerical_jacobian came to, what the function was called with meanwhile, and x
    afterwards.
    """
    seen = {}
    before, version = state(x), x._version
    result = student.numerical_jacobian(made(parts, seen), x, *args, **named)
    facts = {**seen, "writes": x._version - version}
    return {"result": kept(result), **facts, "before": before, "after": state(x)}


def found(student, functions, x, exchanged):
    """What find_broken came to; if exchanged, with another function in the place of
    passes_gradcheck.
    """
    seen = {name: {} for name in functions}
    made_of = {name: made(parts, seen[name]) for name, parts in functions.items()}
    own = vars(student).get("passes_gradcheck")
    if exchanged:
        student.passes_gradcheck = settled
    try:
        result = student.find_broken(made_of, x)
    finally:
        if exchanged and own is not None:
            student.passes_gradcheck = own
    return {"result": result, "seen": seen, "after": state(x)}


def found_again(student, functions, x, z, exchanged):
    """What find_broken comes to at x and, once x was set to z, again; each function has two names.
    If exchanged, with another function in the place of passes_gradcheck.
    """
    made_of = {name: made(parts, {}) for name, parts in functions.items()}
    made_of |= {f"{name} again": fn for name, fn in made_of.items()}
    own, results = vars(student).get("passes_gradcheck"), []
    if exchanged:
        student.passes_gradcheck = settled
    try:
        for numbers in (x.clone(), z):
            with torch.no_grad():
                x.copy_(numbers)
            results.append(student.find_broken(made_of, x))
    finally:
        if exchanged and own is not None:
            student.passes_gradcheck = own
    return results


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
    return {"values": kept(x), "requires_grad": x.requires_grad, "grad": kept(x.grad)}


def kept(value):
    """A copy that later writes leave alone."""
    return value.detach().clone() if isinstance(value, torch.Tensor) else value
