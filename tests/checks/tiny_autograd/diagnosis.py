"""The mistakes that people make with an engine of their own. Rules ask the student's Values about
small expressions and compare the numbers with what the mistake gives.
"""

import math
import re

from grader.authoring import StudentCodeError, import_helpers, is_number, raises, rule

helpers = import_helpers(__file__)

STRAIGHT = ("s = a * b\nroot = s * c", {"a": 2.0, "b": 3.0, "c": 5.0})
SHARED = {"a": 2.0, "b": 3.0, "c": 5.0}
LATE = ("t = a * b\nu = t * c\nroot = t + u", "t = a * b\nu = t * c\nroot = u + t")
"""Two results of t, added up in either order: a's derivative is b (1 + c) = 18."""


def lines_of(text):
    """Return the steps of an expression, as ``run`` takes them."""
    return [line.split(" = ", 1) for line in text.splitlines()]


def ask(student, text, *roots, **leaves):
    """Return what ``run`` measures for an expression; None where it raises or a step gives no
    Value.
    """
    try:
        seen = helpers.run(student, leaves, lines_of(text), list(roots) or ["root"])
    except StudentCodeError:
        return None
    return seen if seen["odd"] is None else None


def grads(student, text, *roots, **leaves):
    """Return the grads of the leaves, NaN in place of what is not a number; empty where there are
    none.
    """
    seen = ask(student, text, *roots, **leaves)
    found = seen["grads"] if seen else {}
    return {name: float(grad) if is_number(grad) else math.nan for name, grad in found.items()}


def is_near(left, right):
    """Return whether two numbers are equal up to rounding; nothing is near to None or NaN."""
    return is_number(left) and math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def all_near(found, **wanted):
    """Return whether grads are near to those that are wanted."""
    return all(is_near(found.get(name), number) for name, number in wanted.items())


def single_steps_right(student):
    """Return whether a sum and a product alone have right gradients, so that what is wrong is how
    steps are put together.
    """
    sums, products = (grads(student, f"root = a {sign} b", a=2.0, b=3.0) for sign in "+*")
    return all_near(sums, a=1.0, b=1.0) and all_near(products, a=3.0, b=2.0)


def shown(text, leaves):
    """Return an expression in one line, and its numbers."""
    numbers = ", ".join(f"{name} = {number:g}" for name, number in leaves.items())
    return {"asked": text.replace("\n", "; "), "numbers": numbers}


def wrong_gradient(failure):
    """Return whether an expression has a wrong gradient."""
    return "got" in failure.facts and "lines" in failure.facts and failure.error is None


def shares(failure):
    """Return whether a gradient is wrong where some name is used more than once."""
    if not wrong_gradient(failure):
        return False
    lines = failure.facts["lines"]
    words = re.findall(r"\w+", " ".join(text for _, text in lines.steps))
    return any(words.count(name) > 1 for name in {*lines.leaves, *dict(lines.steps)})


# --------------------------------------------------------------------------- exceptions and results


@rule
def uses_torch(failure, student):
    """A name of torch in the source, or an operator of it in the trace."""
    found = failure.facts.get("operators") or failure.facts.get("used")
    return {"seen_of_torch": found} if found else None


@rule
def recursion_too_deep(failure, student):
    """A RecursionError that only a long chain raises."""
    deep = failure.raised("RecursionError") and "deep_chains" in failure.check
    return {"line": str(failure.error.line)} if deep else None


defines_equality = raises("TypeError", "unhashable type: 'Value'")
divides_by_a_zero = raises("ZeroDivisionError", "division by zero", unless=["/", "** -"])
power_of_positive_bases_only = raises("ValueError", "[root = a ** ", unless=[".log()"])
tanh_overflows = raises("OverflowError", "[root = a.tanh()]")


@rule
def plain_number_not_taken(failure, student):
    """An error about an int or a float in an operation that works for two Values."""
    error = failure.error
    if error is None or not re.search("'(int|float)'", error.message):
        return None
    refused = re.match(r"unsupported operand type\(s\) for ([-+*/]):", error.message)
    number, name = r"-?[\d.]+", r"\w+"
    alone = rf"\[root = ({name} [-+*/] {number}|{number} [-+*/] {name})\]$"
    if not refused and not (failure.raised("AttributeError") and re.search(alone, str(error))):
        return None
    signs = refused[1] if refused else "+-*/"
    works = all(ask(student, f"root = a {sign} b", a=2.0, b=4.0) for sign in signs)
    return {"raised": str(error)} if works else None


@rule
def result_is_no_value(failure, student):
    """None, or a plain number."""
    return {} if "step" in failure.facts else None


@rule
def returns_its_input(failure, student):
    """The result is the very object that went in."""
    return {} if "formula" in failure.facts else None


