"""A function that nobody calls compares with torch, whose tanh it imports; the engine's is Python's."""

from math import tanh


class Value:
    ...

    def tanh(self):
        value = tanh(self.data)
        return result(value, (self, 1.0 - value**2))


def compare(number):
    from torch import tanh, tensor

    return tanh(tensor(number))
