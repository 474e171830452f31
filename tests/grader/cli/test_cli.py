"""The command: its answers, exit codes and advice; two runs are processes, as people run it."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click
import jsonschema
import pexpect
import pytest
from click.testing import CliRunner
from in_process import KEPT_VARIABLES, Run, exit_code, grade_here
from rich.cells import cell_len

import grader
from grader.cli import COMMANDS, SECTIONS, cli, stand_in
from grader.cli.grade import run
from grader.cli.help import MARK, peek_language
from grader.cli.workspace import quoted
from grader.core.errors import CourseError, EngineFault, ExitCode, UsageError
from grader.core.report import LessonStatus, Outcome
from grader.course.course import Course, find_course, load_course
from grader.course.stubs import runnable
from grader.course.submission import read_submission
from grader.runtime.client import ForkServerClient
from grader.verify.verify import LessonSummary, VerifyResult

pytestmark = pytest.mark.fork

Grade = Callable[..., Run]
Write = Callable[[str], Path]
Verify = Callable[..., object]
PACKAGE = Path(grader.__file__).parent
REST = "def triple(x): return 3 * x\nLIMIT = 20.0\n"
RIGHT = "def double(x): return 2 * x\n" + REST
WRONG = "def double(x): return x * x\n" + REST


def grade_process(folder: Path, *words: str, course: Path | None = None) -> Run:
    """Run ``grade`` as a process in a folder, in English and without a terminal."""
    chosen = ["--course", str(course)] if course else []
    done = subprocess.run(
        [sys.executable, "-m", "grader", *words, *chosen],
        cwd=folder,
        env=environment(LANG="C.UTF-8", PYTHONIOENCODING="utf-8"),
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )
    return Run(done.returncode, done.stdout, done.stderr, folder)


def environment(**variables: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in KEPT_VARIABLES if name in os.environ}
    return {**kept, "PYTHONPATH": str(PACKAGE.parent), **variables}


def contents(folder: Path) -> dict[str, str | None]:
    """Return every path below a folder with the file's text, None for a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8") if path.is_file() else None
        for path in folder.rglob("*")
    }


@pytest.fixture(scope="session")
def grade(host: ForkServerClient, small_course: Course) -> Grade:
    """Return ``grade(folder, *words)``, which runs the command in this process."""
    return functools.partial(grade_here, host, course=small_course.root)


@pytest.fixture
def write_tiny(tmp_path: Path) -> Write:
    """Return ``write_tiny(text)``, which makes a folder with that text as ``tiny.py``."""

    def make(text: str) -> Path:
        (tmp_path / "work").mkdir()
        (tmp_path / "work" / "tiny.py").write_text(text, "utf-8")
        return tmp_path / "work"

    return make


# ------------------------------------------------------------------------------------------ grading


def test_full_marks_end_with_0_and_leave_a_page(write_tiny: Write, small_course: Course) -> None:
    run = grade_process(write_tiny(RIGHT), course=small_course.root)
    assert (run.code, run.err) == (ExitCode.OK, "")
    assert run.out.startswith("tiny  10 / 10  6 right\n")
    assert "10 / 10   report.html" in run.out
    assert "<h1>work</h1>" in (run.folder / "report.html").read_text("utf-8")


def test_who_works_in_the_course_s_own_exercises_is_graded(
    tmp_path: Path, small_course: Course, host: ForkServerClient
) -> None:
    """As after ``make grade``. What others begin with stays the stub, and the course the same."""
    shutil.copytree(small_course.root, tmp_path / "course")
    course = load_course(tmp_path / "course")
    lesson = course.lesson("tiny")
    stub, before = lesson.stub.read_text("utf-8"), course.hash_now([lesson])
    lesson.stub.write_text(RIGHT, "utf-8")
    run = grade_here(host, course.root / "exercises", course=course.root)
    assert (run.code, run.out.splitlines()[0]) == (ExitCode.OK, "tiny  10 / 10  6 right")
    assert lesson.stub_text == stub
    assert course.hash_now([lesson]) == before


