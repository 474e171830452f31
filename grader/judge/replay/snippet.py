"""The last call of a failed check as a few lines of Python to paste.

Every failed check has one in the report, so it is made from the session's memory of its last call,
not from a recording. Scenarios and long inputs have none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor

from grader.judge.remote.proxies import LastCall
from grader.judge.replay.literals import NoLiteral
from grader.judge.replay.recording import Step, tensors_in
from grader.judge.replay.script import script_of
from grader.worker.wire.placeholders import StudentRef

MAX_CHARACTERS = 4000


@dataclass(slots=True)
class Remembered:
    """The steps of one call, as a recording has them."""

    steps: list[Step]
    snapshots: dict[int, tuple[Tensor, Tensor]] = field(default_factory=dict)


def snippet(
    asked: LastCall | None, *, module: str, inputs: Mapping[str, Any], gradcheck: bool
) -> str | None:
    """Return the lines, or None. ``inputs`` names tensors; ``gradcheck`` says which one failed."""
    if asked is None:
        return None
    try:
        lines = script_of(
            Remembered(steps_of(asked)),
            expected=None,
            actual=None,
            inputs=dict(inputs),
            gradcheck=checker_of(asked) if gradcheck else None,
            module=module,
            scenarios="",
        )
    except (NoLiteral, RuntimeError, RecursionError):
        return None
    text = "\n".join(["import torch", f"import {module}", *lines])
    return text if len(text) <= MAX_CHARACTERS else None


def steps_of(asked: LastCall) -> list[Step]:
    """Return the call, and the gradient if one was asked for; results are not written out."""
    result = torch.zeros(())
    call = Step("call", asked.path, asked.args, asked.kwargs, result=result, grad=asked.grad)
    leaves = [
        tensor
        for tensor in tensors_in((asked.args, asked.kwargs))
        if tensor.requires_grad and tensor.is_leaf
    ]
    if asked.incoming is None or asked.deeper or not asked.single or not leaves:
        return [call]
    given = (result, leaves, asked.incoming.detach())
    return [
        call,
        Step("torch", torch.autograd.grad, given, {"allow_unused": True}, result=torch.zeros(())),
    ]


def checker_of(asked: LastCall) -> tuple[str, StudentRef, tuple[Any, ...], dict[str, Any]]:
    """The checker that disagreed, with what it was given."""
    return (
        "gradgradcheck" if asked.deeper else "gradcheck",
        StudentRef(asked.path),
        asked.args,
        asked.kwargs,
    )
