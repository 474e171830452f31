"""Run ``grade export``: write a gradebook in another system's format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from grader.classroom.exports.common import ExportNote, ExportRequest
from grader.classroom.exports.formats import FORMATS
from grader.classroom.gradebook.entry import GradebookEntry, LessonColumn
from grader.classroom.gradebook.store import Gradebook
from grader.cli.commands.note_groups import print_notes
from grader.core.errors import UsageError


def export_gradebook(out: Path, name: str, *, request: ExportRequest, output: Path | None) -> None:
    """Write the gradebook in ``out`` in the format ``name``; print the output's path."""
    next_step = FORMATS[name].next_step
    if not next_step and (request.template or request.columns):
        option = "--template" if request.template else "--column"
        raise UsageError(f"{option} works only with --to canvas and --to moodle. Leave it out")
    with Gradebook.open(out) as book:
        target = write_export(
            in_section(book, request.section),
            book.columns(),
            name,
            request=request,
            folder=out,
            output=output,
        )
    print(f"Wrote {target} ({name}). {next_step}".rstrip())


def in_section(book: Gradebook, section: str | None) -> Iterable[GradebookEntry]:
    """Return the entries of a section, or all; raise UsageError if nobody is in it."""
    if section is None:
        return book.entries()
    known = {one for entry in book.entries() for one in entry.sections}
    if section not in known:
        raise UsageError(
            f"Nobody is in the section {section!r}. Sections of the roster:"
            f" {', '.join(sorted(known)) or 'none, because it has no column section'}"
        )
    return (entry for entry in book.entries() if section in entry.sections)


def write_export(
    entries: Iterable[GradebookEntry],
    columns: Sequence[LessonColumn],
    name: str,
    *,
    request: ExportRequest,
    folder: Path,
    output: Path | None,
) -> Path:
    """Write an export to ``output``, by default beside the gradebook; return its path.

    It is written under another name first, so it is complete or missing.
    """
    target = output or folder / FORMATS[name].file
    if request.template is not None and target.exists() and target.samefile(request.template):
        raise UsageError(
            f"{target} is the template, which is not overwritten. Name another file with --output"
        )
    try:
        notes = write_pieces(entries, columns, name, request=request, target=target)
    except OSError as error:
        # filename2 is the file that os.replace would replace: a table that is open in Excel.
        where = error.filename2 or error.filename or target
        raise UsageError(
            f"{where} can't be written: {error.strerror}. If another program has it open, close it;"
            " or name another file with --output"
        ) from None
    print_notes(notes)
    return target


def write_pieces(
    entries: Iterable[GradebookEntry],
    columns: Sequence[LessonColumn],
    name: str,
    *,
    request: ExportRequest,
    target: Path,
) -> list[ExportNote]:
    notes: list[ExportNote] = []
    part = target.with_name(f"{target.name}.part")
    target.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        # This runs after the file was closed, because Windows can't remove an open file.
        stack.callback(part.unlink, missing_ok=True)
        stream: BinaryIO | None = (
            None if FORMATS[name].files else stack.enter_context(part.open("wb"))
        )
        for made in FORMATS[name].export(entries, columns, request):
            if isinstance(made, ExportNote):
                notes.append(made)
            elif stream is not None:
                stream.write(made.data)
            else:
                place = target / made.path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(made.data)
        if stream is not None:
            stream.close()
            part.replace(target)
    return notes
