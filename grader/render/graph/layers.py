"""Compute rows and columns of a drawn graph: the layer of each box and its place in the layer."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

Size = tuple[float, float]


MARGIN = 16.0


GAP_X, GAP_Y = 24.0, 46.0


LANE = 12.0
"""The width of the lane in which an edge passes a layer."""


END_WEIGHT, LANE_WEIGHT = 0.05, 2.0
"""Boxes at the graph's ends give way to others; lanes are kept straight."""


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


ROUNDS = 6
SWEEPS = 25


class _View:
    """The object that grandalf places: it reads w and h and writes xy."""

    def __init__(self, width: float, height: float) -> None:
        self.w, self.h, self.xy = width, height, (0.0, 0.0)


@dataclass(slots=True)
class Layers:
    """Boxes by layer from the top, left to right, and the lanes in which edges pass."""

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

    vertices: dict[str, Any] = {key: Vertex(key) for key in boxes}
    for key, box in boxes.items():
        vertices[key].view = _View(box.width, box.height)
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
    for pair, edge in edges.items():
        passed = layout.ctrls.get(edge, {})
        lanes[pair] = {
            row: placed[id(vertex)]
            for row, vertex in passed.items()
            if id(vertex) in placed and row_of.get(pair[0]) != row
        }
        lanes[pair].pop(row_of[pair[1]], None)
    return Layers(rows, lanes, row_of)


def place_boxes(layers: Layers, chains: list[list[Box]]) -> Size:
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
            pool = (
                (before[0] * before[1] + pool[0] * pool[1]) / weight,
                weight,
                before[2] + pool[2],
            )
        pools.append(pool)
    places = [where for where, _, count in pools for _ in range(count)]
    for box, where, offset in zip(row, places, offsets, strict=True):
        box.x = where + offset
