"""A learner's folder: make it, record gradings in it, and collect what the learner's page shows."""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from types import MappingProxyType
from typing import Any

import click
from rich.console import Console
from rich.text import Text

from grader.cli.help import TranslatedCommand
from grader.cli.options import PATH, course, course_option, lang_option
from grader.cli.selection import are_in_workspace
from grader.core.errors import UsageError
from grader.core.files import PACKAGE
from grader.core.i18n import Catalogue, engine_catalogue, load_catalogue, wanted_language
from grader.core.report import LessonResult, LessonStatus, Outcome, Report
from grader.core.text import now
from grader.course.beginnings import fresh, readme_name
from grader.course.course import Course, Lesson
from grader.course.lesson_texts import read_mistakes
from grader.course.notebook import SUFFIX
from grader.course.progress import (
    PROGRESS_FILE,
    LessonProgress,
    Progress,
    course_summary,
    find_workspace,
    next_lesson,
    opened_by,
    read_progress,
    update_progress,
)
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile, digest, read_submission
from grader.render.code import Readme
from grader.render.editors import BEGIN, END, PATTERN
from grader.render.page import LearnerExtras, LessonHistory
from grader.render.terminal import finish_rows, make_console, show_finish

COMMON_MISTAKES = PACKAGE / "judge" / "common_mistakes.toml"
IN_NOTEBOOK = "GRADE_IN_NOTEBOOK"
"""The environment variable that says that a command was typed in a notebook."""


@click.command(cls=TranslatedCommand)
@click.argument("folder", type=PATH)
@click.option(
    "--notebook", is_flag=True, help="Make notebooks, for Jupyter, instead of Python files."
)
@click.option(
    "--vscode", is_flag=True, help="Add tasks for VS Code, which underline mistakes as you save."
)
@click.option(
    "--only",
    metavar="PART",
    help="Make it for a part of the course: core, or a group of grade list.",
)
@lang_option
@course_option
def init(
    folder: Path, lang: str | None, course_root: Path | None, only: str | None, **kinds: bool
) -> None:
    """Make a folder with all lessons to work in.

    Example: grade init my-work
    """
    found = course(course_root)
    chosen = found.only(found.part(only)) if only else found
    make_workspace(chosen, folder, lang, named=course_root is not None, **kinds)


def make_workspace(
    course: Course,
    folder: Path,
    lang: str | None = None,
    *,
    named: bool = False,
    notebook: bool = False,
    vscode: bool = False,
) -> None:
    """Copy READMEs and stubs (or notebooks) into a new folder; overwrite nothing. The folder
    remembers a course that was ``named``.
    """
    tr = engine_catalogue(wanted_language(lang))
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        message = "{folder} exists and is not empty. Choose another name; nothing was changed"
        raise UsageError(tr(message, folder=folder))
    if (around := find_workspace(folder.resolve().parent)) is not None:
        message = (
            "{folder} would be inside the work folder {work}, which has all lessons already."
            " Choose a place outside of it; nothing was changed"
        )
        raise UsageError(tr(message, folder=folder, work=around))
    try:
        for lesson in course.lessons:
            target = folder / lesson.id
            target.mkdir(parents=True, exist_ok=True)
            beginning = target / (f"{lesson.id}{SUFFIX}" if notebook else lesson.filename)
            beginning.write_text(fresh(lesson, beginning, tr), "utf-8", newline="\n")
            for source in lesson.readmes:
                (target / source.name).write_text(source.read_text("utf-8"), "utf-8", newline="\n")
        steps = first_steps(course, tr, notebook=notebook)
        root = str(course.root.resolve()) if named else None
        message = "Add to each command: --course {course}"
        note = tr(message, course=shlex.quote(root)) if root else ""
        (folder / "README.md").write_text(about(course, tr, steps, note), "utf-8", newline="\n")
        if vscode:
            write_tasks(folder)
        chosen = tuple(one.id for one in course.lessons) if course.others else ()
        update_progress(
            folder, lambda progress: replace(progress, chosen=chosen, course=root, lang=lang)
        )
    except OSError as error:
        why = {"folder": folder, "file": error.filename, "reason": error.strerror}
        raise UsageError(
            tr("{folder} can't be made: {file}: {reason}. Choose another place", **why)
        ) from None
    show_first_steps(course, folder, tr, steps, note, notebook=notebook)


