"""Make a students' bundle, and prove that it works and gives nothing away.

::

    README.md, README.ko.md            how to install, how to grade, what is held back
    <lesson>/                          the stub to fill in, the lesson's READMEs
    course/                            what judges: course.toml, release.toml, stubs, hints,
                                       catalogues, visible checks
    engine/                            the engine, without a course
    .github/workflows/grade.yml        grades each push

A visible check that asks the reference can be read, but is held back together with the hidden
checks: ``release.toml`` says how many checks and points that are. Shared helpers and scenarios stay
if a visible check or the diagnosis uses them. Texts that only hidden checks have are removed, and
so are hints that contain a solution. Names of hidden checks are replaced.
"""

from __future__ import annotations

import ast
import itertools
import json
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.publish.engine_files import (
    engine_files,
    install_torch,
    refuse_bundle,
    writing,
)
from grader.core.errors import CourseError, UsageError
from grader.core.messages import Settings
from grader.core.report import CheckResult, Outcome, add_up
from grader.core.templates import render_text
from grader.course.course import (
    BUNDLED,
    RELEASE,
    Course,
    HeldBack,
    Lesson,
    check_names,
    hints_that_answer,
    load_course,
)
from grader.course.lesson_texts import Promise, texts_in, translatable
from grader.course.source import first_line
from grader.course.stubs import copied_region, runnable
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson

HINT_STEPS = {"none": 0, "nudge": 1, "all": 3}
"""How many of a hint's three steps students get; the third is nearly the code."""
CHECK_FILES = (
    "test_checks.py",
    "test_visible.py",
    "scenarios.py",
    "diagnosis.py",
    "diagnosis.toml",
)


@dataclass(frozen=True, slots=True)
class Released:
    """A lesson in a bundle: the number and points of its checks, and what is held back."""

    lesson: str
    checks: int
    points: float
    held: HeldBack


def write_release(
    course: Course, lessons: Sequence[Lesson], folder: Path, *, hints: str = "nudge"
) -> list[Released]:
    """Make the bundle and prove it; create ``folder`` only if the proof succeeds.

    ``hints``, a key of ``HINT_STEPS``, says how many steps of each hint are included.

    Raise UsageError if the folder can't be made, CourseError with the file if something would be
    given away or a visible check does not pass on the reference.
    """
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(
            f"{folder} exists and is not empty. Choose another name; nothing was changed"
        )
    refuse_bundle(course, lessons, "Release from the whole course")
    with (
        writing(folder),
        tempfile.TemporaryDirectory(prefix=".release-", dir=folder.parent) as place,
    ):
        # Two folders, because grading leaves byte code behind.
        tried, made = Path(place) / "tried", Path(place) / "bundle"
        files = list(bundle_files(course, lessons, HINT_STEPS[hints]))
        write(made, files)
        refuse_leaks(made, lessons)
        write(tried, [*files, release_toml({one.id: HeldBack(0, 0.0) for one in lessons})])
        released = prove(course, lessons, tried / BUNDLED)
        write(made, [release_toml({one.lesson: one.held for one in released})])
        write(made, front_pages(course, released))
        if folder.is_dir():
            folder.rmdir()
        shutil.move(made, folder)
    return released


def released_points(released: Iterable[Released]) -> tuple[float, float]:
    rows = list(released)
    return add_up(one.points for one in rows), add_up(one.held.points for one in rows)


def front_pages(course: Course, released: Sequence[Released]) -> Iterator[tuple[str, str]]:
    """Yield ``(path, text)`` of the bundle's README in each language."""
    points, held_points = released_points(released)
    for name, lang in (("README.md", "en"), ("README.ko.md", "ko")):
        text = render_text(
            f"handout/{name}",
            title=course.title_in(lang),
            torch=install_torch(),
            points=f"{points:g}",
            held_points=f"{held_points:g}",
            held_checks=sum(one.held.checks for one in released),
        )
        yield name, text + course.rules_in(lang)


def write(root: Path, files: Iterable[tuple[str, str]]) -> None:
    for path, text in files:
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8", newline="\n")


