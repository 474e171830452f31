"""The notebook that `grade init --notebook` writes, run in a real kernel as a student runs it."""

from __future__ import annotations

import html
import os
import re
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import v4

from grader.cli.notebook import RunDefinitions, as_magics
from grader.cli.workspace import make_workspace
from grader.core.i18n import Catalogue, engine_catalogue
from grader.course.course import Course, find_course, load_course
from grader.course.notebook import lesson_notebook, pieces
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile, read_submission

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
    """Return the cells of a solved notebook after a kernel ran them, and three more cells."""
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
    client = NotebookClient(
        book, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
    )
    environment = {"IPYTHONDIR": str(folder / ".ipython"), "LC_ALL": "C", "GRADE_LANG": "en"}
    client.execute(env={**os.environ, **environment})
    return list(book.cells[saved - 3 :])


def printed(cell: Any) -> str:
    return "".join(one["text"] for one in cell.outputs if one["output_type"] == "stream")


def displayed(cell: Any) -> dict[str, str]:
    (data,) = [one["data"] for one in cell.outputs if one["output_type"] == "display_data"]
    return dict(data)


@pytest.mark.fork
def test_a_solved_notebook_runs_from_top_to_bottom_and_gets_full_marks(run: list[Any]) -> None:
    scratch, _, graded, *_ = run
    assert "0.5000" in printed(scratch)
    assert f"{LESSON}  10 / 10" in displayed(graded)["text/plain"]
    assert f"{LESSON} is complete." in printed(graded)
    assert f"Beside the solution: %grade solution {LESSON}" in printed(graded)
    assert "not saved" not in printed(graded)


@pytest.mark.fork
def test_the_report_is_there_without_frame_script_and_style(run: list[Any]) -> None:
    """This is what remains of the output in a notebook that is not trusted."""
    page = displayed(run[2])["text/html"]
    static = re.sub(r"<iframe.*?</iframe>|<style>.*?</style>", "", page, flags=re.DOTALL)
    assert f"{LESSON}  10 / 10" in html.unescape(static)
    assert not re.search(r"<script|<iframe|<style|\son\w+=", static)


@pytest.mark.fork
def test_a_notebook_that_was_not_saved_is_told_so_with_the_line(run: list[Any]) -> None:
    told = printed(run[4])
    assert f"{LESSON}.ipynb was not saved since you ran sigmoid" in told
    assert "Line 1 of that cell is not in the file: def sigmoid(x):" in told
    assert "Ctrl+S" in told
    assert max(map(len, told.splitlines())) < 200


@pytest.mark.fork
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
    readme = "# A\n\n`grade hint a` helps.\n\n```\ngrade a        what\ngrade hint a   # x\n```\n"
    book = nbformat.reads(lesson_notebook("a", "x = 1\n", readme, Catalogue()), 4)
    assert book.cells[0].source == (
        "# A\n\n`%grade hint a` helps.\n\n```\n%grade a       # what\n%grade hint a  # x\n```"
    )


def test_commands_in_messages_are_magics_and_other_words_are_not() -> None:
    told = as_magics("A nudge  grade hint x. To grade list and graded. %grade next, 'grade next'")
    assert told == "A nudge  %grade hint x. To %grade list and graded. %grade next, 'grade next'"


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
