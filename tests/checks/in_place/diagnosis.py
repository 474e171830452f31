"""in_place, rules that recognize mistakes by what the student's code does, asked again."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import torch

from grader.authoring import (
    Failure,
    LessonRule,
    Opaque,
    Student,
    StudentCodeError,
    formula,
    methods,
    rule,
    same,
    short_repr,
)

Facts = dict[str, Any]
SAVED = {"input": "x.sin()", "result": "x.exp()"}
OTHER = {"input": "result", "result": "input"}
ORDER = ["input", "result"]
NOT_CALLED: Facts = dict.fromkeys(["leaf", "recorded", "itself", "early", "reached"], False)


# ------------------------------------------------------------------------ saves_input, saves_result


def asked(failure: Failure, student: Student, op: str) -> tuple[Any, Facts]:
    """Return what saves_input, or saves_result, says of an op, and what is seen of its call."""
    x = torch.tensor([0.6, 0.8, 1.5], dtype=torch.float64)
    seen = student.observe("answered", failure.about, formula(op), x, None)
    return seen["answer"], (seen["calls"] or [NOT_CALLED | {"writes": [], "changed": []}])[-1]


def experiment(
    fits: Callable[[Failure, Student, str], bool], *, actual: bool | None = None
) -> LessonRule:
    """Make a rule about a wrong answer, or about the answer ``actual``, that holds if ``fits``."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        which = failure.about.removeprefix("saves_")
        if which not in ORDER or type(failure.actual) is not bool:
            return None
        if actual is not None and failure.actual is not actual:
            return None
        facts = {"name": failure.about, "which": which, "other": OTHER[which]}
        return facts if fits(failure, student, which) else None

    return recognize


