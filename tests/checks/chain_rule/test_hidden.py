"""chain_rule, the checks that are not handed out."""

import torch

from grader.authoring import assert_gradient, check, fail, import_helpers, type_name

helpers = import_helpers(__file__)
WRITTEN_OUT, BOTH_WRITTEN_OUT, BY_AUTOGRAD = (
    helpers.WRITTEN_OUT,
    helpers.BOTH_WRITTEN_OUT,
    helpers.BY_AUTOGRAD,
)
PRICES, BETWEEN, drawn_bill = helpers.PRICES, helpers.BETWEEN, helpers.drawn_bill
two_paths, power, truth = helpers.two_paths, helpers.power, helpers.truth
drawn_line, another = helpers.drawn_line, helpers.another
assert_both, assert_three, assert_entries = (
    helpers.assert_both,
    helpers.assert_three,
    helpers.assert_entries,
)
assert_formula, assert_formulas = helpers.assert_formula, helpers.assert_formulas

FORWARD_MODE = {
    "torch.func.jvp",
    "torch.func.jacfwd",
    "torch.func.linearize",
    "functorch.jvp",
    "functorch.jacfwd",
}
DIFFERENTIATORS = FORWARD_MODE | {
    "torch.autograd.grad",
    "torch.autograd.backward",
    *(
        f"{package}.{name}"
        for package in ("torch.func", "functorch")
        for name in ("grad", "grad_and_value", "vjp", "jacrev", "hessian")
    ),
}
"""What differentiates, by its full name. What is called as a method shows in the trace."""
DIFFERENTIATING = ("torch.autograd.functional.", "torch.autograd.forward_ad.")
"""Modules of which everything does."""

JUMPS = "close, but the result jumps from one x to the next, 1e-9 away, as finite differences do"
INEXACT = "close, but not right to 14 digits"
FIXED = [0.1, 0.37, 1.7, 2.9, 50.0]


def assert_no_autograd(student, name, *inputs):
    """Nothing differentiates while a function works; what it returned. Where something does, it is
    told by its line if that can be had.
    """
    seen = student.observe("traced", name, *inputs)
    if not (seen["nodes"] or seen["calls"] or seen["passes"] or seen["forward"]):
        return seen["result"]
    for used, line in student.source.names_used(name).items():
        if used in DIFFERENTIATORS or used.startswith(DIFFERENTIATING):
            fail(
                "line {line} uses {used}, but this function must not use autograd",
                facts={"line": line, "used": used},
                line=line,
            )
    if seen["nodes"]:
        used = ", ".join(seen["nodes"])
        fail("torch ran a backward pass in your function, through {used}", facts={"used": used})
    used = ", ".join(f"torch.autograd.{called}" for called in sorted(set(seen["calls"])))
    used = used or ("torch.autograd.forward_ad" if seen["forward"] else "torch.autograd")
    fail("torch differentiated in your function, with {used}", facts={"used": used})


# --------------------------------------------------------------------------------- gradient_by_hand


@check(points=0.25, about="gradient_by_hand", needs="test_both_paths_add_up")
def test_gradient_by_hand_is_a_formula(student):
    """gradient_by_hand uses no autograd and no differences"""
    (x,) = helpers.neighbors(1)
    (want,) = truth(two_paths, x)
    got = assert_no_autograd(student, "gradient_by_hand", x.clone())
    assert_gradient(got, want, inputs={"x": x}, **helpers.ROUGHLY)
    if helpers.jumps(got, want):
        fail(JUMPS, expected=want, actual=got, inputs={"x": x})


@check(points=0.25, about="gradient_by_hand", needs=WRITTEN_OUT)
def test_gradient_by_hand_is_exact(student, draw):
    """gradient_by_hand is right to 14 digits in float64"""
    drawn = [draw.number(0.1, 1.0), draw.number(1.0, 5.0), draw.number(5.0, 50.0)]
    x = torch.tensor([*FIXED, *drawn], dtype=torch.float64)
    helpers.assert_formula(student, x, INEXACT, **helpers.EXACT)


@check(points=0.25, about="gradient_by_hand", needs=WRITTEN_OUT)
def test_gradient_by_hand_takes_every_shape(student, draw):
    """gradient_by_hand works for any shape"""
    for shape in draw.shapes():
        assert_formula(student, draw.tensor(*shape, low=0.3, high=4.0))


