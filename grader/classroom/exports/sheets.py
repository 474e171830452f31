"""Fill marks into another system's CSV file; bytes outside of the changed cells stay as they are.

The file is read as in RFC 4180, with its own delimiter and line ends. Students are matched to its
rows by the ids that both know, most reliable first, then by name, and a team that is known only by
its name by the file's column of groups. Ambiguous matches are reported, and get no mark. A file
that hardly anybody of the gradebook is in is refused.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.classroom.exports.common import NAMED, ExportNote, ExportRequest, LmsMark, decimal
from grader.classroom.gradebook.roster import Key, PeopleIndex
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of, name_list
from grader.core.errors import UsageError
from grader.core.text import counted

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
    """A person in a sheet: the row, what to call them, their ids by kind, forms of their name, and
    their team's name.
    """

    row: int
    label: str
    ids: dict[str, str]
    names: frozenset[str]
    team: str = ""


FROM_DOWNLOAD = frozenset({"moodle_participant"})
"""The ids of somebody who is known from a Moodle download alone, and so may be a team."""


class Roll:
    """The people of a sheet. ``kinds`` maps each kind of id, most reliable first, to the names that
    it has in ``StudentIdentity.ids``.

    An id of a kind in ``with_name`` counts only if the names agree too, where the sheet has names:
    a group's number in Moodle may be another person's.
    """

    def __init__(
        self,
        sheet: Sheet,
        people: Iterable[SheetPerson],
        kinds: Mapping[str, tuple[str, ...]],
        *,
        with_name: Collection[str] = (),
    ) -> None:
        self.path = sheet.path
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

    def members(self, mark: LmsMark) -> list[SheetPerson]:
        """Return the rows of a team that is known only by its name."""
        if len(mark.students) != 1 or not mark.students[0].ids.keys() <= FROM_DOWNLOAD:
            return []
        team = letters(mark.students[0].name)
        return [one for one in self.people.values() if one.team and letters(one.team) == team]

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


def letters(name: str) -> str:
    """Return a name's letters and digits: file names of a download lack other characters."""
    return "".join(filter(str.isalnum, name)).casefold()


@dataclass(frozen=True, slots=True)
class MatchedMarks:
    """Which mark goes to which row, and notes for the instructor on the rest.

    ``without`` are the people that no submission belongs to, for certain: nobody, if a submission's
    student fits no row, or several (``unmatched``).
    """

    by_row: dict[int, LmsMark]
    notes: tuple[ExportNote, ...]
    absent: tuple[SheetPerson, ...]
    unmatched: bool

    @property
    def without(self) -> tuple[SheetPerson, ...]:
        return () if self.unmatched else self.absent


def match(roll: Roll, marks: Iterable[LmsMark], what: str = "mark") -> MatchedMarks:
    """Match marks to rows; a team's goes to every member's row. ``what`` is said to be written.

    Raise UsageError if the sheet seems to be another class's.
    """
    found: dict[int, dict[str, LmsMark]] = {}
    notes: list[ExportNote] = []
    known: list[str] = []
    strangers: list[str] = []
    nobody: set[int] = set()
    several = False
    for mark in marks:
        team = roll.members(mark)
        for student in mark.students or (StudentIdentity(mark.label),):
            people = roll.find(student) or team
            if mark.test:
                nobody.update(person.row for person in people)
            elif len(people) == 1 or (people and people == team):
                known.append(student.name)
                for person in people:
                    found.setdefault(person.row, {})[mark.name] = mark
            elif not mark.missing:
                (known if people else strangers).append(student.name)
                several = several or bool(people)
                listed = name_list(person.label for person in people)
                why = f"fits {len(people)} rows of the sheet: {listed}"
                text = f"{why if people else 'not in the sheet'}, so this {what} was not written"
                notes.append(ExportNote(text, student.name, important=True))
    refuse_another_class(roll, len(found), known, strangers)
    by_row = {}
    for row, candidates in found.items():
        # Who is missing by the roster may have handed in with a team of which it does not know.
        handed = [mark for mark in candidates.values() if not mark.missing]
        fitting = handed or list(candidates.values())
        if len(fitting) == 1:
            by_row[row] = fitting[0]
        else:
            text = (
                f"no {what} was written, because {len(fitting)} submissions fit this row:"
                f" {name_list(m.name for m in fitting)}"
            )
            notes.append(ExportNote(text, roll.people[row].label, important=True))
    others = roll.people.keys() - found.keys() - nobody
    absent = tuple(person for row, person in roll.people.items() if row in others)
    return MatchedMarks(by_row, tuple(notes), absent, several or bool(strangers))


def refuse_another_class(
    roll: Roll, rows: int, known: Collection[str], strangers: Collection[str]
) -> None:
    """Raise UsageError if the sheet has fewer than a quarter of the gradebook's students, and the
    gradebook fewer than a quarter of the sheet's people.

    One alone is no sign: a section's sheet has few of the students, and those who hand in late are
    few of the sheet's people.
    """
    students = len(known) + len(strangers)
    if 4 * len(known) < students and 4 * rows < len(roll.people):
        raise UsageError(
            f"{roll.path}: this seems to be the file of another class. It has {len(known)} of the"
            f" {counted(students, 'student')} in the gradebook. It does not have"
            f" {name_list(strangers, NAMED)}. Give the file of this class with --template. If this"
            " is it, grade with a roster that has the file's ids and the members of each team"
        )


def absent_notes(matched: MatchedMarks, request: ExportRequest) -> Iterator[ExportNote]:
    """Yield notes on the people without a submission."""
    for person in matched.absent:
        yield ExportNote("in the sheet, but without a submission", person.label)
    if request.missing_as_zero and matched.unmatched and matched.absent:
        yield ExportNote(
            "students without a submission were not given 0, because some submissions match no"
            " student in the sheet, or several"
        )


def put_mark(sheet: Sheet, person: SheetPerson, column: int, mark: str) -> Iterator[str]:
    """Write a mark; yield ``Alice Doe 3 → 17.5`` if it replaces another one."""
    old = sheet.value(person.row, column)
    sheet.put(person.row, column, mark)
    if old and not same_mark(old, mark):
        yield f"{person.label} {old} → {mark}"


def same_mark(old: str, new: str) -> bool:
    """Return whether two marks are equal; Canvas and Moodle show two decimals of a mark."""
    try:
        return abs(float(old.replace(",", ".")) - float(new.replace(",", "."))) <= 0.005 + 1e-9
    except ValueError:
        return False


def replaced_note(title: str, replaced: Sequence[str]) -> Iterator[ExportNote]:
    """Yield a note on the marks that an export replaces, if there are any."""
    if replaced:
        yield ExportNote(
            f"{counted(len(replaced), 'mark')} in {title} will be replaced:"
            f" {name_list(replaced, NAMED)}. Is this the right assignment?",
            important=True,
        )


def scale_note(full: float, worth: float, most: float | None, title: str) -> Iterator[ExportNote]:
    """Yield a note if full marks are not worth the same everywhere: in the course (``full``), in
    the export (``worth``), and in the other system (``most``, if known).
    """
    if worth != full or most not in (None, worth):
        possible = f", where {decimal(most)} are possible" if most not in (None, worth) else ""
        yield ExportNote(
            f"full marks of {decimal(full)} are worth {decimal(worth)} in {title}{possible};"
            " --scale changes this"
        )
