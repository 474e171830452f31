"""no_grad_and_detach's checks. Those below the line "hidden" are not handed out."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import torch
from torch import Tensor

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    assert_tuple,
    check,
    fail,
    graphs_figure,
    program,
    trace,
)

Facts = dict[str, Any]
F32 = torch.float32
CUBE, ITSELF = program(lambda x: x**3), program(lambda x: x)
POINTS = torch.tensor([-3.0, -0.25, 0.0, 0.5, 4.0])
TIMES_NUMBERS = program(lambda x, a: x * a, parameters=[torch.tensor([2.0, 3.0, 5.0])])
DOT_NUMBERS = program(lambda w, b: w @ b, parameters=[torch.tensor([4.0, 7.0, 9.0])])
MODES = {True: "on", False: "off"}


def leaf(draw: RandomInputs, *shape: int, dtype: torch.dtype = F32) -> Tensor:
    return draw.tensor(*shape, dtype=dtype, requires_grad=True)


def fresh(x: Tensor) -> Tensor:
    """A leaf of its own with the same values."""
    return x.detach().clone().requires_grad_()


def parameters(*programs: Any) -> dict[str, Tensor]:
    """The tensors that live inside programs, by name."""
    return {
        name: one
        for f in programs
        for name, one in zip(f.names[f.inputs :], f.parameters, strict=True)
    }


def assert_values(
    got: Any,
    want: Tensor,
    message: str,
    seen: Facts,
    *,
    exact: bool = False,
    judge: Any = assert_tensor,
    figures: Sequence[Any] = (),
) -> None:
    """Require values, up to float32's digits in any dtype; with ``exact``, as many as a dtype has:
    one check of each function asks for them.
    """
    near = {"rtol": 1e-4, "atol": 1e-6}
    if exact:
        near = {} if want.dtype is F32 else {"rtol": 1e-9, "atol": 1e-9}
    elif isinstance(got, Tensor) and got.dtype != want.dtype:
        got = got.to(want.dtype)
    judge(got, want.detach(), message, facts=seen, figures=figures, **near)


def assert_off(seen: Facts, figure: Any) -> None:
    """Require the state of a tensor without a graph."""
    facts = {**seen, "node": seen["state"]["node"]}
    message = "the result has a graph: its grad_fn is {node}"
    assert_that(facts["node"] is None, message, facts=facts, figures=[figure])
    if seen["state"]["requires_grad"]:
        message = "the result requires grad, so computations with it are recorded"
        fail(message, expected=False, actual=True, facts=facts, figures=[figure])


def without_graph(graph: Any, name: str, value: Tensor) -> Any:
    """A graph of the student's beside the value alone, which has none."""
    alone = value.detach()
    return graphs_figure(graph, trace(alone, {name: alone}))


# ------------------------------------------------------------------------------------------ predict


def predicted(
    student: Student,
    draw: RandomInputs,
    f: Any,
    x: Tensor,
    through: Any = None,
    *,
    enabled: bool = True,
    exact: bool = False,
) -> Facts:
    """Return what is seen of a call of predict; require its value."""
    _ = student.predict  # a file without it is told so, and what it defines instead
    shown = x if through is None else through(x)
    draw.given(f=f, **parameters(f), x=shown, **{"torch.is_grad_enabled()": enabled})
    seen = {"enabled": enabled, **student.observe("prediction", f, x, through, enabled)}
    assert_values(seen["result"], f(shown).detach(), "the result is not f(x)", seen, exact=exact)
    return seen


def graph_of_prediction(student: Student, f: Any, x: Tensor) -> Any:
    return without_graph(
        student.observe("graph", "predict", ["x", "result"], [x], args=[f, "x"]), "result", f(x)
    )


def graph_of_f(student: Student, f: Any, x: Tensor) -> Any:
    """The graph of what f gave inside predict."""
    names = ["x", "x", "f(x)"]
    seen = student.observe("graph_inside", "predict", names, [x], [f, "x"], 0)
    return without_graph(seen, "f(x)", f(x))


@check(points=0.25, about="predict")
def test_predict_gives_the_values_of_f(student: Student, draw: RandomInputs) -> None:
    """predict returns the value of f(x)"""
    predicted(student, draw, draw.elementwise(), leaf(draw, 3))
    predicted(student, draw, CUBE, fresh(POINTS))


