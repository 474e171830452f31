"""The parentheses are missing."""


def relu(x):
    return MyReLU.apply  # noqa: F821
