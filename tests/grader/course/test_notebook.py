"""A lesson may be a notebook: its Python cells are the submission, and all messages name cell and
line.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nbformat import v4, validate, writes
from rich.console import Console

import grader
from grader.classroom.exports.common import explanation
from grader.classroom.imports.discover import find_class
from grader.classroom.public_report import withheld
from grader.cli import main, watch
from grader.cli.learner import reset_lessons
from grader.cli.workspace import Learner
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.messages import Settings
from grader.core.report import Report
from grader.course.course import Course, Lesson, find_course, load_course
from grader.course.notebook import (
    MAX_CELLS,
    MAX_FILE_BYTES,
    MAX_NOTEBOOK_BYTES,
    as_magics,
    without_magics,
)
from grader.course.source import Source
from grader.course.submission import LessonFile, decode, digest, read_submission
from grader.judge.diagnosis import fill_text, in_cells
from grader.render.editors import error_lines
from grader.render.page import render_page
from grader.render.terminal import make_console, show_report
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

RIGHT = (
    "from torch import Tensor",
    "def double(x):\n    return 2 * x",
    "def triple(x):\n    return 3 * x",
    "LIMIT: float = 20.0",
)


def notebook(*cells: str, tags: dict[int, str] | None = None, **metadata: Any) -> bytes:
    """Return a notebook as Jupyter writes it, after a first text cell; ``tags`` are by cell
    number.
    """
    made = [v4.new_markdown_cell("# A lesson"), *(v4.new_code_cell(cell) for cell in cells)]
    for number, tag in (tags or {}).items():
        made[number - 1].metadata["tags"] = [tag]
    return str(writes(v4.new_notebook(cells=made, metadata=metadata))).encode()


def decoded(data: bytes) -> LessonFile:
    return decode("tiny", "tiny.ipynb", data, notebook=True)


def read(*cells: str, **options: Any) -> LessonFile:
    return decoded(notebook(*cells, **options))


def hostile(**notebook: Any) -> bytes:
    return json.dumps({"nbformat": 4, **notebook}).encode()


def code(source: object, **parts: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, **parts}


def told(file: LessonFile) -> list[tuple[int | None, int | None, str]]:
    return [(one.cell, one.line, one.what) for one in file.left_out]


def problem(data: bytes) -> str:
    """Return the problem of a notebook, which must then give no text."""
    file = decoded(data)
    assert file.problem is not None
    assert file.text == ""
    return file.problem


Grade = Callable[..., Report]


@pytest.fixture(scope="module")
def graded(host: ForkServerClient, small_course: Course) -> Grade:
    """Return ``graded(file, lang="en")``, which returns the report on a lesson's file."""

    def grade(file: LessonFile, lang: str = "en") -> Report:
        options, files = Settings(7, "off", lang=lang), {"tiny": file}
        return grade_submission(
            host, small_course, small_course.lessons, files, options, name="alice"
        )

    return grade


# ------------------------------------------------------------------------------------------ reading


@pytest.mark.parametrize("lesson", load_course(find_course()).lessons, ids=lambda one: one.id)
def test_the_commands_of_a_readme_are_the_same_in_its_notebook(lesson: Lesson) -> None:
    """Each with all its words before the comment, which begins after two spaces."""
    comment = re.compile(r"  | #")
    for readme in lesson.folder.glob("*.md"):
        text = readme.read_text("utf-8")
        typed = re.findall(rf"^grade (?:hint )?{lesson.id}\b.*", text, re.MULTILINE)
        magics = re.findall(rf"^%grade (?:hint )?{lesson.id}\b.*", as_magics(text, lesson.id), re.M)
        assert [comment.split(one)[0] for one in magics] == [
            f"%{comment.split(one)[0]}" for one in typed
        ]


def test_cells_of_code_are_one_text_and_know_their_lines() -> None:
    """Text cells count in the numbering, as people count them."""
    file = read("a = 1\nb = 2", "", "c = 3")
    assert (file.text, file.cells) == ("a = 1\nb = 2\nc = 3\n", ((2, 1), (4, 3)))
    source = Source(file.text, file.filename, file.cells)
    assert [source.place(line) for line in (1, 2, 3)] == [
        f"tiny.ipynb, cell {at}" for at in ("2, line 1", "2, line 2", "4, line 1")
    ]
    assert Source(file.text, "tiny.py").place(3) == "tiny.py:3"


