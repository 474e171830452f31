"""saved_tensors, rules that recognize mistakes by the numbers that come back."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.autograd.graph import saved_tensors_hooks

from grader.authoring import Failure, LessonRule, Student, fetch, formula, rule, same

Facts = dict[str, Any]


def is_a(check: str, failure: Failure) -> bool:
    return failure.check == f"test_{check}"


# -------------------------------------------------------------------------------------- saved_bytes


def counted(way: str) -> LessonRule:
    """Make a rule: the number is that of a wrong way to count."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        facts, got = failure.facts, failure.actual
        return {"got": got, **facts} if got == facts.get(way, ...) != facts["want"] else None

    return recognize


@rule
def everything_counted(failure: Failure, student: Student) -> Facts | None:
    """Storages twice, and leaves: exp's result is saved twice, and x once."""
    if failure.about != "saved_bytes" or failure.error:
        return None
    x = failure.draw.tensor(7).requires_grad_()
    got = student.saved_bytes(formula("x.exp().sin() * x"), x)
    return {"got": got, "want": 112} if got == 224 else None


nothing_is_recorded = counted("nothing")
storage_counted_twice = counted("each")
view_of_a_leaf_counted = counted("views")
leaves_counted = counted("leaves")
parameters_counted = counted("parameters")
own_size_of_a_view = counted("parts")
mask_left_out = counted("masked")
elements_counted = counted("elements")
eight_bytes_each = counted("doubles")
result_counted = counted("result")


@rule
def memory_used_again(failure: Failure, student: Student) -> Facts | None:
    got, want = failure.actual, failure.facts.get("steps", 0) * 16_000
    return {"got": got, "want": want} if isinstance(got, int) and 0 < got < want else None


# ----------------------------------------------------------------------------------------- saved_as


def unpacked(change: Callable[[Tensor], Tensor], check: str) -> LessonRule:
    """Make a rule: the gradient is that for saved tensors that come back changed so."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        if not is_a(check, failure) or not isinstance(failure.actual, Tensor):
            return None
        x, v = failure.inputs["x"].detach().requires_grad_(), failure.inputs["v"]
        parameters = {name: one for name, one in failure.inputs.items() if name == "w"}
        with saved_tensors_hooks(lambda one: one, change):
            y = formula(failure.inputs["f"], **parameters)(x)
        try:
            (found,) = torch.autograd.grad(y, x, v)
        except RuntimeError:  # of dtypes that do not go together
            return None
        return {"got": failure.actual} if same(failure.actual, found, rtol=1e-7) else None

    return recognize


kept_in_full = unpacked(lambda one: one, "activations_in_half_precision")
own_dtype_forgotten = unpacked(lambda one: one.half(), "activations_in_half_precision")


def keeps(low: int, high: int) -> LessonRule:
    """Make a rule: so many bytes are kept for twice 10000 numbers."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        found = failure.facts.get("bytes", 0)
        return {"bytes": found} if low <= found < high else None

    return recognize


rounded_and_wide = keeps(160_000, 160_500)
mask_in_full = keeps(100_000, 100_500)
always_float16 = unpacked(lambda one: one.half().to(one.dtype), "each_dtype_comes_back")


# ------------------------------------------------------------------------------------- checkpointed


def no_graph_where(fits: Callable[[bool, Callable[[str], bool]], bool]) -> LessonRule:
    """Make a rule: what is differentiated has no graph, in the student's code or outside of it;
    ``fits`` also gets a function that says whether the code uses a name with this text.
    """

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        if not is_a("f_runs_again_in_backward", failure):
            return None
        if not failure.error or not failure.raised("does not have a grad_fn"):
            return None
        used = student.source.names_used("checkpointed")

        def uses(text: str) -> bool:
            return any(text in name for name in used)

        return {} if fits(failure.error.line is not None, uses) else None

    return recognize


def switched_on(uses: Callable[[str], bool]) -> bool:
    return uses("enable_grad") or uses("grad_enabled")


no_graph = no_graph_where(lambda inside, uses: not inside)


@rule
def recording_is_off(failure: Failure, student: Student) -> Facts | None:
    """f ran again without recording: torch complains of it, or no gradient comes back."""
    without_graph = failure.raised("does not have a grad_fn")
    nothing = not failure.error and failure.actual is None and "gradient" in failure.message
    if not is_a("f_runs_again_in_backward", failure) or not (without_graph or nothing):
        return None
    x = torch.ones(2, requires_grad=True)
    again = student.observe("modes", x, torch.ones(2))[1:]
    return {} if again and not any(again) else None


inputs_not_leaves = no_graph_where(
    lambda inside, uses: inside and switched_on(uses) and not uses(".requires_grad_")
)


@rule
def gradient_twice(failure: Failure, student: Student) -> Facts | None:
    if not is_a("f_runs_again_in_backward", failure) or "gradient" not in failure.message:
        return None
    return {"got": failure.actual} if same(failure.actual, 2 * failure.expected) else None


@rule
def grad_output_ignored(failure: Failure, student: Student) -> Facts | None:
    if not is_a("f_runs_again_in_backward", failure) or failure.actual is None:
        return None
    x = failure.inputs["x"].detach().requires_grad_()
    (found,) = torch.autograd.grad(formula(failure.inputs["f"])(x).sum(), x)
    return {"v": failure.inputs["v"], "got": found} if same(failure.actual, found) else None


def missing(check: str) -> LessonRule:
    """Make a rule: a leaf has no gradient."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        here = is_a(check, failure) and failure.actual is None and not failure.error
        return {"leaf": failure.facts["leaf"]} if here and "leaf" in failure.facts else None

    return recognize


parameters_left_out = missing("parameters_get_gradients")


@rule
def last_call_wins(failure: Failure, student: Student) -> Facts | None:
    """Of two calls, the first has a wrong gradient, or none."""
    if failure.check not in ("test_nested_calls", "test_calls_apart"):
        return None
    x, y = (student.put(torch.ones(1, requires_grad=True)) for _ in "xy")
    first = student.checkpointed(formula("3 * x"), x)
    student.checkpointed(formula("5 * x"), y)
    first.backward()
    got = fetch(x.grad)
    return None if same(got, torch.tensor([3.0])) else {"got": got}


first_x_only = missing("calls_apart")


@rule
def one_leaf_for_two(failure: Failure, student: Student) -> Facts | None:
    """x is two of xs, and its gradient is doubled."""
    here = is_a("calls_apart", failure) and failure.facts.get("leaf") == "x"
    if not here or not same(failure.actual, 2 * failure.expected):
        return None
    return {"got": failure.actual} if "second call" in failure.message else None
