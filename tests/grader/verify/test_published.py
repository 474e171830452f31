"""The table of ``tests/README.md`` agrees with the files."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from types import ModuleType

from packaging.requirements import Requirement
from packaging.version import Version

from grader.course.course import find_course, load_course

ROOT = find_course()
COURSE = load_course(ROOT)
TEXT = (ROOT / "tests" / "README.md").read_text("utf-8")


def load(name: str) -> ModuleType:
    sys.path.insert(0, str(ROOT / "tests"))  # they import each other
    spec = importlib.util.spec_from_file_location(name, ROOT / "tests" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


matrix, documentation = load("matrix"), load("documentation")


def test_the_numbers_are_counted() -> None:
    """If this fails, run ``python tests/documentation.py``."""
    assert documentation.with_counts(TEXT, COURSE) == TEXT


def test_the_courses_readme_has_all_lessons() -> None:
    """If this fails, run ``python tests/documentation.py``. Each lesson is in one group."""
    text = documentation.COURSE_README.read_text("utf-8")
    assert documentation.with_lessons(text, COURSE) == text
    grouped = [name for group in COURSE.groups for name in group.lessons]
    assert grouped == [lesson.id for lesson in COURSE.lessons]


def test_the_ranges_are_what_the_matrix_verified() -> None:
    """torch's range goes from the oldest verified row to the newest; CI verifies the pinned one."""
    rows = matrix.rows_in(TEXT)
    assert {cells[6] for cells in rows.values()} == {"0"}
    verified = {
        "oldest": Version(rows["oldest 3.11"][2]),
        "pinned": Version(documentation.PINNED["torch"]),
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
