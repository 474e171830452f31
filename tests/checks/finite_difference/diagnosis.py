"""The mistakes that people make with finite differences, each recognised by what comes back and by
where f was asked.
"""

import torch
from torch import Tensor

from grader.authoring import mistake, same

ALL = ("forward_difference", "central_difference", "numerical_gradient")
BOTH_SIDES = ("central_difference", "numerical_gradient")


# ------------------------------------------------------------------------------- asking again, here


def question(failure):
    """f, x in float64 and h, or None where the failure tells nothing of them."""
    f, x, h = (failure.inputs.get(name) for name in ("f", "x", "h"))
    return (
        (f.program, x.detach().to(torch.float64), h)
        if f is not None and isinstance(x, Tensor) and isinstance(h, float)
        else None
    )


def shifted(f, x, by):
    """f with each element of x in turn moved by that much, in x's shape."""
    steps = torch.eye(x.numel(), dtype=x.dtype) * by
    return torch.stack([f(x + step.reshape(x.shape)) for step in steps]).reshape(x.shape)


def hit(failure, candidates):
    """The first of the candidates (text to value) that the answer is, rather than what was
    expected; its text and its distance.
    """
    if not isinstance(failure.actual, Tensor) or not isinstance(failure.expected, Tensor):
        return None
    actual, expected = failure.actual.detach().to(torch.float64), failure.expected.to(torch.float64)
    # A value undivided and one that is divided by h make a number of which the second is nearly
    # all: in float64 more of it is asked for.
    close = 1e-6 if failure.actual.dtype is torch.float64 else 1e-3
    for text, value in candidates.items():
        if value.shape != actual.shape or actual.shape != expected.shape or not actual.numel():
            continue
        miss, apart, size = (
            float(t.abs().max()) for t in (actual - value, expected - value, value)
        )
        if miss <= 0.02 * apart and miss <= close * size:
            return {"formula": text, "gap": float(f"{apart:.3g}")}
    return None


def moves(failure):
    """How many elements of x had moved at each point where f was asked; points of another shape (a
    batch of them) are left out.
    """
    asked = question(failure)
    if asked is None:
        return []
    _, x, h = asked
    return [int(((p - x).abs() > h / 100).sum()) for p in points_like(failure, x)]


def points_like(failure, x):
    """The points of x's shape at which f was asked, in float64."""
    return [
        p.to(torch.float64)
        for p in failure.facts.get("points", ())
        if isinstance(p, Tensor) and p.shape == x.shape
    ]


def went(failure, *distances):
    """Whether f was asked at each of these distances from x; points of another shape (a batch of
    them) leave it open.
    """
    _, x, h = question(failure)
    steps = [(p - x).flatten() for p in points_like(failure, x) if p.numel()]
    seen = [float(step[step.abs().argmax()]) for step in steps]
    return not seen or all(
        any(abs(there - distance) < h / 100 for there in seen) for distance in distances
    )


def at_x(failure):
    """Whether f was asked at x itself."""
    _, x, h = question(failure)
    return any(float((p - x).abs().max()) < h / 100 for p in points_like(failure, x) if p.numel())


def near(failure, k):
    """Whether point number k is a step away from x and no point of its own: nothing moved further
    than a step of some size would.
    """
    _, x, h = question(failure)
    return float((points_like(failure, x)[k] - x).abs().max()) <= 2 * max(h, 1e-3)


def steps_at(failure, k):
    """How far each element had moved at point number k, without the rounding that comes of the
    subtraction.
    """
    _, x, _ = question(failure)
    return [float(f"{step:.4g}") for step in (points_like(failure, x)[k] - x).flatten().tolist()]


# ---------------------------------------------------------------------------------- what was raised


@mistake(
    "f_gets_a_number",
    about=ALL,
    title="f was called with something that is not a tensor",
    explanation=(
        "Line {line} raised {said}. f takes a tensor and may use a tensor's methods, so hand it"
        " one: x + h is a tensor already. x.item(), float(x), x.tolist() and x.numpy() all leave"
        " torch."
    ),
)
def f_gets_a_number(failure, student):
    """The error with which f refuses them."""
    return (
        {"line": str(failure.error.line), "said": str(failure.error)}
        if failure.raised("TypeError", "f takes a Tensor, not a")
        else None
    )


