"""vector_backward's checks. Those below the line "hidden" are not handed out."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    assert_tuple,
    check,
    drawing,
    fail,
    fetch,
    gradients_figure,
    graphs_figure,
    program,
    trace,
    type_name,
)

WRONG_PRODUCT = "the result is not v^T J"
WRONG_JACOBIAN = "the result is not the Jacobian of f at x"
WRONG_DOT = {"z": "z is not (x * a) @ b", "dz/dx": "dz/dx is wrong", "dz/dy": "dz/dy is wrong"}

ROUGH = {"rtol": 1e-3, "atol": 1e-3}
"""Room for computations in float32. Precision has checks of its own, on which no other waits."""
EXACT = {"rtol": 1e-8, "atol": 1e-10}


def shown(f: Any, x: Tensor, **more: Any) -> dict[str, Any]:
    """The inputs that a failure shows: a program f, the parameters in it, x, and others."""
    return {"f": f, **dict(zip(f.names[1:], f.parameters, strict=True)), "x": x, **more}


def drawn_map(draw: RandomInputs, rows: int, columns: int, plus: float = 0.0) -> Any:
    """A function from vectors of ``columns`` elements to vectors of ``rows``."""
    a, b = draw.coefficients(2)
    w = draw.tensor(rows, columns, low=-1.0, high=1.0)

    def f(x: Any, w: Any) -> Any:
        y = (w @ x).sin() * a + (w @ x**2) * b
        return y + plus if plus else y

    return program(f, parameters=[w])


def both_signs(draw: RandomInputs, count: int) -> Tensor:
    """Numbers that are positive and negative in turn."""
    return draw.tensor(count, low=0.3) * torch.tensor([1.0, -1.0]).repeat(count)[:count]


def like(actual: Any, expected: Tensor, *, shape: bool = False) -> Any:
    """What came back in the floating dtype of ``expected``, and if only the shape differs, with
    ``shape`` in that: for checks that are about neither.
    """
    actual = fetch(actual)
    if not isinstance(actual, Tensor) or not actual.is_floating_point():
        return actual
    fits = shape and actual.numel() == expected.numel()
    return (actual.reshape(expected.shape) if fits else actual).to(expected.dtype)


def observed(
    student: Student, f: Any, x: Tensor, v: Tensor, held: Tensor | None = None
) -> tuple[dict[str, Any], dict[str, Any]]:
    """What is seen while vjp works for f(x) and x.grad is ``held``; and details for messages."""
    (want,) = torch.autograd.grad(f(x), x, v)
    seen = student.observe("product", f, x, v, held)
    before = {} if held is None else {"x.grad before": held}
    facts = {**seen, "held": held, "want": want}
    return seen, {"inputs": shown(f, x, v=v, **before), "facts": facts}


def assert_product(
    student: Student,
    f: Any,
    x: Tensor,
    v: Tensor,
    held: Tensor | None = None,
    *,
    want: Tensor | None = None,
    dtype: bool = False,
    near: Mapping[str, float] = ROUGH,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Require vjp's result, torch's or another; with ``dtype``, its dtype too. Return what
    ``observed`` returns.
    """
    seen, details = observed(student, f, x, v, held)
    want = details["facts"]["want"] if want is None else want
    got = seen["result"] if dtype else like(seen["result"], want)
    assert_gradient(got, want, WRONG_PRODUCT, **near, **details)
    return seen, details


def assert_jacobian(
    student: Student,
    f: Any,
    x: Tensor,
    *,
    want: Tensor | None = None,
    message: str = WRONG_JACOBIAN,
    dtype: bool = False,
    near: Mapping[str, float] = ROUGH,
) -> None:
    """Require the Jacobian to be torch's, or another; with ``dtype``, its dtype too."""
    if want is None:
        want = torch.autograd.functional.jacobian(f, x.detach())
    got = student.jacobian(f, x)
    assert_tensor(got if dtype else like(got, want), want, message, **near, inputs=shown(f, x))


