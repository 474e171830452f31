"""SVG elements and the measures of their text, shared by graphs, heat maps and plots.

Colors are CSS custom properties with a fallback, so they follow the page's theme. A page gets only
classes, because its policy refuses styles; a separate file contains its style sheets, which lie
beside the templates.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from rich.cells import cell_len, set_cell_size

from grader.core.files import inlined

CELL, SMALL_CELL = 7.9, 6.8
"""The width of a character in pixels, for any monospaced font of 13 px and of 11 px."""
LINE, SMALL_LINE = 18.0, 15.0
MAX_CELLS = 44


def drawing(
    kind: str,
    width: float,
    height: float,
    head: str,
    parts: Iterable[str],
    *,
    sheets: Sequence[str] = (),
) -> str:
    """Return the ``svg`` element with ``head``, its title and description, and these parts, a line
    each; empty ones are left out. A separate file needs style ``sheets``.
    """
    size = f'width="{width:.0f}" height="{height:.0f}" viewBox="0 0 {width:.0f} {height:.0f}"'
    begin = f'<svg xmlns="http://www.w3.org/2000/svg" class="{kind}" role="img" {size}>'
    style = element("style", inlined(*sheets)) if sheets else ""
    return "\n".join(filter(None, [begin, head, style, *parts, "</svg>"]))


def element(tag: str, *inside: str, **attributes: str | float) -> str:
    """Return an element; ``inside`` are elements, or text that is escaped.

    Floats get one decimal. ``class_`` stands for ``class``, ``fill_opacity`` for ``fill-opacity``.
    """
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{_number(value)}"'
        for name, value in attributes.items()
    )
    return f"<{tag}{named}>{''.join(inside)}</{tag}>" if inside else f"<{tag}{named}/>"


def _number(value: str | float) -> str:
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def titled(text: str) -> str:
    """Return the element that names the one around it for readers who point at it."""
    return element("title", escape(text))


def text_at(x: float, y: float, text: str, style: str) -> str:
    return element("text", escape(text), class_=style, x=x, y=y)


def short(text: str, cells: int = MAX_CELLS) -> str:
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1) + "…"
