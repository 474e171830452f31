"""Run a student's code and answer the judge's requests: the worker process.

It answers one request at a time, until its input ends:

``load``      execute the student's file
``describe``  what a name in the student's module is: a class, another callable, a value, or missing
``call``      call a function of the student; keep inputs and outputs under a handle
``vjp``       the vector-Jacobian product of the call with a handle; it has a handle of its own, so
              this nests to any order
``observe``   run a scenario on the student's module; its source comes with the first such request
``run``       run steps on objects that the judge drives (``Objects``), and read some of them

Nothing here decides anything: it reports values, and whatever it reports may be a lie. It holds no
checks, no solutions and no expected values.
"""

from __future__ import annotations

import builtins
import contextlib
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

from grader.worker.wire.compat import undefined_gradient, version_counter
from grader.worker.wire.frames import MAX_VALUES, BrokenFrame, Frame, pack, read_frame
from grader.worker.wire.trace import trace
from grader.worker.wire.values import (
    PLAIN,
    Decoder,
    Encoder,
    ObjectRef,
    encode_tensors,
    explain,
    fill,
    walk,
)


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


class Worker:
    """One student's module, and the calls that the judge still refers to."""

    def __init__(self) -> None:
        self.student = types.ModuleType("student")
        self.scenarios: dict[str, types.CodeType] = {}
        self.filename = "<student>"
        self.calls: dict[int, Call] = {}
        self.objects = Objects()
        self.sent: list[Tensor] = []
        self.warned = note_warnings()

    def answer(self, request: Frame) -> bytes:
        """Drop the handles and objects that the judge no longer uses; return the packed reply.

        A request may have a function to ``trace``: its name and the lines of its returns. The reply
        then has the line at which it ``returned``.
        """
        body = request.body
        for handle in body.get("free", ()):
            self.calls.pop(handle, None)
        if body.get("forget"):
            self.objects = Objects()
            self.sent.clear()
        if body.get("warned") == "keep":
            self.warned.clear()
        elif "warned" in body:
            forget_warnings(self.warned)
        if "trace" in body:
            traced = ReturnedLine(self.filename, *body["trace"])
            with traced.watching():
                reply, blob = self.reply_to(request)
            reply["returned"] = traced.line
        else:
            reply, blob = self.reply_to(request)
        try:
            return pack({"id": body["id"], **reply}, blob, most=MAX_VALUES)
        except (BrokenFrame, ValueError) as error:  # ValueError: an int with too many digits
            return pack({"id": body["id"], **unsendable(error).body})

    def reply_to(self, request: Frame) -> Frame:
        """Return the reply to one request, whatever the student's code does."""
        body = request.body
        action: Callable[[Frame], Frame] = getattr(self, "do_" + body["do"])
        try:
            return action(request)
        except AttributeError as error:
            if body["do"] != "load" and error.obj is self.student and error.name:
                return Frame({"missing": str(error.name)[:80], "names": self.names()})
            return Frame({"raised": explain(error, self.filename)})
        except BrokenFrame as error:
            return unsendable(error)
        except BaseException as error:  # anything may be raised, even SystemExit
            return Frame({"raised": explain(error, self.filename)})

    def do_load(self, request: Frame) -> Frame:
        """Execute the student's file from the request's text; nothing is read from disk."""
        body = request.body
        self.filename = body["filename"]
        self.student = types.ModuleType(body["name"])
        self.student.__file__ = self.filename
        sys.modules[body["name"]] = self.student
        replaced = execute(
            body["source"], self.student, set(body["words"]), optional_after=body["optional_after"]
        )
        return Frame({"value": replaced})

    def do_describe(self, request: Frame) -> Frame:
        """Describe a name: ``missing``, ``class``, ``callable`` or ``value``."""
        try:
            value = self.lookup(request.body["path"])
        except AttributeError:
            return Frame({"kind": "missing", "names": self.names()})
        if callable(value):
            return Frame({"kind": "class" if isinstance(value, type) else "callable"})
        encoder = Encoder(strided=False)
        return Frame({"kind": "value", "value": encoder.encode(value)}, encoder.blob)

    def names(self) -> list[str]:
        return [
            name[:80]
            for name, value in vars(self.student).items()
            if not name.startswith("_") and not self.imported(name, value)
        ][:100]

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

    def do_call(self, request: Frame) -> Frame:
        """Call a student's function with decoded arguments, in the judge's grad mode."""
        body = request.body
        function = self.lookup(body["path"])
        args, kwargs, decoder = self.arguments(request)
        before = list(map(Before, decoder.tensors))
        with torch.set_grad_enabled(body["grad"]):
            result = function(*args, **kwargs)
        return self.reply(request, result, decoder.tensors, before)

    def do_observe(self, request: Frame) -> Frame:
        """Run a scenario in a new module, so that changes to the last one have no effect."""
        name = request.body["path"]
        if "source" in request.body:
            code = compile(request.body["source"], "<scenarios>", "exec", dont_inherit=True)
            self.scenarios[name] = code
        scenarios = types.ModuleType("scenarios")
        exec(self.scenarios[name], scenarios.__dict__)
        scenario = getattr(scenarios, name)
        args, kwargs, _ = self.arguments(request)
        args, kwargs = self.objects.resolve((args, kwargs))
        with torch.enable_grad():
            result = scenario(self.student, *args, **kwargs)
        encoder = Encoder(strided=False)
        return Frame({"value": encoder.encode(result)}, encoder.blob)

    def do_run(self, request: Frame) -> Frame:
        """Run steps on the judge's objects and return those that it reads.

        All tensors that came with steps, since objects were last forgotten, are inputs of the
        results. Writes into them are not reported, because the judge's own steps may write.
        """
        body = request.body
        decoder = Decoder(request.blob, strided=True, student=self.lookup)
        while len(self.sent) < body["sent"]:  # tensors of steps that did not run count, too
            self.sent.append(torch.empty(0))
        try:
            with torch.enable_grad():
                self.objects.run(
                    body["steps"], lambda data: fill(decoder.decode(data), decoder.tensors)
                )
        finally:
            self.sent += decoder.tensors
        read = [self.objects.known[number] for number in body["read"]]
        return self.reply(request, read, list(self.sent), [])

    def arguments(self, request: Frame) -> tuple[Any, Any, Decoder]:
        decoder = Decoder(request.blob, strided=True, student=self.lookup)
        args, kwargs = fill(decoder.decode(request.body["args"]), decoder.tensors)
        return args, kwargs, decoder

    def reply(
        self, request: Frame, result: Any, inputs: list[Tensor], before: list[Before]
    ) -> Frame:
        """Return the encoded result, whether its graph is kept, and the inputs that changed since
        ``before``.
        """
        encoder = Encoder(strided=False, keep=self.objects.keep)
        value = encoder.encode(result)
        kept = self.keep(request, inputs, encoder.tensors)
        mutated, more = self.mutated(inputs, before)
        return Frame({"value": value, "kept": kept, "mutated": mutated}, encoder.blob + more)

    def mutated(self, inputs: list[Tensor], before: list[Before]) -> tuple[list[Any], bytes]:
        """Return inputs that were written to, of those in ``before``: positions and contents."""
        changed = [
            k for k, (t, was) in enumerate(zip(inputs, before, strict=False)) if was.differs(t)
        ]
        if not changed:
            return [], b""
        metas, blob = encode_tensors([inputs[k] for k in changed], strided=False)
        return [list(pair) for pair in zip(changed, metas, strict=True)], blob

    def keep(self, request: Frame, inputs: list[Tensor], outputs: list[Tensor]) -> bool:
        """Keep a call for later products, under the handle that the judge chose for it. Return
        False if no output requires grad.
        """
        if not any(t.requires_grad for t in outputs):
            return False
        self.calls[request.body["keep"]] = Call(inputs, outputs)
        return True

    def do_vjp(self, request: Frame) -> Frame:
        """Return the product of the incoming gradients with the Jacobian of an earlier call."""
        body = request.body
        call = self.calls[body["handle"]]
        decoder = Decoder(request.blob, strided=True)
        incoming = fill([decoder.decode(data) for data in body["grads"]], decoder.tensors)
        vectors = [t for t in incoming if t is not None]
        before = list(map(Before, vectors))
        grads = call.product(
            incoming,
            needs=body["needs"],
            retain_graph=body["retain_graph"],
            create_graph=body["create_graph"],
        )
        found = [g for g in grads if g is not None]
        metas, blob = encode_tensors(found, strided=False)
        remaining = iter(metas)
        slots = [None if g is None else next(remaining) for g in grads]
        kept = self.keep(request, [*call.inputs, *vectors], found)
        mutated, more = self.mutated(vectors, before)
        return Frame({"grads": slots, "kept": kept, "mutated": mutated}, blob + more)


