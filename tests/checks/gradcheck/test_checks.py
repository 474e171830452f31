"""gradcheck's checks. Those below the line "hidden" are not handed out.

A function that is to be checked is a program, or two: its value, and what its backward returns for
an incoming gradient v, right or wrong. Two become a torch.autograd.Function where the student's
code runs, so it is known what gradcheck must say. ``ONCE`` may follow: backward is marked as one
that cannot be differentiated.
"""

from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    StudentCodeError,
    assert_equal,
    assert_gradient,
    assert_not_used,
    assert_tensor,
    assert_that,
    chart_figure,
    check,
    differences,
    differentiated,
    error_panel,
    fail,
    formula,
    phrase,
    type_name,
    under_test,
)

EPS = 1e-3
"""A step that float32 resolves, where a check is not about digits."""
F32, F64 = torch.float32, torch.float64
ONCE = "once"
FORMS = [
    ("x ** 3 * {a} + x * {b}", "x ** 2 * 3 * {a} + {b}"),
    ("(x * {a}).exp() * {b}", "(x * {a}).exp() * {a} * {b}"),
    ("x.tanh() * {a} + x * {b}", "(1 - x.tanh() ** 2) * {a} + {b}"),
]
"""Elementwise functions and their slopes."""
RIGHT = "v * ({slope})"
WRONG = [
    "v * ({slope}) * -1.0",
    "v * ({slope}) * 2.0",
    "{slope}",  # leaves the incoming gradient out
    "v * ({slope}) * (2 - x / x.abs())",  # right for positive x only
    "(v * ({slope})).reshape(2, 2).t().flatten()",  # elements get each other's gradient
    "v.reshape(2, 2).t().flatten() * ({slope})",  # which shows in no sum of the outputs
]
"""What a backward returns, for an x of four elements."""


def pair(draw: RandomInputs, backward: str, forms: Any = FORMS) -> list[Any]:
    """Draw a function with this backward."""
    a, b = draw.coefficients(2)
    value, slope = (text.format(a=a, b=b) for text in draw.choice(forms))
    return [formula(value), formula(backward.format(slope=slope), "x v")]


def named(parts: Any, name: str = "f") -> dict[str, Any]:
    """Return a function as inputs that a failure shows."""
    if not isinstance(parts, list):
        return {name: parts}
    value, product, *marks = parts
    marked = {"once_differentiable": True} if marks else {}
    return {name: value, f"{name}.backward(v)": product, **marked}


def mixed(draw: RandomInputs) -> Tensor:
    """Draw four numbers of different sizes; one is negative, neither the first nor the last."""
    x = torch.tensor(draw.sample(range(30, 200), 4), dtype=F64) / 100
    x[draw.integer(1, 2)] *= -1
    return x


# --------------------------------------------------------------------------------- passes_gradcheck


def judge(seen: dict[str, Any], want: bool) -> None:
    """Require the verdict that gradcheck comes to."""
    got = seen["result"]
    details = {"expected": want, "actual": got, "facts": {**seen, "type": type_name(got)}}
    if got is None:
        fail("None came back: is there a return?", **details)
    if type(got) is not bool:
        fail("returned a value of type {type}, expected True or False", **details)
    if want and not got:
        fail("returned False, but gradcheck accepts these gradients in float64", **details)
    if got and not want:
        fail("returned True, but gradcheck rejects these gradients", **details)


def verdict(
    student: Student, draw: RandomInputs, parts: Any, want: bool, **inputs: Tensor
) -> dict[str, Any]:
    """Require what passes_gradcheck must say of a function; return what was seen."""
    frozen = {f"{key}.requires_grad": False for key, x in inputs.items() if not x.requires_grad}
    draw.given(**named(parts), **inputs, **frozen)
    seen: dict[str, Any] = student.observe("verdict", parts, *inputs.values())
    judge(seen, want)
    return seen


@check(points=0.5, about="passes_gradcheck")
def test_right_gradients_pass_and_wrong_ones_do_not(student: Student, draw: RandomInputs) -> None:
    """right gradients pass, wrong ones do not"""
    _ = student.passes_gradcheck  # a file without it is told so, and what it defines instead
    x = mixed(draw).requires_grad_()
    for backward in (RIGHT, *draw.sample([RIGHT, *WRONG], 7)):
        verdict(student, draw, pair(draw, backward), backward is RIGHT, x=x)