def assert_dot(
    got: Any,
    x: Tensor,
    a: Tensor,
    b: Tensor,
    *,
    known: Sequence[Tensor] = (),
    exact: bool = False,
    held: Tensor | None = None,
) -> None:
    """Require the tuple that broadcast_dot returns, of ``known`` values where they are known; with
    ``exact``, all digits, x's dtype, and each in its shape.
    """
    leaf = x.detach().requires_grad_()
    y = leaf * a
    z = y @ b
    want = known or (z.detach(), *torch.autograd.grad(z, (leaf, y), retain_graph=True))
    inputs = {"x": x, "a": a, "b": b} | ({} if held is None else {"x.grad before": held})
    facts = {"held": held, "got": got, "want": want}
    assert_tuple(got, 3, lists=not exact, expected=want, inputs=inputs, facts=facts)
    near = EXACT if exact and x.dtype is torch.float64 else ROUGH
    for (name, message), mine, right in zip(WRONG_DOT.items(), got, want, strict=True):
        mine = mine if exact else like(mine, right, shape=True)
        marked = partial(gradients_figure, z, {"y": y, "x": leaf}, at=name.removeprefix("dz/d"))
        details = {"expected": right, "actual": mine, "inputs": inputs, "figures": [marked]}
        details["facts"] = facts | {"name": name, "type": type_name(mine)}
        if not isinstance(mine, Tensor):
            fail("{name} is of type {type}, expected a tensor", **details)
        if mine.shape != right.shape:
            shapes = {"shape": str(tuple(mine.shape)), "expected_shape": str(tuple(right.shape))}
            details["facts"] |= shapes
            fail("{name} has the shape {shape}, expected {expected_shape}", **details)
        details |= near
        assert_tensor(details.pop("actual"), details.pop("expected"), message, **details)


def freed(student: Student, name: str, x: Tensor, *more: Any, met: bool = True) -> Any:
    """The graph that ``name`` differentiated as it leaves it, beside it as it was; with ``met``,
    only if it met a freed graph itself.
    """
    seen = student.observe("freed", name, x, *more)
    if seen is None or (met and not seen["again"]):
        return None
    return graphs_figure(seen["after"], seen["before"])


# ---------------------------------------------------------------------------------------------- vjp


@check(points=0.5, about="vjp")
def test_the_product_with_a_drawn_vector(student: Student, draw: RandomInputs) -> None:
    """vjp returns v^T J"""
    _ = student.vjp  # a file without it is told so, and what it defines instead
    for rows, columns in ((3, 3), (2, 4)):
        x = draw.tensor(columns, requires_grad=True)
        assert_product(student, drawn_map(draw, rows, columns), x, both_signs(draw, rows))


@check(points=0.25, about="vjp", needs=test_the_product_with_a_drawn_vector)
def test_the_numbers_of_s(student: Student) -> None:
    """vjp is right for a v of ones"""
    x = torch.tensor([1.4903, -1.4862, -1.5608, 0.9541], requires_grad=True)
    u = torch.tensor([1.2498, 1.2571, 1.2734, -0.0856])
    squared = torch.tensor([5.4802, -0.4582, -0.5747, 1.7369])  # from numbers of four decimals
    for f, want in (
        (lambda x, u: (x + u) ** 2, squared),
        (lambda x, u: x + u, torch.ones(4)),
        (lambda x, u: x * u, u),
    ):
        made, near = program(f, parameters=[u]), {"rtol": 0.0, "atol": 2e-4}
        assert_product(student, made, x, torch.ones(4), want=want, near=near)


