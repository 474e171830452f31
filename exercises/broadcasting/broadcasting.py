"""broadcasting: sum a gradient back to the shape of an input that was
broadcast.

Run `grade broadcasting` to check your work, `grade hint broadcasting` for a
hint. What holds in every lesson is in ../README.md.
"""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.autograd import Function


def sum_to(gradient: Tensor, shape: Sequence[int]) -> Tensor:
    """Return the gradient of a tensor that was broadcast from shape.

    gradient is the gradient with respect to the broadcast tensor. Sum over
    the dimensions along which broadcasting repeated elements, and no others.

    shape is a tuple or a torch.Size that broadcasts to gradient.shape.
    """
    raise NotImplementedError


class Scale(Function):
    """The product row * matrix, which broadcasts.

    row has the shape (n,) or (1, n), and matrix has the shape (m, n) or
    (m, 1).
    """

    @staticmethod
    def forward(ctx, row: Tensor, matrix: Tensor) -> Tensor:
        """Return row * matrix.

        Save what backward needs with ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to row and matrix as a tuple.

        backward itself sums each gradient to the shape of its input.
        """
        raise NotImplementedError


class Affine(Function):
    """The layer x @ w.T + b with any number of batch dimensions.

    x has the shape (..., n), w has the shape (m, n), and b has the shape (m,).
    x may have no batch dimension: the shape (n,).
    """

    @staticmethod
    def forward(ctx, x: Tensor, w: Tensor, b: Tensor) -> Tensor:
        """Return x @ w.T + b, of the shape (..., m).

        Save what backward needs with ctx.save_for_backward.
        """
        raise NotImplementedError

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients with respect to x, w and b as a tuple.

        Compute only those that ctx.needs_input_grad asks for; the others are
        None. backward itself sums each gradient to the shape of its input.
        """
        raise NotImplementedError


def einsum_gradients(
    equation: str, a: Tensor, b: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """Bonus: return the gradients of torch.einsum(equation, a, b) with respect
    to a and b, as a tuple; gradient is that with respect to its result.

    The equation looks like "ij,jk->ik": two operands and a result. No letter
    occurs twice within one of the three. A letter that only one operand has
    may be missing in the result.
    """
    raise NotImplementedError