@pytest.mark.parametrize("line", [-5, 0, 1, 99, 10**30])
def test_a_line_that_is_nowhere_is_told_as_some_cells(line: int) -> None:
    """A worker may report any number."""
    cell, within = Source("a\nb\n", "tiny.ipynb", ((2, 1), (4, 2))).in_cell(line)
    assert cell in (2, 4)
    assert within >= 1


def test_what_only_ipython_understands_is_left_out_with_its_place() -> None:
    cell = "%matplotlib inline\n!pip install torch\nx = !ls\ny = %pwd\na = 1\na?\n"
    file = read(cell + "pip install torch\nget_ipython().magic('x')", "b = 2")
    assert file.text == 4 * "pass\n" + "a = 1\n" + 3 * "pass\n" + "b = 2\n"
    assert [(line, what) for _, line, what in told(file)] == [
        (1, "a magic"),
        (2, "a line for the shell"),
        (3, "a line for the shell"),
        (4, "a magic"),
        (6, "a question"),
        (7, "a line for the shell"),
        (8, "a magic"),
    ]
    assert file.cells == ((2, 1), (3, 9))


@pytest.mark.parametrize(
    "code",
    [
        "x = (7\n  % 4)",
        'text = """\n%time\n!ls\nwhy?\n"""',
        "text = '''\n\\'''\n%time\n'''",
        "x = 7 \\\n  % 4",
        "x = [  # ' (\n1\n]",
        's = "a\'\'\'b"  # """\n(1)',
        "x = 1 != 2\nprint('what?')  # really?",
        "y = x %2\nz = x % y",
        "d = {'a': 1,\n  'b': 2}; e = d",
        "# a comment \\\nx = 1",
    ],
)
def test_python_is_left_as_it_is(code: str) -> None:
    """A percent sign in brackets, in a string or after a backslash is not a magic."""
    ast.parse(code)
    kept = without_magics(code)
    assert ("\n".join(kept.lines), kept.left_out) == (code, [])


@given(st.text("ab(){}[]'\"\\%!?#=\n \t", max_size=60))
@settings(max_examples=300)
def test_leaving_out_keeps_the_number_of_lines(code: str) -> None:
    assert len(without_magics(code).lines) == len(code.removesuffix("\n").split("\n"))


def test_a_magic_inside_a_block_and_one_over_several_lines() -> None:
    kept = without_magics("if True:\n    %time f()\n!pip install \\\n  torch\nx = 1")
    assert kept.lines == ["if True:", "    pass", "pass", "  pass".strip().rjust(6), "x = 1"]
    assert [line for line, _ in kept.left_out] == [2, 3]


def test_a_magic_after_a_bracket_that_is_closed() -> None:
    assert without_magics("x = f(\n  [1])\n%pwd").lines == ["x = f(", "  [1])", "pass"]


def test_cells_that_are_no_python_are_left_out_whole_and_timed_ones_count() -> None:
    file = read("%%bash\nls", "%%time\na = 1", "%%timeit\nb = 1", "\n%%writefile x.py\nc = 1")
    assert file.text == "pass\na = 1\n"
    assert told(file) == [
        (2, None, "a cell of another kind"),
        (3, 1, "a magic"),
        (4, None, "a cell of another kind"),
        (5, None, "a cell of another kind"),
    ]


def test_a_graded_cell_counts_in_the_notebook_of_its_own_lesson() -> None:
    file = read("%load_ext grader", "%%grade tiny --seed 5\na = 1", "%%grade small\nb = 1")
    assert file.text == "pass\npass\na = 1\n"
    assert told(file) == [(4, None, "a cell of another kind")]


@pytest.mark.parametrize("tag", ["skip", "skip-execution", "raises-exception"])
def test_cells_that_tools_skip_or_that_are_there_to_raise_are_left_out(tag: str) -> None:
    file = read("a = 1", "1 / 0", tags={3: tag})
    assert file.text == "a = 1\n"
    assert told(file) == [(3, None, "a tagged cell")]


def test_what_a_notebook_has_and_a_file_has_not_is_put_before_the_cells() -> None:
    """These are ``display`` and __future__ imports of any cell. Lines are still counted by cell."""
    file = read("import math", "from __future__ import annotations\ndisplay(math.pi)")
    compile(file.text, "tiny.ipynb", "exec")
    assert Source(file.text, "tiny.ipynb", file.cells).place(4) == "tiny.ipynb, cell 3, line 2"
    names: dict[str, Any] = {}
    exec("\n".join(file.text.split("\n")[:1]), names)
    assert names["display"] is print


