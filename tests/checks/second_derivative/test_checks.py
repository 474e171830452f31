"""second_derivative's checks. Those below the line "hidden" are not handed out.

The truth is torch.autograd.functional's. Functions are drawn as texts, which a failure shows.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    InCheck,
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_raises,
    assert_tensor,
    assert_that,
    chart_figure,
    check,
    check_of,
    curve,
    drawing,
    fetch,
    formula,
    graphs_figure,
    panel,
    phrase,
    plot_figure,
    trace,
)

CURVE = "{a} * x ** 3 + ({b} * x).cos()"
"""Its derivatives have both signs where x has."""
WEIGHTED_CURVE = "w * x ** 3 + ({a} * x).sin()"
SURFACE = "x[0] ** 2 * x[1] * {a} + (x[2] * x[0] * {b}).sin() + x.sum() ** 3 * {c}"
LONG_SURFACE = "(x.sum() * {a}).sin() + (x ** 3).sum() * {b} + x[0] * x[1] ** 2"
"""That of a vector of any length."""
WEIGHTED_SURFACE = "w * (x ** 3).sum() + x[0] * x[1]"
CRITIC = "((x @ W).tanh() * v).sum(1)"
"""It raises for a single row that is not a batch."""
COLUMN_CRITIC = "(x @ W).tanh() @ v"

ROUGH = {"rtol": 1e-3, "atol": 1e-3}
"""Room for computations in float32, and for a small number under the root. Precision has checks of
its own, on which no other check waits.
"""
EXACT = {"rtol": 1e-8, "atol": 0.0}
F32 = torch.float32

NOT_EXACT = (
    "the result is wrong for this f, for which differences of values lose too many digits;"
    " differentiate with autograd"
)
NO_GRAPH = "the penalty does not require grad: the parameters of f can't learn from it"
BANNED = "{tools} called f; build the derivative from torch.autograd.grad"
CHANGED_GRAD = "{name}.grad was {held} before the call and is {after} after it"
CHANGED_START = (
    "{name}.grad was {held} before the call and is {after} after it; x was computed from {name}"
)
CHANGED_X = "the call changed the values of x"
SWITCHED_OFF = "x.requires_grad was True before the call and is False after it"
CUT_OUT = "x was the result of an operation before the call, and the call cut it from its graph"


# ---------------------------------------------------------------------------------- what is drawn


class Formula:
    """A function of x as text, for messages, and as the program that it says; its parameters."""

    def __init__(self, text: str, **parameters: Tensor) -> None:
        self.text, self.parameters = text, parameters
        self.program = formula(text, **parameters)

    def __str__(self) -> str:
        return self.text


def drawn(draw: RandomInputs, text: str) -> Formula:
    """Return a formula with drawn numbers, and a parameter w if it names one."""
    a, b, c = draw.coefficients(3, low=0.4)
    w = {"w": draw.tensor(requires_grad=True)} if "w" in text else {}
    return Formula(text.format(a=a, b=b, c=c), **w)


def both_signs(draw: RandomInputs, count: int, *shape: int, low: float = 0.5, **options) -> Tensor:
    """Return a leaf whose elements are positive and negative in turn, none of them near zero."""
    x = draw.tensor(count, *shape, low=low, **options)
    x[1::2] *= -1
    return x.requires_grad_()


def critic(draw: RandomInputs, column: bool = False, dtype: torch.dtype = torch.float64) -> Formula:
    """Return a function of rows of three numbers, with two parameters."""
    w = draw.tensor(3, 2, low=0.8, high=1.5, dtype=dtype, requires_grad=True)
    v = both_signs(draw, 2, *[1] * column, low=1.0, dtype=dtype)
    with torch.no_grad():  # where the two cancel, all gradients would be small, and much alike
        v *= (2 / (w @ v).norm()).clamp(min=1)
    return Formula(COLUMN_CRITIC if column else CRITIC, W=w, v=v)


def spread(draw: RandomInputs, f: Formula, rows: int, features: int = 3) -> Tensor:
    """Return an x whose rows have gradients of different norms, from about 0.3 to 2: none is near
    zero, where a small number under the root counts.
    """
    dtype = next((one.dtype for one in f.parameters.values()), torch.float64)
    found = draw.tensor(200, features, dtype=dtype)
    wanted = torch.linspace(0.3, 2.0, rows)
    nearest = (row_norms(f, found)[:, None] - wanted).abs().argmin(dim=0)
    return found[nearest].requires_grad_()


def row_norms(f: Formula, x: Tensor) -> Tensor:
    """Return the norm of each row's gradient."""
    return gradient(f.program, x.detach()).detach().norm(dim=1)


