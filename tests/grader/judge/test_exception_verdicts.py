"""Every submission ends with a clear outcome on the right
checks, and never stops another lesson.
"""

from __future__ import annotations

import shutil
import types
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.errors import CheckFailure, SandboxRefused, StudentCodeError
from grader.core.limits import Limits
from grader.core.messages import Settings
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.course.course import Course, find_course, load_course
from grader.course.source import Source
from grader.course.stubs import without_markers
from grader.course.submission import LessonFile, decode, read_submission
from grader.judge.exception_verdicts import raised, verdict_of
from grader.judge.remote.workers import REFUSED
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson, grade_submission

GOOD = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"


def grade(
    host: ForkServerClient,
    course: Course,
    source: str | bytes,
    *,
    seed: int = 1,
    lang: str = "en",
    limits: Limits | None = None,
) -> LessonResult:
    """Return the result of a file with that text."""
    lesson = course.lesson("tiny")
    data = source.encode() if isinstance(source, str) else source
    file = decode("tiny", "tiny.py", data)
    settings = Settings(seed, "auto", limits or course.limits, lang=lang)
    return grade_submission(
        host, course, [lesson], {"tiny": file}, settings, name="someone"
    ).lessons[0]


def by_id(result: LessonResult) -> dict[str, CheckResult]:
    return {check.id.removeprefix("tiny."): check for check in result.checks}


def outcomes(result: LessonResult) -> dict[str, str]:
    return {name: check.outcome.value for name, check in by_id(result).items()}


def with_double(body: str) -> str:
    """Return the good file with another ``double``."""
    return GOOD.replace("def double(x): return 2 * x", body)


ALL = ("double", "triple", "gradient_of_double", "gradient_of_triple", "limit", "limit_is_a_float")


def test_a_right_answer_gets_full_marks(host: ForkServerClient, small_course: Course) -> None:
    result = grade(host, small_course, GOOD)
    assert (result.score, result.status) == (10.0, LessonStatus.PASSED)


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
def test_a_stream_may_be_wrapped_anew(
    wrapped: str, host: ForkServerClient, small_course: Course
) -> None:
    """Output is reported in the order of the checks, whoever opened the stream."""
    body = (
        "import codecs, io, sys\n"
        f"{wrapped}\n"
        "print('기울기')\n"
        "def double(x):\n"
        "    print('두 배')\n"
        "    return 2 * x"
    )
    result = grade(host, small_course, with_double(body))
    assert (result.score, result.status) == (10.0, LessonStatus.PASSED)
    assert by_id(result)["double"].output.endswith("두 배\n")


def test_a_file_is_given_no_arguments(host: ForkServerClient, small_course: Course) -> None:
    """The same holds when it is run by itself."""
    parsed = (
        "import argparse, sys\n"
        "parser = argparse.ArgumentParser()\n"
        "parser.add_argument('--lr', default=2.0)\n"
        "args = parser.parse_args()\n"
    )
    result = grade(host, small_course, f"{parsed}assert sys.argv == ['tiny.py']\n{GOOD}")
    assert (result.score, result.message) == (10.0, None)


@pytest.mark.parametrize(
    "header",
    [
        (
            "import os, pathlib\n"
            "HERE = pathlib.Path(__file__).resolve().parent\n"
            "os.chdir(HERE)\n"
            "print(os.listdir('.'))"
        ),
        (
            "import logging, sys\n"
            "logging.basicConfig(stream=sys.stdout, level=logging.DEBUG)\n"
            "logging.debug('시작')"
        ),
        "import unittest, doctest\nunittest.main(argv=['x'], exit=False)\ndoctest.testmod()",
        (
            "import json\n"
            "with open('log.json', 'w', encoding='utf-8') as file: json.dump({'기록': 1}, file)"
        ),
        (
            "import atexit, faulthandler, signal\n"
            "faulthandler.enable()\n"
            "atexit.register(print)\n"
            "signal.signal(signal.SIGINT, signal.SIG_DFL)"
        ),
        (
            "import random, numpy as np, torch\n"
            "random.seed(0); np.random.seed(0); torch.manual_seed(0); torch.set_num_threads(4)"
        ),
        (
            "import os\n"
            "os.environ['CUDA_VISIBLE_DEVICES'] = '0'\n"
            "print(os.environ['HOME'], os.path.expanduser('~'))"
        ),
        (
            "import functools, sys\n"
            "print = functools.partial(print, flush=True)\n"
            "sys.setrecursionlimit(100_000)\n"
            "print('안녕')"
        ),
    ],
    ids=["folder", "logging", "tests", "file", "signals", "seeds", "environment", "printing"],
)
def test_what_people_put_at_the_top_of_a_file(
    header: str, host: ForkServerClient, small_course: Course
) -> None:
    result = grade(host, small_course, f"{header}\n{GOOD}")
    assert (result.score, result.message) == (10.0, None)


