"""tensor_state, the checks that are not handed out."""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    check,
    fail,
    import_helpers,
    program,
    type_name,
)

helpers = import_helpers(__file__)
FLAGS, state = helpers.FLAGS, helpers.state
assert_entries, assert_gradients, drawn = (
    helpers.assert_entries,
    helpers.assert_gradients,
    helpers.drawn,
)

BOTH = ("test_requires_grad_and_is_leaf", "test_grad_fn_is_a_name_or_none")
CHAIN = "test_leaf_and_intermediate_in_the_order_asked_for"


def drawn_graph(draw):
    """A function of x to (u, y, z), z a scalar whose gradients are nowhere zero for x > 0; and how
    each is made.
    """
    a, b = draw.coefficients(2)
    first, u_text = draw.choice(
        [
            (lambda x: (x * a).exp(), f"(x * {a}).exp()"),
            (lambda x: x**2 * a, f"x ** 2 * {a}"),
            (lambda x: x.cube(), "Cube.apply(x)"),
        ]
    )
    second, y_text = draw.choice(
        [
            (lambda u: (u + b).log(), f"(u + {b}).log()"),
            (lambda u: (u + b).sqrt(), f"(u + {b}).sqrt()"),
            (lambda u: u * u * b, f"u * u * {b}"),
        ]
    )

    def tensors(x):
        u = first(x)
        y = second(u)
        return u, y, (y * a).sum()

    return program(tensors), {"u": u_text, "y": y_text, "z": f"(y * {a}).sum()"}


def assert_states(seen, want, names, keys, inputs, figure=None):
    """The entries before the backward, and after it where there was one."""
    assert_entries(
        seen["before"],
        want["before"],
        names,
        keys,
        "before the backward, the entry {key} is wrong for {tensor}",
        inputs,
        figure,
    )
    if "after" in want:
        assert_entries(
            seen["after"],
            want["after"],
            names,
            keys,
            "after the backward, the entry {key} is wrong for {tensor}",
            inputs,
            figure,
        )


# ------------------------------------------------------------------------------------- tensor_state


@check(points=0.5, about="tensor_state")
def test_retains_grad_is_told(student, reference, draw):
    """retains_grad is true only where retain_grad() did something"""
    for count in (1, 2):
        x, (f, texts) = draw.tensor(2, low=0.5, requires_grad=True), drawn_graph(draw)
        retained = [0, *sorted(draw.sample([1, 2, 3], count))]
        seen = helpers.states(student, f, [x], retained, {})
        want = helpers.states(reference, f, [x], retained, {})
        inputs = {"x": x, **texts, "retain_grad() on": ["xuyz"[k] for k in retained]}
        message, figure = (
            "the entry {key} is wrong for {tensor}",
            partial(drawn, f, [x], "xuyz", retained),
        )
        assert_entries(
            seen["before"], want["before"], "xuyz", ("retains_grad",), message, inputs, figure
        )


@check(points=0.75, about="tensor_state")
def test_grad_is_what_the_tensor_holds(student, reference, draw):
    """grad is what the tensor holds, or None"""
    a = draw.number()
    zero_slope = (
        program(lambda x: (u := x**2, y := u * a, y.sum())),
        {"u": "x ** 2", "y": f"u * {a}", "z": "y.sum()"},
    )
    for x, held, (f, texts) in (
        (draw.tensor(3, low=0.5, requires_grad=True), None, drawn_graph(draw)),
        (
            draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
            draw.tensor(dtype=torch.float32),
            drawn_graph(draw),
        ),
        (
            draw.noncontiguous(2, 3, low=0.5, requires_grad=True),
            draw.tensor(3, 2).t(),
            drawn_graph(draw),
        ),
        (draw.tensor(0, requires_grad=True), None, drawn_graph(draw)),
        (torch.tensor(0.0, requires_grad=True), None, zero_slope),
    ):
        retained, holds = [draw.choice([1, 2])], {} if held is None else {0: held}
        seen = helpers.states(student, f, [x], retained, holds, backward=True)
        want = helpers.states(reference, f, [x], retained, holds, backward=True)
        inputs = {
            "x": x,
            "x.grad before": held,
            **texts,
            "retain_grad() on": ["xuy"[k] for k in retained],
        }
        assert_states(
            seen, want, "xuyz", ("grad",), inputs, partial(drawn, f, [x], "xuyz", retained)
        )