# -------------------------------------------------------------------------------------- the truth


def gradient(function: Callable[[Tensor], Tensor], x: Tensor) -> Tensor:
    """Return the gradient of the function's sum."""
    y = function(x)
    found = torch.autograd.functional.vjp(function, x, torch.ones_like(y), create_graph=True)
    return found[1]


def derivative(f: Formula, x: Tensor, n: int = 2) -> Tensor:
    """Return the n-th derivative of an elementwise function."""
    function: Callable[[Tensor], Tensor] = f.program
    for _ in range(n):
        function = partial(gradient, function)
    return function(x.detach()).detach()


def curvature(f: Formula, x: Tensor) -> Tensor:
    return torch.autograd.functional.hessian(f.program, x.detach())


def mean_penalty(f: Formula, x: Tensor) -> Tensor:
    """Return the gradient penalty, from the whole Jacobian of all rows by all rows."""
    jacobian = torch.autograd.functional.jacobian(
        lambda x: f.program(x).flatten(), x.detach(), create_graph=True
    )
    rows = jacobian.diagonal(dim1=0, dim2=1).t()
    return ((rows**2).sum(1).sqrt() - 1).square().mean()


# ----------------------------------------------------------------------------- what is asked of all


class Asked(InCheck):
    """One of the lesson's functions: its truth, what it is asked about, and its pictures."""

    def __init__(
        self,
        name: str,
        truth: Callable[..., Tensor],
        wrong: str,
        *,
        curve: str = "",
        weighted: str = "",
        tilt: str,
        orders: Sequence[tuple[int, ...]] = ((),),
    ) -> None:
        """``curve`` is the f to ask about, ``weighted`` one with a parameter w; without, a critic.
        ``tilt`` is a term that changes no result, but in which differences lose all digits.
        ``orders`` are arguments after x.
        """
        self.name, self.truth, self.wrong = name, truth, wrong
        self.curve, self.weighted, self.tilt, self.orders = curve, weighted, tilt, orders

    def check(self, points: float, title: str, part: Callable[[], None], needs: Any = ()) -> Any:
        return check_of([part], title, check(points=points, about=self.name, needs=needs))

    def drawn(self, text: str) -> tuple[Formula, Tensor]:
        """Draw f and a leaf x."""
        f = drawn(self.draw, text) if text else critic(self.draw)
        return f, both_signs(self.draw, 3) if text else spread(self.draw, f, 4)

    def given(self, f: Formula, x: Tensor, *n: int) -> None:
        """Name the inputs that a failure shows."""
        self.draw.given(f=f, **f.parameters, x=x, **dict(zip("n", n, strict=False)))

    def observe(self, scenario: str, f: Formula, *inputs: Any) -> Any:
        return self.student.observe(scenario, self.name, f.program, *inputs)

    def value(
        self,
        f: Formula,
        x: Tensor,
        *n: int,
        want: Tensor | None = None,
        says: str = "",
        **near: float,
    ) -> Any:
        """Require the right value, of any floating dtype; with a tolerance, in that of x."""
        want = self.truth(f, x, *n) if want is None else want
        self.given(f, x, *n)
        with self.pictures(f, x, *n):
            got = getattr(self.student, self.name)(f.program, x, *n)
            self.require(got, want, says or self.wrong, **near)
        return got

    def require(self, got: Any, want: Tensor, message: str, **near: float) -> None:
        got = fetch(got)
        if not near and isinstance(got, Tensor) and got.is_floating_point():
            got = got.to(want.dtype)
        assert_tensor(got, want, message, **(near or ROUGH))

    # Parts of checks

    def right_value(self) -> None:
        f, x = self.drawn(self.curve)
        for n in self.orders:
            self.value(f, x, *n)

    def own_work(self) -> None:
        """No tool that differentiates functions calls f, and no digits are lost."""
        (f, x), n = self.drawn(self.curve), self.orders[-1]
        self.given(f, x, *n)
        tools = self.observe("tools_around", f, x, *n)
        used = self.student.source.names_used(self.name).items()
        line = next((line for name, line in used if name.startswith(str(tools))), None)
        assert_that(not tools, BANNED, facts={"tools": tools}, line=line)
        tilted = Formula(f.text + self.tilt, **f.parameters)
        self.value(tilted, x, *n, want=self.truth(f, x, *n), says=NOT_EXACT)

    def plain_tensor(self) -> None:
        """An x that does not require grad, with the strides of a transposed one."""
        f, x = self.drawn(self.curve)
        for n in self.orders:
            self.value(f, x.detach().t().contiguous().t().clone(), *n)

    def keeps_grad(self) -> None:
        """x and every .grad, which holds a gradient or None, in x and in the tensors inside f."""
        f, start = self.drawn(self.weighted)
        filled = self.draw.tensor(*start.shape)
        for requires_grad, held in ((True, filled), (True, None), (False, None)):
            for n in self.orders:
                x = start.detach().clone().requires_grad_(requires_grad)
                self.given(f, x, *n)
                seen = self.observe("afterwards", f, x, held, f.parameters, None, *n)
                self.require_kept("x", held, seen["grad"])
                for name, parameter in f.parameters.items():
                    self.require_kept(name, torch.ones_like(parameter), seen["inside"][name])
                assert_tensor(seen["x"], x.detach(), CHANGED_X)
                assert_that(seen["requires_grad"] or not requires_grad, SWITCHED_OFF)

    def require_kept(
        self, name: str, held: Tensor | None, after: Any, message: str = CHANGED_GRAD
    ) -> None:
        facts = {"name": name, "held": held, "after": after}
        assert_equal(after, held, message, facts=facts)

    def at_a_result(self) -> None:
        """An x that is computed from another tensor, and stays so."""
        f, x = self.drawn(self.curve)
        start = (x.detach() / 2).requires_grad_()
        held = torch.ones_like(start)
        for n in self.orders:
            self.given(f, x, *n)
            seen = self.observe("afterwards", f, start, held, f.parameters, 2.0, *n)
            self.require(seen["result"], self.truth(f, x, *n), self.wrong)
            assert_that(seen["in_its_graph"], CUT_OUT)
            self.require_kept("start", held, seen["grad"], CHANGED_START)

    # Pictures

    def pictures(self, f: Formula, x: Tensor, *n: int) -> Any:
        """A block: a failure in it shows the graph that was cut off from x or a parameter, if one
        was, and a plot of what came back.
        """
        asked = (self.student, f, x, *n)
        return drawing(partial(self.cut_off, *asked), partial(self.plot, *asked))

    def plot(self, student: Student, f: Formula, x: Tensor, *n: int) -> Any:
        """Return the derivative that came back over the right one; none for a matrix."""
        if not x.numel() or self.truth is curvature:
            return None
        if self.truth is mean_penalty:
            return penalty_figure(student, f, x)
        return plot_figure(
            getattr(student, self.name),
            lambda _, x, *n: self.truth(f, x, *n),
            (f.program, x, *n),
            over=(float(x.min()) - 1, float(x.max()) + 1),
            vary=1,
            gradient=False,
        )

    def cut_off(self, student: Student, f: Formula, x: Tensor, *n: int) -> Any:
        """Return the first graph that is cut off, of what was differentiated or is the penalty,
        beside the one that it should be; None if none is.

        A derivative that is rightly constant in x shows its graph alone, where the student's code
        raised over it.
        """
        below = ["f(x)", "∇f(x)"]
        if self.truth is derivative:
            below = ["f" + "'" * k + "(x)" for k in range(*n or [2])]
        seen = student.observe("watched", self.name, f.program, below, f.parameters, x, *n)
        mine = seen["differentiated"]
        stages = [*zip([*mine, seen["gradient"]], below[: len(mine) + 1], strict=False)]
        if self.truth is mean_penalty:
            stages.append((seen["result"], "penalty"))
        for order, (graph, at) in enumerate(stages):
            if graph is None:
                continue
            right = right_graph(f, x, below, None if at == "penalty" else order)
            notes = ({at: leads_to(graph, f)}, {at: leads_to(right, f)})
            if reached(right, f) - reached(graph, f):
                return graphs_figure(graph, right, notes=notes)
            if seen["raised"] and 0 < order < len(mine) and "x" not in reached(right, f):
                return graphs_figure(None, right, notes=({}, notes[1]), at=at)
        return None


