"""The function computes and does not return."""


def relu(x):
    y = MyReLU.apply(x)  # noqa: F821, F841
