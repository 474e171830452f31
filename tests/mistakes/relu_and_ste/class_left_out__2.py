"""The detach trick in place of STE."""


def binarize(x):
    return x + ((x > 0).to(x.dtype) - x).detach()
