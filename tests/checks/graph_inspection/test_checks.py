"""graph_inspection's checks. Those below the line "hidden" are not handed out.

A failure of a function that reads a graph carries the graph, for the rules of ``diagnosis.py``.
"""

import re
from collections import Counter
from functools import partial

import torch
from torch import Tensor

from grader.authoring import (
    Graph,
    Opaque,
    RandomInputs,
    Student,
    StudentCodeError,
    assert_gradient,
    assert_tensor,
    assert_that,
    assert_tuple,
    check,
    fail,
    fetch,
    graphs_figure,
    is_number,
    is_same,
    prediction_figure,
    trace,
    type_name,
)

NODES = {
    ".sin()": "SinBackward0",
    ".cos()": "CosBackward0",
    ".tanh()": "TanhBackward0",
    ".exp()": "ExpBackward0",
    ".sigmoid()": "SigmoidBackward0",
    ".abs()": "AbsBackward0",
    ".square()": "PowBackward0",
}
"""Operations on one tensor as they are written, and the node that each leaves."""
UNARY = list(NODES)
SINGLE = {"rtol": 1e-5, "atol": 1e-5}
"""Room for computations in float32."""


# ------------------------------------------------------------------------------ asking about graphs


def answer(student: Student, name: str, graph: Graph, times: int = 1) -> list:
    """Return what the student's function of this name returns for a graph's root, each time that it
    is called; an exception says in which graph it came. Leaves are told by their names.
    """
    inputs = {key: student.put(x) for key, x in graph.inputs.items()}
    root = graph.root(inputs.values())
    try:
        found = [getattr(student, name)(root) for _ in range(times)]
        return [with_names(one, inputs) if name == "leaf_tensors" else fetch(one) for one in found]
    except StudentCodeError as error:
        error.args = (f"{error} (in the graph  {shown(graph)})",)
        raise


def with_names(found, leaves: dict):
    """Return a list in which a tensor that is one of ``leaves`` is its name; of another object, but
    a tensor, there is the type alone. Anything else than a list stays as it is.
    """
    items = fetch(found)
    if not isinstance(items, list | tuple):
        return items
    same = fetch([[is_same(found[k], leaf) for leaf in leaves.values()] for k in range(len(items))])
    return [
        [*leaves][row.index(True)]
        if True in row
        else item
        if isinstance(item, Tensor)
        else Opaque(type_name(item))
        for item, row in zip(items, same, strict=True)
    ]


def shown(graph: Graph) -> str:
    """Return the text on one line."""
    return graph.text.replace("\n", "; ")


def details(graph: Graph, at=None, **facts) -> dict:
    """Return what a failure tells of a graph, drawn with the place ``at`` marked."""
    used = {
        name: one for name, one in graph.inputs.items() if re.search(rf"\b{name}\b", graph.text)
    }
    leaves = [name for name, tensor in used.items() if tensor.requires_grad]
    constants = [name for name in used if name not in leaves]
    inputs = {"graph": shown(graph), "leaves": ", ".join(leaves)}
    if constants:
        inputs["constants"] = ", ".join(constants)
    figures = [partial(graph.figure, at)]
    return {"inputs": inputs, "facts": {"drawn": graph, **facts}, "figures": figures}


ENTRIES = (
    "entry {number} is {found}, expected {wanted}",
    "the list ends before entry {number}, which should be {wanted}",
    "the list should end after {count} entries, but {found} follows",
)
LINES = (
    "line {number} is {found}, expected {wanted}",
    "the text ends before line {number}, which should be {wanted}",
    "the text should end after line {count}, but {found} follows",
)


def assert_rows(got, want: list | str, graph: Graph, place: str = "entry", **facts) -> None:
    """Require the same entries, or lines; the message names the first that differs."""
    rows = assert_kind(got, want, graph)
    differs, short, long = ENTRIES
    if isinstance(want, str):
        rows, want = rows.rstrip("\n").split("\n"), want.split("\n")
        differs, short, long = LINES
    pairs, both = enumerate(zip(rows, want, strict=False)), min(len(rows), len(want))
    k = next((k for k, (row, wanted) in pairs if not same_entry(row, wanted)), both)
    if k == len(rows) == len(want):
        return
    as_text = repr if differs is LINES[0] else lambda entry: entry
    wanted, found = (as_text(column[k]) if k < len(column) else None for column in (want, rows))
    facts |= {"number": k + 1, "wanted": wanted, "found": found, "count": len(want)}
    message = differs if k < both else short if k < len(want) else long
    fail(message, expected=want, actual=rows, **details(graph, (place, k + 1), **facts))


