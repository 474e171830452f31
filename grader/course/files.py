"""Files in a folder or a zip: what there is, and a way to read each, also inside zips in zips.

Nothing is unpacked to a path, and nothing is read until it is asked for. Links out of a folder,
links in a zip and special files can't be opened. Zips come from strangers: the numbers of entries
and of zips, the nesting and what a zip inside a zip grows to are bounded. Names are decoded as
their authors meant them.
"""

from __future__ import annotations

import abc
import collections
import contextlib
import enum
import functools
import itertools
import os
import re
import stat
import struct
import tempfile
import time
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import IO
from zoneinfo import ZoneInfo

from grader.core.errors import SubmissionError

MAX_MEMBERS = 10_000
"""Entries of one student's zip or folder."""
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
        """Return the same file with ``folder``, which may be empty, before its path."""
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


class Kind(enum.Enum):
    """What an entry is."""

    FOLDER = enum.auto()
    FILE = enum.auto()
    LINK = enum.auto()
    OTHER = enum.auto()


@dataclass(frozen=True, slots=True)
class Entry(abc.ABC):
    """One thing that lies in a folder or a zip. A class has thousands of them."""

    name: str
    kind: Kind

    @abc.abstractmethod
    def files(self) -> Iterator[FileEntry]:
        """Yield the entry itself if it is not a folder, else the files in it and below."""

    @abc.abstractmethod
    def inside(self) -> list[Entry]:
        """Return the entries of a folder, by name; none for a file. Raise OSError."""

    def holds(self, name: str) -> bool:
        """Return whether an entry of this name lies in it; False if that can't be read."""
        try:
            return any(entry.name == name for entry in self.inside())
        except OSError:
            return False


def newest_time(place: Path, zone: ZoneInfo | None = None) -> float | None:
    """Return the newest time of a file in a zip, or in a folder and below, in seconds since 1970;
    None if there is none. Of a folder, hidden files and times in the future do not count. A zip
    has times without a zone, which are in this one, by default that of the machine.
    """
    with contextlib.suppress(OSError, ValueError, zipfile.BadZipFile, SubmissionError):
        if place.is_dir():
            files = (
                folder / entry.name
                for folder, entries in _folders(place, MAX_CLASS_MEMBERS)
                for entry in entries
                if entry.kind is Kind.FILE and not is_skipped(entry.name)
            )
            times = (file.lstat().st_mtime for file in files)
            return max(at for at in times if at <= time.time())
        with zipfile.ZipFile(place) as archive:
            newest = max(member.date_time for member in archive.infolist())
        return datetime(*newest, tzinfo=zone).timestamp()
    return None


def is_skipped(folder: str) -> bool:
    """Return whether a folder of this name never contains submissions."""
    return folder in SKIPPED_FOLDERS or folder.startswith(".")


def folder_entries(folder: Path, *, most: int | None = None) -> list[Entry]:
    """Return the entries of a folder, at most so many, by name; raise OSError if it can't be
    read.
    """
    where = str(folder)
    with os.scandir(folder) as found:
        some = itertools.islice(found, most)
        entries: list[Entry] = [DiskEntry(one.name, _kind(one), where) for one in some]
    return sorted(entries, key=lambda entry: entry.name)


def folder_files(root: Path, *, most: int | None = None) -> Iterator[FileEntry]:
    """Yield all files below a folder, the least deep first, without following links; raise
    SubmissionError. ``most`` is how many entries are looked at, unless it is None.
    """
    for folder, entries in _folders(root, most):
        for entry in entries:
            path = folder / entry.name
            is_folder = entry.kind is Kind.FOLDER or (entry.kind is Kind.LINK and _is_folder(path))
            if not is_folder:
                below = path.relative_to(root).as_posix()
                yield FileEntry(below, functools.partial(open_inside, path, root))


def holds_more(root: Path, most: int) -> bool:
    """Return whether more entries lie below a folder."""
    return sum(len(entries) for _, entries in _folders(root, most + 1)) > most


def _folders(root: Path, most: int | None) -> Iterator[tuple[Path, list[Entry]]]:
    """Yield a folder and those below it, each with its entries, until there are ``most`` of them.

    Folders may be nested as deeply as the system allows, so this does not recurse.
    """
    todo, looked_at = collections.deque([root]), 0
    while todo and (most is None or looked_at < most):
        folder = todo.popleft()
        try:
            entries = folder_entries(folder, most=most and most - looked_at)
        except OSError as error:
            if folder == root:
                raise SubmissionError(CLOSED, path=str(root), reason=str(error.strerror)) from None
            continue
        looked_at += len(entries)
        inner = (one.name for one in entries if one.kind is Kind.FOLDER)
        todo += [folder / name for name in inner if not is_skipped(name)]
        yield folder, entries


@dataclass(frozen=True, slots=True)
class DiskEntry(Entry):
    """An entry of a folder on disk."""

    folder: str

    def files(self) -> Iterator[FileEntry]:
        path = Path(self.folder, self.name)
        if self.kind is Kind.FOLDER:
            return folder_files(path)
        return iter([FileEntry(self.name, functools.partial(open_inside, path, path))])

    def inside(self) -> list[Entry]:
        return folder_entries(Path(self.folder, self.name)) if self.kind is Kind.FOLDER else []


