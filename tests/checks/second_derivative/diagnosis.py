"""second_derivative: the mistakes that people make here, and what tells each of them.

A rule may ask the student about a function of its own (``CURVED``, ``STRAIGHT``, ``learned``):
where the student's code raises there is no input to look at, but what it does with a cube and what
with a line tells one cause of the same message from another.
"""

import ast
from math import comb

import torch

from grader.authoring import StudentCodeError, differs, program, rule, same

ALL = ("second_derivative", "nth_derivative", "hessian", "gradient_penalty")
CURVES = ("second_derivative", "nth_derivative")
ORDERS = ("second_derivative", "nth_derivative", "hessian")

CURVED = {
    "second_derivative": program(lambda x: x**3),
    "nth_derivative": program(lambda x: x**3),
    "hessian": program(lambda x: x.sum() ** 3 + (x**3).sum()),
    "gradient_penalty": program(lambda x: (x**3).sum(1)),
}
CURVED_TEXT = {
    "second_derivative": "x ** 3",
    "nth_derivative": "x ** 3 (n = 2)",
    "hessian": "x.sum() ** 3 + (x ** 3).sum()",
    "gradient_penalty": "(x ** 3).sum(1)",
}
TILTED = {
    "second_derivative": program(lambda x: x**3 + x * 1e8),
    "nth_derivative": program(lambda x: x**3 + x * 1e8),
    "hessian": program(lambda x: x.sum() ** 3 + (x**3).sum() + x.sum() * 1e8),
    "gradient_penalty": program(lambda x: (x**3).sum(1) + 1e8),
}
"""The curves, and a large constant or linear term: differences feel it, and what autograd
differentiates often enough does not.
"""
STRAIGHT = {
    "second_derivative": [("3 * x", program(lambda x: 3 * x), ())],
    "nth_derivative": [
        ("3 * x (n = 2)", program(lambda x: 3 * x), (2,)),
        ("x * x (n = 3)", program(lambda x: x * x), (3,)),
        ("x ** 3 (n = 5)", program(lambda x: x**3), (5,)),
    ],
    "hessian": [("(3 * x).sum()", program(lambda x: (3 * x).sum()), ())],
}
LEARNED_TEXT = {
    "second_derivative": "w * x",
    "nth_derivative": "w * x (n = 2)",
    "hessian": "(w * x).sum()",
}

NO_GRAPH = "element 0 of tensors does not require grad"
UNUSED = "appears to not have been used"
NOT_SCALAR = "implicitly created only for scalar"
SECOND_TIME = "second time"


def learned(name):
    """A curved function with a parameter that requires grad, so that f(x) has a graph whatever x
    is.
    """
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    forms = {
        "hessian": lambda x, w: (x**3).sum() * w,
        "gradient_penalty": lambda x, w: (x**3).sum(1) * w,
    }
    return program(forms.get(name, lambda x, w: x**3 * w), parameters=[w])


def straight_learned(name):
    """A line whose slope requires grad."""
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    return program(
        (lambda x, w: (x * w).sum()) if name == "hessian" else (lambda x, w: x * w), parameters=[w]
    )


def point(name, *, requires_grad=True):
    """An x for ``name``: two numbers, or two rows of two."""
    values = [[1.0, 2.0], [0.5, 1.5]] if name == "gradient_penalty" else [1.0, 2.0]
    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def more(name):
    """What follows x in the call."""
    return (2,) if name == "nth_derivative" else ()


def asked(student, name, f, x, *rest):
    """What the student's function answers: a value, or the StudentError that it ended with."""
    try:
        return getattr(student, name)(f, x, *rest)
    except StudentCodeError as error:
        return error


def raised_by(answer, *fragments):
    """Whether an answer is an exception with one of these in its text."""
    return isinstance(answer, StudentCodeError) and any(
        fragment in str(answer) for fragment in fragments
    )


def stopped_with(failure, *fragments):
    """Whether the check ended with an exception that has one of these in its text; asked before the
    student is.
    """
    return raised_by(failure.error, *fragments)


def said(error):
    """An exception as a part of a sentence."""
    return str(error).rstrip(".")


def right_on_a_curve(failure, student):
    """Whether the function is right for a curved f and an x that requires grad."""
    name = failure.about
    f, x = CURVED[name], point(name)
    return same(
        asked(student, name, f, x, *more(name)), getattr(failure.reference, name)(f, x, *more(name))
    )


