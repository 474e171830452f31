"""Definitions and names of a student's file, by static analysis. The file is never executed."""

from __future__ import annotations

import ast
import bisect
import functools
from collections.abc import Collection
from dataclasses import dataclass

from grader.course.analysis.definitions import Definition, defined_names, is_docstring, same_tree
from grader.course.analysis.references import References
from grader.course.analysis.scopes import DEFINING, FUNCTIONS, bound_names, imported

MAX_SYNTAX_NODES = 20_000
"""How many nodes a file's syntax tree may have; the longest solution of the course has 750."""
MAX_LINE = 400
"""How many characters of a line a report shows."""


@dataclass(frozen=True)
class Source:
    """A file's text and name. ``cells`` has a notebook's cell numbers and first lines."""

    text: str
    filename: str
    cells: tuple[tuple[int, int], ...] = ()

    @property
    def module(self) -> str:
        return self.filename.rsplit(".", 1)[0]

    @property
    def tree(self) -> ast.Module:
        """The syntax tree; an empty one if the text is not Python."""
        root = self.nodes[0]
        assert isinstance(root, ast.Module)
        return root

    @property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, in the order of ``ast.walk``."""
        return self._parsed[0]

    @property
    def too_long(self) -> bool:
        """Whether the text is Python, but over ``MAX_SYNTAX_NODES``."""
        return self._parsed[1]

    @functools.cached_property
    def _parsed(self) -> tuple[list[ast.AST], bool]:
        """The nodes, and whether they were too many."""
        nothing: list[ast.AST] = [ast.Module(body=[], type_ignores=[])]
        try:
            found: list[ast.AST] = [ast.parse(self.text)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return nothing, False
        for node in found:  # the list grows during the loop
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(value, list):
                    found += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    found.append(value)
            if len(found) > MAX_SYNTAX_NODES:
                return nothing, True
        return found, False

    @functools.cached_property
    def error_column(self) -> tuple[int, int] | None:
        """The line of a syntax error, and its column in that line's text without indentation."""
        try:
            ast.parse(self.text)
        except SyntaxError as error:
            line, column = error.lineno, error.offset
        except (ValueError, RecursionError, MemoryError):
            return None
        else:
            return None
        if not line or not column or line > len(self.lines):
            return None
        whole = self.lines[line - 1]
        indentation = len(whole) - len(whole.lstrip())
        return line, max(1, min(column - indentation, len(whole.strip()) + 1))

    @property
    def unreadable(self) -> bool:
        """Whether the text can't be parsed: not Python, too
        deeply nested, or over ``MAX_SYNTAX_NODES``.
        """
        return bool(self.text.strip()) and not self.tree.body

    @functools.cached_property
    def definitions(self) -> dict[str, Definition]:
        return {
            name: node
            for node in self.tree.body
            if isinstance(node, Definition)
            for name in defined_names(node)
        }

    @functools.cached_property
    def imports(self) -> dict[str, str]:
        """What imports anywhere in the file stand for: ``{"F": "torch.nn.functional"}``."""
        return dict(
            pair
            for node in self.nodes
            if isinstance(node, ast.Import | ast.ImportFrom)
            for pair in imported(node)
        )

    @functools.cached_property
    def lines(self) -> list[str]:
        """The text's lines as Python counts them: not ``splitlines``, which also splits at form
        feeds and Unicode separators.
        """
        return self.text.split("\n")

    def line(self, number: int | None) -> str:
        """Return a line's text without indentation; empty if there is no such line."""
        return self.lines[number - 1].strip() if number and 0 < number <= len(self.lines) else ""

    def shown(self, number: int | None) -> str | None:
        """Return as much of a line as a report shows; None if there is nothing."""
        return self.line(number)[:MAX_LINE] or None

    def in_cell(self, number: int) -> tuple[int | None, int]:
        """Return the notebook's cell and the line in it; (None, ``line``) for a file."""
        if not self.cells:
            return None, number
        cell, first = self.cells[
            max(0, bisect.bisect_right(self.cells, number, key=lambda cell: cell[1]) - 1)
        ]
        return cell, max(1, number - first + 1)

    def place(self, number: int) -> str:
        """Return ``custom_sigmoid.py:14``, or ``custom_sigmoid.ipynb, cell 4, line 2``."""
        cell, line = self.in_cell(number)
        if cell is None:
            return f"{self.filename}:{line}"
        return f"{self.filename}, cell {cell}, line {line}"

    def anchor(self, path: str, *, header: bool = False) -> int | None:
        """Return the line to show for ``sigmoid`` or ``Sigmoid.backward``: its only return, if each
        call that raises nothing ends there.

        For a class, with ``header`` or otherwise, it is the first line. A missing method counts as
        its class; None if there is no such definition.
        """
        node = self._definition(path)
        returns = [] if header else _returns(node)
        if len(returns) == 1 and _last(node) is returns[0]:
            return returns[0].lineno
        return getattr(node, "lineno", None)

    def return_lines(self, path: str) -> set[int]:
        """Return the lines of a function's returns."""
        return {one.lineno for one in _returns(self._definition(path))}

    def _definition(self, path: str) -> ast.AST | None:
        """Return the definition of ``sigmoid`` or ``Sigmoid.backward``; of a missing method, its
        class.
        """
        head, _, member = path.partition(".")
        node = self.definitions.get(head)
        if isinstance(node, ast.ClassDef) and member:
            methods = (one for one in node.body if isinstance(one, ast.FunctionDef))
            return next((one for one in methods if one.name == member), node)
        return node

    def entry(self, name: str, keys: Collection[object]) -> int | None:
        """Return the line of the only entry of a dictionary that has one of these keys, if any."""
        match self.definitions.get(name):
            case (
                ast.Assign(value=ast.Dict(keys=written))
                | ast.AnnAssign(value=ast.Dict(keys=written))
            ):
                constants = [key for key in written if isinstance(key, ast.Constant)]
                lines = {key.lineno for key in constants if key.value in keys}
                return lines.pop() if len(lines) == 1 else None
        return None

    @functools.cached_property
    def _references(self) -> References:
        return References(self.tree.body, self.definitions)

    def names_used(self, *names: str) -> dict[str, int]:
        """Return what definitions refer to; see ``References.names_used``."""
        return self._references.names_used(*names)

    def is_bare_raise(self, line: int) -> bool:
        """Return whether that line is all that some function does, apart from a docstring, as in a
        stub.
        """
        functions = [node for node in self.nodes if isinstance(node, FUNCTIONS)]
        return any(
            node.body[-1].lineno == line and all(map(is_docstring, node.body[:-1]))
            for node in functions
        )

    def end_of_definitions(self, asked: Collection[str]) -> int:
        """Return the last line on which something is defined that counts: a function or class, an
        import, a name in ``asked``, or one that a function or class reads.
        """
        defining = [node for node in self.tree.body if isinstance(node, DEFINING)]
        read = {node.id for one in defining for node in ast.walk(one) if isinstance(node, ast.Name)}
        counts = read | {*asked}
        return max(
            (
                node.end_lineno or node.lineno
                for node in self.tree.body
                if isinstance(node, (*DEFINING, ast.Import, ast.ImportFrom))
                or counts.intersection(bound_names(ast.Module(body=[node], type_ignores=[])))
            ),
            default=0,
        )

    def may_be_changed(self, name: str) -> bool:
        """Return whether other statements may change the value of ``name``."""
        if isinstance(self.definitions.get(name), DEFINING):
            rest = [node for node in self.tree.body if not isinstance(node, Definition)]
            return name in bound_names(ast.Module(body=rest, type_ignores=[]))
        return sum(isinstance(node, ast.Name) and node.id == name for node in self.nodes) > 1

    def same_definition(self, other: Source, name: str) -> bool:
        """Return whether both files define ``name`` alike, ignoring docstrings and layout."""
        mine, theirs = self.definitions.get(name), other.definitions.get(name)
        return mine is not None and theirs is not None and same_tree(mine, theirs)


def _returns(node: ast.AST | None) -> list[ast.Return]:
    """Return the returns of a function itself, not those of functions inside it."""
    found: list[ast.Return] = []
    rest: list[ast.AST] = [*node.body] if isinstance(node, FUNCTIONS) else []
    for one in rest:  # the list grows during the loop
        if isinstance(one, ast.Return):
            found.append(one)
        elif not isinstance(one, (*DEFINING, ast.Lambda)):
            rest += ast.iter_child_nodes(one)
    return found


def _last(node: ast.AST | None) -> ast.stmt | None:
    """Return the last statement of a function, also inside with blocks."""
    body = getattr(node, "body", None)
    while body and isinstance(body[-1], ast.With):
        body = body[-1].body
    return body[-1] if body else None
