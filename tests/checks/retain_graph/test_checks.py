"""retain_graph's checks. Those below the line "hidden" are not handed out."""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    EngineFault,
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_that,
    assert_tuple,
    check,
    differs,
    fail,
    fetch,
    graph_figure,
    graphs_figure,
    phrase,
    prediction_figure,
    predictions,
    program,
    trace,
    type_name,
)

FREED = "RuntimeError: Trying to backward through the graph a second time …"
F32 = torch.float32


# ------------------------------------------------------------------------------ losses and leaves


def leaf(draw: RandomInputs, *shape: int, dtype: torch.dtype = torch.float64) -> Tensor:
    """A leaf of positive numbers."""
    return draw.tensor(*shape, low=0.5, dtype=dtype, requires_grad=True)


def drawn_loss(draw: RandomInputs) -> Any:
    """A function to a scalar whose nodes save tensors, and whose gradient is positive."""
    a, b = draw.coefficients(2)
    forms = [
        lambda x: (x**3 * a + (x * b).exp()).sum(),
        lambda x: ((x * a).exp() * x * b).sum(),
        lambda x: ((x * a).exp() + x.log() * b).sum(),
        lambda x: ((x**2 + a) * x.sqrt() * b).sum(),
    ]
    return program(draw.choice(forms))


def drawn_losses(draw: RandomInputs, count: int) -> Any:
    """A function to ``count`` scalars whose graphs share nodes."""
    a, *weights = draw.coefficients(4)
    forms = draw.sample(
        [
            lambda t, w: (t**2).sum() * w,
            lambda t, w: (t * t.exp()).sum() * w,
            lambda t, w: (t.sqrt() * w).sum(),
        ],
        count,
    )

    def losses(x: Any) -> Any:
        t = x**2 * a + x.log() * 0.2 + 1.0
        # + w: equal losses, and those that are 0, are the matter of another check
        return tuple(form(t, w) + w for form, w in zip(forms, weights, strict=False))

    return program(losses)


# ---------------------------------------------------------------------- a call, and what is right


def run(
    student: Student, draw: RandomInputs, name: str, f: Any, x: Tensor, held: Tensor | None = None
) -> dict[str, Any]:
    """Call a function of a loss, or of a list of losses, and of x, whose .grad is ``held``. Return
    the result and x.grad, what the scenario counts, and the true gradients.
    """
    function = getattr(student, name)  # a file without it is told so, and what it defines instead
    before = {} if held is None else {"x.grad before": held}
    draw.given(**{"loss" if f.single else "losses": f, "x": x, **before})
    losses = [f(x)] if f.single else f(x)
    each = [torch.autograd.grad(loss, x, retain_graph=True)[0] for loss in losses]
    seen = student.observe("passes", name, f, x, held)
    at = put(student, x, held)
    made = f(at)
    result, grad = fetch(function(made if f.single else list(made), at), at.grad)
    count = 2 if f.single else len(each)
    truth = {"held": held, "each": each, "one": each[0], "count": count}
    return {**seen, "result": plain(result), "grad": plain(grad), **truth}


def put(student: Student, x: Tensor, held: Tensor | None) -> Any:
    """Put x beside the student's code, with a copy of ``held`` as its .grad."""
    at = student.put(x)
    if held is not None:
        at.grad = held.clone()
    return at


def plain(value: Any) -> Any:
    """Return tensors without their graph, anything else as it is."""
    if isinstance(value, Tensor):
        return value.detach()
    return tuple(plain(item) for item in value) if isinstance(value, tuple) else value


def assert_close(
    seen: dict[str, Any], got: Any, want: Tensor, message: str, near: dict[str, float] | None
) -> None:
    """Require a gradient; without ``near``, to four digits in any dtype: checks of their own ask
    for more.
    """
    if near is None:
        near = {"rtol": 1e-4, "atol": 1e-6}
        if isinstance(got, Tensor) and got.dtype != want.dtype and got.is_floating_point():
            got = got.to(want.dtype)
    assert_gradient(got, want, message, facts=seen, **near)


