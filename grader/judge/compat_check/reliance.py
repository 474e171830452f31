"""A thing that no version of a library promises, and what the experiments on such things share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function

from grader.worker.wire.compat import keeps_graph


@dataclass(frozen=True, slots=True)
class Reliance:
    """What is needed of a library, what breaks without it, and the experiment that shows it."""

    library: str
    need: str
    loss: str
    experiment: Callable[[], bool]

    def holds(self) -> bool:
        try:
            return self.experiment()
        except Exception:  # whatever another version does instead
            return False

    def sentence(self) -> str:
        """Return what the installed version lacks and what that breaks."""
        return f"{self.library} {version(self.library)} lacks {self.need}, so {self.loss}"


def relies(library: str, need: str, *, loss: str) -> Callable[[Callable[[], bool]], Reliance]:
    """Make a Reliance of an experiment. ``need`` completes "torch 2.13 lacks …, so {loss}"."""
    return lambda experiment: Reliance(library, need, loss, experiment)


def leaf(*values: float) -> Tensor:
    """Return a float64 leaf that requires grad."""
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


def message_of(call: Callable[[], object]) -> str:
    """Return what a call's RuntimeError says, or an empty string if it raises none."""
    try:
        call()
    except RuntimeError as error:
        return str(error)
    return ""


@dataclass(slots=True)
class Probe:
    """A custom Function that doubles its input and records what is asked of it."""

    factor: float = 2.0
    """By what backward multiplies; anything but 2 is wrong."""
    inputs: list[Tensor] = field(default_factory=list)
    gradients: list[Tensor | None] = field(default_factory=list)
    kept: list[bool] = field(default_factory=list)
    """For each backward pass, whether it kept its graph."""

    def __call__(self, x: Tensor) -> Tensor:
        probe = self

        class Doubling(Function):
            @staticmethod
            def forward(ctx: Any, x: Tensor) -> Tensor:
                ctx.set_materialize_grads(False)
                probe.inputs.append(x.detach().clone())
                return 2 * x

            @staticmethod
            def backward(ctx: Any, *grads: Any) -> Any:
                (gradient,) = grads
                probe.gradients.append(gradient if gradient is None else gradient.detach().clone())
                probe.kept.append(keeps_graph())
                return None if gradient is None else probe.factor * gradient

        result: Tensor = Doubling.apply(x)  # type: ignore[no-untyped-call]
        return result
