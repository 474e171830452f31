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
    # solution
    kept = {}

    def pack(tensor: Tensor) -> Tensor:
        storage = tensor.untyped_storage()
        kept[storage.data_ptr()] = storage
        return tensor.detach()

    with saved_tensors_hooks(pack, lambda tensor: tensor):
        result = f(x)
    kept.pop(x.untyped_storage().data_ptr(), None)
    seen, todo = {None}, [result.grad_fn]
    while todo:
        node = todo.pop()
        if node in seen:
            continue
        seen.add(node)
        todo += [parent for parent, _ in node.next_functions]
        if hasattr(node, "variable"):
            kept.pop(node.variable.untyped_storage().data_ptr(), None)
    return sum(storage.nbytes() for storage in kept.values())
    # end solution


def saved_as(dtype: torch.dtype) -> AbstractContextManager:
    """Return a context manager. Graphs that are built inside keep what they
    save for backward in dtype, which is torch.float16 or torch.bfloat16.

    backward gets each tensor in its own dtype again, also after the block.
    Leaves that require grad, and tensors that are not floating point, are
    kept as they are.
    """

    # solution
    def pack(tensor: Tensor) -> tuple[Tensor, torch.dtype]:
        of_a_leaf = tensor.is_leaf and tensor.requires_grad
        if of_a_leaf or not tensor.is_floating_point():
            return tensor, tensor.dtype
        return tensor.to(dtype), tensor.dtype

    def unpack(packed: tuple[Tensor, torch.dtype]) -> Tensor:
        tensor, own = packed
        return tensor.to(own)

    return saved_tensors_hooks(pack, unpack)
    # end solution


# solution
class _Recomputed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, f, _anchor, *xs):
        ctx.f, ctx.random = f, torch.get_rng_state()
        ctx.save_for_backward(*xs)
        return f(*xs)  # without a graph, as always in forward

    @staticmethod
    def backward(ctx, grad_output):
        needed = ctx.needs_input_grad[2:]
        xs = [x.detach() for x in ctx.saved_tensors]
        for x, needs_grad in zip(xs, needed, strict=True):
            x.requires_grad_(needs_grad)
        with torch.random.fork_rng(devices=[]), torch.enable_grad():
            torch.set_rng_state(ctx.random)
            y = ctx.f(*xs)
        y.backward(grad_output)
        return None, None, *[x.grad for x in xs]


# end solution


def checkpointed(f, *xs: Tensor) -> Tensor:
    """Return f(*xs), keeping only xs for backward, which runs f once more.

    After backward(), .grad of xs and of parameters inside f is the same as for
    f(*xs) alone. f may draw torch's random numbers, and may call checkpointed
    itself. Use a Function or hooks of your own; torch.utils.checkpoint is not
    allowed.
    """
    # solution
    anchor = torch.empty(0, requires_grad=True)  # for parameters inside f
    return _Recomputed.apply(f, anchor, *xs)
    # end solution


# solution
class _Stored:
    """A tensor in a file, which goes when nobody needs the tensor."""

    def __init__(self, tensor: Tensor, folder: str) -> None:
        number, name = mkstemp(dir=folder)
        self.path = Path(name)
        with open(number, "wb") as file:
            numpy.save(file, tensor.detach().numpy())

    def load(self) -> Tensor:
        return torch.from_numpy(numpy.load(self.path))

    def __del__(self) -> None:
        self.path.unlink()


# end solution


def saved_in(folder: str) -> AbstractContextManager:
    """Return a context manager like saved_as, which keeps tensors in files in
    folder instead of in memory; leaves that require grad may stay there.

    backward gets exactly the same numbers, also the second time with
    retain_graph=True. When the graph is gone, so are its files.
    """

    # solution
    def pack(tensor: Tensor) -> Tensor | _Stored:
        of_a_leaf = tensor.is_leaf and tensor.requires_grad
        return tensor if of_a_leaf else _Stored(tensor, folder)

    def unpack(packed: Tensor | _Stored) -> Tensor:
        return packed.load() if isinstance(packed, _Stored) else packed

    return saved_tensors_hooks(pack, unpack)
    # end solution
