"""The history of every mark: what it was made of, when it changed, and why.

After each command that may change a mark, ``keep_marks`` compares what every submission has with
what it had, and keeps the difference with its cause. Nothing else writes this history. A person
has the marks of the line that they are on, so their places are kept, too.
"""

from __future__ import annotations

import heapq
import json
import math
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from grader.classroom.gradebook.by_hand import TrailEntry, trail
from grader.classroom.gradebook.entry import GradebookEntry, students_from_json, total_points
from grader.classroom.gradebook.people import is_of_team, persons, turned_out
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.names import name_list
from grader.core.report import LessonStatus, Report
from grader.core.sqlite import transaction
from grader.core.text import now


@dataclass(frozen=True, slots=True)
class MarkState:
    """What a mark is made of: the attempt that counts, its grading, its points, what lateness and
    adjustments change, and what is left. By default that of a submission without a mark.
    """

    attempt: int | None = None
    grading: int | None = None
    earned: float | None = None
    penalty: float = 0.0
    adjusted: float = 0.0
    mark: float | None = None


@dataclass(frozen=True, slots=True)
class KeptMark:
    """A mark of the history, with the extensions that its people had (None: not known)."""

    id: int
    state: MarkState
    made_at: str
    cause: str
    extension: str | None


@dataclass(frozen=True, slots=True)
class MarkChange:
    """A submission's mark before and after; ``checks`` that changed as (id, old, new outcome).

    ``cause`` says why it changed. None is no mark. With ``moved``, it is only the mark of the one
    person of this label, who is on another line now.
    """

    name: str
    label: str
    made_at: str
    old: float | None
    new: float | None
    cause: str
    checks: tuple[tuple[str, str | None, str | None], ...] = ()
    moved: bool = False

    @property
    def called(self) -> str:
        """Whose mark it is, in a table."""
        return self.label if self.moved else self.name

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
    elif not book.value("SELECT 1 FROM places WHERE assignment = ?", book.assignment):
        with transaction(book.db):
            keep_places(book, book.value("SELECT max(id) FROM marks"))


def keep_marks(
    book: Gradebook, drop_page: Callable[[str], None] = lambda name: None
) -> list[MarkChange]:
    """Keep the marks that are not what they were; return the changes that nobody was told yet, but
    no first mark. Call ``note_told`` once they are announced.

    ``drop_page`` removes the page of a submission, so that none is wrong if the command ends here.
    """
    with transaction(book.db):
        newest = book.value("SELECT max(id) FROM marks") or 0
        for entry in book.entries():
            submission = book.number_of(entry.name)
            new, old = state_of(book, entry), newest_mark(book, submission)
            if old is None and new.attempt is None and new.mark is None:
                continue
            if old is not None and old.state == new:
                continue
            cause = "" if old is None else cause_of(book, entry, old, new)
            told = {"cause": cause, "told": 0, "extension": extension_of(entry)}
            row = {"submission": submission, "made_at": now(), **asdict(new), **told}
            book.insert("marks", row)
            if old is not None:
                drop_page(entry.name)
        for entry in book.entries(forgotten=True):
            submission = book.number_of(entry.name)
            old = newest_mark(book, submission)
            if old is not None and old.state != MarkState():
                row = {"submission": submission, "made_at": now(), **asdict(MarkState())}
                book.insert("marks", row | {"cause": FORGOTTEN})
        keep_places(book, newest)
    return [*untold(book), *(change for _, change in moves(book, untold=True))]


FORGOTTEN = "forgotten"
"""The cause of a mark that is none because its submission was forgotten."""


def keep_places(book: Gradebook, mark: int) -> None:
    """Keep on which lines everybody is, if these are others than before; ``mark`` is the newest
    mark before this command.

    A first mark of a line is nobody's change.
    """
    same = turned_out(book)
    query = "SELECT id, name, students, team FROM submissions WHERE assignment = ? AND missing < 3"
    lines = {row["id"]: row for row in book.rows(query, book.assignment)}
    now_on: dict[int, list[int]] = {}
    for number, row in lines.items():
        for person in persons(students_from_json(row["students"])):
            now_on.setdefault(same.get(person, person), []).append(number)
    query = "SELECT person, lines FROM places WHERE assignment = ? ORDER BY id"
    before = {who: json.loads(there) for who, there in book.db.execute(query, [book.assignment])}
    for person in {**now_on, **before}:
        if person in same:
            continue
        old, new = before.get(person), sorted(set(now_on.get(person, ())))
        if new == old:
            continue
        cause = cause_of_place(book, old, new)
        first = mark_on(book, old or [], mark) is None and mark_on(book, new, mark) is None
        row = {"assignment": book.assignment, "person": person, "lines": json.dumps(new)}
        cause = cause if before and not first else ""
        row |= {"mark": mark, "cause": cause, "made_at": now(), "told": 0}
        book.insert("places", row)


