"""Render a report as one self-contained page, by Jinja2 with autoescape.

Its Content Security Policy allows only its own style sheet and script, by hash. The page is
complete without the script, which adds copying, filtering and jumping.

After ``render_page`` come a learner's part of a page, the order in which a page shows lessons and
checks, and words that other renderers use too: for counts, places, repairs and the host's limits.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import jinja2

from grader.core.files import inlined, templates
from grader.core.i18n import Catalogue
from grader.core.limits import MIB
from grader.core.report import (
    CheckResult,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    SandboxReport,
    WrongExpression,
    add_up,
    left_out,
)
from grader.core.scoring import lesson_score
from grader.core.text import clean, input_text, values_text, without_warnings
from grader.course.progress import LessonProgress, MistakeRecord
from grader.render.code import (
    MAX_CHARACTERS,
    CodeLine,
    DiffRow,
    Readme,
    beside,
    coloured,
    excerpt,
    markdown_parser,
)
from grader.render.figures import cards, panels

if TYPE_CHECKING:
    from grader.classroom.gradebook.entry import Comment, PersonalPart


def render_page(
    report: Report,
    tr: Catalogue | None = None,
    *,
    personal: PersonalPart | None = None,
    extras: LearnerExtras | None = None,
    inline: str | None = None,
    places: Mapping[str, Path] = MappingProxyType({}),
) -> str:
    """Render a submission's page.

    ``personal`` is what a class's gradebook adds, ``extras`` is a learner's own part. ``inline``
    is the magic that grades again; it is set for a notebook's frame, which runs no script.
    ``places`` has the folder that a command needs as ``--in`` to find a lesson.
    """
    sheet, script = style(), inlined("report.js")
    page = environment().get_template("report.html")
    return page.render(
        style=sheet,
        style_hash=style_hash(sheet),
        script=script,
        script_hash=style_hash(script),
        tr=tr or Catalogue(),
        report=report,
        personal=personal,
        called=personal.called if personal else "",
        counted=counted_points(report, personal),
        extras=extras or LearnerExtras(),
        inline=inline,
        places={lesson: shlex.quote(str(folder)) for lesson, folder in places.items()},
    )


def counted_points(report: Report, personal: PersonalPart | None) -> float | None:
    """Return the points that count: earned, minus the penalty for lateness, and adjusted; None if
    a file was not graded and nobody gave points for it, because that is no mark.
    """
    if personal is None:
        return report.score
    if any(left_out(report.lessons, {one.lesson for one in personal.adjustments})):
        return None
    late = personal.lateness
    lost = round(report.score * late.percent / 100, 4) if late else 0.0
    return max(0.0, add_up([report.score, -lost, *(one.points for one in personal.adjustments)]))


def warm_up() -> None:
    """Compile templates and load what renders code and text, while there is time."""
    for name in ("report.html", "report_lesson.html", "report_check.html"):
        environment().get_template(name)
    style()
    coloured("pass")
    markdown_parser()


def style() -> str:
    """Return the style sheet of a report: what all pages share, its own, and that of drawings."""
    return inlined("theme.css", "report.css", "graph.css", "heatmap.css", "plot.css")


def style_hash(sheet: str) -> str:
    """Return the source expression for a style or script (CSP Level 3, hash-source)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


@functools.cache
def environment() -> jinja2.Environment:
    """Return an environment that escapes every value, and raises for an unknown name."""
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "value": lambda value: clean(input_text(value)),
        "clean": lambda value: clean(str(value)),
        "points": lambda number: f"{number:g}",
        "signed": lambda number: f"{number:+g}",
        "guarantee": lambda name, tr: tr(GUARANTEES.get(name, name)),
        "limitations_in": host_limitations,
        "printed": lambda output: without_warnings(output)[0].strip(),
        "to_do": to_do,
        "coloured": lambda code: "\n".join(coloured(code)),
        "pasted": lambda code: "\n".join(coloured(code, MAX_CHARACTERS)),
    }
    env.globals |= {
        "Outcome": Outcome,
        "own_fault": OWN_FAULT,
        "held_back": held_back,
        "told_once": told_once,
        "pair": values_text,
        "anchor": anchor,
        "around_code": around_code,
        "by_function": by_function,
        "cards": cards,
        "comments_elsewhere": comments_elsewhere,
        "comments_on": comments_on,
        "counted_checks": counted_checks,
        "marks_used": marks_used,
        "next_lesson": next_lesson,
        "next_step": next_step,
        "panels": panels,
        "place": place,
        "points_waiting": points_waiting,
        "repair_message": repair_message,
        "repaired_line": repaired_line,
        "scored": scored,
        "sections": sections,
    }
    return env


