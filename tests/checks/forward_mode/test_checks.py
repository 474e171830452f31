"""forward_mode's checks. Those below the line "hidden" are not handed out.

Expressions of Duals are texts, which Python also computes with float64 tensors: torch's gradients
times the tangents are the truth. That of Jacobians and Hessians is torch.autograd.functional's.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    InCheck,
    RandomInputs,
    Student,
    StudentCodeError,
    assert_equal,
    assert_tensor,
    assert_that,
    assert_tuple,
    chain,
    check,
    check_of,
    fail,
    fetch,
    formula,
    is_number,
    type_name,
    under_test,
)

F32 = torch.float32
ROUGH = {"rtol": 1e-3, "atol": 1e-3}
"""Precision has parts of its own, on which no other check waits."""
EXACT = {"rtol": 1e-8, "atol": 1e-9}
Leaves = dict[str, tuple[float, float]]


# ------------------------------------------------------------------------------------------- Dual


def truth(text: str, leaves: Leaves) -> tuple[float, float]:
    """Return an expression's value and tangent."""
    names = {
        name: torch.tensor(float(value), dtype=torch.float64, requires_grad=True)
        for name, (value, _) in leaves.items()
    }
    result = eval(text, {}, names)
    found = torch.autograd.grad(result, [*names.values()], allow_unused=True)
    pairs = zip(found, leaves.values(), strict=True)
    return float(result.detach()), sum(
        float(slope or 0.0) * tangent for slope, (_, tangent) in pairs
    )


OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "**": "pow"}


def called(text: str) -> tuple[str | None, str]:
    """Return the method that an expression of one operation calls, and the call; for a longer
    expression None, and a call as an example.
    """
    if text == "-a":
        return "Dual.__neg__", "a.__neg__()"
    if method := re.fullmatch(r"\w\.(\w+)\(\)", text):
        return f"Dual.{method[1]}", text
    if binary := re.fullmatch(r"([\w.-]+) (\S+) ([\w.-]+)", text):
        left, sign, right = binary.groups()
        reflected = not left.isalpha()
        name = f"__{'r' if reflected else ''}{OPERATORS[sign]}__"
        return f"Dual.{name}", f"{right}.{name}({left})" if reflected else f"{left}.{name}({right})"
    return None, "a.__rsub__(3)"


def judge(student: Student, *texts: str, near: float = 1e-8, **leaves: tuple[float, float]) -> None:
    """Judge expressions of Duals, each a value and a tangent."""
    for text in texts:
        own = {name: pair for name, pair in leaves.items() if name in text}
        value, tangent = truth(text, own)
        shown = {name: f"Dual({one}, {other})" for name, (one, other) in own.items()}
        duals = {name: student.Dual(*pair) for name, pair in own.items()}
        try:
            result = eval(text, {}, duals)
            inputs = {name: (one.value, one.tangent) for name, one in duals.items()}
            after, got, slope = fetch(inputs, result.value, result.tangent)
        except StudentCodeError as error:
            error.args = (f"{error}   [{text}]",)
            raise
        at, call = called(text)
        facts: dict[str, Any] = {"expression": text, "leaves": own, "call": call}
        details: dict[str, Any] = {"inputs": {"expression": text, **shown}, "facts": facts}
        details["at"] = at
        for what, number, want in (("value", got, value), ("tangent", slope, tangent)):
            said = {**facts, "what": what, "type": type_name(number)}
            told = {**details, "facts": said, "expected": want, "actual": number}
            if not is_number(number):
                fail("the {what} of {expression} is of type {type}, expected a number", **told)
            if abs(number - want) > near * max(1.0, abs(want)):
                fail("the {what} of {expression} is wrong", **told)
        left = {name: [*map(float, pair)] for name, pair in after.items()}
        before = {name: [*map(float, pair)] for name, pair in own.items()}
        assert_equal(left, before, "an operand of {expression} was changed", **details)


