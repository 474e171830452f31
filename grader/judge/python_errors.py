"""Recognize slips by the exception that Python raises and by the file's text alone.

So these rules also explain why a file can't be loaded. Like the others of ``common_mistakes``, they
have their texts in ``common_mistakes.toml``.
"""

from __future__ import annotations

import ast
import copy
import re
import sys
from collections import Counter
from difflib import SequenceMatcher, get_close_matches

import torch

from grader.core.errors import Facts
from grader.core.i18n import phrase
from grader.course.source import (
    FUNCTIONS,
    Function,
    Source,
    arguments_of,
    defined_names,
    imports_in,
    is_stored,
)
from grader.judge.diagnosis import Failure, groups_in_error
from grader.judge.in_place_lines import SOMETIMES, written_names
from grader.judge.remote.session import Student

UNDEFINED = r"name '(?P<name>\w+)' is not defined"
NO_VALUE = (UNDEFINED, r"cannot access local variable '(?P<name>\w+)'")
MISSPELT = (
    rf"{UNDEFINED} \(did you mean: '(?P<near>[\w.]+)'",
    r"has no attribute '(?P<name>\w+)' \(did you mean: '\.?(?P<near>[\w.]+)'",
    r"cannot import name '(?P<name>\w+)' from .* \(did you mean: '(?P<near>\w+)'",
)
IN_TORCH = (
    r"module 'torch' has no attribute '(?P<name>\w+)'",
    r"cannot import name '(?P<name>\w+)' from 'torch'(?!\.)",
)
IN_TENSOR = r"'Tensor' object has no attribute '(?P<name>\w+)'$"
NO_METHOD = r"You must implement (the|either the) (?P<near>forward|backward)"
METHODS = frozenset({"forward", "backward", "setup_context", "jvp", "vjp", "vmap"})
"""The methods of a Function that torch calls."""
CALL_OF = (
    r"(?<![\w.<>])(?P<name>\w+)\(\) takes (?:from \d+ to )?\d+ positional arguments? but",
    r"(?<![\w.<>])(?P<name>\w+)\(\) missing \d+ required positional arguments?",
)
"""What Python says about a call of a plain function with too many or too few arguments."""
NO_ATTRIBUTE = r"(?:'(?:function|type)' object|type object '\w+') has no attribute '(?P<name>\w+)'"
ON_LEAF = "a leaf Variable that requires grad is being used in an in-place operation"
NOT_SAVED = (
    r"save_for_backward can only save variables, but argument (?P<count>\d+)"
    r" is of type (?P<type>\w+)"
)
NO_MODULE = r"No module named '(?P<name>\w+)"
TYPING = "Any Callable Dict Iterable Iterator List NamedTuple Optional Sequence Tuple Union"
IMPORTS = {
    **dict.fromkeys(("copy", "functools", "itertools", "math", "operator", "random"), ""),
    **dict.fromkeys(("time", "torch", "typing", "warnings"), ""),
    "np": "import numpy as np",
    "numpy": "import numpy",
    "plt": "import matplotlib.pyplot as plt",
    "nn": "from torch import nn",
    "F": "import torch.nn.functional as F",
    "Tensor": "from torch import Tensor",
    "autograd": "from torch import autograd",
    "Function": "from torch.autograd import Function",
    "contextmanager": "from contextlib import contextmanager",
    "dataclass": "from dataclasses import dataclass",
    "partial": "from functools import partial",
    "reduce": "from functools import reduce",
    **{name: f"from typing import {name}" for name in TYPING.split()},
    "gradcheck": "from torch.autograd import gradcheck",
}
"""What to write for names that are usually imported; empty: ``import`` and the name."""
CONSTANTS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"} | dict.fromkeys(
    ("null", "NULL", "nil", "none", "NONE", "undefined"), "None"
)
ATTRIBUTES = frozenset(
    """
    T data device dtype grad grad_fn is_leaf layout mT ndim requires_grad retains_grad shape
    needs_input_grad saved_tensors
    """.split()
)
"""Attributes of tensors and of ctx that are not methods."""
WITHOUT_SELF = (
    r"(?P<cls>\w+)\.(?P<method>\w+)\(\) takes (?P<taken>\d+) positional arguments? but"
    r" (?P<given>\d+) (?:was|were) given"
)
NO_INIT = r"(?P<cls>\w+)\(\) takes no arguments"
NO_OPERATOR = (
    r"operand type\(s\) for (?P<op>[^:]+): '(?P<plain>int|float)' and '(?P<cls>\w+)'",
    r"operand type\(s\) for (?P<op>[^:]+): '(?P<cls>\w+)' and '\w+'",
    r"bad operand type for (?P<op>unary -): '(?P<cls>\w+)'",
)
OPERATORS = {
    "+": "add",
    "-": "sub",
    "*": "mul",
    "/": "truediv",
    "@": "matmul",
    "** or pow()": "pow",
    "unary -": "neg",
}
OR_DATACLASS = "Define it in the class, or write @dataclass above the class."
OF_CTX = ("save_for_backward", "saved_tensors", "needs_input_grad", "mark_dirty")
OTHERWISE = {"e": "math.e", "pi": "math.pi"} | {name: f"ctx.{name}" for name in OF_CTX}
WORDS_OF_DEBUGGERS = ("breakpoint", "set_trace")
EXITS = ("exit", "quit", "SystemExit")
INSTALLED = ("torch", "numpy")