@check(points=0.75, about="tensor_state", needs=test_grad_is_what_the_tensor_holds)
def test_grad_is_a_copy(student, draw):
    """grad is a copy: 12 stays 12 when t.grad becomes 24"""
    cube = (program(lambda x: (x**3,)), {"z": "x ** 3"})
    for x, which, (f, texts) in (
        (draw.tensor(3, low=0.5, requires_grad=True), 0, drawn_graph(draw)),
        (draw.tensor(2, low=0.5, dtype=torch.float32, requires_grad=True), 2, drawn_graph(draw)),
        (torch.tensor(2.0, requires_grad=True), 0, cube),  # 12 after one backward, 24 after two
    ):
        (want,) = torch.autograd.grad((tensors := [x, *f(x)])[-1], tensors[which])
        amount = draw.integer(10, 99)
        seen = student.observe("two_backwards", f, x, which, amount)
        inputs = {"x": x, **texts}
        facts = {"tensor": "xuyz"[which], "first": want, "second": 2 * want, "amount": amount}
        first, later, second = (seen[name]["grad"] for name in ("first", "first later", "second"))
        assert_gradient(
            first,
            want,
            "after one backward, grad is wrong for {tensor}",
            inputs=inputs,
            facts=facts,
        )
        assert_gradient(
            second,
            2 * want,
            "after two backwards, grad is wrong for {tensor}",
            inputs=inputs,
            facts=facts,
        )
        assert_gradient(
            later,
            want,
            "a second backward ran, and the grad that had come back for {tensor} changed with it",
            inputs=inputs,
            facts={**facts, "shares": "later"},
        )
        assert_gradient(
            seen["held"],
            2 * want,
            "{amount} was added to the grad that came back for {tensor}, and {tensor}.grad"
            " changed too",
            inputs=inputs,
            facts={**facts, "shares": "held"},
        )


@check(points=0.75, about="tensor_state", needs=test_grad_is_what_the_tensor_holds)
def test_no_warning_on_an_intermediate_result(student, draw):
    """no warning is raised on an intermediate result"""
    for x in (
        draw.tensor(2, low=0.5, requires_grad=True),
        draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
    ):
        f, texts = drawn_graph(draw)
        seen = student.observe("heard", f, [x])
        for moment in ("before", "after"):
            for name, heard in list(zip("xuyz", seen[moment], strict=True))[1:]:
                facts = {
                    "count": len(heard),
                    "tensor": name,
                    "text": heard[0][:160] if heard else "",
                }
                assert_equal(
                    len(heard),
                    0,
                    "a warning was raised for {tensor}: {text}",
                    inputs={"x": x, **texts},
                    facts=facts,
                )


@check(points=0.5, about="tensor_state", needs=BOTH)
def test_the_tensor_is_left_as_it_was(student, reference, draw):
    """the tensor is left as it was"""
    x, held = draw.tensor(3, low=0.5, requires_grad=True), draw.tensor(3)
    f, texts = drawn_graph(draw)
    seen = student.observe("around", f, [x], [1], {0: held})
    want = reference.observe("around", f, [x], [1], {0: held})
    inputs = {"x": x, "x.grad before": held, **texts, "retain_grad() on": ["u"]}
    for name, before, after, expected in zip(
        "xuyz", seen["before"], seen["after"], want["after"], strict=True
    ):
        facts = {"tensor": name, "before": before, "after": after}
        assert_equal(
            after,
            expected,
            "{tensor} is not what it was before tensor_state looked at it",
            inputs=inputs,
            facts=facts,
        )
    for name, landed, expected in zip("xuyz", seen["landed"], want["landed"], strict=True):
        facts = {"tensor": name}
        if expected is None:
            assert_equal(
                landed,
                None,
                "a backward afterwards leaves another gradient in {tensor}",
                inputs=inputs,
                facts=facts,
            )
        else:
            assert_gradient(
                landed,
                expected,
                "a backward afterwards leaves another gradient in {tensor}",
                inputs=inputs,
                facts=facts,
            )


