"""Assertions of a check: values, gradients, exceptions, names that must not be used."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import torch
from torch import Tensor

from grader.core.errors import CheckFailure, StudentCodeError, UndefinedTruth, WorkerLost
from grader.judge.remote.objects import fetch
from grader.judge.remote.session import Student
from grader.worker.wire.values import Opaque, StudentRef

TOLERANCES = {
    torch.float64: (1e-7, 1e-9),
    torch.complex128: (1e-7, 1e-9),
    torch.float32: (1e-4, 1e-6),
    torch.complex64: (1e-4, 1e-6),
    torch.bfloat16: (2e-2, 1e-2),
    torch.float16: (1e-2, 1e-3),
}
"""Relative and absolute tolerance by dtype; any sensible order of operations stays within it."""
GRADIENT_IS_WRONG = "the gradient is wrong"


def type_name(value: Any) -> str:
    """Return the name of a value's type, as a student would say it."""
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, Opaque):
        return value.type_name
    return "function" if isinstance(value, StudentRef) else type(value).__name__


def fail(message: str, **details: Any) -> NoReturn:
    """Fail with a message; details as for ``CheckFailure``."""
    raise CheckFailure(message, **details)


def assert_that(condition: bool, message: str, **details: Any) -> None:
    """Fail with a message unless the condition holds; details as for ``CheckFailure``."""
    if not condition:
        raise CheckFailure(message, **details)


def assert_equal(
    actual: Any, expected: Any, message: str = "not what was expected", **details: Any
) -> None:
    """Require the same plain data: same types, same values. 1, 1.0 and True differ. NaN equals
    nothing, so it can't be expected.
    """
    actual = fetch(actual)
    assert_defined(expected, actual=actual, **details)
    if not _same(actual, expected):
        raise CheckFailure(message, expected=expected, actual=actual, **details)


def assert_defined(expected: Any, **details: Any) -> None:
    """Require that an expected value contains no NaN; details as for ``CheckFailure``."""
    if has_nan(expected):
        message = "the value to compare with comes from your code, and it is NaN"
        raise UndefinedTruth(message, expected=expected, **details)


def has_nan(value: Any) -> bool:
    """Return whether plain data contains NaN."""
    if isinstance(value, Tensor):
        return bool(value.isnan().any())
    if isinstance(value, list | tuple):
        return any(map(has_nan, value))
    if isinstance(value, dict):
        return any(map(has_nan, value.values()))
    return isinstance(value, float | complex) and value != value


