"""vector_backward: rules that recognize common mistakes.

The rules for vjp ask for a small product whose wrong answers are easy to tell apart: W = [[1, 2],
[3, 4]] is the Jacobian of W @ x, and v = (1, 10) tells rows from columns, and both from their sum.
"""

from functools import partial

import torch

from grader.authoring import StudentCodeError, differs, program, raises, rule, same

W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
V = torch.tensor([1.0, 10.0], dtype=torch.float64)
PROBE = program(lambda x, w: w @ x, parameters=[W])

SECOND_TIME = "backward through the graph a second time"
NO_PATH = (
    "does not require grad and does not have a grad_fn",
    "appears to not have been used in the graph",
    "NoneType",
    "but got None",
    "expected Tensor as element",
)


def agrees(left, right):
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def ones(*shape):
    return torch.ones(shape, dtype=torch.float64, requires_grad=True)


def raises_one_of(*fragments, check=None):
    """Make a rule for an exception with one of these in its text, in one check if that is given."""

    def recognize(failure, student):
        if check not in (None, failure.check) or failure.error is None:
            return None
        found = any(failure.raised(text) for text in fragments)
        return {"said": failure.error.message.splitlines()[0].rstrip(".")} if found else None

    return rule(recognize)


def product_is(wrong):
    """Make a rule for a vjp that answers for W @ x with ``wrong(v)``, whatever v is."""

    def recognize(failure, student):
        if failure.error is not None:
            return None
        try:
            found, other = (
                student.observe("product", PROBE, ones(2), v)["result"] for v in (V, -0.5 * V)
            )
        except StudentCodeError:
            return None
        right = agrees(found, wrong(V)) and agrees(other, wrong(-0.5 * V))
        return {"probed": found} if right else None

    return rule(recognize)


def on_rows(recognize):
    """Make a rule from a function of the right rows, one for each element of f(x), of the tensor
    that came back, the failure and the student.
    """

    def asked(failure, student):
        want, got = failure.expected, failure.actual
        if not isinstance(want, torch.Tensor) or not isinstance(got, torch.Tensor):
            return None
        if failure.error is not None or not want.numel():
            return None
        rows = want.reshape(-1, *failure.inputs["x"].shape)
        return recognize(rows, got, failure, student)

    return rule(asked)


def on_triple(name, recognize):
    """Make a rule for a failure of one result of broadcast_dot, from a function of all three, of
    the right ones, the failure and the student.
    """

    def asked(failure, student):
        got, want = failure.facts.get("got"), failure.facts.get("want")
        if failure.facts.get("name") != name or not isinstance(got, tuple) or len(got) != 3:
            return None
        return recognize(got, want, failure, student)

    return rule(asked)


def dz_dx_is(wrong):
    """Make a rule for a dz/dx that is ``wrong(right, held, a, b)`` and not the right one."""

    def recognize(got, want, failure, student):
        held = failure.inputs.get("x.grad before")
        guess = wrong(want[1], held, failure.inputs["a"], failure.inputs["b"])
        return {} if agrees(got[1], guess) and not agrees(guess, want[1]) else None

    return on_triple("dz/dx", recognize)


def arrivals(student):
    return student.observe("arrivals", PROBE, ones(2))


vector_missing = raises("RuntimeError", "implicitly created only for scalar")

vector_ignored = product_is(lambda v: W.sum(0))
vector_applied_afterwards = product_is(lambda v: W.sum(0) * v)
jacobian_times_vector = product_is(lambda v: W @ v)


@rule
def writes_to_x_grad(failure, student):
    """What failed is x.grad itself, or the result is the old x.grad plus the product; and a
    backward added to x.grad: to assign to it is another mistake.
    """
    facts = failure.facts
    if "held" not in facts or not facts.get("added"):
        return None
    held = facts["held"]
    if held is None:
        left = failure.expected is None and agrees(facts["grad"], facts["want"])
        return {} if left else None
    counted = agrees(facts["result"], facts["want"] + held)
    return {} if counted or agrees(failure.expected, held) else None


@rule
def sum_of_no_tensors(failure, student):
    is_int = failure.facts.get("type") == "int"
    return {} if is_int and failure.check == "test_vjp_without_elements" else None


@rule
def frees_the_graph(failure, student):
    further = failure.facts.get("further")
    return {} if isinstance(further, str) and SECOND_TIME in further else None


