"""graph_inspection: the mistakes that people make in it.

A failure of the four functions that read a graph carries the graph itself (``build`` and
``tensors``), so a rule can walk it in the wrong way that it stands for, and see whether just that
came back. Where the student's code raised there is no graph; the rule then asks the student for
small graphs and looks at which of them raise too.
"""

from collections import Counter

import torch
from torch import Tensor

from grader.authoring import (
    Opaque,
    StudentCodeError,
    import_helpers,
    is_number,
    phrase,
    program,
    rule,
    same,
    type_name,
)

WALKS = ("walk", "format_graph")
NO_TUPLE = "{type} came back where a tuple (y, z, loss) is promised"
READERS = ("walk", "format_graph", "leaf_tensors", "inputs_of")
answer = import_helpers(__file__).answer


# ------------------------------------------------------------------------------- what rules look at


def root_of(failure):
    """The root of the failure's graph, built here; None where the failure has none."""
    build, tensors = failure.facts.get("build"), failure.facts.get("tensors")
    return build(*tensors.values()) if build else None


def listed(value, failure):
    """Entries as (depth, name) pairs: those of walk as they are, lines of format_graph by their
    indentation; [] for anything else.
    """
    if not isinstance(value, list):
        return []
    if failure.about == "format_graph":
        return [
            (len(line) - len(line.lstrip(" ")), line.strip(" "))
            for line in value
            if isinstance(line, str)
        ]
    return [tuple(entry) for entry in value if isinstance(entry, list | tuple) and len(entry) == 2]


def came_back(failure, wrong):
    """Whether just what the function ``wrong`` makes of the root's node came back, where that
    differs from what is right.
    """
    root = root_of(failure)
    if root is None or root.grad_fn is None:
        return False
    rows = listed(failure.actual, failure)
    return bool(rows) and rows == wrong(root.grad_fn) != listed(failure.expected, failure)


def names_in(failure):
    """What stands where names of types should: of walk and format_graph the second half, of
    inputs_of the first.
    """
    return [
        entry[0] if failure.about == "inputs_of" else entry[1]
        for entry in listed(failure.actual, failure)
    ]


def raises(student, about, function, draw):
    """Whether the student's ``about`` raises on a small graph: ``function`` of two leaves x and
    y.
    """
    try:
        answer(student, about, program(function, inputs=2), two_leaves(draw))
    except StudentCodeError:
        return True
    return False


def two_leaves(draw):
    """Two leaves to make a small graph of."""
    return [draw.tensor(requires_grad=True), draw.tensor(requires_grad=True)]


def leaves_met(nodes):
    """The leaves among nodes, in their order, each once."""
    return list({node.variable: None for node in nodes if hasattr(node, "variable")})


def names_of(leaves, failure):
    """The names that the failure's graph gives its leaves."""
    return [
        next(name for name, tensor in failure.facts["tensors"].items() if tensor is leaf)
        for leaf in leaves
    ]


def title_of(node):
    """A node's type by name."""
    return type(node).__name__


# ------------------------------------------------------------------------------- wrong ways to walk


def preorder(node, depth=0, flip=False):
    """(depth, node), depth-first, each time that a node is reached; with ``flip`` from the last
    input to the first.
    """
    found, stack = [], [(depth, node)]
    while stack:
        depth, node = stack.pop()
        found.append((depth, node))
        following = [(depth + 1, parent) for parent, _ in node.next_functions if parent is not None]
        stack += following if flip else following[::-1]
    return found


def level_by_level(node):
    """(depth, node), breadth-first."""
    found, queue = [], [(0, node)]
    while queue:
        depth, node = queue.pop(0)
        found.append((depth, node))
        queue += [(depth + 1, parent) for parent, _ in node.next_functions if parent is not None]
    return found


def down_the_first(node):
    """(depth, node), from each node to its first input and to no other, as far as there are
    nodes.
    """
    found = []
    while node is not None:
        found.append((len(found), node))
        node = node.next_functions[0][0] if node.next_functions else None
    return found


