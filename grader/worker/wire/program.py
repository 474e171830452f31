"""Represent graphs and functions as plain data, from which either side of the border builds them.

A check writes ordinary PyTorch once, which becomes data that can cross::

    f = program(lambda x: (x ** 3).log())
    f(torch.tensor(5.0))                  # runs here
    student.second_derivative(f, x)       # runs in the worker

A program is a register machine: its inputs and parameters are the first registers, and every step
appends its results. The operations are an allow-list, so data can't name anything else.
``parameters`` are tensors that live inside the function, as a module's do.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, cast

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class Register:
    """A place for a tensor while a program runs."""

    index: int


class Cube(torch.autograd.Function):
    """x³ as a custom Function that can be differentiated any number of times."""

    @staticmethod
    def forward(ctx: Any, x: Tensor) -> Tensor:
        """x³."""
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """3x² times the incoming gradient."""
        (x,) = ctx.saved_tensors
        return grads[0] * 3 * x * x


class Blend(torch.autograd.Function):
    """x·y + y as a custom Function of two tensors of one shape."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor) -> Tensor:
        """x·y + y."""
        ctx.save_for_backward(x, y)
        return x * y + y

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """(y, x + 1) times the incoming gradient."""
        x, y = ctx.saved_tensors
        return grads[0] * y, grads[0] * (x + 1)


SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
"""Python's signs of the binary operators that can be recorded."""
OPERATORS: dict[str, Callable[..., Any]] = {
    name: getattr(operator, name) for name in (*SIGNS, "neg", "getitem")
}
METHODS = frozenset(
    """exp log sin cos tanh sqrt square abs relu sigmoid softplus sum mean prod clone detach reshape
    view t permute expand squeeze unsqueeze flatten chunk split unbind contiguous clamp reciprocal
    """.split()
)
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "cube": cast(Any, Cube).apply,
    "blend": cast(Any, Blend).apply,
    "cat": lambda *parts: torch.cat(parts),
    "stack": lambda *parts: torch.stack(parts),
    "dropout": torch.nn.functional.dropout,
    "softplus": torch.nn.functional.softplus,
    "where_positive": lambda c, a, b: torch.where(c > 0, a, b),
}


def apply_operation(name: str, args: list[Any]) -> Any:
    """Run a step by its name in the allow-list: operator, function or method."""
    if name in OPERATORS:
        return OPERATORS[name](*args)
    if name in FUNCTIONS:
        return FUNCTIONS[name](*args)
    if name in METHODS:
        return getattr(args[0], name)(*args[1:])
    raise ValueError(f"no such operation: {name}")


@dataclass(frozen=True, eq=False)
class Program:
    """A function of tensors as data. Calling it runs it; several outputs are a tuple."""

    inputs: int
    parameters: list[Tensor]
    steps: list[list[Any]]
    outputs: list[Register]
    single: bool
    names: tuple[str, ...] = ()
    """What the recorded function calls its inputs and parameters; this does not cross."""

    def as_parts(self) -> list[Any]:
        """Return the arguments that make the same program: plain data, registers and tensors."""
        return [self.inputs, self.parameters, self.steps, self.outputs, self.single]

    def as_function(self) -> Callable[..., Any]:
        """Return a plain function, for code that expects one."""

        def f(*inputs: Tensor) -> Any:
            return self(*inputs)

        f.__qualname__ = f.__name__
        return f

    def __call__(self, *inputs: Tensor) -> Any:
        """Run the steps; raise TypeError for a wrong number or type of inputs."""
        if len(inputs) != self.inputs:
            raise TypeError(f"this function takes {self.inputs} tensors, {len(inputs)} were given")
        for value in inputs:
            if hasattr(type(value), "call_beside"):  # an object in the worker
                result = cast(Any, value).call_beside(self, inputs)
                return result if self.single else tuple(result[k] for k in range(len(self.outputs)))
            if not isinstance(value, Tensor):
                raise TypeError(
                    f"this function takes tensors, and got one of type {type(value).__name__}"
                )
        registers: list[Any] = [*inputs, *self.parameters]
        for name, args in self.steps:
            result = apply_operation(
                name, [registers[a.index] if isinstance(a, Register) else a for a in args]
            )
            if isinstance(result, Tensor):
                registers.append(result)
            else:
                registers.extend(result)
        results = tuple(registers[out.index] for out in self.outputs)
        return results[0] if self.single else results


