"""gradcheck, the checks that are not handed out."""

import torch

from grader.authoring import (
    StudentCodeError,
    assert_gradcheck,
    assert_gradient,
    assert_not_used,
    assert_tensor,
    assert_that,
    check,
    fail,
    import_helpers,
    program,
)

helpers = import_helpers(__file__)
compare_verdict, judge_verdict = helpers.compare_verdict, helpers.judge_verdict
compare_names, jacobian, EPS = helpers.compare_names, helpers.jacobian, helpers.EPS
assert_jacobian, facts_of = helpers.assert_jacobian, helpers.facts_of

VERDICT, JACOBIAN, BY_VALUES, FOUND, POWER = (
    "test_right_gradients_pass_and_wrong_ones_do_not",
    "test_row_by_output_column_by_input",
    "test_backward_is_not_asked",
    "test_the_broken_ones_are_found",
    "test_both_gradients_of_the_power",
)
READY_MADE = [
    "torch.autograd.gradcheck.get_numerical_jacobian",
    "torch.autograd.gradcheck._get_numerical_jacobian",
    "torch.autograd.gradcheck.get_numerical_jacobian_wrt_specific_input",
    ".get_numerical_jacobian",
    "._get_numerical_jacobian",
]
"""What has the numerical Jacobian ready. What asks fn's backward instead is seen as it does."""
POWER_VALUE = program(lambda x, q: x**q, inputs=2)
POWER_RIGHT = program(lambda x, q, v: (v * q * x ** (q - 1), v * x**q * x.log()), inputs=3)
POWER_CUT = program(
    lambda x, q, v: ((v * q * x ** (q - 1)).detach(), (v * x**q * x.log()).detach()), inputs=3
)
"""Right, and with no derivative of its own: gradcheck asks for none, gradgradcheck does."""
POWER_WRONG = program(lambda x, q, v: (v * q * x ** (q - 1), v * x**q * (x + 1).log()), inputs=3)


def drawn_form(draw):
    """An elementwise function and its derivative, each as a Python function and as text."""
    a, b = draw.coefficients(2)
    return draw.choice(
        [
            (
                lambda x: x**2 * a + x * b,
                lambda x: x * (2 * a) + b,
                f"x**2 * {a} + x * {b}",
                f"(x * {2 * a:.2f} + {b})",
            ),
            (
                lambda x: x**3 * a - (x * -b).exp(),
                lambda x: x**2 * (3 * a) + (x * -b).exp() * b,
                f"x**3 * {a} - (x * {-b}).exp()",
                f"(x**2 * {3 * a:.2f} + (x * {-b}).exp() * {b})",
            ),
            (
                lambda x: x.sigmoid() * a + x * b,
                lambda x: x.sigmoid() * (1 - x.sigmoid()) * a + b,
                f"x.sigmoid() * {a} + x * {b}",
                f"(x.sigmoid() * (1 - x.sigmoid()) * {a} + {b})",
            ),
        ]
    )


def drawn_pair(draw, c, x):
    """A Function whose backward is off by the factor c, its texts, and what gradcheck says of it
    at x.
    """
    value, slope, text, derivative = drawn_form(draw)
    right = slope(x.detach().double())
    parts = [program(value), program(lambda x, v: v * slope(x) * c, inputs=2)]
    shown = {"f": text, "f.backward(v)": f"v * {derivative} * {c}"}
    return parts, shown, torch.allclose(right * c, right, rtol=1e-3, atol=1e-5)


