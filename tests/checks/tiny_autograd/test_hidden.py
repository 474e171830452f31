"""tiny_autograd, the checks that are not handed out."""

import math
from functools import partial

import torch

from grader.authoring import check, fail, import_helpers, type_name

helpers = import_helpers(__file__)
expression, judge, judge_cleared = helpers.expression, helpers.judge, helpers.judge_cleared
judge_roughly = partial(judge, factor=helpers.ROUGH)

SUMS, PRODUCTS, TWICE = "test_sums", "test_products", "test_a_value_used_twice"
CLEARED = "test_every_value_below_is_cleared"
DOUBLINGS, BUDGET = 40, 400_000
CHAIN = 10_000
"""Operations of the deep chain."""

LONG = (
    """t1 = a * b
t2 = t1 + c
t3 = t2.tanh()
t4 = t3 * t1 - d
t5 = t4.exp()
t6 = t5 / c
t7 = t6.log()
t8 = t7 * t7 + t6 ** 0.5
t9 = 2 - t8
t10 = c.relu() * t9 + b.relu()
t11 = t10 * t5
t12 = t10 * t5
root = t11 - t12 * t2 + t7""",
    """t1 = c ** 3
t2 = 3 / t1
t3 = t2 - a
t4 = -t3
t5 = t4 * t2 + 1.5
t6 = t3 * t5
t7 = t3 * t5
t8 = t6 + t7 * d
t9 = (t8 * 0.5).tanh()
t10 = t9 * t9 + t8
root = 2 * t10 - b / t1 + d ** 2""",
    """t1 = b ** -1
t2 = t1 - d
t3 = t2 / b
t4 = t3 * t3 + t1
t5 = t4 * c
t6 = t5 + t3
t7 = t6 * t5
t8 = a - t7
root = t8 * t6 + 0.25 * a.log()""",
)
"""Expressions in which every operation occurs and results are shared, for the leaves a, b, c, d of
``numbers``."""

OPERATIONS = [
    *("a + 0", "0 + a", "a - 0", "0 - a", "a * 1", "1 * a", "a / 1", "1 / a", "a / a"),
    *("a ** 1", "a ** 2", "a ** 0", "-a", "a.exp()", "a.log()", "a.tanh()", "a.relu()"),
]
"""Each operation; with a plain number where it could be left out."""


# ---------------------------------------------------------------------------------- every operation


@check(points=0.25, about="Value", at="Value.__truediv__")
def test_quotients(student, draw):
    """quotients and both of their derivatives are right"""
    _, a, c, b = helpers.numbers(draw)
    judge(student, expression("root = a / b", a=a, b=b))
    judge(student, expression("root = a / b", a=0.3, b=-20.0))
    judge(student, expression("root = a / b", a=20.0, b=0.3))
    judge(student, expression("root = a / c", a=a, c=c))
    judge(student, expression("s = a / c\nroot = s / b", a=a, b=b, c=c))
    judge(student, expression("s = a / c\nroot = b / s", a=a, b=b, c=c))
    judge(student, expression("root = c / c", c=c))
    judge(student, expression("s = a + b\nroot = s / c", a=a, b=b * 1e12, c=c))


@check(points=0.25, about="Value", at="Value.__pow__")
def test_powers(student, draw):
    """any exponent works: whole, fractional, negative, zero"""
    small = draw.number(0.3, 0.9, digits=4)
    large = small + 1.0
    for exponent in (2, 3, -1, -2, 1, 0, 3.0):
        judge(
            student,
            expression(
                f"p = a ** {exponent}\nq = b ** {exponent}\nroot = p + q", a=-small, b=-large
            ),
        )
    for exponent in (2, -3, 0.5, 2.5, -1.5, draw.number(0.2, 3.0)):
        judge(
            student,
            expression(f"p = a ** {exponent}\nq = b ** {exponent}\nroot = p + q", a=small, b=large),
        )
    judge(student, expression("p = a ** 3\nq = b ** 2\nroot = p + q", a=-3.0, b=0.05))
    judge(student, expression("s = a ** 3\nroot = s ** 2", a=draw.number(-1.5, -0.3)))


