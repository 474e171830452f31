"""Grade a class: prepare, reuse earlier results, grade the rest, store each result.

The caller's thread owns the gradebook: it reads submissions, hands out jobs and commits results.
Other threads, each with a fork server, grade and write the page before the result is committed.
"""

from __future__ import annotations

import contextlib
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from grader.classroom.batch.outputs import REVEALED, WITHHELD, page_path, render, write_page
from grader.classroom.batch.records import (
    BatchJob,
    BatchPlan,
    BatchResult,
    FinishedJob,
    Graded,
    PageOptions,
)
from grader.classroom.batch.references import prove_references
from grader.classroom.batch.regrade import lesson_of, lessons_again, with_check
from grader.classroom.gradebook.records import PersonalPart, time_on_roster
from grader.classroom.gradebook.store import AttemptKey, Gradebook, SubmissionRow, refusal
from grader.classroom.imports.records import StudentIdentity, Submission
from grader.core.errors import EngineFault, SubmissionError, UsageError
from grader.core.sqlite import transaction
from grader.course.submission import LessonFile, digest
from grader.runtime.pool import Closeable, HostPool, map_unordered


def run_batch(
    book: Gradebook,
    out: Path,
    handed: Sequence[Submission],
    plan: BatchPlan,
    *,
    students: Mapping[str, tuple[StudentIdentity, ...]],
    hosts: HostPool[Any],
    grading: Callable[..., Graded],
    progress: Callable[[int], None] = lambda done: None,
) -> BatchResult:
    """Grade the submissions of a class, all from the seed of this run.

    ``students`` has the students of each submission. ``progress`` is called with the number of
    results on disk. ``grading`` grades one submission, here or on a cluster. Raise UsageError if
    the sandbox is not available, the course is broken or the folder can't be written. Raise
    KeyboardInterrupt if the run was stopped early: committed results stay, and the same call
    continues.
    """
    wanted = f"{REVEALED if plan.reveal else WITHHELD} {book.about('late_rule')}".strip()
    run = book.begin(str(plan))
    batch = Batch(
        book,
        out,
        plan,
        BatchResult(run),
        book.seed_of(run),
        students,
        grading,
        progress,
        rewrite=book.about("pages") != wanted,
    )
    if batch.rewrite:
        book.set_class({"pages": ""})
    jobs = batch.jobs(
        handed, hosts.finishing.is_set, lambda: prove_references(hosts, grading, plan, batch.seed)
    )
    work = partial(batch.grade, stopping=hosts.stopping.is_set)
    with contextlib.closing(
        map_unordered(hosts, jobs, work, waiting=batch.commit_if_due)
    ) as results:
        try:
            for done in results:
                batch.keep(done)
        finally:
            batch.commit()
    if batch.done < len(handed):
        raise KeyboardInterrupt
    book.set_class({"pages": wanted})
    book.end(batch.tally.run)
    return batch.tally


def owner_of(one: Submission, students: tuple[StudentIdentity, ...]) -> SubmissionRow:
    """Return a submission's line for the gradebook, with the roster's time if the download has
    none.
    """
    handed_in = one.handed_in or time_on_roster(students)
    return SubmissionRow(one.name, students, one.late, handed_in, one.came_as)


GROUP, GROUP_SECONDS = 64, 0.5
"""The most results in one transaction, and the longest time a result waits for others."""


