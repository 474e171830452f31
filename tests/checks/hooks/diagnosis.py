"""hooks: rules that recognize common mistakes.

Many rules ask again: they let a gradient v of their own arrive at y, and compare what is passed on
with what each wrong hook would pass on. The others look at the numbers of the failure.
"""

import math
from functools import partial

import torch
from torch import Tensor

from grader.authoring import import_helpers, phrase, program, rule, same, says, value_rule

helpers = import_helpers(__file__)

DOUBLE, CLIP = "double_gradient", "clip_gradient"
SCALE, NORMS = "backward_with_scaled_gradient", "gradient_norms"

# ------------------------------------------------------------------------------------------- probes


def in_check(*names):
    """Make a rule that is asked only in these checks, if nothing was raised."""

    def make(recognize):
        def asked(failure, student):
            if failure.error is None and failure.check.removeprefix("test_") in names:
                return recognize(failure)
            return None

        return rule(asked)

    return make


def _apart(p, r, w):
    y = p.clone()
    return y, ((y + r * 1.0) * w).sum()


def _sharing(p, r, w):
    left = r.clone()
    y = p.clone()
    return y, ((left + y) * w).sum()


PAST = program(_apart, inputs=3)
"""p reaches the loss through y, r past it; the gradient w arrives at both."""
SIBLINGS = program(_sharing, inputs=3)
"""p through y, r past it; the addition hands on one tensor to both, first to y's node."""


def arrived(student, about, v, amount=None, *, siblings=False):
    """What p and r get when v arrives at y, with ``amount`` as max_norm or factor."""
    leaves = [*(torch.zeros_like(v).requires_grad_() for _ in range(2)), v]
    graph = SIBLINGS if siblings else PAST
    if about == SCALE:
        return student.observe("scaled", amount, graph, leaves)["grads"][:2]
    arguments, one = [] if amount is None else [amount], torch.ones_like(v.sum())
    return helpers.passes(student, about, arguments, graph, leaves, [one])[0][:2]


def probe(failure):
    """A gradient for y, and an amount that must change it."""
    v = failure.draw.tensor(3, low=0.5, high=3.0)
    return v, {DOUBLE: None, CLIP: round(0.4 * float(v.min()), 3), SCALE: 3.0}[failure.about]


def passes_on(failure, student):
    """Whether the probe's v reaches p as it arrived at y."""
    v, amount = probe(failure)
    return same(arrived(student, failure.about, v, amount)[0], v)


# ------------------------------------------------------------------------- changing what flows back


@rule
def edits_in_place(failure, student):
    v, amount = probe(failure)
    _, apart = arrived(student, failure.about, v, amount)
    _, sibling = arrived(student, failure.about, v, amount, siblings=True)
    return {"v": v, "sibling": sibling} if same(apart, v) and not same(sibling, v) else None


@rule
def hook_returns_no_gradient(failure, student):
    wrong = ("has changed the size of value", "has changed the type of value", "but hook returned")
    if not any(failure.raised(text) for text in wrong):
        return None
    return {"refused": failure.error.message.splitlines()[0]}


@value_rule
def scales_after_backward(failure, student):
    v, factor = probe(failure)
    leaves = [torch.zeros_like(v).requires_grad_() for _ in range(2)]
    seen = student.observe("scaled", factor, PAST, [*leaves, v])
    late = same(seen["grads"][0], v) and same(seen["y"], factor * v)
    return {"v": v, "held": seen["y"]} if late else None


def no_hook_on_y(fits):
    """Make a rule: the gradient passes y unchanged, and what ``counted`` has seen is as ``fits``
    says.
    """

    @value_rule
    def recognize(failure, student):
        arguments = [] if failure.about == DOUBLE else [1.0]
        leaf = torch.ones(3, dtype=torch.float64, requires_grad=True)
        seen = student.observe("counted", failure.about, arguments, leaf)
        told = fits(seen) and passes_on(failure, student)
        return {"v": probe(failure)[0], "given": seen["type"]} if told else None

    return recognize


never_registers = no_hook_on_y(lambda seen: not seen["ever"] and not seen["removable"])
removed_at_once = no_hook_on_y(
    lambda seen: seen["ever"] and seen["removable"] and not seen["functions"]
)


