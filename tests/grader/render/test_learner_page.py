"""A learner's own page: their code, their way, the solution once it is earned; in a real browser,
with its keys and buttons.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Browser

from grader.cli.commands.learner_page import keep
from grader.core.report import LessonStatus, Report
from grader.course.course import Course
from grader.course.progress import LessonProgress, MistakeRecord, ScorePoint
from grader.course.stubs import without_markers
from grader.course.text_encoding import decode
from grader.render.code import TEXTS_KEPT, beside, coloured, excerpt
from grader.render.html import render_page
from grader.render.learner_page import LearnerExtras, LessonHistory, sparkline
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import Settings, grade_submission

WRONG = (
    "def double(x):\n"
    "    # <script>alert(1)</script>\n"
    "    return x * x\n"
    "def triple(x): return 3 * x\n"
    "LIMIT = 19.0\n"
)
PROGRESS = LessonProgress(
    attempts=4,
    best=6,
    history=(ScorePoint("2026-03-01", 0), ScorePoint("2026-03-02", 6)),
    mistakes={
        "squares": MistakeRecord(
            "a", "2026-03-01T08:00:00", "2026-03-02T09:00:00", "x is <b>squared</b>"
        ),
        "old_one": MistakeRecord("b", ""),
    },
)


@pytest.fixture(scope="module")
def wrong_report(host: ForkServerClient, small_course: Course) -> Report:
    """A report on a wrong file."""
    files = {"tiny": decode("tiny", "tiny.py", WRONG.encode())}
    return grade_submission(
        host,
        small_course,
        small_course.lessons,
        files,
        Settings(1, "auto", small_course.limits),
        name="me",
    )


@pytest.fixture(scope="module")
def page(
    wrong_report: Report, small_course: Course, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """The learner's page of it, as if they had given up."""
    solution = without_markers(small_course.lesson("tiny").solution.read_text("utf-8"))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(
        render_page(
            wrong_report,
            keepsake=LearnerExtras(
                "2026-03-02T10:00", {"tiny": LessonHistory(WRONG, solution, PROGRESS)}
            ),
        ),
        "utf-8",
    )
    return path


def test_of_the_texts_that_were_coloured_a_pageful_is_kept() -> None:
    """Not those of a whole class."""
    for number in range(2 * TEXTS_KEPT):
        coloured(f"x = {number}")
    assert coloured.cache_info().currsize == TEXTS_KEPT


def test_lines_of_code_are_coloured_and_escaped_one_by_one() -> None:
    """As many as there are, whatever is in them."""
    text = 'def f():\n    """a\n    b"""\n    return "<b>\x1b[31m"\r\n\n'
    made = coloured(text)
    assert len(made) == len(text.split("\n"))
    assert "&lt;b&gt;" in made[3]
    assert "\x1b" not in "".join(made)
    assert "<b>" not in "".join(made)


SLOW_IMPORT = """
import importlib.machinery, sys, threading, time
from grader.render.code import coloured

class Slow:
    def find_spec(self, name, path=None, target=None):
        if not name.startswith("pygments."):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        execute = spec.loader.exec_module
        spec.loader.exec_module = lambda module: (time.sleep(0.05), execute(module))
        return spec

sys.meta_path.insert(0, Slow())
made = []
threads = [threading.Thread(target=lambda: made.append(coloured("x = 1"))) for _ in range(2)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
assert "pygments.lexers" in sys.modules
print(len(made))
"""


def test_two_threads_may_colour_the_first_text_at_once() -> None:
    """Pygments' packages replace themselves while they are imported; whoever waits for that must
    not be left with what was replaced.
    """
    told = subprocess.run(
        [sys.executable, "-c", SLOW_IMPORT], capture_output=True, text=True, check=False
    )
    assert (told.stdout, told.stderr) == ("2\n", "")


def test_an_excerpt_is_the_line_and_what_is_around_it() -> None:
    text = "\n".join(f"x{k} = {k}" if k % 4 else "" for k in range(1, 21))
    assert [(line.number, line.marked) for line in excerpt(text, 9)] == [
        (6, False),
        (7, False),
        (8, False),
        (9, True),
        (10, False),
        (11, False),
    ]


