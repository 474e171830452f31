"""Analyze a student's file without running it: its definitions, lines and cells, and the names that
its definitions refer to, with imports resolved.
"""

from __future__ import annotations

import ast
import bisect
import collections
import copy
import functools
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from grader.course.statelessness import keeps_no_state

COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
DEFINING = (*FUNCTIONS, ast.ClassDef)
Function = ast.FunctionDef | ast.AsyncFunctionDef
Scope = Function | ast.ClassDef | ast.Lambda
Definition = Function | ast.ClassDef | ast.Assign | ast.AnnAssign
Names = collections.ChainMap[str, str | None]
"""What the names of a scope and of those around it stand for; None for a local. A copy of all names
for each function would take the square of a file's size.
"""
MOST_PARTS = 16
"""How many parts a dotted name may have. A longer chain of attributes has no name, because writing
out the name of each attribute of a long chain takes the square of its length.
"""
PLAIN_BASES = frozenset(
    {"object", "typing.NamedTuple", "typing.Generic", "typing.Protocol", "abc.ABC", "enum.Enum"}
)
"""Base classes that never call a method that a subclass adds."""
MAX_SYNTAX_NODES = 20_000
"""How many nodes a file's syntax tree may have; the longest solution of the course has 750."""
MAX_LINE = 400
"""How many characters of a line a report shows."""
TRANSFORMS = ("grad", "grad_and_value", "vjp", "jvp", "linearize", "jacrev", "jacfwd", "hessian")
LATE_NAMES = frozenset(
    f"{package}.{name}" for package in ("torch.func", "functorch") for name in TRANSFORMS
) | {"torch.autograd.graph.allow_mutation_on_saved_tensors"}
LATE_PACKAGES = ("torch.autograd.forward_ad.", "torch.optim.", "torch.utils.checkpoint.")
LATE_SIGN = re.compile(
    r"\b(func|functorch|forward_ad|optim|checkpoint|allow_mutation_on_saved_tensors)\b"
)
"""A file without any of these words uses nothing that torch imports late."""


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
        return _parsed(self.text)[0]

    @functools.cached_property
    def keeps_no_state(self) -> bool:
        """Whether the file's functions surely keep no state between calls."""
        return not self.unreadable and keeps_no_state(self.nodes, self.tree)

    @functools.cached_property
    def too_long(self) -> bool:
        """Whether the text is Python, but over ``MAX_SYNTAX_NODES``."""
        return _parsed(self.text)[1]

    @functools.cached_property
    def syntax_error(self) -> SyntaxError | None:
        """Why Python can't compile the text; None also if it was not tried, as the text is too long
        or nested too deeply.
        """
        if self.too_long:
            return None
        try:
            with warnings.catch_warnings(action="ignore"):
                compile(self.text, self.filename, "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError):
            return None
        return None

    @functools.cached_property
    def error_column(self) -> tuple[int, int] | None:
        """The line of a syntax error, and its column in that line's text without indentation."""
        error = self.syntax_error
        line, column = (error.lineno, error.offset) if error else (None, None)
        if not line or not column or line > len(self.lines) or isinstance(error, TabError):
            return None
        whole = self.lines[line - 1]
        indentation = len(whole) - len(whole.lstrip())
        return line, max(1, min(column - indentation, len(whole.strip()) + 1))

    @property
    def unreadable(self) -> bool:
        """Whether the text can't be parsed: not Python, too deeply nested, or over
        ``MAX_SYNTAX_NODES``.
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

    def with_tab(self, number: int) -> int:
        """Return the last line up to this one that is indented with a tab; if none is, this one."""
        for above in range(min(number, len(self.lines)), 0, -1):
            line = self.lines[above - 1]
            if "\t" in line[: len(line) - len(line.lstrip())]:
                return above
        return number

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

    def defines(self, path: str) -> bool:
        """Return whether there is a definition ``sigmoid`` or ``Sigmoid.backward``."""
        head, _, member = path.partition(".")
        node = self.definitions.get(head)
        if not member or not isinstance(node, ast.ClassDef):
            return node is not None and not member
        return any(member in defined_names(part) for part in node.body)

    def documented(self, path: str) -> str:
        """Return the docstring of ``sigmoid`` or ``Sigmoid.backward``; empty if there is none."""
        node = self._definition(path)
        return (isinstance(node, DEFINING) and ast.get_docstring(node)) or ""

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

    @property
    def late_imports(self) -> bool:
        """Whether the definitions use what torch imports only at its first use: function
        transforms, forward mode, optimizers, checkpoints.
        """
        return bool(LATE_SIGN.search(self.text)) and any(
            name in LATE_NAMES or name.startswith(LATE_PACKAGES)
            for name in self.names_used(*self.definitions)
        )

    def is_bare_raise(self, line: int) -> bool:
        """Return whether that line is all that some function does, apart from a docstring, as in a
        stub.
        """
        functions = [node for node in self.nodes if isinstance(node, FUNCTIONS)]
        return any(
            node.body[-1].lineno == line and all(map(is_docstring, node.body[:-1]))
            for node in functions
        )

    def place_inside(self, name: str) -> tuple[int, str] | None:
        """Return the line of a definition inside of another one, and the name of that."""
        for around in self.tree.body:
            if isinstance(around, DEFINING):
                for node in ast.walk(around):
                    if node is not around and isinstance(node, DEFINING) and node.name == name:
                        return node.lineno, around.name
        return None

    def function_at(self, line: int) -> int | None:
        """Return the first line of the innermost function that a line belongs to, if any."""
        around = [
            node.lineno
            for node in self.nodes
            if isinstance(node, FUNCTIONS) and node.lineno <= line <= (node.end_lineno or 0)
        ]
        return max(around, default=None)

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


@functools.lru_cache(maxsize=1)
def _parsed(text: str) -> tuple[list[ast.AST], bool]:
    """Return the nodes of a text, and whether they were too many.

    The last text is kept: a judge asks about a submission for its worker, its checks and its
    repairs.
    """
    nothing: list[ast.AST] = [ast.Module(body=[], type_ignores=[])]
    try:
        found: list[ast.AST] = [ast.parse(text)]
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


class References:
    """The references between the top-level definitions of a file.

    Many checks ask about the same definitions, so each is looked up once.
    """

    def __init__(self, body: list[ast.stmt], definitions: dict[str, Definition]) -> None:
        self._body = body
        self.definitions = definitions
        self._parts: dict[ast.AST, tuple[ast.ClassDef, list[Function]]] = {}
        self._found: dict[ast.AST, list[tuple[str, int]]] = {}
        self._used: dict[tuple[str, ...], dict[str, int]] = {}
        self._plain: dict[ast.ClassDef, bool] = {}
        self._tables: dict[str, dict[object, ast.expr]] = {}

    @functools.cached_property
    def _module_names(self) -> dict[str, str | None]:
        """Return what the module's imports stand for, unless a later definition hides them."""
        places = {name: node.lineno for name, node in self.definitions.items()}
        return {
            name: meant
            for name, (meant, line) in imports_in(self._body).items()
            if line > places.get(name, 0)
        }

    @functools.cached_property
    def _aliases(self) -> dict[str, str]:
        return aliases_in(self._body, Names(self._module_names))

    def names_used(self, *names: str) -> dict[str, int]:
        """Return the names that definitions, and those they use in turn, refer to, with a line
        each.

        Imports, and other names of them, are resolved (``torch.sigmoid``); a method or attribute of
        any value is ``.name``. Docstrings and annotations do not count, nor does code that the
        definitions do not reach: code at the end of the file, methods that no attribute names,
        other entries of a table.
        """
        if names not in self._used:
            self._used[names] = self._look_up(names)
        return dict(self._used[names])

    def _look_up(self, names: tuple[str, ...]) -> dict[str, int]:
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
                part = parts.pop()
                if part not in self._found:
                    self._found[part] = list(self._references(part))
                for name, line in self._found[part]:
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
            if isinstance(node, Scope):
                body: list[ast.AST] = (
                    [node.body] if isinstance(node, ast.Lambda) else list(node.body)
                )
                names: dict[str, str | None] = dict.fromkeys(bound_names(node))
                names |= {name: meant for name, (meant, _) in imports_in(body).items()}
                inside = bound.new_child(names)
                names |= aliases_in(body, inside)
                # Defaults and bases belong to the scope around it, and methods do not see names of
                # the class's body.
                own = {
                    child
                    for child in body
                    if not (isinstance(node, ast.ClassDef) and isinstance(child, DEFINING))
                }
                todo += [
                    (child, inside if child in own else bound)
                    for child in ast.iter_child_nodes(node)
                    if child is not getattr(node, "returns", None)
                ]
                continue
            if isinstance(node, ast.arg):
                continue
            if isinstance(node, ast.AnnAssign):
                todo += [(part, bound) for part in (node.target, node.value) if part]
                continue
            if isinstance(node, COMPREHENSIONS):
                targets = [name for part in node.generators for name in ast.walk(part.target)]
                bound = bound.new_child(
                    {name.id: None for name in targets if isinstance(name, ast.Name)}
                )
            if isinstance(node, ast.Name) and not is_stored(node):
                meant = bound.get(node.id, node.id)
                if meant is not None:
                    yield meant, node.lineno
            elif isinstance(node, ast.Attribute):
                yield f".{node.attr}", node.lineno
                head, _, rest = (dotted_name(node) or "").partition(".")
                meant = bound.get(head, head)
                for one in (meant, self._aliases.get(meant or "")):
                    if one:
                        yield f"{one}.{rest}", node.lineno
            todo += [(child, bound) for child in ast.iter_child_nodes(node)]

    def _entry(self, node: ast.Subscript, bound: Names) -> ast.expr | None:
        """Return the definition behind ``TABLE["key"]`` for a literal dictionary TABLE."""
        match node:
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Constant(value=key)):
                if name in bound:
                    return None
                if name not in self._tables:
                    self._tables[name] = _table(self.definitions.get(name))
                return self._tables[name].get(key)
        return None


