"""The text is torch's own, but no second backward runs: what the first one freed is read."""

import torch


def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.grad_fn._saved_self
    except RuntimeError as error:
        return str(error)
