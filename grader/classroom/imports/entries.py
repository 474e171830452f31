"""List the items in a class's folder or zip without reading their contents.

One student's submission within a class, and a class as found on disk.

What a layout finds among a class's items: submissions that have no unique name yet.
"""

from __future__ import annotations

import enum
import functools
import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Protocol

from grader.course.files import (
    ZIP_SUFFIX,
    FileEntry,
    folder_leaves,
    is_link,
    is_skipped,
    member_leaf,
    member_path,
    open_inside,
)
from grader.course.submission import LessonFile, meant_name

CLUTTER = frozenset({"Thumbs.db", "desktop.ini", "Icon\r"})
"""Files that systems add to folders, besides hidden ones."""


class Kind(enum.Enum):
    """What an item is."""

    FOLDER = enum.auto()
    FILE = enum.auto()
    LINK = enum.auto()
    OTHER = enum.auto()


class Container(Protocol):
    """The folder or zip of items. A class has thousands of them; what they share is here."""

    def leaves(self, item: Entry) -> Iterator[FileEntry]:
        """Yield the item if it is a file, else the files in it and below."""

    def inside(self, item: Entry) -> list[Entry]:
        """Return the items in a folder; none for a file."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that lies in a folder or a zip."""

    name: str
    kind: Kind
    home: Container

    def leaves(self) -> Iterator[FileEntry]:
        return self.home.leaves(self)

    def inside(self) -> list[Entry]:
        return self.home.inside(self)


def folder_items(folder: Path) -> list[Entry]:
    """Return the items of a folder, by name; raise OSError if it can't be read."""
    home = _OnDisk(str(folder))
    with os.scandir(folder) as entries:
        return sorted(
            (Entry(entry.name, _kind(entry), home) for entry in entries), key=lambda item: item.name
        )


@dataclass(frozen=True, slots=True)
class _OnDisk:
    folder: str

    def leaves(self, item: Entry) -> Iterator[FileEntry]:
        path = Path(self.folder, item.name)
        if item.kind is Kind.FOLDER:
            return folder_leaves(path)
        return iter([FileEntry(item.name, functools.partial(open_inside, path, path))])

    def inside(self, item: Entry) -> list[Entry]:
        return folder_items(Path(self.folder, item.name)) if item.kind is Kind.FOLDER else []


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER


@dataclass(frozen=True, slots=True)
class _Member:
    parts: tuple[str, ...]
    entry: zipfile.ZipInfo
    is_folder: bool


@dataclass(frozen=True, slots=True)
class _InZip:
    archive: zipfile.ZipFile
    members: list[_Member]
    depth: int

    def leaves(self, item: Entry) -> Iterator[FileEntry]:
        for member in self.members:
            parts = member.parts[self.depth :]
            if parts and not member.is_folder and not any(map(is_skipped, parts[:-1])):
                yield member_leaf(self.archive, member.entry, "/".join(parts))

    def inside(self, item: Entry) -> list[Entry]:
        if item.kind is not Kind.FOLDER:
            return []
        return _grouped(
            self.archive,
            [member for member in self.members if len(member.parts) > self.depth],
            self.depth,
        )


def zip_items(archive: zipfile.ZipFile) -> tuple[list[Entry], list[str]]:
    """Return the items of a zip, by name, and the paths that lead out of it, which are not read."""
    members, outside = [], []
    for entry in archive.infolist():
        path = member_path(entry)
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if ".." in parts or not parts:
            outside.append(path)
        else:
            members.append(_Member(parts, entry, path.endswith("/")))
    return _grouped(archive, members, 0), outside


def _grouped(archive: zipfile.ZipFile, members: list[_Member], depth: int) -> list[Entry]:
    folders: dict[str, list[_Member]] = {}
    items = []
    for member in members:
        if member.is_folder or len(member.parts) > depth + 1:
            folders.setdefault(member.parts[depth], []).append(member)
        else:
            kind = Kind.LINK if is_link(member.entry) else Kind.FILE
            items.append(Entry(member.parts[-1], kind, _InZip(archive, [member], depth)))
    items += [
        Entry(name, Kind.FOLDER, _InZip(archive, below, depth + 1))
        for name, below in folders.items()
    ]
    return sorted(items, key=lambda item: item.name)


def visible(items: list[Entry]) -> tuple[Entry, ...]:
    """Return the items that are neither hidden nor system files."""
    return tuple(item for item in items if not is_skipped(item.name) and item.name not in CLUTTER)


