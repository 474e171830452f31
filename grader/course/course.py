"""A course on disk as typed records: ``exercises/course.toml`` and the files that belong to it.

``grader/docs/authors.md`` lists the files of a lesson.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec

from grader.core.errors import CourseError, UsageError
from grader.core.files import CHECKOUT, LOCALE, PACKAGED_COURSE, hash_files, read_toml
from grader.core.i18n import load_catalogue
from grader.core.limits import Limits
from grader.core.messages import LessonSpec
from grader.core.report import describe, read
from grader.course.lesson_texts import CatalogueCell, Promise, read_catalogue, read_contract
from grader.course.source import Source
from grader.course.stubs import copied_region, stub_of

HIDDEN = "\n# hidden\n"
"""The line in ``test_checks.py`` below which no check is handed out."""
BUNDLED = "course"
"""Where a students' bundle has its part of the course."""
RELEASE = "release.toml"
"""The file that makes a course a students' bundle: its lessons, and what is held back of each."""


@dataclass(frozen=True, slots=True)
class LessonGroup:
    """A part of a course: lessons that follow each other."""

    id: str
    title: str
    lessons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class HeldBack:
    """What a students' bundle holds back of a lesson: checks, and their points (no bonus)."""

    checks: int
    points: float


@dataclass(frozen=True, slots=True)
class Lesson:
    """One lesson.

    ``names`` are the definitions that the student writes, ``bonus`` those beyond full marks.
    ``minutes`` is about how long it takes. ``everywhere`` are the sentences that hold in every
    lesson of the course. ``held`` is what a students' bundle holds back; None outside of a bundle.
    """

    root: Path
    id: str
    title: str
    summary: str
    names: tuple[str, ...]
    bonus: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    minutes: int = 0
    everywhere: tuple[str, ...] = ()
    held: HeldBack | None = None

    @property
    def filename(self) -> str:
        return f"{self.id}.py"

    @property
    def folder(self) -> Path:
        return self.root / "exercises" / self.id

    @property
    def readmes(self) -> list[Path]:
        """The README in each language, and the pictures that they show."""
        return sorted([*self.folder.glob("README*.md"), *self.folder.glob("*.svg")])

    @property
    def stub(self) -> Path:
        """The file in ``exercises``, which may hold somebody's work; see ``stub_text``."""
        return self.folder / self.filename

    @property
    def stub_source(self) -> Path:
        """The file that the stub is made of: a students' bundle has no solution."""
        return self.solution if self.solution.exists() else self.stub

    @property
    def stub_text(self) -> str:
        """What students begin with. Who works in the course's ``exercises`` changes the stub's
        file, so the text comes from the solution.
        """
        text = self.stub_source.read_text("utf-8")
        return stub_of(text, name=str(self.solution)) if self.stub_source != self.stub else text

    @property
    def solution(self) -> Path:
        return self.root / "solutions" / self.filename

    @property
    def checks(self) -> Path:
        return self.root / "tests" / "checks" / self.id

    @property
    def check_files(self) -> tuple[Path, ...]:
        """The file of checks, or one of visible and one of hidden checks."""
        names = ("test_checks.py", "test_visible.py", "test_hidden.py")
        return tuple(path for name in names if (path := self.checks / name).exists())

    @property
    def visible_checks(self) -> str:
        """The text of the checks that students may read."""
        return self._checks()[0]

    @property
    def hidden_checks(self) -> str:
        """The text of the other checks: of ``test_hidden.py``, or below a line of ``HIDDEN``."""
        return self._checks()[1]

    def _checks(self) -> tuple[str, str]:
        visible, hidden = "", ""
        for path in self.check_files:
            text = path.read_text("utf-8")
            if path.name == "test_hidden.py":
                hidden += text
            else:
                above, line, below = text.partition(HIDDEN)
                visible, hidden = visible + above.rstrip() + "\n", hidden + line + below
        return visible, hidden

    @property
    def check_names(self) -> list[str]:
        """The checks' names, visible ones first, without ``test_``."""
        found = (*check_names(self.visible_checks), *check_names(self.hidden_checks))
        return [name.removeprefix("test_") for name in found]

    @property
    def scenarios(self) -> Path:
        """The file of scenarios, the only file of the course that goes into the sandbox."""
        return self.checks / "scenarios.py"

    @property
    def scenarios_text(self) -> str:
        """The scenarios; empty if the lesson has none of its own."""
        return self.scenarios.read_text("utf-8") if self.scenarios.exists() else ""

    @property
    def diagnosis(self) -> Path | None:
        """The texts of the mistakes; the rules are in ``diagnosis.py`` beside it."""
        path = self.checks / "diagnosis.toml"
        return path if path.exists() else None

    @property
    def contract(self) -> tuple[Promise, ...]:
        """What the lesson promises; nothing if it has no ``contract.toml``."""
        path = self.checks / "contract.toml"
        return read_contract(path) if path.exists() else ()

    @property
    def mistakes(self) -> tuple[CatalogueCell, ...]:
        return read_catalogue(self.mistakes_file)

    @property
    def mistakes_file(self) -> Path:
        return self.root / "tests" / "mistakes" / self.filename

    @property
    def near_misses_file(self) -> Path:
        return self.root / "tests" / "near_misses" / self.filename

    @property
    def near_misses(self) -> tuple[CatalogueCell, ...]:
        """Wrong answers, each named after a mistake that it resembles but does not make."""
        return read_catalogue(self.near_misses_file)

    @property
    def accepted(self) -> tuple[CatalogueCell, ...]:
        return read_catalogue(self.accepted_file, unique=True)

    @property
    def accepted_file(self) -> Path:
        return self.root / "tests" / "accepted" / self.filename

    def has_file(self, path: Path) -> bool:
        """Return whether a file below the course's root is this lesson's."""
        catalogues = (self.mistakes_file, self.near_misses_file, self.accepted_file)
        inside = any(folder in path.parents for folder in (self.folder, self.checks))
        return inside or path in (self.solution, *catalogues)

    def spec(self, lang: str) -> LessonSpec:
        return LessonSpec(str(self.root), self.id, lang)

    def texts(self, lang: str) -> tuple[Path, ...]:
        name = f"{lang}.po"
        return (LOCALE / name, self.folder.parent / name, self.folder / name)

    def hints(self) -> dict[str, list[str]]:
        """Return three steps of hints by name; raise CourseError for a bad ``hints.toml``."""
        path = self.folder / "hints.toml"
        if not path.exists():
            return {}
        data = read_toml(path)
        for key, steps in data.items():
            if not isinstance(steps, list) or not all(isinstance(step, str) for step in steps):
                raise CourseError(f"{path}: {key} must be a list of texts")
        return data


