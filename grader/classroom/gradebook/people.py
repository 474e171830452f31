"""The people of a term, and whose each submission of a download is.

A person is found again by any id that holds for the whole term, by an id of the assignment (in
Moodle a participant has another number in each), or by name if it fits one person only. A line of
the gradebook is found again by its people, whatever part of the class a download holds; by its name
only if nobody is known. A team's line is found by the team's number or name, also if its members
have changed; they are those on the roster. Who is not certain is said, and never guessed.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from grader.classroom.gradebook.entry import students_as_json, students_from_json, students_label
from grader.classroom.gradebook.identity import (
    GROUP_NUMBER,
    NUMBER,
    OF_ONE_ASSIGNMENT,
    called_alike,
    contradict,
    is_nameless,
)
from grader.classroom.gradebook.roster import UNLISTED, Roster, SubmittingStudent, lines_of, match
from grader.classroom.gradebook.store import LONG_AGO, WAYS_TO_CALL, Gradebook, is_called
from grader.classroom.gradebook.teams import TeamLine
from grader.classroom.imports.entries import FORMERLY, ClassImport, StudentIdentity, Submission
from grader.classroom.imports.names import forms_of, letters, name_list, unique_names
from grader.core.errors import UsageError
from grader.core.sqlite import transaction
from grader.core.text import command, counted, moment

OF_THE_TERM = ("section", "group", "role", FORMERLY)
"""Details of a person that hold for the term; the others are of an assignment."""


@dataclass(frozen=True, slots=True)
class Enrolled:
    """A download whose submissions have the names of their lines in the gradebook, and the people
    of the term as students; notes for the instructor; and the lines of others that changed.
    """

    found: ClassImport
    notes: tuple[str, ...]
    changed: frozenset[str]


def enrol(
    book: Gradebook, found: ClassImport, roster: Roster | None, *, guessed: bool = False
) -> Enrolled:
    """Find out whose each submission is; keep the people, and who has handed in nothing.

    If the layout was only ``guessed``, raise UsageError for a first download in which hardly
    anybody is on the roster.
    """
    with transaction(book.db):
        older = keep_roster(book, roster) if roster is not None else None
        book.has_older_roster = older is not None
        join_by_number(book)
        for number in book.assignments().values():
            adopt(book.at(number), known_people(book.at(number)))
        people = known_people(book)
        if older is not None:
            people.set_times(older)
        finder = LineFinder(book, people)
        known = finder.teams_known(found.handed)
        students = [(one.name, one.students) for one in found.handed]
        likely = finder.likely(found.handed)
        matched = match(people.lines.items(), students, finder.teams, known, likely)
        handed = finder.place(
            found.handed,
            {
                name: tuple(map(people.as_known, students))
                for name, students in matched.students.items()
            },
            matched.teams,
            {*matched.elsewhere},
        )
        doubles = beside_teams(book, handed, finder.placed_teams, matched.elsewhere)
        handed = [one for one in handed if one.name not in doubles]
        if guessed and roster is not None and not book.names():
            refuse_strangers(people, handed, roster)
        changed = {*refresh(book, people, handed, finder.placed_teams, matched.elsewhere)}
        changed |= finder.hidden
        forgotten = [one.name for one in handed if book.is_forgotten(one.name)]
        doubts = {
            people.lines[line].person: doubt for line, doubt in matched.unmatched.items() if doubt
        }
        keep_absent(book, people, handed, doubts)
    notes = list(matched.notes) if older is None else [OLDER, *matched.notes]
    notes += notes_on(handed, finder)
    if forgotten:
        notes.append(
            f"forgotten, so not graded: {name_list(forgotten)}. To undo that:"
            f" {command('forget', book.folder, forgotten[0], '--undo')}"
        )
    kept = sorted((one for one in handed if one.name not in forgotten), key=lambda one: one.name)
    passed_over = (*found.passed_over, *doubles.values())
    found = replace(found, handed=tuple(kept), passed_over=passed_over)
    return Enrolled(found, tuple(notes), frozenset(changed))


def notes_on(handed: Sequence[Submission], finder: LineFinder) -> Iterator[str]:
    """Yield what an instructor should know of whose the submissions turned out to be."""
    strangers = [
        one.name
        for submission in handed
        for one in submission.students
        if one.person not in finder.listed
    ]
    if strangers and finder.listed:
        yield f"not found on the roster: {name_list(strangers, 10)}"
    for name, lines in in_several(handed, finder.placed_teams):
        yield f"{name} is in several submissions: {name_list(lines)}. All are graded"
    if finder.nobodys:
        yield (
            "nobody on the roster is in these teams, so they are not graded:"
            f" {name_list(finder.nobodys, 10)}"
        )
    if finder.renamed:
        yield f"known by other names: {name_list(finder.renamed, 10)}"


def refuse_strangers(people: KnownPeople, handed: Sequence[Submission], roster: Roster) -> None:
    listed = [one for one in handed if persons(one.students) & people.listed]
    if len(handed) < FEW or 10 * len(listed) >= len(handed):
        return
    strange = next(one.name for one in handed if one not in listed)
    columns = sorted({kind for _, one in roster.students for kind in one.ids})
    raise UsageError(
        f"{counted(len(handed), 'submission')}, layout: plain, a folder or a file for each student,"
        f" but hardly anybody is on the roster by name{''.join(f', {one}' for one in columns)}. Is"
        f" {strange!r} a student? If these are repositories: --from github. If the names are right:"
        " --from plain"
    )


def in_several(
    handed: Sequence[Submission], teams: Collection[str]
) -> Iterator[tuple[str, list[str]]]:
    """Yield people with the names of their submissions, those of teams left out, if several."""
    lines: dict[int | None, dict[str, str]] = {}
    for submission in handed:
        for one in submission.students if submission.name not in teams else ():
            lines.setdefault(one.person, {})[submission.name] = described(one)
    yield from ((min(there.values()), [*there]) for there in lines.values() if len(there) > 1)


OLDER = (
    "this roster is older than the last one, because its times of hand-in are earlier. So names,"
    " groups, extensions and known times stay as they were. To use it all the same, remove its"
    " column of times. A time that is wrong is mended with an extension: column due"
)
FEW = 3
"""Of so many submissions, somebody has to be on the roster."""


@dataclass(slots=True)
class KnownPeople:
    """The people as an assignment knows them, by the line of its roster or ``UNLISTED`` and their
    number; ``listed`` are the numbers of those on the roster.
    """

    lines: dict[int, StudentIdentity] = field(default_factory=dict)
    listed: set[int] = field(default_factory=set)
    own_lines: dict[int, int] = field(default_factory=dict)

    def set_times(self, times: Mapping[int, dict[str, str]]) -> None:
        """Replace, for this run, when people handed in; an empty entry is no time."""
        for line, one in self.lines.items():
            if (said := times.get(one.person or 0)) is not None:
                rest = {k: v for k, v in one.details.items() if k != "handed_in"}
                self.lines[line] = replace(one, details=rest | said)

    def as_known(self, one: StudentIdentity) -> StudentIdentity:
        """Return a student as the person that they turned out to be."""
        if one.person is None:
            return one
        line = self.own_lines.get(one.person)
        if line is None:
            return one
        known = self.lines[line]
        return replace(one, name=known.name, ids={**known.ids, **one.ids}, details=known.details)

    def without(self, one: StudentIdentity, other: int | None) -> StudentIdentity:
        """Return a student without the ids that are known of a person."""
        line = self.own_lines.get(other or 0)
        theirs = {} if line is None else self.lines[line].ids
        return replace(one, ids={k: v for k, v in one.ids.items() if theirs.get(k) != v})


def known_people(book: Gradebook) -> KnownPeople:
    """Return the people of a term, with what this assignment's roster and lines say of them.

    An assignment without a roster has that of the newest one that has.
    """
    known = KnownPeople()
    rosters = "SELECT assignment FROM listed ORDER BY assignment = ? DESC, assignment DESC LIMIT 1"
    newest = book.value(rosters, book.assignment)
    own_ids: dict[int, dict[str, str]] = {}
    came_as: dict[int, list[str]] = {}
    teams = names_of_teams(book)
    for name, students in entries_of(book):
        for one in students:
            if one.person is not None:
                own_ids.setdefault(one.number or 0, {}).update(one.ids)
                if NUMBER in one.ids and len(students) == 1 and name not in teams:
                    came_as.setdefault(one.number or 0, []).append(name)
    rows = [
        *book.rows(
            "SELECT p.id, p.name, p.ids, p.details, p.same_as, l.line, l.ids AS listed_ids,"
            " l.details AS listed FROM people p LEFT JOIN listed l ON l.person = p.id AND"
            " l.assignment = ? ORDER BY l.line IS NULL, l.line, p.id",
            newest,
        )
    ]
    same, own = turned_out(book), {row["id"]: row for row in rows}
    for row in rows:
        person = same.get(row["id"], row["id"])
        ids, details = json.loads(row["ids"]), json.loads(row["details"])
        if is_nameless(StudentIdentity(row["name"], json.loads(row["listed_ids"] or "{}"))):
            row["name"], ids = own[person]["name"], json.loads(own[person]["ids"]) | ids
            details = json.loads(own[person]["details"]) | details
        if row["line"] is not None:
            known.listed.add(person)
            if newest == book.assignment:
                ids |= json.loads(row["listed_ids"])
                details |= json.loads(row["listed"])
            names = (*details.get(FORMERLY, "").split("\n"), *came_as.get(row["id"], ()))
            details |= formerly(row["name"], names)
        ids = {**own_ids.get(row["id"], {}), **ids}
        line = UNLISTED + row["id"] if row["line"] is None else row["line"]
        one = StudentIdentity(row["name"], ids, details, row["id"])
        known.lines[line] = turned(one, same)
        if person == row["id"] or line < UNLISTED:
            known.own_lines.setdefault(person, line)
    return known


def turned(one: StudentIdentity, same: Mapping[int | None, int]) -> StudentIdentity:
    """Return somebody as the person that they turned out to be; the number before stays known."""
    number = one.number
    person = same.get(number, number)
    return replace(one, person=person, first=None if person == number else number)


def adopt(book: Gradebook, people: KnownPeople) -> None:
    """Give a number to the people of lines that an earlier version wrote."""
    old = {
        name: students
        for name, students in entries_of(book)
        if any(one.person is None for one in students)
    }
    matched = match(people.lines.items(), old.items())
    for name, students in old.items():
        known = []
        for one, there in zip(students, matched.students.get(name, students), strict=True):
            person = there.person
            if person is None:
                person = book.insert("people", {"name": one.name})
                keep_person(book, person, one)
            known.append(replace(one, person=person, first=there.first))
        new = {"students": students_as_json(known)}
        book.change("submissions", book.number_of(name) or 0, new)


TEAMS_FILES = (
    "SELECT 1 FROM attempts a JOIN attempts t ON t.digest = a.digest JOIN submissions s ON s.id ="
    " t.submission WHERE a.submission = ? AND s.id != a.submission AND s.team IS NOT NULL"
)
"""Whether the files of a submission are those of a team."""


def beside_teams(
    book: Gradebook,
    handed: Sequence[Submission],
    teams: Collection[str],
    elsewhere: Mapping[str, tuple[StudentIdentity, ...]],
) -> dict[str, tuple[str, str]]:
    """Return what only members of teams that handed in have handed in without these, by name: what
    it came as, and why it is not graded. Nobody has two marks, and a forgotten team has none.

    ``teams`` are lines of teams in this download, ``elsewhere`` has the members of others.
    """
    query = (
        "SELECT DISTINCT s.name FROM submissions s JOIN attempts t ON t.submission = s.id WHERE"
        " s.assignment = ? AND t.void = 0"
    )
    graded = {name for (name,) in book.db.execute(query, [book.assignment])}
    members = {name: those for name, those in elsewhere.items() if name in graded}
    members |= {one.name: one.students for one in handed if one.name in teams}
    team_of = {
        one.person: name
        for name, those in members.items()
        if not book.is_forgotten(name)
        for one in those
    }
    doubles = {}
    for one in handed:
        those = [team_of.get(who.person) for who in one.students]
        if one.name not in teams and those and all(those):
            who = students_label(one.students, one.name)
            why = (
                f"{who} is in {those[0]}, whose mark counts, so this is not graded. If it should"
                " count, take the group off the roster"
            )
            doubles[one.name] = (one.came_as or one.name, why)
    return doubles


def refresh(
    book: Gradebook,
    people: KnownPeople,
    handed: Sequence[Submission],
    teams: Collection[str],
    elsewhere: Mapping[str, tuple[StudentIdentity, ...]],
) -> Iterator[str]:
    """Let the lines of those who are not in this download have what the roster says now; yield
    those that changed. ``teams`` are lines of teams in it, ``elsewhere`` has the members of others.

    Nobody stays on a second line. A line that has nobody left is not shown, until somebody is back.
    """
    here = {one.name for one in handed}
    query = "SELECT DISTINCT submission FROM attempts WHERE void = 0"
    graded = {submission for (submission,) in book.db.execute(query)}
    in_team = {one.person for those in elsewhere.values() for one in those}
    same = turned_out(book)  # some just now
    alone, in_any = set[int | None](), set[int | None]()
    for one in handed:
        those = {student.person for student in one.students}
        in_any |= those
        if one.name not in teams:
            alone |= those
        if one.name in teams or len(those) > 1:
            in_team |= those
    query = "SELECT id, name, students, missing, team FROM submissions WHERE assignment = ?"
    for row in list(book.rows(query, book.assignment)):
        name, students, shown = row["name"], students_from_json(row["students"]), not row["missing"]
        if name in here:
            continue
        known = stay = tuple(people.as_known(turned(one, same)) for one in students)
        new: dict[str, object] = {}
        if name in elsewhere and row["id"] in graded:
            stay = tuple(one for one in elsewhere[name] if one.person not in alone)
            known_as = "" if persons(students) & people.listed else number_of_one(students)
            number = known_as if row["team"] is None else row["team"]
            new = {"team": number, **({"missing": 0} if stay else {})}
        elif shown:
            gone = in_any if len(students) > 1 else in_team
            gone = gone | people.listed if row["team"] is not None else gone
            stay = tuple(one for one in known if one.person not in gone)
        if shown and not stay:
            new |= {"missing": 3, "attempt": None}
            if book.value(TEAMS_FILES, row["id"]):  # an earlier version made two lines of one
                new["team"] = row["team"] or ""
        new["students"] = students_as_json(stay or known)
        if any(row[column] != value for column, value in new.items() if column in row):
            book.change("submissions", row["id"], new)
            book.settle(row["id"])
            yield name


def turned_out(book: Gradebook) -> dict[int | None, int]:
    """Return who each person turned out to be, by the number of those who are somebody else."""
    same: dict[int | None, int] = dict(
        book.db.execute("SELECT id, same_as FROM people WHERE same_as IS NOT NULL")
    )
    for one in same:
        seen = {one}
        while (other := same[one]) in same and other not in seen:
            seen.add(other)
            same[one] = same[other]
    return same


def settle_people(book: Gradebook) -> None:
    """Let the term's lines be of the persons who their people turned out to be; or of themselves
    again, without what is known of the others.
    """
    same = turned_out(book)
    for assignment in book.assignments().values():
        there = book.at(assignment)
        people = known_people(there)
        for name, students in entries_of(there):
            new = []
            for old, one in ((old, turned(old, same)) for old in students):
                apart = same.get(old.person, old.person) != one.person
                new.append(people.without(people.as_known(one), old.person) if apart else one)
            if tuple(new) != students:
                number = there.number_of(name) or 0
                there.change("submissions", number, {"students": students_as_json(new)})


def keep_roster(book: Gradebook, roster: Roster) -> dict[int, dict[str, str]] | None:
    """Make a roster this assignment's. People who are known already stay the same people.

    What the new roster has no column for stays as the one before said. If the new one is older than
    that, it is not kept: return what it says of when each person handed in.
    """
    people = known_people(book)
    query = "SELECT line, details FROM listed WHERE assignment = ?"
    listed = dict(book.db.execute(query, [book.assignment]).fetchall())
    before = {people.lines[line].person: json.loads(said) for line, said in listed.items()}
    students = [
        SubmittingStudent("", one, (one.name, *one.ids.values())) for _, one in roster.students
    ]
    found, _, _ = lines_of(students, people.lines)
    known: dict[int, StudentIdentity] = {}
    for (line, one), student in zip(roster.students, students, strict=True):
        who = people.lines.get(found.get(student, -1))
        if who is None and line in listed and people.lines[line].name == one.name:
            who = people.lines[line]  # two of one name, told apart by their lines
        if who is not None and who.person not in persons(known.values()):
            known[line] = who
    times = {
        known[line].person or 0: {k: v for k, v in one.details.items() if k == "handed_in"}
        for line, one in roster.students
        if line in known
    }
    if "handed_in" in roster.columns and is_older(times, before):
        return times
    book.db.execute("DELETE FROM listed WHERE assignment = ?", [book.assignment])
    for line, one in roster.students:
        who = known.get(line) or StudentIdentity(one.name)
        person = who.number or book.insert("people", {"name": one.name})
        keep_person(book, person, one, columns=roster.columns)
        kept = {
            key: value
            for key, value in before.get(who.person, {}).items()
            if key not in roster.columns and key not in OF_THE_TERM
        }
        details = {k: v for k, v in one.details.items() if k not in OF_THE_TERM}
        row: dict[str, object] = {"assignment": book.assignment, "line": line, "person": person}
        row |= {"ids": json.dumps(one.ids), "details": json.dumps(kept | details)}
        book.insert("listed", row)
    return None


def owners_of_numbers(book: Gradebook) -> dict[str, StudentIdentity]:
    """Return the people on an assignment's roster by their numbers in Moodle."""
    query = "SELECT line FROM listed WHERE assignment = ?"
    listed = {line for (line,) in book.db.execute(query, [book.assignment])}
    return {
        one.ids[NUMBER]: one
        for line, one in known_people(book).lines.items()
        if NUMBER in one.ids and line in listed
    }