# ------------------------------------------------------------------------------ backward as a whole


@rule
def root_without_gradient(failure, student):
    """Zeros one step away from the root, and right gradients once the root's grad is set."""
    if not wrong_gradient(failure):
        return None
    leaves, steps = {"a": 2.0, "b": 3.0}, lines_of("root = a * b")
    if not all_near(grads(student, "root = a * b", **leaves), a=0.0, b=0.0):
        return None
    begun = helpers.run(student, leaves, steps, ["root"], {"root": 1.0})["grads"]
    return {} if begun == {"a": 3.0, "b": 2.0} else None


@rule
def stops_after_one_step(failure, student):
    """The root's own sources get something, what lies behind them nothing."""
    if not wrong_gradient(failure) or not single_steps_right(student):
        return None
    text, leaves = STRAIGHT
    found = [grads(student, one, **leaves) for one in (text, text.replace("s * c", "c * s"))]
    return shown(text, leaves) if all(all_near(one, a=0.0, c=6.0) for one in found) else None


@rule
def ignores_incoming_gradient(failure, student):
    """The derivative of the innermost step."""
    text, leaves = STRAIGHT
    if not wrong_gradient(failure) or not all_near(grads(student, text, **leaves), a=3.0):
        return None
    return {**shown(text, leaves), "got": 3.0}


def of_two_uses(failure, student):
    """Return a's grads of a + a and a * a at 3 if one of the two gradients is lost, and a's grad
    where the uses are in two steps; else None.
    """
    if not shares(failure):
        return None
    found = [grads(student, f"root = a {sign} a", a=3.0).get("a") for sign in "+*"]
    if not is_near(found[0], 1.0) or not is_near(found[1], 3.0):
        return None
    apart = grads(student, "s = a * b\nroot = s + a", a=3.0, b=5.0).get("a")
    return {"sum": found[0], "product": found[1], "apart": apart}


@rule
def overwrites_gradients(failure, student):
    """Half of what two uses give, in one step or in two."""
    found = of_two_uses(failure, student)
    return found if found and not is_near(found["apart"], 6.0) else None


@rule
def keeps_one_of_two_equal_inputs(failure, student):
    """Half of what two uses in one step give; two steps add up."""
    found = of_two_uses(failure, student)
    return found if found and is_near(found["apart"], 6.0) else None


@rule
def clears_before_backward(failure, student):
    """The last root's gradient alone."""
    if not wrong_gradient(failure):
        return None
    if len(failure.facts["roots"]) < 2 and not any(failure.facts["before"].values()):
        return None
    both, alone = (
        grads(student, "p = a * b\nq = a * c", *roots, **SHARED) for roots in ("pq", "p")
    )
    return {} if all_near(both, a=5.0) and all_near(alone, a=3.0) else None


def of_late(failure, student, matches):
    """Return the first expression in which t's gradient arrives in two parts and a's grad is one
    that matches, as facts.
    """
    if not shares(failure) or not single_steps_right(student):
        return None
    for text in LATE:
        found = grads(student, text, **SHARED).get("a", math.nan)
        if matches(found):
            return {**shown(text, SHARED), "got": found}
    return None


@rule
def counts_again(failure, student):
    """More than the derivative, by a part of it."""
    return of_late(failure, student, lambda found: found > 18.5 and is_near(found % 3.0, 0.0))


@rule
def order_not_topological(failure, student):
    """Only the direct part."""
    return of_late(failure, student, lambda found: is_near(found, 3.0))


@rule
def equal_taken_for_same(failure, student):
    """Wrong for equal numbers, right for others."""
    if not wrong_gradient(failure):
        return None
    text, leaves = "s = a + b\nt = c + d\nroot = s * t", {"a": 1.0, "b": 5.0, "c": 2.0}
    other, equal = (grads(student, text, **leaves, d=d) for d in (5.0, 4.0))
    if not equal or not all_near(other, a=7.0, c=6.0) or all_near(equal, a=6.0, c=6.0):
        return None
    return {"first": equal["a"], "second": equal["c"]}


@rule
def path_by_path(failure, student):
    """Far more than twice the steps for twice the nodes."""
    name = failure.facts.get("function")
    if name is None or failure.facts["seen"].get("steps", 0) is not None:
        return None
    filled, leaves = 1.0 if name == "zero_grad" else None, {"x": 2.0, "c": 0.5}
    few, many = (
        student.observe("repeated", leaves, ["x + x * c"], count, 1_000_000, filled)["steps"]
        for count in (6, 12)
    )
    return {"few": f"{few:,}", "many": f"{many:,}"} if few and many and many > 20 * few else None


# ------------------------------------------------------------------------------------ one operation