def children_first(node, depth=0):
    """(depth, node), each after what it leads to."""
    found = []
    for parent, _ in node.next_functions:
        if parent is not None:
            found += children_first(parent, depth + 1)
    return [*found, (depth, node)]


def each_node_once(node, relist=False):
    """(depth, node), a node that was met before left out; with ``relist`` listed again, but not
    what lies behind it.
    """
    found, seen = [], set()

    def visit(node, depth):
        if node in seen and not relist:
            return
        found.append((depth, node))
        if node not in seen:
            seen.add(node)
            for parent, _ in node.next_functions:
                if parent is not None:
                    visit(parent, depth + 1)

    visit(node, 0)
    return found


def with_constants(node, word, depth=0):
    """Like walk, with ``word`` where an input has no node."""
    found = [(depth, title_of(node))]
    for parent, _ in node.next_functions:
        found += [(depth + 1, word)] if parent is None else with_constants(parent, word, depth + 1)
    return found


def named(rows):
    """(depth, name) for (depth, node)."""
    return [(depth, title_of(node)) for depth, node in rows]


# ------------------------------------------------------------------------------- the kind of answer


def kind_that_came(failure):
    """The type of what was returned, where that is what the failure is about."""
    kind = failure.facts.get("type") or failure.facts.get("kind")
    return (
        kind if failure.message.startswith("{") and "came back where" in failure.message else None
    )


@rule
def returns_nothing(failure, student):
    """None, where a list, a text or a tuple is promised."""
    without_a_graph = (
        failure.message.startswith("a tensor without a graph gives") and failure.actual is None
    )
    return {} if without_a_graph or kind_that_came(failure) == "NoneType" else None


@rule
def yields_without_a_list(failure, student):
    """A generator came back, where it is a list that is promised."""
    return (
        {}
        if kind_that_came(failure) == "generator" and failure.message.endswith("a list is promised")
        else None
    )


@rule
def lines_not_joined(failure, student):
    """A list of lines came back from format_graph."""
    lines = kind_that_came(failure) == "list" and all(
        isinstance(line, str) for line in failure.actual
    )
    return {"count": len(failure.actual)} if lines else None


@rule
def pairs_are_lists(failure, student):
    """[0, "AddBackward0"] for (0, "AddBackward0")."""
    entry = failure.facts.get("entry")
    return (
        {"entry": entry}
        if isinstance(entry, list) and listed(failure.actual, failure) == failure.expected
        else None
    )


@rule
def another_signature(failure, student):
    """A parameter more or less than promised."""
    name, error = (
        failure.about,
        failure.error,
    )  # a helper of a longer name is not a concern of this, nor what takes one argument and got two
    texts = (f"{name}() missing ", f"{name}() takes 0 positional")
    raised = failure.raised("TypeError", "positional argument") and error.message.startswith(texts)
    return {"name": name, "error": short(failure)} if raised else None


@rule
def results_pile_up(failure, student):
    """A global list, or a mutable default."""
    if failure.error is not None:
        return None
    leaves, product = two_leaves(failure.draw), program(lambda x, y: x * y, inputs=2)
    answers = [answer(student, failure.about, product, leaves) for _ in range(2)]
    if failure.about == "leaf_tensors":
        answers = [answer["items"] for answer in answers]
    if not all(isinstance(answer, list | str) for answer in answers):
        return None
    first, second = (
        len(answer.split("\n") if isinstance(answer, str) else answer) for answer in answers
    )
    return {"first": first, "second": second} if second > first else None


# -------------------------------------------------------------------------------- build_loss and 20


@rule
def only_loss_returned(failure, student):
    """One tensor, the loss."""
    x = failure.inputs.get("x")
    if failure.facts.get("type") != "Tensor" or failure.message != NO_TUPLE:
        return None
    return {} if same(failure.actual, (2 * x + 3) ** 2) else None


