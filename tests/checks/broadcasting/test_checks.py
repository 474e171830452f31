"""broadcasting's checks. Those below the line "hidden" are not handed out."""

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
    assert_that,
    assert_tuple,
    check,
    check_of,
    same,
    under_test,
)

LENDS = "sum_to"
"""Others use one without mistakes: a mistake in the student's has checks of its own."""
Shape = tuple[int, ...]
HERE = InCheck()
NEAR = {torch.float64: {"rtol": 1e-5, "atol": 1e-5}, torch.float32: {"rtol": 1e-3, "atol": 1e-4}}
"""The tolerance of checks that ask for something else than digits."""


def scaled(
    draw: RandomInputs, *_: int, dtype: torch.dtype = torch.float64, shapes: Any = ((4,), (3, 4))
) -> tuple[Tensor, ...]:
    """A row and a matrix that require grad, and v; no number is near 1."""
    row, matrix = (
        draw.tensor(*shape, low=0.3, dtype=dtype) * draw.choice([1.5, -1.5]) for shape in shapes
    )
    v = draw.tensor(*torch.broadcast_shapes(*shapes), dtype=dtype)
    return row.requires_grad_(), matrix.requires_grad_(), v


def layered(
    draw: RandomInputs,
    *_: int,
    dtype: torch.dtype = torch.float64,
    batch: Shape = (4,),
    n: int = 3,
    m: int = 2,
) -> tuple[Tensor, ...]:
    """x, w and b that require grad, and v."""
    shapes = (*batch, n), (m, n), (m,)
    inputs = [draw.tensor(*shape, dtype=dtype, requires_grad=True) for shape in shapes]
    return *inputs, draw.tensor(*batch, m, dtype=dtype)


MESSAGES = {
    "constant": "if only {which} requires grad, its gradient is wrong",
    "shape": "for these shapes, the gradient with respect to {which} is wrong",
}
Scale = under_test(
    "Scale.apply", torch.mul, inputs="row matrix", draws=scaled, near=NEAR, messages=MESSAGES
)
Affine = under_test(
    "Affine.apply",
    torch.nn.functional.linear,
    inputs="x w b",
    draws=layered,
    near=NEAR,
    messages=MESSAGES,
)


def assert_own_work(
    student: Student, path: str, args: list[Any], wants: Sequence[Tensor] = (), v: Any = None
) -> None:
    """Require that neither sum_to_size nor autograd does the work, not even where no check can see
    it, and that the results are right meanwhile.
    """
    name = path.partition(".")[0]
    used = student.source.names_used(name).items()
    if name != "sum_to":
        used -= student.source.names_used("sum_to").items()
    message = "{function} uses {used}, which does what this lesson is about"
    for one, line in used:
        facts = {"function": name, "used": one}
        assert_that("sum_to_size" not in one, message, facts=facts, line=line)
    seen = student.observe("helpers", path, args, v)
    assert_that(not seen["sums"], message, facts={"function": name, "used": "sum_to_size"})
    facts = {"function": name, "nodes": ", ".join(seen["nodes"])}
    message = "{function} lets autograd compute the gradient: {nodes} ran"
    assert_that(not seen["nodes"], message, facts=facts)
    message = "{function} uses numbers that were computed where no check can see it"
    assert_that(not Scale.hides(seen, name), message, facts={"function": name})
    assert_same(name, seen["found"], wants)


def assert_same(name: str, found: Sequence[Any], wants: Sequence[Tensor]) -> None:
    """Require what was found while operators were seen."""
    right = all(map(partial(same, rtol=1e-5, atol=1e-5), found, wants))
    message = "{function} does something else while a check sees torch's operators"
    assert_that(right and len(found) >= len(wants), message, facts={"function": name})


# ------------------------------------------------------------------------------------------- sum_to


def truth(gradient: Tensor, shape: Shape) -> Tensor:
    leaf = torch.zeros(shape, dtype=gradient.dtype, requires_grad=True)
    (want,) = torch.autograd.grad(leaf.expand(gradient.shape), leaf, gradient)
    return want