# --------------------------------------------------------------------------------- passes_gradcheck


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_any_input_is_made_ready(student, draw):
    """inputs may be float32 and need not require grad"""
    for dtype, wants in ((torch.float64, False), (torch.float32, False), (torch.float32, True)):
        x = draw.tensor(3, dtype=dtype, low=0.3, requires_grad=wants)
        for c in draw.sample([1.0, 2.0], 2):
            parts, shown, want = drawn_pair(draw, c, x)
            shown |= {"x": x, "x.requires_grad": wants}
            seen = compare_verdict(student, want, parts, x, shown=shown)
            message = "fn was called with tensors of {dtypes}, expected float64 copies"
            if set(seen["dtypes"]) - {"float64"}:
                fail(message, expected=["float64"], actual=seen["dtypes"], inputs=shown, facts=seen)
    value = program(lambda x, y: x**2 * y, inputs=2)
    for first in draw.sample([True, False], 2):  # the gradient of the other input is wrong
        x = draw.tensor(3, low=1.0, requires_grad=first)
        y = draw.tensor(3, low=1.0, requires_grad=not first)
        c, d = (1.0, 2.0) if first else (2.0, 1.0)
        product = program(lambda x, y, v, c=c, d=d: (v * x * y * (2 * c), v * x**2 * d), inputs=3)
        shown = {"f": "x**2 * y", "f.backward(v)": f"(v * x * y * {2 * c}, v * x**2 * {d})"}
        shown |= {"x": x, "y": y, "x.requires_grad": first, "y.requires_grad": not first}
        compare_verdict(student, False, [value, product], x, y, shown=shown)


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_the_default_settings_decide(student, draw):
    """gradcheck runs with its default eps, rtol and atol"""
    for c in draw.sample([0.997, 1.003], 2):
        x = draw.tensor(3, low=0.3, requires_grad=True)
        parts, shown, want = drawn_pair(draw, c, x)
        compare_verdict(student, want, parts, x, shown={**shown, "x": x})
    x, k = draw.tensor(3, low=0.3, requires_grad=True), draw.choice([20_000, 25_000])
    small = [program(lambda x: x**2 / 1000), program(lambda x, v: v * x / 250, inputs=2)]
    shown = {"f": "x**2 / 1000", "f.backward(v)": "v * x / 250", "x": x}
    compare_verdict(student, False, small, x, shown=shown)
    x = draw.tensor(1, requires_grad=True)
    for c, want in draw.sample([(0.01005, False), (0.010015, True)], 2):  # atol decides, and both
        line = [program(lambda x: x * 0.01), program(lambda x, v, c=c: v * c, inputs=2)]
        shown = {"f": "x * 0.01", "f.backward(v)": f"v * {c}", "x": x}
        compare_verdict(student, want, line, x, shown=shown)
    x = draw.tensor(3, low=0.3, requires_grad=True)
    got = student.observe("verdict", program(lambda x: (x * k).sin() / k), x)["result"]
    message = "returned {got}, but the gradient passes with gradcheck's default eps = 1e-6"
    details = {"expected": True, "actual": got, "facts": {"got": got}}
    assert_that(got is True, message, inputs={"f": f"(x * {k}).sin() / {k}", "x": x}, **details)


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_an_exception_from_fn_is_a_no(student, draw):
    """an exception from fn gives False"""
    x, text = draw.tensor(2, low=0.3, requires_grad=True), "this function stops here"
    for kind in draw.sample(
        [
            "ValueError",
            "IndexError",
            "ZeroDivisionError",
            "AttributeError",
            "AssertionError",
            "Unusual",
        ],
        3,
    ):
        for calls, product in ((0, False), (1, False), (0, True)):
            form, _, formula, _ = drawn_form(draw)
            seen = student.observe("raising", program(form), kind, text, calls, product, x)
            shown = {"f": formula, "fn raises": kind, "x": x}
            if seen["result"] is True:
                fail(
                    "returned True, but fn raised {kind}",
                    expected=False,
                    actual=True,
                    inputs=shown,
                    facts={**seen, "kind": kind},
                )
            judge_verdict(seen, False, shown)


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_the_callers_tensors_stay(student, draw):
    """the caller's tensors stay unchanged"""
    for dtype, wants, writes in (
        (torch.float64, False, False),
        (torch.float32, False, False),
        (torch.float64, True, False),
        (torch.float64, False, True),
        (torch.float64, True, True),
    ):
        shape = draw.choice([(3,), ()])
        x, y = (draw.tensor(*shape, dtype=dtype, low=0.3, requires_grad=wants) for _ in range(2))
        held = [draw.tensor(*shape, dtype=dtype) if wants else None for _ in range(2)]
        parts = [
            program(lambda x, y: x * y + y, inputs=2),
            program(lambda x, y, v: (v * y, v * (x + 1)), inputs=3),
        ]
        amount = draw.number(0.2, 0.9) if writes else 0.0
        seen = student.observe("beside", parts, amount, held, x, y)
        shown = {"x": x, "y": y, "x.requires_grad": wants}
        for name, before, after in zip(("x", "y"), seen["before"], seen["after"], strict=True):
            facts = {"name": name, "amount": amount}
            if after["requires_grad"] is not before["requires_grad"]:
                fail(
                    "{name}.requires_grad was {before} and is {after} afterwards",
                    inputs=shown,
                    expected=wants,
                    actual=not wants,
                    facts={
                        **facts,
                        "before": wants,
                        "after": not wants,
                        "changed": f"{name}.requires_grad",
                    },
                )
            facts |= {"before": before["values"], "after": after["values"], "changed": name}
            if writes:
                message = (
                    "fn adds {amount} to its arguments in place, and this changed {name}: fn did"
                    " not get a copy"
                )
            else:
                message = "the values of {name} changed"
            assert_tensor(
                after["values"],
                before["values"],
                message,
                rtol=0,
                atol=0,
                inputs=shown,
                facts=facts,
            )
            facts |= {"before": before["grad"], "after": after["grad"], "changed": f"{name}.grad"}
            message = "{name}.grad changed"
            if before["grad"] is None:
                assert_that(
                    after["grad"] is None, message, actual=after["grad"], inputs=shown, facts=facts
                )
            else:
                assert_gradient(after["grad"], before["grad"], message, inputs=shown, facts=facts)


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_c20_passes_and_c21_does_not(student, draw):
    """x ** q passes if it is right, and fails with log(x + 1)"""
    x, q = (torch.tensor(number, dtype=torch.float64, requires_grad=True) for number in (5.0, 3.0))
    right, wrong = (
        "(v * q * x**(q-1), v * x**q * x.log())",
        "(v * q * x**(q-1), v * x**q * (x + 1).log())",
    )
    cut = "((v * q * x**(q-1)).detach(), (v * x**q * x.log()).detach())"
    for product, backward in draw.sample(
        [(POWER_RIGHT, right), (POWER_CUT, cut), (POWER_WRONG, wrong)], 3
    ):
        shown = {"f": "x**q", "f.backward(v)": backward, "x": x, "q": q}
        want = product is not POWER_WRONG
        compare_verdict(student, want, [POWER_VALUE, product], x, q, shown=shown)


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_relu_and_a_step(student, draw):
    """ReLU passes except at 0; a step with gradient 1 fails"""
    smooth = draw.tensor(8, avoid=0.1)
    smooth[:2] = torch.tensor([0.7, -0.7])
    kink = smooth.clone()
    kink[draw.integer(0, 7)] = 0.0
    relu = [
        program(lambda x: x.clamp(0)),
        program(lambda x, v: x.where_positive(v, v * 0), inputs=2),
    ]
    step = [
        program(lambda x: x.where_positive(x * 0 + 1, x * 0)),
        program(lambda x, v: v + 0.0, inputs=2),
    ]
    formulas = {"f": "x.clamp(0)", "f.backward(v)": "torch.where(x > 0, v, 0)"}
    steps = {"f": "torch.where(x > 0, 1, 0)", "f.backward(v)": "v"}
    for parts, x, shown, want in draw.sample(
        [
            (relu, smooth, formulas, True),
            (relu, kink, formulas, False),
            (step, smooth, steps, False),
        ],
        3,
    ):
        given = x.detach().clone().requires_grad_()
        compare_verdict(student, want, parts, given, shown={**shown, "x": x})


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_any_shape_and_several_results(student, draw):
    """any shape, any strides and several outputs work"""
    a = draw.coefficients(1)[0]
    two = program(lambda x: (x**3 * a, x.sin()))
    broken = program(lambda x: (x**3 * a, x.sin() * x.detach()))
    shapes = [
        draw.tensor(low=0.3),
        draw.tensor(2, 2, low=0.3),
        draw.noncontiguous(2, 3, low=0.3),
        draw.tensor(2, 1, low=0.3).expand(2, 3),
        draw.tensor(1, 2, 1, draw.integer(2, 8), low=0.3),
    ]
    for x in shapes:
        for c in draw.sample([1.0, 0.5], 2):
            parts, shown, want = drawn_pair(draw, c, x)
            shown |= {"x": x, "x.stride()": x.stride()}
            compare_verdict(student, want, parts, x, shown=shown)
    for x, f, text in (  # these take no other shape
        (draw.tensor(low=0.3), lambda x: x.unsqueeze(0).expand(2), "x.unsqueeze(0).expand(2)"),
        (draw.tensor(2, 3, low=0.3), lambda x: x.sum(1) ** 2, "x.sum(1) ** 2"),
        (draw.tensor(1, 1, low=0.3), lambda x: x.squeeze(1) * a, f"x.squeeze(1) * {a}"),
    ):
        compare_verdict(student, True, program(f), x, shown={"f": text, "x": x})
    x = draw.tensor(3, low=0.3, requires_grad=True)
    first = program(lambda x: (x**3 * a * x.detach(), x.sin()))
    sizes = program(lambda x: (x**3 * a, x.sin().unsqueeze(0).expand(2, 3), x.sum()))
    hidden = program(lambda x: (x.sin() + x.exp().detach(), x.cos() - x.exp().detach()))
    for f, text, want in draw.sample(
        [
            (two, f"(x**3 * {a}, x.sin())", True),
            (broken, f"(x**3 * {a}, x.sin() * x.detach())", False),
            (first, f"(x**3 * {a} * x.detach(), x.sin())", False),
            (sizes, f"(x**3 * {a}, x.sin().unsqueeze(0).expand(2, 3), x.sum())", True),
            (hidden, "(x.sin() + x.exp().detach(), x.cos() - x.exp().detach())", False),
        ],
        5,
    ):
        compare_verdict(student, want, f, x, shown={"f": text, "x": x})


