"""Time what the benchmarks compare: command lines, each in a separate process, from start to end.

The submissions are the references: a right submission takes longest to judge, because no check is
skipped.
"""

from __future__ import annotations

import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from grader.course.course import find_course, load_course
from grader.course.stubs import without_markers

ROOT = find_course()
COURSE = load_course(ROOT)
CORE = ("graph_inspection", "custom_sigmoid", "retain_graph", "second_derivative", "hooks")
SIGMOID = ("custom_sigmoid",)
IMPORTS = "import torch, pytest, pytest_jsonreport.plugin, torch.fx.experimental.symbolic_shapes"


def timed(action: Callable[[], object]) -> float:
    """Return the seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def in_turn(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """Return the median of each measure, in seconds.

    The measures are taken in turn, so that other load on the machine affects all of them.
    """
    found: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, kept in zip(measures, found, strict=True):
            kept.append(measure())
    return [statistics.median(kept) for kept in found]


def command(*words: str, codes: Sequence[int] = (0,)) -> str:
    """Run this interpreter with these arguments; return what it printed.

    Raise SystemExit if the exit code is not in ``codes``: the time would mean nothing.
    """
    done = subprocess.run(
        [sys.executable, *words],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode not in codes:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout[-2000:]}")
    return done.stdout


def measured(script: str, *words: str) -> dict[str, Any]:
    """Run a script of this folder in a separate process; return the JSON in its last line."""
    said = command(str(Path(__file__).with_name(script)), *words)
    found: dict[str, Any] = json.loads(said.splitlines()[-1])
    return found


def command_seconds(*words: str) -> float:
    """Return the seconds that a command line takes, from start to end."""
    return timed(lambda: command(*words))


def plain_pytest_seconds(lessons: Sequence[str], folder: Path) -> float:
    """Return the seconds that plain pytest takes for the checks of these lessons, in one process.

    The submission in ``folder`` is imported there (``--student``).
    """
    chosen = [COURSE.lesson(name) for name in lessons]
    checks = [str(path) for lesson in chosen for path in lesson.check_files]
    options = (
        "-q",
        "-p",
        "no:cacheprovider",
        f"--confcutdir={chosen[0].checks.parent}",
        "--student",
        str(folder),
    )
    return command_seconds("-m", "pytest", *options, *checks)


def write_submission(folder: Path, lessons: Sequence[str], *, number: int = 0) -> Path:
    """Write a right submission into a folder; return the folder.

    Submissions with different numbers differ, so none is reused as graded already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for lesson in map(COURSE.lesson, lessons):
        text = without_markers(lesson.solution.read_text("utf-8"))
        (folder / lesson.filename).write_text(f"{text}\n# submission {number}\n", "utf-8")
    return folder


@contextlib.contextmanager
def submission(lessons: Sequence[str]) -> Iterator[Path]:
    """Write a right submission into a temporary folder; yield the folder."""
    with tempfile.TemporaryDirectory() as folder:
        yield write_submission(Path(folder), lessons)


def batch_seconds(lessons: Sequence[str], count: int, *, workers: int) -> float:
    """Return the seconds that ``grade batch`` takes for a class of ``count``, output included."""
    with tempfile.TemporaryDirectory() as folder:
        place, out = Path(folder) / "class", Path(folder) / "out"
        for number in range(count):
            write_submission(place / f"student{number:04}", lessons, number=number)
        words = (
            "--lessons",
            ",".join(lessons),
            "--workers",
            str(workers),
            "--from",
            "plain",
            "--sandbox",
            "require",
        )
        return command_seconds("-m", "grader", "batch", str(place), "--out", str(out), *words)


def seconds_a_submission(lessons: Sequence[str], *, few: int, many: int, workers: int) -> float:
    """Return the seconds that each further submission adds to a batch.

    This is the difference in time between a large and a small class, divided by the difference in
    size.
    """
    small, large = (batch_seconds(lessons, count, workers=workers) for count in (few, many))
    return (large - small) / (many - few)
