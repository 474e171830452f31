"""hooks: rules that recognize common mistakes.

Many rules ask again: they let a gradient v of their own arrive at y, and compare what is passed on
with what each wrong hook would pass on. The others look at the numbers of the failure.
"""

import math

import torch
from torch import Tensor

from grader.authoring import import_helpers, phrase, program, rule, same

helpers = import_helpers(__file__)

DOUBLE, RECORD, CLIP = "double_gradient", "record_gradients", "clip_gradient"
SCALE, NORMS = "backward_with_scaled_gradient", "gradient_norms"

# ------------------------------------------------------------------------------------------- probes


def unless_raised(*fragments):
    """Make a rule that is asked only if nothing was raised, or one of these: it would guess."""

    def make(recognize):
        def asked(failure, student):
            if failure.error is None or any(failure.raised(text) for text in fragments):
                return recognize(failure, student)
            return None

        return rule(asked)

    return make


def in_check(*names):
    """Make a rule that is asked only in these checks, if nothing was raised."""

    def make(recognize):
        def asked(failure, student):
            if failure.error is None and failure.check.removeprefix("test_") in names:
                return recognize(failure)
            return None

        return rule(asked)

    return make


def _apart(p, r):
    y = p.clone()
    return y, y + r * 1.0


def _sharing(p, r):
    left = r.clone()
    y = p.clone()
    return y, left + y


def _weighed(graph):
    """The same graph with a scalar end, the sum of z times w."""

    def form(p, r, w):
        y, z = graph(p, r)
        return y, (z * w).sum()

    return program(form, inputs=3)


PAST, PAST_TO_LOSS = program(_apart, inputs=2), _weighed(_apart)
"""p reaches z through y, r past it."""
SIBLINGS, SIBLINGS_TO_LOSS = program(_sharing, inputs=2), _weighed(_sharing)
"""p through y, r past it; the addition hands on one tensor to both, first to y's node."""


def arrived(student, about, v, amount=None, *, siblings=False):
    """What p and r get when v arrives at y, with ``amount`` as max_norm or factor."""
    leaves = [torch.zeros_like(v).requires_grad_() for _ in range(2)]
    if about == SCALE:
        graph = SIBLINGS_TO_LOSS if siblings else PAST_TO_LOSS
        return student.observe("scaled", amount, graph, [*leaves, v])["grads"][:2]
    graph = SIBLINGS if siblings else PAST
    return helpers.passes(student, about, [] if amount is None else [amount], graph, leaves, [v])[0]


def probe(failure):
    """A gradient for y, and an amount that must change it."""
    v = failure.draw.tensor(3, low=0.5, high=3.0)
    return v, {DOUBLE: None, CLIP: round(0.4 * float(v.min()), 3), SCALE: 3.0}[failure.about]


def passes_on(failure, student):
    """Whether the probe's v reaches p as it arrived at y."""
    v, amount = probe(failure)
    return same(arrived(student, failure.about, v, amount)[0], v)


def sitting(failure, student):
    """What the function returned, and how many hooks are on y afterwards."""
    arguments = [] if failure.about == DOUBLE else [1.0]
    leaf = torch.ones(3, dtype=torch.float64, requires_grad=True)
    return student.observe("counted", failure.about, arguments, leaf)


# ------------------------------------------------------------------------- changing what flows back


@unless_raised("written-to tensor")
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


@unless_raised()
def scales_after_backward(failure, student):
    v, factor = probe(failure)
    leaves = [torch.zeros_like(v).requires_grad_() for _ in range(2)]
    seen = student.observe("scaled", factor, PAST_TO_LOSS, [*leaves, v])
    late = same(seen["grads"][0], v) and same(seen["y"], factor * v)
    return {"v": v, "held": seen["y"]} if late else None


@unless_raised()
def never_registers(failure, student):
    seen = sitting(failure, student)
    if seen["ever"] or seen["removable"] or not passes_on(failure, student):
        return None
    return {"v": probe(failure)[0], "given": seen["type"]}


