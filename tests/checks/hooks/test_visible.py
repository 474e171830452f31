"""hooks, the checks that students may read.

A hook is seen by what it does to gradients, so each check has a graph built beside the student's
function, runs backward there, and compares what the leaves hold with what follows from gradients
that torch takes of the same graph without a hook.
"""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    import_helpers,
    program,
)

helpers = import_helpers(__file__)
said, then, linear, Drawn = helpers.said, helpers.then, helpers.linear, helpers.Drawn
same_leaves, is_pair, norms_of = helpers.same_leaves, helpers.is_pair, helpers.norms_of


def around(draw, *, scalar=False):
    """A drawn graph (y, z) and its formula: p reaches z through y alone, q also past it, r only
    past it. ``scalar``: z is summed.
    """
    a, b, c = draw.coefficients(3)
    text, inner, outer = draw.choice(
        [
            (
                f"y = sin({a} p q), z = tanh({b} y) r + {c} q",
                lambda p, q: (p * q * a).sin(),
                lambda y, q, r: (y * b).tanh() * r + q * c,
            ),
            (
                f"y = {a} p q**2, z = sin({b} y) + {c} q r",
                lambda p, q: q**2 * p * a,
                lambda y, q, r: (y * b).sin() + q * r * c,
            ),
            (
                f"y = exp({a} p) q, z = {b} y r + cos({c} q)",
                lambda p, q: (p * a).exp() * q,
                lambda y, q, r: y * r * b + (q * c).cos(),
            ),
        ]
    )

    def form(p, q, r):
        y = inner(p, q)
        z = outer(y, q, r)
        return y, z.sum() if scalar else z

    return f"{text}, loss = z.sum()" if scalar else text, program(form, inputs=3)


def multiplied(factor, graph, leaves, v=None):
    """The gradients at the leaves of (y, z) = graph(*leaves) for v at z, with what flows through y
    counted ``factor`` times.
    """
    y, z = graph(*leaves)
    *whole, at_y = torch.autograd.grad(z, [*leaves, y], v, retain_graph=True)
    through = torch.autograd.grad(y, leaves, at_y, allow_unused=True)
    return [
        once if part is None else once + (factor - 1) * part
        for once, part in zip(whole, through, strict=True)
    ]


# ---------------------------------------------------------------------------------- double_gradient


@check(points=0.25, about="double_gradient", needs="test_double_what_flows_through_y")
def test_worked_example(student):
    """For log(x**3) at x = 5, x.grad is 1.2, twice 0.6"""
    x, v = torch.tensor(5.0, requires_grad=True), torch.tensor(1.0)
    graph = program(lambda x: then(x**3, lambda y: y.log()))
    ((got,),) = helpers.passes(student, "double_gradient", [], graph, [x], [v])
    message = (
        "after double_gradient(y) with y = x**3, z.backward() with z = log(y) leaves a wrong"
        " gradient in x.grad"
    )
    want = torch.tensor(1.2)
    figures = Drawn(student, "double_gradient", [], graph, [x], names="x").figures([got], [want])
    assert_gradient(got, want, message, inputs={"x": x}, figures=figures)


@check(points=0.5, about="double_gradient")
def test_double_what_flows_through_y(student, draw):
    """Only the gradient that flows through y is doubled"""
    text, graph = around(draw)
    leaves, v = [draw.tensor(3, requires_grad=True) for _ in range(3)], draw.tensor(3)
    (got,) = helpers.passes(student, "double_gradient", [], graph, leaves, [v])
    want = multiplied(2, graph, leaves, v)
    figures = Drawn(student, "double_gradient", [], graph, leaves).figures(got, want)
    inputs = {"graph": text, **dict(zip("pqr", leaves, strict=True)), "v": v}
    same_leaves(got, want, inputs=inputs, figures=figures, **helpers.ROUGH)


# --------------------------------------------------------------------------------- record_gradients


