"""Graphs: what the walk finds, what a picture refuses, where boxes are placed, what readers get."""

from __future__ import annotations

import io
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from click.testing import CliRunner
from msgspec import to_builtins
from msgspec.structs import replace
from rich.cells import cell_len

import grader
from grader.cli import cli
from grader.cli.graph import numbers, run_function
from grader.core.errors import UsageError
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.messages import TraceRequest
from grader.core.pictures import MAX_GRAPH_NODES, GraphPicture, first_difference
from grader.render.graph import tracing_process
from grader.render.graph.draw import Drawing, draw_svg, legend, lines_of, size_of, tree_lines
from grader.render.graph.layout import GraphLayout, lay_out
from grader.render.graph.tracing_process import GraphRequestError, drawn
from grader.worker.wire.program import Cube
from grader.worker.wire.trace import trace

SVG = "{http://www.w3.org/2000/svg}"
HOSTILE = [
    "</text><script>alert(1)</script>",
    "\x1b[2Jgone",
    "x" * 5000,
    "이름" * 60,
    "a\nb\u202eevil",
    '"onload="x',
    "\ud800",
]


def picture_of(tensor: torch.Tensor, **names: Any) -> GraphPicture:
    return GraphPicture.from_json(trace(tensor, names))


def leaf(*shape: int) -> torch.Tensor:
    return torch.ones(shape, requires_grad=True)


def plain(nodes: list[dict[str, Any]], edges: list[tuple[int, int]]) -> dict[str, Any]:
    """Return a picture's data with only the required fields."""
    named = [{"id": f"n{k}", "kind": "op", "type": "T", **node} for k, node in enumerate(nodes)]
    ends = [{"source": f"n{a}", "target": f"n{b}", "slot": k} for k, (a, b) in enumerate(edges)]
    return {"nodes": named, "edges": ends}


def random_picture(count: int, seed: int = 0) -> GraphPicture:
    """Return a graph with that many nodes, with shared nodes, long edges and long names."""
    chance = random.Random(seed)
    edges = []
    for target in range(1, count):
        sources = {
            chance.randrange(max(0, target - chance.choice([1, 3, 40])), target)
            for _ in range(chance.choice([1, 1, 2, 3]))
        }
        edges += [(source, target) for source in sources]
    types = ["AddBackward0", "Mul", "ScaledDotProductEfficientAttentionBackward0", "이름"]
    nodes = [
        {
            "type": chance.choice(types),
            "hooks": chance.choice([0, 2]),
            "saved": [{"name": "self", "freed": chance.random() < 0.5}] * chance.choice([0, 1]),
            "outputs": chance.choice([1, 1, 3]),
        }
        for _ in range(count)
    ]
    return GraphPicture.from_json(plain(nodes, edges))


# ----------------------------------------------------------------------------------------- the walk


def test_a_shared_node_is_one_node_with_two_edges() -> None:
    x = leaf(3)
    y = x.exp()
    picture = picture_of(y * y, x=x)
    types = [node.type for node in picture.nodes]
    assert types == ["MulBackward0", "ExpBackward0", "AccumulateGrad"]
    ends = [(edge.source, edge.target) for edge in picture.edges]
    assert ends == [("n0", "n1"), ("n0", "n1"), ("n1", "n2")]


def test_edges_tell_which_output_they_belong_to() -> None:
    """chunk returns several tensors from one node; an unused output has no edge."""
    first, _, third = leaf(6).chunk(3)
    picture = picture_of(first * third)
    assert [edge.output for edge in picture.edges if edge.source == "n0"] == [0, 2]
    assert next(node for node in picture.nodes if node.type == "SplitBackward0").outputs == 3


def test_names_hooks_and_retained_gradients_are_told() -> None:
    x = leaf(3)
    x.register_hook(lambda grad: grad)
    y = x * 2
    y.retain_grad()
    nodes = picture_of(y.sum(), x=x, y=y, text="no tensor").nodes
    assert [(node.label, node.kind, node.hooks, node.retains_grad) for node in nodes] == [
        ("SumBackward0", "op", 0, False),
        ("y = MulBackward0", "intermediate", 0, True),
        ("x", "leaf", 1, False),
        ("", "constant", 0, False),
    ]