def _same(left: Any, right: Any) -> bool:
    if type(left) is not type(right):
        return False
    if isinstance(left, Tensor):
        return left.shape == right.shape and left.dtype == right.dtype and torch.equal(left, right)
    if isinstance(left, list | tuple):
        return len(left) == len(right) and all(
            _same(a, b) for a, b in zip(left, right, strict=True)
        )
    if isinstance(left, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    return bool(left == right)


def assert_tensor(
    actual: Any,
    expected: Tensor,
    message: str = "the value is wrong",
    *,
    rtol: float | None = None,
    atol: float | None = None,
    expects_nan: bool = False,
    **details: Any,
) -> None:
    """Require the expected shape, dtype and values, within the dtype's tolerance or a given one.

    NaN equals NaN, but only with ``expects_nan`` may an expected value be NaN.
    """
    actual = fetch(actual)
    if not expects_nan:
        assert_defined(expected, actual=actual, **details)
    details = {"expected": expected, "actual": actual, **details}
    facts = {**details.pop("facts", {}), "type": type_name(actual)}
    details["facts"] = facts
    if actual is None:
        fail("None came back where a Tensor is promised: is there a return?", **details)
    if not isinstance(actual, Tensor):
        fail("{type} came back where a Tensor is promised", **details)
    if actual.shape != expected.shape:
        facts |= {"shape": str(tuple(actual.shape)), "expected_shape": str(tuple(expected.shape))}
        fail("the shape is {shape}, expected {expected_shape}", **details)
    if actual.dtype != expected.dtype:
        facts |= {"dtype": _dtype(actual), "expected_dtype": _dtype(expected)}
        fail("the dtype is {dtype}, expected {expected_dtype}", **details)
    default_rtol, default_atol = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    if not torch.allclose(
        actual.detach(),
        expected.detach(),
        rtol=default_rtol if rtol is None else rtol,
        atol=default_atol if atol is None else atol,
        equal_nan=True,
    ):
        fail(message, **details)


def assert_gradient(
    actual: Any, expected: Tensor, message: str = GRADIENT_IS_WRONG, **details: Any
) -> None:
    """Like ``assert_tensor``, for a gradient. None fails with the check's message, which says when;
    without one, with the message that none came back.
    """
    actual = fetch(actual)
    if actual is None:
        for option in ("rtol", "atol", "expects_nan"):
            details.pop(option, None)
        said = "no gradient came back (None)" if message == GRADIENT_IS_WRONG else message
        fail(said, expected=expected, actual=None, **details)
    assert_tensor(actual, expected, message, **details)


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def assert_raises(
    name: str,
    function: Callable[..., Any],
    *args: Any,
    message: str = "{wanted} should have been raised",
    **details: Any,
) -> str:
    """Require an exception of the class ``name`` or one derived from it; return its text."""
    details["facts"] = {**details.get("facts", {}), "wanted": name}
    try:
        result = function(*args)
    except StudentCodeError as error:
        if error.is_a(name) and not (
            error.type_name == "NotImplementedError" and error.raised_here
        ):
            return error.message
        error.wanted = name
        raise
    except Exception as error:
        if name in [base.__name__ for base in type(error).__mro__]:
            return str(error)
        raise
    raise CheckFailure(message, expected=Opaque(name), actual=result, **details)


def assert_hands_on(
    student: Student, name: str, of: str, x: Tensor, v: Tensor | None = None
) -> bool:
    """Require that ``name(x)`` equals ``of(x)``, such as ``"Sigmoid.apply"``; with ``v``, that the
    gradients for the incoming gradient ``v`` are equal, too.

    A mistake in ``of`` itself does not fail this check. If ``of`` raises or returns no tensor,
    there is nothing to compare with. Return False if ``of`` timed out or crashed, so that the
    caller does not wait for it a second time.
    """
    try:
        with student.writing_allowed():
            _assert_hands_on(student, name, of, x, v)
    except _NoAnswer:
        return False
    return True


class _NoAnswer(Exception):
    """The function to compare with timed out or crashed."""


def _assert_hands_on(student: Student, name: str, of: str, x: Tensor, v: Tensor | None) -> None:
    head, _, member = of.partition(".")
    details: dict[str, Any] = {"inputs": {"x": x}, "facts": {"name": name, "function": of}}
    one, two = (x.detach().clone().requires_grad_() for _ in range(2))
    try:
        want = getattr(getattr(student, head), member)(one)
    except StudentCodeError:
        return
    except WorkerLost:
        raise _NoAnswer from None
    if not isinstance(want, Tensor):
        return
    got = getattr(student, name)(two)
    message = "{name}(x) is not what {function}(x) gives"
    assert_tensor(got, want.detach(), message, expects_nan=True, **details)
    if v is None or not want.requires_grad or want.shape != v.shape:
        return
    details["inputs"]["v"] = v
    try:
        (gradient,) = torch.autograd.grad(want, one, v.clone(), allow_unused=True)
    except StudentCodeError:
        return
    except WorkerLost:
        raise _NoAnswer from None
    if gradient is not None:
        grads = (
            torch.autograd.grad(got, two, v.clone(), allow_unused=True)
            if got.requires_grad
            else (None,)
        )
        assert_gradient(
            grads[0],
            gradient,
            "the gradient through {name}(x) is not what {function}(x) gives",
            expects_nan=True,
            **details,
        )


def assert_not_used(
    student: Student, about: Sequence[str], banned: Sequence[str], message: str
) -> None:
    """Require that the definitions ``about``, and what they call, use none of the ``banned`` names
    (dotted, or ``.method``).
    """
    if student.source.unreadable:
        raise CheckFailure("the file is nested too deeply to be read")
    used = student.source.names_used(*about)
    for name in banned:
        if name in used:
            raise CheckFailure(
                message,
                facts={"used": name.lstrip("."), "line": used[name]},
                line=used[name],
                actual=Opaque(student.source.line(used[name])),
            )


def is_number(value: Any) -> bool:
    """Return whether a value is a finite int or float, and not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
