"""apply is called; a method of the result is not."""


def relu(x):
    return MyReLU.apply(x).clone
