"""Interpret the words after ``grade``: lessons by name, or files, folders and zips with lessons."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.core.errors import SubmissionError, UsageError
from grader.course.course import Course, Lesson
from grader.course.files import MAX_MEMBERS, holds_more
from grader.course.progress import PROGRESS_FILE, find_workspace
from grader.course.submission import LessonFile, read_submission

MISSING = (
    "{path} does not exist. Name a file, folder or zip that is there, or a lesson; all lessons:"
    " {command}"
)
ABOVE = "Your work is in another folder. Go there: cd {folder}"
COURSE = (
    "This folder is a course. To grade its stubs: {grade}. To make a folder of your own: {init}"
)
BESIDE = (
    "{folder} is a course, not your work. To grade its stubs: {grade}. To make a folder of your"
    " own: {init}"
)
ELSEWHERE = "{lesson} is not in this folder. {file} is in {work}. Go there: cd {folder}"
SEVERAL = "Several work folders are here: {folders}. Go to the one you mean: cd {folder}"
CROWDED = (
    "{folder} has no lesson file, such as {file}, among the first {count} files; it is too large to"
    " be searched. Go to your work folder, or name the file. To make a folder with all lessons:"
    " grade init my-work"
)
TWICE = "{lesson} is in {path} and in {other}. Grade one at a time; a whole class: {command}"


@dataclass(frozen=True, slots=True)
class Selection:
    """Lessons in order, and their files by lesson.

    ``name`` is the submission's name. ``places`` has the folder that another command needs as
    ``--in`` to find a lesson, unless it is in the current folder.
    """

    lessons: list[Lesson]
    files: dict[str, LessonFile]
    name: str
    places: dict[str, Path]


def select(course: Course, words: tuple[str, ...], place: Path) -> Selection:
    """Return the lessons and files that the words name in ``place``; without words, all.

    A word is a lesson or a path. A lesson's name means the lesson wherever its file is. Raise
    UsageError if nothing is found.
    """
    ids = [lesson.id for lesson in course.lessons]
    paths = [word for word in words if word not in ids and is_path(place, word)]
    wanted = [course.lesson(word) for word in words if word not in paths]
    named = [lesson.id for lesson in wanted] if words else ids
    if named:
        refuse_wrong_folder(place)
    files = read_submission(place, named) if named else {}
    if named and words and not files and not paths:
        refuse_other_folders(place, named, ids)
    at: dict[str, LessonFile] = {}
    places = dict.fromkeys((lesson.id for lesson in wanted), place)
    for path in paths:
        for lesson, file in found_at(place / path, Path(path), ids).items():
            if lesson in at and at[lesson].path != file.path:
                other, command = at[lesson].path, "grade batch DIR --out OUT"
                raise UsageError(TWICE, lesson=lesson, path=other, other=file.path, command=command)
            at[lesson] = file
            places[lesson] = place / path
    if not words and all(file.ignored for file in files.values()):
        raise nothing_in(place, ids)
    files |= at
    chosen = wanted + [
        lesson for lesson in course.lessons if lesson.id in files and lesson not in wanted
    ]
    lone = place / paths[0] if len(words) == len(paths) == 1 else place
    usual = read_submission(place, list(at)) if at else {}
    places |= {
        lesson: place
        for lesson, file in at.items()
        if lesson in usual and usual[lesson].path == file.path
    }
    name = (place if are_in_workspace(place, at) else lone).resolve().name
    return Selection(
        list(dict.fromkeys(chosen)),
        files,
        name,
        {lesson: where for lesson, where in places.items() if where != Path()},
    )


def refuse_wrong_folder(place: Path, ids: Sequence[str] = ()) -> None:
    """Raise what ``wrong_folder`` returns, if anything; with ``ids``, also an error if there is
    neither a work folder nor one of these lessons.
    """
    if error := wrong_folder(place):
        raise error
    if ids and find_workspace(place) is None and not read_submission(place, ids):
        raise nothing_in(place, ids)


def wrong_folder(place: Path) -> UsageError | None:
    """Return an error if the user probably means a work folder below ``place``, or if a course is
    there, whose solutions are not the user's work; else None.
    """
    if not place.is_dir() or find_workspace(place) is not None:
        return None
    courses = courses_at(place)
    above = {place, *courses, *(course.parent for course in courses if course != place)}
    found = {
        path.parent.relative_to(place) for one in above for path in one.glob(f"*/{PROGRESS_FILE}")
    }
    below = sorted(folder.as_posix() for folder in found)
    if len(below) == 1:
        return UsageError(ABOVE, folder=shlex.quote(below[0]))
    if below:
        return UsageError(SEVERAL, folders=", ".join(below), folder=shlex.quote(below[0]))
    if not courses:
        return None
    if courses[0] == place:
        return UsageError(COURSE, grade="grade --in exercises", init="grade init ../my-work")
    folder = courses[0].relative_to(place).as_posix()
    stubs = shlex.quote(f"{folder}/exercises")
    return UsageError(BESIDE, folder=folder, grade=f"grade --in {stubs}", init="grade init my-work")


def courses_at(place: Path) -> list[Path]:
    """Return the courses in a folder: itself, its subfolders and theirs, without those it can't
    read.
    """
    marks = ("exercises/course.toml", "*/exercises/course.toml", "*/*/exercises/course.toml")
    folders = [found.parents[1] for mark in marks for found in sorted(place.glob(mark))]
    return [folder for folder in folders if (folder / "solutions").is_dir()]


def refuse_other_folders(place: Path, named: list[str], ids: list[str]) -> None:
    """Raise UsageError if lessons that are not here are elsewhere in the work folder, or if there
    is no lesson here.
    """
    work = find_workspace(place)
    if work is not None and place.is_dir() and (files := read_submission(work, named)):
        folder = shlex.quote(os.path.relpath(work, place.resolve()))
        lesson, file = next(iter(files.items()))
        raise UsageError(ELSEWHERE, lesson=lesson, file=file.path, work=work.name, folder=folder)
    if work is None and not read_submission(place, ids):
        raise nothing_in(place, named)


def is_path(place: Path, word: str) -> bool:
    """Return whether a word is an existing path; raise SubmissionError if it can only be a path.

    ``tiny.py`` and ``tiny/``, as shells complete them, mean the lesson if they don't exist.
    """
    if is_there(place / word):
        return True
    if place.is_file() or len(Path(word).parts) < 2:
        return False
    raise SubmissionError(MISSING, path=word, command="grade list")


def is_there(path: Path) -> bool:
    """Return whether something exists at a path; False for a path that is too long."""
    try:
        return path.exists()
    except OSError:
        return False


def found_at(path: Path, typed: Path, ids: list[str]) -> dict[str, LessonFile]:
    """Return the lessons at a path, with paths as typed; raise UsageError if none."""
    files = read_submission(path, ids, below=typed.as_posix())
    if all(file.ignored for file in files.values()):
        raise nothing_in(path, ids)
    return files


def nothing_in(place: Path, ids: Sequence[str]) -> UsageError:
    for file in read_submission(place, ids).values() if place.is_dir() else ():
        if file.ignored:
            return UsageError(file.template, **file.facts)
    facts = {"folder": str(place.resolve()), "file": f"{ids[0]}.py"}
    if place.is_dir() and holds_more(place, MAX_MEMBERS):
        return UsageError(CROWDED, **facts, count=f"{MAX_MEMBERS:,}")
    message = (
        "{folder} has no lesson file (.py or .ipynb), such as {file}. To make a folder with all"
        " lessons: grade init my-work"
    )
    return UsageError(message, **facts)


def are_in_workspace(place: Path, files: Mapping[str, LessonFile]) -> bool:
    """Return whether files are, unpacked, in the workspace around or below ``place``."""
    folder = find_workspace(place) or place.resolve()
    paths = [(place / file.path).resolve() for file in files.values()]
    return all(path.is_file() and path.is_relative_to(folder) for path in paths)
