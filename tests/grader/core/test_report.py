"""Points, the report and its JSON: points add up, and a report can be written and read again."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import torch
from factories.gradebook import make_report

import grader
from grader.cli.options import write_file
from grader.core.files import engine_hash
from grader.core.messages import Settings
from grader.core.report import (
    CheckResult,
    CourseIdentity,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
)
from grader.core.scoring import lesson_score, lesson_status, points_for
from grader.course.course import Course
from grader.course.submission import decode
from grader.judge.describe import MAX_ELEMENTS, MAX_ITEMS, MAX_TEXT, describe
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission
from grader.worker.wire.program import program
from grader.worker.wire.values import Opaque, StudentRef

SCHEMA = json.loads(
    (Path(grader.__file__).parent / "core" / "report.schema.json").read_text("utf-8")
)
WRONG = [outcome for outcome in Outcome if outcome is not Outcome.PASSED]


def check(
    outcome: Outcome, points: float = 2.0, *, bonus: bool = False, **more: Any
) -> CheckResult:
    """Return a check's result with that outcome."""
    return CheckResult(
        "tiny.f", "f works", "f", outcome, points_for(outcome, points), points, bonus=bonus, **more
    )


def lesson(*checks: CheckResult) -> LessonResult:
    """Return a lesson's result from those checks."""
    return LessonResult(
        "tiny", "Tiny", lesson_status(checks), *lesson_score(checks), file="tiny.py", checks=checks
    )


def report(*lessons: LessonResult) -> Report:
    """Return a report from those lessons."""
    more: dict[str, Any] = {"torch_version": "2.0", "flags": ("a flag",)}
    whole = make_report("someone", lessons, engine_hash="1a2b3c4d5e6f7081", **more)
    return replace(whole, course=CourseIdentity("c", "1", "0" * 16))


def sent(whole: Report) -> Any:
    """Return the report's JSON as a reader gets it."""
    return json.loads(json.dumps(whole.as_json(), allow_nan=False))


def problems(data: Any) -> list[str]:
    """Return the schema's problems with a report."""
    return [
        f"{error.json_path}: {error.message}"
        for error in jsonschema.Draft202012Validator(SCHEMA).iter_errors(data)
    ]


# ------------------------------------------------------------------------------------------ scoring


def test_a_check_is_right_or_it_is_not() -> None:
    """All points are given for passed, none for any other outcome."""
    assert points_for(Outcome.PASSED, 2.5) == 2.5
    assert {points_for(outcome, 2.5) for outcome in WRONG} == {0.0}


def test_a_bonus_is_counted_apart() -> None:
    checks = [
        check(Outcome.PASSED, 3),
        check(Outcome.FAILED, 2),
        check(Outcome.PASSED, 1, bonus=True),
        check(Outcome.FAILED, 4, bonus=True),
    ]
    assert lesson_score(checks) == (3.0, 5.0, 1.0, 5.0)


@pytest.mark.parametrize("wrong", WRONG)
def test_a_lesson_is_passed_when_every_check_is_but_those_for_a_bonus(wrong: Outcome) -> None:
    right = check(Outcome.PASSED)
    assert lesson_status([right, right, check(wrong, bonus=True)]) is LessonStatus.PASSED
    assert lesson_status([right, check(wrong)]) is LessonStatus.FAILED


def test_a_lesson_is_not_started_when_no_check_is() -> None:
    """A begun bonus does not start the lesson."""
    untouched, bonus = check(Outcome.NOT_STARTED), check(Outcome.PASSED, bonus=True)
    assert lesson_status([untouched, untouched, bonus]) is LessonStatus.NOT_STARTED
    assert lesson_status([untouched, check(Outcome.SKIPPED)]) is LessonStatus.FAILED


def test_a_report_adds_its_lessons_up() -> None:
    """Sums have no binary rounding error."""
    bonus = check(Outcome.PASSED, 1.5, bonus=True)
    both = report(
        lesson(check(Outcome.PASSED, 0.1), bonus),
        lesson(check(Outcome.PASSED, 0.2), check(Outcome.FAILED, 3), bonus),
    )
    assert (both.score, both.max_score, both.bonus) == (0.3, 3.3, 3.0)


def test_full_marks_need_every_point_and_a_bonus_buys_none() -> None:
    right, wrong = check(Outcome.PASSED), check(Outcome.FAILED)
    bonus = check(Outcome.PASSED, 5, bonus=True)
    assert report(lesson(right)).full_marks
    assert report(lesson(right, replace(bonus, outcome=Outcome.FAILED, points=0.0))).full_marks
    assert not report(lesson(right, wrong, bonus)).full_marks


