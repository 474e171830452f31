"""Render a lesson's README as HTML inside a page: answers folded, pictures as data, headings below
the lesson's.
"""

from __future__ import annotations

import base64
import functools
import re
from collections.abc import Callable, MutableMapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.core.text import clean
from grader.render.code import coloured

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FOLDED = re.compile(
    r"^<details><summary>(?P<head>.*?)</summary>\s*(?P<answers>.*?)\s*</details>",
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
