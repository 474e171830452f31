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

A tensor is its header (``tensors``); its raw bytes are in the frame's blob, in the order of first
occurrence. A tensor that occurs again is sent as ``{"tensor": index}``.

A value without a tag (a module, a hook's handle, a NumPy array) becomes ``Opaque``: its type's name
and a short text, for messages. For a function or a method that text is the name. In the answer to a
call such a value is an ``object``: it also has a number, by which the judge can use it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

import numpy
import torch
from torch import Tensor

from grader.worker.wire.frames import BrokenFrame
from grader.worker.wire.keys import KeyBudget
from grader.worker.wire.placeholders import PLAIN, ObjectRef, Opaque, StudentRef, TensorRef, fill
from grader.worker.wire.program import Program, Register
from grader.worker.wire.tensors import DTYPES, carried, packed, size_in, unpacked

MAX_DEPTH = 64
MAX_TEXT = 4000
MAX_NUMBER = 1 << 62


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
            return {
                "opaque": [
                    type(tensor).__name__,
                    f"{tensor.dtype} on {tensor.device}, {tensor.layout}",
                ]
            }
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
        except (
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            OverflowError,
            RuntimeError,
            AttributeError,
        ) as error:
            raise BrokenFrame(
                f"a value that is not what its tag says: {type(error).__name__}"
            ) from None

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
            return Program.from_parts(fill(parts, self.tensors)).as_function()
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
        size = size_in(header)
        if self._position + size > len(self.blob):
            raise BrokenFrame("a tensor with fewer bytes than it claims")
        tensor, requires = unpacked(
            header, self.blob[self._position : self._position + size], strided=self.strided
        )
        self._position += size
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
