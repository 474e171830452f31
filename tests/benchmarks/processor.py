"""Measure the processor time of a right submission in supervisor, fork server, judge and worker,
and the worker's page faults.

    python tests/benchmarks/processor.py LESSON,LESSON [--rounds N] [--planned]

A fork server grades submissions that differ, one after another, once everything is warm. Prints a
row for each lesson: milliseconds of a submission, and how many of them the kernel takes. The last
line is a JSON object: each lesson's milliseconds by process. Times and faults are those of Linux's
``/proc/PID/stat``, which counts in hundredths of a second, so take many rounds.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path

from lessons import COURSE, SETTINGS

from grader.course.stubs import without_markers
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson

PROCESSES = ("supervisor", "fork server", "judge", "worker")
MILLISECONDS = 1000 / os.sysconf("SC_CLK_TCK")
Times = tuple[float, float, int]
"""Milliseconds of user code, and of the kernel; page faults without reading from disk."""


def times_of(pid: int) -> tuple[int, Times, Times]:
    """Return a process's parent, its times, and those of its children that have ended."""
    fields = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    user, kernel, of_ended, kernel_of_ended = (int(one) * MILLISECONDS for one in fields[11:15])
    faults, faults_of_ended = int(fields[7]), int(fields[8])
    return int(fields[1]), (user, kernel, faults), (of_ended, kernel_of_ended, faults_of_ended)


def by_process() -> dict[str, Times]:
    """Return the times of this process and of everything below it.

    The torch process forks the fork server; workers are its children, judges its
    great-grandchildren.
    """
    found = {}
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdigit():
            try:
                found[int(entry)] = times_of(int(entry))
            except OSError:
                continue  # it has ended
    sums: dict[str, Times] = defaultdict(lambda: (0.0, 0.0, 0))

    def add(name: str, times: Times) -> None:
        user, kernel, faults = sums[name]
        sums[name] = (user + times[0], kernel + times[1], faults + times[2])

    def children(pids: list[int]) -> list[int]:
        return [pid for pid, (parent, _, _) in found.items() if parent in pids]

    add("supervisor", found[os.getpid()][1])
    servers = children(children([os.getpid()]))
    for server in servers:
        add("fork server", found[server][1])
        add("worker", found[server][2])
    for judge in children(children(children(servers))):
        add("judge", found[judge][1])
    return sums


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("lessons")
    options.add_argument("--rounds", type=int, default=60)
    options.add_argument("--planned", action="store_true", help="ask ahead, as in a batch")
    arguments = options.parse_args()
    settings = replace(SETTINGS, planned=arguments.planned)
    print(
        f"{'ms of a submission':20}{'wall':>8}",
        *(f"{name:>16}" for name in (*PROCESSES, "its faults")),
    )
    found: dict[str, dict[str, float]] = {}
    for name in arguments.lessons.split(","):
        lesson = COURSE.lesson(name)
        source = without_markers(lesson.solution.read_text("utf-8"))
        with ForkServerClient() as client:
            for number in range(arguments.rounds + 5):
                if number == 5:
                    before, began = by_process(), time.perf_counter()
                text = f"{source}\n# submission {number}\n"
                grade_lesson(client, lesson, LessonFile(name, lesson.filename, text), settings)
            wall, after = time.perf_counter() - began, by_process()
        columns, found[name] = [], {}
        for process in PROCESSES:
            user, kernel, faults = (
                (late - early) / arguments.rounds
                for late, early in zip(after[process], before[process], strict=True)
            )
            columns.append(f"{user + kernel:6.1f} ({kernel:4.1f})")
            found[name][process] = round(user + kernel, 1)
        columns.append(f"{faults:.0f}")
        print(f"{name:20}{1000 * wall / arguments.rounds:8.1f}", *(f"{one:>16}" for one in columns))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
