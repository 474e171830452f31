"""Group unnamed wrong answers by their behavior, and let a teacher name a group."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from in_process import lend

from grader.classroom.gradebook.store import Gradebook
from grader.classroom.statistics.collect import Classroom, collect_statistics
from grader.cli.batch import BatchOptions, grade_class
from grader.cli.gradebook import name_group
from grader.core.errors import ExitCode, UsageError
from grader.course.course import Course, load_course
from grader.course.lesson_texts import read_mistakes
from grader.course.stubs import excerpt
from grader.runtime.client import ForkServerClient

pytestmark = pytest.mark.fork
RIGHT = "\n\ndef triple(x):\n    return 3 * x\n\n\nLIMIT = 20.0\n"
ANSWERS = {
    "ada": "def double(x):\n    return 2 * x + x**2\n",
    "bob": "def squared(x):\n    return x * x\n\n\ndef double(a):\n    return a + a + squared(a)\n",
    "cy": "def double(x):\n    return x * (2 + x)\n",
    "dan": "def double(x):\n    return 2 * x - x**3\n",
    "eve": "def double(x):\n    return x * x\n",
}


@pytest.fixture(autouse=True)
def shared_host(host: ForkServerClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork server that already knows a lesson reads its changed catalogue."""
    lend(host, monkeypatch)


@pytest.fixture
def course(small_course: Course, tmp_path: Path) -> Course:
    return load_course(Path(shutil.copytree(small_course.root, tmp_path / "course")))


def graded(course: Course, folder: Path) -> Classroom:
    place, out = folder / "class", folder / "grades"
    for name, answer in ANSWERS.items():
        (place / name).mkdir(parents=True, exist_ok=True)
        (place / name / "tiny.py").write_text(answer + RIGHT, "utf-8")
    options = BatchOptions(place, out, sandbox="auto", lang="en")
    assert grade_class(course, options) is ExitCode.OK
    with Gradebook.open(out) as book:
        return collect_statistics(book.entries(), book.columns())


def people(room: Classroom) -> list[list[str]]:
    return [[one.name for one in group.people.first] for group in room.groups]


def test_a_named_group_is_told_in_the_next_batch(course: Course, tmp_path: Path) -> None:
    """Answers written differently with the same behavior form one group; known mistakes are in
    none.
    """
    room = graded(course, tmp_path)
    assert people(room) == [["ada", "bob", "cy"], ["dan"]]
    group = room.groups[0]
    page = (tmp_path / "grades" / "class.html").read_text("utf-8")
    assert group.signature in page
    assert "return 2 * x + x**2" in page
    name_group(course, tmp_path / "grades", group.signature[:5], "A square is added", "Drop it.")
    texts = read_mistakes(course.lesson("tiny").checks / "diagnosis.toml")[-1]
    assert (texts.id, texts.about, texts.explanation) == (
        "a_square_is_added",
        ("double",),
        "Drop it.",
    )
    again = graded(load_course(course.root), tmp_path)
    assert people(again) == [["dan"]]
    assert next(one for one in again.mistakes if one.id == texts.id).people.count == 3
    name_group(course, tmp_path / "grades", again.groups[0].signature, "A cube is taken off", "No.")


def test_what_can_not_be_recognized_changes_nothing(course: Course, tmp_path: Path) -> None:
    room = graded(course, tmp_path)
    lesson, signature = course.lesson("tiny"), room.groups[0].signature
    before = lesson.mistakes_file.read_bytes(), (lesson.checks / "diagnosis.toml").read_bytes()
    with pytest.raises(UsageError, match="gets no name"):
        name_group(course, tmp_path / "grades", signature, "A square", "{nothing} of that name")
    with pytest.raises(UsageError, match="There is no group zzz"):
        name_group(course, tmp_path / "grades", "zzz", "A square", "Drop it.")
    after = lesson.mistakes_file.read_bytes(), (lesson.checks / "diagnosis.toml").read_bytes()
    assert after == before


def test_an_excerpt_has_what_a_definition_uses() -> None:
    text = "import torch\n\nK = 2\nL = 3\n\n@torch.no_grad()\ndef f(x):\n    return g(x)\n\n"
    text += "def g(x): return K * x\n\ndef h(x): return L\n"
    assert excerpt(text, "f") == (
        "K = 2\n\n\n@torch.no_grad()\ndef f(x):\n    return g(x)\n\n\ndef g(x): return K * x"
    )
    assert excerpt(text, "h", imports=True).startswith("import torch")
    assert excerpt(text, "missing") == ""