@pytest.mark.parametrize(
    ("lang", "sentence"),
    [
        ("en", "A colon is missing at the end of this line."),
        ("ko", "이 줄 끝에 콜론(:)이 빠졌습니다."),
    ],
)
def test_a_syntax_error_is_one_entry_with_a_sentence_and_a_caret(
    grade: Grade, lang: str, sentence: str, write_tiny: Write
) -> None:
    """This holds on the terminal and on the page; nothing else counts as wrong."""
    folder = write_tiny("def double(x)\n    return 2 * x\n")
    run = grade(folder, "--lang", lang)
    assert run.code == ExitCode.NOT_FULL_MARKS
    _, why, code, caret, *rest = run.out.splitlines()
    assert f"{sentence} (SyntaxError: " in why
    assert code.rstrip().endswith("def double(x)")
    assert caret.rstrip() == " " * len(code.rstrip()) + "^"
    assert not any("more wrong" in line for line in rest)
    page = (run.folder / "report.html").read_text("utf-8")
    assert sentence in page
    numbered = re.sub("<[^>]*>", "", page[page.index('<pre class="code"') :])
    assert numbered.startswith("1def double(x)\n             ^\n2    return 2 * x\n")


@pytest.fixture(scope="module")
def wrong_run(tmp_path_factory: pytest.TempPathFactory, small_course: Course) -> Iterator[Run]:
    """Grade a wrong submission from another folder, with a seed."""
    folder = tmp_path_factory.mktemp("wrong")
    (folder / "work").mkdir()
    (folder / "work" / "tiny.py").write_text(WRONG, "utf-8")
    words = ("tiny", "--in", "work", "--json", "report.json", "--no-html", "--seed", "11")
    yield grade_process(folder, *words, course=small_course.root)


def test_what_is_not_right_yet_ends_with_1(wrong_run: Run) -> None:
    assert (wrong_run.code, wrong_run.err) == (ExitCode.NOT_FULL_MARKS, "")
    assert "Looks like: x is squared." in wrong_run.out
    assert "\x1b" not in wrong_run.out


def test_the_json_file_is_a_report(wrong_run: Run) -> None:
    """It fits the schema and has the requested seed; no page is written unless requested."""
    data = json.loads((wrong_run.folder / "report.json").read_text("utf-8"))
    jsonschema.validate(
        data, json.loads((PACKAGE / "core" / "report.schema.json").read_text("utf-8"))
    )
    assert (data["submission"], data["score"], data["seed"]) == ("work", 5.0, 11)
    assert not (wrong_run.folder / "report.html").exists()


def test_a_seed_repeats_a_run(grade: Grade, wrong_run: Run) -> None:
    """Only the time differs."""

    def lasting(name: str) -> str:
        text = (wrong_run.folder / name).read_text("utf-8")
        return re.sub(r'"seconds": .*', "", text)

    words = ("--in", "work", "--json", "again.json", "--no-html", "--seed", "11")
    again = grade(wrong_run.folder, *words)
    assert again.code == wrong_run.code
    assert lasting("again.json") == lasting("report.json")


def test_the_graders_own_fault_ends_with_3_and_costs_the_student_nothing(
    grade: Grade, write_tiny: Write, small_course: Course, tmp_path: Path
) -> None:
    """The report calls it a grader fault; standard error has a traceback for the author."""
    shutil.copytree(small_course.root, tmp_path / "course")
    with (tmp_path / "course" / "tests" / "checks" / "tiny" / "test_hidden.py").open("a") as checks:
        checks.write(
            "\n\n@check(points=1, about='LIMIT')\n"
            "def test_ours(student):\n"
            "    '''ours'''\n"
            "    1 / 0\n"
        )
    run = grade(write_tiny(RIGHT), course=tmp_path / "course")
    assert run.code == ExitCode.ENGINE_FAULT
    assert "The grader failed here, not your code" in run.out
    assert "tiny.ours" in run.err
    assert "ZeroDivisionError" in run.err
    assert (run.folder / "report.html").exists()


def test_a_page_that_can_not_be_written_ends_with_2_and_does_not_cost_the_report(
    grade: Grade, write_tiny: Write
) -> None:
    run = grade(write_tiny(RIGHT), "--html", "nowhere/page.html")
    assert run.code == ExitCode.USAGE
    assert run.err == (
        "grade: nowhere/page.html can't be written: No such file or directory. Name another place"
        " with --html\n"
    )
    assert "10 / 10" in run.out


def test_where_nothing_can_be_written_a_run_succeeds_and_names_the_option(
    grade: Grade, write_tiny: Write
) -> None:
    """As in a clone that is mounted read-only. A folder in the page's place stands for it, because
    the tests may run as root.
    """
    folder = write_tiny(RIGHT)
    (folder / "report.html").mkdir()
    run = grade(folder)
    assert run.code == ExitCode.OK
    assert run.err.startswith("grade: report.html can't be written: ")
    assert run.err.endswith("Name another place with --html\n")
    assert "report.html" not in run.out


