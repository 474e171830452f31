"""Show Python and a lesson's README: on a page as HTML, in a terminal as a comparison.

Python is colored by Pygments. A README's answers are folded, its pictures become data, and its
headings are below the lesson's.
"""

from __future__ import annotations

import base64
import difflib
import functools
import itertools
import re
from collections.abc import Callable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.cells import cell_len, chop_cells
from rich.text import Text

from grader.core.text import clean

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


CONTEXT = 3
"""How many lines are shown before and after the line in question."""
MAX_LINE = 400
MAX_LINES, MAX_CHARACTERS = 1000, 64 << 10
"""A longer file is shown without color, and is not compared."""
TEXTS_KEPT = 32
"""How many colored texts are remembered: a page shows each of its texts several times, and a class
has thousands of pages.
"""


@dataclass(frozen=True, slots=True)
class CodeLine:
    """A line of code: its number, its HTML, whether it is the line in question."""

    number: int
    code: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of a comparison: ``same``, ``changed``, or ``gap`` for omitted equal rows."""

    kind: str
    mine: CodeLine | None = None
    reference: CodeLine | None = None


@functools.lru_cache(TEXTS_KEPT)
def coloured(text: str, widest: int = MAX_LINE) -> tuple[str, ...]:
    """Return the lines of Python as HTML, cut where they are wider; spans have the style sheet's
    classes.
    """
    # pygments.lexers replaces itself during its import: a thread that waited for that import would
    # find no lexer.
    from pygments import highlight
    from pygments.formatters.html import HtmlFormatter
    from pygments.lexers.python import PythonLexer

    plain = [clean(line.rstrip("\r").expandtabs(4), widest) for line in text.split("\n")]
    if len(plain) > MAX_LINES or sum(map(len, plain)) > MAX_CHARACTERS:
        return tuple(escape(line) for line in plain)
    lexer = PythonLexer(stripnl=False, ensurenl=False)
    made = highlight("\n".join(plain), lexer, HtmlFormatter(nowrap=True)).split("\n")
    made += [""] * (len(plain) - len(made))
    return tuple(made[: len(plain)])


def excerpt(text: str, number: int) -> list[CodeLine]:
    """Return the line of that number with its neighbors, without blank lines at the ends."""
    lines, plain = coloured(text), text.split("\n")
    first, last = max(1, number - CONTEXT), min(len(lines), number + CONTEXT)
    while first < number and not plain[first - 1].strip():
        first += 1
    while last > number and not plain[last - 1].strip():
        last -= 1
    return [CodeLine(k, lines[k - 1], k == number) for k in range(first, last + 1)]


def beside(mine: str, reference: str) -> list[DiffRow]:
    """Return both files row by row near differences; nothing if they are equal or too long."""
    left, right = mine.rstrip().split("\n"), reference.rstrip().split("\n")
    if left == right or max(len(left), len(right)) > MAX_LINES:
        return []
    return list(_rows(left, right, coloured("\n".join(left)), coloured("\n".join(right))))


def _rows(
    left: list[str], right: list[str], mine: tuple[str, ...], reference: tuple[str, ...]
) -> Iterator[DiffRow]:
    groups = difflib.SequenceMatcher(a=left, b=right, autojunk=False).get_grouped_opcodes(CONTEXT)
    for number, group in enumerate(groups):
        if number or group[0][1] or group[0][3]:
            yield DiffRow("gap")
        for tag, i, after_i, j, after_j in group:
            ours = [CodeLine(k + 1, mine[k]) for k in range(i, after_i)]
            theirs = [CodeLine(k + 1, reference[k]) for k in range(j, after_j)]
            for pair in itertools.zip_longest(ours, theirs):
                yield DiffRow("same" if tag == "equal" else "changed", *pair)


STYLES = {"-": "red", "+": "green", "@": "cyan", " ": ""}


def compare(mine: str, reference: str, *, width: int) -> Iterator[Text]:
    """Yield ``-`` lines (learner's) and ``+`` lines (reference's); nothing if they agree."""
    lines = list(
        difflib.unified_diff(mine.splitlines(), reference.splitlines(), n=CONTEXT, lineterm="")
    )
    for line in lines[2:]:  # skip the two lines that name files
        if line.startswith("@@"):
            yield Text("⋯", "cyan")
            continue
        mark, rest = line[0], clean(line[1:].expandtabs(4))
        for number, piece in enumerate(folded(rest, width - 2)):
            yield Text(f"{mark if number == 0 else '↳'} {piece}", STYLES[mark])


NARROW = 8


def folded(line: str, width: int) -> list[str]:
    """Return a line of code in pieces that fit into a width, broken at spaces where that is
    possible. All pieces are indented like the line.
    """
    indentation = line[: len(line) - len(line.lstrip())]
    room = width - len(indentation)
    if room < NARROW:
        return chop_cells(line, max(NARROW, width)) or [""]
    pieces, rest = [], line.strip()
    while cell_len(rest) > room:
        whole = chop_cells(rest, room)[0]
        end = whole.rfind(" ") + 1 or len(whole)
        if rest[len(whole) : len(whole) + 1] == " ":
            end = len(whole)
        pieces.append(indentation + rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*pieces, indentation + rest]


FOLDED = re.compile(
    r"^<details>\s*<summary>(?P<head>.*?)</summary>\s*(?P<answers>.*?)\s*</details>",
    re.DOTALL | re.MULTILINE,
)
"""The answers at the end of a section, under their heading."""
LEVELS_DOWN = 2
"""How many levels a README's headings move down: the lesson's own heading has level three."""
MAX_README, MAX_PICTURE = 100_000, 200_000


@dataclass(frozen=True, slots=True)
class Readme:
    """A README's text, and the folder that has its pictures."""

    text: str
    folder: Path
    lang: str = "en"

    def html(self) -> str:
        """Return the HTML without the README's title, because the page shows the lesson's."""
        text = clean(self.text, MAX_README)
        parts, end = [], 0
        for found in FOLDED.finditer(text):
            head, answers = escape(found["head"]), self._rendered(found["answers"])
            fold = f'<details class="answers"><summary>{head}</summary>{answers}</details>'
            parts += [self._rendered(text[end : found.start()]), fold]
            end = found.end()
        return "".join([*parts, self._rendered(text[end:])])

    def _rendered(self, text: str) -> str:
        parser = markdown_parser()
        tokens = parser.parse(text)
        titles = [k for k, token in enumerate(tokens) if token.tag == "h1"]
        for k in reversed(titles[::2]):
            del tokens[k : k + 3]  # the heading's start, its text, its end
        for token in tokens:
            if token.type.startswith("heading_"):
                token.tag = f"h{min(6, int(token.tag[1]) + LEVELS_DOWN)}"
        made: str = parser.renderer.render(tokens, parser.options, {"folder": self.folder})
        return made


