"""The mistakes that people make with an engine of their own. Rules ask the student's Values about
small expressions and compare the numbers with what the mistake gives.
"""

import contextlib
import math
import re
from functools import partial

from grader.authoring import (
    StudentCodeError,
    has_facts,
    import_helpers,
    is_number,
    raises,
    rule,
    says,
    value_rule,
)

helpers = import_helpers(__file__)

STRAIGHT = ("s = a * b\nroot = s * c", "s = a * b\nroot = c * s")
SHARED = {"a": 2.0, "b": 3.0, "c": 5.0}
LATE = ("t = a * b\nu = t * c\nroot = t + u", "t = a * b\nu = t * c\nroot = u + t")
"""Two results of t, added up in either order: a's derivative is b (1 + c) = 18."""


def run(student, text, leaves, *roots, given=None):
    """Return what the helpers' ``run`` measures for an expression."""
    steps = [line.split(" = ", 1) for line in text.splitlines()]
    return helpers.run(student, leaves, steps, roots or ("root",), given)


def ask(student, text, *roots, **leaves):
    """Return what ``run`` measures; None where it raises or a step gives no Value."""
    with contextlib.suppress(StudentCodeError):
        seen = run(student, text, leaves, *roots)
        return seen if seen["odd"] is None else None


def grads(student, text, *roots, **leaves):
    """Return the grads of the leaves; NaN for what is not a number, nothing where it raises."""
    found = (ask(student, text, *roots, **leaves) or {"grads": {}})["grads"]
    return {name: float(grad) if is_number(grad) else math.nan for name, grad in found.items()}


def is_near(left, right):
    """Return whether two numbers are equal up to rounding; nothing is near to None or NaN."""
    return is_number(left) and math.isclose(left, right, rel_tol=1e-9, abs_tol=1e-9)


def all_near(found, **wanted):
    """Return whether grads are near to those that are wanted."""
    return all(is_near(found.get(name), number) for name, number in wanted.items())


def single_steps_right(student):
    """Return whether a sum and a product alone have right gradients."""
    sums, products = (grads(student, f"root = a {sign} b", a=2.0, b=3.0) for sign in "+*")
    return all_near(sums, a=1.0, b=1.0) and all_near(products, a=3.0, b=2.0)


def shown(text, leaves):
    """Return an expression in one line, and its numbers."""
    numbers = ", ".join(f"{name} = {number:g}" for name, number in leaves.items())
    return {"asked": text.replace("\n", "; "), "numbers": numbers}


def gradient_rule(recognize):
    """Return a rule for a wrong gradient of an expression."""

    def wrong_gradient(failure, student):
        return recognize(failure, student) if {"got", "lines"} <= set(failure.facts) else None

    return value_rule(wrong_gradient)


def shared_rule(recognize, **fixed):
    """Return a rule for a wrong gradient where some name is used more than once."""

    def wrong_where_shared(failure, student):
        lines = failure.facts["lines"]
        words = re.findall(r"\w+", " ".join(text for _, text in lines.steps))
        shares = any(words.count(name) > 1 for name in {*lines.leaves, *dict(lines.steps)})
        return recognize(student, **fixed) if shares else None

    return gradient_rule(wrong_where_shared)


@rule
def uses_torch(failure, student):
    """A name of torch in the source, or an operator of it in the trace."""
    found = failure.facts.get("operators") or failure.facts.get("used")
    return {"seen_of_torch": found} if found else None


recursion_too_deep = raises("RecursionError", " × (")
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
    alone = re.search(r"\[root = \S+ [-+*/] \S+\]$", str(error))
    if not refused and not (alone and failure.raised("AttributeError")):
        return None
    signs = refused[1] if refused else "+-*/"
    works = all(ask(student, f"root = a {sign} b", a=2.0, b=4.0) for sign in signs)
    return {"raised": str(error)} if works else None


grad_starts_without_a_number = says("before backward")
result_is_no_value = has_facts("step")
returns_its_input = has_facts("formula", "input")
returns_an_earlier_result = has_facts("formula", "earlier")


