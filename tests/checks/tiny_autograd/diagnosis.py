"""The mistakes that people make with an engine of their own, each recognised by what small
expressions give.
"""

import math
import re

from grader.authoring import Opaque, StudentCodeError, import_helpers, rule

helpers = import_helpers(__file__)

BOTH = ("Value", "zero_grad")
STRAIGHT = ("s = a * b\nroot = s * c", {"a": 2.0, "b": 3.0, "c": 5.0})
SHARED = {"a": 2.0, "b": 3.0, "c": 5.0}
LATE = ("t = a * b\nu = t * c\nroot = t + u", "t = a * b\nu = t * c\nroot = u + t")
"""Two results of t, added up in either order: a's derivative is b (1 + c) = 18."""


def lines_of(text):
    """The steps of an expression, as the scenarios take them."""
    return [line.split(" = ", 1) for line in text.splitlines()]


def ask(student, text, *roots, **leaves):
    """What ``run`` measures for an expression; None where it raises or a step gives no Value."""
    try:
        seen = helpers.run(student, leaves, lines_of(text), list(roots) or ["root"])
    except StudentCodeError:
        return None
    return seen if seen["odd"] is None else None


def grads(student, text, *roots, **leaves):
    """The grads of the leaves, NaN in place of what is not a number; empty where there are none."""
    seen = ask(student, text, *roots, **leaves)
    found = seen["grads"] if seen else {}
    return {
        name: float(grad) if isinstance(grad, int | float) else math.nan
        for name, grad in found.items()
    }


def is_near(left, right):
    """Whether two numbers are the same except for rounding; NaN and None are near nothing."""
    return left is not None and math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def single_steps_right(student):
    """Whether a sum and a product alone have right gradients, so that what is wrong is how steps
    are put together.
    """
    sums, products = (grads(student, f"root = a {sign} b", a=2.0, b=3.0) for sign in "+*")
    return all(
        is_near(sums.get(name), 1.0) and is_near(products.get(name), slope)
        for name, slope in (("a", 3.0), ("b", 2.0))
    )


def shown(text, leaves):
    """An expression in one line, with its numbers."""
    return {
        "asked": text.replace("\n", "; "),
        "numbers": ", ".join(f"{name} = {number:g}" for name, number in leaves.items()),
    }


def wrong_gradient(failure):
    """Whether a gradient came back wrong, of an expression: what no other rule than that for
    backward can explain.
    """
    return "got" in failure.facts and "lines" in failure.facts and failure.error is None


def shares(failure):
    """Whether a gradient came back wrong where some name is used more than once."""
    if not wrong_gradient(failure):
        return False
    lines = failure.facts["lines"]
    words = re.findall(r"\w+", " ".join(text for _, text in lines.steps))
    return any(words.count(name) > 1 for name in {*lines.leaves, *dict(lines.steps)})


# ------------------------------------------------------------------------------ what a file may use


@rule
def uses_torch(failure, student):
    """A name of torch in the source, or an operator of it in the trace."""
    found = failure.facts.get("operators") or failure.facts.get("used")
    return {"seen_of_torch": found} if found else None


# -------------------------------------------------------------------------------------- what raises


@rule
def recursion_too_deep(failure, student):
    """A RecursionError that a short chain doesn't raise."""
    if not failure.raised("RecursionError") or "deep_chains" not in failure.check:
        return None
    filled = 1.0 if failure.about == "zero_grad" else None
    student.observe("repeated", {"x": 2.0, "c": 1.0}, ["x * c"], 10, None, filled)
    return {"line": str(failure.error.line)}


@rule
def defines_equality(failure, student):
    """No hash."""
    return (
        {"raised": str(failure.error)}
        if failure.raised("TypeError", "unhashable type: 'Value'")
        else None
    )


def lone_number(error):
    """Whether the expression that an error ends with is one operation of + - * / with a plain
    number.
    """
    number, name = r"-?[\d.]+", r"\w+"
    return (
        re.search(rf"\[root = ({name} [-+*/] {number}|{number} [-+*/] {name})\]$", error)
        is not None
    )


@rule
def plain_number_not_taken(failure, student):
    """An error about an int or a float that Values don't raise."""
    error = failure.error
    if error is None or not any(f"'{kind}'" in error.message for kind in ("int", "float")):
        return None
    refused = (
        re.match(r"unsupported operand type\(s\) for ([-+*/]):", error.message)
        if failure.raised("TypeError")
        else None
    )
    if not refused and not (failure.raised("AttributeError") and lone_number(str(error))):
        return None
    works = all(
        ask(student, f"root = a {sign} b", a=2.0, b=4.0)
        for sign in (refused[1] if refused else "+-*/")
    )
    return {"raised": str(error)} if works else None