@rule
def results_out_of_order(failure, student):
    """The right three values, permuted."""
    x, results = failure.inputs.get("x"), failure.facts.get("results")
    if x is None or not results:
        return None
    values = {"y": 2 * x, "z": 2 * x + 3, "loss": (2 * x + 3) ** 2}
    order = [
        next((name for name, value in values.items() if same(result, value)), None)
        for result in results
    ]
    return (
        {"order": f"({', '.join(order)})"}
        if set(order) == set(values) and order != list(values)
        else None
    )


@rule
def graph_is_cut(failure, student):
    """No gradient for x, or a loss that requires none."""
    unlinked = (
        "does not require grad" in failure.message or "no gradient came back" in failure.message
    )
    return {} if unlinked and "x" in failure.inputs else None


@rule
def backward_already_ran(failure, student):
    """A graph that has been freed."""
    return (
        {"error": str(failure.error)[:120]}
        if failure.raised("RuntimeError", "backward through the graph a second time")
        else None
    )


@rule
def computed_afresh(failure, student):
    """Right values whose graphs have nothing in common but x."""
    links = failure.facts.get("links")
    if not links or links.get(failure.facts["link"], 0) is not None:
        return None
    return (
        {} if links.get(f"{failure.facts['source']} by x") is not None else None
    )  # what is detached has no graph at all


GUESSES = (
    (
        25.0,
        (
            "is loss itself at x = 1, (2 + 3)². The gradient says how fast loss changes there, not"
            " how large it is"
        ),
    ),
    (5.0, "is z at x = 1. Its square is what has to be differentiated"),
    (2.0, "is dy/dx, one link of the chain only"),
    (3.0, "is what z adds to y. A constant that is added does not change a derivative"),
)


@rule
def forgot_inner_derivative(failure, student):
    """10."""
    return {} if same(failure.actual, 10) else None


@rule
def square_taken_at_y(failure, student):
    """8, or 4."""
    formulas = ((8, "2y · 2"), (4, "2y, without the 2 from y = 2x,"))
    return next(
        ({"formula": formula} for guess, formula in formulas if same(failure.actual, guess)), None
    )


@rule
def value_for_gradient(failure, student):
    """Something else that stands in the calculation."""
    return next(({"what": what} for guess, what in GUESSES if same(failure.actual, guess)), None)


@rule
def another_point(failure, student):
    """The right formula at a wrong place."""
    return next(
        (
            {"point": point}
            for point in (0, 2, 3, -1, 5)
            if same(failure.actual, 4 * (2 * point + 3))
        ),
        None,
    )


@rule
def accumulated_prediction(failure, student):
    """40, 60: read off x.grad after several backward passes."""
    right = 20
    return next(
        ({"times": times} for times in (2, 3, 4) if same(failure.actual, right * times)), None
    )


@rule
def prediction_is_no_number(failure, student):
    """A tensor, a text, a list."""
    if failure.actual is None or is_number(failure.actual) or isinstance(failure.actual, float):
        return None
    return {"type": type_name(failure.actual)}


# ----------------------------------------------------------------------------------- names of nodes


@rule
def node_for_name(failure, student):
    """Nodes, or their classes, in the list."""
    pairs = zip(names_in(failure), expected_names(failure), strict=False)
    node, name = next(
        ((got, want) for got, want in pairs if isinstance(got, Opaque) and want), (None, None)
    )
    return (
        {"kind": node.type_name, "name": name}
        if node and node.type_name in (name, "type")
        else None
    )


def expected_names(failure):
    """The names that should have come back."""
    return [
        entry[0] if failure.about == "inputs_of" else entry[1]
        for entry in listed(failure.expected, failure)
    ]


@rule
def text_of_the_node(failure, student):
    """<AddBackward0 object at 0x7f…>, or <class 'AddBackward0'>."""
    pairs = zip(names_in(failure), expected_names(failure), strict=False)
    found = next(
        (
            (got, want)
            for got, want in pairs
            if isinstance(got, str) and got.startswith("<") and want and want in got
        ),
        None,
    )
    return {"found": found[0], "name": found[1]} if found else None


