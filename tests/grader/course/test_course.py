"""Read a course from disk: faults are reported with file and entry, and the hash covers what
decides a verdict.
"""

from __future__ import annotations

import ast
import json
import re
import shutil
from pathlib import Path

import jsonschema
import pytest

import grader
from grader.cli.author import verify_course
from grader.core.errors import CourseError, ExitCode, UsageError
from grader.core.limits import Limits
from grader.core.messages import Settings
from grader.course.course import RELEASE, Course, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_submission

HEAD = 'id = "c"\ntitle = "A course"\nversion = "1"\n'
LESSON = '[[lesson]]\nid = "one"\ntitle = "One"\nsummary = "The first."\nnames = ["f"]\n'


def course_of(root: Path, text: str) -> Path:
    """Return the root of a course with that ``course.toml``."""
    (root / "exercises").mkdir(parents=True, exist_ok=True)
    (root / "exercises" / "course.toml").write_text(text, "utf-8")
    return root


@pytest.fixture
def course_copy(small_course: Course, tmp_path: Path) -> Path:
    """Return a copy of the small course, to change."""
    return Path(shutil.copytree(small_course.root, tmp_path / "course"))


# ------------------------------------------------------------------------------------------ reading


def test_a_course_is_read_as_it_stands(small_course: Course) -> None:
    (lesson,) = small_course.lessons
    assert (small_course.id, small_course.title, small_course.version) == (
        "small",
        "A course to test the engine with",
        "0",
    )
    assert (lesson.id, lesson.title, lesson.summary) == (
        "tiny",
        "Tiny",
        "Two functions and a constant.",
    )
    assert (lesson.names, lesson.bonus, lesson.builds_on) == (("double", "triple", "LIMIT"), (), ())
    assert (small_course.limits.call_seconds, small_course.limits.lesson_seconds) == (1.5, 20.0)


def test_lessons_keep_their_order(tmp_path: Path) -> None:
    """It is the order in which learners meet them, not the alphabetical one."""
    text = HEAD + "".join(LESSON.replace('"one"', f'"{name}"') for name in ("zeta", "alpha", "mid"))
    assert [lesson.id for lesson in load_course(course_of(tmp_path, text)).lessons] == [
        "zeta",
        "alpha",
        "mid",
    ]


def test_what_a_lesson_does_not_say_is_empty(tmp_path: Path) -> None:
    (lesson,) = load_course(
        course_of(tmp_path, HEAD + LESSON.replace('names = ["f"]\n', 'bonus = ["g"]\n'))
    ).lessons
    assert (lesson.names, lesson.bonus, lesson.builds_on) == ((), ("g",), ())


def test_a_course_without_limits_has_the_usual_ones(tmp_path: Path) -> None:
    assert load_course(course_of(tmp_path, HEAD + LESSON)).limits == Limits()


def test_the_files_of_a_lesson_are_those_of_the_layout(small_course: Course) -> None:
    lesson = small_course.lesson("tiny")
    for path in (
        lesson.stub,
        lesson.solution,
        lesson.scenarios,
        *lesson.visible_checks,
        *lesson.hidden_checks,
    ):
        assert path.is_file()
    assert lesson.diagnosis == lesson.checks / "diagnosis.toml"
    assert [cell.label for cell in lesson.mistakes] == ["off_by_one", "squares"]
    assert [cell.label for cell in lesson.near_misses] == ["squares"]
    assert [cell.label for cell in lesson.accepted] == ["adds"]


def test_files_that_a_lesson_may_lack_are_not_there(course_copy: Path) -> None:
    lesson = load_course(course_copy).lesson("tiny")
    for path in (
        *lesson.visible_checks,
        *lesson.hidden_checks,
        lesson.folder / "hints.toml",
        lesson.checks / "diagnosis.toml",
    ):
        path.unlink()
    assert (lesson.visible_checks, lesson.hidden_checks, lesson.diagnosis, lesson.hints()) == (
        (),
        (),
        None,
        {},
    )


