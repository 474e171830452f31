"""graph_inspection, rules that recognize mistakes by what the student's code returns or raises.

A failure of the four functions that read a graph carries the graph, as the fact ``drawn``. So a
rule can walk it in the wrong way that it stands for, and see whether exactly that came back. Where
the student's code raised, the rule asks it for small graphs and looks at which of them raise too.
"""

import ast
from collections import Counter
from dataclasses import replace
from itertools import takewhile

import torch
from torch import Tensor

from grader.authoring import Opaque, StudentCodeError, fetch, phrase, rule, same, says, value_rule

KIND = "returned a value of type {type}"


# ------------------------------------------------------------------------------- what rules look at


def tensors_of(failure):
    """Return the tensors of the failure's graph by name, the root last; none if there is no graph.

    A rule keeps them while it walks: before torch 2.13, the node of a Function that is written in
    Python is of no use without its result.
    """
    graph = failure.facts.get("drawn")
    return graph.tensors() if graph else {}


def root_node(tensors):
    """Return the root's node; None if there is no graph, or no node."""
    return [*tensors.values()][-1].grad_fn if tensors else None


def entries(value, about):
    """Return (depth, name) pairs: those of walk, or lines of format_graph by their indentation; []
    for anything else.
    """
    if isinstance(value, str):
        value = value.split("\n")
    if not isinstance(value, list):
        return []
    if about == "format_graph":
        lines = [line for line in value if isinstance(line, str)]
        return [(len(line) - len(line.lstrip(" ")), line.strip(" ")) for line in lines]
    return [tuple(entry) for entry in value if isinstance(entry, list | tuple) and len(entry) == 2]


def listed(failure):
    """Return the entries that came back, and those that were expected."""
    return entries(failure.actual, failure.about), entries(failure.expected, failure.about)


def wrong_name(failure):
    """Return the first name that came back wrong, and the right one; (None, None) if there is
    none.
    """
    place = 0 if failure.about == "inputs_of" else 1
    pairs = zip(*listed(failure), strict=False)
    names = ((got[place], want[place]) for got, want in pairs)
    return next((pair for pair in names if pair[0] != pair[1]), (None, None))


def asked(failure, student, *lines, values=None):
    """Return what the student's function gives for a graph of the leaves x and y."""
    if values is None:
        values = [failure.draw.tensor(2) for _ in "xy"]
    x, y = (student.put(value.requires_grad_()) for value in values)
    graph = failure.draw.graph(*lines, x=values[0], y=values[1])
    return fetch(getattr(student, failure.about)(graph.root([x, y])))


def fails(failure, student, text):
    """Return whether the student's function raises for a small graph."""
    try:
        asked(failure, student, f"root = {text}")
    except StudentCodeError:
        return True
    return False


def leaves_met(rows, tensors):
    """Return the leaves among the nodes of a walk, each once, by their names."""
    leaves = {node.variable: None for _, node in rows if hasattr(node, "variable")}
    return [next(name for name, tensor in tensors.items() if tensor is leaf) for leaf in leaves]


def said(failure):
    """Return the student's exception without the graph that the check added."""
    return str(failure.error).split(" (in the graph")[0]


# ------------------------------------------------------------------------------- wrong ways to walk


def after(node):
    """Return the nodes that a node leads to."""
    return [following for following, _ in node.next_functions if following is not None]


def depth_first(following=after, depth=0):
    """Return a walk: it returns (depth, node) pairs, depth-first, each time a node is reached."""

    def walk(node):
        found, stack = [], [(depth, node)]
        while stack:
            level, node = stack.pop()
            found.append((level, node))
            stack += [(level + 1, one) for one in following(node)[::-1]]
        return found

    return walk


preorder = depth_first()
flipped = depth_first(lambda node: after(node)[::-1])


def until_none(node, step=1):
    """Return the nodes that a node leads to, up to the first edge without one."""
    nodes = [following for following, _ in node.next_functions][::step]
    return list(takewhile(bool, nodes))[::step]


def different_edges(node):
    return [following for following, _ in dict.fromkeys(node.next_functions) if following]


def entered_once(node):
    """List a node each time it is reached, but what lies behind it only once."""
    entered = set()

    def following(node):
        unknown = node not in entered
        entered.add(node)
        return after(node) if unknown else []

    return depth_first(following)(node)


def with_constants(word):
    """Return a walk that lists ``word`` where an input has no node."""

    def following(node):
        return [one for one, _ in node.next_functions] if node else []

    walk = depth_first(following)
    return lambda node: [(depth, type(one).__name__ if one else word) for depth, one in walk(node)]


