class Value:
    ...

    def backward(self):
        self.grad = 1.0
        queue, seen = [self], {self}
        for node in queue:
            for source, slope in node.sources:
                source.grad += slope * node.grad
                if source not in seen:
                    seen.add(source)
                    queue.append(source)
