"""The mistakes that people make with the chain rule, each recognised by the numbers that come
back.
"""

import math
import re

import torch

from grader.authoring import StudentCodeError, phrase, rule, same

BY_HAND = ("gradient_by_hand", "power_gradients_by_hand")
IN_NUMBERS = ("linear_gradients", "shopping")
PRICES = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
BETWEEN = ("apple_price", "tangerine_price", "price")
LINE = (0.75, 2.5, 1.375)
"""An x, w and b at which the gradients of (w * x + b) ** 2 are three different numbers, none a
multiple of another; and 2 * b is not 1.
"""
BILL = (40.0, 3.0, 130.0, 7.0, 1.25)
"""A bill whose gradients are all different, those of the intermediate results apart."""


def agrees(left, right):
    """Whether two tensors are the same to what a formula in float64 leaves."""
    return same(left, right, rtol=1e-9, atol=1e-12)


def close(left, right):
    """Whether two numbers are the same in float32."""
    return math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-6)


def number(value):
    """A number or a tensor of one, as a float; else NaN, which is close to nothing."""
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 else math.nan
    return float(value) if isinstance(value, int | float) else math.nan


def none_for_a_gradient(failure):
    """Whether a number was to be taken out of None. Other errors about None have other causes:
    backward() returns it, and retain_grad().
    """
    taken = (
        r"no attribute '(item|tolist|clone|detach|data|numpy|float|double)'|argument must be|must"
        r" be real number"
    )
    return failure.raised("NoneType") and re.search(taken, failure.error.message) is not None


def asked(failure, student, *, at=None):
    """Inputs of a function that was to be derived by hand, and what it returns for them; Nones
    where it raised or returned no tensors.
    """
    draw = failure.draw
    count = 1 if failure.about == "gradient_by_hand" else 2
    inputs = (
        [torch.tensor(value, dtype=torch.float64) for value in at[:count]]
        if at
        else [draw.tensor(3, low=1.6, high=4.0) for _ in range(count)]
    )
    result = getattr(student, failure.about)(*inputs)
    results = (
        [result]
        if count == 1
        else list(result)
        if isinstance(result, tuple) and len(result) == 2
        else [None, None]
    )
    return inputs, results


def of_line(student):
    """What linear_gradients returns for LINE, as numbers."""
    result = student.linear_gradients(*LINE)
    return (
        [number(item) for item in result]
        if isinstance(result, tuple | list) and len(result) == 3
        else []
    )


def right_line():
    """The right gradients for LINE."""
    x, w, b = LINE
    y = w * x + b
    return [2 * y * w, 2 * y * x, 2 * y]


def of_bill(student):
    """What shopping returns for BILL, as numbers; NaN for what is missing or none."""
    result = student.shopping(*BILL)
    return (
        {key: number(result.get(key)) for key in PRICES + BETWEEN}
        if isinstance(result, dict)
        else {}
    )


# ---------------------------------------------------------------------------- how it was to be done


@rule
def uses_autograd(failure, student):
    """The check has seen it, in the source or among the nodes that ran."""
    return {} if "used" in failure.facts else None


@rule
def one_number_at_a_time(failure, student):
    """A tensor of several elements can't become one number."""
    texts = (
        "converted to Python scalars",
        "converted to Scalar",
        "must be real number, not Tensor",
        "Boolean value of Tensor",
    )
    if failure.error is None or not any(text in failure.error.message for text in texts):
        return None
    return {"said": failure.error.message}


# ------------------------------------------------------------------------------ which formula it is


@rule
def one_path_only(failure, student):
    """3 / x alone, or 1 alone."""
    if failure.error:
        return None
    (x,), (got,) = asked(failure, student)
    if not agrees(got, 3 / x) and not agrees(got, torch.ones_like(x)):
        return None
    return {"got": asked(failure, student, at=(5.0,))[1][0], "total": 1.6}


def without_inner(about, inputs):
    """Formulas without an inner derivative, for the gradient with respect to x: with their text,
    and what they lack.
    """
    if about == "gradient_by_hand":
        (x,) = inputs
        outer_y, outer_w = 1 / x**3, 1 / (2 * torch.sqrt(x**2))
        return [
            (outer_y + outer_w, "1 / x**3 + 1 / (2 * sqrt(x**2))", "3 * x**2, 2 * x"),
            (outer_y + 1, "1 / x**3 + 1", "3 * x**2"),
            (3 / x + outer_w, "3 / x + 1 / (2 * sqrt(x**2))", "2 * x"),
        ]
    x, q = inputs
    return [(1 / x**q, "1 / x**q", "q * x**(q - 1)")]