@check(points=0.25, about="Value", needs=(SUMS, PRODUCTS))
def test_plain_numbers_on_either_side(student, draw):
    """plain numbers work on either side of + - * /"""
    for number in (draw.integer(2, 9), draw.number(0.3, 3.0), draw.integer(-9, -2)):
        for sign in "+-*/":
            judge_roughly(student, expression(f"root = {number} {sign} a", a=draw.number(0.3, 2.0)))
            judge_roughly(
                student, expression(f"root = a {sign} {number}", a=draw.number(-2.0, -0.3))
            )
    for text in ("0 - a", "0 + a", "a - 0", "0 * a", "a * 0", "0 / a"):
        judge_roughly(student, expression(f"root = {text}", a=draw.number(0.3, 2.0)))
    judge_roughly(
        student, expression("s = 1 - a\nt = 2 / s\nroot = 3 * t + 1", a=draw.integer(2, 5))
    )


@check(points=0.25, about="Value", at="Value.relu")
def test_relu_on_both_sides(student, draw):
    """relu is right on both sides of zero"""
    for a in (
        draw.number(0.2, 0.9),
        draw.number(1.2, 2.0),
        draw.number(-0.9, -0.2),
        draw.number(-2.0, -1.2),
    ):
        judge_roughly(student, expression("root = a.relu()", a=a))
        judge_roughly(student, expression("s = a * b\nroot = s.relu()", a=a, b=3.0))
        judge_roughly(
            student, expression("s = a.relu()\nroot = s + b", a=a, b=draw.number() * 1e12)
        )
        if a > 0:
            judge_roughly(
                student, expression("s = a.relu()\nroot = s * b", a=a, b=draw.number(1.1, 2.0))
            )


@check(points=0.5, about="Value", needs=(SUMS, PRODUCTS))
def test_zero_is_a_number(student, draw):
    """operations and derivatives are right at zero"""
    b = draw.number(0.3, 2.0)
    for text in (
        "root = a * b",
        "root = b * a",
        "root = a + b",
        "root = a / b",
        "s = a * b\nroot = s * c",
        "s = a + b\nroot = c * s",
    ):
        judge_roughly(student, expression(text, a=0.0, b=b, c=b + 1.0))
    for text in ("root = a ** 2", "root = a ** 3", "root = a ** 1"):
        judge_roughly(student, expression(text, a=0))
    for root in ("u + t", "t + u"):  # one path adds 0
        judge_roughly(
            student, expression(f"t = b * c\nu = t * a\nroot = {root}", a=0.0, b=b, c=b + 1.0)
        )


@check(points=0.5, about="Value", needs=(SUMS, PRODUCTS))
def test_each_operation_returns_a_new_value(student, draw):
    """each operation returns a new Value and changes no input"""
    for text in OPERATIONS:  # each of them twice, and both results are new
        lines = expression(f"p = {text}\nroot = {text}", a=draw.number(0.3, 2.0))
        helpers.judge_inputs(student, lines, draw)
    for text in ("a + b", "b + a", "a - b", "a * b", "b * a", "a / b"):
        b = 0.0 if text[2] in "+-" else 1.0
        lines = expression(f"p = {text}\nroot = {text}", a=draw.number(), b=b)
        helpers.judge_inputs(student, lines, draw)


# ---------------------------------------------------------------------------------- the whole graph


@check(points=0.5, about="Value", at="Value.backward", needs=TWICE)
def test_every_contribution_before_going_on(student, draw):
    """a node passes its gradient on after all of it has arrived"""
    a, b, c, d = helpers.numbers(draw)
    for root in ("t + u", "u + t", "t * u", "u * t"):
        judge_roughly(student, expression(f"t = a * b\nu = t * c\nroot = {root}", a=a, b=b, c=c))
    for root in ("v + t * t", "t * t + v"):
        lines = expression(f"t = a * b\nu = t * c\nv = u * d\nroot = {root}", a=a, b=b, c=c, d=d)
        judge_roughly(student, lines)
    for last in ("v * t + w", "w + t * v"):
        judge_roughly(
            student,
            expression(f"t = a + b\nu = t * c\nv = u * t\nw = v + u\nroot = {last}", a=a, b=b, c=c),
        )


