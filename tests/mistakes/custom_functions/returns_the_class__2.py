"""An object is made, and called."""


def as_callable(function):
    def call(*args):
        return function()(*args)

    return call
