"""Classroom 50: the folder that a teacher commits, its autograder's results and faults, and the
downloads and rosters.
"""

from __future__ import annotations

import itertools
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from classroom50_runner import COMMITTED_AT, ENVIRONMENT, Run, run
from click.testing import CliRunner
from factories.gradebook import (
    CHAINS,
    FAILED,
    PASSED,
    SLOPES,
    detailed_check,
    detailed_lesson,
    make_lesson,
    make_report,
    missing_lesson,
)

from grader.classroom.exports.classroom50 import (
    MAX_BODY,
    SCALE,
    SUBMIT_AGAIN,
    cut,
    release_body,
    result,
    scaled,
    status_line,
    to_do_next,
)
from grader.classroom.gradebook.entry import PublicEntry
from grader.classroom.gradebook.roster import read_roster
from grader.classroom.imports.discover import find_class
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.public_report import withheld
from grader.classroom.publish import classroom50_start
from grader.classroom.publish.autograders import classroom50_folder
from grader.classroom.publish.classroom50_main import fields_from
from grader.classroom.publish.engine_files import AUTOGRADER_SECONDS
from grader.cli import cli
from grader.core.errors import UsageError
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.report import LessonResult, LessonStatus
from grader.course.course import Course, HeldBack
from grader.render.editors import escape_markdown
from grader.runtime.client import ForkServerClient

pytestmark = pytest.mark.usefixtures("lent_host")

RIGHT = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
SQUARED = RIGHT.replace("2 * x", "x * x")
ONE_TOO_FEW = RIGHT.replace("20.0", "19.0")
HOSTILE = dict.fromkeys(("json.py", "torch.py", "grader/__init__.py"), "raise SystemExit(9)\n")


def autograder(course: Course, folder: Path, **options: Any) -> Path:
    """Return the folder with the whole course, in an environment where everything is installed."""
    wanted: dict[str, Any] = {"assignment": "week-1", "lang": "en", "whole_course": True} | options
    classroom50_folder(course, course.lessons, folder, **wanted)
    change_settings(folder, pip=[])
    return folder


def change_settings(folder: Path, **settings: Any) -> None:
    path = folder / "autograder.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | settings), "utf-8")


