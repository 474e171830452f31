"""Every mutant of a right answer that changes behaviour loses marks; ``survivors.toml`` lists the
others with the reason.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable
from pathlib import Path
from unittest.mock import Mock

import pytest

from grader.course.course import Lesson, find_course, load_course

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

import verdicts  # noqa: E402 - they stand beside this file
from mutants import Mutant, Results, argument, entries, fits, mutants_of  # noqa: E402
from operators import edits  # noqa: E402
from verdicts import Failed, Run, Verdicts  # noqa: E402

COURSE = load_course(find_course())
EVERY = 20
"""Of the mutants of accepted answers, one in ``EVERY`` is graded here; mutants.py grades all."""
each_lesson = pytest.mark.parametrize("lesson", COURSE.lessons, ids=lambda lesson: lesson.id)


@pytest.mark.proof
@each_lesson
def test_the_survivors_are_those_that_are_argued(lesson: Lesson) -> None:
    """Of the solution all, and each entry that names lines is about a survivor."""
    mutants = [*mutants_of(lesson), *mutants_of(lesson, accepted=True)[::EVERY]]
    found = Results(mutants, Verdicts())
    assert [str(mutant) for mutant in found.survived if not argument(mutant)] == []
    stale = [
        str(mutant)
        for mutant in found.seeds
        if mutant not in found.survived and "before" in argument(mutant)
    ]
    assert stale == []


@each_lesson
def test_each_lesson_has_mutants(lesson: Lesson) -> None:
    """At least ten, each another text."""
    mutants = mutants_of(lesson)
    assert len({mutant.source for mutant in mutants}) == len(mutants) >= 10


@pytest.mark.proof
@each_lesson
def test_what_is_argued_exists(lesson: Lesson) -> None:
    """Each entry has a reason, and each part of it is about a mutant."""
    mutants = [*mutants_of(lesson), *mutants_of(lesson, accepted=True)]
    for entry in entries(lesson.id):
        assert len(entry.get("why") or entry["hole"]) > 20
        for part in entry.get("like", [""]):
            one = {**entry, "like": [part]} if part else entry
            assert any(fits(one, mutant) for mutant in mutants), one


def test_an_accepted_answer_is_changed_where_it_differs() -> None:
    """No line that the solution has too is changed, nor one that no asked-for name uses."""
    lesson = COURSE.lesson("custom_sigmoid")
    (demonstration, *_) = [m for m in mutants_of(lesson, accepted=True) if m.of == "demonstration"]
    assert "def test_against_torch" in demonstration.original
    changed = {m.before for m in mutants_of(lesson, accepted=True) if m.of == "demonstration"}
    assert any("torch.mul(grad_output, y)" in line for line in changed)
    assert not any("gradcheck" in line or "Sigmoid.apply" in line for line in changed)


class Invented(Verdicts):
    """Of the text "all" two checks fail, of "odd" one from odd seeds, of "none" none."""

    def grade(self, runs: Iterable[Run]) -> None:
        pass

    def __getitem__(self, run: Run) -> Failed:
        _, text, seed = run
        return frozenset({"all": ["a", "b"], "odd": ["a"][: seed % 2]}.get(text, []))


def test_a_verdict_that_may_depend_on_the_seed_is_asked_again() -> None:
    """From one seed where it cannot, from six where it may, from all where it does."""
    lesson = COURSE.lessons[0]
    mutants = [Mutant(lesson, text, text, text, "", "right") for text in ("all", "odd", "none")]
    found = Results(mutants, Invented(), seeds=20)
    assert [len(seen) for seen in found.seeds.values()] == [1, 20, 6]
    assert sum(found.seeds[mutants[1]].values()) == 10
    assert (found.by_seed, found.survived) == ([mutants[1]], [mutants[2]])
    odd = {"a": [*range(1, 21, 2)]}
    assert [found.changing(mutant) for mutant in mutants] == [{}, odd, {}]


def test_verdicts_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another run grades only what is not in the file, whose last line may be cut."""
    graded: list[Run] = []

    def grade(host: Mock, run: Run) -> tuple[str, Failed]:
        graded.append(run)
        return verdicts.key(run), frozenset({"check"})

    monkeypatch.setattr(verdicts, "grade_one", grade)
    monkeypatch.setattr(verdicts, "ForkServerClient", Mock)
    first, second = [(COURSE.lessons[0], "text", seed) for seed in (1, 2)]
    Verdicts(tmp_path / "kept").grade([first])
    with (tmp_path / "kept").open("a") as file:
        file.write('["cut')
    again = Verdicts(tmp_path / "kept")
    again.grade([first, second])
    assert graded == [first, second]
    assert again[first] == again[second] == {"check"}


@pytest.mark.parametrize(
    ("code", "wanted"),
    [
        ("f(x.clone())", "f(x)"),
        ("f(torch.clone(x))", "f(x)"),
        ("f(y, create_graph=True)", "f(y)"),
        ("f(x * 2)", "f(x.mul_(2))"),
        ("f(x.mul(2))", "f(x.mul_(2))"),
        ("f(torch.zeros_like(x))", "f(torch.zeros(x.shape))"),
        ("f(x.shape)", "f(x.shape[:1])"),
        ("if x:\n    return y", "if False:\n    return y"),
        ("try:\n    f(y)\nfinally:\n    g()", "if True:\n    f(y)"),
        ("with torch.no_grad():\n    f(y)", "if True:\n    f(y)"),
        ("for t in y:\n    if t is z:\n        pass", "for t in y:\n    if t == z:\n        pass"),
        ("y.grad = None\nf(y)", "f(y)\ny.grad = None"),
        ("f(a, b)", "f(b, a)"),
    ],
)
def test_operators(code: str, wanted: str) -> None:
    """The change is among those of a function of x, and afterwards the function is as it was."""
    tree = ast.parse(f"def function(x):\n{_indented(code)}")
    before = ast.dump(tree)
    made = [ast.unparse(tree.body[0]) for _ in edits(tree.body)]
    assert ast.unparse(ast.parse(f"def function(x):\n{_indented(wanted)}")) in made
    assert ast.dump(tree) == before


@pytest.mark.parametrize("code", ["assert x > 1", "raise ValueError(f'{x + 1}')", '"""text"""'])
def test_what_stays(code: str) -> None:
    """Assertions, messages and docstrings are not changed; a raise is only left out."""
    tree = ast.parse(f"def function(x):\n{_indented(code)}")
    made = [ast.unparse(tree.body[0]) for _ in edits(tree.body)]
    assert made == (["def function(x):\n    pass"] if code.startswith("raise") else [])


def _indented(code: str) -> str:
    return "".join(f"    {line}\n" for line in code.splitlines())
