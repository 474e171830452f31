"""Like a module: made, then called."""

def sigmoid(x):
    return Sigmoid()(x)  # noqa: F821
