"""tiny_autograd, what its visible and hidden checks share.

An expression is written down as text, which is Python as it stands: the student's Values are put
into it on one side, float64 tensors on the other, and torch's gradients are the truth. The text is
what a message shows, ready to be pasted.
"""

import contextlib
import functools
import math
import re
from dataclasses import dataclass
from functools import partial

import torch

from grader.authoring import (
    Opaque,
    StudentCodeError,
    fail,
    fetch,
    graphs_figure,
    is_number,
    is_same,
    short_repr,
    trace,
    type_name,
)

BANNED = ("Value", "zero_grad")
MOST_DRAWN = 200
"""Values, or pairs of them, in a picture."""
RELATIVE, ABSOLUTE, ROUGH = 1e-10, 1e-11, 1e4
"""Tolerances of float64 arithmetic, whatever the order of the operations; differences of two values
come nowhere near. A check on which others wait multiplies them by ``ROUGH``: digits are judged for
each operation.
"""


@dataclass(frozen=True)
class Expression:
    """Lines of the form ``name = formula``, and the numbers of the leaves in them."""

    leaves: dict[str, float]
    steps: tuple[tuple[str, str], ...]

    @functools.cached_property
    def shown(self):
        """The lines as one."""
        return "; ".join(f"{name} = {text}" for name, text in self.steps)

    @property
    def inputs(self):
        """What a message shows."""
        return {"expression": self.shown, **self.leaves} if self.steps else dict(self.leaves)

    def tensors(self):
        """All names with their tensors."""
        names = {
            name: torch.tensor(float(number), dtype=torch.float64, requires_grad=True)
            for name, number in self.leaves.items()
        }
        for name, text in self.steps:
            names[name] = eval(text, {}, names)
        return names

    def gradients(self, *roots):
        """The sum over the roots of the gradients with respect to each leaf, as plain numbers."""
        names, sums = self.tensors(), dict.fromkeys(self.leaves, 0.0)
        for root in roots:
            found = torch.autograd.grad(
                names[root],
                [names[leaf] for leaf in self.leaves],
                retain_graph=True,
                allow_unused=True,
            )
            for leaf, grad in zip(self.leaves, found, strict=True):
                sums[leaf] += 0.0 if grad is None else float(grad)
        return sums


def expression(text, **leaves):
    """An Expression from its lines, with those of the leaves that occur in it."""
    steps = tuple(tuple(line.strip().split(" = ", 1)) for line in text.strip().splitlines())
    words = set(re.findall(r"\w+", text))
    return Expression({name: leaves[name] for name in leaves if name in words or not steps}, steps)


def close(actual, expected, scale=1.0, factor=1.0):
    """Whether two numbers are the same up to rounding; scale is the size of what was added up on
    the way, and factor is that of the tolerances.
    """
    absolute = ABSOLUTE * max(1.0, scale) * factor
    return is_number(actual) and math.isclose(
        actual, expected, rel_tol=RELATIVE * factor, abs_tol=absolute
    )


def plain_python(student, asked, scenario, *args):
    """What a scenario measured, once it is sure that no torch was in it."""
    no_torch_named(student)
    with showing(asked):
        seen = student.observe(scenario, *args)
    if seen["operators"]:
        facts = {"operators": ", ".join(seen["operators"])}
        fail(
            "torch ran here ({operators}): this lesson is plain Python, without torch", facts=facts
        )
    return seen


def no_torch_named(student):
    """The file must not name torch."""
    used = student.source.names_used(*BANNED)
    for name, line in used.items():
        if name.partition(".")[0] == "torch":
            fail(
                "line {line} uses {used}: this lesson is plain Python, without torch",
                facts={"used": name, "line": line},
                line=line,
            )


@contextlib.contextmanager
def showing(asked):
    """A block in which an exception of the student's code also tells the expression."""
    try:
        yield
    except StudentCodeError as error:
        error.args = (f"{error}   [{asked}]",)
        raise


# ------------------------------------------------------------------- the Values, driven