@pytest.mark.parametrize(
    ("end", "score"),
    [("sys.exit()", 10.0), ("sys.exit(0)", 10.0), ("raise SystemExit", 10.0), ("sys.exit(1)", 0.0)],
)
def test_a_file_may_end_as_a_script_does(
    end: str, score: float, host: ForkServerClient, small_course: Course
) -> None:
    result = grade(host, small_course, f"import sys\n{GOOD}\n{end}\n")
    assert result.score == score


@pytest.mark.parametrize(
    "below",
    [
        "for LIMIT in (20.0,): pass",
        "if True:\n    LIMIT = 20.0",
        "globals().update(LIMIT=20.0)\nprint(LIMIT)",
        "LIMIT = 20.0",
    ],
)
def test_a_constant_may_be_filled_in_below_the_stubs_line(
    below: str, host: ForkServerClient, small_course: Course
) -> None:
    result = grade(host, small_course, GOOD.replace("LIMIT = 20.0", f"LIMIT: float = ...\n{below}"))
    assert outcomes(result) == dict.fromkeys(ALL, "passed")


def test_a_constant_that_is_only_looked_at_is_not_started(
    host: ForkServerClient, small_course: Course
) -> None:
    result = grade(
        host, small_course, GOOD.replace("LIMIT = 20.0", "LIMIT: float = ...\nprint(LIMIT)")
    )
    assert outcomes(result)["limit"] == outcomes(result)["limit_is_a_float"] == "not_started"


LEFT = "the stub's raise NotImplementedError is still there, and is reached"


@pytest.mark.parametrize(
    ("body", "outcome", "message"),
    [
        ("    raise NotImplementedError", "not_started", None),
        ('    """Twice."""\n    raise NotImplementedError', "not_started", None),
        ("    return 2 * x\n    raise NotImplementedError", "passed", None),
        ("    y = 2 * x\n    raise NotImplementedError", "error", LEFT),
        (
            "    def half(x):\n        raise NotImplementedError\n    return half(x) * 4",
            "not_started",
            None,
        ),
        ("    raise NotImplementedError('later')", "not_started", None),
    ],
)
def test_the_stubs_last_line_left_below_what_was_written(
    body: str, outcome: str, message: str | None, host: ForkServerClient, small_course: Course
) -> None:
    found = by_id(grade(host, small_course, with_double(f"def double(x):\n{body}")))["double"]
    assert (found.outcome.value, found.message) == (outcome, message)


def test_a_function_may_be_begun_inside_a_statement(
    host: ForkServerClient, small_course: Course
) -> None:
    """It may be in an ``if`` or a ``try``, with the stub's own lines left above."""
    stub = small_course.lesson("tiny").stub.read_text()
    result = grade(
        host, small_course, f"{stub}\nif LIMIT is ...:\n    def double(x): return 2 * x\n"
    )
    assert {name for name, outcome in outcomes(result).items() if outcome == "passed"} == {
        "double",
        "gradient_of_double",
    }


def test_a_stub_is_not_started(host: ForkServerClient, small_course: Course) -> None:
    result = grade(host, small_course, small_course.lesson("tiny").stub.read_text())
    assert result.status is LessonStatus.NOT_STARTED
    assert set(outcomes(result).values()) == {"not_started"}


def test_a_half_done_file_keeps_begun_and_not_begun_apart(
    host: ForkServerClient, small_course: Course
) -> None:
    """Each function counts as not started by itself, even if the stub was reworded."""
    result = grade(
        host,
        small_course,
        "def double(x): return 2 * x\n"
        "def triple(y):\n"
        "    '''mine'''\n"
        "    raise NotImplementedError('later')\n"
        "LIMIT = ...\n",
    )
    assert outcomes(result) == {
        "double": "passed",
        "gradient_of_double": "passed",
        "triple": "not_started",
        "gradient_of_triple": "not_started",
        "limit": "not_started",
        "limit_is_a_float": "not_started",
    }


