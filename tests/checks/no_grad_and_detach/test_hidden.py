"""no_grad_and_detach, the checks that are not handed out."""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
    program,
    type_name,
)

helpers = import_helpers(__file__)
TIMES_ONE = program(lambda x: x * 1)
ITSELF = program(lambda x: x)

MODES = {True: "on", False: "off"}


def drawn_layer(draw, dtype=torch.float32):
    """A function with a parameter that requires grad, and its formula."""
    w, a = draw.tensor(3, dtype=dtype, requires_grad=True), draw.coefficients(1)[0]
    form = draw.choice(
        [
            (lambda x, w: (x * w).exp() * a, f"(x * w).exp() * {a}"),
            (lambda x, w: (x * w + x**2 * a).sin(), f"(x * w + x**2 * {a}).sin()"),
        ]
    )
    return program(form[0], parameters=[w]), {"f": form[1], "w": w}


# ------------------------------------------------------------------------------------------ predict


@check(points=0.5, about="predict", needs="test_predict_gives_the_values_of_f")
def test_no_node_is_made_while_f_runs(student, draw):
    """f runs without recording, also with parameters"""
    for x, through, enabled in (
        (draw.tensor(3, requires_grad=True), None, True),
        (draw.tensor(3), None, True),
        (draw.tensor(3, requires_grad=True), program(lambda x: x * 2), True),
        (draw.tensor(3, requires_grad=True), None, False),
    ):
        x = x.detach().float().requires_grad_(x.requires_grad)
        f, formula = drawn_layer(draw)
        seen = student.observe("prediction", f, x, through, enabled)
        shown = x if through is None else through(x)
        inputs = {"x": shown, **formula, "torch.is_grad_enabled()": enabled}
        details = {"inputs": inputs, "facts": seen}
        helpers.assert_values(
            seen["result"], f(shown).detach(), "the result is not f(x)", **details
        )
        for node in seen["nodes_inside"]:
            details["facts"] = {**seen, "built": node}
            drawn = {"figures": [partial(helpers.predicted, student, f, x, through, inside=True)]}
            assert_that(
                node is None,
                "f was recorded inside predict: its result had the grad_fn {built}",
                **details,
                **drawn,
            )
        figures = [partial(helpers.predicted, student, f, x, through)]
        assert_that(
            seen["state"]["node"] is None, "the prediction has a graph", figures=figures, **details
        )


@check(points=0.5, about="predict", needs="test_predict_gives_the_values_of_f")
def test_the_mode_is_back_afterwards(student, draw):
    """grad mode is restored, whether it was on or off"""
    recorded = False
    for enabled in (True, False):
        x = draw.tensor(3, dtype=torch.float32, requires_grad=True)
        f, formula = drawn_layer(draw)
        seen = student.observe("prediction", f, x, None, enabled)
        details = {
            "inputs": {"x": x, **formula, "torch.is_grad_enabled()": enabled},
            "facts": {**seen, "enabled": enabled},
        }
        helpers.assert_values(seen["result"], f(x).detach(), "the result is not f(x)", **details)
        assert_mode(seen, enabled, **details)
        recorded = recorded or any(seen["nodes_inside"])
        seen = student.observe("nested", f, x, enabled)
        inputs = {**details["inputs"], "f": f"a function that calls predict for {formula['f']}"}
        details = {"inputs": inputs, "facts": {**seen, "enabled": enabled}}
        helpers.assert_values(seen["result"], f(x).detach(), "the result is not f(x)", **details)
        assert_mode(seen, enabled, **details)
        if recorded:
            continue
        after = student.observe("switching", f, x, enabled, not enabled)
        facts = {"left": MODES[not enabled], "was": MODES[enabled], "is": MODES[after]}
        message = "f left grad mode {left}; it was {was} before predict, and is {is} afterwards"
        inputs = {**inputs, "f": f"a function that leaves grad mode {facts['left']}"}
        details = {"inputs": inputs, "facts": facts}
        assert_that(after is enabled, message, expected=enabled, actual=after, **details)