@check(points=0.25, about="gradient_by_hand", needs=WRITTEN_OUT)
def test_gradient_by_hand_takes_transposed_and_empty(student, draw):
    """gradient_by_hand works for transposed and empty tensors"""
    for x in (
        draw.noncontiguous(3, 4, low=0.3, high=4.0),
        draw.tensor(0),
        draw.tensor(draw.integer(1, 3), 0),
        draw.tensor(0, 2),
    ):
        assert_formula(student, x)


@check(points=0.25, about="gradient_by_hand", needs=WRITTEN_OUT)
def test_gradient_by_hand_in_float32(student, draw):
    """gradient_by_hand works in float32, from x = 0.01 to 100"""
    near = draw.tensor(3, low=0.3, high=4.0, dtype=torch.float32)
    for x in (near, torch.tensor(draw.sample([0.01, 0.1, 1.0, 10.0, 100.0], 5)), near[0].clone()):
        assert_formula(student, x)


@check(points=0.25, about="gradient_by_hand", needs=WRITTEN_OUT)
def test_x_may_require_grad(student, draw):
    """gradient_by_hand works for an x that requires grad"""
    for shape in ((3,), ()):
        x = draw.tensor(*shape, low=0.3, high=4.0, requires_grad=True)
        assert_formula(student, x, "the gradient is wrong for an x that requires grad")
    helpers.assert_state(student, "gradient_by_hand", x=draw.tensor(2, 3, low=0.3, high=4.0))


# -------------------------------------------------------------------------- power_gradients_by_hand


@check(
    points=0.25, about="power_gradients_by_hand", needs="test_base_and_exponent_get_their_gradients"
)
def test_power_gradients_are_formulas(student):
    """power_gradients_by_hand uses no autograd and no differences"""
    x, q = helpers.neighbors(2)
    want = truth(power, x, q)
    got = assert_no_autograd(student, "power_gradients_by_hand", x.clone(), q.clone())
    assert_both(got, want, {"x": x, "q": q}, **helpers.ROUGHLY)
    if any(map(helpers.jumps, got, want)):
        fail(JUMPS, expected=want, actual=got, inputs={"x": x, "q": q})


@check(points=0.25, about="power_gradients_by_hand", needs=BOTH_WRITTEN_OUT)
def test_power_gradients_are_exact(student, draw):
    """power_gradients_by_hand is right to 14 digits in float64"""
    x = torch.tensor([1.2, 1.7, 2.9, 7.7, 50.0], dtype=torch.float64)
    q = draw.integers(5, low=1, high=3).to(torch.float64)
    assert_formulas(student, x, q, message=INEXACT, **helpers.EXACT)


@check(points=0.25, about="power_gradients_by_hand", needs=BOTH_WRITTEN_OUT)
def test_power_gradients_take_every_shape(student, draw):
    """power_gradients_by_hand works for any shape, any strides"""
    for shape in (*draw.shapes(), (0,), (0, 2)):
        assert_formulas(student, *base_and_exponent(draw, *shape))
    x, q = base_and_exponent(draw, 4, 3)
    assert_formulas(student, x.t(), q.t())
    assert_formulas(student, x.t(), q.reshape(3, 4))


@check(points=0.25, about="power_gradients_by_hand", needs=BOTH_WRITTEN_OUT)
def test_x_and_q_may_require_grad(student, draw):
    """power_gradients_by_hand works if x and q require grad"""
    for shape in ((3,), ()):
        x, q = base_and_exponent(draw, *shape)
        assert_formulas(student, x.requires_grad_(), q.requires_grad_())
    x, q = base_and_exponent(draw, 2, 3)
    helpers.assert_state(student, "power_gradients_by_hand", x=x, q=q)


@check(points=0.25, about="power_gradients_by_hand", needs=BOTH_WRITTEN_OUT)
def test_power_gradients_in_float32(student, draw):
    """power_gradients_by_hand works in float32"""
    for shape in ((4,), ()):
        x, q = (t.to(torch.float32) for t in base_and_exponent(draw, *shape))
        assert_formulas(student, x, q, atol=5e-5)
    x, q = torch.tensor([1.3, 3.7, 10.0, 100.0]), torch.tensor([3.0, 2.0, 1.0, 3.0])
    assert_formulas(student, x, q, atol=5e-5)


