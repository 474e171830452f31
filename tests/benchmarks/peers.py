"""What other graders take for one submission, each installed in an environment of its own.

All of them grade one right custom Sigmoid with the same three checks (its value, the incoming
gradient, gradcheck), written as each of them wants its checks; ``peers/`` holds those. A command
grades one submission, as its users type it, and is timed as a whole. Before that it has to give
three points to the right Sigmoid and fewer to one that ignores the incoming gradient.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from subprocess import PIPE, STDOUT
from tempfile import TemporaryDirectory
from xml.etree import ElementTree

from baselines import COURSE, SIGMOID, in_turn, timed

from grader.course.stubs import compose, without_markers

HERE = Path(__file__).with_name("peers")
POINTS = 3
CELLS = (HERE / "nbgrader" / "cells.py").read_text("utf-8")


class Unavailable(Exception):
    """Why there is no time of a peer."""


@dataclass(frozen=True, slots=True)
class Peer:
    """One grader: how to get it, how to hand it a submission, what to type, and where the points
    are then.

    ``lay(folder, text)`` puts the submission and the checks into a folder; ``words`` is the
    command, run there; ``points(folder)`` reads what it gave. ``before`` is run once after the
    first ``lay``, as an instructor would before a class is graded.
    """

    name: str
    requirements: tuple[str, ...]
    lay: Callable[[Path, str], None]
    words: tuple[str, ...]
    points: Callable[[Path], float]
    before: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        """What was typed, and which version answered."""
        typed = (
            " ".join(self.words[:2]).replace(" --dev", "") if self.requirements else "plain pytest"
        )
        number = self.requirements[0].partition("==")[2] if self.requirements else version("pytest")
        return f"{typed} {number}, three checks"


# -------------------------------------------------------------------------- what each wants to find


def lay_module(checks: str) -> Callable[[Path, str], None]:
    """The submission as a module, with one folder of checks beside it."""

    def lay(folder: Path, text: str) -> None:
        shutil.copytree(HERE / checks, folder, dirs_exist_ok=True)
        (folder / "custom_sigmoid.py").write_text(text, "utf-8")

    return lay


def lay_check50(folder: Path, text: str) -> None:
    """The submission alone; the checks stay where they are."""
    (folder / "custom_sigmoid.py").write_text(text, "utf-8")


def lay_nbgrader(folder: Path, text: str) -> None:
    """The instructor's notebook, and the same with the submission's cell filled in."""
    for place in (folder / "source" / "sigmoid", folder / "submitted" / "alice" / "sigmoid"):
        place.mkdir(parents=True, exist_ok=True)
        cells = [graded_cell(*cell.split("\n", 1)) for cell in CELLS.split("# %% ")[1:]]
        cells[0]["source"] = text
        (place / "sigmoid.ipynb").write_text(notebook(cells), "utf-8")


def lay_otter(folder: Path, text: str) -> None:
    """A notebook of one cell, and the zip that ``otter generate`` would make: here without an
    environment to build.
    """
    (folder / "sigmoid.ipynb").write_text(notebook([code_cell("sigmoid", text)]), "utf-8")
    shutil.make_archive(str(folder / "autograder"), "zip", HERE / "otter")


def code_cell(name: str, text: str) -> dict[str, object]:
    """A notebook's cell."""
    return {
        "cell_type": "code",
        "id": name.replace("_", "-"),
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": text,
    }


def graded_cell(name: str, text: str) -> dict[str, object]:
    """A cell as nbgrader marks it: the submission's, one that is only run, or one that earns a
    point.
    """
    kind = {
        "sigmoid": {"solution": True, "locked": False, "grade": False},
        "inputs": {"solution": False, "locked": True, "grade": False},
    }
    marks = kind.get(name, {"solution": False, "locked": True, "grade": True, "points": 1})
    return code_cell(name, text.strip()) | {
        "metadata": {"nbgrader": {"schema_version": 3, "grade_id": name, "task": False, **marks}}
    }


