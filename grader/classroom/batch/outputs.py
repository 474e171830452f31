"""Write the files beside the gradebook, from one entry at a time; each file is replaced as a whole.

``results.json`` and ``grades.csv`` are the same bytes each time the same class is graded.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import IO

from grader.classroom.batch.records import PageOptions
from grader.classroom.exports import csv_table
from grader.classroom.exports.records import ExportRequest, Piece
from grader.classroom.gradebook.json_dump import entry_as_json
from grader.classroom.gradebook.records import GradebookEntry
from grader.classroom.gradebook.store import Gradebook, refusal
from grader.classroom.redact import withheld
from grader.classroom.statistics.class_page import render_class
from grader.classroom.statistics.disk_rows import RowsOnDisk
from grader.core.files import replacing
from grader.core.i18n import Catalogue, engine_catalogue
from grader.core.report import Report
from grader.render.page import render_page
from grader.runtime.text_reader import TextReader

REVEALED, WITHHELD = "revealed", "withheld"


def page_path(out: Path, name: str) -> Path:
    return out / "reports" / f"{name}.html"


def render(report: Report, options: PageOptions) -> bytes:
    """Return a submission's page."""
    tr = _words(report.lang)
    shown = report if options.reveal else withheld(report, tr)
    page = render_page(shown, tr, personal=options.personal)
    return page.encode("utf-8", "backslashreplace")


def write_page(out: Path, name: str, page: bytes) -> None:
    with output(page_path(out, name), durable=False) as file:
        file.write(page)


def rewrite_page(out: Path, book: Gradebook, entry: GradebookEntry) -> None:
    """Write an entry's page again after something beside its report changed; remove an outdated
    one.
    """
    if entry.report is not None:
        reveal = book.about("pages").startswith(REVEALED)
        write_page(out, entry.name, render(entry.report, PageOptions(entry.personal_part, reveal)))
    else:
        page_path(out, entry.name).unlink(missing_ok=True)


@cache
def _words(lang: str) -> Catalogue:
    return engine_catalogue(lang)


def write_outputs(out: Path, book: Gradebook) -> None:
    columns = book.columns()
    with output(out / "results.json") as file:
        write_results(file, book.entries())
    with output(out / "grades.csv") as file:
        for piece in csv_table.export_csv(book.entries(), columns, ExportRequest()):
            file.write(piece.data if isinstance(piece, Piece) else b"")
    with output(out / "class.html") as file, RowsOnDisk(out) as rows, TextReader() as reader:
        page = render_class(
            book.entries(),
            columns,
            title=book.about("title"),
            passed_over=book.passed_over(),
            rows=rows,
            code_of=lambda group: reader.excerpt(
                book.graded_text(group.first.name, group.lesson) or "", group.function
            ),
        )
        for part in page:
            file.write(part.encode("utf-8", "backslashreplace"))


def write_results(file: IO[bytes], entries: Iterable[GradebookEntry]) -> None:
    before = "[\n"
    for entry in entries:
        text = before + json.dumps(entry_as_json(entry), ensure_ascii=False, allow_nan=False)
        file.write(text.encode("utf-8", "backslashreplace"))
        before = ",\n"
    file.write(b"\n]\n" if before == ",\n" else b"[]\n")


@contextlib.contextmanager
def output(path: Path, *, durable: bool = True) -> Iterator[IO[bytes]]:
    """Open a file that replaces ``path`` when it is complete; raise UsageError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with replacing(path, durable=durable) as file:
            yield file
    except OSError as error:
        raise refusal(path, error) from None
