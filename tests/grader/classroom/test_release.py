"""The students' bundle grades what it contains, says what it holds back, and gives nothing away."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import polib
import pytest
import yaml
from in_process import Run

from grader.classroom.publish.release import (
    HINT_STEPS,
    Released,
    check_names,
    checks_to_hand_out,
    lesson_files,
    reachable_definitions,
    refuse_leaks,
    regions,
    texts_in,
    without_names,
    words_in,
    write_release,
)
from grader.core.errors import CourseError, UsageError
from grader.course.course import Course, HeldBack, find_course, load_course

pytestmark = [pytest.mark.fork, pytest.mark.usefixtures("lent_host")]

RIGHT = "def double(x): return 2 * x\ndef triple(x): return 3 * x\nLIMIT = 20.0\n"
VISIBLE = '''

@check(points=1, about="double", needs="test_gradient_of_double")
def test_double_of_nothing(student, draw):
    """double of nothing is nothing"""
    x = draw.tensor(0)
    assert_tensor(student.double(x), x, inputs={"x": x})


@check(points=0.5, about="triple")
def test_triple_as_the_reference(student, reference, draw):
    """triple is as the reference has it"""
    x = draw.tensor(2)
    assert_tensor(student.triple(x), reference.triple(x), inputs={"x": x})


@check(points=0.5, about="LIMIT", needs="test_triple_as_the_reference")
def test_limit_of_numbers(student):
    """LIMIT can be added to"""
    student.LIMIT + 1
'''
CATALOGUE = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8"

msgid "double returns twice x"
msgstr "double은 x의 두 배입니다"

msgid "the gradient of double is twice the incoming one"
msgstr "double의 gradient"
"""


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory, small_course: Course) -> Course:
    """Return the small course with visible checks that need a hidden check or the reference, and a
    catalogue.
    """
    root = Path(shutil.copytree(small_course.root, tmp_path_factory.mktemp("course") / "course"))
    with (root / "tests" / "checks" / "tiny" / "test_visible.py").open("a") as checks:
        checks.write(VISIBLE)
    with (root / "tests" / "checks" / "tiny" / "diagnosis.py").open("a") as rules:
        rules.write("\n\nONLY = ('test_double', 'test_gradient_of_double')\n")
    with (root / "tests" / "checks" / "tiny" / "scenarios.py").open("a") as scenarios:
        scenarios.write("\n\ndef unused(student):\n    return 1\n")
    (root / "exercises" / "tiny" / "ko.po").write_text(CATALOGUE, "utf-8")
    return load_course(root)


@pytest.fixture(scope="module")
def released_bundle(
    course: Course, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[Released]]:
    """Return a bundle and the command's output."""
    folder = tmp_path_factory.mktemp("released") / "handout"
    return folder, write_release(course, course.lessons, folder)


