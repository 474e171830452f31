"""Define the magics ``%grade`` and ``%%grade``: grade from a notebook in Jupyter or Colab, and show
the report under the cell.

Nothing that is graded runs in the kernel. A fork server stays warm between calls. The learner's
other commands go through the magic too, because a notebook's environment may have no ``grade`` on
its PATH.
"""

from __future__ import annotations

import ast
import atexit
import contextlib
import html
import itertools
import os
import re
import secrets
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click

from grader.cli import COMMANDS
from grader.cli.help import TranslatedCommand, misuse, peek_language
from grader.cli.options import course, course_option, lang_option, sandbox_option, seed_option
from grader.cli.selection import select
from grader.cli.workspace import IN_NOTEBOOK, keep
from grader.core.errors import CourseError, GraderError, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, wanted_language
from grader.core.messages import Settings
from grader.core.report import Report
from grader.course.course import Course, Lesson
from grader.course.notebook import CELL_MAGIC, is_scratch, without_magics
from grader.course.source import Source
from grader.course.submission import LessonFile, read_cell, read_submission
from grader.render.page import LearnerExtras, render_page, sections, to_do
from grader.render.terminal import make_console, plain_text
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

NAME = "grade"
IN_NOTEBOOK_TOO = {name for name, one in COMMANDS.items() if one.in_notebook}
PASSED_ON = IN_NOTEBOOK_TOO - {"run"}
"""The commands that work in a notebook as on a terminal; running a cell again takes the place of
`watch`.
"""
NO_WATCH = (
    "A notebook has no `grade watch`. Save, and run the cell with {magic} again: it grades at once"
)


def register(shell: Any) -> None:
    """Add the magic to a shell and print a greeting. It ends with the shell."""
    magic = GradeMagic()
    atexit.register(magic.host.close)
    shell.register_magic_function(magic.grade, "line_cell", NAME)
    shell.events.register("pre_run_cell", magic.note_cell)
    print(greeting())


def unregister(shell: Any) -> None:
    magic: Any = None
    for kind in ("line", "cell"):
        magic = shell.magics_manager.magics[kind].pop(NAME, None) or magic
    if magic is not None:
        shell.events.unregister("pre_run_cell", magic.__self__.note_cell)
        atexit.unregister(magic.__self__.host.close)
        magic.__self__.host.close()


