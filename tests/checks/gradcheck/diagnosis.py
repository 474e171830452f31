"""gradcheck, the mistakes that people make in it. Each is told by what the student's code does when
it is asked again.
"""

import torch

from grader.authoring import differs, program, rule, same

F64 = torch.float64
SQUARE = program(lambda x: x**2)
POINT, EPS = torch.tensor([1.0, 2.0], dtype=F64), 0.25
WEIGHTS = torch.tensor([[1.0, 2.0], [0.5, -1.0], [3.0, 0.25]], dtype=F64)
LINEAR = program(lambda x, w: w @ x, parameters=[WEIGHTS])
PAIR = [program(lambda x: x**2), program(lambda x, v: v * x * 2, inputs=2)]
SUM_OF_TWO = [
    program(lambda x, y: x * 3 + y * y, inputs=2),
    program(lambda x, y, v: (v * 3, v * y * 2), inputs=3),
]
TEXT = "this function stops here"


def verdict(student, parts, *inputs):
    """What passes_gradcheck says, and what it called the function with."""
    return student.observe("verdict", parts, *inputs)


def jacobian(student, f, x, *args):
    """What numerical_jacobian returns."""
    return student.observe("measured", f, x, *args)["result"]


# --------------------------------------------------------------------------------- passes_gradcheck


@rule
def exceptions_escape(failure, student):
    """gradcheck's own error, or the one that the check put into the function, comes out."""
    if failure.error is None:
        return None
    ours = failure.error.type_name == "GradcheckError" or TEXT in failure.error.message
    return {"kind": failure.error.type_name} if ours else None


@rule
def copies_do_not_require_grad(failure, student):
    """gradcheck was called with no tensor that requires grad."""
    x = torch.tensor([0.5, -1.5], dtype=F64)
    if failure.raised("ValueError", "expects at least one input tensor to require gradient"):
        return {"x": x, "answer": "ValueError"}
    if failure.error is not None:
        return None
    seen = student.observe("handed", PAIR, x)
    without = [wants for wants in seen["wants"] if not any(wants)]
    return {"x": x, "answer": seen["result"]} if seen["result"] is False and without else None


@rule
def only_the_first_input(failure, student):
    """Of two inputs one requires grad and the other does not, and that is what the check is about:
    the caller's tensors are as before.
    """
    if failure.error is not None or "changed" in failure.facts:
        return None
    wants = verdict(
        student,
        SUM_OF_TWO,
        torch.tensor([0.5, 2.0], dtype=F64),
        torch.tensor([1.5, -1.0], dtype=F64),
    )["wants"]
    return {"wants": tuple(wants)} if len(wants) == 2 and any(wants) and not all(wants) else None


@rule
def inputs_stay_float32(failure, student):
    """The function was called in float32."""
    if failure.about == "passes_gradcheck":
        dtypes = verdict(student, PAIR, torch.tensor([5.0], requires_grad=True))["dtypes"]
    else:
        seen = failure.facts.get("seen") or {}
        dtypes = [dtype for one in seen.values() for dtype in one["dtypes"]]
    if "float32" not in dtypes:
        return None
    near = torch.tensor(5.0)
    above = near + 1e-6
    return {
        "dtype": "float32",
        "near": 5.0,
        "above": f"{float(above):.8f}",
        "step": f"{float(above - near):.8f}",
    }


@rule
def tolerances_widened(failure, student):
    """Twice the gradient is seen, and one per cent is not."""
    if failure.actual is not True:
        return None
    value = program(lambda x: x**2)
    near, far = (program(lambda x, v, c=c: v * x * (2 * c), inputs=2) for c in (1.01, 2.0))
    x = POINT.clone().requires_grad_()
    answers = [verdict(student, [value, slope], x)["result"] for slope in (near, far)]
    return {"x": POINT} if answers == [True, False] else None


@rule
def callers_tensor_is_touched(failure, student):
    """The check has found what has changed."""
    return {} if "changed" in failure.facts else None


# ------------------------------------------------------------------------------- numerical_jacobian


@rule
def uses_autograd(failure, student):
    """A derivative of the function was asked for."""
    if failure.error is not None:
        return None
    count = student.observe("measured", PAIR, POINT.clone())["derivatives"]
    return {"count": count} if count else None


