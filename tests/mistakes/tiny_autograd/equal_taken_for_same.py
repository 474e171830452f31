def in_order(root):
    order, seen, stack = [], set(), [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        elif node.data not in seen:
            seen.add(node.data)
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order
