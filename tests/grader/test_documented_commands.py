"""Run every command line of the guides, page by page, in a folder like the one in the text."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from test_documentation import ROOT, command_lines

pytestmark = [pytest.mark.proof, pytest.mark.fork]
GUIDES = ROOT / "grader" / "docs"
INTERACTIVE = ("watch", "--pdb")
"""Commands that wait for somebody at the keyboard."""
UNDONE = {
    "forget grades alice": "forget grades alice --undo",
    "rename grades alice alice_doe": "rename grades alice_doe --undo",
}
"""Commands whose effect the following ones do not expect."""
CANVAS = """Student,ID,SIS User ID,SIS Login ID,Section,Autograd (7)
    Points Possible,,,,,20
alice,1,,alice,,
bob,2,,bob,,
"""
MOODLE = """Identifier,Full name,Email address,Status,Grade,Maximum Grade
Participant 1,alice,alice@example.org,Submitted,,100.00
Participant 2,bob,bob@example.org,Submitted,,100.00
"""
WRONG = """import torch


def cut(y):
    return (y + torch.sin(7 * y) / 9).detach()
"""


LOSS = "\n\ndef loss(x: Tensor) -> Tensor:\n    return (x**2).sum()\n"


def run(line: str, folder: Path) -> str:
    """Run a command line; return what it printed. Wrong answers are no fault of the command."""
    done = subprocess.run(
        [sys.executable, "-m", "grader", *shlex.split(line)],
        cwd=folder,
        input="y\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=280,
        check=False,
    )
    assert done.returncode in (0, 1), f"grade {line}: {done.stdout}{done.stderr}"
    return done.stdout


def lines_of(guide: str) -> list[str]:
    lines = [line for line in command_lines(GUIDES / guide) if "…" not in line]
    return [line for line in lines if not any(word in line.split() for word in INTERACTIVE)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a class of two, its roster, and the sheets of two systems."""
    for name, hooks in (("alice", ROOT / "solutions" / "hooks.py"), ("bob", None)):
        place = tmp_path / "submissions" / name
        place.mkdir(parents=True)
        (place / "no_grad_and_detach.py").write_text(WRONG, "utf-8")
        if hooks:
            shutil.copy(hooks, place)
    (tmp_path / "class.csv").write_text("name\nalice\nbob\n", "utf-8")
    (tmp_path / "gradebook.csv").write_text(CANVAS, "utf-8")
    (tmp_path / "worksheet.csv").write_text(MOODLE, "utf-8")
    return tmp_path


def test_the_instructors_guide(folder: Path) -> None:
    course = Path(folder / "course")
    for part in ("exercises", "solutions", "tests/checks", "tests/mistakes"):
        shutil.copytree(ROOT / part, course / part)
    for line in lines_of("instructors.md"):
        command = line.split()[0]
        if command == "release":
            shutil.rmtree(folder / "handout", ignore_errors=True)
        if command == "similar":
            shutil.copytree(folder / "grades", folder / "grades-last-year")
        if command == "name":
            page = (folder / "grades" / "class.html").read_text("utf-8")
            found = re.search(r"<code>([0-9a-f]{8})</code>", page)
            assert found
            line = line.replace("3f9a", found[1]) + f" --course {shlex.quote(str(course))}"
        run(line, folder)
        if line in UNDONE:
            run(UNDONE[line], folder)
    assert (folder / "marks.csv").exists()


def test_the_students_guide(tmp_path: Path) -> None:
    work = tmp_path / "my-work"
    for line in lines_of("students.md"):
        if line.startswith("init"):
            shutil.rmtree(work, ignore_errors=True)
            run(line, tmp_path)
            shutil.copy(ROOT / "solutions" / "chain_rule.py", work)
            continue
        if line.startswith("replay"):
            text = (ROOT / "exercises" / "chain_rule" / "chain_rule.py").read_text("utf-8")
            wrong = text.replace("raise NotImplementedError", "return x", 1) + LOSS
            (work / "chain_rule.py").write_text(wrong, "utf-8")
            run("chain_rule", work)
        if line.startswith("solution"):
            shutil.copy(ROOT / "solutions" / "chain_rule.py", work)
            run("chain_rule", work)
        run(line, work)
    assert (work / "report.html").exists()


def test_the_other_guides(tmp_path: Path) -> None:
    for guide in ("gradescope.md", "classroom50.md", "cluster.md"):
        for line in lines_of(guide):
            run(line, tmp_path)


def test_the_authors_guide(tmp_path: Path) -> None:
    """The lesson at its beginning is complete except for what a person has to write."""
    for line in lines_of("authors.md"):
        if "stable_softplus" in line:
            run(line, tmp_path)
    assert (tmp_path / "my-course" / "solutions" / "stable_softplus.py").exists()
