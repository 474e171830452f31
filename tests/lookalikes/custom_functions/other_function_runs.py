"""No Function runs at all: the arguments are multiplied."""


def as_callable(function):
    return lambda x, y: x * y
