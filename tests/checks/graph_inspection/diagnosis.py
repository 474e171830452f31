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
    mistake,
    phrase,
    program,
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


@mistake(
    "returns_nothing",
    about=("build_loss", *READERS),
    title="nothing is returned",
    explanation=(
        "The call came back with None. A function that ends without a return gives None to its"
        " caller, also where it printed or appended what was wanted; so do a bare return and"
        " list.append."
    ),
)
def returns_nothing(failure, student):
    """None, where a list, a text or a tuple is promised."""
    without_a_graph = (
        failure.message.startswith("a tensor without a graph gives") and failure.actual is None
    )
    return {} if without_a_graph or kind_that_came(failure) == "NoneType" else None


@mistake(
    "yields_without_a_list",
    about=READERS,
    title="a generator, not a list",
    explanation=(
        "A function with yield returns a generator, which has computed nothing yet. Collect it:"
        " return list(...) of an inner function that yields."
    ),
)
def yields_without_a_list(failure, student):
    """A generator came back, where it is a list that is promised."""
    return (
        {}
        if kind_that_came(failure) == "generator" and failure.message.endswith("a list is promised")
        else None
    )


@mistake(
    "lines_not_joined",
    about="format_graph",
    title="a list of lines, not one text",
    explanation=(
        'format_graph returns one str. Yours returned a list of {count} lines; "\\n".join(lines)'
        " makes a text of them."
    ),
)
def lines_not_joined(failure, student):
    """A list of lines came back from format_graph."""
    lines = kind_that_came(failure) == "list" and all(
        isinstance(line, str) for line in failure.actual
    )
    return {"count": len(failure.actual)} if lines else None


@mistake(
    "pairs_are_lists",
    about=("walk", "inputs_of"),
    title="pairs as lists",
    explanation=(
        "The entries are right, but {entry} is a list; write (a, b) with round brackets to make a"
        " tuple."
    ),
)
def pairs_are_lists(failure, student):
    """[0, "AddBackward0"] for (0, "AddBackward0")."""
    entry = failure.facts.get("entry")
    return (
        {"entry": entry}
        if isinstance(entry, list) and listed(failure.actual, failure) == failure.expected
        else None
    )


@mistake(
    "another_signature",
    about=("build_loss", *READERS),
    title="called with one argument, which is not what it takes",
    explanation=(
        "{name} is called with one tensor and nothing else. Yours raised {error}. What a recursion"
        " carries along (a depth, a list) belongs to a helper of its own."
    ),
)
def another_signature(failure, student):
    """A parameter more or less than promised."""
    name, error = (
        failure.about,
        failure.error,
    )  # a helper of a longer name is not a concern of this, nor what takes one argument and got two
    texts = (f"{name}() missing ", f"{name}() takes 0 positional")
    raised = failure.raised("TypeError", "positional argument") and error.message.startswith(texts)
    return {"name": name, "error": short(failure)} if raised else None


@mistake(
    "results_pile_up",
    about=READERS,
    title="results of earlier calls are still there",
    explanation=(
        "Two calls on one small graph: the first returned {first} entries, the second {second}. A"
        " list outside the function, or a default like entries=[], is made once and lives on; make"
        " a new one in each call."
    ),
)
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


@mistake(
    "only_loss_returned",
    about="build_loss",
    title="only loss is returned",
    explanation=(
        "build_loss returns (y, z, loss), all three; yours returned one tensor, {actual}, which is"
        " loss = (2x + 3)² at x = {x}."
    ),
)
def only_loss_returned(failure, student):
    """One tensor, the loss."""
    x = failure.inputs.get("x")
    if failure.facts.get("type") != "Tensor" or failure.message != NO_TUPLE:
        return None
    return {} if same(failure.actual, (2 * x + 3) ** 2) else None


@mistake(
    "results_out_of_order",
    about="build_loss",
    title="the three results are in another order",
    explanation=(
        "You returned {order}, with the right values; the order that is asked for is (y, z, loss)."
    ),
)
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


@mistake(
    "graph_is_cut",
    about="build_loss",
    title="loss is cut off from x",
    explanation=(
        "The values are right, but no gradient reaches x: somewhere between x and loss the graph"
        " ends. .item(), .detach(), .data, torch.no_grad() and torch.tensor(...) of a tensor all"
        " carry the number on without its history."
    ),
)
def graph_is_cut(failure, student):
    """No gradient for x, or a loss that requires none."""
    unlinked = (
        "does not require grad" in failure.message or "no gradient came back" in failure.message
    )
    return {} if unlinked and "x" in failure.inputs else None


