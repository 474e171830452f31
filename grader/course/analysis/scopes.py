"""Find what the names in a Python text stand for: bindings of scopes and of imports."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINING = (*FUNCTIONS, ast.ClassDef)
Scope = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda
MOST_PARTS = 16
"""How many parts a dotted name may have. A longer chain of attributes has no name, because writing
out the name of each attribute of a long chain takes the square of its length.
"""


def is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def bound_names(scope: Scope | ast.Module) -> frozenset[str]:
    """Return the names that a scope binds, without those of nested functions."""
    names = (
        set()
        if isinstance(scope, ast.ClassDef | ast.Module)
        else {argument.arg for argument in arguments_of(scope.args)}
    )
    free: set[str] = set()
    todo: list[ast.AST] = [scope.body] if isinstance(scope, ast.Lambda) else list(scope.body)
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and is_stored(node):
            names.add(node.id)
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar | ast.MatchMapping):
            captured = node.rest if isinstance(node, ast.MatchMapping) else node.name
            names |= {captured} if captured else set()
        elif isinstance(node, ast.Global | ast.Nonlocal):
            free |= set(node.names)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        elif isinstance(node, COMPREHENSIONS):  # of these, only := binds in the surrounding scope
            names |= {part.target.id for part in ast.walk(node) if isinstance(part, ast.NamedExpr)}
            continue
        elif isinstance(node, ast.Lambda):
            continue
        todo += ast.iter_child_nodes(node)
    return frozenset(names - free)


def arguments_of(arguments: ast.arguments) -> Iterator[ast.arg]:
    yield from (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)
    yield from (one for one in (arguments.vararg, arguments.kwarg) if one)


def imports_in(body: Sequence[ast.AST]) -> dict[str, tuple[str, int]]:
    """Return the names that imports among the statements bind, with meaning and line."""
    found: dict[str, tuple[str, int]] = {}
    todo = list(reversed(body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Import | ast.ImportFrom):
            found |= {name: (meant, node.lineno) for name, meant in imported(node)}
        elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case) and not isinstance(
            node, DEFINING
        ):
            todo += reversed(list(ast.iter_child_nodes(node)))
    return found


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds: ``("F", "torch.nn.functional")``."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            package = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (package, package)
        elif node.module:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def meanings(imports: Mapping[str, tuple[str, int]]) -> dict[str, str | None]:
    """Return what imports stand for, without their lines."""
    return {name: meant for name, (meant, _) in imports.items()}


def dotted_name(node: ast.expr) -> str | None:
    """Return ``torch.nn.functional`` for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None
