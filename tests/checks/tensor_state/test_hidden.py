"""The checks that students do not see."""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    assert_that,
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


def drawn_graph(draw, inputs=1):
    """Return a function of x to (u, y, z), and how each is made. The gradients of z, a scalar, are
    not zero for x > 0. Further inputs are not used.
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

    def tensors(x, *unused):
        u = first(x)
        y = second(u)
        return u, y, (y * a).sum()

    return program(tensors, inputs=inputs), {"u": u_text, "y": y_text, "z": f"(y * {a}).sum()"}


def assert_states(seen, want, names, keys, inputs, figure=None):
    """Require the entries before backward, and after it if there was one."""
    assert_entries(
        seen["before"],
        want["before"],
        names,
        keys,
        "before backward, the entry {key} is wrong for {tensor}",
        inputs,
        figure,
    )
    if "after" in want:
        assert_entries(
            seen["after"],
            want["after"],
            names,
            keys,
            "after backward, the entry {key} is wrong for {tensor}",
            inputs,
            figure,
        )


# ------------------------------------------------------------------------------------- tensor_state


@check(points=0.5, about="tensor_state")
def test_retains_grad_is_told(student, reference, draw):
    """retains_grad is True only if retain_grad() had an effect"""
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


@check(points=0.5, about="tensor_state")
def test_grad_is_what_the_tensor_holds(student, reference, draw):
    """grad is the gradient that a leaf holds, or None"""
    for x, held in (
        (draw.tensor(3, low=0.5, requires_grad=True), None),
        (draw.tensor(low=0.5, requires_grad=True), draw.tensor()),
    ):
        grads_of(student, reference, draw, x, [], held)


def grads_of(student, reference, draw, x, retained, held=None):
    """Require the entries grad of all tensors of a graph, before a backward and after it."""
    (f, texts), holds = drawn_graph(draw), {} if held is None else {0: held}
    seen = helpers.states(student, f, [x], retained, holds, backward=True)
    want = helpers.states(reference, f, [x], retained, holds, backward=True)
    kept = ["xuy"[k] for k in retained]
    inputs = {"x": x, "x.grad before": held, **texts, "retain_grad() on": kept}
    assert_states(seen, want, "xuyz", ("grad",), inputs, partial(drawn, f, [x], "xuyz", retained))


@check(points=0.25, about="tensor_state", needs=test_grad_is_what_the_tensor_holds)
def test_grad_is_what_a_result_retains(student, reference, draw):
    """grad is the gradient that an intermediate result retains"""
    for place in (1, 2):
        x = draw.tensor(3, low=0.5, requires_grad=True)
        grads_of(student, reference, draw, x, [place])


@check(points=0.75, about="tensor_state", needs=test_grad_is_what_the_tensor_holds)
def test_grad_is_a_copy(student, draw):
    """grad is a copy: it stays 12 when t.grad becomes 24"""
    cube = (program(lambda x: (x**3,)), {"z": "x ** 3"})
    for x, which, (f, texts) in (
        (draw.tensor(3, low=0.5, requires_grad=True), 0, drawn_graph(draw)),
        (draw.tensor(2, 3, low=0.5, requires_grad=True), 0, drawn_graph(draw)),
        (draw.tensor(2, low=0.5, dtype=torch.float32, requires_grad=True), 2, drawn_graph(draw)),
        (torch.tensor(2.0, requires_grad=True), 0, cube),  # 12 after one backward, 24 after two
    ):
        (want,) = torch.autograd.grad((tensors := [x, *f(x)])[-1], tensors[which])
        amount = draw.integer(10, 99)
        seen = student.observe("two_backwards", f, x, which, amount)
        inputs = {"x": x, **texts}
        facts = {"tensor": "xuyz"[which], "first": want, "second": 2 * want, "amount": amount}
        first, later, second = (seen[name]["grad"] for name in ("first", "first later", "second"))
        if which and first is None:
            continue  # told by test_grad_is_what_a_result_retains
        helpers.assert_close(
            first,
            want,
            "after one backward, the entry grad is wrong for {tensor}",
            inputs=inputs,
            facts=facts,
        )
        helpers.assert_close(
            second,
            2 * want,
            "after two backwards, the entry grad is wrong for {tensor}",
            inputs=inputs,
            facts=facts,
        )
        helpers.assert_close(
            later,
            want,
            "a second backward changed the grad that was returned for {tensor} before it",
            inputs=inputs,
            facts={**facts, "shares": True},
        )
        helpers.assert_close(
            seen["held"],
            2 * want,
            "adding {amount} to the grad that was returned for {tensor} changed {tensor}.grad",
            inputs=inputs,
            facts={**facts, "shares": True},
        )


@check(points=0.75, about="tensor_state", needs=test_grad_is_what_the_tensor_holds)
def test_no_warning_on_an_intermediate_result(student, draw):
    """an intermediate result raises no warning"""
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
                    "tensor_state raised a warning for {tensor}: {text}",
                    inputs={"x": x, **texts},
                    facts=facts,
                )


@check(points=0.5, about="tensor_state")
def test_the_tensor_is_left_as_it_was(student, reference, draw):
    """the tensor stays as it was"""
    x, c = draw.tensor(3, low=0.5, requires_grad=True), draw.tensor(3)
    held = {0: draw.tensor(3), 1: draw.tensor(3)}
    f, texts = drawn_graph(draw, inputs=2)
    seen = student.observe("around", f, [x, c], [2], held)
    want = reference.observe("around", f, [x, c], [2], held)
    inputs = {"x": x, "x.grad before": held[0], "c": c, "c.grad before": held[1], **texts}
    inputs["retain_grad() on"] = ["u"]
    for name, described in zip("xcuyz", seen["described"], strict=True):
        message, facts = "tensor_state did not describe {tensor} in a dictionary", {"tensor": name}
        assert_that(described, message, inputs=inputs, facts=facts)
    for name, before, after, expected in zip(
        "xcuyz", seen["before"], seen["after"], want["after"], strict=True
    ):
        facts = {"tensor": name, "before": before, "after": after}
        assert_equal(after, expected, "tensor_state changed {tensor}", inputs=inputs, facts=facts)
    for name, landed, expected in zip("xcuyz", seen["landed"], want["landed"], strict=True):
        facts = {"tensor": name}
        if expected is None:
            assert_equal(
                landed,
                None,
                "backward after tensor_state leaves a different gradient in {tensor}",
                inputs=inputs,
                facts=facts,
            )
        else:
            assert_gradient(
                landed,
                expected,
                "backward after tensor_state leaves a different gradient in {tensor}",
                inputs=inputs,
                facts=facts,
            )


@check(points=0.25, about="tensor_state", needs="test_grad_fn_is_a_name_or_none")
def test_other_nodes(student, draw):
    """grad_fn is right for custom Functions and in-place changes"""
    x, (a, b) = draw.tensor(2, requires_grad=True), draw.coefficients(2)
    cube = program(lambda x: x.cube())

    def changed(x):
        y = x * a
        y[0].mul_(b)
        return y

    put, own = student.put(x), (cube(x), changed(x))
    seen = helpers.now(*(student.tensor_state(t) for t in (cube(put), changed(put))))
    want = [{"grad_fn": type(t.grad_fn).__name__} for t in own]
    inputs = {"x": x, "u": "Cube.apply(x)", "y": f"x * {a}", "in place": f"y[0].mul_({b})"}
    message = "the entry {key} is wrong for {tensor}"
    assert_entries(seen, want, "uy", ("grad_fn",), message, inputs)


@check(points=0.5, about="tensor_state", needs=test_grad_is_what_the_tensor_holds)
def test_grad_of_any_tensor(student, draw):
    """grad is right for frozen leaves, zeros, any dtype and shape"""
    numbers = ((torch.bfloat16, 3), (torch.float16, 3), (torch.complex64, 3), (torch.float32, 0, 3))
    given = [draw.integers(*shape, low=0).to(dtype) for dtype, *shape in numbers]
    thirds = torch.tensor([1 / 3, -1 / 7, 0.1], dtype=torch.float64)
    helds = [torch.zeros(2, 2), *(draw.tensor(*x.shape).to(x.dtype) for x in given), thirds]
    cases = [(False, torch.zeros_like(held), held) for held in helds]
    cases += [(True, draw.tensor(3), draw.tensor(3))]
    cases += [
        (None, draw.integers(3, low=0).to(dtype), None) for dtype in (torch.int64, torch.bool)
    ]
    for frozen, x, held in cases:
        t = student.put(x)
        if held is not None:
            t.requires_grad_(True)
            t.grad = held.clone()
        if frozen:
            t.requires_grad_(False)
        (seen,) = helpers.now(student.tensor_state(t))
        want = dict(zip(FLAGS, (frozen is False, True, False, None, held), strict=True))
        inputs = {"x": x, "x.requires_grad": frozen is False, "x.grad before": held}
        message = "the entry {key} is wrong for {tensor}"
        exact = partial(assert_gradient, **(helpers.EXACT if held is thirds else {}))
        assert_entries([seen], [want], "x", ("grad",), message, inputs, compare=exact)


CUBE_TEXTS = {"y": "x ** 3", "z": "torch.log(y)"}
LOG_OF_CUBE = program(lambda x: (y := x**3, y.log()))
LINEAR = program(lambda x, w, b: (z := w * x, y := z + b, y**2), inputs=3)
LINEAR_TEXTS = {"z": "w * x", "y": "z + b", "loss": "y ** 2"}
EXERCISE = program(lambda x: (y := x * 2, z := y + 3, z**2))
EXERCISE_TEXTS = {"y": "x * 2", "z": "y + 3", "loss": "z ** 2"}


def leaves_of(grad=True, **values):
    """Return a 0-d leaf for each value; it requires grad unless ``grad`` is False."""
    return {name: torch.tensor(value, requires_grad=grad) for name, value in values.items()}


@check(points=0.25, about="tensor_state", needs=(*BOTH, "test_retains_grad_is_told"))
def test_the_states_of_the_lessons_graphs(student, reference):
    """all five entries are right for the lesson's graphs"""
    for f, leaves, texts, retained in (
        (LOG_OF_CUBE, leaves_of(grad=False, x=5.0), CUBE_TEXTS, None),
        (LOG_OF_CUBE, leaves_of(x=5.0), CUBE_TEXTS, [1, 2]),
        (LINEAR, leaves_of(x=2.0, w=3.0, b=1.0), LINEAR_TEXTS, []),
        (EXERCISE, leaves_of(x=1.0), EXERCISE_TEXTS, []),
    ):
        inputs, names, kept = list(leaves.values()), [*leaves, *texts], retained or []
        backward = retained is not None
        seen, want = (
            helpers.states(one, f, inputs, kept, {}, backward=backward)
            for one in (student, reference)
        )
        figure = partial(drawn, f, inputs, names, kept)
        shown = {**leaves, **texts, "retain_grad() on": [names[k] for k in kept]}
        assert_states(seen, want, names, FLAGS, shown, figure)