def unsendable(error: Exception) -> Frame:
    """Return the reply instead of one that can't be sent."""
    return Frame({"raised": {"type": "ValueError", "message": f"can't be sent: {error}"}})


FIRST_OWN = 1 << 40
"""The worker numbers the objects in its answers from here on, the judge its steps from 1."""


class Objects:
    """The objects that the judge can refer to by number, until it forgets all of them: results of a
    student's classes and functions, and everything computed from them.

    A step is ``[kind, out, name, args, kwargs, grad]``. ``out`` is the number under which its
    result is kept, ``grad`` whether autograd is recording.

    ========  ==============================================================
    ``call``   call ``args[0]`` with the other arguments
    ``get``    the attribute ``name`` of ``args[0]``
    ``set``    set the attribute ``name`` of ``args[0]`` to ``args[1]``
    ``op``     ``operator.<name>`` of the arguments: ``add``, ``getitem``, …
    ``torch``  the function of torch called ``name``, by its full name, on the arguments
    ``put``    ``args[0]`` itself: a tensor that the judge sent, as an object
    ========  ==============================================================
    """

    def __init__(self) -> None:
        self.known: dict[int, Any] = {}
        self._next = FIRST_OWN

    def keep(self, value: object) -> int:
        """Keep an object that an answer contains; return its number."""
        self._next += 1
        self.known[self._next] = value
        return self._next

    def resolve(self, value: Any) -> Any:
        """Return plain data with each ``ObjectRef`` replaced by its object."""
        known = self.known
        return walk(value, lambda one: known[one.number] if isinstance(one, ObjectRef) else one)

    def run(self, steps: Iterable[list[Any]], decode: Callable[[Any], Any]) -> None:
        """Run steps until one raises; ``decode`` returns the value of an argument's data."""
        known = self.known

        def value(data: Any) -> Any:
            if type(data) in PLAIN:
                return data
            if type(data) is dict and "object" in data:
                return known[data["object"]]
            return self.resolve(decode(data))

        for kind, out, name, args, kwargs, grad in steps:
            given = [value(data) for data in args]
            with contextlib.nullcontext() if grad else torch.no_grad():
                if kind == "op":
                    known[out] = getattr(operator, name)(*given)
                elif kind == "call":
                    known[out] = given[0](*given[1:], **(value(kwargs) if kwargs else {}))
                elif kind == "torch":
                    function = operator.attrgetter(name.removeprefix("torch."))(torch)
                    known[out] = function(*given, **(value(kwargs) if kwargs else {}))
                elif kind == "get":
                    known[out] = getattr(given[0], name)
                elif kind == "set":
                    setattr(given[0], name, given[1])
                else:
                    known[out] = given[0]


@dataclass(slots=True)
class Call:
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


class Before:
    """A tensor as it was passed. Its value is kept too, because writes through ``.data`` or NumPy
    do not change its version counter.
    """

    __slots__ = ("value", "version")

    def __init__(self, tensor: Tensor) -> None:
        self.version = version_counter(tensor)
        self.value = tensor.detach().clone()

    def differs(self, tensor: Tensor) -> bool:
        """Return whether the tensor was written to; NaN equals NaN.

        A tensor that got another shape or dtype by ``.data = …`` does not count, because its
        contents can't be compared.
        """
        if version_counter(tensor) != self.version:
            return True
        now = tensor.detach()
        if now.shape != self.value.shape or now.dtype != self.value.dtype:
            return False
        return not torch.equal(now, self.value) and not bool(
            ((now == self.value) | ((now != now) & (self.value != self.value))).all()
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
