"""implicit's checks. Those below the line "hidden" are not handed out."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_that,
    check,
    differentiated,
    fetch,
    formula,
    phrase,
    under_test,
)

LENDS = "FixedPoint"
"""Others use one without mistakes: a mistake in the student's has checks of its own."""
F32, F64 = torch.float32, torch.float64
NEAR = {"rtol": 2e-3, "atol": 2e-3}
"""The tolerance of checks that ask for something else than digits."""


# -------------------------------------------------------------------------------------------- Solve


def system(draw: RandomInputs, n: int = 3, dtype: torch.dtype = F64) -> tuple[Tensor, ...]:
    """Draw A, which is far from symmetric and from singular, b and v."""
    a = draw.tensor(n, n, low=-0.9, high=0.9)
    a += torch.diag(torch.tensor([n + 1.0, -n - 1.0] * n, dtype=F64)[:n])
    if n > 1:
        a[0, 1], a[1, 0] = 0.9, -0.8
    b, v = draw.tensor(n, low=0.5), draw.tensor(n, low=0.5)
    v[::2] *= -1
    return a.to(dtype).requires_grad_(), b.to(dtype).requires_grad_(), v.to(dtype)


class Solved(under_test):
    """Solve, whose result has the shape of b."""

    def few_like(self, one: Tensor) -> Tensor:
        return self.few(one.dtype)[-1]


S = Solved("Solve.apply", torch.linalg.solve, inputs="A b", draws=system, few=system, near=NEAR)
solve = partial(S.check, at="Solve.backward")

test_solve_returns_the_solution = S.check(
    0.5, "Solve returns the x of A x = b", S.right_value, at="Solve.forward"
)


@check(points=0.5, about="Solve", at="Solve.backward", needs=test_solve_returns_the_solution)
def test_solve_derives_its_gradients(student: Student, draw: RandomInputs) -> None:
    """Solve.backward computes the gradients without autograd"""
    a, b, v = system(draw)
    draw.given(A=a, b=b, v=v)
    seen = student.observe("solved", a, b, v)
    for way in ("forward", "backward"):
        name = next(iter(seen[way]["nodes"]), "")
        message = "Solve.{way} ran autograd's {name}; compute the gradients by a solve"
        assert_that(not name, message, facts={"name": name, "way": way})
        message = "Solve.{way} uses numbers that were computed where no check can see it"
        assert_that(not S.hides(seen[way]), message, facts={"way": way})


def right_when_seen() -> None:
    """The gradient at A is right while operators are seen, too."""
    a, b, v = S.few()
    (want,) = torch.autograd.grad(S.truth(a, b), a, v)
    got = S.student.observe("solved", a, b, v)["gradient"]
    S.assert_near(got, want, "gradient", inputs=[a, b], v=v, facts={"which": "A"})


test_solve_has_both_gradients = SOLVE = solve(
    1.0,
    "Solve.backward returns the gradients of A and b",
    S.right_gradients,
    right_when_seen,
    needs=test_solve_derives_its_gradients,
)


# --------------------------------------------------------------------------------------- FixedPoint


COUPLED = "(W @ z + x ** 2 + 1).sqrt() / 2"
HALVING = "z / 2 + x ** 2"
"""Each step halves the distance to 2 * x ** 2 exactly."""


SAYS = {
    "value": "FixedPoint.apply(f, z0, x) is not the fixed point",
    "cut": "FixedPoint.apply(f, z0, x) does not require grad, although x does",
    "gradient": "the gradient with respect to x is wrong for grad_output v",
    "first": "after a second call, with x2, the gradient of the first call is wrong",
    "second": "of two calls, the gradient of the second, with x2, is wrong",
}


class Iterated(under_test):
    """FixedPoint for an f and a z0: a function of x, whose truth is 100 steps that autograd
    differentiates.
    """

    def __init__(self, text: str, z0: Tensor, draws: Any, **parameters: Tensor) -> None:
        self.text, self.f, self.z0 = text, formula(text, "z x", **parameters), z0
        self.parameters = parameters
        super().__init__(
            "FixedPoint.apply", self.truth_of, draws=draws, few=draws, near=NEAR, messages=SAYS
        )

    def truth_of(self, x: Tensor) -> Tensor:
        z = self.z0.detach()
        for _ in range(100):
            z = self.f(z, x)
        return z

    def function(self) -> Any:
        return lambda x: self.student.FixedPoint.apply(self.f, self.z0.clone(), x)

    def details(self, inputs: Sequence[Tensor], v: Tensor | None = None) -> dict[str, Any]:
        found = super().details(inputs, v)
        found["inputs"] = {**self.named(), **found["inputs"]}
        return found

    def named(self) -> dict[str, Any]:
        return {"f": self.f, **self.parameters, "z0": self.z0}