def test_the_graders_faults_are_found_in_whatever_lesson() -> None:
    fault = check(Outcome.GRADER_ERROR, note="Traceback")
    right, crashed = check(Outcome.PASSED), check(Outcome.CRASHED)
    assert report(lesson(right), lesson(crashed, fault)).grader_faults == (fault,)
    assert report(lesson(crashed)).grader_faults == ()


# --------------------------------------------------------------------------------------------- JSON


@pytest.mark.parametrize("outcome", Outcome)
def test_a_report_comes_back_from_json_as_it_was(outcome: Outcome) -> None:
    """This includes enums, tuples and nested records."""
    full = check(
        outcome,
        bonus=True,
        hidden=True,
        message="m",
        diagnosis="d",
        diagnosis_title="t",
        evidence="e",
        hint="h",
        expected=describe(torch.ones(2)),
        actual=describe({"a": (1, [2.5])}),
        inputs={"x": describe(1)},
        source_line=3,
        source_text="return x",
        output="printed",
        seed=5,
        seconds=0.25,
        note="n",
    )
    missing = LessonResult("b", "B", LessonStatus.MISSING, 0.0, 10.0, message="there is no b.py")
    whole = report(lesson(check(Outcome.PASSED), full), missing)
    back = Report.from_json(sent(whole))
    assert back == whole
    assert type(back.lessons[0].checks[1].outcome) is Outcome
    assert type(back.lessons[1].status) is LessonStatus
    assert problems(sent(whole)) == []


def test_the_version_of_the_schema_comes_first() -> None:
    """A reader then knows how to read the rest."""
    assert next(iter(report().as_json().items())) == ("schema_version", 1)


def test_the_schema_is_a_schema_and_names_every_key_and_outcome() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    data = report(lesson(check(Outcome.PASSED))).as_json()
    later = {"engine_hash", "torch_version"}  # a report of an older version lacks them
    assert {*SCHEMA["required"], *later} == set(SCHEMA["properties"]) == set(data)
    records = {"lesson": data["lessons"][0], "check": data["lessons"][0]["checks"][0]}
    for name, record in records.items():
        described = SCHEMA["$defs"][name]
        assert set(described["required"]) == set(described["properties"]) == set(record)
    for name, key, kind in (("check", "outcome", Outcome), ("lesson", "status", LessonStatus)):
        assert SCHEMA["$defs"][name]["properties"][key]["enum"] == list(kind)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: data.pop("seed"),
        lambda data: data.update(extra=1),
        lambda data: data.update(schema_version=2),
        lambda data: data["lessons"][0].update(status="fine"),
        *(
            lambda data, change=change: data["lessons"][0]["checks"][0].update(change)
            for change in (
                {"outcome": "wrong"},
                {"points": -1},
                {"expected": {"tensor": [1.0]}},
                {"actual": {"tensor": ["NaN"], "dtype": "float64", "shape": [1]}},
            )
        ),
    ],
)
def test_the_schema_refuses_what_is_no_report(spoil: Callable[[Any], Any]) -> None:
    data = sent(report(lesson(check(Outcome.FAILED))))
    assert problems(data) == []
    spoil(data)
    assert len(problems(data)) == 1


def test_a_report_can_be_written_whatever_text_is_in_it(tmp_path: Path) -> None:
    """Student code may raise, print or name a folder with invalid Unicode."""
    raised = lesson(check(Outcome.ERROR, message="ValueError: \ud800"))
    whole = report(replace(raised, file="\udcff/tiny.py"))
    data = replace(whole, submission="\udcff").as_json()
    text = json.dumps(data, ensure_ascii=False, allow_nan=False)
    write_file(tmp_path / "report.json", lambda: text)


# ----------------------------------------------------------------------------------------- evidence

