"""The commands that change a gradebook by hand: ``adjust``, ``comment``, ``forget`` and ``rename``;
and ``name``, which makes a group of wrong answers a known mistake of the course.

Each change is in an audit trail, which is shown wherever its result is.
"""

from __future__ import annotations

import getpass
import json
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from zoneinfo import ZoneInfo

import click

from grader.classroom.batch import changing
from grader.classroom.gradebook import by_hand
from grader.classroom.gradebook.entry import Adjustment, Comment, GradebookEntry, total_points
from grader.classroom.gradebook.people import described
from grader.classroom.gradebook.roster import csv_rows
from grader.classroom.gradebook.store import Gradebook, batch_lock
from grader.classroom.imports.names import name_list, unique_names
from grader.classroom.statistics.collect import UnnamedGroup, collect_statistics
from grader.cli.batch_screen import announce
from grader.cli.options import PATH, course, course_option
from grader.core.errors import CourseError, UsageError
from grader.core.files import PACKAGED_COURSE
from grader.core.messages import Settings
from grader.core.sqlite import transaction
from grader.core.text import clean, command, counted, moment, now
from grader.course.course import Course, Lesson
from grader.course.lesson_texts import read_catalogue, read_mistakes
from grader.course.stubs import compose, without_markers
from grader.course.submission import LessonFile, writable
from grader.render.terminal import make_console, plain_table
from grader.render.terminal import points as points_text
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.runtime.text_reader import text_reader


@click.command()
@click.argument("out", type=PATH)
@click.argument("submission")
@click.option("--points", type=float, help="How many points to add: +2, -0.5.")
@click.option("--reason", help="Why; the student reads it.")
@click.option("--lesson", help="The lesson whose score changes; by default the total.")
@click.option("--author", help="The author of the change; by default your login name.")
@click.option("--undo", is_flag=True, help="Undo the newest change.")
def adjust(
    out: Path, submission: str, points: float | None, undo: bool, **change: str | None
) -> None:
    """Change a score by hand, with a reason; without --points, list the changes.

    SUBMISSION is its name in grades.csv, or the student's name if it is unique.

    Example: grade adjust grades alice --points +2 --reason "handed in on paper"
    """
    if undo:
        with changing(out) as (book, changed):
            entry = book.entry_of(submission)
            book.undo_adjustment(entry.name, change["author"] or login_name())
            changed.add(entry.name)
        list_adjustments(out, entry.name, before=entry)
    elif points is not None:
        change_score(out, submission, points=points, **change)
    elif any(change.values()):
        raise UsageError("--points is missing. Give the change of the score, such as +2 or -0.5")
    else:
        list_adjustments(out, submission)


def change_score(
    out: Path,
    name: str,
    *,
    points: float,
    reason: str | None,
    lesson: str | None,
    author: str | None,
) -> None:
    """Change a score and rewrite everything that shows it; raise UsageError for unknown names."""
    if not math.isfinite(points) or not points:
        raise UsageError(f"--points {points:g} changes nothing. Give a number such as +2 or -0.5")
    reason = (reason or "").strip()
    if not reason:
        raise UsageError(
            "An adjustment needs a reason, which the student reads. Give one with --reason"
        )
    with changing(out) as (book, changed):
        entry = book.entry_of(name)
        lessons = known_lessons(book, lesson)
        if lesson is None and len(lessons) == 1:
            lesson = lessons[0]
        made = Adjustment(points, reason, author or login_name(), now(), lesson)
        book.adjust(entry.name, made)
        changed.add(entry.name)
    list_adjustments(out, entry.name, before=entry)


