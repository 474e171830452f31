"""gradcheck's fast mode or its raise_exception, a flag that is set on the way; names collected in a loop."""

import torch
from torch.autograd import gradcheck


def passes_gradcheck(fn, *inputs):
    passed = False
    try:  # noqa: SIM105
        passed = gradcheck(fn, tuple(t.detach().to(torch.float64, copy=True).requires_grad_(True) for t in inputs), raise_exception=False)
    except Exception:
        pass
    return bool(passed)


def find_broken(functions, x):
    broken = set(functions)
    for name in list(functions):
        if passes_gradcheck(functions[name], x):
            broken.discard(name)
    return broken