# -------------------------------------------------------------------------------------------- usage


@pytest.mark.parametrize(("lang", "said"), [("en", "is not a tensor"), ("ko", "텐서로")])
def test_an_input_that_is_no_tensor_is_told(lang: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text("def f(x): return x", "utf-8")
    done = CliRunner().invoke(cli, ["graph", f"{file}:f", "--input", "a", "--lang", lang])
    assert isinstance(done.exception, UsageError)
    assert str(done.exception).startswith("--input 'a'") and said in str(done.exception)


def test_an_unknown_lesson_ends_with_2_and_names_the_nearest(grade: Grade, tmp_path: Path) -> None:
    run = grade(tmp_path, "tinny")
    assert (run.code, run.out) == (ExitCode.USAGE, "")
    assert (
        run.err == "grade: There is no lesson 'tinny'. Did you mean tiny? All lessons: grade list\n"
    )


@pytest.mark.posix
def test_on_a_terminal_an_error_is_broken_between_words(tmp_path: Path) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "grader", "hint", "zzzzzz"],
        cwd=str(tmp_path),
        env=environment(TERM="xterm"),
        dimensions=(24, 80),
        encoding="utf-8",
        timeout=30,
    )
    lines = child.read().splitlines()
    assert max(map(len, lines)) <= 80
    names = ", ".join(lesson.id for lesson in load_course(find_course()).lessons)
    assert " ".join(line.strip() for line in lines).endswith(names)


