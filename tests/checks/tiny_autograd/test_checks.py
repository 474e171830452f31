"""tiny_autograd's checks. Those below the line "hidden" are not handed out.

An expression is text that Python computes: with the student's Values on one side, with float64
tensors on the other, and torch's gradients are the truth. A message shows the text.
"""

import contextlib
import math
import re
from collections import Counter
from functools import cached_property, partial
from itertools import combinations

import torch

from grader.authoring import (
    Opaque,
    StudentCodeError,
    chain,
    check,
    fail,
    fetch,
    graphs_figure,
    is_number,
    is_same,
    short_repr,
    trace,
    type_name,
)

RELATIVE, ABSOLUTE, ROUGH = 1e-8, 1e-9, 100.0
"""Tolerances. A check on which others wait multiplies them by ``ROUGH``: digits are judged for each
operation.
"""
NO_VALUES = {"NotImplementedType", "function", "method", "type"}
"""Types of results that can't stand in for a Value, beside plain data and tensors."""


class Expression:
    """Lines of the form ``name = formula``, and the numbers of the leaves in them."""

    def __init__(self, text, leaves):
        lines = re.split(r"\s*[;\n]\s*", text) if text else []
        self.steps = dict(line.split(" = ", 1) for line in lines)
        words = set(re.findall(r"\w+", text))
        self.leaves = {name: number for name, number in leaves.items() if name in words or not text}
        self.names = [*self.leaves, *self.steps]
        self.text = "; ".join(lines)
        self.inputs = {"expression": self.text, **self.leaves} if text else dict(self.leaves)

    def __str__(self):
        """By this, failures of two answers are compared."""
        return str(self.inputs)

    @cached_property
    def tensors(self):
        """All names with their tensors."""
        found = {
            name: torch.tensor(float(number), dtype=torch.float64, requires_grad=True)
            for name, number in self.leaves.items()
        }
        for name, formula in self.steps.items():
            found[name] = eval(formula, {}, found)
        return found

    def data(self):
        """All names with their numbers."""
        return {name: float(tensor.detach()) for name, tensor in self.tensors.items()}

    def gradients(self, roots):
        """All names with the sum of the gradients of the roots."""
        found = torch.autograd.grad(
            [self.tensors[root] for root in roots],
            list(self.tensors.values()),
            retain_graph=True,
            allow_unused=True,
        )
        return {
            name: 0.0 if grad is None else float(grad)
            for name, grad in zip(self.names, found, strict=True)
        }

    def sources(self, name):
        """The names that a formula uses."""
        return set(compile(self.steps.get(name, "0"), "", "eval").co_names) & set(self.names)

    def below(self, root):
        """Root and the names that it was computed from."""
        found = {root}
        for name in reversed(self.steps):
            if name in found:
                found |= self.sources(name)
        return found


def close(actual, expected, scale=1.0, factor=1.0):
    """Whether two numbers are the same up to rounding; scale is the size of what was added up on
    the way, and factor is that of the tolerances.
    """
    absolute = ABSOLUTE * max(1.0, scale) * factor
    return is_number(actual) and math.isclose(
        actual, expected, rel_tol=RELATIVE * factor, abs_tol=absolute
    )


def numbers(draw):
    """Four numbers of either sign and size: 0.3 to 0.9, -1.9 to -1.1, 1.1 to 1.9, -0.9 to -0.3."""
    bounds = (0.3, 0.9), (-1.9, -1.1), (1.1, 1.9), (-0.9, -0.3)
    return dict(zip("abcd", (draw.number(*bound, digits=4) for bound in bounds), strict=True))


# ------------------------------------------------------------------------------ the Values, driven


@contextlib.contextmanager
def showing(text):
    """A block in which an exception of the student's code also tells the expression."""
    try:
        yield
    except StudentCodeError as error:
        error.args = (f"{error}   [{text}]",)
        raise


def evaluate(student, lines, held=()):
    """All names with their Values. Grads in ``held`` are set on the leaves before the first
    step.
    """
    for name, line in student.source.names_used("Value", "zero_grad").items():
        if name.partition(".")[0] == "torch":
            message = "line {line} uses {used}: this lesson is plain Python, without torch"
            fail(message, facts={"used": name, "line": line}, line=line)
    values = {name: student.Value(data) for name, data in lines.leaves.items()}
    for name, grad in dict(held).items():
        values[name].grad = grad
    for name, formula in lines.steps.items():
        values[name] = eval(formula, {}, values)
    return values