@pytest.mark.parametrize("custom", [False, True])
def test_saved_tensors_are_told_and_after_backward_that_they_are_freed(custom: bool) -> None:
    """This holds for torch's nodes and for custom Functions; freed tensors raise nothing."""
    x = leaf(3)
    y = Cube.apply(x) if custom else x * x  # type: ignore[no-untyped-call]
    assert [one.freed for one in picture_of(y).nodes[0].saved] == [False] * (1 if custom else 2)
    y.sum().backward()
    saved = picture_of(y).nodes[0].saved
    assert saved
    assert all(one.freed for one in saved)


def test_a_walk_runs_no_hook_of_saved_tensors() -> None:
    unpacked: list[torch.Tensor] = []

    def unpack(kept: torch.Tensor) -> torch.Tensor:
        unpacked.append(kept)
        return kept

    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        y = leaf(3).exp()
    assert [one.name for one in picture_of(y).nodes[0].saved] == ["result"]
    assert unpacked == []


@pytest.mark.parametrize(("tensor", "kind"), [(torch.ones(2), "constant"), (leaf(2), "leaf")])
def test_a_tensor_without_a_node_is_a_picture_of_itself(tensor: torch.Tensor, kind: str) -> None:
    picture = picture_of(tensor, x=tensor)
    assert [(node.kind, node.name) for node in picture.nodes] == [(kind, "x")]


def test_a_large_graph_is_cut_and_says_by_how_much() -> None:
    """The nearest nodes are kept; the others are counted."""
    y = x = leaf(1)
    for _ in range(MAX_GRAPH_NODES + 49):
        y = y.exp()
    picture = picture_of(y, x=x)
    assert len(picture.nodes) == MAX_GRAPH_NODES
    assert picture.left_out == 50
    assert picture.nodes[-1].cut == 1
    assert "50 more nodes are not drawn" in str(Drawing(picture))
    assert "50 more nodes are not drawn" in draw_svg(picture)


# -------------------------------------------------------------------------------------- the picture


def test_a_picture_survives_json() -> None:
    x = leaf(3)
    picture = picture_of((x * x).exp().sum(), x=x)
    assert GraphPicture.from_json(json.loads(json.dumps(to_builtins(picture)))) == picture


