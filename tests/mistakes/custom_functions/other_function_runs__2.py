"""The class remembers one Function for all its objects."""


class Op:
    def __call__(self, *args):
        return Op.function.apply(*args)


def as_callable(function):
    Op.function = function
    return Op()