def cause_of_place(book: Gradebook, old: Sequence[int] | None, new: Sequence[int]) -> str:
    """Return why somebody is on other lines: because of a team, of several lines, or because a
    roster says whose a submission is.
    """
    before = old or ()
    if came := teams_among(book, [line for line in new if line not in before]):
        return f"now in {name_list(came)}"
    if left := teams_among(book, [line for line in before if line not in new]):
        return f"no longer in {name_list(left)}"
    several = len(new) > 1
    if before and new and several != (len(before) > 1):
        return "has several submissions" if several else "has one submission"
    query = "SELECT t.came_as FROM submissions s JOIN attempts t ON t.id = s.attempt WHERE s.id = ?"
    came_as = book.value(query, new[0]) if before and new else None
    return f"handed in as {came_as}" if came_as else ""


def teams_among(book: Gradebook, lines: Iterable[int]) -> list[str]:
    """Return what those of these lines are called that are of teams."""
    query = "SELECT name, students, team FROM submissions WHERE id = ?"
    rows = [book.row(query, line) for line in lines]
    return [
        "a team" if row["team"] is None else row["name"]
        for row in rows
        if row is not None and is_of_team(row)
    ]


def mark_on(book: Gradebook, lines: Sequence[int], newest: int) -> float | None:
    """Return the mark of who is on these lines, as of the newest mark then; None if they differ,
    as in the table of the term.
    """
    query = (
        "SELECT mark, cause FROM marks WHERE submission = ? AND id <= ? ORDER BY id DESC LIMIT 1"
    )
    rows = [book.row(query, line, newest) for line in lines]
    marks = {row["mark"] for row in rows if row and row["cause"] != FORGOTTEN}
    return marks.pop() if len(marks) == 1 else None


def moves(
    book: Gradebook, *, untold: bool = False, place: int = 0, mark: int = 0
) -> Iterator[tuple[int, MarkChange]]:
    """Yield who is on another line than before, and the marks: since that was last announced, or
    since the newest ``place`` and ``mark`` of then.
    """
    query = "SELECT * FROM places WHERE assignment = ? ORDER BY id"
    places: dict[int, list[dict[str, Any]]] = {}
    for row in book.rows(query, book.assignment):
        places.setdefault(row["person"], []).append(row)
    newest = book.value("SELECT max(id) FROM marks") or 0
    for person, rows in places.items():
        later = [row for row in rows if (not row["told"] if untold else row["id"] > place)]
        if not any(row["cause"] for row in later):
            continue
        earlier = [row for row in rows if row["id"] < later[0]["id"]]
        if not earlier and not later[0]["cause"]:
            earlier, later = later[:1], later[1:]
        old = json.loads(earlier[-1]["lines"]) if earlier else []
        new = json.loads(later[-1]["lines"])
        line = book.row("SELECT name, forgotten FROM submissions WHERE id = ?", (new or old)[0])
        if old == new or line is None or line["forgotten"]:
            continue
        back = max(
            (at for at, row in enumerate(later) if json.loads(row["lines"]) == old), default=-1
        )
        causes = dict.fromkeys(row["cause"] for row in later[back + 1 :] if row["cause"])
        yield (
            person,
            MarkChange(
                line["name"],
                str(book.value("SELECT name FROM people WHERE id = ?", person)),
                later[-1]["made_at"],
                mark_on(book, old, mark or later[0]["mark"]),
                mark_on(book, new, newest),
                "; ".join(causes),
                moved=True,
            ),
        )


def untold(book: Gradebook) -> Iterator[MarkChange]:
    """Yield what changed since it was last announced, one change for each submission."""
    query = (
        "SELECT s.name, min(m.id) AS first FROM marks m JOIN submissions s ON s.id = m.submission"
        " WHERE s.assignment = ? AND s.forgotten = 0 AND s.missing < 3 AND m.told = 0 GROUP BY s.id"
        " ORDER BY s.name"
    )
    for line in list(book.rows(query, book.assignment)):
        rows = marks_of(book, line["name"])
        later = [row for row in rows if row.id >= line["first"]]
        earlier = [row for row in rows if row.id < line["first"]]
        if not earlier:
            earlier, later = later[:1], later[1:]
        if later:
            yield change_of(book, book.entry(line["name"]), earlier[-1].state, later)