def left(what_is: str, itself: bool) -> LessonRule:
    """Make a rule about what of x is not as it was, of an x given to op itself or not."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        what = failure.facts.get("what")
        if not what or what_is not in what or "saves_" not in failure.about:
            return None
        _, call = asked(failure, student, "x * 3")
        fits = call["itself"] is itself
        return {"name": failure.about, "what": what} if fits else None

    return recognize


x_itself_used = left("x", itself=True)
grad_of_x_filled = left("x.grad", itself=False)
memory_shared = left("the values of x", itself=False)


@rule
def message_returned(failure: Failure, student: Student) -> Facts | None:
    got = failure.actual
    if not failure.about.startswith("saves_") or type(failure.expected) is not bool:
        return None
    if type(got) is bool:
        return None
    return {"name": failure.about, "kind": got.type_name if isinstance(got, Opaque) else kind(got)}


def kind(value: Any) -> str:
    return type(value).__name__


def the_write_raises(failure: Failure, student: Student, which: str) -> bool:
    answer, call = asked(failure, student, "x.sum()")
    return answer is True and call["leaf"] and not any(call["writes"]) and not call["reached"]


leaf_written = experiment(the_write_raises, actual=True)


def nothing_recorded(failure: Failure, student: Student, which: str) -> bool:
    _, call = asked(failure, student, "x * 3")
    return call["leaf"] and not call["recorded"]


called_without_recording = experiment(nothing_recorded)


def only_vectors_raise(failure: Failure, student: Student, which: str) -> bool:
    answer, call = asked(failure, student, "x * 3")
    number, _ = asked(failure, student, "x.sum()")
    return answer is True and not call["reached"] and number is False


not_a_scalar = experiment(only_vectors_raise, actual=True)


def always_raises(failure: Failure, student: Student, which: str) -> bool:
    answer, call = asked(failure, student, "x.sum()")
    return answer is True and call["recorded"] and any(call["writes"]) and not call["reached"]


without_its_graph = experiment(always_raises, actual=True)


def missed(fits: Callable[[Facts, int], bool]) -> LessonRule:
    """Make a rule about False for a tensor that is saved: what is seen of op's call is as ``fits``
    says for the tensor at this place, 0 for the input and 1 for the result.
    """

    def check(failure: Failure, student: Student, which: str) -> bool:
        answer, call = asked(failure, student, SAVED[which])
        return answer is False and call["writes"] and fits(call, ORDER.index(which))

    return experiment(check)


data_written = missed(lambda call, k: call["changed"][k] and not call["writes"][k])
written_too_early = missed(lambda call, k: call["early"] and not any(call["writes"]))


def without_a_graph(failure: Failure, student: Student, which: str) -> bool:
    _, call = asked(failure, student, SAVED[which])
    return bool(call["writes"]) and not call["recorded"]


not_recorded = experiment(without_a_graph)
the_other_one_written = missed(lambda call, k: call["writes"][1 - k] and not call["writes"][k])
nothing_written = missed(lambda call, k: call["reached"] and not any(call["writes"]))


def swapped(failure: Failure, student: Student, which: str) -> bool:
    ops = SAVED[which], SAVED[OTHER[which]], "x * 3", "x.prod()"
    return [asked(failure, student, op)[0] for op in ops] == [False, True, True, False]


turned_round = experiment(swapped)
no_graph_counted = experiment(
    lambda failure, student, which: "without_a_graph" in failure.check, actual=True
)


def asks_nodes_of_torch(failure: Failure, student: Student, which: str) -> bool:
    """What torch's own nodes have as _saved_self, and a Function's node has not."""
    code = "".join(map(ast.unparse, methods(student, failure.about)))
    answers = [asked(failure, student, op)[0] for op in ("x.sin().exp()", "x.cube()")]
    return "_saved_" in code and which == "input" and answers == [True, False]


attributes_read = experiment(asks_nodes_of_torch)


def reads_the_last_node(failure: Failure, student: Student, which: str) -> bool:
    _, call = asked(failure, student, SAVED[which])
    return not any(call["writes"]) and "grad_fn" in student.source.text


last_node_only = experiment(reads_the_last_node)
equal_numbers = experiment(
    lambda failure, student, which: "saved_tensors_hooks" in student.source.text, actual=True
)


def gradients_are_equal(failure: Failure, student: Student, which: str) -> bool:
    answer, call = asked(failure, student, "x.abs()")
    sine, _ = asked(failure, student, "x.sin()")
    return answer is False and sine is True and call["reached"] and not any(call["writes"])


gradients_compared = experiment(gradients_are_equal)


# ------------------------------------------------------------------------------------------ watched


def raising(student: Student) -> list[bool]:
    """Return whether a block raises that writes to the first, second or third of three tensors,
    of which the first requires grad, and one that writes to all of them.
    """
    found = []
    for places in ([0], [1], [2], [0, 1, 2]):
        tensors = [torch.ones(2).requires_grad_(), torch.ones(2), torch.ones(2)]
        try:
            student.observe("block", tensors, [[place, "x.add_(1)"] for place in places])
            found.append(False)
        except StudentCodeError:
            found.append(True)
    return found


def never_raising(fits: Callable[[Student], bool]) -> LessonRule:
    """Make a rule about a watched that never raises, and whose text is as ``fits`` says."""

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        if failure.about != "watched" or failure.error or any(raising(student)):
            return None
        return {} if fits(student) else None

    return recognize


def raised_by_watched(check: str) -> LessonRule:
    """Make a rule about a RuntimeError that a raise of the student's file raised in a check, not
    torch.
    """

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        error = failure.error
        if failure.check != check or error is None or not failure.raised("RuntimeError"):
            return None
        lines = [one.lineno for one in student.source.nodes if isinstance(one, ast.Raise)]
        return {} if error.line in lines else None

    return recognize


read_too_early = raised_by_watched("test_only_the_block_counts")


@rule
def exception_returned(failure: Failure, student: Student) -> Facts | None:
    if failure.about != "watched" or failure.error or any(raising(student)):
        return None
    found = (
        node.lineno
        for node in student.source.nodes
        if isinstance(node, ast.Return) and ast.unparse(node).startswith("return RuntimeError")
    )
    return next(({"line": line} for line in found), None)


def reads_after_yield(student: Student) -> bool:
    nodes = student.source.nodes
    lines = [one.lineno for one in nodes if getattr(one, "attr", "") == "_version"]
    waits = [one.lineno for one in nodes if isinstance(one, ast.Yield)]
    return bool(lines and waits) and min(lines) > min(waits)


read_too_late = never_raising(reads_after_yield)
tensors_kept_without_a_copy = never_raising(lambda student: "_version" not in student.source.text)


something_else_counts = raised_by_watched("test_reading_does_not_raise")


@rule
def some_tensors_only(failure: Failure, student: Student) -> Facts | None:
    if failure.about != "watched" or failure.error:
        return None
    *each, _ = raising(student)
    return {} if any(each) and not all(each) else None


@rule
def all_must_change(failure: Failure, student: Student) -> Facts | None:
    if failure.about != "watched" or failure.error:
        return None
    return {} if raising(student) == [False, False, False, True] else None


@rule
def highest_version(failure: Failure, student: Student) -> Facts | None:
    """A write before the block, to another tensor, hides that in the block."""
    missed = failure.check == "test_only_the_block_counts" and not failure.error
    return {} if missed and "max" in student.source.names_used("watched") else None


version_is_not_0 = raised_by_watched("test_a_write_in_the_block_raises")
only_a_warning = never_raising(lambda student: "warn(" in student.source.text)


# ---------------------------------------------------------------------------- repaired, AddOne, row


@rule
def error_silenced(failure: Failure, student: Student) -> Facts | None:
    if failure.about != "repaired" or failure.error or "v" not in failure.inputs:
        return None
    return {} if ".data" in student.source.names_used("repaired") else None


@rule
def mark_dirty_forgotten(failure: Failure, student: Student) -> Facts | None:
    unmarked = "mark_dirty(" not in student.source.text
    return {} if "is not h itself" in failure.message and unmarked else None


@rule
def no_gradient(failure: Failure, student: Student) -> Facts | None:
    here = failure.about == "AddOne" and "gradient" in failure.message and not failure.error
    return {} if here and failure.actual is None else None


def row_holds(more: float, *, from_the_end: bool = False) -> LessonRule:
    """Make a rule about an h that has so much more in every row than it had, for a negative k or
    for another.
    """

    @rule
    def recognize(failure: Failure, student: Student) -> Facts | None:
        h = failure.inputs.get("h")
        if failure.about != "add_one_to_row" or not isinstance(h, torch.Tensor):
            return None
        k = failure.inputs.get("k")
        fits = isinstance(k, int) and (k < 0) is from_the_end
        return {"k": k} if fits and same(failure.actual, h + more) else None

    return recognize


a_copy_of_the_row = row_holds(0)
slice_of_the_row = row_holds(0, from_the_end=True)


@rule
def add_one_left_out(failure: Failure, student: Student) -> Facts | None:
    """Every row has the gradient of h = 2 x alone."""
    v = failure.inputs.get("v")
    if failure.about != "add_one_to_row" or not isinstance(v, torch.Tensor):
        return None
    return {"b": short_repr(failure.facts["b"])} if same(failure.actual, 2 * v) else None


every_row = row_holds(1)
