"""y keeps its graph; the second stage begins at w, cut once more."""


def split_backward(x, first, second):
    y = first(x)
    w = y.detach().requires_grad_()
    z = second(w)
    x.grad = None
    z.backward()
    w.detach().backward(w.grad)
    return x.grad, w.grad
