"""What lies behind a shared node is worked out once and used again."""


def walk(root):
    known = {}

    def below(node):
        if node not in known:
            entries = [(0, type(node).__name__)]
            for following, _ in node.next_functions:
                if following is not None:
                    entries += [(depth + 1, name) for depth, name in below(following)]
            known[node] = entries
        return known[node]

    return [] if root.grad_fn is None else below(root.grad_fn)
