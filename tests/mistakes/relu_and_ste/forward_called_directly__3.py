"""ctx is left out."""


def relu(x):
    return MyReLU.forward(x)  # noqa: F821
