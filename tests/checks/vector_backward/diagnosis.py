"""The mistakes that people make with a vector and a Jacobian, each recognised by what comes back.

The rules for vjp ask the student about one small product (``PROBE``), since its wrong answers are
easy to read: W = [[1, 2], [3, 4]] is the Jacobian of W @ x, and v = (1, 10) tells rows from columns
and each of them from their sum.
"""

import torch

from grader.authoring import StudentCodeError, differs, mistake, program, same

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


@mistake(
    "vector_missing",
    about=ALL,
    title="Backward from a vector, without a vector",
    explanation=(
        "Line {line} raised {raised}. From a scalar backward starts with 1; from several elements"
        " it cannot know how much each of them counts, so it asks for a v of their shape:"
        " y.backward(v), or torch.autograd.grad(y, x, v)."
    ),
)
def vector_missing(failure, student):
    """torch refuses to start."""
    return said(failure) if failure.raised("RuntimeError", NOT_SCALAR) else None


# ---------------------------------------------------------------------------------------------- vjp


@mistake(
    "vector_ignored",
    about="vjp",
    title="v is not used",
    explanation=(
        "For y = W @ x with W = [[1, 2], [3, 4]] and v = (1, 10) you returned {probed}, the sum "
        "of W's rows. v weights the rows: 1 * (1, 2) + 10 * (3, 4) = (31, 42)."
    ),
)
def vector_ignored(failure, student):
    """The gradient of y.sum(), for a v of other signs and sizes as well."""
    found = probed(student) if failure.about == "vjp" else None
    return (
        {"probed": found}
        if agrees(found, W.sum(0)) and agrees(probed(student, -0.5 * V), W.sum(0))
        else None
    )


@mistake(
    "vector_applied_afterwards",
    about="vjp",
    title="v was multiplied after the backward pass",
    explanation=(
        "For y = W @ x with W = [[1, 2], [3, 4]] and v = (1, 10) you returned {probed}. v weights"
        " the elements of y, so pass it to backward: 1 * (1, 2) + 10 * (3, 4) = (31, 42)."
    ),
)
def vector_applied_afterwards(failure, student):
    """The gradient of y.sum(), times v; right only where each element of y depends on its own
    element of x.
    """
    found = probed(student) if failure.about == "vjp" else None
    return {"probed": found} if agrees(found, W.sum(0) * V) else None


@mistake(
    "jacobian_times_vector",
    about="vjp",
    title="You computed J v instead of v^T J",
    explanation=(
        "For y = W @ x with W = [[1, 2], [3, 4]] and v = (1, 10) you returned {probed}. v^T J "
        "sums over the elements of y: 1 * (1, 2) + 10 * (3, 4) = (31, 42)."
    ),
)
def jacobian_times_vector(failure, student):
    """The product from the other side."""
    found = probed(student) if failure.about == "vjp" else None
    return {"probed": found} if agrees(found, W @ V) else None


@mistake(
    "writes_to_x_grad",
    about="vjp",
    title="The gradient went through x.grad",
    explanation=(
        "x.grad was {held} before the call and is {grad} after it; your vjp returned {result}, and"
        " v^T J is {want}. backward() adds to x.grad whatever it computes. torch.autograd.grad"
        " hands the gradient back and leaves every .grad alone."
    ),
)
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


@mistake(
    "frees_the_graph",
    about="vjp",
    title="The graph was freed",
    explanation=(
        "After your vjp one more differentiation of y raised: {further} A pass without"
        " retain_graph=True frees what it needed. y belongs to somebody else here, who may want"
        " other products with its Jacobian."
    ),
)
def frees_the_graph(failure, student):
    """A further differentiation raises."""
    further = failure.facts.get("further")
    return (
        {"further": further}
        if failure.about == "vjp" and isinstance(further, str) and SECOND_TIME in further
        else None
    )


# ----------------------------------------------------------------------------------------- jacobian


@mistake(
    "path_to_x_taken_for_granted",
    about="jacobian",
    title="f may not depend on x",
    explanation=(
        "Your jacobian assumes that f(x) depends on x. Where it does not, line {line} raised "
        "{raised}. autograd then raises, or returns None with allow_unused=True. The Jacobian is "
        "zeros there; return them."
    ),
)
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


@mistake(
    "empty_shape_unpacked",
    about="jacobian",
    title="An empty shape was unpacked",
    explanation=(
        "If x and f(x) are both 0-d, y.shape + x.shape is (), and line {line} raised {raised}. "
        "Pass the shape as one tuple: reshape(y.shape + x.shape)."
    ),
)
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


@mistake(
    "rows_free_the_graph",
    about="jacobian",
    title="The first row freed the graph",
    explanation=(
        "Line {line} raised torch's 'second time' error. Every row is a pass of its own through one"
        " and the same graph, and a pass without retain_graph=True frees it, so that only the first"
        " row is ever found."
    ),
)
def rows_free_the_graph(failure, student):
    """The second row raises."""
    return (
        said(failure)
        if failure.about == "jacobian" and failure.raised("RuntimeError", SECOND_TIME)
        else None
    )