@contextlib.contextmanager
def computing(student, lines, **details):
    """A block with the Values of all names. If it raises because a step returned no Value, that is
    what fails.
    """
    try:
        with showing(lines.text):
            yield evaluate(student, lines)
    except StudentCodeError:
        found = {}
        with contextlib.suppress(StudentCodeError):  # one of the formulas raises
            found = fetch(evaluate(student, lines))
        for name, value in found.items():
            is_object = isinstance(value, Opaque) or hasattr(value, "backward")
            if name in lines.steps and (not is_object or type_name(value) in NO_VALUES):
                step = f"{name} = {lines.steps[name]}"
                facts = {"step": step, "type": type_name(value)}
                fail("{step} returned {type}, expected a Value", facts=facts, **details)
        raise


def read(values, attribute):
    """An attribute of each Value, as it is now, to be fetched."""
    return {name: getattr(value, attribute) for name, value in values.items()}


def assert_is_number(got, name, what, **details):
    """Require an int or a float, which may be infinite."""
    if not isinstance(got, int | float):
        facts = {**details.pop("facts", {}), "name": name, "what": what, "type": type_name(got)}
        fail("{name}.{what} is of type {type}, expected a number", facts=facts, **details)


def judge(student, *texts, roots=(), factor=1.0, at=None, **leaves):
    """Judge expressions of the same leaves: by default from the last step of each."""
    for text in texts:
        lines = Expression(text, leaves)
        judge_expression(student, lines, roots or lines.names[-1:], factor, at)


judge_roughly = partial(judge, factor=ROUGH)


def judge_expression(student, lines, roots, factor, at):
    """Data, and gradients of the roots one after the other, must be torch's; no data may change.
    factor is that of the tolerances. at is the definition to show if a gradient is wrong, where
    that is not the check's.
    """
    data, grads = lines.data(), lines.gradients(roots)
    with computing(student, lines, inputs=lines.inputs) as values:
        before = read(values, "data")
        for root in roots:
            values[root].backward()
        own = {name: values[name] for name in lines.leaves}
        before, got, after = fetch([before, read(own, "grad"), read(values, "data")])
    facts = {"lines": lines, "roots": roots, "root": ", ".join(roots)}
    figure = partial(drawn, student, lines, values, "data", data)
    for name, want in data.items():
        shown = {"expected": want, "inputs": lines.inputs, "figures": [figure]}
        told = {**facts, "name": name}
        assert_is_number(before[name], name, "data", actual=before[name], facts=told, **shown)
        for found, message in (
            (before, "{name}.data is wrong"),
            (after, "backward changed {name}.data"),
        ):
            if not close(found[name], want, factor=factor):
                fail(message, actual=found[name], facts=told, **shown)
    wanted = {name: grads[name] for name in lines.leaves}
    figure = partial(drawn, student, lines, values, "grad", grads)
    scale = min(1e3, max(map(abs, wanted.values())))
    for name, want in wanted.items():
        shown = {"expected": wanted, "actual": got, "inputs": lines.inputs, "figures": [figure]}
        told = {**facts, "name": name, "got": got[name], "wanted": want}
        assert_is_number(got[name], name, "grad", facts=told, **shown)
        if not close(got[name], want, scale, factor):
            message = "{name}.grad is {got} after backward from {root}, expected {wanted}"
            fail(message, facts=told, at=at, **shown)


def judge_cleared(student, lines, root, filled, backward=False, calls=1, others=False):
    """zero_grad(root), called after the grads were set to those in ``filled``, must clear what root
    was computed from, and, with ``others``, leave everything else. It is called after backward if
    that is asked for, unless that raises, which other checks judge.
    """
    inputs = {**lines.inputs, "root": root}
    below = lines.below(root)
    with computing(student, lines, inputs=inputs) as values:
        if backward:
            fetch(values)
            try:
                values[root].backward()
                fetch(values[root].data, None)
            except StudentCodeError:
                return
        before = read(values, "data")
        for _ in range(calls):
            for name, grad in filled.items():
                values[name].grad = grad
            student.zero_grad(values[root])
        before, got, after = fetch([before, read(values, "grad"), read(values, "data")])
    want = {name: 0.0 if name in below else filled[name] for name in lines.names}
    facts = {"root": root, "backward": backward, "filled": filled, "below": below, "grads": got}
    facts["lines"] = lines
    figure = partial(drawn, student, lines, values, "grad", want, strict=True)
    details = {"expected": want, "actual": got, "inputs": inputs, "figures": [figure]}
    for name in lines.names:
        if name not in below and not others:
            continue
        told = {**facts, "name": name, "type": type_name(got[name])}
        assert_is_number(got[name], name, "grad", facts=told, **details)
        if name in below and got[name] != 0:
            message = (
                "zero_grad({root}) did not clear {name}.grad, although {root} was computed from"
                " {name}"
            )
            if calls > 1:
                message = "zero_grad({root}), called again, did not clear {name}.grad"
                told["calls"] = calls
            fail(message, facts=told, **details)
        if got[name] != want[name]:
            message = (
                "zero_grad({root}) changed {name}.grad, although {root} was not computed from"
                " {name}"
            )
            fail(message, facts=told, **details)
        if after[name] != before[name]:
            fail("zero_grad({root}) changed {name}.data", facts=told, **details)


