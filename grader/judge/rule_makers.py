"""Make rules that several lessons need: for a check's message or fact, for a nonlinear backward.

Also compute what such rules compare: formulas, and a function's gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor

from grader.core.errors import MissingName
from grader.judge.diagnosis import Failure, LessonRule, Rule, differs, rule, same
from grader.judge.remote.session import Student

Facts = dict[str, Any]
Backward = tuple[Tensor, Callable[[Tensor], dict[str, Any]]]
"""An incoming gradient v, and a function that returns a backward's gradients for any incoming
gradient, by the names of the inputs.
"""


def value_rule(recognize: Rule) -> LessonRule:
    """Turn a function into a rule that is skipped if the student's code raised."""
    return rule(lambda failure, student: None if failure.error else recognize(failure, student))


def says(*fragments: str, **facts: Any) -> LessonRule:
    """Return a rule that recognizes a failure whose message contains all fragments, and whose facts
    include these. Placeholders in the message are not filled.
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        matches = all(fragment in failure.message for fragment in fragments)
        return {} if matches and facts.items() <= failure.facts.items() else None

    return rule(recognize)


def has_facts(*names: str, **values: Any) -> LessonRule:
    """Return a rule that recognizes a failure by its facts: these names, and these values."""

    def recognize(failure: Failure, student: Student) -> Facts | None:
        named = set(names) <= failure.facts.keys()
        return {} if named and values.items() <= failure.facts.items() else None

    return rule(recognize)


def formula_value(formula: str, **values: Any) -> Any:
    """Return the value of an expression such as ``v * x ** q * log(x)``, with functions of torch.

    The text is the author's, never a student's.
    """
    return eval(formula, {**vars(torch), **values})


def is_function_class(student: Student, name: str) -> bool:
    """Return whether the student's class of this name derives from torch.autograd.Function."""
    cls = getattr(student, name)
    try:
        return cls._backward_cls is not None
    except MissingName:
        return False


def value_and_gradients(
    function: Callable[..., Any], inputs: Sequence[Tensor], v: Tensor
) -> tuple[Any, tuple[Tensor | None, ...]]:
    """Return what a function returns for copies of the inputs, and their gradients for the incoming
    gradient ``v``. All gradients are None if the result is not a tensor of ``v``'s shape that
    requires grad.
    """
    leaves = [one.detach().clone().requires_grad_() for one in inputs]
    result = function(*leaves)
    if not isinstance(result, Tensor) or not result.requires_grad or result.shape != v.shape:
        return result, (None,) * len(leaves)
    incoming = v.detach().clone().to(result.dtype)
    return result, torch.autograd.grad(result, leaves, incoming, allow_unused=True)


def term_beside_v(backward_of: Callable[[Failure, Student], Backward]) -> LessonRule:
    """Return a rule for a backward that adds something to the product with the incoming gradient.

    The facts are ``which`` input's gradient is wrong, and the ``rest``: that gradient for v = 0.
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        v, backward = backward_of(failure, student)
        at_zero, once, twice = (backward(factor * v) for factor in (0, 1, 2))
        for which, rest in at_zero.items():
            one, two = once[which], twice[which]
            found = all(isinstance(t, Tensor) and t.isfinite().all() for t in (rest, one, two))
            if found and rest.any() and differs(one, rest) and same(two - one, one - rest):
                return {"which": which, "rest": rest}
        return None

    return value_rule(recognize)


def nonlinear_backward(backward_of: Callable[[Failure, Student], Backward]) -> LessonRule:
    """Return a rule for a backward that uses the incoming gradient v, but not linearly.

    The facts are ``which`` input's gradient is wrong; ``v`` and ``got``, the gradient for it;
    ``factor`` and ``again``, the gradient for ``factor * v``; and ``want``, which is
    ``factor * got``.
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        v, backward = backward_of(failure, student)
        once, small = backward(v), backward(-0.01 * v)
        for factor in (-1.0, 2.0, 100.0, 1e6):
            for which, again in backward(factor * v).items():
                got = once[which]
                if not isinstance(got, Tensor) or same(got, small[which]):
                    continue  # v has no part in it
                if differs(again, factor * got):
                    shown = {"which": which, "v": v, "got": got, "again": again}
                    return {**shown, "factor": factor, "want": factor * got}
        return None

    return value_rule(recognize)
