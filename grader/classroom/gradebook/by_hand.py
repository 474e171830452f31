"""What people do to whole submissions: forget, rename, merge, swap, give away, say who somebody is.

No line of the gradebook is ever deleted. A deed changes columns of lines, and the audit trail keeps
what they were, so that it can be undone. Whatever comes in a later download follows: other names
are kept as aliases, and a person who turned out to be another one stays that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.classroom.gradebook.entry import students_as_json, students_from_json, time_on_roster
from grader.classroom.gradebook.identity import is_nameless
from grader.classroom.gradebook.people import described as person_described
from grader.classroom.gradebook.people import (
    entries_of,
    is_of_team,
    known_people,
    only_person,
    persons,
    refuse_by_number,
    settle_people,
    turned_out,
    turning_into,
)
from grader.classroom.gradebook.store import Gradebook, only_line
from grader.classroom.imports.given_files import Gift
from grader.classroom.imports.names import letters, name_list
from grader.core.errors import UsageError
from grader.core.sqlite import transaction
from grader.core.text import now

Row = tuple[str, int]
"""A table and the number of a row."""


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """A line of the audit trail. ``action`` is forget, rename, swap, give or person; ``detail`` has
    the rows that changed, as they were.
    """

    number: int
    action: str
    name: str
    detail: dict[str, Any]
    author: str
    made_at: str
    undone: bool

    @property
    def rows(self) -> set[Row]:
        return {(table, number) for table, number, _ in self.detail.get("before", ())}


@dataclass(slots=True)
class Deed:
    """Changes that are undone together."""

    book: Gradebook
    before: list[tuple[str, int, dict[str, object]]] = field(default_factory=list)
    aliases: list[tuple[int, str]] = field(default_factory=list)

    def change(self, table: str, number: int, new: Mapping[str, object]) -> None:
        row = self.book.row(f"SELECT * FROM {table} WHERE id = ?", number)
        assert row is not None
        self.before.append((table, number, {column: row[column] for column in new}))
        self.book.change(table, number, new)

    def alias(self, name: str, submission: int) -> None:
        """Let what comes under a name be this submission's from now on."""
        row = {"assignment": self.book.assignment, "name": name, "submission": submission}
        self.book.insert(
            "aliases", row, "ON CONFLICT DO UPDATE SET submission = excluded.submission"
        )
        self.aliases.append((self.book.assignment, name))

    def note(self, action: str, name: str, author: str, **more: object) -> None:
        detail = {"before": self.before, "aliases": self.aliases, **more}
        self.book.insert(
            "trail",
            {
                "assignment": self.book.assignment,
                "deed": action,
                "name": name,
                "detail": json.dumps(detail),
                "author": author,
                "made_at": now(),
            },
        )


def line_of(book: Gradebook, name: str) -> dict[str, Any]:
    query = "SELECT * FROM submissions WHERE assignment = ? AND name = ?"
    row = book.row(query, book.assignment, name)
    assert row is not None, name
    return row


def forget(book: Gradebook, name: str, author: str) -> None:
    """Leave a submission out of all tables and exports; its history stays in the file."""
    with transaction(book.db):
        deed = Deed(book)
        deed.change("submissions", line_of(book, name)["id"], {"forgotten": 1})
        deed.note("forget", name, author)


def rename(book: Gradebook, old: str, new: str, author: str) -> None:
    """Give a submission another name, or make it a part of the submission that has the name.

    If it is of a person on the roster, that person has handed in nothing any more; otherwise, this
    person turned out to be the other one, and what comes under the old name follows.
    """
    with transaction(book.db):
        deed = Deed(book)
        gone = line_of(book, old)
        if book.number_of(new) is None:
            deed.change("submissions", gone["id"], {"name": new})
            deed.alias(old, gone["id"])
        else:
            kept = line_of(book, new)
            if kept["missing"] == 3 and kept["attempt"] is None:  # a line that nobody sees
                deed.change("submissions", kept["id"], {"name": f"{new} ({kept['id']})"})
                deed.change("submissions", gone["id"], {"name": new})
                deed.alias(old, gone["id"])
            else:
                merge(deed, gone, kept)
                settle_people(book)
        deed.note("rename", new, author, old=old)


