"""Figures of failed checks: their contents, that they cost a passing check nothing, and how they
are shown.
"""

from __future__ import annotations

import io
import json
import math
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import msgspec
import pytest
import torch
from factories.gradebook import make_report
from graded import Grade, by_name
from rich.console import Console

from grader.classroom.public_report import withheld
from grader.core.errors import CheckFailure, StudentCodeError, WorkerLost
from grader.core.files import PACKAGE
from grader.core.i18n import Catalogue, engine_catalogue, phrase
from grader.core.limits import Limits
from grader.core.pictures import (
    Figure,
    GraphFigure,
    GraphPicture,
    JacobianFigure,
    PredictionFigure,
    read_figure,
)
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.course.source import Source
from grader.judge.checks import assert_gradcheck, assert_gradgradcheck, assert_gradient, assert_that
from grader.judge.exception_verdicts import verdict_of
from grader.judge.figures import (
    MAX_FIGURE_NODES,
    drawing,
    graph_figure,
    graphs_figure,
    jacobian_figure,
    one_call,
    prediction_figure,
    render_figures,
    short_repr,
    visits,
)
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.results import figure_json
from grader.render.figures import MOST_LINES, cards, figure_lines, panels
from grader.render.graph.heatmap import draw_heatmap
from grader.render.page import render_page
from grader.render.terminal import show_report
from grader.worker.wire.trace import trace

SCHEMA = json.loads((PACKAGE / "core" / "report.schema.json").read_text("utf-8"))
FIGURE = {"$ref": "#/$defs/figure", "$defs": SCHEMA["$defs"]}


Remote = Callable[..., RemoteStudent]


