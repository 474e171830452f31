"""The second backward adds to the first derivative in .grad."""


def second_derivative(f, x):
    x = x.detach().requires_grad_()
    f(x).sum().backward(create_graph=True)
    if x.grad.requires_grad:
        x.grad.sum().backward()
    return x.grad
