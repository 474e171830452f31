"""Turn messages into frames, and frames into messages.

A frame is a header (magic, length of the message, length of the blob, number), the message in
MessagePack, and the blob: the raw bytes of the tensors that the message describes, in order. Both
lengths are checked against a cap before anything is read or allocated. The number of an answer is
that of its question.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Any, BinaryIO, NamedTuple

import msgspec

MAGIC = b"GRL2"
HEADER = struct.Struct("!4sIIQ")
MAX_MESSAGE_BYTES = 8 << 20
MAX_BLOB_BYTES = 64 << 20
MAX_VALUES = 50_000
"""How many values a worker's message may have. The answers to a gradcheck have about 10,000."""

encode = msgspec.msgpack.Encoder().encode
Bytes = bytes | bytearray | memoryview
MALFORMED = (msgspec.MsgspecError, ValueError, RecursionError, MemoryError)
"""What msgspec raises for bytes that are not a message."""


class BrokenFrame(Exception):
    """The bytes are not a frame, or its data does not fit its type; the text says why."""


class Frame(NamedTuple):
    """A message in MessagePack, the bytes that it refers to, and a number."""

    message: Bytes
    blob: Bytes = b""
    number: int = 0

    @property
    def body(self) -> Any:
        """The message as plain data, for what the engine's own processes send each other."""
        return self.read(PLAIN)

    def read(self, decoder: msgspec.msgpack.Decoder[Any]) -> Any:
        """Return the message; raise only BrokenFrame."""
        try:
            return decoder.decode(self.message)
        except MALFORMED as error:
            raise BrokenFrame(f"a malformed message: {error or type(error).__name__}") from None


PLAIN = msgspec.msgpack.Decoder()


def pack(body: Any, blob: Bytes = b"") -> bytes:
    """Return the frame of plain data; NaN and infinities are allowed, and a lone surrogate in a
    text is escaped. Raise BrokenFrame if there are too many bytes.
    """
    try:
        message = encode(body)
    except UnicodeEncodeError:
        message = encode(_escaped(body))
    return framed(message, (blob,))


def framed(message: bytes, parts: Sequence[Bytes], *, number: int = 0) -> bytes:
    """Return the frame of a message that is encoded already, with the parts of its blob."""
    size = sum(map(len, parts))
    if len(message) > MAX_MESSAGE_BYTES or size > MAX_BLOB_BYTES:
        raise BrokenFrame(f"a message of {len(message) + size:,} bytes is over the cap")
    return b"".join((HEADER.pack(MAGIC, len(message), size, number), message, *parts))


def sizes(header: Bytes) -> tuple[int, int, int]:
    """Return (message bytes, blob bytes, number); raise BrokenFrame if one is over the cap."""
    magic, message_bytes, blob_bytes, number = HEADER.unpack_from(header)
    if magic != MAGIC:
        raise BrokenFrame("what came back is not a message of the worker's")
    if message_bytes > MAX_MESSAGE_BYTES or blob_bytes > MAX_BLOB_BYTES:
        raise BrokenFrame(f"a message of {message_bytes + blob_bytes:,} bytes is over the cap")
    return message_bytes, blob_bytes, number


HEADS: dict[int, tuple[int, int, int]] = {
    **{0x80 + k: (0, 0, 2 * k) for k in range(16)},  # small maps
    **{0x90 + k: (0, 0, k) for k in range(16)},  # small arrays
    **{0xA0 + k: (0, k, 0) for k in range(32)},  # short texts
    **{0xC4 + k: (1 << k, 0, 0) for k in range(3)},  # bytes
    **{0xC7 + k: (1 << k, 1, 0) for k in range(3)},  # extensions
    **{0xCA + k: (0, 4 << k, 0) for k in range(2)},  # floats
    **{0xCC + k: (0, 1 << k % 4, 0) for k in range(8)},  # integers
    **{0xD4 + k: (0, 1 + (1 << k), 0) for k in range(5)},  # extensions of one size
    **{0xD9 + k: (1 << k, 0, 0) for k in range(3)},  # texts
    **{0xDC + k: (2 << k % 2, 0, 1 + k // 2) for k in range(4)},  # arrays, maps
}
"""What follows the first byte of a value in MessagePack, if anything: how many bytes of a size, how
many other bytes, how many values. A size counts bytes, or values where that number is given.
"""


def limit_values(message: bytes, most: int) -> None:
    """Raise BrokenFrame if a message has, or claims to have, more than ``most`` values.

    This takes no memory; values take up to a hundred times their bytes. A short message can't have
    too many values, and msgspec refuses one that claims more values than it has bytes.
    """
    if len(message) <= most:
        return
    at, found, expected = 0, 0, 1
    while expected:
        if at >= len(message):
            raise BrokenFrame("a message that ends too early")
        size_bytes, other_bytes, values = HEADS.get(message[at], (0, 0, 0))
        at += 1 + size_bytes
        size = int.from_bytes(message[at - size_bytes : at], "big")
        if size_bytes and values:
            values *= size
        else:
            at += size
        at += other_bytes
        found += 1
        expected += values - 1
        if found + expected > most:
            raise BrokenFrame(f"a message of more than {most:,} values is over the cap")


def _escaped(value: Any) -> Any:
    """Return plain data in which lone surrogates are escaped."""
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode()
    if isinstance(value, dict):
        return {_escaped(key): _escaped(item) for key, item in value.items()}
    return [_escaped(item) for item in value] if isinstance(value, list | tuple) else value


def write_frame(stream: BinaryIO, body: Any, blob: Bytes = b"") -> None:
    stream.write(pack(body, blob))
    stream.flush()


def read_frame(stream: BinaryIO) -> Frame | None:
    """Read one frame from a blocking stream, without a deadline; None at the stream's end."""
    header = _read(stream, HEADER.size)
    if not header:
        return None
    if len(header) == HEADER.size:
        message_bytes, blob_bytes, number = sizes(header)
        message, blob = _read(stream, message_bytes), _read(stream, blob_bytes)
        if len(message) == message_bytes and len(blob) == blob_bytes:
            return Frame(message, blob, number)
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