@rule
def name_cut_from_text(failure, student):
    """A part of torch.autograd.function.CubeBackward that is not its last."""
    rows = zip(names_in(failure), expected_names(failure), strict=False)
    found = next(
        ((got, want) for got, want in rows if isinstance(got, str) and got != want and want), None
    )
    if not found or not f"torch.autograd.function.{found[1]}".startswith(
        found[0].lstrip("<") or "-"
    ):
        return None
    return {"found": found[0], "name": found[1]}


@rule
def qualified_name(failure, student):
    """torch::autograd::AccumulateGrad."""
    found = next(
        (name for name in names_in(failure) if isinstance(name, str) and "::" in name), None
    )
    return {"found": found} if found else None


# ------------------------------------------------------------------------- what is not a node, None


OF_NODES = ("next_functions", "variable", "name")
"""What people ask a node for."""


@rule
def pair_not_unpacked(failure, student):
    """Goes on with the pair."""
    asked = any(
        failure.raised(f"AttributeError: 'tuple' object has no attribute '{name}'")
        for name in OF_NODES
    )
    return {"error": short(failure)} if asked else None


@rule
def tensor_for_node(failure, student):
    """root.next_functions, or a walk that takes the tensor for its first node."""
    if failure.raised("AttributeError", "'Tensor' object has no attribute 'next_functions'"):
        return {"what": phrase("Your code raised {error}", error=short(failure))}
    return {"what": "You listed one entry, Tensor"} if names_in(failure) == ["Tensor"] else None


@rule
def no_graph_not_handled(failure, student):
    """An exception for grad_fn None, and not only for None among next_functions."""
    if not failure.raised("NoneType") or not raises(
        student, failure.about, lambda x, y: x, failure.draw
    ):
        return None
    alone = not raises(student, failure.about, lambda x, y: x * 2, failure.draw)
    return (
        {"error": short(failure)}
        if alone or "without_a_graph" in failure.check or "root_is_a_leaf" in failure.check
        else None
    )


@rule
def none_not_skipped(failure, student):
    """An exception for None among next_functions."""
    if not failure.raised("AttributeError", "NoneType") or not raises(
        student, failure.about, lambda x, y: x * 2, failure.draw
    ):
        return None
    return (
        None
        if raises(student, failure.about, lambda x, y: x * y, failure.draw)
        else {"error": short(failure)}
    )


def short(failure):
    """The student's exception without the graph that the check added."""
    return str(failure.error).split(" (in the graph")[0]


@rule
def constants_listed(failure, student):
    """NoneType or None in the list."""
    for word in ("NoneType", "None", "", None):
        if came_back(failure, lambda node, word=word: with_constants(node, word)):
            return {"word": repr(word), "count": sum(name == word for name in names_in(failure))}
    return None


@rule
def none_has_a_name(failure, student):
    """("NoneType", 0) or ("None", 0) for (None, 0)."""
    rows = listed(failure.actual, failure)
    nowhere = [
        row for row, want in zip(rows, failure.expected or [], strict=False) if want[0] is None
    ]
    pair = next((row for row in nowhere if row[0] in ("NoneType", "None", "")), None)
    return {"found": pair} if pair else None


@rule
def constant_edges_dropped(failure, student):
    """The right list without its (None, 0) entries."""
    rows, want = failure.actual, failure.expected
    if not isinstance(rows, list) or not isinstance(want, list) or rows == want:
        return None
    return (
        {"edges": len(want), "count": len(rows)}
        if rows == [row for row in want if row[0] is not None]
        else None
    )


# ----------------------------------------------------------------------------------------- the text


@rule
def newline_at_the_end(failure, student):
    """A trailing newline."""
    lines, want = failure.actual, failure.expected
    return (
        {}
        if isinstance(lines, list)
        and isinstance(want, list)
        and lines[-1:] == [""]
        and lines[:-1] == want
        else None
    )


@rule
def one_space_more(failure, student):
    """Depth plus one spaces."""
    if not came_back(
        failure, lambda node: [(depth + 1, name) for depth, name in named(preorder(node))]
    ):
        return None
    return {"first": repr(failure.actual[0])}


