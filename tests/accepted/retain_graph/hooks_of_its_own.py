"""Hooks count what the graph keeps, by which those of anybody else see nothing."""

import torch


def second_backward_error(x):
    kept = []
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (kept.append(t), t)[1], lambda t: t):
        z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)
    raise AssertionError(f"{len(kept)} tensors were kept, and none was freed")
