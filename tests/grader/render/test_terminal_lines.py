"""On a narrow terminal, carets stay below what they mark, and a command stays in one line."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from grader.core.i18n import Catalogue
from grader.core.report import LessonResult, LessonStatus
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


def test_a_command_that_renames_a_file_can_be_pasted() -> None:
    command = f"mv a/{'x' * 50}.py a/tiny.py"
    lesson = LessonResult("t", "T", LessonStatus.MISSING, 0, 10, 0, 0, message=f"Why\n{command}")
    console = Console(width=40, file=io.StringIO())
    Lines(console, Catalogue()).show_why_not(lesson)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == f"    Why\n{command}\n"