@pytest.mark.parametrize("source", [["a = 1\r\n", "b = 2"], "a = 1\rb = 2"])
def test_line_ends_and_lists_of_lines_are_read_alike(source: object) -> None:
    assert decoded(hostile(cells=[code(source)])).text == "a = 1\nb = 2\n"


def test_outputs_dont_count_against_the_limit_of_code() -> None:
    outputs = [{"data": {"image/png": "A" * (2 * MAX_FILE_BYTES)}}]
    assert decoded(hostile(cells=[code("a = 1", outputs=outputs)])).text == "a = 1\n"


# ----------------------------------------------------------------------------------------- problems


RAISES = "\nraise KeyboardInterrupt if LIMIT < 0 else ValueError"
NEEDS_THREE = "def triple(x):\n    return THREE * x"
FAILING = [
    (10, RIGHT),
    (10, (*RIGHT, "assert double(2) == 5")),
    (10, (*RIGHT, "y = double(2)\ny.backward()", "print(y)\ntries = [y]")),
    (10, (*RIGHT[:-1], RIGHT[-1] + RAISES)),
    (0, (*RIGHT[:-1], "raise ValueError", RIGHT[-1])),
    (0, (*RIGHT[:2], "raise ValueError", *RIGHT[2:])),
    (0, (*RIGHT[:2], NEEDS_THREE, "raise ValueError", "THREE = 3")),
]


@pytest.mark.parametrize(("score", "cells"), FAILING)
def test_a_cell_that_fails_is_an_error_only_above_a_definition(
    graded: Grade, score: int, cells: tuple[str, ...]
) -> None:
    """Jupyter had shown the error, and the definitions above it are in the kernel, too. What the
    cells below define does not exist.
    """
    (tiny,) = graded(read(*cells)).lessons
    assert (tiny.message is None, tiny.score) == (score == 10, score)


CODE = code("a = 1")
BAD = {
    "conflict": (b'{"nbformat": 4,\n<<<<<<< HEAD\n', "tiny.ipynb:2 is not JSON"),
    "python text": (b"def f():\n    pass\n", "Python text is named tiny.py"),
    "empty": (b" \n", "is empty"),
    "no utf-8": (b'{"a": "\xff"}', "is not a notebook that can be read"),
    "deep": (b"[" * 200_000, "is not a notebook that can be read"),
    "deep cells": (b'{"nbformat": 4, "cells": ' + b'{"a":' * 200_000, "can be read"),
    "a long number": (b"1" * 10_000, "is not a notebook that can be read"),
    "a list": (b"[1]", "it has no nbformat"),
    "a link to a drive": (b'{"url": "https://colab", "doc_id": "x"}', "File, Download"),
    "no format": (hostile(nbformat="4"), "it has no nbformat"),
    "old": (hostile(nbformat=3, worksheets=[]), "Open it in Jupyter and save it"),
    "new": (hostile(nbformat=5), "Save it as tiny.py instead"),
    "no cells": (hostile(), "without a list of cells"),
    "cells are no list": (hostile(cells={"a": 1}), "without a list of cells"),
    "a cell is not a cell": (hostile(cells=[CODE, 5]), "cell 2: it has no text"),
    "a cell has no text": (hostile(cells=[code([1])]), "cell 1: it has no text"),
    "no code": (hostile(cells=[{"cell_type": "markdown", "source": "a"}]), "has no code in it"),
    "comments alone": (hostile(cells=[code("# a = 1\n\n# b")]), "no code, only comments"),
    "magics alone": (hostile(cells=[code("%pwd\n!ls")]), "has no code in it"),
    "no python": (
        hostile(cells=[CODE], metadata={"kernelspec": {"language": "R"}}),
        "is a notebook in R",
    ),
    "nul": (
        hostile(cells=[CODE, code("a\nb\0")]),
        "cell 2, line 2 holds a character that is not text",
    ),
    "surrogate": (
        hostile(cells=[code("a = '\ud800'")]),
        "cell 1, line 1 holds a character that is not text",
    ),
    "much code": (hostile(cells=[CODE, code("#" * MAX_FILE_BYTES)]), "too much code, at cell 2"),
    "many cells": (hostile(cells=[CODE] * (MAX_CELLS + 1)), "Keep those that the lesson needs"),
    "giant": (b" " * (MAX_NOTEBOOK_BYTES + 1), "is larger than 20 MB. Clear its outputs"),
}