def leaf(*values: float) -> torch.Tensor:
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Doubled(torch.autograd.Function):
    """x² with a backward that is twice too large for its second element."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        x: torch.Tensor
        (x,) = ctx.saved_tensors
        return grad * 2 * x * torch.tensor([1.0, 2.0, 1.0], dtype=x.dtype)


def graph_example() -> GraphFigure:
    x, y = leaf(1.0), leaf(2.0)
    return graph_figure((x.sin() * y + x.sin()).sum(), {"x": x, "y": y}, ("entry", 4))


def comparison() -> GraphFigure:
    x = leaf(1.0)
    return graphs_figure(trace(x * x, {"x": x}), one_call("Square", {"x": x}))


def jacobian() -> JacobianFigure:
    found = jacobian_figure(Doubled.apply, {"x": leaf(0.5, 1.0, 2.0)})
    assert found is not None
    return found


def of_matrices(analytic: Any, numeric: Any) -> JacobianFigure:
    return msgspec.structs.replace(jacobian(), analytic=analytic, numeric=numeric)


def predictions() -> PredictionFigure:
    return prediction_figure([["x + 1", "survives", "does not survive", "because"]])


def plain(figure: Figure) -> Any:
    """Return a figure as a report has it."""
    return figure_json(figure, Catalogue())


EXAMPLES: dict[str, Callable[[], Figure]] = {
    "graph": graph_example,
    "comparison": comparison,
    "jacobian": jacobian,
    "prediction": predictions,
}

# ------------------------------------------------------------------------------------- what is made


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_figure_in_a_report_fits_the_schema_and_is_read_as_it_was_made(name: str) -> None:
    data = json.loads(json.dumps(plain(EXAMPLES[name]()), allow_nan=False))
    jsonschema.Draft202012Validator(FIGURE).validate(data)
    figure = read_figure(data)
    assert type(figure) is type(EXAMPLES[name]())
    assert json.loads(json.dumps(plain(figure))) == data


def test_the_place_of_an_entry_is_the_node_of_that_visit() -> None:
    """It is the fourth node of the walk; nodes that are visited again have several numbers."""
    figure = graph_example()
    assert figure.expected.by_id()[figure.first_difference or ""].type == "SinBackward0"
    x = leaf(1.0)
    y = x.exp()
    shared = GraphPicture.from_json(trace(y * y, {"x": x}))
    assert visits(shared) == {"n0": "#1", "n1": "#2, 4", "n2": "#3, 5"}


@pytest.mark.parametrize(
    ("at", "found"),
    [(("edge", 2), "n2"), (("leaf", "y"), "n2"), (("leaf", "q"), None), (("entry", 9), None)],
)
def test_the_place_of_an_edge_and_of_a_leaf(at: tuple[str, Any], found: str | None) -> None:
    x, y = leaf(1.0), leaf(2.0)
    assert graph_figure(x * y, {"x": x, "y": y}, at).first_difference == found


def test_a_large_graph_is_drawn_in_part() -> None:
    x = y = leaf(1.0)
    for _ in range(200):
        y = y.sin()
    picture = graph_figure(y, {"x": x}, ("entry", 150)).expected
    assert len(picture.nodes) == MAX_FIGURE_NODES
    assert picture.left_out == 201 - MAX_FIGURE_NODES


def test_a_comparison_marks_where_two_graphs_differ_first() -> None:
    figure = comparison()
    assert (figure.first_difference, figure.actual_difference) == ("n0", "n0")
    assert figure.expected.nodes[0].type == "SquareBackward"


def hooked(at: str, note: str = "") -> GraphFigure:
    """Return the figure of a graph with a hook at one tensor beside one with a hook at y."""
    graphs = []
    for name in (at, "y"):
        x = leaf(1.0)
        y = x.sin()
        z = y.exp()
        {"x": x, "y": y, "z": z}[name].register_hook(lambda grad: grad)
        graphs.append(trace(z, {"x": x, "y": y, "z": z}))
    return graphs_figure(*graphs, notes=({"x": note}, {"x": ".grad = 2"}))


@pytest.mark.parametrize(
    ("at", "note", "marked"),
    [("x", ".grad = 2", "n1"), ("y", ".grad = 1", "n2"), ("y", ".grad = 2", None)],
)
def test_graphs_that_are_alike_differ_in_hooks_and_then_in_notes(
    at: str, note: str, marked: str | None
) -> None:
    figure = hooked(at, note)
    assert (figure.first_difference, figure.actual_difference) == (marked, marked)


def test_what_backward_freed_makes_two_graphs_differ() -> None:
    graphs = []
    for retain in (True, False):
        x = leaf(1.0)
        y = x.sin()
        y.backward(retain_graph=retain)
        graphs.append(trace(y, {"x": x}))
    assert graphs_figure(*graphs).first_difference == "n0"


def test_a_check_may_say_where_two_graphs_differ() -> None:
    """If graphs differ in shape, a name that both have is marked in both."""
    x = leaf(1.0)
    y = x.sin()
    other = x.exp().cos() * x
    figure = graphs_figure(trace(other, {"x": x}), trace(y, {"x": x}), at="x")
    assert figure.actual is not None
    assert figure.actual.by_id()[figure.actual_difference or ""].name == "x"
    assert figure.expected.by_id()[figure.first_difference or ""].name == "x"


def test_a_graph_without_another_beside_it_is_that_of_the_question() -> None:
    x = leaf(1.0)
    figure = graphs_figure(None, trace(x.sin(), {"x": x}), notes=({}, {"x": "‖grad‖ = 2"}), at="x")
    assert (figure.actual, figure.first_difference) == (None, "n1")
    assert figure.expected.nodes[1].note == "‖grad‖ = 2"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (torch.tensor(0.123456), "0.1235"),
        (torch.arange(6.0), "[0, 1, 2, 3, …]"),
        (torch.zeros(0), "[]"),
        (2.0, "2"),
        (None, "None"),
    ],
)
def test_a_note_is_short(value: Any, text: str) -> None:
    assert short_repr(value) == text


def test_a_workers_picture_that_is_none_makes_no_figure() -> None:
    """Data from a student's process is validated before it is drawn; the verdict stays."""
    x = leaf(1.0)
    lie = {"nodes": [{"id": "<b>", "kind": "op"}], "edges": []}
    lying = lambda: graphs_figure(lie, one_call("Square", {"x": x}))  # noqa: E731
    assert render_figures([lying, predictions]) == [predictions()]


def test_a_jacobian_shows_what_backward_and_differences_say() -> None:
    figure = jacobian()
    analytic, numeric = map(torch.tensor, (figure.analytic, figure.numeric))
    assert analytic.diagonal().tolist() == pytest.approx([1.0, 4.0, 4.0])
    assert numeric.diagonal().tolist() == pytest.approx([1.0, 2.0, 4.0], abs=1e-4)
    assert figure.differing() == [(1, 1)]


def test_jacobians_that_agree_are_no_figure() -> None:
    assert jacobian_figure(torch.sin, {"x": leaf(0.5, 1.0)}) is None


