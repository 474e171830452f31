"""Read a roster, and match submissions to it: by ids, then by names.

A roster is a CSV file as spreadsheet programs write it: any delimiter, UTF-8, UTF-16 or CP949.
``roster_columns`` says what its columns mean. Classroom 50's are
``username,first_name,last_name,email,section,github_id`` and whatever else a teacher added:
https://github.com/foundation50/classroom50/wiki/Web-Teacher-Guide, "Roster CSV fields". Ambiguous
matches are reported.
"""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from zoneinfo import ZoneInfo

from grader.classroom.gradebook.identity import (
    GROUP_NUMBER,
    NO_GROUP,
    NUMBER,
    Key,
    called_alike,
    contradict,
    id_keys,
    number_keys,
)
from grader.classroom.gradebook.roster_columns import (
    BETWEEN_SECTIONS,
    DETAILS,
    FAMILY,
    GIVEN,
    NAMES,
    Cell,
    details_of,
    field_of,
    ids_of,
    kinds_of,
    name_of,
)
from grader.classroom.gradebook.teams import Students, TeamLine, Teams, as_group, find_teams
from grader.classroom.imports.entries import StudentIdentity
from grader.classroom.imports.names import forms_of, letters, name_list
from grader.core.errors import UsageError

DELIMITERS = ",;\t|"


def csv_rows(path: Path) -> list[tuple[int, list[str]]]:
    """Return a CSV file's non-empty rows, each with its line number; raise UsageError."""
    text = _text(path)
    first = next((line for line in text.splitlines() if line.strip()), "")
    reader = csv.reader(
        io.StringIO(text, newline=""), delimiter=max(DELIMITERS, key=first.count), strict=True
    )
    rows, line = [], 1
    try:
        for cells in reader:
            if any(cell.strip() for cell in cells):
                rows.append((line, cells))
            line = reader.line_num + 1
    except csv.Error as error:
        raise UsageError(f"{path}:{reader.line_num}: {error}. Save it as CSV again") from None
    return rows


def _text(path: Path) -> str:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(
            f"{path} can't be read: {error.strerror}. Check its name and its permissions"
        ) from None
    wide = data.startswith((b"\xff\xfe", b"\xfe\xff"))
    for encoding in ("utf-16",) if wide else ("utf-8-sig", "cp949"):
        try:
            return data.decode(encoding).replace("\0", "")
        except UnicodeDecodeError as error:
            line = data[: error.start].count(b"\n") + 1
    raise UsageError(f"{path}:{line} is neither UTF-8 nor CP949. Save it as CSV in UTF-8")


@dataclass(frozen=True, slots=True)
class Roster:
    """Students by their line in the file, the problems of other lines, and the details for which
    the file has a column.
    """

    students: tuple[tuple[int, StudentIdentity], ...]
    problems: tuple[str, ...] = ()
    columns: frozenset[str] = frozenset()


def read_roster(path: Path, zone: ZoneInfo | None = None) -> Roster:
    """Read a roster; times without an offset are in ``zone``. A bad line becomes a problem.

    Raise UsageError with file and line if it is not a roster, or if a time can't be read.
    """
    lines = csv_rows(path)
    if not lines:
        raise UsageError(
            f"{path} is empty. A roster is a CSV file with a header, such as: name,email,sid"
        )
    number, header = lines[0]
    fields = [field_of(cell) for cell in header]
    kinds = kinds_of(fields)
    if not kinds and not {*fields} & (NAMES | GIVEN | FAMILY):
        raise UsageError(
            f"{path}:{number}: no column names the students: {', '.join(header)[:120]}. Call one of"
            " them name, id, email, sid or username"
        )
    students: list[tuple[int, StudentIdentity]] = []
    problems: list[str] = []
    for line, cells in lines[1:]:
        if any(cell.strip() for cell in cells[len(fields) :]):
            problems.append(
                f"{path}:{line}: {len(cells)} cells under {len(fields)} headers, so it is left out."
                " Put quotation marks around cells that contain a comma"
            )
            continue
        row = [
            Cell(field, cell.strip())
            for field, cell in zip(fields, cells, strict=False)
            if cell.strip()
        ]
        ids = ids_of(row, kinds)
        any_id = next((cell.text for cell in row if cell.header in kinds), "")
        name = name_of(row) or ids.get("username") or ids.get("email") or any_id
        if not ids and is_canvas_row(cells, name, from_canvas="canvas_id" in kinds.values()):
            continue
        if not name:
            problems.append(
                f"{path}:{line}: neither a name nor an id, so it is left out. Fill one in"
            )
            continue
        details = details_of(row, name, ids, f"{path}:{line}", zone)
        students.append((line, StudentIdentity(name, ids, details)))
    columns = {detail for detail, headers in DETAILS.items() if headers & {*fields}}
    listed = tuple(once(with_sections(students)))
    problems += (f"{path}:{said}" for said in double_rows(listed))
    return Roster(listed, tuple(problems), frozenset(columns))