def _kind(entry: os.DirEntry[str]) -> Kind:
    """Return the kind of an entry on disk. A junction (known from Python 3.12 on) is a link."""
    try:
        if entry.is_symlink() or bool(getattr(entry, "is_junction", bool)()):
            return Kind.LINK
        if entry.is_dir(follow_symlinks=False):
            return Kind.FOLDER
        return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER
    except OSError:
        return Kind.OTHER


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # before Python 3.14
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


def zip_entries(archive: zipfile.ZipFile) -> tuple[list[Entry], list[str]]:
    """Return the entries of a zip, by name, and the paths that lead out of it, which are not
    read.
    """
    members, outside = [], []
    for member in _members(archive):
        parts = tuple(part for part in member.parts if part not in ("/", "//"))
        if ".." in parts or not parts:
            outside.append(member_path(member.info))
        else:
            members.append(replace(member, parts=parts))
    return ZipEntry("", Kind.FOLDER, archive, members, 0).inside(), outside


def zip_files(archive: zipfile.ZipFile) -> Iterator[FileEntry]:
    """Yield all files in a zip, in its order."""
    return ZipEntry("", Kind.FOLDER, archive, list(_members(archive)), 0).files()


@dataclass(frozen=True, slots=True)
class _Member:
    parts: tuple[str, ...]
    info: zipfile.ZipInfo
    is_folder: bool


def _members(archive: zipfile.ZipFile) -> Iterator[_Member]:
    for info in archive.infolist():
        path = member_path(info)
        yield _Member(PurePosixPath(path).parts, info, path.endswith("/"))


def _open_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> IO[bytes]:
    if is_link(info):
        raise OSError("a link")
    return archive.open(info)


@dataclass(frozen=True, slots=True)
class ZipEntry(Entry):
    """An entry of a folder in a zip: its members, and how many parts of their paths lead to it."""

    archive: zipfile.ZipFile
    members: Sequence[_Member]
    depth: int

    def files(self) -> Iterator[FileEntry]:
        for member in self.members:
            parts = member.parts[self.depth :]
            if parts and not member.is_folder and not any(map(is_skipped, parts[:-1])):
                yield FileEntry(
                    str(PurePosixPath(*parts)),
                    functools.partial(_open_member, self.archive, member.info),
                    packed_bytes=member.info.compress_size,
                )

    def inside(self) -> list[Entry]:
        if self.kind is not Kind.FOLDER:
            return []
        depth = self.depth
        folders: dict[str, list[_Member]] = {}
        entries: list[Entry] = []
        for member in self.members:
            if len(member.parts) == depth:
                continue  # the folder itself
            if member.is_folder or len(member.parts) > depth + 1:
                folders.setdefault(member.parts[depth], []).append(member)
            else:
                kind = Kind.LINK if is_link(member.info) else Kind.FILE
                entries.append(ZipEntry(member.parts[-1], kind, self.archive, [member], depth))
        entries += [
            ZipEntry(name, Kind.FOLDER, self.archive, below, depth + 1)
            for name, below in folders.items()
        ]
        return sorted(entries, key=lambda entry: entry.name)


class Unzipped(contextlib.ExitStack):
    """Files, and those inside zips among them. The zips are closed when the block ends.

    ``unread`` has the zips that were not opened, and why: MAX_NESTING, MAX_ARCHIVES, MAX_MEMBERS.
    """

    def __init__(self) -> None:
        super().__init__()
        self.files: list[FileEntry] = []
        self.unread: list[tuple[str, SubmissionError]] = []
        self._archives = 0
        self._members = 0

    def add(self, files: Iterable[FileEntry], nesting: int = 0) -> None:
        for file in files:
            self.files.append(file)
            if file.name.lower().endswith(ZIP_SUFFIX) and not file.name.startswith("."):
                try:
                    self._enter(file, nesting)
                except SubmissionError as error:
                    self.unread.append((file.path, error))

    def _enter(self, file: FileEntry, nesting: int) -> None:
        if nesting >= MAX_NESTING:
            message = (
                "{path} lies {depth} zips deep, and {most} are opened. Hand in the lessons alone"
            )
            raise SubmissionError(
                message, path=file.path, depth=str(nesting + 1), most=str(MAX_NESTING)
            )
        self._archives += 1
        if self._archives > MAX_ARCHIVES:
            message = "{path} is one zip of more than {most}. Hand in the lessons alone"
            raise SubmissionError(message, path=file.path, most=str(MAX_ARCHIVES))
        archive = self.enter_context(open_zip(self._stream(file), file.path))
        self._members += len(archive.infolist())
        if self._members > MAX_MEMBERS:
            message = (
                "{path} and the zips before it hold more than {most} entries. Zip the lessons alone"
            )
            raise SubmissionError(message, path=file.path, most=f"{MAX_MEMBERS:,}")
        inner = (
            replace(one, path=f"{file.path}/{one.path.lstrip('/')}") for one in zip_files(archive)
        )
        self.add(inner, nesting + 1)

    def _stream(self, file: FileEntry) -> IO[bytes]:
        try:
            stream = file.open()
            if file.packed_bytes is not None:
                with stream as packed:
                    stream = open_nested_zip(packed, file.packed_bytes, file.path)
        except SubmissionError:
            raise
        except PermissionError as error:
            raise SubmissionError(CLOSED, path=file.path, reason=str(error.strerror)) from None
        except Exception as error:  # as in FileEntry.read
            reason = str(error) or type(error).__name__
            raise SubmissionError(
                "{path} can't be read: {reason}. Make the zip again, without a password",
                path=file.path,
                reason=reason,
            ) from None
        return self.enter_context(stream)


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
