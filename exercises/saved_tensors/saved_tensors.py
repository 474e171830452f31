"""saved_tensors: measure what a graph keeps for backward, keep it in half
precision, and compute it again instead of keeping it.

Run `grade saved_tensors` to check your work, `grade hint saved_tensors` for a
hint. What holds in every lesson is in ../README.md.
"""

from contextlib import AbstractContextManager
from pathlib import Path
from tempfile import mkstemp

import numpy
import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks


def saved_bytes(f, x: Tensor) -> int:
    """Return how many bytes of memory the graph of f(x) keeps for backward.

    A storage counts once, and whole: saved tensors may share it, and a saved
    slice keeps all of it. Leaves that require grad, such as x and parameters
    inside f, don't count; neither do views of them.
    """
    raise NotImplementedError


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    """Return a context manager. Graphs that are built inside keep what they
    save for backward in dtype, which is torch.float16 or torch.bfloat16.

    backward gets each tensor in its own dtype again, also after the block.
    Leaves that require grad, and tensors that are not floating point, are
    kept as they are.
    """
    raise NotImplementedError


def checkpointed(f, *xs: Tensor) -> Tensor:
    """Return f(*xs), keeping only xs for backward, which runs f once more.

    After backward(), .grad of xs and of parameters inside f is the same as for
    f(*xs) alone. f may draw torch's random numbers, and may call checkpointed
    itself. Use a Function or hooks of your own; torch.utils.checkpoint is not
    allowed.
    """
    raise NotImplementedError


def saved_in(folder: str) -> AbstractContextManager:
    """Return a context manager like saved_as, which keeps tensors in files in
    folder instead of in memory; leaves that require grad may stay there.

    backward gets exactly the same numbers, also the second time with
    retain_graph=True. When the graph is gone, so are its files.
    """
    raise NotImplementedError