SPARK_WIDTH, SPARK_HEIGHT, SPARK_EDGE = 120.0, 28.0, 3.0
DAY = 10
"""How many characters of an ISO time are the day."""


@dataclass(frozen=True, slots=True)
class MistakeRow:
    """A mistake that was made: its name, the day it was seen, and the day it was fixed."""

    title: str
    seen: str
    cleared: str | None


@dataclass(frozen=True, slots=True)
class LessonHistory:
    """A lesson's graded ``source``, ``solution`` if it may be seen, progress and README."""

    source: str = ""
    solution: str | None = None
    progress: LessonProgress = field(default_factory=LessonProgress)
    readme: Readme | None = None

    def excerpt(self, check: CheckResult) -> list[CodeLine]:
        """Return the check's line with its neighbors; none if the file is gone or has changed."""
        number = check.source_line or 0
        line = self.source.split("\n")[number - 1 : number]
        if check.cell is not None or not line or (check.source_text or "") not in line[0]:
            return []
        return excerpt(self.source, number)

    def caret(self, check: CheckResult) -> str:
        """Return a caret to stand below the check's line in an excerpt; empty without a column."""
        if not check.source_column:
            return ""
        line = self.source.split("\n")[(check.source_line or 1) - 1]
        indentation = line[: len(line) - len(line.lstrip())].expandtabs(4)
        return indentation + " " * (check.source_column - 1) + "^"

    def comparison(self) -> list[DiffRow]:
        return beside(self.source, self.solution) if self.source and self.solution else []

    def reference(self) -> str:
        return "\n".join(coloured((self.solution or "").rstrip()))

    @property
    def spark(self) -> str:
        """Return the scores so far as ``x,y x,y …`` of an SVG line; empty for fewer than two."""
        history = self.progress.history
        if len(history) < 2:
            return ""
        most = max(max(point.score for point in history), 10.0)
        step = (SPARK_WIDTH - 2 * SPARK_EDGE) / (len(history) - 1)
        high = SPARK_HEIGHT - 2 * SPARK_EDGE
        places = (
            (SPARK_EDGE + k * step, SPARK_HEIGHT - SPARK_EDGE - high * point.score / most)
            for k, point in enumerate(history)
        )
        return " ".join(f"{x:.1f},{y:.1f}" for x, y in places)

    def earlier_mistakes(self, lesson: LessonResult) -> list[MistakeRow]:
        """Return the mistakes that no check shows now; those not yet fixed come first."""
        shown = {check.diagnosis for check in lesson.checks}
        mistakes = self.progress.mistakes.items()
        found = [mistake_row(name, seen) for name, seen in mistakes if name not in shown]
        return sorted(found, key=lambda one: (one.cleared is not None, one.seen))

    @property
    def hint_steps(self) -> int:
        return sum(self.progress.hints.values())


@dataclass(frozen=True, slots=True)
class LearnerExtras:
    """A learner's part of a page: the time (ISO 8601, local), a part for each lesson, the totals.

    ``upcoming`` is the title of the next lesson, if everything on the page is right.
    """

    made_at: str = ""
    lessons: dict[str, LessonHistory] = field(default_factory=dict)
    finish: Sequence[tuple[str, str]] = ()
    upcoming: str = ""

    def of(self, lesson: LessonResult) -> LessonHistory:
        return self.lessons.get(lesson.id) or LessonHistory()

    def mistakes(self, lessons: Sequence[LessonResult]) -> list[tuple[LessonResult, MistakeRow]]:
        """Return the mistakes that no check of these lessons shows, those not yet fixed first."""
        found = [
            (lesson, row) for lesson in lessons for row in self.of(lesson).earlier_mistakes(lesson)
        ]
        return sorted(found, key=lambda pair: pair[1].cleared is not None)

    def best(self, lessons: Sequence[LessonResult]) -> float:
        """Return the sum of the best scores, including this run's."""
        return add_up(max(one.score, self.of(one).progress.best) for one in lessons)

    @property
    def has_readmes(self) -> bool:
        return any(one.readme for one in self.lessons.values())

    @property
    def day(self) -> str:
        """Return ``2026-03-01 14:05``."""
        return self.made_at[:16].replace("T", " ")


