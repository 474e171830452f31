"""Measure the memory of a command and of all processes below it, at most at any time.

    python tests/benchmarks/memory.py [--lessons LESSON,LESSON] [--workers N] [--count N]

Prints one JSON object. ``grade`` is one right submission of the lessons, all by default; ``batch``
is a class of ``--count`` submissions graded by ``--workers``; ``imports`` is a Python that has
imported what both need. Each has megabytes, processes, seconds of all processors, and megabytes
relative to ``imports``.

Memory is the sum of proportional set sizes (proc_pid_smaps(5)), read every 0.2 s: a page that
several processes share counts once. This needs Linux, and root, because the processes are hidden.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from baselines import COURSE, IMPORTS, ROOT, write_submission

EVERY_SECONDS = 0.2


def below(pid: int) -> list[int]:
    """Return a process and everything that it started and that is alive."""
    found = [pid]
    for one in found:
        for task in Path(f"/proc/{one}/task").glob("*/children"):
            try:
                found += map(int, task.read_text("utf-8").split())
            except OSError:
                continue
    return found


def shared_out_kb(pid: int) -> int:
    try:
        text = Path(f"/proc/{pid}/smaps_rollup").read_text("utf-8")
    except OSError:  # it has ended
        return 0
    return next((int(line.split()[1]) for line in text.splitlines() if line[:4] == "Pss:"), 0)


def most(words: Sequence[str]) -> dict[str, float]:
    """Run this interpreter; return the most memory, the most processes, and the processor time."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(
        [sys.executable, *words], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    memory = processes = 0
    while process.poll() is None:
        pids = below(process.pid)
        memory = max(memory, sum(map(shared_out_kb, pids)))
        processes = max(processes, len(pids))
        time.sleep(EVERY_SECONDS)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {
        "megabytes": round(memory / 1024),
        "processes": processes,
        "processor_seconds": round(used, 2),
    }


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("--lessons", default=",".join(lesson.id for lesson in COURSE.lessons))
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--count", type=int, default=4)
    arguments = options.parse_args()
    if os.geteuid():
        raise SystemExit("only root can read the memory of hidden processes")
    lessons = arguments.lessons.split(",")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        one = write_submission(folder / "one", lessons)
        for number in range(arguments.count):
            write_submission(folder / "class" / f"student{number:04}", lessons, number=number)
        grade = ["-m", "grader", "run", "--in", str(one), "--no-html"]
        batch = ["-m", "grader", "batch", str(folder / "class"), "--out", str(folder / "out")]
        batch += ["--lessons", arguments.lessons, "--from", "plain"]
        batch += ["--workers", str(arguments.workers)]
        found = {
            "imports": most(["-c", f"{IMPORTS}; import time; time.sleep(0.5)"]),
            "grade": most(grade),
            "batch": most(batch),
        }
    for one_of in found.values():
        one_of["relative"] = round(one_of["megabytes"] / found["imports"]["megabytes"], 2)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