def assert_mode(
    seen, enabled, message="grad mode was {was} before predict, and is {is} afterwards", **details
):
    """The grad mode afterwards must be that from before."""
    details["facts"] = {**details["facts"], "was": MODES[enabled], "is": MODES[seen["mode_after"]]}
    assert_that(
        seen["mode_after"] is enabled,
        message,
        expected=enabled,
        actual=seen["mode_after"],
        **details,
    )


@check(points=0.5, about="predict", needs="test_predict_gives_the_values_of_f")
def test_the_mode_is_back_when_f_raises(student, draw):
    """f's exception reaches the caller; grad mode is restored"""
    for kind, enabled in (
        ("ValueError", True),
        ("ValueError", False),
        ("KeyboardInterrupt", True),
        ("StopIteration", True),
    ):
        x = draw.tensor(3, dtype=torch.float32, requires_grad=True)
        f, _ = drawn_layer(draw)
        text = f"not today, {draw.integer(100, 999)}"
        seen = student.observe("raising", f, x, kind, text, enabled)
        inputs = {"x": x, "f": f"raise {kind}(…)", "torch.is_grad_enabled()": enabled}
        details = {"inputs": inputs, "facts": {**seen, "enabled": enabled, "kind": kind}}
        if seen["raised"] is None:
            message = "f raised {kind}, but predict returned instead of raising it"
            fail(message, actual=seen["result"], **details)
        if not seen["itself"]:
            message = "f raised {kind}, and predict raised a different exception: {raised}"
            fail(message, **details)
        message = "grad mode was {was} before predict, and is {is} after f raised {kind}"
        assert_mode(seen, enabled, message, **details)


@check(points=0.25, about="predict", needs="test_predict_gives_the_values_of_f")
def test_predict_takes_any_tensor(student, draw):
    """predict takes every shape and both dtypes"""
    for x, f in (
        (draw.noncontiguous(2, 3, dtype=torch.float32), draw.elementwise()),
        (draw.tensor(requires_grad=True), draw.elementwise()),
        (draw.tensor(2, 0, requires_grad=True), draw.elementwise()),
        (draw.tensor(*draw.shapes()[-1], requires_grad=True), draw.elementwise()),
        (draw.tensor(3, requires_grad=True), ITSELF),
    ):
        seen = student.observe("prediction", f, x, None, True)
        want = f(x).detach()
        details = {"inputs": {"x": x}, "facts": seen, **helpers.tolerances(want)}
        assert_tensor(seen["result"], want, "the result is not f(x)", **details)


@check(points=0.25, about="predict", needs="test_predict_gives_the_values_of_f")
def test_predict_leaves_x_alone(student, draw):
    """predict leaves x unchanged"""
    itself = ITSELF, {"f": "x"}
    for x, through, (f, formula) in (
        (draw.tensor(3, requires_grad=True), None, drawn_layer(draw)),
        (draw.tensor(3), None, drawn_layer(draw)),
        (draw.tensor(3, requires_grad=True), program(lambda x: x.exp()), drawn_layer(draw)),
        (draw.tensor(3, requires_grad=True), None, itself),
    ):
        x = x.detach().float().requires_grad_(x.requires_grad)
        seen = student.observe("prediction", f, x, through, True)
        details = {
            "inputs": {"x": x if through is None else through(x), **formula},
            "facts": {**seen, "name": "x"},
        }
        helpers.assert_values(
            seen["result"], f(details["inputs"]["x"]).detach(), "the result is not f(x)", **details
        )
        assert_unchanged(seen["x_before"], seen["x_after"], **details)
    for leaf in (True, False):
        x = draw.tensor(3, dtype=torch.float32, requires_grad=leaf)
        seen = student.observe("raising", drawn_layer(draw)[0], x, "ValueError", "", True)
        details = {"inputs": {"x": x, "f": "raise ValueError(…)"}, "facts": {"name": "x"}}
        details["facts"] |= {at: seen[at] for at in ("x_before", "x_after")}
        assert_unchanged(seen["x_before"], seen["x_after"], **details)