VERDICT = test_right_gradients_pass_and_wrong_ones_do_not


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_every_input_counts(student: Student, draw: RandomInputs) -> None:
    """the gradient of every input is checked"""
    value = formula("x ** 2 * y + y * 3", "x y")
    for c, d in draw.sample([(1.0, 1.0), (2.0, 1.0), (1.0, 0.5)], 3):
        x, y = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
        product = formula(f"(v * 2 * x * y * {c}, v * (x ** 2 + 3) * {d})", "x y v")
        verdict(student, draw, [value, product], c == d, x=x, y=y)
    x, y = draw.tensor(3, requires_grad=True), draw.tensor(3)
    verdict(student, draw, formula("x.sin()", "x y"), True, x=x, y=y)  # the gradient of y is 0


# ------------------------------------------------------------------------------- numerical_jacobian


def jacobian(
    student: Student,
    draw: RandomInputs,
    parts: Any,
    x: Tensor,
    eps: float | None = EPS,
    *,
    want: Tensor | None = None,
    says: str = "this is not the Jacobian",
    dtype: bool = False,
    **near: Any,
) -> dict[str, Any]:
    """Require the Jacobian in shape and values, with ``dtype`` also float64; return what was seen.
    Without ``want`` it is that of the right differences.
    """
    f, step = (parts[0] if isinstance(parts, list) else parts), ([] if eps is None else [eps])
    if want is None:
        want = differences(f, x.detach().double(), eps or 1e-6, eps or 1e-6)
    draw.given(**named(parts), x=x, **({} if eps is None else {"eps": eps}))
    seen: dict[str, Any] = student.observe("measured", parts, x, *step)
    got, facts = seen["result"], {key: seen[key] for key in ("dtypes", "derivatives")}
    if not dtype and isinstance(got, Tensor) and got.is_floating_point():
        got = got.to(F64)
    near = {"rtol": 0.01, "atol": 0.02, **near}
    assert_tensor(got, want, says, facts=facts, **near)
    return seen


def autograds(f: Any, x: Tensor) -> Tensor:
    """Return torch's own Jacobian of f at x, elements counted row by row on either side."""
    found: Any = torch.autograd.functional.jacobian(f, x)
    return found.reshape(-1, x.numel())


@check(points=0.5, about="numerical_jacobian")
def test_row_by_output_column_by_input(student: Student, draw: RandomInputs) -> None:
    """the Jacobian has a row per output, a column per input"""
    function = student.numerical_jacobian
    f = draw.formula("(x ** 2 * {a}).cat((x.prod() * {b}).unsqueeze(0))")
    x = draw.tensor(2, low=0.5)
    want = autograds(f, x)

    def figure() -> Any:
        errors = error_panel(
            "",
            function,
            lambda eps: (f, x.clone(), eps),
            lambda eps: differences(f, x, eps, eps),
            want,
            x="eps",
        )
        return chart_figure(phrase("the largest error of an element against eps"), errors)

    jacobian(student, draw, f, x, want=want, figures=[figure])


JACOBIAN = test_row_by_output_column_by_input


@check(points=0.25, about="numerical_jacobian", needs=JACOBIAN)
def test_matrices_are_flattened(student: Student, draw: RandomInputs) -> None:
    """the elements of a matrix are counted row by row"""
    f = formula("(x * x[0]).sin()")
    for x in (draw.tensor(2, 3), draw.noncontiguous(2, 3)):
        jacobian(student, draw, f, x, want=autograds(f, x))


# -------------------------------------------------------------------------------------- find_broken


