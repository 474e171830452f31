"""exp is looked for on the number, which has none."""


class Value:
    ...

    def exp(self) -> Value:
        value = self.data.exp()
        return result(value, (self, value))
