"""On a narrow terminal, carets stay below what they mark, and a command stays in one line."""

from __future__ import annotations

import io
from dataclasses import replace

import pytest
from rich.console import Console

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.render.code import folded
from grader.render.page import looks_like, told_once
from grader.render.terminal import Lines, located

CODE = "    return torch.autograd.grad(outputs=g.sum(), inputs=x, create_graph=True)[0]"


@pytest.mark.parametrize("width", [30, 40, 60, 80, 200])
@pytest.mark.parametrize("marked", ["return", "g.sum()", "create_graph=True", "[0]", "합계"])
def test_carets_stay_below_what_they_mark(width: int, marked: str) -> None:
    code = CODE.replace("outputs", "합계=1, outputs")
    begin = code.index(marked)
    lines = located("lesson/lesson.py:12", code, width, (begin, begin + len(marked))).plain
    *above, shown, carets = lines.split("\n")
    assert above in ([], ["lesson/lesson.py:12"])
    assert len(carets) <= width
    columns = [letter for letter in shown for _ in range(2 if "가" <= letter <= "힣" else 1)]
    below = "".join(columns[at] for at, caret in enumerate(carets) if caret == "^")
    assert below in ("".join(c * (2 if "가" <= c <= "힣" else 1) for c in marked), marked)


def test_a_short_line_stays_beside_its_place_and_nothing_is_marked_unasked() -> None:
    assert located("a.py:1", "    y = 2\n", 40).plain == "a.py:1        y = 2"


@pytest.mark.parametrize("width", [30, 60, 80])
def test_a_command_that_does_not_fit_beside_its_label_has_a_line_of_its_own(width: int) -> None:
    """It is never broken, so it can be pasted."""
    command = f"grade replay {'x' * 30} --seed 1"
    console = Console(width=width, file=io.StringIO())
    Lines(console, Catalogue()).print_labelled([("Again", command), ("A nudge", "grade hint x")])
    assert isinstance(console.file, io.StringIO)
    lines = [line.strip() for line in console.file.getvalue().splitlines()]
    beside = [f"Again    {command}"] if width >= len(command) + 13 else ["Again", command]
    assert lines == [*beside, "A nudge  grade hint x"]


def test_a_listed_command_gives_up_its_indentation_before_it_is_broken() -> None:
    console = Console(width=40, file=io.StringIO())
    lines = Lines(console, Catalogue())
    for count in (30, 38, 40):
        lines.print_command("x" * count)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == f"    {'x' * 30}\n  {'x' * 38}\n{'x' * 40}\n"


@pytest.mark.parametrize(
    ("line", "width", "pieces"),
    [
        ("    one two three", 12, ["    one two", "    three"]),
        ("one two", 7, ["one two"]),
        ("", 20, [""]),
        ("x" * 25, 10, ["x" * 10, "x" * 10, "x" * 5]),
        ("    가나다 라마바", 14, ["    가나다", "    라마바"]),
        ("        deep in", 12, ["        deep", " in"]),
    ],
)
def test_code_is_broken_at_spaces_and_stays_indented(
    line: str, width: int, pieces: list[str]
) -> None:
    """Where the indentation leaves no room, it is broken anywhere."""
    assert folded(line, width) == pieces


def test_a_command_that_renames_a_file_can_be_pasted() -> None:
    command = f"mv a/{'x' * 50}.py a/tiny.py"
    lesson = LessonResult("t", "T", LessonStatus.MISSING, 0, 10, 0, 0, message=f"Why\n{command}")
    console = Console(width=40, file=io.StringIO())
    Lines(console, Catalogue()).show_why_not(lesson)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == f"    Why\n{command}\n"


@pytest.mark.parametrize(
    ("title", "evidence", "told"),
    [
        ("A gradient is changed in place", "A gradient is changed in place. Use clone().", ""),
        ("The hook stays if backward raises", "A hook stays if backward raises. Remove it.", ""),
        (
            "The sign is wrong",
            "Each value that came back is the negative of the expected one.",
            "x",
        ),
        ("The sign is wrong", "", "x"),
    ],
)
def test_no_sentence_is_told_twice(title: str, evidence: str, told: str) -> None:
    """An explanation that begins with its title is told without the title."""
    check = CheckResult("a.b", "b", "f", Outcome.FAILED, 0.0, 1.0, diagnosis_title=title)
    check = replace(check, evidence=evidence or None)
    assert told_once(check) == (told and title, evidence)
    parts = [told and title, evidence]
    assert looks_like(check, Catalogue()) == "Looks like: " + ". ".join(filter(None, parts))
