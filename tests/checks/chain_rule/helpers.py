"""chain_rule, what its visible and hidden checks share."""

import math

import torch

from grader.checks import assert_gradient, fail, type_name

WRITTEN_OUT = "test_gradient_by_hand_is_a_formula"
BOTH_WRITTEN_OUT = "test_power_gradients_are_formulas"
BY_AUTOGRAD = "test_autograd_does_the_differentiating"
"""What later checks of a function need: not the right numbers alone, but that they were made in the way that is the lesson."""

PRICES = ("apple", "tangerine", "num_apple", "num_tangerine", "ctax")
BETWEEN = ("apple_price", "tangerine_price", "price", "result")


def two_paths(x):
    """The z of gradient_by_hand."""
    return torch.log(x**3) + torch.sqrt(x**2)


def power(x, q):
    """The z of power_gradients_by_hand."""
    return torch.log(x**q)


def truth(f, *inputs):
    """What autograd has for the gradients of f, elementwise."""
    leaves = [t.detach().clone().requires_grad_() for t in inputs]
    return torch.autograd.grad(f(*leaves).sum(), leaves)


def assert_both(got, want, inputs, message="the gradient with respect to {name} is wrong", **tolerance):
    """A tuple of the two gradients of power_gradients_by_hand."""
    details = {"expected": want, "actual": got, "inputs": inputs}
    if got is None:
        fail("None came back: is there a return?", **details)
    if not isinstance(got, tuple):
        fail("{type} came back where a tuple of two Tensors is promised", facts={"type": type_name(got)}, **details)
    if len(got) != 2:
        fail("the tuple should hold two Tensors and holds {count}", facts={"count": len(got)}, **details)
    for name, found, right in zip("xq", got, want, strict=True):
        if found is None:
            fail("the gradient with respect to {name} is None", facts={"name": name}, **details)
        assert_gradient(found, right, message, inputs=inputs, facts={"name": name}, **tolerance)


def number_in(value):
    """A number, or the one in a tensor of one element, as a float; None where there is none."""
    if isinstance(value, torch.Tensor):
        return float(value) if value.numel() == 1 and not value.is_complex() else None
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def assert_three(got, x, w, b, want=None):
    """The three gradients of (w * x + b) ** 2 in their order, as numbers; whether they are plain floats is another check's."""
    y = w * x + b
    want = want or (2 * y * w, 2 * y * x, 2 * y)
    details = {"expected": want, "actual": got, "inputs": {"x": x, "w": w, "b": b}}
    if got is None:
        fail("None came back: is there a return?", **details)
    if not isinstance(got, tuple | list):
        fail("{type} came back where a tuple of three floats is promised", facts={"type": type_name(got)}, **details)
    if len(got) != 3:
        fail("the tuple should hold three floats and holds {count}", facts={"count": len(got)}, **details)
    # What float32 may lose where w * x and b cancel.
    rounding = 1e-6 * (abs(w * x) + abs(b)) * (1 + abs(w) + abs(x))
    for name, item, right in zip("xwb", got, want, strict=True):
        number = number_in(item)
        if item is None:
            fail("the gradient with respect to {name} is None", facts={"name": name}, **details)
        if number is None:
            fail(
                "the gradient with respect to {name} is of type {type}, not a number",
                facts={"name": name, "type": type_name(item)},
                **details,
            )
        if not math.isclose(number, right, rel_tol=1e-5, abs_tol=rounding):
            fail("the gradient with respect to {name} is wrong", facts={"name": name}, **details)


def assert_entries(got, want, names, bill):
    """The entries ``names`` of the gradients of a bill, as numbers; other keys are not looked at."""
    details = {"actual": got, "inputs": dict(zip(("apple", "n_apple", "tangerine", "n_tangerine", "tax"), bill, strict=True))}
    if got is None:
        fail("None came back: is there a return?", expected=want, **details)
    if not isinstance(got, dict):
        fail("{type} came back where a dictionary is promised", expected=want, facts={"type": type_name(got)}, **details)
    for name in names:
        if name not in got:
            keys = ", ".join(str(key) for key in got)
            fail(
                "there is no key {key} in what came back; there are: {keys}",
                expected=want,
                facts={"key": repr(name), "keys": keys},
                **details,
            )
        number = number_in(got[name])
        narrowed = {**details, "expected": {name: want[name]}, "actual": {name: got[name]}}
        if got[name] is None:
            fail("the gradient under {key} is None", facts={"key": repr(name)}, **narrowed)
        if number is None:
            fail(
                "the gradient under {key} is of type {type}, not a number",
                facts={"key": repr(name), "type": type_name(got[name])},
                **narrowed,
            )
        if not math.isclose(number, want[name], rel_tol=1e-5, abs_tol=1e-9):
            fail("the gradient under {key} is wrong", facts={"key": repr(name)}, **narrowed)


def drawn_bill(draw):
    """Prices, pieces and a tax for shopping, all of them floats and no two alike."""
    apple, tangerine = draw.number(10.0, 90.0), draw.number(100.0, 200.0)
    return apple, draw.number(2.1, 4.9), tangerine, draw.number(5.1, 8.9), draw.number(1.05, 1.95)
