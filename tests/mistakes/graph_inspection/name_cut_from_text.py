import re


def walk(root):
    def below(node, depth):
        if node is None:
            return []
        name = re.match(r"<(\w+)", str(node)).group(1)
        return [(depth, name)] + [entry for following, _ in node.next_functions for entry in below(following, depth + 1)]

    return below(root.grad_fn, 0)