def broken(
    student: Student, draw: RandomInputs, functions: dict[str, Any], want: set[str], x: Tensor
) -> None:
    """Require the names of the functions that gradcheck rejects; a fault of passes_gradcheck is
    not one of find_broken.
    """
    texts = {key: one for name, f in functions.items() for key, one in named(f, name).items()}
    draw.given(**texts, x=x)
    try:
        if student.observe("found", functions, x, False)["result"] == want:
            return
    except StudentCodeError:
        pass
    seen = student.observe("found", functions, x, True)
    got = seen["result"]
    facts = {"type": type_name(got), "names": sorted(functions), "seen": seen["seen"]}
    details = {"expected": want, "actual": got}
    if got is None:
        fail("None came back: is there a return?", facts=facts, **details)
    if not isinstance(got, set):
        fail("returned a value of type {type}, expected a set of names", facts=facts, **details)
    if missing := want - got:
        message = "these broken functions are missing: {missing}"
        fail(message, facts={**facts, "missing": missing}, **details)
    if surplus := got - want:
        message = "these are not names of broken functions: {surplus}"
        fail(message, facts={**facts, "surplus": surplus}, **details)


@check(points=0.5, about="find_broken")
def test_the_broken_ones_are_found(student: Student, draw: RandomInputs) -> None:
    """exactly the broken functions are found"""
    _ = student.find_broken  # a file without it is told so, and what it defines instead
    backwards = draw.sample([RIGHT, RIGHT, RIGHT, *WRONG[1:]], 8)
    names = draw.sample("fghpqrst", 8)
    functions = {name: pair(draw, one) for name, one in zip(names, backwards, strict=True)}
    want = {name for name, one in zip(names, backwards, strict=True) if one is not RIGHT}
    broken(student, draw, functions, want, mixed(draw))


FOUND = test_the_broken_ones_are_found


# ----------------------------------------------------------------------------------------- FixedPow


def powers(draw: RandomInputs, *shape: int, dtype: torch.dtype = F64) -> list[Tensor]:
    """Draw a positive x, a q and a v."""
    x = draw.tensor(*shape, low=0.3, high=3.0, dtype=dtype, requires_grad=True)
    return [
        x,
        draw.tensor(*shape, dtype=dtype, requires_grad=True),
        draw.tensor(*shape, dtype=dtype),
    ]


def telling(draw: RandomInputs, dtype: torch.dtype = F64) -> list[Tensor]:
    """Draw an x below and above 1, and a q below 0, between 0 and 1, and above 1."""
    x = [draw.number(0.3, 0.8), draw.number(1.3, 3.0), draw.number(1.3, 3.0)]
    q = [draw.number(0.2, 0.8), draw.number(-2.0, -0.5), draw.number(1.3, 2.0)]
    leaves = [torch.tensor(numbers, dtype=dtype, requires_grad=True) for numbers in (x, q)]
    return [*leaves, draw.tensor(3, dtype=dtype)]


P = under_test(
    "FixedPow.apply",
    torch.pow,
    inputs="x q",
    draws=powers,
    telling=telling,
    near={"rtol": 2e-5, "atol": 1e-6},  # five digits are asked for
    over={"x": (0.1, 3), "q": (-2, 3)},
)
power = partial(P.check, at="FixedPow.backward")
test_both_gradients_of_the_power = POWER = power(
    0.5, "both gradients of x ** q are right for any grad_output", P.right_gradients
)


@check(points=0.25, about="FixedPow", at="FixedPow.backward", needs=POWER)
def test_the_numbers_of_c20_and_c21(student: Student, draw: RandomInputs) -> None:
    """at x = 5 and q = 3 the gradients are 75 and 201.1797"""
    leaves = [torch.tensor(number, dtype=F64, requires_grad=True) for number in (5.0, 3.0)]
    draw.given(x=leaves[0], q=leaves[1])
    y = P.value(*leaves)
    assert_tensor(y, torch.tensor(125.0, dtype=F64), "5 ** 3 is 125")
    found = differentiated(y, leaves, torch.ones_like(y))
    for which, got, number in zip("xq", found, (75.0, 201.1797), strict=True):
        message, want = (
            "the gradient with respect to {which} is wrong",
            torch.tensor(number).double(),
        )
        assert_gradient(got, want, message, rtol=1e-6, facts={"which": which})


# hidden


HIDDEN_FORMS = [
    ("x ** 2 * {a} + x * {b}", "x * 2 * {a} + {b}"),
    ("x ** 3 * {a} - (x * -{b}).exp()", "x ** 2 * 3 * {a} + (x * -{b}).exp() * {b}"),
    ("x.sigmoid() * {a} + x * {b}", "x.sigmoid() * (1 - x.sigmoid()) * {a} + {b}"),
]
READY_MADE = [
    f"{module}.{name}numerical_jacobian"
    for module in ("torch.autograd.gradcheck", "")
    for name in ("get_", "_get_")
]
"""What has the numerical Jacobian ready. What asks fn's backward instead is seen as it does."""