def base_and_exponent(draw, *shape):
    """An x above 1 and a whole, positive q: others are what test_every_exponent is about."""
    q = draw.integers(*shape, low=1, high=3).to(torch.float64)
    return draw.tensor(*shape, low=1.2, high=4.0), q


@check(points=0.25, about="power_gradients_by_hand", needs=BOTH_WRITTEN_OUT)
def test_every_exponent(student, draw):
    """dz/dx and dz/dq are right for negative, zero, fractional q"""
    exponents = [draw.number(-3.0, -0.2), 0.0, 0.5, 1.0, draw.number(1.1, 3.0)]
    q = torch.tensor(draw.sample(exponents, 5), dtype=torch.float64)
    x = draw.tensor(5, low=0.2, high=4.0)
    assert_formulas(student, x, q)
    x = torch.tensor([1.01, 1.01, 1.0, 1.0, 100.0, 0.01], dtype=torch.float64)
    q = torch.tensor([0.001, -0.001, 2.5, 0.0, 0.0, 0.001], dtype=torch.float64)
    assert_formulas(student, x, q)  # at x = 1 and near q = 0 quotients of z fail
    x = torch.tensor([0.7, 3.0, 0.7, 3.0], dtype=torch.float64)
    q = torch.tensor([3e-7, -3e-7, 2e-14, -2e-14], dtype=torch.float64)
    assert_formulas(student, x, q, atol=0.0)


# --------------------------------------------------------------------------------- linear_gradients


@check(points=0.5, about="linear_gradients", needs="test_three_gradients_in_their_order")
def test_autograd_does_the_differentiating(student, draw):
    """linear_gradients computes its gradients with autograd"""
    x, w, b = first = drawn_line(draw)
    seen = student.observe("traced", "linear_gradients", x, w, b)
    assert_three(seen["result"], x, w, b)
    used = student.source.names_used("linear_gradients")
    forward_mode = seen["forward"] or any(
        name in FORWARD_MODE or name.startswith(DIFFERENTIATING) for name in used
    )
    if not seen["nodes"] and not seen["passes"] and not forward_mode:
        fail(
            "the gradients are right, but autograd did not compute them: no backward pass ran in"
            " your function",
            inputs={"x": x, "w": w, "b": b},
        )
    if not seen["passes"]:
        return
    # Other numbers, because a function may keep what it returned for these.
    x, w, b = another(lambda: drawn_line(draw), first, apart=0.25)
    got, y = student.observe("doubled", "linear_gradients", x, w, b), w * x + b
    same = [
        (number := helpers.number_in(item)) is not None and abs(number - want) < 1e-3 * want
        for item, want in zip(got or (), (2 * y * w, 2 * y * x, 2 * y), strict=False)
    ]
    if len(same) == 3 and all(same):
        fail(
            "backward passes run in your function, but they do not affect its result: it stays the"
            " same if each pass begins with twice the gradient",
            inputs={"x": x, "w": w, "b": b},
        )


@check(points=0.25, about="linear_gradients", needs=BY_AUTOGRAD)
def test_linear_gradients_are_plain_floats(student, draw):
    """linear_gradients returns a tuple of plain numbers"""
    x, w, b = drawn_line(draw)
    got = student.linear_gradients(x, w, b)
    assert_three(got, x, w, b)
    y = w * x + b
    details = {
        "expected": (2 * y * w, 2 * y * x, 2 * y),
        "actual": got,
        "inputs": {"x": x, "w": w, "b": b},
    }
    for name, item in zip("xwb", got, strict=True):
        if not isinstance(item, int | float):
            fail(
                "the gradient with respect to {name} is of type {type}, not a float",
                facts={"name": name, "type": type_name(item)},
                **details,
            )
    if not isinstance(got, tuple):
        fail(
            "{type} was returned, expected a tuple of three floats",
            facts={"type": type_name(got)},
            **details,
        )


@check(points=0.5, about="linear_gradients", needs=BY_AUTOGRAD)
def test_zeros_and_negative_numbers(student, draw):
    """linear_gradients works for zeros, negatives, equal numbers"""
    a, b, c = draw.number(0.5, 1.2), draw.number(1.3, 2.0), draw.number(2.1, 3.0)
    for numbers in (
        (-a, b, c),
        (a, -b, -c),
        (0.0, b, c),
        (a, 0.0, -c),
        (a, b, 0.0),
        (2.0, -1.5, 3.0),
        (1 / 3, 1 / 7, 1 / 9),  # gradients with more digits than a rounded one has
        (a, a, a),
    ):
        assert_three(student.linear_gradients(*numbers), *numbers, digits=True)