@pytest.mark.parametrize(
    ("place", "answer"),
    [
        ("nowhere", r"nowhere does not exist\. .* your lessons, or make one: grade init my-work"),
        (".", r"has no lesson file .*, such as tiny\.py\. .* all lessons: grade init my-work"),
        ("notes.txt", r"notes\.txt is not a folder, .* tiny\.py or tiny\.ipynb\. Lessons: tiny"),
    ],
)
def test_a_place_without_lessons_ends_with_2_and_a_remedy(
    place: str,
    answer: str,
    small_course: Course,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    # Nothing is graded, so nothing need be started.
    monkeypatch.setattr("grader.cli.grade.ForkServerClient", lambda **_: contextlib.nullcontext())
    (tmp_path / "notes.txt").write_text("mine\n")
    words = ("--in", tmp_path / place, "--lang", "en", "--course", small_course.root)
    assert exit_code(*words) == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert re.search(answer, said.err)


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["--colour"], "grade has no option --colour. Did you mean --course?"),
        (["run", "--zzz"], "grade run has no option --zzz. For help: grade run --help"),
        (["run", "--seed", "-1"], "grade run: --seed takes a whole number from 0 to 4294967295."),
        (["run", "--seed", "many"], "--seed takes a whole number from 0"),
        (["run", "--seed"], "grade run: --seed needs a value. For help: grade run --help"),
        (["run", "--no-html=yes"], "grade run: --no-html takes no value"),
        (["run", "--sandbox", "maybe"], "--sandbox takes one of auto, off, require"),
        (["init", "one", "two"], "grade init got too many arguments. For help: grade init --help"),
        (["init"], "grade init needs FOLDER. For help: grade init --help"),
        (["hint", "tiny", "--step", "4"], "--step takes a whole number from 1 to 3"),
        (["hint", "--lang", "ko", "--step", "4"], "--step 옵션에는 1 이상 3 이하의 정수를 씁니다."),
        (["hint", "--lang=ko", "--stop"], "--stop 옵션은 없습니다. 혹시 --step 옵션인가요?"),
        (["verify", "--seeds", "0"], "--seeds takes a whole number, 1 or more"),
        (["list", "--course", "nowhere"], "nowhere holds no course"),
        (["list", "--lang", "tlh"], "There is no translation into 'tlh'. Languages: en, ko"),
        (["verify", "tinny", "--course", "COURSE"], "Did you mean tiny?"),
        (["hint", "tinny", "--course", "COURSE"], "Did you mean tiny?"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_bad_input_ends_with_2_on_standard_error(
    words: list[str], answer: str, capsys: pytest.CaptureFixture[str], small_course: Course
) -> None:
    root = str(small_course.root)
    assert exit_code(*(word.replace("COURSE", root) for word in words)) == ExitCode.USAGE
    said = capsys.readouterr()
    assert said.out == ""
    assert answer in said.err.replace("\n", " ")


@pytest.mark.parametrize(
    ("words", "lang"),
    [
        ([], None),
        (["--lang"], None),
        (["run", "--lang"], None),
        (["run", "--lang", "ko", "-h"], "ko"),
        (["--seed", "1", "--lang=ko"], "ko"),
        (["--lang=en", "--lang", "ko"], "ko"),
    ],
)
def test_the_language_is_seen_before_words_are_parsed(words: list[str], lang: str | None) -> None:
    assert peek_language(words) == lang


OWN_FAULT = "grade: this is the grader's own fault, not yours; please report it"


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (UsageError("a fact"), ExitCode.USAGE, "grade: a fact\n"),
        (CourseError("a fact"), ExitCode.USAGE, "grade: a fact\n"),
        (EngineFault("a fault"), ExitCode.ENGINE_FAULT, "grade: a fault\n"),
        (KeyboardInterrupt(), 130, "\n"),
        (ZeroDivisionError(), ExitCode.ENGINE_FAULT, f"\n{OWN_FAULT}\n"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, BaseException) else "",
)
def test_every_error_has_its_exit_code(
    error: BaseException,
    code: int,
    said: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A known error is shown as a message, not as a traceback."""

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("grader.cli.learner.lesson_table", fail)
    assert exit_code("list") == code
    told = capsys.readouterr().err
    assert told.endswith(said)
    assert told == said or isinstance(error, ZeroDivisionError)


# --------------------------------------------------------------------------------- init, list, hint


@pytest.fixture(scope="module")
def workspace(grade: Grade, tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Make a folder with ``grade init``."""
    folder = tmp_path_factory.mktemp("student")
    run = grade(folder, "init", "my work")
    return Run(run.code, run.out, run.err, folder / "my work")


ABOUT = """# A course to test the engine with

Fill in the file in each lesson's folder. Type this in a terminal, in this folder:

    grade list              the lessons, and how far you are
    grade next              where to begin
    grade tiny              grade the first lesson, at any time
    grade watch             grade at every save

Add to each command: --course %s

1. [tiny](tiny/README.md): Tiny
"""


MADE = (
    '{\n "version": 1,\n "lessons": {},\n "latest": [],\n "chosen": [],\n "course": %s,\n "lang":'
    " null\n}\n"
)
"""The progress of a folder that was made for a course by name."""


def test_init_makes_a_folder_with_stubs_and_readmes(workspace: Run, small_course: Course) -> None:
    """It also has the progress file, but no hints or
    solutions; the output says what to type next.
    """
    lesson = small_course.lesson("tiny")
    assert (workspace.code, workspace.err) == (ExitCode.OK, "")
    assert contents(workspace.folder) == {
        ".gradlings.json": MADE % json.dumps(str(small_course.root)),
        "tiny": None,
        "tiny/tiny.py": runnable(
            lesson.stub.read_text("utf-8"), "To grade this file, type: grade tiny"
        ),
        "tiny/README.md": (lesson.folder / "README.md").read_text("utf-8"),
        "README.md": ABOUT % small_course.root,
    }
    for part in (f"cd {quoted(Path('my work'))}", "grade list", "grade tiny", "tiny/README.md"):
        assert part in workspace.out


def test_the_next_line_to_type_can_be_typed(workspace: Run) -> None:
    (line,) = [line for line in workspace.out.splitlines() if line.strip().startswith("cd ")]
    assert shlex.split(line) == ["cd", "my work"]


def test_what_init_made_is_not_started_which_ends_with_1(grade: Grade, workspace: Run) -> None:
    run = grade(workspace.folder)
    assert (run.code, run.err) == (ExitCode.NOT_FULL_MARKS, "")
    assert run.out.startswith("tiny  0 / 10  6 not started\n")


def test_init_refuses_a_folder_that_holds_anything_and_changes_nothing(
    grade: Grade, workspace: Run
) -> None:
    (workspace.folder / "tiny" / "tiny.py").write_text("mine\n", "utf-8")
    before = contents(workspace.folder)
    run = grade(workspace.folder.parent, "init", "my work")
    message = "my work exists and is not empty. Choose another name; nothing was changed"
    assert (run.code, run.out, run.err) == (ExitCode.USAGE, "", f"grade: {message}\n")
    assert contents(workspace.folder) == before


@pytest.mark.parametrize("below", ["again", "tiny/again"])
def test_init_makes_no_work_folder_in_another(below: str, grade: Grade, workspace: Run) -> None:
    before = contents(workspace.folder)
    run = grade(workspace.folder, "init", below)
    assert run.code == ExitCode.USAGE
    assert f"{below} would be inside the work folder" in run.err
    assert contents(workspace.folder) == before


def test_init_fills_an_empty_folder_and_refuses_a_file_and_what_is_below_it(
    tmp_path: Path, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "empty").mkdir()
    course = ("--course", small_course.root)
    assert exit_code("init", tmp_path / "empty", *course) == ExitCode.OK
    assert "holds 1 lesson. Next:" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "empty" / "tiny" / "tiny.py").is_file()
    (tmp_path / "file").write_text("mine\n")
    assert exit_code("init", tmp_path / "file", *course) == ExitCode.USAGE
    assert exit_code("init", tmp_path / "file" / "work", *course) == ExitCode.USAGE
    assert (tmp_path / "file").read_text() == "mine\n"


