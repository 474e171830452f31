"""Find the one wrong expression of an answer by running its edits in the sandbox."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import jsonschema
import pytest
from factories.gradebook import make_check, make_lesson

from grader.classroom.gradebook.entry import CheckColumn, LessonColumn
from grader.core.files import PACKAGE
from grader.core.i18n import engine_catalogue
from grader.core.messages import Settings
from grader.core.report import CheckResult, Outcome, Report, WrongExpression
from grader.course.course import Course
from grader.course.submission import LessonFile
from grader.judge.common_mistakes import COMMON
from grader.render.page import around_code, render_page, repair_message
from grader.render.terminal import plain_text
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import NOT_IN_A_BODY, grade_and_repair, unlocated

DOUBLE, TRIPLE = "def double(x): return 2 * x\n", "def triple(x): return 3 * x\nLIMIT = 20.0\n"


def grade(
    host: ForkServerClient, course: Course, source: str, *, repair: bool = True, lang: str = "en"
) -> Report:
    files = {"tiny": LessonFile("tiny", "tiny.py", source)}
    settings = Settings(1, limits=course.limits, repair=repair, lang=lang)
    lessons = [course.lesson("tiny")]
    return grade_and_repair(host, course, lessons, files, settings, name="someone")


def told(report: Report) -> dict[str, str]:
    """Return what is said to be wrong, by function."""
    return {
        check.function: check.wrong_expression.text
        for check in report.lessons[0].checks
        if check.wrong_expression
    }


def test_the_expression_is_found_and_shown(host: ForkServerClient, small_course: Course) -> None:
    report = grade(host, small_course, "def double(x):\n    return 2 + x\n" + TRIPLE)
    assert told(report) == {"double": "2 + x"}
    shown = plain_text(report, engine_catalogue("en"), columns=160)
    lines = shown.splitlines()
    assert "A change of `2 + x` in line 2 makes" in shown
    at = next(n for n, line in enumerate(lines) if line.rstrip().endswith("return 2 + x"))
    assert lines[at + 1].rstrip() == " " * lines[at].index("2 + x") + "^^^^^"
    assert "<u>2 + x</u>" in render_page(report, engine_catalogue("en"))
    assert "2 * x" not in json.dumps(report.as_json())  # the repair is a hint
    schema = json.loads((PACKAGE / "core" / "report.schema.json").read_text("utf-8"))
    data = json.loads(json.dumps(report.as_json()))
    jsonschema.validate(data, schema)
    assert Report.from_json(data) == report


def test_in_korean(host: ForkServerClient, small_course: Course) -> None:
    report = grade(host, small_course, "def double(x):\n    return 2 + x\n" + TRIPLE, lang="ko")
    assert "2번째 줄의 `2 + x` 부분을 고치면" in plain_text(
        report, engine_catalogue("ko"), columns=160
    )


def test_a_mistake_with_a_name_keeps_it(host: ForkServerClient, small_course: Course) -> None:
    report = grade(host, small_course, "def double(x): return x * x\n" + TRIPLE)
    assert told(report) == {}
    named = next(check for check in report.lessons[0].checks if check.diagnosis)
    assert (named.diagnosis, named.diagnosed_by) == ("squares", "rule")


def test_what_has_no_place_is_searched_and_what_has_no_name_comes_first() -> None:
    ways = [("a", "example"), ("b", "rule"), ("c", None), ("a", "engine"), ("d", "example")]
    columns = [CheckColumn(f"t.{n}", "", 1.0, False, False) for n in range(len(ways))]
    checks = [
        replace(make_check(column, Outcome.FAILED, diagnosed_by=way), function=function)
        for column, (function, way) in zip(columns, ways, strict=True)
    ]
    lesson = make_lesson(LessonColumn("t", "T", 5.0, 0.0, tuple(columns)), checks)
    assert list(unlocated(lesson).items()) == [
        ("c", ("t.2",)),
        ("a", ("t.0", "t.3")),
        ("d", ("t.4",)),
    ]


def test_no_body_is_searched_if_the_mistake_is_outside_of_it() -> None:
    column = CheckColumn("t.0", "", 1.0, False, False)
    check = make_check(column, Outcome.ERROR, diagnosed_by="engine")
    for name in NOT_IN_A_BODY:
        found = replace(check, function="f", diagnosis=name)
        other = replace(check, function="f", diagnosis=None, diagnosed_by=None)
        for checks, searched in (([found, other], {}), ([other], {"f": ("t.0",)})):
            lesson = make_lesson(LessonColumn("t", "T", 1.0, 0.0, (column,)), checks)
            assert unlocated(lesson) == searched
    assert {one.id for one in COMMON} >= NOT_IN_A_BODY


def test_a_repair_may_break_nothing(host: ForkServerClient, small_course: Course) -> None:
    """triple passes its checks with the present helper, so the helper is not blamed."""
    helper = "def half(x): return 3 * x\n"
    wrong = "def double(x): return half(x)\ndef triple(x): return half(x)\nLIMIT = 20.0\n"
    assert told(grade(host, small_course, helper + wrong)) == {}
    alone = grade(host, small_course, helper + "def double(x): return half(x)\n" + TRIPLE)
    assert told(alone) == {"double": "3"}
    named = next(check for check in alone.lessons[0].checks if check.wrong_expression)
    assert (named.diagnosed_by, named.diagnosis) == ("engine", "common_constant_factor")


@pytest.mark.parametrize("source", [DOUBLE + TRIPLE, "def double(:", "import nothing_at_all"])
def test_what_has_nothing_to_repair_asks_no_judge(
    host: ForkServerClient, small_course: Course, source: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []
    judge = host.judge

    def counting(*task: object) -> object:
        asked.append(task)
        return judge(*task)  # type: ignore[arg-type]

    monkeypatch.setattr(host, "judge", counting)
    assert told(grade(host, small_course, source)) == {}
    assert len(asked) == 1


def test_without_the_option_nothing_is_searched(
    host: ForkServerClient, small_course: Course
) -> None:
    report = grade(host, small_course, "def double(x): return 2 + x\n" + TRIPLE, repair=False)
    assert told(report) == {}
    assert all(check.wrong_expression is None for check in report.lessons[0].checks)


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("y = 2 * x + 1\n    return y - 2", [{}]),  # two places that would do are no claim
        # no single operator turns this into 2 * x; a right answer lends its expression
        ("return abs(x) - len(str(x))", [{"double": "abs(x) - len(str(x))"}]),
        # endless candidates end
        ("n = 0\n    while n < 2:\n        n += 1\n    return n + x", [{}, {"double": "n + x"}]),
    ],
)
def test_what_is_found(
    body: str, found: list[dict[str, str]], host: ForkServerClient, small_course: Course
) -> None:
    assert told(grade(host, small_course, f"def double(x):\n    {body}\n{TRIPLE}")) in found


def expression(**details: Any) -> CheckResult:
    place = WrongExpression(3, 1, 3, 2, "x", "x", **details)
    return CheckResult("a", "a", "f", Outcome.FAILED, 0.0, 1.0, wrong_expression=place)


DETAILS: list[dict[str, Any]] = [
    {},
    {"missing": True},
    *({"other_lines": lines} for lines in ((1,), (1, 2), (3,))),
]


@pytest.mark.parametrize("lang", ["en", "ko"])
def test_what_is_missing_and_what_changes_together_is_said(lang: str) -> None:
    tr = engine_catalogue(lang)
    said = [
        repair_message(expression(**details, cell=cell), tr)
        for details in DETAILS
        for cell in (None, 7)
    ]
    assert len(set(said)) == len(said)
    assert all("`x`" in one and "3" in one and "f" in one for one in said)
    assert all("1" in one for one in said[4:8])
    assert lang == "ko" or "together with changes in lines 1 and 2, makes" in said[6]
    assert all("7" in one for one in said[1::2])
    assert {around_code(one)[1] for one in said} == {"x"}
    assert not tr.missing


@pytest.mark.parametrize(
    ("source", "instead"),
    [
        ("def slope(f): return f(1) - f(0)\ndef _help(): pass\nSTEP = 1\n", ("slope", "STEP")),
        ("print(1)\n", ()),
        ("def double(x):\n    raise NotImplementedError\n", None),
        ("def double(x): return x + 1\ndef triple(x): return x + 1\n", None),
        ("from torch import add as double, add as triple\n", None),
        ("globals().update(double=lambda x: 2 * x, triple=lambda x: 3 * x)\n", None),
        ("def slope(f:\n", None),
    ],
    ids=[
        "another lesson",
        "nothing",
        "unfinished",
        "wrong",
        "imported",
        "made otherwise",
        "not Python",
    ],
)
def test_a_file_that_defines_none_of_its_lesson_says_what_it_defines(
    host: ForkServerClient, small_course: Course, source: str, instead: tuple[str, ...] | None
) -> None:
    lesson = grade(host, small_course, source, repair=False).lessons[0]
    assert lesson.defines_instead == instead
