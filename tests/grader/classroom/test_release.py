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

import jsonschema
import polib
import pytest
import yaml
from in_process import Run

from grader.classroom.publish.release import (
    HINT_STEPS,
    Released,
    checks_to_hand_out,
    lesson_files,
    reachable_definitions,
    refuse_leaks,
    without_names,
    words_in,
    write_release,
)
from grader.core.errors import CourseError, UsageError
from grader.core.messages import Settings
from grader.course.course import Course, HeldBack, Lesson, check_names, find_course, load_course
from grader.course.lesson_texts import texts_in
from grader.course.stubs import regions, without_markers
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson

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
    for name, text in {
        "test_visible.py": VISIBLE,
        "diagnosis.py": "\n\nONLY = ('test_double', 'test_gradient_of_double')\n",
        "scenarios.py": "\n\ndef unused(student):\n    return 1\n",
    }.items():
        with (root / "tests" / "checks" / "tiny" / name).open("a") as file:
            file.write(text)
    (root / "exercises" / "tiny" / "ko.po").write_text(CATALOGUE, "utf-8")
    return load_course(root)


@pytest.fixture(scope="module")
def released(course: Course, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle."""
    folder = tmp_path_factory.mktemp("released") / "handout"
    assert write_release(course, course.lessons, folder) == [
        Released("tiny", 4, 6.5, HeldBack(5, 5.5))
    ]
    return folder


@pytest.fixture
def bundle(released: Path, tmp_path: Path) -> Path:
    """Return a copy of the bundle, which a test may change."""
    return Path(shutil.copytree(released, tmp_path / "bundle"))


@pytest.fixture
def own_course(small_course: Course, tmp_path: Path) -> Course:
    """Return a copy of the small course, which a test may change."""
    return load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))


def files_of(folder: Path) -> dict[str, str]:
    """Return every file's text by its path."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*")
        if path.is_file()
    }