def assert_summed(student: Student, gradient: Tensor, shape: Shape, **near: float) -> None:
    """Require what sum_to returns, in this shape and dtype."""
    want = truth(gradient, shape)
    with student.writing_allowed():  # is checked below
        got = student.sum_to(gradient.clone() if gradient.is_contiguous() else gradient, shape)
    inputs = {"gradient": gradient, "shape": shape}
    facts = {"from": str(tuple(gradient.shape)), "to": str(shape)}
    message = "sum_to(gradient, shape) is wrong for a gradient of shape {from} and shape = {to}"
    allowed = near or NEAR[gradient.dtype]
    assert_gradient(got, want, message, inputs=inputs, facts=facts, **allowed)


def sums(
    points: float, title: str, cases: Callable[[int], list[tuple[Shape, Shape]]]
) -> Callable[..., None]:
    """Return a check of sum_to for these shapes, which get a size of 3 or more."""

    def part() -> None:
        pairs = cases(HERE.draw.integer(3, 5))
        for wide, shape in pairs:
            assert_summed(HERE.student, HERE.draw.tensor(*wide), shape)
        gradient, shape = HERE.draw.tensor(*pairs[0][0]), pairs[0][1]
        assert_own_work(HERE.student, "sum_to", [gradient, shape], [truth(gradient, shape)])

    return check_of([part], title, check(points=points, about="sum_to"))


@check(points=0.25, about="sum_to")
def test_a_gradient_of_the_right_shape(student: Student, draw: RandomInputs) -> None:
    """nothing is summed if the shape is right already"""
    _ = student.sum_to  # a file without it is told so
    assert_own_work(student, "sum_to", [draw.tensor(2, 3), (3,)])
    for shape in ((3,), (2, 3)):
        assert_summed(student, draw.tensor(*shape), shape)


test_dimensions_that_shape_lacks = sums(
    0.75,
    "leading dimensions that shape lacks are summed",
    lambda m: [((2, m), (m,)), ((3, 3), (3,)), ((2, 2, m), (m,)), ((2, 2, m), (2, m))],
)
test_dimensions_of_size_one = sums(
    0.75,
    "dimensions of size 1 are summed and stay",
    lambda m: [((2, m), (2, 1)), ((2, m), (1, m)), ((3, 3), (3, 1)), ((2, 2, m), (2, 1, m))],
)


# -------------------------------------------------------------------------------------------- Scale


@check(points=0.25, about="Scale", at="Scale.forward")
def test_scale_returns_the_product(student: Student, draw: RandomInputs) -> None:
    """Scale returns row * matrix"""
    Scale.right_value()
    row, column = draw.tensor(3), draw.tensor(2, 1)
    Scale.value(row, column)


@check(points=1, about="Scale", at="Scale.backward", needs=test_scale_returns_the_product)
def test_scale_of_a_row_and_a_matrix(student: Student, draw: RandomInputs) -> None:
    """both gradients are right for a row and a matrix"""
    for rows, columns in ((3, 4), (3, 3)):
        row, matrix, v = scaled(draw, shapes=((columns,), (rows, columns)))
        Scale.gradient(row, matrix, v)
    Scale.own_backward(row, matrix, v)
    wants = torch.autograd.grad(row * matrix, (row, matrix), v)
    assert_own_work(student, Scale.path, [row, matrix], wants, v)


# ------------------------------------------------------------------------------------------- Affine


@check(points=0.25, about="Affine", at="Affine.forward")
def test_affine_returns_the_layer(student: Student, draw: RandomInputs) -> None:
    """Affine returns x @ w.T + b"""
    for batch in ((4,), (3,)):
        *inputs, _ = layered(draw, batch=batch, n=3, m=3 if batch == (3,) else 2)
        Affine.value(*(one.detach() for one in inputs))


@check(points=0.75, about="Affine", at="Affine.backward", needs=test_affine_returns_the_layer)
def test_affine_of_one_batch_dimension(student: Student, draw: RandomInputs) -> None:
    """the three gradients are right for a matrix x"""
    inputs = layered(draw)
    Affine.gradient(*inputs)
    Affine.own_backward(*inputs)
    *leaves, v = inputs
    wants = torch.autograd.grad(Affine.truth(*leaves), leaves, v)
    assert_own_work(student, Affine.path, leaves, wants, v)


