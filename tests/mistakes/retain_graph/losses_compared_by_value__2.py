import torch


def sum_of_gradients(losses, x):
    total = torch.zeros_like(x)
    for loss in losses:
        last = losses[::-1].index(loss) == 0
        (grad,) = torch.autograd.grad(loss, x, retain_graph=not last)
        total = total + grad
    return total
