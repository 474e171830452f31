"""Plot a student's function over the true one, after a check has failed.

All points cross the border in one frame. Points at which the student's function raises are left
out, and a note says so. The plot is data in the form that ``charts`` makes.
"""

from __future__ import annotations

import contextlib
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from grader.core.errors import StudentCodeError
from grader.core.i18n import phrase
from grader.judge.charts import Text, chart_figure, curve, element_name, index_of, panel, rounded
from grader.judge.figures import Figure, short_repr
from grader.judge.remote.proxies import RemoteCallable
from grader.worker.wire.batching import MAX_REQUESTS, call_request, product_request

POINTS, TRUE_POINTS, FEWEST = 41, 81, 8
"""How many points of the student's function and of the true one are computed, and the fewest for a
plot.
"""
SECONDS, TRIALS = 2.0, 3
"""The time for all points together, and how often a call is timed. A slow function gets fewer
points.
"""
RAISED = "it raised {error}"
NOT_FINITE = "NaN or infinity"
NO_TENSOR = "no tensor of the input's shape came back"
NO_GRADIENT = "no gradient came back"
CONSTANT = "the result is a constant: it has no grad_fn"


def ask_all(function: Callable[..., Any], calls: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what a student's function returns for each of these arguments; all calls cross in one
    frame. A result is None if the function raises, or if there is no time left for the call.
    """
    shown = calls[: affordable(function, calls[0])]
    found: list[Any] = []
    with answered(function, shown):
        for args in shown:
            try:
                found.append(function(*args))
            except StudentCodeError:
                found.append(None)
    return found + [None] * (len(calls) - len(found))


def affordable(function: Callable[..., Any], args: tuple[Any, ...], steps: int = 1) -> int:
    """Return how many points there is time for, by timing calls of the function. Each point takes
    as long as ``steps`` calls. A first call is often slow and the host may be busy, so the fastest
    call counts.
    """
    fastest = SECONDS
    for _ in range(TRIALS):
        began = time.monotonic()
        with contextlib.suppress(StudentCodeError):
            function(*args)
        taken = time.monotonic() - began
        fastest = min(fastest, taken)
        if fastest * MAX_REQUESTS < SECONDS or taken * TRIALS > SECONDS:
            break
    return min(int(SECONDS / (fastest + 1e-6)), MAX_REQUESTS) // steps


@contextlib.contextmanager
def answered(
    function: Callable[..., Any], calls: Sequence[tuple[Any, ...]], v: Tensor | None = None
) -> Iterator[None]:
    """Prefetch the answers to these calls for a block and, with ``v``, the products of their
    Jacobians with v.
    """
    if not isinstance(function, RemoteCallable):
        yield
        return
    requests = []
    for args in calls:
        requests.append(call_request(function.path, args))
        if v is not None:
            tensors = [one for one in args if isinstance(one, Tensor)]
            of = len(requests) - 1
            requests.append(product_request(of, v, tensors, create_graph=False))
    with function.prefetching(requests, patience=1):
        yield


@dataclass(frozen=True, slots=True)
class Reading:
    """A function's result at one point, or why there is none."""

    value: Tensor | None = None
    gradient: Tensor | None = None
    no_value: Text = ""
    no_gradient: Text = ""


def read(
    function: Callable[..., Any], args: tuple[Any, ...], vary: int, v: Tensor | None
) -> Reading:
    """Return the value at these arguments and, with ``v``, the gradient of the varied one."""
    x: Tensor = args[vary]
    try:
        value = function(*args)
    except (StudentCodeError, RuntimeError) as error:
        why = phrase(RAISED, error=getattr(error, "type_name", type(error).__name__))
        return Reading(no_value=why, no_gradient=why)
    if not isinstance(value, Tensor) or value.shape != x.shape or value.dtype.is_complex:
        return Reading(no_value=phrase(NO_TENSOR), no_gradient=phrase(NO_TENSOR))
    if v is None:
        return Reading(value.detach())
    if not value.requires_grad:
        return Reading(value.detach(), no_gradient=phrase(CONSTANT))
    try:
        found: Tensor | None = torch.autograd.grad(
            value, x, v, retain_graph=True, allow_unused=True
        )[0]
    except (StudentCodeError, RuntimeError) as error:
        why = phrase(RAISED, error=getattr(error, "type_name", type(error).__name__))
        return Reading(value.detach(), no_gradient=why)
    if found is None:
        return Reading(value.detach(), no_gradient=phrase(NO_GRADIENT))
    return Reading(value.detach(), found.detach())


def plot_figure(
    function: Callable[..., Any],
    truth: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    over: tuple[float, float],
    vary: int = 0,
    name: str = "x",
    incoming: Tensor | None = None,
    gradient: bool = True,
) -> Figure | None:
    """Plot the value and the gradient of a student's elementwise function over the true ones, with
    the failing point marked.

    ``inputs`` are those of the failed call. In the tensor at place ``vary``, the element with the
    greatest error moves across ``over``; all others keep their values. The gradient is for the
    incoming gradient ``incoming``, by default ones. Return None if the function gives too few
    points.
    """
    args = (inputs,) if isinstance(inputs, Tensor) else tuple(inputs)
    x: Tensor = args[vary]
    if not x.numel():
        return None
    v = None
    if gradient:
        v = torch.ones_like(x).detach() if incoming is None else incoming.detach()
    sweep = Sweep(args, vary, v)
    count = min(POINTS, affordable(function, sweep.unmoved(), 1 if v is None else 2))
    if count < FEWEST:
        return None
    at = sweep.worst(*(read(one, sweep.unmoved(), vary, v) for one in (function, truth)))
    here = float(x.detach().flatten()[at])
    low, high = min(over[0], here), max(over[1], here)
    places, true_places = (spread(low, high, n, here) for n in (count, TRUE_POINTS))
    calls = [sweep.moved(at, place) for place in places]
    with answered(function, calls, v):
        found = [read(function, one, vary, v) for one in calls]
    true = [read(truth, sweep.moved(at, place), vary, v) for place in true_places]
    drawn = Curves(places, found, true_places, true, at, here)
    label = element_name(name, x, at)
    panels = [drawn.panel(phrase("value"), "value", label)]
    caption = "{function} over {input}"
    if v is not None:
        caption = "{function} and its gradient, over {input}"
        heading = phrase("gradient, for grad_output = {v}", v=short_repr(v.flatten()[at]))
        panels.append(drawn.panel(heading, "gradient", label))
    shown = [one for one in panels if one is not None]
    facts = {"function": getattr(function, "__name__", "f"), "input": label}
    return (
        chart_figure(phrase(caption, **facts), *shown, notes=drawn.left_out(v)) if shown else None
    )


@dataclass(frozen=True, slots=True)
class Sweep:
    """Arguments of which one element moves."""

    args: tuple[Any, ...]
    vary: int
    v: Tensor | None

    def unmoved(self) -> tuple[Any, ...]:
        return tuple(self._copy(place) for place in range(len(self.args)))

    def moved(self, at: int, value: float) -> tuple[Any, ...]:
        """Return the arguments with element ``at`` of the varied one set to ``value``."""
        args = self.unmoved()
        with torch.no_grad():
            x = args[self.vary]
            x[index_of(x, at)] = value
        return args

    def _copy(self, place: int) -> Any:
        one = self.args[place]
        if not isinstance(one, Tensor):
            return one
        wanted = one.requires_grad or (place == self.vary and self.v is not None)
        return one.detach().clone().requires_grad_(wanted)

    @staticmethod
    def worst(found: Reading, true: Reading) -> int:
        """Return the element whose value is most wrong, or else whose gradient is."""
        for mine, right in ((found.value, true.value), (found.gradient, true.gradient)):
            if mine is None or right is None:
                continue
            apart = (mine.to(torch.float64) - right.to(torch.float64)).abs().flatten()
            apart = apart.nan_to_num(nan=math.inf)
            if not torch.allclose(mine.to(right.dtype), right, rtol=1e-4, atol=1e-6):
                return int(apart.argmax())
        return 0


@dataclass(frozen=True, slots=True)
class Curves:
    """The results of the student's function and of the true one, point by point."""

    places: Sequence[float]
    found: Sequence[Reading]
    true_places: Sequence[float]
    true: Sequence[Reading]
    at: int
    here: float

    def panel(self, caption: Text, what: str, label: str) -> dict[str, Any] | None:
        """Return the drawing of the value or of the gradient; None without a point."""
        mine = self._curve(self.found, what)
        right = self._curve(self.true, what)
        if all(rounded(y) is None for y in mine):
            return None
        return panel(
            caption,
            curve("truth", self.true_places, right),
            curve("yours", self.places, mine, form="dots"),
            x=label,
            mark=(self.here, mine[self.places.index(self.here)]),
        )

    def _curve(self, readings: Sequence[Reading], what: str) -> list[float]:
        tensors = [getattr(one, what) for one in readings]
        return [math.nan if one is None else float(one.flatten()[self.at]) for one in tensors]

    def left_out(self, v: Tensor | None) -> list[Text]:
        """Return how many points are left out, and why."""
        notes: list[Text] = []
        for what, message in (
            ("value", "{count} of {all} values are left out: {why}"),
            ("gradient", "{count} of {all} gradients are left out: {why}"),
        ):
            if what == "gradient" and v is None:
                continue
            ys = self._curve(self.found, what)
            whys = [
                getattr(one, f"no_{what}") or phrase(NOT_FINITE)
                for one, y in zip(self.found, ys, strict=True)
                if rounded(y) is None
            ]
            known = {str(why): why for why in whys}
            notes += [
                phrase(message, count=count, all=len(ys), why=known[why])
                for why, count in Counter(map(str, whys)).most_common(2)
            ]
        return notes


def spread(low: float, high: float, count: int, here: float) -> list[float]:
    """Return ``count`` evenly spaced places from low to high, and ``here``."""
    return sorted({*torch.linspace(low, high, count, dtype=torch.float64).tolist(), here})