def assert_both_in_grad(seen: dict[str, Any], near: dict[str, float] | None = None) -> None:
    """Require of backward_twice the sum of two gradients and of what x.grad held."""
    held = seen["held"]
    want = 2 * seen["one"] if held is None else held + 2 * seen["one"]
    message = "x.grad should be its old value plus two gradients"
    assert_close(seen, seen["result"], want, message, near)
    if held is not None:
        message = "the result is right, but x.grad does not hold it"
        assert_close(seen, seen["grad"], want, message, near)


def assert_apart(seen: dict[str, Any], near: dict[str, float] | None = None) -> None:
    """Require of two_fresh_gradients a tuple of two, each the gradient of one pass."""
    result, one = seen["result"], seen["one"]
    assert_tuple(result, 2, expected=(one, one), facts=seen)
    messages = (
        "the first result is not the gradient of one pass",
        "the second result is not the gradient of one pass",
    )
    for got, message in zip(result, messages, strict=True):
        assert_close(seen, got, one, message, near)


def assert_sum(seen: dict[str, Any], near: dict[str, float] | None = None) -> None:
    """Require of sum_of_gradients the sum of the losses' gradients."""
    message = "the result is not the sum of the gradients"
    assert_close(seen, seen["result"], sum(seen["each"]), message, near)


# ---------------------------------------------------------------------------- second_backward_error


def freed_text(x: Tensor) -> str:
    """Return what torch says of a saved tensor that is freed; a second backward says the same."""
    y = x.detach().clone().requires_grad_().exp()
    y.backward(torch.ones_like(y))
    try:
        _ = y.grad_fn._saved_result
    except RuntimeError as error:
        return str(error)
    raise EngineFault("a backward has freed nothing")


def after_backward(f: Any, x: Tensor) -> Any:
    """Return the graph of f(x) after a backward."""
    at = x.detach().clone().requires_grad_()
    y = f(at)
    y.backward(torch.ones_like(y))
    return graph_figure(y, {"x": at, "y": y})


def log_of_cube(x: Tensor) -> Tensor:
    return (x**3).log()


@check(points=0.5, about="second_backward_error")
def test_the_text_of_torchs_own_error_comes_back(student: Student, draw: RandomInputs) -> None:
    """the result is the text of torch's error"""
    for dtype in (torch.float64, F32):
        x = draw.given(x=draw.tensor(low=0.5, high=3.0, dtype=dtype, requires_grad=True))
        got, want = student.second_backward_error(x), freed_text(x)
        facts, figures = {"type": type_name(got)}, [partial(after_backward, log_of_cube, x)]
        details = {"facts": facts, "figures": figures}
        if not isinstance(got, str):
            message = "returned {type}, expected the message, a str"
            fail(message, expected=want, actual=got, **details)
        message = "the result is not the message of the second backward's RuntimeError"
        assert_equal(got, want, message, **details)


# --------------------------------------------------------------------------------- the three others


@check(points=0.5, about="backward_twice")
def test_two_passes_give_twice_the_gradient(student: Student, draw: RandomInputs) -> None:
    """two passes give twice the gradient"""
    for x in (leaf(draw), leaf(draw, draw.integer(4, 9))):
        assert_both_in_grad(run(student, draw, "backward_twice", drawn_loss(draw), x))


TWICE = test_two_passes_give_twice_the_gradient


@check(points=0.25, about="backward_twice", needs=TWICE)
def test_the_numbers_of_the_lesson(student: Student, draw: RandomInputs) -> None:
    """backward_twice gives 24 for x³ at 2, 1.2 for log(x³) at 5"""
    for f, at in ((program(lambda x: x**3), 2.0), (program(log_of_cube), 5.0)):
        x = torch.tensor(at, requires_grad=True)
        assert_both_in_grad(run(student, draw, "backward_twice", f, x))


@check(points=0.5, about="two_fresh_gradients")
def test_both_results_are_the_gradient_of_one_pass(student: Student, draw: RandomInputs) -> None:
    """both results are the gradient of one pass

    For log(x³) at 5, that is 0.6.
    """
    five = torch.tensor(5.0, requires_grad=True)
    for f, x in ((drawn_loss(draw), leaf(draw, 3)), (program(lambda x: (x**3).log()), five)):
        assert_apart(run(student, draw, "two_fresh_gradients", f, x))