def list_adjustments(out: Path, name: str, *, before: GradebookEntry | None = None) -> None:
    with Gradebook.open(out) as book:
        entry = book.entry(name) if before is not None else book.entry_of(name)
        undone, call = book.adjustments(entry.name, undone=True), book.call_of(entry)
        zone = book.zone()
    console = make_console()
    if entry.adjustments or undone:
        table = plain_table("when", "who", "points", "lesson", "reason", "")
        for one in sorted((*entry.adjustments, *undone), key=lambda one: one.number):
            change, state = f"{one.points:+g}", "undone" if one in undone else ""
            reason = clean(one.reason)
            table.add_row(
                time_text(one.made_at, zone),
                clean(one.author),
                change,
                one.lesson or "",
                reason,
                state,
            )
        console.print(table)
    else:
        console.print(f"{clean(entry.name)}: no adjustments")
    earned = f"earned {points_text(entry.report.score)}" if entry.report else "nothing graded"
    late = f", {entry.penalty:g} off for being late" if entry.lateness else ""
    total = total_points(entry)
    score = score_text(total)
    if before is not None:
        score = f"{score_text(total_points(before))} → {score}"
        who = "; ".join(map(described, entry.students))
        console.print(clean(who), soft_wrap=True, markup=False, highlight=False)
    console.print(
        f"{clean(entry.name)}: {score} ({earned}{late}, adjusted by {entry.adjusted_by:+g})"
    )
    if len(entry.students) > 1:
        names = name_list([one.name for one in entry.students], 9)
        console.print(f"a team, so this is the score of {names}", soft_wrap=True, markup=False)
    if entry.report and total is None:
        console.print("a part was not graded; grades.csv says why", soft_wrap=True)
    if entry.report and entry.adjusted_by > 0 and entry.score > entry.report.max_score:
        most = points_text(entry.report.max_score)
        undo = command("adjust", out, call, "--undo")
        line = f"this is more than full marks ({most}). To undo a mistake: {undo}"
        console.print(line, soft_wrap=True, markup=False)


def score_text(total: float | None) -> str:
    return "no score yet" if total is None else points_text(total)


@click.command()
@click.argument("out", type=PATH)
@click.argument("target", required=False, metavar="[NAME[:LESSON[:LINE]]]")
@click.argument("text", required=False)
@click.option(
    "--file",
    type=PATH,
    help="A CSV file of comments, with the columns name, lesson, line, comment.",
)
@click.option(
    "--withdraw",
    "number",
    type=int,
    metavar="NUMBER",
    help="Withdraw the comment with this number; with NAME alone, the numbers are listed.",
)
@click.option("--author", help="The author of the comment; by default your login name.")
def comment(
    out: Path,
    target: str | None,
    text: str | None,
    file: Path | None,
    number: int | None,
    author: str | None,
) -> None:
    """Comment on a submission, a lesson or a line; the student reads it on the page.

    With NAME alone, list the comments.

    Example: grade comment grades alice:hooks:12 "Why is it never removed?"
    """
    if file is not None and target is None:
        make_comments(out, list(read_file(file)), author)
    elif target is None or file is not None:
        raise UsageError("Give a submission and a text, or a file of comments with --file")
    elif number is not None:
        withdraw_comment(out, target, number)
    elif text is None:
        show_comments(out, target)
    else:
        make_comments(out, [read_target(target, text)], author)


COLUMNS = ("name", "lesson", "line", "comment")


@dataclass(frozen=True, slots=True)
class WantedComment:
    """A comment to be made; an error about it begins with ``where``."""

    name: str
    lesson: str | None
    line: int | None
    text: str
    where: str = ""


def make_comments(out: Path, wanted: list[WantedComment], author: str | None) -> None:
    """Make comments, all or none, but none twice; raise UsageError for one that is not possible."""
    with changing(out) as (book, changed):
        made = [checked_comment(book, one, author) for one in wanted]
        new = [name for name, one in made if book.comment(name, one)]
        changed.update(new)
    there = len(made) - len(new)
    message = f"{counted(len(new), 'comment')} on {counted(len(set(new)), 'submission')}"
    make_console().print(message + (f"; {there} already existed" if there else ""), markup=False)


def checked_comment(book: Gradebook, one: WantedComment, author: str | None) -> tuple[str, Comment]:
    """Return the submission's name, and the comment with its line of code; raise UsageError."""
    try:
        name = book.entry_of(one.name).name
    except UsageError as error:
        raise UsageError(f"{one.where}{error}") from None
    if not one.text.strip():
        raise UsageError(f"{one.where}The comment is empty. Give it a text")
    known_lessons(book, one.lesson, where=one.where)
    code = ""
    if one.line is not None:
        text = book.graded_text(name, one.lesson or "")
        lines = (text or "").split("\n")
        if not 1 <= one.line <= len(lines) or text is None:
            length = counted(len(lines), "line")
            raise UsageError(
                f"{one.where}{name} has no line {one.line} in {one.lesson}:"
                f" {'it has no such file' if text is None else f'the file has {length}'}"
            )
        code = lines[one.line - 1].strip()
    made = Comment(
        0, writable(one.text.strip()), author or login_name(), now(), one.lesson, one.line, code
    )
    return name, made