UNITS = {
    "  ": "2 spaces",
    "   ": "3 spaces",
    "    ": "4 spaces",
    "\t": "a tab",
    "": "no space",
    "-": "a dash",
    "- ": "a dash and a space",
}


@rule
def wide_indentation(failure, student):
    """Two or four spaces a level, tabs, or none at all."""
    lines, want = failure.actual, failure.expected
    if (
        not isinstance(lines, list)
        or not isinstance(want, list)
        or not all(isinstance(line, str) for line in lines)
    ):
        return None
    for unit, words in UNITS.items():
        if (
            lines
            == [unit * (len(line) - len(line.lstrip(" "))) + line.lstrip(" ") for line in want]
            != want
        ):
            return {"width": words}
    return None


# -------------------------------------------------------------------------------------- how to walk


@rule
def depth_from_one(failure, student):
    """All depths one too large."""
    if not came_back(
        failure, lambda node: [(depth + 1, name) for depth, name in named(preorder(node))]
    ):
        return None
    return {"first": listed(failure.actual, failure)[0][0]}


@rule
def depth_counts_visits(failure, student):
    """The right nodes in the right order, at depths that never come back up."""
    rows, want = listed(failure.actual, failure), listed(failure.expected, failure)
    if len(rows) != len(want) or [name for _, name in rows] != [name for _, name in want]:
        return None
    wrong = [
        place for place, (row, wanted) in enumerate(zip(rows, want, strict=True)) if row != wanted
    ]
    if (
        not wrong
        or wrong[0] == 0
        or not all(
            isinstance(rows[place][0], int) and rows[place][0] > want[place][0] for place in wrong
        )
    ):
        return None
    first = wrong[0]
    begins_a_branch = want[first][0] <= want[first - 1][0]
    return (
        {"found": rows[first], "wanted": want[first]}
        if begins_a_branch and not right_on_a_tree(failure, student)
        else None
    )


def right_on_a_tree(failure, student):
    """Whether depths are right where no node is reached twice."""
    rows = answer(
        student,
        failure.about,
        program(lambda x, y: x.sin() * y, inputs=2),
        two_leaves(failure.draw),
    )
    want = [(0, "MulBackward0"), (1, "SinBackward0"), (2, "AccumulateGrad"), (1, "AccumulateGrad")]
    return listed(rows.split("\n") if isinstance(rows, str) else rows, failure) == want


@rule
def breadth_first(failure, student):
    """Breadth-first order."""
    if failure.about == "leaf_tensors":
        return {} if leaves_came_in_order(failure, level_by_level) else None
    return {} if came_back(failure, lambda node: named(level_by_level(node))) else None


@rule
def last_input_first(failure, student):
    """Depth-first from the right."""
    if failure.about == "leaf_tensors":
        return {} if leaves_came_in_order(failure, lambda node: preorder(node, flip=True)) else None
    return {} if came_back(failure, lambda node: named(preorder(node, flip=True))) else None


@rule
def children_before_parent(failure, student):
    """Post-order, or the whole list turned round."""
    orders = (
        children_first,
        lambda node: preorder(node)[::-1],
        lambda node: preorder(node, flip=True)[::-1],
    )
    turned = any(
        came_back(failure, lambda node, order=order: named(order(node))) for order in orders
    )
    return {"last": listed(failure.actual, failure)[-1][1]} if turned else None


@rule
def shared_nodes_once(failure, student):
    """A set of visited nodes."""
    root = root_of(failure)
    if root is None or root.grad_fn is None:
        return None
    once = Counter(title_of(node) for _, node in each_node_once(root.grad_fn))
    every = Counter(name for _, name in listed(failure.expected, failure))
    missing = once != every and Counter(names_in(failure)) == once
    if not missing and not came_back(
        failure, lambda node: named(each_node_once(node, relist=True))
    ):
        return None
    for graph, leaves in ((lambda x, y: x * y, 2), (squared, 1), (rejoined, 1)):
        seen = answer(student, failure.about, program(graph, inputs=2), two_leaves(failure.draw))
        if str(seen).count("AccumulateGrad") != leaves:
            return None
    return {"count": len(failure.actual), "wanted": len(failure.expected)}


