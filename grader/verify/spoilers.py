"""Generate wrong answers that write into their arguments, and find the checks that this deceives.

A check has to compute its expected value before the student's code runs, or from tensors that this
code can't reach. Otherwise it calls a wrong result right that was computed from what the answer
then writes into its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from grader.core.templates import render_text
from grader.course.course import Lesson
from grader.course.stubs import without_markers
from grader.verify.case_result import Case, CaseResult

KIND = "spoiler"
WRITTEN = ", written"
VALUES = (("nan", 0), ("zeros", 0))
"""What the arguments seem to hold, and the order of the first derivative that is computed from
that; ``templates/verify/spoiler.py.j2`` makes such an answer from a solution.
"""
DERIVATIVES = (("nan", 1), ("nan", 2), ("zeros", 1), ("zeros", 2), ("later", 0))
"""The same, for lessons in which derivatives can be wrong although the values are right."""
DIFFERENTIATES = re.compile(r"\bFunction\)|\bcreate_graph\b")


def spoiler_pairs(lesson: Lesson) -> Iterator[tuple[Case, Case]]:
    """Yield pairs of wrong answers; the second one also writes into its arguments."""
    solution = without_markers(lesson.solution.read_text("utf-8"))
    for held, order in VALUES + (DERIVATIVES if DIFFERENTIATES.search(solution) else ()):
        name = f"{held}, order {order}"
        plain, written = (
            solution + render_text("verify/spoiler.py.j2", held=held, order=order, writes=writes)
            for writes in (False, True)
        )
        yield Case(lesson, KIND, name, plain), Case(lesson, KIND, name + WRITTEN, written)


def spoiler_problems(found: Mapping[Case, Sequence[tuple[int, CaseResult]]]) -> Iterator[str]:
    """Yield a problem for each check that an answer passes only because it writes into its
    arguments, and what went wrong for a spoiler alone.
    """
    known = {text for case in found if case.kind == "solution" for text in _trouble(found[case])}
    runs = {case.name: dict(of) for case, of in found.items() if case.kind == KIND}
    for case in (case for case in found if case.kind == KIND):
        plain = runs[case.name.removesuffix(WRITTEN)]
        for seed, finding in found[case]:
            yield from (
                f"{case}, seed {seed}: {text}" for text in finding.trouble if text not in known
            )
            gained = set(finding.passed) - set(plain[seed].passed)
            for check in sorted(gained) if not plain[seed].trouble else ():
                yield (
                    f"{case}, seed {seed}: passes {check} only because it writes into its"
                    " arguments; compute the expected value before the student's code runs"
                )


def _trouble(runs: Sequence[tuple[int, CaseResult]]) -> Iterator[str]:
    for _, finding in runs:
        yield from finding.trouble
