"""Find texts that share code: renaming hides nothing, common or given code accuses nobody, and the
page says that it is not a verdict.
"""

from __future__ import annotations

import json
import random
import re
import sys
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pytest
from browser import Browser
from click.testing import CliRunner
from factories.gradebook import make_check, make_lesson, make_report

from grader.classroom.gradebook.entry import CheckColumn, LessonColumn
from grader.classroom.gradebook.store import Gradebook, GradingKey
from grader.classroom.imports.entries import StudentIdentity, Submission
from grader.classroom.statistics.similarity import (
    Side,
    Text,
    in_pieces,
    render_similar,
    similar_pairs,
)
from grader.cli import cli
from grader.cli.exports import show_similar
from grader.core.errors import UsageError
from grader.core.report import Outcome
from grader.course.course import Course
from grader.course.submission import LessonFile

SMALL_COURSE = Path(__file__).parents[1] / "small_course"
GIVEN = '''"""The lesson."""

import torch


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return grad_output * 3 * x * x
'''
ADA = """
def helper(values, limit):
    total = 0
    for place, value in enumerate(values):
        if value > limit and place % 2:
            total += value ** 2 / (1 + abs(limit))
    return total
"""
ALAN = """
class Table:
    def __init__(self, rows):
        self.rows = {row[0]: sorted(row[1:], reverse=True) for row in rows}

    def best(self):
        return max(self.rows.items(), key=lambda row: sum(row[1]))[0]
"""
DISGUISE = {"values": "numbers", "limit": "bound", "total": "acc", "place": "i", "value": "v"}


def disguised(code: str) -> str:
    """Return the same code with other names, other spacing and a comment."""
    renamed = re.sub(r"\w+", lambda word: DISGUISE.get(word[0], word[0]), code)
    spaced = renamed.replace(" + ", "+").replace("\n    for", "\n\n    for")
    return f"# all my own work\n{spaced}"


COPIED = [
    Text("ada", GIVEN + ADA),
    Text("alan", GIVEN + ALAN),
    Text("copy", GIVEN + disguised(ADA)),
]


def owners(
    texts: list[Text], known: tuple[str, ...] = (GIVEN,), threshold: float = 0.6
) -> list[tuple[str, str]]:
    pairs = similar_pairs("cube", texts, "", known, threshold)
    return [(pair.one.owner, pair.other.owner) for pair in pairs]


def marked(side: Side) -> str:
    return "".join(text for text, shared in side.pieces if shared)


def test_other_names_comments_and_spacing_hide_nothing() -> None:
    assert owners(COPIED) == [("ada", "copy")]


def test_renaming_self_and_builtins_hides_no_copy() -> None:
    """``self``, ``len`` and similar names count like any others."""
    other = re.sub(r"\b(self|max|sum|sorted)\b", lambda word: f"my_{word[0]}", ALAN)
    texts = [Text("alan", GIVEN + ALAN), Text("copy", GIVEN + other)]
    assert owners(texts, threshold=0.9) == [("alan", "copy")]


def test_common_imports_make_no_pair() -> None:
    imports = "import math\nimport itertools, functools\nfrom collections import (\n    abc,\n)\n"
    texts = [Text("ada", imports * 4 + ADA), Text("alan", imports * 4 + ALAN)]
    assert owners(texts, threshold=0.1) == []


def test_pairs_that_share_the_most_lines_come_first() -> None:
    """A short text shared whole comes after a long one shared in part."""
    short = ADA.replace("enumerate", "zip").replace("if value", "while value")
    texts = [Text("a", ALAN + ADA + ALAN[:60]), Text("b", ALAN + ADA), Text("c", ALAN[:140])]
    pairs = similar_pairs("cube", [*texts, Text("d", short)], "", [GIVEN], 0.3)
    assert [pair.lines for pair in pairs] == sorted((pair.lines for pair in pairs), reverse=True)
    assert {pairs[0].one.owner, pairs[0].other.owner} == {"a", "b"}
    assert pairs[0].lines > 10


def test_code_of_stub_and_reference_makes_no_pair() -> None:
    """The texts consist of it; if it counted, they would be a pair."""
    texts = [Text("ada", GIVEN), Text("alan", GIVEN)]
    assert owners(texts) == []
    assert owners(texts, known=()) == [("ada", "alan")]