BROKEN: dict[str, Any] = {
    "nothing": None,
    "no list": {"nodes": 3, "edges": []},
    "no nodes": plain([], []),
    "too many nodes": plain(
        [{}] * (MAX_GRAPH_NODES + 1), [(0, k) for k in range(1, MAX_GRAPH_NODES + 1)]
    ),
    "too many edges": plain([{}, {}], [(0, 1)] * 1001),
    "a circle": plain([{}, {}, {}], [(0, 1), (1, 2), (2, 1)]),
    "two roots": plain([{}, {}], []),
    "another root": plain([{}, {}], [(1, 0)]),
    "an edge to nowhere": plain([{}], [(0, 7)]),
    "twins": plain([{}, {"id": "n0"}], [(0, 0)]),
    "another kind": plain([{"kind": "<b>"}], []),
    "an id that is markup": plain([{"id": "<b>"}], []),
    "a name that is none": plain([{"type": ["x"]}], []),
    "a count that is none": plain([{"hooks": -1}], []),
    "a count beyond counting": plain([{"hooks": 10**400}], []),
    "saved that is none": plain([{"saved": "self"}], []),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_no_picture_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no picture of a graph"):
        GraphPicture.from_json(BROKEN[name])


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_are_text_and_short(name: str) -> None:
    """This holds for types, tensors' names and saved tensors' names; the SVG is well formed."""
    node = {"type": name, "name": name, "shape": name, "note": name, "saved": [{"name": name}] * 40}
    picture = GraphPicture.from_json(plain([node, {**node, "kind": "leaf"}], [(0, 1)]))
    svg = draw_svg(picture, title=name.encode("utf-8", "replace").decode())
    root = ET.fromstring(svg)
    used = {part.tag.removeprefix(SVG) for part in root.iter()}
    assert used <= set("svg title desc g rect path text".split())
    assert not any(attribute.startswith("on") for part in root.iter() for attribute in part.attrib)
    assert all((part.text or "").isprintable() for part in root.iter(f"{SVG}text"))
    for line in str(Drawing(picture)).split("\n"):
        assert line.isprintable() and len(line) <= 80
    assert_inside(svg)


def test_the_first_difference_is_the_nearest_to_the_root() -> None:
    x = leaf(2)
    expected = picture_of((x.sin() * x.exp()).sum(), x=x)
    actual = picture_of((x.sin() * x.cos()).sum(), x=x)
    mine, wanted = first_difference(actual, expected)
    assert actual.by_id()[mine or ""].type == "CosBackward0"
    assert expected.by_id()[wanted or ""].type == "ExpBackward0"
    assert first_difference(expected, picture_of((x.sin() * x.exp()).sum())) == (None, None)


def test_the_same_operations_of_another_leaf_differ() -> None:
    """Both edges of x * x lead to one leaf; those of x * y do not."""
    x, y = leaf(2), leaf(2)
    assert first_difference(picture_of(x * x), picture_of(x * y)) != (None, None)


def test_what_nodes_are_called_makes_no_difference() -> None:
    one = random_picture(30)
    other = replace(
        one,
        nodes=tuple(replace(node, id=f"my {node.id}") for node in one.nodes),
        edges=tuple(
            replace(edge, source=f"my {edge.source}", target=f"my {edge.target}")
            for edge in one.edges
        ),
    )
    assert first_difference(other, one) == (None, None)


def test_the_nearest_nodes_are_a_picture_too() -> None:
    whole = random_picture(120)
    part = whole.nearest(40)
    part.check()
    assert len(part.nodes) == 40
    assert part.left_out == 80
    beyond = whole.by_id().keys() - part.by_id().keys()
    cut = [sum(edge.target in beyond for edge in whole.following()[n.id]) for n in part.nodes]
    assert [node.cut for node in part.nodes] == cut


# --------------------------------------------------------------------------------------- the layout


def texts_in(svg: str) -> list[tuple[float, float, float, float, str]]:
    """Return left, top, right, bottom of every text of a drawing, for a font of 0.6 em a cell, the
    maximum of DejaVu, Menlo and Consolas.
    """
    found = []
    for part in ET.fromstring(svg).iter(f"{SVG}text"):
        text, style = part.text or "", part.attrib["class"]
        height = 13 if style == "title" else 11
        half = cell_len(text) * 0.6 * height / 2
        x, y = float(part.attrib["x"]), float(part.attrib["y"])
        found.append((x - half, y - height, x + half, y + 3, text))
    return found


def laid_out(picture: GraphPicture) -> GraphLayout:
    return lay_out(
        picture, {node.id: size_of(lines_of(node, Catalogue())) for node in picture.nodes}
    )


def assert_inside(svg: str) -> None:
    """Assert that no text leaves the drawing."""
    width, height = (float(n) for n in re.findall(r'viewBox="0 0 (\d+) (\d+)"', svg)[0])
    for left, top, right, bottom, text in texts_in(svg):
        assert left >= 0 and top >= 0 and right <= width and bottom <= height, text


@pytest.mark.parametrize("count", [1, 2, 3, 5, 9, 17, 40, 90, 200])
def test_no_text_is_clipped_and_none_covers_another(count: int) -> None:
    """Graphs have 1 to 200 nodes, long names, hooks, saved tensors, several outputs and ghosts."""
    svg = draw_svg(random_picture(count, seed=count))
    assert_inside(svg)
    texts = sorted(texts_in(svg), key=lambda box: box[1])
    for one, other in itertools.combinations(texts, 2):
        assert other[1] >= one[3] or one[2] <= other[0] or other[2] <= one[0], (one, other)


@pytest.mark.parametrize("count", [2, 30, 200])
def test_boxes_stand_apart_and_edges_run_down(count: int) -> None:
    picture = random_picture(count, seed=1)
    layout = laid_out(picture)
    boxes = [*layout.boxes.values(), *(box for box, _ in layout.ghosts)]
    for one, other in itertools.combinations(boxes, 2):
        beside = one.right <= other.left or other.right <= one.left
        assert beside or one.bottom <= other.top or other.bottom <= one.top
    assert len(layout.routes) == len(picture.edges)
    for route in layout.routes:
        assert all(y <= y2 + 1e-9 for (_, y), (_, y2) in itertools.pairwise(route.points))
        assert all(0 <= x <= layout.width and 0 <= y <= layout.height for x, y in route.points)


def test_both_edges_of_a_square_are_seen() -> None:
    """x * x passes two gradients to one leaf, drawn as two separate lines."""
    x = leaf(2)
    picture = picture_of(x * x)
    layout = lay_out(picture, {"n0": (100, 40), "n1": (100, 40)})
    for (left, _), (right, _) in zip(*(route.points for route in layout.routes), strict=True):
        assert abs(left - right) >= 20


def test_a_leaf_used_a_hundred_times_stays_a_drawing_one_can_read() -> None:
    """Most of its edges end in ghosts, so the drawing stays narrow."""
    y = x = leaf(1)
    for _ in range(100):
        y = y * x
    layout = laid_out(picture_of(y, x=x))
    assert len(layout.ghosts) > 80
    assert layout.width < 2500


def test_a_drawing_is_the_same_each_time() -> None:
    """Another process, with other hashes and addresses, draws the same."""
    picture = random_picture(90, seed=3)
    code = (
        "import json, sys; from grader.render.graph.draw import GraphPicture, draw_svg; "
        "picture = GraphPicture.from_json(json.load(sys.stdin)); "
        "sys.stdout.buffer.write(draw_svg(picture).encode())"
    )
    data = json.dumps(to_builtins(picture))
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input=data, capture_output=True, encoding="utf-8", check=True)
    assert draw_svg(picture) == done.stdout


