"""Run ``grade`` in this process and with a fork server that is already running, which is what most
tests of its answers need: a process of its own would import torch first.
"""

from __future__ import annotations

import contextlib
import io
import os
from dataclasses import dataclass
from pathlib import Path

import pytest

from grader.cli import main
from grader.runtime.client import ForkServerClient

STARTERS = (
    "grader.classroom.publish.release",
    "grader.classroom.publish.gradescope_main",
    "grader.cli.grade",
    "grader.cli.gradebook",
    "grader.cli.replay",
    "grader.cli.watch",
)
"""The modules that start a fork server of their own."""
KEPT_VARIABLES = ("PATH", "HOME", "TMPDIR", "SYSTEMROOT")


@dataclass(frozen=True)
class Run:
    """The result of a command."""

    code: int
    out: str
    err: str
    folder: Path


def exit_code(*words: str | Path) -> object:
    """Run ``grade`` in this process; return its exit code."""
    with pytest.raises(SystemExit) as ended:
        main([str(word) for word in words])
    return ended.value.code


def lend(host: ForkServerClient, patch: pytest.MonkeyPatch) -> None:
    """Make commands in this process use a fork server instead of starting one."""
    for module in STARTERS:
        patch.setattr(f"{module}.ForkServerClient", lambda **_: contextlib.nullcontext(host))


def grade_here(
    host: ForkServerClient,
    folder: Path,
    *words: str,
    course: Path | None = None,
    encoding: str = "utf-8",
    **variables: str,
) -> Run:
    """Run ``grade`` in a folder, in English and without a terminal."""
    folder.mkdir(parents=True, exist_ok=True)
    chosen = ["--course", str(course)] if course else []
    out, err = (
        io.TextIOWrapper(io.BytesIO(), encoding, newline="\n", write_through=True) for _ in range(2)
    )
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        for name in os.environ.keys() - set(KEPT_VARIABLES):
            patch.delenv(name)
        for name, value in {"LANG": "C.UTF-8", **variables}.items():
            patch.setenv(name, value)
        patch.chdir(folder)
        lend(host, patch)
        code = exit_code(*words, *chosen)
    assert isinstance(code, int)
    for stream in (out, err):
        stream.seek(0)
    return Run(code, out.read(), err.read(), folder)