# ------------------------------------------------------------------------------- numerical_jacobian


@check(points=0.25, about="numerical_jacobian", needs=JACOBIAN)
def test_fn_may_return_a_view(student, draw):
    """numerical_jacobian works for an fn that returns a view"""
    for f, text in ((lambda x: x.t(), "x.t()"), (lambda x: x.reshape(-1), "x.reshape(-1)")):
        f, x = program(f), draw.tensor(2, 3)
        want = jacobian(f, x)
        seen = student.observe("measured", f, x, EPS)
        assert_jacobian(seen, want, {"f": text, "x": x})
        if seen["writes"]:
            return  # the steps are made in x itself, which another check is about


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_one_step_down_and_one_up(student, reference, draw):
    """slopes are computed from x - eps to x + eps"""
    a, b = draw.coefficients(2)
    f = program(lambda x: (x * a).exp() * x.sum() + x**3 * b)
    for eps in (draw.choice([0.1, 0.2, 0.25]), draw.choice([0.5, 0.4])):
        x = torch.tensor([draw.number(1.5, 2.5), -draw.number(1.5, 2.5)], dtype=torch.float64)
        shown = {"f": f"(x * {a}).exp() * x.sum() + x**3 * {b}", "x": x, "eps": eps}
        want = reference.observe("measured", f, x, eps)["result"]
        message = "these are not the slopes from x - eps to x + eps"
        digits = {"rtol": 1e-4, "atol": 1e-4}
        seen = student.observe("measured", f, x, eps)
        assert_jacobian(seen, want, shown, message, **digits)
        seen = student.observe("measured", f, x, eps=eps)
        assert_jacobian(seen, want, shown, message, **digits)


