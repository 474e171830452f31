"""implicit: how the student's code is asked again, and rules that are more than a formula."""

from __future__ import annotations

import ast
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    Backward,
    Failure,
    Student,
    differs,
    formula,
    methods,
    nonlinear_backward,
    rule,
    same,
    term_beside_v,
    value_and_gradients,
    value_rule,
)

Facts = dict[str, Any]

F64 = torch.float64
MAP = "(W @ z + x ** 2 + 1).sqrt() / 2"
LOSS = "((P @ (z - x)) ** 2).sum() + (x ** 3).sum() / 3"
A = torch.tensor([[4.0, 0.9, -0.5], [-0.8, -3.0, 0.4], [0.2, 0.7, 5.0]], dtype=F64)
B = torch.tensor([1.0, -2.0, 0.5], dtype=F64)
W = torch.tensor([[0.3, 0.2, 0.9], [0.5, 0.2, 0.4], [0.2, 0.6, 0.3]], dtype=F64)
P = torch.tensor([[1.0, 0.5, 0.0], [-0.5, 1.5, 0.2], [0.1, 0.0, 0.7]], dtype=F64)
X = torch.tensor([0.6, -1.1, 0.8], dtype=F64)
V = torch.tensor([-1.5, 0.7, 1.2], dtype=F64)
ZERO = torch.zeros(3, dtype=F64)


def asked_again(failure: Failure, student: Student) -> Again:
    """Ask for a gradient: of Solve the one that failed, of others that of their only tensor."""
    name = failure.about
    names, right = {
        "Solve": of_solve, "FixedPoint": of_a_fixed_point, "newton_sqrt": of_a_root,
        "minimizer_gradient": of_a_minimizer,
    }[name](failure)  # fmt: skip
    which = failure.facts.get("which", "A")

    def gradient(names: Facts) -> Any:
        if name == "minimizer_gradient":
            f = formula(LOSS, "z x", P=P)
            return student.minimizer_gradient(f, names["z"].clone(), names["x"], names["v"])
        return ask(student, name, names["v"])[int(name == "Solve" and which == "b")]

    return Again(names, {"gradient": right}, {"gradient": gradient}, facts={"which": which})


def ask(student: Student, name: str, v: Tensor) -> tuple[Any, ...]:
    """Return the gradients of a Function, or of newton_sqrt, for the incoming gradient v."""
    if name == "Solve":
        return value_and_gradients(student.Solve.apply, [A, B], v)[1]
    if name == "newton_sqrt":
        return value_and_gradients(student.newton_sqrt, [X * X], v)[1]
    f = formula(MAP, "z x", W=W)
    return value_and_gradients(lambda x: student.FixedPoint.apply(f, ZERO, x), [X], v)[1]


def of_solve(failure: Failure) -> tuple[Facts, str]:
    inverse = torch.linalg.inv(A)
    names = {"A": A, "b": B, "v": V, "x": inverse @ B, "w": inverse.T @ V, "u": inverse @ V}
    return names, "w" if failure.facts.get("which") == "b" else "-w[:, None] * x"


def of_a_fixed_point(failure: Failure) -> tuple[Facts, str]:
    """J and K are the Jacobians of f at the fixed point z, with respect to z and to x; J0 and K0
    those at z0.
    """
    f, z = formula(MAP, "z x", W=W), ZERO
    for _ in range(100):
        z = f(z, X)
    J, K = torch.autograd.functional.jacobian(f, (z, X))  # noqa: N806
    J0, K0 = torch.autograd.functional.jacobian(f, (ZERO, X))  # noqa: N806
    names = {"x": X, "v": V, "z": z, "J": J, "K": K, "J0": J0, "K0": K0, "I": torch.eye(3).double()}
    return names, "linalg.solve((I - J).T, v) @ K"


def of_a_root(failure: Failure) -> tuple[Facts, str]:
    return {"a": X * X, "v": V, "r": X.abs()}, "v / (2 * r)"


def of_a_minimizer(failure: Failure) -> tuple[Facts, str]:
    """H is the Hessian with respect to z, L the derivatives of the slope with respect to x."""
    H = 2 * P.T @ P  # noqa: N806
    return {"x": X, "z": X, "v": V, "H": H, "L": -H}, "-linalg.solve(H, v) @ L"


def backward_of(failure: Failure, student: Student) -> Backward:
    """Return v, and gradients as a function of the incoming gradient."""
    labels = {"Solve": ("A", "b"), "FixedPoint": ("x",)}.get(failure.about, ("a",))
    return V, lambda v: dict(zip(labels, ask(student, failure.about, v), strict=True))


@rule
def needs_enable_grad(failure: Failure, student: Student) -> Facts | None:
    """torch complains of a result without a graph, and nothing switches recording on."""
    if failure.error is None or not failure.raised("does not have a grad_fn"):
        return None
    on = any("enable" in name for name in student.source.names_used(failure.about))
    return None if on else {"said": failure.error.message}


@value_rule
def root_made_a_leaf(failure: Failure, student: Student) -> Facts | None:
    """No gradient comes back, and the result, which requires grad, has no graph."""
    if failure.about != "newton_sqrt" or "gradient" not in failure.message:
        return None
    none = failure.actual is None and isinstance(failure.expected, Tensor)
    a = (X * X).requires_grad_()
    return {} if none and student.observe("behind", a) == 0 else None


