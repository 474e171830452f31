"""A function under test: how it is called, what its truth is, how checks of it are made; and one
call of it, beside its truth.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.judge.checks import Needs, assert_gradient, assert_tensor, assert_that, check, check_of
from grader.judge.figures import plot_figure
from grader.judge.misuse import misuse
from grader.judge.remote.proxies import RemoteStudent
from grader.judge.running_check import InCheck, outside_of_checks, running_check
from grader.judge.under_test.texts import ONE_INPUT, PLAIN, SEVERAL_INPUTS

Near = Mapping[str, float]
"""A tolerance: ``rtol``, ``atol``."""
Draws = Callable[..., Sequence[Tensor]]
"""Draws inputs and an incoming gradient: ``draws(draw, *shape, dtype=…)``."""


def declared(
    value: Callable[[Tensor], Tensor], slope: Callable[[Tensor], Tensor]
) -> Callable[[Tensor], Tensor]:
    """Return a truth with this value whose derivative is the slope, whatever that of the value is.

    >>> step = declared(lambda x: (x > 0).to(x.dtype), torch.ones_like)
    >>> x = torch.tensor([-1.0, 2.0], requires_grad=True)
    >>> torch.autograd.grad(step(x), x, torch.tensor([3.0, 4.0]))
    (tensor([3., 4.]),)
    """

    def truth(x: Tensor) -> Tensor:
        fixed = x.detach()
        return value(fixed) + (x - fixed) * slope(fixed)

    return truth


class Tested(InCheck):
    """A student's function, its truth and its picture; see the module.

    >>> S = Tested("Sigmoid.apply", torch.sigmoid, near={"rtol": 1e-5, "atol": 1e-6})
    >>> S.name
    'Sigmoid'
    """

    def __init__(
        self,
        path: str,
        truth: Callable[..., Tensor],
        *,
        inputs: str = "x",
        rest: Mapping[str, Any] | None = None,
        draws: Draws | None = None,
        few: Draws | None = None,
        telling: Draws | None = None,
        others: Callable[..., Sequence[Tensor]] | None = None,
        near: Near | Mapping[torch.dtype, Near] | None = None,
        scaled: bool = False,
        over: tuple[float, float] | Mapping[str, tuple[float, float]] | None = None,
        plots: bool = False,
        messages: Mapping[str, str] | None = None,
    ) -> None:
        """``truth`` is a function of torch; autograd gives its gradients. ``inputs`` are the
        names of its arguments, such as ``"x w b"``; ``rest`` are further arguments that follow
        them, by name.

        ``draws(draw, *shape, dtype=...)`` returns inputs that require grad, and an incoming
        gradient v: give it if there are several inputs or the truth has a kink, where the student
        may choose another slope. ``few(draw, dtype=...)`` returns a few numbers of both, and
        ``telling`` those that show the most mistakes. ``others`` draws other inputs that share no
        result with some. ``near`` is the tolerance of parts that ask for something else
        than digits; with ``scaled``, that of a gradient grows with v. ``over`` is what a plot
        covers, and a value or gradient that is asked for with ``plot`` shows one (with ``plots``,
        each). ``messages`` replaces some of ``ONE_INPUT`` or ``SEVERAL_INPUTS``.
        """
        if not isinstance(inputs, str):
            raise misuse(f"inputs is a text of names: {' '.join(inputs)!r}")
        self.path, self.truth, self.inputs = path, truth, inputs.split()
        self.rest = dict(rest or {})
        self.name = path.partition(".")[0]
        self.facts = {"function": self.name, "called": path}
        self._draws, self._few, self._others = draws, few, others
        self._telling = telling or few
        self._near: Any = near or {}
        self._scaled = scaled
        self._over, self._plots = over, plots
        known = ONE_INPUT if len(self.inputs) == 1 else SEVERAL_INPUTS
        if "." not in path and known is ONE_INPUT:
            known = {**known, **PLAIN}
        if unknown := set(messages or {}) - known.keys():
            raise misuse(f"no check of {path} says {min(unknown)!r}; choose from: {[*known]}")
        self.messages = {**known, **(messages or {})}

    # Whole checks

    def check(
        self,
        points: float,
        title: str,
        *parts: Callable[[], object],
        needs: Needs = (),
        at: str | None = None,
        bonus: bool = False,
    ) -> Callable[..., None]:
        """Return a check that is made of parts."""
        if not parts or not all(map(callable, parts)):
            raise misuse(f"the check {title!r} can't fail: give it parts, such as S.every_shape")
        spec = check(points=points, about=self.name, needs=needs, at=at, bonus=bonus)
        return check_of(parts, title, spec)

    # One call

    def function(self) -> Any:
        """Return the student's function, as one of the inputs alone."""
        found = functools.reduce(getattr, self.path.split("."), self.student)
        return (lambda *inputs: found(*inputs, *self._copies())) if self.rest else found

    @property
    def asked(self) -> str | list[Any]:
        """The path as scenarios take it, with the arguments that follow the inputs."""
        return [self.path, *self._copies()] if self.rest else self.path

    def _copies(self) -> list[Any]:
        return [one.clone() if isinstance(one, Tensor) else one for one in self.rest.values()]

    def call(
        self,
        *inputs: Tensor,
        says: str | None = None,
        plot: bool | None = None,
        worst: int | None = None,
        nan: str | None = None,
        **near: float,
    ) -> Call:
        """Call the function, require its value, and that it leads back to inputs that require grad.

        ``says`` is the message, ``nan`` one for NaN with its places as {bad}. ``worst`` shows that
        many elements. Everything else is a tolerance: ``rtol``, ``atol``.
        """
        done = Call(self, inputs)
        done.require_value(says, plot=plot, worst=worst, nan=nan, near=near)
        return done

    def value(self, *inputs: Tensor, **options: Any) -> Any:
        """Require the value; return it. Options as for ``call``."""
        return self.call(*inputs, **options).result

    def gradient(
        self,
        *inputs_and_v: Tensor | None,
        says: str | None = None,
        value_near: Near | None = None,
        **options: Any,
    ) -> Any:
        """Require the value, and the gradients for the incoming gradient v, the last argument;
        return them. Options as for ``Call.gradient``.
        """
        inputs: Any = inputs_and_v[:-1]
        done, near = Call(self, inputs), value_near or {}
        done.require_value(None, plot=options.get("plot"), worst=None, nan=None, near=near)
        return done.gradient(inputs_and_v[-1], says=says, **options)

    # What the parts draw

    def drawn(self, *shape: int, dtype: torch.dtype = torch.float64) -> Sequence[Tensor]:
        """Draw inputs that require grad, and v."""
        if self._draws is not None:
            return self._draws(self.draw, *shape, dtype=dtype)
        inputs = [self.draw.tensor(*shape, dtype=dtype, requires_grad=True) for _ in self.inputs]
        return *inputs, self.draw.tensor(*shape, dtype=dtype)

    def few(self, dtype: torch.dtype = torch.float64) -> Sequence[Tensor]:
        """Draw a few numbers that require grad, and v."""
        if self._few is not None:
            return self._few(self.draw, dtype=dtype)
        return self.drawn(3, dtype=dtype)

    def telling(self, dtype: torch.dtype = torch.float64) -> Sequence[Tensor]:
        """Draw the few numbers that show the most mistakes, and v."""
        if self._telling is not None:
            return self._telling(self.draw, dtype=dtype)
        return self.few(dtype)

    def others(self, *inputs: Tensor) -> Sequence[Tensor]:
        """Draw other inputs than these."""
        if self._others is not None:
            found = self._others(self.draw, *(one.detach() for one in inputs))
            return [one.detach().requires_grad_() for one in found]
        return self.few(inputs[0].dtype)[:-1]

    # What the parts share

    def details(self, inputs: Sequence[Tensor], v: Tensor | None = None) -> dict[str, Any]:
        """Return a failure's inputs and facts, and the method of a class that it points to."""
        shown = {**dict(zip(self.inputs, inputs, strict=True)), **self.rest}
        shown |= {} if v is None else {"v": v}
        at = self.method("forward" if v is None else "backward")
        return {"inputs": shown, "facts": dict(self.facts), "at": at}

    def method(self, name: str) -> str | None:
        """Return ``Sigmoid.backward`` for a class that is asked by ``apply``."""
        return f"{self.name}.{name}" if self.path == f"{self.name}.apply" else None

    def tolerance(self, dtype: torch.dtype, v: Tensor | None = None) -> dict[str, float]:
        """Return the tolerance of a part that asks for something else than digits."""
        found: dict[str, float] = {**self._near.get(dtype, self._near)}
        if self._scaled and v is not None and found:
            found["atol"] *= float(v.abs().max()) if v.numel() else 0.0
        return found

    def assert_near(
        self,
        got: object,
        want: Tensor,
        says: str,
        *,
        inputs: Sequence[Tensor] = (),
        v: Tensor | None = None,
        facts: Mapping[str, Any] | None = None,
        shown: Mapping[str, Any] | None = None,
        times: float = 1.0,
        worst: int | None = None,
    ) -> None:
        """Require a value or a gradient; many digits are another part's. A tolerance grows with
        ``times``; ``worst`` shows that many elements. Without ``inputs`` and ``shown``, a failure
        shows what ``draw.given`` named.
        """
        details = self.details(inputs, v) if inputs else {"facts": dict(self.facts)}
        details["facts"] = {**details["facts"], **(facts or {})}
        if shown:
            details["inputs"] = dict(shown)
        near = self.tolerance(want.dtype, v)
        if near:
            near["atol"] *= times
        if worst is not None:
            details.setdefault("inputs", self.draw.named)
        assert_worst(got, want, self.messages[says], worst=worst, **near, **details)

    def figure(self, inputs: Sequence[Tensor], which: str, v: Tensor | None) -> Any:
        """Return a function that plots the student's value and gradient over the true ones."""
        if self._over is None or len({one.shape for one in inputs}) > 1:
            return lambda: None
        over = self._over[which] if isinstance(self._over, Mapping) else self._over
        vary = self.inputs.index(which)
        function = self.function()
        return lambda: plot_figure(
            function, self.truth, inputs, over=over, vary=vary, name=which, incoming=v
        )

    def plotted(self, plot: bool | None) -> bool:
        """Return whether a failure shows a plot."""
        return self._plots if plot is None else plot


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
