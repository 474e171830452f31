"""The input is detached."""

def sigmoid(x):
    return Sigmoid.apply(x.detach())  # noqa: F821
