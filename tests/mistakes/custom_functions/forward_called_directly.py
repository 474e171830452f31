"""forward with no ctx."""


def as_callable(function):
    return function.forward