def join_by_number(book: Gradebook) -> None:
    """Let who handed in under a number in Moodle be the person whom this assignment's roster has
    with it, if the names do not differ. Raise UsageError if somebody said that it is another one.
    """
    owners = owners_of_numbers(book)
    for line, other in known_people(book).lines.items():
        one = owners.get(other.ids.get(NUMBER, ""))
        if one is None or line < UNLISTED or one.person == other.person:
            continue
        if not called_alike(other, one) or contradict(other, one):
            continue
        if said := deed_about(book, other):
            whose = [book.folder, said[1]]
            if said[0] == "person":
                whose = [book.path.parent, unique_call(book, other.person or 0)]
            undo = command(said[0], *whose, "--undo")
            raise UsageError(
                f"It was said that {other.name} is {said[1]}, but this roster gives their number in"
                f" Moodle to {described(one)}. If the roster is right, undo it first: {undo}"
            )
        book.change("people", other.number or 0, {"same_as": one.person})
    settle_people(book)


def deed_about(book: Gradebook, one: StudentIdentity) -> tuple[str, str] | None:
    """Return by which deed to whom somebody was said to be another one; None if nobody said so."""
    query = (
        "SELECT t.deed, t.name FROM trail t, json_each(t.detail, '$.before') b WHERE t.undone = 0"
        " AND b.value ->> 0 = 'people' AND b.value ->> 1 = ?"
    )
    return book.db.execute(query, [one.number]).fetchone() if one.first else None