def bundle_files(
    course: Course, lessons: Iterable[Lesson], steps: int
) -> Iterator[tuple[str, str]]:
    """Yield ``(path, text)`` of every file except those that need the result of the proof."""
    exercises = course.root / "exercises"
    for path in (exercises / "course.toml", *sorted(exercises.glob("*.po"))):
        yield f"{BUNDLED}/exercises/{path.name}", path.read_text("utf-8")
    for lesson in lessons:
        how = f"To grade this file, type: grade {lesson.id}"
        yield f"{lesson.id}/{lesson.filename}", runnable(lesson.stub_text, how)
        for path in lesson.readmes:
            yield f"{lesson.id}/{path.name}", path.read_text("utf-8")
        yield from lesson_files(lesson, steps)
    yield from ((f"engine/{path}", text) for path, text in engine_files())
    yield ".github/workflows/grade.yml", render_text("handout/grade.yml", torch=install_torch())
    yield ".gitignore", render_text("handout/gitignore")


def lesson_files(lesson: Lesson, steps: int) -> Iterator[tuple[str, str]]:
    """Yield the files that judge a lesson in a bundle, without what is not handed out."""
    exercises, checks = f"{BUNDLED}/exercises/{lesson.id}", f"{BUNDLED}/tests/checks/{lesson.id}"
    hidden = lesson.hidden_checks
    names = check_names(hidden)
    shipped = checks_to_hand_out(lesson)
    for name, text in shipped.items():
        yield f"{checks}/{name}", without_names(text, names)
    if lesson.contract:
        yield f"{checks}/contract.toml", contract_without(lesson.contract, names)
    yield f"{exercises}/{lesson.stub.name}", lesson.stub_text
    hints = lesson.hints()
    later = [step for hint in hints.values() for step in hint[steps:]]
    held_back = hints_that_answer(lesson).union(later)
    yield f"{exercises}/hints.toml", hints_without(hints, held_back)
    public = frozenset().union(
        *(texts_in(text) for name, text in shipped.items() if name.endswith(".py")),
        translatable(lesson.diagnosis) if lesson.diagnosis else (),
    )
    secret = held_back | (texts_in(hidden) - public)
    for path in sorted(lesson.folder.glob("*.po")):
        yield f"{exercises}/{path.name}", catalogue_without(path, secret)


def checks_to_hand_out(lesson: Lesson) -> dict[str, str]:
    """Return the visible checks and the files that they depend on, by file name."""
    found = {
        name: (lesson.checks / name).read_text("utf-8")
        for name in CHECK_FILES
        if (lesson.checks / name).exists()
    }
    if "test_checks.py" in found:
        shown = lesson.visible_checks
        found["test_checks.py"] = reachable_definitions(shown, check_names(shown))
    words = words_in(found.get("test_checks.py", lesson.visible_checks))
    if "scenarios.py" in found:
        words |= words_in(found.get("diagnosis.py", ""))
        found["scenarios.py"] = reachable_definitions(found["scenarios.py"], words)
    return found


def catalogue_without(path: Path, secret: frozenset[str]) -> str:
    """Return a catalogue without the texts that only hidden checks have."""
    import polib

    catalogue = polib.pofile(str(path), wrapwidth=140)
    for entry in [entry for entry in catalogue if entry.msgid in secret]:
        catalogue.remove(entry)
    return str(catalogue)


def release_toml(held: dict[str, HeldBack]) -> tuple[str, str]:
    """Return path and text of ``release.toml``, which marks a course as a students' bundle."""
    tables = (
        f"\n[{lesson}]\nchecks = {one.checks}\npoints = {one.points}\n"
        for lesson, one in held.items()
    )
    about = "# Made by grade release: the lessons of this bundle, and how much each holds back.\n"
    return f"{BUNDLED}/exercises/{RELEASE}", about + "".join(tables)


def prove(course: Course, lessons: Iterable[Lesson], root: Path) -> list[Released]:
    """Grade every reference with the course and with the bundle, and count the checks held back."""
    settings = Settings(seed=0, sandbox="auto", limits=course.limits)
    bundled = load_course(root)
    released = []
    with ForkServerClient() as host:
        for lesson in lessons:
            file = LessonFile(lesson.id, lesson.filename, lesson.solution.read_text("utf-8"))
            whole = grade_lesson(host, lesson, file, settings).result.checks
            part = grade_lesson(host, bundled.lesson(lesson.id), file, settings).result.checks
            for check in (*whole, *part):
                if check.outcome is not Outcome.PASSED:
                    raise CourseError(
                        f"{lesson.solution}: {check.id} does not pass: {check.message}. Fix it"
                        f" first: grade verify {lesson.id}"
                    )
            held = HeldBack(len(whole) - len(part), add_up([worth(whole), -worth(part)]))
            released.append(Released(lesson.id, len(part), worth(part), held))
    return released


