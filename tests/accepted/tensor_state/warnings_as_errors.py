"""The warning is made an error and caught; the copy by copy.deepcopy; an OrderedDict."""

import copy
import warnings
from collections import OrderedDict


def tensor_state(t):
    state = OrderedDict()
    for name in ["requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad"]:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                state[name] = getattr(t, name)
        except UserWarning:
            state[name] = None
    if state["grad_fn"] is not None:
        state["grad_fn"] = repr(state["grad_fn"]).strip("<>").split()[0]
    state["grad"] = copy.deepcopy(state["grad"])
    return state
