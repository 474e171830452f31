"""The mistakes that people make with a vector and a Jacobian, each recognised by what comes back.

The rules for vjp ask the student about one small product (``PROBE``), since its wrong answers are
easy to read: W = [[1, 2], [3, 4]] is the Jacobian of W @ x, and v = (1, 10) tells rows from columns
and each of them from their sum.
"""

import torch

from grader.authoring import StudentCodeError, differs, program, rule, same

ALL = ("vjp", "jacobian", "broadcast_dot")
W = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
V = torch.tensor([1.0, 10.0], dtype=torch.float64)
PROBE = program(lambda x, w: w @ x, parameters=[W])
SPREAD = program(lambda x, c: x * c, parameters=[V])
TOTAL = program(lambda x: x.sum())
CONSTANT = program(lambda x, c: c * 2, parameters=[V])
LEARNED = program(lambda x, c: c * 2, parameters=[V.clone().requires_grad_()])

NOT_SCALAR = "implicitly created only for scalar"
SECOND_TIME = "backward through the graph a second time"
NO_PATH = (
    "does not require grad and does not have a grad_fn",
    "appears to not have been used in the graph",
)
NO_TENSOR = ("NoneType", "but got None", "expected Tensor as element")
TRANSFORMED = ("functorch transforms", "jvp function for custom")


def agrees(left, right):
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def said(failure):
    """The exception as a part of a sentence, and its line."""
    return {"raised": str(failure.error).rstrip("."), "line": str(failure.error.line)}


def raised_any(failure, fragments):
    """Whether the student's code raised with one of these in the text."""
    return any(failure.raised(fragment) for fragment in fragments)


def ones(*shape):
    """An x."""
    return torch.ones(shape, dtype=torch.float64, requires_grad=True)


def probed(student, v=V):
    """What vjp answers for W @ x and v = (1, 10), where the right answer is (31, 42); None where it
    raises.
    """
    try:
        return student.observe("product", PROBE, ones(2), v)["result"]
    except StudentCodeError:
        return None


def rows_of(failure):
    """The right Jacobian of the failed check with the elements of f(x) in one dimension, and what
    came back; or a pair of None.
    """
    x, want = failure.inputs.get("x"), failure.expected
    if (
        failure.about != "jacobian"
        or not isinstance(want, torch.Tensor)
        or not isinstance(failure.actual, torch.Tensor)
    ):
        return None, None
    return want.reshape(-1 if want.numel() else 0, *x.shape), failure.actual


def triple(failure):
    """The three results of broadcast_dot and the three right ones, or a pair of triples of None."""
    got, want = failure.facts.get("got"), failure.facts.get("want")
    if failure.about != "broadcast_dot" or not isinstance(got, tuple) or len(got) != 3:
        return (None,) * 3, (None,) * 3
    return got, want


# ---------------------------------------------------------------------------------------- all three


@rule
def vector_missing(failure, student):
    """torch refuses to start."""
    return said(failure) if failure.raised("RuntimeError", NOT_SCALAR) else None


# ---------------------------------------------------------------------------------------------- vjp


@rule
def vector_ignored(failure, student):
    """The gradient of y.sum(), for a v of other signs and sizes as well."""
    found = probed(student) if failure.about == "vjp" else None
    return (
        {"probed": found}
        if agrees(found, W.sum(0)) and agrees(probed(student, -0.5 * V), W.sum(0))
        else None
    )


@rule
def vector_applied_afterwards(failure, student):
    """The gradient of y.sum(), times v; right only where each element of y depends on its own
    element of x.
    """
    found = probed(student) if failure.about == "vjp" else None
    return {"probed": found} if agrees(found, W.sum(0) * V) else None


@rule
def jacobian_times_vector(failure, student):
    """The product from the other side."""
    found = probed(student) if failure.about == "vjp" else None
    return {"probed": found} if agrees(found, W @ V) else None


