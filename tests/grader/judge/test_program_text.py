"""A program's formula computes what the program computes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from grader.judge.describe import describe
from grader.judge.program_text import text_of
from grader.worker.wire.program import Program, program


def computed(made: Program, *tensors: torch.Tensor) -> Any:
    """Return what Python computes from the formula."""
    known: dict[str, Any] = {"cat": lambda *parts: torch.cat(parts)}
    known |= dict(zip(made.names, tensors, strict=True))
    *lines, result = text_of(made).split("; ")
    exec("\n".join(lines), known)
    return eval(result, known)


CASES: dict[str, Callable[..., Any]] = {
    "-x**2": lambda x: -(x**2),
    "(-x)**2": lambda x: (-x) ** 2,
    "(-2)**x.exp()": lambda x: (-2) ** x.exp(),
    "2**(x**2)**3": lambda x: 2 ** (x**2) ** 3,
    "(2**x)**3": lambda x: (2**x) ** 3,
    "x - (x - 1) - -x": lambda x: x - (x - 1) - -x,
    "(x + 1) * 2 + x * 3": lambda x: (x + 1) * 2 + x * 3,
    "x / (x * 2) * 3": lambda x: x / (x * 2) * 3,
    "(x + 1).exp() * 0.5": lambda x: (x + 1).exp() * 0.5,
    "(-x).sum()": lambda x: (-x).sum(),
    "cat(x, x + 1)[0]": lambda x: x.cat(x + 1)[0],
    "x.split([1, 2])[1] * 2": lambda x: x.split([1, 2])[1] * 2,
    "x.chunk(3)[0], x.chunk(3)[2]": lambda x: x.chunk(3)[::2],
    "t = x * 2; t.sum(), t * t": lambda x: ((t := x * 2).sum(), t * t),
    "u = t * 2; u * u": lambda t: (u := t * 2) * u,
    "x": lambda x: x,
}


@pytest.mark.parametrize("text", CASES)
def test_the_formula_computes_the_same(text: str) -> None:
    made, x = program(CASES[text]), torch.tensor([0.5, -1.5, 2.0])
    got, want = computed(made, x), made(x)
    pairs = [(got, want)] if made.single else zip(got, want, strict=True)
    assert all(torch.allclose(left, right, equal_nan=True) for left, right in pairs)


@pytest.mark.parametrize("text", CASES)
def test_the_formula_is_short(text: str) -> None:
    assert text_of(program(CASES[text])) == text


def test_parameters_have_the_names_of_the_function() -> None:
    made = program(lambda x, w: (x @ w).sum(), parameters=[torch.ones(2)])
    assert describe(made) == {"other": "(x @ w).sum()"}


def test_a_long_program_is_not_written_out() -> None:
    def powers(x: Any) -> Any:
        for _ in range(100):
            x = x.exp()
        return x

    assert describe(program(powers)) == {"other": "f"}