def once(students: Iterable[tuple[int, StudentIdentity]]) -> Iterator[tuple[int, StudentIdentity]]:
    """Yield each student once, with all groups and sections: a list may have a line for each."""
    lines: dict[object, tuple[int, StudentIdentity]] = {}
    for line, student in students:
        same = (student.name, *sorted(student.ids.items())) if student.ids else line
        first, known = lines.get(same, (line, student))
        details = student.details | known.details
        for several in {"group", "section"} & details.keys():
            both = (one.details.get(several) for one in (known, student))
            details[several] = "; ".join(dict.fromkeys(filter(None, both)))
        lines[same] = first, replace(known, details=details)
    yield from lines.values()


def with_sections(
    students: Sequence[tuple[int, StudentIdentity]],
) -> list[tuple[int, StudentIdentity]]:
    """Return students with sections as ``StudentIdentity`` has them, where Canvas writes several as
    a list in words: each part is the whole section of somebody else.
    """
    known = {one.details.get("section", "") for _, one in students}
    found = []
    for line, one in students:
        parts = BETWEEN_SECTIONS.split(one.details.get("section", ""))
        if len(parts) > 1 and known.issuperset(parts):
            one = replace(one, details=one.details | {"section": "; ".join(parts)})
        found.append((line, one))
    return found


def double_rows(students: Iterable[tuple[int, StudentIdentity]]) -> Iterator[str]:
    """Yield which rows may be a person's second one: with the name and an id of another row."""
    first: dict[object, int] = {}
    for line, one in students:
        for kind, id in one.ids.items():
            other = first.setdefault((one.name.casefold(), kind, id.casefold()), line)
            if other != line:
                yield (
                    f"{line}: {one.name} with the {kind} {id} is on line {other}, too, so they are"
                    " taken as two people. If they are one, remove a row"
                )
                break


def is_canvas_row(cells: Sequence[str], name: str, *, from_canvas: bool) -> bool:
    """Return whether a row without ids is one that Canvas adds below the header: the points
    possible, which are indented in every language, or how grades are posted.
    """
    in_any_language = from_canvas and (not name or cells[0].startswith("  "))
    return in_any_language or name.casefold().startswith("points possible")


class PeopleIndex:
    """The lines of a roster or a sheet by the keys of their people: ids, and spellings of names.

    The two are searched by different rules. On a roster, ``match`` goes from ids to names until
    exactly one line fits, because what is left open only lacks a line. In a sheet, where a mark is
    written, the most reliable key that fits any row decides (``exports.matching.Roll``).
    """

    def __init__(self, keys_by_line: Iterable[tuple[int, Iterable[Key]]]) -> None:
        self._lines: dict[Key, list[int]] = {}
        for line, keys in keys_by_line:
            for key in keys:
                self._lines.setdefault(key, []).append(line)

    def find(self, keys: Iterable[Key]) -> list[int]:
        """Return the lines that have one of these keys, in order."""
        return sorted({line for key in keys for line in self._lines.get(key, ())})


