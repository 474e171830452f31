"""The exercise says to run backward, so it is run at once."""

def build_loss(x):
    y = 2 * x
    z = y + 3
    loss = z**2
    loss.sum().backward()
    return y, z, loss