# ------------------------------------------------------------------------------------------- faults

FAULTS = {
    "no TOML": (HEAD + "title\n", "line 4"),
    "no lesson": (HEAD, "Object missing required field `lesson`"),
    "no title of the course": (
        HEAD.replace("title", "# title") + LESSON,
        "Object missing required field `title`",
    ),
    "an empty version": (
        HEAD.replace('"1"', '""') + LESSON,
        "Expected `str` of length >= 1 - at `$.version`",
    ),
    "a version that is a number": (
        HEAD.replace('"1"', "1") + LESSON,
        "Expected `str`, got `int` - at `$.version`",
    ),
    "a lesson without an id": (
        HEAD + LESSON.replace('id = "one"\n', ""),
        "Object missing required field `id` - at `lesson 1`",
    ),
    "a lesson without a title": (
        HEAD + LESSON.replace('title = "One"\n', ""),
        "Object missing required field `title` - at `lesson 1`",
    ),
    "a lesson without a summary": (
        HEAD + LESSON + LESSON.replace('summary = "The first."\n', "").replace("one", "two"),
        "Object missing required field `summary` - at `lesson 2`",
    ),
    "an unknown key": (
        HEAD + LESSON + 'colour = "red"\n',
        "Object contains unknown field `colour` - at `lesson 1`",
    ),
    "an unknown limit": (
        HEAD + "[limits]\nspeed = 1\n" + LESSON,
        "[limits]: unknown limit 'speed'; there are: call_seconds, ",
    ),
    "a limit of nothing": (
        HEAD + "[limits]\ncall_seconds = 0\n" + LESSON,
        "[limits]: call_seconds = 0 is not a positive number",
    ),
    "a limit that is text": (
        HEAD + '[limits]\nopen_files = "many"\n' + LESSON,
        "[limits]: open_files = 'many' is not a positive number",
    ),
    "lessons that are a number": (HEAD + "lesson = 3\n", "Expected `array`, got `int`"),
    "one lesson in single brackets": (
        HEAD + LESSON.replace("[[lesson]]", "[lesson]"),
        "Expected `array`, got `object` - at `$.lesson`",
    ),
    "a name that is not a list": (
        HEAD + LESSON.replace('["f"]', '"f"'),
        "Expected `array`, got `str` - at `lesson 1.names`",
    ),
    "names that are a number": (HEAD + LESSON.replace('["f"]', "3"), "at `lesson 1.names`"),
    "a name that is a number": (HEAD + LESSON.replace('["f"]', "[3]"), "at `lesson 1.names[0]`"),
    "limits that are a number": (
        HEAD.replace("id", "limits = 3\nid", 1) + LESSON,
        "Expected `object`, got `int` - at `$.limits`",
    ),
    "a limit without end": (
        HEAD + "[limits]\nmemory_bytes = inf\n" + LESSON,
        "[limits]: memory_bytes = inf is not a positive number",
    ),
    "the same lesson twice": (HEAD + LESSON + LESSON, "two lessons are called 'one'"),
    "a lesson that builds on none": (
        HEAD + LESSON + 'builds_on = ["zero"]\n',
        "lesson 'one' builds on 'zero', which is not a lesson",
    ),
    "an unknown key at the top": (
        HEAD + 'lang = "en"\n' + LESSON,
        "Object contains unknown field `lang`",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_told_with_its_file_and_entry(name: str, tmp_path: Path) -> None:
    text, words = FAULTS[name]
    with pytest.raises(CourseError) as caught:
        load_course(course_of(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'exercises' / 'course.toml'}: ")
    assert words in str(caught.value)


def test_a_course_that_is_no_text_or_not_there_is_told_with_its_file(tmp_path: Path) -> None:
    with pytest.raises(CourseError, match=r"course\.toml: .*No such file"):
        load_course(tmp_path)
    course_of(tmp_path, "")
    (tmp_path / "exercises" / "course.toml").write_bytes(b'id = "\xff"\n')
    with pytest.raises(CourseError, match=r"course\.toml: .*codec can't decode"):
        load_course(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "tiny = 3\n",
        "[tiny]\nchecks = 1\n",
        "[tiny]\nchecks = 1.5\npoints = 2\n",
        '[tiny]\nchecks = 1\npoints = "2"\n',
    ],
)
def test_a_damaged_list_of_what_is_held_back_is_a_fault(text: str, course_copy: Path) -> None:
    (course_copy / "exercises" / RELEASE).write_text(text)
    with pytest.raises(
        CourseError, match=r"release\.toml: tiny: checks and points must be numbers; get"
    ):
        load_course(course_copy)


def test_hints_are_lists_of_texts(course_copy: Path) -> None:
    lesson = load_course(course_copy).lesson("tiny")
    assert lesson.hints()["double"][0] == "What is x + x?"
    for text in (
        'double = "one"\n',
        "double = [1]\n",
        'double = ["a", 2]\n',
        "[double]\nstep = 1\n",
    ):
        (lesson.folder / "hints.toml").write_text(text)
        with pytest.raises(CourseError, match=r"hints\.toml: double must be a list of texts"):
            lesson.hints()


# ----------------------------------------------------------------------------------- naming lessons


@pytest.fixture
def three_lessons(tmp_path: Path) -> Course:
    """Return a course of three lessons that consists only of the manifest."""
    return load_course(
        course_of(
            tmp_path,
            HEAD
            + "".join(
                LESSON.replace('"one"', f'"{i}"') for i in ("custom_sigmoid", "hooks", "graphs")
            ),
        )
    )


@pytest.mark.parametrize(
    "name",
    [
        "hooks",
        "hooks.py",
        "hooks/",
        "exercises/hooks",
        "exercises/hooks/hooks.py",
        "my work/hooks.py",
    ],
)
def test_a_lesson_is_found_by_its_id_its_file_or_its_folder(
    name: str, three_lessons: Course
) -> None:
    """Names completed by a shell are understood."""
    assert three_lessons.lesson(name).id == "hooks"


@pytest.mark.parametrize(
    ("name", "guess"),
    [
        ("custom_sigmod", "custom_sigmoid"),
        ("hook", "hooks"),
        ("sigmoid", "custom_sigmoid"),
        ("Hooks.py", "hooks"),
    ],
)
def test_an_unknown_lesson_is_answered_with_the_nearest_and_all(
    name: str, guess: str, three_lessons: Course
) -> None:
    with pytest.raises(UsageError) as caught:
        three_lessons.lesson(name)
    assert (
        str(caught.value)
        == f"There is no lesson {name!r}. Did you mean {guess}? All lessons: grade list"
    )


def test_a_name_like_none_of_them_gets_no_guess(three_lessons: Course) -> None:
    with pytest.raises(
        UsageError, match=r"^There is no lesson 'zzz'\. Lessons: custom_sigmoid, hooks, graphs$"
    ):
        three_lessons.lesson("zzz")


# --------------------------------------------------------------------------------------------- hash

DECIDING = [
    "exercises/course.toml",
    "exercises/tiny/tiny.py",
    "exercises/tiny/hints.toml",
    "exercises/tiny/ko.po",
    "solutions/tiny.py",
    "tests/checks/tiny/test_visible.py",
    "tests/checks/tiny/test_hidden.py",
    "tests/checks/tiny/scenarios.py",
    "tests/checks/tiny/diagnosis.toml",
    "tests/checks/tiny/diagnosis.py",
]
OTHER = ["exercises/tiny/README.md", "tests/mistakes/tiny.py", "tests/accepted/tiny.py"]


def test_the_hash_does_not_depend_on_the_folder(course_copy: Path, small_course: Course) -> None:
    assert load_course(course_copy).hash == small_course.hash
    assert len(small_course.hash) == 16
    assert int(small_course.hash, 16)


def test_the_hash_is_the_same_from_a_checkout_with_windows_line_ends(
    course_copy: Path, small_course: Course
) -> None:
    for path in course_copy.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_course(course_copy).hash == small_course.hash


@pytest.mark.parametrize("name", DECIDING)
def test_the_hash_changes_with_every_file_that_decides_a_verdict(
    name: str, course_copy: Path, small_course: Course
) -> None:
    with (course_copy / name).open("a") as stream:
        stream.write("\n# another course\n")
    assert load_course(course_copy).hash != small_course.hash


@pytest.mark.parametrize("name", OTHER)
def test_the_hash_stays_where_no_verdict_can_change(
    name: str, course_copy: Path, small_course: Course
) -> None:
    with (course_copy / name).open("a") as stream:
        stream.write("\nmore\n")
    assert load_course(course_copy).hash == small_course.hash


def test_a_lessons_hash_is_of_its_own_files(three_lessons: Course) -> None:
    """A change of one lesson leaves the verdicts of the others kept."""
    first, *others = three_lessons.lessons
    before = {one.id: three_lessons.hash_now([one]) for one in three_lessons.lessons}
    first.stub.parent.mkdir(parents=True)
    first.stub.write_text("# changed\n")
    assert three_lessons.hash_now([first]) != before[first.id]
    assert all(three_lessons.hash_now([one]) == before[one.id] for one in others)


def test_the_hash_knows_one_file_from_another(course_copy: Path, small_course: Course) -> None:
    """Swapping the contents of two files gives another hash."""
    checks = course_copy / "tests" / "checks" / "tiny"
    visible, hidden = checks / "test_visible.py", checks / "test_hidden.py"
    texts = visible.read_bytes(), hidden.read_bytes()
    hidden.write_bytes(texts[0])
    visible.write_bytes(texts[1])
    assert load_course(course_copy).hash != small_course.hash


def test_the_hash_knows_a_file_by_its_name(course_copy: Path, small_course: Course) -> None:
    """Moving contents from the visible to the hidden checks gives another hash."""
    checks = course_copy / "tests" / "checks" / "tiny"
    (checks / "test_visible.py").rename(checks / "test_zzz.py")
    assert load_course(course_copy).hash != small_course.hash


# ------------------------------------------------------------------------------------------ finding


def test_a_course_that_was_named_is_taken(small_course: Course) -> None:
    assert find_course(small_course.root) == small_course.root.resolve()


def test_without_a_name_it_is_the_one_that_came_along() -> None:
    root = find_course()
    assert load_course(root).id == "gradlings"


def test_the_one_that_came_along_never_stands_in_for_one_that_was_named(tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        find_course(tmp_path)
    assert (
        str(caught.value)
        == f"{tmp_path} holds no course: there is no exercises/course.toml. Give a course's folder"
        " with --course"
    )
    assert caught.value.exit_code is ExitCode.USAGE


# ------------------------------------------------------------------------------------------- limits


def test_limits_come_from_plain_data() -> None:
    """Seconds may be fractions, counts are whole, and missing limits keep their defaults."""
    limits = Limits.from_dict({"call_seconds": 2, "open_files": 8.0})
    assert limits == Limits(call_seconds=2.0, open_files=8)
    assert (type(limits.call_seconds), type(limits.open_files)) == (float, int)
    assert Limits.from_dict({}) == Limits()


@pytest.mark.parametrize("value", [0, -1, -0.5, True, None, "10", [10]])
def test_a_limit_that_is_no_positive_number_is_refused(value: object) -> None:
    with pytest.raises(ValueError, match=r"^call_seconds = .* is not a positive number$"):
        Limits.from_dict({"call_seconds": value})


def test_an_unknown_limit_is_answered_with_all() -> None:
    with pytest.raises(ValueError, match=r"unknown limit 'memory'; there are: .*memory_bytes"):
        Limits.from_dict({"memory": 1})


@pytest.mark.parametrize(
    ("name", "value"),
    [("call_seconds", float("nan")), ("memory_bytes", float("inf")), ("cpu_seconds", 0.5)],
)
def test_a_number_that_is_no_limit_is_refused(name: str, value: float) -> None:
    with pytest.raises(ValueError, match="is not a positive number"):
        Limits.from_dict({name: value})


# ------------------------------------------------------------------------------------ other courses


PACKAGE = Path(grader.__file__).parent
TORCHS_WORDS = {"retain_graph"}
"""Lesson ids that are also words of torch's own."""


@pytest.fixture(scope="module")
def savings_course() -> Course:
    """Return a course about household sums: other words, another lesson, no derivatives."""
    return load_course(Path(__file__).parents[1] / "savings_course")


def test_a_course_about_something_else_is_verified(
    savings_course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.verify.verify.missing_internals", list)  # a process
    assert (
        verify_course(savings_course, (), seeds=1, workers=1, table=False, write_stubs=False)
        is ExitCode.OK
    )
    assert capsys.readouterr().out.splitlines() == ["1 lesson, 8 gradings, 1 seed: no problems"]


def test_a_submission_to_it_is_graded_and_its_mistake_is_named(
    savings_course: Course, host: ForkServerClient
) -> None:
    lesson = savings_course.lesson("compound_interest")
    wrong = "def grown(amount, rate, years):\n    return amount + amount * rate * years\n"
    files = {lesson.id: LessonFile(lesson.id, lesson.filename, wrong)}
    report = grade_submission(
        host,
        savings_course,
        [lesson],
        files,
        Settings(4, limits=savings_course.limits),
        name="mona",
    )
    jsonschema.validate(
        json.loads(json.dumps(report.as_json())),
        json.loads((PACKAGE / "core" / "report.schema.json").read_text("utf-8")),
    )
    assert (report.course.id, report.course.version) == ("household-sums", "3.1")
    named = [check.diagnosis for check in report.lessons[0].checks if check.diagnosis]
    assert named == ["simple_interest"]


def words_of(path: Path) -> set[str]:
    """Return the texts and names in a module's code, without docstrings, which use lessons as
    examples.
    """
    tree = ast.parse(path.read_text("utf-8"))
    docstrings = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    texts = {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and id(node) not in docstrings
    }
    return {text for text in texts if isinstance(text, str)} | {
        node.id for node in ast.walk(tree) if isinstance(node, ast.Name)
    }


def test_no_lesson_of_ours_is_in_the_engines_code() -> None:
    """No text or name contains an id of several words; words of torch's own do not count."""
    ids = [lesson.id for lesson in load_course(find_course()).lessons]
    assert "custom_sigmoid" in ids
    telling = re.compile(
        r"\b(" + "|".join(id for id in ids if "_" in id and id not in TORCHS_WORDS) + r")\b"
    )
    found: dict[str, list[str]] = {}
    for path in PACKAGE.rglob("*.py"):
        if "_course" not in path.parts:
            mine = sorted(word for word in words_of(path) if telling.search(word))
            found |= {path.relative_to(PACKAGE).as_posix(): mine} if mine else {}
    assert found == {}


@pytest.mark.parametrize("folder", ["templates"])
def test_no_lesson_of_ours_is_in_a_template(folder: str) -> None:
    ids = [lesson.id for lesson in load_course(find_course()).lessons if "_" in lesson.id]
    texts = {
        path.name: path.read_text("utf-8")
        for path in (PACKAGE.parent / folder).iterdir()
        if path.suffix == ".html"
    }
    assert texts
    assert [name for name, text in texts.items() for id in ids if id in text] == []