def test_code_that_many_have_makes_no_pair() -> None:
    assert owners([Text(f"{n}", GIVEN + ADA) for n in range(6)]) == []
    assert len(owners([Text(f"{n}", GIVEN + ADA) for n in range(3)])) == 3


WRONG = GIVEN.replace("grad_output * 3 * x * x", "grad_output * 2 * x + 0 * grad_output")
"""A wrong answer that shares its code with the right one."""
STEPS = (
    "\ndef halved(value, step=2):\n    return [value // step, value % step, value - step]\n"
    "\nlast = [halved(number, step=3)[-1] for number in range(2, 9)]\n"
)
STUB = GIVEN[: GIVEN.index("        ctx.save")]


def other_names(code: str) -> str:
    names = {"x": "value", "grad_output": "upstream", "ctx": "store"}
    return re.sub(r"\w+", lambda word: names.get(word[0], word[0]), code)


def equal(*texts: str, wrong: bool = True, earlier: int = 0) -> list[tuple[str, ...]]:
    """Return the pairs of these answers: what is the same, and whose they are, by number. The last
    ``earlier`` are from an earlier class.
    """
    first = len(texts) - earlier
    given = [Text(f"{n}", text, n >= first, wrong) for n, text in enumerate(texts)]
    found = similar_pairs("cube", given, STUB, [GIVEN], 0.6)
    return [
        (pair.same, *(side.owner for side in (pair.one, pair.other, *pair.others)))
        for pair in found
    ]


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ([WRONG, WRONG], [("same file", "0", "1")]),
        ([WRONG] * 7, [("same file", *"0123456")]),
        ([WRONG, other_names(WRONG)], [("same code", "0", "1")]),
        ([WRONG, "# my own\n" + WRONG.replace("lesson", "work")], [("same code", "0", "1")]),
        ([WRONG, other_names(WRONG), WRONG], [("same code", "0", "1"), ("same file", "0", "2")]),
        ([WRONG, WRONG.replace("2 * x", "x * 2")], []),
        ([WRONG, WRONG.replace("save_for_backward", "mark_dirty")], []),
        ([WRONG + ADA, WRONG + ADA.replace("abs", "int")], [("", "0", "1")]),
        ([WRONG + ALAN, WRONG + ALAN.replace("reverse=", "strict=")], [("", "0", "1")]),
        ([WRONG + ALAN, WRONG + ALAN.replace("rows", "lines")], [("same code", "0", "1")]),
        ([WRONG + STEPS, WRONG + STEPS.replace("step", "by")], [("same code", "0", "1")]),
        ([STUB, STUB], []),
        (["def f(:\n" + WRONG] * 2, [("same file", "0", "1")]),
    ],
    ids=[
        "equal",
        "many",
        "renamed",
        "other comments",
        "renamed and equal",
        "other code",
        "another method",
        "another built-in",
        "another argument",
        "a renamed attribute",
        "a renamed parameter",
        "the stub",
        "not Python",
    ],
)
def test_equal_wrong_answers_are_a_pair(answers: list[str], found: list[tuple[str, ...]]) -> None:
    """Most of their code is in the right answer, or in many submissions."""
    assert sorted(equal(*answers)) == found


def test_equal_answers_that_are_right_or_all_from_an_earlier_class_are_no_pair() -> None:
    assert equal(WRONG, WRONG, wrong=False) == []
    assert equal(WRONG, WRONG, earlier=2) == []
    assert equal(WRONG, WRONG, earlier=1) == [("same file", "0", "1")]


def test_equal_answers_mark_what_is_not_in_the_stub() -> None:
    texts = [Text(name, WRONG, wrong=True) for name in ("ada", "alan")]
    (pair,) = similar_pairs("cube", texts, STUB, [GIVEN], 0.6)
    assert "grad_output * 2" in marked(pair.one) and "import torch" not in marked(pair.one)
    lines = {line.strip() for line in WRONG.splitlines()}
    assert {text for text, shared in pair.one.pieces if shared} <= lines
    assert (pair.share, pair.lines) == (1.0, 5)


def test_the_share_is_of_what_is_ones_own_and_marks_it() -> None:
    """Somebody who added to a copy has a smaller share than the author; the greater share ranks the
    pair. The pieces make up the text.
    """
    texts = [Text("ada", GIVEN + ADA), Text("copy", GIVEN + ADA + ALAN)]
    (pair,) = similar_pairs("cube", texts, "", [GIVEN], 0.6)
    assert pair.share == pair.one.share > 0.9 > pair.other.share
    assert "".join(text for text, _ in pair.other.pieces) == GIVEN + ADA + ALAN
    assert "total += value ** 2" in marked(pair.other)
    assert "save_for_backward" not in marked(pair.other)
    assert "sorted(row[1:]" not in marked(pair.other)


