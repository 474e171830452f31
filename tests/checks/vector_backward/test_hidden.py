"""vector_backward, the checks that are not handed out."""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    drawing,
    fail,
    import_helpers,
)

helpers = import_helpers(__file__)
WRONG_PRODUCT, WRONG_JACOBIAN = helpers.WRONG_PRODUCT, helpers.WRONG_JACOBIAN
Formula, drawn_map, assert_dot = helpers.Formula, helpers.drawn_map, helpers.assert_dot
both_signs, like = helpers.both_signs, helpers.like
ROUGH, EXACT = helpers.ROUGH, helpers.EXACT

HUGE = 1e18
"""For what x.grad held before: adding a gradient to it and subtracting it again loses digits."""

CHANGED_GRAD = "x.grad was {held} before the call and is {grad} after it"
GRAPH_GONE = "the graph of y cannot be used again after vjp: {further}"
OTHER_GRADIENT = "the graph of y gives another gradient after vjp than before"
DIFFERENCES = (
    "the result is wrong for this f, for which differences of values lose all digits; differentiate"
    " with autograd"
)
WRITTEN = "{name} was {before} before the call and is {after} after it"


def observed(student, f, x, v, held=None, **parameters):
    """What vjp returned, and what was seen meanwhile, once the product is found right; and the
    details for messages.
    """
    (want,) = torch.autograd.grad(f.program(x), x, v)
    seen = student.observe("product", f.program, x, v, held)
    inputs = {
        "f": f,
        **parameters,
        "x": x,
        "v": v,
        **({} if held is None else {"x.grad before": held}),
    }
    details = {"inputs": inputs, "facts": {**seen, "held": held, "want": want}}
    return seen, want, details


def assert_product(student, f, x, v, *, dtype=False, tolerances=ROUGH, **parameters):
    """vjp's result must be right; with ``dtype``, its dtype too."""
    seen, want, details = observed(student, f, x, v, **parameters)
    got = seen["result"] if dtype else like(seen["result"], want)
    assert_gradient(got, want, WRONG_PRODUCT, **tolerances, **details)


def assert_jacobian(got, f, x, parameters=None, *, dtype=False, tolerances=ROUGH, **facts):
    """The Jacobian must be torch's; with ``dtype``, its dtype too."""
    want = torch.autograd.functional.jacobian(f.program, x.detach())
    held = {"x.grad before": facts["held"]} if "held" in facts else {}
    assert_tensor(
        got if dtype else like(got, want),
        want,
        WRONG_JACOBIAN,
        **tolerances,
        inputs={"f": f, **(parameters or {}), "x": x, **held},
        facts=facts,
    )


def assert_kept(before, after, seen, **details):
    """The arguments must have their values, and x must still require grad."""
    facts = details.pop("facts", {})
    for name, value in before.items():
        changed = {"name": name, "before": value, "after": after[name]}
        assert_equal(after[name], value, WRITTEN, facts=facts | changed, **details)
    changed = {"name": "x.requires_grad", "before": True, "after": seen["still requires grad"]}
    assert_equal(seen["still requires grad"], True, WRITTEN, facts=facts | changed, **details)


def positive(draw, *shape, **options):
    """A tensor without cancellation ahead: float32 keeps its digits where nothing is subtracted."""
    return draw.tensor(*shape, low=0.3, high=1.5, dtype=torch.float32, **options)


# ---------------------------------------------------------------------------------------------- vjp


