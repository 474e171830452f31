"""remove() on the next line only."""


def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad * factor)
    loss.backward()
    handle.remove()
