"""Recognize slips by the exception that Python raises and by the file's text alone.

So these rules also explain why a file can't be loaded. Like the others of ``common_mistakes``, they
have their texts in ``common_mistakes.toml``.
"""

from __future__ import annotations

import ast
import re
import sys
from difflib import SequenceMatcher, get_close_matches

import torch

from grader.core.i18n import phrase
from grader.course.source import Source
from grader.judge.diagnosis import Failure, groups_in_error
from grader.judge.exception_verdicts import Facts
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
NO_METHOD = r"You must implement (the|either the) (?P<near>forward|backward)"
METHODS = frozenset({"forward", "backward", "setup_context", "jvp", "vjp", "vmap"})
"""The methods of a Function that torch calls."""
NO_MODULE = r"No module named '(?P<name>\w+)"
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
    "gradcheck": "from torch.autograd import gradcheck",
}
"""What to write for names that are usually imported; empty: ``import`` and the name."""
CONSTANTS = {"true": "True", "TRUE": "True", "false": "False", "FALSE": "False"} | dict.fromkeys(
    ("null", "NULL", "nil", "none", "NONE", "undefined"), "None"
)
OF_CTX = ("save_for_backward", "saved_tensors", "needs_input_grad", "mark_dirty")
OTHERWISE = {"e": "math.e", "pi": "math.pi"} | {name: f"ctx.{name}" for name in OF_CTX}
WORDS_OF_DEBUGGERS = ("breakpoint", "set_trace")
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


def common_misspelt(failure: Failure, student: Student) -> Facts | None:
    """Recognize a name that Python, or a search in torch, finds to be almost another one."""
    found = groups_in_error(failure, MISSPELT)
    if found is not None:
        return found
    found = groups_in_error(failure, IN_TORCH)
    near = nearest(found["name"]) if found else None
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
    """Recognize a debugger that nobody can type into, and find the line that starts it."""
    if not failure.raised("BdbQuit"):
        return None
    lines = {
        node.lineno
        for node in student.source.nodes
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(WORDS_OF_DEBUGGERS)
    }
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
