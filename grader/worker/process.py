"""Run a student's code and answer the judge's requests: the worker process.

It answers one request at a time, until its input ends:

``load``      execute the student's file
``describe``  what a name in the student's module is: a class, another callable, a value, or missing
``call``      call a function of the student; keep inputs and outputs under a handle
``vjp``       the vector-Jacobian product of the call with a handle; it has a handle of its own, so
              this nests to any order
``observe``   run a scenario on the student's module; its source comes with the first such request
``run``       run steps on objects that the judge drives (``objects``), and read some of them
``several``   several calls and products at once, one after another

Nothing here decides anything: it reports values, and whatever it reports may be a lie. It holds no
checks, no solutions and no expected values.
"""

from __future__ import annotations

import contextlib
import faulthandler
import signal
import sys
import types
from collections.abc import Callable
from typing import Any, BinaryIO

import torch
from torch import Tensor

from grader.worker.calls import Call
from grader.worker.imports import remove_engine_modules
from grader.worker.loading import execute
from grader.worker.objects import Objects
from grader.worker.returned_lines import ReturnedLine
from grader.worker.snapshots import Before
from grader.worker.wire.exceptions import explain
from grader.worker.wire.frames import MAX_VALUES, BrokenFrame, Frame, pack, read_frame
from grader.worker.wire.placeholders import ObjectRef, fill
from grader.worker.wire.values import Decoder, Encoder, encode_tensors

SCENARIOS = "scenarios"
MAX_SEVERAL_BYTES = 16 << 20
"""After this many bytes of tensors, the remaining requests in a ``several`` get no reply."""


