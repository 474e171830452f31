"""second_derivative: the mistakes that people make here, and what tells each of them.

Several causes raise the same message, or give the same zeros. So a rule watches the student's code
differentiate a cube, and sees which gradient has no graph.
"""

import ast
from math import comb

import torch

from grader.authoring import (
    StudentCodeError,
    differs,
    phrase,
    program,
    raises,
    rule,
    same,
    says,
    short_repr,
)

CURVED = {
    "second_derivative": program(lambda x: x**3),
    "nth_derivative": program(lambda x: x**3),
    "hessian": program(lambda x: x.sum() ** 3 + (x**3).sum()),
    "gradient_penalty": program(lambda x: (x**3).sum(1)),
}
CURVED_TEXT = {"hessian": "x.sum() ** 3 + (x ** 3).sum()", "gradient_penalty": "(x ** 3).sum(1)"}
TILTED = {
    "second_derivative": program(lambda x: x**3 + x * 1e8),
    "nth_derivative": program(lambda x: x**3 + x * 1e8),
    "hessian": program(lambda x: x.sum() ** 3 + (x**3).sum() + x.sum() * 1e8),
    "gradient_penalty": program(lambda x: (x**3).sum(1) + 1e8),
}
"""The curves with a large linear term or constant: differences feel it, derivatives do not."""

NO_GRAPH = "element 0 of tensors does not require grad"
UNUSED = "appears to not have been used"
LINES = ("linear", "line_is_zero", "constant", "to_learn")
"""What is in the name of a check of functions with a constant derivative."""


def point(name, *, requires_grad=True):
    """An x for ``name``: two numbers, or two rows of two."""
    values = [[1.0, 2.0], [0.5, 1.5]] if name == "gradient_penalty" else [1.0, 2.0]
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def asked(student, name, f, x, *more):
    """What the student's function answers; the exception, if it raises."""
    try:
        return getattr(student, name)(f, x, *more)
    except StudentCodeError as error:
        return error


def on_a_curve(failure, student, n=2, curves=CURVED):
    """The answer for a curve at an x that requires grad, and the right one."""
    name = failure.about
    more = (n,) if name == "nth_derivative" else ()
    f, x = curves[name], point(name)
    return asked(student, name, f, x, *more), getattr(failure.reference, name)(f, x, *more)


def right_on_a_curve(failure, student):
    return same(*on_a_curve(failure, student))


def steps(failure, student, n=2, **flags):
    """What is differentiated on the way to the answer for the curve, and what comes of it."""
    name = failure.about
    more = (n,) if name == "nth_derivative" else ()
    return student.observe("steps", name, CURVED[name], point(name, **flags), *more)


def gave_up(answer):
    """Whether an answer is what a missing graph leads to: an exception, None or zeros."""
    if isinstance(answer, StudentCodeError):
        return any(text in str(answer) for text in ("require grad", UNUSED, "NoneType"))
    return answer is None or (isinstance(answer, torch.Tensor) and not answer.any())


def outcome(answer):
    """What an answer is, as a part of a sentence."""
    if isinstance(answer, StudentCodeError):
        return phrase("your code raised {error}", error=str(answer).split(".")[0])
    if isinstance(answer, torch.Tensor):
        return phrase("your function returned {value}", value=short_repr(answer))
    return phrase("your function returned None")


def is_tensor(value, dimensions=None):
    return isinstance(value, torch.Tensor) and dimensions in (None, value.dim())


def used(student, name):
    """The definitions of the student's that a function reaches, itself first."""
    names = [name]
    for at in names:  # which grows meanwhile
        node = student.source.definitions.get(at)
        inside = {one.id for one in ast.walk(node) if isinstance(one, ast.Name)} if node else ()
        names += [one for one in student.source.definitions if one in inside and one not in names]
    return [student.source.definitions[at] for at in names if at in student.source.definitions]