def common_missing_import(failure: Failure, student: Student) -> Facts | None:
    """Recognize the name of a module that the file does not import."""
    name = undefined(failure)
    if name not in IMPORTS or is_bound(name, student.source):
        return None
    return {"name": name, "statement": IMPORTS[name] or f"import {name}"}


def common_constant_misspelt(failure: Failure, student: Student) -> Facts | None:
    """Recognize true, null and the like."""
    name = undefined(failure)
    return {"name": name, "right": CONSTANTS[name]} if name in CONSTANTS else None


def common_prefix_missing(failure: Failure, student: Student) -> Facts | None:
    """Recognize a name that only has a meaning behind torch, ctx or math."""
    name = undefined(failure)
    if name is None or is_bound(name, student.source):
        return None
    function = callable(getattr(torch, name, None)) and not name.startswith("_")
    right = OTHERWISE.get(name) or (f"torch.{name}" if function else None)
    return {"name": name, "right": right} if right else None


def common_compared_not_assigned(failure: Failure, student: Student) -> Facts | None:
    """Recognize a name that gets no value because its assignment is written with ==."""
    found = groups_in_error(failure, NO_VALUE)
    for node in student.source.nodes if found else ():
        match node:
            case ast.Expr(value=ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()])) if (
                found and name == found["name"]
            ):
                return {"name": name, "line": node.lineno}
    return None


def common_misspelt_once(failure: Failure, student: Student) -> Facts | None:
    """Recognize that Python suggests the misspelt name: the file writes to it and never reads it,
    and the missing name is one of the stub, or is used more often.
    """
    found = unread_suggestion(failure, student)
    if found is None:
        return None
    missing, name, lines = found["name"], found["near"], found["lines"]
    asked = stub_words(failure.stub)
    if missing in asked or (name not in asked and found["reads"] > len(lines)):
        return {"name": name, "near": missing, "line": lines[0]}
    return None


def common_misspelt_somewhere(failure: Failure, student: Student) -> Facts | None:
    """Recognize that Python's suggestion is as likely to be misspelt as the missing name."""
    found = unread_suggestion(failure, student)
    known = stub_words(failure.stub) if found else frozenset()
    if found is None or found["near"] in known or found["reads"] < len(found["lines"]):
        return None
    return {"name": found["name"], "near": found["near"]}


