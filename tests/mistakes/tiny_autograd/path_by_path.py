class Value:
    ...

    def backward(self):
        stack = [(self, 1.0)]
        while stack:
            node, gradient = stack.pop()
            node.grad += gradient
            stack += [(source, slope * gradient) for source, slope in node.sources]