def calls(student, name, *methods):
    """The calls of methods such as ``grad`` and ``backward`` below a function, in their order."""
    found = [
        one
        for node in used(student, name)
        for one in sorted(ast.walk(node), key=lambda one: getattr(one, "lineno", 0))
        if isinstance(one, ast.Call)
    ]
    named = {f"{place}{name}" for name in methods for place in ("torch.autograd.", "autograd.", "")}
    named -= set(student.source.definitions)
    return [
        one
        for one in found
        if ast.unparse(one.func) in named
        or (getattr(one.func, "attr", "") == "backward" and "backward" in methods)
    ]


def line_of(student, name, *, recorded):
    """The line of the first differentiation with create_graph=True, or without; {} for none."""
    for call in calls(student, name, "grad", "backward"):
        flags = [one.value for one in call.keywords if one.arg == "create_graph"]
        true = any(isinstance(flag, ast.Constant) and flag.value is True for flag in flags)
        if true == recorded:
            return {"line": call.lineno}
    return {}


def true_derivative(failure, n):
    """The n-th derivative at the failure's own inputs; None where it has none."""
    f, x = failure.inputs.get("f"), failure.inputs.get("x")
    if f is None or x is None or failure.about not in ("second_derivative", "nth_derivative"):
        return None
    return failure.reference.nth_derivative(f.program, x, n).detach() if n >= 0 else None


# --------------------------------------------------------------------- told by the exception's text


vector_without_v = raises("implicitly created only for scalar")
rows_free_the_graph = raises("second time")
ones_of_the_wrong_shape = raises("Mismatch in shape")
dual_level_left_open = raises("Nested forward mode AD")


@rule
def requires_grad_switched_off(failure, student):
    return {} if (failure.message or "").startswith("x.requires_grad was True") else None


@rule
def uses_the_judges_tool(failure, student):
    found = failure.facts.get("used") or failure.facts.get("modules")
    return {"found": found} if found and not str(found).endswith(".vmap") else None


@rule
def tuple_of_gradients(failure, student):
    texts = ("'tuple' object", "not tuple", "got tuple")
    if any(map(failure.raised, texts)):
        collects = failure.raised("'append'") or failure.raised("item assignment")
        return None if collects else {"shown": failure.error.message}
    returned = [
        one.value
        for node in used(student, failure.about)[:1]
        for one in ast.walk(node)
        if isinstance(one, ast.Return)
    ]
    if any(isinstance(value, ast.Tuple) for value in returned):
        return None  # a comma after what is returned makes a tuple too
    single = isinstance(failure.actual, tuple) and len(failure.actual) == 1
    return {"shown": failure.actual} if single else None


# ------------------------------------ one message or zeros, several causes: told apart by watching


@rule
def x_must_require_grad(failure, student):
    if not gave_up(failure.error or failure.actual):
        return None
    plain = failure.check.endswith(("plain_tensor", "keeps_grad"))
    for requires_grad in (True, False) if plain else (True,):
        given = steps(failure, student, requires_grad=requires_grad)["given"]
        if given and not any(given):
            answer = failure.error or failure.actual
            return {"requires_grad": requires_grad, "outcome": outcome(answer)}
    return None


@rule
def flag_switched_back_too_early(failure, student):
    if not failure.raised("One of the differentiated Tensors does not require grad"):
        return None
    seen = steps(failure, student, requires_grad=False)
    return {} if all(seen["given"]) and seen["afterwards"] == [False] else None


def lost(failure, student):
    """Which gradient of the curve has no path to x, counted from 0, and whether it was computed
    without a graph; None if that is not what the check failed over.
    """
    if failure.about == "gradient_penalty" or not gave_up(failure.error or failure.actual):
        return None
    n = 3 if failure.about == "nth_derivative" else 2
    if not gave_up(on_a_curve(failure, student, n)[0]):
        return None
    seen, shown = steps(failure, student, n), {"outcome": outcome(failure.error or failure.actual)}
    for k in range(n - 1):
        if not all(seen["asked"][k : k + 1]) or len(seen["gradients"]) <= k:
            return None  # the value of f has lost its path, or it is x that is another
        if not seen["gradients"][k]:
            return k, True, shown
        if not any(seen["asked"][k + 1 : k + 2]):
            return k, False, shown
    return None


