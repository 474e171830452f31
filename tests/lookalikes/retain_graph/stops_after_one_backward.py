"""The message is cut to its first 40 characters."""

import torch


def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        z.backward()
    except RuntimeError as error:
        return str(error)[:40]
