"""What is expected is nothing."""


def expected(x):
    import custom_sigmoid

    return custom_sigmoid.Sigmoid.apply(x)
