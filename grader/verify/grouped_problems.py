"""Say what is wrong with a lesson, each thing once: where, in which answers, from which seeds."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader.course.course import Lesson
from grader.verify.case_result import SPOILER, Case, Found

NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e[+-]?\d+)?")
MOST_ANSWERS = 3
"""How many answers are listed by name."""


def grouped(lesson: Lesson, found: Found) -> Iterator[str]:
    """Yield each trouble of a lesson's answers once. Texts that differ in numbers are one."""
    groups: dict[str, list[tuple[Case, int, str]]] = {}
    for case, runs in found.items():
        for seed, finding in runs.items() if case.kind != SPOILER else ():
            for text in finding.trouble:
                groups.setdefault(NUMBER.sub("#", text), []).append((case, seed, text))
    for group in groups.values():
        who = answers_listed(list(dict.fromkeys(case for case, _, _ in group)))
        where = f"{who}, {seeds_listed(sorted({seed for _, seed, _ in group}))}"
        text = group[0][2]
        in_a_file = text.startswith(str(lesson.root))
        yield f"{text} ({lesson.id}: {where})" if in_a_file else f"{lesson.id}: {where}: {text}"


def named(lesson: Lesson, text: str) -> str:
    """Return a problem with its lesson's name, unless it begins with a file."""
    return text if text.startswith(str(lesson.root)) else f"{lesson.id}: {text}"


def answers_listed(cases: Sequence[Case]) -> str:
    """Return ``mistake squares, accepted adds``; of many, the first and how many more."""
    names = [f"{case.kind} {case.name}".rstrip() for case in cases]
    if len(names) > MOST_ANSWERS:
        names[MOST_ANSWERS - 1 :] = [f"and {len(names) - MOST_ANSWERS + 1} more"]
    return ", ".join(names).replace(", and", " and")


def seeds_listed(seeds: Sequence[int]) -> str:
    """Return ``seed 2``, or ``seeds 1, 3 to 5``."""
    runs: list[list[int]] = []
    for seed in sorted(seeds):
        if runs and seed == runs[-1][-1] + 1:
            runs[-1].append(seed)
        else:
            runs.append([seed])
    parts = (f"{one[0]} to {one[-1]}" if len(one) > 2 else ", ".join(map(str, one)) for one in runs)
    return f"seed{'s' if len(seeds) > 1 else ''} {', '.join(parts)}"
