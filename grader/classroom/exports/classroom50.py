"""Write a ``result.json`` and a ``release-body.md`` for each submission in Classroom 50.

Format: https://github.com/foundation50/classroom50/wiki/Advanced-Autograding, "The result.json
contract". Scores are integers there, so a point is multiplied by ``SCALE``. Scores exclude bonus
points, because a score may not exceed its maximum.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from grader.classroom.exports.common import PAGE, explanation
from grader.classroom.gradebook.entry import PublicEntry, not_graded, total_points
from grader.classroom.public_report import PublicReport
from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome, add_up
from grader.core.text import clean
from grader.render.editors import escape_markdown, step_summary
from grader.render.page import host_limitations, place

SCHEMA = "classroom50/result/v1"
SCALE = 100
"""How many points of Classroom 50 one point of a course is worth; the same for all courses."""
MAX_BODY = 100_000
"""GitHub accepts 125,000 characters for a release's text."""
MAX_SUMMARY = 130
"""GitHub accepts 140 characters for the description of a commit's status."""
SCALED = (
    "Classroom 50 counts in whole numbers: {scale} there is one point here. {score} of {max_score}"
    " there is {points} of {max_points} points."
)
BONUS = "{points} bonus points are not in Classroom 50's score."
ONE_BONUS = "1 bonus point is not in Classroom 50's score."
RENAME = (
    "There is no score yet: a file does not have its lesson's name. Rename it and submit again."
)
UNREADABLE = "There is no score yet: your files could not be read."
NEXT = "Start here: {check} ({place})."
SUBMIT_AGAIN = "Change your code and submit again. Every submission is graded."
ALL_RIGHT = "Everything is right. There is nothing left to do."
RIGHT_HERE = "Every check that runs here passes."
ATTACHED = "{file}, attached to this release, shows every check in full."
CUT = "The rest is in {file}."


def result(
    entry: PublicEntry, fields: Mapping[str, str], held: Mapping[str, float]
) -> dict[str, Any]:
    """Return ``result.json``. Without a verdict on everything it has no tests and is 0 of 0.

    That is how Classroom 50 itself records a submission without a score. ``fields`` identify the
    submission; ``held`` has the points of each lesson that the autograder's course holds back.
    """
    tests = list(tests_of(entry, held)) if total_points(entry) is not None else []
    return {
        "schema": SCHEMA,
        **fields,
        "score": sum(test["score"] for test in tests),
        "max-score": sum(test["max-score"] for test in tests),
        "scale": SCALE,
        "scale-note": f"Scores are points times {SCALE}, because they must be integers.",
        "tests": tests,
    }


def tests_of(entry: PublicEntry, held: Mapping[str, float]) -> Iterator[dict[str, Any]]:
    for lesson in entry.lessons:
        if lesson.checks:
            worth = scaled(0.0 if check.bonus else check.max_points for check in lesson.checks)
            for check, most in zip(lesson.checks, worth, strict=True):
                yield test_of(check, lesson, most)
        else:
            most = scaled([add_up([lesson.max_score, -held.get(lesson.id, 0.0)])])[0]
            yield {
                "test-name": lesson.id,
                "passed": False,
                "score": 0,
                "max-score": most,
                "lesson": lesson.id,
                "output": clean(lesson.message or ""),
            }


def test_of(check: CheckResult, lesson: LessonResult, most: int) -> dict[str, Any]:
    passed = check.outcome is Outcome.PASSED
    return {
        "test-name": clean(f"{lesson.id}: {check.title}"),
        "passed": passed,
        "score": most if passed else 0,
        "max-score": most,
        "lesson": lesson.id,
        "check": check.id,
        "hidden": check.hidden,
        **({"bonus-points": check.points} if check.bonus else {}),
        **({"mistake": check.diagnosis} if check.diagnosis else {}),
        "output": explanation(check, lesson),
    }


def scaled(points: Iterable[float]) -> list[int]:
    """Return points as integers, such that all partial sums are as accurate as possible."""
    numbers: list[int] = []
    total = 0.0
    for one in points:
        total += one
        numbers.append(round(total * SCALE) - sum(numbers))
    return numbers


def status_of(entry: PublicEntry, data: Mapping[str, Any]) -> str:
    """Return the commit status: ``success``, ``failure``, or ``error`` if there is no score."""
    if total_points(entry) is None:
        return "error"
    return "success" if data["score"] == data["max-score"] else "failure"


