"""Records of a batch: its plan, its jobs and its result."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from grader import __version__
from grader.classroom.gradebook.records import PersonalPart
from grader.classroom.gradebook.store import AttemptKey, SubmissionRow
from grader.core.files import engine_hash, torch_version
from grader.core.report import Record, Report
from grader.course.course import Course, Lesson
from grader.course.submission import LessonFile
from grader.runtime.grading import Settings

NAMED = 4
"""How many lessons' files a message names; the others are only counted."""


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """What to grade and how. The seed comes with the run. With ``check``, only that is regraded."""

    course: Course
    lessons: Sequence[Lesson]
    settings: Settings
    regrade: bool = False
    check: str | None = None
    reveal: bool = False

    @property
    def ids(self) -> tuple[str, ...]:
        return tuple(lesson.id for lesson in self.lessons)

    @property
    def filenames(self) -> str:
        names = [lesson.filename for lesson in self.lessons]
        return ", ".join(names[:NAMED]) + (
            f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
        )

    def key(self, digest: str, lessons: Sequence[str]) -> AttemptKey:
        """Return what the verdict on files with this digest depends on."""
        return AttemptKey(
            digest,
            self.course.hash,
            __version__,
            engine_hash(),
            torch_version(),
            self.settings.sandbox,
            self.settings.lang,
            ",".join(lessons),
        )

    def __str__(self) -> str:
        """Return the text by which an interrupted run is recognized."""
        how = [
            self.course.hash,
            engine_hash(),
            torch_version(),
            self.settings.sandbox,
            self.settings.lang,
            ",".join(self.ids),
            self.regrade,
            self.check,
        ]
        return json.dumps(how)


@dataclass(slots=True)
class BatchResult:
    """Counts of one run: graded, reused, not gradable, and not
    gradable because of a grader fault.
    """

    run: int
    graded: int = 0
    reused: int = 0
    problems: int = 0
    faults: int = 0


@dataclass(frozen=True, slots=True)
class BatchJob:
    """One submission to grade. ``base`` is the report in which one check is replaced."""

    owner: SubmissionRow
    key: AttemptKey
    seed: int
    files: dict[str, LessonFile]
    personal: PersonalPart
    base: Report | None = None


@dataclass(frozen=True, slots=True)
class PageOptions(Record):
    """What a submission's page needs beside its report. With
    ``reveal``, hidden checks show inputs.
    """

    personal: PersonalPart
    reveal: bool


@dataclass(frozen=True, slots=True)
class Graded:
    """A report, and its page in UTF-8 if it was rendered where the submission was graded."""

    report: Report
    page: bytes | None = None


@dataclass(frozen=True, slots=True)
class FinishedJob:
    """A job's report, or the grader fault because of which there is none."""

    job: BatchJob
    report: Report | None
    fault: str = ""
