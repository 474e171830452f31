"""Rules for mistakes in how a function uses its inputs and earlier state."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from grader.judge.diagnosis import Failure, Mistake, mistake, same
from grader.judge.remote.session import Student
from grader.judge.value_mistakes import compared_tensors, dtype_name

Facts = dict[str, Any]
FEWEST = 2
"""A single number may agree with another by chance."""


def _known(values: Facts, like: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of the same shape as ``like`` that are not all zero."""
    for name, value in values.items():
        if isinstance(value, Tensor) and value.shape == like.shape and bool(value.any()):
            yield name, value.detach()


@mistake(
    "common_input_returned",
    about=(),
    title="An input comes back unchanged",
    explanation="Your result has the values of {name}, {value}; expected {expected}.",
)
def input_returned(failure: Failure, student: Student) -> Facts | None:
    """Recognize the values of exactly one input instead of the expected ones."""
    both = compared_tensors(failure)
    if both is None or both[1].numel() < FEWEST or same(*both, rtol=1e-3):
        return None
    found = [
        (name, value) for name, value in _known(failure.inputs, both[0]) if same(both[0], value)
    ]
    return {"name": found[0][0], "value": found[0][1]} if len(found) == 1 else None


@mistake(
    "common_input_added",
    about=(),
    title="Something is added to the right result",
    explanation=(
        "Your result is the expected one plus {name}, {value}. Leave it out. If it is an old"
        " .grad, set .grad to None before backward, or use torch.autograd.grad."
    ),
)
def input_added(failure: Failure, student: Student) -> Facts | None:
    """Recognize the expected values plus one input, or plus the old .grad."""
    both = compared_tensors(failure)
    if both is None or both[0].shape != both[1].shape or both[1].numel() < FEWEST:
        return None
    actual, expected = both
    exact = {"rtol": 1e-4} if torch.float32 in (actual.dtype, expected.dtype) else {}
    found = [
        (name, value)
        for name, value in _known({**failure.facts, **failure.inputs}, expected)
        if value.is_floating_point() and same(actual, expected + value, **exact)
    ]
    if len(found) != 1 or same(found[0][1], expected):
        return None
    return {"name": found[0][0], "value": found[0][1]}


@mistake(
    "common_grad_kept_by_reference",
    about=(),
    title="An old gradient is kept without a copy",
    explanation=(
        "{name} in line {line} is .grad itself, not a copy, so what is written into .grad later"
        " changes {name}, too. Keep .grad.clone()."
    ),
)
def grad_kept_by_reference(failure: Failure, student: Student) -> Facts | None:
    """Recognize zeros from subtracting an old .grad that was kept without a copy, or a wrong result
    where it was kept so and cleared in place.
    """
    both = compared_tensors(failure)
    if both is None or not both[0].numel() or not both[1].any():
        return None
    kept = _cleared_gradients if both[0].any() else _kept_gradients
    for function in ast.walk(student.source.tree):
        if isinstance(function, ast.FunctionDef) and function.name == failure.about:
            found = list(kept(function))
            return {"name": found[0][0], "line": found[0][1]} if len(found) == 1 else None
    return None