def refuse_by_number(book: Gradebook, one: int, other: int) -> None:
    """Raise UsageError if two people can't be one, because one of them came under the number in
    Moodle of somebody else on the roster.
    """
    for name, assignment in book.assignments().items():
        owners = owners_of_numbers(book.at(assignment))
        for _, students in entries_of(book.at(assignment)):
            for student in students:
                owner = owners.get(student.ids.get(NUMBER, ""))
                if owner and student.person in (one, other) and owner.person not in (one, other):
                    roster = f"the roster of {name}" if name else "the roster"
                    raise UsageError(
                        f"{student.name} came under a number in Moodle that {roster} gives to"
                        f" {described(owner)}. If that is wrong, mend the roster"
                    )


def is_older(times: Mapping[int, Mapping[str, str]], before: Mapping[int | None, Any]) -> bool:
    """Return whether a roster is older than the one before: times of hand-in are earlier or
    missing, and none is later. Both are by person.
    """
    pairs = [
        [moment(one["handed_in"]) if "handed_in" in one else LONG_AGO for one in both]
        for both in ((said, before[person]) for person, said in times.items() if person in before)
    ]
    return any(new < old for new, old in pairs) and all(new <= old for new, old in pairs)


def keep_person(
    book: Gradebook, person: int, one: StudentIdentity, *, columns: Collection[str] | None = None
) -> None:
    """Add what is known of a person. A roster, which has these columns for details, replaces the
    name and what earlier ones said there.
    """
    row = book.row("SELECT name, ids, details FROM people WHERE id = ?", person)
    assert row is not None
    lasting = {kind: value for kind, value in one.ids.items() if kind not in OF_ONE_ASSIGNMENT}
    before = json.loads(row["ids"])
    new = {"ids": json.dumps(lasting | before if columns is None else before | lasting)}
    if columns is not None:
        kept = {k: v for k, v in json.loads(row["details"]).items() if k not in columns}
        details = {key: one.details[key] for key in OF_THE_TERM if key in one.details}
        names = (*kept.pop(FORMERLY, "").split("\n"), row["name"])
        details |= formerly(one.name, names)
        new |= {"name": one.name, "details": json.dumps(kept | details)}
    book.change("people", person, new)


