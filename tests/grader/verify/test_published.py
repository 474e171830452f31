"""What ``tests/README.md`` publishes of the proof is about the files that lie here, and as far as
``tests/proof.toml`` says.
"""

from __future__ import annotations

import re

import pytest

from grader.classroom.publish.filter import check_names
from grader.course.course import Lesson, find_course, load_course
from grader.verify.proved import read_proved

ROOT = find_course()
COURSE = load_course(ROOT)
PROVED = read_proved(ROOT / "tests" / "proof.toml", "en")
TEXT = (ROOT / "tests" / "README.md").read_text("utf-8")
ROWS = {
    lesson: cells.split(" | ")
    for lesson, cells in re.findall(r"^\| (\w+) \| (\d+ \| .* of .*) \|$", TEXT, flags=re.MULTILINE)
}


def counts(lesson: Lesson) -> list[int]:
    """Checks, wrong solutions, lookalikes, other right ones."""
    checks = [
        name
        for path in (*lesson.visible_checks, *lesson.hidden_checks)
        for name in check_names(path.read_text("utf-8"))
    ]
    return [len(checks), len(lesson.mistakes), len(lesson.lookalikes), len(lesson.accepted)]


def test_the_table_and_the_proof_have_every_lesson_in_order() -> None:
    wanted = [lesson.id for lesson in COURSE.lessons]
    assert list(ROWS) == wanted
    assert list(PROVED) == wanted


@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)
def test_a_row_counts_the_lessons_files(lesson: Lesson) -> None:
    checks, mistakes, lookalikes, accepted = counts(lesson)
    several = (mistakes, mistakes, lookalikes, accepted)
    assert ROWS[lesson.id] == [str(checks), *(f"{number} of {number}" for number in several)]


def test_the_sums_are_those_of_the_rows() -> None:
    checks, mistakes, lookalikes, accepted = (
        sum(column) for column in zip(*map(counts, COURSE.lessons), strict=True)
    )
    said = re.sub(r"\s+", " ", TEXT)
    assert (
        f"Together {checks} checks, {mistakes} wrong solutions, {lookalikes} lookalikes and"
        f" {accepted} other right ones." in said
    )
    cases = 2 * len(COURSE.lessons) + mistakes + lookalikes + accepted
    seeds = min(one.seeds for one in PROVED.values())
    assert f"{cases * seeds:,} gradings from {seeds} seeds, unanimous, no problems." in said
    assert f"its {cases * 200:,} gradings" in said
