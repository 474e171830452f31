"""Renderers: visible differences, a terminal within its width, a page that escapes its texts."""

from __future__ import annotations

import base64
import hashlib
import html
import itertools
import math
import re
import shlex
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from factories.gradebook import make_report
from rich.cells import cell_len

from grader.core.files import inlined
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, Report
from grader.core.scoring import lesson_score, lesson_status, points_for
from grader.core.text import MAX_CHARACTERS, clean, input_text, text, values_text
from grader.course.progress import LessonProgress
from grader.judge.describe import describe, describe_pair
from grader.render.editors import step_summary
from grader.render.page import (
    LearnerExtras,
    LessonHistory,
    by_function,
    next_step,
    points_waiting,
    render_page,
    sections,
    style,
)
from grader.render.terminal import make_console, show_report

# ------------------------------------------------------------------------------------------ reports


def check(name: str, outcome: Outcome, points: float = 2.0, **more: Any) -> CheckResult:
    """Return a check's result; if it ran and is not right, every field is set."""
    found: dict[str, Any] = {"seed": 5}
    if outcome not in (Outcome.PASSED, Outcome.NOT_STARTED, Outcome.SKIPPED):
        x = torch.tensor([0.31, -1.2], dtype=torch.float64)
        found |= {
            "message": "the gradient is wrong",
            "hint": "What is x + x?",
            "source_line": 3,
            "source_text": "return x * x",
            "expected": describe(2 * x),
            "actual": describe(x * x),
            "inputs": {"x": describe(x)},
            "output": "here\n",
        }
    title, worth = f"{name} does what it should", points_for(outcome, points)
    return CheckResult(f"tiny.{name}", title, "double", outcome, worth, points, **found | more)


def lesson(*checks: CheckResult, **more: Any) -> LessonResult:
    """Return a lesson's result from those checks."""
    status, scored = lesson_status(checks), lesson_score(checks)
    made = LessonResult("tiny", "Tiny", status, *scored, file="work/tiny.py", checks=checks)
    return replace(made, **more)


def report(*lessons: LessonResult, **more: Any) -> Report:
    """Return a report from those lessons."""
    made = make_report("someone", lessons, engine_hash="fedcba9876543210", seconds=0.94)
    return replace(made, **more)


RIGHT = check("doubling", Outcome.PASSED)
BONUS = check("extra", Outcome.PASSED, 1, bonus=True)
NAMED = check(
    "naming",
    Outcome.FAILED,
    hidden=True,
    diagnosis="squares",
    diagnosis_title="x is squared",
    evidence="You returned [0.0961, 1.44].",
)
RAISED = check("raising", Outcome.ERROR)
WAITING = check("waiting", Outcome.SKIPPED, message="waits for: doubling does what it should")
FAULT = check(
    "fault",
    Outcome.GRADER_ERROR,
    message="ZeroDivisionError: division by zero",
    note="Traceback (most recent call last): …",
)
UNLOADABLE = check("unloadable", Outcome.ERROR, message="SyntaxError: expected ':'", output="")
INVALID = lesson(
    UNLOADABLE,
    id="broken",
    title="Broken",
    status=LessonStatus.INVALID,
    file="broken.py",
    message=UNLOADABLE.message,
)
MISSING = LessonResult(
    "absent", "Absent", LessonStatus.MISSING, 0.0, 10.0, message="there is no absent.py"
)
LATER = check("later", Outcome.NOT_STARTED)
BLANK = [
    lesson(LATER, id=name, title=f"Title of {name}", file=f"{name}.py") for name in ("one", "two")
]
REPORTS = {
    "all right": report(lesson(RIGHT, BONUS)),
    "wrong": report(lesson(RIGHT, NAMED, WAITING, RAISED, check("looping", Outcome.TIMEOUT))),
    "stub": report(lesson(*(check(name, Outcome.NOT_STARTED) for name in ("one", "two")))),
    "missing": report(MISSING),
    "invalid": report(INVALID),
    "grader_error": report(lesson(RIGHT, FAULT)),
    "several": report(
        lesson(RIGHT),
        INVALID,
        MISSING,
        lesson(NAMED, FAULT, check("dying", Outcome.CRASHED), id="more", title="More"),
        flags=("tiny.py:3 calls into the C library",),
    ),
    "begun": report(lesson(RIGHT, NAMED), *BLANK),
    "fresh": report(*BLANK),
    "empty": report(),
}

HOSTILE = """
<script>alert(1)</script>|"onmouseover="alert(1)|' onerror='x|]]>|<!--|</style><b>|</title>|&lt;
|{{ 7 * 7 }}|</pre></details>|\x1b[31m|\x00|\u202e|\ud800|javascript:alert(1)
""".replace("\n", "").split("|")
PAYLOAD = " ".join(HOSTILE)


