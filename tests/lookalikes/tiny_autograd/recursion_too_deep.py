"""The reflected sum asks for itself."""


class Value:
    ...

    def __radd__(self, other: float) -> Value:
        return other + self
