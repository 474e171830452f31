"""zero_grad remembers nothing of where it was; sources are kept in sets, so x + x is one way down, and x + x * c is two."""


def result(data, *sources):
    value = Value(data)
    value.sources = sources
    value.below = {source for source, _ in sources}
    return value


def zero_grad(root):
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.grad = 0.0
        waiting.extend(getattr(node, "below", ()))