def student_text(value: str) -> Report:
    """Return a report with that text everywhere a student can put text."""
    failed = check(
        "naming",
        Outcome.FAILED,
        message=value,
        output=value,
        source_text=value,
        diagnosis="squares",
        diagnosis_title="title",
        evidence=value,
        expected=value,
        actual={"other": value},
        inputs={"x": {"dict": [[value, {"list": [value]}]]}},
    )
    fault = replace(FAULT, note=value, message=value)
    broken = replace(INVALID, message=value, file=value)
    return report(lesson(failed, fault, file=value), broken, submission=value, flags=(value,))


def with_plain_paths(whole: Report) -> Report:
    """Return the report with ordinary file names."""
    return replace(whole, lessons=tuple(replace(one, file="tiny.py") for one in whole.lessons))


# ------------------------------------------------------------------------------------------- values


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (None, "None"),
        (True, "True"),
        (3, "3"),
        (1.0, "1.0"),
        (-12.0, "-12.0"),
        (0.5, "0.5"),
        (0.3141592, "0.3142"),
        (1234.0, "1234"),
        (123456.0, "1.235e+05"),
        (1e-9, "1e-09"),
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (math.nan, "nan"),
        (-math.inf, "-inf"),
        ("nope", "'nope'"),
        ([1, 2.5, "a"], "[1, 2.5, 'a']"),
        ((1,), "(1,)"),
        ((1, 2), "(1, 2)"),
        ({3}, "{3}"),
        ({"a": [1.0], 2: None}, "{'a': [1.0], 2: None}"),
        (..., "..."),
        ([], "[]"),
        (torch.tensor(2.0, dtype=torch.float64), "2.0"),
        (torch.tensor([0.31, -1.2], dtype=torch.float64), "[0.31, -1.2]"),
        (torch.tensor([[1.0], [2.0]], dtype=torch.float64), "[[1.0], [2.0]]"),
        (torch.tensor([math.nan, math.inf], dtype=torch.float64), "[nan, inf]"),
        (torch.tensor([0.5]), "[0.5] float32"),
        (torch.tensor([1, 2]), "[1, 2] int64"),
        (torch.tensor([True]), "[True] bool"),
        (torch.zeros(0, dtype=torch.float64), "[] (shape (0,))"),
        (torch.zeros(2, 0), "[] (shape (2, 0)) float32"),
        (torch.zeros(30, dtype=torch.float64), "[" + "0.0, " * 24 + "… 6 more]"),
    ],
    ids=str,
)
def test_a_value_is_shown_as_people_write_it(value: object, shown: str) -> None:
    """Floats are short, and have a point if they are whole. A tensor shows a dtype other than
    float64, a shape that the numbers don't show, and how many are omitted.
    """
    assert text(describe(value)) == shown


def test_what_was_cut_says_how_much() -> None:
    assert text(describe(list(range(1_050)))).endswith(", 39, … 1,010 more]")
    assert text(describe(dict.fromkeys(range(43)))).endswith(", 39: None, … 3 more}")


@pytest.mark.parametrize(
    ("left", "right", "shown"),
    [
        (0.25, 0.5, ("0.25", "0.5")),
        (0.12341, 0.12342, ("0.12341", "0.12342")),
        (1.00000001, 1.0, ("1.00000001", "1.0")),
        (1 / 3, 1 / 3, ("0.3333", "0.3333")),
        ([0.1, 2.000001], [0.1, 2.0], ("[0.1, 2.000001]", "[0.1, 2.0]")),
        (1.0, 1.0 + 1e-15, ("1.0", "1.0")),
        (math.nan, math.nan, ("nan", "nan")),
        (math.nan, 1.0, ("nan", "1.0")),
        (None, 1.0, ("None", "1.0")),
        (torch.ones(1), torch.ones(1).double(), ("[1.0] float32", "[1.0]")),
        (torch.ones(2, 1).double(), torch.ones(2).double(), ("[[1.0], [1.0]]", "[1.0, 1.0]")),
    ],
    ids=str,
)
def test_a_pair_has_as_many_digits_as_it_takes_to_see_a_difference(
    left: object, right: object, shown: tuple[str, str]
) -> None:
    """There are no more digits than needed; values that differ only by rounding look the same."""
    assert values_text(describe(left), describe(right)) == shown


@pytest.mark.parametrize(
    ("where", "start", "end"),
    [
        (60, "[58 before, … 0.0, 0.0, 1.0", "… 18 more]"),
        (99, "[76 before, … 0.0, 0.0, 0.0", "0.0, 1.0]"),
    ],
)
def test_a_difference_in_what_was_cut_is_seen(where: int, start: str, end: str) -> None:
    """As many elements are shown as ever, also near the end."""
    wanted = torch.zeros(100, dtype=torch.float64)
    got = wanted.clone()
    got[where] = 1.0
    left, right = values_text(*describe_pair(wanted, got))
    assert left != right
    assert right.startswith(start)
    assert right.endswith(end)


