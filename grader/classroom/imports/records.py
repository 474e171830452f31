"""One student's submission within a class, and a class as it was found on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from grader.course.lesson_file import LessonFile


@dataclass(frozen=True, slots=True)
class StudentIdentity:
    """Whose a submission is, as far as the layout tells.

    ``name`` is what people call them; ``ids`` are what other systems know them by, under the
    system's own word: ``canvas_id``, ``sis_login_id``, ``moodle_participant``,
    ``gradescope_submission``, ``email``, ``sid``, ``username``, …
    """

    name: str
    ids: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Submission:
    """One submission of a class.

    ``name`` is unique in the class, the same whenever the same download is read, and fit for a file
    name on any system: reports are named after it. ``students`` is one, or a team. ``read`` gives
    the files of those lessons that are there, by lesson; it raises SubmissionError where nothing
    can be read, which is a row of the gradebook and no reason to stop.
    """

    name: str
    students: tuple[StudentIdentity, ...]
    read: Callable[[Iterable[str]], dict[str, LessonFile]]
    late: bool = False


@dataclass(frozen=True, slots=True)
class ClassImport:
    """A class: in which layout it came, its submissions by name, and what was passed over, each
    with the reason.

    ``replaced`` is what the same people handed in again later, each with what counts now: as it
    should be, so a number is enough. ``notes`` are sentences that the instructor should see: one
    person in two submissions, two people of one name, a wrapping folder.
    """

    layout: str
    handed: tuple[Submission, ...]
    passed_over: tuple[tuple[str, str], ...] = ()
    replaced: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()
