"""Read the graph behind a tensor as plain data, for ``core.pictures.GraphPicture.from_json``.

Both sides of the border and ``grader.draw`` use this one walk. It reads nodes, edges, saved tensors
and hooks, runs nothing, changes nothing, and never raises for a freed graph. Names of types and
variables are returned unchanged; the reader cleans them.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor

from grader.worker.wire import compat

MAX_TRACED_NODES = 200
MAX_COUNTED = 20_000
"""How many further nodes are counted before the count stops."""


def trace(
    tensor: Tensor, names: Mapping[str, Any] | None = None, *, limit: int = MAX_TRACED_NODES
) -> dict[str, object]:
    """Return the graph behind ``tensor``, up to its nearest ``limit`` nodes. ``names`` maps names
    to tensors; other values in it are ignored.

    Nodes are numbered breadth-first from the root, ``n0``, so that equal graphs have equal numbers.
    """
    named = {name: value for name, value in (names or {}).items() if isinstance(value, Tensor)}
    if tensor.grad_fn is None:
        labels = [name for name, value in named.items() if value is tensor]
        kind = "leaf" if tensor.requires_grad else "constant"
        node = bare_node("n0", kind, ", ".join(labels), shape_of(tensor), hooks_on(tensor))
        return {"nodes": [node], "edges": [], "left_out": 0, "root_output": 0}
    return _Walk(tensor, named, limit).data()


class _Walk:
    """One walk over a graph. It keeps the nodes, because torch would create new ones otherwise."""

    def __init__(self, root: Tensor, named: dict[str, Tensor], limit: int) -> None:
        self.root = root
        self.limit = limit
        self.results: dict[Any, list[tuple[str, Tensor]]] = {}
        self.leaves: list[tuple[str, Tensor]] = []
        for name, value in named.items():
            if value.grad_fn is None:
                self.leaves.append((name, value))
            else:
                self.results.setdefault(value.grad_fn, []).append((name, value))
        self.seen: dict[Any, int] = {}
        self.nodes: list[dict[str, Any]] = []
        self.edges: list[dict[str, str | int]] = []
        self.left_out = 0

    def data(self) -> dict[str, object]:
        self.reach(self.root.grad_fn)
        order = deque([self.root.grad_fn])
        while order:
            node = order.popleft()
            order.extend(self.follow(node))
        return {
            "nodes": self.nodes,
            "edges": self.edges,
            "left_out": self.left_out,
            "root_output": self.root.output_nr,
        }

    def reach(self, node: Any) -> int | None:
        """Return the number of a node that is drawn, new or known; None if it is left out."""
        if node in self.seen:
            return self.seen[node] if self.seen[node] >= 0 else None
        if len(self.nodes) >= self.limit:
            self.seen[node] = -1
            self.left_out += 1
            return None
        self.seen[node] = len(self.nodes)
        self.nodes.append(self.described(node, f"n{len(self.nodes)}"))
        return self.seen[node]

    def follow(self, node: Any) -> list[Any]:
        new, number = [], self.seen[node]
        for slot, (target, output) in enumerate(node.next_functions):
            known = target in self.seen
            if target is None:
                end = self.constant()
            elif not known and len(self.seen) >= MAX_COUNTED:
                end = None
            else:
                end = self.reach(target)
                if not known:
                    new.append(target)
            if number < 0:
                continue
            if end is None:
                self.nodes[number]["cut"] += 1
            else:
                self.edges.append(
                    {"source": f"n{number}", "target": f"n{end}", "output": output, "slot": slot}
                )
        return new

    def constant(self) -> int | None:
        """Return a new node for an input that needs no gradient; None if there is no room."""
        if len(self.nodes) >= self.limit:
            return None
        self.nodes.append(bare_node(f"n{len(self.nodes)}", "constant"))
        return len(self.nodes) - 1

    def described(self, node: Any, key: str) -> dict[str, Any]:
        variable, shapes = compat.leaf_of(node), shapes_of(node)
        if isinstance(variable, Tensor):
            tensors = [(name, value) for name, value in self.leaves if value is variable]
            facts = {
                "kind": "leaf",
                "shape": shape_of(variable),
                "hooks": hooks_on(variable),
                "retains_grad": False,
                "outputs": 1,
            }
        else:
            tensors = self.results.get(node, [])
            owners = {id(value): value for _, value in tensors}
            if self.root.grad_fn is node:
                owners[id(self.root)] = self.root
            facts = {
                "kind": "intermediate" if tensors else "op",
                "shape": shapes[0] if len(shapes) == 1 else "",
                "hooks": sum(hooks_on(value) for value in owners.values()),
                "retains_grad": any(value.retains_grad for value in owners.values()),
                "outputs": max(1, len(shapes)),
            }
        labels = [
            name if len(shapes) < 2 else f"{name} ({value.output_nr})" for name, value in tensors
        ]
        return {
            "id": key,
            "type": type(node).__name__,
            "name": ", ".join(labels),
            "saved": saved_in(node),
            "cut": 0,
            **facts,
        }


def bare_node(
    id: str, kind: str, name: str = "", shape: str = "", hooks: int = 0
) -> dict[str, str | int]:
    """Return a node that torch has none of: a leaf or a constant by itself."""
    return {"id": id, "kind": kind, "type": "", "name": name, "shape": shape, "hooks": hooks}


def shape_of(tensor: Any) -> str:
    """Return ``float32 (2, 3)`` of a tensor, or of what a node knows about one."""
    return f"{str(tensor.dtype).removeprefix('torch.')} {tuple(tensor.shape)}"


def shapes_of(node: Any) -> list[str]:
    try:
        return [shape_of(one) for one in compat.output_metadata(node)]
    except (AttributeError, RuntimeError, TypeError):
        return []


def hooks_on(tensor: Tensor) -> int:
    """Return how many Python hooks a tensor has, for its gradient and for its accumulation."""
    return sum(len(hooks) for hooks in compat.hooks_of(tensor) if hooks)


def saved_in(node: Any) -> list[dict[str, str | bool]]:
    """Return what a node saves: name, shape (if it was read), whether it is freed."""
    found = []
    for name in compat.saved_names(node):
        if name == "tensors" and hasattr(type(node), "save_for_backward"):
            found += _saved_by_context(node)
            continue
        try:
            shape = ""
            if compat.has_no_unpack_hook(compat.raw_saved(node, name)):
                value = compat.saved(node, name)
                if value is None:
                    continue
                shape = shape_of(value) if isinstance(value, Tensor) else ""
            found.append({"name": name, "shape": shape, "freed": False})
        except RuntimeError as error:
            if compat.FREED in str(error):
                found.append({"name": name, "shape": "", "freed": True})
    return found


def _saved_by_context(node: Any) -> list[dict[str, str | bool]]:
    """Return what ``ctx.save_for_backward`` kept; its tensors have no names."""
    try:
        kept = compat.raw_saved(node, "tensors")
        if not all(map(compat.has_no_unpack_hook, kept)):
            return [{"name": f"tensor {k}", "shape": "", "freed": False} for k in range(len(kept))]
        values = node.saved_tensors
        return [
            {"name": f"tensor {k}", "shape": shape_of(v), "freed": False}
            for k, v in enumerate(values)
            if isinstance(v, torch.Tensor)
        ]
    except RuntimeError:
        return [{"name": "tensors", "shape": "", "freed": True}]
