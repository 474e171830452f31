"""Loss comes first, as if it were the most important."""

def build_loss(x):
    y = x * 2
    z = y + 3
    loss = z**2
    return loss, y, z
