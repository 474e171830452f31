"""Find a class's submissions in a folder or a zip, in any of the known layouts."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from grader.classroom.imports import canvas, github, gradescope, moodle, plain
from grader.classroom.imports.entries import (
    ClassImport,
    Directory,
    DownloadLayout,
    Lessons,
    PendingSubmission,
    Read,
    SortedEntries,
    Submission,
    is_zip,
    visible,
)
from grader.classroom.imports.names import unique_names
from grader.core.errors import SubmissionError, UsageError
from grader.course.beginnings import Untouched
from grader.course.files import (
    MAX_CLASS_MEMBERS,
    Entry,
    Kind,
    folder_entries,
    open_zip,
    zip_entries,
)
from grader.course.handed_in import read_files
from grader.course.submission import Decode, decode, lesson_names, writable

Mark = TypeVar("Mark", str, tuple[str, str])
SPECIAL = (gradescope.LAYOUT, moodle.LAYOUT, canvas.LAYOUT, github.LAYOUT)
LAYOUTS = {layout.name: layout for layout in (plain.LAYOUT, *SPECIAL)}
PERSONAL = frozenset({"email", "sid"})
"""Ids that belong to a person, so that a team's submission has several."""
MAX_WRAPPERS = 3
"""How many nested folders that contain only one folder are opened."""


def find_class(
    place: Path,
    *,
    lessons: Iterable[str],
    graded: Collection[str] = (),
    layout: str | None = None,
    untouched: Untouched = lambda lesson, data: False,
    accept_near_names: bool = False,
    decode: Decode = decode,
) -> ClassImport:
    """Return the submissions in a folder or a zip, by name, without reading any of their files.

    ``lessons`` are the course's; ``graded`` are those that will be read (default: all). If only one
    is graded, ``alice.py`` is that lesson. ``layout`` names one of LAYOUTS (default: recognized by
    the names). For the others see ``read_files``. Raise SubmissionError if there is nothing to
    read, UsageError for an unknown layout.
    """
    if layout is not None and layout not in LAYOUTS:
        raise UsageError(f"There is no layout {layout!r}. Choose one of: {', '.join(LAYOUTS)}")
    entries, outside = _contents(place)
    whole = place.resolve()
    levels = _levels(whole.name if whole.is_dir() else whole.stem, entries)
    names = lesson_names(lessons)
    wanted = set(graded) or set(names.values())
    only = tuple(name for name, lesson in names.items() if wanted == {lesson})
    recognised, level = _recognise(place, levels, names, layout)
    found = recognised.read_level(level, Lessons(names, only))
    if level is not levels[0]:
        found.notes.append(f"the submissions are in {level.name}")
    found.passed_over += [
        (path, "has a path that leads out of the zip, so it is not read") for path in outside
    ]
    if not found.drafts:
        passed = "".join(f". {writable(name)} {reason}" for name, reason in found.passed_over[:3])
        raise SubmissionError(
            f"{place} has no submissions{passed}. Name the folder or the zip that has a folder, a"
            " zip or files for each student"
        )

    def reader(draft: PendingSubmission) -> Read:
        return lambda lessons: read_files(
            draft.files(),
            lessons,
            course=names.values(),
            untouched=untouched,
            accept_near_names=accept_near_names,
            decode=decode,
        )

    return _named(recognised.name, found, reader)


def _contents(place: Path) -> tuple[list[Entry], list[str]]:
    """Return the entries of a folder or a zip, which stays open, and paths that lead out of it."""
    try:
        if place.is_dir():
            return folder_entries(place), []
    except OSError as error:
        raise SubmissionError(
            f"{place} can't be read: {error.strerror}. Check its permissions"
        ) from None
    if not place.is_file():
        raise SubmissionError(
            f"{place} does not exist. Name the folder or the zip with the submissions"
        )
    return zip_entries(open_zip(place, str(place), members=MAX_CLASS_MEMBERS))