NO_VALUES = {"NotImplementedType", "function", "method", "type"}
"""Types of results that can't stand in for a Value, beside plain data and tensors."""


def evaluate(student, leaves, steps, held=None):
    """All names with their Values, and the name and type of the first step's result that is none,
    else None. Grads in ``held`` are set on the leaves before the first step.
    """
    names = {name: student.Value(data) for name, data in leaves.items()}
    for name, grad in (held or {}).items():
        names[name].grad = grad
    for name, text in steps:
        names[name] = eval(text, {}, names)
    for name, value in zip(names, fetch(*names.values(), None), strict=False):
        is_object = isinstance(value, Opaque) or hasattr(value, "backward")
        if not is_object or isinstance(value, torch.Tensor) or type_name(value) in NO_VALUES:
            return names, [name, type_name(value)]
    return names, None


def read(names, attribute):
    """An attribute of each Value, as it is now; fetched with ``fetched``."""
    return {name: getattr(value, attribute) for name, value in names.items()}


def fetched(groups):
    """Dictionaries of remote values with what they hold, all in one frame."""
    flat = iter(fetch(*(value for group in groups.values() for value in group.values()), None))
    return {key: {name: next(flat) for name in group} for key, group in groups.items()}


def numbers(draw):
    """Four numbers of either sign and size: 0.3 to 0.9, -1.9 to -1.1, 1.1 to 1.9, -0.9 to -0.3."""
    bounds = (0.3, 0.9), (-1.9, -1.1), (1.1, 1.9), (-0.9, -0.3)
    return [draw.number(low, high, digits=4) for low, high in bounds]


def run(student, leaves, steps, roots, given=None):
    """The data of every step, and of the leaves data and grad, after backward of each root in turn.

    Grads that are given by name are set before backward.
    """
    names, odd = evaluate(student, leaves, steps)
    if odd is not None:
        return {"odd": odd}
    for name, grad in (given or {}).items():
        names[name].grad = grad
    only_leaves = {name: names[name] for name in leaves}
    groups = {"data": read(names, "data")}
    for root in roots:
        names[root].backward()
    groups |= {"grads": read(only_leaves, "grad"), "after": read(names, "data")}
    return {"odd": None, **fetched(groups)}


def cleared(student, leaves, steps, root, filled, backward=False, calls=1):
    """The grads of all names after that many calls of zero_grad, each after they were set to the
    numbers of filled, and after backward where it is asked for; None if that raises, which other
    checks judge.
    """
    names, odd = evaluate(student, leaves, steps)
    if odd is not None:
        return {"odd": odd}
    if backward:
        try:
            names[root].backward()
            fetch(names[root].data, None)
        except StudentCodeError:
            return None
    groups = {"before": read(names, "data")}
    for _ in range(calls):
        for name, grad in filled.items():
            names[name].grad = grad
        student.zero_grad(names[root])
    groups |= {"grads": read(names, "grad"), "after": read(names, "data")}
    return {"odd": None, **fetched(groups)}