@pytest.mark.parametrize("harmless", [1.0 + 1e-15, math.nan], ids=["rounding", "NaN in both"])
def test_a_difference_that_is_seen_is_one_that_counts(harmless: float) -> None:
    """Neither rounding errors nor an expected NaN are shown as the difference."""
    wanted, got = torch.ones(2, 100, dtype=torch.float64)
    wanted[30] = harmless if math.isnan(harmless) else 1.0
    got[30], got[90] = harmless, 2.0
    left, right = values_text(*describe_pair(wanted, got))
    assert left != right


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (torch.tensor([1.0, 1 + 2**-23, -1.0, 1.2]), "[1.0, 1.0000001, -1.0, 1.2] float32"),
        (torch.tensor([1.0, 1.0], dtype=torch.float64), "[1.0, 1.0]"),
        ([1.0, 1 + 2**-52], "[1.0, 1.0000000000000002]"),
    ],
)
def test_inputs_that_differ_look_different(given: object, shown: str) -> None:
    """Else the same x would have two right values."""
    assert input_text(describe(given)) == shown


# -------------------------------------------------------------------------------------------- clean


@pytest.mark.parametrize(
    ("dirty", "shown"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("x² ≠ 기울기 ✘", "x² ≠ 기울기 ✘"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("a\rb\x08\x00\x7f", "a\\x0db\\x08\\x00\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("\u202eevil\u2066\u200b\u2028", "\\u202eevil\\u2066\\u200b\\u2028"),
        ("\ud800x\udfff", "\N{REPLACEMENT CHARACTER}x\N{REPLACEMENT CHARACTER}"),
        ("\U000e0001", "\\U000e0001"),
    ],
    ids=ascii,
)
def test_nothing_is_left_that_a_terminal_or_a_browser_would_act_on(dirty: str, shown: str) -> None:
    """Readable text stays."""
    assert clean(dirty) == shown


def test_long_text_is_cut_and_says_by_how_much() -> None:
    assert clean("x" * MAX_CHARACTERS) == "x" * MAX_CHARACTERS
    cut = "x" * MAX_CHARACTERS + "… [1,500 more characters]"
    assert clean("x" * (MAX_CHARACTERS + 1500)) == cut
    assert clean("abcdef", limit=2) == "ab… [4 more characters]"


@pytest.mark.parametrize("one", [*Outcome, *LessonStatus])
def test_every_outcome_and_status_has_its_mark_and_its_word(one: Outcome | LessonStatus) -> None:
    assert type(one)(one.value) is one
    assert one.group
    assert cell_len(one.mark) == 1
    assert engine_catalogue("ko")(one.word) != one.word


# ----------------------------------------------------------------------------------------- terminal

Shown = Callable[..., str]
COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-7]")


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shown:
    """Return ``shown(report, NO_COLOR="1")``, the terminal's text with only that variable set."""

    def show(
        whole: Report, *, tr: Catalogue | None = None, html: str | None = None, **environment: str
    ) -> str:
        for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "COLORTERM", "LINES"):
            monkeypatch.delenv(name, raising=False)
        for name, value in {"TERM": "xterm-256color", **environment}.items():
            monkeypatch.setenv(name, value)
        show_report(make_console(), whole, html=html, tr=tr)
        return capsys.readouterr().out

    return show


@pytest.mark.parametrize("name", REPORTS)
def test_without_a_terminal_there_are_no_escapes_and_eighty_columns(
    name: str, shown: Shown
) -> None:
    output = shown(REPORTS[name], html="report.html")
    assert "\x1b" not in output
    assert all(cell_len(line) <= 80 for line in output.splitlines())


@pytest.mark.parametrize("letter", ["x", "가", "x ", "\t"])
def test_long_lines_are_wrapped(letter: str, shown: Shown) -> None:
    """This holds for any long text, and for wide letters."""
    output = shown(student_text(letter * 300), html="a/" * 60 + "report.html")
    assert all(cell_len(line) <= 80 for line in output.splitlines())


def test_a_report_names_what_is_wrong_and_what_to_do(shown: Shown) -> None:
    """It does not show what is right."""
    output = shown(REPORTS["wrong"], html="report.html")
    for part in (
        "tiny  2 / 10  1 right · 1 wrong · 1 raised · 1 out of time · 1 waiting",
        "✘ naming does what it should",
        "0 / 2",
        "x = [0.31, -1.2]",
        "expected  [0.62, -2.4]",
        "got       [0.0961, 1.44]",
        "the gradient is wrong",
        "Looks like: x is squared. You returned [0.0961, 1.44].",
        "work/tiny.py:3    return x * x",
        "It printed  here",
        "grade hint tiny",
        "grade replay tiny.naming --seed 7",
        "◷ looping does what it should",
        "2 / 10   report.html   0.9 s   seed 7",
    ):
        assert part in output
    assert "doubling" not in output