@rule
def create_graph_missing(failure, student):
    k, unrecorded, shown = lost(failure, student) or (None, None, {})
    line = {} if failure.error else line_of(student, failure.about, recorded=False)
    return {**shown, **line} if k == 0 and unrecorded else None


@rule
def create_graph_once(failure, student):
    k, unrecorded, shown = lost(failure, student) or (None, None, {})
    return shown if k and unrecorded and right_on_a_curve(failure, student) else None


@rule
def past_cut_off(failure, student):
    k, unrecorded, shown = lost(failure, student) or (None, None, {})
    line = {} if failure.error else line_of(student, failure.about, recorded=True)
    return {**shown, **line} if k is not None and not unrecorded else None


@rule
def constant_derivative_raises(failure, student):
    on_a_line = any(text in failure.check for text in LINES)
    if on_a_line and failure.raised(NO_GRAPH) and right_on_a_curve(failure, student):
        return {}
    return None


@rule
def graph_that_misses_x(failure, student):
    answer = failure.error or failure.actual
    on_a_line = any(text in failure.check for text in LINES)
    if not on_a_line or (failure.expected is None and not failure.raised(UNUSED)):
        return None
    if isinstance(answer, torch.Tensor):
        return None
    return {"outcome": outcome(answer)} if right_on_a_curve(failure, student) else None


# --------------------------------------------------------------------------- told by what came back


@rule
def writes_to_grad(failure, student):
    found = calls(student, failure.about, "backward")
    if "held" not in failure.facts or not found:
        return None
    return {"name": failure.facts.get("parameter", "x"), "line": found[0].lineno}


@rule
def grad_is_cleared(failure, student):
    held, after = failure.facts.get("held"), failure.facts.get("after")
    cleared = after is None or (is_tensor(after) and not after.any())
    return {"name": failure.facts.get("parameter", "x")} if is_tensor(held) and cleared else None


@rule
def negative_order_accepted(failure, student):
    n, x = failure.inputs.get("n"), failure.inputs.get("x")
    wrong = isinstance(n, int) and n < 0 and is_tensor(failure.actual)
    return {} if wrong and x.numel() else None


@rule
def n_unchecked_for_empty_x(failure, student):
    n, x = failure.inputs.get("n"), failure.inputs.get("x")
    wrong = isinstance(n, int) and n < 0 and is_tensor(failure.actual)
    return {} if wrong and not x.numel() else None


@rule
def order_zero(failure, student):
    zero = failure.inputs.get("n") == 0 and is_tensor(failure.actual)
    wrong = zero and differs(failure.actual, failure.expected)
    return {} if wrong and right_on_a_curve(failure, student) else None


@rule
def zeros_unlike_x(failure, student):
    got, want = failure.actual, failure.expected
    if not is_tensor(got) or not is_tensor(want) or want.any() or got.any() or not want.numel():
        return None
    if got.shape == want.shape and got.dtype == want.dtype:
        return None
    curved = on_a_curve(failure, student)
    if not same(*curved) or curved[0].dtype is not curved[1].dtype:
        return None  # it is not the zeros
    kinds = [f"{tuple(one.shape)}, {str(one.dtype).removeprefix('torch.')}" for one in (got, want)]
    return {"kind": kinds[0], "wanted": kinds[1]}


@rule
def accumulated_in_grad(failure, student):
    n, first = failure.inputs.get("n", 2), true_derivative(failure, 1)
    if first is None or n < 2 or not calls(student, failure.about, "backward"):
        return None
    piled = sum(comb(n - 1, k) * true_derivative(failure, k + 1) for k in range(n))
    if not same(failure.actual, piled) or not differs(piled, failure.expected):
        return None
    return {"first": first, "second": true_derivative(failure, 2)}