def status_line(entry: PublicEntry, data: Mapping[str, Any], tr: Catalogue) -> str:
    """Return the one-line description of the commit status."""
    if total_points(entry) is None:
        text = reason(entry, tr)
    else:
        wrong = sum(not test["passed"] and test["max-score"] > 0 for test in data["tests"])
        text = tr("{points} of {max_points} points", **points_in(data))
        text += f", {tr('checks to do: {count}', count=wrong)}" if wrong else ""
    return clean(text, MAX_SUMMARY).replace("\n", " ")[: MAX_SUMMARY + 9]


def points_in(data: Mapping[str, Any]) -> dict[str, str]:
    return {"points": f"{data['score'] / SCALE:g}", "max_points": f"{data['max-score'] / SCALE:g}"}


def reason(entry: PublicEntry, tr: Catalogue) -> str:
    return tr(RENAME) if any(not_graded(entry)) else tr(UNREADABLE)


def release_body(entry: PublicEntry, data: Mapping[str, Any], tr: Catalogue) -> str:
    """Return ``release-body.md``: what is missing, points, failed checks, what to do next."""
    parts = list(why_no_score(entry, tr))
    if entry.report is not None:
        scored = not parts
        shown = entry.report
        judged = tuple(one for one in shown.lessons if one not in [*not_graded(entry)])
        text = step_summary(replace(shown, lessons=judged), tr)
        if not scored:  # the heading contains points, which do not count
            text = text.partition("\n")[2]
        parts += [cut(text.strip("\n"), tr)] if judged else []
        parts += to_do_next(shown, tr, scored=scored)
        parts += notes(shown, data, tr)
    return "\n\n".join(parts) + "\n"


def why_no_score(entry: PublicEntry, tr: Catalogue) -> Iterator[str]:
    if total_points(entry) is None:
        yield f"**{escape_markdown(reason(entry, tr))}**"
        reasons = [one.message or "" for one in not_graded(entry)]
        yield "\n".join(f"* {escape_markdown(one)}" for one in (*reasons, entry.problem) if one)


def to_do_next(report: PublicReport, tr: Catalogue, *, scored: bool) -> Iterator[str]:
    yield f"### {escape_markdown(tr('What to do next'))}"
    # Why a file can't be loaded is in the summary above.
    loaded = [one for one in report.lessons if one.status is not LessonStatus.INVALID]
    wrong = [(lesson, check) for lesson in loaded for check in lesson.failures]
    if report.full_marks:
        yield escape_markdown(tr(ALL_RIGHT))
    elif report.right_so_far:
        yield escape_markdown(tr(RIGHT_HERE))
    elif wrong:
        lesson, check = wrong[0]
        where = place(lesson, check, tr) if check.source_line else lesson.id
        yield escape_markdown(tr(NEXT, check=check.title, place=where))
        if check.hint:
            yield escape_markdown(f"{tr('A nudge')}: {check.hint}")
    if scored and not report.right_so_far:
        yield escape_markdown(tr(SUBMIT_AGAIN))
    yield escape_markdown(tr(ATTACHED, file=PAGE))


def notes(report: PublicReport, data: Mapping[str, Any], tr: Catalogue) -> Iterator[str]:
    if data["max-score"]:
        numbers = {"score": str(data["score"]), "max_score": str(data["max-score"])}
        yield escape_markdown(tr(SCALED, scale=str(SCALE), **numbers, **points_in(data)))
    if report.bonus:
        bonus = tr(ONE_BONUS) if report.bonus == 1 else tr(BONUS, points=f"{report.bonus:g}")
        yield escape_markdown(bonus)
    sandbox = report.sandbox
    if sandbox.guarantees:
        names = ", ".join(map(tr, sandbox.guarantees))
        yield escape_markdown(
            f"{tr('Your code ran in a sandbox, which limits its use of')}: {names}."
        )
    yield from map(escape_markdown, host_limitations(sandbox, tr))


def cut(text: str, tr: Catalogue) -> str:
    """Return a text short enough for GitHub: whole lines, and a note on where the rest is."""
    if len(text) <= MAX_BODY:
        return text
    kept = text[:MAX_BODY].rpartition("\n")[0]
    return f"{kept}\n\n{escape_markdown(tr(CUT, file=PAGE))}"
