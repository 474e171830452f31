"""Name the misconception behind a failed check, with the numbers that show it.

A lesson's ``diagnosis.toml`` has the texts of its mistakes, its ``diagnosis.py`` the rules, under
the mistakes' names (``grader/docs/authors.md``). A rule gets the failure and the student, whose
functions it may call again. It returns the facts that its explanation shows, or None if it does not
recognize its mistake. If there is a fact ``line``, the report shows that line; otherwise the return
that ran, if that is known. A rule that raises because of the student's answers recognizes nothing.

``raises``, ``says``, ``has_facts``, ``term_beside_v`` and ``nonlinear_backward`` make rules that
several lessons need. Other functions compute what rules compare: formulas, and gradients.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeGuard

import torch
from torch import Tensor

from grader.core.errors import Facts, MissingName, StudentCodeError, WorkerLost
from grader.core.i18n import Catalogue, Phrase, phrase, placeholders
from grader.core.text import text
from grader.course.lesson_texts import MistakeText
from grader.course.source import Source
from grader.judge.describe import describe
from grader.judge.exception_verdicts import CheckVerdict
from grader.judge.random_inputs import RandomInputs
from grader.judge.remote.proxies import LastCall
from grader.judge.remote.session import NotStarted, Student

MAX_FACT = 5000
"""How many characters of a text are filled in: enough for an exception's message of 4,000, and its
type.
"""
ANOTHER_CALL = "(These numbers are from another call.)"
MAX_MESSAGE = 2000
"""How many characters of an exception's text are searched: some patterns take the square of it."""
Rule = Callable[["Failure", Student], Facts | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure(CheckVerdict):
    """A check that did not pass, as a rule sees it; ``at`` is the definition that it points to, and
    ``call``, the last one, can be repeated. A student's bundle has no reference, but it has the
    lesson's stub.
    """

    check: str
    about: str
    reference: Student
    draw: RandomInputs
    call: LastCall | None = None
    stub: Source = field(default_factory=lambda: Source("", ""))

    def raised(self, *fragments: str) -> bool:
        """Return whether the student's code raised and ``Type: message`` contains each of these."""
        return self.error is not None and all(fragment in str(self.error) for fragment in fragments)

    def points_to(self, method: str) -> bool:
        """Return whether the failure points to the method of this name of a class."""
        return (self.at or "").endswith(f".{method}")


@dataclass(frozen=True, slots=True)
class Mistake:
    """A named misconception. ``about`` has the functions in which it can occur; it must not cost
    points in any other function. Without a rule, it is recognized only by its examples in the
    catalogue.
    """

    id: str
    about: tuple[str, ...]
    title: str
    explanation: str
    rule: Rule | None = None


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """A mistake that was recognized, its explanation (``template``) filled with the evidence.
    ``by`` says how it was recognized; ``line`` is the wrong line, if the rule's facts name one.
    """

    id: str
    title: str
    evidence: str
    template: str
    by: str = "rule"
    line: int | None = None


@dataclass(frozen=True, slots=True)
class LessonRule:
    """A rule of a lesson's ``diagnosis.py``. Its name is the name of the variable that holds it."""

    recognize: Rule


rule = LessonRule


def raises(*fragments: str, unless: Sequence[str] = (), check: str | None = None) -> LessonRule:
    """Return a rule that recognizes an exception whose ``Type: message`` has all fragments and none
    of ``unless``, in every check or in one. The explanation may show ``{said}``, the message.
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        error = failure.error
        if error is None or check not in (None, failure.check) or not failure.raised(*fragments):
            return None
        return None if any(text in str(error) for text in unless) else {"said": error.message}

    return rule(recognize)


def mistake_of(text: MistakeText, recognize: Rule | None, names: Sequence[str] = ()) -> Mistake:
    """Return the mistake of a text, with its rule; without one, its patterns are the rule."""
    if text.patterns and recognize is None:

        def recognize(failure: Failure, student: Student) -> Facts | None:
            return groups_in_error(failure, text.patterns)

    return Mistake(text.id, text.about or tuple(names), text.title, text.explanation, recognize)


def groups_in_error(failure: Failure, patterns: Iterable[str]) -> Facts | None:
    """Return the named groups of the first pattern found in what the student's code raised."""
    if failure.error is None:
        return None
    said = str(failure.error)[:MAX_MESSAGE]
    found = (re.search(pattern, said) for pattern in patterns)
    return next((match.groupdict() for match in found if match), None)


def diagnose(
    mistakes: Sequence[Mistake], failure: Failure, student: Student, tr: Catalogue
) -> tuple[Diagnosis | None, str | None]:
    """Return the first mistake that is recognized, and the traceback of a rule that raised."""
    trouble = None
    sent: set[int] = getattr(student, "sent", set())  # empty if there is only the student's text
    by_check = frozenset(sent)
    for candidate in mistakes:
        if candidate.rule is None or (candidate.about and failure.about not in candidate.about):
            continue
        facts = None
        try:
            facts = candidate.rule(failure, student)
        except (StudentCodeError, WorkerLost, MissingName, NotStarted):
            pass
        except Exception:
            trouble = f"the rule of {candidate.id!r} broke:\n{traceback.format_exc()}"
        new = sent - by_check
        sent -= new
        if facts is not None:
            values = {"expected": failure.expected, "actual": failure.actual, **failure.inputs}
            shown = in_rows(values | in_cells({**failure.facts, **facts}, student.source))
            title = fill_text(candidate.title, shown, tr)
            evidence = fill_text(candidate.explanation, shown, tr)
            told = [facts.get(name) for name in placeholders(candidate.explanation)]
            if new and is_foreign(told, failure):
                evidence = f"{evidence} {tr(ANOTHER_CALL)}"
            line = facts["line"] if isinstance(facts.get("line"), int) else None
            found = Diagnosis(candidate.id, title, evidence, candidate.explanation, line=line)
            return found, trouble
    return None, trouble


def is_foreign(told: Any, failure: Failure) -> bool:
    """Return whether both have numbers, and the failure shows none of those in the facts."""
    shown = [failure.expected, failure.actual, *failure.inputs.values(), *failure.facts.values()]
    here, there = [*numbers_in(shown)], [*numbers_in(told)]
    both = (same(one, other) for one in there for other in here)
    return bool(here and there) and not any(both)


def numbers_in(value: Any) -> Iterator[Tensor]:
    """Yield the tensors in a value, and lists of numbers as tensors."""
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, dict):
        yield from numbers_in([*value.values()])
    elif isinstance(value, list | tuple):
        for one in value:
            yield from numbers_in(one)


