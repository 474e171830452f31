"""Functions written as text, and finite differences."""

import pytest
import torch

from grader.judge.describe import describe
from grader.judge.formulas import differences, error_panel, formula
from grader.judge.random_inputs import RandomInputs

X = torch.tensor([1.0, 2.0], dtype=torch.float64)


def test_a_formula_has_parameters_and_is_shown() -> None:
    f = formula("(x * w).sum() + y", "x y", w=torch.tensor([10.0, 1.0], dtype=torch.float64))
    assert f(X, torch.tensor(0.5)) == 12.5
    assert describe(f) == {"other": "(x * w).sum() + y"}


def test_a_drawn_formula_has_numbers() -> None:
    f = RandomInputs(3).formula("{a} * x", "x ** {b}")
    assert "{" not in str(describe(f)["other"])
    assert f(X).shape == (2,)


@pytest.mark.parametrize(
    ("behind", "ahead", "slopes"),
    [(0.0, 0.5, [2.5, 4.5]), (0.5, 0.0, [1.5, 3.5]), (0.5, 0.5, [2.0, 4.0])],
)
def test_differences_are_slopes_over_the_step(
    behind: float, ahead: float, slopes: list[float]
) -> None:
    found = differences(lambda x: x**2, X, behind, ahead)
    assert torch.equal(found, torch.diag(torch.tensor(slopes, dtype=X.dtype)))


@pytest.mark.parametrize(("shape", "jacobian"), [((), (1, 1)), ((0,), (0, 0)), ((2, 0), (0, 0))])
def test_numbers_and_empty_tensors_have_differences(
    shape: tuple[int, ...], jacobian: tuple[int, int]
) -> None:
    assert differences(lambda x: x * 2, torch.ones(shape), 1.0, 1.0).shape == jacobian


def test_a_result_of_another_shape_is_not_drawn() -> None:
    drawn = error_panel(
        "", lambda step: torch.zeros(3), lambda step: (step,), lambda step: X + step, X, x="h"
    )
    truth, yours = drawn.series
    assert set(yours.y) == {None}
    assert truth.y[0] == pytest.approx(0.1)
