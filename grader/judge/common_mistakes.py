"""Recognize the mistakes that can occur in every lesson.

``common_mistakes.toml`` has their texts, in the order in which they are tried: ``FIRST``
before a lesson's own rules, the others after them. A mistake is recognized by the patterns that the
file has for what torch or Python raises, or by the function of its name here. Each needs evidence:
it compares the returned value with the expected one, knows the meaning of a message, or finds the
one place in the code that has the measured effect. Without evidence, it names nothing.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import itertools
import math
import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import torch
from torch import Tensor

from grader.core.errors import Facts, StudentCodeError, WorkerLost
from grader.core.i18n import Catalogue, Phrase, phrase
from grader.core.report import Outcome
from grader.course.lesson_texts import read_mistakes
from grader.course.source import DEFINING, Source, is_stored
from grader.judge import python_errors
from grader.judge.describe import dtype_name
from grader.judge.diagnosis import Failure, diagnose, groups_in_error, mistake_of, same
from grader.judge.exception_verdicts import WROTE
from grader.judge.figures import copies_of
from grader.judge.in_place_lines import SHARING, SOMETIMES, assigned_names, writes_of
from grader.judge.python_errors import ATTRIBUTES, is_inside, positional, signature
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import LastCall, fetch
from grader.judge.remote.session import Student
from grader.worker.wire.values import Opaque

MOST_DIMENSIONS = 4
RIGHT = {torch.float64: (1e-12, 1e-14), torch.float32: (1e-5, 1e-7)}
"""Relative and absolute tolerance, by dtype, within which values are called right. Checks may be
more tolerant.
"""
FACTORS = (-1.0, 2.0, 0.5, -2.0, -0.5, 3.0, 1 / 3, 4.0, 0.25, 10.0, 0.1)
"""Factors that count as evidence even for a single number."""
NOTHING_CAME = "None came back where "
"""How the messages of checks begin whose function should have returned something."""
IS_THERE_A_RETURN = "is there a return?"
"""How they end if it is the student's function that was called."""
FEWEST = 2
"""As many elements of each kind, right and wrong, are evidence for a sign."""
CAUSES_OF_NAN = (
    "Look for 0 / 0, a logarithm or root of a negative number, 0 times infinity, or infinity minus"
    " or divided by infinity."
)
CAUSES_OF_INFINITY = (
    "Look for an exp or a product that overflows, a division by 0, or a logarithm of 0."
)
WITH_INDICES = ("max", "min", "sort", "topk", "median", "mode", "kthvalue", "cummax", "cummin")
"""Functions of torch that return values and indices, the first two if they get a dimension."""
COPYING = ("reshape", "flatten", "contiguous")
"""Methods that copy a tensor only if its elements do not lie in order."""
SUMMED = "The gradient has too few elements. Look for a sum, a mean or an index that reduces it."
BROADCAST = "The gradient has too many elements. Sum over the dimensions that were broadcast."
REARRANGED = "The number of elements is right. Look for a transpose or a reshape."
GRADIENT_SHAPE = (
    r"invalid gradient at index \d+ - got (?P<got>\[.*?\])"
    r" but expected shape compatible with (?P<wanted>\[.*?\])"
)


def common_parameters_in_another_order(failure: Failure, student: Student) -> Facts | None:
    """Recognize the parameters of the stub in another order, where the function raised, or where
    its last call is right if the arguments are exchanged accordingly.
    """
    mine, ours = (
        {one.name: one for one in functions_of(failure, by)} for by in (student, failure.reference)
    )
    for name in mine.keys() & ours.keys():
        given, wanted = positional(mine[name]), positional(ours[name])
        if given == wanted or sorted(given) != sorted(wanted):
            continue
        error = failure.error
        caused = error and is_inside(error.line, mine[name])
        if caused or (error is None and exchanged(failure, student, given, wanted)):
            facts = {"line": mine[name].lineno, "given": signature(mine[name])}
            return {**facts, "wanted": signature(ours[name])}
    return None