@unless_raised()
def removed_at_once(failure, student):
    seen = sitting(failure, student)
    removed = seen["removable"] and seen["ever"] and not seen["functions"]
    return {"v": probe(failure)[0]} if removed and passes_on(failure, student) else None


@unless_raised()
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

    @unless_raised()
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


@unless_raised("ZeroDivisionError")
def divides_by_zero(failure, student):
    if failure.error:
        return {"came": "your hook raised ZeroDivisionError"}
    if failure.check != "test_clip_a_zero_gradient":
        return None
    nan = isinstance(failure.actual, Tensor) and bool(failure.actual.isnan().all())
    return {"came": "nan was passed on"} if nan else None


# ------------------------------------------------------------------------------------- one backward


@unless_raised()
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


@in_check("scale_nothing_after_an_error", "norms_leave_no_hook_after_an_error")
def swallows_the_exception(failure):
    return {} if "returned without an error" in failure.message else None


@unless_raised()
def scales_everything(failure, student):
    v, factor = probe(failure)
    _, past = arrived(student, SCALE, v, factor)
    return {"v": v, "past": past} if same(past, factor * v) else None


@unless_raised()
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


@unless_raised()
def late_binding_closure(failure, student):
    if failure.about == NORMS:
        network = Network(failure.draw)
        names, records, right = network.leaves, network.norms(student), network.true
    elif failure.check == "test_records_hold_each_gradient" and isinstance(failure.actual, dict):
        names, records, right = failure.facts["names"], failure.actual, failure.expected
    else:
        return None
    filled = [name for name, value in records.items() if value is not None]
    if filled != names[-1:] or same(records[filled[0]], right[filled[0]]):
        return None  # with its own gradient, no other hook wrote over it
    return {"names": ", ".join(names), "last": filled[0]}


@unless_raised()
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


def first_gradient(failure):
    """What the first backward brought where the records of the second are wrong."""
    if failure.facts.get("number") != 2 or not isinstance(failure.expected, Tensor):
        return None
    return failure.expected / failure.inputs["v2"] * failure.inputs["v1"]


@in_check("records_latest_backward_counts")
def keeps_the_first(failure):
    return {} if same(failure.actual, first_gradient(failure)) else None


@in_check("records_latest_backward_counts")
def adds_records_up(failure):
    first = first_gradient(failure)
    both = first is not None and same(failure.actual, first + failure.expected)
    return {"first": first} if both else None


@in_check("records_are_copies")
def records_aliases(failure):
    return {} if same(failure.actual, failure.expected + 100) else None


@in_check("records_change_nothing_else", "a_later_backward_is_not_scaled")
def retains_grad(failure):
    name, what = failure.facts.get("name", "y"), failure.facts.get("what")
    if what == "retains_grad":
        return {"name": "y", "what": phrase("y.retains_grad is True")}
    kept = failure.expected is None and isinstance(failure.actual, Tensor)
    told = phrase("{name}.grad is {grad}", name=name, grad=failure.actual)
    return {"name": name, "what": told} if kept else None


# ------------------------------------------------------------------------------------------ handles


@unless_raised()
def forgets_handle(failure, student):
    kinds, message = failure.facts.get("kinds"), failure.message
    given = failure.facts.get("type")
    if "is not the pair" in message:
        given = "only a dict" if given == "dict" else None
    elif kinds == "nothing" and "after remove() of the handles" in message:
        given = "an empty list"
    elif "not all of them have a remove()" in message:
        given = kinds
    elif "are neither a list" in message:
        given = None if given in ("dict", "set") else given
    elif "has no remove() to call" not in message:
        given = None
    return None if given is None else {"given": given}


# ------------------------------------------------------------------------------------------ modules