@check(points=0.5, about="record_gradients")
def test_records_hold_each_gradient(student, draw):
    """records holds the gradient at each tensor, by name"""
    a, b, c = draw.coefficients(3)
    text = f"h = {a} p q, y = {b} sin(h), z = y h + {c} q"

    def form(p, q):
        h = p * q * a
        y = h.sin() * b
        return h, p, y, y * h + q * c

    names = draw.sample(["hidden", "first", "inner", "trunk", "weights", "out"], 3)
    leaves, v = [draw.tensor(3, requires_grad=True) for _ in range(2)], draw.tensor(3)
    got = student.observe("recorded", program(form, inputs=2), leaves, names, [v])
    *watched, z = form(*leaves)
    want = dict(zip(names, torch.autograd.grad(z, watched, v), strict=True))
    tensors = ", ".join(f"{name!r}: {symbol}" for name, symbol in zip(names, "hpy", strict=True))
    drawn = Drawn(
        student, "record_gradients", names, program(form, inputs=2), leaves, ("h", "p", "y", "z")
    )
    same_records(
        got,
        want,
        drawn,
        inputs={"graph": text, "tensors": f"{{{tensors}}}", "p": leaves[0], "q": leaves[1], "v": v},
    )


def same_records(got, want, drawn, *, inputs):
    """After one backward the records must be the expected ones."""
    is_pair(got, inputs)
    records = got["rounds"][0]
    facts = {"type": said(records), "names": list(want), "start": got["start"]}
    details = {"expected": want, "actual": records, "inputs": inputs, "facts": facts}
    if isinstance(records, dict):
        details["figures"] = drawn.figures(
            [records.get(name) for name in want],
            want.values(),
            "records[…] = {}",
            drawn.outputs[:-1],
        )
    assert_that(isinstance(records, dict), "records ({type}) is not a dictionary", **details)
    for name, expected in want.items():
        details["facts"] = {**facts, "name": name, "type": said(records.get(name))}
        assert_that(name in records, "after backward, records has no entry {name}", **details)
        assert_that(
            isinstance(records[name], torch.Tensor),
            "after backward, records[{name}] is not a Tensor ({type})",
            **details,
        )
        message = "records[{name}] is not the gradient at that tensor"
        told = {"inputs": inputs, "figures": details["figures"]}
        assert_tensor(
            records[name], expected, message, facts=details["facts"] | {"records": records}, **told
        )


@check(points=0.25, about="record_gradients", needs=test_records_hold_each_gradient)
def test_records_start_without_gradients(student, draw):
    """records is new and holds no gradient before a backward"""
    leaves, v = [draw.tensor(2, requires_grad=True)], draw.tensor(2)
    two_calls(student, leaves, v)
    graph = program(lambda p: then(p.sin(), lambda y: y * p))
    got = student.observe("recorded", graph, leaves, ["y"], [v])
    inputs = {"graph": "y = sin(p), z = p y", "p": leaves[0]}
    is_pair(got, inputs)
    tensors = {key: value for key, value in got["start"].items() if isinstance(value, torch.Tensor)}
    assert_that(
        not tensors,
        "records holds gradients before any backward",
        expected={},
        actual=got["start"],
        inputs=inputs,
    )


def two_calls(student, leaves, v):
    """Neither the records nor the handles of two calls may be the same."""

    def form(p):
        y = p * 2.0
        h = y * 3.0
        return y, h, h * 1.5

    got = student.observe("apart", program(form), leaves, ["y", "h"], v)
    inputs = {
        "graph": "y = 2 p, h = 3 y, z = 1.5 h",
        "first call": "{'y': y}",
        "second call": "{'h': h}, then remove() of its handles",
        "v": v,
    }
    is_pair(got, inputs)
    message = "after two calls, the records of the second also hold what the first one records"
    kept, shared = (
        {key: value for key, value in got[call].items() if key == "y"}
        for call in ("first", "second")
    )
    assert_that(not shared, message, expected={}, actual=shared, inputs=inputs)
    message = "after remove() of a second call's handles, the first call no longer records"
    there = kept.get("y") is not None
    assert_that(there, message, expected={"y": 4.5 * v}, actual=kept, inputs=inputs)


# ------------------------------------------------------------------------------------ clip_gradient


