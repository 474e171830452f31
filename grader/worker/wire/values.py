"""Encode values as tagged data, for calls, replies and scenarios' measurements in a frame.

====================  =====================================================================
Python                JSON
====================  =====================================================================
None, bool, int,      themselves (floats keep NaN and infinities; a subclass of float or int
float, str            counts as its base, and NumPy's float64, integers and bool as Python's)
list                  an array
anything else         an object with one key, the tag: ``tuple``, ``dict``, ``set``, ``complex``,
                      ``bytes``, ``ellipsis``, ``dtype``, ``tensor``, ``program``, ``student``,
                      ``object``, ``opaque``
====================  =====================================================================

A tensor is a header, ``[dtype, shape, strides, offset, bytes, requires_grad]``; its raw bytes are
in the frame's blob, in the order of first occurrence. A tensor that occurs again is sent as
``{"tensor": index}``. There are two layouts, because only one direction is trusted. *Strided*, from
the judge: strides, offset and expansion are kept, so that a non-contiguous tensor is non-contiguous
on the other side. *Contiguous*, from the worker: exactly as many bytes as the shape says, so that a
small message can't claim a large tensor.

A value without a tag (a module, a hook's handle, a NumPy array) becomes ``Opaque``: its type's name
and a short text, for messages. For a function or a method that text is the name. In the answer to a
call such a value is an ``object``: it also has a number, by which the judge can use it.

The keys in a decoded value are limited, because an attacker can choose integers and tuples that all
have the same hash. A table of n such keys takes n² steps to build: 10 ms for 2,000 keys, four
minutes for 330,000.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import linecache
import math
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy
import torch
from torch import Tensor

from grader.worker.wire.frames import MAX_BLOB_BYTES, BrokenFrame
from grader.worker.wire.program import Program, Register

MAX_DIMS = 16
MAX_SIZE = 1 << 31
MAX_EMPTY = 1 << 16
"""The limit for the product of an empty tensor's nonzero dimensions, because lists made from it
grow with that.
"""

DTYPES: dict[str, torch.dtype] = {
    name: getattr(torch, name)
    for name in (
        "float64 float32 float16 bfloat16 complex64 complex128 int64 int32 int16 int8 uint8 bool"
    ).split()
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
    """Return the tensor with other strides in its own storage, so it is not a view of another."""
    storage = flat.untyped_storage()
    if strides is None:
        return flat.set_(storage, offset, shape)  # type: ignore[call-overload,no-any-return]
    return flat.set_(storage, offset, shape, strides)


MAX_KEYS = 2000


class KeyBudget:
    """How many keys of dicts and elements of sets one value may still have."""

    def __init__(self) -> None:
        self._left = MAX_KEYS

    def spend(self, keys: list[Any]) -> None:
        """Count keys, including the parts of tuples; raise BrokenFrame over the cap."""
        todo = list(keys)
        while todo:
            value = todo.pop()
            self._left -= 1
            if self._left < 0:
                raise BrokenFrame(f"dicts and sets with more than {MAX_KEYS:,} keys")
            if isinstance(value, list):
                todo += value
            elif isinstance(value, dict):
                todo += value.values()


PLAIN = frozenset((type(None), bool, int, float, str))
"""Values that stand for themselves."""


@dataclass(frozen=True)
class Opaque:
    """An object that the wire can't carry, known by its type's name."""

    type_name: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """The number of an object that the worker keeps."""

    number: int


class StudentRef:
    """A name in the student's module, as an argument: ``Sigmoid``, ``Sigmoid.apply``."""

    def __init__(self, path: str) -> None:
        self.path = path


@dataclass(frozen=True, slots=True)
class TensorRef:
    """The position of tensor number ``index`` in a decoded structure, before ``fill``."""

    index: int