def note_told(book: Gradebook, names: Collection[str] | None = None) -> None:
    """Remember that the changes were announced; with ``names``, only those of these submissions."""
    query = (
        "SELECT m.id, s.name FROM marks m JOIN submissions s ON s.id = m.submission WHERE m.told ="
        " 0 AND s.assignment = ?"
    )
    with transaction(book.db):
        for number, name in book.db.execute(query, [book.assignment]).fetchall():
            if names is None or name in names:
                book.change("marks", number, {"told": 1})
        if names is None:
            query = "UPDATE places SET told = 1 WHERE told = 0 AND assignment = ?"
            book.db.execute(query, [book.assignment])


def state_of(book: Gradebook, entry: GradebookEntry) -> MarkState:
    """Return what an entry's mark is made of."""
    chosen = next((one for one in entry.attempts if one.number == entry.counts), None)
    query = "SELECT grading FROM attempts WHERE id = ?"
    return MarkState(
        chosen.id if chosen else None,
        book.value(query, chosen.id) if chosen else None,
        entry.report.score if entry.report else None,
        entry.penalty,
        entry.adjusted_by,
        total_points(entry),
    )


def cause_of(book: Gradebook, entry: GradebookEntry, before: KeptMark, new: MarkState) -> str:
    """Return the reasons for which a mark is not what it was."""
    causes, old = [], before.state
    if before.cause == FORGOTTEN:
        return "no longer forgotten"
    if old.attempt != new.attempt:
        causes.append(cause_of_attempt(book, entry, before, new))
    elif old.grading != new.grading:
        causes.append(cause_of_grading(book, before, new.grading))
    if old.penalty != new.penalty:
        extension = extension_of(entry)
        if before.extension is not None and before.extension != extension:
            causes.append("extension changed" if extension else "extension ended")
        late = f"{entry.lateness}" if entry.lateness else "not late"
        rates = [one.penalty / one.earned for one in (old, new) if one.earned]
        if len(rates) < 2 or not math.isclose(*rates, abs_tol=1e-9):
            causes.append(late)
    if old.adjusted != new.adjusted:
        points = new.adjusted - old.adjusted
        causes.append(cause_of_adjustment(book, entry, before.made_at, points))
    return "; ".join(causes) or "marks are made differently"


def cause_of_grading(book: Gradebook, before: KeptMark, new: int | None) -> str:
    """Return why another grading of the same attempt counts."""
    if new is None:
        return "could not be graded again"
    made_at = book.value("SELECT made_at FROM gradings WHERE id = ?", new)
    earlier = new < (before.state.grading or 0) or made_at < before.made_at
    return "an earlier grading counts again" if earlier else "graded again"


def extension_of(entry: GradebookEntry) -> str:
    return "; ".join(sorted({one.details["due"] for one in entry.students if "due" in one.details}))


def cause_of_attempt(book: Gradebook, entry: GradebookEntry, old: KeptMark, new: MarkState) -> str:
    """Return why another attempt counts: by what a person did, or because it is another one."""
    gifts = "SELECT gifts FROM attempts WHERE id = ?"
    before, after = (
        set(json.loads(book.value(gifts, state.attempt) or "[]")) for state in (old.state, new)
    )
    if after - before:
        return f"given: {name_list(sorted(after - before))}"
    if before - after and book.value("SELECT void FROM attempts WHERE id = ?", old.state.attempt):
        return f"taken back: {name_list(sorted(before - after))}"
    for deed in reversed(trail(book)):
        if said := cause_of_deed(book, entry, deed, old, new):
            return said
    return f"attempt {entry.counts} counts" if entry.counts else "no attempt any more"


