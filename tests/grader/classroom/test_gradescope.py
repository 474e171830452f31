"""The autograder zip: its contents, and that its own scripts grade in a container's layout,
whatever happens.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from grader.classroom.publish.autograders import gradescope_zip
from grader.classroom.publish.engine_files import AUTOGRADER_SECONDS
from grader.classroom.publish.gradescope_main import MEMORY_BYTES, grade, limits_for
from grader.core.errors import UsageError
from grader.core.files import torch_version
from grader.core.limits import MIB, Limits
from grader.course.course import Course, HeldBack, find_course, load_course

pytestmark = [pytest.mark.fork, pytest.mark.usefixtures("lent_host")]

CONTAINER_BYTES = 768 * MIB
LOOK_SECONDS = 0.1
RIGHT = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
GUARANTEES = "Your code ran in a sandbox, which limits its use of: "


def zip_of(course: Course, target: Path) -> Path:
    gradescope_zip(course, course.lessons, target, hidden_checks="visible", lang="en")
    return target


@pytest.fixture(scope="module")
def autograder_zip(small_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the zip of the small course."""
    return zip_of(small_course, tmp_path_factory.mktemp("zip") / "autograder.zip")


@pytest.fixture
def container(autograder_zip: Path, tmp_path: Path) -> Path:
    """Return the small course's zip, unpacked as in Gradescope."""
    return unpacked(autograder_zip, tmp_path / "autograder")


def unpacked(autograder_zip: Path, root: Path) -> Path:
    """Return a folder laid out like /autograder, with an empty submission and this environment."""
    with zipfile.ZipFile(autograder_zip) as archive:
        archive.extractall(root / "source")
    (root / "submission").mkdir()
    write_script(root / "venv" / "bin" / "python", f'exec {sys.executable} "$@"')
    shutil.copy(root / "source" / "run_autograder", root / "run_autograder")
    return root


def write_script(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)


def run(root: Path, look: Callable[[int], None] = lambda pid: None) -> dict[str, Any]:
    """Run the container's script as Gradescope does, and ``look`` at the process until it ends;
    return the results.
    """
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    with subprocess.Popen(
        ["bash", str(root / "run_autograder")],
        cwd=root,
        env={**kept, "AUTOGRADER_ROOT": str(root)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        while process.returncode is None:
            look(process.pid)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(LOOK_SECONDS)
    assert process.returncode == 0
    found: dict[str, Any] = json.loads((root / "results" / "results.json").read_text("utf-8"))
    return found


def has_score(found: dict[str, Any]) -> bool:
    """Return whether there is a score anywhere."""
    return "score" in found or any("score" in test for test in found.get("tests", ()))


# ------------------------------------------------------------------------------------------ the zip


def test_the_zip_has_both_scripts_at_its_root_and_they_can_be_run(autograder_zip: Path) -> None:
    with zipfile.ZipFile(autograder_zip) as archive:
        for name in ("setup.sh", "run_autograder"):
            assert archive.getinfo(name).external_attr >> 16 & 0o111
            assert archive.read(name).startswith(b"#!/usr/bin/env bash\n")


def test_the_zip_has_engine_and_course_and_nothing_that_only_proves_it(
    autograder_zip: Path,
) -> None:
    with zipfile.ZipFile(autograder_zip) as archive:
        names = set(archive.namelist())
    assert {
        "engine/grader/runtime/fork_server.py",
        "engine/grader/judge/common_mistakes.toml",
        "engine/grader/_templates/report.html",
        "engine/requirements.txt",
    } <= names
    assert {name for name in names if "tiny" in name} == {
        "course/exercises/tiny/hints.toml",
        "course/solutions/tiny.py",
        "course/tests/checks/tiny/diagnosis.toml",
        *(
            f"course/tests/checks/tiny/{name}.py"
            for name in ("test_visible", "test_hidden", "scenarios", "diagnosis")
        ),
    }


def test_the_setup_installs_torch_without_cuda_before_the_rest(autograder_zip: Path) -> None:
    text = zipfile.ZipFile(autograder_zip).read("setup.sh").decode()
    torch = f"torch=={torch_version().partition('+')[0]}"
    line = f"{torch} --index-url https://download.pytorch.org/whl/cpu"
    assert text.index(line) < text.index("requirements.txt")


@pytest.mark.parametrize(("old", "python"), [(False, "python3"), (True, "python3.11")])
def test_the_setup_runs_with_a_python_that_is_new_enough(
    old: bool, python: str, autograder_zip: Path, tmp_path: Path
) -> None:
    """All of setup.sh runs; apt-get, Python and pip are replaced by scripts that record their
    arguments.
    """
    asked, root = tmp_path / "asked", tmp_path / "autograder"
    pip = f'printf "#!/bin/sh\\necho pip \\$* >> {asked}\\n" > $3/bin/pip && chmod +x $3/bin/pip'
    scripts = {
        "apt-get": f"echo apt-get $* >> {asked}",
        "python3": f'[ "$1" = -c ] && exit {int(old)}; mkdir -p $3/bin && {pip}',
        "python3.11": f"mkdir -p $3/bin && {pip}",
    }
    for name, script in scripts.items():
        write_script(tmp_path / "bin" / name, script)
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "AUTOGRADER_ROOT": str(root)}
    with zipfile.ZipFile(autograder_zip) as archive:
        command = ["bash", archive.extract("setup.sh", tmp_path)]
    subprocess.run(command, env=environment, check=True, capture_output=True)
    lines = asked.read_text().splitlines()
    assert lines[:2] == [
        "apt-get update",
        f"apt-get install -y --no-install-recommends {python} {python}-venv",
    ]
    assert [line.split()[-1] for line in lines[2:]] == [
        "https://download.pytorch.org/whl/cpu", f"{root}/source/engine/requirements.txt",
    ]  # fmt: skip


def test_the_same_course_makes_the_same_bytes(
    small_course: Course, autograder_zip: Path, tmp_path: Path
) -> None:
    again = zip_of(small_course, tmp_path / "again.zip")
    assert again.read_bytes() == autograder_zip.read_bytes()


def test_a_zip_that_can_not_be_written_names_the_remedy(
    small_course: Course, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="Choose another place"):
        zip_of(small_course, tmp_path / "file" / "x.zip")


def test_a_students_bundle_makes_no_autograder(small_course: Course, tmp_path: Path) -> None:
    held = [replace(lesson, held=HeldBack(1, 1.0)) for lesson in small_course.lessons]
    with pytest.raises(UsageError, match="is a folder that grade release made"):
        gradescope_zip(small_course, held, tmp_path / "x.zip", hidden_checks="visible", lang="en")


# --------------------------------------------------------------------------------- in the container


def test_a_submission_is_graded_and_told_what_confined_it(container: Path) -> None:
    (container / "submission" / "tiny.py").write_text(RIGHT.replace("3 * x", "4 * x"), "utf-8")
    found = run(container)
    assert found["score"] == 7.0
    assert GUARANTEES in found["output"]
    assert set(found["extra_data"]["sandbox"]) == {"mode", "guarantees", "missing"}
    assert {test["visibility"] for test in found["tests"]} == {"visible"}
    assert [test["status"] for test in found["tests"]].count("failed") == 2
    assert sorted(path.name for path in (container / "results").iterdir()) == ["results.json"]


def test_an_empty_submission_is_a_zero_that_says_what_is_missing(container: Path) -> None:
    found = grade(container)
    assert found["score"] == 0.0
    assert [test["output"] for test in found["tests"]] == ["there is no tiny.py"]


def test_a_fault_of_ours_in_a_check_gives_no_score(container: Path) -> None:
    checks = container / "source" / "course" / "tests" / "checks" / "tiny" / "test_hidden.py"
    with checks.open("a", encoding="utf-8") as stream:
        stream.write("@check(points=1, about='LIMIT')\ndef test_ours(student): 'ours'; 1 / 0\n")
    (container / "submission" / "tiny.py").write_text(RIGHT, "utf-8")
    found = grade(container)
    assert not has_score(found)
    assert "because of the grader's own fault" in found["output"]


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("source/course/exercises/course.toml", "broken [", "The grader itself failed, so"),
        ("source/engine/grader/__init__.py", "raise SystemExit(9)", "The grader itself failed, or"),
        ("venv/bin/python", "#!/bin/sh\nkill -9 $$\n", "The grader itself failed, or"),
    ],
    ids=["no course", "no engine", "no Python"],
)
def test_a_grader_that_breaks_says_so_and_gives_no_score(
    path: str, text: str, said: str, container: Path
) -> None:
    """Python itself says so if it runs, else the script does."""
    (container / path).write_text(text)
    (container / "results").mkdir()
    (container / "results" / "results.json").write_text('{"score": 100}')
    found = run(container)
    assert not has_score(found)
    assert "not your score" in found["output"]
    assert found["output"].startswith(said)