def merge(deed: Deed, gone: dict[str, Any], kept: dict[str, Any]) -> None:
    """Make one line of two: what was handed in as the first is the second's. Two lines of teams are
    one team's, with the people of both.
    """
    book = deed.book
    people, theirs = (students_from_json(one["students"]) for one in (gone, kept))
    listed = known_people(book).listed
    teams = is_of_team(gone) and is_of_team(kept)
    moved_out = not teams and bool(persons(people) & listed) and bool(persons(theirs) & listed)
    unlisted = gone
    if persons(people) & listed and not moved_out:
        theirs, people, unlisted = people, theirs, kept
    if not moved_out:
        for one in people:
            turning = turning_into(book, one.person, theirs[0].person) if theirs else None
            if turning and len(theirs) == len(people) == 1 and not teams:
                deed.change("people", *turning)
        for table in ("adjustments", "comments"):
            query = f"SELECT id FROM {table} WHERE submission = ?"
            for (number,) in book.db.execute(query, [gone["id"]]).fetchall():
                deed.change(table, number, {"submission": kept["id"]})
        deed.alias(gone["name"], kept["id"])
    query = "SELECT id FROM attempts WHERE submission = ? AND on_roster IS NULL"
    for (number,) in book.db.execute(query, [unlisted["id"]]).fetchall():
        deed.change("attempts", number, {"on_roster": time_on_roster(theirs)})
    under = {} if moved_out else {"came_under": kept["id"]}
    query = "SELECT id, came_as FROM attempts WHERE submission = ?"
    for number, came_as in book.db.execute(query, [gone["id"]]).fetchall():
        new = {"submission": kept["id"], "came_as": came_as, **under}
        deed.change("attempts", number, new)
    begin_mark(book, kept)
    if teams:
        theirs = tuple({one.person or one.name: one for one in (*people, *theirs)}.values())
    new = {"missing": 0, "doubt": None, "students": students_as_json(theirs or people)}
    deed.change("submissions", kept["id"], new)
    nothing = moved_out and not persons(people) <= persons(theirs)  # but not who is in the team
    left = {"missing": 1 if nothing else 3, "attempt": None}
    deed.change("submissions", gone["id"], left)
    book.settle(kept["id"])


def begin_mark(book: Gradebook, line: dict[str, Any]) -> None:
    """Let a line that never had a mark begin with none, so that its first one is a change."""
    if book.value("SELECT 1 FROM marks WHERE submission = ?", line["id"]) is None:
        row = {"submission": line["id"], "made_at": now(), "cause": "nothing was handed in"}
        book.insert("marks", row | {"penalty": 0.0, "adjusted": 0.0})


def swap(book: Gradebook, one: str, other: str, author: str) -> None:
    """Exchange the attempts that count of two submissions, with the comments on their lines.

    Each takes the other's place: when somebody handed in, and how late, stays with the person.
    Adjustments and other comments stay with the people.
    """
    lines = [line_of(book, name) for name in (one, other)]
    for line in lines:
        if line["attempt"] is None:
            raise UsageError(
                f"{line['name']} has handed in nothing that could be exchanged. To give them a"
                " submission: grade rename OUT OLD NEW, or a file: grade give OUT FILE PERSON"
            )
    with transaction(book.db):
        deed = Deed(book)
        mine, theirs = lines
        places = [
            book.row(
                "SELECT coalesce(in_place_of, id) AS in_place_of, as_of, as_run FROM attempts WHERE"
                " id = ?",
                line["attempt"],
            )
            for line in lines
        ]
        query = "SELECT id FROM comments WHERE submission = ? AND line IS NOT NULL"
        said = [book.db.execute(query, [line["id"]]).fetchall() for line in lines]
        for line, to, place, comments in (
            (mine, theirs, places[1], said[0]),
            (theirs, mine, places[0], said[1]),
        ):
            new = {"submission": to["id"], **(place or {})}
            deed.change("attempts", line["attempt"], new)
            for (number,) in comments:
                deed.change("comments", number, {"submission": to["id"]})
        for line in lines:
            book.settle(line["id"])
        deed.note("swap", one, author, other=other)


def give(book: Gradebook, entry: str, lesson: str, owner: str, author: str) -> None:
    """Let a file of the download, which was not graded, be a lesson's file of a submission. If it
    was given to another one before, it is taken from there.
    """
    with transaction(book.db):
        deed = Deed(book)
        query = "SELECT submission, lesson FROM gifts WHERE assignment = ? AND entry = ?"
        before = book.row(query, book.assignment, entry)
        if before:
            take_back(deed, before["submission"], entry)
        row = {"assignment": book.assignment, "entry": entry, "lesson": lesson}
        again = "ON CONFLICT DO UPDATE SET submission = excluded.submission, lesson ="
        new = {**row, "submission": line_of(book, owner)["id"]}
        book.insert("gifts", new, f"{again} excluded.lesson")
        deed.note("give", owner, author, entry=entry, lesson=lesson, gift=before)


def take_back(deed: Deed, owner: int, entry: str) -> None:
    """Take the attempts with a file from the submission to which it was given."""
    for attempt in attempts_with(deed.book, entry):
        query = "SELECT 1 FROM attempts WHERE id = ? AND submission = ? AND void = 0"
        if deed.book.value(query, attempt, owner):
            deed.change("attempts", attempt, {"void": 1})
    deed.book.settle(owner)