def right_graph(f: Formula, x: Tensor, below: list[str], order: int | None) -> Any:
    """Return the graph of the derivative of f of that order at x; None stands for the penalty."""
    x = x.detach().requires_grad_()
    tensor = f.program(x)
    named = {"x": x, **f.parameters, below[0]: tensor}
    for at in below[1:] if order is None else below[1 : order + 1]:
        total = tensor.sum() if tensor.requires_grad else (x * 0).sum()
        (tensor,) = torch.autograd.grad(total, x, create_graph=True, materialize_grads=True)
        named[at] = tensor
    if order is None:
        tensor = named["penalty"] = ((tensor.norm(dim=1) - 1) ** 2).mean()
    return trace(tensor, named)


def reached(graph: dict, f: Formula) -> set[str]:
    """Return those of x and f's parameters that a graph leads to."""
    names = [one["name"] for one in graph["nodes"] if one["kind"] != "constant"]
    return {one for name in names for one in name.split(", ")} & {"x", *f.parameters}


def leads_to(graph: dict, f: Formula) -> str:
    found = sorted(reached(graph, f))
    return f"→ {', '.join(found)}" if found else ""


def penalty_figure(student: Student, f: Formula, x: Tensor) -> Any:
    """Return a plot of the norm of each row's gradient, and of the mean of its squared distance
    from 1 beside the penalty that came back.
    """
    norms = row_norms(f, x)[:12]
    names = [phrase("row {k}", k=k) for k in range(len(norms))]
    got = student.gradient_penalty(f.program, x.detach().clone().requires_grad_())

    def bars(values: Tensor, caption: str) -> Any:
        return curve("truth", None, values, phrase(caption), form="bars")

    def level(role: str, height: float, caption: str) -> Any:
        return curve(role, [-0.4, len(norms) - 0.6], [height] * 2, phrase(caption))

    squares = [bars((norms - 1) ** 2, "(norm - 1)²")]
    squares.append(level("truth", float(mean_penalty(f, x)), "their mean"))
    if isinstance(got, Tensor) and got.numel() == 1:
        squares.append(level("yours", float(got.detach()), "your penalty"))
    return chart_figure(
        phrase("the gradient of f, row by row"),
        panel(
            phrase("norm of each row's gradient"),
            bars(norms, "norm"),
            level("other", 1.0, "target 1"),
            names=names,
        ),
        panel(phrase("what the penalty is the mean of"), *squares, names=names),
    )


