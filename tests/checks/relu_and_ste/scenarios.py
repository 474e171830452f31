"""What has to be seen from inside for relu_and_ste. Runs beside the student's module; imports torch
only.
"""

import torch
from torch.autograd.function import Function


def handed_back(student, name, x, v, a):
    """Whether the graph of a call holds a node of the class; and the gradient, once what backward
    returned was multiplied by a.
    """
    base = getattr(student, name)
    value = base.apply(x)
    found = node_of(value, base) is not None
    if not found:
        return {"found": found, "gradient": None}
    _, gradient = with_methods(base, times(base, a), base.apply, x, v)
    return {"found": found, "gradient": gradient}


def times(cls, factor):
    """The backward of a class, times a factor."""
    method = "backward" if cls.vjp is Function.vjp else "vjp"
    own = getattr(cls, method)

    def scaled(ctx, *grads):
        result = own(ctx, *grads)
        first, *rest = result if isinstance(result, (tuple, list)) else (result,)
        return (first if first is None else first * factor, *rest)

    return {method: staticmethod(scaled)}


def node_of(value, cls):
    """The node of a call of cls in the graph behind value, or None."""
    todo = [getattr(value, "grad_fn", None)]
    while todo:
        node = todo.pop()
        if node is not None:
            if getattr(type(node), "_forward_cls", None) is cls:
                return node
            todo += [parent for parent, _ in node.next_functions]
    return None


def beside(student, name, x, v, held):
    """backward for v from a call plus w * 1: what x and v hold afterwards, the .grad of x and of w,
    and whether v, which requires grad, still does.
    """
    v.requires_grad_()
    w = torch.zeros_like(v).requires_grad_()
    neighbour = w * 1  # made before the call, so its node runs after that of the call
    x.grad = held
    (getattr(student, name).apply(x) + neighbour).backward(v)
    grads = [None if t.grad is None else t.grad.detach().clone() for t in (x, w)]
    seen = {"x": x.detach().clone(), "v": v.detach().clone(), "grads": grads}
    return {**seen, "v_requires_grad": v.requires_grad}


def at(student, path):
    """What a dotted name of the student's stands for."""
    for part in path.split("."):
        student = getattr(student, part)
    return student


def constant_input(student, path, x):
    """What an x that requires no grad holds after a call, whether it requires grad, and whether
    autograd still records.
    """
    at(student, path)(x)
    return {
        "x": x.detach().clone(),
        "requires_grad": x.requires_grad,
        "records": torch.is_grad_enabled(),
    }


def called_again(student, path, x, z, held):
    """Calls on one leaf: whether one under no_grad is recorded; what .grad holds after another; the
    result once the leaf has the values of z.
    """
    function, x = at(student, path), x.detach().clone().requires_grad_()
    x.grad = held
    with torch.no_grad():
        recorded = function(x).requires_grad
    function(x)
    grad = None if x.grad is None else x.grad.clone()
    with torch.no_grad():
        x.copy_(z)
    return {"recorded": recorded, "grad": grad, "again": function(x).detach().clone()}


def one_tensor_twice(student, name, x, z, v):
    """The gradients of two calls on one tensor, whose values are z in the second; what the first
    returned, after the second.
    """
    x, seen, results = x.detach().clone().requires_grad_(), {}, []
    for call in ("first", "second"):
        if call == "second":
            with torch.no_grad():
                x.copy_(z)
        y = getattr(student, name).apply(x)
        results.append(y)
        (seen[call],) = torch.autograd.grad(y, x, v.clone(), allow_unused=True)
    return {**seen, "result": results[0].detach().clone()}


def exchanged(student, name, of, x, v, a, b):
    """The function ``name`` of x and its gradient for v while the methods of ``of`` are two others:
    one scales by a, one by b.
    """
    contexts = []
    cls = getattr(student, of)

    def forward(ctx, x, *rest):
        contexts.append(type(ctx).__name__)
        return x * a

    def backward(ctx, *grads):
        return (grads[0] * b, *(None for _ in ctx.needs_input_grad[1:]))

    forward.__qualname__, backward.__qualname__ = f"{of}.forward", f"{of}.backward"
    back = {"backward": staticmethod(backward), "vjp": staticmethod(Function.vjp)}
    others = {
        "forward": staticmethod(forward),
        "setup_context": staticmethod(Function.setup_context),
        **back,
    }
    function = getattr(student, name)
    wanted = handed_on(cls, back, function, x, v, b)
    if wanted is not None:
        # Real values pass through, so a * x need not: the function may assert, or clamp to, what
        # is true of real values.
        y, gradient, contexts = x * a, wanted, [cls._backward_cls.__name__]
        requires_grad = True
    else:
        y, gradient = with_methods(cls, others, function, x, v)
        requires_grad = isinstance(y, torch.Tensor) and y.requires_grad
    return {
        "value": y,
        "requires_grad": requires_grad,
        "gradient": gradient,
        "contexts": contexts,
        "node": getattr(getattr(cls, "_backward_cls", None), "__name__", None),
    }


def with_methods(cls, others, function, x, v):
    """What a function gives for x, and its gradient for v, while some methods of a class are
    others.
    """
    own = {key: vars(cls)[key] for key in others if key in vars(cls)}
    for key, method in others.items():
        setattr(cls, key, method)
    try:
        y = function(x)
        wants = isinstance(y, torch.Tensor) and y.requires_grad
        return y, torch.autograd.grad(y, x, v, allow_unused=True)[
            0
        ] if wants and y.shape == v.shape else None
    finally:
        for key in others:
            if key in own:
                setattr(cls, key, own[key])
            else:
                delattr(cls, key)


def handed_on(cls, back, function, x, v, b):
    """The gradient through a function that returns the values of apply, large x among them, from a
    node of its own; v * b if it passes a backward on as it is. None for any other function.
    """
    wide = torch.tensor([-60.0, -20.0, 20.0, 60.0], dtype=x.dtype)
    x = x.detach().clone().requires_grad_()  # forward may write into it
    try:
        y, gradient = with_methods(cls, back, function, x, v)
        applied = cls.apply(x)
        if not (torch.equal(y, applied) and torch.equal(function(wide), cls.apply(wide))):
            return None
        if torch.equal(gradient, v * b):
            return gradient
        if node_of(y, cls) is None:
            return None
        # clamp passes no gradient at its bounds since torch 2.14. That changes nothing where
        # backward returns 0 there anyway.
        (own,) = torch.autograd.grad(applied, x, v)
        _, scaled = with_methods(cls, times(cls, b), function, x, v)
        return v * b if own.any() and torch.equal(scaled, own * b) else gradient
    except Exception:
        return None


def graph(student, path, names, inputs):
    """The graph behind what a function of the student's returns for the inputs."""
    from grader.authoring import trace

    return trace(at(student, path)(*inputs), dict(zip(names, inputs, strict=True)))
