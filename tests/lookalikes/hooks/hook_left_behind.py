"""The numbers in y are scaled, and there is no hook."""


def backward_with_scaled_gradient(loss, y, factor):
    y.data *= factor
    loss.backward()
