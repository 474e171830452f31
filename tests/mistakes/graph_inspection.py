"""graph_inspection: wrong answers. A cell shows the definitions that differ from the solution."""

# %% accumulated_prediction
# Read off x.grad after the cell was run twice.
PREDICTED_GRADIENT: float = 40.0


# %% another_point
# Worked out at x = 2, as in the lesson's other example.
PREDICTED_GRADIENT: float = 28.0


# %% common_other_parameters
# The walk of the notes, which is to be started with a node and a level.
def walk(grad_fn, level):
    entries = [(level, type(grad_fn).__name__)]
    for following, _ in grad_fn.next_functions:
        if following is not None:
            entries += walk(following, level + 1)
    return entries


# %% common_other_parameters
# No parameter at all: x is made inside.
import torch


def build_loss():
    x = torch.tensor(1.0, requires_grad=True)
    y = 2 * x
    z = y + 3
    return y, z, z**2


# %% backward_already_ran
# The exercise says to run backward, so it is run at once.
def build_loss(x):
    y = 2 * x
    z = y + 3
    loss = z**2
    loss.sum().backward()
    return y, z, loss


# %% breadth_first
# A queue.
from collections import deque


def walk(root):
    queue = deque([(0, root.grad_fn)])
    entries = []
    while queue:
        depth, node = queue.popleft()
        if node is None:
            continue
        entries.append((depth, type(node).__name__))
        queue.extend((depth + 1, following) for following, _ in node.next_functions)
    return entries


# %% breadth_first
# Leaves are collected level by level.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, level = {}, [root.grad_fn]
    while level:
        below = []
        for node in level:
            if hasattr(node, "variable"):
                leaves.setdefault(id(node.variable), node.variable)
            below += [following for following, _ in node.next_functions if following is not None]
        level = below
    return list(leaves.values())


# %% children_before_parent
# The entry is written after the inputs.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        for following, _ in node.next_functions:
            visit(following, depth + 1)
        entries.append((depth, type(node).__name__))

    visit(root.grad_fn, 0)
    return entries


# %% children_before_parent
# A list that grows at its front.
def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is None:
            return
        lines.insert(0, " " * depth + type(node).__name__)
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)


# %% computed_afresh
# Each result is written out in x.
def build_loss(x):
    return 2 * x, 2 * x + 3, (2 * x + 3) ** 2


# %% computed_afresh
# y is a copy that only looks like the one in the chain.
def build_loss(x):
    z = x * 2 + 3
    loss = z * z
    y = z - 3
    return y, z, loss


# %% constant_edges_dropped
# Edges without a node are filtered out.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [
        (type(node).__name__, index)
        for node, index in root.grad_fn.next_functions
        if node is not None
    ]


# %% constant_taken_for_leaf
# is_leaf is asked, requires_grad is not.
def leaf_tensors(root):
    if root.is_leaf:
        return [root]
    leaves = {}

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list(leaves.values())


# %% constants_listed
# None is listed by the name of its type.
def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        if node is not None:
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries


# %% constants_listed
# A line that says None.
def format_graph(root):
    if root.grad_fn is None:
        return ""
    lines = []

    def visit(node, depth):
        name = "None" if node is None else type(node).__name__
        lines.append(" " * depth + name)
        for following, _ in getattr(node, "next_functions", ()):
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)


# %% depth_counts_visits
# The depth is counted up once for each input.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            depth += 1
            visit(following, depth)

    visit(root.grad_fn, 0)
    return entries


# %% depth_counts_visits
# One depth for the whole walk, which never comes back up.
def format_graph(root):
    lines, depth = [], 0

    def visit(node):
        nonlocal depth
        if node is None:
            return
        lines.append(" " * depth + type(node).__name__)
        depth += 1
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return "\n".join(lines)


# %% depth_never_grows
# The depth is passed on as it is.
def visits(node, depth=0):
    if node is None:
        return []
    found = [(depth, node)]
    for following, _ in node.next_functions:
        found += visits(following, depth)
    return found


