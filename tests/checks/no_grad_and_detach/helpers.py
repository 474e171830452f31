"""no_grad_and_detach, what its visible and hidden checks share."""

from functools import partial

import torch

from grader.authoring import graphs_figure, trace


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
