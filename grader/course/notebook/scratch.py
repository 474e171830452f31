"""Read scratch cells of a notebook, in which students try their functions.

They are not graded. A kernel runs them too, so a function may rely on an import or a helper in a
scratch cell. Such definitions are kept if the other cells lack them: imports, functions, classes,
literal values. Nothing that runs code is kept, so a scratch cell can neither cost points nor take
time.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator, Sequence

from grader.course.analysis.definitions import defined_names, is_docstring
from grader.course.analysis.scopes import DEFINING, FUNCTIONS, bound_names, imported, imports_in

SCRATCH = "scratch"
"""How the comment on the first line of a scratch cell begins."""
SCRATCH_TAG = "scratch"
FIRST_LINE = re.compile(r"\s*#\s*scratch\b", re.IGNORECASE)


def is_scratch(code: str, tags: Iterable[str]) -> bool:
    return SCRATCH_TAG in tags or FIRST_LINE.match(code) is not None


def kept_lines(graded: Sequence[list[str]], scratch: Sequence[list[str]]) -> list[list[str]]:
    """Return the lines of scratch cells, empty except for statements that the others need."""
    body = [node for lines in graded for node in statements(lines)]
    written = set(imports_in(body)) | set(
        bound_names(ast.Module([node for node in body if not is_stub(node)], []))
    )
    used = names_in(body)
    candidates = [(cell, node) for cell, lines in enumerate(scratch) for node in statements(lines)]
    offered = {name for _, node in candidates for name in names_bound(node)}
    known = written | offered | set(dir(builtins)) | set(bound_names(ast.Module(body, [])))
    kept: dict[ast.stmt, int] = {}
    # Only imports depend on what else is kept, and they use no names, so this ends in two rounds.
    while more := {
        node: cell
        for cell, node in candidates
        if node not in kept and wanted(node, written, used, known)
    }:
        kept |= more
        used |= names_in(more)
    result = [[""] * len(lines) for lines in scratch]
    for node, cell in kept.items():
        lines = slice(first_line(node) - 1, node.end_lineno)
        result[cell][lines] = scratch[cell][lines]
    return result


def statements(lines: list[str]) -> list[ast.stmt]:
    """Return a cell's statements, each on separate lines; none if it is not Python."""
    try:
        body = ast.parse("\n".join(lines)).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    taken = [(first_line(node), node.end_lineno or 0) for node in body]
    return [
        node
        for number, node in enumerate(body)
        if (number == 0 or taken[number - 1][1] < taken[number][0])
        and (number + 1 == len(body) or taken[number][1] < taken[number + 1][0])
    ]


def first_line(node: ast.stmt) -> int:
    decorators = node.decorator_list if isinstance(node, DEFINING) else []
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def names_bound(node: ast.stmt) -> list[str]:
    """Return the names that a statement binds if it may be kept; none for any other statement."""
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [name for name, _ in imported(node)]
    if isinstance(node, DEFINING) or (
        isinstance(node, ast.Assign | ast.AnnAssign) and is_literal(node.value)
    ):
        return defined_names(node)
    return []


def is_literal(node: ast.expr | None) -> bool:
    try:
        ast.literal_eval(node or ast.Name(""))
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True


def wanted(node: ast.stmt, written: set[str], used: set[str], known: set[str]) -> bool:
    """Return whether a scratch cell's statement is to be kept: nothing else defines its names, and
    it can't raise.
    """
    names = names_bound(node)
    if not names or written & set(names):
        return False
    if isinstance(node, ast.Import | ast.ImportFrom):
        return not used.isdisjoint(names)
    return names_in(evaluated_at_once(node)) <= known


def evaluated_at_once(node: ast.stmt) -> Iterator[ast.AST]:
    """Yield what is evaluated when a definition is reached, without the bodies of functions."""
    if isinstance(node, FUNCTIONS):
        yield from (*node.decorator_list, node.args)
        yield from [node.returns] if node.returns else []
    elif isinstance(node, ast.ClassDef):
        yield from (*node.decorator_list, *node.bases, *node.keywords)
        own = bound_names(node)
        for part in node.body:
            for inner in evaluated_at_once(part):
                if not (isinstance(inner, ast.Name) and inner.id in own):
                    yield inner
    else:
        yield node


def names_in(nodes: Iterable[ast.AST]) -> set[str]:
    """Return every name that is read anywhere in the nodes."""
    return {
        part.id
        for node in nodes
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Load)
    }


def is_stub(node: ast.stmt) -> bool:
    """Return whether a definition is still the stub's: it raises NotImplementedError, or is
    ``...``.
    """
    if isinstance(node, FUNCTIONS):
        return all(
            isinstance(part, ast.Raise) and names_in([part]) == {"NotImplementedError"}
            for part in node.body
            if not is_docstring(part)
        )
    if isinstance(node, ast.ClassDef):
        methods = [part for part in node.body if isinstance(part, FUNCTIONS)]
        return bool(methods) and all(map(is_stub, methods))
    if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
        return any(
            isinstance(part, ast.Constant) and part.value is ... for part in ast.walk(node.value)
        )
    return False
