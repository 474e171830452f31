"""The difference of differences, with a step."""


def second_derivative(f, x):
    x = x.detach()
    h = 1e-3
    return (f(x + h) - 2 * f(x) + f(x - h)) / h**2
