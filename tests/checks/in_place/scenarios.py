"""What only the worker can observe in in_place, besides the engine's scenarios."""

import torch

from grader.worker.scenarios import (
    at,
    copied,
    gradients,
    place_of,
    replaced,
    seen_on_the_way,
    with_methods,
)


def answered(student, path, op, x, held, leaves=()):
    """What a function of op and x, whose .grad is held, returned; x before and afterwards; .grad of
    op's leaves, which was ones before; and each call of op: what it was given, which writes
    autograd has counted, whether backward reached it.
    """
    calls = []
    for leaf in leaves:
        leaf.grad = torch.ones_like(leaf)

    def asked(given):
        leaf, before, count = given.is_leaf and given.requires_grad, copied(given), given._version
        y, reached = op(given), []
        made, result = y._version, copied(y)
        if y.grad_fn is not None:
            y.grad_fn.register_prehook(lambda grads: reached.append(True))
        calls.append((leaf, given, before, count, y, result, made, reached))
        return y

    x.grad = held
    before = state(x)
    answer = at(student, path)(asked, x)
    told = [
        {
            "leaf": leaf,
            "recorded": y.requires_grad,
            "itself": given is x,
            "early": bool(count) and not torch.equal(old, before["values"]),
            "writes": [given._version - count, y._version - made],
            "changed": [not torch.equal(given, old), not torch.equal(y, result)],
            "reached": bool(reached),
        }
        for leaf, given, old, count, y, result, made, reached in calls
    ]
    grads = [copied(leaf.grad) for leaf in leaves]
    return {"answer": answer, "before": before, "after": state(x), "grads": grads, "calls": told}


def state(x):
    """What can be seen of a tensor."""
    kind = None if x.grad_fn is None else type(x.grad_fn).__name__
    flags = {"requires_grad": x.requires_grad, "grad_fn": kind}
    return {"values": copied(x), "grad": copied(x.grad), **flags}


# ------------------------------------------------------------------------------------- with blocks


def only_read(x):
    """Compute with x, and give the name x another tensor."""
    x = x + 1
    x.add_(1)
    x.detach().clone().zero_()


def learned(x):
    """Give x a gradient."""
    x.detach().requires_grad_().exp().sum().backward()
    if x.requires_grad:
        (x * x).sum().backward()


LINES = {
    "x.add_(1)": lambda x: x.add_(1),
    "x += 1": lambda x: x.__iadd__(1),
    "x[0] = 5": lambda x: x.__setitem__(0, 5.0),
    "x.mul_(1)": lambda x: x.mul_(1),
    "x.copy_(x.clone())": lambda x: x.copy_(x.clone()),
    "x.add_(1); x.sub_(1)": lambda x: x.add_(1).sub_(1),
    "x[1:].zero_()": lambda x: x[1:].zero_(),
    "x.detach().mul_(2)": lambda x: x.detach().mul_(2),
    "y = x + 1; y.add_(1)": only_read,
    "(x * x).sum().backward()": learned,
}


def block(student, tensors, lines, before=None):
    """Run lines in a with block of watched(tensors): pairs of a place and a text of LINES; the pair
    ``before`` between the call of watched and the block. What a RuntimeError that kept the block
    from running says; one that comes out of it is raised.
    """
    tensors = [written_once(one) for one in tensors]
    entered, guard = False, student.watched(tensors)
    if before:
        run(tensors, *before)
    try:
        with guard:
            entered = True
            for place, line in lines:
                run(tensors, place, line)
    except RuntimeError as error:
        if entered:
            raise
        return str(error)
    return None


def written_once(x):
    """A copy of a tensor whose version is 1."""
    return x.detach().clone().add_(0).requires_grad_(x.requires_grad)


def troubled(student, tensors, lines, text):
    """What comes out of a block that runs such lines and then raises an exception."""
    thrown = KeyError(text)
    try:
        with student.watched(tensors):
            for place, line in lines:
                run(tensors, place, line)
            raise thrown
    except Exception as error:
        return {**told(error), "itself": error is thrown}
    return told(None)


def run(tensors, place, line):
    """Run a line, without recording if it would write into a leaf that requires grad."""
    x = tensors[place]
    with torch.set_grad_enabled("backward" in line or not (x.is_leaf and x.requires_grad)):
        LINES[line](x)


def told(raised):
    """The name of an exception's type, or None, whether it is a RuntimeError, and its text."""
    kind = None if raised is None else type(raised).__name__
    return {"kind": kind, "runtime": isinstance(raised, RuntimeError), "said": str(raised)}


def nested(student, a, b, which):
    """What came out of two with blocks, one of a and in it one of b, when a (0), b (1) or neither
    (None) is written to in the inner one: of the inner and of the outer one.
    """
    outer = inner = None
    b.add_(1).sub_(1)  # so that the two have different versions
    try:
        with student.watched([a]):
            try:
                with student.watched([b]):
                    if which is not None:
                        (a, b)[which].add_(1)
            except Exception as error:
                inner = error
    except Exception as error:
        outer = error
    return {"outer": told(outer), "inner": told(inner)}


# ------------------------------------------------------------------------------------ new tensors


def made(student, path, x):
    """How many tensors of x's size the new memory that a call takes is enough for; what the call
    returns, and whether an operator that was seen made it.
    """
    seen = {}
    with seen_on_the_way(x, seen):
        y = at(student, path)(x)
    memory = sum(one.untyped_storage().nbytes() for one, _ in seen.values())
    return {
        "made": memory // x.untyped_storage().nbytes() - 1,
        "value": copied(y),
        "seen": place_of(y) in seen,
    }


# ----------------------------------------------------------------------------------------- AddOne


def applied(student, x, v):
    """What AddOne does with h = 2 x: what it returns, what h holds, whether they are one, whether
    h.grad_fn is AddOne's, and the gradient at x, for v, from what is returned.
    """
    h = x * 2
    y = student.AddOne.apply(h)
    return {
        "value": copied(y),
        "h": copied(h),
        "itself": y is h,
        "writes": h._version,
        "node": getattr(type(h.grad_fn), "_forward_cls", None) is student.AddOne,
        "gradient": (gradients(y, [x], v) or [None])[0] if x.requires_grad else None,
    }


def row(student, x, k, v, b):
    """What add_one_to_row does with h = 2 x, and the gradient at x, for v, from h, while AddOne is
    a right one whose backward multiplies by b.
    """

    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x.add_(1)

    seen = {}

    def function(x):
        h = x * 2
        y = student.add_one_to_row(h, k)
        kind = type(y).__name__
        seen.update({"itself": y is h, "value": copied(y), "h": copied(h), "kind": kind})
        return h

    _, found = with_methods(student.AddOne, replaced("AddOne", forward, b), function, [x], v)
    return {**seen, "gradient": found and found[0]}