@pytest.mark.parametrize(("data", "message"), BAD.values(), ids=BAD)
def test_what_is_no_notebook_is_told_with_a_remedy(data: bytes, message: str) -> None:
    assert message in problem(data)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["source", "metadata", "tags", "name", "a"]), inner, max_size=3
        )
    ),
    max_leaves=8,
)


@given(JSON, JSON, st.lists(JSON, max_size=3))
@settings(max_examples=60)
def test_any_json_is_read_or_is_a_problem(metadata: Any, tags: Any, cells: list[Any]) -> None:
    file = decoded(hostile(metadata=metadata, cells=[code("a = 1", metadata=tags), *cells]))
    assert (file.problem is None) == (file.text == "a = 1\n")


# ------------------------------------------------------------------------------------ where it lies


def test_a_notebook_is_found_where_a_file_is_and_both_side_by_side_are_a_problem(
    tmp_path: Path,
) -> None:
    (tmp_path / "work" / ".ipynb_checkpoints").mkdir(parents=True)
    (tmp_path / "work" / "tiny.ipynb").write_bytes(notebook(*RIGHT))
    (tmp_path / "work" / ".ipynb_checkpoints" / "tiny.ipynb").write_bytes(b"{}")
    assert read_submission(tmp_path, ["tiny"])["tiny"].path == "work/tiny.ipynb"
    assert read_submission(tmp_path / "work" / "tiny.ipynb", ["tiny"])["tiny"].cells
    (tmp_path / "work" / "tiny.py").write_text("a = 1\n")
    assert "two files claim to be this lesson" in (
        read_submission(tmp_path, ["tiny"])["tiny"].problem or ""
    )


def test_a_class_hands_in_notebooks(tmp_path: Path) -> None:
    """They are in folders, or side by side under the students' names."""
    (tmp_path / "alice").mkdir()
    (tmp_path / "alice" / "tiny.ipynb").write_bytes(notebook(*RIGHT))
    (tmp_path / "bob_tiny.ipynb").write_bytes(notebook(*RIGHT))
    (tmp_path / "carol.ipynb").write_bytes(notebook(*RIGHT))
    found = find_class(tmp_path, lessons=["tiny", "small"], graded=["tiny"])
    assert {one.name: one.read(["tiny"])["tiny"].cells[0] for one in found.handed} == dict.fromkeys(
        ("alice", "bob", "carol"), (2, 1)
    )


def test_the_digest_tells_cells_apart_and_leaves_files_of_python_as_they_were() -> None:
    """Otherwise, one notebook's report could point to cells of another."""
    plain = LessonFile("tiny", "tiny.py", "a = 1\nb = 2\n")
    one, two = read("a = 1\nb = 2"), read("a = 1", "b = 2")
    assert plain.text == one.text == two.text
    assert len({digest({"tiny": file}) for file in (plain, one, two)}) == 3
    assert (
        digest({"tiny": plain})
        == "d9a01df6eec364db2556ec84987877c38900e6701f2f0e9c4234c22b3cdf10ef"
    )


