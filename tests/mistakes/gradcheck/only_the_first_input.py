import torch


def passes_gradcheck(fn, *inputs):
    first, *others = (x.detach().clone().double() for x in inputs)
    first.requires_grad_()
    try:
        return torch.autograd.gradcheck(fn, (first, *others))
    except Exception:
        return False
