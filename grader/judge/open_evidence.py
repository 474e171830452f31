"""Say about a hidden check's failure what betrays neither its inputs nor its expected values.

Texts without placeholders stay: a message, or a mistake's explanation. What came back is compared
with the expected value by properties alone.
"""

from __future__ import annotations

import ast
import builtins
import math
import re
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor

from grader.core.i18n import Phrase, phrase, placeholders
from grader.core.report import Outcome
from grader.course.source import DEFINING, Source
from grader.judge.checks import TOLERANCES, type_name
from grader.judge.common_mistakes import FACTORS
from grader.judge.describe import dtype_name
from grader.judge.diagnosis import Diagnosis
from grader.judge.exception_verdicts import CheckVerdict
from grader.worker.wire.values import Opaque

OPEN_FACTS = frozenset(
    "causes count digits dtype function given kinds line method name near printed shape total type"
    " wanted what".split()
)
"""The facts of the engine's own rules that are no values."""
METHOD = re.compile(r"\.(?:apply|forward|backward)$")
"""What may follow a class's name in a fact that is no value."""
PLAIN = (bool, int, float, str, list, tuple, set, dict, Tensor)


def open_evidence(diagnosis: Diagnosis) -> str | None:
    """Return a mistake's explanation if it shows no value."""
    known = OPEN_FACTS if diagnosis.by == "engine" else frozenset()
    return diagnosis.evidence if placeholders(diagnosis.template) <= known else None


def open_message(verdict: CheckVerdict, source: Source, about: str) -> Phrase | None:
    """Return a message without values: the check's, if it shows nothing but names of the student's
    file, and how what came back differs. Of a constant, any difference could tell its value.
    """
    names = {one.arg for one in source.nodes if isinstance(one, ast.arg)} | set(source.definitions)
    texts = ((key, fact) for key, fact in verdict.facts.items() if isinstance(fact, str))
    known = {key: fact for key, fact in texts if fact in names or METHOD.sub("", fact) in names}
    message = verdict.message
    fixed = phrase(message, **known) if placeholders(message) <= known.keys() and message else None
    callable = isinstance(source.definitions.get(about), DEFINING)
    found: Phrase | None = None
    if verdict.outcome is Outcome.ERROR:
        found = _raised(verdict)
    elif callable and not (fixed and verdict.actual is None):  # the message says so then
        found = next(difference(verdict.actual, verdict.expected, drawn=bool(verdict.inputs)), None)
    if fixed and found:
        return phrase("{message}: {difference}", message=fixed, difference=found)
    return fixed or found


def _raised(verdict: CheckVerdict) -> Phrase | None:
    """Return the class of an exception of Python; a student's own class may have any name."""
    name = verdict.error.type_name if verdict.error else ""
    known = isinstance(kind := getattr(builtins, name, None), type) and issubclass(
        kind, BaseException
    )
    return phrase("your code raised {type}", type=name) if known else None


def difference(actual: Any, expected: Any, *, drawn: bool) -> Iterator[Phrase]:
    """Yield how two values differ, the plainest property first. Without ``drawn`` inputs, the
    student could compute the expected value from the result and a factor.
    """
    if expected is None or isinstance(expected, Opaque):
        return
    if actual is None:
        yield phrase("None came back")
    elif isinstance(actual, Tensor) and isinstance(expected, Tensor):
        yield from _of_tensors(actual.detach(), expected.detach(), drawn=drawn)
    elif type(actual) is not type(expected):
        if isinstance(actual, PLAIN) and isinstance(expected, PLAIN):
            names = {"type": type_name(actual), "wanted": type_name(expected)}
            yield phrase("the type is {type}, expected {wanted}", **names)
    elif isinstance(actual, float):
        one, other = (torch.tensor([value], dtype=torch.float64) for value in (actual, expected))
        yield from _of_elements(one, other, drawn=drawn)
    elif isinstance(actual, list | tuple) and len(actual) != len(expected):
        message = "the number of entries is {count}, expected {wanted}"
        yield phrase(message, count=len(actual), wanted=len(expected))


def _of_tensors(actual: Tensor, expected: Tensor, *, drawn: bool) -> Iterator[Phrase]:
    if actual.shape != expected.shape:
        shapes = {"shape": str(tuple(actual.shape)), "expected_shape": str(tuple(expected.shape))}
        yield phrase("the shape is {shape}, expected {expected_shape}", **shapes)
    elif actual.dtype != expected.dtype:
        dtypes = {"dtype": dtype_name(actual), "expected_dtype": dtype_name(expected)}
        yield phrase("the dtype is {dtype}, expected {expected_dtype}", **dtypes)
    elif actual.numel() and not actual.dtype.is_complex:
        yield from _of_elements(actual, expected, drawn=drawn)


def _of_elements(actual: Tensor, expected: Tensor, *, drawn: bool) -> Iterator[Phrase]:
    total = actual.numel()
    rtol, atol = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    bad = int((~torch.isclose(actual, expected, rtol=rtol, atol=atol, equal_nan=True)).sum())
    if actual.dtype.is_floating_point and expected.isfinite().all():
        infinite = int((~actual.isfinite()).sum())
        if infinite:
            message = "{count} of {total} elements are NaN or infinite"
            yield phrase(message, count=infinite, total=total)
    if not actual.any() and expected.any():
        yield phrase("every element is 0")
    if drawn and bad and actual.dtype.is_floating_point and expected.any():
        ratio = float((actual.double() * expected).sum() / (expected.double() ** 2).sum())
        factor = next((one for one in FACTORS if math.isclose(ratio, one, rel_tol=1e-4)), None)
        if factor is not None and torch.allclose(actual.double(), factor * expected.double(), 1e-4):
            yield phrase("every element is {factor} times the expected one", factor=f"{factor:.4g}")
    if bad:
        yield phrase("{count} of {total} elements are wrong", count=bad, total=total)
