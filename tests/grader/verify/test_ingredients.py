"""The key of a grading changes with whatever the grading depends on, and with nothing else."""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from grader.core.errors import UsageError
from grader.core.limits import Limits
from grader.core.paths import PACKAGE
from grader.course.course import Course, Lesson, load_course
from grader.runtime.grading import Settings
from grader.verify import ingredients
from grader.verify.case_result import Case
from grader.verify.ingredients import Ingredients, engine_files


@dataclass
class Kitchen:
    """A course and an engine of one's own, to change, and the key of a case of theirs."""

    course: Course
    package: Path
    settings: Settings

    @property
    def lesson(self) -> Lesson:
        return self.course.lessons[0]

    @property
    def case(self) -> Case:
        return Case(self.lesson, "mistake", "squares", "def double(x): ...")

    def made(self) -> Ingredients:
        return Ingredients(self.course, self.course.lessons, self.settings, package=self.package)

    def key(self, case: Case | None = None) -> str:
        return self.made().key(case or self.case)


@pytest.fixture
def kitchen(small_course: Course, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kitchen:
    """As it is, before something is changed."""
    skipped = shutil.ignore_patterns("__pycache__", "_course")
    course = load_course(
        Path(shutil.copytree(small_course.root, tmp_path / "course", ignore=skipped))
    )
    package = Path(shutil.copytree(PACKAGE, tmp_path / "engine" / "grader", ignore=skipped))
    monkeypatch.setattr("grader.course.course.LOCALE", package / "locale")
    return Kitchen(course, package, Settings(1, "auto", course.limits))


def append(path: Path, text: str = "\nMORE = 1\n") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


JUDGING = (
    "judge/runner",
    "judge/pytest_plugin",
    "judge/results",
    "judge/remote/rpc",
    "worker/process",
    "worker/spawned",
    "runtime/fork_server",
    "runtime/lesson_server",
    "worker/wire/values",
    "worker/wire/tensors",
    "worker/sandbox/seccomp",
    "worker/wire/__init__",
    "verify/case_result",
)
TELLING = (
    "verify/verify",
    "verify/cache",
    "verify/ledger",
    "render/html",
    "render/terminal",
    "cli/commands/verify",
    "cli/author",
    "classroom/exports/junit",
    "classroom/gradebook/store",
    "classroom/publish/release",
    "render/graph/svg",
)


@pytest.mark.parametrize("module", JUDGING)
def test_the_key_changes_with_what_judges(module: str, kitchen: Kitchen) -> None:
    before = kitchen.key()
    append(kitchen.package / f"{module}.py")
    assert kitchen.key() != before


def test_the_key_is_the_same_after_a_change_of_what_tells(kitchen: Kitchen) -> None:
    """Pages, commands, exports, the gradebook: no hour of proof is lost to these."""
    before = kitchen.key()
    for module in TELLING:
        append(kitchen.package / f"{module}.py")
    assert kitchen.key() == before


def test_the_key_is_the_same_after_a_change_of_the_engines_words(kitchen: Kitchen) -> None:
    """Comments, docstrings, layout."""
    before = kitchen.key()
    for module in JUDGING:
        path = kitchen.package / f"{module}.py"
        text = path.read_text("utf-8")
        changed, docstrings = re.subn(r'^( *""")(?=.)', r"\1More. ", text, flags=re.MULTILINE)
        assert docstrings
        path.write_text(changed.replace("\n\n\n", "\n\n\n# more\n"), "utf-8")
    assert kitchen.key() == before


def test_what_a_check_imports_of_the_engine_counts_too(kitchen: Kitchen) -> None:
    append(
        kitchen.lesson.checks / "test_hidden.py",
        "\n\ndef late():\n    from grader.render.graph import svg\n",
    )
    before = kitchen.key()
    append(kitchen.package / "render" / "graph" / "svg.py")
    assert kitchen.key() != before


def test_a_file_of_checks_that_is_no_python_has_a_key(kitchen: Kitchen) -> None:
    """It is graded, and told as what it is."""
    before = kitchen.key()
    append(kitchen.lesson.checks / "test_hidden.py", "\ndef\n")
    assert kitchen.key() != before


CHECKED = [
    f"tests/checks/tiny/{name}.py"
    for name in ("test_visible", "test_hidden", "scenarios", "diagnosis", "helpers")
]


@pytest.mark.parametrize(
    "name", [*CHECKED, "exercises/tiny/hints.toml", "exercises/tiny/tiny.py", "solutions/tiny.py"]
)
def test_the_key_changes_with_the_lessons_files(name: str, kitchen: Kitchen) -> None:
    """Also with one that was not there before."""
    before = kitchen.key()
    append(kitchen.course.root / name)
    assert kitchen.key() != before


@pytest.mark.parametrize(
    "name",
    [
        "tests/mistakes/tiny/other.py",
        "tests/accepted/tiny/other.py",
        "exercises/tiny/README.md",
        "solutions/other.py",
    ],
)
def test_the_key_is_the_same_after_a_change_of_other_files(name: str, kitchen: Kitchen) -> None:
    """Other cases, prose, other lessons."""
    before = kitchen.key()
    append(kitchen.course.root / name)
    assert kitchen.key() == before


def test_the_key_is_the_same_wherever_course_and_engine_lie(
    kitchen: Kitchen, tmp_path: Path
) -> None:
    before = kitchen.key()
    kitchen.course = load_course(Path(shutil.copytree(kitchen.course.root, tmp_path / "elsewhere")))
    kitchen.package = Path(shutil.copytree(kitchen.package, tmp_path / "other" / "grader"))
    assert kitchen.key() == before


@pytest.mark.parametrize("catalogue", ["engine", "lesson"])
def test_a_catalogue_counts_in_its_language_alone(catalogue: str, kitchen: Kitchen) -> None:
    path = (
        kitchen.package / "locale" / "ko.po"
        if catalogue == "engine"
        else kitchen.lesson.folder / "ko.po"
    )
    korean = replace(kitchen.settings, lang="ko")
    english, kitchen.settings = kitchen.key(), korean
    before = kitchen.key()
    append(path)
    assert kitchen.key() != before
    kitchen.settings = replace(korean, lang="en")
    assert kitchen.key() == english != before


@pytest.mark.parametrize(
    "changed",
    [
        {"sandbox": "off"},
        {"limits": Limits.from_dict({"lesson_seconds": 3.0})},
        {"without": ("seccomp",)},
        {"lang": "ko"},
    ],
    ids=["sandbox", "limits", "layers", "language"],
)
def test_the_key_changes_with_how_it_is_graded(
    changed: dict[str, object], kitchen: Kitchen
) -> None:
    before = kitchen.key()
    kitchen.settings = replace(kitchen.settings, **changed)  # type: ignore[arg-type]
    assert kitchen.key() != before


def test_the_seed_is_no_part_of_the_key(kitchen: Kitchen) -> None:
    """It stands beside it."""
    before = kitchen.key()
    kitchen.settings = replace(kitchen.settings, seed=2)
    assert kitchen.key() == before


@pytest.mark.parametrize(
    "changed",
    [{"title": "Other"}, {"names": ("double",)}, {"bonus": ("triple",)}, {"builds_on": ("tiny",)}],
    ids=lambda one: next(iter(one)),
)
def test_the_key_changes_with_the_courses_entry(
    changed: dict[str, object], kitchen: Kitchen
) -> None:
    before = kitchen.key()
    kitchen.course = replace(kitchen.course, lessons=(replace(kitchen.lesson, **changed),))  # type: ignore[arg-type]
    assert kitchen.key() != before


@pytest.mark.parametrize(
    "changed",
    [{"source": "other"}, {"kind": "accepted"}, {"name": "squares__2"}],
    ids=lambda one: next(iter(one)),
)
def test_the_key_changes_with_the_case(changed: dict[str, str], kitchen: Kitchen) -> None:
    made = kitchen.made()
    assert made.key(replace(kitchen.case, **changed)) != made.key(kitchen.case)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["torch", "pytest", "pytest-json-report", "python"])
