"""hooks: the mistakes that people make here, and how each shows.

Most rules don't read the check's numbers but ask again: they let a gradient v of their own arrive
at y, see what is passed on, and compare that with what each wrong hook would have made of it.
"""

import functools
import math

import torch

from grader.authoring import import_helpers, phrase, program, rule, same

helpers = import_helpers(__file__)

DOUBLE, RECORD, CLIP = "double_gradient", "record_gradients", "clip_gradient"
SCALE, NORMS = "backward_with_scaled_gradient", "gradient_norms"

# ------------------------------------------------------------------------------------------- probes


def unless_raised(*fragments):
    """A rule that is not asked where the student's code raised, other than with one of these in its
    message: it would guess.
    """

    def restrict(rule):
        @functools.wraps(rule)
        def asked(failure, student):
            if failure.error is None or any(failure.raised(fragment) for fragment in fragments):
                return rule(failure, student)
            return None

        return asked

    return restrict


def _apart(p, r):
    y = p.clone()
    return y, y + r * 1.0


def _sharing(p, r):
    left = r.clone()
    y = p.clone()
    return y, left + y


PAST = program(_apart, inputs=2)
"""p reaches z through y, r past it."""

SIBLINGS = program(_sharing, inputs=2)
"""p through y, r past it; both additions hand on one and the same gradient, y's node first."""


def _weighed(graph):
    """The same graph with a scalar end, the sum of z times w."""

    def form(p, r, w):
        y, z = graph(p, r)
        return y, (z * w).sum()

    return program(form, inputs=3)


PAST_TO_LOSS, SIBLINGS_TO_LOSS = _weighed(_apart), _weighed(_sharing)


def arrived(student, about, v, amount=None, *, siblings=False):
    """What p and r get when v arrives at y, for the function ``about`` with ``amount`` as max_norm
    or factor.
    """
    leaves = [torch.zeros_like(v).requires_grad_() for _ in range(2)]
    if about == SCALE:
        graph = SIBLINGS_TO_LOSS if siblings else PAST_TO_LOSS
        return student.observe("scaled", amount, graph, [*leaves, v])["grads"][:2]
    graph = SIBLINGS if siblings else PAST
    return helpers.passes(student, about, [] if amount is None else [amount], graph, leaves, [v])[0]


def probe(failure):
    """A gradient for y and an amount that must change it: three numbers, and None, a max_norm far
    below their norm, or a factor.
    """
    v = failure.draw.tensor(3, low=0.5, high=3.0)
    return v, {DOUBLE: None, CLIP: round(0.4 * float(v.min()), 3), SCALE: 3.0}[failure.about]


def unchanged(failure, student):
    """The probe's v where it reaches p as it arrived at y; None where it was changed."""
    v, amount = probe(failure)
    return v if same(arrived(student, failure.about, v, amount)[0], v) else None


def sitting(failure, student):
    """What the function returned, and how many hooks are on y afterwards."""
    arguments = [] if failure.about == DOUBLE else [1.0]
    return student.observe(
        "counted", failure.about, arguments, torch.ones(3, dtype=torch.float64, requires_grad=True)
    )


# ------------------------------------------------------------------------- changing what flows back


@rule
@unless_raised("written-to tensor")
def edits_in_place(failure, student):
    v, amount = probe(failure)
    _, apart = arrived(student, failure.about, v, amount)
    _, sibling = arrived(student, failure.about, v, amount, siblings=True)
    return {"v": v, "sibling": sibling} if same(apart, v) and not same(sibling, v) else None


@rule
def hook_returns_wrong_shape(failure, student):
    refused = failure.raised("has changed the size of value") or failure.raised(
        "has changed the type of value"
    )
    if refused or failure.raised("but hook returned"):
        return {"refused": failure.error.message.splitlines()[0]}
    return None