@pytest.fixture(scope="module")
def committed(small_course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return autograder(small_course, tmp_path_factory.mktemp("committed") / "week-1")


@pytest.fixture
def bundle(committed: Path, tmp_path: Path) -> Path:
    """Return a copy of the folder, which a test may change."""
    return Path(shutil.copytree(committed, tmp_path / "bundle"))


Runner = Callable[..., Run]


@pytest.fixture
def runner(tmp_path: Path, host: ForkServerClient) -> Runner:
    """Return ``run`` with a checkout and the tests' fork server."""
    return partial(run, checkout=tmp_path / "checkout", host=host)


# --------------------------------------------------------------------------------------- the folder


def test_the_folder_has_what_classroom_50_starts_and_what_the_assignment_needs(
    committed: Path,
) -> None:
    files = {"autograder.py", "autograder.json", "runtime.json", "assignment.json"}
    assert {path.name for path in committed.iterdir()} == files | {"engine", "course"}
    runtime = json.loads((committed / "runtime.json").read_text("utf-8"))
    entry = {"slug": "week-1", "runtime": runtime, "release_assets": ["report.html"]}
    assert json.loads((committed / "assignment.json").read_text("utf-8")) == entry
    assert set(runtime) <= {"runs-on", "container", "python", "node", "java", "go", "rust", "apt"}
    assert (committed / "course" / "solutions" / "tiny.py").exists()


def test_the_folder_is_made_again_and_keeps_what_the_teacher_put_there(
    small_course: Course, tmp_path: Path
) -> None:
    folder = autograder(small_course, tmp_path / "week-1")
    (folder / "notes.md").write_text("mine")
    (folder / "engine" / "old.py").write_text("old")
    autograder(small_course, folder)
    assert (folder / "notes.md").read_text() == "mine"
    assert not (folder / "engine" / "old.py").exists()


def test_somebody_elses_folder_is_not_touched(small_course: Course, tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "course").write_text("mine")
    with pytest.raises(UsageError, match="nothing was changed"):
        autograder(small_course, tmp_path / "work")
    assert [path.name for path in (tmp_path / "work").iterdir()] == ["course"]


@pytest.mark.parametrize("name", ["Week 1", "-week", "w", "week_1", "a" * 40, "week/1"])
def test_a_name_that_classroom_50_would_refuse_is_refused(
    name: str, small_course: Course, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="--assignment"):
        autograder(small_course, tmp_path / "x", assignment=name)


def test_a_students_bundle_makes_no_autograder(small_course: Course, tmp_path: Path) -> None:
    held = [replace(lesson, held=HeldBack(1, 1.0)) for lesson in small_course.lessons]
    with pytest.raises(UsageError, match="is a folder that grade release made"):
        classroom50_folder(small_course, held, tmp_path / "x", assignment="week-1", lang="en")


def test_a_pinned_torch_without_cuda_is_installed_before_the_rest(
    small_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """pip and venv are replaced by scripts that record their arguments."""
    folder = tmp_path / "week-1"
    classroom50_folder(small_course, small_course.lessons, folder, assignment="week-1", lang="en")
    asked: list[list[str]] = []
    places = []

    def note(command: list[str], **options: Any) -> None:
        asked.append(command)
        places.append(options["cwd"])

    monkeypatch.setattr(subprocess, "run", note)
    monkeypatch.setattr(classroom50_start, "HERE", folder)
    steps = json.loads((folder / "autograder.json").read_text("utf-8"))["pip"]
    python = classroom50_start.install(steps)
    assert set(places) == {folder}  # never the student's checkout, whose pip.py it would run
    assert asked[0] == [sys.executable, "-I", "-m", "venv", str(folder / "venv")]
    torch, rest = asked[1:]
    assert torch[:2] == rest[:2] == [python, "-I"]
    assert torch[-1] == "https://download.pytorch.org/whl/cpu"
    name, _, version = torch[-3].partition("==")
    assert name == "torch" and version[0].isdigit() and "+" not in version
    assert (folder / rest[-1]).read_text("utf-8").startswith("torch>=")


# -------------------------------------------------------------------------------------- submissions


def test_a_right_submission_has_full_marks(committed: Path, runner: Runner) -> None:
    done = runner(committed, files={"tiny/tiny.py": RIGHT})
    assert done.score == (10 * SCALE, 10 * SCALE)
    assert done.result is not None
    assert done.result["datetime"] == COMMITTED_AT
    assert done.outputs == {"status": "success", "summary": "10 of 10 points"}
    assert "Everything is right" in done.body
    assert "<!doctype html>" in done.assets["report.html"].lower()


def test_a_wrong_submission_reads_points_mistakes_and_what_to_do(
    committed: Path, runner: Runner
) -> None:
    done = runner(committed, files={"tiny/tiny.py": SQUARED.replace("20.0", "19.0")})
    assert done.score == (400, 1000)
    assert done.result is not None
    assert done.result["scale"] == SCALE
    assert done.outputs == {"status": "failure", "summary": "4 of 10 points, checks to do: 3"}
    body = done.body
    assert "| tiny | 4 / 10 |" in body
    assert "which is x &#42; x" in body  # the mistake's evidence
    assert "one too few" in body  # the name of a hidden check's mistake, without its evidence
    assert "is one less than the limit" not in body + json.dumps(done.result)
    shown = body + json.dumps(done.result)
    assert shown.count("19.0") == shown.count("LIMIT = 19.0") > 0  # the student's own line alone
    assert "Start here&#58; double returns twice x &#40;tiny/tiny.py&#58;1&#41;" in body
    assert "400 of 1000 there is 4 of 10 points" in body


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"tiny.py": "def ("}, "SyntaxError"),
        ({"notes.md": "later"}, "there is no tiny.py"),
        ({"tiny.py": "import os\nos._exit(0)\n"}, "tiny"),
    ],
    ids=["syntax error", "missing file", "exits"],
)
def test_a_students_fault_is_a_graded_zero(
    files: dict[str, str], said: str, committed: Path, runner: Runner
) -> None:
    done = runner(committed, files=files)
    assert done.result is not None and done.result["tests"]
    assert (done.code, done.score) == (0, (0, 1000))
    assert done.outputs["status"] == "failure"
    assert said in done.body


@pytest.mark.parametrize(
    ("path", "summary", "said"),
    [
        ("tiny (1).py", "Rename it and submit again", "tiny &#40;1&#41;.py is not called tiny.py"),
        ("work.zip", "could not be read", "work.zip"),
    ],
    ids=["almost the lesson's name", "unreadable"],
)
def test_what_was_not_graded_has_no_score_and_the_reason_is_given(
    path: str, summary: str, said: str, committed: Path, runner: Runner
) -> None:
    """This is how Classroom 50 records a submission without a score."""
    done = runner(committed, files={path: RIGHT})
    assert done.result is not None
    assert (done.code, done.score, done.result["tests"]) == (0, (0, 0), [])
    assert done.outputs["status"] == "error"
    assert summary in done.outputs["summary"]
    assert said in done.body and "0 / 10" not in done.body