def named(rows):
    """Return (depth, name) pairs; names stay as they are."""
    return [(depth, type(x).__name__ if hasattr(x, "next_functions") else x) for depth, x in rows]


PROBE = "t = x.sin()", "root = (x.detach() * t) * (t * 2) * (y.cos() - t) * (x * x)"
"""A graph in which all wrong walks differ: shared nodes, two inputs, equal entries, constants. An
operation of one tensor is above another's, and a leaf is the first input of one of two.
"""


def probed(failure, student):
    """Return the entries that the student's function gives for ``PROBE``, and its tensors."""
    x, y = (torch.ones(2, requires_grad=True) for _ in "xy")
    rows = entries(asked(failure, student, *PROBE), failure.about)
    return rows, failure.draw.graph(*PROBE, x=x, y=y).tensors()


def walked(*orders):
    """Return a rule that recognizes a walk in one of these wrong orders: it explains what came
    back, and also what the student's function gives for another graph.
    """

    @rule
    def recognize(failure, student):
        tensors = tensors_of(failure)
        root = root_node(tensors)
        if root is None:
            return None
        if failure.about == "leaf_tensors":
            met = (leaves_met(order(root), tensors) for order in orders)
            return {} if failure.actual != failure.expected and failure.actual in met else None
        rows, want = listed(failure)
        fitting = [one for one in orders if rows and rows == named(one(root)) != want]
        if not fitting:
            return None
        again, others = probed(failure, student)
        if again not in [named(order(others["root"].grad_fn)) for order in fitting]:
            return None
        return {
            "count": len(rows),
            "wanted": len(want),
            "first": rows[0],
            "last": rows[-1],
            "entry": next((row for row in want if want.count(row) > 1), None),
            "extra": next((row for row in rows if row not in want), None),
        }

    return recognize


# ------------------------------------------------------------------------------- the kind of answer


NO_GRAPH = "a tensor without a graph should give"


@rule
def returns_nothing(failure, student):
    nothing = failure.message.startswith(KIND) and failure.facts.get("type") == "NoneType"
    no_graph = failure.message.startswith(NO_GRAPH) and failure.actual is None
    return {} if nothing or no_graph else None


yields_without_a_list = says(f"{KIND}, expected a list", type="generator")


@rule
def lines_not_joined(failure, student):
    if failure.message != f"{KIND}, expected a str" or not isinstance(failure.actual, list):
        return None
    lines = all(isinstance(line, str) for line in failure.actual)
    return {"count": len(failure.actual)} if lines else None


@value_rule
def results_pile_up(failure, student):
    """A global list, or a mutable default."""
    found = [asked(failure, student, "root = x * y") for _ in "ab"]
    if not all(isinstance(one, list | str) for one in found):
        return None
    first, second = (len(one.split("\n") if isinstance(one, str) else one) for one in found)
    return {"first": first, "second": second} if second > first else None


# -------------------------------------------------------------------------------- build_loss and 20


@rule
def graph_is_cut(failure, student):
    texts = ("does not require grad", "where a gradient is promised")
    return {} if any(text in failure.message for text in texts) else None


@rule
def computed_afresh(failure, student):
    """Right values whose graphs have nothing in common but x."""
    links = failure.facts.get("links")
    if not links or links.get(failure.facts["link"], 0) is not None:
        return None
    # what is detached has no graph at all
    return {} if links.get(f"{failure.facts['source']} by x") is not None else None


def predicted(wrong):
    """Return a rule for predictions: what the explanation shows, by the number."""

    @rule
    def recognize(failure, student):
        return next((facts for guess, facts in wrong.items() if same(failure.actual, guess)), None)

    return recognize


forgot_inner_derivative = predicted({10: {}})
square_taken_at_y = predicted(
    {8: {"formula": "2y · 2"}, 4: {"formula": "2y, without the 2 from y = 2x,"}}
)
value_for_gradient = predicted(
    {
        25: {"what": "loss itself, (2 + 3)²"},
        5: {"what": "the value of z"},
        2: {"what": "dy/dx, only one factor of the product"},
        3: {"what": "the constant that z adds to y"},
    }
)
another_point = predicted({4 * (2 * x + 3): {"point": x} for x in (0, 2, 3, -1, 5)})
accumulated_prediction = predicted({20 * times: {"times": times} for times in (2, 3, 4)})


@rule
def prediction_is_no_number(failure, student):
    kind = failure.facts.get("type")
    return None if kind in (None, "NoneType", "float") else {"type": kind}


