"""What has to be seen from inside for graph_inspection. Sent into the sandbox; imports torch, and
the engine's walk for a picture.

``build`` is a Program; called with ``tensors`` it makes a root, here, beside the student's module.
"""

import contextlib
import io

import torch


def printed(student, build, tensors):
    """What is printed while format_graph works, to stdout or stderr."""
    heard = io.StringIO()
    with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
        student.format_graph(build(*tensors))
    print(heard.getvalue(), end="")  # the report shows what was printed
    return heard.getvalue()


def again(student, name, build, tensors):
    """What a function returns for a root, and for one that it has seen before: as it is, after the
    list that came back was cleared, and after root was multiplied by the last tensor, in place.
    """
    function, root = getattr(student, name), build(*tensors)
    first = function(root)
    found = {"first": plain(first, tensors), "again": plain(function(root), tensors)}
    if isinstance(first, list):
        first.clear()
    found["cleared"] = plain(function(root), tensors)
    root.mul_(tensors[-1])
    return {**found, "changed": plain(function(root), tensors)}


def plain(value, tensors):
    """A result as plain data: pairs, or lines, or for each leaf its number among the tensors."""
    if isinstance(value, str):
        return value.rstrip("\n").split("\n")
    return [
        next((k for k, tensor in enumerate(tensors) if tensor is item), None)
        if isinstance(item, torch.Tensor)
        else tuple(item)
        for item in value
    ]


def links(student, x, between=False):
    """Derivatives between the three tensors that build_loss returns: of loss by z and by y, of z by
    y, of y and z by x. With ``between``, x is an intermediate result.
    """
    x = x.view_as(x) if between else x
    y, z, loss = student.build_loss(x)
    pairs = {
        "loss by z": (loss, z),
        "loss by y": (loss, y),
        "z by y": (z, y),
        "y by x": (y, x),
        "z by x": (z, x),
    }
    found = {}
    for name, (output, source) in pairs.items():
        if output.requires_grad and source.requires_grad:
            (found[name],) = torch.autograd.grad(
                output.sum(), source, retain_graph=True, allow_unused=True
            )
        else:
            found[name] = None
    return found


def loss_graph(student, x):
    """The graph behind the loss that build_loss returns, with y and z where they are in it."""
    from grader.authoring import trace

    y, z, loss = student.build_loss(x)
    return trace(loss, {"x": x, "y": y, "z": z, "loss": loss})
