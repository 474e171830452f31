"""Decode answers with values, make them differentiable, and note which copies were written to."""

from __future__ import annotations

from typing import Any, cast

from torch import Tensor

from grader.judge.remote.objects import RemoteObject, Steps
from grader.judge.remote.proxies import GraphHandle, Response, SessionProtocol
from grader.judge.remote.replies import part
from grader.judge.remote.rpc import RpcClient
from grader.worker.wire.frames import BrokenFrame, Frame
from grader.worker.wire.values import Decoder, Opaque, TensorRef, fill


class ResponseReader(RpcClient):
    """A client that reads its worker's answers."""

    recorder: Steps | None = None
    """While a check is recorded, the object that receives the
    steps on objects and passes them on.
    """
    _objects = 0
    """The number of remote objects in this check."""

    def _response_with_value(self, frame: Frame, inputs: tuple[Tensor, ...]) -> Response:
        decoder = Decoder(frame.blob, strided=False, handle=self._object)
        structure = decoder.decode(part(frame.body, "value", object))
        return self._response(frame, decoder, structure, inputs)

    def _object(self, described: Opaque, number: int) -> Opaque:
        """Return the stand-in for an object in an answer."""
        self._objects += 1
        if self._line is None:
            return described
        return RemoteObject(self.recorder or cast(Steps, self), self._line, number, described)

    @staticmethod
    def _decoded(reply: Frame) -> Any:
        decoder = Decoder(reply.blob, strided=False)
        structure = decoder.decode(part(reply.body, "value", object))
        decoder.finish()
        return fill(structure, decoder.tensors)

    def _response(
        self, frame: Frame, decoder: Decoder, structure: Any, inputs: tuple[Tensor, ...]
    ) -> Response:
        """Return the decoded answer; note what the student's code wrote into its copies of
        ``inputs``.
        """
        number = part(frame.body, "handle", int, type(None))
        handle = None
        if number is not None and self._line is not None:
            handle = GraphHandle(self._line, number)
        tensors, requires_grad = list(decoder.tensors), list(decoder.requires_grad)
        self._note_writes(frame, decoder, inputs)
        return Response(structure, tensors, requires_grad, handle, cast(SessionProtocol, self))

    def _note_writes(self, frame: Frame, decoder: Decoder, inputs: tuple[Tensor, ...]) -> None:
        """Note what the student's code wrote into its copies of the inputs. Unless the check allows
        that, it can't pass.
        """
        for pair in part(frame.body, "mutated", list):
            if not isinstance(pair, list) or len(pair) != 2 or type(pair[0]) is not int:
                raise BrokenFrame("a malformed entry for a changed input")
            slot = decoder.decode(pair[1])
            if not isinstance(slot, TensorRef) or not 0 <= pair[0] < len(inputs):
                raise BrokenFrame("a changed input that is not a tensor of this call")
            left, tensor = decoder.tensors[slot.index], inputs[pair[0]]
            if left.shape != tensor.shape or left.dtype != tensor.dtype:
                raise BrokenFrame("an input came back in another shape")
            self._traffic.copies.note(tensor, left)
            self._traffic.wrote |= not self._traffic.writing_allowed
        decoder.finish()
