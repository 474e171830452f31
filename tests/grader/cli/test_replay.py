"""Run a check again from its seed: judged, as a script without the engine, and in a debugger."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from in_process import lend
from plain_python import PlainPython

import grader
from grader.cli import main
from grader.cli.replay import (
    Replay,
    ReplayRequest,
    comment,
    debug_command,
    debug_request,
    find_replay,
    script,
)
from grader.core.errors import CheckFailure, ExitCode, UsageError
from grader.core.i18n import Catalogue
from grader.core.messages import JudgeResult, Settings
from grader.core.report import CheckResult
from grader.course.course import Course, find_course, load_course
from grader.course.source import Source
from grader.course.stubs import compose, without_markers
from grader.judge import DEBUGGER
from grader.judge.debugger import error_text
from grader.judge.remote.session import scenario_with_definitions
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


def write_lesson(folder: Path, lesson: str, text: str) -> Path:
    """Make a folder with a lesson's file."""
    folder.mkdir(exist_ok=True)
    (folder / f"{lesson}.py").write_text(text, "utf-8")
    return folder


def recorded(
    host: ForkServerClient, course: Course, place: Path, target: str, seed: int = 5
) -> tuple[Replay, LessonOutcome, CheckResult]:
    """Judge a check and record its script."""
    what = find_replay(course, ReplayRequest(target, place, seed, lang="en"))
    settings = Settings(seed, limits=course.limits, recorded=what.check_id)
    judged = grade_lesson(host, what.lesson, what.file, settings)
    (check,) = [one for one in judged.result.checks if one.id == what.check_id]
    return what, judged, check


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
    place = write_lesson(
        tmp_path / "work", lesson, compose(solution, fragment.source, name=mistake)
    )
    what, judged, check = recorded(host, course, place, f"{lesson}.{name}")
    text = script(judged, check, place / f"{lesson}.py", what)
    assert "grader" not in text
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
    place = write_lesson(tmp_path / "work", "tiny", RAISES)
    what, judged, check = recorded(host, small_course, place, "tiny.double")
    done = run_script(script(judged, check, place / "tiny.py", what))
    assert done.returncode == 1
    assert done.stderr.strip().endswith(
        "AttributeError: 'Tensor' object has no attribute 'no_such_method'"
    )


