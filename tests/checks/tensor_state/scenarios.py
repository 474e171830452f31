"""What has to be seen from inside for tensor_state. Sent into the sandbox; imports torch, and
warnings to listen to them.

A graph is f of the inputs; its tensors are the inputs and then the outputs of f, and the last one
is where a backward starts.
"""

import warnings

import torch


def two_backwards(student, f, x, which, amount):
    """What tensor_state returned for one tensor after one backward and after a second, and what is
    held once that was written to.
    """
    tensors = graph(f, [x], [which], {})
    t, z = tensors[which], tensors[-1]
    z.backward(retain_graph=True)
    first = student.tensor_state(t)
    then = kept(first)
    z.backward()
    later, second = kept(first), student.tensor_state(t)
    seen = {"first": then, "first later": later, "second": kept(second)}
    with torch.no_grad():
        second["grad"].add_(amount)
    return {**seen, "held": kept(t.grad)}


def heard(student, f, inputs):
    """The texts of the warnings during tensor_state, for each tensor, before a backward and after
    it.
    """
    tensors = graph(f, inputs, [], {})
    before = [listen(student, t) for t in tensors]
    tensors[-1].backward()
    return {"before": before, "after": [listen(student, t) for t in tensors]}


def listen(student, t):
    """The texts of the warnings during one call; filters that a file has set stay in force."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        student.tensor_state(t)
    return [str(warning.message) for warning in caught]


def around(student, f, inputs, retained, held):
    """Each tensor as it was before tensor_state and after it, and the gradients that a backward
    then leaves.
    """
    tensors = graph(f, inputs, retained, held)
    before = [measured(t) for t in tensors]
    for t in tensors:
        student.tensor_state(t)
    after = [measured(t) for t in tensors]
    tensors[-1].backward()
    return {"before": before, "after": after, "landed": [measured(t)["grad"] for t in tensors]}


def measured(t):
    """A tensor's own account of itself."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = kept(t.grad)
    flags = {name: getattr(t, name) for name in ("requires_grad", "is_leaf", "retains_grad")}
    return {**flags, "grad_fn": type(t.grad_fn).__name__, "grad": grad, "values": kept(t)}


def gradients(student, f, inputs, chosen, retained, held):
    """What gradients_along returned for the chosen tensors of a graph; how many backwards began at
    z; who keeps a gradient now.
    """
    asked, z, passes = watched(f, inputs, chosen, retained, held)
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        result = student.gradients_along(z, asked)
    return {
        "result": kept(result),
        "read": read_in_vain(caught),
        "passes": len(passes),
        "keeps": keeping(asked),
        "in_time": in_time(asked, passes),
    }


def attempt(student, f, inputs, chosen):
    """The same without what came back, and also where the call raised."""
    asked, z, passes = watched(f, inputs, chosen, [], {})
    raised = None
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", append=True)
        try:
            student.gradients_along(z, asked)
        except Exception as error:
            raised = type(error).__name__
    seen = {"passes": len(passes), "keeps": keeping(asked), "in_time": in_time(asked, passes)}
    return {"raised": raised, "read": read_in_vain(caught), **seen}


def keeping(asked):
    """Which of them keep a gradient now."""
    return [t.is_leaf or t.retains_grad for t in asked]


def in_time(asked, passes):
    """Which of them kept a gradient as some backward began."""
    return [any(keeps[k] for keeps in passes) for k in range(len(asked))]


def read_in_vain(caught):
    """Whether torch warned that the .grad of a tensor was read that keeps none."""
    return any("not a leaf Tensor" in str(warning.message) for warning in caught)


def watched(f, inputs, chosen, retained, held):
    """The chosen tensors of a graph, its last one, and a list to which every backward from there
    adds which of them keep a gradient.
    """
    tensors, passes = graph(f, inputs, retained, held), []
    asked = [tensors[k] for k in chosen]
    tensors[-1].register_hook(lambda grad: passes.append(keeping(asked)))
    return asked, tensors[-1], passes


def graph(f, inputs, retained, held):
    """The tensors of a graph; those at the places ``retained`` keep their gradient, those in
    ``held`` hold one already.
    """
    tensors = [*inputs, *f(*inputs)]
    for k in retained:
        tensors[k].retain_grad()
    for k, grad in held.items():
        tensors[k].grad = grad
    return tensors


def kept(value):
    """A copy that later writes leave alone."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, dict):
        return {key: kept(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        items = [kept(item) for item in value]
        return items if isinstance(value, list) else tuple(items)
    return value
