"""``grade verify`` finds each way in which a lesson can be broken, reports exactly that, and finds
no problem in an intact lesson.

One course is graded once: an intact lesson, and for every breakage a copy with only that breakage.
"""

from __future__ import annotations

import dataclasses
import re
import shutil
from collections.abc import Callable
from dataclasses import dataclass
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
from grader.verify.static_problems import static_problems
from grader.verify.translations import catalogue_problems
from grader.verify.verify import LessonSummary, VerifyResult, judge_lesson, verify


class Copy:
    """A copy of the small course's lesson under another name."""

    def __init__(self, root: Path, name: str, original: Lesson) -> None:
        self.name = name
        self.lists = {"names": list(original.names), "bonus": list(original.bonus)}
        self.folder = root / "exercises" / name
        self.checks = root / "tests" / "checks" / name
        self.visible, self.hidden = self.checks / "test_visible.py", self.checks / "test_hidden.py"
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
    append(catalogue, f"\n\n# %% {name}\n# What it does.\n{source}")


def replace(path: Path, old: str, new: str) -> None:
    """Replace a text that must exist."""
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), "utf-8")


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text("utf-8") + text, "utf-8")


# ---------------------------------------------------------------------------------------- breakages


@dataclass(frozen=True)
class Breakage:
    """A way to break a lesson, and patterns for the expected problems, in which ``ID`` stands for
    the lesson. With ``full``, mistakes and alternatives are kept.
    """

    apply: Callable[[Copy], None]
    said: tuple[str, ...] = ()
    full: bool = False


BREAKAGES: dict[str, Breakage] = {}


def breakage(*said: str, full: bool = False) -> Callable[[Callable[[Copy], None]], None]:
    def register(apply: Callable[[Copy], None]) -> None:
        BREAKAGES[apply.__name__] = Breakage(apply, said, full)

    return register


@breakage(
    r"ID: ID\.py is not the stub that the solution generates; run: grade verify"
    r" --write-stubs"
)
def differing_stub(lesson: Copy) -> None:
    append(lesson.stub, "# edited by hand\n")


@breakage(r"ID: there is no README\.md")
def missing_readme(lesson: Copy) -> None:
    (lesson.folder / "README.md").unlink()


@breakage(*(rf"ID: hints\.toml should have three steps for {name}" for name in ("double", "LIMIT")))
def missing_hints(lesson: Copy) -> None:
    replace(
        lesson.folder / "hints.toml",
        '"Multiply by a number.", "return 2 * …"]',
        '"Multiply by a number."]',
    )
    replace(lesson.folder / "hints.toml", "LIMIT =", "OTHER =")


@breakage(r"ID: solution, seed 1: the checks are worth 10\.5 points, should be 10")
def too_many_points(lesson: Copy) -> None:
    replace(lesson.visible, "points=3", "points=3.5")


@breakage(r"ID: solution, seed 1: LIMIT has 1 check of its own, should have at least 2")
def one_check_only(lesson: Copy) -> None:
    text = lesson.hidden.read_text("utf-8")
    lesson.hidden.write_text(
        text[: text.index('@check(points=1, about="LIMIT")\ndef test_limit_is_a_float')]
    )
    replace(lesson.hidden, '@check(points=1, about="LIMIT")', '@check(points=2, about="LIMIT")')


@breakage(r"ID: solution, seed 1: two checks have the title 'double returns twice x'")
def same_titles(lesson: Copy) -> None:
    replace(lesson.hidden, '"""LIMIT is a float"""', '"""double returns twice x"""')


@breakage(r"ID: solution, seed 1: ID\.limit_is_a_float has no docstring for a title")
def no_title(lesson: Copy) -> None:
    replace(lesson.hidden, '    """LIMIT is a float"""\n', "")


@breakage(r"ID: solution, seed 1: ID\.other is about other, which course\.toml doesn't list")
def unlisted_name(lesson: Copy) -> None:
    append(
        lesson.hidden,
        '\n\n@check(points=1, about="other")\ndef test_other(student, draw):\n    """o"""\n'
        "    student.double(draw.tensor(1))\n",
    )
    replace(lesson.visible, "points=3", "points=2")