@dataclass(slots=True)
class Batch:
    """A run in progress. Results are committed in groups and counted as done after the commit."""

    book: Gradebook
    out: Path
    plan: BatchPlan
    tally: BatchResult
    seed: int
    students: Mapping[str, tuple[StudentIdentity, ...]]
    grading: Callable[..., Graded]
    progress: Callable[[int], None]
    rewrite: bool
    proven: bool = False
    done: int = 0
    finished: list[FinishedJob] = field(default_factory=list)
    oldest: float = 0.0

    def jobs(
        self, handed: Sequence[Submission], finishing: Callable[[], bool], prove: Callable[[], bool]
    ) -> Iterator[BatchJob]:
        """Yield the jobs to grade; reuse or record all other submissions on the way.

        Before the first job, ``prove`` grades the references; it returns False if the run was
        stopped meanwhile.
        """
        for one in itertools.takewhile(lambda _: not finishing(), handed):
            job = self.prepare(one)
            if job is None:
                self.done += 1
                self.progress(self.done)
                continue
            self.proven = self.proven or prove()
            if self.proven:
                yield job

    def prepare(self, one: Submission) -> BatchJob | None:
        """Return the job for a submission; None if it was reused or could not be read."""
        owner = owner_of(one, self.students.get(one.name, one.students))
        try:
            ids = self.plan.ids
            if self.plan.check and self.book.digest_of(owner.name) is not None:
                ids = (
                    lessons_again(
                        self.plan.course, self.plan.check, self.book.entry(owner.name).report
                    )
                    or ids
                )
            files = one.read(ids)
            if not files:
                raise SubmissionError(f"no lesson file found; expected {self.plan.filenames}")
        except (SubmissionError, OSError) as error:
            self._problem(owner, str(error), fault=False)
            return None
        except Exception as error:  # a bug in our reader costs only this submission
            self._problem(owner, f"the grader's own fault in reading it: {error!r}", fault=True)
            return None
        found = digest(files)
        key = self.plan.key(found, ids)
        attempt = self._graded_already(owner.name, key)
        if attempt is None:
            personal = self.book.personal_part(owner.name, owner.students, owner.handed_in)
            return self._job(owner, key, files, personal)
        self._reuse(owner, attempt)
        return None

    def _reuse(self, owner: SubmissionRow, attempt: int) -> None:
        """Count an earlier result. Remove an outdated page first, in case the run ends here."""
        if self.rewrite or not self.book.uses(owner, attempt):
            self._drop_page(owner)
            self.book.use(owner, attempt)
        if not page_path(self.out, owner.name).exists():
            entry = self.book.entry(owner.name)
            assert entry.report is not None
            try:
                options = PageOptions(entry.personal_part, self.plan.reveal)
                write_page(self.out, owner.name, render(entry.report, options))
            except UsageError:
                raise
            except Exception as error:
                self._problem(owner, f"the grader's own fault in its page: {error!r}", fault=True)
                return
        self.tally.reused += 1

    def _graded_already(self, name: str, key: AttemptKey) -> int | None:
        if self.plan.check:
            return self.book.regraded(name, key.digest, self.tally.run)
        return self.book.find(name, key, run=self.tally.run if self.plan.regrade else None)

    def _job(
        self,
        owner: SubmissionRow,
        key: AttemptKey,
        files: dict[str, LessonFile],
        personal: PersonalPart,
    ) -> BatchJob:
        """Return a job for the whole submission, or for one check if the old report is about the
        same files.
        """
        check = self.plan.check
        if check and self.book.digest_of(owner.name) == key.digest:
            base = self.book.entry(owner.name).report
            if base and any(lesson.id == lesson_of(check) for lesson in base.lessons):
                lessons = ",".join(lesson.id for lesson in base.lessons)
                old = replace(
                    key,
                    course_hash=base.course.hash,
                    grader_version=base.grader_version,
                    engine_hash=base.engine_hash,
                    torch_version=base.torch_version,
                    lang=base.lang,
                )
                return BatchJob(
                    owner,
                    replace(old, sandbox=base.sandbox.mode, lessons=lessons),
                    base.seed,
                    files,
                    personal,
                    base,
                )
        return BatchJob(owner, key, self.seed, files, personal)

    def _problem(self, owner: SubmissionRow, problem: str, *, fault: bool) -> None:
        self.book.keep_problem(owner, problem, fault=fault)
        self._drop_page(owner)  # otherwise an earlier grade's page would remain
        self.tally.problems += 1
        self.tally.faults += fault

    def _drop_page(self, owner: SubmissionRow) -> None:
        page = page_path(self.out, owner.name)
        try:
            page.unlink(missing_ok=True)
        except OSError as error:
            raise refusal(page, error) from None

    def grade(self, host: Closeable, job: BatchJob, stopping: Callable[[], bool]) -> FinishedJob:
        """Grade one submission and write its page."""
        try:
            options = PageOptions(job.personal, self.plan.reveal)
            graded = self._graded(host, job, options, stopping)
            if not stopping():
                page = graded.page or render(graded.report, options)
                write_page(self.out, job.owner.name, page)
        except UsageError:  # sandbox, folder or course are unusable for every submission
            raise
        except Exception as error:
            return FinishedJob(job, None, f"the grader's own fault: {error!r}")
        return FinishedJob(job, graded.report)

    def _graded(
        self, host: Closeable, job: BatchJob, page: PageOptions, stopping: Callable[[], bool]
    ) -> Graded:
        """Grade one submission; after a grader fault once more, with a new server."""
        try:
            graded = self._graded_once(host, job, page)
        except EngineFault:  # in a cluster: all workers that had it died, or one failed at it
            if stopping():
                raise
        else:
            if stopping() or not graded.report.grader_faults:
                return graded
        host.close()
        return self._graded_once(host, job, page)

    def _graded_once(self, host: Closeable, job: BatchJob, page: PageOptions) -> Graded:
        plan, name = self.plan, job.owner.name
        settings = replace(plan.settings, seed=job.seed, lang=job.key.lang)
        if job.base is None or plan.check is None:
            lessons = [plan.course.lesson(id) for id in job.key.lessons.split(",")]
            return self.grading(
                host, plan.course, lessons, job.files, settings, name=name, page=page
            )
        lesson = plan.course.lesson(lesson_of(plan.check))
        graded = self.grading(
            host, plan.course, [lesson], job.files, settings, name=name, page=None
        )
        return Graded(with_check(job.base, graded.report, plan.check))

    def keep(self, done: FinishedJob) -> None:
        """Commit a result together with others, at the latest after ``GROUP_SECONDS``."""
        self.oldest = self.oldest if self.finished else time.monotonic()
        self.finished.append(done)
        self.commit_if_due()

    def commit_if_due(self) -> None:
        if self.finished and (
            len(self.finished) >= GROUP or time.monotonic() - self.oldest >= GROUP_SECONDS
        ):
            self.commit()

    def commit(self) -> None:
        """Write the finished results in one transaction, then count them as done."""
        if not self.finished:
            return
        with transaction(self.book.db):
            for done in self.finished:
                self._keep(done)
        self.done += len(self.finished)
        self.finished.clear()
        self.progress(self.done)

    def _keep(self, done: FinishedJob) -> None:
        if done.report is None:
            self._problem(done.job.owner, done.fault, fault=True)
            return
        self.book.keep(
            done.job.owner, self.tally.run, done.job.key, done.report, done.job.files.values()
        )
        self.tally.graded += 1
        self.tally.faults += bool(done.report.grader_faults)
