"""Build the guide's lesson as the guide says, step by step, and prove it."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from in_process import exit_code
from test_documentation import ROOT, command_lines

from grader.core.errors import ExitCode
from grader.core.messages import Settings
from grader.course.course import load_course
from grader.verify.verify import verify

GUIDE = ROOT / "grader" / "docs" / "authors.md"
TUTORIAL = GUIDE.read_text("utf-8").partition("\n# Reference\n")[0]
STEP = re.compile(r"(Append|Write)\s[^`]*`([\w/.]+)`:\n\n```\w+\n(.*?)```", re.DOTALL)
FORMULA = "torch.log1p(torch.exp(-x.abs())) + x.clamp_min(0)"


def change(path: Path, *pairs: tuple[str, str]) -> None:
    text = path.read_text("utf-8")
    for old, new in pairs:
        assert old in text, (path, old)
        text = text.replace(old, new)
    path.write_text(text, "utf-8")


def follow_the_guide(root: Path) -> None:
    """Do what the guide says, its prose included."""
    for verb, name, text in STEP.findall(TUTORIAL):
        path = root / name
        before = path.read_text("utf-8").rstrip("\n") + "\n\n\n" if verb == "Append" else ""
        path.write_text(before + text, "utf-8")
    lesson = load_course(root).lesson("stable_softplus")
    in_words = (FORMULA, "log(1 + exp(x))")
    asked = re.search(r"```markdown\n(.*?)```", TUTORIAL, re.DOTALL)
    assert asked is not None
    change(lesson.folder / "README.md", in_words, ("\n\n## Predict", f"\n{asked[1]}\n## Predict"))
    change(lesson.checks / "contract.toml", in_words)
    change(lesson.solution, (f"Return {FORMULA}.", f"Return {in_words[1]}."))
    change(
        lesson.checks / "test_checks.py",
        ("import under_test", "import assert_that, check, under_test"),
        ("S.check(4", "S.check(3"),
        ('    3, "the gradient', '    2, "the gradient'),
        ('    3, "every', '    2, "every'),
    )


def test_the_guide_is_short() -> None:
    assert len(TUTORIAL.splitlines()) <= 150


def test_the_guides_lesson_has_no_problem_but_words_that_are_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "my-course"
    first = next(command_lines(GUIDE))
    monkeypatch.chdir(tmp_path)
    assert exit_code(*shlex.split(first)) == ExitCode.OK
    follow_the_guide(root)
    assert exit_code("verify", "--write-stubs", "--workers", "1", "--course", root) == 1
    course = load_course(root)
    settings = Settings(seed=0, limits=course.limits)
    found = verify(course, course.lessons, seeds=[1, 2], settings=settings, workers=1)
    assert [text for text in found.problems if "still holds its placeholder" not in text] == []
    (proof,) = found.proofs
    assert (proof.checks, proof.mistakes, proof.named, proof.promises_shown) == (5, 5, 5, 5)
