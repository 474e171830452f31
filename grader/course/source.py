"""Static analysis of a student's file: definitions and names. It is never executed."""

from __future__ import annotations

import ast
import bisect
import copy
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from grader.course.definitions import defined_names, is_docstring, same_tree
from grader.course.scopes import (
    COMPREHENSIONS,
    DEFINING,
    FUNCTIONS,
    bound_names,
    dotted_name,
    imported,
    imports_in,
    is_stored,
    meanings,
)

MAX_NODES = 100_000
"""How many nodes a file's syntax tree may have; a long lesson has a few thousand."""
PLAIN_BASES = frozenset(
    {"object", "typing.NamedTuple", "typing.Generic", "typing.Protocol", "abc.ABC", "enum.Enum"}
)
"""What calls none of the methods that a class adds to it."""
Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign


@dataclass(frozen=True)
class Source:
    """A file's text and name. ``cells`` has a notebook's cell numbers and first lines."""

    text: str
    filename: str
    cells: tuple[tuple[int, int], ...] = ()

    @property
    def module(self) -> str:
        """The module's name: the file's, without its ending."""
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
        for node in found:  # which grows meanwhile
            for field in node._fields:
                value = getattr(node, field, None)
                if isinstance(value, list):
                    found += [item for item in value if isinstance(item, ast.AST)]
                elif isinstance(value, ast.AST):
                    found.append(value)
            if len(found) > MAX_NODES:
                return [nothing]
        return found

    @property
    def unreadable(self) -> bool:
        """Whether the text can't be parsed: no Python, too deep, or over ``MAX_NODES``."""
        return bool(self.text.strip()) and not self.tree.body

    @functools.cached_property
    def definitions(self) -> dict[str, Definition]:
        """Top-level definitions by name, the last one of each."""
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
    def _known_parts(
        self,
    ) -> dict[ast.AST, tuple[ast.ClassDef, list[ast.FunctionDef | ast.AsyncFunctionDef]]]:
        return {}

    @functools.cached_property
    def _known_references(self) -> dict[ast.AST, list[tuple[str, int]]]:
        return {}

    def line(self, number: int | None) -> str:
        """A line's text without indentation; empty where there is no such line."""
        # Not splitlines, which also breaks at form feeds and Unicode's separators.
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
        """``custom_sigmoid.py:14``, or ``custom_sigmoid.ipynb, cell 4, line 2``."""
        cell, line = self.in_cell(number)
        return (
            f"{self.filename}:{line}"
            if cell is None
            else f"{self.filename}, cell {cell}, line {line}"
        )

    def anchor(self, path: str, *, header: bool = False) -> int | None:
        """The line to show for ``Sigmoid`` or ``Sigmoid.backward``: its last return, else (or with
        ``header``) its first line.

        None where it is missing.
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

    @functools.cached_property
    def _module_names(self) -> dict[str, str | None]:
        """Return what the module's imports stand for, unless a later definition hides them."""
        places = {name: node.lineno for name, node in self.definitions.items()}
        return {
            name: meant
            for name, (meant, line) in imports_in(self.tree.body).items()
            if line > places.get(name, 0)
        }

    def names_used(self, *names: str) -> dict[str, int]:
        """What the definitions ``names``, and the top-level ones that they use in turn, refer to,
        with a line each.

        Dotted names have their import resolved (``torch.sigmoid``); a method or attribute of any
        value is ``.name``. Docstrings don't count, and neither does what nobody named refers to: a
        demonstration at the end, a method of a class that was only referred to, where no attribute
        of that name is, what a table has under another key.
        """
        found: dict[str, int] = {}
        todo, seen, whole = list(names), set(names), set(names)
        methods: dict[str, list[ast.AST]] = {}
        while todo:
            node = self.definitions.get(name := todo.pop())
            if node is None:
                continue
            parts: list[ast.AST] = [node]
            if isinstance(node, ast.ClassDef):
                if name in whole or not self._is_plain(node):
                    whole |= {base.id for base in node.bases if isinstance(base, ast.Name)}
                else:
                    parts, called = self._in_parts(node)
                    for method in called:
                        methods.setdefault(f".{method.name}", []).append(method)
            while parts:
                for name, line in self._references_of(parts.pop()):
                    found.setdefault(name, line)
                    parts += methods.pop(name, ())
                    head = name.split(".")[0]
                    if head in self.definitions and head not in seen:
                        seen.add(head)
                        todo.append(head)
                if not parts:
                    parts += [
                        method
                        for name in found.keys() & methods.keys()
                        for method in methods.pop(name)
                    ]
        return found

    def _in_parts(
        self, node: ast.ClassDef
    ) -> tuple[list[ast.AST], list[ast.FunctionDef | ast.AsyncFunctionDef]]:
        """A class without the methods that only their names call, and those."""
        if node not in self._known_parts:
            called = [
                part
                for part in node.body
                if isinstance(part, FUNCTIONS) and not re.fullmatch("__.*__", part.name)
            ]
            rest = copy.copy(node)
            rest.body = [part for part in node.body if part not in called]
            self._known_parts[node] = rest, called
        rest, called = self._known_parts[node]
        return [rest], called

    def _is_plain(self, node: ast.ClassDef) -> bool:
        """Return whether only Python calls a class's methods, unlike a Function's."""
        todo, seen = [node], {node}
        while todo:
            node = todo.pop()
            if node.keywords:
                return False
            for base in node.bases:
                name = dotted_name(base.value if isinstance(base, ast.Subscript) else base) or "?"
                own = self.definitions.get(name)
                # A class that names itself as its base means an earlier one of that name.
                if not isinstance(own, ast.ClassDef) or own is node:
                    head, _, rest = name.partition(".")
                    meant = self._module_names.get(head) or head
                    if (f"{meant}.{rest}" if rest else meant) not in PLAIN_BASES:
                        return False
                elif own not in seen:
                    seen.add(own)
                    todo.append(own)
        return True

    def _references_of(self, part: ast.AST) -> list[tuple[str, int]]:
        """``_references``, worked out once: many checks ask about the same definitions."""
        if part not in self._known_references:
            self._known_references[part] = list(self._references(part))
        return self._known_references[part]

    def _references(self, root: ast.AST) -> Iterator[tuple[str, int]]:
        """Names and attributes below a node. A name is what is bound to it where it stands: what an
        import brought, or something of the function's own, which is nobody else's and left out.
        """
        todo: list[tuple[ast.AST, dict[str, str | None]]] = [(root, self._module_names)]
        entries = set()
        while todo:
            node, bound = todo.pop()
            if isinstance(node, ast.Subscript) and (entry := self._entry(node, bound)):
                todo += [(entry, self._module_names)] if entry not in entries else []
                entries.add(entry)
                continue
            if isinstance(node, ast.ClassDef):  # what its body binds is hidden from its methods
                inside = bound | dict.fromkeys(bound_names(node)) | meanings(imports_in(node.body))
                todo += [
                    (child, bound if isinstance(child, DEFINING) else inside)
                    for child in ast.iter_child_nodes(node)
                ]
                continue
            # Defaults belong to whoever defines it.
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
                body: list[ast.AST] = (
                    [node.body] if isinstance(node, ast.Lambda) else list(node.body)
                )
                inside = bound | dict.fromkeys(bound_names(node)) | meanings(imports_in(body))
                todo += [
                    (child, inside if child in body else bound)
                    for child in ast.iter_child_nodes(node)
                ]
                continue
            if isinstance(node, COMPREHENSIONS):
                targets = [name for part in node.generators for name in ast.walk(part.target)]
                bound = bound | {name.id: None for name in targets if isinstance(name, ast.Name)}
            if isinstance(node, ast.Name) and not is_stored(node):
                meant = bound.get(node.id, node.id)
                if meant is not None:
                    yield meant, node.lineno
            elif isinstance(node, ast.Attribute):
                yield f".{node.attr}", node.lineno
                head, _, rest = (dotted_name(node) or "").partition(".")
                meant = bound.get(head, head)
                if meant:
                    yield f"{meant}.{rest}", node.lineno
            todo += [(child, bound) for child in ast.iter_child_nodes(node)]

    def _entry(self, node: ast.Subscript, bound: Mapping[str, str | None]) -> ast.expr | None:
        """Return the definition behind ``TABLE["key"]`` for a literal dictionary TABLE."""
        if (
            not isinstance(node.value, ast.Name)
            or node.value.id in bound
            or not isinstance(node.slice, ast.Constant)
        ):
            return None
        table = self.definitions.get(node.value.id)
        if not isinstance(table, ast.Assign | ast.AnnAssign) or not isinstance(
            table.value, ast.Dict
        ):
            return None
        entries = {
            key.value: value
            for key, value in zip(table.value.keys, table.value.values, strict=True)
            if isinstance(key, ast.Constant)
        }
        return entries.get(node.slice.value)

    def is_bare_raise(self, line: int) -> bool:
        """Whether all that some function does is on that line, docstring apart, as in a stub."""
        functions = [node for node in self.nodes if isinstance(node, FUNCTIONS)]
        return any(
            node.body[-1].lineno == line and all(map(is_docstring, node.body[:-1]))
            for node in functions
        )

    def may_be_changed(self, name: str) -> bool:
        """Return whether other statements may change what ``name`` is."""
        if isinstance(self.definitions.get(name), DEFINING):
            rest = [node for node in self.tree.body if not isinstance(node, Definition)]
            return name in bound_names(ast.Module(body=rest, type_ignores=[]))
        return sum(isinstance(node, ast.Name) and node.id == name for node in self.nodes) > 1

    def same_definition(self, other: Source, name: str) -> bool:
        """Return whether both define ``name`` alike, docstrings and layout apart."""
        mine, theirs = self.definitions.get(name), other.definitions.get(name)
        return mine is not None and theirs is not None and same_tree(mine, theirs)