@value_rule
def hook_returns_nothing(failure, student):
    v, amount = probe(failure)
    answers = student.observe("answered", failure.about, [] if amount is None else [amount], v)
    if failure.about == CLIP:  # one that changes short gradients has its condition reversed
        answers += student.observe("answered", CLIP, [1000.0], v)
    return {"v": v} if set(answers) == {"None"} and passes_on(failure, student) else None


# ----------------------------------------------------------------------------------------- clipping

GIVEN = torch.tensor([[1.0, -2.0, 0.5], [2.0, 1.5, -1.5]], dtype=torch.float64)


def clipped(formulas, m=0.75):
    """Make a rule: GIVEN arrives, and what is passed on is that of one of the wrong formulas."""

    @value_rule
    def recognize(failure, student):
        out, _ = arrived(student, CLIP, GIVEN, m)
        what = next((key for key, f in formulas.items() if same(out, f(GIVEN, m), rtol=1e-4)), None)
        shown = {"v": GIVEN, "m": m, "out": out, "norm": float(GIVEN.norm())}
        return None if what is None else {**shown, "what": what, "cut": float(out.norm())}

    return recognize


def by(norm):
    """The formula with another norm."""
    return lambda v, m: v * m / norm(v)


def along(dim):
    """The formula that clips each slice along a dimension."""
    return lambda v, m: v * (m / v.norm(dim=dim, keepdim=True)).clamp(max=1.0)


clip_by_value = clipped({"": lambda v, m: v.clamp(-m, m)})
clips_each_row = clipped({"row": along(1), "column": along(0)})
always_normalises = clipped({"": by(torch.norm)}, m=10.0)
normalises_to_one = clipped({"": lambda v, m: v / v.norm()})
other_norm = clipped(
    {
        "the sum of absolute values": by(lambda g: g.abs().sum()),
        "the largest absolute value": by(lambda g: g.abs().max()),
        "the sum of squares without the root": by(lambda g: g.square().sum()),
        "the root mean square": by(lambda g: g.square().mean().sqrt()),
        "the sum of the elements": by(lambda g: g.sum()),
        "the spectral norm of a matrix": by(lambda g: torch.linalg.matrix_norm(g, 2)),
    }
)


@rule
def divides_by_zero(failure, student):
    if failure.raised("ZeroDivisionError"):
        return {"came": "your hook raised ZeroDivisionError"}
    if failure.check != "test_clip_a_zero_gradient":
        return None
    nan = isinstance(failure.actual, Tensor) and bool(failure.actual.isnan().all())
    return {"came": "nan was passed on"} if nan else None


# ------------------------------------------------------------------------------------- one backward


@value_rule
def zero_factor_ignored(failure, student):
    v, _ = probe(failure)
    zero = failure.inputs.get("factor") == 0
    return {"v": v} if zero and same(arrived(student, SCALE, v, 0.0)[0], v) else None


def still_scaled(failure):
    """Whether a later backward is scaled by the factor."""
    factor, wanted = failure.inputs.get("factor"), failure.expected
    return {} if isinstance(wanted, Tensor) and same(failure.actual, factor * wanted) else None


hook_left_behind = in_check("a_later_backward_is_not_scaled")(still_scaled)
not_removed_on_error = in_check("scale_nothing_after_an_error")(still_scaled)


swallows_the_exception = says("returned without an error")


@value_rule
def scales_everything(failure, student):
    v, factor = probe(failure)
    _, past = arrived(student, SCALE, v, factor)
    return {"v": v, "past": past} if same(past, factor * v) else None


@value_rule
def drops_other_paths(failure, student):
    v, factor = probe(failure)
    through, past = arrived(student, SCALE, v, factor)
    lost = past is None or same(past, torch.zeros_like(v))
    return {"v": v, "past": past} if lost and same(through, factor * v) else None


# ---------------------------------------------------------------------------------------- recording

NAMES = ["p", "y", "h"]


def _named(p):
    y = p * 2.0
    h = y * 3.0
    return p, y, h, h * 1.0


def recorded(student):
    """What is seen of records of p, y = 2p, h = 3y in two backwards; None without a dictionary."""
    v, w = torch.tensor([[0.5, -1.5], [2.0, 0.25]], dtype=torch.float64)
    leaf = torch.ones(2, dtype=torch.float64, requires_grad=True)
    seen = student.observe("recorded", program(_named), [leaf], NAMES, [v, w])
    return seen if isinstance(seen.get("start"), dict) else None


