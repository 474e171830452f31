"""Describe what a save changed: compare two results of one lesson."""

from __future__ import annotations

from dataclasses import dataclass

from rich.text import Text

from grader.core.i18n import Catalogue
from grader.core.report import CheckResult, LessonResult, LessonStatus, Outcome


@dataclass(frozen=True, slots=True)
class CheckChange:
    """Changes since the last run: checks now right, no longer right, begun, wrong in another way;
    points.
    """

    gained: int
    lost: int
    begun: int
    otherwise: int
    points: float


def change(before: LessonResult, after: LessonResult) -> CheckChange:
    was = {check.id: check for check in before.checks}
    pairs = [(was[check.id], check) for check in after.checks if check.id in was]
    right = {check.id for check in before.checks if check.outcome is Outcome.PASSED}
    now = {check.id for check in after.checks if check.outcome is Outcome.PASSED}
    others = [(old, new) for old, new in pairs if not {old.id} & (right | now)]
    begun = [new for old, new in others if is_begun(new) and not is_begun(old)]
    return CheckChange(
        len(now - right),
        len(right - now),
        len(begun),
        sum(shown(old) != shown(new) for old, new in others) - len(begun),
        round(after.score - before.score, 4),
    )


def is_begun(check: CheckResult) -> bool:
    return check.outcome not in (Outcome.NOT_STARTED, Outcome.SKIPPED)


def shown(check: CheckResult) -> tuple[object, ...]:
    """Return what distinguishes one failure from another, without values that are drawn again."""
    return check.outcome, check.diagnosis, check.source_text


def change_text(before: LessonResult, after: LessonResult, tr: Catalogue) -> Text:
    """Return a line with what changed since the last run."""
    differs, parts = change(before, after), []
    file = file_change(before, after)
    if file:
        parts.append(Text(tr(file), "yellow"))
    if differs.gained:
        parts.append(Text(tr("{count} more right", count=differs.gained), "green"))
    if differs.lost:
        parts.append(Text(tr("{count} no longer right", count=differs.lost), "red"))
    if differs.begun:
        parts.append(Text(tr("{count} begun, not right yet", count=differs.begun), "yellow"))
    if differs.otherwise and not file:
        parts.append(Text(tr("{count} wrong in another way", count=differs.otherwise), "yellow"))
    if not parts:
        return Text(tr("nothing changed since the last run"), "dim")
    if differs.points:
        parts.append(Text(tr("{points} points", points=f"{differs.points:+g}"), "bold"))
    return Text(" · ").join(parts)


def file_change(before: LessonResult, after: LessonResult) -> str | None:
    """Return what happened to the file itself: it disappeared, came back, broke or was mended."""
    was, now = before.status, after.status
    if was is now:
        other = before.message != after.message and now is LessonStatus.INVALID
        return "another problem keeps the file from being loaded" if other else None
    if now is LessonStatus.MISSING:
        return "the file is gone"
    if now is LessonStatus.INVALID:
        return "the file can no longer be loaded"
    if was is LessonStatus.MISSING:
        return "the file is back"
    return "the file can be loaded again" if was is LessonStatus.INVALID else None
