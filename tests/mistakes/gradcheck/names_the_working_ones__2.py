import torch


def find_broken(functions, x):
    found = set()
    for name, fn in functions.items():
        try:
            if torch.autograd.gradcheck(fn, x.detach().clone().double().requires_grad_()):
                found.add(name)
        except Exception:
            continue
    return found
