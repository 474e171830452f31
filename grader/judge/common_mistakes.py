"""Rules for mistakes that can occur in every lesson.

They are tried after a lesson's own rules. Each rule needs evidence: it compares the returned value
with the expected one, knows the meaning of Python's or torch's message, or finds the one place in
the code that has the measured effect. Without evidence, it names nothing.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from typing import Any

from grader.core.i18n import phrase
from grader.course.source import arguments_of
from grader.judge.diagnosis import Failure, Mistake, mistake
from grader.judge.element_mistakes import ELEMENTS
from grader.judge.exception_verdicts import WROTE
from grader.judge.input_mistakes import INPUTS, assigned_names
from grader.judge.precision_mistakes import PRECISION
from grader.judge.raised_mistakes import RAISED
from grader.judge.remote.session import Student
from grader.judge.value_mistakes import VALUES
from grader.worker.wire.values import Opaque

Facts = dict[str, Any]
SHARING = ("detach", "view", "view_as", "numpy", "squeeze", "unsqueeze", "t", "requires_grad_")
"""Methods whose result shares memory with the tensor."""
SOMETIMES = (*SHARING, *"contiguous double flatten float ravel reshape to type".split())
"""The same, with the methods that return the tensor itself, or a view, only if nothing has to be
converted or moved.
"""
SETTERS = ("requires_grad_", "detach_", "share_memory_")
"""Methods that end in an underscore and leave the values as they are."""


def definition(failure: Failure, student: Student) -> ast.AST | None:
    """Return the syntax tree of the definition that the check is about; ``student`` may also be the
    reference.
    """
    return next(
        (
            node
            for node in student.source.tree.body
            if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == failure.about
        ),
        None,
    )


def gives_a_value(node: ast.FunctionDef) -> bool:
    """Return whether a function yields, or has a return with a value other than None."""
    return any(
        isinstance(one, ast.Yield | ast.YieldFrom)
        or (isinstance(one, ast.Return) and ast.unparse(one) not in ("return", "return None"))
        for one in ast.walk(node)
    )


@mistake(
    "common_no_return",
    about=(),
    title="Nothing is returned",
    explanation=(
        "{function} ends without returning a value, so it returns None{printed}. End it with"
        " return and the result."
    ),
)
def no_return(failure: Failure, student: Student) -> Facts | None:
    """Recognize None from a function that returns no value, although the reference returns one."""
    if failure.error is not None or failure.actual is not None or failure.expected is None:
        return None
    mine, ours = (definition(failure, one) for one in (student, failure.reference))
    if not isinstance(mine, ast.FunctionDef) or not isinstance(ours, ast.FunctionDef):
        return None
    if gives_a_value(mine) or not gives_a_value(ours):
        return None
    inside = list(ast.walk(mine))
    prints = any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "print"
        for one in inside
    )
    printed = phrase(" (what it prints is not returned)") if prints else ""
    return {"function": failure.about, "printed": printed}


@mistake(
    "common_writes_into_argument",
    about=(),
    title="An argument is written to",
    explanation=(
        "{name} is an argument, and {function} changes it in line {line}. The caller's tensor"
        " changes too: work on {name}.clone(), or out of place."
    ),
)
def writes_into_argument(failure: Failure, student: Student) -> Facts | None:
    """Recognize a write into an argument, if only one place in the function changes a parameter,
    or several change the same one. The line is the first of them.
    """
    node = definition(failure, student)
    if failure.message != WROTE or node is None:
        return None
    functions = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]
    for sharing in (SHARING, SOMETIMES):
        places = {place for one in functions for place in writes_of(one, sharing)}
        if places:
            name, line = min(places, key=lambda place: place[1])
            one = len(places) == 1 or (sharing is SHARING and len(dict(places)) == 1)
            return {"name": name, "function": failure.about, "line": line} if one else None
    return None


def writes_of(
    function: ast.FunctionDef, sharing: Collection[str] = SHARING
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
        for name, line in written_names(node, sharing):
            if name in shared and name not in own:
                yield shared[name], line


def shared_with(value: ast.expr, sharing: Collection[str] = SHARING) -> str | None:
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


def written_names(node: ast.AST, sharing: Collection[str] = SHARING) -> Iterator[tuple[str, int]]:
    """Yield names whose value a node changes in place, and the line: x += …, x[…] = …, x.mul_(…),
    out=x.
    """
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


def raises_itself(node: ast.AST | None, name: str) -> bool:
    """Return whether a definition has a raise of an exception of this name."""
    raises = (one for one in ast.walk(node or ast.Pass()) if isinstance(one, ast.Raise) and one.exc)
    return any(
        isinstance(part, ast.Name) and part.id == name for one in raises for part in ast.walk(one)
    )


@mistake(
    "common_swallowed_exception",
    about=(),
    title="An exception does not reach the caller",
    explanation=(
        "{wanted} should reach the caller, but {function} returned instead. The except in line"
        " {line} catches this kind of exception: let it pass, or raise it again."
    ),
)
def swallowed_exception(failure: Failure, student: Student) -> Facts | None:
    """Recognize a missing exception that the function's only except clause would catch. One that
    the function itself has to raise must be raised somewhere in it.
    """
    node = definition(failure, student)
    if failure.error is not None or node is None or not isinstance(failure.expected, Opaque):
        return None
    wanted = failure.facts.get("wanted")
    handlers = [one for one in ast.walk(node) if isinstance(one, ast.ExceptHandler)]
    if len(handlers) != 1 or wanted != failure.expected.type_name:
        return None
    (one,) = handlers
    if raises_itself(definition(failure, failure.reference), wanted) and not raises_itself(
        node, wanted
    ):
        return None
    broad = one.type is None or ast.unparse(one.type) in ("Exception", "BaseException", wanted)
    raises = any(isinstance(inner, ast.Raise) for inner in ast.walk(one))
    return (
        {"wanted": wanted, "function": failure.about, "line": one.lineno}
        if broad and not raises
        else None
    )


@mistake(
    "common_other_exception",
    about=(),
    title="The wrong exception is raised",
    explanation="The task asks for {wanted} here, but line {line} raises {got}.",
)
def other_exception(failure: Failure, student: Student) -> Facts | None:
    """Recognize the student's own raise of a class that the check does not expect."""
    error = failure.error
    if error is None or error.wanted is None or error.line is None:
        return None
    raising = (ast.Raise, ast.Assert)
    lines = {one.lineno for one in ast.walk(student.source.tree) if isinstance(one, raising)}
    if error.line not in lines:
        return None
    return {"wanted": error.wanted, "got": error.type_name, "line": error.line}


COMMON: tuple[Mistake, ...] = (
    no_return,
    other_exception,
    *VALUES,
    *PRECISION,
    *INPUTS,
    writes_into_argument,
    swallowed_exception,
    *ELEMENTS,
    *RAISED,
)
