def zero_grad(root):
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.grad = 0.0
        for source, _ in node.sources:
            waiting.append(source)
