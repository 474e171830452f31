"""Find the names that a student's definitions refer to, with imports resolved."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator, Mapping

from grader.course.analysis.definitions import Definition
from grader.course.analysis.scopes import (
    COMPREHENSIONS,
    DEFINING,
    FUNCTIONS,
    bound_names,
    dotted_name,
    imports_in,
    is_stored,
    meanings,
)

PLAIN_BASES = frozenset(
    {"object", "typing.NamedTuple", "typing.Generic", "typing.Protocol", "abc.ABC", "enum.Enum"}
)
"""Base classes that never call a method that a subclass adds."""
Function = ast.FunctionDef | ast.AsyncFunctionDef


class References:
    """The references between the top-level definitions of a file, each looked up once."""

    def __init__(self, body: list[ast.stmt], definitions: dict[str, Definition]) -> None:
        self._body = body
        self.definitions = definitions
        self._parts: dict[ast.AST, tuple[ast.ClassDef, list[Function]]] = {}
        self._found: dict[ast.AST, list[tuple[str, int]]] = {}

    @functools.cached_property
    def _module_names(self) -> dict[str, str | None]:
        """Return what the module's imports stand for, unless a later definition hides them."""
        places = {name: node.lineno for name, node in self.definitions.items()}
        return {
            name: meant
            for name, (meant, line) in imports_in(self._body).items()
            if line > places.get(name, 0)
        }

    def names_used(self, *names: str) -> dict[str, int]:
        """Return the names that definitions, and those they use in turn, refer to, with a line
        each.

        Imports are resolved (``torch.sigmoid``); a method or attribute of any value is ``.name``.
        Docstrings do not count, nor does code that the definitions do not reach: code at the end of
        the file, methods that no attribute names, other entries of a table.
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

    def _in_parts(self, node: ast.ClassDef) -> tuple[list[ast.AST], list[Function]]:
        """Return a class without the methods that are only called by name, and those methods."""
        if node not in self._parts:
            called = [
                part
                for part in node.body
                if isinstance(part, FUNCTIONS) and not re.fullmatch("__.*__", part.name)
            ]
            rest = copy.copy(node)
            rest.body = [part for part in node.body if part not in called]
            self._parts[node] = rest, called
        rest, called = self._parts[node]
        return [rest], called

    def _is_plain(self, node: ast.ClassDef) -> bool:
        """Return whether all bases are plain. Others, such as Function, call methods themselves."""
        todo, seen = [node], {node}
        while todo:
            node = todo.pop()
            if node.keywords:
                return False
            for base in node.bases:
                name = dotted_name(base.value if isinstance(base, ast.Subscript) else base) or "?"
                own = self.definitions.get(name)
                # A base class with the class's own name means an earlier class of that name.
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
        """Return ``_references``, computed once, because many checks ask about the same
        definitions.
        """
        if part not in self._found:
            self._found[part] = list(self._references(part))
        return self._found[part]

    def _references(self, root: ast.AST) -> Iterator[tuple[str, int]]:
        """Yield names and attributes below a node. A name stands for whatever it is bound to at
        that point: an import, or a local of the function, which is left out.
        """
        todo: list[tuple[ast.AST, dict[str, str | None]]] = [(root, self._module_names)]
        entries = set()
        while todo:
            node, bound = todo.pop()
            if isinstance(node, ast.Subscript) and (entry := self._entry(node, bound)):
                todo += [(entry, self._module_names)] if entry not in entries else []
                entries.add(entry)
                continue
            if isinstance(node, ast.ClassDef):  # its methods do not see names of its body
                inside = bound | dict.fromkeys(bound_names(node)) | meanings(imports_in(node.body))
                todo += [
                    (child, bound if isinstance(child, DEFINING) else inside)
                    for child in ast.iter_child_nodes(node)
                ]
                continue
            # Defaults are evaluated in the scope around the function.
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