def duals(draw: RandomInputs, names: str = "abc", low: float = 0.3) -> Leaves:
    """Draw Duals: a value of about 2, one of about -1.2 and one of about 0.6, the tangents alike in
    neither size nor sign.
    """
    values = draw.number(1.6, 2.4), draw.number(-1.4, -1.1), draw.number(0.4, 0.8)
    tangents = draw.number(2.6, 3.4), draw.number(1.3, 1.9), draw.number(-0.7, -low)
    return dict(zip(names, zip(values, tangents, strict=True), strict=False))


@check(points=0.5, about="Dual", at="Dual.__add__")
def test_sums_and_differences(student: Student, draw: RandomInputs) -> None:
    """sums and differences add and subtract tangents"""
    judge(student, "a + b", "a - b", "b - a", "-a", "a + b - c", near=1e-6, **duals(draw))
    for name, line in student.source.names_used("Dual").items():
        message = "line {line} uses {used}: write Dual in plain Python"
        facts = {"used": name, "line": line}
        assert_that(not name.startswith("torch."), message, facts=facts, line=line)


@check(points=0.5, about="Dual", at="Dual.__mul__")
def test_products(student: Student, draw: RandomInputs) -> None:
    """a product has the tangent a' b + a b'"""
    judge(student, "a * b", "b * c", "a * b * c", "a * a", near=1e-6, **duals(draw))
    judge(student, "a * b", a=(0.0, draw.number(0.5, 2.0)), b=(draw.number(0.5, 2.0), -1.5))


@check(points=0.4, about="Dual", at="Dual.__truediv__")
def test_quotients(student: Student, draw: RandomInputs) -> None:
    """quotients and their tangents are right"""
    judge(student, "a / b", "b / c", "c / a", "a / b / c", **duals(draw))
    judge(student, "a / b", a=(0.0, 1.5), b=(draw.number(1.5, 2.0), 0.7))


@check(points=0.4, about="Dual", at="Dual.__pow__")
def test_powers(student: Student, draw: RandomInputs) -> None:
    """powers are right: whole, negative, fractional, zero"""
    leaves = duals(draw)
    judge(student, *(f"b ** {n}" for n in (2, 3, 1, -1, -2, 0, 3.0)), **leaves)
    judge(student, *(f"a ** {n}" for n in (0.5, -1.5, draw.number(2.1, 2.9))), **leaves)
    judge(student, "a ** 2", "a ** 1", a=(0, draw.number(0.5, 2.0)))


@check(points=0.6, about="Dual", at="Dual.exp")
def test_exp_log_and_sin(student: Student, draw: RandomInputs) -> None:
    """exp, log, sin and their tangents are right"""
    leaves = duals(draw)
    judge(student, "b.exp()", "c.exp()", "a.log()", "c.log()", "a.sin()", "b.sin()", **leaves)
    judge(student, "a.sin().exp()", "a.exp().log()", "b.exp().sin()", **leaves)


METHODS = {"<": "__lt__", "<=": "__le__", ">=": "__ge__", ">": "__gt__"}
"""The method that each comparison calls; of a number with a Dual, that of the mirrored one."""


@check(points=0.4, about="Dual", at="Dual.__lt__")
def test_comparisons(student: Student, draw: RandomInputs) -> None:
    """Duals are compared by their values alone"""
    one = draw.number(0.5, 2.0)
    small, large = (one, 3.0), (one + 1.0, -2.0)
    for a, b in ((small, large), (large, small), (small, (one, 5.0)), (small, (one, -5.0))):
        for sign, mirrored in zip(METHODS, reversed(METHODS), strict=True):
            for text in (f"a {sign} b", f"a {sign} {b[0]}", f"{b[0]} {mirrored} a"):
                want = eval(text, {}, {"a": a[0], "b": b[0]})
                shown = {"a": f"Dual{a}", "b": f"Dual{b}"}
                named = {"a": student.Dual(*a), "b": student.Dual(*b)}
                found = chain([text], 1, **named)[-1]
                facts = {"text": text, "a": a, "b": b}
                message, at = "{text} is wrong", f"Dual.{METHODS[sign]}"
                assert_equal(fetch(found), want, message, inputs=shown, facts=facts, at=at)


