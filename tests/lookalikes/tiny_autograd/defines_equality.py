"""Puts lists into a set."""


def in_order(root: Value) -> list[Value]:
    order: list[Value] = []
    seen: set[Value] = set()
    stack = [(root, False)]
    while stack:
        node, complete = stack.pop()
        if complete:
            order.append(node)
        elif node not in seen:
            seen.add([node])
            stack.append((node, True))
            stack += [(source, False) for source, _ in node.sources]
    return order
