"""Run ``grade watch``: grade a lesson at every save, on a terminal that reacts to single keys."""

from __future__ import annotations

import os
import secrets
import webbrowser
from collections.abc import Callable, Iterable
from pathlib import Path

from rich.console import Console
from rich.text import Text

from grader.cli.commands.hint import show_hint
from grader.cli.commands.interrupts import ended_by_signals
from grader.cli.commands.learner_page import keep
from grader.cli.commands.lessons import show_lessons, show_next
from grader.cli.commands.selection import refuse_wrong_folder
from grader.cli.commands.watch_screen import (
    BACK_KEYS,
    FORWARD_KEYS,
    KEYS,
    NEXT_FAILURE,
    PREVIOUS_FAILURE,
    Screen,
)
from grader.cli.commands.workspace import Learner, record
from grader.cli.file_events import folder_saves, remote_kind
from grader.cli.keyboard import END_OF_INPUT, single_keys
from grader.cli.watch_change import change_text
from grader.cli.watch_loop import Saves, Watcher, WatchResult
from grader.core.errors import ExitCode, UsageError
from grader.core.report import Outcome, Report
from grader.course.course import Course, Lesson, find_course, load_course
from grader.course.progress import next_lesson
from grader.course.submission import LessonFile, lesson_names, read_submission
from grader.render.editors import run_lines
from grader.render.page import render_page
from grader.render.terminal import make_console, show_figures, show_report
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_submission

REPORT = "report.html"


def watch_lessons(
    course_root: Path | None,
    names: tuple[str, ...],
    place: Path,
    *,
    poll: bool,
    sandbox: str,
    lang: str | None,
    plain: bool = False,
) -> ExitCode | int:
    """Grade lessons of a folder at every save, until a key or a signal ends it; return the exit
    code.
    """
    with ForkServerClient() as host:
        course = load_course(find_course(course_root, here=Path()))
        learner = Learner.at(course, place, lang)
        refuse_wrong_folder(place)
        if not learner.folder.is_dir():
            message = (
                "{folder} is not a folder. Name the one with your lessons, or make one: grade init"
                " my-work"
            )
            raise UsageError(learner.tr(message, folder=learner.folder))
        watched = [course.lesson(name) for name in names] or list(course.lessons)
        files = learner.files(*watched)
        if not files:
            message = (
                "There is no lesson file in {folder}. Make a folder with all lessons: grade init"
                " my-work"
            )
            raise UsageError(learner.tr(message, folder=learner.folder))
        kind = None if poll else remote_kind(learner.folder)
        folders = {(learner.folder / file.path).parent for file in files.values()}
        session = WatchSession(learner, host, keeps=place == Path(), sandbox=sandbox, plain=plain)
        if kind:
            text = learner.tr(
                "This folder is on {kind}, which does not report saves, so it is polled for"
                " changes, as with --poll.",
                kind=kind,
            )
            session.notes.append(text)
        saves = folder_saves(
            folders, lesson_names(lesson.id for lesson in watched), poll=poll or kind is not None
        )
        return session.run(saves, first_to_grade(course, learner, watched, files), files)


def first_to_grade(
    course: Course, learner: Learner, watched: list[Lesson], files: dict[str, LessonFile]
) -> str:
    """Return the next lesson to take if it is watched and
    exists here, else the first that exists.
    """
    following = next_lesson(course, learner.progress)
    here = [lesson for lesson in watched if lesson.id in files]
    return following.id if following in here and following else here[0].id


