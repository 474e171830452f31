"""sigmoid asserts that its result lies between 0 and 1."""


def sigmoid(x):
    y = Sigmoid.apply(x)
    assert ((y >= 0) & (y <= 1)).all(), "a probability lies between 0 and 1"
    return y