# ------------------------------------------------------------------------------------- what is read


GOLDEN = """\
loss = SumBackward0
└─ AddBackward0
   ├─ MulBackward0  keeps other, self
   │  ├─ y = ExpBackward0  1 hook · keeps result
   │  │  └─ x  float32 (3,)
   │  └─ w  float32 (3,)
   └─ y = ExpBackward0  as above"""


def test_a_graph_of_plain_objects_is_not_explained_as_torchs() -> None:
    nodes = [
        {"id": "n0", "kind": "op", "type": "a * a", "name": "y"},
        {"id": "n1", "kind": "leaf", "name": "a"},
    ]
    edges = [{"source": "n0", "target": "n1"}, {"source": "n0", "target": "n1", "slot": 1}]
    tr = engine_catalogue("en")
    assert legend([GraphPicture.from_json({"nodes": nodes, "edges": edges})], tr) == []
    nodes[0]["type"] = "MulBackward0"
    assert len(legend([GraphPicture.from_json({"nodes": nodes, "edges": edges})], tr)) == 2


def test_the_tree_of_a_graph() -> None:
    x, w = leaf(3), leaf(3)
    y = x.exp()
    y.register_hook(lambda grad: grad)
    loss = (y * w + y).sum()
    assert str(grader.draw(loss)) == GOLDEN
    assert str(Drawing(picture_of(loss, x=x, w=w, y=y, loss=loss))) == GOLDEN


@pytest.mark.parametrize("count", [2, 40, 200])
def test_a_tree_fits_eighty_columns(count: int) -> None:
    """Depth and names may be extreme; a node is explained once."""
    lines = tree_lines(random_picture(count, seed=2), marked=["n1"])
    assert all(cell_len(str(line)) <= 80 for line in lines)
    assert sum(line.marked for line in lines) >= 1


def test_a_tree_can_be_cut() -> None:
    lines = tree_lines(random_picture(50), most=10)
    assert len(lines) == 10
    assert re.fullmatch(r"… and \d+ more lines", str(lines[-1]))