# %% depth_from_one
# The first level is 1.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 1)
    return entries


# %% depth_from_one
# The depth is counted up before the entry is written.
def walk(root):
    entries = []

    def visit(node, depth=0):
        depth += 1
        if node:
            entries.append((depth, type(node).__name__))
            for following, _ in node.next_functions:
                visit(following, depth)

    visit(root.grad_fn)
    return entries


# %% first_input_only
# Only the first input is followed.
def walk(root):
    entries, node, depth = [], root.grad_fn, 0
    while node is not None:
        entries.append((depth, type(node).__name__))
        node = node.next_functions[0][0] if node.next_functions else None
        depth += 1
    return entries


def format_graph(root):
    return "\n".join(" " * depth + name for depth, name in walk(root))


# %% first_input_only
# A return inside the loop over the inputs.
def walk(root):
    def below(node, depth):
        entry = [(depth, type(node).__name__)]
        for following, _ in node.next_functions:
            return entry + (below(following, depth + 1) if following is not None else [])
        return entry

    return below(root.grad_fn, 0) if root.grad_fn is not None else []


# %% forgot_inner_derivative
# 2z: the derivative of y = 2x is forgotten.
PREDICTED_GRADIENT: float = 10.0


# %% forgot_inner_derivative
# z times 2: the square's own factor is forgotten.
PREDICTED_GRADIENT: float = (2 * 1 + 3) * 2


# %% graph_is_cut
# A number is taken out with item and made a tensor again.
import torch


def build_loss(x):
    y = 2 * x
    z = torch.tensor((y + 3).tolist(), dtype=x.dtype)
    loss = z**2
    return y, z, loss


# %% graph_is_cut
# x is copied into a new leaf, so that it requires grad.
def build_loss(x):
    x = x.detach().requires_grad_()
    y = x * 2
    z = y + 3
    loss = z.pow(2)
    return y, z, loss


# %% index_is_a_count
# The index is taken for the place of the input.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [
        (type(edge[0]).__name__ if edge[0] else None, place)
        for place, edge in enumerate(root.grad_fn.next_functions)
    ]


# %% index_is_a_count
# Inputs are counted by hand.
def inputs_of(root):
    edges, count = [], 0
    if root.grad_fn is not None:
        for node, _ in root.grad_fn.next_functions:
            edges.append((node.__class__.__name__ if node is not None else None, count))
            count += 1
    return edges


# %% index_is_a_count
# The inputs are numbered from 1.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    edges = enumerate(root.grad_fn.next_functions, 1)
    return [(type(node).__name__ if node else None, number) for number, (node, _) in edges]


# %% index_lost
# The second half of the pair is taken for something that is always 0.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [
        (None if edge[0] is None else type(edge[0]).__name__, 0)
        for edge in root.grad_fn.next_functions
    ]


# %% index_lost
# Names alone.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [type(node).__name__ if node else None for node, _ in root.grad_fn.next_functions]


# %% last_input_first
# A stack that gets the inputs in their order.
def walk(root):
    entries = []
    stack = [(0, root.grad_fn)]
    while stack:
        depth, node = stack.pop()
        if node is not None:
            entries.append((depth, type(node).__name__))
            stack += [(depth + 1, following) for following, _ in node.next_functions]
    return entries


