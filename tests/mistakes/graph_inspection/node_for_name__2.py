"""The class stands where its name should."""

def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(node and type(node), index) for node, index in root.grad_fn.next_functions]
