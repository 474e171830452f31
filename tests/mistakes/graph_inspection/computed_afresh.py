"""Each result is written out in x."""

def build_loss(x):
    return 2 * x, 2 * x + 3, (2 * x + 3) ** 2
