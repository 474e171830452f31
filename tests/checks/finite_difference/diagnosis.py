"""finite_difference, rules that recognize mistakes by what came back and by where f was called."""

import ast
from typing import Any

import torch
from torch import Tensor

from grader.authoring import Again, Failure, Student, formula, methods, rule, same, value_rule

SQUARES, MATRIX = formula("(x ** 2).sum()"), torch.arange(6.0, dtype=torch.float64).reshape(2, 3)
CURVE, POINT, STEP = "-x**3", 0.75, 0.25
RUNS = {"forward_difference": 1e-3, "central_difference": 1e-3, "numerical_gradient": 1e-5}
Facts = dict[str, Any]


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask at one number, with a step that tells all formulas apart; numerical_gradient is asked
    for the gradient of the same curve at a vector of that number.
    """
    one = torch.tensor(POINT, dtype=torch.float64)
    gradient = failure.about == "numerical_gradient"
    curve, f = formula(CURVE), formula(f"({CURVE}).sum()" if gradient else CURVE)
    x = one.reshape(1) if gradient else one
    ahead = "" if failure.about == "forward_difference" else " - h"
    run = "h" if failure.about == "forward_difference" else "(2 * h)"
    return Again(
        names={"f": lambda at: curve(at).reshape(x.shape), "x": one, "h": STEP,
               "run": RUNS[failure.about]},
        right={"value": f"(f(x + h) - f(x{ahead})) / {run}"},
        ask={"value": lambda _: getattr(student, failure.about)(f, x.clone(), STEP)},
    )  # fmt: skip


def steps_of(failure: Failure) -> list[Tensor]:
    """Return how far each point at which f was called is from x, in float64; a point of another
    shape (a batch of points) is left out.
    """
    x, points = failure.inputs.get("x"), failure.facts.get("points", ())
    if not isinstance(x, Tensor):
        return []
    return [p.double() - x.detach().double() for p in points if p.shape == x.shape]


def moved_in(failure: Failure) -> list[list[int]]:
    """Return which elements of x had moved at each point."""
    least = failure.inputs.get("h", 0.0) / 1000
    steps = [step.flatten().abs() > least for step in steps_of(failure)]
    return [moved.nonzero().flatten().tolist() for moved in steps]


def moved_together(failure: Failure, k: int) -> Facts | None:
    """Return the facts of point number k; None if an element moved further than a step does."""
    step = steps_of(failure)[k]
    if float(step.abs().max()) > 3 * failure.inputs["h"]:
        return None
    moved = [float(f"{one:.4g}") for one in step.flatten().tolist()]
    return {"moved": len(moved_in(failure)[k]), "count": step.numel(), "steps": moved}


@rule
def zero_dims(failure: Failure, student: Student) -> Facts | None:
    """An error of counting or indexing where x is 0-d."""
    if failure.check != "test_a_single_number_has_a_gradient" or not failure.error:
        return None
    if not any(map(failure.raised, ("0-d", "IndexError"))):
        return None
    return {"line": str(failure.error.line), "said": str(failure.error)}


VIEW = "view raised: the elements do not lie in memory in the order of the new shape."
COPY = "Every call of f got the values of x: your step did not reach f, as if it changed a copy."


@rule
def flattened_by_memory(failure: Failure, student: Student) -> Facts | None:
    """view raises for a sliced matrix, and not for a dense one; or no point differs from x."""
    if failure.check != "test_strides_do_not_matter":
        return None
    if failure.raised("RuntimeError", "view size is not compatible"):
        # if this raises, no rule names the failure, and it has another cause
        student.numerical_gradient(SQUARES, MATRIX.clone(), 0.25)
        return {"what": VIEW}
    moved = moved_in(failure)
    return {"what": COPY} if moved and not any(moved) else None


@rule
def uses_autograd(failure: Failure, student: Student) -> Facts | None:
    """A derivative went through f."""
    return {} if failure.facts.get("derivatives") else None


@rule
def writes_into_x(failure: Failure, student: Student) -> Facts | None:
    """x holds other numbers afterwards."""
    x, held = failure.inputs.get("x"), failure.facts.get("held")
    if not isinstance(held, Tensor) or torch.equal(held, x):
        return None
    before, after = next(
        (one, other)
        for one, other in zip(x.flatten().tolist(), held.flatten().tolist(), strict=True)
        if one != other
    )
    return {"before": repr(before), "after": repr(after)}  # all digits: some only round


@rule
def float32_on_the_way(failure: Failure, student: Student) -> Facts | None:
    """A point, or the result, in float32."""
    x, points = failure.inputs.get("x"), failure.facts.get("points", ())
    if not isinstance(x, Tensor) or x.dtype is not torch.float64:
        return None
    if any(p.dtype is torch.float32 for p in points):
        return {"where": "The points at which you called f are float32."}
    single = isinstance(failure.actual, Tensor) and failure.actual.dtype is torch.float32
    return {"where": "What you returned is float32."} if single else None


@value_rule
def two_names_for_one_tensor(failure: Failure, student: Student) -> Facts | None:
    """Zeros came back, and a name that is written to was assigned another name."""
    got, wanted = failure.actual, failure.expected
    if not isinstance(got, Tensor) or not isinstance(wanted, Tensor) or got.any():
        return None
    nodes = [node for one in methods(student, failure.about) for node in ast.walk(one)]
    steps = [node.target for node in nodes if isinstance(node, ast.AugAssign)]
    written = {part.id for one in steps for part in ast.walk(one) if isinstance(part, ast.Name)}
    for node in nodes if wanted.any() else ():
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)):
                if name in written:
                    copy = ast.unparse(node)
                    return {"line": node.lineno, "copy": copy, "name": name, "other": other}
    return None


@rule
def several_at_once(failure: Failure, student: Student) -> Facts | None:
    """The first step already moves several elements."""
    moved = moved_in(failure)
    first = next((k for k, which in enumerate(moved) if which), None)
    return None if first is None or len(moved[first]) < 2 else moved_together(failure, first)


@rule
def steps_pile_up(failure: Failure, student: Student) -> Facts | None:
    """A later point has moved in more elements than one."""
    moved = moved_in(failure)
    later = next((k for k, which in enumerate(moved) if len(which) > 1), None)
    return None if later is None else moved_together(failure, later)


@rule
def flat_gradient(failure: Failure, student: Student) -> Facts | None:
    """The right numbers, in one dimension."""
    x, got = failure.inputs.get("x"), failure.actual
    if not isinstance(x, Tensor) or not isinstance(got, Tensor):
        return None
    if got.shape == x.shape or got.shape != (x.numel(),):
        return None
    slopes = student.numerical_gradient(SQUARES, MATRIX.clone(), 0.25)
    if not isinstance(slopes, Tensor) or not same(slopes.flatten(), 2 * MATRIX.flatten()):
        return None  # more than the shape is missing
    return {"shape": str(tuple(x.shape)), "flat": str(tuple(got.shape))}


@rule
def step_is_not_h(failure: Failure, student: Student) -> Facts | None:
    """An element that moved by itself never moved by h."""
    if not isinstance(failure.actual, Tensor):
        return None
    h, found = failure.inputs["h"], {}
    for step, which in zip(steps_of(failure), moved_in(failure), strict=True):
        if len(which) == 1:
            found.setdefault(which[0], []).append(float(step.flatten()[which[0]].abs()))
    wrong = (max(far) for far in found.values() if all(abs(one - h) > 0.01 * h for one in far))
    distance = next(wrong, None)
    return None if distance is None else {"distance": float(f"{distance:.6g}")}


@rule
def one_point_for_both(failure: Failure, student: Student) -> Facts | None:
    """0 for a function that returns its argument or a view of it."""
    zero = isinstance(failure.actual, Tensor) and not failure.actual.any()
    return {} if zero and failure.check.endswith("takes_any_f") else None


@value_rule
def nearer_the_derivative(failure: Failure, student: Student) -> Facts | None:
    """The error against the derivative is a tenth of that of the right slope, or less."""
    f, x, values = failure.inputs.get("f"), failure.inputs["x"], (failure.actual, failure.expected)
    if not all(isinstance(value, Tensor) for value in values):
        return None
    x = x.detach().double().requires_grad_()
    (derivative,) = torch.autograd.grad(f(x), x)
    mine, right = (value.detach().double() for value in values)
    if not mine.shape == right.shape == derivative.shape or not mine.numel():
        return None
    near, apart = (float((t - derivative).abs().max()) for t in (mine, right))
    least = 1e-6 * float(derivative.abs().max())
    return {"derivative": derivative} if max(10 * near, least) < apart else None