def order(failure):
    """The order that was asked for."""
    return failure.inputs.get("n", 2)


def steps(failure, student):
    """What is differentiated on the way to the answer for the curve, and what comes of it."""
    name = failure.about
    return student.observe("steps", name, CURVED[name], point(name), *more(name))


def calls_backward(student):
    """Whether the file asks for a backward() that writes to .grad."""
    return any(
        isinstance(node, ast.Attribute) and node.attr == "backward" for node in student.source.nodes
    )


def returned(student, name):
    """The expressions that the function returns."""
    functions = [
        node
        for node in student.source.nodes
        if isinstance(node, ast.FunctionDef) and node.name == name
    ]
    return [
        node.value
        for function in functions
        for node in ast.walk(function)
        if isinstance(node, ast.Return)
    ]


def true_derivative(failure, n):
    """The n-th derivative at the failure's own inputs; None where it has none."""
    f, x = failure.inputs.get("f"), failure.inputs.get("x")
    if f is None or x is None or failure.about not in CURVES or n < 0:
        return None
    return failure.reference.nth_derivative(f.program, x, n).detach()


def row_gradients(failure, x):
    """The gradient of each row's f, the failure's own, at x."""
    return torch.autograd.functional.vjp(
        lambda x: failure.inputs["f"].program(x).sum(), x.detach()
    )[1]


def penalty_formula(failure, student, formulas):
    """The facts of the first of these formulas of the rows' gradients ``g`` that gives what came
    back; None where none does.

    Two formulas may give nearly the same number at one x, so it has to give what comes back at
    another, too.
    """
    f, x = failure.inputs.get("f"), failure.inputs.get("x")
    if (
        f is None
        or x is None
        or not isinstance(failure.actual, torch.Tensor)
        or not isinstance(failure.expected, torch.Tensor)
    ):
        return None
    g, elsewhere = (
        row_gradients(failure, x),
        failure.draw.tensor(*x.shape, dtype=x.dtype, requires_grad=x.requires_grad),
    )
    for formula in formulas:
        value = eval(formula, {"g": g})
        if same(failure.actual, value) and not same(value, failure.expected):
            there = eval(formula, {"g": row_gradients(failure, elsewhere)})
            if same(
                asked(student, "gradient_penalty", f.program, elsewhere),
                there,
                rtol=1e-3,
                atol=1e-4,
            ):
                return {"formula": formula, "norms": g.norm(dim=1)}
    return None


# --------------------------------------------------------------------- told by the exception's text


@rule
def uses_the_judges_tool(failure, student):
    found = failure.facts.get("used") or failure.facts.get("modules")
    return (
        {"found": found} if found and not str(found).endswith(".vmap") else None
    )  # vmap by itself differentiates nothing


@rule
def tuple_of_gradients(failure, student):
    if failure.raised("'append'") or failure.raised("item assignment"):
        return None  # rows are to be collected in a tuple
    if (
        failure.raised("'tuple' object")
        or failure.raised("not tuple")
        or failure.raised("got tuple")
    ):
        return {"shown": said(failure.error)}
    if any(isinstance(value, ast.Tuple) for value in returned(student, failure.about)):
        return None  # a comma after what is returned makes a tuple too
    return (
        {"shown": failure.actual}
        if isinstance(failure.actual, tuple) and len(failure.actual) == 1
        else None
    )


@rule
def vector_without_v(failure, student):
    return {"text": said(failure.error)} if failure.raised(NOT_SCALAR) else None


@rule
def rows_free_the_graph(failure, student):
    rows = failure.about in ("hessian", "gradient_penalty")
    return {"text": said(failure.error)} if rows and failure.raised(SECOND_TIME) else None


@rule
def ones_of_the_wrong_shape(failure, student):
    return {"text": said(failure.error)} if failure.raised("Mismatch in shape") else None


@rule
def squeezes_the_batch_away(failure, student):
    if "one_row" in failure.check and failure.raised("0-d tensor"):
        return {"text": said(failure.error)}
    if "one_row" in failure.check and failure.raised("0-dim"):
        return {"text": said(failure.error)}
    return None


# ------------------------------------------------ one message, several causes: told apart by asking


