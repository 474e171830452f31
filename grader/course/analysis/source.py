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

MAX_NODES = 100_000
"""How many nodes a file's syntax tree may have; a long lesson has a few thousand."""


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

    @functools.cached_property
    def nodes(self) -> list[ast.AST]:
        """Every node of the tree, in the order of ``ast.walk``."""
        nothing = ast.Module(body=[], type_ignores=[])
        try:
            found: list[ast.AST] = [ast.parse(self.text)]
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return [nothing]
        for node in found:  # the list grows during the loop
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(value, list):
                    found += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    found.append(value)
            if len(found) > MAX_NODES:
                return [nothing]
        return found

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
        if not line or not column or line > self.text.count("\n") + 1:
            return None
        whole = self.text.split("\n")[line - 1]
        indentation = len(whole) - len(whole.lstrip())
        return line, max(1, min(column - indentation, len(whole.strip()) + 1))

    @property
    def unreadable(self) -> bool:
        """Whether the text can't be parsed: not Python, too
        deeply nested, or over ``MAX_NODES``.
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

    def line(self, number: int | None) -> str:
        """Return a line's text without indentation; empty if there is no such line."""
        # Not splitlines, which also splits at form feeds and Unicode separators.
        lines = self.text.split("\n")
        return lines[number - 1].strip() if number and 0 < number <= len(lines) else ""

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
        """Return the line to show for ``sigmoid`` or ``Sigmoid.backward``: its last return.

        For a class, with ``header`` or without a return, it is the first line. A missing method
        counts as its class; None if there is no such definition.
        """
        head, _, member = path.partition(".")
        node: ast.AST | None = self.definitions.get(head)
        if isinstance(node, ast.ClassDef) and member:
            node = next(
                (m for m in node.body if isinstance(m, ast.FunctionDef) and m.name == member), node
            )
        if node is None:
            return None
        whole = header or isinstance(node, ast.ClassDef)
        returns = [] if whole else [n.lineno for n in ast.walk(node) if isinstance(n, ast.Return)]
        return max(returns, default=getattr(node, "lineno", None))

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
