"""gradcheck, the mistakes that people make in it. Each is told by what the student's code does when
it is asked again.
"""

import torch

from grader.authoring import (
    differs,
    formula_value,
    has_facts,
    program,
    raises,
    rule,
    same,
    says,
    value_and_gradients,
    value_rule,
)

F64 = torch.float64
SQUARE = program(lambda x: x**2)
POINT, EPS = torch.tensor([1.0, 2.0], dtype=F64), 0.25
PAIR = [program(lambda x: x**2), program(lambda x, v: v * x * 2, inputs=2)]
SUM_OF_TWO = [
    program(lambda x, y: x * 3 + y * y, inputs=2),
    program(lambda x, y, v: (v * 3, v * y * 2), inputs=3),
]
TEXT = "this function stops here"


def verdict(student, parts, *inputs):
    """What passes_gradcheck says, and what it called the function with."""
    return student.observe("verdict", parts, *inputs)


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
        return {"answer": "ValueError"}
    if failure.error is not None or failure.actual is not False or "changed" in failure.facts:
        return None
    seen = student.observe("handed", PAIR, x)
    without = [wants for wants in seen["wants"] if not any(wants)]
    return {"answer": "False"} if seen["result"] is False and without else None


@value_rule
def only_the_first_input(failure, student):
    """Of two inputs one requires grad and the other does not, and that is what the check is about:
    the caller's tensors are as before.
    """
    if "changed" in failure.facts:
        return None
    x, y = torch.tensor([[0.5, 2.0], [1.5, -1.0]], dtype=F64)
    for first in (x, x.clone().requires_grad_()):
        calls = student.observe("handed", SUM_OF_TWO, first, y.clone())["wants"]
        wants = tuple(map(any, zip(*calls, strict=False)))  # those of all calls of gradcheck
        if len(wants) == 2 and any(wants) and not all(wants):
            return {"wants": wants}
    return None


@value_rule
def inputs_are_flattened(failure, student):
    """fn is called with a tensor of another shape than that of its input."""
    if failure.about != "passes_gradcheck" or failure.actual is not False:
        return None
    x = torch.tensor([[0.5, 2.0], [1.5, -1.0]], dtype=F64)
    shapes = verdict(student, PAIR, x)["shapes"]
    if len(shapes) != 1 or shapes[0] == list(x.shape):
        return None
    return {"given": str(tuple(shapes[0])), "shape": str(tuple(x.shape))}


@value_rule
def inputs_stay_float32(failure, student):
    """The function was called in float32, and a right gradient was rejected."""
    if failure.actual is True or "changed" in failure.facts:
        return None
    if failure.about == "passes_gradcheck":
        seen = verdict(student, PAIR, torch.tensor([5.0], requires_grad=True))
        dtypes = seen["dtypes"] if seen["result"] is False else []
    else:
        seen = failure.facts.get("seen") or {}
        dtypes = [dtype for one in seen.values() for dtype in one["dtypes"]]
    if "float32" not in dtypes:
        return None
    near = torch.tensor(5.0)
    above = near + 1e-6
    shown = {"above": f"{float(above):.8f}", "step": f"{float(above - near):.8f}"}
    return {"dtype": "float32", "near": 5.0, **shown}


checked_in_float32 = says("fn was called with tensors of {dtypes}")


@rule
def tolerances_widened(failure, student):
    """Twice the gradient of x ** 2 is seen; one that is slightly wrong, or small, is not."""
    if failure.actual is not True:
        return None
    for scale, factor in ((1.0, 2.0), (1.0, 1.003), (0.01, 1.003), (1e-3, 2.0)):
        value = program(lambda x, a=scale: x**2 * a)
        slope = program(lambda x, v, a=2 * scale * factor: v * x * a, inputs=2)
        passed = verdict(student, [value, slope], POINT.clone().requires_grad_())["result"]
        if passed and (scale, factor) == (1.0, 2.0):
            return None
        if passed:
            right = 2 * scale * POINT
            f = {1.0: "x ** 2", 0.01: "x ** 2 / 100"}.get(scale, "x ** 2 / 1000")
            return {"f": f, "x": POINT, "got": right * factor, "want": right}
    return None


def exchanged(x, v):
    first, second = v.chunk(2)
    return second.cat(first) * x * 2


@rule
def outputs_added_up(failure, student):
    """An exchanged incoming gradient passes for x ** 2, and twice the gradient does not."""
    passed = [
        verdict(student, [SQUARE, program(product, inputs=2)], POINT.clone())["result"]
        for product in (exchanged, lambda x, v: v * x * 4)
    ]
    return {"x": POINT} if failure.actual is True and passed == [True, False] else None


@rule
def tuple_half_checked(failure, student):
    """A tuple with a wrong gradient is accepted, and an only output with one is not."""
    alone, *pairs = (
        (lambda x: x.sin() * x.detach(), ""),
        (
            lambda x: (x.sin() + x.exp().detach(), -x.exp().detach()),
            "(x.sin() + x.exp().detach(), -x.exp().detach())",
        ),
        (lambda x: (x.sin() * x.detach(), x.cos()), "(x.sin() * x.detach(), x.cos())"),
        (lambda x: (x.cos(), x.sin() * x.detach()), "(x.cos(), x.sin() * x.detach())"),
    )
    if failure.actual is not True or verdict(student, program(alone[0]), POINT.clone())["result"]:
        return None
    for f, text in pairs:
        if verdict(student, program(f), POINT.clone())["result"] is True:
            return {"f": text}
    return None


