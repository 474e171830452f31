"""Fill an explanation's template: values as in the report,
our own texts in the reader's language.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from grader.core.errors import CourseError, StudentCodeError
from grader.core.i18n import Catalogue, phrase
from grader.core.report import Outcome
from grader.course.lesson_texts import read_mistakes
from grader.judge.diagnosis import Failure, fill_text, in_rows, rule
from grader.judge.rule_keys import lesson_mistakes

KOREAN = Catalogue(
    "ko", {"got {what}": "{what} 받음", "a line of {count}": "{count}줄", "nothing": "없음"}
)


@pytest.mark.parametrize(
    ("what", "english", "korean"),
    [
        ("nothing", "got nothing", "없음 받음"),
        ("walk", "got walk", "walk 받음"),
        (torch.tensor([1.0, 2.5]), "got [1.0, 2.5] float32", "[1.0, 2.5] float32 받음"),
        (torch.tensor([[1 / 3 - 2j]]), "got [[0.3333-2j]]", "[[0.3333-2j]] 받음"),
        (phrase("a line of {count}", count=3), "got a line of 3", "3줄 받음"),
        (phrase("a line of {count}", count="nothing"), "got a line of nothing", "없음줄 받음"),
        (phrase("{braces}", braces="{what}"), "got {what}", "{what} 받음"),
    ],
)
def test_facts_are_shown_in_the_readers_language(what: Any, english: str, korean: str) -> None:
    assert fill_text("got {what}", {"what": what}, Catalogue()) == english
    assert fill_text("got {what}", {"what": what}, KOREAN) == korean


def test_a_fact_that_is_missing_is_left_as_it_stands() -> None:
    assert fill_text("got {what} of {x}", {"what": "one"}, Catalogue()) == "got one of {x}"


def test_a_phrase_without_a_translation_is_missed() -> None:
    """So ``grade verify --lang`` reports it; a finished sentence would have gone unnoticed."""
    tr = Catalogue("ko", {"got {what}": "{what} 받음"})
    assert (
        fill_text("got {what}", {"what": phrase("a line of {count}", count=3)}, tr)
        == "a line of 3 받음"
    )
    assert tr.missing == {"a line of {count}"}
    assert str(phrase("a line of {count}", count=3)) == "a line of 3"


def test_a_sentence_has_one_row_of_a_large_matrix() -> None:
    """The first row that is wrong, in both."""
    want = torch.arange(12.0, dtype=torch.float64).reshape(4, 3)
    got = want.clone()
    got[2] *= 2
    both = {"expected": want, "actual": got, "x": torch.ones(2, 3)}
    shown = fill_text("{actual}, not {expected}, at {x}", in_rows(both), Catalogue())
    assert shown == (
        "[…, [12.0, 14.0, 16.0], …], not […, [6.0, 7.0, 8.0], …],"
        " at [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]] float32"
    )
    alone = {"expected": None, "actual": None, "x": want}
    assert fill_text("{x}", in_rows(alone), Catalogue()) == "[[0.0, 1.0, 2.0], …]"


TEXTS = """
[by_pattern]
title = "t"
explanation = "{key}"
patterns = ['no such thing', 'KeyError: (?P<key>\\w+)']

[by_rule]
title = "t"
explanation = "e"
patterns = ['KeyError']
"""


def test_a_mistake_without_a_rule_is_recognized_by_its_patterns(tmp_path: Path) -> None:
    """A rule of the same name counts instead, and rules are tried first."""
    file = tmp_path / "diagnosis.toml"
    file.write_text(TEXTS, "utf-8")
    rules = {"by_rule": rule(lambda failure, student: None)}
    found = lesson_mistakes(read_mistakes(file), rules, ["f"])
    assert [one.id for one in found] == ["by_rule", "by_pattern"]
    nothing: Any = None
    error = StudentCodeError("KeyError", "apple")
    known = {"check": "c", "about": "f", "reference": nothing, "draw": nothing}
    failures = [Failure(Outcome.ERROR, error=one, **known) for one in (error, None)]
    assert [[one.rule(failure, nothing) for one in found if one.rule] for failure in failures] == [
        [None, {"key": "apple"}],
        [None, None],
    ]


def test_a_malformed_pattern_is_named(tmp_path: Path) -> None:
    file = tmp_path / "diagnosis.toml"
    file.write_text(TEXTS.replace("KeyError'", "KeyError('"), "utf-8")
    with pytest.raises(CourseError, match=r"diagnosis.toml:\d+: \[by_rule\]: .*unterminated"):
        read_mistakes(file)


def test_a_sentence_that_is_filled_in_ends_with_one_full_stop() -> None:
    for said, text in (
        ("dim is 0.", "torch said: dim is 0. So"),
        ("a ...", "torch said: a .... So"),
    ):
        assert fill_text("torch said: {said}. So", {"said": said}, Catalogue()) == text
    assert fill_text("{said} So", {"said": "It is 0."}, Catalogue()) == "It is 0. So"