def attempts_with(book: Gradebook, entry: str) -> list[int]:
    """Return the attempts of an assignment in which there is a file that was given to them."""
    rows = book.db.execute(
        "SELECT t.id FROM attempts t JOIN submissions s ON s.id = t.submission WHERE s.assignment ="
        " ? AND EXISTS (SELECT 1 FROM json_each(t.gifts) WHERE value = ?)",
        [book.assignment, entry],
    )
    return [attempt for (attempt,) in rows.fetchall()]


def gifts(book: Gradebook) -> list[Gift]:
    """Return the files that were given to submissions, unless these are forgotten."""
    rows = book.db.execute(
        "SELECT g.entry, g.lesson, s.name FROM gifts g JOIN submissions s ON s.id = g.submission"
        " WHERE g.assignment = ? AND s.forgotten = 0 ORDER BY g.entry",
        [book.assignment],
    )
    return [Gift(*row) for row in rows]


def same_person(book: Gradebook, one: int, other: int, author: str) -> int:
    """Let a person be another one, in all assignments; return that one. Raise UsageError if both
    are on a roster, or if one of them came under a number in Moodle that is a third person's there.
    """
    known = known_people(book)
    if one in known.listed and other in known.listed:
        raise UsageError("Both are on the roster, so they are two people. Mend the roster")
    nameless = {who for who, line in known.own_lines.items() if is_nameless(known.lines[line])}
    if other in nameless or (one in known.listed and one not in nameless):
        one, other = other, one
    refuse_by_number(book, one, other)
    with transaction(book.db):
        deed = Deed(book)
        if turning := turning_into(book, one, other):
            deed.change("people", *turning)
        for assignment in book.assignments().values():
            there = book.at(assignment)
            lines = {persons(students): name for name, students in reversed(entries_of(there))}
            gone, kept = lines.get(frozenset({one})), lines.get(frozenset({other}))
            if gone is not None and kept is not None:
                deed.book = there
                merge(deed, line_of(there, gone), line_of(there, kept))
        settle_people(book)
        deed.book = book
        name = book.value("SELECT name FROM people WHERE id = ?", other)
        old = book.value("SELECT name FROM people WHERE id = ?", one)
        who = person_described(known.lines[known.own_lines[other]])
        deed.note("person", name, author, old=old, person=other, who=who)
    return other


def undo(book: Gradebook, name: str, action: str) -> TrailEntry:
    """Undo the newest such deed to a submission, or to a person, who is found as the deed itself
    finds them; raise UsageError if there is none.
    """
    deeds = [one for one in trail(book) if not one.undone and one.action == action]
    entries = (
        deeds_to_person(book, deeds, name) if action == "person" else deeds_to(book, deeds, name)
    )
    if not entries:
        done = [described(one) for one in deeds]
        others = f". What can be undone: {name_list(done)}" if done else ""
        raise UsageError(f"There is no grade {action} of {name} to undo{others}")
    entry = entries[-1]
    rows = entry.rows
    if action == "give":
        rows |= {("attempts", attempt) for attempt in attempts_with(book, entry.detail["entry"])}
    later = [
        one
        for one in trail(book)
        if one.number > entry.number and not one.undone and one.rows & rows
    ]
    if later:
        raise UsageError(
            f"{name} was changed again: {described(later[-1])}. Undo that first: grade"
            f" {later[-1].action} OUT {later[-1].name!r} --undo"
        )
    if "before" not in entry.detail and entry.action == "forget":
        number = line_of(book, entry.name)["id"]
        entry.detail.update(before=[["submissions", number, {"forgotten": 0}]], aliases=[])
    if "before" not in entry.detail:
        raise UsageError(
            f"{described(entry)}: an earlier version did that, so it can't be undone here"
        )
    with transaction(book.db):
        _restore(book, entry)
        book.change("trail", entry.number, {"undone": 1})
    return entry


def deeds_to(book: Gradebook, deeds: list[TrailEntry], called: str) -> list[TrailEntry]:
    names = {name for one in deeds for name in (one.name, one.detail.get("other"))}
    if called not in names:
        lines = {name: those for name, those in entries_of(book) if name in names}
        called = only_line(lines, called) or called
    return [one for one in deeds if called in (one.name, one.detail.get("other"))]


def deeds_to_person(book: Gradebook, deeds: list[TrailEntry], called: str) -> list[TrailEntry]:
    same = turned_out(book)
    named = [one for one in deeds if one.name == called]
    if len({same.get(who, who) for one in named if (who := one.detail.get("person"))}) == 1:
        return named
    person = only_person(book, called)
    theirs = []
    for one in deeds:
        whose = one.detail.get("person")  # an earlier version did not note it
        if one in named if whose is None else same.get(whose, whose) == person:
            theirs.append(one)
    return [one for one in theirs if one in named] or theirs or named


