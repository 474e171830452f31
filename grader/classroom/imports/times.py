"""Read times as other systems and spreadsheet programs write them.

Moodle writes a time in words, in the reader's language and time zone: ``strftimedaydatetime`` in
the ``langconfig`` of its language packs, such as ``Thursday, 3 December 2026, 11:59 PM`` or
``목요일, 3 12월 2026, 11:59 PM``. English, German, French, Korean and Spanish are known. A word
that is not known makes a time unreadable: no time is guessed.
"""

from __future__ import annotations

import contextlib
import re
import unicodedata
from datetime import datetime
from zoneinfo import ZoneInfo

from grader.core.text import in_zone, moment_in

NONE = frozenset({"", "-", "–", "—"})
"""What stands in a cell without a time."""


def read_time(text: str, zone: ZoneInfo | None) -> datetime:
    """Return a time in ISO 8601, or as Moodle or a spreadsheet program writes it.

    Raise ValueError, as ``moment_in`` does. A day and a month in figures need the year first, or
    points between them: 3/12/2026 may be in March.
    """
    text = UTC_AT_END.sub("Z", text.strip())
    worded = None if _is_iso(text) else _worded(text)
    return moment_in(text, zone) if worded is None else in_zone(worded, zone)


def _is_iso(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


UTC_AT_END = re.compile(r"\s*\b(UTC|GMT)\Z")
CLOCK = re.compile(r"\b(\d{1,2}):(\d\d)(?::(\d\d))?\b")
HALF = re.compile(r"\b([ap])\.?\s?m\b\.?")
IN_FIGURES = re.compile(
    r"(?P<year>\d{4})\s*([-/.])\s*(?P<month>\d{1,2})\s*\2\s*(?P<day>\d{1,2})\.?"
    r"|(?P<day2>\d{1,2})\.\s*(?P<month2>\d{1,2})\.\s*(?P<year2>\d{4})"
)
TOKEN = re.compile(r"(?P<number>\d+)(?P<unit>\s*[년월일](?!\w))?|(?P<word>[^\W\d_]+)")
UNITS = {"년": "year", "월": "month", "일": "day"}
MONTHS = {
    word: number
    for number, words in enumerate(
        (
            "january jan januar jänner janvier janv enero ene",
            "february feb februar février fevrier févr febrero",
            "march mar märz mär mrz mars marzo",
            "april apr avril avr abril abr",
            "may mai mayo",
            "june jun juni juin junio",
            "july jul juli juillet juil julio",
            "august aug août aout agosto ago",
            "september sep sept septembre septiembre setiembre",
            "october oct oktober okt octobre octubre",
            "november nov novembre noviembre",
            "december dec dezember dez décembre decembre déc diciembre dic",
        ),
        start=1,
    )
    for word in words.split()
}
WEEKDAYS = {
    word: number
    for number, words in enumerate(
        (
            "monday montag lundi lunes 월요일 월",
            "tuesday dienstag mardi martes 화요일 화",
            "wednesday mittwoch mercredi miércoles miercoles 수요일 수",
            "thursday donnerstag jeudi jueves 목요일 목",
            "friday freitag vendredi viernes 금요일 금",
            "saturday samstag sonnabend samedi sábado sabado 토요일 토",
            "sunday sonntag dimanche domingo 일요일 일",
        )
    )
    for word in words.split()
}
HALVES = {
    word: half
    for half, words in ((0, "am 오전 vormittags"), (12, "pm 오후 nachmittags"))
    for word in words.split()
}
FILLERS = frozenset("de del à um uhr at".split())


def _worded(text: str) -> datetime | None:
    """Return the time of the clocks; None if the text is not one that is known."""
    plain = HALF.sub(r"\1m", unicodedata.normalize("NFKC", text).casefold())
    clocks = list(CLOCK.finditer(plain))
    if len(clocks) != 1:
        return None
    hour, minute, second = (int(part or 0) for part in clocks[0].groups())
    rest = plain[: clocks[0].start()] + " " + plain[clocks[0].end() :]
    found = _parts(rest)
    if found is None or not found.keys() >= {"year", "month", "day"}:
        return None
    if "half" in found:
        if hour > 12 and not found["half"]:
            return None
        hour = hour if hour > 12 else hour % 12 + found["half"]
    with contextlib.suppress(ValueError):
        made = datetime(found["year"], found["month"], found["day"], hour, minute, second)
        if found.get("weekday", made.weekday()) == made.weekday():
            return made
    return None


def _parts(text: str) -> dict[str, int] | None:
    """Return year, month, day, weekday and half of the day; None for a word that is not known, or
    a part that is there twice.
    """
    found: dict[str, int] = {}
    if figures := IN_FIGURES.search(text):
        named = {key.rstrip("2"): int(value) for key, value in figures.groupdict().items() if value}
        found |= named
        text = text[: figures.start()] + " " + text[figures.end() :]
    for token in TOKEN.finditer(text):
        part = _part(token)
        if part is None or part[0] in found:
            return None
        if part[0]:
            found[part[0]] = part[1]
    return found


def _part(token: re.Match[str]) -> tuple[str, int] | None:
    if number := token["number"]:
        unit = UNITS.get((token["unit"] or "").strip(), "year" if len(number) == 4 else "day")
        return unit, int(number)
    word = token["word"]
    for name, words in (("month", MONTHS), ("weekday", WEEKDAYS), ("half", HALVES)):
        if word in words:
            return name, words[word]
    return ("", 0) if word in FILLERS else None
