"""Make and grade mutants of right answers: one small change each, made in the syntax tree.

    python tests/mutants/mutants.py [LESSON]... [--accepted] [--seeds N] [--every K] [--keep FILE]

grades mutants of the solutions, and with ``--accepted`` of the definitions in which an accepted
answer differs from the solution. It prints those that lose nothing, those of which any check's
verdict depends on the seed, with these checks, and a table by lesson. ``test_mutants.py`` compares
the survivors with ``survivors.toml``. There, ``why`` argues that a survivor keeps the contract;
``hole`` names the sentence that it breaks although no check fails.

mutmut and cosmic-ray change the files of a package and run a command for each change. Here a
fork server grades a composed file, and most changes that matter are specific to torch
(``operators.py``), so a library would do the smaller half.
"""

from __future__ import annotations

import argparse
import ast
import itertools
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from operators import edits
from verdicts import Failed, Run, Verdicts

from grader.course.course import Lesson, find_course, load_course
from grader.course.source import defined_names
from grader.course.stubs import compose, without_markers
from grader.verify.grouped_problems import seeds_listed

SURVIVORS = Path(__file__).with_name("survivors.toml")
HEAD = ("lesson", "of solutions", "of accepted", "killed", "argued", "holes", "not argued", "seed")


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed answer: the lines that were changed, before and after, and the whole text.

    ``of`` is the accepted answer's name, empty for the solution; ``original`` is its text.
    """

    lesson: Lesson
    before: str
    after: str
    source: str
    of: str
    original: str

    def __str__(self) -> str:
        return f"{self.lesson.id} {self.of or 'solution'}: {self.before}  →  {self.after}"


def mutants_of(lesson: Lesson, *, accepted: bool = False) -> list[Mutant]:
    """Return the mutants of a lesson's solution, or of its accepted answers; each text once."""
    solution = without_markers(lesson.solution.read_text("utf-8"))
    if not accepted:
        return list(_unique(_mutants(lesson, "", solution, seen=set())))
    seen = set(map(ast.dump, _parts(ast.parse(solution).body)))
    found: list[Mutant] = []
    for cell in lesson.accepted:
        if cell.applies():
            source = compose(solution, cell.source, name=str(cell.path))
            found += _mutants(lesson, cell.name, source, seen=seen)
    return list(_unique(found))


def _mutants(lesson: Lesson, of: str, source: str, *, seen: set[str]) -> Iterator[Mutant]:
    """Yield mutants of the definitions that are not in ``seen``; add these definitions to it."""
    tree = ast.parse(source)
    texts = [ast.unparse(statement) for statement in tree.body]
    asked = _asked_for(lesson, tree)
    for number, statement in enumerate(tree.body):
        roots = [part for part in _parts([statement]) if ast.dump(part) not in seen]
        seen.update(map(ast.dump, roots))
        if not asked.intersection(defined_names(statement)):
            continue
        for _ in edits(roots):
            changed = ast.unparse(statement)
            if changed != texts[number]:
                whole = "\n\n\n".join([*texts[:number], changed, *texts[number + 1 :]])
                yield Mutant(lesson, *difference(texts[number], changed), whole, of, source)


