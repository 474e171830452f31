"""What the benchmarks compare with, and what they compare: command lines, each a process of its
own, timed as a whole.

Everything runs on the references: a right submission is the longest to judge, for no check is
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

from grader.course.manifest import find_course, load_course
from grader.course.stubs import without_markers

ROOT = find_course()
COURSE = load_course(ROOT)
CORE = ("graph_inspection", "custom_sigmoid", "retain_graph", "second_derivative", "hooks")
SIGMOID = ("custom_sigmoid",)
IMPORTS = "import torch, pytest, pytest_jsonreport.plugin, torch.fx.experimental.symbolic_shapes"


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def in_turn(rounds: int, *measures: Callable[[], float]) -> list[float]:
    """The median of what each measure gives, in seconds; they are taken in turn, so that what else
    the machine does hits all of them.
    """
    found: list[list[float]] = [[] for _ in measures]
    for _ in range(rounds):
        for measure, kept in zip(measures, found, strict=True):
            kept.append(measure())
    return [statistics.median(kept) for kept in found]


def command(*words: str, codes: Sequence[int] = (0,)) -> str:
    """Run a command line of this interpreter and return what it printed; its exit code must be as
    expected, or a time means nothing.
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


def measured(script: str, *words: str) -> dict[str, float]:
    """What a script beside this one measured in a process of its own: its last line, JSON."""
    found: dict[str, float] = json.loads(
        command(str(Path(__file__).with_name(script)), *words).splitlines()[-1]
    )
    return found


def command_seconds(*words: str) -> float:
    """How long a command line takes as a whole."""
    return timed(lambda: command(*words))


def plain_pytest_seconds(lessons: Sequence[str], folder: Path) -> float:
    """How long plain pytest takes, one process, on the checks of these lessons, with a submission's
    files as local students.
    """
    chosen = [COURSE.lesson(name) for name in lessons]
    checks = [
        str(path) for lesson in chosen for path in (*lesson.visible_checks, *lesson.hidden_checks)
    ]
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
    """A right submission; those of different numbers differ, so that none is taken for graded
    already.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for lesson in map(COURSE.lesson, lessons):
        text = without_markers(lesson.solution.read_text("utf-8"))
        (folder / lesson.filename).write_text(f"{text}\n# submission {number}\n", "utf-8")
    return folder


@contextlib.contextmanager
def submission(lessons: Sequence[str]) -> Iterator[Path]:
    """A right submission in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder:
        yield write_submission(Path(folder), lessons)


def batch_seconds(lessons: Sequence[str], count: int, *, workers: int) -> float:
    """How long ``grade batch`` takes for a class of ``count``, everything that it writes
    included.
    """
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
    """What one submission more costs a batch: the difference between a large and a small class,
    over the difference in number.
    """
    small, large = (batch_seconds(lessons, count, workers=workers) for count in (few, many))
    return (large - small) / (many - few)