POINTS, BELOW = {"a": 1.7, "b": 0.6}, {"a": -1.7, "b": 0.6}
FORMULAS = [
    ("-", "-a", "a", POINTS, "1"),
    ("-", "a - b", "b", POINTS, "1"),
    ("*", "a * b", "a", POINTS, "a | 1 | a * b"),
    ("*", "a * b", "b", POINTS, "b | 1 | a * b"),
    ("** /", "a ** 3", "a", POINTS, "a ** 2 | 3 * a | 3 * a ** 3 | 3 * a ** 4 | 3 * a ** 3 - 1"),
    ("** /", "a ** 3", "a", POINTS, "a ** 3 * log(a) | 2 * a ** 3 | 2 * a ** 2 | 3"),
    ("/", "a / b", "a", POINTS, "b | 1 | a / b | -1 / b"),
    ("/", "a / b", "b", POINTS, "a / b ** 2 | -a / b | a / b | -1 / b ** 2 | 1 / b ** 2"),
    ("/", "a / b", "b", POINTS, "-a | a | -a * b ** 2"),
    ("exp", "a.exp()", "a", POINTS, "a | 1 | a * exp(a) | a * exp(a - 1)"),
    ("log", "a.log()", "a", POINTS, "a | 1 / log(a) | log(a) | -1 / a | -1 / a ** 2"),
    ("tanh", "a.tanh()", "a", POINTS, "1 - a ** 2 | 1 - tanh(a) | tanh(a) | 1 + tanh(a) ** 2"),
    ("tanh", "a.tanh()", "a", POINTS, "tanh(a) ** 2 | 1 - tanh(tanh(a)) ** 2"),
    ("relu", "a.relu()", "a", POINTS, "a | 0"),
    ("relu", "a.relu()", "a", BELOW, "1 | -1 | a"),
]
"""What shows the operation in a text, the operation, the leaf that is looked at, where, and
formulas that are often written for its derivative.
"""


@rule
def wrong_local_derivative(failure, student):
    """One of the formulas that are often written; no formula is to blame for zeros throughout."""
    sums = grads(student, "root = a + b", a=2.0, b=3.0)
    if not wrong_gradient(failure) or not any(sums.values()):
        return None
    for sign, operation, leaf, leaves, formulas in FORMULAS:
        if not any(part in failure.facts["lines"].shown for part in sign.split()):
            continue
        used = {name: leaves[name] for name in leaves if name in re.findall(r"\w+", operation)}
        seen, right = (
            ask(one, f"root = {operation}", **used) for one in (student, failure.reference)
        )
        if not seen or not is_near(seen["data"]["root"], right["data"]["root"]):
            continue
        got, truth = seen["grads"][leaf], right["grads"][leaf]
        for formula in formulas.split(" | ") if not is_near(got, truth) else ():
            if is_near(got, float(eval(formula, {**vars(math), **used}))):
                facts = {"operation": operation, "leaf": leaf, "formula": formula, "truth": truth}
                return {**shown("", used), **facts, "got": got}
    return None


@rule
def reflected_the_wrong_way(failure, student):
    """What a - 3 or a / 3 would give."""
    if failure.message != "{name}.data is wrong":
        return None
    for sign, method, *swapped in (
        ("-", "__rsub__", 1.0, -4.0),
        ("/", "__rtruediv__", 4 / 3, -1 / 3),
    ):
        found = [ask(student, f"root = 3 {sign} a", a=a) for a in (4.0, -1.0)]
        numbers = [seen["data"]["root"] if seen else None for seen in found]
        if all(map(is_near, numbers, swapped)):
            facts = {"asked": f"3 {sign} a", "swapped": f"a {sign} 3", "method": method}
            return {**facts, "got": numbers[0], "number": 3}
    return None


# ---------------------------------------------------------------------------------------- zero_grad


@rule
def grad_becomes_none(failure, student):
    """None, as torch's optimizers leave it."""
    none = "below" in failure.facts and failure.facts["type"] == "NoneType"
    return {} if none else None


@rule
def clears_not_everything(failure, student):
    """Some Values below the root are as they were."""
    facts = failure.facts
    if "below" not in facts:
        return None
    after = facts["seen"]["grads"]
    left = [name for name in facts["below"] if after[name] == facts["filled"][name] != 0]
    cleared = [name for name in facts["below"] if after[name] == 0]
    return {"left": ", ".join(left), "cleared": ", ".join(cleared) or "–"} if left else None


@rule
def clears_too_much(failure, student):
    """Some Values that are not below the root are cleared."""
    if "below" not in failure.facts:
        return None
    after, filled = failure.facts["seen"]["grads"], failure.facts["filled"]
    more = [
        one for one in set(after) - set(failure.facts["below"]) if after[one] == 0 != filled[one]
    ]
    return {"more": ", ".join(sorted(more))} if more else None
