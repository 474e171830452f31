"""The call is missing."""

def sigmoid(x):
    return Sigmoid.apply  # noqa: F821