@mistake(
    "backward_already_ran",
    about="build_loss",
    title="build_loss runs backward itself",
    explanation=(
        "build_loss only builds the graph; the caller runs backward. Yours ran it already, and "
        "backward frees the graph, so the caller's own backward raised: {error}"
    ),
)
def backward_already_ran(failure, student):
    """A graph that has been freed."""
    return (
        {"error": str(failure.error)[:120]}
        if failure.raised("RuntimeError", "backward through the graph a second time")
        else None
    )


@mistake(
    "computed_afresh",
    about="build_loss",
    title="{output} is computed afresh, not from {source}",
    explanation=(
        "The values agree, but the {source} that you return is not part of {output}'s graph: "
        "autograd finds no way from {output} back to it. Compute y once, z from that y, and loss "
        "from that z."
    ),
)
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


@mistake(
    "forgot_inner_derivative",
    about="PREDICTED_GRADIENT",
    title="one factor of 2 is missing",
    explanation=(
        "You predicted {actual}; with z = 5 that is 2z (or z·2, without the square's own 2). The "
        "chain is d loss/dz · dz/dy · dy/dx = 2z · 1 · 2: one 2 from the square, one from y = 2x."
    ),
)
def forgot_inner_derivative(failure, student):
    """10."""
    return {} if same(failure.actual, 10) else None


@mistake(
    "square_taken_at_y",
    about="PREDICTED_GRADIENT",
    title="the square is differentiated at y, not at z",
    explanation=(
        "You predicted {actual}: that is {formula} with y = 2. Loss is z², so its derivative needs"
        " the value of z = y + 3, which is 5."
    ),
)
def square_taken_at_y(failure, student):
    """8, or 4."""
    formulas = ((8, "2y · 2"), (4, "2y, without the 2 from y = 2x,"))
    return next(
        ({"formula": formula} for guess, formula in formulas if same(failure.actual, guess)), None
    )


@mistake(
    "value_for_gradient",
    about="PREDICTED_GRADIENT",
    title="a value instead of the gradient",
    explanation="You predicted {actual}: that {what}.",
)
def value_for_gradient(failure, student):
    """Something else that stands in the calculation."""
    return next(({"what": what} for guess, what in GUESSES if same(failure.actual, guess)), None)


@mistake(
    "another_point",
    about="PREDICTED_GRADIENT",
    title="the gradient at another x",
    explanation=(
        "You predicted {actual}: that is the gradient at x = {point}, 4·(2·{point} + 3). It is"
        " asked for at x = 1."
    ),
)
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


@mistake(
    "accumulated_prediction",
    about="PREDICTED_GRADIENT",
    title="gradients that were added up",
    explanation=(
        "You predicted {actual}, {times} times what it should be. x.grad is added to by each"
        " backward: a cell that was run {times} times shows this number."
    ),
)
def accumulated_prediction(failure, student):
    """40, 60: read off x.grad after several backward passes."""
    right = 20
    return next(
        ({"times": times} for times in (2, 3, 4) if same(failure.actual, right * times)), None
    )


@mistake(
    "prediction_is_no_number",
    about="PREDICTED_GRADIENT",
    title="the prediction is of type {type}",
    explanation=(
        "PREDICTED_GRADIENT is worked out on paper and written down as a plain float; yours is of"
        " type {type}."
    ),
)
def prediction_is_no_number(failure, student):
    """A tensor, a text, a list."""
    if failure.actual is None or is_number(failure.actual) or isinstance(failure.actual, float):
        return None
    return {"type": type_name(failure.actual)}


# ----------------------------------------------------------------------------------- names of nodes


@mistake(
    "node_for_name",
    about=("walk", "inputs_of"),
    title="the node itself, not its name",
    explanation=(
        "An entry holds the {kind} object where the text {name} should stand. type(node) is the"
        " node's class, and the class's __name__ is its name as a str."
    ),
)
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


@mistake(
    "text_of_the_node",
    about=("walk", "format_graph", "inputs_of"),
    title="the node's text, not its type's name",
    explanation=(
        "The name came back as {found}. That is str() of the node, or of its class, and an address"
        " in it differs from run to run; the name alone is the __name__ of its type: {name}."
    ),
)
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


@mistake(
    "name_cut_from_text",
    about=("walk", "format_graph", "inputs_of"),
    title="the name is cut out of the node's text",
    explanation=(
        "A custom Function's node came back as {found}, because its text is "
        "<torch.autograd.function.{name} object at 0x…>. Use the __name__ of the node's type: "
        "{name}."
    ),
)
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


