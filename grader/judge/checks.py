"""Declare checks, and define the assertions that they use.

A check is a pytest test with the fixtures ``student`` (the file that is graded), ``reference`` (the
solution) and ``draw``; its docstring is the title that people see (``grader/docs/authors.md``). A
message is a template: ``{name}`` is filled from the failure's facts and inputs.

Also here: the order of a lesson's checks, and ``Constants``, which restores the tensors in a
lesson's modules after each submission, so that no verdict depends on earlier submissions.
"""

from __future__ import annotations

import copy
import difflib
import inspect
import math
import types
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, TypeVar

import pytest
import torch
from torch import Tensor
from torch.autograd.gradcheck import GradcheckError

from grader.core.errors import (
    CheckFailure,
    CourseError,
    GraderError,
    MissingName,
    StudentCodeError,
    UndefinedTruth,
    WorkerLost,
)
from grader.core.files import line_with
from grader.core.pictures import GraphFigure, JacobianFigure
from grader.judge.describe import dtype_name
from grader.judge.figures import gradient_of, graphs_figure, jacobian_figure, one_call
from grader.judge.graphs import Graph
from grader.judge.misuse import frame_of_course, misuse
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import fetch
from grader.judge.remote.session import NotStarted, Student
from grader.judge.running_check import running
from grader.worker.wire.compat import CUT_OFF, gradcheck_jacobians
from grader.worker.wire.values import Opaque, StudentRef

F = TypeVar("F", bound=Callable[..., Any])


Needs = Callable[..., Any] | str | Sequence[Callable[..., Any] | str]


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """The arguments of a check's decorator."""

    points: float
    about: str
    wanted: tuple[Callable[..., Any] | str, ...]
    hint: str
    at: str
    bonus: bool

    @property
    def needs(self) -> tuple[str, ...]:
        """The names of the checks that must pass first."""
        return tuple(one if isinstance(one, str) else one.__name__ for one in self.wanted)


def check(
    *,
    points: float,
    about: str,
    needs: Needs = (),
    hint: str | None = None,
    at: str | None = None,
    bonus: bool = False,
) -> Callable[[F], F]:
    """Declare a test as a check.

    ``about`` is the student's function, class or constant that it judges. ``needs`` are the checks
    without which it is skipped, or their names if they are in the other file. ``hint`` is a key of
    the lesson's ``hints.toml``; ``at`` is the definition that a failure points to
    (``"Sigmoid.backward"``). Both are ``about`` by default. The points of a ``bonus`` check come on
    top of the lesson's maximum.
    """
    wanted = (needs,) if callable(needs) or isinstance(needs, str) else tuple(needs)

    def declare(function: F) -> F:
        spec = CheckSpec(points, about, wanted, hint or about, at or about, bonus)
        function.check = spec  # type: ignore[attr-defined]
        return function

    return declare


def lent_name(function: object) -> str:
    """Return what a check's file gives as ``LENDS``, or ''. That is the name of a definition that
    others use, of which the scenario ``lend`` lends them one without mistakes.
    """
    return str(namespace_of(function).get("LENDS", ""))


def namespace_of(function: object) -> dict[str, object]:
    """Return the namespace of a function; of a check that is made of parts, that of its file."""
    found: dict[str, object] = getattr(function, "space", getattr(function, "__globals__", {}))
    return found


def call_check(
    function: Callable[..., object], *, student: Any, reference: object, seed: int
) -> None:
    """Call a check with those of its fixtures that it asks for, without pytest. Before that, the
    student's other definitions get what the lesson ``LENDS``, or their own helper again.
    """
    draw = RandomInputs(seed)
    given = {"student": student, "reference": reference, "draw": draw}
    lent = lent_name(function)
    with running(student, draw):
        if lent:
            own = function.check.about == lent  # type: ignore[attr-defined]
            student.observe(*(["give_back", lent] if own else ["lend"]))
        function(**{name: given[name] for name in inspect.signature(function).parameters})


def check_of(
    parts: Sequence[Callable[[], object]], title: str, declare: Callable[[Any], Any]
) -> Callable[..., None]:
    """Return a check that is made of parts, which are called one after the other. Its name is that
    of the variable that it is assigned to (``name_checks``), its namespace that of the lesson.
    """

    def made(student: Student, draw: RandomInputs) -> None:
        for part in parts:
            part()

    made.__doc__ = title
    made.__name__ = MADE
    made.space = frame_of_course().f_globals  # type: ignore[attr-defined]
    declare(made)
    return made


