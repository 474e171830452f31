"""A word of its own in brackets stands where an input has no node."""


def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(n).__name__ if n else "<constant>", i) for n, i in root.grad_fn.next_functions]
