"""forward_mode, rules that recognize mistakes by what came back."""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import Tensor

from grader.authoring import Again, Failure, Student, methods, rule

Facts = dict[str, Any]
NOTHING = torch.tensor(torch.nan, dtype=torch.float64)


def asked_again(failure: Failure, student: Student) -> Again:
    """Compare what came back with the formulas of diagnosis.toml."""
    names: Facts = {"right": as_tensor(failure.expected)}
    if "leaves" in failure.facts:
        for name in "abc":
            pair = failure.facts["leaves"].get(name, (NOTHING, NOTHING))
            names[name], names[f"{name}1"] = map(as_tensor, pair)
    elif failure.about == "per_sample_gradients":
        names["samples"] = failure.facts.get("samples", NOTHING)
    elif failure.about == "Cube":
        x, given = failure.inputs.get("x", NOTHING), failure.inputs
        names |= {"x": x, "v": given.get("v", NOTHING), "t": given.get("x_tangent", NOTHING)}
    elif "f" in failure.inputs:
        names |= alternatives(failure)
    got = as_tensor(failure.actual)
    return Again(names=names, right={"value": "right"}, ask={"value": lambda _: got})


def as_tensor(value: object) -> Any:
    return torch.tensor(value, dtype=torch.float64) if isinstance(value, int | float) else value


def alternatives(failure: Failure) -> Facts:
    """Return what is often computed in place of J v or H v; NaN where it is not defined."""
    f, x, v = failure.inputs["f"], failure.inputs["x"].detach(), failure.inputs["v"]
    tools, ones = torch.autograd.functional, torch.ones_like(v)
    names: Facts = {"y": f(x).detach(), "v": v}
    names["vJ"] = tools.vjp(f, x, v)[1] if f(x).shape == v.shape else NOTHING

    def total(x: Tensor) -> Any:
        return f(x).sum()

    names["g"], names["J1"] = tools.vjp(total, x)[1], tools.jvp(f, x, ones)[1]
    names["H1"], names["Hv"] = tools.vhp(total, x, ones)[1], tools.vhp(total, x, v)[1]
    return names


@rule
def unpacked_after_the_level(failure: Failure, student: Student) -> Facts | None:
    """None or zeros came back, and unpack_dual is called outside of the block of dual_level."""
    nothing = failure.actual is None or not as_tensor(failure.actual).any()
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