def test_a_warning_is_not_called_printed(shown: Shown) -> None:
    """Its first sentence is shown, once; a single line more is shown, not counted."""
    warning = "tiny.py:3: UserWarning: {}is read. See the notes for more (about 10.2).\n  y = x\n"
    long = "The .grad of a tensor that is not a leaf " + "and keeps none " * 20
    twice = warning.format(long) * 2
    for output, told in (
        ("one\ntwo\n" + twice + "three\nfour\n", ["It printed  one", "two", "three", "four"]),
        ("1\n2\n3\n4\n5\n" + twice, ["It printed  1", "2", "3", "… and 2 more lines"]),
        (twice, []),
    ):
        failed = check("naming", Outcome.FAILED, message="wrong", output=output)
        lines = [line.strip() for line in shown(report(lesson(failed))).splitlines()]
        if told:
            at = lines.index(told[0])
            assert lines[at : at + len(told)] == told
        text = " ".join(lines)
        assert text.count("It warned  UserWarning: The .grad") == 1
        assert "keeps none is read." in text and "See the notes" not in text
        assert ("It printed" in text) is bool(told)
        html = render_page(report(lesson(failed)))
        assert ("It printed" in html, "It warned" in html) == (bool(told), not told)


def test_a_long_line_that_was_printed_is_cut_visibly(shown: Shown) -> None:
    for output, cut in (("x" * 300, True), ("x" * 200, False)):
        failed = check("naming", Outcome.FAILED, message="wrong", output=output)
        assert ("x…" in shown(report(lesson(failed)))) is cut


@pytest.mark.parametrize(("count", "folded"), [(3, False), (4, True)])
def test_many_waiting_checks_are_one_line(count: int, folded: bool, shown: Shown) -> None:
    """Failures come first; waiting checks are counted with their points, without bonus."""
    waiting = [check(f"waiting{k}", Outcome.SKIPPED, bonus=not k) for k in range(count)]
    output = shown(report(lesson(RIGHT, waiting[0], NAMED, *waiting[1:])))
    assert ("4 checks wait for what is wrong above" in output) is folded
    assert ("0 / 6" in output) is folded
    assert [f"waiting{k} does" in output for k in range(count)] == [not folded] * count
    assert "naming does what it should" in output


@pytest.mark.parametrize(("count", "folded"), [(3, False), (4, True)])
def test_many_lessons_that_nobody_has_begun_are_one_line(
    count: int, folded: bool, shown: Shown
) -> None:
    """They are counted after the failures, with their points, and are part of the total."""
    blank = [lesson(LATER, id=f"later{number}") for number in range(count)]
    output = shown(report(*blank, lesson(NAMED)))
    assert [f"later{number}" in output for number in range(count)] == [not folded] * count
    after = output.partition("naming does what it should")[2]
    assert ("4 lessons are not started" in after) is folded
    assert f"0 / {2 * count + 2}" in output


def test_only_the_first_failure_is_told_in_full(shown: Shown) -> None:
    """If there are others and a page, the report says where they are."""
    where = "wrong checks are shown in full in report.html"
    assert shown(REPORTS["wrong"]).count("expected  ") == 1
    assert f"3 {where}" in shown(REPORTS["wrong"], html="report.html")
    assert where not in shown(REPORTS["wrong"])
    assert where not in shown(report(lesson(RIGHT, NAMED)), html="report.html")


def test_every_failure_is_counted_of_however_many_lessons(shown: Shown) -> None:
    """Of each lesson the first is in full here, which is no reason to leave it out."""
    raised = (check(name, Outcome.ERROR) for name in ("one", "two"))
    whole = report(lesson(NAMED, *raised), lesson(RAISED, id="more"), INVALID)
    assert "4 wrong checks are shown in full" in shown(whole, html="report.html")


def test_a_cause_that_was_told_is_pointed_to_below_a_line_without_room(shown: Shown) -> None:
    again, long = replace(RAISED, id="tiny.again"), replace(RAISED, title="long " * 12)
    lines = shown(report(lesson(RAISED, again, long))).splitlines()
    assert ["same as above" in line for line in lines if "✘" in line] == [False, True, False]
    assert lines.count("    same as above") == 1
    assert sum("the gradient is wrong" in line for line in lines) == 1


def test_a_cause_is_only_the_same_as_the_one_directly_above(shown: Shown) -> None:
    other = replace(NAMED, id="tiny.other", diagnosis_title="Another mistake")
    again = replace(RAISED, id="tiny.again")
    lines = shown(report(lesson(RAISED, other, again, replace(again, id="tiny.more")))).splitlines()
    last = [line for line in lines if "✘" in line][1:]
    assert ["same as above" in line for line in last] == [False, False, True]
    assert sum("the gradient is wrong" in line for line in lines) == 2