def assert_unchanged(before, after, **details):
    """Two states of a tensor must be the same."""
    for key in WORDS:
        details["facts"] = {
            **details["facts"],
            "what": WORDS[key],
            "before": str(before[key]),
            "after": str(after[key]),
        }
        assert_equal(
            after[key],
            before[key],
            "{name}.{what} was {before} before the call, and is {after} afterwards",
            **details,
        )
    assert_equal(after["values"], before["values"], "the values of {name} were changed", **details)
    assert_equal(after["grad"], before["grad"], "{name}.grad was changed", **details)


WORDS = {
    "node": "grad_fn",
    "requires_grad": "requires_grad",
    "leaf": "is_leaf",
    "retains_grad": "retains_grad",
}


# ---------------------------------------------------------------------------------------------- cut


@check(points=0.5, about="cut", needs="test_cut_keeps_the_values_and_drops_the_graph")
def test_y_is_left_as_it_is(student, draw):
    """y keeps its values and its place in its graph"""
    for x, f in (
        (draw.tensor(3, dtype=torch.float32, requires_grad=True), draw.elementwise()),
        (draw.tensor(2, 2, dtype=torch.float32, requires_grad=True), draw.elementwise()),
        (draw.tensor(3, dtype=torch.float32, requires_grad=True), None),
    ):
        y = x if f is None else f(x)
        (want,) = torch.autograd.grad(y.sum(), x, retain_graph=True)
        seen = student.observe("taken_out", f, x, None)
        details = {
            "inputs": {"y": y},
            "facts": {**seen, "name": "y", "type": type_name(seen["result"])},
        }
        helpers.assert_values(
            seen["result"], y.detach(), "the result does not have the values of y", **details
        )
        details["figures"] = [partial(helpers.left_alone, student, f, x)]
        assert_unchanged(seen["y_before"], seen["y_after"], **details)
        assert_that(seen["same_node"], "y.grad_fn is a different node after the call", **details)
        if not isinstance(seen["gradient"], list):
            fail(
                "backward from y raises after the call: {error}",
                **{**details, "facts": {**details["facts"], "error": seen["gradient"]}},
            )
        assert_gradient(
            seen["gradient"][0],
            want,
            "the gradient through y is different after the call",
            **details,
        )


@check(points=0.5, about="cut", needs="test_cut_keeps_the_values_and_drops_the_graph")
def test_the_cut_factor_is_a_constant(student, draw):
    """in y * cut(y), cut(y) counts as a constant"""
    x, f = draw.tensor(3, dtype=torch.float32, requires_grad=True), draw.elementwise()
    y = f(x)
    (want,) = torch.autograd.grad((y * y.detach()).sum(), x, retain_graph=True)
    (whole,) = torch.autograd.grad((y * y).sum(), x, retain_graph=True)
    seen = student.observe("mixed", f, x)
    figures = [partial(helpers.one_factor, student, f, x)]
    details = {"inputs": {"x": x, "y": y}, "facts": {**seen, "whole": whole}, "figures": figures}
    if not isinstance(seen["gradient"], list):
        fail(
            "backward from y * cut(y) gave no gradient",
            expected=want,
            actual=seen["gradient"],
            **details,
        )
    assert_gradient(seen["gradient"][0], want, "the gradient of y * cut(y) is wrong", **details)


