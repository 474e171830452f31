"""Plots of failed checks: the requested points, the drawing,
and that no verdict depends on them.
"""

from __future__ import annotations

import contextlib
import json
import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
import torch
from graded import Grade, by_name
from rich.cells import cell_len

from grader.core.errors import WorkerLost
from grader.core.files import PACKAGE
from grader.core.i18n import Catalogue, engine_catalogue, phrase
from grader.core.pictures import PlotFigure, read_figure
from grader.core.report import Outcome
from grader.course.course import Course
from grader.judge import figures
from grader.judge.figures import ask_all, chart_figure, curve, panel, plot_figure
from grader.judge.remote.plans import MOST_AHEAD
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.results import figure_json
from grader.render.figures import figure_lines, panels
from grader.render.graph.plot import Scale, scales

SCHEMA = json.loads((PACKAGE / "core" / "report.schema.json").read_text("utf-8"))
FIGURE = {"$ref": "#/$defs/figure", "$defs": SCHEMA["$defs"]}
IGNORES = """
import torch
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, grad):
        return 2 * ctx.saved_tensors[0]
"""
"""A square whose backward ignores grad_output."""


Remote = Callable[..., RemoteStudent]


def square(x: torch.Tensor) -> torch.Tensor:
    return x * x


def plain(figure: Any) -> dict[str, Any]:
    """Return a figure as a report has it."""
    assert figure is not None
    data = figure_json(figure, Catalogue())
    found: dict[str, Any] = json.loads(json.dumps(data, allow_nan=False))
    jsonschema.Draft202012Validator(FIGURE).validate(found)
    return found


def values_of(data: dict[str, Any], which: int, role: str) -> dict[float, float]:
    series = next(one for one in data["panels"][which]["series"] if one["role"] == role)
    return dict(zip(series["x"], series["y"], strict=True))


def of_student(student: RemoteStudent, **more: Any) -> dict[str, Any]:
    x = torch.tensor([0.5, -1.0, 2.0], dtype=torch.float64)
    v = torch.tensor([1.0, 1.0, 3.0], dtype=torch.float64)
    function = more.pop("function", None) or student.F.apply
    return plain(plot_figure(function, square, x, over=(-3, 3), **{"incoming": v, **more}))


# ------------------------------------------------------------------------------------ what is asked


def test_a_plot_moves_the_element_that_is_most_wrong(remote: Remote) -> None:
    """It shows the student's value and gradient over the true ones, with the failing point marked
    and the check's own grad_output.
    """
    data = of_student(remote(IGNORES))
    assert data["caption"] == "F.apply and its gradient, over x[2]"
    assert [one["caption"] for one in data["panels"]] == ["value", "gradient, for grad_output = 3"]
    assert data["panels"][1]["marks"] == [{"x": 2.0, "y": 4.0, "role": "yours"}]
    mine, right = (values_of(data, 1, role) for role in ("yours", "truth"))
    assert (min(mine), max(mine), len(mine)) == (-3.0, 3.0, figures.POINTS + 1)
    assert mine[-1.5] == pytest.approx(-3.0)
    assert right[-1.5] == pytest.approx(-9.0)
    assert values_of(data, 0, "yours")[-1.5] == pytest.approx(2.25)
    assert data["notes"] == []


def test_all_points_are_asked_ahead(remote: Remote, monkeypatch: pytest.MonkeyPatch) -> None:
    student = remote(IGNORES)
    session: Any = student._session
    transmit, receive, waiting = session._transmit, session._receive, [0]

    def transmitting(questions: Any) -> Any:
        sent = list(questions)
        waiting.append(waiting[-1] + len(sent))
        return transmit(sent)

    def receiving(number: int) -> Any:
        waiting.append(waiting[-1] - 1)
        return receive(number)

    monkeypatch.setattr(session, "_transmit", transmitting)
    monkeypatch.setattr(session, "_receive", receiving)
    of_student(student)
    assert max(waiting) == MOST_AHEAD + 1  # and the one that is asked


def test_points_that_the_function_cannot_give_are_left_out_and_said(remote: Remote) -> None:
    student = remote(
        "def f(x):\n"
        "    if x.max() > 2.5: raise ValueError('no')\n"
        "    if x.min() < -2.5: return x * float('nan')\n"
        "    if x.min() < -2.2: return x[:1]\n"
        "    return x * x\n"
    )
    data = of_student(student, function=student.f)
    mine = values_of(data, 0, "yours")
    assert [mine[2.7], mine[1.5]] == [None, pytest.approx(2.25)]
    assert "4 of 42 values are left out: it raised ValueError" in data["notes"]
    assert "4 of 42 values are left out: NaN or infinity" in data["notes"]


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("x.detach() ** 2", "the result is a constant: it has no grad_fn"),
        ("x.detach() ** 2 + torch.zeros(3, requires_grad=True)", "no gradient came back"),
    ],
)
def test_a_constant_is_told_from_a_result_without_path_to_x(
    remote: Remote, body: str, why: str
) -> None:
    student = remote(f"import torch\ndef f(x): return {body}\n")
    data = of_student(student, function=student.f)
    assert len(data["panels"]) == 1
    assert any(why in note for note in data["notes"])


