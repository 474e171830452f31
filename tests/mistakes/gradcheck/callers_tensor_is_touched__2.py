import torch


def passes_gradcheck(fn, *inputs):
    for x in inputs:
        x.requires_grad_()
    try:
        torch.autograd.gradcheck(fn, [x.detach().clone().to(torch.float64).requires_grad_() for x in inputs])
        return True
    except Exception:
        return False