@rule
def writes_to_x_grad(failure, student):
    """x.grad is another one afterwards, and a backward did add to it; to assign to it is another
    matter.
    """
    if (
        failure.about != "vjp"
        or not {"held", "grad"} <= set(failure.facts)
        or not failure.facts["added"]
    ):
        return None
    held, grad = failure.facts["held"], failure.facts["grad"]
    changed = grad is not None if held is None else not agrees(grad, held)
    return {} if changed else None


@rule
def frees_the_graph(failure, student):
    """A further differentiation raises."""
    further = failure.facts.get("further")
    return (
        {"further": further}
        if failure.about == "vjp" and isinstance(further, str) and SECOND_TIME in further
        else None
    )


# ----------------------------------------------------------------------------------------- jacobian


@rule
def path_to_x_taken_for_granted(failure, student):
    """An exception about a graph without x in it, or about the None in place of a gradient; and
    none where x is in the graph.
    """
    if failure.check != "test_the_jacobian_of_a_constant" or not raised_any(
        failure, NO_PATH + NO_TENSOR
    ):
        return None
    return (
        said(failure)
        if answers(student, PROBE)
        and not (answers(student, CONSTANT) and answers(student, LEARNED))
        else None
    )


def answers(student, f, *, at=(2,)):
    """Whether jacobian returns anything for f at an x of a shape, or raises."""
    try:
        student.jacobian(f, ones(*at))
    except StudentCodeError:
        return False
    return True


@rule
def empty_shape_unpacked(failure, student):
    """A TypeError about missing sizes where x is 0-d and f(x) as well, and only there."""
    nothing_given = (
        'missing 1 required positional arguments: "size"',
        'arguments: "shape"',
        "combination of arguments - got ()",
    )
    if not failure.raised("TypeError") or not raised_any(failure, nothing_given):
        return None
    if not answers(student, SPREAD, at=()) or not answers(student, TOTAL):
        return None  # the shape of one of the two was unpacked
    return {
        **said(failure),
        "raised": str(failure.error).splitlines()[0].split(", but expected")[0],
    }


@rule
def rows_free_the_graph(failure, student):
    """The second row raises."""
    return (
        said(failure)
        if failure.about == "jacobian" and failure.raised("RuntimeError", SECOND_TIME)
        else None
    )


@rule
def transform_meets_custom_function(failure, student):
    """torch.func refuses a Function without setup_context, forward mode one without jvp."""
    return (
        said(failure) if failure.about == "jacobian" and raised_any(failure, TRANSFORMED) else None
    )


@rule
def rows_added_up(failure, student):
    """The gradient of f(x).sum()."""
    rows, got = rows_of(failure)
    if rows is None or rows.shape[0] < 2:
        return None
    total = rows.sum(0)
    if not differs(total.expand_as(rows), rows):
        return None  # all of them zeros: a sum of rows and the rows look alike
    if agrees(got, total):
        return {}
    if got.shape != failure.expected.shape or not agrees(
        got.reshape(rows.shape), total.expand_as(rows)
    ):
        return None
    return {} if student.observe("arrivals", PROBE, ones(2))["added"] < 2 else None


@rule
def rows_pile_up(failure, student):
    """Running totals, the last row or total in each row, or the gradient from before."""
    rows, got = rows_of(failure)
    if rows is None or got.shape != failure.expected.shape or not rows.numel():
        return None
    got = got.reshape(rows.shape)
    held = failure.facts.get("held")
    first = torch.zeros_like(rows[0]) if held is None else held
    totals = rows.cumsum(0) + first
    wrong = [
        totals,
        totals[-1].expand_as(rows),
        rows[-1].expand_as(rows),
        rows + first,
        torch.cat([rows[:1] + first, rows[1:]]),
    ]
    if not any(agrees(got, guess) and differs(guess, rows) for guess in wrong):
        return None
    return (
        {} if student.observe("arrivals", PROBE, ones(2))["added"] else None
    )  # rows of autograd.grad go wrong in other ways


