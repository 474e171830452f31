"""tensor_state's checks. Those below the line "hidden" are not handed out."""

from collections.abc import Collection, Mapping, Sequence
from functools import partial

import torch
from torch import Tensor

from grader.authoring import (
    Graph,
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_that,
    check,
    fail,
    fetch,
    prediction_figure,
    predictions,
    type_name,
)

FLAGS = ("requires_grad", "is_leaf", "retains_grad", "grad_fn", "grad")
WRONG = "the entry {key} is wrong for {tensor}"
BEFORE = "before backward, the entry {key} is wrong for {tensor}"
AFTER = "after backward, the entry {key} is wrong for {tensor}"
Held = Mapping[str, Tensor]
NONE: Held = {}

C4 = Graph("y = x ** 3\nz = torch.log(y)", {"x": torch.tensor(5.0, requires_grad=True)})


def built(
    student: Student, graph: Graph, retained: Collection[str] = (), held: Held = NONE
) -> dict:
    """Return a graph's tensors beside the student's code. Those in ``retained`` keep their
    gradient, those in ``held`` hold one already.
    """
    tensors = graph.tensors(student)
    for name in retained:
        tensors[name].retain_grad()
    for name, grad in held.items():
        tensors[name].grad = grad.clone()
    return tensors


def described(student: Student, tensors: dict) -> dict:
    """Return what tensor_state returns now for each tensor."""
    states = fetch([student.tensor_state(t) for t in tensors.values()])
    return dict(zip(tensors, map(copied, states), strict=True))


def copied(value):
    """Return a copy that no later backward changes."""
    if isinstance(value, dict):
        return {key: copied(one) for key, one in value.items()}
    return value.detach().clone() if isinstance(value, Tensor) else value


def shown(graph: Graph, retained: Collection[str] = (), held: Held = NONE) -> dict:
    """Return what a failure shows as inputs."""
    before = {f"{name}.grad before": grad for name, grad in held.items()}
    kept = {"retain_grad() on": [*retained]} if retained else {}
    return {**graph.inputs, **before, **graph.lines, **kept}


def close(actual, expected: Tensor, message: str, **details) -> None:
    """Like ``assert_gradient``, with four digits and any dtype: both have checks of their own."""
    if isinstance(actual, Tensor) and actual.is_floating_point():
        actual = actual.to(expected.dtype)
    assert_gradient(actual, expected, message, rtol=1e-4, atol=1e-6, **details)


def assert_states(
    seen: dict, wanted: dict, message: str, keys: Sequence[str] = FLAGS, compare=close, **details
) -> None:
    """Require the entries ``keys`` of the state of each tensor; ``figure`` draws the graph."""
    figure = details.pop("figure", None)
    for name, want in wanted.items():
        state = seen[name]
        facts = {"tensor": name, "want": want, "states": [*seen.values()], "state": state}
        facts["wanted"] = [*wanted.values()]
        told = {**details, "figures": [partial(figure, name)] if figure else []}
        if not isinstance(state, dict):
            what = "tensor_state returned {type} for {tensor}, expected a dictionary"
            facts["type"] = type_name(state)
            fail(what, expected=want, actual=state, facts=facts, **told)
        for key in keys:
            told["facts"] = {**facts, "key": key, "present": ", ".join(map(str, state))}
            what = "the dictionary for {tensor} has no entry {key}, only {present}"
            assert_that(key in state, what, expected=want, actual=state, **told)
            same = compare if isinstance(want[key], Tensor) else assert_equal
            same(state[key], want[key], message, **told)


