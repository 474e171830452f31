"""A report as one self-contained page, made by Jinja2 with autoescape.

Its policy allows only its own style sheet and script, by hash. The page is complete without the
script, which copies, filters and jumps.
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

from grader.core.i18n import Catalogue
from grader.core.paths import templates
from grader.core.report import CheckResult, LessonResult, LessonStatus, Report
from grader.core.sanitize import clean
from grader.core.scoring import add_up
from grader.core.value_text import pair, text
from grader.render.code import coloured
from grader.render.figures import cards, panels
from grader.render.graph.heatmap import HEAT
from grader.render.graph.plot_svg import PLOT
from grader.render.graph.svg import SHAPES
from grader.render.labels import (
    HELD_BACK,
    MARKS,
    OWN_FAULT,
    QUIET,
    STATUS_MARKS,
    STATUS_WORDS,
    WORDS,
    host_limitations,
)
from grader.render.learner_page import LearnerExtras
from grader.render.locations import place, place_of
from grader.render.repairs import repair_message, repaired_line

if TYPE_CHECKING:
    from grader.classroom.gradebook.records import Comment, PersonalPart


@functools.cache
def environment() -> jinja2.Environment:
    """Our templates, every value escaped, an unknown name an error."""
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
        "translate_with": lambda word, tr: tr(word),
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
    env.globals |= {"status_marks": STATUS_MARKS, "quiet": QUIET, "to_do": to_do}
    env.globals |= {
        "pair": pair,
        "anchor": anchor,
        "to_open": to_open,
        "folded": folded,
        "absent": absent,
        "comments_on": comments_on,
        "comments_elsewhere": comments_elsewhere,
    }
    env.globals |= {"panels": panels, "cards": cards, "place": place, "place_of": place_of}
    env.globals |= {"repair_message": repair_message, "repaired_line": repaired_line}
    return env


@functools.cache
def inlined(*names: str) -> str:
    """Style sheets or scripts of ours, one after the other, which go into a page."""
    env = environment()
    assert env.loader is not None
    return "".join(env.loader.get_source(env, name)[0] for name in names)


def style() -> str:
    """The style sheet of a report: what all pages share, its own, and that of drawings."""
    return inlined("theme.css", "report.css") + SHAPES + HEAT + PLOT


def style_hash(sheet: str) -> str:
    """Return the source expression for a style or script (CSP Level 3, hash-source)."""
    return "sha256-" + base64.b64encode(hashlib.sha256(sheet.encode()).digest()).decode()


def anchor(check_id: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in check_id)


def to_open(lesson: LessonResult) -> CheckResult | None:
    """The check whose details are open when the page is: the first that is not right."""
    return next((check for check in lesson.checks if check.outcome not in QUIET), None)


def to_do(lesson: LessonResult) -> int:
    """Return how many places need attention: failed checks, or the file itself."""
    if lesson.status in (LessonStatus.MISSING, LessonStatus.INVALID):
        return 1
    return sum(check.outcome not in QUIET for check in lesson.checks)


def folded(lessons: Sequence[LessonResult], keepsake: LearnerExtras) -> list[LessonResult]:
    blank = [one for one in lessons if one.status is LessonStatus.NOT_STARTED and len(lessons) > 1]
    told = [
        one
        for one in blank
        if one.notes
        or keepsake.of(one).progress.attempts
        or any(check.output for check in one.checks)
    ]
    return [one for one in blank if one not in told]


def absent(lessons: Sequence[LessonResult]) -> list[LessonResult]:
    """Return the lessons without a file, which get one line each at the end."""
    return [one for one in lessons if one.status is LessonStatus.MISSING and len(lessons) > 1]


def counted_points(report: Report, personal: PersonalPart | None) -> float:
    """Return the points that count: earned, less what lateness takes off, and adjusted."""
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
    """Return the comments that are about no lesson, or about one that has no section."""
    there = [lesson.id for lesson in shown]
    comments = personal.comments if personal else ()
    return [one for one in comments if one.lesson not in there]


def warm_up() -> None:
    """Compile the template and load what colours code, for those who have time to wait anyway."""
    environment().get_template("report.html")
    style()
    coloured("pass")


def render_page(
    report: Report,
    tr: Catalogue | None = None,
    *,
    personal: PersonalPart | None = None,
    keepsake: LearnerExtras | None = None,
    inline: str | None = None,
    places: Mapping[str, Path] = MappingProxyType({}),
) -> str:
    """Render a submission's page.

    ``personal`` is what a class's gradebook adds; ``keepsake`` is a learner's own part; ``inline``
    is the magic that grades again, for a notebook's frame without script; ``places`` says where a
    command finds a lesson, with ``--in``.
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
        keepsake=keepsake or LearnerExtras(),
        inline=inline,
        **parts,
    )
