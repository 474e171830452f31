"""What may stand in the place of one expression or statement, each with its rank.

``LIKELY`` is a slip in one token. ``USUAL`` is a call, an argument or a name that is wrong.
``POSSIBLE`` adds or removes a step. ``UNLIKELY`` reorders steps, or may hide the cause rather than
remove it, as ``create_graph=True`` does where ``.grad`` is kept by reference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

LIKELY, USUAL, POSSIBLE, UNLIKELY = range(4)
Replacement = tuple[int, ast.AST]

SWAPPED: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult),
    ast.Sub: (ast.Add, ast.Div),
    ast.Mult: (ast.Div, ast.Add, ast.Pow, ast.MatMult),
    ast.Div: (ast.Mult, ast.Sub, ast.FloorDiv),
    ast.FloorDiv: (ast.Div,),
    ast.Pow: (ast.Mult,),
    ast.MatMult: (ast.Mult,),
}
ORDERED: tuple[type[ast.cmpop], ...] = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)
EQUAL: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
FAMILIES = tuple(
    names.split()
    for names in (
        "log log10 log2 log1p",
        "exp exp2 expm1",
        "sin cos tan",
        "sum mean prod",
        "max min amax amin",
        "zeros_like ones_like empty_like rand_like",
        "zeros ones empty",
        "list tuple",
        "sigmoid tanh relu",
        "mul matmul",
        "add sub",
        "detach clone detach_",
        "no_grad enable_grad",
        "register_hook register_post_accumulate_grad_hook",
        "clamp_min clamp_max",
        "float double",
        "float32 float64",
        "append extend",
    )
)
IN_PLACE = "add sub mul div zero fill clamp copy exp log neg sqrt abs relu".split()
REMOVABLE = frozenset(
    "detach clone sum mean item float double abs view reshape flatten squeeze unsqueeze contiguous"
    " tolist numpy t sqrt exp log neg requires_grad_ retain_grad sign round long int to".split()
)
SAFE_STEPS, STEPS = ("clone", "detach"), ("sum", "mean", "item")
DIFFERENTIATES = {
    "grad": ("create_graph", "retain_graph", "allow_unused"),
    "backward": ("create_graph", "retain_graph"),
}


def of_expression(node: ast.expr, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield what may replace an expression; ``names`` are those of its function."""
    match node:
        case ast.Constant():
            yield from ((LIKELY, ast.Constant(value)) for value in _constants(node.value))
        case ast.BinOp():
            yield from _of_operation(node)
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield LIKELY, operand
        case ast.Compare(ops=[op], comparators=[right]):
            for other in _comparisons(op):
                yield LIKELY, ast.Compare(node.left, [other()], [right])
            yield USUAL, ast.Compare(right, [op], [node.left])
        case ast.BoolOp(op=op, values=values):
            other_op = ast.Or() if isinstance(op, ast.And) else ast.And()
            yield LIKELY, ast.BoolOp(other_op, values)
            yield from ((USUAL, value) for value in values)
        case ast.IfExp():
            yield USUAL, ast.IfExp(node.test, node.orelse, node.body)
            yield POSSIBLE, node.body
            yield POSSIBLE, node.orelse
        case ast.Call():
            yield from _of_call(node)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from _of_sequence(node, parts)
        case ast.Attribute():
            yield from ((USUAL, _named(node, name)) for name in _family(node.attr))
        case ast.Name():
            yield from ((USUAL, ast.Name(name)) for name in _family(node.id))
            if node.id in names:  # no module, no function that is called
                yield from ((USUAL, ast.Name(name)) for name in names if name != node.id)
    yield from _steps_added(node, names)


def of_statement(node: ast.stmt) -> Iterator[Replacement]:
    """Yield what may replace a statement; its removal is a ``pass``."""
    match node:
        case ast.Assign(targets=[ast.Name() | ast.Attribute() | ast.Subscript() as target]):
            yield POSSIBLE, ast.AugAssign(target, ast.Add(), node.value)
            yield POSSIBLE, ast.Pass()
        case ast.AugAssign():
            for op in SWAPPED.get(type(node.op), ()):
                yield LIKELY, ast.AugAssign(node.target, op(), node.value)
            yield POSSIBLE, ast.Assign([node.target], node.value, lineno=0)
            value = ast.BinOp(node.target, node.op, node.value)
            yield POSSIBLE, ast.Assign([node.target], value, lineno=0)
            yield POSSIBLE, ast.Pass()
        case ast.Expr():
            yield POSSIBLE, ast.Pass()
        case ast.If() | ast.While():
            yield POSSIBLE, ast.Pass()


