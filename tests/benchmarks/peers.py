"""Measure how long other graders take for one submission, each installed in its own environment.

All of them grade one right custom Sigmoid with the same three checks (its value, the incoming
gradient, gradcheck), written in each grader's own form, in ``peers/``. The command that its users
type to grade one submission is timed from start to end. Before that, it has to give three points to
the right Sigmoid, and fewer to one that ignores the incoming gradient.
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
    """A peer can't be timed; the message says why."""


@dataclass(frozen=True, slots=True)
class Peer:
    """Another grader: what to install and type, how to hand in a submission, how to read points.

    ``lay(folder, text)`` puts the submission and the checks into a folder; ``words`` is the
    command that is run there; ``points(folder)`` reads the points. ``before`` is run once after the
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
        """Return the command and the version that was run, for a table."""
        typed = (
            " ".join(self.words[:2]).replace(" --dev", "") if self.requirements else "plain pytest"
        )
        number = self.requirements[0].partition("==")[2] if self.requirements else version("pytest")
        return f"{typed} {number}, three checks"


# -------------------------------------------------------------------------- what each wants to find


def lay_module(checks: str) -> Callable[[Path, str], None]:
    """Return a function that writes the submission as a module beside a folder of checks."""

    def lay(folder: Path, text: str) -> None:
        shutil.copytree(HERE / checks, folder, dirs_exist_ok=True)
        (folder / "custom_sigmoid.py").write_text(text, "utf-8")

    return lay


def lay_check50(folder: Path, text: str) -> None:
    """Write the submission alone; the checks stay where they are."""
    (folder / "custom_sigmoid.py").write_text(text, "utf-8")


def lay_nbgrader(folder: Path, text: str) -> None:
    """Write the instructor's notebook, and a copy with the submission in its cell."""
    for place in (folder / "source" / "sigmoid", folder / "submitted" / "alice" / "sigmoid"):
        place.mkdir(parents=True, exist_ok=True)
        cells = [graded_cell(*cell.split("\n", 1)) for cell in CELLS.split("# %% ")[1:]]
        cells[0]["source"] = text
        (place / "sigmoid.ipynb").write_text(notebook(cells), "utf-8")


def lay_otter(folder: Path, text: str) -> None:
    """Write a notebook of one cell, and the zip that ``otter generate`` would make.

    Unlike that, the zip has no environment to build.
    """
    (folder / "sigmoid.ipynb").write_text(notebook([code_cell("sigmoid", text)]), "utf-8")
    shutil.make_archive(str(folder / "autograder"), "zip", HERE / "otter")


def code_cell(name: str, text: str) -> dict[str, object]:
    """Return a code cell of a notebook."""
    return {
        "cell_type": "code",
        "id": name.replace("_", "-"),
        "metadata": {},
        "execution_count": None,
        "outputs": [],
        "source": text,
    }


def graded_cell(name: str, text: str) -> dict[str, object]:
    """Return a cell with nbgrader's metadata: the submission, a cell only to run, or a check."""
    kind = {
        "sigmoid": {"solution": True, "locked": False, "grade": False},
        "inputs": {"solution": False, "locked": True, "grade": False},
    }
    marks = kind.get(name, {"solution": False, "locked": True, "grade": True, "points": 1})
    return code_cell(name, text.strip()) | {
        "metadata": {"nbgrader": {"schema_version": 3, "grade_id": name, "task": False, **marks}}
    }


def notebook(cells: list[dict[str, object]]) -> str:
    """Return the text of a notebook's file."""
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return json.dumps(
        {"nbformat": 4, "nbformat_minor": 5, "metadata": {"kernelspec": kernel}, "cells": cells}
    )


# ------------------------------------------------------------------------ where the points are then


def pytest_points(folder: Path) -> float:
    """Return the number of tests that passed: those without a child element in the XML."""
    return sum(len(case) == 0 for case in ElementTree.parse(folder / "report.xml").iter("testcase"))


def check50_points(folder: Path) -> float:
    """Return the number of checks that passed."""
    return sum(
        result["passed"] is True
        for result in json.loads((folder / "report.json").read_text("utf-8"))["results"]
    )


def nbgrader_points(folder: Path) -> float:
    """Return the points in nbgrader's gradebook."""
    with contextlib.closing(sqlite3.connect(folder / "gradebook.db")) as gradebook:
        (found,) = gradebook.execute("select sum(auto_score) from grade").fetchone()
    return float(found or 0)


def otter_points(folder: Path) -> float:
    """Return the points in Otter's results."""
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
    """Return the folder of a peer's programs, after installing the peer if necessary.

    It gets the same versions of torch and NumPy as this environment.
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
    """Run a command. Raise Unavailable if it can't be started, takes too long, or fails.

    With ``fails``, it may fail. The message is ``what`` and a line that the command printed.
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
    """Return the environment variables without those that point Python or Jupyter to this
    checkout.
    """
    inward = ("PYTHON", "JUPYTER", "IPYTHON", "VIRTUAL_ENV")
    return {name: value for name, value in os.environ.items() if not name.startswith(inward)}


def surroundings(programs: Path, folder: Path) -> dict[str, str]:
    """Return the environment of a peer's process.

    Its own programs come first on the PATH, and its files for a user are in the submission's
    folder.
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
    """Yield a function that grades the right Sigmoid once with a peer.

    Raise Unavailable unless the peer gives the right one full points, and a wrong one fewer.
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
    """Return the medians of ``ours`` and, by label, of each peer, all measured in turn.

    A peer's value is its seconds, or the reason why there are none.
    """
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