def test_a_known_mistake_is_named_with_its_evidence(
    host: ForkServerClient, small_course: Course
) -> None:
    check = by_id(grade(host, small_course, with_double("def double(x):\n    return x * x")))[
        "double"
    ]
    assert (check.outcome, check.diagnosis, check.points) == (Outcome.FAILED, "squares", 0.0)
    assert check.evidence is not None
    assert "which is x * x = [" in check.evidence
    assert check.message == check.message and "was not doubled" in (check.message or "")
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
            "    if x.dim() == 2:\n        return 3 * x[0]\n    return double(x[None])",
            "return double(x[None])",
        ),
    ],
    ids=["branch", "one line", "with", "finally", "no return", "recursion"],
)
def test_the_line_of_a_failure_is_the_return_that_ran(
    host: ForkServerClient, small_course: Course, body: str, ran: str
) -> None:
    check = by_id(grade(host, small_course, with_double(f"def double(x):\n{body}")))["double"]
    assert (check.outcome, check.source_text) == (Outcome.FAILED, ran)


def test_a_scenario_tells_which_return_ran(host: ForkServerClient, small_course: Course) -> None:
    wrong = "def triple(x):\n    if x.requires_grad:\n        return 3 * x + x ** 2 - x.data ** 2"
    source = GOOD.replace("def triple(x): return", f"{wrong}\n    return")
    check = by_id(grade(host, small_course, source))["gradient_of_triple"]
    assert (check.outcome, check.source_line) == (Outcome.FAILED, 4)


def test_the_return_of_a_call_that_raised_is_not_its_line(host: ForkServerClient) -> None:
    """predict raises where the check expects it, so the only return never runs."""
    course = load_course(find_course(None, here=Path(__file__)))
    lesson = course.lesson("no_grad_and_detach")
    text = without_markers(lesson.solution.read_text("utf-8"))
    begin, end = text.index("def predict"), text.index("def cut")
    wrong = (
        "def predict(f, x):\n    before = torch.is_grad_enabled()\n"
        "    torch.set_grad_enabled(False)\n    result = f(x)\n"
        "    torch.set_grad_enabled(before)\n    return result\n\n\n"
    )
    file = LessonFile(lesson.id, lesson.filename, text[:begin] + wrong + text[end:])
    result = grade_lesson(host, lesson, file, Settings(1, limits=course.limits)).result
    check = next(one for one in result.checks if one.id.endswith("back_when_f_raises"))
    assert (check.outcome, check.source_text) == (Outcome.FAILED, "def predict(f, x):")


def test_what_needs_a_failed_check_is_skipped(host: ForkServerClient, small_course: Course) -> None:
    assert (
        outcomes(grade(host, small_course, with_double("def double(x): return x")))[
            "gradient_of_double"
        ]
        == "skipped"
    )