def formerly(name: str, names: Iterable[str]) -> dict[str, str]:
    """Return the detail of a person who is called ``name`` and had these names."""
    others = [one for one in dict.fromkeys(names) if one and not forms_of(one) & forms_of(name)]
    return {FORMERLY: "\n".join(others)} if others else {}


def entries_of(book: Gradebook) -> list[tuple[str, tuple[StudentIdentity, ...]]]:
    """Return the names and students of an assignment's lines, those without a submission last."""
    query = "SELECT name, students FROM submissions WHERE assignment = ? ORDER BY missing, name"
    return [
        (name, students_from_json(students))
        for name, students in book.db.execute(query, [book.assignment])
    ]


def names_of_teams(book: Gradebook) -> set[str]:
    query = "SELECT name FROM submissions WHERE assignment = ? AND team IS NOT NULL"
    return {name for (name,) in book.db.execute(query, [book.assignment])}


def persons(students: Iterable[StudentIdentity]) -> frozenset[int]:
    return frozenset(one.person for one in students if one.person is not None)


def is_of_team(line: Mapping[str, Any]) -> bool:
    """Return whether a row of ``submissions`` is a team's, or has several people."""
    return line["team"] is not None or len(json.loads(line["students"])) > 1


def number_of_one(students: Sequence[StudentIdentity]) -> str:
    """Return the number in Moodle of the person or group that handed in; '' if there is none."""
    ids = students[0].ids if len(students) == 1 else {}
    return ids.get(GROUP_NUMBER) or ids.get(NUMBER) or ""


