"""Make the replacements for one expression or statement, each with its rank.

``LESSONS_OWN`` is a repair that the lesson names. ``LIKELY`` is a slip in one token. ``USUAL`` is
a call, an argument or a name that is wrong. ``POSSIBLE`` adds or removes a step. ``UNLIKELY``
reorders steps, or may hide the cause rather than remove it, as ``create_graph=True`` does where
``.grad`` is kept by reference.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

LESSONS_OWN, LIKELY, USUAL, POSSIBLE, UNLIKELY = range(-10, 40, 10)
RENAMED = POSSIBLE + 9
"""Other names of the same function come late, because there are many."""
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
EQUAL: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq, ast.Is),
    ast.NotEq: (ast.Eq, ast.IsNot),
    ast.Is: (ast.IsNot, ast.Eq),
    ast.IsNot: (ast.Is, ast.NotEq),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
}
# names that are easily mistaken for each other
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
        "no_grad enable_grad inference_mode",
        "register_hook register_post_accumulate_grad_hook",
        "clamp_min clamp_max",
        "float double",
        "float32 float64",
        "append extend appendleft insert",
        "pop popleft",
        "view reshape",
        "any all",
        "floor ceil round trunc",
        "ge gt",
        "le lt",
        "T mT",
        "is_leaf requires_grad retains_grad",
        "keys values items",
        "unsqueeze squeeze",
        "ValueError TypeError RuntimeError KeyError IndexError Exception",
        "save_for_backward mark_non_differentiable",
    )
)
IN_PLACE = "add sub mul div zero fill clamp copy exp log neg sqrt abs relu".split()
REMOVABLE = frozenset(
    "detach clone sum mean item float double abs view reshape flatten squeeze unsqueeze contiguous"
    " tolist numpy t sqrt exp log neg requires_grad_ retain_grad sign round long int to".split()
)
SAFE_STEPS, STEPS = ("clone", "detach"), ("sum", "mean", "item")
MAKERS = frozenset("tensor zeros ones full empty arange linspace eye rand randn as_tensor".split())
"""Functions of torch whose result has the default dtype."""
REDUCTIONS = frozenset("sum mean prod amax amin max min norm".split())
WITHOUT = frozenset("data T mT".split())
PARAMETERS = 3
"""From how many of the function's names a new tensor takes its dtype; the parameters come first."""
DIFFERENTIATES = {
    "grad": ("create_graph", "retain_graph", "allow_unused"),
    "backward": ("create_graph", "retain_graph"),
}


def of_expression(node: ast.expr, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield replacements for an expression; ``names`` are those of its function."""
    match node:
        case ast.Constant():
            yield from ((LIKELY, ast.Constant(value)) for value in _constants(node.value))
            if is_number(node):
                yield from ((RENAMED, ast.Name(name)) for name in names)
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
            yield from _keywords_added(node, names)
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            yield from _of_sequence(node, parts)
        case ast.Attribute():
            yield from ((USUAL, _named(node, name)) for name in _family(node.attr))
            if node.attr in WITHOUT:
                yield USUAL, node.value
        case ast.Subscript():
            yield from _of_subscript(node)
        case ast.Name():
            yield from ((USUAL, ast.Name(name)) for name in _family(node.id))
            if node.id in names:  # not a module, not a function that is called
                yield from ((RENAMED, ast.Name(name)) for name in names if name != node.id)
    yield from _steps_added(node, names)


def is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


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
        yield from EQUAL[type(op)]


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
    for index, one in enumerate(arguments):
        toggled = one.value if isinstance(one, ast.Starred) else ast.Starred(one, ast.Load())
        if isinstance(one, ast.Name | ast.Starred):
            starred = [*arguments[:index], toggled, *arguments[index + 1 :]]
            yield POSSIBLE, ast.Call(node.func, starred, keywords)
    if isinstance(node.func, ast.Name) and node.func.id == "range" and arguments:
        for last in _shifted(arguments[-1]):
            yield USUAL, ast.Call(node.func, [*arguments[:-1], last], keywords)
    if not isinstance(node.func, ast.Attribute):
        return
    name, inner = node.func.attr, node.func.value
    if name in REMOVABLE:
        yield USUAL, inner
    if name in IN_PLACE or name.removesuffix("_") in IN_PLACE:
        other = name.removesuffix("_") if name.endswith("_") else f"{name}_"
        yield POSSIBLE, ast.Call(_named(node.func, other), arguments, keywords)


def _keywords_added(node: ast.Call, names: Sequence[str]) -> Iterator[Replacement]:
    """Yield a call with an additional keyword: a flag, or a dtype taken from another variable."""
    if not isinstance(node.func, ast.Attribute):
        return
    name, given = node.func.attr, {keyword.arg for keyword in node.keywords}
    true = ast.Constant(True)
    added: list[tuple[int, str, ast.expr]] = [
        (UNLIKELY, flag, true) for flag in DIFFERENTIATES.get(name, ())
    ]
    if name in REDUCTIONS and (len(node.args) or "dim" in given):
        added.append((POSSIBLE, "keepdim", true))
    if name in MAKERS:
        likes = [ast.Attribute(ast.Name(one), "dtype") for one in names[:PARAMETERS]]
        added += [(USUAL, "dtype", like) for like in likes]
    for rank, flag, value in added:
        if flag not in given:
            keywords = [*node.keywords, ast.keyword(flag, value)]
            yield rank, ast.Call(node.func, node.args, keywords)


def _of_subscript(node: ast.Subscript) -> Iterator[Replacement]:
    """Yield another index or bound, and the value without an index."""
    match node.slice:
        case ast.Slice(lower, upper, step):
            slices: list[ast.expr] = [ast.Slice(None, upper, step), ast.Slice(lower, None, step)]
            slices += [ast.Slice(other, upper, step) for other in _shifted(lower)]
            slices += [ast.Slice(lower, other, step) for other in _shifted(upper)]
        case index:
            slices = [*_shifted(index)]
    yield from ((USUAL, ast.Subscript(node.value, one, node.ctx)) for one in slices)
    yield USUAL, node.value


def _shifted(index: ast.expr | None) -> Iterator[ast.expr]:
    if index is None or isinstance(index, ast.Constant | ast.Slice | ast.Tuple):
        return
    yield from (ast.BinOp(index, op, ast.Constant(1)) for op in (ast.Add(), ast.Sub()))


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
    """Yield the value with one more step after it: a method call, a factor, a sign."""
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
