"""Find the line that ran in a failed check, where the function's text does not tell.

The check runs once more, after all checks, while the worker notes the return by which the function
ended. A check that passed is never run again, so a right answer pays nothing.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

from grader.core.errors import EngineFault, MissingName, StudentCodeError, WorkerLost
from grader.core.report import CheckResult
from grader.judge.behavior import Behavior, KnownFailure, run_check
from grader.judge.local_student import LocalStudent, MissingReference
from grader.judge.remote.session import StudentSession
from grader.judge.submission_run import SubmissionRun

SLOW = 2.0
"""A check that took a student this many seconds is not run again."""


def with_returned_lines(
    run: SubmissionRun,
    session: StudentSession,
    checks: tuple[CheckResult, ...],
    reference: LocalStudent | MissingReference,
) -> tuple[CheckResult, ...]:
    """Return the results with the line of the return that ran. Checks that fail in another way now
    keep their line.
    """
    found: list[CheckResult] = []
    for check in checks:
        if check.id in run.unsure_of_line and check.seconds <= SLOW:
            with (
                session.off_the_clock(),
                contextlib.suppress(EngineFault, StudentCodeError, WorkerLost, MissingName),
            ):
                check = _with_line(run.failures[check.id], session, check, reference)
        found.append(check)
    return tuple(found)


def _with_line(
    failure: KnownFailure,
    session: StudentSession,
    check: CheckResult,
    reference: LocalStudent | MissingReference,
) -> CheckResult:
    at = failure.check.spec.at
    lines = session.source.return_lines(at)
    with session.tracing(at, lines):
        verdict = run_check(failure.check.item, session, reference, check.seed)
    if verdict is None or not failure.behavior.agrees(Behavior.of(verdict)):
        return check
    line = session.returned_line
    if line not in lines:
        line = session.source.anchor(at, header=True)
        assert line is not None
    cell, shown = session.source.in_cell(line)
    return replace(check, source_line=shown, cell=cell, source_text=session.source.shown(line))
