"""List the files in a folder or a zip without reading them, including those in zips inside.

Open zips from strangers within bounds, and decode names; nothing is unpacked to a path.
"""

from __future__ import annotations

import contextlib
import functools
import os
import re
import stat
import struct
import tempfile
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
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


SKIPPED_FOLDERS = frozenset({"__pycache__", "node_modules", "site-packages", "__MACOSX", "venv"})
MAX_NESTING = 2
"""A zip in a submission may contain a zip, and no deeper ones."""
MAX_ARCHIVES = 50
ZIP_SUFFIX = ".zip"
CLOSED = "{path} can't be read: {reason}. Check its permissions"


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file: its path below the submission, with slashes, and a function that opens it.

    ``named`` is its original name, if a system changed it. ``packed_bytes`` is its size in a zip.
    """

    path: str
    open: Callable[[], IO[bytes]]
    named: str | None = None
    packed_bytes: int | None = None

    @property
    def name(self) -> str:
        """The name that says which lesson this is."""
        return PurePosixPath(self.path).name if self.named is None else self.named

    @property
    def depth(self) -> int:
        return self.path.count("/")

    def within(self, folder: str) -> FileEntry:
        """Return the same file with ``folder`` before its path;
        unchanged if ``folder`` is empty.
        """
        if folder:
            return replace(self, path=(PurePosixPath(folder) / self.path).as_posix())
        return self

    def read(self, limit: int) -> bytes | None:
        """Return the first ``limit`` bytes; None if the file can't be read."""
        try:
            with self.open() as stream:
                return stream.read(limit)
        except Exception:  # OSError, zlib.error, BadZipFile, RuntimeError for a password, …
            return None


def is_skipped(folder: str) -> bool:
    """Return whether a folder of this name never contains submissions."""
    return folder in SKIPPED_FOLDERS or folder.startswith(".")


def folder_leaves(root: Path) -> Iterator[FileEntry]:
    """Yield all files below a folder, sorted, without following links; raise SubmissionError.

    Folders may be nested as deeply as the system allows, so this does not recurse.
    """
    todo = [str(root)]
    while todo:
        folder = todo.pop()
        try:
            with os.scandir(folder) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if folder == str(root):
                raise SubmissionError(CLOSED, path=folder, reason=str(error.strerror)) from None
            continue
        inner = []
        for entry in entries:
            if _is_folder(entry):
                if not is_skipped(entry.name) and not _is_link(entry):
                    inner.append(entry.path)
                continue
            path = Path(entry.path)
            yield FileEntry(
                path.relative_to(root).as_posix(), functools.partial(open_inside, path, root)
            )
        todo += reversed(inner)


def _is_link(entry: os.DirEntry[str]) -> bool:
    """Return whether an entry is a symbolic link, or a junction (known from Python 3.12 on)."""
    return entry.is_symlink() or bool(getattr(entry, "is_junction", bool)())


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


def open_inside(path: Path, root: Path) -> IO[bytes]:
    """Open a plain file; raise OSError for links out of ``root`` and special files."""
    try:
        inside = path.resolve().is_relative_to(root.resolve()) and path.is_file()
    except RuntimeError:  # before Python 3.13, a link to itself
        inside = False
    if not inside:
        raise OSError("a link to elsewhere, or no plain file")
    return path.open("rb")


def zip_leaves(archive: zipfile.ZipFile) -> Iterator[FileEntry]:
    for entry in archive.infolist():
        path = PurePosixPath(written := member_path(entry))
        if (
            path.parts
            and not written.endswith("/")
            and not any(is_skipped(part) for part in path.parts[:-1])
        ):
            yield member_leaf(archive, entry, str(path))


def member_leaf(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str) -> FileEntry:
    return FileEntry(
        path, functools.partial(_open_member, archive, entry), packed_bytes=entry.compress_size
    )


def _open_member(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    if is_link(entry):
        raise OSError("a link")
    return archive.open(entry)


class Unzipped:
    """Files, including those inside zips among them; a context manager.

    ``unread`` has the zips that were not opened, and why: MAX_NESTING, MAX_ARCHIVES, MAX_MEMBERS.
    """

    def __init__(self, leaves: Iterable[FileEntry]) -> None:
        self.leaves: list[FileEntry] = []
        self.unread: list[tuple[str, SubmissionError]] = []
        self._open = contextlib.ExitStack()
        self._archives = 0
        self._members = 0
        with contextlib.ExitStack() as failing:
            failing.callback(self._open.close)
            self._add(leaves, 0)
            failing.pop_all()

    def __enter__(self) -> Unzipped:
        return self

    def __exit__(self, *raised: object) -> None:
        self._open.close()

    def _add(self, leaves: Iterable[FileEntry], nesting: int) -> None:
        for leaf in leaves:
            self.leaves.append(leaf)
            if leaf.name.lower().endswith(ZIP_SUFFIX) and not leaf.name.startswith("."):
                try:
                    self._enter(leaf, nesting)
                except SubmissionError as error:
                    self.unread.append((leaf.path, error))

    def _enter(self, leaf: FileEntry, nesting: int) -> None:
        if nesting >= MAX_NESTING:
            message = (
                "{path} lies {depth} zips deep, and {most} are opened. Hand in the lessons alone"
            )
            raise SubmissionError(
                message, path=leaf.path, depth=str(nesting + 1), most=str(MAX_NESTING)
            )
        self._archives += 1
        if self._archives > MAX_ARCHIVES:
            message = "{path} is one zip of more than {most}. Hand in the lessons alone"
            raise SubmissionError(message, path=leaf.path, most=str(MAX_ARCHIVES))
        archive = open_zip(self._stream(leaf), leaf.path, members=MAX_MEMBERS)
        self._open.callback(archive.close)
        self._members += len(archive.infolist())
        if self._members > MAX_MEMBERS:
            message = (
                "{path} and the zips before it hold more than {most} entries. Zip the lessons alone"
            )
            raise SubmissionError(message, path=leaf.path, most=f"{MAX_MEMBERS:,}")
        inner = (
            replace(one, path=f"{leaf.path}/{one.path.lstrip('/')}") for one in zip_leaves(archive)
        )
        self._add(inner, nesting + 1)

    def _stream(self, leaf: FileEntry) -> IO[bytes]:
        try:
            stream = leaf.open()
            if leaf.packed_bytes is not None:
                with stream as packed:
                    stream = open_nested_zip(packed, leaf.packed_bytes, leaf.path)
        except SubmissionError:
            raise
        except PermissionError as error:
            raise SubmissionError(CLOSED, path=leaf.path, reason=str(error.strerror)) from None
        except Exception as error:  # as in FileEntry.read
            reason = str(error) or type(error).__name__
            raise SubmissionError(
                "{path} can't be read: {reason}. Make the zip again, without a password",
                path=leaf.path,
                reason=reason,
            ) from None
        self._open.callback(stream.close)
        return stream
