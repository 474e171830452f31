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
    # solution
    given = x.detach().clone().requires_grad_()
    y = op(given)
    given.detach().zero_()
    return backward_raises(y, given)
    # end solution


def saves_result(op: Callable[[Tensor], Tensor], x: Tensor) -> bool:
    """Return True if backward through op raises after op's result was written
    to in place, and False if it does not.

    op and x are as in saves_input.
    """
    # solution
    given = x.detach().clone().requires_grad_()
    y = op(given)
    y.detach().zero_()
    return backward_raises(y, given)
    # end solution


# solution
def backward_raises(y: Tensor, given: Tensor) -> bool:
    if not y.requires_grad:
        return False
    try:
        torch.autograd.grad(y.sum(), given)
    except RuntimeError:
        return True
    return False


# end solution


def watched(tensors: list[Tensor]) -> AbstractContextManager:
    """Return a context manager that raises RuntimeError at the end of its with
    block if one of the tensors was written to in place inside the block.

    A write counts whatever numbers it writes, and also if it goes through a
    view. If the block itself raises, the caller gets that exception.
    """

    # solution
    @contextmanager
    def block() -> Iterator[None]:
        before = [tensor._version for tensor in tensors]
        yield
        for place, tensor in enumerate(tensors):
            if tensor._version != before[place]:
                raise RuntimeError(f"tensor {place} was written to")

    return block()
    # end solution


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
    # solution
    y = torch.sin(x)
    y += 2
    z = torch.log(y)
    z *= 3
    w = torch.tanh(z)
    w = w + 1
    y = y - 1
    return w * y
    # end solution


class AddOne(torch.autograd.Function):
    """Add 1 to x in place: AddOne.apply(x) returns x itself.

    Afterwards x is a result of AddOne: backward from x runs AddOne.backward. x
    is not a leaf that requires grad.
    """

    @staticmethod
    def forward(ctx, x: Tensor) -> Tensor:
        """Add 1 to x in place, tell autograd with ctx.mark_dirty, return x."""
        # solution
        x.add_(1)
        ctx.mark_dirty(x)
        return x
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> Tensor:
        """Return the gradient with respect to x as it was before."""
        # solution
        return grad_output
        # end solution


def add_one_to_row(x: Tensor, k: int) -> Tensor:
    """Add 1 to the row x[k] in place, by AddOne, and return x itself.

    x has at least one dimension and is not a leaf that requires grad. k may be
    negative: x[-1] is the last row. Backward from x runs AddOne.backward for
    the row k only.
    """
    # solution
    AddOne.apply(x[k])
    return x
    # end solution
