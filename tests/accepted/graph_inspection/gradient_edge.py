"""torch's own way to the node of a tensor, which a leaf has too."""

import torch


def leaf_tensors(root):
    if not root.requires_grad:
        return []
    leaves = {}

    def visit(node):
        if hasattr(node, "variable"):
            leaves.setdefault(node, node.variable)
        for following, _ in node.next_functions:
            if following is not None:
                visit(following)

    visit(torch.autograd.graph.get_gradient_edge(root).node)
    return [*leaves.values()]