# --------------------------------------------------------------------------- Jacobians and Hessians


def jacobian_times(f: Callable[[Tensor], Tensor], x: Tensor, v: Tensor) -> Tensor:
    """Return J v."""
    return torch.autograd.functional.jvp(f, x.detach(), v)[1]


def hessian_times(f: Callable[[Tensor], Tensor], x: Tensor, v: Tensor) -> Tensor:
    """Return H v, which is v H."""
    return torch.autograd.functional.vhp(f, x.detach(), v)[1]


class Asked(InCheck):
    """A function of f, x and v: its truth, and what it is asked."""

    def __init__(
        self,
        name: str,
        truth: Callable[..., Tensor],
        texts: Sequence[str],
        constants: Sequence[str],
    ) -> None:
        """``texts`` are functions of tensors of any shape, the first with a parameter w;
        ``constants`` are those for which the result is zeros.
        """
        self.name, self.truth, self.texts, self.constants = name, truth, texts, constants

    def check(self, points: float, title: str, *parts: Callable[[], None], needs: Any = ()) -> Any:
        return check_of(parts, title, check(points=points, about=self.name, needs=needs))

    def drawn(self, text: str, dtype: torch.dtype = torch.float64) -> Any:
        """Return a function with drawn numbers, and its parameter."""
        a, b, c = self.draw.coefficients(3, low=0.6, high=1.4)
        text = text.format(a=a, b=b, c=c)
        # the same sign everywhere, so that nothing cancels
        w = self.draw.tensor(3, low=0.5, high=1.5, dtype=dtype, requires_grad=True)
        parameters = {"w": w} if "w" in text else {}
        return formula(text, **parameters), [*parameters.values()]

    def point(self, *shape: int, **options: Any) -> tuple[Tensor, Tensor]:
        """Draw x, and a v whose elements differ."""
        x = self.draw.tensor(*shape, low=0.3, high=1.5, **options)
        v = self.draw.tensor(*shape, low=0.5, high=2.0, **options)
        return x, v * torch.linspace(1.0, 2.0, v.numel(), dtype=v.dtype).reshape(shape)

    def result(self, f: Any, x: Tensor, v: Tensor, says: str = "", **near: float) -> None:
        """Require the right result."""
        want = self.truth(f, x, v).detach()
        self.draw.given(f=f, x=x.detach(), v=v)
        self.student.observe("leave_level")  # that of an earlier call, which has a part of its own
        got = getattr(self.student, self.name)(f, x, v)
        if not near and isinstance(got, Tensor) and got.is_floating_point():
            got = got.to(want.dtype)
        message = says or "{function}(f, x, v) is wrong"
        assert_tensor(got, want, message, facts={"function": self.name}, **(near or ROUGH))

    # Parts of checks

    def right(self) -> None:
        for text in self.texts:
            f, _ = self.drawn(text)
            self.result(f, *self.point(3))

    def exact(self) -> None:
        for text in self.texts:
            f, _ = self.drawn(text)
            self.result(f, *self.point(3), **EXACT)

    def zeros(self) -> None:
        says = "{function}(f, x, v) is not zero, or not in the right shape or dtype"
        for text in self.constants:
            for dtype in (torch.float64, F32):
                f, _ = self.drawn(text, dtype)
                x, v = self.point(3 if "x" in text else 2, dtype=dtype)  # f(x) has three
                x = x.requires_grad_() if dtype is torch.float64 else x
                self.result(f, x, v, says, rtol=0.0, atol=1e-12)

    def shapes(self) -> None:
        text = self.texts[-1]
        transposed = self.draw.noncontiguous(3, 2, low=0.3, high=1.5)
        for x, v in (
            self.point(), self.point(2, 3), self.point(0, 2), self.point(1),
            self.point(4, dtype=F32), (transposed, self.point(3, 2)[1]),
        ):  # fmt: skip
            f, _ = self.drawn(text)
            near = {"rtol": 1e-5, "atol": 1e-5} if x.dtype is F32 else ROUGH
            self.result(f, x, v, **near)

    def leaves(self) -> None:
        f, parameters = self.drawn(self.texts[0])
        x, v = self.draw.given(**dict(zip("xv", self.point(3), strict=True)))
        function = {"function": self.name}
        for requires_grad in (True, False):
            held = self.draw.tensor(3)
            x = x.detach().clone().requires_grad_(requires_grad)
            seen = self.student.observe("afterwards", self.name, f, x, v, held, parameters)
            ones = [torch.ones_like(one).detach() if requires_grad else None for one in parameters]
            for what, before, message in (
                ("flags", [requires_grad, False], "{function} changed requires_grad of x or of v"),
                ("values", [x.detach(), v], "{function} wrote into x or v"),
                ("grads", [held, *ones], "{function} changed .grad of x or of a tensor inside f"),
            ):
                assert_equal(seen[what], before, message, facts=function)
            message = "{function} leaves the dual level entered after {case}"
            for case in seen["level"]:
                fail(message, facts={**function, "case": case})

    def watched(self, count: str) -> Any:
        """Watch a call with a long x: the right result, no matrix, one call of f, and one pass
        back. Return what was seen.
        """
        f, _ = self.drawn(self.texts[-1])
        x, v = self.point(40)
        self.draw.given(f=f, x=x, v=v)
        seen = self.student.observe("watched", self.name, f, count, x, v)
        facts = {"function": self.name, **seen}
        message = "{function} calls f {calls} times; once is enough"
        assert_that(seen["calls"] == 1, message, facts=facts)
        message = (
            "for an x of 40 elements, {function} makes a tensor of {largest}: the whole matrix"
        )
        assert_that(seen["largest"] < 1600, message, facts=facts)
        return {**seen, "facts": facts, "want": self.truth(f, x, v).detach()}

    def one_pass(self, seen: Any) -> None:
        """Require the right result, by one pass back at most."""
        message = "{function} ran {passes} backward passes through f; one is enough"
        assert_that(seen["passes"] <= 1, message, facts=seen["facts"])
        message = "{function}(f, x, v) is wrong"
        assert_tensor(seen["result"], seen["want"], message, facts={"function": self.name}, **ROUGH)

    def forward(self, *, tools: bool) -> None:
        seen = self.watched("input")
        if not tools:
            message = "{function} leaves the work to {tools}"
            assert_that(not seen["tools"], message, facts=seen["facts"])
        message = "{function} called f with an x that has no tangent"
        facts = {**seen["facts"], "off": True}
        assert_that(seen["tangents"] == [True], message, facts=facts)
        self.one_pass(seen)

    def reverse(self) -> None:
        seen = self.watched("result")
        message = "{function} leaves the work to {tools}"
        assert_that(not seen["tools"], message, facts=seen["facts"])
        message = "forward mode was on when {function} called f"
        assert_that(seen["forward"] == [False], message, facts={**seen["facts"], "on": True})
        self.one_pass(seen)