def test_files_side_by_side_agree_but_where_they_differ() -> None:
    mine = "\n".join(map(str, range(30)))
    rows = beside(mine, mine.replace("15", "fifteen"))
    assert [row.kind for row in rows] == [
        "gap",
        "same",
        "same",
        "same",
        "changed",
        "same",
        "same",
        "same",
    ]
    assert beside(mine, mine + "\n") == []


def test_a_line_of_scores_takes_two() -> None:
    assert sparkline((ScorePoint("", 3),)) == ""
    assert sparkline((ScorePoint("", 0), ScorePoint("", 10))) == "3.0,25.0 117.0,3.0"


def test_the_solution_is_on_the_page_only_once_it_is_earned(
    wrong_report: Report, small_course: Course
) -> None:
    """By full marks; never for what is wrong, in a folder that may be somebody else's."""
    files = {"tiny": decode("tiny", "tiny.py", WRONG.encode())}
    somewhere = Path("/somewhere")
    assert keep(small_course, wrong_report, files, somewhere, "en").lessons["tiny"].solution is None
    right = replace(
        wrong_report, lessons=(replace(wrong_report.lessons[0], status=LessonStatus.PASSED),)
    )
    assert "def double" in str(
        keep(small_course, right, files, somewhere, "en").lessons["tiny"].solution
    )


@pytest.mark.parametrize(("attempts", "words"), [(1, ">1 run ·"), (4, ">4 runs ·")])
def test_one_run_is_no_plural(wrong_report: Report, attempts: int, words: str) -> None:
    story = LessonHistory(WRONG, None, replace(PROGRESS, attempts=attempts))
    assert words in render_page(
        wrong_report, keepsake=LearnerExtras("2026-03-02T10:00", {"tiny": story})
    )


def test_a_page_of_a_batch_has_none_of_it(wrong_report: Report) -> None:
    made = render_page(wrong_report)
    for sign in ('class="solution"', 'class="way"', 'class="spark"', 'class="diff"'):
        assert sign not in made


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_nobody_is_shut_out_and_nothing_runs_over_the_edge(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    tab = browser.open(page, width=width, dark=dark)
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)
    assert browser.errors == []
    assert browser.requests == [page.as_uri()]


@pytest.mark.parametrize("width", [1280, 375])
def test_lessons_not_started_are_a_table_that_shuts_nobody_out(
    browser: Browser, wrong_report: Report, tmp_path: Path, width: int
) -> None:
    (tiny,) = wrong_report.lessons
    file = "a_lesson_with_a_long_name/a_lesson_with_a_long_name.py"
    blank = [
        replace(tiny, id=f"later{k}", status=LessonStatus.NOT_STARTED, file=file, checks=())
        for k in range(3)
    ]
    (tmp_path / "report.html").write_text(
        render_page(replace(wrong_report, lessons=(tiny, *blank))), "utf-8"
    )
    tab = browser.open(tmp_path / "report.html", width=width)
    assert tab.locator("#not-started tbody tr").count() == 3
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)


def test_the_way_so_far_is_told_as_text(browser: Browser, page: Path) -> None:
    """A name that would be markup stays a name; a mistake without a name has its id."""
    told = browser.open(page).inner_text(".way")
    assert "x is <b>squared</b>" in told
    assert "cleared 2026-03-02" in told
    assert "old one" in told


def test_only_what_is_wrong_can_be_shown_and_gone_through_by_keys(
    browser: Browser, page: Path
) -> None:
    tab = browser.open(page)
    right = tab.locator("li.passed").first
    assert right.is_visible()
    tab.keyboard.press("f")
    assert not right.is_visible()
    tab.keyboard.press("j")
    assert tab.evaluate("document.activeElement.closest('li').className") == "failed"
    tab.keyboard.press("f")
    assert right.is_visible()


def test_a_call_is_copied_at_the_press_of_a_button(browser: Browser, page: Path) -> None:
    tab = browser.open(page)
    tab.evaluate(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return"
        " Promise.resolve(); }"
    )
    tab.locator("button.copy:visible").first.click()
    assert "tiny.double(" in tab.evaluate("window.copied")
    assert tab.inner_text("#told") == "Copied"