def first_steps(course: Course, tr: Catalogue, *, notebook: bool) -> list[tuple[str, str]]:
    """Return the first commands to type in a new folder, and what they do."""
    first = course.lessons[0].id
    rows = [
        ("grade list", tr("the lessons, and how far you are")),
        ("grade next", tr("where to begin")),
        (f"grade {first}", tr("grade the first lesson, at any time")),
    ]
    if notebook:
        opens = tr("open the notebooks (pip install jupyterlab)")
        help_text = tr("in a cell: then %grade grades the saved notebook")
        rows += [("jupyter lab", opens), ("%load_ext grader", help_text)]
    else:
        rows.append(("grade watch", tr("grade at every save")))
    return rows


def about(course: Course, tr: Catalogue, steps: list[tuple[str, str]], note: str) -> str:
    """Return the README of a new folder: commands to type, a note, and the lessons in order."""
    width = max(24, *(len(command) + 2 for command, _ in steps))
    commands = "\n".join(f"    {command:{width}}{what}" for command, what in steps)
    headed = {group.lessons[0]: group.title for group in course.groups_here()}
    lines = []
    for number, lesson in enumerate(course.lessons, 1):
        words = load_catalogue(tr.lang, lesson.texts(tr.lang))
        if lesson.id in headed:
            lines += ["", f"**{words(headed[lesson.id])}**", ""]
        readme = f"{lesson.id}/{readme_name(lesson.folder, tr.lang)}"
        lines.append(f"{number}. [{lesson.id}]({readme}): {words(lesson.title)}")
    lessons = "\n".join(lines).strip()
    lead = tr("Fill in the file in each lesson's folder. Type this in a terminal, in this folder:")
    parts = [f"# {course.title_in(tr.lang)}", lead, commands, note, lessons]
    return "\n\n".join(filter(None, parts)) + f"\n{course.rules_in(tr.lang)}"


def show_first_steps(
    course: Course,
    folder: Path,
    tr: Catalogue,
    steps: list[tuple[str, str]],
    note: str,
    *,
    notebook: bool,
) -> None:
    go = f"{'%' if IN_NOTEBOOK in os.environ else ''}cd {quoted(folder)}"
    first, rows = course.lessons[0].id, [(go, ""), *steps]
    width = max(len(command) for command, what in rows if what) + 3
    count = len(course.lessons)
    holds = (
        tr("{folder} holds 1 lesson. Next:", folder=folder)
        if count == 1
        else tr("{folder} holds {count} lessons. Next:", folder=folder, count=count)
    )
    lines = [f"  {command.ljust(width)}{what}".rstrip() for command, what in rows]
    readme = readme_name(course.lessons[0].folder, tr.lang)
    begin = tr("Begin with {file}", file=f"{first}/{f'{first}{SUFFIX}' if notebook else readme}")
    make_console().print(Text("\n".join([holds, "", *lines, "", *filter(None, [note]), begin])))


def quoted(folder: Path) -> str:
    """Quote a folder for ``cd``; Windows' shells know only double quotes."""
    if sys.platform == "win32":
        return subprocess.list2cmdline([str(folder)])
    return shlex.quote(str(folder))


def readme_path(learner: Learner, lesson: Lesson) -> Path | None:
    """Return the README in the learner's language, from the course or the learner's folder."""
    folders = (lesson.folder, learner.folder / lesson.id, learner.folder)
    paths = (folder / readme_name(folder, learner.tr.lang) for folder in folders)
    return next((path for path in paths if path.is_file()), None)


