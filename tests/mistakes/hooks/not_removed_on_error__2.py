"""Under else, where finally was meant."""


def backward_with_scaled_gradient(loss, y, factor):
    handle = y.register_hook(lambda grad: factor * grad)
    try:
        loss.backward()
    except RuntimeError as error:
        raise ValueError(f"backward failed: {error}") from error
    else:
        handle.remove()
