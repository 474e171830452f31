"""Run a check again from its seed: judged, as a script without the engine, and in a debugger;
without a lesson, the check that is known to be wrong.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from in_process import exit_code
from nbformat import v4, writes
from plain_python import PlainPython

import grader
from grader.cli.replay import (
    SHOWN,
    Replay,
    ReplayRequest,
    comment,
    find_replay,
    resolve_target,
    script,
)
from grader.cli.workspace import make_workspace
from grader.core.errors import CheckFailure, ExitCode, UsageError
from grader.core.i18n import Catalogue
from grader.core.messages import JudgeResult, Settings
from grader.core.report import CheckResult
from grader.course.course import Course, find_course, load_course
from grader.course.progress import LessonProgress, update_progress
from grader.course.source import Source
from grader.course.stubs import compose, without_markers
from grader.judge.debugger import error_text
from grader.judge.remote.scenarios import scenario_with_definitions
from grader.judge.replay import NoLiteral, literal
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import LessonOutcome, grade_lesson
from grader.worker.wire.program import program

pytestmark = pytest.mark.fork

REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
SQUARES = "def double(x):\n    return x * x\n\n\n" + REST
RAISES = "def double(x):\n    y = x.no_such_method()\n    return y\n\n\n" + REST
RIGHT = "def double(x):\n    return 2 * x\n\n\n" + REST
NUMBER = re.compile(r"-?\d+\.\d*(?:e[+-]?\d+)?")


RunScript = Callable[[str], subprocess.CompletedProcess[str]]


def write_lesson(folder: Path, text: str, lesson: str = "tiny") -> Path:
    """Write a lesson's file into a folder that may be new."""
    folder.mkdir(exist_ok=True)
    (folder / f"{lesson}.py").write_text(text, "utf-8")
    return folder


def recorded(
    host: ForkServerClient, course: Course, place: Path, target: str = "tiny.double"
) -> tuple[Replay, LessonOutcome, CheckResult]:
    """Judge a check and record its script."""
    what = find_replay(course, ReplayRequest(target, place, seed=5, lang="en"))
    settings = Settings(5, limits=course.limits, recorded=what.check_id)
    judged = grade_lesson(host, what.lesson, what.file, settings)
    (check,) = [one for one in judged.result.checks if one.id == what.check_id]
    return what, judged, check


def recorded_script(
    host: ForkServerClient, course: Course, place: Path, target: str = "tiny.double"
) -> tuple[str, CheckResult]:
    what, judged, check = recorded(host, course, place, target)
    return script(judged, check, place / Path(what.file.path).name, what), check


@pytest.fixture
def run_script(plain_python: PlainPython, tmp_path: Path) -> RunScript:
    """Return ``run_script(text)``, which runs a script with plain Python: isolated."""

    def run(text: str) -> subprocess.CompletedProcess[str]:
        assert "grader" not in text
        (tmp_path / "again.py").write_text(text, "utf-8")
        return plain_python.run(tmp_path / "again.py")

    return run


def numbers(value: Any) -> list[float]:
    """Return every float in plain data, in order."""
    if isinstance(value, dict):
        return [
            number
            for key, item in value.items()
            if key not in ("dtype", "shape")
            for number in numbers(item)
        ]
    if isinstance(value, list):
        return [number for item in value for number in numbers(item)]
    return [value] if isinstance(value, float) else []


