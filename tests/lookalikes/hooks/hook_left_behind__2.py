"""Clears all hooks of y at the end, the caller's too."""


def backward_with_scaled_gradient(loss, y, factor):
    y.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    finally:
        y._backward_hooks.clear()