def test_lessons_share_the_containers_time_and_memory(small_course: Course) -> None:
    course = replace(small_course, limits=Limits())
    assert limits_for(course, 14).lesson_seconds * 14 < AUTOGRADER_SECONDS
    assert limits_for(course, 1).lesson_seconds == Limits().lesson_seconds
    assert limits_for(course, 14, MEMORY_BYTES).memory_bytes == MEMORY_BYTES
    tight = replace(small_course, limits=replace(Limits(), memory_bytes=64 * MIB, call_seconds=1.0))
    cut = limits_for(tight, 14, MEMORY_BYTES)
    assert (cut.memory_bytes, cut.call_seconds) == (64 * MIB, 1.0)


# --------------------------------------------------------------------------------- the whole course


def resident_bytes(root: int) -> int:
    """Return the memory of a process and its descendants, with shared pages counted once (PSS)."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it has ended meanwhile
            state = (entry / "stat").read_text().rpartition(")")[2]
            parents[int(entry.name)] = int(state.split()[1])
    ours, before = {root}, 0
    while len(ours) > before:
        before = len(ours)
        ours |= {pid for pid, parent in parents.items() if parent in ours}
    total = 0
    for pid in ours:
        with contextlib.suppress(OSError):
            rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
            (kilobytes,) = re.findall(r"^Pss: +(\d+)", rollup, re.MULTILINE)
            total += int(kilobytes) * 1024
    return total


@pytest.mark.proof
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is looked up in /proc")
def test_every_reference_has_full_marks_in_the_containers_memory(tmp_path: Path) -> None:
    """All lessons are one submission, graded by the zip's own script; memory is measured."""
    course = load_course(find_course())
    root = unpacked(zip_of(course, tmp_path / "autograder.zip"), tmp_path / "autograder")
    for lesson in course.lessons:
        shutil.copy(lesson.solution, root / "submission")
    sizes: list[int] = []
    found = run(root, lambda pid: sizes.append(resident_bytes(pid)))
    assert found["score"] == 10 * len(course.lessons)
    assert 100 * MIB < max(sizes) < CONTAINER_BYTES
