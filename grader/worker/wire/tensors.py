"""Write a tensor as a header of plain data and its raw bytes: ``[dtype, shape, strides, offset,
bytes, requires_grad]``.

There are two layouts, because only one direction is trusted. *Strided*, from the judge: strides,
offset and expansion are kept, so that a non-contiguous tensor is non-contiguous on the other side.
*Contiguous*, from the worker: exactly as many bytes as the shape says, so that a small message
can't claim a large tensor.
"""

from __future__ import annotations

import ctypes
import math
from typing import Any

import torch
from torch import Tensor

from grader.worker.wire.frames import MAX_BLOB_BYTES, BrokenFrame

MAX_DIMS = 16
MAX_SIZE = 1 << 31
MAX_EMPTY = 1 << 16
"""The limit for the product of an empty tensor's nonzero dimensions, because lists made from it
grow with that.
"""

DTYPES = {
    str(dtype).removeprefix("torch."): dtype
    for dtype in (
        torch.float64,
        torch.float32,
        torch.float16,
        torch.bfloat16,
        torch.complex64,
        torch.complex128,
        torch.int64,
        torch.int32,
        torch.int16,
        torch.int8,
        torch.uint8,
        torch.bool,
    )
}
DTYPE_NAMES = {dtype: name for name, dtype in DTYPES.items()}


def carried(tensor: Tensor) -> bool:
    """Return whether the wire carries tensors of this dtype, layout and device."""
    return tensor.dtype in DTYPE_NAMES and tensor.layout is torch.strided and tensor.is_cpu


def packed(tensor: Tensor, *, strided: bool) -> tuple[list[Any], bytes]:
    """Return a carried tensor's header and bytes; raise BrokenFrame over the cap."""
    plain = tensor.detach()
    if plain.is_conj() or plain.is_neg():
        plain = plain.resolve_conj().resolve_neg()
    if plain.numel() and not plain.data_ptr():
        plain = plain.clone()  # autograd's zeros may have no memory
    shape, count = list(plain.shape), plain.numel()
    if strided:
        strides, offset = list(plain.stride()), plain.storage_offset()
        if count and not plain.is_contiguous():
            count = 1 + sum((n - 1) * step for n, step in zip(shape, strides, strict=True))
    else:
        plain = plain.contiguous()
        strides, offset = None, 0
    size = count * plain.itemsize
    if size > MAX_BLOB_BYTES:
        raise BrokenFrame(f"a tensor of {size:,} bytes is over the cap")
    header = [DTYPE_NAMES[tensor.dtype], shape, strides, offset, size, tensor.requires_grad]
    return header, ctypes.string_at(plain.data_ptr(), size) if size else b""


def size_in(header: list[Any]) -> int:
    """Return how many bytes a header claims; raise BrokenFrame if that is not a count."""
    size = header[4]
    if type(size) is not int or size < 0:
        raise BrokenFrame("a tensor whose number of bytes is not a count")
    return size


def unpacked(header: list[Any], raw: memoryview, *, strided: bool) -> tuple[Tensor, bool]:
    """Return the tensor, and whether its header says that it requires grad. Only a tensor from a
    trusted sender then requires grad.

    With ``strided``, the sender is trusted with strides, otherwise with nothing. Raise BrokenFrame,
    or whatever torch and Python raise for a malformed header.
    """
    dtype_name, shape, strides, offset, _, requires_grad = header
    dtype = DTYPES[dtype_name]
    if not isinstance(shape, list) or len(shape) > MAX_DIMS:
        raise BrokenFrame("a tensor whose shape is not a shape")
    for n in shape:
        if type(n) is not int or not 0 <= n < MAX_SIZE:
            raise BrokenFrame("a tensor whose shape is not a shape")
    if 0 in shape and math.prod(n for n in shape if n) > MAX_EMPTY:
        raise BrokenFrame("a tensor without elements whose shape is out of proportion")
    wants = bool(requires_grad) and (dtype.is_floating_point or dtype.is_complex)
    if strided:
        tensor = _strided(raw, dtype, shape, strides, offset)
        return tensor.requires_grad_() if wants else tensor, wants
    if math.prod(shape) * dtype.itemsize != len(raw):
        raise BrokenFrame("a tensor whose bytes don't fit its shape")
    return _contiguous(raw, dtype, shape), wants


def _flat(raw: bytes | bytearray | memoryview, dtype: torch.dtype) -> Tensor:
    if dtype is torch.bool:
        return torch.frombuffer(bytearray(raw), dtype=torch.uint8).ne(0)
    return torch.frombuffer(bytearray(raw), dtype=dtype)


def _contiguous(raw: memoryview, dtype: torch.dtype, shape: list[int]) -> Tensor:
    if not raw:
        return torch.empty(shape, dtype=dtype)
    flat = _flat(raw, dtype)
    return flat if len(shape) == 1 else _placed(flat, 0, shape, None)


def _strided(
    raw: memoryview, dtype: torch.dtype, shape: list[int], strides: list[int], offset: int
) -> Tensor:
    if not raw:
        return torch.empty_strided(shape, strides, dtype=dtype)
    flat = _flat(bytes(offset * dtype.itemsize) + raw if offset else raw, dtype)
    return flat if strides == [1] and not offset else _placed(flat, offset, shape, strides)


def _placed(flat: Tensor, offset: int, shape: list[int], strides: list[int] | None) -> Tensor:
    """Return the tensor with other strides in its own storage,
    so that it is not a view of another.
    """
    storage = flat.untyped_storage()
    if strides is None:
        return flat.set_(storage, offset, shape)  # type: ignore[call-overload,no-any-return]
    return flat.set_(storage, offset, shape, strides)