@rule
def result_is_no_value(failure, student):
    """None, or a plain number."""
    if "step" not in failure.facts:
        return None
    if failure.facts["type"] == "NoneType":
        return {"cause": "A function without a return gives None."}
    if failure.facts["type"] in ("int", "float"):
        return {"cause": "That is the number alone, without its history."}
    return {"cause": "Only a Value can be computed with further."}


# ------------------------------------------------------------------------------ backward as a whole


@rule
def root_without_gradient(failure, student):
    """Zeros even one step away from the root, which has nothing itself: a root that is a leaf shows
    it.
    """
    if not wrong_gradient(failure) or is_near(grads(student, "", "a", a=2.0).get("a"), 1.0):
        return None
    found = [
        *grads(student, "root = a + b", a=2.0, b=3.0).values(),
        *grads(student, "root = a * b", a=2.0, b=3.0).values(),
    ]
    if not found or any(found):
        return None
    begun = helpers.run(
        student, {"a": 2.0, "b": 3.0}, lines_of("root = a * b"), ["root"], {"root": 1.0}
    )["grads"]
    return {} if begun == {"a": 3.0, "b": 2.0} else None


@rule
def stops_after_one_step(failure, student):
    """The root's own sources get something, what lies behind them nothing."""
    if not wrong_gradient(failure) or not single_steps_right(student):
        return None
    text, leaves = STRAIGHT
    found, turned = (
        grads(student, text, **leaves),
        grads(student, text.replace("s * c", "c * s"), **leaves),
    )
    return (
        shown(text, leaves)
        if found.get("a") == turned.get("a") == 0 and is_near(found["c"], 6.0)
        else None
    )


@rule
def ignores_incoming_gradient(failure, student):
    """The derivative of the innermost step."""
    if not wrong_gradient(failure):
        return None
    text, leaves = STRAIGHT
    found = grads(student, text, **leaves)
    return {**shown(text, leaves), "got": found["a"]} if is_near(found.get("a"), 3.0) else None


@rule
def overwrites_gradients(failure, student):
    """Half of what two uses give."""
    if not shares(failure):
        return None
    found = [grads(student, f"root = a {sign} a", a=3.0).get("a") for sign in "+*"]
    if is_near(grads(student, "s = a * b\nroot = s + a", a=3.0, b=5.0).get("a"), 6.0):
        return None  # gradients of two steps do add up
    return (
        {"sum": found[0], "product": found[1]}
        if is_near(found[0], 1.0) and is_near(found[1], 3.0)
        else None
    )


@rule
def clears_before_backward(failure, student):
    """The last root's gradient alone."""
    if not wrong_gradient(failure) or len(failure.facts["roots"]) < 2:
        return None
    found = grads(student, "p = a * b\nq = a * c", "p", "q", **SHARED)
    alone = grads(student, "p = a * b\nq = a * c", "p", **SHARED)
    return {} if is_near(found.get("a"), 5.0) and is_near(alone.get("a"), 3.0) else None


@rule
def counts_again(failure, student):
    """More than the derivative, by a part of it."""
    if not shares(failure) or not single_steps_right(student):
        return None
    for text in LATE:
        found = grads(student, text, **SHARED).get("a")
        if found is not None and found > 18.5 and is_near(found % 3.0, 0.0):
            return {**shown(text, SHARED), "got": found}
    return None


@rule
def order_not_topological(failure, student):
    """Only the direct part."""
    if not shares(failure) or not single_steps_right(student):
        return None
    for text in LATE:
        found = grads(student, text, **SHARED).get("a")
        if is_near(found, 3.0):
            return {**shown(text, SHARED), "got": found}
    return None


@rule
def equal_taken_for_same(failure, student):
    """Wrong for equal numbers, right for others."""
    if not wrong_gradient(failure):
        return None
    text, leaves = "s = a + b\nt = c + d\nroot = s * t", {"a": 1.0, "b": 5.0, "c": 2.0}
    other, equal = grads(student, text, **leaves, d=5.0), grads(student, text, **leaves, d=4.0)
    if not other or not equal or not (is_near(other["a"], 7.0) and is_near(other["c"], 6.0)):
        return None
    return (
        None
        if is_near(equal["a"], 6.0) and is_near(equal["c"], 6.0)
        else {"first": equal["a"], "second": equal["c"]}
    )


@rule
def path_by_path(failure, student):
    """Far more than twice the steps for twice the nodes."""
    name = failure.facts.get("function")
    if name is None or failure.facts["seen"].get("steps", 0) is not None:
        return None
    filled = 1.0 if name == "zero_grad" else None
    leaves = {"x": 2.0, "c": 0.5}
    few, many = (
        student.observe("repeated", leaves, ["x + x * c"], count, 1_000_000, filled)["steps"]
        for count in (6, 12)
    )
    return {"few": f"{few:,}", "many": f"{many:,}"} if few and many and many > 20 * few else None


# ------------------------------------------------------------------------------------ one operation

