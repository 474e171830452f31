"""A call of the student's code that the judge can differentiate, to any order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from grader.worker.wire.compat import undefined_gradient


@dataclass(slots=True)
class Call:
    """A differentiable call: its tensor inputs and outputs, in the order in which they crossed."""

    inputs: list[Tensor]
    outputs: list[Tensor]

    def product(
        self,
        incoming: Sequence[Tensor | None],
        *,
        needs: Sequence[bool],
        retain_graph: bool,
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Return the vector-Jacobian product for each input: None if it is not needed or not
        reached. ``incoming`` has a gradient, or None, for each output.

        An output without a gradient is left out, so that the Function behind it sees the same as in
        a local call. If no output has one, the graph runs with undefined gradients, as in
        gradcheck.
        """
        pairs = [
            (out, v)
            for out, v in zip(self.outputs, incoming, strict=True)
            if v is not None and out.requires_grad
        ]
        if not pairs:
            undefined = [undefined_gradient(out) for out in self.outputs if out.requires_grad]
            pairs = [(out, torch.zeros_like(out)) for out in undefined]
        wanted = [k for k, need in enumerate(needs) if need and self.inputs[k].requires_grad]
        grads: list[Tensor | None] = [None] * len(self.inputs)
        if pairs and wanted:
            found = torch.autograd.grad(
                [out for out, _ in pairs],
                [self.inputs[k] for k in wanted],
                [v for _, v in pairs],
                retain_graph=retain_graph,
                create_graph=create_graph,
                allow_unused=True,
            )
            for k, grad in zip(wanted, found, strict=True):
                grads[k] = grad
        return grads