@mistake(
    "zero_dims",
    about="numerical_gradient",
    title="A 0-d tensor has one element and no dimension",
    explanation=(
        "Line {line} raised {said}. There is nothing to count with len(x) or x.shape[0] and nothing"
        " to index in a 0-d tensor, but x.numel() is 1, and x.reshape(-1) has one element at index"
        " 0; the result goes back with reshape(x.shape)."
    ),
)
def zero_dims(failure, student):
    """An error of counting or indexing where x is 0-d."""
    if failure.check == "test_a_single_number_has_a_gradient" and (
        failure.raised("0-d")
        or failure.raised("IndexError")
        or failure.raised("invalid index of a 0-dim")
    ):
        return {"line": str(failure.error.line), "said": str(failure.error)}
    return None


VIEW = (
    "view(-1) needs a tensor that lies in memory row by row, and torch says that this one does not."
)
COPY = "Your step changed a copy: f was always called with x itself."


@mistake(
    "flattened_by_memory",
    about="numerical_gradient",
    title="x does not lie in memory row by row",
    explanation=(
        "{what} A transposed tensor keeps its strides, in its clone() too. There view(-1) raises,"
        " and reshape(-1), flatten() and contiguous() give a copy, so writing there moves nothing."
        " Flatten first and shape the moved copy back, or use an index for each dimension."
    ),
)
def flattened_by_memory(failure, student):
    """view raises where x itself has other strides; or no point differs from x."""
    if failure.check == "test_strides_do_not_matter" and failure.raised(
        "RuntimeError", "view size is not compatible"
    ):
        return {"what": VIEW}
    moved = moves(failure)
    x = failure.inputs.get("x")
    return (
        {"what": COPY}
        if moved and not any(moved) and not x.is_contiguous() and not failure.facts["during"]
        else None
    )


# --------------------------------------------------------------------------------- what f saw of it


@mistake(
    "uses_autograd",
    about="numerical_gradient",
    title="Autograd did the work",
    explanation=(
        "{how} The exercise is a gradient without autograd, from values of f alone: an independent"
        " way to the same numbers is what makes it a check on autograd."
    ),
)
def uses_autograd(failure, student):
    """A derivative went through f, or saved tensors were read, or the source names autograd."""
    facts = failure.facts
    if facts.get("derivatives"):
        return {
            "how": (
                "While numerical_gradient worked, a derivative was passed back (or along)"
                " through f."
            )
        }
    if facts.get("read"):
        return {
            "how": (
                "While numerical_gradient worked, tensors that a graph had saved for backward were"
                " read."
            )
        }
    return (
        {"how": "numerical_gradient, or something that it calls, names a function of autograd's."}
        if "used" in facts
        else None
    )


@mistake(
    "writes_into_x",
    about=ALL,
    title="x was written to",
    explanation=(
        "Your code wrote to the caller's x, which came in as {x}. {when} x + h makes a new "
        "tensor; +=, add_(), x[i] = ..., .data and views write into x. y = x is not a copy; "
        "x.clone() is."
    ),
)
def writes_into_x(failure, student):
    """f saw another x, or x is another afterwards, or torch counted writes."""
    facts, x = failure.facts, failure.inputs.get("x")
    if facts.get("during"):
        return {"when": "While f was being asked, x held other numbers."}
    if isinstance(facts.get("after"), Tensor) and not torch.equal(facts["after"], x):
        return {"when": "Afterwards x holds other numbers."}
    return (
        {"when": "It was written to and put back; torch's count of writes shows it."}
        if facts.get("writes")
        else None
    )


