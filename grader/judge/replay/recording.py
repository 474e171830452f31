"""Record what a check does with the student's code and in torch, step by step.

A ``Recorder`` wraps the session and uses torch's function mode; ``script`` writes Python from the
steps. Values pass through unchanged, so no verdict changes.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from grader.judge.remote.proxies import (
    GraphHandle,
    RemoteCallable,
    RemoteStudent,
    Response,
    SessionProtocol,
)
from grader.worker.wire.batching import Request
from grader.worker.wire.compat import without_torch_function
from grader.worker.wire.program import Program

LONGEST = 10_000
"""How many elements a tensor may have that is to be written out."""


@dataclass(slots=True)
class Step:
    """One step of a check. ``kind``: call, observe, get (a student's constant) or torch.

    ``what`` is a path in the file, a scenario or a function of torch; a step that raised has no
    ``result``.
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
    """The steps of one check, and a student for it to ask."""

    def __init__(self, session: Any) -> None:
        self.steps: list[Step] = []
        self.snapshots: dict[int, tuple[Tensor, Tensor]] = {}
        """By id, every tensor that was handed to a step, and what it held then."""
        self.student = RemoteStudent(_Overheard(session, self))
        self.on = False
        self._mode: Any = _Torch(self)  # torch's own methods are not annotated

    def __enter__(self) -> Recorder:
        self.on = True
        self._mode.__enter__()
        return self

    def __exit__(self, *ended: Any) -> None:
        self._mode.__exit__(*ended)
        self.on = False

    def step(
        self,
        kind: str,
        what: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        do: Callable[[], Any],
    ) -> Any:
        """Do something and write it down; what is done inside belongs to it."""
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
                self.snapshots[id(tensor)] = (
                    tensor,
                    tensor.detach().clone() if tensor.numel() <= LONGEST else tensor.detach(),
                )


class _Overheard:
    """A conversation that hands everything on, and writes down what was asked."""

    def __init__(self, session: SessionProtocol, recorder: Recorder) -> None:
        self._session = session
        self._recorder = recorder
        self.source = session.source

    def writing_allowed(self) -> contextlib.AbstractContextManager[None]:
        return self._session.writing_allowed()

    def call(self, path: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._recorder.step(
            "call", path, args, kwargs, lambda: self._session.call(path, args, kwargs)
        )

    def observe(self, scenario: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return self._recorder.step(
            "observe", scenario, args, kwargs, lambda: self._session.observe(scenario, args, kwargs)
        )

    def resolve(self, path: str) -> Any:
        """Resolve a name; a function is not a step, because nothing was asked yet."""
        recorder, before = self._recorder, len(self._recorder.steps)
        found = recorder.step("get", path, (), {}, lambda: self._session.resolve(path))
        if isinstance(found, RemoteCallable):
            del recorder.steps[before:]
            return RemoteCallable(self, path)
        return found

    def product(
        self,
        handle: GraphHandle,
        inputs: tuple[Tensor, ...],
        incoming: tuple[Tensor | None, ...],
        *,
        needs: tuple[bool, ...],
    ) -> Response:
        """Ask for a product; it is part of the step in which autograd needed it."""
        return self._session.product(handle, inputs, incoming, needs=needs)

    def foreseeing(self, questions: Sequence[Request]) -> contextlib.AbstractContextManager[None]:
        """Answer questions in advance; they are recorded when they come up."""
        return self._session.foreseeing(questions)


class _Torch(TorchFunctionMode):
    """Writes down what a check does in torch."""

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
    """The tensors in plain data, and in the functions that are data."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Program):
        yield from value.parameters
    elif isinstance(value, dict):
        yield from tensors_in(list(value.values()))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from tensors_in(item)
