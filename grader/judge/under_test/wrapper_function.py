"""A student's function that returns what ``apply`` of a class returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import Tensor

from grader.core.errors import StudentCodeError
from grader.judge.checks import (
    Needs,
    assert_equal,
    assert_gradient,
    assert_hands_on,
    assert_tensor,
    assert_that,
    check,
    check_of,
    own_graph,
    type_name,
)
from grader.judge.diagnosis import same
from grader.judge.misuse import misuse
from grader.judge.running_check import InCheck
from grader.judge.under_test.texts import HANDED_ON


class HandsOn(InCheck):
    """A student's function that returns what ``apply`` of a class returns, and nothing else.

    What the class itself does wrong fails none of these parts.

    >>> H = HandsOn("sigmoid", to="Sigmoid")
    >>> H.apply
    'Sigmoid.apply'
    """

    def __init__(self, name: str, *, to: str, messages: Mapping[str, str] | None = None) -> None:
        """``messages`` replaces some of ``HANDED_ON``."""
        self.name, self.to, self.apply = name, to, f"{to}.apply"
        if unknown := set(messages or {}) - HANDED_ON.keys():
            raise misuse(f"no check of {name} says {min(unknown)!r}; choose from: {[*HANDED_ON]}")
        self.messages = {**HANDED_ON, **(messages or {})}
        self.facts = {"name": name, "function": to, "called": name}

    def check(
        self, points: float, title: str, *parts: Callable[[], object], needs: Needs = ()
    ) -> Callable[..., None]:
        """Return a check that is made of parts."""
        return check_of(parts, title, check(points=points, about=self.name, needs=needs))

    def returns(self, *places: Tensor) -> None:
        """The function returns what apply returns, which makes the call of forward: for other
        methods of the class, and at these places for its own.
        """
        student, draw = self.student, self.draw
        function = getattr(student, self.name)
        cls = getattr(student, self.to)
        facts: dict[str, object] = {**self.facts}
        told = {"actual": type_name(cls), "facts": facts}
        assert_that(callable(function) and callable(cls), self.messages["no class"], **told)
        x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
        a, b = draw.coefficients(2, low=2.0, high=5.0)
        seen = student.observe("exchanged", self.name, self.to, x, v, a, b)
        contexts = seen["contexts"]
        facts |= {"a": a, "forwards": len(contexts), "given": ", ".join(contexts)}
        called, value = {"x": x, "forward": f"{a} * x"}, self.messages["value"]
        assert_tensor(seen["value"], (x * a).detach(), value, inputs=called, facts=facts)
        details = {"inputs": {"x": x}, "facts": {**facts, "direct": True}}
        figures = [lambda: own_graph(student, self.to, self.name, {"x": x})]
        direct = self.messages["forward called"]
        assert_that(seen["node"] in contexts, direct, **details, figures=figures)
        for place in (x, *places):
            assert_hands_on(student, self.name, self.apply, place)

    def leads_back(self) -> None:
        """The gradient through the function is that of the class's backward, whatever x's shape."""
        student, draw = self.student, self.draw
        many, answers = draw.shapes()[-1], True
        for x, v in (
            (draw.noncontiguous(3, 4, requires_grad=True), draw.tensor(3, 4)),
            (draw.tensor(requires_grad=True), draw.tensor()),
            (
                draw.tensor(*many, dtype=torch.float32, requires_grad=True),
                draw.tensor(*many, dtype=torch.float32),
            ),
        ):
            a, b = draw.coefficients(2, low=2.0, high=5.0)
            seen = student.observe("exchanged", self.name, self.to, x, v, a, b)
            facts = {**self.facts, "a": a, "b": b}
            details: dict[str, Any] = {"inputs": {"x": x, "v": v}, "facts": facts}
            assert_tensor(seen["value"], (x * a).detach(), self.messages["value"], **details)
            assert_that(seen["requires_grad"], self.messages["cut"], **details)
            # a class whose float32 rounds the gradient has checks of its own
            message = self.messages["gradient"]
            assert_gradient(seen["gradient"], v * b, message, rtol=1e-6, **details)
            answers = answers and assert_hands_on(student, self.name, self.apply, x, v)

    def leaves_state(
        self, *places: Tensor, asks: str = "flag result values grad mode retains recorded"
    ) -> None:
        """A call leaves x, what it requires and holds, and the grad mode as apply leaves them; at
        these places, which require no grad, the value is that of apply. ``asks`` names some.
        """
        wanted = asks.split()
        student = self.student
        for x in places:
            details: dict[str, Any] = {"inputs": {"x": x}}
            with student.writing_allowed():
                try:
                    want = getattr(getattr(student, self.to), "apply")(x.clone())  # noqa: B009
                except StudentCodeError:
                    continue
                got = getattr(student, self.name)(x.clone())
            if not isinstance(want, Tensor):
                continue
            other = self.messages["other value"]
            assert_tensor(got, want.detach(), other, facts=self.facts, expects_nan=True, **details)
            held, once = torch.ones_like(x), x is not places[-1]
            try:
                own = student.observe("around", self.apply, x, held, once)
            except StudentCodeError:
                continue
            state = student.observe("around", self.name, x, held, once)
            for key, what in (("flag", "x"), ("result", "the result")):
                facts = {**self.facts, "what": what}
                fine = key not in wanted or not state[what] or own[what]
                assert_that(fine, self.messages["flag"], facts=facts, **details)
            for key, what in (("values", "values"), ("grad", "grads")):
                if key in wanted:
                    message = self.messages[key]
                    assert_equal(state[what], own[what], message, facts=self.facts, **details)
            for key, what, good in (
                ("mode", "records", True),
                ("retains", "retains", False),
                ("recorded", "recorded", False),
            ):
                fine = key not in wanted or state[what] is good or own[what] is not good
                assert_that(fine, self.messages[key], facts=self.facts, **details)

    def keeps_nothing(self) -> None:
        """A second call on the same tensor, which holds other numbers, is that of apply."""
        student, x = self.student, self.draw.tensor(3)
        z = -2 * x  # so that each step differs
        try:
            _, own = student.observe("one_tensor_twice", self.apply, [x], [z], None)
        except StudentCodeError:
            return
        if not isinstance(own["value"], Tensor):
            return
        _, seen = student.observe("one_tensor_twice", self.name, [x], [z], None)
        inputs = {"x before": x, "x": z}
        message = self.messages["second call"]
        assert_tensor(seen["value"], own["value"], message, inputs=inputs, facts=self.facts)

    def after_a_change(self, truth: Callable[[Tensor], Tensor]) -> None:
        """A call after an earlier result for the same x was changed in place is that of apply."""
        student, z = self.student, self.draw.tensor(3)
        try:
            own = student.observe("after_a_change", self.apply, z)
        except StudentCodeError:
            return
        again = student.observe("after_a_change", self.name, z)
        if again is not None and own is not None and same(own, truth(z)):
            message = self.messages["after a change"]
            assert_tensor(again, own, message, inputs={"x": z, "z": z}, facts=self.facts)