def unread_suggestion(failure: Failure, student: Student) -> Facts | None:
    """Return the missing name, the one that Python suggests, the ``lines`` in which the file writes
    to the latter, and how often it ``reads`` the former; None if it reads the latter.
    """
    found = groups_in_error(failure, MISSPELT) or never_read(failure, student)
    if found is None:
        return None
    of_object = failure.raised("has no attribute")
    writes: list[int] = []
    reads = {found["name"]: 0, found["near"]: 0}
    for node in student.source.nodes:
        match node:
            case ast.Attribute(attr=name, ctx=context) if of_object:
                pass
            case ast.Name(id=name, ctx=context) if not of_object:
                pass
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
                context = ast.Store()
            case _:
                continue
        if name == found["near"] and isinstance(context, ast.Store):
            writes.append(node.lineno)
        elif name in reads:
            reads[name] += 1
    if not writes or reads[found["near"]]:
        return None
    return {**found, "lines": sorted(writes), "reads": reads[found["name"]]}


def never_read(failure: Failure, student: Student) -> Facts | None:
    """Return a name without a value, for which Python suggests none, and an almost equal one to
    which the file only writes.
    """
    found = groups_in_error(failure, [NO_VALUE[1]])
    if found is None:
        return None
    names = [one for one in student.source.nodes if isinstance(one, ast.Name)]
    read = {one.id for one in names if isinstance(one.ctx, ast.Load)}
    near = get_close_matches(found["name"], {one.id for one in names} - read, n=1, cutoff=0.7)
    return {**found, "near": near[0]} if near else None


def stub_words(source: Source) -> frozenset[str]:
    """Return the names of a stub's definitions and parameters, and the words of its texts."""
    words: set[str] = set()
    for node in source.nodes:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            words |= {node.name, *re.findall(r"\w+", ast.get_docstring(node) or "")}
        elif isinstance(node, ast.arg):
            words.add(node.arg)
    return frozenset(words)


def common_misspelt(failure: Failure, student: Student) -> Facts | None:
    """Recognize a name that Python, or a search in torch, finds to be almost another one."""
    found = groups_in_error(failure, MISSPELT)
    if found is not None:
        return found
    found = groups_in_error(failure, IN_TORCH)
    near = nearest(found["name"]) if found else None
    if found is None and (found := groups_in_error(failure, [IN_TENSOR])):
        methods = [one for one in dir(torch.Tensor) if not one.startswith("_")]
        near = next(iter(get_close_matches(found["name"], methods, n=1, cutoff=0.7)), None)
    return {"name": found["name"], "near": near} if found and near else None


def common_method_misspelt(failure: Failure, student: Student) -> Facts | None:
    """Recognize a Function without forward or backward that has a method named almost so."""
    found = groups_in_error(failure, [NO_METHOD])
    if found is None:
        return None
    methods = {
        method.name: method.lineno
        for node in student.source.nodes
        if isinstance(node, ast.ClassDef) and node.name == failure.about
        for method in node.body
        if isinstance(method, ast.FunctionDef)
    }
    near = get_close_matches(found["near"], methods.keys() - METHODS, n=1, cutoff=0.7)
    return {**found, "name": near[0], "line": methods[near[0]]} if near else None


def common_outside_of_class(failure: Failure, student: Student) -> Facts | None:
    """Recognize a Function whose forward or backward is not among the statements of a class."""
    found = groups_in_error(failure, [NO_METHOD])
    nodes = student.source.nodes if found else []
    members = {id(one) for node in nodes if isinstance(node, ast.ClassDef) for one in node.body}
    outside = [
        node
        for node in nodes
        if isinstance(node, ast.FunctionDef) and id(node) not in members and found
        if node.name == found["near"] and node.name not in failure.stub.definitions
    ]
    if not outside:
        return None
    around = [
        one.name
        for one in nodes
        if isinstance(one, ast.FunctionDef) and one.name in METHODS and outside[0] in one.body
    ]
    where = phrase("inside {name}", name=around[0]) if around else phrase("outside of them")
    return {"method": outside[0].name, "line": outside[0].lineno, "where": where}


