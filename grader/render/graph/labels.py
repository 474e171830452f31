"""The words of a picture, the same in a tree and in SVG."""

from __future__ import annotations

from grader.core.graph_data import GraphEdge, GraphNode, Saved
from grader.core.i18n import Catalogue


def label_of(node: GraphNode, tr: Catalogue) -> str:
    if node.label:
        return node.label
    return tr("leaf") if node.kind == "leaf" else tr("no gradient")


def saved_words(node: GraphNode, tr: Catalogue) -> list[tuple[str, bool]]:
    """What a node keeps for backward, in words, and whether that is freed; two entries at most."""
    return [(tr(word, names=names), freed) for word, names, freed in _saved(node.saved)]


def _saved(saved: tuple[Saved, ...]) -> list[tuple[str, str, bool]]:
    kept = ", ".join(one.name for one in saved if not one.freed)
    freed = ", ".join(one.name for one in saved if one.freed)
    found = [("keeps {names}", kept, False)] if kept else []
    return [*found, ("freed: {names}", freed, True)] if freed else found


def badges(node: GraphNode, tr: Catalogue) -> list[str]:
    """Return ``2 hooks``, ``retains grad``, what is left out; or that it is a constant."""
    found = [tr("no gradient")] if node.kind == "constant" and node.name else []
    if node.hooks:
        found.append(tr("1 hook") if node.hooks == 1 else tr("{count} hooks", count=node.hooks))
    if node.retains_grad:
        found.append(tr("retains grad"))
    if node.cut:
        found.append(tr("+ {count} not drawn", count=node.cut))
    return found


def output_of(edge: GraphEdge, target: GraphNode, tr: Catalogue) -> str:
    """Which output of its target an edge belongs to, where there is more than one."""
    return tr("output {number}", number=edge.output) if target.outputs > 1 or edge.output else ""
