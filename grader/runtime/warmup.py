"""What a worker that has time does before it is asked anything: answer questions of no meaning, so
that what torch, Python and the kernel set up at first use is there when a student's code is.

A first product, a first second derivative, a first scenario cost a fresh process several times what
the next ones do, nearly all of it for pages that are touched for the first time. Nothing of a
rehearsal stays: no module, no object, no random number drawn.
"""

from __future__ import annotations

import gc
import io
import linecache
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import torch

from grader.worker.process import serve
from grader.worker.wire.batching import (
    Request,
    call_question,
    gradcheck_questions,
    gradgradcheck_questions,
    product_question,
)
from grader.worker.wire.frames import pack
from grader.worker.wire.values import Encoder

NAME, FILENAME = "rehearsal", "<rehearsal>"
STUDENT = """
import torch

class Rehearsed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x * x

    @staticmethod
    def backward(ctx, grad_output):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad_output

def cube(x):
    return Rehearsed.apply(x)

def smooth(x, w=None):
    y = torch.sigmoid(x) + torch.tanh(x) * torch.exp(-x) - torch.log1p(x * x).sqrt() / (1 + x.abs()) + x.sin().relu()
    return (y.unsqueeze(0) @ torch.ones_like(y).unsqueeze(1)).sum() + y.mean()

CONSTANT = torch.tensor([1.0, 2.0])
"""
SCENARIOS = """
import torch

def walk(student, x):
    y, seen = student.smooth(x), []
    x.register_hook(lambda gradient: seen.append(gradient.clone()))
    y.backward(retain_graph=True)
    y.backward()
    node = y.grad_fn
    return {"node": type(node).__name__, "next": len(node.next_functions), "seen": seen, "grad": x.grad, "same": torch.equal(x.grad, x)}
"""


def warm_up() -> None:
    """Serve what judges ask, from a memory of this process; then forget it."""
    try:
        serve(io.BytesIO(b"".join(questions())), io.BytesIO())
    finally:
        sys.modules.pop(NAME, None)
        linecache.cache.pop(FILENAME, None)
        gc.collect()


def questions() -> Iterator[bytes]:
    """A judge's frames: a file to load, names, a gradcheck, a second derivative, a scenario, an
    argument that raises.
    """
    x = torch.linspace(0.5, 1.5, 3, dtype=torch.float64, requires_grad=True)
    v, one = (
        torch.ones_like(x, requires_grad=True),
        torch.ones((), dtype=torch.float64, requires_grad=True),
    )
    yield asked("load", source=STUDENT, filename=FILENAME, name=NAME, scenarios=SCENARIOS)
    for path in ("cube", "CONSTANT", "Rehearsed.apply", "absent"):
        yield asked("describe", path=path)
    yield together(gradcheck_questions("cube", [x]))
    yield together(gradgradcheck_questions("cube", [x], v))
    yield together([call_question("smooth", [x]), product_question(0, one, [x], create_graph=True)])
    yield together([call_question("cube", [torch.ones(2, 3).T])])
    encoder = Encoder(strided=True)
    arguments = [encoder.encode((x,)), encoder.encode({})]
    yield asked("observe", encoder.blob, path="walk", args=arguments)
    yield asked(
        "call", path="cube", args=[encoder.encode(("no tensor",)), encoder.encode({})], grad=True
    )


def asked(do: str, blob: bytes = b"", **fields: Any) -> bytes:
    """A request's frame."""
    return pack({"id": 0, "do": do, "free": [], **fields}, blob)


def together(several: Sequence[Request]) -> bytes:
    """One frame for several requests."""
    return asked(
        "several",
        b"".join(one.blob for one in several),
        several=[[one.fields, len(one.blob)] for one in several],
    )
