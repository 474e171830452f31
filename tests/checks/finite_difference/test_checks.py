"""finite_difference's checks. Those below the line "hidden" are not handed out."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    InCheck,
    RandomInputs,
    Student,
    assert_equal,
    assert_tensor,
    chart_figure,
    check,
    check_of,
    curve,
    differences,
    error_panel,
    fail,
    formula,
    panel,
    phrase,
)

BENT = ["x.log() + {a} * x", "-{a} * x ** 3", "{a} / x"]
"""Up, down, and steeply down; near 0 so bent that the default step shows in the slope."""
UPHILL = ["{a} * x[0] * x[1] + {b} * x[1] * x[2]", "{a} * x.prod() + {b} * x[0] * x[2] * x[1]"]
DOWNHILL = ["-{a} * x[0] * x[1] - {b} * x[0] * x[2]", "-{a} * x.prod()"]
"""Linear in each element, so that a step to one side gives the gradient too."""
SMALL = {"low": 0.0005, "high": 0.0009, "digits": 5, "avoid": 0.0}
"""How x is drawn where the default step must be a large one."""


def gradient(f: Any, x: Tensor) -> Tensor:
    """Return torch's gradient of f at x; of a curve, its derivative at each point of x."""
    x = x.detach().clone().requires_grad_()
    return torch.autograd.grad(f(x).sum(), x)[0]


class Difference(InCheck):
    """A function of the student's that takes slopes over a step of h.

    It is called twice: for its result, and in the scenario ``answer`` to note where it calls f,
    which only explains a failure.
    """

    def __init__(self, name: str, default: float, wrong: str, *, both_sides: bool = True) -> None:
        """``default`` is the step without h; ``wrong`` is the message."""
        self.name, self.default, self.wrong, self.both_sides = name, default, wrong, both_sides

    def check(self, points: float, title: str, *parts: Any, needs: Any = ()) -> Any:
        return check_of(parts, title, check(points=points, about=self.name, needs=needs))

    def slopes(self, f: Any, x: Tensor, h: float) -> Tensor:
        """Return the right result."""
        return differences(f, x, h if self.both_sides else 0.0, h).reshape(x.shape)

    def require(
        self,
        f: Any,
        x: Tensor,
        *step: float,
        want: Tensor | None = None,
        dtype: bool = False,
        shape: bool = True,
        **near: Any,
    ) -> dict[str, Any]:
        """Require the slopes of f, and return what was seen. Without a step it is the default one;
        ``want`` takes the place of the right result. ``dtype`` requires that of x, too; without
        ``shape``, only the numbers count.
        """
        h = step[0] if step else self.default
        expected = self.slopes(f, x, h) if want is None else want
        self.draw.given(f=f, x=x.clone(), h=h)
        student, function = self.student, getattr(self.student, self.name)
        seen = student.observe("answer", self.name, f, x, *step)
        with student.writing_allowed() as copies:  # a check of its own asks that x is left alone
            got = function(f, x, *step)
        seen["held"] = copies.of(x)
        if not dtype and isinstance(got, Tensor) and got.is_floating_point():
            got = got.to(x.dtype)
        if not shape and isinstance(got, Tensor) and got.numel() == x.numel():
            got = got.reshape(x.shape)
        figures = [partial(self.figure, function, f, x, h, got, seen)] if x.numel() else []
        assert_tensor(got, expected, self.wrong, facts=seen, figures=figures, **near)
        return seen

    # Plots

    def figure(
        self, function: Any, f: Any, x: Tensor, h: float, got: object, seen: dict[str, Any]
    ) -> Any:
        """The error of the difference against h; for a 0-d x, the line of the slope that came back
        beside secant and tangent, too.
        """
        x = x.detach().double()
        errors = error_panel(
            phrase("the error against h"),
            function,
            lambda step: (f, x.clone(), step),
            lambda step: self.slopes(f, x, step),
            gradient(f, x),
            x="h",
        )
        if x.dim() or self.name == "numerical_gradient":
            return chart_figure(phrase("the error against h"), errors)
        caption = phrase("the slope at x, and its error against h")
        return chart_figure(caption, self.lines(f, x, h, got, seen), errors)

    def lines(self, f: Any, x: Tensor, h: float, got: object, seen: dict[str, Any]) -> Any:
        """f near x, the tangent there, the secant of the step, and the line that came back."""
        start, reach = (x - h if self.both_sides else x), max(2 * h, float(x.abs()) / 2)
        xs = torch.linspace(float(x) - reach, float(x) + reach, 61, dtype=torch.float64)

        def line(slope: Tensor, through: Tensor) -> Tensor:
            return f(through) + slope * (xs - through)

        curves = [
            curve("given", xs, [float(f(at)) for at in xs], "f"),
            curve("other", xs, line(gradient(f, x), x), phrase("tangent")),
            curve("truth", xs, line(self.slopes(f, x, h), start), phrase("secant")),
        ]
        if isinstance(got, Tensor) and got.numel() == 1:
            mine = line(got.detach().double().flatten(), start)
            curves.append(curve("yours", xs, mine, phrase("your slope")))
        points = [float(at) for at in seen["points"] if at.numel() == 1]
        if points:
            heights = [float(f(torch.tensor(at, dtype=torch.float64))) for at in points]
            where = phrase("where you called f")
            curves.append(curve("yours", points, heights, where, form="dots"))
        return panel(phrase("f, its tangent at x, the secant of the step"), *curves)

    # Parts of checks

    def bent_curves(self) -> None:
        """The slope of each bent curve is right with the default step: it is the mean of the
        derivative in between, at the middles of many parts.
        """
        for text in BENT:
            f, parts = self.draw.formula(text), 400
            x = self.draw.tensor(low=0.003, high=0.006, digits=4, avoid=0.0)
            middles = (torch.arange(parts, dtype=x.dtype) + 0.5) / parts
            start = x - self.default if self.both_sides else x
            along = start + (x + self.default - start) * middles
            self.require(f, x, want=gradient(f, along).mean(), rtol=3e-4, atol=0.0)

    def logarithm(self, slope: float, h: float, **near: float) -> None:
        """The slope of log(x³) at 5 for this h."""
        x, want = torch.tensor([5.0, slope], dtype=torch.float64)
        self.require(formula("(x ** 3).log()"), x, h, want=want, **near)


