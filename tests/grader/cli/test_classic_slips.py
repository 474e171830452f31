"""Slips of beginners. Each gives a message that names the slip and the line, on a terminal of 24 by
80.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from rich.console import Console

from grader.cli.selection import select
from grader.core.i18n import engine_catalogue
from grader.core.limits import Limits
from grader.core.messages import Settings
from grader.course.course import Course, find_course, load_course
from grader.course.progress import PROGRESS_FILE
from grader.course.stubs import without_markers
from grader.render.terminal import show_report
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

ROWS, COLUMNS = 24, 80
COURSE = load_course(find_course(None, here=Path(__file__).parent))
SECOND = """    x = x.detach().requires_grad_()
    return differentiable_gradient(differentiable_gradient(f(x), x), x)
"""
HIDDEN = """    x = x.detach().requires_grad_()
    (g,) = torch.autograd.grad(f(x).sum(), x)
    g = g.{hiding}
    (h,) = torch.autograd.grad(g.sum(), x{option})
    return {result}
"""
UNUSED = {"option": ", allow_unused=True", "result": "torch.zeros_like(x) if h is None else h"}
BACKWARD = "return grad_output * y * (1 - y)"
APPLY = "return Sigmoid.apply(x)"


@dataclass(frozen=True)
class Slip:
    """An edit of a lesson's solution, the texts in the report that name it, and the line shown."""

    lesson: str
    old: str
    new: str
    named: tuple[str, ...]
    line: str


SLIPS = {
    "missing colon": Slip(
        "custom_sigmoid",
        "def sigmoid(x: Tensor) -> Tensor:",
        "def sigmoid(x: Tensor) -> Tensor",
        ("A colon is missing at the end of this line",),
        "def sigmoid(x: Tensor) -> Tensor",
    ),
    "forgotten return": Slip(
        "custom_sigmoid",
        APPLY,
        "Sigmoid.apply(x)",
        ("sigmoid ends without returning a value",),
        "def sigmoid(x: Tensor) -> Tensor:",
    ),
    "print for return": Slip(
        "custom_sigmoid",
        APPLY,
        "print(Sigmoid.apply(x))",
        ("sigmoid ends without returning a value", "It printed"),
        "def sigmoid(x: Tensor) -> Tensor:",
    ),
    "forgotten grad_output": Slip(
        "custom_sigmoid",
        BACKWARD,
        "return y * (1 - y)",
        ("grad_output is not used",),
        "return y * (1 - y)",
    ),
    "endless loop": Slip(
        "custom_sigmoid",
        APPLY,
        "while True: pass",
        ("still running after", "in this loop"),
        "while True:",
    ),
    "forgotten create_graph": Slip(
        "second_derivative",
        SECOND,
        HIDDEN.format(hiding="view_as(x)", option="", result="h"),
        ("without create_graph=True",),
        "(h,) =",
    ),
    "create_graph hidden by detach()": Slip(
        "second_derivative",
        SECOND,
        HIDDEN.format(hiding="detach().requires_grad_()", **UNUSED),
        ("without create_graph=True",),
        "(g,) =",
    ),
    "create_graph hidden by clone().requires_grad_()": Slip(
        "second_derivative",
        SECOND,
        HIDDEN.format(hiding="clone().requires_grad_()", **UNUSED),
        ("without create_graph=True",),
        "(g,) =",
    ),
    "records that share memory": Slip(
        "hooks",
        "records[name] = grad.detach().clone()",
        "records[name] = grad.detach()",
        ("shares its memory with another tensor", "detach() does not copy"),
        "",
    ),
}


def screen(
    host: ForkServerClient, folder: Path, lesson: str, limits: Limits = COURSE.limits
) -> str:
    """Return what `grade LESSON` shows in a terminal of 80 columns, without the host's limits."""
    chosen = select(COURSE, (lesson,), folder)
    settings = Settings(7, "off", limits, lang="en")
    report = grade_submission(host, COURSE, chosen.lessons, chosen.files, settings, name="work")
    console = Console(width=COLUMNS, height=ROWS, markup=False, highlight=False, emoji=False)
    with console.capture() as shown:
        show_report(console, report, html="report.html", tr=engine_catalogue("en"))
    return shown.get().split("\nThis system")[0]


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / PROGRESS_FILE).write_text('{"version": 1, "lessons": {}, "latest": []}')
    return tmp_path / "work"


def solution(course: Course, lesson: str) -> str:
    return without_markers(course.lesson(lesson).solution.read_text("utf-8"))


@pytest.mark.fork
@pytest.mark.parametrize("name", SLIPS)
def test_a_slip_in_the_code_is_named_with_its_line_on_one_screen(
    name: str, host: ForkServerClient, work: Path
) -> None:
    slip = SLIPS[name]
    text = solution(COURSE, slip.lesson)
    assert text.count(slip.old) == 1
    wrong = text.replace(slip.old, slip.new)
    (work / f"{slip.lesson}.py").write_text(wrong, "utf-8")
    endless = replace(COURSE.limits, call_seconds=2.0)
    limits = endless if name == "endless loop" else COURSE.limits
    shown = screen(host, work, slip.lesson, limits)
    assert len(shown.splitlines()) <= ROWS
    as_one = " ".join(shown.split())
    assert all(named in as_one for named in slip.named), shown
    assert f"{slip.lesson}.py:" in shown
    if slip.line:
        number = 1 + next(
            number
            for number, line in enumerate(wrong.split("\n"))
            if line.strip().startswith(slip.line)
        )
        assert f"{slip.lesson}.py:{number}" in shown, shown


@pytest.mark.parametrize("name", ["hooks (1).py", "Hooks.py", "hooks.py.txt", "hook.py"])
def test_a_wrong_file_name_comes_with_the_command_that_renames_it(
    name: str, host: ForkServerClient, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (work / name).write_text(solution(COURSE, "hooks"), "utf-8")
    monkeypatch.chdir(work)
    shown = screen(host, Path(), "hooks")
    assert len(shown.splitlines()) <= ROWS
    assert f"{name} is not called hooks.py, so it was not graded. Rename it:" in shown
    (command,) = [line for line in shown.splitlines() if line.strip().startswith("mv ")]
    assert os.system(command) == 0
    assert (work / "hooks.py").exists()
