"""Describe the behavior of an unnamed wrong answer by a short text, equal for answers that fail
alike.

A function's failed checks run once more, from a seed that all submissions share. So the same
mistake gives the same messages and numbers in every submission.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import astuple, replace
from typing import Any

from grader.core.report import CheckResult, Outcome
from grader.judge.behavior import Behavior, run_check
from grader.judge.local_student import LocalStudent, MissingReference
from grader.judge.seeds import check_seed
from grader.judge.submission_run import SubmissionRun

SEED = 1
SLOW = 2.0
"""A check that took a student this many seconds is not run again."""
DIGITS = 4
"""How many significant digits of a number count. Two ways to write one formula differ in the last
digits.
"""
LENGTH = 8
"""How many hexadecimal digits a signature has."""


def with_signatures(
    run: SubmissionRun, checks: tuple[CheckResult, ...], reference: LocalStudent | MissingReference
) -> tuple[CheckResult, ...]:
    """Return the results, with signatures for failed checks of functions without any diagnosis."""
    signed: dict[str, str] = {}
    for function in dict.fromkeys(check.function for check in checks):
        failed = [one for one in checks if one.function == function and one.id in run.failures]
        if not failed or function not in run.session.source.definitions:
            continue
        if any(one.diagnosis or one.seconds > SLOW for one in failed):
            continue
        text = json.dumps([function, *_behaviors(run, failed, reference)], sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:LENGTH]
        signed |= dict.fromkeys([one.id for one in failed], digest)
    return tuple(replace(one, signature=signed.get(one.id)) for one in checks)


def _behaviors(
    run: SubmissionRun, failed: list[CheckResult], reference: LocalStudent | MissingReference
) -> Iterator[Any]:
    for one in failed:
        item = run.failures[one.id].check.item
        verdict = run_check(item, run.session, reference, check_seed(SEED, one.id))
        if verdict is None or verdict.outcome is Outcome.PASSED:
            yield [one.id, Outcome.PASSED.value]
        else:
            yield [one.id, *map(_rounded, astuple(Behavior.of(verdict)))]


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0 if math.isfinite(value) else repr(value)
    if isinstance(value, list | tuple):
        return [_rounded(one) for one in value]
    if isinstance(value, dict):
        return {name: _rounded(one) for name, one in value.items()}
    return value
