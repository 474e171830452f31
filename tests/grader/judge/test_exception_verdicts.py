"""Every submission ends with a clear outcome on the right
checks, and never stops another lesson.
"""

from __future__ import annotations

import functools
import operator
import shutil
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from graded import Grade, by_name

from grader.core.errors import CheckFailure, SandboxRefused, StudentCodeError
from grader.core.limits import Limits
from grader.core.messages import Settings
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.course.course import Course, load_course
from grader.course.source import Source
from grader.course.submission import LessonFile, decode, read_submission
from grader.judge.exception_verdicts import raised, verdict_of
from grader.judge.remote.workers import REFUSED
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson, grade_submission

Double = Callable[[str], CheckResult]
GOOD = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"


@pytest.fixture(scope="module")
def grade(host: ForkServerClient, small_course: Course) -> Grade:
    """Return ``grade(text or bytes)``, which grades a file of the small course."""
    return functools.partial(grade_on, host, small_course)


def grade_on(
    host: ForkServerClient,
    course: Course,
    source: str | bytes,
    *,
    seed: int = 1,
    limits: Limits | None = None,
    lang: str = "en",
) -> LessonResult:
    data = source.encode() if isinstance(source, str) else source
    file = decode("tiny", "tiny.py", data)
    settings = Settings(seed, "auto", limits or course.limits, lang=lang)
    report = grade_submission(
        host, course, [course.lesson("tiny")], {"tiny": file}, settings, name="someone"
    )
    return report.lessons[0]


@pytest.fixture(scope="module")
def double(grade: Grade) -> Double:
    """Return ``double(body)``, which gives the check of a ``double`` with that body."""
    return lambda body: by_name(grade(with_double(f"def double(x):\n{body}")))["double"]


def outcomes(result: LessonResult) -> dict[str, str]:
    return {name: check.outcome.value for name, check in by_name(result).items()}


def with_double(body: str) -> str:
    """Return the good file with another ``double``."""
    return GOOD.replace("def double(x): return 2 * x", body)


ALL = ("double", "triple", "gradient_of_double", "gradient_of_triple", "limit", "limit_is_a_float")


@pytest.mark.parametrize(
    "wrapped",
    [
        "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')",
        "sys.stdout = codecs.getwriter('utf-8')(sys.stdout.buffer)",
        "sys.stdout = open(sys.stdout.fileno(), 'w', encoding='utf-8', closefd=False)",
        (
            "sys.stdout.flush(); sys.stdout = sys.stderr = io.TextIOWrapper(sys.stderr.buffer,"
            " encoding='utf-8')"
        ),
    ],
)
def test_a_stream_may_be_wrapped_anew(wrapped: str, grade: Grade) -> None:
    """Output is reported in the order of the checks, whoever opened the stream."""
    head = f"import codecs, io, sys\n{wrapped}\nprint('기울기')\n"
    body = f"{head}def double(x):\n    print('두 배')\n    return 2 * x"
    result = grade(with_double(body))
    assert (result.score, result.status) == (10.0, LessonStatus.PASSED)
    assert by_name(result)["double"].output.endswith("두 배\n")


@pytest.mark.parametrize(
    "header",
    [
        "",
        "import os, pathlib; os.chdir(pathlib.Path(__file__).resolve().parent); os.listdir('.')",
        "import logging, sys; logging.basicConfig(stream=sys.stdout); logging.error('시작')",
        "import unittest, doctest; unittest.main(argv=['x'], exit=False); doctest.testmod()",
        "import json; json.dump({'기록': 1}, open('log.json', 'w', encoding='utf-8'))",
        "import atexit, faulthandler; faulthandler.enable(); atexit.register(print)",
        "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)",
        "import random, numpy; random.seed(0); numpy.random.seed(0)",
        "import torch; torch.manual_seed(0); torch.set_num_threads(4)",
        "import os; os.environ['CUDA_VISIBLE_DEVICES'] = '0'; os.environ['HOME']",
        "import functools; print = functools.partial(print, flush=True); print('안녕')",
        "import sys; sys.setrecursionlimit(100_000)",
        "import argparse; argparse.ArgumentParser().parse_args()",
        "import sys; assert sys.argv == ['tiny.py']",
    ],
)
def test_what_people_put_at_the_top_of_a_file(header: str, grade: Grade) -> None:
    result = grade(f"{header}\n{GOOD}")
    assert (result.score, result.status, result.message) == (10.0, LessonStatus.PASSED, None)


