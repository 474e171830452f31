"""Parts of checks of a torch.autograd.Function."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.judge.checks import (
    assert_equal,
    assert_gradcheck,
    assert_gradgradcheck,
    assert_gradient,
    assert_raises,
    assert_that,
    own_graph,
)
from grader.judge.running_check import outside_of_checks
from grader.judge.under_test.function_parts import FunctionParts
from grader.judge.under_test.tested import Call, differentiated


class UnderTest(FunctionParts):
    """A student's function, its truth and its picture."""

    def own_backward(self, *inputs_and_v: Tensor, dtype: torch.dtype = torch.float64) -> None:
        """The graph holds a node of the class, and the gradients are those that its backward
        returns.
        """
        *inputs, v = inputs_and_v or self.telling(dtype)
        (a,) = self.draw.coefficients(1, low=2.0, high=5.0)
        wants = torch.autograd.grad(self.truth(*inputs), inputs, v)
        student = self.student
        seen = student.observe("handed_back", self.asked, inputs, v, a)
        details = self.details(inputs, v)
        shown = dict(zip(self.inputs, inputs, strict=True))
        figures = [lambda: own_graph(student, self.name, "apply", shown)] if not self.rest else []
        assert_that(seen["found"], self.messages["no node"], **details, figures=figures)
        found = seen["gradients"] or [None] * len(inputs)
        for which, got, want in zip(self.inputs, found, wants, strict=True):
            facts = {"a": a, "which": which}
            self.assert_near(
                got, want * a, "not handed back", inputs=inputs, v=v, facts=facts, times=a
            )

    def linear(self, *, factors: Sequence[float] = (2.0, -1.0, 100.0, 0.0), **options: Any) -> None:
        """The gradient is linear in v: for multiples of v, and for a v that adds up to 0.
        ``earlier`` makes the inputs of a call before; with ``retained``, a call before is
        differentiated twice at the end. Other options are a tolerance.
        """
        *inputs, v = self.telling(options.pop("dtype", torch.float64))
        if earlier := options.pop("earlier", None):
            self.call(*(earlier(one.detach()).requires_grad_() for one in inputs))
        kept = self.call(*inputs) if options.pop("retained", False) else None
        for factor in factors:
            facts, shown = {"factor": factor}, {"v": v}
            self.gradient(
                *inputs, v * factor, says="linear", facts=facts, also=shown, plot=False, **options
            )
        draw = self.draw
        a, b = draw.integer(1, 9), draw.integer(1, 9)
        balanced = [0.0] * (v.numel() - 3) + [a, -b, b - a]
        self.gradient(*inputs, torch.tensor(balanced, dtype=v.dtype).view(v.shape), says="balanced")
        if kept is not None:
            _twice(kept, v)

    def backward_again(self) -> None:
        """Backward twice through a retained graph; it raises once the graph is freed."""
        *inputs, v = self.few()
        call = self.call(*inputs)
        _twice(call, v)
        differentiated(call.result, inputs, v)
        message, details = self.messages["freed"], self.details(inputs, v)
        again = partial(differentiated, call.result, inputs, v)
        assert_raises("RuntimeError", again, message=message, **details)

    def saves(self, *, any_tensor: bool = True) -> None:
        """What backward needs goes through save_for_backward; with ``any_tensor``, it needs one."""
        *inputs, _ = self.few()
        seen = self.student.observe("kept", self.asked, inputs)
        listed = ", ".join(f"ctx.{name}" for name in seen["attributes"])
        details = self.details(inputs)
        details["facts"] |= {"names": listed, "saved": seen["saved"], "node": seen["node"]}
        if listed:
            assert_that(False, self.messages["attributes"], **details)
        if any_tensor:
            del details["facts"]["names"]
            assert_that(seen["saved"] >= 1, self.messages["nothing saved"], **details)

    def notices_changes(self) -> None:
        """If an input, or the result of a function of one input, is changed in place before
        backward, that raises, or uses the old numbers.
        """
        *inputs, v = self.few()
        wants = torch.autograd.grad(self.truth(*inputs), inputs, v)
        places: list[tuple[str, int | None]] = [(name, k) for k, name in enumerate(self.inputs)]
        places += [("the result", None)] if len(inputs) == 1 else []
        for what, place in places:
            found = self.student.observe("written", self.asked, inputs, v, place, 1.5)
            for which, got, want in zip(self.inputs, found or (), wants, strict=False):
                facts = {"what": what, "which": which}
                self.assert_near(got, want, "written", inputs=inputs, v=v, facts=facts)

    def leaves_tensors(
        self, *inputs: Tensor, held: bool = True, dtype: torch.dtype = torch.float64
    ) -> None:
        """Inputs and incoming gradient keep their values; with ``held``, what else gets the
        incoming gradient does, too, and gradients are added to what .grad held.
        """
        given = list(inputs) or list(self.few(dtype)[:-1])
        v = self.few_like(given[0])
        neighbour = torch.zeros_like(v).requires_grad_()
        student = self.student
        details = self.details(given, v)
        with student.writing_allowed() as copies:  # the comparisons below say what was written
            y = self.function()(*given)
            for which, one in zip(self.inputs, given, strict=True):
                facts = {**details["facts"], "which": which}
                message = self.messages["input changed"]
                shown = {"inputs": details["inputs"], "facts": facts}
                assert_equal(copies.of(one), one.detach(), message, **shown)
            torch.autograd.grad(y + neighbour, (*given, neighbour), v, allow_unused=True)
            assert_equal(copies.of(v), v, self.messages["v changed"], **details)
        if held:
            self._held(given, v)

    def few_like(self, one: Tensor) -> Tensor:
        """Draw an incoming gradient of a tensor's shape."""
        v = self.few(one.dtype)[-1]
        return v if v.shape == one.shape else self.drawn(*one.shape, dtype=one.dtype)[-1]

    def _held(self, inputs: Sequence[Tensor], v: Tensor) -> None:
        held = [self.draw.tensor(*one.shape, dtype=one.dtype) for one in inputs]
        wants = torch.autograd.grad(self.truth(*inputs), inputs, v)
        seen = self.student.observe("beside", self.asked, inputs, v, held)
        details = self.details(inputs, v)
        if len(inputs) == 1:
            details["inputs"]["x.grad before"] = held[0]
        for which, one, after in zip(self.inputs, inputs, seen["inputs"], strict=True):
            facts = {**details["facts"], "which": which}
            message = self.messages["input changed"]
            shown = {"inputs": details["inputs"], "facts": facts}
            assert_equal(after, one.detach(), message, **shown)
        for got in (seen["grads"][-1], seen["v"]):
            assert_gradient(got, v, self.messages["v changed"], **details)
        assert_that(seen["v_requires_grad"], self.messages["v frozen"], **details)
        rows = zip(self.inputs, held, seen["grads"][:-1], wants, strict=True)
        for which, before, got, want in rows:
            facts = {"before": before, "which": which}
            shown = details["inputs"]
            self.assert_near(got, before + want, ".grad", facts=facts, shown=shown)

    def leaves_state(
        self,
        *inputs: Tensor,
        asks: str = "flag result values grad retains mode",
        dtype: torch.dtype = torch.float64,
    ) -> None:
        """A call leaves x's requires_grad, values, x.grad and retains_grad as they are, and the
        grad mode; the result of an x that requires no grad requires none. ``asks`` names some.
        """
        x = inputs[0] if inputs else self.few(dtype)[0].detach()
        facts, wanted = dict(self.facts), asks.split()
        once = not {"grad", "retains"} & {*wanted}
        state = self.student.observe("around", self.asked, x, torch.ones_like(x), once)
        details = {"inputs": {"x": x}}
        for key, what in (("flag", "x"), ("result", "the result")):
            said = {**facts, "what": what}
            if key in wanted:
                assert_equal(state[what], False, self.messages["flag"], facts=said, **details)
        if "values" in wanted:
            assert_equal(state["values"], x, self.messages["values"], facts=facts, **details)
        for grad in state["grads"] if "grad" in wanted else ():
            assert_equal(grad, torch.ones_like(x), self.messages["grad"], facts=facts, **details)
        if "retains" in wanted:
            assert_that(not state["retains"], self.messages["retains"], facts=facts, **details)
        if "mode" in wanted:
            assert_that(state["records"], self.messages["mode"], facts=facts, **details)
            assert_that(not state["switched"], self.messages["mode off"], facts=facts, **details)

    def gradcheck(self, *inputs: Tensor, **options: Any) -> None:
        """torch's gradcheck agrees; options are its own."""
        self._checked(assert_gradcheck, "gradcheck", inputs, options)

    def gradgradcheck(self, *inputs: Tensor, **options: Any) -> None:
        """torch's gradgradcheck agrees; options are its own."""
        self._checked(assert_gradgradcheck, "gradgradcheck", inputs, options)

    def _checked(self, checker: Any, says: str, inputs: Sequence[Tensor], options: Any) -> None:
        self.call(*inputs)
        options = {"eps": 1e-3, "atol": 1e-3, **options}
        function = self.function()
        with self.student.writing_allowed():
            checker(
                lambda *given: function(*(one.clone() for one in given)),
                [*inputs],
                self.messages[says],
                names=self.inputs,
                **options,
            )

    def second_derivative(self) -> None:
        """The gradient has a graph that gives the right second derivative."""
        *inputs, v = self.few()
        v = v.requires_grad_()
        u = self.draw.tensor(*inputs[0].shape)
        with outside_of_checks():
            (want,) = torch.autograd.grad(self.truth(*inputs), inputs, v, create_graph=True)
        (want,) = torch.autograd.grad(want, inputs, u)
        y = self.call(*inputs).result
        with self.student.writing_allowed():
            (first,) = torch.autograd.grad(y, inputs, v, create_graph=True)
        shown = {**self.details(inputs, v)["inputs"], "u": u}
        got = differentiated(first, inputs, u)[0] if first.requires_grad else None
        if got is None or not got.any():
            message = self.messages["second derivative cut"]
            assert_that(False, message, expected=want, actual=got, inputs=shown)
        self.assert_near(got, want, "second derivative", shown=shown)


def _twice(call: Call, v: Tensor) -> None:
    """Differentiate a call twice, keeping its graph."""
    for message in ("retained", "again"):
        call.gradient(v, says=message, retain_graph=True, plot=False)