MADE = "made"


def name_checks(found: Iterable[tuple[str, object]]) -> None:
    """Give checks that are made of parts the names of their variables."""
    for name, one in found:
        if getattr(one, "__name__", None) == MADE and isinstance(one, types.FunctionType):
            one.__name__ = name


def spec_of(item: pytest.Item) -> CheckSpec:
    """Return the arguments of a check's decorator; raise CourseError if it has none."""
    spec = getattr(getattr(item, "function", None), "check", None)
    if not isinstance(spec, CheckSpec):
        raise CourseError(f"{place_of(item)}: {item.name} has no @check decorator. Add one")
    return spec


def place_of(item: pytest.Item) -> str:
    """Return ``path:line`` of a check's definition."""
    return line_with(item.path, f"def {item.name}(", f"{item.name} = ")


def order_checks(items: Sequence[pytest.Item], *, withheld: bool) -> list[pytest.Item]:
    """Put each check after those that it needs, whichever file they are in, and bonus checks last.
    What is lent is in a worker only when the checks about it are over.

    Raise CourseError if a check needs itself or a check that does not exist. With ``withheld``,
    some checks are held back, and needing one of those is fine.
    """
    name_checks((item.name, getattr(item, "obj", None)) for item in items)
    by_name = {item.name: item for item in items}
    ordered: dict[str, pytest.Item] = {}

    def place(item: pytest.Item, path: tuple[str, ...] = ()) -> None:
        if item.name in path:
            circle = " → ".join((*path, item.name))
            raise CourseError(f"{place_of(item)}: checks need each other in a circle: {circle}")
        for need in spec_of(item).needs:
            if need in by_name:
                place(by_name[need], (*path, item.name))
            elif not withheld:
                near = difflib.get_close_matches(need, by_name, n=1)
                meant = f"Did you mean {near[0]}?" if near else f"Checks: {', '.join(by_name)}"
                raise CourseError(
                    f"{place_of(item)}: {item.name} needs {need}, which is not a check of this"
                    f" lesson. {meant}"
                )
        ordered.setdefault(item.name, item)

    def order(item: pytest.Item) -> tuple[bool, bool]:
        spec, lent = spec_of(item), lent_name(getattr(item, "obj", None))
        return bool(lent) and spec.about != lent, spec.bonus

    for item in sorted(items, key=order):
        place(item)
    return list(ordered.values())


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


DETAILS = inspect.signature(CheckFailure).parameters.keys() - {"message"}


PRECISION = {"rtol", "atol", "expects_nan"}
"""What only comparisons of tensors need; checks pass it to other assertions, too."""


def known(details: dict[str, Any]) -> dict[str, Any]:
    """Return what a failure shows of the details. Raise CourseError for a detail that there is not,
    also where the assertion holds.
    """
    for name in details.keys() - DETAILS - PRECISION:
        near = difflib.get_close_matches(name, DETAILS | PRECISION, n=1)
        meant = f". Did you mean {near[0]}=?" if near else f"; there are {', '.join(DETAILS)}"
        raise misuse(f"an assertion has no {name}={meant}")
    return {name: value for name, value in details.items() if name in DETAILS}


def fail(message: str, **details: Any) -> NoReturn:
    """Fail with a message; details as for ``CheckFailure``."""
    raise CheckFailure(message, **known(details))


def assert_that(condition: bool, message: str, **details: Any) -> None:
    """Fail with a message unless the condition holds; details as for ``CheckFailure``."""
    details = known(details)
    if not condition:
        raise CheckFailure(message, **details)


def assert_equal(
    actual: Any, expected: Any, message: str = "not what was expected", **details: Any
) -> None:
    """Require the same plain data: same types, same values. 1, 1.0 and True differ. NaN equals
    nothing, so it can't be expected.
    """
    details = known(details)
    actual = fetch(actual)
    assert_defined(expected, actual=actual, **details)
    if not _same(actual, expected):
        raise CheckFailure(message, expected=expected, actual=actual, **details)


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
    details = known(details)
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
        facts |= {"dtype": dtype_name(actual), "expected_dtype": dtype_name(expected)}
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
    """Like ``assert_tensor``; None fails with the check's message, or as a missing gradient."""
    actual = fetch(actual)
    if actual is None:
        said = (
            "None came back where a gradient is promised"
            if message == GRADIENT_IS_WRONG
            else message
        )
        fail(said, expected=expected, actual=None, **details)
    assert_tensor(actual, expected, message, **details)


