"""The call that a check asked last, as a learner would type it: a few lines of Python to paste, the very inputs in them.

What ``session`` remembers of a call becomes text only once the check has failed. What can't be written down in a few lines (an object
of the student's, a custom Function, a large tensor) makes no snippet, and neither does a scenario, which is no call.

Imports torch and ``wire``.
"""

from __future__ import annotations

import functools
import keyword
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grader.wire.program import CUSTOM, FUNCTIONS, OPERATORS, Program, Register, pieces_of
from grader.wire.values import StudentRef

MAX_ELEMENTS = 64
MAX_CHARACTERS = 4000
MAX_DEPTH = 8
SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
FUNCTION_NAMES = {"cat": "torch.cat", "stack": "torch.stack", "softplus": "torch.nn.functional.softplus"}
LETTERS = "xyzabcdeghijklmnopqrstuvw"


class Unsayable(Exception):
    """It can't be written down in a few lines."""


@dataclass(slots=True)
class Asked:
    """The last call of a student's function: ``incoming`` is what its vector-Jacobian product was asked for, ``deeper`` one of that."""

    path: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    grad: bool
    handle: object = None
    single: bool = True
    incoming: Tensor | None = None
    deeper: bool = False


@dataclass(slots=True)
class Lines:
    """A snippet as it grows: definitions, the names that are taken, what is imported from the lesson's file."""

    inputs: Mapping[str, Any]
    imported: dict[str, None] = field(default_factory=dict)
    defined: list[str] = field(default_factory=list)
    known: list[tuple[Any, str]] = field(default_factory=list)

    def taken(self, name: str) -> bool:
        """Whether a name stands for something already."""
        return name in self.imported or name == "torch" or any(name == other for _, other in self.known)

    def free_name(self, wanted: str) -> str:
        """A name of its own: the one that was wanted, or the first letter that is free."""
        good = wanted.isidentifier() and not keyword.iskeyword(wanted)
        names = [wanted, *LETTERS] if good else LETTERS
        found = next((name for name in names if not self.taken(name)), None)
        if found is None:
            raise Unsayable
        return found

    def name_of(self, value: Any, wanted: str = "") -> str:
        """The name under which a tensor or a Program is defined, with its definition before."""
        for other, name in self.known:
            if other is value:
                return name
        usual = wanted or ("f" if isinstance(value, Program) else "x")
        name = self.free_name(next((name for name, other in self.inputs.items() if same(other, value)), usual))
        self.known.append((value, name))
        self.defined += [f"{name} = {tensor_code(value)}"] if isinstance(value, Tensor) else self.program_lines(value, name)
        return name

    def value(self, value: Any, wanted: str = "", depth: int = 0) -> str:
        """An argument as code."""
        if depth > MAX_DEPTH:
            raise Unsayable
        inner = functools.partial(self.value, depth=depth + 1)
        match value:
            case Tensor() | Program():
                return self.name_of(value, wanted)
            case StudentRef():
                self.imported[value.path.split(".")[0]] = None
                return value.path
            case None | bool() | int() | float() | complex() | str() | torch.dtype():
                return number_code(value)
            case list():
                return "[" + ", ".join(map(inner, value)) + "]"
            case tuple():
                return "(" + ", ".join(map(inner, value)) + ("," if len(value) == 1 else "") + ")"
            case dict():
                return "{" + ", ".join(f"{inner(key)}: {inner(one)}" for key, one in value.items()) + "}"
        raise Unsayable

    def program_lines(self, program: Program, name: str) -> list[str]:
        """A Program as a function definition, a line a step."""
        names = [*LETTERS[: program.inputs], *(self.name_of(parameter, "w") for parameter in program.parameters)]
        head = f"def {name}({', '.join(names[: program.inputs])}):"
        body: list[str] = []
        for operation, args in program.steps:
            count = pieces_of(operation, tuple(args)) or 1
            new = [f"t{len(names) + k}" for k in range(count)]
            body.append(f"    {', '.join(new)} = {operation_code(operation, [argument_code(one, names) for one in args])}")
            names += new
        results = ", ".join(names[out.index] for out in program.outputs)
        return [head, *body, f"    return {results}" + ("" if program.single or len(program.outputs) > 1 else ",")]


def snippet(asked: Asked | None, *, module: str, inputs: Mapping[str, Any], gradcheck: bool) -> str | None:
    """The lines, or None where there are none to give. Tensors are called as in ``inputs``; ``gradcheck``: it is that which failed."""
    if asked is None:
        return None
    try:
        text = "\n".join(_lines(asked, module, inputs, gradcheck=gradcheck))
    except (Unsayable, RuntimeError, RecursionError):
        return None
    return text if len(text) <= MAX_CHARACTERS else None


