"""saved_tensors' checks. Those below the line "hidden" are not handed out.

What f(x) saves is known from torch's own hooks, here in the judge. The student's context managers
are entered in the worker, around functions that are drawn here.
"""

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from grader.authoring import (
    RandomInputs,
    Student,
    assert_equal,
    assert_gradient,
    assert_not_used,
    assert_tensor,
    assert_that,
    check,
    fetch,
    formula,
    is_number,
    phrase,
    program,
    same,
    within,
)

BYTES, HALF, AGAIN, FILES = "saved_bytes", "saved_as", "checkpointed", "saved_in"
DTYPES = {torch.float16: "torch.float16", torch.bfloat16: "torch.bfloat16"}
EXACT = {"rtol": 1e-7, "atol": 1e-9}
"""Tolerances that a number rounded to float16 does not stay within."""


def leaf(draw: RandomInputs, *shape: int, **options: Any) -> Tensor:
    """Draw a leaf that requires grad, with all digits, away from 0."""
    return draw.tensor(*shape, low=0.3, high=1.3, digits=None, requires_grad=True, **options)


def copied(x: Tensor) -> Tensor:
    return x.detach().clone().requires_grad_(x.requires_grad)


# -------------------------------------------------------------------------------------- saved_bytes


def place(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def once(tensors: list[Tensor]) -> int:
    """Return the bytes of the storages of tensors, each counted once."""
    return sum({place(one): one.untyped_storage().nbytes() for one in tensors}.values())


def counts(f: Any, x: Tensor) -> dict[str, int]:
    """Return how many bytes f(x) keeps, and what people count instead."""
    saved: list[Tensor] = []
    with saved_tensors_hooks(lambda one: saved.append(one) or one, lambda one: one):
        result = f(x)
    leaves = [x, *f.parameters]
    places = {place(one) for one in leaves}
    own = [one for one in saved if place(one) not in places]
    parts = {one.data_ptr(): one for one in own}.values()
    return {
        "want": once(own),
        "each": sum(one.untyped_storage().nbytes() for one in own),
        "leaves": once(saved),
        "all": sum(one.untyped_storage().nbytes() for one in saved),
        "parameters": once([one for one in saved if place(one) != place(x)]),
        "views": once([one for one in saved if not any(one is leaf for leaf in leaves)]),
        "parts": sum(one.numel() * one.element_size() for one in parts),
        "masked": once([one for one in own if not one.is_leaf]),
        "elements": once(own) // x.element_size(),
        "doubles": once(own) // x.element_size() * 8,
        "result": once([*own, result]),
        "nothing": 0,
    }


def assert_counts(
    student: Student, draw: RandomInputs, text: str, x: Tensor, says: str = "", **w: Tensor
) -> None:
    """Require saved_bytes(f, x) for the f that a text says, with parameters. No number in it is
    saved: whether the number of 2 * x counts is left open.
    """
    a, b = draw.coefficients(2, low=0.4, high=0.9)
    text = text.format(a=a, b=b)
    f = formula(text, **w)
    found = counts(f, x)
    draw.given(f=text.replace(".dropout(0.5)", ".dropout(p=0.5)"), x=x, **w)
    got = student.saved_bytes(f, x)
    assert_that(
        is_number(got) and got == found["want"],
        says or "saved_bytes(f, x) is not the number of bytes that the graph keeps",
        actual=got,
        expected=found["want"],
        facts=found,
    )


@check(points=0.75, about=BYTES)
def test_two_results_are_kept(student: Student, draw: RandomInputs) -> None:
    """exp and tanh each keep their result"""
    x = leaf(draw, draw.integer(5, 9))
    assert_counts(student, draw, "(x + {a}).exp().tanh() + {b}", x)


KEPT = test_two_results_are_kept


@check(points=0.5, about=BYTES, needs=KEPT)
def test_a_storage_counts_once(student: Student, draw: RandomInputs) -> None:
    """a storage that is saved twice counts once"""
    x = leaf(draw, draw.integer(3, 5), draw.integer(6, 9))
    assert_counts(student, draw, "(x + {a}).exp().sin()", x)
    assert_counts(student, draw, "(x + {a}).exp().t().sin()", x)


@check(points=0.5, about=BYTES, needs=KEPT)
def test_leaves_do_not_count(student: Student, draw: RandomInputs) -> None:
    """x and parameters inside f do not count"""
    n = draw.integer(5, 9)
    x, w = leaf(draw, n), leaf(draw, n)
    assert_counts(student, draw, "x.sin() + {a}", x)
    assert_counts(student, draw, "x * w + {a}", x, w=w)
    assert_counts(student, draw, "(x * w).tanh()", x, w=w)


# ----------------------------------------------------------------------------------------- saved_as


def rounding(dtype: torch.dtype) -> saved_tensors_hooks:
    """Return hooks that give back what saved_as keeps in dtype."""

    def unpack(one: Tensor) -> Tensor:
        exact = (one.is_leaf and one.requires_grad) or not one.is_floating_point()
        return one if exact else one.to(dtype).to(one.dtype)

    return saved_tensors_hooks(lambda one: one, unpack)


def run_within(manager: Any, text: str, put: Any, tensors: dict[str, Tensor], v: Tensor) -> dict:
    """Return what f(x) is within a context manager, and then the gradients at f's tensors. ``put``
    makes the tensors that f gets of those that are given.
    """
    own = {name: put(one) for name, one in tensors.items()}
    y = within(manager, formula(text, **dict(list(own.items())[1:])), own["x"])
    y.backward(v)
    return {"y": y, **{name: one.grad for name, one in own.items()}}


def assert_rounded(
    student: Student,
    draw: RandomInputs,
    text: str,
    dtype: torch.dtype,
    says: str = "the gradient at {leaf} is not that for activations in {dtype}",
    **tensors: Tensor,
) -> None:
    """Require the exact value of f(x), and the gradients for activations in dtype."""
    text, shown = drawn(draw, text), DTYPES[dtype]
    f = formula(text, **dict(list(tensors.items())[1:]))
    exact = f(tensors["x"]).detach()
    v = draw.tensor(*exact.shape, dtype=exact.dtype)
    draw.given(f=text, **tensors, v=v, dtype=shown)
    want = run_within(rounding(dtype), text, copied, tensors, v)
    got = fetch(run_within((student.saved_as, dtype), text, student.put, tensors, v))
    exact_enough = tensors["x"].dtype == torch.float64
    near = EXACT if exact_enough else {"rtol": 1e-5, "atol": 1e-6}
    assert_tensor(got["y"], exact, "f(x) has another value inside of the with block", **near)
    for name, one in tensors.items():
        if one.requires_grad:
            facts = {"leaf": name, "dtype": shown}
            assert_gradient(got[name], want[name], says, facts=facts, **near)


ACTIVATIONS = "({a} * x).sin().exp().tanh() * {b}"
PRODUCT = "({a} * x).sin() @ ({b} * x).exp()"
"""It raises in backward if its two factors come back in different dtypes."""


def drawn(draw: RandomInputs, text: str) -> str:
    a, b = draw.coefficients(2, low=0.4, high=0.9)
    return text.format(a=a, b=b)


@check(points=0.75, about=HALF)
def test_activations_in_half_precision(student: Student, draw: RandomInputs) -> None:
    """backward uses activations in float16"""
    assert_rounded(student, draw, ACTIVATIONS, torch.float16, x=leaf(draw, 4))


ROUNDED = test_activations_in_half_precision


@check(points=0.5, about=HALF, needs=ROUNDED)
def test_leaves_stay_exact(student: Student, draw: RandomInputs) -> None:
    """leaves that require grad keep all digits"""
    x, w = leaf(draw, 4), leaf(draw, 4)
    says = "the gradient at {leaf} lacks digits: a leaf was rounded to {dtype}"
    assert_rounded(student, draw, "x * w * {a}", torch.float16, says, x=x, w=w)


@check(points=0.5, about=HALF, needs=ROUNDED)
def test_only_inside_of_the_block(student: Student, draw: RandomInputs) -> None:
    """a graph built after the block is exact"""
    assert_rounded(student, draw, ACTIVATIONS, torch.float16, x=leaf(draw, 4))
    text, x, v = drawn(draw, ACTIVATIONS), leaf(draw, 4), draw.tensor(4)
    draw.given(f=text, x=x, v=v)
    f = formula(text)
    (want,) = torch.autograd.grad(f(x), x, v)
    for raises in (False, True):
        which = phrase("a with block that raised") if raises else phrase("a with block")
        got = student.observe("after_a_block", torch.float16, f, x, v, raises)
        says = "the gradient of f(x), computed after {which}, is wrong"
        assert_gradient(got, want, says, facts={"which": which, "raises": raises}, **EXACT)


# ------------------------------------------------------------------------------------- checkpointed


def differentiated(f: Any, call: Any, xs: list[Any], v: Tensor, leaves: Mapping[str, Any]) -> dict:
    """Return the value of a call of f with xs, and what backward leaves in .grad of leaves."""
    y = call(f, *xs)
    y.backward(v)
    return {"y": y, **{name: one.grad for name, one in leaves.items()}}


def assert_recomputed(
    student: Student,
    draw: RandomInputs,
    text: str,
    xs: dict[str, Tensor],
    says: str = "the gradient at {leaf} is wrong",
    **parameters: Tensor,
) -> None:
    """Require value and gradients of checkpointed(f, *xs), for the f that a text says."""
    text = drawn(draw, text)
    leaves, v = {**xs, **parameters}, draw.tensor(len(next(iter(xs.values()))))
    own = {
        name: one.detach().clone().requires_grad_(one.requires_grad) for name, one in leaves.items()
    }
    there = {name: student.put(one) for name, one in leaves.items()}
    sides = []
    for tensors, call in ((own, lambda f, *xs: f(*xs)), (there, student.checkpointed)):
        f = formula(text, " ".join(xs), **{name: tensors[name] for name in parameters})
        sides.append(differentiated(f, call, [tensors[name] for name in xs], v, tensors))
    draw.given(f=text, **leaves, v=v)
    want, got = sides[0], fetch(sides[1])
    assert_tensor(got["y"], want["y"].detach(), "checkpointed(f, *xs) is not f(*xs)")
    for name, one in leaves.items():
        if one.requires_grad:
            assert_gradient(got[name], want[name], says, facts={"leaf": name})
        else:
            message = "{leaf} does not require grad and has a gradient afterwards"
            assert_equal(got[name], None, message, facts={"leaf": name})


@check(points=1, about=AGAIN)
def test_f_runs_again_in_backward(student: Student, draw: RandomInputs) -> None:
    """backward runs f again; nothing in f is kept"""
    assert_recomputed(student, draw, "({a} * x).sin() * x.exp() * {b}", {"x": leaf(draw, 4)})
    banned = ["torch.utils.checkpoint", "checkpoint_sequential"]
    message = "line {line} uses {used}; write checkpointed yourself"
    x, v = leaf(draw, 4), draw.tensor(4)
    h = 2 * x
    (want,) = torch.autograd.grad(h.sin() * h, x, v)
    draw.given(f="(2 * x).sin() * (2 * x)", x=x, v=v)
    seen = student.observe("recomputed", x, v, 1)
    assert_not_used(student, [AGAIN], banned, message)
    message = "{tool} called f; write checkpointed yourself"
    assert_that(not seen["tool"], message, facts={"tool": seen["tool"]})
    assert_gradient(seen["gradients"][0], want, "the gradient at x is wrong")
    message = "f's intermediate result 2 * x is still in memory after the call"
    assert_that(not seen["alive"], message, facts={"alive": seen["alive"]})
    before, after = seen["runs"]
    assert_that(before < after, "backward did not run f again")
    c, d = draw.tensor(4), draw.tensor(4)
    draw.given(f="(x + c).sin(), and in backward (x + d).sin()", x=x, c=c, d=d, v=v)
    got = student.observe("another_run", x.detach().requires_grad_(), c, d, v)
    message = "the gradient at x is not that of f as it runs in backward"
    assert_gradient(got, (x.detach() + d).cos() * v, message)


RUNS = test_f_runs_again_in_backward


@check(points=0.75, about=AGAIN, needs=RUNS)
def test_parameters_get_gradients(student: Student, draw: RandomInputs) -> None:
    """parameters inside f get their gradients"""
    assert_recomputed(
        student, draw, "(w * x).sin() * (u + x).exp()", {"x": leaf(draw, 4)},
        w=leaf(draw, 4), u=leaf(draw, 4),
    )  # fmt: skip


def assert_one_mask(student: Student, draw: RandomInputs, x: Tensor) -> None:
    """Require of f(x) = dropout(a * x) that backward uses the elements that are left in y."""
    v, (a,) = draw.tensor(len(x)), draw.coefficients(1)
    draw.given(f=f"dropout({a} * x, p=0.5)", x=x, v=v)
    there = student.put(x)
    y = student.checkpointed(formula(f"({a} * x).dropout(0.5)"), there)
    y.backward(v)
    y, got = fetch(y, there.grad)
    factor = y.detach() / x.detach() / a
    right = ((factor - 1).abs() - 1).abs() < 1e-9
    message = "checkpointed(f, x) is not f(x): each element is 0 or doubled"
    assert_that(bool(right.all()), message, actual=y.detach())
    message = "dropout left other elements in backward than in y"
    assert_gradient(got, factor.round() * a * v, message, facts={"y": y.detach()})


@check(points=0.5, about=AGAIN, needs=RUNS)
def test_the_same_random_numbers(student: Student, draw: RandomInputs) -> None:
    """f draws the same random numbers in backward"""
    for _ in range(2):  # the second mask is not that of a seed
        assert_one_mask(student, draw, leaf(draw, 40))


# hidden


# -------------------------------------------------------------------------------------- saved_bytes


@check(points=0.3, about=BYTES, needs=test_a_storage_counts_once)
def test_a_slice_keeps_the_whole_storage(student: Student, draw: RandomInputs) -> None:
    """a saved slice counts with its whole storage"""
    x = leaf(draw, draw.integer(3, 5), draw.integer(6, 9))
    assert_counts(student, draw, "(x + {a})[1].sin()", x)
    assert_counts(student, draw, "(x + {a}).exp()[1].sin()", x)
    assert_counts(student, draw, "(x + {a}).sum().expand(50).sin()", x)


@check(points=0.2, about=BYTES, needs=KEPT)
def test_bytes_of_each_dtype(student: Student, draw: RandomInputs) -> None:
    """an element of float32 has 4 bytes"""
    x = leaf(draw, draw.integer(5, 9), dtype=torch.float32)
    assert_counts(student, draw, "(x + {a}).exp().tanh() + {b}", x)


@check(points=0.25, about=BYTES, needs=test_leaves_do_not_count)
def test_views_of_leaves_do_not_count(student: Student, draw: RandomInputs) -> None:
    """a view of a leaf, such as w.t(), does not count"""
    rows, columns = draw.integer(3, 5), draw.integer(6, 9)
    x, w = leaf(draw, rows, columns), leaf(draw, rows, columns)
    assert_counts(student, draw, "(x @ w.t()).tanh()", x, w=w)
    assert_counts(student, draw, "x[1].sin() + {a}", x)


@check(points=0.25, about=BYTES, needs=KEPT)
def test_masks_count(student: Student, draw: RandomInputs) -> None:
    """dropout's mask counts, although it requires no grad"""
    x = leaf(draw, draw.integer(5, 9))
    assert_counts(student, draw, "(x + {a}).exp().dropout(0.5)", x)


@check(points=0.25, about=BYTES, needs=KEPT)
def test_nothing_is_left_behind(student: Student, draw: RandomInputs) -> None:
    """long graphs count, and x is as before"""
    assert_counts(student, draw, "(x + {a}).exp().tanh().sigmoid() + {b}", leaf(draw, 6))
    steps, x, held = draw.integer(150, 160), leaf(draw, 2000), draw.tensor(2000)
    (slope,) = torch.autograd.grad(x.tanh().sum(), x)
    draw.given(f=f"x.tanh() {steps} times over", x=x)
    seen = student.observe("long_run", x.detach().requires_grad_(), steps, held)
    message = "saved_bytes(f, x) is not the number of bytes that the graph keeps"
    want, facts = steps * 16_000, {"steps": steps}
    assert_that(seen["found"] == want, message, actual=seen["found"], expected=want, facts=facts)
    assert_tensor(seen["grad"], held, "x.grad is no longer what it was before the call")
    assert_that(seen["requires_grad"], "x.requires_grad is False after the call")
    message = "a gradient that is computed after the call is wrong: hooks are left behind"
    assert_gradient(seen["slope"], slope, message)


# ----------------------------------------------------------------------------------------- saved_as


@check(points=0.5, about=HALF, needs=ROUNDED)
def test_kept_in_half_precision(student: Student, draw: RandomInputs) -> None:
    """the graph keeps no activation in full precision"""
    assert_rounded(student, draw, ACTIVATIONS, torch.float16, x=leaf(draw, 4))
    x = leaf(draw, 10_000)
    draw.given(f="dropout((2 * x).sin(), p=0.5)", x=x)
    seen = student.observe("kept_inside", torch.float16, x)
    message = "2 * x is saved, and its float64 memory is still in use after the block"
    assert_that(not seen["in_full"], message)
    message = "the graph keeps {bytes} bytes for 2 * x and the mask, which have 40000 in float16"
    assert_that(seen["bytes"] <= 48_000, message, facts={"bytes": seen["bytes"]})


@check(points=0.25, about=HALF, needs=ROUNDED)
def test_each_dtype_comes_back(student: Student, draw: RandomInputs) -> None:
    """float32 comes back as float32, and bfloat16 works"""
    for own, dtype in ((torch.float32, torch.float16), (torch.float64, torch.bfloat16)):
        assert_rounded(student, draw, PRODUCT, dtype, x=leaf(draw, 3, 3, dtype=own))
    x, w = leaf(draw, 3, 3, dtype=torch.float32), leaf(draw, 3, 3)
    assert_rounded(student, draw, f"({PRODUCT} + w).tanh()", torch.float16, x=x, w=w)


@check(points=0.25, about=HALF, needs=ROUNDED)
def test_indices_stay(student: Student, draw: RandomInputs) -> None:
    """indices that are saved stay whole numbers"""
    places = torch.tensor(draw.sample(range(2049, 2999, 2), 4))
    says = "the gradient at {leaf} is wrong, where f takes elements by their indices"
    text, x = "(x * {a}).exp()[i]", leaf(draw, 3000)
    assert_rounded(student, draw, text, torch.float16, says, x=x, i=places)


@check(points=0.25, about=HALF, needs=test_each_dtype_comes_back)
def test_two_blocks_apart(student: Student, draw: RandomInputs) -> None:
    """two blocks of two dtypes do not affect each other"""
    text, x, v = drawn(draw, PRODUCT), leaf(draw, 3, 3), draw.tensor(3, 3)
    cases = [(x, torch.float16), (x.detach().float().requires_grad_(), torch.bfloat16)]
    draw.given(f=text, x=x, v=v)
    want = [run_within(rounding(to), text, copied, {"x": x}, v.to(x.dtype))["x"] for x, to in cases]
    managers = [student.saved_as(dtype) for _, dtype in cases]
    there = [student.put(one) for one, _ in cases]
    f = formula(text)
    results = [within(one, f, at) for one, at in zip(managers, there, strict=True)]
    for y, right in zip(results, want, strict=True):
        y.backward(v.to(right.dtype))
    got = fetch([one.grad for one in there])
    says = "of two blocks, in float16 and in bfloat16, one gives a wrong gradient at x"
    for one, right in zip(got, want, strict=True):
        assert_gradient(one, right, says, rtol=1e-5, atol=1e-6)


# ------------------------------------------------------------------------------------- checkpointed


@check(points=0.25, about=AGAIN, needs=RUNS)
def test_graph_before_is_walked_once(student: Student, draw: RandomInputs) -> None:
    """xs may be results of other operations"""
    p, v = leaf(draw, 4), draw.tensor(4)
    text = drawn(draw, "({a} * h).sin() * h")
    draw.given(p=p, h="p.exp()", f=text, y="checkpointed(f, h) + h.sin()", v=v)
    f = formula(text, "h")
    h = p.exp()
    (want,) = torch.autograd.grad(f(h) + h.sin(), p, v)
    there = student.put(p)
    h = there.exp()
    y = student.checkpointed(f, h) + h.sin()
    y.backward(v)
    assert_gradient(fetch(there.grad), want, "the gradient at p is wrong")


@check(points=0.25, about=AGAIN, needs=test_parameters_get_gradients)
def test_only_parameters_require_grad(student: Student, draw: RandomInputs) -> None:
    """parameters get gradients even if no x requires grad"""
    x = draw.tensor(4)
    assert_recomputed(student, draw, "(w * x).sin() * {a}", {"x": x}, w=leaf(draw, 4))


@check(points=0.5, about=AGAIN, needs=test_parameters_get_gradients)
def test_nested_calls(student: Student, draw: RandomInputs) -> None:
    """f may call checkpointed itself"""
    texts = drawn(draw, "(w * x).sin() + {a} * x"), drawn(draw, "({b} * x).exp() * w")
    x, w, v = leaf(draw, 4), leaf(draw, 4), draw.tensor(4)
    assert_recomputed(student, draw, texts[0], {"x": x}, w=w)
    inner, outer = (formula(text, w=w) for text in texts)
    leaves = [x.detach().clone().requires_grad_(), w]
    y = outer(inner(leaves[0]))
    want = torch.autograd.grad(y, leaves, v)
    f = f"{texts[1]} of checkpointed(g, x)"
    draw.given(g=texts[0], f=f, x=x, w=w, v=v)
    value, got = student.observe("nested", inner, outer, x, [w], v)
    assert_tensor(value, y.detach(), "checkpointed(f, x) is not f(x), where f calls checkpointed")
    for name, one, right in zip("xw", got, want, strict=True):
        message = "the gradient at {leaf} is wrong, where f calls checkpointed"
        assert_gradient(one, right, message, facts={"leaf": name})


@check(points=0.25, about=AGAIN, needs=test_the_same_random_numbers)
def test_random_numbers_of_the_caller(student: Student, draw: RandomInputs) -> None:
    """the caller's random numbers are those without checkpointed"""
    assert_one_mask(student, draw, leaf(draw, 40))
    x, v, seed = leaf(draw, 5), draw.tensor(5), draw.integer(1, 10_000)
    draw.given(f="dropout(x, p=0.5)", x=x, v=v, seed=seed)
    f = program(lambda x: x.dropout(0.5))
    plain, seen = student.observe("random_numbers", f, x, v, seed)
    message = "torch.rand(3) {when} gives other numbers than without checkpointed"
    times = phrase("after the call"), phrase("after backward")
    for want, got, when in zip(plain, seen, times, strict=True):
        assert_that(same(got, want), message, actual=got, expected=want, facts={"when": when})


@check(points=0.25, about=AGAIN, needs=RUNS)
def test_calls_apart(student: Student, draw: RandomInputs) -> None:
    """two calls and several xs do not affect each other"""
    x, z, c, v = leaf(draw, 4), leaf(draw, 4), draw.tensor(4), draw.tensor(4)
    assert_recomputed(student, draw, "(x * z).sin() * (z + c).exp()", {"x": x, "z": z, "c": c})
    first, second = formula("(x * z).sin() * x", "x z"), formula(f"x.exp() * {0.7}")
    draw.given(y="checkpointed(f, x, x) with f(x, z) = (x * z).sin() * x", x=x, z=z, v=v)
    want = torch.autograd.grad([first(x, x), second(z)], [x, z], [v, v])
    there, other = student.put(x), student.put(z)
    y = student.checkpointed(first, there, there)
    more = student.checkpointed(second, other)
    y.backward(v)
    more.backward(v)
    got = fetch([there.grad, other.grad])
    message = "the gradient at {leaf} is wrong after a second call, for another f and z"
    for name, one, right in zip("xz", got, want, strict=True):
        assert_gradient(one, right, message, facts={"leaf": name})
    with torch.no_grad():
        y = student.checkpointed(second, other)
    assert_that(not fetch(y.requires_grad), "checkpointed(f, x) has a graph under no_grad()")


@check(points=0.25, about=AGAIN, needs=RUNS)
def test_each_backward_runs_f_once(student: Student, draw: RandomInputs) -> None:
    """each backward runs f once more"""
    assert_recomputed(student, draw, "(({a} * x).sin() * x).exp()", {"x": leaf(draw, 4)})
    x, v = leaf(draw, 4), draw.tensor(4)
    h = 2 * x
    (want,) = torch.autograd.grad(h.sin() * h, x, v)
    draw.given(f="(2 * x).sin() * (2 * x)", x=x, v=v)
    seen = student.observe("recomputed", x, v, 2)
    message = "after the call, a backward, and a second one, f has run {runs} times"
    facts = {"runs": ", ".join(map(str, seen["runs"]))}
    assert_equal(seen["runs"], [1, 2, 3], message, facts=facts)
    message = "two backward passes with retain_graph=True add a wrong gradient"
    assert_gradient(seen["gradients"][1], 2 * want, message)


# ----------------------------------------------------------------------------------------- saved_in


def seen_in_files(student: Student, draw: RandomInputs, beside: bool = False) -> dict[str, Any]:
    """Return what is seen of saved_in, whose gradient is right; or of a second block ``beside``."""
    x, v, order = leaf(draw, 50), draw.tensor(50), torch.tensor(draw.sample(range(50), 50))
    draw.given(f="x * (2 * x)[i].sin().tanh()", x=x, i=order, v=v)
    (want,) = torch.autograd.grad(x * (2 * x)[order].sin().tanh(), x, v)
    seen = student.observe("in_files", x.detach().requires_grad_(), order, v, beside)
    for passes, got in enumerate(seen["gradients"], 1):
        message = "the gradient after {passes} backward passes is wrong"
        if beside:
            message = "with a second block in the same folder, the gradient of the first is wrong"
        assert_gradient(got, passes * want, message, facts={"passes": passes}, **EXACT)
    return seen


@check(points=0.5, about=FILES, bonus=True)
def test_kept_in_files(student: Student, draw: RandomInputs) -> None:
    """the graph's tensors are in files, not in memory"""
    seen = seen_in_files(student, draw)
    message = "{alive} is saved, and its memory is still in use after the block"
    assert_that(not seen["alive"], message, facts={"alive": seen["alive"]})
    size = seen["sizes"][0]
    message = "the folder holds {size} bytes of files, and the saved tensors have at least 800"
    assert_that(size >= 800, message, facts={"size": size})
    x, v = leaf(draw, 50), draw.tensor(50)
    draw.given(f="(2 * x).sin()", x=x, v=v)
    got = student.observe("in_emptied_files", x.detach().requires_grad_(), v)
    right = got is not None and same(got, 2 * (2 * x.detach()).cos() * v)
    assert_that(not right, "backward is right even if the files in the folder hold only zeros")


@check(points=0.5, about=FILES, bonus=True, needs=test_kept_in_files)
def test_files_go_with_the_graph(student: Student, draw: RandomInputs) -> None:
    """each graph has its own files, which go with it"""
    seen = seen_in_files(student, draw)
    message = "{left} files are left although the graph is gone"
    assert_that(not seen["left"], message, facts={"left": seen["left"]})
    seen_in_files(student, draw, beside=True)
