"""Make the stub of a solution, and variants of a solution from fragments.

A solution marks what the student is to write, from ``# solution`` to ``# end solution``. The stub
has ``raise NotImplementedError`` there; or, where the region begins with ``# stub:`` lines, the
text of those; or nothing, if the region is at the top level and has no such lines (helpers of the
solution). Blank lines that a formatter put around the region are dropped.

A *fragment* (a cell of a catalogue of answers) contains only the definitions in which it differs
from the solution; ``compose`` puts them in place of the solution's. A class whose body begins with
``...`` contains only the part in which it differs. ``excerpt`` cuts out the part of a student's
file that one definition depends on.
"""

from __future__ import annotations

import ast
import itertools
import json
import unicodedata
from collections.abc import Callable, Iterator

from grader.core.errors import CourseError
from grader.core.i18n import Catalogue
from grader.course.lesson_texts import DOCUMENTED, compared_form, sentences_in
from grader.course.source import Source, defined_names, first_line, is_docstring

WIDTH = 79
"""Columns of a stub: a terminal's, less one for the sign of an editor."""
HEADER = (
    "Run `grade {lesson}` to check your work, `grade hint {lesson}` for a hint.",
    "What holds in every lesson is in ../README.md.",
)
QUOTES = '"""'
BEGIN, END, STUB = "# solution", "# end solution", "# stub:"
NOT_WRITTEN = "raise NotImplementedError"


def stub_of(solution: str, *, name: str) -> str:
    """Return the stub for a solution; raise CourseError for unpaired markers, and where it is not
    Python.
    """
    out: list[str] = []
    region: list[str] | None = None
    indent = ""
    spare = 0  # blank lines before a region without a trace; as many after it are dropped
    for number, line in enumerate(solution.splitlines(), 1):
        marker = line.strip()
        if marker == BEGIN:
            if region is not None:
                raise CourseError(f"{name}:{number}: a region begins inside another")
            region, indent = [], line[: len(line) - len(line.lstrip())]
        elif marker == END:
            if region is None:
                raise CourseError(f"{name}:{number}: a region ends that never began")
            put = replacement(region, indent)
            if put == [indent + NOT_WRITTEN]:
                drop_blank_lines(out)
            spare = 0 if put else blank_lines_at_end(out)
            out += put
            region = None
        elif region is not None:
            region.append(line)
        elif spare and not marker:
            spare -= 1
        else:
            spare = 0
            out.append(line)
    if region is not None:
        raise CourseError(f"{name}: the last region has no {END!r}")
    try:
        ast.parse(solution)
    except SyntaxError as error:
        raise CourseError(f"{name}:{error.lineno}: {error.msg}") from None
    drop_blank_lines(out)
    return "\n".join(out) + "\n"


def drop_blank_lines(lines: list[str]) -> None:
    del lines[len(lines) - blank_lines_at_end(lines) :]


def blank_lines_at_end(lines: list[str]) -> int:
    return next((n for n, line in enumerate(reversed(lines)) if line.strip()), len(lines))


def runnable(stub: str, message: str) -> str:
    """Return a stub that prints a sentence if it is run as a script: how to grade it."""
    if "__main__" in stub:
        return stub
    text = json.dumps(message, ensure_ascii=False)
    return f'{stub.rstrip()}\n\n\nif __name__ == "__main__":\n    print({text})\n'


def header(lesson: str) -> str:
    """Return the sentences with which the first docstring of each stub ends."""
    return " ".join(HEADER).format(lesson=lesson)


def stub_in(tr: Catalogue, stub: str, lesson: str) -> str:
    """Return a stub in another language: docstrings and comments, sentence by sentence."""
    known = {compared_form(text): said for text, said in tr.texts.items()}
    known |= {compared_form(one.format(lesson=lesson)): tr(one, lesson=lesson) for one in HEADER}

    def said(sentence: str) -> str:
        return known.get(compared_form(sentence)) or tr(sentence)

    lines = stub.splitlines()
    for start, end, indent, text, opening in _texts(stub):
        mark = indent if opening else "# "
        blocks = (opening + text).split("\n\n")
        wrapped = "\n\n".join(_said(block, said, WIDTH - len(mark)) for block in blocks)
        if opening:
            fits = "\n" not in wrapped and columns(indent + wrapped) + len(opening) <= WIDTH
            wrapped += opening if fits else f"\n{opening}"
        lines[start:end] = [f"{mark}{line}".rstrip() for line in wrapped.splitlines()]
    return "\n".join(lines) + "\n"


def _texts(stub: str) -> Iterator[tuple[int, int, str, str, str]]:
    """Yield docstrings and comments at the top level, the last first: their lines, from and up to,
    their indentation, their text, and the quotes of a docstring.
    """
    lines, found = stub.splitlines(), []
    tree = ast.parse(stub)
    for node in (tree, *(one for one in ast.walk(tree) if isinstance(one, DOCUMENTED))):
        if node.body and is_docstring(node.body[0]):
            at, text = node.body[0], ast.get_docstring(node) or ""
            found.append((at.lineno - 1, at.end_lineno or 0, " " * at.col_offset, text, QUOTES))
    for is_comment, group in itertools.groupby(enumerate(lines), lambda one: one[1][:1] == "#"):
        if is_comment:
            block = list(group)
            text = "\n".join(line[1:].removeprefix(" ") for _, line in block)
            found.append((block[0][0], block[-1][0] + 1, "", text, ""))
    yield from sorted(found, reverse=True)


