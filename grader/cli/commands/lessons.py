"""What a learner asks for beside grading: the lessons, the next one, a hint, the solution."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from grader.cli.commands.workspace import Learner, now, readme_name, show_end
from grader.core.errors import UsageError
from grader.core.scoring import FULL_LESSON
from grader.course.course import Course, Lesson
from grader.course.progress import LAST_STEP, Progress
from grader.course.roadmap import next_lesson, opened_by
from grader.course.stubs import without_markers
from grader.render.diff import compare
from grader.render.lesson_table import labelled, lesson_table, summary_line
from grader.render.terminal import make_console
from grader.render.terminal_lines import points

README_CHARACTERS = 200
"""From how many on ``grade next`` shows no further paragraph of a README."""


def show_lessons(
    course: Course, place: Path, lang: str | None, console: Console | None = None
) -> None:
    """A table of the lessons: where each stands, its points, what is next, what it waits for."""
    learner, console = Learner.at(course, place, lang), console or make_console()
    tr, progress = learner.tr, learner.progress
    console.print(
        lesson_table(course, progress, here=set(learner.files()), tr=tr, own=learner.words)
    )
    if not learner.keeps:
        console.print(
            Text(
                "\n"
                + tr(
                    "No progress is kept in this folder. A folder that keeps it: {command}",
                    command="grade init my-work",
                ),
                "dim",
            )
        )
        return
    console.print(Text("\n").append_text(summary_line(course, progress, tr)))
    if next_lesson(course, progress) is not None:
        console.print(Text(tr("What comes next: {command}", command="grade next"), "dim"))
        console.print(Text(tr("The order is advice: any lesson can be graded at any time."), "dim"))


def show_next(
    course: Course, place: Path, lang: str | None, console: Console | None = None
) -> None:
    """Show the first lines of the next lesson and what to type, or that all is complete."""
    learner, console = Learner.at(course, place, lang), console or make_console()
    tr, progress = learner.tr, learner.progress
    lesson = next_lesson(course, progress)
    if lesson is None:
        show_end(learner, progress, console)
        return
    own, mine, file = (
        learner.words(lesson),
        progress.of(lesson.id),
        learner.files(lesson).get(lesson.id),
    )
    head = Text.assemble((lesson.id, "bold"), f"  {own(lesson.title)}")
    if mine.attempts:
        head.append(f"  {points(mine.best)} / {points(FULL_LESSON)}", "dim")
    console.print(head, "")
    taught_in = lesson.folder
    # The course in a students' bundle has no READMEs.
    if file is not None and not (taught_in / "README.md").exists():
        taught_in = (learner.folder / file.path).parent
    console.print(
        Padding(Text(first_lines(lesson, taught_in, tr.lang)), (0, 0, 1, 2), expand=False)
    )
    if file is None:
        reset = f"grade reset {lesson.id}"
        console.print(
            Text(
                "  "
                + tr("{file} is not here. Get it: {command}", file=lesson.filename, command=reset),
                "yellow",
            )
        )
        return
    readme = (Path(file.path).parent / readme_name(taught_in, tr.lang)).as_posix()
    rows = [
        *([(tr("read"), readme)] if (learner.folder / readme).exists() else []),
        (tr("write"), file.path),
        (tr("grade"), f"grade {lesson.id}"),
        (tr("at every save"), f"grade watch {lesson.id}"),
        (tr("a nudge"), f"grade hint {lesson.id}"),
    ]
    if opens := opened_by(course, lesson, progress):
        rows.append((tr("opens"), ", ".join(other.id for other in opens)))
    console.print(labelled(rows))


def first_lines(lesson: Lesson, folder: Path, lang: str) -> str:
    """Return the first paragraphs of a README after its title, with their code."""
    path = folder / readme_name(folder, lang)
    text = path.read_text("utf-8") if path.exists() else lesson.summary
    paragraphs = [part for part in text.split("\n\n") if part.strip() and not part.startswith("# ")]
    shown: list[str] = []
    for part in paragraphs:
        if part.startswith(("#", "|")) or sum(map(len, shown)) > README_CHARACTERS:
            break
        code = part.startswith("```")
        shown.append(part.strip("`\n") if code else " ".join(part.splitlines()))
    whole = "\n\n".join(shown)
    # What the colon announces is in the README.
    return whole.removesuffix(":") + " …" if whole.endswith(":") else whole


# -------------------------------------------------------------------------------------------- hints


def show_hint(
    course: Course,
    place: Path,
    lesson_id: str | None,
    name: str | None,
    *,
    step: int | None,
    lang: str | None,
    console: Console | None = None,
) -> None:
    """Print the requested hint, or in a workspace the next one for what failed last."""
    learner, console = Learner.at(course, place, lang), console or make_console()
    tr, progress = learner.tr, learner.progress
    lesson = course.lesson(lesson_id) if lesson_id else at_hand(learner, progress)
    hints = lesson.hints()
    if name is not None and name not in hints:
        there = ", ".join(hints) or "-"
        raise UsageError(
            tr(
                "{lesson} has no hint for {name}. There are hints for: {names}",
                lesson=lesson.id,
                name=repr(name),
                names=there,
            )
        )
    if name is None and step is None and learner.keeps:
        name = in_the_way(lesson, hints, progress)
    remembered = progress.of(lesson.id).hints.get(name, 0) if name else 0
    most = len(hints[name]) if name else LAST_STEP
    step = step or min(remembered + 1, most)
    shown = {
        key: hints[key] for key in ([name] if name else hints) if len(hints[key]) >= max(step, 1)
    }
    if not shown:
        raise UsageError(
            tr("{lesson} has no hints of step {step} yet", lesson=lesson.id, step=step)
        )
    own = learner.words(lesson)
    for key, steps in shown.items():
        # "1 / 3" would read as points.
        which = tr("hint {step} of {steps}", step=step, steps=len(steps))
        console.print(Text.assemble((key, "bold"), (f"  {which}" if name else "", "dim")))
        console.print(Padding(Text(own(steps[step - 1])), (0, 0, 0, 2), expand=False))
        remember_hint(learner, lesson, key, step)
    show_further(
        learner,
        lesson,
        name or next(iter(shown)),
        step,
        most=max(map(len, shown.values())),
        console=console,
    )


def at_hand(learner: Learner, progress: Progress) -> Lesson:
    """Return the only lesson here, else the first that was wrong last, else the next one."""
    files = learner.files()
    here = [lesson for lesson in learner.course.lessons if lesson.id in files]
    wrong = [lesson for lesson in here if progress.of(lesson.id).wrong]
    following = next_lesson(learner.course, progress) or learner.course.lessons[0]
    return next(iter(here if len(here) == 1 else wrong), following)


def in_the_way(lesson: Lesson, hints: dict[str, list[str]], progress: Progress) -> str | None:
    """The function that failed last, else the first of the lesson; None where it has no hints."""
    names = (progress.of(lesson.id).stuck_on, *lesson.names, *hints)
    return next((name for name in names if name in hints), None)


def remember_hint(learner: Learner, lesson: Lesson, name: str, step: int) -> None:
    """Keep the step that was reached; ignore a file that can't be written."""

    def reached(progress: Progress) -> Progress:
        mine = progress.of(lesson.id)
        return progress.having(
            lesson.id, replace(mine, hints={**mine.hints, name: max(step, mine.hints.get(name, 0))})
        )

    learner.keep(reached)