@dataclass(frozen=True, slots=True)
class StudentIdentity:
    """Who handed a submission in. ``ids`` maps each system's name for an id to its value:
    ``canvas_id``, ``sis_login_id``, ``moodle_participant``, ``gradescope_submission``, ``email``,
    ``sid``, ``username``, …

    ``details`` are what a roster adds: ``section``; ``due``, an extension; ``handed_in``, a time.
    """

    name: str
    ids: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission.

    ``name`` is unique in the class, stable, and a valid file name: reports are named after it.
    ``read`` returns its lessons' files; it raises SubmissionError if nothing can be read.
    ``handed_in`` is the time (ISO 8601 in UTC) if the download has it. ``came_as`` is the name of
    the folder or first file in the download, which the other system needs to accept feedback.
    """

    name: str
    students: tuple[StudentIdentity, ...]
    read: Callable[[Iterable[str]], dict[str, LessonFile]]
    late: bool = False
    handed_in: str | None = None
    came_as: str = ""


@dataclass(frozen=True, slots=True)
class ClassImport:
    """A class: its layout, its submissions by name, and ignored entries with the reason.

    ``replaced`` are attempts that a later one replaced, with the one that counts now. ``notes`` are
    for the instructor: a person in two submissions, two people with the same name, a wrapping
    folder.
    """

    layout: str
    handed: tuple[Submission, ...]
    passed_over: tuple[tuple[str, str], ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


OTHER_ARCHIVES = re.compile(r"\.(rar|7z|tar|tgz|txz|tbz2|gz|xz|bz2|alz|egg)\Z", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Directory:
    """The folder or part of a zip that holds the submissions: its name and its items."""

    name: str
    items: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Lessons by file name; ``only`` has the names of the single lesson that is graded."""

    names: Mapping[str, str]
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PendingSubmission:
    """A submission as a layout found it. ``id`` makes its name unique; ``leaves`` lists files.

    ``handed_in`` and ``came_as`` are as in ``Submission``.
    """

    students: tuple[StudentIdentity, ...]
    leaves: Callable[[], Iterator[FileEntry]]
    id: str = ""
    late: bool = False
    handed_in: str | None = None
    came_as: str = ""

    @property
    def name(self) -> str:
        return " + ".join(student.name for student in self.students)


@dataclass(slots=True)
class SortedEntries:
    """A class as a layout read it: submissions, ignored and replaced items, notes."""

    drafts: list[PendingSubmission] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    replaced: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DownloadLayout:
    """A layout: ``looks_like`` describes its names, ``matcher`` tests one, ``read_level`` reads a
    level.
    """

    name: str
    looks_like: str
    matcher: Callable[[Directory], Callable[[Entry], bool]]
    read_level: Callable[[Directory, Lessons], SortedEntries]

    def claims(self, level: Directory) -> bool:
        """Return whether at least half of a level's items have names of this layout."""
        matching = sum(map(self.matcher(level), level.items))
        return matching > 0 and 2 * matching >= len(level.items)


def together(parts: Sequence[tuple[Entry, str | None]]) -> Callable[[], Iterator[FileEntry]]:
    """Return a function that yields the files of several items.

    A file is treated as if it had the name beside it, if there is one.
    """
    if len(parts) == 1 and parts[0][1] is None:
        return parts[0][0].leaves
    return _Together(tuple(parts))


@dataclass(frozen=True, slots=True)
class _Together:
    parts: tuple[tuple[Entry, str | None], ...]

    def __call__(self) -> Iterator[FileEntry]:
        for item, named in self.parts:
            for leaf in item.leaves():
                yield replace(leaf, named=named) if named and item.kind is Kind.FILE else leaf


def is_zip(name: str) -> bool:
    return name.lower().endswith(ZIP_SUFFIX)


def is_useful(name: str, names: Mapping[str, str]) -> bool:
    return names_a_lesson(name, names) or is_zip(name)


def names_a_lesson(name: str, names: Mapping[str, str]) -> bool:
    """Return whether a file has the name of a lesson, or almost."""
    return name in names or meant_name(name, names) is not None


def why_not(item: Entry, remedy: str) -> str:
    """Return the reason why an item is not graded: a more specific one, or ``remedy``."""
    if item.kind is Kind.LINK:
        return "is a link, and links are not followed. Replace it by a copy of its target"
    if item.kind is Kind.OTHER:
        return "is neither a folder nor a file"
    if item.kind is Kind.FILE and OTHER_ARCHIVES.search(item.name):
        return "is an archive that is not a zip. Unpack it into a folder, or make a zip of it"
    return remedy


def stem(name: str) -> str:
    return PurePosixPath(name).stem
