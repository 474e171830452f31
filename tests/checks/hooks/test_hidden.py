"""hooks, the checks that are not handed out."""

from functools import partial

import torch

from grader.authoring import (
    assert_equal,
    assert_gradient,
    assert_tensor,
    assert_that,
    check,
    import_helpers,
    program,
    same,
)

helpers = import_helpers(__file__)
CAPPED, said, then, linear, Drawn = (
    helpers.CAPPED,
    helpers.said,
    helpers.then,
    helpers.linear,
    helpers.Drawn,
)
same_leaves, is_pair, norms_of = helpers.same_leaves, helpers.is_pair, helpers.norms_of

NO_HANDLE = "{function} returned a value of type {type}, which has no remove() to call"


def shared(draw, scalar=False):
    """A graph whose additions hand one and the same gradient to a, b and y; y's own node runs first
    of the three. Its formula, too.
    """
    a, b, c, k = draw.coefficients(4)

    def form(p, q, r):
        left, right = p * a, r * b
        y = q * c
        z = left + y + right if scalar else (left + y + right) * k
        return y, (z * k).sum() if scalar else z

    end = f"loss = sum({k} (a + y + b))" if scalar else f"z = {k} (a + y + b)"
    return f"a = {a} p, b = {b} r, y = {c} q, {end}", program(form, inputs=3), (a, b, c, k)


CHUNK = "y is one of two results of chunk, and the gradient at p is wrong"


def halves(a, b, *, scalar=False):
    """A graph in which y is the second result of an operation with two, and its formula. A hook on
    the operation is not one on y.
    """

    def form(p):
        rest, y = (p * a).chunk(2)
        z = y * b + rest
        return y, z.sum() if scalar else z

    end = f"loss = sum({b} y + rest)" if scalar else f"z = {b} y + rest"
    return f"rest, y = ({a} p).chunk(2), {end}", program(form)


def has_remove(got, function, inputs):
    """What came back must be something to call remove() on."""
    facts = {"type": got["type"], "function": function}
    assert_that(got["removable"], NO_HANDLE, inputs=inputs, facts=facts)


def same_heard(got, inputs):
    """The caller's own hook on y must still be there after remove()."""
    message = "after remove(), the caller's own hook on y ran {heard} times in one backward"
    assert_equal(got["heard"], 1, message, inputs=inputs, facts={"heard": got["heard"]})


# ---------------------------------------------------------------------------------- double_gradient


@check(points=0.25, about="double_gradient", needs="test_double_what_flows_through_y")
def test_double_every_later_backward(student, draw):
    """Every later backward is doubled, for any shape and dtype"""
    p, v, w = (draw.tensor(2, 3, dtype=torch.float32) for _ in range(3))
    p.requires_grad_()
    a, b = draw.coefficients(2)
    vectors = [v, w, w * 1e4, v * 1e-4, w, v]
    tails = [program(lambda y, p: y * a, inputs=2), program(lambda y, p: y * b + p, inputs=2)]
    got = helpers.later(
        student,
        "double_gradient",
        [],
        program(lambda p: p.sin()),
        [tails[0], tails[1]] * 3,
        [p],
        vectors,
    )
    slope = p.detach().cos()
    factors = [2 * a * slope, 2 * b * slope + 1] * 3
    want = [factor * vector for factor, vector in zip(factors, vectors, strict=True)]
    for number, (round_got, round_want) in enumerate(zip(got, want, strict=True), 1):
        inputs = {"graph": f"y = sin(p), in turn z = {a} y and z = {b} y + p", "p": p}
        inputs |= {f"v{k}": vector for k, vector in enumerate(vectors[:number], 1)}
        message = "in backward number {number} the gradient at p is wrong"
        same_leaves(round_got, [round_want], message, "p", inputs=inputs, facts={"number": number})
    kinds = [(torch.float16, 3), (torch.bfloat16, 3), (torch.float16,), (torch.float32, 0)]
    given = [draw.tensor(*shape, dtype=dtype) for dtype, *shape in kinds]
    for v in (*given, draw.tensor(), helpers.THIRDS):
        p = draw.tensor(*v.shape, dtype=v.dtype, requires_grad=True)
        copy, same = program(lambda p: p.clone()), program(lambda y, p: y, inputs=2)
        (only,) = helpers.later(student, "double_gradient", [], copy, [same], [p], [v])
        inputs = {"graph": "y = p.clone(), z = y", "p": p, "v": v}
        digits = helpers.EXACT if v is helpers.THIRDS else {}
        same_leaves(only, [2 * v], message, "p", inputs=inputs, facts={"number": 1}, **digits)
    want = [2 * v]
    got = student.observe("incoming", "double_gradient", [], copy, [p], v.clone())
    message = "double_gradient(y) is called, its handle is not kept, and the gradient at p is wrong"
    same_leaves(got["grads"], want, message, "p", inputs=inputs)


@check(points=0.25, about="double_gradient", needs="test_double_what_flows_through_y")
def test_double_twice_makes_four(student, draw):
    """Two calls on one tensor make the factor four"""
    p, v, a = draw.tensor(3, requires_grad=True), draw.tensor(3), draw.number(0.3, 1.5)
    graph = program(lambda p: then(p * a, lambda y: y.exp()))
    ((got,),) = helpers.passes(student, "double_gradient", [], graph, [p], [v], 2)
    want = 4 * a * v * (a * p.detach()).exp()
    inputs = {"graph": f"y = {a} p, z = exp(y)", "p": p, "v": v}
    figures = Drawn(student, "double_gradient", [], graph, [p], calls=2).figures([got], [want])
    assert_gradient(
        got,
        want,
        "after two calls of double_gradient(y) the gradient at p is wrong",
        inputs=inputs,
        figures=figures,
    )