APART = test_both_results_are_the_gradient_of_one_pass


@check(points=0.5, about="sum_of_gradients")
def test_the_gradients_of_all_losses_are_added_up(student: Student, draw: RandomInputs) -> None:
    """the gradients of all losses are added up"""
    for x in (leaf(draw), leaf(draw, 3)):
        assert_sum(run(student, draw, "sum_of_gradients", drawn_losses(draw, 3), x))


ADDED = test_the_gradients_of_all_losses_are_added_up


# ------------------------------------------------------------------------- SURVIVES_SECOND_BACKWARD


@check(points=0.5, about="SURVIVES_SECOND_BACKWARD")
def test_sum_multiple_and_negative_are_predicted(student: Student, draw: RandomInputs) -> None:
    """the predictions for x + 1, x * 2 and -x are right"""
    compare(student, {"x + 1": lambda x: x + 1, "x * 2": lambda x: x * 2, "-x": lambda x: -x}, draw)


@check(points=0.5, about="SURVIVES_SECOND_BACKWARD")
def test_power_exponential_and_total_are_predicted(student: Student, draw: RandomInputs) -> None:
    """the predictions for x ** 2, x.exp() and x.sum() are right"""
    expressions = {"x ** 2": lambda x: x**2, "x.exp()": torch.exp, "x.sum()": torch.sum}
    compare(student, expressions, draw)


def compare(student: Student, expressions: dict[str, Any], draw: RandomInputs) -> None:
    """Run backward of each expression twice; fail with the first wrong prediction, and what its
    node saves.
    """
    found = predictions(student, "SURVIVES_SECOND_BACKWARD", list(expressions))
    x = draw.tensor(3, low=0.5, requires_grad=True)
    truth, nodes = {}, {}
    for key, f in expressions.items():
        y = f(x)
        saved = [
            name
            for name in dir(y.grad_fn)
            if name.startswith("_saved_") and isinstance(getattr(y.grad_fn, name), Tensor)
        ]
        nodes[key] = {"key": key, "node": type(y.grad_fn).__name__, "saved": ", ".join(saved)}
        truth[key] = goes_through_twice(y)
    wrong = [key for key in expressions if found[key] is not truth[key]]
    if not wrong:
        return
    key = wrong[0]
    message = (
        "a second backward of {key} works: {node} saves no tensor, so the first pass frees nothing"
        " that the second needs"
        if truth[key]
        else "a second backward of {key} raises: {node} saves a tensor ({saved}), and the first"
        " pass frees it"
    )
    figures = [
        lambda: prediction_figure(rows_of(wrong, found, truth, nodes)),
        lambda: after_backward(expressions[key], x),
    ]
    wants, gots = ({one: by[one] for one in wrong} for by in (truth, found))
    fail(message, expected=wants, actual=gots, facts=nodes[key], figures=figures)


def rows_of(keys: list[str], found: Any, truth: Any, nodes: Any) -> list[list[Any]]:
    """Return for each expression what was predicted, what happened, and why."""
    words = {True: "survives", False: "does not survive"}
    kept = {
        True: "{node} saves no tensor",
        False: "{node} saves {saved}, which the first pass frees",
    }
    return [
        [key, words[found[key]], words[truth[key]], phrase(kept[truth[key]], **nodes[key])]
        for key in keys
    ]


def goes_through_twice(y: Tensor) -> bool:
    """Return whether a second backward from y works after one that did not retain the graph."""
    y.backward(torch.ones_like(y))
    try:
        y.backward(torch.ones_like(y))
    except RuntimeError:
        return False
    return True


# hidden


THIRDS = program(lambda x: (x / 3).sum())
SUMS = program(lambda x: ((t := x.sum() ** 2) * 3.0, t.sqrt(), t**2))
"""Losses whose gradients are one number for all elements, which autograd.grad does not copy."""
FIVE = program(lambda x: tuple((t / k).sum() for t in [x**2] for k in (5, -0.01, 7, -1, 3)))
AT_0 = program(lambda x: ((t := x**2) - 4.0, t * 3.0 - 13.0, t**2 - 16.0))
"""Losses that are 0, or not, at x = 2."""
DIGITS = {"rtol": 2e-9, "atol": 0.0}
"""A tolerance that a gradient rounded to float32 does not stay within."""