AFFINE = test_affine_of_one_batch_dimension


# --------------------------------------------------------------------------------- einsum_gradients


def assert_einsum(
    student: Student, draw: RandomInputs, equation: str, dtype: torch.dtype = torch.float64
) -> None:
    """Require both gradients of an equation, for sizes that are drawn."""
    operands, result = equation.split("->")
    letters = [*dict.fromkeys(operands.replace(",", ""))]
    size = dict(zip(letters, draw.sample([2, 3, 4, 5], len(letters)), strict=True))
    a, b = (
        draw.tensor(*(size[one] for one in each), dtype=dtype, requires_grad=True)
        for each in operands.split(",")
    )
    v = draw.tensor(*(size[one] for one in result), dtype=dtype)
    wants = torch.autograd.grad(torch.einsum(equation, a, b), (a, b), v)
    inputs = {"equation": equation, "a": a.detach(), "b": b.detach(), "gradient": v}
    with student.writing_allowed():
        got = student.einsum_gradients(
            *(one.clone() if isinstance(one, Tensor) else one for one in inputs.values())
        )
    assert_tuple(got, 2, lists=True, inputs=inputs)
    message = "for {equation}, the gradient with respect to {which} is wrong"
    for which, one, want in zip("ab", got, wants, strict=True):
        facts = {"equation": equation, "which": which}
        assert_gradient(one, want, message, inputs=inputs, facts=facts)


@check(points=0.5, about="einsum_gradients", bonus=True)
def test_einsum_of_matrices(student: Student, draw: RandomInputs) -> None:
    """einsum_gradients is right for products of matrices"""
    _ = student.einsum_gradients
    for equation in ("ij,jk->ik", "ij,j->i", "i,j->ij", "ij,ij->ij"):
        assert_einsum(student, draw, equation)
    a, b, v = draw.tensor(2, 3), draw.tensor(3, 4), draw.tensor(2, 4)
    assert_own_work(student, "einsum_gradients", ["ij,jk->ik", a, b, v], [v @ b.T, a.T @ v])


# hidden


EINSUM = test_einsum_of_matrices

# ------------------------------------------------------------------------------------------- sum_to

test_lacking_dimensions_and_size_one = sums(
    0.5,
    "missing dimensions and those of size 1 are summed together",
    lambda m: [((2, 2, m), (2, 1)), ((2, 2, m), (1, m)), ((2, 2, 2, m), (2, 1, m))],
)
test_one_number = sums(
    0.25,
    "a shape of one element gets the sum of all",
    lambda m: [
        ((2, m), ()),
        ((2, m), (1,)),
        ((2, m), (1, 1)),
        ((1, 1), (1,)),
        ((), ()),
        ((0,), (1,)),
    ],
)


@check(points=0.25, about="sum_to")
def test_other_gradients(student: Student, draw: RandomInputs) -> None:
    """empty, transposed and float32 gradients work"""
    for gradient in (
        torch.empty((0, 4), dtype=torch.float64),
        draw.noncontiguous(3, 4),
        draw.tensor(3, 4, dtype=torch.float32),
    ):
        for shape in (gradient.shape, (4,)):
            assert_summed(student, gradient, shape)
    gradient = draw.tensor(9, 40, digits=None)
    assert_summed(student, gradient, (40,), rtol=1e-8, atol=1e-8)
    assert_own_work(student, "sum_to", [gradient, (40,)], [gradient.sum(0)])


@check(points=0.25, about="sum_to", needs=test_dimensions_that_shape_lacks)
def test_gradient_stays(student: Student, draw: RandomInputs) -> None:
    """gradient is left alone"""
    gradient = draw.tensor(3, 4)
    assert_own_work(student, "sum_to", [gradient, (4,)])
    for shape in ((4,), (3, 1), (3, 4)):
        draw.given(gradient=gradient, shape=shape)
        with student.writing_allowed() as copies:
            student.sum_to(gradient, shape)
            assert_equal(copies.of(gradient), gradient, "sum_to changed the values of gradient")