def mistake_row(name: str, sighting: MistakeRecord) -> MistakeRow:
    """Return a mistake for display; without a stored name, its id stands for it."""
    title = clean(sighting.title or name.replace("_", " "), 200)
    cleared = clean(sighting.cleared_at, DAY)[:DAY] if sighting.cleared_at else None
    return MistakeRow(title, clean(sighting.seen_at)[:DAY], cleared)


@dataclass(frozen=True, slots=True)
class PageSections:
    """The lessons of a page: with something to do, without a file, complete, not started."""

    begun: list[LessonResult]
    absent: list[LessonResult]
    complete: list[LessonResult]
    blank: list[LessonResult]


def sections(lessons: Sequence[LessonResult], extras: LearnerExtras) -> PageSections:
    """Return the lessons by what is left to do. A single lesson always has its own section."""
    alone = len(lessons) == 1
    absent = [one for one in lessons if one.status is LessonStatus.MISSING and not alone]
    complete = [one for one in lessons if one.status is LessonStatus.PASSED and not to_do(one)]
    blank = [
        one
        for one in lessons
        if one.status is LessonStatus.NOT_STARTED
        and not alone
        and not one.notes
        and not extras.of(one).progress.attempts
        and not any(check.output for check in one.checks)
    ]
    listed = [one.id for one in (*absent, *complete, *blank)]
    begun = [one for one in lessons if one.id not in listed]
    return PageSections(begun, absent, complete, blank)


def to_do(lesson: LessonResult) -> int:
    """Return the number of places that need attention: failed checks, or the file itself."""
    if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
        return 1
    return len(lesson.failures)


@dataclass(frozen=True, slots=True)
class NextStep:
    """The next thing to do: ``fix`` a check, repair a ``file``, ``add`` files, ``write`` a
    function, or ``begin`` a lesson.
    """

    kind: str
    lesson: LessonResult
    check: CheckResult | None = None


def next_step(parts: PageSections) -> NextStep | None:
    """Return the next thing to do; None if nothing is left."""
    for lesson in parts.begun:
        if lesson.status in (LessonStatus.INVALID, LessonStatus.MISSING):
            return NextStep("file", lesson)
        wrong = (check for check in lesson.checks if check.outcome.group == "wrong")
        if check := next(wrong, None):
            return NextStep("fix", lesson, check)
    if parts.absent:
        return NextStep("add", parts.absent[0])
    for lesson in parts.begun:
        waiting = (check for check in lesson.checks if check.outcome is Outcome.NOT_STARTED)
        if check := next(waiting, None):
            return NextStep("write", lesson, check)
    return NextStep("begin", parts.blank[0]) if parts.blank else None


def next_lesson(lessons: Sequence[LessonResult], lesson: LessonResult) -> LessonResult | None:
    """Return the lesson after one, in the course's order."""
    ids = [one.id for one in lessons]
    place = ids.index(lesson.id) + 1
    return lessons[place] if place < len(lessons) else None


@dataclass(slots=True)
class ShownFailure:
    """A failed check, the check above it with the same cause, and the checks that wait for it."""

    check: CheckResult
    same_as: CheckResult | None = None
    waiting: list[CheckResult] = field(default_factory=list)


@dataclass(slots=True)
class FunctionGroup:
    """A function's checks. ``waiting`` has those that wait for no failure of this lesson."""

    function: str
    checks: list[CheckResult] = field(default_factory=list)
    failures: list[ShownFailure] = field(default_factory=list)
    waiting: list[CheckResult] = field(default_factory=list)
    blank: list[CheckResult] = field(default_factory=list)
    right: list[CheckResult] = field(default_factory=list)

    @property
    def done(self) -> bool:
        return len(self.right) == len(self.checks)


