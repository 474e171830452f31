"""retain_graph, the checks that students may read."""

from functools import partial

import torch

from grader.authoring import (
    EngineFault,
    assert_equal,
    check,
    fail,
    graph_figure,
    import_helpers,
    phrase,
    prediction_figure,
    predictions,
    program,
    type_name,
)

helpers = import_helpers(__file__)


def drawn_loss(draw):
    """Return a function of x to a scalar and its formula. Its gradient is positive for x > 0, and
    its backward needs saved tensors.
    """
    a, b = draw.coefficients(2)
    return draw.choice(
        [
            (
                program(lambda x: (x**3 * a + (x * b).exp()).sum()),
                f"(x**3 * {a} + (x * {b}).exp()).sum()",
            ),
            (
                program(lambda x: ((x * a).exp() * x * b).sum()),
                f"((x * {a}).exp() * x * {b}).sum()",
            ),
            (program(lambda x: (x**2 * a + x**3 * b).sum()), f"(x**2 * {a} + x**3 * {b}).sum()"),
        ]
    )


def freed(x):
    """Return what torch says of a saved tensor that is freed; a second backward says the same."""
    y = x.detach().clone().requires_grad_().exp()
    y.backward()
    try:
        _ = y.grad_fn._saved_result
    except RuntimeError as error:
        return str(error)
    raise EngineFault("a backward has freed nothing")


@check(points=0.5, about="second_backward_error")
def test_the_text_of_torchs_own_error_comes_back(student, draw):
    """the result is the text of torch's error"""
    for dtype in (torch.float64, torch.float32):
        x = draw.tensor(low=0.5, high=3.0, dtype=dtype, requires_grad=True)
        want = freed(x)
        got = student.second_backward_error(x)
        details = {
            "inputs": {"x": x},
            "facts": {"type": type_name(got)},
            "figures": [partial(after_backward, cube, x)],
        }
        if not isinstance(got, str):
            fail(
                "returned {type}, expected the message, a str", expected=want, actual=got, **details
            )
        assert_equal(
            got,
            want,
            "the result is not the message of the second backward's RuntimeError",
            **details,
        )


@check(points=0.5, about="backward_twice")
def test_two_passes_give_twice_the_gradient(student, draw):
    """two passes give twice the gradient"""
    _ = student.backward_twice  # a file without it gets told so, and what it defines instead
    for x, (f, formula) in (
        (draw.tensor(low=0.5, requires_grad=True), drawn_loss(draw)),
        (draw.tensor(draw.integer(4, 9), low=0.5, requires_grad=True), drawn_loss(draw)),
    ):
        (one,) = torch.autograd.grad(f(x), x)
        seen = helpers.one_loss(student, "backward_twice", f, x, None)
        details = {"inputs": {"loss": formula, "x": x}, "facts": {**seen, "one": one, "held": None}}
        helpers.assert_close(
            seen["result"], 2 * one, "the result is not the sum of two passes", **details
        )


@check(points=0.25, about="backward_twice", needs=test_two_passes_give_twice_the_gradient)
def test_the_numbers_of_the_lesson(student):
    """backward_twice gives 24 for x³ at 2, 1.2 for log(x³) at 5"""
    for f, formula, at, want in (
        (program(lambda x: x**3), "x**3", 2.0, 24.0),
        (program(lambda x: (x**3).log()), "log(x**3)", 5.0, 1.2),
    ):
        x = torch.tensor(at, requires_grad=True)
        seen = helpers.one_loss(student, "backward_twice", f, x, None)
        details = {
            "inputs": {"loss": formula, "x": x},
            "facts": {**seen, "one": torch.tensor(want / 2), "held": None},
        }
        helpers.assert_close(
            seen["result"], torch.tensor(want), "the result is not the sum of two passes", **details
        )