def hints_that_answer(lesson: Lesson) -> frozenset[str]:
    """Return hints that contain a whole region of the solution; they are not handed out."""
    solution = lesson.solution.read_text("utf-8")
    return frozenset(
        step for steps in lesson.hints().values() for step in steps if copied_region(step, solution)
    )


def check_names(text: str) -> tuple[str, ...]:
    """Return the names of the checks in a file of checks."""
    return tuple(name for name in Source(text, "").definitions if name.startswith("test_"))


def lesson_of(spec: LessonSpec) -> Lesson:
    return load_course(Path(spec.course)).lesson(spec.lesson)


NO_FILE = "{path} does not exist. Name a file that is there, or a lesson; all lessons: {command}"
MEANT = "There is no lesson {name}. Did you mean {near}? All lessons: {command}"


@dataclass(frozen=True)
class Course:
    """A course: its identity, its lessons in order, its limits, what it asks in every lesson.

    ``groups`` are parts of it, in order; ``core`` are the lessons of which nobody should miss one.
    ``others`` are lessons that a learner left out, who may still name one.
    """

    root: Path
    id: str
    title: str
    version: str
    lessons: tuple[Lesson, ...]
    limits: Limits = field(default_factory=Limits)
    everywhere: tuple[str, ...] = ()
    groups: tuple[LessonGroup, ...] = ()
    core: tuple[str, ...] = ()
    others: tuple[Lesson, ...] = ()

    def only(self, ids: Collection[str]) -> Course:
        """Return the course of some lessons; none of them builds on another lesson."""
        chosen = tuple(
            replace(one, builds_on=tuple(other for other in one.builds_on if other in ids))
            for one in self.lessons
            if one.id in ids
        )
        others = tuple(one for one in self.lessons if one.id not in ids)
        return replace(self, lessons=chosen, others=others) if chosen else self

    def groups_here(self) -> list[LessonGroup]:
        """Return the groups with those of their lessons that the course has, if any."""
        here = [lesson.id for lesson in self.lessons]
        groups = (
            replace(group, lessons=tuple(one for one in group.lessons if one in here))
            for group in self.groups
        )
        return [group for group in groups if group.lessons]

    def part(self, name: str) -> tuple[str, ...]:
        """Return the lessons of a group, or of the core; raise UsageError for another name."""
        parts = {group.id: group.lessons for group in self.groups}
        if self.core:
            parts = {"core": self.core} | parts
        if name not in parts:
            message = "There is no part {name} of the course. Parts: {names}"
            names = ", ".join(parts) or "–"
            raise UsageError(message, name=repr(name), names=names)
        return parts[name]

    def lesson(self, lesson_id: str) -> Lesson:
        """Return a lesson by id, or by its number in the course; raise UsageError that suggests the
        nearest name.
        """
        wanted = lesson_id.removesuffix(".py").removesuffix(".ipynb").rstrip("/").rsplit("/", 1)[-1]
        for lesson in (*self.lessons, *self.others):
            if lesson.id == wanted:
                return lesson
        if wanted.isdecimal() and 0 < int(wanted) <= len(self.lessons):
            return self.lessons[int(wanted) - 1]
        ids = [lesson.id for lesson in self.lessons]
        near = [one for one in ids if wanted and one.startswith(wanted.lower())]
        is_file = lesson_id.endswith((".py", ".ipynb"))
        near += difflib.get_close_matches(wanted.lower(), ids, n=1, cutoff=0.75 if is_file else 0.5)
        if is_file and not near:
            raise UsageError(NO_FILE, path=lesson_id, command="grade list")
        if near:
            raise UsageError(MEANT, name=repr(lesson_id), near=near[0], command="grade list")
        raise UsageError(
            "There is no lesson {name}. Lessons: {names}",
            name=repr(lesson_id),
            names=", ".join(ids),
        )

    def rules_in(self, lang: str) -> str:
        """Return the section of a README that says what holds in every lesson, if anything does."""
        if not self.everywhere:
            return ""
        tr = load_catalogue(lang, self.lessons[0].texts(lang))
        rules = "\n".join(f"* {tr(rule)}" for rule in self.everywhere)
        lead = tr("Unless a lesson says otherwise:")
        return f"\n## {tr('In every lesson')}\n\n{lead}\n\n{rules}\n"

    def title_in(self, lang: str) -> str:
        """Return the title in a language that the course's folder has a catalogue for, or as it
        is.
        """
        return load_catalogue(lang, [self.root / "exercises" / f"{lang}.po"]).known(self.title)

    @functools.cached_property
    def hash(self) -> str:
        """A hash of all files that decide a verdict or its wording, computed when first needed.

        Wrong and accepted answers are excluded, because they do not affect grading.
        """
        return self.hash_now(self.lessons)

    def hash_now(self, lessons: Sequence[Lesson]) -> str:
        """Return such a hash for some lessons and the current state of the files."""
        files = [self.root / "exercises" / "course.toml"]
        for lesson in lessons:
            files += [lesson.stub_source, lesson.folder / "hints.toml"]
            files += [*lesson.folder.glob("*.po"), *lesson.checks.glob("*.py")]
            files += [lesson.checks / "diagnosis.toml", lesson.checks / "contract.toml"]
        return hash_files(self.root, (path for path in files if path.exists()))


