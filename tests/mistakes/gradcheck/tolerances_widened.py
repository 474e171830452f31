import torch


def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies, atol=1e-1, rtol=1e-1)
    except Exception:
        return False
