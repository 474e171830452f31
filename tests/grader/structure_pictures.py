"""Draw the engine's packages and processes for ``grader/docs/engine.md``.

The packages' arrows are read from the source by grimp, and what follows from others is left out.
``python tests/grader/structure_pictures.py`` writes both files; ``make pictures`` does, too.
"""

from __future__ import annotations

import itertools
import re
from pathlib import Path

import grimp

from grader.core.pictures import GraphEdge, GraphNode, GraphPicture
from grader.render.graph.draw import draw_svg

PICTURES = Path(__file__).resolve().parents[2] / "grader" / "docs" / "pictures"
DESCRIPTION = re.compile(r"<desc>.*?</desc>\n", re.DOTALL)
PURPOSE = {
    "cli": "commands",
    "classroom": "batches, gradebook",
    "verify": "proof of a course",
    "runtime": "fork server",
    "render": "terminal, pages, graphs",
    "authoring": "what checks import",
    "judge": "checks, diagnosis",
    "worker": "wire, sandbox",
    "course": "lessons, submissions",
    "core": "data that all share",
}
PROCESSES = {
    "supervisor": "moves files, writes reports",
    "text process": "reads a class's texts",
    "torch process": "imports torch once",
    "fork server": "template of the workers",
    "lesson starter": "imports pytest once",
    "lesson server": "keeps a judge",
    "judge": "checks, draws, decides",
    "worker": "the student's file, confined",
}
STARTS = [
    ("supervisor", "text process"), ("supervisor", "torch process"),
    ("torch process", "fork server"), ("fork server", "lesson starter"),
    ("lesson starter", "lesson server"), ("lesson server", "judge"),
    ("fork server", "worker"), ("judge", "worker"),
]  # fmt: skip


def imports() -> list[tuple[str, str]]:
    """Return which package imports which, without what other arrows already say."""
    graph = grimp.build_graph("grader", exclude_type_checking_imports=True)
    found = {name: set[str]() for name in PURPOSE}
    for module in graph.modules:
        for other in graph.find_modules_directly_imported_by(module):
            source, target = package(module), package(other)
            if source in found and target in found and source != target:
                found[source].add(target)
    below = {name: reached(found, name) for name in PURPOSE}
    return [
        (name, other)
        for name, others in found.items()
        for other in sorted(others)
        if not any(other in below[between] for between in others)
    ]


def package(module: str) -> str:
    return (*module.split("."), "")[1]


def reached(found: dict[str, set[str]], name: str) -> set[str]:
    """Return what a package imports, directly or through others."""
    return found[name].union(*(reached(found, other) for other in found[name]))


def drawn(boxes: dict[str, str], arrows: list[tuple[str, str]], title: str) -> str:
    """Return a picture with a box for each name; the first box is the root."""
    counts = itertools.count()
    nodes = tuple(GraphNode(name, "op", type=name, shape=what) for name, what in boxes.items())
    edges = tuple(GraphEdge(source, target, slot=next(counts)) for source, target in arrows)
    svg = draw_svg(GraphPicture(nodes, edges), title=title, own_style=True)
    return f"{DESCRIPTION.sub('', svg)}\n"


def pictures() -> dict[str, str]:
    """Return each file's name and content."""
    return {
        "packages.svg": drawn(PURPOSE, imports(), "The packages, and which imports which"),
        "processes.svg": drawn(PROCESSES, STARTS, "The processes: who starts or asks whom"),
    }


def main() -> None:
    for name, text in pictures().items():
        (PICTURES / name).write_text(text, "utf-8", newline="\n")


if __name__ == "__main__":
    main()