def readme_beside(learner: Learner, lesson: Lesson, file: LessonFile) -> str | None:
    """Return the lesson's README in the learner's folder, as seen from the current one. A work
    folder's own README is about no lesson.
    """
    beside = Path(file.path).parent
    for folder in (Path(lesson.id), beside):
        path = learner.folder / folder / readme_name(learner.folder / folder, learner.tr.lang)
        if path.is_file() and not (learner.keeps and folder == Path()):
            return learner.shown((folder / path.name).as_posix())
    return None


TASKS_FILE = ".vscode/tasks.json"


def tasks() -> dict[str, Any]:
    """Return the content of ``tasks.json``, as VS Code's "Integrate with External Tools via Tasks"
    describes it.

    The task ``grade`` runs ``grade watch --plain`` in the background, and its problem matcher turns
    the lines into squiggles. No extension is needed.
    """
    matcher = {
        "owner": "grade",
        "fileLocation": ["relative", "${workspaceFolder}"],
        "pattern": {"regexp": PATTERN, "file": 1, "line": 2, "column": 3, "message": 4},
        "background": {
            "activeOnStart": False,
            "beginsPattern": f"^{BEGIN}",
            "endsPattern": f"^{END}",
        },
    }
    common = {"type": "process", "command": sys.executable}
    return {
        "version": "2.0.0",
        "tasks": [
            {
                **common,
                "label": "grade",
                "args": ["-m", "grader", "watch", "--plain"],
                "isBackground": True,
                "problemMatcher": matcher,
                "runOptions": {"runOn": "folderOpen"},
                "presentation": {"reveal": "silent", "panel": "dedicated"},
            },
            {
                **common,
                "label": "open report",
                "args": ["-m", "webbrowser", "-t", "${workspaceFolder}/report.html"],
                "dependsOn": "write report",
                "problemMatcher": [],
            },
            {
                **common,
                "label": "write report",
                "args": ["-m", "grader", "run", "--html", "report.html", "--format", "plain"],
                "problemMatcher": [],
            },
        ],
    }


def write_tasks(folder: Path) -> None:
    path = folder / TASKS_FILE
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(tasks(), indent=2) + "\n", "utf-8", newline="\n")


KEYS_FOR = {"grade next": "n", "grade list": "l", "grade hint": "h"}
"""The keys of ``grade watch`` for commands that begin so."""


@dataclass(frozen=True, slots=True)
class Learner:
    """A learner: the course, the folder, whether progress is kept there, the language, and whether
    keys are pressed instead of typing commands, as in ``grade watch``.
    """

    course: Course
    folder: Path
    keeps: bool
    tr: Catalogue
    has_keys: bool = False

    @classmethod
    def at(cls, course: Course, place: Path, lang: str | None) -> Learner:
        """Return the learner in ``place``: a workspace, a folder in one, or any other folder."""
        workspace = find_workspace(place)
        tr = engine_catalogue(wanted_language(lang))
        learner = cls(course, workspace or place, workspace is not None, tr)
        return replace(learner, course=course.only(learner.progress.chosen))

    @property
    def progress(self) -> Progress:
        return read_progress(self.folder) if self.keeps else Progress()

    def keep(self, change: Callable[[Progress], Progress]) -> None:
        """Change the progress if it is kept here and its file can be written."""
        if self.keeps:
            with contextlib.suppress(OSError):
                update_progress(self.folder, change)

    def command(self, typed: str) -> str:
        """Return how to give a command here: what to type, or which keys to press."""
        if not self.has_keys:
            return typed
        key = next((key for start, key in KEYS_FOR.items() if typed.startswith(start)), None)
        if key is None:
            return self.tr("q, then {command}", command=typed)
        return self.tr("the key {key}", key=key)

    def shown(self, path: str) -> str:
        """Return a path in the folder as seen from the current one."""
        with contextlib.suppress(ValueError):  # Windows: it is on another drive
            return Path(os.path.relpath(self.folder / path)).as_posix()
        return str(self.folder / path)

    def words(self, lesson: Lesson) -> Catalogue:
        return load_catalogue(self.tr.lang, lesson.texts(self.tr.lang))

    def files(self, *lessons: Lesson) -> dict[str, LessonFile]:
        return read_submission(
            self.folder, [lesson.id for lesson in lessons or self.course.lessons]
        )