RAISING = {
    "raises": ("def double(x):\n    return x.nope()", "error", "AttributeError"),
    "wrong signature": ("def double(): return 1", "error", "TypeError"),
    "returns None": (
        "def double(x): pass",
        "failed",
        "None came back where a Tensor is promised: is there a return?",
    ),
    "returns a float": ("def double(x): return 2.0", "failed", "float came back where a Tensor"),
    "returns a module": ("import math\ndef double(x): return math", "failed", "module came back"),
    "wrong shape": (
        "def double(x): return 2 * x.reshape(1, 3)",
        "failed",
        "the shape is (1, 3), expected (3,)",
    ),
    "wrong dtype": (
        "def double(x): return (2 * x).float()",
        "failed",
        "the dtype is float32, expected float64",
    ),
    "no function": ("double = 3", "failed", "could not be used"),
    "missing": ("", "failed", "tiny.py does not define double; it defines"),
    "misspelt": (
        "def doubel(x): return 2 * x",
        "failed",
        "tiny.py defines doubel, not double: spell the name as in the stub",
    ),
    "loops": ("def double(x):\n    while True: pass", "timeout", "still running after 1.5 s"),
    "exits": ("import os\ndef double(x): os._exit(0)", "crashed", "ended with exit status 0"),
    "sys.exit": ("import sys\ndef double(x): sys.exit(0)", "error", "SystemExit"),
    "dies": ("import ctypes\ndef double(x): ctypes.string_at(0)", "crashed", "killed by SIGSEGV"),
    "floods": (
        (
            "import os\n"
            "def double(x):\n"
            "    for fd in range(3, 99):\n"
            "        try: os.write(fd, bytes(99999))\n"
            "        except OSError: pass"
        ),
        "crashed",
        "not a message of the worker's",
    ),
    "recursion": ("def double(x): return double(x)", "error", "RecursionError"),
    "too much memory": (
        "def double(x): return bytearray(1 << 42)",
        "error",
        "of memory was hit: MemoryError",
    ),
    "too much memory for torch": (
        "import torch\ndef double(x): return torch.ones(1 << 40)",
        "error",
        "of memory was hit: RuntimeError",
    ),
    "a large file": (
        "def double(x): open('f', 'wb').write(bytes(1 << 25))",
        "error",
        "for one file was hit: OSError: [Errno 27]",
    ),
    "open files": (
        "def double(x): return [open('/dev/null') for _ in range(999)]",
        "error",
        "open files was hit: OSError: [Errno 24]",
    ),
    "threads": (
        (
            "import threading, time\n"
            "def double(x):\n"
            "    for _ in range(80): threading.Thread(target=time.sleep, args=(1,)).start()\n"
            "    time.sleep(1)"
        ),
        "crashed",
        "it started more than 64 threads",
    ),
    "a text in its answer that looks like a template": (
        "import os\nclass Odd:\n    pass\ndef double(x):\n    return {'{status:>9}': Odd()}",
        "failed",
        "dict came back",
    ),
    "a long line": (
        "def double(x): return 1  # " + "x" * 200_000,
        "failed",
        "int came back where a Tensor",
    ),
    "a shape of nothing": (
        "import torch\ndef double(x): return torch.empty(1 << 24, 0, dtype=torch.float64)",
        "crashed",
        "out of proportion",
    ),
    "many files": (
        (
            "import time\n"
            "def double(x):\n"
            "    for k in range(300): open(str(k), 'wb')\n"
            "    time.sleep(1)"
        ),
        "crashed",
        "more than 256 files",
    ),
    "a huge answer": (
        "import torch\ndef double(x): return torch.zeros(1 << 25, dtype=torch.float64)",
        "error",
        "over the cap",
    ),
}


@pytest.mark.parametrize("name", RAISING)
def test_one_bad_function_costs_only_itself(
    name: str, host: ForkServerClient, small_course: Course
) -> None:
    """``double`` may do anything: only its check is affected, and ``triple`` is graded normally."""
    body, outcome, words = RAISING[name]
    result = grade(host, small_course, with_double(body))
    check = by_id(result)["double"]
    assert (check.outcome.value, check.points) == (outcome, 0.0)
    assert words in (check.message or "")
    assert outcomes(result)["triple"] == "passed"
    assert outcomes(result)["gradient_of_triple"] == "passed"
    assert not any(check.outcome is Outcome.GRADER_ERROR or check.note for check in result.checks)


UNLOADABLE: dict[str, tuple[bytes, str, str]] = {
    "syntax error": (b"def double(x)\n    return 2", "error", "SyntaxError: expected ':'"),
    "not UTF-8": ("# caf\xe9\nLIMIT = 20.0\n".encode("latin-1"), "error", "tiny.py:1 is not UTF-8"),
    "NUL": (b"LIMIT = 20.0\n\0\n", "error", "tiny.py:2 holds a NUL byte"),
    "empty": (b" \n", "error", "tiny.py is empty"),
    "asks itself for what is not there": (
        b"import sys\nsys.modules[__name__].nothing\n",
        "error",
        "has no attribute 'nothing'",
    ),
    "too long to be read": (
        b"x = [" + b"1," * 100_000 + b"]\n",
        "error",
        "unreadable file: it is too long",
    ),
    "raises on import": (b"import nonsense_that_is_nowhere\n", "error", "ModuleNotFoundError"),
    "loops on import": (b"while True: pass\n", "timeout", "loading the file"),
    "dies on import": (b"import os; os._exit(5)\n", "crashed", "exit status 5"),
    "too deep": (b"x = " + b"(" * 5000 + b")" * 5000, "error", "Error"),
}


@pytest.mark.parametrize("name", UNLOADABLE)
def test_a_file_that_can_not_be_loaded_is_invalid_and_says_why(
    name: str, host: ForkServerClient, small_course: Course
) -> None:
    data, outcome, words = UNLOADABLE[name]
    result = grade(host, small_course, data)
    assert (result.status, result.score) == (LessonStatus.INVALID, 0.0)
    assert words in (result.message or "")
    assert set(outcomes(result)) == set(ALL)
    assert set(outcomes(result).values()) == {outcome}
    assert result.seconds < 15