forward = Difference("forward_difference", 1e-3, "not the slope from x to x + h", both_sides=False)
central = Difference("central_difference", 1e-3, "not the slope from x - h to x + h")
numerical = Difference("numerical_gradient", 1e-5, "not the gradient")


# ------------------------------------------------------------------------------- forward_difference


test_forward_difference_of_a_drawn_function = FORWARD = forward.check(
    0.5, "forward_difference is the slope from x to x + h", forward.bent_curves
)


@check(points=0.25, about="forward_difference", needs=FORWARD)
def test_the_numbers_of_c1(student: Student, draw: RandomInputs) -> None:
    """f is called at 5 and 5.001: log(x³) is 4.8283 and 4.8289"""
    for text, values in (("x ** 3", (125.0, 125.0750)), ("(x ** 3).log()", (4.8283, 4.8289))):
        f, x = draw.given(f=formula(text), x=torch.tensor(5.0, dtype=torch.float64))
        seen = student.observe("answer", "forward_difference", f, x, 0.001)
        said = [round(value, 4) for one in seen["values"] for value in one.flatten().tolist()]
        for at, value in zip((5.0, 5.001), values, strict=True):
            if value not in said:
                message = "f({at}) is {value}, but your calls of f returned {said}"
                facts = {**seen, "at": at, "value": value, "said": said}
                fail(message, expected=[*values], actual=said, facts=facts)


test_the_numbers_of_c2 = forward.check(
    0.25, "log(x³) from 5 to 5.001 rises with slope 0.5999",
    partial(forward.logarithm, 0.5999400079985, 0.001), needs=FORWARD,
)  # fmt: skip


# ------------------------------------------------------------------------------- central_difference