PREDICT = test_predict_gives_the_values_of_f


@check(points=0.5, about="predict", needs=PREDICT)
def test_the_numbers_of_c12(student: Student, draw: RandomInputs) -> None:
    """5**3 gives 125 and its log 4.8283, without a graph"""
    x, q = torch.tensor(5.0, requires_grad=True), torch.tensor(3.0, requires_grad=True)
    for f in (
        program(lambda x, q: x**q, parameters=[q]),
        program(lambda x, q: (x**q).log(), parameters=[q]),
    ):
        seen = predicted(student, draw, f, x)
        figure = partial(graph_of_prediction, student, f, x)
        assert_off(seen, figure)
        message = "backward from the prediction did not raise, so it has a graph"
        assert_that(seen["backward"] is not None, message, facts=seen, figures=[figure])


# ---------------------------------------------------------------------------------------------- cut


def cut(
    student: Student,
    draw: RandomInputs,
    make: Any,
    x: Tensor,
    after: Any = None,
    *,
    exact: bool = False,
) -> Facts:
    """Return what is seen of a call of cut on y, made of x; require its value."""
    _ = student.cut
    y = draw.given(y=make(x))
    seen = student.observe("called", "cut", ["y", "x"], make, [x], after)
    message = "the result does not have the values of y"
    assert_values(seen["result"], y.detach(), message, seen, exact=exact)
    return seen


def graph_of_cut(student: Student, make: Any, x: Tensor, then: Any = None) -> Any:
    """The graph behind what cut returned, or what is computed from it."""
    names, y = ["x", "y", "cut(y)", "z"], make(x)
    seen = student.observe("graph", "cut", names, [x], build=make, then=then)
    return without_graph(seen, "z" if then else "cut(y)", then(y) if then else y)


@check(points=0.5, about="cut")
def test_cut_keeps_the_values_and_drops_the_graph(student: Student, draw: RandomInputs) -> None:
    """cut returns y's values without a graph"""
    for make, x in ((draw.elementwise(), leaf(draw, 3)), (CUBE, fresh(POINTS))):
        seen = cut(student, draw, make, x)
        assert_off(seen, partial(graph_of_cut, student, make, x))


CUT = test_cut_keeps_the_values_and_drops_the_graph


@check(points=0.5, about="cut", needs=CUT)
def test_the_numbers_of_c14(student: Student, draw: RandomInputs) -> None:
    """for y = (10, 15, 25), z is 370 and has no graph"""
    x, b = torch.tensor(5.0, requires_grad=True), DOT_NUMBERS.parameters
    after = program(lambda y, w, b: w @ b, inputs=2, parameters=b)
    seen = cut(student, draw, TIMES_NUMBERS, x, after)
    assert_values(seen["z"], torch.tensor(370.0), "z, computed from the result, is wrong", seen)
    assert_off(seen, partial(graph_of_cut, student, TIMES_NUMBERS, x))
    message = "backward from z, computed from the result, did not raise, so z has a graph"
    figures = [partial(graph_of_cut, student, TIMES_NUMBERS, x, DOT_NUMBERS)]
    assert_that(isinstance(seen["z_gradients"], str), message, facts=seen, figures=figures)


# ----------------------------------------------------------------------------------- split_backward


def drawn_stages(draw: RandomInputs) -> tuple[Any, Any]:
    """Functions for the two stages, a tensor to a tensor of its shape and that to a scalar. The
    gradients at w add up to 0, so they have both signs.
    """
    a, b, c = draw.coefficients(3)
    first = draw.choice([lambda x: (x * a).exp() + x * b, lambda x: x**3 * a + x * b])
    second = draw.choice(
        [lambda w: ((w - w.mean()) ** 2).sum() * c, lambda w: ((w - w.mean()) * c).sin().sum()]
    )
    return program(first), program(second)


def stages(
    student: Student, draw: RandomInputs, first: Any, second: Any, x: Tensor, held: Any = None
) -> tuple[Facts, list[Any]]:
    """Return what is seen of a call of split_backward with the true gradients, and figures."""
    _ = student.split_backward
    before = {} if held is None else {"x.grad before": held}
    functions = {"first": first, "second": second, **parameters(first, second)}
    draw.given(**functions, x=x, **before)
    y = first(x)
    w = fresh(y)
    (at_w,) = torch.autograd.grad(second(w), w)
    (at_x,) = torch.autograd.grad(y, x, at_w)
    seen = student.observe("stages", first, second, x, held)
    begun = all(w["leaf"] and w["requires_grad"] for w in seen["given"])
    figures = [] if begun else [partial(second_stage, student, first, second, x)]
    return {**seen, "held": held, "at_x": at_x, "at_w": at_w}, figures