second = Asked(
    "second_derivative", derivative, "the second derivative is wrong",
    curve=CURVE, weighted=WEIGHTED_CURVE, tilt=" + 1e15 * x",
)  # fmt: skip
nth = Asked(
    "nth_derivative", derivative, "the derivative of order {n} is wrong",
    curve=CURVE, weighted=WEIGHTED_CURVE, tilt=" + 1e15 * x", orders=[(1,), (2,), (3,)],
)  # fmt: skip
hessian = Asked(
    "hessian", curvature, "the Hessian is wrong",
    curve=SURFACE, weighted=WEIGHTED_SURFACE, tilt=" + 1e15 * x.sum()",
)  # fmt: skip
penalty = Asked("gradient_penalty", mean_penalty, "the penalty is wrong", tilt=" + 1e15")


# -------------------------------------------------------------------------------- second_derivative


test_second_derivative_of_a_drawn_function = second.check(
    0.5, "second_derivative is right for a random function", second.right_value
)


@check(points=0.2, about="second_derivative", needs=test_second_derivative_of_a_drawn_function)
def test_log_of_a_cube_at_five(student: Student) -> None:
    """log(x ** 3) has the second derivative -0.12 at x = 5"""
    x = torch.tensor(5.0, requires_grad=True)
    second.value(Formula("(x ** 3).log()"), x, want=torch.tensor(-0.12))


