"""retain_graph, the checks that are not handed out."""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    check,
    fail,
    graph_figure,
    graphs_figure,
    import_helpers,
    program,
    trace,
    type_name,
)

helpers = import_helpers(__file__)

LONGER = " A node has no saved tensors any more."
NEARLY_INFINITE = program(lambda x: x * 3e38), "x * 3e38"
"""A loss with a gradient whose double is more than float32 can hold."""
HUGE = program(lambda x: (x * 1e300).sum()), "(x * 1e300).sum()"
SPREAD = program(lambda x: x.sum() ** 2), "x.sum() ** 2"
THIRDS = program(lambda x: (x / 3).sum()), "(x / 3).sum()"
"""Losses with gradients beyond float32, of one number for all elements, and of many digits."""
FREED = "RuntimeError: Trying to backward through the graph a second time …"


def drawn_loss(draw):
    """Return a function of x to a scalar and its formula. Its gradient is positive for x > 0, and
    its backward needs saved tensors.
    """
    a, b = draw.coefficients(2)
    return draw.choice(
        [
            (
                program(lambda x: (x**4 * a + (x * b).exp()).sum()),
                f"(x**4 * {a} + (x * {b}).exp()).sum()",
            ),
            (
                program(lambda x: ((x * a).exp() + x.log() * b).sum()),
                f"((x * {a}).exp() + x.log() * {b}).sum()",
            ),
            (
                program(lambda x: ((x**2 + a) * x.sqrt() * b).sum()),
                f"((x**2 + {a}) * x.sqrt() * {b}).sum()",
            ),
        ]
    )


def drawn_losses(draw, count):
    """Return a function of x to ``count`` scalars and their trunk, and the formulas of both."""
    a, *weights = draw.coefficients(4)
    forms = draw.sample(
        [
            (lambda t, w: (t**2).sum() * w, "(t**2).sum() * {w}"),
            (lambda t, w: (t * t.exp()).sum() * w, "(t * t.exp()).sum() * {w}"),
            (lambda t, w: (t.sqrt() * w).sum(), "(t.sqrt() * {w}).sum()"),
        ],
        count,
    )

    def losses(x):
        t = x**2 * a + x.log() * 0.2 + 1.0
        return *(form(t, w) for (form, _), w in zip(forms, weights, strict=False)), t

    formulas = [text.format(w=w) for (_, text), w in zip(forms, weights, strict=False)]
    return program(losses), {
        "t": f"x**2 * {a} + x.log() * 0.2 + 1.0",
        "losses": "[" + ", ".join(formulas) + "]",
    }


def each_gradient(f, x):
    """Return the gradient of each loss; the last output of f is the trunk."""
    *losses, _ = f(x)
    return [torch.autograd.grad(loss, x, retain_graph=True)[0] for loss in losses]


def assert_freed(further, wanted, figure, **details):
    """Require that one more differentiation raised what a freed graph raises; ``figure`` draws
    the graph of a loss.
    """
    for which, (got, want) in enumerate(zip(further, wanted, strict=True)):
        if not isinstance(got, str):
            fail(
                "the graph is not freed: one more backward works and gives {more}",
                expected=FREED,
                actual=got,
                figures=[partial(figure, which)],
                **{**details, "facts": {**details["facts"], "more": got}},
            )
        assert_equal(
            got,
            want,
            "one more backward raises an error, but not the one of a freed graph",
            **details,
        )


def left_behind(student, name, f, x, which):
    """Return the graph of a loss as the student's function leaves it, beside a freed one."""
    leaf = x.detach().clone().requires_grad_()
    made = f(leaf)
    *losses, trunk = made if isinstance(made, tuple) else (made, None)
    losses[which].backward()
    wanted = trace(losses[which], {"x": leaf, "t": trunk, "loss": losses[which]})
    return graphs_figure(student.observe("graph", name, f, x, which), wanted)


# ---------------------------------------------------------------------------- second_backward_error


