"""A write into a tensor is detected, however the write was done."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from grader.worker.process import Before

NAN = float("nan")


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.data.add_(1),
        lambda x: x.detach().clamp_(max=1.5),
        lambda x: x.detach().numpy().fill(7.0),
        lambda x: x.data.fill_(NAN),
        lambda x: x.data.add_(0),
    ],
)
def test_a_write_is_noticed(write: Callable[[Tensor], object]) -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    before = Before(x)
    write(x)
    changed = not torch.equal(x, torch.tensor([1.0, 2.0, 3.0]))
    assert before.differs(x) is changed


def test_contents_of_another_shape_are_not_copied_back() -> None:
    x = torch.tensor([1.0, 2.0, 3.0])
    before = Before(x)
    x.data = torch.ones(2)
    assert not before.differs(x)


@pytest.mark.parametrize(
    "x",
    [
        torch.tensor([1.0, NAN, float("inf"), -0.0]),
        torch.tensor([], dtype=torch.float64),
        torch.tensor(2),
        torch.tensor(3.0).expand(2, 3),
        torch.tensor([True, False]),
        torch.ones(2, 3, requires_grad=True).t(),
    ],
)
def test_what_was_only_read_is_as_it_was(x: Tensor) -> None:
    before = Before(x)
    assert (x * 2).shape == x.shape
    assert not before.differs(x)