@mistake(
    "float32_on_the_way",
    about=ALL,
    title="float64 became float32 on the way",
    explanation=(
        "x is float64. {where} torch.tensor(...) of a Python float, torch.zeros(...) and"
        " torch.eye(...) make float32 unless they are told otherwise, and float32 has 7 digits, of"
        " which a difference of two close values leaves few. Say dtype=x.dtype, or use x + h and"
        " torch.zeros_like(x)."
    ),
)
def float32_on_the_way(failure, student):
    """A point, or the result, in float32."""
    x = failure.inputs.get("x")
    if not isinstance(x, Tensor) or x.dtype is not torch.float64:
        return None
    if any(
        isinstance(p, Tensor) and p.dtype is torch.float32 for p in failure.facts.get("points", ())
    ):
        return {"where": "The points at which f was asked are float32."}
    single = isinstance(failure.actual, Tensor) and failure.actual.dtype is torch.float32
    return {"where": "What you returned is float32."} if single else None


@mistake(
    "several_at_once",
    about="numerical_gradient",
    title="More than one element of x was moved at once",
    explanation=(
        "More than one element moved at once: at the first point away from x, {moved} of {count} "
        "elements had moved, by {steps}. A partial derivative moves one element and leaves the "
        "others."
    ),
)
def several_at_once(failure, student):
    """The first step already moves several elements."""
    moved = moves(failure)
    first = next((k for k, count in enumerate(moved) if count), None)
    if first is None or moved[first] < 2 or not near(failure, first):
        return None
    return {
        "moved": moved[first],
        "count": failure.inputs["x"].numel(),
        "steps": steps_at(failure, first),
    }


@mistake(
    "steps_pile_up",
    about="numerical_gradient",
    title="Earlier steps were never taken back",
    explanation=(
        "The first step moved one element, but later f was asked at a point where {moved} elements"
        " differ from x, by {steps}. Each partial derivative starts from x itself: take a fresh"
        " copy for each element, or undo each step before the next."
    ),
)
def steps_pile_up(failure, student):
    """A later point has moved in more elements than one."""
    moved = moves(failure)
    later = next((k for k, count in enumerate(moved) if count > 1), None)
    return (
        None
        if later is None or not near(failure, later)
        else {"moved": moved[later], "steps": steps_at(failure, later)}
    )


@mistake(
    "flat_gradient",
    about="numerical_gradient",
    title="The gradient came back flat",
    explanation=(
        "x has the shape {shape}, the result {flat}. It has one number for each element of x, so it"
        " only lacks its shape: reshape(x.shape) at the end. A gradient always has the shape of"
        " what it belongs to."
    ),
)
def flat_gradient(failure, student):
    """The right numbers, in one dimension."""
    x, got = failure.inputs.get("x"), failure.actual
    if (
        not isinstance(x, Tensor)
        or not isinstance(got, Tensor)
        or got.shape == x.shape
        or got.numel() != x.numel()
        or got.dim() != 1
    ):
        return None
    # A central difference is right to 1e-9 here; one that looks ahead only errs by more, where it
    # curves at all.
    if not same(got.reshape(x.shape), failure.expected, rtol=1e-8, atol=1e-8):
        return None
    return {"shape": str(tuple(x.shape)), "flat": str(tuple(got.shape))}


# ------------------------------------------------------------------------------------ which formula


@mistake(
    "step_is_not_h",
    about=ALL,
    title="The step is not h",
    explanation=(
        "h is {h}, but f was called at points {distance} away from x. Use the argument h as it "
        "is, on each side of x; if the caller gives none, use the stub's default."
    ),
)
def step_is_not_h(failure, student):
    """The right formula, over the distance that was measured."""
    asked = question(failure)
    if asked is None:
        return None
    f, x, h = asked
    far = max(
        (float((p - x).abs().max()) for p in points_like(failure, x) if p.numel()), default=0.0
    )
    if far == 0.0 or abs(far - h) < 0.01 * h:
        return None
    low = 0.0 if failure.about == "forward_difference" else -far
    found = hit(failure, {"": (shifted(f, x, far) - shifted(f, x, low)) / (far - low)})
    return {"distance": float(f"{far:.6g}")} if found else None


@mistake(
    "divides_by_h",
    about=BOTH_SIDES,
    title="Two steps, divided by one",
    explanation=(
        "{actual} is twice {expected}. From x - h to x + h is a distance of 2h, and that is what"
        " the difference has to be divided by."
    ),
)
def divides_by_h(failure, student):
    """Twice the central difference, and not the sum of a forward and a backward one."""
    asked = question(failure)
    if asked is None:
        return None
    f, x, h = asked
    return (
        hit(failure, {"": (shifted(f, x, h) - shifted(f, x, -h)) / h})
        if went(failure, h, -h) and not at_x(failure)
        else None
    )


@mistake(
    "one_sided",
    about=BOTH_SIDES,
    title="The step goes to one side only",
    explanation=(
        "With h = {h} you returned {formula}, which misses the central difference by up to {gap}."
        " One-sided, the error shrinks like h; from both sides the curvature cancels, and it"
        " shrinks like h squared."
    ),
)
def one_sided(failure, student):
    """A forward or backward difference."""
    asked = question(failure)
    if asked is None:
        return None
    f, x, h = asked
    here = shifted(f, x, 0.0)
    ahead = (
        {"(f(x + h) - f(x)) / h": (shifted(f, x, h) - here) / h} if went(failure, h, 0.0) else {}
    )
    behind = (
        {"(f(x) - f(x - h)) / h": (here - shifted(f, x, -h)) / h} if went(failure, 0.0, -h) else {}
    )
    return hit(failure, ahead | behind)


@mistake(
    "other_points",
    about="forward_difference",
    title="A difference, but not the forward one",
    explanation=(
        "With h = {h} you returned {formula}, which is off by {gap}. The forward difference looks"
        " from x ahead to x + h."
    ),
)
def other_points(failure, student):
    """A backward or a central difference."""
    asked = question(failure)
    if asked is None:
        return None
    f, x, h = asked
    up, here, down = f(x + h), f(x), f(x - h)
    behind = (
        hit(failure, {"(f(x) - f(x - h)) / h": (here - down) / h})
        if went(failure, 0.0, -h)
        else None
    )
    around = (
        hit(failure, {"(f(x + h) - f(x - h)) / (2 * h)": (up - down) / (2 * h)})
        if went(failure, h, -h)
        else None
    )
    return behind or around


@mistake(
    "wrong_formula",
    about=ALL,
    title="The values of f are right, but combined wrongly",
    explanation=(
        "With h = {h} you returned {actual}, which is {formula}; it should be {expected}. Check "
        "the order of the difference and the brackets: a / 2 * h is (a / 2) * h."
    ),
)
def wrong_formula(failure, student):
    """One of a collection of near misses."""
    asked = question(failure)
    if asked is None:
        return None
    f, x, h = asked
    up, here, down = (shifted(f, x, by) for by in (h, 0.0, -h))
    ahead = {
        "(f(x) - f(x + h)) / h": (here - up) / h,
        "f(x + h) - f(x)": up - here,
        "f(x + h) - f(x) / h": up - here / h,
        "(f(x + h) - f(x)) * h": (up - here) * h,
        "(f(x + h) - f(x)) / (2 * h)": (up - here) / (2 * h),
    }
    around = {
        "(f(x - h) - f(x + h)) / (2 * h)": (down - up) / (2 * h),
        "f(x + h) - f(x - h)": up - down,
        "(f(x + h) - f(x - h)) / 2": (up - down) / 2,
        "(f(x + h) - f(x - h)) / 2 * h": (up - down) / 2 * h,
        "f(x + h) - f(x - h) / (2 * h)": up - down / (2 * h),
        "f(x + h) - f(x - h) / 2 * h": up - down / 2 * h,
        "(f(x + h) - f(x - h)) / h ** 2": (up - down) / h**2,
    }
    # For a small h the same slip with f(x) and with f(x - h) gives nearly the same number; where f
    # was asked tells them apart.
    return hit(
        failure, (ahead if went(failure, h, 0.0) else {}) | (around if went(failure, h, -h) else {})
    )
