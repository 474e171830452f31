"""Easy checks."""


def test_sigmoid():
    pass