def test_a_large_jacobian_is_cut_and_says_so() -> None:
    """The limit is twelve rows and twelve columns."""
    calls = []

    def wrong(x: torch.Tensor) -> torch.Tensor:
        calls.append(1)
        return x * 1.0 + x.detach()

    many = torch.ones(5000, dtype=torch.float64, requires_grad=True)
    figure = jacobian_figure(wrong, {"x": many})
    assert figure is not None
    sides = len(figure.analytic), len(figure.analytic[0])
    assert (sides, figure.cut) == ((12, 12), (4988, 4988))
    assert len(calls) == 25


def test_a_figure_leaves_the_checks_inputs_as_they_are() -> None:
    """A function that writes into its arguments writes into copies."""
    x, w = leaf(1.0, 2.0), torch.ones(2, dtype=torch.float64)

    def writes(x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        w.add_(1.0)
        return x * w

    jacobian_figure(writes, {"x": x, "w": w})
    assert w.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("assertion", [assert_gradcheck, assert_gradgradcheck])
def test_gradcheck_that_fails_brings_the_jacobians(assertion: Callable[..., None]) -> None:
    class Detached(Doubled):
        @staticmethod
        def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
            x: torch.Tensor
            (x,) = ctx.saved_tensors
            return grad * 2 * x.detach() * (1.0 if assertion is assert_gradgradcheck else 3.0)

    with pytest.raises(CheckFailure) as caught:
        assertion(Detached.apply, [leaf(0.5, 1.0, 2.0)], names=["x"])
    (figure,) = render_figures(caught.value.figures)
    assert isinstance(figure, JacobianFigure)
    assert (figure.input, len(figure.differing())) == ("x", 3)


def test_gradcheck_on_a_student_in_a_worker_brings_them_too(remote: Remote) -> None:
    student = remote(
        "import torch\n"
        "class F(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x): return x * 3\n"
        "    @staticmethod\n"
        "    def backward(ctx, g): return g * 2\n"
    )
    with pytest.raises(CheckFailure) as caught:
        assert_gradcheck(student.F.apply, [leaf(0.5, 1.0)], names=["x"])
    (figure,) = render_figures(caught.value.figures)
    assert isinstance(figure, JacobianFigure)
    mine, theirs = figure.matrices()
    assert [mine[0][0], theirs[0][0]] == pytest.approx([2.0, 3.0])


def test_a_graph_in_a_worker_crosses_as_data(remote: Remote) -> None:
    """A scenario reads it in the worker."""
    scenarios = (
        "def graph(student, x):\n"
        "    from grader.worker.wire.trace import trace\n"
        "    return trace(student.f(x), {'x': x})\n"
    )
    student = remote("def f(x): return (x * x).sum()\n", scenarios)
    picture = GraphPicture.from_json(student.observe("graph", leaf(1.0, 2.0)))
    assert [node.label for node in picture.nodes] == ["SumBackward0", "MulBackward0", "x"]


def test_a_check_that_passes_makes_no_figure() -> None:
    asked = []
    assert_that(True, "never", figures=[lambda: asked.append(1)])
    with pytest.raises(CheckFailure) as caught:
        assert_that(False, "always", figures=[lambda: asked.append(1)])
    assert asked == []
    render_figures(caught.value.figures)
    assert asked == [1]


@pytest.mark.parametrize("error", [CheckFailure("no"), StudentCodeError("RuntimeError", "no")])
def test_what_ends_a_block_that_draws_brings_its_figures(
    error: CheckFailure | StudentCodeError,
) -> None:
    """This holds for a verdict and for a student's exception; nothing is drawn before the verdict
    is written.
    """
    asked = []

    def ends() -> None:
        with drawing(lambda: asked.append(1)):
            raise error

    for _ in range(2):  # one error, raised for check after check
        with pytest.raises(type(error)):
            ends()
    assert asked == []
    verdict = verdict_of(error, Source("", "file.py"), Limits())
    assert verdict is not None
    render_figures(verdict.figures[-1:])
    assert asked == [1]


def test_a_block_that_draws_leaves_a_failures_own_figures_first() -> None:
    with pytest.raises(CheckFailure) as caught, drawing(comparison):
        assert_that(False, "no", figures=[predictions])
    prediction, graph = render_figures(caught.value.figures)
    assert isinstance(prediction, PredictionFigure)
    assert isinstance(graph, GraphFigure)


def test_predictions_are_worded_in_the_language_of_the_report() -> None:
    tr = Catalogue("ko", {"survives": "산다", "{node} keeps {saved}": "{node}: {saved}"})
    why = phrase("{node} keeps {saved}", node="N", saved="s")
    figure = figure_json(prediction_figure([["x", "survives", 2.5, why]]), tr)
    assert [[*row] for row in figure["rows"]] == [["x", "산다", "2.5", "N: s"]]
    assert tr.missing == set()


# ------------------------------------------------------------------------------------ what is shown


def shown(figure: Figure, width: int = 80) -> list[str]:
    return [line.plain for line in figure_lines(plain(figure), Catalogue(), width)]


def test_a_terminal_shows_the_graph_with_the_place_marked() -> None:
    assert shown(comparison()) == [
        "The graph, yours",
        "  MulBackward0  keeps other, self  ◀",
        "  ├─ x  float64 (1,)",
        "  └─ x  float64 (1,)",
        "expected there  SquareBackward",
    ]


def test_whole_a_terminal_shows_both_graphs() -> None:
    """``grade replay`` shows both; otherwise a terminal shows the student's, with the expected
    parts where they differ.
    """
    found = [line.plain for line in figure_lines(plain(comparison()), Catalogue(), 80, whole=True)]
    assert found[:2] == ["The graph, yours", "  MulBackward0  keeps other, self  ◀"]
    expected = found.index("The graph, expected")
    assert found[expected + 1 :][:3] == ["  SquareBackward  ◀", "  └─ x  float64 (1,)", ""]
    assert found[expected + 4].startswith("  …Backward  the grad_fn of an operation")


def lacking() -> GraphFigure:
    x, y = leaf(1.0), leaf(2.0)
    return graphs_figure(trace(x.sin(), {"x": x}), trace(x * y, {"x": x, "y": y}), at="y")


def test_what_a_students_graph_lacks_is_named() -> None:
    assert shown(lacking())[-1] == "missing in yours  y  float64 (1,)"


def test_a_constant_that_has_a_name_is_told_from_a_leaf() -> None:
    one = torch.zeros(())
    assert shown(graphs_figure(None, trace(one, {"w": one})))[-1] == (
        "  w  constant: no grad_fn, no requires_grad"
    )


def test_a_short_tree_shows_the_place_that_is_marked() -> None:
    """The marked line may be far down."""
    x = y = leaf(1.0)
    for _ in range(20):
        y = y.sin()
    lines = shown(graph_figure(y, {"x": x}, ("tensor", "x")))
    assert lines[-3:] == ["  ⋮", "             20 · x  float64 (1,)  ◀", "  … and 11 more lines"]
    assert len(lines) == 1 + MOST_LINES


def test_a_terminal_shows_the_worst_entries_and_counts_the_rest() -> None:
    identity = [[float(i == j) for j in range(9)] for i in range(9)]
    wrong = [[value * (i + 2) for value in row] for i, row in enumerate(identity)]
    lines = shown(of_matrices(wrong, identity))
    assert lines[1].split() == ["∂y[8]/∂x[8]", "10.0", "1.0"]
    assert lines[-1] == "  and 4 more that differ"


def test_a_terminal_shows_predictions_and_why() -> None:
    assert shown(predictions()) == [
        "  what   you predicted  what happens",
        "  x + 1  survives       does not survive",
        "  x + 1: because",
    ]


@pytest.mark.parametrize("name", ["graph", "comparison", "jacobian"])
def test_a_page_gets_svg_without_styles_of_its_own_and_the_same_as_text(name: str) -> None:
    """The page's policy allows only its own style sheet; people who can't see the drawing read text
    or a table.
    """
    found = panels(plain(EXAMPLES[name]()), Catalogue())
    assert len(found) == (2 if name == "comparison" else 1)
    for panel in found:
        tags = [part.tag.partition("}")[2] for part in ET.fromstring(str(panel.svg)).iter()]
        assert tags[:3] == ["svg", "title", "desc"]
        assert "style" not in tags
        assert "style=" not in panel.svg
        assert panel.text or panel.rows


def test_what_is_no_figure_is_left_out() -> None:
    half_a_graph: Any = {"kind": "graph", "expected": {}, "actual": None}
    two_shapes = plain(of_matrices([[1.0]], [[1.0, 0.0]]))
    broken: Any
    for broken in ({}, half_a_graph, two_shapes, {"kind": "another"}):
        assert figure_lines(broken, Catalogue(), 80) == []
        assert panels(broken, Catalogue()) == []
        assert cards(broken) == ()


@pytest.mark.parametrize("side", [1, 2, 6, 7, 12])
def test_a_heat_map_marks_what_differs_in_both_and_keeps_its_text_inside(side: int) -> None:
    identity = [[float(i == j) for j in range(side)] for i in range(side)]
    wrong = [[value if i else -123456.789 for value in row] for i, row in enumerate(identity)]
    svg = draw_heatmap(of_matrices(wrong, identity), engine_catalogue("ko"))
    root = ET.fromstring(svg)
    frames = [part for part in root.iter() if part.attrib.get("class") == "differs"]
    assert len(frames) == 2 * side
    width, height = float(root.attrib["width"]), float(root.attrib["height"])
    for part in root.iter():
        if "x" in part.attrib:
            assert 0 <= float(part.attrib["x"]) <= width
            assert 0 <= float(part.attrib["y"]) <= height


def test_entries_that_are_no_numbers_differ_from_those_that_are() -> None:
    pair = read_figure(plain(of_matrices([["nan", 1.0, "inf"]], [[1.0, 1.0, "inf"]])))
    assert isinstance(pair, JacobianFigure)
    assert pair.differing() == [(0, 0)]
    assert math.isnan(pair.matrices()[0][0][0])
    draw_heatmap(pair)


# --------------------------------------------------------------------------------------- in reports


@pytest.fixture
def drawn_report() -> Report:
    """Return a report with a failed check that has a figure of each kind."""
    figures = [plain(make()) for make in EXAMPLES.values()]
    wrong = CheckResult(
        "tiny.gradient", "it is right", "f", Outcome.FAILED, 0, 2, message="no", figures=figures
    )
    lesson = LessonResult("tiny", "Tiny", LessonStatus.FAILED, 0.0, 10.0, checks=(wrong,))
    return make_report("someone", [lesson])


def test_reports_show_figures(drawn_report: Report) -> None:
    """The page shows drawings and cards; on a terminal of 80 columns nothing is wider."""
    page = render_page(drawn_report)
    assert page.count('<svg xmlns="http://www.w3.org/2000/svg" class="graph"') == 4
    assert page.count('<ul class="cards">') == 1
    assert 'style="' not in page
    text = io.StringIO()
    show_report(Console(file=text, width=80), drawn_report, html=None)
    assert "The graph that this question is about" in text.getvalue()
    assert "∂y[1]/∂x[1]" in text.getvalue()
    assert all(len(line) <= 80 for line in text.getvalue().splitlines())


def test_figures_of_hidden_checks_are_withheld(drawn_report: Report) -> None:
    """A figure shows a check's inputs, so a class's pages have figures only of visible checks."""
    (lesson,) = drawn_report.lessons
    hidden = replace(lesson.checks[0], id="tiny.other", hidden=True)
    both = replace(drawn_report, lessons=(replace(lesson, checks=(*lesson.checks, hidden)),))
    assert [len(one.figures) for one in withheld(both).lessons[0].checks] == [4, 0]


def test_hostile_figures_are_text(drawn_report: Report) -> None:
    """Markup in a name is shown as text."""
    graph = plain(comparison())
    graph["actual"]["nodes"][0]["type"] = "</svg><script>alert(1)</script>"
    rows = plain(prediction_figure([["<script>", "\x1b[2J", "<b>", "</ul>"]]))
    (lesson,) = drawn_report.lessons
    one = replace(lesson.checks[0], figures=[graph, rows])
    page = render_page(replace(drawn_report, lessons=(replace(lesson, checks=(one,)),)))
    assert page.count("<script>") == 1, "ours"
    assert "\x1b" not in page


def test_every_word_of_a_figure_is_there_in_korean(drawn_report: Report) -> None:
    tr = engine_catalogue("ko")
    alone = msgspec.structs.replace(comparison(), actual=None)
    for figure in (*(make() for make in EXAMPLES.values()), alone, lacking()):
        figure_lines(plain(figure), tr, 80)
        panels(plain(figure), tr)
    render_page(drawn_report, tr)
    assert tr.missing == set()


def test_a_result_without_figures_is_read(drawn_report: Report) -> None:
    """Older reports have none."""
    data = drawn_report.as_json()["lessons"][0]["checks"][0]
    assert CheckResult.from_json(data).figures == data["figures"]
    del data["figures"]
    assert CheckResult.from_json(data).figures == []


# --------------------------------------------------------------------------------- the course's own

DRAWN = {
    "hooks": [
        "never_registers | double_what_flows_through_y | y = SinBackward0",
        "hook_left_behind | a_later_backward_is_not_scaled | y = SubBackward0",
        "measures_output | values_are_the_norms_of_grad_output | None | body = AddmmBackward0",
    ],
    "tiny_autograd": ["counts_again | a_value_used_twice | a"],
    "retain_graph": ["retains_every_pass | backward_twice_frees_the_graph | MulBackward0"],
    "no_grad_and_detach": [
        "not_cut_in_two | second_begins_at_a_leaf | w = MulBackward0 | w",
        "target_not_cut | no_gradient_flows_into_target | target = AddBackward0 | None",
    ],
    "graph_inspection": ["computed_afresh | build_loss_is_one_graph | None | z = AddBackward0"],
    "tensor_state": [
        "never_retained | leaf_and_intermediate_in_the_order_asked_for | None | y = ExpBackward0"
    ],
    "second_derivative": [
        (
            "create_graph_missing | second_derivative_of_a_drawn_function | "
            "f'(x) | f'(x) = AddBackward0"
        ),
        "create_graph_once | first_three_derivatives | f''(x) | f''(x) = AddBackward0",
        "past_cut_off | second_derivative_of_a_drawn_function | f'(x) | f'(x) = AddBackward0",
        "penalty_cut_off 2 | penalty_trains_the_parameters | penalty | penalty = MeanBackward0",
        (
            "graph_that_misses_x 2 | hessian_of_a_linear_function_with_weights_to_learn | "
            "None | ∇f(x) = MulBackward0"
        ),
    ],
    "chain_rule": [
        "one_path_only | both_paths_add_up | None | x",
        "exponent_like_a_base | base_and_exponent_get_their_gradients | None | q",
        "graph_is_cut 2 | prices_pieces_and_tax | tangerine_price | tangerine_price = MulBackward0",
        "stops_one_step_early 3 | three_gradients_in_their_order | None | loss = PowBackward0",
        "retain_grad_missing 3 | the_nine_numbers_of_s | result = MulBackward0",
    ],
    "vector_backward": [
        "first_gradient_frees_the_graph | the_value_and_two_gradients | z = DotBackward0",
        "only_a_leaf_keeps_grad | the_value_and_two_gradients | None | y = MulBackward0",
        "frees_the_graph | the_graph_can_still_be_used | MulBackward0",
        "rows_free_the_graph | the_jacobian_of_a_drawn_map | MulBackward0",
        "path_to_x_taken_for_granted | the_jacobian_of_a_constant | None | f(x)",
    ],
}
"""By lesson: a mistake, a check that it fails, and the marked nodes: in the student's graph, and in
the one beside it if that is another.
"""
CASES = [
    pytest.param(name, row, marks=pytest.mark.proof if number else ())
    for name, rows in DRAWN.items()
    for number, row in enumerate(rows)
]
"""The first of each lesson is for ``make test``: whether a picture is drawn depends on the lesson's
own scenario.
"""


@pytest.mark.parametrize(("name", "row"), CASES)
def test_a_mistake_about_a_graph_is_drawn_with_its_place_marked(
    name: str, row: str, grade_mistake: Grade
) -> None:
    mistake, check, *labels = row.split(" | ")
    figure = by_name(grade_mistake(name, mistake))[check].figures[0]
    marked = []
    for key, mark in (("actual", "actual_difference"), ("expected", "first_difference")):
        nodes = GraphPicture.from_json(figure[key]).by_id() if figure[key] else {}
        marked.append(nodes[figure[mark]].label if figure[mark] else "None")
    assert marked == [labels[0], labels[-1]]


def test_an_author_learns_that_a_figure_is_broken_and_others_are_made() -> None:
    def broken() -> Figure:
        raise ZeroDivisionError("the author divides")

    problems: list[str] = []
    assert render_figures([broken, predictions], problems) == [predictions()]
    (problem,) = problems
    assert "ZeroDivisionError: the author divides" in problem


@pytest.mark.parametrize(
    "error", [StudentCodeError("ValueError", "theirs"), WorkerLost("crashed", "gone")]
)
def test_a_figure_that_the_students_code_breaks_is_left_out(error: Exception) -> None:
    def breaks() -> Figure:
        raise error

    problems: list[str] = []
    assert render_figures([breaks], problems) == []
    assert problems == []


def test_a_missing_gradient_may_come_with_a_tolerance() -> None:
    with pytest.raises(CheckFailure, match="None came back"):
        assert_gradient(None, torch.ones(1), rtol=1e-3, atol=1e-3)
