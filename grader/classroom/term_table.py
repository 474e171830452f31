"""The marks of a whole term: each person's in each assignment, and the weights of the total.

The weights are in ``term.toml`` beside the gradebook; without it all assignments count alike:

    [weights]
    "Week 1" = 20
    "Week 2" = 80
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path

from grader.classroom.exports.tables import TermAssignment, TermPerson
from grader.classroom.gradebook.entry import total_points
from grader.classroom.gradebook.identity import SHIFTING
from grader.classroom.gradebook.people import known_people, turned_out
from grader.classroom.gradebook.store import Gradebook
from grader.core.errors import UsageError

WEIGHTS = "term.toml"


def term_assignments(book: Gradebook) -> list[TermAssignment]:
    """Return a term's assignments with their weights, in per cent; raise UsageError."""
    names = list(book.assignments())
    weights = read_weights(book.path.with_name(WEIGHTS), names)
    return [
        TermAssignment(name, sum(one.max_score for one in book.at(number).columns()), weights[name])
        for name, number in book.assignments().items()
    ]


def read_weights(path: Path, names: Iterable[str]) -> dict[str, float]:
    """Return each assignment's weight; raise UsageError that names the file and the line."""
    wanted = list(names)
    try:
        text = path.read_text("utf-8")
    except FileNotFoundError:
        return dict.fromkeys(wanted, 100.0 / len(wanted))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} can't be read: {error}. Save it as UTF-8") from None
    try:
        weights = tomllib.loads(text).get("weights", {})
    except tomllib.TOMLDecodeError as error:
        raise UsageError(f"{path}: {error}") from None
    for name, weight in weights.items():
        line = next((n for n, one in enumerate(text.splitlines(), 1) if name in one), 1)
        if name not in wanted:
            raise UsageError(
                f"{path}:{line}: there is no assignment {name!r}. There are: {', '.join(wanted)}"
            )
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
            raise UsageError(f"{path}:{line}: the weight of {name!r} is not a number from 0 on")
    left = [name for name in wanted if name not in weights]
    if left:
        raise UsageError(f"{path}: no weight for {', '.join(left)}. Add it below [weights]")
    return {name: float(weights[name]) for name in wanted}


def term_people(book: Gradebook) -> list[TermPerson]:
    """Return everybody in a term, by name, with the marks; no test accounts."""
    same = turned_out(book)
    known = {one.person: one for one in reversed(known_people(book).lines.values())}
    marks: dict[object, dict[str, float]] = {}
    pending: dict[object, set[str]] = {}
    people: dict[object, TermPerson] = {}
    for name, number in book.assignments().items():
        for entry in book.at(number).entries():
            mark = total_points(entry)
            for student in () if entry.is_test else entry.students:
                who = same.get(student.person, student.person) or student.name
                one = known.get(same.get(student.person, student.person)) or student
                section = one.details.get("section", "")
                mine = marks.setdefault(who, {})
                open_ones = pending.setdefault(who, set())
                ids = {kind: id for kind, id in one.ids.items() if kind not in SHIFTING}
                people[who] = TermPerson(one.name, ids, section, mine, open_ones)
                if mark is not None:
                    mine[name] = mark
                elif not entry.missing:
                    open_ones.add(name)
    return sorted(people.values(), key=lambda one: one.name)
