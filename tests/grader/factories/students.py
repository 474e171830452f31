"""Make a class in which every kind of answer occurs: right, wrong, stubs, no Python, attacks."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from factories.downloads import Files, Students
from grader.course.course import Lesson
from grader.course.stubs import compose, without_markers

KINDS = ("solution", "stub", "accepted", "mistake", "mistake", "mistake", "invalid", "missing")
INVALID = (
    "def broken(:\n",
    "",
    "import nothing_of_this_name\n",
    "raise KeyError('at import')\n",
    "x = 1\0\n",
)
ATTACKS = Path(__file__).parents[2] / "attacks"
ATTACK_NAMES = (
    "crashes",
    "exits_at_import",
    "frames_on_every_descriptor",
    "patched_allclose",
    "prints_without_end",
    "injects_by_message",
)


def mixed_students(
    count: int,
    lessons: Sequence[Lesson],
    *,
    lessons_each: int | None = None,
    seed: int = 7,
    attackers: int = 0,
    common_mistakes: Mapping[str, str] = MappingProxyType({}),
) -> Students:
    """Return ``count`` students with their files. The last ``attackers`` of them attack.

    A student hands in ``lessons_each`` of the lessons, drawn at random, or all of them. A student
    who would hand in nothing gets a stub, because not every layout can show an empty submission.
    ``common_mistakes`` names, by lesson, the one mistake that all wrong answers make there.
    """
    draw = random.Random(seed)
    students: Students = {}
    for number in range(count - attackers):
        chosen = draw.sample(list(lessons), lessons_each) if lessons_each else lessons
        files: Files = {
            lesson.filename: answer
            for lesson in chosen
            if (answer := _answer(lesson, draw.choice(KINDS), draw, common_mistakes)) is not None
        }
        students[f"student{number:03}"] = files or {
            lessons[0].filename: lessons[0].stub.read_text("utf-8")
        }
    for name in ATTACK_NAMES[:attackers]:
        students[name.replace("_", "")] = _attack(name)
    return students


def _answer(
    lesson: Lesson, kind: str, draw: random.Random, common_mistakes: Mapping[str, str]
) -> str | None:
    solution = lesson.solution.read_text("utf-8")
    if kind == "missing":
        return None
    if kind == "invalid":
        return draw.choice(INVALID)
    if kind == "stub":
        return lesson.stub.read_text("utf-8")
    common = common_mistakes.get(lesson.id)
    mistakes = [cell for cell in lesson.mistakes if common in (None, cell.name)]
    fragments = {"accepted": lesson.accepted, "mistake": mistakes}.get(kind)
    if not fragments:
        return without_markers(solution)
    return compose(solution, draw.choice(fragments).source, name=lesson.id)


def _attack(name: str) -> Files:
    folder = ATTACKS / name / "submission"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
