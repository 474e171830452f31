"""forward with None for ctx."""


def binarize(x):
    return STE.forward(None, x)  # noqa: F821
