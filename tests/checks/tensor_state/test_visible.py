"""The checks that students may read."""

from functools import partial

import torch

from grader.authoring import (
    check,
    fail,
    graph_figure,
    import_helpers,
    prediction_figure,
    predictions,
    program,
)

helpers = import_helpers(__file__)
FLAGS, state = helpers.FLAGS, helpers.state
assert_entries, assert_gradients, drawn = (
    helpers.assert_entries,
    helpers.assert_gradients,
    helpers.drawn,
)

NAMES = ("x", "c", "k", "u", "y", "d", "z")


def drawn_graph(draw):
    """Return a function of x and c to (k, u, y, d, z), and how each is made. k is made of c alone,
    d is detached, and u, y and z lie on the way from x.
    """
    a = draw.number(0.5, 2.0)
    first, u_text = draw.choice(
        [
            (lambda x: x.exp(), "x.exp()"),
            (lambda x: x.sin(), "x.sin()"),
            (lambda x: x.tanh(), "x.tanh()"),
            (lambda x: x**3, "x ** 3"),
        ]
    )
    second, y_text = draw.choice(
        [
            (lambda u, k: u * k, "u * k"),
            (lambda u, k: u + k, "u + k"),
            (lambda u, k: u - k, "u - k"),
            (lambda u, k: u / k, "u / k"),
        ]
    )
    last, z_text = draw.choice([(lambda y: y.sum(), "y.sum()"), (lambda y: y.mean(), "y.mean()")])

    def tensors(x, c):
        k, u = c * a, first(x)
        y = second(u, k)
        return k, u, y, y.detach(), last(y)

    return program(tensors, inputs=2), {
        "k": f"c * {a}",
        "u": u_text,
        "y": y_text,
        "d": "y.detach()",
        "z": z_text,
    }


# ------------------------------------------------------------------------------------- tensor_state


@check(points=0.5, about="tensor_state")
def test_requires_grad_and_is_leaf(student, draw):
    """requires_grad and is_leaf are right for each tensor"""
    _ = student.tensor_state  # a missing name is reported with the names that are there
    for x, c in (
        (draw.tensor(3, requires_grad=True), draw.tensor(3)),
        (draw.tensor(dtype=torch.float32, requires_grad=True), draw.integers(low=1)),
        *(
            (
                draw.tensor(2, requires_grad=draw.choice((True, False))),
                draw.tensor(2, requires_grad=draw.choice((True, False))),
            )
            for _ in "ab"
        ),
    ):
        f, texts = drawn_graph(draw)
        seen = helpers.states(student, f, [x, c], [], {})
        inputs = {"x": x, "c": c, **texts}
        keys, figure = ("requires_grad", "is_leaf"), partial(drawn, f, [x, c], NAMES)
        want = [{key: getattr(t, key) for key in keys} for t in (x, c, *f(x, c))]
        assert_entries(
            seen["before"],
            want,
            NAMES,
            keys,
            "the entry {key} is wrong for {tensor}",
            inputs,
            figure,
        )


@check(points=0.5, about="tensor_state")
def test_grad_fn_is_a_name_or_none(student, draw):
    """grad_fn is the name of the node's type, or None"""
    for shape, dtype in (((2, 2), torch.float64), ((), torch.float32)):
        x, c = (
            draw.tensor(*shape, dtype=dtype, requires_grad=True),
            draw.tensor(*shape, dtype=dtype),
        )
        f, texts = drawn_graph(draw)
        seen = helpers.states(student, f, [x, c], [], {})
        inputs = {"x": x, "c": c, **texts}
        want = [{"grad_fn": t.grad_fn and t.grad_fn.name()} for t in (x, c, *f(x, c))]
        message, figure = "the entry {key} is wrong for {tensor}", partial(drawn, f, [x, c], NAMES)
        assert_entries(seen["before"], want, NAMES, ("grad_fn",), message, inputs, figure)


@check(
    points=0.25,
    about="tensor_state",
    needs=[test_requires_grad_and_is_leaf, test_grad_fn_is_a_name_or_none],
)
def test_the_states_of_c4(student):
    """C4: all five entries are right before and after backward"""
    f, inputs = (
        program(lambda x: (y := x**3, y.log())),
        {"x": torch.tensor(5.0), "y": "x ** 3", "z": "torch.log(y)"},
    )
    seen = helpers.states(
        student, f, [torch.tensor(5.0, requires_grad=True)], [], {}, backward=True
    )
    y, z = (
        state(True, False, False, "PowBackward0", None),
        state(True, False, False, "LogBackward0", None),
    )
    before = [state(True, True, False, None, None), y, z]
    after = [state(True, True, False, None, torch.tensor(0.6)), y, z]
    figure = partial(drawn, f, [torch.tensor(5.0, requires_grad=True)], "xyz")
    assert_entries(
        seen["before"],
        before,
        "xyz",
        FLAGS,
        "before backward, the entry {key} is wrong for {tensor}",
        inputs,
        figure,
    )
    assert_entries(
        seen["after"],
        after,
        "xyz",
        FLAGS,
        "after backward, the entry {key} is wrong for {tensor}",
        inputs,
        figure,
    )


# ---------------------------------------------------------------------------------- gradients_along