# %% last_input_first
# The same stack, for the leaves.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = {}, [root.grad_fn]
    while stack:
        node = stack.pop()
        if type(node).__name__ == "AccumulateGrad":
            leaves[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            if following:
                stack.append(following)
    return list(leaves.values())


# %% leaf_listed_twice
# A leaf is noted each time that it is reached.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return leaves


# %% leaf_listed_twice
# Lists of the branches are put together.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []

    def below(node):
        if hasattr(node, "variable"):
            return [node.variable]
        return [
            leaf
            for following, _ in node.next_functions
            if following is not None
            for leaf in below(following)
        ]

    return below(root.grad_fn)


# %% leaf_nodes_returned
# The nodes of the leaves.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if type(node).__name__ == "AccumulateGrad" and node not in leaves:
            leaves.append(node)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return leaves


# %% leaf_root_forgotten
# No graph, no leaves.
def leaf_tensors(root):
    leaves = {}

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list(leaves.values())


# %% leaves_are_copies
# Detached, to be on the safe side.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = {}

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves[id(node.variable)] = node.variable.detach()
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list(leaves.values())


# %% leaves_are_copies
# New leaves with the same values.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    found = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable") and all(node.variable is not leaf for leaf in found):
            found.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return [leaf.data.clone().requires_grad_() for leaf in found]


# %% leaves_compared_by_value
# in compares tensors by their values.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable") and node.variable not in leaves:
            leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return leaves


# %% leaves_compared_by_value
# torch.equal takes twins for one.
import torch


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = [], [root.grad_fn]
    while stack:
        node = stack.pop()
        variable = getattr(node, "variable", None)
        if variable is not None and not any(torch.equal(variable, leaf) for leaf in leaves):
            leaves.append(variable)
        stack += [
            following for following, _ in reversed(node.next_functions) if following is not None
        ]
    return leaves


# %% leaves_in_another_order
# Sorted, so that the result is always the same.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = {}

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves[id(node.variable)] = node.variable
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return sorted(leaves.values(), key=lambda leaf: float(leaf.sum()))


# %% leaves_in_another_order
# A later visit moves a leaf to the end.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable"):
            leaves.insert(len(leaves) // 2, node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list({id(leaf): leaf for leaf in leaves}.values())


# %% leaves_in_another_order
# The right leaves in an order of their own.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    nodes, seen = [], set()

    def visit(node):
        if node is None or node in seen:
            return
        seen.add(node)
        for following, _ in reversed(node.next_functions):
            visit(following)
        nodes.append(node)

    visit(root.grad_fn)
    return [node.variable for node in reversed(nodes) if hasattr(node, "variable")]


# %% leaves_left_out
# A node without inputs ends the walk before it is listed.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is None or not node.next_functions:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% lines_not_joined
# The lines are collected and never joined.
def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is not None:
            lines.append(" " * depth + type(node).__name__)
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return lines


# %% lookalikes_merged
# An entry that is there already is not added again.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is None:
            return
        entry = (depth, type(node).__name__)
        if entry not in entries:
            entries.append(entry)
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% name_cut_from_text
# The name is cut out of the node's text.
import re


def walk(root):
    def below(node, depth):
        if node is None:
            return []
        name = re.match(r"<(\w+)", str(node)).group(1)
        return [(depth, name)] + [
            entry for following, _ in node.next_functions for entry in below(following, depth + 1)
        ]

    return below(root.grad_fn, 0)


# %% name_cut_from_text
# Everything before the first blank is used.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [
        (None if node is None else repr(node)[1:].split()[0], index)
        for node, index in root.grad_fn.next_functions
    ]


# %% no_graph_not_handled
# The walk begins without looking whether there is a node.
def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            if following is not None:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% no_graph_not_handled
# inputs_of reads grad_fn without checking for None.
def inputs_of(root):
    return [
        (type(node).__name__ if node is not None else None, index)
        for node, index in root.grad_fn.next_functions
    ]


# %% node_for_name
# The node itself is in the place of its name.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is not None:
            entries.append((depth, node))
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% node_for_name
# The class itself is in the place of its name.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(node and type(node), index) for node, index in root.grad_fn.next_functions]


# %% none_has_a_name
# type(None).__name__ is NoneType.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(node).__name__, index) for node, index in root.grad_fn.next_functions]


# %% none_has_a_name
# None as a text.
def inputs_of(root):
    edges = []
    if root.grad_fn is not None:
        for node, index in root.grad_fn.next_functions:
            if node is None:
                edges.append(("None", index))
            else:
                edges.append((type(node).__name__, index))
    return edges


# %% none_not_skipped
# Every edge is followed, whether or not a node is at its end.
def walk(root):
    if root.grad_fn is None:
        return []
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% none_not_skipped
# None is pushed onto the stack like any node.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = [], [root.grad_fn]
    while stack:
        node = stack.pop()
        if hasattr(node, "variable"):
            if not any(leaf is node.variable for leaf in leaves):
                leaves.append(node.variable)
        else:
            stack.extend(following for following, _ in reversed(node.next_functions))
    return leaves


# %% depth_from_one
# The text that print(' ' * depth, name) writes.
def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is not None:
            lines.append(" ".join([" " * depth, type(node).__name__]))
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)