@gradient_rule
def root_without_gradient(failure, student):
    """Zeros one step away from the root, and right gradients once the root's grad is set."""
    text, leaves = "root = a * b", {"a": 2.0, "b": 3.0}
    if not all_near(grads(student, text, **leaves), a=0.0, b=0.0):
        return None
    begun = run(student, text, leaves, given={"root": 1.0})["grads"]
    return {} if begun == {"a": 3.0, "b": 2.0} else None


@gradient_rule
def stops_after_one_step(failure, student):
    """The root's own sources get something, what lies behind them nothing."""
    found = [grads(student, text, **SHARED) for text in STRAIGHT]
    stops = all(all_near(one, a=0.0, c=6.0) for one in found) and single_steps_right(student)
    return shown(STRAIGHT[0], SHARED) if stops else None


@gradient_rule
def ignores_incoming_gradient(failure, student):
    """The derivative of the innermost step."""
    ignores = all_near(grads(student, STRAIGHT[0], **SHARED), a=3.0)
    return {**shown(STRAIGHT[0], SHARED), "got": 3.0} if ignores else None


SIGNS = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "**": "pow"}


def method_line(student, operation):
    """Return the line of Value's method for an operation, if it has a def of its own."""
    if len(parts := operation.split()) == 3:
        name = f"__{'r' * parts[0].isdigit()}{SIGNS[parts[1]]}__"
    else:
        name = "__neg__" if operation == "-a" else operation[2:-2]
    methods = getattr(student.source.definitions.get("Value"), "body", ())
    return next(({"line": one.lineno} for one in methods if getattr(one, "name", "") == name), {})


def one_of_two_uses(student, adds):
    """Return the facts if an operation loses a gradient where both operands are one Value, and adds
    to what a grad holds or not.
    """
    for sign, right in (("+", 2.0), ("*", 6.0)):
        got = grads(student, f"root = a {sign} a", a=3.0).get("a")
        if is_near(got, right / 2):
            text, leaves = f"root = a {sign} b", {"a": 3.0, "b": 1.0}
            held = run(student, text, leaves, given={"a": 10.0})["grads"]["a"]
            if is_near(held, 11.0) is adds:
                operation = f"a {sign} a"
                line = method_line(student, operation) if adds else {}
                return {"operation": operation, "got": got, "right": right, **line}
    return None


overwrites_gradients = shared_rule(one_of_two_uses, adds=False)
keeps_one_of_two_equal_inputs = shared_rule(one_of_two_uses, adds=True)


@gradient_rule
def quotient_by_itself(failure, student):
    """Half of a / a counts, and both halves of a + a and a * a do."""
    if not re.search(r"\b(\w+) / \1\b", failure.facts["lines"].shown):
        return None
    sums, products, quotients = (
        grads(student, f"root = a {sign} a", a=4.0).get("a") for sign in "+*/"
    )
    half = any(is_near(quotients, number) for number in (0.25, -0.25))
    return {} if half and is_near(sums, 2.0) and is_near(products, 8.0) else None


@gradient_rule
def clears_before_backward(failure, student):
    """The last root's gradient alone."""
    if len(failure.facts["roots"]) < 2:
        return None
    text = "p = a * b\nq = a * c"
    both, alone = (grads(student, text, *roots, **SHARED) for roots in ("pq", "p"))
    return {} if all_near(both, a=5.0) and all_near(alone, a=3.0) else None


def late_part(student, matches):
    """Return the facts of the first of two expressions in which a's grad matches."""
    for text in LATE if single_steps_right(student) else ():
        found = grads(student, text, **SHARED).get("a", math.nan)
        if matches(found):
            return {**shown(text, SHARED), "got": found}
    return None


counts_again = shared_rule(late_part, matches=lambda a: a > 18.5 and is_near(a % 3.0, 0.0))
order_not_topological = shared_rule(late_part, matches=lambda a: is_near(a, 3.0))


