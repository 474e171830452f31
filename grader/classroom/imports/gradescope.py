"""Gradescope's export: ``submission_<id>/…`` and ``submission_metadata.yml`` with the owners.

The file is YAML with Ruby's symbols as keys, and is read as plain text, so that ids keep their
leading zeros and tags construct no objects.
"""

from __future__ import annotations

import re
from typing import Any

from grader.classroom.imports.entries import (
    Directory,
    DownloadLayout,
    Lessons,
    PendingSubmission,
    SortedEntries,
    StudentIdentity,
)
from grader.classroom.imports.names import name_list, readable
from grader.core.errors import SubmissionError
from grader.core.text import as_utc
from grader.course.files import Entry, Kind

METADATA = "submission_metadata.yml"
MAX_METADATA_BYTES = 64 << 20
MAX_DEPTH = 30
FOLDER = re.compile(r"submission_(?P<id>\w+)")
CREATED = re.compile(r"(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d:\d\d)(?:\.\d+)? ?(Z|UTC|[+-]\d\d:?\d\d)")
"""A time as Ruby writes it: ``2026-03-01 10:00:00.123456789 Z``."""


def _folder(entry: Entry) -> re.Match[str] | None:
    return FOLDER.fullmatch(entry.name) if entry.kind is Kind.FOLDER else None


def _matching(level: Directory) -> int:
    return sum(entry.name == METADATA or _folder(entry) is not None for entry in level.entries)


def _read_level(level: Directory, lessons: Lessons) -> SortedEntries:
    sorting = SortedEntries()
    entries = {entry.name: entry for entry in level.entries}
    metadata = entries.pop(METADATA, None)
    records = _records(metadata) if metadata else {}
    submitters = {name: _students(record) for name, record in records.items()}
    if metadata is None:
        sorting.notes.append(f"{METADATA} is missing, so submissions are named after their folders")
    for name, entry in entries.items():
        folder = _folder(entry)
        if folder is None:
            sorting.pass_over(entry, "is not named as in Gradescope's export: submission_<id>/")
            continue
        students = submitters.pop(name, [])
        if not students and metadata:
            sorting.notes.append(
                f"{name} has no submitter in {METADATA}, so it is named after its folder"
            )
        own = {"gradescope_submission": folder["id"]}
        people = [StudentIdentity(student.name, student.ids | own) for student in students]
        sorting.drafts.append(
            PendingSubmission(
                tuple(people) or (StudentIdentity(name, own),),
                entry.files,
                id=folder["id"],
                handed_in=_created_at(records.get(name, {})),
                came_as=name,
            )
        )
    for name, students in submitters.items():
        listed = f"is listed in {METADATA} ({name_list(one.name for one in students)})"
        reason = f"{listed}, but its folder is missing. Export the assignment again"
        sorting.passed_over.append((name, reason))
    return sorting


def _records(metadata: Entry) -> dict[str, dict[str, object]]:
    """Return the metadata of each folder; raise SubmissionError if the file can't be read."""
    import yaml

    # All values are strings. The C loader is faster, where it was built.
    loader: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    remedy = "Export the assignment again, or delete the file to use the folders' names"
    data = next(metadata.files()).read(MAX_METADATA_BYTES + 1)
    if data is None or len(data) > MAX_METADATA_BYTES:
        raise SubmissionError(
            f"{METADATA} can't be read, or is larger than {MAX_METADATA_BYTES >> 20} MB. {remedy}"
        )
    try:
        depth = 0  # PyYAML would recurse into any depth until the process dies
        for event in yaml.parse(data, Loader=loader):
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if depth > MAX_DEPTH:
                raise yaml.YAMLError(f"it is nested more than {MAX_DEPTH} deep")
        records = yaml.load(data, Loader=loader)
    except (yaml.YAMLError, UnicodeError, RecursionError, ValueError) as error:
        mark = getattr(error, "problem_mark", None)
        where = f":{mark.line + 1}" if mark else ""
        reason = " ".join(str(getattr(error, "problem", None) or error).split())
        raise SubmissionError(f"{METADATA}{where} is not YAML: {reason}. {remedy}") from None
    if not isinstance(records, dict):
        raise SubmissionError(f"{METADATA} has no submissions. {remedy}")
    return {name: one if isinstance(one, dict) else {} for name, one in records.items()}


def _created_at(record: dict[str, object]) -> str | None:
    """Return when a submission was made, in UTC; None if the file does not say."""
    found = CREATED.match(str(record.get(":created_at")))
    if found is None:
        return None
    offset = "Z" if found[3] == "UTC" else found[3]
    try:
        return as_utc(f"{found[1]}T{found[2]}{offset}")
    except ValueError:
        return None


def _students(record: dict[str, object]) -> list[StudentIdentity]:
    listed = record.get(":submitters")
    people = listed if isinstance(listed, list) else []
    students = (_student(person) for person in people if isinstance(person, dict))
    return [student for student in students if student]


def _student(person: dict[str, object]) -> StudentIdentity | None:
    ids = {
        key: value
        for key in ("sid", "email")
        if isinstance(value := person.get(f":{key}"), str) and value not in ("", "~", "null")
    }
    name = person.get(":name")
    shown = readable(name) if isinstance(name, str) else ""
    return StudentIdentity(shown or next(iter(ids.values())), ids) if shown or ids else None


LAYOUT = DownloadLayout("gradescope", _read_level, f"submission_<id>/ beside {METADATA}", _matching)
