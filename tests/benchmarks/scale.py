"""What a submission costs in a small class and in a large one: seconds each, and the most memory
that the supervisor held, in megabytes.

    python tests/benchmarks/scale.py [--sizes 200,2000]

Grades the small course of the engine's tests, every text another one, one at a time, by a host that
is warm already. Each size has a process of its own. Prints one JSON object: what each size took,
and the last one in relation to the first.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
SMALL_COURSE = ROOT / "tests" / "grader" / "small_course"
DOUBLES = (
    "return 2 * x",
    "return x * x",
    "return 2 *",
    "raise KeyError(x)",
    "return x.detach() * 2",
)
TEXT = "# {number}\ndef double(x): {double}\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"


def write(place: Path, count: int) -> Path:
    """A class in which each answer is one of five kinds."""
    for number in range(count):
        folder = place / f"student{number:05}"
        folder.mkdir(parents=True)
        (folder / "tiny.py").write_text(
            TEXT.format(number=number, double=DOUBLES[number % len(DOUBLES)])
        )
    return place


def grade(count: int) -> dict[str, float]:
    """Grade a class of that size in this process."""
    from grader.cli.commands.batch import BatchOptions, grade_class
    from grader.course.manifest import load_course
    from grader.runtime.client import ForkServerClient

    class Kept(ForkServerClient):
        """A host that stays warm when the batch is done with it."""

        def close(self) -> None:
            """Go on."""

    course, host = load_course(SMALL_COURSE), Kept()
    with tempfile.TemporaryDirectory() as folder:
        for place, size in ((Path(folder) / "warm", 1), (Path(folder) / "class", count)):
            write(place, size)
            began = time.perf_counter()
            grade_class(
                course,
                BatchOptions(place, place.with_suffix(".out"), seed=5, sandbox="auto", lang="en"),
                make_host=lambda: host,
            )
            took = time.perf_counter() - began
    ForkServerClient.close(host)
    status = Path("/proc/self/status").read_text()
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert peak, "this system does not say how much memory a process held"
    return {"seconds_each": round(took / count, 5), "peak_megabytes": round(int(peak[1]) / 1024, 1)}


def main() -> None:
    """Measure each size in a process of its own, print."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--sizes", default="200,2000")
    options.add_argument("--only", type=int, help=argparse.SUPPRESS)
    asked = options.parse_args()
    if asked.only:
        print(json.dumps(grade(asked.only)))
        return
    found: dict[str, Any] = {}
    for size in asked.sizes.split(","):
        done = subprocess.run(
            [sys.executable, __file__, "--only", size],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        found[size] = json.loads(done.stdout.splitlines()[-1])
    first, *_, last = found.values()
    found["ratio"] = {name: round(last[name] / first[name], 3) for name in first}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