@check(
    points=0.5, about="second_backward_error", needs="test_the_text_of_torchs_own_error_comes_back"
)
def test_the_error_is_made_not_typed(student, reference, draw):
    """the message comes from a second backward of log(x ** 3)"""
    for x, held, ending in (
        (torch.tensor(5.0, requires_grad=True), None, ""),
        (draw.tensor(low=0.5, high=3.0, requires_grad=True), draw.tensor(), ""),
        (draw.tensor(low=0.5, high=3.0, requires_grad=True), None, LONGER),
    ):
        want = reference.observe("error_text", x, held)
        seen = student.observe("error_text", x, held, ending)
        details = {"inputs": {"x": x, "x.grad before": held}, "facts": seen}
        if seen["reworded"]:
            assert_equal(
                seen["result"],
                want["result"] + ending,
                "the error had one more sentence, as in another version of torch, and the result"
                " is not its text",
                inputs=details["inputs"],
                facts=seen | {"usual": want["result"]},
            )
            continue
        assert_equal(
            seen["result"],
            want["result"],
            "the result is not the message of the second backward's RuntimeError",
            **details,
        )
        slope = 3 / x.detach()
        if seen["slopes"] and not any(torch.allclose(got, slope) for got in seen["slopes"]):
            fail(
                "the gradient that reached x is not that of log(x ** 3)",
                expected=slope,
                actual=seen["slopes"][0],
                **details,
            )
        if seen["saved"] and not seen["cubed"]:
            fail(
                "your function did not build log(x ** 3): no node saved x ** 3, as the node of"
                " log does",
                expected=x.detach() ** 3,
                **details,
            )
        if (
            seen["read"] < 1 and seen["raised"] < 1
        ):  # hooks of the student's own hide what is read, not what is raised
            fail(
                "no backward ran in your function: no saved tensor was read",
                expected=want["read"],
                actual=seen["read"],
                figures=[partial(freed_cube, x)],
                **details,
            )
        if seen["raised"] < 1:
            fail(
                "no second backward raised an error in your function",
                expected=want["raised"],
                actual=seen["raised"],
                figures=[partial(freed_cube, x)],
                **details,
            )
        worked = seen["passes"] - seen["raised"]
        if worked != 1:
            fail(
                "{worked} passes worked, expected one: the second already raises",
                expected=1,
                actual=worked,
                inputs=details["inputs"],
                facts=seen | {"worked": worked},
            )


def freed_cube(x):
    """Return a graph after a backward: it lacks what a second one needs."""
    leaf = x.detach().clone().requires_grad_()
    y = leaf**3
    y.backward()
    return graph_figure(y, {"x": leaf, "y": y})


def leaf_of_many(draw):
    """Return a tensor of many dimensions and elements."""
    return draw.tensor(*draw.shapes()[-1], low=0.5)


# ----------------------------------------------------------------------------------- backward_twice


@check(points=0.25, about="backward_twice", needs="test_two_passes_give_twice_the_gradient")
def test_backward_twice_counts_what_was_there(student, draw):
    """backward_twice adds to the old x.grad"""
    for x, held in (
        (draw.tensor(3, low=0.5, requires_grad=True), draw.tensor(3)),
        (draw.tensor(low=0.5, requires_grad=True), draw.tensor()),
    ):
        two_passes(student, helpers.assert_close, drawn_loss(draw), x, held)


@check(points=0.25, about="backward_twice", needs="test_two_passes_give_twice_the_gradient")
def test_backward_twice_works_for_any_x(student, draw):
    """backward_twice works for any x, to all digits"""
    for x, loss in any_leaf(draw):
        digits = helpers.EXACT if loss is THIRDS else {}
        two_passes(student, partial(assert_gradient, **digits), loss, x, None)
    count_passes(
        student, "backward_twice", draw, draw.tensor(0, 3, requires_grad=True), any_number=True
    )


