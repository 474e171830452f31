"""forward with None for ctx."""

def sigmoid(x):
    return Sigmoid.forward(None, x)  # noqa: F821
