"""The class page: its contents, that hostile text stays text, and that its policy holds."""

from __future__ import annotations

import gc
import html
import re
import tempfile
from dataclasses import replace
from typing import Any

import pytest
from factories.gradebook import SLOPES, make_check, make_lesson, make_report
from factories.random_gradebook import random_columns, random_entries

from grader.classroom.gradebook.entry import CheckColumn, GradebookEntry, LessonColumn
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.statistics.class_page import render_class
from grader.classroom.statistics.collect import Row, RowsOnDisk, collect_statistics
from grader.core.report import Outcome, WrongExpression


def page_of(*entries: GradebookEntry, **given: Any) -> str:
    return "".join(render_class(collect_statistics(entries, random_columns()), **given))


@pytest.mark.parametrize("count", [0, 1, 30])
def test_a_class_of_any_size_has_a_page(count: int) -> None:
    page = page_of(*random_entries(count))
    assert page.count(" data-score=") == count


def test_names_are_text_and_links_are_encoded() -> None:
    """Any student's name is shown as text and links only to that student's report."""
    entry = next(one for one in random_entries(30) if one.report)
    student = StudentIdentity("</table><script>alert(1)</script>")
    page = page_of(replace(entry, name='a b"><script>/../%2e?#', students=(student,)))
    assert 'href="reports/a%20b%22%3E%3Cscript%3E%2F..%2F%252e%3F%23.html"' in page
    assert len(re.findall("<script", page)) == 1
    assert "&lt;/table&gt;&lt;script&gt;alert(1)" in page


def test_what_was_passed_over_is_listed_with_its_reason() -> None:
    page = page_of(passed_over=[("<b>notes.docx", "does not have the name of a lesson")])
    assert "<b>&lt;b&gt;notes.docx</b> does not have the name of a lesson" in page
    assert '<p class="empty">Nothing.</p>' not in page


def test_names_with_commas_are_separated_by_semicolons() -> None:
    people = [
        GradebookEntry(name, (StudentIdentity(name),), missing=True)
        for name in ("Hoffmann, Lena", "Wang, Fang")
    ]
    assert page_of(*people).count("Hoffmann, Lena; Wang, Fang") == 2


def test_a_group_of_wrong_answers_shows_the_wrong_expression() -> None:
    wrong = WrongExpression(3, 8, 3, 13, "x + 1", "return x + 1")
    check = make_check(SLOPES.checks[1], Outcome.FAILED, signature="s", wrong_expression=wrong)
    report = make_report("ada", [make_lesson(SLOPES, [check])])
    page = page_of(GradebookEntry("ada", (), report=report))
    assert "A change of <code>x + 1</code> in line 3 makes" in page


TINY = LessonColumn(
    "tiny",
    "Tiny",
    2.0,
    0.0,
    tuple(CheckColumn(f"tiny.{name}", name, 1.0, False, False) for name in ("first", "second")),
)


def tiny(name: str) -> GradebookEntry:
    """Return an answer that fails the first of two checks of one point; the second waits for it."""
    first, second = TINY.checks
    checks = [
        make_check(first, Outcome.FAILED, diagnosis="m", diagnosis_title="mixed up"),
        make_check(second, Outcome.SKIPPED, needs=first.id),
    ]
    return GradebookEntry(name, (), make_report(name, [make_lesson(TINY, checks)]))


def test_the_points_that_wait_for_a_check_are_told() -> None:
    page = "".join(render_class(collect_statistics([tiny("ada"), tiny("alan")], [TINY])))
    assert (
        "It cost the class 4 points; 2 of these points wait for it and come back with it." in page
    )
    assert "2 points wait for it" in page


def test_one_is_not_plural() -> None:
    """Each number that the page can show is 1."""
    one = tiny("ada")
    entries = [
        replace(one, history=(0.0, 0.0)),
        GradebookEntry("eve", (), problem="eve's host is gone", fault=True),
    ]
    room = collect_statistics(entries, [TINY])
    page = "".join(render_class(room, passed_over=[("a.docx", "is no lesson")]))
    text = html.unescape(re.sub(r"<style.*?</style>|<[^>]*>", "", page, flags=re.DOTALL))
    nouns = "submission student point lesson verdict version".split()
    assert [noun for noun in nouns if re.search(rf"\b1 {noun}s", text)] == []
    for said in (
        "1 student began",
        "1 student handed in",
        "1 point waits for it",
        "This submission has no mark",
        "The bar is Tiny",
    ):
        assert said in text


def test_the_page_has_the_title_of_its_assignment() -> None:
    page = page_of(*random_entries(3), title="Week 2 <i>")
    assert "<h1>Week 2 &lt;i&gt;</h1>" in page
    assert "<title>Week 2 &lt;i&gt;: 3 submissions</title>" in page


def test_people_of_one_name_can_be_told_apart_wherever_they_are_named() -> None:
    same = StudentIdentity("Kim Minjun")
    entries = [replace(tiny(name), students=(same,)) for name in ("minjun1", "minjun2")]
    page = "".join(render_class(collect_statistics(entries, [TINY])))
    topic = page[page.index('<ol class="topics">') : page.index("</ol>")]
    assert "minjun1</span>" in topic and "minjun2</span>" in topic
    entries[0] = replace(tiny("Kim Minjun"), students=(replace(same, ids={"email": "k@x.edu"}),))
    page = "".join(render_class(collect_statistics(entries, [TINY])))
    assert "k@x.edu</span>" in page and "Kim Minjun</span>" not in page


def test_who_has_no_report_has_no_link() -> None:
    unreadable = GradebookEntry("alan", (), problem="work.zip is not a zip")
    page = page_of(GradebookEntry("ada", (), missing=True), unreadable)
    assert "reports/" not in page
    assert "work.zip is not a zip" in page


def test_rows_on_disk_are_those_in_memory() -> None:
    """They are equal each time they are read."""
    with tempfile.TemporaryFile() as file:
        rows = collect_statistics(random_entries(20), random_columns(), RowsOnDisk(file)).rows
        wanted = collect_statistics(random_entries(20), random_columns()).rows
        assert len(rows) == 20
        assert list(rows) == list(rows) == wanted


def rows_alive() -> int:
    """Return how many rows of a table are in memory, including those of other tests' classes."""
    return sum(type(thing) is Row for thing in gc.get_objects())


def test_a_page_is_written_without_holding_the_class() -> None:
    """The page comes in small pieces, and meanwhile one row is in memory, not the table."""
    others = rows_alive()
    with tempfile.TemporaryFile() as file:
        room = collect_statistics(random_entries(60), random_columns(), RowsOnDisk(file))
        pieces = render_class(room)
        sizes, alive = [], []
        for number, piece in enumerate(pieces):
            sizes.append(len(piece))
            if number % 400 == 0:
                alive.append(rows_alive() - others)
    assert len(alive) > 5
    assert max(alive) <= 2
    assert max(sizes) < sum(sizes) / 8  # the style sheet is the largest piece