def read_target(target: str, text: str) -> WantedComment:
    """Return a comment on ``NAME``, ``NAME:LESSON`` or ``NAME:LESSON:LINE``."""
    name, *rest = target.split(":")
    if len(rest) > 2 or (len(rest) == 2 and not rest[1].isdecimal()):
        raise UsageError(
            f"{target!r} is not NAME, NAME:LESSON or NAME:LESSON:LINE, such as alice:hooks:12"
        )
    return WantedComment(
        name, rest[0] if rest else None, int(rest[1]) if len(rest) == 2 else None, text
    )


def read_file(file: Path) -> Iterator[WantedComment]:
    """Yield the comments of a CSV file; raise UsageError with file and line."""
    rows = csv_rows(file)
    header = [cell.strip().lower() for cell in rows[0][1]] if rows else []
    if "name" not in header or "comment" not in header:
        raise UsageError(
            f"{file}:1: the first line must name the columns {', '.join(COLUMNS)}. lesson and line"
            " may be left out"
        )
    for number, cells in rows[1:]:
        row = dict(zip(header, (cell.strip() for cell in cells), strict=False))
        line = row.get("line") or ""
        where = f"{file}:{number}: "
        if (line and not line.isdecimal()) or (line and not row.get("lesson")):
            raise UsageError(
                f"{where}the column line has {line!r}. Write a number there, and a lesson beside it"
            )
        yield WantedComment(
            row.get("name", ""),
            row.get("lesson") or None,
            int(line) if line else None,
            row.get("comment", ""),
            where,
        )


def withdraw_comment(out: Path, name: str, number: int) -> None:
    with changing(out) as (book, changed):
        entry = book.entry_of(name)
        book.withdraw(entry.name, number)
        changed.add(entry.name)
    make_console().print(f"comment {number} is withdrawn", markup=False)
    show_comments(out, name)


def show_comments(out: Path, name: str) -> None:
    with Gradebook.open(out) as book:
        entry = book.entry_of(name)
    console = make_console()
    if not entry.comments:
        console.print(f"{clean(entry.name)}: no comments", markup=False)
        return
    table = plain_table("number", "who", "lesson", "line", "comment")
    for one in entry.comments:
        line = str(one.line or "")
        table.add_row(str(one.number), clean(one.author), one.lesson or "", line, clean(one.text))
    console.print(table)


@click.command()
@click.argument("out", type=PATH)
@click.argument("name", required=False)
@click.option("--undo", is_flag=True, help="Put a forgotten submission back.")
def forget(out: Path, name: str | None, undo: bool) -> None:
    """Leave a submission out of tables, pages and exports; its history is kept.

    NAME may also be an assignment, if OUT is a term with several. Without NAME, list all that
    --undo undoes, with the commands.

    Example: grade forget grades alice
    """
    if name is None:
        list_trail(out)
        return
    if forget_assignment(out, name, undo=undo):
        return
    if undo:
        undo_change(out, name, "forget")
        return
    with changing(out, announce) as (book, changed):
        entry = book.entry_of(name)
        team = len(entry.students) > 1
        members = name_list([one.name for one in entry.students], 9)
        if team and name != entry.name:
            raise UsageError(
                f"{name} is in {entry.name}, with others: {members}. To leave all of them out:"
                f" {command('forget', out, entry.name)}. Who left the class is written under"
                " [excused] in term.toml"
            )
        by_hand.forget(book, entry.name, login_name())
        changed.add(entry.name)
    whose = f" ({members})" if team else ""
    say(f"{entry.name}{whose} is forgotten. {to_undo('forget', out, entry.name)}")