class Network:
    """first: linear, then rest: a chain of 0: tanh and 1: linear; and what can be measured there.

    ``wrong`` holds the norms that other quantities than grad_output have, by name.
    """

    leaves = ("first", "rest.0", "rest.1")

    def __init__(self, draw):
        one, two = (draw.tensor(*shape, low=-1.0, high=1.0) for shape in ((4, 3), (2, 4)))
        zero, shift = torch.zeros(4, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
        last = ["chain", [["0", ["tanh"]], ["1", ["linear", two, shift]]]]
        self.spec = ["chain", [["first", ["linear", one, zero]], ["rest", last]]]
        self.leaves = [*Network.leaves]
        self.x = draw.tensor(5, 3, requires_grad=True)
        x = self.x.detach()
        first = x @ one.T
        second = first.tanh()
        out = second @ two.T
        ones = torch.ones_like(out)
        into_last = ones @ two
        into_tanh = into_last * (1 - second**2)
        self.count = out.numel()
        self.true = self._by_name(into_tanh, into_last, ones)
        self.wrong = {
            "weight.grad": self._by_name(into_tanh.T @ x, None, ones.T @ second),
            "grad_input": self._by_name(into_tanh @ one, into_tanh, into_last),
            "output": self._by_name(first, second, out),
            "mean": {name: norm / self.count for name, norm in self.true.items()},
        }

    def _by_name(self, *tensors):
        pairs = zip(self.leaves, tensors, strict=True)
        return {name: float(tensor.norm()) for name, tensor in pairs if tensor is not None}

    def norms(self, student):
        """What the student measures on it; x requires grad."""
        found = student.observe("norms", self.spec, self.x)["norms"]
        if not isinstance(found, dict):
            return {}
        return {
            key: value.item() if isinstance(value, Tensor) and value.numel() == 1 else value
            for key, value in found.items()
        }


def measured(quantity, *fragments):
    """Make a rule: all norms are those of another quantity. It shows the one that is off most."""

    @unless_raised(*fragments)
    def recognize(failure, student):
        network = Network(failure.draw)
        found, wrong = network.norms(student), network.wrong[quantity]
        common = [name for name in wrong if name in found]
        if len(common) < 2 or not all(same(found[name], wrong[name]) for name in common):
            return None
        apart = {name: abs(math.log(wrong[name] / network.true[name])) for name in common}
        name = max(common, key=apart.__getitem__)
        if same(wrong[name], network.true[name]):
            return None
        true, count = network.true[name], network.count
        return {"name": name, "got": found[name], "true": true, "count": count}

    return recognize


measures_weight_grad = measured("weight.grad")
measures_grad_input = measured("grad_input", "'NoneType' object has no attribute")
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
    return {
        "keys": ", ".join(failure.actual),
        "missing": ", ".join(n for n in failure.expected if "." in n),
    }


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


@unless_raised()
def reads_grad_in_hook(failure, student):
    seen = recorded(student)
    if seen is None:
        return None
    first, later = seen["rounds"]  # the leaf's .grad is there by then
    late = sorted(first) == sorted(NAMES) and isinstance(later.get("p"), Tensor)
    return {} if late and first["y"] is None is first["p"] else None


@rule
def forward_hook_returns(failure, student):
    kinds = ("RemovableHandle", "float", "list", "tuple")
    replaced = any(failure.raised("must be Tensor, not", kind) for kind in kinds)
    if not replaced and not failure.raised("'RemovableHandle' object has no attribute 'sum'"):
        return None
    return {"raised": str(failure.error)}


@in_check("norms_are_floats_from_one_forward")
def forward_for_each_module(failure):
    passed = failure.facts.get("passed", 0)
    return {"passed": passed} if passed >= 3 else None  # the chain has three leaves


def places(failure):
    """Where there are more hooks than before the call."""
    if not isinstance(failure.actual, dict):
        return None
    counts = failure.expected.items()
    more = {place: failure.actual[place] - count for place, count in counts}
    left = ", ".join(f"{place}: {count}" for place, count in more.items() if count > 0)
    return {"left": left} if left else None


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
    after = failure.actual
    if failure.facts.get("name") is None or not isinstance(after, Tensor):
        return None
    return None if same(after, torch.zeros_like(after)) else {}
