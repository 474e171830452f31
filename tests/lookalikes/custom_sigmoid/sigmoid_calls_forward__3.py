"""apply is called, and x left out; another function has a forward in its hands."""


def sigmoid(x):
    return Sigmoid.apply()


def demonstration(x):
    return Sigmoid.forward(None, x)
