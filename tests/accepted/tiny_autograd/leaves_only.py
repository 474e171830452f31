"""As torch does it: only leaves keep a gradient."""


class Value:
    ...

    def backward(self):
        gradients = {id(self): 1.0}
        for node in reversed(in_order(self)):
            gradient = gradients.pop(id(node), 0.0)
            if not node.sources:
                node.grad += gradient
            for source, slope in node.sources:
                gradients[id(source)] = gradients.get(id(source), 0.0) + slope * gradient
