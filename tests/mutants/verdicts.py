"""Keep verdicts on files, by seed: grade when first requested, store in a file of JSON lines.

A lesson's verdicts stay good while its own checks, the engine and torch are the same.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from grader.core.files import engine_hash, hash_files, torch_version
from grader.core.limits import Limits
from grader.core.messages import Settings
from grader.core.report import Outcome
from grader.course.course import Lesson
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.runtime.pool import HostPool, map_unordered

LIMITS = Limits(lesson_seconds=30, cpu_seconds=20)
"""A mutant that loops forever should not take a minute."""
NOT_LOST = (Outcome.PASSED, Outcome.GRADER_ERROR)
Failed = frozenset[str]
"""The checks that failed, and those that were skipped because of them."""
Run = tuple[Lesson, str, int]
"""A lesson, the text of a file and a seed."""


class Verdicts:
    """The checks that failed in each graded run."""

    def __init__(self, keep: Path | None = None) -> None:
        self._keep = keep
        self._known: dict[str, Failed] = {}
        if keep and keep.exists():
            for line in keep.read_text("utf-8").splitlines():
                with contextlib.suppress(ValueError):  # a line that was cut when the run was
                    text, *failed = json.loads(line)
                    self._known[text] = frozenset(failed)

    def __getitem__(self, run: Run) -> Failed:
        return self._known[key(run)]

    def grade(self, runs: Iterable[Run]) -> None:
        """Grade the runs that have no verdict yet."""
        new = [run for run in dict.fromkeys(runs) if key(run) not in self._known]
        with contextlib.ExitStack() as stack:
            hosts = HostPool(os.cpu_count() or 1, ForkServerClient)
            stack.callback(hosts.close)
            kept = self._keep and stack.enter_context(self._keep.open("a", encoding="utf-8"))
            for text, failed in map_unordered(hosts, new, grade_one):
                self._known[text] = failed
                if kept:
                    print(json.dumps([text, *sorted(failed)]), file=kept, flush=True)


def grade_one(host: ForkServerClient, run: Run) -> tuple[str, Failed]:
    lesson, text, seed = run
    file = LessonFile(lesson.id, lesson.filename, text)
    settings = Settings(seed, limits=LIMITS, naming_off=("rule", "engine", "example"))
    result = grade_lesson(host, lesson, file, settings).result
    failed = [check.id for check in result.checks if check.outcome not in NOT_LOST]
    faults = [check.message for check in result.checks if check.outcome is Outcome.GRADER_ERROR]
    if faults and not failed:
        raise RuntimeError(f"the grader's own fault, from seed {seed}: {faults[0]}\n{text}")
    return key(run), frozenset(failed or ([result.message] if result.message else []))


def key(run: Run) -> str:
    lesson, text, seed = run
    return hashlib.sha256(f"{_grader(lesson)} {seed} {text}".encode()).hexdigest()[:32]


@functools.cache
def _grader(lesson: Lesson) -> str:
    """Return what a lesson's verdicts depend on, as text."""
    files = [lesson.stub, lesson.solution, *lesson.checks.glob("*.py")]
    return f"{lesson.id} {hash_files(lesson.root, files)} {engine_hash()} {torch_version()}"
