"""A name that torch does not have; the text of that error comes back."""

import torch


def second_backward_error(x):
    try:
        z = torch.lg(x**3)
        z.backward()
        z.backward()
    except Exception as error:
        return str(error)