@check(points=0.5, about="cut", needs="test_cut_keeps_the_values_and_drops_the_graph")
def test_cut_takes_any_tensor(student, draw):
    """cut takes leaves, every shape, inf and NaN"""
    odd = torch.tensor(
        [float("inf"), float("-inf"), float("nan"), 1e-300, -1.5e300],
        dtype=torch.float64,
        requires_grad=True,
    )
    for x, f in (
        (draw.noncontiguous(2, 3, requires_grad=True, digits=None), program(lambda x: x.t())),
        (draw.tensor(requires_grad=True, digits=None), None),
        (draw.tensor(dtype=torch.float32, requires_grad=True, digits=None), draw.elementwise()),
        (draw.tensor(0, 3, requires_grad=True), draw.elementwise()),
        (draw.tensor(3), None),
        (draw.tensor(*draw.shapes()[-1], requires_grad=True), draw.elementwise()),
        (odd, program(lambda x: x.clone())),
    ):
        y = x if f is None else f(x)
        seen = student.observe("taken_out", f, x, None)
        details = {"inputs": {"y": y}, "facts": {**seen, "type": type_name(seen["result"])}}
        assert_tensor(
            seen["result"],
            y.detach(),
            "the result does not have the values of y",
            rtol=0.0,
            atol=0.0,
            expects_nan=x is odd,
            **details,
        )
        if seen["state"]["requires_grad"]:
            details["figures"] = [partial(helpers.cut_off, student, f, x)]
            fail(
                "the result requires grad, so computations with it are recorded",
                expected=False,
                actual=True,
                **details,
            )
        if not y.requires_grad:
            details["facts"] = {**seen, "name": "y"}
            assert_unchanged(seen["y_before"], seen["y_after"], **details)


# ----------------------------------------------------------------------------------- split_backward


@check(points=0.5, about="split_backward", needs="test_both_gradients_come_back")
def test_what_grad_held_is_not_counted(student, draw):
    """the result does not contain the old x.grad"""
    x, held = draw.tensor(3, requires_grad=True), draw.tensor(3)
    first, second, formulas = helpers.drawn_pair(draw)
    seen = student.observe("stages", first, second, x, held)
    inputs = {**formulas, "x": x, "x.grad before": held}
    want = helpers.both_gradients(first, second, x)
    helpers.assert_pair(seen, want, inputs=inputs, facts={"held": held})
    before, after = ({**seen[when], "grad": None} for when in ("x_before", "x_after"))
    assert_unchanged(before, after, inputs=inputs, facts={**seen, "name": "x"})
    inputs = {"first": "x", "second": formulas["second"], "x": x}
    seen = student.observe("stages", ITSELF, second, x, None)
    before, after = ({**seen[when], "grad": None} for when in ("x_before", "x_after"))
    assert_unchanged(before, after, inputs=inputs, facts={**seen, "name": "x"})


@check(points=0.5, about="split_backward", needs="test_both_gradients_come_back")
def test_second_begins_at_a_leaf(student, draw):
    """the function second receives a leaf that requires grad"""
    x = torch.tensor(5.0, requires_grad=True)
    ten = program(lambda x, a: x * a, parameters=[torch.tensor([2.0, 3.0, 5.0])])
    dot = program(lambda w, b: w @ b, parameters=[torch.tensor([4.0, 7.0, 9.0])])
    drawn, (first, second, formulas) = draw.tensor(3, requires_grad=True), helpers.drawn_pair(draw)
    layer = program(lambda x, a: x * a, parameters=[draw.tensor(3, requires_grad=True)])
    for at, one, two, inputs in (
        (x, ten, dot, {"first": "x * (2, 3, 5)", "second": "w @ (4, 7, 9)"}),
        (drawn, first, second, formulas),
        (drawn, ITSELF, second, {"first": "x", "second": formulas["second"]}),
        (drawn, layer, second, {"first": "x * a with a parameter a", "second": formulas["second"]}),
    ):
        want = helpers.both_gradients(one, two, at)
        seen = student.observe("stages", one, two, at, None)
        details = {
            "inputs": {**inputs, "x": at},
            "facts": {**seen, "held": None, "at_x": want[0], "at_w": want[1]},
        }
        assert_that(bool(seen["given"]), "second was never called", **details)
        details["figures"] = helpers.cut_figures(student, one, two, at, seen)
        for w, z in zip(seen["given"], seen["made"], strict=True):
            details["facts"] = {**details["facts"], "w_node": w["node"]}
            message = "second got a tensor that has a graph: its grad_fn is {w_node}"
            assert_that(w["node"] is None, message, **details)
            assert_that(
                w["leaf"] and w["requires_grad"],
                "second got a tensor that does not require grad",
                expected=True,
                **details,
            )
            helpers.assert_values(
                torch.tensor(w["values"], dtype=at.dtype),
                one(at).detach(),
                "second got a tensor that does not have the values of y",
                **details,
            )
            helpers.assert_values(
                torch.tensor(z, dtype=at.dtype),
                two(one(at)).detach(),
                "z is not second(w)",
                **details,
            )
        helpers.assert_pair(seen, want, **details)