def test_every_word_of_a_drawing_is_there_in_korean() -> None:
    tr = engine_catalogue("ko")
    y = x = leaf(2)
    y.register_hook(lambda grad: grad)
    y = y * 2
    y.retain_grad()
    z = torch.stack(y.chunk(2)).sum()
    z.backward()
    for tensor in (z, (x * 3).exp(), torch.ones(1)):
        picture = picture_of(tensor, y=y)
        for part in (picture, picture.nearest(2)):
            tree_lines(part, tr)
            draw_svg(part, tr)
    assert tr.missing == set()


def test_a_drawing_names_the_variables_where_it_is_asked_for_and_saves(tmp_path: Path) -> None:
    weights = leaf(2)
    drawing = grader.draw(weights * 2)
    assert "weights" in str(drawing)
    assert repr(drawing) == str(drawing)  # what a prompt without pictures shows
    assert "weights" not in str(grader.draw(weights * 2, names={}))
    assert drawing.save(tmp_path / "g.svg").read_text("utf-8").startswith("<svg ")
    assert "weights" in drawing.save(tmp_path / "g.txt").read_text("utf-8")
    with pytest.raises(UsageError, match=r"g\.pdf"):
        drawing.save(tmp_path / "g.pdf")
    with pytest.raises(TypeError, match="int"):
        grader.draw(3)  # type: ignore[arg-type]
    ET.fromstring(drawing._repr_svg_())


# -------------------------------------------------------------------------------------- grade graph


@pytest.mark.parametrize(
    ("text", "value"), [("2", 2), ("2.0,3", [2.0, 3]), ("[[1, 2], [3, 4]]", [[1, 2], [3, 4]])]
)
def test_inputs_are_numbers(text: str, value: Any) -> None:
    assert numbers(text) == value


@pytest.mark.parametrize(
    "text", ["x", "1,x", "[[1], [2, 3]]", "[[1], 2]", "true", '"a"', "NaN", "{}", ""]
)
def test_an_input_that_is_none_is_named(text: str) -> None:
    with pytest.raises(UsageError, match="--input"):
        numbers(text)


FILE = """
def f(x, w):
    print("so it goes")
    y = x * w
    return y, y.exp()

def with_gradient(x):
    y = x.sin()
    return y, y.detach()

def wrong(x):
    return x.nothing

def three(x):
    return 3

def constant(x):
    return x.detach() * 2

def itself(x):
    return x

def derivative(f, x):
    return f(x)

def alone():
    import torch
    return torch.ones(2, requires_grad=True).exp()

def scaled(x, *, by):
    return x * by
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(FILE, "utf-8")
    return path


def graph(mine: Path, function: str, *options: str) -> Any:
    """Run the command."""
    return CliRunner().invoke(cli, ["graph", f"{mine}:{function}", *options])


TWO = ("--input", "1,2", "--input", "3")


def test_a_function_without_parameters_is_called_without_inputs(mine: Path) -> None:
    done = graph(mine, "alone")
    assert done.exit_code == 0
    assert "alone()" in done.output and "ExpBackward0" in done.output


def test_a_users_function_is_drawn(mine: Path) -> None:
    """Variables have names, the last tensor is the root, backward frees saved tensors."""
    page = mine.with_name("g.html")
    done = graph(mine, "f", *TWO, "--backward", "--html", str(page))
    assert done.exit_code == 0
    for part in ("f(x = [1, 2], w = 3)", "ExpBackward0  freed: result", "not a sandbox"):
        assert part in done.output
    for node in ("y = MulBackward0", "x  float32 (2,)"):
        assert node in done.output
    assert 'style="' not in page.read_text("utf-8")
    assert page.read_text("utf-8").count("<style>") == 1


@pytest.fixture
def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the function in this process, which has torch, instead of one that is started for it."""

    def run(command: list[str], *, input: str, **_: Any) -> SimpleNamespace:
        with monkeypatch.context() as patch:
            patch.setattr(sys, "argv", command[2:])
            patch.setattr(sys, "stdin", io.StringIO(input))
            tracing_process.main()
        return SimpleNamespace(returncode=0)

    monkeypatch.setattr(subprocess, "run", run)


