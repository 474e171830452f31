class Value:
    ...

    def backward(self):
        for source, slope in self.sources:
            source.grad += slope