# %% depth_from_one
# The depth begins at 1.
def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is not None:
            lines.append(" " * depth + type(node).__name__)
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 1)
    return "\n".join(lines)


# %% only_loss_returned
# The intermediate results are thrown away.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return z**2


# %% pair_not_unpacked
# The pairs of next_functions are taken for nodes.
def walk(root):
    entries = []

    def visit(node, depth):
        entries.append((depth, type(node).__name__))
        for following in node.next_functions:
            if following is not None:
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries


# %% pair_turned_round
# Index first.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [
        (index, type(node).__name__ if node else None)
        for node, index in root.grad_fn.next_functions
    ]


# %% pair_turned_round
# Name first.
def walk(root):
    if root.grad_fn is None:
        return []

    def visit(node, depth):
        found = [(type(node).__name__, depth)]
        for following, _ in node.next_functions:
            if following is not None:
                found += visit(following, depth + 1)
        return found

    return visit(root.grad_fn, 0)


# %% prediction_is_no_number
# A tensor with the right number in it.
import torch

PREDICTED_GRADIENT = torch.tensor(20.0)


# %% qualified_name
# node.name() is what C++ calls it.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is not None:
            entries.append((depth, node.name()))
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% qualified_name
# node.name() among the inputs.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    edges = []
    for node, index in root.grad_fn.next_functions:
        edges.append((node.name() if node else None, index))
    return edges


# %% results_out_of_order
# Loss comes first, as if it were the most important.
def build_loss(x):
    y = x * 2
    z = y + 3
    loss = z**2
    return loss, y, z


# %% results_pile_up
# A default that is made once.
def walk(root, entries=[]):
    def visit(node, depth):
        if node is None:
            return
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% results_pile_up
# A list of the module's.
found = []


def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable") and all(node.variable is not leaf for leaf in found):
            found.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    visit(root.grad_fn)
    return list(found)


# %% returns_nothing
# The graph is printed, as the notes do it, and nothing is returned.
def format_graph(root):
    def show(node, level=0):
        if node is None:
            return
        print(" " * level + type(node).__name__)
        for following, _ in node.next_functions:
            show(following, level + 1)

    show(root.grad_fn)


# %% returns_nothing
# The value of append is returned.
def leaf_tensors(root):
    leaves = []

    def visit(node):
        if node is None:
            return
        if hasattr(node, "variable") and all(node.variable is not leaf for leaf in leaves):
            return leaves.append(node.variable)
        for following, _ in node.next_functions:
            visit(following)

    return visit(root.grad_fn)


# %% root_left_out
# The walk begins with the root's inputs.
def walk(root):
    entries = []

    def visit(node, depth):
        for following, _ in node.next_functions:
            if following is not None:
                entries.append((depth, type(following).__name__))
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return entries


# %% root_left_out
# The inputs are drawn at their depth, the root is not drawn.
def format_graph(root):
    lines = []

    def visit(node, depth):
        for following, _ in node.next_functions:
            if following is not None:
                lines.append(" " * depth + type(following).__name__)
                visit(following, depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 1)
    return "\n".join(lines)


# %% shared_nodes_once
# A set of visited nodes, as graph walks usually have one.
def walk(root):
    entries, seen = [], set()

    def visit(node, depth):
        if node is None or node in seen:
            return
        seen.add(node)
        entries.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% shared_nodes_once
