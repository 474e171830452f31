"""A class of any size in which every kind of answer occurs: solutions, stubs, other right answers,
mistakes, no Python, attacks.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from classes import Students

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
ATTACKS = Path(__file__).parents[1] / "attacks"
HOSTILE = (
    "crashes",
    "exits_at_import",
    "frames_on_every_descriptor",
    "patched_allclose",
    "prints_without_end",
    "injects_by_message",
)


def mixed_class(
    count: int,
    lessons: Sequence[Lesson],
    *,
    each: int | None = None,
    seed: int = 7,
    attacks: int = 0,
    common: Mapping[str, str] = MappingProxyType({}),
) -> Students:
    """So many students, the last ones attackers. Who would have no file at all, which not every
    layout can show, has a stub.

    ``each`` is how many of the lessons a student hands in; they are drawn. ``common`` is by lesson
    the one mistake that all wrong answers there have, in any of its forms.
    """
    draw = random.Random(seed)
    students: Students = {}
    for number in range(count - attacks):
        chosen = draw.sample(list(lessons), each) if each else lessons
        files = {
            lesson.filename: answer
            for lesson in chosen
            if (answer := _answer(lesson, draw.choice(KINDS), draw, common)) is not None
        }
        students[f"student{number:03}"] = files or {
            lessons[0].filename: lessons[0].stub.read_text("utf-8")
        }
    for name in HOSTILE[:attacks]:
        students[name.replace("_", "")] = _attack(name)
    return students


def _answer(
    lesson: Lesson, kind: str, draw: random.Random, common: Mapping[str, str]
) -> str | bytes | None:
    solution = lesson.solution.read_text("utf-8")
    if kind == "missing":
        return None
    if kind == "invalid":
        return draw.choice(INVALID)
    if kind == "stub":
        return lesson.stub.read_text("utf-8")
    mistakes = [
        path
        for path in lesson.mistakes
        if path.stem.partition("__")[0] == common.get(lesson.id, path.stem.partition("__")[0])
    ]
    fragments = {"accepted": lesson.accepted, "mistake": mistakes}.get(kind)
    if not fragments:
        return without_markers(solution)
    return compose(solution, draw.choice(fragments).read_text("utf-8"), name=lesson.id)


def _attack(name: str) -> dict[str, str | bytes]:
    folder = ATTACKS / name / "submission"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