@dataclass(frozen=True, slots=True, eq=False)
class SubmittingStudent:
    """A student to be found on the roster, with the names that the submission gives, and the number
    of the person whose these are, if they fit several.
    """

    submission: str
    student: StudentIdentity
    called: tuple[str, ...]
    likely: int | None = None

    def __str__(self) -> str:
        if self.student.name == self.submission:
            return self.submission
        return f"{self.student.name} ({self.submission})"


@dataclass(frozen=True, slots=True)
class MatchedStudents:
    """Each submission's students as the known people that they are; notes; and the lines of people
    who are in none, with a sentence if one may be theirs.

    ``teams`` are the submissions of teams, those without a member included; ``elsewhere`` has the
    members of the gradebook's other teams.
    """

    students: dict[str, tuple[StudentIdentity, ...]]
    notes: tuple[str, ...]
    unmatched: dict[int, str | None]
    teams: frozenset[str] = frozenset()
    elsewhere: Mapping[str, tuple[StudentIdentity, ...]] = field(default_factory=dict)


def match(
    known: Iterable[tuple[int, StudentIdentity]],
    handed: Iterable[tuple[str, tuple[StudentIdentity, ...]]],
    team_lines: Mapping[str, TeamLine] = MappingProxyType({}),
    lines_known: Mapping[str, str] = MappingProxyType({}),
    likely: Mapping[str, int] = MappingProxyType({}),
) -> MatchedStudents:
    """Match submissions' students to known people, each on a line; a person may be on several.

    A submission with the name of a group belongs to all members of the group. If a name fits
    several people, it is that of the one whose number is ``likely``. A student of whom no line is
    certain is returned as the submission has them. For ``team_lines`` and ``lines_known`` see
    ``find_teams``.
    """
    on_roster = dict(known)
    submissions = dict(handed)
    listed = {line: one for line, one in on_roster.items() if line < UNLISTED}
    teams = find_teams(submissions, listed, team_lines, lines_known)
    people = [*_not_of_teams(submissions, teams, likely)]
    clear = [person for person in people if person.submission not in teams.unclear]
    persons = [person for person in clear if GROUP_NUMBER not in person.student.ids]
    lines, doubts, notes = lines_of(persons, on_roster)
    own: dict[int | None, int] = {one.person: line for line, one in listed.items()}
    own.pop(None, None)
    first = {person: on_roster[line].first for person, line in lines.items()}
    lines = {person: own.get(on_roster[line].person, line) for person, line in lines.items()}
    listed_persons = {person for person, line in lines.items() if line in listed}
    # An assignment in Moodle is one of persons or one of teams.
    numbered = not teams.in_moodle and any(NUMBER in one.student.ids for one in listed_persons)
    of_persons = not listed or numbered
    found = {name: set(_once(teams.members.get(name, ()), on_roster)) for name in submissions}
    students = {name: tuple(on_roster[line] for line in sorted(found[name])) for name in found}
    nobodys = teams.left - {
        person.submission
        for person in listed_persons
        if "group" not in listed[lines[person]].details
    }
    for person in people:
        if person.submission in nobodys:
            students[person.submission] = ()
            continue
        known_as = on_roster.get(lines.get(person, -1))
        is_person = of_persons or person in listed_persons
        student = person.student if is_person else as_group(person.student)
        students[person.submission] += (joined(student, known_as, first.get(person)),)
        found[person.submission] |= {lines[person]} if person in lines else set()
    for name, of_those in teams.unclear.items():
        for line in of_those:
            doubts.setdefault(line, []).append(name)
    matched = set().union(*found.values())
    absent = {line: one for line, one in on_roster.items() if line not in matched}
    unknown = [one for one in clear if one not in listed_persons and one.submission not in nobodys]
    strangers = _maybe_teams(unknown, teams, matched & listed.keys(), of_persons=of_persons)
    _doubt_strangers(absent, strangers, doubts)
    open_ones = {name: of for name, of in found.items() if not names_everybody(submissions[name])}
    if any(len(of) > 1 for of in found.values()):
        _doubt_team_mates(absent, on_roster, open_ones, doubts)
    notes += _on_teams(strangers, lines, listed) if absent else ()
    unmatched = {line: _doubt(line, on_roster, doubts) for line in absent}
    return MatchedStudents(
        students,
        (*teams.notes, *notes),
        unmatched,
        frozenset({*teams.members, *teams.left}),
        {name: tuple(on_roster[line] for line in found) for name, found in teams.elsewhere.items()},
    )