def any_leaf(draw):
    """Return leaves of other shapes and dtypes, each with a loss."""
    for x in (
        draw.tensor(3, low=0.5, dtype=torch.float32),
        draw.noncontiguous(2, 3, low=0.5, dtype=torch.float32),
        leaf_of_many(draw),
        draw.tensor(0),
    ):
        yield x.requires_grad_(), drawn_loss(draw)
    for loss in (SPREAD, THIRDS, HUGE):
        yield draw.tensor(3, requires_grad=True), loss


def two_passes(student, compare, loss, x, held):
    """Require the sum of two gradients and of what x.grad held, as the result and in x.grad."""
    f, formula = loss
    (one,) = torch.autograd.grad(f(x), x)
    want = 2 * one if held is None else held + 2 * one
    seen = helpers.one_loss(student, "backward_twice", f, x, held)
    details = {
        "inputs": {"loss": formula, "x": x, "x.grad before": held},
        "facts": {**seen, "one": one, "held": held},
    }
    message = "x.grad should be its old value plus two gradients"
    compare(seen["result"], want, message, **details)
    if held is None:
        return
    if seen["grad"] is None:
        message = "the result is right, but x.grad is None afterwards"
        fail(message, expected=seen["result"], **details)
    compare(seen["grad"], want, "the result is right, but x.grad does not hold it", **details)


@check(points=0.5, about="backward_twice", needs="test_two_passes_give_twice_the_gradient")
def test_backward_twice_goes_through_the_graph_twice(student, draw):
    """backward_twice runs two passes through the graph"""
    count_passes(student, "backward_twice", draw, draw.tensor(2, low=0.5, requires_grad=True))


@check(points=0.5, about="backward_twice", needs="test_two_passes_give_twice_the_gradient")
def test_backward_twice_frees_the_graph(student, reference, draw):
    """the graph is freed after backward_twice"""
    look_further(student, reference, "backward_twice", draw)


def count_passes(student, name, draw, x, *, any_number=False):
    """Require that two passes arrive at x; with ``any_number``, at least one."""
    f, formula = drawn_loss(draw)
    (one,) = torch.autograd.grad(f(x), x)
    seen = helpers.one_loss(student, name, f, x, None)
    if not seen["passes"] if any_number else seen["passes"] != 2:
        fail(
            "expected two passes through the graph, counted {passes}",
            expected=2,
            actual=seen["passes"],
            inputs={"loss": formula, "x": x},
            facts={**seen, "one": one, "held": None},
        )


def look_further(student, reference, name, draw):
    """Require that one more differentiation raises, with and without a gradient from before."""
    for x, held in (
        (draw.tensor(3, low=0.5, requires_grad=True), None),
        (
            draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
            draw.tensor(dtype=torch.float32),
        ),
    ):
        f, formula = drawn_loss(draw)
        (one,) = torch.autograd.grad(f(x), x)
        seen = helpers.one_loss(student, name, f, x, held)
        want = helpers.one_loss(reference, name, f, x, held)
        details = {
            "inputs": {"loss": formula, "x": x, "x.grad before": held},
            "facts": {**seen, "one": one, "held": held},
        }
        figure = partial(left_behind, student, name, f, x)
        assert_freed([seen["further"]], [want["further"]], figure, **details)


# ------------------------------------------------------------------------------ two_fresh_gradients


@check(
    points=0.5, about="two_fresh_gradients", needs="test_both_results_are_the_gradient_of_one_pass"
)
def test_two_fresh_gradients_ignore_what_was_there(student, draw):
    """neither result contains the old x.grad"""
    for x, held in (
        (draw.tensor(2, low=0.5, requires_grad=True), draw.tensor(2)),
        (draw.tensor(low=0.5, requires_grad=True), draw.tensor()),
        (draw.tensor(3, low=0.5, requires_grad=True), helpers.beyond_numbers()),
        (torch.tensor(1.0, requires_grad=True), None),
    ):
        loss = drawn_loss(draw) if held is not None else NEARLY_INFINITE
        two_gradients(student, helpers.assert_close, loss, x, held)