@functools.cache
def markdown_parser() -> MarkdownIt:
    """Return the parser: CommonMark with tables. HTML in the source is shown as text."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    rules: dict[str, Callable[..., str]] = {
        "image": _image,
        "link_open": _link_open,
        "fence": _code,
        "code_block": _code,
    }
    for name, rule in rules.items():
        parser.add_render_rule(name, _without_renderer(rule))
    return parser


def _without_renderer(rule: Callable[..., str]) -> Callable[..., str]:
    """Turn a function into a renderer method with the arguments that markdown-it passes."""

    def method(renderer: Any, tokens: Sequence[Token], index: int, options: Any, env: Any) -> str:
        return rule(tokens[index], env)

    return method


def _code(token: Token, env: object) -> str:
    text = token.content.rstrip("\n")
    python = token.info.strip() == "python"
    made = "\n".join(coloured(text)) if python else escape(text)
    return f'<pre class="code" tabindex="0">{made}</pre>\n'


def _link_open(token: Token, env: object) -> str:
    """Return the tag of a link to the web; a link to anywhere else becomes plain text."""
    address = str(token.attrGet("href") or "")
    if not address.startswith("https://"):
        return "<a>"
    return f'<a href="{escape(address)}" rel="noopener noreferrer">'


def _image(token: Token, env: MutableMapping[str, Any]) -> str:
    """Return a picture that is beside the README, as data; if it is missing, its description."""
    description = escape(token.content)
    path = env["folder"] / Path(str(token.attrGet("src") or "")).name
    try:
        picture = path.read_bytes() if path.suffix == ".svg" else b""
    except OSError:
        picture = b""
    if not picture or len(picture) > MAX_PICTURE:
        return f"<em>{description}</em>"
    data = base64.b64encode(picture).decode()
    return f'<img src="data:image/svg+xml;base64,{data}" alt="{description}">'
