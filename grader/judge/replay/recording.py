"""Record what one check does with the student's code, step by step, for ``script``.

A ``Recorder`` observes a check inside the judge: its session passes requests on to the real one,
and a torch function mode reports what the check does in torch. Recording changes no verdict,
because values pass through unchanged.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode

from grader.judge.remote.objects import RemoteObject, has_objects
from grader.judge.remote.proxies import Copies, RemoteCallable, RemoteStudent, SessionProtocol
from grader.worker.wire.compat import without_torch_function
from grader.worker.wire.program import Program

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
