"""hooks: rules that recognize mistakes by what the student's code does.

Many ask again: they let a gradient v of their own arrive at y, and look at what is passed on. The
others look at the numbers of the failure.
"""

import math
from functools import partial

import torch
from torch import Tensor

from grader.authoring import (
    Again,
    StudentCodeError,
    fetch,
    phrase,
    rule,
    same,
    type_name,
    value_rule,
)

DOUBLE, CLIP = "double_gradient", "clip_gradient"
SCALE, NORMS = "backward_with_scaled_gradient", "gradient_norms"

# ------------------------------------------------------------------------------------- asking again


def in_check(*names):
    """Make a rule that is asked only in these checks, if nothing was raised."""

    def make(recognize):
        def asked(failure, student):
            if failure.error is None and failure.check.removeprefix("test_") in names:
                return recognize(failure)
            return None

        return rule(asked)

    return make


def copied(value):
    return value.detach().clone() if isinstance(value, Tensor) else value


PAST = ["y = p.clone()", "loss = ((y + 1.0 * r) * w).sum()"]
"""p reaches the loss through y, r past it; the gradient w arrives at both."""
SIBLINGS = ["left = r.clone()", "y = p.clone()", "loss = ((left + y) * w).sum()"]
"""The same, but the addition hands on one tensor to both, first to y's node."""


def asked_on(failure, student, v, amount=None, formulas=PAST):
    """Call the function, with ``amount`` as max_norm or factor, and let v arrive at y; return the
    tensors beside the student's code.
    """
    leaves = {"p": torch.zeros_like(v), "r": torch.zeros_like(v), "w": v.clone()}
    leaves = {name: one.requires_grad_() for name, one in leaves.items()}
    tensors = failure.draw.graph(*formulas, **leaves).tensors(student)
    if failure.about == SCALE:
        student.backward_with_scaled_gradient(tensors["loss"], tensors["y"], amount)
    else:
        arguments = [] if amount is None else [amount]
        getattr(student, failure.about)(tensors["y"], *arguments)
        tensors["loss"].backward()
    return tensors


def arrived(failure, student, v, amount=None, formulas=PAST):
    """What p and r get."""
    tensors = asked_on(failure, student, v, amount, formulas)
    return [copied(grad) for grad in fetch([tensors["p"].grad, tensors["r"].grad])]


def probe(failure):
    """A gradient for y, and an amount that must change it."""
    v = failure.draw.tensor(3, low=0.5, high=3.0)
    return v, {DOUBLE: None, CLIP: round(0.4 * float(v.min()), 3), SCALE: 3.0}[failure.about]


def passes_on(failure, student):
    """Whether the probe's v reaches p as it arrived at y."""
    v, amount = probe(failure)
    return same(arrived(failure, student, v, amount)[0], v)


GIVEN = torch.tensor([[1.0, -2.0, 0.5], [2.0, 1.5, -1.5]], dtype=torch.float64)


def asked_again(failure, student):
    """Let GIVEN arrive at y, with a max_norm below its norm; a formula must also hold for one
    above.
    """
    return Again(
        names={"v": GIVEN, "m": 0.75},
        right={"gradient": "v * clamp(m / norm(v), max=1)"},
        ask={"gradient": lambda at: arrived(failure, student, at["v"], at["m"])[0]},
        elsewhere=[{"v": GIVEN, "m": 10.0}],
    )


# ------------------------------------------------------------------------- changing what flows back


@rule
def edits_in_place(failure, student):
    v, amount = probe(failure)
    _, apart = arrived(failure, student, v, amount)
    _, sibling = arrived(failure, student, v, amount, SIBLINGS)
    return {"v": v, "sibling": sibling} if same(apart, v) and not same(sibling, v) else None


@value_rule
def scales_after_backward(failure, student):
    v, factor = probe(failure)
    tensors = asked_on(failure, student, v, factor)
    y = tensors["y"]
    if not same(fetch(tensors["p"].grad), v) or not fetch(y.retains_grad):
        return None
    held = copied(fetch(y.grad))
    return {"v": v, "held": held} if same(held, factor * v) else None


def no_hook_on_y(*, ever, removable):
    """Make a rule: the gradient passes y unchanged; whether a hook was ever on y, on which there is
    none now, and whether what came back has a remove().
    """

    @value_rule
    def recognize(failure, student):
        y = student.put(torch.ones(3, dtype=torch.float64, requires_grad=True)).clone()
        result = getattr(student, failure.about)(y, *([] if failure.about == DOUBLE else [1.0]))
        given, hooks = fetch(result, y._backward_hooks)  # None until a first hook comes
        told = not hooks and (hooks is not None, has_remove(result)) == (ever, removable)
        kind = "None" if given is None else type_name(given)
        return (
            {"v": probe(failure)[0], "given": kind}
            if told and passes_on(failure, student)
            else None
        )

    return recognize


def has_remove(result):
    try:
        fetch(result.remove)
    except (StudentCodeError, AttributeError):
        return False
    return True


never_registers = no_hook_on_y(ever=False, removable=False)
removed_at_once = no_hook_on_y(ever=True, removable=True)


@value_rule
def hook_returns_nothing(failure, student):
    v, amount = probe(failure)
    answers = student.observe("answered", failure.about, [] if amount is None else [amount], v)
    if failure.about == CLIP:  # one that changes short gradients has its condition reversed
        answers += student.observe("answered", CLIP, [1000.0], v)
    return {"v": v} if set(answers) == {"None"} and passes_on(failure, student) else None