@rule
def axes_turned_round(failure, student):
    """The Jacobian with the dimensions of x before those of y."""
    rows, got = rows_of(failure)
    if rows is None:
        return None
    x, want = failure.inputs["x"], failure.expected
    leading = want.dim() - x.dim()
    turned = want.permute(*range(leading, want.dim()), *range(leading))
    if turned.shape == want.shape and not differs(turned, want):
        return None
    return {"shape": str(tuple(got.shape))} if agrees(got, turned) else None


@rule
def shape_of_a_matrix(failure, student):
    """The right numbers in the right order, in another shape."""
    rows, got = rows_of(failure)
    if (
        rows is None
        or got.shape == failure.expected.shape
        or got.numel() != rows.numel()
        or not rows.numel()
    ):
        return None
    x = failure.inputs["x"].shape
    y = failure.expected.shape[: failure.expected.dim() - len(x)]
    if got.shape not in ((*ys, *xs) for ys in (y, (y.numel(),)) for xs in (x, (x.numel(),))):
        return None
    shapes = {"shape": got, "x_shape": failure.inputs["x"], "expected_shape": failure.expected}
    return (
        {name: str(tuple(tensor.shape)) for name, tensor in shapes.items()}
        if agrees(got.flatten(), rows.flatten())
        else None
    )


@rule
def numerical_differences(failure, student):
    """Nearly right, everywhere, and no gradient ever arrived at x."""
    rows, got = rows_of(failure)
    if (
        rows is None
        or got.shape != failure.expected.shape
        or got.dtype is not rows.dtype
        or not rows.numel()
    ):
        return None
    size, off = rows.abs().max().item(), (got - failure.expected).abs().max().item()
    if not 0 < off < 0.01 * size or student.observe("arrivals", PROBE, ones(2))["arrived"]:
        return None
    return {"off": off, "size": size}


# ------------------------------------------------------------------------------------ broadcast_dot


@rule
def only_a_leaf_keeps_grad(failure, student):
    """None for dz/dy, a tensor for dz/dx, and a .grad that was read of a tensor which keeps none,
    or kept it too late.
    """
    got, _ = triple(failure)
    if got[2] is not None or not isinstance(got[1], torch.Tensor):
        return None
    seen = student.observe("sought", ones(), V, 2 * V)
    return {} if seen["read"] or seen["late"] else None


@rule
def first_gradient_frees_the_graph(failure, student):
    """A second pass through the graph of z raises."""
    return said(failure) if failure.raised("RuntimeError", SECOND_TIME) else None


@rule
def gradients_exchanged(failure, student):
    """dz/dx stands where dz/dy should, and the other way round."""
    if failure.error is not None:
        return None
    a, b = (
        torch.tensor(values, dtype=torch.float64) for values in ((1.0, -2.0, 3.0), (4.0, 7.0, -9.0))
    )
    got = student.broadcast_dot(torch.tensor(2.0, dtype=torch.float64, requires_grad=True), a, b)
    if (
        not isinstance(got, tuple)
        or len(got) != 3
        or not same(got[1], b)
        or not same(got[2], a @ b)
    ):
        return None
    return {"first": got[1], "second": got[2]}


@rule
def counts_grad_from_before(failure, student):
    """dz/dx and an earlier gradient."""
    got, want = triple(failure)
    held = failure.facts.get("held")
    return {} if held is not None and agrees(got[1], want[1] + held) else None


@rule
def paths_not_added_up(failure, student):
    """One part of the gradient for each element of y."""
    got, want = triple(failure)
    if got[1] is None:
        return None
    parts = failure.inputs["a"] * failure.inputs["b"]
    return (
        {"found": got[1], "sum": want[1]}
        if agrees(got[1], parts) and differs(got[1].sum(), got[1][0])
        else None
    )


@rule
def incoming_gradient_left_out(failure, student):
    """The gradient of y.sum() in place of that of z."""
    got, want = triple(failure)
    if got[1] is None:
        return None
    ones = failure.inputs["a"].sum()
    return (
        {"found": got[1], "right": want[1]}
        if agrees(got[1], ones) and differs(ones, want[1])
        else None
    )
