"""Render a report as one self-contained page, by Jinja2 with autoescape.

Its Content Security Policy allows only its own style sheet and script, by hash. The page is
complete without the script, which adds copying, filtering and jumping.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import shlex
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

import jinja2

from grader.core.files import templates
from grader.core.i18n import Catalogue
from grader.core.report import (
    CheckResult,
    LessonResult,
    LessonStatus,
    Outcome,
    Report,
    add_up,
    lesson_score,
)
from grader.core.text import clean, text, values_text
from grader.render.code import coloured
from grader.render.figures import cards, panels
from grader.render.graph.heatmap import HEAT
from grader.render.graph.plot_svg import PLOT
from grader.render.graph.svg import SHAPES
from grader.render.labels import (
    GUARANTEES,
    HELD_BACK,
    LEGEND,
    MARKS,
    OWN_FAULT,
    STATUS_MARKS,
    STATUS_WORDS,
    WORDS,
    host_limitations,
)
from grader.render.learner_page import LearnerExtras
from grader.render.locations import place, place_of
from grader.render.outline import (
    PageSections,
    by_function,
    next_step,
    points_waiting,
    sections,
    to_do,
)
from grader.render.readme import markdown_parser
from grader.render.repairs import repair_message, repaired_line

if TYPE_CHECKING:
    from grader.classroom.gradebook.records import Comment, PersonalPart

TEMPLATES = ("report.html", "report_lesson.html", "report_check.html")


@functools.cache
def environment() -> jinja2.Environment:
    """Return an environment for our templates in which every value is escaped and an unknown name
    is an error.
    """
    env = jinja2.Environment(
        loader=jinja2.FileSystemLoader(templates()),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    env.filters |= {
        "value": lambda value: clean(text(value)),
        "clean": lambda value: clean(str(value)),
        "points": lambda number: f"{number:g}",
        "signed": lambda number: f"{number:+g}",
        "guarantee": lambda name, tr: tr(GUARANTEES.get(name, name)),
        "limitations_in": host_limitations,
        "to_do": to_do,
        "coloured": lambda code: "\n".join(coloured(code)),
    }
    env.globals |= {
        "marks": MARKS,
        "words": WORDS,
        "status_words": STATUS_WORDS,
        "own_fault": OWN_FAULT,
        "held_back": HELD_BACK,
    }
    env.globals |= {"status_marks": STATUS_MARKS, "pair": values_text, "anchor": anchor}
    env.globals |= {"sections": sections, "next_step": next_step, "by_function": by_function}
    env.globals |= {"marks_used": marks_used, "next_lesson": next_lesson}
    env.globals |= {"counted_checks": counted_checks, "scored": scored}
    env.globals |= {"points_waiting": points_waiting}
    env.globals |= {"comments_on": comments_on, "comments_elsewhere": comments_elsewhere}
    env.globals |= {"panels": panels, "cards": cards, "place": place, "place_of": place_of}
    env.globals |= {"repair_message": repair_message, "repaired_line": repaired_line}
    return env


@functools.cache
def inlined(*names: str) -> str:
    """Return several style sheets or scripts as one text to put into a page."""
    env = environment()
    assert env.loader is not None
    return "".join(env.loader.get_source(env, name)[0] for name in names)


def style() -> str:
    """Return the style sheet of a report: what all pages share, its own, and that of drawings."""
    return inlined("theme.css", "report.css") + SHAPES + HEAT + PLOT


def style_hash(sheet: str) -> str:
    """Return the source expression for a style or script (CSP Level 3, hash-source)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


@functools.lru_cache(4096)
def anchor(check_id: str) -> str:
    """Return the fragment that leads to a check or a lesson."""
    return "".join(c if c.isalnum() else "-" for c in check_id)


def counted_checks(lesson: LessonResult, tr: Catalogue) -> str:
    """Return ``6 right · 1 wrong``; for a lesson without judged or begun checks, its status."""
    if lesson.status is not LessonStatus.FAILED and lesson.status is not LessonStatus.PASSED:
        return tr(STATUS_WORDS[lesson.status])
    outcomes = [check.outcome for check in lesson.checks]
    counts = [(tr(WORDS[one]), outcomes.count(one)) for one in Outcome]
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


def next_lesson(lessons: Sequence[LessonResult], lesson: LessonResult) -> LessonResult | None:
    """Return the lesson after one, in the course's order."""
    ids = [one.id for one in lessons]
    place = ids.index(lesson.id) + 1
    return lessons[place] if place < len(lessons) else None


def marks_used(report: Report, parts: PageSections) -> list[tuple[str, str]]:
    """Return the marks that a page uses, each with its meaning."""
    shown = {STATUS_MARKS[lesson.status] for lesson in report.lessons}
    for lesson in (*parts.begun, *parts.complete):
        shown |= {MARKS[check.outcome] for check in lesson.checks}
        if lesson.status is LessonStatus.INVALID:
            shown.add(MARKS[Outcome.SKIPPED])
    return [(mark, meaning) for mark, meaning in LEGEND.items() if mark in shown]


def counted_points(report: Report, personal: PersonalPart | None) -> float:
    """Return the points that count: earned, minus the penalty for lateness, and adjusted."""
    if personal is None:
        return report.score
    late = personal.lateness
    lost = round(report.score * late.percent / 100, 4) if late else 0.0
    return max(0.0, add_up([report.score, -lost, *(one.points for one in personal.adjustments)]))


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


def warm_up() -> None:
    """Compile templates and load what renders code and text, while there is time."""
    for name in TEMPLATES:
        environment().get_template(name)
    style()
    coloured("pass")
    markdown_parser()


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
    parts = {
        "style": sheet,
        "style_hash": style_hash(sheet),
        "script": script,
        "script_hash": style_hash(script),
        "tr": tr or Catalogue(),
        "called": personal.called if personal else "",
        "places": {lesson: shlex.quote(str(folder)) for lesson, folder in places.items()},
    }
    return page.render(
        report=report,
        personal=personal,
        counted=counted_points(report, personal),
        extras=extras or LearnerExtras(),
        inline=inline,
        **parts,
    )
