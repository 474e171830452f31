"""hooks: watch gradients and change them while backward runs, and leave nothing behind.

Run `grade hooks` to see how far you are, `grade hint hooks` for a nudge.
"""

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle


def double_gradient(y: Tensor) -> RemovableHandle:
    """Double the gradient that flows through y, in every backward from now on; return the handle
    whose `remove()` ends that.

    y is a tensor of any shape and floating dtype inside a graph. Only what flows through y is
    doubled: gradients that reach other tensors past y stay as they are. Called twice on one tensor,
    the factor is four.
    """
    raise NotImplementedError


def record_gradients(tensors: dict[str, Tensor]) -> tuple[dict[str, Tensor], list[RemovableHandle]]:
    """Watch the gradients at tensors by name; return `(records, handles)`.

    The tensors all require grad and may be leaves or intermediates. `records` holds no gradient at
    first. Every backward from then on puts there, under each name, a copy of the gradient that
    arrived at that tensor (its shape and dtype), in place of the one from the backward before.
    Nothing else changes: all gradients are what they would be without, and no intermediate gets a
    `.grad`. Once `remove()` of each handle was called, nothing is recorded any more.
    """
    raise NotImplementedError


def clip_gradient(y: Tensor, max_norm: float) -> RemovableHandle:
    """Cap the 2-norm of the gradient that flows through y at max_norm (> 0); return the handle
    whose `remove()` ends that.

    The norm is that of the whole gradient, over all elements of a tensor of any shape. A longer
    gradient keeps its direction and gets the norm max_norm; a shorter one, zero included, passes
    unchanged. The tensor that arrives as the gradient is not written to.
    """

    raise NotImplementedError


def backward_with_scaled_gradient(loss: Tensor, y: Tensor, factor: float) -> None:
    """Run backward from the scalar loss with the gradient at y multiplied by factor, for this one
    backward only.

    Gradients accumulate into `.grad` of the leaves as in any backward, and what reaches a leaf past
    y is not scaled. factor may be any number, 0 and negative ones included. Afterwards y is as it
    was before: a later backward is not scaled, also when this one raised.
    """
    raise NotImplementedError


def gradient_norms(module: nn.Module, x: Tensor) -> dict[str, float]:
    """Run `module(x).sum().backward()` once; return the 2-norm of grad_output for each leaf
    submodule.

    A leaf submodule has no children; its key is its full name in `module.named_modules()`, and its
    grad_output is the gradient with respect to what it returned, a single tensor that requires
    grad. The values are plain floats. x may require grad or not. Every leaf submodule runs once,
    and none works in place. Afterwards no hook of yours is left, also when the run raised, and each
    parameter's `.grad` is what it was before, None included.
    """
    raise NotImplementedError
