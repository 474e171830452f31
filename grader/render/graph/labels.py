"""Texts of a picture, shared by tree and SVG."""

from __future__ import annotations

from collections.abc import Sequence

from grader.core.i18n import Catalogue
from grader.core.pictures import GraphEdge, GraphNode, GraphPicture, Saved


def node_label(node: GraphNode, tr: Catalogue) -> str:
    if node.label:
        return node.label
    return tr("leaf") if node.kind == "leaf" else tr("constant")


def saved_words(node: GraphNode, tr: Catalogue) -> list[tuple[str, bool]]:
    """Return what a node saves for backward, in words, and whether it is freed; two entries at
    most.
    """
    return [(tr(word, names=names), freed) for word, names, freed in _saved(node.saved)]


def _saved(saved: tuple[Saved, ...]) -> list[tuple[str, str, bool]]:
    kept = ", ".join(one.name for one in saved if not one.freed)
    freed = ", ".join(one.name for one in saved if one.freed)
    found = [("keeps {names}", kept, False)] if kept else []
    return [*found, ("freed: {names}", freed, True)] if freed else found


def named_constant(node: GraphNode) -> bool:
    return node.kind == "constant" and bool(node.name)


def badges(node: GraphNode, tr: Catalogue) -> list[str]:
    """Return remarks on a node, such as ``2 hooks``, ``retains grad`` or ``+ 3 not drawn``."""
    found = [tr("constant: no grad_fn, no requires_grad")] if named_constant(node) else []
    if node.hooks:
        found.append(tr("1 hook") if node.hooks == 1 else tr("{count} hooks", count=node.hooks))
    if node.retains_grad:
        found.append(tr("retains grad"))
    if node.cut:
        found.append(tr("+ {count} not drawn", count=node.cut))
    return found


def legend(pictures: Sequence[GraphPicture], tr: Catalogue) -> list[tuple[str, str]]:
    """Return the meaning of each mark in these graphs: the mark and a sentence."""
    nodes = [node for picture in pictures for node in picture.nodes]
    saved = [one for node in nodes for one in node.saved]
    known = [
        (
            any(node.kind in ("op", "intermediate") for node in nodes),
            "…Backward",
            tr("the grad_fn of an operation; what it used is below"),
        ),
        (
            any(node.kind == "leaf" for node in nodes),
            tr("leaf"),
            tr("requires_grad, no grad_fn: its gradient goes into .grad"),
        ),
        (
            any(node.kind == "constant" for node in nodes),
            tr("constant"),
            tr("no requires_grad, no grad_fn: no gradient goes there"),
        ),
        (
            any(not one.freed for one in saved),
            tr("keeps {names}", names="…"),
            tr("tensors that are saved for backward"),
        ),
        (
            any(one.freed for one in saved),
            tr("freed: {names}", names="…"),
            tr("saved tensors that a backward pass has freed"),
        ),
        (any(node.hooks for node in nodes), "hook", tr("a function that sees the gradient here")),
        (
            any(node.retains_grad for node in nodes),
            tr("retains grad"),
            tr(".grad is kept here, though this is not a leaf"),
        ),
        (
            any(_has_repeats(picture) for picture in pictures),
            tr("as above"),
            tr("a node that several operations use is drawn once"),
        ),
    ]
    return [(mark, meaning) for there, mark, meaning in known if there]


def _has_repeats(picture: GraphPicture) -> bool:
    """Return whether a tree of this graph says "as above": a node with inputs is reached twice."""
    reached = [edge.target for edge in picture.edges]
    return any(picture.following()[id] for id in reached if reached.count(id) > 1)


def output_of(edge: GraphEdge, target: GraphNode, tr: Catalogue) -> str:
    """Return which output of its target an edge belongs to, if there are several."""
    return tr("output {number}", number=edge.output) if target.outputs > 1 or edge.output else ""