@rule
def inner_derivative_missing(failure, student):
    """The outer derivative alone, on one path or on both."""
    if failure.error:
        return None
    inputs, results = asked(failure, student)
    for wrong, formula, missing in without_inner(failure.about, inputs):
        if agrees(results[0], wrong):
            got = asked(failure, student, at=(5.0, 3.0))[1][0]
            return {
                "where": "x = 5" if len(inputs) == 1 else "x = 5, q = 3",
                "got": got,
                "formula": formula,
                "missing": missing,
            }
    return None


@rule
def exponent_like_a_base(failure, student):
    """The power rule, for the exponent."""
    if failure.error:
        return None
    (x, q), (to_x, to_q) = asked(failure, student)
    if agrees(to_x, torch.log(x)):
        return None  # in another order, whatever else
    formulas = {
        "q / x": q / x,
        "1 / x": 1 / x,
        "q * x**(q - 1)": q * x ** (q - 1),
        "x**(q - 1)": x ** (q - 1),
    }
    for formula, wrong in formulas.items():
        if agrees(to_q, wrong):
            return {
                "got": asked(failure, student, at=(5.0, 3.0))[1][1],
                "formula": formula,
                "want": math.log(5.0),
            }
    return None


@rule
def stops_one_step_early(failure, student):
    """The gradients of what the last step is given: of the power, for x or for q, or of w * x +
    b.
    """
    if failure.error:
        return None
    if failure.about == "linear_gradients":
        (x, w, _), got = LINE, of_line(student)
        if not got or not all(map(close, got, (w, x, 1.0))):
            return None
        facts = {
            "inner": "w * x + b",
            "outer": "y ** 2",
            "factor": "2 * y",
            "want": tuple(right_line()),
        }
        return {
            "where": "x = 0.75, w = 2.5, b = 1.375",
            "got": tuple(got),
            "early": (w, x, 1.0),
            **facts,
        }
    (x, q), (to_x, to_q) = asked(failure, student)
    if not agrees(to_x, q * x ** (q - 1)) and not agrees(to_q, x**q * torch.log(x)):
        return None
    facts = {"inner": "x ** q", "outer": "log(y)", "factor": "1 / y", "want": (0.6, math.log(5.0))}
    got = tuple(asked(failure, student, at=(5.0, 3.0))[1])
    return {"where": "x = 5, q = 3", "got": got, "early": (75.0, 125.0 * math.log(5.0)), **facts}


@rule
def wrong_order(failure, student):
    """The right numbers, permuted."""
    if failure.error:
        return None
    if failure.about == "linear_gradients":
        got, want = of_line(student), right_line()
        if (
            any(map(math.isnan, got))
            or all(map(close, got, want))
            or not all(map(close, sorted(got), sorted(want)))
        ):
            return None
        return (
            {
                "where": "x = 0.75, w = 2.5, b = 1.375",
                "got": tuple(got),
                "want": tuple(want),
                "order": "x, w, b",
            }
            if got
            else None
        )
    (x, q), (to_x, to_q) = asked(failure, student)
    if not agrees(to_x, torch.log(x)) or not agrees(to_q, q / x):
        return None
    got = tuple(asked(failure, student, at=(5.0, 3.0))[1])
    return {"where": "x = 5, q = 3", "got": got, "want": (0.6, math.log(5.0)), "order": "x, q"}


@rule
def numerical_differences(failure, student):
    """Nearly right in float64, with errors that are neither of float32, nor of rounding, nor one
    factor for all.
    """
    if failure.error:
        return None
    inputs, results = asked(failure, student)
    wants = (
        [3 / inputs[0] + 1] if len(inputs) == 1 else [inputs[1] / inputs[0], torch.log(inputs[0])]
    )
    for got, want in zip(results, wants, strict=True):
        if (
            not isinstance(got, torch.Tensor)
            or got.dtype is not torch.float64
            or got.shape != want.shape
        ):
            continue
        off = (got.detach() - want) / want
        worst = float(off.abs().max())
        rounded = bool((got.detach().float().double() == got).all()) or same(
            got * 1e6, (got * 1e6).round(), rtol=0.0, atol=1e-6
        )
        if 2e-14 < worst < 1e-2 and not rounded and float(off.max() - off.min()) > 1e-3 * worst:
            return {"error": worst} if rough(failure, student) else None
    return None


def rough(failure, student):
    """Whether what comes back jumps from x to the next x, as differences do that are divided by a
    step; a formula that is off is smooth.
    """
    near = 1e-9 * torch.arange(24, dtype=torch.float64)
    result = getattr(student, failure.about)(
        *[start + near for start in (2.0, 3.0)][: 1 if failure.about == "gradient_by_hand" else 2]
    )
    found = [
        one.detach()
        for one in (result if isinstance(result, tuple) else [result])
        if isinstance(one, torch.Tensor)
    ]
    return any(
        bool((one.diff(n=2).abs() > 5e-15 * one[2:].abs()).any())
        for one in found
        if one.shape == near.shape
    )