@pytest.mark.usefixtures("in_this_process")
def test_the_marks_of_a_drawing_are_explained(mine: Path) -> None:
    """Only marks that occur are explained."""
    lines = graph(mine, "f", *TWO).output.splitlines()
    explained = [line.split("  ")[0] for line in lines[lines.index("") + 1 :]]
    assert explained == ["…Backward", "leaf", "keeps …"]
    backward = graph(mine, "f", *TWO, "--backward").output
    assert "saved tensors that a backward pass has freed" in backward


@pytest.mark.usefixtures("in_this_process")
@pytest.mark.parametrize(
    ("function", "said"), [("constant", "it is a constant"), ("itself", "it is a leaf")]
)
def test_a_result_without_graph_says_which_it_is(mine: Path, function: str, said: str) -> None:
    output = " ".join(graph(mine, function, "--input", "1,2").output.split())
    assert f"There is no graph behind the result: {said}" in output
    assert "no grad_fn" in output


def test_of_several_results_the_last_with_a_graph_is_drawn(mine: Path) -> None:
    traced = drawn(TraceRequest(str(mine), "with_gradient"))
    assert GraphPicture.from_json(traced.picture).nodes[0].type == "SinBackward0"


@pytest.mark.parametrize(
    ("function", "said"),
    [
        ("three", "returned a value of type int, not a tensor"),
        ("wrong", "wrong raised AttributeError"),
        ("nope", "Its functions: f, with_gradient, wrong, three, constant, itself, "),
        ("derivative", "such as def shown(x): return derivative(torch.sin, x)"),
        ("scaled", "scaled(x, *, by) can't be called with these inputs (missing a required"),
        ("f.x", "has no function f.x"),
    ],
)
def test_what_can_not_be_drawn_is_told(mine: Path, function: str, said: str) -> None:
    with pytest.raises(GraphRequestError, match=re.escape(said)):
        drawn(TraceRequest(str(mine), function))


@pytest.mark.usefixtures("in_this_process")
def test_too_many_inputs_are_told(mine: Path) -> None:
    done = graph(mine, "wrong", "--input", "1", "--input", "2")
    assert done.exit_code != 0
    told = "wrong(x) can't be called with these inputs (too many positional arguments). Write one"
    assert str(done.exception).startswith(told)


def test_a_process_that_ends_early_is_told(tmp_path: Path) -> None:
    """A file that ends the process is not an answer."""
    path = tmp_path / "ends.py"
    path.write_text("import os; os._exit(7)", "utf-8")
    with pytest.raises(UsageError, match=r"ends\.py: the process ended \(7\)"):
        run_function(TraceRequest(str(path), "f"))


def test_a_function_that_does_not_end_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.graph.LONGEST_SECONDS", 0.05)
    path = tmp_path / "loops.py"
    path.write_text("def f(x):\n    while True: pass\n", "utf-8")
    with pytest.raises(UsageError, match=r"loops\.py: f still ran after 0\.05 s and was stopped"):
        run_function(TraceRequest(str(path), "f"))


@pytest.mark.posix
def test_ctrl_c_ends_a_drawing_without_a_traceback(tmp_path: Path) -> None:
    """The function's process is ended, too: else its output would not end."""
    path = tmp_path / "loops.py"
    path.write_text("def f(x):\n    print(1, flush=True)\n    while True: pass\n", "utf-8")
    command = [sys.executable, "-m", "grader", "graph", f"{path}:f"]
    pipes: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, start_new_session=True, **pipes) as running:
        assert running.stdout is not None
        running.stdout.readline()
        os.killpg(running.pid, signal.SIGINT)
        _, said = running.communicate()
    assert running.returncode == 130
    assert "Traceback" not in said


@pytest.mark.parametrize("target", ["mine.py", ":f", "nothing.py:f"])
def test_a_target_that_is_none_is_told(target: str) -> None:
    done = CliRunner().invoke(cli, ["graph", target])
    assert isinstance(done.exception, UsageError)
    assert "FILE:FUNCTION" in str(done.exception)
