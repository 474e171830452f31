import torch


def passes_gradcheck(fn, *inputs):
    copies = tuple(x.detach().to(torch.float64, copy=True).requires_grad_(x.requires_grad) for x in inputs)
    try:
        torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False
    return True
