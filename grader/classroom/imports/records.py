"""One student's submission within a class, and a class as found on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from grader.course.submission import LessonFile


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
