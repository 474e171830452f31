"""-a is 0 - a, and that is made of -a."""


class Value:
    ...

    def __neg__(self) -> Value:
        return 0 - self

    def __rsub__(self, other: float) -> Value:
        return -(self - other)