@pytest.mark.parametrize(
    ("end", "score"),
    [("sys.exit()", 10.0), ("sys.exit(0)", 10.0), ("raise SystemExit", 10.0), ("sys.exit(1)", 0.0)],
)
def test_a_file_may_end_as_a_script_does(end: str, score: float, grade: Grade) -> None:
    result = grade(f"import sys\n{GOOD}\n{end}\n")
    assert result.score == score


DOUBLE = "double gradient_of_double"
FILLED_IN = GOOD.replace("LIMIT = 20.0", "LIMIT: float = ...\n{}")


@pytest.mark.parametrize(
    ("source", "passed"),
    [
        ("STUB", ""),
        ("STUB\nif LIMIT is ...:\n    def double(x): return 2 * x\n", DOUBLE),
        (
            "def double(x): return 2 * x\ndef triple(y):\n    'mine'\n"
            "    raise NotImplementedError('later')\nLIMIT = ...\n",
            DOUBLE,
        ),
        (FILLED_IN.format("print(LIMIT)"), f"{DOUBLE} triple gradient_of_triple"),
        (FILLED_IN.format("for LIMIT in (20.0,): pass"), " ".join(ALL)),
        (FILLED_IN.format("if True:\n    LIMIT = 20.0"), " ".join(ALL)),
        (FILLED_IN.format("globals().update(LIMIT=20.0)\nprint(LIMIT)"), " ".join(ALL)),
        (FILLED_IN.format("LIMIT = 20.0"), " ".join(ALL)),
    ],
)
def test_begun_and_not_begun_are_kept_apart(
    source: str, passed: str, grade: Grade, small_course: Course
) -> None:
    """Each function and constant counts as not started by itself, even if the stub was reworded. It
    may be begun below, inside a statement, with the stub's own lines left above.
    """
    stub = small_course.lesson("tiny").stub.read_text()
    result = grade(source.replace("STUB", stub))
    wanted = dict.fromkeys(ALL, "not_started") | dict.fromkeys(passed.split(), "passed")
    assert outcomes(result) == wanted
    assert (result.status is LessonStatus.NOT_STARTED) is (not passed)


LEFT = "the stub's raise NotImplementedError is still there, and is reached"


@pytest.mark.parametrize(
    ("body", "outcome", "message"),
    [
        ("    raise NotImplementedError", "not_started", None),
        ('    """Twice."""\n    raise NotImplementedError', "not_started", None),
        ("    return 2 * x\n    raise NotImplementedError", "passed", None),
        ("    y = 2 * x\n    raise NotImplementedError", "error", LEFT),
        ("    def f(x):\n        raise NotImplementedError\n    return f(x)", "not_started", None),
        ("    raise NotImplementedError('later')", "not_started", None),
    ],
)
def test_the_stubs_last_line_left_below_what_was_written(
    body: str, outcome: str, message: str | None, double: Double
) -> None:
    found = double(body)
    assert (found.outcome.value, found.message) == (outcome, message)


def test_a_known_mistake_is_named_with_its_evidence(double: Double) -> None:
    check = double("    return x * x")
    assert (check.outcome, check.diagnosis, check.points) == (Outcome.FAILED, "squares", 0.0)
    assert check.evidence is not None
    assert "which is x * x = [" in check.evidence
    assert "was not doubled" in (check.message or "")
    assert (check.source_line, check.source_text) == (2, "return x * x")


@pytest.mark.parametrize(
    ("body", "ran"),
    [
        ("    if x.dim() == 1:\n        return 3 * x\n    return 2 * x", "return 3 * x"),
        ("    if x.dim() == 1: return 3 * x\n    return 2 * x", "if x.dim() == 1: return 3 * x"),
        ("    with open('/dev/null'):\n        return 3 * x\n    return x", "return 3 * x"),
        (
            "    try:\n        return 3 * x\n    finally:\n        y = 1\n    return y",
            "return 3 * x",
        ),
        ("    if x.dim() == 2:\n        return x\n    y = 2 * x", "def double(x):"),
        (
            "    if x.dim() > 1:\n        return x[0]\n    return double(x[None])",
            "return double(x[None])",
        ),
    ],
    ids=["branch", "one line", "with", "finally", "no return", "recursion"],
)
def test_the_line_of_a_failure_is_the_return_that_ran(double: Double, body: str, ran: str) -> None:
    check = double(body)
    assert (check.outcome, check.source_text) == (Outcome.FAILED, ran)


