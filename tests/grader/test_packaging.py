"""The wheel carries the engine and the course, no tests, and nothing of the machine that built
it.
"""

from __future__ import annotations

import ast
import configparser
import email
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from email.message import Message
from pathlib import Path

import pytest

import grader
from grader.core.files import engine_files, engine_hash, hash_files
from grader.course.course import find_course, load_course

ROOT = Path(grader.__file__).resolve().parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
DISTRIBUTIONS = {
    "IPython": "ipython",
    "_pytest": "pytest",
    "click_default_group": "click-default-group",
    "pytest_jsonreport": "pytest-json-report",
    "yaml": "pyyaml",
    "markdown_it": "markdown-it-py",
}
"""The distributions of modules with a different name."""


def distributions(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~ \[]", requirement)[0] for requirement in requirements}


def test_everything_that_the_engine_imports_is_declared() -> None:
    """Nothing else is declared. Only type checkers know ``_typeshed``."""
    found = set()
    for path in (ROOT / "grader").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and not node.level:
                found.add((node.module or "").split(".")[0])
    found -= {*sys.stdlib_module_names, "grader", "_typeshed"}
    used = {DISTRIBUTIONS.get(name, name) for name in found}
    declared = distributions(PROJECT["dependencies"])
    optional = {**PROJECT["optional-dependencies"], "dev": []}
    extras = set().union(*map(distributions, optional.values()))
    assert used <= declared | extras
    assert extras <= used
    assert declared - used <= {"numpy", "tzdata"}  # used by lessons, and by zoneinfo


# ---------------------------------------------------------------------------------------- the wheel


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> zipfile.ZipFile:
    """Build this checkout's wheel, by the installed build backend or by one from pip."""
    target = tmp_path_factory.mktemp("wheel")
    backend = ["--no-build-isolation"] if importlib.util.find_spec("hatchling") else []
    options = ["--no-deps", "--quiet", *backend, "--wheel-dir", str(target)]
    command = [sys.executable, "-m", "pip", "wheel", str(ROOT), *options]
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    subprocess.run(command, check=True, cwd=target, env=environment)
    (path,) = target.iterdir()
    return zipfile.ZipFile(path)


@pytest.fixture(scope="module")
def installed(wheel: zipfile.ZipFile, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which the wheel was unpacked."""
    folder = tmp_path_factory.mktemp("installed")
    wheel.extractall(folder)
    return folder


def metadata(wheel: zipfile.ZipFile, name: str) -> str:
    """Return a file of the wheel's own records."""
    return wheel.read(f"gradlings-{grader.__version__}.dist-info/{name}").decode()


def test_a_wheel_carries_the_engine_whole(wheel: zipfile.ZipFile) -> None:
    """It has every module, the schema, the catalogues, the templates."""
    names = set(wheel.namelist())
    for path in (ROOT / "grader").rglob("*"):
        if path.suffix in (".py", ".toml", ".po", ".json"):
            assert path.relative_to(ROOT).as_posix() in names
    templates = ROOT / "templates"
    shipped = {path.relative_to(templates) for path in templates.rglob("*") if path.is_file()}
    assert len(shipped) > 10
    assert {f"grader/_templates/{path.as_posix()}" for path in shipped} <= names


def test_a_wheel_carries_the_course_whole(installed: Path) -> None:
    """Lessons and verdicts are the same, with all texts and proofs."""
    here, there = load_course(find_course()), load_course(installed / "grader" / "_course")
    assert there.hash == here.hash
    assert there.lessons
    for mine, theirs in zip(here.lessons, there.lessons, strict=True):
        assert theirs.id == mine.id
        assert theirs.stub.is_file()
        assert (theirs.folder / "README.md").is_file()
        assert theirs.hints() == mine.hints()
        for kind in ("mistakes", "near_misses", "accepted"):
            labels = [cell.label for cell in getattr(mine, kind)]
            assert [cell.label for cell in getattr(theirs, kind)] == labels


def test_an_installed_wheel_is_the_same_engine(installed: Path) -> None:
    """The hash is the same, wherever its templates and its course are."""
    package = installed / "grader"
    assert hash_files(package, engine_files(package)) == engine_hash()


def test_a_wheel_carries_nothing_else(wheel: zipfile.ZipFile) -> None:
    """It has no engine tests, no compiled files, and nothing besides the package and its
    records.
    """
    tests = tuple(f"grader/_course/tests/{name}/" for name in ("grader", "attacks", "benchmarks"))
    for name in wheel.namelist():
        assert re.match(r"grader/|gradlings-[\d.]+\.dist-info/", name), name
        assert not name.startswith(tests), name
        assert not name.endswith((".pyc", ".sqlite", "report.json")), name
        assert "__pycache__" not in name and "/." not in name, name


def test_no_file_of_a_wheel_names_a_place_of_the_machine_that_built_it(
    wheel: zipfile.ZipFile,
) -> None:
    places = {str(place) for place in (ROOT, Path.home(), Path(sys.prefix)) if len(place.parts) > 1}
    for name in wheel.namelist():
        text = wheel.read(name).decode("utf-8", "replace")
        assert not [place for place in places if re.search(re.escape(place) + r"\b", text)], name


def test_a_wheel_says_what_it_is(wheel: zipfile.ZipFile) -> None:
    """It has the package's version, the command, and the declared Python versions."""
    record: Message = email.message_from_string(metadata(wheel, "METADATA"))
    assert (record["Name"], record["Version"]) == ("gradlings", grader.__version__)
    assert record["Requires-Python"] == PROJECT["requires-python"]
    assert str(record.get_payload()).strip(), "no README"
    scripts = configparser.ConfigParser()
    scripts.read_string(metadata(wheel, "entry_points.txt"))
    assert dict(scripts["console_scripts"]) == {"grade": "grader.cli:main"}
    assert "Root-Is-Purelib: true" in metadata(wheel, "WHEEL")
    assert "MIT License" in metadata(wheel, "licenses/LICENSE")


def test_a_wheel_that_says_that_it_is_typed_is(wheel: zipfile.ZipFile) -> None:
    assert "Classifier: Typing :: Typed" in metadata(wheel, "METADATA")
    assert "grader/py.typed" in wheel.namelist()


def grade(installed: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the unpacked wheel's command in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(installed), "LC_ALL": "C.UTF-8"}
    environment.pop("GRADE_LANG", None)
    command = [sys.executable, "-m", "grader", *words]
    return subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=300,
    )


def test_what_is_installed_makes_a_workspace_and_grades_it(installed: Path, tmp_path: Path) -> None:
    """Outside of any checkout, it uses its own course with every lesson, and its own templates. One
    lesson is graded.
    """
    lessons = [lesson.id for lesson in load_course(installed / "grader" / "_course").lessons]
    assert grade(installed, tmp_path, "init", "work").returncode == 0
    assert sorted(path.name for path in (tmp_path / "work").iterdir() if path.is_dir()) == sorted(
        lessons
    )
    listed = grade(installed, tmp_path / "work", "list")
    assert all(lesson in listed.stdout for lesson in lessons)
    assert "not here" not in listed.stdout
    graded = grade(installed, tmp_path / "work", lessons[0])
    assert (graded.returncode, graded.stderr) == (1, "")
    assert graded.stdout.startswith(f"{lessons[0]}  0 / 10 ")
    assert "<!doctype html>" in (tmp_path / "work" / "report.html").read_text("utf-8")


@pytest.mark.fork
@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_after_make_grade_the_clone_keeps_progress(tmp_path: Path) -> None:
    """A student who works in ``exercises/`` is led to the next lesson, as after ``grade init``."""
    lesson = load_course(find_course()).lessons[0]
    shutil.copy(ROOT / "Makefile", tmp_path)
    folder = tmp_path / "exercises" / lesson.id
    shutil.copytree(lesson.folder, folder)
    make = ["make", "grade", "READY=", f"BIN={Path(sys.executable).parent}"]
    made = subprocess.run(make, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert "0 / 10" in made.stdout
    shutil.copy(lesson.solution, folder / lesson.filename)
    for word in (lesson.id, "next"):
        command = [sys.executable, "-m", "grader", word]
        said = subprocess.run(
            command, cwd=folder.parent, capture_output=True, text=True, check=True
        ).stdout
    assert lesson.title not in said
