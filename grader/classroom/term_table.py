"""The marks of a whole term: each person's in each assignment, and the weights of the total.

The weights are in ``term.toml`` beside the gradebook; without it all assignments count alike. So is
who was excused from what, by name or by an id:

    [weights]
    "Week 1" = 20
    "Week 2" = 80

    [excused]
    "Ada Lovelace" = ["Week 1"]
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.classroom.exports.tables import TermAssignment, TermPerson
from grader.classroom.gradebook.entry import total_points
from grader.classroom.gradebook.identity import SHIFTING
from grader.classroom.gradebook.people import known_people, turned_out
from grader.classroom.gradebook.store import Gradebook
from grader.core.errors import UsageError

TERM_FILE = "term.toml"


@dataclass(frozen=True, slots=True)
class TermFile:
    """What ``term.toml`` says, with the place of each line for messages."""

    path: Path
    text: str = ""
    said: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, book: Gradebook) -> TermFile:
        path = book.path.with_name(TERM_FILE)
        try:
            text = path.read_text("utf-8")
            return cls(path, text, tomllib.loads(text))
        except FileNotFoundError:
            return cls(path)
        except tomllib.TOMLDecodeError as error:
            raise UsageError(f"{path}: {error}") from None
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"{path} can't be read: {error}. Save it as UTF-8") from None

    def table(self, name: str) -> dict[str, Any] | None:
        found = self.said.get(name)
        if not isinstance(found, dict | None):
            raise UsageError(f"{self.at(name)}: {name} is a table. Write [{name}] in a line")
        return found

    def at(self, name: str) -> str:
        """Return the file and the first line with a name."""
        lines = enumerate(self.text.splitlines(), 1)
        return f"{self.path}:{next((number for number, line in lines if name in line), 1)}"

    def refuse_unknown(self, name: str, assignments: Sequence[str], key: str) -> None:
        if name not in assignments:
            there = ", ".join(assignments)
            raise UsageError(f"{self.at(key)}: there is no assignment {name!r}. There are: {there}")


def term_assignments(book: Gradebook) -> list[TermAssignment]:
    """Return a term's assignments with their weights, in per cent; raise UsageError."""
    weights = weights_in(TermFile.of(book), list(book.assignments()))
    return [
        TermAssignment(name, sum(one.max_score for one in book.at(number).columns()), weights[name])
        for name, number in book.assignments().items()
    ]


def weights_in(file: TermFile, wanted: Sequence[str]) -> dict[str, float]:
    """Return each assignment's weight; raise UsageError that names the file and the line."""
    weights = file.table("weights")
    if weights is None:
        return dict.fromkeys(wanted, 100.0 / len(wanted))
    for name, weight in weights.items():
        file.refuse_unknown(name, wanted, name)
        if isinstance(weight, bool) or not isinstance(weight, int | float) or weight < 0:
            raise UsageError(f"{file.at(name)}: the weight of {name!r} is not a number from 0 on")
    left = [name for name in wanted if name not in weights]
    if left:
        raise UsageError(f"{file.path}: no weight for {', '.join(left)}. Add it below [weights]")
    return {name: float(weights[name]) for name in wanted}


def with_excused(
    people: Sequence[TermPerson], file: TermFile, assignments: Sequence[str]
) -> list[TermPerson]:
    """Return people with what they were excused from; raise UsageError that names the line."""
    by_call: dict[str, list[TermPerson]] = {}
    for one in people:
        for call in {one.name, *one.ids.values()}:
            by_call.setdefault(call.strip().casefold(), []).append(one)
    excused: dict[int, frozenset[str]] = {}
    for call, names in (file.table("excused") or {}).items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UsageError(f'{file.at(call)}: write a list of assignments: {call!r} = ["Week 1"]')
        for name in names:
            file.refuse_unknown(name, assignments, call)
        found = by_call.get(call.strip().casefold(), [])
        if len(found) != 1:
            who = "several people are called" if found else "nobody in the term is called"
            raise UsageError(f"{file.at(call)}: {who} {call!r}. Write an id, or the name")
        excused[id(found[0])] = excused.get(id(found[0]), frozenset()) | {*names}
    return [replace(one, excused=excused.get(id(one), frozenset())) for one in people]


def term_people(book: Gradebook) -> list[TermPerson]:
    """Return everybody in a term, by name, with the marks; no test accounts. Raise UsageError if
    ``term.toml`` excuses somebody who is not there.
    """
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
    found = sorted(people.values(), key=lambda one: one.name)
    return with_excused(found, TermFile.of(book), list(book.assignments()))
