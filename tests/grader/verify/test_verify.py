"""``grade verify`` finds each way in which a lesson can be broken, reports exactly that, and finds
no problem in an intact lesson.

One course is graded once: an intact lesson, and for every breakage a copy with only that breakage.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from grader.core.messages import JudgeResult, Settings
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome
from grader.course.course import Course, Lesson, load_course
from grader.course.lesson_texts import read_catalogue
from grader.course.stubs import stub_of
from grader.runtime.grading import LessonOutcome
from grader.verify.case_result import Case, finding_of, mistake_id
from grader.verify.static_problems import catalogue_problems, static_problems
from grader.verify.verify import LessonSummary, VerifyResult, judge_lesson, verify


class Copy:
    """A copy of the small course's lesson under another name."""

    def __init__(self, root: Path, name: str, original: Lesson) -> None:
        self.name = name
        self.lists = {"names": list(original.names), "bonus": list(original.bonus)}
        self.folder = root / "exercises" / name
        self.checks = root / "tests" / "checks" / name
        self.mistakes = root / "tests" / "mistakes" / f"{name}.py"
        self.near_misses = root / "tests" / "near_misses" / f"{name}.py"
        self.accepted = root / "tests" / "accepted" / f"{name}.py"
        self.solution = root / "solutions" / f"{name}.py"
        self.stub = self.folder / f"{name}.py"
        for source, target in ((original.folder, self.folder), (original.checks, self.checks)):
            shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
        for cells, target in (
            (original.mistakes, self.mistakes),
            (original.near_misses, self.near_misses),
            (original.accepted, self.accepted),
        ):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(cells[0].path, target)
        (self.folder / original.filename).rename(self.stub)
        self.solution.parent.mkdir(exist_ok=True)
        shutil.copy(original.solution, self.solution)

    def trim(self) -> None:
        """Remove mistakes and alternatives, so that there is less to grade."""
        for catalogue in (self.mistakes, self.near_misses, self.accepted):
            catalogue.unlink()
        (self.checks / "diagnosis.py").unlink()
        (self.checks / "diagnosis.toml").unlink()

    def entry(self) -> str:
        """Return the lesson's entry in ``course.toml``."""
        return (
            f'[[lesson]]\nid = "{self.name}"\ntitle = "T"\nsummary = "S"\n'
            f"names = {self.lists['names']}\n"
            f"bonus = {self.lists['bonus']}\n"
        )


def cell_source(catalogue: Path, name: str) -> str:
    return next(cell.source for cell in read_catalogue(catalogue) if cell.name == name)


def set_cell(catalogue: Path, name: str, source: str | None) -> None:
    """Write other code into a cell, or leave the cell out."""
    cells = [(cell.name, cell.source) for cell in read_catalogue(catalogue)]
    kept = [(one, source if one == name else text) for one, text in cells]
    written = [f"# %% {one}\n# What it does.\n{text}" for one, text in kept if text is not None]
    catalogue.write_text("\n\n".join(written), "utf-8")


def add_cell(catalogue: Path, name: str, source: str) -> None:
    with catalogue.open("a", encoding="utf-8") as stream:
        stream.write(f"\n\n# %% {name}\n# What it does.\n{source}")


def add_to_cell(catalogue: Path, name: str, text: str) -> None:
    set_cell(catalogue, name, cell_source(catalogue, name) + text)


