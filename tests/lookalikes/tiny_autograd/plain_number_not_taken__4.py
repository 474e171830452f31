"""The exponent is taken for a Value."""


class Value:
    ...

    def __pow__(self, exponent: float) -> Value:
        exponent = exponent.data
        slope = exponent * self.data ** (exponent - 1) if exponent else 0.0
        return result(self.data**exponent, (self, slope))