def assert_kind(got, want: list | str, graph: Graph):
    """Require a str where that is expected, and else a list; return it with its pairs as tuples."""
    if isinstance(want, str) and isinstance(got, str):
        return got
    if isinstance(want, str) or not isinstance(got, list | tuple):
        message = "returned a value of type {type}, expected a list"
        if isinstance(want, str):
            message, want = "returned a value of type {type}, expected a str", want.split("\n")
        fail(message, expected=want, actual=got, **details(graph, type=type_name(got)))
    return [tuple(entry) if isinstance(entry, list) else entry for entry in got]


def same_entry(mine, wanted) -> bool:
    """Return whether two entries hold the same plain data. A tensor or a node in place of it is not
    compared.
    """
    if isinstance(wanted, str):
        return isinstance(mine, str) and mine == wanted
    types = [type(part) for part in wanted]
    return isinstance(mine, tuple) and [type(part) for part in mine] == types and mine == wanted


def assert_leaves(got, want: list[str], graph: Graph) -> None:
    """Require the same leaves, each once, in any order; the message names the first that is too
    many, too few or another object.
    """
    found = assert_kind(got, want, graph)
    both = {"expected": want, "actual": found}
    for number, item in enumerate(found, 1):
        if isinstance(item, Tensor):
            message = (
                "entry {number} is not a tensor of this graph, but another one with the value"
                " {values}"
            )
            fail(message, **both, **details(graph, number=number, values=item))
        if isinstance(item, Opaque):
            message, facts = "entry {number} is of type {type}, not a tensor", {"number": number}
            fail(message, **both, **details(graph, type=item.type_name, **facts))
    counts = Counter(found)
    for name in graph.inputs:
        message = "{name} is listed {count} times"
        if name not in want:
            message = "{name} is listed, but no gradient reaches it"
        elif not counts[name]:
            message = "{name} is missing"
        marked = details(graph, ("leaf", name), name=name, count=counts[name])
        assert_that(counts[name] == (name in want), message, **both, **marked)


# ------------------------------------------------------------------- build_loss, PREDICTED_GRADIENT


def three_tensors(result, x: Tensor):
    """Return what build_loss returned, if it is three."""
    y = 2 * x
    assert_tuple(result, 3, lists=True, expected=(y, y + 3, (y + 3) ** 2))
    return result


def like(actual, expected: Tensor):
    """Return what came back in the floating dtype of ``expected``: the dtype has its own check."""
    actual = fetch(actual)
    if isinstance(actual, Tensor) and actual.is_floating_point():
        actual = actual.to(expected.dtype)
    return actual


def loss_figure(student: Student, x: Tensor, at: str):
    """Return the graph behind the student's loss beside the right one; marked is the tensor ``at``
    of the student's.
    """
    names = ["x", "y", "z", "loss"]
    wanted = Graph("y = 2 * x\nz = y + 3\nloss = z ** 2", {"x": x}).tensors()
    seen = student.observe("graph", "build_loss", names, [x])
    return graphs_figure(seen, trace(wanted["loss"], wanted), at=at)


@check(points=0.5, about="build_loss")
def test_build_loss_values(student: Student, draw: RandomInputs) -> None:
    """build_loss returns the values of y, z and loss"""
    x = draw.given(x=draw.tensor(low=0.3, requires_grad=True))
    results = three_tensors(student.build_loss(x), x)
    y = 2 * x.detach()
    for name, got, want in zip("y z loss".split(), results, (y, y + 3, (y + 3) ** 2), strict=True):
        facts = {"name": name, "results": results}
        assert_tensor(like(got, want), want, "{name} is wrong", **SINGLE, facts=facts)


@check(points=0.25, about="build_loss", needs=test_build_loss_values)
def test_build_loss_gradient(student: Student, draw: RandomInputs) -> None:
    """loss has the right gradient with respect to x"""
    x = draw.given(x=draw.tensor(low=0.3, requires_grad=True))
    _, _, loss = three_tensors(student.build_loss(x), x)
    message = "loss does not require grad, so it has no graph"
    figures = [lambda: loss_figure(student, x, "loss")]
    assert_that(loss.requires_grad, message, actual=loss, figures=figures)
    (got,) = torch.autograd.grad(loss, x, allow_unused=True)
    assert_gradient(got, 4 * (2 * x.detach() + 3), **SINGLE)


