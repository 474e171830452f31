"""A failed check as a plain Python script: the file, literal inputs, the call, what was expected.

Only the steps behind the wrong value are written. What does not depend on the student's answers is
a literal. A scenario is printed whole.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Protocol

import torch
from torch import Tensor

from grader.judge.replay.literals import NoLiteral, definition, literal, operation
from grader.judge.replay.recording import Step, tensors_in
from grader.judge.replay.scenario_source import reached_by, scenario_names
from grader.judge.replay.steps import (
    STUDENT_STEPS,
    call_name,
    looks_only,
    parts_of,
    returns_nothing,
)
from grader.worker.wire.placeholders import StudentRef
from grader.worker.wire.program import CUSTOM, Program, Register, pieces

PLAIN = (bool, int, str, bytes, slice, type(None), type(Ellipsis), torch.dtype, torch.device)


class Recorded(Protocol):
    """What was done: a whole recording, or the last call alone."""

    steps: list[Step]
    snapshots: dict[int, tuple[Tensor, Tensor]]


def script_of(
    recorder: Recorded,
    *,
    expected: Any,
    actual: Any,
    inputs: dict[str, Any],
    gradcheck: Any,
    module: str,
    scenarios: str,
) -> list[str]:
    """Return the script's lines, without the import of the student's ``module``.

    ``gradcheck`` is None or (checker, function, options). Raises Inexpressible.
    """
    return _Writer(recorder, inputs, module, scenarios).write(expected, actual, gradcheck)


class _Writer:
    """Writes one script: definitions first, then statements; every tensor has a name."""

    def __init__(
        self, recorder: Recorded, inputs: dict[str, Any], module: str, scenarios: str
    ) -> None:
        self.recorder = recorder
        self.module = module
        self.scenarios = scenarios
        self.wanted = {
            id(value): name
            for name, value in inputs.items()
            if isinstance(value, Tensor) and name.isidentifier()
        }
        self.inputs: list[Tensor] = [value for value in inputs.values() if id(value) in self.wanted]
        self.definitions: dict[str, str] = {}
        self.lines: list[str] = []
        self.names: dict[int, str] = {}
        self.taken = {module, "torch", *scenario_names(scenarios)}
        self.origin: dict[int, tuple[Step, str]] = {}
        for step in recorder.steps:
            for path, value in parts_of(step.result):
                self.origin[id(value)] = (step, path)
        self.students = self._dependent()
        self.written: set[int] = set()

    def write(self, expected: Any, actual: Any, gradcheck: Any) -> list[str]:
        if gradcheck is not None:
            self._write_gradcheck(*gradcheck)
        else:
            step, path = self._target(actual)
            self._require(step)
            if step.raised is None:
                self.lines.append(f'print("got     ", {self.names[id(step)]}{path})')
            if expected is not None:
                is_tensor = isinstance(expected, Tensor)
                value = literal(expected) if is_tensor else self.value(expected)
                self.lines.append(f'print("expected", {value})')
        head = [
            line
            for text in self.definitions.values()
            for line in ("", "", *text.rstrip().splitlines())
        ]
        return [*head, *(["", ""] if head else [""]), *self.lines]

    def _dependent(self) -> set[int]:
        """The steps that depend on an answer of the student's."""
        found: set[int] = set()
        for step in self.recorder.steps:
            needs = (self.origin.get(id(tensor)) for tensor in tensors_in((step.args, step.kwargs)))
            if step.kind in STUDENT_STEPS or any(
                need is not None and id(need[0]) in found for need in needs
            ):
                found.add(id(step))
        return found

    def _target(self, actual: Any) -> tuple[Step, str]:
        """Return the step with the wrong result, and its part; else the last one asked."""
        steps = [
            step
            for step in self.recorder.steps
            if id(step) in self.students and not looks_only(step)
        ]
        if not steps:
            raise NoLiteral("the check asked nothing of your code: it reads the file")
        if steps[-1].raised is not None:
            return steps[-1], ""
        found = (
            self.origin.get(id(actual))
            if actual is not None and not isinstance(actual, bool)
            else None
        )
        if found is not None and id(found[0]) in self.students:
            return found
        return steps[-1], ""

    def _require(self, step: Step) -> None:
        """Write a step, and before it those that it needs."""
        if id(step) in self.written:
            return
        self.written.add(id(step))
        if step.kind == "torch" and call_name(step.what).endswith("grad.__get__"):
            self._require_backwards(before=step)
        call = self._call(step)
        if returns_nothing(step):
            self.lines.append(call)
            return
        name = self._new_name(
            "seen" if step.kind == "observe" else "found" if step.kind == "get" else "y"
        )
        self.names[id(step)] = name
        lines = (
            [f"{name} = {call}"] if step.grad else ["with torch.no_grad():", f"    {name} = {call}"]
        )
        self.lines += lines

    def _require_backwards(self, *, before: Step) -> None:
        """Whoever reads a gradient needs the backward passes that left it there."""
        for step in itertools.takewhile(lambda one: one is not before, self.recorder.steps):
            if returns_nothing(step) and id(step) in self.students:
                self._require(step)

    def _call(self, step: Step) -> str:
        if step.kind == "get":
            return f"{self.module}.{step.what}"
        if step.kind == "observe":
            self.definitions.setdefault("scenario", reached_by(self.scenarios, step.what))
            return f"{step.what}({', '.join([self.module, *self._arguments(step)])})"
        if step.kind == "call":
            return f"{self.module}.{step.what}({', '.join(self._arguments(step))})"
        name, arguments = call_name(step.what), self._arguments(step)
        if not name.startswith("torch.Tensor."):
            return f"{name}({', '.join(arguments)})"
        method = name.removeprefix("torch.Tensor.")
        if method.endswith(".__get__"):
            return f"{arguments[0]}.{method.removesuffix('.__get__')}"
        return f"{arguments[0]}.{method}({', '.join(arguments[1:])})"

    def _arguments(self, step: Step) -> list[str]:
        options = {
            key: value
            for key, value in step.kwargs.items()
            if value is not None and value is not False and key != "only_inputs"
        }
        return [
            *(self.value(value) for value in step.args),
            *(f"{key}={self.value(value)}" for key, value in options.items()),
        ]

    def _write_gradcheck(
        self, checker: str, function: Any, inputs: tuple[Tensor, ...], options: dict[str, Any]
    ) -> None:
        if not isinstance(function, StudentRef):
            raise NoLiteral(f"{checker} was given a function of the check's own")
        given = "(" + "".join(f"{self.value(tensor)}, " for tensor in inputs).rstrip() + ")"
        words = "".join(f", {key}={self.value(value)}" for key, value in options.items())
        self.lines.append(
            f"torch.autograd.{checker}({self.module}.{function.path}, {given}{words})"
        )

    def value(self, value: Any) -> str:
        """Return a value as Python; a tensor gets a name. Raises Inexpressible."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, torch.Size):
            return repr(tuple(value))
        if isinstance(value, PLAIN):
            return "..." if value is Ellipsis else repr(value)
        if isinstance(value, list):
            return "[" + ", ".join(map(self.value, value)) + "]"
        if isinstance(value, tuple):
            return "(" + ", ".join(map(self.value, value)) + ("," if len(value) == 1 else "") + ")"
        if isinstance(value, dict):
            items = (f"{self.value(key)}: {self.value(item)}" for key, item in value.items())
            return "{" + ", ".join(items) + "}"
        if isinstance(value, StudentRef):
            return f"{self.module}.{value.path}"
        if isinstance(value, Program):
            return self._program(value)
        raise NoLiteral(f"a {type(value).__name__} has no literal")

    def _tensor(self, tensor: Tensor) -> str:
        origin = self.origin.get(id(tensor))
        if origin is not None and (
            id(origin[0]) in self.students or (tensor.grad_fn is not None and not tensor.is_leaf)
        ):
            self._require(origin[0])
            if id(origin[0]) in self.names:
                return self.names[id(origin[0])] + origin[1]
        twin = None if id(tensor) in self.names or id(tensor) in self.wanted else self._twin(tensor)
        if twin is not None:
            return self._tensor(twin)
        if id(tensor) not in self.names:
            name = self._new_name(self.wanted.get(id(tensor), "t"))
            self.names[id(tensor)] = name
            held = self.recorder.snapshots.get(id(tensor), (tensor, None))[1]
            self.lines.append(f"{name} = {literal(tensor, held)}")
        return self.names[id(tensor)]

    def _twin(self, tensor: Tensor) -> Tensor | None:
        """Return the input that a plain tensor is a copy of."""
        for one in self.inputs:
            if one.requires_grad or tensor.requires_grad or one.stride() != tensor.stride():
                continue
            if one.dtype == tensor.dtype and one.shape == tensor.shape and torch.equal(one, tensor):
                return one
        return None

    def _new_name(self, wish: str) -> str:
        name = wish
        for number in itertools.count(2):
            if name not in self.taken:
                break
            name = f"{wish}{number}"
        self.taken.add(name)
        return name

    def _program(self, program: Program) -> str:
        """A function that is data, as a function that is text."""
        if id(program) in self.names:
            return self.names[id(program)]
        parameters = [self._tensor(tensor) for tensor in program.parameters]
        name = self._new_name("f")
        self.names[id(program)] = name
        arguments = [f"x{k}" for k in range(program.inputs)]
        registers = [*arguments, *parameters]
        body = []
        for step, args in program.steps:
            given = [registers[a.index] if isinstance(a, Register) else self.value(a) for a in args]
            results = [f"r{len(registers) + k}" for k in range(pieces(step, tuple(args)) or 1)]
            body.append(f"    {', '.join(results)} = {self._operation(step, given)}")
            registers += results
        outs = ", ".join(registers[out.index] for out in program.outputs)
        comma = "" if program.single or len(program.outputs) > 1 else ","
        self.lines += [
            "",
            f"def {name}({', '.join(arguments)}):",
            *body,
            f"    return {outs}{comma}",
            "",
        ]
        return name

    def _operation(self, name: str, given: list[str]) -> str:
        if name in CUSTOM:
            self.definitions.setdefault(name, definition(name))
        return operation(name, given)
