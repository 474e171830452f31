"""No order is written down: a node goes on when all that uses it has been heard."""


class Value:
    ...

    def backward(self):
        waiting, stack = {}, [self]
        while stack:
            for source, _ in stack.pop().sources:
                if source not in waiting:
                    stack.append(source)
                waiting[source] = waiting.get(source, 0) + 1
        self.grad += 1.0
        ready = [self]
        while ready:
            node = ready.pop()
            for source, slope in node.sources:
                source.grad += slope * node.grad
                waiting[source] -= 1
                if waiting[source] == 0:
                    ready.append(source)
