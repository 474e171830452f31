def zero_grad(root):
    stack, seen = [root], {root}
    while stack:
        node = stack.pop()
        node.grad = None
        for source, _ in node.sources:
            if source not in seen:
                seen.add(source)
                stack.append(source)