def _restore(book: Gradebook, entry: TrailEntry) -> None:
    if entry.action == "swap":
        bring_back_remarks(book, entry)
    for table, number, was in reversed(entry.detail["before"]):
        taken = table == "submissions" and "name" in was and book.number_of(was["name"])
        if taken and taken != number:
            raise UsageError(
                f"The gradebook has another submission {was['name']}, so the name is taken. Forget"
                " or rename that one first"
            )
        if table == "attempts" and "came_as" in was and came_again(book, entry, number, was):
            keep_copy(book, number)
        book.change(table, number, was)
    for assignment, alias in entry.detail["aliases"]:
        query = "DELETE FROM aliases WHERE assignment = ? AND name = ?"
        book.db.execute(query, [assignment, alias])
    if entry.action == "give":
        query = "DELETE FROM gifts WHERE assignment = ? AND entry = ?"
        book.db.execute(query, [book.assignment, entry.detail["entry"]])
        take_back(Deed(book), line_of(book, entry.name)["id"], entry.detail["entry"])
        if gift := entry.detail.get("gift"):
            row = {"assignment": book.assignment, "entry": entry.detail["entry"]}
            book.insert("gifts", row | gift)
    settle_people(book)
    for table, number in entry.rows:
        if table == "submissions":
            book.settle(number)
        elif table == "attempts":
            book.settle_attempt(number)


def bring_back_remarks(book: Gradebook, entry: TrailEntry) -> None:
    """Let the comments on lines that were made after a swap follow the files when it is undone,
    unless a newer file counts by now.
    """
    for table, attempt, was in entry.detail["before"]:
        query = (
            "SELECT c.id FROM comments c JOIN submissions s ON s.id = c.submission WHERE s.attempt"
            " = ? AND c.line IS NOT NULL"
        )
        if table == "attempts":
            for (number,) in book.db.execute(query, [attempt]).fetchall():
                if ("comments", number) not in entry.rows:
                    book.change("comments", number, {"submission": was["submission"]})


def came_again(book: Gradebook, entry: TrailEntry, attempt: int, was: Mapping[str, Any]) -> bool:
    """Return whether an attempt came under another name than that which a deed made an alias."""
    now_as = str(book.value("SELECT came_as FROM attempts WHERE id = ?", attempt))
    aliases = tuple(letters(alias) for _, alias in entry.detail["aliases"])
    same = now_as == was["came_as"] or letters(now_as).startswith(aliases)
    return bool(aliases) and not same


def keep_copy(book: Gradebook, attempt: int) -> None:
    """Let a submission keep an attempt that goes back to another one, because the same files came
    as its own, too, with their gradings.
    """
    row = book.row("SELECT * FROM attempts WHERE id = ?", attempt)
    assert row is not None
    query = (
        "SELECT max(r.id) FROM runs r JOIN submissions s ON s.assignment = r.assignment WHERE s.id"
        " = ?"
    )
    run = book.value(query, row["submission"])
    row |= {"id": None, "came_under": row["submission"], "run": run or row["run"]}
    copy = book.insert("attempts", row)
    for grading in list(book.rows("SELECT * FROM gradings WHERE attempt = ?", attempt)):
        number = book.insert("gradings", grading | {"id": None, "attempt": copy})
        book.db.execute(
            "INSERT INTO results SELECT ?, check_id, lesson, outcome, points, max_points,"
            " diagnosis, diagnosis_title, seed, seconds FROM results WHERE grading = ?",
            [number, grading["id"]],
        )
        if grading["id"] == row["grading"]:
            book.change("attempts", copy, {"grading": number})


def described(entry: TrailEntry) -> str:
    """Return what a line of the trail says was done."""
    old = entry.detail.get("old")
    return {
        "forget": f"{entry.name} forgotten",
        "rename": f"{old} → {entry.name}",
        "person": f"{old} is {entry.detail.get('who', entry.name)}",
        "swap": f"{entry.name} ↔ {entry.detail.get('other')}",
        "give": f"{entry.detail.get('entry')} given to {entry.name}",
    }[entry.action]


def trail(book: Gradebook) -> list[TrailEntry]:
    rows = book.db.execute(
        "SELECT id, deed, name, detail, author, made_at, undone FROM trail WHERE assignment = ? OR"
        " deed = 'person' ORDER BY id",
        [book.assignment],
    )
    return [
        TrailEntry(number, action, name, json.loads(detail), author, made_at, bool(undone))
        for number, action, name, detail, author, made_at, undone in rows
    ]
