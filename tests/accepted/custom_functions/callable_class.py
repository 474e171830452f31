"""An object with __call__."""


class Op:
    def __init__(self, function):
        self.function = function

    def __call__(self, *args, **kwargs):
        return self.function.apply(*args, **kwargs)

    def __repr__(self):
        return f"Op({self.function.__name__})"


def as_callable(function):
    return Op(function)