TEAMS_TOO = (
    "may be the work of teams. If so, add a column group to the roster, with each student's team"
)
IN_NO_GROUP = (
    "may be the work of teams. If so, write these names into the roster's column group, for each"
    " member"
)


def _not_of_teams(
    submissions: Students, teams: Teams, likely: Mapping[str, int]
) -> Iterator[SubmittingStudent]:
    for name, students in submissions.items():
        for one in students if name not in teams.members else ():
            called = (one.name, name) if len(students) == 1 else (one.name,)
            student = as_group(one) if teams.in_moodle and name not in teams.persons else one
            yield SubmittingStudent(name, student, called, likely.get(name))


def _on_teams(
    strangers: Sequence[SubmittingStudent],
    lines: Mapping[SubmittingStudent, int],
    listed: Mapping[int, StudentIdentity],
) -> Iterator[str]:
    """Yield notes on submissions that may be teams': those of nobody who is known, and Canvas's
    files under another name than that of the person with the id. A team's file has the id of the
    member who handed it in.
    """
    groups = any("group" in one.details for one in listed.values())
    if strangers:
        too = IN_NO_GROUP if groups else TEAMS_TOO
        yield f"{name_list(map(str, strangers), 10)} {too}"
    came = []
    for person, line in lines.items():
        one = listed.get(line)
        if one is None or "canvas_id" not in person.student.ids or "role" in one.details:
            continue
        words = [letters(word) for name in (one.name, *one.former_names) for word in name.split()]
        if not any(len(word) > 1 and word in letters(person.student.name) for word in words):
            came.append(f"{person.student.name} came under {one.name}'s id")
    if came:
        add = "write its name into the roster's column group"
        add = add if groups else "add a column group to the roster"
        yield f"{'; '.join(came[:10])}: is it a team's? Then {add}"


def _maybe_teams(
    strangers: list[SubmittingStudent], teams: Teams, matched: set[int], *, of_persons: bool
) -> list[SubmittingStudent]:
    """Return the submissions that nobody is found for and that may be those of teams.

    They are all, if there are teams. Else they are those in Moodle, unless one was found to be a
    person's, and repositories, if nobody at all was found.
    """
    kinds = set() if of_persons else {NUMBER, GROUP_NUMBER}
    if not matched:
        kinds.add("username")
    return [one for one in strangers if teams.members or one.student.ids.keys() & kinds]


def _doubt(
    line: int, on_roster: dict[int, StudentIdentity], doubts: dict[int, list[str]]
) -> str | None:
    who = name_list(dict.fromkeys(doubts.get(line, ())), 5)
    maybe = "may be this student or the student's team, but this is not certain"
    return f"{where_is(line, on_roster)}; {who} {maybe}" if who else None


def _doubt_strangers(
    absent: dict[int, StudentIdentity],
    strangers: Sequence[SubmittingStudent],
    doubts: dict[int, list[str]],
) -> None:
    """Add the submissions that may be those of an absent student's team."""
    for stranger in strangers:
        lines = list(absent)
        if stranger.student.ids.get(GROUP_NUMBER) == NO_GROUP:
            lines = [line for line, one in absent.items() if "group" not in one.details] or lines
        for line in lines:
            doubts.setdefault(line, []).append(str(stranger))


def names_everybody(students: Iterable[StudentIdentity]) -> bool:
    """Return whether a download says who handed a submission in, and nobody else did: Gradescope's
    does, with its metadata.
    """
    return any("gradescope_submission" in one.ids and len(one.ids) > 1 for one in students)


def _doubt_team_mates(
    absent: dict[int, StudentIdentity],
    on_roster: dict[int, StudentIdentity],
    found: dict[str, set[int]],
    doubts: dict[int, list[str]],
) -> None:
    """Add the submission of others in an absent student's group. If the group handed in several
    times, it is not a team, but a section.
    """
    of_group: dict[str, list[str]] = {}
    for name, lines in found.items():
        for group in {on_roster[line].details.get("group", "") for line in lines} - {""}:
            of_group.setdefault(group, []).append(name)
    for line, student in absent.items():
        names = of_group.get(student.details.get("group", ""), [])
        if len(names) == 1:
            doubts.setdefault(line, []).append(names[0])