@check(points=0.4, about="second_derivative", needs=test_second_derivative_of_a_drawn_function)
def test_second_derivative_of_a_line_is_zero(student: Student, draw: RandomInputs) -> None:
    """a linear f gives zeros with the shape and dtype of x"""
    x = draw.tensor(3, requires_grad=True)
    for text in ("{a} * x + {b}", "x"):
        second.value(drawn(draw, text), x, want=torch.zeros(3, dtype=x.dtype), **ROUGH)


# ----------------------------------------------------------------------------------- nth_derivative


test_first_three_derivatives = nth.check(
    0.5, "nth_derivative is right for n = 1, 2 and 3", nth.right_value
)


@check(points=0.2, about="nth_derivative")
def test_derivative_of_order_zero(student: Student, draw: RandomInputs) -> None:
    """nth_derivative returns f(x) for n = 0"""
    f = drawn(draw, CURVE)
    for x in (both_signs(draw, 3), draw.tensor(2, 3)):
        nth.value(f, x, 0, says="the result for n = 0 is not f(x)")


@check(points=0.2, about="nth_derivative")
def test_negative_order(student: Student, draw: RandomInputs) -> None:
    """n < 0 raises ValueError, and n = 1 does not"""
    f, x = drawn(draw, CURVE), draw.tensor(3, requires_grad=True)
    student.nth_derivative(f.program, x, 1)
    for n in (-1, -draw.integer(2, 4)):
        nth.given(f, x, n)
        message = "ValueError should be raised for n = {n}"
        assert_raises("ValueError", student.nth_derivative, f.program, x, n, message=message)


# ------------------------------------------------------------------------------------------ hessian


test_hessian_of_a_drawn_function = hessian.check(
    0.5, "hessian is right for a function with mixed terms", hessian.right_value
)


@check(points=0.2, about="hessian", needs=test_hessian_of_a_drawn_function)
def test_hessian_of_a_quadratic_form(student: Student, draw: RandomInputs) -> None:
    """x @ A @ x has the Hessian A + A.T, also at x = 0"""
    n = draw.integer(4, 5)
    a, one_zero = draw.tensor(n, n), draw.tensor(n)
    one_zero[0] = 0.0
    for x in (draw.tensor(n), one_zero, torch.zeros(n, dtype=torch.float64)):
        hessian.value(Formula("x @ A @ x", A=a), x.requires_grad_(), want=a + a.t())


# --------------------------------------------------------------------------------- gradient_penalty


@check(points=0.5, about="gradient_penalty")
def test_penalty_of_a_drawn_critic(student: Student, draw: RandomInputs) -> None:
    """gradient_penalty is right for a random function"""
    f = critic(draw)
    for rows in (4, 7):  # one number can be right by chance
        penalty.value(f, spread(draw, f, rows))


@check(points=0.2, about="gradient_penalty", needs=test_penalty_of_a_drawn_critic)
def test_penalty_of_a_linear_critic(student: Student, draw: RandomInputs) -> None:
    """f = x @ w with w = (3, 4) has the penalty (5 - 1) ** 2"""
    x, want = draw.tensor(draw.integer(2, 4), 2, requires_grad=True), torch.tensor(16.0).double()
    for requires_grad in (True, False):
        w = torch.tensor([3.0, 4.0], dtype=torch.float64, requires_grad=requires_grad)
        penalty.value(Formula("x @ w", w=w), x, want=want)


