class Value:
    ...

    def backward(self):
        gradients = {self: 1.0}
        for node in reversed(in_order(self)):
            node.grad = gradients[node]
            for source, slope in node.sources:
                gradients[source] = gradients.get(source, 0.0) + slope * node.grad