SKEWED = "(x * {a}).sin() * x.sum() + x * {b}"
"""Its Jacobian is not symmetric, for an x of any shape."""
MAPS = ["x[0] * (x * w).exp() + x * {b}", "x[0] * x.exp() * {a}", SKEWED]
SURFACE = "((x * {a}).sin() * x.sum()).sum() + (x ** 3).sum()"
SURFACES = ["(x * w).sum() ** 3 * {a} + x[0] ** 2 * x[1]", "x[0] * x[1] * x[2] * {a}", SURFACE]

J = Asked("jvp", jacobian_times, MAPS, ["w * {a}", "w.detach() * {a}"])
T = Asked("jvp_by_two_backwards", jacobian_times, MAPS, ["w * {a}", "w.detach() * {a}"])
H = Asked(
    "hessian_vector", hessian_times, SURFACES, ["(x * {a}).sum()", "(x * w).sum()", "x.sum()"]
)

test_jvp_of_drawn_functions = J.check(
    0.3, "jvp returns J v, for a Jacobian that is not symmetric", J.right
)
test_jvp_in_forward_mode = J.check(
    0.5,
    "jvp uses forward_ad, and calls f once",
    partial(J.forward, tools=False),
    needs=test_jvp_of_drawn_functions,
)


# ------------------------------------------------------------------------------------------- Cube


