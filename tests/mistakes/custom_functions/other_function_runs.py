"""Mul, whatever was given."""


class CustomOp:
    def __call__(self, x, y):
        return Mul.apply(x, y)  # noqa: F821


def as_callable(function):
    return CustomOp()
