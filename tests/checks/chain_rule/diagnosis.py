"""Recognize the mistakes that people make with the chain rule by the numbers that come back."""

import math
import re

import torch

from grader.authoring import (
    formula_value,
    has_facts,
    import_helpers,
    phrase,
    raises,
    rule,
    same,
    says,
    value_rule,
)

helpers = import_helpers(__file__)
LINE = (0.75, 2.5, 1.375)
"""An x, w and b at which the gradients of (w * x + b) ** 2 are three different numbers, none a
multiple of another; and 2 * b is not 1.
"""
BILL = (40.0, 3.0, 130.0, 7.0, 1.25)
"""A bill whose gradients are all different, except those of the intermediate results."""
AT_LINE, AT_FIVE = "x = 0.75, w = 2.5, b = 1.375", "x = 5, q = 3"


def agrees(left, right):
    """Return whether two tensors are equal up to rounding in float64."""
    return same(left, right, rtol=1e-9, atol=1e-12)


def close(left, right):
    return math.isclose(left, right, rel_tol=1e-4, abs_tol=1e-6)


def all_close(left, right):
    return len(left) == len(right) and all(map(close, left, right))


def number(value):
    """Return a number or a tensor of one as a float, and NaN for anything else."""
    found = helpers.number_in(value)
    return math.nan if found is None else found


def listed(result):
    """Return the numbers in a result: of a dictionary, those of the prices."""
    values = [result.get(key) for key in helpers.PRICES] if isinstance(result, dict) else result
    return [number(value) for value in values] if isinstance(values, tuple | list) else []


def none_for_a_gradient(failure):
    """Return whether a number was asked of None. Other errors about None have other causes, because
    backward() and retain_grad() return it too.
    """
    methods = "item|tolist|clone|detach|data|numpy|float|double"
    taken = rf"no attribute '({methods})'|argument must be|must be real number"
    return failure.raised("NoneType") and re.search(taken, failure.error.message) is not None


def by_hand(failure, student, *inputs):
    """Return what a function of tensors returns, as a list; Nones for anything but its tensors."""
    count = 1 if failure.about == "gradient_by_hand" else 2
    result = getattr(student, failure.about)(*inputs[:count])
    results = result if isinstance(result, tuple) else (result,)
    return list(results) if len(results) == count else [None] * count


def at_five(failure, student):
    """Return what the function returns for x = 5 and q = 3."""
    return by_hand(failure, student, *torch.tensor([5.0, 3.0], dtype=torch.float64))


def drawn(failure):
    """Return an x and a q."""
    return [failure.draw.tensor(3, low=1.6, high=4.0) for _ in range(2)]


def of_line(student):
    """Return the gradients for LINE as numbers: what came back, and what is right."""
    x, w, b = LINE
    outer = 2 * (w * x + b)
    return listed(student.linear_gradients(*LINE)), [outer * w, outer * x, outer]


def numbers_for(failure):
    """Return numbers to call linear_gradients or shopping with."""
    return LINE if failure.about == "linear_gradients" else BILL


uses_autograd = has_facts("used")  # in the source or among the nodes that ran
one_number_at_a_time = raises("converted to", unless=["integer"])


def by_formula(place, formulas):
    """Return a rule for a result (0 or 1) that is the value of a wrong formula. ``formulas`` says
    what each of them lacks.
    """

    @value_rule
    def found(failure, student):
        x, q = drawn(failure)
        results = by_hand(failure, student, x, q)
        if len(results) == 2 and agrees(results[0], torch.log(x)):
            return None  # the results are in another order, and this one may be right for x
        for formula, missing in formulas.items():
            if agrees(results[place], torch.ones_like(x) * formula_value(formula, x=x, q=q)):
                got = at_five(failure, student)[place]
                where = "x = 5" if len(results) == 1 else AT_FIVE
                return {"where": where, "got": got, "formula": formula, "missing": missing}
        return None

    return found