# ---------------------------------------------------------------------------------- gradients_along


def ask(student, f, x, chosen, inputs, retained=(), held=None, called="xuyz", **compare):
    """Call gradients_along for the tensors at the places ``chosen`` of x and the outputs of f, and
    compare with torch's gradients. Return what was seen, the truth and the inputs.
    """
    tensors, held = [x, *f(x)], held or {}
    wanted = torch.autograd.grad(tensors[-1], [tensors[k] for k in chosen])
    names = [called[k] for k in chosen]
    seen = helpers.gradients(student, f, [x], chosen, list(retained), held)
    inputs = {"x": x, **inputs, "tensors": names}
    assert_gradients(
        seen,
        wanted,
        names,
        inputs,
        {called[k]: grad for k, grad in held.items()},
        partial(drawn, f, [x], called, retained),
        **compare,
    )
    return seen, wanted, inputs


def held_before(draw):
    """Return gradients from before with their dtypes: drawn ones, huge ones, inf and NaN."""
    return (
        (torch.float64, draw.tensor(3)),
        (torch.float32, draw.tensor(3, dtype=torch.float32)),
        (torch.float64, draw.tensor(3) * 1e20),
        (torch.float64, torch.tensor(draw.sample([torch.inf, torch.nan, -torch.inf], 3)).double()),
    )


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_gradients_come_in_a_list(student, draw):
    """the result is a list"""
    f, texts = drawn_graph(draw)
    seen, wanted, inputs = ask(
        student, f, draw.tensor(2, low=0.5, requires_grad=True), draw.sample([0, 1, 2], 2), texts
    )
    if not isinstance(seen["result"], list):
        fail(
            "the gradients are right, but they are in a {type}, expected a list",
            expected=list(wanted),
            actual=seen["result"],
            inputs=inputs,
            facts={"type": type_name(seen["result"])},
        )


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_a_leafs_grad_from_before_is_left_out(student, draw):
    """the result does not contain the old .grad of a leaf"""
    for dtype, held in held_before(draw):
        x, (f, texts) = draw.tensor(3, low=0.5, dtype=dtype, requires_grad=True), drawn_graph(draw)
        ask(student, f, x, draw.sample([0, 2], 2), {"x.grad before": held, **texts}, held={0: held})


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_an_intermediates_grad_from_before_is_left_out(student, draw):
    """the list does not contain an intermediate's old .grad"""
    for dtype, held in held_before(draw):
        for place, name, grad in ((2, "y", held), (3, "z", held[0])):
            x, (f, texts) = (
                draw.tensor(3, low=0.5, dtype=dtype, requires_grad=True),
                drawn_graph(draw),
            )
            inputs = {**texts, f"{name}.grad before": grad, "retain_grad() on": [name]}
            ask(student, f, x, draw.sample([0, place], 2), inputs, [place], {place: grad})


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_every_path_counts(student, draw):
    """every path to z counts, and z itself has a gradient"""
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
    halves = program(lambda x: (*(parts := x.split([1, 2])), (parts[0] * parts[1] * a).sum()))
    texts = {"u, y": "x.split([1, 2])", "z": f"(u * y * {a}).sum()"}
    ask(student, halves, draw.tensor(3, requires_grad=True), draw.sample([0, 1, 2, 3], 4), texts)
    line = program(lambda x: (y := x * a, y * b))
    texts = {"y": f"x * {a}", "z": f"y * {b}"}  # where x is 0, all three are equal
    zero = torch.zeros((), dtype=torch.float64, requires_grad=True)
    ask(student, line, zero, draw.sample([0, 1, 2], 3), texts, called="xyz")


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_shapes_and_dtypes_are_kept(student, draw):
    """each gradient has its tensor's shape, dtype and digits"""
    for x in (
        draw.noncontiguous(2, 3, low=0.5, dtype=torch.float32, requires_grad=True),
        draw.tensor(0, 3, requires_grad=True),
        draw.tensor(low=0.5, dtype=torch.float32, requires_grad=True),
        draw.tensor(1, 4, low=0.5, requires_grad=True),
        draw.tensor(3, low=0.5, dtype=torch.bfloat16, requires_grad=True),
    ):
        f, texts = drawn_graph(draw)
        ask(student, f, x, [2, 0, 1], texts, compare=assert_gradient)
    w = draw.tensor(3)
    mixed = program(lambda x, w: (u := x * w, y := u * u, y.sum()), parameters=[w])
    texts = {"w": w, "u": "x * w", "y": "u * u", "z": "y.sum()"}
    x = draw.tensor(3, dtype=torch.float32, requires_grad=True)
    ask(student, mixed, x, [1, 3, 0], texts, compare=assert_gradient)
    thirds = program(lambda x: (u := x / 3, y := u / 7, y.sum()))
    x, texts = draw.tensor(3, requires_grad=True), {"u": "x / 3", "y": "u / 7", "z": "y.sum()"}
    exact = partial(assert_gradient, **helpers.EXACT)
    ask(student, thirds, x, [0, 1, 2], texts, compare=exact)


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_numbers_of_the_lessons_graphs(student):
    """(w x + b)² gives 42, 28, 14, and (2 x + 3)² gives 20, 10"""
    for f, leaves, texts, numbers in (
        (LINEAR, leaves_of(x=2.0, w=3.0, b=1.0), LINEAR_TEXTS, (42.0, 28.0, 14.0, 14.0, 14.0)),
        (EXERCISE, leaves_of(x=1.0), EXERCISE_TEXTS, (20.0, 10.0, 10.0)),
    ):
        asked = [*leaves, *texts][:-1]
        seen = helpers.gradients(student, f, list(leaves.values()), list(range(len(asked))), [], {})
        wanted = [torch.tensor(number) for number in numbers]
        assert_gradients(seen, wanted, asked, {**leaves, **texts, "tensors": asked})