def assert_tuple(actual: Any, count: int, *, lists: bool = False, **details: Any) -> None:
    """Require a tuple of so many elements; with ``lists``, a list will do."""
    facts = {**details.pop("facts", {}), "type": type_name(actual), "count": count}
    details |= {"actual": actual, "facts": facts}
    if actual is None:
        fail("None came back where a tuple is promised: is there a return?", **details)
    if not isinstance(actual, tuple | list if lists else tuple):
        fail("{type} came back where a tuple of {count} is promised", **details)
    if len(actual) != count:
        facts["size"] = len(actual)
        fail("the tuple has {size} elements, expected {count}", **details)


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
        return len(left) == len(right) and all(map(_same, left, right))
    if isinstance(left, dict):
        return list(left) == list(right) and all(_same(left[key], right[key]) for key in left)
    return bool(left == right)


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
    except (GraderError, MissingName, NotStarted, WorkerLost):  # say nothing about the code
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
    head, _, member = of.partition(".")
    inputs = {"x": x}
    facts = {"name": name, "function": of}
    one, two = (x.detach().clone().requires_grad_() for _ in range(2))
    with student.writing_allowed():
        try:
            want = getattr(getattr(student, head), member)(one)
        except StudentCodeError:
            return True
        except WorkerLost:
            return False
        if not isinstance(want, Tensor):
            return True
        got = getattr(student, name)(two)
        message = "{name}(x) is not what {function}(x) gives"
        assert_tensor(got, want.detach(), message, expects_nan=True, inputs=inputs, facts=facts)
        if v is None or not want.requires_grad or want.shape != v.shape:
            return True
        try:
            (gradient,) = torch.autograd.grad(want, one, v.clone(), allow_unused=True)
        except StudentCodeError:
            return True
        except WorkerLost:
            return False
        if gradient is not None:
            mine = None
            if got.requires_grad:
                (mine,) = torch.autograd.grad(got, two, v.clone(), allow_unused=True)
            message = "the gradient through {name}(x) is not what {function}(x) gives"
            inputs["v"] = v
            assert_gradient(mine, gradient, message, expects_nan=True, inputs=inputs, facts=facts)
    return True


def assert_not_used(
    student: Student, about: Sequence[str], banned: Sequence[str], message: str
) -> None:
    """Require that definitions, and what they call, use no banned name (dotted or ``.method``)."""
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


MAX_JACOBIAN = 1 << 23
"""The most elements of a Jacobian that gradcheck compares one by one."""


def assert_gradcheck(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    message: str = "gradcheck disagrees",
    **options: Any,
) -> None:
    """Require that torch.autograd.gradcheck passes on float64 inputs; a failure shows Jacobians.

    ``options`` are gradcheck's, and ``names``: the names of the inputs in the report.
    """
    _gradcheck(torch.autograd.gradcheck, function, inputs, message, options)


def assert_gradgradcheck(
    function: Callable[..., Any],
    inputs: Sequence[Tensor],
    message: str = "gradgradcheck disagrees",
    **options: Any,
) -> None:
    """Require that torch.autograd.gradgradcheck passes; like ``assert_gradcheck``."""
    _gradcheck(torch.autograd.gradgradcheck, function, inputs, message, options)


def _gradcheck(
    checker: Any, function: Any, inputs: Sequence[Tensor], message: str, options: dict[str, Any]
) -> None:
    names = options.pop("names", None) or [f"input {k}" for k in range(len(inputs))]
    named = dict(zip(names, inputs, strict=True))
    bounded = function if options.get("fast_mode") else _bounded(function, named)
    try:
        checker(bounded, tuple(inputs), **options)
    except GradcheckError as error:
        text = str(error)
        numerical, analytical = gradcheck_jacobians(text)
        raise CheckFailure(
            message,
            expected=numerical,
            actual=analytical,
            inputs=named,
            facts={"gradcheck": text[:600]},
            checker=(checker.__name__, function, tuple(inputs), options),
            figures=[lambda: _disagreement(checker, function, named, options)],
        ) from None
    except RuntimeError as error:
        if CUT_OFF not in str(error):
            raise
        cut_off = "the result is cut off from the graph: it does not require grad"
        raise CheckFailure(cut_off, inputs=named) from None


