"""The same when scaling for one backward."""


def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: grad.mul_(factor))
    try:
        loss.backward()
    finally:
        handle.remove()
