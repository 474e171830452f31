"""One call of a function under test, beside its truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from grader.judge.checks import assert_gradient, assert_tensor, assert_that
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.running_check import misuse, outside_of_checks, running_check

if TYPE_CHECKING:
    from grader.judge.under_test.tested import Tested

Near = Mapping[str, float]
"""A tolerance: ``rtol``, ``atol``."""


class Call:
    """One call of a function under test: ``result`` is what came back."""

    def __init__(self, suite: Tested, inputs: Sequence[Tensor]) -> None:
        self.suite, self.inputs = suite, inputs
        if len(inputs) != len(suite.inputs):
            raise misuse(f"{suite.path} takes {', '.join(suite.inputs)}; {len(inputs)} were given")
        student = running_check().student
        own = {id(one): one.detach().requires_grad_(one.requires_grad) for one in inputs}
        self._own = [own[id(one)] for one in inputs]
        asked = student.asked if isinstance(student, RemoteStudent) else 0
        with outside_of_checks():
            truth: Callable[..., object] = suite.truth
            want = truth(*self._own)
        if isinstance(student, RemoteStudent) and student.asked != asked:
            raise misuse(f"the truth of {suite.path} asks the student; compute it from torch alone")
        if not isinstance(want, Tensor):
            kind = type(want).__name__
            raise misuse(f"the truth of {suite.path} returned {kind}; it must return a tensor")
        self.want = want
        copies = {id(one): one.clone() for one in inputs}
        with student.writing_allowed():  # is checked by leaves_tensors
            self.result: Any = suite.function()(*(copies[id(one)] for one in inputs))

    def require_value(
        self, says: str | None, *, plot: bool | None, worst: int | None, nan: str | None, near: Near
    ) -> None:
        """Require the value; options as for ``Tested.call``."""
        suite, want, got = self.suite, self.want.detach(), self.result
        details = suite.details([one.detach() for one in self.inputs])
        message = suite.messages.get(says or "value", says or "")
        self._refuse_nan(got, want, nan, details)
        if suite.plotted(plot):
            details["figures"] = [suite.figure(self.inputs, suite.inputs[0], None)]
        if got is None or worst is None:
            details |= near or suite.tolerance(want.dtype)
            assert_tensor(got, want, message, **details)
        else:
            assert_worst(got, want, message, worst=worst, **near, **details)
        if any(one.requires_grad for one in self.inputs):
            cut = suite.messages["cut"]
            assert_that(got.requires_grad, cut, actual=got, **details)

    def backward(self, v: Tensor) -> Any:
        """Return the gradient of the first input, whatever it is."""
        return differentiated(self.result, self.inputs[:1], v)[0]

    def gradient(
        self,
        v: Tensor | None,
        *,
        says: str | None = None,
        after: Callable[[Tensor], Tensor] = lambda y: y,
        retain_graph: bool = False,
        plot: bool | None = None,
        worst: int | None = None,
        nan: str | None = None,
        facts: Mapping[str, Any] | None = None,
        also: Mapping[str, Any] | None = None,
        **near: float,
    ) -> Any:
        """Require the gradients of the inputs that require grad, for the incoming gradient v; of
        ``after(result)``, if that is given, for ones if v is None. Return them: the first one by
        itself if there is one input.

        ``also`` are inputs to be shown besides, or in place of v.
        """
        suite = self.suite
        rows = [
            row
            for row in zip(suite.inputs, self.inputs, self._own, strict=True)
            if row[1].requires_grad
        ]
        if not rows:
            raise misuse(f"no input of {suite.path} requires grad, so it has no gradient")
        target = after(self.want)
        incoming = torch.ones_like(target) if v is None else v
        if incoming.shape != target.shape:
            shape, wanted = tuple(incoming.shape), tuple(target.shape)
            raise misuse(f"v has shape {shape}, and the result of {suite.path} has {wanted}")
        if not target.requires_grad:
            raise misuse(
                f"the truth of {suite.path} has no gradient. Compute it by operations of torch, or"
                " declare its slope: declared(value, slope)"
            )
        own = [row[2] for row in rows]
        wants = torch.autograd.grad(target, own, incoming, retain_graph=True)
        leaves = [row[1] for row in rows]
        found = differentiated(after(self.result), leaves, incoming, retain_graph=retain_graph)
        message = suite.messages.get(says or "gradient", says or "")
        allowed = near or suite.tolerance(incoming.dtype, incoming)
        for (which, _, _), got, want in zip(rows, found, wants, strict=True):
            details = suite.details(self.inputs, v) | {"at": suite.method("backward")}
            details["inputs"] |= also or {}
            details["facts"] |= facts or {}
            if len(suite.inputs) > 1:
                details["facts"]["which"] = which
            self._refuse_nan(got, want, nan, details)
            if suite.plotted(plot):
                details["figures"] = [suite.figure(self.inputs, which, v)]
            assert_worst(got, want, message, worst=worst, **allowed, **details)
        return found if len(suite.inputs) > 1 else found[0]

    def _refuse_nan(self, got: object, want: Tensor, message: str | None, details: Any) -> None:
        if message and isinstance(got, Tensor) and got.shape == want.shape and got.isnan().any():
            x = self.inputs[0].detach()
            details["facts"]["bad"] = x[got.isnan()][:9].tolist()
            assert_that(False, message, expected=want, actual=got, **details)


def differentiated(
    y: Any, leaves: Sequence[Tensor], v: Tensor, *, retain_graph: bool | None = None
) -> Sequence[Tensor | None]:
    """Return gradients of what the student returned, None where there is none. backward may write
    into its copy of v, which is checked by leaves_tensors.
    """
    with running_check().student.writing_allowed():
        incoming = v.clone() if v.is_contiguous() else v
        return torch.autograd.grad(
            y, leaves, incoming, allow_unused=True, retain_graph=retain_graph
        )


def assert_worst(
    got: object,
    want: Tensor,
    message: str,
    *,
    worst: int | None,
    inputs: Any = None,
    **details: Any,
) -> None:
    """Like ``assert_gradient``; with ``worst``, show only that many elements, those that are
    furthest off, of values and inputs. Then the tolerance is absolute unless ``rtol`` is given.
    """
    if worst is None or not isinstance(got, Tensor) or got.shape != want.shape:
        assert_gradient(got, want, message, inputs=inputs, **details)
        return
    details = {"rtol": 0.0, **details}
    off = (got.detach() - want).abs().nan_to_num(nan=torch.inf) - details["rtol"] * want.abs()
    at = off.flatten().argsort(descending=True)[:worst]
    shown = {name: one.detach().flatten()[at] for name, one in inputs.items()}
    assert_gradient(got.flatten()[at], want.flatten()[at], message, inputs=shown, **details)