def with_grad(draw: RandomInputs) -> list[tuple[Tensor, Tensor]]:
    """Leaves, each with what its .grad holds before."""
    return [(leaf(draw, 3), draw.tensor(3)), (leaf(draw), draw.tensor())]


def assert_passes(student: Student, draw: RandomInputs, name: str, f: Any) -> None:
    """Require two passes, or one for each loss."""
    seen = run(student, draw, name, f, leaf(draw, 2))
    count, passes = seen["count"], seen["passes"]
    message = "expected {count} passes through the graph, counted {passes}"
    assert_that(passes == count, message, expected=count, actual=passes, facts=seen)


def assert_freed(
    student: Student, draw: RandomInputs, name: str, f: Any, x: Tensor, held: Tensor | None = None
) -> None:
    """Require that one more differentiation of each loss raises what a freed graph raises."""
    seen, want = run(student, draw, name, f, x, held), freed_text(x)
    for which, more in enumerate(seen["further"]):
        if not isinstance(more, str):
            message = "the graph is not freed: one more backward works and gives {more}"
            figures = [partial(left_behind, student, name, f, x, which)]
            facts = {**seen, "more": more}
            fail(message, expected=FREED, actual=more, facts=facts, figures=figures)
        message = "one more backward raises an error, but not the one of a freed graph"
        assert_equal(more, want, message, facts=seen)


def left_behind(student: Student, name: str, f: Any, x: Tensor, which: int) -> Any:
    """Return the graph of a loss as the student's function leaves it, beside a freed one."""
    at = x.detach().clone().requires_grad_()
    losses = [f(at)] if f.single else f(at)
    losses[which].backward()
    names = ["loss"] if f.single else [f"losses[{k}]" for k in range(len(losses))]
    args, root = ["loss" if f.single else names, "x"], names[which]
    seen = student.observe("graph", name, ["x", *names], [x], build=f, args=args, root=root)
    return graphs_figure(seen, trace(losses[which], {"x": at, root: losses[which]}))


@check(
    points=0.5, about="second_backward_error", needs=test_the_text_of_torchs_own_error_comes_back
)
def test_the_error_is_made_not_typed(student: Student, draw: RandomInputs) -> None:
    """the message comes from a second backward of log(x ** 3)"""
    drawn = draw.tensor(low=0.5, high=3.0, requires_grad=True)
    for x, held in ((torch.tensor(5.0, requires_grad=True), None), (drawn, draw.tensor())):
        draw.given(x=x, **{"x.grad before": held})
        seen = student.observe("error_text", x, held)
        figures = [partial(after_backward, log_of_cube, x)]
        message = "the result is not the message of the second backward's RuntimeError"
        assert_equal(seen["result"], freed_text(x), message, facts=seen)
        slope, slopes = 3 / x.detach(), seen["slopes"]
        if slopes and not any(torch.allclose(got, slope) for got in slopes):
            message = "the gradient that reached x is not that of log(x ** 3)"
            fail(message, expected=slope, actual=slopes[0], facts=seen)
        if seen["saved"] and not seen["cubed"]:
            message = (
                "your function did not build log(x ** 3): no node saved x ** 3, as the node of log"
                " does"
            )
            fail(message, expected=x.detach() ** 3, facts=seen)
        if not seen["raised"]:
            message = "no second backward raised an error in your function"
            fail(message, expected=1, actual=0, facts=seen, figures=figures)
        worked = seen["passes"] - seen["raised"]
        message = "{worked} passes worked, expected one: the second already raises"
        facts = {**seen, "worked": worked}
        assert_that(worked == 1, message, expected=1, actual=worked, facts=facts)


# ----------------------------------------------------------------------------------- backward_twice


@check(points=0.25, about="backward_twice", needs=TWICE)
def test_backward_twice_counts_what_was_there(student: Student, draw: RandomInputs) -> None:
    """backward_twice adds to the old x.grad"""
    for x, held in with_grad(draw):
        assert_both_in_grad(run(student, draw, "backward_twice", drawn_loss(draw), x, held))