def assert_gradients(
    student: Student,
    graph: Graph,
    asked: Sequence[str],
    retained: Collection[str] = (),
    held: Held = NONE,
    compare=close,
) -> None:
    """Require the gradient of a graph's last tensor for each of those that are asked for."""
    tensors, names = built(student, graph, retained, held), [*asked]
    result = fetch(
        student.gradients_along(tensors[graph.names[-1]], [tensors[name] for name in names])
    )
    wanted = [*graph.gradients(graph.names[-1], of=names).values()]
    inputs = {**shown(graph, retained, held), "tensors": names}
    both = {"expected": wanted, "actual": result, "inputs": inputs}
    if not isinstance(result, list | tuple):
        message = "gradients_along returned {type}, expected a list of gradients"
        fail(message, **both, facts={"type": type_name(result)})
    if len(result) != len(wanted):
        message = "gradients_along returned {count} gradients for {asked} tensors"
        fail(message, **both, facts={"count": len(result), "asked": len(wanted)})
    for place, name in enumerate(names):
        told = {
            "inputs": inputs,
            "facts": {
                "tensor": name,
                "drawn": graph,
                "asked": names,
                "held": held.get(name),
                "pairs": [*zip(result, wanted, strict=True)],
            },
            "figures": [partial(graph.figure, name, retained)],
        }
        message = "the gradient of {tensor} is missing: it is None"
        assert_that(result[place] is not None, message, expected=wanted[place], **told)
        compare(result[place], wanted[place], "the gradient of {tensor} is wrong", **told)


def assert_before(student: Student, graph: Graph, want: dict, keys: Sequence[str]) -> None:
    """Require these entries for the tensors of a graph before any backward."""
    seen = described(student, built(student, graph))
    assert_states(seen, want, WRONG, keys, inputs=shown(graph), figure=graph.figure)


def branching_graph(draw: RandomInputs, x: Tensor, c: Tensor) -> Graph:
    """Return a graph of x and c: k is made of c alone, d is detached, and u, y and z lie on the way
    from x.
    """
    return draw.graph(
        f"k = c * {draw.number(0.5, 2.0)}",
        f"u = {draw.choice(['x.exp()', 'x.sin()', 'x.tanh()', 'x ** 3'])}",
        f"y = u {draw.choice('+-*/')} k",
        "d = y.detach()",
        f"z = y.{draw.choice(['sum', 'mean'])}()",
        x=x,
        c=c,
    )


@check(points=0.5, about="tensor_state")
def test_requires_grad_and_is_leaf(student: Student, draw: RandomInputs) -> None:
    """requires_grad and is_leaf are right for each tensor"""
    _ = student.tensor_state  # a missing name is reported with the names that are there
    for x, c in (
        (draw.tensor(3, requires_grad=True), draw.tensor(3)),
        (draw.tensor(dtype=torch.float32, requires_grad=True), draw.tensor(dtype=torch.float32)),
        *([draw.tensor(2, requires_grad=draw.choice((True, False))) for _ in "xc"] for _ in "ab"),
    ):
        graph, keys = branching_graph(draw, x, c), ("requires_grad", "is_leaf")
        want = {name: {key: getattr(t, key) for key in keys} for name, t in graph.tensors().items()}
        assert_before(student, graph, want, keys)


@check(points=0.5, about="tensor_state")
def test_grad_fn_is_a_name_or_none(student: Student, draw: RandomInputs) -> None:
    """grad_fn is the name of the node's type, or None"""
    for shape, dtype in (((2, 2), torch.float64), ((), torch.float32)):
        x = draw.tensor(*shape, dtype=dtype, requires_grad=True)
        graph = branching_graph(draw, x, draw.tensor(*shape, dtype=dtype))
        nodes = {name: t.grad_fn for name, t in graph.tensors().items()}
        want = {name: {"grad_fn": node and type(node).__name__} for name, node in nodes.items()}
        assert_before(student, graph, want, ["grad_fn"])


BOTH = [test_requires_grad_and_is_leaf, test_grad_fn_is_a_name_or_none]


def state(*flags) -> dict:
    """Return a state from its entries in the order of FLAGS."""
    return dict(zip(FLAGS, flags, strict=True))


@check(points=0.25, about="tensor_state", needs=BOTH)
def test_the_states_of_c4(student: Student) -> None:
    """C4: all five entries are right before and after backward"""
    y, z = (state(True, False, False, name, None) for name in ("PowBackward0", "LogBackward0"))
    tensors, details = built(student, C4), {"inputs": shown(C4), "figure": C4.figure}
    want = {"x": state(True, True, False, None, None), "y": y, "z": z}
    assert_states(described(student, tensors), want, BEFORE, **details)
    tensors["z"].backward()
    want["x"] = state(True, True, False, None, torch.tensor(0.6))
    assert_states(described(student, tensors), want, AFTER, **details)