test_central_difference_of_a_drawn_function = CENTRAL = central.check(
    0.5, "central_difference is the slope from x - h to x + h", central.bent_curves
)
test_from_both_sides_of_c2 = central.check(
    0.25, "log(x³) at 5 has slope 0.6, to within 1e-8 with h = 0.001",
    partial(central.logarithm, 0.600000008, 0.001, rtol=0.0, atol=2e-9), needs=CENTRAL,
)  # fmt: skip


@check(points=0.25, about="central_difference", needs=CENTRAL)
def test_a_parabola_is_exact(student: Student, draw: RandomInputs) -> None:
    """central_difference is exact for a parabola, for any h"""
    for sign in (1, -1):
        x = torch.tensor(sign * draw.number(1.0, 3.0), dtype=torch.float64)
        f, h = draw.formula("{a} * x ** 2 + {b}"), draw.number(1.0, 3.0)
        central.require(f, x, h, want=gradient(f, x), rtol=1e-4)


# ------------------------------------------------------------------------------- numerical_gradient


@check(points=0.5, about="numerical_gradient")
def test_gradient_of_a_drawn_function(student: Student, draw: RandomInputs) -> None:
    """numerical_gradient agrees with torch's own gradient"""
    for texts in (UPHILL, DOWNHILL):
        f = draw.formula(*texts)
        x = torch.tensor(draw.sample(range(50, 90, 5), 3), dtype=torch.float64) / 100_000
        numerical.require(f, x, want=gradient(f, x), rtol=2e-3, atol=0.0)


GRADIENT = test_gradient_of_a_drawn_function
test_a_single_number_has_a_gradient = numerical.check(
    0.25, "a 0-d x has a 0-d gradient: 0.6 for log(x³) at 5",
    partial(numerical.logarithm, 0.6, 0.01, rtol=5e-3, atol=0.0), needs=GRADIENT,
)  # fmt: skip


def weigh(x: Tensor, draw: RandomInputs, **options: bool) -> None:
    """Require the gradient of a linear function, for which every step is right: the weights."""
    w = draw.tensor(*x.shape, digits=3)
    numerical.require(formula("(x * w).sum()", w=w), x, want=w, rtol=0.01, atol=0.01, **options)


@check(points=0.5, about="numerical_gradient", needs=GRADIENT)
def test_every_shape_has_a_gradient(student: Student, draw: RandomInputs) -> None:
    """a 2-d or 3-d x has a gradient of the same shape"""
    side = draw.integer(2, 3)
    several = draw.shape(dims=2), draw.shape(dims=3, most=3), (1, 2, 1, draw.integer(2, 12))
    for shape in ((1,), (side, side), *several):
        x = draw.tensor(*shape, **SMALL)
        x.view(-1)[-1] = x.view(-1)[0]  # two elements are equal, and only one of them moves
        weigh(x, draw)


# hidden


CURVES = [
    "{a} * x ** 3 + ({b} * x).exp()",
    "({a} * x).exp() + {b} * x ** 4",
    "({a} * x).exp() * {c} + {b} * x ** 3 + x ** 2",
]
SURFACES = [
    "x[0] ** 2 * x[1] * {a} + (x * {c}).exp().sum() + x[1] ** 3 * {b}",
    "(x ** 4).sum() * {a} + (x[0] * x[1]) ** 2 * {b} + (x[0] * {c}).exp()",
]
"""Sums of growing terms: with positive coefficients no derivative vanishes for positive x."""


def distinct(draw: RandomInputs) -> Tensor:
    """Three numbers between 0.5 and 1.5, no two alike."""
    return torch.tensor(draw.sample(range(50, 151), 3), dtype=torch.float64) / 100


def uses_h(one: Difference) -> None:
    """h is the step, for a small and a large x, and in float32."""
    draw = one.draw
    for at in (draw.number(0.5, 1.5), 0.0, -draw.number(20.0, 30.0)):
        x = torch.tensor(at, dtype=torch.float64)
        f = draw.formula("{a} * x ** 3 + {b} * x ** 4")
        one.require(f, x, draw.number(0.2, 0.9), rtol=1e-4, atol=1e-4)
    small_step(one, "(x * 400.0).exp()")