def chain(student, texts, count, leaves, filled=None):
    """The texts in turn, count steps on x in all; then backward, or zero_grad where the grads of
    some nodes all along were filled before.
    """
    names = {name: student.Value(data) for name, data in leaves.items()}
    codes = [compile(text, "", "eval") for text in texts] * (count // len(texts))
    nodes = [names["x"]]
    for code in codes:
        nodes.append(eval(code, {}, {**names, "x": nodes[-1]}))
    last, some = nodes[-1], [*nodes[:20], *nodes[20:-20:7], *nodes[-20:]]
    if filled is None:
        last.backward()
    else:
        for node in [*names.values(), *some]:
            node.grad = filled
        student.zero_grad(last)
    seen = fetched({"grads": read(names, "grad"), "last": {"data": last.data}})
    left = [] if filled is None else fetch(*(node.grad for node in some))
    return {**seen, "data": seen["last"]["data"], "left": [grad for grad in left if grad != 0.0]}


def no_odd_step(seen, steps, **details):
    """Every step's result must be a Value."""
    if seen["odd"] is not None:
        name, kind = seen["odd"]
        facts = {**details.pop("facts", {}), "step": f"{name} = {dict(steps)[name]}", "type": kind}
        fail("{step} returned {type}, expected a Value", facts=facts, **details)


def judge_plain_python(student, filled=None):
    """No operator of torch may run while a sum is computed and derived, or its grads, which were
    filled before, are cleared.
    """
    plain_python(student, "x + c", "repeated", {"x": 2.0, "c": 3.0}, ["x + c"], 1, None, filled)


def judge_new(student, data):
    """A Value that was just made holds its number, and a gradient of 0.0."""
    no_torch_named(student)
    value = student.Value(data)
    details = {"inputs": {"a": data}, "facts": {"name": "a"}}
    held, grad = fetch(value.data, value.grad)
    details["facts"]["type"] = type_name(held)
    if not isinstance(held, int | float):
        fail(
            "{name}.data is of type {type}, expected a number",
            expected=data,
            actual=held,
            **details,
        )
    if held != data:
        fail("{name}.data is wrong", expected=data, actual=held, **details)
    if not is_number(grad) or grad != 0.0:
        fail("before backward {name}.grad should be 0.0", expected=0.0, actual=grad, **details)


def judge_inputs(student, lines, draw):
    """Each step must return a new Value and leave data and grad of the leaves alone. What raises
    or returns no Value is judged where the operation is.
    """
    no_torch_named(student)
    held = {name: draw.number() for name in lines.leaves}
    try:
        names, odd = evaluate(student, lines.leaves, lines.steps, held)
    except StudentCodeError:
        return
    if odd is not None:
        return
    leaves = {name: names[name] for name in lines.leaves}
    known, steps = [*lines.leaves, *(name for name, _ in lines.steps)], dict(lines.steps)
    pairs = [(name, one) for name in steps for one in known[: known.index(name)]]
    same = {pair: is_same(*(names[name] for name in pair)) for pair in pairs}
    seen = fetched({"data": read(leaves, "data"), "grad": read(leaves, "grad"), "same": same})
    for (name, other), itself in seen["same"].items():
        if itself:
            kind = "input" if other in lines.leaves else "earlier"
            facts = {"lines": lines, "formula": steps[name], "name": other, kind: other}
            message = "{formula} returned {name} itself, not a new Value"
            fail(message, inputs=lines.inputs, facts=facts)
    for what, wanted in (("data", lines.leaves), ("grad", held)):
        for name, number in wanted.items():
            got, facts = seen[what][name], {"name": name, "what": what}
            if not close(got, number, factor=ROUGH):
                message = "an operation changed {name}.{what}"
                fail(message, expected=number, actual=got, inputs=lines.inputs, facts=facts)


def judge(student, lines, *roots, factor=1.0):
    """Data, and gradients of the roots one after the other, must be torch's; no data may change.
    factor is that of the tolerances.
    """
    roots = roots or (lines.steps[-1][0] if lines.steps else next(iter(lines.leaves)),)
    no_torch_named(student)
    with showing(lines.shown):
        seen = run(student, lines.leaves, lines.steps, roots)
    facts = {
        "lines": lines,
        "seen": seen,
        "factor": factor,
        "roots": roots,
        "root": ", ".join(roots),
        "truth": lines.gradients(*roots),
    }
    no_odd_step(seen, lines.steps, inputs=lines.inputs, facts=facts)
    judge_data(seen, lines, facts, partial(drawn, student, lines, roots, "data"))
    judge_gradients(seen, lines, facts, partial(drawn, student, lines, roots, "grad"))


def judge_data(seen, lines, facts, figure):
    """Every step's number, before backward and after it."""
    want = {name: float(tensor.detach()) for name, tensor in lines.tensors().items()}
    for name in (*lines.leaves, *dict(lines.steps)):
        told = {**facts, "name": name, "type": type_name(seen["data"][name])}
        details = {
            "expected": want[name],
            "actual": seen["data"][name],
            "inputs": lines.inputs,
            "facts": told,
            "figures": [figure],
        }
        if not isinstance(seen["data"][name], int | float):
            fail("{name}.data is of type {type}, expected a number", **details)
        if not close(seen["data"][name], want[name], factor=facts["factor"]):
            fail("{name}.data is wrong", **details)
        if not close(seen["after"][name], want[name], factor=facts["factor"]):
            fail("backward changed {name}.data", **{**details, "actual": seen["after"][name]})


def judge_gradients(seen, lines, facts, figure):
    """The leaves' grads against the truth."""
    want, got = facts["truth"], seen["grads"]
    scale = min(1e3, max(abs(number) for number in want.values()))
    for name in lines.leaves:
        told = {
            **facts,
            "name": name,
            "type": type_name(got[name]),
            "got": got[name],
            "wanted": want[name],
        }
        details = {
            "expected": want,
            "actual": got,
            "inputs": lines.inputs,
            "facts": told,
            "figures": [figure],
        }
        if not isinstance(got[name], int | float):
            fail("{name}.grad is of type {type}, expected a number", **details)
        if not close(got[name], want[name], scale, facts["factor"]):
            fail("{name}.grad is {got} after backward from {root}, expected {wanted}", **details)


def judge_cleared(student, lines, root, draw, filled=None, backward=False, calls=1, others=False):
    """zero_grad(root) must clear what root was computed from, and, if ``others``, leave everything
    else.
    """
    names = [*lines.leaves, *dict(lines.steps)]
    filled = filled or {name: draw.number() for name in names}
    no_torch_named(student)
    with showing(lines.shown):
        seen = cleared(student, lines.leaves, lines.steps, root, filled, backward, calls)
    if seen is None:
        return
    below = reached(lines, root)
    inputs = {**lines.inputs, "root": root}
    want = {name: 0.0 if name in below else filled[name] for name in names}
    no_odd_step(seen, lines.steps, inputs=inputs)
    got = seen["grads"]
    figures = [partial(drawn, student, lines, [root], "grad", filled, want)]
    for name in names if others else sorted(below, key=names.index):
        facts = {
            "name": name,
            "root": root,
            "backward": backward,
            "type": type_name(got[name]),
            "seen": seen,
            "filled": filled,
            "below": sorted(below),
        }
        details = {
            "expected": want,
            "actual": got,
            "inputs": inputs,
            "facts": {**facts, "lines": lines},
            "figures": figures,
        }
        if not isinstance(got[name], int | float):
            fail(
                "after zero_grad({root}) {name}.grad is of type {type}, expected a number",
                **details,
            )
        if name in below and got[name] != 0 and calls > 1:
            details["facts"]["calls"] = calls
            fail("zero_grad({root}), called again, did not clear {name}.grad", **details)
        if name in below and got[name] != 0:
            fail(
                "zero_grad({root}) did not clear {name}.grad, although {root} was computed from"
                " {name}",
                **details,
            )
        if name not in below and got[name] != want[name]:
            fail(
                "zero_grad({root}) changed {name}.grad, although {root} was not computed from"
                " {name}",
                **details,
            )
        if seen["after"][name] != seen["before"][name]:
            fail("zero_grad({root}) changed {name}.data", **details)


def reached(lines, root):
    """The names that root was computed from, and root."""
    below = {root}
    for name, text in reversed(lines.steps):
        if name in below:
            below |= set(compile(text, "", "eval").co_names)
    return below & {*lines.leaves, *dict(lines.steps)}


# ----------------------------------------------------------------------------------------- pictures


def drawn(student, lines, roots, what, filled=None, want=None):
    """The Values behind the last step beside the tensors of the same names; at each ``what`` it
    holds, and where they differ first.

    An engine may make Values of its own on the way and keep its graph where it likes, so only what
    has a name is compared: what is held, and from which names it was computed. ``want`` is what
    should be held; by default it is what torch has.
    """
    tensors = lines.tensors()
    wanted = want or truths(lines, roots, what, tensors)
    seen = student.observe(
        "graph", lines.leaves, [list(step) for step in lines.steps], list(roots), filled
    )
    if max(map(len, seen.values())) > MOST_DRAWN:
        return None
    held = {name: node[what] for node in seen["nodes"] for name in node["names"]}
    at = differing(lines, wanted, held, named_sources(seen), strict=want is not None)
    notes = [
        {name: f"{what} = {shown(value)}" for name, value in values.items()}
        for values in (held, wanted)
    ]
    mine = as_picture(seen, lines, what) if seen["pairs"] else None
    theirs = trace(tensors[lines.steps[-1][0]], tensors)
    for node in theirs["nodes"]:
        node[
            "saved"
            # what torch keeps, and what it freed for these gradients, is no matter of an engine's
            # own
        ] = []
    return graphs_figure(mine, theirs, notes=tuple(notes), at=at)


def truths(lines, roots, what, tensors):
    """By name the data, or the gradients of the roots."""
    if what == "data":
        return {name: float(tensor.detach()) for name, tensor in tensors.items()}
    found = torch.autograd.grad(
        [tensors[root] for root in roots], list(tensors.values()), allow_unused=True
    )
    return {
        name: 0.0 if grad is None else float(grad)
        for name, grad in zip(tensors, found, strict=True)
    }


def differing(lines, wanted, held, sources, *, strict):
    """The first name, from the end on, that was computed from others than it says or holds another
    number; None where there is none.

    What an intermediate result holds is its own affair as long as it is zero, unless ``strict``.
    """
    linked = any(sources.values())
    for name in [*reversed(dict(lines.steps)), *lines.leaves]:
        text = dict(lines.steps).get(name, "0")
        if (
            linked
            and name in sources
            and sources[name] != set(compile(text, "", "eval").co_names) & set(wanted)
        ):
            return name
        kept = strict or name in lines.leaves or held.get(name, 0.0) != 0.0
        if name in held and kept and not close(held[name], wanted[name]):
            return name
    return None


def named_sources(seen):
    """Of each name, the nearest names behind it."""
    behind = {place: [] for place in range(len(seen["nodes"]))}
    for place, other in seen["pairs"]:
        behind[place].append(other)
    found = {}
    for place, node in enumerate(seen["nodes"]):
        waiting, met, names = list(behind[place]), set(), set()
        while waiting:
            other = waiting.pop()
            if other not in met:
                met.add(other)
                names |= set(seen["nodes"][other]["names"])
                waiting += [] if seen["nodes"][other]["names"] else behind[other]
        found |= dict.fromkeys(node["names"], names)
    return found


def as_picture(seen, lines, what):
    """The Values as a picture's data: a step by its formula, one without a name by what it
    holds.
    """
    steps, slots = dict(lines.steps), {}
    edges = [
        {
            "source": f"n{a}",
            "target": f"n{b}",
            "output": 0,
            "slot": slots.setdefault(a, []).append(b) or len(slots[a]) - 1,
        }
        for a, b in seen["pairs"]
    ]
    nodes = []
    for place, node in enumerate(seen["nodes"]):
        name, text = (
            ", ".join(node["names"]),
            "; ".join(steps[name] for name in node["names"] if name in steps),
        )
        kind = (
            "intermediate" if text else "leaf" if name else "op" if place in slots else "constant"
        )
        number, note = shown(node["data"]), f"{what} = {shown(node[what])}"
        plain = {
            "type": "Value",
            "name": number if kind == "constant" else "",
            "note": note if kind == "op" else "",
        }
        nodes.append(
            {"id": f"n{place}", "kind": kind, **({"type": text, "name": name} if name else plain)}
        )
    return {"nodes": nodes, "edges": edges}


def shown(value):
    """A number in short; of anything else the type."""
    return short_repr(float(value)) if is_number(value) else type_name(value)
