"""The form of what students read: short titles, short explanations, plain phrases."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from lesson_pictures import PICTURE, PICTURES
from observed_points import checks_of
from rich.cells import cell_len

from grader.core.i18n import languages, load_catalogue
from grader.course.course import Lesson, find_course, load_course
from grader.course.lesson_texts import DOCUMENTED
from grader.course.stubs import WIDTH, columns, stub_in
from grader.judge.common_mistakes import COMMON
from grader.judge.diagnosis import Mistake
from grader.judge.results import load_mistakes

LESSONS = load_course(find_course()).lessons
MOST_WORDS, MOST_CHARACTERS, MOST_COLUMNS = 45, 60, 80
ROUNDING_ERRORS = "finite_difference"
"""The lesson whose picture shows rounding errors, which differ from machine to machine."""
BANNED = (
    "anew", "foretells", "whoever", "nobody notices", "of our own", "in place of", "is no tensor",
    "is no leaf", "is no copy", "stands where", "all the same", "the chain rule wants",
)  # fmt: skip
"""Phrases that sound translated."""


def mistakes(lesson: Lesson) -> list[Mistake]:
    return load_mistakes(lesson.diagnosis, (*lesson.names, *lesson.bonus))


def check_titles(lesson: Lesson) -> Iterator[str]:
    for check in checks_of(lesson).values():
        yield (check.__doc__ or "").splitlines()[0]


def too_long(found: list[Mistake]) -> list[str]:
    return [one.id for one in found if len(one.explanation.split()) > MOST_WORDS]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_explanations_and_titles_are_short(lesson: Lesson) -> None:
    assert too_long(mistakes(lesson)) == []
    titles = [*check_titles(lesson)]
    assert titles
    assert [title for title in titles if len(title) > MOST_CHARACTERS] == []


def test_the_engines_explanations_are_short() -> None:
    assert too_long(list(COMMON)) == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_no_phrase_sounds_translated(lesson: Lesson) -> None:
    texts = [text for one in mistakes(lesson) for text in (one.title, one.explanation)]
    everything = " ".join([*texts, *check_titles(lesson)]).lower()
    assert [phrase for phrase in BANNED if re.search(rf"\b{phrase}\b", everything)] == []


@pytest.mark.parametrize("lang", languages())
@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_a_stub_is_a_card(lesson: Lesson, lang: str) -> None:
    """It fits a terminal, and each docstring has at most six lines, in each language."""
    tr = load_catalogue(lang, lesson.texts(lang))
    stub = stub_in(tr, lesson.stub.read_text("utf-8"), lesson.id)
    assert [line for line in stub.splitlines() if columns(line) > WIDTH] == []
    documented = [node for node in ast.walk(ast.parse(stub)) if isinstance(node, DOCUMENTED)]
    lines = {node.name: (ast.get_docstring(node) or "").splitlines() for node in documented}
    assert [name for name, text in lines.items() if len(list(filter(None, text))) > 6] == []


def readmes(lesson: Lesson) -> list[Path]:
    return [path for path in lesson.readmes if path.suffix == ".md"]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_readmes_fit_a_terminal(lesson: Lesson) -> None:
    """Tables, pictures and addresses can't be wrapped and may be longer."""
    for path in readmes(lesson):
        lines = path.read_text("utf-8").splitlines()
        free = [line for line in lines if not line.startswith(("|", "![")) and "://" not in line]
        assert [line for line in free if cell_len(line) > MOST_COLUMNS] == []


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_answers_come_after_all_questions(lesson: Lesson) -> None:
    """Each README has one folded block, with as many answers as the section has questions."""
    for path in readmes(lesson):
        text = path.read_text("utf-8")
        before, answers = text.split("<details>")
        questions = before[before.rindex("\n## ") :]
        numbers = [re.findall(r"^\d+\.", part, re.MULTILINE) for part in (questions, answers)]
        assert len(numbers[0]) > 2
        assert numbers[0] == numbers[1][: len(numbers[0])]


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
def test_each_readme_shows_the_picture_that_is_drawn(lesson: Lesson) -> None:
    """The file is what ``make pictures`` draws, except for digits of rounding errors."""
    drawn, lies = f"{PICTURES[lesson.id]()}\n", (lesson.folder / PICTURE).read_text("utf-8")
    if lesson.id == ROUNDING_ERRORS:
        drawn, lies = (re.sub(r" points=\"[^\"]*\"", "", text) for text in (drawn, lies))
    assert lies == drawn
    for path in readmes(lesson):
        assert f"]({PICTURE})" in path.read_text("utf-8")