def cube(x: Tensor) -> Tensor:
    return x * x * x


C = under_test("Cube.apply", cube, near={"rtol": 1e-5, "atol": 1e-6}, over=(-2, 2))


@check(points=0.5, about="Cube", at="Cube.backward")
def test_cube_and_its_gradient(student: Student, draw: RandomInputs) -> None:
    """Cube is x³, and backward returns 3 x² grad_output"""
    C.right_gradients()
    x, v, t = draw.tensor(3, requires_grad=True), draw.tensor(3), draw.tensor(3)
    for method, used in student.observe("derived", x, v, t).items():
        message = "{method} runs autograd's {used}; write the derivative of Cube as a formula"
        assert_that(not used, message, facts={"method": method, "used": ", ".join(used)})


def assert_pushed(student: Student, x: Tensor, t: Tensor, says: str, **near: float) -> None:
    """Require the tangent of Cube."""
    x = x.detach()
    want = 3 * x**2 * t
    value, tangent = student.observe("pushed", x, t)
    inputs = {"x": x, "x_tangent": t}
    assert_tensor(value, cube(x), "the value of Cube is wrong in forward mode", inputs=inputs)
    missing = tangent is None and (x.numel() > 0)
    message = "Cube.apply gave no tangent in forward mode"
    assert_that(not missing, message, expected=want, actual=tangent, inputs=inputs)
    if tangent is not None:
        assert_tensor(tangent, want, says, inputs=inputs, **(near or ROUGH))


@check(points=0.45, about="Cube", at="Cube.jvp")
def test_tangent_of_cube(student: Student, draw: RandomInputs) -> None:
    """jvp returns 3 x² x_tangent"""
    for sign in (1.0, -1.0):
        x, t = draw.tensor(3, low=0.3), draw.tensor(3, low=0.5)
        assert_pushed(student, x * sign, t * -sign, "the tangent of Cube is wrong")


# --------------------------------------------------------------------------------- the other three


test_two_backwards_of_drawn_functions = T.check(0.2, "jvp_by_two_backwards returns J v", T.right)
test_two_backwards_in_reverse_mode = T.check(
    0.5,
    "jvp_by_two_backwards uses reverse mode alone",
    T.reverse,
    needs=test_two_backwards_of_drawn_functions,
)
test_hessian_vector_of_drawn_functions = H.check(0.3, "hessian_vector returns H v", H.right)
test_hessian_vector_in_forward_mode = H.check(
    0.3,
    "hessian_vector uses forward mode, and makes no matrix",
    partial(H.forward, tools=True),
    needs=test_hessian_vector_of_drawn_functions,
)

LOSSES = {
    "((w * x).sum() + b - y) ** 2": ([(3,), ()], (3,), ()),
    "(((W @ x).tanh() + b - y) ** 2).sum()": ([(2, 3), (2,)], (3,), (2,)),
    "((w * x).exp() * y).sum()": ([(4,)], (4,), (4,)),
}
"""Losses of one sample, with the shapes of the parameters, of x and of y."""