@rule
def x_must_require_grad(failure, student):
    name = failure.about
    if not stopped_with(failure, "require grad", "NoneType"):
        return None
    answer = asked(student, name, learned(name), point(name), *more(name))
    if raised_by(answer, "ifferentiated Tensor") and raised_by(answer, "does not require grad"):
        return (
            None
            if any(steps(failure, student)["given"])
            else {"requires_grad": True, "text": said(answer)}
        )
    if not failure.check.endswith(("plain_tensor", "keeps_grad")) or not right_on_a_curve(
        failure, student
    ):
        return None
    plain = asked(student, name, CURVED[name], point(name, requires_grad=False), *more(name))
    return (
        {"requires_grad": False, "text": said(plain)}
        if isinstance(plain, StudentCodeError)
        else None
    )


@rule
def only_a_leaf_keeps_grad(failure, student):
    if (
        not failure.check.endswith("at_a_result")
        or not failure.raised("NoneType")
        or not right_on_a_curve(failure, student)
    ):
        return None
    return {"text": said(failure.error)}


@rule
def flag_of_a_result(failure, student):
    if (
        not failure.check.endswith("at_a_result")
        or not failure.raised("requires_grad", "leaf")
        or not right_on_a_curve(failure, student)
    ):
        return None
    return {"text": said(failure.error)}


@rule
def create_graph_once(failure, student):
    if not stopped_with(failure, NO_GRAPH, UNUSED) or not right_on_a_curve(failure, student):
        return None
    third = asked(student, "nth_derivative", CURVED["nth_derivative"], point("nth_derivative"), 3)
    if not raised_by(third, NO_GRAPH, UNUSED):
        return None
    return {"text": said(third)}


@rule
def past_cut_off(failure, student):
    name = failure.about
    if not stopped_with(failure, UNUSED):
        return None
    answer = asked(student, name, CURVED[name], point(name), *more(name))
    led = steps(failure, student)["asked"]
    if len(led) < 2 or led[-1]:
        return None  # the value of f has lost its past, or it is x that is another
    return (
        {"f_asked": CURVED_TEXT[name], "text": said(answer)} if raised_by(answer, UNUSED) else None
    )


@rule
def create_graph_missing(failure, student):
    name = failure.about
    if not stopped_with(failure, NO_GRAPH):
        return None
    answer = asked(student, name, CURVED[name], point(name), *more(name))
    if not without_create_graph(failure, student):
        return None
    return (
        {"f_asked": CURVED_TEXT[name], "text": said(answer)}
        if raised_by(answer, NO_GRAPH)
        else None
    )


def without_create_graph(failure, student):
    """Whether f's value leads to x, and the first gradient of it has no graph."""
    seen = steps(failure, student)
    return any(seen["asked"][:1]) and not any(seen["gradients"][:1])


@rule
def constant_derivative_raises(failure, student):
    name = failure.about
    if not stopped_with(failure, NO_GRAPH, UNUSED) or not right_on_a_curve(failure, student):
        return None
    for text, f, rest in STRAIGHT[name]:
        answer = asked(student, name, f, point(name), *rest)
        if raised_by(answer, NO_GRAPH, UNUSED):
            return {"f_asked": text, "text": said(answer)}
    return None


@rule
def graph_that_misses_x(failure, student):
    name = failure.about
    if not stopped_with(failure, UNUSED) or not right_on_a_curve(failure, student):
        return None
    answer = asked(student, name, straight_learned(name), point(name), *more(name))
    return (
        {"f_asked": LEARNED_TEXT[name], "text": said(answer)} if raised_by(answer, UNUSED) else None
    )


# --------------------------------------------------------------------------- told by what came back


@rule
def writes_to_x_grad(failure, student):
    return (
        {}
        if failure.check.endswith("keeps_grad")
        and "held" in failure.facts
        and calls_backward(student)
        else None
    )


@rule
def negative_order_accepted(failure, student):
    asked_for = failure.inputs.get("n")
    return (
        {}
        if isinstance(asked_for, int) and asked_for < 0 and isinstance(failure.actual, torch.Tensor)
        else None
    )


@rule
def order_zero(failure, student):
    if (
        failure.inputs.get("n") != 0
        or not right_on_a_curve(failure, student)
        or not isinstance(failure.actual, torch.Tensor)
    ):
        return None
    x = failure.inputs["x"]
    known = (x, torch.zeros_like(x), torch.ones_like(x), true_derivative(failure, 1))
    return {} if any(same(failure.actual, form) for form in known) else None