def test_a_scenario_tells_which_return_ran(grade: Grade) -> None:
    wrong = "def triple(x):\n    if x.requires_grad:\n        return 3 * x + x ** 2 - x.data ** 2"
    source = GOOD.replace("def triple(x): return", f"{wrong}\n    return")
    check = by_name(grade(source))["gradient_of_triple"]
    assert (check.outcome, check.source_line) == (Outcome.FAILED, 4)


def test_the_return_of_a_call_that_raised_is_not_its_line(grade_fragment: Grade) -> None:
    """predict raises where the check expects it, so the only return never runs."""
    wrong = (
        "def predict(f, x):\n    before = torch.is_grad_enabled()\n"
        "    torch.set_grad_enabled(False)\n    result = f(x)\n"
        "    torch.set_grad_enabled(before)\n    return result\n"
    )
    result = grade_fragment("no_grad_and_detach", wrong)
    check = next(one for one in result.checks if one.id.endswith("back_when_f_raises"))
    assert (check.outcome, check.source_text) == (Outcome.FAILED, "def predict(f, x):")


def test_what_needs_a_failed_check_is_skipped(grade: Grade) -> None:
    found = outcomes(grade(with_double("def double(x): return x")))
    assert found["gradient_of_double"] == "skipped"


@pytest.mark.parametrize(
    ("outcome", "body", "words"),
    [
        ("error", "def double(x):\n    return x.nope()", "AttributeError"),
        ("error", "def double(): return 1", "TypeError"),
        ("failed", "def double(x): pass", "None came back where a Tensor is promised"),
        ("failed", "def double(x): return 2.0", "float came back where a Tensor"),
        ("failed", "import math\ndef double(x): return math", "module came back"),
        ("failed", "def double(x): return 2 * x.reshape(1, 3)", "(1, 3), expected (3,)"),
        ("failed", "def double(x): return (2 * x).float()", "is float32, expected float64"),
        ("failed", "double = 3", "could not be used"),
        ("failed", "", "tiny.py does not define double; it defines"),
        ("failed", "class A:\n    def double(x): return 2 * x", "so it is inside of A: move it"),
        (
            "error",
            "def double(x):\n    from torch import nothing",
            "ImportError: cannot import name 'nothing' from 'torch'",
        ),
        ("failed", "def doubel(x): return 2 * x", "tiny.py defines doubel, not double: spell"),
        ("timeout", "def double(x):\n    while True: pass", "still running after 1.5 s"),
        ("crashed", "import os\ndef double(x): os._exit(0)", "ended with exit status 0"),
        ("error", "import sys\ndef double(x): sys.exit(0)", "SystemExit"),
        ("crashed", "import ctypes\ndef double(x): ctypes.string_at(0)", "killed by SIGSEGV"),
        (
            "crashed",
            (
                "import os\ndef double(x):\n    for fd in range(3, 99):\n"
                "        try: os.write(fd, bytes(99999))\n        except OSError: pass"
            ),
            "not a message of the worker's",
        ),
        ("error", "def double(x): return double(x)", "RecursionError"),
        ("error", "def double(x): return bytearray(1 << 42)", "memory was hit: MemoryError"),
        (
            "error",
            "import torch\ndef double(x): return torch.ones(1 << 40)",
            "of memory was hit: RuntimeError",
        ),
        (
            "error",
            "def double(x): open('f', 'wb').write(bytes(1 << 25))",
            "for one file was hit: OSError: [Errno 27]",
        ),
        (
            "error",
            "def double(x): return [open('/dev/null') for _ in range(999)]",
            "open files was hit: OSError: [Errno 24]",
        ),
        (
            "crashed",
            (
                "import threading, time\ndef double(x):\n    for _ in range(80):"
                " threading.Thread(target=time.sleep, args=(1,)).start()\n    time.sleep(1)"
            ),
            "it started more than 64 threads",
        ),
        # The answer looks like a template.
        ("failed", "def double(x): return {'{status:>9}': object()}", "dict came back"),
        ("failed", f"def double(x): return 1  # {'x' * 200_000}", "int came back where a Tensor"),
        # A shape without an element.
        ("error", "import torch\ndef double(x): return torch.empty(1 << 24, 0)", "too large"),
        (
            "crashed",
            (
                "import time\ndef double(x):\n    for k in range(300): open(str(k), 'wb')\n"
                "    time.sleep(1)"
            ),
            "more than 256 files",
        ),
        ("error", "import torch\ndef double(x): return torch.zeros(1 << 26)", "over the cap"),
    ],
    ids=lambda text: text[-30:],
)
def test_one_bad_function_costs_only_itself(
    outcome: str, body: str, words: str, grade: Grade
) -> None:
    """``double`` may do anything: only its check is affected, and ``triple`` is graded normally."""
    result = grade(with_double(body))
    check = by_name(result)["double"]
    assert (check.outcome.value, check.points) == (outcome, 0.0)
    assert words in (check.message or "")
    assert sys.prefix not in (check.message or "")
    assert outcomes(result)["triple"] == "passed"
    assert outcomes(result)["gradient_of_triple"] == "passed"
    assert not any(check.outcome is Outcome.GRADER_ERROR or check.note for check in result.checks)


