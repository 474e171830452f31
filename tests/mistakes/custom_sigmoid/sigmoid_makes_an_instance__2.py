"""Made of x."""

def sigmoid(x):
    return Sigmoid(x)  # noqa: F821