@check(points=0.5, about="two_fresh_gradients")
def test_both_results_are_the_gradient_of_one_pass(student, draw):
    """both results are the gradient of one pass"""
    _ = student.two_fresh_gradients  # a file without it gets told so, and what it defines instead
    at, (drawn, its_formula) = draw.tensor(3, low=0.5, requires_grad=True), drawn_loss(draw)
    (slope,) = torch.autograd.grad(drawn(at), at)
    log_of_a_cube = (
        program(lambda x: (x**3).log()),
        "log(x**3)",
        torch.tensor(5.0, requires_grad=True),
        torch.tensor(0.6),
    )
    for f, formula, x, one in ((drawn, its_formula, at, slope), log_of_a_cube):
        seen = helpers.one_loss(student, "two_fresh_gradients", f, x, None)
        result = seen["result"]
        details = {
            "inputs": {"loss": formula, "x": x},
            "facts": {**seen, "one": one, "held": None, "type": type_name(result)},
        }
        if not isinstance(result, tuple):
            fail(
                "returned {type}, expected a tuple of two Tensors",
                expected=(one, one),
                actual=result,
                **details,
            )
        if len(result) != 2:
            details["facts"]["count"] = len(result)
            fail(
                "the tuple holds {count} values, expected two Tensors",
                expected=(one, one),
                actual=result,
                **details,
            )
        helpers.assert_close(
            result[0], one, "the first result is not the gradient of one pass", **details
        )
        helpers.assert_close(
            result[1], one, "the second result is not the gradient of one pass", **details
        )


@check(points=0.5, about="sum_of_gradients")
def test_the_gradients_of_all_losses_are_added_up(student, draw):
    """the gradients of all losses are added up"""
    _ = student.sum_of_gradients  # a file without it gets told so, and what it defines instead
    a, b, c = draw.coefficients(3)

    def losses(x):
        t = (x * a).exp()
        return t.sum(), (t**2).sum() * b, (t**3 + t).sum() * c, t

    f, trunk = program(losses), f"(x * {a}).exp()"
    formulas = f"[t.sum(), (t**2).sum() * {b}, (t**3 + t).sum() * {c}]"
    for x in (
        draw.tensor(low=0.5, requires_grad=True),
        draw.tensor(3, low=0.5, requires_grad=True),
    ):
        *outputs, _ = f(x)
        each = [torch.autograd.grad(loss, x, retain_graph=True)[0] for loss in outputs]
        seen = helpers.several_losses(student, f, x, None)
        inputs = {"t": trunk, "losses": formulas, "x": x}
        helpers.assert_close(
            seen["result"],
            sum(each),
            "the result is not the sum of the three gradients",
            inputs=inputs,
            facts={**seen, "each": each, "held": None},
        )


@check(points=0.5, about="SURVIVES_SECOND_BACKWARD")
def test_sum_multiple_and_negative_are_predicted(student, draw):
    """the predictions for x + 1, x * 2 and -x are right"""
    compare(student, {"x + 1": lambda x: x + 1, "x * 2": lambda x: x * 2, "-x": lambda x: -x}, draw)


@check(points=0.5, about="SURVIVES_SECOND_BACKWARD")
def test_power_exponential_and_total_are_predicted(student, draw):
    """the predictions for x ** 2, x.exp() and x.sum() are right"""
    compare(
        student,
        {"x ** 2": lambda x: x**2, "x.exp()": lambda x: x.exp(), "x.sum()": lambda x: x.sum()},
        draw,
    )


def compare(student, expressions, draw):
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
            if name.startswith("_saved_") and isinstance(getattr(y.grad_fn, name), torch.Tensor)
        ]
        nodes[key] = {"key": key, "node": type(y.grad_fn).__name__, "saved": ", ".join(saved)}
        truth[key] = goes_through_twice(y)
    wrong = [key for key in expressions if found[key] is not truth[key]]
    if not wrong:
        return
    details = {
        "expected": {key: truth[key] for key in wrong},
        "actual": {key: found[key] for key in wrong},
        "facts": nodes[wrong[0]],
        "figures": [
            lambda: prediction_figure(rows_of(wrong, found, truth, nodes)),
            lambda: after_backward(expressions[wrong[0]], x),
        ],
    }
    if truth[wrong[0]]:
        fail(
            "a second backward of {key} works: {node} saves no tensor, so the first pass frees"
            " nothing that the second needs",
            **details,
        )
    fail(
        "a second backward of {key} raises: {node} saves a tensor ({saved}), and the first pass"
        " frees it",
        **details,
    )


def rows_of(keys, found, truth, nodes):
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


def cube(x):
    """Return the function that the lesson runs backward through twice."""
    return x**3


def after_backward(f, x):
    """Return the graph of f(x) after a backward."""
    leaf = x.detach().clone().requires_grad_()
    y = f(leaf)
    y.backward(torch.ones_like(y))
    return graph_figure(y, {"x": leaf, "y": y})


def goes_through_twice(y):
    """Return whether a second backward from y works after one that did not retain the graph."""
    y.backward(torch.ones_like(y))
    try:
        y.backward(torch.ones_like(y))
    except RuntimeError:
        return False
    return True