@check(points=0.25, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_every_kind_of_vector(student, draw):
    """vjp works for a one-hot, negative, zero, tiny or huge v"""
    f, w = drawn_map(draw, 3, 3)
    x, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    unit = torch.zeros(3, dtype=torch.float64)
    unit[draw.integer(0, 2)] = 1.0
    for vector in (unit, -2 * v, torch.zeros_like(v), v * 1e6):
        assert_product(student, f, x, vector, W=w)
    tiny = {"rtol": 1e-3, "atol": 1e-9}
    assert_product(student, f, x, v * 1e-6, tolerances=tiny, W=w)


@check(points=0.25, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_the_digits_of_vjp(student, draw):
    """vjp keeps the dtype and the digits"""
    f, w = drawn_map(draw, 3, 3)
    x, v = draw.tensor(3, requires_grad=True), both_signs(draw, 3)
    assert_product(student, f, x, v, dtype=True, tolerances=EXACT, W=w)


@check(points=0.5, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_v_may_have_any_shape(student, draw):
    """vjp accepts a 0-d y, a matrix y, and x of a different shape"""
    k, c = draw.number(0.3, 1.5), draw.tensor(4)
    m = draw.tensor(3, 2)
    for text, x, v, parameters in (
        ("x ** 3 * {k}", draw.tensor(requires_grad=True), draw.tensor(), {}),
        ("(x * c).exp()", draw.tensor(requires_grad=True), draw.tensor(4), {"c": c}),
        ("(x ** 2 * c).sum() * {k}", draw.tensor(4, requires_grad=True), draw.tensor(), {"c": c}),
        ("(x @ M).sin() * {k}", draw.tensor(4, 3, requires_grad=True), draw.tensor(4, 2), {"M": m}),
        ("(x ** 3).sum(1) * {k}", draw.tensor(2, 3, requires_grad=True), draw.tensor(2), {}),
        ("(x ** 3).sum().reshape(1)", draw.tensor(3, requires_grad=True), draw.tensor(1), {}),
        ("(x * c).exp()", draw.tensor(1, requires_grad=True), draw.tensor(4), {"c": c}),
        *(
            ("(x * {k}).sin()", draw.tensor(*shape, requires_grad=True), draw.tensor(*shape), {})
            for shape in draw.shapes(most=600)[-2:]
        ),
    ):
        assert_product(student, Formula(text.format(k=k), **parameters), x, v, **parameters)


@check(points=0.25, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_vjp_of_strided_tensors(student, draw):
    """vjp accepts float32 and non-contiguous tensors"""
    f = Formula("(x ** 3 + x.exp()).t()")
    x, v = draw.noncontiguous(3, 4, requires_grad=True), draw.noncontiguous(4, 3)
    assert_product(student, f, x, v)
    x = draw.noncontiguous(2, 3, low=0.3, dtype=torch.float32, requires_grad=True)
    assert_product(student, f, x, positive(draw, 1).expand(3, 2), dtype=True)
    assert_product(student, f, draw.tensor(3, 4, requires_grad=True), draw.tensor(4, 3))


@check(points=0.25, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_vjp_without_elements(student, draw):
    """vjp accepts an empty x and an empty y"""
    none = torch.empty(0, dtype=torch.float64)
    c, m = draw.tensor(2), torch.empty(3, 0, dtype=torch.float64)
    for text, x, v, parameters in (
        ("x @ M", draw.tensor(3, requires_grad=True), none, {"M": m}),
        ("x ** 2", none.clone().requires_grad_(), none, {}),
        ("x.sum() * c", none.clone().requires_grad_(), draw.tensor(2), {"c": c}),
    ):
        assert_product(student, Formula(text, **parameters), x, v, dtype=True, **parameters)


@check(points=0.5, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_grad_is_left_alone(student, draw):
    """vjp neither uses nor changes x.grad"""
    cases = [
        (f, v, held)
        for f, v in (
            (drawn_map(draw, 2, 3)[0], draw.tensor(2)),
            (Formula("(x ** 3).sum()"), draw.tensor()),
        )
        for held in (draw.tensor(3), None, HUGE * draw.tensor(3))
    ]
    for f, v, held in cases:
        x = draw.tensor(3, requires_grad=True)
        seen, want, details = observed(student, f, x, v, held, **f.parameters)
        assert_gradient(like(seen["result"], want), want, WRONG_PRODUCT, **ROUGH, **details)
        if held is None or seen["grad"] is None:
            assert_that(
                seen["grad"] is held, CHANGED_GRAD, expected=held, actual=seen["grad"], **details
            )
        else:
            assert_tensor(seen["grad"], held, CHANGED_GRAD, **details)


@check(points=0.5, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_the_graph_can_still_be_used(student, draw):
    """the graph of y can still be used after vjp"""
    for f, x, v, held in (
        (drawn_map(draw, 3, 3)[0], draw.tensor(3), draw.tensor(3), None),
        (Formula("(x ** 3).sum()"), draw.tensor(3), draw.tensor(), None),
        (Formula("(x ** 3).sum().reshape(1)"), draw.tensor(3), draw.tensor(1), draw.tensor(3)),
        (Formula("x.exp()"), draw.tensor(), draw.tensor(), draw.tensor()),
        (Formula("x.exp() * x"), draw.tensor(2, 2), draw.tensor(2, 2), draw.tensor(2, 2)),
        (Formula("x.exp()"), draw.tensor(2), torch.zeros(2, dtype=torch.float64), None),
    ):
        x.requires_grad_()
        (rows,) = torch.autograd.grad(f.program(x), x, torch.ones_like(v))
        seen, _, details = observed(student, f, x, v, held, **f.parameters)
        del details["facts"]["held"]  # what became of x.grad is another check's question
        if not isinstance(seen["further"], torch.Tensor):
            figures = [partial(helpers.freed, student, "vjp", x, f.program, v)]
            fail(GRAPH_GONE, expected=rows, actual=seen["further"], figures=figures, **details)
        assert_gradient(seen["further"], rows, OTHER_GRADIENT, **details)


@check(points=0.25, about="vjp", needs="test_the_product_with_a_drawn_vector")
def test_vjp_writes_into_no_argument(student, draw):
    """vjp does not change y, x and v"""
    for f, x, v in (
        (Formula("(x ** 2).exp()"), draw.tensor(3, requires_grad=True), draw.tensor(3)),
        (Formula("x * 2 + 1"), positive(draw, 2, 2, requires_grad=True), positive(draw, 2, 2)),
        (Formula("(x ** 3).sum()"), draw.tensor(3, requires_grad=True), draw.tensor()),
    ):
        seen, _, details = observed(student, f, x, v)
        assert_kept({"y": seen["earlier"], "x": x.detach(), "v": v}, seen, seen, **details)


# ----------------------------------------------------------------------------------------- jacobian


@check(points=0.25, about="jacobian", needs="test_the_jacobian_of_a_drawn_map")
def test_the_jacobian_is_differentiated(student, draw):
    """jacobian uses no finite differences"""
    f, w = drawn_map(draw, 2, 3)
    x, high = draw.tensor(3, requires_grad=True), Formula(f"{f} + 1e15", W=w)
    want = torch.autograd.functional.jacobian(f.program, x.detach())
    got, inputs = student.jacobian(high.program, x), {"f": high, "W": w, "x": x}
    assert_tensor(like(got, want), want, DIFFERENCES, **ROUGH, inputs=inputs)


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_the_digits_of_the_jacobian(student, draw):
    """jacobian keeps the dtype and the digits"""
    f, w = drawn_map(draw, 3, 2)
    x = draw.tensor(2, requires_grad=True)
    got = student.jacobian(f.program, x)
    assert_jacobian(got, f, x, {"W": w}, dtype=True, tolerances=EXACT)


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_the_shapes_of_y_and_x(student, draw):
    """the Jacobian has the shape y.shape + x.shape"""
    k, m, c = draw.number(0.3, 1.5), draw.tensor(3, 2), draw.tensor(1, 3)
    for text, x, parameters in (
        ("(x @ M).sin() * {k}", draw.tensor(2, 3, requires_grad=True), {"M": m}),
        ("(x ** 3).sum(1) * {k}", draw.tensor(2, 3, requires_grad=True), {}),
        ("x.exp() * c", draw.tensor(3, requires_grad=True), {"c": c}),
        ("(x ** 3).sum(0) * {k}", draw.tensor(2, 1, 2, draw.integer(2, 3), requires_grad=True), {}),
        ("(x * {k}).sin()", draw.tensor(draw.integer(16, 24), requires_grad=True), {}),
        ("(x ** 3).sum().reshape(1)", draw.tensor(3, requires_grad=True), {}),
        ("(x * {k}).sin()", draw.tensor(1, requires_grad=True), {}),
        ("x ** 2", torch.tensor([0.0, 1.0], dtype=torch.float64, requires_grad=True), {}),
        ("x.t()", draw.tensor(3, 2, requires_grad=True), {}),
        ("x", draw.tensor(2, 2, requires_grad=True), {}),
    ):
        f = Formula(text.format(k=k), **parameters)
        assert_jacobian(student.jacobian(f.program, x), f, x, parameters)


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_jacobians_of_scalars(student, draw):
    """jacobian accepts a 0-d x and a 0-d f(x)"""
    c = draw.tensor(3)
    for text, x, parameters in (
        ("(x * c).exp()", draw.tensor(requires_grad=True), {"c": c}),
        ("(x ** 2 * c).sum()", draw.tensor(3, requires_grad=True), {"c": c}),
        ("x ** 3 + x.exp()", draw.tensor(requires_grad=True), {}),
    ):
        f = Formula(text, **parameters)
        assert_jacobian(student.jacobian(f.program, x), f, x, parameters)


@check(points=0.5, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_the_jacobian_of_a_constant(student, draw):
    """the Jacobian is zeros if f(x) does not depend on x"""
    two = torch.full((2,), 2.0, dtype=torch.float64)  # f gives it too, for zeros
    for x, c in (
        (draw.tensor(3, requires_grad=True), draw.tensor(2)),
        (draw.tensor(2, 2, requires_grad=True), draw.tensor(3, requires_grad=True)),
        (positive(draw, 2, requires_grad=True), positive(draw, requires_grad=True)),
        (draw.tensor(3, 2, requires_grad=True), draw.tensor(2, 2)),
        (draw.tensor(3, requires_grad=True), draw.tensor(2, 3, requires_grad=True)),
        (draw.tensor(requires_grad=True), draw.tensor(2)),
        (draw.tensor(3, requires_grad=True), draw.tensor(1)),
        (two.clone().requires_grad_(), torch.zeros_like(two)),
    ):
        f = Formula("c.exp() * 2", c=c)
        want = torch.zeros(c.shape + x.shape, dtype=x.dtype)
        facts = {"constant": True}
        with drawing(partial(helpers.without_x, f, x)):
            got = student.jacobian(f.program, x)
        inputs = {"f": f, "c": c, "x": x}
        assert_tensor(
            got, want, "the derivatives must all be 0", **ROUGH, inputs=inputs, facts=facts
        )


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_a_constant_among_the_elements(student, draw):
    """a constant element of f(x) has a row of zeros"""
    c, x = draw.tensor(), draw.tensor(3, requires_grad=True)
    f = Formula(
        "x.prod().stack(c * 2, (x ** 2).sum())",
        shown="torch.stack([x.prod(), c * 2, (x ** 2).sum()])",
        c=c,
    )
    assert_jacobian(student.jacobian(f.program, x), f, x, {"c": c})


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_the_jacobian_of_a_custom_function(student, draw):
    """f may use custom Functions"""
    w, u = draw.tensor(2, 3, low=-1.0), draw.tensor(3)
    for text, shown, parameters in (
        ("(W @ x).cube() + W @ x", "Cube.apply(W @ x) + W @ x", {"W": w}),
        ("x.blend(u) * x.sum()", "Blend.apply(x, u) * x.sum()", {"u": u}),
    ):
        f, x = Formula(text, shown=shown, **parameters), draw.tensor(3, requires_grad=True)
        assert_jacobian(student.jacobian(f.program, x), f, x, parameters)


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_jacobians_of_strided_tensors(student, draw):
    """jacobian accepts float32 and non-contiguous tensors"""
    f = Formula("(x ** 2 * x.exp()).t()")
    for x in (
        draw.noncontiguous(2, 3, requires_grad=True),
        positive(draw, 2, 2, requires_grad=True),
    ):
        single = x.dtype is torch.float32
        assert_jacobian(student.jacobian(f.program, x), f, x, dtype=single)


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_jacobian_ignores_what_was_there(student, draw):
    """jacobian does not use x.grad or change x"""
    f, w = drawn_map(draw, 3, 2)
    x = draw.tensor(2, requires_grad=True)
    for held in (draw.tensor(2), HUGE * draw.tensor(2)):
        seen = student.observe("derivatives", f.program, x, held)
        assert_jacobian(seen["got"], f, x, {"W": w}, held=held)
        assert_kept({"x": x.detach()}, seen, seen, inputs={"f": f, "W": w, "x": x})


@check(points=0.25, about="jacobian", needs=test_the_jacobian_is_differentiated)
def test_the_jacobian_without_elements(student, draw):
    """jacobian accepts an empty x"""
    for c, shape in ((draw.tensor(draw.integer(2, 3)), (0,)), (draw.tensor(2, 3), (3, 0))):
        f, x = Formula("x.sum() * c", c=c), torch.empty(shape, dtype=c.dtype, requires_grad=True)
        assert_jacobian(student.jacobian(f.program, x), f, x, {"c": c})


# ------------------------------------------------------------------------------------ broadcast_dot


@check(points=0.25, about="broadcast_dot", needs="test_the_value_and_two_gradients")
def test_the_dot_in_detail(student, draw):
    """broadcast_dot returns a tuple; shapes, dtype, digits fit"""
    for dtype, size in (
        (torch.float64, 3),
        (torch.float32, 3),
        (torch.float32, draw.integer(5, 9)),
        (torch.float64, draw.integer(5, 9)),
    ):
        x, a, b = (draw.tensor(*shape, low=0.3, dtype=dtype) for shape in ((), (size,), (size,)))
        got = student.broadcast_dot(x.requires_grad_(), a, b)
        assert_dot(got, x, a, b, exact=True)


@check(points=0.5, about="broadcast_dot", needs="test_the_value_and_two_gradients")
def test_the_dot_ignores_what_was_there(student, draw):
    """broadcast_dot does not use what x.grad held before"""
    for dtype in (torch.float64, torch.float32):
        x, a, b = (draw.tensor(*shape, low=0.3, dtype=dtype) for shape in ((), (3,), (3,)))
        x.requires_grad_()
        for held in (draw.tensor(dtype=dtype), HUGE * draw.tensor(dtype=dtype)):
            for seen in student.observe("dots", x, a, b, held, 1):
                assert_dot(seen["got"], x, a, b, held=held)


@check(points=0.25, about="broadcast_dot", needs="test_the_value_and_two_gradients")
def test_the_same_answer_every_time(student, draw):
    """broadcast_dot can be called again and changes no argument"""
    x, a, b = draw.tensor(requires_grad=True), draw.tensor(3), draw.tensor(3)
    for seen in student.observe("dots", x, a, b, None, draw.integer(2, 4)):
        assert_dot(seen["got"], x, a, b)
        before = {"x": x.detach(), "a": a, "b": b}
        assert_kept(before, seen["arguments"], seen, inputs=before)


@check(points=0.25, about="broadcast_dot", needs="test_the_value_and_two_gradients")
def test_the_dot_of_any_length(student, draw):
    """broadcast_dot accepts vectors of any length, and float32"""
    for dtype, size in (
        (torch.float64, 1),
        (torch.float32, 1),
        (torch.float32, draw.integer(4, 9)),
        (torch.float64, draw.integer(32, 64)),
        (torch.float64, draw.integer(600, 3000)),
    ):
        x, a, b = (draw.tensor(*shape, low=0.3, dtype=dtype) for shape in ((), (size,), (size,)))
        assert_dot(student.broadcast_dot(x.requires_grad_(), a, b), x, a, b)


@check(points=0.25, about="broadcast_dot", needs="test_the_value_and_two_gradients")
def test_the_dot_of_strided_vectors(student, draw):
    """broadcast_dot accepts non-contiguous vectors"""
    for a, b in (
        (draw.noncontiguous(2, 4)[0], draw.noncontiguous(3, 4)[1]),
        (draw.tensor(1).expand(3), draw.tensor(3, 2)[:, 1]),
    ):
        x = draw.tensor(requires_grad=True)
        assert_dot(student.broadcast_dot(x, a, b), x, a, b)


@check(points=0.25, about="broadcast_dot", needs="test_the_value_and_two_gradients")
def test_the_dot_at_the_edges(student, draw):
    """broadcast_dot accepts x = 0, a large x and empty vectors"""
    a, b, none = (
        draw.tensor(3, low=0.3),
        draw.tensor(3, low=0.3),
        torch.empty(0, dtype=torch.float64),
    )
    for value, left, right in ((0.0, a, b), (1e8, a, b), (draw.number(), none, none)):
        x = torch.tensor(value, dtype=torch.float64, requires_grad=True)
        assert_dot(student.broadcast_dot(x, left, right), x, left, right)