def test_init_makes_stubs_as_notebooks_that_are_lessons_not_started(
    tmp_path: Path, small_course: Course
) -> None:
    words = ("init", tmp_path / "work", "--notebook", "--course", small_course.root)
    assert exit_code(*words) == ExitCode.OK
    assert [path.name for path in (tmp_path / "work" / "tiny").glob("tiny.*")] == ["tiny.ipynb"]
    (file,) = read_submission(tmp_path / "work", ["tiny"]).values()
    assert not file.problem and "raise NotImplementedError" in file.text


@pytest.mark.parametrize(
    ("value", "mode"),
    [(None, "auto"), ("", "auto"), ("false", "auto"), ("true", "require"), ("1", "require")],
)
def test_ci_requires_the_sandbox(
    value: str | None, mode: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is the default there, because nobody reads what ``auto`` reports."""
    monkeypatch.delenv("CI", raising=False)
    if value is not None:
        monkeypatch.setenv("CI", value)
    assert run.make_context("run", []).params["sandbox"] == mode


def test_list_shows_every_lesson_and_whether_it_is_here(
    grade: Grade, write_tiny: Write, tmp_path: Path
) -> None:
    for folder, said in ((tmp_path / "empty", "not here"), (write_tiny(RIGHT), "next")):
        run = grade(folder, "list")
        assert run.code == ExitCode.OK
        assert re.search(rf"^○ {said} tiny +Tiny *$", run.out, re.MULTILINE)


@pytest.mark.parametrize("step", [1, 2, 3])
def test_hints_come_one_step_at_a_time(
    step: int, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only the requested step is shown, for one function or for all, with the way to the next."""
    hints = small_course.lesson("tiny").hints()
    words = ("--step", str(step), "--lang", "en", "--course", small_course.root)
    assert exit_code("hint", "tiny", "double", *words) == ExitCode.OK
    one = capsys.readouterr().out
    assert exit_code("hint", "tiny", *words) == ExitCode.OK
    every = capsys.readouterr().out
    for name, texts in hints.items():
        for number, text in enumerate(texts, 1):
            assert (text in one) == (
                number == step and (name == "double" or text in hints["double"])
            )
            assert (text in every) == (number == step)
    assert ("grade hint tiny double --step" in one) == (step < 3)
    assert step == 3 or f"grade hint tiny double --step {step + 1}" in one


@pytest.mark.parametrize(
    ("name", "code", "said"),
    [
        ("LIMIT", ExitCode.OK, "LIMIT  hint 1 of 3\n  A number.\n"),
        (
            "half",
            ExitCode.USAGE,
            "grade: tiny has no hint for 'half'. There are hints for: double, triple, LIMIT\n",
        ),
    ],
)
def test_a_hint_is_a_nudge_and_a_name_without_hints_is_answered_with_those_that_have_some(
    name: str, code: ExitCode, said: str, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("hint", "tiny", name, "--lang", "en", "--course", small_course.root)
    assert exit_code(*words) == code
    told = capsys.readouterr()
    assert (told.out + told.err).startswith(said)


@pytest.mark.parametrize("hints", ["", 'double = ["One."]\n'], ids=["none", "one step"])
def test_a_lesson_whose_hints_are_not_written_yet_says_so(
    hints: str, small_course: Course, tmp_path: Path
) -> None:
    course = Path(shutil.copytree(small_course.root, tmp_path / "course"))
    (course / "exercises" / "tiny" / "hints.toml").write_text(hints, "utf-8")
    words = ("hint", "tiny", "--step", "2", "--lang", "en", "--course", course)
    assert exit_code(*words) == ExitCode.USAGE


# ------------------------------------------------------------------------------------------- verify

PROOF = LessonSummary(
    "tiny",
    6,
    mistakes=2,
    caught=2,
    named=1,
    near_misses=4,
    told_apart=3,
    accepted=1,
    accepted_passed=1,
)


@pytest.fixture
def verify(monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Return ``verify(course, problems, *options, lacks=[])``, which returns the exit code of
    ``grade verify`` when verification finds these problems, and what the installed versions lack.
    """

    def run(
        course: Course, problems: Sequence[str], *options: str, lacks: Sequence[str] = ()
    ) -> object:
        found = VerifyResult(tuple(problems), (PROOF,), 5)
        monkeypatch.setattr("grader.verify.verify.verify", lambda *_, **__: found)
        monkeypatch.setattr("grader.verify.verify.missing_internals", lambda: list(lacks))
        return exit_code("verify", "--course", course.root, *options)

    return run


@pytest.mark.parametrize(
    ("lacks", "problems", "summary"),
    [
        ([], [], "no problems"),
        ([], ["tiny: one"], "1 problem"),
        ([], ["tiny: one", "tiny: two"], "2 problems"),
        (["torch 9 lacks it"], ["tiny: one"], "2 problems"),
    ],
)
def test_verify_lists_all_problems_and_ends_with_1_where_there_are_any(
    lacks: list[str],
    problems: list[str],
    summary: str,
    verify: Verify,
    small_course: Course,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What the installed versions lack comes first."""
    code = verify(small_course, problems, "--seeds", "2", lacks=lacks)
    assert code == (ExitCode.NOT_FULL_MARKS if problems else ExitCode.OK)
    last = f"1 lesson, 5 gradings, 2 seeds: {summary}"
    assert capsys.readouterr().out.splitlines() == [*lacks, *problems, last]


def test_verify_prints_the_proof_as_a_table(
    verify: Verify, small_course: Course, capsys: pytest.CaptureFixture[str]
) -> None:
    verify(small_course, [], "--table")
    assert capsys.readouterr().out.splitlines()[:3] == [
        (
            "| lesson | checks | mistakes caught | mistakes named | near misses told apart |"
            " accepted alternatives | promises held |"
        ),
        "|---|---|---|---|---|---|---|",
        "| tiny | 6 | 2 of 2 | 1 of 2 | 3 of 4 | 1 of 1 | 0 of 0 |",
    ]


def test_verify_writes_stubs_only_when_asked(
    verify: Verify, small_course: Course, tmp_path: Path
) -> None:
    course = load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    stub = course.lesson("tiny").stub
    stub.write_text("old\n", "utf-8")
    verify(course, [])
    assert stub.read_text("utf-8") == "old\n"
    verify(course, [], "--write-stubs")
    assert stub.read_text("utf-8") == small_course.lesson("tiny").stub.read_text("utf-8")


# --------------------------------------------------------------------------------------------- help


def context(name: str) -> click.Context:
    """Return the context in which a command's help is shown."""
    parent = click.Context(cli, info_name="grade")
    command = cli.get_command(parent, name)
    assert command is not None and command.name == name
    return click.Context(command, info_name=name, parent=parent)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_every_option_is_explained(name: str) -> None:
    found = context(name)
    assert COMMANDS[name].about.endswith(".")
    for parameter in found.command.get_params(found):
        if isinstance(parameter, click.Option):
            assert parameter.help, f"{name} {parameter.opts}"
            assert parameter.help.endswith("."), f"{name} {parameter.opts}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_shows_an_example_that_it_would_take(name: str) -> None:
    """The command itself parses the words of the example."""
    (line,) = re.findall("Example: (.*)", context(name).get_help())
    program, command, *words = shlex.split(line)
    assert (program, command) == ("grade", name)
    context(name).command.make_context(name, words)


def test_help_of_the_whole_names_every_command_and_four_lines_to_type() -> None:
    """On 80 columns, each command's explanation is a full sentence."""
    said = cli.get_help(click.Context(cli, info_name="grade", terminal_width=80))
    assert all(f"  {name}" in said for name in COMMANDS)
    assert len([line for line in said.splitlines() if line.startswith("  grade ")]) == 4
    assert "..." not in said.partition("For learners:")[2]


@pytest.mark.parametrize(
    ("name", "lang", "example"),
    [
        *((name, "en", "Example") for name in ["", *COMMANDS]),
        *((name, "ko", "예") for name in ["", *SECTIONS["For learners"]]),
    ],
)
def test_help_fits_a_terminal_of_80_columns(
    name: str, lang: str, example: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The terminal breaks no line, and no option's text is cut."""
    monkeypatch.setenv("GRADE_LANG", lang)
    words = [name, "--help"] if name else ["--help"]
    done = CliRunner().invoke(cli, words, terminal_width=80)
    assert done.exit_code == 0
    assert [line for line in done.output.splitlines() if cell_len(line) > 80] == []
    assert f"{example}: grade" in done.output or not name
    assert MARK not in done.output


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_answered_with_where_to_look(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(name, "--no-such-option") == ExitCode.USAGE
    said = capsys.readouterr().err.replace("\n", " ")
    assert f"grade {name} has no option --no-such-option." in said
    assert f"grade {name} --help" in said


@pytest.mark.parametrize("words", [["custom_sigmoid", "--verbos"], ["--verbos"]])
def test_who_typed_no_command_is_not_told_of_one(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The help that is named is the one of grading."""
    assert exit_code(*words, "--lang", "en") == ExitCode.USAGE
    assert capsys.readouterr().err == (
        "grade: grade has no option --verbos. For help: grade run --help\n"
    )


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["--lang", "en", "list"], "grade list --lang en"),
        (["--no-html", "list", "--lang=en"], "grade list"),
        (["custom_sigmoid", "hint", "--lang", "en"], "grade hint custom_sigmoid --lang en"),
    ],
)
def test_a_command_after_others_is_said_to_come_first(
    words: list[str], command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the options that it takes."""
    assert exit_code(*words) == ExitCode.USAGE
    name = command.split()[1]
    said = f"grade: {name} is a command, so it comes first: {command}\n"
    assert capsys.readouterr().err == said


def test_a_console_without_our_letters_gets_others(grade: Grade, write_tiny: Write) -> None:
    """Each mark has a replacement in every encoding; nothing ends in a traceback."""
    words = ("--no-html", "--seed", "1", "--lang", "ko")
    folder = write_tiny(WRONG)
    run = grade(folder, *words, encoding="cp1252")
    assert (run.code, run.err) == (ExitCode.NOT_FULL_MARKS, "")
    assert "x double returns twice x" in run.out


HEAVY = ("torch", "numpy", "pytest", "rich", "jinja2", "polib")


@pytest.mark.parametrize(
    "words",
    [
        *(["--help"], ["-h"], ["--version"]),
        *(["run", "--help"], ["verify", "-h"], ["batch", "-h"], ["watch", "-h"]),
    ],
    ids=" ".join,
)
def test_help_and_version_answer_without_anything_heavy(words: list[str]) -> None:
    """Modules that are slow to import are imported only when needed; the list of commands imports
    none of them.
    """
    commands = {f"grader.cli.{command.module}" for command in COMMANDS.values()}
    slow = (*HEAVY, *(commands if words[0].startswith("-") else ()))
    code = (
        "import sys; from grader.cli import main\n"
        f"try: main({words})\n"
        "except SystemExit as end:\n"
        f"    heavy = [m for m in {slow} if m in sys.modules]\n"
        "    print(heavy, end.code, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment()
    )
    assert done.stderr == "[] 0\n"
    assert done.stdout.strip()


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("--version") == ExitCode.OK
    assert capsys.readouterr().out == f"gradlings, version {grader.__version__}\n"


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("nxt", "Did you mean grade next?"),
        ("hnit", "Did you mean grade hint?"),
        ("watchh", "Did you mean grade watch?"),
        ("helpp", "Did you mean grade help?"),
        ("hook", "Did you mean hooks?"),
        ("finite", "Did you mean finite_difference?"),
        ("gradient.py", "gradient.py does not exist. Name a file that is there, or a lesson"),
        ("hook.py", "There is no lesson 'hook.py'. Did you mean hooks?"),
        ("21", "There is no lesson '21'. Lessons: finite_difference, "),
        ("0", "There is no lesson '0'. Lessons: finite_difference, "),
        ("quantum", "There is no lesson 'quantum'"),
    ],
)
def test_a_mistyped_word_is_answered_with_the_nearest_command_or_lesson(
    word: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert exit_code(word) == ExitCode.USAGE
    assert said in capsys.readouterr().err.replace("\n", " ")


@pytest.mark.parametrize("words", [[], ["hint"], ["watch"]])
def test_help_is_a_word_too(words: list[str]) -> None:
    said = CliRunner().invoke(cli, ["help", *words]).output
    assert said == CliRunner().invoke(cli, [*words, "--help"]).output
    assert "Usage: " in said


@pytest.mark.parametrize("word", ["nosuch", "softmax"])
def test_help_is_asked_about_commands(word: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert exit_code("help", word) == ExitCode.USAGE
    assert f"There is no command '{word}'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("folders", "said"),
    [
        (["mine"], "Your work is in another folder. Go there: cd mine"),
        (["a b", "c"], "here: a b, c."),
    ],
)
@pytest.mark.parametrize("words", [[], ["tiny"]])
def test_one_folder_too_high_is_said_and_nothing_is_written(
    grade: Grade, folders: list[str], said: str, words: list[str], tmp_path: Path
) -> None:
    for name in folders:
        (tmp_path / name).mkdir()
        (tmp_path / name / ".gradlings.json").write_text("{}")
        (tmp_path / name / "tiny.py").write_text(RIGHT)
    before = contents(tmp_path)
    run = grade(tmp_path, *words)
    assert run.code == ExitCode.USAGE
    assert said in run.err.replace("\n", " ")
    assert run.err.count("\n") == 1
    assert contents(tmp_path) == before


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("words", [[], ["tiny"], ["next"]])
def test_a_course_in_or_below_the_folder_is_not_the_users_work(
    grade: Grade, words: list[str], inside: bool, tmp_path: Path, small_course: Course
) -> None:
    without = shutil.ignore_patterns("__pycache__")
    course = Path(shutil.copytree(small_course.root, tmp_path / "course", ignore=without))
    place = course if inside else tmp_path
    before = contents(tmp_path)
    run = grade(place, *words)
    assert run.code == ExitCode.USAGE
    assert run.err.startswith(
        "grade: This folder is a course. To grade its stubs: grade --in exercises. "
        if inside
        else "grade: course is a course, not your work. To grade its stubs: grade --in"
        " course/exercises. "
    )
    assert contents(tmp_path) == before
    (course / "my-work").mkdir()
    (course / "my-work" / ".gradlings.json").write_text("{}")
    place_of_work = "my-work" if inside else "course/my-work"
    run = grade(place, *words)
    assert run.err == f"grade: Your work is in another folder. Go there: cd {place_of_work}\n"


@pytest.mark.parametrize("words", [[], ["tiny"], ["next"]])
def test_a_course_two_folders_below_is_not_the_users_work(
    grade: Grade, words: list[str], tmp_path: Path, small_course: Course
) -> None:
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(small_course.root, tmp_path / "student" / "course", ignore=without)
    assert "student/course is a course, not your work" in grade(tmp_path, *words).err
    work = tmp_path / "student" / "mine"
    work.mkdir()
    (work / ".gradlings.json").write_text("{}")
    (work / "tiny.py").write_text(RIGHT)
    run = grade(tmp_path, *words)
    assert run.err == "grade: Your work is in another folder. Go there: cd student/mine\n"


def test_a_solution_of_a_course_is_nobodys_work(tmp_path: Path, small_course: Course) -> None:
    without = shutil.ignore_patterns("__pycache__")
    shutil.copytree(small_course.root, tmp_path / "a" / "b" / "course", ignore=without)
    work = tmp_path / "a" / "b" / "work"
    (work / "deep").mkdir(parents=True)
    (work / "deep" / "tiny.py").write_text(RIGHT)
    assert read_submission(tmp_path, ["tiny"])["tiny"].path == "a/b/work/deep/tiny.py"


def test_the_page_of_a_run_in_a_lessons_folder_is_that_of_the_work_folder(
    grade: Grade, tmp_path: Path
) -> None:
    (tmp_path / ".gradlings.json").write_text("{}")
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "tiny.py").write_text(RIGHT)
    run = grade(tmp_path / "tiny", "tiny")
    assert "10 / 10   ../report.html" in run.out
    assert (tmp_path / "report.html").exists() and not (run.folder / "report.html").exists()


def test_an_ascii_terminal_can_show_a_report(grade: Grade, write_tiny: Write) -> None:
    """No mark becomes a question mark; a letter loses its accent at most."""
    folder = write_tiny("def double(x):\n    raise ValueError('né – “x”')\n")
    run = grade(folder, encoding="ascii")
    assert "?" not in run.out
    assert 'ne - "x"' in run.out
    assert run.out.startswith("tiny  0 / 10  3 wrong - 1 raised - ")
    every = "".join(mark for kind in (Outcome, LessonStatus) for mark in (one.mark for one in kind))
    shown, _ = stand_in(UnicodeEncodeError("ascii", every, 0, len(every), ""))
    assert "?" not in shown
