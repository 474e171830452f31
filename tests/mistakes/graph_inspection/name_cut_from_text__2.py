"""All that stands before the first blank."""


def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(None if node is None else repr(node)[1:].split()[0], index) for node, index in root.grad_fn.next_functions]
