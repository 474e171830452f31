"""A return inside the loop over the inputs."""


def walk(root):
    def below(node, depth):
        entry = [(depth, type(node).__name__)]
        for following, _ in node.next_functions:
            return entry + (below(following, depth + 1) if following is not None else [])
        return entry

    return below(root.grad_fn, 0) if root.grad_fn is not None else []