def assert_plain_python(student, *, clears):
    """No operator of torch may run while a sum is computed, and derived or cleared."""
    with showing("x + c"):
        seen = student.observe("operators_of_a_sum", clears)
    if seen:
        message = "torch ran here ({used}): this lesson is plain Python, without torch"
        fail(message, facts={"used": ", ".join(seen)})


# ---------------------------------------------------------------------------------------- pictures


def drawn(student, lines, values, what, wanted, strict=False):
    """The Values behind the last step beside the tensors of the same names; at each ``what`` it
    holds, and where they differ first.

    An engine may make Values of its own on the way and keep its graph where it likes, so only what
    has a name is compared: what is held, and from which names it was computed.
    """
    if not lines.steps:
        return None
    seen = student.observe("links", values, values[lines.names[-1]])
    held = {name: node[what] for node in seen["nodes"] for name in node["names"]}
    notes = [
        {name: f"{what} = {shown(value)}" for name, value in found.items()}
        for found in (held, wanted)
    ]
    theirs = trace(lines.tensors[lines.names[-1]], lines.tensors)
    for node in theirs["nodes"]:  # what is torch's own is no matter of an engine in plain Python
        made = lines.steps.get(node["name"], "Value") if node["name"] else node["type"]
        node |= {"saved": [], "shape": "", "type": made}
    mine = as_picture(seen, lines, what) if seen["pairs"] else None
    at = differing(lines, wanted, held, named_sources(seen), strict)
    return graphs_figure(mine, theirs, notes=tuple(notes), at=at)


def differing(lines, wanted, held, sources, strict):
    """The first name, from the end on, that was computed from others than it says or holds another
    number; None where there is none.

    What an intermediate result holds is its own affair as long as it is zero, unless ``strict``.
    """
    linked = any(sources.values())
    for name in [*reversed(lines.steps), *lines.leaves]:
        if linked and name in sources and sources[name] != lines.sources(name):
            return name
        kept = strict or name in lines.leaves or held.get(name, 0.0) != 0.0
        if name in held and kept and not close(held[name], wanted[name]):
            return name
    return None


def named_sources(seen):
    """Of each name, the nearest names behind it."""
    names = [node["names"] for node in seen["nodes"]]
    behind = [[b for a, b in seen["pairs"] if a == place] for place in range(len(names))]
    found = {}
    for place, own in enumerate(names):
        waiting, met = list(behind[place]), set()
        while waiting:
            other = waiting.pop()
            if other not in met:
                met.add(other)
                waiting += [] if names[other] else behind[other]
        nearest = {name for other in met for name in names[other]}
        found |= dict.fromkeys(own, nearest)
    return found


def as_picture(seen, lines, what):
    """The Values as a picture's data: a step by its formula, one without a name by what it
    holds.
    """
    slots, edges, nodes = Counter(), [], []
    for a, b in seen["pairs"]:
        edges.append({"source": f"n{a}", "target": f"n{b}", "output": 0, "slot": slots[a]})
        slots[a] += 1
    for place, node in enumerate(seen["nodes"]):
        name = ", ".join(node["names"])
        formula = "; ".join(lines.steps[one] for one in node["names"] if one in lines.steps)
        found = {"id": f"n{place}", "type": formula or "Value", "name": name}
        if name:
            found["kind"] = "intermediate" if formula else "leaf"
        elif place in slots:
            found |= {"kind": "op", "note": f"{what} = {shown(node[what])}"}
        else:
            found |= {"kind": "constant", "name": shown(node["data"])}
        nodes.append(found)
    return {"nodes": nodes, "edges": edges}


def shown(value):
    """A number in short; of anything else the type."""
    return short_repr(float(value)) if is_number(value) else type_name(value)


# ------------------------------------------------------------------------------------------- Value