def assert_gradients(
    student: Student, draw: RandomInputs, text: str, samples: int, near: Any = EXACT, **options: Any
) -> None:
    """Require the gradients of each sample."""
    shapes, *pair = LOSSES[text]
    names = "W" if "W" in text else "w"
    loss = formula(text, f"{names} b x y" if len(shapes) == 2 else "w x y")
    parameters = [draw.tensor(*shape, low=-1.0, high=1.0, **options) for shape in shapes]
    xs, ys = (draw.tensor(samples, *shape, low=-1.0, high=1.0, **options) for shape in pair)
    leaves = [one.detach().requires_grad_() for one in parameters]
    each = [torch.autograd.grad(loss(*leaves, x, y), leaves) for x, y in zip(xs, ys, strict=True)]
    wants = [torch.stack(found) for found in zip(*each, strict=True)]
    draw.given(loss=loss, parameters=parameters, xs=xs, ys=ys)
    found = student.per_sample_gradients(loss, parameters, xs, ys)
    assert_tuple(found, len(wants), lists=True)
    for k, (got, want) in enumerate(zip(found, wants, strict=True)):
        message = "the gradients with respect to parameters[{k}] are wrong"
        digits = {"rtol": 1e-4, "atol": 1e-5} if want.dtype is F32 else near
        assert_tensor(got, want, message, facts={"k": k, "samples": samples}, **digits)


@check(points=0.4, about="per_sample_gradients")
def test_gradients_of_each_sample(student: Student, draw: RandomInputs) -> None:
    """per_sample_gradients returns one gradient a sample"""
    first, second, _ = LOSSES
    assert_gradients(student, draw, first, draw.integer(4, 6), ROUGH)
    assert_gradients(student, draw, second, draw.integer(4, 6), ROUGH)


# hidden


# ------------------------------------------------------------------------------------------- Dual


SIMPLE = [test_sums_and_differences, test_products, test_quotients]


@check(points=0.4, about="Dual", needs=SIMPLE)
def test_plain_numbers_are_constants(student: Student, draw: RandomInputs) -> None:
    """a plain number on either side is a constant"""
    for number in (draw.integer(2, 9), draw.number(0.3, 3.0), draw.integer(-9, -2)):
        for sign in "+-*/":
            judge(student, f"a {sign} {number}", f"{number} {sign} a", near=1e-6, **duals(draw))
    judge(student, "2 * a - 3 / a + 1", "(1 - a) * (a - 1) / 4", near=1e-6, **duals(draw))
    value, tangent = fetch(*(lambda d: (d.value, d.tangent))(student.Dual(2.5)))
    message = "Dual(2.5) is not the constant 2.5, with the tangent 0"
    actual = [value, tangent]
    assert_that(actual == [2.5, 0.0], message, expected=[2.5, 0.0], actual=actual)


@check(points=0.3, about="Dual", needs=[*SIMPLE, test_exp_log_and_sin])
def test_long_expressions(student: Student, draw: RandomInputs) -> None:
    """long expressions are right"""
    texts = (
        "(a * b).sin() / (a + c * c).log() - (b / a).exp() * c",
        "((a * a + b).log() * b - c).sin() * a / (b - a) + c / (a * b)",
    )
    judge(student, *texts, **duals(draw))
    judge(student, texts[0], a=(2, 1), b=(3, 0), c=(1.5, 0))
    leaves = {name: [*pair] for name, pair in duals(draw, "ab").items()}
    a, b = (student.Dual(*pair) for pair in leaves.values())
    chain(["getattr(a, '__iadd__', a.__add__)(b)"], 1, a=a, b=b)
    found, facts = [*fetch(a.value, a.tangent)], {"expression": "a += b"}
    message = "an operand of {expression} was changed"
    assert_equal(found, leaves["a"], message, inputs={**facts, **leaves}, facts=facts)


# --------------------------------------------------------------------------- Jacobians and Hessians


