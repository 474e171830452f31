"""Make the page of what a lesson can import, from the docstrings of ``grader.authoring``."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Iterator

from grader import authoring

HEAD = """# What checks, scenarios and rules can import

`python tests/documentation.py` writes this page from the docstrings of `grader.authoring`.
"""


def authoring_page() -> str:
    """Return the page: for each name its example, and what it says itself."""
    head, *parts = re.split(r"^``(\w+)``  +(.*)\n", authoring.__doc__ or "", flags=re.MULTILINE)
    intro, _, section = head.rstrip().rpartition("\n\n")
    about, file = intro.partition("In the examples")[2].split("::\n\n")
    lines = [HEAD, plain(f"In the examples{about}:") + "\n", fenced(file)]
    for name, what, rest in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        lines += [f"## {section}\n"] if section else []
        blocks = rest.strip("\n").split("\n\n")
        example = "\n\n".join(block for block in blocks if block.startswith("    "))
        section = next((one for one in blocks if re.fullmatch(r"[A-Z][\w ]+", one)), "")
        lines += [f"### {name}\n", plain(f"{what[0].upper()}{what[1:]}.") + "\n", fenced(example)]
        lines += own_text(getattr(authoring, name))
    return "\n".join(lines)


def own_text(thing: object) -> Iterator[str]:
    """Yield what a function or class of the engine says of itself, if that is more than a line."""
    if not getattr(thing, "__module__", "").startswith("grader."):
        return
    text = re.sub(r"\n*^>>> .*", "", inspect.getdoc(thing) or "", flags=re.DOTALL | re.MULTILINE)
    begun = inspect.getdoc(thing.__init__) if isinstance(thing, type) else None
    if begun and begun != inspect.getdoc(object.__init__):
        text += f"\n\n{begun}"
    paragraphs = [plain(one) for one in text.split("\n\n")]
    if len(text.splitlines()) > 1:
        yield "\n\n".join(paragraphs) + "\n"
    if thing in LISTED and isinstance(thing, type):
        methods = inspect.getmembers(thing, inspect.isfunction)
        for name, method in (one for one in methods if not one[0].startswith("_")):
            said = plain((inspect.getdoc(method) or "").split("\n\n")[0])
            line = f"* `{name}{signature_of(method)}`{': ' if said else ''}{said}"
            yield textwrap.fill(" ".join(line.split()), 100, subsequent_indent="  ")
        yield ""


LISTED = (authoring.RandomInputs, authoring.under_test, authoring.hands_on)
"""Classes whose methods the page lists."""


def plain(text: str) -> str:
    """Return a paragraph of a docstring in Markdown."""
    return textwrap.fill(" ".join(text.replace("``", "`").split()), 100, break_on_hyphens=False)


def signature_of(method: Callable[..., object]) -> str:
    names = []
    for one in inspect.signature(method).parameters.values():
        if one.kind is one.KEYWORD_ONLY and not any(name.startswith("*") for name in names):
            names.append("*")
        names.append(str(one).partition(":")[0])
    return f"({', '.join(name for name in names if name != 'self')})"


def fenced(code: str) -> str:
    return f"```python\n{textwrap.dedent(code).strip()}\n```\n"
