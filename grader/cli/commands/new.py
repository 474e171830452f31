"""Run ``grade new``: make a working lesson, in an existing course or in a new one."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
from pathlib import Path

import click

from grader.core.errors import CourseError, UsageError
from grader.core.files import PACKAGED_COURSE
from grader.course.course import Course, load_course
from grader.course.scaffold import MARK, lesson_files

FIRST_LESSON = "first_lesson"
TITLE, SUMMARY = f"{MARK} the lesson's title", f"{MARK} what it is about, in a line"
COURSE = """# The course: its lessons in the order in which a learner meets them.
id = "{id}"
title = "{mark} the course's title"
version = "1"
"""
RESERVED = frozenset(
    "torch numpy grader pytest scenarios helpers diagnosis student reference draw".split()
)


def new_course(root: Path, lesson: str | None, function: str | None, lang: str) -> None:
    if root.exists() and (not root.is_dir() or any(root.iterdir())):
        raise UsageError(
            f"{root} has no exercises/course.toml and is not empty. Name a course, or a new folder;"
            " nothing was changed"
        )
    lesson = known_good(lesson or FIRST_LESSON, "lesson")
    id = re.sub(r"\W+", "-", root.resolve().name).strip("-").lower() or "course"
    write(root / "exercises" / "course.toml", COURSE.format(id=id, mark=MARK))
    add_lesson(root, lesson, function, lang)
    click.echo(f"{root} is a course. Its name and title are in exercises/course.toml")
    print_next_steps(root, lesson)


def new_lesson(course: Course, lesson: str | None, function: str | None, lang: str) -> None:
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
    add_lesson(course.root, known_good(lesson, "lesson"), function, lang)
    print_next_steps(course.root, lesson)


def known_good(name: str, what: str) -> str:
    """Check a name for a lesson or function; raise UsageError if it can't be used."""
    taken = (
        name in RESERVED
        or (what == "lesson" and name in sys.stdlib_module_names)
        or hasattr(builtins, name)
    )
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name) or keyword.iskeyword(name):
        raise UsageError(
            f"{name!r} can't name a {what}. Use lowercase letters, digits and _, and begin with"
            f" a letter, such as my_{what}"
        )
    if taken:
        raise UsageError(
            f"{name!r} is a name that Python or the grader uses. Choose another for the {what}"
        )
    return name


def add_lesson(root: Path, lesson: str, function: str | None, lang: str) -> None:
    """Write a lesson's files and its entry in ``course.toml``; the rest of that file stays
    unchanged.
    """
    import tomlkit

    function = known_good(function or lesson, "function")
    files = lesson_files(lesson, function, lang=lang)
    there = [path for path in files if (root / path).exists()]
    if there:
        raise UsageError(
            f"{root / there[0]} is there already. Move it away, or choose another name; nothing was"
            " changed"
        )
    toml = root / "exercises" / "course.toml"
    document = tomlkit.parse(toml.read_text("utf-8"))
    entry = tomlkit.table()
    entry |= {
        "id": lesson,
        "title": TITLE,
        "summary": SUMMARY,
        "names": [function],
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
        f"The lesson {lesson} is in {root}. It doubles a tensor; make it yours, beginning with"
        f" solutions/{lesson}.py."
    )
    click.echo(
        f"To see what is still to be written, and to check the lesson:\n  grade verify {lesson}"
        f" --course {click.format_filename(root)}"
    )
