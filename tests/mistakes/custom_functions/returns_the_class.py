"""The Function itself is what can be called."""


def as_callable(function):
    return function