def walk(value: Any, leaf: Callable[[Any], Any]) -> Any:
    """Return plain data with everything in it that is neither a container nor ``PLAIN`` replaced by
    what ``leaf`` returns for it.

    Containers are list, tuple and dict (its values), but not their subclasses.
    """
    kind = type(value)
    if kind in PLAIN:
        return value
    if kind is list:
        return [item if type(item) in PLAIN else walk(item, leaf) for item in value]
    if kind is tuple:
        return tuple([item if type(item) in PLAIN else walk(item, leaf) for item in value])
    if kind is dict:
        return {key: walk(item, leaf) for key, item in value.items()}
    return leaf(value)


def leaves(value: Any) -> list[Any]:
    """Return what ``walk`` would replace."""
    found: list[Any] = []
    walk(value, found.append)
    return found


def fill(structure: Any, tensors: Sequence[Tensor]) -> Any:
    """Return the structure with each ``TensorRef`` replaced by its tensor."""
    if not tensors:
        return structure
    return walk(structure, lambda one: tensors[one.index] if isinstance(one, TensorRef) else one)


MAX_DEPTH = 64
MAX_TEXT = 4000
MAX_NUMBER = 1 << 62
MALFORMED = (ValueError, TypeError, LookupError, OverflowError, RuntimeError, AttributeError)
"""What Python and torch raise for malformed data, except MemoryError."""