@check(points=0.5, about="clip_gradient")
def test_long_gradient_is_capped(student, draw):
    """A long gradient keeps its direction and gets norm max_norm"""
    p, r, v = (
        draw.tensor(2, 3, requires_grad=True),
        draw.tensor(2, 3, requires_grad=True),
        draw.tensor(2, 3),
    )
    a, b = draw.coefficients(2)
    max_norm = draw.number(0.2, 0.6) * a * float(v.norm())
    graph = program(lambda p, r: then(p * b, lambda y: y * a + r), inputs=2)
    ((got_p, got_r),) = helpers.passes(student, "clip_gradient", [max_norm], graph, [p, r], [v])
    arriving = a * v
    inputs = {
        "graph": f"y = {b} p, z = {a} y + r",
        "v": v,
        "max_norm": max_norm,
        "gradient at y": arriving,
    }
    facts = {"norm": float(arriving.norm())}
    want = b * max_norm * v / v.norm()
    message = "a gradient of norm {norm} arrives at y, and the gradient at p is then wrong"
    figures = Drawn(student, "clip_gradient", [max_norm], graph, [p, r], names="pr").figures(
        (got_p, got_r), (want, v)
    )
    plot = helpers.clipped(arriving, max_norm, want / b, got_p, b)
    details = {"inputs": inputs, "facts": facts, "figures": [*figures, plot]}
    assert_gradient(got_p, want, message, rtol=helpers.CAPPED, **details)
    message = "the gradient of r changed, although it does not flow through y"
    assert_gradient(got_r, v, message, inputs=inputs, facts=facts, figures=figures)


@check(points=0.25, about="clip_gradient", needs=test_long_gradient_is_capped)
def test_short_gradient_is_unchanged(student, draw):
    """A gradient shorter than max_norm passes unchanged"""
    p, r, v = (
        draw.tensor(4, requires_grad=True),
        draw.tensor(4, requires_grad=True),
        draw.tensor(4, avoid=1.0),
    )
    max_norm = draw.number(1.2, 1.8) * float(
        v.norm()
    )  # below the sum of the elements' sizes, and that of their squares
    graph = program(lambda p, r: then(p.clone(), lambda y: y + r), inputs=2)
    ((got, past),) = helpers.passes(student, "clip_gradient", [max_norm], graph, [p, r], [v])
    inputs = {"graph": "y = p.clone(), z = y + r", "v": v, "max_norm": max_norm}
    message = "the gradient at y has norm {norm}, less than max_norm, and it was changed"
    figures = Drawn(student, "clip_gradient", [max_norm], graph, [p, r], names="pr").figures(
        (got, past), (v, v)
    )
    figures.append(helpers.clipped(v, max_norm, v, got))
    assert_gradient(
        got, v, message, rtol=1e-6, inputs=inputs, facts={"norm": float(v.norm())}, figures=figures
    )
    thirds = torch.cat([helpers.THIRDS, v[:1] / 4])
    cases = [(thirds, 1.0), (1e-8 * v, 1.0), (1e-30 * v, 1.0)]
    cases += [(v * (0.000998 / float(v.norm())), 0.001)]
    for short, limit in cases:
        ((got, _),) = helpers.passes(student, "clip_gradient", [limit], graph, [p, r], [short])
        inputs = {"graph": "y = p.clone(), z = y + r", "v": short, "max_norm": limit}
        facts = {"norm": float(short.norm())}
        assert_gradient(got, short, message, rtol=2e-9, atol=0.0, inputs=inputs, facts=facts)


# -------------------------------------------------------------------- backward_with_scaled_gradient


@check(points=0.5, about="backward_with_scaled_gradient")
def test_scale_what_flows_through_y(student, draw):
    """Only the gradient that flows through y is scaled"""
    text, graph = around(draw, scalar=True)
    factor = draw.choice([0.25, 2.5])
    leaves = [draw.tensor(3, requires_grad=True) for _ in range(3)]
    got = helpers.scaled(student, factor, graph, leaves)
    want = multiplied(factor, graph, leaves)
    drawn = Drawn(student, "backward_with_scaled_gradient", [factor], graph, leaves, ("y", "loss"))
    inputs = {"graph": text, "factor": factor, **dict(zip("pqr", leaves, strict=True))}
    figures = drawn.figures(got["grads"], want)
    same_leaves(got["grads"], want, inputs=inputs, figures=figures, **helpers.ROUGH)


@check(points=0.25, about="backward_with_scaled_gradient", needs=test_scale_what_flows_through_y)
def test_a_later_backward_is_not_scaled(student, draw):
    """A backward after the call is not scaled"""
    factor, a = draw.choice([0.5, 3.0, -2.0]), draw.number(0.3, 1.5)
    p, q = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    trunk = program(lambda p, q: p - q, inputs=2)
    tails = [
        program(lambda y, p, q: (y**2).sum(), inputs=3),
        program(lambda y, p, q: (y**2 * a).sum(), inputs=3),
    ]
    _, later = helpers.afterwards(student, factor, trunk, tails, [p, q])
    slope = (2 * a * (p - q)).detach()
    inputs = {
        "graph": f"y = p - q, loss = sum(y**2), loss2 = {a} sum(y**2)",
        "factor": factor,
        "p": p,
        "q": q,
    }
    message = "after the call, a plain loss2.backward() leaves a wrong gradient in {leaf}.grad"
    figures = helpers.later_figures(
        student, factor, trunk, tails, [p, q], "", later, [slope, -slope]
    )
    same_leaves(
        later,
        [slope, -slope],
        message,
        "pq",
        inputs=inputs,
        facts={"factor": factor},
        figures=figures,
    )