@check(points=0.5, about="Value", at="Value.backward", needs=(SUMS, PRODUCTS))
def test_equal_values_are_two(student, draw):
    """two Values with equal data are two nodes"""
    a, b, c = (number / 4 for number in draw.sample([1, 2, 5, 7], 3))
    judge_roughly(student, expression("root = a * b", a=a, b=a))
    judge_roughly(
        student, expression("s = a + b\nt = c + d\nroot = s * t", a=a, b=b, c=a + b - c, d=c)
    )
    judge_roughly(
        student, expression("s = a * c\nt = b * c\nu = s * d\nroot = u + t", a=a, b=a, c=c, d=b)
    )
    judge_roughly(student, expression("t = a * b\nu = t * d\nroot = u * c", a=a, b=b, c=c, d=1.0))


@check(points=0.5, about="Value", at="Value.backward", needs=(SUMS, PRODUCTS))
def test_gradients_of_two_results_add_up(student, draw):
    """gradients of two results add up"""
    a, b, c, d = helpers.numbers(draw)
    judge_roughly(student, expression("p = a * b\nq = a * c", a=a, b=b, c=c), "p", "q")
    judge_roughly(
        student, expression("p = a * b\nq = a + b\nr = b * d", a=a, b=b, d=d), "p", "q", "r"
    )


@check(points=0.25, about="Value", at="Value.backward", needs=TWICE)
def test_long_expressions(student, draw):
    """long expressions agree with torch"""
    for text in LONG:
        leaves = dict(zip("abcd", helpers.numbers(draw), strict=True))
        judge(student, expression(text, **leaves))


