"""The commands of a course's author: ``grade verify`` checks a course and prints the proof, ``grade
new`` makes a lesson or a course.
"""

from __future__ import annotations

import builtins
import keyword
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from grader.cli.options import chosen_lessons, course, course_option
from grader.core.errors import CourseError, ExitCode, UsageError
from grader.core.files import PACKAGED_COURSE
from grader.core.i18n import ENGLISH, wanted_language
from grader.core.messages import Settings
from grader.core.text import counted
from grader.course.course import Course, Lesson, load_course
from grader.course.stubs import stub_of

if TYPE_CHECKING:
    from grader.verify.verify import VerifyResult


@click.command()
@click.argument("lessons", nargs=-1, metavar="[LESSON]...")
@click.option(
    "--seeds",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="How many seeds to grade from; the verdicts must agree.",
)
@click.option(
    "--workers",
    type=click.IntRange(1),
    help="How many fork servers to use; by default one for each core.",
)
@click.option(
    "--keep",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help=(
        "Write each verdict to FILE at once, so that the same command continues after an "
        "interruption. Verdicts of another lesson, engine or torch are dropped, and cases"
        " with problems are graded again. With --table, also print how many seeds each "
        "lesson is complete for."
    ),
)
@click.option("--table", is_flag=True, help="Print the results as a Markdown table.")
@click.option("--write-stubs", is_flag=True, help="Write the stubs from the solutions first.")
@click.option(
    "--lang",
    default="en",
    show_default=True,
    help="Grade in this language, and list missing translations.",
)
@click.option(
    "--write-texts",
    is_flag=True,
    help="Add the missing texts to the lessons' files of that language, to be translated.",
)
@click.option(
    "--changed", is_flag=True, help="Only the lessons whose files differ from the last commit."
)
@click.option("--watch", is_flag=True, help="Verify again at every save, from seed 1.")
@course_option
def verify(
    lessons: tuple[str, ...], course_root: Path | None, changed: bool, watch: bool, **options: Any
) -> None:
    """Check the course: solutions pass, stubs fail, mistakes get their names and near misses don't.

    Example: grade verify custom_sigmoid --seeds 5

    While you write: grade verify custom_sigmoid --watch

    A long run that can be interrupted: grade verify --seeds 20 --keep verify.sqlite
    """
    found = course(course_root)
    if changed:
        lessons = changed_lessons(found, chosen_lessons(found, lessons))
        if not lessons:
            click.echo("no lesson differs from the last commit")
            return
    if watch:
        from grader.cli.verify_watch import VerifyWatch
        from grader.render.terminal import make_console

        sys.exit(VerifyWatch(found.root, lessons, make_console()).run())
    sys.exit(verify_course(found, lessons, **options))


def changed_lessons(course: Course, lessons: Iterable[Lesson]) -> tuple[str, ...]:
    """Return the lessons of which a file differs from git's HEAD; all, if ``course.toml`` does."""
    paths = {
        course.root / name
        for words in (UNTRACKED, DIFFERING)
        for name in git(course.root, *words).split("\0")
        if name
    }
    if course.root / "exercises" / "course.toml" in paths:
        return tuple(lesson.id for lesson in lessons)
    return tuple(lesson.id for lesson in lessons if any(map(lesson.has_file, paths)))


UNTRACKED = ("ls-files", "--others", "--exclude-standard", "-z")
DIFFERING = ("diff", "--name-only", "-z", "--relative", "HEAD")


def git(root: Path, *words: str) -> str:
    """Return what git says; raise UsageError if it can't say anything."""
    try:
        done = subprocess.run(
            ["git", *words], cwd=root, capture_output=True, encoding="utf-8", check=True
        )
    except (OSError, subprocess.CalledProcessError) as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()[0]
        raise UsageError(f"--changed asks git, which says: {said}. Name the lessons") from None
    return done.stdout