@breakage(
    r"ID: the solution doesn't define half",
    r"ID: solution, seed 1: half has 0 checks of its own, should have at least 2",
)
def undefined_name(lesson: Copy) -> None:
    lesson.lists["names"].append("half")
    append(lesson.folder / "hints.toml", 'half = ["a", "b", "c"]\n')


@breakage(
    r"ID: stray file \S+/exercises/ID/notes\.txt", r"ID: stray file \S+/tests/checks/ID/notes\.py"
)
def stray_files(lesson: Copy) -> None:
    (lesson.folder / "notes.txt").write_text("")
    (lesson.checks / "notes.py").write_text("")


@breakage(
    *(rf"ID: stub, seed 1: ID\.{letter} is passed, should be not_started: None" for letter in "ab")
)
def passing_stub(lesson: Copy) -> None:
    """Add two checks that use nothing of the student, about a helper that the stub lacks."""
    lesson.lists["bonus"].append("HELPER")
    append(lesson.solution, "\n\n# solution\nHELPER = 1\n# end solution\n")
    lesson.stub.write_text(stub_of(lesson.solution.read_text("utf-8"), name="x"), "utf-8")
    append(lesson.folder / "hints.toml", 'HELPER = ["a", "b", "c"]\n')
    for letter in "ab":
        decorator = '@check(points=1, about="HELPER", bonus=True)'
        title = f'"""helper {letter}"""'
        append(lesson.hidden, f"\n\n{decorator}\ndef test_{letter}():\n    {title}\n")


@breakage(
    r"ID: solution, seed 1: ID\.double is failed, should be passed: \[.*\] was not"
    r" doubled \(x .*; expected .*; got .*\)"
)
def failing_reference(lesson: Copy) -> None:
    replace(lesson.solution, "return 2 * x", "return 2 * x + 1")


@breakage(r"\S+/solutions/ID\.py: the last region has no '# end solution'")
def unbalanced_markers(lesson: Copy) -> None:
    append(lesson.solution, "# solution\n")


@breakage(r"ID: \S+/solutions/ID\.py: No such file or directory")
def missing_solution(lesson: Copy) -> None:
    lesson.solution.unlink()


@breakage(
    r"\S+/ID/test_hidden\.py:\d+: ZeroDivisionError: division by zero \(ID: solution, seed 1\)"
)
def broken_check(lesson: Copy) -> None:
    replace(
        lesson.hidden, '    """LIMIT is a float"""\n', '    """LIMIT is a float"""\n    1 / 0\n'
    )


@breakage(r"\S+/ID/test_hidden\.py:\d+: invalid syntax")
def broken_check_file(lesson: Copy) -> None:
    append(lesson.hidden, "def\n")


@breakage(r"ID: mistake off_by_one has no cell in tests/mistakes/ID\.py", full=True)
def mistake_without_file(lesson: Copy) -> None:
    set_cell(lesson.mistakes, "off_by_one", None)


@breakage(
    r"ID: mistake halves is not in diagnosis\.toml",
    r"ID: mistake halves, seed 1: is not named: ID\.double: common_constant_factor"
    r" \(.*",
    full=True,
)
def mistake_without_rule(lesson: Copy) -> None:
    add_cell(lesson.mistakes, "halves", "def double(x):\n    return x / 2\n")


@breakage(r"ID: mistake squares 2, seed 1: loses no marks", full=True)
def harmless_mistake(lesson: Copy) -> None:
    add_cell(lesson.mistakes, "squares", "def double(x):\n    return x + x\n")


@breakage(
    r"ID: mistake squares, seed 1: loses ID\.triple, which is about triple, not"
    r" about double: the value is wrong",
    r"ID: mistake squares, seed 1: loses ID\.gradient_of_triple, which is about"
    r" triple, not about double: waits for: .*",
    full=True,
)
def mistake_elsewhere(lesson: Copy) -> None:
    both = cell_source(lesson.mistakes, "squares") + "\n\ndef triple(x):\n    return x\n"
    set_cell(lesson.mistakes, "squares", both)