@check(points=0.25, about="double_gradient", needs="test_double_what_flows_through_y")
def test_double_until_removed(student, draw):
    """After remove() the gradient is no longer doubled"""
    p, v, a = draw.tensor(3, requires_grad=True), draw.tensor(3), draw.number(0.3, 1.5)
    graph = program(lambda p: then(p**2, lambda y: y * a))
    got = student.observe("released", "double_gradient", [], graph, [p], v)
    inputs = {"graph": f"y = p**2, z = {a} y", "p": p, "v": v}
    has_remove(got, "double_gradient", inputs)
    plain = 2 * a * v * p.detach()
    same_leaves(
        got["before"], [2 * plain], "before remove() the gradient at p is wrong", "p", inputs=inputs
    )
    figures = Drawn(student, "double_gradient", [], graph, [p], released=True).figures(
        got["after"], [plain]
    )
    same_leaves(
        got["after"],
        [plain],
        "after remove() the gradient at p is still changed",
        "p",
        inputs=inputs,
        figures=figures,
    )
    same_heard(got, inputs)


@check(points=0.5, about="double_gradient", needs="test_double_what_flows_through_y")
def test_double_leaves_siblings_alone(student, draw):
    """Tensors that share y's gradient or operation do not change"""
    text, graph, (a, b, c, k) = shared(draw)
    leaves, v = [draw.tensor(3, requires_grad=True) for _ in range(3)], draw.tensor(3)
    (got,) = helpers.passes(student, "double_gradient", [], graph, leaves, [v])
    message = (
        "a, b and y get the same gradient tensor; after double_gradient(y) the gradient at {leaf}"
        " is wrong"
    )
    want = [a * k * v, 2 * c * k * v, b * k * v]
    figures = Drawn(student, "double_gradient", [], graph, leaves).figures(got, want)
    same_leaves(got, want, message, inputs={"graph": text, "v": v}, figures=figures)

    (text, graph), p = halves(a, b), draw.tensor(6, requires_grad=True)
    ((got,),) = helpers.passes(student, "double_gradient", [], graph, [p], [v])
    want = torch.cat([a * v, 2 * a * b * v])
    figures = Drawn(student, "double_gradient", [], graph, [p]).figures([got], [want])
    assert_gradient(got, want, CHUNK, inputs={"graph": text, "p": p, "v": v}, figures=figures)


# --------------------------------------------------------------------------------- record_gradients


def recorded(drawn, records, want):
    """Figures of a graph with the records at its tensors."""
    found = (
        [records.get(name) for name in want] if isinstance(records, dict) else [None] * len(want)
    )
    return drawn.figures(found, want.values(), "records[…] = {}", drawn.outputs[:-1])


def same_records(records, want, message, **details):
    """The records must be the expected ones; a message may speak of {name}."""
    assert_that(
        isinstance(records, dict),
        "records is not a dictionary",
        expected=want,
        actual=records,
        **details,
    )
    for name, expected in want.items():
        facts = {**details.get("facts", {}), "name": name}
        assert_tensor(records.get(name), expected, message, **{**details, "facts": facts})


@check(points=0.25, about="record_gradients", needs="test_records_hold_each_gradient")
def test_records_latest_backward_counts(student, draw):
    """Each backward replaces the records of the one before"""
    p, v, w, a = (
        draw.tensor(3, requires_grad=True),
        draw.tensor(3),
        draw.tensor(3),
        draw.number(0.3, 1.5),
    )

    def form(p):
        y = p**2
        return p, y, y, y * a

    names, vectors = ["leaf", "inner", "again"], [v, w * 25, w / 25, v]
    got = student.observe("recorded", program(form), [p], names, vectors)
    inputs = {
        "graph": f"y = p**2, z = {a} y",
        "tensors": "{'leaf': p, 'inner': y, 'again': y}",
        "p": p,
        **{f"v{number}": vector for number, vector in enumerate(vectors, 1)},
    }
    is_pair(got, inputs)
    message = "after backward number {number}, records[{name}] is not that backward's gradient"
    for number, (u, records) in enumerate(zip(vectors, got["rounds"], strict=True), 1):
        want = {"leaf": 2 * a * u * p.detach(), "inner": a * u, "again": a * u}
        same_records(records, want, message, inputs=inputs, facts={"number": number})

    def parts(p):
        y = p * a
        return y, y.sin(), p

    names = ["first", "beyond", "leaf"]
    got = student.observe("partly", program(parts), [p], names, v)
    inputs = {
        "graph": f"y = {a} p, z = sin(y)",
        "tensors": "{'first': y, 'beyond': z, 'leaf': p}",
        "v": v,
    }
    message = "after y.backward(v), which does not reach z, records[{name}] is wrong"
    same_records(got["records"], {"first": v, "leaf": a * v}, message, inputs=inputs)