def scaled(draw: RandomInputs, factor: float) -> list[Any]:
    """Draw a function whose backward is off by a factor."""
    return pair(draw, f"v * ({{slope}}) * {factor}", HIDDEN_FORMS)


def assert_left(seen: dict[str, Any], *names: str) -> None:
    """Require that values, requires_grad and .grad of inputs are what they were."""
    for name, before, after in zip(names, seen["before"], seen["after"], strict=True):
        for key, what in (("requires_grad", ".requires_grad"), ("values", ""), ("grad", ".grad")):
            facts = {"changed": f"{name}{what}", "before": full(before[key])}
            facts["after"] = full(after[key])
            message = "{changed} was {before} and is {after} afterwards"
            assert_equal(after[key], before[key], message, facts=facts)


def full(value: Any) -> Any:
    """Return a value with all digits: a step that is undone leaves a small difference."""
    return str(value.tolist()) if isinstance(value, Tensor) else value


# --------------------------------------------------------------------------------- passes_gradcheck


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_any_input_is_made_ready(student: Student, draw: RandomInputs) -> None:
    """inputs may be float32 and need not require grad"""
    for dtype, wants in ((F64, False), (F32, False), (F32, True)):
        x = draw.tensor(3, dtype=dtype, low=0.3, requires_grad=wants)
        for factor in draw.sample([1.0, 2.0], 2):
            seen = verdict(student, draw, scaled(draw, factor), factor == 1.0, x=x)
            message = "fn was called with tensors of {dtypes}, expected float64 copies"
            assert_that({*seen["dtypes"]} <= {"float64"}, message, facts=seen)
    value = formula("x ** 2 * y", "x y")
    for first in draw.sample([True, False], 2):  # the gradient of the other input is wrong
        x = draw.tensor(3, low=1.0, requires_grad=first)
        y = draw.tensor(3, low=1.0, requires_grad=not first)
        c, d = (1.0, 2.0) if first else (2.0, 1.0)
        product = formula(f"(v * 2 * x * y * {c}, v * x ** 2 * {d})", "x y v")
        verdict(student, draw, [value, product], False, x=x, y=y)


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_the_default_settings_decide(student: Student, draw: RandomInputs) -> None:
    """gradcheck runs with its default eps, rtol and atol"""
    for factor in draw.sample([0.997, 1.003], 2):
        x = draw.tensor(3, low=0.3, requires_grad=True)
        verdict(student, draw, scaled(draw, factor), False, x=x)
    few, one = draw.tensor(3, low=0.3, requires_grad=True), draw.tensor(1, requires_grad=True)
    for x, value, backward, want in draw.sample(
        [
            (few, "x ** 2 / 1000", "v * x / 250", False),
            (one, "x * 0.01", "v * 0.01005", False),  # atol decides, and both
            (one, "x * 0.01", "v * 0.010015", True),
        ],
        3,
    ):
        verdict(student, draw, [formula(value), formula(backward, "x v")], want, x=x)
    fast = formula("(x * {k}).sin() / {k}".format(k=draw.choice([20_000, 25_000])))
    verdict(student, draw, fast, True, x=few)  # no other eps sees how it changes


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_an_exception_from_fn_is_a_no(student: Student, draw: RandomInputs) -> None:
    """an exception from fn gives False"""
    x, text = draw.tensor(2, low=0.3, requires_grad=True), "this function stops here"
    for kind in draw.sample(["ValueError", "IndexError", "AttributeError", "Unusual"], 3):
        for calls, in_backward in ((0, False), (1, False), (0, True)):
            f = pair(draw, RIGHT, HIDDEN_FORMS)[0]
            draw.given(f=f, x=x, **{"fn raises": kind})
            judge(student.observe("raising", f, kind, text, calls, in_backward, x), False)


