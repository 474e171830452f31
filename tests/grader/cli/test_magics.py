"""``%grade`` and ``%%grade``, in a kernel as Jupyter runs it: judged elsewhere, shown under the
cell.
"""

from __future__ import annotations

import html
import os
import re
import select
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from browser import Browser
from nbclient import NotebookClient
from nbformat import v4, writes

from grader.cli.notebook import GradeMagic, MagicOptions, Shown, greeting, magic_command, unregister
from grader.core.errors import CourseError, UsageError
from grader.course.course import Course
from grader.runtime.client import ForkServerClient

pytestmark = pytest.mark.fork

WRONG = (
    "from torch import Tensor\n\n"
    "def double(x):\n"
    "    return 5 * x\n\n"
    "def triple(x):\n"
    "    return 3 * x\n\n"
    "LIMIT: float = 20.0\n"
)
RIGHT = WRONG.replace("5", "2")
FITS = (
    "() => { const f = document.querySelector('iframe'); return f.clientHeight -"
    " f.contentDocument.body.offsetHeight === 2 }"
)
PID = "print(get_ipython().magics_manager.magics['line']['grade'].__self__.host._process.pid)"


@pytest.fixture
def magic(host: ForkServerClient) -> GradeMagic:
    return GradeMagic(host)


@pytest.fixture
def magic_options(small_course: Course) -> MagicOptions:
    return MagicOptions(("tiny",), small_course.root, 7, "off", "en")


@pytest.fixture(scope="module")
def cell_outputs(
    tmp_path_factory: pytest.TempPathFactory, small_course: Course
) -> dict[str, list[dict[str, Any]]]:
    """Return a notebook's cells' outputs by the cells' text; the kernel has ended by then."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "tiny.py").write_text(WRONG)
    options = f"--course {small_course.root} --seed 7 --sandbox off --lang en"
    cells = [
        "%load_ext grader",
        PID,
        f"%%grade tiny {options}\n{WRONG}",
        "'double' in globals()",
        f"%grade tiny {options}\nprint('after')",
        "%grade nothing",
        "%grade --seed x",
        "%grade --help",
        "%%grade --lang ko\nx = 1",
        "%grade next --lang en",
        "%grade init work --notebook --lang en",
    ]
    book = v4.new_notebook(cells=[v4.new_code_cell(cell) for cell in cells])
    client = NotebookClient(
        book,
        timeout=120,
        kernel_name="python3",
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute(env={**os.environ, "IPYTHONDIR": str(folder / "ipython"), "LC_ALL": "C"})
    return {cell.source.split("--course")[0].strip(): cell.outputs for cell in book.cells}


def displayed(outputs: list[dict[str, Any]]) -> dict[str, str]:
    """Return the only displayed output."""
    data: dict[str, str]
    (data,) = [one["data"] for one in outputs if one["output_type"] == "display_data"]
    return data


def printed(outputs: list[dict[str, Any]]) -> str:
    """Return the printed text, in however many pieces the kernel sent it."""
    return "".join(one["text"] for one in outputs if one["output_type"] == "stream")


# ------------------------------------------------------------------------------------ a real kernel


def test_a_cell_is_graded_and_the_report_is_shown_as_page_and_as_text(
    cell_outputs: dict[str, Any],
) -> None:
    data = displayed(cell_outputs["%%grade tiny"])
    assert "%%grade tiny:5" in data["text/plain"]
    page = html.unescape(re.search(r'srcdoc="([^"]*)"', data["text/html"])[1])  # type: ignore[index]
    assert "%%grade tiny:5" in page
    assert "%%grade tiny --seed 7" in page


def test_a_graded_cell_is_not_run_in_the_kernel(cell_outputs: dict[str, Any]) -> None:
    assert cell_outputs["'double' in globals()"][0]["data"]["text/plain"] == "False"


def test_a_line_grades_the_folder_and_the_cell_goes_on(cell_outputs: dict[str, Any]) -> None:
    outputs = cell_outputs["%grade tiny"]
    assert "tiny.py:4" in displayed(outputs)["text/plain"]
    assert printed(outputs) == "after\n"


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        ("%grade nothing", "There is no lesson 'nothing'"),
        ("%grade --seed x", "%grade: --seed takes a whole number"),
    ],
)
def test_what_is_wrong_with_the_line_is_told_in_a_line(
    cell_outputs: dict[str, Any], cell: str, said: str
) -> None:
    assert said in printed(cell_outputs[cell])
    assert "Traceback" not in printed(cell_outputs[cell])


def test_help_is_shown_and_nothing_is_graded(cell_outputs: dict[str, Any]) -> None:
    outputs = cell_outputs["%grade --help"]
    assert "--sandbox" in printed(outputs)
    assert {one["output_type"] for one in outputs} == {"stream"}


def test_what_is_loaded_says_what_it_takes_and_how_to_begin_where_no_lesson_is(
    cell_outputs: dict[str, Any],
) -> None:
    assert [
        line.split("  ")[0] for line in printed(cell_outputs["%load_ext grader"]).splitlines()
    ] == [
        "%grade",
        "%%grade LESSON",
        "%grade hint LESSON",
        "grader.draw(loss)",
        "%grade init my-work --notebook",
    ]


def test_no_beginning_is_offered_where_a_lesson_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = v4.new_notebook(cells=[v4.new_code_cell("x = 1")])
    (tmp_path / "hooks.ipynb").write_text(writes(book))
    monkeypatch.chdir(tmp_path)
    assert "init" not in greeting()


def test_loading_goes_well_where_no_course_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine of a students' bundle finds one only inside the bundle."""

    def nowhere(_: None) -> None:
        raise CourseError("no course")

    monkeypatch.setattr("grader.cli.notebook.course", nowhere)
    assert "%grade hint LESSON" in greeting()


