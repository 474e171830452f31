"""What has to be seen from inside for no_grad_and_detach. Sent into the sandbox; imports torch, and
the engine's walk for pictures.
"""

from contextlib import suppress

import torch


def prediction(student, f, x, through, enabled):
    """What predict returned in a grad mode; the mode while f ran and afterwards, the node of what f
    gave, x before and after.
    """
    t = x if through is None else through(x)
    if t.is_leaf:
        t.grad = torch.ones_like(t)
    before, modes, nodes = state(t), [], []

    def watched(given):
        out = f(given)
        modes.append(torch.is_grad_enabled())
        nodes.append(node(out))
        return out

    with torch.set_grad_enabled(enabled):
        result = student.predict(watched, t)
        after = torch.is_grad_enabled()
    seen = {
        "result": kept(result),
        "state": state(result),
        "mode_inside": modes,
        "nodes_inside": nodes,
        "mode_after": after,
    }
    return {**seen, "x_before": before, "x_after": state(t), "backward": backward_from(result)}


def nested(student, f, x, enabled):
    """What predict returned for a function that calls predict itself; the mode afterwards."""
    with torch.set_grad_enabled(enabled):
        result = student.predict(lambda given: student.predict(f, given), x)
        after = torch.is_grad_enabled()
    return {"result": kept(result), "mode_after": after, "nested": True}


def switching(student, f, x, enabled, left):
    """The grad mode after predict where f leaves recording on or off."""

    def leaving(given):
        out = f(given)
        torch.set_grad_enabled(left)
        return out

    with torch.set_grad_enabled(enabled):
        with suppress(Exception):
            student.predict(leaving, x)
        return torch.is_grad_enabled()


def raising(student, f, x, kind, text, enabled):
    """What came out of predict where f raises an exception, the grad mode afterwards, and x before
    and after.
    """
    kinds = (ValueError, KeyboardInterrupt, StopIteration)
    thrown = {one.__name__: one for one in kinds}[kind](text)

    def failing(given):
        f(given)
        raise thrown

    result, raised, before = None, None, state(x)
    with torch.set_grad_enabled(enabled):
        try:
            result = student.predict(failing, x)
        except BaseException as error:
            raised = error
        after = torch.is_grad_enabled()
    return {
        "result": kept(result),
        "raised": None if raised is None else type(raised).__name__,
        "itself": raised is thrown,
        "mode_after": after,
        "x_before": before,
        "x_after": state(x),
    }


def taken_out(student, f, x, after):
    """What cut returned for f(x), for x itself where f is None; what is computed from it; y before
    and after, and its gradient.
    """
    y = x if f is None else f(x)
    before, origin = state(y), y.grad_fn
    result = student.cut(y)
    seen = {"result": kept(result), "state": state(result), "itself": result is y}
    seen |= {
        "y_before": before,
        "y_after": state(y),
        "same_node": y.grad_fn is origin,
        "gradient": gradients(y.sum(), [x]),
    }
    if after is None or not isinstance(result, torch.Tensor):
        return seen
    z = after(result)
    return {**seen, "z": kept(z), "z_state": state(z), "backward": backward_from(z)}


def mixed(student, f, x):
    """The gradient at x of (y * cut(y)).sum() for y = f(x)."""
    y = f(x)
    return {"gradient": gradients((y * student.cut(y)).sum(), [x])}


def stages(student, first, second, x, held):
    """What split_backward returned, and meanwhile: each tensor that second was given, and what it
    made of that.
    """
    given, made = [], []

    def watched(w):
        z = second(w)
        given.append(
            {
                "leaf": w.is_leaf,
                "requires_grad": w.requires_grad,
                "node": node(w),
                "values": numbers(w),
            }
        )
        made.append(numbers(z))
        return z

    x.grad = held
    before = state(x)
    result = kept(student.split_backward(x, first, watched))
    seen = {"result": result, "given": given, "made": made}
    return {**seen, "x_before": before, "x_after": state(x)}


def numbers(t):
    """A tensor's numbers as nested lists, also inside a transform of torch.func, where tolist
    raises before torch 2.13.
    """
    t = t.detach()
    return [numbers(row) for row in t] if t.dim() else t.item()


def losses(student, f, g, a, b):
    """bootstrap_loss of f(a) and g(b), where None stands for the leaf itself: its gradients at a
    and b, all tensors before and after, and the gradient of each alone.
    """
    online, target = a if f is None else f(a), b if g is None else g(b)
    tensors = online, target, a, b
    before = [state(t) for t in tensors]
    loss = student.bootstrap_loss(online, target)
    seen = {
        "loss": kept(loss),
        "state": state(loss),
        "states_before": before,
        "states_after": [state(t) for t in tensors],
    }
    seen["gradients"] = gradients(loss, [a, b])
    return {**seen, "alone": [gradients(online.sum(), [a]), gradients(target.sum(), [b])]}


