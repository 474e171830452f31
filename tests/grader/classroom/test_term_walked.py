"""Walk a term: a class of 40, five assignments from five systems, late work, an extension, several
attempts, files that were swapped or misnamed, a run that is stopped at any moment. After each step
every mark is what it must be, its parts add up, and every change was announced.
"""

from __future__ import annotations

import contextlib
import random
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from factories.downloads import LAYOUTS

from grader.classroom.batch import Batch
from grader.classroom.gradebook.entry import GradebookEntry, total_points
from grader.classroom.gradebook.store import Gradebook
from grader.cli import cli
from grader.cli.batch import BatchOptions, grade_class
from grader.course.course import Course
from grader.runtime.pool import HostPool

from .test_term import NoHost, points, recorded

PEOPLE = [f"Student {number:02}" for number in range(1, 41)]
METADATA = "submission_metadata.yml"
SYSTEMS = ["moodle", "canvas", "gradescope", "github", "plain"]


@dataclass
class Walk:
    """A term, and what its marks must be: points by assignment and person."""

    folder: Path
    course: Course
    rng: random.Random
    expected: dict[str, dict[str, float | None]] = field(default_factory=dict)
    announced: str = ""

    @property
    def out(self) -> Path:
        return self.folder / "term"

    def download(self, layout: str, files: Mapping[str, str], name: str) -> Path:
        """Write a download: each person's file; a person's place in the class is their id."""
        whole = {one: {"tiny.py": files[one]} for one in PEOPLE if one in files}
        folder = self.folder / name
        folder.mkdir()
        place, paths = LAYOUTS[layout](folder, whole)  # type: ignore[arg-type]
        metadata = paths.get(METADATA)
        if isinstance(metadata, str):  # with the ids and times of these people
            for one, day in zip(whole, re.findall(r"sid: .*\n", metadata), strict=True):
                metadata = metadata.replace(day, f"sid: s{one[-2:]}\n")
            metadata = re.sub(r"    :email: .*\n", "", metadata)
            paths[METADATA] = metadata
        for path, data in paths.items():
            target = place / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data.encode() if isinstance(data, str) else data)
        return place

    def grade(self, place: Path, assignment: str, **options: Any) -> None:
        """Grade; the run is stopped once in the middle and continued."""
        values = {"place": place, "out": self.out, "sandbox": "off", "lang": "en", **options}
        wanted = BatchOptions(assignment=assignment, **values)
        with pytest.MonkeyPatch.context() as patch:
            stop_after(patch, self.rng.randint(0, 30))
            with contextlib.suppress(KeyboardInterrupt):
                grade_class(self.course, wanted, make_host=NoHost)  # type: ignore[arg-type]
        grade_class(self.course, wanted, make_host=NoHost)  # type: ignore[arg-type]

    def run(self, *words: object) -> str:
        done = CliRunner().invoke(cli, [str(word) for word in words], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        return done.output

    def check(self, capsys: pytest.CaptureFixture[str]) -> None:
        """Every mark is what it must be; nobody appears twice; each change was announced."""
        self.announced += capsys.readouterr().out
        for assignment, expected in self.expected.items():
            with Gradebook.open(self.out / assignment) as book:
                entries = {label: entry for entry in book.entries() for label in labels(entry)}
                assert len(entries) == sum(len(labels(entry)) for entry in book.entries())
                found = {name: total_points(entry) for name, entry in entries.items()}
                assert found == expected, assignment
                for entry in entries.values():
                    adds_up(entry)


def labels(entry: GradebookEntry) -> list[str]:
    return [one.name for one in entry.students]


def adds_up(entry: GradebookEntry) -> None:
    """A mark is what the checks earned, less lateness, with adjustments."""
    if entry.report is None:
        return
    earned = sum(check.points for lesson in entry.lessons for check in lesson.checks)
    assert earned == entry.earned
    parts = earned - entry.penalty + sum(one.points for one in entry.adjustments)
    assert entry.score == max(0.0, round(parts, 4))


def stop_after(patch: pytest.MonkeyPatch, count: int) -> None:
    """Stop a run, as Ctrl-C does, once so many submissions are stored."""
    keep: Callable[..., None] = Batch._keep
    kept = []

    def keep_and_stop(self: Batch, done: Any) -> None:
        keep(self, done)
        kept.append(done)
        if len(kept) == count:
            hosts: HostPool[Any] = self.hosts
            hosts.finishing.set()

    patch.setattr(Batch, "_keep", keep_and_stop)


@pytest.fixture
def walk(tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch) -> Walk:
    monkeypatch.setattr("grader.runtime.grading.grade_and_repair", recorded)
    monkeypatch.setattr("grader.classroom.batch.GROUP", 1)
    return Walk(tmp_path, small_course, random.Random(40))


def answers(walk: Walk, who: list[str], note: str = "") -> dict[str, float]:
    return {one: float(walk.rng.randint(0, 10)) for one in who}


def texts(marks: Mapping[str, float], note: str) -> dict[str, str]:
    return {one: points(earned, f"{one} {note}") for one, earned in marks.items()}


def test_a_term_of_five_weeks_in_five_systems(
    walk: Walk, capsys: pytest.CaptureFixture[str]
) -> None:
    roster = walk.folder / "roster.csv"
    people = [f"{one},s{one[-2:]},s{one[-2:]}@x.edu" for one in PEOPLE]
    for week, layout in enumerate(SYSTEMS, 1):
        assignment = f"Week {week}"
        absent = walk.rng.sample(PEOPLE, 3)
        marks = answers(walk, [one for one in PEOPLE if one not in absent])
        late = walk.rng.sample(sorted(marks), 4)
        lines = ["name,sid,email,submitted_at,due"]
        for one, line in zip(PEOPLE, people, strict=True):
            day = 3 if one in late else 1
            extension = "+5d" if one == late[0] else ""
            lines.append(f"{line},2026-03-{day:02}T09:00Z,{extension}")
        roster.write_text("\n".join(lines) + "\n", "utf-8")
        place = walk.download(layout, texts(marks, assignment), f"{assignment} {layout}")
        rule = {"due": "2026-03-02T09:00Z", "late": "10%/day"}
        walk.grade(place, assignment, roster=roster, **rule)
        lost = late[1:] if layout != "gradescope" else []  # it has times of its own: all in time
        walk.expected[assignment] = {
            one: None if one in absent else round(marks[one] * (0.9 if one in lost else 1.0), 4)
            for one in PEOPLE
        }
        walk.check(capsys)
        deeds(walk, assignment, capsys)


def deeds(walk: Walk, assignment: str, capsys: pytest.CaptureFixture[str]) -> None:
    """What a week brings: an adjustment, one that is undone, two swapped files."""
    out, expected = walk.out / assignment, walk.expected[assignment]
    given = [one for one in PEOPLE if expected[one] is not None]
    one, other, third = walk.rng.sample(given, 3)
    walk.run("adjust", out, one, "--points", "+1", "--reason", "on paper")
    expected[one] = round((expected[one] or 0.0) + 1, 4)
    walk.check(capsys)
    walk.run("adjust", out, other, "--points", "-1", "--reason", "a slip")
    walk.run("adjust", out, other, "--undo")
    walk.check(capsys)
    with Gradebook.open(out) as book:
        before = {name: book.entry_of(name) for name in (other, third)}
    walk.run("swap", out, other, third)
    for name, owner in ((other, third), (third, other)):
        with Gradebook.open(out) as book:
            entry = book.entry_of(name)
        assert entry.earned == before[owner].earned
        expected[name] = entry.score
    walk.check(capsys)
    said = walk.run("changes", out, "--since", "2000-01-01T00:00Z", "--to", "csv")
    assert one in said
    assert "counts" in walk.run("show", walk.out, one, assignment)
