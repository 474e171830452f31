"""Write a check's last call as a learner would type it: a few lines of Python to paste, with the
same inputs.

The report shows one for every failed check, so it is made from the session's record of the last
call; ``grade replay`` needs a full recording instead. There is no snippet for a call that would
take more than a few lines, and none for a scenario, because a scenario is not a call.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from grader.judge.remote.proxies import LastCall
from grader.judge.replay.literals import NoLiteral
from grader.judge.replay.recording import Step, tensors_in
from grader.judge.replay.script import ScriptWriter
from grader.worker.wire.values import StudentRef

MAX_CHARACTERS = 4000


def snippet(
    call: LastCall | None,
    *,
    module: str,
    inputs: Mapping[str, Any],
    gradcheck: bool,
    in_notebook: bool = False,
) -> str | None:
    """Return the text, or None if the call can't be written or is too long. Tensors are named as in
    ``inputs``. ``gradcheck`` says that a gradcheck failed. With ``in_notebook``, nothing is
    imported, because the kernel's namespace has the functions.
    """
    if call is None:
        return None
    try:
        writer = ScriptWriter(steps_of(call), {}, inputs=inputs, module=module, scenarios="")
        lines = writer.write(gradcheck=checker_of(call) if gradcheck else None)
    except (NoLiteral, RuntimeError, RecursionError):
        return None
    where = f"import __main__ as {module}" if in_notebook else f"import {module}"
    text = "\n".join(["import torch", where, *lines])
    return text if len(text) <= MAX_CHARACTERS else None


def steps_of(call: LastCall) -> list[Step]:
    """Return the call as a step, and the gradient if one was computed.

    Results are placeholders, which the script names and never writes out.
    """
    result = torch.zeros(())
    steps = [Step("call", call.path, call.args, call.kwargs, result=result, grad=call.grad)]
    leaves = [
        tensor
        for tensor in tensors_in((call.args, call.kwargs))
        if tensor.requires_grad and tensor.is_leaf
    ]
    if call.incoming is not None and leaves and call.single and not call.deeper:
        given = (result, leaves, call.incoming.detach())
        options = {"allow_unused": True}
        steps.append(Step("torch", torch.autograd.grad, given, options, result=torch.zeros(())))
    return steps


def checker_of(call: LastCall) -> tuple[str, StudentRef, tuple[Any, ...], dict[str, Any]]:
    """Return the checker that failed, with its arguments."""
    checker = "gradgradcheck" if call.deeper else "gradcheck"
    return checker, StudentRef(call.path), call.args, call.kwargs