class WatchSession:
    """One run of ``grade watch``: the functions that the loop calls, and what is on the screen."""

    def __init__(
        self,
        learner: Learner,
        host: ForkServerClient,
        *,
        keeps: bool,
        sandbox: str,
        plain: bool = False,
    ) -> None:
        self.learner, self.host, self.keeps, self.sandbox = learner, host, keeps, sandbox
        self.plain = plain
        self.screen = Screen(make_console(), learner)
        self.notes: list[str] = []
        self.current = ""
        self.interrupted = False
        self.watcher: Watcher | None = None
        self.report: Report | None = None
        self.reports: dict[str, Report] = {}

    def run(self, saves: Saves, first: str, watched: Iterable[str]) -> int:
        watcher = self.watcher = Watcher(
            saves=saves,
            read=self.read,
            grade=self.grade,
            end=self.end,
            shown=self.shown,
            pressed=self.pressed,
            slow=self.slow,
        )
        self.current = first
        if self.plain:
            with ended_by_signals(watcher.stop):
                for one in watched:
                    watcher.again(one)
                return watcher.run()
        with (
            ended_by_signals(watcher.stop),
            single_keys(watcher.press) as has_keys,
            self.screen.cursor_hidden(),
        ):
            self.screen.keys = has_keys
            self.screen.show(
                lambda console: console.print(Text(self.learner.tr("Starting …"), "dim")),
                self.notes,
            )
            watcher.again(first)
            try:
                return watcher.run()
            except KeyboardInterrupt:
                return 130

    def read(self, lesson: str) -> LessonFile | None:
        return read_submission(self.learner.folder, [lesson]).get(lesson)

    def grade(self, lesson: str, file: LessonFile | None) -> Report:
        if self.interrupted:
            self.interrupted = False
            self.host.close()
        course, lang = self.learner.course, self.learner.tr.lang
        seed, name = secrets.randbits(32), self.learner.folder.resolve().name
        settings = Settings(seed, self.sandbox, course.limits, lang=lang, prestart=True)
        files = {lesson: file} if file else {}
        return grade_submission(
            self.host, course, [course.lesson(lesson)], files, settings, name=name
        )

    def end(self) -> None:
        self.interrupted = True
        self.host.interrupt()

    def slow(self, lesson: str, seconds: int) -> None:
        self.current = lesson
        if self.plain:
            return
        template = "grading {lesson} … {seconds} s" if seconds else "grading {lesson} …"
        self.screen.show_status(self.learner.tr(template, lesson=lesson, seconds=seconds))

    def shown(self, verdict: WatchResult) -> None:
        self.current, self.report = verdict.lesson, verdict.report
        if self.plain:
            self.reports.pop(verdict.lesson, None)  # the last one is the latest
            self.reports[verdict.lesson] = verdict.report
            for line in run_lines([*self.reports.values()], self.learner.folder, self.learner.tr):
                print(line, flush=True)
            if self.keeps:
                record(self.learner, verdict.report, make_console(stderr=True))
            return

        def body(console: Console) -> None:
            show_report(
                console,
                verdict.report,
                html=None,
                tr=self.learner.tr,
                commands=not self.screen.keys,
            )
            if self.keeps:
                record(self.learner, verdict.report, console)

        before, tr = verdict.before, self.learner.tr
        last = change_text(before, verdict.result, tr) if before else None
        self.screen.show(body, self.notes, last=last)
        self.screen.keep()

    def pressed(self, key: str) -> None:
        assert self.watcher is not None
        course, folder, lang = self.learner.course, self.learner.folder, self.learner.tr.lang
        shows: dict[str, Callable[[Console], None]] = {
            "h": lambda console: show_hint(
                course, folder, self.current, None, step=None, lang=lang, console=console
            ),
            "n": lambda console: show_next(course, folder, lang, console),
            "l": lambda console: show_lessons(course, folder, lang, console),
            "c": self.show_code,
            "g": self.show_figures,
            "o": self.open_report,
            "?": self.explain,
        }
        if key.lower() in ("q", END_OF_INPUT):
            self.watcher.stop()
        elif key.lower() in (*FORWARD_KEYS, *BACK_KEYS):
            self.screen.scroll(1 if key.lower() in FORWARD_KEYS else -1)
        elif key in (NEXT_FAILURE, PREVIOUS_FAILURE):
            if not self.screen.back():
                self.screen.jump(forward=key == NEXT_FAILURE)
        elif key.lower() == "r":
            self.screen.show_status(self.learner.tr("grading {lesson} …", lesson=self.current))
            self.watcher.again(self.current)
        elif show := shows.get(key.lower()):
            self.screen.show(show, [])
            if key.lower() == "c":
                self.screen.reveal_failure()

    def show_code(self, console: Console) -> None:
        """Print the lesson's file with line numbers; lines of failures are marked."""
        file = self.read(self.current)
        if file is None or file.problem:
            console.print(Text(self.learner.tr("There is no file to show"), "dim"))
            return
        checks = self.report.lessons[0].checks if self.report else ()
        failed = {check.source_line for check in checks if not check.outcome.quiet}
        console.print(Text(file.path, "bold"))
        for number, line in enumerate(file.text.splitlines(), 1):
            mark, style = (Outcome.FAILED.mark, "bold red") if number in failed else (" ", "")
            console.print(Text(f"{mark}{number:4}  {line}", style))

    def show_figures(self, console: Console) -> None:
        show_figures(console, self.report.lessons if self.report else (), self.learner.tr)

    def open_report(self, console: Console) -> None:
        """Write the last run's page and open it; print its path."""
        if self.report is None:
            console.print(Text(self.learner.tr("Nothing has been graded yet"), "dim"))
            return
        path = self.learner.folder / REPORT
        try:
            path.write_text(self.page(self.report), "utf-8", newline="\n")
        except OSError as error:
            message = "{file} can't be written: {reason}. Nothing of yours was lost"
            raise UsageError(self.learner.tr(message, file=path, reason=error.strerror)) from None
        webbrowser.open(path.resolve().as_uri())
        console.print(Text(os.path.relpath(path)))

    def page(self, report: Report) -> str:
        """Render the last run's page with what the learner's own page holds: code and READMEs."""
        learner, tr = self.learner, self.learner.tr
        file = self.read(self.current)
        files = {self.current: file} if file else {}
        place = Path() if self.keeps else learner.folder
        own = keep(learner.course, report, files, place, tr.lang)
        return render_page(report, tr, extras=own)

    def explain(self, console: Console) -> None:
        for key, (_, what) in KEYS.items():
            console.print(Text.assemble((f"  {key}  ", "bold"), self.learner.tr(what)))
        scrolling = self.learner.tr(
            "space and b scroll; a dot goes back to the result and to the next failure, a comma to"
            " the previous one"
        )
        console.print(Text(f"     {scrolling}", "dim"))
