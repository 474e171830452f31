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


def links(student, x):
    """Derivatives between the three tensors that build_loss returns: of loss by z and by y, of z by
    y, of y and z by x.
    """
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