def verify_course(
    course: Course,
    names: tuple[str, ...],
    *,
    seeds: int,
    workers: int | None,
    table: bool,
    write_stubs: bool,
    write_texts: bool = False,
    lang: str = "en",
    keep: Path | None = None,
) -> ExitCode:
    """Verify lessons and list all problems. After Ctrl-C, print what ``keep`` has, then raise."""
    from rich.progress import Progress

    from grader.cli.batch_screen import graceful_interrupt
    from grader.render.terminal import make_console
    from grader.verify import verify as verification
    from grader.verify.translations import add_texts

    if write_texts and lang == ENGLISH:
        raise UsageError("--write-texts needs a language: --lang ko")
    lessons = chosen_lessons(course, names)
    for lesson in lessons if write_stubs else ():
        write_stub(lesson)
    settings = Settings(
        seed=0, limits=course.limits, lang=wanted_language(lang), prestart=True, planned=True
    )
    console = make_console(stderr=True)
    with (
        ThreadPoolExecutor(1) as pool,
        Progress(console=console, transient=True, disable=not console.is_terminal) as bar,
    ):
        internals = pool.submit(verification.missing_internals)
        task = bar.add_task("grading")
        found = verification.verify(
            course,
            lessons,
            seeds=range(1, seeds + 1),
            settings=settings,
            workers=workers or os.cpu_count() or 1,
            progress=lambda done, total: bar.update(task, completed=done, total=total),
            keep=keep,
            during=lambda hosts: (
                graceful_interrupt(console, hosts, what="grading") if keep else nullcontext()
            ),
        )
    problems = (*internals.result(), *found.problems)
    show_found(found, problems, table=table)
    if found.left:
        raise KeyboardInterrupt
    for lesson in lessons if write_texts else ():
        if added := add_texts(lesson, settings.lang, found.untranslated.get(lesson.id, ())):
            texts = counted(added, "text")
            print(f"{lesson.folder / settings.lang}.po: {texts} to translate added at the end")
    counts = (len(lessons), "lesson"), (found.gradings, "grading"), (seeds, "seed")
    summary = counted(len(problems), "problem") if problems else "no problems"
    print(f"{', '.join(counted(count, noun) for count, noun in counts)}: {summary}")
    return ExitCode.NOT_FULL_MARKS if problems else ExitCode.OK


def write_stub(lesson: Lesson) -> None:
    lesson.folder.mkdir(parents=True, exist_ok=True)
    stub = stub_of(lesson.solution.read_text("utf-8"), name=str(lesson.solution))
    lesson.stub.write_text(stub, "utf-8", newline="\n")


def show_found(found: VerifyResult, problems: Sequence[str], *, table: bool) -> None:
    """Print the table, if it is asked for and complete, how complete it is, the problems, and how
    to continue.
    """
    lines = [*proof_table(found)] if table and not found.left else []
    lines += completeness(found) if table or found.left else ()
    for line in (*lines, *problems):
        print(line)
    if found.left:
        print(
            f"stopped: {found.kept:,} of {found.gradings:,} gradings are kept. Run the same"
            " command to continue"
        )


def completeness(found: VerifyResult) -> Iterator[str]:
    """Yield lines that say from how many seeds each lesson is complete in the file of verdicts."""
    names: dict[int, list[str]] = {}
    for lesson, seeds in found.complete:
        names.setdefault(seeds, []).append(lesson)
    for seeds, lessons in sorted(names.items(), reverse=True):
        listed = "all lessons" if len(names) == 1 and len(lessons) > 1 else ", ".join(lessons)
        which = {0: "no seed", 1: "seed 1"}.get(seeds, f"seeds 1 to {seeds}")
        yield f"complete from {which}: {listed}"