@check(
    points=0.25, about="two_fresh_gradients", needs="test_both_results_are_the_gradient_of_one_pass"
)
def test_two_fresh_gradients_work_for_any_x(student, draw):
    """two_fresh_gradients works for any x, to all digits"""
    for x, loss in any_leaf(draw):
        digits = helpers.EXACT if loss is THIRDS else {}
        two_gradients(student, partial(assert_gradient, **digits), loss, x, None)
    count_passes(
        student, "two_fresh_gradients", draw, draw.tensor(0, 3, requires_grad=True), any_number=True
    )


def two_gradients(student, compare, loss, x, held):
    """Require two results, each the gradient of one pass alone."""
    f, formula = loss
    (one,) = torch.autograd.grad(f(x), x)
    seen = helpers.one_loss(student, "two_fresh_gradients", f, x, held)
    result = seen["result"]
    details = {
        "inputs": {"loss": formula, "x": x, "x.grad before": held},
        "facts": {**seen, "one": one, "held": held},
    }
    if not isinstance(result, tuple) or len(result) != 2:
        details["facts"]["type"] = type_name(result)
        message = "returned {type}, expected a tuple of two Tensors"
        fail(message, expected=(one, one), actual=result, **details)
    compare(result[0], one, "the first result is not the gradient of one pass", **details)
    compare(result[1], one, "the second result is not the gradient of one pass", **details)


@check(
    points=0.5, about="two_fresh_gradients", needs="test_both_results_are_the_gradient_of_one_pass"
)
def test_the_results_and_grad_share_no_memory(student, draw):
    """the two results and x.grad share no memory"""
    handed_on = (program(lambda x: x + 1), "(x + 1).addcmul(w, w)")
    for x, held, w, (f, formula) in (
        (draw.tensor(2, low=0.5, requires_grad=True), draw.tensor(2), None, drawn_loss(draw)),
        (draw.tensor(2, 3, low=0.5, requires_grad=True), None, None, drawn_loss(draw)),
        (
            draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
            None,
            None,
            drawn_loss(draw),
        ),
        (draw.tensor(requires_grad=True), None, draw.tensor(requires_grad=True), handed_on),
    ):
        amount = draw.integer(10, 99)
        states = student.observe("after_writing", f, x, held, amount, w)
        names = ("the first result", "the second result", "x.grad")
        inputs = {"loss": formula, "x": x, "x.grad before": held}
        for written in (0, 1):
            before, after = states[written], states[written + 1]
            for other in (1 - written, 2):
                facts = {
                    "written": names[written],
                    "other": names[other],
                    "amount": amount,
                    "before": before[other],
                    "after": after[other],
                }
                assert_equal(
                    after[other],
                    before[other],
                    "adding {amount} to {written} also changed {other}",
                    inputs=inputs,
                    facts=facts,
                )


@check(
    points=0.5, about="two_fresh_gradients", needs="test_both_results_are_the_gradient_of_one_pass"
)
def test_two_fresh_gradients_go_through_the_graph_twice(student, draw):
    """two_fresh_gradients runs two passes through the graph"""
    count_passes(student, "two_fresh_gradients", draw, draw.tensor(2, low=0.5, requires_grad=True))


@check(
    points=0.5, about="two_fresh_gradients", needs="test_both_results_are_the_gradient_of_one_pass"
)
def test_two_fresh_gradients_free_the_graph(student, reference, draw):
    """the graph is freed after two_fresh_gradients"""
    look_further(student, reference, "two_fresh_gradients", draw)


# --------------------------------------------------------------------------------- sum_of_gradients