def predicted(student: Student) -> float:
    """Return the prediction, if it is a number."""
    value = student.PREDICTED_GRADIENT
    message = "PREDICTED_GRADIENT is of type {type}; write a plain number"
    assert_that(is_number(value), message, actual=value, facts={"type": type_name(value)})
    return value


@check(points=0.5, about="PREDICTED_GRADIENT")
def test_prediction(student: Student) -> None:
    """PREDICTED_GRADIENT is d loss / dx at x = 1"""
    value = predicted(student)
    why = "the gradient says how far a small step of x moves loss"
    figures = [lambda: prediction_figure([["d loss / dx, x = 1", value, "another number", why]])]
    message = "PREDICTED_GRADIENT is not the gradient that autograd computes"
    assert_that(abs(value - 20.0) < 1e-3, message, actual=value, figures=figures)


# ---------------------------------------------------------------- walk, format_graph and the others


@check(points=0.75, about="walk")
def test_walk_chain(student: Student, draw: RandomInputs) -> None:
    """walk follows a chain from the root to its leaf"""
    a, b, c, d = draw.sample(UNARY, 4)
    graph = draw.graph(f"root = x{a}{b}{c}{d}", x=draw.tensor(3, requires_grad=True))
    want = [(0, NODES[d]), (1, NODES[c]), (2, NODES[b]), (3, NODES[a]), (4, "AccumulateGrad")]
    assert_rows(*answer(student, "walk", graph), want, graph)


PRODUCT = Graph(
    "z = x * y\nroot = z.sum()",
    {
        "x": torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        "y": torch.tensor([4.0, 5.0, 6.0], requires_grad=True),
    },
)


@check(points=0.5, about="walk", needs=test_walk_chain)
def test_walk_two_inputs(student: Student) -> None:
    """walk follows both inputs of z = x * y"""
    want = [(0, "SumBackward0"), (1, "MulBackward0"), (2, "AccumulateGrad"), (2, "AccumulateGrad")]
    assert_rows(*answer(student, "walk", PRODUCT), want, PRODUCT)


@check(points=0.5, about="format_graph")
def test_format_chain(student: Student, draw: RandomInputs) -> None:
    """format_graph indents each level by one space"""
    a, b, c = draw.sample(UNARY, 3)
    graph = draw.graph(f"root = x{a}{b}{c}", x=draw.tensor(3, requires_grad=True))
    want = f"{NODES[c]}\n {NODES[b]}\n  {NODES[a]}\n   AccumulateGrad"
    assert_rows(*answer(student, "format_graph", graph), want, graph)


@check(points=0.75, about="leaf_tensors")
def test_leaves_of_a_graph(student: Student, draw: RandomInputs) -> None:
    """leaf_tensors finds the leaves of a graph"""
    names = draw.sample("abcxyz", 4)
    leaves = {name: draw.tensor(requires_grad=True, digits=None) for name in sorted(names)}
    lines = f"t = {names[0]} * {names[1]}", f"root = t{draw.choice(UNARY)} + {names[2]}"
    graph = draw.graph(*lines, **leaves)
    want = [name for name in leaves if name in names[:3]]
    assert_leaves(*answer(student, "leaf_tensors", graph), want, graph)


@check(points=0.5, about="inputs_of")
def test_inputs_of_a_sum(student: Student, draw: RandomInputs) -> None:
    """inputs_of lists the nodes of the root's inputs"""
    left, right = draw.sample(UNARY, 2)
    leaves = {name: draw.tensor(2, requires_grad=True) for name in "xy"}
    graph = draw.graph(f"root = x{left} {draw.choice('+-*')} y{right}", **leaves)
    want = [(NODES[left], 0), (NODES[right], 0)]
    assert_rows(*answer(student, "inputs_of", graph), want, graph, "edge")


