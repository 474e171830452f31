"""Group the notes of an export; those that kept a mark from being written come first."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from grader.classroom.exports.common import ExportNote
from grader.classroom.imports.names import name_list
from grader.core.text import clean

NAMED = 8
"""How many people one line names; the others are only counted."""


def print_notes(notes: Iterable[ExportNote]) -> None:
    """Print notes on standard error; a note about several people takes one line."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for note in notes:
        groups.setdefault((note.important, note.text), []).append(note.who)
    for (important, text), people in sorted(groups.items(), key=lambda group: not group[0][0]):
        named = [who for who in people if who]
        more = f" and {len(named) - NAMED} more" if len(named) > NAMED else ""
        who = f"{name_list(named[:NAMED])}{more}: " if named else ""
        print(f"{'look at this' if important else 'note'}: {clean(who + text)}", file=sys.stderr)