@gradient_rule
def operation_not_recorded(failure, student):
    """Every gradient of one operation is 0, and a sum and a product have right gradients."""
    if single_steps_right(student):
        for sign, operation, _, _, formulas in FORMULAS:
            shows = any(part in failure.facts["lines"].shown for part in sign.split())
            if shows and "0" not in formulas.split(" | "):
                leaves = {name: POINTS[name] for name in re.findall(r"\b[ab]\b", operation)}
                found = grads(student, f"root = {operation}", **leaves)
                if found and not any(found.values()):
                    return {"operation": operation, **method_line(student, operation)}
    return None


@gradient_rule
def released_too_early(failure, student):
    """The part through t * t alone is passed on."""
    for root in ("v + t * t", "t * t + v"):
        text = f"t = a * b\nu = t * c\nv = u * c\nroot = {root}"
        if is_near(grads(student, text, **SHARED).get("a"), 36.0):
            return {**shown(text, SHARED), "got": 36.0}
    return None


@gradient_rule
def equal_taken_for_same(failure, student):
    """Wrong for equal numbers, right for others."""
    text, leaves = "s = a + b\nt = c + d\nroot = s * t", {"a": 1.0, "b": 5.0, "c": 2.0}
    other, equal = (grads(student, text, **leaves, d=d) for d in (5.0, 4.0))
    wrong = equal and all_near(other, a=7.0, c=6.0) and not all_near(equal, a=6.0, c=6.0)
    return {"first": equal["a"], "second": equal["c"]} if wrong else None


@gradient_rule
def zero_contribution_not_counted(failure, student):
    """A second path that adds 0 keeps the gradient from the leaves."""
    found = grads(student, "t = a * b\nu = t * c\nroot = u + t", a=2.0, b=3.0, c=0.0)
    return {} if single_steps_right(student) and all_near(found, a=0.0, b=0.0) else None


def growing_with(text, failure, student):
    """Return the facts if twice the nodes take far more than twice the steps."""
    name = failure.facts.get("function")
    if name is None or failure.facts["seen"].get("steps", 0) is not None:
        return None
    filled, leaves = 1.0 if name == "zero_grad" else None, {"x": 2.0, "c": 0.5}
    few, many = (
        student.observe("repeated", leaves, [text], count, 1_000_000, filled)["steps"]
        for count in (6, 12)
    )
    return {"few": f"{few:,}", "many": f"{many:,}"} if few and many and many > 20 * few else None


path_by_path = rule(partial(growing_with, "x + x * c"))
passes_on_parts = rule(partial(growing_with, "x * c + x"))


POINTS, BELOW = {"a": 1.7, "b": 0.6}, {"a": -1.7, "b": 0.6}
FORMULAS = [
    ("-", "-a", "a", POINTS, "1 | a | -a"),
    ("+", "3 + a", "a", POINTS, "3 | 3 + a"),
    ("*", "3 * a", "a", POINTS, "1 | a | 3 * a"),
    ("-", "a - b", "b", POINTS, "1"),
    ("-", "3 - a", "a", POINTS, "1"),
    ("*", "a * b", "a", {"a": 0.0, "b": 0.6}, "0"),
    ("**", "a ** 1", "a", {"a": 0.0}, "0"),
    ("*", "a * b", "a", POINTS, "a | 1 | a * b"),
    ("*", "a * b", "b", POINTS, "b | 1 | a * b"),
    ("** /", "a ** 3", "a", POINTS, "a ** 2 | 3 * a | 3 * a ** 3 | 3 * a ** 4 | 3 * a ** 3 - 1"),
    ("** /", "a ** 3", "a", POINTS, "a ** 3 * log(a) | 2 * a ** 3 | 2 * a ** 2 | 3"),
    ("/", "a / b", "a", POINTS, "b | 1 | a / b | -1 / b"),
    ("/", "a / b", "b", POINTS, "a / b ** 2 | -a / b | a / b | -1 / b ** 2 | 1 / b ** 2"),
    ("/", "a / b", "b", POINTS, "-a | a | -a * b ** 2"),
    ("/", "3 / a", "a", POINTS, "-1 / a ** 2 | 3 / a ** 2 | 1 / a ** 2 | -3 / a | 3 / a | 1 / 3"),
    ("exp", "a.exp()", "a", POINTS, "a | 1 | a * exp(a) | a * exp(a - 1)"),
    ("log", "a.log()", "a", POINTS, "a | 1 / log(a) | log(a) | -1 / a | -1 / a ** 2"),
    ("log", "a.log()", "a", POINTS, "1 / (a + 1e-8) | 1 / (a + 1e-7) | 1 / (a + 1e-6)"),
    ("tanh", "a.tanh()", "a", POINTS, "1 - a ** 2 | 1 - tanh(a) | tanh(a) | 1 + tanh(a) ** 2"),
    ("tanh", "a.tanh()", "a", POINTS, "tanh(a) ** 2 | 1 - tanh(tanh(a)) ** 2"),
    ("relu", "a.relu()", "a", POINTS, "a | 0"),
    ("relu", "a.relu()", "a", BELOW, "1 | -1 | a"),
]
"""What shows the operation in a text, the operation, the leaf, where, and wrong derivatives."""