@check(points=0.25, about="vjp", needs=test_the_product_with_a_drawn_vector)
def test_the_numbers_of_s_shopping(student: Student) -> None:
    """vjp gives 2.2, 3.3, 110, 165 and 650 for the shopping graph"""
    goods = {"apple": 100.0, "num_apple": 2.0, "tangerine": 150.0, "num_tangerine": 3.0}
    goods["ctax"] = 1.1

    def result(apple: Any, num_apple: Any, tangerine: Any, num_tangerine: Any, ctax: Any) -> Any:
        return (apple * num_apple + tangerine * num_tangerine) * ctax

    def result_of(name: str) -> Any:
        return program(lambda x: result(**{**goods, name: x}))

    for name, want in zip(goods, (2.2, 110.0, 3.3, 165.0, 650.0), strict=True):
        x = torch.tensor([goods[name]], requires_grad=True)
        assert_product(student, result_of(name), x, torch.ones(1), want=torch.tensor([want]))


# ----------------------------------------------------------------------------------------- jacobian


@check(points=0.5, about="jacobian")
def test_the_jacobian_of_a_drawn_map(student: Student, draw: RandomInputs) -> None:
    """jacobian returns one row for each element of f(x)"""
    for rows, columns in ((2, 3), (3, 3)):
        f, x = drawn_map(draw, rows, columns), draw.tensor(columns, requires_grad=True)
        with drawing(partial(freed, student, "jacobian", x, f)):
            assert_jacobian(student, f, x)


@check(points=0.5, about="jacobian", needs=test_the_jacobian_of_a_drawn_map)
def test_the_jacobian_of_a_matrix(student: Student, draw: RandomInputs) -> None:
    """the Jacobian of W @ x is W"""
    w = draw.tensor(draw.integer(2, 5), draw.integer(2, 5))
    x = draw.tensor(w.shape[1], requires_grad=True)
    assert_jacobian(student, program(lambda x, w: w @ x, parameters=[w]), x, want=w)


# ------------------------------------------------------------------------------------ broadcast_dot


