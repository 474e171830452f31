"""Make the small changes of mutants: replace a node of a syntax tree.

A change is one of: a number plus one, another arithmetic operator, a comparison that includes or
excludes its bound, equality instead of identity, a flag inverted, a string changed, a condition
that always or never holds, a statement left out or swapped with the next, a keyword argument left
out, the first two arguments swapped, a conversion or a method such as ``clone`` left out, an
operation in place, a size or a dtype taken for granted, a ``finally``, an ``except`` or a ``with``
left out, a narrower ``except``, an ``and`` for an ``or``, a negation left out.

Documentation, annotations, assertions and the messages of exceptions stay: they don't change what a
right answer does.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator

import torch

OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult,
}
IN_PLACE: dict[type[ast.operator], str] = {
    ast.Add: "add_",
    ast.Sub: "sub_",
    ast.Mult: "mul_",
    ast.Div: "div_",
    ast.Pow: "pow_",
}
COMPARISONS: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
EQUALITY: dict[type[ast.cmpop], type[ast.cmpop]] = {ast.Is: ast.Eq, ast.IsNot: ast.NotEq}
TRANSPARENT = frozenset(
    "abs clone contiguous copy deepcopy detach double expand_as flatten float item requires_grad_"
    " reshape reversed sum to tolist type type_as unsqueeze view".split()
)
"""Methods that can be left out of a chain and leave something that still runs."""
CONVERSIONS = frozenset("abs dict float id list reversed set sorted str tuple".split())
"""Functions of one argument that can be left out in the same way."""
COMMUTATIVE = frozenset("add dot eq is_same logaddexp max maximum min minimum mul multiply".split())
RAISES = (ast.Raise, ast.Assert)
SKIPPED_FIELDS = frozenset(["annotation", "returns", "names", "decorator_list", "bases", "ctx"])
Place = tuple[ast.AST, str, int | None]


def edits(roots: list[ast.stmt]) -> Iterator[None]:
    """Make one change after another in the trees; each is undone when the next is requested."""
    for root in roots:
        parameters = {node.arg for node in ast.walk(root) if isinstance(node, ast.arg)}
        for place in list(places(root)):
            old = held(place)
            for new in changes(old, parameters):
                put(place, ast.fix_missing_locations(ast.copy_location(new, old)))
                yield
            put(place, old)
        for node in ast.walk(root):
            for field in ("body", "orelse", "finalbody"):
                yield from swaps(getattr(node, field, None))


def swaps(body: object) -> Iterator[None]:
    """Swap neighboring statements of a list, one pair at a time, if their order may matter."""
    if not isinstance(body, list):
        return
    for index, pair in enumerate(itertools.pairwise(body)):
        first, second = pair
        if written(first) & read(second) or written(second) & read(first):
            body[index : index + 2] = second, first
            yield
            body[index : index + 2] = pair


def written(node: ast.stmt) -> set[str]:
    """Return the names whose objects a statement changes; binding a name does not count."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target))):
            return read(target)
        case ast.AugAssign(target=target):
            return read(target)
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript() as target]):
            return read(target)
    return set()


def read(node: ast.AST) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)} - {"torch"}


def changes(node: ast.AST, parameters: set[str]) -> Iterator[ast.AST]:
    """Yield the replacements of a node; in-place operations only on names in ``parameters``."""
    match node:
        case ast.Constant():
            yield from constant_changes(node.value)
        case ast.BinOp(left=ast.Name(id=name), op=op) if name in parameters:
            yield from operator_changes(node)
            if type(op) in IN_PLACE:
                yield ast.Call(ast.Attribute(node.left, IN_PLACE[type(op)]), [node.right], [])
        case ast.BinOp() | ast.AugAssign() | ast.Compare() | ast.BoolOp() | ast.UnaryOp():
            yield from operator_changes(node)
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if (
            name in parameters and hasattr(torch.Tensor, f"{method}_")
        ):
            yield from call_changes(node)
            yield ast.Call(ast.Attribute(ast.Name(name), f"{method}_"), node.args, node.keywords)
        case ast.Call():
            yield from call_changes(node)
        case ast.Attribute(attr="shape"):
            yield ast.Subscript(node, ast.Slice(upper=ast.Constant(1)))
        case ast.Attribute(attr="dtype", value=ast.Name(id=name)) if name != "torch":
            yield ast.Attribute(ast.Name("torch"), "float32")
        case ast.expr():
            pass
        case _:
            yield from statement_changes(node)


def constant_changes(value: object) -> Iterator[ast.AST]:
    if isinstance(value, bool):
        yield ast.Constant(not value)
    elif isinstance(value, int | float):
        yield ast.Constant(value + 1)
    elif isinstance(value, str):
        yield ast.Constant(value + "x")