@rule
def keeps_shared_elements(failure, student):
    """gradcheck rejected the copy of an expanded tensor, before it called fn."""
    strides = failure.inputs.get("x.stride()") or ()
    calls = [one["calls"] for one in failure.facts.get("seen", {}).values()]
    unseen = (failure.actual is False and failure.facts.get("calls") == 0) or set(calls) == {0}
    return {"strides": str(tuple(strides))} if unseen and 0 in strides else None


callers_tensor_is_touched = has_facts("changed")


@value_rule
def uses_autograd(failure, student):
    """A derivative of the function was asked for."""
    count = student.observe("measured", PAIR, POINT.clone())["derivatives"]
    return {"count": count} if count else None


@value_rule
def computed_in_float32(failure, student):
    """fn was called in float32, or float32 came back; a wrong shape does not come from that."""
    values = (failure.actual, failure.expected)
    if len({value.shape for value in values if isinstance(value, torch.Tensor)}) > 1:
        return None
    x = torch.tensor([5.0])
    seen = student.observe("measured", SQUARE, x)
    got, want = seen["result"], torch.tensor([[10.0]], dtype=F64)
    if not isinstance(got, torch.Tensor):
        return None
    called, right = "float32" in seen["dtypes"], same(got, want)
    # fn may be called in float32 only for the size of its result, say
    if not ((called and not right) if got.dtype is F64 else (called or right)):
        return None
    dtype = "float32" if called else str(got.dtype).removeprefix("torch.")
    return {"x": x, "dtype": dtype, "got": got, "want": want}


def slopes_of_square(student):
    """What numerical_jacobian makes of x ** 2 at 1 and 2 with eps = 0.25: its diagonal, or None
    where there is more to it.
    """
    got = student.observe("measured", SQUARE, POINT.clone(), EPS)["result"]
    if not isinstance(got, torch.Tensor) or got.shape != (2, 2):
        return None
    return got.diagonal() if same(got, torch.diag(got.diagonal())) else None


@value_rule
def one_sided(failure, student):
    """The slopes are those of the forward, or of the backward difference."""
    if (got := slopes_of_square(student)) is None:
        return None
    want = 2 * POINT
    for formula, slopes in (
        ("(fn(x + eps) - fn(x)) / eps", want + EPS),
        ("(fn(x) - fn(x - eps)) / eps", want - EPS),
    ):
        if same(got, slopes):
            return {"x": POINT, "eps": EPS, "got": got, "formula": formula, "want": want}
    return None


@value_rule
def divided_by_another_step(failure, student):
    """All slopes are off by one positive factor, such as 2, or what missing brackets make."""
    if (got := slopes_of_square(student)) is None:
        return None
    want = 2 * POINT
    factor = float(got[0] / want[0])
    if factor <= 0 or not same(got, factor * want) or not differs(got, want):
        return None
    return {"x": POINT, "eps": EPS, "got": got, "factor": round(factor, 6), "want": want}


def asked(student, x, q):
    """Both gradients of FixedPow for v = 0.7, -1.3."""
    x, q, v = (torch.tensor(numbers, dtype=F64) for numbers in (x, q, (0.7, -1.3)))
    return x, q, v, value_and_gradients(student.FixedPow.apply, [x, q], v)[1]


@rule
def gradients_exchanged(failure, student):
    """First comes what belongs to q, then what belongs to x."""
    x, q, v, got = asked(student, (2.0, 5.0), (3.0, 1.5))
    wanted = v * x**q * x.log(), v * q * x ** (q - 1)
    right = all(same(a, b) for a, b in zip(got, wanted, strict=True))
    return {"x": x, "q": q, "v": v, "first": got[0]} if right else None


@rule
def incoming_gradient_left_out(failure, student):
    """One gradient is the bare derivative."""
    x, q, v, got = asked(student, (2.0, 5.0), (3.0, 1.5))
    for which, gradient, bare in zip("xq", got, (q * x ** (q - 1), x**q * x.log()), strict=True):
        if same(gradient, bare):
            return {"v": v, "which": which, "got": gradient}
    return None


def by_formula(which, *formulas):
    """Return a rule for a gradient with respect to x or to q that a wrong formula gives."""

    @rule
    def recognize(failure, student):
        x, q, v, got = asked(student, (2.0, 5.0), (0.5, 3.0))
        shown = {"x": x, "q": q, "v": v, "got": got["xq".index(which)]}
        for formula in formulas:
            if same(shown["got"], formula_value(formula, x=x, q=q, v=v)):
                right = "v * q * x ** (q - 1)" if which == "x" else "v * x ** q * log(x)"
                return {**shown, "formula": formula, "want": formula_value(right, x=x, q=q, v=v)}
        return None

    return recognize


logarithm_not_mended = by_formula(
    "q",
    "v * x ** q * log(x + 1)",
    "v * x ** q",
    "v * log(x)",
    "v * x ** q / x",
    "v * x ** q * log10(x)",
    "v * x ** q * log2(x)",
    "v * q * x ** (q - 1)",
    "v * x * q ** (x - 1)",
)
another_power = by_formula(
    "x",
    "v * q * x ** (q - 1).clamp(min=0)",
    "v * q * x ** (q - 1).abs()",
    "v * x ** (q - 1)",
    "v * q * x ** q",
)


@rule
def logarithm_is_protected(failure, student):
    """log is taken of x plus a small number, or of a number that x is raised to."""
    _, _, v, got = asked(student, (1e-30, 5.0), (0.0, 0.0))
    added = float(torch.exp(got[1][0] / v[0]))
    if not 1e-20 < added < 1e-2:
        return None
    return {"x": 1e-30, "added": f"{added:.0e}"}


empty_dictionary_raises = raises("union", "needs an argument")
