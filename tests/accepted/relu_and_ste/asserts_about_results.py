"""The functions assert what is known of a result: no number below 0, nothing but 0 and 1."""


def relu(x):
    y = MyReLU.apply(x)
    assert (y >= 0).all(), "a rectifier is never negative"
    return y


def binarize(x):
    y = STE.apply(x)
    assert set(y.flatten().tolist()) <= {0.0, 1.0}
    return y