@rule
def ready_made_root(failure: Failure, student: Student) -> Facts | None:
    """A function was seen; a power in the text of newton_sqrt is shown if it is the only one."""
    if "used" not in failure.facts:
        return None
    nodes = [node for one in methods(student, "newton_sqrt") for node in ast.walk(one)]
    lines = [node.lineno for node in nodes if is_power(node)]
    seen_by_name = isinstance(failure.facts["used"], str)
    return {} if seen_by_name or len(lines) != 1 else {"line": lines[0]}


def is_power(node: ast.AST) -> bool:
    """Whether this is a ** b or pow(a, b), with a b that is not written as a whole number."""
    match node:
        case ast.BinOp(op=ast.Pow(), right=exponent):
            pass
        case ast.Call(func=ast.Attribute(attr="pow"), args=[*_, exponent]):
            pass
        case _:
            return False
    return not isinstance(getattr(exponent, "value", None), int)


@rule
def writes_into_others(failure: Failure, student: Student) -> Facts | None:
    """A check saw a change; or forward of Solve changes A or b, which other checks feel."""
    said = failure.message or ""
    if (
        "changed" in said
        and "in place" not in said
        and said.startswith(("{", "FixedPoint", "newton_sqrt"))
    ):
        return {"which": failure.facts.get("which", "grad_output" if "v" in said else "a")}
    if failure.about != "Solve" or failure.error is not None:
        return None
    a, b = A.clone(), B.clone()
    with student.writing_allowed() as copies:
        student.Solve.apply(a, b)
    for which, one in (("A", a), ("b", b)):
        if differs(copies.of(one), one):
            return {"which": which}
    return None


@value_rule
def gradient_left_out(failure: Failure, student: Student) -> Facts | None:
    """A gradient is missing, and the other is right."""
    if failure.about != "Solve":
        return None
    found = ask(student, "Solve", V)
    missing = [name for name, got in zip("Ab", found, strict=True) if got is None]
    return {"which": missing[0]} if len(missing) == 1 else None


@value_rule
def stash_outside(failure: Failure, student: Student) -> Facts | None:
    """A call between forward and backward changes the gradient."""

    def solve(a: Tensor, b: Tensor) -> Any:
        x = student.Solve.apply(a, b)
        student.Solve.apply(a.detach() * 2 + torch.eye(3).double(), b.detach() * 3 - 1)
        return x

    def point(x: Tensor) -> Any:
        z = student.FixedPoint.apply(formula(MAP, "z x", W=W), ZERO, x)
        student.FixedPoint.apply(formula("z / 3 + x", "z x"), ZERO, x.detach() * 2)
        return z

    name = failure.about
    function, inputs = {"Solve": (solve, [A, B]), "FixedPoint": (point, [X])}.get(name, (None, []))
    if function is None:
        return None
    for once, got in zip(
        ask(student, name, V), value_and_gradients(function, inputs, V)[1], strict=True
    ):
        if differs(got, once):
            return {"function": name, "once": once, "got": got}
    return None


@value_rule
def ignores_grad_output(failure: Failure, student: Student) -> Facts | None:
    """The same gradients for three incoming gradients."""
    if failure.about == "minimizer_gradient":
        return None
    runs = [ask(student, failure.about, v) for v in (V, V.sign() + V, -0.01 * V)]
    for got, again, small in zip(*runs, strict=True):
        found = isinstance(got, Tensor) and (got.abs() > 0.01).any()
        if found and same(got, again) and same(got, small):
            return {"v": V, "got": got, "other": V.sign() + V}
    return None


@value_rule
def added_to_w(failure: Failure, student: Student) -> Facts | None:
    """w begins with v and is multiplied by I + J in each of some steps."""
    at_backward = failure.about == "FixedPoint" and not failure.points_to("forward")
    if not at_backward or not isinstance(failure.actual, Tensor):
        return None
    names, _ = of_a_fixed_point(failure)
    (got,), w = ask(student, "FixedPoint", V), V + V @ names["J"]  # one step is first_terms_only
    for _ in range(1000):
        w = w + w @ names["J"]
        if same(got, w @ names["K"]):
            return {}
    return None


term_outside_the_product = term_beside_v(backward_of)
nonlinear_in_grad_output = nonlinear_backward(backward_of)


@value_rule
def stops_early(failure: Failure, student: Student) -> Facts | None:
    """Where each step halves the distance, all is 1 - 2 ** -n of the right value."""
    got, want = failure.actual, failure.expected
    if "f" not in failure.inputs or not isinstance(got, Tensor):
        return None
    shares = 1 - 0.5 ** torch.arange(2.0, 33.0, dtype=F64)
    found = any(same(got, want * share, rtol=1e-9) for share in shares)
    return {} if found and not same(got, want, rtol=1e-9) else None


@rule
def few_iterations(failure: Failure, student: Student) -> Facts | None:
    """Roots near 1 are right, and others not even to six digits."""
    got, want = failure.actual, failure.expected
    if failure.check != "test_roots_from_tiny_to_huge" or not isinstance(got, Tensor):
        return None
    far = "newton_sqrt(a)" in failure.message and differs(got / want, torch.ones_like(want))
    return {"got": got, "want": want} if far else None


@value_rule
def product_element_by_element(failure: Failure, student: Student) -> Facts | None:
    """A matrix came back: that of the inverse times b with *."""
    A, b = (failure.inputs.get(name) for name in "Ab")  # noqa: N806
    if failure.about != "Solve" or not isinstance(A, Tensor) or not isinstance(b, Tensor):
        return None
    return {} if same(failure.actual, torch.linalg.inv(A.detach()) * b.detach()) else None
