"""fast_mode and the tolerances spelled out; every function checked without passes_gradcheck."""

import torch


def passes_gradcheck(fn, *inputs):
    try:
        copies = [torch.tensor(x.tolist(), dtype=torch.float64, requires_grad=True).reshape(x.shape) for x in inputs]
        copies = [x.detach().requires_grad_() for x in copies]
        assert torch.autograd.gradcheck(fn, copies, eps=1e-6, atol=1e-5, fast_mode=True)
    except BaseException:
        return False
    else:
        return True


def find_broken(functions, x):
    names = []
    for name, fn in functions.items():
        try:
            torch.autograd.gradcheck(fn, [x.detach().clone().to(torch.float64).requires_grad_()])
        except Exception:
            names += [name]
    return frozenset(names)
