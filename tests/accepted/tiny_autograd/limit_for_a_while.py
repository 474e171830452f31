"""The limit of the recursion is raised for as long as it is needed."""

import sys


class Value:
    ...

    def backward(self):
        def visit(node, order, seen):
            seen.add(id(node))
            for source, _ in node.sources:
                if id(source) not in seen:
                    visit(source, order, seen)
            order.append(node)

        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(50_000)
        try:
            order = []
            visit(self, order, set())
        finally:
            sys.setrecursionlimit(limit)
        self.grad += 1
        for node in order[::-1]:
            for source, slope in node.sources:
                source.grad += slope * node.grad
