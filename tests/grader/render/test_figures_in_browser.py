"""Drawings in a real browser: text stays in its box, in files and on a page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from browser import OPEN_ALL, Browser
from factories.gradebook import make_report
from msgspec import to_builtins

from grader.core.i18n import engine_catalogue
from grader.core.pictures import GraphFigure, GraphPicture, JacobianFigure
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.judge.figures import chart_figure, curve, panel, prediction_figure
from grader.render.graph.draw import draw_svg
from grader.render.page import render_page

OUTSIDE = """() => [...document.querySelectorAll('svg.graph')].flatMap(svg => {
  const edge = svg.getBoundingClientRect(), out = [];
  for (const text of svg.querySelectorAll('text')) {
    const box = text.parentNode === svg ? svg : text.parentNode.querySelector('rect') || svg;
    const a = text.getBoundingClientRect(), b = box === svg ? edge : box.getBoundingClientRect();
    const beside = a.left < b.left || a.right > b.right;
    if (beside || a.top < b.top - 1 || a.bottom > b.bottom + 1) out.push(text.textContent);
  }
  return out;
})"""


def picture(count: int) -> GraphPicture:
    """Return a graph with that many nodes and every kind of text in boxes."""
    names = [
        "AddBackward0",
        "ScaledDotProductEfficientAttentionBackward0",
        "WWWWWWWWBackward0",
        "이름이긴함수Backward",
    ]
    nodes = [
        {
            "id": f"n{k}",
            "kind": "leaf" if k == count - 1 else "op",
            "type": names[k % 4],
            "name": "weights",
            "shape": "float64 (3, 4)",
            "saved": [{"name": "self", "freed": k % 2 == 0}, {"name": "other"}],
            "hooks": k % 3,
            "retains_grad": k % 5 == 0,
            "outputs": 1 + k % 2,
            "note": "#1, 2",
        }
        for k in range(count)
    ]
    ends = [(k, k + 1) for k in range(count - 1)] + [(k, count - 1) for k in range(count - 2)]
    edges = [
        {"source": f"n{a}", "target": f"n{b}", "output": k % 2, "slot": int(k >= count - 1)}
        for k, (a, b) in enumerate(ends)
    ]
    return GraphPicture.from_json({"nodes": nodes, "edges": edges, "left_out": 3})


MARKED_IN_VIEW = """() => [
  ...document.querySelectorAll('.scroll:has(svg.graph .marked)')
].map(frame => {
  const a = frame.querySelector('.marked').getBoundingClientRect();
  const b = frame.getBoundingClientRect();
  const across = a.left >= b.left && a.right <= b.right;
  return a.width > 0 && across && a.top >= b.top && a.bottom <= b.bottom;
})"""


@pytest.fixture
def report() -> Report:
    """Return a report on a failed check with a figure of each kind."""
    graph = GraphFigure(picture(9), picture(5), first_difference="n2", actual_difference="n0")
    matrix = [[1.0 * (i == j) - 12345.678 * (i > j) for j in range(6)] for i in range(6)]
    heat = JacobianFigure(matrix, [[0.0] * 6] * 6, 1e-5, 1e-3, input="x", output="y", cut=(0, 0))
    xs = [k / 4 for k in range(-8, 9)]
    curves = [
        curve("truth", xs, [x * x for x in xs]),
        curve("yours", xs, [1e4 * x for x in xs], "a long name of what came back", form="dots"),
        curve("given", xs, xs, "what was given, with a long name too"),
    ]
    names = [f"[{k}, {k}]" for k in range(12)]
    bars = panel("", curve("yours", None, range(-4, 8), form="bars"), names=names)
    plot = chart_figure(
        "f over x", panel("value", *curves, mark=(1.0, 1e4)), bars, notes=["너비가 넓은 글자 " * 9]
    )
    cards = prediction_figure([["x ** 2 " * 8, "survives", "does not survive", "because " * 30]])
    figures = [to_builtins(one) for one in (graph, heat, cards, plot)]
    check = CheckResult("tiny.f", "f", "f", Outcome.FAILED, 0.0, 2.0, figures=figures)
    lesson = LessonResult("tiny", "Tiny", LessonStatus.FAILED, 0.0, 10.0, checks=(check,))
    return make_report("someone", [lesson])


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_text_stays_in_its_box(browser: Browser, tmp_path: Path, lang: str) -> None:
    """Graphs of 2 to 200 nodes are drawn as separate files."""
    tr = engine_catalogue(lang)
    path = tmp_path / "drawings.html"
    drawings = [draw_svg(picture(count), tr, own_style=True) for count in (2, 30, 200)]
    path.write_text("<!doctype html><meta charset=utf-8>" + "".join(drawings), "utf-8")
    assert browser.open(path, width=1280).evaluate(OUTSIDE) == []


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_a_page_with_figures_is_accessible_and_does_not_overflow(
    browser: Browser, tmp_path: Path, report: Report, width: int, dark: bool
) -> None:
    """axe and the policy find nothing; wide drawings scroll in frames."""
    path = tmp_path / "report.html"
    path.write_text(render_page(report), "utf-8")
    tab = browser.open(path, width=width, dark=dark)
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)
    assert tab.evaluate(OUTSIDE) == []
    assert browser.errors == []


PLACES = """() => [...document.querySelectorAll('.picture:has(svg.graph:not(.plot))')].map(one => {
  const frame = one.querySelector('.scroll');
  return [one.offsetTop, frame.scrollWidth > frame.clientWidth];
})"""


@pytest.mark.parametrize(
    ("branches", "beside"), [(3, True), (4, True), (8, False)], ids=["small", "shrunk", "wide"]
)
def test_two_graphs_stand_side_by_side_where_they_stay_readable(
    browser: Browser, tmp_path: Path, report: Report, branches: int, beside: bool
) -> None:
    """Neither is cut off, as long as its text can be read when it fits into the page."""
    leaves = [{"id": f"l{k}", "kind": "leaf", "name": f"weight{k}"} for k in range(branches)]
    root = {"id": "n", "kind": "op", "type": "StackBackward0"}
    edges = [{"source": "n", "target": leaf["id"], "slot": 0} for leaf in leaves]
    graph = GraphPicture.from_json({"nodes": [root, *leaves], "edges": edges})
    figure = to_builtins(GraphFigure(graph, graph, first_difference="n", actual_difference="n"))
    lesson = report.lessons[0]
    check = replace(lesson.checks[0], figures=[figure])
    path = tmp_path / "report.html"
    page = replace(report, lessons=(replace(lesson, checks=(check,)),))
    path.write_text(render_page(page), "utf-8")
    (one, cut), (other, also_cut) = browser.open(path, width=1280).evaluate(PLACES)
    assert (one == other) is beside
    assert not cut and not also_cut


SCROLLS = """() => [...document.querySelectorAll('.picture .scroll')].map(frame => {
  const style = getComputedStyle(frame);
  const bar = frame.offsetHeight - frame.clientHeight
    - parseFloat(style.borderTopWidth) - parseFloat(style.borderBottomWidth);
  return [frame.scrollWidth > frame.clientWidth, bar > 4, style.backgroundImage.includes('grad')];
})"""


def test_a_frame_that_scrolls_shows_it(browser: Browser, tmp_path: Path, report: Report) -> None:
    """Its scroll bar is always visible, and its edges are shaded."""
    path = tmp_path / "report.html"
    path.write_text(render_page(report), "utf-8")
    found = browser.with_scrollbars(path, SCROLLS)
    assert any(wide for wide, _, _ in found)
    for wide, bar, shade in found:
        assert shade
        assert bar is wide


def test_a_drawing_larger_than_its_frame_begins_at_what_is_marked(
    browser: Browser, tmp_path: Path, report: Report
) -> None:
    """On a phone that may be far to the right; in a folded check, it happens when it is opened."""
    lesson = report.lessons[0]
    graph = {**lesson.checks[0].figures[0], "first_difference": "n6"}
    named: dict[str, Any] = {"diagnosis": "same", "diagnosis_title": "the same"}
    check = replace(lesson.checks[0], figures=[graph], **named)
    folded = replace(check, id="tiny.g", function="g")
    report = replace(report, lessons=(replace(lesson, checks=(check, folded)),))
    path = tmp_path / "report.html"
    path.write_text(render_page(report), "utf-8")
    tab = browser.open(path, width=320)
    scrolled = "[...document.querySelectorAll('.scroll')].some(frame => frame.scrollLeft > 0)"
    assert tab.evaluate(scrolled)
    assert tab.evaluate(MARKED_IN_VIEW) == [True, True, False, False]
    tab.evaluate(OPEN_ALL)
    tab.wait_for_function(f"({MARKED_IN_VIEW})().every(Boolean)", timeout=30_000)
    assert browser.errors == []