def by_function(lesson: LessonResult) -> list[FunctionGroup]:
    """Return a lesson's checks by function: failures first, functions without problems last."""
    groups: dict[str, FunctionGroup] = {}
    failures = {check.id: ShownFailure(check) for check in lesson.failures}
    for check in lesson.checks:
        group = groups.setdefault(check.function, FunctionGroup(check.function))
        group.checks.append(check)
        if check.id in failures:
            group.failures.append(failures[check.id])
        elif check.outcome is Outcome.SKIPPED:
            needed = needed_failure(check, lesson)
            (failures[needed.id] if needed else group).waiting.append(check)
        elif check.outcome is Outcome.NOT_STARTED:
            group.blank.append(check)
        else:
            group.right.append(check)
    shown = sorted(groups.values(), key=lambda one: (not one.failures, one.done))
    causes: dict[tuple[object, ...], CheckResult] = {}
    for failure in (one for group in shown for one in group.failures):
        if known := failure_cause(failure.check):
            failure.same_as = causes.get(known)
            causes.setdefault(known, failure.check)
    return shown


def failure_cause(check: CheckResult) -> tuple[object, ...] | None:
    """Return a key that identifies the cause of a failure; None if the cause is unknown."""
    if check.diagnosis:
        return ("mistake", check.diagnosis)
    if check.wrong_expression:
        return ("expression", check.wrong_expression)
    if check.outcome is Outcome.ERROR and check.source_line:
        return ("exception", check.message, check.cell, check.source_line)
    return None


def needed_failure(check: CheckResult, lesson: LessonResult) -> CheckResult | None:
    """Return the failed check that a waiting one waits for, directly or through others.

    Return None for a report from before waiting checks named what they need.
    """
    by_id = {one.id: one for one in lesson.checks}
    seen = set()
    while check.outcome is Outcome.SKIPPED and check.id not in seen:
        seen.add(check.id)
        needed = by_id.get(check.needs or "")
        if needed is None:
            return None
        check = needed
    return None if check.outcome.quiet else check


def points_waiting(check: CheckResult, lesson: LessonResult, tr: Catalogue) -> str:
    """Return a sentence on the points that wait for a failed check; empty if there are none."""
    points = waiting_points(lesson).get(check.id) if check.outcome.group == "wrong" else None
    if not points:
        return ""
    if points == 1:
        return tr("1 more point can be earned once this check passes")
    sentence = "{points} more points can be earned once this check passes"
    return tr(sentence, points=f"{points:g}")


def waiting_points(lesson: LessonResult) -> dict[str, float]:
    """Return the points, without bonus, that wait for each failed check, by its id."""
    waiting: dict[str, list[CheckResult]] = {}
    for check in lesson.checks:
        if check.outcome is Outcome.SKIPPED and (needed := needed_failure(check, lesson)):
            waiting.setdefault(needed.id, []).append(check)
    return {needed: lesson_score(those)[1] for needed, those in waiting.items()}


OWN_FAULT = (
    "The grader failed here, not your code, so these points are still open. Grade again, and report"
    " it if it happens again."
)
HELD_BACK = (
    "{count} checks, worth {points} points, don't run in this bundle; they run where your work is"
    " graded."
)
ONE_HELD_BACK = (
    "1 check, worth {points} of the points, doesn't run in this bundle; it runs where your work is"
    " graded."
)


def held_back(report: Report, tr: Catalogue) -> str:
    """Return a sentence about the checks that do not run here."""
    points = f"{report.held_points:g}"
    if report.held_checks == 1:
        return tr(ONE_HELD_BACK, points=points)
    return tr(HELD_BACK, count=report.held_checks, points=points)


LEGEND = {
    "✘": "wrong: another result, a raised exception, or a crash",
    "◷": "it took too long",
    "!": "the grader's own fault",
    "·": "waits for another check",
    "✔": "right",
    "◐": "in progress",
    "○": "not started",
    "–": "no file",
}
"""What each mark means, as a page explains it."""