@check(points=0.25, about="linear_gradients", needs=BY_AUTOGRAD)
def test_linear_gradients_start_afresh(student, draw):
    """earlier calls do not change what linear_gradients returns"""
    first = drawn_line(draw)
    second = another(lambda: drawn_line(draw), first, apart=0.25)
    calls = first, second, *changed_one_by_one(second, first)
    for numbers, got in zip(
        (*calls, first), student.observe("in_turn", "linear_gradients", *calls), strict=True
    ):
        assert_three(got, *numbers)


def changed_one_by_one(numbers, others):
    """The numbers, with one of them replaced: a list for each."""
    return [[*numbers[:k], other, *numbers[k + 1 :]] for k, other in enumerate(others)]


# ----------------------------------------------------------------------------------------- shopping


@check(points=0.5, about="shopping", needs="test_prices_pieces_and_tax")
def test_intermediate_results_get_gradients(student, reference, draw):
    """the gradients of the intermediate results are right"""
    bill = drawn_bill(draw, 1)
    with helpers.drawn_behind(student, "shopping", helpers.bill_of, bill):
        assert_entries(student.shopping(*bill), reference.shopping(*bill), BETWEEN, bill)
    for pieces in ((0.0, 3.0), (2.0, 0.0), (0.0, 0.0)):
        bill = (100.0, pieces[0], 150.0, pieces[1], 1.1)
        assert_entries(student.shopping(*bill), reference.shopping(*bill), BETWEEN, bill)


@check(points=0.25, about="shopping", needs="test_prices_pieces_and_tax")
def test_whole_numbers_will_do(student, reference, draw):
    """shopping works for ints, equal ones too"""
    bill = (
        draw.integer(100, 900),
        draw.integer(2, 4),
        draw.integer(1000, 2000),
        draw.integer(5, 8),
        2,
    )
    for numbers in (bill, bill[1:2] * 5):
        assert_entries(student.shopping(*numbers), reference.shopping(*numbers), PRICES, numbers)


@check(points=0.25, about="shopping", needs="test_prices_pieces_and_tax")
def test_shopping_returns_plain_floats(student, reference, draw):
    """shopping returns Python numbers, not tensors"""
    bill = drawn_bill(draw, 2)
    got = student.shopping(*bill)
    assert_entries(got, reference.shopping(*bill), PRICES, bill)
    for key in PRICES + BETWEEN:
        if key in got and got[key] is not None and not isinstance(got[key], int | float):
            fail(
                "the gradient under {key} is of type {type}, not a float or an int",
                actual={key: got[key]},
                facts={"key": repr(key), "type": type_name(got[key])},
            )


@check(points=0.25, about="shopping", needs="test_prices_pieces_and_tax")
def test_one_kind_of_fruit(student, reference, draw):
    """shopping works for 0 pieces, and for fractions of one"""
    bill = (100.0, 2.0, draw.number(100.0, 200.0), 0.0, 1.1)
    got = student.shopping(*bill)
    assert_entries(
        got, {"apple": 2.2, "num_apple": 110.0, "ctax": 200.0}, ("apple", "num_apple", "ctax"), bill
    )
    assert_entries(got, reference.shopping(*bill), PRICES, bill)
    apple, tangerine = draw.number(50.0, 200.0), draw.number(50.0, 200.0)
    for pieces in (float(draw.integer(2, 7)), 0.0):
        bill = (apple, 0.0, tangerine, pieces, 1.1)
        assert_entries(student.shopping(*bill), reference.shopping(*bill), PRICES, bill)
    bill = (apple, 7 / 3, tangerine, 5 / 7, 1.1)
    assert_entries(student.shopping(*bill), reference.shopping(*bill), PRICES, bill)


@check(points=0.25, about="shopping", needs="test_prices_pieces_and_tax")
def test_shopping_starts_afresh(student, reference, draw):
    """earlier calls do not change what shopping returns"""
    first = drawn_bill(draw, 3)
    second = another(lambda: drawn_bill(draw, 3), first)
    calls = first, second, *changed_one_by_one(second, first)
    for bill, got in zip(
        (*calls, first), student.observe("in_turn", "shopping", *calls), strict=True
    ):
        assert_entries(got, reference.shopping(*bill), PRICES, bill)
