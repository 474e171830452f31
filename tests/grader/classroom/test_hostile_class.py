"""In a class of which half attacks, honest students get the same grades as in an honest class, and
the batch ends within its lessons' limits.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from batch_process import batch_process, log_tail

from grader.course.course import load_course
from grader.course.stubs import compose, without_markers
from grader.worker.sandbox import landlock, seccomp

sys.path.insert(0, str(Path(__file__).parents[2] / "attacks"))

from corpus import COURSE, Stage, all_attacks

pytestmark = pytest.mark.skipif(
    not landlock.abi() or not seccomp.has_tables(),
    reason="the sandbox is Linux's, with Landlock, on x86_64 or aarch64",
)
LESSON = "custom_sigmoid"
QUICK = (
    "crashes",
    "exits_at_import",
    "forks",
    "frames_on_every_descriptor",
    "patched_allclose",
    "writes_many_files",
)
LESSON_SECONDS = 60
KEYS = ("id", "outcome", "points", "message", "diagnosis")


def honest_answers(count: int) -> list[str]:
    """Return right and wrong answers in turn, as many as requested."""
    lesson = load_course(COURSE).lesson(LESSON)
    solution = without_markers(lesson.solution.read_text("utf-8"))
    cells = itertools.chain(*zip(lesson.accepted, lesson.mistakes, strict=False))
    return [compose(solution, cell.source, name=LESSON) for cell in cells if cell.applies()][:count]


def write_honest(place: Path, count: int) -> None:
    for number, answer in enumerate(honest_answers(count)):
        folder = place / f"honest{number:02}"
        folder.mkdir(parents=True)
        (folder / f"{LESSON}.py").write_text(answer, "utf-8")


@pytest.fixture
def stages(tmp_path: Path) -> Iterator[list[Stage]]:
    made: list[Stage] = []
    yield made
    for one in made:
        one.close()


def write_hostile(place: Path, root: Path, names: Sequence[str], stages: list[Stage]) -> None:
    """Write each attack as a submission: a folder, or what ``archive.py`` makes."""
    for attack in all_attacks():
        if attack.name in names:
            stage = Stage(root / attack.name, attack)
            stages.append(stage)
            target = place / f"hostile_{attack.name}"
            if stage.submission.is_dir():
                shutil.copytree(stage.submission, target, symlinks=True)
            else:
                shutil.copy(stage.submission, target.with_suffix(stage.submission.suffix))


def graded(place: Path, out: Path, *, workers: int) -> dict[str, Any]:
    """Return, by submission, the result of a batch, without times."""
    count = len(list(place.iterdir()))
    words = ["--lessons", LESSON, "--seed", "5", "--workers", str(workers), "--sandbox", "require"]
    process = batch_process(place, out, *words)
    assert process.wait(timeout=count * LESSON_SECONDS) in (0, 3), log_tail(out)
    found: dict[str, Any] = {}
    for entry in json.loads((out / "results.json").read_text("utf-8")):
        lessons = entry.get("lessons", [])
        checks = [[check[key] for key in KEYS] for one in lessons for check in one["checks"]]
        found[entry["submission"]] = (entry["gradebook"]["score"], checks)
    return found


@pytest.mark.parametrize(
    "count", [pytest.param(6, id="6"), pytest.param(60, id="60", marks=pytest.mark.proof)]
)
def test_honest_grades_do_not_hang_on_the_neighbours(
    count: int, tmp_path: Path, stages: list[Stage]
) -> None:
    alone, mixed = tmp_path / "alone", tmp_path / "mixed"
    write_honest(alone, count)
    write_honest(mixed, count)
    some = [attack.name for attack in all_attacks()][-count:]
    names = QUICK if count == len(QUICK) else some
    write_hostile(mixed, tmp_path / "stages", names, stages)
    wanted = graded(alone, tmp_path / "alone_out", workers=1)
    found = graded(mixed, tmp_path / "mixed_out", workers=2)
    assert len(wanted) == count
    assert {name: found[name] for name in wanted} == wanted
    assert len({str(one) for one in wanted.values()}) > 1
    most = {attack.name: attack.most for attack in all_attacks()}
    for name, (score, _) in found.items():
        if name.startswith("hostile_"):
            assert (score or 0) <= most[name.removeprefix("hostile_")], name
    assert not [one for one in stages if one.end_processes()]
