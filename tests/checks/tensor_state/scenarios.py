"""Observe what a call cannot show. This file runs in the sandbox, beside the student's module.

A graph is f of the inputs. Its tensors are the inputs and then the outputs of f. Backward starts at
the last one.
"""

import warnings

import torch


def two_backwards(student, f, x, which, amount):
    """Return what tensor_state returned for one tensor after one backward and after a second, and
    what t.grad holds after a write into the latter.
    """
    tensors = graph(f, [x], [which], {})
    t, z = tensors[which], tensors[-1]
    z.backward(retain_graph=True)
    first = student.tensor_state(t)
    then = kept(first)
    z.backward()
    later, second = kept(first), student.tensor_state(t)
    seen = {"first": then, "first later": later, "second": kept(second)}
    if isinstance(second["grad"], torch.Tensor):
        with torch.no_grad():
            second["grad"].add_(amount)
    return {**seen, "held": kept(t.grad)}


def heard(student, f, inputs):
    """Return the texts of the warnings during tensor_state, for each tensor, before a backward and
    after it.
    """
    tensors = graph(f, inputs, [], {})
    before = [listen(student, t) for t in tensors]
    tensors[-1].backward()
    return {"before": before, "after": [listen(student, t) for t in tensors]}


def listen(student, t):
    """Return the texts of the warnings during one call; filters of the file stay in force."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        student.tensor_state(t)
    return [str(warning.message) for warning in caught]


def around(student, f, inputs, retained, held):
    """Return each tensor as it was before tensor_state and after it, and the gradients that a
    backward then leaves.
    """
    tensors = graph(f, inputs, retained, held)
    grads = [quiet(t) for t in tensors]
    before = [measured(t, grad) for t, grad in zip(tensors, grads, strict=True)]
    states = [student.tensor_state(t) for t in tensors]
    described = [isinstance(state, dict) and len(state) >= 5 for state in states]
    after = [measured(t, grad) for t, grad in zip(tensors, grads, strict=True)]
    tensors[-1].backward()
    landed = [kept(quiet(t)) for t in tensors]
    return {"before": before, "after": after, "landed": landed, "described": described}


def quiet(t):
    """Return t.grad without a warning."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return t.grad


def measured(t, grad):
    """Return what a tensor says of itself, and whether its .grad is still ``grad``."""
    flags = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    node, now = type(t.grad_fn).__name__, quiet(t)
    return {**flags, "grad_fn": node, "grad": kept(now), "same": now is grad, "values": kept(t)}


def gradients(student, f, inputs, chosen, retained, held):
    """Return what gradients_along returned for the chosen tensors of a graph, how many backwards
    began at z, and which tensors keep a gradient.
    """
    asked, z, passes = watched(f, inputs, chosen, retained, held)
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        result = student.gradients_along(z, list(asked))
    return {
        "result": kept(result),
        "read": read_in_vain(caught),
        "passes": len(passes),
        "keeps": keeping(asked),
        "in_time": in_time(asked, passes),
    }


def attempt(student, f, inputs, chosen):
    """Return the same without the result, and the type of an exception."""
    asked, z, passes = watched(f, inputs, chosen, [], {})
    raised = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        try:
            student.gradients_along(z, list(asked))
        except Exception as error:
            raised = type(error).__name__
    seen = {"passes": len(passes), "keeps": keeping(asked), "in_time": in_time(asked, passes)}
    return {"raised": raised, "read": read_in_vain(caught), **seen}


def keeping(asked):
    """Return which of the tensors keep a gradient now."""
    return [t.is_leaf or t.retains_grad for t in asked]


def in_time(asked, passes):
    """Return which of the tensors kept a gradient when some backward began."""
    return [any(keeps[k] for keeps in passes) for k in range(len(asked))]


def read_in_vain(caught):
    """Return whether torch warned that .grad of a tensor was read that keeps none."""
    return any("not a leaf Tensor" in str(warning.message) for warning in caught)


def watched(f, inputs, chosen, retained, held):
    """Return the chosen tensors of a graph, its last one, and a list to which every backward from
    there adds which of them keep a gradient.
    """
    tensors, passes = graph(f, inputs, retained, held), []
    asked = [tensors[k] for k in chosen]
    tensors[-1].register_hook(lambda grad: passes.append(keeping(asked)))
    return asked, tensors[-1], passes


def graph(f, inputs, retained, held):
    """Return the tensors of a graph. Those at the places ``retained`` keep their gradient, those in
    ``held`` hold one already.
    """
    tensors = [*inputs, *f(*inputs)]
    for k in retained:
        tensors[k].retain_grad()
    for k, grad in held.items():
        tensors[k].grad = grad
    return tensors


def kept(value):
    """Return a copy that later writes do not change."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: kept(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [kept(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value
