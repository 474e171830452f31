"""The second backward begins at x."""

import torch


def second_backward_error(x):
    z = torch.log(x**3)
    z.backward()
    try:
        x.backward()
    except RuntimeError as error:
        return str(error)
