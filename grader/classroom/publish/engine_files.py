"""The engine as files to hand out, without a course; ``pip install ./engine`` installs it."""

from __future__ import annotations

import importlib.metadata
import re
import tomllib
from collections.abc import Iterator

from grader import __version__
from grader.core.files import CHECKOUT, PACKAGE, render_text, templates, torch_version

CARRIED = (".py", ".po", ".json", ".html", ".css", ".js")
LEFT_OUT = frozenset({"__pycache__", "_course", "engine", "gradescope", "handout", "lesson"})
"""Folders that are not handed out: caches, the course, and templates that only teachers need."""
CPU_INDEX = "https://download.pytorch.org/whl/cpu"
"""The index with PyTorch's build without CUDA, which is a tenth of the size."""
RELEASED = re.compile(r"\d+(\.\d+)+")


def torch_requirement() -> str:
    """Return the torch that grades here, with its exact version: other versions may compute other
    values.
    """
    version = torch_version().partition("+")[0]
    return f"torch=={version}" if RELEASED.fullmatch(version) else "torch"


def install_torch(*options: str) -> str:
    """Return the line that installs that torch, in a build without CUDA."""
    words = ["pip install", *options, torch_requirement(), "--index-url", CPU_INDEX]
    return " ".join(words)


def engine_files() -> Iterator[tuple[str, str]]:
    """Yield ``(path, text)`` of each file: the package, its templates, and what pip needs."""
    for path in sorted(PACKAGE.rglob("*")):
        if path.suffix in CARRIED and not LEFT_OUT.intersection(path.relative_to(PACKAGE).parts):
            yield f"grader/{path.relative_to(PACKAGE).as_posix()}", path.read_text("utf-8")
    if not (PACKAGE / "_templates").is_dir():
        for path in sorted(path for path in templates().iterdir() if path.is_file()):
            yield f"grader/_templates/{path.name}", path.read_text("utf-8")
    yield "requirements.txt", "".join(f"{line}\n" for line in requirements())
    yield "pyproject.toml", pyproject()


def requirements() -> list[str]:
    """Return the engine's dependencies with versions, from the project or its metadata."""
    project = CHECKOUT / "pyproject.toml"
    if project.is_file():
        found: list[str] = tomllib.loads(project.read_text("utf-8"))["project"]["dependencies"]
        return found
    return [
        line for line in importlib.metadata.requires("gradlings") or () if "extra ==" not in line
    ]


def pyproject() -> str:
    return render_text("engine/pyproject.toml.j2", version=__version__, requirements=requirements())