def replace(path: Path, old: str, new: str) -> None:
    """Replace a text that must exist."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as stream:
        stream.write(text)


# ---------------------------------------------------------------------------------------- breakages


def differing_stub(lesson: Copy) -> None:
    append(lesson.stub, "# edited by hand\n")


def missing_readme(lesson: Copy) -> None:
    (lesson.folder / "README.md").unlink()


def missing_hints(lesson: Copy) -> None:
    replace(
        lesson.folder / "hints.toml",
        '"Multiply by a number.", "return 2 * …"]',
        '"Multiply by a number."]',
    )
    replace(lesson.folder / "hints.toml", "LIMIT =", "OTHER =")


def too_many_points(lesson: Copy) -> None:
    replace(lesson.checks / "test_visible.py", "points=3", "points=3.5")


def one_check_only(lesson: Copy) -> None:
    text = (lesson.checks / "test_hidden.py").read_text("utf-8")
    (lesson.checks / "test_hidden.py").write_text(
        text[: text.index('@check(points=1, about="LIMIT")\ndef test_limit_is_a_float')]
    )
    replace(
        lesson.checks / "test_hidden.py",
        '@check(points=1, about="LIMIT")',
        '@check(points=2, about="LIMIT")',
    )


def same_titles(lesson: Copy) -> None:
    replace(
        lesson.checks / "test_hidden.py", '"""LIMIT is a float"""', '"""double returns twice x"""'
    )


def no_title(lesson: Copy) -> None:
    replace(lesson.checks / "test_hidden.py", '    """LIMIT is a float"""\n', "")


def unlisted_name(lesson: Copy) -> None:
    asked = "student.double(draw.tensor(1))"
    append(
        lesson.checks / "test_hidden.py",
        '\n\n@check(points=1, about="other")\n'
        "def test_other(student, draw):\n"
        '    """o"""\n'
        f"    {asked}\n",
    )
    replace(lesson.checks / "test_visible.py", "points=3", "points=2")


def undefined_name(lesson: Copy) -> None:
    lesson.lists["names"].append("half")
    append(lesson.folder / "hints.toml", 'half = ["a", "b", "c"]\n')


def stray_files(lesson: Copy) -> None:
    (lesson.folder / "notes.txt").write_text("")
    (lesson.checks / "notes.py").write_text("")


def passing_stub(lesson: Copy) -> None:
    """Add two checks that use nothing of the student, about a helper that the stub lacks."""
    lesson.lists["bonus"].append("HELPER")
    append(lesson.solution, "\n\n# solution\nHELPER = 1\n# end solution\n")
    lesson.stub.write_text(stub_of(lesson.solution.read_text("utf-8"), name="x"), "utf-8")
    append(lesson.folder / "hints.toml", 'HELPER = ["a", "b", "c"]\n')
    for letter in "ab":
        check = (
            '\n\n@check(points=1, about="HELPER", bonus=True)\n'
            f"def test_{letter}():\n"
            f'    """helper {letter}"""\n'
        )
        append(lesson.checks / "test_hidden.py", check)


def failing_reference(lesson: Copy) -> None:
    replace(lesson.solution, "return 2 * x", "return 2 * x + 1")


def unbalanced_markers(lesson: Copy) -> None:
    append(lesson.solution, "# solution\n")


def missing_solution(lesson: Copy) -> None:
    lesson.solution.unlink()


def broken_check(lesson: Copy) -> None:
    replace(
        lesson.checks / "test_hidden.py",
        '    """LIMIT is a float"""\n',
        '    """LIMIT is a float"""\n    1 / 0\n',
    )


def broken_check_file(lesson: Copy) -> None:
    append(lesson.checks / "test_hidden.py", "def\n")


def mistake_without_file(lesson: Copy) -> None:
    set_cell(lesson.mistakes, "off_by_one", None)


def mistake_without_rule(lesson: Copy) -> None:
    add_cell(lesson.mistakes, "halves", "def double(x):\n    return x / 2\n")


def harmless_mistake(lesson: Copy) -> None:
    add_cell(lesson.mistakes, "squares", "def double(x):\n    return x + x\n")


def mistake_elsewhere(lesson: Copy) -> None:
    add_to_cell(lesson.mistakes, "squares", "\n\ndef triple(x):\n    return x\n")


def unnamed_mistake(lesson: Copy) -> None:
    set_cell(lesson.mistakes, "squares", "def double(x):\n    return 5 * x\n")


def misnamed_mistake(lesson: Copy) -> None:
    add_cell(lesson.mistakes, "any", "def double(x):\n    return 5 * x\n")
    append(
        lesson.checks / "diagnosis.toml",
        '\n[any]\nabout = ["double"]\ntitle = "any"\nexplanation = "any"\n',
    )
    replace(
        lesson.checks / "diagnosis.py",
        "@rule\ndef squares",
        "@rule\ndef any(failure, student):\n    return {}\n\n\n@rule\ndef squares",
    )


def syntax_error_in_a_mistake(lesson: Copy) -> None:
    set_cell(lesson.mistakes, "squares", "def double(x)\n    return x\n")


def raising_rule(lesson: Copy) -> None:
    replace(
        lesson.checks / "diagnosis.py",
        '    x = failure.inputs.get("x")\n',
        '    x = failure.inputs.get("x")\n    1 / 0\n',
    )


def harmless_near_miss(lesson: Copy) -> None:
    add_cell(lesson.near_misses, "squares", "def double(x):\n    return x + x\n")


def misnamed_near_miss(lesson: Copy) -> None:
    add_cell(lesson.near_misses, "squares", cell_source(lesson.mistakes, "squares"))


def near_miss_of_nothing(lesson: Copy) -> None:
    replace(lesson.near_misses, "# %% squares", "# %% cubes")


def losing_alternative(lesson: Copy) -> None:
    set_cell(lesson.accepted, "adds", "def double(x):\n    return x + x + 0.25\n")


def late_truth(lesson: Copy) -> None:
    """Add a check that computes its expected value from what the student's code may have changed:
    from its copy, or from a measurement.
    """
    replace(lesson.checks / "test_visible.py", "points=3", "points=2")
    append(
        lesson.checks / "scenarios.py",
        "\n\ndef doubled(student, x):\n    return student.double(x), 2 * x\n",
    )
    bodies = {
        "copied": "with student.writing_allowed() as copies:\n        got = student.double(x)\n"
        "    assert_gradient(got, 2 * copies.of(x))",
        "measured": "assert_gradient(*student.observe('doubled', x))",
    }
    for name, body in bodies.items():
        append(
            lesson.checks / "test_hidden.py",
            f'\n\n@check(points=0.5, about="double")\ndef test_{name}(student, draw):\n'
            f'    """{name}"""\n    x = draw.tensor(3)\n    {body}\n',
        )


@dataclass(frozen=True)
class Breakage:
    """A way to break a lesson, and patterns for the expected problems; ``ID`` stands for the
    lesson.
    """

    apply: Callable[[Copy], None]
    said: list[str] = field(default_factory=list)
    full: bool = False
    """Whether mistakes and alternatives are kept."""


BREAKAGES = {
    breakage.apply.__name__: breakage
    for breakage in (
        Breakage(
            differing_stub,
            [
                r"ID: ID\.py is not the stub that the solution generates; run: grade verify"
                r" --write-stubs"
            ],
        ),
        Breakage(missing_readme, [r"ID: there is no README\.md"]),
        Breakage(
            missing_hints,
            [
                rf"ID: hints\.toml should have three steps for {name}"
                for name in ("double", "LIMIT")
            ],
        ),
        Breakage(
            too_many_points,
            [r"ID: solution, seed 1: the checks are worth 10\.5 points, should be 10"],
        ),
        Breakage(
            one_check_only,
            [r"ID: solution, seed 1: LIMIT has 1 checks of its own, should have at least 2"],
        ),
        Breakage(
            same_titles,
            [r"ID: solution, seed 1: two checks have the title 'double returns twice x'"],
        ),
        Breakage(
            no_title, [r"ID: solution, seed 1: ID\.limit_is_a_float has no docstring for a title"]
        ),
        Breakage(
            unlisted_name,
            [r"ID: solution, seed 1: ID\.other is about other, which course\.toml doesn't list"],
        ),
        Breakage(
            undefined_name,
            [
                r"ID: the solution doesn't define half",
                r"ID: solution, seed 1: half has 0 checks of its own, should have at least 2",
            ],
        ),
        Breakage(
            stray_files,
            [
                r"ID: stray file \S+/exercises/ID/notes\.txt",
                r"ID: stray file \S+/tests/checks/ID/notes\.py",
            ],
        ),
        Breakage(
            passing_stub,
            [
                rf"ID: stub, seed 1: ID\.{letter} is passed, should be not_started: None"
                for letter in "ab"
            ],
        ),
        Breakage(
            failing_reference,
            [
                (
                    r"ID: solution, seed 1: ID\.double is failed, should be passed: \[.*\] was not"
                    r" doubled"
                ),
                (
                    r"ID: solution, seed 1: ID\.gradient_of_double is skipped, should be passed:"
                    r" waits for: double returns twice x"
                ),
            ],
        ),
        Breakage(
            unbalanced_markers, [r"\S+/solutions/ID\.py: the last region has no '# end solution'"]
        ),
        Breakage(missing_solution, [r"ID: \S+/solutions/ID\.py: No such file or directory"]),
        Breakage(
            broken_check,
            [
                (
                    r"ID: solution, seed 1: ID\.limit_is_a_float: the grader's own fault: Traceback"
                    r" .*ZeroDivisionError: division by zero"
                ),
                (
                    r"ID: solution, seed 1: ID\.limit_is_a_float is grader_error, should be passed:"
                    r" ZeroDivisionError: division by zero"
                ),
            ],
        ),
        Breakage(
            late_truth,
            [
                rf"ID: spoiler zeros, order 0, written, seed 1: passes {name} only because it"
                r" writes into its arguments; .*"
                for name in ("copied", "measured")
            ],
        ),
        Breakage(
            mistake_without_file,
            [r"ID: mistake off_by_one has no cell in tests/mistakes/ID\.py"],
            full=True,
        ),
        Breakage(
            mistake_without_rule,
            [
                r"ID: mistake halves is not in diagnosis\.toml",
                (
                    r"ID: mistake halves, seed 1: is not named: ID\.double: common_constant_factor"
                    r" \(.*"
                ),
            ],
            full=True,
        ),
        Breakage(harmless_mistake, [r"ID: mistake squares 2, seed 1: loses no marks"], full=True),
        Breakage(
            mistake_elsewhere,
            [
                (
                    r"ID: mistake squares, seed 1: loses ID\.triple, which is about triple, not"
                    r" about double: the value is wrong"
                ),
                (
                    r"ID: mistake squares, seed 1: loses ID\.gradient_of_triple, which is about"
                    r" triple, not about double: waits for: .*"
                ),
            ],
            full=True,
        ),
        Breakage(
            unnamed_mistake,
            [
                r"ID: mistake squares, seed 1: is not named: ID\.double: common_constant_factor"
                r" \(.* was not doubled\); .*"
            ],
            full=True,
        ),
        Breakage(
            misnamed_mistake,
            [
                r"ID: mistake squares, seed 1: is not named: ID\.double: any \(.* was not"
                r" doubled\); .*"
            ],
            full=True,
        ),
        Breakage(
            syntax_error_in_a_mistake, [r"\S+/tests/mistakes/ID\.py:\d+: expected ':'"], full=True
        ),
        Breakage(
            raising_rule,
            [
                (
                    r"ID: mistake squares, seed 1: ID\.double: the grader's own fault: the rule of"
                    r" 'squares' broke:\n.*ZeroDivisionError.*"
                ),
                r"ID: mistake squares, seed 1: is not named: ID\.double: None .*",
                (
                    r"ID: near miss squares, seed 1: ID\.double: the grader's own fault: the rule"
                    r" of 'squares' broke:\n.*ZeroDivisionError.*"
                ),
            ],
            full=True,
        ),
        Breakage(
            harmless_near_miss, [r"ID: near miss squares 2, seed 1: loses no marks"], full=True
        ),
        Breakage(
            misnamed_near_miss,
            [
                r"ID: near miss squares 2, seed 1: ID\.double gets the name squares, but only"
                r" resembles it: For x = .* which is x \* x = .*"
            ],
            full=True,
        ),
        Breakage(
            near_miss_of_nothing,
            [r"ID: near miss cubes resembles no mistake in diagnosis\.toml"],
            full=True,
        ),
        Breakage(
            losing_alternative,
            [
                (
                    r"ID: accepted adds, seed 1: ID\.double is failed, should be passed: \[.*\] was"
                    r" not doubled"
                ),
                (
                    r"ID: accepted adds, seed 1: ID\.gradient_of_double is skipped, should be"
                    r" passed: waits for: .*"
                ),
            ],
            full=True,
        ),
    )
}


@dataclass(frozen=True)
class Verified:
    """The result of verifying the course of broken lessons."""

    found: VerifyResult
    progress: list[tuple[int, int]]

    def problems(self, name: str) -> list[str]:
        """Return the problems of one lesson."""
        return [problem for problem in self.found.problems if re.search(rf"\b{name}\b", problem)]


@pytest.fixture(scope="module")
def verified(tmp_path_factory: pytest.TempPathFactory, small_course: Course) -> Verified:
    """Verify every breakage in a separate lesson, and an intact lesson, with one host."""
    root, original = tmp_path_factory.mktemp("course"), small_course.lesson("tiny")
    entries = [Copy(root, "whole", original).entry()]
    for name, breakage in {**BREAKAGES, "broken_check_file": Breakage(broken_check_file)}.items():
        lesson = Copy(root, name, original)
        if not breakage.full:
            lesson.trim()
        breakage.apply(lesson)
        entries.append(lesson.entry())
    (root / "exercises" / "course.toml").write_text(
        'id = "c"\ntitle = "C"\nversion = "0"\n' + "".join(entries), "utf-8"
    )
    course, progress = load_course(root), []
    found = verify(
        course,
        course.lessons,
        seeds=[1],
        settings=Settings(0, "off", small_course.limits),
        workers=1,
        progress=lambda done, total: progress.append((done, total)),
    )
    return Verified(found, progress)


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_lesson_is_told_what_is_wrong_with_it(name: str, verified: Verified) -> None:
    """Exactly the expected problems are reported."""
    wanted = [pattern.replace("ID", name) for pattern in BREAKAGES[name].said]
    found = verified.problems(name)
    assert len(found) == len(wanted), found
    for pattern in wanted:
        assert [problem for problem in found if re.fullmatch(pattern, problem, re.DOTALL)], (
            pattern,
            found,
        )


def test_checks_that_can_not_be_collected_are_told_once_with_file_and_line(
    verified: Verified,
) -> None:
    (problem,) = verified.problems("broken_check_file")
    assert re.search(r"test_hidden\.py:\d+: SyntaxError: invalid syntax\. ", problem)


def test_a_whole_lesson_has_no_problem(verified: Verified) -> None:
    assert verified.problems("whole") == []


def test_every_problem_names_its_lesson(verified: Verified) -> None:
    known = {"whole", "broken_check_file", *BREAKAGES}
    assert all(
        sum(bool(re.search(rf"\b{name}\b", problem)) for name in known) == 1
        for problem in verified.found.problems
    )


def test_the_proof_counts_what_was_shown(verified: Verified) -> None:
    """A mistake is caught if it lost marks, and named if it got its name."""
    proofs = {proof.lesson: proof for proof in verified.found.proofs}
    whole = LessonSummary(
        "whole",
        checks=6,
        mistakes=2,
        caught=2,
        named=2,
        near_misses=1,
        told_apart=1,
        accepted=1,
        accepted_passed=1,
    )
    assert proofs["whole"] == whole
    assert proofs["unnamed_mistake"] == dataclasses.replace(
        whole, lesson="unnamed_mistake", named=1
    )
    assert proofs["harmless_mistake"] == dataclasses.replace(
        whole, lesson="harmless_mistake", mistakes=3
    )
    assert proofs["misnamed_near_miss"] == dataclasses.replace(
        whole, lesson="misnamed_near_miss", near_misses=2
    )
    assert proofs["losing_alternative"].accepted_passed == 0
    assert (proofs["stray_files"].mistakes, proofs["stray_files"].accepted) == (0, 0)


def test_a_lesson_that_can_not_be_read_is_not_graded_and_stops_no_other(verified: Verified) -> None:
    unread = {"unbalanced_markers", "missing_solution", "syntax_error_in_a_mistake"}
    assert {proof.lesson for proof in verified.found.proofs} == {
        "whole",
        "broken_check_file",
        *BREAKAGES,
    } - unread


def test_progress_is_told_grading_by_grading(verified: Verified) -> None:
    total = verified.found.gradings
    assert verified.progress == [(done, total) for done in range(1, total + 1)]


# ---------------------------------------------------------------------------- verdicts held against


def judged(*outcomes: Outcome, diagnosis: str | None = None, **more: Any) -> LessonOutcome:
    """Return a grading of the small course's lesson with these outcomes for the checks of
    ``double``; ``about`` has its mistakes.
    """
    checks = tuple(
        CheckResult(
            f"tiny.c{k}",
            f"title {k}",
            "double",
            outcome,
            0.0,
            5.0,
            message="m",
            diagnosis=diagnosis,
            **more,
        )
        for k, outcome in enumerate(outcomes)
    )
    return LessonOutcome(
        LessonResult("tiny", "Tiny", LessonStatus.FAILED, 0.0, 10.0, checks=checks),
        JudgeResult((), catalogue={"squares": ("double",)}),
    )


def test_a_verdict_that_hangs_on_the_seed_is_told_with_the_seed(small_course: Course) -> None:
    """A mistake that passes from one seed in three is not caught."""
    case = Case(small_course.lesson("tiny"), "mistake", "squares", "")
    wrong, right = (
        judged(Outcome.FAILED, Outcome.PASSED, diagnosis="squares"),
        judged(Outcome.PASSED, Outcome.PASSED),
    )
    proof, problems = judge_lesson(
        case.lesson,
        {
            case: [
                (seed, finding_of(case, one)) for seed, one in enumerate((wrong, right, wrong), 1)
            ]
        },
    )
    assert problems == [
        "tiny: mistake squares, seed 2: loses no marks",
        "tiny: mistake squares depends on the seed: c0 is passed from seed 2, failed from seeds 1,"
        " 3",
    ]
    assert (proof.caught, proof.named) == (0, 0)


P, F, E, S = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([[P, F], [P, F]], []),
        ([[F, P]], []),
        (
            [[F, P, F], [F, F, F], [F, F, P]],
            [
                "c1 is passed from seed 1, failed from seeds 2, 3; c2"
                " is passed from seed 3, failed from seeds 1, 2"
            ],
        ),
        (
            [[P, P], [P, P], [F, S], [F, S], [F, S]],
            ["c0 is passed from seeds 1, 2, failed from seeds 3 to 5"],
        ),
        (
            [[P, P], [F, S], [P, F]],
            [
                "c0 is passed from seeds 1, 3, failed from seed 2; c1 is passed"
                " from seed 1, failed from seed 3"
            ],
        ),
        ([[F], [E]], ["c0 is failed from seed 1, error from seed 2"]),
    ],
)
@pytest.mark.parametrize("kind", ["mistake", "near miss", "accepted", "stub"])
def test_each_check_that_depends_on_the_seed_is_listed_with_its_seeds(
    kind: str, outcomes: list[list[Outcome]], said: list[str], small_course: Course
) -> None:
    """An answer has one line. A check that only waits for such a check is not listed."""
    case = Case(small_course.lesson("tiny"), kind, "squares", "")
    runs = [(seed, finding_of(case, judged(*one))) for seed, one in enumerate(outcomes, 1)]
    found = [text for text in judge_lesson(case.lesson, {case: runs})[1] if "depends on" in text]
    assert found == [f"tiny: {kind} squares depends on the seed: {text}" for text in said]


@pytest.mark.parametrize(("names", "named"), [(("squares", "other"), 1), (("other", "squares"), 0)])
def test_the_first_diagnosis_is_what_a_mistake_is_called(
    names: tuple[str, str], named: int, small_course: Course
) -> None:
    """A later check may get another name, and a second file may prove the same mistake."""
    case = Case(small_course.lesson("tiny"), "mistake", "squares 2", "")
    one, two = (judged(Outcome.FAILED, diagnosis=name) for name in names)
    both = LessonResult(
        "tiny", "T", LessonStatus.FAILED, 0, 10, checks=one.result.checks + two.result.checks
    )
    proof, problems = judge_lesson(
        case.lesson, {case: [(1, finding_of(case, LessonOutcome(both, one.judged)))]}
    )
    assert (proof.named, len(problems)) == (named, 1 - named)


@pytest.mark.parametrize("bonus", [True, False])
def test_an_alternative_may_lose_a_bonus_and_a_solution_may_not(
    bonus: bool, small_course: Course
) -> None:
    lesson = small_course.lesson("tiny")
    cases = [Case(lesson, kind, "x", "") for kind in ("accepted", "solution")]
    shown = LessonOutcome(judged(Outcome.FAILED, bonus=bonus).result)
    found = [judge_lesson(lesson, {case: [(1, finding_of(case, shown))]})[1] for case in cases]
    assert ["is failed, should be passed" in " ".join(problems) for problems in found] == [
        not bonus,
        True,
    ]


def test_a_mistake_in_the_bonus_alone_loses_no_marks(small_course: Course) -> None:
    case = Case(small_course.lesson("tiny"), "mistake", "squares", "")
    _, problems = judge_lesson(
        case.lesson,
        {case: [(1, finding_of(case, judged(Outcome.FAILED, diagnosis="squares", bonus=True)))]},
    )
    assert problems == ["tiny: mistake squares, seed 1: loses no marks"]


def test_a_mistake_about_a_bonus_part_loses_the_bonus(small_course: Course) -> None:
    """There are no other marks to lose."""
    case = Case(
        dataclasses.replace(small_course.lesson("tiny"), bonus=("double",)),
        "mistake",
        "squares",
        "",
    )
    proof, problems = judge_lesson(
        case.lesson,
        {case: [(1, finding_of(case, judged(Outcome.FAILED, diagnosis="squares", bonus=True)))]},
    )
    assert (proof.caught, proof.named, problems) == (1, 1, [])


PO = (
    'msgid ""\n'
    'msgstr "Content-Type: text/plain; charset=UTF-8\\n"\n\n'
    'msgid "T"\n'
    'msgstr "제목"\n\n'
    "{more}"
)


@pytest.mark.parametrize(
    ("more", "problems"),
    [
        ("", ["not translated: 'S'"]),
        ('msgid "S"\nmsgstr "요약"\n', []),
        ('#, fuzzy\nmsgid "S"\nmsgstr "요약"\n', ["not translated: 'S'"]),
        ('msgid "S"\nmsgstr "{x}"\n', ["the translation has other placeholders: 'S'"]),
        ('msgid "S"\nmsgstr "{"\n', []),
        (
            'msgid "S"\nmsgstr "요약"\n\nmsgid "a {x}"\nmsgstr "{y}"\n',
            ["the translation has other placeholders: 'a {x}'"],
        ),
    ],
)
def test_what_a_language_lacks_is_told(more: str, problems: list[str], tmp_path: Path) -> None:
    """The problems are texts that no grading shows and placeholders; unfinished translations count
    as missing.
    """
    lesson = Lesson(tmp_path, "tiny", "T", "S", names=())
    lesson.folder.mkdir(parents=True)
    (lesson.folder / "README.ko.md").touch()
    (lesson.folder / "ko.po").write_text(PO.replace("{more}", more), "utf-8")
    assert catalogue_problems(lesson, "ko") == [f"tiny: {problem}" for problem in problems]
    assert catalogue_problems(lesson, "en") == []


def test_a_readme_and_the_hints_are_translated_too(tmp_path: Path) -> None:
    lesson = Lesson(tmp_path, "tiny", "T", "S", names=())
    lesson.folder.mkdir(parents=True)
    (lesson.folder / "hints.toml").write_text('double = ["one", "two"]\n', "utf-8")
    told = [f"tiny: not translated: {text!r}" for text in ("S", "T", "one", "two")]
    assert catalogue_problems(lesson, "ko") == [*told, "tiny: there is no README.ko.md"]


def test_a_third_language_is_files_to_add(small_course: Course, tmp_path: Path) -> None:
    """Its files are not reported as stray."""
    shutil.copytree(small_course.root, tmp_path / "course")
    lesson = dataclasses.replace(small_course.lesson("tiny"), root=tmp_path / "course")
    before = static_problems(lesson)
    for name in ("README.de.md", "de.po"):
        (lesson.folder / name).touch()
    assert static_problems(lesson) == before
    (lesson.folder / "notes.md").touch()
    assert len(static_problems(lesson)) == len(before) + 1


def test_texts_that_a_grading_could_not_translate_are_told(small_course: Course) -> None:
    """Each is reported once, for any number of seeds."""
    case = Case(small_course.lesson("tiny"), "mistake", "squares", "")
    made = judged(Outcome.FAILED, diagnosis="squares")
    shown = LessonOutcome(made.result, dataclasses.replace(made.judged, untranslated=("m",)))
    assert judge_lesson(case.lesson, {case: [(seed, finding_of(case, shown)) for seed in (1, 2)]})[
        1
    ] == ["tiny: not translated: 'm'"]


def test_several_files_may_prove_one_mistake() -> None:
    assert [mistake_id(name) for name in ("squares", "squares 2", "one_too_few 17")] == [
        "squares",
        "squares",
        "one_too_few",
    ]