@check(points=0.25, about="record_gradients", needs="test_records_hold_each_gradient")
def test_records_are_copies(student, draw):
    """A record is a copy: later changes do not affect it"""
    p, q, v = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True), draw.tensor(3)

    def form(p, q):
        left = p.clone()
        right = q.clone()
        return left, q, right, left + right

    names = ["left", "q", "right"]
    changed = draw.choice(names)
    got = student.observe("touched", program(form, inputs=2), [p, q], names, v.clone(), changed)
    inputs = {
        "graph": "left = p.clone(), right = q.clone(), z = left + right",
        "tensors": "left, q, right",
        "v": v,
    }
    is_pair(got, inputs)
    want = dict.fromkeys(names, v)
    same_records(
        got["first"], want, "records[{name}] is not the gradient at that tensor", inputs=inputs
    )
    same_records(
        got["v"],
        want,
        "v.add_(100) after z.backward(v) also changed records[{name}]",
        inputs=inputs,
    )
    same_records(
        got["grad"],
        want,
        "adding 100 to .grad of the leaves after backward also changed records[{name}]",
        inputs=inputs,
    )
    others = {name: v for name in names if name != changed}
    message = "records[{changed}].add_(100) also changed records[{name}]"
    same_records(got["record"], others, message, inputs=inputs, facts={"changed": changed})


@check(points=0.25, about="record_gradients", needs="test_records_hold_each_gradient")
def test_records_cover_any_shape(student, draw):
    """Any tensor is recorded: 0-d, empty, float16, a chunk"""
    dtype = torch.float32
    p, q = (
        draw.noncontiguous(2, 3, dtype=dtype, requires_grad=True),
        draw.tensor(0, 3, dtype=dtype, requires_grad=True),
    )
    v = draw.tensor(dtype=dtype)

    def form(p, q):
        turned = p.t()
        total = turned.sum()
        nothing = q * 2.0
        return turned, total, nothing, total * 3.0 + nothing.sum()

    got = student.observe(
        "recorded", program(form, inputs=2), [p, q], ["turned", "total", "nothing"], [v]
    )
    inputs = {
        "graph": "turned = p.t(), total = turned.sum(), nothing = 2 q, z = 3 total + nothing.sum()",
        "v": v,
    }
    is_pair(got, inputs)
    want = {"turned": (3 * v).expand(3, 2), "total": 3 * v, "nothing": v.expand(0, 3)}
    message = "records[{name}] is not the gradient at that tensor"
    same_records(got["rounds"][0], want, message, inputs=inputs)
    given = [draw.tensor(3, dtype=dtype) for dtype in (torch.float16, torch.bfloat16)]
    for v in (*given, helpers.THIRDS):
        p = draw.tensor(3, dtype=v.dtype, requires_grad=True)
        copy = program(lambda p: then(p.clone(), lambda y: y.clone()))
        got = student.observe("recorded", copy, [p], ["inner"], [v])
        inputs = {"graph": "y = p.clone(), z = y.clone()", "tensors": "{'inner': y}", "v": v}
        digits = helpers.EXACT if v is helpers.THIRDS else {}
        same_records(got["rounds"][0], {"inner": v}, message, inputs=inputs, **digits)
    (text, graph), p, v = halves(2.0, 3.0), draw.tensor(6, requires_grad=True), draw.tensor(3)
    got = student.observe("recorded", graph, [p], ["half"], [v])
    inputs = {"graph": text, "tensors": "{'half': y}", "v": v}
    same_records(got["rounds"][0], {"half": 3 * v}, message, inputs=inputs)


@check(points=0.25, about="record_gradients", needs="test_records_hold_each_gradient")
def test_records_change_nothing_else(student, draw):
    """Recording changes no gradient and adds no .grad"""
    p, q, a = (
        draw.tensor(3, requires_grad=True),
        draw.tensor(3, requires_grad=True),
        draw.number(0.3, 1.5),
    )
    before, v, w = draw.tensor(3), draw.tensor(3), draw.tensor(3)

    def form(p, q):
        y = p * q
        h = y.sin()
        return p, y, h, h * a + y

    names = ["p", "y", "h"]
    got = student.observe("recorded", program(form, inputs=2), [p, q], names, [v, w], [before])
    graph = f"y = p q, h = sin(y), z = {a} h + y"
    inputs = {
        "graph": graph,
        "tensors": "p, y, h",
        "p": p,
        "q": q,
        "v1": v,
        "v2": w,
        "p.grad before": before,
    }
    is_pair(got, inputs)
    assert_that(got["kept"], "record_gradients changed the dictionary of tensors", inputs=inputs)
    slope = (a * (p * q).cos() + 1).detach()
    totals = [v, v + w]
    drawn = Drawn(
        student, "record_gradients", names, program(form, inputs=2), [p, q], ("p", "y", "h", "z")
    )
    for number, total in enumerate(totals, 1):
        want = [before + total * slope * q.detach(), total * slope * p.detach()]
        message = "after backward number {number}, {leaf}.grad differs from that without recording"
        grads = got["grads"][number - 1]
        same_leaves(
            grads,
            want,
            message,
            "pq",
            inputs=inputs,
            facts={"number": number},
            figures=drawn.figures(grads, want),
        )
    for name in ("y", "h"):
        actual, facts = got["inner"][name], {"name": name}
        details = {
            "actual": actual,
            "inputs": inputs,
            "facts": facts,
            "figures": drawn.figures([actual], [None], at=name),
        }
        assert_that(actual is None, "{name} is not a leaf and has a .grad now", **details)
    twice = program(form, inputs=2)
    got = student.observe("differentiated", twice, [p, q], names)
    leaves = [leaf.detach().requires_grad_() for leaf in (p, q)]
    firsts = torch.autograd.grad(twice(*leaves)[-1].sum(), leaves, create_graph=True)
    want = torch.autograd.grad(sum(one.sum() for one in firsts), leaves)
    message = "create_graph=True: the gradient of the sum of all gradients is wrong at {leaf}"
    inputs = {name: inputs[name] for name in ("graph", "tensors", "p", "q")}
    same_leaves(got, want, message, "pq", inputs=inputs)


