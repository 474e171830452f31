"""The mistakes that people make with leaves, intermediate results and .grad, each recognised by
what comes back.
"""

import re

import torch

from grader.authoring import Opaque, differs, import_helpers, program, rule, same

helpers = import_helpers(__file__)

LOG_OF_CUBE = program(lambda x: (y := x**3, y.log()))
FIVE = torch.tensor(5.0, requires_grad=True)
SQUARE = program(lambda x: (x**2,))
ZERO = torch.tensor(0.0, requires_grad=True)
PAIR = torch.tensor([2.0, 3.0], requires_grad=True)


def agrees(left, right):
    """``same`` with a tolerance that float32 stays within."""
    return same(left, right, rtol=1e-4, atol=1e-6)


def entry(failure, key):
    """What came back and what should have, where the failure is about the entry ``key``; else a
    pair of None.
    """
    if failure.facts.get("key") != key:
        return None, None
    return failure.facts["state"].get(key), failure.facts["want"]


def none_for_a_gradient(failure):
    """Whether the error is about something that a gradient, or a node, is asked for; other Nones
    come from elsewhere.
    """
    taken = (
        r"no attribute '(name|next_functions|clone|detach_?|data|zero_|fill_|copy_|item|tolist"
        r"|numpy|shape|dtype)'"
    )
    about = taken + r"|unsupported operand|must be Tensor, not NoneType"
    return failure.raised("NoneType") and re.search(about, failure.error.message) is not None


# ------------------------------------------------------------------------------------- tensor_state


@rule
def retains_on_the_way(failure, student):
    """An intermediate result keeps its gradient once it was looked at."""
    if (
        failure.facts.get("key", "retains_grad") not in ("retains_grad", "grad")
        or "text" in failure.facts
    ):
        return None
    seen = student.observe("around", LOG_OF_CUBE, [FIVE], [], {})
    changed = [
        name
        for name, b, a in zip("xyz", seen["before"], seen["after"], strict=True)
        if a["retains_grad"] and not b["retains_grad"]
    ]
    return (
        {"which": {"y": "y = x ** 3", "z": "z = log(y)"}.get(changed[0], "x")} if changed else None
    )


@rule
def none_is_asked(failure, student):
    """An attribute of None."""
    if not failure.raised("AttributeError", "'NoneType'") or not none_for_a_gradient(failure):
        return None
    return {"line": str(failure.error.line), "raised": str(failure.error)}


@rule
def leaf_means_requires_grad(failure, student):
    """False for a leaf that does not require grad."""
    got, want = entry(failure, "is_leaf")
    return {} if got is False and want["is_leaf"] and not want["requires_grad"] else None


@rule
def node_is_no_name(failure, student):
    """The node, its text with an address, or the name of None's type."""
    got, want = entry(failure, "grad_fn")
    if want is None:
        return None
    facts = {"wanted": repr(want["grad_fn"])}
    if want["grad_fn"] is None and isinstance(got, str) and "None" in got:
        advice = (
            "A tensor without a node has None there, and that None has a type with a name too: look"
            " whether t.grad_fn is None first."
        )
        return {**facts, "shown": repr(got), "advice": advice}
    if want["grad_fn"] is None:
        return None
    if isinstance(got, Opaque) and got.type_name == want["grad_fn"]:
        return {
            **facts,
            "shown": f"<{got.type_name}>",
            "advice": "That is the node itself. The name belongs to its type: type(...).__name__.",
        }
    if isinstance(got, str) and want["grad_fn"] in got and " object at " in got:
        advice = (
            "The node's text has more in it than the name, such as an address. The name belongs to"
            " its type: type(...).__name__."
        )
        return {**facts, "shown": repr(got), "advice": advice}
    return None


@rule
def leaf_said_to_retain(failure, student):
    """True for a leaf, and for an intermediate result that does retain."""
    got, want = entry(failure, "retains_grad")
    if got is not True or not want["is_leaf"]:
        return None
    return (
        {}
        if helpers.states(student, LOG_OF_CUBE, [FIVE], [1], {})["before"][1]["retains_grad"]
        is True
        else None
    )


@rule
def zero_taken_for_none(failure, student):
    """None for a zero, or torch's error about the truth of a gradient."""
    if failure.raised("RuntimeError", "Boolean value of Tensor"):
        looks_at_tensors_without(student)
        return {
            "seen": (
                "A tensor of several elements, or of none, is neither true nor false, so torch"
                " raised an error."
            )
        }
    got, want = entry(failure, "grad")
    if (
        want is None
        or got is not None
        or not isinstance(want["grad"], torch.Tensor)
        or want["grad"].any()
    ):
        return None
    if (
        helpers.states(student, SQUARE, [ZERO], [], {}, backward=True)["after"][0]["grad"]
        is not None
    ):
        return None
    return {
        "seen": (
            "The gradient held no number but 0, which counts as false, and None came back for it."
        )
    }