@mistake(
    "qualified_name",
    about=("walk", "format_graph", "inputs_of"),
    title="node.name() is not the type's name",
    explanation=(
        "A leaf's node came back as {found}. node.name() gives what C++ calls the node, which for"
        " most nodes is the same as the Python type's name, and for leaves is not: there the type"
        " is AccumulateGrad."
    ),
)
def qualified_name(failure, student):
    """torch::autograd::AccumulateGrad."""
    found = next(
        (name for name in names_in(failure) if isinstance(name, str) and "::" in name), None
    )
    return {"found": found} if found else None


# ------------------------------------------------------------------------- what is not a node, None


OF_NODES = ("next_functions", "variable", "name")
"""What people ask a node for."""


@mistake(
    "pair_not_unpacked",
    about=READERS,
    title="an edge is a pair, not a node",
    explanation=(
        "Your code raised {error}. next_functions holds pairs (node, index): take the pair apart"
        " before you go on with the node."
    ),
)
def pair_not_unpacked(failure, student):
    """Goes on with the pair."""
    asked = any(
        failure.raised(f"AttributeError: 'tuple' object has no attribute '{name}'")
        for name in OF_NODES
    )
    return {"error": short(failure)} if asked else None


@mistake(
    "tensor_for_node",
    about=READERS,
    title="a tensor is not a node",
    explanation=(
        "{what}. The function gets a tensor; the node that made it is in the tensor's grad_fn, and"
        " next_functions is the node's."
    ),
)
def tensor_for_node(failure, student):
    """root.next_functions, or a walk that takes the tensor for its first node."""
    if failure.raised("AttributeError", "'Tensor' object has no attribute 'next_functions'"):
        return {"what": phrase("Your code raised {error}", error=short(failure))}
    return {"what": "You listed one entry, Tensor"} if names_in(failure) == ["Tensor"] else None


@mistake(
    "no_graph_not_handled",
    about=READERS,
    title="a root without a graph is not provided for",
    explanation=(
        "On a tensor that no recorded operation made (a leaf, a constant, a detached tensor)"
        " root.grad_fn is None, and there your code raised {error}. With a graph it did not."
    ),
)
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


@mistake(
    "none_not_skipped",
    about=READERS,
    title="an input without a node is followed",
    explanation=(
        "On x * y your code works, on x * 2 it raised {error}. An input that needs no gradient (a"
        " constant, a number) has no node: next_functions holds (None, 0) for it."
    ),
)
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


@mistake(
    "constants_listed",
    about=WALKS,
    title="inputs without a node are listed",
    explanation=(
        "{count} entries of yours are {word}: they stand for inputs that need no gradient, (None,"
        " 0) in next_functions. There is no node to visit, so they are left out."
    ),
)
def constants_listed(failure, student):
    """NoneType or None in the list."""
    for word in ("NoneType", "None", "", None):
        if came_back(failure, lambda node, word=word: with_constants(node, word)):
            return {"word": repr(word), "count": sum(name == word for name in names_in(failure))}
    return None


@mistake(
    "none_has_a_name",
    about="inputs_of",
    title="None was given a name",
    explanation=(
        "For an input without a node you returned {found}. That is a text; what is promised there"
        " is None itself, as next_functions has it."
    ),
)
def none_has_a_name(failure, student):
    """("NoneType", 0) or ("None", 0) for (None, 0)."""
    rows = listed(failure.actual, failure)
    nowhere = [
        row for row, want in zip(rows, failure.expected or [], strict=False) if want[0] is None
    ]
    pair = next((row for row in nowhere if row[0] in ("NoneType", "None", "")), None)
    return {"found": pair} if pair else None


@mistake(
    "constant_edges_dropped",
    about="inputs_of",
    title="edges without a node are dropped",
    explanation=(
        "The root has {edges} inputs, you listed {count}: those without a node are missing."
        " inputs_of keeps them, as (None, 0), so that the place in the list still says which input"
        " it was."
    ),
)
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


@mistake(
    "newline_at_the_end",
    about="format_graph",
    title="a newline at the end",
    explanation=(
        'All lines are right, but one more newline follows the last. "\\n".join(lines) puts'
        " newlines between lines only."
    ),
)
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


