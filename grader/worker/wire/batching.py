"""Predict all requests of a gradcheck before it runs, so that they cross the border in one frame.

torch's gradcheck evaluates a function at an input, then at the input with each element moved by
``-eps`` and ``+eps``, then asks for the products of its Jacobian with each unit vector, twice
(``torch/autograd/gradcheck.py``, slow mode). None of these depends on an answer. The judge still
runs torch's own gradcheck, on the answers; predicted requests are only sent earlier
(``StudentSession.prefetching``). If torch asks for something else, for example because the
function's result has another shape than its first input, that request is sent when it comes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.worker.wire.values import Encoder, encode_tensors, round_trip

EPS = 1e-6
"""gradcheck's default step."""
MAX_REQUESTS = 400
"""A gradcheck with more requests is not predicted."""


@dataclass(frozen=True, slots=True)
class Request:
    """A request to the worker. Its handle may be ``{"of": position}``: that in an earlier reply."""

    fields: dict[str, Any]
    blob: bytes


def call_request(path: str, inputs: Sequence[Tensor]) -> Request:
    """Return a request for a call with grad mode on."""
    encoder = Encoder(strided=True)
    args = [encoder.encode(tuple(inputs)), encoder.encode({})]
    return Request({"do": "call", "path": path, "args": args, "grad": True}, encoder.blob)


def product_request(
    of: int, vector: Tensor, inputs: Sequence[Tensor], *, create_graph: bool
) -> Request:
    """Return a request for the product of ``vector`` and the Jacobian of request number ``of``; the
    graph is kept.
    """
    metas, blob = encode_tensors([vector], strided=True)
    needs = [tensor.requires_grad for tensor in inputs]
    fields = {
        "do": "vjp",
        "handle": {"of": of},
        "grads": metas,
        "needs": needs,
        "create_graph": create_graph,
        "retain_graph": True,
    }
    return Request(fields, blob)


def gradcheck_requests(path: str, inputs: Sequence[Tensor], *, eps: float = EPS) -> list[Request]:
    """Return gradcheck's requests to a shape-preserving function; empty if there are too many."""
    outputs = inputs[0].numel()
    if 1 + 2 * moved_count(inputs) + 2 * outputs > MAX_REQUESTS:
        return []
    requests = [call_request(path, inputs)]
    requests += [call_request(path, moved) for moved in moved_inputs(inputs, eps)]
    return requests + [
        product_request(0, unit, inputs, create_graph=False)
        for _ in range(2)
        for unit in unit_vectors(inputs[0])
    ]


def gradgradcheck_requests(
    path: str, inputs: Sequence[Tensor], v: Tensor, *, eps: float = EPS
) -> list[Request]:
    """Return gradgradcheck's requests: gradcheck of the product, with respect to the inputs and
    ``v``; empty if there are too many.
    """
    everything = [*inputs, v]
    if 2 + 4 * moved_count(everything) + 2 * inputs[0].numel() > MAX_REQUESTS:
        return []
    requests: list[Request] = []
    for moved in itertools.chain([everything], moved_inputs(everything, eps)):
        requests.append(call_request(path, moved[:-1]))
        requests.append(product_request(len(requests) - 1, moved[-1], inputs, create_graph=True))
    return requests + [
        product_request(1, unit, everything, create_graph=False)
        for _ in range(2)
        for unit in unit_vectors(inputs[0])
    ]


def moved_count(inputs: Sequence[Tensor]) -> int:
    """Return how many elements gradcheck moves."""
    return sum(tensor.numel() for tensor in inputs if tensor.requires_grad)


def moved_inputs(inputs: Sequence[Tensor], eps: float) -> Iterator[list[Tensor]]:
    """Yield the inputs with each element moved by ``-eps`` and ``+eps``, layouts kept."""
    for position, tensor in enumerate(inputs):
        if not tensor.requires_grad:
            continue
        for index in itertools.product(*map(range, tensor.shape)):
            for step in (-eps, eps):
                moved: Tensor = round_trip(tensor)
                with torch.no_grad():
                    moved[index] = tensor[index] + step
                yield [*inputs[:position], moved, *inputs[position + 1 :]]


def unit_vectors(like: Tensor) -> Iterator[Tensor]:
    """Yield tensors of zeros with a single one, for each element in turn."""
    for index in itertools.product(*map(range, like.shape)):
        unit = torch.zeros_like(like, memory_format=torch.contiguous_format, requires_grad=False)
        unit[index] = 1.0
        yield unit
