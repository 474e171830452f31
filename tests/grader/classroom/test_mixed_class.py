"""A class with every kind of answer gets the same grades,
whichever system it was downloaded from.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import signal
import subprocess
from html import escape
from operator import itemgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from batch_process import attempt_counts, batch_process, log_tail, stable_files
from factories.downloads import LAYOUTS, Students, write_class
from factories.students import ATTACK_NAMES, mixed_students

from grader.classroom.gradebook.store import Gradebook
from grader.classroom.statistics.collect import collect_statistics
from grader.cli.batch import BatchOptions, grade_class
from grader.core.errors import ExitCode
from grader.course.course import Course, find_course, load_course
from grader.runtime.client import ForkServerClient

pytestmark = pytest.mark.fork

STUDENTS = int(os.environ.get("GRADLINGS_CLASS", "300"))
"""The size of the class of ``make prove``."""
LESSONS_EACH = 2
"""How many of the course's lessons each student hands in; every lesson then has dozens of each kind
of answer.
"""
WORKERS = int(os.environ.get("GRADLINGS_WORKERS", "0")) or os.cpu_count() or 1
COMMON = {"chain_rule": "inner_derivative_missing"}
"""The most common mistakes of this class, so that the class page has something to show."""
KILLS = 20
LOOK_SECONDS = 0.05


def verdicts(out: Path) -> dict[str, Any]:
    """Return, by student, the score, and for each check its seed, outcome and points."""
    found = {}
    for entry in json.loads((out / "results.json").read_text("utf-8")):
        lessons = [checks(lesson) for lesson in entry["lessons"]]
        found[entry["submission"]] = (entry["gradebook"]["score"], lessons)
    return found


def checks(lesson: dict[str, Any]) -> list[Any]:
    seen = itemgetter("id", "outcome", "points", "diagnosis", "seed")
    return [lesson["id"], lesson["status"], lesson["score"], *map(seen, lesson["checks"])]


def test_a_class_has_the_same_grades_in_every_layout(
    tmp_path: Path, host: ForkServerClient, small_course: Course
) -> None:
    students = mixed_students(12, small_course.lessons, seed=4)
    borrowed: Any = SimpleNamespace(judge=host.judge, close=lambda: None)
    found = {}
    for layout in LAYOUTS:
        place, out = write_class(layout, tmp_path / layout, students), tmp_path / f"{layout}_out"
        wanted = BatchOptions(place, out, seed=5, sandbox="auto", lang="en")
        assert grade_class(small_course, wanted, make_host=lambda: borrowed) is ExitCode.OK
        found[layout] = verdicts(out)
    assert set(found["plain"]) == set(students)
    statuses = {lesson[1] for _, lessons in found["plain"].values() for lesson in lessons}
    assert statuses == {"passed", "failed", "not_started", "invalid"}
    for layout in LAYOUTS:
        assert found[layout] == found["plain"], layout


# ------------------------------------------------------------------------------------ a large class


@pytest.fixture(scope="module")
def large_class(tmp_path_factory: pytest.TempPathFactory) -> tuple[Students, Path]:
    """Return the class of ``make prove``, with attackers, and the files in its folders."""
    place = tmp_path_factory.mktemp("large")
    course = load_course(find_course())
    students = mixed_students(
        STUDENTS,
        course.lessons,
        lessons_each=LESSONS_EACH,
        attackers=min(len(ATTACK_NAMES), STUDENTS // 10),
        common_mistakes=COMMON,
    )
    write_class("plain", place / "class", students)
    options = large_batch_options(place / "class", place / "out")
    assert grade_class(course, options) is ExitCode.OK
    return students, place


def large_batch_options(place: Path, out: Path) -> BatchOptions:
    """Return the options with which the large class is graded."""
    return BatchOptions(place, out, workers=WORKERS, seed=5, lang="en")


@pytest.mark.proof
@pytest.mark.skipif(
    STUDENTS < 200, reason="in so small a class not every kind of answer is drawn for every lesson"
)
def test_a_large_class_has_every_lesson_and_every_kind_of_answer(
    large_class: tuple[Students, Path],
) -> None:
    """Each lesson has answers that are right, wrong, not begun and not Python; attackers gain
    nothing.
    """
    found = verdicts(large_class[1] / "out")
    assert set(found) == set(large_class[0])
    course = load_course(find_course())
    rows = [row for _, lessons in found.values() for row in lessons]
    for lesson in course.lessons:
        seen = {row[1] for row in rows if row[0] == lesson.id}
        assert seen == {"passed", "failed", "not_started", "invalid", "missing"}
    assert {found[name.replace("_", "")][0] for name in ATTACK_NAMES} == {0.0}


@pytest.mark.proof
@pytest.mark.skipif(STUDENTS < 200, reason="in so small a class chance decides what is common")
def test_a_large_classes_page_begins_with_what_most_got_wrong(
    large_class: tuple[Students, Path],
) -> None:
    """The first thing to reteach is the mistake that was made common."""
    with Gradebook.open(large_class[1] / "out") as book:
        classroom = collect_statistics(book.entries(), book.columns())
    first, second = classroom.mistakes[:2]
    assert {first.lesson: first.id} == COMMON
    assert first.people.count > second.people.count
    page = (large_class[1] / "out" / "class.html").read_text("utf-8")
    assert re.findall(r"<h3>(.+?)</h3>", page)[0] == escape(first.title)


@pytest.mark.proof
@pytest.mark.parametrize("layout", [layout for layout in LAYOUTS if layout != "plain"])
def test_a_large_class_has_the_same_grades_in_every_layout(
    layout: str, tmp_path: Path, large_class: tuple[Students, Path]
) -> None:
    """This holds beside attackers, and there is no grader fault."""
    place, out = write_class(layout, tmp_path / layout, large_class[0]), tmp_path / "out"
    assert grade_class(load_course(find_course()), large_batch_options(place, out)) is ExitCode.OK
    found, expected = verdicts(out), verdicts(large_class[1] / "out")
    assert set(found) == set(expected)
    assert {name for name in found if found[name] != expected[name]} == set()


@pytest.mark.proof
def test_a_large_class_survives_kills_at_random_submissions(
    tmp_path: Path, large_class: tuple[Students, Path]
) -> None:
    """The bytes are the same as without kills, and nobody is graded twice. ``test_batch_kill``
    kills at moments before and after grading too.
    """
    out, draw = tmp_path / "out", random.Random(20)
    words = ("--seed", "5", "--lang", "en", "--workers", "2")
    for so_many in sorted(draw.sample(range(STUDENTS * 9 // 10), min(KILLS, STUDENTS // 2))):
        process = batch_process(large_class[1] / "class", out, *words)
        while len(list(out.glob("reports/*.html"))) < so_many:
            with contextlib.suppress(subprocess.TimeoutExpired):
                pytest.fail(
                    f"it ended by itself with {process.wait(LOOK_SECONDS)}, before {so_many} were"
                    " graded"
                )
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(draw.uniform(0, 0.5))
        process.kill()
        assert process.wait() == -signal.SIGKILL
    assert batch_process(large_class[1] / "class", out, *words).wait() == ExitCode.OK, log_tail(out)
    assert stable_files(out) == stable_files(large_class[1] / "out")
    assert attempt_counts(out) == dict.fromkeys(large_class[0], 1)
