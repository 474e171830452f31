"""Write tensors and operations as Python text, for a script.

Record what one check does with the student's code, step by step, for ``script``.

A ``Recorder`` observes a check inside the judge: its session passes requests on to the real one,
and a torch function mode reports what the check does in torch. Recording changes no verdict,
because values pass through unchanged.

Select the steps on remote objects that a script needs, and write each as Python.

Write a program as a Python function.

Inspect recorded steps: the parts of a result, the Python for a call, which step went wrong.

Write a failed check as a plain Python script: the student's file, the inputs as literals, the
call, and the expected value.

Of the recorded steps, the script contains only those that lead to the wrong value. Values that do
not depend on the student's answers become literals. A scenario is printed in full, with its call.

Write a check's last call as a learner would type it: a few lines of Python to paste, with the
same inputs.

The report shows one for every failed check, so it is made from the session's record of the last
call; ``grade replay`` needs a full recording instead. There is no snippet for a call that would
take more than a few lines, and none for a scenario, because a scenario is not a call.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

from grader.judge.remote.proxies import (
    Copies,
    LastCall,
    RemoteCallable,
    RemoteObject,
    RemoteStudent,
    SessionProtocol,
    has_objects,
    objects_in,
)
from grader.judge.scenario_source import scenario_names, scenario_with_definitions, without_torch
from grader.worker.wire.compat import without_torch_function
from grader.worker.wire.program import CUSTOM, OPERATORS, Blend, Cube, Program, Register, pieces
from grader.worker.wire.values import StudentRef

LONGEST = 10_000
"""How many elements a tensor may have; a longer one can't be written as a literal."""


@dataclass(slots=True)
class Step:
    """One step of a check. ``kind``: call, observe, get (a student's constant), copy (what the
    student's code left in an argument), torch, object (a step on a remote object) or fetch.

    ``what`` is a path in the student's file, a scenario, a function of torch, or the name of the
    step on an object. ``result`` is None if the step raised.
    """

    kind: str
    what: Any
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = field(default_factory=dict)
    result: Any = None
    raised: BaseException | None = None
    grad: bool = True
    """Whether autograd was recording."""


class Recorder:
    """The steps of one check, and a student for it to use."""

    def __init__(self, session: Any) -> None:
        self.steps: list[Step] = []
        self.snapshots: dict[int, tuple[Tensor, Tensor]] = {}
        """By id, every tensor that was passed to a step, and its value at that time."""
        self._session = session
        self._watched = _RecordingSession(session, self)
        self.student = RemoteStudent(cast(SessionProtocol, self._watched))
        self.on = False
        self._mode: Any = _RecordingMode(self)  # torch's own methods are not annotated

    def __enter__(self) -> Recorder:
        self.on = True
        self._session.recorder = self._watched
        self._mode.__enter__()
        return self

    def __exit__(self, *ended: Any) -> None:
        self._mode.__exit__(*ended)
        self._session.recorder = None
        self.on = False

    def step(
        self,
        kind: str,
        what: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        do: Callable[[], Any],
    ) -> Any:
        """Run and record a step. What it does inside is not recorded as separate steps."""
        if not self.on:
            return do()
        step = Step(kind, what, args, kwargs, grad=torch.is_grad_enabled())
        for tensor in tensors_in((args, kwargs)):
            self._snapshot(tensor)
        self.on = False
        try:
            step.result = do()
        except BaseException as error:
            step.raised = error
            raise
        finally:
            self.on = True
            self.steps.append(step)
        return step.result

    def _snapshot(self, tensor: Tensor) -> None:
        if id(tensor) not in self.snapshots:
            with without_torch_function():
                value = tensor.detach()
                value = value.clone() if tensor.numel() <= LONGEST else value
                self.snapshots[id(tensor)] = (tensor, value)


