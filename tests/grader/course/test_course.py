"""Read a course from disk: faults are reported with file and entry, and the hash covers what
decides a verdict.
"""

from __future__ import annotations

import ast
import json
import math
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


def course_with(root: Path, *lessons: str) -> Course:
    """Return a course of these lessons that consists only of the manifest."""
    entries = "".join(LESSON.replace('"one"', f'"{name}"') for name in lessons)
    return load_course(course_of(root, HEAD + entries))


@pytest.fixture
def course_copy(small_course: Course, tmp_path: Path) -> Path:
    """Return a copy of the small course, to change."""
    return Path(shutil.copytree(small_course.root, tmp_path / "course"))


# ------------------------------------------------------------------------------------------ reading


def test_a_course_is_read_as_it_stands(small_course: Course) -> None:
    assert (small_course.id, small_course.version) == ("small", "0")
    assert small_course.title == "A course to test the engine with"
    assert (small_course.limits.call_seconds, small_course.limits.lesson_seconds) == (1.5, 20.0)
    (lesson,) = small_course.lessons
    assert (lesson.id, lesson.title) == ("tiny", "Tiny")
    assert lesson.summary == "Two functions and a constant."
    assert (lesson.names, lesson.bonus, lesson.builds_on) == (("double", "triple", "LIMIT"), (), ())


def test_lessons_keep_their_order(tmp_path: Path) -> None:
    """It is the order in which learners meet them, not the alphabetical one."""
    course = course_with(tmp_path, "zeta", "alpha", "mid")
    assert [lesson.id for lesson in course.lessons] == ["zeta", "alpha", "mid"]


def test_what_a_course_does_not_say_is_as_usual(tmp_path: Path) -> None:
    text = HEAD + LESSON.replace('names = ["f"]\n', 'bonus = ["g"]\n')
    course = load_course(course_of(tmp_path, text))
    (lesson,) = course.lessons
    assert (lesson.names, lesson.bonus, lesson.builds_on) == ((), ("g",), ())
    assert course.limits == Limits()


def test_the_files_of_a_lesson_are_those_of_the_layout(small_course: Course) -> None:
    lesson = small_course.lesson("tiny")
    assert [path.name for path in lesson.check_files] == ["test_visible.py", "test_hidden.py"]
    for path in (lesson.stub, lesson.solution, lesson.scenarios, *lesson.check_files):
        assert path.is_file()
    assert lesson.diagnosis == lesson.checks / "diagnosis.toml"
    assert [cell.label for cell in lesson.mistakes] == ["off_by_one", "squares"]
    assert [cell.label for cell in lesson.near_misses] == ["squares", "off_by_one", "off_by_one 2"]
    assert [cell.label for cell in lesson.accepted] == ["adds"]


def test_files_that_a_lesson_may_lack_are_not_there(course_copy: Path) -> None:
    lesson = load_course(course_copy).lesson("tiny")
    for path in (
        *lesson.check_files,
        lesson.folder / "hints.toml",
        lesson.checks / "diagnosis.toml",
    ):
        path.unlink()
    assert (lesson.visible_checks, lesson.hidden_checks) == ("", "")
    assert (lesson.diagnosis, lesson.hints()) == (None, {})


# ------------------------------------------------------------------------------------------- faults

