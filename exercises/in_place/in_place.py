"""in_place: find out which tensors a graph keeps, and write to the others.

Run `grade in_place` to check your work, `grade hint in_place` for a hint. What
holds in every lesson is in ../README.md.
"""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import torch
from torch import Tensor


def saves_input(op: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Return True if backward through op raises after op's input was written
    to in place, and False if it does not.

    op takes a tensor like x and returns a new one. It may consist of several
    operations and use tensors that require grad. If the result has no graph,
    even for an input that requires grad, return False.
    """
    raise NotImplementedError


def saves_result(op: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Return True if backward through op raises after op's result was written
    to in place, and False if it does not.

    op and x are as in saves_input.
    """
    raise NotImplementedError


def watched(tensors: list[Tensor]) -> AbstractContextManager:
    """Return a context manager that raises RuntimeError at the end of its with
    block if one of the tensors was written to in place inside the block.

    A write counts whatever numbers it writes, and also if it goes through a
    view. If the block itself raises, the caller gets that exception.
    """
    raise NotImplementedError


def broken(x: Tensor) -> Tensor:
    """Compute the right values; backward raises. This function is given."""
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w += 1
    y -= 1
    return w * y


def repaired(x: Tensor) -> Tensor:
    """Return what broken(x) returns, with the right gradient.

    broken makes four new tensors of x's size: y, z, w and the result. Make six
    at most, copies included.
    """
    raise NotImplementedError


class AddOne(torch.autograd.Function):
    """Add 1 to x in place: AddOne.apply(x) returns x itself.

    Afterwards x is a result of AddOne: backward from x runs AddOne.backward. x
    is not a leaf that requires grad.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Add 1 to x in place, tell autograd with ctx.mark_dirty, return x."""
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x as it was before."""
        raise NotImplementedError


def add_one_to_row(x: Tensor, k: int) -> Tensor:
    """Add 1 to the row x[k] in place, by AddOne, and return x itself.

    x has at least one dimension and is not a leaf that requires grad. k may be
    negative: x[-1] is the last row. Backward from x runs AddOne.backward for
    the row k only.
    """
    raise NotImplementedError