BEGUN = (LessonStatus.PASSED, LessonStatus.FAILED, LessonStatus.INVALID)


def record(
    learner: Learner,
    report: Report,
    console: Console,
    files: Mapping[str, LessonFile] = MappingProxyType({}),
) -> Progress:
    """Record a grading's outcome and print which lessons it opened, and whether none of the
    ``files`` has changed; return the progress.
    """
    if not learner.keeps:
        return Progress()
    before, at = learner.progress, now()
    digests = {
        lesson: digest({lesson: file})
        for lesson, file in files.items()
        if not (file.problem and file.others)  # of two files for one lesson, none was read
    }

    def graded(progress: Progress) -> Progress:
        for result in report.lessons:
            mine = progress.of(result.id).graded(result, at)
            if mine.attempts:
                judged = not any(one.outcome is Outcome.GRADER_ERROR for one in result.checks)
                mine = replace(mine, graded_file=digests.get(result.id) if judged else None)
            progress = progress.having(result.id, mine)
        begun = [one.id for one in report.lessons if one.status in BEGUN]
        return replace(progress, latest=tuple(begun)) if begun else progress

    try:
        after = update_progress(learner.folder, graded)
    except OSError as error:
        message = learner.tr(
            "{file} can't be written: {reason}. Your score stands; progress was not kept",
            file=PROGRESS_FILE,
            reason=error.strerror,
        )
        console.print(Text(message, "yellow"))
        return graded(before)
    show_completed(learner, before, after, report, console)
    show_unchanged(learner, before, report, digests, console)
    for result in report.lessons:
        if result.status is LessonStatus.MISSING and not result.file:
            file, reset = f"{result.id}.py", learner.command(f"grade reset {result.id}")
            message = learner.tr("{file} is not here. Get it: {command}", file=file, command=reset)
            console.print(Text(message, "dim"))
    return after


def show_unchanged(
    learner: Learner, before: Progress, report: Report, digests: Mapping[str, str], console: Console
) -> None:
    """Ask whether a file is saved if one needs work and none is another than in the last run."""
    idle = (LessonStatus.MISSING, LessonStatus.NOT_STARTED)
    begun = [one for one in report.lessons if one.id in digests and one.status not in idle]
    wrong = [one for one in begun if one.status is not LessonStatus.PASSED]
    if wrong and all(before.of(one.id).graded_file == digests[one.id] for one in begun):
        message = "Nothing has changed since the last run: is {file} saved?"
        console.print(Text(learner.tr(message, file=wrong[0].file), "yellow"))


def show_completed(
    learner: Learner, before: Progress, after: Progress, report: Report, console: Console
) -> None:
    """Print which lessons became complete and what they open; after the last one, the end."""
    tr, course = learner.tr, learner.course
    new = [
        lesson
        for lesson in course.lessons
        if after.of(lesson.id).complete and not before.of(lesson.id).complete
    ]
    if not new:
        show_beginning(learner, after, report, console)
        return
    if next_lesson(course, after) is None:
        show_end(learner, after, console)
        return
    opened = dict.fromkeys(other.id for lesson in new for other in opened_by(course, lesson, after))
    for lesson in new:
        console.print(Text(tr("{lesson} is complete.", lesson=lesson.id), "green"))
    if opened:
        console.print(Text(tr("This opens: {lessons}", lessons=", ".join(opened))))
    if new[-1].solution.is_file():  # a students' bundle has none
        command = learner.command(f"grade solution {new[-1].id}")
        console.print(Text(tr("Beside the solution: {command}", command=command), "dim"))
    following = learner.command("grade next")
    console.print(Text(tr("What comes next: {command}", command=following), "dim"))