@check(points=0.25, about="inputs_of", needs=test_inputs_of_a_sum)
def test_inputs_of_pieces(student: Student, draw: RandomInputs) -> None:
    """inputs_of gives the index of the piece that was used"""
    first, second, third = draw.sample("pqr", 3)
    x = draw.tensor(6, requires_grad=True)
    graphs = [
        (draw.graph("p, q, r = x.chunk(3)", root, x=x), used)
        for root, used in (
            (f"root = {first} {draw.choice('+-*')} {second}", [first, second]),
            (f"root = {second} {draw.choice('+-*')} {first}", [second, first]),
            (f"root = {third}.sum()", [third]),
            ("s, root = r.chunk(2)", ["r"]),
        )
    ]
    got = [found for graph, _ in graphs for found in answer(student, "inputs_of", graph)]
    for found, (graph, used) in zip(got, graphs, strict=True):
        want = [("SplitBackward0", "pqr".index(name)) for name in used]
        assert_rows(found, want, graph, "edge", all=got)


# hidden

STEPS = [
    "{a} * {a}",
    "{a} * {k}",
    "{a} + {c}",
    "{c} - {a}",
    "Cube.apply({a})",
    "Blend.apply({a}, {b})",
    "Blend.apply({c}, {a})",
    "{a} * {b}",
    "{b} - {a}",
    "{a} + {b}.detach()",
    "{a}{u}",
    "-{a}",
    "{a}.chunk(2)",
    "{a}.split([1, 1, 2])",
]
LIGHT = 10
"""How many entries a walk from an earlier result may have, for it to be used again: graphs stay
readable.
"""


def random_graphs(draw: RandomInputs) -> list[Graph]:
    """Return two graphs that between them have every one of ``STEPS``: shared results, pieces,
    constants, custom Functions, unused leaves. And two small ones: one whose leaf is reached at
    three depths, and one in which a node has five inputs, one of them without a node.
    """
    steps = draw.sample(STEPS, len(STEPS))
    drawn = [random_graph(draw, steps[:7]), random_graph(draw, steps[7:])]
    x = draw.tensor(4, requires_grad=True)
    shared = draw.graph(f"t = x{draw.choice(UNARY)} * x", "root = t * x", x=x)
    names = draw.sample("wxyz", 4)
    parts = ", ".join([f"{names[0]}{draw.choice(UNARY)}", *names[1:3], "c", names[3]])
    tensors = {name: draw.tensor(4, requires_grad=name != "c") for name in "cwxyz"}
    joined = draw.graph(f"t = torch.cat([{parts}])", f"root = t{draw.choice(UNARY)}", **tensors)
    return [*drawn, shared, joined]


def random_graph(draw: RandomInputs, steps: list[str]) -> Graph:
    """Return a graph that makes these steps one after the other, each from the last result and some
    from an earlier one.
    """
    tensors = {name: draw.tensor(4, requires_grad=name in "wxyz") for name in "wxyzcd"}
    last, size = draw.choice("wxyz"), 1
    light = dict.fromkeys("wxyz", 1)
    lines = []
    for number, step in enumerate(steps, 1):
        other, name = draw.choice([*light, *"wxyz"]), f"t{number}"
        fills = {"c": draw.choice("cd"), "k": draw.number(), "u": draw.choice(UNARY)}
        made = step.format(a=last, b=other, **fills)
        size *= 1 + (step == "{a} * {a}")
        size += 1 + (light[other] if "{b}" in step else 0)
        if "chunk" in step or "split" in step:
            pieces = [f"{piece}{number}" for piece in ("pq" if "chunk" in step else "pqr")]
            lines.append(f"{', '.join(pieces)} = {made}")
            made, size = f"torch.cat([{', '.join(pieces[::-1])}])", len(pieces) * size + 1
        lines.append(f"{name} = {made}")
        last = name
        if size <= LIGHT:
            light[name] = size
    return draw.graph(*lines, f"root = {last}", **tensors)


def rootless(draw: RandomInputs) -> list[Graph]:
    """Return roots that have no graph: a leaf, a constant, what was computed from constants, what
    was detached.
    """
    tensors = {"x": draw.tensor(requires_grad=True), "c": draw.tensor()}
    texts = "x", "c", "c * 2", "(x * 2).detach()"
    return [draw.graph(f"root = {text}", **tensors) for text in texts]


def assert_reads(student: Student, reference: Student, name: str, *graphs: Graph) -> None:
    """Require what the reference returns for each graph. The order of leaves is a check's own."""
    for graph in graphs:
        (want,), (got,) = (answer(one, name, graph) for one in (reference, student))
        if name == "leaf_tensors":
            assert_leaves(got, want, graph)
        else:
            assert_rows(got, want, graph, "edge" if name == "inputs_of" else "entry")


