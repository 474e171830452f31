"""``%grade`` and ``%%grade``, in a kernel as Jupyter runs it: judged elsewhere, shown under the
cell; and the notebooks that ``grade init --notebook`` makes.
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

import nbformat
import pytest
from browser import Browser
from IPython.core.error import UsageError as Refused
from nbclient import NotebookClient
from nbformat import v4, writes

from grader.cli.notebook import (
    GradeMagic,
    MagicOptions,
    RunDefinitions,
    Shown,
    as_magics,
    greeting,
    magic_command,
    unregister,
)
from grader.cli.workspace import make_workspace
from grader.core.errors import CourseError, UsageError
from grader.core.i18n import Catalogue, engine_catalogue
from grader.course.course import Course, find_course, load_course
from grader.course.notebook import lesson_notebook, pieces
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile, read_submission
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
PID = "print(get_ipython().magics_manager.magics['line']['grade'].__self__.host._process.greet())"


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
    execute(book, folder, allow_errors=True)
    return {cell.source.split("--course")[0].strip(): cell.outputs for cell in book.cells}


def execute(book: Any, folder: Path, *, allow_errors: bool = False) -> None:
    """Run a notebook's cells in a kernel, in English, as Jupyter does."""
    where = {"metadata": {"path": str(folder)}}
    client = NotebookClient(
        book, timeout=120, kernel_name="python3", allow_errors=allow_errors, resources=where
    )
    environment = {"IPYTHONDIR": str(folder / "ipython"), "LC_ALL": "C", "GRADE_LANG": "en"}
    client.execute(env={**os.environ, **environment})


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
    assert "with all lessons: %grade init" in printed(cell_outputs["%grade next --lang en"])
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


# ------------------------------------------------------------------ notebooks that grade init makes

LESSON = "custom_sigmoid"
COURSE = load_course(find_course(None, here=Path(__file__).parent))
TRY = "# scratch: mine\nprint(sigmoid(torch.zeros(2)))"
NEVER = "def sigmoid(x):\n    y = 5 * x\n    return y"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("notebooks") / "work"
    make_workspace(COURSE, folder, "en", notebook=True)
    return folder


@pytest.fixture(scope="module")
def run(folder: Path) -> list[Any]:
    """Return the outputs of a solved notebook's last cells, and of four more cells."""
    path = folder / LESSON / f"{LESSON}.ipynb"
    book = nbformat.read(path, 4)
    solution = without_markers(COURSE.lesson(LESSON).solution.read_text("utf-8"))
    for text, _ in list(pieces(solution))[1:]:
        head = text.lstrip().split("\n")[0]
        (cell,) = [cell for cell in book.cells if cell.source.startswith(head)]
        cell.source = text
    scratch = [cell for cell in book.cells if cell.metadata.get("tags") == ["scratch"]]
    scratch[-1].source = TRY
    nbformat.write(book, path)
    saved = len(book.cells)
    book.cells += [
        v4.new_code_cell(text)
        for text in (NEVER, f"%grade {LESSON}  # again", "%grade next", "%grade replay")
    ]
    execute(book, path.parent)
    return [cell.get("outputs") for cell in book.cells[saved - 3 :]]


def test_a_solved_notebook_runs_from_top_to_bottom_and_gets_full_marks(run: list[Any]) -> None:
    scratch, _, graded, *_ = run
    assert "0.5000" in printed(scratch)
    assert f"{LESSON}  10 / 10" in displayed(graded)["text/plain"]
    assert f"{LESSON} is complete." in printed(graded)
    assert f"Beside the solution: %grade solution {LESSON}" in printed(graded)
    assert "not saved" not in printed(graded)


def test_the_report_is_there_without_frame_script_and_style(run: list[Any]) -> None:
    """This is what remains of the output in a notebook that is not trusted."""
    page = displayed(run[2])["text/html"]
    static = re.sub(r"<iframe.*?</iframe>|<style>.*?</style>", "", page, flags=re.DOTALL)
    assert f"{LESSON}  10 / 10" in html.unescape(static)
    assert not re.search(r"<script|<iframe|<style|\son\w+=", static)


def test_a_notebook_that_was_not_saved_is_told_so_with_the_line(run: list[Any]) -> None:
    told = printed(run[4])
    assert f"{LESSON}.ipynb was not saved since you ran sigmoid" in told
    assert "Line 1 of that cell is not in the file: def sigmoid(x):" in told
    assert "Ctrl+S" in told
    assert max(map(len, told.splitlines())) < 200