def test_an_error_of_the_line_is_told_in_its_language(cell_outputs: dict[str, Any]) -> None:
    assert "레슨 이름을 하나만 적으세요" in printed(cell_outputs["%%grade --lang ko\nx = 1"])


def test_the_other_commands_work_where_the_kernel_is_though_no_grade_is_on_the_path(
    cell_outputs: dict[str, Any],
) -> None:
    """A command prints the same as on a terminal; its files are in the notebook's folder."""
    assert "grade reset finite_difference" in printed(cell_outputs["%grade next --lang en"])
    assert "%load_ext grader" in printed(cell_outputs["%grade init work --notebook --lang en"])


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="processes are waited for by descriptor")
def test_the_host_ends_with_the_kernel(cell_outputs: dict[str, Any]) -> None:
    """This holds however the kernel ended, because nobody writes to the host any more."""
    try:
        process = os.pidfd_open(int(printed(cell_outputs[PID])))
    except ProcessLookupError:
        return
    ended, _, _ = select.select([process], [], [], 30)
    os.close(process)
    assert ended


# ---------------------------------------------------------------------------------------- the parts


def test_importing_the_package_imports_neither_torch_nor_ipython_nor_the_magic() -> None:
    code = (
        "import sys, grader; print([m for m in ('torch', 'IPython', 'click', 'grader.cli.notebook')"
        " if m in sys.modules])"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True) == "[]\n"


def test_a_right_cell_gets_full_marks(magic: GradeMagic, magic_options: MagicOptions) -> None:
    """Its magics are left out, and names that a notebook provides are known."""
    code = f"%pwd\n{RIGHT}from __future__ import annotations\ndisplay(1)\n"
    result = magic.grade_cell(magic_options, code)
    assert result.report.full_marks
    assert result.report.lessons[0].notes == ("line 2: a magic, left out",)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("", "has no code below it"),
        ("a\0", "line 1 holds"),
        ("#" * (1 << 20), "larger than 256 KB"),
    ],
)
def test_a_cell_that_is_no_lesson_is_told_so(
    magic: GradeMagic, magic_options: MagicOptions, code: str, said: str
) -> None:
    lesson = magic.grade_cell(magic_options, code + "\n").report.lessons[0]
    assert lesson.status == "invalid"
    assert said in (lesson.message or "")


@pytest.mark.parametrize("lessons", [(), ("tiny", "tiny")])
def test_a_cell_is_one_lesson(
    magic: GradeMagic, magic_options: MagicOptions, lessons: tuple[str, ...]
) -> None:
    with pytest.raises(UsageError, match="name it, and no other"):
        magic.grade_cell(replace(magic_options, lessons=lessons), RIGHT)


def test_an_interrupted_grading_ends_the_host(
    magic: GradeMagic, magic_options: MagicOptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise, its next answer would belong to the abandoned question."""
    closed = []

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(magic.host, "judge", interrupted)
    monkeypatch.setattr(magic.host, "close", lambda: closed.append(True))
    with pytest.raises(KeyboardInterrupt):
        magic.grade_cell(magic_options, RIGHT)
    assert closed


def test_unloading_takes_the_magic_out_and_ends_its_host() -> None:
    closed = []
    idle: Any = SimpleNamespace(close=lambda: closed.append(True))
    magics: dict[str, dict[str, Any]] = {
        "line": {"grade": GradeMagic(idle).grade, "time": None},
        "cell": {},
    }
    events = SimpleNamespace(unregister=lambda *_: closed.append(False))
    unregister(SimpleNamespace(magics_manager=SimpleNamespace(magics=magics), events=events))
    assert (magics, closed) == ({"line": {"time": None}, "cell": {}}, [False, True])
    assert magic_command.name == "grade"


def test_the_report_is_in_a_frame_that_runs_nothing_and_is_as_high_as_it_is(
    magic: GradeMagic, magic_options: MagicOptions, tmp_path: Path, browser: Browser
) -> None:
    """A front end inserts it as HTML; opening or closing details changes its height."""
    result: Shown = magic.grade_cell(magic_options, WRONG)
    (tmp_path / "out.html").write_text("<!doctype html><div id=out></div>")
    tab = browser.open(tmp_path / "out.html")
    tab.evaluate(
        "html => { document.getElementById('out').innerHTML = html }", result._repr_html_()
    )
    opened = tab.frame_locator("iframe").locator("details.check[open] > summary")
    opened.wait_for()
    tab.wait_for_function(FITS)
    before = tab.evaluate("document.querySelector('iframe').clientHeight")
    opened.click()
    tab.wait_for_function(
        f"before => ({FITS})() && document.querySelector('iframe').clientHeight < before",
        arg=before,
    )
    assert tab.evaluate("document.querySelector('iframe').sandbox.value") == "allow-same-origin"
    assert browser.errors == []


def test_a_notebook_is_told_what_takes_the_place_of_watch(magic: GradeMagic) -> None:
    """It does not say that the lesson is unknown."""
    from IPython.core.error import UsageError as Refused

    with pytest.raises(Refused, match="Save, and run the cell with %grade again"):
        magic.grade("watch")