def operator_changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.BinOp(op=op) if type(op) in OPERATORS:
            yield ast.BinOp(node.left, OPERATORS[type(op)](), node.right)
        case ast.AugAssign(op=op) if type(op) in OPERATORS:
            yield ast.AugAssign(node.target, OPERATORS[type(op)](), node.value)
            yield ast.Pass()
        case ast.Compare(ops=[op], comparators=[other]) if type(op) in COMPARISONS:
            yield ast.Compare(node.left, [COMPARISONS[type(op)]()], [other])
            if type(op) in EQUALITY and not isinstance(other, ast.Constant):
                yield ast.Compare(node.left, [EQUALITY[type(op)]()], [other])
        case ast.BoolOp(op=ast.And()):
            yield ast.BoolOp(ast.Or(), node.values)
        case ast.BoolOp(op=ast.Or()):
            yield ast.BoolOp(ast.And(), node.values)
        case ast.UnaryOp(op=ast.USub() | ast.Not()):
            yield node.operand


def call_changes(node: ast.Call) -> Iterator[ast.AST]:
    for index in range(len(node.keywords)):
        yield ast.Call(node.func, node.args, node.keywords[:index] + node.keywords[index + 1 :])
    if len(node.args) > 1 and ast.unparse(node.func).rpartition(".")[2] not in COMMUTATIVE:
        first, second, *rest = node.args
        yield ast.Call(node.func, [second, first, *rest], node.keywords)
    match node:
        case ast.Call(func=ast.Name(id=name), args=[argument]) if name in CONVERSIONS:
            yield argument
        case ast.Call(func=ast.Attribute(value=ast.Name(id="torch" | "copy"), attr=name)):
            if name in TRANSPARENT and node.args:
                yield node.args[0]
            if name in ("zeros_like", "ones_like"):
                shape = ast.Attribute(node.args[0], "shape")
                function = ast.Attribute(ast.Name("torch"), name.removesuffix("_like"))
                yield ast.Call(function, [shape], node.keywords)
        case ast.Call(func=ast.Attribute(value=inner, attr=name)):
            if name in TRANSPARENT:
                yield inner
            if name in ("numel", "size") and not node.args:
                yield ast.Call(ast.Name("len"), [inner], [])


def statement_changes(node: ast.AST) -> Iterator[ast.AST]:
    match node:
        case ast.If():
            yield ast.If(ast.Constant(True), node.body, node.orelse)
            yield ast.If(ast.Constant(False), node.body, node.orelse)
        case ast.While():  # one that never ends is always found, and late
            yield ast.While(ast.Constant(False), node.body, node.orelse)
        case ast.Try():
            if node.finalbody and node.handlers:
                yield ast.Try(node.body, node.handlers, node.orelse, [])
            elif node.finalbody:
                yield block(node.body)
            if node.handlers:
                yield ast.Try(node.body, [], [], node.finalbody or [ast.Pass()])
        case ast.ExceptHandler(type=ast.Name(id="Exception")) | ast.ExceptHandler(type=None):
            yield ast.ExceptHandler(ast.Name("RuntimeError"), node.name, node.body)
        case ast.With(items=[ast.withitem(optional_vars=None)]):
            yield block(node.body)
        case ast.Expr() | ast.Assign(targets=[ast.Attribute() | ast.Subscript()]) | ast.Raise():
            yield ast.Pass()
        case ast.Continue() | ast.Break():
            yield ast.Pass()


def block(body: list[ast.stmt]) -> ast.stmt:
    """Return one statement that runs several."""
    return ast.If(ast.Constant(True), body, [])


def places(root: ast.stmt) -> Iterator[Place]:
    """Yield each place of a node that may change: its parent, field and index."""
    for parent in kept_nodes(root):
        for name, value in ast.iter_fields(parent):
            if name in SKIPPED_FIELDS:
                continue
            if isinstance(value, ast.AST):
                yield parent, name, None
            elif isinstance(value, list):
                for index, item in enumerate(value):
                    if isinstance(item, ast.AST) and not is_documentation(item):
                        yield parent, name, index


def kept_nodes(root: ast.AST) -> Iterator[ast.AST]:
    """Yield a node and all below it, except docstrings, raises and assertions."""
    if isinstance(root, RAISES) or is_documentation(root):
        return
    yield root
    for child in ast.iter_child_nodes(root):
        yield from kept_nodes(child)


def held(place: Place) -> ast.AST:
    parent, name, index = place
    field = getattr(parent, name)
    node = field if index is None else field[index]
    assert isinstance(node, ast.AST)
    return node


def put(place: Place, node: ast.AST) -> None:
    parent, name, index = place
    if index is None:
        setattr(parent, name, node)
    else:
        getattr(parent, name)[index] = node


def is_documentation(node: object) -> bool:
    """Return whether a node is a statement that is only a string."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )
