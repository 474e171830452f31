"""Open zips from strangers within bounds, and decode names; nothing is unpacked to a path."""

from __future__ import annotations

import contextlib
import re
import stat
import struct
import tempfile
import zipfile
from pathlib import Path
from typing import IO

from grader.core.errors import SubmissionError

MAX_MEMBERS = 10_000
"""Entries of one student's zip."""
MAX_CLASS_MEMBERS = 500_000
"""Entries of the zip of a whole class."""
MAX_INNER_BYTES = 256 << 20
"""The size limit for a zip within a zip, which is copied to disk while it is read."""
FREE_BYTES = 8 << 20
MAX_RATIO = 40
"""Beyond FREE_BYTES, how much larger than its packed form a zip within a zip may be: a zip hardly
shrinks, so a larger ratio means a bomb.
"""
CHUNK_BYTES = 1 << 18
NO_ZIP = "{path} is not a readable zip: {reason}. Make it again, or unpack it into a folder"

ENTRY_BYTES = 400
"""An upper estimate for an entry of a zip's directory: a fixed part of 46 bytes and a path."""
END, END64, LOCATOR64 = b"PK\x05\x06", b"PK\x06\x06", b"PK\x06\x07"
ELSEWHERE = 0xFFFFFFFF
"""In the old record, this value refers to the 64-bit record."""
TAIL_BYTES = 22 + 0xFFFF + 20 + 56
"""The bytes at a zip's end that contain its end records: one of 22 bytes, a comment, and the two of
the 64-bit form.
"""


def open_zip(file: Path | IO[bytes], name: str, *, members: int = MAX_MEMBERS) -> zipfile.ZipFile:
    """Open a zip; raise SubmissionError with its name if it is bad or too large."""
    try:
        with file.open("rb") if isinstance(file, Path) else contextlib.nullcontext(file) as stream:
            if _directory_bytes(stream) > members * ENTRY_BYTES:
                raise SubmissionError(
                    "{path} holds far more than {most} entries. Zip the lessons alone",
                    path=name,
                    most=f"{members:,}",
                )
        archive = zipfile.ZipFile(file)
    except SubmissionError:
        raise
    except Exception as error:  # zipfile raises various errors for a damaged directory
        raise SubmissionError(NO_ZIP, path=name, reason=str(error)) from None
    count = len(archive.infolist())
    if count > members:
        archive.close()
        message = "{path} holds {count} entries, more than {most}. Zip the lessons alone"
        raise SubmissionError(message, path=name, count=f"{count:,}", most=f"{members:,}")
    return archive


def _directory_bytes(stream: IO[bytes]) -> int:
    """Return the length of a zip's directory, which zipfile reads at once and which then takes ten
    times the memory.

    Versions of zipfile use different end records, so the largest claim counts. (Format: PKWARE's
    APPNOTE.TXT, 4.3.14 to 4.3.16.)
    """
    stream.seek(max(0, stream.seek(0, 2) - TAIL_BYTES))
    tail = stream.read()
    claims = _numbers(tail, END, "<L", 12) + _numbers(tail, END64, "<Q", 40)
    for offset in _numbers(tail, LOCATOR64, "<Q", 8):
        if offset < 1 << 62:
            stream.seek(offset)
            claims += _numbers(stream.read(56), END64, "<Q", 40)
    stream.seek(0)
    return max((claim for claim in claims if claim != ELSEWHERE), default=0)


def _numbers(data: bytes, signature: bytes, form: str, offset: int) -> list[int]:
    """Return the number at ``offset`` of each record with that signature."""
    starts = (found.start() + offset for found in re.finditer(re.escape(signature), data))
    return [
        struct.unpack_from(form, data, start)[0]
        for start in starts
        if start + struct.calcsize(form) <= len(data)
    ]


def member_path(entry: zipfile.ZipInfo) -> str:
    """Return a member's path with slashes.

    Names not marked as UTF-8 are decoded by zipfile as code page 437. macOS writes UTF-8 and Korean
    Windows CP949 without marking it; both are tried.
    """
    path = entry.filename
    if not entry.flag_bits & 0x800 and not path.isascii():
        path = _as_meant(path)
    return path.replace("\\", "/")


def _as_meant(path: str) -> str:
    try:
        raw = path.encode("cp437")
    except UnicodeEncodeError:
        return path
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        pass
    try:
        korean = raw.decode("cp949")
    except UnicodeDecodeError:
        return path
    foreign = [letter for letter in korean if not letter.isascii()]
    common = sum(_is_common_korean(letter) for letter in foreign)
    # An accented name could be decoded as rare syllables, but not as common ones.
    return korean if 2 * common >= len(foreign) else path


def _is_common_korean(letter: str) -> bool:
    try:
        return len(letter.encode("euc_kr")) == 2
    except UnicodeEncodeError:
        return False


def is_link(entry: zipfile.ZipInfo) -> bool:
    """Return whether a member is a symbolic link, so that its contents are a path and not the
    student's text.
    """
    return stat.S_ISLNK(entry.external_attr >> 16)


def open_nested_zip(packed: IO[bytes], packed_bytes: int, name: str) -> IO[bytes]:
    """Open a zip within a zip, on disk if large; raise SubmissionError if it is too large."""
    opened: IO[bytes] = tempfile.SpooledTemporaryFile(max_size=FREE_BYTES)  # noqa: SIM115 - the caller closes it
    limit = min(MAX_INNER_BYTES, max(FREE_BYTES, MAX_RATIO * packed_bytes))
    written = 0
    try:
        while chunk := packed.read(CHUNK_BYTES):
            written += len(chunk)
            if written > limit:
                message = (
                    "{path} grows beyond {megabytes} MB when it is opened. Hand in a zip of the"
                    " lessons alone"
                )
                raise SubmissionError(message, path=name, megabytes=str(limit >> 20))
            opened.write(chunk)
    except BaseException:
        opened.close()
        raise
    opened.seek(0)
    return opened
