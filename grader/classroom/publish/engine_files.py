"""The engine as files that can be handed out: no course, no solution; installed by ``pip install
./engine``.
"""

from __future__ import annotations

import importlib.metadata
import tomllib
from collections.abc import Iterator

from grader import __version__
from grader.core.paths import CHECKOUT, PACKAGE, templates

CARRIED = (".py", ".po", ".json", ".html", ".css", ".js")
LEFT_OUT = frozenset({"__pycache__", "_course"})
TORCH = "pip install torch --index-url https://download.pytorch.org/whl/cpu"
"""PyTorch's build without CUDA: a tenth of the size."""


def engine_files() -> Iterator[tuple[str, str]]:
    """``(path, text)`` of each file: the package, its templates, and what pip needs."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in CARRIED and not LEFT_OUT.intersection(path.relative_to(PACKAGE).parts):
            yield f"grader/{path.relative_to(PACKAGE).as_posix()}", path.read_text("utf-8")
    if not (PACKAGE / "_templates").is_dir():
        for path in sorted(templates().iterdir()):
            yield f"grader/_templates/{path.name}", path.read_text("utf-8")
    yield "requirements.txt", "".join(f"{line}\n" for line in requirements())
    yield "pyproject.toml", pyproject()


def requirements() -> list[str]:
    """What the engine needs at run time, each with its range: from the project's own file, or from
    what was installed.
    """
    project = CHECKOUT / "pyproject.toml"
    if project.is_file():
        found: list[str] = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
        return found
    return [
        line for line in importlib.metadata.requires("gradlings") or () if "extra ==" not in line
    ]


def pyproject() -> str:
    needed = "".join(f'    "{line}",\n' for line in requirements())
    return f"""\
[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "gradlings"
version = "{__version__}"
description = "The engine that grades these lessons"
requires-python = ">=3.11"
dependencies = [
{needed}]

[project.scripts]
grade = "grader.cli:main"

[tool.hatch.build]
ignore-vcs = true # what the .gitignore around it names, report.html, is a page of the engine too

[tool.hatch.build.targets.wheel]
packages = ["grader"]
"""