def common_ctx_not_first(failure: Failure, student: Student) -> Facts | None:
    """Recognize a method that has ctx behind other parameters, from what its body raises, or from
    an exception that no line of another method of the class raised.
    """
    error = failure.error
    classes = [one for one in student.source.tree.body if isinstance(one, ast.ClassDef)]
    for cls in classes if error else ():
        methods = [one for one in cls.body if isinstance(one, ast.FunctionDef)]
        raising = [one for one in methods if error and is_inside(error.line, one)]
        mine = raising or (methods if cls.name == failure.about else [])
        for method in mine:
            names = positional(method)
            if method.name in METHODS and "ctx" in names[1:] and names[0] not in ("cls", "self"):
                wanted = ", ".join(["ctx", *(one for one in names if one != "ctx")])
                facts = {"method": method.name, "line": method.lineno, "given": signature(method)}
                return {**facts, "wanted": f"{method.name}({wanted})"}
    return None


def common_ctx_beside_setup_context(failure: Failure, student: Student) -> Facts | None:
    """Recognize a forward that takes ctx in a class with setup_context, from a TypeError about
    arguments.
    """
    error, source = failure.error, student.source
    classes = [one for one in source.tree.body if isinstance(one, ast.ClassDef)]
    for cls in classes if error and failure.raised("TypeError", "argument") else ():
        mine = cls.name in (failure.about, *source.names_used(failure.about))
        methods = {one.name: one for one in cls.body if isinstance(one, ast.FunctionDef)}
        forward = methods.get("forward")
        if forward is None or "setup_context" not in methods or positional(forward)[:1] != ["ctx"]:
            continue
        if mine or (error and is_inside(error.line, cls)):
            wanted = signature(forward).replace("(ctx, ", "(").replace("(ctx)", "()")
            return {"line": forward.lineno, "given": signature(forward), "wanted": wanted}
    return None


def positional(function: Function) -> list[str]:
    """Return the names of the parameters to which a call assigns by position."""
    return [one.arg for one in (*function.args.posonlyargs, *function.args.args)]


def signature(function: Function) -> str:
    """Return a function's name and parameters without annotations: ``f(x, dim=0)``."""
    parameters = copy.deepcopy(function.args)
    for one in arguments_of(parameters):
        one.annotation = None
    return f"{function.name}({ast.unparse(parameters)})"


def is_inside(line: int | None, node: ast.stmt) -> bool:
    """Return whether a line belongs to a statement."""
    return line is not None and node.lineno <= line <= (node.end_lineno or node.lineno)


def nearest(name: str) -> str | None:
    """Return the public name of torch that is most like another; of the same length if possible,
    because most slips are a wrong letter.
    """
    names = [one for one in dir(torch) if not one.startswith("_")]
    for one in names:
        if one.lower() == name.lower():
            return one
    near = get_close_matches(name, names, n=5, cutoff=0.6)
    alike = {one: SequenceMatcher(None, name, one).ratio() for one in near}
    return min(near, key=lambda one: (len(one) != len(name), -alike[one]), default=None)


def common_module_misspelt(failure: Failure, student: Student) -> Facts | None:
    """Recognize a module's name that is almost that of an installed one."""
    found = groups_in_error(failure, [NO_MODULE])
    names = [*INSTALLED, *sys.stdlib_module_names]
    near = get_close_matches(found["name"], names, n=1, cutoff=0.75) if found else []
    return {"name": found["name"], "near": near[0]} if found and near else None


def common_debugger(failure: Failure, student: Student) -> Facts | None:
    """Recognize a debugger that nobody can type into, and find the line that starts it. At the end
    of its input, it ends the program, as a call of exit does.
    """
    nodes = student.source.nodes
    lines = {
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(WORDS_OF_DEBUGGERS)
    }
    names = (getattr(node, "id", getattr(node, "attr", "")) for node in nodes)
    ended = failure.raised("SystemExit") and lines and not any(one in EXITS for one in names)
    if not ended and not failure.raised("BdbQuit"):
        return None
    return {"line": lines.pop()} if len(lines) == 1 else {}


