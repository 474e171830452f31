"""Make a group of wrong answers on the class page a known mistake of the course."""

from __future__ import annotations

import json
import re
from pathlib import Path

from grader.classroom.gradebook.store import Gradebook, batch_lock
from grader.classroom.statistics.collect import UnnamedGroup, collect_statistics
from grader.core.errors import CourseError, UsageError
from grader.core.files import PACKAGED_COURSE
from grader.core.messages import Settings
from grader.core.text import counted
from grader.course.course import Course, Lesson
from grader.course.lesson_texts import read_catalogue, read_mistakes
from grader.course.stubs import compose, without_markers
from grader.course.submission import LessonFile
from grader.render.terminal import make_console
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.runtime.text_reader import TextReader


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
    with batch_lock(out), Gradebook.open(out) as book, TextReader() as reader:
        room = collect_statistics(book.entries(), book.columns())
        group = found_group(room.groups, signature)
        lesson = course.lesson(group.lesson)
        graded = book.graded_text(group.first.name, group.lesson) or ""
        answer = reader.excerpt(graded, group.function, imports=True)
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
