"""Count how often the search finds the one wrong expression of the known wrong answers.

    python tests/benchmarks/repair.py [LESSON]... [--every N] [--seed N]

Names of mistakes are ignored: each failing function is searched as if no rule had recognized it.
The true line is known where an answer differs from the solution in one or two lines. The place is
right if the expression touches one of those.
"""

from __future__ import annotations

import argparse
import ast
import difflib
from dataclasses import replace
from pathlib import Path
from statistics import median

from grader.core.messages import Repair, Settings
from grader.core.report import LessonResult
from grader.course.course import Lesson, find_course, load_course
from grader.course.lesson_texts import CatalogueCell
from grader.course.source import is_docstring
from grader.course.stubs import compose, without_markers
from grader.course.submission import LessonFile
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import find_repairs, grade_lesson, unlocated

KNOWN_LINES = 2


def nameless(lesson: LessonResult) -> LessonResult:
    """Return the result as if no rule had recognized anything."""
    return replace(lesson, checks=tuple(replace(one, diagnosed_by=None) for one in lesson.checks))


def statements(text: str) -> list[tuple[int, str]]:
    """Return the first line and the code of each statement; of a compound one its header."""
    found = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.stmt) and not is_docstring(node):
            code = ast.unparse(node).splitlines()
            if isinstance(node, ast.FunctionDef):  # annotations make no difference
                code = [f"def {node.name}({', '.join(one.arg for one in node.args.args)})"]
            elif hasattr(node, "body"):
                code = code[:1]
            if not isinstance(node, ast.Import | ast.ImportFrom):
                found.append((node.lineno, " ".join(code)))
    return sorted(found)


def true_lines(wrong: str, solution: str) -> set[int]:
    """Return the lines of a wrong answer that differ; where one is missing, those beside it."""
    mine, right = statements(wrong), [code for _, code in statements(solution)]
    found: set[int] = set()
    matcher = difflib.SequenceMatcher(None, [code for _, code in mine], right, autojunk=False)
    for tag, start, end, _, _ in matcher.get_opcodes():
        if tag != "equal":
            around = range(max(0, start - 1), start + 1) if tag == "insert" else range(start, end)
            found |= {mine[at][0] for at in around if at < len(mine)}
    return found


class Tally:
    """What was found so far."""

    def __init__(self) -> None:
        self.answers = self.found = self.known = self.right = 0
        self.tried: list[int] = []
        self.seconds: list[float] = []

    def add(self, repairs: tuple[Repair, ...], lines: set[int]) -> str:
        self.answers += 1
        self.seconds.append(sum(one.seconds for one in repairs))
        places = [one.wrong for one in repairs if one.wrong is not None]
        if not places:
            return f"none, {sum(one.tried for one in repairs)} tried in {self.seconds[-1]:.1f} s"
        self.found += 1
        self.tried.append(sum(one.tried for one in repairs))
        shown = "; ".join(
            f"{one.wrong.line}: {one.wrong.text} -> {one.new}" for one in repairs if one.wrong
        )
        if not 0 < len(lines) <= KNOWN_LINES:
            return shown
        self.known += 1
        right = any(
            lines & {*range(one.line, one.end_line + 1), *one.other_lines} for one in places
        )
        self.right += right
        return f"{'right' if right else 'ELSEWHERE'} {sorted(lines)}  {shown}"


def measure(
    client: ForkServerClient, lesson: Lesson, cell: CatalogueCell, settings: Settings, tally: Tally
) -> None:
    solution = without_markers(lesson.solution.read_text("utf-8"))
    text = compose(solution, cell.source, name=str(cell.path))
    file = LessonFile(lesson.id, lesson.filename, text)
    result = nameless(grade_lesson(client, lesson, file, settings).result)
    if unlocated(result):
        repairs = find_repairs(client, lesson, file, settings, result)
        print(
            f"{lesson.id} {cell.label}: {tally.add(repairs, true_lines(text, solution))}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("lessons", nargs="*")
    parser.add_argument("--every", type=int, default=1, help="measure each N-th answer only")
    parser.add_argument("--seed", type=int, default=1)
    wanted = parser.parse_args()
    course = load_course(find_course(None, here=Path()))
    lessons = [one for one in course.lessons if not wanted.lessons or one.id in wanted.lessons]
    settings, tally = Settings(wanted.seed, limits=course.limits), Tally()
    with ForkServerClient() as client:
        for lesson in lessons:
            for cell in lesson.mistakes[:: wanted.every]:
                if cell.applies():
                    measure(client, lesson, cell, settings, tally)
    print(f"\n{tally.answers} wrong answers, a repair for {tally.found}")
    print(f"the place is right in {tally.right} of {tally.known} where the line is known")
    print(f"candidates, median of those found: {median(tally.tried or [0]):g}")
    print(f"seconds, median: {median(tally.seconds or [0]):.1f}")


if __name__ == "__main__":
    main()