class LineFinder:
    """Finds the line of the gradebook that each submission of a download belongs to."""

    def __init__(self, book: Gradebook, people: KnownPeople) -> None:
        self.book, self.people, self.listed = book, people, people.listed
        same = turned_out(book)
        self.students = {
            name: tuple(turned(one, same) for one in students)
            for name, students in entries_of(book)
        }
        self.by_people: dict[frozenset[int], list[str]] = {}
        for name, students in self.students.items():
            if who := persons(students):
                self.by_people.setdefault(who, []).append(name)
        self.aliases: dict[str, str] = dict(
            book.db.execute(
                "SELECT a.name, s.name FROM aliases a JOIN submissions s ON s.id = a.submission"
                " WHERE a.assignment = ? AND a.name != s.name",
                [book.assignment],
            )
        )
        merged = {name: line for name, line in self.aliases.items() if name in self.students}
        self.shared = set(merged.values())
        """Lines that were made of several: what came as any of these is theirs."""
        for names in self.by_people.values():
            names[:] = [name for name in names if name not in merged]
        self.submitted = book.names()
        query = (
            "SELECT name FROM submissions WHERE assignment = ? AND (missing = 0 OR id IN (SELECT"
            " came_under FROM attempts))"
        )
        self.handed_in = {name for (name,) in book.db.execute(query, [book.assignment])}
        """Lines under which something came, the forgotten ones included."""
        self.claimed: set[str] = set()
        self.renamed: list[str] = []
        query = "SELECT name, team FROM submissions WHERE assignment = ? AND team IS NOT NULL"
        self.numbers: dict[str, str] = dict(book.db.execute(query, [book.assignment]))
        """Of the lines of teams."""
        self.teams = {
            name: self._team(name)
            for name, those in self.students.items()
            if name not in merged and (name in self.numbers or self._may_be_team(name, those))
        }
        self.known: dict[str, str] = {}
        self.placed_teams: set[str] = set()
        self.nobodys: list[str] = []
        self.hidden: set[str] = set()

    def _may_be_team(self, name: str, students: tuple[StudentIdentity, ...]) -> bool:
        unknown = not persons(students).intersection(self.listed)
        return name in self.submitted and (unknown or len(students) > 1)

    def _team(self, name: str) -> TeamLine:
        names = [alias for alias in self.aliases if self._line_called(alias) == name]
        parts = tuple(alias for alias in names if alias in self.students)
        who = persons(self.students[name])
        parts = (name, *parts) if parts else ()
        return TeamLine((name, *names), who, name in self.numbers, parts)

    def _line_called(self, name: str) -> str:
        """Return the line that has, or had, a name; if it is part of another one, that one."""
        seen = {name}
        while (other := self.aliases.get(name, name)) not in seen:
            seen.add(other)
            name = other
        return name

    def likely(self, handed: Sequence[Submission]) -> dict[str, int]:
        """Return whose the submissions without ids are, if their names fit several people: the one
        on the line that has, or had, the name, else the only one who came under it, but is not on
        the roster, or was said to be somebody.
        """
        strangers = [one for one in self.people.lines.values() if deed_about(self.book, one)]
        for name in self.handed_in:
            strangers += [one for one in self.students[name] if one.person not in self.listed]
        called: dict[str, list[StudentIdentity]] = {}
        for stranger in strangers:
            for form in forms_of(stranger.name):
                called.setdefault(form, []).append(stranger)
        found = {}
        for one in handed:
            line = self._line_called(one.name)
            those = [*self.students[line]] if line in self.handed_in else []
            those = those or [who for form in forms_of(one.name) for who in called.get(form, ())]
            if len(persons(those)) == 1 and not any(student.ids for student in one.students):
                found[one.name] = those[0].number or 0
        return found

    def teams_known(self, handed: Sequence[Submission]) -> dict[str, str]:
        """Return which submissions are of lines that are teams', or may be: by the number of the
        group, else by its name.
        """
        numbered = {self._number_of_nobody(name): name for name in self.teams}
        numbered |= {number: self._line_called(name) for name, number in self.numbers.items()}
        called = {letters(name): line for line in self.teams for name in self.teams[line].names}
        called |= {letters(line): line for line in self.numbers if line in self.teams}
        for one in handed:
            if len(one.students) == 1:
                number = number_of_one(one.students)
                name = self._line_called(one.name)
                if name not in self.teams:
                    name = called.get(letters(one.students[0].name), "")
                if name and not self._may_have(name, number):
                    name = ""
                name = numbered.get(number, name) if number else name
                if name in self.teams:
                    self.known[one.name] = name
        return self.known

    def _number_of_nobody(self, name: str) -> str:
        """Return the number with which somebody came whom no roster has."""
        those = self.students[name]
        return "" if persons(those) & {*self.listed} else number_of_one(those)

    def _may_have(self, line: str, number: str) -> bool:
        """Return whether a line may be that of a group with this number, if it has one."""
        return not number or self.numbers.get(line, "") in ("", number)

    def place(
        self,
        handed: Sequence[Submission],
        students: Mapping[str, tuple[StudentIdentity, ...]],
        teams: Collection[str] = (),
        elsewhere: Collection[str] = (),
    ) -> list[Submission]:
        """Return submissions under their lines' names, with people who are in the gradebook.

        Whose people are known find their lines before those that have only a name. Of the
        ``teams``, those of which nobody is known are left out. Teams ``elsewhere`` have their own.
        """
        who = {one.name: students.get(one.name, one.students) for one in handed}
        for name in teams:  # who is not on this roster stays
            before = self.students[self.known[name]] if name in self.known else ()
            who[name] = who[name] or tuple(one for one in before if one.person not in self.listed)
        left = [one for one in handed if one.name in teams and not who[one.name]]
        self.nobodys = [one.students[0].name for one in left]
        names: dict[str, str] = {}
        of_teams = [one for one in handed if one.name in teams and one not in left]
        of_people = [one for one in handed if one.name not in teams]
        for find, those in (
            (self._by_team, of_teams),
            (self._by_name_of_team, of_teams),
            (self._by_members, of_teams),
            (self._by_people, of_people),
            (self._by_name, of_people),
        ):
            for one in those:
                if one.name not in names:
                    found = find(one, who[one.name])
                    if found is not None and found not in elsewhere:
                        names[one.name] = found
                        self.claimed.add(found)
        placed = [
            self._placed(one, who[one.name], names.get(one.name), is_team=one.name in teams)
            for one in handed
            if one not in left
        ]
        return [replace(one, students=self._all_of(one, placed)) for one in placed]

    def _all_of(self, one: Submission, placed: Sequence[Submission]) -> tuple[StudentIdentity, ...]:
        """Return the people of a submission, with those of others on the same line of a team."""
        if one.name not in self.placed_teams & self.shared:
            return one.students
        those = [who for other in placed if other.name == one.name for who in other.students]
        return tuple({who.person: who for who in those}.values())

    def _placed(
        self,
        one: Submission,
        students: tuple[StudentIdentity, ...],
        name: str | None,
        *,
        is_team: bool,
    ) -> Submission:
        if name is None:
            name = self._free(one.name, one.students if is_team else students)
            self.claimed.add(name)
        elif not is_team and len(students) == len(self.students[name]) == 1:
            (new,), (old,) = students, self.students[name]  # it may have been found by its name
            if new.person is None:
                known = replace(new, person=old.person, first=old.first)
                students = (self.people.as_known(known),)
            elif turning := turning_into(self.book, old.person, new.person):
                self.book.change("people", *turning)
        if name != one.name and not name.startswith(f"{one.name}-"):  # another one has that name
            self.renamed.append(f"{one.name} is {name}")
        students = tuple(map(self._known, students))
        if is_team:
            self._keep_team(name, one, students)
        return replace(one, name=name, students=students)

    def _keep_team(self, name: str, one: Submission, students: tuple[StudentIdentity, ...]) -> None:
        """Keep the number and the name of a line's team, by which it is found again."""
        self.placed_teams.add(name)
        number, called = number_of_one(one.students), one.students[0].name
        row = {"assignment": self.book.assignment, "name": name, "team": number}
        row |= {"students": students_as_json(students), "missing": 3}
        again = "ON CONFLICT DO UPDATE SET team = excluded.team WHERE coalesce(team, '') = ''"
        self.book.insert("submissions", row, again)
        if called not in self.students and letters(called) != letters(name):
            alias = {"assignment": self.book.assignment, "name": called}
            alias["submission"] = self.book.number_of(name)
            self.book.insert("aliases", alias, "ON CONFLICT DO NOTHING")
        for other in self.teams:  # the same team, when nobody was known
            if number and other != name and self._number_of_nobody(other) == number:
                hidden = {"missing": 3, "attempt": None}
                self.book.change("submissions", self.book.number_of(other) or 0, hidden)
                self.hidden.add(other)

    def _by_team(self, one: Submission, students: tuple[StudentIdentity, ...]) -> str | None:
        name = self.known.get(one.name)
        return name if name is not None and self._is_open(name) else None

    def _by_name_of_team(
        self, one: Submission, students: tuple[StudentIdentity, ...]
    ) -> str | None:
        name = self._line_called(one.name)
        fits = name in self.students and self._may_have(name, number_of_one(one.students))
        return name if fits and self._is_open(name) else None

    def _by_members(self, one: Submission, students: tuple[StudentIdentity, ...]) -> str | None:
        number = number_of_one(one.students)
        for name in self.by_people.get(persons(students), []):
            fits = name in self.numbers or len(self.students[name]) > 1
            if fits and self._is_open(name) and self._may_have(name, number):
                return name
        return None

    def _by_people(self, one: Submission, students: tuple[StudentIdentity, ...]) -> str | None:
        fitting = [
            name
            for name in self.by_people.get(persons(students), [])
            if name not in self.numbers and self._is_open(name)
        ]
        if not fitting or len(persons(students)) < len(students):
            return None
        if not self.submitted.intersection(fitting):
            named = self._by_name(one, students)
            if named in self.submitted:
                return None  # whose that is became known after it was graded
        named = self.aliases.get(one.name, one.name)
        return named if named in fitting else fitting[0]

    def _by_name(self, one: Submission, students: tuple[StudentIdentity, ...]) -> str | None:
        named = self.aliases.get(one.name, one.name)
        if named not in self.students or not self._is_open(named):
            return None
        theirs = self.students[named]
        others = persons(theirs) - persons(students)
        of_a_team = len(students) > 1 and len(theirs) > 1  # whose members may have changed
        known = persons(students) or named not in self.handed_in
        if known and others.intersection(self.listed) and not of_a_team:
            return None
        pairs = [(new, old) for new in students for old in theirs]
        return None if len(pairs) == 1 and contradict(*pairs[0], numbers=True) else named

    def _is_open(self, name: str) -> bool:
        return name not in self.claimed or name in self.shared

    def _free(self, called: str, students: tuple[StudentIdentity, ...]) -> str:
        ids = next((one.ids.values() for one in students), ())
        return free_name(called, ids, (*self.students, *self.aliases, *self.claimed))

    def _known(self, one: StudentIdentity) -> StudentIdentity:
        """Return the student with a number in the term; who is new gets one."""
        if one.person is None:
            one = replace(one, person=self.book.insert("people", {"name": one.name}))
        own = one if one.first is None else self.people.without(one, one.person)
        keep_person(self.book, one.number or 0, own)
        return one


