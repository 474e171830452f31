"""Find the lines in which a function writes into its arguments, or keeps a tensor as an attribute
of ctx, from the file's text alone.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Collection, Iterator

from grader.course.source import Source, arguments_of

CHANGED = re.compile(
    r"(?<!was )(?<!were )(?<!also )\bchanged\b|\bwrote into\b|writes_into|overwritten"
)
"""What messages, and the ids of mistakes, say about arguments that the student's code changed."""
SWITCHED = re.compile(r"does not require grad, but after")
OF_CTX = re.compile(r"\bctx\.(\w+)")

SHARING = ("detach", "view", "view_as", "numpy", "squeeze", "unsqueeze", "t", "requires_grad_")
"""Methods whose result shares memory with the tensor."""
SOMETIMES = (*SHARING, *"contiguous double flatten float ravel reshape to type".split())
"""The same, with the methods that return the tensor itself, or a view, only if nothing has to be
converted or moved.
"""
SETTERS = ("requires_grad_", "detach_", "share_memory_")
"""Methods that end in an underscore and leave the values as they are."""


def line_of_write(said: str, source: Source, about: str) -> int | None:
    """Return the first line that does what a message says of the arguments of a function or class,
    or of an attribute of ctx. Of several methods or arguments, those count that the message names.
    """
    node = source.definitions.get(about)
    inside = list(ast.walk(node)) if node else []
    attributes = OF_CTX.findall(said)
    for one in inside:
        match one:
            case ast.Attribute(value=ast.Name(id="ctx"), attr=attr, ctx=ast.Store()) if (
                attr in attributes
            ):
                return one.lineno
    written = switched_names if SWITCHED.search(said) else written_names
    if written is written_names and not CHANGED.search(said):
        return None
    functions = [one for one in inside if isinstance(one, ast.FunctionDef)]
    words = words_of(said)
    if len(functions) > 1:
        functions = [one for one in functions if one.name in words] or functions
    places = [place for one in functions for place in writes_of(one, SHARING, written)]
    arguments = {one.arg for function in functions for one in arguments_of(function.args)}
    meant = arguments & words or arguments
    return min((line for name, line in places if name in meant), default=None)


def words_of(said: str) -> set[str]:
    """Return the names in a message; of an id such as ``writes_into_x``, also its end."""
    words = set(re.findall(r"\w+", said))
    return words | {one.partition("_into_")[2] for one in words}


WrittenNames = Callable[[ast.AST, Collection[str]], Iterator[tuple[str, int]]]


def switched_names(node: ast.AST, sharing: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield names whose requires_grad a node changes, and the line."""
    match node:
        case (
            ast.Call(func=ast.Attribute(value=inner, attr="requires_grad_"))
            | ast.Attribute(value=inner, attr="requires_grad", ctx=ast.Store())
        ):
            if (name := shared_with(inner, sharing)) is not None:
                yield name, node.lineno


def writes_of(
    function: ast.FunctionDef, sharing: Collection[str], written: WrittenNames | None = None
) -> Iterator[tuple[str, int]]:
    """Yield the argument's name and the line for each write into an argument, or into a variable
    that shares its memory because it was made by ``sharing`` methods.
    """
    shared = {one.arg: one.arg for one in arguments_of(function.args)}
    own: set[str] = set()
    for name, value in assigned_names(function):
        source = shared_with(value, sharing)
        if source in shared and name not in own:
            shared.setdefault(name, shared[source])
        else:  # it has memory of its own, at least on some paths
            own.add(name)
    for node in ast.walk(function):
        for name, line in (written or written_names)(node, sharing):
            if name in shared and name not in own:
                yield shared[name], line


def shared_with(value: ast.expr, sharing: Collection[str]) -> str | None:
    """Return the variable that a value shares memory with, on one path of an if-else at least."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.IfExp(body=one, orelse=other):
            return shared_with(one, sharing) or shared_with(other, sharing)
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if (
            attr in sharing or writes_in_place(attr)
        ):
            return shared_with(inner, sharing)
        case ast.Attribute(value=inner, attr="data" | "T" | "mT"):
            return shared_with(inner, sharing)
        case ast.Subscript(value=inner, slice=ast.Slice() | ast.Constant()):
            return shared_with(inner, sharing)
    return None


def writes_in_place(method: str) -> bool:
    """Return whether a tensor method works in place, as a trailing underscore says: mul_, zero_."""
    return method.endswith("_") and not method.startswith("_") and method not in SETTERS


def written_names(node: ast.AST, sharing: Collection[str]) -> Iterator[tuple[str, int]]:
    """Yield names that a node changes in place, and the line: x += …, x[…] = …, x.mul_(), out=x."""
    targets: list[ast.expr] = []
    match node:
        case ast.AugAssign(target=ast.Subscript(value=target) | target):
            targets = [target]
        case ast.Assign(targets=assigned):
            targets = [one.value for one in assigned if isinstance(one, ast.Subscript)]
        case ast.Call(func=ast.Attribute(value=inner, attr=attr)) if writes_in_place(attr):
            targets = [inner]
        case ast.keyword(arg="out", value=value):
            targets = [value]
    for target in targets:
        if (name := shared_with(target, sharing)) is not None:
            yield name, target.lineno


def assigned_names(part: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each ``name = value``, also those of ``a, b = one, two``."""
    for node in ast.walk(part):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name):
                        yield target.id, value
