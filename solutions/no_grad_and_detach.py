"""no_grad_and_detach: ways out of the graph, and what each of them cuts.

Run `grade no_grad_and_detach` to see how far you are, `grade hint no_grad_and_detach` for a nudge.
"""

from collections.abc import Callable

import torch
from torch import Tensor


def predict(f: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return f(x), computed without building a graph, whatever x and the tensors inside f require.

    f takes one tensor and returns one; x has any shape, float32 or float64, and is left as it is.
    Afterwards the grad mode is what it was before the call, on or off, also when f raises. The
    caller gets the exception that f raised, of any type.
    """
    # solution
    with torch.no_grad():
        return f(x)
    # end solution


def cut(y: Tensor) -> Tensor:
    """Return a tensor with the same values as y, without a graph behind it.

    The result has y's shape and dtype, does not require grad, and can be a factor in another graph;
    it may share memory with y. y is float32 or float64, a leaf or not, and stays what it is: its values,
    its place in its graph, and whether it requires grad.
    """
    # solution
    return y.detach()
    # end solution


def split_backward(
    x: Tensor, first: Callable[[Tensor], Tensor], second: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Run y = first(x) and z = second(w), where w is y cut from its graph and made a leaf, and go
    backward in two stages.

    x is a leaf that requires grad, y a tensor of any shape, z a scalar. What second is given is a
    leaf that requires grad. Returns the gradient of z at x, with x's shape and dtype, and the
    gradient of z at w, with w's, in this order. x.grad may hold finite numbers before the call;
    they are not in the result. x keeps its values and still requires grad.
    """
    # solution
    y = first(x)
    w = y.detach().requires_grad_()
    z = second(w)
    x.grad = None
    z.backward()
    y.backward(w.grad)
    return x.grad, w.grad
    # end solution


def bootstrap_loss(online: Tensor, target: Tensor) -> Tensor:
    """Return the mean of (online - target)², as a loss that teaches online and leaves target alone.

    Both have the same shape, 0-d included, and the same dtype, and both may come out of graphs,
    even of one graph. The loss is a 0-d tensor of that dtype, differentiable with respect to
    online; through target no gradient flows. Both tensors stay what they are.
    """
    # solution
    return ((online - target.detach()) ** 2).mean()
    # end solution
