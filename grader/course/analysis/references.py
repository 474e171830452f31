"""Find the names that a student's definitions refer to, with imports resolved."""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Names:
    """What the names of a scope stand for, and the scope around it. A copy of all names for each
    function would take the square of a file's size.
    """

    own: Mapping[str, str | None]
    around: Names | None = None

    def meaning(self, name: str) -> str | None:
        """Return what a name stands for: itself if no scope binds it, None if it is a local."""
        scope = self._scope_of(name)
        return scope.own[name] if scope else name

    def __contains__(self, name: str) -> bool:
        return self._scope_of(name) is not None

    def _scope_of(self, name: str) -> Names | None:
        scope: Names | None = self
        while scope is not None and name not in scope.own:
            scope = scope.around
        return scope

    def within(self, own: Mapping[str, str | None]) -> Names:
        return Names(own, self) if own else self


class References:
    """The references between the top-level definitions of a file, each looked up once."""

    def __init__(self, body: list[ast.stmt], definitions: dict[str, Definition]) -> None:
        self._body = body
        self.definitions = definitions
        self._parts: dict[ast.AST, tuple[ast.ClassDef, list[Function]]] = {}
        self._found: dict[ast.AST, list[tuple[str, int]]] = {}
        self._plain: dict[ast.ClassDef, bool] = {}
        self._entries: dict[str, dict[object, ast.expr]] = {}

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
                        if f".{method.name}" in found:
                            parts.append(method)
                        else:
                            methods.setdefault(f".{method.name}", []).append(method)
            while parts:
                for name, line in self._references_of(parts.pop()):
                    found.setdefault(name, line)
                    parts += methods.pop(name, ())
                    head = name.split(".", 1)[0]
                    if head in self.definitions and head not in seen:
                        seen.add(head)
                        todo.append(head)
        return found

    def _in_parts(self, node: ast.ClassDef) -> tuple[list[ast.AST], list[Function]]:
        """Return a class without the methods that are only called by name, and those methods."""
        if node not in self._parts:
            rest, called = copy.copy(node), []
            rest.body = []
            for part in node.body:
                if isinstance(part, FUNCTIONS) and not re.fullmatch("__.*__", part.name):
                    called.append(part)
                else:
                    rest.body.append(part)
            self._parts[node] = rest, called
        rest, called = self._parts[node]
        return [rest], called

    def _is_plain(self, node: ast.ClassDef) -> bool:
        """Return whether all bases are plain. Others, such as Function, call methods themselves."""
        plain, todo, begun = self._plain, [node], set[ast.ClassDef]()
        while todo:
            one = todo[-1]
            own, others = self._bases(one)
            if one in plain:
                todo.pop()
            elif one.keywords or not PLAIN_BASES.issuperset(others):
                plain[one] = False
            elif one in begun:  # what is still open among its bases leads back to it
                plain[one] = all(plain.get(base, False) for base in own)
            else:
                begun.add(one)
                todo += [base for base in own if base not in plain and base not in begun]
        return plain[node]

    def _bases(self, node: ast.ClassDef) -> tuple[list[ast.ClassDef], list[str]]:
        """Return a class's bases that the file defines, and the names of the others."""
        own: list[ast.ClassDef] = []
        others: list[str] = []
        for base in node.bases:
            name = dotted_name(base.value if isinstance(base, ast.Subscript) else base) or "?"
            found = self.definitions.get(name)
            # A base class with the class's own name means an earlier class of that name.
            if isinstance(found, ast.ClassDef) and found is not node:
                own.append(found)
            else:
                head, _, rest = name.partition(".")
                meant = self._module_names.get(head) or head
                others.append(f"{meant}.{rest}" if rest else meant)
        return own, others

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
        module = Names(self._module_names)
        todo: list[tuple[ast.AST, Names]] = [(root, module)]
        entries = set()
        while todo:
            node, bound = todo.pop()
            if isinstance(node, ast.Subscript) and (entry := self._entry(node, bound)):
                todo += [(entry, module)] if entry not in entries else []
                entries.add(entry)
                continue
            if isinstance(node, ast.ClassDef):  # its methods do not see names of its body
                inside = bound.within(
                    dict.fromkeys(bound_names(node)) | meanings(imports_in(node.body))
                )
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
                inside = bound.within(dict.fromkeys(bound_names(node)) | meanings(imports_in(body)))
                own = set(body)
                todo += [
                    (child, inside if child in own else bound)
                    for child in ast.iter_child_nodes(node)
                ]
                continue
            if isinstance(node, COMPREHENSIONS):
                targets = [name for part in node.generators for name in ast.walk(part.target)]
                bound = bound.within(
                    {name.id: None for name in targets if isinstance(name, ast.Name)}
                )
            if isinstance(node, ast.Name) and not is_stored(node):
                meant = bound.meaning(node.id)
                if meant is not None:
                    yield meant, node.lineno
            elif isinstance(node, ast.Attribute):
                yield f".{node.attr}", node.lineno
                head, _, rest = (dotted_name(node) or "").partition(".")
                meant = bound.meaning(head)
                if meant:
                    yield f"{meant}.{rest}", node.lineno
            todo += [(child, bound) for child in ast.iter_child_nodes(node)]

    def _entry(self, node: ast.Subscript, bound: Names) -> ast.expr | None:
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
        if node.value.id not in self._entries:
            self._entries[node.value.id] = {
                key.value: value
                for key, value in zip(table.value.keys, table.value.values, strict=True)
                if isinstance(key, ast.Constant)
            }
        return self._entries[node.value.id].get(node.slice.value)
