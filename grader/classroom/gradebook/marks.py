"""The history of every mark: what it was made of, when it changed, and why.

After each command that may change a mark, ``keep_marks`` compares what every submission has with
what it had, and keeps the difference with its cause. Nothing else writes this history.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from grader.classroom.gradebook.entry import GradebookEntry, total_points
from grader.classroom.gradebook.store import Gradebook
from grader.core.sqlite import transaction
from grader.core.text import now

STATE = ("attempt", "grading", "earned", "penalty", "adjusted", "mark")


@dataclass(frozen=True, slots=True)
class MarkChange:
    """A submission's mark before and after; ``checks`` that changed as (id, old, new outcome).

    ``cause`` says why it changed. None is no mark.
    """

    name: str
    label: str
    made_at: str
    old: float | None
    new: float | None
    cause: str
    checks: tuple[tuple[str, str | None, str | None], ...] = ()

    @property
    def is_seen(self) -> bool:
        """Whether the mark or a check's outcome is another one, and not only another attempt's."""
        return bool(self.checks) or self.old != self.new


def begin_marks(book: Gradebook) -> None:
    """Keep the marks that an earlier version left, before anything changes them."""
    query = (
        "SELECT 1 FROM marks m JOIN submissions s ON s.id = m.submission WHERE s.assignment = ?"
        " LIMIT 1"
    )
    if not book.value(query, book.assignment):
        keep_marks(book)


def keep_marks(
    book: Gradebook, drop_page: Callable[[str], None] = lambda name: None
) -> list[MarkChange]:
    """Keep the marks that are not what they were; return the changes, but no first mark.

    ``drop_page`` removes the page of a submission, so that none is wrong if the command ends here.
    """
    changes = []
    with transaction(book.db):
        for entry in book.entries():
            submission = book.number_of(entry.name)
            new = state_of(book, entry)
            query = "SELECT * FROM marks WHERE submission = ? ORDER BY id DESC LIMIT 1"
            old = book.row(query, submission)
            if old is None and new["attempt"] is None and new["mark"] is None:
                continue
            if old is not None and all(old[key] == new[key] for key in STATE):
                continue
            cause = "" if old is None else cause_of(book, entry, old, new)
            made_at = now()
            book.insert(
                "marks", {"submission": submission, "made_at": made_at, **new, "cause": cause}
            )
            checks = changed_checks(book, old, new) if old else ()
            if old is not None:
                drop_page(entry.name)
                before, after = old["mark"], new["mark"]
                changes.append(
                    MarkChange(entry.name, entry.label, made_at, before, after, cause, checks)
                )
    return changes


def state_of(book: Gradebook, entry: GradebookEntry) -> dict[str, Any]:
    """Return what an entry's mark is made of."""
    chosen = next((one for one in entry.attempts if one.number == entry.counts), None)
    grading = chosen and book.value("SELECT grading FROM attempts WHERE id = ?", chosen.id)
    return {
        "attempt": chosen and chosen.id,
        "grading": grading,
        "earned": entry.report.score if entry.report else None,
        "penalty": entry.penalty,
        "adjusted": entry.adjusted_by,
        "mark": total_points(entry),
    }


def cause_of(
    book: Gradebook, entry: GradebookEntry, old: dict[str, Any], new: dict[str, Any]
) -> str:
    """Return the reasons for which a mark is not what it was."""
    causes = []
    if old["attempt"] != new["attempt"]:
        number = entry.counts
        causes.append(f"attempt {number} counts" if number else "no attempt any more")
    elif old["grading"] != new["grading"]:
        causes.append("graded again" if new["grading"] else "could not be graded again")
    if old["penalty"] != new["penalty"]:
        late = f"{entry.lateness}" if entry.lateness else "not late"
        rate = old["earned"] and new["earned"] and old["penalty"] / old["earned"]
        if not rate or abs(rate - new["penalty"] / new["earned"]) > 1e-9:
            causes.append(late)
    if old["adjusted"] != new["adjusted"]:
        causes.append("adjustment")
    return "; ".join(causes) or "marks are made differently"


def changed_checks(
    book: Gradebook, old: dict[str, Any], new: dict[str, Any]
) -> tuple[tuple[str, str | None, str | None], ...]:
    """Return the checks whose outcome is another one in another grading."""
    if old["grading"] == new["grading"] or not old["grading"] or not new["grading"]:
        return ()
    query = "SELECT check_id, outcome FROM results WHERE grading = ? ORDER BY check_id"
    before: dict[str, str] = dict(book.db.execute(query, [old["grading"]]))
    after: dict[str, str] = dict(book.db.execute(query, [new["grading"]]))
    return tuple(
        (check, before.get(check), after.get(check))
        for check in before | after
        if before.get(check) != after.get(check)
    )


def changes_since(book: Gradebook, since: str | None) -> Iterator[MarkChange]:
    """Yield what changed after a time, or after the last export, one change for each submission:
    from the mark of then to the mark of now, with all causes.

    A submission that had no mark then has changed, too. Without any mark then, the first one of
    each submission counts.
    """
    if since is None:
        newest = book.value("SELECT max(mark) FROM exports WHERE assignment = ?", book.assignment)
    else:
        newest = book.value("SELECT max(id) FROM marks WHERE made_at <= ?", since)
    before = newest or 0
    for entry in book.entries():
        rows = list(
            book.rows(
                "SELECT m.* FROM marks m JOIN submissions s ON s.id = m.submission WHERE"
                " s.assignment = ? AND s.name = ? ORDER BY m.id",
                book.assignment,
                entry.name,
            )
        )
        later = [row for row in rows if row["id"] > before]
        earlier = [row for row in rows if row["id"] <= before]
        if not earlier and not before:
            earlier = later[:1]
        if not later or later == earlier:
            continue
        new = later[-1]
        old = earlier[-1] if earlier else dict.fromkeys(STATE)
        causes = dict.fromkeys(row["cause"] for row in later if row["cause"])
        change = MarkChange(
            entry.name,
            entry.label,
            new["made_at"],
            old["mark"],
            new["mark"],
            "; ".join(causes),
            changed_checks(book, old, new),
        )
        if change.is_seen:
            yield change


def note_export(book: Gradebook, format: str) -> None:
    """Remember that marks were given to another system, for ``changes_since``.

    A table for oneself counts only where no other system ever got marks; JSON never does.
    """
    others = "SELECT 1 FROM exports WHERE assignment = ? AND format != 'csv'"
    if format in ("json", "junit") or (format == "csv" and book.value(others, book.assignment)):
        return
    with transaction(book.db):
        newest = book.value("SELECT max(id) FROM marks") or 0
        row = {"assignment": book.assignment, "made_at": now(), "format": format, "mark": newest}
        book.insert("exports", row)
