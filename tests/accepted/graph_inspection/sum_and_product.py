"""x + x for 2x, z * z for the square, gradients of y and z kept for a look at them."""


def build_loss(x):
    y = x + x
    z = y.clone().add_(3)
    loss = z * z
    for tensor in (y, z):
        if tensor.requires_grad:
            tensor.retain_grad()
    return y, z, loss


PREDICTED_GRADIENT: float = 2e1