def test_the_key_changes_with_versions(
    name: str, kitchen: Kitchen, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = kitchen.key()
    monkeypatch.setattr(ingredients, "version" if name != "python" else "platform", Other(name))
    assert kitchen.key() != before


class Other:
    """Metadata, and a platform, in which one thing has another version."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, name: str) -> str:
        from importlib.metadata import version

        return version(name) + (".other" if name == self.name else "")

    def python_version(self) -> str:
        return "3.99.0"

    def python_implementation(self) -> str:
        import platform

        return platform.python_implementation()

    def machine(self) -> str:
        import platform

        return platform.machine()


def test_what_counts_of_the_engine_is_found_by_following_imports() -> None:
    """Also those inside functions; but not what the package itself loads for callers from
    outside.
    """
    names = set(engine_files())
    judging = {
        "judge.runner",
        "runtime.warmup",
        "worker.wire.frames",
        "worker.sandbox",
        "runtime.grading",
        "verify.case_result",
        "",
    }
    assert judging <= names
    assert not {name.split(".")[0] for name in names} & {"cli", "classroom", "render"}
    assert not names & {"verify.verify", "verify.cache", "verify.ledger"}


@pytest.mark.parametrize("change", ["engine", "lesson", "gone"])
def test_a_change_after_the_key_was_made_is_told(change: str, kitchen: Kitchen) -> None:
    made = kitchen.made()
    made.insist(kitchen.lesson)
    path = (
        kitchen.package / "judge" / "runner.py"
        if change == "engine"
        else kitchen.lesson.checks / "scenarios.py"
    )
    if change == "gone":
        path.unlink()
    else:
        append(path)
    with pytest.raises(
        UsageError, match=rf"{path.name} was changed while this ran.*run the same command again"
    ):
        made.insist(kitchen.lesson)
