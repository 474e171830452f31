"""A check's random inputs have few digits, are not near zero, and give tensors that differ in
value.
"""

from __future__ import annotations

import contextlib
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from grader.judge.random_inputs import RandomInputs

SEEDS = range(40)


@pytest.mark.parametrize("digits", [2, None])
def test_no_element_lies_near_zero(digits: int | None) -> None:
    """This holds on both sides of zero, and at the bounds if they leave room."""
    for seed in SEEDS:
        values = RandomInputs(seed).tensor(50, low=-0.3, high=0.3, digits=digits)
        assert float(values.abs().min()) >= 0.1
        assert float(values.abs().max()) <= 0.3
        assert (values < 0).any()
        assert (values > 0).any()


def test_numbers_of_two_digits_have_two() -> None:
    values = RandomInputs(1).tensor(200)
    assert torch.equal(values, (values * 100).round() / 100)


def test_with_all_digits_no_two_elements_are_alike() -> None:
    """Numbers moved away from zero differ too, so code that compares tensors by value gets the same
    verdict from every seed.
    """
    for seed in SEEDS:
        values = RandomInputs(seed).tensor(60, low=-0.2, high=0.2, digits=None)
        assert len(set(values.tolist())) == 60


def test_several_elements_do_not_add_up_to_zero_by_chance() -> None:
    """An answer that takes such a gradient for zeros would fail a check from some seeds only."""
    sums = [RandomInputs(seed).tensor(2, digits=1).sum() for seed in range(400)]
    assert min(map(abs, sums)) > 1e-9


@pytest.mark.parametrize(("low", "high"), [(0.0, 2.0), (-2.0, 0.0)])
def test_a_bound_at_zero_keeps_its_side(low: float, high: float) -> None:
    for seed in SEEDS:
        values = RandomInputs(seed).tensor(30, low=low, high=high, digits=None)
        assert ((values > 0) == (high > 0)).all()


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize(
    ("low", "high"), [(0.01, 0.1), (-0.1, -0.01), (-0.05, 2.0), (0.05, 0.12), (-0.05, 0.05)]
)
def test_a_range_without_room_beside_zero_is_refused(
    low: float, high: float, digits: int | None
) -> None:
    """A number moved away from zero would be greater than ``high`` or less than ``low``."""
    with pytest.raises(ValueError, match="give avoid=0"):
        RandomInputs(3).tensor(100, low=low, high=high, digits=digits)
    values = RandomInputs(3).tensor(100, low=low, high=high, digits=digits, avoid=0.0)
    assert bool(((values >= low - 0.005) & (values <= high + 0.005)).all())


@given(st.floats(-3, 3), st.floats(-3, 3), st.sampled_from([None, 2]))
def test_elements_lie_between_the_bounds(one: float, other: float, digits: int | None) -> None:
    low, high = sorted((round(one, 2), round(other, 2)))
    with contextlib.suppress(ValueError):
        values = RandomInputs(5).tensor(50, low=low, high=high, digits=digits)
        assert bool(((values >= low - 1e-9) & (values <= high + 1e-9)).all())


def test_a_draw_repeats_itself() -> None:
    first, second = (RandomInputs(7).tensor(3, 4, digits=None) for _ in range(2))
    assert torch.equal(first, second)
    assert not torch.equal(first, RandomInputs(8).tensor(3, 4, digits=None))


def test_shapes_that_stand_for_any_differ_in_dimensions_and_size() -> None:
    """A function that depends on its input's size meets sizes that its author did not see."""
    long = set()
    for seed in SEEDS:
        shapes = RandomInputs(seed).shapes()
        assert [len(shape) for shape in shapes] == [0, 1, 2, 3, 5]
        assert all(size > 0 for shape in shapes for size in shape)
        long.add(shapes[-1])
        assert math.prod(shapes[-1]) > 500
    assert len(long) > len(SEEDS) // 2
