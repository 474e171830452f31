"""Changes that people make in a gradebook: points, comments, renames. No history is deleted."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import dataclass
from typing import Any

from grader.classroom.gradebook.class_tables import ClassTables
from grader.classroom.gradebook.matching import joined
from grader.classroom.gradebook.records import (
    Adjustment,
    Comment,
    students_as_json,
    students_from_json,
    time_on_roster,
)
from grader.core.errors import UsageError
from grader.core.sqlite import transaction

NAMED_TABLES = ("attempts", "adjustments", "comments")
"""Tables whose rows belong to a submission by its name."""
STATE = ("students", "current", "problem", "fault", "missing", "late", "handed_in", "came_as")
"""Columns of ``submissions`` that say what was handed in, and by whom."""


@dataclass(frozen=True, slots=True)
class TrailEntry:
    """A line of the audit trail: what was done to a submission, when, by whom, and whether it was
    undone.
    """

    number: int
    action: str
    submission: str
    detail: dict[str, Any]
    author: str
    made_at: str
    undone: bool


class ManualChanges(ClassTables):
    """The tables of changes that people make by hand."""

    def adjust(self, name: str, adjustment: Adjustment) -> None:
        with transaction(self.db) as db:
            fields = (
                adjustment.lesson,
                adjustment.points,
                adjustment.reason,
                adjustment.author,
                adjustment.made_at,
            )
            query = (
                "INSERT INTO adjustments (submission, lesson, points, reason, author, made_at)"
                " VALUES (?, ?, ?, ?, ?, ?)"
            )
            db.execute(query, [name, *fields])

    def comment(self, name: str, comment: Comment) -> bool:
        """Store a comment unless it is there already; return whether it was stored.

        The comment's own number is ignored: the database assigns one.
        """
        fields = {
            "submission": name,
            "lesson": comment.lesson,
            "line": comment.line,
            "text": comment.text,
        }
        with transaction(self.db) as db:
            there = " AND ".join(f"{field} IS ?" for field in fields)
            query = f"SELECT 1 FROM comments WHERE withdrawn = 0 AND {there}"
            if db.execute(query, [*fields.values()]).fetchone():
                return False
            fields |= {"code": comment.code, "author": comment.author, "made_at": comment.made_at}
            db.execute(
                f"INSERT INTO comments ({', '.join(fields)}) VALUES"
                f" ({', '.join('?' * len(fields))})",
                [*fields.values()],
            )
        return True

    def withdraw(self, name: str, number: int) -> None:
        """Withdraw a comment; it stays in the file. Raise UsageError for an unknown number."""
        with transaction(self.db) as db:
            done = db.execute(
                "UPDATE comments SET withdrawn = 1 WHERE id = ? AND submission = ? AND"
                " withdrawn = 0",
                [number, name],
            )
            if not done.rowcount:
                raise UsageError(
                    f"{name} has no comment {number}. To list the comments: grade comment OUT NAME"
                )

    def forget(self, name: str, author: str, made_at: str) -> None:
        """Leave a submission out of all tables and exports; its history stays in the file."""
        with transaction(self.db) as db:
            db.execute("UPDATE submissions SET forgotten = 1 WHERE name = ?", [name])
            self._note(db, "forget", name, {}, author, made_at)

    def rename(self, old: str, new: str, author: str, made_at: str) -> None:
        """Give a submission's history to another name, which may be in the gradebook already.

        If both names have a counting attempt, the newer one counts from now on. A student of the
        roster who has handed in nothing gets the submission as it is.
        """
        with transaction(self.db) as db:
            kept = self._row(db, new)
            gone = self._row(db, old)
            assert gone is not None
            moved = {
                table: [
                    one
                    for (one,) in db.execute(
                        f"SELECT id FROM {table} WHERE submission = ? ORDER BY id", [old]
                    )
                ]
                for table in NAMED_TABLES
            }
            if kept is None:
                self._insert(db, {**gone, "name": new})
            elif kept["missing"]:
                people = joined(*(students_from_json(one["students"]) for one in (gone, kept)))
                handed_in = gone["handed_in"] or time_on_roster(people)
                changed = {"students": students_as_json(people), "handed_in": handed_in}
                self._set_state(db, new, {**gone, **changed})
            elif (gone["current"] or 0) > (kept["current"] or 0):
                self._set_state(db, new, {**gone, "students": kept["students"]})
            for table in NAMED_TABLES:
                db.execute(f"UPDATE {table} SET submission = ? WHERE submission = ?", [new, old])
            db.execute("DELETE FROM submissions WHERE name = ?", [old])
            self._note(
                db,
                "rename",
                new,
                {"old": old, "moved": moved, "gone": gone, "kept": kept},
                author,
                made_at,
            )

    def undo(self, name: str) -> TrailEntry:
        """Undo the newest forget or rename of a submission that was not undone; return it.

        Raise UsageError if there is none.
        """
        entries = [one for one in self.trail() if one.submission == name and not one.undone]
        if not entries:
            raise UsageError(
                f"{name} was neither forgotten nor renamed, so there is nothing to undo"
            )
        entry = entries[-1]
        later = [one for one in self.renames() if one.detail["old"] == name]
        if entry.action == "rename" and later and later[-1].number > entry.number:
            raise UsageError(
                f"{name} was renamed again, to {later[-1].submission}. Undo that first"
            )
        with transaction(self.db) as db:
            if entry.action == "forget":
                db.execute("UPDATE submissions SET forgotten = 0 WHERE name = ?", [name])
            else:
                self._undo_rename(db, entry)
            db.execute("UPDATE trail SET undone = 1 WHERE id = ?", [entry.number])
        return entry

    def _undo_rename(self, db: sqlite3.Connection, entry: TrailEntry) -> None:
        old, moved, gone, kept = (entry.detail[key] for key in ("old", "moved", "gone", "kept"))
        if self._row(db, old) is not None:
            raise UsageError(
                f"The gradebook has another submission {old}, so the name is taken. Forget or"
                " rename that one first"
            )
        self._insert(db, gone)
        for table in NAMED_TABLES:
            db.executemany(
                f"UPDATE {table} SET submission = ? WHERE id = ?",
                [(old, number) for number in moved[table]],
            )
        left = db.execute("SELECT max(id) FROM attempts WHERE submission = ?", [entry.submission])
        (newest,) = left.fetchone()
        if kept is None and newest is None:
            db.execute("DELETE FROM submissions WHERE name = ?", [entry.submission])
        elif (self._row(db, entry.submission) or {}).get("current") in [None, *moved["attempts"]]:
            was = kept or {"problem": None, "fault": 0, "missing": 0}
            self._set_state(db, entry.submission, {**was, "current": newest})

    def renames(self) -> list[TrailEntry]:
        """Return the renames that were not undone, oldest first."""
        return [one for one in self.trail() if one.action == "rename" and not one.undone]

    def new_names(self) -> dict[str, str]:
        """Return the present name of each submission that was renamed, by its old names."""
        names: dict[str, str] = {}
        for entry in self.renames():
            old, new = entry.detail["old"], entry.submission
            names = {first: new if last == old else last for first, last in names.items()}
            names[old] = new
        return names

    def trail(self) -> list[TrailEntry]:
        rows = self.db.execute(
            "SELECT id, deed, submission, detail, author, made_at, undone FROM trail ORDER BY id"
        )
        return [
            TrailEntry(number, action, name, json.loads(detail), author, made_at, bool(undone))
            for number, action, name, detail, author, made_at, undone in rows
        ]

    @staticmethod
    def _row(db: sqlite3.Connection, name: str) -> dict[str, Any] | None:
        found = db.execute("SELECT * FROM submissions WHERE name = ?", [name])
        row = found.fetchone()
        return row and dict(zip((one[0] for one in found.description), row, strict=True))

    @staticmethod
    def _set_state(db: sqlite3.Connection, name: str, row: dict[str, Any]) -> None:
        """Give a line what ``row`` has of the columns that say what was handed in."""
        fields = [field for field in STATE if field in row]
        db.execute(
            f"UPDATE submissions SET {', '.join(f'{field} = ?' for field in fields)} WHERE name"
            " = ?",
            [*(row[field] for field in fields), name],
        )

    @staticmethod
    def _insert(db: sqlite3.Connection, row: dict[str, Any]) -> None:
        db.execute(
            f"INSERT INTO submissions ({', '.join(row)}) VALUES ({', '.join('?' * len(row))})",
            [*row.values()],
        )

    @staticmethod
    def _note(
        db: sqlite3.Connection,
        action: str,
        name: str,
        detail: dict[str, Any],
        author: str,
        made_at: str,
    ) -> None:
        db.execute(
            "INSERT INTO trail (deed, submission, detail, author, made_at) VALUES (?, ?, ?, ?, ?)",
            [action, name, json.dumps(detail), author, made_at],
        )