def proof_table(found: VerifyResult) -> Iterator[str]:
    """Yield the lines of two tables: what was proven of each lesson, and how its points are spread
    over its promises.
    """
    yield (
        "| lesson | checks | mistakes caught | mistakes named | near misses told apart |"
        " accepted alternatives | promises held |"
    )
    yield "|---|---|---|---|---|---|---|"
    for p in found.proofs:
        yield (
            f"| {p.lesson} | {p.checks} | {p.caught} of {p.mistakes} | {p.named} of {p.mistakes} |"
            f" {p.told_apart} of {p.near_misses} | {p.accepted_passed} of {p.accepted} |"
            f" {p.promises_shown} of {len(p.promises)} |"
        )
    promises = [(proof.lesson, one) for proof in found.proofs for one in proof.promises]
    if promises:
        yield "\n| lesson | promise | points | checks | wrong answers |\n|---|---|---|---|---|"
    for lesson, one in promises:
        yield (
            f"| {lesson} | {one.name} | {one.points:g} | {len(one.checks)} | {len(one.shown_by)} |"
        )


@click.command()
@click.argument("lesson", required=False)
@click.option(
    "--function",
    "functions",
    metavar="NAME",
    multiple=True,
    help="The function to write, of a tensor x; with others, 'gate(x, w)'. By default named like"
    " the lesson.",
)
@click.option(
    "--class",
    "classes",
    metavar="NAME",
    multiple=True,
    help="The torch.autograd.Function to write, instead of a function.",
)
@click.option(
    "--truth",
    metavar="EXPRESSION",
    default="2 * x",
    show_default=True,
    help="What it computes: an expression of its inputs with functions of torch.",
)
@course_option
def new(
    lesson: str | None,
    functions: tuple[str, ...],
    classes: tuple[str, ...],
    truth: str,
    course_root: Path | None,
) -> None:
    """Create a working lesson to turn into your own; in an empty folder, a course.

    Example: grade new my_square --class Square --truth "x * x"
    """
    if len(functions) + len(classes) > 1:
        raise UsageError(
            "Name one function or one class. Add others by hand: to solutions/, to the lesson's"
            " names in course.toml, and to hints.toml"
        )
    name = next(iter(classes or functions), None)
    wanted = NewLesson(name, truth, is_class=bool(classes))
    if course_root is not None and not (course_root / "exercises" / "course.toml").exists():
        new_course(course_root, lesson, wanted)
    else:
        new_lesson(course(course_root), lesson, wanted)


@dataclass(frozen=True, slots=True)
class NewLesson:
    """What students write in a new lesson; the name is the lesson's by default."""

    name: str | None
    truth: str
    is_class: bool


FIRST_LESSON = "first_lesson"
COURSE = """# The course: its lessons in the order in which a learner meets them.
id = "{id}"
title = "{mark} the course's title"
version = "1"
everywhere = [
{everywhere}
]
"""
RESERVED = frozenset(
    "torch numpy grader pytest scenarios helpers diagnosis student reference draw".split()
)


def new_course(root: Path, lesson: str | None, wanted: NewLesson) -> None:
    from grader.course.scaffold import EVERYWHERE, MARK

    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(
            f"{root} has no exercises/course.toml and is not empty. Name a course, or a new folder;"
            " nothing was changed"
        )
    lesson = known_good(lesson or FIRST_LESSON, "lesson")
    id = re.sub(r"\W+", "-", root.resolve().name).strip("-").lower() or "course"
    rules = "\n".join(f'  "{rule}",' for rule in EVERYWHERE)
    new_files(root, lesson, wanted, EVERYWHERE)  # refuses what can't be, before anything is written
    text = COURSE.format(id=id, mark=MARK, everywhere=rules)
    write(root / "exercises" / "course.toml", text)
    add_lesson(root, lesson, wanted, EVERYWHERE)
    click.echo(f"{root} is a course. Its name and title are in exercises/course.toml")
    print_next_steps(root, lesson)


