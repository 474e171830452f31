"""Fill marks into another system's CSV file; bytes outside of the changed cells stay as they are.

The file is read as in RFC 4180, with its own delimiter and line ends. Students are matched to its
rows by the ids that both know, most reliable first, then by name. Ambiguous matches are reported,
and get no mark.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.exports.common import ExportNote, LmsMark
from grader.classroom.gradebook.identity import Key
from grader.classroom.gradebook.roster import PeopleIndex
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of, letters, name_list
from grader.core.errors import UsageError

BOM = "\N{ZERO WIDTH NO-BREAK SPACE}"
DELIMITERS = ",;\t"


class Sheet:
    """Rows of cells with their original bytes; ``value`` reads a cell, ``put`` replaces it."""

    def __init__(self, path: Path) -> None:
        """Read a sheet; raise UsageError that names the file, and the line if it is known."""
        try:
            text = path.read_bytes().decode("utf-8")
        except OSError as error:
            raise UsageError(
                f"{path} can't be read: {error.strerror}. Give the downloaded file with --template"
            ) from None
        except UnicodeDecodeError:
            raise UsageError(
                f"{path} is not UTF-8. Use the file as it was downloaded, not one that a"
                " spreadsheet program saved"
            ) from None
        self.path = path
        self._bom = BOM if text.startswith(BOM) else ""
        text = text.removeprefix(BOM)
        header = re.sub(r'"(?:[^"]|"")*"', "", text).partition("\n")[0]
        self.delimiter = max(DELIMITERS, key=header.count)
        self._cells, self._ends = self._read(text)
        if not self._cells:
            raise UsageError(f"{path} is empty. Give the downloaded file with --template")

    def _read(self, text: str) -> tuple[list[list[str]], list[str]]:
        cell = re.compile(
            rf'("(?:[^"]|"")*"|[^{self.delimiter}\r\n"][^{self.delimiter}\r\n]*|)({self.delimiter}|\r\n|\n|\r|\Z)'
        )
        rows: list[list[str]] = []
        ends: list[str] = []
        current: list[str] = []
        position = 0
        while position < len(text) or current:
            found = cell.match(text, position)
            if found is None:
                line = text.count("\n", 0, position) + 1
                raise UsageError(
                    f"{self.path}:{line}: a quotation mark is not closed, or is inside a cell."
                    " Download the file again"
                )
            current.append(found[1])
            position = found.end()
            if found[2] != self.delimiter:
                rows.append(current)
                ends.append(found[2])
                current = []
        return rows, ends

    @property
    def header(self) -> list[str]:
        return [self.value(0, column) for column in range(len(self._cells[0]))]

    @property
    def rows(self) -> range:
        return range(1, len(self._cells))

    def value(self, row: int, column: int) -> str:
        """Return a cell without quotation marks and blanks; empty if the row is too short."""
        cells = self._cells[row]
        raw = cells[column] if column < len(cells) else ""
        return (raw[1:-1].replace('""', '"') if raw.startswith('"') else raw).strip()

    def put(self, row: int, column: int, text: str) -> None:
        cells = self._cells[row]
        cells += [""] * (column + 1 - len(cells))
        special = any(character in text for character in f'{self.delimiter}"\r\n')
        cells[column] = '"' + text.replace('"', '""') + '"' if special else text

    def column(self, title: str) -> int:
        """Return the number of the column that ``--column`` names.

        Raise UsageError, listing all titles, if none or several have that title.
        """
        titles = [one.casefold() for one in self.header]
        if titles.count(title.casefold()) != 1:
            how = "more than one column" if title.casefold() in titles else "no column"
            raise UsageError(
                f"{self.path}:1: {how} has the title {title!r} (--column). Columns:"
                f" {', '.join(filter(None, self.header))}"
            )
        return titles.index(title.casefold())

    def as_bytes(self) -> bytes:
        lines = (
            self.delimiter.join(cells) + end
            for cells, end in zip(self._cells, self._ends, strict=True)
        )
        return (self._bom + "".join(lines)).encode("utf-8")


@dataclass(frozen=True, slots=True)
class SheetPerson:
    """A person in a sheet: the row, what to call them, their ids by kind, forms of their name."""

    row: int
    label: str
    ids: dict[str, str]
    names: frozenset[str]


class Roll:
    """The people of a sheet. ``kinds`` maps each kind of id, most reliable first, to the names that
    it has in ``StudentIdentity.ids``.

    An id of a kind in ``with_name`` counts only if the names agree too, where the sheet has names:
    a group's number in Moodle may be another person's.
    """

    def __init__(
        self,
        people: Iterable[SheetPerson],
        kinds: Mapping[str, tuple[str, ...]],
        *,
        with_name: Collection[str] = (),
    ) -> None:
        self.people = {person.row: person for person in people}
        self._with_name = with_name
        self._kinds = kinds
        self._index = PeopleIndex((row, keys_of(person)) for row, person in self.people.items())

    def find(self, student: StudentIdentity) -> list[SheetPerson]:
        for key in self._keys(student):
            people = [self.people[row] for row in self._index.find([key])]
            if key[0] in self._with_name:
                people = [one for one in people if agree(one, student)]
            if people:
                return people
        named = self._index.find(("name", form) for form in forms_of(student.name))
        return [self.people[row] for row in named]

    def _keys(self, student: StudentIdentity) -> Iterator[Key]:
        for kind, words in self._kinds.items():
            for word in words:
                if value := student.ids.get(word):
                    yield kind, value.strip().casefold()


def keys_of(person: SheetPerson) -> set[Key]:
    ids = {(kind, value.casefold()) for kind, value in person.ids.items() if value}
    return ids | {("name", form) for form in person.names}


def agree(person: SheetPerson, student: StudentIdentity) -> bool:
    """Return whether the row's names include the student's; True if the row has no name."""
    theirs = {letters(name) for name in person.names}
    return not theirs or any(letters(form) in theirs for form in forms_of(student.name))


@dataclass(frozen=True, slots=True)
class MatchedMarks:
    """Which mark goes to which row, and notes for the instructor on the rest.

    ``unmatched`` says whether a submission's student fits no row, or several.
    """

    by_row: dict[int, LmsMark]
    notes: tuple[ExportNote, ...]
    unmatched: bool


def match(roll: Roll, marks: Iterable[LmsMark]) -> MatchedMarks:
    """Match marks to rows; a team's mark goes to every member's row."""
    found: dict[int, list[LmsMark]] = {}
    notes: list[ExportNote] = []
    unmatched = False
    for mark in marks:
        for student in mark.students or (StudentIdentity(mark.label),):
            people = roll.find(student)
            if len(people) == 1:
                found.setdefault(people[0].row, []).append(mark)
            elif not mark.missing:
                unmatched = True
                why = (
                    f"fits {len(people)} rows of the sheet: {name_list(p.label for p in people)}"
                    if people
                    else "not in the sheet"
                )
                text = f"{why}, so this mark was not written"
                notes.append(ExportNote(text, student.name, important=True))
    by_row = {}
    for row, several in found.items():
        if len(several) == 1:
            by_row[row] = several[0]
        else:
            text = (
                f"no mark was written, because {len(several)} submissions fit this row:"
                f" {name_list(m.name for m in several)}"
            )
            notes.append(ExportNote(text, roll.people[row].label, important=True))
    notes += [
        ExportNote("in the sheet, but without a submission", person.label)
        for row, person in roll.people.items()
        if row not in found
    ]
    return MatchedMarks(by_row, tuple(notes), unmatched)