def _lines(asked: Asked, module: str, inputs: Mapping[str, Any], *, gradcheck: bool) -> list[str]:
    lines = Lines(inputs)
    lines.imported[asked.path.split(".")[0]] = None
    given = [lines.value(one) for one in asked.args]
    named = [f"{name}={lines.value(one, name)}" for name, one in asked.kwargs.items()]
    if gradcheck and not named:
        checker = "gradgradcheck" if asked.deeper else "gradcheck"
        asks = [f"print(torch.autograd.{checker}({asked.path}, ({', '.join(given)},)))"]
    else:
        asks = _call(asked, lines, f"{asked.path}({', '.join(given + named)})")
    return ["import torch", f"from {module} import {', '.join(lines.imported)}", "", *lines.defined, *asks]


def _call(asked: Asked, lines: Lines, call: str) -> list[str]:
    """The call, and the gradient where one was asked for; without a graph where there was none."""
    if not asked.grad:
        return ["with torch.no_grad():", f"    print({call})"]
    leaves = [name for value, name in lines.known if isinstance(value, Tensor) and value.requires_grad]
    if asked.incoming is None or not leaves or asked.deeper or not asked.single:
        return [f"print({call})"]
    vector = lines.name_of(asked.incoming.detach(), "v")
    result = lines.free_name("y")
    gradient = f"torch.autograd.grad({result}, [{', '.join(leaves)}], {vector}, allow_unused=True)"
    return [f"{result} = {call}", f"print({result})", f"print({gradient})"]


# ---------------------------------------------------------------------------------------------------------------- values


def same(one: Any, other: Any) -> bool:
    """Whether two values are one object, or tensors that can't be told apart by what they hold."""
    if one is other:
        return True
    both = isinstance(one, Tensor) and isinstance(other, Tensor) and one.dtype == other.dtype and one.shape == other.shape
    return both and one.numel() <= MAX_ELEMENTS and torch.equal(one.detach(), other.detach())


def number_code(value: Any) -> str:
    """A plain value as Python has it, NaN and infinities included."""
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    return repr(value)


def tensor_code(tensor: Tensor) -> str:
    """An expression that makes the tensor again: its numbers, dtype, strides, and whether it requires grad."""
    plain = tensor.detach()
    requires = tensor.requires_grad
    if 0 in plain.shape:
        grad = ", requires_grad=True" if requires else ""
        return f"torch.zeros({tuple(plain.shape)}, dtype={plain.dtype}{grad})"
    if plain.is_contiguous():
        return _literal(plain, requires_grad=requires)
    return _strided(plain) + (".requires_grad_()" if requires else "")


def _strided(plain: Tensor) -> str:
    """A tensor that is a view of a differently laid out one."""
    if plain.dim() == 2 and plain.t().is_contiguous():
        return f"{_literal(plain.t())}.t()"
    elements = plain.untyped_storage().nbytes() // plain.element_size()
    if elements > MAX_ELEMENTS:
        raise Unsayable
    whole = plain.as_strided((elements,), (1,), 0)
    return f"{_literal(whole)}.as_strided({tuple(plain.shape)}, {plain.stride()}, {plain.storage_offset()})"


def _literal(plain: Tensor, *, requires_grad: bool = False) -> str:
    if plain.numel() > MAX_ELEMENTS:
        raise Unsayable
    grad = ", requires_grad=True" if requires_grad else ""
    return f"torch.tensor({_numbers(plain.tolist(), plain.dtype)}, dtype={plain.dtype}{grad})"


def _numbers(value: Any, dtype: torch.dtype) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_numbers(one, dtype) for one in value) + "]"
    if isinstance(value, float) and dtype is torch.float32:
        return number_code(_shortest(value))
    return number_code(value)


def _shortest(value: float) -> float:
    """The shortest decimal that float32 takes for this very number; nine digits always are (IEEE 754)."""
    return next(short for digits in range(2, 10) if (short := float(f"{value:.{digits}g}")) != short or float32(short) == value)


def float32(value: float) -> float:
    """The nearest number that float32 has."""
    return float(torch.tensor(value, dtype=torch.float32))


def argument_code(value: Any, names: list[str]) -> str:
    """An argument of a Program's step."""
    return names[value.index] if isinstance(value, Register) else number_code(value)


def operation_code(name: str, args: list[str]) -> str:
    """A Program's step as an expression; raises Unsayable for a custom Function, which has no name that a learner could type."""
    if name in SIGNS:
        return f" {SIGNS[name]} ".join(args)
    if name in OPERATORS:
        return f"{args[0]}[{args[1]}]" if name == "getitem" else f"-{args[0]}"
    if name in CUSTOM:
        raise Unsayable
    if name == "where_positive":
        return f"torch.where({args[0]} > 0, {args[1]}, {args[2]})"
    if name in ("cat", "stack"):
        return f"{FUNCTION_NAMES[name]}(({', '.join(args)},))"
    if name in FUNCTIONS:
        return f"{FUNCTION_NAMES[name]}({', '.join(args)})"
    return f"{args[0]}.{name}({', '.join(args[1:])})"