@check(points=0.5, about="sum_of_gradients", needs="test_the_gradients_of_all_losses_are_added_up")
def test_sum_of_gradients_ignores_what_was_there(student, draw):
    """the sum does not contain the old x.grad"""
    for x, held in (
        (draw.tensor(2, low=0.5, requires_grad=True), draw.tensor(2)),
        (draw.tensor(low=0.5, requires_grad=True), draw.tensor()),
        (draw.tensor(3, low=0.5, requires_grad=True), helpers.beyond_numbers()),
    ):
        losses = drawn_losses(draw, draw.integer(2, 3))
        sum_of(student, helpers.assert_close, losses, x, held)


@check(points=0.25, about="sum_of_gradients", needs="test_the_gradients_of_all_losses_are_added_up")
def test_sum_of_gradients_works_for_any_x(student, draw):
    """sum_of_gradients works for any x, to all digits"""
    for x in (
        draw.noncontiguous(2, 3, low=0.5, dtype=torch.float32, requires_grad=True),
        leaf_of_many(draw).requires_grad_(),
    ):
        sum_of(student, assert_gradient, drawn_losses(draw, draw.integer(2, 3)), x, None)
    exact = partial(assert_gradient, **helpers.EXACT)
    for shape, losses in (((3,), SUMS), ((), SUMS), ((2,), FIVE), ((2,), HUGE_LOSSES)):
        sum_of(student, exact, losses, draw.tensor(*shape, low=0.5, requires_grad=True), None)
    x, (f, formulas) = draw.tensor(0, requires_grad=True), TWO
    seen = helpers.several_losses(student, f, x, None)
    if not seen["passes"]:
        fail(
            "no pass went through the graph of an x without elements",
            expected=1,
            actual=0,
            inputs={**formulas, "x": x},
            facts={**seen, "each": each_gradient(f, x), "held": None},
        )


SUMS = (  # autograd.grad returns expanded tensors
    program(lambda x: ((t := x.sum() ** 2) * 3.0, t.sqrt(), t**2, t)),
    {"t": "x.sum() ** 2", "losses": "[t * 3.0, t.sqrt(), t**2]"},
)
HUGE_LOSSES = (
    program(lambda x: ((t := x**2).sum() * 1e300, (t * t).sum(), t.sum() * 2e300, t)),
    {"t": "x**2", "losses": "[t.sum() * 1e300, (t * t).sum(), t.sum() * 2e300]"},
)
TWO = (
    program(lambda x: ((t := x**2).sum() + 1.0, t.exp().sum() + 2.0, t)),
    {"t": "x**2", "losses": "[t.sum() + 1.0, t.exp().sum() + 2.0]"},
)
FIVE = (
    program(lambda x: (t := x**2, *((t / k).sum() for k in (3, -1, 7, -0.01, 5)))[::-1]),
    {"t": "x**2", "losses": "[(t / k).sum() for k in (5, -0.01, 7, -1, 3)]"},
)


def sum_of(student, compare, losses, x, held):
    """Require the sum of the gradients of all losses, without what x.grad held."""
    f, formulas = losses
    each = each_gradient(f, x)
    seen = helpers.several_losses(student, f, x, held)
    compare(
        seen["result"],
        sum(each),
        "the result is not the sum of the gradients",
        inputs={**formulas, "x": x, "x.grad before": held},
        facts={**seen, "each": each, "held": held},
    )


@check(points=0.5, about="sum_of_gradients", needs="test_the_gradients_of_all_losses_are_added_up")
def test_one_loss_is_enough(student, reference, draw):
    """a list of one loss works"""
    for x in (
        draw.tensor(low=0.5, requires_grad=True),
        draw.tensor(3, low=0.5, dtype=torch.float32, requires_grad=True),
    ):
        f, formulas = drawn_losses(draw, 1)
        each, want = each_gradient(f, x), helpers.several_losses(reference, f, x, None)
        seen = helpers.several_losses(student, f, x, None)
        details = {"inputs": {**formulas, "x": x}, "facts": {**seen, "each": each, "held": None}}
        message = "the result is not the gradient of the one loss"
        helpers.assert_close(seen["result"], each[0], message, **details)
        if frees_three(student, draw):
            figure = partial(left_behind, student, "sum_of_gradients", f, x)
            assert_freed(seen["further"], want["further"], figure, **details)


