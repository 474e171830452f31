"""The commands that write what leaves a gradebook: ``export`` for other systems, ``feedback`` for
students, ``similar`` about submissions that share code.
"""

from __future__ import annotations

import contextlib
import sys
import zipfile
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console
from rich.text import Text as Line

from grader.classroom.batch import output, page_path, rewrite_page
from grader.classroom.exports import canvas, gradescope, moodle, tables
from grader.classroom.exports.common import NAMED, ExportNote, ExportRequest, Piece
from grader.classroom.exports.feedback import (
    comments_table,
    files_for_canvas,
    pages_for_folder,
    pages_for_moodle,
)
from grader.classroom.exports.tables import term_table
from grader.classroom.gradebook.entry import GradebookEntry, LessonColumn, PublicEntry
from grader.classroom.gradebook.marks import note_export
from grader.classroom.gradebook.people import forgotten_names, surely_persons
from grader.classroom.gradebook.store import Gradebook
from grader.classroom.imports.names import name_list
from grader.classroom.statistics.similarity import (
    Pair,
    Side,
    Text,
    library,
    rank,
    render_similar,
    similar_pairs,
)
from grader.classroom.term_table import term_assignments, term_people
from grader.cli.batch_screen import Meter
from grader.cli.gradebook import known_lessons
from grader.cli.options import PATH, course, course_option, hidden_option
from grader.core.errors import UsageError
from grader.core.report import LessonResult, LessonStatus
from grader.core.text import clean, counted
from grader.course.course import Course, Lesson
from grader.render.terminal import make_console, plain_table

_FORMS = (tables.CSV, canvas.FORMAT, moodle.FORMAT, gradescope.FORMAT, tables.JUNIT, tables.JSON)
FORMATS = {form.name: form for form in _FORMS}


@click.command()
@click.argument("out", type=PATH)
@click.option(
    "--to", "name", required=True, type=click.Choice(list(FORMATS)), help="The format to write."
)
@click.option(
    "--template",
    type=PATH,
    help="For canvas and moodle: the file that you downloaded there, to be filled in.",
)
@click.option("--output", type=PATH, help="Where to write it; by default into OUT.")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="TITLE",
    help="The title of the column for the total, or LESSON=TITLE for a lesson; repeatable.",
)
@click.option(
    "--scale",
    type=click.FloatRange(0, min_open=True),
    help="How many points full marks are worth there; by default the template's maximum.",
)
@click.option(
    "--missing-as-zero",
    is_flag=True,
    help="Give students without a submission a 0 instead of leaving their mark as it is.",
)
@click.option("--section", help="Only students of this section of the roster.")
@hidden_option
def export(out: Path, name: str, output: Path | None, **options: Any) -> None:
    """Write a gradebook in another system's format.

    For a term, whose assignments have names, csv is a table of people by assignments, with a total
    by the weights of term.toml.

    Example: grade export grades --to canvas --template gradebook.csv
    """
    request, next_step = ExportRequest(**options), FORMATS[name].next_step
    if not next_step and (request.template or request.columns):
        option = "--template" if request.template else "--column"
        raise UsageError(f"{option} works only with --to canvas and --to moodle. Leave it out")
    if name == "csv" and is_term(out):
        target = write_term(out, output, request.section)
        print(f"Wrote {target} (csv), the marks of the term.")
        return
    with Gradebook.open(out) as book:
        entries = in_section(book, request.section)
        forgotten = tuple(forgotten_names(book))
        request = replace(request, forgotten=forgotten, assignment=book.about("name"))
        target = write_export(
            entries, book.columns(), name, request=request, folder=book.folder, output=output
        )
        if request.section is None:
            note_export(book, name)
    print(f"Wrote {target} ({name}). {next_step}".rstrip())


def is_term(out: Path) -> bool:
    """Return whether a folder is that of a gradebook with assignments that have names."""
    with Gradebook.open(out, any_of=True) as book:
        return book.path.parent == out and any(book.assignments())