def second_stage(student: Student, first: Any, second: Any, x: Tensor) -> Any:
    """The graph behind what second gave, beside one that begins at a leaf w."""
    args, w = ["x", first, second], fresh(first(x))
    z = second(w)
    seen = student.observe("graph_inside", "split_backward", ["x", "w", "z"], [x], args, 2)
    return graphs_figure(seen, trace(z, {"w": w, "z": z}))


def assert_pair(seen: Facts, figures: list[Any], *, exact: bool = False) -> None:
    """Require the two gradients, in this order."""
    result, wants = seen["result"], (seen["at_x"], seen["at_w"])
    details = {"judge": assert_gradient, "exact": exact, "figures": figures}
    assert_tuple(result, 2, expected=wants, facts=seen, figures=figures)
    messages = "the gradient at x is wrong", "the gradient at w is wrong"
    for got, want, message in zip(result, wants, messages, strict=True):
        assert_values(got, want, message, seen, **details)


@check(points=0.5, about="split_backward")
def test_both_gradients_come_back(student: Student, draw: RandomInputs) -> None:
    """split_backward returns the gradients at x and at w"""
    # at these points the gradients at w are large, and near 0 between
    fixed = torch.tensor([-1.5, 1.1, 2.0], dtype=torch.float64, requires_grad=True)
    spread = program(lambda w: ((w - w.mean()) ** 2).sum())
    for pair, x in (
        (drawn_stages(draw), leaf(draw, 3, dtype=torch.float64)),
        ((program(lambda x: x**3 + x), spread), fixed),
    ):
        assert_pair(*stages(student, draw, *pair, x))


SPLIT = test_both_gradients_come_back


@check(points=0.5, about="split_backward", needs=SPLIT)
def test_the_numbers_of_c16(student: Student, draw: RandomInputs) -> None:
    """at x = 5 the gradients are 74 and (4, 7, 9)"""
    x = torch.tensor(5.0, requires_grad=True)
    assert_pair(*stages(student, draw, TIMES_NUMBERS, DOT_NUMBERS, x))


# ----------------------------------------------------------------------------------- bootstrap_loss

NOT_THE_MEAN = "the loss is not the mean of the squared differences"


@check(points=0.25, about="bootstrap_loss")
def test_the_loss_is_the_mean_squared_difference(student: Student, draw: RandomInputs) -> None:
    """the loss is the mean squared difference"""
    numbers = [1.0, 2.0, -3.0, 0.5], [0.75, 2.5, 1.0, -2.5]
    fixed = [torch.tensor(one, requires_grad=True) for one in numbers]
    for online, target in ((leaf(draw, 4), leaf(draw, 4)), fixed):
        draw.given(online=online, target=target)
        want = ((online - target) ** 2).mean()
        assert_values(student.bootstrap_loss(online, target), want, NOT_THE_MEAN, {})


LOSS = test_the_loss_is_the_mean_squared_difference


# hidden


def drawn_layer(draw: RandomInputs) -> Any:
    """A function with a parameter that requires grad."""
    (a,) = draw.coefficients(1)
    forms = [lambda x, w: (x * w).exp() * a, lambda x, w: (x * w + x**2 * a).sin()]
    return program(draw.choice(forms), parameters=[leaf(draw, 3)])


WORDS = {
    "node": "grad_fn",
    "requires_grad": "requires_grad",
    "leaf": "is_leaf",
    "retains_grad": "retains_grad",
}


def assert_unchanged(seen: Facts, *, grads: bool = True, figures: Sequence[Any] = ()) -> None:
    """Require that all tensors are afterwards as they were before."""
    for name, (before, after) in seen["states"].items():
        facts = {**seen, "name": name}
        for key, what in WORDS.items():
            facts |= {"what": what, "before": str(before[key]), "after": str(after[key])}
            message = "{name}.{what} was {before} before the call, and is {after} afterwards"
            assert_equal(after[key], before[key], message, facts=facts, figures=figures)
        message = "the values of {name} were changed"
        assert_equal(after["values"], before["values"], message, facts=facts)
        if grads:
            assert_equal(after["grad"], before["grad"], "{name}.grad was changed", facts=facts)


