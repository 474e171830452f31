"""Experiments on torch's gradcheck: what it imports, asks and prints."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from grader.judge.compat_check.reliance import Probe, leaf, relies
from grader.worker.wire import compat
from grader.worker.wire.batching import EPS, moved_inputs, unit_vectors

SLOW = "each question crosses the border by itself, which takes long"


@relies(
    "torch",
    f"{compat.GRADCHECK_IMPORTS} as the one module that gradcheck imports late",
    loss="each worker imports something in its first gradcheck, which takes long",
)
def gradcheck_imports_one_module() -> bool:
    import torch.testing

    compat.import_for_gradcheck()
    before = set(sys.modules)
    torch.autograd.gradcheck(torch.sin, (leaf(1.0, 2.0),))
    return not any(name.startswith("torch.") for name in set(sys.modules) - before)


@relies(
    "torch",
    "the order in which gradcheck evaluates a function, moves its input and asks for products",
    loss=SLOW,
)
def gradcheck_asks_as_foreseen() -> bool:
    x, probe = leaf(0.5, 1.5), Probe()
    torch.autograd.gradcheck(probe, (x,))
    return begins_with(probe.inputs, [x, *(moved for (moved,) in moved_inputs([x], EPS))]) and (
        begins_with(probe.gradients, [*unit_vectors(x), *unit_vectors(x)])
    )


@relies(
    "torch", "the order in which gradgradcheck evaluates a function and moves its inputs", loss=SLOW
)
def gradgradcheck_asks_as_foreseen() -> bool:
    x, v, probe = leaf(0.5, 1.5), leaf(1.0, -1.0), Probe()
    torch.autograd.gradgradcheck(probe, (x,), v)
    pairs = [[x, v], *moved_inputs([x, v], EPS)]
    return begins_with(probe.inputs, [first for first, _ in pairs]) and begins_with(
        [one for one in probe.gradients if one is not None], [second for _, second in pairs]
    )


@relies(
    "torch",
    f'"{compat.NUMERICAL}" and "{compat.ANALYTICAL}" before matrices in gradcheck\'s message',
    loss="a failed gradcheck shows no Jacobian as the expected value",
)
def gradcheck_prints_both_jacobians() -> bool:
    probe = Probe(factor=3.0)
    try:
        torch.autograd.gradcheck(lambda x: probe(x).float(), (leaf(1.0, 2.0),), eps=1e-2, atol=1e-3)
    except GradcheckError as error:
        found = compat.gradcheck_jacobians(str(error))
        twice = 2 * torch.eye(2, dtype=torch.float64)
        return compat.ANALYTICAL in str(error) and torch.allclose(found["expected"], twice, 1e-3)
    return False


def begins_with(asked: Sequence[Tensor | None], foreseen: Iterable[Tensor]) -> bool:
    remaining = iter(asked)
    pairs = ((next(remaining, None), tensor) for tensor in foreseen)
    return all(left is not None and torch.equal(left, right) for left, right in pairs)