def _cleared_gradients(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Yield names that refer to .grad, are used after it was cleared in place, and are not set
    again.
    """
    nodes = list(ast.walk(function))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Attribute(attr="grad") as grad):
                cleared = [
                    call.lineno
                    for call in nodes
                    if isinstance(call, ast.Call)
                    and ast.unparse(call) == f"{ast.unparse(grad)}.zero_()"
                    and call.lineno > node.lineno
                ]
                mine = [one for one in names if one.id == name and one.lineno > node.lineno]
                set_again = any(isinstance(one.ctx, ast.Store) for one in mine)
                if cleared and not set_again and any(one.lineno > cleared[0] for one in mine):
                    yield name, node.lineno


def _kept_gradients(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Yield names that refer to .grad without a copy before a backward, and are subtracted after
    it.
    """
    nodes = list(ast.walk(function))
    backwards = [
        node.lineno
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr == "backward"
    ]
    subtracted = {
        name.id
        for node in nodes
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Sub)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if backwards:
                if _is_gradient(value) and node.lineno < max(backwards):
                    used = name in subtracted or isinstance(value, ast.ListComp | ast.DictComp)
                    if used:
                        yield name, node.lineno


def _is_gradient(value: ast.expr) -> bool:
    """Return whether a value is .grad itself, or a list or dictionary of such."""
    match value:
        case ast.Attribute(attr="grad"):
            return True
        case ast.IfExp(body=one, orelse=other):
            return _is_gradient(one) or _is_gradient(other)
        case ast.ListComp(elt=one) | ast.DictComp(value=one) | ast.NamedExpr(value=one):
            return _is_gradient(one)
        case ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return any(map(_is_gradient, parts))
        case ast.Call(func=ast.Attribute(value=one, attr="detach" | "view_as" | "requires_grad_")):
            return _is_gradient(one)
    return False


COPYING = ("reshape", "flatten", "contiguous")
"""Methods that copy a tensor only if its elements do not lie in order."""


@mistake(
    "common_written_into_copy",
    about=(),
    title="The values are written into a copy",
    explanation=(
        "{method} in line {line} copies a tensor that is not contiguous. What is written into"
        " such a copy is easily lost, and here the result is 0. zeros_like and empty_like keep a"
        " transposed x's strides: use torch.zeros(x.shape), or stack the values."
    ),
)
def written_into_copy(failure: Failure, student: Student) -> Facts | None:
    """Recognize zeros for a non-contiguous input whose values were written into a copy."""
    both = compared_tensors(failure)
    if both is None or both[0].any() or not both[1].any():
        return None
    tensors = [value for value in failure.inputs.values() if isinstance(value, Tensor)]
    if all(tensor.is_contiguous() for tensor in tensors):
        return None
    definitions = student.source.definitions
    about = definitions.get(failure.about)
    used = {one.id for one in ast.walk(about) if isinstance(one, ast.Name)} if about else set()
    parts = [part for name, part in definitions.items() if name in {failure.about, *used}]
    found = next((one for part in parts for one in _writes_into_copies(part)), None)
    return {"method": found[0], "line": found[1]} if found else None


def assigned_names(part: ast.AST) -> Iterator[tuple[str, ast.expr]]:
    """Yield each ``name = value``, also those of ``a, b = one, two``."""
    for node in ast.walk(part):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
            case ast.Assign(targets=[ast.Tuple(elts=targets)], value=ast.Tuple(elts=values)):
                for target, value in zip(targets, values, strict=False):
                    if isinstance(target, ast.Name):
                        yield target.id, value


def _writes_into_copies(part: ast.AST) -> Iterator[tuple[str, int]]:
    """Yield a method that may copy, and its line, where an index of its result is assigned to."""
    named = {
        name: (method, value.lineno)
        for name, value in assigned_names(part)
        if (method := _copying(value))
    }
    for node in ast.walk(part):
        match node:
            case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store()) if name in named:
                yield named[name]
            case ast.Subscript(value=value, ctx=ast.Store()) if method := _copying(value):
                yield method, node.lineno


def _copying(value: ast.expr) -> str | None:
    match value:
        case ast.Call(func=ast.Attribute(attr=method)) if method in COPYING:
            return method
    return None


@mistake(
    "common_empty_of_another_dtype",
    about=(),
    title="The result for an empty input has the wrong dtype",
    explanation=(
        "The result has no elements, as it should, but it is {dtype} where {wanted} is expected."
        " Without a dtype, torch.zeros and torch.empty make float32: use new_zeros or zeros_like."
    ),
)
def empty_of_another_dtype(failure: Failure, student: Student) -> Facts | None:
    """Recognize an empty result of the right shape in another dtype."""
    both = compared_tensors(failure)
    if both is None or both[0].numel() or both[0].shape != both[1].shape:
        return None
    actual, expected = map(dtype_name, both)
    return None if actual == expected else {"dtype": actual, "wanted": expected}


@mistake(
    "common_calls_disagree",
    about=(),
    title="The same call gives another result",
    explanation=(
        "{function} was called twice with the same arguments and returned {first}, then {second}."
        " One cause: something is kept from call to call, such as a global, a default argument or"
        " an attribute. Another: a torch.empty that is not filled."
    ),
)
def calls_disagree(failure: Failure, student: Student) -> Facts | None:
    """Recognize that two equal calls disagree, although the solution's agree."""
    call = failure.call
    if call is None or failure.error is not None or call.path.partition(".")[0] != failure.about:
        return None
    if _draws(student.source.tree):
        return None
    mine = [_called(student, call.path, call.args, call.kwargs) for _ in range(2)]
    first, second = mine
    if first is None or second is None or first.shape != second.shape or same(first, second):
        return None
    ours = [_called(failure.reference, call.path, call.args, call.kwargs) for _ in range(2)]
    return {"function": call.path, "first": first, "second": second} if same(*ours) else None


def _called(student: Student, path: str, args: tuple[Any, ...], kwargs: Facts) -> Tensor | None:
    """Return a call's result if it is a tensor, else None."""
    function: Any = student
    for name in path.split("."):
        function = getattr(function, name)
    copies = [
        one.detach().clone().requires_grad_(one.requires_grad) if isinstance(one, Tensor) else one
        for one in args
    ]
    with student.writing_allowed():
        result = function(*copies, **kwargs)
    if isinstance(result, int | float) and not isinstance(result, bool):
        return torch.tensor([result], dtype=torch.float64)
    return result.detach() if isinstance(result, Tensor) else None


def _draws(tree: ast.Module) -> bool:
    """Return whether a file draws random numbers or reads a clock."""
    return any(
        isinstance(node, ast.Attribute) and ("rand" in node.attr or "time" in node.attr)
        for node in ast.walk(tree)
    )


INPUTS: tuple[Mistake, ...] = (
    grad_kept_by_reference,
    written_into_copy,
    input_returned,
    input_added,
    empty_of_another_dtype,
    calls_disagree,
)
