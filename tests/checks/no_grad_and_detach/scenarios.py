"""What has to be seen from inside for no_grad_and_detach. Sent into the sandbox."""

import torch

from grader.worker.scenarios import copied, tensors_in


def prediction(student, f, x, through, enabled, fails=False):
    """What predict returned in a grad mode, or what came out if f raises; the mode afterwards, the
    node of what f gave, x before and afterwards, and what a backward from the result ends with.
    """
    t = x if through is None else through(x)
    if t.is_leaf:
        t.grad = torch.ones_like(t)
    before, nodes, thrown = state(t), [], ValueError("not today")
    result, raised = None, None

    def watched(given):
        out = f(given)
        nodes.append(node(out))
        if fails:
            raise thrown
        return out

    with torch.set_grad_enabled(enabled):
        try:
            result = student.predict(watched, t)
        except Exception as error:
            if not fails:
                raise
            raised = error
        after = torch.is_grad_enabled()
    return {
        "result": copied(result),
        "state": state(result),
        "raised": None if raised is None else type(raised).__name__,
        "itself": raised is thrown,
        "nodes_inside": nodes,
        "mode_after": after,
        "states": {"x": [before, state(t)]},
        "backward": backward_from(result),
    }


def called(student, name, names, make, inputs, after=None):
    """What a function returned for what ``make`` gives for the inputs. Arguments and inputs, by
    these names, before and afterwards; whether the arguments' nodes are the same; and gradients at
    the inputs: of the result, of each argument, and of what ``after`` makes of both.
    """
    given = tensors_in([make(*inputs)])
    tensors = [*given, *inputs]
    before, nodes = [state(t) for t in tensors], [t.grad_fn for t in given]
    result = getattr(student, name)(*given)
    states = zip(before, [state(t) for t in tensors], strict=True)
    seen = {
        "result": copied(result),
        "state": state(result),
        "itself": result is given[0],
        "states": dict(zip(names, map(list, states), strict=True)),
        "same_nodes": [t.grad_fn is old for t, old in zip(given, nodes, strict=True)],
        "gradients": gradients(result, inputs),
        "alone": [gradients(t, inputs) for t in given],
    }
    if after is None or not isinstance(result, torch.Tensor):
        return seen
    z = after(*given, result)
    return {**seen, "z": copied(z), "z_gradients": gradients(z, inputs)}


def stages(student, first, second, x, held):
    """What split_backward returned, and each tensor that second was given; x before and
    afterwards.
    """
    given = []

    def watched(w):
        given.append({"leaf": w.is_leaf, "requires_grad": w.requires_grad, "node": node(w)})
        return second(w)

    x.grad = held
    before = state(x)
    result = copied(student.split_backward(x, first, watched))
    return {"result": result, "given": given, "states": {"x": [before, state(x)]}}


def begun(student, first, second, x):
    """What second was given during split_backward, also where that raised; whether a backward began
    at y, whether y required grad before and afterwards, and what was raised.
    """
    given, begun, outputs, raised = [], [], [], None

    def hooked(t):
        y = first(t)
        outputs.append((y, y.requires_grad))
        if y.requires_grad:
            y.register_hook(lambda grad: begun.append(1))
        return y

    def watched(w):
        given.append({"requires_grad": w.requires_grad, "node": node(w)})
        return second(w)

    try:
        student.split_backward(x, hooked, watched)
    except (RuntimeError, AttributeError, TypeError) as error:
        raised = str(error)
    requiring = [outputs[0][1], outputs[0][0].requires_grad] if outputs else None
    return {"given": given, "at_y": bool(begun), "y": requiring, "raised": raised}


def gradients(result, inputs):
    """The gradients of a result's sum at some inputs, or the text of the error."""
    if not isinstance(result, torch.Tensor):
        return None
    try:
        found = torch.autograd.grad(result.sum(), inputs, retain_graph=True, allow_unused=True)
    except RuntimeError as error:
        return str(error)
    return [copied(grad) for grad in found]


def backward_from(result):
    """What a backward from the sum of a result ends with: the text of its error, or None."""
    try:
        result.sum().backward()
    except (RuntimeError, AttributeError) as error:
        return str(error)
    return None


def state(t):
    """What a tensor is and holds; None for anything else."""
    if not isinstance(t, torch.Tensor):
        return None
    return {
        "node": node(t),
        "requires_grad": t.requires_grad,
        "leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "values": copied(t),
        "grad": copied(t.grad) if t.is_leaf else None,
    }


def node(t):
    """The type name of a tensor's node, or None."""
    made = getattr(t, "grad_fn", None)
    return None if made is None else type(made).__name__