def run_in(bundle: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command in a bundle with its own engine, as a student does."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    ours = {"PYTHONPATH": str(bundle / "engine"), "LANG": "C.UTF-8", "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(
        command,
        cwd=bundle,
        env=kept | ours | environment,
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
    )


# --------------------------------------------------------------------------------- what is in there


def test_a_bundle_holds_what_students_need(released: Path) -> None:
    found = files_of(released)
    checks = ("test_visible.py", "scenarios.py", "diagnosis.py", "diagnosis.toml")
    assert {path for path in found if "tiny" in path} == {
        "tiny/tiny.py",
        "tiny/README.md",
        *(f"course/exercises/tiny/{name}" for name in ("tiny.py", "hints.toml", "ko.po")),
        *(f"course/tests/checks/tiny/{name}" for name in checks),
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
    engine = {"grader/_templates/report.html", "grader/judge/common_mistakes.toml"}
    assert {f"engine/{path}" for path in (*engine, "pyproject.toml")} <= found.keys()


def test_a_bundle_holds_no_hidden_check_and_no_solution(released: Path, course: Course) -> None:
    """Every file is searched for hidden checks' names and titles and for solutions' regions."""
    lesson = course.lesson("tiny")
    hidden = lesson.hidden_checks
    names = re.findall(r"^def (test_\w+)", hidden, re.MULTILINE)
    titles = re.findall(r'^    """(.+)"""$', hidden, re.MULTILINE)
    assert len(names) == len(titles) == 4
    solution = lesson.solution.read_text("utf-8")
    wanted = re.findall(r"^ *# solution\n((?:.*\n)*?) *# end solution", solution, re.MULTILINE)
    assert len(wanted) == 3
    for path, text in files_of(released).items():
        for word in (*names, *titles):
            assert not re.search(rf"\b{re.escape(word)}\b", text), path
        if not path.startswith("engine/"):
            for region in wanted:
                assert region.splitlines()[-1] not in text.splitlines(), path


def test_a_bundle_says_how_much_it_holds_back(released: Path) -> None:
    """Hidden checks count, and visible ones that ask the reference; bonus is separate."""
    assert load_course(released / "course").lesson("tiny").held == HeldBack(5, 5.5)
    readme = " ".join((released / "README.md").read_text("utf-8").split())
    assert "worth 6.5 points. 5 more checks, worth 5.5 points, are held back" in readme
    assert "6.5점" in (released / "README.ko.md").read_text("utf-8")


def test_a_catalogue_in_a_bundle_has_no_text_of_hidden_checks(released: Path) -> None:
    catalogue = polib.pofile(str(released / "course" / "exercises" / "tiny" / "ko.po"))
    assert [entry.msgid for entry in catalogue] == ["double returns twice x"]


@pytest.fixture(scope="module")
def clone(released: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a clone of a repository that an instructor made of the bundle, with no settings."""
    place = tmp_path_factory.mktemp("repository")
    handout = Path(shutil.copytree(released, place / "handout"))
    plain = {**os.environ, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    for command in (
        "git init --quiet",
        "git add --all",
        "git -c user.name=i -c user.email=i@school.example commit --quiet --message lessons",
        "git clone --quiet . ../clone",
    ):
        subprocess.run(command.split(), cwd=handout, check=True, env=plain)
    return place / "clone"


def test_a_clone_of_a_bundle_is_all_of_it(released: Path, clone: Path) -> None:
    """Its .gitignore excludes files only where learners make them."""
    there = {path.relative_to(clone).as_posix() for path in clone.rglob("*") if path.is_file()}
    assert {path for path in there if not path.startswith(".git/")} == set(files_of(released))


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
    environment = {
        "PATH": f"{shims}:{os.environ['PATH']}",
        "GITHUB_WORKSPACE": str(clone),
        "GITHUB_STEP_SUMMARY": str(summary),
        "GITHUB_ACTIONS": "true",
    }
    workflow = yaml.safe_load((clone / ".github" / "workflows" / "grade.yml").read_text("utf-8"))
    commands = [step["run"] for step in workflow["jobs"]["grade"]["steps"] if "run" in step]
    installed, graded = (
        run_in(clone, "bash", "-e", "-c", command, **environment) for command in commands
    )
    assert (installed.returncode, graded.returncode, graded.stderr) == (0, 1, "")
    assert (tmp_path / "pip").read_text().splitlines()[-1] == "install ./engine"
    (annotation,) = [line for line in graded.stdout.splitlines() if line.startswith("::error ")]
    place = "::error file=tiny/tiny.py,line=1,title=tiny%3A double returns twice x::"
    assert annotation.startswith(place)
    assert summary.read_text("utf-8").startswith("## clone: ")


@pytest.mark.proof  # test_packaging builds the same engine's wheel
def test_the_engine_in_a_bundle_is_installed_whole(bundle: Path, tmp_path: Path) -> None:
    """Files that the bundle's .gitignore names, such as report.html, are part of the installed
    engine.
    """
    wanted = set(files_of(bundle / "engine"))
    options = ["--no-deps", "--quiet", "--wheel-dir", str(tmp_path)]
    options += ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    command = [sys.executable, "-m", "pip", "wheel", "./engine", *options]
    quiet = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(command, check=True, cwd=bundle, env=quiet)
    with zipfile.ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        installed = {name for name in wheel.namelist() if name.startswith("grader/")}
    assert installed == {path for path in wanted if path.startswith("grader/")}


# ----------------------------------------------------------------------------------- grading in one


def test_in_a_bundle_all_right_is_never_full_marks(bundle: Path) -> None:
    """Terminal, page and JSON say what is held back; the exit code is 0 because nothing here is
    wrong.
    """
    (bundle / "tiny" / "tiny.py").write_text(RIGHT, "utf-8")
    run = run_in(bundle, sys.executable, "-m", "grader", "--json", "report.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("tiny  6.5 / 12  4 right · 5 held back\n")
    assert "5.5 points held back" in run.stdout
    report, schema = bundle / "report.json", bundle / "engine/grader/core/report.schema.json"
    data = json.loads(report.read_text("utf-8"))
    jsonschema.validate(data, json.loads(schema.read_text("utf-8")))
    (lesson,) = data["lessons"]
    found = [lesson[key] for key in ("status", "score", "max_score", "held_checks", "held_points")]
    assert found == ["failed", 6.5, 12.0, 5, 5.5]
    page = (bundle / "report.html").read_text("utf-8")
    assert "5 checks, worth 5.5 points, don&#39;t run in this bundle" in page
    assert "complete" not in page


@pytest.fixture
def engine_of_the_bundle(released: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let this engine look for courses as one in a bundle does: it has none of its own."""
    monkeypatch.setattr("grader.course.course.PACKAGED_COURSE", released / "nowhere")
    monkeypatch.setattr("grader.course.course.CHECKOUT", released / "engine")


@pytest.mark.usefixtures("engine_of_the_bundle")
def test_in_a_bundle_mistakes_are_named(grade: Callable[..., Run], bundle: Path) -> None:
    """This also works from a folder inside it."""
    (bundle / "tiny" / "tiny.py").write_text(RIGHT.replace("2 * x", "x * x"), "utf-8")
    run = grade(bundle, "--in", "tiny", "--no-html")
    assert run.code == 1
    assert "Looks like: x is squared." in run.out


def test_an_engine_with_a_course_never_takes_a_bundles(
    released: Path, request: pytest.FixtureRequest
) -> None:
    """Otherwise, grading a student's folder would run checks from that folder."""
    assert find_course(None, here=released) == find_course(None)
    request.getfixturevalue("engine_of_the_bundle")
    assert find_course(None, here=released / "tiny") == released / "course"
    with pytest.raises(CourseError):
        find_course(None, here=released.parent)


def test_a_lesson_in_a_bundle_waits_for_none_that_is_not_in_it(tmp_path: Path) -> None:
    exercises = tmp_path / "exercises"
    exercises.mkdir()
    lessons = (
        f'[[lesson]]\nid = "{name}"\ntitle = "T"\nsummary = "S"\nnames = []\nbuilds_on = {needs}\n'
        for name, needs in (("a", []), ("b", ["a"]), ("c", ["a", "b"]))
    )
    course = 'id = "x"\ntitle = "X"\nversion = "1"\n' + "".join(lessons)
    release = "[b]\nchecks = 1\npoints = 1.0\n[c]\nchecks = 0\npoints = 0\n"
    (exercises / "course.toml").write_text(course, "utf-8")
    (exercises / "release.toml").write_text(release, "utf-8")
    found = [(lesson.id, lesson.builds_on) for lesson in load_course(tmp_path).lessons]
    assert found == [("b", ()), ("c", ("b",))]


# ----------------------------------------------------------------------------------------- refusals


def test_a_folder_that_holds_anything_is_left_alone(course: Course, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(UsageError, match="not empty"):
        write_release(course, course.lessons, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_bundle_is_not_released_again(released: Path, tmp_path: Path) -> None:
    bundled = load_course(released / "course")
    with pytest.raises(UsageError, match="folder that grade release made"):
        write_release(bundled, bundled.lessons, tmp_path / "again")


@pytest.mark.parametrize(
    ("path", "old", "new", "said"),
    [
        ("solutions/tiny.py", "2 * x", "5 * x", r"tiny\.double does not pass.*grade verify tiny"),
        (
            "exercises/tiny/README.md",
            "\n",
            "\n    return 3 * x\n",
            r"tiny/README.md would contain a part of the solution of tiny: 'return 3 \* x'",
        ),
    ],
    ids=["the reference does not pass", "a README has a line of the solution"],
)
def test_a_broken_course_is_not_released_and_nothing_is_left_behind(
    path: str, old: str, new: str, said: str, own_course: Course, tmp_path: Path
) -> None:
    file = own_course.root / path
    file.write_text(file.read_text("utf-8").replace(old, new), "utf-8")
    with pytest.raises(CourseError, match=said):
        write_release(own_course, own_course.lessons, tmp_path / "out" / "handout")
    assert list((tmp_path / "out").iterdir()) == []


SOLUTION = "part of the solution of tiny"
INSIDE = '# such as "return 2 * x" here\n'


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("README.md", "see test_limit\n", "hidden check test_limit"),
        ("README.md", "a\n  return 2 * x\n", SOLUTION),
        ("README.md", INSIDE, None),
        ("diagnosis.py", INSIDE, SOLUTION),
        ("ko.po", INSIDE, SOLUTION),
    ],
)
def test_a_leak_is_refused_with_its_file(
    name: str, text: str, said: str | None, course: Course, tmp_path: Path
) -> None:
    """A README teaches, so it may contain the solution as a part of a line."""
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / name).write_text(text, "utf-8")
    refused = pytest.raises(CourseError, match=rf"tiny/{name} would .*{said}")
    with refused if said else contextlib.nullcontext():
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
    solution = "# solution\n# stub: A = ...\nA = 1\n# why\n# end solution\nB = 2\n"
    assert list(regions(solution)) == [("A = 1",)]


def test_texts_are_constants_and_first_lines() -> None:
    code = "def f():\n    '''Title\n\n    more'''\n    g('one '\n      'two')\n"
    assert {"one two", "Title"} <= texts_in(code)
    assert check_names("def test_a(): pass\ndef helper(): pass\n") == ("test_a",)


@pytest.mark.parametrize(
    ("hints", "last", "count"),
    [
        ("none", "x + x, and that is all.", 0),
        ("nudge", "x + x, and that is all.", 1),
        ("all", "x + x, and that is all.", 3),
        ("all", "In code: `return 2 * x`, no more.", 2),
    ],
)
def test_as_many_steps_of_hints_are_handed_out_as_were_asked_for_but_no_answer(
    hints: str, last: str, count: int, own_course: Course
) -> None:
    """The others are in no file, nor are their translations."""
    lesson = own_course.lesson("tiny")
    steps = ["What is 'twice'?", "Add it to itself.", last]
    (lesson.folder / "hints.toml").write_text(f"double = {json.dumps(steps)}\n", "utf-8")
    words = "".join(f'\nmsgid "{step}"\nmsgstr "{step} (ko)"\n' for step in steps)
    (lesson.folder / "ko.po").write_text(CATALOGUE + words, "utf-8")
    found = dict(lesson_files(lesson, HINT_STEPS[hints]))
    given = tomllib.loads(found["course/exercises/tiny/hints.toml"])
    assert given == ({"double": steps[:count]} if count else {})
    for number, step in enumerate(steps):
        assert any(step in text for text in found.values()) is (number < count)


def in_one_file(lesson: Lesson) -> Path:
    """Put a lesson's checks into one file, the hidden ones below the line."""
    visible, hidden = (lesson.checks / f"test_{name}.py" for name in ("visible", "hidden"))
    helper = "\n\ndef only_below():\n    return 1\n"
    _, _, below = hidden.read_text("utf-8").partition("\n@check")
    line = "\n\n# hidden\n\n\nonly_below()\n\n\n@check"
    text = visible.read_text("utf-8") + helper + line + below
    path = lesson.checks / "test_checks.py"
    path.write_text(text, "utf-8")
    visible.unlink()
    hidden.unlink()
    return path


def test_of_checks_in_one_file_those_above_the_line_are_handed_out(own_course: Course) -> None:
    """So are the definitions that they use, and no others."""
    lesson = own_course.lesson("tiny")
    before, names = lesson.check_names, check_names(lesson.hidden_checks)
    assert len(names) > 2
    path = in_one_file(lesson)
    assert path.exists()
    assert (lesson.check_names, check_names(lesson.hidden_checks)) == (before, names)
    given = dict(lesson_files(lesson, 0))["course/tests/checks/tiny/test_checks.py"]
    assert check_names(given) == check_names(lesson.visible_checks)
    assert "# hidden" not in given
    assert "only_below" not in given
    assert set(names).isdisjoint(re.findall(r"\w+", given))


def test_hidden_checks_in_one_file_are_marked_in_reports(
    own_course: Course, host: ForkServerClient
) -> None:
    lesson = own_course.lesson("tiny")
    names = {name.removeprefix("test_") for name in check_names(lesson.hidden_checks)}
    in_one_file(lesson)
    source = without_markers(lesson.solution.read_text("utf-8"))
    file = LessonFile("tiny", "tiny.py", source)
    found = grade_lesson(host, lesson, file, Settings(seed=1)).result.checks
    assert {one.id.partition(".")[2] for one in found if one.hidden} == names


def test_every_visible_check_of_the_course_can_be_judged_in_a_bundle() -> None:
    """None asks the reference, which no bundle has."""
    course = load_course(find_course())
    checks = {
        f"{lesson.id}.{node.name}": {argument.arg for argument in node.args.args}
        for lesson in course.lessons
        for node in ast.parse(lesson.visible_checks).body
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(checks) > 90
    assert [name for name, fixtures in checks.items() if "reference" in fixtures] == []


@pytest.mark.proof
def test_the_course_is_released_without_a_leak(tmp_path: Path) -> None:
    """No file has a hidden check's name or a solution's region; only these are held back."""
    course = load_course(find_course())
    released = write_release(course, course.lessons, tmp_path / "handout")
    found = files_of(tmp_path / "handout")
    for one, lesson in zip(released, course.lessons, strict=True):
        names = check_names(lesson.hidden_checks)
        assert (one.lesson, one.held.checks) == (lesson.id, len(names))
        own = {path: text for path, text in found.items() if f"/{lesson.id}/" in f"/{path}"}
        for path, text in own.items():
            assert set(names).isdisjoint(re.findall(r"\w+", text)), path
            lines = [line.strip() for line in text.splitlines()]
            for region in regions(lesson.solution.read_text("utf-8")):
                # A README teaches: a part of a line may be what a short solution is.
                if path.endswith(".md"):
                    assert not set(region) <= set(lines), (path, region)
                else:
                    assert "\n".join(region) not in "\n".join(lines), (path, region)