one_path_only = by_formula(
    0, {"3 / x": "w = x ** 2: 10 · 0.1 = 1", "1": "y = x ** 3: 75 · 0.008 = 0.6"}
)
inner_derivative_missing = by_formula(
    0,
    {
        "1 / x**3 + 1 / (2 * sqrt(x**2))": "3 * x**2, 2 * x",
        "1 / x**3 + 1": "3 * x**2",
        "3 / x + 1 / (2 * sqrt(x**2))": "2 * x",
        "1 / x**q": "q * x**(q - 1)",
    },
)
exponent_like_a_base = by_formula(
    1, dict.fromkeys(("q / x", "1 / x", "q * x**(q - 1)", "x**(q - 1)", "x * q**(x - 1) / x**q"))
)


@value_rule
def stops_one_step_early(failure, student):
    """The gradients of y, the argument of the last step: for x or for q, or of w * x + b."""
    if failure.about == "linear_gradients":
        (x, w, _), (got, want) = LINE, of_line(student)
        if not all_close(got, (w, x, 1.0)):
            return None
        return {"where": AT_LINE, "got": tuple(got), "factor": "2 * y", "want": tuple(want)}
    x, q = drawn(failure)
    to_x, to_q = by_hand(failure, student, x, q)
    if not agrees(to_x, q * x ** (q - 1)) and not agrees(to_q, x**q * torch.log(x)):
        return None
    got, want = tuple(at_five(failure, student)), (0.6, math.log(5.0))
    return {"where": AT_FIVE, "got": got, "factor": "1 / y", "want": want}


@value_rule
def wrong_order(failure, student):
    """The right numbers, permuted."""
    if failure.about == "linear_gradients":
        got, want = of_line(student)
        permuted = not all_close(got, want) and all_close(sorted(got), sorted(want))
        shown = {"where": AT_LINE, "got": tuple(got), "order": "x, w, b"}
        return shown if permuted else None
    x, q = drawn(failure)
    to_x, to_q = by_hand(failure, student, x, q)
    if not agrees(to_x, torch.log(x)) or not agrees(to_q, q / x):
        return None
    return {"where": AT_FIVE, "got": tuple(at_five(failure, student)), "order": "x, q"}


@value_rule
def numerical_differences(failure, student):
    """Nearly right, and rough: the result jumps from x to the next x, because differences are
    divided by a small step. A formula that is off is smooth.
    """
    x, q = helpers.neighbors(2)
    results = by_hand(failure, student, x, q)
    wants = [3 / x + 1] if len(results) == 1 else [q / x, torch.log(x)]
    for got, want in zip(results, wants, strict=True):
        if helpers.jumps(got, want):
            worst = float(((got.detach() - want) / want).abs().max())
            return {"error": worst} if worst < 1e-2 else None
    return None


tensors_not_numbers = has_facts(type="Tensor")


@value_rule
def passes_add_up(failure, student):
    """Whole multiples of the right gradients, from several passes."""
    numbers = numbers_for(failure)
    students = (student, failure.reference)
    got, want = (listed(getattr(one, failure.about)(*numbers)) for one in students)
    ratios = [found / one for found, one in zip(got, want, strict=False)]
    if len(ratios) != len(want) or not all(1e-3 < ratio < 9.5 for ratio in ratios):
        return None
    whole = [round(ratio) for ratio in ratios]
    if max(whole) < 2 or not all_close(ratios, whole):
        return None
    passes = student.observe("traced", failure.about, *numbers)["calls"].count("backward")
    return {"passes": passes, "ratios": ", ".join(map(str, whole))} if passes > 1 else None