def test_a_file_with_almost_the_lessons_name_counts_where_that_is_wished(
    bundle: Path, runner: Runner
) -> None:
    change_settings(bundle, accept_near_names=True)
    done = runner(bundle, files={"Tiny.py": RIGHT})
    assert (done.score, done.outputs["status"]) == ((1000, 1000), "success")


def test_nothing_is_imported_from_a_students_repository(bundle: Path, tmp_path: Path) -> None:
    """Here everything is a process, as on the runner."""
    done = run(bundle, tmp_path / "checkout", {"tiny.py": RIGHT, **HOSTILE})
    assert done.score == (1000, 1000)


def test_what_a_repository_has_under_the_results_names_is_no_result(
    committed: Path, tmp_path: Path, runner: Runner
) -> None:
    (tmp_path / "elsewhere").write_text("kept")
    (tmp_path / "checkout").mkdir()
    (tmp_path / "checkout" / "result.json").symlink_to(tmp_path / "elsewhere")
    left = {"report.html/x": "", "release-body.md": "A+"}
    done = runner(committed, files={"tiny.py": SQUARED, **left})
    assert done.score == (500, 1000)
    assert (tmp_path / "elsewhere").read_text() == "kept"
    assert "A&#43;" not in done.body and "A+" not in done.body
    assert "report.html" in done.assets


def test_a_korean_course_answers_in_korean(bundle: Path, runner: Runner) -> None:
    change_settings(bundle, lang="ko")
    done = runner(bundle, files={"tiny.py": SQUARED})
    assert done.outputs["summary"].startswith("10점 중 5점")
    assert "다음에 할 일" in done.body


def test_only_visible_checks_are_graded_where_the_folder_has_no_others(
    small_course: Course, tmp_path: Path, host: ForkServerClient
) -> None:
    folder = autograder(small_course, tmp_path / "week-1", whole_course=False)
    assert not (folder / "course" / "solutions").exists()
    assert not list(folder.rglob("test_hidden.py"))
    right = run(folder, tmp_path / "right", {"tiny.py": RIGHT}, host=host)
    none = run(folder, tmp_path / "none", {}, host=host)
    assert (right.score, none.score) == ((500, 500), (0, 500))  # out of the same for everybody
    assert right.outputs["status"] == "success"
    assert "Every check that runs here passes." in right.body
    assert "worth 5 points" in right.body.replace("&#", "")


# ------------------------------------------------------------------------------------------- faults


@pytest.mark.parametrize(
    "how", ["course", "engine", "settings", "check", "variable", "time", "output"]
)
def test_a_fault_that_is_not_the_students_publishes_nothing(
    how: str, bundle: Path, tmp_path: Path, host: ForkServerClient
) -> None:
    checks = bundle / "course" / "tests" / "checks" / "tiny" / "test_hidden.py"
    ours = "@check(points=1, about='LIMIT')\ndef test_ours(student): 'ours'; 1 / 0\n"
    changed: dict[str, str] = {}
    match how:
        case "course":
            shutil.rmtree(bundle / "course")
        case "engine":
            (bundle / "engine" / "grader" / "__init__.py").write_text("raise SystemExit(9)")
        case "settings":
            (bundle / "autograder.json").write_text("{")
        case "check":
            checks.write_text(checks.read_text("utf-8") + ours, "utf-8")
        case "variable":
            changed = {"SUBMISSION_TAG": ""}
        case "output":
            changed = {"GITHUB_OUTPUT": str(tmp_path)}
        case "time":
            change_settings(bundle, seconds=0.01)
    # These faults lie in the grader's process or in its start, before anything is graded.
    lent = None if how in ("engine", "settings", "variable", "time") else host
    left = {"tiny.py": RIGHT, "result.json": '{"score": 1000}', "report.html": "A+"}
    done = run(bundle, tmp_path / "checkout", left, host=lent, **changed)
    assert done.code != 0
    assert not (tmp_path / "checkout" / "result.json").exists()
    assert (done.body, done.outputs, done.assets) == ("", {}, {})
    last = done.log.splitlines()[-1]
    assert last.startswith("::error::The grader itself failed (")
    assert "not a score" in last
    assert how != "variable" or "SUBMISSION_TAG is not set" in done.log


