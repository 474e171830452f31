"""gradcheck: compare the gradients of a backward with slopes of its forward.

Run `grade gradcheck` to check your work, `grade hint gradcheck` for a hint.
What holds in every lesson is in ../README.md.
"""

from collections.abc import Callable

import torch
from torch import Tensor
from torch.autograd import Function


def passes_gradcheck(fn: Callable, *inputs: Tensor) -> bool:
    """Return whether torch.autograd.gradcheck accepts the gradients of fn.

    Check float64 copies of all inputs, and let every copy require grad. Use
    gradcheck's default settings. If gradcheck or fn raises an Exception,
    return False. fn takes one tensor for each input, and returns a tensor or a
    tuple of tensors.
    """
    # solution
    copies = [x.detach().clone().double().requires_grad_() for x in inputs]
    try:
        return torch.autograd.gradcheck(fn, copies)
    except Exception:
        return False
    # end solution


def numerical_jacobian(fn: Callable, x: Tensor, eps: float = 1e-6) -> Tensor:
    """Return the Jacobian of y = fn(x) in float64, from values of fn alone.

    Row i is for element i of y.flatten(), column k for element k of
    x.flatten(). The entry is the slope of that element of y as that element of
    x goes from eps below its value to eps above it. Compute everything in
    float64, for a float32 x too.
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
    """Return the set of the names of the functions that gradcheck rejects.

    functions maps names to functions of one tensor. Check them at x, in
    float64. A function that raises an Exception counts as rejected.
    """
    # solution
    return {
        name for name, fn in functions.items() if not passes_gradcheck(fn, x)
    }
    # end solution


class FixedPow(Function):
    """The power x ** q of two tensors of the same shape, elementwise.

    Every x is positive; q may be any number. The backward that is given has a
    mistake in one gradient.
    """

    @staticmethod
    def forward(ctx, x: Tensor, q: Tensor) -> Tensor:
        """Return x ** q."""
        ctx.save_for_backward(x, q)
        return x**q

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to x and to q; grad_output is the
        gradient with respect to x ** q.
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