def forget_assignment(out: Path, name: str, *, undo: bool) -> bool:
    """Forget an assignment of a term, or put it back; return whether it is one."""
    with batch_lock(out), Gradebook.open(out, any_of=True) as book:
        known = book.assignments(forgotten=undo)
        last = not undo and len(known) == 1
        if out.resolve() != book.path.parent.resolve() or name not in known or last:
            return False
        with transaction(book.db):
            book.change("assignments", known[name], {"forgotten": int(not undo)})
    how = f". {to_undo('forget', out, name)}" if not undo else ""
    say(f"the assignment {name} is {'back' if undo else 'forgotten'}{how}")
    return True


@click.command()
@click.argument("out", type=PATH)
@click.argument("old")
@click.argument("new", required=False)
@click.option(
    "--merge",
    is_flag=True,
    help="If NEW is a submission too, make the two one; the newer attempt counts.",
)
@click.option("--undo", is_flag=True, help="Undo a rename: give only the new name.")
def rename(out: Path, old: str, new: str | None, merge: bool, undo: bool) -> None:
    """Give a submission another name, for example if its folder has the wrong name.

    The submission keeps its history. Later runs of grade batch use the new name too.

    Example: grade rename grades alice alice_doe
    """
    if undo and new is None:
        undo_change(out, old, "rename")
        return
    if undo or new is None:
        raise UsageError("Give the old and the new name; with --undo, only the new one")
    (usable,) = unique_names([(new, "")])
    if usable != new:
        raise UsageError(
            f"{new!r} can't be a submission's name, because its page's file is named after it."
            f" Choose another, such as {usable!r}"
        )
    with changing(out, announce) as (book, changed):
        entry = book.entry_of(old)
        if entry.name == new:
            raise UsageError(f"{new} already has that name")
        if book.is_forgotten(new):
            raise UsageError(
                f"{new} is in the gradebook, but forgotten. Undo that first:"
                f" {command('forget', out, new, '--undo')}"
            )
        both = new in book.names()
        if book.is_merged(new):
            raise UsageError(
                f"{new} is part of another submission now. Undo that first, or choose another name"
            )
        if both and not merge:
            raise UsageError(
                f"The gradebook has both {entry.name} and {new}, so nothing was renamed. Choose"
                " another name. If both are of the same student, make them one submission:"
                f" {command('rename', out, entry.name, new, '--merge')}"
            )
        by_hand.rename(book, entry.name, new, login_name())
        changed.update((entry.name, new))
    done = f"{entry.name} is now {'part of ' if both else ''}{new}"
    say(f"{done}. {to_undo('rename', out, new)}")


def undo_change(out: Path, name: str, action: str, *, everywhere: bool = False) -> None:
    """Undo what a command last did to a submission; raise UsageError if there is nothing."""
    with changing(out, announce, everywhere=everywhere) as (book, changed):
        entry = by_hand.undo(book, name, action)
        changed.update(book.all_names() & {entry.detail.get("old"), entry.detail.get("other")})
        if action != "person":  # whose name may be no submission's
            changed.add(entry.name)
    say(f"undone: {by_hand.described(entry)}")


def list_trail(out: Path) -> None:
    """Show what was done to submissions, and how to undo it; in a term's folder, that of all
    assignments.
    """
    with Gradebook.open(out, any_of=True) as book:
        root = book.path.parent
        numbers, forgotten = book.assignments(), book.assignments(forgotten=True)
        if out.resolve() != root.resolve():
            numbers = {name: at for name, at in numbers.items() if at == book.assignment}
        trails = {
            name: [(book.at(at).folder, entry) for entry in by_hand.trail(book.at(at))]
            for name, at in numbers.items()
        }
    people = {
        entry.number: (root, entry)
        for trail in trails.values()
        for _, entry in trail
        if entry.action == "person"
    }
    for name in forgotten:
        say(f"assignment {name} forgotten")
        say(f"    {command('forget', root, name, '--undo')}")
    if not any(trails.values()) and not forgotten:
        say("no submission was forgotten, renamed, swapped or given anything")
    for name, trail in [*trails.items(), ("people", [*people.values()])]:
        deeds = [one for one in trail if name == "people" or one[1].action != "person"]
        if deeds and len(trails) > 1:
            say(f"{name}:")
        for folder, entry in deeds:
            state = " (undone)" if entry.undone else ""
            say(f"{entry.made_at}  {entry.author}  {by_hand.described(entry)}{state}")
            if not entry.undone:
                say(f"    {how_to_undo(folder, entry, [one for _, one in trail])}")


