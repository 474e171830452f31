"""A learner's page in a real browser, with keys and buttons: code, history, earned solutions."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from browser import Browser
from factories.gradebook import SLOPES, make_check, make_lesson, make_report

from grader.cli.workspace import keep
from grader.core.messages import Settings
from grader.core.report import LessonStatus, Outcome, Report
from grader.course.course import Course
from grader.course.progress import LessonProgress, MistakeRecord, ScorePoint
from grader.course.stubs import without_markers
from grader.course.submission import decode
from grader.render.code import MAX_LINES, TEXTS_KEPT, Readme, beside, coloured, excerpt
from grader.render.page import LearnerExtras, LessonHistory, render_page
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

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
        "cubes": MistakeRecord(
            "a", "2026-03-01T08:00:00", "2026-03-02T09:00:00", "x is <b>squared</b>"
        ),
        "old_one": MistakeRecord("b", ""),
    },
)


@pytest.fixture(scope="module")
def wrong_report(host: ForkServerClient, small_course: Course) -> Report:
    """Return a report on a wrong file."""
    files = {"tiny": decode("tiny", "tiny.py", WRONG.encode())}
    settings = Settings(1, "auto", small_course.limits)
    return grade_submission(host, small_course, small_course.lessons, files, settings, name="me")


def learners(report: Report, history: LessonHistory) -> str:
    """Return a learner's page with that history of the lesson."""
    return render_page(report, extras=LearnerExtras("2026-03-02T10:00", {"tiny": history}))


@pytest.fixture(scope="module")
def page(
    wrong_report: Report, small_course: Course, tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return the learner's page of it, as if they had given up."""
    solution = without_markers(small_course.lesson("tiny").solution.read_text("utf-8"))
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(learners(wrong_report, LessonHistory(WRONG, solution, PROGRESS)), "utf-8")
    return path


def test_of_the_texts_that_were_coloured_a_pageful_is_kept() -> None:
    """The cache is too small for a whole class."""
    for number in range(2 * TEXTS_KEPT):
        coloured(f"x = {number}")
    assert coloured.cache_info().currsize == TEXTS_KEPT


def test_a_call_to_paste_is_never_cut() -> None:
    """Other lines are, so that a page stays a page."""
    long = f"x = [{'1.25, ' * 100}]"
    check = make_check(SLOPES.checks[0], Outcome.FAILED, message="m", call=long)
    page = render_page(make_report("one", [make_lesson(SLOPES, [check])]))
    assert re.sub("<[^>]*>", "", page).count(long) == 1
    assert long not in re.sub("<[^>]*>", "", "".join(coloured(long)))


def test_lines_of_code_are_coloured_and_escaped_one_by_one() -> None:
    """The number of lines stays the same, whatever they contain."""
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
    """Pygments' packages replace themselves during import, which no thread may notice."""
    command = [sys.executable, "-c", SLOW_IMPORT]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (told.stdout, told.stderr) == ("2\n", "")


def test_a_text_of_many_lines_is_shown_without_colours() -> None:
    text = "if a < b:\n\tpass\n" * MAX_LINES
    assert coloured(text)[:2] == ("if a &lt; b:", "    pass")


def test_an_excerpt_is_the_line_and_what_is_around_it() -> None:
    text = "\n".join(f"x{k} = {k}" if k % 4 else "" for k in range(1, 21))
    lines = excerpt(text, 9)
    assert [line.number for line in lines] == [6, 7, 8, 9, 10, 11]
    assert [line.number for line in lines if line.marked] == [9]


def test_files_side_by_side_agree_but_where_they_differ() -> None:
    mine = "\n".join(map(str, range(30)))
    rows = beside(mine, mine.replace("15", "fifteen"))
    assert [row.kind for row in rows] == ["gap", *["same"] * 3, "changed", *["same"] * 3]
    assert beside(mine, mine + "\n") == []


def test_a_line_of_scores_takes_two() -> None:
    one, two = ScorePoint("", 0), ScorePoint("", 10)
    assert LessonHistory(progress=LessonProgress(history=(two,))).spark == ""
    line = LessonHistory(progress=LessonProgress(history=(one, two))).spark
    assert line == "3.0,25.0 117.0,3.0"


def test_the_solution_is_on_the_page_only_once_it_is_earned(
    wrong_report: Report, small_course: Course
) -> None:
    """Full marks earn it; nobody sees it for a wrong answer."""
    files = {"tiny": decode("tiny", "tiny.py", WRONG.encode())}
    somewhere = Path("/somewhere")
    assert keep(small_course, wrong_report, files, somewhere, "en").lessons["tiny"].solution is None
    passed = replace(wrong_report.lessons[0], status=LessonStatus.PASSED)
    kept = keep(small_course, replace(wrong_report, lessons=(passed,)), files, somewhere, "en")
    assert "def double" in str(kept.lessons["tiny"].solution)


@pytest.mark.parametrize(("attempts", "words"), [(1, "· 1 run ·"), (4, "· 4 runs ·")])
def test_one_run_is_no_plural(wrong_report: Report, attempts: int, words: str) -> None:
    history = LessonHistory(WRONG, None, replace(PROGRESS, attempts=attempts))
    assert words in learners(wrong_report, history)


def test_a_page_of_a_batch_has_none_of_it(wrong_report: Report) -> None:
    made = render_page(wrong_report)
    for sign in ('class="solution"', 'class="way"', 'class="spark"', 'class="diff"'):
        assert sign not in made


@pytest.mark.parametrize(("width", "dark"), [(1280, False), (375, True)])
def test_the_learners_page_is_accessible_and_does_not_overflow(
    browser: Browser, page: Path, width: int, dark: bool
) -> None:
    tab = browser.open(page, width=width, dark=dark)
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)
    assert browser.errors == []
    assert browser.requests == [page.as_uri()]


