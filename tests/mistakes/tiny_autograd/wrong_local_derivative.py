import math


class Value:
    ...

    def tanh(self):
        value = math.tanh(self.data)
        return result(value, (self, 1.0 - self.data**2))
