"""Draw a check's random inputs: everything from one seed, nothing from torch's global generator.

Numbers have two decimals and stay away from zero, so that messages are short and no kink is hit by
accident; ``digits=None`` gives all decimals. ``Seeds`` has the seeds of a submission's checks.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
from torch import Tensor

from grader.core.errors import Facts
from grader.judge.formulas import formula
from grader.judge.graphs import Graph
from grader.judge.misuse import misuse
from grader.worker.wire.program import Program, program

T = TypeVar("T")


BEYOND = 0.07
"""How far beyond ``avoid`` a number is moved that was too close to zero."""


class RandomInputs:
    """One check's source of randomness."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self._random = random.Random(seed)
        self._generator = torch.Generator()
        self._generator.manual_seed(self._random.getrandbits(62))
        self.named: Facts = {}
        """The inputs that a failure shows, unless it says itself which."""

    def given(self, **inputs: Any) -> Any:
        """Name a check's inputs where they are drawn, so that a failure shows them. Return them:
        one by itself, several as a tuple. The next call names others instead.

        >>> draw = RandomInputs(1)
        >>> x, v = draw.given(x=draw.tensor(3), v=draw.tensor(3))
        >>> list(draw.named)
        ['x', 'v']
        """
        self.named = inputs
        values = tuple(inputs.values())
        return values[0] if len(values) == 1 else values

    def integer(self, low: int, high: int) -> int:
        """Return a whole number from ``low`` to ``high``, both included."""
        return self._random.randint(low, high)

    def choice(self, items: Sequence[T]) -> T:
        return self._random.choice(items)

    def sample(self, items: Sequence[T], count: int) -> list[T]:
        return self._random.sample(items, count)

    def number(self, low: float = -2.0, high: float = 2.0, *, digits: int | None = 2) -> float:
        """Return a float between ``low`` and ``high``, at least 0.1 away from zero."""
        return float(self.tensor(low=low, high=high, digits=digits))

    def tensor(
        self,
        *shape: int,
        dtype: torch.dtype = torch.float64,
        low: float = -2.0,
        high: float = 2.0,
        requires_grad: bool = False,
        digits: int | None = 2,
        avoid: float = 0.1,
    ) -> Tensor:
        """Return a tensor of ``shape`` (none: 0-d), uniform between ``low`` and ``high``, each
        element at least ``avoid`` from zero. Several elements do not add up to 0 by chance. Raise
        ValueError if the range has no room for that.
        """
        refuse_without_room(low, high, avoid, digits)
        if not all(isinstance(size, int) for size in shape):
            raise misuse(f"sizes are given one by one: tensor(3, 4), not tensor({shape[0]})")
        values = (
            torch.rand(shape, generator=self._generator, dtype=torch.float64) * (high - low) + low
        )
        if digits is not None:
            values = (values * 10**digits).round() / 10**digits
        if avoid and low < avoid and high > -avoid:
            away = torch.full_like(values, avoid + BEYOND)
            if digits is None:  # no two elements are equal by chance
                away = values.abs() + avoid
            if low < 0:
                away[values < 0 if high > avoid else ...] *= -1
            values = torch.where(values.abs() < avoid, away, values)
        if values.numel() > 1 and low < high and abs(float(values.sum())) < 1e-9:
            values = self.tensor(*shape, low=low, high=high, digits=digits, avoid=avoid)
        return values.to(dtype).requires_grad_(requires_grad)

    def integers(self, *shape: int, low: int = -4, high: int = 4) -> Tensor:
        return torch.randint(low, high + 1, shape, generator=self._generator)

    def shape(self, *, dims: int | None = None, most: int = 4) -> tuple[int, ...]:
        """Return a shape of one to three dimensions, each between 2 and ``most``."""
        return tuple(self.integer(2, most) for _ in range(dims or self.integer(1, 3)))

    def shapes(self, most: int = 2400) -> list[tuple[int, ...]]:
        """Return shapes to test a function that must accept any: 0-d, one element, a matrix, three
        dimensions, and five dimensions with at most ``most`` elements; the sizes are random.

        Ask for fewer elements where a right answer may take one backward pass for each.
        """
        five = self.sample([1, 2, 2, 3, self.integer(most // 40, most // 12)], 5)
        return [(), (1,), self.shape(dims=2, most=9), self.shape(dims=3), tuple(five)]

    def noncontiguous(self, rows: int = 3, columns: int = 4, **options: Any) -> Tensor:
        """Return a leaf with transposed strides and an offset; options as for ``tensor``."""
        requires_grad = options.pop("requires_grad", False)
        wide = self.tensor(columns + 2, rows, **options)
        return wide[1 : columns + 1].t().detach().requires_grad_(requires_grad)

    def coefficients(self, count: int, *, low: float = 0.3, high: float = 1.5) -> list[float]:
        return [round(self._random.uniform(low, high), 2) for _ in range(count)]

    def formula(self, *texts: str, inputs: str = "x") -> Program:
        """Return the function that one of these texts says (``formulas.formula``), with positive
        numbers for {a}, {b} and {c}.
        """
        a, b, c = self.coefficients(3, low=0.4, high=1.2)
        return formula(self.choice(texts).format(a=a, b=b, c=c), inputs)

    def elementwise(self) -> Program:
        """Return a smooth elementwise function of one tensor; derivatives are modest on [-2, 2]."""
        a, b, c, d = self.coefficients(4)
        forms = [
            lambda x: (x * a).sin() + x**3 * b,
            lambda x: (x * a).exp() * b + x**2 * c,
            lambda x: x**4 * a - x**2 * b + x * c,
            lambda x: (x * a).tanh() * b + (x * c).cos(),
            lambda x: (x**2 * a + (b + 1.0)).log() + x**3 * c,
            lambda x: (x * a).sin() * (x * b).exp() + x * d,
            lambda x: (x**2 + (a + 1.0)).sqrt() * b + x**3 * c,
        ]
        return program(self.choice(forms))

    def graph(self, *lines: str, **inputs: Tensor) -> Graph:
        """Return a graph that is written as PyTorch: ``draw.graph("y = 3 * x", "z = y.exp()",
        x=x)``.
        """
        return Graph("\n".join(lines), inputs)

    def scalar_function(self, size: int) -> Program:
        """Return a smooth function of a vector to a scalar, with mixed second derivatives."""
        a, b, c = self.coefficients(3)
        weights = self.tensor(size, size, low=-1.0, high=1.0)
        forms = [
            lambda x, w: ((w @ x) * a).sin().sum() + (x**3).sum() * b,
            lambda x, w: (x * (w @ x)).sum() * a + (x * b).exp().sum(),
            lambda x, w: ((w @ x) ** 2).sum() * a + (x.prod()) * c,
            lambda x, w: ((w @ x) * b).tanh().sum() * a + (x**4).sum() * c,
        ]
        return program(self.choice(forms), parameters=[weights])


def refuse_without_room(low: float, high: float, avoid: float, digits: int | None) -> None:
    """Raise ValueError if values that are moved away from zero would leave the range."""
    if not (avoid and low < avoid and high > -avoid):
        return
    least = avoid + (avoid if digits is None else BEYOND)
    up, down = high > avoid or low >= 0, low < 0
    if (up and high < least) or (down and low > -least):
        raise ValueError(
            f"between {low:g} and {high:g} there is no room for numbers at least {avoid:g} away"
            " from zero; give avoid=0"
        )


@dataclass(frozen=True, slots=True)
class Seeds:
    """The seed of a run. A check's seed is in ``by_check``, or else derived from it."""

    run: int
    by_check: Mapping[str, int] = field(default_factory=dict)

    def of(self, check_id: str) -> int:
        return self.by_check.get(check_id, check_seed(self.run, check_id))


def check_seed(seed: int, check_id: str) -> int:
    """Return a check's seed: 32 bits of a hash of the run's seed and the check's id."""
    return int.from_bytes(hashlib.sha256(f"{seed}:{check_id}".encode()).digest()[:4], "big")