@check(points=0.25, about="record_gradients", needs="test_records_hold_each_gradient")
def test_records_until_removed(student, draw):
    """After remove() of each handle nothing is recorded"""
    p, v, w = draw.tensor(3, requires_grad=True), draw.tensor(3), draw.tensor(3)

    def form(p):
        y = p.clone()
        return p, y, y.clone()

    got = student.observe("closed", program(form), [p], ["leaf", "inner"], [v, w])
    inputs = {
        "graph": "y = p.clone(), z = y.clone()",
        "tensors": "{'leaf': p, 'inner': y}",
        "v1": v,
        "v2": w,
    }
    is_pair(got, inputs)
    facts = {"type": got["handles"], "kinds": ", ".join(got["kinds"]) or "nothing"}
    assert_that(
        got["listed"],
        "the handles ({type}) are neither a list nor a tuple",
        inputs=inputs,
        facts=facts,
    )
    assert_that(
        got["removable"],
        "the handles are {kinds}, and not all of them have a remove()",
        inputs=inputs,
        facts=facts,
    )
    want = {"leaf": v, "inner": v}
    same_records(
        got["before"], want, "records[{name}] is not the gradient at that tensor", inputs=inputs
    )
    message = "after remove() of the handles ({kinds}), a backward with v2 changed records[{name}]"
    drawn = Drawn(
        student,
        "record_gradients",
        ["leaf", "inner"],
        program(form),
        [p],
        ("p", "y", "z"),
        released=True,
    )
    same_records(
        got["after"],
        want,
        message,
        inputs=inputs,
        facts=facts,
        figures=recorded(drawn, got["after"], want),
    )


# ------------------------------------------------------------------------------------ clip_gradient


@check(points=0.25, about="clip_gradient", needs="test_long_gradient_is_capped")
def test_clip_a_zero_gradient(student, draw):
    """A gradient of zeros stays zeros"""
    p, max_norm = draw.tensor(3, requires_grad=True), draw.number(0.5, 2.0)
    v = torch.zeros(3, dtype=torch.float64)
    graph = program(lambda p: then(p.clone(), lambda y: y.clone()))
    ((got,),) = helpers.passes(student, "clip_gradient", [max_norm], graph, [p], [v])
    inputs = {"graph": "y = p.clone(), z = y.clone()", "v": v, "max_norm": max_norm}
    figures = Drawn(student, "clip_gradient", [max_norm], graph, [p]).figures([got], [v])
    assert_gradient(
        got,
        v,
        "zeros arrive at y, and the gradient at p is not zeros",
        inputs=inputs,
        figures=figures,
    )


@check(points=0.25, about="clip_gradient", needs="test_long_gradient_is_capped")
def test_clip_any_shape(student, draw):
    """Any y is clipped: 0-d, empty, expanded, transposed, a chunk"""
    kind = torch.float32
    wide, narrow = draw.noncontiguous(3, 4, dtype=kind), draw.tensor(dtype=kind)
    tiny = wide.contiguous() * (0.0012 / float(wide.norm()))
    cases = {
        "0-d": (
            narrow.clone(),
            program(lambda p: then(p.clone(), lambda y: y * 4.0)),
            narrow,
            4 * narrow,
        ),
        "empty": (
            wide[:0].clone(),
            program(lambda p: then(p.clone(), lambda y: y.clone())),
            wide[:0].clone(),
            wide[:0].clone(),
        ),
        "expanded": (
            wide.clone(),
            program(lambda p: then(p.clone(), lambda y: y.sum())),
            narrow,
            narrow.expand(3, 4),
        ),
        "transposed": (
            wide,
            program(lambda p: then(p.clone(), lambda y: y.t())),
            wide.t().contiguous(),
            wide,
        ),
        "large": (
            wide.clone(),
            program(lambda p: then(p.clone(), lambda y: y * 1e4)),
            wide.contiguous(),
            wide * 1e4,
        ),
        "small": (wide.clone(), program(lambda p: then(p.clone(), lambda y: y * 1.0)), tiny, tiny),
    }
    for case, (p, graph, v, arriving) in cases.items():
        norm = float(arriving.norm())
        limit = (
            norm if case == "expanded" else min(norm, 1.0)
        )  # there max_norm is above the largest element, 0.29 times the norm
        max_norm = draw.number(0.3, 0.7) * limit if norm else 1.0
        max_norm = max(max_norm, 0.001)
        p = p.requires_grad_()
        ((got,),) = helpers.passes(student, "clip_gradient", [max_norm], graph, [p], [v])
        want = arriving.contiguous() * (max_norm / norm) if norm else arriving
        inputs = {"gradient at y": arriving, "max_norm": max_norm}
        message = "{case}: a gradient of norm {norm} arrives at y, and the gradient at p is wrong"
        figures = Drawn(student, "clip_gradient", [max_norm], graph, [p]).figures([got], [want])
        assert_gradient(
            got,
            want,
            message,
            rtol=CAPPED,
            atol=0.0 if case == "small" else None,  # its elements are about as small as that
            inputs=inputs,
            facts={"case": case, "norm": norm},
            figures=figures,
        )
    (text, graph), p = halves(1.0, 1.0), draw.tensor(6, dtype=kind, requires_grad=True)
    v, max_norm = draw.tensor(3, dtype=kind), draw.number(0.3, 0.7)
    v *= 2 / v.norm()
    ((got,),) = helpers.passes(student, "clip_gradient", [max_norm], graph, [p], [v])
    want, inputs = torch.cat([v, v * (max_norm / 2)]), {"graph": text, "v": v, "max_norm": max_norm}
    figures = Drawn(student, "clip_gradient", [max_norm], graph, [p]).figures([got], [want])
    assert_gradient(got, want, CHUNK, rtol=CAPPED, inputs=inputs, figures=figures)


