"""no_grad_and_detach, the checks that students may read."""

from functools import partial

import torch

from grader.authoring import assert_that, check, fail, import_helpers, program, type_name

helpers = import_helpers(__file__)

CUBE = program(lambda x: x**3)
NUMBERS = torch.tensor([2.0, 3.0, 5.0]), torch.tensor([4.0, 7.0, 9.0])
CUBIC, SPREAD = program(lambda x: x**3 + x), program(lambda w: ((w - w.mean()) ** 2).sum())
TIMES_NUMBERS = program(lambda x, a: x * a, parameters=[NUMBERS[0]])
DOT_NUMBERS = program(lambda w, b: w @ b, parameters=[NUMBERS[1]])


# ------------------------------------------------------------------------------------------ predict


@check(points=0.25, about="predict")
def test_predict_gives_the_values_of_f(student, draw):
    """predict returns the value of f(x)"""
    _ = student.predict  # a file without it is told so, and what it defines instead
    drawn = draw.tensor(3, dtype=torch.float32, requires_grad=True)
    for x, f in (
        (drawn, draw.elementwise()),
        (torch.tensor([-3.0, -0.25, 0.0, 0.5, 4.0], requires_grad=True), CUBE),
    ):
        seen = student.observe("prediction", f, x, None, True)
        helpers.assert_values(
            seen["result"], f(x).detach(), "the result is not f(x)", inputs={"x": x}, facts=seen
        )


@check(points=0.5, about="predict", needs=test_predict_gives_the_values_of_f)
def test_the_numbers_of_c12(student):
    """5**3 gives 125 and its log 4.8283, without a graph"""
    x, q = torch.tensor(5.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    for f, formula, want in (
        (program(lambda x, q: x**q, parameters=[q]), "x**q", 125.0),
        (program(lambda x, q: (x**q).log(), parameters=[q]), "log(x**q)", 4.8283137),
    ):
        seen = student.observe("prediction", f, x, None, True)
        details = {"inputs": {"f": formula, "x": x, "q": q}, "facts": seen}
        helpers.assert_values(
            seen["result"], torch.tensor(want), "the result is not f(x)", **details
        )
        figures = [partial(helpers.predicted, student, f, x)]
        assert_off(seen, figures=figures, **details)
        message = "backward from the prediction did not raise, so it has a graph"
        assert_that(seen["backward"] is not None, message, figures=figures, **details)


def assert_off(seen, **details):
    """The state of a result must be that of a tensor without a graph."""
    state = seen["state"]
    details["facts"] = {**details["facts"], "node": state["node"]}
    assert_that(state["node"] is None, "the result has a graph: its grad_fn is {node}", **details)
    if state["requires_grad"]:
        fail(
            "the result requires grad, so computations with it are recorded",
            expected=False,
            actual=True,
            **details,
        )


# ---------------------------------------------------------------------------------------------- cut


@check(points=0.5, about="cut")
def test_cut_keeps_the_values_and_drops_the_graph(student, draw):
    """cut returns y's values without a graph"""
    _ = student.cut
    drawn = draw.tensor(3, dtype=torch.float32, requires_grad=True)
    for x, f in (
        (drawn, draw.elementwise()),
        (torch.tensor([-3.0, -0.25, 0.0, 0.5, 4.0], requires_grad=True), CUBE),
    ):
        seen = student.observe("taken_out", f, x, None)
        details = {"inputs": {"y": f(x)}, "facts": {**seen, "type": type_name(seen["result"])}}
        helpers.assert_values(
            seen["result"], f(x).detach(), "the result does not have the values of y", **details
        )
        assert_off(seen, figures=[partial(helpers.cut_off, student, f, x)], **details)


@check(points=0.5, about="cut", needs=test_cut_keeps_the_values_and_drops_the_graph)
def test_the_numbers_of_c14(student):
    """for y = (10, 15, 25), z is 370 and has no graph"""
    x = torch.tensor(5.0, requires_grad=True)
    seen = student.observe("taken_out", TIMES_NUMBERS, x, DOT_NUMBERS)
    details = {
        "inputs": {"y": TIMES_NUMBERS(x)},
        "facts": {**seen, "type": type_name(seen["result"])},
    }
    helpers.assert_values(
        seen["result"],
        torch.tensor([10.0, 15.0, 25.0]),
        "the result does not have the values of y",
        **details,
    )
    helpers.assert_values(
        seen["z"], torch.tensor(370.0), "z, computed from the result, is wrong", **details
    )
    assert_off(seen, figures=[partial(helpers.cut_off, student, TIMES_NUMBERS, x)], **details)
    if seen["z_state"]["requires_grad"] or seen["backward"] is None:
        figures = [partial(helpers.cut_off, student, TIMES_NUMBERS, x, DOT_NUMBERS)]
        fail(
            "backward from z, computed from the result, did not raise, so z has a graph",
            figures=figures,
            **details,
        )


# ----------------------------------------------------------------------------------- split_backward


@check(points=0.5, about="split_backward")
def test_both_gradients_come_back(student, draw):
    """split_backward returns the gradients at x and at w"""
    _ = student.split_backward  # a file without it is told so, and what it defines instead
    # the gradients at w are large, and near 0 between
    fixed = torch.tensor([-1.5, 1.1, 2.0], dtype=torch.float64, requires_grad=True)
    shown = {"first": "x**3 + x", "second": "((w - w.mean())**2).sum()"}
    drawn = draw.tensor(3, requires_grad=True)
    for x, (first, second, formulas) in (
        (drawn, helpers.drawn_pair(draw)),
        (fixed, (CUBIC, SPREAD, shown)),
    ):
        seen = student.observe("stages", first, second, x, None)
        details = {
            "inputs": {**formulas, "x": x},
            "facts": {"held": None},
            "figures": helpers.cut_figures(student, first, second, x, seen),
        }
        helpers.assert_pair(seen, helpers.both_gradients(first, second, x), **details)


@check(points=0.5, about="split_backward", needs=test_both_gradients_come_back)
def test_the_numbers_of_c16(student):
    """at x = 5 the gradients are 74 and (4, 7, 9)"""
    x = torch.tensor(5.0, requires_grad=True)
    seen = student.observe("stages", TIMES_NUMBERS, DOT_NUMBERS, x, None)
    inputs = {"first": "x * (2, 3, 5)", "second": "w @ (4, 7, 9)", "x": x}
    figures = helpers.cut_figures(student, TIMES_NUMBERS, DOT_NUMBERS, x, seen)
    helpers.assert_pair(
        seen, (torch.tensor(74.0), NUMBERS[1]), inputs=inputs, facts={"held": None}, figures=figures
    )


# ----------------------------------------------------------------------------------- bootstrap_loss


@check(points=0.25, about="bootstrap_loss")
def test_the_loss_is_the_mean_squared_difference(student, draw):
    """the loss is the mean squared difference"""
    for online, target in (
        tuple(draw.tensor(4, dtype=torch.float32, requires_grad=True) for _ in range(2)),
        (
            torch.tensor([1.0, 2.0, -3.0, 0.5], requires_grad=True),
            torch.tensor([0.75, 2.5, 1.0, -2.5], requires_grad=True),
        ),
    ):
        want = ((online - target) ** 2).mean().detach()
        got = student.bootstrap_loss(online, target)
        details = {"inputs": {"online": online, "target": target}}
        helpers.assert_values(
            got, want, "the loss is not the mean of the squared differences", **details
        )
