"""Assert with torch's gradcheck and gradgradcheck, and show the Jacobians that disagree.

All requests to a function in the worker cross in one frame.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from grader.core.errors import CheckFailure
from grader.judge.figures import Figure
from grader.judge.jacobians import gradient_of, jacobian_figure
from grader.judge.remote.proxies import RemoteCallable
from grader.worker.wire.batching import EPS, gradcheck_requests, gradgradcheck_requests
from grader.worker.wire.compat import CUT_OFF, gradcheck_jacobians

MAX_JACOBIAN = 1 << 23
"""The most elements of a Jacobian that gradcheck compares one by one."""
TOO_WIDE = "the result has {count} elements, too many for gradcheck to compare"


def assert_gradcheck(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    message: str = "gradcheck disagrees",
    **options: Any,
) -> None:
    """Require that torch.autograd.gradcheck passes on float64 inputs; a failure shows Jacobians.

    ``options`` are gradcheck's, and ``names``: the names of the inputs in the report.
    """
    with contextlib.ExitStack() as stack:
        if isinstance(function, RemoteCallable):
            requests = gradcheck_requests(function.path, inputs, eps=options.get("eps", EPS))
            stack.enter_context(function.prefetching(requests))
        _gradcheck(torch.autograd.gradcheck, function, inputs, message, options)


def assert_gradgradcheck(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    message: str = "gradgradcheck disagrees",
    **options: Any,
) -> None:
    """Require that torch.autograd.gradgradcheck passes: backward itself can be differentiated, with
    the right values. Options as for ``assert_gradcheck``.
    """
    with contextlib.ExitStack() as stack:
        if (
            isinstance(function, RemoteCallable)
            and getattr(function(*inputs), "shape", None) == inputs[0].shape
        ):
            v = (torch.rand(inputs[0].shape, dtype=torch.float64) * 2 - 1).requires_grad_()
            requests = gradgradcheck_requests(function.path, inputs, v)
            stack.enter_context(function.prefetching(requests))
            options = {"grad_outputs": v, **options}
        _gradcheck(torch.autograd.gradgradcheck, function, inputs, message, options)


def _gradcheck(
    checker: Any, function: Any, inputs: Sequence[Tensor], message: str, options: dict[str, Any]
) -> None:
    named = options.pop("names", None) or [f"input {k}" for k in range(len(inputs))]
    details: dict[str, Any] = {"inputs": dict(zip(named, inputs, strict=True))}
    bounded = function if options.get("fast_mode") else _bounded(function, details)
    try:
        checker(bounded, tuple(inputs), **options)
    except GradcheckError as error:
        text = str(error)
        details["facts"] = {"gradcheck": text[:600]}
        details["checker"] = (checker.__name__, function, tuple(inputs), options)
        details["figures"] = [lambda: _disagreement(checker, function, inputs, named, options)]
        raise CheckFailure(message, **{**details, **gradcheck_jacobians(text)}) from None
    except RuntimeError as error:
        if CUT_OFF in str(error):
            raise CheckFailure(
                "the result is cut off from the graph: it does not require grad", **details
            ) from None
        raise


def _bounded(function: Any, details: dict[str, Any]) -> Callable[..., Any]:
    """Return the function; it fails the check if a Jacobian would be too large to compare."""
    elements = sum(x.numel() for x in details["inputs"].values())

    def called(*args: Any) -> Any:
        result = function(*args)
        results = result if isinstance(result, list | tuple) else (result,)
        outputs = sum(y.numel() for y in results if isinstance(y, Tensor))
        if outputs * elements > MAX_JACOBIAN:
            raise CheckFailure(TOO_WIDE, facts={"count": f"{outputs:,}"}, **details)
        return result

    return called


def _disagreement(
    checker: Any,
    function: Any,
    inputs: Sequence[Tensor],
    names: Sequence[str],
    options: dict[str, Any],
) -> Figure | None:
    """Return the two Jacobians that a checker compared, of the function or of its gradient."""
    tolerances = {name: options[name] for name in ("atol", "rtol", "eps") if name in options}
    if checker is torch.autograd.gradcheck:
        return jacobian_figure(function, inputs, names, **tolerances)
    y = function(*inputs)
    v = torch.linspace(0.5, 1.5, y.numel(), dtype=torch.float64).reshape(y.shape).requires_grad_()
    gradient = gradient_of(function)
    return jacobian_figure(gradient, [*inputs, v], [*names, "v"], **tolerances)
