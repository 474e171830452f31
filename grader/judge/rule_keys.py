"""A lesson's mistakes with their rules, also those whose whole content is in ``diagnosis.toml``:
formulas, texts and facts.

Formulas are compared with what the student's code computes when it is asked again. How it is asked,
a lesson's ``diagnosis.py`` says in a function ``asked_again(failure, student)``, which returns an
``Again``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from grader.core.errors import CourseError, Facts
from grader.core.files import line_with
from grader.course.lesson_texts import MistakeText
from grader.judge.diagnosis import (
    Failure,
    LessonRule,
    Mistake,
    Rule,
    formula_value,
    has_facts,
    mistake_of,
    raises,
    same,
    says,
    value_rule,
)
from grader.judge.function_rules import function_rule
from grader.judge.remote.session import Student
from grader.worker.wire.values import Opaque

ASKED = "asked_again"


@dataclass(frozen=True, slots=True)
class Again:
    """How a student's function is asked again, for the formulas of ``diagnosis.toml``.

    ``names`` are values that a formula may name, such as x, v and s. ``right`` are the right
    formulas, by ``"value"`` and ``"gradient"``; ``ask`` are functions that return what the
    student's code gives for such values. A formula of a gradient must hold ``elsewhere``, too.
    ``facts`` are further facts for the explanation.
    """

    names: Facts
    right: Mapping[str, str]
    ask: Mapping[str, Callable[[Facts], Any]]
    elsewhere: Sequence[Facts] = ()
    facts: Facts = field(default_factory=dict)


def lesson_mistakes(
    texts: Sequence[MistakeText], namespace: Mapping[str, object], names: Sequence[str]
) -> list[Mistake]:
    """Return a lesson's mistakes: those with a rule in the order of ``diagnosis.py``, then the
    others. If ``diagnosis.toml`` has keys that recognize mistakes, its order is that of both files.
    A mistake without ``about`` is about all of ``names``.

    Raise CourseError for a rule without texts, and for rules in another order.
    """
    of = {text.id: text for text in texts}
    rules = {name: one for name, one in namespace.items() if isinstance(one, LessonRule)}
    file = Path(str(namespace.get("__file__", "diagnosis.py")))
    if unknown := [name for name in rules if name not in of]:
        raise CourseError(
            f"{rule_line(file, unknown[0])}: the rule {unknown[0]} has no texts. Add a table"
            f" [{unknown[0]}] to diagnosis.toml, or rename the rule"
        )
    keyed = {
        text.id: rule_of(text, namespace)
        for text in texts
        if text.has_keys and text.id not in rules
    }
    recognized = {**{name: one.recognize for name, one in rules.items()}, **keyed}
    order = [text.id for text in texts if text.id in recognized] if keyed else [*rules]
    for name, placed in zip(rules, (name for name in order if name in rules), strict=True):
        if name != placed:
            raise CourseError(
                f"{rule_line(file, name)}: diagnosis.toml has {placed} where this file has the rule"
                f" {name}. Write them in one order, in which they are tried"
            )
    found = [mistake_of(of[name], recognized[name], names) for name in order]
    return found + [mistake_of(text, None, names) for text in texts if text.id not in recognized]


def rule_line(file: Path, name: str) -> str:
    """Return ``path:line`` of a rule: a function, or what another function made."""
    return line_with(file, f"def {name}(", f"{name} = ")


def rule_of(text: MistakeText, namespace: Mapping[str, object]) -> Rule:
    """Return the rule that a mistake's keys describe: all of them must hold, of ``rule`` and of the
    formulas one. Raise CourseError for an unknown rule, and for formulas without ``asked_again``.
    """
    rules: list[Rule] = []
    if text.raised:
        rules.append(raises(*text.raised, unless=text.unless).recognize)
    if text.says:
        rules.append(says(*text.says).recognize)
    if text.facts:
        rules.append(has_facts(*text.facts).recognize)
    if text.rule:
        rules.append(function_rule(*text.rule))
    asked = namespace.get(ASKED)
    for key in ("value", "gradient"):
        formulas = getattr(text, key)
        if formulas and not callable(asked):
            toml = Path(str(namespace.get("__file__", "diagnosis.py"))).with_name("diagnosis.toml")
            raise CourseError(
                f"{line_with(toml, f'[{text.id}]')}: [{text.id}]: a formula needs a function"
                f" {ASKED} in diagnosis.py"
            )
        if formulas:
            rules.append(formula_rule(key, formulas, asked))  # type: ignore[arg-type]

    def recognize(failure: Failure, student: Student) -> Facts | None:
        if text.in_check and f"test_{text.in_check.removeprefix('test_')}" != failure.check:
            return None
        found: Facts = {}
        for one in rules:
            facts = one(failure, student)
            if facts is None:
                return None
            found |= facts
        return found

    return recognize


def formula_rule(
    key: str, formulas: Sequence[str], asked: Callable[[Failure, Student], Again]
) -> Rule:
    """Return a rule that recognizes a value or a gradient, one of these formulas and not the right
    one. A gradient explains no failure that points to forward.
    """

    def recognize(failure: Failure, student: Student) -> Facts | None:
        if isinstance(failure.expected, Opaque):  # an exception, for which there is no formula
            return None
        if key == "gradient" and failure.points_to("forward"):
            return None
        again = asked(failure, student)
        got = again.ask[key](again.names)
        want = formula_value(again.right[key], **again.names)
        if same(got, want):
            return None
        places = again.elsewhere if key == "gradient" else ()
        for formula in formulas:
            if same(got, formula_value(formula, **again.names)) and all(
                same(again.ask[key](place), formula_value(formula, **place)) for place in places
            ):
                found = {"got": got, "want": want, "formula": formula}
                return {**again.names, **again.facts, **found}
        return None

    return value_rule(recognize).recognize