def new_lesson(course: Course, lesson: str | None, wanted: NewLesson) -> None:
    """Add a lesson to a course; overwrite nothing."""
    if lesson is None:
        raise UsageError(
            f"{course.root} is a course already. Name the lesson to add: grade new my_lesson"
        )
    if course.root == PACKAGED_COURSE or any(one.held for one in course.lessons):
        raise UsageError(
            f"{course.root} is a course that was handed out. Make one of your own: grade new"
            " my_lesson --course my-course"
        )
    if lesson in (one.id for one in course.lessons):
        raise UsageError(
            f"There is a lesson {lesson!r} already. Choose another name; nothing was changed"
        )
    add_lesson(course.root, known_good(lesson, "lesson"), wanted, course.everywhere)
    print_next_steps(course.root, lesson)


def known_good(name: str, what: str) -> str:
    """Check a name for a lesson, function or class; raise UsageError if it can't be used."""
    taken = (
        name in RESERVED
        or (what == "lesson" and name in sys.stdlib_module_names)
        or hasattr(builtins, name)
    )
    pattern, rule = r"[a-z][a-z0-9_]*", "lowercase letters, digits and _, and begin with a letter"
    if what == "class":
        pattern, rule = r"[A-Z]\w*", "letters, digits and _, and begin with a capital letter"
    if not re.fullmatch(pattern, name, re.ASCII) or keyword.iskeyword(name):
        raise UsageError(f"{name!r} can't name a {what}. Use {rule}")
    if taken:
        raise UsageError(
            f"{name!r} is a name that Python or the grader uses. Choose another for the {what}"
        )
    return name


def new_files(
    root: Path, lesson: str, wanted: NewLesson, everywhere: Sequence[str]
) -> tuple[str, dict[str, str]]:
    """Return the name that students write, and a lesson's files; raise UsageError if one is there
    already.
    """
    from grader.course.scaffold import lesson_files

    what = "class" if wanted.is_class else "function"
    called, bracket, given = (wanted.name or lesson).removesuffix(")").partition("(")
    name = known_good(called.strip(), what)
    inputs = [known_good(one.strip(), "tensor") for one in given.split(",")] if bracket else ["x"]
    if len({*inputs}) < len(inputs):
        raise UsageError(f"{wanted.name} names an input twice")
    files = lesson_files(
        lesson, name, inputs, truth=wanted.truth, is_class=wanted.is_class, everywhere=everywhere
    )
    there = [path for path in files if (root / path).exists()]
    if there:
        raise UsageError(
            f"{root / there[0]} is there already. Move it away, or choose another name; nothing was"
            " changed"
        )
    return name, files


def add_lesson(root: Path, lesson: str, wanted: NewLesson, everywhere: Sequence[str]) -> None:
    """Write a lesson's files, and add its entry to ``course.toml``."""
    import tomlkit

    from grader.course.scaffold import MARK

    name, files = new_files(root, lesson, wanted, everywhere)
    toml = root / "exercises" / "course.toml"
    document = tomlkit.parse(toml.read_text("utf-8"))
    entry = tomlkit.table()
    entry |= {
        "id": lesson,
        "title": f"{MARK} the lesson's title",
        "summary": f"{MARK} what it is about, in a line",
        "names": [name],
        "builds_on": [],
    }
    lessons = document.setdefault("lesson", tomlkit.aot())
    if not hasattr(lessons, "append"):
        raise CourseError(f"{toml}: lesson is not a list of tables. Write [[lesson]]")
    entry.trivia.indent = "\n"  # an empty line before it
    lessons.append(entry)
    for path, text in files.items():
        write(root / path, text)
    write(toml, tomlkit.dumps(document))
    load_course(root)


def write(path: Path, text: str) -> None:
    """Write a file and missing folders above it; raise UsageError if that fails."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8", newline="\n")
    except OSError as error:
        raise UsageError(
            f"{error.filename} can't be written: {error.strerror}. Name another folder with"
            " --course"
        ) from None


def print_next_steps(root: Path, lesson: str) -> None:
    click.echo(
        f"The lesson {lesson} is in {root}. It works; make it yours, beginning with"
        f" solutions/{lesson}.py."
    )
    click.echo(
        f"To see what is still to be written, and to check the lesson:\n  grade verify {lesson}"
        f" --course {click.format_filename(root)}"
    )