NAN, INFINITY = math.nan, math.inf


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (None, None),
        (True, True),
        (3, 3),
        (2**53, "9007199254740992"),
        (0.5, 0.5),
        (NAN, "nan"),
        (INFINITY, "inf"),
        (-INFINITY, "-inf"),
        (1 + 2j, {"other": "(1+2j)"}),
        ("text", "text"),
        (..., {"other": "..."}),
        ([1, NAN], {"list": [1, "nan"]}),
        ((1,), {"tuple": [1]}),
        ({2, 1}, {"set": [1, 2]}),
        ({"a": INFINITY, 2: None}, {"dict": [["a", "inf"], [2, None]]}),
        (Opaque("module"), {"other": "module"}),
        (Opaque("Thing", "<thing>"), {"other": "Thing (<thing>)"}),
        pytest.param(
            StudentRef("Sigmoid.apply"), {"other": "Sigmoid.apply"}, id="something of the student's"
        ),
        pytest.param(program(lambda x: x**3), {"other": "x**3"}, id="a program"),
        (torch.tensor(1.5, dtype=torch.float64), {"tensor": 1.5, "dtype": "float64", "shape": []}),
        (torch.tensor([[1, 2]]), {"tensor": [[1, 2]], "dtype": "int64", "shape": [1, 2]}),
        (torch.tensor([True]), {"tensor": [True], "dtype": "bool", "shape": [1]}),
        (
            torch.tensor([0.5], dtype=torch.bfloat16),
            {"tensor": [0.5], "dtype": "bfloat16", "shape": [1]},
        ),
        (torch.zeros(2, 0), {"tensor": [[], []], "dtype": "float32", "shape": [2, 0]}),
        (
            torch.tensor([NAN, INFINITY, -INFINITY, 1.0]),
            {"tensor": ["nan", "inf", "-inf", 1.0], "dtype": "float32", "shape": [4]},
        ),
        (
            torch.tensor([2.0], requires_grad=True),
            {"tensor": [2.0], "dtype": "float32", "shape": [1]},
        ),
        (torch.tensor([1j]), {"other": "[0+1j]"}),
    ],
    ids=repr,
)
def test_a_value_is_plain_data(value: object, data: object) -> None:
    """NaN, infinities and large integers are strings; kinds of collections stay distinct; a tensor
    is its numbers, its dtype and its shape.
    """
    assert describe(value) == data


def test_a_long_tensor_is_cut_and_says_so() -> None:
    """It shows the first elements flat, how many are left out, and the full shape."""
    kept, cut = list(range(MAX_ELEMENTS)), 100 - MAX_ELEMENTS
    wanted = {"tensor": kept, "dtype": "int64", "shape": [10, 10], "cut": cut}
    assert describe(torch.arange(100).reshape(10, 10)) == wanted
    assert "cut" not in describe(torch.zeros(MAX_ELEMENTS))


@pytest.mark.parametrize("make", [list, tuple, set, dict.fromkeys])
def test_a_long_collection_is_cut_and_says_so(make: Callable[[Any], Any]) -> None:
    data = describe(make(range(MAX_ITEMS + 3)))
    (kind,) = set(data) - {"cut"}
    assert (len(data[kind]), data["cut"]) == (MAX_ITEMS, 3)
    assert "cut" not in describe(make(range(MAX_ITEMS)))


def test_a_long_text_is_cut_and_says_so() -> None:
    assert describe("x" * (MAX_TEXT + 1234)) == "x" * MAX_TEXT + "… [1,234 more characters]"
    assert describe("x" * MAX_TEXT) == "x" * MAX_TEXT


def test_a_deeply_nested_value_is_cut() -> None:
    deep: Any = 1
    for _ in range(500):
        deep = [deep]
    text = json.dumps(describe(deep))
    assert text.count("list") < 10
    assert '{"other": "\\u2026"}' in text


@pytest.mark.parametrize(
    "value",
    [
        NAN,
        -INFINITY,
        10**30,
        1j,
        "\0\ud800",
        ...,
        [NAN, {1: (2, {3})}],
        torch.full((5, 9), NAN),
        torch.tensor(INFINITY),
        Opaque("x", "y"),
    ],
    ids=repr,
)
def test_every_described_value_fits_the_schema(value: object) -> None:
    nested, alone = describe({"nested": [value]}), describe(value)
    failed = check(Outcome.FAILED, expected=nested, actual=alone, inputs={"x": alone})
    assert problems(sent(report(lesson(failed)))) == []


# ---------------------------------------------------------------------------------- graded for real

REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
SUBMISSIONS = {
    "right": ("def double(x): return 2 * x\n" + REST, 10.0, "passed"),
    "wrong": ("def double(x): return x * x\n" + REST, 5.0, "failed"),
    "not a number": ("def double(x): return x * float('nan')\n" + REST, 5.0, "failed"),
    "far too long": ("def double(x): return x.repeat(1000)\n" + REST, 5.0, "failed"),
    "crashing": ("import os\ndef double(x): os._exit(3)\n" + REST, 5.0, "failed"),
    "no text": ("def double(x): raise ValueError(chr(0xD800) + chr(27))\n" + REST, 5.0, "failed"),
    "invalid": ("def double(x)\n", 0.0, "invalid"),
}


