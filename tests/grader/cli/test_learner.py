"""The learner's commands, run in this process in a folder made by ``grade init``: their output, and
what they store.
"""

from __future__ import annotations

import io
import itertools
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import click
import pytest
from click.shell_completion import ShellComplete
from in_process import exit_code
from rich.cells import cell_len
from rich.console import Console

from grader.cli import cli
from grader.cli.learner import (
    hint_lesson,
    plain_readme,
    show_hint,
    show_lessons,
    show_next,
    show_readme,
)
from grader.cli.watch_screen import KEYS, Screen
from grader.cli.workspace import (
    IN_NOTEBOOK,
    Learner,
    in_language,
    keep,
    make_workspace,
    record,
    show_completed,
    show_unchanged,
)
from grader.core.errors import ExitCode, UsageError
from grader.core.i18n import Catalogue, engine_catalogue, languages, load_catalogue
from grader.core.messages import Settings
from grader.core.report import LessonStatus, Outcome, Report
from grader.course.course import Course, find_course, load_course
from grader.course.progress import (
    PROGRESS_FILE,
    LessonProgress,
    Progress,
    read_progress,
    update_progress,
)
from grader.course.stubs import runnable, without_markers
from grader.course.submission import read_submission
from grader.render.code import FOLDED as FOLDED_PART
from grader.render.code import compare
from grader.render.page import LearnerExtras, render_page
from grader.render.terminal import lesson_table, make_console
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

Grade = Callable[..., tuple[object, str]]
NOT_COURSE = shutil.ignore_patterns("__pycache__", "grader", "mistakes", "near_misses", "accepted")
FULL = LessonProgress(
    attempts=2, best=10.0, last=10.0, completed_at="2026-03-02T10:00:00+00:00", hints={"double": 2}
)


