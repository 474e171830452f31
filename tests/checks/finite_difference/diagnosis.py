"""The mistakes that people make with finite differences, each recognised by what comes back and by
where f was asked.
"""

import torch
from torch import Tensor

from grader.authoring import raises, rule, same


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
    """How many elements of x had moved at each point of x's shape where f was asked."""
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
    """How far each element had moved at point number k, rounded."""
    _, x, _ = question(failure)
    return [float(f"{step:.4g}") for step in (points_like(failure, x)[k] - x).flatten().tolist()]


f_gets_a_number = raises("TypeError", "f takes a Tensor, not a")


@rule
def zero_dims(failure, student):
    """An error of counting or indexing where x is 0-d."""
    if failure.check == "test_a_single_number_has_a_gradient" and (
        failure.raised("0-d")
        or failure.raised("IndexError")
        or failure.raised("invalid index of a 0-dim")
    ):
        return {"line": str(failure.error.line), "said": str(failure.error)}
    return None


VIEW = "view(-1) needs a tensor that lies in memory row by row, and this x does not."
COPY = "Your step changed a copy: f was always called with x itself."


@rule
def flattened_by_memory(failure, student):
    """view raises where x itself has other strides; or no point differs from x."""
    if failure.check == "test_strides_do_not_matter" and failure.raised(
        "RuntimeError", "view size is not compatible"
    ):
        return {"what": VIEW}
    moved, x = moves(failure), failure.inputs.get("x")
    still = moved and not any(moved) and not x.is_contiguous() and not failure.facts["during"]
    return {"what": COPY} if still else None


@rule
def uses_autograd(failure, student):
    """A derivative went through f, or saved tensors were read, or the source names autograd."""
    facts = failure.facts
    if facts.get("derivatives"):
        return {"how": "numerical_gradient differentiated f: a backward pass went through it."}
    if facts.get("read"):
        return {"how": "numerical_gradient ran a backward pass, which read saved tensors."}
    how = "numerical_gradient, or a function that it calls, uses a function of torch.autograd."
    return {"how": how} if "used" in facts else None


@rule
def writes_into_x(failure, student):
    """f saw another x, or x is another afterwards, or torch counted writes."""
    facts, x = failure.facts, failure.inputs.get("x")
    if facts.get("during"):
        return {"when": "While f ran, x held other numbers."}
    if isinstance(facts.get("after"), Tensor) and not torch.equal(facts["after"], x):
        return {"when": "Afterwards x holds other numbers."}
    return (
        {"when": "It was written to and put back; torch's count of writes shows it."}
        if facts.get("writes")
        else None
    )


@rule
def float32_on_the_way(failure, student):
    """A point, or the result, in float32."""
    x = failure.inputs.get("x")
    if not isinstance(x, Tensor) or x.dtype is not torch.float64:
        return None
    if any(
        isinstance(p, Tensor) and p.dtype is torch.float32 for p in failure.facts.get("points", ())
    ):
        return {"where": "The points at which you called f are float32."}
    single = isinstance(failure.actual, Tensor) and failure.actual.dtype is torch.float32
    return {"where": "What you returned is float32."} if single else None


@rule
def keeps_shared_elements(failure, student):
    """One step moved several elements of an expanded x."""
    x, moved = failure.inputs.get("x"), max(moves(failure), default=0)
    shared = moved > 1 and 0 in x.stride()
    return {"strides": str(x.stride()), "moved": moved} if shared else None


@rule
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


@rule
def steps_pile_up(failure, student):
    """A later point has moved in more elements than one."""
    moved = moves(failure)
    later = next((k for k, count in enumerate(moved) if count > 1), None)
    return (
        None
        if later is None or not near(failure, later)
        else {"moved": moved[later], "steps": steps_at(failure, later)}
    )


@rule
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


@rule
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
    if not float((x + h - x).abs().max()):  # h is lost in rounding, and a larger step was taken
        return {"distance": float(f"{far:.6g}")}
    low = 0.0 if failure.about == "forward_difference" else -far
    found = hit(failure, {"": (shifted(f, x, far) - shifted(f, x, low)) / (far - low)})
    return {"distance": float(f"{far:.6g}")} if found else None


@rule
def one_point_for_both(failure, student):
    """0 for the identity, which returns its argument."""
    zero = isinstance(failure.actual, Tensor) and not failure.actual.any()
    of_x = str(failure.inputs.get("f")) == "x" and went(failure, failure.inputs["h"])
    return {} if zero and of_x else None


def formula(candidates):
    """A rule that finds the answer among what ``candidates(failure, f, x, h)`` returns, by text."""

    def recognize(failure, student):
        asked = question(failure)
        return hit(failure, candidates(failure, *asked)) if asked else None

    return rule(recognize)


@formula
def divides_by_h(failure, f, x, h):
    twice = went(failure, h, -h) and not at_x(failure)
    return {"": (shifted(f, x, h) - shifted(f, x, -h)) / h} if twice else {}


def one_side(failure, f, x, h):
    """The forward and the backward difference, as far as f was asked there."""
    here, found = shifted(f, x, 0.0), {}
    if went(failure, h, 0.0):
        found["(f(x + h) - f(x)) / h"] = (shifted(f, x, h) - here) / h
    if went(failure, 0.0, -h):
        found["(f(x) - f(x - h)) / h"] = (here - shifted(f, x, -h)) / h
    return found


one_sided = formula(one_side)


@formula
def other_points(failure, f, x, h):
    found = one_side(failure, f, x, h)
    found.pop("(f(x + h) - f(x)) / h", None)
    if went(failure, h, -h):
        found["(f(x + h) - f(x - h)) / (2 * h)"] = (f(x + h) - f(x - h)) / (2 * h)
    return found


@formula
def wrong_formula(failure, f, x, h):
    """For a small h a slip with f(x) and the same one with f(x - h) give nearly the same number;
    where f was asked tells them apart.
    """
    up, here, down = (shifted(f, x, by) for by in (h, 0.0, -h))
    run = 1e-5 if failure.about == "numerical_gradient" else 1e-3
    ahead = {
        f"(f(x + h) - f(x)) / {run:g}": (up - here) / run,
        "(f(x) - f(x + h)) / h": (here - up) / h,
        "f(x + h) - f(x)": up - here,
        "f(x + h) - f(x) / h": up - here / h,
        "(f(x + h) - f(x)) * h": (up - here) * h,
        "(f(x + h) - f(x)) / (2 * h)": (up - here) / (2 * h),
    }
    around = {
        f"(f(x + h) - f(x - h)) / {2 * run:g}": (up - down) / (2 * run),
        "(f(x - h) - f(x + h)) / (2 * h)": (down - up) / (2 * h),
        "f(x + h) - f(x - h)": up - down,
        "(f(x + h) - f(x - h)) / 2": (up - down) / 2,
        "(f(x + h) - f(x - h)) / 2 * h": (up - down) / 2 * h,
        "f(x + h) - f(x - h) / (2 * h)": up - down / (2 * h),
        "f(x + h) - f(x - h) / 2 * h": up - down / 2 * h,
        "(f(x + h) - f(x - h)) / h ** 2": (up - down) / h**2,
    }
    return (ahead if went(failure, h, 0.0) else {}) | (around if went(failure, h, -h) else {})
