"""List the files in a folder or a zip without reading them, including those in zips inside."""

from __future__ import annotations

import contextlib
import functools
import os
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import IO

from grader.core.errors import SubmissionError
from grader.course.zips import MAX_MEMBERS, is_link, member_path, open_nested_zip, open_zip

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
