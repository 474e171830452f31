"""Measure the ideal that grading is compared with: the same checks in one warm process, without
process border, worker and sandbox.

    python tests/benchmarks/ideal.py LESSON,LESSON [--rounds N]

Checks are collected once, and the reference is executed again in each round, as a submission would
be. The script prints one JSON object: the median seconds of each lesson.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import statistics
import time
from typing import cast

os.environ["OMP_NUM_THREADS"] = "1"

import pytest
import torch

from grader.core.limits import Limits
from grader.core.report import Outcome
from grader.course.course import Lesson, find_course, load_course
from grader.course.source import Source
from grader.course.stubs import without_markers
from grader.judge.examples import SubmissionRun
from grader.judge.local_student import LocalStudent
from grader.judge.random_inputs import Seeds
from grader.judge.remote.proxies import Traffic
from grader.judge.remote.session import StudentSession
from grader.judge.runner import Judge, run_checks


class NoBorder:
    """What judging needs of a ``StudentSession``, for a student's module in this process."""

    limits = Limits()
    loadable = True

    def __init__(self, source: Source, scenarios: str) -> None:
        self.source = source
        self._student = LocalStudent(source, scenarios)

    def student(self) -> LocalStudent:
        """Return the module."""
        return self._student

    def load(self) -> None:
        """Do nothing: the module is loaded already."""

    def begin_check(self) -> Traffic:
        """Return empty traffic: nothing crosses a process border."""
        return Traffic()

    def flush(self) -> None:
        """Do nothing: no step waits to be sent."""

    def take_output(self) -> str:
        """Return no output: nothing is captured."""
        return ""

    def off_the_clock(self) -> contextlib.AbstractContextManager[None]:
        """Return a block that changes nothing: there is no clock."""
        return contextlib.nullcontext()


def rounds_of(judge: Judge, checks: pytest.Session, rounds: int) -> list[float]:
    """Return the seconds of each round; an additional first round warms up and is left out."""
    times = []
    solution = judge.lesson.solution.read_text("utf-8")
    source = Source(without_markers(solution), judge.lesson.filename)
    gc.collect()
    gc.freeze()  # as a lesson server does: the garbage collector leaves torch alone
    for number in range(rounds + 1):
        began = time.perf_counter()
        session = cast("StudentSession", NoBorder(source, judge.plugin.scenarios))
        run = SubmissionRun(session, Seeds(number), judge.plugin.tr.fresh())
        with judge.plugin.judging(run):
            run_checks(checks, run)
        times.append(time.perf_counter() - began)
        failed = [id for id, one in run.results.items() if one.outcome is not Outcome.PASSED]
        assert not failed, failed
    return times[1:]


def median_seconds(lesson: Lesson, rounds: int) -> float:
    """Return the median seconds of running all checks of a lesson."""
    judge, times = Judge(lesson.spec("en")), []
    judge.run(lambda one: times.extend(rounds_of(judge, one.args[0], rounds)))  # type: ignore[attr-defined]
    return statistics.median(times)


def main() -> None:
    """Measure, and print the medians."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("lessons")
    options.add_argument("--rounds", type=int, default=10)
    arguments = options.parse_args()
    torch.set_num_threads(1)
    course = load_course(find_course())
    print(
        json.dumps(
            {
                name: median_seconds(course.lesson(name), arguments.rounds)
                for name in arguments.lessons.split(",")
            }
        )
    )


if __name__ == "__main__":
    main()
