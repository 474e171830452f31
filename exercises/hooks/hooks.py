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

    Return a handle whose `remove()` ends the doubling. Two calls on one tensor
    make the factor four.
    """
    raise NotImplementedError


def record_gradients(
    tensors: dict[str, Tensor],
) -> tuple[dict[str, Tensor], list[RemovableHandle]]:
    """Record the gradients at tensors by name; return `(records, handles)`.

    Every later backward stores a copy of the gradient at each tensor in the
    dictionary `records`, under the tensor's name. A new copy replaces the old
    one. `handles` is a list. After `remove()` of each handle nothing more is
    recorded.
    """
    raise NotImplementedError


def clip_gradient(y: Tensor, max_norm: float) -> RemovableHandle:
    """Limit the 2-norm of the whole gradient that flows through y to max_norm.

    Return a handle whose `remove()` ends the clipping. A longer gradient keeps
    its direction and gets the norm max_norm, to 0.1 % or 1e-6. A shorter
    gradient, zeros too, passes unchanged.
    """
    raise NotImplementedError


def backward_with_scaled_gradient(
    loss: Tensor, y: Tensor, factor: float
) -> None:
    """Run loss.backward() once, with the gradient at y multiplied by factor.

    Afterwards no backward through y is scaled, even if this one raises. An
    exception of this backward reaches the caller.

    y may be loss itself, and factor may be 0 or negative.
    """
    raise NotImplementedError


def gradient_norms(module: nn.Module, x: Tensor) -> dict[str, float]:
    """Run `module(x).sum().backward()` once and return the norm of the
    gradient at each leaf module.

    A leaf module has no children. Keys are names in named_modules(), values
    the 2-norms of grad_output, as floats. Afterwards no hook of yours is left
    and each parameter's .grad is as before, even if the run raises.
    """
    raise NotImplementedError