# -------------------------------------------------------------------------------------------- Scale

SCALE = test_scale_of_a_row_and_a_matrix


@check(points=0.5, about="Scale", at="Scale.backward", needs=SCALE)
def test_scale_of_other_shapes(student: Student, draw: RandomInputs) -> None:
    """a row of shape (1, n) and a column work, too"""
    for shapes in (
        ((1, 4), (3, 4)), ((4,), (3, 1)), ((1, 3), (3, 1)), ((4,), (1, 4)), ((1,), (3, 1)),
    ):  # fmt: skip
        Scale.gradient(*scaled(draw, shapes=shapes), says="shape")


def assert_own_sums(suite: under_test, inputs: tuple[Tensor, ...]) -> None:
    """Require that backward returns each gradient in the shape of its input."""
    *leaves, v = inputs
    seen = suite.student.observe("handed_back", suite.path, leaves, v, 1.0)
    message = (
        "backward returned a gradient of shape {shape} for {which}, which has shape"
        " {expected_shape}; the engine summed it"
    )
    for which, leaf, got in zip(suite.inputs, leaves, seen["shapes"], strict=False):
        want = tuple(leaf.shape)
        facts = {"which": which, "shape": str(got), "expected_shape": str(want)}
        assert_equal(
            got, want, message, inputs=dict(zip(suite.inputs, leaves, strict=True)), facts=facts
        )


@check(points=0.5, about="Scale", at="Scale.backward", needs=SCALE)
def test_scale_sums_by_itself(student: Student, draw: RandomInputs) -> None:
    """Scale.backward itself sums the gradients"""
    for shapes in (((4,), (3, 4)), ((4,), (3, 1)), ((1,), (3, 1))):
        assert_own_sums(Scale, scaled(draw, shapes=shapes))


@check(points=0.25, about="Scale", at="Scale.backward", needs=SCALE)
def test_scale_of_other_tensors(student: Student, draw: RandomInputs) -> None:
    """empty, transposed and float32 tensors work with Scale"""
    Scale.gradient(*scaled(draw, shapes=((4,), (0, 4))), says="empty")
    assert_other_tensors(Scale)


def turned(inputs: tuple[Tensor, ...]) -> list[Tensor]:
    """The same numbers; matrices lie in memory as transposed ones do."""
    return [
        one.detach().mT.contiguous().mT.requires_grad_(one.requires_grad) if one.dim() > 1 else one
        for one in inputs
    ]


def assert_other_tensors(suite: under_test) -> None:
    """Require gradients for transposed tensors, in float32, and in all digits of float64."""
    suite.gradient(*turned(suite.drawn()), says="transposed")
    suite.gradient(*suite.drawn(dtype=torch.float32))
    *inputs, v = suite.drawn()
    exact = [(one.detach() * torch.pi / 3).requires_grad_() for one in inputs]
    near = {"rtol": 1e-8, "atol": 1e-8}
    suite.gradient(*exact, v, value_near=near, **near)


def apart(suite: under_test) -> tuple[Callable[[], object], ...]:
    return (suite.calls_apart, suite.linear, suite.leaves_tensors)


def saving(suite: under_test) -> tuple[Callable[[], object], ...]:
    return (suite.saves, suite.backward_again, suite.notices_changes)


test_scale_leaves_others_alone = Scale.check(
    0.25,
    "calls of Scale do not affect each other or their inputs",
    *apart(Scale),
    Scale.constants,
    needs=SCALE,
)
test_scale_saves_for_backward = Scale.check(
    0.25, "Scale saves its tensors with save_for_backward", *saving(Scale), needs=SCALE
)

# ------------------------------------------------------------------------------------------- Affine