def _parts(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """Yield the statements; instead of a class, the statements of its body."""
    for statement in body:
        yield from _parts(statement.body) if isinstance(statement, ast.ClassDef) else [statement]


def _asked_for(lesson: Lesson, tree: ast.Module) -> set[str]:
    """Return the names that the lesson asks for, and those that their definitions use."""
    uses = {
        name: {node.id for node in ast.walk(statement) if isinstance(node, ast.Name)}
        for statement in tree.body
        for name in defined_names(statement)
    }
    asked: set[str] = set()
    new = {*lesson.names, *lesson.bonus}
    while new:
        asked |= new
        new = {used for name in new for used in uses.get(name, ())} - asked
    return asked


def _unique(mutants: Iterable[Mutant]) -> Iterable[Mutant]:
    return {mutant.source: mutant for mutant in mutants}.values()


def difference(before: str, after: str) -> tuple[str, str]:
    """Return the lines of two texts between their first and last difference, joined."""
    old, new = before.splitlines(), after.splitlines()
    while old and new and old[0] == new[0]:
        del old[0], new[0]
    while old and new and old[-1] == new[-1]:
        del old[-1], new[-1]
    return " ⏎ ".join(line.strip() for line in old), " ⏎ ".join(line.strip() for line in new)


class Results:
    """The seeds from which each mutant was killed: a check fails that its original passes.

    All are graded from seed 1. If at most one check fails and ``survivors.toml`` has no reason, the
    verdict may depend on the seed: such mutants are graded from seeds 2 to 6 too, and from all
    ``seeds`` if the verdict of any check differs.
    """

    def __init__(self, mutants: Sequence[Mutant], verdicts: Verdicts, *, seeds: int = 1) -> None:
        def run(mutant: Mutant, seed: int) -> Run:
            return mutant.lesson, mutant.source, seed

        def original(mutant: Mutant) -> Run:
            return mutant.lesson, mutant.original, 1

        def grade(chosen: Iterable[Mutant], chosen_seeds: Iterable[int]) -> None:
            pairs = list(itertools.product(chosen, chosen_seeds))
            verdicts.grade([*(original(one) for one, _ in pairs), *itertools.starmap(run, pairs)])
            for one, seed in pairs:
                self.lost[one.lesson.id, one.of] = verdicts[original(one)]
                self.failed[one][seed] = verdicts[run(one, seed)]
                self.seeds[one][seed] = not verdicts[run(one, seed)] <= verdicts[original(one)]

        self.lost: dict[tuple[str, str], Failed] = {}
        """The checks that the unchanged answers fail; these should be bonus checks only."""
        self.seeds: dict[Mutant, dict[int, bool]] = {mutant: {} for mutant in mutants}
        self.failed: dict[Mutant, dict[int, Failed]] = {mutant: {} for mutant in mutants}
        grade(mutants, [1])
        narrow = (one for one in mutants if len(verdicts[run(one, 1)]) <= 1)
        grade((one for one in narrow if "why" not in argument(one)), range(2, min(6, seeds) + 1))
        grade(filter(self.changing, mutants), range(7, seeds + 1))

    @property
    def survived(self) -> list[Mutant]:
        return [mutant for mutant, seen in self.seeds.items() if not any(seen.values())]

    @property
    def by_seed(self) -> list[Mutant]:
        return [mutant for mutant, seen in self.seeds.items() if len(set(seen.values())) == 2]

    def changing(self, mutant: Mutant) -> dict[str, list[int]]:
        """Return the checks that a mutant fails from some seeds and not from others, each with the
        seeds from which it fails. Checks that wait for one of these are among them.
        """
        failed = self.failed[mutant]
        return {
            check: [seed for seed in failed if check in failed[seed]]
            for check in sorted(frozenset().union(*failed.values()))
            if any(check not in one for one in failed.values())
        }


@cache
def entries(name: str) -> list[dict[str, Any]]:
    """Return what ``survivors.toml`` lists for a lesson, or for every one."""
    listed: dict[str, list[dict[str, Any]]] = tomllib.loads(SURVIVORS.read_text("utf-8"))
    return listed.get(name, [])


def argument(mutant: Mutant) -> dict[str, Any]:
    """Return the first entry that is about a mutant, or an empty one."""
    listed = [*entries(mutant.lesson.id), *entries("every")]
    return next((entry for entry in listed if fits(entry, mutant)), {})


def fits(entry: dict[str, Any], mutant: Mutant) -> bool:
    """Return whether an entry is about a mutant: by its lines, or by parts of them in ``like``."""
    if "like" not in entry:
        return (entry["before"], entry["after"]) == (mutant.before, mutant.after)
    change = f"{mutant.before}  →  {mutant.after}"
    named = entry.get("of", mutant.of) == mutant.of
    return named and any(part in change for part in entry["like"])


def main() -> None:
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("lessons", nargs="*")
    options.add_argument("--accepted", action="store_true", help="mutate accepted answers too")
    options.add_argument("--seeds", type=int, default=1, help="where the verdict may depend on it")
    options.add_argument("--every", type=int, default=1, help="of accepted answers, one of so many")
    options.add_argument("--keep", type=Path, help="go on from the verdicts in this file")
    arguments = options.parse_args()
    course = load_course(find_course())
    verdicts = Verdicts(arguments.keep)
    rows: list[tuple[str, ...]] = [HEAD]
    for lesson in [course.lesson(name) for name in arguments.lessons] or course.lessons:
        mutants = mutants_of(lesson)
        if arguments.accepted:
            mutants += mutants_of(lesson, accepted=True)[:: arguments.every]
        found = Results(mutants, verdicts, seeds=arguments.seeds)
        rows.append(row(lesson, found))
        show(lesson, found)
    print(*(f"| {' | '.join(row)} |" for row in rows), sep="\n")


def row(lesson: Lesson, found: Results) -> tuple[str, ...]:
    """Return a lesson's row of the table."""
    reasons = [argument(mutant) for mutant in found.survived]
    argued, holes = (sum(key in reason for reason in reasons) for key in ("why", "hole"))
    counts = [
        sum(not mutant.of for mutant in found.seeds),
        sum(bool(mutant.of) for mutant in found.seeds),
        len(found.seeds) - len(found.survived) - len(found.by_seed),
        argued,
        holes,
        len(reasons) - argued - holes,
        len(found.by_seed),
    ]
    return (lesson.id, *map(str, counts))


def show(lesson: Lesson, found: Results) -> None:
    """Print survivors without a reason, and mutants with a check that depends on the seed."""
    for (_, of), failed in found.lost.items():
        if failed:
            print(f"{lesson.id} {of}: fails without any change: {', '.join(sorted(failed))}")
    for mutant in found.survived:
        if not argument(mutant):
            print(f"survives: {mutant}", flush=True)
    for mutant, seen in found.seeds.items():
        changing = found.changing(mutant)
        if changing:
            print(f"killed from {sum(seen.values())} of {len(seen)} seeds: {mutant}")
            for check, seeds in changing.items():
                print(f"    {check} fails only from {seeds_listed(seeds)}", flush=True)


if __name__ == "__main__":
    main()