LIMITS = HEAD + LESSON + "[limits]\n"
FAULTS = {
    "no TOML": (HEAD + "title\n", "course.toml:4: Expected '=' after a key"),
    "no lesson": (HEAD, "missing required field `lesson`"),
    "no title of the course": (HEAD.replace("title", "# title") + LESSON, "required field `title`"),
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
        "required field `id` - at `lesson 1`",
    ),
    "a lesson without a title": (
        HEAD + LESSON.replace('title = "One"\n', ""),
        "required field `title` - at `lesson 1`",
    ),
    "a lesson without a summary": (
        HEAD + LESSON + LESSON.replace('summary = "The first."\n', "").replace("one", "two"),
        "required field `summary` - at `lesson 2`",
    ),
    "an unknown key": (
        HEAD + LESSON + 'colour = "red"\n',
        "unknown field `colour` - at `lesson 1`",
    ),
    "an unknown key at the top": (HEAD + 'lang = "en"\n' + LESSON, "unknown field `lang`"),
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
    "the same lesson twice": (HEAD + LESSON + LESSON, "two lessons are called 'one'"),
    "a group of an unknown lesson": (
        HEAD + LESSON + '[[group]]\nid = "a"\ntitle = "A"\nlessons = ["zero"]\n',
        "group 'a' has 'zero', which is not a lesson",
    ),
    "a lesson that builds on none": (
        HEAD + LESSON + 'builds_on = ["zero"]\n',
        "lesson 'one' builds on 'zero', which is not a lesson",
    ),
    "limits that are a number": (
        HEAD.replace("id", "limits = 3\nid", 1) + LESSON,
        "Expected `object`, got `int` - at `$.limits`",
    ),
    "an unknown limit": (
        LIMITS + "speed = 1\n",
        "[limits]: unknown limit 'speed'; there are: call_seconds, ",
    ),
    "a limit of nothing": (LIMITS + "call_seconds = 0\n", "[limits]: call_seconds = 0 is not a"),
    "a limit that is text": (
        LIMITS + 'open_files = "many"\n',
        "[limits]: open_files = 'many' is not a positive number",
    ),
    "a limit without end": (LIMITS + "memory_bytes = inf\n", "[limits]: memory_bytes = inf is not"),
}


@pytest.mark.parametrize(("text", "words"), FAULTS.values(), ids=FAULTS)
def test_a_fault_is_told_with_its_file_and_entry(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(CourseError) as caught:
        load_course(course_of(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'exercises' / 'course.toml'}:")
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
    for text in ('double = "one"', "double = [1]", 'double = ["a", 2]', "[double]\nstep = 1"):
        (lesson.folder / "hints.toml").write_text(text)
        with pytest.raises(CourseError, match=r"hints\.toml: double must be a list of texts"):
            lesson.hints()


# ----------------------------------------------------------------------------------- naming lessons


@pytest.fixture
def three_lessons(tmp_path: Path) -> Course:
    return course_with(tmp_path, "custom_sigmoid", "hooks", "graphs")


@pytest.mark.parametrize("before", ["", "exercises/", "exercises/hooks/", "my work/"])
@pytest.mark.parametrize("after", ["", ".py", "/"])
def test_a_lesson_is_found_by_its_id_its_file_or_its_folder(
    before: str, after: str, three_lessons: Course
) -> None:
    """Names completed by a shell are understood."""
    assert three_lessons.lesson(f"{before}hooks{after}").id == "hooks"


def test_a_lesson_has_the_number_that_the_list_gives_it(three_lessons: Course) -> None:
    assert [three_lessons.lesson(name).id for name in ("1", "3")] == ["custom_sigmoid", "graphs"]
    for name in ("0", "4", "99"):
        with pytest.raises(UsageError, match="Lessons: custom_sigmoid, hooks, graphs"):
            three_lessons.lesson(name)


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("custom_sigmod", "Did you mean custom_sigmoid? All lessons: grade list"),
        ("hook", "Did you mean hooks? All lessons: grade list"),
        ("sigmoid", "Did you mean custom_sigmoid? All lessons: grade list"),
        ("Hooks.py", "Did you mean hooks? All lessons: grade list"),
        ("zzz", "Lessons: custom_sigmoid, hooks, graphs"),
    ],
)
def test_an_unknown_lesson_is_answered_with_the_nearest_or_with_all(
    name: str, answer: str, three_lessons: Course
) -> None:
    with pytest.raises(UsageError) as caught:
        three_lessons.lesson(name)
    assert str(caught.value) == f"There is no lesson {name!r}. {answer}"


# --------------------------------------------------------------------------------------------- hash

DECIDING = [
    "exercises/course.toml",
    "exercises/tiny/hints.toml",
    "exercises/tiny/ko.po",
    "solutions/tiny.py",
    "tests/checks/tiny/test_visible.py",
    "tests/checks/tiny/test_hidden.py",
    "tests/checks/tiny/scenarios.py",
    "tests/checks/tiny/diagnosis.toml",
    "tests/checks/tiny/diagnosis.py",
]
OTHER = [
    "exercises/tiny/README.md",
    "exercises/tiny/tiny.py",  # may hold somebody's work
    "tests/mistakes/tiny.py",
    "tests/accepted/tiny.py",
]


def test_the_hash_depends_neither_on_the_folder_nor_on_line_ends(
    course_copy: Path, small_course: Course
) -> None:
    """A checkout on Windows may have others."""
    for path in course_copy.rglob("*.py"):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_course(course_copy).hash == small_course.hash
    assert len(small_course.hash) == 16
    assert int(small_course.hash, 16)


