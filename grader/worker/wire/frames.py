"""Turn messages into frames, and frames into messages.

A frame is a header (magic, length of the JSON, length of the blob), JSON in UTF-8, and the blob:
the raw bytes of tensors, which the JSON refers to by length, in order. Both lengths are checked
against a cap before anything is read or allocated.
"""

from __future__ import annotations

import json
import struct
from typing import Any, BinaryIO, NamedTuple

MAGIC = b"GRL1"
HEADER = struct.Struct("!4sIQ")
MAX_JSON_BYTES = 8 << 20
MAX_BLOB_BYTES = 64 << 20
MAX_VALUES = 50_000
"""How many values a worker's message may have. The answers to a gradcheck have about 10,000."""
STRUCTURE = b"[{,:"

as_json = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
"""Like ``json.dumps``, which would make an encoder for every message. Messages are trees, so there
is no check for cycles.
"""


class BrokenFrame(Exception):
    """The bytes are not a frame, or its data does not fit its tag; the text says why."""


class Frame(NamedTuple):
    """A message: plain data, and the bytes that it refers to."""

    body: Any
    blob: bytes | bytearray | memoryview = b""


def pack(
    body: Any, blob: bytes | bytearray | memoryview = b"", *, most: int | None = None
) -> bytes:
    """Return a frame's bytes. ``body`` is JSON data; NaN and infinities are allowed.

    Raise BrokenFrame if there are too many bytes, or more than ``most`` values.
    """
    return pack_text(as_json(body).encode("ascii"), blob, most=most)


def pack_text(
    text: bytes, blob: bytes | bytearray | memoryview = b"", *, most: int | None = None
) -> bytes:
    """Like ``pack``, for data that is JSON already."""
    if len(text) > MAX_JSON_BYTES or len(blob) > MAX_BLOB_BYTES:
        raise BrokenFrame(f"a message of {len(text) + len(blob):,} bytes is over the cap")
    limit_nodes(text, most)
    return b"".join((HEADER.pack(MAGIC, len(text), len(blob)), text, blob))


def sizes(header: bytes) -> tuple[int, int]:
    """Return (JSON bytes, blob bytes) of a header; raise BrokenFrame if one is over the cap."""
    magic, json_bytes, blob_bytes = HEADER.unpack(header)
    if magic != MAGIC:
        raise BrokenFrame("what came back is not a message of the worker's")
    if json_bytes > MAX_JSON_BYTES or blob_bytes > MAX_BLOB_BYTES:
        raise BrokenFrame(f"a message of {json_bytes + blob_bytes:,} bytes is over the cap")
    return json_bytes, blob_bytes


def limit_nodes(text: bytes | bytearray, most: int | None) -> None:
    """Raise BrokenFrame if JSON may hold more than ``most`` values.

    Counting brackets, commas and colons (including those in strings) takes no memory. A parsed tree
    takes up to a hundred times the text's size.
    """
    if most is not None and len(text) > most:
        nodes = sum(text.count(sign) for sign in STRUCTURE)
        if nodes > most:
            raise BrokenFrame(f"a message of more than {most:,} values is over the cap")


def unpack(
    text: bytes | bytearray, blob: bytes | bytearray | memoryview, *, most: int | None = None
) -> Frame:
    """Return a frame from its two parts, of at most ``most`` values; raise only BrokenFrame."""
    limit_nodes(text, most)
    try:
        return Frame(json.loads(bytes(text).decode("utf-8")), blob)
    except (ValueError, RecursionError, MemoryError) as error:
        raise BrokenFrame(f"a message that is not JSON: {type(error).__name__}") from None


def write_frame(stream: BinaryIO, body: Any, blob: bytes | bytearray = b"") -> None:
    stream.write(pack(body, blob))
    stream.flush()


def read_frame(stream: BinaryIO) -> Frame | None:
    """Read one frame from a blocking stream, without a deadline; None at the stream's end."""
    header = _read(stream, HEADER.size)
    if not header:
        return None
    if len(header) == HEADER.size:
        json_bytes, blob_bytes = sizes(header)
        text, blob = _read(stream, json_bytes), _read(stream, blob_bytes)
        if len(text) == json_bytes and len(blob) == blob_bytes:
            return unpack(text, blob)
    raise BrokenFrame("the stream ended in the middle of a message")


def read_body(stream: BinaryIO) -> Any:
    """Return the data of the next frame, which must exist."""
    frame = read_frame(stream)
    if frame is None:
        raise BrokenFrame("the stream ended where a message was due")
    return frame.body


def _read(stream: BinaryIO, count: int) -> bytes:
    """Return ``count`` bytes, fewer only at the stream's end."""
    data = stream.read(count) if count else b""
    while data and len(data) < count and (more := stream.read(count - len(data))):
        data += more
    return data or b""
