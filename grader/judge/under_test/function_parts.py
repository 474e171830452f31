"""Parts of checks of any function with a truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NoReturn

import torch
from torch import Tensor

from grader.core.i18n import phrase
from grader.judge.checks import assert_gradient, fail
from grader.judge.misuse import misuse
from grader.judge.running_check import outside_of_checks
from grader.judge.under_test.tested import Near, Tested, differentiated

WAYS = ("forward", "backward")
OUTSIDE_TORCH = {
    *"math cmath decimal numpy float .tolist .item .numpy .new_tensor torch.tensor".split(),
    *"torch.as_tensor torch.asarray torch.from_numpy torch.Tensor torch.FloatTensor".split(),
    "torch.DoubleTensor",
}
"""Modules and names by which numbers are computed in Python or NumPy, or come back from there."""


class FunctionParts(Tested):
    """What is asked of any function. Parts draw their inputs themselves."""

    def right_value(self, *, dtype: torch.dtype = torch.float64) -> None:
        """The value for a few numbers that require no grad."""
        *inputs, _ = self.telling(dtype)
        self.value(*(one.detach() for one in inputs), plot=True)

    def right_gradients(self, *, dtype: torch.dtype = torch.float64) -> None:
        """The value and the gradients for a few numbers."""
        self.gradient(*self.telling(dtype), plot=True)

    def no_built_in(self, contain: Sequence[str], *x_and_v: Tensor) -> Any:
        """No built-in does the work of which the name contains one of these texts, compared without
        underscores and capitals: neither by any name in the file nor as an operator that torch
        runs, there or back. Return what the scenario ``operators`` saw; for numbers that are drawn
        here, the value is right then, too.
        """
        student = self.student
        if len(self.inputs) > 1:
            raise misuse(f"operators are seen for functions of one input; {self.path} has several")
        x, v = x_and_v or self.telling()
        inputs = self.draw.named or {"x": x.detach()}

        def does_the_work(name: str) -> bool:
            plain = name.replace("_", "").lower()
            return any(part in plain for part in contain)

        used = student.source.names_used(self.name)
        modules = {name.partition(".")[0] for name in student.source.imports.values()}
        for name, line in used.items():
            head, _, rest = name.partition(".")
            if head in modules - student.source.definitions.keys() and does_the_work(rest):
                self._used(name, line, inputs)
        seen = student.observe("operators", self.asked, x, v)
        ran = {way: [*filter(does_the_work, seen[way]["operators"])] for way in WAYS}
        for name, line in used.items():
            # a method of that name may be the student's own, until its operator is seen to run
            if ran["forward"] and name.startswith(".") and does_the_work(name):
                self._used(name, line, inputs)
        for way, names in ran.items():
            for name in names:
                operator = phrase("its operator {name}", name=name)
                facts = {**self.facts, "used": operator, "way": way}
                fail(self.messages["operator"], facts=facts, inputs=inputs)
        if not x_and_v:
            self.assert_near(seen["value"], self.truth(x.detach()), "value", inputs=[x])
        return seen

    def hides(self, seen: Mapping[str, Any], name: str = "") -> bool:
        """Return whether numbers on a way, there or back, of the scenario ``operators`` come from
        where it does not see: not from torch's operators, and not from Python or NumPy. ``name``
        is that of another definition that was seen.
        """
        if not seen["works"] or any("::" in name for name in seen["operators"]):
            return True
        used = self.student.source.names_used(name or self.name)
        heads = {name.partition(".")[0] for name in used}
        return bool(seen["elsewhere"]) and not OUTSIDE_TORCH & (heads | used.keys())

    def _used(self, name: str, line: int, inputs: Mapping[str, object]) -> NoReturn:
        facts = {**self.facts, "used": name, "line": line}
        fail(self.messages["built in"], facts=facts, line=line, inputs=inputs)

    def every_shape(
        self,
        *,
        dtypes: Sequence[torch.dtype] = (torch.float64, torch.float32),
        more: Sequence[tuple[int, ...]] = (),
        also: Sequence[Any] = (),
        exact: Callable[[Tensor], Tensor] | None = None,
        **near: float,
    ) -> None:
        """Values and gradients for every shape, 0-d and five dimensions among them, and for the
        numbers of ``also``. ``exact`` changes float64 inputs, which then have the tolerance
        ``near``.
        """
        draw = self.draw
        for dtype in dtypes:
            for shape in (*more, *draw.shapes()):
                *inputs, v = self.drawn(*shape, dtype=dtype)
                allowed: Near = {}
                if exact is not None and dtype is torch.float64:
                    inputs = [exact(one.detach()).requires_grad_() for one in inputs]
                    allowed = near
                self.gradient(*inputs, v, says="shape", value_near=allowed, **allowed)
            for numbers in also:
                x = torch.tensor(numbers, dtype=dtype, requires_grad=True)
                v = draw.tensor(*x.shape, low=0.5, high=2.0, dtype=dtype)
                self.gradient(x, v, says="shape")

    def empty(self, *, dtype: torch.dtype = torch.float64) -> None:
        """Tensors without elements."""
        draw = self.draw
        for shape in ((0,), (draw.integer(1, 3), 0, draw.integer(1, 3))):
            self.gradient(*self.drawn(*shape, dtype=dtype), says="empty")

    def strided(self, *, dtype: torch.dtype = torch.float64, expanded: bool = True) -> None:
        """Transposed inputs with an incoming gradient that is transposed, or, with ``expanded``,
        made of one row or of one number.
        """
        *inputs, v = map(as_transposed, self.drawn(3, 4, dtype=dtype))
        self.gradient(*inputs, v, says="transposed")
        if not expanded:
            return
        row = self.draw.tensor(4, dtype=dtype)
        self.gradient(*inputs, row.expand(3, 4), says="expanded")
        self.gradient(*inputs, None, says="sum", after=torch.sum)

    def extremes(
        self,
        points: Sequence[float],
        *,
        near: Mapping[torch.dtype, Near],
        value_near: Near | None = None,
    ) -> None:
        """Values and gradients of one input at these points, for a drawn v and for the points as v,
        in each dtype of ``near``, the tolerances of gradients.
        """
        draw = self.draw
        for dtype in near:
            x = torch.tensor(draw.sample(points, len(points)), dtype=dtype, requires_grad=True)
            for v in (draw.tensor(len(points), dtype=dtype), x.detach().clone()):
                self.gradient(x, v, says="extremes", value_near=value_near, **near[dtype])

    def calls_apart(self, *, both_orders: bool = False) -> None:
        """Two calls whose gradients are asked for when both have returned."""
        *inputs, v = self.few()
        others = self.others(*inputs)
        w = self.few()[-1]
        several = len(self.inputs) > 1
        shown = {} if several else {"x": inputs[0], "z": others[0]}
        for order in ("first", "second"), ("second", "first"):
            calls = {"first": (self.call(*inputs), v), "second": (self.call(*others), w)}
            for which in order:
                call, incoming = calls[which]
                call.gradient(incoming, says=which, also=shown, plot=False)
            if not both_orders:
                return

    def nested(self, *, between: Callable[[Tensor], Tensor] = lambda y: y) -> None:
        """The function of its own result, which ``between`` changes on the way."""
        *inputs, v = self.few()
        first = self.call(*inputs)
        outer = self.call(between(first.result), *inputs[1:])
        with outside_of_checks():
            want = self.truth(between(self.truth(*inputs)), *inputs[1:])
        wants = torch.autograd.grad(want, inputs, v)
        found = differentiated(outer.result, inputs, v)
        for which, got, right in zip(self.inputs, found, wants, strict=True):
            facts = {"which": which}  # the error of one application grows in the other
            self.assert_near(got, right, "nested", v=v, inputs=inputs, facts=facts, times=10.0)

    def one_for_all(self) -> None:
        """One tensor for all inputs."""
        *inputs, v = self.few()
        x = inputs[0]
        (want,) = torch.autograd.grad(self.truth(*[x for _ in inputs]), x, v)
        (got,) = differentiated(self.call(*[x for _ in inputs]).result, [x], v)
        facts = dict(self.facts)
        message = self.messages["one for all"]
        near = self.tolerance(want.dtype)
        assert_gradient(got, want, message, inputs={"x": x, "v": v}, facts=facts, **near)

    def constants(self) -> None:
        """One input at a time requires grad."""
        *inputs, v = self.few()
        for k in range(len(inputs)):
            given = [one if i == k else one.detach() for i, one in enumerate(inputs)]
            self.gradient(*given, v, says="constant")

    def after_a_change(self) -> None:
        """A call after an earlier result for the same x was changed in place."""
        x = self.few()[0].detach()
        again = self.student.observe("after_a_change", self.asked, x)
        if again is not None:
            z = {"x": x, "z": self.others(x)[0]}
            self.assert_near(again, self.truth(x), "after a change", shown=z)

    def one_tensor_twice(self, *, factor: float | None = None) -> None:
        """Two calls on the same tensors, which hold other numbers in the second; with ``factor``,
        what the first call left in them is multiplied by it.
        """
        *inputs, v = self.few()
        if factor is None:
            others = [one.detach() for one in self.others(*inputs)]
        else:
            others = [one.detach() * factor for one in inputs]
        changed = factor or others
        seen = self.student.observe("one_tensor_twice", self.asked, inputs, changed, v)
        shown = {"x": inputs[0], "z": others[0]} if len(inputs) == 1 else {}
        for call, numbers, found in (
            ("second call", others, seen[1]),
            ("first call", inputs, seen[0]),
        ):
            leaves = [one.detach().requires_grad_() for one in numbers]
            want = self.truth(*leaves)
            wants = torch.autograd.grad(want, leaves, v)
            facts = {"call": call, "other": self.inputs[-1]}
            assert_near = partial(self.assert_near, inputs=leaves, shown=shown and shown | {"v": v})
            value = {**facts, "what": "value"}
            assert_near(found["value"], want.detach(), "twice value", facts=value)
            for which, got, right in zip(self.inputs, found["gradients"], wants, strict=True):
                said = {**facts, "what": "gradient", "which": which}
                assert_near(got, right, "twice gradient", v=v, facts=said)


def as_transposed(tensor: Tensor) -> Tensor:
    """Return the same numbers with transposed strides and an offset."""
    rows, columns = tensor.shape
    wide = tensor.new_empty(columns + 2, rows)
    wide[1 : columns + 1] = tensor.detach().t()
    return wide[1 : columns + 1].t().detach().requires_grad_(tensor.requires_grad)
