"""Remember what tensors held before the student's code ran, to detect writes into them."""

from __future__ import annotations

import torch
from torch import Tensor

from grader.worker.wire.compat import version_counter


class Before:
    """A tensor as it was passed. Its value is kept too, because writes through ``.data`` or NumPy
    do not change its version counter.
    """

    __slots__ = ("value", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.version = version_counter(tensor)
        self.value = tensor.detach().clone()

    def differs(self, tensor: Tensor) -> bool:
        """Return whether the tensor was written to; NaN equals NaN.

        A tensor that got another shape or dtype by ``.data = …`` does not count, because its
        contents can't be compared.
        """
        if version_counter(tensor) != self.version:
            return True
        now = tensor.detach()
        if now.shape != self.value.shape or now.dtype != self.value.dtype:
            return False
        return not torch.equal(now, self.value) and not bool(
            ((now == self.value) | ((now != now) & (self.value != self.value))).all()
        )