@breakage(
    r"ID: mistake squares, seed 1: is not named: ID\.double: common_constant_factor"
    r" \(.* was not doubled\); .*",
    full=True,
)
def unnamed_mistake(lesson: Copy) -> None:
    set_cell(lesson.mistakes, "squares", "def double(x):\n    return 5 * x\n")


@breakage(
    r"ID: mistake squares, seed 1: is not named: ID\.double: any \(.* was not"
    r" doubled\); .*",
    full=True,
)
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


@breakage(r"\S+/tests/mistakes/ID\.py:\d+: expected ':'", full=True)
def syntax_error_in_a_mistake(lesson: Copy) -> None:
    set_cell(lesson.mistakes, "squares", "def double(x)\n    return x\n")


@breakage(
    r"\S+/ID/diagnosis\.py:\d+: ZeroDivisionError: division by zero"
    r" \(ID: mistake squares, near miss squares, near miss off_by_one, seed 1\)",
    full=True,
)
def raising_rule(lesson: Copy) -> None:
    replace(
        lesson.checks / "diagnosis.py",
        '    x = failure.inputs.get("x")\n',
        '    x = failure.inputs.get("x")\n    1 / 0\n',
    )


@breakage(r"ID: near miss squares 2, seed 1: loses no marks", full=True)
def harmless_near_miss(lesson: Copy) -> None:
    add_cell(lesson.near_misses, "squares", "def double(x):\n    return x + x\n")


@breakage(
    r"ID: near miss squares 2, seed 1: ID\.double gets the name squares, but only"
    r" resembles it: For x = .* which is x \* x = .*",
    full=True,
)
def misnamed_near_miss(lesson: Copy) -> None:
    add_cell(lesson.near_misses, "squares", cell_source(lesson.mistakes, "squares"))


@breakage(
    r"\S+/ID/diagnosis\.toml:6: nothing fills \{sqare\}\. There are x, expected, actual, and facts"
    r" \(ID: mistake squares, seed 1\)",
    full=True,
)
def misspelt_placeholder(lesson: Copy) -> None:
    replace(lesson.checks / "diagnosis.toml", "{square}", "{sqare}")


@breakage(
    r"\S+/ID/test_hidden\.py:\d+: no mistake and no near miss fails this check\. Add one that does,"
    r" and see whether the check calls the student's code",
    r"\S+/ID/test_hidden\.py:\d+: no mistake and no near miss fails this check\. Add one that does",
    full=True,
)
def unfailed_checks(lesson: Copy) -> None:
    """A check that can't fail, and one for which no wrong answer is known."""
    replace(lesson.visible, "points=3", "points=2.5")
    replace(lesson.hidden, 'points=2, about="double"', 'points=1.5, about="double"')
    append(
        lesson.hidden,
        '\n\n@check(points=0.5, about="double")\ndef test_nothing(student, draw):\n    """a"""\n'
        '\n\n@check(points=0.5, about="double")\ndef test_ones(student):\n    """b"""\n'
        "    x = torch.zeros(2)\n    assert_gradient(student.double(x), x)\n",
    )


@breakage(
    r"\S+/ID/test_hidden\.py:\d+: imports grader\.judge\.checks\. Of the engine, this file may"
    r" import only grader\.authoring",
    r"\S+/ID/scenarios\.py:\d+: imports grader\.core\. Of the engine, this file may import only"
    r" grader\.authoring and grader\.worker\.scenarios",
)
def imports_of_the_engine(lesson: Copy) -> None:
    append(lesson.hidden, "\nfrom grader.judge.checks import fail\n")
    imports = "    import grader.core\n    import grader.worker.scenarios\n"
    append(lesson.checks / "scenarios.py", f"\n\ndef more(student):\n{imports}")


@breakage(
    r"\S+/ID/test_hidden\.py:8: at='duble' is not in the solution",
    r"\S+/ID/test_hidden\.py:16: hint='tripel' is not in hints\.toml",
)
def misspelt_places(lesson: Copy) -> None:
    replace(lesson.hidden, 'about="double", needs', 'about="double", at="duble", needs')
    replace(lesson.hidden, 'about="triple", needs', 'about="triple", hint="tripel", needs')


