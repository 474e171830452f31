import torch


def find_broken(functions, x):
    broken = set()
    for name, fn in functions.items():
        if not torch.autograd.gradcheck(fn, (x.clone().detach().requires_grad_(),), raise_exception=False):
            broken.add(name)
    return broken