@pytest.mark.parametrize("name", DECIDING + OTHER)
def test_the_hash_changes_with_every_file_that_decides_a_verdict_and_no_other(
    name: str, course_copy: Path, small_course: Course
) -> None:
    with (course_copy / name).open("a") as stream:
        stream.write("\n# another course\n")
    assert (load_course(course_copy).hash != small_course.hash) is (name in DECIDING)


def test_a_lessons_hash_is_of_its_own_files(three_lessons: Course) -> None:
    """A change of one lesson leaves the verdicts of the others kept."""
    first, *others = three_lessons.lessons
    before = {one.id: three_lessons.hash_now([one]) for one in three_lessons.lessons}
    first.stub.parent.mkdir(parents=True)
    first.stub.write_text("# changed\n")
    assert three_lessons.hash_now([first]) != before[first.id]
    assert all(three_lessons.hash_now([one]) == before[one.id] for one in others)


def test_the_hash_knows_one_file_from_another(course_copy: Path, small_course: Course) -> None:
    """Swapping the contents of two files gives another hash, and so does another name."""
    visible, hidden = load_course(course_copy).lesson("tiny").check_files
    texts = visible.read_bytes(), hidden.read_bytes()
    hidden.write_bytes(texts[0])
    visible.write_bytes(texts[1])
    swapped = load_course(course_copy).hash
    hidden.rename(hidden.with_name("test_zzz.py"))
    assert len({small_course.hash, swapped, load_course(course_copy).hash}) == 3


# ------------------------------------------------------------------------------------------ finding


def test_a_course_that_was_named_is_taken_else_the_one_that_came_along(
    small_course: Course,
) -> None:
    assert find_course(small_course.root) == small_course.root.resolve()
    assert load_course(find_course()).id == "gradlings"


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


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("call_seconds", value) for value in (0, -1, -0.5, True, None, "10", [10], math.nan)),
        ("memory_bytes", math.inf),
        ("cpu_seconds", 0.5),
    ],
)
def test_a_limit_that_is_no_positive_number_is_refused(name: str, value: object) -> None:
    with pytest.raises(ValueError, match=rf"^{name} = .* is not a positive number$"):
        Limits.from_dict({name: value})


# ------------------------------------------------------------------------------------ other courses


PACKAGE = Path(grader.__file__).parent
TORCHS_WORDS = {"retain_graph", "saved_tensors"}
"""Lesson ids that are also words of torch's own."""


@pytest.fixture(scope="module")
def savings_course() -> Course:
    """Return a course about household sums: other words, another lesson, no derivatives."""
    return load_course(Path(__file__).parents[1] / "savings_course")


def test_a_course_about_something_else_is_verified(
    savings_course: Course, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.verify.verify.missing_internals", list)  # a process
    code = verify_course(savings_course, (), seeds=1, workers=1, table=False, write_stubs=False)
    assert code is ExitCode.OK
    assert capsys.readouterr().out.splitlines() == ["1 lesson, 10 gradings, 1 seed: no problems"]


def test_a_submission_to_it_is_graded_and_its_mistake_is_named(
    savings_course: Course, host: ForkServerClient
) -> None:
    lesson = savings_course.lesson("compound_interest")
    wrong = "def grown(amount, rate, years):\n    return amount + amount * rate * years\n"
    files = {lesson.id: LessonFile(lesson.id, lesson.filename, wrong)}
    settings = Settings(4, limits=savings_course.limits)
    report = grade_submission(host, savings_course, [lesson], files, settings, name="mona")
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
    nodes = list(ast.walk(ast.parse(path.read_text("utf-8"))))
    docstrings = {node.value for node in nodes if isinstance(node, ast.Expr)}
    constants = {node for node in nodes if isinstance(node, ast.Constant)} - docstrings
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    return names | {node.value for node in constants if isinstance(node.value, str)}


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


def test_no_lesson_of_ours_is_in_a_template() -> None:
    ids = [lesson.id for lesson in load_course(find_course()).lessons if "_" in lesson.id]
    texts = {path.name: path.read_text("utf-8") for path in PACKAGE.parent.glob("templates/*.html")}
    assert texts
    assert [name for name, text in texts.items() for id in ids if id in text] == []