def any_leaf(draw: RandomInputs) -> list[tuple[Any, Tensor, dict[str, float]]]:
    """Losses with leaves of other shapes and dtypes, each with a tolerance."""
    leaves = (
        leaf(draw, 3, dtype=F32),
        draw.noncontiguous(2, 3, low=0.5, dtype=F32, requires_grad=True),
        leaf(draw, *draw.shapes()[-1]),
        leaf(draw, 0),
    )
    one_number = program(lambda x: x.sum() ** 2)
    return [
        *((drawn_loss(draw), x, {}) for x in leaves),
        (one_number, leaf(draw, 3), {}),
        (THIRDS, leaf(draw, 3), DIGITS),
    ]


@check(points=0.25, about="backward_twice", needs=TWICE)
def test_backward_twice_works_for_any_x(student: Student, draw: RandomInputs) -> None:
    """backward_twice works for any x, to all digits"""
    for f, x, near in any_leaf(draw):
        assert_both_in_grad(run(student, draw, "backward_twice", f, x), near)


@check(points=0.5, about="backward_twice", needs=TWICE)
def test_backward_twice_goes_through_the_graph_twice(student: Student, draw: RandomInputs) -> None:
    """backward_twice runs two passes through the graph"""
    assert_passes(student, draw, "backward_twice", drawn_loss(draw))


@check(points=0.5, about="backward_twice", needs=TWICE)
def test_backward_twice_frees_the_graph(student: Student, draw: RandomInputs) -> None:
    """the graph is freed after backward_twice"""
    for x, held in [(leaf(draw, 3, dtype=F32), None), *with_grad(draw)]:
        assert_freed(student, draw, "backward_twice", drawn_loss(draw), x, held)


# ------------------------------------------------------------------------------ two_fresh_gradients


@check(points=0.5, about="two_fresh_gradients", needs=APART)
def test_two_fresh_gradients_ignore_what_was_there(student: Student, draw: RandomInputs) -> None:
    """neither result contains the old x.grad"""
    for x, held in with_grad(draw):
        assert_apart(run(student, draw, "two_fresh_gradients", drawn_loss(draw), x, held))


@check(points=0.25, about="two_fresh_gradients", needs=APART)
def test_two_fresh_gradients_work_for_any_x(student: Student, draw: RandomInputs) -> None:
    """two_fresh_gradients works for any x, to all digits"""
    for f, x, near in any_leaf(draw):
        assert_apart(run(student, draw, "two_fresh_gradients", f, x), near)


@check(points=0.5, about="two_fresh_gradients", needs=APART)
def test_the_results_and_grad_share_no_memory(student: Student, draw: RandomInputs) -> None:
    """the two results and x.grad share no memory"""
    names = ("the first result", "the second result", "x.grad")
    for x, held in (
        (leaf(draw, 2), draw.tensor(2)),
        (leaf(draw, 2, 3), None),
        (leaf(draw, dtype=F32), None),
    ):
        f, amount = drawn_loss(draw), draw.integer(10, 99)
        draw.given(**{"loss": f, "x": x, "x.grad before": held})
        at = put(student, x, held)
        pair = student.two_fresh_gradients(f(at), at)
        tensors = pair[0], pair[1], at.grad
        before = copies(tensors)
        for written in (0, 1):
            tensors[written].detach().add_(amount)
            after = copies(tensors)
            changed = [k for k in range(3) if k != written and differs(after[k], before[k])]
            for k in changed:
                facts = {"written": names[written], "other": names[k], "amount": amount}
                facts |= {"before": before[k], "after": after[k], "changed": len(changed)}
                message = "adding {amount} to {written} also changed {other}"
                fail(message, expected=before[k], actual=after[k], facts=facts)
            before = after


def copies(tensors: Any) -> list[Tensor | None]:
    """Return what remote tensors hold now."""
    return [None if one is None else one.detach().clone() for one in fetch(*tensors)]


@check(points=0.5, about="two_fresh_gradients", needs=APART)
def test_two_fresh_gradients_go_through_the_graph_twice(
    student: Student, draw: RandomInputs
) -> None:
    """two_fresh_gradients runs two passes through the graph"""
    assert_passes(student, draw, "two_fresh_gradients", drawn_loss(draw))


