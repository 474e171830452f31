"""An instance is made and called."""


def binarize(x):
    return STE()(x)  # noqa: F821
