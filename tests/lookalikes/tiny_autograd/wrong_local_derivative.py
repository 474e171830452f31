"""A power is a product in a loop, which leaves out negative exponents."""


class Value:
    ...

    def __pow__(self, exponent: float) -> Value:
        out = self
        for _ in range(int(exponent) - 1):
            out = out * self
        return out