def test_what_is_written_down_changes_no_verdict(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", SQUARES)
    what, _, check = recorded(host, small_course, place, "tiny.double")
    plain = grade_lesson(host, what.lesson, what.file, Settings(5, limits=small_course.limits))
    (same,) = [one for one in plain.result.checks if one.id == check.id]
    assert plain.judged.script is None
    for name in (
        "outcome",
        "message",
        "diagnosis",
        "evidence",
        "expected",
        "actual",
        "inputs",
        "seed",
        "points",
    ):
        assert getattr(same, name) == getattr(check, name)


def test_a_constant_is_shown_as_one(
    host: ForkServerClient, small_course: Course, tmp_path: Path, run_script: RunScript
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", RIGHT.replace("20.0", "19.0"))
    what, judged, check = recorded(host, small_course, place, "tiny.limit")
    done = run_script(script(judged, check, place / "tiny.py", what))
    assert done.stdout.split() == ["got", "19.0", "expected", "20.0"]


def test_a_check_without_a_script_is_shown_itself(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", SQUARES)
    what, judged, check = recorded(host, small_course, place, "tiny.double")
    text = script(
        LessonOutcome(judged.result, JudgeResult((), script="it reads the file")),
        check,
        place / "tiny.py",
        what,
    )
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


def replayed(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[object, str, str]:
    """Return the output of ``grade replay``."""
    with pytest.raises(SystemExit) as ended:
        main(["replay", *words])
    said = capsys.readouterr()
    return ended.value.code, said.out, said.err


@pytest.fixture
def shared_host(host: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> ForkServerClient:
    """Use the tests' host instead of one that each command starts."""
    lend(host, monkeypatch)
    return host


def test_a_replay_shows_the_check_and_nothing_else(
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", SQUARES)
    common = ("--in", str(place), "--course", str(small_course.root), "--lang", "en")
    code, out, err = replayed(capsys, "tiny.double", "--seed", "11", *common)
    assert (code, err) == (ExitCode.NOT_FULL_MARKS, "")
    assert "double returns twice x" in out and "triple" not in out
    own = re.search(r"(\d+) the check's own", out)
    (inputs,) = [line for line in out.splitlines() if "called with  x = " in line]
    assert own is not None
    code, again, _ = replayed(capsys, "tiny.double", "--check-seed", own[1], *common)
    assert inputs in again
    code, out, _ = replayed(capsys, "tiny.triple", "--seed", "11", *common)
    assert code == ExitCode.OK


def test_a_lesson_that_is_not_started_has_nothing_to_replay(
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    stub = (small_course.root / "exercises" / "tiny" / "tiny.py").read_text("utf-8")
    place = write_lesson(tmp_path / "work", "tiny", stub)
    common = ("--in", str(place), "--course", str(small_course.root), "--lang", "en")
    code, out, _ = replayed(capsys, "tiny", *common)
    assert code == ExitCode.NOT_FULL_MARKS
    assert out == (
        "tiny is not started, so there is nothing to show. What comes next: grade next\n"
    )


def test_a_replay_folds_nothing(
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All output is shown; for a lesson, its only wrong check is taken."""
    place = write_lesson(
        tmp_path / "work",
        "tiny",
        "def double(x):\n    print('\\n'.join('abcdefgh'))\n    return x * x\n" + REST,
    )
    _, out, _ = replayed(
        capsys,
        "tiny",
        "--in",
        str(place),
        "--seed",
        "1",
        "--course",
        str(small_course.root),
        "--lang",
        "en",
    )
    assert re.search(r"^ +h *$", out, re.MULTILINE)
    assert "tiny.double" in out
    assert "tiny.triple" not in out


@pytest.mark.parametrize("way", [(), ("--show",), ("--pdb",)])
def test_of_several_that_are_wrong_a_replay_lists_the_commands(
    way: tuple[str, ...],
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """They include the typed options. Standard output is
    reserved for a script, so it stays empty.
    """
    place = write_lesson(tmp_path / "my work", "tiny", SQUARES.replace("3 * x", "4 * x"))
    options = ("--in", str(place), "--course", str(small_course.root), "--lang", "en")
    code, out, err = replayed(capsys, "tiny", "--seed", "1", *way, *options)
    assert code == ExitCode.NOT_FULL_MARKS
    said, other = (err, out) if way == ("--show",) else (out, err)
    assert said.startswith("2 checks of tiny are wrong. Take one:")
    for check in ("double", "triple"):
        words = ["grade", "replay", f"tiny.{check}", "--seed", "1", *way, *options]
        assert words in [
            shlex.split(line) for line in said.splitlines() if line.startswith("    grade")
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
    cells: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": "# tiny"}]
    cells += [
        {
            "cell_type": "code",
            "metadata": {},
            "source": part,
            "outputs": [],
            "execution_count": None,
        }
        for part in parts
    ]
    (folder / "tiny.ipynb").write_text(
        json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}), "utf-8"
    )
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
    what, judged, check = recorded(host, small_course, place, "tiny.double")
    shown = script(judged, check, place / "tiny.ipynb", what)
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
    what, judged, check = recorded(host, small_course, place, "tiny.double")
    done = run_script(script(judged, check, place / "tiny.ipynb", what))
    assert 'File "tiny.ipynb, cell 4", line 2, in double\n' in done.stderr


def test_what_is_right_has_nothing_to_reproduce(
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", RIGHT)
    words = ("--in", str(place), "--show", "--course", str(small_course.root), "--lang", "en")
    assert replayed(capsys, "tiny", *words)[:2] == (ExitCode.OK, "")
    code, out, err = replayed(capsys, "tiny.double", *words)
    assert (code, out) == (ExitCode.OK, "")
    assert "tiny.double is not wrong with this seed" in err


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (
            ("tiny.dubble",),
            (
                "tiny has no check 'dubble'. Did you mean tiny.double? Its checks: double, triple,"
                " gradient_of_double"
            ),
        ),
        (
            ("tiny", "--check-seed", "3"),
            "--check-seed is the seed of one check, and tiny is a lesson. Name one: tiny.<check>",
        ),
        (
            ("tiny.double", "--check-seed", "3", "--seed", "3"),
            "--seed and --check-seed are both given",
        ),
        (("tiny.double", "--in", "EMPTY"), "holds no tiny.py. Name the folder that does: --in DIR"),
        (("tiny.double", "--pdb", "--in", "ZIP"), "Unpack it, and name the folder: --in DIR"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_what_cannot_be_replayed_is_said_with_a_remedy(
    words: tuple[str, ...],
    answer: str,
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", SQUARES)
    (tmp_path / "empty").mkdir()
    with zipfile.ZipFile(tmp_path / "work.zip", "w") as archive:
        archive.write(place / "tiny.py", "tiny.py")
    places = {"EMPTY": str(tmp_path / "empty"), "ZIP": str(tmp_path / "work.zip")}
    where = () if "--in" in words else ("--in", str(place))
    code, out, err = replayed(
        capsys,
        *(places.get(word, word) for word in words),
        *where,
        "--course",
        str(small_course.root),
        "--lang",
        "en",
    )
    assert (code, out) == (ExitCode.USAGE, "")
    assert answer in err


# ------------------------------------------------------------------------------------- the debugger


@pytest.mark.parametrize(
    ("text", "options", "typed", "answers"),
    [
        (RAISES, (), "p x.shape\nq\n", ["-> y = x.no_such_method()", "torch.Size([3])"]),
        (
            SQUARES,
            (),
            "p x.shape\nq\n",
            ["once more, stopping where it is called", "-> return x * x", "torch.Size([3])"],
        ),
        pytest.param(RIGHT, (), "", ["This check passes with this seed"], marks=pytest.mark.proof),
        pytest.param(
            RIGHT,
            ("--break",),
            "p x.shape\nc\n",
            ["-> return 2 * x", "torch.Size([3])"],
            marks=pytest.mark.proof,
        ),
    ],
    ids=["raises", "is wrong", "is right", "is right, --break"],
)
def test_the_debugger_stops_in_the_students_code(
    text: str,
    options: tuple[str, ...],
    typed: str,
    answers: list[str],
    small_course: Course,
    tmp_path: Path,
) -> None:
    """It stops where the code raises, else at the first line of the function."""
    place = write_lesson(tmp_path / "work", "tiny", text)
    command = [
        sys.executable,
        "-m",
        "grader",
        "replay",
        "tiny.double",
        "--in",
        str(place),
        "--seed",
        "3",
        "--pdb",
        *options,
    ]
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(grader.__file__).parent.parent),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        [*command, "--course", str(small_course.root), "--lang", "en"],
        input=typed,
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=tmp_path,
    )
    assert "tiny.py is run here, with your rights: this is not a sandbox" in done.stderr
    assert "Traceback" not in done.stderr
    for answer in answers:
        assert answer in done.stdout


@pytest.mark.parametrize(
    ("text", "at"),
    [
        (RAISES, "tiny.ipynb, cell 4(2)double()"),
        pytest.param(SQUARES, "tiny.ipynb, cell 4(2)double()", marks=pytest.mark.proof),
    ],
    ids=["raises", "is wrong"],
)
def test_the_debugger_stops_in_the_cell_of_a_notebook(
    text: str, at: str, small_course: Course, tmp_path: Path
) -> None:
    """It shows the cell's number and lines."""
    place = write_notebook(tmp_path / "work", text)
    what = find_replay(small_course, ReplayRequest("tiny.double", place, 3, lang="en"))
    request = tmp_path / "request.json"
    request.write_text(
        json.dumps(debug_request(what, place / "tiny.ipynb", "double", stop=False).as_json()),
        "utf-8",
    )
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(grader.__file__).parent.parent),
        "HOME": str(tmp_path),
    }
    done = subprocess.run(
        debug_command(request),
        input="p x.shape\nl\nq\n",
        capture_output=True,
        text=True,
        encoding="utf-8",
        env=environment,
        cwd=tmp_path,
    )
    for answer in (at, "torch.Size([3])", "def double(x):"):
        assert answer in done.stdout
    assert "Traceback" not in done.stderr


def test_without_a_wrong_check_the_debugger_needs_a_place_to_stop(
    shared_host: ForkServerClient,
    small_course: Course,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    place = write_lesson(tmp_path / "work", "tiny", RIGHT)
    code, out, err = replayed(
        capsys,
        "tiny",
        "--pdb",
        "--in",
        str(place),
        "--course",
        str(small_course.root),
        "--lang",
        "en",
    )
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
    for command in (["run", name, "--in", str(tmp_path)], ["hint", name], ["replay", name]):
        with pytest.raises(SystemExit) as ended:
            main([*command, "--course", str(small_course.root), "--lang", lang])
        assert (ended.value.code, answer in capsys.readouterr().err) == (ExitCode.USAGE, True), (
            command
        )


def test_the_debugger_tells_a_failure_in_words_and_not_as_a_template() -> None:
    tr = Catalogue("ko", {"{name} is not twice {x}": "{name} 은 {x} 의 두 배가 아닙니다"})
    failure = CheckFailure("{name} is not twice {x}", inputs={"x": 3}, facts={"name": "double"})
    assert error_text(failure, Source(RIGHT, "tiny.py"), tr) == "double 은 3 의 두 배가 아닙니다"
    assert error_text(ValueError("no"), Source(RIGHT, "tiny.py"), tr) == "ValueError: no"


def test_the_debugger_is_a_process_of_its_own(tmp_path: Path) -> None:
    assert debug_command(tmp_path / "r.json")[1:] == ["-m", DEBUGGER, str(tmp_path / "r.json")]


def test_an_unknown_lesson_is_told_as_ever(small_course: Course) -> None:
    with pytest.raises(UsageError, match="Did you mean tiny"):
        find_replay(small_course, ReplayRequest("tinny.double", Path()))
