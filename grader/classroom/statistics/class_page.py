"""The class page: who needs help, what to reteach, every check, mistake and submission.

It is one self-contained file; its Content Security Policy allows only its own style sheet and
script, by hash.
"""

from __future__ import annotations

import statistics
import urllib.parse
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from grader.classroom.statistics.collect import (
    Classroom,
    LessonFacts,
    State,
    StudentSummary,
    UnnamedGroup,
)
from grader.classroom.statistics.first_screen import FEWEST_TO_RETEACH, HELPED, first_screen
from grader.core.files import inlined
from grader.core.i18n import Catalogue
from grader.core.report import LessonStatus, Shown
from grader.core.text import text
from grader.render.page import around_code, environment, repair_message, style_hash

S = TypeVar("S", bound=Shown)
TOGETHER_SHOWN = 12
GROUPS_SHOWN = 24
STATE_WORDS = {
    State.FAULT: "grader fault",
    State.PROBLEM: "not graded",
    State.MISSING: "nothing handed in",
    State.INVALID: "could not be loaded",
    State.FOREIGN: "other content",
    State.LIMIT: "limit hit",
    State.FLAG: "flagged",
    State.BEHIND: "far behind",
    State.ADJUSTED: "adjusted",
    State.LATE: "late",
    State.FULL: "full marks",
}
OUTCOME_GROUPS = ("right", "wrong", "waiting", "untouched", "fault")
STATUS_GROUPS = ("right", "waiting", "wrong", "untouched")
"""The segments of a bar, which are also their classes."""
BAR_WIDTH, BAR_GAP, BAR_HEIGHT = 5, 2, 18


@dataclass(frozen=True, slots=True)
class Part:
    """A segment of a bar: its CSS class, start and width in per cent."""

    kind: str
    start: float
    width: float


PassedOver = Sequence[tuple[str, str]]
"""Items of the download that were not graded, each with the reason."""


def render_class(
    classroom: Classroom,
    *,
    title: str = "",
    passed_over: PassedOver = (),
    code_of: Callable[[UnnamedGroup], str] = lambda group: "",
) -> Iterator[str]:
    """Yield the page in pieces; reports are linked as ``reports/<name>.html``.

    ``code_of`` returns the code of one answer in a group of wrong answers.
    """
    classroom.groups = [
        one for one in classroom.groups if one.people.count >= FEWEST_TO_RETEACH
    ] or classroom.groups
    del classroom.groups[GROUPS_SHOWN:]
    for group in classroom.groups:
        group.code = code_of(group)
    sheet, script = inlined("theme.css", "class.css"), inlined("class.js")
    return (
        environment()
        .get_template("class.html")
        .generate(
            room=classroom,
            title=title or "The class",
            passed_over=[*passed_over, *classroom.passed_over],
            first=first_screen(classroom),
            quartiles=quartiles(classroom.scores),
            mean=mean,
            deviation=deviation,
            state_words=STATE_WORDS,
            states=present(classroom),
            helped=HELPED,
            namesakes=namesakes(classroom),
            together=classroom.together[:TOGETHER_SHOWN],
            style=sheet,
            style_hash=style_hash(sheet),
            script=script,
            script_hash=style_hash(script),
            percent=percent,
            report_link=report_link,
            segments=segments,
            counted=counted,
            outcome_groups=OUTCOME_GROUPS,
            status_groups=STATUS_GROUPS,
            LessonStatus=LessonStatus,
            mini_bars=mini_bars,
            short=text,
            numbers=data_numbers,
            median=statistics.median,
            seconds=seconds,
            around_code=around_code,
            repair_message=repair_message,
            english=Catalogue(),
        )
    )


def quartiles(scores: Sequence[float]) -> list[float]:
    """Return the three quartiles of the scores; nothing for fewer than two."""
    return statistics.quantiles(scores, n=4, method="inclusive") if len(scores) > 1 else []


def mean(scores: Sequence[float]) -> str:
    return f"{statistics.fmean(scores):.1f}" if scores else "–"


def deviation(scores: Sequence[float]) -> str:
    """Return the standard deviation of the whole population."""
    return f"{statistics.pstdev(scores):.1f}" if len(scores) > 1 else "–"


def present(classroom: Classroom) -> dict[State, int]:
    """Return the states that occur in this class, with the number of submissions in each."""
    counts = Counter(state for row in classroom.rows for state in classroom.states(row))
    return {state: counts[state] for state in State if counts[state]}


def namesakes(classroom: Classroom) -> frozenset[str]:
    """Return the labels that several submissions share; the page shows their unique names too."""
    counts = Counter(row.person.label for row in classroom.rows)
    return frozenset(label for label, count in counts.items() if count > 1)


def percent(part: float | None) -> str:
    """Return a share as a rounded percentage; 0 % and 100 % only if they are exact."""
    if part is None:
        return "–"
    rounded = round(100 * part)
    if 0 < part < 1:
        rounded = min(99, max(1, rounded))
    return f"{rounded}\N{NO-BREAK SPACE}%"


def seconds(number: float) -> str:
    return f"{number:.0f} s" if number >= 10 else f"{number:.2g} s"


def report_link(person: StudentSummary) -> str | None:
    """Return the relative URL of a submission's report."""
    return f"reports/{urllib.parse.quote(person.name, safe='')}.html" if person.has_report else None


def data_numbers(values: Iterable[int]) -> str:
    """Return numbers for a data attribute, with blanks around each, so that one can be found."""
    joined = " ".join(str(value) for value in values)
    return f" {joined} " if joined else ""


def segments(counts: Mapping[S, int], groups: Iterable[str]) -> list[Part]:
    whole = sum(counts.values())
    parts, start = [], 0.0
    for group in groups:
        if count := sum(count for one, count in counts.items() if one.group == group):
            width = 100 * count / whole
            parts.append(Part(group, round(start, 3), round(width, 3)))
            start += width
    return parts


def counted(counts: Mapping[S, int], kinds: Iterable[S]) -> str:
    return ", ".join(f"{counts[one]} {one.word}" for one in kinds if counts.get(one)) or "nobody"


def mini_bars(
    points: Sequence[float | None], lessons: Sequence[LessonFacts]
) -> Mapping[str, object]:
    """Draw a submission's lessons: full marks, partial marks, a flat line if not handed in."""
    paths: dict[str, list[str]] = {"full": [], "some": [], "none": []}
    # A row has no points of lessons that only later submissions have.
    for place, (got, lesson) in enumerate(zip(points, lessons, strict=False)):
        left = place * (BAR_WIDTH + BAR_GAP)
        kind, height = "none", 1
        if got is not None:
            part = min(1.0, got / lesson.max_score) if lesson.max_score else 0.0
            kind = "full" if part >= 1 else "some"
            height = max(2, round(part * BAR_HEIGHT))
        paths[kind].append(f"M{left} {BAR_HEIGHT}v-{height}h{BAR_WIDTH}v{height}z")
    width = max(1, len(points) * (BAR_WIDTH + BAR_GAP) - BAR_GAP)
    return {
        "width": width,
        "height": BAR_HEIGHT,
        "paths": [(kind, "".join(path)) for kind, path in paths.items() if path],
    }