@check(points=0.25, about="Value", at="Value.__init__")
def test_a_new_value(student, draw):
    """a new Value holds its number, and grad 0.0"""
    for number in (3, 0, -0.5, draw.number(2.0, 9.0)):
        value = evaluate(student, Expression("", {"a": draw.given(a=number)}))["a"]
        data, grad = fetch(value.data, value.grad)
        details = {"expected": number, "actual": data}
        assert_is_number(data, "a", "data", **details)
        if data != number:
            fail("{name}.data is wrong", facts={"name": "a"}, **details)
        if not is_number(grad) or grad != 0.0:
            message = "before backward {name}.grad should be 0.0"
            fail(message, expected=0.0, actual=grad, facts={"name": "a"})


@check(points=0.25, about="Value", at="Value.__add__")
def test_sums(student, draw):
    """sums and their derivatives are right"""
    leaves = numbers(draw)
    judge_roughly(student, "root = a + b", **leaves)
    assert_plain_python(student, clears=False)
    judge_roughly(student, "s = a + b; root = s + c", **leaves)
    leaves["b"] *= 1e12  # differences of two roots would be lost in rounding
    judge_roughly(student, "s = a + b; root = s + c", **leaves)


@check(points=0.5, about="Value", at="Value.__mul__")
def test_products(student, draw):
    """products and their derivatives are right"""
    leaves = numbers(draw)
    judge_roughly(student, "root = a * b", **leaves)
    judge_roughly(student, "root = a * b", a=-0.05, b=40.0)  # derivatives of every size
    judge_roughly(student, "s = a * b; root = s * c", "s = a * b; root = c * s", **leaves)
    for size in (1.0, 1e12):
        leaves["b"] *= size
        judge_roughly(student, "s = a + b; root = s * c", at="Value.backward", **leaves)


@check(points=0.25, about="Value", at="Value.__sub__")
def test_differences(student, draw):
    """differences and negatives are right"""
    leaves = numbers(draw)
    judge_roughly(student, "root = -a", "root = a - b", "s = a - b; root = -s - c", **leaves)
    for size in (1.0, 1e12):
        leaves["b"] *= size
        judge_roughly(student, "s = a - b; root = s - c", **leaves)


@check(points=0.25, about="Value", at="Value.tanh")
def test_tanh(student, draw):
    """tanh and its derivative are right, also at ±1000"""
    for a in (draw.number(0.2, 0.9), draw.number(1.1, 1.5), draw.number(-1.5, -0.2)):
        judge(student, "root = a.tanh()", "s = a.tanh(); root = s.tanh()", a=a)
    judge(student, "s = a.tanh(); root = s * b", a=-2.0, b=0.05)
    judge(student, "s = a.tanh(); root = s * b", a=0.5, b=40.0)
    for a in (0, 1000.0, -1000.0):  # exp(1000) is too large for a float, tanh(1000) is 1.0
        judge(student, "root = a.tanh()", a=a)


@check(points=0.25, about="Value", at="Value.exp")
def test_exponential_and_logarithm(student, draw):
    """exp, log and their derivatives are right"""
    for a, b in (
        (draw.number(-2.0, -0.2), draw.number(0.2, 0.9)),
        (draw.number(0.2, 2.0), draw.number(1.1, 4.0)),
    ):
        judge(student, "root = a.exp()", "s = a.exp(); root = s.exp()", a=a)
        judge(student, "root = b.log()", "s = b.log(); t = s * c; root = t.exp()", b=b, c=5.0)
    for a in (0, -3.0, -1000.0, 709.0):  # exp(709) is nearly the largest float
        judge(student, "root = a.exp()", a=a)
    for b in (1e-200, 40.0):
        judge(student, "root = b.log()", b=b)


@check(points=0.25, about="Value", at="Value.backward", needs=(test_sums, test_products))
def test_a_square_of_a_sum(student):
    """(w x + b)² gives 42, 28 and 14; (2x + 3)² gives 20"""
    judge_roughly(student, "z = w * x; y = z + b; root = y ** 2", x=2.0, w=3.0, b=1.0)
    judge_roughly(student, "y = x * 2; z = y + 3; root = z ** 2", x=1.0)


@check(points=0.5, about="Value", at="Value.backward", needs=(test_sums, test_products))
def test_a_value_used_twice(student, draw):
    """a Value that is used twice gets both gradients"""
    texts = ("root = a + a", "root = a * a", "s = a * b; root = s + a")
    judge_roughly(student, *texts, "s = a + b; t = s * s; root = t * b", **numbers(draw))


# --------------------------------------------------------------------------------------- zero_grad


SHARED = "s = a + b; t = s * c; u = b + d; v = t + s; w = v * u"


def filled(draw, lines):
    """A drawn grad for every name."""
    return {name: draw.number() for name in lines.names}