def files_of(folder: Path) -> dict[str, str]:
    """Return every file's text by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def grade_process(bundle: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the bundle's own engine in it, as a student does."""
    environment = {
        name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ
    }
    environment |= {
        "PYTHONPATH": str(bundle / "engine"),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(
        command,
        cwd=bundle,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


# --------------------------------------------------------------------------------- what is in there


def test_a_bundle_holds_what_students_need(released_bundle: tuple[Path, list[Released]]) -> None:
    found = files_of(released_bundle[0])
    exercises, checks = "course/exercises/tiny", "course/tests/checks/tiny"
    assert {path for path in found if "tiny" in path} == {
        "tiny/tiny.py",
        "tiny/README.md",
        f"{exercises}/tiny.py",
        f"{exercises}/hints.toml",
        f"{exercises}/ko.po",
        f"{checks}/test_visible.py",
        f"{checks}/scenarios.py",
        f"{checks}/diagnosis.py",
        f"{checks}/diagnosis.toml",
    }
    beside = (".github", "course/exercises/course", "course/exercises/release")
    front = {path for path in found if "/" not in path or path.startswith(beside)}
    assert front == {
        "README.md",
        "README.ko.md",
        ".gitignore",
        ".github/workflows/grade.yml",
        "course/exercises/course.toml",
        "course/exercises/release.toml",
    }
    assert "engine/grader/_templates/report.html" in found
    assert "engine/grader/judge/common_mistakes.toml" in found
    assert "engine/pyproject.toml" in found


def test_a_bundle_holds_no_hidden_check_and_no_solution(
    released_bundle: tuple[Path, list[Released]], course: Course
) -> None:
    """Every file is searched for hidden checks' names and titles and for solutions' regions."""
    lesson = course.lesson("tiny")
    hidden = lesson.hidden_checks[0].read_text("utf-8")
    names = re.findall(r"^def (test_\w+)", hidden, re.MULTILINE)
    titles = re.findall(r'^    """(.+)"""$', hidden, re.MULTILINE)
    assert len(names) == len(titles) == 4
    wanted = re.findall(
        r"^ *# solution\n((?:.*\n)*?) *# end solution",
        lesson.solution.read_text("utf-8"),
        re.MULTILINE,
    )
    assert len(wanted) == 3
    for path, text in files_of(released_bundle[0]).items():
        for word in (*names, *titles):
            assert not re.search(rf"\b{re.escape(word)}\b", text), path
        if not path.startswith("engine/"):
            for region in wanted:
                assert region.splitlines()[-1] not in text.splitlines(), path


def test_a_bundle_says_how_much_it_holds_back(released_bundle: tuple[Path, list[Released]]) -> None:
    """Hidden checks count, and visible ones that ask the reference; bonus is separate."""
    folder, released = released_bundle
    assert released == [Released("tiny", 4, 6.5, HeldBack(5, 5.5))]
    assert load_course(folder / "course").lesson("tiny").held == HeldBack(5, 5.5)
    readme = " ".join((folder / "README.md").read_text("utf-8").split())
    assert "worth 6.5 points. 5 more checks, worth 5.5 points, are held back" in readme
    assert "6.5점" in (folder / "README.ko.md").read_text("utf-8")


def test_a_catalogue_in_a_bundle_has_no_text_of_hidden_checks(
    released_bundle: tuple[Path, list[Released]],
) -> None:
    catalogue = polib.pofile(str(released_bundle[0] / "course" / "exercises" / "tiny" / "ko.po"))
    assert [entry.msgid for entry in catalogue] == ["double returns twice x"]


@pytest.fixture(scope="module")
def clone(
    released_bundle: tuple[Path, list[Released]], tmp_path_factory: pytest.TempPathFactory
) -> Path:
    """Return a clone of a repository that an instructor made of the bundle."""
    place = tmp_path_factory.mktemp("repository")
    handout = Path(shutil.copytree(released_bundle[0], place / "handout"))
    git(handout, "init", "--quiet")
    git(handout, "add", "--all")
    git(
        handout,
        "-c",
        "user.name=i",
        "-c",
        "user.email=i@school.example",
        "commit",
        "--quiet",
        "--message",
        "lessons",
    )
    git(place, "clone", "--quiet", "handout", "clone")
    return place / "clone"


def git(folder: Path, *words: str) -> None:
    """Run git without anybody's settings."""
    subprocess.run(
        ["git", *words],
        cwd=folder,
        check=True,
        env={**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"},
    )


def test_a_clone_of_a_bundle_is_all_of_it(
    released_bundle: tuple[Path, list[Released]], clone: Path
) -> None:
    """Its .gitignore excludes files only where learners make them."""
    there = {path.relative_to(clone).as_posix() for path in clone.rglob("*") if path.is_file()}
    assert {path for path in there if not path.startswith(".git/")} == set(
        files_of(released_bundle[0])
    )


def test_the_workflows_steps_install_and_grade_a_clone(clone: Path, tmp_path: Path) -> None:
    """Each ``run:`` is executed as by the runner; pip only resolves, and the engine runs from its
    source.
    """
    shims, summary = tmp_path / "bin", tmp_path / "summary.md"
    shims.mkdir()
    for name, does in {
        "pip": f'echo "$@" >> {tmp_path}/pip',
        "grade": f'exec "{sys.executable}" -m grader "$@"',
    }.items():
        (shims / name).write_text(f"#!/bin/sh\n{does}\n")
        (shims / name).chmod(0o755)
    (clone / "tiny" / "tiny.py").write_text(RIGHT.replace("2 * x", "x * x"), "utf-8")
    environment = {name: os.environ[name] for name in ("HOME", "TMPDIR") if name in os.environ} | {
        "PATH": f"{shims}:{os.environ['PATH']}",
        "PYTHONPATH": str(clone / "engine"),
        "LANG": "C.UTF-8",
        "PYTHONDONTWRITEBYTECODE": "1",
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTIONS": "true",
    }
    steps = yaml.safe_load((clone / ".github" / "workflows" / "grade.yml").read_text("utf-8"))[
        "jobs"
    ]["grade"]["steps"]
    commands = [step["run"] for step in steps if "run" in step]
    given: dict[str, Any] = {
        "cwd": clone,
        "env": environment,
        "capture_output": True,
        "text": True,
        "timeout": 120,
    }
    installed, graded = (
        subprocess.run(["bash", "-e", "-c", command], check=False, **given) for command in commands
    )
    assert (installed.returncode, graded.returncode, graded.stderr) == (0, 1, "")
    assert (tmp_path / "pip").read_text().splitlines()[-1] == "install ./engine"
    (annotation,) = [line for line in graded.stdout.splitlines() if line.startswith("::error ")]
    assert annotation.startswith(
        "::error file=tiny/tiny.py,line=1,title=tiny%3A double returns twice x::"
    )
    assert summary.read_text("utf-8").startswith("## clone: ")


@pytest.mark.proof  # test_packaging builds the same engine's wheel
def test_the_engine_in_a_bundle_is_installed_whole(
    released_bundle: tuple[Path, list[Released]], tmp_path: Path
) -> None:
    """Files that the bundle's .gitignore names, such as report.html, are part of the installed
    engine.
    """
    backend = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    # A copy, because pip leaves its traces where it builds.
    bundle = Path(shutil.copytree(released_bundle[0], tmp_path / "bundle"))
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "./engine",
        "--no-deps",
        "--quiet",
        *backend,
        "--wheel-dir",
        str(tmp_path),
    ]
    subprocess.run(
        command, check=True, cwd=bundle, env={**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    )
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        installed = {name for name in wheel.namelist() if name.startswith("grader/")}
    assert installed == {
        path.removeprefix("engine/")
        for path in files_of(released_bundle[0])
        if path.startswith("engine/grader/")
    }


# ----------------------------------------------------------------------------------- grading in one


def test_in_a_bundle_all_right_is_never_full_marks(
    released_bundle: tuple[Path, list[Released]], tmp_path: Path
) -> None:
    """Terminal, page and JSON say what is held back; the exit code is 0 because nothing here is
    wrong.
    """
    bundle = Path(shutil.copytree(released_bundle[0], tmp_path / "bundle"))
    (bundle / "tiny" / "tiny.py").write_text(RIGHT, "utf-8")
    run = grade_process(bundle, "--json", "report.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("tiny  6.5 / 12  4 right · 5 held back\n")
    assert "5.5 points held back" in run.stdout
    data: dict[str, Any] = json.loads((bundle / "report.json").read_text("utf-8"))
    jsonschema.validate(
        data,
        json.loads(
            (bundle / "engine" / "grader" / "core" / "report.schema.json").read_text("utf-8")
        ),
    )
    (lesson,) = data["lessons"]
    found = [lesson[key] for key in ("status", "score", "max_score", "held_checks", "held_points")]
    assert found == ["failed", 6.5, 12.0, 5, 5.5]
    page = (bundle / "report.html").read_text("utf-8")
    assert "5 checks, worth 5.5 points, don&#39;t run in this bundle" in page
    assert "complete" not in page


@pytest.fixture
def engine_of_the_bundle(
    released_bundle: tuple[Path, list[Released]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Let this engine look for courses as one in a bundle does: it has none of its own."""
    monkeypatch.setattr("grader.course.course.PACKAGED_COURSE", released_bundle[0] / "nowhere")
    monkeypatch.setattr("grader.course.course.CHECKOUT", released_bundle[0] / "engine")


@pytest.mark.usefixtures("engine_of_the_bundle")
def test_in_a_bundle_mistakes_are_named(
    grade: Callable[..., Run], released_bundle: tuple[Path, list[Released]], tmp_path: Path
) -> None:
    """This also works from a folder inside it."""
    bundle = Path(shutil.copytree(released_bundle[0], tmp_path / "bundle"))
    (bundle / "tiny" / "tiny.py").write_text(RIGHT.replace("2 * x", "x * x"), "utf-8")
    run = grade(bundle, "--in", "tiny", "--no-html")
    assert run.code == 1
    assert "Looks like: x is squared." in run.out


def test_an_engine_with_a_course_never_takes_a_bundles(
    released_bundle: tuple[Path, list[Released]], request: pytest.FixtureRequest
) -> None:
    """Otherwise, grading a student's folder would run checks from that folder."""
    assert find_course(None, here=released_bundle[0]) == find_course(None)
    request.getfixturevalue("engine_of_the_bundle")
    assert find_course(None, here=released_bundle[0] / "tiny") == released_bundle[0] / "course"
    with pytest.raises(CourseError):
        find_course(None, here=released_bundle[0].parent)


def test_a_lesson_in_a_bundle_waits_for_none_that_is_not_in_it(tmp_path: Path) -> None:
    exercises = tmp_path / "exercises"
    exercises.mkdir()
    lessons = (
        f'[[lesson]]\nid = "{name}"\ntitle = "T"\nsummary = "S"\nnames = []\nbuilds_on = {needs}\n'
        for name, needs in (("a", []), ("b", ["a"]), ("c", ["a", "b"]))
    )
    (exercises / "course.toml").write_text(
        'id = "x"\ntitle = "X"\nversion = "1"\n' + "".join(lessons), "utf-8"
    )
    (exercises / "release.toml").write_text(
        "[b]\nchecks = 1\npoints = 1.0\n[c]\nchecks = 0\npoints = 0\n", "utf-8"
    )
    assert [(lesson.id, lesson.builds_on) for lesson in load_course(tmp_path).lessons] == [
        ("b", ()),
        ("c", ("b",)),
    ]


# ----------------------------------------------------------------------------------------- refusals


def test_a_folder_that_holds_anything_is_left_alone(course: Course, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        write_release(course, course.lessons, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_bundle_is_not_released_again(
    released_bundle: tuple[Path, list[Released]], tmp_path: Path
) -> None:
    bundled = load_course(released_bundle[0] / "course")
    with pytest.raises(UsageError, match="folder that grade release made"):
        write_release(bundled, bundled.lessons, tmp_path / "again")


def test_a_reference_that_does_not_pass_stops_a_release(
    small_course: Course, tmp_path: Path
) -> None:
    """Nothing is left behind."""
    course = load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    solution = course.lesson("tiny").solution
    solution.write_text(solution.read_text("utf-8").replace("2 * x", "5 * x"), "utf-8")
    with pytest.raises(CourseError, match=r"tiny\.double does not pass.*grade verify tiny"):
        write_release(course, course.lessons, tmp_path / "out" / "handout")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_course_that_gives_itself_away_is_not_released(
    small_course: Course, tmp_path: Path
) -> None:
    """A README has a line of the solution; nothing is left behind."""
    course = load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    (course.lesson("tiny").folder / "README.md").write_text(
        "Write this:\n\n    return 3 * x\n", "utf-8"
    )
    with pytest.raises(
        CourseError,
        match=r"tiny/README.md would contain a part of the solution of tiny: 'return 3 \* x'",
    ):
        write_release(course, course.lessons, tmp_path / "out" / "handout")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("see test_limit\n", "hidden check test_limit"),
        ("a\n  return 2 * x\n", "part of the solution of tiny"),
    ],
)
def test_a_leak_is_refused_with_its_file(
    text: str, said: str, course: Course, tmp_path: Path
) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "README.md").write_text(text, "utf-8")
    with pytest.raises(CourseError, match=rf"tiny/README.md would .*{said}"):
        refuse_leaks(tmp_path, course.lessons)


# -------------------------------------------------------------------------------------- withholding


def test_names_of_checks_are_replaced_whole() -> None:
    assert without_names("test_a test_ab 'test_a'", ["test_a"]) == "held_back test_ab 'held_back'"
    assert without_names("test_a", []) == "test_a"


def test_only_what_is_reached_stays() -> None:
    """Definitions may be reached through others or decorators; imports and the docstring always
    stay.
    """
    used = "A = 1\nB = A + 1\n\n\n@wraps\ndef used():\n    return B\n"
    code = f'"""Doc."""\nimport os\n\n{used}\n\ndef unused():\n    return os\n\n\nC: int = 2\n'
    assert reachable_definitions(code, ["used"]) == f'"""Doc."""\nimport os\n\n{used}'
    assert reachable_definitions(code, ["C"]) == '"""Doc."""\nimport os\n\nC: int = 2\n'


def test_words_are_names_attributes_and_texts_that_could_be_names() -> None:
    assert {"helpers", "said", "passes"} <= words_in("helpers.said('passes', 'not a name')")
    assert "not a name" not in words_in("f('not a name')")


def test_scenarios_are_kept_where_a_check_or_a_rule_names_them(course: Course) -> None:
    assert "def unused" not in checks_to_hand_out(course.lesson("tiny"))["scenarios.py"]


def test_regions_are_what_the_stub_has_not() -> None:
    assert list(regions("# solution\n# stub: A = ...\nA = 1\n# why\n# end solution\nB = 2\n")) == [
        ("A = 1",)
    ]


def test_texts_are_constants_and_first_lines() -> None:
    assert {"one two", "Title"} <= texts_in(
        "def f():\n    '''Title\n\n    more'''\n    g('one '\n      'two')\n"
    )
    assert check_names("def test_a(): pass\ndef helper(): pass\n") == ("test_a",)


@pytest.mark.parametrize(
    ("name", "refused"), [("diagnosis.py", True), ("ko.po", True), ("README.md", False)]
)
def test_a_solution_inside_a_line_is_a_leak_except_in_teaching(
    name: str, refused: bool, course: Course, tmp_path: Path
) -> None:
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / name).write_text('# such as "return 2 * x" here\n', "utf-8")
    with (
        pytest.raises(CourseError, match="part of the solution")
        if refused
        else contextlib.nullcontext()
    ):
        refuse_leaks(tmp_path, course.lessons)


def test_a_hint_that_is_the_answer_is_not_handed_out(small_course: Course, tmp_path: Path) -> None:
    """Neither the hint nor its translation is; the steps before it are."""
    course = load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    lesson = course.lesson("tiny")
    steps = ['Say "twice".\n', "In code: `return 2 * x`, no more."]
    (lesson.folder / "hints.toml").write_text(f"double = {json.dumps(steps)}\n", "utf-8")
    (lesson.folder / "ko.po").write_text(
        CATALOGUE + f'\nmsgid "{steps[1]}"\nmsgstr "return 2 * x"\n', "utf-8"
    )
    found = dict(lesson_files(lesson, 3))
    assert tomllib.loads(found["course/exercises/tiny/hints.toml"]) == {"double": steps[:1]}
    assert not any("return 2 * x" in text for text in found.values())


@pytest.mark.parametrize(("hints", "count"), [("none", 0), ("nudge", 1), ("all", 3)])
def test_as_many_steps_of_hints_are_handed_out_as_were_asked_for(
    small_course: Course, tmp_path: Path, hints: str, count: int
) -> None:
    """The others are in no file, nor are their translations."""
    course = load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))
    lesson = course.lesson("tiny")
    steps = ["What is twice?", "Add it to itself.", "x + x, and that is all."]
    (lesson.folder / "hints.toml").write_text(f"double = {json.dumps(steps)}\n", "utf-8")
    words = "".join(f'\nmsgid "{step}"\nmsgstr "{step} (ko)"\n' for step in steps)
    (lesson.folder / "ko.po").write_text(CATALOGUE + words, "utf-8")
    found = dict(lesson_files(lesson, HINT_STEPS[hints]))
    given = tomllib.loads(found["course/exercises/tiny/hints.toml"])
    assert given == ({"double": steps[:count]} if count else {})
    for number, step in enumerate(steps):
        assert any(step in text for text in found.values()) is (number < count)


def test_every_visible_check_of_the_course_can_be_judged_in_a_bundle() -> None:
    """None asks the reference, which no bundle has."""
    course = load_course(find_course())
    checks = {
        f"{lesson.id}.{node.name}": {argument.arg for argument in node.args.args}
        for lesson in course.lessons
        for path in lesson.visible_checks
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(checks) > 100
    assert [name for name, fixtures in checks.items() if "reference" in fixtures] == []


@pytest.mark.proof
def test_the_course_is_released_without_a_leak(tmp_path: Path) -> None:
    """No file has a hidden check's name or a solution's
    region; only hidden checks are held back.
    """
    course = load_course(find_course())
    released = write_release(course, course.lessons, tmp_path / "handout")
    for one, lesson in zip(released, course.lessons, strict=True):
        hidden = [
            len(re.findall(r"^def test_", path.read_text("utf-8"), re.MULTILINE))
            for path in lesson.hidden_checks
        ]
        assert (one.lesson, one.held.checks) == (lesson.id, sum(hidden))
    found = files_of(tmp_path / "handout")
    for lesson in course.lessons:
        names = set(
            re.findall(r"^def (test_\w+)", lesson.hidden_checks[0].read_text("utf-8"), re.MULTILINE)
        )
        own = {path: text for path, text in found.items() if f"/{lesson.id}/" in f"/{path}"}
        for path, text in own.items():
            assert not names & set(re.findall(r"\w+", text)), path
            lines = [line.strip() for line in text.splitlines()]
            for region in regions(lesson.solution.read_text("utf-8")):
                # A README teaches: a part of a line may be what a short solution is.
                if path.endswith(".md"):
                    assert not set(region) <= set(lines), (path, region)
                else:
                    assert "\n".join(region) not in "\n".join(lines), (path, region)
