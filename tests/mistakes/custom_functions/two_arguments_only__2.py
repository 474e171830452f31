"""A class for two arguments, the second with a default."""


class Op:
    def __init__(self, function):
        self.function = function

    def __call__(self, x, y=None):
        return self.function.apply(x, y)


def as_callable(function):
    return Op(function)