def test_a_notebook_is_watched(
    tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A save of it is a save of the lesson."""
    (tmp_path / "tiny.ipynb").write_bytes(notebook(*RIGHT))
    told: list[dict[str, str]] = []
    # Nothing is graded.
    monkeypatch.setattr(watch, "ForkServerClient", lambda **_: contextlib.nullcontext())
    monkeypatch.setattr(watch, "folder_saves", lambda folders, lessons, poll: told.append(lessons))
    monkeypatch.setattr(watch, "run_session", lambda *_: 0)
    words = ["watch", "tiny", "--in", str(tmp_path), "--poll", "--course", str(small_course.root)]
    with pytest.raises(SystemExit, match="0"):
        main(words)
    assert told == [{"tiny.py": "tiny", "tiny.ipynb": "tiny"}]


def test_a_notebook_begun_anew_is_a_notebook_with_the_stub(
    tmp_path: Path, small_course: Course
) -> None:
    path = tmp_path / "tiny.ipynb"
    path.write_bytes(notebook(*RIGHT))
    lesson = small_course.lesson("tiny")
    learner = Learner(small_course, tmp_path, False, Catalogue())
    reset_lessons(learner, make_console(), ("tiny",), yes=True)
    validate(json.loads(path.read_text()))
    text = read_submission(tmp_path, ["tiny"])["tiny"].text
    assert_same_code(text, lesson.stub.read_text())
    assert (tmp_path / "tiny.ipynb.1").exists()
    reset_lessons(learner, make_console(), ("tiny",), yes=True)
    assert not (tmp_path / "tiny.ipynb.2").exists()


def assert_same_code(text: str, stub: str) -> None:
    """Assert that both have the same code, except for the module's docstring and omitted lines."""
    mine, theirs = (
        [
            ast.unparse(node)
            for node in ast.parse(code).body
            if not isinstance(node, ast.Pass | ast.Expr)
        ]
        for code in (text, stub)
    )
    assert mine == theirs


# ----------------------------------------------------------------------------------------- verdicts


@pytest.fixture(scope="module")
def wrong_report(graded: Grade) -> Report:
    """Return the report on a notebook with magics, in which double is wrong and triple raises."""
    double, triple = "def double(x):\n\n    return 5 * x", "def triple(x):\n    raise ValueError"
    return graded(read("%pwd", RIGHT[0], double, triple, RIGHT[3]))


def test_what_is_wrong_is_told_by_cell_and_line_everywhere(wrong_report: Report) -> None:
    """This covers terminal, page, exports, and GitHub, which can't annotate a notebook's lines."""
    lesson = wrong_report.lessons[0]
    places = {
        check.function: (check.cell, check.source_line)
        for check in lesson.checks
        if check.source_line
    }
    assert places["double"] == (4, 3)
    assert places["triple"] == (5, 2)
    where = "tiny.ipynb, cell 4 from the top, line 3"
    console = Console(width=100, record=True, file=io.StringIO())
    show_report(console, wrong_report, html=None)
    page = render_page(wrong_report)
    first = next(check for check in lesson.checks if check.cell == 4)
    for shown in (console.export_text(), page, explanation(first, lesson)):
        assert where in shown
    assert "cell 2, line 1: a magic, left out" in page
    commands = list(error_lines(wrong_report, PurePosixPath(), Catalogue()))
    assert any("%0Atiny.ipynb, cell 4 from the top, line 3" in command for command in commands)
    assert not any(",line=" in command for command in commands)


def test_the_report_fits_its_schema_and_comes_back_from_json(wrong_report: Report) -> None:
    """So does one from before notebooks."""
    data = json.loads(json.dumps(wrong_report.as_json()))
    jsonschema.validate(
        data, json.loads((Path(grader.__file__).parent / "core" / "report.schema.json").read_text())
    )
    assert Report.from_json(data) == wrong_report
    del data["lessons"][0]["notes"], data["lessons"][0]["checks"][0]["cell"]
    assert Report.from_json(data).lessons[0].notes == ()


def test_a_withheld_check_tells_its_cell(wrong_report: Report) -> None:
    (lesson,) = wrong_report.lessons
    hidden = replace(lesson, checks=tuple(replace(check, hidden=True) for check in lesson.checks))
    assert {check.cell for check in lesson.checks} > {None}
    shown = withheld(replace(wrong_report, lessons=(hidden,))).lessons[0].checks
    assert [check.cell for check in shown] == [check.cell for check in lesson.checks]


@pytest.mark.parametrize(
    ("lang", "said"), [("en", "line 2 of cell 4 uses it"), ("ko", "4번째 셀의 2")]
)
def test_a_line_in_a_message_is_told_by_cell(lang: str, said: str) -> None:
    """Checks and rules give a line of the text; for a Python file it stays as it is."""
    cells = Source("a\nb\nc\n", "tiny.ipynb", ((2, 1), (4, 2)))
    assert said in fill_text(
        "line {line} uses it", in_cells({"line": 3}, cells), engine_catalogue(lang)
    )
    assert in_cells({"line": 3}, Source("a\nb\nc\n", "tiny.py")) == {"line": 3}
    assert in_cells({"line": "row"}, cells) == {"line": "row"}


def test_a_cell_that_is_no_python_is_named(graded: Grade) -> None:
    lesson = graded(read(RIGHT[0], "x = 1\ndef double(x:")).lessons[0]
    assert lesson.status == "invalid"
    assert (lesson.checks[0].cell, lesson.checks[0].source_line) == (3, 2)


def test_flags_name_the_cell(graded: Grade) -> None:
    flags = graded(read(*RIGHT, "\nimport socket")).flags
    assert any(flag.startswith("tiny.ipynb, cell 6, line 2 ") for flag in flags)


def test_a_broken_notebook_is_an_invalid_lesson(graded: Grade) -> None:
    lesson = graded(decoded(b"{")).lessons[0]
    assert (lesson.status, lesson.score) == ("invalid", 0.0)
    assert "is not JSON" in (lesson.message or "")


def test_notes_and_places_are_told_in_korean(graded: Grade) -> None:
    tr = engine_catalogue("ko")
    file = read("%pwd", "def double(x):\n    return 5 * x", *RIGHT[2:])
    page = render_page(graded(file, "ko"), tr)
    assert "2번째 셀 1번째 줄: 매직 명령" in page
    assert "tiny.ipynb, 위에서 3번째 셀 2번째 줄" in page


# ------------------------------------------------------------------------------------ scratch cells


STUB = "def double(x):\n    raise NotImplementedError\n"
DOUBLE = "def double(x):\n    return 2 * x\n"
MARK = "# scratch: try it here\n"


def read_cells(folder: Path, *cells: str | tuple[str, ...]) -> LessonFile:
    """Return the lesson in a notebook with these cells; a tuple is a text and its tags."""
    made = []
    for one in cells:
        text, *tags = (one,) if isinstance(one, str) else one
        made.append(v4.new_code_cell(text, metadata={"tags": tags} if tags else {}))
    (folder / "tiny.ipynb").write_text(writes(v4.new_notebook(cells=made)))
    return read_submission(folder, ["tiny"])["tiny"]


def kept(file: LessonFile) -> list[str]:
    """Return the statements of a lesson, without those that have no effect."""
    return [
        ast.unparse(node) for node in ast.parse(file.text).body if not isinstance(node, ast.Pass)
    ]


@pytest.mark.parametrize(
    "scratch",
    [
        MARK + "double(2)",
        MARK + "while True:\n    pass",
        MARK + "raise ValueError",
        MARK + "this is not Python",
        MARK + "%timeit double(3)\n!ls",
        MARK + "import matplotlib.pyplot as plt\nplt.plot([1])",
        MARK + "def double(x):\n    return 3 * x\ndouble(1)",
        MARK + "double = None",
        MARK + "double = 3; x = double",
        MARK + "@decorate\ndef show(x=unknown): ...",
        MARK + "class Shown(unknown.Base):\n    y = unknown",
        ("double(2)", "scratch"),
        "  #Scratch\ndouble(2)",
    ],
)
def test_what_is_tried_in_a_scratch_cell_is_not_graded(scratch: str, tmp_path: Path) -> None:
    file = read_cells(tmp_path, DOUBLE, scratch)
    assert kept(file) == [DOUBLE.rstrip()]
    assert (file.problem, file.left_out) == (None, ())


@pytest.mark.parametrize(
    ("code", "scratch", "needed"),
    [
        ("def double(x):\n    return math.fsum([x, x])", "import math\nimport os", "import math"),
        ("def double(x):\n    return F * x", "F = 2\nprint(F)", "F = 2"),
        (
            "def double(x):\n    return twice(x)",
            "def twice(x):\n    return 2 * x\ntwice(3)",
            "def twice(x):\n    return 2 * x",
        ),
        (STUB, DOUBLE + "double(2)", DOUBLE.rstrip()),
        ("import torch", DOUBLE, DOUBLE.rstrip()),
        ("LIMIT: float = ...", "LIMIT = 20.0", "LIMIT = 20.0"),
    ],
)
def test_what_the_other_cells_need_counts_because_the_kernel_has_it(
    code: str, scratch: str, needed: str, tmp_path: Path
) -> None:
    file = read_cells(tmp_path, code, MARK + scratch)
    assert kept(file) == [ast.unparse(ast.parse(code)), needed]
    in_cell = file.text.split("\n")[file.cells[1][1] - 1 :]
    first = needed.split("\n")[0]
    assert in_cell.index(first) == (MARK + scratch).split("\n").index(first)


def test_what_a_needed_helper_needs_is_kept_too(tmp_path: Path) -> None:
    helper = "def twice(x):\n    return math.fsum([x, x])"
    file = read_cells(
        tmp_path, MARK + "import math", "def double(x):\n    return twice(x)", MARK + helper
    )
    assert kept(file)[0] == "import math"
    assert kept(file)[2] == helper
    assert [number for number, _ in file.cells] == [1, 2, 3]