def how_to_undo(folder: Path, entry: by_hand.TrailEntry, trail: list[by_hand.TrailEntry]) -> str:
    """Return the command; or what to undo first, because a name's newest deed is undone."""
    names = [entry.name, *filter(None, [entry.detail.get("other")])]
    later = [
        one
        for one in trail
        if one.number > entry.number
        and not one.undone
        and (one.rows & entry.rows or {one.name, one.detail.get("other")} & {*names})
    ]
    if later:
        return f"undo first: {by_hand.described(later[-1])}"
    return command(entry.action, folder, entry.name, "--undo")


@click.command()
@click.argument("out", type=PATH)
@click.argument("group")
@click.option("--title", prompt=True, help="What the code does wrong, in a few words.")
@click.option(
    "--explanation",
    prompt=True,
    help="Cause and fix; {actual}, {expected} and inputs such as {x} are filled in.",
)
@course_option
def name(out: Path, group: str, title: str, explanation: str, course_root: Path | None) -> None:
    """Make a group of wrong answers on the class page a known mistake of the course.

    GROUP is the group's id on the page, or the start of it. The answer is added to the course's
    known mistakes. The next grade batch with the same --course shows the explanation to everyone in
    the group. The course that pip installed can't be changed: name another folder with --course.

    Example: grade name grades 3f9a --title "a mean" --explanation "Use sum()."
    """
    name_group(course(course_root), out, group, title, explanation)


def name_group(course: Course, out: Path, signature: str, title: str, explanation: str) -> None:
    """Add a group's answer to the course's catalogue, with its title and explanation.

    Raise UsageError if there is no such group, or if the course can't recognize it afterwards; in
    that case its files are unchanged.
    """
    if course.root == PACKAGED_COURSE or any(one.held for one in course.lessons):
        raise UsageError(
            f"{course.root} can't be changed. Give the folder of a git clone or of your own course:"
            " --course"
        )
    with batch_lock(out), Gradebook.open(out) as book:
        room = collect_statistics(book.entries(), book.columns())
        group = found_group(room.groups, signature)
        lesson = course.lesson(group.lesson)
        graded = book.graded_text(group.first.name, group.lesson) or ""
        answer = text_reader().excerpt(graded, group.function, imports=True)
    files = {path: _text(path) for path in (lesson.mistakes_file, _texts_file(lesson))}
    name = free_name(lesson, title)
    try:
        add_cell(lesson, name, title, answer)
        add_texts(lesson, name, group.function, title, explanation)
        check_recognized(course, lesson, name)
    except BaseException:
        for path, text in files.items():
            if text is None:
                path.unlink(missing_ok=True)
            else:
                path.write_text(text, "utf-8", newline="\n")
        raise
    console = make_console()
    many = counted(group.people.count, "answer")
    files_changed = f"{lesson.mistakes_file} and {_texts_file(lesson)}"
    for line in (
        f"{name}: {many}. Added to {files_changed}.",
        "The next grade batch with this course shows both texts to everyone in the group.",
    ):
        console.print(line, markup=False, soft_wrap=True)


def found_group(groups: list[UnnamedGroup], signature: str) -> UnnamedGroup:
    """Return the group whose signature begins so; raise UsageError unless there is exactly one."""
    found = [one for one in groups if one.signature.startswith(signature)]
    if len(found) == 1:
        return found[0]
    if found:
        raise UsageError(f"{len(found)} groups begin with {signature}. Give more characters of one")
    names = ", ".join(one.signature for one in groups[:8])
    raise UsageError(
        f"There is no group {signature}. "
        + (f"Groups on class.html: {names}" if names else "All wrong answers match a known mistake")
    )