@rule
def zeros_unlike_x(failure, student):
    got, want = failure.actual, failure.expected
    if (
        not isinstance(got, torch.Tensor)
        or not isinstance(want, torch.Tensor)
        or want.any()
        or got.any()
        or not want.numel()
    ):
        return None
    if got.shape == want.shape and got.dtype == want.dtype:
        return None
    dtypes = {
        "dtype": str(got.dtype).removeprefix("torch."),
        "wanted_dtype": str(want.dtype).removeprefix("torch."),
    }
    return {"shape": str(tuple(got.shape)), "wanted_shape": str(tuple(want.shape)), **dtypes}


@rule
def connected_by_force(failure, student):
    name = failure.about
    if failure.error is not None:
        return None
    f, x = CURVED[name], point(name)
    answer, truth = (
        asked(student, name, f, x, *more(name)),
        getattr(failure.reference, name)(f, x, *more(name)),
    )
    if not isinstance(answer, torch.Tensor) or answer.any() or answer.shape != truth.shape:
        return None
    if raised_by(asked(student, name, learned(name), x, *more(name)), "ifferentiated Tensor"):
        return None  # it is x that does not require grad
    if not without_create_graph(failure, student):
        return None
    return {"f_asked": CURVED_TEXT[name], "answer": answer, "truth": truth}


@rule
def none_came_back(failure, student):
    missing = failure.expected is not None and failure.actual is None and failure.error is None
    if any(
        isinstance(node, ast.Attribute)
        and node.attr in ("backward", "grad")
        and not isinstance(node.value, ast.Attribute)
        for value in returned(student, failure.about)
        if value is not None
        for node in ast.walk(value)
    ):
        return None  # .grad, or what backward() gives, is None as well
    return {} if missing and failure.facts.keys().isdisjoint(("parameter", "held")) else None


@rule
def accumulated_in_grad(failure, student):
    n, first = order(failure), true_derivative(failure, 1)
    if first is None or n < 2 or not calls_backward(student):
        return None
    piled = sum(comb(n - 1, k) * true_derivative(failure, k + 1) for k in range(n))
    if not same(failure.actual, piled) or not differs(piled, failure.expected):
        return None
    return {"first": first, "second": true_derivative(failure, 2)}


@rule
def one_derivative_short(failure, student):
    n = order(failure)
    for found in (n - 1, n + 1):
        if same(failure.actual, true_derivative(failure, found)) and differs(
            failure.actual, failure.expected
        ):
            return {"order": n, "found": found}
    return None


@rule
def square_of_the_first(failure, student):
    first = true_derivative(failure, 1)
    return (
        {"first": first}
        if first is not None
        and same(failure.actual, first**2)
        and differs(failure.actual, failure.expected)
        else None
    )


@rule
def everything_summed(failure, student):
    got, want = failure.actual, failure.expected
    if (
        not isinstance(got, torch.Tensor)
        or not isinstance(want, torch.Tensor)
        or got.numel() != 1
        or want.numel() < 2
    ):
        return None
    return {"count": want.numel()} if same(got.reshape(()), want.sum()) else None


@rule
def mean_for_sum(failure, student):
    got, want = failure.actual, failure.expected
    if (
        not isinstance(got, torch.Tensor)
        or not isinstance(want, torch.Tensor)
        or want.numel() < 2
        or not want.any()
    ):
        return None
    for times in range(1, order(failure) + 1):
        factor = want.numel() ** times
        if same(got * factor, want):
            return {"factor": factor, "count": want.numel()}
    return None


@rule
def row_sums(failure, student):
    want = failure.expected
    if not isinstance(want, torch.Tensor) or want.dim() != 2 or len(want) < 2:
        return None
    sums = want.sum(1)
    shown = same(failure.actual, sums) or same(failure.actual, sums.diag())
    return {"sums": sums} if shown and (sums - want.diagonal()).abs().max() > 1e-6 else None


@rule
def diagonal_only(failure, student):
    want = failure.expected
    if not isinstance(want, torch.Tensor) or want.dim() != 2 or len(want) < 2:
        return None
    diagonal = want.diagonal()
    shown = same(failure.actual, diagonal) or same(failure.actual, diagonal.diag())
    return {"diagonal": diagonal, "mixed": float(want[0, 1])} if shown else None