@check(points=0.5, about="numerical_jacobian", needs=BY_VALUES)
def test_float32_is_computed_in_float64(student, reference, draw):
    """everything is computed in float64, for a float32 x too"""
    a, b = draw.coefficients(2)
    f = program(lambda x: (x * a).sin() + x**3 * b)
    for x in (
        draw.tensor(3, low=0.5),
        draw.tensor(3, low=0.5, dtype=torch.float32),
        draw.tensor(low=0.5, dtype=torch.float32),
    ):
        shown = {"f": f"(x * {a}).sin() + x**3 * {b}", "x": x}
        want = reference.observe("measured", f, x)["result"]
        seen = student.observe("measured", f, x)
        message, facts = "this is not the Jacobian", facts_of(seen)
        assert_tensor(
            seen["result"], want, message, rtol=1e-4, atol=1e-4, inputs=shown, facts=facts
        )


@check(points=0.5, about="numerical_jacobian", needs=JACOBIAN)
def test_backward_is_not_asked(student, reference, draw):
    """fn's backward is never called"""
    a, b = draw.coefficients(2)
    parts = [
        program(lambda x: x**3 * a + x * b),
        program(lambda x, v: v * (x**2 * 3 * a + b) * -2, inputs=2),
    ]
    shown = {"f": f"x**3 * {a} + x * {b}", "f.backward(v)": f"v * (x**2 * {3 * a:.2f} + {b}) * -2"}
    for wants in (False, True):
        x = draw.tensor(3, requires_grad=wants)
        want = reference.observe("measured", parts, x, EPS)["result"]
        seen = student.observe("measured", parts, x, EPS)
        if seen["derivatives"]:
            fail(
                "numerical_jacobian asked autograd for derivatives of fn: {derivatives} times",
                expected=want,
                actual=seen["result"],
                inputs={**shown, "x": x},
                facts=facts_of(seen),
            )
        assert_jacobian(seen, want, {**shown, "x": x})
    message = "numerical_jacobian may use only values of fn; line {line} uses {used}"
    assert_not_used(student, ["numerical_jacobian"], READY_MADE, message)


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_the_jacobian_of_c21(student, reference):
    """x ** 3 has slope 75 at 5; 5 ** x has 201.1797 at 3"""
    for at, f, text, number in (
        (5.0, lambda x, q: x**q, "x ** 3", 75.0),
        (3.0, lambda q, x: x**q, "5 ** x", 201.1797),
    ):
        other = torch.tensor(8.0 - at, dtype=torch.float64)
        parts = program(f, parameters=[other])
        x = torch.tensor(at, dtype=torch.float64)
        want = torch.tensor([[number]], dtype=torch.float64)
        shown = {"f": text, "x": x}
        assert_jacobian(student.observe("measured", parts, x), want, shown, rtol=1e-6, atol=0.0)


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_numbers_and_empty_tensors(student, reference, draw):
    """0-d and empty tensors have a 2-d Jacobian"""
    a = draw.coefficients(1)[0]
    cube, total, row = (
        program(lambda x: x**3 * a),
        program(lambda x: (x**2).sum() * a),
        program(lambda x: (x * a).expand(3)),
    )
    for f, text, x in (
        (cube, f"x**3 * {a}", draw.tensor()),
        (row, f"(x * {a}).expand(3)", draw.tensor()),
        (total, f"(x**2).sum() * {a}", draw.tensor(3)),
        (cube, f"x**3 * {a}", draw.tensor(0)),
        (total, f"(x**2).sum() * {a}", draw.tensor(2, 0)),
        (total, f"(x**2).sum() * {a}", draw.tensor(1, 2, 1, draw.integer(2, 12))),
    ):
        want = reference.observe("measured", f, x, EPS)["result"]
        assert_jacobian(student.observe("measured", f, x, EPS), want, {"f": text, "x": x})


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_x_is_put_back(student, draw):
    """x stays unchanged"""
    f = program(lambda x: x.sin())
    for x in (
        draw.tensor(3),
        draw.tensor(2, 2, dtype=torch.float32),
        draw.tensor(3, requires_grad=True),
    ):
        seen = student.observe("measured", f, x)
        before, after, shown = seen["before"], seen["after"], {"f": "x.sin()", "x": x}
        if not torch.equal(after["values"], before["values"]):
            # A step that is undone by adding and subtracting leaves a difference that no rounded
            # number would show.
            moved = f"{float((after['values'] - before['values']).abs().max()):.1e}"
            fail(
                "the values of x changed by up to {moved}",
                expected=before["values"],
                actual=after["values"],
                inputs=shown,
                facts={
                    **facts_of(seen),
                    "moved": moved,
                    "changed": "x",
                    "before": str(before["values"].tolist()),
                    "after": str(after["values"].tolist()),
                },
            )
        facts = {"name": "x", "changed": "x.requires_grad"}
        facts |= {"before": before["requires_grad"], "after": after["requires_grad"]}
        message = "{name}.requires_grad was {before} and is {after} afterwards"
        assert_that(
            after["requires_grad"] is before["requires_grad"], message, inputs=shown, facts=facts
        )