# ----------------------------------------------------------------------------------- names of nodes


@rule
def node_for_name(failure, student):
    """Nodes, or their classes, in the list."""
    node, name = wrong_name(failure)
    if not isinstance(node, Opaque) or not name or node.type_name not in (name, "type"):
        return None
    return {"kind": node.type_name, "name": name}


def spelled(wrongly):
    """Return a rule for names that came back as another text, which ``wrongly`` recognizes."""

    @rule
    def recognize(failure, student):
        found, name = wrong_name(failure)
        if not isinstance(found, str) or not isinstance(name, str) or not wrongly(found, name):
            return None
        return {"found": found, "name": name, **line_of_text(student.source)}

    return recognize


def line_of_text(source):
    """Return the line that makes a text of a value by str, repr or format, if there is just one."""
    calls = (node for node in source.nodes if isinstance(node, ast.Call))
    lines = {one.lineno for one in calls if ast.unparse(one.func) in ("str", "repr", "format")}
    return {"line": lines.pop()} if len(lines) == 1 else {}


# <AddBackward0 object at 0x7f…>, <class 'AddBackward0'>
text_of_the_node = spelled(lambda found, name: found.startswith("<") and name in found)
# a part of torch.autograd.function.CubeBackward that is not its last
name_cut_from_text = spelled(
    lambda found, name: f"torch.autograd.function.{name}".startswith(found.lstrip("<") or "-")
)
# torch::autograd::AccumulateGrad
qualified_name = spelled(lambda found, name: "::" in found)


# ------------------------------------------------------------------------- what is not a node, None


@rule
def tensor_for_node(failure, student):
    """root.next_functions, or a walk that takes the tensor for its first node."""
    if failure.raised("AttributeError", "'Tensor' object has no attribute 'next_functions'"):
        return {"what": phrase("Your code raised {error}", error=said(failure))}
    rows, _ = listed(failure)
    return {"what": "You listed one entry, Tensor"} if rows == [(0, "Tensor")] else None


@rule
def no_graph_not_handled(failure, student):
    """An exception for grad_fn None or an empty walk, in a check with such a root."""
    here = "without_a_graph" in failure.check or "root_is_a_leaf" in failure.check
    texts = ("NoneType", "IndexError", "ValueError", "StopIteration")
    if not here or not any(map(failure.raised, texts)):
        return None
    return {"error": said(failure)} if fails(failure, student, "x") else None


@rule
def none_not_skipped(failure, student):
    """An exception for None among next_functions."""
    if not failure.raised("AttributeError", "NoneType"):
        return None
    alone = not fails(failure, student, "x * y")
    constant = fails(failure, student, "x * 2")
    return {"error": said(failure)} if constant and alone else None


none_ends_the_loop = walked(depth_first(until_none), depth_first(lambda node: until_none(node, -1)))
constants_listed = walked(*(with_constants(word) for word in ("NoneType", "None", "", None)))


@rule
def none_has_a_name(failure, student):
    """("NoneType", 0) or ("None", 0) for (None, 0)."""
    found, name = wrong_name(failure)
    return {"found": repr(found)} if name is None and found in ("NoneType", "None", "") else None


# ----------------------------------------------------------------------------------------- the text


UNITS = {"  ": "2 spaces", "    ": "4 spaces", "\t": "a tab", "": "no space", "-": "a dash"}


@rule
def depth_never_grows(failure, student):
    """All depths are 0; for format_graph, those that walk gives are, too."""
    rows, want = listed(failure)
    if failure.about == "format_graph":
        walked = asked(replace(failure, about="walk"), student, "root = x.sin().cos()")
        if [depth for depth, _ in entries(walked, "walk")] != [0, 0, 0]:
            return None
    return {} if rows and rows == [(0, name) for _, name in want] != want else None


@rule
def wide_indentation(failure, student):
    """Two or four spaces a level, tabs, or none at all."""
    _, want = listed(failure)
    for unit, words in UNITS.items():
        if failure.actual == [unit * depth + name for depth, name in want]:
            return {"width": words}
    return None


# -------------------------------------------------------------------------------------- how to walk


@rule
def not_empty_without_a_graph(failure, student):
    if not failure.message.startswith(NO_GRAPH) or not failure.actual:
        return None
    return {"found": repr(failure.actual), "empty": repr(failure.expected)}