def assert_graphs_stay(
    seen: Facts, names: str, tensors: Sequence[Tensor], inputs: Sequence[Tensor]
) -> None:
    """Require that the arguments' graphs are as before, where they have one."""
    for k, (name, tensor) in enumerate(zip(names.split(), tensors, strict=True)):
        facts, found = {**seen, "name": name, "error": seen["alone"][k]}, seen["alone"][k]
        message = "{name}.grad_fn is a different node after the call"
        assert_that(seen["same_nodes"][k], message, facts=facts)
        if not tensor.requires_grad:
            continue
        message = "backward from {name} raises after the call: {error}"
        assert_that(isinstance(found, list), message, facts=facts)
        wants = torch.autograd.grad(tensor.sum(), inputs, retain_graph=True, allow_unused=True)
        for got, want in zip(found, wants, strict=True):
            if want is not None:
                message = "the gradient through {name} is different after the call"
                assert_gradient(got, want, message, facts=facts)


# ------------------------------------------------------------------------------------------ predict


@check(points=0.5, about="predict", needs=PREDICT)
def test_no_node_is_made_while_f_runs(student: Student, draw: RandomInputs) -> None:
    """f runs without recording, also with parameters"""
    twice = program(lambda x: x * 2)
    for x, through, enabled in (
        (leaf(draw, 3), None, True),
        (draw.tensor(3, dtype=F32), None, True),
        (leaf(draw, 3), twice, True),
        (leaf(draw, 3), None, False),
    ):
        f = drawn_layer(draw)
        seen = predicted(student, draw, f, x, through, enabled=enabled)
        for node in seen["nodes_inside"]:
            message = "f was recorded inside predict: its result had the grad_fn {built}"
            figures = [partial(graph_of_f, student, f, x)]
            facts = {**seen, "built": node}
            assert_that(node is None, message, facts=facts, figures=figures)
        figures = [partial(graph_of_prediction, student, f, x)]
        built = seen["state"]["node"]
        assert_that(built is None, "the prediction has a graph", facts=seen, figures=figures)


def assert_mode(seen: Facts, message: str) -> None:
    """Require the grad mode afterwards that was before."""
    before, after = seen["enabled"], seen["mode_after"]
    facts = {**seen, "was": MODES[before], "is": MODES[after]}
    assert_that(before is after, message, expected=before, actual=after, facts=facts)


@check(points=0.5, about="predict", needs=PREDICT)
def test_the_mode_is_back_afterwards(student: Student, draw: RandomInputs) -> None:
    """grad mode is restored, whether it was on or off"""
    for enabled in (True, False):
        seen = predicted(student, draw, drawn_layer(draw), leaf(draw, 3), enabled=enabled)
        assert_mode(seen, "grad mode was {was} before predict, and is {is} afterwards")


@check(points=0.5, about="predict", needs=PREDICT)
def test_the_mode_is_back_when_f_raises(student: Student, draw: RandomInputs) -> None:
    """f's exception reaches the caller; grad mode is restored"""
    for enabled in (True, False):
        x = leaf(draw, 3)
        draw.given(x=x, f="raise ValueError(…)", **{"torch.is_grad_enabled()": enabled})
        found = student.observe("prediction", drawn_layer(draw), x, None, enabled, fails=True)
        seen = {"enabled": enabled, "kind": "ValueError", **found}
        if seen["raised"] is None:
            message = "f raised {kind}, but predict returned instead of raising it"
            fail(message, actual=seen["result"], facts=seen)
        message = "f raised {kind}, and predict raised a different exception: {raised}"
        assert_that(seen["itself"], message, facts=seen)
        assert_mode(seen, "grad mode was {was} before predict, and is {is} after f raised {kind}")


@check(points=0.25, about="predict", needs=PREDICT)
def test_predict_takes_any_tensor(student: Student, draw: RandomInputs) -> None:
    """predict takes every shape and both dtypes"""
    for x in (
        draw.noncontiguous(2, 3, dtype=F32),
        draw.tensor(requires_grad=True),
        draw.tensor(2, 0, requires_grad=True),
        draw.tensor(*draw.shapes()[-1], requires_grad=True),
    ):
        predicted(student, draw, draw.elementwise(), x, exact=True)