def _table(node: Definition | None) -> dict[object, ast.expr]:
    """Return the entries of a literal dictionary whose keys are constants; none for other nodes."""
    match node:
        case ast.Assign(value=ast.Dict() as table) | ast.AnnAssign(value=ast.Dict() as table):
            pairs = zip(table.keys, table.values, strict=True)
            return {key.value: value for key, value in pairs if isinstance(key, ast.Constant)}
    return {}


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
        elif isinstance(node, DEFINING):
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


def aliases_in(body: Sequence[ast.AST], bound: Names) -> dict[str, str]:
    """Return what names stand for that statements bind once, and to a part of an import, as
    ``FN = torch.func`` does. ``bound`` has the imports.
    """
    found: dict[str, str] = {}
    times: collections.Counter[str] = collections.Counter()
    todo = list(reversed(body))
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Name) and is_stored(node):
            times[node.id] += 1
        elif not isinstance(node, (*DEFINING, ast.Lambda, *COMPREHENSIONS)):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(id=name)], value=value)
                    | ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value)
                ):
                    head, _, rest = (dotted_name(value) or "").partition(".")
                    if meant := found.get(head) or bound.get(head):
                        found[name] = f"{meant}.{rest}" if rest else meant
            todo += reversed(list(ast.iter_child_nodes(node)))
    return {name: meant for name, meant in found.items() if times[name] == 1}


def imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield the names that an import binds: ``("F", "torch.nn.functional")``."""
    for alias in node.names:
        if isinstance(node, ast.Import):
            package = alias.name.split(".")[0]
            yield (alias.asname, alias.name) if alias.asname else (package, package)
        elif node.module:
            yield alias.asname or alias.name, f"{node.module}.{alias.name}"


def dotted_name(node: ast.expr) -> str | None:
    """Return ``torch.nn.functional`` for a chain of attributes on a name, else None."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute) and len(parts) < MOST_PARTS:
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else None


def defined_names(node: ast.stmt) -> list[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            return [node.name]
        case ast.Assign():
            parts = [part for target in node.targets for part in ast.walk(target)]
            return [part.id for part in parts if isinstance(part, ast.Name) and is_stored(part)]
        case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr()):
            return [name]
    return []


def first_line(node: ast.stmt) -> int:
    """Return a statement's first line, that of its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    return min([node.lineno, *(decorator.lineno for decorator in decorators)])


def is_docstring(node: ast.stmt) -> bool:
    match node:
        case ast.Expr(value=ast.Constant(value=str())):
            return True
    return False


def same_tree(mine: ast.AST, theirs: ast.AST) -> bool:
    """Return whether two trees are equal, ignoring docstrings and the annotations of functions."""
    todo: list[tuple[Any, Any]] = [(mine, theirs)]
    while todo:
        one, other = todo.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, ast.AST):
            todo += [(_written(one, field), _written(other, field)) for field in one._fields]
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            todo += zip(one, other, strict=True)
        elif one != other or (isinstance(one, float | complex) and repr(one) != repr(other)):
            return False  # 0.0 differs from -0.0; and Python refuses to write very long integers
    return True


def _written(node: ast.AST, field: str) -> Any:
    """Return a field of a node without anything that does not change the node's behavior."""
    value = getattr(node, field, None)
    if field == "body" and isinstance(value, list) and value and is_docstring(value[0]):
        return value[1:]
    if (field == "returns" and isinstance(node, FUNCTIONS)) or (
        field == "annotation" and isinstance(node, ast.arg)
    ):
        return None
    return value


def is_stored(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)