@pytest.mark.parametrize(
    ("lesson", "mistake", "name"),
    [
        ("custom_sigmoid", "ignores_grad_output", "gradient_uses_the_incoming_gradient"),
        ("custom_sigmoid", "writes_into_x", "tensors_of_others_stay"),
        ("custom_sigmoid", "writes_into_grad_output", "tensors_of_others_stay"),
        ("retain_graph", "doubles_one_pass", "backward_twice_counts_what_was_there"),
        ("hooks", "averages_the_output", "values_are_the_norms_of_grad_output"),
        ("hooks", "scales_everything", "scale_what_flows_through_y"),
    ],
)
def test_a_shown_script_gives_the_wrong_number_of_the_report(
    lesson: str,
    mistake: str,
    name: str,
    host: ForkServerClient,
    tmp_path: Path,
    run_script: RunScript,
) -> None:
    """Plain Python runs it. The cases: derivatives, writes into arguments, a scenario with a
    function as data or with modules, a graph, remote objects.
    """
    course = load_course(find_course())
    solution = without_markers(course.lesson(lesson).solution.read_text("utf-8"))
    fragment = next(c for c in course.lesson(lesson).mistakes if c.label == mistake)
    wrong = compose(solution, fragment.source, name=mistake)
    place = write_lesson(tmp_path / "work", wrong, lesson)
    text, check = recorded_script(host, course, place, f"{lesson}.{name}")
    done = run_script(text)
    assert (done.returncode, done.stderr) == (0, "")
    said = {
        line.split()[0]: [float(number) for number in NUMBER.findall(line)]
        for line in done.stdout.splitlines()
        if line.strip()
    }
    for word, value in (("got", check.actual), ("expected", check.expected)):
        assert said[word] == pytest.approx(numbers(value), abs=1e-4)
    assert said["got"] != said["expected"]


def test_a_script_of_code_that_raises_raises_the_same(
    host: ForkServerClient, small_course: Course, tmp_path: Path, run_script: RunScript
) -> None:
    place = write_lesson(tmp_path / "work", RAISES)
    done = run_script(recorded_script(host, small_course, place)[0])
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "AttributeError: 'Tensor' object has no attribute 'no_such_method'"
    )


