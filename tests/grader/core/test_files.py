"""The engine's hash changes with what decides verdicts and messages, and nothing else."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from grader.core.files import PACKAGE, engine_files, engine_hash, hash_files


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """Return a copy of the engine, to change."""
    skipped = shutil.ignore_patterns("__pycache__", "_course")
    return Path(shutil.copytree(PACKAGE, tmp_path / "grader", ignore=skipped))


def hashed(package: Path) -> str:
    return hash_files(package, engine_files(package))


def append(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as stream:
        stream.write("\n# more\n")


def test_the_hash_does_not_depend_on_the_folder(copy: Path) -> None:
    assert hashed(copy) == engine_hash()
    assert len(engine_hash()) == 16 and int(engine_hash(), 16)


def test_the_hash_is_the_same_with_windows_line_ends(copy: Path) -> None:
    for path in (path for name in ("*.py", "*.toml", "*.po") for path in copy.rglob(name)):
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert hashed(copy) == engine_hash()


@pytest.mark.parametrize(
    "name", ["core/report.py", "judge/common_mistakes.toml", "locale/ko.po", "new/one.py"]
)
def test_the_hash_changes_with_code_rules_and_translations(name: str, copy: Path) -> None:
    append(copy / name)
    assert hashed(copy) != engine_hash()


def test_the_hash_knows_a_file_by_its_name(copy: Path) -> None:
    (copy / "core" / "report.py").rename(copy / "core" / "points.py")
    assert hashed(copy) != engine_hash()


@pytest.mark.parametrize(
    "name", ["README.md", "__pycache__/x.py", "_course/solutions/x.py", "_templates/report.html"]
)
def test_the_hash_ignores_files_that_decide_no_verdict(name: str, copy: Path) -> None:
    append(copy / name)
    assert hashed(copy) == engine_hash()


def test_torch_is_not_imported_to_tell_its_version() -> None:
    code = (
        "import sys; from grader.core.files import torch_version;"
        " print(torch_version(), 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    version, imported = done.stdout.split()
    assert version[0].isdigit() and imported == "False"