def test_that_a_file_can_not_be_read_is_said_in_the_reader_s_language(
    host: ForkServerClient, small_course: Course
) -> None:
    data, _, _ = UNLOADABLE["too long to be read"]
    assert (grade(host, small_course, data, lang="ko").message or "").startswith(
        "읽을 수 없는 파일: 너무 길거나"
    )


def test_a_syntax_error_has_its_line(host: ForkServerClient, small_course: Course) -> None:
    result = grade(host, small_course, "LIMIT = 20.0\n\ndef double(x)\n    return 2\n")
    assert {check.source_line for check in result.checks} == {3}


def test_output_is_reported_with_the_check_that_caused_it(
    host: ForkServerClient, small_course: Course
) -> None:
    checks = by_id(
        grade(
            host, small_course, with_double("def double(x):\n    print('here')\n    return 2 * x")
        )
    )
    assert checks["double"].output == "here\n"
    assert checks["triple"].output == ""


@pytest.mark.parametrize(
    ("result", "words"),
    [("x * 5", "was not doubled"), ("y", "wrote into a tensor that it was given")],
)
def test_a_write_into_an_argument_earns_nothing(
    result: str, words: str, host: ForkServerClient, small_course: Course
) -> None:
    """The expected value stays that of the tensor that was passed; a right value is not enough."""
    body = f"def double(x):\n    y = 2 * x\n    x.zero_()\n    return {result}"
    checks = by_id(grade(host, small_course, with_double(body)))
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
    report = grade_submission(
        host,
        small_course,
        small_course.lessons,
        files,
        Settings(1, "auto", small_course.limits),
        name="x",
    )
    assert report.lessons[0].message == "ModuleNotFoundError: No module named 'helper'"


def test_the_same_seed_gives_the_same_inputs_and_another_gives_others(
    host: ForkServerClient, small_course: Course
) -> None:
    wrong = with_double("def double(x): return x")
    first, again, other = (
        by_id(grade(host, small_course, wrong, seed=seed))["double"].inputs for seed in (5, 5, 6)
    )
    assert first == again != other


def test_a_missing_lesson_is_missing(host: ForkServerClient, small_course: Course) -> None:
    report = grade_submission(
        host,
        small_course,
        small_course.lessons,
        {},
        Settings(1, "auto", small_course.limits),
        name="nobody",
    )
    assert (report.lessons[0].status, report.score, report.max_score) == (
        LessonStatus.MISSING,
        0.0,
        10.0,
    )


def test_processes_that_were_left_behind_are_gone(
    host: ForkServerClient, small_course: Course, tmp_path: Path
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
    grade(host, small_course, body + GOOD)
    host.settle()
    names = [
        path.read_text().strip() for path in Path("/proc").glob("[0-9]*/comm") if path.exists()
    ]
    assert marker[:15] not in names


@pytest.fixture(scope="module")
def spawning_host() -> Iterator[ForkServerClient]:
    with ForkServerClient("spawn") as running:
        yield running


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
        pytest.param(
            "def double(x):\n    print('hm')\n    return x.nope()", marks=pytest.mark.proof
        ),
        pytest.param(
            "import os\ndef double(x):\n    print('bye')\n    os._exit(3)", marks=pytest.mark.proof
        ),
    ],
)
def test_without_fork_a_plain_process_does_the_same(
    body: str, host: ForkServerClient, spawning_host: ForkServerClient, small_course: Course
) -> None:
    """Every outcome, message and line is the same as with a forked worker."""

    def seen(result: LessonResult) -> list[tuple[object, ...]]:
        return [
            (
                c.id,
                c.outcome,
                c.points,
                c.message,
                c.expected,
                c.actual,
                c.inputs,
                c.source_line,
                c.output,
            )
            for c in result.checks
        ]

    source = with_double(body)
    spawned = grade(spawning_host, small_course, source)
    assert seen(spawned) == seen(grade(host, small_course, source))


def test_without_fork_each_lesson_has_its_own_checks(spawning_host: ForkServerClient) -> None:
    """Check files of all lessons have the same names, and one process collects them all."""
    stubs = [
        (lesson, LessonFile(lesson.id, lesson.filename, lesson.stub.read_text("utf-8")))
        for lesson in load_course(find_course()).lessons[:2]
    ]
    graded = [
        grade_lesson(spawning_host, lesson, file, Settings(1)).result for lesson, file in stubs
    ]
    assert [{check.id.split(".")[0] for check in result.checks} for result in graded] == [
        {lesson.id} for lesson, _ in stubs
    ]
    assert not {check.outcome for result in graded for check in result.checks} & {
        Outcome.GRADER_ERROR
    }