@check(points=0.25, about="tensor_state", needs=BOTH)
def test_the_states_of_c3(student):
    """C4 without requires_grad: all tensors are leaves"""
    f = program(lambda x: (y := x**3, y.log()))
    seen = helpers.states(student, f, [torch.tensor(5.0)], [], {})
    want = {"before": [state(False, True, False, None, None)] * 3}
    assert_states(
        seen, want, "xyz", FLAGS, {"x": torch.tensor(5.0), "y": "x ** 3", "z": "torch.log(y)"}
    )


@check(points=0.25, about="tensor_state", needs=(*BOTH, "test_retains_grad_is_told"))
def test_the_states_of_c5(student):
    """C5: the states, with retain_grad() on y and z"""
    f = program(lambda x: (y := x**3, y.log()))
    seen = helpers.states(
        student, f, [torch.tensor(5.0, requires_grad=True)], [1, 2], {}, backward=True
    )
    want = {
        "before": [
            state(True, True, False, None, None),
            state(True, False, True, "PowBackward0", None),
            state(True, False, True, "LogBackward0", None),
        ],
        "after": [
            state(True, True, False, None, torch.tensor(0.6)),
            state(True, False, True, "PowBackward0", torch.tensor(0.008)),
            state(True, False, True, "LogBackward0", torch.tensor(1.0)),
        ],
    }
    inputs = {
        "x": torch.tensor(5.0),
        "y": "x ** 3",
        "z": "torch.log(y)",
        "retain_grad() on": ["y", "z"],
    }
    assert_states(
        seen,
        want,
        "xyz",
        FLAGS,
        inputs,
        partial(drawn, f, [torch.tensor(5.0, requires_grad=True)], "xyz", [1, 2]),
    )


LINEAR = program(lambda x, w, b: (z := w * x, y := z + b, y**2), inputs=3)
LINEAR_TEXTS = {"z": "w * x", "y": "z + b", "loss": "y ** 2"}
EXERCISE = program(lambda x: (y := x * 2, z := y + 3, z**2))
EXERCISE_TEXTS = {"y": "x * 2", "z": "y + 3", "loss": "z ** 2"}


def leaves_of(**values):
    """A 0-d leaf that requires grad for each value."""
    return {name: torch.tensor(value, requires_grad=True) for name, value in values.items()}


@check(points=0.25, about="tensor_state", needs=BOTH)
def test_the_states_of_two_small_graphs(student):
    """(w x + b)² and (2 x + 3)²: only the leaves hold gradients"""
    made = [
        state(True, False, False, node, None)
        for node in ("MulBackward0", "AddBackward0", "PowBackward0")
    ]
    for f, leaves, texts, grads in (
        (LINEAR, leaves_of(x=2.0, w=3.0, b=1.0), LINEAR_TEXTS, (42.0, 28.0, 14.0)),
        (EXERCISE, leaves_of(x=1.0), EXERCISE_TEXTS, (20.0,)),
    ):
        seen = helpers.states(student, f, list(leaves.values()), [], {}, backward=True)
        want = {
            "before": [state(True, True, False, None, None)] * len(leaves) + made,
            "after": [state(True, True, False, None, torch.tensor(grad)) for grad in grads] + made,
        }
        names = [*leaves, *texts]
        assert_states(
            seen,
            want,
            names,
            FLAGS,
            {**leaves, **texts},
            partial(drawn, f, list(leaves.values()), names),
        )


# ---------------------------------------------------------------------------------- gradients_along