def shared(student, f, x):
    """bootstrap_loss of the two outputs of f(x), and its gradient at x."""
    online, target = f(x)
    loss = student.bootstrap_loss(online, target)
    return {"loss": kept(loss), "gradients": gradients(loss, [x])}


def gradients(result, inputs):
    """The gradients of a result at some inputs, or the text of the error."""
    if not isinstance(result, torch.Tensor):
        return None
    try:
        return [
            kept(grad)
            for grad in torch.autograd.grad(result, inputs, retain_graph=True, allow_unused=True)
        ]
    except RuntimeError as error:
        return str(error)


def backward_from(result):
    """What a backward from the sum of a result ends with: the text of its error, or None."""
    if not isinstance(result, torch.Tensor):
        return None
    try:
        result.sum().backward()
    except RuntimeError as error:
        return str(error)
    return None


def state(t):
    """What a tensor is and holds; None for anything else."""
    if not isinstance(t, torch.Tensor):
        return None
    grad = t.grad if t.is_leaf else None
    return {
        "requires_grad": t.requires_grad,
        "leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "node": node(t),
        "values": kept(t),
        "grad": kept(grad),
    }


def node(t):
    """The type name of a tensor's node, or None."""
    return (
        type(t.grad_fn).__name__ if isinstance(t, torch.Tensor) and t.grad_fn is not None else None
    )


def kept(value):
    """A copy that later writes leave alone."""
    if isinstance(value, torch.Tensor):
        return value.detach().clone()
    if isinstance(value, tuple):
        return tuple(kept(item) for item in value)
    if isinstance(value, list):
        return [kept(item) for item in value]
    return value


def begun(student, first, second, x):
    """What second was given during split_backward, also where that raised; where a backward began;
    y before and after; what it raised.
    """
    given, begun, begun_at_z, outputs = [], [], [], []

    def hooked(t):
        y = first(t)
        outputs.append((y, y.requires_grad))
        if y.requires_grad:
            y.register_hook(lambda grad: begun.append(1))
        return y

    def watched(w):
        given.append({"requires_grad": w.requires_grad, "node": node(w)})
        z = second(w)
        if z.requires_grad:
            z.register_hook(lambda grad: begun_at_z.append(1))
        return z

    raised = None
    try:
        student.split_backward(x, hooked, watched)
    except (RuntimeError, AttributeError, TypeError) as error:
        raised = str(error)
    requiring = {"before": outputs[0][1], "after": outputs[0][0].requires_grad} if outputs else None
    return {
        "given": given,
        "at_y": bool(begun),
        "at_z": bool(begun_at_z),
        "y": requiring,
        "raised": raised,
    }


# ----------------------------------------------------------------------------------------- pictures


def behind_prediction(student, f, x, through, inside):
    """The graph behind what predict returned; ``inside``: behind what f gave it."""
    from grader.authoring import trace

    t = x if through is None else through(x)
    seen = []

    def watched(given):
        out = f(given)
        seen.append(trace(out, {"x": given, "f(x)": out}))
        return out

    result = student.predict(watched, t)
    return seen[0] if inside else trace(result, {"x": t, "result": result})


def around_cut(student, f, x, after, what):
    """A graph once cut was called on y: behind the ``result``, what is computed ``after`` it, ``y``
    itself, or ``y * cut(y)``.
    """
    from grader.authoring import trace

    y = x if f is None else f(x)
    result = student.cut(y)
    end = {"result": result, "y": y}.get(what)
    if end is None:
        end = after(result) if what == "after" else (y * result).sum()
    return trace(
        end,
        {
            "x": x,
            "y": y,
            **({"cut(y)": result} if result is not y else {}),
            **({"z": end} if what == "after" else {}),
        },
    )


def second_stage(student, first, second, x):
    """The graph behind what second gave, in split_backward."""
    from grader.authoring import trace

    seen = []

    def watched(w):
        z = second(w)
        seen.append(trace(z, {"x": x, "w": w, "z": z}))
        return z

    student.split_backward(x, first, watched)
    return seen[0]


def behind_loss(student, functions, inputs, names):
    """The graph behind bootstrap_loss of what the functions make of the inputs: one function of two
    results, or two of one each.
    """
    from grader.authoring import trace

    online, target = (
        functions[0](*inputs)
        if len(functions) == 1
        else (f(x) for f, x in zip(functions, inputs, strict=True))
    )
    loss = student.bootstrap_loss(online, target)
    return trace(
        loss,
        {**dict(zip(names, inputs, strict=True)), "online": online, "target": target, "loss": loss},
    )
