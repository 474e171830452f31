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
    # solution
    lacking = gradient.dim() - len(shape)
    repeated = [*range(lacking)]
    for dim, size in enumerate(shape, start=lacking):
        if size == 1:
            repeated.append(dim)
    if repeated:
        gradient = gradient.sum(repeated, keepdim=True)
    return gradient.reshape(shape)
    # end solution


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
        # solution
        ctx.save_for_backward(row, matrix)
        return row * matrix
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to row and matrix as a tuple.

        backward itself sums each gradient to the shape of its input.
        """
        # solution
        row, matrix = ctx.saved_tensors
        return (
            sum_to(grad_output * matrix, row.shape),
            sum_to(grad_output * row, matrix.shape),
        )
        # end solution


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
        # solution
        ctx.save_for_backward(x, w)
        return x @ w.T + b
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor | None, ...]:
        """Return the gradients with respect to x, w and b as a tuple.

        Compute only those that ctx.needs_input_grad asks for; the others are
        None. backward itself sums each gradient to the shape of its input.
        """
        # solution
        x, w = ctx.saved_tensors
        n, m = x.shape[-1], w.shape[0]
        for_x = for_w = for_b = None
        if ctx.needs_input_grad[0]:
            for_x = grad_output @ w
        if ctx.needs_input_grad[1]:
            for_w = grad_output.reshape(-1, m).T @ x.reshape(-1, n)
        if ctx.needs_input_grad[2]:
            for_b = sum_to(grad_output, (m,))
        return for_x, for_w, for_b
        # end solution


def einsum_gradients(
    equation: str, a: Tensor, b: Tensor, gradient: Tensor
) -> tuple[Tensor, Tensor]:
    """Bonus: return the gradients of torch.einsum(equation, a, b) with respect
    to a and b, as a tuple; gradient is that with respect to its result.

    The equation looks like "ij,jk->ik": two operands and a result. No letter
    occurs twice within one of the three. A letter that only one operand has
    may be missing in the result.
    """

    # solution
    def gradient_of(own: str, shape: torch.Size, letters: str, other: Tensor):
        kept = "".join(one for one in own if one in result + letters)
        found = torch.einsum(f"{result},{letters}->{kept}", gradient, other)
        for dim, letter in enumerate(own):
            if letter not in kept:  # the sum ran over it, with equal weights
                found = found.unsqueeze(dim)
        return found.expand(shape)

    inputs, result = equation.split("->")
    of_a, of_b = inputs.split(",")
    return (
        gradient_of(of_a, a.shape, of_b, b),
        gradient_of(of_b, b.shape, of_a, a),
    )
    # end solution