def chain(draw: RandomInputs, x: Tensor, w: Tensor) -> Graph:
    """Return a graph of x whose backward needs the values of y. The gradients have the signs of
    w.
    """
    a, b = draw.coefficients(2)
    first, last = draw.choice(
        [
            (f"(x * {a}).exp()", f"y ** 2 * {b}"),
            (f"x ** 3 * {a}", f"(y * {b}).exp()"),
            (f"(x * {a}).tanh()", f"(y * {b}).exp()"),
        ]
    )
    return draw.graph(f"y = {first}", f"z = ({last} * w).sum()", x=x, w=w)


@check(points=1, about="gradients_along")
def test_leaf_and_intermediate_in_the_order_asked_for(student: Student, draw: RandomInputs) -> None:
    """the gradients come in the order of tensors"""
    _ = student.gradients_along  # a missing name is reported with the names that are there
    for signs, asked in ((torch.tensor([1.0, -1.0, 1.0]), "yx"), (torch.tensor(-1.0), "xy")):
        x = draw.tensor(*signs.shape, requires_grad=True)
        assert_gradients(student, chain(draw, x, signs.double()), asked)


CHAIN = test_leaf_and_intermediate_in_the_order_asked_for


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_numbers_of_c5(student: Student) -> None:
    """C5: the gradients at x, y, z are 0.6, 0.008 and 1"""
    assert_gradients(student, C4, "xyz")


@check(points=0.5, about="HAS_GRAD_AFTER_BACKWARD")
def test_y_is_predicted(student: Student) -> None:
    """your predictions for y in C4 and C5 are right"""
    assert_predicted(student, "y")


@check(points=0.5, about="HAS_GRAD_AFTER_BACKWARD")
def test_x_and_z_are_predicted(student: Student) -> None:
    """your predictions for x and z in C4 and C5 are right"""
    assert_predicted(student, "xz")


RETAINED = {"C4": "", "C5": "yz"}
LEAF = "{key} has a gradient after backward, {grad}: it is a leaf that requires grad"
KEEPS = "{key} has a gradient after backward, {grad}: retain_grad() was called on it before"
NO_GRAD = (
    "{key} has no gradient after backward: it is not a leaf, and retain_grad() was not called on it"
)
WHY = {
    LEAF: "a leaf that requires grad",
    KEEPS: "retain_grad() was called on it",
    NO_GRAD: "not a leaf, and retain_grad() was not called on it",
}


def assert_predicted(student: Student, letters: str) -> None:
    """Require the predictions for these tensors of both programs. No constant is right for all that
    is compared at once.
    """
    gradients = dict(zip("xyz", ("0.6", "0.008", "1"), strict=True))
    reasons = {
        f"{name}.{k}": LEAF if k == "x" else KEEPS if k in kept else NO_GRAD
        for name, kept in RETAINED.items()
        for k in letters
    }
    found = predictions(student, "HAS_GRAD_AFTER_BACKWARD", [*reasons])
    wrong = [key for key, why in reasons.items() if found[key] is (why == NO_GRAD)]
    if not wrong:
        return
    words = {True: "has a gradient", False: "has none"}
    key = wrong[0]
    rows = [[k, words[found[k]], words[not found[k]], WHY[reasons[k]]] for k in wrong]
    fail(
        reasons[key],
        expected={k: not found[k] for k in wrong},
        actual={k: found[k] for k in wrong},
        facts={"key": key, "grad": gradients[key[-1]], "found": {k: found[k] for k in reasons}},
        figures=[lambda: prediction_figure(rows), lambda: C4.figure(key[-1], RETAINED[key[:2]])],
    )


# hidden


def drawn(draw: RandomInputs, x: Tensor, **unused: Tensor) -> Graph:
    """Return a graph from x by u and y to a scalar z whose gradients are not zero for x > 0."""
    a, b = draw.coefficients(2)
    return draw.graph(
        f"u = {draw.choice([f'(x * {a}).exp()', f'x ** 2 * {a}', 'Cube.apply(x)'])}",
        f"y = {draw.choice([f'(u + {b}).log()', f'(u + {b}).sqrt()', f'u * u * {b}'])}",
        f"z = (y * {a}).sum()",
        x=x,
        **unused,
    )