@check(points=0.5, about="passes_gradcheck", needs=VERDICT)
def test_the_callers_tensors_stay(student: Student, draw: RandomInputs) -> None:
    """the caller's tensors stay unchanged"""
    parts = [formula("x * y + y", "x y"), formula("(v * y, v * (x + 1))", "x y v")]
    for dtype, wants, amount in (
        (F64, False, 0.0),
        (F32, False, 0.0),
        (F64, True, 0.0),
        (F64, False, draw.number(0.2, 0.9)),
        (F64, True, draw.number(0.2, 0.9)),
    ):
        shape = draw.choice([(3,), ()])
        x, y = (draw.tensor(*shape, dtype=dtype, low=0.3, requires_grad=wants) for _ in range(2))
        held = [draw.tensor(*shape, dtype=dtype) if wants else None for _ in range(2)]
        writes = {"fn adds in place": amount} if amount else {}
        draw.given(**named(parts), x=x, y=y, **{"x.requires_grad": wants}, **writes)
        assert_left(student.observe("writing", parts, amount, held, x, y), "x", "y")


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_c20_passes_and_c21_does_not(student: Student, draw: RandomInputs) -> None:
    """x ** q passes if it is right, and fails with log(x + 1)"""
    x, q = (torch.tensor(number, dtype=F64, requires_grad=True) for number in (5.0, 3.0))
    right = "(v * q * x ** (q - 1), v * x ** q * x.log())"
    # two are right and have no derivative of their own, for which only gradgradcheck asks
    for backward, marks, want in draw.sample(
        [
            (right, [], True),
            (right, [ONCE], True),
            ("((v * q * x ** (q - 1)).detach(), (v * x ** q * x.log()).detach())", [], True),
            ("(v * q * x ** (q - 1), v * x ** q * (x + 1).log())", [], False),
        ],
        4,
    ):
        parts = [formula("x ** q", "x q"), formula(backward, "x q v"), *marks]
        verdict(student, draw, parts, want, x=x, q=q)


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_relu_and_a_step(student: Student, draw: RandomInputs) -> None:
    """ReLU passes except at 0; a step with gradient 1 fails"""
    smooth = draw.tensor(8)
    smooth[:2] = torch.tensor([0.7, -0.7])
    kink = smooth.clone()
    kink[draw.integer(0, 7)] = 0.0
    step = [formula("(x / x.abs() + 1) / 2"), formula("v + 0.0", "x v")]
    relu = formula("x.relu()")
    for parts, x, want in draw.sample(
        [(relu, smooth, True), (relu, kink, False), (step, smooth, False)], 3
    ):
        verdict(student, draw, parts, want, x=x.clone().requires_grad_())


@check(points=0.25, about="passes_gradcheck", needs=VERDICT)
def test_any_shape_and_several_results(student: Student, draw: RandomInputs) -> None:
    """any shape, any strides and several outputs work"""
    number, matrix = draw.tensor(low=0.3), draw.tensor(2, 2, low=0.3)
    several = draw.tensor(1, 2, 1, draw.integer(2, 8), low=0.3)
    for x in (number, matrix, draw.noncontiguous(2, 3, low=0.3), several):
        for factor in draw.sample([1.0, 0.5], 2):
            verdict(student, draw, scaled(draw, factor), factor == 1.0, x=x)
    for x, text in ((number, "x.unsqueeze(0).expand(2)"), (matrix, "x.sum(1) ** 2")):
        verdict(student, draw, formula(text), True, x=x)  # these take no other shape
    x = draw.tensor(3, low=0.3, requires_grad=True)
    for text, want in draw.sample(
        [
            ("(x ** 3 * {a}, x.sin())", True),
            ("(x ** 3 * {a}, x.sin() * x.detach())", False),
            ("(x ** 3 * {a} * x.detach(), x.sin())", False),
            ("(x ** 3 * {a}, x.sin().unsqueeze(0).expand(2, 3), x.sum())", True),
            ("(x.sin() + x.exp().detach(), x.cos() - x.exp().detach())", False),
        ],
        5,
    ):
        verdict(student, draw, draw.formula(text), want, x=x)


# ------------------------------------------------------------------------------- numerical_jacobian


