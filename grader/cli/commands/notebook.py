"""Run ``%grade`` and ``%%grade``: grade from a notebook and show the report under the cell.

Nothing that is graded runs in the kernel. A fork server stays warm between calls.
"""

from __future__ import annotations

import contextlib
import html
import re
import secrets
from dataclasses import dataclass, replace
from pathlib import Path

from grader.cli.commands.learner_page import keep
from grader.cli.commands.selection import select
from grader.cli.unsaved import RunDefinitions
from grader.core.errors import CourseError, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.messages import Settings
from grader.core.report import Report
from grader.course.course import Course, Lesson, find_course, load_course
from grader.course.submission import LessonFile, read_cell, read_submission
from grader.render.page import LearnerExtras, render_page, sections, to_do
from grader.render.terminal import make_console, plain_text
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

COLUMNS, STATIC_COLUMNS = 100, 80
HEAD_PIXELS, LINE_PIXELS, OPEN_PIXELS = 400, 46, 420
"""Heights for a report whose height can't be measured: the head with what is below it, a line, a
failed check.
"""
FIT = (
    "const d=this.contentDocument,f=()=>{this.style.height=d.body.offsetHeight+2+'px'};"
    "d.addEventListener('toggle',f,true);f()"
)
"""Set the frame's height to that of its page, again after something in it is opened; a front end
that runs no handlers keeps the first height.
"""


STATIC, ONLY_STATIC = "gradlings-static", "<style>.gradlings-static { display: none }</style>"
"""A front end that does not trust a notebook removes frames and style sheets. Then the report is
shown as plain text, which the style sheet otherwise hides.
"""
COMMANDS = ("graph", "hint", "init", "list", "next", "read", "replay", "reset", "run", "solution")
"""The learner's commands that messages name and that the magic takes."""
COMMAND = re.compile(
    rf"(^|[^\w%.'\"-]|\x1b\[[\d;]*m)grade (?=(?:{'|'.join(COMMANDS)})\b)", re.MULTILINE
)


def as_magics(text: str) -> str:
    """Return a text with the learner's commands as magics: ``%grade hint``."""
    return COMMAND.sub(r"\1%grade ", text)


def greeting(place: Path) -> str:
    """Return what ``%load_ext grader`` prints: the magics, and
    how to begin if there is no lesson.
    """
    tr = engine_catalogue(wanted_language(None))
    rows = [
        ("%grade", tr("grades the lessons of this folder as they were last saved")),
        ("%%grade LESSON", tr("as a cell's first line: grades what is below it")),
        (
            "%grade hint LESSON",
            tr("a nudge; the other commands work too: %grade list, %grade next"),
        ),
        ("grader.draw(loss)", tr("after import grader: the graph behind a tensor")),
    ]
    # The engine of a students' bundle may be loaded outside of the bundle.
    with contextlib.suppress(CourseError):
        course = load_course(find_course(None, here=place))
        if not read_submission(place, [lesson.id for lesson in course.lessons]):
            begin = tr("begin: a folder with all lessons, as notebooks")
            rows.append(("%grade init my-work --notebook", begin))
    width = max(len(command) for command, _ in rows) + 3
    return "\n".join(f"{command.ljust(width)}{what}" for command, what in rows)


def without_calls(report: Report) -> Report:
    """Return a report without calls to paste: the kernel does not run a cell under %%grade."""
    lessons = [
        replace(lesson, checks=tuple(replace(check, call=None) for check in lesson.checks))
        for lesson in report.lessons
    ]
    return replace(report, lessons=type(report.lessons)(lessons))


@dataclass(frozen=True, slots=True)
class MagicOptions:
    """What the magic's line says: which lessons, and how to grade them."""

    lessons: tuple[str, ...]
    course_root: Path | None
    seed: int | None
    sandbox: str
    lang: str | None