@check(points=0.75, about="zero_grad")
def test_every_value_below_is_cleared(student, draw):
    """zero_grad clears root and every Value below it"""
    lines = Expression(SHARED, {name: draw.number(digits=None) for name in "abcd"})
    judge_cleared(student, lines, "w", filled(draw, lines))
    judge_cleared(student, lines, "v", filled(draw, lines))
    assert_plain_python(student, clears=True)


@check(points=0.25, about="zero_grad", needs=test_every_value_below_is_cleared)
def test_what_backward_left_is_cleared(student, draw):
    """zero_grad clears 0.6, 0.008 and 1, also a second time"""
    lines = Expression("y = x * x * x; z = y + y", {"x": 5.0})
    judge_cleared(student, lines, "z", {"x": 0.6, "y": 0.008, "z": 1.0})
    judge_cleared(student, lines, "z", filled(draw, lines), backward=True)
    judge_cleared(student, lines, "z", filled(draw, lines), calls=2)


# hidden


SIMPLE = (test_sums, test_products)
"""Without these, a check of expressions says nothing new."""
LENGTH, DOUBLINGS, BUDGET = 10_000, 40, 400_000
"""Operations of the deep chain, those with two paths, and the lines that these may take."""
LONG = (
    """t1 = a * b; t2 = t1 + c; t3 = t2.tanh(); t4 = t3 * t1 - d; t5 = t4.exp(); t6 = t5 / c
    t7 = t6.log(); t8 = t7 * t7 + t6 ** 0.5; t9 = 2 - t8; t10 = c.relu() * t9 + b
    t11 = t10 * t5; t12 = t10 * t5; root = t11 - t12 * t2 + t7""",
    """t1 = c ** 3; t2 = 3 / t1; t3 = t2 - a; t4 = -t3; t5 = t4 * t2 + 1.5; t6 = t3 * t5
    t7 = t3 * t5; t8 = t6 + t7 * d; t9 = (t8 * 0.5).tanh(); t10 = t9 * t9 + t8
    root = 2 * t10 - b / t1 + d ** 2""",
    """t1 = b ** -1; t2 = t1 - d; t3 = t2 / b; t4 = t3 * t3 + t1; t5 = t4 * c; t6 = t5 + t3
    t7 = t6 * t5; t8 = a - t7; root = t8 * t6 + 0.25 * a.log()""",
)
"""Expressions in which every operation occurs and results are shared, for the leaves of
``numbers``.
"""
OPERATIONS = (
    "a + 0, 0 + a, a - 0, 0 - a, a * 1, 1 * a, a / 1, 1 / a, a / a, a ** 1, a ** 2, a ** 0, -a,"
    " a.exp(), a.log(), a.tanh(), a.relu(), a + b, b + a, a - b, a * b, b * a, a / b"
).split(", ")
"""Each operation; with a number where it could be left out."""


@check(points=0.25, about="Value", at="Value.__truediv__")
def test_quotients(student, draw):
    """quotients and both of their derivatives are right"""
    leaves = numbers(draw)
    for a, b in ((leaves["b"], leaves["d"]), (leaves["b"], leaves["c"]), (0.3, -20.0), (20.0, 0.3)):
        judge(student, "root = a / b", a=a, b=b)
    judge(student, "s = b / c; root = s / d", "s = b / c; root = d / s", "root = c / c", **leaves)
    for size in (1.0, 1e12):
        leaves["d"] *= size
        judge(student, "s = b + d; root = s / c", at="Value.backward", **leaves)


@check(points=0.25, about="Value", at="Value.__pow__")
def test_powers(student, draw):
    """any exponent works: whole, fractional, negative, zero"""
    small = draw.number(0.3, 0.9, digits=4)
    fractions = 0.5, 2.5, -1.5, draw.number(0.2, 3.0)
    for exponents, sign in (((2, 3, -1, -2, 1, 0, 3.0), -1), ((2, -3, *fractions), 1)):
        for n in exponents:
            text = f"p = a ** {n}; q = b ** {n}; root = p + q"
            judge(student, text, a=sign * small, b=sign * (small + 1.0))
    judge(student, "p = a ** 3; q = b ** 2; root = p + q", a=-3.0, b=0.05)
    judge(student, "s = a ** 3; root = s ** 2", a=draw.number(-1.5, -0.3))


