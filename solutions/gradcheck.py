"""gradcheck: compare the gradients of a backward with slopes of its forward.

Run `grade gradcheck` to check your work, `grade hint gradcheck` for a hint.
What holds in every lesson is in ../README.md.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import Function


def passes_gradcheck(fn: Callable, *inputs: Tensor) -> bool:
    """Return whether torch.autograd.gradcheck accepts the gradients of fn at
    inputs.

    Use gradcheck's default eps, atol and rtol; fast_mode is up to you. Check
    float64 copies of all inputs, and let every copy require grad. fn takes one
    tensor for each input, and may leave some of them unused. It returns a
    tensor or a tuple of tensors. There is at least one input. The inputs are
    float32 or float64, not empty, of any shape and strides; some, all or none
    of them require grad. If gradcheck rejects a gradient, return False. If fn
    raises an Exception, return False, too. Leave the inputs unchanged (values,
    requires_grad and .grad), even if fn writes into its arguments.
    """
    # solution
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False
    # end solution


def numerical_jacobian(fn: Callable, x: Tensor, eps: float = 1e-6) -> Tensor:
    """Return the Jacobian of y = fn(x), computed from values of fn alone,
    without autograd.

    The result is a float64 tensor of shape (y.numel(), x.numel()). The element
    in row i and column k is the slope of the i-th element of y as the k-th
    element of x goes from eps below its value to eps above it. Elements are
    counted in the order of flatten(). x is float32 or float64; compute
    everything in float64. x and y may have any shape and strides, including
    0-d, empty and expanded. For a float64 tensor of x's shape, fn returns a
    float64 tensor. It may return a view of its argument, but it neither writes
    into its argument nor uses autograd. You may call it under no_grad or
    torch.vmap. Leave x unchanged (values and requires_grad).
    """
    # solution
    point = x.detach().double()
    with torch.no_grad():
        jacobian = torch.zeros(
            fn(point).numel(), x.numel(), dtype=torch.float64
        )
        for k in range(x.numel()):
            step = torch.zeros(x.numel(), dtype=torch.float64)
            step[k] = eps
            step = step.reshape(x.shape)
            jacobian[:, k] = (
                fn(point + step) - fn(point - step)
            ).flatten() / (2 * eps)
    return jacobian
    # end solution


def find_broken(functions: dict[str, Callable], x: Tensor) -> set[str]:
    """Return the set of the names of the functions that gradcheck rejects at
    x.

    functions maps names to functions of one tensor, and may be empty. No
    function writes into its argument. A function that raises an Exception
    counts as rejected. x is float32 or float64, not empty, of any shape and
    strides; check the functions in float64. Leave x unchanged (values and
    requires_grad).
    """
    # solution
    return {
        name for name, fn in functions.items() if not passes_gradcheck(fn, x)
    }
    # end solution


class FixedPow(Function):
    """The power x ** q of two tensors of the same shape, elementwise.

    Every x is positive; q may be any number. The tensors are float32 or
    float64, of any shape, including 0-d and empty. The backward that is given
    has a mistake in one gradient.
    """

    @staticmethod
    def forward(ctx, x: Tensor, q: Tensor) -> Tensor:
        """Return x ** q, of the same shape and dtype."""
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to q, of the same shape
        and dtype, right to 5 digits.

        grad_output is the gradient with respect to x ** q; leave it unchanged.
        The gradient of an input that does not require grad may be None.
        """
        # solution
        # stub: x, q = ctx.saved_tensors
        # stub: grad_x = grad_output * q * x ** (q - 1)
        # stub: grad_q = grad_output * x**q * torch.log(x + 1)
        # stub: return grad_x, grad_q
        x, q = ctx.saved_tensors
        return grad_output * q * x ** (q - 1), grad_output * x**q * torch.log(
            x
        )
        # end solution