@check(points=0.5, about="numerical_jacobian", needs=JACOBIAN)
def test_backward_is_not_asked(student: Student, draw: RandomInputs) -> None:
    """fn's backward is never called"""
    for wants in (False, True):
        x, parts = draw.tensor(3, requires_grad=wants), scaled(draw, -2.0)
        draw.given(**named(parts), x=x)
        seen = student.observe("measured", parts, x, EPS)
        facts = {"derivatives": seen["derivatives"]}
        message = "numerical_jacobian asked autograd for derivatives of fn: {derivatives} times"
        assert_that(not seen["derivatives"], message, actual=seen["result"], facts=facts)
        jacobian(student, draw, parts, x)
    message = "numerical_jacobian may use only values of fn; line {line} uses {used}"
    assert_not_used(student, ["numerical_jacobian"], READY_MADE, message)


BY_VALUES = test_backward_is_not_asked


@check(points=0.25, about="numerical_jacobian", needs=JACOBIAN)
def test_fn_may_return_a_view(student: Student, draw: RandomInputs) -> None:
    """numerical_jacobian works for an fn that returns a view"""
    for text in ("x.t()", "x.reshape(-1)"):
        f, x = formula(text), draw.tensor(2, 3)
        jacobian(student, draw, f, x, want=autograds(f, x))


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_one_step_down_and_one_up(student: Student, draw: RandomInputs) -> None:
    """slopes are computed from x - eps to x + eps"""
    says = "these are not the slopes from x - eps to x + eps"
    for eps in (draw.choice([0.1, 0.2, 0.25]), draw.choice([0.5, 0.4])):
        f = draw.formula("(x * {a}).exp() * x.sum() + x ** 3 * {b}")
        x = torch.tensor([draw.number(1.5, 2.5), -draw.number(1.5, 2.5)], dtype=F64)
        jacobian(student, draw, f, x, eps, says=says, rtol=1e-4, atol=1e-4)


@check(points=0.5, about="numerical_jacobian", needs=BY_VALUES)
def test_float32_is_computed_in_float64(student: Student, draw: RandomInputs) -> None:
    """everything is computed in float64, for a float32 x too"""
    for shape, dtype in (((3,), F64), ((3,), F32), ((), F32)):
        f, x = draw.formula("(x * {a}).sin() + x ** 3 * {b}"), draw.tensor(*shape, low=0.5)
        jacobian(student, draw, f, x.to(dtype), None, dtype=True, rtol=1e-4, atol=1e-4)


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_the_jacobian_of_c21(student: Student, draw: RandomInputs) -> None:
    """x ** 3 has slope 75 at 5; 5 ** x has 201.1797 at 3"""
    for at, text, number in ((5.0, "x ** 3", 75.0), (3.0, "5.0 ** x", 201.1797)):
        x, want = torch.tensor(at, dtype=F64), torch.tensor([[number]], dtype=F64)
        jacobian(student, draw, formula(text), x, None, want=want, rtol=1e-6, atol=0.0)


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_numbers_and_empty_tensors(student: Student, draw: RandomInputs) -> None:
    """0-d and empty tensors have a 2-d Jacobian"""
    for text, x in (
        ("x ** 3 * {a}", draw.tensor()),
        ("(x * {a}).expand(3)", draw.tensor()),
        ("(x ** 2).sum() * {a}", draw.tensor(3)),
        ("x ** 3 * {a}", draw.tensor(0)),
        ("(x ** 2).sum() * {a}", draw.tensor(2, 0)),
        ("(x ** 2).sum() * {a}", draw.tensor(1, 2, 1, draw.integer(2, 12))),
    ):
        jacobian(student, draw, draw.formula(text), x)


@check(points=0.25, about="numerical_jacobian", needs=BY_VALUES)
def test_x_is_put_back(student: Student, draw: RandomInputs) -> None:
    """x stays unchanged"""
    f = formula("x.sin()")
    for x in (draw.tensor(3), draw.tensor(2, 2, dtype=F32), draw.tensor(3, requires_grad=True)):
        draw.given(f=f, x=x)
        assert_left(student.observe("measured", f, x), "x")


# -------------------------------------------------------------------------------------- find_broken


def drawn_functions(draw: RandomInputs, *factors: float) -> tuple[dict[str, list[Any]], set[str]]:
    """Draw functions, each off by a factor, and the names of those that are broken."""
    names = draw.sample(["cube", "gate", "mix", "bend", "warp", "fold"], len(factors))
    functions = {name: scaled(draw, factor) for name, factor in zip(names, factors, strict=True)}
    return functions, {name for name, one in zip(names, factors, strict=True) if one != 1.0}