def rows_pair(draw):
    """Functions for the two stages whose shapes go from (n,) over (2, n) to a scalar, and their
    formulas.
    """
    a, b, c = draw.coefficients(3)
    rows = draw.tensor(2, 1)

    def first(x, r):
        return (x * a).sin() * r + x**2 * b

    def second(w):
        return ((w * c).sin() + w**3).sum()

    formulas = {
        "first": f"(x * {a}).sin() * rows + x**2 * {b}",
        "rows": rows,
        "second": f"((w * {c}).sin() + w**3).sum()",
    }
    return program(first, parameters=[rows]), program(second), formulas


@check(points=0.5, about="split_backward", needs="test_both_gradients_come_back")
def test_any_shape_goes_through_both_stages(student, draw):
    """split_backward takes 0-d, empty and float32 tensors"""
    total = program(lambda x: (x**2).sum())
    cube, wave = program(lambda x: x**3), program(lambda w: (w**2).sin().sum())
    for x, first, second, formulas in (
        (draw.tensor(3, requires_grad=True), *rows_pair(draw)),
        (
            draw.noncontiguous(2, 3, dtype=torch.float32, requires_grad=True),
            program(lambda x: x.t() * x.t()),
            wave,
            {"first": "x.t() * x.t()", "second": "(w**2).sin().sum()"},
        ),
        (
            draw.tensor(requires_grad=True),
            cube,
            wave,
            {"first": "x**3", "second": "(w**2).sin().sum()"},
        ),
        (
            draw.tensor(3, requires_grad=True),
            total,
            program(lambda w: w * w.sin()),
            {"first": "(x**2).sum()", "second": "w * w.sin()"},
        ),
        (
            draw.tensor(3, dtype=torch.float32, requires_grad=True),
            program(lambda x, k: x * x * k, parameters=[(k := draw.tensor(3))]),
            wave,
            {"first": "x * x * k", "k": k, "second": "(w**2).sin().sum()"},
        ),
        (
            draw.tensor(2, 3, dtype=torch.float32, requires_grad=True),
            program(lambda x, k: x.split([3, 0], 1)[1] * k, parameters=[(k := draw.tensor(1))]),
            wave,
            {"first": "x.split([3, 0], 1)[1] * k", "k": k, "second": "(w**2).sin().sum()"},
        ),
        *(
            (
                draw.tensor(*shape, requires_grad=True),
                cube,
                wave,
                {"first": "x**3", "second": "(w**2).sin().sum()"},
            )
            for shape in ((0,), (0, 3), (2, 1, 2, 1, draw.integer(2, 4)))
        ),
    ):
        seen = student.observe("stages", first, second, x, None)
        helpers.assert_pair(
            seen,
            helpers.both_gradients(first, second, x),
            exact=True,
            inputs={**formulas, "x": x},
            facts={"held": None},
        )


