"""Cut out the part of a student's file that one definition depends on."""

from __future__ import annotations

import ast

from grader.course.analysis.source import Source
from grader.course.stubs import first_line


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