def show_beginning(learner: Learner, progress: Progress, report: Report, console: Console) -> None:
    """Print how to begin if no graded lesson has been begun."""
    if any(result.status is not LessonStatus.NOT_STARTED for result in report.lessons):
        return
    tr, following = learner.tr, next_lesson(learner.course, progress)
    graded = [learner.course.lesson(result.id) for result in report.lessons]
    file = learner.files(*graded).get(graded[0].id) if len(graded) == 1 else None
    readme = readme_beside(learner, graded[0], file) if file else None
    if following in graded or (file and not readme):
        how = "grade next" if following in graded else f"grade read {graded[0].id}"
        message = "Nothing is written yet. How to begin: {command}"
        console.print(Text(tr(message, command=learner.command(how)), "dim"))
    elif file:
        message = "Nothing is written yet. Read {readme}, then write {file}"
        console.print(Text(tr(message, readme=readme, file=learner.shown(file.path)), "dim"))


def show_end(learner: Learner, progress: Progress, console: Console) -> None:
    course, tr = learner.course, learner.tr
    show_finish(console, course_summary(course, progress), tr, course.title_in(tr.lang))


def keep(
    course: Course,
    report: Report,
    files: Mapping[str, LessonFile],
    place: Path,
    lang: str,
    *,
    console: Console | None = None,
    readmes: bool = True,
) -> LearnerExtras:
    """Return what a page shows beside the report: graded code, earned solutions and the progress.

    READMEs are included except in a notebook, which would grow with every run. In the learner's own
    folder, the report is first recorded in their progress, and ``console`` shows which lessons it
    opened. Work named by --in or a path may be somebody else's, so nothing is recorded.
    """
    learner = (
        Learner.at(course, place, lang)
        if place == Path() and are_in_workspace(place, files)
        else None
    )
    progress = Progress()
    if learner is not None:
        progress = record(learner, report, console, files) if console else learner.progress
    stories = {}
    for one in report.lessons:
        lesson = course.lesson(one.id)
        readme = found_readme(learner, lesson) if learner and readmes else None
        mine = in_language(progress.of(one.id), lesson, lang)
        stories[one.id] = _story(lesson, one, files.get(one.id), mine, readme)
    reached = course_summary(course, progress)
    finish = finish_rows(reached, learner.tr) if learner and reached.finished else []
    following = next_lesson(course, progress) if learner and learner.keeps else None
    return LearnerExtras(
        datetime.now().astimezone().isoformat(timespec="seconds"),
        stories,
        finish,
        learner.words(following)(following.title) if learner and following else "",
    )


def in_language(progress: LessonProgress, lesson: Lesson, lang: str) -> LessonProgress:
    """Return progress with the titles of mistakes in a language. One that had facts in it stays as
    it was told.
    """
    if not progress.mistakes:
        return progress
    tr = load_catalogue(lang, lesson.texts(lang))
    files = filter(None, (lesson.diagnosis, COMMON_MISTAKES))
    texts = [text for file in files for text in read_mistakes(file)]
    titles = {text.id: tr.known(text.title) for text in texts if "{" not in text.title}
    told = {one.title: titles.get(id, one.title) for id, one in progress.mistakes.items()}
    mistakes = {id: replace(one, title=told[one.title]) for id, one in progress.mistakes.items()}
    named = {function: told.get(title) or title for function, title in progress.named.items()}
    return replace(progress, mistakes=mistakes, named=named)


def found_readme(learner: Learner, lesson: Lesson) -> Readme | None:
    """Return a lesson's README in the learner's language, if there is one."""
    path = readme_path(learner, lesson)
    if path is None:
        return None
    with contextlib.suppress(OSError, UnicodeDecodeError):
        lang = learner.tr.lang if path.suffixes[:-1] else "en"
        return Readme(path.read_text("utf-8"), path.parent, lang)
    return None


def _story(
    lesson: Lesson,
    result: LessonResult,
    file: LessonFile | None,
    progress: LessonProgress,
    readme: Readme | None,
) -> LessonHistory:
    earned = result.status is LessonStatus.PASSED or progress.complete or progress.gave_up_at
    solution = None
    if earned and lesson.solution.is_file():
        solution = without_markers(lesson.solution.read_text("utf-8"))
    code = file.text if file and not file.problem else ""
    return LessonHistory(code, solution, progress, readme)