def _said(block: str, said: Callable[[str], str], width: int) -> str:
    """Return a paragraph in the other language, wrapped; code and lists as they are."""
    if block.startswith(("* ", "- ")) or any(one.startswith("    ") for one in block.splitlines()):
        return block
    opening = QUOTES if block.startswith(QUOTES) else ""
    sentences = map(said, sentences_in(block.removeprefix(opening)))
    lines = [""]
    for word in f"{opening}{' '.join(sentences)}".split(" "):
        if lines[-1] and columns(f"{lines[-1]} {word}") > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}".lstrip()
    return "\n".join(lines)


def columns(text: str) -> int:
    """Return how many columns of a terminal a text takes; Korean letters take two."""
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in text)


def replacement(region: list[str], indent: str) -> list[str]:
    given = [
        line.strip()[len(STUB) :].removeprefix(" ")
        for line in region
        if line.strip().startswith(STUB)
    ]
    if given:
        return [(indent + line).rstrip() for line in given]
    return [indent + NOT_WRITTEN] if indent else []


def without_markers(solution: str) -> str:
    lines = solution.splitlines()
    kept = [
        line
        for line in lines
        if line.strip() not in (BEGIN, END) and not line.strip().startswith(STUB)
    ]
    return "\n".join(kept) + "\n"


def regions(solution: str) -> Iterator[tuple[str, ...]]:
    """Yield the lines of each region that students write, without indentation, comments, stub."""
    region: list[str] | None = None
    for line in solution.splitlines():
        text = line.strip()
        if text == BEGIN:
            region = []
        elif text == END:
            if region:
                yield tuple(region)
            region = None
        elif region is not None and text and not text.startswith((STUB, "#")):
            region.append(text)


def copied_region(text: str, solution: str, *, whole_lines: bool = False) -> str | None:
    """Return the first line of a region of the solution, if a text contains all of the region."""
    stripped = "\n".join(line.strip() for line in ["", *text.splitlines(), ""])
    edge = "\n" if whole_lines else ""
    copied = (one for one in regions(solution) if edge + "\n".join(one) + edge in stripped)
    return next((region[0] for region in copied), None)


def compose(solution: str, fragment: str, *, name: str) -> str:
    """Return the solution with a fragment's top-level definitions in place of its own.

    What else the fragment has (imports, helpers) goes before the first definition. Raise
    CourseError if it is not valid Python.
    """
    try:
        old, new = ast.parse(solution), ast.parse(fragment)
    except SyntaxError as error:
        raise CourseError(f"{name}:{error.lineno}: {error.msg}") from None
    lines = solution.splitlines()
    return (
        "\n".join(
            _composed(lines, old.body, fragment.splitlines(), new.body, 0, len(lines))
        ).rstrip("\n")
        + "\n"
    )


def _composed(
    lines: list[str],
    old: list[ast.stmt],
    pieces: list[str],
    new: list[ast.stmt],
    start: int,
    end: int,
) -> list[str]:
    """Return lines from ``start`` to ``end``, with the statements ``old`` replaced by ``new``."""
    place = {name: number for number, node in enumerate(old) for name in defined_names(node)}
    mine: dict[int, list[str]] = {}
    first: list[str] = []
    added: list[str] = []
    redefined: set[str] = set()
    for node in new:
        text = pieces[first_line(node) - 1 : node.end_lineno]
        known = [name for name in defined_names(node) if name in place]
        if known:
            number = max(place[name] for name in known)
            before = old[number]
            if (
                isinstance(node, ast.ClassDef)
                and isinstance(before, ast.ClassDef)
                and ast.unparse(node.body[0]) == "..."
            ):
                text = _composed(
                    lines,
                    before.body,
                    pieces,
                    node.body[1:],
                    first_line(before) - 1,
                    before.end_lineno or end,
                )
            mine.setdefault(number, []).extend(text)
            redefined |= set(known)
        elif isinstance(node, ast.ImportFrom) and node.module == "__future__":
            first += text
        elif not is_docstring(node):
            added += [*text, ""]
    out: list[str] = []
    position = start
    for number, node in enumerate(old):
        names = set(defined_names(node))
        out += lines[position : first_line(node) - 1]
        position = node.end_lineno or position
        if first and not is_docstring(node):
            out, first = [*out, *first], []
        if names and added:
            out, added = [*out, *added], []
        if not names or not names <= redefined:
            out += lines[first_line(node) - 1 : position]
        out += mine.get(number, [])
    return [*out, *lines[position:end], *first, *added]


def excerpt(text: str, name: str, *, imports: bool = False) -> str:
    """Return the source of a definition and of the file's other definitions that it uses, in the
    file's order. With ``imports``, import statements come first. Empty if it is not defined.
    """
    source = Source(text, "")
    if name not in source.definitions:
        return ""
    used = {name, *(one.split(".")[0] for one in source.names_used(name))}
    wanted = {id(node) for one, node in source.definitions.items() if one in used}
    lines = text.splitlines()
    return "\n\n\n".join(
        "\n".join(lines[first_line(node) - 1 : node.end_lineno])
        for node in source.tree.body
        if id(node) in wanted or (imports and isinstance(node, ast.Import | ast.ImportFrom))
    )