def assert_described(
    student: Student,
    reference: Student,
    graph: Graph,
    *keys: str,
    retained: Collection[str] = (),
    held: Held = NONE,
    backward: bool = False,
) -> None:
    """Require what the reference says of each tensor of a graph, before a backward from the last
    and, if asked for, after it.
    """
    both = [built(one, graph, retained, held) for one in (student, reference)]
    details = {
        "inputs": shown(graph, retained, held),
        "figure": partial(graph.figure, retained=retained),
    }
    for message in (BEFORE, AFTER) if backward else (WRONG,):
        if message == AFTER:
            for tensors in both:
                tensors[graph.names[-1]].backward()
        seen, want = map(described, (student, reference), both)
        assert_states(seen, want, message, keys or FLAGS, **details)


# ------------------------------------------------------------------------------------- tensor_state


@check(points=0.5, about="tensor_state")
def test_retains_grad_is_told(student: Student, reference: Student, draw: RandomInputs) -> None:
    """retains_grad is True only if retain_grad() had an effect"""
    for count in (1, 2):
        graph = drawn(draw, draw.tensor(2, low=0.5, requires_grad=True))
        retained = ["x", *sorted(draw.sample("uyz", count))]
        assert_described(student, reference, graph, "retains_grad", retained=retained)


@check(points=0.5, about="tensor_state")
def test_grad_is_what_the_tensor_holds(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """grad is the gradient that a leaf holds, or None"""
    for x, held in (
        (draw.tensor(3, low=0.5, requires_grad=True), {}),
        (draw.tensor(low=0.5, requires_grad=True), {"x": draw.tensor()}),
    ):
        assert_described(student, reference, drawn(draw, x), "grad", held=held, backward=True)


HOLDS = test_grad_is_what_the_tensor_holds


@check(points=0.25, about="tensor_state", needs=HOLDS)
def test_grad_is_what_a_result_retains(
    student: Student, reference: Student, draw: RandomInputs
) -> None:
    """grad is the gradient that an intermediate result retains"""
    for name in "uy":
        graph = drawn(draw, draw.tensor(3, low=0.5, requires_grad=True))
        assert_described(student, reference, graph, "grad", retained=[name], backward=True)


@check(points=0.75, about="tensor_state", needs=HOLDS)
def test_grad_is_a_copy(student: Student, draw: RandomInputs) -> None:
    """grad is a copy: it stays 12 when t.grad becomes 24"""
    cube = draw.graph("z = x ** 3", x=torch.tensor(2.0, requires_grad=True))
    for name, graph in (
        ("x", drawn(draw, draw.tensor(3, low=0.5, requires_grad=True))),
        ("x", drawn(draw, draw.tensor(2, 3, low=0.5, requires_grad=True))),
        ("y", drawn(draw, draw.tensor(2, low=0.5, dtype=torch.float32, requires_grad=True))),
        ("x", cube),  # 12 after one backward, 24 after two
    ):
        *_, last = graph.names
        want, amount = graph.gradients(last, of=[name])[name], draw.integer(10, 99)
        tensors = built(student, graph, [name])
        tensors[last].backward(retain_graph=True)
        state = student.tensor_state(tensors[name])
        first = fetch(state)["grad"]
        if name != "x" and first is None:
            continue  # told by test_grad_is_what_a_result_retains
        first = copied(first)
        tensors[last].backward()
        again = student.tensor_state(tensors[name])
        later, second = fetch(state["grad"]), copied(fetch(again))["grad"]
        facts = {"tensor": name, "amount": amount}
        told, shares = {"inputs": shown(graph)}, {**facts, "shares": True}
        close(
            first,
            want,
            "after one backward, the entry grad is wrong for {tensor}",
            facts=facts,
            **told,
        )
        message = "after two backwards, the entry grad is wrong for {tensor}"
        close(second, 2 * want, message, facts=facts, **told)
        message = "a second backward changed the grad that was returned for {tensor} before it"
        close(later, want, message, facts=shares, **told)
        again["grad"].add_(amount)
        message = "adding {amount} to the grad that was returned for {tensor} changed {tensor}.grad"
        close(fetch(tensors[name].grad), 2 * want, message, facts=shares, **told)


@check(points=0.75, about="tensor_state", needs=HOLDS)
def test_no_warning_on_an_intermediate_result(student: Student, draw: RandomInputs) -> None:
    """an intermediate result raises no warning"""
    for shape, dtype in (((2,), torch.float64), ((), torch.float32)):
        x = draw.tensor(*shape, low=0.5, dtype=dtype, requires_grad=True)
        graph = drawn(draw, x)
        seen = student.observe("heard", graph.program, [x])
        for moment in ("before", "after"):
            for name, texts in list(zip("xuyz", seen[moment], strict=True))[1:]:
                first_sentence = "".join(texts[:1]).partition(". ")[0]
                facts = {"count": len(texts), "tensor": name, "text": first_sentence}
                message = "tensor_state raised a warning for {tensor}: {text}"
                assert_that(not texts, message, inputs=shown(graph), facts=facts)


@check(points=0.5, about="tensor_state")
def test_the_tensor_is_left_as_it_was(student: Student, draw: RandomInputs) -> None:
    """the tensor stays as it was"""
    held = {"x": draw.tensor(3), "c": draw.tensor(3)}
    graph = drawn(draw, draw.tensor(3, low=0.5, requires_grad=True), c=draw.tensor(3))
    inputs = shown(graph, ["u"], held)
    tensors = built(student, graph, ["u"], held)
    before = measured(tensors)
    states = described(student, tensors)
    after = measured(tensors)
    for name, state in states.items():
        message, facts = "tensor_state did not describe {tensor} in a dictionary", {"tensor": name}
        assert_that(
            isinstance(state, dict) and len(state) >= 5, message, inputs=inputs, facts=facts
        )
        message, facts = (
            "tensor_state changed {tensor}",
            {**facts, "before": before, "after": after},
        )
        assert_equal(after[name], before[name], message, inputs=inputs, facts=facts)
    tensors["z"].backward()
    wanted = graph.gradients("z", of=["x", "u"])
    wanted = {"x": held["x"] + wanted["x"], "c": held["c"], "u": wanted["u"]}
    for name, want in wanted.items():
        message = "backward after tensor_state leaves a different gradient in {tensor}"
        assert_gradient(tensors[name].grad, want, message, inputs=inputs, facts={"tensor": name})


def measured(tensors: dict) -> dict:
    """Return what each tensor says of itself now, with its gradient if it keeps one."""
    names = ("requires_grad", "is_leaf", "retains_grad")
    flags = fetch([[getattr(t, name) for name in names] for t in tensors.values()])
    keep = [leaf or retains for _, leaf, retains in flags]
    found = fetch([[t, t.grad if k else None] for t, k in zip(tensors.values(), keep, strict=True)])
    return {
        name: {**dict(zip(names, one, strict=True)), "values": copied(value), "grad": copied(grad)}
        for name, one, (value, grad) in zip(tensors, flags, found, strict=True)
    }


@check(points=0.25, about="tensor_state", needs=test_grad_fn_is_a_name_or_none)
def test_other_nodes(student: Student, reference: Student, draw: RandomInputs) -> None:
    """grad_fn is right for a custom Function"""
    graph = draw.graph("u = Cube.apply(x)", x=draw.tensor(2, requires_grad=True))
    assert_described(student, reference, graph, "grad_fn")


@check(points=0.5, about="tensor_state", needs=HOLDS)
def test_grad_of_any_tensor(student: Student, draw: RandomInputs) -> None:
    """grad is right for frozen leaves, zeros, any shape and dtype"""
    for frozen, held in (
        (False, torch.zeros(2, 2, dtype=torch.float64)),
        (False, draw.tensor(0, 3, dtype=torch.float32)),
        (False, draw.tensor(3, dtype=torch.float32)),
        (True, draw.tensor(3)),
    ):
        x = torch.zeros_like(held, requires_grad=True)
        t = student.put(x)
        t.grad = held.clone()
        if frozen:
            t.requires_grad_(False)
        want = {"x": state(not frozen, True, False, None, held)}
        inputs = {"x": x, "x.requires_grad": not frozen, "x.grad before": held}
        seen = described(student, {"x": t})
        assert_states(seen, want, WRONG, ["grad"], assert_gradient, inputs=inputs)


LINEAR = Graph(
    "z = w * x\ny = z + b\nloss = y ** 2",
    {
        "x": torch.tensor(2.0, requires_grad=True),
        "w": torch.tensor(3.0, requires_grad=True),
        "b": torch.tensor(1.0, requires_grad=True),
    },
)
EXERCISE = Graph(
    "y = x * 2\nz = y + 3\nloss = z ** 2", {"x": torch.tensor(1.0, requires_grad=True)}
)


@check(points=0.25, about="tensor_state", needs=[*BOTH, test_retains_grad_is_told])
def test_the_states_of_the_lessons_graphs(student: Student, reference: Student) -> None:
    """all five entries are right for the lesson's graphs"""
    assert_described(student, reference, Graph(C4.text, {"x": torch.tensor(5.0)}))
    for graph, retained in ((C4, "yz"), (LINEAR, ""), (EXERCISE, "")):
        assert_described(student, reference, graph, retained=retained, backward=True)


# ---------------------------------------------------------------------------------- gradients_along


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_a_leafs_grad_from_before_is_left_out(student: Student, draw: RandomInputs) -> None:
    """the result does not contain the old .grad of a leaf"""
    for dtype in (torch.float64, torch.float32):
        graph = drawn(draw, draw.tensor(3, low=0.5, dtype=dtype, requires_grad=True))
        held = {"x": draw.tensor(3, dtype=dtype)}
        assert_gradients(student, graph, draw.sample("xy", 2), held=held)


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_an_intermediates_grad_from_before_is_left_out(
    student: Student, draw: RandomInputs
) -> None:
    """the list does not contain an intermediate's old .grad"""
    for name, grad in (("y", draw.tensor(3)), ("z", draw.tensor())):
        graph = drawn(draw, draw.tensor(3, low=0.5, requires_grad=True))
        assert_gradients(student, graph, draw.sample(["x", name], 2), [name], {name: grad})


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_every_path_counts(student: Student, draw: RandomInputs) -> None:
    """every path to z counts, and z itself has a gradient"""
    a, b, c = draw.coefficients(3)
    paths = [
        f"u = (x * {a}).exp()",
        f"y = u ** 2 * {b} + u * x",
        f"z = (y * u).sum() * {c} + (x ** 2).sum()",
    ]
    halves = ["u, y = x.split([1, 2])", f"z = (u * y * {a}).sum()"]
    for lines, shape in ((paths, (2,)), (paths, ()), (halves, (3,))):
        graph = draw.graph(*lines, x=draw.tensor(*shape, requires_grad=True))
        assert_gradients(student, graph, draw.sample("xuyz", 4))
    zero = torch.zeros((), dtype=torch.float64, requires_grad=True)
    graph = draw.graph(f"y = x * {a}", f"z = y * {b}", x=zero)  # all three are equal
    assert_gradients(student, graph, draw.sample("xyz", 3))


@check(points=0.5, about="gradients_along", needs=CHAIN)
def test_shapes_and_dtypes_are_kept(student: Student, draw: RandomInputs) -> None:
    """each gradient has its tensor's shape, dtype and digits"""
    single = {"low": 0.5, "dtype": torch.float32, "requires_grad": True}
    for x in (
        draw.noncontiguous(2, 3, **single),
        draw.tensor(0, 3, requires_grad=True),
        draw.tensor(**single),
        draw.tensor(1, 4, low=0.5, requires_grad=True),
    ):
        assert_gradients(student, drawn(draw, x), "yxu", compare=assert_gradient)
    x, w = draw.tensor(3, dtype=torch.float32, requires_grad=True), draw.tensor(3)
    mixed = draw.graph("u = x * w", "y = u * u", "z = y.sum()", x=x, w=w)
    assert_gradients(student, mixed, "uzx", compare=assert_gradient)


@check(points=0.25, about="gradients_along", needs=CHAIN)
def test_the_numbers_of_the_lessons_graphs(student: Student) -> None:
    """(w x + b)² gives 42, 28, 14, and (2 x + 3)² gives 20, 10"""
    for graph in (LINEAR, EXERCISE):
        assert_gradients(student, graph, graph.names[:-1])