def write_term(out: Path, target: Path | None, section: str | None = None) -> Path:
    """Write the table of a term, by default beside the gradebook; return its path."""
    target = target or out / "term.csv"
    with Gradebook.open(out, any_of=True) as book:
        people, notes = term_people(book)
        if section is not None:
            refuse_unknown_section(section, {of for one in people for of in one.sections})
            people = [one for one in people if section in one.sections]
        with output(target) as file:
            for line in term_table(people, term_assignments(book)):
                file.write(line)
        for number in book.assignments().values() if section is None else ():
            note_export(book.at(number), "csv")
    print_notes(notes)
    return target


def in_section(book: Gradebook, section: str | None) -> Iterable[GradebookEntry]:
    """Return the entries of a section with its students alone, or all; raise UsageError if nobody
    is in it.
    """
    if section is None:
        return book.entries()
    refuse_unknown_section(section, {one for entry in book.entries() for one in entry.sections})
    return (
        replace(entry, students=entry.students_in(section))
        for entry in book.entries()
        if section in entry.sections
    )


def refuse_unknown_section(section: str, known: Collection[str]) -> None:
    if section not in known:
        raise UsageError(
            f"Nobody is in the section {section!r}. Sections of the roster:"
            f" {', '.join(sorted(known)) or 'none, because it has no column section'}"
        )


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
    form, notes = FORMATS[name], list[ExportNote]()
    target = output or folder / form.file
    if request.template is not None and target.exists() and target.samefile(request.template):
        raise UsageError(
            f"{target} is the template, which is not overwritten. Name another file with --output"
        )
    part = target.with_name(f"{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        pieces = without_notes(form.export(entries, columns, request), notes)
        if form.files:
            for piece in pieces:
                place = target / piece.path
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(piece.data)
        else:
            try:
                with part.open("wb") as stream:
                    for piece in pieces:
                        stream.write(piece.data)
                part.replace(target)
            finally:
                part.unlink(missing_ok=True)
    except OSError as error:
        # filename2 is the file that os.replace would replace: a table that is open in Excel.
        where = error.filename2 or error.filename or target
        raise UsageError(
            f"{where} can't be written: {error.strerror}. If another program has it open, close it;"
            " or name another file with --output"
        ) from None
    print_notes(notes)
    return target


def without_notes(pieces: Iterable[Piece | ExportNote], notes: list[ExportNote]) -> Iterator[Piece]:
    """Yield the pieces of files; collect the notes among them."""
    for piece in pieces:
        if isinstance(piece, ExportNote):
            notes.append(piece)
        else:
            yield piece


def print_notes(notes: Iterable[ExportNote]) -> None:
    """Print notes on standard error; a note about several people takes one line."""
    groups: dict[tuple[bool, str], list[str]] = {}
    for note in notes:
        groups.setdefault((note.important, note.text), []).append(note.who)
    for (important, text), people in sorted(groups.items(), key=lambda group: not group[0][0]):
        named = [who for who in people if who]
        who = f"{name_list(named, NAMED)}: " if named else ""
        print(f"{'look at this' if important else 'note'}: {clean(who + text)}", file=sys.stderr)


AFTER_FEEDBACK = {
    "moodle": "Upload it in Moodle: View all submissions, Upload multiple feedback files in a zip.",
    "canvas": "Upload it in Canvas: the assignment, Upload Submissions. Canvas lists the files"
    " that match no student.",
    "folder": "There is a page for each student of a graded submission.",
}

NOTHING = (
    "There is nothing to upload: no graded submission has the ids of a download from {system}."
    " For pages in a folder, use --to folder."
)


@click.command()
@click.argument("out", type=PATH)
@click.option(
    "--to",
    "system",
    required=True,
    type=click.Choice(list(AFTER_FEEDBACK)),
    help="The system that returns the pages.",
)
@click.option(
    "--template", type=PATH, help="For moodle: its grading worksheet, to match students exactly."
)
@click.option("--output", "target", type=PATH, help="Where to write it; by default into OUT.")
def feedback(out: Path, system: str, template: Path | None, target: Path | None) -> None:
    """Give students their pages: a zip that Moodle or Canvas takes back, or a folder.

    Example: grade feedback grades --to moodle
    """
    notes: list[ExportNote] = []
    with Gradebook.open(out) as book:
        name = "feedback" if system == "folder" else f"feedback-{system}.zip"
        target = target or book.folder / name
        entries, page_of = ready(book, notes), partial(page_bytes, book.folder, book)
        pieces: Iterator[Piece | ExportNote]
        if system == "moodle":
            sure = surely_persons(book)
            pieces = pages_for_moodle(entries, page_of, ExportRequest(template), sure)
        elif system == "canvas":
            pieces = files_for_canvas(entries, page_of, book.graded_text)
        else:
            pieces = pages_for_folder(entries, page_of)
        written = write_pages(without_notes(pieces, notes), target, zipped=system != "folder")
        table = target.with_name("feedback.csv")
        with output(table) as file:
            entries = (entry.public() for entry in book.entries())
            for line in comments_table(entries, book.columns()):
                file.write(line)
    print_notes(notes)
    following = AFTER_FEEDBACK[system] if written else NOTHING.format(system=system.capitalize())
    print(f"{target}: {counted(written, 'file')}. {following}")
    print(f"{table}: the points and a short text for each student.")


def ready(book: Gradebook, notes: list[ExportNote]) -> Iterator[PublicEntry]:
    """Yield the entries that have a verdict; note the other submissions."""
    for entry in book.entries():
        if entry.missing or entry.is_test:
            continue
        if entry.report is None:
            notes.append(ExportNote("nothing was graded, so there is no page", entry.label))
        elif entry.grader_faults:
            notes.append(ExportNote("not graded completely, so the page is left out", entry.label))
        else:
            yield entry.public()


def page_bytes(out: Path, book: Gradebook, name: str) -> bytes:
    """Return a submission's page; write it again if it is missing."""
    path = page_path(out, name)
    if not path.exists():
        rewrite_page(out, book, book.entry(name))
    return path.read_bytes()


def write_pages(pages: Iterator[Piece], target: Path, *, zipped: bool) -> int:
    """Write files into a zip or a folder; return their number."""
    count = 0
    if zipped:
        with output(target) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
            for page in pages:
                archive.writestr(page.path, page.data)
                count += 1
    else:
        for page in pages:
            with output(target / page.path, durable=False) as file:
                file.write(page.data)
            count += 1
    return count


Thing = TypeVar("Thing")
SIMILAR_PAGE = "similar.html"
LISTED = 10
"""How many pairs the terminal names; the page has all of them."""


@click.command()
@click.argument("out", type=PATH)
@click.option(
    "--against",
    type=PATH,
    metavar="OLD_OUT",
    help="Also compare with an earlier class: the folder of its gradebook.",
)
@click.option("--lesson", help="Only this lesson.")
@click.option(
    "--threshold",
    type=click.FloatRange(0.1, 1.0),
    default=0.6,
    show_default=True,
    help="The smallest share of common code to report.",
)
@course_option
def similar(out: Path, course_root: Path | None, **options: Any) -> None:
    """Show submissions that share code, side by side. This does not prove copying.

    Example: grade similar grades --against grades-last-year
    """
    show_similar(course(course_root), out, **options)


def show_similar(
    course: Course, out: Path, *, against: Path | None, lesson: str | None, threshold: float
) -> None:
    """Compare submissions by lesson, write the page, name the closest pairs.

    Raise UsageError for a lesson without submissions, or if there is nothing to compare.
    """
    library()
    if against is not None and against.exists() and out.exists() and against.samefile(out):
        raise UsageError(
            f"--against {against} is this class, which is compared anyway. Name the folder of an"
            " earlier class"
        )
    console = make_console(stderr=True)
    pairs: list[Pair] = []
    compared = 0
    with (
        say_what_is_left(console, out / SIMILAR_PAGE),
        Gradebook.open(out) as book,
        Gradebook.open(against) if against else contextlib.nullcontext() as older,
        Meter(console) as meter,
    ):
        graded = known_lessons(book, lesson)
        classes = [(book, wrong_answers(book), False)]
        if older:
            classes.append((older, wrong_answers(older), True))
        for one in [lesson] if lesson else graded:
            texts = [
                Text(owner, text, earlier, (owner, one) in wrong)
                for those, wrong, earlier in classes
                for owner, _, text in those.texts(one)
            ]
            compared += len(texts)
            track = partial(over_lesson, meter, one)
            stub, *known = known_texts(course.lesson(one))
            pairs += similar_pairs(one, texts, stub, known, threshold, track)
        labels = distinct_labels(book.entries())
    pairs.sort(key=rank)
    page = render_similar(
        pairs,
        labels,
        compared=compared,
        threshold=threshold,
        earlier=against.resolve().name if against else None,
    )
    with output(out / SIMILAR_PAGE) as file:
        file.write(page.encode("utf-8", "backslashreplace"))
    print_pairs(pairs, labels, out / SIMILAR_PAGE)


@contextlib.contextmanager
def say_what_is_left(console: Console, page: Path) -> Iterator[None]:
    """After Ctrl-C in the block, print whether there is a page from an earlier run."""
    try:
        yield
    except KeyboardInterrupt:
        console.print(
            Line(
                f"stopped; {clean(str(page))} is {'as it was' if page.exists() else 'not written'}"
            ),
            soft_wrap=True,
        )
        raise


def over_lesson(meter: Meter, lesson: str, what: str, things: Collection[Thing]) -> Iterator[Thing]:
    return meter.over(f"{lesson}: {what}", things)


def wrong_answers(book: Gradebook) -> set[tuple[str, str]]:
    """Return the submission and the lesson of each file in which a check found a mistake."""
    return {
        (entry.name, lesson.id)
        for entry in book.entries()
        for lesson in entry.lessons
        if is_wrong(lesson)
    }


def is_wrong(result: LessonResult) -> bool:
    """Return whether the file can't be loaded or fails a check that is not a bonus."""
    failed = (check.outcome.group == "wrong" and not check.bonus for check in result.checks)
    return result.status is LessonStatus.INVALID or any(failed)


def distinct_labels(entries: Iterable[GradebookEntry]) -> dict[str, str]:
    """Return the students of each submission by its name, which is added where they share theirs
    with others.
    """
    labels = {entry.name: entry.label for entry in entries}
    counts = Counter(labels.values())
    return {
        name: label if counts[label] == 1 else f"{label} ({name})" for name, label in labels.items()
    }


def known_texts(lesson: Lesson) -> Iterator[str]:
    """Yield code of a lesson that everybody may have: stub, reference, other right answers."""
    yield lesson.stub_text
    yield lesson.solution.read_text("utf-8") if lesson.solution.exists() else ""
    yield from (cell.source for cell in lesson.accepted)


def print_pairs(pairs: list[Pair], labels: dict[str, str], page: Path) -> None:
    console = make_console()
    if pairs:
        table = plain_table("lines", "shared", "lesson", "first", "second")
        for pair in pairs[:LISTED]:
            table.add_row(
                str(pair.lines),
                pair.same or f"{pair.share:.0%}",
                pair.lesson,
                label_of(pair.one, labels),
                with_others(pair, labels),
            )
        console.print(table)
    count = counted(len(pairs), "pair")
    if len(pairs) > LISTED:
        count += f" ({len(pairs) - LISTED} of them not in this table)"
    console.print(Line(f"{count} to look at: {page}"))


def with_others(pair: Pair, labels: dict[str, str]) -> Line:
    label = label_of(pair.other, labels)
    return label.append(f" and {len(pair.others)} more") if pair.others else label


def label_of(side: Side, labels: dict[str, str]) -> Line:
    return Line(
        clean(f"{side.owner} (earlier)" if side.earlier else labels.get(side.owner, side.owner))
    )