# A stack; nodes are marked when they are put on it.
def format_graph(root):
    if root.grad_fn is None:
        return ""
    lines, stack, marked = [], [(0, root.grad_fn)], {root.grad_fn}
    while stack:
        depth, node = stack.pop()
        lines.append(" " * depth + type(node).__name__)
        for following, _ in node.next_functions[::-1]:
            if following is not None and following not in marked:
                marked.add(following)
                stack.append((depth + 1, following))
    return "\n".join(lines)


# %% square_taken_at_y
# The square is differentiated where y is.
PREDICTED_GRADIENT: float = 8.0


# %% square_taken_at_y
# 2y, and the inner derivative forgotten too.
PREDICTED_GRADIENT: float = 4.0


# %% tensor_for_node
# The tensor is asked for what its node has.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(node).__name__ if node else None, index) for node, index in root.next_functions]


# %% tensor_for_node
# The walk of the notes, which is to be started with a node, and asks whether it goes on.
def walk(grad_fn, level=0):
    entries = [(level, type(grad_fn).__name__)]
    if hasattr(grad_fn, "next_functions"):
        for following, _ in grad_fn.next_functions:
            if following is not None:
                entries += walk(following, level + 1)
    return entries


# %% text_of_the_node
# str of the node.
def walk(root):
    entries = []

    def visit(node, depth):
        if node is not None:
            entries.append((depth, str(node)))
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return entries


# %% text_of_the_node
# The node in an f-string, as print shows it.
def format_graph(root):
    def lines(node, depth):
        if node is None:
            return []
        return [f"{' ' * depth}{node}"] + [
            line for following, _ in node.next_functions for line in lines(following, depth + 1)
        ]

    return "\n".join(lines(root.grad_fn, 0))


# %% value_for_gradient
# Loss itself.
PREDICTED_GRADIENT: float = 25.0


# %% value_for_gradient
# The value of z.
PREDICTED_GRADIENT: float = 5.0


# %% wide_indentation
# Four spaces a level, as in code.
def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is not None:
            lines.append("    " * depth + type(node).__name__)
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)


# %% wide_indentation
# No indentation at all.
def format_graph(root):
    lines = []

    def visit(node, depth):
        if node is not None:
            lines.append(type(node).__name__)
            for following, _ in node.next_functions:
                visit(following, depth + 1)

    visit(root.grad_fn, 0)
    return "\n".join(lines)


# %% yields_without_a_list
# walk is itself the generator.
def walk(root):
    stack = [(0, root.grad_fn)] if root.grad_fn is not None else []
    while stack:
        depth, node = stack.pop()
        yield depth, type(node).__name__
        for following, _ in reversed(node.next_functions):
            if following is not None:
                stack.append((depth + 1, following))


# %% same_value_for_y_and_z
# z is y, changed in place.
def build_loss(x):
    y = 2 * x
    z = y.add_(3)
    return y, z, z**2


# %% same_value_for_y_and_z
# One name for both.
def build_loss(x):
    y = 2 * x
    y = z = y + 3
    return y, z, z * z


# %% extra_dimension
# The factor is a tensor with a dimension.
import torch


def build_loss(x):
    y = torch.tensor([2.0]) * x
    z = y + 3
    return y, z, z**2


# %% common_wrong_dtype
# The factor is a float64 tensor, to which a single float32 number gives way.
import torch


def build_loss(x):
    y = torch.tensor(2.0, dtype=torch.float64) * x
    z = y + 3
    return y, z, z**2


# %% not_empty_without_a_graph
# A leaf is walked from its AccumulateGrad.
import torch


def walk(root):
    if not root.requires_grad:
        return []
    return [
        (depth, type(node).__name__)
        for depth, node in visits(torch.autograd.graph.get_gradient_edge(root).node)
    ]


# %% not_empty_without_a_graph
# A remark where there is nothing to draw.
def format_graph(root):
    return "\n".join(" " * depth + name for depth, name in walk(root)) or "(no graph)"


