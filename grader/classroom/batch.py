"""Grade a class, and write the files beside the gradebook.

A run prepares each submission, reuses earlier results, grades the rest and stores each result.
Before the first one it grades each lesson's reference: a broken course stops the run. The caller's
thread owns the gradebook: it reads submissions, hands out jobs and commits results. Other threads,
each with a fork server, grade and write the page before the result is committed.

The files are written from one entry at a time, and each is replaced as a whole. ``results.json``
and ``grades.csv`` are the same bytes each time the same class is graded.
"""

from __future__ import annotations

import contextlib
import json
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from pathlib import Path
from typing import IO, Any

from grader import __version__
from grader.classroom.exports.common import ExportRequest, Piece, entry_as_json
from grader.classroom.exports.tables import export_csv
from grader.classroom.gradebook.entry import GradebookEntry, PersonalPart, time_on_roster
from grader.classroom.gradebook.marks import MarkChange, begin_marks, keep_marks, note_told
from grader.classroom.gradebook.store import Gradebook, GradingKey, SeenAttempt, batch_lock, refusal
from grader.classroom.imports import canvas
from grader.classroom.imports.entries import Submission
from grader.classroom.imports.names import name_list
from grader.classroom.public_report import PublicReport, withheld
from grader.classroom.statistics.class_page import render_class
from grader.classroom.statistics.collect import RowsOnDisk, collect_statistics
from grader.classroom.statistics.first_screen import Topic, first_screen
from grader.core.errors import CourseError, EngineFault, SubmissionError, UsageError
from grader.core.files import engine_hash, replacing, torch_version
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.messages import Settings
from grader.core.report import (
    CheckResult,
    LessonResult,
    LessonStatus,
    Outcome,
    Record,
    Report,
    add_up,
)
from grader.core.scoring import lesson_score, lesson_status, report_score
from grader.core.sqlite import transaction
from grader.course.course import Course, Lesson
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile, digest, handed_in_digest
from grader.render.page import render_page
from grader.runtime.pool import Closeable, HostPool, map_unordered
from grader.runtime.text_reader import text_reader

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

    def key(self, digest: str, lessons: Sequence[str]) -> GradingKey:
        """Return what the verdict on files with this digest depends on."""
        return GradingKey(
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
    """Counts of one run. ``problems`` were not graded; ``faults`` of these are the grader's own.
    ``older`` says that the download is older than another one; ``untimed`` counts new attempts
    whose lateness nobody knows.
    """

    run: int
    graded: int = 0
    reused: int = 0
    problems: int = 0
    faults: int = 0
    older: bool = False
    untimed: int = 0


@dataclass(frozen=True, slots=True)
class BatchJob:
    """One submission to grade. ``seen`` is its attempt, if it was known before; ``base`` is the
    report in which one check is replaced.
    """

    one: Submission
    owner: str
    key: GradingKey
    seed: int
    files: dict[str, LessonFile]
    page: PageOptions
    seen: SeenAttempt | None = None
    base: Report | None = None


@dataclass(frozen=True, slots=True)
class PageOptions(Record):
    """What a page needs beside its report. With ``reveal``, hidden checks show their inputs."""

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


GROUP, GROUP_SECONDS = 64, 0.5
"""The most results in one transaction, and the longest time a result waits for others."""


@dataclass(slots=True)
class Batch:
    """A run. Results are committed in groups, and counted as done after the commit.

    ``grading`` grades one submission, here or on a cluster. ``progress`` is called with the number
    of results on disk. ``newest`` is the newest time of a file in the download, which may be
    ``zipped``.
    """

    book: Gradebook
    out: Path
    plan: BatchPlan
    hosts: HostPool[Any]
    grading: Callable[..., Graded]
    progress: Callable[[int], None]
    tally: BatchResult = field(init=False)
    seed: int = field(init=False)
    rewrite: bool = field(init=False)
    newest: float | None = None
    zipped: bool = False
    proven: bool = False
    done: int = 0
    replaced_in: set[int] = field(default_factory=set)
    paged: set[str] = field(default_factory=set)
    finished: list[FinishedJob] = field(default_factory=list)
    oldest: float = 0.0

    def run(self, handed: Sequence[Submission]) -> BatchResult:
        """Grade the submissions of a class, all from the seed of this run.

        Raise UsageError if the sandbox is not available, the course is broken or the folder can't
        be written. Raise KeyboardInterrupt if the run was stopped early: committed results stay,
        and the same call continues.
        """
        run = self.book.begin(str(self.plan), self.newest, zipped=self.zipped)
        self.tally, self.seed = BatchResult(run), self.book.seed_of(run)
        shown = REVEALED if self.plan.reveal else WITHHELD
        pages = f"{shown} {self.book.about('late_rule')}".strip()
        self.rewrite = self.book.about("pages") != pages
        if self.rewrite:
            self.book.set_class({"pages": ""})
        results = map_unordered(
            self.hosts, self.jobs(handed), self.grade, waiting=self.commit_if_due
        )
        with contextlib.closing(results):
            try:
                for done in results:
                    self.keep(done)
            finally:
                self.commit()
        if self.done < len(handed):
            raise KeyboardInterrupt
        if self.book.about("layout") == canvas.LAYOUT.name:
            self.replaced_in |= self.book.later_by(canvas.attachment_number, run)
        older = self.book.rank_before(run, self.replaced_in)
        self.tally.older = bool(self.tally.graded) and self.book.comes_before(run)
        self.tally.untimed = self.book.untimed(run)
        for owner in older:
            self._drop_page(owner)
            self._write_page(owner)
        self.book.set_class({"pages": pages})
        self.book.end(run)
        return self.tally

    def jobs(self, handed: Sequence[Submission]) -> Iterator[BatchJob]:
        """Yield what to grade, once the references have passed; reuse or record all the rest."""
        for one in handed:
            if self.hosts.finishing.is_set():
                return
            job = self.prepare(one)
            if job is None:
                self.done += 1
                self.progress(self.done)
                continue
            self.proven = self.proven or self.prove_references()
            if self.proven:
                yield job

    def prove_references(self) -> bool:
        """Grade the reference of each lesson. In a students' bundle there is none.

        Raise CourseError if one of them does not pass every check. Return False if the run was
        stopped meanwhile.
        """
        plan = self.plan
        asked = {lesson_of(plan.check)} if plan.check else {*plan.ids}
        lessons = [one for one in plan.lessons if one.id in asked and not one.held]

        def work(host: Closeable, lesson: Lesson) -> None:
            # A fault of the engine or of the host proves nothing about the course.
            with contextlib.suppress(EngineFault):
                refuse_if_broken(lesson, self._reference(host, lesson))

        proven = sum(1 for _ in map_unordered(self.hosts, lessons, work))
        return proven == len(lessons) and not self.hosts.stopping.is_set()

    def _reference(self, host: Closeable, lesson: Lesson) -> LessonResult:
        """Grade a reference, after a failure once more, because the host may have been busy."""
        text = without_markers(lesson.solution.read_text("utf-8"))
        files = {lesson.id: LessonFile(lesson.id, lesson.filename, text)}
        settings = replace(self.plan.settings, seed=self.seed, repair=False, planned=False)
        task = (self.plan.course, [lesson], files, settings)
        (result,) = self.grading(host, *task, name=lesson.id, page=None).report.lessons
        if any(check.outcome is not Outcome.PASSED for check in result.checks):
            host.close()
            (result,) = self.grading(host, *task, name=lesson.id, page=None).report.lessons
        return result

    def prepare(self, one: Submission) -> BatchJob | None:
        """Return the job for a submission; None if it was reused or could not be read."""
        try:
            ids = self._lessons(one.name)
            files = one.read(ids)
            if not files:
                expected = name_list((lesson.filename for lesson in self.plan.lessons), NAMED)
                raise SubmissionError(f"no lesson file found; expected {expected}")
        except (SubmissionError, OSError) as error:
            self._problem(one, str(error), fault=False)
            return None
        except Exception as error:  # a bug in our reader costs only this submission
            self._problem(one, f"the grader's own fault in reading it: {error!r}", fault=True)
            return None
        key = self.plan.key(digest(files), ids)
        one = replace(one, handed=handed_in_digest(files))
        seen = self.book.seen(one, key, files)
        if seen and (later := self.book.replaced_by(seen)):
            if self.book.is_older(self.tally.run, later):
                self.replaced_in.add(later)
            else:
                self.book.hand_in_again(seen, self.tally.run)
        grading = self._graded_already(one.name, key)
        if grading is None:
            return self._job(one, key, files, seen)
        self._reuse(one, grading, key.digest, seen)
        return None

    def _lessons(self, name: str) -> tuple[str, ...]:
        """Return the lessons to read. When one check is graded again, they are the check's, and
        those of the report, so that their points stay.
        """
        check = self.plan.check
        if check is None or self.book.digest_of(name) is None:
            return self.plan.ids
        report = self.book.entry(name).report
        if report is None:
            return self.plan.ids
        kept = {lesson_of(check), *(lesson.id for lesson in report.lessons)}
        return tuple(lesson.id for lesson in self.plan.course.lessons if lesson.id in kept)

    def _reuse(self, one: Submission, grading: int, digest: str, seen: SeenAttempt | None) -> None:
        """Count an earlier result. Remove an outdated page first, in case the run ends here."""
        owner = seen.owner if seen else one.name
        with transaction(self.book.db):
            if self.book.use(one, self.tally.run, grading, digest, seen) or self.rewrite:
                self._drop_page(owner)
        if not page_path(self.out, owner).exists():
            try:
                self._write_page(owner)
            except UsageError:
                raise
            except Exception as error:
                problem = f"the grader's own fault in its page: {error!r}"
                self._problem(one, problem, fault=True, digest=digest, seen=seen)
                return
        self.tally.reused += 1

    def _write_page(self, owner: str) -> None:
        """Write the page of a submission's attempt that counts."""
        entry = self.book.entry(owner)
        if entry.report is not None:
            options = PageOptions(entry.personal_part, self.plan.reveal)
            write_page(self.out, owner, render(entry.report, options))

    def _graded_already(self, name: str, key: GradingKey) -> int | None:
        if self.plan.check:
            return self.book.regraded(name, key.digest, self.tally.run)
        return self.book.find(name, key, run=self.tally.run if self.plan.regrade else None)

    def _job(
        self,
        one: Submission,
        key: GradingKey,
        files: dict[str, LessonFile],
        seen: SeenAttempt | None,
    ) -> BatchJob:
        """Return a job for one check if the old report is about the same files, else for all."""
        owner, students = (seen.owner, seen.students) if seen else (one.name, one.students)
        handed_in = one.handed_in or time_on_roster(students)
        personal = self.book.personal_part(owner, students, handed_in)
        page = PageOptions(personal, self.plan.reveal)
        check = self.plan.check
        if check and self.book.digest_of(owner) == key.digest:
            base = self.book.entry(owner).report
            if base and any(lesson.id == lesson_of(check) for lesson in base.lessons):
                old = replace(
                    key,
                    # neither course graded it: a run of either one looks for its own grading
                    course_hash=f"{base.course.hash}, {check} of {key.course_hash}",
                    grader_version=base.grader_version,
                    engine_hash=base.engine_hash,
                    torch_version=base.torch_version,
                    sandbox=base.sandbox.mode,
                    lang=base.lang,
                    lessons=",".join(lesson.id for lesson in base.lessons),
                )
                return BatchJob(one, owner, old, base.seed, files, page, seen, base)
        return BatchJob(one, owner, key, self.seed, files, page, seen)

    def _problem(
        self,
        one: Submission,
        problem: str,
        *,
        fault: bool,
        digest: str = "",
        seen: SeenAttempt | None = None,
    ) -> None:
        run = self.tally.run
        self.book.keep_problem(one, run, problem, fault=fault, digest=digest, seen=seen)
        self._drop_page(seen.owner if seen else one.name)  # of an earlier grading, or attempt
        self.tally.problems += 1
        self.tally.faults += fault

    def _drop_page(self, owner: str) -> None:
        page = page_path(self.out, owner)
        try:
            page.unlink(missing_ok=True)
        except OSError as error:
            raise refusal(page, error) from None

    def grade(self, host: Closeable, job: BatchJob) -> FinishedJob:
        """Grade one submission and write its page."""
        try:
            graded = self._graded(host, job)
            if not self.hosts.stopping.is_set():
                page = graded.page or render(graded.report, job.page)
                write_page(self.out, job.owner, page)
        except UsageError:  # sandbox, folder or course are unusable for every submission
            raise
        except Exception as error:
            return FinishedJob(job, None, f"the grader's own fault: {error!r}")
        return FinishedJob(job, graded.report)

    def _graded(self, host: Closeable, job: BatchJob) -> Graded:
        """Grade one submission; after a grader fault once more, with a new server."""
        stopping = self.hosts.stopping
        try:
            graded = self._graded_once(host, job)
        except EngineFault:  # in a cluster: all workers that had it died, or one failed at it
            if stopping.is_set():
                raise
        else:
            if stopping.is_set() or not graded.report.grader_faults:
                return graded
        host.close()
        return self._graded_once(host, job)

    def _graded_once(self, host: Closeable, job: BatchJob) -> Graded:
        plan = self.plan
        settings = replace(plan.settings, seed=job.seed, lang=job.key.lang)
        ids = job.key.lessons.split(",")
        page: PageOptions | None = job.page
        if job.base and plan.check:
            ids, page = [lesson_of(plan.check)], None
        lessons = [plan.course.lesson(id) for id in ids]
        graded = self.grading(
            host, plan.course, lessons, job.files, settings, name=job.owner, page=page
        )
        if job.base and plan.check:
            return Graded(with_check(job.base, graded.report, plan.check))
        return graded

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
        job, run = done.job, self.tally.run
        if done.report is None:
            digest = job.key.digest
            self._problem(job.one, done.fault, fault=True, digest=digest, seen=job.seen)
            return
        attempt = self.book.keep(job.one, run, job.key, done.report, job.files.values(), job.seen)
        if job.owner in self.paged or not self.book.counts(attempt):  # another's page may be there
            self._drop_page(job.owner)
            self._write_page(job.owner)
        self.paged.add(job.owner)
        self.tally.graded += 1
        self.tally.faults += bool(done.report.grader_faults)


NOT_PASSED = (
    "{where}: the course's own solution of {lesson} does not pass {check}: {reason}. Nothing was"
    " graded. Mend the course; grade verify {lesson} says what is wrong"
)


def refuse_if_broken(lesson: Lesson, result: LessonResult) -> None:
    """Raise CourseError if a lesson's reference does not pass a check."""
    for check in result.checks:
        # Without a file of the course in its traceback, it is not the course's fault.
        ours = check.outcome is Outcome.GRADER_ERROR and not raised_in(check, lesson)
        if check.outcome is Outcome.PASSED or ours:
            continue
        file, line = place_of(check, lesson)
        raise CourseError(
            NOT_PASSED,
            where=f"{file}:{line}",
            lesson=lesson.id,
            check=check.id,
            reason=(check.message or check.outcome.value).strip().splitlines()[0].rstrip("."),
        )


def raised_in(check: CheckResult, lesson: Lesson) -> list[tuple[str, str]]:
    """Return the files and lines of the course in a check's traceback, outermost first."""
    frames = re.findall(r'File "([^"\n]{1,4096})", line (\d{1,9})', check.note or "")
    return [(file, line) for file, line in frames if file.startswith(str(lesson.checks))]


def place_of(check: CheckResult, lesson: Lesson) -> tuple[str, str]:
    """Return the file and line at which a check raised, or else at which it is defined."""
    raised = raised_in(check, lesson)
    if raised:
        return raised[-1]
    name = check.id.removeprefix(f"{lesson.id}.").partition("[")[0]
    definition = re.compile(rf"(?:def )?test_{re.escape(name)}\b")
    for path in lesson.check_files:
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            if definition.match(line):
                return str(path), str(number)
    return str(lesson.checks), "1"


def lesson_of(check_id: str) -> str:
    return check_id.partition(".")[0]


def with_check(report: Report, again: Report, check_id: str) -> Report:
    """Return the report with the results of one check, and of those that wait for it, from another
    grading of the same files.

    If the file could not be loaded or judged, before or now, replace the whole lesson. If another
    course, engine or torch graded the check, its note says which.
    """
    old = next(lesson for lesson in report.lessons if lesson.id == lesson_of(check_id))
    new = next(lesson for lesson in again.lessons if lesson.id == lesson_of(check_id))
    note = ""
    if _grader(report) != _grader(again):
        note = (
            f"graded again by course {again.course.hash}, gradlings {again.grader_version} (engine"
            f" {again.engine_hash}) and torch {again.torch_version}"
        )
    lessons = tuple(
        _merged(old, new, check_id, note) if lesson is old else lesson for lesson in report.lessons
    )
    score, max_score, bonus = report_score(lessons)
    return replace(report, lessons=lessons, score=score, max_score=max_score, bonus=bonus)


def _grader(report: Report) -> tuple[str, str, str]:
    return report.course.hash, report.engine_hash, report.torch_version


def _merged(old: LessonResult, new: LessonResult, check_id: str, note: str) -> LessonResult:
    judged = {LessonStatus.PASSED, LessonStatus.FAILED, LessonStatus.NOT_STARTED}
    results = {check.id: check for check in old.checks}
    found = {check.id: check for check in new.checks}
    if (
        check_id not in found
        or f"{old.id}.grader" in results
        or not {old.status, new.status} <= judged
    ):
        return new
    for again in (waiting_for(check_id, old) | waiting_for(check_id, new)) & found.keys():
        results[again] = replace(found[again], note=found[again].note or note or None)
    checks = tuple(results.values())
    score, max_score, bonus, max_bonus = lesson_score(checks)
    return replace(
        old,
        checks=checks,
        status=lesson_status(checks, held_checks=old.held_checks),
        score=score,
        max_score=add_up([max_score, old.held_points]),
        bonus=bonus,
        max_bonus=max_bonus,
    )


def waiting_for(check_id: str, lesson: LessonResult) -> set[str]:
    """Return a check's id and those of the checks that wait for it, directly or not."""
    waiting = {check_id}
    for _ in lesson.checks:
        waiting |= {one.id for one in lesson.checks if one.needs in waiting}
    return waiting


REVEALED, WITHHELD = "revealed", "withheld"


def page_path(out: Path, name: str) -> Path:
    return out / "reports" / f"{name}.html"


def render(report: Report, options: PageOptions) -> bytes:
    """Return a submission's page."""
    tr = _words(report.lang)
    shown = PublicReport(report) if options.reveal else withheld(report, tr)
    page = render_page(shown, tr, personal=options.personal)
    return page.encode("utf-8", "backslashreplace")


ONE_PAGE = threading.Lock()
"""Two submissions that are graded at the same time may be one person's, and have one page."""


def write_page(out: Path, name: str, page: bytes) -> None:
    with ONE_PAGE, output(page_path(out, name), durable=False) as file:
        file.write(page)


def rewrite_page(out: Path, book: Gradebook, entry: GradebookEntry) -> None:
    """Write an entry's page again, or remove it if there is no report any more."""
    if entry.report is not None:
        reveal = book.about("pages").startswith(REVEALED)
        write_page(out, entry.name, render(entry.report, PageOptions(entry.personal_part, reveal)))
    else:
        page_path(out, entry.name).unlink(missing_ok=True)


def drop_page(book: Gradebook, name: str) -> None:
    page_path(book.folder, name).unlink(missing_ok=True)


@contextlib.contextmanager
def changing(
    out: Path,
    announce: Callable[[Sequence[MarkChange]], None] | None = None,
    *,
    everywhere: bool = False,
) -> Iterator[tuple[Gradebook, set[str]]]:
    """Open a gradebook to change it by hand; no other command changes it meanwhile.

    The block adds the names of the submissions that it changed to the set. Their pages, and the
    tables, are then written again. With ``everywhere``, so are those of all assignments, and
    ``out`` may be the term's folder. ``announce`` is called with the marks that changed;
    without it, the command itself says those of the set.
    """
    changed: set[str] = set()
    with Gradebook.open(out, any_of=everywhere) as book, batch_lock(out):
        numbers = book.assignments().values() if everywhere else [book.assignment]
        books = [book.at(number) for number in numbers]
        before = [(there, there.all_names()) for there in books]
        for there in books:
            begin_marks(there)
        yield book, changed
        for there, names in before:
            quiet = announce is None
            finish(there, changed | (names - there.all_names()), announce or (lambda changes: None))
            note_told(there, changed if quiet else None)


def finish(
    book: Gradebook, changed: set[str], announce: Callable[[Sequence[MarkChange]], None]
) -> Sequence[Topic]:
    """Keep the marks that a command changed, write their pages and the tables, and say it, with
    what a command that was killed did not say. Return what to reteach.
    """
    changes = keep_marks(book, partial(drop_page, book))
    there = book.all_names()
    names = changed | {change.name for change in changes}
    for name in names - there:
        drop_page(book, name)
    for name in sorted(names & there):
        rewrite_page(book.folder, book, book.entry(name))
    topics = write_outputs(book)
    announce([change for change in changes if change.is_seen])
    return topics


@cache
def _words(lang: str) -> Catalogue:
    return engine_catalogue(lang)


def write_outputs(book: Gradebook) -> Sequence[Topic]:
    """Write an assignment's tables and class page again; return what to reteach."""
    out, columns = book.folder, book.columns()
    with output(out / "results.json") as file:
        write_results(file, book.entries())
    with output(out / "grades.csv") as file:
        for piece in export_csv(book.entries(), columns, ExportRequest()):
            file.write(piece.data if isinstance(piece, Piece) else b"")
    with output(out / "class.html") as file, tempfile.TemporaryFile(dir=out) as rows:
        students = (entry for entry in book.entries() if not entry.is_test)
        room = collect_statistics(students, columns, RowsOnDisk(rows))
        page = render_class(
            room,
            title=book.about("title"),
            passed_over=book.passed_over(),
            code_of=lambda group: text_reader().excerpt(
                book.graded_text(group.first.name, group.lesson) or "", group.function
            ),
        )
        for part in page:
            file.write(part.encode("utf-8", "backslashreplace"))
        return first_screen(room).topics


def write_results(file: IO[bytes], entries: Iterable[GradebookEntry]) -> None:
    before = "[\n"
    for entry in entries:
        text = before + json.dumps(entry_as_json(entry), ensure_ascii=False, allow_nan=False)
        file.write(text.encode("utf-8", "backslashreplace"))
        before = ",\n"
    file.write(b"\n]\n" if before == ",\n" else b"[]\n")


@contextlib.contextmanager
def output(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` when it is complete; raise UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, durable=durable) as file:
            yield file
    except OSError as error:
        raise refusal(path, error) from None