def common_self_in_static_method(failure: Failure, student: Student) -> Facts | None:
    """Recognize self beside ctx in a method of an autograd.Function, which is static."""
    found = groups_in_error(
        failure, [r"\.(?P<method>forward|backward|setup_context)\(\) missing \d+ required"]
    )
    for node in student.source.nodes if found else ():
        if (
            isinstance(node, ast.FunctionDef)
            and found is not None
            and node.name == found["method"]
            and [one.arg for one in node.args.args[:2]] == ["self", "ctx"]
        ):
            return {"method": node.name, "line": node.lineno}
    return None


def common_other_parameters(failure: Failure, student: Student) -> Facts | None:
    """Recognize that a check, not the student's code, calls a function with as many arguments as
    the task's has parameters, and the student's has others.
    """
    found, error = groups_in_error(failure, CALL_OF), failure.error
    mine, ours = (one.definitions.get(failure.about) for one in (student.source, failure.stub))
    if not found or found["name"] != failure.about or (error and error.line is not None):
        return None
    if not isinstance(mine, ast.FunctionDef) or not isinstance(ours, ast.FunctionDef):
        return None
    if positional(mine) == positional(ours):
        return None
    return {"line": mine.lineno, "given": signature(mine), "wanted": signature(ours)}


def common_inplace_on_leaf(failure: Failure, student: Student) -> Facts | None:
    """Recognize a write into a leaf while torch records; name the leaf if the line shows it."""
    error = failure.error
    if error is None or not failure.raised(ON_LEAF):
        return None
    written = {
        name
        for node in student.source.nodes
        for name, line in written_names(node, SOMETIMES)
        if line == error.line
    }
    return {"name": written.pop() if len(written) == 1 else phrase("The tensor")}


def common_not_saved(failure: Failure, student: Student) -> Facts | None:
    """Recognize anything but tensors in save_for_backward; torch raises after
    forward, so the line is that of the only call.
    """
    found = groups_in_error(failure, [NOT_SAVED])
    if found is None:
        return None
    lines = {
        node.lineno
        for node in student.source.nodes
        if isinstance(node, ast.Attribute) and node.attr == "save_for_backward"
    }
    place = {"line": lines.pop()} if len(lines) == 1 else {}
    return {"type": found["type"], "count": int(found["count"]) + 1, **place}


def common_other_case(failure: Failure, student: Student) -> Facts | None:
    """Recognize a function in place of the class that has the same name in other letters."""
    found, error = groups_in_error(failure, [NO_ATTRIBUTE]), failure.error
    for node in student.source.nodes if found else ():
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr=attr, lineno=line) if (
                found and error and attr == found["name"] and line == error.line
            ):
                for other in student.source.definitions:
                    if other.lower() == name.lower() and other != name:
                        return {"name": name, "near": other, "method": attr}
    return None


def common_attribute_called(failure: Failure, student: Student) -> Facts | None:
    """Recognize an attribute of a tensor or of ctx with parentheses behind it."""
    if failure.error is None or not failure.raised("object is not callable"):
        return None
    names = {
        one.func.attr
        for one in calls_at(failure.error.line, student.source)
        if isinstance(one.func, ast.Attribute) and one.func.attr in ATTRIBUTES
    }
    return {"name": names.pop()} if len(names) == 1 else None


def common_backward_gives_none(failure: Failure, student: Student) -> Facts | None:
    """Recognize None from a call of backward, where a value is needed or is returned."""
    source, error = student.source, failure.error
    if any(isinstance(one, FUNCTIONS) and one.name == "backward" for one in source.nodes):
        return None
    if error is not None:
        line = error.line if failure.raised("NoneType") else None
        function = source.function_at(line) if line else None
    else:
        line = None
        missing = failure.actual is None and failure.expected is not None
        node = source.definitions.get(failure.about) if missing else None
        function = node.lineno if isinstance(node, ast.FunctionDef) else None
    if function is None:
        return None
    return _backward_as_value(source, function, line)