# -------------------------------------------------------------------------------------- find_broken


def drawn_functions(draw, factors, x):
    """Functions under drawn names, each off by a factor; the names of those that gradcheck rejects
    at x; their texts.
    """
    functions, broken, shown = {}, set(), {}
    names = draw.sample(["cube", "gate", "mix", "bend", "warp", "fold"], len(factors))
    for name, c in zip(names, factors, strict=True):
        functions[name], texts, passes = drawn_pair(draw, c, x)
        broken |= set() if passes else {name}
        shown |= {name: texts["f"], f"{name}.backward(v)": texts["f.backward(v)"]}
    return functions, broken, shown


@check(points=0.25, about="find_broken", needs=FOUND)
def test_a_float32_point_will_do(student, draw):
    """x may be float32 and of any shape and strides"""
    for x in (
        draw.tensor(3, dtype=torch.float32, low=0.3),
        draw.tensor(low=0.3, requires_grad=True),
        draw.noncontiguous(2, 2, dtype=torch.float32, low=0.3),
        draw.tensor(2, low=0.3).expand(2, 2),
    ):
        functions, broken, shown = drawn_functions(draw, draw.sample([1.0, 2.0, 0.5], 3), x)
        if x.dim() == 2:
            functions["rows"], shown["rows"] = program(lambda x: x.sum(1)), "x.sum(1)"
        shown |= {"x.stride()": x.stride()}
        compare_names(student, broken, functions, x, shown)