def _bounded(function: Any, inputs: dict[str, Tensor]) -> Callable[..., Any]:
    """Return the function; it fails the check if a Jacobian would be too large to compare."""
    elements = sum(x.numel() for x in inputs.values())

    def called(*args: Any) -> Any:
        result = function(*args)
        results = result if isinstance(result, list | tuple) else (result,)
        outputs = sum(y.numel() for y in results if isinstance(y, Tensor))
        if outputs * elements > MAX_JACOBIAN:
            message = "the result has {count} elements, too many for gradcheck to compare"
            fail(message, facts={"count": f"{outputs:,}"}, inputs=inputs)
        return result

    return called


def _disagreement(
    checker: Any, function: Any, inputs: dict[str, Tensor], options: dict[str, Any]
) -> JacobianFigure | None:
    """Return the two Jacobians that a checker compared, of the function or of its gradient."""
    tolerances = {name: options[name] for name in ("atol", "rtol", "eps") if name in options}
    if checker is torch.autograd.gradcheck:
        return jacobian_figure(function, inputs, **tolerances)
    y = function(*inputs.values())
    v = torch.linspace(0.5, 1.5, y.numel(), dtype=torch.float64).reshape(y.shape).requires_grad_()
    incoming = "grad_output" if "v" in inputs else "v"
    return jacobian_figure(gradient_of(function), {**inputs, incoming: v}, **tolerances)


def predictions(student: Student, name: str, keys: Sequence[str]) -> dict[str, bool]:
    """Return predictions; raise NotStarted if all are ``...``, CheckFailure if one is no bool."""
    found = getattr(student, name)
    if not isinstance(found, dict):
        facts = {"name": name, "type": type_name(found)}
        fail("{name} is of type {type}, not a dictionary", actual=found, facts=facts)
    if found and all(value is Ellipsis for value in found.values()):
        raise NotStarted(name)
    for key in keys:
        facts = {"key": repr(key)}
        if key not in found or found[key] is Ellipsis:
            fail("no prediction for {key}", actual=found, facts=facts)
        if type(found[key]) is not bool:
            message = "the prediction for {key} must be True or False"
            fail(message, actual=found[key], facts=facts)
    return found


def own_graph(student: Student, name: str, path: str, inputs: dict[str, Tensor]) -> GraphFigure:
    """Return a figure: the graph that the student's ``path`` builds, beside the graph of a single
    call of a Function ``name``. The path ``"apply"`` stands for ``name.apply``.
    """
    full = f"{name}.apply" if path == "apply" else path
    return graphs_figure(
        student.observe("graph", full, list(inputs), list(inputs.values())), one_call(name, inputs)
    )


def type_name(value: Any) -> str:
    """Return the name of a value's type, as a student would say it."""
    if isinstance(value, Tensor):
        return "Tensor"
    if isinstance(value, Opaque):
        return value.type_name
    return "function" if isinstance(value, StudentRef) else type(value).__name__


def is_number(value: Any) -> bool:
    """Return whether a value is a finite int or float, and not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


class Constants:
    """The leaf tensors in the namespaces of modules, also in containers and graphs there."""

    def __init__(self, namespaces: Iterable[dict[str, object]]) -> None:
        found = {id(t): t for space in namespaces for t in tensors_in(space) if t.is_leaf}
        self._kept = [(tensor, copy.deepcopy(tensor)) for tensor in found.values()]

    def __len__(self) -> int:
        return len(self._kept)

    def put_back(self) -> None:
        """Restore the value, ``requires_grad`` and ``.grad`` that each tensor had at first."""
        for tensor, first in self._kept:
            with torch.no_grad():
                tensor.copy_(first)
            tensor.requires_grad_(first.requires_grad)
            tensor.grad = None if first.grad is None else first.grad.clone()


def tensors_in(value: object) -> Iterable[Tensor]:
    """Yield the tensors in a container or a written graph, at any depth."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, Graph):
        yield from value.inputs.values()
    elif isinstance(value, dict):
        for name, inner in value.items():
            if name != "__builtins__":
                yield from tensors_in(inner)
    elif isinstance(value, list | tuple | set | frozenset):
        for inner in value:
            yield from tensors_in(inner)