def assert_again(student: Student, reference: Student, name: str, draw: RandomInputs) -> None:
    """Require the same from a second call for one root. The order in a list is a check's own."""
    x, y = (draw.tensor(2, requires_grad=True) for _ in "xy")
    graph = draw.graph(f"root = x{draw.choice(UNARY)} * y + x", x=x, y=y)
    (want,), (_, got) = answer(reference, name, graph), answer(student, name, graph, times=2)
    message = "a second call for the same root returned {found}, expected {wanted}"
    told = {"expected": want, "actual": got, **details(graph, found=repr(got), wanted=repr(want))}
    rows = assert_kind(got, want, graph)
    if isinstance(want, str):
        rows, want = rows.split(), want.split()
    known = all(any(same_entry(row, entry) for entry in want) for row in rows)
    assert_that(known and len(rows) == len(want), message, **told)


def assert_empty(student: Student, draw: RandomInputs, name: str) -> None:
    """Require [] for each root without a graph, or "" of format_graph."""
    message, want, kind = "a tensor without a graph should give []", [], (list, tuple)
    if name == "format_graph":
        message, want, kind = "a tensor without a graph should give an empty str", "", str
    for graph in rootless(draw):
        (got,) = answer(student, name, graph)
        told = {"expected": want, "actual": got, **details(graph)}
        assert_that(isinstance(got, kind) and not got, message, **told)


# ------------------------------------------------------------------- build_loss, PREDICTED_GRADIENT


@check(points=0.5, about="build_loss", needs=test_build_loss_gradient)
def test_build_loss_is_one_graph(student: Student, reference: Student, draw: RandomInputs) -> None:
    """z and loss are computed from the returned y and z"""
    x = draw.given(x=draw.tensor(low=0.3, requires_grad=True))
    want, got = reference.observe("links", x), student.observe("links", x)
    for link, gradient in want.items():
        output, _, source = link.partition(" by ")
        told = {
            "facts": {"output": output, "source": source, "link": link, "links": got},
            "figures": [partial(loss_figure, student, x, source)],
        }
        message = "{output} was not computed from the returned {source}"
        assert_that(got[link] is not None, message, **told)
        message = "the derivative of {output} with respect to {source} is wrong"
        assert_gradient(like(got[link], gradient), gradient, message, **SINGLE, **told)


@check(points=0.25, about="build_loss", needs=test_build_loss_gradient)
def test_build_loss_any_shape(student: Student, reference: Student, draw: RandomInputs) -> None:
    """y, z and loss have the shape and dtype of x"""
    for x in (
        draw.tensor(3, dtype=torch.float32, requires_grad=True),
        draw.noncontiguous(requires_grad=True),
        draw.tensor(0, 2, requires_grad=True),
        draw.tensor(dtype=torch.float32, requires_grad=True),
    ):
        x, v = draw.given(x=x, v=draw.tensor(*x.shape, dtype=x.dtype))
        got, want = three_tensors(student.build_loss(x), x), reference.build_loss(x)
        for name, mine, wanted in zip(("y", "z", "loss"), got, want, strict=True):
            facts = {"name": name, "results": got}
            assert_tensor(mine, wanted, "{name} is wrong", **SINGLE, facts=facts)
        (gradient,) = torch.autograd.grad(got[2], x, v, allow_unused=True)
        (wanted,) = torch.autograd.grad(want[2], x, v)
        assert_gradient(gradient, wanted, **SINGLE)


