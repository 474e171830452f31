"""forward_mode, rules that recognize mistakes by what came back."""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import Tensor

from grader.authoring import Again, Failure, Student, chain, fetch, formula, methods, rule, same

Facts = dict[str, Any]
NOTHING = torch.tensor(torch.nan, dtype=torch.float64)
"""What a formula of something that the failure does not have gives."""
NAMES = "a b c a1 b1 c1 samples x v t y vJ g H1 Hv".split()


def asked_again(failure: Failure, student: Student) -> Again:
    """Compare what came back with the formulas of diagnosis.toml."""
    names: Facts = {**dict.fromkeys(NAMES, NOTHING), "right": as_tensor(failure.expected)}
    for name, pair in failure.facts.get("leaves", {}).items():
        names[name], names[f"{name}1"] = map(as_tensor, pair)
    given = failure.inputs
    if failure.about == "per_sample_gradients":
        names["samples"] = failure.facts.get("samples", NOTHING)
    elif failure.about == "Cube":
        names |= {"x": given.get("x"), "v": given.get("v"), "t": given.get("x_tangent")}
    elif {"f", "x", "v"} <= given.keys():
        names |= alternatives(given["f"], given["x"].detach(), given["v"])
    names = {name: NOTHING if value is None else value for name, value in names.items()}
    got = as_tensor(failure.actual)
    got = got if got.isfinite().all() else None
    return Again(names=names, right={"value": "right"}, ask={"value": lambda _: got})


def as_tensor(value: object) -> Any:
    """Return numbers as tensors, and NOTHING for what is neither."""
    if isinstance(value, int | float):
        return torch.tensor(value, dtype=torch.float64)
    return value if isinstance(value, Tensor) else NOTHING


def alternatives(f: Any, x: Tensor, v: Tensor) -> Facts:
    """Return what is often computed in place of J v or H v."""
    tools, ones = torch.autograd.functional, torch.ones_like(v)

    def total(x: Tensor) -> Any:
        return f(x).sum()

    names = {"y": f(x).detach(), "v": v, "g": tools.vjp(total, x)[1]}
    names |= {"H1": tools.vhp(total, x, ones)[1], "Hv": tools.vhp(total, x, v)[1]}
    if names["y"].shape == v.shape:
        names["vJ"] = tools.vjp(f, x, v)[1]
    return names


@rule
def equal_values_differ(failure: Failure, student: Student) -> Facts | None:
    """Two Duals of the same numbers are not <= or >=, or are < or >, and the check failed over
    equal values.
    """
    if "text" not in failure.facts or type(failure.actual) is not bool:
        return None
    if failure.facts["a"][0] != failure.facts["b"][0]:
        return None
    one, other = student.Dual(2.0, 1.0), student.Dual(2.0, 1.0)
    texts = ("a <= b", "a >= b", "a < b", "a > b")
    found = fetch([chain([text], 1, a=one, b=other)[-1] for text in texts])
    return {} if found != [True, True, False, False] else None


@rule
def unpacked_after_the_level(failure: Failure, student: Student) -> Facts | None:
    """None or zeros came back, and unpack_dual is called outside of the block of dual_level."""
    got = failure.actual
    nothing = got is None or (isinstance(got, Tensor) and not got.any())
    if failure.error or not nothing:
        return None
    inside: set[ast.AST] = set()
    calls = []
    for node in (node for one in methods(student, failure.about) for node in ast.walk(one)):
        if isinstance(node, ast.With) and "dual_level" in ast.unparse(node.items[0]):
            inside.update(part for line in node.body for part in ast.walk(line))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("unpack_dual"):
            calls.append(node)
    late = [node for node in calls if node not in inside]
    return {"line": late[0].lineno} if late and inside else None


@rule
def tangent_may_be_none(failure: Failure, student: Student) -> Facts | None:
    """None came back where the right result is zero."""
    zero = isinstance(failure.expected, Tensor) and not failure.expected.any()
    return {} if failure.actual is None and zero and not failure.error else None


@rule
def pair_of_jvp(failure: Failure, student: Student) -> Facts | None:
    """H v came back as the second of two."""
    got, wanted = failure.actual, failure.expected
    pair = isinstance(got, tuple | list) and len(got) == 2
    return {} if pair and isinstance(wanted, Tensor) and same(got[1], wanted) else None


@rule
def first_parameter_only(failure: Failure, student: Student) -> Facts | None:
    """One tensor, or a tuple of one, came back where there are several parameters."""
    texts = ("is promised", "elements, expected")
    told = any(text in failure.message for text in texts)
    return {} if told and failure.actual is not None else None


@rule
def batch_of_one(failure: Failure, student: Student) -> Facts | None:
    """The gradients are those of a loss that gets x and y with one dimension more."""
    if failure.about != "per_sample_gradients":
        return None
    loss = formula("(w * x.sum(0)).sum() * y.sum()", "w x y")
    w, xs, ys = (failure.draw.tensor(*shape) for shape in ((3,), (2, 3), (2,)))
    got = student.per_sample_gradients(loss, [w], xs, ys)
    found = isinstance(got, tuple | list) and len(got) == 1 and isinstance(got[0], Tensor)
    return {} if found and same(got[0].squeeze(), xs * ys[:, None]) else None