@check(points=0.25, about="predict", needs=PREDICT)
def test_predict_leaves_x_alone(student: Student, draw: RandomInputs) -> None:
    """predict leaves x unchanged"""
    through = program(lambda x: x.exp())
    for x, made_by in (
        (leaf(draw, 3), None),
        (leaf(draw, 3).detach(), None),
        (leaf(draw, 3), through),
    ):
        assert_unchanged(predicted(student, draw, drawn_layer(draw), x, made_by))
    x = draw.given(x=leaf(draw, 3), f="raise ValueError(…)")[0]
    assert_unchanged(student.observe("prediction", drawn_layer(draw), x, None, True, fails=True))


# ---------------------------------------------------------------------------------------------- cut


@check(points=0.5, about="cut", needs=CUT)
def test_y_is_left_as_it_is(student: Student, draw: RandomInputs) -> None:
    """y keeps its values and its place in its graph"""
    for x, make in (
        (leaf(draw, 3), draw.elementwise()),
        (leaf(draw, 2, 2), draw.elementwise()),
        (leaf(draw, 3), ITSELF),
    ):
        seen = cut(student, draw, make, x)
        assert_unchanged(seen, figures=[partial(left_alone, student, make, x)])
        assert_graphs_stay(seen, "y", [make(x)], [x])


def left_alone(student: Student, make: Any, x: Tensor) -> Any:
    """The graph behind y after cut(y), beside that before."""
    at, names = fresh(x), ["x", "y"]
    y = make(at)
    seen = student.observe("graph", "cut", names, [x], build=make, root="y")
    return graphs_figure(seen, trace(y, {"x": at, "y": y}))


@check(points=0.5, about="cut", needs=CUT)
def test_the_cut_factor_is_a_constant(student: Student, draw: RandomInputs) -> None:
    """in y * cut(y), cut(y) counts as a constant"""
    x, make = leaf(draw, 3), draw.elementwise()
    y = make(x)
    (want,) = torch.autograd.grad((y * y.detach()).sum(), x)
    seen = cut(student, draw, make, x, program(lambda y, w: y * w, inputs=2))
    found = seen["z_gradients"]
    message = "backward from y * cut(y) gave no gradient"
    assert_that(isinstance(found, list), message, expected=want, actual=found, facts=seen)
    assert_gradient(found[0], want, "the gradient of y * cut(y) is wrong", facts=seen)


@check(points=0.5, about="cut", needs=CUT)
def test_cut_takes_any_tensor(student: Student, draw: RandomInputs) -> None:
    """cut takes leaves and every shape"""
    exactly = {"requires_grad": True, "digits": None}
    for x, make in (
        (draw.noncontiguous(2, 3, **exactly), program(lambda x: x.t())),
        (draw.tensor(**exactly), ITSELF),
        (draw.tensor(dtype=F32, **exactly), draw.elementwise()),
        (draw.tensor(0, 3, requires_grad=True), draw.elementwise()),
        (draw.tensor(3), ITSELF),
        (draw.tensor(*draw.shapes()[-1], requires_grad=True), draw.elementwise()),
    ):
        seen = cut(student, draw, make, x, exact=True)
        assert_off(seen, partial(graph_of_cut, student, make, x))
        if not x.requires_grad:
            assert_unchanged(seen)


# ----------------------------------------------------------------------------------- split_backward


@check(points=0.5, about="split_backward", needs=SPLIT)
def test_what_grad_held_is_not_counted(student: Student, draw: RandomInputs) -> None:
    """the result does not contain the old x.grad"""
    x = leaf(draw, 3, dtype=torch.float64)
    seen, figures = stages(student, draw, *drawn_stages(draw), x, draw.tensor(3))
    assert_pair(seen, figures)
    assert_unchanged(seen, grads=False)


