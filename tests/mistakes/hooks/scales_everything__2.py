"""The hook on the wrong tensor."""


def backward_with_scaled_gradient(loss, y, factor):
    handle = loss.register_hook(lambda grad: grad * factor)
    try:
        loss.backward()
    finally:
        handle.remove()