@rule
def computed_in_float32(failure, student):
    """fn was called in float32, or float32 came back; a wrong shape does not come from that."""
    came, right = failure.actual, failure.expected
    if failure.error is not None or (
        isinstance(came, torch.Tensor)
        and isinstance(right, torch.Tensor)
        and came.shape != right.shape
    ):
        return None
    x = torch.tensor([5.0])
    seen = student.observe("measured", SQUARE, x)
    got, want = seen["result"], torch.tensor([[10.0]], dtype=F64)
    if not isinstance(got, torch.Tensor) or ("float32" not in seen["dtypes"] and got.dtype is F64):
        return None
    if "float32" not in seen["dtypes"] and not same(got, want):
        return None
    if got.dtype is F64 and same(
        got, want
    ):  # fn was called in float32 too, for the size of its result, say
        return None
    return {"x": x, "dtype": (seen["dtypes"] or ["float32"])[0], "got": got, "want": want}


@rule
def transposed(failure, student):
    """The Jacobian of a linear map comes back transposed."""
    if failure.error is not None:
        return None
    got = jacobian(student, LINEAR, POINT.clone())
    return {"got": got, "want": WEIGHTS} if same(got, WEIGHTS.T, rtol=1e-4) else None


def slopes_of_square(student):
    """What numerical_jacobian makes of x ** 2 at 1 and 2 with eps = 0.25: its diagonal, or None
    where there is more to it.
    """
    got = jacobian(student, SQUARE, POINT.clone(), EPS)
    if not isinstance(got, torch.Tensor) or got.shape != (2, 2):
        return None
    return got.diagonal() if same(got, torch.diag(got.diagonal())) else None


@rule
def one_sided(failure, student):
    """The slopes are those of the forward, or of the backward difference."""
    if failure.error is not None or (got := slopes_of_square(student)) is None:
        return None
    want = 2 * POINT
    for formula, slopes in (
        ("(fn(x + eps) - fn(x)) / eps", want + EPS),
        ("(fn(x) - fn(x - eps)) / eps", want - EPS),
    ):
        if same(got, slopes):
            return {"x": POINT, "eps": EPS, "got": got, "formula": formula, "want": want}
    return None


@rule
def divided_by_another_step(failure, student):
    """All slopes are off by one positive factor, such as 2, or what missing brackets make."""
    if failure.error is not None or (got := slopes_of_square(student)) is None:
        return None
    want = 2 * POINT
    factor = float(got[0] / want[0])
    if factor <= 0 or not same(got, factor * want) or not differs(got, want):
        return None
    return {"x": POINT, "eps": EPS, "got": got, "factor": round(factor, 6), "want": want}


# -------------------------------------------------------------------------------------- find_broken


@rule
def names_the_working_ones(failure, student):
    """The complement came back."""
    names = failure.facts.get("names")
    wrong = (
        isinstance(failure.actual, set)
        and names
        and failure.actual == set(names) - failure.expected
    )
    return {} if wrong else None


# ----------------------------------------------------------------------------------------- FixedPow


def asked(student):
    """Both gradients of FixedPow for a drawn-up x, q and v, and these."""
    x = torch.tensor([2.0, 5.0], dtype=F64, requires_grad=True)
    q = torch.tensor([3.0, 1.5], dtype=F64, requires_grad=True)
    v = torch.tensor([0.7, -1.3], dtype=F64)
    got = torch.autograd.grad(student.FixedPow.apply(x, q), (x, q), v.clone(), allow_unused=True)
    return x.detach(), q.detach(), v, got


@rule
def gradients_exchanged(failure, student):
    """First comes what belongs to q, then what belongs to x."""
    x, q, v, got = asked(student)
    wanted = v * x**q * x.log(), v * q * x ** (q - 1)
    return (
        {"x": x, "q": q, "v": v, "first": got[0]}
        if all(same(a, b) for a, b in zip(got, wanted, strict=True))
        else None
    )


@rule
def incoming_gradient_left_out(failure, student):
    """One gradient is the bare derivative."""
    x, q, v, got = asked(student)
    for which, gradient, bare in zip(
        ("x", "q"), got, (q * x ** (q - 1), x**q * x.log()), strict=True
    ):
        if same(gradient, bare):
            return {"v": v, "which": which, "got": gradient}
    return None


@rule
def logarithm_not_mended(failure, student):
    """The gradient with respect to q has log(x + 1)."""
    x, q, v, got = asked(student)
    wrong, want = v * x**q * torch.log(x + 1), v * x**q * torch.log(x)
    return (
        {"x": x, "q": q, "v": v, "got": got[1], "want": want}
        if same(got[1], wrong) and differs(wrong, want)
        else None
    )