def test_what_is_printed_while_grading_is_no_command_to_the_runner(
    bundle: Path, tmp_path: Path
) -> None:
    path = bundle / "engine" / "grader" / "__init__.py"
    path.write_text("print('::set-output name=status::success')\nraise SystemExit(9)\n")
    log = run(bundle, tmp_path / "checkout", {"tiny.py": RIGHT}).log.splitlines()
    token = log[0].removeprefix("::stop-commands::")
    assert log[0] != token and len(token) > 16
    assert log.index("::set-output name=status::success") < log.index(f"::{token}::")


def test_a_runner_from_before_the_owner_was_set_is_no_fault(tmp_path: Path) -> None:
    unset = dict.fromkeys(("OWNER", "USERNAME", "ASSIGNMENT_TYPE", "REVIEW_URL"), "")
    fields = fields_from(ENVIRONMENT | unset, tmp_path)
    assert not {"owner", "assignment_type"} & fields.keys()
    assert fields["review"] == ENVIRONMENT["COMMIT_URL"]


def test_the_grader_gets_no_token_and_ends_before_the_run_does() -> None:
    assert not [name for name in classroom50_start.PASSED_ON if "TOKEN" in name]
    assert "GITHUB_OUTPUT" not in classroom50_start.PASSED_ON
    assert AUTOGRADER_SECONDS + classroom50_start.INSTALL_SECONDS < 14 * 60  # of fifteen minutes


# -------------------------------------------------------------------------------------- the numbers


@pytest.mark.parametrize(
    ("points", "integers"),
    [([0.25, 0.5, 9.25], [25, 50, 925]), ([10 / 3] * 3, [333, 334, 333]), ([], []), ([0.0], [0])],
)
def test_scaled_points_are_integers_that_add_up(points: list[float], integers: list[int]) -> None:
    assert scaled(points) == integers
    assert sum(integers) == round(SCALE * sum(points))


def entry(*lessons: LessonResult) -> PublicEntry:
    return PublicEntry("submission", (), withheld(make_report("week-1", lessons)))


def test_bonus_points_are_told_and_never_in_the_score() -> None:
    graded = entry(detailed_lesson(SLOPES, PASSED, PASSED, PASSED))
    data = result(graded, {}, {})
    assert (data["score"], data["max-score"]) == (1000, 1000)
    assert data["tests"][2]["bonus-points"] == 1.0
    body = release_body(graded, data, Catalogue())
    assert "1 bonus point is not in Classroom 50&#39;s score" in body


INVALID = make_lesson(SLOPES, [replace(detailed_check(SLOPES.checks[0], FAILED), title="no colon")])
LOST = replace(detailed_lesson(CHAINS, FAILED), held_checks=1, held_points=10.0)


@pytest.mark.parametrize(
    ("lessons", "said"),
    [
        (
            [detailed_lesson(SLOPES, PASSED, PASSED, FAILED), detailed_lesson(CHAINS, PASSED)],
            ["Everything is right. There is nothing left to do."],
        ),
        (
            [detailed_lesson(SLOPES, FAILED, FAILED), detailed_lesson(CHAINS, FAILED)],
            ["Start here: the slope is right (slopes).", "A nudge: think", SUBMIT_AGAIN],
        ),
        (
            [replace(INVALID, status=LessonStatus.INVALID), detailed_lesson(CHAINS, FAILED)],
            ["Start here: all links (chains).", "A nudge: think", SUBMIT_AGAIN],
        ),
        (
            [
                detailed_lesson(SLOPES, PASSED, PASSED),
                make_lesson(
                    CHAINS,
                    [replace(detailed_check(CHAINS.checks[0], FAILED), source_line=7, hint=None)],
                    file="chains.py",
                ),
            ],
            ["Start here: all links (chains.py:7).", SUBMIT_AGAIN],
        ),
        (
            [detailed_lesson(SLOPES, PASSED, PASSED), replace(LOST, checks=())],
            ["Every check that runs here passes."],
        ),
        (
            [detailed_lesson(SLOPES, PASSED), replace(LOST, checks=(), held_points=9.0)],
            [SUBMIT_AGAIN],
        ),
    ],
    ids=["right", "wrong", "not loaded", "a line", "right here", "nothing wrong"],
)
def test_what_to_do_next_is_the_first_thing_that_is_wrong(
    lessons: list[LessonResult], said: list[str]
) -> None:
    report = withheld(make_report("week-1", lessons))
    heading, *todo, attached = to_do_next(report, Catalogue(), scored=True)
    assert heading == "### What to do next"
    assert attached == "report.html, attached to this release, shows every check in full."
    assert todo == [escape_markdown(one) for one in said]
    unscored = list(to_do_next(report, Catalogue(), scored=False))
    again = escape_markdown(SUBMIT_AGAIN)
    assert unscored == [heading, *(one for one in todo if one != again), attached]