TOO_LONG = b"x = [" + b"1," * 100_000 + b"]\n"


@pytest.mark.parametrize(
    ("data", "outcome", "words"),
    [
        (b"def double(x)\n    return 2", "error", "SyntaxError: expected ':'"),
        ("# caf\xe9\nLIMIT = 20.0\n".encode("latin-1"), "error", "tiny.py:1 is not UTF-8"),
        (b"LIMIT = 20.0\n\0\n", "error", "tiny.py:2 holds a NUL byte"),
        (b" \n", "error", "tiny.py is empty"),
        (b"import sys\nsys.modules[__name__].it\n", "error", "has no attribute 'it'"),
        (TOO_LONG, "error", "unreadable file: it is too long"),
        (b"import nonsense_that_is_nowhere\n", "error", "ModuleNotFoundError"),
        (b"while True: pass\n", "timeout", "loading the file"),
        (b"import os; os._exit(5)\n", "crashed", "exit status 5"),
        (b"x = " + b"(" * 5000 + b")" * 5000, "error", "Error"),
    ],
    ids=lambda text: str(text)[-30:],
)
def test_a_file_that_can_not_be_loaded_is_invalid_and_says_why(
    data: bytes, outcome: str, words: str, grade: Grade
) -> None:
    result = grade(data)
    assert (result.status, result.score) == (LessonStatus.INVALID, 0.0)
    assert words in (result.message or "")
    assert set(outcomes(result)) == set(ALL)
    assert set(outcomes(result).values()) == {outcome}
    assert result.seconds < 15


def test_a_file_that_ends_before_its_definitions_is_told_so(grade: Grade) -> None:
    checks = by_name(grade("exit()\n" + GOOD))
    line = GOOD.splitlines().index("def double(x): return 2 * x") + 2
    assert f"tiny.py ends before line {line}, where double is" in (checks["double"].message or "")


def test_that_a_file_can_not_be_read_is_said_in_the_readers_language(grade: Grade) -> None:
    message = grade(TOO_LONG, lang="ko").message or ""
    assert message.startswith("읽을 수 없는 파일: 너무 길거나")


def test_a_syntax_error_has_its_line(grade: Grade) -> None:
    result = grade("LIMIT = 20.0\n\ndef double(x)\n    return 2\n")
    assert {check.source_line for check in result.checks} == {3}


def test_output_is_reported_with_the_check_that_caused_it(grade: Grade) -> None:
    checks = by_name(grade(with_double("def double(x):\n    print('here')\n    return 2 * x")))
    assert checks["double"].output == "here\n"
    assert checks["triple"].output == ""


@pytest.mark.parametrize(
    ("result", "words"),
    [("x * 5", "was not doubled"), ("y", "wrote into a tensor that it was given")],
)
def test_a_write_into_an_argument_earns_nothing(result: str, words: str, grade: Grade) -> None:
    """The expected value stays that of the tensor that was passed; a right value is not enough."""
    body = f"def double(x):\n    y = 2 * x\n    x.zero_()\n    return {result}"
    checks = by_name(grade(with_double(body)))
    assert checks["double"].outcome is Outcome.FAILED
    assert words in (checks["double"].message or "")
    assert checks["triple"].outcome is Outcome.PASSED