@mistake(
    "one_space_more",
    about="format_graph",
    title="one space too many in each line",
    explanation=(
        "Each of your lines, the first too, is indented by one space more than its depth: {first}."
        " print(' ' * depth, name) puts a space between its arguments, and a depth that begins at 1"
        " has the same effect."
    ),
)
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


@mistake(
    "wide_indentation",
    about="format_graph",
    title="{width} a level",
    explanation=(
        "Your second line begins with {width}, where one space is promised: each level adds exactly"
        " one."
    ),
)
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


@mistake(
    "depth_from_one",
    about="walk",
    title="depth begins at 1",
    explanation=(
        "Each of your depths is one too many: the root's own node has depth 0, you gave it {first}."
    ),
)
def depth_from_one(failure, student):
    """All depths one too large."""
    if not came_back(
        failure, lambda node: [(depth + 1, name) for depth, name in named(preorder(node))]
    ):
        return None
    return {"first": listed(failure.actual, failure)[0][0]}


@mistake(
    "depth_counts_visits",
    about=WALKS,
    title="depth is counted on from one branch to the next",
    explanation=(
        "Where the second branch of a node begins you have {found} for {wanted}: your depth was"
        " counted on, and not set back. All inputs of a node are one deeper than the node itself,"
        " whichever comes first."
    ),
)
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


@mistake(
    "breadth_first",
    about=(*WALKS, "leaf_tensors"),
    title="level by level, not branch by branch",
    explanation=(
        "What came back is the order of a breadth-first walk: all nodes of one level, then all of"
        " the next. Depth-first means to follow the first input to its end before the second is"
        " begun. A list used as a queue, pop(0), walks by levels."
    ),
)
def breadth_first(failure, student):
    """Breadth-first order."""
    if failure.about == "leaf_tensors":
        return {} if leaves_came_in_order(failure, level_by_level) else None
    return {} if came_back(failure, lambda node: named(level_by_level(node))) else None


@mistake(
    "last_input_first",
    about=(*WALKS, "leaf_tensors"),
    title="the last input comes first",
    explanation=(
        "Your walk is depth-first, but goes through the inputs of each node from the last to the"
        " first. A stack gives back last what was put on it first: put the inputs on it in reverse."
    ),
)
def last_input_first(failure, student):
    """Depth-first from the right."""
    if failure.about == "leaf_tensors":
        return {} if leaves_came_in_order(failure, lambda node: preorder(node, flip=True)) else None
    return {} if came_back(failure, lambda node: named(preorder(node, flip=True))) else None


@mistake(
    "children_before_parent",
    about=WALKS,
    title="a node after its inputs",
    explanation=(
        "Your list ends with the root, {last}, where it should begin with it: each node is written"
        " down after its inputs (post-order). Pre-order writes it down first."
    ),
)
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


@mistake(
    "shared_nodes_once",
    about=WALKS,
    title="a shared node is visited once only",
    explanation=(
        "You listed {count} entries, the walk has {wanted}: nodes that were met before are left"
        " out, as with a set of visited nodes. In this walk each way to a node counts: x * x"
        " reaches the leaf x twice."
    ),
)
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


@mistake(
    "first_input_only",
    about=WALKS,
    title="only the first input is followed",
    explanation=(
        "You listed {count} entries, the walk has {wanted}: yours goes down by the first input of"
        " each node, next_functions[0], to the end, and never comes back for the others. A node"
        " with two inputs leads to two branches; each of them is walked."
    ),
)
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


@mistake(
    "lookalikes_merged",
    about=WALKS,
    title="entries that look alike are merged",
    explanation=(
        "You listed {count} entries, the walk has {wanted}: an entry that is equal to an earlier "
        "one is missing. Two leaves at one depth are both {entry}, but they are two entries."
    ),
)
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


@mistake(
    "root_left_out",
    about=WALKS,
    title="the root's own node is missing",
    explanation=(
        "Your list begins with {first}, one of the root's inputs. The first entry is the root's own"
        " node, root.grad_fn."
    ),
)
def root_left_out(failure, student):
    """Begins with next_functions."""

    def tail(shift):
        return lambda node: [(depth - shift, name) for depth, name in named(preorder(node))[1:]]

    if came_back(failure, tail(0)) or came_back(failure, tail(1)):
        return {"first": listed(failure.actual, failure)[0][1]}
    return None


@mistake(
    "leaves_left_out",
    about=WALKS,
    title="the walk stops before the leaves",
    explanation=(
        "No AccumulateGrad is in what came back. Leaves have a node too, the one that adds the"
        " gradient to .grad; it has no inputs of its own, and is listed like any other."
    ),
)
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