class Symbol:
    """A tensor while a program is recorded, with its operators and allowed methods."""

    __slots__ = ("_recorder", "_register")

    def __init__(self, recorder: _Recorder, register: Register) -> None:
        self._recorder = recorder
        self._register = register

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name not in METHODS and name not in FUNCTIONS:
            raise AttributeError(f"a program has no operation {name!r}")
        return lambda *args: self._recorder.record(name, self, *args)

    def __neg__(self) -> Any:
        return self._recorder.record("neg", self)

    def __getitem__(self, index: int) -> Any:
        return self._recorder.record("getitem", self, index)


def define_operators(cls: type, record: Callable[[Any, str, Any, Any], Any]) -> None:
    """Give a class the binary operators, reflected too: ``record(self, name, left, right)``."""
    for name in SIGNS:

        def plain(self: Any, other: Any, name: str = name) -> Any:
            return record(self, name, self, other)

        def reflected(self: Any, other: Any, name: str = name) -> Any:
            return record(self, name, other, self)

        setattr(cls, f"__{name}__", plain)
        setattr(cls, f"__r{name}__", reflected)


define_operators(Symbol, lambda self, name, *operands: self._recorder.record(name, *operands))


class _Recorder:
    def __init__(self, inputs: int, parameters: list[Tensor]) -> None:
        self.count = inputs + len(parameters)
        self.steps: list[list[Any]] = []

    def record(self, name: str, *args: Any) -> Any:
        self.steps.append([name, [a._register if isinstance(a, Symbol) else a for a in args]])
        several = pieces(name, args)
        symbols = tuple(Symbol(self, Register(self.count + k)) for k in range(several or 1))
        self.count += len(symbols)
        return symbols if several else symbols[0]


def pieces(name: str, args: tuple[Any, ...]) -> int:
    """Return how many tensors an operation returns; 0 means one that is not in a tuple."""
    if name == "chunk":
        return int(args[1])
    if name == "split" and isinstance(args[1], list | tuple):
        return len(args[1])
    if name in ("split", "unbind"):
        raise ValueError(
            f"record chunk, or split with a list of sizes, instead of {name}: how many pieces it"
            " gives must be known beforehand"
        )
    return 0


def program(
    function: Callable[..., Any], *, inputs: int = 1, parameters: list[Tensor] | None = None
) -> Program:
    """Record ``function`` as a Program.

    ``function`` gets ``inputs`` symbols and then one for each of ``parameters``, and returns a
    symbol or a tuple of them. ``chunk(n)`` must divide evenly; ``split`` takes a list of sizes.
    """
    parameters = parameters or []
    recorder = _Recorder(inputs, parameters)
    symbols = [Symbol(recorder, Register(k)) for k in range(recorder.count)]
    result = function(*symbols)
    single = isinstance(result, Symbol)
    outputs = [symbol._register for symbol in ((result,) if single else result)]
    code = getattr(function, "__code__", None)
    names = code.co_varnames[: code.co_argcount][: len(symbols)] if code else ()
    return Program(inputs, parameters, recorder.steps, outputs, single, names)


def run_within(manager: Any, function: Any, /, *args: Any) -> Any:
    """Return what a function returns for these arguments inside of a context manager, or of one
    that is made there: a tuple of a function and its arguments.
    """
    with manager[0](*manager[1:]) if isinstance(manager, tuple) else manager:
        return function(*args)


def run_apart(function: Callable[..., Any], *args: Any) -> Any:
    """Return what a function returns in a thread of its own: a mode of torch's that it leaves on
    ends there.
    """

    def run(grad: bool) -> Any:
        with torch.set_grad_enabled(grad):
            return function(*args)

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(run, torch.is_grad_enabled()).result()


def run_chain(formulas: Sequence[str], times: int, /, **names: Any) -> list[Any]:
    """Return the first of ``names`` and what the formulas give in turn, ``times`` times over. Each
    result gets the name of that first one.
    """
    first = next(iter(names))
    codes = [compile(formula, "<formula>", "eval", dont_inherit=True) for formula in formulas]
    results = [names[first]]
    for code in codes * times:
        names[first] = eval(code, {}, names)
        results.append(names[first])
    return results