@check(points=0.25, about="Value", needs=SIMPLE)
def test_plain_numbers_on_either_side(student, draw):
    """plain numbers work on either side of + - * /"""
    for number in (draw.integer(2, 9), draw.number(0.3, 3.0), draw.integer(-9, -2)):
        for sign in "+-*/":
            judge_roughly(student, f"root = {number} {sign} a", a=draw.number(0.3, 2.0))
            judge_roughly(student, f"root = a {sign} {number}", a=draw.number(-2.0, -0.3))
    for formula in ("0 - a", "0 + a", "a - 0", "0 * a", "a * 0", "0 / a"):
        judge_roughly(student, f"root = {formula}", a=draw.number(0.3, 2.0))
    judge_roughly(student, "s = 1 - a; t = 2 / s; root = 3 * t + 1", a=draw.integer(2, 5))


@check(points=0.25, about="Value", at="Value.relu")
def test_relu_on_both_sides(student, draw):
    """relu is right on both sides of zero"""
    for bounds in ((0.2, 0.9), (1.2, 2.0), (-0.9, -0.2), (-2.0, -1.2)):
        a = draw.number(*bounds)
        judge_roughly(student, "root = a.relu()", "s = a * b; root = s.relu()", a=a, b=3.0)
        for size in (1.0, 1e12):
            judge_roughly(student, "s = a.relu(); root = s + b", a=a, b=draw.number() * size)
        if a > 0:
            judge_roughly(student, "s = a.relu(); root = s * b", a=a, b=draw.number(1.1, 2.0))


@check(points=0.5, about="Value", needs=SIMPLE)
def test_zero_is_a_number(student, draw):
    """operations and derivatives are right at zero"""
    b = draw.number(0.3, 2.0)
    judge_roughly(student, "root = a ** 2", "root = a ** 3", "root = a ** 1", a=0)
    judge_roughly(
        student,
        *("root = a * b", "root = b * a", "root = a + b", "root = a / b"),
        *("s = a * b; root = s * c", "s = a + b; root = c * s"),
        *("t = b * c; u = t * a; root = u + t", "t = b * c; u = t * a; root = t + u"),
        **{"a": 0.0, "b": b, "c": b + 1.0},
    )


@check(points=0.5, about="Value", needs=SIMPLE)
def test_each_operation_returns_a_new_value(student, draw):
    """each operation returns a new Value and changes no input"""
    for operation in OPERATIONS:  # each of them twice, and both results are new
        neutral = 1.0 if "*" in operation or "/" in operation else 0.0
        leaves = {"a": draw.number(0.3, 2.0), "b": neutral}
        lines = Expression(f"p = {operation}; root = {operation}", leaves)
        held = {name: draw.number() for name in lines.leaves}
        draw.given(**lines.inputs)
        # what raises or returns no Value is judged where the operation is
        with contextlib.suppress(StudentCodeError):
            assert_new(lines, evaluate(student, lines, held), held)


def assert_new(lines, values, held):
    """Each step must be a new Value, and data and grad of the leaves as they were."""
    pairs = [(one, other) for other, one in combinations(lines.names, 2) if one in lines.steps]
    same = {pair: is_same(*(values[name] for name in pair)) for pair in pairs}
    same, data, grad = fetch([same, read(values, "data"), read(values, "grad")])
    for (name, other), itself in same.items():
        if itself:
            facts = {"formula": lines.steps[name], "name": other}
            fail("{formula} returned {name} itself, not a new Value", facts=facts)
    for what, got, wanted in (("data", data, lines.leaves), ("grad", grad, held)):
        for name, want in wanted.items():
            if not close(got[name], want, factor=ROUGH):
                facts, message = {"name": name, "what": what}, "an operation changed {name}.{what}"
                fail(message, expected=want, actual=got[name], facts=facts)


# --------------------------------------------------------------------------------- the whole graph


@check(points=0.5, about="Value", at="Value.backward", needs=test_a_value_used_twice)
def test_every_contribution_before_going_on(student, draw):
    """a node passes its gradient on after all of it has arrived"""
    t_and_u, v, w = "t = a * b; u = t * c", "v = u * d", "v = u * t; w = v + u"
    texts = [f"{t_and_u}; root = {root}" for root in ("t + u", "u + t", "t * u", "u * t")]
    texts += [f"{t_and_u}; {v}; root = {root}" for root in ("v + t * t", "t * t + v")]
    texts += [f"t = a + b; u = t * c; {w}; root = {root}" for root in ("v * t + w", "w + t * v")]
    judge_roughly(student, *texts, **numbers(draw))


