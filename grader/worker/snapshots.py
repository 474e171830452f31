"""What tensors held before the student's code ran, to notice that it wrote into them."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.worker.wire.compat import version_counter


class Before:
    """A tensor as it was handed over. Writes through ``.data`` or NumPy move no version counter."""

    __slots__ = ("value", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.version = version_counter(tensor)
        self.value = tensor.detach().clone()

    def differs(self, tensor: Tensor) -> bool:
        """Return whether the tensor was written to; NaN stays NaN.

        Another shape or dtype, which only ``.data = …`` gives it, has no contents to copy back.
        """
        if version_counter(tensor) != self.version:
            return True
        now = tensor.detach()
        if now.shape != self.value.shape or now.dtype != self.value.dtype:
            return False
        return not torch.equal(now, self.value) and not bool(
            ((now == self.value) | ((now != now) & (self.value != self.value))).all()
        )
