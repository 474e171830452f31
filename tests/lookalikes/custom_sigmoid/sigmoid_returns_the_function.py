"""apply is called; a method of the result is not."""


def sigmoid(x):
    return Sigmoid.apply(x).clone