def drawn_chain(draw, w):
    """Return a function of x to (y, z), and how they are made. z is a scalar whose backward needs
    the values of y. The gradients have the signs of w.
    """
    a, b = draw.coefficients(2)
    first, last = draw.choice(
        [
            ((lambda x: (x * a).exp(), f"(x * {a}).exp()"), (lambda y: y**2 * b, f"y ** 2 * {b}")),
            ((lambda x: x**3 * a, f"x ** 3 * {a}"), (lambda y: (y * b).exp(), f"(y * {b}).exp()")),
            (
                (lambda x: (x * a).tanh(), f"(x * {a}).tanh()"),
                (lambda y: (y * b).exp(), f"(y * {b}).exp()"),
            ),
        ]
    )
    chain = program(lambda x, w: (y := first[0](x), (last[0](y) * w).sum()), parameters=[w])
    return chain, {"w": w, "y": first[1], "z": f"({last[1]} * w).sum()"}


@check(points=0.75, about="gradients_along")
def test_leaf_and_intermediate_in_the_order_asked_for(student, draw):
    """the gradients come in the order of tensors"""
    _ = student.gradients_along  # a missing name is reported with the names that are there
    for signs, chosen in ((torch.tensor([1.0, -1.0, 1.0]), [1, 0]), (torch.tensor(-1.0), [0, 1])):
        w = signs.double()
        x, (f, texts) = draw.tensor(*w.shape, requires_grad=True), drawn_chain(draw, w)
        y, z = f(x)
        wanted = torch.autograd.grad(z, [(x, y)[k] for k in chosen])
        names = [("x", "y")[k] for k in chosen]
        seen = helpers.gradients(student, f, [x], chosen, [], {})
        assert_gradients(
            seen,
            wanted,
            names,
            {"x": x, **texts, "tensors": names},
            figure=partial(drawn, f, [x], "xyz"),
        )


@check(
    points=0.25, about="gradients_along", needs=test_leaf_and_intermediate_in_the_order_asked_for
)
def test_the_numbers_of_c5(student):
    """C5: the gradients at x, y, z are 0.6, 0.008 and 1"""
    f = program(lambda x: (y := x**3, y.log()))
    seen = helpers.gradients(student, f, [torch.tensor(5.0, requires_grad=True)], [0, 1, 2], [], {})
    wanted = [torch.tensor(0.6), torch.tensor(0.008), torch.tensor(1.0)]
    inputs = {
        "x": torch.tensor(5.0),
        "y": "x ** 3",
        "z": "torch.log(y)",
        "tensors": ["x", "y", "z"],
    }
    figure = partial(drawn, f, [torch.tensor(5.0, requires_grad=True)], "xyz")
    assert_gradients(seen, wanted, "xyz", inputs, figure=figure)


# -------------------------------------------------------------------------- HAS_GRAD_AFTER_BACKWARD


@check(points=0.5, about="HAS_GRAD_AFTER_BACKWARD")
def test_y_is_predicted(student):
    """your predictions for y in C4 and C5 are right"""
    compare(student, "y")


@check(points=0.5, about="HAS_GRAD_AFTER_BACKWARD")
def test_x_and_z_are_predicted(student):
    """your predictions for x and z in C4 and C5 are right"""
    compare(student, "xz")


WHY = {
    (True, False): "a leaf that requires grad",
    (False, True): "retain_grad() was called on it",
    (False, False): "not a leaf, and retain_grad() was not called on it",
}


def run(name):
    """Run a program; return its tensors by name."""
    x = torch.tensor(5.0, requires_grad=True)
    y = x**3
    z = torch.log(y)
    if name == "C5":
        y.retain_grad()
        z.retain_grad()
    z.backward()
    return {"x": x, "y": y, "z": z}


def compare(student, letters):
    """Run both programs, and fail with the first tensor whose prediction is wrong. No constant is
    right for all that is compared at once.
    """
    programs = {name: run(name) for name in ("C4", "C5")}
    tensors = {f"{name}.{k}": programs[name][k] for name in programs for k in letters}
    keys = list(tensors)
    found = predictions(student, "HAS_GRAD_AFTER_BACKWARD", keys)
    grads = {key: t.grad if t.is_leaf or t.retains_grad else None for key, t in tensors.items()}
    wrong = [key for key in keys if found[key] is not (grads[key] is not None)]
    if not wrong:
        return
    key = wrong[0]
    program = programs[key.partition(".")[0]]

    def rows():
        words = {True: "has a gradient", False: "has none"}
        why = {k: WHY[t.is_leaf, t.retains_grad] for k, t in tensors.items()}
        return prediction_figure(
            [[k, words[found[k]], words[grads[k] is not None], why[k]] for k in wrong]
        )

    details = {
        "expected": {k: grads[k] is not None for k in wrong},
        "actual": {k: found[k] for k in wrong},
        "facts": {"key": key, "grad": shown(grads[key]), "found": {k: found[k] for k in keys}},
        "figures": [rows, lambda: graph_figure(program["z"], program)],
    }
    if grads[key] is None:
        fail(
            "{key} has no gradient after backward: it is not a leaf, and retain_grad() was not"
            " called on it",
            **details,
        )
    if tensors[key].is_leaf:
        fail(
            "{key} has a gradient after backward, {grad}: it is a leaf that requires grad",
            **details,
        )
    fail(
        "{key} has a gradient after backward, {grad}: retain_grad() was called on it before",
        **details,
    )


def shown(grad):
    """Return a 0-d gradient as people write it."""
    return None if grad is None else f"{grad.item():g}"