def _backward_as_value(source: Source, function: int, line: int | None) -> Facts | None:
    """Return the call of backward in a function whose result is used on a line, else returned."""
    nodes = [
        one
        for node in source.nodes
        if isinstance(node, FUNCTIONS) and node.lineno == function
        for one in ast.walk(node)
    ]
    stored = Counter(one.id for one in nodes if isinstance(one, ast.Name) and is_stored(one))
    kept = {
        ast.unparse(one.targets[0]): one.value
        for one in nodes
        if isinstance(one, ast.Assign) and stored[ast.unparse(one.targets[0])] == 1
    }
    users = (ast.BinOp, ast.Attribute, ast.Subscript) if line else (ast.Return, ast.Tuple)
    for parent in nodes:
        if not isinstance(parent, users) or (line and parent.lineno != line):
            continue
        for child in ast.iter_child_nodes(parent):
            value = kept.get(child.id) if isinstance(child, ast.Name) else child
            match value:
                case ast.Call(func=ast.Attribute(attr="backward") as called):
                    return {"call": f"{ast.unparse(called)}()", "line": value.lineno}
    return None


def calls_at(line: int | None, source: Source) -> list[ast.Call]:
    """Return the calls that begin on a line."""
    return [one for one in source.nodes if isinstance(one, ast.Call) and one.lineno == line]


def common_called_without_arguments(failure: Failure, student: Student) -> Facts | None:
    """Recognize a call without arguments of something that needs some."""
    found = groups_in_error(failure, [r"(?P<said>[\w.<>]+)\(\) missing \d+ required positional"])
    parts = found["said"].split(".") if found else []
    called = [*parts, "apply"] if "forward" in parts else parts
    line = failure.error.line if failure.error else None
    for one in calls_at(line, student.source) if found else ():
        name = ast.unparse(one.func)
        if not one.args and not one.keywords and name.rpartition(".")[2] in called:
            return {"call": name}
    return None


def common_self_missing(failure: Failure, student: Student) -> Facts | None:
    """Recognize a method whose parameters leave out self."""
    found = groups_in_error(failure, [WITHOUT_SELF])
    if not found or int(found["given"]) != int(found["taken"]) + 1:
        return None
    method = method_of(student.source, found["cls"], found["method"])
    if method is None or method.decorator_list or positional(method)[:1] in (["self"], ["ctx"]):
        return None
    wanted = copy.deepcopy(method)
    wanted.args.args.insert(0, ast.arg("self"))
    facts = {"method": method.name, "line": method.lineno, "given": signature(method)}
    return {**facts, "wanted": signature(wanted)}


def method_of(source: Source, cls: str, name: str) -> ast.FunctionDef | None:
    """Return a method of a class at the top of a file."""
    node = source.definitions.get(cls)
    for one in node.body if isinstance(node, ast.ClassDef) else ():
        if isinstance(one, ast.FunctionDef) and one.name == name:
            return one
    return None


def common_parameter_renamed(failure: Failure, student: Student) -> Facts | None:
    """Recognize a name without a value that is a parameter in the stub, and none in the file."""
    name, error = undefined(failure), failure.error
    for node in student.source.tree.body if name and error else ():
        for part in node.body if isinstance(node, ast.ClassDef) else [node]:
            if (
                not isinstance(part, ast.FunctionDef)
                or not error
                or not is_inside(error.line, part)
            ):
                continue
            asked: ast.AST | None = failure.stub.definitions.get(part.name)
            if isinstance(node, ast.ClassDef):
                asked = method_of(failure.stub, node.name, part.name)
            if not isinstance(asked, ast.FunctionDef) or name not in positional(asked):
                continue
            if name not in positional(part):
                facts = {"name": name, "line": part.lineno, "given": signature(part)}
                return {**facts, "wanted": signature(asked)}
    return None


def common_defined_below(failure: Failure, student: Student) -> Facts | None:
    """Recognize a name that a later line at the top of the file defines."""
    name, error = undefined(failure), failure.error
    if name is None or error is None or error.line is None:
        return None
    for node in student.source.tree.body:
        if node.lineno > error.line and name in {*defined_names(node), *imports_in([node])}:
            return {"name": name, "line": node.lineno}
    return None


