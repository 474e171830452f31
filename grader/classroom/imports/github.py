"""A class's GitHub clones: ``<assignment>-submissions/<assignment>-<username>/``, or side by side.

The assignment's name comes from the folder around them, or from their common prefix. ``gh teacher
download`` of Classroom 50 names that folder ``<classroom>-<assignment>_submissions_<time>`` and
puts its own scores into it, which are not read:
https://github.com/foundation50/classroom50/wiki/CLI-Teacher-Guide, "Download submissions".
"""

from __future__ import annotations

import os
import re

from grader.classroom.imports.entries import (
    Directory,
    DownloadLayout,
    Lessons,
    PendingSubmission,
    SortedEntries,
    StudentIdentity,
)
from grader.classroom.imports.names import readable
from grader.course.files import Entry, Kind

AROUND = re.compile(r"(-submissions|_submissions_\d{4}(_\d\d){2}_T(_\d\d){3})\Z")
"""The end of the name of the folder around the clones, after the assignment's name."""
SCORES = "scores.csv"
"""Classroom 50's own table, which is not a submission."""
REPOSITORY = ".git"


def _matching(level: Directory) -> int:
    named = _named(level)
    if AROUND.search(level.name) and not _is_wrapped(level):
        return len(named)
    return sum(entry.holds(REPOSITORY) for entry in named)


def _is_wrapped(level: Directory) -> bool:
    """Return whether all that is there is the folder around the clones, as in a zip of its name."""
    return len(level.entries) == 1 and bool(AROUND.search(level.entries[0].name))


def _named(level: Directory) -> list[Entry]:
    prefix = _prefix(level)
    return [entry for entry in level.entries if _is_named(entry, prefix)]


def _is_named(entry: Entry, prefix: str) -> bool:
    return (
        entry.kind is Kind.FOLDER
        and entry.name.startswith(prefix)
        and len(entry.name) > len(prefix) > 0
    )


def _prefix(level: Directory) -> str:
    """Return ``<assignment>-`` from the folder's name or the common prefix; may be empty."""
    folders = [entry for entry in level.entries if entry.kind is Kind.FOLDER]
    known = f"{AROUND.sub('', level.name)}-"
    if 2 * sum(entry.name.startswith(known) for entry in folders) >= max(1, len(folders)):
        return known
    clones = [entry.name for entry in folders if entry.holds(REPOSITORY)]
    clones = clones or [entry.name for entry in folders]
    shared = os.path.commonprefix(clones) if len(clones) > 1 else ""  # noqa: RUF071 - not paths
    return shared[: shared.rfind("-") + 1]


def _read_level(level: Directory, lessons: Lessons) -> SortedEntries:
    sorting = SortedEntries()
    prefix = _prefix(level)
    for entry in level.entries:
        if _is_named(entry, prefix):
            username = readable(entry.name.removeprefix(prefix))
            sorting.drafts.append(
                PendingSubmission(
                    (StudentIdentity(username, {"username": username}),), entry.files, id=username
                )
            )
        elif not (AROUND.search(level.name) and entry.name == SCORES):
            expected = f"{prefix or '<assignment>-'}<username>"
            sorting.pass_over(entry, f"is not a repository of the assignment: {expected}")
    return sorting


LAYOUT = DownloadLayout(
    "github",
    _read_level,
    "<assignment>-submissions/<assignment>-<username>",
    _matching,
    lambda level: len(_named(level)),
)