@check(points=0.75, about="Affine", at="Affine.backward", needs=AFFINE)
def test_affine_of_several_batch_dimensions(student: Student, draw: RandomInputs) -> None:
    """several batch dimensions work"""
    for batch in ((2, 3), (2, 1, 4), (3, 3)):
        inputs = layered(draw, batch=batch, n=3 if batch == (3, 3) else 2, m=3)
        Affine.gradient(*inputs, says="shape")
        assert_own_sums(Affine, inputs)


@check(points=0.5, about="Affine", at="Affine.backward", needs=AFFINE)
def test_affine_of_a_vector(student: Student, draw: RandomInputs) -> None:
    """an x without a batch dimension works"""
    for n, m in ((3, 2), (3, 3), (1, 2)):
        Affine.gradient(*layered(draw, batch=(), n=n, m=m), says="shape")


@check(points=0.5, about="Affine", at="Affine.backward", needs=AFFINE)
def test_affine_sums_by_itself(student: Student, draw: RandomInputs) -> None:
    """Affine.backward itself sums the gradients"""
    assert_own_sums(Affine, layered(draw))


@check(points=0.5, about="Affine", at="Affine.backward", needs=AFFINE)
def test_affine_computes_what_is_needed(student: Student, draw: RandomInputs) -> None:
    """only gradients that are needed are computed"""
    *inputs, v = layered(draw, batch=(6,), n=5, m=7)  # no two tensors have as many elements
    for needed in ((0,), (1,), (2,), (0, 1), (0, 2), (1, 2)):
        given = [one if k in needed else one.detach() for k, one in enumerate(inputs)]
        draw.given(**dict(zip(Affine.inputs, given, strict=True)))
        seen = student.observe("work", Affine.path, given, v)
        for k, which in enumerate(Affine.inputs):
            facts = {"which": which, "asked": ", ".join(Affine.inputs[j] for j in needed)}
            got = seen["shapes"][k]
            wanted = k in needed
            message = "only {asked} requires grad, and backward returned a gradient for {which}"
            assert_that(wanted or got is None, message, facts=facts)
            message = "{which} requires grad, and backward returned None for it"
            assert_that(not wanted or got is not None, message, facts=facts)
            message = "only {asked} requires grad, and backward computed a gradient for {which}"
            idle = wanted or k == 2 or given[k].numel() not in seen["sizes"]
            assert_that(idle, message, facts=facts)
        leaves = [given[k] for k in needed]
        assert_same("Affine", seen["found"], torch.autograd.grad(Affine.truth(*given), leaves, v))
    Affine.constants()


@check(points=0.25, about="Affine", at="Affine.backward", needs=AFFINE)
def test_affine_of_other_tensors(student: Student, draw: RandomInputs) -> None:
    """one output, transposed and float32 tensors work with Affine"""
    Affine.gradient(*layered(draw, m=1), says="shape")
    assert_other_tensors(Affine)
    Affine.gradient(*turned(layered(draw, batch=(2, 3))), says="transposed")


test_affine_leaves_others_alone = Affine.check(
    0.25, "calls of Affine do not affect each other or their inputs", *apart(Affine), needs=AFFINE
)
test_affine_saves_for_backward = Affine.check(
    0.25, "Affine saves its tensors with save_for_backward", *saving(Affine), needs=AFFINE
)

# --------------------------------------------------------------------------------- einsum_gradients


@check(points=0.25, about="einsum_gradients", bonus=True, needs=EINSUM)
def test_einsum_of_a_letter_that_is_summed_alone(student: Student, draw: RandomInputs) -> None:
    """a letter that only one operand has may be summed"""
    for equation in ("ij,k->k", "ij,jk->k", "ij,j->", "i,jik->k", "ij,i->i"):
        assert_einsum(student, draw, equation)


@check(points=0.25, about="einsum_gradients", bonus=True, needs=EINSUM)
def test_einsum_of_other_equations(student: Student, draw: RandomInputs) -> None:
    """batches, numbers, other orders and float32 work"""
    for equation in ("bij,bjk->bik", "ij,kj->ki", ",ij->ij", "i,i->", ",->", "ba,bc->ca"):
        for dtype in (torch.float64, torch.float32):
            assert_einsum(student, draw, equation, dtype)