def test_beside_a_file_of_another_name_the_rest_is_told_without_a_total() -> None:
    near = replace(missing_lesson(CHAINS), file="Chains.py", message="Chains.py is not chains.py")
    graded = entry(detailed_lesson(SLOPES, FAILED, PASSED), near)
    data = result(graded, {}, {})
    assert (data["score"], data["max-score"], data["tests"]) == (0, 0, [])
    body = release_body(graded, data, Catalogue())
    assert "Chains.py is not chains.py" in body.splitlines()[2]
    assert "| slopes | 4 / 10 |" in body and "wrong for x = secret" in body
    assert "| chains |" not in body and "/ 20" not in body


def test_a_long_body_is_cut_at_a_line_and_says_where_the_rest_is() -> None:
    line = "x" * 99 + "\n"
    text = cut(line * 2000, Catalogue())
    assert len(text) < MAX_BODY + 100
    assert text.endswith("x\n\nThe rest is in report.html.")


def test_the_status_is_one_line_that_github_takes() -> None:
    no_score = PublicEntry("submission", (), problem="x\n" * 300)
    for tr, one in itertools.product((Catalogue(), engine_catalogue("ko")), (no_score, entry())):
        line = status_line(one, result(one, {}, {}), tr)
        assert "\n" not in line and 0 < len(line) <= 140


# ---------------------------------------------------------------------------------- what comes back


def download(folder: Path, *users: str) -> Path:
    """Make a class as ``gh teacher download`` leaves it."""
    place = folder / "fall-week-1_submissions_2026_10_08_T_09_30_00"
    files = {"tiny/tiny.py": RIGHT, "result.json": "{}", "results.json": "{}", ".git/HEAD": ""}
    for user, (path, text) in itertools.product(users, files.items()):
        made = place / f"fall-week-1-{user}" / path
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(text, "utf-8")
    (place / "scores.csv").write_text("username,score\nann-kim,1000\n")
    return place


@pytest.mark.parametrize("users", [("ann-kim", "ann-lee"), ("octo",)])
def test_a_download_is_read_and_its_folder_says_what_the_assignment_is_called(
    users: tuple[str, ...], tmp_path: Path
) -> None:
    found = find_class(download(tmp_path, *users), lessons=["tiny"])
    assert found.layout == "github"
    assert [(one.name, one.students[0].ids) for one in found.handed] == [
        (user, {"username": user}) for user in users
    ]
    assert found.passed_over == ()
    assert [set(one.read(["tiny"])) for one in found.handed] == [{"tiny"}] * len(users)


def test_a_folder_that_only_resembles_a_download_is_plain(tmp_path: Path) -> None:
    folder = tmp_path / "hw_submissions_2026"
    for name in ("hw-ann", "hw-bob"):
        (folder / name).mkdir(parents=True)
        (folder / name / "tiny.py").write_text(RIGHT)
    assert find_class(folder, lessons=["tiny"]).layout == "plain"


def test_its_roster_is_read_with_columns_of_the_teachers_own(tmp_path: Path) -> None:
    path = tmp_path / "students.csv"
    path.write_text(
        "username,first_name,last_name,email,section,github_id,seat\n"
        "octo,Ann,Kim,ann@x.edu,A,583231,12\n"
        ",,,pending@x.edu,A,,\n"
    )
    ids, section = (
        {"username": "octo", "email": "ann@x.edu", "github_id": "583231"},
        {"section": "A"},
    )
    assert read_roster(path).students == (
        (2, StudentIdentity("Ann Kim", ids, section)),
        (3, StudentIdentity("pending@x.edu", {"email": "pending@x.edu"}, section)),
    )


# -------------------------------------------------------------------------------------- the command


def test_the_command_says_what_to_do_next_and_that_the_folder_is_published(
    small_course: Course, tmp_path: Path
) -> None:
    words = ["classroom50", str(tmp_path / "out"), "--assignment", "week-1"]
    done = CliRunner().invoke(cli, [*words, "--course", str(small_course.root)])
    assert done.exit_code == 0, done.output
    assert "CLASSROOM/autograders/week-1" in done.output
    assert f"--runtime {tmp_path / 'out' / 'runtime.json'}" in done.output
    assert "publishes this folder on GitHub Pages" in done.output
    assert "One point is 100 in Classroom 50" in done.output
