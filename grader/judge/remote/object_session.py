"""Collect a check's steps on the student's objects, and send them in one frame."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from grader.judge.remote.objects import RemoteObject, as_references
from grader.judge.remote.proxies import Response
from grader.judge.remote.responses import ResponseReader
from grader.worker.wire.frames import BrokenFrame
from grader.worker.wire.values import PLAIN, Encoder, StudentRef, fill

MOST_PENDING = 2_500
"""How many steps on objects cross in one frame at most."""


class ObjectSession(ResponseReader):
    """A client with which a check uses objects in the worker (``RemoteObject``)."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._new_objects()

    def _new_objects(self) -> None:
        self._objects = 0
        self._pending: list[list[Any]] = []
        self._encoder = Encoder(strided=True)
        self._sent: list[Tensor] = []

    def construct(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> RemoteObject:
        """Make an object of a student's class, or call a function with objects, as a step."""
        self._traffic.missing.clear()
        return (self.recorder or self).step("call", "", (StudentRef(path), *args), kwargs)

    def put(self, tensor: Tensor) -> RemoteObject:
        """Return a copy of a tensor in the worker, as a remote object."""
        return (self.recorder or self).step("put", "", (tensor,))

    def step(
        self, kind: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> RemoteObject:
        """Add a step (``worker/objects.py``) to those that are pending. A tensor is sent with its
        present value.
        """
        self.load()
        line = self._line
        assert line is not None

        def encoded(value: Any) -> Any:
            if type(value) in PLAIN:
                return value
            if type(value) is RemoteObject:
                return {"object": value.number_on(line)}
            return self._encoder.encode(as_references(value, line))

        self._objects += 1
        data = [encoded(arg) for arg in args]
        options = encoded(kwargs) if kwargs else None
        self._pending.append([kind, self._objects, name, data, options, torch.is_grad_enabled()])
        if len(self._pending) >= MOST_PENDING:
            self.flush()
        return RemoteObject(self.recorder or self, line, self._objects)

    def flush(self) -> None:
        """Send the pending steps; raise what the student's code raised."""
        if self._pending:
            (self.recorder or self).read([])

    def read(self, objects: list[RemoteObject]) -> list[Any]:
        """Send the pending steps and return the values of objects. A tensor is differentiable with
        respect to the tensors in all steps of the check.
        """
        self.load()
        line = self._line
        assert line is not None
        self._traffic.last_call = None
        numbers = [one.number_on(line) for one in objects]
        steps, encoder = self._pending, self._encoder
        self._pending, self._encoder = [], Encoder(strided=True)
        self._sent += encoder.tensors
        frame = self.ask("run", steps=steps, read=numbers, blob=encoder.blob)
        inputs = tuple(self._sent)

        def parse() -> Response:
            response = self._response_with_value(frame, inputs)
            if type(response.structure) is not list or len(response.structure) != len(objects):
                raise BrokenFrame("the number of values is not the number of objects read")
            return response

        response: Response = self.checked(parse)
        values = fill(response.structure, response.attach(inputs))
        return list(values)