@check(points=0.25, about="clip_gradient", needs="test_long_gradient_is_capped")
def test_clip_writes_nothing(student, draw):
    """The hook does not write to the gradient that it gets"""
    text, graph, (a, b, c, k) = shared(draw)
    leaves, v = [draw.tensor(3, requires_grad=True) for _ in range(3)], draw.tensor(3)
    max_norm = draw.number(0.2, 0.6) * k * float(v.norm())
    (got,) = helpers.passes(student, "clip_gradient", [max_norm], graph, leaves, [v])
    cut = c * max_norm * v / v.norm()
    inputs, wants = {"graph": text, "v": v, "max_norm": max_norm}, [a * k * v, cut, b * k * v]
    figures = Drawn(student, "clip_gradient", [max_norm], graph, leaves).figures(got, wants)
    for leaf, actual, want in zip("pqr", got, wants, strict=True):
        message = (
            "a, b and y get the same gradient tensor; after clip_gradient(y, max_norm) the"
            " gradient at {leaf} is wrong"
        )
        assert_gradient(
            actual, want, message, rtol=CAPPED, inputs=inputs, facts={"leaf": leaf}, figures=figures
        )
    seen = student.observe(
        "incoming", "clip_gradient", [max_norm], program(lambda p: p * a), [leaves[0]], v.clone()
    )
    inputs = {"v": v, "max_norm": max_norm}
    assert_tensor(
        seen["v"],
        v,
        "y.backward(v) passes v itself to the hooks of y, and v holds other values afterwards",
        inputs=inputs,
    )


LENGTHS = [2.0, 0.01, 0.5, 1.01, 0.99, 5.0, 0.8, 40.0, 1.3, 0.9, 1.1]
"""Norms of gradients that arrive one after another, as multiples of max_norm: long, middle, and
short ones, in no order.
"""


@check(points=0.25, about="clip_gradient", needs="test_long_gradient_is_capped")
def test_clip_the_whole_gradient_of_every_backward(student, draw):
    """Every backward clips the whole gradient by its own norm"""
    p, v = draw.tensor(4, requires_grad=True), draw.tensor(4, avoid=0.5)
    (a, b), max_norm = draw.coefficients(2), draw.number(0.5, 2.0)
    graph = program(lambda p: then(p.clone(), lambda y: y * a + y * b))
    whole = v * (max_norm / float(v.norm()))
    vectors = [whole * (length / (a + b)) for length in LENGTHS]
    got = helpers.passes(student, "clip_gradient", [max_norm], graph, [p], vectors)
    inputs = {"graph": f"y = p.clone(), z = {a} y + {b} y", "max_norm": max_norm}
    for number, (length, (actual,)) in enumerate(zip(LENGTHS, got, strict=True), 1):
        inputs[f"v{number}"] = vectors[number - 1]
        if length < 1:
            continue  # told by test_short_gradient_is_unchanged
        message = "in backward number {number} the gradient at p is wrong"
        figures = Drawn(student, "clip_gradient", [max_norm], graph, [p]).figures([actual], [whole])
        details = {"inputs": inputs, "facts": {"number": number}, "figures": figures}
        assert_gradient(actual, whole, message, rtol=CAPPED, **details)
    two_limits(student, whole, max_norm)


def two_limits(student, whole, max_norm):
    """Two tensors are clipped, each by its own max_norm, after both calls."""
    leaves = [student.put(torch.zeros_like(whole).requires_grad_()) for _ in range(2)]
    y, h = (leaf.clone() for leaf in leaves)
    student.clip_gradient(y, max_norm)
    student.clip_gradient(h, max_norm / 2)
    (y * 1.0 + h * 1.0).backward(2 * whole)
    message = (
        "after clip_gradient(y, {first}) and clip_gradient(h, {second}) the gradient at {leaf} is"
        " wrong"
    )
    inputs = {"graph": "y = p.clone(), h = q.clone(), z = 1 y + 1 h", "v": 2 * whole}
    facts = {"first": max_norm, "second": max_norm / 2}
    got, want = helpers.taken(leaves), [whole, whole / 2]
    same_leaves(got, want, message, "pq", rtol=CAPPED, inputs=inputs, facts=facts)


