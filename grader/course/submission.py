"""One student's files: a folder, a zip or a file with ``<lesson>.py`` or ``.ipynb`` inside.

What is wrong with a file is a value (``LessonFile.problem``) of that lesson alone.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import zipfile
from collections.abc import Iterable
from dataclasses import astuple
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
from grader.course.text_encoding import MAX_FILE_BYTES, decode, writable
from grader.course.zips import open_zip

SUFFIXES = (".py", SUFFIX)
"""What a lesson's file may end with."""
COPY = re.compile(r"^copy of |[ _-]*(\(\d+\)|copy( \d+)?|복사본)$")
"""What a copy's name has beside the file's, in small letters."""


def lesson_names(lessons: Iterable[str]) -> dict[str, str]:
    """By file name, which lesson it is: the one place that says so."""
    return {f"{lesson}{suffix}": lesson for lesson in lessons for suffix in SUFFIXES}


def read_submission(
    place: Path, lessons: Iterable[str], *, below: str = ""
) -> dict[str, LessonFile]:
    """Return the lessons' files; raises SubmissionError if ``place`` is not a folder, zip or
    lesson.

    Of several of one name the least deep counts; two at one depth are a problem that names both.
    Paths begin at ``place``, or with ``below``.
    """
    names = lesson_names(lessons)
    if place.is_dir():
        return _chosen((leaf.within(below) for leaf in folder_leaves(place)), names)
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
    """Why a file that is there is no lesson's: what it would have to be called."""
    if meant := _meant(PurePath(path).name, names):
        return SubmissionError(
            "{path} is not called {name}, so it doesn't count. Call it that", path=path, name=meant
        )
    lessons = ", ".join(dict.fromkeys(names.values()))
    message = (
        "{path} is no folder, no zip, and no lesson: those are called {file} or .ipynb. Lessons:"
        " {names}"
    )
    return SubmissionError(
        message, path=path, file=f"{next(iter(names.values()))}.py", names=lessons
    )


def nearly_named(folder: Path, lessons: Iterable[str]) -> SubmissionError | None:
    """Return what is wrong with the first file that almost has a lesson's name."""
    names = lesson_names(lessons)
    near = (
        (leaf.path for leaf in folder_leaves(folder) if _meant(leaf.name, names))
        if folder.is_dir()
        else ()
    )
    return next((misnamed(writable(str(folder / path)), names) for path in near), None)


def read_leaves(leaves: Iterable[FileEntry], lessons: Iterable[str]) -> dict[str, LessonFile]:
    """Return the lessons' files among files from anywhere; those in zips count one folder deeper.

    A missing lesson gets the problem of an unreadable zip or of a file with almost its name. Raises
    SubmissionError if nothing is found.
    """
    names = lesson_names(lessons)
    with Unzipped(leaves) as opened:
        found = _chosen(opened.leaves, names)
        meant = [(leaf.path, name) for leaf in opened.leaves if (name := _meant(leaf.name, names))]
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
    for path, name in meant:
        problem = "{path} is not called {name}, so it doesn't count. Hand it in under that name"
        found.setdefault(
            names[name], LessonFile.wrong(names[name], writable(path), problem, {"name": name})
        )
    return found


def _meant(name: str, names: dict[str, str]) -> str | None:
    """Return the lesson's file name that a copy's name means: ``Tiny (1).py``."""
    stem, dot, suffix = name.casefold().rpartition(".")
    return next((one for one in names if one == COPY.sub("", stem) + dot + suffix), None)


def digest(files: dict[str, LessonFile]) -> str:
    """Return the SHA-256 (hex) of lessons, texts, cells and problems, wherever they lie."""
    lessons = [
        [lesson, file.text, _pathless(file), file.line, *_of_a_notebook(file)]
        for lesson, file in sorted(files.items())
    ]
    return hashlib.sha256(json.dumps(lessons).encode()).hexdigest()


def _of_a_notebook(file: LessonFile) -> list[object]:
    """Return what a notebook's report depends on beside its text; nothing for a ``.py``."""
    return [file.cells, [astuple(one) for one in file.left_out]] if file.cells else []


def _pathless(file: LessonFile) -> str | None:
    problem = file.problem
    for path in sorted((file.path, *file.others), key=len, reverse=True):
        problem = problem and problem.replace(path, f"<{file.lesson}>")
    return problem


def _chosen(leaves: Iterable[FileEntry], names: dict[str, str]) -> dict[str, LessonFile]:
    found: dict[str, list[FileEntry]] = {}
    for leaf in leaves:
        if leaf.name in names:
            found.setdefault(names[leaf.name], []).append(leaf)
    return {
        lesson: _choose(lesson, sorted(files, key=lambda leaf: (leaf.depth, leaf.path)))
        for lesson, files in found.items()
    }


def _choose(lesson: str, leaves: list[FileEntry]) -> LessonFile:
    first = leaves[0]
    if len(leaves) > 1 and leaves[1].depth == first.depth:
        path, other = writable(first.path), writable(leaves[1].path)
        message = (
            "two files claim to be this lesson: {path} and {other}. Keep one; a whole class is for"
            " grade batch"
        )
        return LessonFile.wrong(lesson, path, message, {"other": other}, others=(other,))
    limit = MAX_NOTEBOOK_BYTES if first.name.endswith(SUFFIX) else MAX_FILE_BYTES
    return decode(lesson, first.path, first.read(limit + 1), notebook=first.name.endswith(SUFFIX))
