"""What lies in a class's folder or zip, read alike: items with their files, named but not read.

Imports ``leaves``, ``archives``; no torch.
"""

from __future__ import annotations

import enum
import functools
import os
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from grader.archives import is_link, member_path
from grader.leaves import Leaf, folder_leaves, is_skipped, member_leaf, open_inside

CLUTTER = frozenset({"Thumbs.db", "desktop.ini", "Icon\r"})
"""What systems put into folders beside hidden files."""


class Kind(enum.Enum):
    """What an item is."""

    FOLDER = enum.auto()
    FILE = enum.auto()
    LINK = enum.auto()
    OTHER = enum.auto()


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that lies in a folder or a zip: ``leaves`` gives its files, a file being one itself, ``inside`` a folder's items."""

    name: str
    kind: Kind
    leaves: Callable[[], Iterator[Leaf]]
    inside: Callable[[], list[Item]]


def folder_items(folder: Path) -> list[Item]:
    """What lies in a folder, by name; raises OSError where it can't be read."""
    with os.scandir(folder) as entries:
        return [_item_on_disk(Path(entry.path), _kind(entry)) for entry in sorted(entries, key=lambda entry: entry.name)]


def _kind(entry: os.DirEntry[str]) -> Kind:
    if entry.is_symlink():
        return Kind.LINK
    if entry.is_dir(follow_symlinks=False):
        return Kind.FOLDER
    return Kind.FILE if entry.is_file(follow_symlinks=False) else Kind.OTHER


def _item_on_disk(path: Path, kind: Kind) -> Item:
    if kind is Kind.FOLDER:
        return Item(path.name, kind, functools.partial(folder_leaves, path), functools.partial(folder_items, path))
    leaf = Leaf(path.name, functools.partial(open_inside, path, path))
    return Item(path.name, kind, lambda: iter([leaf]), list)


@dataclass(frozen=True, slots=True)
class _Member:
    parts: tuple[str, ...]
    entry: zipfile.ZipInfo
    is_folder: bool


def zip_items(archive: zipfile.ZipFile) -> tuple[list[Item], list[str]]:
    """What lies in a zip, by name, and the paths of members that lead out of it, which nothing is read from."""
    members, outside = [], []
    for entry in archive.infolist():
        path = member_path(entry)
        parts = tuple(part for part in path.split("/") if part not in ("", "."))
        if ".." in parts or not parts:
            outside.append(path)
        else:
            members.append(_Member(parts, entry, path.endswith("/")))
    return _grouped(archive, members, 0), outside


def _grouped(archive: zipfile.ZipFile, members: list[_Member], depth: int) -> list[Item]:
    folders: dict[str, list[_Member]] = {}
    items = []
    for member in members:
        if member.is_folder or len(member.parts) > depth + 1:
            folders.setdefault(member.parts[depth], []).append(member)
        else:
            leaf = member_leaf(archive, member.entry, member.parts[-1])
            kind = Kind.LINK if is_link(member.entry) else Kind.FILE
            items.append(Item(member.parts[-1], kind, functools.partial(_alone, leaf), list))
    for name, below in folders.items():
        leaves = functools.partial(_below, archive, below, depth + 1)
        items.append(Item(name, Kind.FOLDER, leaves, functools.partial(_inside, archive, below, depth + 1)))
    return sorted(items, key=lambda item: item.name)


def _alone(leaf: Leaf) -> Iterator[Leaf]:
    yield leaf


def _below(archive: zipfile.ZipFile, members: list[_Member], depth: int) -> Iterator[Leaf]:
    for member in members:
        parts = member.parts[depth:]
        if parts and not member.is_folder and not any(map(is_skipped, parts[:-1])):
            yield member_leaf(archive, member.entry, "/".join(parts))


def _inside(archive: zipfile.ZipFile, members: list[_Member], depth: int) -> list[Item]:
    return _grouped(archive, [member for member in members if len(member.parts) > depth], depth)


def visible(items: list[Item]) -> tuple[Item, ...]:
    """Those items that are neither hidden nor put there by a system."""
    return tuple(item for item in items if not is_skipped(item.name) and item.name not in CLUTTER)
