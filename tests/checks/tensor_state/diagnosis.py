"""The mistakes that people make with leaves, intermediate results and .grad, each recognised by
what comes back.
"""

import re

import torch

from grader.authoring import Opaque, differs, import_helpers, mistake, program, same

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


@mistake(
    "retains_on_the_way",
    about="tensor_state",
    title="tensor_state calls retain_grad() itself",
    explanation=(
        "Before tensor_state looked at {which}, its retains_grad was False; afterwards it was True."
        " retain_grad() silences the warning by changing the tensor: from now on every backward"
        " stores a gradient there. Looking must leave the tensor alone."
    ),
)
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


@mistake(
    "none_is_asked",
    about="tensor_state",
    title="grad_fn and grad can be None",
    explanation=(
        "Line {line} raised {raised}. A leaf has no node, so its grad_fn is None, and where no "
        "backward has stored anything .grad is None too. Look whether there is one before you ask"
        " it for anything."
    ),
)
def none_is_asked(failure, student):
    """An attribute of None."""
    if not failure.raised("AttributeError", "'NoneType'") or not none_for_a_gradient(failure):
        return None
    return {"line": str(failure.error.line), "raised": str(failure.error)}


@mistake(
    "leaf_means_requires_grad",
    about="tensor_state",
    title="A tensor without requires_grad is a leaf too",
    explanation=(
        "{tensor} does not require grad and has no grad_fn, and for it your is_leaf is False."
        " Nothing is recorded for such a tensor, even where it was computed from others, so no"
        " graph lies behind it: torch calls it a leaf. Ask t.is_leaf."
    ),
)
def leaf_means_requires_grad(failure, student):
    """False for a leaf that does not require grad."""
    got, want = entry(failure, "is_leaf")
    return {} if got is False and want["is_leaf"] and not want["requires_grad"] else None


@mistake(
    "node_is_no_name",
    about="tensor_state",
    title="grad_fn should be a name or None",
    explanation="For {tensor} your entry grad_fn is {shown}; {wanted} is promised. {advice}",
)
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


@mistake(
    "leaf_said_to_retain",
    about="tensor_state",
    title="A leaf keeps its gradient, and its retains_grad is False",
    explanation=(
        "{tensor} is a leaf, and for it your retains_grad is {actual}. A leaf that requires grad"
        " gets its gradient in any case. retains_grad tells only of intermediate results on which"
        " retain_grad() was called; on such a leaf that call does nothing."
    ),
)
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


@mistake(
    "zero_taken_for_none",
    about="tensor_state",
    title="A gradient is asked whether it is true",
    explanation=(
        "{seen} Whether there is a gradient is one question, what its numbers are is another: ask"
        " `t.grad is not None`."
    ),
)
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


@mistake(
    "grad_is_a_number",
    about="tensor_state",
    title="grad came back as a plain number or a list",
    explanation=(
        "{seen} The gradient of a tensor is a tensor, with shape and dtype: clone() copies all of"
        " it, item() and tolist() only the numbers."
    ),
)
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


@mistake(
    "grad_is_an_alias",
    about="tensor_state",
    title="grad is the tensor's own .grad, not a copy",
    explanation=(
        "After one backward the gradient of {tensor} was {first}. {seen} Expected {expected}, found"
        " {actual}. A name, a .detach() or a .data of t.grad is that same memory under another"
        " name; clone() is a copy."
    ),
)
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


@mistake(
    "warns_on_intermediates",
    about="tensor_state",
    title=".grad was read on a tensor that keeps none",
    explanation=(
        "You read .grad of an intermediate result. For {tensor} torch warned, because backward "
        "leaves no gradient there: is_leaf and retains_grad are both False. Check those first, "
        "and read .grad only if one is True."
    ),
)
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


@mistake(
    "grad_is_none_at_first",
    about="gradients_along",
    title=".grad is None before the first backward",
    explanation=(
        "Line {line} raised {raised}, and no backward had begun at z by then. Before a backward"
        " .grad may be None, which can be neither zeroed nor copied. `t.grad = None` clears it"
        " whatever it is."
    ),
)
def grad_is_none_at_first(failure, student):
    """An error about None before any backward."""
    seen = stumbled(failure, student) if none_for_a_gradient(failure) else None
    return (
        {"line": str(failure.error.line), "raised": str(failure.error)}
        if seen and seen["passes"] == 0
        else None
    )


@mistake(
    "never_retained",
    about="gradients_along",
    title="An intermediate result was not told to keep its gradient",
    explanation=(
        "{which} is not a leaf, and its .grad is None: afterwards its retains_grad is still "
        "False. backward computes the gradient there, hands it on and drops it. retain_grad(), "
        "called before backward, makes the tensor keep it."
    ),
)
def never_retained(failure, student):
    """No gradient where retain_grad() was not called, and .grad was read all the same; a gradient
    can also be missing in a hook.
    """
    return missing(failure, student, keeps=False)


@mistake(
    "retained_too_late",
    about="gradients_along",
    title="retain_grad() came after backward",
    explanation=(
        "{which} has retains_grad True in the end, and its .grad is still None. The gradient "
        "passed through before the tensor was told to keep it, and none is kept for later. Call "
        "retain_grad() first, then backward."
    ),
)
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


@mistake(
    "counts_grad_from_before",
    about="gradients_along",
    title="What .grad held before is in the result",
    explanation=(
        "{tensor}.grad held {held} before, and {actual} came back: that and the gradient together."
        " Without it, it would be {expected}. backward adds to .grad, for a leaf and for a tensor"
        " that retains its gradient alike; clear it first."
    ),
)
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


@mistake(
    "one_backward_for_each",
    about="gradients_along",
    title="One backward is enough for all of them",
    explanation=(
        "{passes} backwards began at z. {seen} A single backward from z passes through every tensor"
        " on its way to the leaves, so let all of them keep their gradients first and call backward"
        " once."
    ),
)
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


@mistake(
    "every_result_keeps_one",
    about="HAS_GRAD_AFTER_BACKWARD",
    title="Computed is not kept",
    explanation=(
        "{key} is predicted to have a gradient. backward does compute one there, since it needs it"
        " for the next step, but only leaves that require grad and tensors with retain_grad() keep"
        " theirs. In C4 nobody called it, so {key}'s .grad is None."
    ),
)
def every_result_keeps_one(failure, student):
    """A gradient in an intermediate result that retains none."""
    found, key = failure.facts.get("found", {}), failure.facts.get("key")
    return {} if key in ("C4.y", "C4.z") and found["C4.x"] else None


@mistake(
    "only_leaves_ever_keep_one",
    about="HAS_GRAD_AFTER_BACKWARD",
    title="retain_grad() makes an intermediate result keep its gradient",
    explanation=(
        "You predicted that {key} has no gradient, but it holds {grad}. By default only leaves "
        "keep one, but C5 calls retain_grad() on y and z before backward. The gradient of z with "
        "respect to itself is 1."
    ),
)
def only_leaves_ever_keep_one(failure, student):
    """No gradient in an intermediate result that retains one."""
    found, key = failure.facts.get("found", {}), failure.facts.get("key")
    return {} if key in ("C5.y", "C5.z") and found["C5.x"] else None