@mistake(
    "leaves_in_another_order",
    about="leaf_tensors",
    title="the right leaves in an order of their own",
    explanation=(
        "You listed {actual}, a walk meets them as {expected}. A set forgets in which order things"
        " were put in; a dictionary remembers, and so does a list."
    ),
)
def leaves_in_another_order(failure, student):
    """A permutation."""
    if (
        not isinstance(failure.actual, list)
        or failure.message != "the leaves are right, their order is not"
    ):
        return None
    walks = (level_by_level, lambda node: preorder(node, flip=True))
    return None if any(leaves_came_in_order(failure, walk) for walk in walks) else {}


@mistake(
    "leaf_listed_twice",
    about="leaf_tensors",
    title="a leaf is listed each time that it is reached",
    explanation=(
        "{name} came back {count} times: the graph reaches it in {count} ways, and you noted it"
        " each time. Note a leaf only if it is not there yet."
    ),
)
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


@mistake(
    "leaves_are_copies",
    about="leaf_tensors",
    title="copies of the leaves",
    explanation=(
        "Entry {number} has the value of {name}, {values}, but is another object: a clone, a"
        " detached copy or a new tensor. Gradients arrive at the tensor that the graph knows, not"
        " at a copy of it."
    ),
)
def leaves_are_copies(failure, student):
    """clone(), detach(), .data."""
    copy = failure.facts.get("values")
    for name, tensor in failure.facts.get("tensors", {}).items():
        if isinstance(copy, Tensor) and same(copy, tensor, rtol=0, atol=0):
            return {"name": name}
    return None


@mistake(
    "leaf_nodes_returned",
    about="leaf_tensors",
    title="nodes of leaves, not the leaves",
    explanation=(
        "Entry {number} is an AccumulateGrad, the node that stands for a leaf in the graph. The"
        " tensor is the node's attribute variable."
    ),
)
def leaf_nodes_returned(failure, student):
    """AccumulateGrad objects."""
    return {} if failure.facts.get("type") == "AccumulateGrad" else None


@mistake(
    "leaves_compared_by_value",
    about="leaf_tensors",
    title="leaves are compared by their values",
    explanation=(
        "On a list of tensors, in and == compare values, element by element: {effect}. Whether two"
        " names stand for one tensor is told by is, by id(), or by a set or dictionary, which go by"
        " identity too."
    ),
)
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


@mistake(
    "leaf_root_forgotten",
    about="leaf_tensors",
    title="a root that is itself a leaf is forgotten",
    explanation=(
        "Asked for the leaves of x itself you returned []. x has no graph behind it (grad_fn is"
        " None), and yet a gradient reaches it: x.backward(v) adds v to x.grad. So the list is [x]."
    ),
)
def leaf_root_forgotten(failure, student):
    """[] for a leaf that requires grad."""
    root = root_of(failure)
    return (
        {}
        if root is not None and root.grad_fn is None and root.requires_grad and failure.actual == []
        else None
    )


@mistake(
    "constant_taken_for_leaf",
    about="leaf_tensors",
    title="a constant is listed as a leaf that gets a gradient",
    explanation=(
        "You listed a tensor that does not require grad. is_leaf is True of every tensor without a"
        " grad_fn, constants included; only requires_grad says whether a gradient arrives."
    ),
)
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


@mistake(
    "index_lost",
    about="inputs_of",
    title="the index is lost",
    explanation=(
        "You returned {actual}. The second half of a pair says which output of the node the edge"
        " belongs to; the pieces of a chunk share one node and differ in it alone. Here the second"
        " halves are {indices}."
    ),
)
def index_lost(failure, student):
    """Always 0, or no index at all."""
    rows, want = failure.actual, failure.expected
    if not isinstance(rows, list) or not isinstance(want, list) or not want:
        return None
    if rows == [row[0] for row in want] or (rows == [(row[0], 0) for row in want] != want):
        return {"indices": [row[1] for row in want]}
    return None


@mistake(
    "index_is_a_count",
    about="inputs_of",
    title="the place in the list, not the output's index",
    explanation=(
        "You returned {actual}: the second halves count 0, 1, 2 … through the list, as enumerate"
        " does. The index comes with the edge and says which output of the node was used:"
        " {expected}."
    ),
)
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


@mistake(
    "pair_turned_round",
    about=("walk", "inputs_of"),
    title="the halves of the pairs have changed places",
    explanation="You returned {actual}. walk has (depth, name), inputs_of has (name, index).",
)
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
