"""Give students their pages: a zip to upload to Moodle or Canvas, or a folder."""

from __future__ import annotations

import contextlib
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from grader.classroom.batch import output, page_path, rewrite_page
from grader.classroom.exports import feedback
from grader.classroom.exports.common import ExportNote, ExportRequest, Piece
from grader.classroom.gradebook.entry import PublicEntry
from grader.classroom.gradebook.store import Gradebook
from grader.cli.commands.note_groups import print_notes
from grader.core.text import counted

NEXT = {
    "moodle": "Upload it in Moodle: View all submissions, Upload multiple feedback files in a zip.",
    "canvas": "Upload it in Canvas: the assignment, Upload Submissions. Canvas lists the files"
    " that match no student.",
    "folder": "There is a page for each graded submission.",
}

NOTHING = (
    "There is nothing to upload: no graded submission has the ids of a download from {system}."
    " For pages in a folder, use --to folder."
)


def write_feedback(out: Path, system: str, *, template: Path | None, target: Path | None) -> None:
    """Write the pages of all students with a verdict, and ``feedback.csv`` beside them.

    Raise UsageError if a file can't be read or written.
    """
    target = target or out / ("feedback" if system == "folder" else f"feedback-{system}.zip")
    notes: list[ExportNote] = []
    with Gradebook.open(out) as book:
        entries, page_of = ready(book, notes), partial(page, out, book)
        pieces: Iterator[Piece | ExportNote]
        if system == "moodle":
            pieces = feedback.pages_for_moodle(entries, page_of, ExportRequest(template))
        elif system == "canvas":
            pieces = feedback.files_for_canvas(entries, page_of, book.graded_text)
        else:
            pieces = feedback.pages_in_folder(entries, page_of)
        written = write_pieces(pieces, target, notes, zipped=system != "folder")
        table = target.with_name("feedback.csv")
        with output(table) as file:
            entries = (entry.public() for entry in book.entries())
            for line in feedback.comments_table(entries, book.columns()):
                file.write(line)
    print_notes(notes)
    following = NEXT[system] if written else NOTHING.format(system=system.capitalize())
    print(f"{target}: {counted(written, 'file')}. {following}")
    print(f"{table}: the points and a short text for each student.")


def ready(book: Gradebook, notes: list[ExportNote]) -> Iterator[PublicEntry]:
    """Yield the entries that have a verdict; note the others."""
    for entry in book.entries():
        if entry.report is None:
            notes.append(ExportNote("nothing was graded, so there is no page", entry.label))
        elif entry.grader_faults:
            notes.append(ExportNote("not graded completely, so the page is left out", entry.label))
        else:
            yield entry.public()


def page(out: Path, book: Gradebook, name: str) -> bytes:
    """Return a submission's page; write it again if it is missing."""
    path = page_path(out, name)
    if not path.exists():
        rewrite_page(out, book, book.entry(name))
    return path.read_bytes()


def write_pieces(
    pieces: Iterator[Piece | ExportNote], target: Path, notes: list[ExportNote], *, zipped: bool
) -> int:
    """Write files into a zip or a folder, and collect the notes; return the number of files."""
    count = 0
    with contextlib.ExitStack() as stack:
        archive = None
        if zipped:
            archive = stack.enter_context(
                zipfile.ZipFile(stack.enter_context(output(target)), "w", zipfile.ZIP_DEFLATED)
            )
        for piece in pieces:
            if isinstance(piece, ExportNote):
                notes.append(piece)
                continue
            count += 1
            if archive is not None:
                archive.writestr(piece.path, piece.data)
            else:
                with output(target / piece.path, durable=False) as file:
                    file.write(piece.data)
    return count