@gradient_rule
def wrong_local_derivative(failure, student):
    """One of the formulas that are often written; no formula is to blame for zeros throughout."""
    if not any(grads(student, "root = a + b", a=2.0, b=3.0).values()):
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
                return {**shown("", used), **facts, **method_line(student, operation), "got": got}
    return None


@rule
def number_added_under_log(failure, student):
    """What log returns is the logarithm of a slightly larger number."""
    seen = ask(student, "root = a.log()", a=0.001) if "log" in str(failure.inputs) else None
    added = math.exp(seen["data"]["root"]) - 0.001 if seen else 0.0
    found = {"added": f"{added:.3g}", **method_line(student, "a.log()")}
    return found if 1e-13 < added < 1e-3 else None


@rule
def reflected_the_wrong_way(failure, student):
    """What a - 3 or a / 3 would give."""
    if failure.message != "{name}.data is wrong":
        return None
    turned = [("-", "__rsub__", 1.0, -4.0), ("/", "__rtruediv__", 4 / 3, -1 / 3)]
    for sign, method, *swapped in turned:
        found = [ask(student, f"root = 3 {sign} a", a=a) for a in (4.0, -1.0)]
        numbers = [seen["data"]["root"] if seen else None for seen in found]
        if all(map(is_near, numbers, swapped)):
            facts = {"asked": f"3 {sign} a", "swapped": f"a {sign} 3", "method": method}
            return {**facts, "got": numbers[0], "number": 3}
    return None


grad_becomes_none = has_facts("below", type="NoneType")


def after_zero_grad(failure):
    """Return the names below the root, and grads before and after zero_grad; else nothing."""
    facts = failure.facts
    known = "below" in facts
    return (facts["below"], facts["filled"], facts["seen"]["grads"]) if known else ((), {}, {})


cleared_once_only = has_facts("calls")


def leaves_some(*, backward):
    """Return a rule: some Values below the root are as they were, after a backward or without."""

    @rule
    def recognize(failure, student):
        below, filled, after = after_zero_grad(failure)
        left = [name for name in below if after[name] == filled[name] != 0]
        cleared = [name for name in below if after[name] == 0]
        if not left or failure.facts["backward"] is not backward:
            return None
        return {"left": ", ".join(left), "cleared": ", ".join(cleared) or "–"}

    return recognize


clears_not_everything = leaves_some(backward=False)
cleared_before_backward_only = leaves_some(backward=True)


@rule
def clears_too_much(failure, student):
    """Some Values that are not below the root are cleared."""
    below, filled, after = after_zero_grad(failure)
    more = sorted(name for name in after if name not in below and after[name] == 0 != filled[name])
    return {"more": ", ".join(more)} if more else None
