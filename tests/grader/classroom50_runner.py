"""Simulate Classroom 50's runner as its documentation describes it: what it does around an
``autograder.py``, and which results it accepts.

https://github.com/foundation50/classroom50/wiki/Advanced-Autograding, "Contract", "The result.json
contract" and "Attaching files to submission Releases".
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from in_process import lend

from grader.classroom.publish import classroom50_main, classroom50_start
from grader.runtime.client import ForkServerClient

COMMIT_DATE = "2026-10-01T09:30:00+09:00"
COMMITTED_AT = "2026-10-01T00:30:00Z"
WEB = "https://github.com/school/fall-week-1-ann"
ENVIRONMENT = {
    "CLASSROOM": "fall",
    "ASSIGNMENT": "week-1",
    "ASSIGNMENT_TYPE": "individual",
    "SUBMISSION_TAG": "submit/2026-10-01T00-30-05Z-a1b2c3d",
    "PAGES_BASE_URL": "https://school.github.io/classroom50",
    "USERNAME": "ann",
    "OWNER": "ann",
    "COMMIT_URL": f"{WEB}/commit/a1b2c3d",
    "RELEASE_URL": f"{WEB}/releases/tag/submit%2F2026-10-01T00-30-05Z-a1b2c3d",
    "REVIEW_URL": f"{WEB}/compare/000...a1b2c3d",
    "GITHUB_TOKEN": "a secret",
}
TEXTS = ("owner", "submission", "commit", "release", "review", "datetime")


@dataclass(frozen=True)
class Run:
    """The state of the runner afterwards. ``result`` is None after an infrastructure error."""

    code: int
    log: str
    result: dict[str, Any] | None
    body: str
    outputs: dict[str, str]
    assets: dict[str, str]

    @property
    def score(self) -> tuple[int, int] | None:
        return (self.result["score"], self.result["max-score"]) if self.result else None


def checked_out(folder: Path, files: Mapping[str, str]) -> str:
    """Commit a student's files; return the commit."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    dates = {"GIT_AUTHOR_DATE": COMMIT_DATE, "GIT_COMMITTER_DATE": COMMIT_DATE}
    who = ["-c", "user.name=ann", "-c", "user.email=ann@example.edu", "-c", "commit.gpgsign=false"]
    commit = [*who, "commit", "-qm", "work", "--allow-empty"]
    for command in (["init", "-q"], ["add", "-A"], commit):
        subprocess.run(["git", *command], cwd=folder, check=True, env={**os.environ, **dates})
    shown = subprocess.run(
        ["git", "rev-parse", "HEAD"], cwd=folder, check=True, capture_output=True, text=True
    )
    return shown.stdout.strip()


def run(
    autograder: Path,
    checkout: Path,
    files: Mapping[str, str],
    *,
    host: ForkServerClient | None = None,
    **changed: str,
) -> Run:
    """Run ``autograder.py`` for a checkout of ``files``; ``changed`` are variables.

    With a fork server, run the same code in this process. Raise AssertionError if the results do
    not match the documentation.
    """
    checkout.mkdir(exist_ok=True)
    commit = checked_out(checkout, files)
    output = checkout.with_name("github-output")
    output.write_text("")
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "TMPDIR") if name in os.environ}
    ours = {**ENVIRONMENT, "GITHUB_SHA": commit, "GITHUB_OUTPUT": str(output), **changed}
    if host is None:
        ended = subprocess.run(
            [sys.executable, str(autograder / "autograder.py")],
            cwd=checkout,
            env={**kept, **ours},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        code, log = ended.returncode, ended.stdout
    else:
        code, log = run_here(host, autograder, checkout, {**kept, **ours})
    result, body = checkout / "result.json", checkout / "release-body.md"
    wanted = json.loads((autograder / "assignment.json").read_text("utf-8"))["release_assets"]
    found = None
    if code == 0:
        found = json.loads(result.read_text("utf-8"))
        refuse_invalid(found, ours)
    assets = [checkout / name for name in wanted]
    return Run(
        code,
        log,
        found,
        body.read_text("utf-8") if body.exists() else "",
        dict(line.split("=", 1) for line in output.read_text("utf-8").splitlines()),
        {path.name: path.read_text("utf-8") for path in assets if path.exists()},
    )


def run_here(
    host: ForkServerClient, autograder: Path, checkout: Path, variables: Mapping[str, str]
) -> tuple[int, str]:
    """Run the autograder and its grader in this process; return exit code and output."""

    def grade(python: str, settings: dict[str, Any], checkout: Path, target: Path) -> None:
        with pytest.MonkeyPatch.context() as patch:
            for name in os.environ.keys() - set(classroom50_start.PASSED_ON):
                patch.delenv(name)
            patch.setattr(
                sys, "argv", [settings["main"], *map(str, (autograder, checkout, target))]
            )
            try:
                classroom50_main.main()
            except SystemExit as end:
                raise subprocess.CalledProcessError(int(end.code or 0), python) from None

    with pytest.MonkeyPatch.context() as patch, contextlib.redirect_stdout(io.StringIO()) as log:
        for name in os.environ.keys() - variables.keys():
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.chdir(checkout)
        patch.setattr(classroom50_start, "HERE", autograder)
        patch.setattr(classroom50_start, "grade", grade)
        lend(host, patch)
        return classroom50_start.main(), log.getvalue()


def refuse_invalid(found: dict[str, Any], ours: Mapping[str, str]) -> None:
    """Check a result against the contract."""
    assert found["schema"] == "classroom50/result/v1"
    for key, name in (
        ("classroom", "CLASSROOM"),
        ("assignment", "ASSIGNMENT"),
        ("assignment_type", "ASSIGNMENT_TYPE"),
        ("owner", "OWNER"),
        ("submission", "SUBMISSION_TAG"),
        ("commit", "COMMIT_URL"),
        ("release", "RELEASE_URL"),
    ):
        assert found[key] == ours[name]
    assert all(isinstance(found[key], str) and found[key] for key in TEXTS)
    assert found["submission"].startswith("submit/")
    for one in (found, *found["tests"]):
        for key in ("score", "max-score"):
            assert type(one[key]) is int  # no bool, which is an int too
        assert 0 <= one["score"] <= one["max-score"]
    for test in found["tests"]:
        assert isinstance(test["test-name"], str) and test["test-name"]
        assert type(test["passed"]) is bool
    assert found["score"] == sum(test["score"] for test in found["tests"])
    assert found["max-score"] == sum(test["max-score"] for test in found["tests"])
