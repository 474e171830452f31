"""Names the handle, never removes it."""


def backward_with_scaled_gradient(loss, y, factor):
    def scale(grad):
        return grad * factor

    handle = y.register_hook(scale)
    loss.backward()
    del handle
