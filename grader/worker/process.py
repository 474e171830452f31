"""Run a student's code and answer the judge's requests: the worker process.

It answers one request (``wire.messages``) at a time, until its input ends. Nothing here decides
anything: it reports values, and whatever it reports may be a lie. It holds no checks, no solutions
and no expected values.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import faulthandler
import importlib.abc
import linecache
import operator
import os
import signal
import sys
import types
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from types import FrameType
from typing import Any, BinaryIO, TextIO

import torch
from torch import Tensor

from grader.worker.wire import messages
from grader.worker.wire.compat import undefined_gradient, version_counter
from grader.worker.wire.frames import (
    MAX_VALUES,
    BrokenFrame,
    Bytes,
    Frame,
    encode,
    framed,
    limit_values,
    read_frame,
)
from grader.worker.wire.program import run_apart, run_chain, run_within
from grader.worker.wire.trace import trace
from grader.worker.wire.values import Builder, Encoder, Strided, Value, cut, flat_of, shortened


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until the input ends."""
    if hasattr(faulthandler, "register") and hasattr(signal, "SIGUSR1"):  # not on Windows
        # the judge asks for the stack by this signal, even from an endless loop
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)
    worker = Worker()
    while (request := read_frame(source)) is not None:
        reply = worker.answer(request)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        sink.write(reply)
        sink.flush()


_set_up = False


def set_up() -> None:
    """Do what does not depend on the worker, unless this is a fork of a process that has done it:
    open the streams and remove the engine's modules.
    """
    global _set_up
    if not _set_up:
        _set_up = True
        open_streams()
        remove_engine_modules()


def open_streams() -> None:
    """Open both again, in UTF-8, on the descriptors that they always have.

    A student's file may replace a stream, or wrap another around its buffer, which closes the
    buffer in the end. So ``sys.__stdout__`` and ``sys.__stderr__`` also refer to the streams, as in
    Python itself, and closing a stream leaves its descriptor open.
    """
    for name, fd in (("stdout", 1), ("stderr", 2)):
        stream = os.fdopen(fd, "w", 1, "utf-8", "backslashreplace", newline="\n", closefd=False)
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)


Warned = tuple[str, type[Warning], int]
"""A warning's text, class and line: the key under which Python remembers that it was shown."""


