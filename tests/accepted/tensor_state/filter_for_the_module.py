"""The warning is filtered where the file is loaded; the copy goes through NumPy."""

import warnings

import torch

warnings.filterwarnings("ignore", message="The .grad attribute of a Tensor")


def copied(grad):
    return None if grad is None else torch.from_numpy(grad.numpy().copy())


def tensor_state(t):
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": not t.requires_grad or t.grad_fn is None,
        "retains_grad": t.retains_grad,
        "grad_fn": None if t.is_leaf else type(t.grad_fn).__name__,
        "grad": copied(t.grad),
    }