@dataclass(frozen=True, slots=True)
class Shown:
    """A report for notebook front ends: a page in a frame, and text for those without HTML."""

    report: Report
    tr: Catalogue
    command: str
    extras: LearnerExtras | None = None

    def _repr_html_(self) -> str:
        """Return the page in a sandboxed frame, so that no style leaks and no script runs."""
        page = html.escape(
            as_magics(render_page(self.report, self.tr, extras=self.extras, inline=self.command))
        )
        parts = sections(self.report.lessons, self.extras or LearnerExtras())
        height = HEAD_PIXELS + LINE_PIXELS * len(self.report.lessons)
        for lesson in parts.begun:
            height += LINE_PIXELS * len(lesson.checks) + OPEN_PIXELS * to_do(lesson)
        style = f"display: block; width: 100%; height: {height}px; border: 0; border-radius: 8px"
        title = html.escape(
            f"{self.report.submission}: {self.report.score:g} / {self.report.max_score:g}"
        )
        return (
            f'<iframe sandbox="allow-same-origin" title="{title}" style="{style}" onload="{FIT}"'
            f' srcdoc="{page}"></iframe>{ONLY_STATIC}'
            f'<pre class="{STATIC}">{html.escape(self.as_text(STATIC_COLUMNS))}</pre>'
        )

    def __repr__(self) -> str:
        return self.as_text(COLUMNS)

    def as_text(self, columns: int) -> str:
        return as_magics(plain_text(self.report, self.tr, columns=columns))


class Kernel:
    """The grader of one kernel. Its fork server imports torch while the learner reads."""

    def __init__(self, host: ForkServerClient | None = None) -> None:
        self.host = host or ForkServerClient()

    def close(self) -> None:
        self.host.close()

    def grade_here(
        self, asked: MagicOptions, place: Path, ran: RunDefinitions | None = None
    ) -> Shown:
        """Grade the saved lessons of a folder and keep the progress there.

        ``ran`` is what the kernel has run; with it, unsaved changes are found.
        """
        course = load_course(find_course(asked.course_root, here=place))
        chosen = select(course, asked.lessons, place)
        tr = engine_catalogue(wanted_language(asked.lang))
        for message in ran.unsaved(place, chosen.files, tr) if ran else ():
            print(message)
        shown = self._graded(
            asked, course, chosen.lessons, chosen.files, name=chosen.name, command="%grade"
        )
        lang, console = shown.tr.lang, make_console()
        console.is_jupyter = False  # otherwise Rich would display each line as a separate output
        with console.capture() as opened:
            kept = keep(
                course, shown.report, chosen.files, place, lang, console=console, readmes=False
            )
        print(as_magics(opened.get()), end="")
        return replace(shown, extras=kept)

    def grade_cell(self, asked: MagicOptions, code: str, place: Path) -> Shown:
        course = load_course(find_course(asked.course_root, here=place))
        if len(asked.lessons) != 1:
            raise UsageError(
                "%%grade grades one lesson, so name it, and no other: %%grade {lesson}",
                lesson=course.lessons[0].id,
            )
        lesson = course.lesson(asked.lessons[0])
        file = read_cell(lesson.id, code)
        shown = self._graded(
            asked, course, [lesson], {lesson.id: file}, name=lesson.id, command="%%grade"
        )
        return replace(shown, report=without_calls(shown.report))

    def _graded(
        self,
        asked: MagicOptions,
        course: Course,
        lessons: list[Lesson],
        files: dict[str, LessonFile],
        *,
        name: str,
        command: str,
    ) -> Shown:
        language = wanted_language(asked.lang)
        seed = secrets.randbits(32) if asked.seed is None else asked.seed
        settings = Settings(seed, asked.sandbox, course.limits, lang=language, prestart=True)
        try:
            report = grade_submission(self.host, course, lessons, files, settings, name=name)
        except BaseException:  # interrupted: the next grading needs a new server
            self.host.close()
            raise
        return Shown(report, engine_catalogue(language), command)
