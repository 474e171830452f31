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
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from grader.classroom.exports.common import ExportNote
from grader.classroom.exports.tables import TermAssignment, TermPerson
from grader.classroom.gradebook.entry import total_points
from grader.classroom.gradebook.identity import SHIFTING, is_nameless
from grader.classroom.gradebook.people import known_people, person_of, turned_out
from grader.classroom.gradebook.store import Gradebook
from grader.core.errors import UsageError

TERM_FILE = "term.toml"


@dataclass(frozen=True, slots=True)
class TermFile:
    """What ``term.toml`` says, with the place of each line for messages; it may name assignments
    that are forgotten.
    """

    path: Path
    text: str = ""
    said: dict[str, object] = field(default_factory=dict)
    forgotten: Collection[str] = ()

    @classmethod
    def of(cls, book: Gradebook) -> TermFile:
        path = book.path.with_name(TERM_FILE)
        try:
            text = path.read_text("utf-8")
            return cls(path, text, tomllib.loads(text), book.assignments(forgotten=True))
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
        if name not in {*assignments, *self.forgotten}:
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


def excused_in(book: Gradebook) -> dict[object, set[str]]:
    """Return what ``term.toml`` excuses people from, who are called there as for ``grade show``;
    raise UsageError that names the line.
    """
    file, excused = TermFile.of(book), dict[object, set[str]]()
    for call, names in (file.table("excused") or {}).items():
        if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
            raise UsageError(f'{file.at(call)}: write a list of assignments: {call!r} = ["Week 1"]')
        for name in names:
            file.refuse_unknown(name, list(book.assignments()), call)
        try:
            excused.setdefault(person_of(book, call), set()).update(names)
        except UsageError as error:
            raise UsageError(f"{file.at(call)}: {error}") from None
    return excused


def term_people(book: Gradebook) -> tuple[list[TermPerson], list[ExportNote]]:
    """Return everybody in a term, by name, with the marks, but no test accounts; and notes on marks
    that are not there. Raise UsageError if ``term.toml`` excuses somebody who is not known.

    A submission whose download hides the name may be that of anybody who has none there.
    """
    same, excused = turned_out(book), excused_in(book)
    known = {one.person: one for one in reversed(known_people(book).lines.values())}
    marks: dict[object, dict[str, float]] = {}
    pending: dict[object, set[str]] = {}
    people: dict[object, TermPerson] = {}
    nameless, hidden = set[object](), set[str]()
    notes: list[ExportNote] = []
    for name, number in book.assignments().items():
        for entry in book.at(number).entries():
            mark = total_points(entry)
            for student in () if entry.is_test else entry.students:
                who = same.get(student.person, student.person) or student.name
                one = known.get(same.get(student.person, student.person)) or student
                mine = marks.setdefault(who, {})
                open_ones = pending.setdefault(who, set())
                ids = {kind: id for kind, id in one.ids.items() if kind not in SHIFTING}
                from_all = excused.get(who, ())
                people[who] = TermPerson(one.name, ids, one.sections, mine, open_ones, from_all)
                if is_nameless(replace(student, name=one.name)):
                    nameless.add(who)
                    hidden.add(name)
                    notes.append(ExportNote(HIDDEN.format(name), one.name, important=True))
                if mark is None and not entry.missing:
                    open_ones.add(name)
                elif mark is not None and mine.setdefault(name, mark) != mark:
                    open_ones.add(name)
                    notes.append(ExportNote(SEVERAL.format(name), one.name, important=True))
    for person, mine in marks.items():
        lacking = {*book.assignments()} if person in nameless else hidden
        pending[person] |= lacking - mine.keys()
    return sorted(people.values(), key=lambda one: one.name), notes


HIDDEN = (
    "hidden in {}, so the mark is nobody's yet, and who has none there has no total. Say who it is:"
    " grade again with Moodle's worksheet that has the names, or grade person"
)
SEVERAL = "has several submissions in {}, with different marks, so the table has none"