def graded(host: ForkServerClient, course: Course, source: str | None) -> Report:
    """Return the report on a submission with that one file, or none."""
    files = {} if source is None else {"tiny": decode("tiny", "work/tiny.py", source.encode())}
    return grade_submission(
        host, course, course.lessons, files, Settings(3, "auto", course.limits), name="someone"
    )


@pytest.mark.parametrize("name", SUBMISSIONS)
def test_a_graded_report_is_what_the_schema_says(
    name: str, host: ForkServerClient, small_course: Course
) -> None:
    """It is the same after a round trip through JSON."""
    source, score, status = SUBMISSIONS[name]
    whole = graded(host, small_course, source)
    data = sent(whole)
    assert problems(data) == []
    assert Report.from_json(data) == whole
    assert (data["score"], data["max_score"], data["lessons"][0]["status"]) == (score, 10.0, status)
    assert data["lessons"][0]["file"] == "work/tiny.py"
    assert data["course"]["hash"] == small_course.hash
    assert data["seed"] == 3


def test_a_report_says_which_engine_and_which_torch_graded(
    host: ForkServerClient, small_course: Course
) -> None:
    data = graded(host, small_course, None).as_json()
    assert data["engine_hash"] == engine_hash()
    assert torch.__version__.startswith(data["torch_version"].split("+")[0])


def test_a_report_of_an_older_version_is_read() -> None:
    """It doesn't say which engine graded; the schema accepts it."""
    whole = report()
    data = sent(whole)
    del data["engine_hash"], data["torch_version"]
    assert problems(data) == []
    assert Report.from_json(data) == replace(whole, engine_hash="", torch_version="")


def test_a_report_without_any_work_fits_the_schema(
    host: ForkServerClient, small_course: Course
) -> None:
    stub = small_course.lesson("tiny").stub.read_text("utf-8")
    for source, status in ((stub, "not_started"), (None, "missing")):
        data = sent(graded(host, small_course, source))
        assert problems(data) == []
        assert (data["score"], data["lessons"][0]["status"]) == (0.0, status)


def test_what_a_student_returned_is_in_the_report(
    host: ForkServerClient, small_course: Course
) -> None:
    """NaN is a string; a long tensor is cut and keeps its shape."""
    nan, long = (
        graded(host, small_course, SUBMISSIONS[name][0]).lessons[0].checks[0]
        for name in ("not a number", "far too long")
    )
    assert nan.actual == {"tensor": ["nan"] * 3, "dtype": "float64", "shape": [3]}
    assert (long.actual["shape"], long.actual["cut"]) == ([3000], 3000 - MAX_ELEMENTS)
    assert len(nan.inputs["x"]["tensor"]) == 3


def test_the_seed_of_a_check_is_its_own_and_follows_from_the_runs(
    host: ForkServerClient, small_course: Course
) -> None:
    first, again = (
        graded(host, small_course, SUBMISSIONS["right"][0]).lessons[0].checks for _ in range(2)
    )
    seeds = [one.seed for one in first]
    assert len(set(seeds)) == len(seeds)
    assert seeds == [one.seed for one in again]


# --------------------------------------------------------------------------------- records, threads


READ_EVERYTHING = """
import importlib, os, pkgutil, sys, threading
import grader
from grader.core.report import Record

PACKAGES = ("core", "course", "runtime", "verify", "classroom")
for module in pkgutil.walk_packages(grader.__path__, "grader."):
    if module.name.split(".")[1] in PACKAGES:
        importlib.import_module(module.name)

def below(cls):
    for one in cls.__subclasses__():
        yield one
        yield from below(one)

# a dataclass with slots replaces its class: the first one has no fields and is never read
records = [one for one in below(Record) if hasattr(one, "__dataclass_fields__")]

def read(first, together):
    together.wait()
    for record in records[first:] + records[:first]:
        try:
            record.from_json({})
        except ValueError:
            pass

def child():
    together = threading.Barrier(8)
    threads = [threading.Thread(target=read, args=(n, together)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    os._exit(0)

sys.setswitchinterval(1e-6)
print(len(records))
for _ in range(30):
    process = os.fork()
    if process == 0:
        child()
    print(os.waitpid(process, 0)[1])
"""


@pytest.mark.posix
def test_eight_threads_that_read_all_records_for_the_first_time_do_not_crash() -> None:
    """In each of thirty processes, msgspec's descriptions of the types do not exist yet."""
    ran = subprocess.run(
        [sys.executable, "-c", READ_EVERYTHING], capture_output=True, text=True, check=True
    )
    records, *statuses = map(int, ran.stdout.split())
    assert records > 30
    assert statuses == [0] * 30