@pytest.fixture
def work(
    tmp_path: Path,
    small_course: Course,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Path:
    """Make a workspace of the small course as the current folder, ``tmp_path / "work"``."""
    make_workspace(small_course, tmp_path / "work", "en")
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()
    return tmp_path / "work"


@pytest.fixture
def grade(lent_host: None, small_course: Course, capsys: pytest.CaptureFixture[str]) -> Grade:
    """Return ``grade(*words)``, which returns the exit code and all output."""

    def run(*words: str, course: Path | None = None, lang: str = "en") -> tuple[object, str]:
        code = exit_code(*words, "--lang", lang, "--course", course or small_course.root)
        said = capsys.readouterr()
        return code, said.out + said.err

    return run


def set_progress(work: Path, progress: LessonProgress, lesson: str = "tiny") -> None:
    """Store this progress of the lesson in the workspace."""
    update_progress(work, lambda known: known.having(lesson, progress))


def solved(course: Course) -> str:
    return without_markers(course.lesson("tiny").solution.read_text("utf-8"))


def graded(host: ForkServerClient, course: Course, work: Path) -> Report:
    settings, files = Settings(1, "auto", course.limits), read_submission(work, ["tiny"])
    return grade_submission(host, course, course.lessons, files, settings, name="work")


def keep_all(course: Course, report: Report, place: Path = Path()) -> Sequence[tuple[str, str]]:
    """Keep a report; return the closing numbers, of which there are none before the end."""
    return keep(course, report, {}, place, "en", console=make_console()).finish


def write_tiny(work: Path, text: str) -> None:
    (work / "tiny" / "tiny.py").write_text(text)


# --------------------------------------------------------------------------------- what is recorded


def test_a_run_is_recorded_in_the_workspace_and_the_end_is_told(
    work: Path, host: ForkServerClient, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """From wrong to right, the mistake is recorded and cleared; the last complete lesson ends the
    course.
    """
    write_tiny(work, solved(small_course).replace("2 * x", "x * x"))
    assert keep_all(small_course, graded(host, small_course, work)) == []
    wrong = read_progress(work).of("tiny")
    assert (wrong.attempts, wrong.stuck_on, wrong.complete) == (1, "double", False)
    assert list(wrong.wrong) == ["tiny.double"]
    assert wrong.mistakes["squares"].cleared_at is None
    write_tiny(work, solved(small_course))
    assert ("10 / 10", "points") in keep_all(small_course, graded(host, small_course, work))
    right = read_progress(work).of("tiny")
    assert (right.attempts, right.best, right.complete) == (2, 10.0, True)
    assert (right.cleared, right.wrong) == (1, {})
    assert "Every lesson complete" in capsys.readouterr().out


def test_stubs_are_answered_with_how_to_begin(
    work: Path, host: ForkServerClient, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """No attempt is counted, and the advice stops once something is written."""
    keep_all(small_course, graded(host, small_course, work))
    assert capsys.readouterr().out == "Nothing is written yet. How to begin: grade next\n"
    assert read_progress(work).of("tiny") == LessonProgress()
    write_tiny(work, solved(small_course).replace("2 * x", "x * x"))
    keep_all(small_course, graded(host, small_course, work))
    assert capsys.readouterr().out == ""


def test_an_unchanged_file_that_needs_work_is_asked_about(
    work: Path, grade: Grade, small_course: Course, host: ForkServerClient
) -> None:
    """Not after a change, a first run, or full marks; what another command graded is not known."""
    asked = "Nothing has changed since the last run: is tiny/tiny.py saved?"
    wrong = solved(small_course).replace("2 * x", "x * x")
    told = []
    for text in (None, None, wrong, wrong, wrong + "#", solved(small_course), None):
        if text is not None:
            write_tiny(work, text)
        told.append(asked in grade("tiny", "--no-repair")[1])
    assert told == [False, False, False, True, False, False, False]
    (work / "tiny" / "tiny.py").rename(work / "tiny" / "renamed.py")
    assert not any(asked in grade("tiny")[1] for _ in range(2))
    write_tiny(work, wrong)
    learner = Learner.at(small_course, Path(), "en")
    record(learner, graded(host, small_course, work), make_console())
    assert asked not in grade("tiny", "--no-repair")[1]
    (work / "old").mkdir()
    (work / "old" / "tiny.py").write_text(wrong)  # two files for the lesson: neither is read
    assert not any("Nothing has changed" in grade("tiny")[1] for _ in range(2))


def test_a_run_that_the_grader_failed_to_judge_is_not_compared_with(
    work: Path, host: ForkServerClient, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    write_tiny(work, solved(small_course).replace("2 * x", "x * x"))
    report = graded(host, small_course, work)
    failed = [replace(one, outcome=Outcome.GRADER_ERROR) for one in report.lessons[0].checks]
    faulty = replace(report, lessons=(replace(report.lessons[0], checks=tuple(failed)),))
    told = []
    files = read_submission(work, ["tiny"])
    for one in (report, faulty, report, report):
        record(Learner.at(small_course, Path(), "en"), one, make_console(), files)
        told.append("Nothing has changed" in capsys.readouterr().out)
    assert told == [False, True, False, True]


@pytest.mark.parametrize(
    ("statuses", "digests", "asked"),
    [
        ("failed failed", "1 2", True),
        ("failed failed", "1 3", False),
        ("failed passed", "1 2", True),
        ("failed passed", "1 3", False),  # another file was mended
        ("failed not_started", "1 3", True),
        ("not_started not_started", "1 2", False),
        ("passed passed", "1 2", False),
    ],
)
def test_only_if_no_graded_file_changed_it_is_asked_whether_one_is_saved(
    work: Path, small_course: Course, statuses: str, digests: str, asked: bool
) -> None:
    """Last time the digests of the two files were 1 and 2. A stub needs no work yet."""
    learner, console = Learner.at(small_course, Path(), "en"), Console(file=io.StringIO(), width=80)
    before = Progress({one: LessonProgress(attempts=1, graded_file=one) for one in "12"})
    lessons = [
        Mock(id=one, file=f"{one}.py", status=LessonStatus(status))
        for one, status in zip("12", statuses.split(), strict=True)
    ]
    given = dict(zip("12", digests.split(), strict=True))
    show_unchanged(learner, before, Mock(lessons=lessons), given, console)
    assert isinstance(console.file, io.StringIO)
    assert ("is 1.py saved?" in console.file.getvalue()) == asked


@pytest.mark.parametrize(
    ("graded_lessons", "moved", "said"),
    [
        (1, False, "Nothing is written yet. Read tiny/README.md, then write tiny/tiny.py\n"),
        (1, True, "Nothing is written yet. How to begin: grade read tiny\n"),
        (2, False, ""),
    ],
)
def test_a_stub_that_is_not_next_is_answered_with_its_own_files(
    work: Path,
    host: ForkServerClient,
    small_course: Course,
    capsys: pytest.CaptureFixture[str],
    graded_lessons: int,
    moved: bool,
    said: str,
) -> None:
    """This holds for one lesson; for several that are not next, there is no advice."""
    if moved:
        (work / "tiny").rename(work / "elsewhere")
        (work / "elsewhere" / "tiny.py").rename(work / "tiny.py")
        (work / "README.md").write_text("# All lessons\n")
    (tiny,) = small_course.lessons
    course = replace(
        small_course, lessons=(replace(tiny, id="first"), tiny, replace(tiny, id="other"))
    )
    report = graded(host, small_course, work)
    lessons = (*report.lessons, replace(report.lessons[0], id="other"))
    keep_all(course, replace(report, lessons=lessons[:graded_lessons]))
    assert capsys.readouterr().out == said


@pytest.mark.parametrize("has_solution", [True, False])
def test_full_marks_name_the_solution_where_there_is_one(
    work: Path,
    small_course: Course,
    tmp_path: Path,
    has_solution: bool,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (first,) = small_course.lessons
    first = first if has_solution else replace(first, root=tmp_path)
    course = replace(small_course, lessons=(first, replace(first, id="second")))
    learner = Learner.at(course, work, "en")
    show_completed(learner, Progress(), Progress({"tiny": FULL}), None, make_console())  # type: ignore[arg-type]  # of no report's lessons
    said = capsys.readouterr().out
    assert "tiny is complete." in said
    assert ("Beside the solution: grade solution tiny" in said) is has_solution


def test_what_is_graded_by_in_may_be_somebody_elses_and_is_not_recorded(
    work: Path, host: ForkServerClient, small_course: Course
) -> None:
    before = (work / PROGRESS_FILE).read_text()
    keep_all(small_course, graded(host, small_course, work), place=work)
    assert (work / PROGRESS_FILE).read_text() == before


def test_no_file_appears_where_init_made_no_folder(
    tmp_path: Path, host: ForkServerClient, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tiny.py").write_text(solved(small_course))
    monkeypatch.chdir(tmp_path)
    keep_all(small_course, graded(host, small_course, tmp_path))
    assert [path.name for path in tmp_path.iterdir()] == ["tiny.py"]


def test_a_language_that_was_named_holds_in_the_folder(
    work: Path, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """So the commands that are proposed are right without it. Another word is no language."""

    def said(*words: str) -> str:
        exit_code(*words, "--course", small_course.root)
        out, error = capsys.readouterr()
        return str(out + error)

    assert "What comes next" in said("list")
    assert "다음에 할 일" in said("list", "--lang", "ko")
    assert "다음에 할 일" in said("list")
    assert "그런 레슨은 없습니다" in said("hint", "none")
    assert "no translation" in said("list", "--lang", "xx").replace("\n", " ")
    assert "What comes next" in said("list", "--lang", "en")
    assert "What comes next" in said("list")
    make_workspace(small_course, work.parent / "other", "ko")
    assert read_progress(work.parent / "other").lang == "ko"


def test_progress_that_can_not_be_written_costs_nothing_but_itself(
    work: Path,
    host: ForkServerClient,
    small_course: Course,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("grader.cli.workspace.update_progress", full)
    write_tiny(work, solved(small_course))
    learner = Learner.at(small_course, work, "en")
    progress = record(learner, graded(host, small_course, work), make_console())
    assert progress.of("tiny").attempts == 1
    assert "Your score stands" in capsys.readouterr().out.replace("\n", " ")


# ------------------------------------------------------------------------------------ list and next


def test_list_shows_where_one_stands(work: Path, grade: Grade) -> None:
    set_progress(work, LessonProgress(attempts=2, best=3.5))
    _, said = grade("list")
    assert "◐ next tiny    3.5 / 10 Tiny" in said
    assert "0 of 1 lesson complete · best 3.5 / 10" in said
    assert "best 3.5 / 10" in grade("next")[1]
    assert "any lesson can be graded at any time" in said  # what waits for another is not locked
    set_progress(work, FULL)
    _, said = grade("list")
    assert "✔ tiny     10 / 10 Tiny" in said
    assert "1 of 1 lesson complete · best 10 / 10" in said


def test_what_is_begun_or_complete_waits_for_nothing(work: Path, small_course: Course) -> None:
    (tiny,) = small_course.lessons
    later = replace(tiny, id="later", builds_on=("tiny",))
    course = replace(small_course, lessons=(tiny, later))
    for mine, waits in ((None, True), (LessonProgress(attempts=1), False), (FULL, False)):
        console = Console(width=80)
        progress = Progress({} if mine is None else {"later": mine})
        with console.capture() as captured:
            table = lesson_table(course, progress, here=set(), tr=Catalogue(), own=lambda _: str)
            console.print(table)
        row = next(line for line in captured.get().splitlines() if " later " in line)
        assert row.rstrip().endswith("tiny") is waits, row


def test_the_list_is_shown_a_screen_at_a_time(
    work: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    paged: list[str] = []
    monkeypatch.setattr("rich.pager.SystemPager.show", lambda _, text: paged.append(text))
    monkeypatch.setenv("FORCE_COLOR", "1")
    grade("list")
    assert ["tiny" in text for text in paged] == [True]


def test_next_says_what_to_read_to_write_and_to_type(
    work: Path, grade: Grade, small_course: Course
) -> None:
    code, said = grade("next")
    assert code == ExitCode.OK
    for part in (
        "tiny  Tiny",
        "tiny/README.md",
        "tiny/tiny.py",
        "grade tiny",
        "grade watch tiny",
        "grade hint tiny",
    ):
        assert part in said


def test_next_says_which_lessons_wait_for_this_one(
    work: Path, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    (tiny,) = small_course.lessons
    course = replace(small_course, lessons=(tiny, replace(tiny, id="more", builds_on=("tiny",))))
    show_next(Learner.at(course, Path(), "en"), make_console())
    assert re.search("prepares for +more\n", capsys.readouterr().out)


def test_in_a_notebook_the_command_that_grades_is_a_magic(
    work: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(IN_NOTEBOOK, "1")
    assert "  %grade tiny\n" in grade("next")[1]


def test_where_keys_are_pressed_no_command_is_to_be_typed(
    work: Path, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """In watch, a command names its key, or follows after q."""
    learner = replace(Learner.at(small_course, Path(), "en"), has_keys=True)
    for show in (show_next, show_lessons, show_hint, show_hint, show_hint):
        show(learner, make_console())
    said = capsys.readouterr().out
    commands = [line for line in said.splitlines() if "grade " in line]
    assert commands == [
        "That was the last step. The solution: q, then grade solution tiny --give-up"
    ]
    assert "What comes next: the key n" in said
    assert "One step further: the key h" in said


def test_next_breaks_off_where_a_readme_goes_on_and_says_so(
    work: Path, grade: Grade, small_course: Course, tmp_path: Path
) -> None:
    """If the table that a paragraph announces is not shown, the paragraph does not end with its
    colon.
    """
    shutil.copytree(small_course.root, tmp_path / "course")
    readme = tmp_path / "course" / "exercises" / "tiny" / "README.md"
    readme.write_text("# Tiny\n\nThere are two ways:\n\n| way | why |\n|---|---|\n", "utf-8")
    assert re.search(r"There are two ways … *\n", grade("next", course=tmp_path / "course")[1])


def test_next_teaches_from_the_learners_folder_where_the_course_has_no_readme(
    work: Path, grade: Grade, small_course: Course, tmp_path: Path
) -> None:
    """In a students' bundle, the README in the right language is beside the stub."""
    shutil.copytree(small_course.root, tmp_path / "course")
    for readme in (tmp_path / "course" / "exercises" / "tiny").glob("README*.md"):
        readme.unlink()
    (work / "tiny" / "README.ko.md").write_text("# 작은 것\n\n두 배로 만듭니다.\n", "utf-8")
    said = grade("next", course=tmp_path / "course", lang="ko")[1]
    assert "두 배로 만듭니다." in said
    assert "tiny/README.ko.md" in said


def test_next_from_inside_a_lessons_folder_has_the_paths_from_there(
    work: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, from_above = grade("next")
    monkeypatch.chdir(work / "tiny")
    below = from_above.replace("tiny/README.md", "README.md").replace("tiny/tiny.py", "tiny.py")
    assert grade("next") == (code, below)
    assert below.count("tiny/") == 0 < from_above.count("tiny/")


def test_the_readme_of_a_work_folder_is_about_no_lesson(work: Path, grade: Grade) -> None:
    (work / "README.md").write_text("# All lessons\n")
    (work / "tiny" / "tiny.py").rename(work / "tiny.py")
    assert "tiny/README.md" in grade("next")[1]
    (work / "tiny" / "README.md").unlink()
    assert "README.md" not in grade("next")[1]


@pytest.mark.parametrize(
    "words", [["next"], ["reset", "tiny"], ["hint"], ["solution", "tiny"], ["run", "tiny"]]
)
def test_in_a_folder_without_work_nothing_is_done_but_to_say_how_to_begin(
    words: list[str], grade: Grade, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A lesson's file is enough to work on."""
    monkeypatch.chdir(tmp_path)
    code, said = grade(*words)
    assert code == ExitCode.USAGE
    assert "To make a folder with all lessons: grade init my-work" in said.replace("\n", " ")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "tiny.py").write_text("x = 1\n")
    assert "grade init" not in grade(*words, *(["--yes"] if words[0] == "reset" else []))[1]


def test_next_after_the_last_lesson_is_the_end(work: Path, grade: Grade) -> None:
    set_progress(work, FULL)
    for lang, words in (
        ("en", ("Every lesson complete", "steps of hints")),
        ("ko", ("모든 레슨 완료", "열어 본 힌트 단계")),
    ):
        _, said = grade("next", lang=lang)
        assert all(word in said for word in words)
        assert "2026-03-02" in said


def test_a_run_of_a_lesson_that_was_deleted_says_how_to_get_it(work: Path, grade: Grade) -> None:
    (work / "tiny" / "tiny.py").unlink()
    assert "tiny.py is not here. Get it: grade reset tiny" in grade("tiny")[1]


def test_next_for_a_lesson_that_was_deleted_says_how_to_get_it(work: Path, grade: Grade) -> None:
    shutil.rmtree(work / "tiny")
    assert "grade reset tiny" in grade("next")[1]
    assert grade("reset", "tiny")[0] == ExitCode.OK
    assert (work / "tiny" / "tiny.py").is_file()


# -------------------------------------------------------------------------------------------- hints


def test_hints_go_one_step_further_each_time_for_what_failed_last(
    work: Path, grade: Grade, small_course: Course
) -> None:
    set_progress(work, LessonProgress(attempts=1, stuck_on="triple"))
    steps = small_course.lesson("tiny").hints()["triple"]
    for number, text in enumerate(steps, 1):
        _, said = grade("hint", "tiny")
        assert f"triple  hint {number} of 3\n" in said
        assert text in said
        assert ("other functions too" in said) is (number == 3)
    assert "grade solution tiny --give-up" in said
    assert "There are hints for other functions too: double, LIMIT" in said
    assert "triple  hint 3 of 3" in grade("hint", "tiny")[1]
    assert read_progress(work).of("tiny").hints == {"triple": 3}


def test_a_step_that_is_asked_for_is_never_a_step_back(work: Path, grade: Grade) -> None:
    grade("hint", "tiny", "double", "--step", "2")
    grade("hint", "tiny", "double", "--step", "1")
    assert read_progress(work).of("tiny").hints == {"double": 2}


def test_a_step_is_about_the_function_that_failed_last(work: Path, grade: Grade) -> None:
    set_progress(work, LessonProgress(attempts=1, stuck_on="triple"))
    said = grade("hint", "tiny", "--step", "3")[1]
    assert said.startswith("triple  hint 3 of 3\n")
    assert "double  hint" not in said


@pytest.mark.parametrize(("progress", "option"), [(LessonProgress(), " --give-up"), (FULL, "")])
def test_the_last_hint_names_the_command_that_shows_the_solution(
    work: Path, grade: Grade, progress: LessonProgress, option: str
) -> None:
    set_progress(work, progress)
    said = grade("hint", "tiny", "double", "--step", "3")[1]
    assert f"The solution: grade solution tiny{option}\n" in said


def test_a_hint_without_a_lesson_is_for_the_one_that_was_wrong_else_the_next(
    work: Path, small_course: Course
) -> None:
    (tiny,) = small_course.lessons
    course = replace(
        small_course, lessons=(tiny, replace(tiny, id="second"), replace(tiny, id="third"))
    )
    for name in ("second", "third"):
        (work / f"{name}.py").write_text("x = 1\n")
    learner = Learner.at(course, work, "en")
    assert hint_lesson(learner, Progress()).id == "tiny"
    assert hint_lesson(learner, Progress({"tiny": FULL})).id == "second"
    assert (
        hint_lesson(learner, Progress({"third": LessonProgress(1, wrong={"third.a": 1})})).id
        == "third"
    )
    both = {name: LessonProgress(1, wrong={f"{name}.a": 1}) for name in ("tiny", "third")}
    assert hint_lesson(learner, Progress(both)).id == "tiny"
    assert hint_lesson(learner, Progress(both, latest=("third",))).id == "third"
    assert hint_lesson(learner, Progress({**both, "third": FULL}, latest=("third",))).id == "tiny"
    (work / "alone").mkdir()
    (work / "alone" / "second.py").write_text("x = 1\n")
    assert hint_lesson(replace(learner, folder=work / "alone"), Progress()).id == "second"


def test_a_hint_without_a_lesson_says_which_one_it_is_about(work: Path, grade: Grade) -> None:
    write_tiny(work, "def double(x): return 3 * x\n")
    assert grade("run", "tiny")[0] == ExitCode.NOT_FULL_MARKS
    assert read_progress(work).latest == ("tiny",)
    assert grade("hint")[1].startswith("tiny  double  hint 1 of 3\n")
    assert grade("hint", "tiny")[1].startswith("double  hint 2 of 3\n")


def test_a_hint_begins_with_the_mistake_that_the_last_run_named(work: Path, grade: Grade) -> None:
    file = work / "tiny" / "tiny.py"
    file.write_text("def double(x): return x * x\n")
    grade("run", "tiny")
    named = "\n  Your mistake in the last run: x is squared. The hint is about all of double.\n"
    assert named in grade("hint", "tiny", "double")[1]
    assert "Your mistake" not in grade("hint", "tiny", "triple")[1]
    file.write_text("def double(x): return 17.0\n")
    grade("run", "tiny")
    assert "Your mistake" not in grade("hint", "tiny", "double")[1]


def test_a_repair_follows_the_verdict_and_its_edit_is_the_last_hint(
    work: Path, grade: Grade, small_course: Course
) -> None:
    file = work / "tiny" / "tiny.py"
    file.write_text("def double(x): return 2 + x\n")
    _, said = grade("run", "tiny", "--repair", "--json", str(work / "r.json"))
    assert said.index("seed") < said.index("A change of `2 + x` in line 1 makes")
    assert '"diagnosed_by": "repair"' in (work / "r.json").read_text("utf-8")
    last = len(small_course.lesson("tiny").hints()["double"])
    hints = [grade("hint", "tiny", "double")[1] for _ in range(last)]
    assert ["Write instead: 2 * x" in hint for hint in hints] == [False] * (last - 1) + [True]
    file.write_text("def double(x): return 2 - x\n")
    assert "A change of" not in grade("run", "tiny")[1]  # no terminal: not by default
    assert "Write instead" not in grade("hint", "tiny", "double")[1]


def test_ctrl_c_ends_the_search_of_a_repair_only(
    work: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("grader.cli.grade.repaired", interrupted)
    write_tiny(work, "def double(x): return 2 + x\n")
    code, said = grade("run", "tiny", "--repair")
    assert code == ExitCode.NOT_FULL_MARKS
    assert "seed" in said


def test_a_function_without_hints_is_passed_over(work: Path, grade: Grade) -> None:
    set_progress(work, LessonProgress(attempts=1, stuck_on="helper"))
    assert grade("hint", "tiny")[1].startswith("double  hint 1 of 3\n")


# -------------------------------------------------------------------------------------------- reset


def test_reset_keeps_every_copy(work: Path, grade: Grade, small_course: Course) -> None:
    file = work / "tiny" / "tiny.py"
    for number in (1, 2):
        file.write_text(f"mine = {number}\n")
        code, said = grade("reset", "tiny", "--yes")
        assert code == ExitCode.OK
        assert f"tiny/tiny.py.{number}" in said
        assert (work / "tiny" / f"tiny.py.{number}").read_text() == f"mine = {number}\n"
        stub = small_course.lesson("tiny").stub.read_text("utf-8")
        assert file.read_text("utf-8").startswith(stub)


def test_a_fresh_stub_run_as_a_script_says_how_to_grade_it(work: Path, grade: Grade) -> None:
    """This works without the grader on its path, and nothing is graded."""
    file = work / "tiny" / "tiny.py"
    grade("reset", "tiny", "--yes")
    code = file.read_text("utf-8").replace("from torch import Tensor", "Tensor = float")
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", code], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "To grade this file, type: grade tiny\n"


def test_a_stub_with_a_demonstration_of_its_own_keeps_it() -> None:
    stub = 'x = 1\n\nif __name__ == "__main__":\n    print(x)\n'
    assert runnable(stub, "how") == stub


@pytest.mark.parametrize(
    ("answer", "lang", "yes"),
    [
        ("", "en", False),
        ("n", "en", False),
        ("what", "en", False),
        ("y", "en", True),
        ("Yes ", "en", True),
        ("예", "ko", True),
        ("ㅛ", "ko", True),
        ("y", "ko", True),
        ("아니요", "ko", False),
    ],
)
def test_reset_asks_first(
    answer: str, lang: str, yes: bool, work: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In Korean, the key of y may write another letter."""
    write_tiny(work, "mine\n")
    asked: list[str] = []

    def prompt(text: str, **_: object) -> str:
        asked.append(text)
        return answer

    monkeypatch.setattr(click, "prompt", prompt)
    grade("reset", "tiny", lang=lang)
    assert ((work / "tiny" / "tiny.py").read_text() == "mine\n") is not yes
    assert asked[0].endswith("[y/N]" if lang == "en" else "[예/아니요]")


def test_reset_where_nobody_can_answer_changes_nothing_and_says_how(
    work: Path, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A notebook's cells, for example, have no standard input."""
    write_tiny(work, "mine = 1\n")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code, said = grade("reset", "tiny")
    assert code == ExitCode.USAGE
    assert (
        "so nothing was changed. To begin it again without a question: grade reset tiny --yes"
        in said
    )
    assert [path.name for path in (work / "tiny").glob("tiny.py*")] == ["tiny.py"]
    assert (work / "tiny" / "tiny.py").read_text() == "mine = 1\n"


def test_reset_of_a_fresh_stub_does_nothing(work: Path, grade: Grade) -> None:
    assert "is a fresh stub already" in grade("reset", "tiny")[1]
    assert not (work / "tiny" / "tiny.py.1").exists()


@pytest.mark.posix
def test_reset_takes_a_links_place_and_leaves_what_it_points_to(
    work: Path, grade: Grade, tmp_path: Path
) -> None:
    (tmp_path / "elsewhere.py").write_text("precious\n")
    (work / "tiny" / "tiny.py").unlink()
    (work / "tiny" / "tiny.py").symlink_to(tmp_path / "elsewhere.py")
    grade("reset", "tiny", "--yes")
    assert (tmp_path / "elsewhere.py").read_text() == "precious\n"
    assert not (work / "tiny" / "tiny.py").is_symlink()


# ----------------------------------------------------------------------------------------- solution


def test_the_solution_waits_for_full_marks(work: Path, grade: Grade) -> None:
    code, said = grade("solution", "tiny")
    assert code == ExitCode.USAGE
    assert "--give-up" in said
    assert "2 * x" not in said
    set_progress(work, FULL)
    code, said = grade("solution", "tiny")
    assert code == ExitCode.OK
    assert "+     return 2 * x\n" in said
    assert "-     raise NotImplementedError\n" in said


def test_giving_up_shows_the_solution_and_is_remembered(work: Path, grade: Grade) -> None:
    assert "return 2 * x" in grade("solution", "tiny", "--give-up")[1]
    assert read_progress(work).of("tiny").gave_up_at
    assert "return 2 * x" in grade("solution", "tiny")[1]


def test_a_solution_just_like_ones_own_has_no_difference(
    work: Path, grade: Grade, small_course: Course
) -> None:
    write_tiny(work, solved(small_course))
    assert "letter by letter" in grade("solution", "tiny", "--give-up")[1]


def test_a_course_without_solutions_says_so_kindly(
    work: Path, grade: Grade, small_course: Course, tmp_path: Path
) -> None:
    shutil.copytree(small_course.root, tmp_path / "bundle")
    (tmp_path / "bundle" / "solutions" / "tiny.py").unlink()
    code, said = grade("solution", "tiny", "--give-up", course=tmp_path / "bundle")
    assert code == ExitCode.USAGE
    assert "came without its solutions" in said


def test_no_line_of_a_comparison_is_wider_than_the_terminal(work: Path, grade: Grade) -> None:
    assert all(len(line.plain) <= 30 for line in compare("x = 1\n", "y = " + "1 + " * 50, width=30))
    write_tiny(work, f"def double(x):\n    return {' + '.join(['x'] * 200)}\n\tpass\x1b[31m\n")
    _, said = grade("solution", "tiny", "--give-up")
    assert max(map(len, said.splitlines())) <= 80
    assert "\x1b" not in said
    assert "\\x1b[31m" in said


# ------------------------------------------------------------------------------- the shell, the end


@pytest.mark.parametrize(
    ("words", "start", "found"),
    [
        (["hint"], "cus", {"custom_functions", "custom_sigmoid"}),
        (["watch", "custom_sigmoid"], "cus", {"custom_functions"}),
        (["reset", "custom_sigmoid"], "cus", {"custom_functions"}),
        ([], "custom_s", {"custom_sigmoid"}),
        ([], "re", {"reset", "retain_graph", "relu_and_ste"}),
        (["hint", "--course", "nowhere"], "cus", set()),
        (["replay"], "custom_s", {"custom_sigmoid"}),
        (["replay"], "custom_sigmoid.gradient_is", {"custom_sigmoid.gradient_is_linear"}),
        (["replay"], "nolesson.gra", set()),
        (["replay"], "custom_sigmoid.nocheck", set()),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_the_shell_completes_commands_lessons_and_checks(
    words: list[str], start: str, found: set[str]
) -> None:
    offered = {
        item.value
        for item in ShellComplete(cli, {}, "grade", "_GRADE_COMPLETE").get_completions(words, start)
    }
    assert found <= offered
    assert not offered & set(words)
    assert bool(found) or not offered


def test_the_page_shows_the_end_when_there_is_one(
    work: Path, host: ForkServerClient, small_course: Course
) -> None:
    report = replace(graded(host, small_course, work), submission="me")
    assert 'class="finish"' not in render_page(report)
    assert "<dt>points</dt><dd>140 / 140</dd>" in render_page(
        report, extras=LearnerExtras(finish=[("140 / 140", "points")])
    )


def test_a_mistake_is_named_in_the_language_of_now(
    work: Path, grade: Grade, small_course: Course
) -> None:
    """Progress keeps the title as it was told."""
    write_tiny(work, solved(small_course).replace("2 * x", "-2 * x"))
    grade("tiny", "--no-repair")
    lesson = small_course.lesson("tiny")
    korean = load_catalogue("ko", lesson.texts("ko"))
    english = read_progress(work).of("tiny").named["double"]
    assert english != korean.known(english)
    assert korean.known(english) in grade("hint", "tiny", lang="ko")[1]
    known = in_language(read_progress(work).of("tiny"), lesson, "ko")
    assert [one.title for one in known.mistakes.values()] == [korean.known(english)]


def test_the_keys_of_watch_fit_into_80_columns_in_every_language() -> None:
    for lang in languages():
        screen = Screen(make_console(), engine_catalogue(lang))
        assert cell_len(screen.keys_shown().plain) <= 80, lang


def test_a_folders_first_line_is_in_its_language(tmp_path: Path) -> None:
    make_workspace(load_course(find_course()), tmp_path / "work", "ko")
    first = (tmp_path / "work" / "README.md").read_text("utf-8").split("\n")[0]
    assert first == "# 채점되는 PyTorch autograd"


def test_every_key_of_watch_has_korean_words() -> None:
    tr = engine_catalogue("ko")
    for text in itertools.chain(*KEYS.values()):
        tr(text)
    assert tr.missing == set()


FOLDED = """# One

![A picture](picture.svg)

1. What is 2 + 2?
2. What is 3 + 3?

<details><summary>Answers</summary>

1. Four.

2. Six.

</details>

## After
"""


def shown(course: Course, place: Path, name: str | None, *, answers: bool = False) -> str:
    console = Console(file=io.StringIO(), width=200)
    show_readme(Learner.at(course, place, "en"), console, name, answers=answers)
    return str(console.file.getvalue())  # type: ignore[attr-defined]


def test_answers_are_left_out_until_asked_for() -> None:
    folded, whole = plain_readme(FOLDED, answers=False), plain_readme(FOLDED, answers=True)
    assert "<" not in folded + whole
    assert "picture" not in folded + whole
    for text in (folded, whole):
        assert "2. What is 3 + 3?" in text
        assert "## After" in text
    assert "Answers" not in folded
    assert "Six." not in folded
    assert "**Answers**\n\n1. Four.\n\n2. Six.\n" in whole


def test_every_readme_of_the_course_is_readable(tmp_path: Path) -> None:
    """Lines fit 80 columns, no code is broken, and there is no HTML and no answer."""
    course = load_course(find_course())
    for lesson in course.lessons:
        text = shown(course, tmp_path, lesson.id)
        assert lesson.title in text
        assert "<details>" not in text
        assert "<summary>" not in text
        assert max(map(len, text.splitlines())) <= 80
        written = (lesson.folder / "README.md").read_text("utf-8")
        listings = re.findall(r"^```\w*\n(.*?)^```", FOLDED_PART.sub("", written), re.M | re.S)
        code = {line.strip() for listing in listings for line in listing.splitlines()}
        assert code <= {line.strip() for line in text.splitlines()}
        if "<details>" in written:
            assert f"grade read {lesson.id} --answers" in text
            assert len(shown(course, tmp_path, lesson.id, answers=True)) > len(text)


def test_without_a_name_the_next_lesson_is_read(tmp_path: Path) -> None:
    course = load_course(find_course())
    assert course.lessons[0].title in shown(course, tmp_path, None)


def test_a_readme_that_is_not_here_is_an_error_that_says_where_to_go(
    tmp_path: Path, small_course: Course, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.learner.readme_path", lambda *_: None)
    with pytest.raises(UsageError, match="There is no README of tiny here"):
        shown(small_course, tmp_path, "tiny")


def test_a_folder_for_a_part_of_the_course_has_only_its_lessons(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are counted and come next; none waits for another lesson, which can still be named."""
    course = load_course(find_course())
    work = tmp_path / "work"
    assert exit_code("init", work, "--only", "core") is ExitCode.OK
    assert {path.name for path in work.iterdir() if path.is_dir()} == set(course.core)
    learner = Learner.at(course, work, "en")
    assert [lesson.id for lesson in learner.course.lessons] == [
        lesson.id for lesson in course.lessons if lesson.id in course.core
    ]
    assert learner.course.lesson("chain_rule").id == "chain_rule"
    monkeypatch.chdir(work)
    monkeypatch.setenv("COLUMNS", "80")
    capsys.readouterr()
    show_lessons(learner, make_console())
    said = capsys.readouterr().out
    assert "0 of 5 lessons complete · best 0 / 50" in said
    assert [line.split()[0] for line in said.splitlines() if line.startswith("       ")][1:] == [
        group.id for group in learner.course.groups_here()
    ]


def test_another_part_of_the_course_is_refused_with_those_there_are() -> None:
    course = load_course(find_course())
    with pytest.raises(UsageError, match=r"no part 'nix'.*core, basics"):
        course.part("nix")


@pytest.mark.parametrize(("lang", "minutes"), [("en", " {} min "), ("ko", " {}분 ")])
def test_twenty_lessons_in_six_groups_are_listed_on_eighty_columns(
    lang: str,
    minutes: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Each has a line of its own, with its time and what it waits for."""
    course = load_course(find_course())
    assert (len(course.lessons), len(course.groups)) == (20, 6)
    learner = Learner.at(course, tmp_path, lang)
    monkeypatch.setenv("COLUMNS", "80")
    show_lessons(learner, make_console())
    lines = capsys.readouterr().out.splitlines()
    assert max(map(cell_len, lines)) <= 80
    words = [line.split() for line in lines]
    for lesson in course.lessons:
        row = next(line for line, word in zip(lines, words, strict=True) if lesson.id in word[:4])
        assert minutes.format(lesson.minutes) in row, row
        assert all(one in row for one in lesson.builds_on[:1]), row
    heads = [line.split()[0] for line in lines[1:] if re.match(r" {5,12}\S", line)]
    assert heads == [group.id for group in course.groups]


def test_an_instructors_course_toml_chooses_the_core_and_the_groups(tmp_path: Path) -> None:
    """It lies in a folder of its own, over the lessons of the course."""
    root = tmp_path / "course"
    for folder in ("exercises", "solutions", "tests"):
        shutil.copytree(find_course() / folder, root / folder, ignore=NOT_COURSE)
    path = root / "exercises" / "course.toml"
    text = re.sub(
        r"^core = .*$", 'core = ["chain_rule", "hooks"]', path.read_text("utf-8"), flags=re.M
    )
    path.write_text(
        f'{text}\n[[group]]\nid = "week"\ntitle = "A week"\nlessons = ["hooks"]\n', "utf-8"
    )
    for part, lessons in (("core", {"chain_rule", "hooks"}), ("week", {"hooks"})):
        work = tmp_path / part
        assert exit_code("init", work, "--only", part, "--course", root) is ExitCode.OK
        assert {one.name for one in work.iterdir() if one.is_dir()} == lessons