def test_all_of_the_page_can_be_used_with_the_keyboard(browser: Browser, page: Path) -> None:
    assert browser.shut_out(browser.open(page)) == []


@pytest.mark.parametrize("width", [1280, 375])
def test_lessons_not_started_are_lines_that_shut_nobody_out(
    browser: Browser, wrong_report: Report, tmp_path: Path, width: int
) -> None:
    (tiny,) = wrong_report.lessons
    file = "a_lesson_with_a_long_name/a_lesson_with_a_long_name.py"
    blank = [
        replace(tiny, id=f"later{k}", status=LessonStatus.NOT_STARTED, file=file, checks=())
        for k in range(3)
    ]
    path = tmp_path / "report.html"
    path.write_text(render_page(replace(wrong_report, lessons=(tiny, *blank))), "utf-8")
    tab = browser.open(path, width=width)
    assert tab.locator("#not-started .row").count() == 3
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)


def test_earlier_mistakes_are_told_as_text(browser: Browser, page: Path) -> None:
    """Markup in a name is shown as text; a mistake without a name has its id."""
    tab = browser.open(page)
    tab.locator(".way > summary").click()
    told = tab.inner_text(".way")
    assert "x is <b>squared</b>" in told
    assert "cleared 2026-03-02" in told
    assert "old one" in told


def test_a_mistake_that_a_check_shows_is_not_told_again(wrong_report: Report) -> None:
    shown = next(one.diagnosis for one in wrong_report.lessons[0].checks if one.diagnosis)
    known = replace(PROGRESS, mistakes={shown: MistakeRecord("a", "2026-03-01", None, "again")})
    assert 'class="way"' not in learners(wrong_report, LessonHistory(WRONG, None, known))


README = """# Tiny

Some *text* with <b>markup</b> and a [link](https://example.org/), [another](javascript:alert(1)).

![A picture](picture.svg)

## Your tasks

```python
double(2)  # 4
```

<details><summary>Answers</summary>

1. It is 4.

</details>
"""
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><style>a{}</style></svg>'


@pytest.fixture
def taught(wrong_report: Report, tmp_path: Path) -> Path:
    """Return a page of two lessons with a README each; the second is not started."""
    (tmp_path / "picture.svg").write_text(PICTURE, "utf-8")
    readme = Readme(README, tmp_path)
    (tiny,) = wrong_report.lessons
    later = replace(tiny, id="later", title="Later", status=LessonStatus.NOT_STARTED, checks=())
    stories = {name: LessonHistory(WRONG, None, PROGRESS, readme) for name in ("tiny", "later")}
    stories["later"] = replace(stories["later"], progress=LessonProgress())
    path = tmp_path / "report.html"
    kept = LearnerExtras("2026-03-02T10:00", stories)
    path.write_text(render_page(replace(wrong_report, lessons=(tiny, later)), extras=kept))
    return path


