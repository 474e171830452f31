"""Draw the benchmarks: a row has a bar for the subject and one for its baseline; the longer one
fills the row.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

WIDTH, ROW, LABELS, BAR = 900, 46, 330, 420


def plot(rows: Sequence[tuple[str, str, float, float]], title: str) -> str:
    """Return an SVG that can be read on a light and on a dark page.

    A row is (subject, baseline, seconds, seconds of the baseline).
    """
    height = 40 + ROW * len(rows)
    parts = [
        (
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}"'
            f' width="{WIDTH}" role="img"'
        ),
        ' font-family="sans-serif" font-size="12">',
        f"<title>{escape(title)}</title>",
        (
            "<style>text{fill:#24292f}.a{fill:#2f6f9f}.b{fill:#b8bfc6}"
            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.a{fill:#58a6ff}.b{fill:#57606a}}</style>"
        ),
        f'<text x="0" y="16" font-size="13">{escape(title)}</text>',
    ]
    for number, (what, against, seconds, baseline) in enumerate(rows):
        top, longest = 34 + ROW * number, max(seconds, baseline)
        for line, (name, value, kind) in enumerate(
            ((what, seconds, "a"), (against, baseline, "b"))
        ):
            y, length = top + 17 * line, max(2.0, BAR * value / longest)
            parts.append(
                f'<text x="{LABELS - 8}" y="{y + 11}" text-anchor="end">{escape(name)}</text>'
            )
            parts.append(
                f'<rect class="{kind}" x="{LABELS}" y="{y}" width="{length:.1f}" height="14"'
                ' rx="2"/>'
            )
            parts.append(
                f'<text x="{LABELS + length + 6:.1f}" y="{y + 11}">{in_words(value)}</text>'
            )
    return "\n".join([*parts, "</svg>"]) + "\n"


def in_words(seconds: float) -> str:
    """Return ``2.41 s``, ``134 ms`` or ``210 µs``."""
    for factor, unit in ((1, "s"), (1e3, "ms")):
        if seconds * factor >= 1:
            return f"{seconds * factor:.3g} {unit}"
    return f"{seconds * 1e6:.3g} µs"