@check(points=0.25, about="clip_gradient", needs="test_long_gradient_is_capped")
def test_clip_until_removed(student, draw):
    """After remove() the gradient is no longer clipped"""
    p, v = draw.tensor(3, requires_grad=True), draw.tensor(3)
    max_norm = draw.number(0.2, 0.6) * float(v.norm())
    graph = program(lambda p: then(p.clone(), lambda y: y.clone()))
    got = student.observe("released", "clip_gradient", [max_norm], graph, [p], v)
    inputs = {"graph": "y = p.clone(), z = y.clone()", "v": v, "max_norm": max_norm}
    has_remove(got, "clip_gradient", inputs)
    assert_gradient(
        got["before"][0],
        max_norm * v / v.norm(),
        "before remove() the gradient at p is wrong",
        rtol=CAPPED,
        inputs=inputs,
    )
    figures = Drawn(student, "clip_gradient", [max_norm], graph, [p], released=True).figures(
        got["after"], [v]
    )
    assert_gradient(
        got["after"][0],
        v,
        "after remove() the gradient at p is still changed",
        inputs=inputs,
        figures=figures,
    )
    same_heard(got, inputs)


# -------------------------------------------------------------------- backward_with_scaled_gradient


@check(points=0.25, about="backward_with_scaled_gradient", needs="test_scale_what_flows_through_y")
def test_scale_by_zero_and_by_negatives(student, draw):
    """factor may be 0, 1, negative or an int"""
    p, q = (
        draw.tensor(2, 3, dtype=torch.float32, requires_grad=True),
        draw.tensor(2, 3, dtype=torch.float32, requires_grad=True),
    )
    a = draw.number(0.3, 1.5)
    graph = program(lambda p, q: then(p * a, lambda y: (y * q).sum()), inputs=2)
    for factor in (0.0, draw.number(-3.0, -0.5), 1.0, draw.integer(2, 5)):
        got = helpers.scaled(student, factor, graph, [p, q])
        want = [factor * a * q.detach(), a * p.detach()]
        inputs = {"graph": f"y = {a} p, loss = sum(y q)", "factor": factor, "p": p, "q": q}
        drawn = Drawn(
            student, "backward_with_scaled_gradient", [factor], graph, [p, q], ("y", "loss")
        )
        message, figures = "the gradient at {leaf} is wrong", drawn.figures(got["grads"], want)
        same_leaves(got["grads"], want, message, "pq", inputs=inputs, figures=figures)
    w, p, scale = helpers.THIRDS, draw.tensor(3, requires_grad=True), 3.0
    for size in (1.0, 1e5, 1e-5):
        graph = program(lambda p, w: then(p * 1.0, lambda y: (y * w).sum()), parameters=[w * size])
        got = helpers.scaled(student, scale, graph, [p])
        inputs = {"graph": "y = p, loss = sum(y w)", "factor": scale, "p": p, "w": w * size}
        want = [w * size * scale]
        same_leaves(got["grads"], want, message, "p", inputs=inputs, **helpers.EXACT)
    graph, p = program(lambda p: then((p * a).sum(), lambda y: y)), p.detach()
    p.requires_grad_()
    for scale in (factor, 0.1, -0.001, 1e6):
        got, want = helpers.scaled(student, scale, graph, [p]), [torch.full_like(p, scale * a)]
        inputs = {"graph": f"y = loss = sum({a} p)", "factor": scale, "p": p}
        same_leaves(got["grads"], want, message, "p", inputs=inputs, **helpers.EXACT)


@check(points=0.25, about="backward_with_scaled_gradient", needs="test_scale_what_flows_through_y")
def test_scale_adds_to_what_grad_held(student, draw):
    """.grad of the leaves accumulates as in any backward"""
    p, q = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    before, a, factor = (
        [draw.tensor(3), draw.tensor(3)],
        draw.number(0.3, 1.5),
        draw.choice([0.75, 4.0]),
    )
    graph = program(lambda p, q: then(p.sin(), lambda y: (y * q * a).sum()), inputs=2)
    got = helpers.scaled(student, factor, graph, [p, q], before)
    want = [before[0] + factor * a * (q * p.cos()).detach(), before[1] + a * p.detach().sin()]
    inputs = {
        "graph": f"y = sin(p), loss = sum({a} y q)",
        "factor": factor,
        "p": p,
        "q": q,
        "p.grad before": before[0],
    }
    message = "{leaf}.grad is not its old value plus the gradient of this backward"
    drawn = Drawn(student, "backward_with_scaled_gradient", [factor], graph, [p, q], ("y", "loss"))
    figures = drawn.figures(got["grads"], want)
    same_leaves(got["grads"], want, message, "pq", inputs=inputs, figures=figures, **helpers.ROUGH)
    got = student.observe("scaled", factor, graph, [p, q], before)
    for leaf, attached in zip("pq", got["attached"], strict=True):
        message, facts = "{leaf}.grad requires grad after the call", {"leaf": leaf}
        assert_that(not attached, message, inputs=inputs, facts=facts)


@check(points=0.25, about="backward_with_scaled_gradient", needs="test_scale_what_flows_through_y")
def test_scale_leaves_siblings_alone(student, draw):
    """Tensors that share y's gradient or operation are not scaled"""
    text, graph, (a, b, c, k) = shared(draw, scalar=True)
    leaves, factor = [draw.tensor(3, requires_grad=True) for _ in range(3)], draw.choice([1.5, 5.0])
    got = helpers.scaled(student, factor, graph, leaves)
    ones = torch.ones(3, dtype=torch.float64)
    message = (
        "a, b and y get the same gradient tensor; with factor {factor} at y the gradient at"
        " {leaf} is wrong"
    )
    inputs = {"graph": text, "factor": factor}
    want = [a * k * ones, factor * c * k * ones, b * k * ones]
    drawn = Drawn(student, "backward_with_scaled_gradient", [factor], graph, leaves, ("y", "loss"))
    same_leaves(
        got["grads"], want, message, inputs=inputs, figures=drawn.figures(got["grads"], want)
    )
    (text, graph), p = halves(a, b, scalar=True), draw.tensor(6, requires_grad=True)
    (got,) = helpers.scaled(student, factor, graph, [p])["grads"]
    want = torch.cat([a * ones, factor * a * b * ones])
    drawn = Drawn(student, "backward_with_scaled_gradient", [factor], graph, [p], ("y", "loss"))
    inputs = {"graph": text, "factor": factor, "p": p}
    assert_gradient(got, want, CHUNK, inputs=inputs, figures=drawn.figures([got], [want]))