def test_what_is_written_down_changes_no_verdict(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    place = write_lesson(tmp_path / "work", SQUARES)
    what, _, check = recorded(host, small_course, place)
    plain = grade_lesson(host, what.lesson, what.file, Settings(5, limits=small_course.limits))
    (same,) = [one for one in plain.result.checks if one.id == check.id]
    assert plain.judged.script is None
    assert replace(same, seconds=0) == replace(check, seconds=0)


def test_a_constant_is_shown_as_one(
    host: ForkServerClient, small_course: Course, tmp_path: Path, run_script: RunScript
) -> None:
    place = write_lesson(tmp_path / "work", RIGHT.replace("20.0", "19.0"))
    done = run_script(recorded_script(host, small_course, place, "tiny.limit")[0])
    assert done.stdout.split() == ["got", "19.0", "expected", "20.0"]


def test_a_check_without_a_script_is_shown_itself(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    place = write_lesson(tmp_path / "work", SQUARES)
    what, judged, check = recorded(host, small_course, place)
    without = LessonOutcome(judged.result, JudgeResult((), script="it reads the file"))
    text = script(without, check, place / "tiny.py", what)
    assert "# This can't be done without the grader: it reads the file." in text
    assert '@check(points=3, about="double")\ndef test_double(student, draw):' in text


def test_what_a_student_wrote_stays_a_comment() -> None:
    assert comment("one\nimport os\x1b[2J") == "# one\n# import os\\x1b[2J"


# ----------------------------------------------------------------------------------------- literals


@pytest.mark.parametrize(
    "tensor",
    [
        torch.tensor([0.1, -2.0], dtype=torch.float64, requires_grad=True),
        torch.tensor(3.0),
        torch.tensor([float("nan"), float("inf"), -float("inf")]),
        torch.arange(6).reshape(2, 3),
        torch.tensor([True, False]),
        torch.zeros(0),
        torch.zeros(2, 0, dtype=torch.float64),
        torch.arange(6.0).reshape(2, 3).t(),
        torch.arange(24.0).reshape(4, 6)[1:3, ::2].detach().requires_grad_(),
        torch.tensor([1.0, 2.0]).expand(3, 2),
    ],
    ids=lambda tensor: f"{tuple(tensor.shape)} {tuple(tensor.stride())} {tensor.dtype}",
)
def test_a_literal_is_the_tensor(tensor: torch.Tensor) -> None:
    """Values, shape, dtype, strides and requires_grad are the same."""
    found = eval(literal(tensor), {"torch": torch})
    assert torch.allclose(found.double(), tensor.double(), equal_nan=True, rtol=0, atol=0)
    assert (found.shape, found.dtype, found.requires_grad) == (
        tensor.shape,
        tensor.dtype,
        tensor.requires_grad,
    )
    assert found.stride() == tensor.stride()


def test_a_tensor_that_is_too_long_is_not_written_out() -> None:
    with pytest.raises(NoLiteral, match="10,001 elements"):
        literal(torch.zeros(10_001))


def test_a_function_that_is_data_becomes_one_that_is_text(remote: Any) -> None:
    """The cases have parameters, several outputs, and a custom Function."""
    from grader.judge.replay import Recorder, ScriptWriter

    weight = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
    f = program(lambda x, w: (-(w @ x) * (-2.0), x.cube().softplus()), parameters=[weight])
    student = remote("def run(f, x): return f(x)[0] + f(x)[1]")
    x = torch.tensor([0.5, -1.5])
    with Recorder(student._session) as recorder:
        got = recorder.student.run(f, x)
    writer = ScriptWriter(
        recorder.steps, recorder.snapshots, inputs={"x": x}, module="lesson", scenarios=""
    )
    lines = writer.write(actual=got)
    names: dict[str, Any] = {
        "torch": torch,
        "lesson": type("Lesson", (), {"run": staticmethod(lambda f, x: f(x)[0] + f(x)[1])}),
    }
    exec("\n".join(lines), names)
    assert torch.equal(names["y"], got)
    assert torch.equal(got, f(x)[0] + f(x)[1])


def test_a_chain_becomes_a_function_without_annotations(
    remote: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from grader.authoring import chain, fetch
    from grader.judge.replay import Recorder, ScriptWriter

    text = "class Value:\n    def __init__(self, data): self.data = data\n"
    text += "    def __mul__(self, other): return Value(self.data * other)\n"
    student = remote(text)
    with Recorder(student._session) as recorder:
        got = fetch(chain(["x * 2", "x * 3"], 2, x=recorder.student.Value(1.5))[-1].data)
    writer = ScriptWriter(recorder.steps, {}, inputs={}, module="lesson", scenarios="")
    lines = writer.write(actual=got)
    assert "def run_chain(formulas, times, /, **names):" in lines
    own: dict[str, Any] = {}
    exec(text, own)
    names = {"lesson": type("Lesson", (), {"Value": own["Value"]})}
    exec("\n".join(lines), names)
    assert got == 54.0
    assert capsys.readouterr().out == "got      54.0\n"


def test_the_entries_that_a_check_compares_are_all_shown(
    remote: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    from grader.authoring import fetch
    from grader.judge.replay import Recorder, ScriptWriter

    text = "class Value:\n    def __init__(self, data): self.data = data\n"
    student = remote(text)
    with Recorder(student._session) as recorder:
        a, b = (recorder.student.Value(number) for number in (1.5, 2.5))
        got = dict(zip("ab", fetch(a.data, b.data), strict=True))
    writer = ScriptWriter(recorder.steps, {}, inputs={}, module="lesson", scenarios="")
    lines = writer.write(actual=got)
    own: dict[str, Any] = {}
    exec(text, own)
    exec("\n".join(lines), {"lesson": SimpleNamespace(**own)})
    assert capsys.readouterr().out == "got      {'a': 1.5, 'b': 2.5}\n"


def test_a_function_within_a_context_manager_is_written_out(
    remote: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A program in it has a parameter that is an object in the worker."""
    from grader.authoring import fetch, formula, within
    from grader.judge.replay import Recorder, ScriptWriter

    text = "import contextlib\n\ndef nothing(n): return contextlib.nullcontext(n)\n"
    student = remote(text)
    x, w = (torch.tensor(n, requires_grad=True) for n in (2.0, 3.0))
    with Recorder(student._session) as recorder:
        at_x, at_w = recorder.student.put(x), recorder.student.put(w)
        y = within(recorder.student.nothing(1), formula("x * w", w=at_w), at_x)
        y.backward()
        got = fetch(at_w.grad)
    writer = ScriptWriter(recorder.steps, recorder.snapshots, inputs={}, module="m", scenarios="")
    lines = writer.write(actual=got)
    own: dict[str, Any] = {}
    exec(text, own)
    exec("\n".join(lines), {"m": SimpleNamespace(**own), "torch": torch})
    assert got == 2.0
    assert capsys.readouterr().out.split() == ["got", "tensor(2.)"]


def test_of_scenarios_only_what_is_used_is_shown() -> None:
    text = (
        "import math\n\n\n"
        "def one(student):\n"
        "    return two()\n\n\n"
        "def two():\n"
        "    return math.pi\n\n\n"
        "def three(student):\n"
        "    return 3\n"
    )
    assert scenario_with_definitions(text, "one") == text[: text.index("\n\n\ndef three")] + "\n"


# ---------------------------------------------------------------------------------------- the seeds


Replayed = Callable[..., tuple[object, str, str]]


@pytest.fixture
def replayed(lent_host: None, small_course: Course, capsys: pytest.CaptureFixture[str]) -> Replayed:
    """Return ``replayed(place, *words)``, which runs ``grade replay`` on a folder's lesson; it
    returns exit code, output and errors.
    """

    def run(place: Path, *words: str) -> tuple[object, str, str]:
        where = ("--in", place, "--course", small_course.root, "--lang", "en")
        code = exit_code("replay", *words, *where)
        said = capsys.readouterr()
        return code, said.out, said.err

    return run


def test_a_replay_shows_the_check_and_nothing_else(tmp_path: Path, replayed: Replayed) -> None:
    place = write_lesson(tmp_path / "work", SQUARES)
    code, out, err = replayed(place, "tiny.double", "--seed", "11")
    assert (code, err) == (ExitCode.NOT_FULL_MARKS, "")
    assert "double returns twice x" in out and "triple" not in out
    own = re.search(r"(\d+) the check's own", out)
    (inputs,) = [line for line in out.splitlines() if "called with  x = " in line]
    assert own is not None
    assert inputs in replayed(place, "tiny.double", "--check-seed", own[1])[1]
    assert replayed(place, "tiny.triple", "--seed", "11")[0] == ExitCode.OK


def test_a_lesson_that_is_not_started_has_nothing_to_replay(
    small_course: Course, replayed: Replayed
) -> None:
    code, out, _ = replayed(small_course.root / "exercises", "tiny")
    assert code == ExitCode.NOT_FULL_MARKS
    assert out == (
        "tiny is not started, so there is nothing to show. What comes next: grade next\n"
    )


def test_a_replay_folds_nothing(tmp_path: Path, replayed: Replayed) -> None:
    """All output is shown; for a lesson, its only wrong check is taken."""
    prints = SQUARES.replace("return", "print('\\n'.join('abcdefgh'))\n    return", 1)
    _, out, _ = replayed(write_lesson(tmp_path / "work", prints), "tiny", "--seed", "1")
    assert re.search(r"^ +h *$", out, re.MULTILINE)
    assert "tiny.double" in out
    assert "tiny.triple" not in out


@pytest.mark.parametrize("way", [(), ("--show",), ("--pdb",)])
def test_of_several_that_are_wrong_a_replay_lists_the_commands(
    way: tuple[str, ...], small_course: Course, tmp_path: Path, replayed: Replayed
) -> None:
    """They include the typed options. Standard output is
    reserved for a script, so it stays empty.
    """
    place = write_lesson(tmp_path / "my work", SQUARES.replace("3 * x", "4 * x"))
    options = ("--in", str(place), "--course", str(small_course.root), "--lang", "en")
    code, out, err = replayed(place, "tiny", "--seed", "1", *way)
    assert code == ExitCode.NOT_FULL_MARKS
    said, other = (err, out) if way == ("--show",) else (out, err)
    assert said.startswith("2 checks of tiny are wrong. Take one:")
    for check in ("double", "triple"):
        words = ["grade", "replay", f"tiny.{check}", "--seed", "1", *way, *options]
        assert words in [
            shlex.split(line) for line in said.splitlines() if line.lstrip().startswith("grade")
        ]
    assert other == ""


def write_notebook(folder: Path, text: str) -> Path:
    """Make a folder with the lesson tiny as a notebook: text, a magic, and a cell for each
    definition.
    """
    folder.mkdir(exist_ok=True)
    parts = [
        "from __future__ import annotations\n%matplotlib inline",
        "# only words",
        *text.strip().split("\n\n\n"),
    ]
    cells = [v4.new_markdown_cell("# tiny"), *map(v4.new_code_cell, parts)]
    (folder / "tiny.ipynb").write_text(writes(v4.new_notebook(cells=cells)), "utf-8")
    return folder


@pytest.mark.parametrize(
    "text",
    [
        SQUARES.replace("return", "display(1)\n    return", 1),
        'def double(x):\n    """Twice \\\\."""\n    return x * x\n\n\n' + REST,
    ],
)
def test_a_script_of_a_notebook_runs_its_cells_without_us(
    text: str, host: ForkServerClient, small_course: Course, tmp_path: Path, run_script: RunScript
) -> None:
    """The script does not need the notebook; it has what a notebook provides and its __future__
    imports.
    """
    place = write_notebook(tmp_path / "work", text)
    shown, check = recorded_script(host, small_course, place)
    assert "only words" not in shown
    done = run_script(shown)
    assert (done.returncode, done.stderr) == (0, "")
    got = next(line for line in done.stdout.splitlines() if line.startswith("got"))
    assert [float(number) for number in NUMBER.findall(got)] == pytest.approx(
        numbers(check.actual), abs=1e-4
    )


def test_a_script_of_a_notebook_names_the_cell_that_raises(
    host: ForkServerClient, small_course: Course, tmp_path: Path, run_script: RunScript
) -> None:
    place = write_notebook(tmp_path / "work", RAISES)
    done = run_script(recorded_script(host, small_course, place)[0])
    assert 'File "tiny.ipynb, cell 4", line 2, in double\n' in done.stderr


def test_what_is_right_has_nothing_to_reproduce(tmp_path: Path, replayed: Replayed) -> None:
    place = write_lesson(tmp_path / "work", RIGHT)
    assert replayed(place, "tiny", "--show")[:2] == (ExitCode.OK, "")
    code, out, err = replayed(place, "tiny.double", "--show")
    assert (code, out) == (ExitCode.OK, "")
    assert "tiny.double is not wrong with this seed" in err


@pytest.mark.parametrize(
    ("text", "target", "said"),
    [
        ("def double(x):\n    while True: pass\n", "tiny.double", "still running"),
        (SQUARES, "tiny.gradient_of_double", "waits for: "),
        ("def double(x)\n", "tiny", "SyntaxError"),
    ],
    ids=["out of time", "waiting", "not Python"],
)
def test_what_has_no_script_is_not_called_right(
    text: str, target: str, said: str, tmp_path: Path, replayed: Replayed
) -> None:
    code, out, err = replayed(write_lesson(tmp_path / "work", text), target, "--show")
    assert (code, out) == (ExitCode.NOT_FULL_MARKS, "")
    assert said in err
    assert "not wrong" not in err


@pytest.mark.parametrize(
    ("place", "words", "answer"),
    [
        (
            "work",
            "tiny.dubble",
            "tiny has no check 'dubble'. Did you mean tiny.double? Its checks: double, triple,"
            " gradient_of_double",
        ),
        (
            "work",
            "tiny --check-seed 3",
            "--check-seed is the seed of one check, and tiny is a lesson. Name one: tiny.<check>",
        ),
        ("work", "tiny.double --check-seed 3 --seed 3", "--seed and --check-seed are both given"),
        ("empty", "tiny.double", "holds no tiny.py. Name the folder that does: --in DIR"),
        ("work.zip", "tiny.double --pdb", "Unpack it, and name the folder: --in DIR"),
        ("work", "tinny.double", "There is no lesson 'tinny'. Did you mean tiny?"),
    ],
)
def test_what_cannot_be_replayed_is_said_with_a_remedy(
    place: str, words: str, answer: str, tmp_path: Path, replayed: Replayed
) -> None:
    work = write_lesson(tmp_path / "work", SQUARES)
    (tmp_path / "empty").mkdir()
    shutil.make_archive(str(work), "zip", work)
    code, out, err = replayed(tmp_path / place, *words.split())
    assert (code, out) == (ExitCode.USAGE, "")
    assert answer in err


# ------------------------------------------------------------------------------------- the debugger


IN_CELL = ["tiny.ipynb, cell 4(2)double()", "torch.Size([3])", "def double(x):"]


def proof(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.proof)


@pytest.mark.parametrize(
    ("write", "text", "options", "typed", "answers"),
    [
        (
            write_lesson,
            RAISES,
            (),
            "p x.shape\nq\n",
            ["-> y = x.no_such_method()", "torch.Size([3])"],
        ),
        (
            write_lesson,
            SQUARES,
            (),
            "p x.shape\nq\n",
            ["once more, stopping where it is called", "-> return x * x", "torch.Size([3])"],
        ),
        proof(write_lesson, RIGHT, (), "", ["This check passes with this seed"]),
        proof(
            write_lesson,
            RIGHT,
            ("--break",),
            "p x.shape\nc\n",
            ["-> return 2 * x", "torch.Size([3])"],
        ),
        (write_notebook, RAISES, (), "p x.shape\nl\nq\n", IN_CELL),
        proof(write_notebook, SQUARES, (), "p x.shape\nl\nq\n", IN_CELL),
    ],
    ids=["raises", "is wrong", "is right", "is right, --break", "cell raises", "cell is wrong"],
)
def test_the_debugger_stops_in_the_students_code(
    write: Callable[[Path, str], Path],
    text: str,
    options: tuple[str, ...],
    typed: str,
    answers: list[str],
    small_course: Course,
    tmp_path: Path,
) -> None:
    """It stops where the code raises, else at the first line of the function. In a notebook, it
    shows the cell's number and lines.
    """
    place = write(tmp_path / "work", text)
    command = [sys.executable, "-m", "grader", "replay", "tiny.double", "--in", str(place)]
    command += ["--seed", "3", "--pdb", *options, "--course", str(small_course.root)]
    package = str(Path(grader.__file__).parent.parent)
    done = subprocess.run(
        [*command, "--lang", "en"],
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": package, "HOME": str(tmp_path)},
        cwd=tmp_path,
    )
    assert "is run here, with your rights: this is not a sandbox" in done.stderr
    assert "Traceback" not in done.stderr
    for answer in answers:
        assert answer in done.stdout


def test_without_a_wrong_check_the_debugger_needs_a_place_to_stop(
    tmp_path: Path, replayed: Replayed
) -> None:
    code, out, err = replayed(write_lesson(tmp_path / "work", RIGHT), "tiny", "--pdb")
    assert (code, out) == (ExitCode.USAGE, "")
    assert (
        "No check of tiny is wrong with this seed. Name the one to step through: grade replay"
        " tiny.<check> --break" in err
    )


@pytest.mark.parametrize(
    ("name", "lang", "answer"),
    [
        ("tinny", "en", "There is no lesson 'tinny'. Did you mean tiny? All lessons: grade list"),
        (
            "tinny",
            "ko",
            "'tinny': 그런 레슨은 없습니다. 혹시 tiny 레슨인가요? 모든 레슨 보기: grade list",
        ),
        ("qqqqqq", "ko", "'qqqqqq': 그런 레슨은 없습니다. 레슨 목록: tiny"),
    ],
)
def test_a_lesson_that_is_not_there_is_told_in_the_readers_language(
    name: str,
    lang: str,
    answer: str,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for command in (["run", name, "--in", tmp_path], ["hint", name], ["replay", name]):
        code = exit_code(*command, "--course", small_course.root, "--lang", lang)
        assert (code, answer in capsys.readouterr().err) == (ExitCode.USAGE, True), command


def test_the_debugger_tells_a_failure_in_words_and_not_as_a_template() -> None:
    tr = Catalogue("ko", {"{name} is not twice {x}": "{name} 은 {x} 의 두 배가 아닙니다"})
    failure = CheckFailure("{name} is not twice {x}", inputs={"x": 3}, facts={"name": "double"})
    assert error_text(failure, Source(RIGHT, "tiny.py"), tr) == "double 은 3 의 두 배가 아닙니다"
    assert error_text(ValueError("no"), Source(RIGHT, "tiny.py"), tr) == "ValueError: no"


# -------------------------------------------------------------------------------- without a lesson


@pytest.fixture
def course(small_course: Course) -> Course:
    """Return a course of two lessons."""
    (tiny,) = small_course.lessons
    return replace(small_course, lessons=(tiny, replace(tiny, id="second")))


@pytest.fixture
def work(
    tmp_path: Path, small_course: Course, course: Course, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Make a workspace with both lessons and use it as the current folder."""
    make_workspace(small_course, tmp_path / "work", "en")
    (tmp_path / "work" / "second").mkdir()
    (tmp_path / "work" / "second" / "second.py").write_text("x = 1\n")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def mark_wrong(work: Path, **wrong: dict[str, int]) -> None:
    for lesson, checks in wrong.items():
        update_progress(
            work,
            lambda known, lesson=lesson, checks=checks: known.having(  # type: ignore[misc]
                lesson, LessonProgress(1, wrong=checks)
            ),
        )


def asked(
    target: str = "", place: Path | None = None, *options: str, seed: int | None = None
) -> ReplayRequest:
    return ReplayRequest(target, place or Path(), seed=seed, lang="en", options=options)


def test_the_one_lesson_that_is_here_is_taken(work: Path, course: Course) -> None:
    taken = resolve_target(course, asked(place=work / "second"))
    assert taken is not None and taken.target == "second"


def test_the_one_lesson_that_was_wrong_is_taken(work: Path, course: Course) -> None:
    mark_wrong(work, tiny={}, second={"second.triple": 7})
    taken = resolve_target(course, asked())
    assert taken is not None and (taken.target, taken.place) == ("second", Path())


@pytest.mark.parametrize(("seed", "given"), [(None, ["--check-seed", "5"]), (9, ["--seed", "9"])])
def test_of_several_each_check_is_listed_with_the_command_that_takes_it(
    seed: int | None,
    given: list[str],
    work: Path,
    course: Course,
    capsys: pytest.CaptureFixture[str],
) -> None:
    many = {f"second.check_{number}": number for number in range(SHOWN + 2)}
    mark_wrong(work, tiny={"tiny.double": 5, "other.check": 1}, second=many)
    assert resolve_target(course, asked("", None, "--pdb", seed=seed)) is None
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "2 lessons had something wrong when they were graded last. Take one:"
    assert ["grade", "replay", "tiny.double", *given, "--pdb"] in [
        shlex.split(line) for line in lines
    ]
    assert sum("second.check_" in line for line in lines) == SHOWN
    assert "… and 2 more: grade replay second --pdb" in lines
    assert not any("other.check" in line for line in lines)


def test_without_a_known_wrong_check_the_message_says_to_grade_first(
    work: Path, course: Course
) -> None:
    message = r"No check is known to be wrong in .*work\. Grade first: grade\. .* grade replay tiny"
    with pytest.raises(UsageError, match=message):
        resolve_target(course, asked())


@pytest.mark.parametrize("target", ["tiny", "tiny.double"])
def test_what_was_wrong_is_asked_again_with_the_same_inputs(
    target: str, work: Path, course: Course
) -> None:
    """A seed that is named counts instead."""
    mark_wrong(work, tiny={"tiny.double": 5})
    assert find_replay(course, asked(target)).settings.seeds == {"tiny.double": 5}
    named = find_replay(course, asked(target, seed=9)).settings
    assert (named.seed, named.seeds) == (9, {})


def test_a_lesson_is_taken_as_it_was_named(work: Path, course: Course) -> None:
    assert resolve_target(course, asked("tiny.double")) == asked("tiny.double")


def test_a_path_to_elsewhere_is_not_the_own_lesson(work: Path, course: Course) -> None:
    """The printed commands use that path, too."""
    bobs = work.parent / "bob" / "tiny.py"
    bobs.parent.mkdir()
    bobs.write_text("x = 1\n")
    for target in ("../bob/tiny.py", "../bob"):
        taken = resolve_target(course, asked(target))
        assert taken == replace(asked("tiny"), place=Path(target), options=("--in", target))


def test_a_path_replaces_only_the_value_of_in(work: Path, course: Course) -> None:
    """Another option keeps its value, even if it is the same folder."""
    here = str(work)
    request = asked("tiny/tiny.py", work, "--in", here, "--course", here)
    taken = resolve_target(course, request)
    assert taken is not None
    assert taken.options == ("--course", here, "--in", f"{work / 'tiny' / 'tiny.py'}")