# ----------------------------------------------------------------------------------- bootstrap_loss


def drawn_networks(draw, dtype=torch.float64):
    """Two smooth functions, two leaves of one shape, and the true gradient of the loss at the
    first.
    """
    f, g = draw.elementwise(), draw.elementwise()
    a, b = (draw.tensor(4, dtype=dtype, low=-1.0, high=1.0, requires_grad=True) for _ in range(2))
    loss = ((f(a) - g(b).detach()) ** 2).mean()
    (want,) = torch.autograd.grad(loss, a)
    return f, g, a, b, loss.detach(), want


@check(points=0.5, about="bootstrap_loss", needs="test_the_loss_is_the_mean_squared_difference")
def test_online_gets_its_gradient(student, draw):
    """the gradient at online is 2 (online - target) / n"""
    for size, dtype, equal in (
        (3, torch.float32, False),
        (5, torch.float64, False),
        (3, torch.float64, True),
    ):
        online, target = (draw.tensor(size, dtype=dtype, requires_grad=True) for _ in range(2))
        if equal:
            target = online.detach().clone().requires_grad_()
        v = draw.tensor(dtype=dtype)
        loss = student.bootstrap_loss(online, target)
        figures = [
            partial(
                helpers.loss_behind,
                student,
                [TIMES_ONE, TIMES_ONE],
                [online, target],
                "ab",
                "online",
            )
        ]
        inputs = {"online": online, "target": target, "v": v}
        details = {
            "inputs": inputs,
            "facts": {"requires_grad": loss.requires_grad},
            "figures": figures,
        }
        assert_that(
            loss.requires_grad,
            "the loss does not require grad, so online gets no gradient",
            **details,
        )
        got, _ = torch.autograd.grad(loss, [online, target], v, allow_unused=True)
        want = 2 * (online - target).detach() / online.numel() * v
        message = "the gradient at online is wrong"
        helpers.assert_values(got, want, message, judge=assert_gradient, **details)


@check(points=0.25, about="bootstrap_loss", needs="test_the_loss_is_the_mean_squared_difference")
def test_the_loss_takes_any_tensors(student, draw):
    """the loss is exact for every shape and for large numbers"""
    shape = draw.shapes(240)[-1]
    large = torch.tensor([10001.5, 10003.0]), torch.tensor([10002.0, 10001.25])
    for online, target in (
        tuple(draw.tensor(*shape, requires_grad=True) for _ in range(2)),
        (draw.tensor(2, 3, dtype=torch.float32), draw.noncontiguous(2, 3, dtype=torch.float32)),
        (draw.tensor(requires_grad=True), draw.tensor(requires_grad=True)),
        large,
    ):
        want = ((online - target) ** 2).mean().detach()
        got = student.bootstrap_loss(online, target)
        details = {"inputs": {"online": online, "target": target}, **helpers.tolerances(want)}
        assert_tensor(got, want, "the loss is not the mean of the squared differences", **details)


@check(points=0.5, about="bootstrap_loss", needs="test_the_loss_is_the_mean_squared_difference")
def test_no_gradient_flows_into_target(student, draw):
    """no gradient flows into target"""
    for dtype, leaf in ((torch.float64, False), (torch.float32, False), (torch.float64, True)):
        f, g, a, b, value, _ = drawn_networks(draw, dtype)
        if leaf:
            g, value = None, ((f(a) - b) ** 2).mean().detach()
        seen = student.observe("losses", f, g, a, b)
        online, target = f(a).detach(), (b if g is None else g(b)).detach()
        details = {"inputs": {"online": online, "target": target}, "facts": seen}
        helpers.assert_values(
            seen["loss"], value, "the loss is not the mean of the squared differences", **details
        )
        found = seen["gradients"][1] if isinstance(seen["gradients"], list) else None
        if found is not None and bool((found != 0).any()):
            details["figures"] = [
                partial(helpers.loss_behind, student, [f, g or TIMES_ONE], [a, b], "ab", "target")
            ]
            fail(
                "a gradient flowed through target",
                actual=found,
                **{**details, "facts": {**seen, "leaked": found}},
            )