def test_no_command_is_recommended_that_a_notebook_refuses(run: list[Any]) -> None:
    following = printed(run[5])
    assert "%grade hint" in following
    assert "watch" not in following
    assert not re.search(r"(?<!%)\bgrade (?:hint|read|next)", following)


def test_every_lesson_becomes_a_valid_notebook_with_text_functions_and_scratch_cells(
    folder: Path,
) -> None:
    for lesson in COURSE.lessons:
        book = nbformat.read(folder / lesson.id / f"{lesson.id}.ipynb", 4)
        nbformat.validate(book)
        kinds = [cell.cell_type for cell in book.cells]
        assert kinds[:3] == ["markdown"] * 3
        assert book.cells[-1].source == f"%grade {lesson.id}"
        text = "".join(cell.source for cell in book.cells)
        assert not re.search(r"(?<!%)\bgrade (?:hint )?" + lesson.id, text)
        stub = list(pieces(lesson.stub.read_text("utf-8")))
        definitions = sum(is_definition for _, is_definition in stub)
        tagged = [n for n, cell in enumerate(book.cells) if cell.metadata.get("tags")]
        assert len(tagged) == definitions
        above = {book.cells[n - 1].source.split("\n")[0] for n in tagged}
        assert above == {text.split("\n")[0] for text, is_definition in stub if is_definition}


def test_a_fresh_notebook_reads_as_not_started(folder: Path) -> None:
    files = read_submission(folder, [lesson.id for lesson in COURSE.lessons if lesson.id != LESSON])
    assert len(files) == len(COURSE.lessons) - 1
    assert not any(file.problem or file.left_out for file in files.values())


def test_commands_of_a_listing_can_be_pasted_into_a_cell_with_what_they_do() -> None:
    readme = "# A\n\n`grade hint a`: `a.py`.\n\n```\ngrade a        what\ngrade hint a   # x\n```\n"
    book = nbformat.reads(lesson_notebook("a", "x = 1\n", readme, Catalogue()), 4)
    assert book.cells[0].source == (
        "# A\n\n`%grade hint a`: `a.ipynb`.\n\n```\n%grade a       # what\n%grade hint a  # x\n```"
    )


def test_commands_in_messages_are_magics_and_other_words_are_not() -> None:
    told = as_magics("A nudge  grade hint x. To grade list and graded. %grade next, 'grade next'")
    assert told == "A nudge  %grade hint x. To %grade list and graded. %grade next, 'grade next'"


def test_commands_in_errors_are_magics(magic: GradeMagic) -> None:
    with pytest.raises(Refused, match="All lessons: %grade list"):
        magic.grade("inplace --lang en")


@pytest.mark.parametrize(
    ("ran", "at", "told"),
    [
        (
            "def f(x):\n    y = x\n    return y\n",
            2e9,
            "Line 2 of that cell is not in the file: y = x",
        ),
        ("def f(x):\n    y = x\n    return y\n", 1.0, None),
        ("def f(x):\n    return x\n", 2e9, None),
        ("%pwd\ndef f(x):\n    return 2\n", 2e9, "Line 3 of that cell"),
        ("# scratch\ndef f(x):\n    return 2\n", 2e9, None),
        ("%%time\ndef f(x):\n    return 2\n", 2e9, None),
        ("def g(x):\n    return 2\n", 2e9, None),
    ],
)
def test_only_what_ran_after_the_last_save_and_differs_was_not_saved(
    ran: str, at: float, told: str | None, tmp_path: Path
) -> None:
    (tmp_path / "a.ipynb").write_text("")
    os.utime(tmp_path / "a.ipynb", (1e9, 1e9))
    definitions = RunDefinitions()
    definitions.note(ran, 3, at)
    file = LessonFile("a", "a.ipynb", "def f(x):\n    return x\n", cells=((1, 1),))
    messages = definitions.unsaved(tmp_path, {"a": file}, engine_catalogue("en"))
    assert (told is None) == (not messages)
    assert all(told in message and "[3]" in message for message in messages if told)


def test_the_language_of_the_learner_is_that_of_the_notebook(
    tmp_path: Path, small_course: Course
) -> None:
    make_workspace(COURSE, tmp_path / "work", "ko", notebook=True)
    book = nbformat.read(tmp_path / "work" / LESSON / f"{LESSON}.ipynb", 4)
    assert re.search("[가-힣]", book.cells[0].source)
    assert "채점" in book.cells[-2].source