@rule
@unless_raised()
def scales_after_backward(failure, student):
    v, factor = probe(failure)
    leaves = [torch.zeros_like(v).requires_grad_() for _ in range(2)]
    seen = student.observe("scaled", factor, PAST_TO_LOSS, [*leaves, v])
    return (
        {"v": v, "held": seen["y"]}
        if same(seen["grads"][0], v) and same(seen["y"], factor * v)
        else None
    )


@rule
@unless_raised()
def changes_the_value(failure, student):
    seen = sitting(failure, student)
    v = unchanged(failure, student)
    made = seen["type"] == "Tensor" and not seen["itself"]
    return {"v": v} if made and not seen["ever"] and v is not None else None


@rule
@unless_raised()
def never_registers(failure, student):
    seen = sitting(failure, student)
    if seen["ever"] or seen["removable"]:
        return None
    v = unchanged(failure, student)
    return {"v": v, "given": _article(seen["type"])} if v is not None else None


@rule
@unless_raised()
def removed_at_once(failure, student):
    seen = sitting(failure, student)
    v = unchanged(failure, student)
    removed = seen["removable"] and seen["ever"] and not seen["functions"]
    return {"v": v, "type": seen["type"]} if removed and v is not None else None


@rule
@unless_raised()
def hook_returns_nothing(failure, student):
    v, amount = probe(failure)
    answers = student.observe("answered", failure.about, [] if amount is None else [amount], v)
    if (
        failure.about == CLIP
    ):  # one that returns something for a short gradient has its condition the wrong way round
        answers += student.observe("answered", CLIP, [1000.0], v)
    return (
        {"v": v} if set(answers) == {"None"} and unchanged(failure, student) is not None else None
    )


# ----------------------------------------------------------------------------------------- clipping


@rule
@unless_raised()
def clip_by_value(failure, student):
    v = torch.tensor([0.3, -2.5, 1.7, 0.2], dtype=torch.float64)
    out, _ = arrived(student, CLIP, v, 0.5)
    return (
        {"v": v, "out": out, "m": 0.5, "norm": float(out.norm())}
        if same(out, v.clamp(-0.5, 0.5))
        else None
    )


@rule
@unless_raised()
def clips_each_row(failure, student):
    v = failure.draw.tensor(2, 3, low=0.5, high=3.0)
    m = 0.75
    out, _ = arrived(student, CLIP, v, m)
    for dim, line in ((1, "row"), (0, "column")):
        if same(out, v * (m / v.norm(dim=dim, keepdim=True)).clamp(max=1.0), rtol=1e-3):
            return {"v": v, "out": out, "m": m, "line": line, "norm": float(out.norm())}
    return None


@rule
@unless_raised()
def always_normalises(failure, student):
    v = failure.draw.tensor(3, low=0.5, high=1.5)
    m = 10.0
    out, _ = arrived(student, CLIP, v, m)
    return (
        {"v": v, "out": out, "m": m, "norm": float(v.norm())}
        if same(out, v * m / v.norm(), rtol=1e-3)
        else None
    )


@rule
@unless_raised()
def normalises_to_one(failure, student):
    v = failure.draw.tensor(3, low=1.5, high=3.0)
    m = 0.25
    out, _ = arrived(student, CLIP, v, m)
    return (
        {"v": v, "out": out, "m": m, "norm": float(v.norm())}
        if same(out, v / v.norm(), rtol=1e-3)
        else None
    )


@rule
@unless_raised("ZeroDivisionError")
def divides_by_zero(failure, student):
    if failure.raised("ZeroDivisionError"):
        return (
            {"came": "your hook raised ZeroDivisionError"}
            if failure.check == "test_clip_a_zero_gradient"
            else None
        )
    out, _ = arrived(student, CLIP, torch.zeros(3, dtype=torch.float64), 1.0)
    return (
        {"came": "nan was passed on"}
        if isinstance(out, torch.Tensor) and bool(out.isnan().any())
        else None
    )