@check(
    points=0.25, about="backward_with_scaled_gradient", needs="test_a_later_backward_is_not_scaled"
)
def test_scale_nothing_after_an_error(student, draw):
    """If backward raises, so does the call, and the hook is gone"""
    factor, a = draw.choice([0.5, 3.0, -2.0]), draw.number(0.3, 1.5)
    p, q = draw.tensor(3, requires_grad=True), draw.tensor(3, requires_grad=True)
    trunk = program(lambda p, q: p - q, inputs=2)
    tails = [
        program(lambda y, p, q: (y**2).sum(), inputs=3),
        program(lambda y, p, q: (y**2 * a).sum(), inputs=3),
    ]
    slope = (2 * a * (p - q)).detach()
    inputs = {
        "graph": f"y = p - q, loss = sum(y**2), loss2 = {a} sum(y**2)",
        "factor": factor,
        "p": p,
        "q": q,
    }
    reasons = {
        "freed": "loss.backward() had run before",
        "gate": "an operation raised a ValueError",
    }
    for how, reason in reasons.items():
        got = student.observe("interrupted", factor, trunk, tails, [p, q], how)
        message = (
            "the call's backward raised ({reason}), and a plain loss2.backward() then leaves a"
            " wrong gradient in {leaf}.grad"
        )
        figures = helpers.later_figures(
            student, factor, trunk, tails, [p, q], how, got["grads"], [slope, -slope]
        )
        same_leaves(
            got["grads"],
            [slope, -slope],
            message,
            "pq",
            inputs=inputs,
            facts={"reason": reason, "how": how},
            figures=figures,
        )
        message = "the call's backward raised ({reason}), and the call returned without an error"
        details = {"inputs": inputs, "facts": {"reason": reason}}
        assert_that(got["raised"] is not None, message, **details)


# ----------------------------------------------------------------------------------- gradient_norms

ACTIVATIONS = ["tanh", "sigmoid", "softplus"]


def deep(draw, dtype=torch.float64):
    """The plain data of a drawn network with chains in a sum of branches in a chain, from 3
    features to 2; one part stands still.
    """
    short = [
        "chain",
        [["fc", linear(draw, 4, 4, bias=False, dtype=dtype)], ["act", [draw.choice(ACTIVATIONS)]]],
    ]
    long = [
        "chain",
        [
            ["fc", linear(draw, 5, 4, dtype=dtype)],
            ["act", ["relu"]],
            ["end", linear(draw, 4, 5, dtype=dtype)],
        ],
    ]
    both = ["branches", [["short", short], ["long", long]]]
    stem, head = linear(draw, 4, 3, dtype=dtype), linear(draw, 2, 4, dtype=dtype)
    return ["chain", [["stem", stem], ["gate", ["turnstile"]], ["both", both], ["head", head]]]


def lone(draw, dtype=torch.float64):
    """The plain data of a module that is a leaf submodule itself."""
    return linear(draw, 2, 3, dtype=dtype)


def small(draw):
    """The plain data of a chain of three, with a turnstile in the middle."""
    return ["chain", [["0", linear(draw, 4, 3)], ["1", ["turnstile"]], ["2", linear(draw, 2, 4)]]]


@check(points=0.25, about="gradient_norms", needs="test_values_are_the_norms_of_grad_output")
def test_norms_of_other_networks(student, reference, draw):
    """Branches, nested modules, float32 and x without grad work"""
    cases = (
        (deep, torch.float64, True, False),
        (deep, torch.float32, False, False),
        (deep, torch.float32, True, True),
        (lone, torch.float64, False, False),
    )
    for build, dtype, wants, frozen in cases:
        spec, x = build(draw, dtype), draw.tensor(4, 3, dtype=dtype, requires_grad=wants)
        names = "stem, gate, both.short.fc, both.short.act, both.long.fc, …, head"
        inputs = {
            "module": names if build is deep else "a linear layer alone",
            "x": x,
            "x.requires_grad": wants,
            **({"all parameters": "requires_grad=False"} if frozen else {}),
        }
        got = norms_of(student.observe("norms", spec, x, frozen), inputs)
        want = reference.observe("norms", spec, x, frozen)["norms"]
        figure = partial(helpers.module_figure, student, spec, x)
        rtol = 1e-6 if dtype is torch.float64 else 1e-4
        helpers.same_norms(got, want, inputs, rtol=rtol, atol=1e-9, figure=figure)
        others = sorted({"stem", "gate", "head"} & set(got)) if build is lone else []
        message = "the result for a linear layer alone also has modules of an earlier call"
        assert_that(not others, message, expected=[], actual=others, inputs=inputs)
    spec = ["chain", [["0", lone(draw)], ["1", ["linear", helpers.THIRDS[None, :2] * 1e-4, None]]]]
    inputs = {"module": "chain(0: linear, 1: linear), the weights of 1 about 0.00001", "x": x}
    norm = float(helpers.THIRDS[:2].norm()) * 1e-4 * x.shape[0] ** 0.5
    got = norms_of(student.observe("norms", spec, x.double()), inputs)
    helpers.same_norms(got, {"0": norm, "1": x.shape[0] ** 0.5}, inputs, rtol=1e-6, atol=0.0)


