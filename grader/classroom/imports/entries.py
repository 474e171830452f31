"""List the items in a class's folder or zip without reading their contents."""

from __future__ import annotations

import enum
import functools
import os
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from grader.course.files import (
    FileEntry,
    folder_leaves,
    is_link,
    is_skipped,
    member_leaf,
    member_path,
    open_inside,
)

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
