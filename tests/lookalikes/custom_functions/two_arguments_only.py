"""Any number of arguments, as long as they are tensors."""

import torch


def as_callable(function):
    return lambda *args: function.apply(*(torch.clone(arg) for arg in args))