def keep_absent(
    book: Gradebook,
    people: KnownPeople,
    handed: Sequence[Submission],
    doubts: dict[int | None, str],
) -> None:
    """Give everybody on the roster a line of their own who is in no submission, and hide the lines
    of people who were such before.

    ``doubts`` says whose submission may be somebody's. Of whom the roster has a time of hand-in,
    the submission is elsewhere.
    """
    query = "SELECT name FROM submissions WHERE assignment = ? AND attempt IS NOT NULL"
    submitted = {name for (name,) in book.db.execute(query, [book.assignment])}
    lines = entries_of(book)
    others = submitted - {one.name for one in handed}
    covered = {one.person for name, students in lines if name in others for one in students} | {
        one.person for submission in handed for one in submission.students
    }
    absent = {
        one.person: one
        for line, one in people.lines.items()
        if line < UNLISTED and one.person not in covered and "role" not in one.details
    }
    there: dict[frozenset[int], str] = {}
    teams = names_of_teams(book)
    for name, students in lines:
        if name not in submitted | teams and (who := persons(students)):
            there.setdefault(who, name)
    hidden = "UPDATE submissions SET missing = 3 WHERE assignment = ? AND missing > 0"
    book.db.execute(hidden, [book.assignment])
    taken = {name for name, _ in lines} | {one.name for one in handed}
    for person, one in absent.items():
        assert person is not None
        name = there.get(frozenset({person})) or free_name(one.name, one.ids.values(), taken)
        taken.add(name)
        doubt = doubts.get(person, ELSEWHERE if "handed_in" in one.details else None)
        row = {
            "assignment": book.assignment,
            "name": name,
            "students": students_as_json((one,)),
            "missing": 2 if doubt else 1,
            "doubt": doubt,
        }
        again = (
            "ON CONFLICT DO UPDATE SET students = excluded.students, missing = excluded.missing,"
            " doubt = excluded.doubt"
        )
        book.insert("submissions", row, again)
        line = book.number_of(name) or 0
        if book.attempts(line):  # what they handed in before they were in a team
            book.change("submissions", line, {"missing": 0, "doubt": None})
            book.settle(line)