@breakage(r"\S+/exercises/ID/hints\.toml:\d+: this hint contains all of the answer\. .*")
def hint_that_answers(lesson: Copy) -> None:
    replace(lesson.folder / "hints.toml", "return 2 * …", "return 2 * x")


@breakage(r"ID: near miss cubes resembles no mistake in diagnosis\.toml", full=True)
def near_miss_of_nothing(lesson: Copy) -> None:
    replace(lesson.near_misses, "# %% squares", "# %% cubes")


@breakage(
    r"ID: accepted adds, seed 1: ID\.double is failed, should be passed: \[.*\] was"
    r" not doubled \(.*\)",
    full=True,
)
def losing_alternative(lesson: Copy) -> None:
    set_cell(lesson.accepted, "adds", "def double(x):\n    return x + x + 0.25\n")


@breakage(
    *(
        rf"ID: spoiler zeros, order 0, written, seed 1: passes {name} only because it"
        r" writes into its arguments; .*"
        for name in ("copied", "measured")
    )
)
def late_truth(lesson: Copy) -> None:
    """Add checks whose truth is what the student's code may have changed: a copy, a measurement."""
    replace(lesson.visible, "points=3", "points=2")
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
            lesson.hidden,
            f'\n\n@check(points=0.5, about="double")\ndef test_{name}(student, draw):\n'
            f'    """{name}"""\n    x = draw.tensor(3)\n    {body}\n',
        )


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
    for name, breakage in BREAKAGES.items():
        lesson = Copy(root, name, original)
        if not breakage.full:
            lesson.trim()
        breakage.apply(lesson)
        entries.append(lesson.entry())
    (root / "exercises" / "course.toml").write_text(
        'id = "c"\ntitle = "C"\nversion = "0"\n' + "".join(entries), "utf-8"
    )
    course, progress = load_course(root), []
    given: dict[str, Any] = {"settings": Settings(0, "off", small_course.limits), "workers": 1}
    given["progress"] = lambda done, total: progress.append((done, total))
    return Verified(verify(course, course.lessons, seeds=[1], **given), progress)


@pytest.mark.parametrize("name", BREAKAGES)
def test_a_broken_lesson_is_told_what_is_wrong_with_it(name: str, verified: Verified) -> None:
    """Exactly the expected problems are reported."""
    wanted = [pattern.replace("ID", name) for pattern in BREAKAGES[name].said]
    found = verified.problems(name)
    assert len(found) == len(wanted), found
    for pattern in wanted:
        told = [problem for problem in found if re.fullmatch(pattern, problem, re.DOTALL)]
        assert told, (pattern, found)


def test_a_whole_lesson_has_no_problem(verified: Verified) -> None:
    assert verified.problems("whole") == []


def test_every_problem_names_its_lesson(verified: Verified) -> None:
    known = {"whole", *BREAKAGES}
    for problem in verified.found.problems:
        assert len(known.intersection(re.findall(r"\w+", problem))) == 1


def test_the_proof_counts_what_was_shown(verified: Verified) -> None:
    """A mistake is caught if it lost marks, and named if it got its name."""
    proofs = {proof.lesson: proof for proof in verified.found.proofs}
    whole = LessonSummary(
        "whole",
        checks=6,
        mistakes=2,
        caught=2,
        named=2,
        near_misses=3,
        told_apart=3,
        accepted=1,
        accepted_passed=1,
    )
    changed: dict[str, dict[str, int]] = {
        "whole": {},
        "unnamed_mistake": {"named": 1},
        "harmless_mistake": {"mistakes": 3},
        "misnamed_near_miss": {"near_misses": 4},
    }
    for name, counts in changed.items():
        wanted: dict[str, Any] = {"lesson": name, **counts}
        assert proofs[name] == dataclasses.replace(whole, **wanted)
    assert proofs["losing_alternative"].accepted_passed == 0
    assert (proofs["stray_files"].mistakes, proofs["stray_files"].accepted) == (0, 0)