@check(points=0.25, about="find_broken", needs=FOUND)
def test_a_float32_point_will_do(student: Student, draw: RandomInputs) -> None:
    """x may be float32 and of any shape and strides"""
    for x in (
        draw.tensor(3, dtype=F32, low=0.3),
        draw.tensor(low=0.3, requires_grad=True),
        draw.noncontiguous(2, 2, dtype=F32, low=0.3),
    ):
        functions, want = drawn_functions(draw, *draw.sample([1.0, 2.0, 0.5], 3))
        rows = {"rows": formula("x.sum(1)")} if x.dim() == 2 else {}
        broken(student, draw, {**functions, **rows}, want, x)


@check(points=0.25, about="find_broken", needs=FOUND)
def test_none_some_or_all(student: Student, draw: RandomInputs) -> None:
    """none, some or all of the functions may be broken"""
    x = draw.tensor(2, low=0.3)
    for factors in draw.sample([[1.0, 1.0], [2.0, 0.5, -1.0], [1.0, 0.5]], 3):
        broken(student, draw, *drawn_functions(draw, *factors), x)


@check(points=0.25, about="find_broken", needs=FOUND)
def test_a_function_that_raises_is_broken(student: Student, draw: RandomInputs) -> None:
    """a function that raises is broken; the others are checked"""
    x = draw.tensor(2, low=0.3)
    functions, want = drawn_functions(draw, 1.0, 2.0)
    stops = {"stops": formula("x + w", w=draw.tensor(3))}
    for each in ({**functions, **stops}, {**stops, **functions}):
        broken(student, draw, each, want | {"stops"}, x)
    broken(student, draw, {"sine": formula("x.sin()"), **stops}, {"stops"}, x)


@check(points=0.25, about="find_broken", needs=FOUND)
def test_x_stays(student: Student, draw: RandomInputs) -> None:
    """find_broken leaves x unchanged"""
    functions, _ = drawn_functions(draw, 1.0, 2.0)
    for wants in (False, True):
        x = draw.given(x=draw.tensor(2, low=0.3, requires_grad=wants))
        assert_left(student.observe("found", functions, x, True), "x")


# ----------------------------------------------------------------------------------------- FixedPow


@check(points=0.5, about="FixedPow", at="FixedPow.backward", needs=POWER)
def test_gradcheck_agrees_with_the_power(student: Student, draw: RandomInputs) -> None:
    """FixedPow passes gradcheck"""
    x = draw.tensor(2, 2, low=0.3, high=3.0, digits=None, requires_grad=True)
    P.gradcheck(x, draw.tensor(2, 2, digits=None, requires_grad=True))


test_the_power_in_any_shape = power(
    0.25, "both gradients are right in float32 and in any shape",
    partial(P.every_shape, dtypes=(F64, F32)), P.empty, partial(P.strided, expanded=False),
    P.constants, needs=POWER,
)  # fmt: skip


@check(points=0.25, about="FixedPow", at="FixedPow.backward", needs=POWER)
def test_the_power_of_every_number(student: Student, draw: RandomInputs) -> None:
    """both gradients are right for every positive x and every q"""
    for x, q in (
        ([1.0, 1.0, 1.0], [draw.number(), draw.number(), draw.number()]),
        ([draw.number(0.3, 0.8), draw.number(1.3, 3.0)], [0.0, 0.0]),
        ([0.0123, 0.0789], [draw.number(1.0, 3.0), -draw.number(1.0, 3.0)]),
        ([draw.number(20.0, 90.0), 90.5], [draw.number(1.0, 3.0), -draw.number(1.0, 3.0)]),
        ([1e-15, 1e-9, 1e-4], [draw.number(0.2, 0.5), -0.5, 0.5]),
    ):
        leaves = [torch.tensor(numbers, dtype=F64, requires_grad=True) for numbers in (x, q)]
        P.gradient(*leaves, draw.tensor(len(x)), rtol=2e-5, atol=1e-12)


test_the_power_leaves_its_inputs = power(
    0.25, "x, q and grad_output are not changed", P.leaves_tensors, needs=POWER
)