def lines_of(
    people: Sequence[SubmittingStudent], on_roster: dict[int, StudentIdentity]
) -> tuple[dict[SubmittingStudent, int], dict[int, list[str]], list[str]]:
    """Return each student's line; for lines that several may be, who may be meant; and notes."""
    lines: dict[SubmittingStudent, int] = {}
    named: dict[SubmittingStudent, int] = {}  # found by a name that others may have, too
    among: dict[SubmittingStudent, list[int]] = {}  # several lines of which one must be theirs
    doubts: dict[int, list[str]] = {}
    unsure: list[tuple[SubmittingStudent, list[int], str]] = []
    notes: list[str] = []
    for step in STEPS:
        known = set(lines.values())
        numbers = any(
            number_keys(person.student) & number_keys(on_roster[line])
            for person, line in lines.items()
        )
        index = PeopleIndex(
            (line, step.on_roster(student))
            for line, student in on_roster.items()
            if step.several or line not in known
        )
        links = {
            person: [
                line
                for line in index.find(step.handed_in(person))
                if line in among.get(person, on_roster)
            ]
            for person in people
            if person not in lines
        }
        fitting = {
            person: [line for line in found if step.fits(person.student, on_roster[line], numbers)]
            for person, found in links.items()
        }
        claims = Counter(line for found in fitting.values() for line in found)
        for person, several_lines in fitting.items():
            found = _once(several_lines, on_roster)
            if len(found) == 1 and (step.several or claims[found[0]] == 1):
                lines[person] = found[0]
                if step.says and not step.several:
                    named[person] = found[0]
                continue
            if len(found) > 1:
                among[person] = found
            if step.says and links[person]:
                those = _once(links[person], on_roster)
                unsure.append((person, those, UNSURE if found else step.says))
    unsure += still_unsure(lines, on_roster)
    notes += only_ones_left(named, on_roster)
    for person, those, why in unsure:
        places = " or ".join(where_is(line, on_roster) for line in those)
        notes.append(f"{person} may be {places}, {why}")
        for line in those:
            doubts.setdefault(line, []).append(str(person))
    return lines, doubts, [*dict.fromkeys(notes)]


def still_unsure(
    lines: Mapping[SubmittingStudent, int], on_roster: dict[int, StudentIdentity]
) -> Iterator[tuple[SubmittingStudent, list[int], str]]:
    """Yield who is known from an earlier run, but not on the roster, with the lines of it that may
    be theirs and have nobody's submission, and why that is not certain.
    """
    listed = {line: one for line, one in on_roster.items() if line < UNLISTED}
    persons = {one.person for one in listed.values()}
    here = {on_roster[line].person for line in lines.values()}
    absent = {line: one for line, one in listed.items() if one.person not in here}
    for step in (step for step in STEPS if step.says):
        index = PeopleIndex((line, step.on_roster(one)) for line, one in absent.items())
        for person, own in lines.items():
            if own not in listed and on_roster[own].person not in persons:
                found = index.find(step.handed_in(person))
                if those := [one for one in found if not contradict(person.student, absent[one])]:
                    yield person, those, step.says


def only_ones_left(
    named: Mapping[SubmittingStudent, int], on_roster: dict[int, StudentIdentity]
) -> Iterator[str]:
    """Yield who has a name of several people, of whom all but one had other submissions."""
    index = PeopleIndex((line, _names(one)) for line, one in on_roster.items())
    for person, own in named.items():
        others = [on_roster[line] for line in index.find(_names_called(person)) if line != own]
        if any(
            one.person != on_roster[own].person and not contradict(person.student, one)
            for one in others
        ):
            yield (
                f"{person} is {where_is(own, on_roster)}, because everybody else of this name has"
                " another submission. If that is wrong: grade rename OUT OLD NEW --merge"
            )


