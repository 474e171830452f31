"""x is made a leaf of its own, for the gradient to be wanted."""

def build_loss(x):
    x = x.detach().requires_grad_()
    y = x * 2
    z = y + 3
    loss = z.pow(2)
    return y, z, loss