POINTS = {"a": 1.7, "b": 0.6}
BELOW = {"a": -1.7, "b": 0.6}
FORMULAS = [
    ("-", "-a", "a", POINTS, ["1"]),
    ("-", "a - b", "b", POINTS, ["1"]),
    ("*", "a * b", "a", POINTS, ["a", "1", "a * b"]),
    ("*", "a * b", "b", POINTS, ["b", "1", "a * b"]),
    (
        "** /",
        "a ** 3",
        "a",
        POINTS,
        [
            "a ** 2",
            "3 * a",
            "3 * a ** 3",
            "3 * a ** 4",
            "a ** 3 * log(a)",
            "2 * a ** 3",
            "2 * a ** 2",
            "3",
            "3 * a ** 3 - 1",
        ],
    ),
    ("/", "a / b", "a", POINTS, ["b", "1", "a / b", "-1 / b"]),
    (
        "/",
        "a / b",
        "b",
        POINTS,
        ["a / b ** 2", "-a / b", "a / b", "-1 / b ** 2", "1 / b ** 2", "-a", "a", "-a * b ** 2"],
    ),
    ("exp", "a.exp()", "a", POINTS, ["a", "1", "a * exp(a)", "a * exp(a - 1)"]),
    ("log", "a.log()", "a", POINTS, ["a", "1 / log(a)", "log(a)", "-1 / a", "-1 / a ** 2"]),
    (
        "tanh",
        "a.tanh()",
        "a",
        POINTS,
        [
            "1 - a ** 2",
            "1 - tanh(a)",
            "tanh(a)",
            "1 + tanh(a) ** 2",
            "tanh(a) ** 2",
            "1 - tanh(tanh(a)) ** 2",
        ],
    ),
    ("relu", "a.relu()", "a", POINTS, ["a", "0"]),
    ("relu", "a.relu()", "a", BELOW, ["1", "-1", "a"]),
]
"""What shows the operation in a text, the operation, the leaf that is looked at, where, and
formulas that are often written for it.
"""


@rule
def wrong_local_derivative(failure, student):
    """One of the formulas that are often written instead; where backward gives zeros throughout, no
    formula is to blame.
    """
    if not wrong_gradient(failure) or not any(
        grads(student, "root = a + b", a=2.0, b=3.0).values()
    ):
        return None
    for sign, operation, leaf, leaves, formulas in FORMULAS:
        if not any(part in failure.facts["lines"].shown for part in sign.split()):
            continue
        used = {
            name: number
            for name, number in leaves.items()
            if name in compile(operation, "", "eval").co_names
        }
        got, seen = (
            grads(student, f"root = {operation}", **used).get(leaf),
            ask(student, f"root = {operation}", **used),
        )
        right = helpers.run(failure.reference, used, [["root", operation]], ["root"])
        truth = right["grads"][leaf]
        if (
            got is None
            or is_near(got, truth)
            or not is_near(seen["data"]["root"], right["data"]["root"])
        ):
            continue
        for formula in formulas:
            if is_near(got, float(eval(formula, {**vars(math), **used}))):
                return {
                    **shown("", used),
                    "operation": operation,
                    "leaf": leaf,
                    "got": got,
                    "formula": formula,
                    "truth": truth,
                }
    return None


@rule
def reflected_the_wrong_way(failure, student):
    """What a - 3 or a / 3 would give."""
    if failure.message != "{name}.data is wrong":
        return None
    for sign, method, swapped in (("-", "__rsub__", 1.0), ("/", "__rtruediv__", 4.0 / 3.0)):
        seen, below = (
            ask(student, f"root = 3 {sign} a", a=4.0),
            ask(student, f"root = 3 {sign} a", a=-1.0),
        )
        if (
            not seen
            or not below
            or not all(isinstance(found["data"]["root"], int | float) for found in (seen, below))
        ):
            continue
        if is_near(seen["data"]["root"], swapped) and is_near(
            below["data"]["root"], -4.0 if sign == "-" else -1.0 / 3.0
        ):
            return {
                "asked": f"3 {sign} a",
                "got": seen["data"]["root"],
                "swapped": f"a {sign} 3",
                "method": method,
                "number": 3,
            }
    return None


# ---------------------------------------------------------------------------------------- zero_grad


@rule
def grad_becomes_none(failure, student):
    """None, as torch's optimizers leave it."""
    name = failure.facts.get("name")
    actual = failure.actual if isinstance(failure.actual, dict) else {}
    value = actual.get(name, 0.0)
    return (
        {}
        if value is None or (isinstance(value, Opaque) and value.type_name == "NoneType")
        else None
    )


@rule
def clears_not_everything(failure, student):
    """Some Values below the root are as they were."""
    facts = failure.facts
    if "below" not in facts:
        return None
    after = facts["seen"]["grads"]
    left = [name for name in facts["below"] if after[name] == facts["filled"][name]]
    cleared = [name for name in facts["below"] if after[name] == 0]
    return {"left": ", ".join(left), "cleared": ", ".join(cleared) or "–"} if left else None