def squared(x, y):
    """A result times itself: what lies behind it is met twice."""
    t = x.sin()
    return t * t


def rejoined(x, y):
    """Two results of one result: each node behind has one input."""
    t = x.sin()
    return t.cos() + t.tanh()


@rule
def first_input_only(failure, student):
    """A loop down next_functions[0]."""
    if not came_back(failure, lambda node: named(down_the_first(node))):
        return None
    apart = answer(
        student,
        failure.about,
        program(lambda x, y: x + y.sin(), inputs=2),
        two_leaves(failure.draw),
    )
    if "SinBackward0" in str(apart):
        return None
    return {"count": len(failure.actual), "wanted": len(listed(failure.expected, failure))}


@rule
def lookalikes_merged(failure, student):
    """`if entry not in entries`, a set or a dictionary of entries."""
    want = listed(failure.expected, failure)
    if not came_back(failure, lambda node: list(dict.fromkeys(named(preorder(node))))):
        return None
    apart = str(
        answer(
            student,
            failure.about,
            program(lambda x, y: x.sin() * y.cos(), inputs=2),
            two_leaves(failure.draw),
        )
    )
    if (
        apart.count("AccumulateGrad") != 1
        or "SinBackward0" not in apart
        or "CosBackward0" not in apart
    ):
        return None
    entry = next(entry for entry in want if want.count(entry) > 1)
    return {"count": len(failure.actual), "wanted": len(want), "entry": entry}


@rule
def root_left_out(failure, student):
    """Begins with next_functions."""

    def tail(shift):
        return lambda node: [(depth - shift, name) for depth, name in named(preorder(node))[1:]]

    if came_back(failure, tail(0)) or came_back(failure, tail(1)):
        return {"first": listed(failure.actual, failure)[0][1]}
    return None


@rule
def leaves_left_out(failure, student):
    """AccumulateGrad is not listed."""
    if not came_back(
        failure, lambda node: [row for row in named(preorder(node)) if row[1] != "AccumulateGrad"]
    ):
        return None
    chain = answer(
        student, failure.about, program(lambda x, y: x.sin(), inputs=2), two_leaves(failure.draw)
    )
    return None if "AccumulateGrad" in str(chain) else {}


# ------------------------------------------------------------------------------------------- leaves


def leaves_came_in_order(failure, walk):
    """Whether the leaves came back in the order of a wrong walk."""
    root = root_of(failure)
    if (
        root is None
        or root.grad_fn is None
        or not isinstance(failure.actual, list)
        or failure.actual == failure.expected
    ):
        return False
    return failure.actual == names_of(leaves_met(node for _, node in walk(root.grad_fn)), failure)


@rule
def leaves_in_another_order(failure, student):
    """A permutation."""
    if (
        not isinstance(failure.actual, list)
        or failure.message != "the leaves are right, their order is not"
    ):
        return None
    walks = (level_by_level, lambda node: preorder(node, flip=True))
    return None if any(leaves_came_in_order(failure, walk) for walk in walks) else {}


@rule
def leaf_listed_twice(failure, student):
    """One entry for every way to a leaf."""
    root = root_of(failure)
    if root is None or root.grad_fn is None or not isinstance(failure.actual, list):
        return None
    met = names_of(
        [node.variable for _, node in preorder(root.grad_fn) if hasattr(node, "variable")], failure
    )
    found = [name for name in failure.actual if isinstance(name, str)]
    again = next((name for name in found if found.count(name) > 1), None)
    right = again and len(found) == len(failure.actual) and sorted(found) == sorted(met)
    return {"name": again, "count": found.count(again)} if right else None


@rule
def leaves_are_copies(failure, student):
    """clone(), detach(), .data."""
    copy = failure.facts.get("values")
    for name, tensor in failure.facts.get("tensors", {}).items():
        if isinstance(copy, Tensor) and same(copy, tensor, rtol=0, atol=0):
            return {"name": name}
    return None