def frees_three(student, draw):
    """Return whether the graph of three losses is freed; if not, another check tells it."""
    (f, _), x = drawn_losses(draw, 3), draw.tensor(2, low=0.5, requires_grad=True)
    return all(
        isinstance(got, str) for got in helpers.several_losses(student, f, x, None)["further"]
    )


@check(points=0.5, about="sum_of_gradients", needs="test_the_gradients_of_all_losses_are_added_up")
def test_losses_of_one_value(student, reference, draw):
    """losses of equal value are told apart"""
    a, w = draw.coefficients(2)

    def losses(x):
        t = x**2 * a + 1.0
        return (t**2).sum() * w, t.exp().sum(), (t**2).sum() * w, t

    equal = (
        program(losses),
        {
            "t": f"x**2 * {a} + 1.0",
            "losses": f"[(t**2).sum() * {w}, t.exp().sum(), (t**2).sum() * {w}]",
        },
    )
    at_0 = (
        program(lambda x: ((t := x**2) - 4.0, t * 3.0 - 13.0, t**2 - 16.0, t)),
        {"t": "x**2", "losses": "[t - 4.0, t * 3.0 - 13.0, t**2 - 16.0]"},
    )
    for x, (f, formulas) in (
        (torch.tensor(2.0, dtype=torch.float64, requires_grad=True), at_0),
        (draw.tensor(0, requires_grad=True), equal),
        (draw.tensor(2, low=0.5, requires_grad=True), equal),
    ):
        each = each_gradient(f, x)
        seen = helpers.several_losses(student, f, x, None)
        if f is at_0[0]:
            seen["of_zeros"] = [each[0], each[2], each[0] + each[2]]
        details = {"inputs": {**formulas, "x": x}, "facts": {**seen, "each": each, "held": None}}
        message = "the result is not the sum of the gradients"
        helpers.assert_close(seen["result"], sum(each), message, **details)
    if not frees_three(student, draw):
        return
    details["facts"]["equal"] = True
    want = helpers.several_losses(reference, f, x, None)
    figure = partial(left_behind, student, "sum_of_gradients", f, x)
    assert_freed(seen["further"], want["further"], figure, **details)


@check(points=0.25, about="sum_of_gradients", needs="test_the_gradients_of_all_losses_are_added_up")
def test_every_loss_gets_a_backward_of_its_own(student, draw):
    """there is one pass for each loss"""
    x, count = draw.tensor(2, low=0.5, requires_grad=True), draw.integer(2, 3)
    f, formulas = drawn_losses(draw, count)
    seen = helpers.several_losses(student, f, x, None)
    if seen["passes"] != count:
        fail(
            "expected one pass for each of {count} losses, counted {passes}",
            expected=count,
            actual=seen["passes"],
            inputs={**formulas, "x": x},
            facts={**seen, "each": each_gradient(f, x), "count": count, "held": None},
        )


@check(points=0.5, about="sum_of_gradients", needs="test_the_gradients_of_all_losses_are_added_up")
def test_sum_of_gradients_frees_the_graph(student, reference, draw):
    """the trunk is freed after sum_of_gradients"""
    x, (f, formulas) = draw.tensor(2, low=0.5, requires_grad=True), drawn_losses(draw, 3)
    want = helpers.several_losses(reference, f, x, None)
    seen = helpers.several_losses(student, f, x, None)
    facts = {**seen, "each": each_gradient(f, x), "held": None}
    figure = partial(left_behind, student, "sum_of_gradients", f, x)
    details = {"inputs": {**formulas, "x": x}, "facts": facts}
    assert_freed(seen["further"], want["further"], figure, **details)
