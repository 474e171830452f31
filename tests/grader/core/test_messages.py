"""Messages between processes arrive unchanged; anything else is reported as malformed."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.core.limits import Limits
from grader.core.messages import (
    ANSWERS,
    BrokenCourse,
    BrokerRequest,
    DebugRequest,
    Envelope,
    Fault,
    FileProblem,
    JudgeResult,
    LessonSpec,
    Refused,
    Settings,
    Task,
    Traced,
    TraceProblem,
    TraceRequest,
    WorkerEnd,
    WorkerHello,
    WorkerOptions,
    answer_as_json,
    answer_from_json,
)
from grader.core.report import CheckResult, Outcome, Record

NUMBERS = st.floats(allow_nan=False)
DATA: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=5,
)
CHECKS = st.builds(
    CheckResult,
    points=NUMBERS,
    max_points=NUMBERS | st.integers(),
    seconds=NUMBERS,
    expected=DATA,
    actual=DATA,
    inputs=st.dictionaries(st.text(), DATA, max_size=2),
    figures=st.lists(st.dictionaries(st.text(), DATA, max_size=2), max_size=2),
)
LIMITS = st.builds(Limits, call_seconds=NUMBERS, lesson_seconds=NUMBERS)
OPTIONS = st.builds(WorkerOptions, limits=LIMITS)
SPECS = st.builds(LessonSpec)
TASKS = st.builds(Task, settings=st.builds(Settings, limits=LIMITS))
RESULTS = st.builds(
    JudgeResult, checks=st.lists(CHECKS, max_size=2).map(tuple), limits=st.none() | LIMITS
)
RECORDS: st.SearchStrategy[Record] = st.one_of(
    CHECKS,
    OPTIONS,
    SPECS,
    TASKS,
    RESULTS,
    st.builds(Envelope, options=OPTIONS),
    st.builds(DebugRequest, spec=SPECS, task=TASKS),
    st.builds(TraceRequest, inputs=st.lists(DATA, max_size=2).map(tuple)),
    st.builds(Traced, picture=st.dictionaries(st.text(), DATA, max_size=2)),
    st.builds(WorkerHello, limits=LIMITS),
    *(st.builds(kind) for kind in (BrokerRequest, FileProblem, TraceProblem, WorkerEnd)),
)
TASK: dict[str, Any] = {"source": "", "filename": "a.py", "settings": {"seed": 1}}


def sent(data: object) -> Any:
    """Return data as it arrives in another process."""
    return json.loads(json.dumps(data))


@given(RECORDS)
def test_a_record_comes_back_as_it_was(record: Record) -> None:
    assert type(record).from_json(sent(record.as_json())) == record


@given(st.one_of(RESULTS, st.builds(Refused), st.builds(Fault)))
def test_an_answer_comes_back_as_it_was(answer: JudgeResult | Refused | Fault) -> None:
    assert answer_from_json(sent(answer_as_json(answer))) == answer


def test_an_integer_stays_one_where_a_number_is_asked_for() -> None:
    """A report shows a check's points as its author wrote them."""
    check = CheckResult("a.b", "t", "f", Outcome.PASSED, 2, 2)
    assert repr(CheckResult.from_json(sent(check.as_json())).points) == "2"


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (None, "Task: .*got `null`"),
        ([], "Task: .*got `array`"),
        ({"source": "", "settings": {"seed": 1}}, "required field `filename`"),
        (TASK | {"settings": {"seed": "1"}}, r"got `str` - at `\$\.settings\.seed`"),
        (TASK | {"settings": {"seed": True}}, r"got `bool` - at `\$\.settings\.seed`"),
        (TASK | {"cells": [[1, 2, 3]]}, r"length 2, got 3 - at `\$\.cells\[0\]`"),
        (TASK | {"cells": {"1": 2}}, r"got `object` - at `\$\.cells`"),
        (TASK | {"settings": {"seed": 1, "seeds": {"a.b": 1.5}}}, r"at `\$\.settings\.seeds"),
        (TASK | {"problem": {"message": 3, "line": None}}, r"at `\$\.problem\.message`"),
        (
            TASK | {"settings": {"seed": 1, "limits": {"call_seconds": "long"}}},
            r"at `\$\.settings\.limits\.call_seconds`",
        ),
    ],
)
def test_a_malformed_task_is_refused_with_the_reason(data: object, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        Task.from_json(data)


@pytest.mark.parametrize(
    "data", [None, {}, {"judged": {}}, {"praised": {}}, {"fault": {"text": ""}, "refused": {}}]
)
def test_a_malformed_answer_of_a_judge_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match=r"is not a judge's answer|JudgeResult: .*field `checks`"):
        answer_from_json(data)


def test_an_outcome_that_is_none_is_told() -> None:
    data = CheckResult("a.b", "t", "f", Outcome.PASSED, 2, 2).as_json() | {"outcome": "fine"}
    with pytest.raises(ValueError, match=r"'fine' - at `\$\.outcome`"):
        CheckResult.from_json(data)


def test_every_answer_has_a_name_of_its_own() -> None:
    answers = (JudgeResult(()), Refused("no", {}), BrokenCourse("no", {}), Fault("oh"))
    assert [list(answer_as_json(answer)) for answer in answers] == [[name] for name in ANSWERS]