ELSEWHERE = "handed in by the roster, but not in this download"
"""What is said of people who handed in by the roster, and of whom nothing has come."""


def free_name(called: str, ids: Iterable[str], taken: Iterable[str]) -> str:
    """Return a name for a new line, because a page is named after it a valid file name: what its
    people are called, if no other line has that name, else that with an id or a number.
    """
    others = {name.casefold() for name in taken}
    numbered = (f"{called}-{number}" for number in range(2, len(others) + 3))
    wanted = (called, *(f"{called}-{id}" for id in ids if id != called), *numbered)
    valid = (unique_names([(name, "")])[0] for name in wanted)
    return next(name for name in valid if name.casefold() not in others)


def participants(book: Gradebook, handed: Sequence[Submission]) -> tuple[int, list[str]]:
    """Return how many of a download's participant numbers this assignment knows, and the names of
    people who have another one here.
    """
    known: dict[str, set[str]] = {}
    for _, students in entries_of(book):
        for one in students:
            if number := one.ids.get(NUMBER):
                for form in forms_of(one.name):
                    known.setdefault(form, set()).add(number)
    numbers = set().union(*known.values())
    same, other = 0, []
    for submission in handed:
        for one in submission.students:
            number = one.ids.get(NUMBER)
            if number in numbers:
                same += 1
            elif number and any(form in known for form in forms_of(one.name)):
                other.append(one.name)
    return same, other