@value_rule
def late_binding_closure(failure, student):
    if failure.about == NORMS:
        spec, x, norms = network(failure.draw)
        names, records, right = LEAVES, norms_on(student, spec, x), norms["grad_output"]
    elif failure.check == "test_records_hold_each_gradient" and isinstance(failure.actual, dict):
        names, records, right = failure.facts["names"], failure.actual, failure.expected
    else:
        return None
    filled = [name for name, value in records.items() if value is not None]
    if filled != names[-1:] or same(records[filled[0]], right[filled[0]]):
        return None  # with its own gradient, no other hook wrote over it
    return {"names": ", ".join(names), "last": filled[0]}


@value_rule
def fills_too_early(failure, student):
    seen = recorded(student)
    if seen is None:
        return None
    start, after = seen["start"], seen["rounds"][0]
    if seen["handles"] and all(value is None for value in start.values()):
        return None  # places that hooks should fill
    as_before = all(
        same(after.get(key), value) or after.get(key) is value is None
        for key, value in start.items()
    )
    return {"start": start} if start and len(after) == len(start) and as_before else None


def second_record(wrong):
    """Make a rule: a record of the second backward is this function of the first gradient and the
    second.
    """

    @in_check("records_latest_backward_counts")
    def recognize(failure):
        second, inputs = failure.expected, failure.inputs
        if failure.facts.get("number") != 2 or not isinstance(second, Tensor):
            return None
        first = second / inputs["v2"] * inputs["v1"]
        return {"first": first} if same(failure.actual, wrong(first, second)) else None

    return recognize


keeps_the_first = second_record(lambda first, second: first)
adds_records_up = second_record(lambda first, second: first + second)


@in_check("records_are_copies")
def records_aliases(failure):
    return {} if same(failure.actual, failure.expected + 100) else None


@in_check("records_change_nothing_else", "y_is_as_it_was")
def retains_grad(failure):
    name = failure.facts.get("name", "y")
    if failure.facts.get("what") == "retains_grad":
        return {"what": phrase("y.retains_grad is True")}
    if failure.expected is not None or not isinstance(failure.actual, Tensor):
        return None
    return {"what": phrase("{name}.grad is {grad}", name=name, grad=failure.actual)}


# ------------------------------------------------------------------------------------------ handles


@value_rule
def forgets_handle(failure, student):
    type, kinds = failure.facts.get("type"), failure.facts.get("kinds")
    given = {
        "has no remove() to call": type,
        "is not the pair": "only a dict" if type == "dict" else None,
        "are neither a list": None if type in ("dict", "set") else type,
        "not all of them have a remove()": kinds,
        "after remove() of the handles": "an empty list" if kinds == "nothing" else None,
    }
    returned = next((given[text] for text in given if text in failure.message), None)
    return None if returned is None else {"given": returned}


# ------------------------------------------------------------------------------------------ modules


LEAVES, ELEMENTS = ["first", "rest.0", "rest.1"], 10


