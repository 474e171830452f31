"""Lay a graph out in layers, the root at the top, by grandalf's Sugiyama layout.

Pixels, y downwards. An edge across many layers ends in a ghost, a small box that names its target,
so that a leaf used a hundred times does not get a hundred long lines.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

from grader.core.pictures import GraphEdge, GraphPicture

Size = tuple[float, float]
Point = tuple[float, float]
MARGIN = 16.0
GAP_X, GAP_Y = 24.0, 46.0
LANE = 12.0
"""The width of the lane in which an edge passes a layer."""
END_WEIGHT, LANE_WEIGHT = 0.05, 2.0
"""Boxes at the graph's ends give way to others; lanes are kept straight."""
ROUNDS = 6
SWEEPS = 25
PORT = 20.0
"""The smallest distance between the ends of edges at a box: a number fits between them."""
GHOST: Size = (72.0, 24.0)
MAX_LANES = 160
"""How many edges may pass a layer; the longest of the others end in ghosts."""
SHORT = 4
"""An edge over fewer layers than this is always drawn."""


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Positions of a picture. ``ghosts`` are boxes, each with the id of the node it stands for."""

    width: float
    height: float
    boxes: dict[str, Box]
    routes: tuple[Route, ...]
    ghosts: tuple[tuple[Box, str], ...]


@dataclass(slots=True, eq=False)
class Box:
    """A placed box: its center and its size, and how much it resists being moved aside."""

    width: float
    height: float
    x: float = 0.0
    y: float = 0.0
    weight: float = 1.0

    @property
    def left(self) -> float:
        return self.x - self.width / 2

    @property
    def right(self) -> float:
        return self.x + self.width / 2

    @property
    def top(self) -> float:
        return self.y - self.height / 2

    @property
    def bottom(self) -> float:
        return self.y + self.height / 2


@dataclass(frozen=True, slots=True)
class Route:
    """An edge's path from the bottom of its source through lanes to its target or ghost."""

    edge: GraphEdge
    points: tuple[Point, ...]


def lay_out(picture: GraphPicture, sizes: Mapping[str, Size]) -> GraphLayout:
    """Return positions for nodes of given sizes and routes for edges; deterministic."""
    ends, ghosts = _shortened(picture)
    ports = Counter(edge.source for edge in picture.edges) | Counter(ends)  # the larger number
    boxes = {
        key: Box(max(width, ports[key] * PORT), height) for key, (width, height) in sizes.items()
    }
    boxes |= {key: Box(*GHOST) for key in ghosts}
    for key in boxes.keys() - {edge.source for edge in picture.edges}:
        boxes[key].weight = END_WEIGHT
    pairs = [(edge.source, end) for edge, end in zip(picture.edges, ends, strict=True)]
    layers = sort_into_layers(boxes, pairs)
    chains = {
        (source, end): [boxes[source], *lanes.values(), boxes[end]]
        for (source, end), lanes in layers.lanes.items()
    }
    width, height = place_boxes(layers, chains.values())
    return GraphLayout(
        width=width,
        height=height,
        boxes={key: box for key, box in boxes.items() if key not in ghosts},
        routes=tuple(_routes(picture, pairs, chains, layers)),
        ghosts=tuple((boxes[key], target) for key, target in ghosts.items()),
    )


def _ranks(picture: GraphPicture) -> dict[str, int]:
    """Return each node's layer: the length of the longest path from the root."""
    following = picture.following()
    ranks = {node.id: 0 for node in picture.nodes}
    for id in picture.in_order():
        for edge in following[id]:
            ranks[edge.target] = max(ranks[edge.target], ranks[id] + 1)
    return ranks


def _shortened(picture: GraphPicture) -> tuple[list[str], dict[str, str]]:
    """Return where each edge ends, at a node or a ghost, and the ghosts with the nodes that they
    stand for.

    A node's last edge is always drawn, so that no node is disconnected.
    """
    ranks = _ranks(picture)
    spans = [ranks[edge.target] - ranks[edge.source] for edge in picture.edges]
    lanes = sum(span - 1 for span in spans)
    drawn = [edge.target for edge in picture.edges]
    ends, ghosts = list(drawn), {}
    for number in sorted(range(len(spans)), key=lambda number: -spans[number]):
        if lanes <= MAX_LANES or spans[number] < SHORT:
            break
        target = drawn[number]
        if ends.count(target) > 1:
            lanes -= spans[number] - 1
            ends[number] = f"ghost{number}"
            ghosts[ends[number]] = target
    return ends, ghosts


def _routes(
    picture: GraphPicture,
    pairs: list[tuple[str, str]],
    chains: Mapping[tuple[str, str], list[Box]],
    layers: Layers,
) -> Iterator[Route]:
    """Yield a route for each edge; edges at one side of a box are spread."""
    leaving: dict[Box, list[int]] = {}
    arriving: dict[Box, list[int]] = {}
    passed = [chains[pair] for pair in pairs]
    for number, chain in enumerate(passed):
        leaving.setdefault(chain[0], []).append(number)
        arriving.setdefault(chain[-1], []).append(number)
    starts = _ports(leaving, key=lambda n: (passed[n][1].x, picture.edges[n].slot))
    stops = _ports(arriving, key=lambda n: (passed[n][-2].x, starts[n]))
    heights = [(min(box.top for box in row), max(box.bottom for box in row)) for row in layers.rows]
    for number, (source, end) in enumerate(pairs):
        start, stop = starts[number], stops[number]
        points = [(start, passed[number][0].bottom), (start, heights[layers.row_of[source]][1])]
        for row, lane in layers.lanes[source, end].items():
            points += [(lane.x, heights[row][0]), (lane.x, heights[row][1])]
        points += [(stop, heights[layers.row_of[end]][0]), (stop, passed[number][-1].top)]
        yield Route(picture.edges[number], tuple(points))