def test_no_plot_without_a_point(remote: Remote) -> None:
    student = remote("def f(x): raise ValueError('no')\n")
    x = torch.ones(2, dtype=torch.float64)
    assert plot_figure(student.f, square, x, over=(-1, 1)) is None
    assert plot_figure(student.f, square, torch.ones(0), over=(-1, 1)) is None


def test_a_slow_function_gets_fewer_points_or_no_plot(
    remote: Remote, monkeypatch: pytest.MonkeyPatch
) -> None:
    student = remote("def f(x): return x * x\n")
    x = torch.ones(2, dtype=torch.float64)
    for count, points in ((12, 12), (figures.FEWEST - 1, None)):
        monkeypatch.setattr(figures, "affordable", lambda *_, count=count: count)
        figure = plot_figure(student.f, square, x, over=(-1, 1), gradient=False)
        if points is None:
            assert figure is None
        else:
            assert len(values_of(plain(figure), 0, "yours")) == points


@pytest.mark.parametrize(
    ("clock", "points"),
    [([0.0, 0.001], 400), ([0.0, 0.5, 1.0, 1.1, 2.0, 2.2], 19), ([0.0, 1.0], 1), ([0.0, 9.0], 0)],
)
def test_how_many_points_there_is_time_for(
    clock: list[float], points: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = iter(clock)
    monkeypatch.setattr("grader.judge.figures.time.monotonic", lambda: next(now))
    assert figures.affordable(lambda x: x, (1,)) == points


def test_several_calls_are_answered_and_what_raises_is_none(remote: Remote) -> None:
    student = remote("def f(x, h): return x / h\n")
    x = torch.ones((), dtype=torch.float64)
    assert ask_all(student.f, [(x, 2.0), (x, "no"), (x, 4.0)]) == [0.5, None, 0.25]


def test_an_endless_point_costs_the_plot_and_no_time_of_the_lesson(remote: Remote) -> None:
    """All points together may take as long as one call; the lesson's clock stands still, though
    for all plots of a lesson not longer than one call may take.
    """
    student = remote(
        "def f(x):\n    while x.max() > 2.5: pass\n    return x * x\n", call_seconds=0.5
    )
    session: Any = student._session
    student.f(torch.ones(1))
    before = session.clock._lesson_end
    with session.off_the_clock(), pytest.raises(WorkerLost):
        of_student(student, function=student.f)
    assert session.clock._lesson_end - before >= 0.49
    assert session._off_the_clock == 0.0
    before = session.clock._lesson_end
    with session.off_the_clock():
        time.sleep(0.01)
    assert session.clock._lesson_end == before
    assert student.f(torch.ones(1)).tolist() == [1.0]


def test_inputs_of_the_check_stay(remote: Remote) -> None:
    student = remote("def f(x): return x.add_(1) * x\n")
    x = torch.ones(2, dtype=torch.float64)
    with contextlib.suppress(Exception):
        plot_figure(student.f, square, x, over=(-1, 1))
    assert x.tolist() == [1.0, 1.0]
    assert not x.requires_grad


# ------------------------------------------------------------------------------------ what is shown


def on_logarithmic_scales() -> dict[str, Any]:
    steps = [10.0**-k for k in range(13)]
    right = curve("truth", steps, [h * h for h in steps])
    mine = curve("yours", steps, [0.0, *steps[1:]], form="dots")
    return plain(chart_figure("error", panel("", right, mine, x="h", log=True)))


def bars() -> dict[str, Any]:
    curves = [
        curve("given", None, [1.0, -2.0], "before", form="bars"),
        curve("yours", None, [0.5, -1.0], form="bars"),
        curve("truth", [-0.4, 1.4], [1.0, 1.0], "limit"),
    ]
    note = "a long note: " + "word " * 30
    return plain(chart_figure("clipped", panel("", *curves, names=["[0]", "[1]"]), notes=[note]))


def wild() -> dict[str, Any]:
    xs = [k / 10 for k in range(-20, 21)]
    curves = [
        curve("truth", xs, [x * x for x in xs]),
        curve("yours", xs, [1e6 * x for x in xs], form="dots"),
    ]
    caption = "f and its gradient, over x[0]"
    return plain(chart_figure(caption, panel("value", *curves, mark=(2.0, 2e6))))


def constant() -> dict[str, Any]:
    right, none = curve("truth", [0, 1], [1, 1]), curve("yours", [0, 1], [None, None], form="dots")
    return plain(chart_figure("one", panel("", right, none, mark=(0.5, None))))


EXAMPLES = {"log": on_logarithmic_scales, "bars": bars, "wild": wild, "constant": constant}


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("lang", ["en", "ko"])
def test_a_page_shows_a_plot_with_nothing_outside_and_no_style_of_its_own(
    name: str, lang: str
) -> None:
    for shown in panels(EXAMPLES[name](), engine_catalogue(lang)):
        root = ET.fromstring(shown.svg)
        tags = [part.tag.partition("}")[2] for part in root.iter()]
        assert tags[:3] == ["svg", "title", "desc"]
        assert "style" not in tags
        assert "style=" not in shown.svg
        width, height = float(root.attrib["width"]), float(root.attrib["height"])
        for part in root.iter():
            for x, y in (("x", "y"), ("cx", "cy")):
                if x in part.attrib:
                    assert 0 <= float(part.attrib[x]) <= width
                    assert 0 <= float(part.attrib[y]) <= height
        assert shown.text


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("width", [40, 76])
def test_a_terminal_shows_a_plot_within_its_width(name: str, width: int) -> None:
    lines = figure_lines(EXAMPLES[name](), Catalogue(), width, whole=True)
    assert len(lines) > 3
    assert max(cell_len(line.plain) for line in lines[:-1]) <= width


def test_yours_and_the_true_curve_differ_without_color() -> None:
    text = "\n".join(line.plain for line in figure_lines(wild(), Catalogue(), 76, whole=True))
    assert "×" in text
    assert any(0x2800 < ord(character) < 0x2900 for character in text)
    assert "◉" in text
    assert "points lie above or below the drawing" in text


def rising() -> dict[str, Any]:
    return plain(chart_figure("one", panel("", curve("truth", [0, 1], [2, 3]))))


def test_the_true_curve_alone_has_its_table() -> None:
    (shown,) = panels(rising(), Catalogue())
    rows = [line.split() for line in shown.text.splitlines()]
    assert rows[1:] == [["0.0", "2.0"], ["1.0", "3.0"]]


def test_a_curve_that_rises_begins_at_the_bottom() -> None:
    lines = [line.plain for line in figure_lines(rising(), Catalogue(), 76, whole=True)]
    dots = [re.search("[\u2801-\u28ff]", line) for line in lines if "│" in line or "┤" in line]
    places = [found.start() for found in dots if found]
    assert len(places) == len(dots)
    assert places == sorted(places, reverse=True)


def test_one_point_that_lies_outside_is_one() -> None:
    curves = [
        curve("truth", [0, 1, 2], [0, 1, 2]),
        curve("yours", [0, 1, 2], [0, 1, 1e6], form="dots"),
    ]
    figure = plain(chart_figure("one", panel("value", *curves)))
    text = "\n".join(line.plain for line in figure_lines(figure, Catalogue(), 76, whole=True))
    assert "1 point lies above or below the drawing" in text


def test_two_drawings_fit_a_screen() -> None:
    """A screen has 24 lines; ``grade watch`` takes four and a check's title one."""
    one = wild()
    both = {**one, "panels": [*one["panels"], *one["panels"]]}
    lines = figure_lines(both, Catalogue(), 76, whole=True)
    assert len([line for line in lines if "lie above" not in line.plain]) <= 19


def test_only_a_check_that_is_shown_whole_draws_its_plot() -> None:
    assert figure_lines(wild(), Catalogue(), 76) == []


def test_bars_tell_their_numbers() -> None:
    lines = [line.plain for line in figure_lines(bars(), Catalogue(), 76, whole=True)]
    assert lines[1].split()[:2] == ["[0]", "before"]
    assert [line.split()[-1] for line in lines[1:6]] == ["1.0", "0.5", "-2.0", "-1.0", "1.0"]


def test_extreme_student_values_do_not_flatten_the_true_curve() -> None:
    figure = read_figure(wild())
    assert isinstance(figure, PlotFigure)
    _, up = scales(figure.panels[0])
    assert up.high < 240


def test_what_has_no_logarithm_is_left_out() -> None:
    data = on_logarithmic_scales()
    assert data["panels"][0]["series"][1]["y"][0] is None


@pytest.mark.parametrize(
    ("scale", "ticks"),
    [
        (Scale(0.0, 1.0), [0.0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (Scale(-6.0, 6.0), [-6.0, -4.0, -2.0, 0.0, 2.0, 4.0, 6.0]),
        (Scale(1e-12, 0.1, log=True), [1e-12, 1e-10, 1e-8, 1e-6, 1e-4, 0.01]),
    ],
)
def test_ticks_are_round_numbers(scale: Scale, ticks: list[float]) -> None:
    assert scale.ticks() == pytest.approx(ticks)


def test_what_is_not_a_plot_is_left_out() -> None:
    good = wild()
    one = good["panels"][0]
    bad_series = {**one["series"][0], "y": [1.0]}
    for broken in (
        {**good, "panels": []},
        {**good, "panels": [{**one, "series": []}]},
        {**good, "panels": [{**one, "series": [bad_series]}]},
        {**good, "panels": [{**one, "series": [{**one["series"][0], "form": "pie"}]}]},
        {**good, "panels": [{**one, "marks": [{"x": "1", "y": None, "role": "yours"}]}]},
        {**good, "panels": [{**one, "x": {"label": "x", "log": True}}]},
        {**good, "caption": None},
    ):
        assert panels(broken, Catalogue()) == []
        assert figure_lines(broken, Catalogue(), 76, whole=True) == []


def test_a_plot_is_worded_in_the_language_of_the_report() -> None:
    tr = Catalogue("ko", {"value": "값", "row {k}": "행 {k}"})
    names = [phrase("row {k}", k=0)]
    one = panel(phrase("value"), curve("truth", None, [1.0], form="bars"), names=names)
    (shown,) = figure_json(chart_figure("f", one), tr)["panels"]
    assert (shown["caption"], [*shown["names"]]) == ("값", ["행 0"])


# ------------------------------------------------------------------------------- in every lesson


PLOTTED = {
    ("custom_sigmoid", "ignores_grad_output", "gradient_uses_the_incoming_gradient"): 2,
    ("relu_and_ste", "derivative_of_the_step", "ste_hands_the_gradient_on"): 2,
    ("custom_functions", "wrong_power_rule", "pow_has_both_gradients"): 2,
    ("gradcheck", "logarithm_not_mended", "both_gradients_of_the_power"): 2,
    ("gradcheck", "divided_by_another_step", "row_by_output_column_by_input"): 1,
    ("finite_difference", "wrong_formula", "forward_difference_of_a_drawn_function"): 2,
    ("second_derivative", "another_norm", "penalty_of_a_drawn_critic"): 2,
    ("second_derivative", "one_derivative_short", "second_derivative_of_a_drawn_function"): 1,
    ("hooks", "clip_by_value", "long_gradient_is_capped"): 1,
}
"""A mistake, a check that it fails, and the number of drawings in the plot."""


@pytest.mark.parametrize("case", PLOTTED, ids=".".join)
def test_a_mistake_about_numbers_comes_with_a_plot(
    case: tuple[str, str, str], grade_mistake: Grade
) -> None:
    name, mistake, check = case
    result = by_name(grade_mistake(name, mistake))[check]
    (figure,) = [one for one in result.figures if one["kind"] == "plot"]
    jsonschema.Draft202012Validator(FIGURE).validate(figure)
    drawn = read_figure(figure)
    assert isinstance(drawn, PlotFigure)
    assert len(drawn.panels) == PLOTTED[case]
    roles = {series.role for one in drawn.panels for series in one.series}
    assert {"yours", "truth"} <= roles
    assert result.note is None


def test_no_figure_of_the_catalogue_is_broken(grade_mistake: Grade) -> None:
    """A plot that fails leaves a note for the author and does not change the verdict."""
    result = grade_mistake("finite_difference", "zero_dims")
    failed = [one for one in result.checks if one.outcome in (Outcome.FAILED, Outcome.ERROR)]
    assert failed
    assert [one.note for one in failed if one.note] == []


def test_a_plot_that_fails_changes_no_verdict(grade_fragment: Grade, course: Course) -> None:
    """Its worker hangs; the verdict and those of later checks stay."""
    wrong = (
        "import torch\n"
        "class Sigmoid(torch.autograd.Function):\n"
        "    @staticmethod\n"
        "    def forward(ctx, x):\n"
        "        while x.numel() == 4 and x.max() == 6.0: pass\n"
        "        y = 1 / (1 + torch.exp(-x))\n"
        "        ctx.save_for_backward(y)\n"
        "        return y\n"
        "    @staticmethod\n"
        "    def backward(ctx, grad_output):\n"
        "        (y,) = ctx.saved_tensors\n"
        "        return y * (1 - y)\n"
    )
    limits = replace(course.limits, call_seconds=1.0)
    found = by_name(grade_fragment("custom_sigmoid", wrong, seed=5, limits=limits))
    gradient = found["gradient_uses_the_incoming_gradient"]
    assert (gradient.outcome, gradient.diagnosis) == (Outcome.FAILED, "ignores_grad_output")
    assert gradient.figures == []
    assert found["sigmoid_returns_what_apply_returns"].outcome is Outcome.PASSED