def worth(checks: Iterable[CheckResult]) -> float:
    return add_up(check.max_points for check in checks if not check.bonus)


def refuse_leaks(bundle: Path, lessons: Iterable[Lesson]) -> None:
    """Raise CourseError if a file contains a hidden check's name, or lines of a solution.

    A README, which teaches, may contain them as part of a line.
    """
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file()]
    for lesson in lessons:
        names = set(check_names(lesson.hidden_checks))
        solution = lesson.solution.read_text("utf-8")
        for path in files:
            if lesson.id not in path.parts:
                continue
            text, place = path.read_text("utf-8"), path.relative_to(bundle)
            if found := names.intersection(re.findall(r"\w+", text)):
                raise CourseError(
                    f"{place} would name the hidden check {min(found)}. Remove the name from"
                    f" {lesson.checks}"
                )
            if line := copied_region(text, solution, whole_lines=path.suffix == ".md"):
                raise CourseError(
                    f"{place} would contain a part of the solution of {lesson.id}: {line!r}. Change"
                    " it there"
                )


HELD_BACK = "held_back"
"""The text that replaces a hidden check's name."""


def without_names(text: str, names: Iterable[str]) -> str:
    found = sorted(names, key=len, reverse=True)
    return re.sub(rf"\b(?:{'|'.join(map(re.escape, found))})\b", HELD_BACK, text) if found else text


def words_in(text: str) -> frozenset[str]:
    """Return every name in a piece of code: variables, attributes, imports, and strings that could
    be names.
    """
    found = set()
    for node in ast.walk(ast.parse(text)):
        match node:
            case ast.Name(id=word) | ast.Attribute(attr=word) | ast.alias(name=word):
                found.add(word)
            case ast.Constant(value=str(word)) if word.isidentifier():
                found.add(word)
    return frozenset(found)


def reachable_definitions(text: str, words: Iterable[str]) -> str:
    """Return the text without the top-level definitions that nothing uses.

    A definition is used if ``words``, a used definition, or a statement that defines nothing names
    it.
    """
    lines = text.splitlines()
    body = ast.parse(text).body
    pieces = {
        name: "\n".join(lines[first_line(node) - 1 : node.end_lineno])
        for node in body
        for name in names_of(node)
    }
    kept: set[str] = set()
    others = [ast.unparse(node) for node in body if not names_of(node)]
    todo = [*words, *words_in("\n".join(others))]
    while todo:
        word = todo.pop()
        if word in pieces and word not in kept:
            kept.add(word)
            todo += words_in(pieces[word])
    dropped: set[int] = set()
    starts = [*map(first_line, body), len(lines) + 1]
    for node, (start, end) in zip(body, itertools.pairwise(starts), strict=True):
        if names_of(node) and kept.isdisjoint(names_of(node)):
            dropped.update(range(start, end))
    left = [line for number, line in enumerate(lines, 1) if number not in dropped]
    return "\n".join(left).rstrip("\n") + "\n"


def names_of(node: ast.stmt) -> tuple[str, ...]:
    """Return the names that a top-level statement defines; none for imports and the like."""
    targets: list[ast.expr] = []
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return (node.name,)
        case ast.Assign():
            targets = node.targets
        case ast.AnnAssign():
            targets = [node.target]
    return tuple(
        name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)
    )


def contract_without(contract: Iterable[Promise], hidden: Collection[str]) -> str:
    """Return ``contract.toml`` for the checks that are handed out, without the answers it names."""
    tables = []
    for promise in contract:
        checks = [name for name in promise.terms.checks if f"test_{name}" not in hidden]
        if checks:
            says = json.dumps(promise.terms.says, ensure_ascii=False)
            tables.append(f"[{promise.name}]\nsays = {says}\nchecks = {json.dumps(checks)}\n")
    return "\n".join(tables)


def hints_without(hints: Mapping[str, list[str]], secret: frozenset[str]) -> str:
    """Return ``hints.toml`` without the steps that are ``secret``. A JSON string is a TOML one."""
    kept = {key: [step for step in steps if step not in secret] for key, steps in hints.items()}
    tables = (
        f"{json.dumps(key)} = {json.dumps(steps, ensure_ascii=False, indent=1)}\n"
        for key, steps in kept.items()
        if steps
    )
    return "".join(tables)
