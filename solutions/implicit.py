"""implicit: differentiate a solution, not the way it was found.

Run `grade implicit` to check your work, `grade hint implicit` for a hint. What
holds in every lesson is in ../README.md.
"""

import torch
from torch import Tensor
from torch.autograd import Function


class Solve(Function):
    """The solution x of A x = b.

    A has shape (n, n) and can be inverted; b has shape (n,).
    """

    @staticmethod
    def forward(ctx, A: Tensor, b: Tensor) -> Tensor:
        """Return x, for example by torch.linalg.solve."""
        # solution
        x = torch.linalg.solve(A, b)
        ctx.save_for_backward(A, x)
        return x
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[Tensor, Tensor]:
        """Return the gradients with respect to A and b as a tuple.

        One more solve is enough for both. Autograd is not allowed here.
        """
        # solution
        A, x = ctx.saved_tensors
        w = torch.linalg.solve(A.T, grad_output)
        return -torch.outer(w, x), w
        # end solution


class FixedPoint(Function):
    """The fixed point of z = f(z, x), with a gradient for x.

    f(z, x) has the shape of z; x may have another one. From z0 on, each step
    from z to f(z, x) at least halves (z - p).abs().max(), where p is the fixed
    point. No graph may lead through more than one call of f.
    """

    @staticmethod
    def forward(ctx, f, z0: Tensor, x: Tensor) -> Tensor:
        """Return the fixed point: for example, repeat z = f(z, x) from z0."""
        # solution
        z = z0
        for _ in range(100):
            z = f(z, x)
        ctx.f = f
        ctx.save_for_backward(z, x)
        return z
        # end solution

    @staticmethod
    def backward(ctx, grad_output: Tensor) -> tuple[None, None, Tensor]:
        """Return None for f, None or zeros for z0, and the gradient with
        respect to x.

        That is the gradient of the fixed point, which does not depend on z0.
        """
        # solution
        z, x = (t.detach().requires_grad_() for t in ctx.saved_tensors)
        with torch.enable_grad():
            y = ctx.f(z, x)
        w = grad_output
        for _ in range(100):
            (back,) = torch.autograd.grad(
                y, z, w, retain_graph=True, materialize_grads=True
            )
            w = grad_output + back
        return None, None, torch.autograd.grad(y, x, w)[0]
        # end solution


def newton_sqrt(a: Tensor) -> Tensor:
    """Return the square root of each element of a, by Newton's iteration.

    Elements are from 1e-6 to 1e6, also in one tensor. The graph of the result
    does not contain the iterations, and its gradient is right. Roots that a
    library computes, and powers such as a ** 0.5, are not allowed.
    """
    # solution
    with torch.no_grad():
        z = torch.ones_like(a)
        for _ in range(50):
            z = (z + a / z) / 2
    return (z + a / z) / 2
    # end solution


def minimizer_gradient(loss, z: Tensor, x: Tensor, v: Tensor) -> Tensor:
    """Bonus: return the gradient with respect to x of v @ z, where z is the
    minimizer of loss(z, x) for that x.

    z and v have shape (n,), x has shape (m,), and loss(z, x) is 0-d. At the
    minimizer, the Hessian of loss with respect to z can be inverted.
    """
    # solution
    z, x = (t.detach().requires_grad_() for t in (z, x))
    with torch.enable_grad():
        (slope,) = torch.autograd.grad(loss(z, x), z, create_graph=True)
    hessian = torch.stack(
        [torch.autograd.grad(s, z, retain_graph=True)[0] for s in slope]
    )
    w = torch.linalg.solve(hessian, v)
    return -torch.autograd.grad(slope, x, w)[0]
    # end solution