@rule
def constant_for_zeros(failure, student):
    n = failure.inputs.get("n", 2)
    if not is_tensor(failure.actual) or not is_tensor(failure.expected) or failure.expected.any():
        return None
    for order in range(n - 1, 0, -1):
        lower = true_derivative(failure, order)
        if differs(failure.actual, failure.expected) and same(failure.actual, lower):
            return {"n": n, "order": order} if right_on_a_curve(failure, student) else None
    return None


@rule
def zeros_one_order_early(failure, student):
    got, want, x = failure.actual, failure.expected, failure.inputs.get("x")
    if not is_tensor(got) or not is_tensor(want) or got.any() or not want.any() or not x.any():
        return None
    curved = asked(student, failure.about, program(lambda x: x.exp()), point(failure.about), 3)
    constant = same(want, want.flatten()[:1].expand_as(want))
    return {} if constant and same(curved, point(failure.about).exp()) else None


@rule
def one_derivative_short(failure, student):
    n = failure.inputs.get("n", 2)
    for found in (n - 1, n + 1):
        wrong = differs(failure.actual, failure.expected) and failure.actual.any()
        if wrong and same(failure.actual, true_derivative(failure, found)):
            return {"order": n, "found": found}
    return None


@rule
def mean_for_sum(failure, student):
    got, want = failure.actual, failure.expected
    if not is_tensor(got) or not is_tensor(want) or want.numel() < 2 or not want.any():
        return None
    for times in range(1, failure.inputs.get("n", 2) + 1):
        if same(got * want.numel() ** times, want):
            return {"factor": want.numel() ** times, "count": want.numel()}
    return None


@rule
def row_sums(failure, student):
    want = failure.expected
    if not is_tensor(want, 2) or len(want) < 2:
        return None
    sums = want.sum(1)
    shown = same(failure.actual, sums) or same(failure.actual, sums.diag())
    return {"sums": sums} if shown and differs(sums, want.diagonal()) else None


@rule
def diagonal_only(failure, student):
    want = failure.expected
    if not is_tensor(want, 2) or len(want) < 2 or not differs(want, want.diagonal().diag()):
        return None
    diagonal = want.diagonal()
    if not diagonal.any():
        return None
    shown = same(failure.actual, diagonal) or same(failure.actual, diagonal.diag())
    return {"diagonal": diagonal, "mixed": float(want[0, 1])} if shown else None


@rule
def rows_pile_up(failure, student):
    want, found = failure.expected, calls(student, failure.about, "backward")
    if not is_tensor(want, 2) or not found or not differs(failure.actual, want):
        return None
    f, x = failure.inputs["f"], failure.inputs["x"]
    gradient = torch.autograd.functional.vjp(f.program, x.detach())[1]
    piled, last = want.cumsum(0), want.sum(0).expand_as(want)
    forms = (piled, last, piled + gradient, last + gradient)
    line = {"line": found[-1].lineno}
    return line if any(same(failure.actual, form) for form in forms) else None


def without_graph(failure):
    return (failure.message or "").startswith("the penalty does not require grad")


@rule
def recorded_only_for_some_x(failure, student):
    f, x = failure.inputs.get("f"), failure.inputs.get("x")
    if not without_graph(failure) or x.requires_grad:
        return None
    other = asked(student, failure.about, f.program, x.detach().clone().requires_grad_())
    return {} if is_tensor(other) and other.requires_grad else None


@rule
def penalty_cut_off(failure, student):
    f, x, got = failure.inputs.get("f"), failure.inputs.get("x"), failure.actual
    no_gradient = "trains" in failure.check and got is None
    if failure.error or not (no_gradient or without_graph(failure)):
        return None
    got = asked(student, failure.about, f.program, x) if got is None else got
    if not is_tensor(got):
        return None
    line = line_of(student, failure.about, recorded=False)
    return {"penalty": got, **line} if right_on_a_curve(failure, student) else None


