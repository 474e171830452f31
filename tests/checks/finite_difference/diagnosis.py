"""The mistakes that people make with finite differences, each recognized by what comes back and by
where f was asked.
"""

import torch
from torch import Tensor

from grader.authoring import formula_value, import_helpers, program, raises, rule, same, value_rule

helpers = import_helpers(__file__)
DEFAULT_STEPS = helpers.DEFAULT_STEPS
SQUARES = program(lambda x: (x**2).sum())
MATRIX = torch.arange(6.0, dtype=torch.float64).reshape(2, 3)


def question(failure):
    """Return f, x in float64 and h, or None if the failure does not have them."""
    f, x, h = (failure.inputs.get(name) for name in ("f", "x", "h"))
    known = f is not None and isinstance(x, Tensor) and isinstance(h, float)
    return (f.program, x.detach().to(torch.float64), h) if known else None


def shifted(f, x, by):
    """Return f with each element of x in turn moved by that much, in x's shape."""
    steps = torch.eye(x.numel(), dtype=x.dtype) * by
    return torch.stack([f(x + step.reshape(x.shape)) for step in steps]).reshape(x.shape)


def gap_if_returned(failure, value):
    """Return how far a wrong value is from the expected one if it came back; None otherwise."""
    if not isinstance(failure.actual, Tensor) or not isinstance(failure.expected, Tensor):
        return None
    actual, expected = failure.actual.detach().to(torch.float64), failure.expected.to(torch.float64)
    if not value.shape == actual.shape == expected.shape or not actual.numel():
        return None
    # A value undivided and one that is divided by h make a number of which the second is nearly
    # all: in float64 more of it is asked for.
    close = 1e-6 if failure.actual.dtype is torch.float64 else 1e-3
    miss, apart, size = (float(t.abs().max()) for t in (actual - value, expected - value, value))
    return float(f"{apart:.3g}") if miss <= min(0.02 * apart, close * size) else None


def steps_of(failure):
    """Return how far each point at which f was asked is from x, in float64; a point of another
    shape (a batch of points) is left out.
    """
    asked = question(failure)
    if asked is None:
        return []
    points = [p for p in failure.facts.get("points", ()) if isinstance(p, Tensor)]
    return [p.to(torch.float64) - asked[1] for p in points if p.shape == asked[1].shape]


def moves(failure):
    """Return how many elements of x had moved at each point."""
    h = failure.inputs.get("h")
    return [int((step.abs() > h / 100).sum()) for step in steps_of(failure)]


def lengths(failure):
    """Return the largest move of an element at each point, with its sign."""
    steps = [step.flatten() for step in steps_of(failure) if step.numel()]
    return [float(step[step.abs().argmax()]) for step in steps]


def went(failure, *distances):
    """Return whether f was asked at each of these distances from x; True if no point shows it."""
    seen, h = lengths(failure), failure.inputs["h"]
    return not seen or all(
        any(abs(there - distance) < h / 100 for there in seen) for distance in distances
    )


def moved_together(failure, k):
    """Return the facts of point number k; None if an element moved further than a step does."""
    step = steps_of(failure)[k]
    if float(step.abs().max()) > 3 * failure.inputs["h"]:
        return None
    moved = [float(f"{one:.4g}") for one in step.flatten().tolist()]
    return {"moved": moves(failure)[k], "count": step.numel(), "steps": moved}


f_gets_a_number = raises("TypeError", "f takes a Tensor, not a")


@rule
def zero_dims(failure, student):
    """An error of counting or indexing where x is 0-d."""
    texts = ("0-d", "IndexError")
    if failure.check != "test_a_single_number_has_a_gradient" or not any(
        map(failure.raised, texts)
    ):
        return None
    return {"line": str(failure.error.line), "said": str(failure.error)}


VIEW = "view raised: the elements do not lie in memory in the order of the new shape."
COPY = "Every call of f got the values of x: your step did not reach f, as if it changed a copy."


@rule
def flattened_by_memory(failure, student):
    """view raises for a sliced matrix, and not for a dense one; or no point differs from x."""
    if failure.check == "test_strides_do_not_matter" and failure.raised(
        "RuntimeError", "view size is not compatible"
    ):
        # If this raises, no rule names the failure, and it has another cause.
        student.numerical_gradient(SQUARES, MATRIX.clone(), 0.25)
        return {"what": VIEW, "strides": "(6, 2)"}
    moved, x = moves(failure), failure.inputs.get("x")
    still = moved and not any(moved) and not x.is_contiguous() and not failure.facts["during"]
    return {"what": COPY, "strides": str(x.stride())} if still else None


@rule
def uses_autograd(failure, student):
    """A derivative went through f, or saved tensors were read, or the source names autograd."""
    facts = failure.facts
    if facts.get("derivatives"):
        return {"how": "numerical_gradient differentiated f: autograd went through it."}
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
    when = "It was written to and put back; torch's count of writes shows it."
    return {"when": when} if facts.get("writes") else None


@rule
def float32_on_the_way(failure, student):
    """A point, or the result, in float32."""
    x, points = failure.inputs.get("x"), failure.facts.get("points", ())
    if not isinstance(x, Tensor) or x.dtype is not torch.float64:
        return None
    if any(isinstance(p, Tensor) and p.dtype is torch.float32 for p in points):
        return {"where": "The points at which you called f are float32."}
    single = isinstance(failure.actual, Tensor) and failure.actual.dtype is torch.float32
    return {"where": "What you returned is float32."} if single else None


