"""A wrapper that looks like forward; the argument has another name, and is checked."""

import functools

from torch.autograd import Function


def as_callable(cls, *, name=None):
    if not issubclass(cls, Function):
        raise TypeError(f"{cls} is no Function")

    @functools.wraps(cls.forward)
    def call(first, *rest):
        return cls.apply(first, *rest)

    call.__name__ = name or cls.__name__.lower()
    return call
