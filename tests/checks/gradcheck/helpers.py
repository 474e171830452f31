"""gradcheck, what its visible and hidden checks share."""

import torch

from grader.authoring import StudentCodeError, assert_tensor, fail, type_name

EPS = 1e-3
"""A step that float32 resolves, where a check is not about digits."""


def compare_verdict(student, want, parts, *inputs, shown):
    """passes_gradcheck must say of a function what gradcheck says; what was seen meanwhile."""
    seen = student.observe("verdict", parts, *inputs)
    judge_verdict(seen, want, shown)
    return seen


def judge_verdict(seen, want, shown):
    """A verdict must be the one that gradcheck comes to."""
    got = seen["result"]
    details = {
        "expected": want,
        "actual": got,
        "inputs": shown,
        "facts": {**seen, "type": type_name(got)},
    }
    if got is None:
        fail("None came back: is there a return?", **details)
    if type(got) is not bool:
        fail("returned a value of type {type}, expected True or False", **details)
    if want and not got:
        fail("returned False, but gradcheck accepts these gradients in float64", **details)
    if got and not want:
        fail("returned True, but gradcheck rejects these gradients", **details)


def jacobian(f, x):
    """torch's own Jacobian of f at x, elements counted row by row on either side."""
    return torch.autograd.functional.jacobian(f, x).reshape(-1, x.numel())


def assert_jacobian(seen, want, shown, message="this is not the Jacobian", **options):
    """What came back must be this Jacobian in shape and values; the dtype and most of the digits
    are another check's matter.
    """
    got = seen["result"]
    if isinstance(got, torch.Tensor) and got.is_floating_point():
        got = got.to(want.dtype)
    options = {"rtol": 0.01, "atol": 0.02, **options}
    assert_tensor(got, want, message, inputs=shown, facts=facts_of(seen), **options)


def facts_of(seen):
    """What a failure tells of the function that was called."""
    return {"dtypes": seen["dtypes"], "derivatives": seen["derivatives"]}


def compare_names(student, want, functions, x, shown):
    """find_broken must name the functions that gradcheck rejects; a fault of passes_gradcheck is
    not one of find_broken.
    """
    try:
        seen = student.observe("found", functions, x, False)
    except StudentCodeError:
        seen = {"result": None}
    if seen["result"] == want:
        return
    seen = student.observe("found", functions, x, True)
    got = seen["result"]
    details = {"expected": want, "actual": got, "inputs": {**shown, "x": x}}
    facts = {
        "type": type_name(got),
        "names": sorted(functions),
        "seen": seen["seen"],
        "dtype": str(x.dtype).removeprefix("torch."),
    }
    if got is None:
        fail("None came back: is there a return?", facts=facts, **details)
    if not isinstance(got, set):
        fail("returned a value of type {type}, expected a set of names", facts=facts, **details)
    if strangers := {name for name in got if name not in functions}:
        fail(
            "no functions have these names: {strangers}",
            facts={**facts, "strangers": strangers},
            **details,
        )
    if missing := want - got:
        fail(
            "these broken functions are missing: {missing}",
            facts={**facts, "missing": missing},
            **details,
        )
    if surplus := got - want:
        fail(
            "these functions are not broken: {surplus}",
            facts={**facts, "surplus": surplus},
            **details,
        )