def test_a_lesson_that_can_not_be_read_is_not_graded_and_stops_no_other(verified: Verified) -> None:
    unread = {"unbalanced_markers", "missing_solution", "syntax_error_in_a_mistake"}
    unread |= {"broken_check_file"}
    assert {proof.lesson for proof in verified.found.proofs} == {"whole", *BREAKAGES} - unread


def test_progress_is_told_grading_by_grading(verified: Verified) -> None:
    total = verified.found.gradings
    assert [done for done, _ in verified.progress] == [*range(1, total + 1)]
    assert verified.progress[-1] == (total, total)


# ---------------------------------------------------------------------------- verdicts held against


def judged(*outcomes: Outcome, diagnosis: str | None = None, **more: Any) -> LessonOutcome:
    """Return a grading of the lesson with these outcomes for the checks of ``double``."""
    more |= {"message": "m", "diagnosis": diagnosis}
    checks = tuple(
        CheckResult(f"tiny.c{k}", f"title {k}", "double", outcome, 0.0, 5.0, **more)
        for k, outcome in enumerate(outcomes)
    )
    return LessonOutcome(
        LessonResult("tiny", "Tiny", LessonStatus.FAILED, 0.0, 10.0, checks=checks),
        JudgeResult((), catalogue={"squares": ("double",)}),
    )


def judge(
    course: Course, kind: str, *runs: LessonOutcome, name: str = "squares", **changed: Any
) -> tuple[LessonSummary, list[str]]:
    """Judge a case of the lesson from the seeds 1, 2, …, from which it had these outcomes."""
    case = Case(dataclasses.replace(course.lesson("tiny"), **changed), kind, name, "")
    findings = [finding_of(case, run) for run in runs]
    return judge_lesson(case.lesson, {case: dict(enumerate(findings, 1))})


P, F, E, S = Outcome.PASSED, Outcome.FAILED, Outcome.ERROR, Outcome.SKIPPED


def test_a_verdict_that_hangs_on_the_seed_is_told_with_the_seed(small_course: Course) -> None:
    """A mistake that passes from one seed in three is not caught."""
    wrong, right = judged(F, P, diagnosis="squares"), judged(P, P)
    proof, problems = judge(small_course, "mistake", wrong, right, wrong)
    assert problems == [
        "tiny: mistake squares, seed 2: loses no marks",
        "tiny: mistake squares depends on the seed: c0 is passed from seed 2, failed from seeds 1,"
        " 3",
    ]
    assert (proof.caught, proof.named) == (0, 0)


