"""x and y are all that is handed on."""


def as_callable(function):
    def call(x, y):
        return function.apply(x, y)

    return call