@check(points=0.5, about="bootstrap_loss", needs="test_the_loss_is_the_mean_squared_difference")
def test_only_the_online_side_of_one_graph_learns(student, draw):
    """a shared parameter gets a gradient from online only"""
    s, t, r, k = draw.coefficients(4)
    drawn = program(lambda w: ((w * s).exp(), (w * t).sin() * k + r))
    numbers = program(lambda w: (w * 3, w * 4 * 0.5 + 1))
    for f, x, formulas in (
        (
            numbers,
            torch.tensor([2.0], requires_grad=True),
            {"online": "3 * w", "target": "1 + 0.5 * 4 * w"},
        ),
        (
            drawn,
            draw.tensor(3, requires_grad=True),
            {"online": f"(w * {s}).exp()", "target": f"(w * {t}).sin() * {k} + {r}"},
        ),
    ):
        online, target = f(x)
        (whole,) = torch.autograd.grad(((online - target) ** 2).mean(), x, retain_graph=True)
        (none,) = torch.autograd.grad(
            ((online.detach() - target) ** 2).mean(), x, retain_graph=True
        )
        loss = ((online - target.detach()) ** 2).mean()
        (want,) = torch.autograd.grad(loss, x)
        seen = student.observe("shared", f, x)
        details = {
            "inputs": {**formulas, "w": x},
            "facts": {**seen, "whole": whole, "reversed": none},
        }
        helpers.assert_values(
            seen["loss"],
            loss.detach(),
            "the loss is not the mean of the squared differences",
            **details,
        )
        details["figures"] = [partial(helpers.loss_behind, student, [f], [x], "w", "target")]
        if not isinstance(seen["gradients"], list):
            fail(
                "backward from the loss raises: {error}",
                expected=want,
                **{**details, "facts": {**details["facts"], "error": seen["gradients"]}},
            )
        got, message = seen["gradients"][0], "the gradient at w is wrong"
        helpers.assert_values(got, want, message, judge=assert_gradient, **details)


@check(points=0.25, about="bootstrap_loss", needs="test_the_loss_is_the_mean_squared_difference")
def test_target_keeps_its_graph(student, draw):
    """online and target keep their values and graphs"""
    f, g, a, b, value, _ = drawn_networks(draw)
    leaves = ((a.detach() - b.detach()) ** 2).mean()
    for one, two, plain, want in (
        (f, g, False, value),
        (None, None, False, leaves),
        (None, None, True, leaves),
    ):
        if plain:
            a, b = a.detach().clone(), b.detach().clone()
        seen = student.observe("losses", one, two, a, b)
        online, target = (x if h is None else h(x) for h, x in ((one, a), (two, b)))
        details = {"inputs": {"online": online, "target": target}, "facts": seen}
        helpers.assert_values(
            seen["loss"], want, "the loss is not the mean of the squared differences", **details
        )
        states = zip(seen["states_before"], seen["states_after"], strict=True)
        for name, (before, after) in zip(("online", "target", "a", "b"), states, strict=True):
            details["facts"] = {**seen, "name": name}
            assert_unchanged(before, after, **details)
        pairs = () if plain else (("online", online, a), ("target", target, b))
        for k, (name, y, x) in enumerate(pairs):
            details["facts"] = {**seen, "name": name}
            found = seen["alone"][k]
            if not isinstance(found, list):
                fail(
                    "backward from {name} raises after the call: {error}",
                    **{**details, "facts": {**details["facts"], "error": found}},
                )
            (alone,) = torch.autograd.grad(y.sum(), x)
            assert_gradient(
                found[0],
                alone,
                "the gradient through {name} is different after the call",
                **details,
            )