@rule
def keeps_shared_elements(failure, student):
    """One step moved several elements of an expanded x, and a dense x of equal ones is right."""
    x, moved = failure.inputs.get("x"), max(moves(failure), default=0)
    dense = torch.full((3,), 0.5, dtype=torch.float64)
    shared = (
        moved > 1
        and 0 in x.stride()
        and same(student.numerical_gradient(SQUARES, dense, 0.25), torch.ones_like(dense))
    )
    return {"strides": str(x.stride()), "moved": moved} if shared else None


@rule
def several_at_once(failure, student):
    """The first step already moves several elements."""
    moved = moves(failure)
    first = next((k for k, count in enumerate(moved) if count), None)
    return None if first is None or moved[first] < 2 else moved_together(failure, first)


@rule
def steps_pile_up(failure, student):
    """A later point has moved in more elements than one."""
    later = next((k for k, count in enumerate(moves(failure)) if count > 1), None)
    return None if later is None else moved_together(failure, later)


@rule
def flat_gradient(failure, student):
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


def reaches(failure):
    """Return how far each element of x was moved by itself, down and up; None if one was not."""
    h, found = failure.inputs["h"], []
    steps = [step.flatten() for step in steps_of(failure) if step.numel()]
    alone = [step for step in steps if int((step.abs() > h / 1000).sum()) == 1]
    for k in range(failure.inputs["x"].numel()):
        here = [float(step[k]) for step in alone if abs(float(step[k])) > h / 1000]
        if not here:
            return None
        found.append((min(0.0, *here), max(0.0, *here)))
    return found


@rule
def step_is_not_h(failure, student):
    """The right formula, over the distances that were measured; another one for each element, it
    may be.
    """
    asked = question(failure)
    reach = None if asked is None else reaches(failure)
    if not reach:
        return None
    f, x, h = asked
    far = max((up for _, up in reach), key=lambda up: abs(up - h))
    if abs(far - h) < 0.01 * h:
        return None
    slopes = []
    for k, (down, up) in enumerate(reach):
        if abs(down - (0.0 if failure.about == "forward_difference" else -up)) > 0.01 * up:
            return None
        one = torch.eye(x.numel(), dtype=x.dtype)[k].reshape(x.shape)
        slopes.append((f(x + up * one) - f(x + down * one)) / (up - down))
    found = gap_if_returned(failure, torch.stack(slopes).reshape(x.shape))
    return None if found is None else {"distance": float(f"{far:.6g}")}


VIEWS = ("x", "x.squeeze()", "x[0]", "x[-1].squeeze()")


@rule
def one_point_for_both(failure, student):
    """0 for a function that returns its argument or a view of it."""
    f, zero = str(failure.inputs.get("f")), isinstance(failure.actual, Tensor)
    zero = zero and not failure.actual.any()
    return {"f": f} if zero and f in VIEWS and went(failure, failure.inputs["h"]) else None


def formula(*texts, unless_at_x=False):
    """Return a rule that recognizes an answer by a wrong formula, if f was asked at the points that
    the formula needs. For a small h a slip with f(x) and the same one with f(x - h) give nearly the
    same number; the points tell them apart.
    """

    @rule
    def recognize(failure, student):
        asked = question(failure)
        if asked is None or (unless_at_x and lengths(failure) and went(failure, 0.0)):
            return None
        f, x, h = asked
        run = DEFAULT_STEPS[failure.about]
        known = {"f": lambda by: shifted(f, x, by), "x": 0.0, "h": h}
        points = {"f(x + h)": h, "f(x)": 0.0, "f(x - h)": -h}
        for text in texts:
            if went(failure, *(by for point, by in points.items() if point in text)):
                shown = text.format(run=run, twice=2 * run)
                gap = gap_if_returned(failure, formula_value(shown, **known))
                if gap is not None:
                    return {"formula": shown, "gap": gap}
        return None

    return recognize


FORWARD, BACKWARD = "(f(x + h) - f(x)) / h", "(f(x) - f(x - h)) / h"
CENTRAL = "(f(x + h) - f(x - h)) / (2 * h)"
divides_by_h = formula("(f(x + h) - f(x - h)) / h", unless_at_x=True)
one_sided = formula(FORWARD, BACKWARD)
other_points = formula(BACKWARD, CENTRAL)
wrong_formula = formula(
    "(f(x + h) - f(x)) / {run:g}",
    "(f(x) - f(x + h)) / h",
    "f(x + h) - f(x)",
    "f(x + h) - f(x) / h",
    "(f(x + h) - f(x)) * h",
    "(f(x + h) - f(x)) / (2 * h)",
    "(f(x + h) - f(x - h)) / {twice:g}",
    "(f(x - h) - f(x + h)) / (2 * h)",
    "f(x + h) - f(x - h)",
    "(f(x + h) - f(x - h)) / 2",
    "(f(x + h) - f(x - h)) / 2 * h",
    "f(x + h) - f(x - h) / (2 * h)",
    "f(x + h) - f(x - h) / 2 * h",
    "(f(x + h) - f(x - h)) / h ** 2",
)


@value_rule
def nearer_the_derivative(failure, student):
    """The error against the derivative is a tenth of that of the right slope, or less."""
    asked, values = question(failure), (failure.actual, failure.expected)
    if asked is None or not all(isinstance(value, Tensor) for value in values):
        return None
    derivative = helpers.gradient(failure.inputs["f"], asked[1])
    mine, right = (value.detach().to(torch.float64) for value in values)
    if not mine.shape == right.shape == derivative.shape or not mine.numel():
        return None
    near, apart, size = (
        float(t.abs().max()) for t in (mine - derivative, right - derivative, derivative)
    )
    return {"derivative": derivative} if max(10 * near, 1e-6 * size) < apart else None