@check(points=0.25, about="backward_with_scaled_gradient", needs=test_scale_what_flows_through_y)
def test_y_is_as_it_was(student, draw):
    """y keeps its state and the caller's hooks"""
    factor, p = draw.choice([0.5, 3.0, -2.0]), draw.tensor(3, requires_grad=True)
    tails = [program(lambda y, p: (y**2).sum(), inputs=2)] * 2
    inputs = {"graph": "y = -p, loss = loss2 = sum(y**2)", "factor": factor, "p": p}
    y = student.observe("around", factor, program(lambda p: -p), tails, [p])
    message = "{what} of y is different after the call"
    for what, before in y["before"].items():
        assert_equal(y["after"][what], before, message, inputs=inputs, facts={"what": what})
    message = "in the loss2.backward() after the call, the caller's own hook on y ran {heard} times"
    assert_equal(y["heard"], 1, message, inputs=inputs, facts={"heard": y["heard"]})


# ----------------------------------------------------------------------------------- gradient_norms


def network(draw, dtype=torch.float64):
    """The plain data of a drawn network with a chain inside a chain, from 3 features to 2."""
    first, second, third = draw.sample(["stem", "body", "neck", "mix", "core", "head"], 3)
    inner = [
        "chain",
        [
            ["0", linear(draw, 4, 4, dtype=dtype)],
            ["1", [draw.choice(["tanh", "sigmoid", "softplus"])]],
        ],
    ]
    return [
        "chain",
        [
            [first, linear(draw, 4, 3, dtype=dtype)],
            [second, inner],
            [third, linear(draw, 2, 4, dtype=dtype)],
        ],
    ]


def outline(spec):
    """A network in a line, as a report shows it: names, and the kinds of the parts."""
    kind, *rest = spec
    if kind in ("chain", "branches"):
        return f"{kind}({', '.join(f'{name}: {outline(part)}' for name, part in rest[0])})"
    return kind


def results(spec, x, name=""):
    """What each leaf submodule of a network returns for x, by its full name."""
    kind, *rest = spec
    if kind != "chain":
        return {name: getattr(torch.nn.functional, kind)(x, *rest)}
    found = {}
    for part, inner in rest[0]:
        found |= results(inner, x, f"{name}.{part}".lstrip("."))
        x = next(reversed(found.values()))
    return found


@check(points=0.25, about="gradient_norms")
def test_keys_are_the_leaf_submodules(student, draw):
    """The keys are the full names of the leaf submodules"""
    spec, x = network(draw), draw.tensor(5, 3, requires_grad=True)
    inputs = {"module": outline(spec), "x": x}
    got = norms_of(student.observe("norms", spec, x), inputs)
    want = results(spec, x)
    message = "the keys are not the names of the leaf submodules"
    missing = next((name for name in want if name not in got), None)
    figures = [
        lambda: helpers.module_figure(student, spec, x, at=missing, want=dict.fromkeys(want))
    ]
    details = {"inputs": inputs, "figures": figures if missing else []}
    assert_that(
        set(got) == set(want),
        message,
        expected=sorted(want),
        actual=sorted(map(str, got)),
        **details,
    )


@check(points=0.5, about="gradient_norms", needs=test_keys_are_the_leaf_submodules)
def test_values_are_the_norms_of_grad_output(student, draw):
    """Each value is the norm of the module's grad_output"""
    spec, x = network(draw), draw.tensor(5, 3, requires_grad=True)
    inputs = {"module": outline(spec), "x": x}
    returned = results(spec, x)
    gradients = torch.autograd.grad(
        next(reversed(returned.values())).sum(), list(returned.values())
    )
    want = {
        name: gradient.norm().item() for name, gradient in zip(returned, gradients, strict=True)
    }
    figure = partial(helpers.module_figure, student, spec, x)
    got = norms_of(student.observe("norms", spec, x), inputs)
    helpers.same_norms(got, want, inputs, figure=figure, rtol=1e-4, atol=1e-4)
