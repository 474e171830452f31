"""What only the worker can observe in graph_inspection, besides the engine's scenarios."""

import torch


def links(student, x):
    """Derivatives between x and the three tensors that build_loss returns; None where there is
    none.
    """
    y, z, loss = student.build_loss(x)
    pairs = {
        "loss by z": (loss, z),
        "loss by y": (loss, y),
        "z by y": (z, y),
        "y by x": (y, x),
        "z by x": (z, x),
    }
    found = dict.fromkeys(pairs)
    for name, (output, source) in pairs.items():
        if output.requires_grad and source.requires_grad:
            (found[name],) = torch.autograd.grad(
                output.sum(), source, retain_graph=True, allow_unused=True
            )
    return found
