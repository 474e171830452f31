"""Every attack succeeds against a naive grader and gains nothing against gradlings."""

from __future__ import annotations

import dataclasses
import io
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from grader.core.errors import SubmissionError
from grader.core.limits import Limits
from grader.core.messages import Settings
from grader.core.report import Report, SandboxReport
from grader.course.course import Course, load_course
from grader.course.submission import LessonFile, read_submission
from grader.render.page import render_page
from grader.render.terminal import show_report
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission
from grader.worker.sandbox import LAYERS, landlock, seccomp

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from corpus import CATEGORIES, COURSE, Attack, NaiveGrader, Stage, all_attacks, table  # noqa: E402 - it stands beside this file

pytestmark = pytest.mark.skipif(
    not landlock.abi() or not seccomp.has_tables(),
    reason="the layers that are tested are Linux's, with Landlock, on x86_64 or aarch64",
)
ATTACKS = all_attacks()
SWITCHABLE = [layer for layer in LAYERS if layer != "descriptors"]
LIMITS = {"call_seconds": 2.0, "lesson_seconds": 20.0}
LESSON = "custom_sigmoid"


def sampled(attacks: list[Attack]) -> list[Any]:
    """Return one attack of each category for every run; ``make prove`` runs all."""
    taken, chosen = dict.fromkeys(CATEGORIES, 0), []
    for attack in attacks:
        taken[attack.category] += 1
        chosen.append(
            pytest.param(
                attack,
                id=attack.name,
                marks=[pytest.mark.proof] if taken[attack.category] > 1 else [],
            )
        )
    return chosen


@pytest.fixture(scope="module")
def course() -> Course:
    return load_course(COURSE)


@pytest.fixture(scope="module")
def naive() -> Iterator[NaiveGrader]:
    grader = NaiveGrader()
    yield grader
    grader.close()


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Callable[[Attack], Stage]]:
    stages: list[Stage] = []

    def make(attack: Attack) -> Stage:
        stages.append(Stage(tmp_path / str(len(stages)), attack))
        return stages[-1]

    yield make
    for one in stages:
        one.close()


class OurGrader:
    """One fork server for attack and neighbour, as when a class is graded."""

    def __init__(self, host: ForkServerClient, course: Course) -> None:
        self.host = host
        self.course = course
        # Before the first attack.
        self.untouched = comparable(
            self.report(host, COURSE / "solutions", Limits.from_dict(LIMITS))
        )

    def report(
        self,
        host: ForkServerClient,
        place: Path,
        limits: Limits,
        without: tuple[str, ...] = (),
        planned: bool = False,
    ) -> Report:
        """Return a submission's report. ``planned``: questions are asked ahead, as in a batch."""
        settings = Settings(
            seed=7,
            sandbox="auto" if without else "require",
            limits=limits,
            without=without,
            planned=planned,
        )
        try:
            files = read_submission(place, [LESSON])
        except SubmissionError as error:
            files = {LESSON: LessonFile.wrong(LESSON, place.name, error.template, error.facts)}
        return grade_submission(
            host, self.course, [self.course.lesson(LESSON)], files, settings, name=place.name
        )

    def grade(
        self, stage: Stage, *, without: tuple[str, ...] = (), planned: bool = False
    ) -> tuple[Report, set[str]]:
        """Grade the attack, then the neighbour; return the attack's report and its effects."""
        limits = Limits.from_dict({**LIMITS, **stage.attack.limits})
        report = self.report(self.host, stage.submission, limits, without, planned)
        neighbour = self.report(self.host, stage.neighbour, limits, without, planned)
        terminal = io.StringIO()
        show_report(Console(file=terminal, force_terminal=True, width=100), report, html=None)
        effects = stage.effects(
            score=report.score + report.bonus,
            neighbour=comparable(neighbour) == self.untouched,
            said=json.dumps(report.as_json(), ensure_ascii=False),
            page=render_page(report),
            terminal=terminal.getvalue(),
        )
        return report, effects


def comparable(report: Report) -> Report:
    """Return what must be the same each time: a report without times, place and sandbox."""
    lessons = tuple(
        dataclasses.replace(
            lesson,
            seconds=0.0,
            file="",
            checks=tuple(dataclasses.replace(check, seconds=0.0) for check in lesson.checks),
        )
        for lesson in report.lessons
    )
    return dataclasses.replace(
        report, submission="", seconds=0.0, lessons=lessons, sandbox=SandboxReport("", (), ())
    )


@pytest.fixture(scope="module")
def ours(course: Course) -> Iterator[OurGrader]:
    with ForkServerClient("fork") as host:
        yield OurGrader(host, course)


@pytest.mark.parametrize("attack", sampled(ATTACKS))
def test_it_succeeds_against_a_naive_grader(
    attack: Attack, naive: NaiveGrader, stage: Callable[[Attack], Stage]
) -> None:
    """The attack has every effect that its description names; otherwise the test below proves
    nothing.
    """
    wanted = set(attack.effects)
    # a busy machine may need longer
    assert (
        naive.grade(stage(attack)) >= wanted or naive.grade(stage(attack), seconds=60.0) >= wanted
    )


@pytest.mark.parametrize("planned", [False, pytest.param(True, marks=pytest.mark.proof)])
@pytest.mark.parametrize("attack", sampled(ATTACKS))
def test_it_gains_nothing_here(
    attack: Attack, planned: bool, ours: OurGrader, stage: Callable[[Attack], Stage]
) -> None:
    """Under ``require`` there is no undeserved point, no effect of any kind, and no grader fault;
    neither if the questions of a check come ahead.
    """
    report, effects = ours.grade(stage(attack), planned=planned)
    assert effects == set()
    assert report.grader_faults == ()


@pytest.mark.proof
@pytest.mark.parametrize("layer", SWITCHABLE)
@pytest.mark.parametrize("attack", [pytest.param(attack, id=attack.name) for attack in ATTACKS])
def test_what_a_layer_alone_stops(
    attack: Attack, layer: str, ours: OurGrader, stage: Callable[[Attack], Stage]
) -> None:
    """An attack succeeds if the layer in its description is off, and fails if any other is off."""
    _, effects = ours.grade(stage(attack), without=(layer,))
    assert bool(effects) is (attack.layer == layer), effects


def test_each_category_has_attacks() -> None:
    """There are at least two per category, and sixty in all."""
    assert len(ATTACKS) >= 60
    assert all(sum(attack.category == name for attack in ATTACKS) >= 2 for name in CATEGORIES)


def test_each_layer_stops_something_alone() -> None:
    """The dropped capabilities are the exception: seccomp and Landlock refuse the same things."""
    assert {attack.layer for attack in ATTACKS} - {None} == set(SWITCHABLE) - {"capabilities"}


def test_the_published_table_is_the_corpus() -> None:
    """``python tests/attacks/corpus.py`` prints the table."""
    assert table(ATTACKS) in (HERE / "README.md").read_text("utf-8")
