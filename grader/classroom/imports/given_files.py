"""Files of a download that a person gave to a submission, because their names don't say whose, or
which lesson's, they are.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from grader.classroom.imports.entries import ClassImport, Read, StudentIdentity, Submission
from grader.core.errors import SubmissionError
from grader.course.files import MAX_CLASS_MEMBERS, FileEntry, folder_files, open_zip, zip_files
from grader.course.handed_in import read_files
from grader.course.notebook import SUFFIX
from grader.course.submission import Decode, LessonFile


@dataclass(frozen=True, slots=True)
class Gift:
    """A file by its path in the download, the lesson that it is, and the owner's line."""

    entry: str
    lesson: str
    owner: str


def find_file(place: Path, path: str) -> FileEntry | None:
    """Return a file of a download by its path, as messages have it, or by its path on disk."""
    with contextlib.suppress(ValueError):
        path = Path(path).resolve().relative_to(place.resolve()).as_posix()
    wanted = PurePosixPath(path).as_posix()
    return next((file for file in _files(place) if file.path == wanted), None)


def files_meant(
    place: Path, path: str, submissions: Mapping[str, Collection[str]]
) -> list[FileEntry]:
    """Return the files of a download that a path may mean: the path itself, as messages write it,
    or with the download's own name before it.

    Messages begin with a submission's name, of which ``submissions`` has the names that its folder
    may have, or end with: a repository is called after the assignment and the student.
    """
    if (exact := find_file(place, path)) is not None:
        return [exact]
    parts = PurePosixPath(path).parts
    if len(parts) > 1 and parts[0] in (place.name, place.stem):
        return files_meant(place, "/".join(parts[1:]), submissions)
    found = [(PurePosixPath(file.path).parts, file) for file in _files(place)]
    if fitting := [file for those, file in found if _ends(those, parts)]:
        return fitting
    if not parts[1:] or parts[0] not in submissions:
        return []
    inside = [(those[: 1 - len(parts)], file) for those, file in found if _ends(those, parts[1:])]
    names = submissions[parts[0]]
    return [
        file
        for above, file in inside
        if not above or any(above[-1] == name or above[-1].endswith(f"-{name}") for name in names)
    ]


def _ends(parts: tuple[str, ...], with_these: tuple[str, ...]) -> bool:
    return parts[-len(with_these) :] == with_these


def _files(place: Path) -> Iterator[FileEntry]:
    if place.is_dir():
        return folder_files(place)
    return zip_files(open_zip(place, str(place), members=MAX_CLASS_MEMBERS))


def with_gifts(
    found: ClassImport,
    gifts: Sequence[Gift],
    place: Path,
    owners: Mapping[str, tuple[StudentIdentity, ...]],
    decode: Decode,
) -> ClassImport:
    """Return a download in which the owners have the files that were given to them.

    ``owners`` has the students of each owner. A file that is not in this download is not given.
    """
    files: dict[str, list[tuple[Gift, FileEntry]]] = {}
    for gift in gifts:
        file = find_file(place, gift.entry)
        if file is not None:
            files.setdefault(gift.owner, []).append((gift, file))
    taken = {gift.entry for given in files.values() for gift, _ in given}
    handed = []
    names = {one.name for one in found.handed}
    others = (Submission(name, owners[name], lambda lessons: {}) for name in files.keys() - names)
    for one in (*found.handed, *others):
        given = files.pop(one.name, [])  # of a line with two submissions, the first has them
        if given:
            entries = tuple(gift.entry for gift, _ in given)
            one = replace(one, read=_reader(one.read, given, decode), gifts=entries)
        handed.append(one)
    return replace(
        found,
        handed=tuple(sorted(handed, key=lambda one: one.name)),
        passed_over=tuple(one for one in found.passed_over if one[0] not in taken),
    )


def named_after(lesson: str, file: FileEntry) -> FileEntry:
    """Return a file under the name of a lesson's script or notebook."""
    return replace(file, named=lesson + (SUFFIX if SUFFIX in file.name else ".py"))


def _reader(read: Read, given: Sequence[tuple[Gift, FileEntry]], decode: Decode) -> Read:
    """Return a function that reads a submission's own files and those given to it."""

    def both(lessons: Iterable[str]) -> dict[str, LessonFile]:
        wanted = list(lessons)
        entries = [named_after(gift.lesson, file) for gift, file in given if gift.lesson in wanted]
        own: dict[str, LessonFile] = {}
        with contextlib.suppress(SubmissionError):  # the other files may be all there is
            own = read(wanted)
        given_files = {
            id: replace(file, ignored=file.problem is not None)
            for id, file in read_files(entries, wanted, decode=decode).items()
        }
        proper = {id: file for id, file in own.items() if file.problem is None and not file.ignored}
        return own | given_files | proper

    return both
