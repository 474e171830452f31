"""Declare checks, and define what they use besides assertions. (Check files import it from
``grader.authoring``.)

A check is a pytest test with the fixtures ``student``, ``reference`` and ``draw``; its docstring is
the title that people see::

    @check(points=2, about="Sigmoid", needs=test_forward)
    def test_gradient_uses_the_incoming_gradient(student, draw):
        \"\"\"backward multiplies by the incoming gradient\"\"\"
        x, v = draw.tensor(5, requires_grad=True), draw.tensor(5)
        (got,) = torch.autograd.grad(student.sigmoid(x), x, v)
        (want,) = torch.autograd.grad(torch.sigmoid(x), x, v)
        assert_gradient(got, want, inputs={"x": x, "v": v})

``student`` is the file that is graded, ``reference`` the solution; both have the functions of the
file as attributes and ``observe(scenario, …)``. A message is a template: ``{name}`` is filled from
the failure's facts and inputs.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from torch import Tensor

from grader.core.errors import CheckFailure
from grader.judge.assertions import type_name
from grader.judge.constants import HELPERS
from grader.judge.figures import Figure, graphs_figure, one_call
from grader.judge.local_student import execute
from grader.judge.remote.session import NotStarted, Student

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """The arguments of a check's decorator."""

    points: float
    about: str
    needs: tuple[str, ...]
    hint: str
    at: str
    bonus: bool


def check(
    *,
    points: float,
    about: str,
    needs: Callable[..., Any] | str | Sequence[Callable[..., Any] | str] = (),
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
    wanted = [needs] if callable(needs) or isinstance(needs, str) else list(needs)
    names = tuple(need if isinstance(need, str) else need.__name__ for need in wanted)

    def declare(function: F) -> F:
        function.check = CheckSpec(points, about, names, hint or about, at or about, bonus)  # type: ignore[attr-defined]
        return function

    return declare


def import_helpers(file: str) -> types.ModuleType:
    """Return the module ``helpers.py`` beside a check file (``import_helpers(__file__)``), which a
    lesson's visible and hidden checks share.
    """
    path = Path(file).with_name("helpers.py")
    return execute(path.read_text("utf-8"), path.parent.name + HELPERS, str(path))


def predictions(student: Student, name: str, keys: Sequence[str]) -> dict[str, bool]:
    """Return a dictionary of predictions. Raise NotStarted if all are still ``...``, CheckFailure
    if one is missing or not a bool.
    """
    found = getattr(student, name)
    if not isinstance(found, dict):
        raise CheckFailure(
            "{name} is of type {type}, not a dictionary",
            actual=found,
            facts={"name": name, "type": type_name(found)},
        )
    if found and all(value is Ellipsis for value in found.values()):
        raise NotStarted(name)
    for key in keys:
        if key not in found or found[key] is Ellipsis:
            raise CheckFailure("no prediction for {key}", actual=found, facts={"key": repr(key)})
        if type(found[key]) is not bool:
            raise CheckFailure(
                "the prediction for {key} must be True or False",
                actual=found[key],
                facts={"key": repr(key)},
            )
    return found


def own_graph(student: Student, name: str, path: str, inputs: dict[str, Tensor]) -> Figure:
    """Return a figure: the graph that the student's ``path`` builds, beside the graph of a single
    call of a Function ``name``. The path ``"apply"`` stands for ``name.apply``.
    """
    full = f"{name}.apply" if path == "apply" else path
    return graphs_figure(
        student.observe("graph", full, list(inputs), list(inputs.values())), one_call(name, inputs)
    )
