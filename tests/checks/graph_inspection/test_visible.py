"""graph_inspection, the checks that students may read."""

import torch

from grader.authoring import (
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    import_helpers,
    prediction_figure,
)

helpers = import_helpers(__file__)
Graph, NODES, UNARY = helpers.Graph, helpers.NODES, helpers.UNARY
like, SINGLE = helpers.like, helpers.SINGLE


@check(points=0.5, about="build_loss")
def test_build_loss_values(student, draw):
    """build_loss returns the values of y, z and loss"""
    x = draw.tensor(low=0.3, requires_grad=True)
    y, z, loss = helpers.three_tensors(student.build_loss(x), {"x": x})
    plain = x.detach()
    for name, got, want in (
        ("y", y, 2 * plain),
        ("z", z, 2 * plain + 3),
        ("loss", loss, (2 * plain + 3) ** 2),
    ):
        assert_tensor(
            like(got, want),
            want,
            "{name} is wrong",
            **SINGLE,
            inputs={"x": x},
            facts={"name": name, "results": (y, z, loss)},
        )


@check(points=0.25, about="build_loss", needs=test_build_loss_values)
def test_build_loss_gradient(student, draw):
    """loss has the right gradient with respect to x"""
    x = draw.tensor(low=0.3, requires_grad=True)
    _, _, loss = helpers.three_tensors(student.build_loss(x), {"x": x})
    message, figures = (
        "loss does not require grad, so it has no graph",
        [lambda: helpers.loss_figure(student, x, "loss")],
    )
    assert_that(loss.requires_grad, message, inputs={"x": x}, actual=loss, figures=figures)
    (got,) = torch.autograd.grad(loss, x, allow_unused=True)
    assert_gradient(got, 4 * (2 * x.detach() + 3), **SINGLE, inputs={"x": x})


@check(points=0.5, about="PREDICTED_GRADIENT")
def test_prediction(student):
    """PREDICTED_GRADIENT is d loss / dx at x = 1"""
    value = helpers.predicted(student)
    why = "the gradient says how far a small step of x moves loss"
    figures = [lambda: prediction_figure([["d loss / dx, x = 1", value, "another number", why]])]
    assert_that(
        abs(value - 20.0) < 1e-3,
        "PREDICTED_GRADIENT is not the gradient that autograd computes",
        actual=value,
        figures=figures,
    )


@check(points=0.5, about="walk")
def test_walk_chain(student, draw):
    """walk follows a chain from the root to its leaf"""
    a, b, c, d = draw.sample(UNARY, 4)
    graph = Graph(f"root = x{a}{b}{c}{d}", {"x": draw.tensor(3, requires_grad=True)})
    want = [(0, NODES[d]), (1, NODES[c]), (2, NODES[b]), (3, NODES[a]), (4, "AccumulateGrad")]
    helpers.assert_rows(graph.ask(student, "walk"), want, graph)


@check(points=0.25, about="walk", needs=test_walk_chain)
def test_walk_two_inputs(student):
    """walk follows both inputs of z = x * y"""
    x, y = (
        torch.tensor([1.0, 2.0, 3.0], requires_grad=True),
        torch.tensor([4.0, 5.0, 6.0], requires_grad=True),
    )
    graph = Graph("z = x * y\nroot = z.sum()", {"x": x, "y": y})
    want = [(0, "SumBackward0"), (1, "MulBackward0"), (2, "AccumulateGrad"), (2, "AccumulateGrad")]
    helpers.assert_rows(graph.ask(student, "walk"), want, graph)


@check(points=0.25, about="format_graph")
def test_format_chain(student, draw):
    """format_graph indents each level by one space"""
    a, b, c = draw.sample(UNARY, 3)
    graph = Graph(f"root = x{a}{b}{c}", {"x": draw.tensor(3, requires_grad=True)})
    want = f"{NODES[c]}\n {NODES[b]}\n  {NODES[a]}\n   AccumulateGrad"
    helpers.assert_text(graph.ask(student, "format_graph"), want, graph)


@check(points=0.5, about="leaf_tensors")
def test_leaves_of_a_graph(student, draw):
    """leaf_tensors finds the leaves of a graph"""
    names = draw.sample("abcxyz", 4)
    leaves = {name: draw.tensor(requires_grad=True, digits=None) for name in sorted(names)}
    graph = Graph(f"t = {names[0]} * {names[1]}\nroot = t{draw.choice(UNARY)} + {names[2]}", leaves)
    want = {"places": [place for place, name in enumerate(leaves) if name in names[:3]]}
    helpers.assert_leaves(graph.ask(student, "leaf_tensors"), want, graph)


@check(points=0.25, about="inputs_of")
def test_inputs_of_a_sum(student, draw):
    """inputs_of lists the nodes of the root's inputs"""
    left, right = draw.sample(UNARY, 2)
    graph = Graph(
        f"root = x{left} {draw.choice('+-*')} y{right}",
        {name: draw.tensor(2, requires_grad=True) for name in "xy"},
    )
    helpers.assert_rows(
        graph.ask(student, "inputs_of"), [(NODES[left], 0), (NODES[right], 0)], graph
    )


@check(points=0.25, about="inputs_of", needs=test_inputs_of_a_sum)
def test_inputs_of_pieces(student, draw):
    """inputs_of gives the index of the piece that was used"""
    first, second, third = draw.sample("pqr", 3)
    edges = {name: ("SplitBackward0", place) for place, name in enumerate("pqr")}
    tensors = {"x": draw.tensor(6, requires_grad=True)}
    for left, right in ((first, second), (second, first)):
        text = f"p, q, r = x.chunk(3)\nroot = {left} {draw.choice('+-*')} {right}"
        graph = Graph(text, tensors)
        helpers.assert_rows(graph.ask(student, "inputs_of"), [edges[left], edges[right]], graph)
    graph = Graph(f"p, q, r = x.chunk(3)\nroot = {third}.sum()", tensors)
    helpers.assert_rows(graph.ask(student, "inputs_of"), [edges[third]], graph)