def marks_used(report: Report, parts: PageSections) -> list[tuple[str, str]]:
    """Return the marks that a page uses, each with its meaning."""
    shown = {lesson.status.mark for lesson in report.lessons}
    for lesson in (*parts.begun, *parts.complete):
        shown |= {check.outcome.mark for check in lesson.checks}
        if lesson.status is LessonStatus.INVALID:
            shown.add(Outcome.SKIPPED.mark)
    return [(mark, meaning) for mark, meaning in LEGEND.items() if mark in shown]


@functools.lru_cache(4096)
def anchor(check_id: str) -> str:
    """Return the fragment that leads to a check or a lesson."""
    return "".join(c if c.isalnum() else "-" for c in check_id)


def reason(check: CheckResult, tr: Catalogue) -> str:
    """Return the name of the mistake behind a failure if there is one, else the message."""
    if check.own_fault:
        return tr(OWN_FAULT)
    return check.diagnosis_title or check.message or tr(check.outcome.word)


def looks_like(check: CheckResult, tr: Catalogue) -> str:
    """Return a failure's mistake, with its evidence unless withheld; empty if it is not known."""
    if not check.diagnosis_title:
        return ""
    return f"{tr('Looks like')}: " + ". ".join(filter(None, told_once(check)))


ALIKE = 0.72
"""From this ratio of difflib on, a sentence says what a title says."""
SENTENCE_END = re.compile(r"(?<=[.:])\s")


def told_once(check: CheckResult) -> tuple[str, str]:
    """Return a mistake's title and its evidence; no title if the evidence begins with it."""
    title, evidence = check.diagnosis_title or "", check.evidence or ""
    first = SENTENCE_END.split(evidence, maxsplit=1)[0]
    alike = SequenceMatcher(None, title.lower(), first.lower()).ratio() >= ALIKE
    return "" if alike else title, evidence


def counted_checks(lesson: LessonResult, tr: Catalogue) -> str:
    """Return ``6 right · 1 wrong``; for a lesson without judged or begun checks, its status."""
    if lesson.status is not LessonStatus.FAILED and lesson.status is not LessonStatus.PASSED:
        return tr(lesson.status.word)
    return counted_outcomes(lesson, tr)


def counted_outcomes(lesson: LessonResult, tr: Catalogue) -> str:
    """Return ``6 right · 1 wrong``."""
    outcomes = [check.outcome for check in lesson.checks]
    counts = [(tr(one.word), outcomes.count(one)) for one in Outcome]
    if lesson.held_checks:
        counts.append((tr("held back"), lesson.held_checks))
    return " · ".join(tr("{count} {word}", count=n, word=word) for word, n in counts if n)


def scored(checks: Sequence[CheckResult], tr: Catalogue) -> str:
    """Return ``1.5 / 2``, with the bonus part shown separately."""
    score, most, bonus, most_bonus = lesson_score(checks)
    parts = [f"{score:g} / {most:g}"] if most or not most_bonus else []
    if most_bonus:
        parts.append(f"{tr('bonus')} {bonus:g} / {most_bonus:g}")
    return " · ".join(parts)


def comments_on(personal: PersonalPart | None, lessons: Collection[str | None]) -> list[Comment]:
    """Return the comments on these lessons."""
    return [one for one in personal.comments if one.lesson in lessons] if personal else []


def comments_elsewhere(
    personal: PersonalPart | None, shown: Sequence[LessonResult]
) -> list[Comment]:
    """Return the comments that are about no lesson, or about one without a section."""
    there = [lesson.id for lesson in shown]
    comments = personal.comments if personal else ()
    return [one for one in comments if one.lesson not in there]


def place(lesson: LessonResult, where: CheckResult | WrongExpression, tr: Catalogue) -> str:
    """Return ``custom_sigmoid.py:14``, or of a notebook the cell and the line in it. The cell is
    said to be counted, because Jupyter numbers cells by when they ran.
    """
    line = where.source_line if isinstance(where, CheckResult) else where.line
    if where.cell is None:
        return f"{lesson.file}:{line}"
    template = "{file}, cell {cell} from the top, line {line}"
    return tr(template, file=lesson.file, cell=where.cell, line=line)