@check(points=0.5, about="split_backward", needs=SPLIT)
def test_second_begins_at_a_leaf(student: Student, draw: RandomInputs) -> None:
    """the function second receives a leaf that requires grad"""
    five, x = torch.tensor(5.0, requires_grad=True), leaf(draw, 3, dtype=torch.float64)
    first, second = drawn_stages(draw)
    weight = leaf(draw, 3, dtype=torch.float64)
    layer = program(lambda x, a: x * a, parameters=[weight])
    for at, one, two in (
        (five, TIMES_NUMBERS, DOT_NUMBERS),
        (x, first, second),
        (x, layer, second),
    ):
        seen, figures = stages(student, draw, one, two, at)
        assert_that(bool(seen["given"]), "second was never called", facts=seen)
        for w in seen["given"]:
            facts = {**seen, "w_node": w["node"]}
            message = "second got a tensor that has a graph: its grad_fn is {w_node}"
            assert_that(w["node"] is None, message, facts=facts, figures=figures)
            message = "second got a tensor that does not require grad"
            assert_that(w["requires_grad"], message, facts=facts, figures=figures)
        assert_pair(seen, figures)


@check(points=0.5, about="split_backward", needs=SPLIT)
def test_any_shape_goes_through_both_stages(student: Student, draw: RandomInputs) -> None:
    """split_backward takes 0-d, empty and float32 tensors"""
    a, b = draw.coefficients(2)
    rows, wave = draw.tensor(2, 1), program(lambda w: (w**2).sin().sum() + (w**3).sum())
    x, strided = leaf(draw, 3, dtype=torch.float64), draw.noncontiguous(2, 3, dtype=F32)
    shapes = ((), (0, 3), (2, 1, 2, 1, draw.integer(2, 4)))
    for at, first, second in (
        (x, program(lambda x, rows: (x * a).sin() * rows + x**2 * b, parameters=[rows]), wave),
        (strided.requires_grad_(), program(lambda x: x.t() * x.t()), wave),
        *((leaf(draw, *shape, dtype=torch.float64), CUBE, wave) for shape in shapes),
        (x, program(lambda x: (x**2).sum()), program(lambda w: w * w.sin())),
    ):
        assert_pair(*stages(student, draw, first, second, at), exact=True)


# ----------------------------------------------------------------------------------- bootstrap_loss


def drawn_networks(draw: RandomInputs) -> Any:
    """A function of two tensors to online and target, each computed from one of them."""
    p, q, r, s = draw.coefficients(4)
    online = draw.choice([lambda a: (a * p).exp() + a**2 * q, lambda a: (a * p).sin() + a * q])
    target = draw.choice([lambda b: b**3 * r + b * s, lambda b: (b * r).tanh() + b**2 * s])
    return program(lambda a, b: (online(a), target(b)), inputs=2)


def loss_of(
    student: Student, draw: RandomInputs, make: Any, inputs: Sequence[Tensor], names: str
) -> Facts:
    """Return what is seen of a call of bootstrap_loss on online and target, made of the inputs;
    require its value.
    """
    online, target = make(*inputs)
    draw.given(online=online.detach(), target=target.detach())
    known = ["online", "target", *names]
    seen = student.observe("called", "bootstrap_loss", known, make, list(inputs))
    assert_values(seen["result"], ((online - target) ** 2).mean(), NOT_THE_MEAN, seen)
    return seen


def graph_of_loss(
    student: Student, make: Any, inputs: Sequence[Tensor], names: str, at: str
) -> Any:
    """The graph behind a loss, beside that in which target is cut; marked is the one of online and
    target that is there and should not.
    """
    leaves = [fresh(x) for x in inputs]
    online, target = make(*leaves)
    loss = ((online - target.detach()) ** 2).mean()
    known = {**dict(zip(names, leaves, strict=True)), "online": online, "loss": loss}
    drawn = [*names, "online", "target", "loss"]
    seen = student.observe("graph", "bootstrap_loss", drawn, list(inputs), build=make)
    return graphs_figure(seen, trace(loss, known), at=at)


