"""backward does nothing."""


class Value:
    ...

    def backward(self) -> None:
        pass