@value_rule
def always_normalises(failure, student):
    m, long = 10.0, GIVEN * (10.0 / GIVEN.norm())
    out = arrived(failure, student, GIVEN, m)[0]
    shown = {"v": GIVEN, "m": m, "out": out, "norm": float(GIVEN.norm())}
    return shown if same(out, long, rtol=1e-4) else None


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
    return {"v": v} if zero and same(arrived(failure, student, v, 0.0)[0], v) else None


def still_scaled(failure):
    """Whether a later backward is scaled by the factor."""
    factor, wanted = failure.inputs.get("factor"), failure.expected
    return {} if isinstance(wanted, Tensor) and same(failure.actual, factor * wanted) else None


hook_left_behind = in_check("a_later_backward_is_not_scaled")(still_scaled)
not_removed_on_error = in_check("scale_nothing_after_an_error")(still_scaled)


@value_rule
def scales_everything(failure, student):
    v, factor = probe(failure)
    _, past = arrived(failure, student, v, factor)
    return {"v": v, "past": past} if same(past, factor * v) else None


@value_rule
def drops_other_paths(failure, student):
    v, factor = probe(failure)
    through, past = arrived(failure, student, v, factor)
    lost = past is None or same(past, torch.zeros_like(v))
    return {"v": v, "past": past} if lost and same(through, factor * v) else None


# ---------------------------------------------------------------------------------------- recording


def recorded(failure, student):
    """The records of p, y = 2p, h = 3y: at first, after a backward, after another; and how many
    handles there are. None without a dictionary.
    """
    p = torch.ones(2, dtype=torch.float64, requires_grad=True)
    tensors = failure.draw.graph("y = 2.0 * p", "h = 3.0 * y", "z = 1.0 * h", p=p).tensors(student)
    pair = student.record_gradients({name: tensors[name] for name in "pyh"})
    found = fetch(pair)
    if not isinstance(found, tuple | list) or not isinstance(found[0], dict):
        return None
    rounds = []
    for v in (None, *torch.tensor([[0.5, -1.5], [2.0, 0.25]], dtype=torch.float64)):
        if v is not None:
            tensors["z"].backward(v, retain_graph=True)
        rounds.append({key: copied(one) for key, one in fetch(pair[0]).items()})
    handles = found[1]
    return rounds, len(handles) if isinstance(handles, tuple | list) else 1


@value_rule
def late_binding_closure(failure, student):
    if failure.about == NORMS:
        spec, x, norms = network(failure.draw)
        names, records, right = LEAVES, norms_on(student, spec, x), norms["grad_output"]
    else:
        seen = recorded(failure, student)
        if seen is None:
            return None
        v = torch.tensor([0.5, -1.5], dtype=torch.float64)
        names, records, right = ["p", "y", "h"], seen[0][1], {"p": 6 * v, "y": 3 * v, "h": v}
    filled = [name for name, value in records.items() if value is not None]
    if filled != names[-1:] or same(records[filled[0]], right[filled[0]]):
        return None  # with its own gradient, no other hook wrote over it
    wanted, got = failure.expected, failure.actual
    if isinstance(wanted, dict) and isinstance(got, dict) and len(got) == 1:
        names, filled = [*wanted], [*got]  # those of the failure, where it has them
    return {"names": ", ".join(names), "last": filled[0]}


@value_rule
def fills_too_early(failure, student):
    seen = recorded(failure, student)
    if seen is None:
        return None
    (start, after, _), handles = seen
    if handles and all(value is None for value in start.values()):
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
    name = failure.facts.get("name")
    said = {
        "retains_grad": phrase("{name}.retains_grad is True", name=name),
        "grad": phrase("{name}.grad is {grad}", name=name, grad=failure.actual),
    }
    what = failure.facts.get("what")
    return {"what": said[what]} if what in said else None


# ------------------------------------------------------------------------------------------ modules


LEAVES, ELEMENTS = ["first", "rest.0", "rest.1"], 10


def network(draw):
    """A network of first: linear, then rest: a chain of 0: tanh and 1: linear, whose output has
    ``ELEMENTS``; an x for it; and the norms of what could be measured at its leaves, by quantity
    and name.
    """
    shapes = (4, 3), (2, 4), (ELEMENTS // 2, 3)
    one, two, x = (draw.tensor(*shape, low=-1.0, high=1.0) for shape in shapes)
    spec = {"first": [one], "rest": {"0": "tanh", "1": [two]}}
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
    """The norms that the student measures on a network, as numbers."""
    norms = student.observe("norms", spec, x)["norms"]
    if not isinstance(norms, dict):
        return {}
    return {key: one.item() if isinstance(one, Tensor) else one for key, one in norms.items()}


def measured(quantity):
    """Make a rule: all norms are those of another quantity. It shows the one that is off most. What
    is left behind has other causes.
    """

    @rule
    def recognize(failure, student):
        if failure.check.startswith("test_norms_leave"):
            return None
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
    seen = recorded(failure, student)
    if seen is None:
        return None
    _, first, later = seen[0]  # the leaf's .grad is there by then
    late = sorted(first) == ["h", "p", "y"] and isinstance(later.get("p"), Tensor)
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