def test_what_is_beside_the_file_does_nothing(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    """Only the lesson's file reaches the worker; a conftest.py or a torch.py beside it is not even
    read.
    """
    (tmp_path / "tiny.py").write_text("import helper\n" + GOOD)
    for name in ("conftest", "torch", "sitecustomize", "helper"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('I was imported')\n")
    files = read_submission(tmp_path, ["tiny"])
    settings = Settings(1, "auto", small_course.limits)
    report = grade_submission(host, small_course, small_course.lessons, files, settings, name="x")
    message = report.lessons[0].message or ""
    assert "(ModuleNotFoundError: No module named 'helper')" in message


def test_the_same_seed_gives_the_same_inputs_and_another_gives_others(grade: Grade) -> None:
    wrong = with_double("def double(x): return x")
    first, again, other = (by_name(grade(wrong, seed=seed))["double"].inputs for seed in (5, 5, 6))
    assert first == again != other


def test_a_missing_lesson_is_missing(host: ForkServerClient, small_course: Course) -> None:
    settings = Settings(1, "auto", small_course.limits)
    report = grade_submission(host, small_course, small_course.lessons, {}, settings, name="nobody")
    status = report.lessons[0].status
    assert (status, report.score, report.max_score) == (LessonStatus.MISSING, 0.0, 10.0)


def test_processes_that_were_left_behind_are_gone(
    host: ForkServerClient, grade: Grade, tmp_path: Path
) -> None:
    """A grandchild with its own session is killed when its lesson ends."""
    marker = "left_behind_by_a_test_of_gradlings"
    body = (
        "import os, time, ctypes\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        f"        ctypes.CDLL(None).prctl(15, b'{marker[:15]}', 0, 0, 0)\n"
        "        time.sleep(600)\n"
        "    os._exit(0)\n"
    )
    grade(body + GOOD)
    host.settle()
    names = [path.read_text() for path in Path("/proc").glob("[0-9]*/comm") if path.exists()]
    assert f"{marker[:15]}\n" not in names


@pytest.fixture(scope="module")
def spawning_host() -> Iterator[ForkServerClient]:
    with ForkServerClient("spawn") as running:
        yield running


@pytest.fixture(scope="module")
def spawned(spawning_host: ForkServerClient, small_course: Course) -> Grade:
    return functools.partial(grade_on, spawning_host, small_course)


WRAPPED = (
    "import io, sys\n"
    "sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding='utf-8')\n"
    "print('기울기')\n"
)


@pytest.mark.parametrize(
    "body",
    [
        # Each of its workers imports torch. A death is told apart below.
        f"{WRAPPED}def double(x):\n    print('두 배', file=sys.stderr)\n    return x.nope()",
        pytest.param("def double(x): return 2 * x", marks=pytest.mark.proof),
        pytest.param("def double(x): print('hm'); return x.nope()", marks=pytest.mark.proof),
        pytest.param(
            "import os\ndef double(x): print('bye'); os._exit(3)", marks=pytest.mark.proof
        ),
    ],
)
def test_without_fork_a_plain_process_does_the_same(
    body: str, grade: Grade, spawned: Grade
) -> None:
    """Every outcome, message and line is the same as with a forked worker."""

    def seen(result: LessonResult) -> list[tuple[object, ...]]:
        names = "id outcome points message expected actual inputs source_line output".split()
        return list(map(operator.attrgetter(*names), result.checks))

    source = with_double(body)
    assert seen(spawned(source)) == seen(grade(source))


@pytest.mark.proof
def test_without_fork_each_lesson_has_its_own_checks(
    spawning_host: ForkServerClient, course: Course
) -> None:
    """Check files of all lessons have the same names, and one process collects them all."""
    for lesson in course.lessons[:2]:
        file = LessonFile(lesson.id, lesson.filename, lesson.stub.read_text("utf-8"))
        checks = grade_lesson(spawning_host, lesson, file, Settings(1)).result.checks
        assert {check.id.split(".")[0] for check in checks} == {lesson.id}
        assert Outcome.GRADER_ERROR not in {check.outcome for check in checks}


@pytest.mark.parametrize(
    "loop",
    [
        *("pass", "print('again')", "print('again' * 9_000)", "torch.ones(4_000_000).sort()"),
        *("turn()", "[turn() for _ in range(3)]"),
    ],
)
def test_an_endless_loop_is_shown_with_its_line(
    loop: str, grade: Grade, small_course: Course
) -> None:
    """The loop may be in Python, in a callee, print, or be inside torch; its output is kept."""
    turn = "import torch\nprint('begun')\ndef turn():\n    for _ in range(10**5): pass\n"
    limits = replace(small_course.limits, call_seconds=0.5)
    source = with_double(f"{turn}def double(x):\n    while True: {loop}")
    check = by_name(grade(source, limits=limits))["double"]
    assert check.outcome is Outcome.TIMEOUT
    assert (check.message or "").startswith("still running after 0.5 s, in this loop")
    assert check.source_line == 6
    assert "Stack (most recent" not in check.output


@pytest.mark.parametrize(
    ("body", "outcome"),
    [
        ("    return endless(x)", "skipped"),
        ("    return double(x)", "skipped"),
        ("    return 3 * x", "passed"),
    ],
)
def test_a_function_that_hangs_costs_one_check(
    body: str, outcome: str, grade: Grade, small_course: Course
) -> None:
    """A later check in which the same function hangs, also in another one's call, waits for the
    first; one in which nothing hangs is graded.
    """
    limits = replace(small_course.limits, call_seconds=2.0)
    endless = "def endless(x):\n    while True: pass\n"
    source = f"{endless}def double(x):\n    return endless(x)\ndef triple(x):\n{body}\nLIMIT = 20.0"
    checks = by_name(grade(source, limits=limits))
    late = [name for name, check in checks.items() if check.outcome is Outcome.TIMEOUT]
    assert late == ["double"]
    triple = checks["triple"]
    assert triple.outcome.value == outcome
    if outcome == "skipped":
        assert (triple.needs, triple.message) == (
            "tiny.double",
            "waits for: double returns twice x",
        )


def test_a_file_that_never_ends_loading_is_shown_with_its_line(
    grade: Grade, small_course: Course
) -> None:
    source = "x = 0\nwhile True:\n    x += 1\n"
    limits = replace(small_course.limits, call_seconds=0.5)
    checks = by_name(grade(source, limits=limits))
    assert checks["double"].source_line in (2, 3)


def test_without_fork_a_loop_and_a_death_are_told_apart_too(spawned: Grade) -> None:
    loop = "import os\ndef double(x):\n    while True: pass\n"
    checks = by_name(spawned(f"{loop}def triple(x): os._exit(4)\nLIMIT = 20.0\n"))
    assert checks["double"].outcome is Outcome.TIMEOUT
    assert checks["triple"].outcome is Outcome.CRASHED
    assert (checks["double"].source_line, checks["double"].source_text) == (3, "while True: pass")
    assert checks["triple"].message == "the worker is gone: ended with exit status 4"
    assert checks["limit"].outcome is Outcome.PASSED


def test_a_guarantee_that_can_not_be_given_is_refused(
    spawning_host: ForkServerClient, small_course: Course
) -> None:
    lesson, file = small_course.lesson("tiny"), LessonFile("tiny", "tiny.py", GOOD)
    settings = Settings(1, "require", small_course.limits)
    with pytest.raises(SandboxRefused) as refused:
        grade_lesson(spawning_host, lesson, file, settings)
    assert refused.value.template == REFUSED
    assert "network" in refused.value.facts["missing"].split(", ")
    assert str(refused.value).startswith("This host can't guarantee: ")


@pytest.mark.proof  # test_worker_sources shows which worker is taken
def test_without_fork_a_worker_made_ahead_does_the_same(
    spawning_host: ForkServerClient, small_course: Course
) -> None:
    lesson, file = small_course.lesson("tiny"), LessonFile("tiny", "tiny.py", GOOD)
    settings = Settings(1, limits=small_course.limits, prestart=True)
    for _ in range(2):
        assert grade_lesson(spawning_host, lesson, file, settings).result.score == 10.0


def test_a_host_that_died_is_the_graders_fault_and_is_replaced(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is ``grader_error``, never a student's zero, and the next lesson is graded."""
    with ForkServerClient() as mine:
        assert mine._process is not None
        with monkeypatch.context() as patch:
            patch.setattr(mine, "settle", mine._process.kill)  # it dies when it has been looked at
            broken = grade_on(mine, small_course, GOOD)
        assert [check.outcome for check in broken.checks] == [Outcome.GRADER_ERROR]
        assert grade_on(mine, small_course, GOOD).score == 10.0


def with_checks(course: Course, folder: Path, **bodies: str) -> Course:
    """Return a copy of a course whose first lesson has more checks, each of one statement."""
    shutil.copytree(course.root, folder / "course")
    hidden = folder / "course" / "tests" / "checks" / "tiny" / "test_hidden.py"
    with hidden.open("a", encoding="utf-8") as stream:
        for name, body in bodies.items():
            head = f"@check(points=1, about='LIMIT')\ndef test_{name}(student):"
            stream.write(f"\n\n{head}\n    '''{name}'''\n    {body}\n")
    return load_course(folder / "course")


def test_a_check_that_is_itself_broken_is_the_graders_fault(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    """It is if the reference raises too; an exception that only the student's values cause is the
    student's.
    """
    course = with_checks(small_course, tmp_path, ours="1 / 0", theirs="student.LIMIT + 1")
    checks = by_name(grade_on(host, course, GOOD.replace("20.0", "'twenty'")))
    assert checks["ours"].outcome is Outcome.GRADER_ERROR
    assert "ZeroDivisionError" in (checks["ours"].note or "")
    assert checks["theirs"].outcome is Outcome.FAILED
    assert "TypeError" in (checks["theirs"].message or "")


def test_a_check_expects_nan_only_if_it_says_so(
    host: ForkServerClient, small_course: Course, tmp_path: Path
) -> None:
    """Otherwise it fails: by the author's mistake, or by the student's, if the expected value comes
    from the student's code.
    """
    nan, limit = "torch.tensor(float('nan'))", "torch.tensor(float(student.LIMIT))"
    bodies = {
        "ours": f"assert_gradient({nan}, {nan})",
        "ours_in_data": f"assert_equal([student.LIMIT], [{nan}.item()])",
        "theirs": f"assert_gradient({limit}, {limit})",
        "meant": f"assert_gradient({limit}, {nan}, expects_nan=True)",
    }
    course = with_checks(small_course, tmp_path, **bodies)
    checks = by_name(grade_on(host, course, GOOD.replace("20.0", "float('nan')")))
    for name in ("ours", "ours_in_data"):
        assert checks[name].outcome is Outcome.GRADER_ERROR
        assert f"tiny.{name} expects NaN without saying so" in (checks[name].message or "")
    assert checks["theirs"].outcome is Outcome.FAILED
    assert checks["meant"].outcome is Outcome.PASSED


def test_a_file_that_can_not_be_read_says_what_to_look_at() -> None:
    file = decode("tiny", "a/tiny.py", None)
    assert file.problem is not None
    assert file.problem.startswith("a/tiny.py can't be read: check its permissions")


@pytest.mark.parametrize(
    ("free", "outcome"), [(10 << 20, Outcome.GRADER_ERROR), (10 << 30, Outcome.ERROR)]
)
def test_a_full_disk_is_the_hosts_fault_only_where_the_disk_is_full(
    free: int, outcome: Outcome, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Any code can raise an OSError with that number."""
    monkeypatch.setattr("shutil.disk_usage", lambda folder: types.SimpleNamespace(free=free))
    error = StudentCodeError("OSError", "[Errno 28] No space left on device")
    assert raised(error, Source("", "tiny.py"), Limits()).outcome is outcome
    other = StudentCodeError("OSError", "[Errno 2] No such file")
    assert raised(other, Source("", "tiny.py"), Limits()).outcome is Outcome.ERROR


def test_what_a_worker_measured_is_no_line_of_the_file() -> None:
    """A check's facts may contain any key from a worker; only the check itself may name the line to
    show.
    """
    for failure, line in (
        (CheckFailure("wrong", facts={"line": 7, "gradcheck": "no"}), None),
        (CheckFailure("line {line}", facts={"line": 7}, line=3), 3),
    ):
        verdict = verdict_of(failure, Source("", "tiny.py"), Limits())
        assert verdict is not None
        assert (verdict.line, verdict.checker) == (line, None)


def test_a_text_that_speaks_of_memory_is_no_limit_that_was_hit() -> None:
    """The exception's class and its bases decide."""
    source, limits = Source("", "tiny.py"), Limits()
    said = StudentCodeError("ValueError", "a MemoryError, or [Errno 24]", ancestors=("Exception",))
    assert raised(said, source, limits).message == "{raised}"
    real = StudentCodeError("Full", "no room", ancestors=("MemoryError", "Exception"))
    assert "memory was hit" in str(raised(real, source, limits).message)