def coupled(draw: RandomInputs, n: int = 3, **options: Any) -> Iterated:
    """Draw an f that mixes the elements of z, with a W that is not symmetric. Rounding keeps an
    order of z, so the iteration comes to rest.
    """
    w = draw.tensor(n, n, low=0.2, high=0.6)
    w[0, -1], w[-1, 0] = 0.9, 0.2
    return Iterated(COUPLED, torch.zeros(n, dtype=F64), vectors, W=w, **options)


def vectors(draw: RandomInputs, n: int = 3, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """Draw x of both signs, and v."""
    x, v = draw.tensor(n, low=0.5, high=1.2), draw.tensor(n, low=0.5)
    x[1::2] *= -1
    v[::2] *= -1
    return x.to(dtype).requires_grad_(), v.to(dtype)


@check(points=0.5, about="FixedPoint", at="FixedPoint.forward")
def test_the_fixed_point_is_found(student: Student, draw: RandomInputs) -> None:
    """FixedPoint returns the z for which z = f(z, x)"""
    _ = student.FixedPoint  # a file without it is told so, and what it defines instead
    coupled(draw).right_value()


FOUND = test_the_fixed_point_is_found


@check(points=0.75, about="FixedPoint", needs=FOUND)
def test_no_graph_of_the_iterations(student: Student, draw: RandomInputs) -> None:
    """no graph leads through more than one call of f"""
    fixed = coupled(draw)
    x, v = vectors(draw)
    draw.given(**fixed.named(), x=x, v=v)
    seen = student.observe("iterated", fixed.f, fixed.z0, x, v)
    message = "the graph behind the result has {behind} nodes, and none of FixedPoint"
    assert_that(seen["found"], message, facts=seen)
    message = "f was called {chained} times with a z whose graph leads through another call of f"
    assert_that(not seen["chained"], message, facts=seen)
    assert_that(not seen["nested"], "FixedPoint.backward ran inside of itself")


NO_GRAPH = test_no_graph_of_the_iterations


@check(points=1.0, about="FixedPoint", at="FixedPoint.backward", needs=NO_GRAPH)
def test_the_gradient_of_the_fixed_point(student: Student, draw: RandomInputs) -> None:
    """FixedPoint.backward returns the gradient at x"""
    fixed = coupled(draw)
    fixed.right_gradients()
    x, v = vectors(draw)
    fixed.gradient(x, v.abs())  # of one sign, so that no term of w is small


POINT = test_the_gradient_of_the_fixed_point


# -------------------------------------------------------------------------------------- newton_sqrt


def squares(draw: RandomInputs, *shape: int, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """Draw numbers whose roots have few digits, so the iteration comes to rest; and v."""
    roots = (draw.tensor(*shape, low=0.5, high=3.0) * 64).round() / 64
    return roots.square().to(dtype).requires_grad_(), draw.tensor(*shape, dtype=dtype)


def few_squares(draw: RandomInputs, dtype: torch.dtype = F64) -> tuple[Tensor, Tensor]:
    """Draw squares; one below 1 and a 9 are always there."""
    a, v = squares(draw, 4, dtype=dtype)
    with torch.no_grad():
        a[0], a[-1] = 0.25, 9.0
    return a, v


ROOT_SAYS = {
    "value": "newton_sqrt(a) is wrong",
    "cut": "newton_sqrt(a) has no graph back to a",
    "flag": "a does not require grad, but after newton_sqrt(a) it or the result does",
    "values": "newton_sqrt changed a",
    "grad": "newton_sqrt changed a.grad",
    "retains": "newton_sqrt(a) called a.retain_grad()",
    "mode": "after newton_sqrt(a) with an a that requires no grad, grad mode is switched off",
    "mode off": "after newton_sqrt(a) under no_grad(), grad mode is switched on",
    "input changed": "newton_sqrt changed a",
}


N = under_test(
    "newton_sqrt", torch.sqrt, inputs="a", draws=squares, few=few_squares, near=NEAR,
    over=(0.1, 12),
    messages=ROOT_SAYS,
)  # fmt: skip
test_newton_returns_the_root = N.check(0.25, "newton_sqrt returns the square root", N.right_value)
ROOT = test_newton_returns_the_root


@check(points=0.25, about="newton_sqrt", needs=ROOT)
def test_newton_takes_no_ready_root(student: Student, draw: RandomInputs) -> None:
    """newton_sqrt uses no ready-made root"""
    a, v = draw.given(**dict(zip("av", few_squares(draw), strict=True)))
    seen = N.no_built_in(["sqrt", "hypot"], a, v)
    ran = student.observe("ran", a.detach())
    used = next(iter(ran["names"]), None)
    message = "newton_sqrt ran {used}; iterate with sums, products and quotients instead"
    power = used == "pow of no whole number"
    used = phrase("a power that is not whole") if power else used
    assert_that(used is None, message, facts={"used": used})
    message = "newton_sqrt uses numbers that were computed where no check can see it"
    assert_that(not N.hides(seen["forward"]), message)
    for value in (seen["value"], ran["value"]):  # is it right while operators are seen?
        N.assert_near(value, a.detach().sqrt(), "value")


@check(points=0.5, about="newton_sqrt", needs=test_newton_takes_no_ready_root)
def test_no_graph_of_newtons_iterations(student: Student, draw: RandomInputs) -> None:
    """newton_sqrt leaves its iterations out of the graph"""
    a = torch.tensor(draw.sample([1e6, 250.0**2, 9.0, 0.25], 4), dtype=F64, requires_grad=True)
    draw.given(a=a)
    nodes = student.observe("behind", a)
    message = "the graph behind newton_sqrt(a) has {nodes} nodes: the iterations are in it"
    assert_that(nodes <= 20, message, facts={"nodes": nodes})


test_newton_has_the_right_gradient = N.check(
    0.5,
    "newton_sqrt has the right gradient",
    N.right_gradients,
    needs=test_no_graph_of_newtons_iterations,
)


# ------------------------------------------------------------------------------- minimizer_gradient


class Minimum:
    """A loss of z and x whose minimizer is M @ x.sin(), at a drawn x."""

    TEXT = "((P @ (z - M @ x.sin())) ** 2).sum() + ((z - M @ x.sin()) ** 4).sum() + (x ** 3).sum()"

    def __init__(self, draw: RandomInputs, n: int, m: int, dtype: torch.dtype = F64) -> None:
        p, _, v = system(draw, n, dtype)
        matrix = draw.tensor(n, m, low=0.3, dtype=dtype)
        self.x, self.v = draw.tensor(m, high=1.0, low=-1.0, dtype=dtype), v
        self.parameters = {"P": p.detach() / n, "M": matrix}
        self.loss = formula(self.TEXT, "z x", **self.parameters)
        x = self.x.clone().requires_grad_()
        z = matrix @ x.sin()
        self.z = z.detach()
        (self.want,) = torch.autograd.grad(z, x, v)
        draw.given(loss=self.loss, **self.parameters, z=self.z, x=self.x, v=v)

    def require(self, got: Any, **near: float) -> None:
        message = "this is not the gradient of v @ z with respect to x"
        assert_gradient(got, self.want, message, **near)


@check(points=0.5, about="minimizer_gradient", bonus=True)
def test_the_gradient_of_a_minimizer(student: Student, draw: RandomInputs) -> None:
    """minimizer_gradient is the gradient of v @ z at x"""
    case = Minimum(draw, 3, 3)
    case.require(student.minimizer_gradient(case.loss, case.z, case.x, case.v), **NEAR)


# hidden


# -------------------------------------------------------------------------------------------- Solve


@check(points=0.5, about="Solve", at="Solve.backward", needs=SOLVE)
def test_solve_for_any_n(student: Student, draw: RandomInputs) -> None:
    """Solve works for any n, in float32 and float64"""
    for dtype in (F64, F32):
        for n in (1, 2, draw.integer(4, 6)):
            a, b, v = system(draw, n, dtype)
            exact = {"rtol": 1e-8, "atol": 1e-12} if dtype is F64 else {"rtol": 1e-4, "atol": 1e-5}
            S.gradient(a, b, v, value_near=exact, **exact)
    a, b, v = system(draw, 3)
    S.gradient(a.detach().t().contiguous().t().requires_grad_(), b, v)


test_solve_called_several_times = solve(
    0.25,
    "Solve is linear in grad_output, and calls are apart",
    S.own_backward,
    S.linear,
    S.calls_apart,
    S.constants,
    needs=SOLVE,
)
test_solve_saves_for_backward = S.check(
    0.25,
    "Solve saves its tensors with save_for_backward",
    S.saves,
    S.notices_changes,
    S.backward_again,
    at="Solve.forward",
    needs=SOLVE,
)
test_solve_leaves_its_inputs = S.check(
    0.25, "Solve leaves A, b and grad_output unchanged", S.leaves_tensors, needs=SOLVE
)


@check(points=0.25, about="Solve", at="Solve.backward", needs=SOLVE)
def test_gradcheck_agrees_with_solve(student: Student, draw: RandomInputs) -> None:
    """gradcheck accepts Solve"""
    S.gradcheck(*system(draw, 2)[:2])


# --------------------------------------------------------------------------------------- FixedPoint


@check(points=0.5, about="FixedPoint", needs=POINT)
def test_the_fixed_point_to_all_digits(student: Student, draw: RandomInputs) -> None:
    """the fixed point and its gradient have 8 digits"""
    for dtype, near in ((F64, {"rtol": 1e-8}), (F32, {"rtol": 1e-5})):
        x = draw.tensor(3, low=1.02, high=1.2).to(dtype) * draw.choice([1.0, -1.0])
        v = draw.tensor(3, low=1.0, dtype=dtype)
        fixed = Iterated(HALVING, torch.zeros(3, dtype=dtype), vectors)
        fixed.gradient(x.requires_grad_(), v, value_near={**near, "atol": 0.0}, **near, atol=0.0)


@check(points=0.5, about="FixedPoint", needs=POINT)
def test_fixed_points_of_every_shape(student: Student, draw: RandomInputs) -> None:
    """z and x may have any shape, and different ones"""
    w = draw.tensor(2, 2, low=0.2, high=0.9)
    u = draw.tensor(2, 3, low=0.3)
    for text, z0, x, parameters in (
        (HALVING, (), (), {}),
        ("(W @ z + (U @ x) ** 2 + 1).sqrt() / 2", (2,), (3,), {"W": w, "U": u}),
        ("z / 3 + (x ** 2).sum()", (), (4,), {}),
        ("(z.sum() / 4 + x ** 2 + z + 1).sqrt() / 2", (2, 3), (), {}),
        ("(W @ z + x ** 2 + 1).sqrt() / 2", (2, 3), (3,), {"W": w}),
        ("z / 4 + x.t() ** 2", (3, 2), (2, 3), {}),
    ):
        fixed = Iterated(text, torch.zeros(z0, dtype=F64), vectors, **parameters)
        fixed.gradient(draw.tensor(*x, low=0.5, requires_grad=True), draw.tensor(*z0))
    fixed = Iterated(COUPLED, torch.zeros(2, 3, dtype=F64), vectors, W=w)
    fixed.gradient(draw.noncontiguous(2, 3, low=0.5, requires_grad=True), draw.tensor(3, 2).t())


@check(points=0.25, about="FixedPoint", at="FixedPoint.backward", needs=POINT)
def test_fixed_points_called_several_times(student: Student, draw: RandomInputs) -> None:
    """FixedPoint is linear in grad_output, and calls are apart"""
    fixed, other = coupled(draw), coupled(draw)
    fixed.linear()
    x, v = vectors(draw)
    z, w = vectors(draw)
    first, second = fixed.call(x), other.call(z)
    first.gradient(v, says="first", also={"x2": z})
    second.gradient(w, says="second", also={"x2": z})


@check(points=0.25, about="FixedPoint", at="FixedPoint.forward", needs=POINT)
def test_fixed_point_saves_for_backward(student: Student, draw: RandomInputs) -> None:
    """FixedPoint saves its tensors with save_for_backward"""
    fixed = coupled(draw)
    x, v = vectors(draw)
    draw.given(**fixed.named(), x=x, v=v)
    seen = student.observe("iterated", fixed.f, fixed.z0, x, v)
    names = ", ".join(f"ctx.{name}" for name in seen["attributes"])
    message = "tensors are stored in {names}, which did not go through save_for_backward"
    if names:
        assert_that(False, message, facts={"names": names})
    (want,) = torch.autograd.grad(fixed.truth(x), x, v)
    found = student.observe("changed", fixed.f, fixed.z0, x, v)
    message = "x was changed in place before backward, and backward used the new values"
    for got in found or ():
        assert_gradient(got, want, message, **NEAR)
    fixed.backward_again()


@check(points=0.25, about="FixedPoint", needs=POINT)
def test_fixed_point_leaves_tensors(student: Student, draw: RandomInputs) -> None:
    """FixedPoint leaves z0, x, grad_output and .grad alone"""
    fixed = coupled(draw)
    x, v = vectors(draw)
    z0, held = draw.tensor(3, low=0.2, high=0.5), draw.tensor(3)
    draw.given(f=fixed.f, **fixed.parameters, z0=z0, x=x, v=v)
    (want,) = torch.autograd.grad(fixed.truth(x), x, v)
    inside = fixed.parameters["W"].clone().requires_grad_()
    f = formula(COUPLED, "z x", W=inside)
    seen = student.observe("afterwards", f, inside, z0, x, v, held)
    for name, before, after in zip(
        ("z0", "x", "grad_output"), (z0, x.detach(), v), seen["values"], strict=True
    ):
        assert_equal(after, before, "FixedPoint changed {which}", facts={"which": name})
    message = "x.grad was {before} before backward; afterwards it should be that plus the gradient"
    assert_gradient(seen["grads"][0], held + want, message, facts={"before": held}, **NEAR)
    message = "W.grad was {before} before backward, and is {after} after it"
    facts = {"before": torch.ones(3, 3), "after": seen["grads"][1]}
    assert_equal(seen["grads"][1], torch.ones_like(inside), message, facts=facts)


@check(points=0.25, about="FixedPoint", at="FixedPoint.backward", needs=POINT)
def test_the_start_has_no_gradient(student: Student, draw: RandomInputs) -> None:
    """the gradient with respect to z0 is None or zeros"""
    fixed = coupled(draw)
    x, v = vectors(draw)
    z0 = draw.tensor(3, low=0.2, high=0.5, requires_grad=True)
    draw.given(f=fixed.f, **fixed.parameters, z0=z0, x=x, v=v)
    (want,) = torch.autograd.grad(fixed.truth(x), x, v)
    y = student.FixedPoint.apply(fixed.f, z0, x)
    start, got = differentiated(y, [z0, x], v)
    if start is not None:
        message = "the gradient with respect to z0 is not zero"
        assert_gradient(start, torch.zeros_like(v), message, **NEAR)
    message = "if z0 requires grad, the gradient with respect to x is wrong"
    assert_gradient(got, want, message, **NEAR)


# -------------------------------------------------------------------------------------- newton_sqrt

GRADIENT = test_newton_has_the_right_gradient


@check(points=0.25, about="newton_sqrt", needs=GRADIENT)
def test_roots_from_tiny_to_huge(student: Student, draw: RandomInputs) -> None:
    """newton_sqrt has all digits from 1e-6 to 1e6"""
    wide = [1000.0, 17 / 16384, 250.0, 1 / 64, 1.0, 3.0]
    small = [17 / 16384, 33 / 16384, 3 / 1024, 1.0]
    for dtype, rtol in ((F64, 1e-8), (F32, 1e-5)):
        for roots in (wide, small):
            n = len(roots)
            a = torch.tensor(draw.sample(roots, n), dtype=dtype).square().requires_grad_()
            near = {"rtol": rtol, "atol": 0.0}
            N.gradient(a, draw.tensor(n, low=0.5, dtype=dtype), value_near=near, **near)


test_roots_of_every_shape = N.check(
    0.25,
    "newton_sqrt works for every shape and dtype",
    partial(N.every_shape, dtypes=(F64, F32)),
    N.empty,
    partial(N.strided, expanded=False),
    needs=GRADIENT,
)
test_newton_leaves_its_input = N.check(
    0.25, "newton_sqrt leaves a and the grad mode alone", N.leaves_state, needs=GRADIENT
)


# ------------------------------------------------------------------------------- minimizer_gradient


@check(points=0.25, about="minimizer_gradient", bonus=True, needs=test_the_gradient_of_a_minimizer)
def test_minimizers_of_any_length(student: Student, draw: RandomInputs) -> None:
    """z and x may have different lengths, in either dtype"""
    for n, m, dtype in ((1, 3, F64), (4, 2, F64), (2, 3, F32)):
        case = Minimum(draw, n, m, dtype)
        near = {"rtol": 1e-7, "atol": 1e-9} if dtype is F64 else {"rtol": 1e-4, "atol": 1e-4}
        case.require(student.minimizer_gradient(case.loss, case.z, case.x, case.v), **near)


@check(points=0.25, about="minimizer_gradient", bonus=True, needs=test_the_gradient_of_a_minimizer)
def test_minimizer_leaves_its_inputs(student: Student, draw: RandomInputs) -> None:
    """minimizer_gradient leaves z and x unchanged"""
    case = Minimum(draw, 3, 3)
    z, x = student.put(case.z), student.put(case.x)
    case.require(student.minimizer_gradient(case.loss, z, x, case.v), **NEAR)
    for name, one in (("z", z), ("x", x)):
        now, grad = fetch([one.requires_grad, one.grad])
        message = "{which} requires grad after minimizer_gradient, as it did not before"
        assert_that(not now, message, facts={"which": name})
        message = "{which} has a gradient in .grad after minimizer_gradient"
        assert_equal(grad, None, message, facts={"which": name})