def note_warnings() -> list[Warned]:
    """Note from now on which warnings are shown; return the list of them."""
    shown: list[Warned] = []
    show = warnings.showwarning

    def noting(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        shown.append((str(message), category, lineno))
        show(message, category, filename, lineno, file, line)

    warnings.showwarning = noting
    return shown


def forget_warnings(shown: Collection[Warned]) -> None:
    """Let these warnings be shown again, for a check that begins again."""
    for module in list(sys.modules.values()) if shown else ():
        registry = getattr(module, "__dict__", {}).get("__warningregistry__", {})
        for one in shown:
            registry.pop(one, None)


Reply = tuple[messages.Answer, list[Bytes]]
"""An answer, and the parts of its blob."""


class Worker:
    """One student's module, and the calls that the judge still refers to."""

    def __init__(self) -> None:
        self.student = types.ModuleType("student")
        self.scenarios: dict[str, types.CodeType] = {}
        self.source: str | None = None
        """The source of the scenario that is asked for, if the worker does not have it."""
        self.filename = "<student>"
        self.calls: dict[int, KeptCall] = {}
        self.objects = Objects()
        self.sent: list[Tensor] = []
        self.warned = note_warnings()
        self.actions: dict[type[messages.Request], Callable[[Any, Bytes], Reply]] = {
            messages.Load: self.load,
            messages.Describe: self.describe,
            messages.Call: self.call,
            messages.Product: self.product,
            messages.Observe: self.observe,
            messages.Run: self.run,
        }

    def answer(self, frame: Frame) -> bytes:
        """Drop the handles and objects that the judge no longer uses; return the answer's frame."""
        asked: messages.Asked = frame.read(messages.ASKED)
        self.prepare(asked)
        if asked.traced is None:
            answer, parts = self.reply_to(asked.request, frame.blob)
        else:
            traced = ReturnedLine(self.filename, *asked.traced)
            with traced.watching():
                answer, parts = self.reply_to(asked.request, frame.blob)
            answer.returned = traced.line
        try:
            message = encode(answer)
            limit_values(message, MAX_VALUES)
            return framed(message, parts, number=frame.number)
        except (BrokenFrame, ValueError) as error:
            return framed(encode(unsendable(error)), (), number=frame.number)

    def prepare(self, asked: messages.Asked) -> None:
        """Do what the judge wants before its request."""
        for handle in asked.freed:
            self.calls.pop(handle, None)
        if asked.forget:
            self.objects = Objects()
            self.sent.clear()
        if asked.warned == "keep":
            self.warned.clear()
        elif asked.warned:
            forget_warnings(self.warned)
        self.source = asked.source

    def reply_to(self, request: messages.Request, blob: Bytes) -> Reply:
        """Return the reply to one request, whatever the student's code does."""
        try:
            return self.actions[type(request)](request, blob)
        except AttributeError as error:
            if type(request) is not messages.Load and error.obj is self.student and error.name:
                return self.missing(str(error.name)), []
            return messages.explain(error, self.filename), []
        except BrokenFrame as error:
            return unsendable(error), []
        except BaseException as error:  # anything may be raised, even SystemExit
            return messages.explain(error, self.filename), []

    def load(self, request: messages.Load, _: Bytes) -> Reply:
        """Execute the student's file from the request's text; nothing is read from disk."""
        self.filename = request.filename
        self.student = types.ModuleType(request.name)
        self.student.__file__ = self.filename
        sys.modules[request.name] = self.student
        replaced = execute(
            request.source, self.student, set(request.words), optional_after=request.optional_after
        )
        return messages.Loaded(
            [shortened(name, messages.MAX_NAME) for name in replaced[: messages.MAX_REPLACED]]
        ), []

    def describe(self, request: messages.Describe, _: Bytes) -> Reply:
        try:
            value = self.lookup(request.path)
        except AttributeError:
            return self.missing(request.path), []
        if callable(value):
            return messages.Function(isinstance(value, type)), []
        return self.value(value)

    def value(self, value: Any) -> Reply:
        """Return a value without a graph."""
        encoder = Encoder(strided=False)
        node = encoder.encode(value)
        return messages.Returned(node, encoder.headers), encoder.parts

    def missing(self, name: str) -> messages.Missing:
        present = [
            shortened(name, messages.MAX_NAME)
            for name, value in vars(self.student).items()
            if not name.startswith("_") and not self.imported(name, value)
        ]
        return messages.Missing(shortened(name, messages.MAX_NAME), present[: messages.MAX_NAMES])

    def imported(self, name: str, value: object) -> bool:
        """Return whether a name of the student's module is an import under its own name."""
        if isinstance(value, type | types.FunctionType | types.BuiltinFunctionType):
            return value.__module__ != self.student.__name__ and value.__name__ == name
        return isinstance(value, types.ModuleType)

    def lookup(self, path: str) -> Any:
        value: Any = self.student
        for name in path.split("."):
            value = getattr(value, name)
        return value

    def builder(self, tensors: Sequence[Tensor]) -> Callable[[Value], Any]:
        """Return a function that builds the judge's values."""
        return Builder(tensors, student=self.lookup, objects=self.objects.known, trusted=True).build

    def arguments(
        self, request: messages.Call | messages.Observe, tensors: Sequence[Tensor]
    ) -> tuple[list[Any], dict[str, Any]]:
        build = self.builder(tensors)
        kwargs = {name: build(node) for name, node in request.kwargs.items()}
        return [build(node) for node in request.args], kwargs

    def call(self, request: messages.Call, blob: Bytes) -> Reply:
        """Call a student's function in the judge's grad mode."""
        function = self.lookup(request.path)
        inputs = list(map(Sent, request.tensors, cut(request.tensors, blob)))
        tensors = [one.tensor for one in inputs]
        args, kwargs = self.arguments(request, tensors)
        with torch.set_grad_enabled(request.grad):
            result = function(*args, **kwargs)
        return self.returned(request.keep, result, tensors, inputs)

    def observe(self, request: messages.Observe, blob: Bytes) -> Reply:
        """Run a scenario in a new module, so that changes to the last one have no effect."""
        if self.source is not None:
            code = compile(self.source, "<scenarios>", "exec", dont_inherit=True)
            self.scenarios[request.scenario] = code
        scenarios = types.ModuleType("scenarios")
        exec(self.scenarios[request.scenario], scenarios.__dict__)
        scenario = getattr(scenarios, request.scenario)
        args, kwargs = self.arguments(request, tensors_of(request.tensors, blob))
        with torch.enable_grad():
            return self.value(scenario(self.student, *args, **kwargs))

    def run(self, request: messages.Run, blob: Bytes) -> Reply:
        """Run steps on the judge's objects and return those that it reads.

        All tensors that came with steps, since objects were last forgotten, are inputs of the
        results. Writes into them are not reported, because the judge's own steps may write.
        """
        tensors = tensors_of(request.tensors, blob)
        while len(self.sent) < request.sent:  # tensors of steps that did not run count, too
            self.sent.append(torch.empty(0))
        self.sent += tensors
        with torch.enable_grad():
            self.objects.run(request.steps, self.builder(tensors))
        read = [self.objects.known[number] for number in request.read]
        return self.returned(request.keep, read, list(self.sent), [])

    def returned(
        self, number: int, result: Any, inputs: list[Tensor], sent: Iterable[Sent]
    ) -> Reply:
        """Return a value, whether its graph is kept, and which of what was sent has changed."""
        encoder = Encoder(strided=False, keep=self.objects.keep)
        node = encoder.encode(result)
        written, parts = changes(sent)
        kept = self.keep(number, inputs, encoder.tensors)
        return messages.Returned(node, encoder.headers, kept, written), encoder.parts + parts

    def keep(self, number: int, inputs: list[Tensor], outputs: list[Tensor]) -> bool:
        """Keep a call for later products, under the number that the judge chose for it. Return
        False if no output requires grad.
        """
        if not any(t.requires_grad for t in outputs):
            return False
        self.calls[number] = KeptCall(inputs, outputs)
        return True

    def product(self, request: messages.Product, blob: Bytes) -> Reply:
        """Return the product of the incoming gradients with the Jacobian of an earlier call."""
        call = self.calls[request.handle]
        headers = [one for one in request.incoming if one is not None]
        sent = list(map(Sent, headers, cut(headers, blob)))
        vectors = [one.tensor for one in sent]
        remaining = iter(vectors)
        found = call.product(
            [None if one is None else next(remaining) for one in request.incoming],
            needs=request.needs,
            retain_graph=request.retain_graph,
            create_graph=request.create_graph,
        )
        encoder = Encoder(strided=False)
        slots = [None if one is None else encoder.add(one) for one in found]
        gradients = [None if slot is None else encoder.headers[slot.index] for slot in slots]
        kept = self.keep(request.keep, [*call.inputs, *vectors], encoder.tensors)
        written, parts = changes(sent)
        return messages.Gradients(gradients, kept, written), encoder.parts + parts


def unsendable(error: Exception) -> messages.Raised:
    """Return the answer instead of one that can't be sent."""
    return messages.Raised("ValueError", shortened(f"can't be sent: {error}"))


def tensors_of(headers: Sequence[Strided], blob: Bytes) -> list[Tensor]:
    return list(map(Strided.tensor, headers, cut(headers, blob)))


def changes(sent: Iterable[Sent]) -> tuple[list[messages.Written], list[Bytes]]:
    """Return what the student's code wrote into tensors that were sent, and the bytes."""
    written, parts = [], []
    for position, one in enumerate(sent):
        if one.is_changed():
            header, raw = flat_of(one.tensor)
            written.append(messages.Written(position, header))
            parts.append(raw)
    return written, parts


FIRST_OWN = 1 << 40
"""The worker numbers the objects in its answers from here on, the judge its steps from 1."""


class Objects:
    """The objects that the judge can refer to by number, until it forgets all of them: results of a
    student's classes and functions, and everything computed from them.

    The kinds of steps:

    ==========  ==============================================================
    ``call``    call ``args[0]`` with the other arguments
    ``get``     the attribute ``name`` of ``args[0]``
    ``set``     set the attribute ``name`` of ``args[0]`` to ``args[1]``
    ``op``      ``operator.<name>`` of the arguments: ``add``, ``getitem``, …
    ``torch``   the function of torch called ``name``, by its full name, on the arguments
    ``chain``   a list of many objects, which formulas give in turn (``run_chain``)
    ``within``  what a function returns inside of a context manager (``run_within``)
    ``put``     ``args[0]`` itself: a tensor that the judge sent, as an object
    ==========  ==============================================================
    """

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self._next = FIRST_OWN

    def keep(self, value: object) -> int:
        """Keep an object that an answer contains; return its number."""
        self._next += 1
        self.known[self._next] = value
        return self._next

    def run(self, steps: Iterable[messages.Step], build: Callable[[Any], Any]) -> None:
        """Run steps until one raises; ``build`` returns the value of an argument's node."""
        known = self.known
        for step in steps:
            kind, name, args = step.kind, step.name, [build(node) for node in step.args]
            kwargs = {key: build(node) for key, node in step.kwargs.items()}
            with contextlib.nullcontext() if step.grad else torch.no_grad():
                if kind == "op":
                    known[step.out] = getattr(operator, name)(*args)
                elif kind == "call":
                    known[step.out] = args[0](*args[1:], **kwargs)
                elif kind == "torch":
                    function = operator.attrgetter(name.removeprefix("torch."))(torch)
                    known[step.out] = function(*args, **kwargs)
                elif kind == "chain":
                    known[step.out] = run_chain(*args, **kwargs)
                elif kind == "within":
                    known[step.out] = run_apart(run_within, *args)
                elif kind == "get":
                    known[step.out] = getattr(args[0], name)
                elif kind == "set":
                    setattr(args[0], name, args[1])
                else:
                    known[step.out] = args[0]


@dataclass(slots=True)
class KeptCall:
    """A differentiable call: its tensor inputs and outputs, in the order in which they crossed."""

    inputs: list[Tensor]
    outputs: list[Tensor]

    def product(
        self,
        incoming: Sequence[Tensor | None],
        *,
        needs: Sequence[bool],
        retain_graph: bool,
        create_graph: bool,
    ) -> list[Tensor | None]:
        """Return the vector-Jacobian product for each input: None if it is not needed or not
        reached. ``incoming`` has a gradient, or None, for each output.

        An output without a gradient is left out, so that the Function behind it sees the same as in
        a local call. If no output has one, the graph runs with undefined gradients, as in
        gradcheck.
        """
        pairs = [
            (out, v)
            for out, v in zip(self.outputs, incoming, strict=True)
            if v is not None and out.requires_grad
        ]
        if not pairs:
            undefined = [undefined_gradient(out) for out in self.outputs if out.requires_grad]
            pairs = [(out, torch.zeros_like(out)) for out in undefined]
        wanted = [k for k, need in enumerate(needs) if need and self.inputs[k].requires_grad]
        grads: list[Tensor | None] = [None] * len(self.inputs)
        if pairs and wanted:
            found = torch.autograd.grad(
                [out for out, _ in pairs],
                [self.inputs[k] for k in wanted],
                [v for _, v in pairs],
                retain_graph=retain_graph,
                create_graph=create_graph,
                allow_unused=True,
            )
            for k, grad in zip(wanted, found, strict=True):
                grads[k] = grad
        return grads


class Sent:
    """A tensor that the judge sent, and how to see whether the student's code wrote into it."""

    __slots__ = ("_header", "_place", "_raw", "_version", "tensor")

    def __init__(self, header: Strided, raw: memoryview) -> None:
        self.tensor = header.tensor(raw)
        self._header = header
        self._raw = raw
        self._place = self.tensor.data_ptr(), self.tensor.stride()
        self._version = version_counter(self.tensor)

    def is_changed(self) -> bool:
        """Return whether the tensor was written to; NaN equals NaN.

        Writes through ``.data`` or NumPy do not change its version counter, so its memory is
        compared, too. A tensor that got another shape or dtype by ``.data = …`` does not count,
        because its contents can't be compared.
        """
        if version_counter(self.tensor) != self._version:
            return True
        place, size = (self.tensor.data_ptr(), self.tensor.stride()), len(self._raw)
        if place == self._place and (not size or ctypes.string_at(place[0], size) == self._raw):
            return False
        now, before = self.tensor.detach(), self._header.tensor(self._raw).detach()
        if now.shape != before.shape or now.dtype != before.dtype:
            return False
        return not torch.equal(now, before) and not bool(
            ((now == before) | ((now != now) & (before != before))).all()
        )


WATCHED: tuple[Any, ...] = (
    builtins,
    torch,
    torch.Tensor,
    torch.autograd,
    torch.nn.functional,
    torch.autograd.Function,
)
"""Namespaces in which a student's file might replace something. A replacement is reported; a file
could hide it.
"""


def execute(
    source: str, module: types.ModuleType, words: set[str], *, optional_after: int | None = None
) -> list[str]:
    """Execute a file's text in ``module``; return the names that it replaced in ``WATCHED``.

    An exception from a line below ``optional_after`` ends the execution and is not raised: in a
    notebook, everything that counts has been defined by then.

    Only names that the text or ``words`` mention are compared. Reading an object changes its
    reference count, so reading all of torch's objects would copy hundreds of memory pages into each
    worker.
    """
    filename = str(module.__file__)
    lines = [line + "\n" for line in source.split("\n")]
    linecache.cache[filename] = (len(source), None, lines, filename)
    sys.argv = [filename]  # the file may parse a script's arguments, and must not see ours
    code = compile(source, filename, "exec", dont_inherit=True)
    names = words_in(code) | words
    before = {
        owner: {name: vars(owner)[name] for name in names if name in vars(owner)}
        for owner in WATCHED
    }
    try:
        exec(code, module.__dict__)
    except SystemExit as stop:  # a file that ends like a script has still defined its answers
        if stop.code:
            raise
    except Exception as error:
        if optional_after is None or line_reached(error, filename) <= optional_after:
            raise
    return sorted(
        f"{owner.__name__}.{name}"
        for owner, names in before.items()
        for name, value in names.items()
        if vars(owner).get(name) is not value and not name.startswith("__")
    )[:20]


def line_reached(error: Exception, filename: str) -> int:
    """Return the line of the statement that raised, at the top level of the file; 0 if unknown."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "<module>" and code.co_filename == filename:
            return trace.tb_lineno
        trace = trace.tb_next
    return 0


def words_in(code: types.CodeType) -> set[str]:
    """Return the names and texts in code, including those of its functions."""
    words = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            words |= words_in(constant)
        elif isinstance(constant, str):
            words.add(constant)
        elif isinstance(constant, tuple | frozenset):
            words |= {item for item in constant if isinstance(item, str)}
    return words


Tracer = Callable[[FrameType, str, Any], Any]


class ReturnedLine:
    """The line of the return that ended the last outermost call of a function; None if there was
    no such call, or it ended otherwise. ``lines`` has the lines of the function's returns.

    Tracing is slow, so this is used only when a failed check is run once more.
    """

    def __init__(self, filename: str, name: str, lines: Collection[int]) -> None:
        self.filename = filename
        self.name = name
        self.lines = lines
        self.line: int | None = None
        self._depth = 0

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the calls of a block, in this thread."""
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(None)

    def _called(self, frame: FrameType, event: str, value: Any) -> Tracer | None:
        code = frame.f_code
        if code.co_filename != self.filename or code.co_qualname != self.name:
            return None
        self._depth += 1
        last: int | None = None

        def inside(frame: FrameType, event: str, value: Any) -> Tracer:
            nonlocal last
            if event == "exception":
                last = None
            elif frame.f_lineno in self.lines:
                last = frame.f_lineno
            elif event == "return" and value is None:  # it ended without a return
                last = None
            if event == "return":  # also the end by an exception
                self._depth -= 1
                if self._depth == 0:
                    self.line = last
            return inside

        return inside


PACKAGE = "grader"
KEPT = tuple(f"{PACKAGE}.worker.{name}" for name in ("process", "wire"))


def remove_engine_modules() -> None:
    """Forget every module of the engine that a worker doesn't need, and refuse to import one again.
    ``grader.authoring`` is replaced by a module with only what a scenario may import.

    A worker is a fork of a process that has the whole engine in memory. Objects that something
    still refers to stay there. So this keeps ``import grader.judge.figures`` from solving an
    exercise, but it is not a security boundary.
    """
    for name in [name for name in sys.modules if name.startswith(f"{PACKAGE}.")]:
        if not is_kept(name):
            parent, _, own = name.rpartition(".")
            del sys.modules[name]
            if parent in sys.modules:
                vars(sys.modules[parent]).pop(own, None)
    authoring = types.ModuleType(f"{PACKAGE}.authoring")
    authoring.__dict__["trace"] = trace
    sys.modules[authoring.__name__] = sys.modules[PACKAGE].__dict__["authoring"] = authoring
    sys.meta_path.insert(0, Refuser())


def is_kept(name: str) -> bool:
    """Return whether a module is the worker's own, or a package that contains one of those."""
    return any(f"{name}.".startswith(f"{kept}.") or kept.startswith(f"{name}.") for kept in KEPT)


class Refuser(importlib.abc.MetaPathFinder):
    """An import finder that refuses modules of the engine."""

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: types.ModuleType | None = None,
    ) -> ModuleSpec | None:
        if fullname.startswith(f"{PACKAGE}."):
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return None