def _constants(value: object) -> Iterator[bool | int | float]:
    if isinstance(value, bool):
        yield not value
    elif isinstance(value, int):
        yield from dict.fromkeys((value + 1, value - 1, -value, 2 * value, value / 2))
    elif isinstance(value, float):
        yield from dict.fromkeys(
            (value + 1, value - 1, -value, 2 * value, value / 2, value / 10, value * 10)
        )


def _comparisons(op: ast.cmpop) -> Iterator[type[ast.cmpop]]:
    if type(op) in ORDERED:
        yield from (other for other in ORDERED if not isinstance(op, other))
    elif type(op) in EQUAL:
        yield EQUAL[type(op)]


def _of_operation(node: ast.BinOp) -> Iterator[Replacement]:
    for other in SWAPPED.get(type(node.op), ()):
        yield LIKELY, ast.BinOp(node.left, other(), node.right)
    yield USUAL, ast.BinOp(node.right, node.op, node.left)
    yield USUAL, node.left
    yield USUAL, node.right
    if isinstance(node.left, ast.BinOp):  # (a + b) * c as a + b * c
        inner = node.left
        regrouped = ast.BinOp(inner.right, node.op, node.right)
        yield USUAL, ast.BinOp(inner.left, inner.op, regrouped)
    if isinstance(node.right, ast.BinOp):
        inner = node.right
        regrouped = ast.BinOp(node.left, node.op, inner.left)
        yield USUAL, ast.BinOp(regrouped, inner.op, inner.right)


def _of_call(node: ast.Call) -> Iterator[Replacement]:
    arguments, keywords = node.args, node.keywords
    for index in range(len(arguments) - 1):
        swapped = [*arguments]
        swapped[index : index + 2] = arguments[index + 1], arguments[index]
        yield USUAL, ast.Call(node.func, swapped, keywords)
    for index in range(len(arguments)):
        left = arguments[:index] + arguments[index + 1 :]
        yield POSSIBLE, ast.Call(node.func, left, keywords)
    for index in range(len(keywords)):
        rest = keywords[:index] + keywords[index + 1 :]
        yield USUAL, ast.Call(node.func, arguments, rest)
    if len(arguments) == 1:  # a wrapper: float(x), torch.abs(x)
        yield USUAL, arguments[0]
    if not isinstance(node.func, ast.Attribute):
        return
    name, inner = node.func.attr, node.func.value
    if name in REMOVABLE:
        yield USUAL, inner
    if name in IN_PLACE or name.removesuffix("_") in IN_PLACE:
        other = name.removesuffix("_") if name.endswith("_") else f"{name}_"
        yield POSSIBLE, ast.Call(_named(node.func, other), arguments, keywords)
    given = {keyword.arg for keyword in keywords}
    for flag in DIFFERENTIATES.get(name, ()):
        if flag not in given:
            added = ast.keyword(flag, ast.Constant(True))
            yield UNLIKELY, ast.Call(node.func, arguments, [*keywords, added])


def _of_sequence(node: ast.Tuple | ast.List, parts: list[ast.expr]) -> Iterator[Replacement]:
    other = ast.List if isinstance(node, ast.Tuple) else ast.Tuple
    yield USUAL, other(parts, ast.Load())
    if len(parts) > 1:
        for index in range(len(parts)):
            rest = parts[:index] + parts[index + 1 :]
            yield USUAL, rest[0] if len(rest) == 1 else type(node)(rest, ast.Load())
    elif parts:
        yield USUAL, parts[0]
    for index in range(len(parts) - 1):
        swapped = [*parts]
        swapped[index : index + 2] = parts[index + 1], parts[index]
        yield USUAL, type(node)(swapped, ast.Load())


def _steps_added(node: ast.expr, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield the value with one more step behind it: a method's call, a factor, a sign."""
    match node:
        case ast.Name(id=name) if name in names:
            pass
        case ast.Attribute(attr="grad" | "data") | ast.Call() | ast.BinOp() | ast.Subscript():
            pass
        case _:  # a module, a function that is called
            return
    if "grad_output" in names and not isinstance(node, ast.Attribute | ast.Subscript):
        yield POSSIBLE, ast.BinOp(ast.Name("grad_output"), ast.Mult(), node)
    for method in SAFE_STEPS:
        yield POSSIBLE, ast.Call(ast.Attribute(node, method), [], [])
    for method in STEPS:
        yield UNLIKELY, ast.Call(ast.Attribute(node, method), [], [])
    yield UNLIKELY, ast.UnaryOp(ast.USub(), node)


def _named(node: ast.Attribute, name: str) -> ast.Attribute:
    return ast.Attribute(node.value, name, node.ctx)


def _family(name: str) -> Iterator[str]:
    for family in FAMILIES:
        if name in family:
            yield from (other for other in family if other != name)
