"""Goes on along the last source of each node only."""


class Value:
    ...

    def backward(self) -> None:
        self.grad = 1.0
        node = self
        while node.sources:
            for source, slope in node.sources:
                source.grad += slope * node.grad
            node = node.sources[-1][0]
