"""The rectifier's class in place of the step's."""


def binarize(x):
    return MyReLU.apply(x)