class Worker:
    """One student's module, and the calls that the judge still refers to."""

    def __init__(self) -> None:
        self.student = types.ModuleType("student")
        self.scenarios: dict[str, types.CodeType] = {}
        self.filename = "<student>"
        self.calls: dict[int, Call] = {}
        self.next_handle = 1
        self.objects = Objects()
        self.sent: list[Tensor] = []

    def answer(self, request: Frame) -> bytes:
        """Drop the handles and objects that the judge no longer uses; return the packed reply.

        If the request has a function to ``trace``, its name and the lines of its returns, the reply
        has the line at which it ``returned``.
        """
        body = request.body
        for handle in body.get("free", ()):
            self.calls.pop(handle, None)
        if body.get("forget"):
            self.objects.forget()
            self.sent.clear()
        to_reply = self.reply_to if body["do"] != "several" else self.replies_to
        if "trace" in body:
            traced = ReturnedLine(self.filename, *body["trace"])
            with traced.watching():
                reply, blob = to_reply(request)
            reply["returned"] = traced.line
        else:
            reply, blob = to_reply(request)
        try:
            return pack({"id": body["id"], **reply}, blob, most=MAX_VALUES)
        except (BrokenFrame, ValueError) as error:  # ValueError: an int with too many digits
            return pack(
                {
                    "id": body["id"],
                    "raised": {"type": "ValueError", "message": f"can't be sent: {error}"},
                }
            )

    def reply_to(self, request: Frame) -> tuple[dict[str, Any], bytes]:
        """Return the reply to one request, whatever the student's code does."""
        body = request.body
        action: Callable[[Frame], tuple[Any, bytes]] = getattr(self, "do_" + body["do"])
        try:
            return action(request)
        except AttributeError as error:
            if body["do"] != "load" and error.obj is self.student and error.name:
                return {"missing": str(error.name)[:80], "names": self.names()}, b""
            return {"raised": explain(error, self.filename)}, b""
        except BrokenFrame as error:
            return {"raised": {"type": "ValueError", "message": f"can't be sent: {error}"}}, b""
        except BaseException as error:  # anything may be raised, even SystemExit
            return {"raised": explain(error, self.filename)}, b""

    def replies_to(self, request: Frame) -> tuple[dict[str, Any], bytes]:
        """Return the replies to several requests, in order, up to the first that is not a value;
        each with the length of its blob.

        A request's handle may be ``{"of": position}``: the handle in an earlier reply.
        """
        replies: list[list[Any]] = []
        blobs: list[bytes] = []
        position = 0
        for fields, length in request.body["several"]:
            if isinstance(fields.get("handle"), dict):
                fields = {**fields, "handle": replies[fields["handle"]["of"]][0].get("handle")}
                if fields["handle"] is None:
                    break
            reply, blob = self.reply_to(Frame(fields, request.blob[position : position + length]))
            position += length
            replies.append([reply, len(blob)])
            blobs.append(blob)
            if "raised" in reply or "missing" in reply or sum(map(len, blobs)) > MAX_SEVERAL_BYTES:
                break
        return {"several": replies}, b"".join(blobs)

    def do_load(self, request: Frame) -> tuple[Any, bytes]:
        """Execute the student's file from the request's text; nothing is read from disk."""
        body = request.body
        self.filename = body["filename"]
        self.student = types.ModuleType(body["name"])
        self.student.__file__ = self.filename
        sys.modules[body["name"]] = self.student
        replaced = execute(
            body["source"], self.student, set(body["words"]), optional_after=body["optional_after"]
        )
        return {"value": replaced}, b""

    def do_describe(self, request: Frame) -> tuple[Any, bytes]:
        """Describe a name: ``missing`` with the known names, ``class``, ``callable``, or
        ``value``.
        """
        try:
            value = self.lookup(request.body["path"])
        except AttributeError:
            return {"kind": "missing", "names": self.names()}, b""
        if callable(value):
            return {"kind": "class" if isinstance(value, type) else "callable"}, b""
        encoder = Encoder(strided=False)
        return {"kind": "value", "value": encoder.encode(value)}, encoder.blob

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

    def do_call(self, request: Frame) -> tuple[Any, bytes]:
        """Call a student's function with decoded arguments, in the judge's grad mode."""
        body = request.body
        function = self.lookup(body["path"])
        args, kwargs, decoder = self.arguments(request)
        before = list(map(Before, decoder.tensors))
        with torch.set_grad_enabled(body["grad"]):
            result = function(*args, **kwargs)
        return self.reply(result, decoder.tensors, before)

    def do_observe(self, request: Frame) -> tuple[Any, bytes]:
        """Run a scenario in a new module, so that changes to the last one have no effect."""
        name = request.body["path"]
        if "source" in request.body:
            code = compile(request.body["source"], "<scenarios>", "exec", dont_inherit=True)
            self.scenarios[name] = code
        scenarios = types.ModuleType(SCENARIOS)
        exec(self.scenarios[name], scenarios.__dict__)
        scenario = getattr(scenarios, name)
        args, kwargs, _ = self.arguments(request)
        with torch.enable_grad():
            result = scenario(self.student, *args, **kwargs)
        encoder = Encoder(strided=False)
        return {"value": encoder.encode(result)}, encoder.blob

    def do_run(self, request: Frame) -> tuple[Any, bytes]:
        """Run steps on the judge's objects and return those that it reads.

        All tensors that came with steps, since objects were last forgotten, are inputs of the
        results. Writes into them are not reported, because the judge's own steps may write.
        """
        decoder = Decoder(request.blob, strided=True, student=self.lookup)

        def decode(data: Any) -> Any:
            known = len(decoder.tensors)
            value = decoder.decode(data)
            self.sent += decoder.tensors[known:]
            return fill(value, decoder.tensors)

        with torch.enable_grad():
            self.objects.run(request.body["steps"], decode)
        read = [self.objects.resolve(ObjectRef(number)) for number in request.body["read"]]
        return self.reply(read, list(self.sent), [])

    def arguments(self, request: Frame) -> tuple[Any, Any, Decoder]:
        decoder = Decoder(request.blob, strided=True, student=self.lookup)
        args, kwargs = self.objects.resolve(decoder.decode(request.body["args"]))
        return fill(args, decoder.tensors), fill(kwargs, decoder.tensors), decoder

    def reply(self, result: Any, inputs: list[Tensor], before: list[Before]) -> tuple[Any, bytes]:
        """Return the encoded result, its handle, and the inputs that were written to. Only inputs
        whose state ``before`` is known are compared.
        """
        encoder = Encoder(strided=False, keep=self.objects.keep)
        body: dict[str, Any] = {"value": encoder.encode(result)}
        body["handle"] = self.keep(inputs, encoder.tensors)
        return self.with_mutated(body, encoder.blob, inputs, before)

    def with_mutated(
        self, body: dict[str, Any], blob: bytes, inputs: list[Tensor], before: list[Before]
    ) -> tuple[Any, bytes]:
        """Add the new contents of inputs that were written to."""
        changed = [
            k for k, (t, was) in enumerate(zip(inputs, before, strict=False)) if was.differs(t)
        ]
        if not changed:
            body["mutated"] = []
            return body, blob
        metas, more = encode_tensors([inputs[k] for k in changed], strided=False)
        body["mutated"] = [list(pair) for pair in zip(changed, metas, strict=True)]
        return body, blob + more

    def keep(self, inputs: list[Tensor], outputs: list[Tensor]) -> int | None:
        """Keep a call for later products; return its handle, or None if no output requires grad."""
        if not any(t.requires_grad for t in outputs):
            return None
        handle = self.next_handle
        self.next_handle += 1
        self.calls[handle] = Call(inputs, outputs)
        return handle

    def do_vjp(self, request: Frame) -> tuple[Any, bytes]:
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
        metas, blob = encode_tensors([g for g in grads if g is not None], strided=False)
        remaining = iter(metas)
        reply: dict[str, Any] = {"grads": [None if g is None else next(remaining) for g in grads]}
        reply["handle"] = self.keep([*call.inputs, *vectors], [g for g in grads if g is not None])
        return self.with_mutated(reply, blob, vectors, before)


def write_stack_on_signal() -> None:
    """Make SIGUSR1 write the stack to the output, even from an endless loop."""
    if hasattr(faulthandler, "register") and hasattr(signal, "SIGUSR1"):  # not on Windows
        faulthandler.register(signal.SIGUSR1, file=2, all_threads=False)


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer requests until the input ends."""
    remove_engine_modules()
    write_stack_on_signal()
    worker = Worker()
    while (request := read_frame(source)) is not None:
        reply = worker.answer(request)
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(BaseException):
                stream.flush()
        sink.write(reply)
        sink.flush()