def test_the_line_of_a_further_failure_is_cut_not_broken(shown: Shown) -> None:
    """It has a line of its own if it does not fit beside its place."""
    for count in (30, 60, 90):
        code = f"return {'x ' * count}"
        other = replace(RAISED, source_text=code, message="another")
        lines = shown(report(lesson(NAMED, other))).splitlines()
        assert sum("x x" in line for line in lines) == 1, count


def test_what_is_right_or_not_begun_needs_no_words(shown: Shown) -> None:
    assert shown(REPORTS["all right"]).split("\n")[:2] == ["tiny  2 / 2  2 right", ""]
    assert shown(REPORTS["stub"]).split("\n")[:2] == ["tiny  0 / 4  2 not started", ""]


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("all right", "+ 1 bonus"),
        ("missing", "there is no absent.py"),
        ("invalid", "SyntaxError: expected ':'"),
        ("grader_error", "The grader failed here, not your code"),
    ],
)
def test_what_is_special_about_a_report_is_said(name: str, said: str, shown: Shown) -> None:
    """Why a lesson was not judged, and whose fault it is."""
    assert said in shown(REPORTS[name])
    assert said not in shown(REPORTS["wrong"])


def test_the_functions_that_are_not_started_are_named(shown: Shown) -> None:
    other = replace(check("other", Outcome.NOT_STARTED), function="triple")
    assert "○ not started: double, triple" in shown(report(lesson(RIGHT, LATER, other)))
    assert "not started:" not in shown(report(lesson(LATER, other)))


def test_colour_is_for_terminals_and_for_those_who_want_it(shown: Shown) -> None:
    wrong = REPORTS["wrong"]
    assert COLOUR.search(shown(wrong, FORCE_COLOR="1"))
    assert not COLOUR.search(shown(wrong, FORCE_COLOR="1", NO_COLOR="1"))
    assert "\x1b" not in shown(wrong, NO_COLOR="1")


@pytest.mark.parametrize("piece", HOSTILE, ids=ascii)
def test_a_students_text_is_shown_as_it_is_and_acts_on_nothing(piece: str, shown: Shown) -> None:
    """No escape sequence reaches the terminal, and no text is interpreted as markup."""
    output = shown(with_plain_paths(student_text(piece)))
    assert clean(piece) in output
    assert not {"\x1b", "\x00", "\u202e", "\ud800"} & set(output)
    assert "[red]" in shown(student_text("[red]"))


def test_the_path_of_a_file_acts_on_nothing_either(shown: Shown) -> None:
    assert "\x1b" not in shown(report(lesson(NAMED, file="\x1b]0;title/tiny.py")))


# --------------------------------------------------------------------------------------------- page


class Page(HTMLParser):
    """A parsed page: tags with their attributes, and the text in each kind of tag."""

    VOID = frozenset({"meta", "rect", "br", "link", "img"})

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.texts: dict[str, str] = {}
        self.open: list[str] = []
        self.feed(source)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"{tag} ends what it did not begin"

    def handle_data(self, data: str) -> None:
        for tag in set(self.open):
            self.texts[tag] = self.texts.get(tag, "") + data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def values(self, attribute: str) -> list[str]:
        """Return every value of an attribute, in order."""
        return [attributes[attribute] for _, attributes in self.tags if attribute in attributes]


ALL_PAGES = {**REPORTS, "hostile": student_text(PAYLOAD)}


@pytest.fixture(params=ALL_PAGES)
def page(request: pytest.FixtureRequest) -> Page:
    """Return the parsed page of each report; every tag ends in the right place."""
    return Page(render_page(ALL_PAGES[request.param]))


def test_a_page_is_a_whole_document(page: Page) -> None:
    assert page.open == []
    assert page.tags[0] == ("html", {"lang": "en"})
    assert page.tags[2] == ("meta", {"charset": "utf-8"})
    assert page.texts["title"]