# %% equal_edges_merged
# The edges of a node as a dictionary.
def walk(root):
    def go(node, depth):
        if node is None:
            return []
        below = [
            row for after, _ in dict.fromkeys(node.next_functions) for row in go(after, depth + 1)
        ]
        return [(depth, type(node).__name__), *below]

    return go(root.grad_fn, 0)


# %% equal_edges_merged
# An input is passed over if it was the input before, too.
def format_graph(root):
    lines = []

    def visit(node, depth):
        lines.append(" " * depth + type(node).__name__)
        followed = []
        for edge in node.next_functions:
            if edge[0] is not None and edge not in followed:
                followed.append(edge)
                visit(edge[0], depth + 1)

    if root.grad_fn is not None:
        visit(root.grad_fn, 0)
    return "\n".join(lines)


# %% common_argument_count
# Calls itself with a depth that it doesn't take.
def walk(root):
    return [(0, type(root.grad_fn).__name__)] + [
        row for node, _ in root.grad_fn.next_functions for row in walk(node, 1)
    ]


# %% common_argument_count
# A helper with a longer name is called with one argument too few.
def _walk(node, depth, out):
    out.append((depth, type(node).__name__))
    for f, _ in node.next_functions:
        if f is not None:
            _walk(f, depth + 1)


def walk(root):
    out = []
    if root.grad_fn is not None:
        _walk(root.grad_fn, 0, out)
    return out


# %% common_argument_count
# walk may be called with one argument, and calls itself with one too many.
def walk(root, depth=0):
    node = getattr(root, "grad_fn", root)
    if node is None:
        return []
    out = [(depth, type(node).__name__)]
    for f, _ in node.next_functions:
        if f is not None:
            out += walk(f, depth + 1, out)
    return out


# %% results_out_of_order
# The results from last to first.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return z**2, z, y


# %% results_out_of_order
# y and z change places.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return z, y, z**2


# %% results_out_of_order
# loss in the middle.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return y, z**2, z


# %% results_out_of_order
# z first.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return z, z**2, y


# %% extra_dimension
# The factor has x's dtype, and a dimension.
import torch


def build_loss(x):
    y = torch.tensor([2.0], dtype=x.dtype) * x
    z = y + 3
    return y, z, z**2


# %% constant_edges_dropped
# An edge is listed if there is a node.
def inputs_of(root):
    edges = []
    for node, index in getattr(root.grad_fn, "next_functions", ()):
        if node:
            edges.append((type(node).__name__, index))
    return edges


# %% only_loss_returned
# One expression.
def build_loss(x):
    return (2 * x + 3) ** 2


# %% none_ends_the_loop
# The first input without a node ends the loop.
def walk(root):
    found = []

    def go(node, depth):
        found.append((depth, type(node).__name__))
        for following, _ in node.next_functions:
            if following is None:
                break
            go(following, depth + 1)

    if root.grad_fn is not None:
        go(root.grad_fn, 0)
    return found


# %% none_ends_the_loop
# A stack onto which the inputs go from the last one, up to one without a node.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    leaves, stack = {}, [root.grad_fn]
    while stack:
        node = stack.pop()
        if hasattr(node, "variable"):
            leaves[node.variable] = None
        for following, _ in reversed(node.next_functions):
            if following is None:
                break
            stack.append(following)
    return list(leaves)


# %% none_ends_the_loop
# The lines so far are returned at an input without a node.
def format_graph(root):
    def lines(node, depth):
        found = [" " * depth + type(node).__name__]
        for following, _ in node.next_functions:
            if not following:
                return found
            found += lines(following, depth + 1)
        return found

    return "\n".join(lines(root.grad_fn, 0)) if root.grad_fn else ""


# %% constant_edges_dropped
# The first edge without a node ends the list.
def inputs_of(root):
    found = []
    for node, index in root.grad_fn.next_functions if root.grad_fn else ():
        if node is None:
            break
        found.append((type(node).__name__, index))
    return found