OTHER_NORMS = {
    "the sum of absolute values": lambda g: g.abs().sum(),
    "the largest absolute value": lambda g: g.abs().max(),
    "the sum of squares without the root": lambda g: g.square().sum(),
    "the root mean square": lambda g: g.square().mean().sqrt(),
    "the sum of the elements": lambda g: g.sum(),
    "the spectral norm of a matrix": lambda g: torch.linalg.matrix_norm(g, 2),
}


@rule
@unless_raised()
def other_norm(failure, student):
    v, m = (
        torch.tensor([[1.0, -2.0, 0.5], [2.0, 1.5, -1.5]], dtype=torch.float64),
        0.2,
    )  # none of the norms is 1: m alone is not a ratio
    out, _ = arrived(student, CLIP, v, m)
    for used, norm in OTHER_NORMS.items():
        if same(out, v * m / norm(v), rtol=1e-4):
            return {
                "v": v,
                "m": m,
                "norm": float(v.norm()),
                "ratio": m / float(norm(v)),
                "used": used,
                "other": float(norm(v)),
            }
    return None


@rule
def assumes_contiguous(failure, student):
    return (
        {"refused": failure.error.message.splitlines()[0]}
        if failure.raised("view size is not compatible")
        else None
    )


# ------------------------------------------------------------------------------------- one backward


def _difference(p, q):
    return p - q


def _square(y, p, q):
    return (y**2).sum()


def _twice(y, p, q):
    return (y * 2.0).sum()


TRUNK, TAILS = (
    program(_difference, inputs=2),
    [program(_square, inputs=3), program(_twice, inputs=3)],
)
"""The later tail's gradient is the same whatever y holds, so that it tells of hooks alone."""


def later_ratio(student, how=None):
    """By how much a plain backward after the call is out, with factor 3: after a call that ended
    well, or after one that raised.
    """
    leaves = [
        torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True),
        torch.zeros(2, dtype=torch.float64, requires_grad=True),
    ]
    plain = torch.tensor([2.0, 2.0], dtype=torch.float64)
    if how is None:
        got = helpers.afterwards(student, 3.0, TRUNK, TAILS, leaves)[1][0]
    else:
        got = student.observe("interrupted", 3.0, TRUNK, TAILS, leaves, how)["grads"][0]
    if (
        not isinstance(got, torch.Tensor)
        or same(got, plain)
        or not same(got / plain, (got / plain)[:1].expand(2))
    ):
        return None
    return {"ratio": float(got[0] / plain[0]), "plain": plain, "got": got}


@rule
@unless_raised()
def hook_left_behind(failure, student):
    return later_ratio(student)


@rule
@unless_raised()
def not_removed_on_error(failure, student):
    return next(
        (found for found in (later_ratio(student, how) for how in ("gate", "freed")) if found), None
    )


@rule
@unless_raised()
def scales_everything(failure, student):
    v, factor = probe(failure)
    _, past = arrived(student, SCALE, v, factor)
    return {"v": v, "past": past} if same(past, factor * v) else None


@rule
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


def rounds(student):
    """Records of p, y = 2p, h = 3y after z = h got v, and after it got w; what h, y and p should
    have got. None where there are none.
    """
    v, w = (torch.tensor(values, dtype=torch.float64) for values in ([0.5, -1.5], [2.0, 0.25]))
    seen = student.observe(
        "recorded",
        program(_named),
        [torch.ones(2, dtype=torch.float64, requires_grad=True)],
        NAMES,
        [v, w],
    )
    if not seen["pair"] or not isinstance(seen["start"], dict):
        return None
    return seen, v, w