def _levels(name: str, entries: list[Entry]) -> list[Directory]:
    """Return the place itself and, while a level contains only one folder, the level below."""
    levels = [Directory(name, visible(entries))]
    while (
        len(levels) <= MAX_WRAPPERS
        and len(levels[-1].entries) == 1
        and levels[-1].entries[0].kind is Kind.FOLDER
    ):
        only = levels[-1].entries[0]
        try:
            levels.append(Directory(only.name, visible(only.inside())))
        except OSError:
            break
    return levels


def _recognise(
    place: Path, levels: list[Directory], names: dict[str, str], wanted: str | None
) -> tuple[DownloadLayout, Directory]:
    """Return the most specific layout that claims a level, or the ``wanted`` layout."""
    claims = ((layout, level) for layout in SPECIAL for level in levels if layout.claims(level))
    if wanted is None:
        return next(claims, (plain.LAYOUT, _plain_level(levels, names)))
    if wanted == plain.LAYOUT.name:
        return plain.LAYOUT, _plain_level(levels, names)
    layout = LAYOUTS[wanted]
    for fitting in (layout.matching, layout.possible):
        for level in levels:
            if fitting(level):
                return layout, level
    looks = next(
        (f"It looks like {other.name}" for other, _ in claims),
        "It may be plain: a folder or a zip for each student",
    )
    raise SubmissionError(
        f"{place} is not a download from {wanted}: nothing in it is named like {layout.looks_like}."
        f" {looks}"
    )


def _plain_level(levels: list[Directory], names: dict[str, str]) -> Directory:
    """Find the level with the students; a single folder is a student or a wrapper."""
    for level, deeper in itertools.pairwise(levels):
        lessons = any(entry.kind is Kind.FILE and entry.name in names for entry in deeper.entries)
        students = sum(entry.kind is Kind.FOLDER or is_zip(entry.name) for entry in deeper.entries)
        if lessons or students < (1 if deeper.name == level.name else 2):
            return level
    return levels[-1]


def _named(
    layout: str, found: SortedEntries, reader: Callable[[PendingSubmission], Read]
) -> ClassImport:
    drafts = sorted(
        found.drafts, key=lambda draft: (draft.name.casefold(), draft.name, len(draft.id), draft.id)
    )
    names = unique_names([(draft.name, draft.id) for draft in drafts])
    handed = [
        Submission(
            name,
            draft.students,
            reader(draft),
            draft.late,
            draft.handed_in,
            writable(draft.came_as),
        )
        for name, draft in zip(names, drafts, strict=True)
    ]
    passed_over = tuple((writable(name), writable(reason)) for name, reason in found.passed_over)
    notes = [*found.notes, *_twice(handed)]
    return ClassImport(
        layout,
        tuple(sorted(handed, key=lambda one: one.name)),
        passed_over,
        tuple(map(writable, notes)),
    )


def _twice(handed: list[Submission]) -> Iterator[str]:
    """Yield notes on people in several submissions, and on names that several people have."""
    people = (
        ((student.name, student.ids[key]), one.name)
        for one in handed
        for student in one.students
        for key in PERSONAL & student.ids.keys()
    )
    for (name, person_id), names in _shared(people):
        yield f"{name} ({person_id}) is in several submissions: {', '.join(names)}. All are graded"
    called = ((" + ".join(student.name for student in one.students), one.name) for one in handed)
    for label, names in _shared(called):
        yield f"several submissions are called {label}: {', '.join(names)}"


def _shared(marked: Iterable[tuple[Mark, str]]) -> list[tuple[Mark, list[str]]]:
    """Return the marks that several submissions have, each with their names, all sorted."""
    found: dict[Mark, set[str]] = {}
    for mark, name in marked:
        found.setdefault(mark, set()).add(name)
    return sorted((mark, sorted(names)) for mark, names in found.items() if len(names) > 1)