@rule
def depth_counts_visits(failure, student):
    """The right nodes in the right order, at depths that never come back up."""
    rows, want = listed(failure)
    if [name for _, name in rows] != [name for _, name in want]:
        return None
    wrong = [k for k, (row, wanted) in enumerate(zip(rows, want, strict=True)) if row != wanted]
    if not wrong or not all(isinstance(rows[k][0], int) and rows[k] > want[k] for k in wrong):
        return None
    first = wrong[0]
    if first == 0 or want[first][0] > want[first - 1][0]:  # no second input of a node begins here
        return None
    # a depth that is kept for each node is right where no node is reached twice
    tree = asked(failure, student, "root = x.sin() * y")
    if entries(tree, failure.about)[-1] == (1, "AccumulateGrad"):
        return None
    return {"found": rows[first], "wanted": want[first]}


depth_from_one = walked(depth_first(depth=1))
breadth_first = walked(lambda node: sorted(preorder(node), key=lambda row: row[0]))
last_input_first = walked(flipped)
children_before_parent = walked(lambda node: flipped(node)[::-1], lambda node: preorder(node)[::-1])


@rule
def shared_nodes_once(failure, student):
    """A set of visited nodes: each is listed once, in whatever order."""
    tensors = tensors_of(failure)
    if root_node(tensors) is None:
        return None
    rows, want = listed(failure)
    again, others = probed(failure, student)
    for mine, known in ((rows, tensors), (again, others)):
        reached = entered_once(root_node(known))
        once = Counter(type(one).__name__ for one in {one for _, one in reached})
        if mine != named(reached) and Counter(name for _, name in mine) != once:
            return None
    return {"count": len(rows), "wanted": len(want)} if len(rows) < len(want) else None


first_input_only = walked(depth_first(lambda node: until_none(node)[:1]))
two_inputs_only = walked(
    depth_first(lambda node: after(node)[:2]),
    depth_first(lambda node: [one for one, _ in node.next_functions[:2] if one]),
)
equal_edges_merged = walked(depth_first(different_edges))
lookalikes_merged = walked(lambda node: list(dict.fromkeys(named(preorder(node)))))
root_left_out = walked(
    lambda node: preorder(node)[1:], lambda node: depth_first(depth=-1)(node)[1:]
)
leaves_left_out = walked(
    lambda node: [row for row in preorder(node) if not hasattr(row[1], "variable")]
)


# ------------------------------------------------------------------------------------------- leaves


@rule
def leaf_listed_twice(failure, student):
    """One entry for every way to a leaf."""
    if failure.message != "{name} is listed {count} times":
        return None
    tensors = tensors_of(failure)
    rows = (leaves_met([row], tensors) for row in preorder(root_node(tensors)))
    right = sorted(failure.actual) == sorted(name for names in rows for name in names)
    return {} if right else None


@rule
def leaves_are_copies(failure, student):
    copy = failure.facts.get("values")
    leaves = failure.facts["drawn"].inputs if "drawn" in failure.facts else {}
    found = (name for name, leaf in leaves.items() if same(copy, leaf, rtol=0, atol=0))
    return next(({"name": name} for name in found), None)


leaf_nodes_returned = says("entry {number} is of type", type="AccumulateGrad")


@rule
def leaves_compared_by_value(failure, student):
    """`if tensor not in leaves`."""
    if failure.raised("Boolean value of Tensor") or failure.raised("The size of tensor a"):
        # a single leaf is not compared with anything
        alone = fails(failure, student, "x.sin()")
        return None if alone else {"effect": phrase("that raised {error}", error=said(failure))}
    tensors, missing = tensors_of(failure), failure.facts.get("name")
    if failure.message != "{name} is missing":
        return None
    pairs = [[torch.tensor(1.0), torch.tensor(other)] for other in (1.0, 2.0)]
    counts = [len(asked(failure, student, "root = x * y", values=pair)) for pair in pairs]
    if counts[0] == counts[1]:
        return None
    for twin in failure.actual:
        if same(tensors[twin], tensors[missing], rtol=0, atol=0):
            effect = phrase("{missing} was taken for {twin}", missing=missing, twin=twin)
            return {"effect": effect}
    return None


@rule
def leaf_root_forgotten(failure, student):
    return {} if "root_is_a_leaf" in failure.check and failure.actual == [] else None


@rule
def constant_taken_for_leaf(failure, student):
    if not failure.message.startswith("root does not require grad"):
        return None
    return {} if any(isinstance(item, Tensor | str) for item in failure.actual) else None


# -------------------------------------------------------------------------------------------- edges


@rule
def edges_out_of_order(failure, student):
    """The right pairs in another order."""
    found, want = listed(failure)
    return {} if found != want and sorted(map(str, found)) == sorted(map(str, want)) else None