# %% branch_keeps_its_depth
# What lies behind a node is stored with the depths of the first visit.
def walk(root):
    known = {}

    def behind(node, depth):
        if node is None:
            return []
        if node not in known:
            known[node] = [(depth, type(node).__name__)]
            for following, _ in node.next_functions:
                known[node] += behind(following, depth + 1)
        return known[node]

    return behind(root.grad_fn, 0)


# %% branch_keeps_its_depth
# The lines of a node are stored, spaces included.
def format_graph(root):
    known = {None: []}

    def lines(node, depth):
        if node not in known:
            nodes = [following for following, _ in node.next_functions]
            below = [line for following in nodes for line in lines(following, depth + 1)]
            known[node] = [" " * depth + type(node).__name__, *below]
        return known[node]

    return "\n".join(lines(root.grad_fn, 0))


# %% root_line_indented
# A space, filled up to the depth.
def format_graph(root):
    return "\n".join(f"{' ':{depth}}{name}" for depth, name in walk(root))


# %% equal_pairs_once
# A pair that is there already is not added again.
def inputs_of(root):
    found = []
    for node, index in root.grad_fn.next_functions if root.grad_fn else ():
        pair = (type(node).__name__ if node else None, index)
        if pair not in found:
            found.append(pair)
    return found


# %% equal_pairs_once
# The edges as the keys of a dictionary.
def inputs_of(root):
    edges = dict.fromkeys(root.grad_fn.next_functions) if root.grad_fn else {}
    return [(type(node).__name__ if node else None, index) for node, index in edges]


# %% no_graph_not_handled
# The first pair is taken out of a list that may be empty.
def format_graph(root):
    (_, text), *rest = walk(root)
    for depth, name in rest:
        text += "\n" + " " * depth + name
    return text


# %% kept_between_calls
# A default set keeps the nodes that earlier calls met.
def met(node, found, known=set()):
    if node is not None and node not in known:
        known.add(node)
        if hasattr(node, "variable"):
            found.append(node.variable)
        for edge in node.next_functions:
            met(edge[0], found)
    return found


def leaf_tensors(root):
    if root.grad_fn is not None:
        return met(root.grad_fn, [])
    return [root] if root.requires_grad else []


# %% kept_between_calls
# The stack of the module is emptied in the first call only.
kept = {}


def inputs_of(root):
    if root.grad_fn is None:
        return []
    edges = kept.setdefault(root, list(root.grad_fn.next_functions))
    pairs = []
    while edges:
        node, index = edges.pop(0)
        pairs.append((type(node).__name__ if node else None, index))
    return pairs


# %% edges_out_of_order
# The pairs are sorted by index.
def inputs_of(root):
    edges = root.grad_fn.next_functions if root.grad_fn else ()
    pairs = [(type(node).__name__ if node else None, index) for node, index in edges]
    pairs.sort(key=lambda pair: pair[1])
    return pairs


# %% edges_out_of_order
# The last input comes first.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    edges = reversed(root.grad_fn.next_functions)
    return [(type(node).__name__ if node else None, index) for node, index in edges]


# %% index_of_the_root
# output_nr belongs to the root itself.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    nodes = [edge[0] for edge in root.grad_fn.next_functions]
    return [(type(node).__name__, root.output_nr) if node else (None, 0) for node in nodes]


# %% two_inputs_only
# A node is taken for an operation of one or two tensors.
def walk(root):
    found = []

    def visit(node, depth):
        if node is None:
            return
        found.append((depth, type(node).__name__))
        edges = node.next_functions
        if len(edges) > 0:
            visit(edges[0][0], depth + 1)
        if len(edges) > 1:
            visit(edges[1][0], depth + 1)

    visit(root.grad_fn, 0)
    return found


# %% two_inputs_only
# A left and a right branch, and no more.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []

    def behind(node):
        if node is None:
            return {}
        if hasattr(node, "variable"):
            return {node.variable: None}
        edges = [*node.next_functions, (None, 0), (None, 0)]
        (left, _), (right, _) = edges[:2]
        return behind(left) | behind(right)

    return list(behind(root.grad_fn))
