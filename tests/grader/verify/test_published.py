"""The table of ``tests/README.md`` agrees with the files."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from grader.course.course import Lesson, check_names, find_course, load_course
from grader.verify.case_result import spoiler_pairs

ROOT = find_course()
COURSE = load_course(ROOT)
PINNED = dict(
    line.split("==")
    for line in (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    if "==" in line
)
TEXT = (ROOT / "tests" / "README.md").read_text("utf-8")
ROWS = {
    lesson: cells.split(" | ")
    for lesson, cells in re.findall(
        r"^\| ([a-z]\w*) \| (\d+ \| .* of .*) \|$", TEXT, flags=re.MULTILINE
    )
}


def load_matrix() -> ModuleType:
    spec = importlib.util.spec_from_file_location("matrix", ROOT / "tests" / "matrix.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


matrix = load_matrix()


def counts(lesson: Lesson) -> list[int]:
    """Return the numbers of checks, wrong answers, near misses and other right answers."""
    checks = [name for path in lesson.check_files for name in check_names(path.read_text("utf-8"))]
    catalogues = (lesson.mistakes, lesson.near_misses, lesson.accepted)
    return [
        len(checks),
        *(sum(cell.applies(PINNED.__getitem__) for cell in cells) for cells in catalogues),
    ]


def test_the_table_has_every_lesson_in_order() -> None:
    assert list(ROWS) == [lesson.id for lesson in COURSE.lessons]


@pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)
def test_a_row_counts_the_lessons_files(lesson: Lesson) -> None:
    checks, mistakes, near_misses, accepted = counts(lesson)
    promises = sum(bool(one.terms.checks) for one in lesson.contract)
    several = (mistakes, mistakes, near_misses, accepted, promises)
    assert ROWS[lesson.id] == [str(checks), *(f"{number} of {number}" for number in several)]


def test_the_sums_are_those_of_the_rows() -> None:
    checks, mistakes, near_misses, accepted = (
        sum(column) for column in zip(*map(counts, COURSE.lessons), strict=True)
    )
    said = re.sub(r"\s+", " ", TEXT)
    assert (
        f"prints this table: {checks} checks, {mistakes} wrong answers, {near_misses} near misses"
        f" and {accepted} other right answers." in said
    )
    generated = sum(len(pair) for lesson in COURSE.lessons for pair in spoiler_pairs(lesson))
    assert f"{generated} generated answers" in said
    cases = 2 * len(COURSE.lessons) + mistakes + near_misses + accepted + generated
    assert f"`make prove` makes {cases * 20:,} gradings from 20 seeds." in said


def test_the_ranges_are_what_the_matrix_verified() -> None:
    """torch's range goes from the oldest verified row to the newest; CI verifies the pinned one."""
    rows = matrix.rows_in(TEXT)
    assert {cells[6] for cells in rows.values()} == {"0"}
    verified = {
        "oldest": Version(rows["oldest 3.11"][2]),
        "pinned": Version(PINNED["torch"]),
        "newest": Version(rows["newest 3.11"][2]),
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    (torch,) = (
        one.specifier for one in map(Requirement, project["dependencies"]) if one.name == "torch"
    )
    assert all(version in torch for version in verified.values())
    oldest, newest = verified["oldest"], verified["newest"]
    assert f"{oldest.major}.{oldest.minor - 1}.9" not in torch
    assert f"{newest.major}.{newest.minor + 1}.0" not in torch


def test_scenarios_and_rules_were_verified_with_the_oldest_versions() -> None:
    """They use what differs between versions of torch. If this fails, run
    ``python tests/matrix.py "oldest 3.11"``, which verifies the course and writes the row.
    """
    *_, digest = matrix.rows_in(TEXT)["oldest 3.11"]
    assert digest == matrix.rules_digest()