@pytest.mark.parametrize(
    ("loop", "line"),
    [
        ("    while True: pass\n", 6),
        ("    while True: print('again')\n", 6),
        ("    while True: print('again' * 9_000)\n", 6),
        ("    while True: turn()\n", 4),
        ("    while True: torch.ones(4_000_000).sort()\n", 6),
    ],
)
def test_an_endless_loop_is_shown_with_its_line(
    loop: str, line: int, host: ForkServerClient, small_course: Course
) -> None:
    """The loop may be in Python, in a callee, print, or be inside torch; its output is kept."""
    source = (
        "import torch\n"
        "print('begun')\n"
        "def turn():\n"
        "    return sum(range(10**12))\n"
        f"def double(x):\n{loop}"
        "def triple(x): return 3 * x\n"
        "LIMIT = 20.0\n"
    )
    limits = replace(small_course.limits, call_seconds=0.5)
    check = by_id(grade(host, small_course, source, limits=limits))["double"]
    assert check.outcome is Outcome.TIMEOUT
    assert check.message == "still running after 0.5 s, on this line"
    assert check.source_line == line
    assert "Stack (most recent" not in check.output


def test_a_file_that_never_ends_loading_is_shown_with_its_line(
    host: ForkServerClient, small_course: Course
) -> None:
    source = "x = 0\nwhile True:\n    x += 1\n"
    limits = replace(small_course.limits, call_seconds=0.5)
    checks = by_id(grade(host, small_course, source, limits=limits))
    assert checks["double"].source_line in (2, 3)


def test_without_fork_a_loop_and_a_death_are_told_apart_too(
    spawning_host: ForkServerClient, small_course: Course
) -> None:
    source = (
        "import os\n"
        "def double(x):\n"
        "    while True: pass\n"
        "def triple(x): os._exit(4)\n"
        "LIMIT = 20.0\n"
    )
    checks = by_id(grade(spawning_host, small_course, source))
    assert (checks["double"].outcome.value, checks["triple"].outcome.value) == (
        "timeout",
        "crashed",
    )
    assert (checks["double"].source_line, checks["double"].source_text) == (3, "while True: pass")
    assert checks["triple"].message == "the worker is gone: ended with exit status 4"
    assert checks["limit"].outcome is Outcome.PASSED


def test_a_guarantee_that_can_not_be_given_is_refused(
    spawning_host: ForkServerClient, small_course: Course
) -> None:
    settings = Settings(1, "require", small_course.limits)
    with pytest.raises(SandboxRefused) as refused:
        grade_lesson(
            spawning_host,
            small_course.lesson("tiny"),
            LessonFile("tiny", "tiny.py", GOOD),
            settings,
        )
    assert refused.value.template == REFUSED
    assert "network" in refused.value.facts["missing"].split(", ")
    assert str(refused.value).startswith("This host can't guarantee: ")


@pytest.mark.proof  # test_worker_sources shows which worker is taken
def test_without_fork_a_worker_made_ahead_does_the_same(
    spawning_host: ForkServerClient, small_course: Course
) -> None:
    lesson, file = small_course.lesson("tiny"), LessonFile("tiny", "tiny.py", GOOD)
    scores = [
        grade_lesson(
            spawning_host, lesson, file, Settings(1, limits=small_course.limits, prestart=True)
        ).result.score
        for _ in range(2)
    ]
    assert scores == [10.0, 10.0]


def test_a_host_that_died_is_the_graders_fault_and_is_replaced(
    small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result is ``grader_error``, never a student's zero, and the next lesson is graded."""
    with ForkServerClient() as mine:
        assert mine._process is not None
        with monkeypatch.context() as patch:
            patch.setattr(mine, "settle", mine._process.kill)  # it dies when it has been looked at
            broken = grade(mine, small_course, GOOD)
        assert [check.outcome for check in broken.checks] == [Outcome.GRADER_ERROR]
        assert grade(mine, small_course, GOOD).score == 10.0


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
    checks = by_id(grade(host, course, GOOD.replace("20.0", "'twenty'")))
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
    checks = by_id(grade(host, course, GOOD.replace("20.0", "float('nan')")))
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