class Encoder:
    """Encodes values as JSON data; collects distinct ``tensors`` and their bytes (``blob``).

    ``keep`` keeps an object that can't cross and returns its number.
    """

    def __init__(self, *, strided: bool, keep: Callable[[object], int] | None = None) -> None:
        self.strided = strided
        self._keep = keep
        self.tensors: list[Tensor] = []
        self._parts: list[bytes] = []
        self._keys = KeyBudget()
        self._seen: dict[int, int] = {}

    @property
    def blob(self) -> bytes:
        return b"".join(self._parts)

    def encode(self, value: Any, depth: int = 0) -> Any:
        """Return JSON data; raise BrokenFrame if nested too deep or over the cap."""
        if type(value) in PLAIN:
            return value
        if isinstance(value, Tensor):
            return self._tensor(value)
        if depth > MAX_DEPTH:
            raise BrokenFrame(f"a value nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, list):
            return self._several(value, depth)
        if isinstance(value, tuple):
            return {"tuple": self._several(value, depth)}
        if isinstance(value, dict):
            pairs = [self._several(pair, depth) for pair in value.items()]
            self._keys.spend([key for key, _ in pairs])
            return {"dict": pairs}
        if isinstance(value, set | frozenset):
            items = self._several(value, depth)
            self._keys.spend(items)
            return {"set": items}
        return self._scalar(value)

    def _several(self, items: Iterable[Any], depth: int) -> list[Any]:
        """Encode several items; most stand for themselves, which saves a call."""
        return [item if type(item) in PLAIN else self.encode(item, depth + 1) for item in items]

    def _scalar(self, value: Any) -> Any:
        if isinstance(value, float):
            return float(value)
        # For the type stubs a timedelta64 is not an integer; for Python it is.
        if isinstance(value, int | numpy.integer) and not isinstance(value, numpy.timedelta64):  # type: ignore[unreachable]
            return int(value)
        if isinstance(value, numpy.bool_):
            return bool(value)
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, complex):
            return {"complex": [value.real, value.imag]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if value is Ellipsis:
            return {"ellipsis": 0}
        if isinstance(value, torch.dtype):
            return {"dtype": str(value)}
        if isinstance(value, Program) and self.strided:
            return {"program": [self.encode(part, 1) for part in value.as_parts()]}
        if isinstance(value, Register) and self.strided:
            return {"register": value.index}
        if isinstance(value, StudentRef):
            return {"student": value.path}
        if isinstance(value, ObjectRef) and self.strided:
            return {"object": value.number}
        described = [type(value).__name__, _method_name(value)]
        if self._keep is not None:
            return {"object": [*described, self._keep(value)]}
        return {"opaque": described}

    def _tensor(self, tensor: Tensor) -> Any:
        known = self._seen.get(id(tensor))
        if known is not None:
            return {"tensor": known}
        if not carried(tensor):
            kind = f"{tensor.dtype} on {tensor.device}, {tensor.layout}"
            return {"opaque": [type(tensor).__name__, kind]}
        header, raw = packed(tensor, strided=self.strided)
        self._seen[id(tensor)] = len(self.tensors)
        self.tensors.append(tensor)
        self._parts.append(raw)
        return {"tensor": header}


def _method_name(value: Any) -> str:
    """Return the name of a method or a built-in function without running the student's code."""
    function = value.__func__ if type(value) is MethodType else value
    if type(function) in (FunctionType, BuiltinFunctionType):
        return str.__str__(function.__name__)
    return ""


def encode_tensors(tensors: list[Tensor], *, strided: bool) -> tuple[list[Any], bytes]:
    """Encode several tensors one by one, even if one object occurs twice."""
    metas, parts = [], []
    for tensor in tensors:
        encoder = Encoder(strided=strided)
        metas.append(encoder.encode(tensor))
        parts.append(encoder.blob)
    return metas, b"".join(parts)


class Decoder:
    """Decodes JSON data.

    ``tensors`` are those that it built, in order; ``requires_grad`` has the flag of each header.
    With ``strided``, the sender is trusted with strides, otherwise with nothing. ``handle``
    makes the stand-in for an object that the sender keeps; without it, that is ``Opaque``.
    """

    def __init__(
        self,
        blob: bytes | bytearray | memoryview,
        *,
        strided: bool,
        student: Callable[[str], Any] | None = None,
        handle: Callable[[Opaque, int], Any] | None = None,
    ) -> None:
        self.blob = memoryview(blob)
        self.strided = strided
        self.student = student
        self.handle = handle
        self.tensors: list[Tensor] = []
        self.requires_grad: list[bool] = []
        self._keys = KeyBudget()
        self._position = 0

    def decode(self, data: Any) -> Any:
        """Return the value, with a ``TensorRef`` for each tensor; raise only BrokenFrame, or
        MemoryError, which is left to the caller.
        """
        try:
            return self._decode(data, 0)
        except BrokenFrame:
            raise
        except MALFORMED as error:
            reason = f"a value that is not what its tag says: {type(error).__name__}"
            raise BrokenFrame(reason) from None

    def finish(self) -> None:
        """Raise BrokenFrame unless every byte of the blob has been used."""
        if self._position != len(self.blob):
            raise BrokenFrame(f"{len(self.blob) - self._position} bytes that no tensor claims")

    def _decode(self, data: Any, depth: int) -> Any:
        if type(data) in PLAIN:
            return data
        if depth > MAX_DEPTH + 2:
            raise BrokenFrame(f"a value nested deeper than {MAX_DEPTH} levels")
        if isinstance(data, list):
            return self._several(data, depth)
        if not isinstance(data, dict) or len(data) != 1:
            raise BrokenFrame("an object that is not a tagged value")
        ((tag, body),) = data.items()
        if tag == "tensor":
            return self._tensor(body)
        if tag == "tuple":
            return tuple(self._several(_array(body), depth))
        if tag == "dict":
            self._keys.spend([key for key, _ in _array(body)])
            return {self._decode(k, depth + 1): self._decode(v, depth + 1) for k, v in body}
        if tag == "set":
            self._keys.spend(_array(body))
            return {self._decode(item, depth + 1) for item in body}
        return self._leaf(tag, body)

    def _several(self, items: list[Any], depth: int) -> list[Any]:
        return [item if type(item) in PLAIN else self._decode(item, depth + 1) for item in items]

    def _leaf(self, tag: str, body: Any) -> Any:
        if tag == "complex":
            real, imag = _array(body)
            return complex(float(real), float(imag))
        if tag == "bytes":
            return bytes.fromhex(body)
        if tag == "ellipsis":
            return Ellipsis
        if tag == "dtype":
            return DTYPES.get(
                str(body).removeprefix("torch."), Opaque("dtype", str(body)[:MAX_TEXT])
            )
        if tag == "opaque":
            name, text = _array(body)
            return Opaque(str(name)[:MAX_TEXT], str(text)[:MAX_TEXT])
        if tag == "object":
            return self._object(body)
        if self.strided and tag == "register":
            return Register(int(body))
        if self.strided and tag == "program":
            parts = [self._decode(part, 1) for part in _array(body)]
            return Program(*fill(parts, self.tensors)).as_function()
        if self.strided and tag == "student" and self.student is not None:
            return self.student(str(body))
        raise BrokenFrame(f"an unknown tag {tag[:40]!r}")

    def _object(self, body: Any) -> Any:
        if self.strided:
            return ObjectRef(int(body))
        name, text, number = _array(body)
        opaque = Opaque(str(name)[:MAX_TEXT], str(text)[:MAX_TEXT])
        if type(number) is not int or not 0 < number < MAX_NUMBER:
            raise BrokenFrame("an object without a number")
        return opaque if self.handle is None else self.handle(opaque, number)

    def _tensor(self, body: Any) -> TensorRef:
        if type(body) is int and 0 <= body < len(self.tensors):
            return TensorRef(body)
        header = _array(body)
        size = header[4]
        if type(size) is not int or size < 0:
            raise BrokenFrame("a tensor whose number of bytes is not a count")
        start, end = self._position, self._position + size
        if end > len(self.blob):
            raise BrokenFrame("a tensor with fewer bytes than it claims")
        tensor, requires = unpacked(header, self.blob[start:end], strided=self.strided)
        self._position = end
        self.tensors.append(tensor)
        self.requires_grad.append(requires)
        return TensorRef(len(self.tensors) - 1)


def _array(data: Any) -> list[Any]:
    if not isinstance(data, list):
        raise BrokenFrame("a tagged value without its array")
    return data


def decode(data: Any, blob: bytes | bytearray | memoryview, *, strided: bool) -> Any:
    """Return one value with its tensors in place."""
    decoder = Decoder(blob, strided=strided)
    structure = decoder.decode(data)
    decoder.finish()
    return fill(structure, decoder.tensors)


def round_trip(value: Any) -> Any:
    """Return the value as the other side would get it: copied, and opaque if it has no tag."""
    encoder = Encoder(strided=True)
    data = encoder.encode(value)
    return decode(data, encoder.blob, strided=True)


def explain(error: BaseException, filename: str) -> dict[str, Any]:
    """Return an exception as plain data: type, ancestors, message, the innermost line of the
    student's file in its traceback.

    ``raised_here``: the exception comes from a ``raise NotImplementedError`` in that file, as the
    stubs have it.
    """
    line, innermost, trace = None, "", error.__traceback__
    while trace is not None:
        innermost = trace.tb_frame.f_code.co_filename
        if innermost == filename:
            line = trace.tb_lineno
        trace = trace.tb_next
    info: dict[str, Any] = {
        "type": type(error).__name__[:200],
        "ancestors": [base.__name__[:200] for base in type(error).__mro__[1:20]],
        "message": _text(error),
        "line": line,
    }
    if isinstance(error, SyntaxError) and error.filename == filename:
        info["line"], info["message"] = error.lineno, str(error.msg)[:MAX_TEXT]
    statement = linecache.getline(filename, line or 0).strip()
    info["raised_here"] = innermost == filename and "raise NotImplementedError" in statement
    return info


def _text(error: BaseException) -> str:
    try:
        return str(error)[:MAX_TEXT] + _suggestion(error)
    except BaseException:  # the student's __str__ may raise
        return "(an exception without text: its __str__ raised)"


SUGGESTION = re.compile(r"\. Did you (mean: '[\w.]+'|forget to import '\w+')\?\Z")


def _suggestion(error: BaseException) -> str:
    """Return what Python prints after a message, and keeps nowhere: which name may be meant."""
    if not isinstance(error, NameError | AttributeError | ImportError):
        return ""
    with contextlib.redirect_stderr(io.StringIO()) as printed, contextlib.suppress(Exception):
        sys.__excepthook__(type(error), error, error.__traceback__)
    found = SUGGESTION.search(printed.getvalue().rstrip())
    return f" (did you {found[1]}?)" if found else ""
