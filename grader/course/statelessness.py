"""Tell whether the functions of a file surely keep no state between calls.

Then calling one of them leaves everything as it was, and the judge may call it once more, or with
other arguments, without changing what later calls return. The rules are strict: a file for which
they are in doubt is treated like one with state, which costs time and nothing else.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable

MODULES = frozenset(
    "__future__ abc collections contextlib copy dataclasses enum functools itertools math numbers"
    " numpy operator torch typing".split()
)
WORDS = frozenset(
    "ForwardRef _C attrgetter breakpoint compile ctypes delattr eval exec exit gc get_type_hints"
    " getattr globals hub importlib input inspect io jit load loads locals make_dataclass"
    " methodcaller open os print quit setattr socket subprocess sys vars warn warnings".split()
)
"""Names of what reaches outside of the file, or finds things by a name in a text."""
PARTS = tuple(
    "anomaly backends bernoulli cache default_ dropout enter_ generator library multinomial"
    " register_module seed set_ thread use_".split()
)
"""Parts of names of what changes torch, or depends on what ran before."""
RANDOM = re.compile("(^|_)rand")
"""``rand``, ``randn_like`` and ``random_``, and not ``operand``."""
CHANGING = frozenset(["clear", "pop", "popitem", "setdefault", "update"])
"""Methods that change a dictionary."""
HARMLESS = frozenset(["set_materialize_grads"])
SPECIAL = frozenset(["__future__", "__init__", "__name__"])
DECORATORS = frozenset(
    "abstractmethod classmethod contextmanager dataclass enable_grad no_grad once_differentiable"
    " property staticmethod total_ordering".split()
)


def keeps_no_state(nodes: Iterable[ast.AST], tree: ast.Module) -> bool:
    """Return whether a file, given its syntax tree and all nodes of it, surely keeps no state."""
    if not all(map(_defines, tree.body)):
        return False
    shared = frozenset(dir(builtins)) | {"cls"} | set(_names_of_module(tree))
    return all(_is_harmless(node, shared) for node in nodes)


def _defines(node: ast.stmt) -> bool:
    """Return whether a statement of a module or class defines something that can't change."""
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Name) for one in node.targets) and _is_constant(node.value)
    if isinstance(node, ast.AnnAssign):
        return isinstance(node.target, ast.Name) and (
            node.value is None or _is_constant(node.value)
        )
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.ClassDef):
        return all(map(_defines, node.body))
    return isinstance(node, ast.FunctionDef | ast.Import | ast.ImportFrom | ast.Pass)


def _is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple):
        return all(map(_is_constant, node.elts))
    if isinstance(node, ast.Dict):
        return all(one is not None and _is_constant(one) for one in (*node.keys, *node.values))
    if isinstance(node, ast.UnaryOp):
        return _is_constant(node.operand)
    if isinstance(node, ast.BinOp):
        return _is_constant(node.left) and _is_constant(node.right)
    if isinstance(node, ast.Attribute):
        return _is_constant(node.value)
    return isinstance(node, ast.Constant | ast.Lambda | ast.Name)


def _names_of_module(tree: ast.Module) -> Iterable[str]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Import | ast.ImportFrom):
            yield from ((one.asname or one.name).split(".")[0] for one in node.names)
        else:
            yield from (one.id for one in ast.walk(node) if isinstance(one, ast.Name))


def _is_harmless(node: ast.AST, shared: frozenset[str] | set[str]) -> bool:
    match node:
        case ast.Global() | ast.Nonlocal() | ast.AsyncFunctionDef() | ast.Await():
            return False
        case ast.Import():
            return all(one.name.split(".")[0] in MODULES for one in node.names)
        case ast.ImportFrom():
            return (node.module or "").split(".")[0] in MODULES and all(
                _is_harmless_name(one.name) for one in node.names
            )
        case ast.ClassDef():
            return all(map(_is_known_decorator, node.decorator_list))
        case ast.FunctionDef():
            return all(map(_is_known_decorator, node.decorator_list))
        case ast.arguments():
            return all(_is_constant(one) for one in (*node.defaults, *node.kw_defaults) if one)
        case ast.Name():
            return _is_harmless_name(node.id)
        case ast.Attribute(value=ast.Name(id=name), attr=attribute) if name in shared:
            return isinstance(node.ctx, ast.Load) and (
                attribute not in CHANGING and _is_harmless_name(attribute)
            )
        case ast.Attribute(ctx=ast.Load()):
            return _is_harmless_name(node.attr)
        case ast.Attribute() | ast.Subscript(ctx=ast.Store() | ast.Del()):
            base = _base(node)
            return base is not None and base not in shared
    return True


def _is_harmless_name(name: str) -> bool:
    if name.startswith("__"):
        return name in SPECIAL
    stateful = name in WORDS or any(part in name for part in PARTS) or RANDOM.search(name)
    return name in HARMLESS or not stateful


def _is_known_decorator(node: ast.expr) -> bool:
    called = node.func if isinstance(node, ast.Call) else node
    name = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
    return name in DECORATORS


def _base(node: ast.AST) -> str | None:
    """Return the name that a target such as ``a.b[0].c`` starts with."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None
