"""The handle is dropped."""


def backward_with_scaled_gradient(loss, y, factor):
    y.register_hook(lambda grad: grad * factor)
    loss.backward()