def network(draw):
    """A network of first: linear, then rest: a chain of 0: tanh and 1: linear, whose output has
    ``ELEMENTS``; an x for it; and the norms of what could be measured at its leaves, by quantity
    and name.
    """
    shapes = (4, 3), (2, 4), (ELEMENTS // 2, 3)
    one, two, x = (draw.tensor(*shape, low=-1.0, high=1.0) for shape in shapes)
    rest = ["chain", [["0", ["tanh"]], ["1", ["linear", two, None]]]]
    spec = ["chain", [["first", ["linear", one, None]], ["rest", rest]]]
    first = x @ one.T
    second = first.tanh()
    out = second @ two.T
    ones = torch.ones_like(out)
    into_last = ones @ two
    into_tanh = into_last * (1 - second**2)
    quantities = {
        "grad_output": (into_tanh, into_last, ones),
        "weight.grad": (into_tanh.T @ x, None, ones.T @ second),
        "grad_input": (into_tanh @ one, into_tanh, into_last),
        "output": (first, second, out),
        "mean": (into_tanh / ELEMENTS, into_last / ELEMENTS, ones / ELEMENTS),
    }
    norms = {
        quantity: {
            n: float(t.norm()) for n, t in zip(LEAVES, tensors, strict=True) if t is not None
        }
        for quantity, tensors in quantities.items()
    }
    return spec, x.requires_grad_(), norms


def norms_on(student, spec, x):
    """The norms that the student measures on a network."""
    seen = student.observe("norms", spec, x)
    return helpers.norms_of(seen, {}) if isinstance(seen["norms"], dict) else {}


def measured(quantity):
    """Make a rule: all norms are those of another quantity. It shows the one that is off most."""

    @rule
    def recognize(failure, student):
        spec, x, norms = network(failure.draw)
        found, true, wrong = norms_on(student, spec, x), norms["grad_output"], norms[quantity]
        common = [name for name in wrong if name in found]
        if len(common) < 2 or not all(same(found[name], wrong[name]) for name in common):
            return None
        name = max(common, key=lambda name: abs(math.log(wrong[name] / true[name])))
        return {"name": name, "got": found[name], "true": true[name], "count": ELEMENTS}

    return recognize


measures_weight_grad = measured("weight.grad")
measures_grad_input = measured("grad_input")
measures_output = measured("output")
averages_the_output = measured("mean")


@in_check("keys_are_the_leaf_submodules")
def names_by_class(failure):
    keys, names = failure.actual, failure.expected
    kinds = ("Linear", "Tanh", "Sigmoid", "Softplus", "Sequential")
    classes = [key for key in keys if any(kind in key for kind in kinds)]
    if not keys or classes != keys or any(name in key for name in names for key in keys):
        return None
    return {"keys": ", ".join(keys), "name": names[0]}


@in_check("keys_are_the_leaf_submodules")
def direct_children_only(failure):
    children = {name.split(".")[0] for name in failure.expected}
    if len(failure.actual) < 2 or not set(failure.actual) <= children:
        return None
    missing = ", ".join(name for name in failure.expected if "." in name)
    return {"keys": ", ".join(failure.actual), "missing": missing}


@in_check("keys_are_the_leaf_submodules")
def includes_containers(failure):
    extra = set(failure.actual) - set(failure.expected)
    inside = all(not key or any(n.startswith(f"{key}.") for n in failure.expected) for key in extra)
    if not extra or not inside or not set(failure.expected) <= set(failure.actual):
        return None
    return {"extra": ", ".join(sorted(map(repr, extra)))}


@in_check("norms_of_other_networks")
def skips_the_module_itself(failure):
    return {} if failure.actual == {} and list(failure.expected) == [""] else None


@value_rule
def reads_grad_in_hook(failure, student):
    seen = recorded(student)
    if seen is None:
        return None
    first, later = seen["rounds"]  # the leaf's .grad is there by then
    late = sorted(first) == sorted(NAMES) and isinstance(later.get("p"), Tensor)
    return {} if late and first["y"] is None is first["p"] else None


@rule
def forward_hook_returns(failure, student):
    layers = ("linear", "tanh", "sigmoid", "softplus")  # not a norm of grad_output, a tuple
    replaced = any(failure.raised(f"{one}(): argument", "must be Tensor, not") for one in layers)
    added = failure.raised("'RemovableHandle' object has no attribute 'sum'")
    return {"raised": str(failure.error)} if replaced or added else None


@in_check("norms_are_floats_from_one_forward")
def forward_for_each_module(failure):
    passed = failure.facts.get("passed", 0)
    return {"passed": passed} if passed >= 3 else None  # the chain has three leaves


def places(failure, sign=1):
    """Where there are more hooks than expected; fewer, if ``sign`` is -1."""
    if not isinstance(failure.actual, dict):
        return None
    counts = failure.expected.items()
    more = {place: sign * (failure.actual[place] - count) for place, count in counts}
    left = ", ".join(f"{place}: {count}" for place, count in more.items() if count > 0)
    return {"left": left} if left else None


others_hooks_lost = in_check("norms_leave_no_hook")(partial(places, sign=-1))
module_hooks_left = in_check("norms_leave_no_hook")(places)
module_hooks_left_after_error = in_check("norms_leave_no_hook_after_an_error")(places)


@in_check("norms_leave_no_hook_after_an_error")
def grads_restored_only_on_success(failure):
    return {} if failure.message.startswith("the .grad of") else None


@in_check("norms_leave_parameter_grads")
def parameter_grads_cleared(failure):
    before, after = failure.expected, failure.actual
    if not isinstance(before, Tensor) or failure.facts.get("name") in (None, "2.bias"):
        return None  # 2.bias comes last and is frozen: the others were restored
    return {} if after is None or same(after, torch.zeros_like(before)) else None


@in_check("norms_leave_parameter_grads")
def parameter_grads_left(failure):
    named = "name" in failure.facts and isinstance(failure.actual, Tensor)
    return {} if named and failure.actual.any() else None
