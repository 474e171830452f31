"""Write what the documentation takes from the program: the pages of all commands and of what a
lesson can import, the counts of checks and answers, and the pictures.

``python tests/documentation.py`` writes ``commands.md`` and ``authoring.md`` in ``grader/docs``,
which ``--print NAME`` prints, the table of lessons in ``exercises/README.md``, and the numbers of
``tests/README.md`` that can be counted without grading.
``--pictures`` (``make pictures``) also grades a known wrong answer and writes
``grader/docs/pictures``: the terminal as SVG by rich, the page as PNG by Chromium, which has to be
installed.
"""

from __future__ import annotations

import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click
from authoring_page import authoring_page
from click.testing import CliRunner
from rich.console import Console
from rich.text import Text

from grader.cli import cli
from grader.course.course import Course, Lesson, check_names, find_course, load_course
from grader.course.lesson_texts import read_catalogue
from grader.course.stubs import compose, without_markers
from grader.verify.case_result import spoiler_pairs

ROOT = Path(__file__).resolve().parent.parent
DOCS, PROOFS = ROOT / "grader" / "docs", ROOT / "tests" / "README.md"
COURSE_README = ROOT / "exercises" / "README.md"
PINNED = dict(
    line.split("==")
    for line in (ROOT / ".ci" / "constraints.txt").read_text("utf-8").splitlines()
    if "==" in line
)
PICTURES = DOCS / "pictures"
COLUMNS = 88
FONTS = re.compile(r"@font-face \{.*?\}\s*", re.DOTALL)
ON_TERMINAL = ("custom_sigmoid", "ignores_grad_output")
ON_PAGE = ("custom_sigmoid", "ignores_grad_output")
"""A lesson and one of its known mistakes, for each picture."""
HEAD = "What `grade COMMAND --help` prints. `python tests/documentation.py` writes this page."


def commands_page() -> str:
    """Return the page of all commands, in the order of ``grade --help``."""
    parts = [f"# Commands\n\n{HEAD}\n"]
    parts += [f"## {name}\n\n```\n{text.strip()}\n```\n" for name, text in help_texts()]
    return "\n".join(parts)


def help_texts() -> Iterator[tuple[str, str]]:
    """Yield the name and the help text of ``grade`` and of each command."""
    runner = CliRunner(env={"GRADE_LANG": "en", "COLUMNS": str(COLUMNS)})
    context = click.Context(cli, info_name="grade")
    for name in ["", *cli.list_commands(context)]:
        command = cli.get_command(context, name) if name else cli
        if command is not None and not command.hidden:
            words = [name] if name else []
            said = runner.invoke(cli, [*words, "--help"], prog_name="grade", terminal_width=COLUMNS)
            yield " ".join(["grade", *words]), said.output


LESSONS = re.compile(r"^\| part \| lesson \|.*\n(?:\|.*\n)+", re.MULTILINE)
"""The table of lessons."""


def with_lessons(text: str, course: Course) -> str:
    """Return the text of ``exercises/README.md`` with the lessons of today."""
    rows = [
        "| part | lesson | what it is about | builds on | takes about |",
        "|---|---|---|---|---|",
    ]
    for group in course.groups:
        for name in group.lessons:
            lesson = course.lesson(name)
            core = " (core)" if name in course.core else ""
            cells = [
                group.title if name == group.lessons[0] else "",
                f"[{name}]({name}/README.md){core}",
                lesson.summary.removesuffix("."),
                ", ".join(lesson.builds_on),
                f"{lesson.minutes} min",
            ]
            rows.append(f"| {' | '.join(cells)} |")
    return LESSONS.sub("\n".join(rows) + "\n", text)


ROW = re.compile(r"^\| [a-z]\w* \| \d+ \| .* of .* \|\n", re.MULTILINE)
"""A row of the table of checks and answers."""


def counts(lesson: Lesson) -> list[int]:
    """Return the numbers of checks, wrong answers, near misses and other right answers, with the
    pinned versions.
    """
    checks = [name for path in lesson.check_files for name in check_names(path.read_text("utf-8"))]
    catalogues = (lesson.mistakes, lesson.near_misses, lesson.accepted)
    return [
        len(checks),
        *(sum(cell.applies(PINNED.__getitem__) for cell in cells) for cells in catalogues),
    ]