@rule
def grad_is_a_number(failure, student):
    """Numbers without their tensor; or item() on a gradient of several elements."""
    if failure.raised("RuntimeError", "cannot be converted to Scalar"):
        looks_at_tensors_without(student)
        return {
            "seen": (
                "item() raised an error: the gradient has several elements, or none, and a plain"
                " number is only one."
            )
        }
    got, want = entry(failure, "grad")
    plain = want is not None and isinstance(want["grad"], torch.Tensor) and plainly(got)
    return (
        {"seen": "A plain number or a list of them came back where a tensor is promised."}
        if plain
        else None
    )


def looks_at_tensors_without(student):
    """Have two elements looked at that hold no gradient: what raises there too (and ends the rule)
    was asked of the tensor itself.
    """
    helpers.states(student, LOG_OF_CUBE, [PAIR], [], {})


def plainly(value):
    """Whether a value is a number or a list of them."""
    return (
        all(map(plainly, value))
        if isinstance(value, list)
        else isinstance(value, int | float) and not isinstance(value, bool)
    )


@rule
def grad_is_an_alias(failure, student):
    """What is written into one shows in the other."""
    if failure.facts.get("shares") == "later":
        return {
            "seen": (
                "Then a second backward added to t.grad, and the entry that had come back earlier"
                " changed with it."
            )
        }
    if failure.facts.get("shares") == "held":
        return {
            "seen": (
                "After a second one a number was added to the entry that had come back, and t.grad"
                " changed with it."
            )
        }
    return None


@rule
def warns_on_intermediates(failure, student):
    """Torch's warning about the .grad of a non-leaf."""
    return {} if "not a leaf Tensor" in failure.facts.get("text", "") else None


# ---------------------------------------------------------------------------------- gradients_along


def stumbled(failure, student):
    """Where the call raised an error about None: what is known of that call with C5's tensors (y, z
    and x); else None.
    """
    if not failure.raised("NoneType"):
        return None
    seen = student.observe("attempt", LOG_OF_CUBE, [FIVE], [1, 2, 0])
    return seen if seen["raised"] == failure.error.type_name else None


@rule
def grad_is_none_at_first(failure, student):
    """An error about None before any backward."""
    seen = stumbled(failure, student) if none_for_a_gradient(failure) else None
    return (
        {"line": str(failure.error.line), "raised": str(failure.error)}
        if seen and seen["passes"] == 0
        else None
    )


@rule
def never_retained(failure, student):
    """No gradient where retain_grad() was not called, and .grad was read all the same; a gradient
    can also be missing in a hook.
    """
    return missing(failure, student, keeps=False)


@rule
def retained_too_late(failure, student):
    """No gradient, although retain_grad() was called: not before a backward began."""
    return missing(failure, student, keeps=True)


def missing(failure, student, *, keeps):
    """A None, or an error about one after a backward, where the tensor keeps its gradient by now
    and did not in time, or never does.
    """
    if "keeps" in failure.facts and failure.actual is None:
        seen, which = failure.facts, failure.facts["tensor"]
    else:
        seen, which = stumbled(failure, student), "y"
        if not seen:
            return None
        seen = {**seen, "keeps": seen["keeps"][0], "in_time": seen["in_time"][0]}
    if not seen["passes"] or seen["keeps"] is not keeps:
        return None
    return {"which": which} if (not seen["in_time"] if keeps else seen["read"]) else None


@rule
def counts_grad_from_before(failure, student):
    """The earlier gradient and the new one."""
    held = failure.facts.get("held")
    if not isinstance(held, torch.Tensor) or not isinstance(failure.expected, torch.Tensor):
        return None
    return (
        {}
        if agrees(failure.actual, failure.expected + held)
        and differs(failure.actual, failure.expected)
        else None
    )


@rule
def one_backward_for_each(failure, student):
    """A whole multiple of the gradient, or torch's error about a second time."""
    if failure.raised("RuntimeError", "backward through the graph a second time"):
        seen = student.observe("attempt", LOG_OF_CUBE, [FIVE], [1, 2, 0])
        if seen["passes"] < 2 or seen["raised"] != failure.error.type_name:
            return None
        return {
            "passes": seen["passes"],
            "seen": "The second one raised an error, since the first had freed the graph.",
        }
    passes = failure.facts.get("passes", 0)
    if not isinstance(failure.expected, torch.Tensor) or not differs(
        failure.actual, failure.expected
    ):
        return None
    if any(agrees(failure.actual, times * failure.expected) for times in range(2, passes + 1)):
        return {
            "seen": (
                "Each one added its gradient to what was there already, and a whole multiple came"
                " back."
            )
        }
    return None


# -------------------------------------------------------------------------- HAS_GRAD_AFTER_BACKWARD


@rule
def every_result_keeps_one(failure, student):
    """A gradient in an intermediate result that retains none."""
    found, key = failure.facts.get("found", {}), failure.facts.get("key")
    return {} if key in ("C4.y", "C4.z") and found["C4.x"] else None


@rule
def only_leaves_ever_keep_one(failure, student):
    """No gradient in an intermediate result that retains one."""
    found, key = failure.facts.get("found", {}), failure.facts.get("key")
    return {} if key in ("C5.y", "C5.z") and found["C5.x"] else None
