import torch


def jacobian(f, x):
    y = f(x)
    rows = torch.zeros(*y.shape, *x.shape, dtype=x.dtype)
    if not y.requires_grad:
        return rows
    flat = rows.view(y.numel(), -1) if x.numel() else rows.reshape(y.numel(), 0)
    for i, element in enumerate(y.reshape(-1)):
        (grad,) = torch.autograd.grad(element, x, retain_graph=True, allow_unused=True)
        if grad is not None:
            flat[i] = grad.reshape(-1)
    return rows
