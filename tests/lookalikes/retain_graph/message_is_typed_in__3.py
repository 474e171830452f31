"""Nothing runs and an empty text comes back."""

import torch


def second_backward_error(x):
    message = ""
    z = torch.log(x**3)
    try:
        torch.autograd.grad
    except RuntimeError as error:
        message = str(error)
    return message