@check(points=0.5, about="broadcast_dot")
def test_the_value_and_two_gradients(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot returns z, dz/dx and dz/dy"""
    for size in (3, draw.integer(4, 6)):
        x, a, b = draw.tensor(requires_grad=True), draw.tensor(size), both_signs(draw, size)
        with drawing(partial(freed, student, "broadcast_dot", x, a, b)):
            assert_dot(student.broadcast_dot(x, a.clone(), b.clone()), x, a, b)


@check(points=0.25, about="broadcast_dot", needs=test_the_value_and_two_gradients)
def test_the_numbers_of_c13(student: Student) -> None:
    """x = 5 gives z = 370, dz/dx = 74, dz/dy = (4, 7, 9)"""
    x = torch.tensor(5.0, requires_grad=True)
    a, b = torch.tensor([2.0, 3.0, 5.0]), torch.tensor([4.0, 7.0, 9.0])
    known = [torch.tensor(number) for number in (370.0, 74.0, [4.0, 7.0, 9.0])]
    assert_dot(student.broadcast_dot(x, a, b), x, a, b, known=known)


# ------------------------------------------------------------------------------- complex_derivative

WRONG_DERIVATIVE = "the result is not the derivative of g at z"


def complex_leaf(draw: RandomInputs, *shape: int, dtype: torch.dtype = torch.complex128) -> Tensor:
    """Complex numbers of which neither part is near 0."""
    parts = [draw.tensor(*shape, low=0.3, high=1.5) for _ in range(2)]
    return torch.complex(*parts).to(dtype).requires_grad_()


def holomorphic(draw: RandomInputs, plus: float = 0.0) -> Any:
    """A function of complex numbers that has a derivative."""
    a, b = draw.coefficients(2)
    return program(lambda z: z**2 * a + (z * b).exp() + plus if plus else z**2 * a + (z * b).exp())


def assert_derivative(
    got: Any, g: Any, z: Tensor, message: str = WRONG_DERIVATIVE, **more: Any
) -> None:
    """Require the derivative of g at z."""
    w = g(z)
    (gradient,) = torch.autograd.grad(w, z, torch.ones_like(w))
    facts = {"size": w.detach().abs(), "w": w.detach()}
    near = {"rtol": 1e-8, "atol": 0.0} if z.dtype is torch.complex128 else {"rtol": 1e-4}
    want = gradient.conj().resolve_conj()
    assert_tensor(got, want, message, inputs={"g": g, "z": z, **more}, facts=facts, **near)


@check(points=0.5, about="complex_derivative", bonus=True)
def test_the_derivative_of_a_complex_function(student: Student, draw: RandomInputs) -> None:
    """complex_derivative returns g'(z)"""
    _ = student.complex_derivative
    square, one = program(lambda z: z**2), torch.tensor(1 + 2j, dtype=torch.complex128)
    for g, z in ((holomorphic(draw), complex_leaf(draw, 3)), (square, one.requires_grad_())):
        assert_derivative(student.complex_derivative(g, z), g, z)


# hidden

CHANGED_GRAD = "x.grad was {held} before the call and is {grad} after it"
DIFFERENCES = (
    "the result is wrong for this f, for which differences of values lose all digits; differentiate"
    " with autograd"
)


def assert_kept(before: dict[str, Tensor], after: dict[str, Any], **details: Any) -> None:
    """Require that arguments have their values, and that x still requires grad."""
    message = "{name} was {before} before the call and is {after} after it"
    facts = details.pop("facts", {})
    for name, value in {**before, "x.requires_grad": True}.items():
        changed = {"name": name, "before": value, "after": after[name]}
        assert_equal(after[name], value, message, facts=facts | changed, **details)


CUBES = program(lambda x: (x**3).sum())
CUBES_AS_VECTOR = program(lambda x: (x**3).sum().reshape(1))


def positive(draw: RandomInputs, *shape: int, **options: Any) -> Tensor:
    """A tensor without cancellation ahead: float32 keeps its digits where nothing is subtracted."""
    return draw.tensor(*shape, low=0.3, high=1.5, dtype=torch.float32, **options)


# ---------------------------------------------------------------------------------------------- vjp

PRODUCT = test_the_product_with_a_drawn_vector


@check(points=0.25, about="vjp", needs=PRODUCT)
def test_every_kind_of_vector(student: Student, draw: RandomInputs) -> None:
    """vjp works for a one-hot, a negative and a zero v"""
    f = drawn_map(draw, 3, 3)
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    one_hot = torch.eye(3, dtype=torch.float64)[draw.integer(0, 2)]
    for vector in (one_hot, -2 * v, torch.zeros_like(v)):
        assert_product(student, f, x, vector)


@check(points=0.25, about="vjp", needs=PRODUCT)
def test_the_digits_of_vjp(student: Student, draw: RandomInputs) -> None:
    """vjp keeps the dtype and the digits"""
    f, x = drawn_map(draw, 3, 8), draw.tensor(8, requires_grad=True)
    assert_product(student, f, x, both_signs(draw, 3), dtype=True, near=EXACT)


@check(points=0.5, about="vjp", needs=PRODUCT)
def test_v_may_have_any_shape(student: Student, draw: RandomInputs) -> None:
    """vjp accepts a 0-d y, a matrix y, and x of a different shape"""
    k, c, m = draw.number(0.3, 1.5), draw.tensor(4), draw.tensor(3, 2)
    *_, cube, five = draw.shapes(most=600)
    for f, parameters, of_x, of_v in (
        (lambda x: x**3 * k, [], (), ()),
        (lambda x, c: (x * c).exp(), [c], (), (4,)),
        (lambda x, c: (x**2 * c).sum() * k, [c], (4,), ()),
        (lambda x, m: (x @ m).sin() * k, [m], (4, 3), (4, 2)),
        (lambda x: (x**3).sum(1) * k, [], (2, 3), (2,)),
        (lambda x: (x**3).sum().reshape(1), [], (3,), (1,)),
        (lambda x, c: (x * c).exp(), [c], (1,), (4,)),
        (lambda x: (x * k).sin(), [], cube, cube),
        (lambda x: (x * k).sin(), [], five, five),
    ):
        x, v = draw.tensor(*of_x, requires_grad=True), draw.tensor(*of_v)
        assert_product(student, program(f, parameters=parameters), x, v)


@check(points=0.25, about="vjp", needs=PRODUCT)
def test_vjp_of_strided_tensors(student: Student, draw: RandomInputs) -> None:
    """vjp accepts float32 and non-contiguous tensors"""
    f = program(lambda x: (x**3 + x.exp()).t())
    x, v = draw.noncontiguous(3, 4, requires_grad=True), draw.noncontiguous(4, 3)
    assert_product(student, f, x, v)
    x = draw.noncontiguous(2, 3, low=0.3, dtype=torch.float32, requires_grad=True)
    assert_product(student, f, x, positive(draw, 1).expand(3, 2), dtype=True)
    assert_product(student, f, draw.tensor(3, 4, requires_grad=True), draw.tensor(4, 3))


@check(points=0.25, about="vjp", needs=PRODUCT)
def test_vjp_without_elements(student: Student, draw: RandomInputs) -> None:
    """vjp accepts an empty x and an empty y"""
    none = torch.empty(0, dtype=torch.float64)
    c, m = draw.tensor(2), torch.empty(3, 0, dtype=torch.float64)
    for f, x, v in (
        (program(lambda x, m: x @ m, parameters=[m]), draw.tensor(3), none),
        (program(lambda x: x**2), none.clone(), none),
        (program(lambda x, c: x.sum() * c, parameters=[c]), none.clone(), draw.tensor(2)),
    ):
        assert_product(student, f, x.requires_grad_(), v, dtype=True)


@check(points=0.5, about="vjp", needs=PRODUCT)
def test_grad_is_left_alone(student: Student, draw: RandomInputs) -> None:
    """vjp neither uses nor changes x.grad"""
    for held in (draw.tensor(3), None):
        for f, v in ((drawn_map(draw, 2, 3), draw.tensor(2)), (CUBES, draw.tensor())):
            x = draw.tensor(3, requires_grad=True)
            seen, details = assert_product(student, f, x, v, held)
            details |= {"expected": held, "actual": seen["grad"]}
            same = seen["grad"] is held or None not in (seen["grad"], held)
            assert_that(
                same and (held is None or torch.equal(seen["grad"], held)), CHANGED_GRAD, **details
            )


@check(points=0.5, about="vjp", needs=PRODUCT)
def test_the_graph_can_still_be_used(student: Student, draw: RandomInputs) -> None:
    """the graph of y can still be used after vjp"""
    for f, x, v, held in (
        (drawn_map(draw, 3, 3), draw.tensor(3), draw.tensor(3), None),
        (CUBES, draw.tensor(3), draw.tensor(), None),
        (CUBES_AS_VECTOR, draw.tensor(3), draw.tensor(1), draw.tensor(3)),
        (program(lambda x: x.exp() * x), draw.tensor(2, 2), draw.tensor(2, 2), draw.tensor(2, 2)),
        (program(lambda x: x.exp()), draw.tensor(2), torch.zeros(2, dtype=torch.float64), None),
    ):
        x.requires_grad_()
        (rows,) = torch.autograd.grad(f(x), x, torch.ones_like(v))
        seen, details = observed(student, f, x, v, held)
        del details["facts"]["held"]  # what became of x.grad is another check's question
        if not isinstance(seen["further"], Tensor):
            figures = [partial(freed, student, "vjp", x, f, v, met=False)]
            gone = "the graph of y cannot be used again after vjp: {further}"
            fail(gone, expected=rows, actual=seen["further"], figures=figures, **details)
        other = "the graph of y gives another gradient after vjp than before"
        assert_gradient(seen["further"], rows, other, **details)


@check(points=0.25, about="vjp", needs=PRODUCT)
def test_vjp_writes_into_no_argument(student: Student, draw: RandomInputs) -> None:
    """vjp does not change y, x and v"""
    for f, x, v in (
        (program(lambda x: (x**2).exp()), draw.tensor(3), draw.tensor(3)),
        (program(lambda x: x * 2 + 1), positive(draw, 2, 2), positive(draw, 2, 2)),
        (CUBES, draw.tensor(3), draw.tensor()),
    ):
        seen, details = observed(student, f, x.requires_grad_(), v)
        assert_kept({"y": seen["earlier"], "x": x.detach(), "v": v}, seen, **details)


# ----------------------------------------------------------------------------------------- jacobian


@check(points=0.25, about="jacobian", needs=test_the_jacobian_of_a_drawn_map)
def test_the_jacobian_is_differentiated(student: Student, draw: RandomInputs) -> None:
    """jacobian uses no finite differences"""
    x = draw.tensor(3, requires_grad=True)
    assert_jacobian(student, drawn_map(draw, 2, 3, plus=1e15), x, message=DIFFERENCES)


JACOBIAN = test_the_jacobian_is_differentiated


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_the_digits_of_the_jacobian(student: Student, draw: RandomInputs) -> None:
    """jacobian keeps the dtype and the digits"""
    f, x = drawn_map(draw, 3, 4), draw.tensor(4, requires_grad=True)
    assert_jacobian(student, f, x, dtype=True, near=EXACT)


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_the_shapes_of_y_and_x(student: Student, draw: RandomInputs) -> None:
    """the Jacobian has the shape y.shape + x.shape"""
    k, m, c = draw.number(0.3, 1.5), draw.tensor(3, 2), draw.tensor(1, 3)
    for f, parameters, shape in (
        (lambda x, m: (x @ m).sin() * k, [m], (2, 3)),
        (lambda x: (x**3).sum(1) * k, [], (2, 3)),
        (lambda x, c: x.exp() * c, [c], (3,)),
        (lambda x: (x**3).sum(0) * k, [], (2, 1, 2, draw.integer(2, 3))),
        (lambda x: (x * k).sin(), [], (draw.integer(16, 24),)),
        (lambda x: (x**3).sum().reshape(1), [], (3,)),
        (lambda x: (x * k).sin(), [], (1,)),
        (lambda x: x.t(), [], (3, 2)),
        (lambda x: x, [], (2, 2)),
    ):
        x = draw.tensor(*shape, requires_grad=True)
        assert_jacobian(student, program(f, parameters=parameters), x)


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_jacobians_of_scalars(student: Student, draw: RandomInputs) -> None:
    """jacobian accepts a 0-d x and a 0-d f(x)"""
    c = draw.tensor(3)
    for f, shape in (
        (program(lambda x, c: (x * c).exp(), parameters=[c]), ()),
        (program(lambda x, c: (x**2 * c).sum(), parameters=[c]), (3,)),
        (program(lambda x: x**3 + x.exp()), ()),
    ):
        assert_jacobian(student, f, draw.tensor(*shape, requires_grad=True))


@check(points=0.5, about="jacobian", needs=JACOBIAN)
def test_the_jacobian_of_a_constant(student: Student, draw: RandomInputs) -> None:
    """the Jacobian is zeros if f(x) does not depend on x"""
    for x, c in (
        (draw.tensor(3), draw.tensor(2)),
        (draw.tensor(2, 2), draw.tensor(3, requires_grad=True)),
        (positive(draw, 2), positive(draw, requires_grad=True)),
        (draw.tensor(3, 2), draw.tensor(2, 2)),
        (draw.tensor(3), draw.tensor(2, 3, requires_grad=True)),
        (draw.tensor(), draw.tensor(2)),
        (draw.tensor(3), draw.tensor(1)),
    ):
        f = program(lambda x, c: c.exp() * 2, parameters=[c])
        want = torch.zeros(c.shape + x.shape, dtype=x.dtype)
        with drawing(partial(without_x, f, x.requires_grad_())):
            message = "the derivatives must all be 0"
            assert_jacobian(student, f, x, want=want, message=message, dtype=True)


def without_x(f: Any, x: Tensor) -> Any:
    """The graph of an f(x) that x is not in."""
    y = f(x)
    return graphs_figure(None, trace(y, {**shown(f, x), "f(x)": y}), at="f(x)")


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_a_constant_among_the_elements(student: Student, draw: RandomInputs) -> None:
    """a constant element of f(x) has a row of zeros"""
    f = program(lambda x, c: x.prod().stack(c * 2, (x**2).sum()), parameters=[draw.tensor()])
    assert_jacobian(student, f, draw.tensor(3, requires_grad=True))


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_the_jacobian_of_a_custom_function(student: Student, draw: RandomInputs) -> None:
    """f may use custom Functions"""
    w, u = draw.tensor(2, 3, low=-1.0), draw.tensor(3)
    for f in (
        program(lambda x, w: (w @ x).cube() + w @ x, parameters=[w]),
        program(lambda x, u: x.blend(u) * x.sum(), parameters=[u]),
    ):
        assert_jacobian(student, f, draw.tensor(3, requires_grad=True))


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_jacobians_of_strided_tensors(student: Student, draw: RandomInputs) -> None:
    """jacobian accepts float32 and non-contiguous tensors"""
    f = program(lambda x: (x**2 * x.exp()).t())
    assert_jacobian(student, f, draw.noncontiguous(2, 3, requires_grad=True))
    assert_jacobian(student, f, positive(draw, 2, 2, requires_grad=True), dtype=True)


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_jacobian_ignores_what_was_there(student: Student, draw: RandomInputs) -> None:
    """jacobian does not use x.grad or change x"""
    f, x, held = drawn_map(draw, 3, 2), draw.tensor(2, requires_grad=True), draw.tensor(2)
    want = torch.autograd.functional.jacobian(f, x.detach())
    seen = student.observe("derivatives", f, x, held)
    inputs = shown(f, x, **{"x.grad before": held})
    details = {"inputs": inputs, "facts": {"held": held}}
    assert_tensor(like(seen["got"], want), want, WRONG_JACOBIAN, **ROUGH, **details)
    assert_kept({"x": x.detach()}, seen, inputs=shown(f, x))


@check(points=0.25, about="jacobian", needs=JACOBIAN)
def test_the_jacobian_without_elements(student: Student, draw: RandomInputs) -> None:
    """jacobian accepts an empty x"""
    for c, shape in ((draw.tensor(draw.integer(2, 3)), (0,)), (draw.tensor(2, 3), (3, 0))):
        x = torch.empty(shape, dtype=c.dtype, requires_grad=True)
        assert_jacobian(student, program(lambda x, c: x.sum() * c, parameters=[c]), x, dtype=True)


# ------------------------------------------------------------------------------------ broadcast_dot

DOT = test_the_value_and_two_gradients


def require_dot(student: Student, x: Tensor, a: Tensor, b: Tensor, **options: Any) -> None:
    """Require what broadcast_dot returns; options as for ``assert_dot``."""
    assert_dot(student.broadcast_dot(x.requires_grad_(), a, b), x, a, b, **options)


@check(points=0.25, about="broadcast_dot", needs=DOT)
def test_the_dot_in_detail(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot returns a tuple; shapes, dtype, digits fit"""
    for dtype in (torch.float64, torch.float32):
        for size in (3, draw.integer(5, 9)):
            parts = (draw.tensor(*shape, low=0.3, dtype=dtype) for shape in ((), (size,), (size,)))
            require_dot(student, *parts, exact=True)


@check(points=0.5, about="broadcast_dot", needs=DOT)
def test_the_dot_ignores_what_was_there(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot does not use what x.grad held before"""
    for dtype in (torch.float64, torch.float32):
        x, a, b = (draw.tensor(*shape, low=0.3, dtype=dtype) for shape in ((), (3,), (3,)))
        held = draw.tensor(dtype=dtype)
        for seen in student.observe("dots", x.requires_grad_(), a, b, held, 1):
            assert_dot(seen["got"], x, a, b, held=held)


@check(points=0.25, about="broadcast_dot", needs=DOT)
def test_the_same_answer_every_time(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot can be called again and changes no argument"""
    x, a, b = draw.tensor(requires_grad=True), draw.tensor(3), draw.tensor(3)
    for seen in student.observe("dots", x, a, b, None, draw.integer(2, 4)):
        assert_dot(seen["got"], x, a, b)
        before = {"x": x.detach(), "a": a, "b": b}
        assert_kept(before, seen, inputs=before)


@check(points=0.25, about="broadcast_dot", needs=DOT)
def test_the_dot_of_any_length(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot accepts vectors of any length, and float32"""
    for dtype, size in (
        (torch.float64, 1),
        (torch.float32, draw.integer(4, 9)),
        (torch.float64, draw.integer(600, 3000)),
    ):
        parts = (draw.tensor(*shape, low=0.3, dtype=dtype) for shape in ((), (size,), (size,)))
        require_dot(student, *parts)


@check(points=0.25, about="broadcast_dot", needs=DOT)
def test_the_dot_of_strided_vectors(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot accepts non-contiguous vectors"""
    a, b = draw.noncontiguous(2, 4)[0], draw.noncontiguous(3, 4)[1]
    require_dot(student, draw.tensor(), a, b)
    require_dot(student, draw.tensor(), draw.tensor(1).expand(3), draw.tensor(3, 2)[:, 1])


@check(points=0.25, about="broadcast_dot", needs=DOT)
def test_the_dot_at_the_edges(student: Student, draw: RandomInputs) -> None:
    """broadcast_dot accepts x = 0 and empty vectors"""
    a, b = draw.tensor(3, low=0.3), draw.tensor(3, low=0.3)
    require_dot(student, torch.zeros_like(a[0]), a, b)
    require_dot(student, draw.tensor(), a[:0], b[:0])


# ------------------------------------------------------------------------------- complex_derivative

DERIVATIVE = test_the_derivative_of_a_complex_function


@check(points=0.25, about="complex_derivative", bonus=True, needs=DERIVATIVE)
def test_complex_tensors_of_every_kind(student: Student, draw: RandomInputs) -> None:
    """complex_derivative takes complex64, any shape and strides"""
    for z in (
        complex_leaf(draw),
        complex_leaf(draw, 2, 3, dtype=torch.complex64),
        complex_leaf(draw, draw.integer(2, 4), 3).detach().t().requires_grad_(),
    ):
        g = holomorphic(draw)
        assert_derivative(student.complex_derivative(g, z), g, z)
    g, z = holomorphic(draw, plus=1e15), complex_leaf(draw, 3)
    assert_derivative(student.complex_derivative(g, z), g, z, DIFFERENCES)


@check(points=0.25, about="complex_derivative", bonus=True, needs=DERIVATIVE)
def test_the_derivative_ignores_what_was_there(student: Student, draw: RandomInputs) -> None:
    """complex_derivative does not use z.grad or change z"""
    g, z, held = holomorphic(draw), complex_leaf(draw, 3), complex_leaf(draw, 3).detach()
    seen = student.observe("derivatives", g, z, held, "complex_derivative")
    assert_derivative(seen["got"], g, z, **{"z.grad before": held})
    after = {"z": seen["x"], "x.requires_grad": seen["x.requires_grad"]}
    assert_kept({"z": z.detach()}, after, inputs={"g": g, "z": z})