A_CHANGE = "A change of `{text}` in line {line} makes every check of {function} pass."
A_CHANGE_IN_CELL = (
    "A change of `{text}` in cell {cell}, line {line} makes every check of {function} pass."
)
WITH_OTHERS = (
    "A change of `{text}` in line {line}, together with {others}, makes every check of {function}"
    " pass."
)
WITH_OTHERS_IN_CELL = (
    "A change of `{text}` in cell {cell}, line {line}, together with {others}, makes every check"
    " of {function} pass."
)
MISSING = (
    "Something is missing beside `{text}` in line {line}. One addition there makes every check of"
    " {function} pass."
)
MISSING_IN_CELL = (
    "Something is missing beside `{text}` in cell {cell}, line {line}. One addition there makes"
    " every check of {function} pass."
)


def repair_message(check: CheckResult, tr: Catalogue) -> str:
    """Return the sentence about a check's wrong expression. It is where one change is enough: the
    mistake may be elsewhere, so it is not said to be wrong.
    """
    wrong = check.wrong_expression
    assert wrong is not None
    first, *rest = wrong.text.split("\n")
    if wrong.other_lines:
        templates = WITH_OTHERS, WITH_OTHERS_IN_CELL
    elif wrong.missing:
        templates = MISSING, MISSING_IN_CELL
    else:
        templates = A_CHANGE, A_CHANGE_IN_CELL
    template = templates[wrong.cell is not None]
    return tr(
        template,
        text=f"{first} …" if rest else first,
        cell=wrong.cell,
        line=wrong.line,
        function=check.function,
        others=other_changes(wrong, tr),
    )


def around_code(sentence: str) -> tuple[str, str, str]:
    """Return a sentence's text before its first backtick, up to the last one, and after it."""
    before, _, rest = clean(sentence).partition("`")
    code, _, after = rest.rpartition("`")
    return before, code, after


def other_changes(wrong: WrongExpression, tr: Catalogue) -> str:
    """Return where the changes are that are needed beside the one that is shown."""
    lines = sorted({*wrong.other_lines} - {wrong.line})
    if not lines:
        return tr("another change in this line")
    *first, last = map(str, lines)
    if not first:
        return tr("a change in line {line}", line=last)
    return tr("changes in lines {lines} and {last}", lines=", ".join(first), last=last)


def repaired_line(wrong: WrongExpression) -> tuple[str, str, str]:
    """Return the line in which the expression begins, in three parts: before, itself, after."""
    text = wrong.source_text
    begin = wrong.column - 1
    end = wrong.end_column - 1 if wrong.end_line == wrong.line else len(text)
    return text[:begin].lstrip(), text[begin:end], text[end:]


LIMITS = {
    "cpu_seconds": ("{limit} s of processor time", 1),
    "memory_bytes": ("{limit} MB of memory", MIB),
    "file_bytes": ("{limit} MB for one file", MIB),
    "open_files": ("{limit} open files", 1),
}
"""The words for each limit that a host can lower, and its unit."""
VERDICT = "verdict"
"""The guarantee that no process of a worker can reach a process that judges it."""
GUARANTEES = {
    "environment": "environment variables",
    "descriptors": "files that the grader has open",
    "verdict": "the processes that judge it",
}
"""Guarantees whose short name needs explaining."""
NOT_CONFINED = "This system does not limit your code's use of: {names}."
FORGEABLE = (
    "This system lets your code reach the processes that judge it, so this score could be forged."
)
LOWERED = "This system allows your code less than the course does: {limits}."


def host_limitations(sandbox: SandboxReport, tr: Catalogue) -> list[str]:
    """Return a sentence for the guarantees that did not hold, and one for lowered limits."""
    sentences = []
    unconfined = [name for name in sandbox.missing if name != VERDICT]
    if unconfined:
        sentences.append(tr(NOT_CONFINED, names=", ".join(map(tr, unconfined))))
    if VERDICT in sandbox.missing:
        sentences.append(tr(FORGEABLE))
    if sandbox.lowered:
        limits = [
            tr(LIMITS[name][0], limit=f"{value / LIMITS[name][1]:.3g}")
            for name, value in sandbox.lowered.items()
            if name in LIMITS
        ]
        sentences.append(tr(LOWERED, limits=", ".join(limits)))
    return sentences