@check(points=0.25, about="gradient_norms", needs="test_values_are_the_norms_of_grad_output")
def test_norms_are_floats_from_one_forward(student, draw):
    """The values are floats, from one forward pass"""
    spec, x = small(draw), draw.tensor(4, 3, requires_grad=True)
    got = student.observe("norms", spec, x)
    inputs = {"module": "chain(0: linear, 1: identity, 2: linear)", "x": x}
    norms_of(got, inputs)
    for name, value in got["norms"].items():
        facts = {"name": name, "type": said(value)}
        assert_that(
            type(value) is float,
            "the value for {name} is not a float ({type})",
            expected=float(value),
            actual=value,
            inputs=inputs,
            facts=facts,
        )
    (passed,) = got["passed"]
    assert_that(
        passed <= 1,
        "the forward of module 1 ran {passed} times",
        inputs=inputs,
        facts={"passed": passed},
    )


@check(points=0.25, about="gradient_norms", needs="test_keys_are_the_leaf_submodules")
def test_norms_leave_no_hook(student, draw):
    """No hook is left, and none of others is lost"""
    spec, x = small(draw), draw.tensor(4, 3, requires_grad=True)
    got = student.observe("left", spec, x)
    message = "after the call there are other hooks than before"
    same_counts(got["after"], got["before"], message, x)


def same_counts(after, before, message, x, **facts):
    """As many hooks on every module and tensor as expected; the counts run from the modules over
    parameters and x to torch's own.
    """
    inputs = {"module": SMALL, "x": x, "hooks of others": "of each kind on each of these"}
    places = ["module", "0", "1", "2", *SHAPES, "x", "all modules"]
    before, after = (dict(zip(places, counts, strict=True)) for counts in (before, after))
    assert_equal(after, before, message, inputs=inputs, facts=facts)


SMALL = "chain(0: linear, 1: identity, 2: linear)"
SHAPES = {"0.weight": (4, 3), "0.bias": (4,), "2.weight": (2, 4), "2.bias": (2,)}


def grads_before(draw, none_first):
    """What `.grad` of the parameters holds before a call: for half of them None."""
    return {
        name: None if (k + none_first) % 2 == 0 else draw.tensor(*shape)
        for k, (name, shape) in enumerate(SHAPES.items())
    }


def same_grads(got, before, x, trouble=""):
    """The parameters' `.grad` must be as before a call."""
    for name, want in before.items():
        actual, facts = got["grads"][name], {"name": name, "trouble": trouble}
        details = {"inputs": {"module": SMALL, "x": x}, "facts": facts}
        if want is None:
            message = "the .grad of {name} was None before the call and is a gradient now"
            assert_that(actual is None, message, expected=None, actual=actual, **details)
        else:
            message = "the .grad of {name} held a gradient before the call and is None now"
            assert_that(actual is not None, message, expected=want, actual=None, **details)
            message = "the .grad of {name} holds other values after the call"
            assert_tensor(actual, want, message, **details)


@check(points=0.25, about="gradient_norms", needs="test_keys_are_the_leaf_submodules")
def test_norms_leave_parameter_grads(student, draw):
    """Parameters, modes and x are as before the call"""
    spec, x = small(draw), draw.tensor(4, 3, requires_grad=True)
    for none_first in (1, 0):
        before = grads_before(draw, none_first)
        got = student.observe("grads_kept", spec, x, list(before.values()))
        same_grads(got, before, x)
    inputs = {"module": SMALL, "x": x}
    for what, setting in got["settings_before"].items():
        message, facts = "{what} is different after the call", {"what": what}
        assert_equal(got["settings"][what], setting, message, inputs=inputs, facts=facts)
    assert_tensor(got["x"], x.detach(), "x holds other values after the call", inputs=inputs)


@check(points=0.25, about="gradient_norms", needs="test_keys_are_the_leaf_submodules")
def test_norms_leave_no_hook_after_an_error(student, draw):
    """A run that raises leaves hooks and .grad like any other"""
    spec, x = small(draw), draw.tensor(4, 3, requires_grad=True)
    calm = student.observe("left", spec, x)["after"]
    for trouble in ("forward", "backward"):
        got = student.observe("left", spec, x, trouble)
        message = (
            "module 1 raised in its {trouble}; after the call there are other hooks than after one"
            " that works"
        )
        same_counts(got["after"], calm, message, x, trouble=trouble)
        message = "module 1 raised in its {trouble}, and gradient_norms returned without an error"
        details = {"inputs": {"module": SMALL, "x": x}, "facts": {"trouble": trouble}}
        assert_that(got["raised"] is not None, message, **details)
    before = grads_before(draw, 1)
    held = list(before.values())
    calm = student.observe("grads_kept", spec, x, held)["grads"]
    kept = [
        calm[name] is None if want is None else same(calm[name], want)
        for name, want in before.items()
    ]
    if not all(kept):
        return  # told by test_norms_leave_parameter_grads
    for trouble in ("forward", "backward"):
        same_grads(student.observe("grads_kept", spec, x, held, trouble), before, x, trouble)