# --------------------------------------------------------------------------- what autograd was told


@rule
def tensors_not_numbers(failure, student):
    """Tensors in the answer, the numbers in them being right."""
    if failure.error:
        return None
    if failure.about == "linear_gradients":
        result = student.linear_gradients(*LINE)
        right = all(map(close, of_line(student), right_line()))
        items = list(result) if right and isinstance(result, tuple | list) else []
    else:
        result = student.shopping(*BILL)
        items = list(result.values()) if isinstance(result, dict) else []
    shown = next((item for item in items if isinstance(item, torch.Tensor)), None)
    wants_floats = failure.check in (
        "test_linear_gradients_are_plain_floats",
        "test_shopping_returns_plain_floats",
    )
    return {"shown": str(shown)} if shown is not None and wants_floats else None


@rule
def passes_add_up(failure, student):
    """Whole multiples of the right gradients."""
    if failure.error:
        return None
    if failure.about == "linear_gradients":
        got, want = of_line(student), right_line()
    else:
        bill, right = of_bill(student), failure.reference.shopping(*BILL)
        got, want = [bill.get(key, math.nan) for key in PRICES], [right[key] for key in PRICES]
    ratios = [found / one for found, one in zip(got, want, strict=False)]
    whole = [
        abs(ratio - round(ratio)) < 1e-4 and 1 <= round(ratio) <= 9
        for ratio in ratios
        if math.isfinite(ratio)
    ]
    if len(whole) != len(want) or not all(whole) or max(ratios) < 1.5:
        return None
    passes = student.observe(
        "traced", failure.about, *(LINE if failure.about == "linear_gradients" else BILL)
    )["calls"].count("backward")
    return (
        None
        if passes < 2
        else {"passes": passes, "ratios": ", ".join(str(round(ratio)) for ratio in ratios)}
    )


@rule
def retain_grad_missing(failure, student):
    """None for an intermediate gradient that was read or was to be kept, or an error about it, and
    less than three calls in time.
    """
    values = failure.actual.values() if isinstance(failure.actual, dict) else ()
    if not none_for_a_gradient(failure) and not any(value is None for value in values):
        return None
    seen = student.observe("retained", *BILL)
    sought = seen["read"] or seen["after"]
    return (
        {"before": seen["before"], "after": seen["after"]}
        if seen["before"] < len(BETWEEN) and sought
        else None
    )


@rule
def graph_is_cut(failure, student):
    """.grad is None, or the result does not require grad, because no path leads back to one of the
    leaves.
    """
    if failure.error is None:
        return None
    count, numbers = (3, LINE) if failure.about == "linear_gradients" else (5, BILL)
    graphs = student.observe("graphs", failure.about, numbers, {})["graphs"]
    if any(sum(node["kind"] == "leaf" for node in graph["nodes"]) >= count for graph in graphs):
        return None  # read was no leaf's .grad, or one that was cleared, or what backward returned
    texts = ("does not require grad", "not to have been used in the graph")
    told = none_for_a_gradient(failure) or any(text in failure.error.message for text in texts)
    return {"said": failure.error.message} if told else None


@rule
def whole_numbers(failure, student):
    """torch refuses an integer leaf, while floats work."""
    if not failure.raised("RuntimeError", "floating point", "require gradients"):
        return None
    try:
        student.shopping(*BILL)
    except StudentCodeError:
        return None
    return {"said": failure.error.message}


@rule
def factor_won_back_by_division(failure, student):
    """Right, until a number of pieces is 0."""
    if failure.error is not None:
        divided = failure.raised("ZeroDivisionError") and failure.check == "test_one_kind_of_fruit"
        return (
            {"said": phrase("Python said: {message}", message=failure.error.message)}
            if divided
            else None
        )
    values = failure.actual.values() if isinstance(failure.actual, dict) else [failure.actual]
    fine = all(math.isfinite(value) for value in of_bill(student).values())
    return (
        {"said": "nan came back"}
        if fine and any(math.isnan(value) for value in values if isinstance(value, float))
        else None
    )


@rule
def incoming_gradient_dropped(failure, student):
    """apple gets n_apple, without the tax."""
    if failure.error:
        return None
    found = of_bill(student)
    if (
        not found
        or not close(found["apple"], BILL[1])
        or not close(found["ctax"], failure.reference.shopping(*BILL)["ctax"])
    ):
        return None
    return {"got": found["apple"], "arriving": BILL[4], "want": BILL[1] * BILL[4]}