@rule
@unless_raised()
def late_binding_closure(failure, student):
    if failure.about == NORMS:
        network = Network(failure.draw)
        found, last = network.norms(student), network.leaves[-1]
        alone = same(found.get(last), network.true[last])
        return (
            {"names": ", ".join(network.leaves), "last": last}
            if list(found) == [last] and not alone
            else None
        )
    found = rounds(student)
    if found is None:
        return None
    records = found[0]["rounds"][0]
    filled = [name for name, value in records.items() if isinstance(value, torch.Tensor)]
    alone = same(
        records.get(NAMES[-1]), found[1]
    )  # its own gradient: no other hook wrote over it, so there is none
    return (
        {"names": ", ".join(NAMES), "last": NAMES[-1]}
        if filled == NAMES[-1:] and not alone
        else None
    )


@rule
@unless_raised()
def fills_too_early(failure, student):
    found = rounds(student)
    if found is None:
        return None
    start, after = found[0]["start"], found[0]["rounds"][0]
    if all(value is None for value in start.values()) and hooks_listed(student):
        return None  # places that its hooks were to fill
    as_before = [
        same(after.get(key), value) or after.get(key) is value is None
        for key, value in start.items()
    ]
    return {"start": start} if start and len(after) == len(start) and all(as_before) else None


def hooks_listed(student):
    """Whether there are handles, and with them hooks, for tensors by name."""
    v, leaf = (
        torch.ones(2, dtype=torch.float64),
        torch.ones(2, dtype=torch.float64, requires_grad=True),
    )
    return bool(student.observe("closed", program(_named), [leaf], NAMES, [v, v]).get("kinds"))


@rule
@unless_raised()
def keeps_the_first(failure, student):
    found = rounds(student)
    if found is None:
        return None
    seen, v, w = found
    kept = seen["rounds"][1].get("h")
    return (
        {"v": v, "w": w, "kept": kept}
        if same(kept, v) and same(seen["rounds"][0].get("h"), v)
        else None
    )


@rule
@unless_raised()
def adds_records_up(failure, student):
    found = rounds(student)
    if found is None:
        return None
    seen, v, w = found
    first, last = seen["rounds"][:2]
    if not all(isinstance(records.get("h"), torch.Tensor) for records in (first, last)):
        return None
    for name, slope in (("h", 1), ("p", 6)):
        kept, total = last.get(name), slope * (v + w)
        if same(kept, total):
            return {"v": slope * v, "w": slope * w, "name": name, "kept": kept}
    return None


@rule
@unless_raised()
def records_aliases(failure, student):
    v = torch.tensor([0.5, -1.5], dtype=torch.float64)
    leaves = [torch.ones(2, dtype=torch.float64, requires_grad=True) for _ in range(2)]

    def form(p, r):
        left = r.clone()
        y = p.clone()
        return left, y, left + y

    seen = student.observe("touched", program(form, inputs=2), leaves, ["a", "y"], v.clone(), "a")
    if not seen["pair"]:
        return None
    for stage in ("v", "grad", "record"):
        for name in ("y", "a"):
            before, after = seen["first"].get(name), seen[stage].get(name)
            if stage == "record" and name == "a":
                continue
            if same(before, v) and not same(after, v):
                return {"name": name, "before": before, "after": after}
    return None


@rule
@unless_raised()
def retains_grad(failure, student):
    found = rounds(student)
    if found is None:
        return None
    for name, grad in found[0]["inner"].items():
        if grad is not None:
            return {"name": name, "grad": grad}
    return None


# ------------------------------------------------------------------------------------------ handles


@rule
@unless_raised()
def forgets_handle(failure, student):
    if failure.about == RECORD:
        return _handles_missing(student)
    seen = sitting(failure, student)
    v, amount = probe(failure)
    wanted = 2 * v if failure.about == DOUBLE else v * amount / v.norm()
    works = same(arrived(student, failure.about, v, amount)[0], wanted, rtol=1e-3)
    return {"given": _article(seen["type"])} if works and not seen["removable"] else None


def _article(kind):
    return kind if kind == "None" else phrase("{type}", type=kind)


