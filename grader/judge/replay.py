"""Write a failed check as a plain Python script: the student's file, the inputs as literals, the
call, and the expected value.

A ``Recorder`` observes one check inside the judge, step by step: what it asks the session for, and
what it does in torch. Of these steps, a ``ScriptWriter`` writes those that lead to the wrong value.
Values that do not depend on the student's answers become literals; a scenario is printed in full.

``snippet`` writes a check's last call as a learner would type it: a few lines to paste, with the
same inputs. A report has one for every failed check, so it is made from the session's record of the
last call. There is none for a scenario, because a scenario is not a call.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode, resolve_name

from grader.judge.remote.proxies import (
    Copies,
    LastCall,
    RemoteCallable,
    RemoteObject,
    RemoteStudent,
    objects_in,
)
from grader.judge.remote.scenarios import scenario_names, scenario_with_definitions
from grader.worker.wire.compat import without_torch_function
from grader.worker.wire.program import (
    SIGNS,
    Blend,
    Cube,
    Program,
    Register,
    pieces,
    run_chain,
    run_within,
)
from grader.worker.wire.values import StudentRef, leaves

LONGEST = 10_000
"""How many elements a tensor may have; a longer one can't be written as a literal."""


@dataclass(slots=True, eq=False)
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


class Recorder(TorchFunctionMode):
    """The steps of one check. During its block, methods of the session record their calls; values
    pass through unchanged, so recording changes no verdict.
    """

    def __init__(self, session: Any) -> None:
        super().__init__()
        self.steps: list[Step] = []
        self.snapshots: dict[int, tuple[Tensor, Tensor]] = {}
        """By id, every tensor that was passed to a step, and its value at that time."""
        self.student = RemoteStudent(session)
        self.on = False
        self._session = session
        self._recording: dict[str, Callable[..., Any]] = {
            "call": self._call,
            "observe": self._observe,
            "step": self._step_on_object,
            "read": self._read,
            "resolve": self._resolve,
            "writing_allowed": self._writing_allowed,
        }

    def __enter__(self) -> Recorder:
        self.on = True
        for name, method in self._recording.items():
            own = getattr(self._session, name)
            setattr(self._session, name, functools.partial(method, own))
        super().__enter__()  # type: ignore[no-untyped-call]
        return self

    def __exit__(self, *ended: Any) -> None:
        super().__exit__(*ended)  # type: ignore[no-untyped-call]
        for name in self._recording:
            delattr(self._session, name)
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
        for tensor in tensors_of((args, kwargs)):
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

    def _call(self, own: Any, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if objects_in((args, kwargs)):
            return own(path, args, kwargs)  # recorded as a step on objects
        return self.step("call", path, args, kwargs, lambda: own(path, args, kwargs))

    def _observe(
        self, own: Any, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        return self.step("observe", scenario, args, kwargs, lambda: own(scenario, args, kwargs))

    def _step_on_object(
        self,
        own: Any,
        kind: str,
        name: str,
        args: tuple[Any, ...],
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        do = functools.partial(own, kind, name, args, kwargs)
        return self.step("object", (kind, name), args, kwargs or {}, do)

    def _read(self, own: Any, objects: list[RemoteObject]) -> Any:
        return self.step("fetch", None, tuple(objects), {}, lambda: own(objects))

    def _resolve(self, own: Any, path: str) -> Any:
        """Return the value of a name. For a function, record nothing until it is called."""
        before = len(self.steps)
        value = self.step("get", path, (), {}, lambda: own(path))
        if isinstance(value, RemoteCallable):
            del self.steps[before:]
        return value

    @contextlib.contextmanager
    def _writing_allowed(self, own: Any) -> Iterator[Copies]:
        with own() as copies:
            yield _RecordingCopies(copies, self)

    def __torch_function__(
        self,
        func: Any,
        types: Any,
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        """Record what the check does in torch."""
        options = kwargs or {}
        return self.step("torch", func, args, options, lambda: func(*args, **options))


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


def tensors_of(given: Any) -> list[Tensor]:
    """Return the tensors in a step's arguments, including those in their programs."""
    found: list[Tensor] = []
    for one in leaves(given):
        if isinstance(one, Tensor):
            found.append(one)
        elif isinstance(one, Program):
            found += [held for held in one.parameters if isinstance(held, Tensor)]
    return found


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
        self.written: set[Step] = set()

    def write(
        self,
        expected: Any = None,
        actual: Any = None,
        gradcheck: tuple[str, Any, tuple[Tensor, ...], dict[str, Any]] | None = None,
    ) -> list[str]:
        """Return the lines of the script, without the import of the student's module. ``gradcheck``
        has the checker that failed, its function, inputs and options. Raise NoLiteral for a value
        that can't be written.
        """
        if gradcheck is not None:
            self._write_gradcheck(*gradcheck)
        else:
            got = self._entries(actual) if isinstance(actual, dict) and actual else None
            if got is None:
                step, path = wrong_step(self.steps, self.students, self.origin, actual)
                self._require(step)
                got = None if step.raised else f"{self.names[id(step)]}{path}"
            if got is not None:
                self.lines.append(f'print("got     ", {got})')
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

    def _entries(self, actual: dict[Any, Any]) -> str | None:
        """Write the steps that gave a dictionary's values, and return it as code; None if one of
        them was not fetched.
        """
        objects = {key: of_value(self.steps, value) for key, value in actual.items()}
        if not all(one is not None and id(one) in self.origin for one in objects.values()):
            return None
        found = {key: self.origin[id(one)] for key, one in objects.items()}
        for step, _ in found.values():
            self._require(step)
        written = (f"{key!r}: {self.names[id(one)]}{path}" for key, (one, path) in found.items())
        return f"{{{', '.join(written)}}}"

    def _require(self, step: Step) -> None:
        """Write a step, after the steps that it needs."""
        if step in self.written:
            return
        if step.kind == "object":
            self._require_objects(step)
            return
        self.written.add(step)
        if step.kind == "fetch":
            values = ", ".join(self.value(one) for one in step.args)
            self.names[id(step)] = self._new_name("y")
            self.lines.append(f"{self.names[id(step)]} = [{values}]")
            return
        if step.kind == "copy":  # the script's calls write into the tensor itself
            self._require_before(step, lambda one: one.kind != "copy" and not only_reads(one))
            self.names[id(step)] = self.value(step.args[0])
            return
        if step.kind == "torch" and call_name(step.what).endswith("grad.__get__"):
            self._require_before(step, returns_nothing)  # backward passes left the gradient
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
        """Write ``last`` and the steps that it needs; a method that is only called gets no line."""
        steps = needed_for(self.steps, last)
        called = {id(step.args[0]) for step in steps if step.what[0] == "call"}
        used = {id(one) for step in self.steps for one in objects_in((step.args, step.kwargs))}
        for step in steps:
            if step in self.written:
                continue
            self.written.add(step)
            text = self._step_on_object(step)
            if step.what[0] == "put" or (step.what[0] == "get" and id(step.result) in called):
                self.names[id(step)] = text
            elif step.what[0] == "set" or (id(step.result) not in used and step is not last):
                self.lines.append(text)
            else:
                self.names[id(step)] = self._new_name("y")
                self.lines.append(f"{self.names[id(step)]} = {text}")
        self.names.setdefault(id(last), "None")

    def _require_before(self, last: Step, wanted: Callable[[Step], bool]) -> None:
        """Write those steps before ``last`` that used the student's code and are wanted."""
        for step in self.steps[: self.steps.index(last)]:
            if step in self.students and wanted(step):
                self._require(step)

    def _call(self, step: Step) -> str:
        if step.kind == "get":
            return f"{self.module}.{step.what}"
        if step.kind == "observe":
            source = scenario_with_definitions(self.scenarios, step.what)
            source = source.replace("import torch\n", "", 1)  # the script imports it already
            self.definitions.setdefault("scenario", source.lstrip("\n"))
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

    def _step_on_object(self, step: Step) -> str:
        """Return a step on an object as Python: an expression, or an assignment."""
        kind, name = step.what
        args = [self.value(arg) for arg in step.args]
        options = [f"{key}={self.value(option)}" for key, option in step.kwargs.items()]
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
        if kind == "chain":
            self.definitions.setdefault(kind, plain_source(run_chain))
            return f"run_chain({', '.join([*args, *options])})"
        if kind == "within":
            self.definitions.setdefault(kind, plain_source(run_within))
            return f"run_within({', '.join(args)})"
        if name == "abs":
            return f"abs({args[0]})"
        return operation(name, [*map(bracketed, args)] if name in SIGNS else args)

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
            origin[0] in self.students or (tensor.grad_fn is not None and not tensor.is_leaf)
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
        """Return the input of which a plain tensor is a copy: checks often compare with copies."""
        for one in self.inputs:
            if one.requires_grad or tensor.requires_grad or one.stride() != tensor.stride():
                continue
            if one.dtype == tensor.dtype and one.shape == tensor.shape and torch.equal(one, tensor):
                return one
        return None

    def _new_name(self, preferred: str) -> str:
        numbered = (f"{preferred}{number}" for number in itertools.count(2))
        names = itertools.chain([preferred], numbered)
        name = next(name for name in names if name not in self.taken)
        self.taken.add(name)
        return name

    def _program(self, program: Program) -> str:
        """Return the name of a program, after a function of that name has been written."""
        if id(program) in self.names:
            return self.names[id(program)]
        arguments = [f"x{k}" for k in range(program.inputs)]
        registers = [*arguments, *map(self.value, program.parameters)]
        name = self._new_name("f")
        self.names[id(program)] = name
        body = []
        for step, args in program.steps:
            given = [registers[a.index] if isinstance(a, Register) else self.value(a) for a in args]
            results = [f"r{len(registers) + k}" for k in range(pieces(step, tuple(args)) or 1)]
            body.append(f"    {', '.join(results)} = {operation(step, given)}")
            registers += results
            if step in CUSTOM_CLASSES:
                self.definitions.setdefault(step, plain_source(CUSTOM_CLASSES[step]))
        outs = ", ".join(registers[out.index] for out in program.outputs)
        comma = "" if program.single or len(program.outputs) > 1 else ","
        head = f"def {name}({', '.join(arguments)}):"
        self.lines += ["", head, *body, f"    return {outs}{comma}", ""]
        return name


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
    checker = None
    if gradcheck:
        name = "gradgradcheck" if call.deeper else "gradcheck"
        checker = (name, StudentRef(call.path), call.args, call.kwargs)
    handed = as_handed(inputs, tensors_of((call.args, call.kwargs)))
    try:
        writer = ScriptWriter(steps_of(call), {}, inputs=handed, module=module, scenarios="")
        lines = writer.write(gradcheck=checker)
    except (NoLiteral, RuntimeError, RecursionError):
        return None
    where = f"import __main__ as {module}" if in_notebook else f"import {module}"
    text = "\n".join(["import torch", where, *lines])
    return text if len(text) <= MAX_CHARACTERS else None


def as_handed(inputs: Mapping[str, Any], tensors: Sequence[Tensor]) -> dict[str, object]:
    """Return inputs as a call got them: the copies that require grad, where it got such. Other
    copies keep their names anyway.
    """
    free = [
        one for one in tensors if one.requires_grad and all(one is not x for x in inputs.values())
    ]
    found = {}
    for name, value in inputs.items():
        at = next((k for k, one in enumerate(free) if is_copy(one, value)), None)
        found[name] = value if at is None else free.pop(at)
    return found


def is_copy(one: Tensor, value: Any) -> bool:
    return (
        isinstance(value, Tensor)
        and value.requires_grad
        and (one.dtype, one.shape, one.stride()) == (value.dtype, value.shape, value.stride())
        and torch.equal(one, value)
    )


def steps_of(call: LastCall) -> list[Step]:
    """Return the call as a step, and the gradient if one was computed; results are placeholders."""
    result = torch.zeros(())
    steps = [Step("call", call.path, call.args, call.kwargs, result=result, grad=call.grad)]
    inputs = [one for one in tensors_of((call.args, call.kwargs)) if one.requires_grad]
    if call.incoming is not None and inputs and call.single and not call.deeper:
        given = (result, inputs, call.incoming.detach())
        options = {"allow_unused": True}
        steps.append(Step("torch", torch.autograd.grad, given, options, result=torch.zeros(())))
    return steps


class NoLiteral(Exception):
    """A value that can't be written as Python; the text says which."""


def literal(tensor: Tensor, held: Tensor | None = None) -> str:
    """Return ``torch.tensor(…)`` with the dtype, strides and ``requires_grad`` of ``tensor``, and
    the values that it ``held`` at the time of the step, by default now. Raise NoLiteral if it is
    too long.
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
    places = torch.arange(reach).as_strided(shape, strides)
    storage[places.flatten()] = held.flatten()
    return (
        f"torch.tensor({all_digits(storage)}, dtype={dtype}).as_strided({shape}, {strides}){after}"
    )


def all_digits(held: Tensor) -> str:
    """Return the numbers in a tensor, with all their digits."""
    text = repr(held.tolist())
    return text.replace("nan", 'float("nan")').replace("inf", 'float("inf")')


def plain_source(one: Callable[..., Any]) -> str:
    """Return the source of a class or function without annotations."""
    types = r"Any|Tensor|int|Sequence\[str\]|list\[Any\]"
    return re.sub(rf"(: | -> )({types})(?=[,:)])", "", inspect.getsource(one))


CUSTOM_CLASSES = {"cube": Cube, "blend": Blend}
TEXTS = {
    **{name: f"{{0}} {sign} {{1}}" for name, sign in SIGNS.items()},
    **{name: f"{one.__name__}.apply({{all}})" for name, one in CUSTOM_CLASSES.items()},
    "getitem": "{0}[{1}]",
    "neg": "-{0}",
    "pos": "+{0}",
    "is_": "{0} is {1}",
    "cat": "torch.cat(({all},))",
    "stack": "torch.stack({all})",
    "dropout": "torch.nn.functional.dropout({all})",
    "softplus": "torch.nn.functional.softplus({0})",
    "where_positive": "torch.where({0} > 0, {1}, {2})",
}
"""Operations as Python. The others are methods of their first argument."""


def operation(name: str, given: list[str]) -> str:
    """Return an operation as Python; ``given`` are its arguments as text."""
    if name in SIGNS:
        given = [bracketed(given[0]), *given[1:]]
    if name in TEXTS:
        return TEXTS[name].format(*given, all=", ".join(given))
    return f"{given[0]}.{name}({', '.join(given[1:])})"


def bracketed(operand: str) -> str:
    return f"({operand})" if operand.startswith("-") else operand


def of_value(steps: Sequence[Step], value: Any) -> RemoteObject | None:
    """Return the object whose fetched value this is."""
    for step in reversed(steps):
        if step.kind == "fetch":
            for one, fetched in zip(step.args, step.result or (), strict=False):
                if fetched is value:
                    return one  # type: ignore[no-any-return]
    return None


def needed_for(steps: Sequence[Step], last: Step) -> list[Step]:
    """Return the steps on objects that ``last`` uses, and those that may have changed them."""
    until = steps[: steps.index(last) + 1]
    before = [step for step in until if step.kind == "object"]
    related = _related(before, last)
    used: set[int] = set()
    needed = []
    for step in reversed(before):
        changes = step.what[0] in ("call", "set", "torch", "within") and bool(
            _ids_of_objects(step) & related
        )
        if step is last or id(step.result) in used or changes:
            needed.append(step)
            used.update(id(one) for one in objects_in((step.args, step.kwargs)))
    return needed[::-1]


def _related(steps: Sequence[Step], last: Step) -> set[int]:
    """Return the ids of all objects that steps connect with the last one's."""
    found = [_ids_of_objects(step) for step in steps]
    related = _ids_of_objects(last)
    while True:
        before = len(related)
        for ids in found:
            if ids & related:
                related |= ids
        if len(related) == before:
            return related


def _ids_of_objects(step: Step) -> set[int]:
    return {id(one) for one in objects_in((step.args, step.kwargs, step.result))}


Origins = Mapping[int, tuple[Step, str]]
"""The step that gave a value, and its place in the result, by the value's id."""


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


def dependent(steps: Sequence[Step], origins: Origins) -> set[Step]:
    """Return the steps that depend on a student's answer."""
    found: set[Step] = set()
    for step in steps:
        given = (origins.get(id(one)) for one in tensors_of((step.args, step.kwargs)))
        if step.kind != "torch" or any(
            origin is not None and origin[0] in found for origin in given
        ):
            found.add(step)
    return found


def wrong_step(
    steps: Sequence[Step], students: set[Step], origins: Origins, actual: Any
) -> tuple[Step, str]:
    """Return the step that gave the wrong value, and its place in the result; else the last step
    that used the student's code. Raise NoLiteral if there is none.
    """
    used = [step for step in steps if step in students and not only_reads(step)]
    if not used:
        raise NoLiteral("the check does not call your code: it reads the file")
    last = used[-1]
    if last.raised is None and actual is not None and not isinstance(actual, bool):
        fetched = of_value(steps, actual)
        if fetched is not None and id(fetched) in origins:
            return origins[id(fetched)]
        step, path = origins.get(id(actual), (None, ""))
        if step is not None and step in students:
            return step, path
    if last.kind == "fetch":
        before = steps[: steps.index(last)]
        last = [one for one in before if one.kind == "object"][-1]
    return last, ""
