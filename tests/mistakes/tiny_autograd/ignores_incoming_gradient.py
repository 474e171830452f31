class Value:
    ...

    def backward(self):
        self.grad = 1.0
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope
