"""f(x).backward() for a whole batch."""


def gradient_penalty(f, x):
    x = x.detach().requires_grad_()
    f(x).backward(create_graph=True)
    return ((x.grad.norm(dim=1) - 1) ** 2).mean()
