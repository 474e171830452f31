"""The report's page in a real browser: it loads nothing, obeys its policy, fits a phone."""

from __future__ import annotations

import re
import shutil
import struct
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from grader.core.messages import Settings
from grader.core.report import LessonResult, LessonStatus, Outcome, Report
from grader.course.course import Course
from grader.course.submission import decode
from grader.render.code import Readme
from grader.render.page import LearnerExtras, LessonHistory, render_page, style, style_hash
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)
FLAGS = """
    --headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-sync
    --disable-background-networking --disable-component-update --hide-scrollbars
    --enable-logging=stderr --v=0
""".split()
MEASURE = (
    "<script>document.title = document.documentElement.scrollWidth + ' of ' +"
    " window.innerWidth</script></body>"
)

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here; .ci/run installs it")


def browse(tmp_path: Path, page: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """Open a page in headless Chromium with a profile of its own."""
    assert CHROMIUM is not None
    command = [CHROMIUM, *FLAGS, f"--user-data-dir={tmp_path / 'profile'}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def graded(host: ForkServerClient, course: Course, source: str) -> Report:
    files = {"tiny": decode("tiny", "tiny.py", source.encode())}
    settings = Settings(1, "auto", course.limits)
    return grade_submission(host, course, course.lessons, files, settings, name="one")


@pytest.fixture
def page(tmp_path: Path, host: ForkServerClient, small_course: Course) -> Path:
    """Return a page with a wrong answer, an exception, output, and text that looks like markup."""
    source = (
        "def double(x):\n"
        "    print('<script>alert(1)</script>')\n"
        "    return x * x\n"
        "def triple(x): raise ValueError('<img src=x onerror=alert(1)>' + 'long ' * 200)\n"
        "LIMIT = 19.0\n"
    )
    report = replace(graded(host, small_course, source), submission="a <b>bold</b> name")
    path = tmp_path / "report.html"
    path.write_text(render_page(report), "utf-8")
    return path


def test_the_page_breaks_no_policy_and_runs_nothing(tmp_path: Path, page: Path) -> None:
    """The browser applies the style sheet without complaints; nothing was fetched."""
    done = browse(tmp_path, page, "--dump-dom")
    assert "Content Security Policy" not in done.stderr
    assert "ERR_" not in done.stderr
    assert "<script>alert" not in done.stdout.split("<body>")[1]
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in done.stdout


def test_a_foreign_script_would_be_refused(tmp_path: Path, page: Path) -> None:
    """The policy works: a foreign script does not run."""
    foreign = "<script>document.title = 'ran'</script></body>"
    page.write_text(page.read_text("utf-8").replace("</body>", foreign), "utf-8")
    done = browse(tmp_path, page, "--dump-dom")
    assert "<title>ran</title>" not in done.stdout
    assert "Content Security Policy" in done.stderr


@pytest.mark.parametrize("width", [360, 800, 1280])
def test_nothing_runs_over_the_edge(width: int, tmp_path: Path, page: Path) -> None:
    """Long values and messages wrap, on a phone too."""
    policy = r'<meta http-equiv="Content-Security-Policy"[^>]*>'
    text = re.sub(policy, "", page.read_text("utf-8")).replace("</body>", MEASURE)
    page.write_text(text.replace("<details", "<details open"), "utf-8")
    done = browse(tmp_path, page, f"--window-size={width},900", "--dump-dom")
    found = re.search(r"<title>(\d+) of (\d+)</title>", done.stdout)
    assert found is not None
    assert int(found[1]) <= int(found[2])


def test_the_page_can_be_captured_and_printed(tmp_path: Path, page: Path) -> None:
    """A screenshot has the requested size; a print is a PDF."""
    browse(tmp_path, page, "--window-size=800,600", f"--screenshot={tmp_path / 'page.png'}")
    assert struct.unpack(">II", (tmp_path / "page.png").read_bytes()[16:24]) == (800, 600)
    browse(tmp_path, page, f"--print-to-pdf={tmp_path / 'page.pdf'}")
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")


def pages_in_print(tmp_path: Path, page: Path) -> int:
    """Return how many sheets of paper a page takes."""
    browse(tmp_path, page, f"--print-to-pdf={tmp_path / 'page.pdf'}")
    return len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes()))


@pytest.fixture
def wrong_lesson(host: ForkServerClient, small_course: Course) -> Report:
    """Return a report on one lesson with a mistake."""
    return graded(host, small_course, "def double(x): return x * x\n")


def test_on_paper_is_what_is_open(tmp_path: Path, wrong_lesson: Report) -> None:
    """Only failures take paper; not what waits, shares a cause or passes, nor unopened hints."""
    lesson = wrong_lesson.lessons[0]
    wrong = next(check for check in lesson.checks if check.outcome is Outcome.FAILED)
    sheets = {}
    for name, outcome, diagnosis in (
        ("wrong", Outcome.FAILED, None),
        ("same cause", Outcome.FAILED, wrong.diagnosis),
        ("waits", Outcome.SKIPPED, None),
        ("right", Outcome.PASSED, None),
    ):
        one = replace(wrong, outcome=outcome, diagnosis=diagnosis, hint="Look again. " * 20)
        many = [replace(one, id=f"tiny.more{number}") for number in range(20)]
        report = replace(wrong_lesson, lessons=(replace(lesson, checks=(wrong, *many)),))
        path = tmp_path / "many.html"
        path.write_text(render_page(report), "utf-8")
        sheets[name] = pages_in_print(tmp_path, path)
    assert sheets["wrong"] >= 4, sheets
    assert max(sheets["same cause"], sheets["waits"], sheets["right"]) <= 2, sheets


def test_a_half_finished_course_is_six_sheets_of_paper_at_most(
    tmp_path: Path, wrong_lesson: Report
) -> None:
    """Of 14 lessons, four have two wrong functions each, five are not started."""
    (tiny,) = wrong_lesson.lessons
    wrong = next(check for check in tiny.checks if check.outcome is Outcome.FAILED)
    readme = Readme("# Title\n\n" + "A sentence of the lesson. " * 400, tmp_path)

    def lesson(number: int) -> LessonResult:
        status = ["passed", "failed", "not_started"][(number > 4) + (number > 8)]
        outcome = Outcome.NOT_STARTED if status == "not_started" else Outcome.PASSED
        checks = [
            replace(wrong, id=f"l{number}.c{k}", outcome=outcome, title=f"check {k} holds")
            for k in range(25)
        ]
        if status == "failed":
            checks[:2] = [
                replace(wrong, id=f"l{number}.{name}", function=name, diagnosis=name)
                for name in ("first", "second")
            ]
        return replace(tiny, id=f"l{number}", status=LessonStatus(status), checks=tuple(checks))

    lessons = tuple(map(lesson, range(14)))
    histories = {one.id: LessonHistory(readme=readme) for one in lessons}
    kept = LearnerExtras("2026-03-02T10:00", histories)
    path = tmp_path / "half.html"
    path.write_text(render_page(replace(wrong_lesson, lessons=lessons), extras=kept), "utf-8")
    assert pages_in_print(tmp_path, path) <= 6


def test_the_policy_allows_just_the_style_sheet() -> None:
    assert style_hash(style()).startswith("sha256-")
    assert style_hash(style()) != style_hash(style() + " ")
