"""apply is called, of what a function without return has made of the Function."""


def checked(function):
    assert issubclass(function, Function)


def as_callable(function):
    function = checked(function)
    return lambda *args: function.apply(*args)
