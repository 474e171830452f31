import torch


def passes_gradcheck(fn, *inputs):
    copies = [x.double().detach().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False
