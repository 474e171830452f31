class Value:
    ...

    def backward(self):
        for node in reversed(in_order(self)):
            for source, slope in node.sources:
                source.grad += slope * node.grad