def functions_of(failure: Failure, student: Student) -> list[ast.FunctionDef]:
    """Return the function that the check is about, or the methods of the class."""
    node = definition(failure, student)
    parts = node.body if isinstance(node, ast.ClassDef) else [node]
    return [one for one in parts if isinstance(one, ast.FunctionDef)]


def exchanged(failure: Failure, student: Student, names: list[str], wanted: list[str]) -> bool:
    """Return whether the last call gives the reference's values and gradients if its arguments come
    in the order of ``names``, and only then. Of a function without such a call, a wrong value is
    evidence enough.
    """
    call, is_class = failure.call, isinstance(definition(failure, student), ast.ClassDef)
    if call is None or call.path != failure.about + ".apply" * is_class:
        return failure.expected is not None and not is_class
    taken = [one for one in wanted if not is_class or one != "ctx"]
    order = [taken.index(one) for one in names if one in taken]
    if len(order) != len(call.args):
        return False
    ours = _outcome(failure.reference, call, sorted(order))
    right = [close(ours, _outcome(student, call, places)) for places in (order, sorted(order))]
    return right == [True, False]


def _outcome(student: Student, call: LastCall, order: list[int]) -> list[Any]:
    """Return the result of a call with its arguments in another order, and their gradients; of the
    apply of a class, in the order in which its backward returns them.
    """
    leaves = copies_of(call.args)
    passed = [leaves[place] for place in order]
    with student.writing_allowed():
        result = attrgetter(call.path)(student)(*passed, **call.kwargs)
    counted = passed if call.path.endswith(".apply") else leaves
    used = [one for one in counted if isinstance(one, Tensor) and one.requires_grad]
    if not used or not isinstance(result, Tensor) or not result.requires_grad:
        return [bare_numbers(result)]
    gradients = torch.autograd.grad(result, used, torch.ones_like(result), allow_unused=True)
    return [bare_numbers(0.0 if one is None else one) for one in (result, *gradients)]


def common_no_return(failure: Failure, student: Student) -> Facts | None:
    """Recognize None from a function that returns no value, although the reference returns one."""
    wanted = failure.expected is not None or failure.message.startswith(NOTHING_CAME)
    if failure.error is not None or failure.actual is not None or not wanted:
        return None
    mine, ours = (definition(failure, one) for one in (student, failure.reference))
    if not isinstance(mine, ast.FunctionDef) or not isinstance(ours, ast.FunctionDef):
        return None
    inside = closure_of(mine) if failure.message.endswith(IS_THERE_A_RETURN) else None
    if inside and not gives_a_value(inside):
        belongs = phrase(
            " ({name} is what {function} returns)", name=inside.name, function=mine.name
        )
        return {"function": inside.name, "printed": belongs, "line": inside.lineno}
    if gives_a_value(mine) or not gives_a_value(ours):
        return None
    prints = any(
        isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id == "print"
        for one in ast.walk(mine)
    )
    inner = [one for one in own_nodes(mine) if isinstance(one, ast.FunctionDef)]
    returning = next((one.name for one in inner if gives_a_value(one)), None)
    printed = phrase(" (what it prints is not returned)") if prints else ""
    if returning and not prints:
        printed = phrase(" (the return inside {name} belongs to {name})", name=returning)
    return {"function": failure.about, "printed": printed}


def closure_of(function: ast.FunctionDef) -> ast.FunctionDef | None:
    """Return the inner function that a function always returns, if it does."""
    nodes = list(own_nodes(function))
    returned = {ast.unparse(one) for one in nodes if isinstance(one, ast.Return)}
    stored = {one.id for one in nodes if isinstance(one, ast.Name) and is_stored(one)}
    inner = [one for one in nodes if isinstance(one, DEFINING) and f"return {one.name}" in returned]
    match inner:
        case [ast.FunctionDef(decorator_list=[]) as one] if one.name not in stored:
            always = len(returned) == 1 and isinstance(function.body[-1], ast.Return)
            return one if always else None
    return None


def definition(failure: Failure, student: Student) -> ast.FunctionDef | ast.ClassDef | None:
    """Return the function or class that the check is about, in its last definition; ``student`` may
    be the reference.
    """
    for node in reversed(student.source.tree.body):
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and node.name == failure.about:
            return node
    return None