@rule
def earlier_calls_add_up(failure, student):
    """The gradients of each call come on top of those of the call before."""
    asked = "in_turn", failure.about, *[numbers_for(failure)] * 2
    right = listed(failure.reference.observe(*asked)[0])
    _, before, got = map(listed, student.observe(*asked))
    grown = [left + one for left, one in zip(before, right, strict=False)]
    added = [close(*pair) for pair in zip(got, grown, strict=False)]
    others = [close(*pair) for pair in zip(got, right, strict=False)]
    known = len(added) == len(right) and all(map(max, added, others))
    return {"first": before, "then": got} if known and any(added) else None


@rule
def retain_grad_missing(failure, student):
    """None, or 0 instead of None, for an intermediate gradient that was read or was to be kept, or
    an error about it, and fewer than three calls in time.
    """
    found = failure.actual if isinstance(failure.actual, dict) else {}
    missing = any(found.get(name, 1) in (None, 0) for name in ("apple_price", "price"))
    if not none_for_a_gradient(failure) and not missing and None not in found.values():
        return None
    seen = student.observe("retained", *BILL)
    zeros = all(found.get(name) == 0 for name in ("apple_price", "tangerine_price", "price"))
    made = seen["before"] < 3 and (seen["read"] or seen["after"] or zeros)
    return {"before": seen["before"], "after": seen["after"]} if made else None


@rule
def graph_is_cut(failure, student):
    """.grad is None, or the result does not require grad, because no path leads back to one of the
    leaves.
    """
    if failure.error is None:
        return None
    texts = ("does not require grad", "not to have been used in the graph")
    if not none_for_a_gradient(failure) and not any(map(failure.raised, texts)):
        return None
    numbers = numbers_for(failure)
    for graph in student.observe("graphs", failure.about, numbers, {})["graphs"]:
        if sum(node["kind"] == "leaf" for node in graph["nodes"]) >= len(numbers):
            return None  # another .grad was read, or one that was cleared, or backward's result
    return {"said": failure.error.message}


whole_numbers = raises("RuntimeError", "floating point", "require gradients")


@rule
def factor_won_back_by_division(failure, student):
    """Right, except where a number of pieces is 0."""
    if failure.check not in ("test_one_kind_of_fruit", "test_intermediate_results_get_gradients"):
        return None
    if failure.raised("ZeroDivisionError"):
        return {"said": phrase("Python said: {message}", message=failure.error.message)}
    values = failure.actual.values() if isinstance(failure.actual, dict) else ()
    undefined = any(math.isnan(number(value)) for value in values)
    return {"said": phrase("a gradient is nan")} if undefined and not failure.error else None


@rule
def value_for_a_gradient(failure, student):
    """Under a key stands the number itself, not its gradient."""
    if failure.error or not isinstance(failure.actual, dict) or len(failure.actual) != 1:
        return None
    ((key, value),) = failure.actual.items()
    own = helpers.bill_of(*failure.inputs.values())[key]
    shown = {"key": key, "value": value, "want": failure.expected[key]}
    return shown if own and close(number(value), own) else None


@value_rule
def pieces_made_whole(failure, student):
    """The gradients for 2.75 apples are those for a whole number of them."""
    price, pieces, tax = 40.0, 2.75, 1.25
    bill = price, pieces, 130.0, 7.0, tax
    got = listed(student.shopping(*bill))
    for whole in (2, 3):
        right = listed(failure.reference.shopping(price, float(whole), *bill[2:]))
        if all_close(got, right):
            return {"pieces": pieces, "price": price, "tax": tax, "got": got[0], "whole": whole}
    return None


@value_rule
def sum_passes_one_on(failure, student):
    """1 for the price of a fruit, where the gradient is the tax."""
    if not isinstance(failure.actual, dict) or len(failure.actual) != 1:
        return None
    ((key, value),) = failure.actual.items()
    want = failure.expected[key]
    known = key in ("apple_price", "tangerine_price") and close(number(value), 1.0)
    return {"key": key, "want": want} if known and not close(want, 1.0) else None


argument_detached = says("before the call {key} had requires_grad={wanted}")
