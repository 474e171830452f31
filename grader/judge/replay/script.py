"""Write a failed check as a plain Python script: the student's file, the inputs as literals, the
call, and the expected value.

Of the recorded steps, the script contains only those that lead to the wrong value. Values that do
not depend on the student's answers become literals. A scenario is printed in full, with its call.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.judge.remote.objects import RemoteObject, objects_in
from grader.judge.replay import object_steps
from grader.judge.replay.literals import NoLiteral, definition, literal, operation
from grader.judge.replay.program_source import program_lines
from grader.judge.replay.recording import Step
from grader.judge.replay.steps import (
    call_name,
    dependent,
    only_reads,
    parts_of,
    returns_nothing,
    wrong_step,
)
from grader.judge.scenario_source import scenario_names, scenario_with_definitions, without_torch
from grader.worker.wire.program import CUSTOM, Program
from grader.worker.wire.values import StudentRef

PLAIN = (bool, int, str, bytes, slice, type(None), torch.dtype, torch.device)


class ScriptWriter:
    """Writes one script: definitions first, then statements; every tensor has a name.

    ``snapshots`` has, by id, the tensors that were passed to a step, and their values at that time.
    ``inputs`` are the names to give to tensors.
    """

    def __init__(
        self,
        steps: Sequence[Step],
        snapshots: Mapping[int, tuple[Tensor, Tensor]],
        *,
        inputs: Mapping[str, Any],
        module: str,
        scenarios: str,
    ) -> None:
        self.steps = steps
        self.snapshots = snapshots
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
        self.origin = {
            id(value): (step, path) for step in steps for path, value in parts_of(step.result)
        }
        self.students = dependent(steps, self.origin)
        self.written: set[int] = set()

    def write(
        self,
        expected: Any = None,
        actual: Any = None,
        gradcheck: tuple[str, Any, tuple[Tensor, ...], dict[str, Any]] | None = None,
    ) -> list[str]:
        """Return the lines of the script, without the import of the student's module.

        ``gradcheck`` has the checker that failed, its function, inputs and options. Raise NoLiteral
        for a value that can't be written.
        """
        if gradcheck is not None:
            self._write_gradcheck(*gradcheck)
        else:
            step, path = wrong_step(self.steps, self.students, self.origin, actual)
            self._require(step)
            if step.raised is None:
                self.lines.append(f'print("got     ", {self.names[id(step)]}{path})')
            if isinstance(expected, Tensor):
                self.lines.append(f'print("expected", {literal(expected)})')
            elif expected is not None:
                self.lines.append(f'print("expected", {self.value(expected)})')
        head = [
            line
            for text in self.definitions.values()
            for line in ("", "", *text.rstrip().splitlines())
        ]
        return [*head, *(["", ""] if head else [""]), *self.lines]

    def _require(self, step: Step) -> None:
        """Write a step, after the steps that it needs."""
        if id(step) in self.written:
            return
        if step.kind == object_steps.OBJECT:
            self._require_objects(step)
            return
        self.written.add(id(step))
        if step.kind == "fetch":
            values = ", ".join(self.value(one) for one in step.args)
            self.names[id(step)] = self._new_name("y")
            self.lines.append(f"{self.names[id(step)]} = [{values}]")
            return
        if step.kind == "copy":  # the script's calls write into the tensor itself
            self._require_students(before=step)
            self.names[id(step)] = self.value(step.args[0])
            return
        if step.kind == "torch" and call_name(step.what).endswith("grad.__get__"):
            self._require_backwards(before=step)
        call = self._call(step)
        if returns_nothing(step):
            self.lines.append(call)
            return
        name = self._new_name({"observe": "seen", "get": "found"}.get(step.kind, "y"))
        self.names[id(step)] = name
        indent = ""
        if not step.grad:
            self.lines.append("with torch.no_grad():")
            indent = "    "
        self.lines.append(f"{indent}{name} = {call}")

    def _require_objects(self, last: Step) -> None:
        """Write ``last`` and the steps on objects that it needs. A method that is only called gets
        no line of its own.
        """
        steps = object_steps.needed_for(self.steps, last)
        called = {id(step.args[0]) for step in steps if step.what[0] == "call"}
        used = {id(one) for step in self.steps for one in objects_in((step.args, step.kwargs))}
        for step in steps:
            if id(step) in self.written:
                continue
            self.written.add(id(step))
            text = object_steps.expression(step, self.value)
            if step.what[0] == "put" or (step.what[0] == "get" and id(step.result) in called):
                self.names[id(step)] = text
            elif step.what[0] == "set" or (id(step.result) not in used and step is not last):
                self.lines.append(text)
            else:
                self.names[id(step)] = self._new_name("y")
                self.lines.append(f"{self.names[id(step)]} = {text}")
        self.names.setdefault(id(last), "None")

    def _require_backwards(self, *, before: Step) -> None:
        """Write the backward passes that left a gradient, for a step that reads it."""
        for step in itertools.takewhile(lambda one: one is not before, self.steps):
            if returns_nothing(step) and id(step) in self.students:
                self._require(step)

    def _require_students(self, *, before: Step) -> None:
        """Write all that the student's code did before a step."""
        for step in itertools.takewhile(lambda one: one is not before, self.steps):
            if id(step) in self.students and step.kind != "copy" and not only_reads(step):
                self._require(step)

    def _call(self, step: Step) -> str:
        if step.kind == "get":
            return f"{self.module}.{step.what}"
        if step.kind == "observe":
            source = without_torch(scenario_with_definitions(self.scenarios, step.what))
            self.definitions.setdefault("scenario", source)
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
        """Return the arguments of a step's call; options that are None or False are left out."""
        return [
            *(self.value(value) for value in step.args),
            *(
                f"{key}={self.value(value)}"
                for key, value in step.kwargs.items()
                if value is not None and value is not False and key != "only_inputs"
            ),
        ]

    def _write_gradcheck(
        self, checker: str, function: Any, inputs: tuple[Tensor, ...], options: dict[str, Any]
    ) -> None:
        if not isinstance(function, StudentRef):
            raise NoLiteral(f"{checker} was called on a function that the check defines")
        given = "(" + "".join(f"{self.value(tensor)}, " for tensor in inputs).rstrip() + ")"
        words = "".join(f", {key}={self.value(value)}" for key, value in options.items())
        self.lines.append(
            f"torch.autograd.{checker}({self.module}.{function.path}, {given}{words})"
        )

    def value(self, value: Any) -> str:
        """Return a value as Python, a tensor by its name; raise NoLiteral if that is impossible."""
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, RemoteObject) and id(value) in self.origin:
            step, path = self.origin[id(value)]
            self._require(step)
            return self.names[id(step)] + path
        if isinstance(value, float):
            return repr(value) if math.isfinite(value) else f'float("{value}")'
        if isinstance(value, torch.Size):
            return repr(tuple(value))
        if value is Ellipsis:
            return "..."
        if isinstance(value, PLAIN):
            return repr(value)
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
            held = self.snapshots.get(id(tensor), (tensor, None))[1]
            self.lines.append(f"{name} = {literal(tensor, held)}")
        return self.names[id(tensor)]

    def _twin(self, tensor: Tensor) -> Tensor | None:
        """Return the input of which a plain tensor is a copy, because checks often compare with
        copies.
        """
        for one in self.inputs:
            if one.requires_grad or tensor.requires_grad or one.stride() != tensor.stride():
                continue
            if one.dtype == tensor.dtype and one.shape == tensor.shape and torch.equal(one, tensor):
                return one
        return None

    def _new_name(self, preferred: str) -> str:
        names = itertools.chain(
            [preferred], (f"{preferred}{number}" for number in itertools.count(2))
        )
        name = next(name for name in names if name not in self.taken)
        self.taken.add(name)
        return name

    def _program(self, program: Program) -> str:
        if id(program) in self.names:
            return self.names[id(program)]
        parameters = [self._tensor(tensor) for tensor in program.parameters]
        name = self._new_name("f")
        self.names[id(program)] = name
        self.lines += program_lines(name, program, parameters, self.value, self._operation)
        return name

    def _operation(self, name: str, given: list[str]) -> str:
        if name in CUSTOM:
            self.definitions.setdefault(name, definition(name))
        return operation(name, given)
