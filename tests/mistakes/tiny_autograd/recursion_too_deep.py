def in_order(root):
    order, seen = [], set()

    def visit(node):
        if node not in seen:
            seen.add(node)
            for source, _ in node.sources:
                visit(source)
            order.append(node)

    visit(root)
    return order