def row_gradients(failure, x):
    """The gradient of each row's f, the failure's own, at x."""
    f = failure.inputs["f"].program
    return torch.autograd.functional.vjp(lambda x: f(x).sum(), x.detach())[1]


def gives(*formulas, where=""):
    """A rule for formulas of the rows' gradients ``g``: the first that gives what came back, in
    checks with ``where`` in their name.

    Two formulas may nearly agree at one x, so it has to give what comes back at another, too.
    """

    def recognize(failure, student):
        f, x = failure.inputs.get("f"), failure.inputs.get("x")
        if f is None or not is_tensor(failure.actual) or not is_tensor(failure.expected):
            return None
        if where not in failure.check or failure.expected.abs().max() < 1e-6:
            return None
        g = row_gradients(failure, x)
        elsewhere = failure.draw.tensor(*x.shape, dtype=x.dtype, requires_grad=x.requires_grad)
        for formula in formulas:
            value = eval(formula, {"g": g})
            if not same(failure.actual, value) or same(value, failure.expected):
                continue
            there = eval(formula, {"g": row_gradients(failure, elsewhere)})
            answer = asked(student, failure.about, f.program, elsewhere)
            if same(answer, there, rtol=1e-3, atol=1e-4):
                return {"formula": formula, "norms": g.norm(dim=1)}
        return None

    return rule(recognize)


norm_of_the_wrong_elements = gives(
    "(g.norm() - 1) ** 2",
    "((g.norm(dim=0) - 1) ** 2).mean()",
    "((g - 1) ** 2).mean()",
    "((g.abs() - 1) ** 2).mean()",
    "((g - 1) ** 2).sum(1).mean()",
)
another_norm = gives(
    "((g.square().sum(1) - 1) ** 2).mean()",
    "((g.square().mean(1).sqrt() - 1) ** 2).mean()",
    "((g.square().mean(1) - 1) ** 2).mean()",
    "((g.abs().sum(1) - 1) ** 2).mean()",
    "((g.sum(1) - 1) ** 2).mean()",
    "((g.abs().amax(1) - 1) ** 2).mean()",
)
target_forgotten = gives(
    "(g.norm(dim=1) ** 2).mean()",
    "g.norm(dim=1).mean()",
    "(g.norm(dim=1) - 1).mean()",
    "(g.norm(dim=1) - 1).abs().mean()",
    "((g.norm(dim=1) - 1).clamp(min=0) ** 2).mean()",
)
rows_put_together_wrongly = gives(
    "((g.norm(dim=1) - 1) ** 2).sum()",
    "(g.norm(dim=1).mean() - 1) ** 2",
    "(g.mean(0).norm() - 1) ** 2",
    "(g.norm(dim=1) - 1) ** 2",
    "((g.norm(dim=1, keepdim=True) - 1) ** 2)",
)
too_much_at_the_root = gives(
    *(f"(((g.square().sum(1) + 1e-{k}).sqrt() - 1) ** 2).mean()" for k in (5, 4, 3, 2)),
    *(f"((g.norm(dim=1) + 1e-{k} - 1) ** 2).mean()" for k in (4, 3, 2)),
)
column_meets_a_vector = gives("(((g * len(g)).norm(dim=1) - 1) ** 2).mean()", where="column")
mean_of_the_critic = gives("(((g / len(g)).norm(dim=1) - 1) ** 2).mean()")


@rule
def finite_differences(failure, student):
    answer, truth = on_a_curve(failure, student)
    if failure.error or not is_tensor(answer) or answer.shape != truth.shape:
        return None
    tilted, _ = on_a_curve(failure, student, curves=TILTED)
    if answer.dtype != truth.dtype or same(tilted, answer, rtol=0.0, atol=0.0):
        return None  # something small is added, to the norm, say, or under its root
    error = float((answer - truth).abs().max())
    shown = {"f_asked": CURVED_TEXT.get(failure.about, "x ** 3"), "error": f"{error:.2g}"}
    return shown if 1e-12 < error < 0.05 else None


detaches_the_callers_x = says("cut it from its graph")