def common_called_at_once(failure: Failure, student: Student) -> Facts | None:
    """Recognize ``f = F.apply(x)`` outside of functions, where there is no x."""
    name, error = undefined(failure), failure.error
    for node in student.source.tree.body if name and error else ():
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Call(
                    func=ast.Attribute(attr="apply") as called, args=[ast.Name(id=given)]
                ),
            ) if given == name and error and node.lineno == error.line:
                return {"name": name, "right": f"{target} = {ast.unparse(called)}"}
    return None


def common_part_needed(failure: Failure, student: Student) -> Facts | None:
    """Recognize an attribute of a tensor that a tuple or a list of tensors does not have."""
    pattern = r"'(?P<type>tuple|list)' object has no attribute '(?P<name>\w+)'"
    found = groups_in_error(failure, [pattern])
    return found if found and hasattr(torch.Tensor, found["name"]) else None


def common_special_method(failure: Failure, student: Student) -> Facts | None:
    """Recognize that a class lacks the method with which Python creates an object, or computes."""
    found = groups_in_error(failure, [NO_INIT, *NO_OPERATOR])
    name = OPERATORS.get(found.get("op", ""), "init") if found else ""
    wanted = f"__{'r' * bool(found and found.get('plain'))}{name}__"
    node = student.source.definitions.get(found["cls"]) if found else None
    if not isinstance(node, ast.ClassDef) or node.bases:
        return None
    if method_of(student.source, node.name, wanted):
        return None
    facts = {"cls": node.name, "method": wanted}
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and is_misspelt(one.name, wanted):
            advice = phrase("{near} in this line is misspelt.", near=one.name)
            return {**facts, "advice": advice, "line": one.lineno}
    fields = wanted == "__init__" and any(isinstance(one, ast.AnnAssign) for one in node.body)
    advice = phrase(OR_DATACLASS if fields else "Define it in the class.")
    return {**facts, "advice": advice, "line": node.lineno}


def is_misspelt(name: str, wanted: str) -> bool:
    """Return whether a method's name is almost that of a special method, and not another one's."""
    if name.strip("_") == wanted.strip("_") or (name, wanted) == ("__int__", "__init__"):
        return True
    known = hasattr(torch.Tensor, name) or not name.startswith("_")
    return not known and bool(get_close_matches(wanted, [name], cutoff=0.7))


def common_number_not_wrapped(failure: Failure, student: Student) -> Facts | None:
    """Recognize a number where an object of one of the file's classes is needed."""
    found = groups_in_error(
        failure, [r"'(?P<type>int|float)' object has no attribute '(?P<name>\w+)'"]
    )
    for node in student.source.tree.body if found else ():
        if found and isinstance(node, ast.ClassDef) and found["name"] in members(node):
            return {**found, "cls": node.name}
    return None


def members(cls: ast.ClassDef) -> set[str]:
    """Return the names of a class's methods and of the attributes that they give to self."""
    names = {one.name for one in cls.body if isinstance(one, ast.FunctionDef)}
    for node in ast.walk(cls):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                names.add(name)
    return names


def common_not_callable(failure: Failure, student: Student) -> Facts | None:
    """Recognize a value with parentheses behind it."""
    found = groups_in_error(failure, [r"'(?P<type>[\w.]+)' object is not callable"])
    advice = {
        **dict.fromkeys(("int", "float", "Tensor"), "For a product, write *."),
        "torch.Size": "shape is an attribute: write it without parentheses.",
    }
    if found is None or found["type"] not in advice:
        return None
    return {"type": found["type"], "advice": phrase(advice[found["type"]])}


def undefined(failure: Failure) -> str | None:
    """Return the name of a NameError."""
    found = groups_in_error(failure, [UNDEFINED])
    return found["name"] if found else None


def is_bound(name: str, source: Source) -> bool:
    """Return whether a file gives a value to a name anywhere."""
    stored = re.compile(rf"\b{re.escape(name)}\b")
    return name in source.imports or any(
        (isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Store))
        or (isinstance(node, ast.arg) and node.arg == name)
        for node in (source.nodes if stored.search(source.text) else ())
    )