@check(points=0.25, about="find_broken", needs=FOUND)
def test_none_all_and_nothing_to_check(student, draw):
    """none, some or all of the functions may be broken"""
    x = draw.tensor(2, low=0.3)
    for factors in draw.sample([[1.0, 1.0], [2.0, 0.5, -1.0], [0.5], []], 4):
        functions, broken, shown = drawn_functions(draw, factors, x)
        compare_names(student, broken, functions, x, shown)


@check(points=0.25, about="find_broken", needs=FOUND)
def test_a_function_that_raises_is_broken(student, draw):
    """a function that raises is broken; the others are checked"""
    x = draw.tensor(2, low=0.3)
    functions, broken, shown = drawn_functions(draw, [1.0, 2.0], x)
    stops = program(lambda x, w: x + w, parameters=[draw.tensor(3)])
    shown |= {"stops": "raises RuntimeError", "sine": "x.sin()"}
    for each in ({**functions, "stops": stops}, {"stops": stops, **functions}):
        compare_names(student, broken | {"stops"}, each, x, shown)
    sine = program(lambda x: x.sin())
    compare_names(student, {"stops"}, {"sine": sine, "stops": stops}, x, shown)


@check(points=0.25, about="find_broken", needs=FOUND)
def test_x_stays_and_is_read_again(student, draw):
    """x stays unchanged, and each call checks every name again"""
    x = draw.tensor(2, low=0.3)
    functions, _, _ = drawn_functions(draw, [1.0, 2.0], x)
    for wants in (False, True):
        x = x.detach().clone().requires_grad_(wants)
        seen = student.observe("found", functions, x, True)
        after = seen["after"]["requires_grad"]
        facts = {"changed": "x.requires_grad", "before": wants, "after": after}
        message = "{changed} was {before} and is {after} afterwards"
        assert_that(after is wants, message, inputs={"x": x}, facts=facts)
        facts = {"changed": "x", "before": x.detach(), "after": seen["after"]["values"]}
        assert_tensor(
            facts["after"], x.detach(), message, rtol=0, atol=0, inputs={"x": x}, facts=facts
        )
    half = program(lambda x, v: x.where_positive(v, v * 3), inputs=2)
    functions = {"half": [program(lambda x: x + 0.0), half], "sine": program(lambda x: x.sin())}
    x, both = draw.tensor(2, low=0.3), {"half", "half again"}
    shown = {"half": "x", "half.backward(v)": "torch.where(x > 0, v, v * 3)", "sine": "x.sin()"}
    try:
        results = student.observe("found_again", functions, x.abs(), -x.abs(), False)
    except StudentCodeError:
        results = []
    if results != [set(), both]:
        results = student.observe("found_again", functions, x.abs(), -x.abs(), True)
    for at, want, got in zip((x.abs(), -x.abs()), (set(), both), results, strict=True):
        message = (
            "each function is there under two names, and x was positive first and then set to -x:"
            " these are not the broken ones"
        )
        assert_that(got == want, message, expected=want, actual=got, inputs={**shown, "x": at})


# ----------------------------------------------------------------------------------------- FixedPow