def with_counts(text: str, course: Course) -> str:
    """Return the text of ``tests/README.md`` with the numbers of today."""
    counted = {lesson: counts(lesson) for lesson in course.lessons}
    rows = []
    for lesson, (checks, mistakes, near_misses, accepted) in counted.items():
        promises = sum(bool(one.terms.checks) for one in lesson.contract)
        parts = (mistakes, mistakes, near_misses, accepted, promises)
        cells = [lesson.id, str(checks), *(f"{number} of {number}" for number in parts)]
        rows.append(f"| {' | '.join(cells)} |\n")
    found = list(ROW.finditer(text))
    text = text[: found[0].start()] + "".join(rows) + text[found[-1].end() :]
    checks, mistakes, near_misses, accepted = map(sum, zip(*counted.values(), strict=True))
    generated = sum(len(pair) for lesson in course.lessons for pair in spoiler_pairs(lesson))
    gradings = 20 * (2 * len(course.lessons) + mistakes + near_misses + accepted + generated)
    for pattern, number in (
        (r"[\d,]+(?=\schecks,\s[\d,]+\swrong\sanswers,)", checks),
        (r"[\d,]+(?=\swrong\sanswers,\s[\d,]+\snear\smisses)", mistakes),
        (r"[\d,]+(?=\snear\smisses\sand\s[\d,]+\sother\sright\sanswers)", near_misses),
        (r"[\d,]+(?=\sother\sright\sanswers\.)", accepted),
        (r"[\d,]+(?=\sgenerated\sanswers)", generated),
        (r"[\d,]+(?=\sgradings\sfrom\s20\sseeds)", gradings),
    ):
        text, times = re.subn(pattern, f"{number:,}", text)
        assert times == 1, (pattern, times)
    return text


def wrong_answer(lesson: Lesson, mistake: str) -> str:
    """Return the file of somebody who makes a known mistake."""
    cells = {cell.label: cell.source for cell in read_catalogue(lesson.mistakes_file)}
    solution = without_markers(lesson.solution.read_text("utf-8"))
    return compose(solution, cells[mistake], name=lesson.id)


def graded(folder: Path, name: str, mistake: str) -> tuple[str, Path]:
    """Grade a known mistake; return what the terminal shows, and the page."""
    lesson = load_course(find_course()).lesson(name)
    (folder / lesson.filename).write_text(wrong_answer(lesson, mistake), "utf-8")
    page = folder / "report.html"
    page.unlink(missing_ok=True)
    said = subprocess.run(
        [sys.executable, "-m", "grader", name, "--seed", "5", "--lang", "en", "--html", page.name],
        cwd=folder,
        env={**os.environ, "FORCE_COLOR": "1", "COLUMNS": "80", "TERM": "xterm-256color"},
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=False,
    )
    return said.stdout, page


def draw_terminal(folder: Path) -> None:
    """Write ``terminal.svg``."""
    said, _ = graded(folder, *ON_TERMINAL)
    console = Console(record=True, width=86, file=io.StringIO(), force_terminal=True)
    console.print(Text(f"$ grade {ON_TERMINAL[0]}"))
    console.print(Text.from_ansi(said.rstrip()))
    drawn = console.export_svg(title="my-work", unique_id="terminal")
    drawn = FONTS.sub("", drawn).replace("Fira Code", "ui-monospace")  # nothing from the network
    (PICTURES / "terminal.svg").write_text(drawn, "utf-8", newline="\n")


def draw_page(folder: Path) -> None:
    """Write ``report.png``, in the light theme."""
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("Chromium is not installed. On Debian: apt-get install chromium")
    _, page = graded(folder, *ON_PAGE)
    subprocess.run(
        [
            chromium,
            "--headless",
            "--no-sandbox",
            "--hide-scrollbars",
            "--window-size=860,980",
            f"--screenshot={PICTURES / 'report.png'}",
            page.as_uri(),
        ],
        check=True,
        stderr=subprocess.DEVNULL,
    )


GENERATED = {"commands.md": commands_page, "authoring.md": authoring_page}


def main(words: list[str]) -> None:
    if words[:1] == ["--print"]:
        print(GENERATED[words[1]](), end="")
        return
    for name, page in GENERATED.items():
        (DOCS / name).write_text(page(), "utf-8", newline="\n")
    lessons = with_lessons(COURSE_README.read_text("utf-8"), load_course(find_course()))
    COURSE_README.write_text(lessons, "utf-8", newline="\n")
    proofs = with_counts(PROOFS.read_text("utf-8"), load_course(find_course()))
    PROOFS.write_text(proofs, "utf-8", newline="\n")
    if "--pictures" in words:
        PICTURES.mkdir(exist_ok=True)
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place, "my-work")
            folder.mkdir()
            draw_terminal(folder)
            draw_page(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
