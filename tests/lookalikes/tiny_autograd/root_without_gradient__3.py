"""All grads are cleared at the end of backward."""


class Value:
    ...

    def backward(self) -> None:
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
        for node in in_order(self):
            node.grad = 0.0