def cause_of_deed(
    book: Gradebook, entry: GradebookEntry, deed: TrailEntry, old: KeptMark, new: MarkState
) -> str:
    """Return what was done, if it moved the attempts so; else ''."""
    owners = {
        number: was["submission"]
        for table, number, was in deed.detail.get("before", ())
        if table == "attempts" and "submission" in was
    }
    came, went = new.attempt in owners, old.state.attempt in owners
    if deed.action == "swap" and came and went:
        other = deed.detail["other"] if entry.name == deed.name else deed.name
        return f"exchange with {other} undone" if deed.undone else f"exchanged with {other}"
    if deed.action not in ("rename", "person") or came == went:
        return ""
    what = f"handed in as {deed.detail['old']}"
    if book.number_of(entry.name) in owners.values():  # the line from which it was taken
        what = f"what was handed in is that of {deed.name}"
        came, went = went, came
        if old.state.attempt and new.attempt:
            return ""
    if deed.undone:
        return f"{what}: undone" if went else ""
    return what if came and deed.made_at >= old.made_at else ""


def cause_of_adjustment(book: Gradebook, entry: GradebookEntry, since: str, points: float) -> str:
    """Return the newest adjustment, or undone one, since then that explains so many points."""
    undone_at: dict[int, str] = dict(
        book.db.execute("SELECT id, undone_at FROM adjustments WHERE undone_at IS NOT NULL")
    )
    undone = book.adjustments(entry.name, undone=True)
    found = [
        (one.made_at, one.number, one.points, one.reason, "adjustment") for one in entry.adjustments
    ]
    found += [
        (undone_at[one.number], one.number, -one.points, one.reason, "adjustment undone")
        for one in undone
    ]
    fitting = [one for one in found if one[0] >= since and math.isclose(one[2], points)]
    if not fitting:
        return "adjustment"
    *_, reason, what = max(fitting)
    return f"{what}: {reason}"


def changed_checks(
    book: Gradebook, old: MarkState, new: MarkState
) -> tuple[tuple[str, str | None, str | None], ...]:
    """Return the checks whose outcome is another one in another grading."""
    if old.grading == new.grading or not old.grading or not new.grading:
        return ()
    query = "SELECT check_id, outcome FROM results WHERE grading = ? ORDER BY check_id"
    before: dict[str, str] = dict(book.db.execute(query, [old.grading]))
    after: dict[str, str] = dict(book.db.execute(query, [new.grading]))
    for outcomes, grading, others in ((before, old.grading, after), (after, new.grading, before)):
        left = {check for check in others if check not in outcomes}
        absent = not_handed_in(book, grading) if left else ()
        outcomes |= {check: NOT_HANDED_IN for check in left if check.partition(".")[0] in absent}
    return tuple(
        (check, before.get(check), after.get(check))
        for check in before | after
        if before.get(check) != after.get(check)
    )


NOT_HANDED_IN = "not_handed_in"
"""What stands for the outcome of a check of a lesson without a file."""


def not_handed_in(book: Gradebook, grading: int) -> set[str]:
    """Return the lessons of which there was no file in a grading, and none that may be it."""
    text = book.value("SELECT report FROM gradings WHERE id = ?", grading)
    lessons = Report.from_json(json.loads(text)).lessons
    missing = (one for one in lessons if one.status is LessonStatus.MISSING)
    return {one.id for one in missing if one.file is None and not one.beside}


def changes_since(book: Gradebook, since: str | None) -> Iterator[MarkChange]:
    """Yield what changed after a time, or after the last export, one change for each submission:
    from the mark of then to the mark of now, with all causes.

    A submission that had no mark then has changed, too. Without any mark then, the first one of
    each submission counts.
    """
    if since is None:
        query = "SELECT mark, place FROM exports WHERE assignment = ? ORDER BY mark DESC, id DESC"
        before, place = tuple((book.row(query, book.assignment) or NEVER).values())
    else:
        query = "SELECT coalesce(max(id), 0) FROM {} WHERE made_at <= ?"
        before, place = (book.value(query.format(one), since) for one in ("marks", "places"))
    same, moved = turned_out(book), dict(moves(book, place=place, mark=before))
    for entry in heapq.merge(
        book.entries(), book.entries(forgotten=True), key=lambda entry: entry.name
    ):
        stayed = [one for one in entry.students if same.get(one.person, one.person) not in moved]
        rows = marks_of(book, entry.name)
        later = [row for row in rows if row.id > before]
        earlier = [row for row in rows if row.id <= before]
        if not earlier and not before:
            earlier = later[:1]
        if not later or later == earlier or (entry.students and not stayed):
            continue
        old = earlier[-1].state if earlier else MarkState()
        change = change_of(book, replace(entry, students=tuple(stayed)), old, later)
        if change.is_seen:
            yield change
    yield from (change for change in moved.values() if change.is_seen)


