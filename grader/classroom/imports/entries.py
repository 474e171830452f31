"""A class as found on disk: its submissions, and what a layout makes of a folder's entries.

A ``DownloadLayout`` sorts the entries of a ``Directory`` into ``SortedEntries``: submissions that
have no unique name yet, and what is passed over, with the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from grader.course.files import ZIP_SUFFIX, Entry, FileEntry, Kind, is_skipped
from grader.course.near_names import OTHER_ARCHIVES, meant_name
from grader.course.submission import LessonFile

CLUTTER = frozenset({"Thumbs.db", "desktop.ini", "Icon\r"})
"""Files that systems add to folders, besides hidden ones."""
FORMERLY = "formerly"
"""The detail of a student that has the names on earlier rosters."""


def visible(entries: list[Entry]) -> tuple[Entry, ...]:
    return tuple(
        entry for entry in entries if not is_skipped(entry.name) and entry.name not in CLUTTER
    )


@dataclass(frozen=True, slots=True)
class StudentIdentity:
    """Who handed a submission in. ``ids`` maps each system's name for an id to its value:
    ``canvas_id``, ``sis_login_id``, ``moodle_participant``, ``gradescope_submission``, ``email``,
    ``sid``, ``username``, …

    ``details`` are what a roster adds: ``section`` and ``group``, several joined by "; "; ``role``,
    ``test`` for Canvas's test student; ``due``, an extension; ``handed_in``, a time; and
    ``formerly``, the names on earlier rosters, one in a line. ``person`` is the number in the term;
    ``first`` is the one before, if they turned out to be somebody else.
    """

    name: str
    ids: dict[str, str] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    person: int | None = None
    first: int | None = None

    @property
    def number(self) -> int | None:
        """The number that stays if it is undone that they are somebody else."""
        return self.person if self.first is None else self.first

    @property
    def sections(self) -> tuple[str, ...]:
        return tuple(filter(None, self.details.get("section", "").split("; ")))

    @property
    def former_names(self) -> tuple[str, ...]:
        return tuple(filter(None, self.details.get(FORMERLY, "").split("\n")))


Read = Callable[[Iterable[str]], dict[str, LessonFile]]


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission.

    ``name`` is unique in the class, stable, and a valid file name: reports are named after it.
    ``read`` returns its lessons' files; it raises SubmissionError if nothing can be read.
    ``handed_in`` is the time (ISO 8601 in UTC) if the download has it. ``came_as`` is the name of
    the folder or first file in the download, which the other system needs to accept feedback.
    ``gifts`` are the paths of files that a person gave to it. ``handed`` is the digest of what was
    handed in, once it was read.
    """

    name: str
    students: tuple[StudentIdentity, ...]
    read: Read
    late: bool = False
    handed_in: str | None = None
    came_as: str = ""
    gifts: tuple[str, ...] = ()
    handed: str = ""


@dataclass(frozen=True, slots=True)
class ClassImport:
    """A class: its layout, its submissions by name, and ignored entries with the reason.

    ``notes`` are for the instructor: a person in two submissions, two people with the same name, a
    wrapping folder.
    """

    layout: str
    handed: tuple[Submission, ...]
    passed_over: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Directory:
    """The folder or part of a zip that holds the submissions: its name and its entries."""

    name: str
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Lessons:
    """Lessons by file name; ``only`` has a lesson's file names if no other one is graded."""

    names: Mapping[str, str]
    only: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PendingSubmission:
    """A submission as a layout found it. ``id`` makes its name unique."""

    students: tuple[StudentIdentity, ...]
    files: Callable[[], Iterator[FileEntry]]
    id: str = ""
    late: bool = False
    handed_in: str | None = None
    came_as: str = ""

    @property
    def name(self) -> str:
        return " + ".join(student.name for student in self.students)


@dataclass(slots=True)
class SortedEntries:
    """A class as a layout read it: submissions, ignored entries, notes."""

    drafts: list[PendingSubmission] = field(default_factory=list)
    passed_over: list[tuple[str, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def pass_over(self, entry: Entry, reason: str) -> None:
        """Ignore an entry; a more specific reason than the given one counts."""
        if entry.kind is Kind.LINK:
            reason = "is a link, and links are not followed. Replace it by a copy of its target"
        elif entry.kind is Kind.OTHER:
            reason = "is neither a folder nor a file"
        elif entry.kind is Kind.FILE and OTHER_ARCHIVES.search(entry.name):
            reason = "is an archive that is not a zip. Unpack it into a folder, or make a zip of it"
        self.passed_over.append((entry.name, reason))


@dataclass(frozen=True, slots=True)
class DownloadLayout:
    """A layout: ``looks_like`` describes its names, ``matching`` counts those at a level, and
    ``possible`` those that would do if a person says that it is this layout.
    """

    name: str
    read_level: Callable[[Directory, Lessons], SortedEntries]
    looks_like: str = ""
    matching: Callable[[Directory], int] = lambda level: 0
    possible: Callable[[Directory], int] = lambda level: 0

    def claims(self, level: Directory) -> bool:
        """Return whether at least half of a level's entries have names of this layout."""
        matching = self.matching(level)
        return matching > 0 and 2 * matching >= len(level.entries)


def together(parts: Sequence[tuple[Entry, str | None]]) -> Callable[[], Iterator[FileEntry]]:
    """Return a function that yields the entries' files, under the names beside them, if any."""

    def files() -> Iterator[FileEntry]:
        for entry, named in parts:
            for file in entry.files():
                yield replace(file, named=named) if named and entry.kind is Kind.FILE else file

    return files


def is_zip(name: str) -> bool:
    return name.lower().endswith(ZIP_SUFFIX)


def names_a_lesson(name: str, names: Mapping[str, str]) -> bool:
    """Return whether a file has the name of a lesson, or almost."""
    return name in names or meant_name(name, names) is not None