def notebook(cells: list[dict[str, object]]) -> str:
    """A notebook's file."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    )


# ------------------------------------------------------------------------ where the points are then


def pytest_points(folder: Path) -> float:
    """A point for each test that passed: one that says nothing more."""
    return sum(len(case) == 0 for case in ElementTree.parse(folder / "report.xml").iter("testcase"))


def check50_points(folder: Path) -> float:
    """A point for each check that passed."""
    return sum(
        result["passed"] is True
        for result in json.loads((folder / "report.json").read_text("utf-8"))["results"]
    )


def nbgrader_points(folder: Path) -> float:
    """What its gradebook has."""
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as gradebook:
        (found,) = gradebook.execute("select sum(auto_score) from grade").fetchone()
    return float(found or 0)


def otter_points(folder: Path) -> float:
    """What its results have."""
    return sum(
        float(test.get("score", 0))
        for test in json.loads((folder / "results.json").read_text("utf-8"))["tests"]
    )


PYTEST = (
    "python",
    "-m",
    "pytest",
    "-q",
    "-p",
    "no:cacheprovider",
    "--junit-xml",
    "report.xml",
    "test_sigmoid.py",
)
CHECK50 = ("check50", "--dev", str(HERE / "check50"), "-o", "json", "--output-file", "report.json")
OTTER = ("otter", "run", "sigmoid.ipynb", "-a", "autograder.zip", "-o", ".", "--no-logo")
PEERS = (
    Peer("pytest", (), lay_module("pytest"), PYTEST, pytest_points),
    Peer("check50", ("check50==3.5.0",), lay_check50, CHECK50, check50_points),
    Peer(
        "nbgrader",
        ("nbgrader==0.9.6", "ipykernel"),
        lay_nbgrader,
        ("nbgrader", "autograde", "sigmoid", "--student", "alice", "--force"),
        nbgrader_points,
        before=("nbgrader", "generate_assignment", "sigmoid", "--force"),
    ),
    Peer("otter", ("otter-grader[grading]==7.0.0",), lay_otter, OTTER, otter_points),
)


# ------------------------------------------------------------------------------------- environments


def environment(peer: Peer, folder: Path) -> Path:
    """The folder of a peer's programs, installed there unless it was before; torch is the very
    build that runs here.
    """
    if not peer.requirements:
        return Path(sys.executable).parent
    place = folder.resolve() / peer.name
    wanted = (f"torch=={version('torch')}", f"numpy=={version('numpy')}", *peer.requirements)
    ready = place / "ready"
    if not ready.is_file() or ready.read_text("utf-8") != "\n".join(wanted):
        if place.exists() and not (place / "pyvenv.cfg").is_file():
            raise Unavailable(
                f"not installed: {place} is no environment; name another folder with --peers"
            )
        shutil.rmtree(place, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
        run_or_say("not installed", (sys.executable, "-m", "venv", str(place)), folder, outside())
        pip = (
            str(place / "bin" / "python"),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *wanted,
        )
        run_or_say("not installed", pip, place, outside(), seconds=1800)
        ready.write_text("\n".join(wanted), "utf-8")
    return place / "bin"


def run_or_say(
    what: str,
    words: Sequence[str],
    folder: Path,
    variables: dict[str, str],
    *,
    seconds: float = 300,
    fails: bool = False,
) -> None:
    """Run a command; where it can't be started, takes too long, or fails though it shouldn't, say
    so in one of its lines.
    """
    try:
        done = subprocess.run(
            words,
            cwd=folder,
            env=variables,
            stdout=PIPE,
            stderr=STDOUT,
            text=True,
            check=False,
            timeout=seconds,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(f"{what}: {error}") from None
    if done.returncode and not fails:
        said = done.stdout.strip().splitlines() or [f"exit code {done.returncode}"]
        reason = next((line for line in reversed(said) if line.startswith("ERROR")), said[-1])
        raise Unavailable(f"{what}: {reason[:160]}")


def outside() -> dict[str, str]:
    """The environment's variables without those that lead an interpreter or Jupyter back into this
    checkout.
    """
    inward = ("PYTHON", "JUPYTER", "IPYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(inward)}


def surroundings(programs: Path, folder: Path) -> dict[str, str]:
    """Of a peer's process: its own programs come first, and what it keeps for a user stays in the
    submission's folder.
    """
    own = {
        name: str(folder / ".user")
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR")
    }
    path = f"{programs}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {
        **outside(),
        **own,
        "PATH": path,
        "TMPDIR": str(folder),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
    }


# -------------------------------------------------------------------------------------------- times


@contextlib.contextmanager
def ready_to_grade(peer: Peer, folder: Path) -> Iterator[Callable[[], None]]:
    """A call that grades the right Sigmoid once, by a peer that was seen to tell it from a wrong
    one.
    """
    programs = environment(peer, folder)
    lesson = COURSE.lesson(*SIGMOID)
    right = without_markers(lesson.solution.read_text("utf-8"))
    (mistake,) = (cell for cell in lesson.mistakes if cell.label == "ignores_grad_output")
    wrong = compose(right, mistake.source, name=mistake.name)
    with TemporaryDirectory() as name:
        place = Path(name)

        def command(words: tuple[str, ...], *, fails: bool = False) -> None:
            found = (str(programs / words[0]), *words[1:])
            run_or_say("does not run", found, place, surroundings(programs, place), fails=fails)

        for text, should_be in ((right, True), (wrong, False)):
            peer.lay(place, text)
            if should_be and peer.before:
                command(peer.before)
            command(peer.words, fails=not should_be)
            try:
                points = peer.points(place)
            except (
                OSError,
                ValueError,
                LookupError,
                sqlite3.Error,
                ElementTree.ParseError,
            ) as error:
                raise Unavailable(f"does not grade: {error}") from None
            if (points == POINTS) != should_be:
                kind = "right" if should_be else "wrong"
                raise Unavailable(f"does not grade: {points:g} of {POINTS} points for a {kind} one")
        peer.lay(place, right)
        yield lambda: command(peer.words)


def peer_seconds(
    rounds: int, folder: Path, *ours: Callable[[], float]
) -> tuple[list[float], dict[str, float | str]]:
    """Medians of ours and, by label, of each peer: seconds, or why there are none. All in turn."""
    found: dict[str, float | str] = {}
    calls: dict[str, Callable[[], object]] = {}
    with contextlib.ExitStack() as stack:
        for peer in PEERS:
            try:
                calls[peer.label] = stack.enter_context(ready_to_grade(peer, folder))
            except Unavailable as reason:
                found[peer.label] = str(reason)

        def seconds(label: str) -> float:
            try:
                return timed(calls[label])
            except Unavailable as reason:
                found[label] = str(reason)
                return 0.0  # its row says why instead

        medians = in_turn(rounds, *ours, *[lambda label=label: seconds(label) for label in calls])
    taken = dict(zip(calls, medians[len(ours) :], strict=True))
    return medians[: len(ours)], {
        peer.label: found.get(peer.label, taken.get(peer.label, 0.0)) for peer in PEERS
    }