def small_step(one: Difference, text: str, *shape: int) -> None:
    """A small h is the step in float32 too."""
    exact = {"digits": None, "avoid": 0.0}
    x = one.draw.tensor(*shape, dtype=torch.float32, low=0.0, high=0.002, **exact)
    f, h = formula(text), 0.002
    want = one.slopes(f, x.double(), h).float()
    one.require(f, x, h, want=want, rtol=0.02, atol=0.0)


def any_f(one: Difference, *texts: str) -> None:
    """f may return what it is given, or a view of it, so two values of f may not share a tensor;
    and it may take a 0-d tensor only.
    """
    for text in texts:
        f, x = formula(text), distinct(one.draw) if "[" in text else one.draw.tensor(**SMALL)
        one.require(f, x, want=gradient(f, x), rtol=1e-3, atol=1e-3)


def keeps_dtype(one: Difference, f: Any, x: Tensor) -> None:
    """float64 and float32 each give their own dtype, and float64 its digits."""
    one.require(f, x, 0.25, dtype=True, rtol=1e-10, atol=1e-10)
    # Values up to about 30, rounded to 24 bits and divided by the step: 1e-5; a tenfold margin for
    # other orders of operations.
    want = one.slopes(f, x, 0.25).float()
    one.require(f, x.float(), 0.25, want=want, dtype=True, rtol=1e-4, atol=2e-4)


def keeps_dtype_of_one(one: Difference) -> None:
    keeps_dtype(one, one.draw.formula(*CURVES), one.draw.tensor(low=0.5, high=1.5))


def leaves_x(one: Difference, text: str, view: str, *shape: int) -> None:
    """x holds the same numbers afterwards, also if f returns a view of it. They are small beside h:
    an h that is added and subtracted again does not give them back.
    """
    draw, student = one.draw, one.student
    for which in (text, text, view):
        x = draw.tensor(*shape, low=0.0005, high=0.0009, digits=None, avoid=0.0)
        before, f, h = x.clone(), draw.formula(which), draw.number(0.5, 0.9)
        draw.given(f=f, x=before, h=h)
        with student.writing_allowed() as copies:
            getattr(student, one.name)(f, x, h)
        held = copies.of(x)
        facts = {"held": held} | ({"view": view} if which == view else {})
        assert_equal(held, before, "x was changed: afterwards it holds {held}", facts=facts)


OF_ONE = ("x", "x.squeeze()", "x.unsqueeze(0).expand(2).sum()")
"""Functions of a 0-d tensor, and of no other."""


# ------------------------------------------------------------------------------- forward_difference


test_forward_difference_uses_its_h = forward.check(
    0.25, "forward_difference uses the h that it is given", partial(uses_h, forward), needs=FORWARD
)
test_forward_difference_takes_any_f = forward.check(
    0.25, "forward_difference works for any f of a 0-d tensor",
    partial(any_f, forward, *OF_ONE), needs=FORWARD,
)  # fmt: skip
test_forward_difference_keeps_the_dtype = forward.check(
    0.5, "forward_difference keeps x's dtype and precision",
    partial(keeps_dtype_of_one, forward), needs=FORWARD,
)  # fmt: skip
test_forward_difference_leaves_x_alone = forward.check(
    0.5, "forward_difference leaves x as it was",
    partial(leaves_x, forward, "{a} * x ** 3 + x", "x"), needs=FORWARD,
)  # fmt: skip


# ------------------------------------------------------------------------------- central_difference


test_central_difference_uses_its_h = central.check(
    0.25, "central_difference uses the h that it is given", partial(uses_h, central), needs=CENTRAL
)
test_central_difference_takes_any_f = central.check(
    0.25, "central_difference works for any f of a 0-d tensor",
    partial(any_f, central, *OF_ONE), needs=CENTRAL,
)  # fmt: skip
test_central_difference_keeps_the_dtype = central.check(
    0.5, "central_difference keeps x's dtype and precision",
    partial(keeps_dtype_of_one, central), needs=CENTRAL,
)  # fmt: skip
test_central_difference_leaves_x_alone = central.check(
    0.5, "central_difference leaves x as it was",
    partial(leaves_x, central, "{a} * x ** 3 + x", "x"), needs=CENTRAL,
)  # fmt: skip


