"""There is no hook: y is multiplied in a name of its own."""


def backward_with_scaled_gradient(loss, y, factor):
    y = y * factor
    loss.backward()