def judge_chain(student, texts, count, leaves, name, budget=None, filled=None):
    """A long chain's data and gradients against torch's; within the budget of steps, where there is
    one.
    """
    shown = f"{count // len(texts)} × ({'; '.join(f'x = {text}' for text in texts)})"
    if budget is None:
        with helpers.showing(shown):
            seen = helpers.chain(student, texts, count, leaves, filled)
    else:
        seen = helpers.plain_python(
            student, shown, "repeated", leaves, texts, count, budget, filled
        )
    inputs = {"expression": shown, **leaves}
    facts = {"seen": seen, "budget": f"{BUDGET:,}", "count": count // len(texts), "function": name}
    if budget is not None:
        helpers.no_odd_step(seen, [("x", text) for text in texts], inputs=inputs, facts=facts)
    if budget is not None and seen["steps"] is None:
        fail(
            "{function} was not done after {budget} lines of Python, for {count} doublings",
            inputs=inputs,
            facts=facts,
        )
    return seen, {"inputs": inputs, "facts": facts}


def chain_truth(texts, count, leaves):
    """The last number of the chain, and its gradients.

    One round of the texts makes p * x + q of x, so n rounds make p**n * x + q * (1 + p + … +
    p**(n - 1)) of it.
    """
    names = {
        name: torch.tensor(number, dtype=torch.float64, requires_grad=True)
        for name, number in leaves.items()
    }

    def one_round(x):
        for text in texts:
            x = eval(text, {}, {**names, "x": x})
        return x

    zero, one = torch.zeros((), dtype=torch.float64), torch.ones((), dtype=torch.float64)
    q = one_round(zero)
    p, rounds = one_round(one) - q, count // len(texts)
    last = p**rounds * names["x"] + q * (p ** torch.arange(rounds)).sum()
    grads = torch.autograd.grad(last, list(names.values()))
    return float(last.detach()), {
        name: float(grad) for name, grad in zip(names, grads, strict=True)
    }


def assert_chain(student, texts, count, leaves, judged):
    """Backward through a chain, with right gradients of the leaves that are judged."""
    seen, details = judge_chain(student, texts, count, leaves, "backward")
    data, want = chain_truth(texts, count, leaves)
    if not helpers.close(seen["data"], data, factor=helpers.ROUGH):
        fail("the last number of the chain is wrong", expected=data, actual=seen["data"], **details)
    for name in judged:
        if not helpers.close(seen["grads"][name], want[name], factor=helpers.ROUGH):
            details["facts"] |= {"name": name, "type": type_name(seen["grads"][name])}
            fail(
                "{name}.grad is wrong at the end of the chain",
                expected=want,
                actual=seen["grads"],
                **details,
            )


@check(points=0.5, about="Value", at="Value.backward", needs=(SUMS, PRODUCTS))
def test_deep_chains(student, draw):
    """backward works for a chain of ten thousand nodes"""
    leaves = {"x": draw.number(), "c": 1.0 + draw.integer(1, 3) * 1e-4, "d": draw.number() * 0.01}
    assert_chain(student, ["x * c", "x + d"], CHAIN, leaves, ("x",))


@check(points=0.5, about="Value", at="Value.backward", needs=TWICE)
def test_each_node_once(student, draw):
    """backward's work does not grow with the number of paths"""
    leaves = {"x": draw.number(), "c": 0.5 + draw.integer(1, 3) * 0.005}
    for texts in (["x + x", "x * c"], ["x * c + x", "x + x * c"]):
        judge_chain(student, texts, 2 * DOUBLINGS, leaves, "backward", BUDGET)


# ------------------------------------------------------------------------------------ known numbers


def numbers(student, text, *, leaves, want):
    """An expression whose gradients are written down somewhere: the truth must be those numbers,
    and what comes back too.
    """
    lines = expression(text, **leaves)
    truth = lines.gradients(lines.steps[-1][0] if lines.steps else next(iter(leaves)))
    for name, number in want.items():
        assert abs(truth[name] - number) < 6e-5, (text, name, truth[name], number)
    judge_roughly(student, lines)


@check(points=0.25, about="Value", needs=(SUMS, PRODUCTS))
def test_known_logarithms(student):
    """log(x³) and log(x^q): 0.6, 0.008, 1 and 1.6094"""
    numbers(student, "y = x ** 3\nz = y.log()", leaves={"x": 5.0}, want={"x": 0.6})
    numbers(student, "z = y.log()", leaves={"y": 125.0}, want={"y": 0.008})
    numbers(student, "", leaves={"z": 4.8283}, want={"z": 1.0})
    numbers(
        student,
        "p = x.log()\ny = (q * p).exp()\nz = y.log()",
        leaves={"x": 5.0, "q": 3.0},
        want={"x": 0.6, "q": 1.6094},
    )


@check(points=0.25, about="Value", needs=TWICE)
def test_known_sums(student):
    """log(x³) + √(x²) gives 1.6, a dot product gives 74"""
    numbers(
        student,
        "y = x ** 3\nw = x ** 2\nz = y.log() + w ** 0.5",
        leaves={"x": 5.0},
        want={"x": 1.6},
    )
    numbers(
        student,
        "z = y.log() + w ** 0.5",
        leaves={"y": 125.0, "w": 25.0},
        want={"y": 0.008, "w": 0.1},
    )
    dot = "z = y1 * 4 + y2 * 7 + y3 * 9"
    numbers(
        student, f"y1 = x * 2\ny2 = x * 3\ny3 = x * 5\n{dot}", leaves={"x": 5.0}, want={"x": 74.0}
    )
    numbers(
        student,
        dot,
        leaves={"y1": 10.0, "y2": 15.0, "y3": 25.0},
        want={"y1": 4.0, "y2": 7.0, "y3": 9.0},
    )


@check(points=0.25, about="Value", needs=(SUMS, PRODUCTS))
def test_known_bills(student):
    """the shopping bill: the gradients of every price and number"""
    leaves = {"apple": 100.0, "num": 2.0, "ctax": 1.1}
    numbers(
        student,
        "price = apple * num\nresult = price * ctax",
        leaves=leaves,
        want={"apple": 2.2, "num": 110.0, "ctax": 200.0},
    )
    numbers(
        student,
        "result = price * ctax",
        leaves={"price": 200.0, "ctax": 1.1},
        want={"price": 1.1, "ctax": 200.0},
    )
    leaves = {
        "apple": 100.0,
        "tangerine": 150.0,
        "num_apple": 2.0,
        "num_tangerine": 3.0,
        "ctax": 1.1,
    }
    end = "price = apple_price + tangerine_price\nresult = price * ctax"
    whole = f"apple_price = apple * num_apple\ntangerine_price = tangerine * num_tangerine\n{end}"
    want = {
        "apple": 2.2,
        "tangerine": 3.3,
        "num_apple": 110.0,
        "num_tangerine": 165.0,
        "ctax": 650.0,
    }
    numbers(student, whole, leaves=leaves, want=want)
    between = {"apple_price": 200.0, "tangerine_price": 450.0, "ctax": 1.1}
    numbers(
        student,
        end,
        leaves=between,
        want={"apple_price": 1.1, "tangerine_price": 1.1, "ctax": 650.0},
    )
    numbers(
        student, "result = price * ctax", leaves={"price": 650.0, "ctax": 1.1}, want={"price": 1.1}
    )


# ---------------------------------------------------------------------------------------- zero_grad


@check(points=0.25, about="zero_grad", needs=CLEARED)
def test_other_values_are_left(student, draw):
    """zero_grad leaves other Values and all data alone"""
    a, b, c, d = helpers.numbers(draw)
    lines = expression("s = a + b\nt = s * c\nu = b + d\nv = t + s\nw = v * u", a=a, b=b, c=c, d=d)
    for root in ("w", "v", "a"):
        judge_cleared(student, lines, root, draw, others=True)


@check(points=0.25, about="zero_grad", needs=CLEARED)
def test_infinite_grads_are_cleared(student, draw):
    """zero_grad clears infinite and NaN grads"""
    a, b, c, _ = helpers.numbers(draw)
    lines = expression("s = a + b\nt = s * c\nu = t + s", a=a, b=b, c=c)
    filled = {"a": math.inf, "b": math.nan, "c": -math.inf, "s": 0.0, "t": 1.0, "u": math.nan}
    judge_cleared(student, lines, "u", draw, filled=filled)


@check(points=0.25, about="zero_grad", needs=CLEARED)
def test_equal_values_are_all_cleared(student, draw):
    """zero_grad clears Values with equal data"""
    a, b = (draw.integer(1, 7) / 4 for _ in range(2))
    judge_cleared(
        student, expression("s = a + c\nt = b + d\nu = s * t", a=a, b=a, c=b, d=b), "u", draw
    )
    judge_cleared(
        student, expression("s = a * d\nt = s * e\nu = t * c", a=a, c=b, d=b, e=1.0), "u", draw
    )
    judge_cleared(
        student, expression("s = a.relu()\nt = b.relu()\nu = s + t", a=-a, b=-b), "u", draw
    )  # what was cut to 0 came from a


@check(points=0.25, about="zero_grad", needs=CLEARED)
def test_deep_chains_are_cleared(student, draw):
    """zero_grad works for a chain of ten thousand nodes"""
    leaves = {"x": draw.number(), "c": 1.0, "d": draw.number() * 0.01}
    assert_cleared(student, ["x * c", "x + d"], CHAIN, leaves, draw)


@check(points=0.25, about="zero_grad", needs=CLEARED)
def test_shared_values_are_cleared_once(student, draw):
    """zero_grad's work does not grow with the number of paths"""
    leaves = {"x": draw.number(), "c": 1.0}
    assert_cleared(
        student, ["x + x * c", "x * c"], 2 * DOUBLINGS, leaves, draw, BUDGET
    )  # not x + x: in a set x and x are one


def assert_cleared(student, texts, count, leaves, draw, budget=None):
    """zero_grad on a chain whose grads were all set to a drawn number."""
    seen, details = judge_chain(student, texts, count, leaves, "zero_grad", budget, draw.number())
    if seen["left"] or any(grad != 0 for grad in seen["grads"].values()):
        want = dict.fromkeys(leaves, 0.0)
        fail(
            "zero_grad did not clear all grads of the chain",
            expected=want,
            actual=seen["grads"],
            **details,
        )
