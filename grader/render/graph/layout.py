"""Lay a graph out in layers, the root at the top, by grandalf's Sugiyama layout.

Pixels, y downwards. An edge across many layers ends in a ghost, a small box that names its target,
so that a leaf used a hundred times does not get a hundred long lines.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.core.pictures import GraphEdge, GraphPicture
from grader.render.graph.layers import END_WEIGHT, Box, Layers, Size, place_boxes, sort_into_layers

Point = tuple[float, float]

PORT = 20.0
"""The smallest distance between the ends of edges at a box: a number fits between them."""
GHOST: Size = (72.0, 24.0)
MAX_LANES = 160
"""How many edges may pass a layer; the longest of the others end in ghosts."""
SHORT = 4
"""An edge over fewer layers than this is always drawn."""


@dataclass(frozen=True, slots=True)
class Route:
    """An edge's path from the bottom of its source through lanes to its target or ghost."""

    edge: GraphEdge
    points: tuple[Point, ...]
    ghost: str | None = None


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Positions of a picture. ``ghosts`` maps a key to a box and the node it stands for."""

    width: float
    height: float
    boxes: dict[str, Box]
    routes: tuple[Route, ...]
    ghosts: dict[str, tuple[Box, str]] = field(default_factory=dict)


def lay_out(picture: GraphPicture, sizes: Mapping[str, Size]) -> GraphLayout:
    """Return positions for nodes of given sizes and routes for edges; deterministic."""
    ends, ghosts = _shortened(picture)
    ports = _port_counts(picture, ends)
    boxes = {
        key: Box(max(width, ports.get(key, 0) * PORT), height)
        for key, (width, height) in sizes.items()
    }
    boxes |= {key: Box(*GHOST) for key in ghosts}
    for key in boxes.keys() - {edge.source for edge in picture.edges}:
        boxes[key].weight = END_WEIGHT
    pairs = [(edge.source, end) for edge, end in zip(picture.edges, ends, strict=True)]
    layers = sort_into_layers(boxes, pairs)
    passed = {pair: layers.lanes.get(pair, {}) for pair in pairs}
    width, height = place_boxes(
        layers,
        [
            [boxes[a], *(lanes[row] for row in sorted(lanes)), boxes[b]]
            for (a, b), lanes in passed.items()
        ],
    )
    routes = _routes(picture, ends, boxes, layers)
    return GraphLayout(
        width=width,
        height=height,
        boxes={key: box for key, box in boxes.items() if key not in ghosts},
        routes=tuple(routes),
        ghosts={key: (boxes[key], target) for key, target in ghosts.items()},
    )


def _ranks(picture: GraphPicture) -> dict[str, int]:
    """Return each node's layer: the length of the longest path from the root."""
    following = picture.following()
    waiting = {node.id: 0 for node in picture.nodes}
    for edge in picture.edges:
        waiting[edge.target] += 1
    ranks = {node.id: 0 for node in picture.nodes}
    ready = [id for id, count in waiting.items() if not count]
    while ready:
        id = ready.pop()
        for edge in following[id]:
            ranks[edge.target] = max(ranks[edge.target], ranks[id] + 1)
            waiting[edge.target] -= 1
            if not waiting[edge.target]:
                ready.append(edge.target)
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


def _port_counts(picture: GraphPicture, ends: list[str]) -> dict[str, int]:
    leaving: dict[str, int] = {}
    arriving: dict[str, int] = {}
    for edge, end in zip(picture.edges, ends, strict=True):
        leaving[edge.source] = leaving.get(edge.source, 0) + 1
        arriving[end] = arriving.get(end, 0) + 1
    return {key: max(leaving.get(key, 0), arriving.get(key, 0)) for key in {**leaving, **arriving}}


def _routes(
    picture: GraphPicture, ends: list[str], boxes: dict[str, Box], layers: Layers
) -> list[Route]:
    """Return a route for each edge; edges at one side of a box are spread."""
    leaving: dict[str, list[int]] = {}
    arriving: dict[str, list[int]] = {}
    lanes = []
    for number, (edge, end) in enumerate(zip(picture.edges, ends, strict=True)):
        passed = layers.lanes.get((edge.source, end), {})
        lanes.append([passed[row] for row in sorted(passed)])
        leaving.setdefault(edge.source, []).append(number)
        arriving.setdefault(end, []).append(number)
    first = {n: (lanes[n][0] if lanes[n] else boxes[ends[n]]).x for n in range(len(ends))}
    last = {
        n: (lanes[n][-1] if lanes[n] else boxes[picture.edges[n].source]).x
        for n in range(len(ends))
    }
    starts = _ports(leaving, boxes, key=lambda n: (first[n], picture.edges[n].slot))
    stops = _ports(arriving, boxes, key=lambda n: (last[n], starts[n]))
    heights = [(min(box.top for box in row), max(box.bottom for box in row)) for row in layers.rows]
    routes = []
    for number, (edge, end) in enumerate(zip(picture.edges, ends, strict=True)):
        source, target = boxes[edge.source], boxes[end]
        points = [
            (starts[number], source.bottom),
            (starts[number], heights[layers.row_of[edge.source]][1]),
        ]
        for row in sorted(layers.lanes.get((edge.source, end), {})):
            lane = layers.lanes[edge.source, end][row]
            points += [(lane.x, heights[row][0]), (lane.x, heights[row][1])]
        points += [(stops[number], heights[layers.row_of[end]][0]), (stops[number], target.top)]
        routes.append(
            Route(
                edge, tuple(points), end if end not in {node.id for node in picture.nodes} else None
            )
        )
    return routes


def _ports(at: dict[str, list[int]], boxes: dict[str, Box], key: Any) -> dict[int, float]:
    """Return the x coordinate at which each edge meets its box, evenly spread over the side."""
    found = {}
    for name, numbers in at.items():
        box = boxes[name]
        step = min(box.width / len(numbers), 2 * PORT)
        for place, number in enumerate(sorted(numbers, key=key)):
            found[number] = box.x + (place - (len(numbers) - 1) / 2) * step
    return found