@rule
def leaf_nodes_returned(failure, student):
    """AccumulateGrad objects."""
    return {} if failure.facts.get("type") == "AccumulateGrad" else None


@rule
def leaves_compared_by_value(failure, student):
    """`if tensor not in leaves`."""
    tensors = failure.facts.get("tensors", {})
    missing = failure.facts.get("name")
    if failure.error is not None and stops_at_one_leaf(student):
        return None
    if failure.raised("Boolean value of Tensor"):
        return {
            "effect": phrase(
                "for tensors of more than one element that raised {error}", error=short(failure)
            )
        }
    if failure.raised("The size of tensor a"):
        return {
            "effect": phrase(
                "for tensors of different sizes that raised {error}", error=short(failure)
            )
        }
    if missing is None or failure.message != "{name} is missing" or missing not in tensors:
        return None
    if leaves_of_product(student, 1.0, 2.0) != [0, 1] or leaves_of_product(student, 1.0, 1.0) == [
        0,
        1,
    ]:
        return None
    twin = next(
        (
            name
            for name in failure.actual
            if name != missing and same(tensors[name], tensors[missing], rtol=0, atol=0)
        ),
        None,
    )
    return (
        {
            "effect": phrase(
                "{missing} was taken for {twin}, which has the same value",
                missing=missing,
                twin=twin,
            )
        }
        if twin
        else None
    )


def stops_at_one_leaf(student):
    """Whether a graph of one leaf, which has nothing to be compared with, raises as well."""
    leaf = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    try:
        answer(student, "leaf_tensors", program(lambda x: x.sin()), [leaf])
    except StudentCodeError:
        return True
    return False


def leaves_of_product(student, *values):
    """Which of two leaves of these values are listed for their product."""
    leaves = [torch.tensor(value, dtype=torch.float64, requires_grad=True) for value in values]
    places = answer(student, "leaf_tensors", program(lambda x, y: x * y, inputs=2), leaves)[
        "places"
    ]
    return sorted(place for place in places if place is not None)


@rule
def leaf_root_forgotten(failure, student):
    """[] for a leaf that requires grad."""
    root = root_of(failure)
    return (
        {}
        if root is not None and root.grad_fn is None and root.requires_grad and failure.actual == []
        else None
    )


@rule
def constant_taken_for_leaf(failure, student):
    """[root] for a root that requires no gradient."""
    root = root_of(failure)
    if root is None or root.requires_grad or "no gradient reaches" not in failure.message:
        return None
    return (
        {}
        if any(isinstance(item, Tensor) and not item.requires_grad for item in failure.actual)
        else None
    )


# -------------------------------------------------------------------------------------------- edges


@rule
def index_lost(failure, student):
    """Always 0, or no index at all."""
    rows, want = failure.actual, failure.expected
    if not isinstance(rows, list) or not isinstance(want, list) or not want:
        return None
    if rows == [row[0] for row in want] or (rows == [(row[0], 0) for row in want] != want):
        return {"indices": [row[1] for row in want]}
    return None


@rule
def index_is_a_count(failure, student):
    """enumerate's number."""
    rows, want = failure.actual, failure.expected
    if not isinstance(rows, list) or not isinstance(want, list) or rows == want:
        return None
    counted = [[(row[0], start + place) for place, row in enumerate(want)] for start in (0, 1)]
    if rows not in counted:
        return None
    product = answer(
        student, "inputs_of", program(lambda x, y: x * y, inputs=2), two_leaves(failure.draw)
    )
    return {} if [row[1] for row in product] in ([0, 1], [1, 2]) else None


@rule
def pair_turned_round(failure, student):
    """(0, "SinBackward0") for ("SinBackward0", 0), or the other way round."""
    rows, want = failure.actual, failure.expected
    right = (
        isinstance(rows, list)
        and isinstance(want, list)
        and want
        and rows == [(second, first) for first, second in want]
    )
    return {} if right else None