def _ports(at: dict[Box, list[int]], key: Callable[[int], Any]) -> dict[int, float]:
    """Return the x coordinate at which each edge meets its box, evenly spread over the side."""
    found = {}
    for box, numbers in at.items():
        step = min(box.width / len(numbers), 2 * PORT)
        for place, number in enumerate(sorted(numbers, key=key)):
            found[number] = box.x + (place - (len(numbers) - 1) / 2) * step
    return found


@dataclass(slots=True)
class Layers:
    """Boxes by layer from the top, left to right, and for each edge the lanes in which it passes
    layers, from the top.
    """

    rows: list[list[Box]]
    lanes: dict[tuple[str, str], dict[int, Box]]
    row_of: dict[str, int]


def sort_into_layers(boxes: dict[str, Box], pairs: list[tuple[str, str]]) -> Layers:
    """Return layers, an order with few crossings, and initial x positions, computed by grandalf."""
    if len(boxes) == 1:
        (key,) = boxes
        return Layers([[boxes[key]]], {}, {key: 0})
    from grandalf.graphs import Edge, Vertex, graph_core
    from grandalf.layouts import SugiyamaLayout

    vertices = {key: Vertex(key) for key in boxes}
    for key, box in boxes.items():
        vertices[key].view = SimpleNamespace(w=box.width, h=box.height)  # and grandalf sets xy
    edges = {pair: Edge(vertices[pair[0]], vertices[pair[1]]) for pair in dict.fromkeys(pairs)}
    layout = SugiyamaLayout(graph_core(list(vertices.values()), list(edges.values())))
    layout.xspace, layout.yspace, layout.dw, layout.dh = GAP_X, GAP_Y, LANE, 1.0
    layout.init_all(inverted_edges=[])  # the graph is acyclic, so no edge has to be reversed
    layout.draw(ROUNDS)
    placed: dict[int, Box] = {}
    row_of: dict[str, int] = {}
    rows = []
    for number, layer in enumerate(layout.layers):
        row = []
        for vertex in layer:
            name: Any = getattr(vertex, "data", None)  # lanes have no node
            box = boxes[name] if name in boxes else Box(LANE, 1.0, weight=LANE_WEIGHT)
            box.x = float(vertex.view.xy[0])
            placed[id(vertex)] = box
            if name in boxes:
                row_of[name] = number
            row.append(box)
        rows.append(sorted(row, key=lambda box: box.x))
    lanes = {}
    for (source, target), edge in edges.items():
        passed = sorted(layout.ctrls.get(edge, {}).items())
        ends = row_of[source], row_of[target]
        lanes[source, target] = {row: placed[id(one)] for row, one in passed if row not in ends}
    return Layers(rows, lanes, row_of)


def place_boxes(layers: Layers, chains: Iterable[list[Box]]) -> Size:
    """Place each layer below the one before, and each box near its neighbors; return the size.

    Sweep down and up several times. Each time, a row moves to the weighted least squares solution
    for its neighbors that keeps the order and the gaps of its boxes. ``chains`` are the boxes of
    each edge, from its source through lanes to its end.
    """
    above: dict[Box, list[Box]] = {}
    below: dict[Box, list[Box]] = {}
    for chain in chains:
        for upper, lower in itertools.pairwise(chain):
            above.setdefault(lower, []).append(upper)
            below.setdefault(upper, []).append(lower)
    for sweep in range(SWEEPS):
        down = sweep % 2 == 0
        for row in layers.rows if down else reversed(layers.rows):
            neighbours = above if down else below
            _spread(row, [_mean(neighbours.get(box) or [box]) for box in row])
    y = MARGIN
    for row in layers.rows:
        height = max(box.height for box in row)
        for box in row:
            box.y = y + height / 2
        y += height + GAP_Y
    every = [box for row in layers.rows for box in row]
    left = min(box.left for box in every)
    for box in every:
        box.x += MARGIN - left
    return max(box.right for box in every) + MARGIN, y - GAP_Y + MARGIN


def _mean(boxes: list[Box]) -> float:
    return sum(box.x * box.weight for box in boxes) / sum(box.weight for box in boxes)


def _spread(row: list[Box], wanted: list[float]) -> None:
    """Place a row close to where its boxes are wanted: isotonic regression by pooling."""
    offsets = [0.0]
    for left, right in itertools.pairwise(row):
        gap = GAP_X / 2 if LANE in (left.width, right.width) else GAP_X
        offsets.append(offsets[-1] + (left.width + right.width) / 2 + gap)
    pools: list[tuple[float, float, int]] = []  # position, weight, number of boxes
    for box, where, offset in zip(row, wanted, offsets, strict=True):
        pool = (where - offset, box.weight, 1)
        while pools and pools[-1][0] > pool[0]:
            before = pools.pop()
            weight = before[1] + pool[1]
            mean = (before[0] * before[1] + pool[0] * pool[1]) / weight
            pool = mean, weight, before[2] + pool[2]
        pools.append(pool)
    places = [where for where, _, count in pools for _ in range(count)]
    for box, where, offset in zip(row, places, offsets, strict=True):
        box.x = where + offset
