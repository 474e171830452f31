"""Measure what a submission costs in a small and in a large class: the seconds for each, and the
supervisor's peak memory in megabytes.

    python tests/benchmarks/scale.py [--sizes 200,2000] [--recorded] [--rendered] [--dask 2]

The submissions are of the engine tests' small course. All texts differ, and a warm host grades one
at a time. Each size runs in a separate process. The script prints one JSON object: the measures of
each size, and the ratio of the last to the first.

With ``--dask`` as many Dask workers on this machine grade, one submission at a time each.

With ``--recorded`` grading is replaced by reading a recorded result, as it comes from a cluster, so
that what is left is the supervisor's own work: pages, rows, commits. With ``--rendered`` the page
comes from the cluster too.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from grader.classroom.batch import Graded, PageOptions, render
from grader.classroom.cluster import ClusterAnswer
from grader.classroom.gradebook.entry import PersonalPart
from grader.course.course import Course, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient

ROOT = Path(__file__).resolve().parents[2]
SMALL_COURSE = ROOT / "tests" / "grader" / "small_course"
DOUBLES = (
    "return 2 * x",
    "return x * x",
    "return 2 *",
    "raise KeyError(x)",
    "return x.detach() * 2",
)
TEXT = "def double(x): {double}\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"


def small_answers() -> tuple[str, list[str]]:
    """Return the lesson of the small course, and five kinds of answers."""
    return "tiny", [TEXT.format(double=double) for double in DOUBLES]


def real_answers() -> tuple[str, list[str]]:
    """Return a lesson of the course, and answers of which most are wrong."""
    lesson = load_course(find_course()).lesson("custom_sigmoid")
    wrong = [cell.source for cell in lesson.mistakes[:9]]
    return lesson.id, [lesson.solution.read_text("utf-8"), *wrong]


def write(place: Path, count: int, lesson: str, answers: list[str]) -> Path:
    """Write a class that repeats these answers; a number in each text makes all texts differ."""
    for number in range(count):
        folder = place / f"student{number:05}"
        folder.mkdir(parents=True)
        text = f"{answers[number % len(answers)]}\n# {number}\n"
        (folder / f"{lesson}.py").write_text(text, "utf-8")
    return place


def recorded(
    course: Course, host: ForkServerClient, lesson: str, answers: list[str], *, rendered: bool
) -> Callable[..., Graded]:
    """Grade each answer once; return a function that repeats the results instead of grading.

    It reads a result from text, as from a cluster, and returns its page too if ``rendered``.
    """
    from grader.core.messages import Settings
    from grader.runtime.grading import grade_submission

    texts = []
    for answer in answers:
        file = LessonFile(lesson, f"{lesson}.py", answer)
        settings = Settings(5, "auto", course.limits)
        report = grade_submission(
            host, course, [course.lesson(lesson)], {lesson: file}, settings, name="recorded"
        )
        page = zlib.compress(render(report, PageOptions(PersonalPart(), reveal=False)), 1)
        answered = ClusterAnswer(report, page if rendered else None)
        texts.append(json.dumps(answered.as_json()))

    def repeat(
        _: object, __: object, ___: object, files: Any, *____: object, name: str, page: object
    ) -> Graded:
        ending = files[lesson].text.rpartition("# ")[2].strip()
        number = int(ending) % len(texts) if ending.isdecimal() else 0  # the reference has none
        graded = ClusterAnswer.from_json(json.loads(texts[number])).graded()
        return replace(graded, report=replace(graded.report, submission=name))

    return repeat


@contextlib.contextmanager
def cluster(count: int) -> Iterator[str]:
    """Start a Dask scheduler and ``count`` workers of one thread; give the scheduler's file."""
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as running:
        file = Path(folder, "scheduler.json")
        options = ["--scheduler-file", str(file), "--no-dashboard"]
        worker = ["worker", "--no-nanny", "--nthreads", "1"]
        for words in (["scheduler", "--port", "0", "--host", "127.0.0.1"], *[worker] * count):
            process = subprocess.Popen(
                [sys.executable, "-W", "ignore", "-m", "dask", *words, *options],
                cwd=folder,
                env={**os.environ, "DASK_DISTRIBUTED__LOGGING__DISTRIBUTED": "error"},
            )
            running.enter_context(process)
            running.callback(process.kill)
        while not file.exists():
            time.sleep(0.1)
        yield str(file)


def grade(
    count: int, *, repeated: bool, rendered: bool = False, scheduler: str | None = None
) -> dict[str, float]:
    """Grade a class of ``count``; return seconds each and this process's peak megabytes.

    With ``repeated``, results are recorded once and repeated. With a ``scheduler``, the workers of
    a cluster grade.
    """
    from grader.cli import batch
    from grader.cli.batch import BatchOptions, grade_class

    class Kept(ForkServerClient):
        """A host that stays warm after the batch."""

        def close(self) -> None:
            """Do nothing."""

    course, host = load_course(find_course() if repeated else SMALL_COURSE), Kept()
    lesson, answers = real_answers() if repeated else small_answers()
    if repeated:
        vars(batch)["grade_here"] = recorded(course, host, lesson, answers, rendered=rendered)
    with tempfile.TemporaryDirectory() as folder:
        warm = 8 if scheduler else 1  # each worker of a cluster grades some of them
        for place, size in ((Path(folder) / "warm", warm), (Path(folder) / "class", count)):
            write(place, size, lesson, answers)
            began = time.perf_counter()
            grade_class(
                course,
                BatchOptions(
                    place,
                    place.with_suffix(".out"),
                    lessons=(lesson,),
                    workers=0 if scheduler else 8 if repeated else 1,
                    scheduler=scheduler,
                    seed=5,
                    sandbox="auto",
                    lang="en",
                ),
                make_host=lambda: host,
            )
            took = time.perf_counter() - began
    ForkServerClient.close(host)
    status = Path("/proc/self/status").read_text()
    peak = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert peak, "this system does not say how much memory a process held"
    return {"seconds_each": round(took / count, 5), "peak_megabytes": round(int(peak[1]) / 1024, 1)}


def main() -> None:
    """Measure each size in a separate process, and print the results."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("--sizes", default="200,2000")
    options.add_argument("--only", type=int, help=argparse.SUPPRESS)
    options.add_argument("--recorded", action="store_true")
    options.add_argument("--rendered", action="store_true")
    options.add_argument("--dask", type=int, default=0)
    asked = options.parse_args()
    if asked.only:
        shown = {"repeated": asked.recorded, "rendered": asked.rendered}
        with cluster(asked.dask) if asked.dask else contextlib.nullcontext() as scheduler:
            found = grade(asked.only, scheduler=scheduler, **shown)
        print(json.dumps(found))
        return
    how = ["--recorded"] * asked.recorded + ["--rendered"] * asked.rendered
    how += ["--dask", str(asked.dask)] if asked.dask else []
    sizes: dict[str, Any] = {}
    for size in asked.sizes.split(","):
        done = subprocess.run(
            [sys.executable, __file__, "--only", size, *how],
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
        sizes[size] = json.loads(done.stdout.splitlines()[-1])
    first, *_, last = sizes.values()
    sizes["ratio"] = {name: round(last[name] / first[name], 3) for name in first}
    print(json.dumps(sizes))


if __name__ == "__main__":
    main()
