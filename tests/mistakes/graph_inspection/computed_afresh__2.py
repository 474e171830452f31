"""y is a copy that only looks like the one in the chain."""

def build_loss(x):
    z = x * 2 + 3
    loss = z * z
    y = z - 3
    return y, z, loss