@check(points=0.5, about="Value", at="Value.backward", needs=SIMPLE)
def test_equal_values_are_two(student, draw):
    """two Values with equal data are two nodes"""
    a, b, c = (number / 4 for number in draw.sample([1, 2, 5, 7], 3))
    judge_roughly(student, "root = a * b", a=a, b=a)
    judge_roughly(student, "s = a + b; t = c + d; root = s * t", a=a, b=b, c=a + b - c, d=c)
    judge_roughly(student, "s = a * c; t = b * c; u = s * d; root = u + t", a=a, b=a, c=c, d=b)
    judge_roughly(student, "t = a * b; u = t * d; root = u * c", a=a, b=b, c=c, d=1.0)


@check(points=0.5, about="Value", at="Value.backward", needs=SIMPLE)
def test_gradients_of_two_results_add_up(student, draw):
    """gradients of two results add up"""
    leaves = numbers(draw)
    judge_roughly(student, "p = a * b; q = a * c", roots="pq", **leaves)
    judge_roughly(student, "p = a * b; q = a + b; r = b * d", roots="pqr", **leaves)


@check(points=0.25, about="Value", at="Value.backward", needs=test_a_value_used_twice)
def test_long_expressions(student, draw):
    """long expressions agree with torch"""
    for text in LONG:
        judge(student, text, **numbers(draw))


# ------------------------------------------------------------------------------------------ chains


@contextlib.contextmanager
def chained(student, draw, formulas, rounds, **leaves):
    """A block with the leaves by name, x first, and all Values that the formulas of x give in
    turn.
    """
    text = f"{rounds} × ({'; '.join(f'x = {formula}' for formula in formulas)})"
    draw.given(expression=text, **leaves)
    values = {name: student.Value(number) for name, number in leaves.items()}
    with showing(text):
        yield values, chain(formulas, rounds, **values)


def judge_work(student, root, function):
    """backward, or zero_grad, on a Value with many paths must not take many lines of Python."""
    if student.observe("lines_run", root, function == "zero_grad", BUDGET) is None:
        facts = {"function": function, "budget": f"{BUDGET:,}", "count": DOUBLINGS}
        message = "{function} was not done after {budget} lines of Python, for {count} doublings"
        fail(message, facts=facts)


def judge_cleared_chain(nodes, values, places, grad, clear):
    """``clear`` must set the grads of the leaves and of the nodes at some places to 0."""
    some = [*values.values(), *(nodes[place] for place in places)]
    for node in some:
        node.grad = grad
    clear(nodes[-1])
    grads, left = fetch(read(values, "grad"), [node.grad for node in some])
    if any(grad != 0 for grad in left):
        message = "zero_grad did not clear all grads of the chain"
        fail(message, expected=dict.fromkeys(grads, 0.0), actual=grads)


@check(points=0.5, about="Value", at="Value.backward", needs=SIMPLE)
def test_deep_chains(student, draw):
    """backward works for a chain of ten thousand nodes"""
    x, c, d = draw.number(), 1.0 + draw.integer(1, 3) * 1e-4, draw.number() * 0.01
    rounds = LENGTH // 2
    slope = c**rounds
    want = slope * x + d * (slope - 1) / (c - 1)
    with chained(student, draw, ["x * c", "x + d"], rounds, x=x, c=c, d=d) as (values, nodes):
        nodes[-1].backward()
        data, grad = fetch(nodes[-1].data, values["x"].grad)
    if not close(data, want, factor=ROUGH):
        fail("the last number of the chain is wrong", expected=want, actual=data)
    if not close(grad, slope, factor=ROUGH):
        message = "{name}.grad is wrong at the end of the chain"
        fail(message, expected=slope, actual=grad, facts={"name": "x"})


@check(points=0.5, about="Value", at="Value.backward", needs=test_a_value_used_twice)
def test_each_node_once(student, draw):
    """backward's work does not grow with the number of paths"""
    x, c = draw.number(), 0.5 + draw.integer(1, 3) * 0.005
    for formulas in (["x + x", "x * c"], ["x * c + x", "x + x * c"]):
        with chained(student, draw, formulas, DOUBLINGS, x=x, c=c) as (_, nodes):
            judge_work(student, nodes[-1], "backward")


# ----------------------------------------------------------------------------------- known numbers


def known(student, text, **leaves):
    """An expression whose gradients are written down somewhere. The leaves have their number and
    their gradient: the truth must be that, and what comes back too.
    """
    numbers = {name: number for name, (number, _) in leaves.items()}
    lines = Expression(text, numbers)
    truth = lines.gradients(lines.names[-1:])
    for name, (_, gradient) in leaves.items():
        assert abs(truth[name] - gradient) < 6e-5, (text, name, truth[name], gradient)
    judge_roughly(student, text, **numbers)