def find_course(explicit: Path | None = None, *, here: Path | None = None) -> Path:
    """Return the course's root: ``explicit``, else the checkout's, else the wheel's.

    The engine of a students' bundle contains no course and uses the bundle's, around ``here``. This
    comes last, so that grading somebody else's folder does not run checks from there.
    """
    for root in (explicit,) if explicit else (CHECKOUT, PACKAGED_COURSE):
        if root and (root / "exercises" / "course.toml").is_file():
            return root.resolve()
    for folder in () if explicit or here is None else (here.resolve(), *here.resolve().parents):
        if (folder / BUNDLED / "exercises" / RELEASE).is_file():
            return folder / BUNDLED
    raise CourseError(
        "{place} holds no course: there is no exercises/course.toml. Give a course's folder with"
        " --course",
        place=str(explicit or CHECKOUT),
    )


Text = Annotated[str, msgspec.Meta(min_length=1)]


class LessonEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A table ``[[lesson]]`` of course.toml; see ``Lesson``."""

    id: Text
    title: Text
    summary: Text
    names: tuple[str, ...] = ()
    bonus: tuple[str, ...] = ()
    builds_on: tuple[str, ...] = ()
    minutes: Annotated[int, msgspec.Meta(ge=0)] = 0


class GroupEntry(msgspec.Struct, forbid_unknown_fields=True):
    """A table ``[[group]]`` of course.toml; see ``LessonGroup``."""

    id: Text
    title: Text
    lessons: Annotated[tuple[str, ...], msgspec.Meta(min_length=1)]


class CourseEntry(msgspec.Struct, forbid_unknown_fields=True):
    """What course.toml holds; see ``Course``."""

    id: Text
    title: Text
    version: Text
    lesson: Annotated[tuple[LessonEntry, ...], msgspec.Meta(min_length=1)]
    everywhere: tuple[Text, ...] = ()
    group: tuple[GroupEntry, ...] = ()
    core: tuple[str, ...] = ()
    limits: dict[str, Any] = {}


def load_course(root: Path) -> Course:
    """Read ``course.toml``; raise CourseError that names the file and the entry."""
    path = root / "exercises" / "course.toml"
    describe(CourseEntry)
    try:
        found = msgspec.convert(read_toml(path), CourseEntry)
    except msgspec.ValidationError as error:
        numbered = re.sub(
            r"\$\.lesson\[(\d+)\]", lambda found: f"lesson {int(found[1]) + 1}", str(error)
        )
        raise CourseError(f"{path}: {numbered}") from None
    ids = [entry.id for entry in found.lesson]
    for entry in found.lesson:
        if ids.count(entry.id) > 1:
            raise CourseError(f"{path}: two lessons are called {entry.id!r}")
        for other in entry.builds_on:
            if other not in ids:
                raise CourseError(
                    f"{path}: lesson {entry.id!r} builds on {other!r}, which is not a lesson"
                )
    named = [(f"group {group.id!r}", group.lessons) for group in found.group]
    for part, lessons_of_it in [*named, ("core", found.core)]:
        for other in lessons_of_it:
            if other not in ids:
                raise CourseError(f"{path}: {part} has {other!r}, which is not a lesson")
    try:
        limits = Limits.from_dict(found.limits)
    except ValueError as error:
        raise CourseError(f"{path}: [limits]: {error}") from None
    rules = found.everywhere
    lessons = tuple(
        Lesson(root, **msgspec.structs.asdict(entry), everywhere=rules) for entry in found.lesson
    )
    lessons = _released(path.with_name(RELEASE), lessons)
    groups = tuple(LessonGroup(**msgspec.structs.asdict(one)) for one in found.group)
    course = Course(root, found.id, found.title, found.version, lessons, limits, rules)
    return replace(course, groups=groups, core=found.core)


def _released(path: Path, lessons: tuple[Lesson, ...]) -> tuple[Lesson, ...]:
    """In a students' bundle, return the lessons it contains, without dependencies on others; else
    all.
    """
    if not path.exists():
        return lessons
    held_back = {}
    for name, held in read_toml(path).items():
        try:
            held_back[name] = read(HeldBack, held)
        except ValueError:
            raise CourseError(
                f"{path}: {name}: checks and points must be numbers; get the bundle again"
            ) from None
    return tuple(
        replace(
            lesson,
            held=held_back[lesson.id],
            builds_on=tuple(other for other in lesson.builds_on if other in held_back),
        )
        for lesson in lessons
        if lesson.id in held_back
    )
