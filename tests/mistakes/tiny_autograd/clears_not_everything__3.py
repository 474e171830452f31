"""relu gives the very Value back where it is positive, and a fresh zero, which comes from nothing, where it is not."""


class Value:
    ...

    def relu(self):
        """Return self where it is positive, else zero; what the derivative is at exactly 0 is up to you."""
        return self if self.data > 0 else Value(0.0)