# hidden


# -------------------------------------------------------------------------------- second_derivative


test_second_derivative_is_your_own = OWN = second.check(
    0.2,
    "second_derivative uses no torch.func and no differences",
    second.own_work,
    needs=test_second_derivative_of_a_drawn_function,
)


@check(points=0.2, about="second_derivative", needs=OWN)
def test_second_derivative_is_exact(student: Student, draw: RandomInputs) -> None:
    """second_derivative is exact at every scale of x, and at 0"""
    x = torch.tensor([0.001, 1.0, 1000.0], dtype=torch.float64) * draw.number(1.1, 1.9)
    second.value(Formula("(x ** 3).log()"), x.requires_grad_(), want=-3 / x.detach() ** 2, **EXACT)
    a, b = draw.coefficients(2)
    f, x = Formula(f"{a} * x ** 3 + {b} * x ** 2"), both_signs(draw, 3).detach()
    x[draw.integer(0, 2)] = 0.0
    for point in (x, torch.full_like(x, abs(a)), torch.zeros_like(x)):
        second.value(f, point.clone().requires_grad_(), want=6 * a * point + 2 * b, **EXACT)


test_second_derivative_at_a_plain_tensor = PLAIN = second.check(
    0.2, "second_derivative takes an x that does not require grad", second.plain_tensor, needs=OWN
)
test_second_derivative_keeps_grad = second.check(
    0.2, "second_derivative changes neither x nor any .grad", second.keeps_grad, needs=PLAIN
)
test_second_derivative_at_a_result = second.check(
    0.2, "second_derivative takes an x that is not a leaf", second.at_a_result, needs=OWN
)


@check(points=0.3, about="second_derivative", needs=OWN)
def test_second_derivative_shapes_and_dtypes(student: Student, draw: RandomInputs) -> None:
    """second_derivative takes float32, empty and transposed x"""
    f = drawn(draw, CURVE)
    for x in (
        draw.tensor(3, dtype=F32, requires_grad=True),
        draw.noncontiguous(3, 2, requires_grad=True),
        draw.tensor(requires_grad=True),
        draw.tensor(0, 3, requires_grad=True),
        draw.tensor(*draw.shapes(most=600)[-1], requires_grad=True),
    ):
        second.value(f, x, **ROUGH)


@check(points=0.2, about="second_derivative", needs=test_second_derivative_of_a_line_is_zero)
def test_second_derivative_of_a_line_with_a_slope_to_learn(
    student: Student, draw: RandomInputs
) -> None:
    """f(x) = w * x gives zeros, even if w requires grad"""
    second.value(drawn(draw, "w * x + 1.5"), draw.tensor(3, requires_grad=True), **ROUGH)


# ----------------------------------------------------------------------------------- nth_derivative


test_nth_derivative_is_your_own = OWN = nth.check(
    0.2,
    "nth_derivative uses no torch.func and no differences",
    nth.own_work,
    needs=test_first_three_derivatives,
)


@check(points=0.2, about="nth_derivative", needs=OWN)
def test_high_derivatives(student: Student, draw: RandomInputs) -> None:
    """nth_derivative is exact for n = 4, 5 and 6"""
    both, x = drawn(draw, "({a} * x).sin() + ({b} * x).exp()"), draw.tensor(3, requires_grad=True)
    for f, n in ((both, 4), (both, 5), (both, 6), (Formula("x.exp()"), 4)):
        nth.value(f, x, n, rtol=1e-8, atol=1e-9)