def ask(student, f, x, chosen, inputs, retained=(), held=None):
    """Have gradients_along asked for the tensors at the places ``chosen`` of (x, u, y, z), and
    compare with torch's gradients.
    """
    tensors, held = [x, *f(x)], held or {}
    wanted = torch.autograd.grad(tensors[-1], [tensors[k] for k in chosen])
    names = ["xuyz"[k] for k in chosen]
    seen = helpers.gradients(student, f, [x], chosen, list(retained), held)
    inputs = {"x": x, **inputs, "tensors": names}
    assert_gradients(
        seen,
        wanted,
        names,
        inputs,
        {"xuyz"[k]: grad for k, grad in held.items()},
        partial(drawn, f, [x], "xuyz", retained),
    )
    return seen, wanted, inputs


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_gradients_come_in_a_list(student, draw):
    """the gradients come in a list"""
    f, texts = drawn_graph(draw)
    seen, wanted, inputs = ask(
        student, f, draw.tensor(2, low=0.5, requires_grad=True), draw.sample([0, 1, 2], 2), texts
    )
    if not isinstance(seen["result"], list):
        fail(
            "the gradients are right, and came as {type} where a list is promised",
            expected=list(wanted),
            actual=seen["result"],
            inputs=inputs,
            facts={"type": type_name(seen["result"])},
        )


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_a_leafs_grad_from_before_is_left_out(student, draw):
    """what a leaf's .grad held before is left out"""
    for x, held in (
        (draw.tensor(3, low=0.5, requires_grad=True), draw.tensor(3)),
        (
            draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
            draw.tensor(dtype=torch.float32),
        ),
    ):
        f, texts = drawn_graph(draw)
        ask(student, f, x, draw.sample([0, 2], 2), {"x.grad before": held, **texts}, held={0: held})


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_an_intermediates_grad_from_before_is_left_out(student, draw):
    """what an intermediate result's .grad held is left out"""
    for x, held in (
        (draw.tensor(3, low=0.5, requires_grad=True), draw.tensor(3)),
        (
            draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
            draw.tensor(dtype=torch.float32),
        ),
    ):
        f, texts = drawn_graph(draw)
        inputs = {**texts, "y.grad before": held, "retain_grad() on": ["y"]}
        ask(student, f, x, draw.sample([0, 2], 2), inputs, retained=[2], held={2: held})


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_every_path_counts(student, draw):
    """every path to z counts, and z is asked for like the others"""
    a, b, c = draw.coefficients(3)
    f = program(
        lambda x: (u := (x * a).exp(), y := u**2 * b + u * x, (y * u).sum() * c + (x**2).sum())
    )
    texts = {
        "u": f"(x * {a}).exp()",
        "y": f"u ** 2 * {b} + u * x",
        "z": f"(y * u).sum() * {c} + (x ** 2).sum()",
    }
    for shape in ((2,), ()):
        ask(
            student, f, draw.tensor(*shape, requires_grad=True), draw.sample([0, 1, 2, 3], 4), texts
        )


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_shapes_and_dtypes_are_kept(student, draw):
    """each gradient has its tensor's shape and dtype"""
    for x in (
        draw.noncontiguous(2, 3, low=0.5, dtype=torch.float32, requires_grad=True),
        draw.tensor(2, 0, requires_grad=True),
        draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
        draw.tensor(1, 4, low=0.5, requires_grad=True),
    ):
        f, texts = drawn_graph(draw)
        ask(student, f, x, [2, 0, 1], texts)


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_numbers_of_the_linear_graph(student):
    """(w x + b)² gives 42, 28 and 14"""
    leaves, asked = leaves_of(x=2.0, w=3.0, b=1.0), ["x", "w", "b", "z", "y"]
    seen = helpers.gradients(student, LINEAR, list(leaves.values()), [0, 1, 2, 3, 4], [], {})
    wanted = [torch.tensor(number) for number in (42.0, 28.0, 14.0, 14.0, 14.0)]
    assert_gradients(seen, wanted, asked, {**leaves, **LINEAR_TEXTS, "tensors": asked})


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_numbers_of_the_exercise(student):
    """(2 x + 3)² gives 20 at x = 1, and 10 at y and z"""
    leaves, asked = leaves_of(x=1.0), ["x", "y", "z"]
    seen = helpers.gradients(student, EXERCISE, list(leaves.values()), [0, 1, 2], [], {})
    wanted = [torch.tensor(number) for number in (20.0, 10.0, 10.0)]
    assert_gradients(seen, wanted, asked, {**leaves, **EXERCISE_TEXTS, "tensors": asked})