class GradeMagic:
    """The magic in one shell. Its fork server imports torch while the learner reads."""

    def __init__(self, host: ForkServerClient | None = None) -> None:
        self.host = host or ForkServerClient()
        self.ran = RunDefinitions()

    def grade(self, line: str, cell: str | None = None) -> None:
        """Grade lessons of this folder, or the cell's text; `%grade --help` names the options."""
        # IPython shows this error as one line, without a traceback.
        from IPython.core.error import UsageError as Refused
        from IPython.display import display

        try:
            words = shlex.split(line, comments=True)
            if cell is None and words and words[0] in PASSED_ON:
                run_command(words)
                return
            if words[:1] == ["watch"]:
                raise UsageError(NO_WATCH, magic="%grade")
            wanted: Any = magic_command.main(
                words, f"%{NAME}" if cell is None else f"%%{NAME}", standalone_mode=False
            )
            if isinstance(wanted, MagicOptions):
                shown = self.grade_here(wanted) if cell is None else self.grade_cell(wanted, cell)
                display(shown)  # type: ignore[no-untyped-call]
        except click.ClickException as error:
            wrong = misuse(error, magic_command, "%grade")
            said = error_text(wrong, line) if wrong else error.format_message()
            raise Refused(as_magics(said)) from None
        except (GraderError, ValueError) as error:
            raise Refused(as_magics(error_text(error, line))) from None

    def note_cell(self, info: Any) -> None:
        """Note what a cell defines, to find out later whether the notebook was saved since."""
        from IPython import get_ipython

        self.ran.note(info.raw_cell, getattr(get_ipython(), "execution_count", 0))

    def grade_here(self, asked: MagicOptions) -> Shown:
        """Grade the saved lessons of this folder and keep the progress there."""
        found, place = course(asked.course_root), Path()
        chosen = select(found, asked.lessons, place)
        tr = engine_catalogue(wanted_language(asked.lang))
        for message in self.ran.unsaved(place, chosen.files, tr):
            print(message)
        shown = self._graded(
            asked, found, chosen.lessons, chosen.files, name=chosen.name, command="%grade"
        )
        lang, console = shown.tr.lang, make_console()
        console.is_jupyter = False  # otherwise Rich would display each line as a separate output
        with console.capture() as opened:
            kept = keep(
                found, shown.report, chosen.files, place, lang, console=console, readmes=False
            )
        print(as_magics(opened.get()), end="")
        return replace(shown, extras=kept)

    def grade_cell(self, asked: MagicOptions, code: str) -> Shown:
        found = course(asked.course_root)
        if len(asked.lessons) != 1:
            raise UsageError(
                "%%grade grades one lesson, so name it, and no other: %%grade {lesson}",
                lesson=found.lessons[0].id,
            )
        lesson = found.lesson(asked.lessons[0])
        file = read_cell(lesson.id, code)
        shown = self._graded(
            asked, found, [lesson], {lesson.id: file}, name=lesson.id, command="%%grade"
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


@click.command(
    NAME, cls=TranslatedCommand, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@seed_option
@sandbox_option
@lang_option
@course_option
def magic_command(**options: Any) -> MagicOptions:
    """Grade lessons of this folder as they were last saved, or, as %%grade LESSON, the text of this
    cell.

    The learner's other commands work too: %grade init my-work --notebook, %grade next, %grade hint
    custom_sigmoid.

    Example: %grade custom_sigmoid --seed 7
    """
    return MagicOptions(**options)


def run_command(words: list[str]) -> None:
    """Run another of the learner's commands and print its output; it can't ask questions."""
    environment = {
        **os.environ,
        "COLUMNS": str(COLUMNS),
        "PYTHONIOENCODING": "utf-8",
        IN_NOTEBOOK: "1",
    }
    command = [sys.executable, "-P", "-m", "grader", *words]
    ran = subprocess.run(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
    )
    print(as_magics(ran.stdout), end="")
    print(as_magics(ran.stderr), end="", file=sys.stderr)


def error_text(error: Exception, line: str) -> str:
    """Return an error's message, translated into the language of the magic's line if possible."""
    if not isinstance(error, UsageError) or not error.facts:
        return str(error)
    return engine_catalogue(wanted_language(peek_language(line.split())))(
        error.template, **error.facts
    )


@dataclass(frozen=True, slots=True)
class MagicOptions:
    """What the magic's line says: which lessons, and how to grade them."""

    lessons: tuple[str, ...]
    course_root: Path | None
    seed: int | None
    sandbox: str
    lang: str | None


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


def without_calls(report: Report) -> Report:
    """Return a report without calls to paste: the kernel does not run a cell under %%grade."""
    lessons = [
        replace(lesson, checks=tuple(replace(check, call=None) for check in lesson.checks))
        for lesson in report.lessons
    ]
    return replace(report, lessons=tuple(lessons))


COMMAND = re.compile(
    rf"(^|[^\w%.'\"-]|\x1b\[[\d;]*m)grade (?=(?:{'|'.join(sorted(IN_NOTEBOOK_TOO))})\b)",
    re.MULTILINE,
)


def as_magics(text: str) -> str:
    """Return a text with the learner's commands as magics: ``%grade hint``."""
    return COMMAND.sub(r"\1%grade ", text)


def greeting() -> str:
    """Return what ``%load_ext grader`` prints: the magics, and how to begin without a lesson."""
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
        if not read_submission(Path(), [lesson.id for lesson in course(None).lessons]):
            begin = tr("begin: a folder with all lessons, as notebooks")
            rows.append(("%grade init my-work --notebook", begin))
    width = max(len(command) for command, _ in rows) + 3
    return "\n".join(f"{command.ljust(width)}{what}" for command, what in rows)


NOT_SAVED = (
    "{file} was not saved since you ran {name} in [{count}]. Line {line} of that cell is not in the"
    " file: {code}\nSave the notebook (Ctrl+S) and run this cell again. Below is what was saved."
)


@dataclass(frozen=True, slots=True)
class RunDefinition:
    """A definition that the kernel ran: when, in which execution, its lines and the first line's
    number.
    """

    at: float
    count: int
    first_line: int
    lines: tuple[str, ...]


class RunDefinitions:
    """The newest definition of each name that the kernel has run.

    A definition is unsaved if it ran after the last save and the file has another version of it. A
    definition that ran before the save proves nothing, because the cell may have been edited since.
    """

    def __init__(self) -> None:
        self._newest: dict[str, RunDefinition] = {}

    def note(self, cell: str, count: int, at: float | None = None) -> None:
        """Note what a cell that is about to run defines; ignore scratch cells and cell magics."""
        if is_scratch(cell, ()) or CELL_MAGIC.match(cell):
            return
        source = Source("\n".join(without_magics(cell).lines), "cell")
        at = time.time() if at is None else at
        for name, node in source.definitions.items():
            self._newest[name] = RunDefinition(
                at, count, node.lineno, definition_lines(source.text, node)
            )

    def unsaved(self, folder: Path, files: Mapping[str, LessonFile], tr: Catalogue) -> list[str]:
        """Return a message for each notebook that was not saved after a definition was run."""
        notebooks = [file for file in files.values() if file.cells]
        messages = (self._unsaved_in(folder / file.path, file, tr) for file in notebooks)
        return [message for message in messages if message]

    def _unsaved_in(self, path: Path, file: LessonFile, tr: Catalogue) -> str | None:
        try:
            saved_at = path.stat().st_mtime
        except OSError:
            return None
        source = Source(file.text, file.path)
        for name, node in source.definitions.items():
            run = self._newest.get(name)
            saved = definition_lines(file.text, node)
            if run is None or run.at <= saved_at or run.lines == saved:
                continue
            pairs = itertools.zip_longest(run.lines, saved)
            differs = next(number for number, (mine, theirs) in enumerate(pairs) if mine != theirs)
            differs = min(differs, len(run.lines) - 1)
            return tr(
                NOT_SAVED,
                file=path.name,
                name=name,
                count=run.count,
                line=run.first_line + differs,
                code=run.lines[differs].strip(),
            )
        return None


def definition_lines(text: str, node: ast.stmt) -> tuple[str, ...]:
    lines = text.split("\n")[node.lineno - 1 : node.end_lineno]
    return tuple(line.rstrip() for line in lines)