@rule
def outer_product_of_gradients(failure, student):
    f, x = failure.inputs.get("f"), failure.inputs.get("x")
    if f is None or x is None:
        return None
    gradient = torch.autograd.functional.vjp(f.program, x.detach())[1]
    return {"gradient": gradient} if same(failure.actual, torch.outer(gradient, gradient)) else None


@rule
def rows_pile_up(failure, student):
    f, x, want = failure.inputs.get("f"), failure.inputs.get("x"), failure.expected
    if (
        f is None
        or x is None
        or not isinstance(want, torch.Tensor)
        or want.dim() != 2
        or len(want) < 2
        or not calls_backward(student)
    ):
        return None
    gradient = torch.autograd.functional.vjp(f.program, x.detach())[1]
    piled, last = want.cumsum(0), want.sum(0).expand_as(want)
    forms = (piled, last, piled + gradient, last + gradient)
    return (
        {}
        if any(same(failure.actual, form) for form in forms) and differs(failure.actual, want)
        else None
    )


@rule
def penalty_cut_off(failure, student):
    if failure.error is not None or "trains" not in failure.check:
        return None
    name = "gradient_penalty"
    f, x = learned(name), point(name)
    answer = asked(student, name, f, x)
    if not same(answer, failure.reference.gradient_penalty(f, x)) or answer.requires_grad:
        return None
    return {"penalty": failure.actual}


@rule
def norm_of_the_wrong_elements(failure, student):
    return penalty_formula(
        failure,
        student,
        [
            "(g.norm() - 1) ** 2",
            "((g.norm(dim=0) - 1) ** 2).mean()",
            "((g - 1) ** 2).mean()",
            "((g.abs() - 1) ** 2).mean()",
            "((g - 1) ** 2).sum(1).mean()",
        ],
    )


@rule
def another_norm(failure, student):
    return penalty_formula(
        failure,
        student,
        [
            "((g.square().sum(1) - 1) ** 2).mean()",
            "((g.square().mean(1).sqrt() - 1) ** 2).mean()",
            "((g.square().mean(1) - 1) ** 2).mean()",
            "((g.abs().sum(1) - 1) ** 2).mean()",
            "((g.sum(1) - 1) ** 2).mean()",
            "((g.abs().amax(1) - 1) ** 2).mean()",
        ],
    )


@rule
def target_forgotten(failure, student):
    return penalty_formula(
        failure,
        student,
        [
            "(g.norm(dim=1) ** 2).mean()",
            "g.norm(dim=1).mean()",
            "(g.norm(dim=1) - 1).mean()",
            "(g.norm(dim=1) - 1).abs().mean()",
            "((g.norm(dim=1) - 1).clamp(min=0) ** 2).mean()",
        ],
    )


@rule
def rows_put_together_wrongly(failure, student):
    return penalty_formula(
        failure,
        student,
        [
            "((g.norm(dim=1) - 1) ** 2).sum()",
            "(g.norm(dim=1).mean() - 1) ** 2",
            "(g.mean(0).norm() - 1) ** 2",
            "(g.norm(dim=1) - 1) ** 2",
            "((g.norm(dim=1, keepdim=True) - 1) ** 2)",
        ],
    )


@rule
def mean_of_the_critic(failure, student):
    return penalty_formula(failure, student, ["(((g / len(g)).norm(dim=1) - 1) ** 2).mean()"])


@rule
def finite_differences(failure, student):
    name = failure.about
    if failure.error is not None:
        return None
    f, x = CURVED[name], point(name)
    answer, truth = (
        asked(student, name, f, x, *more(name)),
        getattr(failure.reference, name)(f, x, *more(name)),
    )
    if (
        not isinstance(answer, torch.Tensor)
        or answer.shape != truth.shape
        or answer.dtype != truth.dtype
    ):
        return None
    if same(asked(student, name, TILTED[name], x, *more(name)), answer, rtol=0.0, atol=0.0):
        return None  # something small is added, to the norm, say, or under its root
    error = float((answer - truth).abs().max())
    return {"f_asked": CURVED_TEXT[name], "error": f"{error:.2g}"} if 1e-12 < error < 0.05 else None