def test_pairs_below_the_threshold_are_no_pairs() -> None:
    """Here, half of each one's own code is shared."""
    own = (
        "\nNUMBERS = {'a': [1, 2, 3], 'b': (4, 5), 'c': [one for one in range(9)],"
        " 'd': {6: 7, 8: 9}, 'e': not 1, 'f': print}\n"
    )
    other = GIVEN + ADA + own + own.replace("[", "((")
    texts = [Text("ada", GIVEN + ADA + ALAN), Text("grace", other)]
    assert owners(texts, threshold=0.3) == [("ada", "grace")]
    assert owners(texts, threshold=0.7) == []


def test_two_of_an_earlier_class_are_no_pair() -> None:
    old = [Text(name, GIVEN + ADA, earlier=True) for name in ("old", "older")]
    assert owners([Text("ada", GIVEN + ADA), *old]) == [("ada", "old"), ("ada", "older")]


def test_little_code_of_ones_own_is_nothing_to_be_recognised_by() -> None:
    same = GIVEN + "\nanswer = [0.31, 2, 5, 7, 'x', 11, 13]\n"
    assert owners([Text("ada", same), Text("alan", same)]) == []


def test_the_same_texts_give_the_same_pairs() -> None:
    """The order of the texts does not matter."""
    codes = (ADA, ALAN, disguised(ADA), ADA + ALAN)
    texts = [Text(f"{n}", f"{GIVEN}{codes[n % 4]}\nN = {n}\n") for n in range(8)]
    mixed = random.Random(5).sample(texts, len(texts))
    assert set(map(frozenset, owners(texts))) == set(map(frozenset, owners(mixed)))


@pytest.mark.parametrize("text", ["", "\n", "def f(:\n  '''", "x = 1\n", "\ud7ff" * 50, "(" * 2000])
def test_any_text_can_be_compared(text: str) -> None:
    assert owners([Text("ada", text), Text("alan", text)], known=("",)) in ([], [("ada", "alan")])


def test_pieces_never_overlap_and_stay_within_the_text() -> None:
    found = in_pieces("abcdefgh", [[4, 1], [99, 3]])
    assert found == (("a", False), ("bc", True), ("d", False), ("efgh", True))
    assert in_pieces("abcd", [[0, 1], [3, 4]]) == (("abc", True), ("d", True))


def test_without_the_library_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "copydetect", None)
    with pytest.raises(UsageError, match=r"in your clone: pip install '\.\[similar\]'"):
        similar_pairs("cube", [Text("a", ADA)], "", [], 0.6)


