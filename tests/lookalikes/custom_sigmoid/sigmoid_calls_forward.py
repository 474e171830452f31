"""apply is given an argument too many."""


def sigmoid(x):
    return Sigmoid.apply(x, 1.0)
