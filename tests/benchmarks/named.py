"""Count how many wrong answers get a name, and whether a rule, the engine or an example gives it.

    python tests/benchmarks/named.py [LESSON]... [--seed N] [--every N]

grades the known wrong answers, the near misses and the mutants of the solutions, and counts which
of them a rule, the engine or an example names first. No rule was written for the mutants.

It then names the known wrong answers by example alone, each without its own cell. The other cells
of the same mistake may recognize it; a name of another mistake is false. For a near miss, the name
that it must not get is false.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from grader.core.messages import Settings
from grader.core.report import LessonResult
from grader.course.course import Lesson, find_course, load_course
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import grade_lesson
from grader.verify.case_result import Case, mistake_id
from grader.verify.verify import cases_of

sys.path.insert(0, str(Path(__file__).parents[1] / "mutants"))
from mutants import mutants_of

WAYS = ("rule", "engine", "example", None)


def cases(lesson: Lesson) -> Iterator[Case]:
    """Yield what is known to be wrong, then the mutants."""
    yield from (case for case in cases_of(lesson) if case.kind in ("mistake", "near miss"))
    for number, mutant in enumerate(mutants_of(lesson)):
        yield Case(lesson, "mutant", f"{number} {mutant}", mutant.source)


def first_name(result: LessonResult) -> tuple[str | None, str | None]:
    """Return the first name that a result has, the engine's last, and who gave it."""
    named = [check for check in result.checks if check.diagnosis]
    named.sort(key=lambda check: check.diagnosed_by == "engine")
    return (named[0].diagnosis, named[0].diagnosed_by) if named else (None, None)


def judged_by_example(case: Case, name: str | None) -> str:
    """Return whether a name by example is right, false, or not there."""
    if case.kind == "near miss":
        return "false" if name == mistake_id(case.name) else "none"
    return "none" if name is None else "right" if name == mistake_id(case.name) else "false"


def count(
    lessons: Iterable[Lesson], settings: Settings, *, every: int, show: bool
) -> tuple[Counter[tuple[str, str | None]], Counter[tuple[str, str]]]:
    """Grade all cases; return who named them, and what examples alone say."""
    ways: Counter[tuple[str, str | None]] = Counter()
    blind: Counter[tuple[str, str]] = Counter()
    alone = replace(settings, naming_off=("rule", "engine", "self"))
    with closing(ForkServerClient()) as client:
        for lesson in lessons:
            for case in itertools.islice(cases(lesson), 0, None, every):
                file = LessonFile(lesson.id, lesson.filename, case.source)
                result = grade_lesson(client, lesson, file, settings).result
                if result.score == result.max_score and result.bonus == result.max_bonus:
                    continue
                name, way = first_name(result)
                ways[case.kind, way] += 1
                if show and way in (None, "engine", "example"):
                    failed = [c for c in result.checks if c.outcome in ("failed", "error")]
                    print(f"{way}: {case}: {name}", *(c.message for c in failed[:2]), sep=" | ")
                if case.kind == "mutant":
                    continue
                name, _ = first_name(grade_lesson(client, lesson, file, alone).result)
                verdict = judged_by_example(case, name)
                blind[case.kind, verdict] += 1
                if show and verdict == "false":
                    print(f"false by example: {case}: {name}")
            print(f"{lesson.id} done", file=sys.stderr, flush=True)
    return ways, blind


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("lessons", nargs="*")
    options.add_argument("--seed", type=int, default=1)
    options.add_argument("--every", type=int, default=1, help="grade each N-th answer only")
    options.add_argument("--show", action="store_true", help="print what no rule names")
    arguments = options.parse_args()
    course = load_course(find_course())
    lessons = [course.lesson(name) for name in arguments.lessons] or course.lessons
    settings = Settings(arguments.seed, limits=course.limits)
    ways, blind = count(lessons, settings, every=arguments.every, show=arguments.show)
    print("| wrong answers | in all | by a rule | by the engine | by an example | none |")
    print("|---|---|---|---|---|---|")
    for kind in ("mistake", "near miss", "mutant"):
        row = [ways[kind, way] for way in WAYS]
        print(f"| {kind} | {sum(row)} |", " | ".join(map(str, row)), "|")
    for kind in ("mistake", "near miss"):
        counts = [f"{blind[kind, word]} {word}" for word in ("right", "false", "none")]
        print(f"examples alone, {kind}:", ", ".join(counts))


if __name__ == "__main__":
    main()
