"""hooks: watch and change gradients while backward runs, and remove the hooks
again.

Run `grade hooks` to check your work, `grade hint hooks` for a hint. What holds
in every lesson is in ../README.md.
"""

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle


def double_gradient(y: Tensor) -> RemovableHandle:
    """Double the gradient that flows through y, in every backward from now on.

    Return a handle whose `remove()` ends the doubling and keeps other hooks on
    y. y is the result of an operation, of any shape, in float16, bfloat16,
    float32 or float64. Only what flows through y is doubled: gradients that
    reach leaves on other paths stay as they are. Two calls on one tensor make
    the factor four.
    """
    raise NotImplementedError


def record_gradients(
    tensors: dict[str, Tensor],
) -> tuple[dict[str, Tensor], list[RemovableHandle]]:
    """Record the gradients at tensors by name; return `(records, handles)`.

    Each tensor requires grad and is a leaf or the result of an operation.
    `records` is a new dictionary that holds no gradient yet: it is empty, or
    its values are None. Every later backward stores there, under each tensor's
    name, a copy of the gradient that reaches that tensor, in the gradient's
    shape and dtype. The copy replaces the one from the backward before.
    Nothing else changes: all gradients are the same as without recording, with
    create_graph=True too, and the result of an operation gets no `.grad`.
    `handles` is a list or a tuple. After `remove()` of each handle nothing
    more is recorded.
    """
    raise NotImplementedError


def clip_gradient(y: Tensor, max_norm: float) -> RemovableHandle:
    """Limit the 2-norm of the whole gradient that flows through y to max_norm,
    from 0.001 to 1e15.

    Return a handle whose `remove()` ends the clipping and keeps other hooks on
    y. y is the result of an operation, a float32 or float64 tensor of any
    shape. The elements of its gradient are between -1e15 and 1e15. A gradient
    with a larger norm keeps its direction and gets the norm max_norm, to
    within 0.1 %. A gradient whose norm is at least 0.1 % smaller than
    max_norm, zeros included, passes unchanged. Do not write into the tensor
    that arrives as the gradient.
    """
    raise NotImplementedError


def backward_with_scaled_gradient(
    loss: Tensor, y: Tensor, factor: float
) -> None:
    """Run backward once from the scalar loss, with the gradient at y
    multiplied by factor.

    y is a float32 or float64 tensor, the result of an operation that loss
    depends on, and may be loss itself. Only what flows through y is scaled.
    factor is a float or an int: 0, or positive or negative with an absolute
    value from 0.001 to 1e6. Gradients accumulate in `.grad` of the leaves as
    in any backward, and `.grad` does not require grad. Afterwards y is as it
    was before, and no later backward through y is scaled. If backward raises,
    this function raises too, and no later backward through y is scaled then
    either.
    """
    raise NotImplementedError


def gradient_norms(module: nn.Module, x: Tensor) -> dict[str, float]:
    """Run `module(x).sum().backward()` once; return the norms of the gradients
    at all leaf modules.

    A leaf module is a module without children in `module.named_modules()`,
    which yields module itself too. The dictionary maps each leaf module's name
    in named_modules() to the 2-norm of the module's grad_output, the gradient
    with respect to what it returns, with elements between -1e15 and 1e15. Each
    value is a float. x is float32 or float64. x and each parameter may require
    grad or not, but the output of every leaf module does. Every leaf module
    runs once, and does not change its input in place. It returns one new
    tensor, which is part of the result's graph and is not written to later.
    Afterwards no hook of yours is left, and those of others are still there.
    `.grad` and `requires_grad` of each parameter and `training` of each module
    are what they were before. x keeps its values and its grad_fn; the backward
    may free the graph of x. If the run raises, this function raises too, and
    then also leaves hooks and `.grad` as they were.
    """
    raise NotImplementedError