class _RecordingSession:
    """Passes everything on to a session, and records the check's requests."""

    def __init__(self, session: Any, recorder: Recorder) -> None:
        self._session = session
        self._recorder = recorder

    def __getattr__(self, name: str) -> Any:
        return getattr(self._session, name)

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if has_objects((args, kwargs)):
            return self._session.construct(path, args, kwargs)  # recorded as a step on objects
        return self._recorder.step(
            "call", path, args, kwargs, lambda: self._session.call(path, args, kwargs)
        )

    def observe(self, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._recorder.step(
            "observe", scenario, args, kwargs, lambda: self._session.observe(scenario, args, kwargs)
        )

    def step(
        self, kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> RemoteObject:
        taken: RemoteObject = self._recorder.step(
            "object",
            (kind, name),
            args,
            kwargs or {},
            lambda: self._session.step(kind, name, args, kwargs),
        )
        return taken

    def read(self, objects: list[RemoteObject]) -> list[Any]:
        values: list[Any] = self._recorder.step(
            "fetch", None, tuple(objects), {}, lambda: self._session.read(objects)
        )
        return values

    @contextlib.contextmanager
    def writing_allowed(self) -> Iterator[Copies]:
        with self._session.writing_allowed() as copies:
            yield _RecordingCopies(copies, self._recorder)

    def resolve(self, path: str) -> Any:
        """Return the value of a name. For a function, record nothing until it is called."""
        recorder, before = self._recorder, len(self._recorder.steps)
        value = recorder.step("get", path, (), {}, lambda: self._session.resolve(path))
        if isinstance(value, RemoteCallable):
            del recorder.steps[before:]
            return RemoteCallable(cast(SessionProtocol, self), path, is_class=value.is_class)
        return value


class _RecordingCopies(Copies):
    """Records which of the student's copies a check looks at."""

    def __init__(self, copies: Copies, recorder: Recorder) -> None:
        self._copies = copies
        self._recorder = recorder

    def of(self, tensor: Tensor) -> Tensor:
        left: Tensor = self._recorder.step(
            "copy", None, (tensor,), {}, lambda: self._copies.of(tensor)
        )
        return left


class _RecordingMode(TorchFunctionMode):
    """Records what a check does in torch."""

    def __init__(self, recorder: Recorder) -> None:
        super().__init__()
        self._recorder = recorder

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        options = kwargs or {}
        return self._recorder.step("torch", func, args, options, lambda: func(*args, **options))


def tensors_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in plain data, including those in its programs."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Program):
        yield from value.parameters
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)


SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
CALLS = {
    "cat": "torch.cat(({all},))",
    "stack": "torch.stack({all})",
    "softplus": "torch.nn.functional.softplus({0})",
    "where_positive": "torch.where({0} > 0, {1}, {2})",
}
CUSTOM_CLASSES = {"cube": Cube, "blend": Blend}


class NoLiteral(Exception):
    """A value that can't be written as Python; the text says which."""


def literal(tensor: Tensor, held: Tensor | None = None) -> str:
    """Return ``torch.tensor(…)`` with the dtype, strides and ``requires_grad`` of ``tensor``.

    ``held`` are its values at the time of the step; by default, its values now. Raise NoLiteral if
    it is too long.
    """
    held = tensor.detach() if held is None else held
    if tensor.numel() > LONGEST:
        raise NoLiteral(f"a tensor of {tensor.numel():,} elements is too long to be written out")
    dtype, shape, strides = str(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride())
    after = ".requires_grad_()" if tensor.requires_grad else ""
    if not tensor.numel() and tensor.dim() != 1:
        return f"torch.tensor([], dtype={dtype}).reshape({shape}){after}"
    if tensor.is_contiguous() or not tensor.numel():
        wants = ", requires_grad=True" if tensor.requires_grad else ""
        return f"torch.tensor({all_digits(held)}, dtype={dtype}{wants})"
    reach = 1 + sum((size - 1) * stride for size, stride in zip(shape, strides, strict=True))
    storage = torch.zeros(reach, dtype=held.dtype)
    if 0 in strides:  # expanded: elements that share memory are written once
        storage[_places(tensor)] = held.flatten()
    else:
        storage.as_strided(shape, strides).copy_(held)
    return (
        f"torch.tensor({all_digits(storage)}, dtype={dtype}).as_strided({shape}, {strides}){after}"
    )


def _places(tensor: Tensor) -> Tensor:
    grids = torch.meshgrid(*(torch.arange(size) for size in tensor.shape), indexing="ij")
    places = torch.zeros(tensor.shape, dtype=torch.int64)
    for grid, stride in zip(grids, tensor.stride(), strict=True):
        places += grid * stride
    return places.flatten()


def all_digits(held: Tensor) -> str:
    """Return the numbers in a tensor, with all their digits."""
    text = repr(held.tolist())
    return text.replace("nan", 'float("nan")').replace("inf", 'float("inf")')


def operation(name: str, given: list[str]) -> str:
    """Return an operation of a program as Python code; ``given`` are its arguments as text."""
    if name == "getitem":
        return f"{given[0]}[{given[1]}]"
    if name == "neg":
        return f"-{given[0]}"
    if name in OPERATORS:
        left = f"({given[0]})" if given[0].startswith("-") else given[0]
        return f"{left} {SYMBOLS[name]} {given[1]}"
    if name in CUSTOM:
        return f"{CUSTOM_CLASSES[name].__name__}.apply({', '.join(given)})"
    if name in CALLS:
        return CALLS[name].format(*given, all=", ".join(given))
    return f"{given[0]}.{name}({', '.join(given[1:])})"


def definition(name: str) -> str:
    """Return the class behind an operation in ``CUSTOM`` as text, without annotations."""
    text = inspect.getsource(CUSTOM_CLASSES[name])
    return re.sub(r"(: | -> )(Any|Tensor)\b", "", text)


OBJECT = "object"
SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**", "matmul": "@"}
UNARY = {"neg": "-", "pos": "+"}
WITH_EFFECT = ("call", "set", "torch")


def of_value(steps: Sequence[Step], value: Any) -> RemoteObject | None:
    """Return the object whose fetched value this is; for a dictionary, that of its last value."""
    wanted = list(value.values())[-1:] if isinstance(value, dict) else [value]
    for step in reversed(steps):
        if step.kind == "fetch":
            for one, fetched in zip(step.args, step.result or (), strict=False):
                if any(fetched is part for part in wanted):
                    return one  # type: ignore[no-any-return]
    return None


def needed_for(steps: Sequence[Step], last: Step) -> list[Step]:
    """Return the steps on objects that lead to ``last``, in order: those that it uses, and all that
    may have changed what it uses.
    """
    before = [step for step in steps[: _place(steps, last) + 1] if step.kind == OBJECT]
    related = _related(before, last)
    used: set[int] = set()
    needed = []
    for step in reversed(before):
        touches = any(id(one) in related for one in _objects_of(step))
        if step is last or id(step.result) in used or (touches and step.what[0] in WITH_EFFECT):
            needed.append(step)
            used.update(id(one) for one in objects_in((step.args, step.kwargs)))
    return needed[::-1]


def _place(steps: Sequence[Step], last: Step) -> int:
    return next(place for place, step in enumerate(steps) if step is last)


def _objects_of(step: Step) -> Iterator[RemoteObject]:
    yield from objects_in((step.args, step.kwargs, step.result))


def _related(steps: Sequence[Step], last: Step) -> set[int]:
    """Return the ids of all objects that steps connect with the last one's."""
    related = {id(one) for one in _objects_of(last)}
    while True:
        more = set(related)
        for step in steps:
            ids = {id(one) for one in _objects_of(step)}
            if ids & more:
                more |= ids
        if more == related:
            return related
        related = more


def expression(step: Step, value: Callable[[Any], str]) -> str:
    """Return a step as Python: an expression, or an assignment."""
    kind, name = step.what
    args = [value(arg) for arg in step.args]
    options = [f"{key}={value(option)}" for key, option in step.kwargs.items()]
    if kind == "put":
        return args[0]
    if kind == "get":
        return f"{args[0]}.{name}"
    if kind == "set":
        return f"{args[0]}.{name} = {args[1]}"
    if kind == "call":
        return f"{args[0]}({', '.join([*args[1:], *options])})"
    if kind == "torch":
        return f"{name}({', '.join([*args, *options])})"
    if name in SIGNS:
        args = [f"({arg})" if arg.startswith("-") else arg for arg in args]
        return f"{args[0]} {SIGNS[name]} {args[1]}"
    if name == "is_":
        return f"{args[0]} is {args[1]}"
    if name == "getitem":
        return f"{args[0]}[{args[1]}]"
    return f"{UNARY[name]}{args[0]}" if name in UNARY else f"{name}({args[0]})"


def program_lines(
    name: str,
    program: Program,
    parameters: list[str],
    value: Callable[[Any], str],
    operation: Callable[[str, list[str]], str],
) -> list[str]:
    """Return the lines that define a program as the function ``name``; ``parameters`` are the names
    of its parameter tensors. ``value`` writes an argument, and ``operation`` a call, as Python.
    """
    arguments = [f"x{k}" for k in range(program.inputs)]
    registers = [*arguments, *parameters]
    body = []
    for step, args in program.steps:
        given = [registers[a.index] if isinstance(a, Register) else value(a) for a in args]
        results = [f"r{len(registers) + k}" for k in range(pieces(step, tuple(args)) or 1)]
        body.append(f"    {', '.join(results)} = {operation(step, given)}")
        registers += results
    outs = ", ".join(registers[out.index] for out in program.outputs)
    comma = "" if program.single or len(program.outputs) > 1 else ","
    head = f"def {name}({', '.join(arguments)}):"
    return ["", head, *body, f"    return {outs}{comma}", ""]


Origins = Mapping[int, tuple[Step, str]]
"""The step that gave a value, and its place in the result, by the value's id."""
STUDENT_STEPS = ("call", "observe", "get", "copy", "object", "fetch")


def parts_of(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield a result and its parts, each with its path: ``["gradient"]``, ``[0]``. Integers, bools
    and None inside it are left out, because equal ones are the same object.
    """
    if isinstance(value, Tensor | RemoteObject | list | tuple | dict | float | str) or (
        path == "" and value is not None
    ):
        yield path, value
    if isinstance(value, dict):
        for key, item in value.items():
            yield from parts_of(item, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from parts_of(item, f"{path}[{index}]")


def call_name(function: Any) -> str:
    """Return a torch function's name as code, ``torch.Tensor.sum``; raise NoLiteral without one."""
    if function in (torch.autograd.grad, torch.autograd.backward):
        return f"torch.autograd.{function.__name__}"
    name = resolve_name(function)
    if name is None:
        raise NoLiteral(f"{getattr(function, '__name__', function)} has no public name")
    return str(name)


def returns_nothing(step: Step) -> bool:
    return step.what in (Tensor.backward, torch.autograd.backward)


def only_reads(step: Step) -> bool:
    """Return whether a torch step only reads a value, such as a comparison."""
    return (
        step.kind == "torch"
        and step.raised is None
        and not (step.what is torch.autograd.grad or returns_nothing(step))
    )


def dependent(steps: Sequence[Step], origins: Origins) -> set[int]:
    """Return the ids of the steps that depend on a student's answer."""
    found: set[int] = set()
    for step in steps:
        given = (origins.get(id(one)) for one in tensors_in((step.args, step.kwargs)))
        if step.kind in STUDENT_STEPS or any(
            origin is not None and id(origin[0]) in found for origin in given
        ):
            found.add(id(step))
    return found


def wrong_step(
    steps: Sequence[Step], students: set[int], origins: Origins, actual: Any
) -> tuple[Step, str]:
    """Return the step that gave the wrong value, and its place in the result; else the last step
    that used the student's code. Raise NoLiteral if there is none.
    """
    used = [step for step in steps if id(step) in students and not only_reads(step)]
    if not used:
        raise NoLiteral("the check does not call your code: it reads the file")
    if used[-1].raised is None and actual is not None and not isinstance(actual, bool):
        fetched = of_value(steps, actual)
        if fetched is not None and id(fetched) in origins:
            return origins[id(fetched)]
        step, path = origins.get(id(actual), (None, ""))
        if step is not None and id(step) in students:
            return step, path
    return _before_fetch(steps, used[-1]), ""


def _before_fetch(steps: Sequence[Step], step: Step) -> Step:
    """Return the last step on an object before a fetch; for any other step, the step itself."""
    if step.kind != "fetch":
        return step
    before = itertools.takewhile(lambda one: one is not step, steps)
    return [one for one in before if one.kind == OBJECT][-1]


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
        if step.kind == OBJECT:
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
        steps = needed_for(self.steps, last)
        called = {id(step.args[0]) for step in steps if step.what[0] == "call"}
        used = {id(one) for step in self.steps for one in objects_in((step.args, step.kwargs))}
        for step in steps:
            if id(step) in self.written:
                continue
            self.written.add(id(step))
            text = expression(step, self.value)
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


MAX_CHARACTERS = 4000


def snippet(
    call: LastCall | None,
    *,
    module: str,
    inputs: Mapping[str, Any],
    gradcheck: bool,
    in_notebook: bool = False,
) -> str | None:
    """Return the text, or None if the call can't be written or is too long. Tensors are named as in
    ``inputs``. ``gradcheck`` says that a gradcheck failed. With ``in_notebook``, nothing is
    imported, because the kernel's namespace has the functions.
    """
    if call is None:
        return None
    try:
        writer = ScriptWriter(steps_of(call), {}, inputs=inputs, module=module, scenarios="")
        lines = writer.write(gradcheck=checker_of(call) if gradcheck else None)
    except (NoLiteral, RuntimeError, RecursionError):
        return None
    where = f"import __main__ as {module}" if in_notebook else f"import {module}"
    text = "\n".join(["import torch", where, *lines])
    return text if len(text) <= MAX_CHARACTERS else None


def steps_of(call: LastCall) -> list[Step]:
    """Return the call as a step, and the gradient if one was computed.

    Results are placeholders, which the script names and never writes out.
    """
    result = torch.zeros(())
    steps = [Step("call", call.path, call.args, call.kwargs, result=result, grad=call.grad)]
    leaves = [
        tensor
        for tensor in tensors_in((call.args, call.kwargs))
        if tensor.requires_grad and tensor.is_leaf
    ]
    if call.incoming is not None and leaves and call.single and not call.deeper:
        given = (result, leaves, call.incoming.detach())
        options = {"allow_unused": True}
        steps.append(Step("torch", torch.autograd.grad, given, options, result=torch.zeros(())))
    return steps


def checker_of(call: LastCall) -> tuple[str, StudentRef, tuple[Any, ...], dict[str, Any]]:
    """Return the checker that failed, with its arguments."""
    checker = "gradgradcheck" if call.deeper else "gradcheck"
    return checker, StudentRef(call.path), call.args, call.kwargs