def free_name(lesson: Lesson, title: str) -> str:
    """Return an id for a mistake, made from its title, that the lesson does not have yet."""
    words = re.findall(r"[a-z0-9]+", title.lower())[:6]
    base = "_".join(words) or "mistake"
    base = base if base[0].isalpha() else f"mistake_{base}"
    path = _texts_file(lesson)
    taken = {one.id for one in read_mistakes(path)} if path.exists() else set()
    numbered = (base if number == 1 else f"{base}_{number}" for number in range(1, len(taken) + 2))
    return next(one for one in numbered if one not in taken)


def add_cell(lesson: Lesson, name: str, title: str, code: str) -> None:
    """Add a wrong answer to the catalogue; raise CourseError if it is malformed."""
    if not code:
        raise UsageError(
            f"The answer does not define the function that the failed checks of {lesson.id} test"
        )
    path = lesson.mistakes_file
    before = _text(path) or f'"""{lesson.id}: wrong answers."""\n'
    path.parent.mkdir(parents=True, exist_ok=True)
    cell = f"{before.rstrip()}\n\n\n# %% {name}\n# {title}\n{code}\n"
    path.write_text(cell, "utf-8", newline="\n")
    read_catalogue(path)


def add_texts(lesson: Lesson, name: str, function: str, title: str, explanation: str) -> None:
    path = _texts_file(lesson)
    before = _text(path) or f"# The mistakes that people make in {lesson.id}.\n"
    about, title, explanation = (
        json.dumps(value, ensure_ascii=False) for value in ([function], title, explanation)
    )
    entry = f"[{name}]\nabout = {about}\ntitle = {title}\nexplanation = {explanation}\n"
    path.write_text(f"{before.rstrip()}\n\n{entry}", "utf-8", newline="\n")


def check_recognized(course: Course, lesson: Lesson, name: str) -> None:
    """Grade the new cell; raise UsageError unless it gets the new name."""
    cell = read_catalogue(lesson.mistakes_file)[-1]
    solution = without_markers(lesson.solution.read_text("utf-8"))
    text = compose(solution, cell.source, name=str(cell.path))
    file = LessonFile(lesson.id, lesson.filename, text)
    with ForkServerClient() as host:
        result = grade_lesson(host, lesson, file, Settings(0, limits=course.limits)).result
    if not any(check.diagnosis == name for check in result.checks):
        other = next((one.diagnosis for one in result.checks if one.diagnosis), None)
        why = (
            f"it gets the name {other}"
            if other
            else "it gets no name. Use only {actual}, {expected} and the inputs in the explanation"
        )
        raise UsageError(f"The answer is not recognized as {name}: {why}. Nothing was changed")


def _texts_file(lesson: Lesson) -> Path:
    return lesson.checks / "diagnosis.toml"


def _text(path: Path) -> str | None:
    try:
        return path.read_text("utf-8")
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CourseError(f"{path}: {error.strerror}") from None


def known_lessons(book: Gradebook, lesson: str | None, *, where: str = "") -> list[str]:
    """Return the ids of a gradebook's lessons; raise UsageError if ``lesson`` is not one."""
    lessons = [one for one, _, _ in book.lessons()]
    if lesson is not None and lesson not in lessons:
        raise UsageError(
            f"{where}The gradebook has no lesson {lesson!r}. Its lessons: {', '.join(lessons)}"
        )
    return lessons


def login_name() -> str:
    """Return the login name for the audit trail; ``unknown`` if the system has none."""
    try:
        return getpass.getuser()
    except (OSError, KeyError):  # no name, as in some containers; since Python 3.13 an OSError
        return "unknown"


def time_text(time: str | None, zone: str) -> str:
    """Return a time for people, in the class's zone if it is known."""
    if not time:
        return ""
    at = moment(time)
    if zone:
        return f"{at.astimezone(ZoneInfo(zone)):%Y-%m-%d %H:%M}"
    return f"{at:%Y-%m-%d %H:%M} {at.tzname()}"


def to_undo(deed: str, out: Path, name: str) -> str:
    """Return the sentence that says how to undo a command, ready to paste."""
    return f"To undo this: {command(deed, out, name, '--undo')}"


def say(text: str) -> None:
    make_console().print(clean(text), soft_wrap=True, markup=False, highlight=False)
