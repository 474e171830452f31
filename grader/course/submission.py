"""Read one student's files: a folder, a zip or a file with ``<lesson>.py`` or ``.ipynb`` inside.

A problem with a file (``LessonFile.problem``) affects only that lesson.
"""

from __future__ import annotations

import contextlib
import difflib
import functools
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Collection, Container, Iterable
from dataclasses import astuple, replace
from pathlib import Path, PurePath, PurePosixPath

from grader.core.errors import SubmissionError
from grader.course.files import (
    ZIP_SUFFIX,
    FileEntry,
    Unzipped,
    folder_leaves,
    open_inside,
    zip_leaves,
)
from grader.course.lesson_file import LessonFile
from grader.course.notebook.reader import MAX_NOTEBOOK_BYTES, SUFFIX
from grader.course.text_encoding import MAX_FILE_BYTES, Decode, decode, writable
from grader.course.zips import open_zip

SUFFIXES = (".py", SUFFIX)
"""The suffixes of a lesson's file."""
NOT_CALLED = "{path} is not called {name}, so it was not graded. Hand it in under that name"
RENAME = "{path} is not called {name}, so it was not graded. Rename it:\n{command}"
COPY = re.compile(r"^copy of |[ _-]*(\(\d+\)|copy( \d+)?|복사본)$")
"""What a copy's name has in addition to the file's, in lower case."""
MOST_OTHERS = 4
"""How many files of one name a note mentions."""
NEARLY_ALIKE = 0.9
"""From this ratio of difflib's comparison on, a name counts as a mistyped one."""


def lesson_names(lessons: Iterable[str]) -> dict[str, str]:
    """Return the lessons by file name. Only this function decides which name is which lesson."""
    return {f"{lesson}{suffix}": lesson for lesson in lessons for suffix in SUFFIXES}


def read_submission(
    place: Path, lessons: Iterable[str], *, below: str = ""
) -> dict[str, LessonFile]:
    """Return the lessons' files; raise SubmissionError if ``place`` is not a folder, zip or
    lesson.

    Of several files with one name, the least deep counts; two at the same depth are a problem that
    names both. In a folder, a file with almost the name of a missing lesson is reported as that
    lesson, ignored, with the command that renames it. Paths begin at ``place``, or with ``below``.
    """
    names = lesson_names(lessons)
    if place.is_dir():
        leaves = list(folder_leaves(place))
        found = _chosen((leaf.within(below) for leaf in leaves), names)
        return _to_rename(place, leaves, names, found, below) | found
    if not place.is_file():
        message = (
            "{path} does not exist. Name a folder that holds your lessons, or make one: {command}"
        )
        raise SubmissionError(message, path=str(place), command="grade init my-work")
    if place.name in names:
        folder = PurePosixPath(below).parent.as_posix() if below else ""
        return _chosen(
            [FileEntry(place.name, functools.partial(open_inside, place, place)).within(folder)],
            names,
        )
    if not place.name.lower().endswith(ZIP_SUFFIX) and not zipfile.is_zipfile(place):
        raise misnamed(str(place), names)
    with open_zip(place, str(place)) as archive:
        return _chosen((leaf.within(below) for leaf in zip_leaves(archive)), names)


def misnamed(path: str, names: dict[str, str]) -> SubmissionError:
    """Return why an existing file is not a lesson's, and what it has to be called."""
    own = PurePath(path).name
    if meant := meant_name(own, names) or mistyped_name(own, names):
        return SubmissionError(RENAME, path=path, name=meant, command=renaming(path, meant))
    lessons = ", ".join(dict.fromkeys(names.values()))
    message = (
        "{path} is not a folder, a zip or a lesson file; lesson files are named {file} or end in"
        " .ipynb. Lessons:"
        " {names}"
    )
    return SubmissionError(
        message, path=path, file=f"{next(iter(names.values()))}.py", names=lessons
    )


def read_leaves(
    leaves: Iterable[FileEntry],
    lessons: Iterable[str],
    *,
    accept_near_names: bool = False,
    decode: Decode = decode,
) -> dict[str, LessonFile]:
    """Return the lessons' files among files from any source; files in zips count one folder deeper.

    ``decode`` turns the bytes into text. A missing lesson gets the problem of an unreadable zip, or
    a file with almost its name. That file is read if such names are accepted and it is the only
    one; otherwise it is ignored. Raises SubmissionError if nothing is found.
    """
    names = lesson_names(lessons)
    with Unzipped(leaves) as opened:
        found = _chosen(opened.leaves, names, decode)
        near = _nearly(opened.leaves, names, found, decode if accept_near_names else None)
    if opened.unread:
        path, error = writable(opened.unread[0][0]), opened.unread[0][1]
        facts = {name: writable(fact) for name, fact in error.facts.items()}
        if not found:
            raise SubmissionError(error.template, **facts)
        found |= {
            lesson: LessonFile.wrong(lesson, path, error.template, facts)
            for lesson in names.values()
            if lesson not in found
        }
    return near | found


