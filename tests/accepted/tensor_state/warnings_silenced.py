"""The warning is kept from being shown where .grad is read; the name from the node itself; more entries, in another order."""

import warnings


def tensor_state(t):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        grad = t.grad
    name = None
    if t.grad_fn:
        name = t.grad_fn.name()
    return {
        "shape": tuple(t.shape),
        "grad": grad if grad is None else grad + 0,
        "grad_fn": name,
        "retains_grad": t.retains_grad,
        "is_leaf": t.grad_fn is None,
        "requires_grad": t.requires_grad,
    }
