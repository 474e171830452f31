"""A difference with a number on the left comes without its sign."""


class Value:
    ...

    def __rsub__(self, other: float) -> Value:
        return result(abs(other - self.data), (self, -1.0))