@check(points=0.5, about="FixedPow", at="FixedPow.backward", needs=POWER)
def test_gradcheck_agrees_with_the_power(student, draw):
    """FixedPow passes gradcheck"""
    x, q = (
        draw.tensor(2, 2, low=0.3, high=3.0, digits=None, requires_grad=True),
        draw.tensor(2, 2, digits=None, requires_grad=True),
    )
    assert_tensor(
        student.FixedPow.apply(x, q),
        (x**q).detach(),
        "FixedPow.apply(x, q) is not x ** q",
        inputs={"x": x, "q": q},
    )
    message = "gradcheck: your gradients differ from the slopes of your forward"
    assert_gradcheck(student.FixedPow.apply, [x, q], message, names=["x", "q"])


@check(points=0.25, about="FixedPow", at="FixedPow.backward", needs=POWER)
def test_the_power_in_any_shape(student, draw):
    """both gradients are right in float32 and in any shape"""
    many = draw.shapes()[-1]
    for x, q in (
        (
            draw.tensor(3, dtype=torch.float32, low=0.3, high=3.0),
            draw.tensor(3, dtype=torch.float32),
        ),
        (draw.tensor(low=0.3, high=3.0), draw.tensor()),
        (draw.noncontiguous(2, 3, low=0.3, high=3.0), draw.noncontiguous(2, 3)),
        (draw.tensor(0, low=0.3), draw.tensor(0)),
        (draw.tensor(*many, low=0.3, high=3.0), draw.tensor(*many)),
    ):
        v = draw.tensor(*x.shape, dtype=x.dtype)
        for frozen in (None, "x", "q"):
            leaves = {
                "x": x.detach().requires_grad_(frozen != "x"),
                "q": q.detach().requires_grad_(frozen != "q"),
            }
            assert_power(student, leaves, v, rtol=2e-5, atol=1e-6)


@check(points=0.25, about="FixedPow", at="FixedPow.backward", needs=POWER)
def test_the_power_of_every_number(student, draw):
    """both gradients are right for every positive x and every q"""
    tiny = draw.number(1.0, 9.0) * 1e-7
    for x, q in (
        ([1.0, 1.0, 1.0], [draw.number(), draw.number(), draw.number()]),
        ([draw.number(0.3, 0.8), draw.number(1.3, 3.0)], [0.0, 0.0]),
        ([draw.number(0.3, 0.8), draw.number(1.3, 3.0)], [tiny, -tiny]),
        ([0.0123, 0.0789], [draw.number(1.0, 3.0), -draw.number(1.0, 3.0)]),
        ([draw.number(20.0, 90.0), 90.5], [draw.number(1.0, 3.0), -draw.number(1.0, 3.0)]),
        ([1e-15, 1e-9, 1e-4], [draw.number(0.2, 0.5), -0.5, 0.5]),
    ):
        x, q = (
            torch.tensor(numbers, dtype=torch.float64, requires_grad=True) for numbers in (x, q)
        )
        assert_power(student, {"x": x, "q": q}, draw.tensor(len(x)), rtol=2e-5, atol=1e-12)


def assert_power(student, leaves, v, **tolerance):
    """FixedPow's value and the gradients of the leaves that require grad must be those of x ** q;
    the stub asks for five digits.
    """
    wanted = {name: leaf for name, leaf in leaves.items() if leaf.requires_grad}
    inputs = {**leaves, "v": v}
    power = leaves["x"] ** leaves["q"]
    want = torch.autograd.grad(power, [*wanted.values()], v)
    y = student.FixedPow.apply(*leaves.values())
    message = "FixedPow.apply(x, q) is not x ** q"
    assert_tensor(y, power.detach(), message, inputs=inputs, rtol=2e-5)
    assert_that(
        y.requires_grad,
        "FixedPow.apply(x, q) does not require grad, although an input does",
        inputs=inputs,
    )
    got = torch.autograd.grad(y, [*wanted.values()], v.clone(), allow_unused=True)
    messages = {
        "x": "the gradient with respect to x is wrong",
        "q": "the gradient with respect to q is wrong",
    }
    for name, gradient, truth in zip(wanted, got, want, strict=True):
        assert_gradient(gradient, truth, messages[name], inputs=inputs, **tolerance)