# ------------------------------------------------------------------------------- numerical_gradient


steps = Difference("numerical_gradient", 1e-5, "not the slopes over a step of h to either side")


@check(points=0.75, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_uses_its_h(student: Student, draw: RandomInputs) -> None:
    """numerical_gradient steps h to both sides; default 0.00001"""
    far = torch.tensor([0.0, draw.number(2.0, 3.0), -draw.number(5.0, 8.0)], dtype=torch.float64)
    # so steep that a step of 0.00001 is seen in the slope
    steep = draw.tensor(2, low=0.000002, high=0.00001, digits=None, avoid=0.0)
    for f, x, step in (
        (draw.formula(*SURFACES), distinct(draw), [draw.number(0.2, 0.5)]),
        (formula("(x ** 3).sum() + x[0] * x[1] * x[2]"), far, [draw.number(0.2, 0.5)]),
        (formula("(x * 40000.0).exp().sum()"), steep, []),
    ):
        steps.require(f, x, *step, rtol=1e-4, atol=1e-4)
    small_step(steps, "(x * 400.0).exp().sum()", 2)


test_numerical_gradient_takes_any_f = numerical.check(
    0.25, "numerical_gradient works for an f that returns its argument",
    partial(any_f, numerical, "x[0]", "x[-1].squeeze()"), needs=GRADIENT,
)  # fmt: skip


@check(points=0.25, about="numerical_gradient", needs=GRADIENT)
def test_an_empty_tensor_has_an_empty_gradient(student: Student, draw: RandomInputs) -> None:
    """an empty x has an empty gradient of the same shape"""
    for shape in ((0,), (draw.integer(1, 3), 0, draw.integer(1, 3))):
        numerical.require(
            formula("(x ** 2).sum()"), torch.empty(shape, dtype=torch.float64), dtype=True
        )


@check(points=0.5, about="numerical_gradient", needs=GRADIENT)
def test_strides_do_not_matter(student: Student, draw: RandomInputs) -> None:
    """a sliced x works"""
    wide = draw.tensor(4, 5, low=0.0005, high=0.0009, digits=None, avoid=0.0)
    for x in (wide[:, ::2], wide[1]):
        weigh(x, draw, shape=False)  # the shape is another check's matter


@check(points=0.5, about="numerical_gradient", needs=GRADIENT)
def test_numerical_gradient_keeps_the_dtype(student: Student, draw: RandomInputs) -> None:
    """numerical_gradient keeps x's dtype and precision"""
    x = distinct(draw)
    keeps_dtype(steps, draw.formula("{a} * x[0] * x[1] + {b} * x[1] * x[2] + {c} * x[2]"), x)
    # a step that was rounded to float32 misses this h by some 1e-8 of it
    steps.require(draw.formula("(x * {a}).sum()"), x, 0.3, rtol=1e-10, atol=1e-10)


test_numerical_gradient_leaves_x_alone = numerical.check(
    0.75, "numerical_gradient leaves x as it was",
    partial(leaves_x, numerical, "{a} * (x ** 3).sum() + x[0].sum()", "x[0]", 3),
    partial(leaves_x, numerical, "{a} * (x ** 3).sum() + x[0].sum()", "x[0][0]", 2, 3),
    needs=GRADIENT,
)  # fmt: skip


@check(points=0.75, about="numerical_gradient", needs=GRADIENT)
def test_no_autograd_does_the_work(student: Student, draw: RandomInputs) -> None:
    """numerical_gradient uses no autograd"""
    f, x = draw.given(f=draw.formula(*SURFACES), x=draw.tensor(3, low=0.5, high=1.5))
    count = student.observe("answer", "numerical_gradient", f, x)["derivatives"]
    message = "numerical_gradient asked autograd for derivatives of f: {derivatives} times"
    assert_equal(count, 0, message, facts={"derivatives": count})