test_jvp_of_constants = J.check(
    0.2, "jvp gives zeros if f does not depend on x", J.zeros, needs=test_jvp_in_forward_mode
)
test_jvp_for_all_tensors = J.check(
    0.3, "jvp is exact, for every shape and dtype", J.exact, J.shapes,
    needs=test_jvp_in_forward_mode,
)  # fmt: skip
test_jvp_leaves_everything = J.check(
    0.2, "jvp changes neither x, v nor .grad, and leaves the level", J.leaves,
    needs=test_jvp_in_forward_mode,
)  # fmt: skip
test_two_backwards_of_constants = T.check(
    0.1, "jvp_by_two_backwards gives zeros where it should", T.zeros,
    needs=test_two_backwards_in_reverse_mode,
)  # fmt: skip
test_two_backwards_for_all_tensors = T.check(
    0.1, "jvp_by_two_backwards works for every shape and dtype", T.exact, T.shapes,
    needs=test_two_backwards_in_reverse_mode,
)  # fmt: skip
test_two_backwards_leave_everything = T.check(
    0.1, "jvp_by_two_backwards changes neither x, v nor .grad", T.leaves,
    needs=test_two_backwards_in_reverse_mode,
)  # fmt: skip
test_hessian_vector_of_lines = H.check(
    0.2, "hessian_vector gives zeros if f is linear", H.zeros,
    needs=test_hessian_vector_in_forward_mode,
)  # fmt: skip
test_hessian_vector_for_all_tensors = H.check(
    0.1, "hessian_vector works for every shape and dtype", H.exact, H.shapes,
    needs=test_hessian_vector_in_forward_mode,
)  # fmt: skip
test_hessian_vector_leaves_everything = H.check(
    0.1, "hessian_vector changes neither x, v nor .grad", H.leaves,
    needs=test_hessian_vector_in_forward_mode,
)  # fmt: skip


# ------------------------------------------------------------------------------------------- Cube


GRADIENT, TANGENT = test_cube_and_its_gradient, test_tangent_of_cube


@check(points=0.25, about="Cube", at="Cube.setup_context", needs=[GRADIENT, TANGENT])
def test_cube_in_torch_func(student: Student, draw: RandomInputs) -> None:
    """torch.func.grad and torch.func.jvp take Cube"""
    x, t = draw.given(x=draw.tensor(3), t=draw.tensor(3))
    seen = student.observe("transformed", x, t)
    for what, want in (("gradient", 3 * x**2), ("tangent", 3 * x**2 * t)):
        message = "the {what} by torch.func is wrong"
        assert_tensor(seen[what], want, message, facts={"what": what}, **ROUGH)


test_gradient_of_all_tensors = C.check(
    0.15,
    "the gradient is right for every shape, dtype and call",
    partial(C.every_shape, dtypes=[torch.float64, F32], exact=lambda x: x, **EXACT),
    C.strided,
    C.empty,
    C.linear,
    C.calls_apart,
    needs=GRADIENT,
    at="Cube.backward",
)


@check(points=0.2, about="Cube", at="Cube.jvp", needs=TANGENT)
def test_tangent_of_all_tensors(student: Student, draw: RandomInputs) -> None:
    """the tangent is right for every shape, dtype and call"""
    for x in (
        *(draw.tensor(*shape) for shape in ((), (2, 3), (0, 2))),
        draw.noncontiguous(3, 4),
        draw.tensor(3, dtype=F32),
    ):
        t = draw.tensor(*x.shape, dtype=x.dtype)
        near = {"rtol": 1e-5, "atol": 1e-5} if x.dtype is F32 else EXACT
        assert_pushed(student, x, t, "the tangent is wrong for this x", **near)
    x, t, z, u = draw.given(**{name: draw.tensor(3, low=0.3, high=1.5) for name in "xtzu"})
    first, second, third = student.observe("pushed_twice", x, t, z, u)
    for which, got, want in (
        ("Cube(x)", first, 3 * x**2 * t),
        ("Cube(z), after Cube(x)", second, 3 * z**2 * u),
        ("Cube(Cube(x))", third, 9 * x**8 * t),
    ):
        message = "the tangent of {which} is wrong"
        assert_tensor(got, want, message, facts={"which": which}, **ROUGH)


test_second_derivative_of_cube = C.check(
    0.2,
    "backward can itself be differentiated",
    C.second_derivative,
    needs=GRADIENT,
    at="Cube.backward",
)