@pytest.mark.parametrize(
    ("outcomes", "said"),
    [
        ([[P, F], [P, F]], []),
        ([[F, P]], []),
        (
            [[F, P, F], [F, F, F], [F, F, P]],
            [
                "c1 is passed from seed 1, failed from seeds 2, 3",
                "c2 is passed from seed 3, failed from seeds 1, 2",
            ],
        ),
        (
            [[P, P], [P, P], [F, S], [F, S], [F, S]],
            ["c0 is passed from seeds 1, 2, failed from seeds 3 to 5"],
        ),
        (
            [[P, P], [F, S], [P, F]],
            [
                "c0 is passed from seeds 1, 3, failed from seed 2",
                "c1 is passed from seed 1, failed from seed 3",
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
    _, problems = judge(small_course, kind, *(judged(*one) for one in outcomes))
    line = f"tiny: {kind} squares depends on the seed: {'; '.join(said)}"
    assert [text for text in problems if "depends on" in text] == ([line] if said else [])


@pytest.mark.parametrize(("names", "named"), [(("squares", "other"), 1), (("other", "squares"), 0)])
def test_the_first_diagnosis_is_what_a_mistake_is_called(
    names: tuple[str, str], named: int, small_course: Course
) -> None:
    """A later check may get another name, and a second file may prove the same mistake."""
    one, two = (judged(F, diagnosis=name) for name in names)
    both = dataclasses.replace(one.result, checks=one.result.checks + two.result.checks)
    run = dataclasses.replace(one, result=both)
    proof, problems = judge(small_course, "mistake", run, name="squares 2")
    assert (proof.named, len(problems)) == (named, 1 - named)


@pytest.mark.parametrize("bonus", [True, False])
@pytest.mark.parametrize("kind", ["accepted", "solution"])
def test_an_alternative_may_lose_a_bonus_and_a_solution_may_not(
    bonus: bool, kind: str, small_course: Course
) -> None:
    _, problems = judge(small_course, kind, judged(F, bonus=bonus))
    told = "is failed, should be passed" in " ".join(problems)
    assert told is (kind == "solution" or not bonus)


def test_a_mistake_that_costs_a_bonus_alone_loses_marks_only_if_it_is_about_it(
    small_course: Course,
) -> None:
    run = judged(F, diagnosis="squares", bonus=True)
    proof, problems = judge(small_course, "mistake", run)
    assert (proof.caught, proof.named, problems) == (1, 1, [])
    elsewhere = dataclasses.replace(run.judged, catalogue={"squares": ("other",)})
    _, problems = judge(small_course, "mistake", dataclasses.replace(run, judged=elsewhere))
    assert "tiny: mistake squares, seed 1: loses no marks" in problems


def test_texts_that_a_grading_could_not_translate_are_told(small_course: Course) -> None:
    """Each is reported once, for any number of seeds."""
    made = judged(F, diagnosis="squares")
    run = dataclasses.replace(made, judged=dataclasses.replace(made.judged, untranslated=("m",)))
    assert judge(small_course, "mistake", run, run)[1] == ["tiny: not translated: 'm'"]


PO = """
msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\n"

msgid "T"
msgstr "제목"

"""


@pytest.fixture
def untold(tmp_path: Path) -> Lesson:
    """Return a lesson with an empty folder."""
    lesson = Lesson(tmp_path, "tiny", "T", "S", names=())
    for folder in (lesson.folder, lesson.checks):
        folder.mkdir(parents=True)
    lesson.stub.write_text("# A comment. And more.\n", "utf-8")
    (lesson.checks / "test_checks.py").write_text('fail("a {x}", f"{name}.grad before")\n', "utf-8")
    return lesson


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
        (
            'msgid "S"\nmsgstr "요약"\n\nmsgid "x.grad before"\nmsgstr "전"\n\n'
            'msgid "And more."\nmsgstr "더"\n\nmsgid "x.grad after"\nmsgstr "후"\n',
            ["PO:17: no file of the lesson has this text any more: 'x.grad after'"],
        ),
    ],
)
def test_what_a_language_lacks_is_told(more: str, problems: list[str], untold: Lesson) -> None:
    """Texts that no grading shows, and placeholders; unfinished translations are missing."""
    (untold.folder / "README.ko.md").touch()
    (untold.folder / "ko.po").write_text(PO + more, "utf-8")
    told = [
        text.replace(str(untold.folder / "ko.po"), "PO")
        for text in catalogue_problems(untold, "ko")
    ]
    stub = ["not translated: 'A comment.'", "not translated: 'And more.'"]
    assert [text for text in told if text not in stub] == problems
    assert list(catalogue_problems(untold, "en")) == []


def test_a_readme_and_the_hints_are_translated_too(untold: Lesson) -> None:
    (untold.folder / "hints.toml").write_text('double = ["one", "two"]\n', "utf-8")
    lacking = ("A comment.", "And more.", "S", "T", "one", "two")
    told = [f"not translated: {text!r}" for text in lacking]
    assert list(catalogue_problems(untold, "ko")) == [*told, "there is no README.ko.md"]


def test_a_third_language_is_files_to_add(small_course: Course, tmp_path: Path) -> None:
    """Its files are not reported as stray."""
    shutil.copytree(small_course.root, tmp_path / "course")
    lesson = dataclasses.replace(small_course.lesson("tiny"), root=tmp_path / "course")
    before = list(static_problems(lesson))
    for name in ("README.de.md", "de.po"):
        (lesson.folder / name).touch()
    assert list(static_problems(lesson)) == before
    (lesson.folder / "notes.md").touch()
    assert len(list(static_problems(lesson))) == len(before) + 1


def test_several_files_may_prove_one_mistake() -> None:
    assert [mistake_id(name) for name in ("squares", "squares 2", "one_too_few 17")] == [
        "squares",
        "squares",
        "one_too_few",
    ]
