"""apply is given nothing."""


def sigmoid(x):
    return Sigmoid.apply()