UNLISTED = 1_000_000
"""Added to the numbers of people who are on no line of the roster."""


def where_is(line: int, on_roster: dict[int, StudentIdentity]) -> str:
    """Return where somebody is known from, for a message."""
    where = ", known before" if line >= UNLISTED else f" on line {line} of the roster"
    return on_roster[line].name + where


def _once(lines: Iterable[int], on_roster: dict[int, StudentIdentity]) -> list[int]:
    """Return the lines without those of a person who has another one among them."""
    first: dict[int, int] = {}
    for line in lines:
        person = on_roster[line].person
        first.setdefault(-line if person is None else person, line)
    return list(first.values())


def joined(
    student: StudentIdentity, line: StudentIdentity | None, first: int | None
) -> StudentIdentity:
    """Return a student with what a line says of them; ``first`` is their number before."""
    if line is None:
        return student
    return StudentIdentity(line.name, {**line.ids, **student.ids}, line.details, line.person, first)


def _ids_of_any_kind(person: SubmittingStudent) -> set[Key]:
    ids = id_keys(person.student)
    return ids | {("id", value) for _, value in ids}


def _numbers(person: SubmittingStudent) -> set[Key]:
    return number_keys(person.student)


def _numbers_on_roster(student: StudentIdentity) -> set[Key]:
    """Return the keys of Moodle's numbers, and of ids that may be such numbers."""
    return number_keys(student) | {key for key in id_keys(student) if key[0] == "id"}


def _values(student: StudentIdentity) -> set[Key]:
    return {("", value.strip().casefold()) for value in student.ids.values()}


def _called(person: SubmittingStudent) -> set[Key]:
    return {("", name.strip().casefold()) for name in person.called}


def _names(student: StudentIdentity) -> set[Key]:
    return {("", form) for form in forms_of(student.name)}


def _former_names(student: StudentIdentity) -> set[Key]:
    return {("", form) for name in student.former_names for form in forms_of(name)}


def _names_called(person: SubmittingStudent) -> set[Key]:
    return {("", form) for name in person.called for form in forms_of(name)}


def _likely_names(person: SubmittingStudent) -> set[Key]:
    forms = set() if person.likely is None else _names_called(person)
    return {(str(person.likely), form) for _, form in forms}


def _names_of_person(student: StudentIdentity) -> set[Key]:
    forms = _names(student) | _former_names(student)
    return {(str(student.number), form) for _, form in forms}


Fits = Callable[[StudentIdentity, StudentIdentity, bool], bool]


def _not_another(student: StudentIdentity, line: StudentIdentity, numbers: bool) -> bool:
    return not contradict(student, line, numbers=numbers)


@dataclass(frozen=True, slots=True)
class Step:
    """A way to match: the keys of a roster's line, and those of a submission's student.

    ``several``: a line may match several students (somebody in two teams). ``fits`` says whether
    the two may be one person, given whether the roster has Moodle's numbers of this assignment.
    ``says`` is what a note says about a match that is not made.
    """

    on_roster: Callable[[StudentIdentity], set[Key]]
    handed_in: Callable[[SubmittingStudent], set[Key]]
    several: bool = False
    fits: Fits = lambda student, line, numbers: True
    says: str = ""


UNSURE = (
    "but this is not certain. Say who it is: grade person. Or add a column to the roster with ids"
    " that the download has"
)
STEPS = (
    Step(id_keys, _ids_of_any_kind, several=True),
    Step(
        _numbers_on_roster,
        _numbers,
        several=True,
        fits=lambda student, line, numbers: called_alike(student, line),
        says="who has that number in Moodle, but the names differ. The number may be a group's:"
        " write its name into the roster's column group, or say who it is: grade person",
    ),
    # Folders are often called after a login or a student number.
    Step(_values, _called, fits=_not_another),
    Step(_names_of_person, _likely_names, several=True, fits=_not_another),
    Step(_names, _names_called, fits=_not_another, says=UNSURE),
    Step(_former_names, _names_called, fits=_not_another),
)
"""The ways to match, most reliable first."""