def show_further(
    learner: Learner, lesson: Lesson, name: str, step: int, *, most: int, console: Console
) -> None:
    tr = learner.tr
    if step < most:
        console.print(
            Text(
                f"\n{tr('One step further')}: grade hint {lesson.id} {name} --step {step + 1}",
                style="dim",
            )
        )
    elif learner.keeps:
        console.print(
            Text(
                "\n"
                + tr(
                    "That was the last step. The whole: {command}",
                    command=f"grade solution {lesson.id} --give-up",
                ),
                style="dim",
            )
        )


# ----------------------------------------------------------------------------------------- solution


def show_solution(
    course: Course, place: Path, lesson_id: str, *, give_up: bool, lang: str | None
) -> None:
    """Show the reference beside the learner's file, after full marks or giving up."""
    learner, console = Learner.at(course, place, lang), make_console()
    lesson, tr = course.lesson(lesson_id), learner.tr
    if not lesson.solution.is_file():
        raise UsageError(
            tr(
                "This course came without its solutions, so {lesson} has none to show. Ask whoever"
                " gave it to you",
                lesson=lesson.id,
            )
        )
    mine = learner.progress.of(lesson.id)
    if not (give_up or mine.complete or mine.gave_up_at):
        command = f"grade solution {lesson.id} --give-up"
        raise UsageError(
            tr(
                "The solution of {lesson} shows after full marks: grade {lesson}. To see it before:"
                " {command}",
                lesson=lesson.id,
                command=command,
            )
        )
    reference = without_markers(lesson.solution.read_text("utf-8"))
    file = learner.files(lesson).get(lesson.id)
    if file is None or file.problem:
        console.print(Text(reference))
    else:
        console.print(
            Text.assemble((f"- {file.path}", "red"), "   ", (f"+ {tr('the solution')}", "green")),
            "",
        )
        lines = list(compare(file.text, reference, width=console.width))
        console.print(*lines or [Text(tr("Yours is the same, letter by letter."))], sep="\n")
    if give_up and not mine.complete:

        def given_up(progress: Progress) -> Progress:
            known = progress.of(lesson.id)
            return progress.having(lesson.id, replace(known, gave_up_at=known.gave_up_at or now()))

        learner.keep(given_up)
