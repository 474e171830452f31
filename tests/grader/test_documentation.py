"""The documentation: its form, links and command lines, and the parts that are generated from the
program.
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from structure_pictures import PICTURES, pictures

from grader.cli import cli
from grader.course.course import load_course

ROOT = Path(__file__).resolve().parents[2]
DOCS = sorted((ROOT / "grader" / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md", *DOCS]
PAGES += [ROOT / "grader" / "README.md", ROOT / "grader" / "classroom" / "README.md"]
PAGES += [ROOT / "tests" / "README.md", ROOT / "tests" / "attacks" / "README.md"]
NAMED = {"students", "instructors", "formats", "gradescope", "classroom50", "cluster", "authors"}
NAMED |= {"authoring", "autograd_notes", "engine", "commands", "security"}
BANNED = (
    "anew", "but for", "whoever", "of ours", "foretells", "none of the", "is no zip",
    "told in full", "so many as", "has a rest", "nobody notices", "wanting", "at home what",
)  # fmt: skip
"""Phrases that sound translated."""
LINK = re.compile(r"(?<!`)\[[^\]]*\]\(([^)\s]+)\)")
COMMAND = re.compile(r"^(?:\S*/)?grade (.*)$")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """Return a page without its blocks of code."""
    return re.sub(r"```.*?```", "", page.read_text("utf-8"), flags=re.DOTALL)


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as the code host makes them."""
    heads = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def test_each_page_that_was_promised_is_there() -> None:
    assert {page.stem for page in DOCS} == NAMED
    index = (ROOT / "README.md").read_text("utf-8")
    assert [page.stem for page in DOCS if f"(grader/docs/{page.name})" not in index] == []


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text("utf-8").splitlines()) <= 120


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in LINK.findall(prose(page)):
        if not link.startswith("http"):
            path, _, anchor = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_lines_fit_a_terminal(page: Path) -> None:
    """100 columns, except rows of tables and lines that are one long link."""
    too_long = [
        line
        for line in page.read_text("utf-8").splitlines()
        if len(line) > 100 and not line.startswith("|") and len(line.split()) > 2
    ]
    assert too_long == []


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_no_phrase_sounds_translated(page: Path) -> None:
    text = " ".join(prose(page).lower().split())
    assert [phrase for phrase in BANNED if re.search(rf"\b{phrase}\b", text)] == []


NO_CHECK = re.compile(r"No check: \S.*\.")
LESSON_LINK = re.compile(r"\[(\w+)\]\(\S+\)")


def rows_of_notes() -> Iterator[tuple[str, str, str]]:
    """Yield the rows about PyTorch's notes: a section, or none if it is that of the row above; a
    lesson; and the lesson's checks or the reason why there are none.
    """
    above = ""
    page = (ROOT / "grader" / "docs" / "autograd_notes.md").read_text("utf-8")
    for row in re.findall(r"^\|(.*)\|(.*)\|(.*)\|$", page, re.MULTILINE):
        section, lesson, last = map(str.strip, row)
        if section != "section" and not section.startswith("--"):
            above = section or above
            yield above, lesson, last


def test_each_section_of_pytorchs_notes_has_checks_or_a_reason() -> None:
    course, wrong, sections = load_course(ROOT), [], set()
    for section, link, last in rows_of_notes():
        sections.add(section)
        if not link:
            wrong += [] if NO_CHECK.fullmatch(last) else [(section, last)]
            continue
        found = LESSON_LINK.fullmatch(link)
        names = re.findall(r"`(\w+)`", last)
        assert found, link
        assert last == ", ".join(f"`{name}`" for name in names), section
        known = course.lesson(found[1]).check_names
        wrong += [(section, name) for name in names or ["no check"] if name not in known]
    assert wrong == []
    assert len(sections) > 40


@pytest.mark.parametrize("name", ["commands.md", "authoring.md"])
def test_a_generated_page_is_what_the_program_says(name: str) -> None:
    """If it is not, run ``python tests/documentation.py``."""
    page = subprocess.run(
        [sys.executable, str(ROOT / "tests" / "documentation.py"), "--print", name],
        stdout=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        check=True,
    )
    assert (ROOT / "grader" / "docs" / name).read_text("utf-8") == page.stdout


def command_lines(page: Path) -> Iterator[str]:
    """Yield what follows ``grade`` on each command line in a page's blocks and tables."""
    text = page.read_text("utf-8").replace("\\\n", " ")
    for block in re.findall(r"```\n(.*?)```", text, flags=re.DOTALL):
        if "▼" in block or "▶" in block:  # a drawing
            continue
        for line in block.splitlines():
            for part in line.split("  #")[0].split("&&"):
                if found := COMMAND.match(part.strip()):
                    yield found[1]
    for line in text.splitlines():
        if line.startswith("|"):
            yield from (code[6:] for code in re.findall(r"`(grade [^`]+)`", line))


USABLE = [page for page in PAGES if page.name not in ("commands.md", "CHANGELOG.md")]


@pytest.mark.parametrize(
    ("page", "line"),
    [(page, line) for page in USABLE for line in command_lines(page) if "…" not in line],
    ids=lambda value: value if isinstance(value, str) else name_of(value),
)
def test_every_command_line_names_a_command_and_its_options(page: Path, line: str) -> None:
    words = shlex.split(line)
    context = click.Context(cli, info_name="grade")
    command = cli.get_command(context, words[0]) if words[0] in cli.list_commands(context) else None
    command, words = (command, words[1:]) if command else (cli.get_command(context, "run"), words)
    assert command is not None
    known = {option for one in command.params for option in one.opts} | {"--help", "--version"}
    assert [word for word in words if word.startswith("--") and word not in known] == []


def test_the_pictures_of_packages_and_processes_are_those_of_the_source() -> None:
    """If they are not, run ``make pictures``."""
    assert {name: (PICTURES / name).read_text("utf-8") for name in pictures()} == pictures()
