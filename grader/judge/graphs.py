"""A graph that a check draws, written once, as PyTorch: text that a failure shows, tensors here and
beside the student's code, and a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from types import SimpleNamespace
from typing import Any

import torch
from torch import Tensor

from grader.core.pictures import GraphFigure
from grader.judge.figures import graph_figure
from grader.worker.wire.program import Program, program


@dataclass(frozen=True)
class Graph:
    """Assignments, one a line, and the tensors that they begin with, by name. The last tensor that
    is assigned is the root. A name is assigned once.

    Allowed is what a ``program`` may do, also written as ``torch.exp(x)``, ``torch.cat([x, y])``,
    and the custom Functions ``Cube.apply(x)`` and ``Blend.apply(x, y)``.

    >>> import torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> g = Graph("y = 3 * x\\nz = torch.exp(y)", {"x": x})
    >>> g.lines
    {'y': '3 * x', 'z': 'torch.exp(y)'}
    >>> [*g.tensors()]
    ['x', 'y', 'z']
    """

    text: str
    inputs: dict[str, Tensor]

    @cached_property
    def lines(self) -> dict[str, str]:
        """What is assigned to each name, or to several (``"p, q"``)."""
        return dict(line.split(" = ", 1) for line in self.text.split("\n"))

    @property
    def formulas(self) -> str:
        """What is assigned, in one line, as a failure shows it."""
        return self.text.replace("\n", ", ")

    @property
    def names(self) -> list[str]:
        """The names of all tensors, the inputs first."""
        return [*self.inputs, *(name for part in self.lines for name in part.split(", "))]

    @cached_property
    def program(self) -> Program:
        """The function of the inputs to the tensors that are assigned."""

        def run(*symbols: Any) -> tuple[Any, ...]:
            known = dict(zip(self.inputs, symbols, strict=True))
            exec(self.text, {**WORDS}, known)
            return tuple(known[name] for name in self.names[len(self.inputs) :])

        return program(run, inputs=len(self.inputs))

    def tensors(self, student: Any = None) -> dict[str, Any]:
        """Return new tensors by name: remote objects beside the student's code, or the judge's."""
        if student is None:
            inputs = [
                x.detach().clone().requires_grad_(x.requires_grad) for x in self.inputs.values()
            ]
        else:
            inputs = [student.put(x) for x in self.inputs.values()]
        return dict(zip(self.names, [*inputs, *self.program(*inputs)], strict=True))

    def gradients(
        self,
        at: str,
        v: Tensor | None = None,
        *,
        of: Sequence[str] = (),
        through: Mapping[str, Callable[[Tensor], Tensor]] | None = None,
    ) -> dict[str, Tensor]:
        """Return the true gradients of the tensor ``at`` for the incoming gradient v: at the
        inputs, or at the tensors ``of`` these names; None where nothing arrives. The gradient that
        flows through a tensor in ``through`` is replaced by what its function returns.
        """
        tensors = self.tensors()
        for name, change in (through or {}).items():
            tensors[name].register_hook(change)
        names = [*(of or self.inputs)]
        ends = [tensors[name] for name in names]
        found = torch.autograd.grad(tensors[at], ends, v, allow_unused=True)
        return dict(zip(names, found, strict=True))

    def root(self, inputs: Iterable[Any]) -> Any:
        """Return the root alone, computed from these inputs."""
        return replace(self.program, outputs=self.program.outputs[-1:], single=True)(*inputs)

    def figure(self, at: Any = None, retained: Iterable[str] = ()) -> GraphFigure:
        """Return the figure of the graph, in which some tensors retain their gradient, with a place
        marked: a tensor, by its name, or as in ``graph_figure``.
        """
        tensors = self.tensors()
        for name in retained:
            tensors[name].retain_grad()
        place = ("tensor", at) if isinstance(at, str) else at
        return graph_figure(tensors[self.names[-1]], tensors, place)


def copied(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_(x.requires_grad)


class _Torch:
    """Functions of torch on symbols, which have them as methods."""

    def __getattr__(self, name: str) -> Any:
        def call(first: Any, *rest: Any) -> Any:
            if isinstance(first, list | tuple):
                first, rest = first[0], (*first[1:], *rest)
            return getattr(first, name)(*rest)

        return call


WORDS = {
    "torch": _Torch(),
    "Cube": SimpleNamespace(apply=lambda x: x.cube()),
    "Blend": SimpleNamespace(apply=lambda x, y: x.blend(y)),
}
"""What the text of a graph may name besides its tensors."""
