"""graph_inspection, the checks that are not handed out."""

from collections import Counter
from functools import partial

import torch

from grader.authoring import (
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
    type_name,
)

helpers = import_helpers(__file__)
Graph, UNARY, SINGLE = helpers.Graph, helpers.UNARY, helpers.SINGLE

STEPS = [
    "{a} * {a}",
    "{a} * {k}",
    "{a} + {c}",
    "{c} - {a}",
    "cube({a})",
    "blend({a}, {b})",
    "blend({c}, {a})",
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


def random_graphs(draw):
    """Two graphs that between them have every one of ``STEPS``: shared results, pieces, constants,
    custom Functions, unused leaves.

    And two small ones: with a copy, in which the leaf is surely reached at two depths, and with a
    node of five inputs, one of them without a node.
    """
    steps = draw.sample(STEPS, len(STEPS))
    drawn = [random_graph(draw, steps[:7]), random_graph(draw, steps[7:])]
    text = f"{helpers.COPY}t = copy{draw.choice(UNARY)} * copy\nroot = t * x"
    copied = Graph(text, {"x": draw.tensor(4, requires_grad=True)})
    names = draw.sample("wxyz", 4)
    parts = [f"{names[0]}{draw.choice(UNARY)}", *names[1:3], "c", names[3]]
    tensors = {name: draw.tensor(4, requires_grad=name != "c") for name in "cwxyz"}
    joined = Graph(f"t = torch.cat([{', '.join(parts)}])\nroot = t{draw.choice(UNARY)}", tensors)
    return [*drawn, copied, joined]


def random_graph(draw, steps):
    """A graph that makes these steps one after the other, each from the last result and some from
    an earlier one.
    """
    tensors = {name: draw.tensor(4, requires_grad=name in "wxyz") for name in "wxyzcd"}
    last, size = draw.choice("wxyz"), 1
    light = dict.fromkeys("wxyz", 1)
    lines = []
    for number, step in enumerate(steps, 1):
        other, name = draw.choice([*light, *"wxyz"]), f"t{number}"
        made = step.format(
            a=last, b=other, c=draw.choice("cd"), k=draw.number(), u=draw.choice(UNARY)
        )
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
    return Graph("\n".join([*lines, f"root = {last}"]), tensors)


def rootless(draw):
    """Roots that have no graph: a leaf, a constant, what was computed from constants, what was
    detached.
    """
    tensors = {"x": draw.tensor(requires_grad=True), "c": draw.tensor()}
    return [Graph(f"root = {text}", tensors) for text in ("x", "c", "c * 2", "(x * 2).detach()")]


def deep_chain(draw, start, tensors):
    """A chain of 220 to 228 operations; its accumulator is one node deeper."""
    first, second = draw.sample([".sin()", ".cos()", ".tanh()"], 2)
    return Graph(
        f"root = {start}\nfor _ in range({draw.integer(110, 114)}):\n    root ="
        f" root{first}{second}",
        tensors,
    )


def assert_counts(got, want, graph):
    """The same entries as often, in whatever order; the message names the first that is too many or
    too few.
    """
    rows = helpers.entries(got, want, graph)
    plain = [
        row for row in rows if isinstance(row, tuple) and [type(part) for part in row] == [int, str]
    ]
    if len(plain) < len(rows):
        helpers.assert_rows(got, want, graph)
    counts, wanted = Counter(plain), Counter(want)
    for entry in dict.fromkeys([*want, *plain]):
        if counts[entry] != wanted[entry]:
            details = graph.details(entry=entry, count=counts[entry], wanted=wanted[entry])
            fail(
                "{entry} is listed {count} times, expected {wanted}",
                expected=want,
                actual=rows,
                **details,
            )


# ------------------------------------------------------------------- build_loss, PREDICTED_GRADIENT


@check(points=0.5, about="build_loss", needs="test_build_loss_gradient")
def test_build_loss_is_one_graph(student, reference, draw):
    """z and loss are computed from the returned y and z"""
    x = draw.tensor(low=0.3, requires_grad=True)
    want, got = reference.observe("links", x), student.observe("links", x)
    for link, gradient in want.items():
        output, _, source = link.partition(" by ")
        facts = {"output": output, "source": source, "link": link, "links": got}
        details = {
            "inputs": {"x": x},
            "facts": facts,
            "figures": [partial(helpers.loss_figure, student, x, source)],
        }
        assert_that(
            got[link] is not None, "{output} was not computed from the returned {source}", **details
        )
        assert_gradient(
            helpers.like(got[link], gradient),
            gradient,
            "the derivative of {output} with respect to {source} is wrong",
            **SINGLE,
            **details,
        )
    between = student.observe("links", x, between=True)
    assert_that(
        between["z by x"] is not None,
        "no gradient reaches x if x is an intermediate result",
        inputs={"x": x},
    )


@check(points=0.25, about="build_loss", needs="test_build_loss_gradient")
def test_build_loss_any_shape(student, reference, draw):
    """build_loss returns a tuple, with the shape and dtype of x"""
    vector = draw.tensor(3, dtype=torch.float32, requires_grad=True)
    for x in (
        vector,
        draw.noncontiguous(requires_grad=True),
        draw.tensor(0, 2, requires_grad=True),
        draw.tensor(dtype=torch.float32, requires_grad=True),
    ):
        inputs = {"x": x}
        got = helpers.three_tensors(student.build_loss(x), inputs, kind=tuple)
        want = reference.build_loss(x)
        for name, mine, wanted in zip(("y", "z", "loss"), got, want, strict=True):
            facts = {"name": name, "results": got}
            assert_tensor(mine, wanted, "{name} is wrong", **SINGLE, inputs=inputs, facts=facts)
        v = draw.tensor(*x.shape, dtype=x.dtype)
        (gradient,) = torch.autograd.grad(got[2], x, v, allow_unused=True)
        (wanted,) = torch.autograd.grad(want[2], x, v)
        assert_gradient(gradient, wanted, **SINGLE, inputs={**inputs, "v": v})


@check(points=0.25, about="PREDICTED_GRADIENT")
def test_prediction_tells_how_far_loss_moves(student, reference, draw):
    """PREDICTED_GRADIENT predicts the effect of a small step"""
    value = helpers.predicted(student)
    step = draw.integer(10, 30) / 10000
    before, after = (
        reference.build_loss(torch.tensor(x, dtype=torch.float64))[2].item()
        for x in (1.0 - step, 1.0 + step)
    )
    facts = {"below": 1.0 - step, "above": 1.0 + step, "predicted": value * 2 * step}
    facts["moved"] = after - before
    message = (
        "from x = {below} to {above}, loss changes by {moved}; your gradient predicts {predicted}"
    )
    close = abs(facts["predicted"] - facts["moved"]) < 1e-3 * 2 * step
    assert_that(close, message, actual=value, facts=facts)


# --------------------------------------------------------------------------------------------- walk


@check(points=0.25, about="walk", needs="test_walk_chain")
def test_walk_leaves_constants_out(student, reference, draw):
    """walk skips inputs that have no node"""
    tensors = {
        "x": draw.tensor(3, requires_grad=True),
        "y": draw.tensor(3, requires_grad=True),
        "c": draw.tensor(3),
    }
    unary, factor = draw.choice(UNARY), draw.number()
    for text in (
        f"(x * {factor}){unary}",
        f"c - x{unary}",
        f"(x + c){unary}",
        f"blend(c, x){unary}",
        f"x.detach() * y{unary}",
    ):
        graph = Graph(f"root = {text}", tensors)
        helpers.assert_rows(graph.ask(student, "walk"), graph.ask(reference, "walk"), graph)


@check(points=0.5, about="walk", needs="test_walk_chain")
def test_walk_lists_shared_nodes_again(student, reference, draw):
    """walk lists a node each time it is reached"""
    x, y = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    first, second = draw.sample(UNARY, 2)
    graphs = [
        Graph("root = x * x", {"x": x}),
        Graph(f"t = x{draw.choice('+-*')} y\nroot = t{first} * t{second}", {"x": x, "y": y}),
        Graph(
            "y = x ** 3\nw = x ** 2\nroot = y.log() + w.sqrt()",
            {"x": torch.tensor(5.0, requires_grad=True)},
        ),
    ]
    for graph in graphs:
        assert_counts(graph.ask(student, "walk"), graph.ask(reference, "walk"), graph)


@check(points=0.25, about="walk", needs="test_walk_two_inputs")
def test_walk_order(student, reference, draw):
    """walk finishes one branch before it starts the next"""
    a, b, c, d = draw.sample(UNARY, 4)
    tensors = {name: draw.tensor(3, requires_grad=True) for name in "xyz"}
    for text in (f"x{a}{b} * (y{c} - z{d})", f"(x{a} + y{b}){c} * z{d}"):
        graph = Graph(f"root = {text}", tensors)
        helpers.assert_rows(graph.ask(student, "walk"), graph.ask(reference, "walk"), graph)


@check(points=0.25, about="walk", needs="test_walk_chain")
def test_walk_without_a_graph(student, draw):
    """walk returns [] for a tensor without a graph"""
    for graph in rootless(draw):
        got = graph.ask(student, "walk")
        assert_that(
            type(got) is list and not got,
            "a tensor without a graph should give []",
            expected=[],
            actual=got,
            **graph.details(),
        )


@check(points=0.25, about="walk", needs="test_walk_chain")
def test_walk_types(student, reference, draw):
    """walk returns a list of (int, str) tuples"""
    unary = draw.choice(UNARY)
    graph = Graph(
        f"root = x{unary} + y{unary}", {name: draw.tensor(2, requires_grad=True) for name in "xy"}
    )
    assert_pairs(graph.ask(student, "walk"), graph.ask(reference, "walk"), graph)


@check(points=0.25, about="walk", needs="test_walk_chain")
def test_walk_deep(student, reference, draw):
    """walk reaches the end of a graph 230 levels deep"""
    graph = deep_chain(draw, "x", {"x": draw.tensor(2, requires_grad=True)})
    helpers.assert_rows(graph.ask(student, "walk"), graph.ask(reference, "walk"), graph)


@check(points=0.25, about="walk", needs="test_walk_two_inputs")
def test_walk_any_graph(student, reference, draw):
    """walk is right on random graphs"""
    for graph in random_graphs(draw):
        helpers.assert_rows(graph.ask(student, "walk"), graph.ask(reference, "walk"), graph)
    helpers.assert_again(student, reference, "walk", draw)


def assert_pairs(got, want, graph):
    """A list, and in it tuples."""
    kind = type_name(got)
    assert_that(
        isinstance(got, list),
        "returned a value of type {type}, expected a list",
        expected=want,
        actual=got,
        **graph.details(type=kind),
    )
    odd = next((entry for entry in got if not isinstance(entry, tuple)), ())
    message = "{entry} is of type {type}, expected a tuple"
    assert_that(
        isinstance(odd, tuple),
        message,
        expected=want,
        actual=got,
        **graph.details(type=type_name(odd), entry=odd),
    )
    helpers.assert_rows(got, want, graph)


# ------------------------------------------------------------------------------------- format_graph


@check(points=0.25, about="format_graph", needs="test_format_chain")
def test_format_two_inputs(student, reference):
    """format_graph is right for w = (x * y).sum()"""
    x, y = (
        torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        torch.tensor([4.0, 5.0, 6.0], requires_grad=True),
    )
    graph = Graph("z = x * y\nroot = z.sum()", {"x": x, "y": y})
    helpers.assert_text(
        graph.ask(student, "format_graph"), graph.ask(reference, "format_graph"), graph
    )


@check(points=0.25, about="format_graph", needs="test_format_chain")
def test_format_without_a_graph(student, draw):
    """format_graph returns "" for a tensor without a graph"""
    for graph in rootless(draw):
        got = graph.ask(student, "format_graph")
        message = "a tensor without a graph should give an empty str"
        assert_that(
            isinstance(got, str) and not got, message, expected="", actual=got, **graph.details()
        )


@check(points=0.25, about="format_graph", needs="test_format_chain")
def test_format_ends_and_prints(student, reference, draw):
    """format_graph adds no last newline and prints nothing"""
    text = f"root = x{draw.choice(UNARY)} * x"
    graph = Graph(text, {"x": draw.tensor(3, requires_grad=True)})
    want = graph.ask(reference, "format_graph")
    helpers.assert_text(graph.ask(student, "format_graph"), want, graph, end=True)
    for one in (graph, *rootless(draw)):
        helpers.assert_silent(one.printed(student), one)


@check(points=0.25, about="format_graph", needs="test_format_chain")
def test_format_deep(student, reference, draw):
    """format_graph reaches the end of a graph 230 levels deep"""
    graph = deep_chain(draw, "x", {"x": draw.tensor(2, requires_grad=True)})
    helpers.assert_text(
        graph.ask(student, "format_graph"), graph.ask(reference, "format_graph"), graph
    )


@check(points=0.25, about="format_graph", needs="test_format_two_inputs")
def test_format_any_graph(student, reference, draw):
    """format_graph is right on random graphs"""
    for graph in random_graphs(draw):
        helpers.assert_text(
            graph.ask(student, "format_graph"), graph.ask(reference, "format_graph"), graph
        )
    helpers.assert_again(student, reference, "format_graph", draw)


# ------------------------------------------------------------------------------------- leaf_tensors


@check(points=0.25, about="leaf_tensors", needs="test_leaves_of_a_graph")
def test_leaves_order(student, reference, draw):
    """leaf_tensors lists leaves in the order of the walk"""
    names = draw.sample("stuvwxyz", 7)
    sides = draw.sample([True, True, True, False, False, False], 6)
    text = f"root = {names[0]}{draw.choice(UNARY)}"
    for name, left in zip(names[1:], sides, strict=True):
        operation = draw.choice("+-*")
        text += f"\nroot = {name} {operation} root" if left else f"\nroot = root {operation} {name}"
    first = [name for name, left in zip(names[1:], sides, strict=True) if left][-1]
    # the leaf that is met first is met again at the end
    text += f"\nroot = root {draw.choice('+-*')} {first}"
    graph = Graph(
        text, {name: draw.tensor(requires_grad=True, digits=None) for name in sorted(names)}
    )
    want, got = graph.ask(reference, "leaf_tensors"), graph.ask(student, "leaf_tensors")
    helpers.assert_leaves(got, want, graph)
    found, expected = (
        [list(graph.tensors)[place] for place in seen["places"]] for seen in (got, want)
    )
    assert_that(
        found == expected,
        "the leaves are right, but not their order",
        expected=expected,
        actual=found,
        **graph.details(),
    )
    kind = got["kind"]
    assert_that(
        kind == "list",
        "returned a value of type {type}, expected a list",
        expected=expected,
        actual=found,
        **graph.details(type=kind),
    )


@check(points=0.25, about="leaf_tensors", needs="test_leaves_of_a_graph")
def test_leaves_of_equal_value(student, reference, draw):
    """leaf_tensors lists leaves of equal value separately"""
    value = draw.number()
    tensors = {name: torch.tensor(value, dtype=torch.float64, requires_grad=True) for name in "xyz"}
    tensors["y"] = tensors["x"].detach().requires_grad_()
    graph = Graph(f"t = x{draw.choice(UNARY)} * y\nroot = t + z", tensors)
    helpers.assert_leaves(
        graph.ask(student, "leaf_tensors"), graph.ask(reference, "leaf_tensors"), graph
    )


@check(points=0.25, about="leaf_tensors", needs="test_leaves_of_a_graph")
def test_leaves_root_is_a_leaf(student, reference, draw):
    """leaf_tensors returns [root] for a leaf that requires grad"""
    graph = Graph(
        "root = x",
        {"x": draw.tensor(2, requires_grad=True), "y": draw.tensor(2, requires_grad=True)},
    )
    helpers.assert_leaves(
        graph.ask(student, "leaf_tensors"), graph.ask(reference, "leaf_tensors"), graph
    )


@check(points=0.25, about="leaf_tensors", needs="test_leaves_of_a_graph")
def test_leaves_without_a_graph(student, draw):
    """leaf_tensors returns [] if root does not require grad"""
    for graph in rootless(draw)[1:]:
        got = graph.ask(student, "leaf_tensors")
        details = {
            "expected": [],
            "actual": got["items"],
            **graph.details(type=got["kind"], places=got["places"]),
        }
        assert_that(
            got["kind"] == "list", "returned a value of type {type}, expected a list", **details
        )
        assert_that(
            not got["items"], "root does not require grad, so the list should be empty", **details
        )


@check(points=0.25, about="leaf_tensors", needs="test_leaves_of_a_graph")
def test_leaves_deep(student, reference, draw):
    """leaf_tensors reaches the end of a graph 230 levels deep"""
    graph = deep_chain(
        draw, "x * y", {name: draw.tensor(requires_grad=True, digits=None) for name in "xyz"}
    )
    helpers.assert_leaves(
        graph.ask(student, "leaf_tensors"), graph.ask(reference, "leaf_tensors"), graph
    )


@check(points=0.25, about="leaf_tensors", needs="test_leaves_of_a_graph")
def test_leaves_of_any_graph(student, reference, draw):
    """leaf_tensors is right on random graphs"""
    for graph in random_graphs(draw):
        helpers.assert_leaves(
            graph.ask(student, "leaf_tensors"), graph.ask(reference, "leaf_tensors"), graph
        )
    helpers.assert_again(student, reference, "leaf_tensors", draw)


# ---------------------------------------------------------------------------------------- inputs_of


@check(points=0.25, about="inputs_of", needs="test_inputs_of_a_sum")
def test_inputs_of_constants(student, reference, draw):
    """inputs_of gives (None, 0) for an input without a node"""
    tensors = {
        "x": draw.tensor(3, requires_grad=True),
        "y": draw.tensor(3, requires_grad=True),
        "c": draw.tensor(3),
    }
    unary, factor = draw.choice(UNARY), draw.number()
    for text in (
        f"x{unary} * {factor}",
        f"c - x{unary}",
        f"blend(c, x{unary})",
        f"x.detach() + y{unary}",
    ):
        graph = Graph(f"root = {text}", tensors)
        helpers.assert_rows(
            graph.ask(student, "inputs_of"), graph.ask(reference, "inputs_of"), graph
        )


@check(points=0.25, about="inputs_of", needs="test_inputs_of_a_sum")
def test_inputs_of_types(student, reference, draw):
    """inputs_of returns a list of tuples"""
    graph = Graph(
        f"root = blend(x{draw.choice(UNARY)}, y)",
        {name: draw.tensor(2, requires_grad=True) for name in "xy"},
    )
    assert_pairs(graph.ask(student, "inputs_of"), graph.ask(reference, "inputs_of"), graph)


@check(points=0.25, about="inputs_of", needs="test_inputs_of_a_sum")
def test_inputs_of_without_a_graph(student, draw):
    """inputs_of returns [] for a tensor without a graph"""
    for graph in rootless(draw):
        got = graph.ask(student, "inputs_of")
        assert_that(
            type(got) is list and not got,
            "a tensor without a graph should give []",
            expected=[],
            actual=got,
            **graph.details(),
        )


@check(points=0.25, about="inputs_of", needs="test_inputs_of_a_sum")
def test_inputs_of_any_graph(student, reference, draw):
    """inputs_of is right on random graphs"""
    for whole in random_graphs(draw):
        lines = whole.text.split("\n")[:-1]
        for number, line in enumerate(lines, 1):
            root = line.split(" = ")[0].split(", ")[-1]
            graph = Graph("\n".join([*lines[:number], f"root = {root}"]), whole.tensors)
            helpers.assert_rows(
                graph.ask(student, "inputs_of"), graph.ask(reference, "inputs_of"), graph
            )
    helpers.assert_again(student, reference, "inputs_of", draw)
