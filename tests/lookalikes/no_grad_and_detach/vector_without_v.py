"""There is one stage, and it begins at y times z; no backward begins at z."""


def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    (y * second(w)).backward()
    return x.grad, w.grad