def _nearly(
    leaves: Iterable[FileEntry],
    names: dict[str, str],
    found: Collection[str],
    decode: Decode | None,
) -> dict[str, LessonFile]:
    """Return the files with almost the name of a lesson that was not found; without ``decode``,
    such names are not accepted.
    """
    near: dict[str, list[tuple[FileEntry, str]]] = {}
    for leaf in leaves:
        name = meant_name(leaf.name, names)
        if name and names[name] not in found:
            near.setdefault(names[name], []).append((leaf, name))
    files = {}
    for lesson, those in near.items():
        leaf, name = those[0]
        if decode and len(those) == 1:
            files[lesson] = replace(_read(lesson, leaf, name, decode), meant=name)
            continue
        paths = ", ".join(writable(leaf.path) for leaf, _ in those)
        file = LessonFile.wrong(lesson, paths, NOT_CALLED, {"name": name})
        files[lesson] = replace(file, meant=name, ignored=True)
    return files


def _to_rename(
    place: Path,
    leaves: Iterable[FileEntry],
    names: dict[str, str],
    found: Collection[str],
    below: str,
) -> dict[str, LessonFile]:
    """Return a folder's files with almost the name of a lesson that was not found there."""
    files: dict[str, LessonFile] = {}
    for leaf in sorted(leaves, key=lambda leaf: (leaf.depth, leaf.path)):
        name = meant_name(leaf.name, names) or mistyped_name(leaf.name, names)
        if name is None or names[name] in found or names[name] in files:
            continue
        path = writable(leaf.within(below).path)
        facts = {"name": name, "command": renaming(writable(str(place / leaf.path)), name)}
        file = LessonFile.wrong(names[name], path, RENAME, facts)
        files[names[name]] = replace(file, meant=name, ignored=True)
    return files


def renaming(path: str, name: str) -> str:
    """Return the command that renames a file in its folder, as typed from the current folder."""
    with contextlib.suppress(ValueError):  # Windows: it is on another drive
        path = os.path.relpath(path)
    if sys.platform == "win32":
        return subprocess.list2cmdline(["ren", path, name])
    return shlex.join(["mv", path, str(PurePath(path).with_name(name))])


def mistyped_name(name: str, names: Iterable[str]) -> str | None:
    """Return the lesson's file name that was probably meant: ``custom-sigmoid.py``,
    ``hook.py.txt``.
    """
    plain = re.sub(r"[\s-]+", "_", name.casefold().removesuffix(".txt"))
    plain = plain if plain.endswith(SUFFIXES) else f"{plain}.py"
    near = difflib.get_close_matches(plain, list(names), n=1, cutoff=NEARLY_ALIKE)
    return near[0] if near and near[0] != name else None


def meant_name(name: str, names: Container[str]) -> str | None:
    """Return the lesson's file name behind a copy's name: ``Tiny (1).py``."""
    stem, dot, suffix = name.casefold().rpartition(".")
    plain = COPY.sub("", stem) + dot + suffix
    return plain if plain in names and plain != name else None


def digest(files: dict[str, LessonFile]) -> str:
    """Return the SHA-256 (hex) of lessons, texts, cells and problems, independent of their
    location; files that were not graded, and that a note mentions, count with their paths.
    """
    lessons = [
        [lesson, file.text, _pathless(file), file.line, *_of_a_notebook(file), *_not_graded(file)]
        for lesson, file in sorted(files.items())
    ]
    return hashlib.sha256(json.dumps(lessons).encode()).hexdigest()


def _of_a_notebook(file: LessonFile) -> list[object]:
    """Return what a notebook's report depends on besides its text; nothing for a ``.py``."""
    return [file.cells, [astuple(one) for one in file.left_out]] if file.cells else []


def _not_graded(file: LessonFile) -> tuple[str, ...]:
    return () if file.problem else file.others


def _pathless(file: LessonFile) -> str | None:
    problem = file.problem
    for path in sorted((file.path, *file.others), key=len, reverse=True):
        problem = problem and problem.replace(path, f"<{file.lesson}>")
    return problem


def _chosen(
    leaves: Iterable[FileEntry], names: dict[str, str], decode: Decode = decode
) -> dict[str, LessonFile]:
    found: dict[str, list[FileEntry]] = {}
    for leaf in leaves:
        if leaf.name in names:
            found.setdefault(names[leaf.name], []).append(leaf)
    return {
        lesson: _choose(lesson, sorted(files, key=lambda leaf: (leaf.depth, leaf.path)), decode)
        for lesson, files in found.items()
    }


def _choose(lesson: str, leaves: list[FileEntry], decode: Decode) -> LessonFile:
    first = leaves[0]
    if len(leaves) > 1 and leaves[1].depth == first.depth:
        path, other = writable(first.path), writable(leaves[1].path)
        message = (
            "two files claim to be this lesson: {path} and {other}. Keep one; a whole class is for"
            " grade batch"
        )
        return LessonFile.wrong(lesson, path, message, {"other": other}, others=(other,))
    others = tuple(writable(leaf.path) for leaf in leaves[1:MOST_OTHERS])
    return replace(_read(lesson, first, first.name, decode), others=others)


def _read(lesson: str, leaf: FileEntry, name: str, decode: Decode) -> LessonFile:
    notebook = name.endswith(SUFFIX)
    data = leaf.read((MAX_NOTEBOOK_BYTES if notebook else MAX_FILE_BYTES) + 1)
    return decode(lesson, leaf.path, data, notebook=notebook)
