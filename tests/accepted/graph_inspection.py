"""graph_inspection: other right answers.

A cell shows the definitions that differ from the solution.
"""


# %% explicit_stack
# No recursion: a stack that gets the inputs in reverse.
def walk(root):
    entries, stack = [], [(0, root.grad_fn)]
    while stack:
        depth, node = stack.pop()
        if node is None:
            continue
        entries.append((depth, node.__class__.__name__))
        stack.extend((depth + 1, following) for following, _ in reversed(node.next_functions))
    return entries


def format_graph(root):
    return "\n".join(name.rjust(depth + len(name)) for depth, name in walk(root))


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, seen, stack = [], set(), [root.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        stack += [following for following, _ in node.next_functions[::-1]]
    return leaves


# %% functions_of_torch
# build_loss by torch's functions; the prediction as a product of the links, a whole number.
import torch


def build_loss(x):
    y = torch.mul(x, 2)
    z = torch.add(y, 3)
    loss = torch.square(z)
    return y, z, loss


PREDICTED_GRADIENT = 2 * (2 * 1 + 3) * 1 * 2


# %% generators
# Generators all the way, joined by itertools: two frames a level.
from itertools import chain


def nodes(node, depth):
    if node is None:
        return iter(())
    below = chain.from_iterable(nodes(edge[0], depth + 1) for edge in node.next_functions)
    return chain([(depth, node)], below)


def walk(root):
    return [(depth, type(node).__name__) for depth, node in nodes(root.grad_fn, 0)]


def format_graph(root):
    return "\n".join(" " * depth + type(node).__name__ for depth, node in nodes(root.grad_fn, 0))


def leaf_tensors(root):
    leaves = []
    for _, node in nodes(root.grad_fn, 0):
        try:
            leaf = node.variable
        except AttributeError:
            continue
        if id(leaf) not in map(id, leaves):
            leaves.append(leaf)
    if root.grad_fn is None and root.requires_grad:
        leaves = [root]
    return leaves


# %% gradient_edge
# torch's own way to the node of a tensor, which a leaf has too.
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


# %% lists_put_together
# Recursion that returns lists, inside comprehensions: two frames a level.
def entries_of(node, depth):
    if node is None:
        return []
    below = [entries_of(following, depth + 1) for following, _ in node.next_functions]
    return sum(below, [(depth, type(node).__name__)])


def walk(root):
    return entries_of(root.grad_fn, 0)


def format_graph(root):
    return "\n".join(f"{'':>{depth}}{name}" for depth, name in entries_of(root.grad_fn, 0))


def leaf_tensors(root):
    def below(node):
        if node is None:
            return []
        if not node.next_functions and hasattr(node, "variable"):
            return [node.variable]
        return [leaf for following, _ in node.next_functions for leaf in below(following)]

    if root.grad_fn is None:
        return [root] * root.requires_grad
    return list(dict.fromkeys(below(root.grad_fn)))


def inputs_of(root):
    edges = getattr(root.grad_fn, "next_functions", ())
    return [(type(node).__name__ if node else None, index) for node, index in edges]


# %% names_from_text
# Names cut out of what C++ calls a node, and out of the node's text.
def walk(root):
    def visit(node, depth):
        yield depth, node.name().split("::")[-1]
        for following, _ in node.next_functions:
            if following is not None:
                yield from visit(following, depth + 1)

    return list(visit(root.grad_fn, 0)) if root.grad_fn else []


def inputs_of(root):
    def name(node):
        return (
            node if node is None else str(node).split(" object at ")[0].lstrip("<").split(".")[-1]
        )

    if root.grad_fn is None:
        return []
    return [(name(node), index) for node, index in root.grad_fn.next_functions]


# %% nested_recursion
# A function inside each function, and a list that it fills.
def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            if following is not None:
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries


def format_graph(root):
    text = ""
    for depth, name in walk(root):
        text += f"{' ' * depth}{name}\n"
    return text.rstrip("\n")


def leaf_tensors(root):
    leaves = []

    def visit(node):
        if type(node).__name__ == "AccumulateGrad":
            if not any(node.variable is leaf for leaf in leaves):
                leaves.append(node.variable)
            return
        for following, _ in node.next_functions:
            if following is not None:
                visit(following)

    if root.is_leaf and root.requires_grad:
        leaves.append(root)
    elif root.grad_fn is not None:
        visit(root.grad_fn)
    return leaves


def inputs_of(root):
    edges = []
    if root.grad_fn is not None:
        for node, index in root.grad_fn.next_functions:
            if node is None:
                edges.append((None, index))
            else:
                edges.append((type(node).__name__, index))
    return edges


# %% remembered_branches
# What lies behind a shared node is worked out once and used again.
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


# %% results_with_names
# build_loss returns a NamedTuple, and the functions take a keyword of their own with a default.
from collections import OrderedDict, namedtuple

Results = namedtuple("Results", "y z loss")


def build_loss(x):
    y = 2.0 * x
    z = y - (-3)
    return Results(y, z, z.pow(2))


def walk(root, depth=0, node=None):
    node = node or root.grad_fn
    if node is None:
        return []
    entries = [(depth, type(node).__name__)]
    for following, _ in node.next_functions:
        if following is not None:
            entries.extend(walk(root, depth + 1, following))
    return entries


def leaf_tensors(root):
    leaves = OrderedDict()
    pending = [root.grad_fn]
    while pending:
        node = pending.pop(0)
        if node is None:
            continue
        if hasattr(node, "variable"):
            leaves[node.variable] = True
        pending = [following for following, _ in node.next_functions] + pending
    return list(leaves) or [root for _ in range(1) if root.is_leaf and root.requires_grad]


# %% sum_and_product
# x + x for 2x, z * z for the square, gradients of y and z kept for a look at them.
def build_loss(x):
    y = x + x
    z = y.clone().add_(3)
    loss = z * z
    for tensor in (y, z):
        if tensor.requires_grad:
            tensor.retain_grad()
    return y, z, loss


# %% text_indented_whole
# The drawing of each input, indented as a whole by textwrap.
import textwrap


def drawing(node):
    lines = [type(node).__name__]
    lines += [
        textwrap.indent(drawing(following), " ")
        for following, _ in node.next_functions
        if following is not None
    ]
    return "\n".join(lines)


def format_graph(root):
    return drawing(root.grad_fn) if root.grad_fn is not None else ""


# %% visitor_class
# A class that does the walking for all.
from typing import NamedTuple


class Entry(NamedTuple):
    depth: int
    name: str


class Visitor:
    def __init__(self, root):
        self.root = root
        self.nodes = []
        if root.grad_fn is not None:
            self.visit(root.grad_fn, 0)

    def visit(self, node, depth):
        self.note(node, depth)
        self.go_on(node, depth + 1)

    def note(self, node, depth):
        self.nodes.append((node, depth))

    def go_on(self, node, depth):
        [self.follow(edge, depth) for edge in node.next_functions]

    def follow(self, edge, depth):
        if edge[0] is not None:
            self.visit(edge[0], depth)


def walk(root):
    return [Entry(depth, type(node).__name__) for node, depth in Visitor(root).nodes]


def format_graph(root):
    return "\n".join(" " * entry.depth + entry.name for entry in walk(root))


def leaf_tensors(root):
    found = {
        id(node.variable): node.variable
        for node, _ in Visitor(root).nodes
        if hasattr(node, "variable")
    }
    if root.grad_fn is None and root.requires_grad:
        return [root]
    return list(found.values())


# %% assigned_on_the_way
# Walrus operators in build_loss; the edges of a leaf are never read; a node and its name in one
# expression.
def build_loss(x):
    return (y := x.mul(2)), (z := y + 3), z * z


def format_graph(root):
    return "\n".join(f"{'':{depth}}{type(node).__name__}" for depth, node in visits(root.grad_fn))


def inputs_of(root):
    return [
        (node and type(node).__name__, index)
        for node, index in getattr(root.grad_fn, "next_functions", ())
    ]


# %% written_to_a_buffer
# The text is written to a file in memory; a polynomial gives the prediction.
import io

PREDICTED_GRADIENT: float = 8 * 1.0 + 12  # loss = 4x² + 12x + 9


def format_graph(root):
    out = io.StringIO()
    for depth, name in walk(root):
        out.write(name.rjust(depth + len(name)) + "\n")
    return out.getvalue().removesuffix("\n")


def inputs_of(root):
    if root.is_leaf:
        return []
    return [
        (type(node).__name__ if node else None, index)
        for node, index in root.grad_fn.next_functions
    ]


# %% matched
# A match statement; nodes that were seen are skipped in leaf_tensors alone.
def leaf_tensors(root):
    if root.is_leaf:
        return [root] * root.requires_grad

    def below(node, seen):
        if node is None or node in seen:
            return []
        seen.add(node)
        if not node.next_functions and hasattr(node, "variable"):
            return [node.variable]
        return [leaf for following, _ in node.next_functions for leaf in below(following, seen)]

    return below(root.grad_fn, set())


def inputs_of(root):
    match root.grad_fn:
        case None:
            return []
        case node:
            return [(type(n).__name__ if n else None, i) for n, i in node.next_functions]


# %% dataclass_of_nodes
# A dataclass that names itself in an annotation; leaves are kept from last to first.
from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Place:
    node: object
    depth: int

    def whole(self) -> list[Place]:
        nodes = [node for node, _ in self.node.next_functions if node]
        below = [Place(node, self.depth + 1).whole() for node in nodes]
        return [self, *(place for places in below for place in places)]


def walk(root):
    places = Place(root.grad_fn, 0).whole() if root.grad_fn else []
    return [(place.depth, type(place.node).__name__) for place in places]


def format_graph(root):
    return "\n".join(name.rjust(depth + len(name)) for depth, name in walk(root))


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] * root.requires_grad
    places, leaves = Place(root.grad_fn, 0).whole(), {}
    for leaf in [place.node.variable for place in places if hasattr(place.node, "variable")][::-1]:
        leaves.pop(leaf, None)
        leaves[leaf] = None
    return [*leaves][::-1]


def inputs_of(root):
    edges = root.grad_fn.next_functions if root.grad_fn else ()
    return [(node and type(node).__name__, index) for node, index in edges]


# %% lists_for_tuples
# Square brackets for the three tensors and for each pair; a tuple of leaves.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return [y, z, z**2]


def walk(root):
    return [[depth, type(node).__name__] for depth, node in visits(root.grad_fn)]


def leaf_tensors(root):
    if root.grad_fn is None:
        return (root,) if root.requires_grad else ()
    nodes = [node for _, node in visits(root.grad_fn)]
    return tuple(dict.fromkeys(node.variable for node in nodes if hasattr(node, "variable")))


def inputs_of(root):
    edges = root.grad_fn.next_functions if root.grad_fn else ()
    return [[type(node).__name__ if node else None, index] for node, index in edges]


# %% shown_and_returned
# The text is printed, too, and each line has its newline; leaves are told apart by their addresses.
def format_graph(root):
    text = ""
    for depth, name in walk(root):
        print(" " * depth + name)
        text += " " * depth + name + "\n"
    return text


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = {}
    for _, node in visits(root.grad_fn):
        if hasattr(node, "variable"):
            leaves.setdefault(node.variable.data_ptr(), node.variable)
    return list(leaves.values())