def in_cells(facts: Facts, source: Source) -> Facts:
    """Return facts in which a notebook's ``line`` is as people see it: "2 of cell 4"."""
    line = facts.get("line")
    cell, shown = source.in_cell(line) if isinstance(line, int) else (None, line)
    if cell is None:
        return facts
    return {**facts, "line": phrase("{line} of cell {cell}", line=shown, cell=cell)}


MOST_IN_A_SENTENCE = 9


def in_rows(facts: Facts) -> Facts:
    """Return facts in which of a larger matrix one row is left: the first one in which what came
    back is wrong, if a matrix of this shape did.
    """
    at: dict[torch.Size, int] = {}
    for got, want in ((facts.get("got"), facts.get("want")), (facts["actual"], facts["expected"])):
        if is_large(got) and is_large(want) and got.shape == want.shape:
            rows = zip(rows_of(got), rows_of(want), strict=True)
            wrong = (k for k, (one, other) in enumerate(rows) if not same(one, other))
            at.setdefault(got.shape, next(wrong, 0))
    matrices = {name: one for name, one in facts.items() if is_large(one)}
    return facts | {name: row_text(one, at.get(one.shape, 0)) for name, one in matrices.items()}


def is_large(value: Any) -> TypeGuard[Tensor]:
    """Return whether a value is a matrix with more numbers than a sentence should have."""
    return isinstance(value, Tensor) and value.dim() > 1 and value.numel() > MOST_IN_A_SENTENCE


def rows_of(tensor: Tensor) -> Tensor:
    """Return a tensor as a matrix of its rows, in its last dimension."""
    return tensor.detach().reshape(-1, *tensor.shape[-1:])


def row_text(matrix: Tensor, at: int) -> str:
    """Return a row of a matrix, in brackets that say whether it has more."""
    rows = rows_of(matrix)
    ends = "…, " * (at > 0), ", …" * (at + 1 < len(rows))
    return f"[{ends[0]}{text(describe(rows[at]))}{ends[1]}]"


class _Facts(dict[str, str]):
    """Facts for a template; a name without a fact stays as it is."""

    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def fill_text(template: str, facts: Facts, tr: Catalogue) -> str:
    """Translate a template and fill its ``{names}`` with facts (``show_fact``). A sentence that is
    filled in before a full stop loses its own.
    """
    shown = _Facts({name: show_fact(value, tr) for name, value in facts.items()})
    translated = tr(template)
    for name, value in shown.items():
        if f"{{{name}}}." in translated and value.endswith(".") and not value.endswith(".."):
            shown[name] = value[:-1]
    return tr.with_particles(translated.format_map(shown))


def show_fact(value: Any, tr: Catalogue) -> str:
    """Return a fact as text: translated if it is a known text or a phrase, cut if it is long."""
    if isinstance(value, Phrase):
        return fill_text(value.template, value.facts, tr)
    return tr.known(value)[:MAX_FACT] if isinstance(value, str) else text(describe(value))


def same(left: Any, right: Any, *, rtol: float = 1e-5, atol: float = 1e-7) -> bool:
    """Return whether two tensors or numbers agree in shape and values; dtypes may differ."""
    if isinstance(left, int | float) and isinstance(right, int | float):
        return abs(left - right) <= atol + rtol * abs(right)
    if not isinstance(left, Tensor) or not isinstance(right, Tensor) or left.shape != right.shape:
        return False
    wide = torch.complex128 if left.is_complex() or right.is_complex() else torch.float64
    one, other = left.detach().to(wide), right.detach().to(wide)
    return torch.allclose(one, other, rtol=rtol, atol=atol, equal_nan=True)


def differs(left: Any, right: Any) -> bool:
    """Return whether two tensors have one shape and values that clearly differ."""
    return (
        isinstance(left, Tensor)
        and isinstance(right, Tensor)
        and left.shape == right.shape
        and not same(left, right)
    )


Backward = tuple[Tensor, Callable[[Tensor], Facts]]
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
    """Return the value of an author's expression, as ``v * log(x)``, with functions of torch."""
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
        if failure.points_to("forward"):
            return None
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
        if failure.points_to("forward"):
            return None
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