@check(points=0.25, about="Cube", at="Cube.setup_context", needs=GRADIENT)
def test_cube_saves_with_ctx(student: Student, draw: RandomInputs) -> None:
    """what backward and jvp need is saved by ctx's methods"""
    C.saves()
    C.notices_changes()
    names = student.observe("stashed", draw.tensor(3, requires_grad=True), draw.tensor(3))
    message = "jvp uses a tensor in {names}, which did not go through save_for_forward"
    listed = ", ".join(f"ctx.{name}" for name in names)
    assert_that(not names, message, facts={"names": listed})


# the bonus


@check(points=0.5, about="Cube", at="Cube.vmap", bonus=True, needs=test_cube_in_torch_func)
def test_vmap_along_the_first_dimension(student: Student, draw: RandomInputs) -> None:
    """vmap works along dimension 0, by a rule of your own"""
    message = "generate_vmap_rule is set, so torch writes the rule; write vmap yourself"
    assert_that(not student.observe("rule_of"), message, facts={"generated": True})
    x = draw.given(x=draw.tensor(4, 3))
    assert_mapped(student, x, [0])
    assert_mapped(student, x[:, 0].clone(), [0])


def assert_mapped(student: Student, x: Tensor, places: list[int], t: Tensor | None = None) -> None:
    """Require Cube by vmap, and its tangent."""
    got = student.observe("mapped", x, places, t)
    want = cube(x) if t is None else 3 * x**2 * t
    message = "vmap of Cube.apply along the dimensions {places} is wrong"
    assert_tensor(got, want, message, inputs={"x": x}, facts={"places": places}, **ROUGH)


@check(
    points=0.5, about="Cube", at="Cube.vmap", bonus=True,
    needs=test_vmap_along_the_first_dimension,
)  # fmt: skip
def test_vmap_along_other_dimensions(student: Student, draw: RandomInputs) -> None:
    """vmap works along any dimension, and with jvp"""
    for shape in ((3, 3), (2, 3, 4)):
        x, t = draw.tensor(*shape), draw.tensor(*shape)
        assert_mapped(student, x, [1])
        assert_mapped(student, x, [len(shape) - 1])
        assert_mapped(student, x, [0], t)
        assert_mapped(student, x, [1], t)
    assert_mapped(student, draw.tensor(2, 3, 4), [1, 0])


# --------------------------------------------------------------------------- per_sample_gradients


EACH = test_gradients_of_each_sample


@check(points=0.3, about="per_sample_gradients", needs=EACH)
def test_loss_is_called_once(student: Student, draw: RandomInputs) -> None:
    """per_sample_gradients calls loss once for all samples"""
    loss = formula("((w * x).sum() - y) ** 2", "w x y")
    w, xs, ys = draw.tensor(3), draw.tensor(6, 3), draw.tensor(6)
    seen = student.observe("watched", "per_sample_gradients", loss, None, [w], xs, ys)
    message = "loss was called {calls} times for 6 samples; torch.func.vmap calls it once"
    assert_that(seen["calls"] == 1, message, facts={"calls": seen["calls"]})


@check(points=0.15, about="per_sample_gradients", needs=test_loss_is_called_once)
def test_one_parameter_or_one_sample(student: Student, draw: RandomInputs) -> None:
    """one parameter and one sample work, too"""
    first, second, third = LOSSES
    assert_gradients(student, draw, third, 4)
    assert_gradients(student, draw, first, 1)
    assert_gradients(student, draw, second, 2)


@check(points=0.15, about="per_sample_gradients", needs=test_loss_is_called_once)
def test_gradients_in_single_precision(student: Student, draw: RandomInputs) -> None:
    """float32 works, and parameters that require grad"""
    first, second, _ = LOSSES
    assert_gradients(student, draw, second, 3, dtype=F32)
    assert_gradients(student, draw, first, 3, requires_grad=True)