def turning_into(
    book: Gradebook, one: int | None, other: int | None
) -> tuple[int, dict[str, object]] | None:
    """Return the change of the row by which a person becomes another one; None if they are one."""
    same = turned_out(book)
    one, other = same.get(one, one), same.get(other, other)
    if one is None or other is None or one == other:
        return None
    return one, {"same_as": other}


def person_of(
    book: Gradebook, called: str, *, unlisted: bool = False, assignment: int | None = None
) -> int:
    """Return the person that a name or an id means; raise UsageError unless there is one.

    With ``unlisted``, of several the only one who is not on the roster is meant; of several such,
    the only one whose submission has that name, in an ``assignment`` if one is named.
    """
    person = only_person(book, called, unlisted=unlisted, assignment=assignment)
    if person is None:
        raise UsageError(
            f"Nobody in the gradebook is called {called!r}."
            f" {command('person', book.path.parent)} lists all"
        )
    return person


def only_person(
    book: Gradebook, called: str, *, unlisted: bool = False, assignment: int | None = None
) -> int | None:
    """Return the person that a name or an id means; None if there is none. Raise UsageError if
    there are several, as ``person_of`` does.
    """
    people = known_people(book)
    found: dict[int | None, StudentIdentity] = {}
    for alike in WAYS_TO_CALL:
        if not found:
            found = {one.person: one for one in people.lines.values() if alike(one, called)}
    if not found:
        found = {one.person: one for one in students_of(book, called) if one.person is not None}
    strangers = found.keys() - people.listed
    if unlisted and len(strangers) > 1:
        strangers &= persons(students_of(book, called, assignment))
    if unlisted and len(strangers) == 1:
        return strangers.pop()
    if len(found) > 1:
        who = "; ".join(described(one) for one in found.values())
        way = "Name one by an id"
        for number in book.assignments().values() if unlisted and strangers else ():
            if strangers & persons(students_of(book, called, number)):
                folder = book.at(number).folder
                way += f", or the folder of an assignment: {command('person', folder, called)} WHO"
                break
        raise UsageError(f"{called!r} may be several people: {who}. {way}")
    return next(iter(found), None)


def students_of(book: Gradebook, name: str, assignment: int | None = None) -> list[StudentIdentity]:
    """Return the students of the submissions that have this name, by default in any assignment."""
    query = (
        "SELECT students FROM submissions WHERE name = ? AND coalesce(?, assignment) = assignment"
    )
    rows = book.db.execute(query, [name, assignment]).fetchall()
    return [one for (students,) in rows for one in students_from_json(students)]


def forgotten_names(book: Gradebook) -> list[str]:
    """Return the names of the students whose submissions are forgotten."""
    query = "SELECT students FROM submissions WHERE assignment = ? AND forgotten = 1"
    rows = book.db.execute(query, [book.assignment]).fetchall()
    return [one.name for (students,) in rows for one in students_from_json(students)]


def surely_persons(book: Gradebook) -> set[int]:
    """Return the people whose numbers in Moodle are their own, and not a group's: those on a roster
    that has the numbers, or the groups.
    """
    query = "SELECT person, ids FROM listed WHERE assignment = ?"
    listed = book.db.execute(query, [book.assignment]).fetchall()
    known, same = known_people(book), turned_out(book)
    groups = any("group" in one.details for one in known.lines.values())
    return {
        same.get(person, person) for person, ids in listed if groups or NUMBER in json.loads(ids)
    }


def unique_call(book: Gradebook, person: int) -> str:
    """Return a person's name, or an id if the name may be somebody else's."""
    known = known_people(book)
    own = known.lines[known.own_lines[person]]
    for called in (own.name, *own.ids.values()):
        if {one.person for one in known.lines.values() if is_called(one, called)} == {person}:
            return called
    return own.name


def described(one: StudentIdentity) -> str:
    """Return a person's name and ids, for a message."""
    ids = ", ".join(f"{kind} {value}" for kind, value in one.ids.items())
    return f"{one.name} ({ids})" if ids else one.name