def gives_a_value(node: ast.FunctionDef) -> bool:
    """Return whether a function yields, or has a return with a value other than None."""
    return any(
        isinstance(one, ast.Yield | ast.YieldFrom)
        or (isinstance(one, ast.Return) and ast.unparse(one) not in ("return", "return None"))
        for one in own_nodes(node)
    )


def own_nodes(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Yield the nodes of a function's body, without those inside its functions and classes."""
    todo: list[ast.AST] = [*function.body]
    for node in todo:  # the list grows during the loop
        yield node
        if not isinstance(node, (*DEFINING, ast.Lambda)):
            todo += ast.iter_child_nodes(node)


def common_other_exception(failure: Failure, student: Student) -> Facts | None:
    """Recognize the student's own raise of a class that the check does not expect."""
    error = failure.error
    if error is None or error.wanted is None or error.line is None:
        return None
    raising = (ast.Raise, ast.Assert)
    lines = {one.lineno for one in student.source.nodes if isinstance(one, raising)}
    if error.line not in lines:
        return None
    return {"wanted": error.wanted, "got": error.type_name, "line": error.line}


def common_returned_exception(failure: Failure, student: Student) -> Facts | None:
    """Recognize an exception that comes back from where one should be raised."""
    if not (isinstance(failure.expected, Opaque) and isinstance(failure.actual, Opaque)):
        return None
    kind = getattr(builtins, failure.actual.type_name, None)
    is_exception = isinstance(kind, type) and issubclass(kind, BaseException)
    return {"got": failure.actual.type_name} if is_exception else None


COMPARED = "A comparison, such as x > 0, gives bool. Convert what it gives: .to(x.dtype)"
CONVERTED = "Look for a conversion, or for a tensor that is created with another dtype or none."


def common_wrong_dtype(failure: Failure, student: Student) -> Facts | None:
    """Recognize the right values in another dtype."""
    both = compared_tensors(failure)
    if both is None or both[0].dtype == both[1].dtype:
        return None
    coarse = any(t.dtype in (torch.float16, torch.bfloat16) for t in both)
    tolerance = 2e-2 if coarse else 1e-4
    if not both[0].numel() or not same(*both, rtol=tolerance, atol=tolerance / 100):
        return None
    advice = COMPARED if both[0].dtype is torch.bool else CONVERTED
    facts = {"dtype": dtype_name(both[0]), "wanted": dtype_name(both[1])}
    return {**facts, "advice": phrase(advice)}


def compared_tensors(failure: Failure) -> tuple[Tensor, Tensor] | None:
    """Return the returned and the expected tensor, if both exist."""
    actual, expected = failure.actual, failure.expected
    if failure.error is None and isinstance(actual, Tensor) and isinstance(expected, Tensor):
        return actual.detach(), expected.detach()
    return None


def common_wrong_type(failure: Failure, student: Student) -> Facts | None:
    """Recognize a list for a tuple, a number for a tensor, or a tensor for a number."""
    actual, expected = failure.actual, failure.expected
    if failure.error is not None or type(actual) is type(expected):
        return None
    kinds = (Tensor, list, tuple, int, float)
    if not isinstance(actual, kinds) or not isinstance(expected, kinds):
        return None
    if not close(bare_numbers(actual), bare_numbers(expected)):
        return None
    what = where_in_result(failure, student)
    return {"type": type(actual).__name__, "wanted": type(expected).__name__, "what": what}


def where_in_result(failure: Failure, student: Student) -> Phrase:
    """Return which part of the result a failure is about: an entry, an element, or all of it."""
    function = definition(failure, failure.reference)
    returns = function.returns if isinstance(function, ast.FunctionDef) else None
    promised = ast.unparse(returns).partition("[")[0] if returns else ""
    if promised not in ("dict", "tuple", "list") or isinstance(
        failure.expected, dict | list | tuple
    ):
        return phrase("Your result")
    call, result = failure.call, None
    with contextlib.suppress(StudentCodeError, WorkerLost), student.writing_allowed():
        if call and call.path == failure.about:
            called = attrgetter(call.path)(student)
            result = fetch(called(*copies_of(call.args), **call.kwargs))
    parts = result.items() if isinstance(result, dict) else enumerate(result or ())
    places = [place for place, part in parts if type(part) is type(failure.actual)]
    if result is None and promised == "dict" and isinstance(key := failure.facts.get("key"), str):
        places = [key]
    if len(places) != 1:
        return phrase("A part of your result")
    return phrase("Your result[{place}]", place=repr(places[0]))


def common_pair_returned(failure: Failure, student: Student) -> Facts | None:
    """Recognize values and indices where a tensor is expected, if the file has one such call."""
    both = failure.actual
    if not isinstance(failure.expected, Tensor) or not isinstance(both, tuple) or len(both) != 2:
        return None
    if not isinstance(both[1], Tensor) or both[1].dtype != torch.int64:
        return None
    names = {
        one.func.attr
        for one in student.source.nodes
        if isinstance(one, ast.Call) and isinstance(one.func, ast.Attribute)
        if one.func.attr in WITH_INDICES and (one.keywords or one.args)
    }
    return {"name": names.pop()} if len(names) == 1 else None


def bare_numbers(value: Any) -> Any:
    """Return a value's numbers without their container; None for a value of another kind."""
    if isinstance(value, Tensor):
        return bare_numbers(value.detach().tolist())
    if isinstance(value, list | tuple):
        return [bare_numbers(item) for item in value]
    return float(value) if isinstance(value, int | float) else value


def close(left: Any, right: Any) -> bool:
    if isinstance(left, list) and isinstance(right, list):
        return len(left) == len(right) and all(map(close, left, right))
    if isinstance(left, float) and isinstance(right, float):
        return math.isclose(left, right, rel_tol=1e-5, abs_tol=1e-7)
    return bool(left is not None and left == right)


def common_numpy_array(failure: Failure, student: Student) -> Facts | None:
    """Recognize an array or a scalar of NumPy instead of a tensor."""
    actual, expected = failure.actual, failure.expected
    if not isinstance(actual, Opaque) or not isinstance(expected, Tensor):
        return None
    kinds = ("ndarray", "float16", "float32", "float64", "int64", "bool_")
    return {"type": actual.type_name} if actual.type_name in kinds else None


def common_swapped_dimensions(failure: Failure, student: Student) -> Facts | None:
    """Recognize the expected values, transposed."""
    both = compared_tensors(failure)
    if both is None or not 1 < both[1].dim() <= MOST_DIMENSIONS or same(*both):
        return None
    actual, expected = both
    orders = itertools.permutations(range(expected.dim()))
    return {} if any(same(actual, expected.permute(order)) for order in orders) else None


def common_wrong_shape(failure: Failure, student: Student) -> Facts | None:
    """Recognize the expected values, but squeezed, reshaped, summed or averaged."""
    both = compared_tensors(failure)
    if both is None or same(*both):
        return None
    actual, expected = both
    for what, made in arrangements(actual, expected):
        if same(actual, made):
            return {
                "what": phrase(what),
                "shape": str(tuple(actual.shape)),
                "wanted": str(tuple(expected.shape)),
            }
    return None


def arrangements(actual: Tensor, expected: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield what may be wrong with the shape, each with the tensor that would then be returned."""
    if not expected.numel():
        if not actual.numel() and actual.shape != expected.shape:
            yield "The result has no elements, as it should", expected.reshape(actual.shape)
        return
    if actual.numel() == expected.numel() and actual.shape != expected.shape:
        squeezed = actual.squeeze().shape == expected.squeeze().shape
        if squeezed and actual.dim() > expected.dim():
            yield "There is an extra dimension of size 1", expected.reshape(actual.shape)
        elif squeezed and actual.dim() < expected.dim():
            yield "A dimension of size 1 is missing", expected.reshape(actual.shape)
        else:
            yield "The values are right, but in a different shape", expected.reshape(actual.shape)
    if actual.dim() < expected.dim() and expected.dtype.is_floating_point:
        reduced = [()] if not actual.dim() else [(k,) for k in range(expected.dim())]
        for dims in reduced:
            yield "The result is summed", expected.sum(dims) if dims else expected.sum()
            yield "The result is averaged", expected.mean(dims) if dims else expected.mean()


def common_wrong_sign(failure: Failure, student: Student) -> Facts | None:
    """Recognize -1 times the expected values."""
    return {} if factor_of(failure) == -1 else None


def common_constant_factor(failure: Failure, student: Student) -> Facts | None:
    """Recognize a multiple of the expected values."""
    factor = factor_of(failure)
    return None if factor is None else {"factor": f"{factor:.6g}"}


def factor_of(failure: Failure) -> float | None:
    """Return the factor between result and expected values; None if there is no common one."""
    actual, expected = failure.actual, failure.expected
    if isinstance(actual, float) and isinstance(expected, float):
        actual, expected = torch.tensor([actual]).double(), torch.tensor([expected]).double()
    if failure.error is not None or not (
        isinstance(actual, Tensor) and isinstance(expected, Tensor)
    ):
        return None
    kinds = (torch.float32, torch.float64)
    if actual.shape != expected.shape or {actual.dtype, expected.dtype} - set(kinds):
        return None
    mine, truth = actual.detach().double().flatten(), expected.detach().double().flatten()
    if not truth.numel() or not (mine.isfinite() & truth.isfinite()).all():
        return None
    largest = int(truth.abs().argmax())
    if not truth[largest] or not mine[largest]:
        return None
    factor = float(mine[largest] / truth[largest])
    exact = 1e-4 if torch.float32 in (actual.dtype, expected.dtype) else 1e-7
    if abs(factor - 1) <= 1e-3 or not torch.allclose(mine, factor * truth, rtol=exact, atol=1e-12):
        return None
    nice = next((f for f in FACTORS if math.isclose(factor, f, rel_tol=exact)), None)
    different = len({f"{value:.4g}" for value in truth.abs().tolist() if value})
    return nice if different < 3 or nice is not None else factor


def common_result_without_graph(failure: Failure, student: Student) -> Facts | None:
    """Recognize the right values without the graph that the expected tensor has. What a scenario
    measured has no graph in any case, so only the result of a call counts.
    """
    actual, expected = failure.actual, failure.expected
    if not isinstance(actual, Tensor) or not isinstance(expected, Tensor) or failure.error:
        return None
    cut = expected.requires_grad and not actual.requires_grad
    if not cut or failure.call is None or actual.dtype != expected.dtype:
        return None
    rtol, atol = RIGHT.get(expected.dtype, (0.0, 0.0))
    return {} if same(actual, expected, rtol=rtol, atol=atol) else None


def common_rounded_to_float32(failure: Failure, student: Student) -> Facts | None:
    """Recognize values that float32 holds exactly and that are wrong from the eighth digit on."""
    both = compared_tensors(failure)
    if both is None or {t.dtype for t in both} != {torch.float64} or both[1].numel() < 2:
        return None
    actual, expected = both
    if not same(actual, expected, rtol=1e-5, atol=1e-6) or same(
        actual, expected, rtol=1e-9, atol=1e-12
    ):
        return None
    if not torch.equal(actual, actual.float().double()) or bool((expected != 0)[actual == 0].any()):
        return None
    if torch.equal(expected, expected.float().double()):
        return None
    return {"error": float((actual - expected).abs().max())}


def common_few_digits(failure: Failure, student: Student) -> Facts | None:
    """Recognize float64 values that agree to 4 digits or more, but one to fewer than 12."""
    both = compared_tensors(failure)
    if both is None or {t.dtype for t in both} != {torch.float64} or not both[1].numel():
        return None
    actual, expected = both
    if actual.shape != expected.shape or not same(actual, expected, rtol=1e-4, atol=0.0):
        return None
    error = float(((actual - expected) / expected).nan_to_num().abs().max())
    return {"digits": math.floor(-math.log10(error))} if error > 1e-12 else None


def common_grad_kept_by_reference(failure: Failure, student: Student) -> Facts | None:
    """Recognize zeros from subtracting an old .grad that was kept without a copy, or a wrong result
    where it was kept so and cleared in place.
    """
    both = compared_tensors(failure)
    if both is None or not both[0].numel() or not both[1].any():
        return None
    kept = _cleared_gradients if both[0].any() else _kept_gradients
    for function in student.source.nodes:
        if isinstance(function, ast.FunctionDef) and function.name == failure.about:
            found = list(kept(function))
            return {"name": found[0][0], "line": found[0][1]} if len(found) == 1 else None
    return None


def _cleared_gradients(function: ast.FunctionDef) -> Iterator[tuple[str, int]]:
    """Yield names for .grad that are used after it was cleared in place, and not set again."""
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
    """Yield names that refer to .grad, not to a copy, before a backward, and are subtracted."""
    nodes = list(ast.walk(function))
    calls = [node for node in nodes if isinstance(node, ast.Call)]
    backwards = [one.lineno for one in calls if getattr(one.func, "attr", "") == "backward"]
    subtracted = {
        name.id
        for node in nodes
        if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ast.Sub)
        for name in ast.walk(node)
        if isinstance(name, ast.Name)
    }
    for node in nodes:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _is_gradient(value):
                used = name in subtracted or isinstance(value, ast.ListComp | ast.DictComp)
                if used and node.lineno < max(backwards, default=0):
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


def common_grad_output_overwritten(failure: Failure, student: Student) -> Facts | None:
    """Recognize what the authoring module says of a backward that writes into grad_output."""
    return {} if "changed the values of its grad_output v" in failure.message else None


def common_written_into_copy(failure: Failure, student: Student) -> Facts | None:
    """Recognize zeros for a non-contiguous input whose values were written into a copy."""
    both = compared_tensors(failure)
    if both is None or both[0].any() or not both[1].any():
        return None
    tensors = [value for value in failure.inputs.values() if isinstance(value, Tensor)]
    if all(tensor.is_contiguous() for tensor in tensors):
        return None
    parts = parts_of(failure, student)
    found = next((one for part in parts for one in _writes_into_copies(part)), None)
    return {"method": found[0], "line": found[1]} if found else None


def parts_of(failure: Failure, student: Student) -> list[ast.AST]:
    """Return the definition of what the check is about, and of those that it names."""
    definitions = student.source.definitions
    about = definitions.get(failure.about)
    used = {one.id for one in ast.walk(about) if isinstance(one, ast.Name)} if about else set()
    return [part for name, part in definitions.items() if name in {failure.about, *used}]


def common_only_named(failure: Failure, student: Student) -> Facts | None:
    """Recognize a method that a statement only names."""
    for node in itertools.chain.from_iterable(map(ast.walk, parts_of(failure, student))):
        match node:
            case ast.Expr(value=ast.Attribute(attr=name) as named) if name not in ATTRIBUTES:
                return {"called": f"{ast.unparse(named)}()", "name": name, "line": node.lineno}
    return None


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


def common_input_returned(failure: Failure, student: Student) -> Facts | None:
    """Recognize the values of exactly one input instead of the expected ones."""
    both = compared_tensors(failure)
    if both is None or both[1].numel() < FEWEST or same(*both, rtol=1e-3):
        return None
    known = _known(failure.inputs, both[0])
    found = [(name, value) for name, value in known if same(both[0], value)]
    return {"name": found[0][0], "value": found[0][1]} if len(found) == 1 else None


def common_input_added(failure: Failure, student: Student) -> Facts | None:
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


def _known(values: Facts, like: Tensor) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors of the same shape as ``like`` that are not all zero."""
    for name, value in values.items():
        if isinstance(value, Tensor) and value.shape == like.shape and bool(value.any()):
            yield name, value.detach()


def common_empty_of_another_dtype(failure: Failure, student: Student) -> Facts | None:
    """Recognize an empty result of the right shape in another dtype."""
    both = compared_tensors(failure)
    if both is None or both[0].numel() or both[0].shape != both[1].shape:
        return None
    actual, expected = map(dtype_name, both)
    return None if actual == expected else {"dtype": actual, "wanted": expected}


def common_calls_disagree(failure: Failure, student: Student) -> Facts | None:
    """Recognize that two equal calls disagree, although the solution's agree. A file that draws
    random numbers or reads a clock is not judged.
    """
    call = failure.call
    if call is None or failure.error is not None or call.path.partition(".")[0] != failure.about:
        return None
    attributes = [one.attr for one in student.source.nodes if isinstance(one, ast.Attribute)]
    if any("rand" in name or "time" in name for name in attributes):
        return None
    first, second = (_called(student, call) for _ in range(2))
    if first is None or second is None or first.shape != second.shape or same(first, second):
        return None
    ours = (_called(failure.reference, call) for _ in range(2))
    return {"function": call.path, "first": first, "second": second} if same(*ours) else None


def _called(student: Student, call: LastCall) -> Tensor | None:
    """Repeat a call; return its result if it is a tensor or a number, else None."""
    function = attrgetter(call.path)(student)
    with student.writing_allowed():
        result = function(*copies_of(call.args), **call.kwargs)
    if isinstance(result, int | float) and not isinstance(result, bool):
        return torch.tensor([result], dtype=torch.float64)
    return result.detach() if isinstance(result, Tensor) else None


def common_writes_into_argument(failure: Failure, student: Student) -> Facts | None:
    """Recognize a write into an argument, if only one place in the function changes a parameter,
    or several change the same one. The line is the first of them.
    """
    node = definition(failure, student)
    if failure.message != WROTE or node is None:
        return None
    functions = [one for one in ast.walk(node) if isinstance(one, ast.FunctionDef)]
    for sharing in (SHARING, SOMETIMES):
        places = {place for one in functions for place in writes_of(one, sharing)}
        if places:
            name, line = min(places, key=lambda place: place[1])
            one = len(places) == 1 or (sharing is SHARING and len(dict(places)) == 1)
            return {"name": name, "function": failure.about, "line": line} if one else None
    return None


def common_swallowed_exception(failure: Failure, student: Student) -> Facts | None:
    """Recognize a missing exception that the function's only except clause would catch. One that
    the function itself has to raise must be raised somewhere in it.
    """
    node = definition(failure, student)
    if failure.error is not None or node is None or not isinstance(failure.expected, Opaque):
        return None
    wanted = failure.facts.get("wanted")
    handlers = [one for one in ast.walk(node) if isinstance(one, ast.ExceptHandler)]
    if len(handlers) != 1 or wanted != failure.expected.type_name:
        return None
    (one,) = handlers
    must_raise = raises_itself(definition(failure, failure.reference), wanted)
    if must_raise and not raises_itself(node, wanted):
        return None
    broad = one.type is None or ast.unparse(one.type) in ("Exception", "BaseException", wanted)
    if not broad or any(isinstance(inner, ast.Raise) for inner in ast.walk(one)):
        return None
    return {"wanted": wanted, "function": failure.about, "line": one.lineno}


def raises_itself(node: ast.AST | None, name: str) -> bool:
    """Return whether a definition has a raise of an exception of this name."""
    raises = (one for one in ast.walk(node or ast.Pass()) if isinstance(one, ast.Raise) and one.exc)
    return any(
        isinstance(part, ast.Name) and part.id == name for one in raises for part in ast.walk(one)
    )


def common_not_finite(failure: Failure, student: Student) -> Facts | None:
    """Recognize NaN or infinity where the expected value is finite, with right values elsewhere."""
    both = floating_pair(failure)
    if both is None:
        return None
    actual, expected = both
    bad = ~actual.isfinite()
    if not bad.any() or not expected.isfinite().all():
        return None
    if not same(actual[~bad], expected[~bad], rtol=1e-4):
        return None
    found = (("NaN", actual.isnan()), ("inf", actual.isposinf()), ("-inf", actual.isneginf()))
    kinds = ", ".join(name for name, where in found if where.any())
    causes = phrase(CAUSES_OF_NAN if actual.isnan().any() else CAUSES_OF_INFINITY)
    return {"count": int(bad.sum()), "total": actual.numel(), "kinds": kinds, "causes": causes}


def common_wrong_diagonal(failure: Failure, student: Student) -> Facts | None:
    """Recognize a multiple of the expected values on the diagonal of a matrix, and only there."""
    both = floating_pair(failure)
    if both is None or both[1].dim() != 2 or not FEWEST <= both[1].shape[0] == both[1].shape[1]:
        return None
    inside = torch.eye(len(both[1]), dtype=torch.bool)
    mine, truth = (tensor[inside] for tensor in both)
    beside = (tensor[~inside] for tensor in both)
    if not truth.all() or same(mine, truth) or not same(*beside, rtol=1e-4):
        return None
    factors = mine / truth
    if not same(factors, factors[:1].expand_as(factors), rtol=1e-4):
        return None
    return {"factor": f"{float(factors[0]):.6g}"}


def common_wrong_where(failure: Failure, student: Student) -> Facts | None:
    """Recognize that exactly the elements are wrong where an input is 0, negative or positive."""
    both = floating_pair(failure)
    if both is None:
        return None
    actual, expected = both
    bad = ~torch.isclose(actual, expected.to(actual.dtype), rtol=1e-4, atol=1e-7, equal_nan=True)
    if not bad.any() or bad.all() or not actual.any():
        return None
    found = [
        (name, text)
        for name, value in failure.inputs.items()
        if isinstance(value, Tensor) and value.shape == bad.shape
        for text, where, fewest in conditions(value.detach())
        if torch.equal(where, bad) and min(int(where.sum()), int((~where).sum())) >= fewest
    ]
    if len(found) != 1:
        return None
    name, text = found[0]
    return {"where": phrase(text, name=name), "mine": actual[bad], "truth": expected[bad]}


def conditions(value: Tensor) -> Iterator[tuple[str, Tensor, int]]:
    """Yield conditions on an input: as text, where they hold, how many elements are evidence."""
    yield "{name} is 0", value == 0, 1
    yield "{name} is negative", value < 0, FEWEST
    yield "{name} is positive", value > 0, FEWEST


def floating_pair(failure: Failure) -> tuple[Tensor, Tensor] | None:
    """Return the returned and the expected tensor if both have one shape and floating values."""
    both = compared_tensors(failure)
    if both is None or both[0].shape != both[1].shape or not both[0].dtype.is_floating_point:
        return None
    return both


def common_gradient_shape(failure: Failure, student: Student) -> Facts | None:
    """Recognize torch's message about a gradient that does not have its input's shape."""
    facts = groups_in_error(failure, [GRADIENT_SHAPE])
    if facts is None:
        return None
    sizes = (re.findall(r"\d+", facts[name]) for name in ("got", "wanted"))
    got, wanted = (math.prod(map(int, one)) for one in sizes)
    advice = SUMMED if got < wanted else BROADCAST if got > wanted else REARRANGED
    return {**facts, "advice": phrase(advice)}


TEXTS = read_mistakes(Path(__file__).with_name("common_mistakes.toml"))
RULES = globals() | vars(python_errors)
COMMON = tuple(mistake_of(text, None if text.patterns else RULES[text.id]) for text in TEXTS)
"""The mistakes that every lesson recognizes, in the order in which they are tried."""
FIRST = tuple(
    one
    for one in COMMON
    if one.id in ("common_ctx_not_first", "common_parameters_in_another_order", "common_only_named")
)
"""Those tried before a lesson's own rules, because they look like many other mistakes."""
SEEN_IN_ERRORS = tuple(
    mistake
    for text, mistake in zip(TEXTS, COMMON, strict=True)
    if text.patterns or text.id in vars(python_errors)
)
"""Those for which the exception and the file's text are enough."""


def explain_error(error: StudentCodeError, source: Source, tr: Catalogue) -> str | None:
    """Return what to do about an exception, also one from loading a file; None if not known."""
    failure = Failure(
        Outcome.ERROR, error=error, check="", about="", reference=NOBODY, draw=RandomInputs(0)
    )
    found, _ = diagnose(SEEN_IN_ERRORS, failure, cast(Student, SimpleNamespace(source=source)), tr)
    return found.evidence if found else None


NOBODY = cast(Student, SimpleNamespace(source=Source("", "")))