@pytest.mark.parametrize("width", [1280, 375])
def test_a_lesson_links_to_its_readme_and_to_the_next_lesson(
    browser: Browser, taught: Path, width: int
) -> None:
    """The page contains text and picture; answers stay folded; nothing is fetched."""
    tab = browser.open(taught, width=width)
    assert not tab.locator("#tiny-readme").is_visible()
    tab.get_by_text("Read the lesson").first.click()
    text = tab.locator("#tiny-readme")
    assert text.is_visible()
    assert "Some text with <b>markup</b>" in text.inner_text()
    assert "It is 4." not in text.inner_text()
    assert text.locator("img").evaluate("(one) => one.complete && one.naturalWidth") == 9
    links = text.locator("a").evaluate_all("(all) => all.map((one) => one.getAttribute('href'))")
    assert links == ["https://example.org/"]
    tab.get_by_text("Next on this page: Later").click()
    assert tab.locator("#later").is_visible()
    assert browser.accessibility_violations(tab) == []
    assert not browser.overflows(tab)
    assert browser.errors == []
    assert [one for one in browser.requests if not one.startswith("data:")] == [taught.as_uri()]


def test_short_code_has_no_scrollbar_and_no_link_is_broken(browser: Browser, taught: Path) -> None:
    """Whatever stands beside the links, such as the line of scores."""
    tab = browser.open(taught, width=1200)
    wide = "(all) => all.map((one) => one.scrollWidth > one.clientWidth)"
    assert set(tab.locator(".source > pre.code:visible").evaluate_all(wide)) == {False}
    link = tab.get_by_text("Read the lesson").first
    lines = "(one) => new Set([...one.getClientRects()].map((rect) => rect.top)).size"
    for width in range(400, 1200, 20):
        tab.set_viewport_size({"width": width, "height": 800})
        assert link.evaluate(lines) == 1, width


def test_without_scripts_lessons_fold_and_links_lead_into_them(
    browser: Browser, taught: Path
) -> None:
    context = browser.chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(taught.as_uri())
    assert not tab.locator("#later").is_visible()
    tab.get_by_text("Later", exact=True).first.click()
    assert tab.locator("#later").is_visible()
    tab.get_by_text("Read the lesson").first.click()
    assert tab.locator("#tiny-readme").is_visible()
    context.close()


def test_a_page_that_is_not_the_learners_own_has_no_readme(
    small_course: Course, wrong_report: Report, tmp_path: Path
) -> None:
    files = {"tiny": decode("tiny", "tiny.py", WRONG.encode())}
    assert keep(small_course, wrong_report, files, tmp_path, "en").has_readmes is False
    assert keep(small_course, wrong_report, {}, Path(), "en").has_readmes is True
    assert "img-src" not in render_page(wrong_report)


def test_keys_go_from_one_failure_to_the_next(browser: Browser, page: Path) -> None:
    """They also reach a failure that was folded with its lesson."""
    tab = browser.open(page)
    tab.evaluate("for (const one of document.querySelectorAll('details')) one.open = false")
    failures = tab.locator(".failure").count()
    assert failures > 1
    for _ in range(failures):
        tab.keyboard.press("j")
        assert tab.evaluate("document.activeElement.closest('.failure .check').open")
    assert tab.locator(".failure > .check[open]").count() == failures
    tab.keyboard.press("k")
    assert tab.evaluate("document.activeElement.closest('.failure') !== null")


def test_a_call_is_copied_at_the_press_of_a_button(browser: Browser, page: Path) -> None:
    tab = browser.open(page)
    tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
    tab.locator("details.again > summary").first.click()
    tab.locator("button.copy:visible").first.click()
    assert "tiny.double(" in tab.evaluate("window.copied")
    assert tab.inner_text("#told") == "Copied"
