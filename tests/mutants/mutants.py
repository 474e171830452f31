"""Mutants of the reference solutions: one small change each, made in the syntax tree.

    python tests/mutants/mutants.py [LESSON]... [--seed N]

grades every mutant as a submission and prints those that lose nothing. ``test_mutants.py`` holds
the survivors against ``survivors.toml``, where each is argued to behave as the solution does.

A mutant is one of: a number plus one, a sum for a difference and the like, a comparison that
includes or excludes its bound, a flag turned, a string changed, a condition that always or never
holds, a statement left out, a keyword argument left out, a method such as ``clone`` left out, an
``and`` for an ``or``, a negation left out. Docstrings, annotations and messages of exceptions stay.
"""

from __future__ import annotations

import argparse
import ast
import copy
import itertools
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from queue import SimpleQueue

from grader.core.report import LessonResult
from grader.course.course import Course, Lesson
from grader.course.lesson_file import LessonFile
from grader.course.manifest import find_course, load_course
from grader.course.stubs import without_markers
from grader.runtime.client import ForkServerClient
from grader.runtime.grading import LessonOutcome, Settings, grade_lesson

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
TRANSPARENT = {"detach", "clone", "requires_grad_", "double", "contiguous", "reversed", "flatten"}
"""Methods that can be left out of a chain and leave something that still runs."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed solution: the line that was changed, before and after, and the whole text."""

    lesson: Lesson
    before: str
    after: str
    source: str

    def __str__(self) -> str:
        return f"{self.lesson.id}: {self.before}  →  {self.after}"


def changes(node: ast.AST) -> Iterator[ast.AST | None]:
    """What a node can be replaced by; None stands for leaving it out."""
    match node:
        case ast.Constant(value=bool() as value):
            yield ast.Constant(not value)
        case ast.Constant(value=int() | float() as number):
            yield ast.Constant(number + 1)
        case ast.Constant(value=str() as text):
            yield ast.Constant(text + "x")
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield ast.AugAssign(node.target, OPERATORS[type(op)](), node.value)
        case ast.Compare(ops=[op]) if type(op) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(op)]()], node.comparators)
        case ast.BoolOp(op=ast.And()):
            yield ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            yield ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand
        case ast.Call(func=ast.Attribute(value=inner, attr=name)) if name in TRANSPARENT:
            yield inner
        case ast.If() | ast.While():
            for always in (True, False):
                changed = copy.copy(node)
                changed.test = ast.Constant(always)
                yield changed
        case ast.Expr() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Raise():
            yield ast.Pass()
    if isinstance(node, ast.Call):
        for index in range(len(node.keywords)):
            yield ast.Call(node.func, node.args, node.keywords[:index] + node.keywords[index + 1 :])


def places(tree: ast.AST) -> Iterator[tuple[ast.AST, str, int | None]]:
    """Every place that holds a node, as parent, field and index; documentation, annotations and
    raised messages left out.
    """
    raised = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.Raise)
        for inner in ast.walk(node)
    }
    for parent in ast.walk(tree):
        if id(parent) in raised:
            continue
        for name, value in ast.iter_fields(parent):
            if name in ("annotation", "returns", "names", "decorator_list", "bases"):
                continue
            if isinstance(value, ast.AST):
                yield parent, name, None
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST) and not is_documentation(item):
                        yield parent, name, index


def held(parent: ast.AST, name: str, index: int | None) -> ast.AST:
    """The node at a place."""
    field = getattr(parent, name)
    node = field if index is None else field[index]
    assert isinstance(node, ast.AST)
    return node


def is_documentation(node: ast.AST) -> bool:
    """Whether a node is a statement that is a bare string."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def mutants_of(lesson: Lesson) -> list[Mutant]:
    """All mutants of a lesson's solution, each text once."""
    original = ast.parse(without_markers(lesson.solution.read_text("utf-8")))
    plain = ast.unparse(original)
    found: dict[str, Mutant] = {}
    for number, (holder, name, index) in enumerate(places(original)):
        if is_documentation(holder):
            continue
        for choice in range(len(list(changes(held(holder, name, index))))):
            tree = copy.deepcopy(original)
            parent = next(itertools.islice(places(tree), number, None))[0]
            new = list(changes(held(parent, name, index)))[choice]
            if index is None:
                setattr(parent, name, new)
            else:
                getattr(parent, name)[index] = new
            text = ast.unparse(ast.fix_missing_locations(tree))
            if text != plain and text not in found:
                found[text] = Mutant(lesson, *difference(plain, text), text)
    return list(found.values())


def difference(before: str, after: str) -> tuple[str, str]:
    """The lines of two texts that differ, joined."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return " ⏎ ".join(line.strip() for line in old), " ⏎ ".join(line.strip() for line in new)


def survivors(course: Course, mutants: list[Mutant], *, seed: int, workers: int) -> list[Mutant]:
    """The mutants that lose nothing, neither points nor bonus."""
    hosts: SimpleQueue[ForkServerClient] = SimpleQueue()
    for _ in range(workers):
        hosts.put(ForkServerClient())

    def grade(mutant: Mutant) -> LessonOutcome:
        host = hosts.get()
        try:
            file = LessonFile(mutant.lesson.id, mutant.lesson.filename, mutant.source)
            return grade_lesson(host, mutant.lesson, file, Settings(seed, limits=course.limits))
        finally:
            hosts.put(host)

    try:
        with ThreadPoolExecutor(workers) as pool:
            judged = list(pool.map(grade, mutants))
    finally:
        while not hosts.empty():
            hosts.get().close()
    return [mutant for mutant, one in zip(mutants, judged, strict=True) if lost_nothing(one.result)]


def lost_nothing(result: LessonResult) -> bool:
    """Whether a result has all of its points and all of its bonus."""
    return (result.score, result.bonus) == (result.max_score, result.max_bonus)


def main() -> None:
    """Print the survivors of the lessons that were asked for, and how many mutants there were."""
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("lessons", nargs="*")
    options.add_argument("--seed", type=int, default=1)
    arguments = options.parse_args()
    course = load_course(find_course())
    for lesson in [course.lesson(name) for name in arguments.lessons] or course.lessons:
        mutants = mutants_of(lesson)
        alive = survivors(course, mutants, seed=arguments.seed, workers=os.cpu_count() or 1)
        print(f"{lesson.id}: {len(mutants)} mutants, {len(alive)} survive", flush=True)
        for mutant in alive:
            print(f"    {mutant.before}  →  {mutant.after}", flush=True)


if __name__ == "__main__":
    main()
