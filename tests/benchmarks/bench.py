"""How fast it is, as ratios against baselines that run in turn with it: ``make bench``.

    python tests/benchmarks/bench.py [--rounds N] [--json FILE]

Baselines: an interpreter that only imports what the judge needs, and plain pytest, one process, on the same checks with the same
file as a local ``student``. Medians of all rounds; the machine's noise hits both sides of a ratio alike.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from grader.course import find_course, load_course
from grader.grading import Settings, grade_lesson
from grader.host import Host
from grader.model import LessonStatus
from grader.stubs import without_markers
from grader.submission import LessonFile

ROOT = find_course()
LESSON = "custom_sigmoid"
IMPORTS = "import torch, pytest, pytest_jsonreport.plugin, torch.fx.experimental.symbolic_shapes"


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison: what is measured, against what, the medians in seconds, and the bound that the ratio should keep."""

    what: str
    against: str
    seconds: float
    baseline_seconds: float
    bound: str
    inverse: bool = False

    @property
    def ratio(self) -> float:
        """Subject over baseline; the other way round where more is better."""
        return self.baseline_seconds / self.seconds if self.inverse else self.seconds / self.baseline_seconds


def worker_rows(rounds: int) -> list[Row]:
    """What the sandbox costs a worker, from the fork to its first word (``workers.py``, in a process of its own)."""
    script = Path(__file__).with_name("workers.py")
    done = subprocess.run([sys.executable, str(script), "--rounds", str(8 * rounds)], cwd=ROOT, capture_output=True, text=True, check=True)
    times = {kind: value / 1000 for kind, value in json.loads(done.stdout).items()}
    return [Row("a worker, confined", "a worker, not confined", times["all"], times["off"], "at most 0.010 s more")]


def timed(action: Callable[[], object]) -> float:
    """Seconds that an action takes."""
    began = time.perf_counter()
    action()
    return time.perf_counter() - began


def in_turn(rounds: int, *actions: Callable[[], object]) -> list[float]:
    """The median time of each action; they run in turn, once to warm up and then ``rounds`` times."""
    times: list[list[float]] = [[] for _ in actions]
    for number in range(rounds + 1):
        for action, kept in zip(actions, times, strict=True):
            seconds = timed(action)
            if number:
                kept.append(seconds)
    return [statistics.median(kept) for kept in times]


def command(*words: str, codes: tuple[int, ...] = (0,)) -> Callable[[], None]:
    """Run a command line of this interpreter; its exit code must be as expected, or the time means nothing."""

    def run() -> None:
        done = subprocess.run([sys.executable, *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        if done.returncode not in codes:
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout.decode(errors='replace')[-2000:]}")

    return run


def measure(rounds: int) -> list[Row]:
    """All rows."""
    course = load_course(ROOT)
    lesson = course.lesson(LESSON)
    solution = without_markers(lesson.solution.read_text("utf-8"))
    rows = []
    with tempfile.TemporaryDirectory() as folder, Host() as host:
        file = Path(folder) / lesson.filename
        file.write_text(solution, "utf-8")
        checks = [str(path) for path in (*lesson.visible_checks, *lesson.hidden_checks)]
        plain = command(
            "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--confcutdir={lesson.checks.parent}", *checks, "--student", str(file)
        )
        cold = command("-m", "grader", "run", LESSON, "--in", folder, "--no-html")

        def warm() -> None:
            judged = grade_lesson(host, lesson, LessonFile(lesson.id, lesson.filename, solution), Settings(1, limits=course.limits))
            assert judged.result.status is LessonStatus.PASSED, judged.result

        imports, plainly, coldly, warmly = in_turn(rounds, command("-c", IMPORTS), plain, cold, warm)
        rows.append(Row(f"grade {LESSON}, cold", "importing torch and pytest", coldly, imports, "at most 1.25"))
        rows.append(Row(f"grade {LESSON}, cold", "plain pytest, same checks", coldly, plainly, "at most 1"))
        rows.append(
            Row("one lesson in a warm host", "plain pytest, same checks", warmly, plainly, "at least 15 times faster", inverse=True)
        )
        bare, helped = in_turn(rounds, command("-c", "import click"), command("-m", "grader", "--help"))
        rows.append(Row("grade --help", "python -c 'import click'", helped, bare, "under 0.3 s"))
    return rows + worker_rows(rounds)


def main() -> None:
    """Measure, print the table, write JSON where asked."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--json", type=Path)
    arguments = options.parse_args()
    rows = measure(arguments.rounds)
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}, torch {version('torch')}"
    table = Table(title=f"medians of {arguments.rounds}; {machine}", title_justify="left")
    for heading in ("what", "against", "seconds", "baseline", "ratio", "should be"):
        table.add_column(heading, justify="right" if heading in ("seconds", "baseline", "ratio") else "left")
    for row in rows:
        table.add_row(row.what, row.against, f"{row.seconds:.3f}", f"{row.baseline_seconds:.3f}", f"{row.ratio:.2f}", row.bound)
    Console().print(table)
    if arguments.json:
        data = [
            {"what": r.what, "against": r.against, "seconds": r.seconds, "baseline": r.baseline_seconds, "ratio": r.ratio} for r in rows
        ]
        arguments.json.write_text(json.dumps({"machine": machine, "rounds": arguments.rounds, "rows": data}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