@check(points=0.5, about="two_fresh_gradients", needs=APART)
def test_two_fresh_gradients_free_the_graph(student: Student, draw: RandomInputs) -> None:
    """the graph is freed after two_fresh_gradients"""
    for x, held in [(leaf(draw, 3, dtype=F32), None), *with_grad(draw)]:
        assert_freed(student, draw, "two_fresh_gradients", drawn_loss(draw), x, held)


# --------------------------------------------------------------------------------- sum_of_gradients


@check(points=0.5, about="sum_of_gradients", needs=ADDED)
def test_sum_of_gradients_ignores_what_was_there(student: Student, draw: RandomInputs) -> None:
    """the sum does not contain the old x.grad"""
    for x, held in with_grad(draw):
        f = drawn_losses(draw, draw.integer(2, 3))
        assert_sum(run(student, draw, "sum_of_gradients", f, x, held))


@check(points=0.25, about="sum_of_gradients", needs=ADDED)
def test_sum_of_gradients_works_for_any_x(student: Student, draw: RandomInputs) -> None:
    """sum_of_gradients works for any x, to all digits"""
    strided = draw.noncontiguous(2, 3, low=0.5, dtype=F32, requires_grad=True)
    for f, x, near in (
        (drawn_losses(draw, 2), strided, {}),
        (drawn_losses(draw, 3), leaf(draw, *draw.shapes()[-1]), {}),
        (drawn_losses(draw, 2), leaf(draw, 0), {}),
        (SUMS, leaf(draw, 3), DIGITS),
        (SUMS, leaf(draw), DIGITS),
        (FIVE, leaf(draw, 2), DIGITS),
    ):
        assert_sum(run(student, draw, "sum_of_gradients", f, x), near)


@check(points=0.5, about="sum_of_gradients", needs=ADDED)
def test_one_loss_is_enough(student: Student, draw: RandomInputs) -> None:
    """a list of one loss works"""
    for x in (leaf(draw), leaf(draw, 3, dtype=F32)):
        f = drawn_losses(draw, 1)
        assert_sum(run(student, draw, "sum_of_gradients", f, x))
        if frees_three(student, draw):
            assert_freed(student, draw, "sum_of_gradients", f, x)


def frees_three(student: Student, draw: RandomInputs) -> bool:
    """Return whether the graph of three losses is freed; if not, another check tells it."""
    seen = student.observe("passes", "sum_of_gradients", drawn_losses(draw, 3), leaf(draw, 2), None)
    return all(isinstance(more, str) for more in seen["further"])


@check(points=0.5, about="sum_of_gradients", needs=ADDED)
def test_losses_of_one_value(student: Student, draw: RandomInputs) -> None:
    """losses of equal value are told apart"""
    a, w = draw.coefficients(2)

    def losses(x: Any) -> Any:
        t = x**2 * a + 1.0
        return (t**2).sum() * w, t.exp().sum(), (t**2).sum() * w

    two = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    seen = run(student, draw, "sum_of_gradients", AT_0, two)
    one, _, other = seen["each"]
    assert_sum({**seen, "of_zeros": [one, other, one + other]})
    equal, x = program(losses), leaf(draw, 2)
    assert_sum(run(student, draw, "sum_of_gradients", equal, x))
    if frees_three(student, draw):
        assert_freed(student, draw, "sum_of_gradients", equal, x)


@check(points=0.25, about="sum_of_gradients", needs=ADDED)
def test_every_loss_gets_a_backward_of_its_own(student: Student, draw: RandomInputs) -> None:
    """there is one pass for each loss"""
    assert_passes(student, draw, "sum_of_gradients", drawn_losses(draw, draw.integer(2, 3)))


@check(points=0.5, about="sum_of_gradients", needs=ADDED)
def test_sum_of_gradients_frees_the_graph(student: Student, draw: RandomInputs) -> None:
    """the trunk is freed after sum_of_gradients"""
    assert_freed(student, draw, "sum_of_gradients", drawn_losses(draw, 3), leaf(draw, 2))