@check(points=0.25, about="Value", needs=SIMPLE)
def test_known_logarithms(student):
    """log(x³) and log(x^q): 0.6, 0.008, 1 and 1.6094"""
    known(student, "y = x ** 3; z = y.log()", x=(5.0, 0.6))
    known(student, "z = y.log()", y=(125.0, 0.008))
    known(student, "", z=(4.8283, 1.0))
    known(student, "p = x.log(); y = (q * p).exp(); z = y.log()", x=(5.0, 0.6), q=(3.0, 1.6094))


@check(points=0.25, about="Value", needs=test_a_value_used_twice)
def test_known_sums(student):
    """log(x³) + √(x²) gives 1.6, a dot product gives 74"""
    known(student, "y = x ** 3; w = x ** 2; z = y.log() + w ** 0.5", x=(5.0, 1.6))
    known(student, "z = y.log() + w ** 0.5", y=(125.0, 0.008), w=(25.0, 0.1))
    dot = "z = y1 * 4 + y2 * 7 + y3 * 9"
    known(student, f"y1 = x * 2; y2 = x * 3; y3 = x * 5; {dot}", x=(5.0, 74.0))
    known(student, dot, y1=(10.0, 4.0), y2=(15.0, 7.0), y3=(25.0, 9.0))


@check(points=0.25, about="Value", needs=SIMPLE)
def test_known_bills(student):
    """the shopping bill: the gradients of every price and number"""
    text = "price = apple * num; result = price * ctax"
    known(student, text, apple=(100.0, 2.2), num=(2.0, 110.0), ctax=(1.1, 200.0))
    known(student, "result = price * ctax", price=(200.0, 1.1), ctax=(1.1, 200.0))
    known(student, "result = price * ctax", price=(650.0, 1.1), ctax=(1.1, 650.0))
    end = "price = apples + tangerines; result = price * ctax"
    known(student, end, apples=(200.0, 1.1), tangerines=(450.0, 1.1), ctax=(1.1, 650.0))
    known(
        student,
        f"apples = apple * num; tangerines = tangerine * num2; {end}",
        apple=(100.0, 2.2),
        num=(2.0, 110.0),
        tangerine=(150.0, 3.3),
        num2=(3.0, 165.0),
        ctax=(1.1, 650.0),
    )


# --------------------------------------------------------------------------------------- zero_grad


@check(points=0.25, about="zero_grad", needs=test_every_value_below_is_cleared)
def test_other_values_are_left(student, draw):
    """zero_grad leaves other Values and all data alone"""
    lines = Expression(SHARED, numbers(draw))
    for root in ("w", "v", "a"):
        judge_cleared(student, lines, root, filled(draw, lines), others=True)


@check(points=0.25, about="zero_grad", needs=test_every_value_below_is_cleared)
def test_equal_values_are_all_cleared(student, draw):
    """zero_grad clears Values with equal data"""
    a, b = (draw.integer(1, 7) / 4 for _ in range(2))
    for text, leaves in (
        ("s = a + c; t = b + d; u = s * t", {"a": a, "b": a, "c": b, "d": b}),
        ("s = a * d; t = s * e; u = t * c", {"a": a, "c": b, "d": b, "e": 1.0}),
        # what was cut to 0 came from a
        ("s = a.relu(); t = b.relu(); u = s + t", {"a": -a, "b": -b}),
    ):
        lines = Expression(text, leaves)
        judge_cleared(student, lines, "u", filled(draw, lines))


@check(points=0.25, about="zero_grad", needs=test_every_value_below_is_cleared)
def test_deep_chains_are_cleared(student, draw):
    """zero_grad works for a chain of ten thousand nodes"""
    x, d = draw.number(), draw.number() * 0.01
    places = [*range(20), *draw.sample(range(20, LENGTH - 20), 60), *range(-20, 0)]
    parts = ["x * c", "x + d"]
    with chained(student, draw, parts, LENGTH // 2, x=x, c=1.0, d=d) as (values, nodes):
        judge_cleared_chain(nodes, values, places, draw.number(), student.zero_grad)


@check(points=0.25, about="zero_grad", needs=test_every_value_below_is_cleared)
def test_shared_values_are_cleared_once(student, draw):
    """zero_grad's work does not grow with the number of paths"""
    parts = ["x + x * c", "x * c"]  # not x + x: in a set x and x are one
    places, counted = range(2 * DOUBLINGS + 1), partial(judge_work, student, function="zero_grad")
    with chained(student, draw, parts, DOUBLINGS, x=draw.number(), c=1.0) as (values, nodes):
        judge_cleared_chain(nodes, values, places, draw.number(), counted)