path_to_x_taken_for_granted = raises_one_of(*NO_PATH, check="test_the_jacobian_of_a_constant")
rows_free_the_graph = raises("RuntimeError", SECOND_TIME)
transform_meets_custom_function = raises_one_of("functorch transforms", "jvp function for custom")


def answers(student, f, x):
    try:
        student.jacobian(f, x)
    except StudentCodeError:
        return False
    return True


@rule
def empty_shape_unpacked(failure, student):
    sizes = ('arguments: "size"', 'arguments: "shape"', "combination of arguments - got ()")
    if not any(failure.raised("TypeError", text) for text in sizes):
        return None
    one_is_0d = (
        (program(lambda x: x.expand(2) * 2), ones()),
        (program(lambda x: x.sum()), ones(2)),
    )
    return {} if all(answers(student, f, x) for f, x in one_is_0d) else None


@on_rows
def rows_added_up(rows, got, failure, student):
    total = rows.sum(0)
    if len(rows) < 2 or not differs(total.expand_as(rows), rows):
        return None  # all of them zeros: a sum of rows and the rows look alike
    if agrees(got, total):
        return {}
    if not agrees(got, total.expand_as(rows).reshape(failure.expected.shape)):
        return None
    return {} if arrivals(student)["added"] < 2 else None


@on_rows
def rows_pile_up(rows, got, failure, student):
    """Running totals, the last row or total in each row, or the gradient from before."""
    if got.shape != failure.expected.shape:
        return None
    held = failure.facts.get("held")
    first = torch.zeros_like(rows[0]) if held is None else held
    totals = rows.cumsum(0) + first
    wrong = (
        totals,
        totals[-1].expand_as(rows),
        rows[-1].expand_as(rows),
        rows + first,
        torch.cat([rows[:1] + first, rows[1:]]),
    )
    found = any(agrees(got.reshape(rows.shape), one) and differs(one, rows) for one in wrong)
    # The same values come from a v that is not cleared, but then nothing is added to a .grad.
    return {} if found and arrivals(student)["added"] else None


@on_rows
def axes_turned_round(rows, got, failure, student):
    """The values with the dimensions of x first, in that shape or in the right one."""
    want, dims = failure.expected, failure.inputs["x"].dim()
    turned = want.permute(*range(want.dim() - dims, want.dim()), *range(want.dim() - dims))
    for guess in (turned, turned.reshape(want.shape)):
        if agrees(got, guess) and not agrees(guess, want):
            return {"shape": str(tuple(got.shape))}
    return None


@on_rows
def numerical_differences(rows, got, failure, student):
    """Nearly right, everywhere, or wrong where differences lose their digits, and no gradient ever
    arrived at x.
    """
    if got.shape != failure.expected.shape or got.dtype is not rows.dtype:
        return None
    size, off = rows.abs().max().item(), (got - failure.expected).abs().max().item()
    near = 0 < off < 0.01 * size or failure.check == "test_the_jacobian_is_differentiated"
    if not near or arrivals(student)["arrived"]:
        return None
    return {"off": off, "size": size}


@rule
def shape_of_y_left_out(failure, student):
    got = failure.actual
    if failure.check != "test_the_jacobian_without_elements" or not isinstance(got, torch.Tensor):
        return None
    return {"shape": str(tuple(got.shape))} if got.shape == failure.inputs["x"].shape else None


first_gradient_frees_the_graph = raises("RuntimeError", SECOND_TIME)


@partial(on_triple, "dz/dy")
def only_a_leaf_keeps_grad(got, want, failure, student):
    """None for dz/dy, and a .grad that was read of a tensor that keeps none, or too early."""
    if got[2] is not None or not isinstance(got[1], torch.Tensor):
        return None
    seen = student.observe("sought", ones(), V, 2 * V)
    return {} if seen["read"] or seen["late"] else None


@partial(on_triple, "dz/dx")
def gradients_exchanged(got, want, failure, student):
    swapped = agrees(got[1], want[2]) and agrees(got[2], want[1])
    return {"first": got[1], "second": got[2]} if swapped else None


counts_grad_from_before = dz_dx_is(
    lambda right, held, a, b: right if held is None else right + held
)
paths_not_added_up = dz_dx_is(lambda right, held, a, b: a * b)
incoming_gradient_left_out = dz_dx_is(lambda right, held, a, b: a.sum())