def test_a_page_has_one_heading_of_the_first_level_and_no_gaps(page: Page) -> None:
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels.count(1) == 1
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_a_page_runs_no_script_but_ours_and_loads_nothing(page: Page) -> None:
    """No frame, form, link, image, event handler, inline style or external address, either."""
    used = {tag for tag, _ in page.tags}
    assert page.texts["script"] == inlined("report.js")
    assert not used & set(
        "iframe object embed form input link img base audio video use image".split()
    )
    for tag, attributes in page.tags:
        assert not {"style", "src", "srcset", "action", "xlink:href"} & attributes.keys(), tag
        assert not any(name.startswith("on") for name in attributes), tag
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\(|@import|http", page.texts["style"])


def test_a_page_allows_its_own_style_sheet_and_script_by_hash_and_nothing_else(page: Page) -> None:
    """The hashes are of the elements' exact contents, as a browser computes them."""
    policies = [a for _, a in page.tags if a.get("http-equiv") == "Content-Security-Policy"]
    (policy,) = (attributes["content"] for attributes in policies)
    sheet, script = (
        base64.b64encode(hashlib.sha256(page.texts[tag].encode()).digest()).decode()
        for tag in ("style", "script")
    )
    assert dict(part.strip().split(" ", 1) for part in policy.split(";")) == {
        "default-src": "'none'",
        "style-src": f"'sha256-{sheet}'",
        "script-src": f"'sha256-{script}'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    assert [sum(tag == name for tag, _ in page.tags) for name in ("style", "script")] == [1, 1]


def test_the_policy_comes_before_anything_that_it_governs(page: Page) -> None:
    order = [attributes.get("http-equiv", tag) for tag, attributes in page.tags]
    assert order.index("Content-Security-Policy") < order.index("title") < order.index("style")


def test_every_reference_within_a_page_leads_somewhere(page: Page) -> None:
    """Ids are unique; links and ARIA references name one."""
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    for attribute in ("aria-labelledby", "aria-describedby", "aria-controls", "for"):
        assert {name for value in page.values(attribute) for name in value.split()} <= set(ids)
    assert {value.removeprefix("#") for value in page.values("href")} <= set(ids)


def test_what_is_only_a_picture_has_a_name_or_is_hidden(page: Page) -> None:
    """Marks are read out as words; bars repeat a number that is beside them."""
    for tag, attributes in page.tags:
        if tag == "svg":
            assert attributes.get("aria-hidden") == "true"
        if attributes.get("role") == "img":
            assert attributes["aria-label"]


def test_a_student_can_not_change_what_a_page_is_made_of() -> None:
    """Hostile text gives the same tags and attributes as harmless text."""
    hostile, harmless = (Page(render_page(student_text(text))) for text in (PAYLOAD, "harmless"))
    assert hostile.tags == harmless.tags


@pytest.mark.parametrize("piece", HOSTILE, ids=ascii)
def test_a_page_shows_a_students_text_as_it_is(piece: str) -> None:
    """It is escaped, not removed, in the title, the heading and every part of a check."""
    made = Page(render_page(student_text(f"[{piece}]")))
    wanted = f"[{clean(piece)}]"
    for tag in ("title", "h1", "pre", "p", "code", "dd", "footer"):
        assert wanted in made.texts[tag] or repr(f"[{piece}]") in made.texts[tag], tag
    assert made.texts["main"].count(wanted) >= 7


def test_a_style_sheet_closes_nothing() -> None:
    """It is put into the page unescaped, so it must not contain anything that ends its element."""
    assert "<" not in style()
    assert "</" not in inlined("report.js")


PLACES = {
    "all right": ["2 / 2", "+ 1 bonus", "Complete", "doubling does what it should"],
    "wrong": [
        "In progress",
        "x is squared",
        "You returned [0.0961, 1.44].",
        "work/tiny.py:3",
        "return x * x",
        "[0.62, -2.4]",
        "--seed 7",
    ],
    "stub": ["0 / 4", "not started", "one does what it should"],
    "begun": ["Not started", "1 check", "Title of two", "two.py", "1 to look at"],
    "fresh": ["Title of one", "not started"],
    "missing": ["absent.py", "there is no absent.py", "0 / 10"],
    "invalid": ["could not be loaded", "SyntaxError: expected ':'"],
    "grader_error": ["The grader failed here, not your code", "ZeroDivisionError", "Traceback"],
    "several": ["For a person to look at: tiny.py:3 calls into the C library"],
}


@pytest.mark.parametrize("name", PLACES)
def test_a_page_says_what_a_report_holds(name: str) -> None:
    body = Page(render_page(REPORTS[name])).texts["body"]
    for part in PLACES[name]:
        assert part in body
    assert ("Traceback" in body) == (name in ("grader_error", "several"))
    assert body.count("SyntaxError") == (name in ("invalid", "several"))  # not for every check
    assert "0.9 s with seed 7" in body
    assert "engine fedcba9876543210, course small, version 1 (00ff)" in body


def opened(source: str, kind: str) -> list[bool]:
    """Return whether each ``details`` of a class is open on a page."""
    return [
        "open" in attributes
        for tag, attributes in Page(source).tags
        if tag == "details" and kind in attributes.get("class", "").split()
    ]


SAME = replace(NAMED, id="tiny.again", title="naming works again")
CHAIN = [
    replace(WAITING, id="tiny.w1", title="first wait", max_points=0.25, needs=NAMED.id),
    replace(WAITING, id="tiny.w2", title="second wait", max_points=5.0, needs="tiny.w1"),
    replace(WAITING, id="tiny.w3", title="third wait", message=f"waits for: {NAMED.title}"),
]
WORTH = "{} more points can be earned once this check passes"


def test_a_shared_cause_is_explained_once() -> None:
    """A second check with the same cause is folded and links to the first."""
    made = render_page(report(lesson(NAMED, SAME)))
    assert made.count("x is squared") == made.count("You returned [0.0961, 1.44].") == 1
    assert opened(made, "check") == [True, False]
    assert f'The same cause as in <a href="#tiny-naming">{NAMED.title}</a>' in made
    unknown = [replace(one, diagnosis=None, diagnosis_title=None) for one in (NAMED, SAME)]
    assert opened(render_page(report(lesson(*unknown))), "check") == [True, True]


def test_the_check_with_the_explanation_is_above_the_others_of_its_cause() -> None:
    """Also if a check of a function further down failed first."""
    first = replace(RIGHT, id="tiny.begins")
    below = replace(SAME, function="below")
    groups = by_function(lesson(first, below, NAMED))
    assert [group.function for group in groups] == [NAMED.function, "below"]
    ((above,), (further,)) = (group.failures for group in groups)
    assert above.same_as is None
    assert further.same_as is NAMED


def test_checks_that_wait_are_counted_under_the_failure_they_wait_for() -> None:
    """Also if they wait through others. In older reports, checks do not name what they need."""
    (group,) = by_function(lesson(RIGHT, NAMED, *CHAIN))
    (failure,) = group.failures
    assert [one.title for one in failure.waiting] == ["first wait", "second wait"]
    assert [one.title for one in group.waiting] == ["third wait"]
    text = Page(render_page(report(lesson(RIGHT, NAMED, *CHAIN)))).texts["summary"]
    for count in ("2 more checks wait for this", "1 check waits for another check"):
        assert count in text
    assert "1 check is right" in text


def test_a_failure_says_how_many_points_wait_for_it(shown: Shown) -> None:
    """Checks that wait through others count, a bonus does not; a grader fault can't be fixed."""
    bonus = replace(WAITING, id="tiny.w4", bonus=True, needs=NAMED.id)
    later = replace(WAITING, id="tiny.w5", max_points=1.0, needs="tiny.raising")
    found = lesson(NAMED, RAISED, *CHAIN, bonus, later)
    one = "1 more point can be earned once this check passes"
    english = Catalogue()
    on_github = html.unescape(step_summary(report(found), english))
    for said in (shown(report(found)), render_page(report(found)), on_github):
        assert [said.count(text) for text in (WORTH.format("5.25"), one)] == [1, 1]
    korean = points_waiting(NAMED, found, engine_catalogue("ko"))
    assert "통과하면 5.25점을 더" in korean
    assert points_waiting(RIGHT, found, english) == ""
    fault = replace(FAULT, id=NAMED.id)
    assert points_waiting(fault, lesson(fault, *CHAIN), english) == ""


def test_functions_with_failures_come_first_and_those_all_right_last() -> None:
    blank = replace(LATER, function="later")
    checks = [replace(RIGHT, function="right"), blank, replace(NAMED, function="wrong")]
    assert [one.function for one in by_function(lesson(*checks))] == ["wrong", "later", "right"]


NEXT = {
    "wrong": ("fix", "tiny", "naming"),
    "invalid": ("file", "broken", ""),
    "several": ("file", "broken", ""),
    "stub": ("write", "tiny", "one"),
    "fresh": ("begin", "one", ""),
    "begun": ("fix", "tiny", "naming"),
    "grader_error": None,
    "all right": None,
    "empty": None,
}


@pytest.mark.parametrize("name", NEXT)
def test_the_next_step_comes_first(name: str) -> None:
    """It links to the place; if nothing is left, there is none."""
    step = next_step(sections(REPORTS[name].lessons, LearnerExtras()))
    made = render_page(REPORTS[name])
    if NEXT[name] is None:
        assert step is None
        assert 'class="step"' not in made
        return
    assert step is not None
    check = step.check.id.removeprefix("tiny.") if step.check else ""
    assert (step.kind, step.lesson.id, check) == NEXT[name]
    assert made.index('class="step"') < made.index('class="score"')


def test_files_that_are_not_there_are_the_next_step_once_no_file_is_wrong() -> None:
    several = report(MISSING, lesson(RIGHT))
    step = next_step(sections(several.lessons, LearnerExtras()))
    assert step is not None and step.kind == "add"
    assert '<a href="#no-file">1 lesson has no file</a>' in render_page(several)


@pytest.mark.parametrize("name", REPORTS)
def test_every_mark_on_a_page_is_explained(name: str) -> None:
    made = render_page(REPORTS[name])
    shown = set(re.findall(r'<span class="mark"[^>]*>(.)</span>', made))
    explained = set(re.findall(r"<dt>(.)</dt><dd>[^<]+</dd></div>", made))
    assert shown <= explained
    assert bool(explained) == bool(REPORTS[name].lessons)


def played(name: str, best: float) -> LearnerExtras:
    """Return a learner's part of a page, with three runs of a lesson and the best score."""
    history = LessonHistory(progress=LessonProgress(attempts=3, best=best))
    return LearnerExtras("", {name: history})


def test_a_score_is_told_once_or_with_what_it_is() -> None:
    """If they differ, this run's and the best one's are both labelled."""
    alone = Page(render_page(REPORTS["wrong"])).texts["body"]
    assert alone.count("2 / 10") == 2, "the score, and that of the one function"
    two = report(lesson(RIGHT, NAMED), lesson(RIGHT, id="more", title="More"))
    body = Page(render_page(two, extras=played("tiny", 3.5))).texts["body"]
    for part in ("points in this run", "5.5 points in your best runs", "this run 2 / 4 · best 3.5"):
        assert part in body
    body = Page(render_page(two, extras=played("tiny", 2))).texts["body"]
    assert "best" not in body.partition("use strict")[0]
    assert "this run" not in body


def test_a_page_opens_what_is_wrong_and_folds_what_is_right_or_waits() -> None:
    made = render_page(REPORTS["wrong"])
    assert opened(made, "lesson") == [True]
    assert opened(made, "check") == [True, True, True]
    assert opened(made, "rest") == [False, False]
    several = render_page(REPORTS["several"])
    assert opened(several, "lesson") == [True, True, False]


@pytest.mark.parametrize("name", ["begun", "fresh"])
def test_lessons_that_nobody_has_begun_are_a_line_each_at_the_end(name: str) -> None:
    """Their checks are counted, not listed; the next step may name one of them."""
    made = render_page(REPORTS[name])
    assert "later does what it should" not in made
    assert [made.count(f">Title of {one}<") for one in ("one", "two")] == [1, 1]
    assert made.count('<div class="lesson not_started row"') == 2
    if name == "begun":
        assert made.rindex('class="lesson failed"') < made.index('id="not-started"')


def test_lessons_that_have_no_file_are_a_line_each_after_what_there_is() -> None:
    """Together they count as one place to look at; a single lesson says it itself."""
    others = [replace(MISSING, id=name, title=f"Title of {name}") for name in ("three", "four")]
    made = render_page(report(MISSING, *others, lesson(RIGHT, NAMED), *BLANK))
    texts = ("there is no absent.py", "absent.py", "Title of three", "2 to look at")
    assert [made.count(text) for text in texts] == [0, 1, 1, 1]
    absent, blank = made.index('id="no-file"'), made.index('id="not-started"')
    assert made.rindex('class="lesson failed"') < absent < blank
    assert 'id="no-file"' not in render_page(REPORTS["missing"])


@pytest.mark.parametrize(
    ("extras", "made", "told"),
    [
        (LearnerExtras("2026-03-02T10:00"), {}, True),
        (LearnerExtras("2026-03-02T10:00"), {"places": {"two": Path("bob")}}, False),
        (None, {}, False),
    ],
    ids=["own", "somebody else's", "batch"],
)
def test_a_learner_who_has_begun_nothing_is_told_how(
    extras: LearnerExtras | None, made: dict[str, Any], told: bool
) -> None:
    how = "<code>grade next</code>"
    assert (how in render_page(REPORTS["fresh"], extras=extras, **made)) is told
    assert how not in render_page(REPORTS["begun"], extras=extras, **made)


def test_a_lesson_that_was_begun_once_or_printed_something_keeps_its_place() -> None:
    """Its score so far, or its output, is shown nowhere else."""
    printed = replace(BLANK[1], checks=(replace(LATER, output="loaded"),))
    lessons = BLANK[0], printed, replace(BLANK[0], id="three")
    made = render_page(report(*lessons), extras=played("one", 1.5))
    assert "best 1.5" in made and "loaded" in made
    assert made.count('<details class="lesson') == 2


@pytest.mark.parametrize(
    ("places", "options"),
    [
        ({}, ()),
        ({"tiny": Path("bob's work")}, ("--in", "bob's work")),
        ({"other": Path("bob")}, ()),
    ],
    ids=["here", "elsewhere", "another lesson elsewhere"],
)
def test_the_command_that_runs_a_check_again_looks_at_the_same_file(
    places: dict[str, Path], options: tuple[str, ...], shown: Shown
) -> None:
    command = ["grade", "replay", "tiny.naming", "--seed", "7", *options]
    made = Page(render_page(REPORTS["wrong"], places=places)).texts["code"]
    assert shlex.join(command) in made
    console = make_console()
    with console.capture() as caught:
        show_report(console, REPORTS["wrong"], html=None, places=places)
    (again,) = re.findall("Again(.*)", caught.get())
    assert shlex.split(again) == command


@pytest.mark.parametrize("name", ALL_PAGES)
def test_a_korean_report_has_no_english_left(name: str, shown: Shown) -> None:
    """The catalogue has every word of the renderers, and the page names its language."""
    tr = engine_catalogue("ko")
    made = Page(render_page(ALL_PAGES[name], tr))
    output = shown(with_plain_paths(ALL_PAGES[name]), tr=tr)
    assert made.tags[0] == ("html", {"lang": "ko"})
    assert tr.missing == set()
    assert all(cell_len(line) <= 80 for line in output.splitlines())
