"""forward without a ctx."""

def sigmoid(x):
    return Sigmoid.forward(x)  # noqa: F821
