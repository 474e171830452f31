def in_order(root):
    order, stack = [], [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        else:
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order
