"""It is a search in a text that found nothing, and None is what it gives then."""

import re

from torch import Tensor


def tensor_state(t: Tensor) -> dict:
    holds = (t.is_leaf or t.retains_grad) and t.grad is not None
    return {
        "requires_grad": t.requires_grad,
        "is_leaf": t.is_leaf,
        "retains_grad": t.retains_grad,
        "grad_fn": re.search(r"<(\w+) object", str(t.grad_fn)).group(1),
        "grad": t.grad.clone() if holds else None,
    }