@check(points=0.25, about="PREDICTED_GRADIENT")
def test_prediction_tells_how_far_loss_moves(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """PREDICTED_GRADIENT predicts the effect of a small step"""
    value, step = predicted(student), draw.integer(10, 30) / 10000
    ends = {"below": 1.0 - step, "above": 1.0 + step}
    losses = [reference.build_loss(torch.tensor(x).double())[2].item() for x in ends.values()]
    facts = {**ends, "predicted": value * 2 * step, "moved": losses[1] - losses[0]}
    message = (
        "from x = {below} to {above}, loss changes by {moved}; your gradient predicts {predicted}"
    )
    close = abs(facts["predicted"] - facts["moved"]) < 1e-3 * 2 * step
    assert_that(close, message, actual=value, facts=facts)


# --------------------------------------------------------------------------------------------- walk


@check(points=0.25, about="walk", needs=test_walk_chain)
def test_walk_leaves_constants_out(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """walk skips inputs that have no node"""
    tensors = {name: draw.tensor(3, requires_grad=name != "c") for name in "xyc"}
    unary, factor = draw.choice(UNARY), draw.number()
    for text in (
        f"(x * {factor}){unary}",
        f"c - x{unary}",
        f"(x + c){unary}",
        f"Blend.apply(c, x){unary}",
        f"x.detach() * y{unary}",
    ):
        assert_reads(student, reference, "walk", draw.graph(f"root = {text}", **tensors))


@check(points=0.5, about="walk", needs=test_walk_chain)
def test_walk_lists_shared_nodes_again(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """walk lists a node each time it is reached"""
    x, y = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    first, second = draw.sample(UNARY, 2)
    shared = f"t = x{draw.choice('+-*')} y", f"root = t{first} * t{second}"
    five = torch.tensor(5.0, requires_grad=True)
    for graph in (
        draw.graph("root = x * x", x=x),
        draw.graph(*shared, x=x, y=y),
        draw.graph("y = x ** 3", "w = x ** 2", "root = y.log() + w.sqrt()", x=five),
    ):
        (want,), (got,) = (answer(one, "walk", graph) for one in (reference, student))
        assert_counts(got, want, graph)


def assert_counts(got, want: list, graph: Graph) -> None:
    """Require the same entries as often, in any order: the order has a check of its own."""
    rows = assert_kind(got, want, graph)
    plain = [row for row in rows if isinstance(row, tuple) and [*map(type, row)] == [int, str]]
    if len(plain) < len(rows):
        assert_rows(got, want, graph)
    counts, wanted = Counter(plain), Counter(want)
    for entry in dict.fromkeys([*want, *plain]):
        facts = {"entry": entry, "count": counts[entry], "wanted": wanted[entry]}
        message = "{entry}: expected {wanted} times in the list, got {count}"
        told = {"expected": want, "actual": rows, **details(graph, **facts)}
        assert_that(counts[entry] == wanted[entry], message, **told)


@check(points=0.25, about="walk", needs=test_walk_two_inputs)
def test_walk_order(student: Student, reference: Student, draw: RandomInputs) -> None:
    """walk finishes one branch before it starts the next"""
    a, b, c, d = draw.sample(UNARY, 4)
    tensors = {name: draw.tensor(3, requires_grad=True) for name in "xyz"}
    for text in (f"x{a}{b} * (y{c} - z{d})", f"(x{a} + y{b}){c} * z{d}"):
        assert_reads(student, reference, "walk", draw.graph(f"root = {text}", **tensors))


@check(points=0.25, about="walk", needs=test_walk_chain)
def test_walk_without_a_graph(student: Student, draw: RandomInputs) -> None:
    """walk returns [] for a tensor without a graph"""
    assert_empty(student, draw, "walk")


@check(
    points=0.25,
    about="walk",
    needs=[test_walk_leaves_constants_out, test_walk_lists_shared_nodes_again, test_walk_order],
)
def test_walk_any_graph(student: Student, reference: Student, draw: RandomInputs) -> None:
    """walk is right on random graphs"""
    assert_reads(student, reference, "walk", *random_graphs(draw))
    assert_again(student, reference, "walk", draw)


# ------------------------------------------------------------------------------------- format_graph


@check(points=0.5, about="format_graph", needs=test_format_chain)
def test_format_two_inputs(student: Student, reference: Student) -> None:
    """format_graph is right for w = (x * y).sum()"""
    assert_reads(student, reference, "format_graph", PRODUCT)


@check(points=0.25, about="format_graph", needs=test_format_chain)
def test_format_without_a_graph(student: Student, draw: RandomInputs) -> None:
    """format_graph returns "" for a tensor without a graph"""
    assert_empty(student, draw, "format_graph")


@check(points=0.25, about="format_graph", needs=test_format_two_inputs)
def test_format_any_graph(student: Student, reference: Student, draw: RandomInputs) -> None:
    """format_graph is right on random graphs"""
    assert_reads(student, reference, "format_graph", *random_graphs(draw))
    assert_again(student, reference, "format_graph", draw)


# ------------------------------------------------------------------------------------- leaf_tensors


@check(points=0.25, about="leaf_tensors", needs=test_leaves_of_a_graph)
def test_leaves_order(student: Student, reference: Student, draw: RandomInputs) -> None:
    """leaf_tensors lists leaves in the order of the walk"""
    first, *names = draw.sample("stuvwxyz", 7)
    lines, result = [f"r0 = {first}{draw.choice(UNARY)}"], "r0"
    lefts = draw.sample([True, True, True, False, False, False], 6)
    for number, (name, left) in enumerate(zip(names, lefts, strict=True), 1):
        pair = (name, result) if left else (result, name)
        result = f"r{number}"
        lines.append(f"{result} = " + f" {draw.choice('+-*')} ".join(pair))
    # the leaf that is met first is met again at the end
    met = [name for name, left in zip(names, lefts, strict=True) if left][-1]
    lines.append(f"root = {result} {draw.choice('+-*')} {met}")
    leaves = sorted([first, *names])
    tensors = {name: draw.tensor(requires_grad=True, digits=None) for name in leaves}
    graph = draw.graph(*lines, **tensors)
    (want,), (got,) = (answer(one, "leaf_tensors", graph) for one in (reference, student))
    assert_leaves(got, want, graph)
    message = "the leaves are right, but not their order"
    assert_that([*got] == want, message, expected=want, actual=got, **details(graph))


@check(points=0.25, about="leaf_tensors", needs=test_leaves_of_a_graph)
def test_leaves_of_equal_value(student: Student, reference: Student, draw: RandomInputs) -> None:
    """leaf_tensors lists leaves of equal value separately"""
    value = torch.tensor(draw.number(), dtype=torch.float64)
    leaves = {name: value.clone().requires_grad_() for name in "xyz"}
    graph = draw.graph(f"t = x{draw.choice(UNARY)} * y", "root = t + z", **leaves)
    assert_reads(student, reference, "leaf_tensors", graph)


@check(points=0.25, about="leaf_tensors", needs=test_leaves_of_a_graph)
def test_leaves_root_is_a_leaf(student: Student, reference: Student, draw: RandomInputs) -> None:
    """leaf_tensors returns [root] for a leaf that requires grad"""
    x, y = (draw.tensor(2, requires_grad=True) for _ in "xy")
    assert_reads(student, reference, "leaf_tensors", draw.graph("root = x", x=x, y=y))


@check(points=0.25, about="leaf_tensors", needs=test_leaves_of_a_graph)
def test_leaves_without_a_graph(student: Student, draw: RandomInputs) -> None:
    """leaf_tensors returns [] if root does not require grad"""
    for graph in rootless(draw)[1:]:
        got = assert_kind(*answer(student, "leaf_tensors", graph), [], graph)
        message = "root does not require grad, so the list should be empty"
        assert_that(not got, message, expected=[], actual=got, **details(graph))


@check(points=0.25, about="leaf_tensors", needs=test_leaves_of_a_graph)
def test_leaves_of_any_graph(student: Student, reference: Student, draw: RandomInputs) -> None:
    """leaf_tensors is right on random graphs"""
    assert_reads(student, reference, "leaf_tensors", *random_graphs(draw))
    assert_again(student, reference, "leaf_tensors", draw)


# ---------------------------------------------------------------------------------------- inputs_of


@check(points=0.25, about="inputs_of", needs=test_inputs_of_a_sum)
def test_inputs_of_constants(student: Student, reference: Student, draw: RandomInputs) -> None:
    """inputs_of gives (None, 0) for an input without a node"""
    tensors = {name: draw.tensor(3, requires_grad=name != "c") for name in "xyc"}
    unary, factor = draw.choice(UNARY), draw.number()
    for text in (
        f"x{unary} * {factor}",
        f"c - x{unary}",
        f"Blend.apply(c, x{unary})",
        f"x.detach() + y{unary}",
    ):
        assert_reads(student, reference, "inputs_of", draw.graph(f"root = {text}", **tensors))


@check(points=0.25, about="inputs_of", needs=test_inputs_of_a_sum)
def test_inputs_of_without_a_graph(student: Student, draw: RandomInputs) -> None:
    """inputs_of returns [] for a tensor without a graph"""
    assert_empty(student, draw, "inputs_of")


@check(points=0.25, about="inputs_of", needs=[test_inputs_of_pieces, test_inputs_of_constants])
def test_inputs_of_any_graph(student: Student, reference: Student, draw: RandomInputs) -> None:
    """inputs_of is right on random graphs"""
    for whole in random_graphs(draw):
        lines = whole.text.split("\n")
        graphs = [Graph("\n".join(lines[:end]), whole.inputs) for end in range(1, len(lines))]
        assert_reads(student, reference, "inputs_of", *graphs)
    assert_again(student, reference, "inputs_of", draw)