# ----------------------------------------------------------------------------------------- the page


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a page with hostile code and names."""
    hostile = ADA + "\nTEXT = \"</pre><script>document.title = 'ran'</script>\"\n"
    texts = [Text("ada", hostile), Text("</h2><script>1</script>", hostile, earlier=True)]
    pairs, labels = similar_pairs("cube", texts, "", [], 0.6), {"ada": "Ada <b>"}
    text = render_similar(pairs, labels, compared=2, threshold=0.6, earlier="2025 <i>")
    path = tmp_path_factory.mktemp("similar") / "similar.html"
    path.write_text(text, "utf-8")
    return path


def test_the_page_says_that_it_is_no_verdict_and_code_is_text(page: Path) -> None:
    text = page.read_text("utf-8")
    assert "does not prove that anyone copied" in text
    assert "<script" not in text
    assert "Ada &lt;b&gt;" in text


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_the_page_of_pairs_is_accessible_and_does_not_overflow(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    tab = browser.open(page, width=width, dark=dark)
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)
    assert browser.errors == []
    assert tab.locator("mark").first.is_visible()


# -------------------------------------------------------------------------------------- the command


FIRST = CheckColumn("tiny.first", "first", 10.0, False, False)
TINY = LessonColumn("tiny", "Tiny", 10.0, 0.0, (FIRST,))


def gradebook(
    folder: Path, texts: dict[str, str], *, student: str = "", outcome: Outcome = Outcome.PASSED
) -> Path:
    """Return a batch's folder in which these texts were graded for the lesson ``tiny``, by students
    who are called like their submissions, or all ``student``.
    """
    with Gradebook.open(folder, create=True) as book:
        book.set_secret(1)
        book.set_class({"lessons": json.dumps([["tiny", "Tiny", 10.0]])})
        run = book.begin("test")
        for name, text in texts.items():
            key = GradingKey(name, "hash", "0", "engine", "torch", "off", "en", "tiny")
            who = StudentIdentity(student or name.title())
            owner = Submission(name, (who,), lambda lessons: {})
            files = [LessonFile("tiny", "tiny.py", text)]
            report = make_report(name, [make_lesson(TINY, [make_check(FIRST, outcome)])])
            book.keep(owner, run, key, report, files)
    return folder


def run_similar(*arguments: object) -> tuple[int, str]:
    done = CliRunner().invoke(cli, ["similar", *map(str, arguments), "--course", str(SMALL_COURSE)])
    refused = str(done.exception) if isinstance(done.exception, UsageError) else ""
    return done.exit_code, done.output + refused


def test_the_command_compares_this_class_with_itself_and_an_earlier_one(tmp_path: Path) -> None:
    out = gradebook(tmp_path / "now", {"ada": ADA, "alan": ALAN, "copy": disguised(ADA)})
    old = gradebook(tmp_path / "last year", {"grace": ALAN})
    status, said = run_similar(out)
    assert status == 0
    assert "Ada" in said and "Copy" in said and "1 pair to look at" in said
    assert "lines" in said and "not in this table" not in said
    status, said = run_similar(out, "--against", old)
    assert "2 pairs" in said and "grace (earlier)" in said
    assert "last year" in (out / "similar.html").read_text("utf-8")


def test_the_command_shows_equal_wrong_answers_and_tells_namesakes_apart(tmp_path: Path) -> None:
    texts = {"kim1": WRONG, "kim2": WRONG, "kim3": WRONG}
    out = gradebook(tmp_path / "now", texts, student="Kim", outcome=Outcome.FAILED)
    said = run_similar(out)[1]
    assert "same file" in said and "Kim (kim1)" in said and "Kim (kim2) and 1 more" in said
    assert "1 pair to look at" in said
    page = (out / "similar.html").read_text("utf-8")
    assert "are the same file" in page and "Kim (kim3)." in page
    right = gradebook(tmp_path / "right", {"ada": WRONG, "alan": WRONG})
    assert "same file" not in run_similar(right)[1]


def test_the_command_says_how_many_pairs_its_table_leaves_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.exports.LISTED", 2)
    out = gradebook(tmp_path, dict.fromkeys(("ada", "alan", "grace"), ADA))
    said = run_similar(out)[1].replace("\n", " ")
    assert "3 pairs (1 of them not in this table) to look at" in said


def test_the_command_refuses_what_it_cannot_compare(tmp_path: Path) -> None:
    """The cases: a lesson that was not graded, the class itself, a folder without a gradebook."""
    out = gradebook(tmp_path / "now", {"ada": ADA})
    assert "has no lesson 'huge'. Its lessons: tiny" in run_similar(out, "--lesson", "huge")[1]
    assert "is this class" in run_similar(out, "--against", out)[1]
    assert "has no gradebook" in run_similar(tmp_path)[1]


def test_all_that_takes_long_is_told_of() -> None:
    """Progress covers every text, every fingerprint and every compared pair."""
    told: dict[str, int] = {}

    def watched(what: str, things: Collection[Any], /) -> Collection[Any]:
        told[what] = len(things)
        return things

    assert len(similar_pairs("cube", COPIED, "", [GIVEN], 0.6, watched)) == 1
    assert list(told) == [
        "looking for equal answers",
        "reading texts",
        "finding pairs",
        "comparing pairs",
    ]
    assert (told["reading texts"], told["comparing pairs"]) == (3, 1)
    assert told["finding pairs"] > 50


def test_a_comparison_that_is_stopped_leaves_the_page_as_it_was(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    small_course: Course,
) -> None:
    def stopped(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.cli.exports.similar_pairs", stopped)
    out = gradebook(tmp_path, {"ada": ADA, "copy": ADA})
    for before in ("is not written", "is as it was"):
        with pytest.raises(KeyboardInterrupt):
            show_similar(small_course, out, against=None, lesson=None, threshold=0.6)
        assert before in capsys.readouterr().err.replace("\n", "")
        (out / "similar.html").write_text("an earlier page")
    assert (out / "similar.html").read_text() == "an earlier page"