@mistake(
    "transform_meets_custom_function",
    about="jacobian",
    title="A function transform met a custom Function",
    explanation=(
        "Line {line} raised {raised}. torch.func and forward mode run f under rules of their own,"
        " which a plain custom Function has not got; a backward it has. torch.autograd.grad asks"
        " for no more than that."
    ),
)
def transform_meets_custom_function(failure, student):
    """torch.func refuses a Function without setup_context, forward mode one without jvp."""
    return (
        said(failure) if failure.about == "jacobian" and raised_any(failure, TRANSFORMED) else None
    )


@mistake(
    "rows_added_up",
    about="jacobian",
    title="The rows were added up",
    explanation=(
        "{actual} came back: the sum over all elements of f(x) of their gradients. That is one"
        " product, with a v of ones. The Jacobian keeps the rows apart, one for each element of"
        " f(x): {expected}."
    ),
)
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


@mistake(
    "rows_pile_up",
    about="jacobian",
    title="x.grad was not cleared before each row, or not copied",
    explanation=(
        "You returned {actual}; the rows are {expected}. backward adds to the tensor in x.grad. "
        "Clear it, and clone() it after each row, or use torch.autograd.grad."
    ),
)
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


@mistake(
    "axes_turned_round",
    about="jacobian",
    title="The dimensions of x come first",
    explanation=(
        "{actual} came back, of shape {shape}. The numbers are right, but they are stored by"
        " elements of x; y.shape + x.shape means that the gradient of element i of f(x) is"
        " jacobian[i]: {expected}."
    ),
)
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


@mistake(
    "shape_of_a_matrix",
    about="jacobian",
    title="The Jacobian was made a matrix",
    explanation=(
        "The Jacobian has the shape {shape}: all elements of y, or of x, lie in one dimension. "
        "The numbers are right. x has the shape {x_shape} here, so y.shape + x.shape is "
        "{expected_shape}; reshape to that."
    ),
)
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


@mistake(
    "numerical_differences",
    about="jacobian",
    title="Close to the Jacobian, as differences are",
    explanation=(
        "The Jacobian was computed by differences: it is off by up to {off}, in numbers of up to "
        "{size}. Small steps are never exact, and rounding adds to that. Run a backward pass for "
        "each row instead."
    ),
)
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


@mistake(
    "only_a_leaf_keeps_grad",
    about="broadcast_dot",
    title="y is not a leaf, so y.grad is None",
    explanation=(
        "dz/dy came back as None. backward keeps gradients only in leaves, and y was computed from"
        " x. Either y.retain_grad() goes before backward (after it is too late), or"
        " torch.autograd.grad(z, (x, y)) hands both gradients back."
    ),
)
def only_a_leaf_keeps_grad(failure, student):
    """None for dz/dy, a tensor for dz/dx, and a .grad that was read of a tensor which keeps none,
    or kept it too late.
    """
    got, _ = triple(failure)
    if got[2] is not None or not isinstance(got[1], torch.Tensor):
        return None
    seen = student.observe("sought", ones(), V, 2 * V)
    return {} if seen["read"] or seen["late"] else None


@mistake(
    "first_gradient_frees_the_graph",
    about="broadcast_dot",
    title="The first gradient freed the graph of the second",
    explanation=(
        "Line {line} raised torch's 'second time' error. dz/dx and dz/dy are two answers of one"
        " pass through one graph: torch.autograd.grad(z, (x, y)) gives both at once. Two passes are"
        " possible as well, if the first is told retain_graph=True."
    ),
)
def first_gradient_frees_the_graph(failure, student):
    """A second pass through the graph of z raises."""
    return said(failure) if failure.raised("RuntimeError", SECOND_TIME) else None


@mistake(
    "gradients_exchanged",
    about="broadcast_dot",
    title="The two gradients are swapped",
    explanation=(
        "For x = 2, a = (1, -2, 3) and b = (4, 7, -9) your dz/dx is {first} and your dz/dy is "
        "{second}. Return z, dz/dx, dz/dy: dz/dx is a single number, like x."
    ),
)
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


@mistake(
    "counts_grad_from_before",
    about="broadcast_dot",
    title="What x.grad held before is in dz/dx",
    explanation=(
        "x.grad held {held} before, and {actual} came back as dz/dx: that and the gradient"
        " together. Without it, it is {expected}. backward adds to x.grad, so clear it first, or"
        " use torch.autograd.grad."
    ),
)
def counts_grad_from_before(failure, student):
    """dz/dx and an earlier gradient."""
    got, want = triple(failure)
    held = failure.facts.get("held")
    return {} if held is not None and agrees(got[1], want[1] + held) else None


@mistake(
    "paths_not_added_up",
    about="broadcast_dot",
    title="The gradients of the elements of y were not added up",
    explanation=(
        "dz/dx came back as {found}: for each element of y its own part, a * b. One x went into all"
        " of them, so their parts meet again at x and add up to {sum}. Forward an expansion,"
        " backward a sum."
    ),
)
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


@mistake(
    "incoming_gradient_left_out",
    about="broadcast_dot",
    title="dz/dx leaves dz/dy out",
    explanation=(
        "dz/dx came back as {found}. That is a.sum(), the derivative of y.sum(): every element of y"
        " counted 1. z counts them by b, so that what arrives at y is b = {b}, and dz/dx is"
        " {right}."
    ),
)
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
