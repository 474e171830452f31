"""no_grad_and_detach, what its visible and hidden checks share."""

from functools import partial

import torch

from grader.authoring import (
    assert_gradient,
    assert_tensor,
    fail,
    graphs_figure,
    program,
    trace,
    type_name,
)


def tolerances(want):
    """Tolerances that a float64 number rounded to float32 does not meet."""
    return {} if want.dtype is torch.float32 else {"rtol": 1e-11, "atol": 1e-11}


def assert_values(result, want, message, *, judge=assert_tensor, **details):
    """The result must have these values, up to float32's digits. One check of each function judges
    all digits and the dtype.
    """
    if isinstance(result, torch.Tensor):
        result = result.to(want.dtype)
    judge(result, want.detach(), message, rtol=1e-4, atol=1e-6, **details)


def drawn_pair(draw):
    """Functions for the two stages, a tensor to a tensor of its shape and that to a scalar, and
    their formulas. The gradients at w add up to 0, so they have both signs.
    """
    a, b, c = draw.coefficients(3)
    first = draw.choice(
        [
            (lambda x: (x * a).exp() + x * b, f"(x * {a}).exp() + x * {b}"),
            (lambda x: x**3 * a + x * b, f"x**3 * {a} + x * {b}"),
        ]
    )
    second = draw.choice(
        [
            (lambda w: ((w - w.mean()) ** 2).sum() * c, f"((w - w.mean())**2).sum() * {c}"),
            (lambda w: ((w - w.mean()) * c).sin().sum(), f"((w - w.mean()) * {c}).sin().sum()"),
        ]
    )
    return program(first[0]), program(second[0]), {"first": first[1], "second": second[1]}


def assert_pair(seen, want, *, exact=False, **details):
    """The result of split_backward must be the two gradients, in this order."""
    result = seen["result"]
    details["facts"] = {
        **seen,
        "at_x": want[0],
        "at_w": want[1],
        **details.pop("facts", {}),
        "type": type_name(result),
    }
    if result is None:
        fail(
            "split_backward returned None instead of a tuple of two tensors: is a return missing?",
            expected=want,
            actual=None,
            **details,
        )
    if not isinstance(result, tuple):
        fail(
            "split_backward returned {type} instead of a tuple of two tensors",
            expected=want,
            actual=result,
            **details,
        )
    if len(result) != 2:
        details["facts"]["count"] = len(result)
        fail(
            "the tuple should have two entries, not {count}",
            expected=want,
            actual=result,
            **details,
        )
    messages = "the gradient at x is wrong", "the gradient at w is wrong"
    for got, right, message in zip(result, want, messages, strict=True):
        if exact:
            assert_gradient(got, right, message, **tolerances(right), **details)
        else:
            assert_values(got, right, message, judge=assert_gradient, **details)


def both_gradients(first, second, x):
    """The truth: the gradients at x and at w."""
    y = first(x)
    w = y.detach().requires_grad_()
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w)
    return at_x, at_w


def without_graph(graph, name, value):
    """A graph of the student's beside the value alone, which has none."""
    alone = value.detach()
    return graphs_figure(graph, trace(alone, {name: alone}))


def predicted(student, f, x, through=None, *, inside=False):
    """The graph behind a prediction, where there should be none."""
    return without_graph(
        student.observe("behind_prediction", f, x, through, inside),
        "f(x)" if inside else "result",
        f(x if through is None else through(x)),
    )


def cut_off(student, f, x, after=None):
    """The graph behind what cut returned, or what is computed after it, where there should be
    none.
    """
    y = x if f is None else f(x)
    return without_graph(
        student.observe("around_cut", f, x, after, "after" if after else "result"),
        "z" if after else "cut(y)",
        after(y) if after else y,
    )


def fresh(x):
    """A leaf of its own with the same values."""
    return x.detach().clone().requires_grad_()


def left_alone(student, f, x):
    """The graph behind y after cut(y), beside that before."""
    leaf = fresh(x)
    y = leaf if f is None else f(leaf)
    return graphs_figure(
        student.observe("around_cut", f, x, None, "y"), trace(y, {"x": leaf, "y": y})
    )


def one_factor(student, f, x):
    """The graph of y * cut(y), beside that with a constant for the second factor."""
    leaf = fresh(x)
    y = f(leaf)
    return graphs_figure(
        student.observe("around_cut", f, x, None, "y * cut(y)"),
        trace((y * y.detach()).sum(), {"x": leaf, "y": y}),
    )


def cut_figures(student, first, second, x, seen):
    """A figure of the second stage, where it did not begin at a leaf that requires grad."""
    begun = all(w["leaf"] and w["requires_grad"] for w in seen["given"])
    return [] if begun else [partial(second_stage, student, first, second, x)]


def second_stage(student, first, second, x):
    """The graph behind what second gave, beside one that begins at a leaf w."""
    w = fresh(first(x))
    z = second(w)
    return graphs_figure(
        student.observe("second_stage", first, second, x), trace(z, {"w": w, "z": z})
    )


def loss_behind(student, functions, inputs, names, at):
    """The graph behind a bootstrap loss, beside that in which target is cut; marked is the one of
    the two that is there and should not.
    """
    leaves = [fresh(x) for x in inputs]
    online, target = (
        functions[0](*leaves)
        if len(functions) == 1
        else (f(x) for f, x in zip(functions, leaves, strict=True))
    )
    loss = ((online - target.detach()) ** 2).mean()
    named = {**dict(zip(names, leaves, strict=True)), "online": online, "loss": loss}
    return graphs_figure(
        student.observe("behind_loss", functions, inputs, names), trace(loss, named), at=at
    )
