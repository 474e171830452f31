"""graph_inspection: wrong answers that must not get the name of the mistake they resemble.

A cell shows the definitions that differ from the solution.
"""


# %% computed_afresh
# y is handed out detached; all that follows was computed from it.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return y.detach(), z, z**2


# %% computed_afresh
# y and z are handed out detached.
def build_loss(x):
    y = 2 * x
    z = y + 3
    return y.detach(), z.detach(), z**2


# %% constant_taken_for_leaf
# Lists None for a root without a graph.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else [None]
    out = {}

    def go(n):
        if hasattr(n, "variable"):
            out[n.variable] = 1
        for f, _ in n.next_functions:
            if f is not None:
                go(f)

    go(root.grad_fn)
    return list(out)


# %% depth_counts_visits
# The depth is the deepest that a node was met at so far.
def walk(root):
    if root.grad_fn is None:
        return []
    found, stack, depths = [], [root.grad_fn], {root.grad_fn: 0}
    while stack:
        node = stack.pop()
        found.append((depths[node], type(node).__name__))
        for following, _ in reversed(node.next_functions):
            if following is not None:
                depths[following] = max(depths.get(following, 0), depths[node] + 1)
                stack.append(following)
    return found


# %% leaves_compared_by_value
# Asks for the truth of a leaf, which compares it with nothing.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    out = {}

    def go(n):
        v = getattr(n, "variable", None)
        if v:
            out[id(v)] = v
        for f, _ in n.next_functions:
            if f is not None:
                go(f)

    go(root.grad_fn)
    return list(out.values())


# %% leaves_compared_by_value
# Looks at the root's own edges only.
def leaf_tensors(root):
    if root.grad_fn is None:
        return [root] if root.requires_grad else []
    out = []
    for f, _ in root.grad_fn.next_functions:
        if f is not None and hasattr(f, "variable"):
            out.append(f.variable)
    return out


# %% leaves_left_out
# Follows the last input only, and stops where that has no node.
def walk(root):
    out, n, d = [], root.grad_fn, 0
    while n is not None:
        out.append((d, type(n).__name__))
        d += 1
        n = n.next_functions[-1][0] if n.next_functions else None
    return out


# %% lines_not_joined
# The pairs of walk come back, not lines.
def format_graph(root):
    return walk(root)


# %% lookalikes_merged
# Follows only those edges that lead to a first output.
def format_graph(root):
    def visit(node, depth):
        if node is None:
            return []
        return [" " * depth + type(node).__name__] + [line for after, i in node.next_functions if not i for line in visit(after, depth + 1)]

    return "\n".join(visit(root.grad_fn, 0))


# %% node_for_name
# The method name stands where its result should.
def walk(root):
    def go(n, d):
        if n is None:
            return []
        r = [(d, n.name)]
        for f, _ in n.next_functions:
            r += go(f, d + 1)
        return r

    return go(root.grad_fn, 0)


# %% none_not_skipped
# Nothing comes back for an input without a node, and that is added to a list.
def walk(root):
    def go(n, d):
        if n is None:
            return
        r = [(d, type(n).__name__)]
        for f, _ in n.next_functions:
            r += go(f, d + 1)
        return r

    return go(root.grad_fn, 0) or []


# %% pair_not_unpacked
# Turns the tuple of edges round as if it were a list.
def walk(root):
    if root.grad_fn is None:
        return []
    out, stack = [], [(0, root.grad_fn)]
    while stack:
        d, n = stack.pop()
        out.append((d, type(n).__name__))
        nf = n.next_functions
        nf.reverse()
        for f, _ in nf:
            if f is not None:
                stack.append((d + 1, f))
    return out


# %% text_of_the_node
# A word of its own in brackets stands where an input has no node.
def inputs_of(root):
    if root.grad_fn is None:
        return []
    return [(type(n).__name__ if n else "<constant>", i) for n, i in root.grad_fn.next_functions]


# %% yields_without_a_list
# A generator where one text is promised.
def format_graph(root):
    for d, n in walk(root):
        yield " " * d + n


# %% none_ends_the_loop
# No input is followed if one of them has no node.
def walk(root):
    def go(n, d):
        r, after = [(d, type(n).__name__)], [f for f, _ in n.next_functions]
        for f in after if all(after) else ():
            r += go(f, d + 1)
        return r

    return go(root.grad_fn, 0) if root.grad_fn else []