@check(points=0.3, about="nth_derivative", needs=OWN)
def test_derivatives_beyond_a_constant_one(student: Student, draw: RandomInputs) -> None:
    """nth_derivative of a polynomial is constant, then zeros"""
    product, cube, line = "{a} * x * x * x", "{a} * x ** 3", "{a} * x - 1"
    for text, n in (
        (product, 4), (cube, 4), (cube, 5), (line, 3), ("w * x * x", 3), ("x", 2),  # zeros
        (product, 3), (line, 1), ("x", 1),  # constants
    ):  # fmt: skip
        nth.value(drawn(draw, text), draw.tensor(2, 2, requires_grad=True), n, **ROUGH)
    # a constant one at 0, where the lower ones are 0
    x = torch.zeros(2, 2, dtype=torch.float64, requires_grad=True)
    nth.value(drawn(draw, "{a} * x ** 4"), x, 4, **ROUGH)


test_nth_derivative_at_a_plain_tensor = PLAIN = nth.check(
    0.2, "nth_derivative takes an x that does not require grad", nth.plain_tensor, needs=OWN
)
test_nth_derivative_keeps_grad = nth.check(
    0.2, "nth_derivative changes neither x nor any .grad", nth.keeps_grad, needs=PLAIN
)
test_nth_derivative_at_a_result = nth.check(
    0.2, "nth_derivative takes an x that is not a leaf", nth.at_a_result, needs=OWN
)


@check(points=0.2, about="nth_derivative", needs=OWN)
def test_nth_derivative_shapes_and_dtypes(student: Student, draw: RandomInputs) -> None:
    """nth_derivative takes float32, 0-d, empty and strided x"""
    f = drawn(draw, CURVE)
    for x, n in (
        (draw.tensor(dtype=F32, requires_grad=True), 2),
        (draw.tensor(2, 0, dtype=F32, requires_grad=True), 2),
        (draw.noncontiguous(2, 3, requires_grad=True), 2),
        (draw.tensor(*draw.shapes(most=600)[-1], requires_grad=True), draw.integer(1, 3)),
    ):
        nth.value(f, x, n, **ROUGH)


# ------------------------------------------------------------------------------------------ hessian


test_hessian_is_your_own = OWN = hessian.check(
    0.2,
    "hessian uses no torch.func and no differences",
    hessian.own_work,
    needs=test_hessian_of_a_drawn_function,
)


@check(points=0.2, about="hessian", needs=OWN)
def test_hessian_is_exact(student: Student, draw: RandomInputs) -> None:
    """hessian is exact, also at 0"""
    hessian.value(drawn(draw, SURFACE), both_signs(draw, 3), rtol=1e-8, atol=1e-9)
    x = torch.zeros(2, dtype=torch.float64, requires_grad=True)
    hessian.value(drawn(draw, "{a} * x[0] * x[1]"), x, **EXACT)


@check(points=0.2, about="hessian", needs=OWN)
def test_hessian_of_a_linear_function(student: Student, draw: RandomInputs) -> None:
    """The Hessian of a linear f is zeros of shape (n, n)"""
    x = draw.tensor(draw.integer(2, 4), requires_grad=True)
    hessian.value(drawn(draw, "({a} * x).sum() + 1"), x, **ROUGH)


@check(points=0.2, about="hessian", needs=test_hessian_of_a_linear_function)
def test_hessian_of_a_linear_function_with_weights_to_learn(
    student: Student, draw: RandomInputs
) -> None:
    """f(x) = x @ w has a Hessian of zeros, even if w requires grad"""
    w, x = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    hessian.value(Formula("x @ w", w=w), x, **ROUGH)


test_hessian_at_a_plain_tensor = PLAIN = hessian.check(
    0.1, "hessian takes an x that does not require grad", hessian.plain_tensor, needs=OWN
)
test_hessian_keeps_grad = hessian.check(
    0.2, "hessian changes neither x nor any .grad", hessian.keeps_grad, needs=PLAIN
)
test_hessian_at_a_result = hessian.check(
    0.2, "hessian takes an x that is not a leaf", hessian.at_a_result, needs=OWN
)


