import torch


def passes_gradcheck(fn, *inputs):
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    return torch.autograd.gradcheck(fn, copies)