NEVER = {"mark": 0, "place": 0}
"""What was exported before the first export."""


def history_of(book: Gradebook, entry: GradebookEntry) -> list[tuple[str, float | None, str]]:
    """Return each mark that a submission, or one of its people, has had: since when, and why."""
    found = book.history(entry.name)
    query = "SELECT * FROM places WHERE assignment = ? AND person = ? ORDER BY id"
    for one in entry.students:
        old: list[int] = []
        for row in list(book.rows(query, book.assignment, one.person)):
            new = json.loads(row["lines"])
            then = book.value("SELECT max(id) FROM marks WHERE made_at <= ?", row["made_at"])
            before, after = mark_on(book, old, row["mark"]), mark_on(book, new, then)
            if row["cause"] and before != after:
                was = "none" if before is None else f"{before:g}"
                why = f"{one.name}: {row['cause']} (before: {was})"
                found.append((row["made_at"], after, why))
            old = new
    return sorted(found, key=lambda one: one[0])


def marks_of(book: Gradebook, name: str) -> list[KeptMark]:
    query = "SELECT * FROM marks WHERE submission = ? ORDER BY id"
    return [kept_mark(row) for row in book.rows(query, book.number_of(name))]


def newest_mark(book: Gradebook, submission: int | None) -> KeptMark | None:
    query = "SELECT * FROM marks WHERE submission = ? ORDER BY id DESC LIMIT 1"
    row = book.row(query, submission)
    return kept_mark(row) if row else None


def kept_mark(row: Mapping[str, Any]) -> KeptMark:
    state = MarkState(*(row[one.name] for one in fields(MarkState)))
    return KeptMark(row["id"], state, row["made_at"], row["cause"], row["extension"])


def change_of(
    book: Gradebook, entry: GradebookEntry, old: MarkState, later: Sequence[KeptMark]
) -> MarkChange:
    """Return the change from a mark to the last of those after it, with all causes since a mark
    was last made of the same; of which attempt counts, and of lateness, only that of now.
    """
    new = later[-1]
    same = max((at + 1 for at, row in enumerate(later) if row.state == old), default=0)
    said = [one for row in later[same:] if row.cause for one in row.cause.split("; ")]
    causes = dict.fromkeys(one for one in said if not PASSING.fullmatch(one))
    counts = [one for one in said if COUNTS.fullmatch(one)]
    if counts and new.state.attempt != old.attempt:
        causes[counts[-1]] = None
    if any(LATENESS.fullmatch(one) for one in said):
        causes[str(entry.lateness or "not late")] = None
    if old == MarkState() and not causes:
        causes = dict.fromkeys(first_causes(entry))
    return MarkChange(
        entry.name,
        entry.label,
        new.made_at,
        old.mark,
        new.state.mark,
        "; ".join(causes),
        changed_checks(book, old, new.state),
    )


LATENESS = re.compile(r"not late|[^:]* late(, [^:]*)?")
"""What ``cause_of`` says of a late rule."""
COUNTS = re.compile(r"attempt \d+ counts")
PASSING = re.compile(f"{LATENESS.pattern}|{COUNTS.pattern}")
"""Causes of which only the last one holds."""


def first_causes(entry: GradebookEntry) -> Iterator[str]:
    """Yield why there is a mark where there was none."""
    if entry.counts:
        yield "handed in"
    if entry.lateness:
        yield str(entry.lateness)
    yield from (f"adjustment: {one.reason}" for one in entry.adjustments)


def is_exported(book: Gradebook) -> bool:
    query = "SELECT 1 FROM exports WHERE assignment = ?"
    return bool(book.value(query, book.assignment))


def note_export(book: Gradebook, format: str) -> None:
    """Remember that marks were given to another system, for ``changes_since``.

    A table for oneself counts only where no other system ever got marks; JSON never does.
    """
    others = "SELECT 1 FROM exports WHERE assignment = ? AND format != 'csv'"
    if format in ("json", "junit") or (format == "csv" and book.value(others, book.assignment)):
        return
    with transaction(book.db):
        newest = book.value("SELECT max(id) FROM marks") or 0
        place = book.value("SELECT max(id) FROM places") or 0
        row = {"assignment": book.assignment, "made_at": now(), "format": format}
        row |= {"mark": newest, "place": place}
        book.insert("exports", row)