@check(points=0.2, about="hessian", needs=OWN)
def test_hessian_in_single_precision(student: Student, draw: RandomInputs) -> None:
    """hessian takes float32, strided x, and x of any length"""
    long = draw.tensor(draw.integer(16, 24), low=-1.0, high=1.0, requires_grad=True)
    for text, x in (
        (SURFACE, draw.tensor(3, dtype=F32, requires_grad=True)),
        ("(x ** 3).sum() * {a}", draw.tensor(1, dtype=F32, requires_grad=True)),
        (SURFACE, draw.noncontiguous(3, 2)[:, 0].detach().requires_grad_()),
        (LONG_SURFACE, long),
    ):
        hessian.value(drawn(draw, text), x, **ROUGH)


# --------------------------------------------------------------------------------- gradient_penalty


test_penalty_is_your_own = OWN = penalty.check(
    0.2,
    "gradient_penalty uses no torch.func and no differences",
    penalty.own_work,
    needs=test_penalty_of_a_drawn_critic,
)


@check(points=0.2, about="gradient_penalty", needs=OWN)
def test_penalty_is_exact(student: Student, draw: RandomInputs) -> None:
    """gradient_penalty adds at most 1e-6 under the square root"""
    # room for 1e-6 in each of two squares
    for numbers, room in (([0.06, 0.08], 5e-5), ([0.018, 0.024], 1e-4)):
        w = torch.tensor(numbers, dtype=torch.float64, requires_grad=True)
        x = draw.tensor(draw.integer(2, 5), 2, requires_grad=True)
        penalty.value(Formula("x @ w", w=w), x, rtol=0.0, atol=room)


@check(points=0.5, about="gradient_penalty", needs=OWN)
def test_penalty_trains_the_parameters(student: Student, draw: RandomInputs) -> None:
    """The penalty has the right gradients at the tensors in f"""
    f = critic(draw)
    leaf = spread(draw, f, draw.integer(12, 24))
    for x in (leaf, leaf.detach()):
        got, want = penalty.value(f, x), mean_penalty(f, x)
        with penalty.pictures(f, x):
            assert_that(got.requires_grad, NO_GRAPH, actual=got)
            found = torch.autograd.grad(got, [*f.parameters.values()], allow_unused=True)
            wanted = torch.autograd.grad(want, [*f.parameters.values()])
            for name, here, there in zip(f.parameters, found, wanted, strict=True):
                message = "the penalty's gradient with respect to {parameter} is wrong"
                # a small number under the root is the matter of another check
                near = {"rtol": 1e-2, "atol": 1e-2, "facts": {"parameter": name}}
                assert_gradient(here, there, message, **near)


@check(points=0.2, about="gradient_penalty", needs=OWN)
def test_penalty_of_a_column(student: Student, draw: RandomInputs) -> None:
    """f may return shape (batch, 1)"""
    for f, features in ((critic(draw, column=True), 3), (drawn(draw, "(x * {a}).exp()"), 1)):
        penalty.value(f, spread(draw, f, 4, features))


@check(points=0.2, about="gradient_penalty", needs=OWN)
def test_penalty_of_one_row(student: Student, draw: RandomInputs) -> None:
    """A batch of one row works, for either shape of f(x)"""
    for column in (False, True):
        f = critic(draw, column=column)
        penalty.value(f, spread(draw, f, 1))


test_penalty_at_a_plain_tensor = PLAIN = penalty.check(
    0.2, "gradient_penalty takes an x that does not require grad", penalty.plain_tensor, needs=OWN
)
test_penalty_keeps_grad = penalty.check(
    0.2, "gradient_penalty changes neither x nor any .grad", penalty.keeps_grad, needs=PLAIN
)
test_penalty_at_a_result = penalty.check(
    0.2, "gradient_penalty takes an x that is not a leaf", penalty.at_a_result, needs=OWN
)


@check(points=0.2, about="gradient_penalty", needs=OWN)
def test_penalty_in_single_precision(student: Student, draw: RandomInputs) -> None:
    """gradient_penalty takes float32"""
    f = critic(draw, dtype=F32)
    penalty.value(f, spread(draw, f, 4), **ROUGH)