@check(points=0.5, about="bootstrap_loss", needs=LOSS)
def test_online_gets_its_gradient(student: Student, draw: RandomInputs) -> None:
    """the gradient at online is 2 (online - target) / n"""
    copies = program(lambda a, b: (a * 1, b * 1), inputs=2)
    x = leaf(draw, 3, dtype=torch.float64)
    for online, target in (
        (leaf(draw, 3), leaf(draw, 3)),
        (leaf(draw, 5, dtype=torch.float64), leaf(draw, 5, dtype=torch.float64)),
        (x, fresh(x)),
    ):
        v = draw.given(online=online, target=target, v=draw.tensor(dtype=online.dtype))[2]
        loss = student.bootstrap_loss(online, target)
        facts = {"requires_grad": loss.requires_grad}
        figures = [partial(graph_of_loss, student, copies, [online, target], "ab", "online")]
        message = "the loss does not require grad, so online gets no gradient"
        assert_that(loss.requires_grad, message, facts=facts, figures=figures)
        got, _ = torch.autograd.grad(loss, [online, target], v, allow_unused=True)
        want = 2 * (online - target).detach() / online.numel() * v
        assert_values(got, want, "the gradient at online is wrong", facts, judge=assert_gradient)


@check(points=0.25, about="bootstrap_loss", needs=LOSS)
def test_the_loss_takes_any_tensors(student: Student, draw: RandomInputs) -> None:
    """the loss is exact for every shape"""
    shape = draw.shapes(240)[-1]
    for online, target in (
        (draw.tensor(*shape, requires_grad=True), draw.tensor(*shape)),
        (draw.tensor(2, 3, dtype=F32), draw.noncontiguous(2, 3, dtype=F32)),
        (draw.tensor(requires_grad=True), draw.tensor(requires_grad=True)),
    ):
        draw.given(online=online, target=target)
        want = ((online - target) ** 2).mean()
        got = student.bootstrap_loss(online, target)
        assert_values(got, want, NOT_THE_MEAN, {}, exact=True)


@check(points=0.5, about="bootstrap_loss", needs=LOSS)
def test_no_gradient_flows_into_target(student: Student, draw: RandomInputs) -> None:
    """no gradient flows into target"""
    a = draw.coefficients(1)[0]
    into_a_leaf = program(lambda x, target: ((x * a).exp(), target), inputs=2)
    for make, dtype in (
        (drawn_networks(draw), torch.float64),
        (drawn_networks(draw), F32),
        (into_a_leaf, torch.float64),
    ):
        inputs = leaf(draw, 4, dtype=dtype), leaf(draw, 4, dtype=dtype)
        seen = loss_of(student, draw, make, inputs, "ab")
        found = seen["gradients"][1] if isinstance(seen["gradients"], list) else None
        if found is not None and bool((found != 0).any()):
            figures = [partial(graph_of_loss, student, make, inputs, "ab", "target")]
            facts = {**seen, "leaked": found}
            fail("a gradient flowed through target", actual=found, facts=facts, figures=figures)


@check(points=0.5, about="bootstrap_loss", needs=LOSS)
def test_only_the_online_side_of_one_graph_learns(student: Student, draw: RandomInputs) -> None:
    """a shared parameter gets a gradient from online only"""
    s, t, r, k = draw.coefficients(4)
    for make, w in (
        (program(lambda w: (w * 3, w * 4 * 0.5 + 1)), torch.tensor([2.0], requires_grad=True)),
        (
            program(lambda w: ((w * s).exp(), (w * t).sin() * k + r)),
            leaf(draw, 3, dtype=torch.float64),
        ),
    ):
        online, target = make(w)
        (want,) = torch.autograd.grad(((online - target.detach()) ** 2).mean(), w)
        seen = loss_of(student, draw, make, [w], "w")
        found = seen["gradients"]
        facts = {**seen, "error": found}
        figures = [partial(graph_of_loss, student, make, [w], "w", "target")]
        message = "backward from the loss raises: {error}"
        assert_that(isinstance(found, list), message, expected=want, facts=facts, figures=figures)
        message = "the gradient at w is wrong"
        assert_values(found[0], want, message, seen, judge=assert_gradient, figures=figures)


@check(points=0.25, about="bootstrap_loss", needs=LOSS)
def test_target_keeps_its_graph(student: Student, draw: RandomInputs) -> None:
    """online and target keep their values and graphs"""
    leaves = [leaf(draw, 4, dtype=torch.float64) for _ in range(2)]
    themselves = program(lambda a, b: (a, b), inputs=2)
    for make, inputs in (
        (drawn_networks(draw), leaves),
        (themselves, leaves),
        (themselves, [one.detach() for one in leaves]),
    ):
        seen = loss_of(student, draw, make, inputs, "ab")
        assert_unchanged(seen)
        assert_graphs_stay(seen, "online target", make(*inputs), inputs)