def _handles_missing(student):
    found = rounds(student)
    if found is None:
        return _records_alone(student)
    records, v = found[0]["rounds"][0], found[1]
    if (
        not isinstance(records, dict)
        or not same(records.get("h"), v)
        or not same(records.get("y"), 3 * v)
    ):
        return None
    leaf = torch.ones(2, dtype=torch.float64, requires_grad=True)
    seen = student.observe("closed", program(_named), [leaf], NAMES, [v, v])
    if not seen["listed"]:
        return (
            None
            if seen["handles"] in ("dict", "tuple", "set")
            else {"given": _article(seen["handles"])}
        )
    if not seen["kinds"]:
        return {"given": "an empty list"}
    return (
        None
        if seen["removable"]
        else {"given": phrase("a list of {types}", types=", ".join(seen["kinds"]))}
    )


def _records_alone(student):
    v = torch.tensor([0.5, -1.5], dtype=torch.float64)
    leaf = torch.ones(2, dtype=torch.float64, requires_grad=True)
    seen = student.observe("recorded", program(_named), [leaf], NAMES, [v])
    return {"given": "only a dict"} if seen["type"] == "dict" else None


# ------------------------------------------------------------------------------------------ modules


class Network:
    """first: linear, then rest: a chain of 0: tanh and 1: linear; and what can be measured on it,
    by name.
    """

    def __init__(self, draw):
        self.leaves = ["first", "rest.0", "rest.1"]
        one, two = (draw.tensor(*shape, low=-1.0, high=1.0) for shape in ((4, 3), (2, 4)))
        zero, shift = torch.zeros(4, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
        last = ["chain", [["0", ["tanh"]], ["1", ["linear", two, shift]]]]
        self.spec = ["chain", [["first", ["linear", one, zero]], ["rest", last]]]
        self.x = draw.tensor(5, 3, requires_grad=True)
        x = self.x.detach()
        first = x @ one.T
        second = first.tanh()
        out = second @ two.T
        ones = torch.ones_like(out)
        into_last = ones @ two
        into_tanh = into_last * (1 - second**2)
        self.out = out
        self.true = self._by_name(into_tanh, into_last, ones)
        self.grad_input = self._by_name(into_tanh @ one, into_tanh, into_last)
        self.output = self._by_name(first, second, out)
        self.input = self._by_name(x, first, second)
        self.weight_grad = {
            "first": float((into_tanh.T @ x).norm()),
            "rest.1": float((ones.T @ second).norm()),
        }

    def _by_name(self, *tensors):
        return {
            name: float(tensor.norm()) for name, tensor in zip(self.leaves, tensors, strict=True)
        }

    def norms(self, student):
        """What the student measures on it, numbers only; x requires grad."""
        found = student.observe("norms", self.spec, self.x)["norms"]
        if not isinstance(found, dict):
            return {}
        return {
            key: value.item() if isinstance(value, torch.Tensor) and value.numel() == 1 else value
            for key, value in found.items()
        }


def agrees(found, wrong, true):
    """Where all values are the wrong quantity's, the name for which it is furthest from the true
    one.
    """
    common = [name for name in wrong if name in found]
    if len(common) < 2 or not all(same(found[name], wrong[name]) for name in common):
        return None
    clearest = max(
        common,
        key=lambda name: (
            abs(math.log(wrong[name] / true[name])) if wrong[name] and true[name] else math.inf
        ),
    )
    return None if same(wrong[clearest], true[clearest]) else clearest


def norms_right(failure, student):
    """Whether the norms are all right, so that what is wrong is something else."""
    network = Network(failure.draw)
    found = network.norms(student)
    return set(found) == set(network.true) and all(
        same(found[name], norm) for name, norm in network.true.items()
    )


def measured(failure, student, quantity):
    """The facts where the student's norms are those of ``quantity``."""
    network = Network(failure.draw)
    found = network.norms(student)
    name = agrees(found, getattr(network, quantity), network.true)
    return {"name": name, "got": found[name], "true": network.true[name]} if name else None


@rule
@unless_raised()
def names_by_class(failure, student):
    network = Network(failure.draw)
    keys = list(network.norms(student))
    kinds = ("Linear", "Tanh", "Sequential")
    said = [
        key
        for key in keys
        if isinstance(key, str)
        and any(kind in key for kind in kinds)
        and not any(n in key for n in network.leaves)
    ]
    return {"keys": ", ".join(map(str, keys)), "name": "rest.1"} if keys and said == keys else None


@rule
@unless_raised()
def direct_children_only(failure, student):
    network = Network(failure.draw)
    keys = list(network.norms(student))
    if keys not in (["first", "rest"], ["rest", "first"], ["first"]):
        return None
    turned = [
        "chain",
        [["whole", network.spec], ["last", ["tanh"]]],
    ]  # who stops at the first leaf finds one inside whole
    found = student.observe("norms", turned, network.x)["norms"]
    return (
        {"keys": ", ".join(keys)}
        if isinstance(found, dict) and set(found) <= {"whole", "last"}
        else None
    )


@rule
@unless_raised()
def includes_containers(failure, student):
    network = Network(failure.draw)
    keys = set(network.norms(student))
    extra = keys - set(network.leaves)
    named = {
        "leaves": ", ".join(network.leaves),
        "extra": ", ".join(sorted(repr(key) for key in extra)),
    }
    return named if extra and extra <= {"", "rest"} and keys >= set(network.leaves) else None


@rule
@unless_raised()
def measures_weight_grad(failure, student):
    return measured(failure, student, "weight_grad")


@rule
@unless_raised("'NoneType' object has no attribute")
def measures_grad_input(failure, student):
    return measured(failure, student, "grad_input")


@rule
@unless_raised()
def measures_output(failure, student):
    return measured(failure, student, "output")


@rule
@unless_raised()
def averages_the_output(failure, student):
    network = Network(failure.draw)
    count = network.out.numel()
    found = network.norms(student)
    name = agrees(found, {name: norm / count for name, norm in network.true.items()}, network.true)
    return (
        {"name": name, "got": found[name], "true": network.true[name], "count": count}
        if name
        else None
    )


def raised_in_backward(failure, student):
    """Whether nothing is wrong before a backward runs, and something in it raises before a module
    on its way does.
    """
    if failure.about == RECORD:
        leaf = torch.ones(2, dtype=torch.float64, requires_grad=True)
        student.observe(
            "graph", RECORD, NAMES, program(_named), [leaf], ["leaf", *NAMES, "z"]
        )  # an exception here ends the rule
        return True
    spec, x = turnstiled(failure.draw), failure.draw.tensor(5, 3, requires_grad=True)
    forward, backward = (
        student.observe("left", spec, x, "0", trouble)["raised"]
        for trouble in ("forward", "backward")
    )
    return forward == "ValueError" and backward == "AttributeError"


@rule
@unless_raised("'NoneType' object has no attribute")
def reads_grad_in_hook(failure, student):
    if failure.raised("AttributeError: 'NoneType' object has no attribute"):
        if not raised_in_backward(failure, student):
            return None
        return {
            "came": phrase("it was None, and your hook raised {error}", error=str(failure.error))
        }
    if failure.about == NORMS:
        return None
    found = rounds(student)
    if found is None:
        return None
    records = found[0]["rounds"][0]
    later = found[0]["rounds"][1]  # the leaf's .grad is there by then
    if (
        sorted(records) == sorted(NAMES)
        and records["y"] is None
        and isinstance(later.get("p"), torch.Tensor)
    ):
        shown = ", ".join(f"{name}: {records[name]}" for name in NAMES[1:])
        return {"came": phrase("after backward the records are {records}", records=shown)}
    return None


@rule
def forward_hook_returns(failure, student):
    mixed_up = any(
        failure.raised("must be Tensor, not", kind)
        for kind in ("RemovableHandle", "float", "list", "tuple")
    )
    return (
        {"raised": str(failure.error)}
        if mixed_up or failure.raised("'RemovableHandle' object has no attribute 'sum'")
        else None
    )


@rule
@unless_raised()
def forward_for_each_module(failure, student):
    passed = failure.facts.get("passed")
    return (
        {"passed": passed} if isinstance(passed, int) and passed >= 3 else None
    )  # the chain has three leaves


@rule
@unless_raised()
def tensors_not_floats(failure, student):
    if not norms_right(failure, student):
        return None
    network = Network(failure.draw)
    found = student.observe("norms", network.spec, network.x)["norms"]
    name = next((name for name, value in found.items() if isinstance(value, torch.Tensor)), None)
    return {"name": name, "type": "Tensor"} if name is not None else None


PARTS = [
    "module",
    "0",
    "1",
    "2",
    "0.weight",
    "0.bias",
    "2.weight",
    "2.bias",
    "x",
    "torch.nn (global)",
]


def turnstiled(draw):
    """The plain data of a chain of three, with a turnstile between two linear layers."""
    one, two = draw.tensor(4, 3), draw.tensor(2, 4)
    zero, shift = torch.zeros(4, dtype=torch.float64), torch.zeros(2, dtype=torch.float64)
    return [
        "chain",
        [["0", ["linear", one, zero]], ["1", ["turnstile"]], ["2", ["linear", two, shift]]],
    ]


def hooks_left(failure, student, trouble=None):
    """Where hooks are left on a chain of three after a call, or after one that raised; None where
    the norms are wrong already.
    """
    if not norms_right(failure, student):
        return None
    seen = student.observe(
        "left",
        turnstiled(failure.draw),
        failure.draw.tensor(5, 3, requires_grad=True),
        "0",
        trouble,
    )
    more = [after - before for before, after in zip(seen["before"], seen["after"], strict=True)]
    places = [f"{place}: {count}" for place, count in zip(PARTS, more, strict=True) if count > 0]
    return {"left": ", ".join(places), "where": trouble or ""} if places else None


@rule
@unless_raised()
def module_hooks_left(failure, student):
    return hooks_left(failure, student)


@rule
@unless_raised()
def module_hooks_left_after_error(failure, student):
    return next(
        (
            found
            for found in (
                hooks_left(failure, student, trouble) for trouble in ("forward", "backward")
            )
            if found
        ),
        None,
    )


def parameter_grads(failure, student, before):
    """The .grad of a layer's weight after a call; ``before`` is what it held."""
    one = torch.ones(2, 3, dtype=torch.float64)
    spec = ["chain", [["0", ["linear", one, None]], ["1", ["tanh"]]]]
    x = torch.full((1, 3), 0.1, dtype=torch.float64, requires_grad=True)
    return student.observe("grads_kept", spec, x, [before])["0.weight"]


@rule
@unless_raised()
def parameter_grads_left(failure, student):
    if not norms_right(failure, student):
        return None
    nothing = parameter_grads(failure, student, None)
    if nothing is not None and not same(nothing, torch.zeros(2, 3, dtype=torch.float64)):
        return {"before": "None", "after": nothing}
    before = torch.full((2, 3), 7.0, dtype=torch.float64)
    after = parameter_grads(failure, student, before)
    changed = (
        isinstance(after, torch.Tensor)
        and not same(after, before)
        and not same(after, torch.zeros_like(before))
    )
    return {"before": before, "after": after} if changed else None


@rule
@unless_raised()
def parameter_grads_cleared(failure, student):
    if not norms_right(failure, student):
        return None
    before = torch.full((2, 3), 7.0, dtype=torch.float64)
    after = parameter_grads(failure, student, before)
    return (
        {"before": before, "after": after}
        if after is None or same(after, torch.zeros_like(before))
        else None
    )
